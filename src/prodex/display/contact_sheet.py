"""Contact sheets as HTML: in a notebook, and as a page that opens offline.

Text of suppliers is escaped, addresses of suppliers are left out, and notebooks do not typeset formulas in it.
"""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path

from prodex.display_text import label
from prodex.files import writing
from prodex.pictures.contact_sheet import Gallery, SheetCell
from prodex.text import counted

_STYLE = (
    ".prodex-gallery.mathjax_ignore ul.sheet{display:grid;gap:1.2em 1em;"
    "grid-template-columns:repeat(auto-fill,minmax(var(--side),1fr));"
    "list-style:none;margin:.8em 0 0;padding:0}"
    ".prodex-gallery li{margin:0;min-width:0;break-inside:avoid}"
    ".prodex-gallery .frame{aspect-ratio:1;display:flex;align-items:center;justify-content:center;border-radius:6px;"
    "overflow:hidden;text-align:center;font-size:.9em}"
    ".prodex-gallery .shown{background:#fff;border:1px solid rgba(127,127,127,.35)}"
    ".prodex-gallery .none{border:1px dashed rgba(127,127,127,.7);padding:.6em;box-sizing:border-box}"
    ".prodex-gallery img{max-width:100%;max-height:100%;object-fit:contain;margin:0}"
    ".prodex-gallery p{margin:.15em 0 0;line-height:1.35;overflow-wrap:anywhere;font-size:.92em}"
    ".prodex-gallery .name{font-weight:600;display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;"
    "overflow:hidden}"
    ".prodex-gallery .gtin{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.85em}"
    ".prodex-gallery .facts{opacity:.85;font-size:.85em;display:flex;flex-wrap:wrap;gap:.15em .7em}"
    ".prodex-gallery .mark{border:1px solid currentColor;border-radius:3px;padding:0 .35em;font-size:.92em}"
)
_PAGE_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1400px;margin:1.5em auto;padding:0 1.2em;"
    "background:light-dark(#fff,#16181c);color:light-dark(#1b1d21,#e8e8e6)}h1{font-size:1.3em;margin:0}"
    "@media print{body{max-width:none;margin:0;padding:0;font-size:10px;background:#fff;color:#000}"
    ".prodex-gallery ul.sheet{grid-template-columns:repeat(5,1fr)!important;gap:.8em!important}}"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def html_of(gallery: Gallery) -> str:
    """Return a contact sheet for a notebook."""
    headline = f"<div><strong>{escape(gallery.title)}</strong></div><div>{escape(gallery.summary)}</div>"
    return f"<style>{_STYLE}</style>{_sheet(gallery, headline)}"


def write_page(gallery: Gallery, page: Path) -> None:
    """Write a contact sheet as a page.

    Raises
    ------
    StorageError
        When the disk refuses.
    """
    with writing(page) as beside:
        beside.write_text(page_of(gallery), encoding="utf-8", newline="\n")


def page_of(gallery: Gallery) -> str:
    """Return a contact sheet as a page."""
    headline = (
        f"<h1>{escape(gallery.title)}</h1><div>{escape(gallery.summary)}</div>"
        f"<div>from <bdi>{escape(label(gallery.source).text)}</bdi></div>"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(gallery.title)}</title><style>{_STYLE}{_PAGE_STYLE}</style></head>"
        f"<body><main>{_sheet(gallery, headline)}</main></body></html>\n"
    )


def _sheet(gallery: Gallery, headline: str) -> str:
    side = min(gallery.size, 320)
    cells = "\n".join(map(_cell, gallery.cells))
    return (
        f'<div class="prodex-gallery mathjax_ignore" style="--side:{max(side // 2 + 30, 110)}px">{headline}'
        f'<ul class="sheet">{cells}</ul></div>'
    )


def _cell(cell: SheetCell) -> str:
    thumbnail = cell.thumbnail
    gtin = thumbnail.gtin or thumbnail.product_id
    lines = [
        f'<p class="name" title="{escape(label(cell.name).text)}">{_typed(cell.name, "no name")}</p>',
        f"<p>{_typed(cell.brand, 'no brand')}</p>",
        f'<p class="gtin">{_typed(gtin, "no GTIN")}</p>',
    ]
    if facts := _facts(cell):
        lines.append(f'<p class="facts">{facts}</p>')
    return f"<li>{_frame(cell)}{''.join(lines)}</li>"


def _frame(cell: SheetCell) -> str:
    thumbnail = cell.thumbnail
    if thumbnail.bytes is None:
        return f'<div class="frame none">{_typed(thumbnail.problem, "no picture")}</div>'
    what = "packshot" if thumbnail.is_packshot else "picture"
    named = label(cell.name or thumbnail.gtin or thumbnail.product_id).text
    content = base64.b64encode(thumbnail.bytes).decode()
    return (
        f'<div class="frame shown"><img alt="{escape(f"{what} of {named}")}" width="{thumbnail.width}" '
        f'height="{thumbnail.height}" src="data:image/jpeg;base64,{content}"></div>'
    )


def _facts(cell: SheetCell) -> str:
    thumbnail, facts = cell.thumbnail, []
    if thumbnail.is_packshot:
        facts.append('<span class="mark">packshot</span>')
    width, height = thumbnail.original
    if width is not None and height is not None:
        facts.append(f"<span>{width:,} × {height:,} px</span>")
    if cell.others and thumbnail.position is not None:
        facts.append(f"<span>+{cell.others:,} more</span>")
    elif cell.others:
        facts.append(f"<span>{counted(cell.others, 'other picture')}</span>")
    return " ".join(facts)


def _typed(text: str | None, missing: str) -> str:
    """Return text of a supplier; of a long one the beginning, and how much that is of the whole."""
    shown = label(text)
    if shown.is_missing:
        return missing
    cut = f" ({len(shown.text):,} of {shown.length:,} characters)" if shown.is_cut else ""
    return f'<bdi dir="auto">{escape(shown.text)}</bdi>{shown.ends}{cut}'
