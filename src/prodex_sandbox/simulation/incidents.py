"""Incidents: what goes wrong with many products at once, by name, on a day of a simulation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from random import Random
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.indexing import values_at
from prodex_sandbox.records.model import SharedProduct
from prodex_sandbox.sample.products.families import random_uuid
from prodex_sandbox.simulation.day import Day
from prodex_sandbox.simulation.state import ActiveSupplier, SimulationState

#: The owner of an incident that concerns every supplier.
EVERYBODY: Final = "all"
#: How many GTINs a sentence about an incident names.
_GTINS_SHOWN: Final = 3
#: Tries to find a product of another kind.
_TRIES: Final = 50
#: Attributes that `attribute_emptied` chooses from, and those that `bulk_overwrite` writes to.
_EMPTIED: Final = ("description", "netContent", "namePublicLong", "composition", "grossWeight")
_OVERWRITTEN: Final = ("description", "namePublicLong", "nameLegal")

#: A product with its owner.
Affected = tuple[ActiveSupplier, int]


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident of a simulation.

    Attributes
    ----------
    name
        A key of `INCIDENTS`.
    day
        On which day of the simulation, counted from 1; the middle one unless given.
    owner
        Name of the supplier whose products it concerns, or "all"; as `INCIDENTS` says unless given.

    Examples
    --------
    >>> Incident.from_text("volume_halves@3:all")
    Incident(name='volume_halves', day=3, owner='all')
    """

    name: str
    day: int | None = None
    owner: str = ""

    def __post_init__(self) -> None:
        if self.name not in INCIDENTS:
            near = get_close_matches(self.name, INCIDENTS, 1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ValueError(f"{self.name!r} is not an incident.{meant} There are: {', '.join(INCIDENTS)}.")
        if self.day is not None and self.day < 1:
            raise ValueError(f"day is {self.day}; days of a simulation are counted from 1.")

    @classmethod
    def from_text(cls, text: str) -> Incident:
        """Read NAME[@DAY][:OWNER], as it is written on the command line."""
        found = re.fullmatch(r"([^@:]*)(?:@([0-9]+))?(?::(.+))?", text.strip())
        if found is None:
            raise ValueError(f"{text!r} is not written as NAME[@DAY][:OWNER], such as volume_halves@3:all.")
        name, day, owner = found.groups()
        return cls(name.strip(), int(day) if day else None, (owner or "").strip())


@dataclass(frozen=True, slots=True)
class IncidentKind:
    """A kind of incident.

    Attributes
    ----------
    meaning
        What happens, in words.
    apply
        Changes products; returns what happened, as a sentence without the supplier.
    concerns_all
        Whether it concerns every supplier unless one is named.
    """

    meaning: str
    apply: Callable[[Day, Sequence[Affected], Random], str]
    concerns_all: bool = False


def apply_incident(incident: Incident, day: Day, rng: Random, state: SimulationState) -> None:
    """Let an incident happen at the end of a day, and note which products it concerned."""
    owners = suppliers_concerned(incident, rng, state)
    affected = [(owner, key) for owner in owners for key in owner.products]
    day.incident = incident.name
    begin = len(day.notes)
    what = INCIDENTS[incident.name].apply(day, affected, rng)
    # By key: products of several suppliers may have one GTIN.
    changed = {note.product_key: note.gtin for note in day.notes[begin:]}
    day.note_incident(_names_of(owners), f"{_names_of(owners)}: {what} {_products(list(changed.values()))}")
    day.incident = ""


def suppliers_concerned(incident: Incident, rng: Random, state: SimulationState) -> list[ActiveSupplier]:
    """Return the suppliers that an incident concerns.

    Raises
    ------
    ValueError
        When nobody with products has that name.
    """
    wanted = incident.owner.casefold()
    if wanted == EVERYBODY or (not wanted and INCIDENTS[incident.name].concerns_all):
        return state.owners
    if not wanted:
        # One of the larger ones, so that the incident can be seen.
        larger = sorted(state.owners, key=lambda owner: (-len(owner.products), owner.id))
        return [rng.choice(larger[: max(1, len(larger) // 4)])] if larger else []
    named = {owner.name.casefold(): owner for owner in state.owners}
    if wanted not in named:
        near = get_close_matches(wanted, named, 1)
        meant = f" Did you mean {named[near[0]].name!r}?" if near else ""
        raise ValueError(f"No supplier with products is named {incident.owner!r}.{meant}")
    return [named[wanted]]


def _names_of(owners: Sequence[ActiveSupplier]) -> str:
    if not owners:
        return "Nobody"
    return owners[0].name if len(owners) == 1 else "All suppliers"


def _products(gtins: Sequence[str]) -> str:
    if not gtins:
        return "No product was changed."
    named = ", ".join(gtins[:_GTINS_SHOWN])
    more = f" and {len(gtins) - _GTINS_SHOWN:,} more" if len(gtins) > _GTINS_SHOWN else ""
    return f"{len(gtins):,} product{'s' if len(gtins) > 1 else ''}: {named}{more}."


def _lose_pictures(day: Day, affected: Sequence[Affected], _rng: Random) -> str:
    for owner, key in affected:
        if list(values_at(decode(day.body(key)), "assets.pictures.url")):
            _write(day, owner, key, {"assets.pictures": []})
    return "all pictures were removed."


def _lose_language(day: Day, affected: Sequence[Affected], _rng: Random) -> str:
    spoken = Counter(
        language
        for _, key in affected
        for language in values_at(decode(day.body(key)), "namePublicLong.expressedIn.normalizedCode")
        if isinstance(language, str)
    )
    if not spoken:
        return "no text has a language that could disappear."
    language, _ = spoken.most_common(1)[0]
    for owner, key in affected:
        record = decode(day.body(key))
        kept = {name: _without_language(value, language) for name, value in record.items()}
        if changed := {name: value for name, value in kept.items() if value != record[name]}:
            _write(day, owner, key, changed)
    return f"every text in {language!r} was removed."


def _without_language(value: Any, language: str) -> Any:
    """Return a value without the localized items of a language, at any depth."""
    if isinstance(value, list):
        return [_without_language(item, language) for item in value if not _is_in(item, language)]
    if isinstance(value, dict):
        return {name: _without_language(item, language) for name, item in value.items()}
    return value


def _is_in(item: Any, language: str) -> bool:
    described = item.get("expressedIn") if isinstance(item, dict) and "data" in item else None
    return isinstance(described, dict) and described.get("normalizedCode") == language


def _shrink(day: Day, affected: Sequence[Affected], _rng: Random) -> str:
    for owner, key in affected:
        contents = decode(day.body(key)).get("netContent")
        smaller = [_reduced(item) for item in contents] if isinstance(contents, list) else contents
        if smaller != contents:
            _write(day, owner, key, {"netContent": smaller})
    return "the net content became a tenth less, under the same GTIN."


def _reduced(content: Any) -> Any:
    data = content.get("data") if isinstance(content, dict) else None
    if isinstance(data, bool) or not isinstance(data, int | float):
        return content
    # Whole numbers stay whole, so that a few pieces may stay as many.
    return {**content, "data": round(data * 0.9) if isinstance(data, int) else round(data * 0.9, 3)}


def _halve(day: Day, affected: Sequence[Affected], _rng: Random) -> str:
    for owner, key in affected[::2]:
        day.withdraw(key, owner.name, "withdrawn", "no longer shared")
        owner.leave_out(key)
    return "every second product was taken back."


def _stop(_day: Day, _affected: Sequence[Affected], _rng: Random) -> str:
    return "nothing is updated from this day on."


def _overwrite(day: Day, affected: Sequence[Affected], _rng: Random) -> str:
    for attribute in _OVERWRITTEN:
        records = (decode(day.body(key)) for _, key in affected)
        text = next((value for record in records if (value := record.get(attribute))), None)
        if text is not None:
            for owner, key in affected:
                if decode(day.body(key)).get(attribute) != text:
                    _write(day, owner, key, {attribute: text})
            return f"{attribute} of one product was written over that of all others."
    return "no product has a text to write over the others."


def _empty(day: Day, affected: Sequence[Affected], rng: Random) -> str:
    filled = Counter(
        name
        for _, key in affected
        for name, value in decode(day.body(key)).items()
        if value and name in _EMPTIED
    )
    often = [name for name in _EMPTIED if filled[name] * 2 >= len(affected) and filled[name]]
    if not often:
        return "no attribute is filled often enough to lose its values."
    attribute = rng.choice(often)
    for owner, key in affected:
        if decode(day.body(key)).get(attribute):
            _write(day, owner, key, {attribute: []})
    return f"{attribute} lost its values."


def _reassign_kinds(day: Day, affected: Sequence[Affected], rng: Random) -> str:
    others = day.connection.execute(
        "SELECT products.key FROM products JOIN records USING (key)"
        " WHERE products.owner_id NOT IN (SELECT value FROM json_each(?)) ORDER BY key",
        (encode(sorted({owner.id for owner, _ in affected})).decode(),),
    ).fetchall() or [(key,) for _, key in affected]
    usual = Counter(_code(decode(day.body(key))) for _, key in affected).most_common(1)
    for _ in range(_TRIES):
        kind = decode(day.body(rng.choice(others)[0])).get("kind") if others else None
        if isinstance(kind, dict) and (kind.get("code"),) != tuple(code for code, _ in usual):
            break
    else:
        return "there is no other kind in the catalogue."
    for owner, key in affected:
        record = decode(day.body(key))
        if record.get("kind") != kind:
            parent = record.get("specializes")
            moved = {"specializes": {**parent, "kind": kind}} if isinstance(parent, dict) else {}
            _write(day, owner, key, {"kind": kind, **moved})
    return f"the kind became {kind.get('label') or kind.get('code')!s}."


def _code(record: Mapping[str, Any]) -> Any:
    kind = record.get("kind")
    return encode(kind.get("code")) if isinstance(kind, dict) else None


def _flood(day: Day, affected: Sequence[Affected], rng: Random) -> str:
    (largest,) = day.connection.execute("SELECT ifnull(max(id), 0) FROM products").fetchone()
    for number, (owner, key) in enumerate(affected, start=1):
        record = decode(day.body(key)) | {"id": largest + number, "uuid": random_uuid(rng)}
        if isinstance(made_of := record.get("product_key"), dict):
            record["product_key"] = {**made_of, "product_id": record["id"]}
        views = tuple(day.views(key))
        copy = day.insert(SharedProduct(record, owner.id, views), owner.name, "duplicated", "sent twice")
        owner.products.append(copy)
    return "every product was sent a second time, with the same GTIN."


def _write(day: Day, owner: ActiveSupplier, key: int, values: Mapping[str, Any]) -> None:
    attributes = {name: encode(value) for name, value in values.items()}
    day.write(key, attributes, owner.name, "changed", day.incident)


#: What can go wrong at once, by name.
INCIDENTS: Final[Mapping[str, IncidentKind]] = {
    "supplier_loses_pictures": IncidentKind("A supplier's products lose all their pictures.", _lose_pictures),
    "language_disappears": IncidentKind(
        "A supplier's products lose every text in the language that they use most.", _lose_language
    ),
    "volume_halves": IncidentKind(
        "Every second product is withdrawn, so that recipients see half as many.", _halve, concerns_all=True
    ),
    "updates_stop": IncidentKind(
        "From that day on, nothing is updated any more until the simulation ends.", _stop, concerns_all=True
    ),
    "bulk_overwrite": IncidentKind(
        "A supplier writes the text of one product over that of all its products.", _overwrite
    ),
    "packs_shrink": IncidentKind(
        "A supplier puts a tenth less into its packs, and keeps their GTINs.", _shrink
    ),
    "attribute_emptied": IncidentKind(
        "An attribute that most of a supplier's products have loses its values.", _empty
    ),
    "kinds_reassigned": IncidentKind(
        "All products of a supplier get the kind of another one's product.", _reassign_kinds
    ),
    "duplicates_flood": IncidentKind(
        "A supplier sends each of its products a second time, as a new product with the same GTIN.", _flood
    ),
}
