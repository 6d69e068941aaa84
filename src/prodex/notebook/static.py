"""Views as HTML without scripts: for saved notebooks, reports, and cards by themselves.

It is made of the same blocks as scripts draw. What is only there to be pressed is left out. Text from outside is
escaped here, and nothing of it loads anything: addresses are text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any, TypeAlias

from prodex.colour_scale import LIGHT, SCALE
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import typed_text

#: Pictures that were sent to pages, by name: their kind and their bytes.
Pictures: TypeAlias = Mapping[str, tuple[str, bytes]]
#: Rows of a table of products, of a grid and of a group of pictures; the panel shows the others.
_ROWS = 100


class _Renderer:
    """Renders blocks, with the pictures that they name."""

    def __init__(self, pictures: Pictures) -> None:
        self.pictures = pictures

    def all(self, blocks: Iterable[Block | None]) -> str:
        made: list[tuple[int, str]] = []
        for block in filter(None, blocks):
            if not (html := self.one(block)):
                continue
            level = block.get("level", 3) if block["kind"] == "heading" else 0
            # Below a heading there was only what can be pressed.
            while level and made and made[-1][0] >= level:
                made.pop()
            made.append((level, html))
        while made and made[-1][0]:
            made.pop()
        return "".join(html for _, html in made)

    def one(self, block: Block) -> str:
        draw = _KINDS.get(block["kind"])
        return "" if draw is None else draw(self, block)

    def said(self, said: Any) -> str:
        """Return what a view has as a text: words of ours, a text of somebody else, a block, or several in a row."""
        if said is None or said == "":
            return ""
        if isinstance(said, list | tuple):
            return "".join(map(self.said, said))
        if not isinstance(said, dict):
            return escape(str(said))
        return self.one(said) if "kind" in said else _typed(said)

    def cell(self, cell: Any) -> str:
        """Return what stands in a cell of a table."""
        if not isinstance(cell, dict) or "kind" in cell:
            return self.said(cell)
        if "parts" in cell:
            return " ".join(map(self.cell, cell["parts"]))
        if "button" in cell:
            # It mostly says a number, which is worth more than that it can be pressed.
            return self.said(cell["button"].get("label"))
        if "words" not in cell:
            return self.said(cell)
        words = self.said(cell["words"])
        return _tag("span", words, cell.get("tone", "")) if cell.get("tone") else words


def blocks_html(blocks: Iterable[Block | None], pictures: Pictures | None = None) -> str:
    """Return blocks as HTML without scripts.

    Parameters
    ----------
    blocks
        Of any kind; what is only there to be pressed, and what nobody knows, is left out.
    pictures
        The pictures that they name; without them, their words are shown.

    Examples
    --------
    >>> from prodex.notebook.views.blocks import heading, paragraph, typed_text
    >>> blocks_html([heading("Texts"), paragraph(["Name: ", typed_text("<b>")])])
    '<h3>Texts</h3><p class="text">Name: <bdi dir="auto">&lt;b&gt;</bdi></p>'
    """
    return _Renderer(pictures or {}).all(blocks)


def _tag(name: str, inside: str, *looks: str, **attributes: str) -> str:
    """Return an element; its inside is HTML."""
    look = " ".join(filter(None, looks))
    named = {"class": look, **{key.rstrip("_").replace("_", "-"): value for key, value in attributes.items()}}
    written = "".join(f' {key}="{escape(value)}"' for key, value in named.items() if value)
    return f"<{name}{written}>{inside}</{name}>"


def _bdi(text: str) -> str:
    return f'<bdi dir="auto">{escape(text)}</bdi>'


def _typed(text: Mapping[str, str]) -> str:
    """Return a text that somebody else typed: in full, folded, or why there is nothing to see."""
    shown = _bdi(text["text"]) if "text" in text else ""
    if "gap" in text:
        return shown + _tag("span", escape(text["gap"]), "gap")
    if "note" not in text:
        return shown
    note = escape(text["note"])
    if "begin" not in text:
        return f"{shown} {_tag('small', f'({note})', 'muted')}"
    begin = _tag("span", f"{_bdi(text['begin'])} … ", "begin")
    summary = f"<summary>{begin}{_tag('span', note, 'muted')}</summary>"
    whole = _tag("div", shown, "long", role="group", aria_label="The whole text", tabindex="0")
    return _tag("details", summary + whole, "typed")


def _plain(said: Any) -> str:
    """Return a text as one string, for labels that only screen readers have."""
    if isinstance(said, list | tuple):
        return "".join(map(_plain, said))
    if isinstance(said, dict):
        return _plain(said.get("words", said.get("begin") or said.get("text") or said.get("gap", "")))
    return "" if said is None else str(said)


def _heading(at: _Renderer, block: Block) -> str:
    if "only-live" in block.get("tone", ""):
        return ""
    return _tag(f"h{block.get('level', 3)}", at.said(block["text"]))


def _text(at: _Renderer, block: Block) -> str:
    if "only-live" in block.get("tone", ""):
        return ""
    words = at.said(block["text"])
    # A block in a sentence may hold elements that no paragraph takes.
    name = "div" if "<div" in words or "<details" in words or "<ul" in words else "p"
    return _tag(name, words, "text", block.get("tone", "")) if words else ""


def _list(at: _Renderer, block: Block) -> str:
    items = "".join(_tag("li", at.said(item)) for item in block["items"])
    return _tag("ul", items, "list", block.get("tone", "")) if items else ""


def _group(at: _Renderer, block: Block) -> str:
    inside = at.all(block["blocks"])
    return _tag("div", inside, block["kind"], block.get("look", "")) if inside else ""


def _region(table: str, label: str) -> str:
    return _tag("div", table, "scroll", role="region", aria_label=label, tabindex="0")


def _table(at: _Renderer, block: Block) -> str:
    if not block["rows"]:
        empty = at.said(block.get("empty"))
        return _tag("p", empty, "text muted") if empty else ""
    columns = block["columns"]

    def cell(place: int, content: Any) -> str:
        column = columns[place] if place < len(columns) else {}
        is_head = bool(column.get("head"))
        name, scope = ("th", "row") if is_head else ("td", "")
        align = column.get("align", "")
        return _tag(name, at.cell(content), align, scope=scope, align=align)

    body = "".join(
        _tag("tr", "".join(cell(place, content) for place, content in enumerate(row["cells"])))
        for row in block["rows"]
    )
    heads = "".join(
        _tag("th", at.said(one.get("title")), one.get("align", ""), scope="col") for one in columns
    )
    has_heads = any(one.get("title") for one in columns)
    head = f"<thead><tr>{heads}</tr></thead>" if has_heads else ""
    label = block["label"]
    caption = f"<caption>{escape(label)}</caption>"
    return _region(_tag("table", f"{caption}{head}<tbody>{body}</tbody>", "rows"), label)


def _fold(at: _Renderer, block: Block) -> str:
    inside = at.all(block["blocks"])
    return f"{_tag('h4', at.said(block['title']))}{inside}" if inside else ""


def _details(at: _Renderer, block: Block) -> str:
    inside = at.all(block["blocks"])
    opened = " open" if block.get("open") else ""
    return f"<details{opened}><summary>{at.said(block['title'])}</summary>{inside}</details>"


def _switch(at: _Renderer, block: Block) -> str:
    """Return which of several is chosen; the others are there to be pressed."""
    chosen = [one["title"] for one in block["options"] if one["name"] == block["value"]]
    return (
        _tag("p", f"{escape(block['label'])}: <strong>{at.said(chosen[0])}</strong>", "text")
        if chosen
        else ""
    )


def _form(at: _Renderer, block: Block) -> str:
    """Return what is entered, and what is chosen other than the first; a path of this machine is nobody else's."""
    entered = []
    for field in block["fields"]:
        options = {str(one["value"]): one["label"] for one in field.get("options", ())}
        values = field["value"] if isinstance(field["value"], list) else [field["value"]]
        is_first = field["kind"] == "choice" and [*map(str, values)] == [*options][:1]
        if field["kind"] == "folder" or is_first or not any(values):
            continue
        words = ", ".join(at.said(options.get(str(one), typed_text(str(one)))) for one in values)
        entered.append(_tag("p", f"{at.said(field['label'])}: <strong>{words}</strong>", "text"))
    return "".join(entered)


