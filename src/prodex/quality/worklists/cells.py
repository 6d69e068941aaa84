"""What a cell of a workbook can hold: text that is shown as it is, never run, and never cut without saying so."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.formats import LONGEST, MOST_ROWS, beginning
from prodex.spreadsheet import without_codes

__all__ = ["LONGEST", "MOST_ROWS", "Cells", "all_spelled", "cell", "cells", "spelled"]

_ELSEWHERE = "; all in the Parquet and CSV"
# XML cannot hold these; a carriage return it holds, and gives back as a line feed.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_IMPOSSIBLE_RE2 = r"[\x00-\x08\x0B-\x1F\x{FFFE}\x{FFFF}]"
_CODED_RE2 = "_x[0-9a-fA-F]{4}_"
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


@dataclass(frozen=True)
class Cells:
    """Texts as cells show them.

    Attributes
    ----------
    texts
        The texts.
    escaped
        How many characters stand there as an escape such as \\x0b, since no workbook can hold them.
    cut
        How many texts were too long; what is shown ends with "n of N characters".
    """

    texts: pa.Array
    escaped: int
    cut: int


def cell(text: str) -> tuple[str, int, bool]:
    """Return one text as a cell can hold it, how many characters of it are escapes, and whether it is cut.

    >>> cell("a\\x0bb")
    ('a\\\\x0bb', 1, False)
    """
    text, escaped = _IMPOSSIBLE.subn(_escape, text)
    if _units(text) <= LONGEST:
        return text, escaped, False
    return beginning(text, _ELSEWHERE), escaped, True


def spelled(text: str) -> str:
    """Return one text as it stands in the XML of a workbook.

    >>> spelled("<b>_x0041_</b>")
    '&lt;b&gt;_x005F_x0041_&lt;/b&gt;'
    """
    text = without_codes(text)
    for character, entity in _ENTITIES:
        text = text.replace(character, entity)
    return text


def cells(texts: pa.Array) -> Cells:
    """Return a column of texts as cells can hold them; null stays null."""
    # An escape is up to six characters for one, and a character up to two units.
    doubtful = pc.or_(
        pc.match_substring_regex(texts, _IMPOSSIBLE_RE2), pc.greater(pc.utf8_length(texts), LONGEST // 12)
    )
    changed, escaped, cut = {}, 0, 0
    for place in _where(doubtful):
        changed[place], escapes, is_cut = cell(texts[place].as_py())
        escaped += escapes
        cut += is_cut
    return Cells(_replaced(texts, changed), escaped, cut)


def all_spelled(texts: pa.Array) -> pa.Array:
    """Return a column of texts as they stand in the XML of a workbook; null stays null."""
    coded = _where(pc.match_substring_regex(texts, _CODED_RE2))
    texts = _replaced(texts, {place: without_codes(texts[place].as_py()) for place in coded})
    for character, entity in _ENTITIES:
        texts = pc.replace_substring(texts, character, entity)
    return texts


def _where(mask: pa.Array) -> list[int]:
    found: list[int] = np.flatnonzero(mask.fill_null(False).to_numpy(zero_copy_only=False)).tolist()
    return found


def _replaced(texts: pa.Array, changed: dict[int, str]) -> pa.Array:
    if not changed:
        return texts
    mask = np.zeros(len(texts), bool)
    mask[list(changed)] = True
    return pc.replace_with_mask(
        texts, pa.array(mask), pa.array([changed[place] for place in sorted(changed)], pa.string())
    )


def _escape(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
