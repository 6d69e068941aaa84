"""Corrections, recipes and undos one after the other, each sent in several calls, while everything goes wrong.

Processes are killed (SIGKILL) and begun again, replies are lost, imports take their time, and somebody else writes
between the steps and between the calls of a step. A seed draws all of it. A model beside it takes down what the service
received, and what others have written: nothing is received twice, nothing of others is lost, nothing changes beside
what was meant, and each product is as its step says.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.gtin import check_digit
from prodex.sandbox import Behaviour, Fault, Sandbox
from prodex_sandbox.records.imports import Worker
from tests.forks import ENDING_AT, Forks, forking
from tests.worklists.bakery import record, text
from tests.worklists.interrupting import settle

#: Products of a campaign, and of one call: a step needs four calls.
PRODUCTS, BATCH = 10, 3
#: Steps of a campaign, and how often a process of a step is killed at most.
STEPS, KILLS = 4, 3
#: Seconds that each import takes: a process that is begun again meets imports that run.
_DELAY = 0.15

#: What happens to a call that writes: it has no effect, or its reply is lost.
_FAULTS = ("cut", "503", "truncated", "damaged")
#: The attributes that a recipe means; a correction means the first. Of each, the text in French of France.
_MEANT = ("namePublicLong", "description")

_IMPORTED = f"""
import itertools, json, os, signal, sys
import requests
import prodex, prodex.corrections.undo, prodex.corrections.bulk, prodex.quality.run, prodex.send.upsert
sys.modules["prodex.send.upsert"].LARGEST_BATCH = {BATCH}
end = "SIGKILL"
"""
_WORK = (
    ENDING_AT
    + """
service = prodex.connect(**key)
if step == "undo":
    fix = prodex.undo(upsert, service)
else:
    catalog = prodex.flatten(json.loads(one) for one in records)
    if step == "correct":
        operation = prodex.operations.ReplaceText(find, by)
        fix = prodex.correct(catalog, "namePublicLong", operation, language="fr-FR")
    else:
        fix = prodex.apply_recipe(catalog, recipe)
report = {}
if fix.counts.get("accepted"):
    tracking = fix.apply(service, elsewhere=True, also=["unknown"] if gives_up else [], progress=False)
    tracking.wait(progress=False)
    products = tracking.products
    ids = {one: str(int(one[:-1])) for one in products["gtin"]}
    report |= {ids[one]: status for one, status in zip(products["gtin"], products["status"], strict=True)}
if step == "undo":
    # Of a product that has its earlier value already an undo says that, whatever became of the call.
    report |= {one: "SUCCESS" for one in fix.answers.query("state == 'unchanged'")["product_id"]}
with open(answer, "w") as file:
    json.dump(report, file)
