"""Worklists of answers: those that were not taken, each with the reason, and those that somebody else may send."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.catalog.origin import Chosen
from prodex.languages import Message, Said
from prodex.quality.check import Check
from prodex.quality.reasons import written_reason
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.folder import chosen_words, write_folder
from prodex.worklists.ownership import Owners, is_outside
from prodex.worklists.read_worklist import EVERY_PROFILE
from prodex.worklists.returned_files import place_in_words
from prodex.worklists.row_keys import place_digest
from prodex.worklists.rows import QUESTIONS, finding_rows, group_worklists, update_waits
from prodex.worklists.sheets import Worklist, WorklistFacts

if TYPE_CHECKING:
    from prodex.worklists.fix import Fix

_KEYS = ("product_id", "check", "attribute", "language")
#: What an answer knows of its row; the digest of the text at its place becomes a part of its key.
_OWN = (*_KEYS, "gtin", "name", "owner", "owner_id", "language_code", "position", "row_key")
#: The worklist of answers whose product is not known, and of files that could not be read.
_UNASSIGNED = "not_assigned"

_ANSWERED = Message("an answer came back for them")
_NOT_TAKEN = Message(
    "Everything that was taken: only answers that could not be used are listed, each with the reason."
)
_TAKEN = Message(
    "Answers that change nothing. What can be sent has its new value; what could not be used, the reason."
)


@dataclass(frozen=True)
class _OfAnswer:
    """What a row says of an answer that is about no finding: it takes the place of a check."""

    id: str
    problem: Message
    title: Message
    fix: Message
    severity: str

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Self:
        check = answer["check"] or ""
        if answer["state"] == "accepted":
            said = Message("the new value"), Message("Send it back as it is, or change it.")
            return cls(check, Message("Correction to look at"), *said, "info")
        is_asked = answer["state"] == "needs confirmation"
        where = place_in_words(*(answer[name] for name in ("file", "sheet", "row", "cell")))
        return cls(
            check,
            Message("Answer that may not be meant") if is_asked else Message("Answer that could not be used"),
            Message("an answer that can be used, in place of {place}", place=where),
            Message("Read what is wrong, and answer again."),
            "warning",
        )


def write_follow_up(
    fix: Fix,
    folder: str | Path,
    by: str = "owner",
    *,
    accepted: bool = False,
    replace: bool = False,
    language: str | None = None,
    languages: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Write the answers that were refused, are in conflict or need confirmation, one worklist for each group.

    Parameters and result are those of `Fix.worklist`.
    """
    answers = _with_places(fix.answers.assign(said=pd.Series(fix._reasons(), dtype=object)), fix)
    listed = answers[
        answers["state"].isin(["refused", "conflict", "needs confirmation", *["accepted"] * accepted])
    ]
    # They are about the same snapshot, so that answers in these worklists can be read as well.
    judged = fix.before.catalog
    if judged is not None:
        # Only these were judged again, and the figures are theirs.
        chosen = Chosen.again(fix.catalog.chosen, len(fix.catalog), [_ANSWERED])
        judged = dataclasses.replace(judged, chosen=chosen)
    audit = dataclasses.replace(fix.before, catalog=judged, catalog_folder=fix.catalog.folder)
    found = finding_rows(audit, {}, accepted=True)
    places = {product: place for place, product in enumerate(audit.identity["product_id"].to_pylist())}
    rows: list[dict[str, Any]] = []
    by_key: dict[tuple[Any, ...], list[int]] = {}
    for number, (product, check, *place) in enumerate(
        zip(*(found[name].to_pylist() for name in _KEYS), strict=True)
    ):
        by_key.setdefault((product, audit.checks[check].id, *place), []).append(number)
    checks: list[Check | _OfAnswer] = list(audit.checks)
    changed = _last_changed(fix.catalog, places)
    for answer in listed.to_dict("records"):
        same = by_key.get(tuple(answer[name] for name in _KEYS), [])
        several = [found.slice(place, 1).to_pylist()[0] for place in same]
        exact = [row for row in several if row["value"] == answer["value"]]
        finding: dict[str, Any] = next(iter(exact or several), {})
        if not finding:
            finding = {
                **{name: answer[name] for name in _OWN},
                "value": answer["before"],
                "check": len(checks),
            }
            checks.append(_OfAnswer.of({str(name): value for name, value in answer.items()}))
        # The words of one supplier are not for another one: what is not theirs to answer stays here.
        rows.append(
            {
                **{name: answer[name] for name in _OWN if name != "check"},
                **finding,
                "reason": _reason({str(name): value for name, value in answer.items()}),
                "new_value": answer["answer"] if answer["state"] == "accepted" else None,
                "product": None if answer["is_outside"] else places.get(str(answer["product_id"])),
                "updated_at": changed.get(str(answer["product_id"])),
            }
        )
    table = pa.Table.from_pylist(rows, QUESTIONS)
    # An update may be newer than the catalogue: the service has reported it when the answers were sent.
    waits = update_waits(table, fix.waiting)
    table = table.set_column(table.column_names.index("update_waits"), "update_waits", waits)
    known = table.filter(table["product"].is_valid())
    unknown = table.filter(table["product"].is_null()).drop_columns("product")
    made = [
        dataclasses.replace(one, checks=checks) for one in group_worklists(audit, known, by, {_UNASSIGNED})
    ]
    if len(unknown):
        numbered = unknown.add_column(0, "row", pa.array(range(1, len(unknown) + 1), pa.int64()))
        made.append(Worklist(by, None, None, _UNASSIGNED, numbered, {}, checks=checks))
    catalog = Message.of_number(
        "{source}, {number} product",
        "{source}, {number} products",
        len(fix.catalog),
        source=audit.origin.source_said,
    )
    profile = Message("all profiles") if audit.profile == EVERY_PROFILE else audit.profile
    facts = WorklistFacts(
        [(Message("Catalogue"), catalog), (Message("Profile"), profile)],
        [_TAKEN if accepted else _NOT_TAKEN],
        [],
    )
    own = fix.languages_of_owners if by in {"owner", "owner_id"} and language is None else {}
    words_of = chosen_words(audit, by, language or "en", languages, own)
    named = pc.unique(table["attribute"])
    return write_folder(audit, folder, by, made, facts, named, replace=replace, words_of=words_of)


