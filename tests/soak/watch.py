"""What a watch sees of simulated years of the sandbox: planted incidents, and nights on which nothing happens.

`python -m tests.soak watch`. Each night the sandbox lives for a day, a snapshot is refreshed over HTTP and audited, and
the figures of the audit are watched. Incidents are planted after weeks without any, each in a copy of that exchange.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import prodex
from prodex.quality.figures import Figures, figures_of
from prodex.quality.watch import watched
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.sample import shared_products

_A_DAY = 86_400.0

#: Twenty incidents, as `Sandbox.simulate` takes them, each with the number of quiet nights that it comes later.
PLANTED = (
    ("supplier_loses_pictures:Feinkost Lürbach KG", 0),
    ("supplier_loses_pictures:Molinos Aldariz SA", 1),
    ("supplier_loses_pictures:Maree Cabestrel SA", 2),
    ("language_disappears:Conservas Peñalisa", 0),
    ("language_disappears:Textiles Orobela SA", 1),
    ("language_disappears:all", 2),
    ("bulk_overwrite:Maree Cabestrel SA", 0),
    ("bulk_overwrite:Biscuiterie Tramoy", 1),
    ("bulk_overwrite:all", 2),
    ("attribute_emptied:Maree Cabestrel SA", 0),
    ("attribute_emptied:Laboratoires Anelys", 1),
    ("attribute_emptied:all", 2),
    ("kinds_reassigned:Hogar Limpiaferra SL", 0),
    ("kinds_reassigned:Textiles Orobela SA", 1),
    ("duplicates_flood:Molinos Aldariz SA", 0),
    ("duplicates_flood:Maree Cabestrel SA", 1),
    ("volume_halves:all", 0),
    ("volume_halves:Molinos Aldariz SA", 1),
    ("updates_stop:all", 0),
    ("updates_stop:all", 3),
)

#: Nights until an incident has to be seen. That updates have stopped cannot be known on the first quiet day.
_AT_ONCE, _OF_SILENCE = 1, 6


@dataclass
class Exchange:
    """A sandbox that lives, and the figures of each of its nights."""

    sandbox: Sandbox
    behaviour: Behaviour
    client: prodex.service.Client
    days: int
    figures: list[Figures]

    def night(self, seed: int, *incidents: str) -> None:
        """Let a day pass, refresh, audit, and keep the figures."""
        self.days += 1
        # The clock of the service, which is no setting that changes otherwise.
        object.__setattr__(self.behaviour, "clock_skew", _A_DAY * self.days)
        self.sandbox.simulate(1, seed, incidents)
        if prodex.list_snapshots("life").empty:
            catalog = prodex.load_products(self.client, name="life", max_age=0, progress=False)
        else:
            catalog = prodex.refresh("life", self.client, progress=False)
            prodex.vacuum("life", keep=1)
        found = figures_of(prodex.audit(catalog, "core", progress=False))
        # A copy answers at another address, and its snapshots are numbered anew.
        self.figures.append(replace(found, question="", snapshot_sequence=None))

    @property
    def watch(self) -> prodex.quality.Watch:
        """What is unusual at the last night."""
        return watched("life", self.figures[-90:], None)


@contextmanager
def exchange(store: Path, home: Path, products: int, begun: Exchange | None = None) -> Iterator[Exchange]:
    """Open an exchange in a folder; it goes on where another one was, if its store was copied there."""
    behaviour = Behaviour(clock_skew=1.0)
    with (
        pytest.MonkeyPatch.context() as patch,
        Sandbox(shared_products(products), home=store, behaviour=behaviour) as sandbox,
    ):
        patch.setenv("PRODEX_HOME", str(home))
        key = sandbox.credentials[0]
        client = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        days, figures = (0, []) if begun is None else (begun.days, list(begun.figures))
        yield Exchange(sandbox, behaviour, client, days, figures)


def incidents(products: int = 600, quiet: int = 45, planted: tuple[tuple[str, int], ...] = PLANTED) -> bool:
    """Print each planted incident, when it was seen, and by which sentence; say whether all were."""
    _be_quiet()
    seen = 0
    with tempfile.TemporaryDirectory(prefix="prodex-watch-") as name:
        folder = Path(name)
        with exchange(folder / "store", folder / "home", products) as usual:
            for _ in range(quiet):
                usual.night(1)
        for number, (incident, later) in enumerate(planted):
            copy = folder / f"copy-{number}"
            shutil.copytree(folder / "store", copy)
            with exchange(copy, folder / f"home-{number}", products, usual) as life:
                for _ in range(later):
                    life.night(1)
                nights = _OF_SILENCE if incident.startswith("updates_stop") else _AT_ONCE
                after = next((n for n in range(1, nights + 1) if _is_seen(life, incident)), None)
                seen += after is not None
                when = "NOT SEEN" if after is None else f"night {after}"
                print(f"  {incident:<45}{when:<9}{len(life.watch.new):>3} new  {life.watch.sentences[0]}")
            shutil.rmtree(copy)
    print(f"  {seen} of {len(planted)} planted incidents were seen")
    return seen == len(planted)


def _is_seen(life: Exchange, incident: str) -> bool:
    life.night(1, incident)
    return life.watch.is_unusual


def quiet_nights(products: int = 600, nights: int = 365, seeds: tuple[int, ...] = (1, 2)) -> bool:
    """Print what was unusual on nights on which nothing was planted; say whether that is at most one in a hundred."""
    _be_quiet()
    alarms = judged = 0
    with tempfile.TemporaryDirectory(prefix="prodex-watch-") as name:
        for seed in seeds:
            folder = Path(name, str(seed))
            with exchange(folder / "store", folder / "home", products) as life:
                for night in range(nights):
                    life.night(seed)
                    watch = life.watch
                    judged += watch.enough
                    alarms += watch.is_unusual
                    if watch.is_unusual:
                        print(f"  seed {seed}, night {night + 1}: {watch.sentences[0]}")
    print(f"  {alarms} false alarms in {judged:,} quiet nights")
    return alarms * 100 <= judged


def _be_quiet() -> None:
    # The clock of the service is moved on purpose, and every load says that it is not ours.
    logging.getLogger("prodex").setLevel(logging.ERROR)
