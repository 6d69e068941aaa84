"""The static picture of a panel: what it shows now as plain HTML, for whoever opens a saved notebook.

A widget lives as long as its kernel. In a notebook that is exported, shown by GitHub or opened by a colleague there is
only what was saved with it, so each panel saves its picture beside its view. It is made of what the widgets show: text
from outside was escaped when it was put into them, and what a script draws is escaped here. There is no style
sheet and no script in it, since such places remove them: tables and text say everything.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape, unescape
from importlib.resources import files as resources
from typing import Any, NamedTuple

import ipywidgets as w

from prodex.colour_scale import LIGHT, SCALE
from prodex.messages import counted

#: The most bytes of a picture; a notebook has several of them.
MOST_BYTES = 190_000
#: Rows of a table; the panel shows the others.
_ROWS = 100

_STYLE = re.compile(r"<style\b.*?</style\s*>", re.DOTALL | re.IGNORECASE)
#: A field to copy from: places that show saved notebooks remove it with what it holds.
_FIELD = re.compile(r"""<input\b[^>]*?\bvalue=(["'])(.*?)\1[^>]*>""", re.DOTALL | re.IGNORECASE)
#: The class of sentences that say what to press.
ONLY_LIVE = "only-live"
_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
#: What programs without a style sheet would show as empty boxes.
_BARE = re.compile(r"<(div|span)\b[^>]*>\s*</\1>")
#: A list of terms: style sheets of notebooks let terms float, and a long one runs into its value.
_TERM = re.compile(r"<dt\b[^>]*>(.*?)</dt>\s*<dd\b[^>]*>(.*?)</dd>", re.DOTALL)
_TERMS = re.compile(r"<(/?)dl\b[^>]*>")


class Block(NamedTuple):
    """A piece of a picture: whole elements, and whether it only announces what follows."""

    html: str
    is_heading: bool = False


def picture_of(widget: Any) -> str:
    """Return what a widget shows now as HTML of at most `MOST_BYTES` bytes.

    Parameters
    ----------
    widget
        A panel, or any other widget.

    Examples
    --------
    >>> picture_of(w.VBox([w.HTML("<style>b { color: red }</style><b>3 products</b>"), w.Button(description="More")]))
    '<div><p><b>3 products</b></p></div>'
    """
    blocks = _without_lost_headings(_blocks(widget))
    if _size_of_blocks(blocks) > MOST_BYTES:
        # Imported on request, since most panels show no pictures.
        from prodex.pictures.resize import smaller_within

        whole = smaller_within(_join_blocks(blocks, most=sys.maxsize), MOST_BYTES)
        if len(whole.encode()) <= MOST_BYTES:
            return whole
        # Pictures of products are the largest part of it, and the least needed to understand the rest.
        blocks = [one._replace(html=_IMAGE.sub("", one.html)) for one in blocks]
    return _join_blocks(blocks)


def in_place_html(picture: str) -> str:
    """Return what puts a picture in the place of a panel that cannot be drawn, as an output below it.

    JupyterLab shows an error in the place of a widget whose kernel has ended, and a page that was exported with the
    state of its widgets draws them with scripts from the network. Where scripts are removed, nothing of this is left,
    and the picture beside the view is shown.

    Parameters
    ----------
    picture
        From `picture_of`: as all markup of text from outside is escaped in it, it has no end of a script.
    """
    script = (resources("prodex.notebook") / "js" / "saved.js").read_text("utf-8")
    kept = re.sub(r"</(?=script)", "<\\\\/", picture, flags=re.IGNORECASE).replace("<!--", "&lt;!--")
    return f'<script type="text/x-prodex">{kept}</script><script>{script}</script>'


def table_html(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "", numbers: Iterable[int] = ()
) -> str:
    """Return a table; the cells are HTML.

    Parameters
    ----------
    heads
        The heads of the columns; none for a table without.
    rows
        The cells.
    caption
        What the table shows.
    numbers
        The columns that are aligned to the right.
    """
    right = set(numbers)

    def cell(name: str, at: int, content: str) -> str:
        if content.startswith("<td"):
            return content
        side = ' style="text-align:right"' if at in right else ' style="text-align:left"'
        return f"<{name}{side}>{content}</{name}>"

    head = "".join(cell("th", at, one) for at, one in enumerate(heads))
    body = "".join(f"<tr>{''.join(cell('td', at, one) for at, one in enumerate(row))}</tr>" for row in rows)
    title = f"<caption>{caption}</caption>" if caption else ""
    return f"<table>{title}{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def _size_of_blocks(blocks: Iterable[Block]) -> int:
    return sum(len(one.html.encode()) + 1 for one in blocks) + len("<div></div>")


def _join_blocks(blocks: Sequence[Block], most: int = MOST_BYTES) -> str:
    kept: list[Block] = []
    room = most - 400
    for one in blocks:
        size = len(one.html.encode()) + 1
        if size > room:
            text = _text_of_html(one.html)
            # A block that is too long is replaced by the beginning of its text, since an element cannot be cut.
            words = text.encode()[: max(0, room // 8)].decode("utf-8", "ignore")
            kept.append(
                Block(f"<p>{escape(words)} …</p><p>More is in the panel: run the cell to see it.</p>")
            )
            break
        kept.append(one)
        room -= size
    lines = "\n".join(one.html for one in kept)
    return f"<div>{lines}</div>" if kept else ""


def _text_of_html(html: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", html)).split())


def _without_lost_headings(blocks: Iterable[Block]) -> list[Block]:
    """Leave out headings below which nothing is left: what is only pressed has no picture."""
    kept: list[Block] = []
    for one in blocks:
        if (
            one.is_heading
            and kept
            and kept[-1].is_heading
            and _heading_level(one) <= _heading_level(kept[-1])
        ):
            kept.pop()
        kept.append(one)
    while kept and kept[-1].is_heading:
        kept.pop()
    return kept


def _heading_level(block: Block) -> str:
    found = re.search(r"<h([1-6])", block.html)
    return found[1] if found else "9"


def _blocks(widget: Any) -> Iterator[Block]:
    """Yield what a widget shows, from above to below; what is hidden and what is only pressed is left out."""
    if getattr(getattr(widget, "layout", None), "display", None) == "none":
        return
    if (own := getattr(widget, "static_picture", None)) is not None:
        if html := own():
            yield Block(html)
    elif isinstance(widget, w.HTML):
        yield from _of_html(widget.value)
    elif (draw := _DRAWN.get(getattr(widget, "script", ""))) is not None:
        if html := draw(widget.view):
            yield Block(html)
    elif (classes := getattr(widget, "_dom_classes", ())) and (known := _BY_CLASS.keys() & set(classes)):
        if html := _BY_CLASS[known.pop()](widget):
            yield Block(html)
    elif hasattr(widget, "is_open") and hasattr(widget, "body"):
        if widget.is_open:
            yield Block(f"<h4>{escape(widget.title)}</h4>", is_heading=True)
            yield from _blocks(widget.body)
    else:
        found = _of_children(getattr(widget, "children", ()))
        # A row may hold a heading alone; below one that ends a column there is nothing.
        yield from _without_lost_headings(found) if isinstance(widget, w.VBox) else found


def _of_children(children: Sequence[Any]) -> Iterator[Block]:
    """Yield what widgets show below each other; rows of one kind are one table."""
    rows: list[list[str]] = []
    for child in children:
        classes = set(getattr(child, "_dom_classes", ()))
        if classes & _ROWS_OF and getattr(child.layout, "display", None) != "none":
            rows.append(_row_cells(child))
            continue
        if rows:
            yield Block(table_html((), rows))
            rows = []
        yield from _blocks(child)
    if rows:
        yield Block(table_html((), rows))


#: Rows of a panel that are rows of a table without heads.
_ROWS_OF = frozenset({"grade-row", "gap-row"})


def _row_cells(widget: Any) -> list[str]:
    """Return the cells of a row: its text, and what its buttons say: a grade, or how many products they show."""
    return [
        _without_style(one.value)
        if isinstance(one, w.HTML)
        else escape(one.description.removeprefix("Show "))
        for one in widget.children
    ]


def _without_style(value: str) -> str:
    """Return the HTML of a widget without style sheets, and without what only they would show."""
    value = _FIELD.sub(r"<b>\2</b>", _STYLE.sub("", value))
    value = _TERMS.sub(r"<\1div>", _TERM.sub(r"<b>\1</b>: \2", value))
    while (fewer := _BARE.sub("", value)) != value:
        value = fewer
    return value.strip()


def _of_html(value: str) -> Iterator[Block]:
    cleaned = "" if ONLY_LIVE in value else _without_style(value)
    if not _text_of_html(cleaned) and not re.search("<(img|svg)", cleaned):
        return
    is_heading = re.fullmatch(r"<h[1-6]\b.*</h[1-6]>", cleaned, re.DOTALL) is not None
    # A line of its own: without a style sheet, two sentences would run into each other.
    starts = re.match(r"<(span|b|i|small|bdi|code)\b", cleaned) or not cleaned.startswith("<")
    yield Block(f"<p>{cleaned}</p>" if starts else cleaned, is_heading)


def _bdi(text: Any) -> str:
    return f'<bdi dir="auto">{escape(str(text))}</bdi>' if text not in {None, ""} else ""


def _folded_text(it: Mapping[str, Any] | None, none: str = "") -> str:
    """Return a text as scripts show it (`live.shown`): folded ones by their beginning."""
    if it is None:
        return none
    text = _bdi(it.get("begin", it.get("text", "")))
    note = it.get("note") or it.get("gap")
    return f"{text} <small>({escape(str(note))})</small>" if note else text


def _table_html(view: Mapping[str, Any]) -> str:
    """Draw the table of products."""
    columns, rows = view.get("columns", ()), view.get("rows", ())
    if not rows:
        return f"<p>{escape(view.get('empty') or 'No products.')}</p>" if view else ""
    listed = [
        [
            *([_thumbnail_html(row["thumb"])] if view.get("thumbs") else []),
            *(_bdi(cell["text"]) for cell in row["cells"]),
        ]
        for row in rows[:_ROWS]
    ]
    first = [""] * bool(view.get("thumbs"))
    numbers = [at + len(first) for at, one in enumerate(columns) if one["align"] == "right"]
    made = table_html([*first, *(_bdi(one["title"]) for one in columns)], listed, numbers=numbers)
    left = len(rows) - len(listed)
    return f"{made}<p>and {counted(left, 'product')} more on this page</p>" if left else made


def _selectable_rows(view: Mapping[str, Any]) -> str:
    """Draw a table of rows of texts: those of its page."""
    rows, columns = view.get("rows", ()), view.get("columns", ())
    numbers = [at for at, one in enumerate(columns) if one["align"] == "right"]
    cells = [[_bdi(text) for text in row["cells"]] for row in rows]
    return table_html([escape(one["title"]) for one in columns], cells, numbers=numbers) if rows else ""


def _thumbnail_html(source: str | None) -> str:
    return f'<img alt="" src="{escape(source)}">' if source else ""


def _heat_map_html(view: Mapping[str, Any]) -> str:
    """Draw a heat map: the share of each cell, on the shade that says how much is missing."""
    columns, rows = view.get("columns", ()), view.get("rows", ())
    if not rows or not columns:
        return f"<p>{escape(view['empty'])}</p>" if view.get("empty") else ""

    def head(one: Mapping[str, Any]) -> str:
        detail = f"<br><small>{_bdi(one['detail'])}</small>" if one["detail"] else ""
        return f"{_bdi(one['text'])}{detail}"

    def cell(one: Mapping[str, Any]) -> str:
        if one["shade"] is None:
            return _bdi(one["text"])
        # The letters have the colour that belongs to the shade: a page may be dark.
        shade = SCALE[one["shade"]]
        ground = f"background-color:{shade.light};color:{LIGHT[shade.ink]};text-align:right"
        return f'<td style="{ground}">{_bdi(one["text"])}</td>'

    made = [[f"<b>{head(row)}</b>", *map(cell, row["cells"])] for row in rows]
    heads = [_bdi(view["corner"]), *map(head, columns)]
    return table_html(heads, made, caption=escape(view["label"]), numbers=range(1, len(heads)))


def _gallery_html(view: Mapping[str, Any]) -> str:
    """Draw a gallery: each product with its picture, or why there is none."""
    made = []
    for group in view.get("groups", ()):
        rows = [
            [
                _thumbnail_html(tile["src"]) or escape(tile["words"]),
                *(_bdi(tile[name]) for name in ("name", "brand", "gtin", "mark")),
            ]
            for tile in group["tiles"][:_ROWS]
        ]
        label = group.get("label") or ""
        made.append(
            (f"<h4>{_bdi(label)}</h4>" if label else "")
            + table_html(["Picture", "Name", "Brand", "GTIN", ""], rows)
        )
    return "".join(made)


def _texts_html(view: Mapping[str, Any]) -> str:
    """Draw the texts of a card: a row for each attribute, a column for each language."""
    if not view.get("rows"):
        return ""

    def cell(one: Mapping[str, Any]) -> str:
        items = []
        for item in one["items"]:
            was, now = _folded_text(item["was"]), _folded_text(item["now"])
            items.append(f"<del>{was}</del> <ins>{now}</ins>" if now else was)
        problems = [f"<small>{_bdi(problem['title'])}</small>" for problem in one["problems"]]
        gap = f"<small>{escape(one['gap'])}</small>" if one["gap"] and not any(items) else ""
        return "<br>".join(filter(None, [*items, gap, *problems]))

    rows = [
        [
            f"<b>{_folded_text(row['attribute'])}</b>",
            *(map(cell, row["cells"]) if not row["gap"] else [escape(row["gap"])]),
        ]
        for row in view["rows"]
    ]
    heads = ["Text", *(_folded_text(one["name"]) for one in view["languages"])]
    others = "".join(f"<p>{_bdi(one)}</p>" for one in view["others"])
    return table_html(heads, rows, caption=escape(view["caption"])) + others


def _corrections(view: Mapping[str, Any]) -> str:
    """Draw corrections: old and new side by side."""
    if not view.get("rows"):
        return ""
    rows = [
        [
            f"{_bdi(one['product'])} <small>{_bdi(one['gtin'])}</small>",
            f"{_bdi(one['attribute'])} {_bdi(one['language'])}",
            _folded_text(one["was"], "none"),
            _folded_text(one["now"], "deleted"),
            f"{escape(one['title'])} {_bdi(one['reason'])}",
        ]
        for one in view["rows"][:_ROWS]
    ]
    return table_html(
        ["Product", "Text", "Now", "New", "What becomes of it"], rows, caption=escape(view["caption"])
    )


def _needs_confirmation(view: Mapping[str, Any]) -> str:
    """Draw the answers that need confirmation, each with its question."""
    if not view.get("rows"):
        return ""
    rows = [
        [
            f"{_bdi(one['product'])} <small>{_bdi(one['gtin'])}</small>",
            f"{_bdi(one['attribute'])} {_bdi(one['language'])}",
            _bdi(one["place"]),
            _folded_text(one["answer"]),
            _bdi(one["question"]),
        ]
        for one in view["rows"][:_ROWS]
    ]
    return table_html(
        ["Product", "Field", "Cell", "Answer", "Question"], rows, caption=escape(view["caption"])
    )


def _no_html(_: Any) -> str:
    return ""


#: What scripts draw, by their names. Filters are there to be pressed: those that are chosen are named above the table.
_DRAWN: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "grid": _table_html,
    "row_table": _selectable_rows,
    "cell_grid": _heat_map_html,
    "gallery": _gallery_html,
    "texts": _texts_html,
    "corrections": _corrections,
    "needs_confirmation": _needs_confirmation,
    "facets": _no_html,
}


def _conditions_html(widget: Any) -> str:
    """Name the conditions that are chosen, each of which is a button that removes it."""
    chosen = [
        one.description.removesuffix("✕").strip() for one in widget.children if hasattr(one, "description")
    ]
    chosen = [one for one in chosen if one and not one.startswith("Clear")]
    return f"<p>Filters: {'; '.join(map(_bdi, chosen))}</p>" if chosen else ""


def _figures_html(widget: Any) -> str:
    """Draw figures side by side."""
    found = [
        " ".join(_without_style(part.value) for part in one.children if isinstance(part, w.HTML))
        for one in widget.children
    ]
    return table_html((), [[one for one in found if one]])


_BY_CLASS: Mapping[str, Callable[[Any], str]] = {
    "chips": _conditions_html,
    "tiles": _figures_html,
    "selection-buttons": _no_html,
}
