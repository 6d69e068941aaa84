"""What the contents of a card look like as blocks: made once for a product, for panels and for pages without scripts.

Three places are left to others: the texts, which can be corrected in a panel, the pictures, which are loaded on
request, and the record as received, which a panel sends only once somebody opens it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from prodex.exploration.card.contents import CardContents
from prodex.exploration.card.record import CardTable, LabelledValue
from prodex.exploration.card.sections import (
    CardHeader,
    CardPicture,
    CardPictures,
    CardUnit,
    FailedCheck,
    HierarchyTrees,
    NutrientTables,
    PendingUpdate,
    ProductAudit,
)
from prodex.languages import ENGLISH
from prodex.messages import counted
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import (
    Cell,
    box,
    columns_of,
    heading,
    listed,
    paragraph,
    row,
    table,
    typed_text,
)
from prodex.notebook.views.gallery_pictures import picture_name
from prodex.quality import Check
from prodex.untrusted_text import Words, words

if TYPE_CHECKING:
    from prodex.pictures.thumbnails import Thumbnail

#: A table with more columns has the whole width.
_NARROW = 5
#: What a cell shows where there is nothing.
_DASH = {"words": "–", "tone": "muted"}


def before_texts(card: CardContents) -> list[Block]:
    """Return what is above the texts: what it is, what waits, and its audit."""
    return [
        *_top(card.header, is_pending=card.pending is not None),
        *([] if card.pending is None else [_pending(card.pending)]),
        *([] if card.profile is None else [_audit(card.audit, card.profile)]),
    ]


def after_pictures(card: CardContents) -> list[Block]:
    """Return what is below the pictures."""
    zones = (
        "Dates that name a time zone are in that of this machine. All others are in local time of the service, as it "
        "sent them."
    )
    numbers = (facts(card.facts, key="facts"), paragraph(zones, key="zones", tone="muted"))
    without = listed([f"{one.title}: {one.missing}." for one in card.without], key="without")
    blocks = (
        part("Hierarchy", *(block for one in card.hierarchies for block in _hierarchy(one))),
        box(*map(_section, (card.codes, card.quantities)), key="codes", look="side"),
        _nutrients(card.nutrients),
        box(*map(_section, card.sections), key="tables", look="side"),
        part("Numbers and dates", *numbers, look="wide"),
        without and part("No data", without),
    )
    return [one for one in blocks if one]


def raw_part(card: CardContents, folded: Callable[[str], Block]) -> Block:
    """Return the record as received, in what is folded and opened by its title; or that it is not there."""
    raw = card.raw
    size = f"{len(raw.text):,} of {raw.length:,}" if raw.is_cut else f"{len(raw.text):,}"
    none = "The catalogue does not have the record."
    is_missing = raw.is_missing
    shown = paragraph(none, key="none", tone="muted") if is_missing else folded(f"JSON, {size} characters")
    return part("Record as received", shown)


def raw_block(card: CardContents) -> Block:
    """Return the record as received."""
    return {"kind": "record", "key": "record", "text": card.raw.text, "label": "Record as received"}


def pictures_above(card: CardPictures) -> Block:
    """Return how many pictures there are, or why there are none."""
    if not card.rows:
        return _none(card.missing, "no-pictures")
    zone = "Dates are in local time of the service, as it sent them."
    return paragraph(
        f"{of(len(card.rows), card.total, 'picture')}. {zone}", key="pictures-above", tone="muted"
    )


def shown_picture(one: Thumbnail) -> Block:
    """Return a picture as a view names it, or why it is not there."""
    if one.bytes is None:
        return {"problem": typed_text(words(one.problem or "the picture could not be loaded", 1_000))}
    return {"image": picture_name(one.bytes)}


def pictures_block(it: CardPictures, images: Mapping[str, Block]) -> list[Block]:
    """Return the pictures with what is known of each.

    Parameters
    ----------
    it
        The pictures.
    images
        For each position whose picture was read what `shown_picture` makes of it.
    """
    made = [
        [
            _image(number, one, images[one.position]) if one.position in images else None,
            box(*_picture(number, one), key="about", look="about"),
        ]
        for number, one in enumerate(it.rows, 1)
    ]
    others = _folded_table(it.strays, "rendition", key="strays", more=" of other pictures")
    return [one for one in (listed(made, key="pictures", tone="pictures"), others) if one]


def part(title: str, *blocks: Block | None, note: str = "", look: str = "", key: str = "") -> Block:
    """Return a part of the card with its heading; None is left out."""
    return {
        "kind": "part",
        "key": key or f"part {title}",
        "title": title,
        "note": note,
        "look": look,
        "blocks": [one for one in blocks if one],
    }


def facts(rows: Iterable[LabelledValue], *, key: str, look: str = "") -> Block:
    """Return values with their labels."""
    return {
        "kind": "facts",
        "key": key,
        "look": look,
        "rows": [
            {
                # Labels are ours, but for those of attributes, which are named by whoever sends them.
                "term": typed_text(one.term),
                "value": {"gap": one.missing} if one.value.is_missing else typed_text(one.value),
                **({} if one.note.is_missing else {"note": typed_text(one.note)}),
            }
            for one in rows
        ],
    }


def mark(said: Any, tone: str, *, key: str = "") -> Block:
    """Return a few words that look otherwise than those around them."""
    return {"kind": "mark", "key": key or tone, "words": said, "tone": tone}


def details(title: Any, *blocks: Block | None, key: str, is_open: bool = False) -> Block:
    """Return what opens and closes in the page: unlike a fold, all of it is there from the beginning."""
    return {
        "kind": "details",
        "key": key,
        "title": title,
        "open": is_open,
        "blocks": [one for one in blocks if one],
    }


def of(shown: int, total: int, noun: str) -> str:
    """Return how many are shown, if these are not all.

    >>> of(2, 2, "text"), of(2, 3, "text")
    ('2 texts', '2 of 3 texts')
    """
    return f"{shown:,} of {counted(total, noun)}" if shown < total else counted(total, noun)


def typed_or(text: Words, missing: str) -> dict[str, str]:
    """Return a text of somebody else, or our words where there is none."""
    return {"gap": missing} if text.is_missing else typed_text(text)


def _top(head: CardHeader, *, is_pending: bool) -> list[Block]:
    pending = [" ", mark("update pending", "mark")] if is_pending else []
    gtin: list[Any] = [{"kind": "copy", "key": "copy", "label": "GTIN (copy)", "text": head.gtin.text}]
    if head.gtin.is_missing:
        gtin = [mark("GTIN ", "muted", key="label"), {"gap": "none"}]
    sign, tone = ("✓", "good") if head.gtin_is_valid else ("✗", "bad")
    checked = paragraph([*gtin, " ", mark(f"{sign} {head.digits}", f"digits {tone}")], key="gtin")
    flags = [
        [mark(answer, "answer"), mark(", ".join(names), f"flags {'yes' if answer == 'yes' else 'others'}")]
        for answer, names in head.flags
    ]
    nameless = "This name is part of the pending update. The product itself has no name."
    states = (
        part("Status", facts(head.statuses, key="statuses")),
        part("Properties", listed(flags, key="flags", tone="flags")),
    )
    return [
        heading([typed_or(head.name, "without a name"), *pending], key="name"),
        *([paragraph(nameless, key="nameless", tone="muted")] if head.name_is_pending else []),
        row(checked, facts(head.facts, key="head-facts"), key="top", look="top"),
        box(*states, key="states", look="states"),
    ]


def _pending(it: PendingUpdate) -> Block:
    would = "Nothing would change" if not it.total else f"{counted(it.total, 'value')} would change"
    same = f"; {counted(it.same, 'value')} would stay the same" if it.same else ""

    def values(shown: Sequence[Words], gap: str, look: str) -> Any:
        if not shown:
            return {"gap": gap}
        return [box(*(paragraph(typed_text(one), key=str(at)) for at, one in enumerate(shown)), key=look)]

    rows = [
        (
            typed_text(one.attribute),
            "" if one.place.is_missing else typed_text(one.place),
            values(one.now, one.missing, "now"),
            values(one.then, one.emptied, "then"),
        )
        for one in it.changes
    ]
    titles = ("Attribute", "Language or item", "Current", "Pending")
    changes = (
        paragraph(of(len(it.changes), it.total, "change"), key="count", tone="muted"),
        plain_table(titles, rows, key="changes", label="Changes of the pending update"),
    )
    return part(
        "Update pending",
        paragraph(f"An update is pending acceptance. {would}{same}.", key="would"),
        *(changes if it.changes else ()),
        look="pending",
    )


def _audit(it: ProductAudit | None, profile: str) -> Block:
    if it is None:
        none = paragraph("The audit does not cover this product.", key="not-covered", tone="muted")
        return part("Quality", none, note=f"by {profile}", look="quality")
    ready = {"yes": "good", "no": "bad"}.get(it.ready, "")
    figures = {"Score": it.score, "Grade": it.grade, "Ready": it.ready, "To fix": f"{len(it.failed):,}"}
    tiles = [
        [
            mark(label, "muted"),
            " ",
            mark(said, f"figure {ready if label == 'Ready' else ''}".strip(), key="words"),
        ]
        for label, said in figures.items()
    ]
    shown = f"{it.findings:,} of {it.findings_total:,} findings shown."
    others = (
        _checks("unknown", it.unknown, it.crashes),
        _checks("not applicable", it.not_applicable),
        _checks("passed", it.passed),
    )
    return part(
        "Quality",
        listed(tiles, key="tiles", tone="card-tiles"),
        paragraph(shown, key="shown", tone="muted") if it.findings < it.findings_total else None,
        listed(map(_failed, it.failed), key="failed", tone="failed")
        or paragraph("No failing checks.", key="none"),
        row(*others, key="folded", look="folded"),
        note=f"by {profile}",
        look="quality",
    )


def _failed(one: FailedCheck) -> list[Any]:
    findings = [
        spaced(
            marked(it.attribute, "muted", key="what"),
            marked(it.language, "lang"),
            None if it.reason.is_missing else typed_text(it.reason),
            None if it.value.is_missing else [mark("found: ", "muted", key="found"), typed_text(it.value)],
        )
        for it in one.findings
    ]
    fix = [mark("How to fix it: ", "muted"), ENGLISH.say_again(one.facts.fix)]
    return [
        mark(one.facts.severity, f"severity {one.facts.severity}"),
        " ",
        mark(ENGLISH.say_again(one.facts.problem), "strong"),
        listed(findings, key="findings", tone="findings"),
        paragraph(fix, key="fix") if one.facts.fix else None,
    ]


def _checks(title: str, checks: Sequence[Check], crashes: Mapping[str, Words] | None = None) -> Block | None:
    def about(one: Check) -> list[Any]:
        scope = f"; applies to {one.scope}" if one.scope and title == "not applicable" else ""
        crash = (crashes or {}).get(one.id)
        return spaced(
            ENGLISH.say_again(one.title),
            mark(f"{one.block}{scope}", "small muted", key="block"),
            crash and mark(["Rule crashed: ", typed_text(crash)], "small"),
        )

    inside = listed(map(about, checks), key="checks", tone="checks")
    return inside and details(f"{counted(len(checks), 'check')} {title}", inside, key=f"checks {title}")


def _picture(number: int, one: CardPicture) -> list[Block | None]:
    title = [f"{number}. ", typed_text(one.title), " ", mark(one.size, "size")]
    label = f"Renditions of picture {number}"
    folded = (
        _more(counted(len(one.more), "more value"), one.more, f"more {number}", inside="more-facts"),
        _folded_table(one.renditions, "rendition", label, key=f"renditions {number}"),
    )
    return [
        heading([*title, " ", mark("packshot", "mark")] if one.is_packshot else title, key="title", level=5),
        listed(one.disagreements, key="disagreements", tone="disagreements"),
        facts(one.facts, key="facts"),
        row(*folded, key="folded", look="folded"),
    ]


def _image(number: int, one: CardPicture, image: Mapping[str, Any]) -> Block:
    alt = f"Picture {number}: {one.title.text}{', packshot' if one.is_packshot else ''}"
    return {"kind": "picture", "key": f"picture {one.position}", "alt": alt, **image}


def _hierarchy(it: HierarchyTrees) -> list[Block]:
    key = f"hierarchy {it.title}"
    others = f"{of(len(it.facts), it.facts_total, 'value')} of units that are not shown"
    units = listed(map(_unit, it.roots), key=f"{key} units", tone="tree") or _none(it.missing, f"{key} none")
    blocks = (
        heading(it.title, key=key, level=5),
        paragraph(of(it.shown, it.total, "unit"), key=f"{key} count", tone="muted") if it.total else None,
        units,
        _more(others, it.facts, f"{key} others"),
    )
    return [one for one in blocks if one]


def _unit(it: CardUnit) -> list[Any]:
    said = spaced(
        it.quantity and mark(it.quantity, "times", key="times"),
        mark(typed_or(it.packaging, "packaging not specified"), "strong"),
        mark(typed_or(it.gtin, "no GTIN"), "gtin"),
        it.in_all and mark(it.in_all, "times", key="in-all"),
        it.is_this and mark("this product", "mark this", key="this"),
        it.is_active and mark("active listing", "mark", key="active"),
        it.is_cycle and mark("contains itself", "problem", key="cycle"),
        f"packed in {it.parents:,} different units" if it.parents > 1 else "",
        ", ".join(it.flags),
        _more(of(len(it.facts), it.facts_total, "more value"), it.facts, "more"),
    )
    return [*said, " ", listed(map(_unit, it.units), key="units", tone="tree")]


def _nutrients(it: NutrientTables) -> Block:
    tables = [
        _grid(one, "nutrient", f"Nutrients, table {number}", title=["Nutrients ", typed_text(one.title)])
        for number, one in enumerate(it.tables, 1)
    ]
    count = None
    if len(tables) < it.total:
        count = paragraph(of(len(tables), it.total, "table"), key="count")
    shown = box(*tables, key="tables", look="side") if tables else _none(it.missing, "none")
    return part("Nutrients", count, shown)


def _section(it: CardTable) -> Block | None:
    if not it.total:
        return None
    noun = {"Codes": "code", "Quantities": "quantity"}.get(it.title, "row")
    return part(it.title, _grid(it, noun), look="full" if len(it.headings) > _NARROW else "")


def _grid(it: CardTable, noun: str, label: str = "", *, title: Sequence[Any] = ()) -> Block:
    """Return a table below how many of its rows are shown."""
    titles = [f"{one[0].upper()}{one[1:]}" for one in it.headings]
    rows = [[_DASH if one.is_missing else typed_text(one) for one in cells] for cells in it.rows]
    count, name = of(len(it.rows), it.total, noun), label or it.title
    said = paragraph([*title, f": {count}"] if title else count, key="count", tone="muted")
    shown = plain_table(titles, rows, key="rows", label=name, numeric=it.numeric)
    return box(said, shown, key=f"grid {name}")


def _folded_table(it: CardTable, noun: str, label: str = "", *, key: str, more: str = "") -> Block | None:
    return details(f"{counted(it.total, noun)}{more}", _grid(it, noun, label), key=key) if it.total else None


def _more(title: str, values: Sequence[LabelledValue], key: str, *, inside: str = "facts") -> Block | None:
    return details(title, facts(values, key=inside), key=key) if values else None


def _none(why: str, key: str) -> Block:
    return paragraph(f"None: {why}.", key=key, tone="muted")


def spaced(*said: Any) -> list[Any]:
    """Return what is said in a row, with spaces between; what is nothing is left out."""
    return [one for each in said if each for one in (" ", each)][1:]


def marked(text: Words, tone: str, *, key: str = "") -> Block | None:
    """Return a text of somebody else that looks otherwise; None if it is missing."""
    return None if text.is_missing else mark(typed_text(text), tone, key=key)


def plain_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    key: str,
    label: str,
    numeric: Collection[int] = (),
) -> Block:
    """Return a table whose rows begin with a head and only show; `numeric` are the places of columns of numbers."""
    columns = columns_of(titles, numbers=[titles[at] for at in numeric])
    columns[0]["head"] = True
    made = [{"key": str(number), "cells": [*cells]} for number, cells in enumerate(rows)]
    return table(columns, made, key=key, label=label)
