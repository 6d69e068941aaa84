"""The page of a file: its parts within the limit of bytes, a policy under which nothing else runs, one rename."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from prodex.errors import InputError
from prodex.files.atomic import writing
from prodex.files.untrusted import leads_to_folder
from prodex.notebook.assets import file_script, file_style
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import heading, paragraph, typed_text
from prodex.untrusted_text import words

#: Products of a file, and its bytes.
MOST_PRODUCTS, MOST_BYTES = 5_000, 15_000_000
_NO_SCRIPTS = (
    "This file shows itself by a script that is in it. Open it in a browser: a preview does not run it."
)
_LEVEL = 9


def page_path(path: str | Path) -> Path:
    """Return the path of a page that is to be written.

    Raises
    ------
    InputError
        When it is that of a folder.
    """
    page = Path(path).absolute()
    if leads_to_folder(page):
        raise InputError(f"{path} is a folder. Name the file, such as {Path(path) / 'shop.html'}.")
    return page


def page_head(title: str, notes: Iterable[str]) -> list[Block]:
    """Return what a page begins with: its title, and what is to be said about it."""
    return [
        heading([typed_text(title)], key="title", level=1),
        *(paragraph(typed_text(one), key=f"note {place}", tone="note") for place, one in enumerate(notes)),
    ]


def file_part(name: str, content: Any) -> str:
    """Return a part of a page: JSON that the script reads by its name, compressed, so that no text in it is markup.

    >>> file_part("data", {})[:48]
    '<script type="text/x-prodex" id="prodex-data">H4'
    """
    text = json.dumps(content, separators=(",", ":"))
    # Without a time, so that the same products give the same bytes.
    packed = base64.b64encode(gzip.compress(text.encode(), _LEVEL, mtime=0)).decode()
    return f'<script type="text/x-prodex" id="prodex-{name}">{packed}</script>\n'


def write_page(page: Path, title: str, data: str, others: Iterable[str]) -> int:
    """Write a page, and return its bytes.

    Parameters
    ----------
    page
        The file; an existing one is replaced.
    title
        What the tab of the browser says.
    data, others
        The part that the first view is made of, and those that are read later.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    with writing(page) as beside:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            for piece in (*_head(title), data, f"<script>{file_script()}</script>\n", *others):
                file.write(piece)
            file.write("</body></html>\n")
        return beside.stat().st_size


def size_around(title: str) -> int:
    """Return how many bytes a page has besides its data."""
    return sum(len(piece.encode()) for piece in (*_head(title), file_script())) + 100


def _head(title: str) -> Iterator[str]:
    # The hashes let the one script and the one style sheet of the page run, and no other; nothing is fetched.
    script, style = (_hash(text) for text in (file_script(), file_style()))
    policy = (
        f"default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )
    # Halves of characters cannot be written to a file; what is a control character is shown as its picture.
    named = words(title, 200).text.encode("utf-8", "replace").decode()
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(named)}</title>"
    )
    yield f"<style>{file_style()}</style></head>\n"
    yield f'<body><noscript>{_NO_SCRIPTS}</noscript><main id="prodex"></main>\n'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
