"""Who changed it: the values of a product across the snapshots of this machine and what was sent from here.

A snapshot shows what was there and not who did it. A value counts as sent from here if an upsert of this machine
changed this place to it before the snapshot in which it came; every other value was changed by somebody else. "Not
asked for" is not "taken away", a snapshot that cannot be read says nothing, and of what was in the first one nobody
knows since when it is there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import accumulate
from typing import Any, NamedTuple

import pandas as pd

from prodex import clock
from prodex.advice import PythonCall, advice
from prodex.arguments import described, is_missing, listed
from prodex.catalog import Catalog
from prodex.changes import ABSENT, MAINTAINED_BY_SERVICE, NOT_ASKED, Change, absence_of, is_same
from prodex.changes.change import Path
from prodex.changes.trails import ValuePlace, shown_value
from prodex.corrections.frame_columns import Columns, frame_of, of_write
from prodex.errors import InputError
from prodex.gtin import comparable
from prodex.ledger.change_digests import made_by, place_digest, value_digest
from prodex.ledger.writes import SentWrite, SentWrites, WriteOutcome, sent_writes
from prodex.phrases import counted, hint
from prodex.send.sent_states import SentChange, composed, has_arrived, sent_changes
from prodex.store.archive import snapshots_folder
from prodex.store.record_history import (
    ProductKeys,
    SnapshotRecord,
    names_of_snapshots,
    records_over_time,
)
from prodex.store.snapshot import SNAPSHOTS, name_of
from prodex.tables.attributes import ATTRIBUTES, PATHS, is_within


class Event(StrEnum):
    """What happened to a value, or to the product."""

    FIRST = "in the first snapshot"
    ASKED = "first asked for"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "taken away"
    STILL_MISSING = "still missing, in another way"
    GONE = "product gone"
    BACK = "product came back"
    RENAMED = "product under another id"
    NOT_SEEN = "sent, not seen"
    NOT_VISIBLE = "sent, not visible yet"
    REFUSED = "sent, refused by the service"


class Sent(StrEnum):
    """Whether a value was sent from this machine."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class ValueEvent:
    """One step in the history of a value.

    Attributes
    ----------
    event
        What happened.
    change
        From what the place held before to what it held then: NOT_ASKED where that is not known. That of the product as
        a whole is one of its id.
    since
        When the product was last changed, as the service said then, without a zone: the value came at that time, or
        before. None if it is unknown since when.
    seen_at
        When the load of the snapshot began in which it came; None if no snapshot has shown it.
    snapshot, not_in
        The snapshot in which it came, and the last one before that held something else; "" where there is none.
    sent
        Whether it was sent from here.
    write
        By which call, or None.
    note
        What else there is to know, as sentences.
    """

    event: Event
    change: Change
    since: datetime | None = None
    seen_at: datetime | None = None
    snapshot: str = ""
    not_in: str = ""
    sent: Sent = Sent.NO
    write: SentWrite | None = None
    note: str = ""


@dataclass(frozen=True)
class ValueHistory:
    """The history of one place of a product, the newest first.

    Attributes
    ----------
    place
        Where it is.
    events
        What happened.
    last
        How new the newest event is, for lists.
    """

    place: ValuePlace
    events: tuple[ValueEvent, ...]
    last: float


@dataclass(frozen=True)
class ProductHistory:
    """The history of a product in the snapshots of a name.

    Attributes
    ----------
    name
        Name of the snapshots.
    product_ids
        Its ids, in the order in which it had them.
    gtin
        Its last GTIN.
    snapshots
        Number of snapshots that were looked at.
    values
        The history of each value, that of the newest change first.
    notes
        What could not be read, what was not there and what was not asked for, as sentences.
    """

    name: str
    product_ids: tuple[str, ...]
    gtin: str | None
    snapshots: int
    values: tuple[ValueHistory, ...] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)


