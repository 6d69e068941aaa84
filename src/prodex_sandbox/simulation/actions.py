"""What suppliers do on an ordinary day: they correct, break, update, add, delist, withdraw and share products."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from random import Random
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.model import SharedProduct, SharingStatus, View
from prodex_sandbox.records.service_clock import stamp
from prodex_sandbox.sample.defects.planting import plant_one
from prodex_sandbox.sample.products import labelling, pictures, product
from prodex_sandbox.sample.products.dates import Dates
from prodex_sandbox.sample.products.product import Draft, other_views, show
from prodex_sandbox.sample.products.vocabulary import quantity
from prodex_sandbox.simulation.day import Day
from prodex_sandbox.simulation.state import (
    ADDED,
    BROKEN,
    CORRECTED,
    DELISTED_TAG,
    NOT_THEIRS,
    SUPPLIERS_BY_ID,
    ActiveSupplier,
    SimulationState,
    is_open,
    new_product,
)

#: How often a supplier looks for a product that suits what it does.
_TRIES: Final = 6
#: The areas of defects that suppliers break, and how much more often than the sample has them; a supplier with
#: average defects breaks something at about every second attempt.
_AREAS: Final = ("content", "classification", "pictures")
_TIMES: Final = 1.5
#: It makes the dates of pictures older, which no supplier can.
_IMPOSSIBLE: Final = frozenset({"stale_pictures"})
#: Net contents below this (grams or millilitres) are not made smaller.
_SMALLEST_PACK: Final = 100


@dataclass(frozen=True, slots=True)
class Action:
    """Something that suppliers do.

    Attributes
    ----------
    meaning
        What it is, in words.
    rate
        How often an average supplier does it on a working day, for each of its products.
    act
        Does it once, to a product that it chooses; nothing where none suits.
    """

    meaning: str
    rate: float
    act: Callable[[Day, ActiveSupplier, Random, SimulationState], None]


def correct(day: Day, owner: ActiveSupplier, rng: Random, state: SimulationState) -> None:
    """Put a defect right: one that the supplier has made, or one that was planted in the sample."""
    if owner.broken and rng.random() < 0.5:
        key, repair = rng.choice(owner.broken)
        if key in owner.products and is_open(day.body(key), repair):
            right = {name: value for name, (_, value) in repair.values.items()}
            day.write(key, right, owner.name, CORRECTED, repair.defect)
            return
    for _ in range(_TRIES):
        key = rng.choice(owner.products)
        body = day.body(key)
        original = state.originals.find(key, decode(body))
        for repair in original.repairs if original else ():
            if is_open(body, repair):
                right = {name: value for name, (_, value) in repair.values.items()}
                day.write(key, right, owner.name, CORRECTED, repair.defect)
                return


def break_something(day: Day, owner: ActiveSupplier, rng: Random, state: SimulationState) -> None:
    """Make one of the sample's defects; careful suppliers seldom do, and each has its own sorts."""
    for _ in range(_TRIES):
        key = rng.choice(owner.products)
        if made := _drafted(day, key, rng, state):
            repair = plant_one(made, _AREAS, _TIMES, _IMPOSSIBLE)
            wrong = {
                name: value
                for name, (value, _) in (repair.values if repair else {}).items()
                if name not in NOT_THEIRS
            }
            if repair and wrong:
                day.write(key, wrong, owner.name, BROKEN, repair.defect)
            return


def update(day: Day, owner: ActiveSupplier, rng: Random, state: SimulationState) -> None:
    """Change something that is neither better nor worse, or send a product again as it is."""
    key = rng.choice(owner.products)
    made = _drafted(day, key, rng, state)
    drawn = rng.random()
    attributes: dict[str, Any] = {}
    detail = "sent again unchanged"
    if made and drawn < 0.05 and (smaller := _smaller(made)):
        attributes, detail = smaller, "less in the pack"
    elif made and drawn < 0.4 and made.record.get("description"):
        attributes = {"description": labelling.description(rng, made.family, made.unit)}
        detail = "new description"
    elif drawn < 0.7 and (heavier := _heavier(decode(day.body(key)), rng)):
        attributes, detail = {"grossWeight": heavier}, "new gross weight"
    day.write(key, {name: encode(value) for name, value in attributes.items()}, owner.name, "updated", detail)


