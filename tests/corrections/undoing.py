"""Writes that are taken back while everything goes wrong: processes are killed (SIGKILL), and somebody else writes too.

Products are corrected group by group, each group by a process that is killed at a moment of its own, and taken back by
processes that are killed at the same moment. A model beside it knows what each product has to be in the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.gtin import check_digit
from prodex.sandbox import Sandbox
from tests.forks import ENDING_AT, Forks, forking
from tests.worklists.bakery import record, text
from tests.worklists.interrupting import settle

#: Products of one call: three calls write a group.
BATCH = 4

_IMPORTED = f"""
import itertools, json, os, signal, sys
import requests
import prodex, prodex.corrections.undo, prodex.worklists.text_corrections, prodex.send.upsert
BATCH = sys.modules["prodex.send.upsert"].LARGEST_BATCH = {BATCH}
end = "SIGKILL"
"""
_WORK = (
    ENDING_AT
    + """
service = prodex.connect(**key)
also = ["unknown"] if gives_up else []
if step == "correct":
    catalog = prodex.flatten(json.loads(one) for one in records)
    corrections = [prodex.TextCorrection(**one) for one in given]
    fix = prodex.correct_from(corrections, catalog)
    tracking = fix.apply(service, elsewhere=True, also=also, progress=False)
elif step == "upsert":
    tracking = prodex.upsert(service, given, progress=False, null_deletes=True, batch_size=BATCH)
elif step == "rest":
    tracking = prodex.track(service).send_rest(also=also, progress=False)
else:
    fix = prodex.undo(upsert, service)
    if not fix.counts["accepted"]:
        os._exit(0)
    tracking = fix.apply(service, also=also, progress=False)
