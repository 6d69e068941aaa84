"""Law: whatever is done, and whenever the power goes, what was reported as saved is there, and nothing is half there.

A model of plain dicts stands beside the store. `make soak` tries many more stories.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tests.store.crashes import Disk

import prodex
from prodex.sandbox import Sandbox
from prodex.service import RetryPolicy

pytestmark = pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a tmpfs, as Linux has one")

#: What a snapshot holds: the name of each product.
Content = dict[int, str]

IDS = st.integers(1, 6)
NAMES = st.sampled_from(["Riz", "Blé", "Sel"])
CHECKS = {"checks": {"required_text": {"attribute": "namePublicLong", "language": "fr"}}}
SERVICE = ExitStack()
#: The products that are at the exchange now, beside the first.
SERVED: set[int] = set()


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> Any:
    """Serve one exchange to all stories; each begins with no product in it."""
    with SERVICE:
        yield


def served() -> Sandbox:
    if not hasattr(SERVICE, "sandbox"):
        SERVICE.sandbox = SERVICE.enter_context(Sandbox(products=[record(99, "first")]))
    return SERVICE.sandbox


def record(number: int, name: str) -> dict[str, Any]:
    described = {"code": "fra-FR", "normalizedCode": "fr"}
    return {
        "id": number,
        "gtin": f"{number:014d}",
        "namePublicLong": [{"expressedIn": described, "data": name}],
    }


def content(catalog: prodex.Catalog) -> Content:
    """Return what a catalogue holds, by two of its tables that have to agree."""
    records = [json.loads(text) for text in catalog.raw["json"]]
    found = {one["id"]: one["namePublicLong"][0]["data"] for one in records}
    texts = catalog.texts
    assert {int(p): t for p, t in zip(texts["product_id"], texts["text"], strict=True)} == found
    assert len(records) == len(catalog) == len(found)
    return found


class Store(RuleBasedStateMachine):
    """Loads, refreshes, saves, audits, cleans up, exports; and crashes in any of them."""

    @initialize()
    def begin(self) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="prodex-crash-", dir="/dev/shm"))
        self.stack = ExitStack()
        self.stack.callback(shutil.rmtree, self.place, ignore_errors=True)
        patch = self.stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("PRODEX_HOME", str(self.place / "home"))
        self.disk = Disk(self.place)
        self.stack.enter_context(self.disk.traced())
        key = served().credentials[0]
        self.client = prodex.connect(
            base_url=served().base_url,
            client_id=key["client_id"],
            client_secret=key["client_secret"],
            retry=RetryPolicy(first_wait=0.001, jitter=0, retries_per_second=1_000),
        )
        self.products: Content = {}
        #: What there was when a load last asked for anything.
        self.pulled: Content = {}
        served().remove(sorted(SERVED))
        SERVED.clear()
        served().change([record(99, "first")])
        self.products[99] = "first"
        #: Of each name the snapshots that were reported as saved, by the name of their folder, oldest first.
        self.saved: dict[str, dict[str, Content]] = {"shop": {}, "kept": {}}
        self.audits: dict[str, int] = {}
        self.exported: Content | None = None

    def teardown(self) -> None:
        if not hasattr(self, "stack"):
            return
        with self.stack:
            self.load()
            self.vacuum(1)
            self.is_as_reported()

    @rule(number=IDS, name=NAMES)
    def change(self, number: int, name: str) -> None:
        served().change([record(number, name)])
        SERVED.add(number)
        self.products[number] = name

    @precondition(lambda self: set(self.products) - {99})
    @rule(data=st.data())
    def take_away(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(set(self.products) - {99})))
        served().remove([number])
        SERVED.discard(number)
        del self.products[number]

    @rule()
    def load(self) -> None:
        begin = len(served().requests)
        catalog = prodex.load_products(self.client, name="shop", max_age=0, progress=False)
        self._add("shop", catalog, self._pulled_since(begin))

    @precondition(lambda self: self.saved["shop"])
    @rule()
    def refresh(self) -> None:
        begin = len(served().requests)
        catalog = prodex.refresh("shop", self.client, sweep=True, progress=False)
        self._add("shop", catalog, self._pulled_since(begin))

    def _pulled_since(self, begin: int) -> Content:
        """Return what a load holds; one that was interrupted while it was built asks for nothing more."""
        if any(path.endswith("/list") for _, path, _ in served().requests[begin:]):
            self.pulled = dict(self.products)
        return self.pulled

    @rule(products=st.dictionaries(IDS, NAMES, min_size=1, max_size=3))
    def save(self, products: Content) -> None:
        catalog = prodex.flatten([record(number, name) for number, name in products.items()])
        self._add("kept", catalog.save("kept"), products)

    @precondition(lambda self: self.saved["shop"])
    @rule()
    def audit(self) -> None:
        audit = prodex.audit(prodex.open_snapshot("shop"), CHECKS).save()
        assert audit.folder is not None
        self.audits[audit.folder.name] = len(audit)

    @rule(keep=st.integers(1, 2))
    def vacuum(self, keep: int) -> None:
        for name, saved in self.saved.items():
            if saved:
                prodex.vacuum(name, keep=keep)
                self.saved[name] = dict(list(saved.items())[-keep:])

    @precondition(lambda self: self.saved["shop"])
    @rule()
    def export(self) -> None:
        catalog = prodex.open_snapshot("shop")
        expected = content(catalog)
        catalog.export(self.place / "out", "csv")
        self.exported = expected

    @precondition(lambda self: len(self.saved["shop"]) > 1)
    @rule()
    def compare(self) -> None:
        (old, before), (new, after) = list(self.saved["shop"].items())[-2:]
        difference = prodex.diff(prodex.open_snapshot(f"shop@{old}"), prodex.open_snapshot(f"shop@{new}"))
        outcomes = dict(zip(difference.products["product_id"], difference.products["change"], strict=True))
        expected = {str(product): "added" for product in after.keys() - before.keys()}
        expected |= {str(product): "removed" for product in before.keys() - after.keys()}
        common = before.keys() & after.keys()
        expected |= {str(product): "changed" for product in common if before[product] != after[product]}
        assert expected == outcomes

    @rule(
        work=st.sampled_from(["load", "refresh", "save", "audit", "vacuum", "export"]),
        moment=st.one_of(st.integers(0, 12), st.integers(0, 200), st.just(100_000)),
        seed=st.integers(0, 2**32),
        power=st.booleans(),
    )
    def crash(self, work: str, moment: int, seed: int, power: bool) -> None:
        if work in ("refresh", "audit", "export") and not self.saved["shop"]:
            work = "load"
        call: Callable[[], None] = {
            "save": lambda: self.save({1: "Sel", 2: "Riz"}),
            "vacuum": lambda: self.vacuum(1),
        }.get(work, getattr(self, work))
        before = {name: dict(saved) for name, saved in self.saved.items()}
        audits, exported, begin = dict(self.audits), self.exported, len(served().requests)
        done = self.disk.crash_during(call, moment, Random(seed), power=power)
        if not done:
            self._pulled_since(begin)
            self._find_out(work, before)
            self.audits = {**audits, **{name: n for name, n in self.audits.items() if self._has_audit(name)}}
            self._find_out_export(work, exported)
        self.is_as_reported()

    def _find_out(self, work: str, before: dict[str, dict[str, Content]]) -> None:
        """Take for saved what is there: all that was before, and what was interrupted whole or not at all."""
        self.saved = before
        for name, saved in before.items():
            listed = prodex.list_snapshots(name)
            assert "" == "".join(listed["note"])
            there = listed["time"].tolist()
            if work == "vacuum":
                assert list(saved)[-1:] == there[-1:]
                self.saved[name] = {time: one for time, one in saved.items() if time in there}
            assert [*self.saved[name]] == there[: len(self.saved[name])]
            new = there[len(self.saved[name]) :]
            assert len(new) <= (work in ("load", "refresh", "save"))
            for time in new:
                expected = {1: "Sel", 2: "Riz"} if work == "save" else self.pulled
                self.saved[name][time] = dict(expected)

    def _has_audit(self, name: str) -> bool:
        return name in prodex.list_audits("shop")["time"].tolist()

    def _find_out_export(self, work: str, before: Content | None) -> None:
        if work != "export":
            self.exported = before
        elif not (self.place / "out" / "datapackage.json").exists():
            self.exported = None
        else:
            now = self._read_export()
            assert now in (before, list(self.saved["shop"].values())[-1])
            self.exported = now

    def _read_export(self) -> Content:
        texts = pd.read_csv(self.place / "out" / "texts.csv", dtype=str)
        products = pd.read_csv(self.place / "out" / "products.csv", dtype=str)
        found = {int(p): t for p, t in zip(texts["product_id"], texts["text"], strict=True)}
        assert set(found) == set(products["product_id"].astype(int))
        return found

    def _add(self, name: str, catalog: prodex.Catalog, products: Content) -> None:
        assert catalog.folder is not None
        self.saved[name][catalog.folder.name] = dict(products)

    def is_as_reported(self) -> None:
        """Open all that was reported as saved, and nothing else is there."""
        for name, saved in self.saved.items():
            assert [*saved] == prodex.list_snapshots(name)["time"].tolist()
            for time, expected in saved.items():
                assert expected == content(prodex.open_snapshot(f"{name}@{time}"))
                assert bool(prodex.verify(f"{name}@{time}")["ok"].all())
        for name, products in self.audits.items():
            assert products == len(prodex.open_audit(f"shop@{name}"))
        if self.exported is not None:
            assert self.exported == self._read_export()


TestStore = Store.TestCase