def history(
    product: Any, snapshots: str | Catalog | Iterable[str] | None = None, *, attribute: str | None = None
) -> pd.DataFrame:
    """Say of each value of a product since when it is there, what was before, and whether it was sent from here.

    The snapshots of this machine are compared in the order in which they were published, those of each name by
    themselves; of each only the row of the product is read. What was sent from here is known from the upserts of this
    machine and what is kept beside them.

    Parameters
    ----------
    product
        Its GTIN in any spelling, its id, a row of `catalog.products` or of any other table, or a catalogue of one
        product. By its GTIN it is followed under another id, too, if two ids were never there at the same time.
    snapshots
        Name of the snapshots, several names, or a catalogue that is one of them; all names of this machine by default.
    attribute
        Only this attribute, or what is in it: a wire path, such as "namePublicLong". One that neither the specification
        nor the product knows is an `InputError`.

    Returns
    -------
    pandas.DataFrame
        One row for each value that was there, those of one place together, the newest first.

        - name: that of the snapshots; product_id, gtin
        - attribute, language, language_code, item: where it is. Rows about the whole product have the attribute "".
        - event: in the first snapshot; first asked for; changed; added; taken away; still missing, in another way;
          product gone; product came back; product under another id; sent, not seen; sent, not visible yet; sent,
          refused by the service
        - value, state: the value as text, and filled, null, empty or absent
        - before, before_state: the same of the value before
        - since: `updatedAt` of the product when the value came, local time without zone; missing where it is unknown
          since when
        - seen_at, snapshot, not_in: in which snapshot it came, when the load of that began, and the last snapshot
          before that held something else
        - sent: yes, no, or not known; upsert, tracking, by, why, sent_at: by which call
        - note: what else there is to know

        `frame.attrs["notes"]` says how many snapshots were looked at, which could not be read, which do not have the
        product, and what they did not ask for.

    Raises
    ------
    InputError
        When no snapshot on this machine has the product.
    SnapshotNotFound
        When there are no snapshots of a name.

    Examples
    --------
    >>> import prodex
    >>> for brand in ("ACME", "Acme"):
    ...     record = {"id": 7, "gtin": "03036811359935", "brand": {"code": brand}}
    ...     _ = prodex.flatten([record]).save("shop")
    >>> changes = prodex.history("3036811359935", "shop")
    >>> changes[["attribute", "event", "value", "before", "sent"]].values.tolist()
    [['brand', 'changed', 'Acme', 'ACME', 'no'], ['brand', 'in the first snapshot', 'ACME', nan, 'no']]
    >>> changes.attrs["notes"]
    ('2 snapshots of shop were looked at.',)
    """
    found = histories_of(product, snapshots, attribute=attribute)
    rows = [
        _Row(history, value.place, event)
        for history in found
        for value in history.values
        for event in value.events
    ]
    frame = frame_of(_COLUMNS, rows)
    frame.attrs["notes"] = tuple(dict.fromkeys(note for one in found for note in one.notes))
    return frame


def histories_of(
    product: Any, snapshots: str | Catalog | Iterable[str] | None = None, *, attribute: str | None = None
) -> list[ProductHistory]:
    """Return the same as values: one history for each name of snapshots and each product."""
    key, is_text = _key_of(product)
    names = _names(snapshots)
    chains = [(name, chain) for name in names for chain in records_over_time(key, name)]
    if is_text and any(one.product_id == key.product_id for _, chain in chains for one in chain):
        # An id may be written like the GTIN of another product.
        chains = [
            (name, chain) for name, chain in chains if any(one.product_id == key.product_id for one in chain)
        ]
    if not chains:
        raise InputError(_not_found(product, names))
    gtins = {one.gtin for _, chain in chains for one in chain if one.gtin is not None}
    sources = {one.origin.source for _, chain in chains for one in chain if one.origin is not None}
    written = sent_writes(gtins, sources)
    if attribute is not None:
        attribute = str(attribute).removesuffix(".data")
    found = [_history_of(name, chain, written, attribute) for name, chain in chains]
    if attribute is not None and not any(one.values for one in found):
        roots = {root for _, chain in chains for version in _versions(chain) for root in version.record}
        known = [*roots, *ATTRIBUTES, *PATHS]
        if not any(is_within(one, attribute) for one in known):
            near = hint(attribute, known, "Give a wire path, such as namePublicLong.")
            raise InputError(f"There is no attribute {attribute!r:.60} in this product{near}")
    return found


