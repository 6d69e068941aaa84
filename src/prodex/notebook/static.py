"""Views as HTML without scripts: for saved notebooks, reports, and cards by themselves.

It is made of the same blocks as scripts draw. What is only there to be pressed is left out. Text from outside is
escaped here, and nothing of it loads anything: addresses are text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import islice
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
        return "" if draw is None or "only-live" in block.get("tone", "") else draw(self, block)

    def said(self, said: Any) -> str:
        """Return what a view has as a text, or what stands in a cell.

        This is words of ours, a text of somebody else, a block, a picture, what a button says, words that look
        otherwise, or several of these in a row.
        """
        if said is None or said == "":
            return ""
        if isinstance(said, list | tuple):
            return "".join(map(self.said, said))
        if not isinstance(said, dict):
            return escape(str(said))
        if "kind" in said:
            return self.one(said)
        if "parts" in said:
            return " ".join(map(self.said, said["parts"]))
        if "button" in said:
            # It mostly says a number, which is worth more than that it can be pressed.
            return self.said(said["button"].get("label"))
        if "thumbnail" in said:
            return self.image(said["thumbnail"]) or self.said(said.get("words"))
        if "words" not in said:
            return _typed(said)
        words = self.said(said["words"])
        return _tag("span", words, said["tone"]) if said.get("tone") else words

    def image(self, name: str | None, alt: str = "") -> str:
        """Return a picture with its bytes; nothing where it was not sent."""
        kind, content = self.pictures.get(name or "", ("", b""))
        source = f"data:{escape(kind)};base64,{b64encode(content).decode()}"
        return f'<img src="{source}" alt="{escape(alt)}">' if content else ""


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


def _heading(at: _Renderer, block: Block) -> str:
    return _tag(f"h{block.get('level', 3)}", at.said(block["text"]))


def _text(at: _Renderer, block: Block) -> str:
    words = at.said(block["text"])
    # A block in a sentence may hold elements that no paragraph takes.
    name = "div" if "<div" in words or "<details" in words or "<ul" in words else "p"
    return _tag(name, words, "text", block.get("tone", "")) if words else ""


def _said(words: str) -> str:
    return _tag("p", words, "text muted") if words else ""


def _list(at: _Renderer, block: Block) -> str:
    items = "".join(_tag("li", at.said(item)) for item in block["items"])
    return _tag("ul", items, "list", block.get("tone", "")) if items else ""


def _group(at: _Renderer, block: Block) -> str:
    inside = at.all(block["blocks"])
    return _tag("div", inside, block["kind"], block.get("look", "")) if inside else ""


def _grid(
    label: str, heads: Iterable[str], rows: Iterable[str], look: str = "rows", caption: str = ""
) -> str:
    """Return a table of rows of cells, in what scrolls where it is too wide."""
    head = "".join(heads)
    above = _tag("caption", escape(caption or label)) + (f"<thead><tr>{head}</tr></thead>" if head else "")
    lines = "".join(_tag("tr", one) for one in rows)
    table = _tag("table", f"{above}<tbody>{lines}</tbody>", look)
    return _tag("div", table, "scroll", role="region", aria_label=label, tabindex="0")


def _table(at: _Renderer, block: Block) -> str:
    if not block["rows"]:
        return _said(at.said(block.get("empty")))
    columns, align = block["columns"], block.get("align", "")

    def cell(column: Mapping[str, Any], content: Any) -> str:
        name, scope = ("th", "row") if column.get("head") else ("td", "")
        own = column.get("align", "")
        return _tag(name, at.said(content), own, scope=scope, align=own, style=_shade(content))

    heads = [
        _tag("th", at.said(one.get("title")), one.get("align", ""), scope="col", align=align)
        for one in columns
    ]
    rows = ("".join(map(cell, columns, row["cells"])) for row in block["rows"])
    return _grid(block["label"], heads if any(one.get("title") for one in columns) else [], rows)


def _shade(cell: Any) -> str:
    """Return how the shade of a figure looks."""
    if not isinstance(cell, dict) or "shade" not in cell:
        return ""
    # The letters have the colour that belongs to the shade: a page may be dark.
    shade = SCALE[cell["shade"]]
    return f"background-color:{shade.light};color:{LIGHT[shade.ink]}"


def _product_table(at: _Renderer, block: Block) -> str:
    """Return the page of products that is shown: of each column its title, without what can be chosen in it."""
    pictures, columns = block.get("pictures"), block["columns"]

    def cells(row: Mapping[str, Any]) -> list[Any]:
        picture = [] if pictures is None else [{"thumbnail": pictures.get(row["key"])}]
        return [*picture, *({"text": one} if isinstance(one, str) else one for one in row["cells"])]

    # Under the head of such a column stands how its values are distributed, which is of use to whoever can press.
    plain = [{"title": one["title"], "align": one["align"]} for one in columns]
    picture = [] if pictures is None else [{"title": "Picture"}]
    return _first_rows(at, block, [*picture, *plain], map(cells, block["rows"]))


def _cells(at: _Renderer, block: Block) -> str:
    """Return a grid of cells: the figure of each, on the shade that says how much is missing."""

    def head(one: Mapping[str, Any]) -> list[Any]:
        detail = {"kind": "mark", "words": one.get("detail"), "tone": "muted", "element": "small"}
        return [one["text"], *([{"kind": "break"}, detail] if "detail" in one else [])]

    columns = [{"title": head(one), "align": "right"} for one in block["columns"]]
    corner = {"title": block["corner"], "head": True, "align": "left"}
    rows = ([head(one), *({"words": cell["text"], **cell} for cell in one["cells"])] for one in block["rows"])
    return _first_rows(at, block, [corner, *columns], rows if columns else ())


def _product_gallery(at: _Renderer, block: Block) -> str:
    """Return a table for each group of pictures: each product with its picture, or why there is none."""
    columns = [{"title": one, "align": "left"} for one in ("Picture", "Name", "Brand", "GTIN", "")]

    def cells(tile: Mapping[str, Any]) -> list[Any]:
        texts = (tile[name] for name in ("name", "brand", "gtin", "mark"))
        return [{"thumbnail": tile["src"], "words": tile["words"]}, *({"text": one or ""} for one in texts)]

    made = ""
    for group in block["groups"]:
        made += _tag("h4", _bdi(group["label"])) if group["label"] else ""
        made += _first_rows(at, {"label": "Pictures"}, columns, map(cells, group["tiles"]))
    return made or _said(escape(block["empty"]))


def _first_rows(at: _Renderer, block: Block, columns: list[dict[str, Any]], rows: Iterable[list[Any]]) -> str:
    """Return the first rows of a table, its heads on the left as those of rows are."""
    shown = [{"cells": one} for one in islice(rows, _ROWS)]
    return _table(at, {"align": "left", **block, "columns": columns, "rows": shown})


def _fold(at: _Renderer, block: Block) -> str:
    inside = at.all(block["blocks"])
    return f"{_tag('h4', at.said(block['title']))}{inside}" if inside else ""


def _details(at: _Renderer, block: Block) -> str:
    opened = " open" if block.get("open") else ""
    return f"<details{opened}><summary>{at.said(block['title'])}</summary>{at.all(block['blocks'])}</details>"


def _switch(at: _Renderer, block: Block) -> str:
    """Return which of several is chosen; the others are there to be pressed."""
    chosen = [one["title"] for one in block["options"] if one["name"] == block["value"]]
    return _entered(at, block["label"], chosen[:1])


def _entered(at: _Renderer, label: Any, values: Sequence[Any]) -> str:
    words = ", ".join(map(at.said, values))
    return _tag("p", f"{at.said(label)}: <strong>{words}</strong>", "text") if values else ""


def _form(at: _Renderer, block: Block) -> str:
    """Return what is entered, and what is chosen other than the first; a path of this machine is nobody else's."""
    entered = ""
    for field in block["fields"]:
        options = {str(one["value"]): one["label"] for one in field.get("options", ())}
        values = field["value"] if isinstance(field["value"], list) else [field["value"]]
        is_first = field["kind"] == "choice" and [*map(str, values)] == [*options][:1]
        if field["kind"] != "folder" and not is_first and any(values):
            said = [options.get(str(one), typed_text(str(one))) for one in values]
            entered += _entered(at, field["label"], said)
    return entered