def _part(at: _Renderer, block: Block) -> str:
    inside = at.all(block["blocks"])
    note = f" {_tag('small', at.said(block['note']), 'muted')}" if block.get("note") else ""
    return _tag("section", f"<h4>{at.said(block['title'])}{note}</h4>{inside}", block.get("look", ""))


def _facts(at: _Renderer, block: Block) -> str:
    rows = []
    for one in block["rows"]:
        note = f" {_tag('small', at.said(one['note']), 'muted')}" if "note" in one else ""
        # No list of terms: style sheets of notebooks let terms float, and a long one runs into its value.
        term = _tag("strong", at.said(one["term"]), "term")
        rows.append(_tag("div", f"{term} {_tag('span', at.said(one['value']) + note, 'value')}"))
    return _tag("div", "".join(rows), "facts", block.get("look", "")) if rows else ""


def _mark(at: _Renderer, block: Block) -> str:
    return _tag("span", at.said(block["words"]), block.get("tone", ""))


def _copy(_: _Renderer, block: Block) -> str:
    return f"{_tag('span', escape(block['label']), 'muted')} {_tag('strong', _bdi(block['text']), 'copy')}"


def _record(_: _Renderer, block: Block) -> str:
    return _tag("pre", escape(block["text"]), "raw", role="region", aria_label=block["label"], tabindex="0")