def _key_of(product: Any) -> tuple[ProductKeys, bool]:
    """Return what a product is known by, and whether a text was given that may be an id or a GTIN."""
    if isinstance(product, Catalog):
        product = product.arrow("products", ["product_id", "gtin"]).to_pandas()
    if isinstance(product, pd.DataFrame):
        rows = product.drop_duplicates(subset=[one for one in ("product_id", "gtin") if one in product])
        if len(rows) != 1:
            raise InputError(
                f"history() is about one product, and these are {len(rows):,}. Choose one: "
                "catalog.where(gtin='...'), or a GTIN."
            )
        product = rows.iloc[0]
    if isinstance(product, pd.Series):
        product = product.to_dict()
    if hasattr(product, "_asdict"):  # a row of `itertuples`
        product = product._asdict()
    if isinstance(product, Mapping):
        known = {name: product.get(name) for name in ("product_id", "gtin", "id")}
        names = {name: value for name, value in known.items() if not is_missing(value)}
        if not names:
            raise InputError(
                "This row has neither product_id nor gtin, so it is not known which product it is."
            )
        own = names.get("product_id", names.get("id"))
        return ProductKeys(None if own is None else str(own), comparable(names.get("gtin"))), False
    if product is None or isinstance(product, bool) or not isinstance(product, str | int | float):
        raise InputError(
            f"history() takes a GTIN, the id of a product or its row, and product is {described(product)}. Write "
            "prodex.history('03036811359935')."
        )
    gtin = comparable(product)
    if gtin is None:
        example = PythonCall("prodex.history({gtin!r})", gtin="03036811359935")
        raise InputError(advice("The GTIN is empty. Write {example}.", example=example))
    return ProductKeys(str(product).strip(), gtin), True


def _names(snapshots: str | Catalog | Iterable[str] | None) -> list[str]:
    if snapshots is None:
        return names_of_snapshots()
    if isinstance(snapshots, str | Catalog):
        snapshots = [name_of(snapshots, "history")]
    names = [str(one).partition("@")[0] for one in listed("snapshots", snapshots)]
    there = names_of_snapshots()
    for name in names:
        if name not in there:
            raise SNAPSHOTS.not_found(name, "snapshots")
    return list(dict.fromkeys(names))


def _not_found(product: Any, names: Sequence[str]) -> str:
    where = f"No snapshot in {snapshots_folder()} has"
    looked = f" {', '.join(names[:10])} were looked at." if names else " There are none."
    return f"{where} the product {product!r:.80}.{looked}"


#: What says nothing of who changed a value: the service keeps it, or it is the key.
_PASSED_OVER = MAINTAINED_BY_SERVICE | {"gtin"}
#: The same below the top.
_KEPT_BY_SERVICE = "assets.lastUpdatedAt"


@dataclass(frozen=True)
class _Version:
    """The record of a product in one snapshot, and in those after it that have the same.

    Attributes
    ----------
    place
        Which snapshot it is.
    there
        The product in it.
    moment, until
        When it was published at the latest, and the last one that has the same.
    began
        When the load of the last one began; None if a clock was ahead.
    """

    place: int
    there: SnapshotRecord
    moment: datetime
    until: datetime
    began: datetime | None

    @property
    def record(self) -> Mapping[str, Any]:
        return self.there.record or {}

    def value(self, root: str) -> Any:
        found = self.record.get(root, ABSENT)
        return NOT_ASKED if found is ABSENT and not self.asked(root) else found

    def asked(self, attribute: str, language: str | None = None) -> bool:
        origin = self.there.origin
        return origin is not None and origin.asked(attribute, language)

    @property
    def chose_fields(self) -> bool:
        origin = self.there.origin
        return origin is not None and origin.chose_fields