def _part(at: _Renderer, block: Block) -> str:
    inside = at.all(block["blocks"])
    return _tag(
        "section", f"<h4>{at.said(block['title'])}{_note(at, block)}</h4>{inside}", block.get("look", "")
    )


def _note(at: _Renderer, block: Mapping[str, Any]) -> str:
    return f" {_tag('small', at.said(block['note']), 'muted')}" if block.get("note") else ""


def _facts(at: _Renderer, block: Block) -> str:
    # No list of terms: style sheets of notebooks let terms float, and a long one runs into its value.
    rows = "".join(
        _tag(
            "div",
            f"{_tag('strong', at.said(one['term']), 'term')} "
            f"{_tag('span', at.said(one['value']) + _note(at, one), 'value')}",
        )
        for one in block["rows"]
    )
    return _tag("div", rows, "facts", block.get("look", "")) if rows else ""


def _mark(at: _Renderer, block: Block) -> str:
    return _tag(block.get("element", "span"), at.said(block["words"]), block.get("tone", ""))


def _copy(_: _Renderer, block: Block) -> str:
    return f"{_tag('span', escape(block['label']), 'muted')} {_tag('strong', _bdi(block['text']), 'copy')}"


def _record(_: _Renderer, block: Block) -> str:
    return _tag("pre", escape(block["text"]), "raw", role="region", aria_label=block["label"], tabindex="0")