tracking.wait(progress=False)
"""
)

#: Where a process ends: before or after a call to the service, or after something was written to the disk.
MOMENTS = [(moment, number) for number in range(1, 23) for moment in ("before", "after", "disk")]


def gtin(number: int) -> str:
    """Return a GTIN."""
    return f"{number:013d}{check_digit(f'{number:013d}')}"


def product(number: int) -> dict[str, Any]:
    """Return a product as it is before anything is written."""
    return record(
        number,
        gtin(number),
        namePublicLong=[text("fra-FR", f"PAIN {number}"), text("nld-NL", f"Brood {number}")],
        description=[text("fra-FR", "Un pain"), text("fra-FR", "Un autre pain")],
        isDerivedFrom=[{"code": "WHEAT", "label": "Wheat"}, {"code": "RYE", "label": "Rye"}],
        lifeCycle=1,
    )


def corrections_of(number: int) -> list[dict[str, Any]]:
    """Return the corrections of the texts of a product: one is changed, and another one taken away or added."""
    place = {"product_id": str(number), "attribute": "namePublicLong"}
    own = {**place, "language": "fr", "text": f"Pain {number}", "before": f"PAIN {number}"}
    other: dict[str, Any] = {**place, "language": "nl", "text": None, "before": f"Brood {number}"}
    if number % 2:
        other = {**place, "language": "de", "language_code": "deu-DE", "text": f"Brot {number}"}
    return [own, other]


def written(number: int) -> dict[str, Any]:
    """Return what a plain upsert writes: a code is replaced, one added, a text changed, an attribute taken away."""
    return {
        "gtin": gtin(number),
        "namePublicLong": [text("fra-FR", f"Pain {number}"), text("nld-NL", f"Brood {number}")],
        "isDerivedFrom": [{"code": "WHEAT"}, {"code": "OAT"}],
        "brand": {"code": "ACME"},
        "lifeCycle": 2,
        "description": None,
    }


def said(found: Any) -> Any:
    """Return a value as it compares: without labels, the order of lists, and what says nothing."""
    match found:
        case {"code": code}:
            return str(code)
        case dict():
            return {name: said(one) for name, one in found.items() if one not in (None, [], {})}
        case list():
            return sorted((said(one) for one in found), key=lambda one: json.dumps(one, sort_keys=True))
    return found


@dataclass
class Undone:
    """What became of it.

    Attributes
    ----------
    products, groups, kills
        How many products were written and taken back, in how many groups, and how many processes were killed.
    changed_by_others
        Leaves that somebody else changed between.
    touched
        Of these, those that are not as somebody else has left them.
    unequal
        GTINs of products that are not as before, beside what others have changed.
    unaccounted
        What is known of a product after a kill and is not so, in words.
    """

    products: int = 0
    groups: int = 0
    kills: int = 0
    changed_by_others: int = 0
    touched: list[str] = field(default_factory=list)
    unequal: list[str] = field(default_factory=list)
    unaccounted: list[str] = field(default_factory=list)


class Undoing:
    """A service with products, and processes that correct them and take it back."""

    def __init__(self, sandbox: Sandbox, forks: Forks, home: Path) -> None:
        self._sandbox, self._forks, self._home, self.result = sandbox, forks, home, Undone()
        own = sandbox.credentials[0]
        self._key = {
            "base_url": sandbox.base_url,
            "client_id": own["client_id"],
            "client_secret": own["client_secret"],
        }
        self.service = prodex.connect(**self._key)

    @classmethod
    @contextmanager
    def serving(cls, folder: Path, home: Path, products: int) -> Iterator[Undoing]:
        """Serve so many products."""
        records = [product(number) for number in range(1, 1 + products)]
        with (
            pytest.MonkeyPatch.context() as patch,
            Sandbox(records) as sandbox,
            forking(_IMPORTED, _WORK, folder / "complaints.txt") as forks,
        ):
            patch.setenv("PRODEX_HOME", str(home))
            yield cls(sandbox, forks, home)

    def records(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Return what the service has of products."""
        query = prodex.ProductQuery(gtins_in=[gtin(one) for one in numbers])
        page = self.service.search_products(query, limit=len(numbers))
        return {one["id"]: one for one in map(json.loads, map(bytes, page.envelope.data))}

    def written_by_others(self, number: int, **attributes: Any) -> None:
        """Write a product as somebody does who has another machine."""
        self.result.changed_by_others += 1
        content = json.dumps({"data": [{"gtin": gtin(number), **attributes}]}).encode()
        self.service.upsert_products(content, "application/json")
        settle(self._sandbox)

    def run(self, step: str, at: tuple[str, int] | None, **names: Any) -> bool:
        """Run a step to its end, or kill it at a moment; say whether it was killed."""
        given = {"step": step, "key": self._key, "gives_up": at is None, "at": at, **names}
        process = self._forks.start({"PRODEX_HOME": str(self._home)}, **given)
        status = process.wait()
        # What a killed process has sent arrives all the same.
        settle(self._sandbox)
        self.result.kills += status == -9
        if status not in {0, -9}:
            raise AssertionError(f"{step} {at}: {process.complaints()}")
        return status == -9

    def group(self, numbers: Sequence[int], at: tuple[str, int], *, finishes: bool, is_plain: bool) -> None:
        """Write a group and take it back; both are killed at a moment, and the write may be left as it is then."""
        before = self.records(numbers)
        known = len(prodex.list_upserts())
        if is_plain:
            given: list[Any] = [written(one) for one in numbers]
            self._write("upsert", "rest", at, finishes, known, given=given)
        else:
            corrections = [one for number in numbers for one in corrections_of(number)]
            names = {"records": [json.dumps(one) for one in before.values()], "given": corrections}
            self._write("correct", "correct", at, finishes, known, **names)
        listed = prodex.list_upserts()
        if len(listed) == known:  # killed before anything was planned
            self._compare(numbers, before, {})
            return
        upsert = listed["name"][0]
        others = self._interfere(numbers)
        self._undo(upsert, at, numbers)
        self.run("undo", None, upsert=upsert)
        self._compare(numbers, before, others)

    def _write(
        self, step: str, again: str, at: tuple[str, int], finishes: bool, known: int, **names: Any
    ) -> None:
        killed = self.run(step, at, **names)
        while killed and finishes:
            planned = len(prodex.list_upserts()) > known
            killed = self.run(again if planned else step, None, **names)

    def _interfere(self, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Let somebody else change two products: a leaf that was written, and one beside it."""
        own, beside = numbers[0], numbers[-1]
        now = self.records([own, beside])
        texts = {number: list(now[number]["namePublicLong"]) for number in (own, beside)}
        for one in texts[own]:
            if one["expressedIn"]["code"] == "fra-FR":
                one["data"] = "Autre pain"
        texts[beside] = [*texts[beside], text("ita-IT", "Pane")]
        for number, value in texts.items():
            self.written_by_others(number, namePublicLong=value)
        return {own: text("fra-FR", "Autre pain"), beside: text("ita-IT", "Pane")}

    def _undo(self, upsert: str, at: tuple[str, int], numbers: Sequence[int]) -> None:
        """Take it back, killed on the way; what is said of each product then is as it is."""
        self.run("undo", at, upsert=upsert)
        fix = prodex.undo(upsert, self.service)
        there = self.records(numbers)
        named = set(fix.answers["product_id"])
        for row in fix.answers.itertuples():
            now = said(there[int(row.product_id)].get(row.attribute))
            first = said(product(int(row.product_id)).get(row.attribute))
            if row.state == "unchanged" and row.language is None and now != first:
                self.result.unaccounted.append(f"{at}: {row.product_id} {row.attribute} is not undone")
            if row.state == "accepted" and now == first:
                self.result.unaccounted.append(f"{at}: {row.product_id} {row.attribute} is undone")
        for number in numbers:
            if str(number) not in named and said(there[number]) != said(there[number] | product(number)):
                self.result.unaccounted.append(f"{at}: {number} is not named")

    def _compare(
        self, numbers: Sequence[int], before: dict[int, dict[str, Any]], others: dict[int, dict[str, Any]]
    ) -> None:
        self.result.groups += 1
        self.result.products += len(numbers)
        after = self.records(numbers)
        for number in numbers:
            expected, found = (
                {name: one for name, one in of.items() if name != "updatedAt"}
                for of in (before[number], after[number])
            )
            if (theirs := others.get(number)) is not None:
                code = theirs["expressedIn"]["code"]
                beside = [one for one in expected["namePublicLong"] if one["expressedIn"]["code"] != code]
                expected["namePublicLong"] = [*beside, theirs]
                own = [one["data"] for one in found["namePublicLong"] if one["expressedIn"]["code"] == code]
                if own != [theirs["data"]]:
                    self.result.touched.append(gtin(number))
            if said(expected) != said(found):
                self.result.unequal.append(gtin(number))


def undo_often(folder: Path, home: Path, groups: int, size: int = 10) -> Undone:
    """Write and take back so many groups of products, each killed at the next moment."""
    with Undoing.serving(folder, home, groups * size) as undoing:
        for group in range(groups):
            numbers = range(1 + group * size, 1 + (group + 1) * size)
            moment = MOMENTS[
                group * len(MOMENTS) // groups if groups < len(MOMENTS) else group % len(MOMENTS)
            ]
            undoing.group(numbers, moment, finishes=group % 3 != 2, is_plain=group % 2 == 1)
        return undoing.result