def _picture(at: _Renderer, block: Block) -> str:
    if "problem" in block:
        return _tag("div", _tag("div", at.said(block["problem"]), "problem"), "image")
    kind, content = at.pictures.get(block["image"], ("", b""))
    if not content:
        return _tag("div", escape(block["alt"]), "image muted")
    source = f"data:{escape(kind)};base64,{b64encode(content).decode()}"
    return _tag("div", f'<img src="{source}" alt="{escape(block["alt"])}">', "image")


def _timeline(at: _Renderer, block: Block) -> str:
    """Return the history of values: for each its steps, the newest first."""

    def step(one: Mapping[str, Any]) -> str:
        head = [_tag("span", escape(one["when"]), "when"), escape(one["event"])]
        head += [_tag("span", "sent from here", "mark")] if one.get("sent") else []
        head += [("by " if one.get("sent") else "") + at.said(one["by"])] if "by" in one else []
        lines = [" · ".join(head), at.said(one["value"])]
        lines += [_tag("small", at.said(one[name]), "muted") for name in ("how", "note") if name in one]
        return _tag("li", "".join(_tag("div", line) for line in lines))

    places = []
    for one in block["places"]:
        place = f" {_tag('span', at.said(one['place']), 'lang')}" if "place" in one else ""
        steps = "".join(map(step, one["steps"]))
        places.append(f"<h5>{at.said(one['attribute'])}{place}</h5>{_tag('ol', steps, 'steps')}")
    return _tag("div", "".join(places), "timeline", role="group", aria_label=block["label"])


def _card_texts(at: _Renderer, block: Block) -> str:
    """Return the texts of a product: a row for each attribute, a column for each language."""

    def item(one: Mapping[str, Any]) -> str:
        tag = f"{_tag('span', escape(one['tag']), 'lang', lang='en')} " if "tag" in one else ""
        was = tag + at.said(one["was"]) if "was" in one else ""
        if "mark" not in one:
            return was
        old = f"<del>{was}</del> " if was else ""
        new = f"<ins>{at.said(one['now'])}</ins> " if "now" in one else ""
        return f"{old}{new}{_tag('span', escape(one['mark']), 'mark unsent')}"

    def cell(one: Mapping[str, Any]) -> str:
        made = [shown for each in one.get("items", ()) if (shown := item(each))]
        gap = _tag("span", escape(one.get("gap", "")), "gap", lang="en") if not made and "gap" in one else ""
        several = _tag("ol", "".join(map(_li, made))) if len(made) > 1 else "".join(made)
        problems = "".join(
            _tag(
                "div",
                _tag("span", escape(problem["title"]), "severity", problem["severity"]),
                "found",
                lang="en",
            )
            for problem in one.get("problems", ())
        )
        return _tag("td", gap + several + problems, "missing" if gap else "", lang=one.get("lang", ""))

    columns = len(block["columns"])

    def row(one: Mapping[str, Any]) -> str:
        head = _tag("th", at.said(one["attribute"]), scope="row", title=one["key"])
        if "gap" in one:
            gap = _tag("span", escape(one["gap"]), "gap")
            return _tag("tr", f'{head}<td colspan="{columns}" class="missing">{gap}</td>')
        return _tag("tr", head + "".join(map(cell, one["cells"])))

    required = f" {_tag('span', 'required', 'required')}"
    heads = "".join(
        _tag("th", at.said(one["name"]) + (required if one["required"] else ""), scope="col")
        for one in block["columns"]
    )
    caption = _tag("caption", escape(block["caption"]))
    head = f'<thead><tr><th scope="col">Attribute</th>{heads}</tr></thead>'
    body = _tag("tbody", "".join(map(row, block["rows"])))
    return _region(_tag("table", caption + head + body, "texts"), block["label"])