def send_picture(day: Day, owner: ActiveSupplier, rng: Random, state: SimulationState) -> None:
    """Replace a picture, add one of another side, or send the first."""
    key = rng.choice(owner.products)
    record = decode(day.body(key))
    assets = record.get("assets")
    listed = assets.get("pictures") if isinstance(assets, dict) else None
    sent = [one for one in listed or () if isinstance(one, dict)] if isinstance(listed, list) else []
    original = state.originals.find(key, record)
    if (
        original
        and original.draft.unit.is_consumer_unit
        and (not sent or rng.random() < 0.4)
        and len(sent) < 5
    ):
        new = pictures.picture(rng, original.draft.unit, len(sent), _dates(day))
        sent, detail = [*sent, _renewed(new, rng, day)], "picture added" if sent else "first picture"
    elif sent:
        place = rng.randrange(len(sent))
        sent[place], detail = _renewed(sent[place], rng, day), "picture replaced"
    else:
        return
    day.write(key, {"assets.pictures": encode(sent)}, owner.name, "pictures", detail)


def add(day: Day, owner: ActiveSupplier, _rng: Random, state: SimulationState) -> None:
    """Add a product, which then waits to be accepted; only suppliers of the sample have a generator of products."""
    supplier = SUPPLIERS_BY_ID.get(owner.id)
    if supplier is None or not state.is_sample:
        return
    made = new_product(supplier, state.filled + state.added, _dates(day))
    pending = replace(
        made.view,
        shared_with=SharingStatus.PENDING,
        product_status="TO_BE_VALIDATED",
        active_range=False,
        tags=(),
    )
    show(made, pending)
    views = (pending, *other_views(made.rng, made.family, made.dates, pending))
    key = day.insert(SharedProduct(made.record, owner.id, views), owner.name, ADDED, "new product")
    owner.products.append(key)
    owner.waiting.append(key)


def delist(day: Day, owner: ActiveSupplier, rng: Random, _state: SimulationState) -> None:
    """End the listing of a product: it gets the tag, and leaves active ranges and active listings."""
    key = rng.choice(owner.products)
    if key in owner.delisted:
        return
    record = decode(day.body(key))
    attributes = {}
    if isinstance(trees := record.get("logisticalHierarchies"), list) and trees:
        ended = [{**tree, "activeListing": False} if isinstance(tree, dict) else tree for tree in trees]
        attributes["logisticalHierarchies"] = encode(ended)
    if record.get("sharingUnits"):
        attributes["sharingUnits"] = b"[]"
    put_on = stamp(day.now)
    day.show(
        key,
        lambda view: (
            replace(view, active_range=False, tags=(*view.tags, (DELISTED_TAG, put_on)))
            if DELISTED_TAG not in dict(view.tags)
            else view
        ),
        owner.name,
        "delisted",
        "listing ended",
        attributes,
    )
    owner.delist(key)


def withdraw(day: Day, owner: ActiveSupplier, rng: Random, _state: SimulationState) -> None:
    """Take a delisted product back from all recipients."""
    if owner.delisted and len(owner.products) > 1:
        key = rng.choice(owner.delisted)
        day.withdraw(key, owner.name, "withdrawn", "no longer shared")
        owner.leave_out(key)