"""
)

Record = dict[str, Any]


def gtin(number: int) -> str:
    """Return a GTIN."""
    return f"{number:013d}{check_digit(f'{number:013d}')}"


def product(number: int) -> Record:
    """Return a product with two attributes that are corrected, and neighbours of each that are not."""
    return record(
        number,
        gtin(number),
        namePublicLong=[
            text("fra-FR", f"Pain {number} v0"),
            text("fra-BE", f"Pain {number} v0 "),
            text("nld-NL", f" Brood {number} v0"),
        ],
        description=[text("nld-NL", f"Een brood {number} v0"), text("fra-FR", f"Un pain {number} v0")],
        netContent=[{"data": 500, "expressedIn": {"code": "GRM"}}],
        lifeCycle=1,
    )


@dataclass
class Campaigned:
    """What became of some campaigns.

    Attributes
    ----------
    campaigns, steps, calls
        How many there were, and how many calls wrote something.
    kills, faults, by_others
        How many processes were killed, calls had a fault, and products were changed by somebody else.
    twice, lost, beside, unaccounted
        What the service received twice for one step; what others wrote and is gone; what changed although no step
        meant it; what a step says of a product and is not so. All in words; all have to be empty.
    """

    campaigns: int = 0
    steps: int = 0
    calls: int = 0
    kills: int = 0
    faults: int = 0
    by_others: int = 0
    twice: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    unaccounted: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """All that has to be empty."""
        return [*self.twice, *self.lost, *self.beside, *self.unaccounted]


class Campaign:
    """A service, what it received and what others wrote, and processes that write."""

    def __init__(
        self, sandbox: Sandbox, received: Received, forks: Forks, folder: Path, seed: int, result: Campaigned
    ) -> None:
        self._sandbox, self._received, self._forks, self._folder = sandbox, received, forks, folder
        self._chance, self._seed, self._result = random.Random(seed), seed, result
        own = sandbox.credentials[0]
        self._key = {name: own[name] for name in ("client_id", "client_secret")}
        self._key["base_url"] = sandbox.base_url
        self._service = prodex.connect(**self._key)
        #: Product -> attribute -> what somebody else wrote there last.
        self._theirs: dict[int, dict[str, str]] = {}
        #: Upserts that can be taken back: name -> step, value before -> value after.
        self._undoable: dict[str, tuple[str, str]] = {}

    def records(self) -> dict[int, Record]:
        """Return what the service has."""
        page = self._service.search_products(prodex.ProductQuery(), limit=PRODUCTS)
        return {one["id"]: one for one in map(json.loads, map(bytes, page.envelope.data))}

    def run(self) -> None:
        """Make all steps of the campaign."""
        self._result.campaigns += 1
        for number in range(1, STEPS + 1):
            if self._chance.random() < 0.4:
                self._written_by_others(self._chance.randrange(1, PRODUCTS + 1), f"before step {number}")
            kinds = ["correct", "recipe", *(["undo", "undo"] if self._undoable else [])]
            self._step(number, self._chance.choice(kinds))

    # A text of others holds none of the words that a step looks for, so that no step may ever change it.
    def _written_by_others(self, number: int, when: str) -> None:
        there = self.records()[number]
        attribute = self._chance.choice(("namePublicLong", "description"))
        code = self._chance.choice(("fra-FR", "nld-NL"))
        word = f"Autre {self._seed} {when}"
        for item in there[attribute]:
            if item["expressedIn"]["code"] == code:
                item["data"] = word
        self._theirs.setdefault(number, {})[f"{attribute} {code}"] = word
        self._result.by_others += 1
        self._sandbox.change([there])

    def _step(self, number: int, kind: str) -> None:
        where = f"seed {self._seed}, step {number} ({kind})"
        before = self.records()
        known = set(prodex.list_upserts()["name"])
        find, by = self._words(before, number)
        names: dict[str, Any] = {"step": kind, "key": self._key, "answer": str(self._folder / "answer.json")}
        names |= {"records": [json.dumps(one) for one in before.values()], "find": find, "by": by}
        undone = ""
        if kind == "undo":
            undone = self._chance.choice(sorted(self._undoable))
            names["upsert"] = undone
        elif kind == "recipe":
            names["recipe"] = str(self._recipe(find, by))
        self._received.gtins.clear()
        report = self._attempts(names, where)
        after = self.records()
        if kind == "undo":
            find, by = self._undoable.pop(undone)[::-1]
        self._judge(where, before, after, report, lambda value: value.replace(find, by))
        if kind != "undo" and (own := set(prodex.list_upserts()["name"]) - known):
            # Whichever of those that one correction took is named, all of them are meant.
            self._undoable[self._chance.choice(sorted(own))] = (find, by)

    def _words(self, before: Mapping[int, Record], number: int) -> tuple[str, str]:
        """Return the newest version that most products have, and the next one."""
        versions = Counter(
            item["data"].split()[-1]
            for one in before.values()
            for item in one["namePublicLong"]
            if item["expressedIn"]["code"] == "fra-FR" and not item["data"].startswith("Autre")
        )
        return (versions.most_common(1)[0][0] if versions else "v0"), f"v{self._seed}n{number}"

    def _recipe(self, find: str, by: str) -> Path:
        path = self._folder / "recipe.toml"
        step = (
            f'[[steps]]\ndo = "replace text"\nlanguage = "fr-FR"\nfind = "{find}"\nby = "{by}"\nattribute = '
        )
        path.write_text(f'title = "Campaign"\n\n{step}"namePublicLong"\n\n{step}"description"\n', "utf-8")
        return path

    def _attempts(self, names: dict[str, Any], where: str) -> dict[str, str]:
        """Run a step, killed and begun again, until it ends; return what it says of each product."""
        for attempt in range(self._chance.randrange(KILLS + 1)):
            at = [self._chance.choice(("before", "after", "disk")), self._chance.randrange(1, 25)]
            self._disturb(f"{where}, attempt {attempt}")
            killed = self._process(names, at, gives_up=False)
            self._sandbox.clear_faults()
            if self._chance.random() < 0.5:
                settle(self._sandbox)
            if not killed:
                break
        # Nothing is on its way any more: whoever knows that says that what is unknown may be sent.
        settle(self._sandbox)
        self._process(names, None, gives_up=True)
        report: dict[str, str] = json.loads((self._folder / "answer.json").read_text("utf-8"))
        settle(self._sandbox)
        # A step that has ended sends nothing more, whoever calls it again.
        had = self._received.gtins.copy()
        self._process(names, None, gives_up=False)
        if self._received.gtins != had:
            self._result.twice.append(f"{where}: sent again after its end: {self._received.gtins - had}")
        return report

    def _disturb(self, when: str) -> None:
        """Order a fault for a call that writes, or a change by somebody else just before one."""
        drawn = self._chance.random()
        at = self._chance.randrange(1, 4)
        if drawn < 0.35:
            self._result.faults += 1
            self._sandbox.order(Fault(self._chance.choice(_FAULTS), at=at, endpoint="upsert"))
        elif drawn < 0.7:

            def change() -> None:
                # Only while its call is yet to come: what is on its way nobody can hold back.
                last = gtin(PRODUCTS)
                if not self._received.gtins[last] and last not in json.dumps(self._sandbox.requests[-1][2]):
                    self._written_by_others(PRODUCTS, when)

            self._sandbox.at_call(at, change, endpoint="upsert")

    def _process(self, names: dict[str, Any], at: list[Any] | None, *, gives_up: bool) -> bool:
        environment = {"PRODEX_HOME": str(self._folder / "home")}
        process = self._forks.start(environment, **names, at=at, gives_up=gives_up)
        status = process.wait()
        self._result.kills += status == -9
        if status not in {0, -9}:
            raise AssertionError(f"{names['step']} {at}: {process.complaints()}")
        return status == -9

    def _judge(
        self,
        where: str,
        before: Mapping[int, Record],
        after: Mapping[int, Record],
        report: dict[str, str],
        changed: Callable[[str], str],
    ) -> None:
        self._result.steps += 1
        self._result.twice += [
            f"{where}: {one} {n} times" for one, n in self._received.gtins.items() if n > 1
        ]
        for number, old in before.items():
            new, theirs = after[number], self._theirs.get(number, {})
            beside = [
                name for name in old if name not in {*_MEANT, "updatedAt"} and old[name] != new.get(name)
            ]
            is_changed = False
            for attribute in _MEANT:
                for was, now in zip(old[attribute], new[attribute], strict=True):
                    place = f"{attribute} {was['expressedIn']['code']}"
                    if place in theirs:
                        if now["data"] != theirs[place]:
                            self._result.lost.append(f"{where}: {number} {place}: {now['data']!r}")
                    elif now["data"] == was["data"]:
                        continue
                    elif place.endswith("fra-FR") and now["data"] == changed(was["data"]):
                        is_changed = True
                    else:
                        beside.append(f"{place}: {now['data']!r}")
            self._result.beside += [f"{where}: {number} {one}" for one in beside]
            status, received = report.get(str(number)), self._received.gtins[gtin(number)]
            # What was received of a step is what it wrote, and what it says has arrived is there.
            if is_changed != bool(received) or (status == "SUCCESS") != is_changed:
                told = f"was received {received} times, changed: {is_changed}, is {status}"
                self._result.unaccounted.append(f"{where}: {number} {told}")


def campaign_often(folder: Path, seeds: Iterable[int]) -> Campaigned:
    """Run a campaign for each seed, each with a service and a home of its own."""
    result = Campaigned()
    with forking(_IMPORTED, _WORK, folder / "complaints.txt") as forks:
        for seed in seeds:
            own = folder / f"campaign-{seed}"
            own.mkdir()
            with _serving() as (sandbox, received), pytest.MonkeyPatch.context() as patch:
                patch.setenv("PRODEX_HOME", str(own / "home"))
                Campaign(sandbox, received, forks, own, seed, result).run()
            result.calls += received.calls
    return result


class Received:
    """What a service has taken down of calls that write, whatever became of their replies."""

    def __init__(self) -> None:
        self.calls, self.gtins = 0, Counter[str]()

    def take(self, payload: bytes) -> None:
        self.calls += 1
        self.gtins.update(one["gtin"] for one in json.loads(payload)["data"])


@contextmanager
def _serving() -> Iterator[tuple[Sandbox, Received]]:
    received = Received()
    take = Worker.take

    def taken(worker: Worker, organization: Any, media_type: str, payload: bytes, *rest: Any) -> int:
        received.take(payload)
        return take(worker, organization, media_type, payload, *rest)

    records = [product(number) for number in range(1, 1 + PRODUCTS)]
    with (
        pytest.MonkeyPatch.context() as patch,
        Sandbox(records, behaviour=Behaviour(import_delay=_DELAY)) as sandbox,
    ):
        patch.setattr(Worker, "take", taken)
        yield sandbox, received