def _product_table(at: _Renderer, block: Block) -> str:
    """Return the page of products that is shown: of each column its title, without what can be chosen in it."""
    columns, pictures = block["columns"], block.get("pictures")

    def line(one: Mapping[str, Any]) -> str:
        picture = ""
        if pictures is not None:
            picture = _tag("td", _image(at, pictures.get(one["key"])))
        cells = [
            _tag("td", _bdi(cell) if isinstance(cell, str) else at.said(cell), align=column["align"])
            for cell, column in zip(one["cells"], columns, strict=True)
        ]
        return _tag("tr", picture + "".join(cells))

    heads = [
        *([] if pictures is None else ["Picture"]),
        *(escape(one["title"]) for one in columns),
    ]
    empty = _tag("p", at.said(block.get("empty")), "text muted") if block.get("empty") else ""
    return _grid(block["label"], heads, map(line, block["rows"][:_ROWS])) if block["rows"] else empty


def _cells(at: _Renderer, block: Block) -> str:
    """Return a grid of cells: the figure of each, on the shade that says how much is missing."""
    if not block["rows"] or not block["columns"]:
        return _tag("p", at.said(block["empty"]), "text muted") if block["empty"] else ""

    def head(one: Mapping[str, Any]) -> str:
        detail = f"<br>{_tag('small', at.said(one['detail']), 'muted')}" if "detail" in one else ""
        return at.said(one["text"]) + detail

    def cell(one: Mapping[str, Any]) -> str:
        if "shade" not in one:
            return _tag("td", at.said(one["text"]), align="right")
        # The letters have the colour that belongs to the shade: a page may be dark.
        shade = SCALE[one["shade"]]
        style = f"background-color:{shade.light};color:{LIGHT[shade.ink]}"
        return _tag("td", at.said(one["text"]), align="right", style=style)

    lines = (
        _tag("tr", _tag("th", head(one), scope="row", align="left") + "".join(map(cell, one["cells"])))
        for one in block["rows"][:_ROWS]
    )
    return _grid(block["label"], [at.said(block["corner"]), *map(head, block["columns"])], lines)


def _product_gallery(at: _Renderer, block: Block) -> str:
    """Return a table for each group of pictures: each product with its picture, or why there is none."""

    def line(tile: Mapping[str, Any]) -> str:
        texts = [_bdi(tile[name] or "") for name in ("name", "brand", "gtin", "mark")]
        picture = _image(at, tile["src"]) or escape(tile["words"])
        return _tag("tr", "".join(_tag("td", one, align="left") for one in (picture, *texts)))

    made = []
    for group in block["groups"]:
        label = group["label"] or ""
        lines = map(line, group["tiles"][:_ROWS])
        table = _grid("Pictures", ["Picture", "Name", "Brand", "GTIN", ""], lines)
        made.append((_tag("h4", _bdi(label)) if label else "") + table)
    return "".join(made) or (_tag("p", escape(block["empty"]), "text muted") if block["empty"] else "")


def _image(at: _Renderer, name: str | None) -> str:
    """Return a small picture beside its product; nothing where it was not sent."""
    kind, content = at.pictures.get(name or "", ("", b""))
    if not content:
        return ""
    return f'<img src="data:{escape(kind)};base64,{b64encode(content).decode()}" alt="">'


def _grid(label: str, heads: Iterable[str], lines: Iterable[str]) -> str:
    head = "".join(_tag("th", one, scope="col", align="left") for one in heads)
    caption = f"<caption>{escape(label)}</caption>"
    return _region(
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>", label
    )


def _chip(_: _Renderer, block: Block) -> str:
    """Return a button that says what is chosen; all others are of no use."""
    if block.get("look") != "chip" or "said" not in block["args"]:
        return ""
    return _tag("p", f"Filter: {_bdi(block['args']['said'])}", "text")


def _work(at: _Renderer, block: Block) -> str:
    return _tag("p", at.said(block["words"]), "text muted")


def _li(inside: str) -> str:
    return f"<li>{inside}</li>"


def _card(at: _Renderer, block: Block) -> str:
    return _tag("div", at.all(block["blocks"]), "card")


#: How each kind of block is drawn. Buttons, forms and filters are of no use to whoever cannot press.
_KINDS: dict[str, Callable[[_Renderer, Block], str]] = {
    "heading": _heading,
    "text": _text,
    "list": _list,
    "row": _group,
    "box": _group,
    "table": _table,
    "fold": _fold,
    "details": _details,
    "switch": _switch,
    "form": _form,
    "part": _part,
    "facts": _facts,
    "mark": _mark,
    "copy": _copy,
    "record": _record,
    "picture": _picture,
    "timeline": _timeline,
    "card_texts": _card_texts,
    "card": _card,
    "product_table": _product_table,
    "cells": _cells,
    "product_gallery": _product_gallery,
    "button": _chip,
    "work": _work,
}