def share(day: Day, owner: ActiveSupplier, rng: Random, _state: SimulationState) -> None:
    """Move a product one step on: from draft to pending, from pending to accepted with all that waits in it."""
    if not owner.waiting:
        return
    key = rng.choice(owner.waiting)
    statuses = [min(view.shared_from, view.shared_with) for view in day.views(key)]
    is_accepted = SharingStatus.DRAFT not in statuses
    waiting = decode(day.body(key)).get("lastRequest") if is_accepted else None
    attributes: dict[str, bytes | None] = {}
    if isinstance(waiting, dict):
        attributes = {name: encode(value) for name, value in waiting.items() if name not in NOT_THEIRS}
        attributes["lastRequest"] = None
    detail = "accepted" if is_accepted else "shared"
    day.show(key, _next_step, owner.name, "shared", detail, attributes)
    if is_accepted:
        owner.waiting.remove(key)


def _next_step(view: View) -> View:
    if min(view.shared_from, view.shared_with) == SharingStatus.DRAFT:
        pending = SharingStatus.PENDING
        return replace(view, shared_from=pending, shared_with=pending, product_status="ASSIGNATION_PENDING")
    accepted = SharingStatus.ACCEPTED
    return replace(view, shared_from=accepted, shared_with=accepted, product_status="ACCEPTED")


def _drafted(day: Day, key: int, rng: Random, state: SimulationState) -> Draft | None:
    record = decode(day.body(key))
    original = state.originals.find(key, record)
    return original.drafted(record, rng) if original else None


def _dates(day: Day) -> Dates:
    # Times of the sample are local times of a service in UTC.
    now = int(day.now.astimezone(UTC).timestamp())
    return Dates(now, now, now)


def _smaller(made: Draft) -> dict[str, Any] | None:
    """Return what changes with a tenth less in the pack; None where the pack is no single one, or small."""
    unit, kind = made.unit, made.family.kind
    content = quantity(round(unit.size * max(unit.count, 1), 3), kind.unit)
    if len(made.family.units) > 1 or kind.unit not in {"GRM", "MLT"} or unit.size < _SMALLEST_PACK:
        return None
    # It was made smaller before.
    if made.record.get("netContent") != [content]:
        return None
    less = replace(unit, size=round(unit.size * 0.9), net=round(unit.net * 0.9))
    return {
        **{
            name: value for name, value in labelling.names(made.family, less).items() if made.record.get(name)
        },
        "netContent": [quantity(less.size, kind.unit)],
        "netWeight": product.weight(less.net),
    }


def _heavier(record: Mapping[str, Any], rng: Random) -> list[Any] | None:
    weights = record.get("grossWeight")
    if not isinstance(weights, list) or not weights or not isinstance(weights[0], dict):
        return None
    data = weights[0].get("data")
    if isinstance(data, bool) or not isinstance(data, int | float):
        return None
    return [{**weights[0], "data": round(data * rng.uniform(1.01, 1.04), 3)}, *weights[1:]]


def _renewed(picture: Mapping[str, Any], rng: Random, day: Day) -> dict[str, Any]:
    """Return a picture with other files: checksums and date differ."""
    now = stamp(day.now)
    renditions = picture.get("exportables")
    new = {**picture, "crc32": f"{rng.getrandbits(32):08x}", "updatedAt": now}
    if isinstance(renditions, list):
        new["exportables"] = [
            {**each, "crc32": f"{rng.getrandbits(32):08x}", "updatedAt": now}
            if isinstance(each, dict)
            else each
            for each in renditions
        ]
    return new


#: What suppliers do, by the word with which the journal notes it.
ACTIONS: Final[Mapping[str, Action]] = {
    CORRECTED: Action("a defect was put right", 0.0020, correct),
    BROKEN: Action("a defect was made", 0.0024, break_something),
    "updated": Action("something else changed, or the product was sent again", 0.0035, update),
    "pictures": Action("a picture was sent or replaced", 0.0012, send_picture),
    "shared": Action("the product was shared, or accepted", 0.0015, share),
    "delisted": Action("the listing of the product ended", 0.0003, delist),
    "withdrawn": Action("the product was taken back from all recipients", 0.0002, withdraw),
    ADDED: Action("a new product", 0.0003, add),
}