def _history_of(
    name: str, chain: Sequence[SnapshotRecord], written: SentWrites, attribute: str | None
) -> ProductHistory:
    ids = tuple(dict.fromkeys(one.product_id for one in chain if one.product_id is not None))
    gtins = [one.gtin for one in chain if one.gtin is not None]
    writes = [
        one for one in written.writes if one.gtin in gtins and any(one.is_of(product) for product in ids)
    ]
    unreadable = [upsert for upsert, named in written.unreadable.items() if not named.isdisjoint(gtins)]
    versions = _versions(chain)
    roots = dict.fromkeys(root for one in versions for root in one.record)
    roots |= dict.fromkeys(root for one in writes for root in one.sent or ())
    top = None if attribute is None else attribute.partition(".")[0]
    walked = _Walk(ids[-1] if ids else "", versions, len(chain), writes, bool(unreadable))
    values = [
        found
        for root in roots
        if root not in _PASSED_OVER and top in {None, root}
        for found in walked.histories(root)
        if attribute is None or is_within(found.place.attribute, attribute)
    ]
    about = _of_product(chain) if attribute is None else None
    values.sort(key=lambda one: -one.last)
    notes = [
        *_notes(name, chain),
        *(f"{one} is nested too deeply to be followed." for one in walked.too_deep),
        *(f"The upsert {one} cannot be read, and has this GTIN." for one in unreadable),
    ]
    return ProductHistory(
        name,
        ids,
        gtins[-1] if gtins else None,
        len(chain),
        (*([about] if about else []), *values),
        tuple(notes),
    )


def _versions(chain: Sequence[SnapshotRecord]) -> list[_Version]:
    """Return the records of a chain; several snapshots in a row with the same record are one."""
    # A clock may have been ahead, or set back: what is later in the chain was not published before.
    moments = accumulate((max(one.moment, one.published) for one in chain), max)
    # By a clock that was ahead of a later one, or of now, something would look visible that was not sent yet.
    after = [*(one.moment for one in chain[1:]), clock.now()]
    earliest = reversed([*accumulate(reversed(after), min)])
    found: list[_Version] = []
    for place, (there, moment, least) in enumerate(zip(chain, moments, earliest, strict=True)):
        if there.record is None or there.problem:
            continue
        began = there.moment if there.moment <= least else None
        if found and _are_same(found[-1].there, there):
            found[-1] = replace(found[-1], until=moment, began=began)
        else:
            found.append(_Version(place, there, moment, moment, began))
    return found


def _are_same(one: SnapshotRecord, other: SnapshotRecord) -> bool:
    if one.record is not other.record or one.origin is None or other.origin is None:
        return False
    return (one.origin.query, one.origin.extent) == (other.origin.query, other.origin.extent)


