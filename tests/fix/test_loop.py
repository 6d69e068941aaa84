"""The loop: worklists go out, come back as people leave them, and are applied; nothing else moves."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.sandbox import Sandbox

from .answering import answered
from .handling import WAYS, fill


def leaves(value: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Return every leaf of a record by its path."""
    if isinstance(value, Mapping) and value:
        return {
            place: leaf for key, inner in value.items() for place, leaf in leaves(inner, (*path, key)).items()
        }
    if isinstance(value, list) and value:
        return {
            place: leaf
            for key, inner in enumerate(value)
            for place, leaf in leaves(inner, (*path, key)).items()
        }
    return {path: value}


def records(catalog: prodex.Catalog) -> dict[str, dict[str, Any]]:
    """Return the products as received."""
    rows = catalog.arrow("raw", ["product_id", "json"]).to_pylist()
    return {row["product_id"]: json.loads(row["json"]) for row in rows}


def texts_of(catalog: prodex.Catalog) -> dict[tuple[str, str, str], list[str]]:
    """Return every text by product, attribute and language, in its order."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for row in catalog.arrow("texts", ["product_id", "attribute", "language", "text"]).to_pylist():
        found.setdefault((row["product_id"], row["attribute"], row["language"]), []).append(row["text"])
    return found


@pytest.mark.slow
@pytest.mark.sample
def test_a_thousand_answers_come_back_in_every_way_that_people_have(tmp_path: Path) -> None:
    """Every good answer is applied, every bad one is listed with its cell, and no other leaf moves."""
    with Sandbox() as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(service, name="loop", progress=False)
        audit = prodex.audit(catalog, "online-listing", progress=False).save()
        out, back = tmp_path / "out", tmp_path / "back"
        audit.worklists(out)
        answers = answered(out, catalog, 1_000)
        assert len(answers.good) + len(answers.bad) == 1_000
        assert {language for *_, language in answers.good} == {"fr", "nl", "es"}

        back.mkdir()
        ways = list(WAYS.values())
        assert len(answers.texts) >= len(ways) >= 30
        for number, (path, texts) in enumerate(answers.texts.items()):
            workbook = path.with_suffix(".xlsx")
            returned = back / f"{number:02} {workbook.name}"
            returned.write_bytes(workbook.read_bytes())
            fill(returned, texts)
            ways[number % len(ways)](returned)

        fix = prodex.read_worklist(back)
        told = fix.refused
        accepted = {
            (row.product_id, row.attribute, row.language): row.answer for row in fix.accepted.itertuples()
        }
        assert accepted == answers.good
        assert {(row.product_id, row.attribute, row.language) for row in told.itertuples()} == answers.bad
        assert told[["file", "row", "cell", "reason"]].notna().all(axis=None)
        assert fix.conflicts.empty
        expected = fix.effect().changes("fixed")

        before = records(catalog)
        assert fix.apply(service, progress=False).wait(progress=False).status == "SUCCESS"
        newer = prodex.refresh("loop", service, progress=False)
        after = records(newer)

        assert before.keys() == after.keys()
        moved = set()
        for product, old in before.items():
            was, now = leaves(old), leaves(after[product])
            for place in was.keys() | now.keys():
                if was.get(place) != now.get(place) and place[0] not in {"updatedAt", "validation"}:
                    moved.add((product, place[0]))
        assert moved <= {(product, attribute) for product, attribute, _ in answers.good}
        assert texts_of(newer) == texts_of(catalog) | {place: [text] for place, text in answers.good.items()}

        again = prodex.audit(newer, "online-listing", progress=False)
        fixed = prodex.diff(audit, again).changes("fixed")
        mine = set(zip(fixed["product_id"], fixed["check"], strict=True))
        assert answers.asked <= mine
        assert mine - _by_the_service(mine) == set(
            zip(expected["product_id"], expected["check"], strict=True)
        )


def _by_the_service(fixed: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return what a write itself changes: when the product was updated."""
    return {(product, check) for product, check in fixed if check.startswith("updated_within")}
