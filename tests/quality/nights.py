"""A catalogue that lives for many nights, with incidents that happen to it, as the figures that a watch gets.

Products are rows of arrays: supplier, kind, languages, whether they have pictures, which attributes they have filled.
Each night some are added, removed and updated, few of them on Sundays. It knows nothing of how figures are judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from prodex.quality.figures import Figure, Figures

SUPPLIERS, KINDS, LANGUAGES, ATTRIBUTES = 10, 12, ("fr", "de", "nl"), 40
START = datetime(2025, 1, 1, 4, tzinfo=UTC)

#: Of the products of a night: updated on a working day, and on a Sunday or Monday morning's Sunday.
_BUSY, _QUIET = 0.04, 0.004


#: When a night's job runs, by the clock on the wall.
Clock = Callable[[int], datetime]


def _in_utc(number: int) -> datetime:
    return START + timedelta(days=number)


def every_day_at(
    hour: int, minute: int, zone: str, first: datetime, late: Callable[[int], float] | None = None
) -> Clock:
    """Return the clock of a job that runs once a day; `late` are the minutes by which a night is late.

    An hour that is left out in spring begins later, as cron does it.
    """

    def clock(number: int) -> datetime:
        wall = first.replace(hour=hour, minute=minute, tzinfo=ZoneInfo(zone)) + timedelta(days=number)
        moment = wall.astimezone(UTC) + timedelta(minutes=0 if late is None else late(number))
        return moment.astimezone(ZoneInfo(zone))

    return clock


@dataclass
class Life:
    """A catalogue; one row of each array for each product."""

    chance: np.random.Generator
    supplier: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int64]
    languages: npt.NDArray[np.bool_]
    pictures: npt.NDArray[np.bool_]
    filled: npt.NDArray[np.bool_]
    passed: npt.NDArray[np.float64]
    updated: npt.NDArray[np.float64]
    is_updated: bool = True
    clock: Clock = _in_utc
    quiet: float = _QUIET

    @classmethod
    def of(cls, seed: int, products: int = 800) -> Life:
        """Begin with a catalogue whose suppliers are of very different size."""
        chance = np.random.default_rng(seed)
        weights = 1.0 / np.arange(1, SUPPLIERS + 1)
        life = cls(
            chance,
            chance.choice(SUPPLIERS, products, p=weights / weights.sum()),
            chance.integers(KINDS, size=products),
            *(np.zeros((products, 1), bool) for _ in range(3)),
            np.zeros(products),
            -chance.exponential(40, products),
        )
        life.languages = chance.random((products, 3)) < (0.97, 0.6, 0.4)
        life.pictures = chance.random(products) < 0.95
        life.shares = chance.random(ATTRIBUTES)
        life.filled = chance.random((products, ATTRIBUTES)) < life.shares
        life.passed = chance.beta(9, 1, products)
        return life

    shares: npt.NDArray[np.float64] = None  # type: ignore[assignment] # given when it begins

    def take(self, rows: npt.NDArray[np.generic]) -> None:
        """Keep only some products, or some of them twice."""
        for name in ("supplier", "kind", "languages", "pictures", "filled", "passed", "updated"):
            setattr(self, name, getattr(self, name)[rows])

    def night(self, number: int) -> None:
        """Let a day pass: products come and go, and some are updated in some respect."""
        size = len(self.supplier)
        # By the night, and not by its moment: a job that is late has not moved what people did.
        busy = self.quiet if (self.clock(0).date() + timedelta(days=number)).weekday() in {6, 0} else _BUSY
        busy *= self.chance.gamma(20, 1 / 20)
        if not self.is_updated or not size:
            return
        gone = self.chance.random(size) < busy * 0.05
        twins = np.flatnonzero(self.chance.random(size) < busy * 0.05)
        self.take(np.concatenate([np.flatnonzero(~gone), twins]))
        size = len(self.supplier)
        new = np.arange(size) >= size - len(twins)
        changed = np.flatnonzero((self.chance.random(size) < busy) | new)
        self.touch(changed, number)
        for columns, shares in ((self.filled, self.shares), (self.languages, np.array([0.97, 0.6, 0.4]))):
            redrawn = self.chance.random((len(changed), columns.shape[1])) < 0.2
            drawn = self.chance.random(redrawn.shape) < shares
            columns[changed] = np.where(redrawn, drawn, columns[changed])
        some = changed[self.chance.random(len(changed)) < 0.2]
        self.pictures[some] = self.chance.random(len(some)) < 0.95
        self.passed[some] = self.chance.beta(9, 1, len(some))

    def touch(self, rows: npt.NDArray[np.generic], number: int) -> None:
        """Note that products were updated in the day before a night."""
        self.updated[rows] = number - self.chance.random(len(self.updated[rows]))

    def figures(self, number: int) -> Figures:
        """Return the figures of a night."""
        size = len(self.supplier)
        recent = self.updated > number - 1
        moment = self.clock(number).astimezone(UTC)
        sizes = np.bincount(self.supplier, minlength=SUPPLIERS + 1)
        suppliers = [one for one in range(len(sizes)) if sizes[one]]

        def shares(columns: npt.NDArray[np.bool_], names: list[str]) -> dict[str, float]:
            return {name: float(columns[:, at].mean()) for at, name in enumerate(names) if size}

        def by_supplier(of: npt.NDArray[np.generic]) -> dict[str, float]:
            return {str(one): float(of[self.supplier == one].mean()) for one in suppliers if sizes[one] >= 5}

        values: Mapping[str, Mapping[str, float]] = {
            "products": {"": size},
            "updated": {"": int(recent.sum())},
            "score": {"": float(self.passed.mean()) if size else 0.0},
            "language": {name: one for name, one in shares(self.languages, list(LANGUAGES)).items() if one},
            "supplier": {str(one): int(sizes[one]) for one in suppliers},
            "pictures": by_supplier(self.pictures),
            "supplier score": by_supplier(self.passed),
            "supplier updated": {str(one): int(recent[self.supplier == one].sum()) for one in suppliers},
            "kind": {str(one): int((self.kind == one).sum()) for one in set(self.kind.tolist())},
            "filled": shares(self.filled, [f"attribute{at}" for at in range(ATTRIBUTES)]),
        }
        of_supplier = {"pictures", "supplier score"}
        rows = [Figure(measure, "", None, size, size) for measure in values]
        rows += [
            Figure(measure, "", group, value, int(sizes[int(group)]) if measure in of_supplier else size)
            for measure, groups in values.items()
            for group, value in groups.items()
        ]
        return Figures(moment, moment, moment.isoformat(), "asked", "measured", True, rows)


#: What happens to a catalogue at a night.
Incident = Callable[[Life, int], None]


def _of(supplier: int, do: Callable[[Life, npt.NDArray[np.bool_]], None]) -> Incident:
    return lambda life, _: do(life, life.supplier == supplier)


def _loses(name: str, share: float = 1.0) -> Callable[[Life, npt.NDArray[np.bool_]], None]:
    def lose(life: Life, rows: npt.NDArray[np.bool_]) -> None:
        hit = rows & (life.chance.random(len(rows)) < share)
        getattr(life, name)[hit] = False

    return lose


def _updates_stop(life: Life, _: int) -> None:
    life.is_updated = False


def _arrives(life: Life, number: int) -> None:
    rows = np.arange(len(life.supplier))
    twins = life.chance.choice(rows, 150)
    life.take(np.concatenate([rows, twins]))
    life.supplier[len(rows) :] = SUPPLIERS
    life.touch(np.arange(len(rows), len(life.supplier)), number)


def _half(life: Life, _: int) -> None:
    life.take(np.flatnonzero(life.chance.random(len(life.supplier)) < 0.5))


def _without(rows: Callable[[Life], npt.NDArray[np.bool_]]) -> Incident:
    return lambda life, _: life.take(np.flatnonzero(~rows(life)))


def _set(name: str, column: int, value: bool) -> Incident:
    def change(life: Life, _: int) -> None:
        getattr(life, name)[:, column] = value

    return change


def _fewer_texts(life: Life, _: int) -> None:
    life.languages[life.chance.random(len(life.languages)) < 0.5, 0] = False


def _recoded(life: Life, _: int) -> None:
    life.kind[life.kind == 3] = 4


def _falls(life: Life, rows: npt.NDArray[np.bool_]) -> None:
    life.passed[rows] *= 0.5


def _middle(life: Life) -> int:
    """Return the attribute whose share is nearest to a half."""
    return int(np.abs(life.shares - 0.5).argmin())


#: Twenty incidents: what happens, by a name that says it.
INCIDENTS: Mapping[str, Incident] = {
    "volume halves": _half,
    "no product is left": _without(lambda life: np.ones(len(life.supplier), bool)),
    "every product comes twice": lambda life, _: life.take(np.tile(np.arange(len(life.supplier)), 2)),
    "updates stop": _updates_stop,
    "everything is overwritten": lambda life, number: life.touch(np.arange(len(life.supplier)), number),
    "a supplier overwrites all of its products": lambda life, number: life.touch(
        np.flatnonzero(life.supplier == 1), number
    ),
    "the largest supplier loses its pictures": _of(0, _loses("pictures")),
    "a middle supplier loses its pictures": _of(4, _loses("pictures")),
    "the smallest supplier loses its pictures": _of(SUPPLIERS - 1, _loses("pictures")),
    "a supplier loses half of its pictures": _of(2, _loses("pictures", 0.5)),
    "a language disappears": _set("languages", 1, False),
    "half of the texts in a language disappear": _fewer_texts,
    "a supplier disappears": _without(lambda life: life.supplier == 3),
    "the smallest supplier disappears": _without(lambda life: life.supplier == SUPPLIERS - 1),
    "a supplier with 150 products arrives": _arrives,
    "a kind disappears": _without(lambda life: life.kind == 3),
    "a kind is coded as another": _recoded,
    "an attribute is emptied": lambda life, number: _set("filled", _middle(life), False)(life, number),
    "an attribute is filled everywhere": lambda life, number: _set("filled", _middle(life), True)(
        life, number
    ),
    "the score of a supplier falls": _of(1, _falls),
}


def nights(
    count: int,
    seed: int,
    incidents: Mapping[int, Incident] | None = None,
    products: int = 800,
    clock: Clock = _in_utc,
    quiet: float = _QUIET,
) -> Iterator[Figures]:
    """Yield the figures of each night, with incidents at some of them."""
    life = Life.of(seed, products)
    life.clock, life.quiet = clock, quiet
    for number in range(count):
        life.night(number)
        if incidents is not None and number in incidents:
            incidents[number](life, number)
        yield life.figures(number)


def incomplete(figures: Figures) -> Figures:
    """Return the figures of a catalogue that was not loaded as a whole."""
    return replace(figures, complete=False)
