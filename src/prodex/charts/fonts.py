"""Labels that a chart can draw: on one short line, in fonts that are there, with a box for what none of them has."""

from __future__ import annotations

import unicodedata
from functools import cache

#: Tried in this order for each character. The first and the last come with matplotlib; those between are what systems
#: have for other scripts. Fonts of coloured pictures are not among them: matplotlib cannot draw these.
_WANTED = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Thai",
    "Noto Sans Devanagari",
    "Noto Sans Symbols 2",
    "Noto Emoji",
    "Symbola",
    "Arial Unicode MS",
    "Hiragino Sans",
    "PingFang SC",
    "Apple SD Gothic Neo",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Segoe UI Symbol",
    "STIXGeneral",
)
_BOX = "\N{WHITE SQUARE}"
_LABEL = 40  # characters


def plain(label: object, length: int = _LABEL, weight: str = "normal") -> str:
    """Write a label on one line, no longer than `length`, in characters that the fonts have.

    >>> plain("$5 or\\n$6"), plain("x" * 50)[-3:], plain("\\U0001f9e8")
    ('$5 or $6', 'xx…', '□')
    """
    words = " ".join(
        "".join(" " if unicodedata.category(c) in {"Cc", "Cf"} else c for c in str(label)).split()
    )
    cut = words if len(words) <= length else words[: length - 1] + "…"
    return "".join(c if ord(c) in _glyphs(weight) else _BOX for c in cut)


@cache
def families() -> tuple[str, ...]:
    """Return the fonts that are there."""
    from matplotlib import font_manager

    known = set(font_manager.fontManager.get_font_names())
    return tuple(name for name in _WANTED if name in known)


@cache
def _glyphs(weight: str) -> frozenset[int]:
    """Return the characters of the fonts; the bold ones have fewer."""
    from matplotlib import font_manager

    wanted = [font_manager.FontProperties(family=name, weight=weight) for name in families()]
    paths = [font_manager.findfont(one, fallback_to_default=False) for one in wanted]
    return frozenset().union(*(font_manager.get_font(path).get_charmap() for path in paths))
