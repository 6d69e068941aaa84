"""Taking back what an upsert wrote: a `Fix` that restores the values of exactly the leaves that were written.

Before an upsert, its products are kept as they were (`prodex.ledger.earlier_records`). What tells these records
from what was sent are the leaves that the upsert wrote. Each is turned round and judged by the product as it is now:
where it still holds what was sent, the earlier value is restored; where it holds the earlier value, nothing is left to
do; where it holds anything else, somebody has changed it since, and that is a conflict.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from prodex.advice import PythonCall, advice
from prodex.arguments import described
from prodex.catalog import Catalog, Origin
from prodex.changes import ABSENT, Change, diff, inverse, is_made, is_same, path_after, with_orders
from prodex.changes.change import Path as Place
from prodex.errors import InputError, ServiceError, StorageError
from prodex.gtin import gtin_key
from prodex.ledger.earlier_records import (
    EarlierRecord,
    earlier_records,
    remove_old,
    why_none_kept,
)
from prodex.ledger.upsert_file import UpsertFile, host_of
from prodex.ledger.upserts import latest_upsert, list_entries, upsert_named, upserts_of_correction
from prodex.limits import KeepingLimits
from prodex.quality.profile import Profile
from prodex.quality.run import moment_of
from prodex.query import ProductQuery
from prodex.send.known_products import received_products
from prodex.send.products_now import ALL_UNITS, products_now
from prodex.send.records import Product
from prodex.send.tracking import Tracking
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.service.replies import RUNNING
from prodex.store.reading import flatten
from prodex.store.snapshot import catalog_given
from prodex.tables.plain_walk import product_key
from prodex.worklists.exact_answers import exact_change, exact_refusal
from prodex.worklists.fix import Fix, MadeBy, make_fix
from prodex.worklists.returned_files import Answer, Returned
from prodex.worklists.text_corrections import profile_given
from prodex.written_json import unwritable, why_unwritable
from prodex.written_numbers import written_whole

_LOG = logging.getLogger("prodex")

#: How the purpose of an upsert begins that takes another one back.
_UNDO = "undo of "

#: States of a product that was certainly not written.
_NOT_WRITTEN = frozenset({"not sent", "refused", "ERROR"})
#: Why nothing is known of a product although the earlier records of its upsert are kept.
_NO_RECORD = "its entry in the earlier records is gone, or cannot be read"
_TOO_DEEP = "the product is nested too deep. Correct it at its source."
#: States of one of which nobody knows yet whether it was.
_UNCERTAIN = frozenset({"unknown", "TIMEOUT", RUNNING})


def undo(
    upsert: Tracking | str | int,
    service: Client | None = None,
    *,
    catalog: Catalog | str | Path | None = None,
    profile: str | Path | Mapping[str, Any] | Profile | None = None,
    now: datetime | None = None,
) -> Fix:
    """Prepare to take back what an upsert wrote; nothing is sent before `Fix.apply`.

    The earlier values of exactly the leaves that it wrote are restored: one text of several, one code of a list. The
    result is a `Fix` as of a worklist, so it is previewed, judged, sent once, followed, and can be taken back itself.

    - `accepted`: what is restored.
    - `unchanged`: what has its earlier value already, as after an undo that was interrupted.
    - `conflicts`: what somebody has changed since, and products that are gone. It is never overwritten.
    - `refused`: what cannot be taken back, or may still arrive, each with the reason: a product that did not exist
      before, or whose earlier record is destroyed, an attribute that the service requires, a call whose reply was lost
      and that does not show.

    Parameters
    ----------
    upsert
        What `prodex.upsert`, `Fix.apply` or `prodex.track` returned; or the name of an upsert from this machine, its
        number in `prodex.list_upserts`, or "last". An undo is taken back by its name alone.
    service
        From `prodex.connect`. A tracking has its own.
    catalog
        The products as they are now, or the name of a snapshot. By default they are requested.
    profile
        The checks that say what the undo does to the data. By default only what the service would refuse is found.
    now
        The moment to which "older than" refers, the present by default.

    Returns
    -------
    Fix
        As `prodex.read_worklist` returns it. Upserts that continue one another are taken back together.

    Raises
    ------
    InputError
        When there is no such upsert, nothing is kept of it, or it was sent to another service.
    ServiceError
        When the products cannot be requested.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> product = prodex.load_products(service).products.iloc[0]
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}]
    >>> tracking = prodex.upsert(service, [{"gtin": product["gtin"], "namePublicLong": name}]).wait()
    >>> fix = prodex.undo(tracking)
    >>> set(fix.preview()["before"].dropna())
    {'Riz long'}
    >>> fix.apply(service).wait().status
    'SUCCESS'
    >>> prodex.undo(tracking).counts["accepted"]  # nothing is left to take back
    0
    """
    if isinstance(upsert, Tracking) and service is None:
        service = upsert.service
    service = service_given(service, "undo(upsert, service)", upsert)
    upserts = upserts_of_correction(_upsert_meant(upsert, service))
    remove_old(KeepingLimits.given())
    planned = {one.name: {gtin for gtin, _ in _planned(one)} for one in upserts}
    writes = [write for one in upserts for write in _writes(one, service, planned)]
    if catalog is None:
        # As they were requested before: the filters decide what the service lists at all.
        extra = {name: value for one in upserts for name, value in one.plan.extra.items()}
        catalog, present = _requested(service, upserts[-1].plan.base_url, writes, extra)
    else:
        catalog = catalog_given(catalog, "undo(upsert, service, catalog=catalog)")
        present = received_products(
            catalog, catalog.arrow("products", ["product_id"])["product_id"].to_pylist()
        )
    names = [one.name for one in upserts]
    made_by = MadeBy(why=f"{_UNDO}{names[-1]}")
    answers = list(_answers(writes, present))
    return make_fix(Returned(answers), catalog, profile_given(profile), moment_of(now), made_by=made_by)


class _Write(NamedTuple):
    """What an upsert wrote of a product, or may have: the state at the service, and why nothing is known of it."""

    record: EarlierRecord
    upsert: str
    status: str
    message: str


def _upsert_meant(given: object, service: Client) -> UpsertFile:
    """Return the upsert that somebody means."""
    if isinstance(given, Tracking):
        return _of_tracking(given, service)
    if isinstance(given, int) and not isinstance(given, bool):
        return _no_undo(_numbered(given), str(given))
    if not isinstance(given, str):
        raise InputError(
            f"upsert is {described(given)}. Give what prodex.upsert or Fix.apply returned, or the name or number of an "
            'upsert as prodex.list_upserts() shows it, or "last".'
        )
    if given.strip() == "last":
        return _no_undo(latest_upsert(service.base_url, service.fingerprint), '"last"')
    try:
        number = written_whole(given)
    except InputError:
        return upsert_named(given.strip())
    return _no_undo(_numbered(number), given.strip())


def _numbered(number: int) -> UpsertFile:
    found = list_entries()
    if not 1 <= number <= len(found):
        raise InputError(
            advice(
                "There is no upsert {number} on this machine, which has {count}. {list} numbers them, the newest with "
                "1.",
                number=number,
                count=len(found),
                list=PythonCall("prodex.list_upserts()"),
            )
        )
    return found[number - 1].opened()


def _no_undo(file: UpsertFile, given: str) -> UpsertFile:
    """Refuse an undo where somebody may mean what it takes back: the same command, given again, would undo the undo."""
    if file.plan.why.startswith(_UNDO):
        taken_back = file.plan.why.removeprefix(_UNDO)
        raise InputError(
            f"The upsert {given} is itself the {file.plan.why}. Give a name, so that it is certain what is meant: "
            f"{taken_back} continues that undo, and {file.name} takes it back."
        )
    return file


def _of_tracking(tracking: Tracking, service: Client) -> UpsertFile:
    if tracking.name is not None:
        return upsert_named(tracking.name)
    wanted = set(map(str, tracking.tracking_ids))
    for entry in list_entries():
        try:
            file = entry.opened()
        except (InputError, StorageError):
            continue
        if file.is_for(service.base_url) and wanted & {call.tracking for call in file.calls}:
            return file
    raise InputError(
        f"The imports {', '.join(sorted(wanted))} were not sent from this machine, so nothing is kept of how their "
        "products were before."
    )


def _writes(file: UpsertFile, service: Client, planned: Mapping[str, Collection[str]]) -> Iterator[_Write]:
    """Yield what an upsert wrote, or may have, of each product; `planned` has the GTINs of each upsert."""
    if file.plan.host != host_of(service.base_url):
        raise InputError(
            f"The upsert {file.name} was sent to {file.plan.host}, and this service is "
            f"{host_of(service.base_url)}. Connect with the one that it was sent to."
        )
    # What was to be sent, and is sent by a later upsert instead, is taken back with that one.
    left = {
        gtin
        for one in file.batches()
        for gtin in one.gtins
        if gtin not in one.arrived and gtin in planned.get(one.continued_by, ())
    }
    states = _states(file, service)
    if not file.keeps_earlier_records:
        # Of one that has sent nothing, nothing has to be kept.
        if all(status in _NOT_WRITTEN for status, _ in states.values()):
            return
        raise InputError(why_none_kept(file))
    records = {
        gtin: EarlierRecord(product, gtin, None, problem=_NO_RECORD) for gtin, product in _planned(file)
    }
    lacking = {gtin_key(gtin): gtin for gtin in records}
    for record in earlier_records(file.name):
        # What the file has of others was not sent; of an entry that names nobody, the plan says whose it was.
        if (key := gtin_key(record.gtin)) in states and record.gtin not in left:
            lacking.pop(key, None)
            yield _Write(record, file.name, *states[key])
    for key, gtin in lacking.items():
        if gtin not in left:
            yield _Write(records[gtin], file.name, *states.get(key, ("unknown", "")))


def _planned(file: UpsertFile) -> Iterator[tuple[str, str]]:
    """Yield the GTINs that an upsert has planned, each with the id of its product; "" where that is not known."""
    for number in range(file.calls_planned):
        loaded = file.loaded(number)
        for gtin in file.gtins(number):
            yield gtin, loaded[gtin].product if gtin in loaded else ""


def _states(file: UpsertFile, service: Client) -> dict[str, tuple[str, str]]:
    """Return status and message of each product, by the key of its GTIN."""
    tracking = Tracking(service, file.batches(), file=file)
    if file.is_for(service.base_url):
        try:
            tracking.refresh()
        except ServiceError as error:
            _LOG.warning("The imports of %s could not be requested: %s", file.name, error)
    rows = tracking.products
    return {
        gtin_key(gtin): (status, message)
        for gtin, status, message in zip(rows["gtin"], rows["status"], rows["message"], strict=True)
    }


def _requested(
    service: Client, sent_to: str, writes: Sequence[_Write], extra: Mapping[str, Any]
) -> tuple[Catalog, dict[str, Product]]:
    """Return the products as they are now, as a catalogue and by their ids.

    The catalogue is said to be from where the upsert was sent: at another port or path `Fix.apply` asks first.
    """
    gtins = [one.record.gtin for one in writes if one.record.gtin]
    records = {product_key(one): one for one in products_now(service, gtins, {**ALL_UNITS, **extra})}
    origin = Origin(sent_to, ProductQuery(extra={**ALL_UNITS, **extra}))
    return replace(flatten(records.values()), origin=origin), records


def _answers(writes: Iterable[_Write], present: Mapping[str, Product]) -> Iterator[Answer]:
    """Yield the answers that take writes back, product by product."""
    numbers = count(1)
    by_product: dict[tuple[str, str], list[_Write]] = defaultdict(list)
    for one in writes:
        by_product[one.record.product, gtin_key(one.record.gtin)].append(one)
    there: dict[str, list[str]] = defaultdict(list)
    for key, record in present.items():
        there[gtin_key(record.get("gtin"))].append(key)
    for (product, gtin), several in by_product.items():
        own = [product] if product else there[gtin]
        yield from _answers_of_product(several, own, present, numbers)


@dataclass(frozen=True)
class _Leaf:
    """One change that was written, with the order that its list got, and the last write that made it."""

    change: Change
    order: Change | None
    write: _Write


#: By the place, the last one last.
_Leaves: TypeAlias = dict[Place, _Leaf]


def _answers_of_product(
    writes: Sequence[_Write], own: Sequence[str], present: Mapping[str, Product], numbers: Iterator[int]
) -> Iterator[Answer]:
    leaves: _Leaves = {}
    for attribute, why in _add_writes(leaves, writes):
        # A product that the catalogue does not have is a conflict, which the reason is of no use for.
        for product in own:
            yield exact_refusal(product, attribute, None, why, number=next(numbers))
        if not own:
            answer = exact_refusal("", attribute, None, why, number=next(numbers))
            yield answer._replace(keys={"gtin": writes[0].record.gtin, "attribute": attribute})
    for product in own:
        now = present.get(product)
        # The last change first: it may be within what an earlier one has made.
        for leaf in reversed(leaves.values()):
            number = next(numbers)
            try:
                yield _answer(product, leaf, now, number)
            except RecursionError:
                yield exact_refusal(product, str(leaf.change.attribute), None, _TOO_DEEP, number=number)


def _add_writes(leaves: _Leaves, writes: Iterable[_Write]) -> Iterator[tuple[str, str]]:
    """Add the changes of the writes of a product; yield the attributes that cannot be taken back, and why."""
    for write in writes:
        record = write.record
        why = ""
        if record.problem:
            why = f"it is not known how the product was before the upsert {write.upsert}: {record.problem}."
        elif record.before is None and write.status not in _NOT_WRITTEN:
            why = (
                "the service did not list the product before the upsert, so that it was new, or could not be seen. A "
                "write cannot take a product away; ask the service to."
            )
        if why:
            yield next(iter(record.sent), "gtin"), why
        elif record.before is not None:
            try:
                yield from _add_leaves(leaves, write, record.before)
            except RecursionError:
                yield next(iter(record.sent)), _TOO_DEEP


def _add_leaves(leaves: _Leaves, write: _Write, before: Product) -> Iterator[tuple[str, str]]:
    """Add the changes of a write to those of earlier writes of the same product; yield the attributes that stay."""
    for root, sent in write.record.sent.items():
        wrong = next(unwritable(before.get(root), root), None)
        if wrong is not None and write.status not in _NOT_WRITTEN:
            path, found = wrong
            why = f"before the upsert {write.upsert}, {path} {why_unwritable(found)}"
            yield root, f"{why}, so that it cannot be written as it was. Correct it at its source."
            continue
        was = {root: before[root]} if root in before else {}
        for change, order in with_orders(diff(was, {root: sent}, product=write.record.product)):
            # The same place, or the same change that was sent once more.
            places = [place for place in (change.path, path_after(change)) if place in leaves]
            leaf = _Leaf(change, order, write)
            if places:
                leaf = _joined(leaves.pop(places[0]), leaf)
            leaves[path_after(leaf.change)] = leaf


def _joined(earlier: _Leaf, later: _Leaf) -> _Leaf:
    """Return two writes of one leaf as one change, if nobody has changed it between them."""
    if later.write.status in _NOT_WRITTEN:
        return earlier
    one, other = earlier.change, later.change
    if earlier.write.status in _NOT_WRITTEN or one == other or not is_same(one.after, other.before):
        return later
    joined = Change(other.product, one.path, one.before, other.after)
    return replace(later, change=joined, order=earlier.order or later.order)


def _answer(product: str, leaf: _Leaf, now: Product | None, number: int) -> Answer:
    """Return the answer that takes one change back, or says why that cannot be."""
    change, write = _back(leaf.change, product), leaf.write
    order = None if leaf.order is None else _back(leaf.order, product)
    answer = exact_change(change, number=number, order=order)
    if now is None:
        return answer._replace(restores=True)
    root = str(change.attribute)
    as_before = is_made(now, change)
    why = ""
    if write.status in _NOT_WRITTEN and not as_before:
        says = f": {write.message.strip(' .')}" if write.message.strip() else ""
        why = f"the upsert {write.upsert} did not write it ({write.status}{says}), so its value is of somebody else."
    elif write.status in _UNCERTAIN and as_before:
        lost = "its import has not ended" if write.status == RUNNING else "it is not known whether it arrived"
        why = (
            f"the product has the earlier value, but the upsert {write.upsert} may still write it: {lost}. Undo it "
            "again later."
        )
    elif as_before and is_made({root: _waiting(now, root)}, leaf.change):
        why = (
            f"the product has the earlier value, but an update of {root} waits for acceptance, with what was "
            "sent. Undo it again when the update has been accepted or refused."
        )
    return answer._replace(change=None, refusal=why) if why else answer._replace(restores=True)


def _back(change: Change, product: str) -> Change:
    (back,) = inverse([change])
    return replace(back, product=product)


def _waiting(now: Product, root: str) -> Any:
    """Return the value of an attribute in the update of a product that waits for acceptance."""
    update = now.get("lastRequest")
    return update[root] if isinstance(update, Mapping) and root in update else now.get(root, ABSENT)