def _picture(at: _Renderer, block: Block) -> str:
    if "problem" in block:
        return _tag("div", _tag("div", at.said(block["problem"]), "problem"), "image")
    image = at.image(block["image"], block["alt"])
    return _tag("div", image or escape(block["alt"]), "image", "" if image else "muted")


def _timeline(at: _Renderer, block: Block) -> str:
    """Return the history of values: for each its steps, the newest first."""

    def step(one: Mapping[str, Any]) -> str:
        is_sent = bool(one.get("sent"))
        head = [_tag("span", escape(one["when"]), "when"), escape(one["event"])]
        head += [_tag("span", "sent from here", "mark")] if is_sent else []
        head += [f"{'by ' * is_sent}{at.said(one['by'])}"] if "by" in one else []
        notes = (_tag("small", at.said(one[name]), "muted") for name in ("how", "note") if name in one)
        return "".join(_tag("div", line) for line in (" · ".join(head), at.said(one["value"]), *notes))

    made = ""
    for one in block["places"]:
        place = f" {_tag('span', at.said(one['place']), 'lang')}" if "place" in one else ""
        made += f"<h5>{at.said(one['attribute'])}{place}</h5>" + _items(map(step, one["steps"]), "steps")
    return _tag("div", made, "timeline", role="group", aria_label=block["label"])


def _items(items: Iterable[str], look: str = "") -> str:
    return _tag("ol", "".join(_tag("li", one) for one in items), look)


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
        shown = _items(made) if len(made) > 1 else "".join(made)
        for problem in one.get("problems", ()):
            name = _tag("span", escape(problem["title"]), "severity", problem["severity"])
            shown += _tag("div", name, "found", lang="en")
        return _tag("td", gap + shown, "missing" if gap else "", lang=one.get("lang", ""))

    def row(one: Mapping[str, Any]) -> str:
        head = _tag("th", at.said(one["attribute"]), scope="row", title=one["key"])
        if "gap" not in one:
            return head + "".join(map(cell, one["cells"]))
        gap = _tag("span", escape(one["gap"]), "gap")
        return f'{head}<td colspan="{len(block["columns"])}" class="missing">{gap}</td>'

    required = f" {_tag('span', 'required', 'required')}"
    languages = (at.said(one["name"]) + required * one["required"] for one in block["columns"])
    heads = (_tag("th", one, scope="col") for one in ("Attribute", *languages))
    return _grid(block["label"], heads, map(row, block["rows"]), "texts", block["caption"])


def _chip(_: _Renderer, block: Block) -> str:
    """Return a button that says what is chosen; all others are of no use."""
    if block.get("look") != "chip" or "said" not in block["args"]:
        return ""
    return _tag("p", f"Filter: {_bdi(block['args']['said'])}", "text")


#: How each kind of block is drawn. Buttons, forms and filters are of no use to whoever cannot press.
_KINDS: dict[str, Callable[[_Renderer, Block], str]] = {
    "heading": _heading,
    "text": _text,
    "list": _list,
    "row": _group,
    "box": _group,
    "card": _group,
    "table": _table,
    "product_table": _product_table,
    "cells": _cells,
    "product_gallery": _product_gallery,
    "fold": _fold,
    "details": _details,
    "switch": _switch,
    "form": _form,
    "part": _part,
    "facts": _facts,
    "mark": _mark,
    "break": lambda _, __: "<br>",
    "copy": _copy,
    "record": _record,
    "picture": _picture,
    "timeline": _timeline,
    "card_texts": _card_texts,
    "button": _chip,
    "work": lambda at, block: _said(at.said(block["words"])),
}