class _Walk:
    """Follows each place of an attribute through the versions of a product, with what was sent meanwhile."""

    def __init__(
        self,
        product: str,
        versions: Sequence[_Version],
        size: int,
        writes: Sequence[SentWrite],
        some_unreadable: bool,
    ) -> None:
        self._product = product
        self._versions, self._size = versions, size
        self._writes = writes
        self._opaque = [one for one in writes if one.sent is None and one.outcome is not WriteOutcome.REFUSED]
        self._some_unreadable = some_unreadable
        #: Attributes that are nested too deeply to be followed.
        self.too_deep: list[str] = []

    def histories(self, root: str) -> Iterator[ValueHistory]:
        """Yield the history of each place of an attribute."""
        try:
            now = [one.value(root) for one in self._versions]
            found = [*sent_changes(self._product, root, now, self._writes)]
        except RecursionError:
            self.too_deep.append(root)
            return
        for (place, held), sent in found:
            if is_within(place.attribute, _KEPT_BY_SERVICE):
                continue
            known = [
                NOT_ASKED
                if absence_of(one) and not version.asked(place.attribute, place.language_code or None)
                else one
                for one, version in zip(held, self._versions, strict=True)
            ]
            events = sorted(self._events(place.path, known, sent), key=lambda one: one[0])
            if not events:
                continue
            last, newest = events[-1]
            if 0 < (not_asked := sum(one is NOT_ASKED for one in known)) < len(known):
                words = f"Not asked for in {counted(not_asked, 'state')} of the product."
                events[-1] = last, _with_notes(newest, words)
            yield ValueHistory(place, tuple(event for _, event in reversed(events)), last)

    def _events(
        self, path: Path, held: Sequence[Any], sent: Sequence[SentChange]
    ) -> list[tuple[float, ValueEvent]]:
        """Return what happened to a place, each with the number of the snapshot that shows it."""
        waiting = [one for one in sent if not one.was_refused]
        stale: list[SentChange] = []
        events: list[tuple[float, ValueEvent]] = []
        last, before = None, NOT_ASKED
        for version, value in zip(self._versions, held, strict=True):
            if value is NOT_ASKED:
                continue
            seen = [
                one for one in waiting if one.write.at <= version.until and has_arrived(one.change, value)
            ]
            # What the service had, or had got after it, and what is not there any more, came no later.
            latest = max((one.write.at for one in seen), default=datetime.min.replace(tzinfo=UTC))
            gone = [
                one
                for one in waiting
                if one not in seen and (one.write.is_visible_at(version.began) or one.write.at < latest)
            ]
            stale += gone
            waiting = [one for one in waiting if one not in seen and one not in gone]
            if last is not None and _is_only_left_out(before, value, last, version):
                # The reply that had all fields says in which way it is missing.
                last, before = (last, before) if version.chose_fields else (version, value)
                continue
            change = Change(self._product, path, before, value)
            # Letters in another normal form read the same, as in a comparison; unless this was sent from here.
            reads_alike = not seen and _says_nothing(_composed(change))
            if not reads_alike and not _says_nothing(change):
                event = self._event(change, version, last, seen)
                if gone and event.sent is not Sent.YES:
                    event = _with_notes(event, f"The upsert {gone[-1].write.upsert} had sent another value.")
                if events and events[-1][1].sent is Sent.YES and event.sent is Sent.NO:
                    event = _with_notes(event, "It overrides what was sent from here.")
                events.append((version.place, event))
            elif seen and events:
                events[-1] = events[-1][0], _with_notes(events[-1][1], *_sent_again(seen))
            last, before = version, value
        unseen = [one for one in sent if one.was_refused or one in waiting]
        return [*events, *self._unseen(unseen, stale, before)]

    def _event(
        self, change: Change, version: _Version, last: _Version | None, seen: Sequence[SentChange]
    ) -> ValueEvent:
        there = version.there
        made = [one.write for one in seen if one.write.at <= version.moment][:1]
        # What came while the snapshot was loaded was there already.
        again = _sent_again(seen[len(made) :])
        sent, write, unclear = (Sent.YES, made[0], "") if made else self._by_others(change, version, last)
        event = ValueEvent(
            _what_happened(change),
            change,
            seen_at=there.moment,
            snapshot=there.snapshot,
            sent=sent,
            write=write,
        )
        if last is None:
            # Before it nobody has asked for this attribute, or there was no snapshot.
            is_first = version is self._versions[0]
            event = replace(event, event=Event.FIRST if is_first else Event.ASKED)
            return _with_notes(event, "Unknown since when.", unclear, *again)
        is_dated = there.updated_at is not None and there.updated_at != last.there.updated_at
        since, note = (there.updated_at, "") if is_dated else (None, "updatedAt was not changed with it.")
        event = replace(event, since=since, not_in=last.there.snapshot)
        return _with_notes(event, note, unclear, *again)

    def _by_others(
        self, change: Change, version: _Version, last: _Version | None
    ) -> tuple[Sent, SentWrite | None, str]:
        """Return what is known of who sent a value that no upsert sent of which everything is kept."""
        root = change.attribute or ""
        possible = [one for one in self._opaque if one.at <= version.moment and one.writes(root)]
        for one in reversed(possible):
            if _has_made(one.digests, change):
                return Sent.YES, one, ""
        # Nobody knows what they wrote; an import may take a day until it is visible.
        unclear = [
            one.upsert for one in possible if not one.digests and (last is None or one.at > last.moment)
        ]
        if unclear:
            note = f"The upsert {unclear[-1]} wrote this attribute; what it wrote is not kept."
            return Sent.UNKNOWN, None, note
        return Sent.UNKNOWN if self._some_unreadable else Sent.NO, None, ""

    def _unseen(
        self, waiting: Sequence[SentChange], stale: Sequence[SentChange], last: Any
    ) -> Iterator[tuple[float, ValueEvent]]:
        """Yield what was sent and is in no snapshot; `last` is what the place holds in the last one."""
        for one in (*waiting, *stale):
            write = one.write
            event = Event.NOT_SEEN if one in stale else Event.NOT_VISIBLE
            if one.was_refused:
                event = Event.REFUSED
            elif event is Event.NOT_VISIBLE and has_arrived(one.change, last):
                continue  # it was there already
            later = (version.place - 0.5 for version in self._versions if version.moment >= write.at)
            # Without an identifier nobody knows whether the service has got it.
            is_lost = write.tracking is None and write.outcome is WriteOutcome.UNKNOWN
            sent, note = (Sent.UNKNOWN, _LOST) if is_lost else (Sent.YES, "")
            yield (
                next(later, float(self._size)),
                ValueEvent(event, one.change, sent=sent, write=write, note=note),
            )


