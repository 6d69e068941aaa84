"""The contract's prose as HTML: paragraphs, lists, code blocks, and `code` between backticks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Final

_CODE: Final = re.compile(r"`([^`]+)`")
_INDENT: Final = "    "


def as_html(text: str) -> str:
    """Return prose as HTML.

    Examples
    --------
    >>> as_html("Two:\\n\\n- a `b`\\n- c\\n  d")
    '<p>Two:</p>\\n<ul><li>a <code>b</code></li><li>c d</li></ul>'
    """
    return "\n".join(_block(block) for block in _blocks(text))


def _blocks(text: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in text.splitlines():
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _block(lines: list[str]) -> str:
    if all(line.startswith(_INDENT) for line in lines):
        code = "\n".join(line.removeprefix(_INDENT) for line in lines)
        # Focus lets the keyboard scroll what is wider than the page.
        return f'<pre tabindex="0"><code>{escape(code)}</code></pre>'
    if not lines[0].startswith("- "):
        return f"<p>{_inline(' '.join(lines))}</p>"
    items: list[str] = []
    for line in lines:
        if line.startswith("- "):
            items.append(line.removeprefix("- "))
        else:
            items[-1] += f" {line.strip()}"
    return f"<ul>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</ul>"


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))
