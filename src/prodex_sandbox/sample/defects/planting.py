"""How defects come into products: what a defect is, who can have it, and on what share it is planted.

A planter is one function: it damages a record (or a family) in one way and returns where that can be seen.
Which planter is applied is drawn once for each area of a product, so the share of a planter is exact and a product
has at most one defect of each area.

Shares are those of an average supplier, kind and market. `frequencies.csv` says where a defect occurs how many
times as often; "*" means all defects that have no line of their own, and several lines are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Generic, TypeVar

from msgspec import Raw

from prodex_sandbox.own_tables import read_table
from prodex_sandbox.raw_json import encode, members
from prodex_sandbox.records.merging import attributes_of
from prodex_sandbox.sample.products.families import Family, Unit
from prodex_sandbox.sample.products.product import Draft


@dataclass(frozen=True, slots=True)
class Defect:
    """One planted defect: what is wrong, with which product, where.

    What depends on time is wrong at `AS_OF`; what depends on the viewer is wrong for the principal retailer.

    Attributes
    ----------
    defect
        Kind of defect, a key of `DEFECTS`.
    product_id
        The product's `id`, as text.
    gtin
        Its GTIN, as the record has it.
    attribute
        Wire path of the attribute.
    language
        Short language code, or "" where the defect has no language or concerns all.
    detail
        What exactly was done, for a reader.
    """

    defect: str
    product_id: str
    gtin: str
    attribute: str
    language: str
    detail: str


@dataclass(frozen=True, slots=True)
class Trace:
    """Where a planted defect shows; `defect` names another kind that this one always causes."""

    attribute: str
    detail: str = ""
    language: str = ""
    defect: str = ""


@dataclass(frozen=True, slots=True)
class Repair:
    """What puts a defect right: attribute -> its value as it is and as it should be, in JSON; None for no value.

    The members of `assets` count as attributes of their own: `assets.pictures`.
    """

    defect: str
    values: Mapping[str, tuple[bytes | None, bytes | None]]


RecordPlanter = Callable[[Draft], Iterable[Trace]]
FamilyPlanter = Callable[[Random, Family], tuple[Unit, Iterable[Trace]]]


@dataclass(frozen=True, slots=True)
class Planted:
    """A defect of a family: what kind, which unit is wrong, what can be seen of it."""

    defect: str
    unit: Unit
    traces: tuple[Trace, ...]


Subject = TypeVar("Subject", Draft, Family)
Planter = TypeVar("Planter", RecordPlanter, FamilyPlanter)


@dataclass(frozen=True, slots=True)
class _Declared(Generic[Subject, Planter]):
    defect: str
    share: float
    suits: Callable[[Subject], bool]
    plant: Planter


#: In the order in which areas are drawn, whatever the order in which modules are imported.
_RECORD_PLANTERS: dict[str, list[_Declared[Draft, RecordPlanter]]] = {
    area: [] for area in ("content", "classification", "pictures", "status")
}
_FAMILY_PLANTERS: list[_Declared[Family, FamilyPlanter]] = []
_MEANINGS: dict[str, str] = {}
_CONSEQUENCES: dict[str, frozenset[str]] = {}

#: What each kind of defect means.
DEFECTS: Mapping[str, str] = _MEANINGS
#: Kinds that an auditor may also see, with good reason, on a product with this one; they are not in the plan.
CONSEQUENCES: Mapping[str, frozenset[str]] = _CONSEQUENCES


def declare(defect: str, meaning: str, may_follow: Iterable[str] = ()) -> None:
    """Add a kind of defect to the list."""
    _MEANINGS[defect] = meaning
    _CONSEQUENCES[defect] = frozenset(may_follow)


def in_record(
    area: str, share: float, suits: Callable[[Draft], bool], *, may_follow: Iterable[str] = ()
) -> Callable[[RecordPlanter], RecordPlanter]:
    """Declare a function to be the planter of the defect that it is named after."""

    def register(plant: RecordPlanter) -> RecordPlanter:
        declare(plant.__name__, (plant.__doc__ or "").strip(), may_follow)
        _RECORD_PLANTERS[area].append(_Declared(plant.__name__, share, suits, plant))
        return plant

    return register


def in_family(share: float, suits: Callable[[Family], bool]) -> Callable[[FamilyPlanter], FamilyPlanter]:
    """Declare a planter that works on a whole family before its records are made.

    The function returns the unit that is wrong; every record that shows this unit has the defect.
    """

    def register(plant: FamilyPlanter) -> FamilyPlanter:
        declare(plant.__name__, (plant.__doc__ or "").strip())
        _FAMILY_PLANTERS.append(_Declared(plant.__name__, share, suits, plant))
        return plant

    return register


def any_product(_: Draft) -> bool:
    """Suit every product."""
    return True


def is_consumer_unit(made: Draft) -> bool:
    """Suit what consumers buy."""
    return made.unit.is_consumer_unit


def record_defects(made: Draft, traces: Iterable[Trace], defect: str) -> list[Defect]:
    """Return what was planted in a record as lines of the plan."""
    product = str(made.record["id"]), made.record["gtin"]
    return [
        Defect(trace.defect or defect, *product, trace.attribute, trace.language, trace.detail)
        for trace in traces
    ]


def plant_in_record(made: Draft) -> tuple[list[Defect], list[Repair]]:
    """Draw once for each area and plant what is drawn; return the defects, and the repair of each planter."""
    defects: list[Defect] = []
    repairs: list[Repair] = []
    for planters in _RECORD_PLANTERS.values():
        if planter := _drawn(made.rng, planters, made, made.family):
            found, repair = _planted(made, planter)
            defects += found
            repairs.append(repair)
    return defects, repairs


def plant_one(
    made: Draft, areas: Collection[str], times: float, without: Collection[str] = ()
) -> Repair | None:
    """Plant one defect of these areas or none, with the chance that it has in the sample, multiplied.

    Parameters
    ----------
    times
        What the chances are multiplied by; together they are 1 at most.
    without
        Defects that are not planted.
    """
    planters = [
        planter
        for area in areas
        for planter in _RECORD_PLANTERS[area]
        if planter.defect not in without and planter.suits(made)
    ]
    shares = [planter.share * frequency(made.family, planter.defect) for planter in planters]
    if made.rng.random() >= sum(shares) * times:
        return None
    (planter,) = made.rng.choices(planters, shares)
    return _planted(made, planter)[1]


def _planted(made: Draft, planter: _Declared[Draft, RecordPlanter]) -> tuple[list[Defect], Repair]:
    before = attributes_of(members(encode(made.record)))
    defects = record_defects(made, planter.plant(made), planter.defect)
    after = attributes_of(members(encode(made.record)))
    values = {
        name: (_bytes(after.get(name)), _bytes(before.get(name)))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    }
    return defects, Repair(planter.defect, values)


def _bytes(raw: Raw | None) -> bytes | None:
    return None if raw is None else bytes(raw)


def plant_in_family(rng: Random, family: Family) -> Planted | None:
    """Draw once for the family and plant what is drawn, before its records are made."""
    if planter := _drawn(rng, _FAMILY_PLANTERS, family, family):
        unit, traces = planter.plant(rng, family)
        return Planted(planter.defect, unit, tuple(traces))
    return None


def _drawn(
    rng: Random, planters: Iterable[_Declared[Subject, Planter]], subject: Subject, family: Family
) -> _Declared[Subject, Planter] | None:
    """Draw once for all planters: their shares add up, and one of them is applied at most."""
    drawn = rng.random()
    for planter in planters:
        if planter.suits(subject):
            share = planter.share * frequency(family, planter.defect)
            if drawn < share:
                return planter
            # The next planter has the next part of the interval from 0 to 1.
            drawn -= share
    return None


def frequency(family: Family, defect: str) -> float:
    """Return how many times as often as the average a family has a defect."""
    return (
        _frequency("supplier", family.supplier.name, defect)
        * _frequency("kind", family.kind.code, defect)
        * _frequency("market", str(family.market), defect)
    )


def forgotten_language(rng: Random, languages: Sequence[str]) -> str:
    """Draw the language that is missing: some are forgotten more often than others."""
    weights = [_frequency("language", language, "missing_language") for language in languages]
    return rng.choices(languages, weights)[0]


def carelessness(supplier: str) -> float:
    """Return how many times as often as the average a supplier plants defects that have no line of their own.

    >>> carelessness("Laiterie des Trois Combes"), carelessness("Fernley Naturals Inc")
    (0.2, 1.0)
    """
    return _frequency("supplier", supplier, "*")


@cache
def _frequency(of: str, name: str, defect: str) -> float:
    frequencies = _frequencies()
    return frequencies.get((of, name, defect), frequencies.get((of, name, "*"), 1.0))


@cache
def _frequencies() -> Mapping[tuple[str, str, str], float]:
    rows = read_table(__package__, "frequencies")
    return {(row["of"], row["name"], row["defect"]): float(row["times"]) for row in rows}