_LOST = "The reply to the call was lost, so that it may never have arrived."


def _sent_again(again: Iterable[SentChange]) -> list[str]:
    return [f"Sent again by the upsert {one.write.upsert}." for one in again]


def _with_notes(event: ValueEvent, *notes: str) -> ValueEvent:
    return replace(event, note=" ".join(filter(None, (event.note, *notes))))


def _what_happened(change: Change) -> Event:
    if absence_of(change.before):
        return Event.STILL_MISSING if absence_of(change.after) else Event.ADDED
    return Event.REMOVED if absence_of(change.after) else Event.CHANGED


def _composed(change: Change) -> Change:
    """Return a change as it reads, whatever normal form its letters are in."""
    return replace(change, before=composed(change.before), after=composed(change.after))


def _says_nothing(change: Change) -> bool:
    """Whether nothing happened to a place: null is another state than absent, and nothing is no value that came."""
    missing = absence_of(change.after)
    if change.before is NOT_ASKED:
        return change.after is ABSENT
    return absence_of(change.before) is missing and (
        missing is not None or is_same(change.before, change.after)
    )


def _is_only_left_out(before: Any, after: Any, last: _Version, version: _Version) -> bool:
    """Whether something is missing in two ways because fields were chosen for one of the two replies."""
    return (
        last.chose_fields != version.chose_fields
        and absence_of(before) is not None
        and absence_of(after) is not None
    )


def _has_made(digests: Collection[str], change: Change) -> bool:
    """Whether one of some changes was to make this value of a place."""
    made = place_digest(change.path), value_digest(change.path, change.after)
    return any(made_by(one) == made for one in digests)


