"""Worklists of answers that were not taken: each finding again, with what was answered and why it was not taken."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.display.worklists.folder import write_folder
from prodex.display.worklists.rows import grouped_worklists, worklist_rows
from prodex.display.worklists.sheets import Worklist, WorklistFacts
from prodex.fix.layout import WORKLIST

if TYPE_CHECKING:
    from prodex.fix.result import Fix

_KEYS = ("product_id", "check", "attribute", "language")
#: The worklist of answers whose product is not known, and of files that could not be read.
_UNASSIGNED = "not_assigned"


def write_again(fix: Fix, folder: str | Path, by: str = "owner", *, replace: bool = False) -> pd.DataFrame:
    """Write the answers that were refused or are in conflict, one worklist for each group.

    Parameters and result are those of `Fix.worklist`.
    """
    answers = fix.answers
    not_taken = answers[answers["state"].isin(["refused", "conflict"])]
    # They are about the same snapshot, so that these worklists can come back as well.
    audit = dataclasses.replace(fix.before, catalog_folder=fix.catalog.folder)
    found = worklist_rows(audit, {})
    places = {product: place for place, product in enumerate(audit.identity["product_id"].to_pylist())}
    rows: list[dict[str, Any]] = []
    by_key: dict[tuple[Any, ...], list[int]] = {}
    for number, key in enumerate(zip(*(found[name].to_pylist() for name in _KEYS), strict=True)):
        by_key.setdefault(key, []).append(number)
    for answer in not_taken.to_dict("records"):
        same = by_key.get(tuple(answer[name] for name in _KEYS), [])
        several = [found.slice(place, 1).to_pylist()[0] for place in same]
        exact = [row for row in several if row["value"] == answer["value"]]
        finding: dict[str, Any] = next(iter(exact or several), {})
        rows.append(_row({str(name): value for name, value in answer.items()}, finding, places))
    table = pa.Table.from_pylist(rows, found.schema if not rows else _schema())
    known = table.filter(table["product"].is_valid())
    unknown = table.filter(table["product"].is_null()).drop_columns("product")
    made = list(grouped_worklists(audit, known, by, {_UNASSIGNED}))
    if len(unknown):
        numbered = unknown.add_column(0, "row", pa.array(range(1, len(unknown) + 1), pa.int64()))
        made.append(Worklist(by, None, None, _UNASSIGNED, numbered.cast(WORKLIST), {}))
    facts = WorklistFacts(
        {"Catalogue": f"{audit.origin.source}, {len(fix.catalog):,} products", "Profile": audit.profile},
        ["Everything that was taken: only answers that could not be used are listed, each with the reason."],
        [],
    )
    return write_folder(audit, folder, by, made, facts, pc.unique(table["attribute"]), replace=replace)


def _schema() -> pa.Schema:
    return pa.schema([("product", pa.int64()), *list(WORKLIST)[1:]])


def _row(answer: Mapping[str, Any], finding: Mapping[str, Any], places: Mapping[str, int]) -> dict[str, Any]:
    """Return the finding with the answer and the reason; of one that is gone, what the answer said."""
    said = "" if answer["answer"] is None else f"“{answer['answer']}” was not taken: "
    reason = f"{said}{answer['reason']}"
    names = ("product_id", "gtin", "name", "owner", "attribute", "language")
    own = {name: answer[name] for name in names}
    if not finding:
        # Only the name of the file: its folder is nobody else's business.
        file = str(answer["file"]).replace("\\", "/").rpartition("/")[2]
        where = " ".join(str(one) for one in (file, answer["sheet"], answer["cell"]) if one)
        own |= {
            "value": answer["before"],
            "problem": "Answer that could not be used",
            "title": f"an answer that can be used, in place of {where}",
            "fix": "Read what is wrong, and answer again.",
            "severity": "warning",
            "check": answer["check"] or "",
        }
    place = places.get(str(answer["product_id"]))
    return {"product": place, **own, **finding, "reason": reason, "new_value": None}
