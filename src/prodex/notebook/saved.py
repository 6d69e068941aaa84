"""A panel as it is saved with a notebook: what it shows now as plain HTML, for whoever has no kernel.

A widget lives as long as its kernel. In a notebook that is exported, shown by GitHub or opened by a colleague there is
only what was saved with it, so a panel saves its view beside itself. There is no style sheet and no script in it, since
such places remove them: tables and text say everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape, unescape
from importlib.resources import files as resources
from typing import Any

from prodex.notebook.session.actions import Block
from prodex.notebook.static import Pictures, blocks_html

#: The most bytes of what is saved of a panel; a notebook has several of them.
MOST_BYTES = 190_000
#: Bytes that stay free for what is said about the rest.
_ROOM = 400
#: Names for style sheets, within tags only: text from outside has no such quotation marks. Without our style sheet they
#: say nothing, and that of a page around it may mean something else by them ("card" is a white sheet in many).
_LOOKS = re.compile(r'(?<=[a-z0-9"]) class="[^"<>]*"(?=[^<>]*>)')
_TAG = re.compile(r"<[^>]*>")
_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_MORE = "<p>More is in the panel: run the cell to see it.</p>"


def saved_html(view: Mapping[str, Any], pictures: Pictures | None = None) -> str:
    """Return a view as HTML of at most `MOST_BYTES` bytes; empty if there is nothing to see.

    Parameters
    ----------
    view
        From `App.view`.
    pictures
        The pictures that it names, by name.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.app import App
    >>> from prodex.notebook.session.session import Session
    >>> "<caption>Products</caption>" in saved_html(App(Session(prodex.flatten([{"id": 7}]))).view())
    True
    """
    # Of the buttons at the top, only the title of the open section is of use.
    title = {"kind": "heading", "key": "title", "text": view["title"]}
    blocks = [title, *(one for one in view["head"] if one["kind"] != "switch"), *view["blocks"]]
    html = _plain(blocks_html(blocks, pictures))
    if len(html.encode()) > MOST_BYTES:
        # Imported on request, since most panels show no pictures.
        from prodex.pictures.resize import smaller_within

        html = smaller_within(html, MOST_BYTES - _ROOM)
    if len(html.encode()) > MOST_BYTES - _ROOM:
        html = _cut(_IMAGE.sub("", _plain(blocks_html([one]))) for one in _leaves(blocks))
    # JupyterLab, and what shows exported notebooks, typeset what looks like a formula ("$5 ... $6") elsewhere.
    return f'<div class="mathjax_ignore tex2jax_ignore">{html}</div>' if html else ""


def in_place_html(html: str) -> str:
    """Return what puts saved HTML in the place of a panel that cannot be drawn, as an output below it.

    JupyterLab shows an error in the place of a widget whose kernel has ended, and a page that was exported with the
    state of its widgets draws them with scripts from the network. Where scripts are removed, nothing of this is left,
    and what was saved beside the view is shown.

    Parameters
    ----------
    html
        From `saved_html`: as all text from outside is escaped in it, it has no end of a script.
    """
    script = (resources("prodex.notebook") / "js" / "in_place.js").read_text("utf-8")
    kept = re.sub(r"</(?=script)", "<\\\\/", html, flags=re.IGNORECASE).replace("<!--", "&lt;!--")
    return f'<script type="text/x-prodex">{kept}</script><script>{script}</script>'


def _plain(html: str) -> str:
    """Return HTML without names for style sheets, and without halves of characters, which no file can hold."""
    return _LOOKS.sub("", html).encode("utf-8", "replace").decode("utf-8")


def _leaves(blocks: Iterable[Block | None]) -> Iterator[Block]:
    """Yield the blocks that hold no others, in their order."""
    for block in blocks:
        if block and block["kind"] in {"box", "row", "card"}:
            yield from _leaves(block["blocks"])
        elif block:
            yield block


def _cut(parts: Iterable[str]) -> str:
    """Return as many parts as there is room for; of the next one the beginning of its text."""
    made: list[str] = []
    room = MOST_BYTES - _ROOM
    for part in parts:
        size = len(part.encode())
        if size > room:
            # An element cannot be cut.
            text = " ".join(unescape(_TAG.sub(" ", part)).split())
            begin = text.encode()[: max(0, room // 8)].decode("utf-8", "ignore")
            return "".join([*made, f'<p><bdi dir="auto">{escape(begin)} …</bdi></p>{_MORE}'])
        made.append(part)
        room -= size
    return "".join(made)
