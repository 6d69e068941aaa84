"""Contact sheets as HTML: in a notebook, and as a page that opens offline.

Text of suppliers is escaped, addresses of suppliers are left out, and notebooks do not typeset formulas in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape
from pathlib import Path

from prodex.colour_scale import stylesheet
from prodex.files.atomic import writing
from prodex.phrases import counted
from prodex.pictures.contact_sheet import Gallery, SheetCell
from prodex.pictures.resize import data_url, smaller_within
from prodex.untrusted_text import label

#: The most bytes of a sheet in a notebook.
_MOST_BYTES = 190_000
#: Products of a sheet that is too large for one, each with a picture that is still one.
_MOST_CELLS = 60
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def html_of(gallery: Gallery) -> str:
    """Return a contact sheet for a notebook."""
    headline = f"<div><strong>{escape(gallery.title)}</strong></div><div>{escape(gallery.summary)}</div>"
    style = f"<style>{stylesheet('gallery')}</style>"
    whole = f"{style}{_sheet_html(gallery, headline)}"
    if len(whole.encode()) <= _MOST_BYTES:
        return whole
    # A notebook is opened as a whole, with all that was ever shown in it.
    some = replace(gallery, cells=gallery.cells[:_MOST_CELLS], groups=())
    more = f"<div>{len(some.cells):,} products are shown here; to_html(path) writes all of the page.</div>"
    shown = f"{style}{_sheet_html(some, headline)}{more * (len(some.cells) < len(gallery.cells))}"
    return smaller_within(shown, _MOST_BYTES)


def write_page(gallery: Gallery, page: Path) -> None:
    """Write a contact sheet as a page.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    headline = (
        f"<h1>{escape(gallery.title)}</h1><div>{escape(gallery.summary)}</div>"
        f"<div>from <bdi>{escape(label(gallery.source).text)}</bdi></div>"
    )
    # Nothing on the page can reach the network: a policy for browsers, and pictures inside the page.
    whole = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(gallery.title)}</title><style>{stylesheet('gallery', 'gallery_page')}</style></head>"
        f"<body><main>{_sheet_html(gallery, headline)}</main></body></html>\n"
    )
    with writing(page) as beside:
        beside.write_text(whole, encoding="utf-8", newline="\n")


def _sheet_html(gallery: Gallery, headline: str) -> str:
    side = min(gallery.size, 320)
    return (
        f'<div class="prodex-gallery mathjax_ignore" style="--side:{max(side // 2 + 30, 110)}px">{headline}'
        f"{''.join(_gallery_lists(gallery))}</div>"
    )


def _gallery_lists(gallery: Gallery) -> Iterator[str]:
    """Yield one list, or one for each group under its label."""
    if not gallery.groups:
        yield _list(gallery.cells)
    before = 0
    for group in gallery.groups:
        own = gallery.cells[before : before + group.cells]
        before += group.cells
        of = f"{len(own):,} of {counted(group.total, 'product')}"
        yield f"<h2>{_label_html(group.label, 'no label')} <small>{of}</small></h2>{_list(own)}"


def _list(cells: Iterable[SheetCell]) -> str:
    listed = "\n".join(map(_cell_lines, cells))
    return f'<ul class="sheet">{listed}</ul>'


def _cell_lines(cell: SheetCell) -> str:
    thumbnail = cell.thumbnail
    gtin = thumbnail.gtin or thumbnail.product_id
    lines = [
        # The style sheet cuts a name after two lines; the tooltip has all of it.
        f'<p class="name" title="{escape(label(cell.name).text)}">{_label_html(cell.name, "no name")}</p>',
        f"<p>{_label_html(cell.brand, 'no brand')}</p>",
        f'<p class="gtin">{_label_html(gtin, "no GTIN")}</p>',
    ]
    if facts := _picture_facts(cell):
        lines.append(f'<p class="facts">{facts}</p>')
    return f"<li>{_picture_html(cell)}{''.join(lines)}</li>"


def _picture_html(cell: SheetCell) -> str:
    thumbnail = cell.thumbnail
    if thumbnail.bytes is None:
        return f'<div class="frame none">{_label_html(thumbnail.problem, "no picture")}</div>'
    what = "packshot" if thumbnail.is_packshot else "picture"
    named = label(cell.name or thumbnail.gtin or thumbnail.product_id).text
    return (
        f'<div class="frame shown"><img alt="{escape(f"{what} of {named}")}" width="{thumbnail.width}" '
        f'height="{thumbnail.height}" src="{data_url(thumbnail.bytes)}"></div>'
    )


def _picture_facts(cell: SheetCell) -> str:
    thumbnail, facts = cell.thumbnail, []
    if thumbnail.is_packshot:
        facts.append('<span class="mark">packshot</span>')
    width, height = thumbnail.original
    if width is not None and height is not None:
        facts.append(f"<span>{width:,} × {height:,} px</span>")
    if cell.others:
        is_shown = thumbnail.position is not None
        more = f"+{cell.others:,} more" if is_shown else counted(cell.others, "other picture")
        facts.append(f"<span>{more}</span>")
    return " ".join(facts)


def _label_html(text: str | None, missing: str) -> str:
    """Return text of a supplier as HTML; of a long one the beginning, and how much of the whole that is."""
    shown = label(text)
    if shown.is_missing:
        return missing
    cut = f" ({len(shown.text):,} of {shown.length:,} characters)" if shown.is_cut else ""
    return f'<bdi dir="auto">{escape(shown.text)}</bdi>{shown.ends}{cut}'
