"""Loads and refreshes of a service that nobody here made: a case, and what became of it."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import prodex
from prodex.errors import IncompleteLoad, ProdexError
from prodex.service import Client
from tests.load.exchange import WAYS, quick
from tests.stranger import TRAITS, Stranger
from tests.stranger.catalogue import gtin_of, iso, products

#: Products of a case: several pages of each kind.
TOTAL, PAGE = 130, 40

#: Seconds after which a case counts as hung: attempts inside a load end after three.
LONGEST = 40

#: What becomes of the products meanwhile.
STORIES = ("nothing", "changes", "refresh")

#: Traits that change which products there are, or what they are called, so that there is no one truth to hold against.
_NO_TRUTH = {
    "products_come_and_go": "who is there is decided while it is asked",
    "ids_change": "nothing tells one product from another",
    "product_twice_differing": "which of the two is the product is not known",
    "product_with_id_beyond_64_bits": "one product has another name",
    "product_is_empty": "one product has no name",
    "gtins_equal": "all have one GTIN",
}

#: Traits of endpoints that no load asks.
_OTHER_ENDPOINTS = ("upsert_", "tracking_", "segments_", "organizations_", "scenarios_")


class Case(NamedTuple):
    """One case: the traits of the service, the way of paging, and what becomes of the products meanwhile."""

    traits: Mapping[str, Any]
    way: str
    story: str

    def __str__(self) -> str:
        return f"{' + '.join(self.traits)}, by {self.way}, {self.story}"


class Judged(NamedTuple):
    """What became of a case.

    Attributes
    ----------
    outcome
        "whole", "refused" (one of our errors), or what is wrong: "lost", "stale", "invented", "hung", "broke".
    detail
        The message of the error, or which products.
    notes
        What was said of the service.
    calls
        Product reads.
    """

    outcome: str
    detail: str = ""
    notes: tuple[str, ...] = ()
    calls: int = 0

    @property
    def is_good(self) -> bool:
        return self.outcome in {"whole", "refused"}


def reading_traits() -> list[str]:
    """Return the traits that a load can meet, sorted."""
    return sorted(name for name in TRAITS if not name.startswith(_OTHER_ENDPOINTS) and name not in _NO_TRUTH)


def cases(pairs: int, seed: int = 1) -> Iterator[Case]:
    """Yield each trait alone, in turn by another way and story, then pairs of traits, drawn by a seed."""
    chance = random.Random(seed)
    turns = itertools.cycle(itertools.product(sorted(WAYS), STORIES))
    names = reading_traits()
    for name in names:
        yield Case({name: True}, *next(turns))
    made = 0
    while made < pairs:
        one, other = chance.sample(names, 2)
        try:
            Stranger(0, {one: True, other: True}).close()
        except ValueError:  # of one family
            continue
        made += 1
        yield Case({one: True, other: True}, chance.choice(sorted(WAYS)), chance.choice(STORIES))


def judged(case: Case, name: str = "strange", total: int = TOTAL) -> Judged:
    """Load, and hold what came against what the service had."""
    begin = time.monotonic()
    with Stranger(products(total), dict(case.traits)) as stranger:
        client = connected(stranger)
        history = History(stranger)
        try:
            if case.story != "nothing":
                stranger.at_call(4, lambda _: history.happen())
            result = _loaded(client, case, name)
            if case.story == "refresh":
                history.happen()
                stranger.at_call(stranger.count() + 3, lambda _: history.happen())
                prodex.refresh(name, client)
                result = prodex.refresh(name, client)
            outcome, detail = history.compare(result, is_last=case.story != "changes")
            notes = result.origin.ledger.notes
        except ProdexError as error:
            outcome, detail, notes = "refused", f"{type(error).__name__}: {error}", ()
            if isinstance(error, IncompleteLoad) and case.story == "nothing":
                outcome, detail = _kept(client, case, name, history, detail)
        except Exception as error:  # noqa: BLE001 - what is none of ours is what is looked for
            outcome, detail, notes = "broke", f"{type(error).__name__}: {error}", ()
        calls = stranger.count()
    took = time.monotonic() - begin
    return Judged("hung" if took > LONGEST else outcome, f"{took:.0f} s {detail}", tuple(notes), calls)


def connected(stranger: Stranger, seconds: float = 3) -> Client:
    """Reach a stranger, and try again for a short time only."""
    return prodex.connect(
        base_url=stranger.url,
        client_id=stranger.client_id,
        client_secret=stranger.client_secret,
        limits=prodex.limits.Limits(seconds=5),
        **quick(seconds=seconds),
    )


def _loaded(client: Client, case: Case, name: str, **options: Any) -> prodex.Catalog:
    windows = 0 if case.way == "scroll" else 2
    return prodex.load_products(
        client, name=name, max_age=0, page_size=PAGE, windows=windows, progress=False, **options
    )


def _kept(client: Client, case: Case, name: str, history: History, message: str) -> tuple[str, str]:
    """Say whether what came is kept where that is allowed, and shown as not all."""
    catalog = _loaded(client, case, name, allow_incomplete=True)
    outcome, detail = history.compare(catalog, is_last=True)
    if catalog.complete:
        return outcome, detail
    return ("refused", message) if outcome in {"whole", "lost", "stale"} else (outcome, detail)


class History:
    """What a service had, and has."""

    def __init__(self, stranger: Stranger) -> None:
        self._stranger = stranger
        self._happened = 0
        self.ever = self._now()
        self.throughout = dict(self.ever)

    def happen(self) -> None:
        """One product is changed, two leave, two arrive; one of them was last updated long ago."""
        stranger = self._stranger
        turn = self._happened = self._happened + 1
        ids = stranger.ids()
        changed = stranger.products[ids[turn * 7]]
        moment = iso(stranger.now())
        stranger.put({**changed, "lifeCycle": 100 + turn, "updatedAt": moment})
        for index in (turn * 11, turn * 13):
            stranger.remove(ids[index])
        for number, updated in enumerate((moment, "2025-03-01T08:00:00")):
            key = 900_000 + 10 * turn + number
            gtin = gtin_of(400_000_000_000 + key)
            stranger.put({**changed, "id": key, "uuid": f"u{key}", "gtin": gtin, "updatedAt": updated})
        now = self._now()
        self.ever |= now
        self.throughout = {key: now[key] for key in self.throughout if key in now}

    def compare(self, catalog: prodex.Catalog, *, is_last: bool) -> tuple[str, str]:
        """Say what is wrong with a catalogue that claims to be whole."""
        frame = catalog.products
        held_ids = set(frame["product_id"].dropna())
        held_gtins = {str(gtin).strip().zfill(14) for gtin in frame["gtin"].dropna()}
        truth = self._now()
        wanted = truth if is_last else self.throughout
        known_gtins = set(self.ever.values())
        if is_last and catalog.complete:
            known, known_gtins = truth.keys(), set(truth.values())
        else:
            known = self.ever.keys()
        pairs = zip(frame["product_id"], frame["gtin"].fillna(""), strict=True)
        strange = [
            key for key, gtin in pairs if key not in known and str(gtin).strip().zfill(14) not in known_gtins
        ]
        odd = _odd_products(self._stranger)
        lost = [key for key, gtin in wanted.items() if key not in held_ids and gtin not in held_gtins]
        # A product that a trait gives without its key is there under another one.
        if len(lost) > min(odd, len(strange)) and catalog.complete:
            return "lost", f"{len(lost)} of {len(wanted)}: {lost[:3]}"
        if len(strange) > odd + _unconfirmed(catalog):
            return "invented", f"{len(strange)}: {strange[:3]}"
        if is_last and catalog.complete and self._happened and "life_cycle" in frame:
            # A value under another name, or of another type, is not in this column.
            found = frame[["product_id", "life_cycle"]].dropna()
            cycles = dict(zip(found["product_id"], found["life_cycle"], strict=True))
            stale = [
                key
                for key, record in self._stranger.products.items()
                if record["lifeCycle"] >= 100
                and cycles.get(str(key), record["lifeCycle"]) != record["lifeCycle"]
            ]
            if stale:
                return "stale", f"{len(stale)}: {stale[:3]}"
        return ("whole" if catalog.complete else "refused"), ""

    def _now(self) -> dict[str, str]:
        return {str(key): str(one["gtin"]) for key, one in self._stranger.products.items()}


def _unconfirmed(catalog: prodex.Catalog) -> int:
    """Return how many products a catalogue says it keeps without knowing whether they have gone."""
    told = (re.match(r"([0-9,]+) products are kept", note) for note in catalog.origin.ledger.notes)
    return sum(int(match[1].replace(",", "")) for match in told if match)


def _odd_products(stranger: Stranger) -> int:
    """Return how many products a trait gives under another name."""
    return sum(one.trait.name.startswith("product_") for one in stranger.switches.active)