def _of_product(chain: Sequence[SnapshotRecord]) -> ValueHistory | None:
    """Return what happened to the product as a whole; None if nothing did."""
    events: list[ValueEvent] = []
    number = 0
    last: SnapshotRecord | None = None
    gone: SnapshotRecord | None = None
    for place, there in enumerate(chain):
        if there.problem:
            continue
        was = None if last is None else last.product_id
        seen: dict[str, Any] = {"seen_at": there.moment, "snapshot": there.snapshot}
        if not there.has_product:
            # Only a whole snapshot of the same products says that one is gone.
            if last is not None and gone is None and there.complete and there.asked_for_the_same(last):
                gone, number = there, place
                is_gone = Change(str(was), ("id",), was, ABSENT)
                events.append(ValueEvent(Event.GONE, is_gone, not_in=last.snapshot, **seen))
            continue
        is_other = was not in {None, there.product_id}
        if last is not None and (gone is not None or is_other):
            number = place
            events.append(
                ValueEvent(
                    Event.RENAMED if gone is None else Event.BACK,
                    Change(str(was), ("id",), was if gone is None else ABSENT, there.product_id),
                    since=there.updated_at,
                    not_in=(gone or last).snapshot,
                    note=f"Under the id {there.product_id}; it had {was}." if is_other else "",
                    **seen,
                )
            )
        gone, last = None, there
    return ValueHistory(ValuePlace(), tuple(reversed(events)), number) if events else None


#: Snapshots that a note names.
_NAMED = 5


def _notes(name: str, chain: Sequence[SnapshotRecord]) -> Iterator[str]:
    yield f"{counted(len(chain), 'snapshot')} of {name} {'was' if len(chain) == 1 else 'were'} looked at."
    for one in (damaged := [one for one in chain if one.problem])[:_NAMED]:
        yield f"{one.snapshot} could not be read: {one.problem}"
    if len(damaged) > _NAMED:
        yield f"{len(damaged) - _NAMED:,} more could not be read."
    undecoded = [one for one in chain if one.has_product and one.record is None and not one.problem]
    if undecoded:
        yield f"The record of the product cannot be decoded in {_listed(undecoded)}."
    absent = [one for one in chain if not one.has_product and not one.problem]
    if absent:
        yield f"The product is not in {_listed(absent)}."
    doubtful = [one for one in absent if not one.complete]
    if doubtful:
        yield f"Not complete, so that nothing in them is known to be gone: {_listed(doubtful)}."
    there = next((one for one in reversed(chain) if one.has_product), None)
    others = [one for one in absent if there is not None and not one.asked_for_the_same(there)]
    if others:
        yield f"Loaded by a query for other products: {_listed(others)}."


def _listed(snapshots: Sequence[SnapshotRecord]) -> str:
    named = ", ".join(one.snapshot for one in snapshots[:_NAMED])
    more = len(snapshots) - _NAMED
    return f"{counted(len(snapshots), 'snapshot')} ({named}{f' and {more:,} more' if more > 0 else ''})"


def _state(held: Any) -> str:
    missing = absence_of(held)
    return "filled" if missing is None else missing.value


class _Row(NamedTuple):
    """What a row of the frame is made of."""

    history: ProductHistory
    place: ValuePlace
    event: ValueEvent


#: Columns of the frame: of which type each is, and what it holds.
_COLUMNS: Columns[_Row] = {
    "name": ("str", lambda row: row.history.name),
    "product_id": ("str", lambda row: row.history.product_ids[-1] if row.history.product_ids else None),
    "gtin": ("str", lambda row: row.history.gtin),
    "attribute": ("str", lambda row: row.place.attribute),
    "language": ("str", lambda row: row.place.language),
    "language_code": ("str", lambda row: row.place.language_code or None),
    "item": ("str", lambda row: row.place.item),
    "event": ("str", lambda row: str(row.event.event)),
    "value": ("str", lambda row: shown_value(row.event.change.after)),
    "state": ("str", lambda row: _state(row.event.change.after)),
    "before": ("str", lambda row: shown_value(row.event.change.before)),
    "before_state": ("str", lambda row: _state(row.event.change.before)),
    "since": ("datetime64[us]", lambda row: row.event.since),
    "seen_at": ("datetime64[us, UTC]", lambda row: row.event.seen_at),
    "snapshot": ("str", lambda row: row.event.snapshot or None),
    "not_in": ("str", lambda row: row.event.not_in or None),
    "sent": ("str", lambda row: str(row.event.sent)),
    **of_write(lambda row: row.event.write, "upsert", "tracking", "by", "why", "sent_at"),
    "note": ("str", lambda row: row.event.note),
}