def _with_places(answers: pd.DataFrame, fix: Fix) -> pd.DataFrame:
    """Return answers with the owners of their products, the text at their places, and whether they are of others."""
    owners, held, outside = [], [], []
    known = Owners.of(fix.catalog, [str(one.product) for one in fix._decisions])
    for decision in fix._decisions:
        owner = known.of_product.get(str(decision.product))
        is_text = decision.shape is AnswerShape.TEXT
        owners.append(owner)
        held.append(place_digest(decision.before) if is_text else None)
        outside.append(is_outside(decision.answer, owner))
    # Problems have no product.
    lacking = len(answers) - len(owners)
    columns: dict[str, list[Any]] = {"owner_id": owners, "row_key": held, "is_outside": outside}
    return answers.assign(
        **{
            name: pd.Series([*values, *[None] * lacking], answers.index, dtype=object)
            for name, values in columns.items()
        }
    )


def _last_changed(catalog: Catalog, products: Collection[str]) -> dict[str, datetime | None]:
    """Return when products were last changed, by their ids."""
    concerned = pc.field("product_id").isin(pa.array(list(products), pa.string()))
    rows = catalog.arrow("products", ["product_id", "updated_at"], concerned)
    return dict(zip(rows["product_id"].to_pylist(), rows["updated_at"].to_pylist(), strict=True))


def _reason(answer: Mapping[str, Any]) -> str:
    """Return why an answer was not taken, with the answer, as findings have reasons."""
    said: Said = answer["said"]
    if answer["answer"] is not None and answer["state"] == "needs confirmation":
        said = Message("“{answer}” needs confirmation: {said}", answer=answer["answer"], said=said)
    elif answer["answer"] is not None and answer["state"] != "accepted":
        said = Message("“{answer}” was not taken: {said}", answer=answer["answer"], said=said)
    return written_reason(said)
