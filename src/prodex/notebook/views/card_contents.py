"""What the contents of a card look like as blocks: made once for a product, for panels and for pages without scripts.

Three places are left to others: the texts, which can be corrected in a panel, the pictures, which are loaded on
request, and the record as received, which a panel sends only once somebody opens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

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
from prodex.notebook.views.blocks import box, heading, listed, paragraph, row, table, typed_text
from prodex.quality import Check
from prodex.untrusted_text import Words

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
    return [
        part("Hierarchy", *(block for one in card.hierarchies for block in _hierarchy(one))),
        box(*map(_section, (card.codes, card.quantities)), key="codes", look="side"),
        _nutrients(card.nutrients),
        box(*map(_section, card.sections), key="tables", look="side"),
        part(
            "Numbers and dates",
            facts(card.facts, key="facts"),
            paragraph(
                "Dates that name a time zone are in that of this machine. All others are in local time of the service, "
                "as it sent them.",
                key="zones",
                tone="muted",
            ),
            look="wide",
        ),
        *(
            [part("No data", listed([f"{one.title}: {one.missing}." for one in card.without], key="without"))]
            if card.without
            else []
        ),
    ]


def raw_title(card: CardContents) -> str:
    """Return what the fold of the record as received says."""
    raw = card.raw
    size = f"{len(raw.text):,} of {raw.length:,}" if raw.is_cut else f"{len(raw.text):,}"
    return f"JSON, {size} characters"


def raw_block(card: CardContents) -> Block:
    """Return the record as received."""
    return {"kind": "record", "key": "record", "text": card.raw.text, "label": "Record as received"}


def pictures_above(card: CardPictures) -> Block:
    """Return how many pictures there are, or why there are none."""
    if not card.rows:
        return paragraph(f"None: {card.missing}.", key="no-pictures", tone="muted")
    return paragraph(
        f"{of(len(card.rows), card.total, 'picture')}. Dates are in local time of the service, as it sent them.",
        key="pictures-above",
        tone="muted",
    )


def pictures_block(it: CardPictures, images: Mapping[str, Block]) -> list[Block]:
    """Return the pictures with what is known of each.

    Parameters
    ----------
    it
        The pictures.
    images
        For each position whose picture was read: its `image` in the page, or why there is none as `problem`.
    """
    made = [
        [
            _image(number, one, images[one.position]) if one.position in images else None,
            box(*_picture(number, one), key="about", look="about"),
        ]
        for number, one in enumerate(it.rows, 1)
    ]
    pictures = listed(made, key="pictures", tone="pictures")
    strays = it.strays
    others = (
        details(
            f"{counted(strays.total, 'rendition')} of other pictures",
            _grid(strays, "rendition"),
            key="strays",
        )
        if strays.total
        else None
    )
    return [one for one in (pictures, others) if one]


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
    is_valid = head.gtin_is_valid
    digits = mark(f"{'✓' if is_valid else '✗'} {head.digits}", f"digits {'good' if is_valid else 'bad'}")
    flags = [
        [mark(answer, "answer"), mark(", ".join(names), f"flags {'yes' if answer == 'yes' else 'others'}")]
        for answer, names in head.flags
    ]
    nameless = "This name is part of the pending update. The product itself has no name."
    return [
        heading([typed_or(head.name, "without a name"), *pending], key="name"),
        *([paragraph(nameless, key="nameless", tone="muted")] if head.name_is_pending else []),
        row(
            paragraph([*gtin, " ", digits], key="gtin"),
            facts(head.facts, key="head-facts"),
            key="top",
            look="top",
        ),
        box(
            part("Status", facts(head.statuses, key="statuses")),
            part("Properties", listed(flags, key="flags", tone="flags")),
            key="states",
            look="states",
        ),
    ]


def _pending(it: PendingUpdate) -> Block:
    would = "Nothing would change" if not it.total else f"{counted(it.total, 'value')} would change"
    same = f"; {counted(it.same, 'value')} would stay the same" if it.same else ""

    def values(shown: Sequence[Words], gap: str, look: str) -> Any:
        if not shown:
            return {"gap": gap}
        return [box(*(paragraph(typed_text(one), key=str(at)) for at, one in enumerate(shown)), key=look)]

    changes = table(
        _columns("Attribute", "Language or item", "Current", "Pending"),
        [
            {
                "key": str(number),
                "cells": [
                    typed_text(one.attribute),
                    "" if one.place.is_missing else typed_text(one.place),
                    values(one.now, one.missing, "now"),
                    values(one.then, one.emptied, "then"),
                ],
            }
            for number, one in enumerate(it.changes)
        ],
        key="changes",
        label="Changes of the pending update",
    )
    return part(
        "Update pending",
        paragraph(f"An update is pending acceptance. {would}{same}.", key="would"),
        paragraph(of(len(it.changes), it.total, "change"), key="count", tone="muted") if it.changes else None,
        changes if it.changes else None,
        look="pending",
    )


def _audit(it: ProductAudit | None, profile: str) -> Block:
    if it is None:
        none = paragraph("The audit does not cover this product.", key="not-covered", tone="muted")
        return part("Quality", none, note=f"by {profile}", look="quality")
    ready = {"yes": "good", "no": "bad"}.get(it.ready, "")
    figures = [
        ("Score", it.score, ""),
        ("Grade", it.grade, ""),
        ("Ready", it.ready, ready),
        ("To fix", f"{len(it.failed):,}", ""),
    ]
    tiles = [
        [mark(label, "muted"), " ", mark(words, f"figure {tone}".strip(), key="words")]
        for label, words, tone in figures
    ]
    shown = f"{it.findings:,} of {it.findings_total:,} findings shown."
    return part(
        "Quality",
        listed(tiles, key="tiles", tone="card-tiles"),
        paragraph(shown, key="shown", tone="muted") if it.findings < it.findings_total else None,
        listed(map(_failed, it.failed), key="failed", tone="failed")
        or paragraph("No failing checks.", key="none"),
        row(
            *(
                _checks(title, checks, it.crashes if title == "unknown" else {})
                for title, checks in (
                    ("unknown", it.unknown),
                    ("not applicable", it.not_applicable),
                    ("passed", it.passed),
                )
            ),
            key="folded",
            look="folded",
        ),
        note=f"by {profile}",
        look="quality",
    )


def _failed(one: FailedCheck) -> list[Any]:
    findings = [
        [
            *([] if it.attribute.is_missing else [mark(typed_text(it.attribute), "muted", key="what"), " "]),
            *([] if it.language.is_missing else [mark(typed_text(it.language), "lang"), " "]),
            *([] if it.reason.is_missing else [typed_text(it.reason), " "]),
            *([] if it.value.is_missing else [mark("found: ", "muted", key="found"), typed_text(it.value)]),
        ]
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


def _checks(title: str, checks: Sequence[Check], crashes: Mapping[str, Words]) -> Block | None:
    if not checks:
        return None

    def about(one: Check) -> list[Any]:
        scope = f"; applies to {one.scope}" if one.scope and title == "not applicable" else ""
        crash = [mark(["Rule crashed: ", typed_text(crashes[one.id])], "small")] if one.id in crashes else []
        return [
            ENGLISH.say_again(one.title),
            " ",
            mark(f"{one.block}{scope}", "small muted", key="block"),
            " ",
            *crash,
        ]

    inside = listed(map(about, checks), key="checks", tone="checks")
    return details(f"{counted(len(checks), 'check')} {title}", inside, key=f"checks {title}")


def _picture(number: int, one: CardPicture) -> list[Block | None]:
    title: list[Any] = [f"{number}. ", typed_text(one.title), " ", mark(one.size, "size")]
    if one.is_packshot:
        title += [" ", mark("packshot", "mark")]
    renditions = one.renditions
    return [
        heading(title, key="title", level=5),
        listed(one.disagreements, key="disagreements", tone="disagreements"),
        facts(one.facts, key="facts"),
        row(
            details(
                counted(len(one.more), "more value"), facts(one.more, key="more-facts"), key=f"more {number}"
            )
            if one.more
            else None,
            details(
                counted(renditions.total, "rendition"),
                _grid(renditions, "rendition", f"Renditions of picture {number}"),
                key=f"renditions {number}",
            )
            if renditions.total
            else None,
            key="folded",
            look="folded",
        ),
    ]


def _image(number: int, one: CardPicture, image: Mapping[str, Any]) -> Block:
    alt = f"Picture {number}: {one.title.text}{', packshot' if one.is_packshot else ''}"
    return {"kind": "picture", "key": f"picture {one.position}", "alt": alt, **image}


def _hierarchy(it: HierarchyTrees) -> list[Block]:
    key = f"hierarchy {it.title}"
    others = f"{of(len(it.facts), it.facts_total, 'value')} of units that are not shown"
    blocks = [
        heading(it.title, key=key, level=5),
        paragraph(of(it.shown, it.total, "unit"), key=f"{key} count", tone="muted") if it.total else None,
        listed([_unit(one) for one in it.roots], key=f"{key} units", tone="tree")
        or paragraph(f"None: {it.missing}.", key=f"{key} none", tone="muted"),
        details(others, facts(it.facts, key="facts"), key=f"{key} others") if it.facts else None,
    ]
    return [one for one in blocks if one]


def _unit(it: CardUnit) -> list[Any]:
    packed = f"packed in {it.parents:,} different units" if it.parents > 1 else ""
    more = of(len(it.facts), it.facts_total, "more value")
    said = [
        it.quantity and mark(it.quantity, "times", key="times"),
        mark(typed_or(it.packaging, "packaging not specified"), "strong"),
        mark(typed_or(it.gtin, "no GTIN"), "gtin"),
        it.in_all and mark(it.in_all, "times", key="in-all"),
        it.is_this and mark("this product", "mark this", key="this"),
        it.is_active and mark("active listing", "mark", key="active"),
        it.is_cycle and mark("contains itself", "problem", key="cycle"),
        packed,
        ", ".join(it.flags),
        details(more, facts(it.facts, key="facts"), key="more") if it.facts else None,
    ]
    spaced = [one for each in said if each for one in (each, " ")]
    return [*spaced, listed([_unit(one) for one in it.units], key="units", tone="tree")]


def _nutrients(it: NutrientTables) -> Block:
    some = len(it.tables) < it.total
    tables = [
        _grid(one, "nutrient", f"Nutrients, table {number}", title=["Nutrients ", typed_text(one.title)])
        for number, one in enumerate(it.tables, 1)
    ]
    return part(
        "Nutrients",
        paragraph(of(len(it.tables), it.total, "table"), key="count") if some else None,
        box(*tables, key="tables", look="side")
        if tables
        else paragraph(f"None: {it.missing}.", key="none", tone="muted"),
    )


def _section(it: CardTable) -> Block | None:
    if not it.total:
        return None
    noun = {"Codes": "code", "Quantities": "quantity"}.get(it.title, "row")
    return part(it.title, _grid(it, noun), look="full" if len(it.headings) > _NARROW else "")


def _grid(it: CardTable, noun: str, label: str = "", *, title: Sequence[Any] = ()) -> Block:
    """Return a table below how many of its rows are shown."""
    columns = [
        {
            "name": str(at),
            "title": f"{one[0].upper()}{one[1:]}",
            **({"align": "right"} if at in it.numeric else {}),
            **({"head": True} if at == 0 else {}),
        }
        for at, one in enumerate(it.headings)
    ]
    rows = [
        {"key": str(number), "cells": [_DASH if one.is_missing else typed_text(one) for one in cells]}
        for number, cells in enumerate(it.rows)
    ]
    count = of(len(it.rows), it.total, noun)
    said = [*title, f": {count}"] if title else count
    return box(
        paragraph(said, key="count", tone="muted"),
        table(columns, rows, key="rows", label=label or it.title),
        key=f"grid {label or it.title}",
    )


def _columns(*titles: str) -> list[dict[str, Any]]:
    return [
        {"name": one, "title": one, **({"head": True} if at == 0 else {})} for at, one in enumerate(titles)
    ]
