"""One upsert on disk: a file with its plan, its calls, what became of them, and the products as they were before.

A process may end at any moment, and no product may be sent twice. So the calls, their products and their payloads are
on the disk before the first call; a row is added before each call, and another one after its reply. What is damaged
makes products "unknown", never "not sent": sending again could overwrite newer data.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, Self, get_args
from urllib.parse import urlsplit

import msgspec

from prodex import clock
from prodex.errors import InputError, ProdexError
from prodex.files.atomic import home, make_folder, remove_leftovers, storage, writing_folder
from prodex.files.lock import is_locked, locked
from prodex.files.sealed_rows import Damaged, SealedRow, SealedRows, as_json
from prodex.files.untrusted import Count, Digest, Moment, check_moment, converted
from prodex.ledger.batch import ARRIVED, Batch, Loaded, Planned, Sent
from prodex.network.addresses import is_loopback
from prodex.service.replies import is_identifier

#: The name of the file in the folder of an upsert.
UPSERT_FILE: Final = "upsert.sqlite"
#: How the name of an upsert begins.

#: The number of the layout of the file. Those of 1 to 3 were files of lines.
LAYOUT: Final = 4
#: What to do with a file of another layout.
ADVICE: Final = (
    "What it sent is not known here: calls in it may still arrive for a day. Load its products after that to see which "
    "arrived."
)
#: The tables: the plan, one row; its calls; their products; their payloads until all were sent; the products as they
#: were; what was done, row after row; and how imports ended.
TABLES: Final = ("plan", "calls", "products", "payloads", "records", "events", "imports")

#: How long an import may run whose end is not known: its reply was lost, or nobody followed it.
LONGEST: Final = timedelta(days=1)
#: How long a service takes until searches return what it has imported. The sandbox takes no time.
SETTLES: Final = timedelta(minutes=2)

#: The state before a call; without a later row, its outcome is unknown.
BEING_SENT: Final = "being sent"


class UpsertPlan(msgspec.Struct, frozen=True):
    """What an upsert is about.

    Attributes
    ----------
    host
        Host of the service, without the port: a sandbox gets another port with every start.
    base_url
        Base URL of the service.
    key
        Digest of the access key.
    at
        When it was planned.
    content_type
        Content type of the payloads.
    extra
        Filters with which the products were loaded, if corrections were merged with them.
    attributes
        The attributes that it writes; None if they are not known.
    continues
        Names of the earlier upserts of the same corrections: this one sends what they had not sent.
    by, why
        Who has sent it, and what for.
    earlier_records
        "kept" if the products as they were before were kept with it, "left out" if not.
    """

    host: str
    base_url: str
    key: str
    at: Moment
    content_type: str
    extra: dict[str, Any]
    attributes: tuple[str, ...] | None
    continues: tuple[str, ...]
    by: str
    why: str
    earlier_records: Literal["kept", "left out"]


class PlannedCall(msgspec.Struct, frozen=True):
    """A call of the plan: the digest of its payload."""

    sha256: Digest


class PlannedProduct(msgspec.Struct, frozen=True):
    """A product of a call.

    Attributes
    ----------
    call
        The number of the call, from 0.
    loaded
        The id and the date of the product with which corrections were merged.
    changes
        The digests of these (`prodex.ledger.change_digests`).
    size
        Its bytes in the payload, where that can be sent without it.
    """

    call: Count
    loaded: Loaded | None = None
    changes: tuple[str, ...] = ()
    size: Count | None = None


class SentCall(NamedTuple):
    """One call that arrived, or may have: its time, tracking identifier and number, as far as they are known.

    `date` is its time by the clock of the service, the later one of before and after the call.
    """

    at: datetime | None = None
    tracking: str | None = None
    number: int | None = None
    date: datetime | None = None


class EndedImport(msgspec.Struct, frozen=True):
    """How an import has ended.

    Attributes
    ----------
    at
        When that was first seen, by the clock of this machine.
    date
        The same by the clock of the service, if that is known.
    statuses
        The status of each product by the key of its GTIN, as the service says it.
    """

    at: Moment
    date: Moment | None = None
    statuses: dict[str, str] = {}


class _States(NamedTuple):
    """What the events of an upsert say."""

    batches: dict[int, Batch]
    stopped: str
    is_damaged: bool
    calls: tuple[SentCall, ...]
    continued: dict[int, str]
    settled: int | None


class UpsertFile:
    """One upsert on disk, as it is when this object is made; `batches` reads it again.

    Attributes
    ----------
    path
        The file.
    plan
        What it is about.
    calls
        The calls that had arrived, or may have.
    ended
        The imports that were seen to have ended, by their tracking identifiers.

    Raises
    ------
    InputError
        When its plan cannot be read.
    OtherLayout
        When another version of prodex wrote it.
    StorageError
        When it belongs to somebody else and may not be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = SealedRows(path, TABLES, LAYOUT, ADVICE)
        #: States that are known here only, since the disk refused them.
        self._unwritten: list[tuple[int, Batch]] = []
        with self._readable():
            found = self._rows.read(dict.fromkeys(("plan", "calls", "products", "events", "imports")))
            (plan,) = found["plan"] or [SealedRow(1, "", None)]
            self.plan = converted(plan.read(), UpsertPlan)
            self._planned = tuple(converted(one.read(), PlannedCall) for one in found["calls"])
            self._products: tuple[list[tuple[str, PlannedProduct]], ...] = tuple([] for _ in self._planned)
            for row in found["products"]:
                product = converted(row.read(), PlannedProduct)
                if product.call >= len(self._planned):
                    raise Damaged(f"the product in row {row.number} is of no call")
                self._products[product.call].append((row.name, product))
        states = self._states_in(found["events"])
        self.calls, self._settled = states.calls, states.settled == len(found["events"])
        self.ended = _ended_in(found["imports"])

    @classmethod
    def begin(
        cls,
        base_url: str,
        key: str,
        content_type: str,
        calls: Iterable[Planned],
        extra: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        attributes: Collection[str] | None = None,
        continues: Collection[str] = (),
        by: str = "",
        why: str = "",
        earlier: Iterable[tuple[str, bytes]] | None = None,
    ) -> Self:
        """Write a whole plan to the disk.

        Parameters
        ----------
        base_url, key
            Of the service, and a digest of the access key.
        content_type, calls
            What is to be sent.
        extra
            Filters with which the products were loaded, if corrections were merged with them.
        name
            From `new_name`, for a caller that has to find it whatever happens meanwhile.
        attributes
            The attributes that are written; None if they are not known.
        continues
            Names of the upserts whose corrections these are, too.
        by, why
            Who sends it, and what for.
        earlier
            The products as they were before, as `prodex.ledger.earlier_records` packs them; None to keep none.

        Raises
        ------
        StorageError
            When the plan cannot be written; then none of it is there, and nothing may be sent.
        """
        parent = ledger_folder()
        with storage(parent):
            make_folder(parent, private=True)
        # Removes what processes left that were killed while they wrote a plan.
        remove_leftovers(parent)
        folder = parent / (new_name() if name is None else name)
        plan = UpsertPlan(
            host_of(base_url),
            base_url,
            key,
            datetime.now(UTC),
            content_type,
            dict(extra or {}),
            None if attributes is None else tuple(sorted(attributes)),
            tuple(continues),
            by,
            why,
            "left out" if earlier is None else "kept",
        )
        with writing_folder(folder) as beside:
            # Products are confidential until they are published.
            beside.chmod(0o700)
            SealedRows(beside / UPSERT_FILE, TABLES, LAYOUT).create(_rows_of(plan, calls, earlier or ()))
        return cls(folder / UPSERT_FILE)

    @property
    def name(self) -> str:
        """The name for `prodex.track` and `prodex send-rest`."""
        return name_of(self.path)

    def is_for(self, base_url: str) -> bool:
        """Whether it is of this service."""
        return self.plan.base_url == base_url

    def is_of(self, base_url: str, key: str) -> bool:
        """Whether it is of this host and access key: with another one, products are those of another organisation."""
        return (self.plan.host, self.plan.key) == (host_of(base_url), key)

    @property
    def keeps_payloads(self) -> bool:
        """Whether the payloads are still there, so that the rest can be sent."""
        return self._has("payloads")

    @property
    def keeps_earlier_records(self) -> bool:
        """Whether the products as they were before are still there, so that it can be taken back."""
        return self._has("records")

    @property
    def is_busy(self) -> bool:
        """Whether a process is sending it."""
        return is_locked(self.path.parent)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep other processes from sending it meanwhile.

        Raises
        ------
        SnapshotLocked
            When another process is sending it.
        """
        # Two processes that send one plan would send every product twice.
        with locked(self.path.parent, f"sending {self.name}"):
            while self._unwritten:
                number, batch = self._unwritten[0]
                self._add(_end_of(number, batch))
                del self._unwritten[0]
            yield

    def batches(self) -> list[Batch]:
        """Read the state of all calls; one that was being sent, without a reply, is unknown."""
        with self._readable():
            found = self._states_in(self._rows.rows("events"))
        states = {**found.batches, **dict(self._unwritten)}
        rest = Batch((), "not sent", message=found.stopped or "the process ended before it was sent")
        if found.is_damaged:
            rest = Batch((), "unknown", message="something damaged in its file may be about it")
        batches = [
            states.get(number, replace(rest, gtins=self.gtins(number)))
            for number in range(len(self._planned))
        ]
        # Only what that upsert has planned: the process may have ended before its plan was there.
        names = {name for name in set(found.continued.values()) if file_named(name).exists()}
        for number, name in found.continued.items():
            if name in names and number < len(batches):
                message = f"the upsert {name} continues it"
                batches[number] = replace(batches[number], message=message, continued_by=name)
        return batches

    def reconciled(self, batches: Sequence[Batch]) -> list[Batch]:
        """Return the states on disk, after writing those that only an interrupted process knows."""
        for number, (there, here) in enumerate(zip(self.batches(), batches, strict=True)):
            if there.sent == "unknown" and here.sent in {"sent", "accepted"}:
                self.end_sending(number, here)
        return self.batches()

    def gtins(self, number: int) -> tuple[str, ...]:
        """Return the GTINs that were planned for a call."""
        return tuple(gtin for gtin, _ in self._products[number])

    @property
    def calls_planned(self) -> int:
        """The number of calls in the plan."""
        return len(self._planned)

    @property
    def all_gtins(self) -> list[str]:
        """The GTINs of all calls."""
        return [gtin for products in self._products for gtin, _ in products]

    def loaded(self, number: int) -> dict[str, Loaded]:
        """Return the loaded products of the corrections in a call by GTIN; none if nothing was merged."""
        return {gtin: one.loaded for gtin, one in self._products[number] if one.loaded is not None}

    def changes(self, number: int) -> dict[str, frozenset[str]]:
        """Return the digests of the changes in a call by GTIN; none if nothing was merged."""
        return {gtin: frozenset(one.changes) for gtin, one in self._products[number] if one.changes}

    def payload(self, number: int) -> bytes:
        """Return the payload of a call as it was planned.

        Raises
        ------
        InputError
            When it is no longer there, or was changed.
        """
        with self._readable():
            found = self._rows.rows("payloads", [str(number)])
        body = found[0].content if found else None
        if body is None or hashlib.sha256(body).hexdigest() != self._planned[number].sha256:
            raise InputError(
                f"The payload of batch {number} in {self.path} is no longer there, or was changed. Its products are "
                "not sent; upsert them again."
            )
        return body

    def sizes(self, number: int) -> tuple[int, ...] | None:
        """Return the bytes of each product in the payload of a call; None where it is known as a whole only."""
        sizes = tuple(one.size for _, one in self._products[number] if one.size is not None)
        return sizes if len(sizes) == len(self._products[number]) else None

    def begin_sending(
        self,
        number: int,
        left_out: Mapping[str, str] = MappingProxyType({}),
        date: datetime | None = None,
    ) -> None:
        """Record that a call is made now, at which time of the service's clock, and what is left out of it."""
        event = {"call": number, "state": BEING_SENT, "time": datetime.now(UTC), "date": date}
        self._add(event | ({"left_out": dict(left_out)} if left_out else {}))

    def end_sending(self, number: int, batch: Batch, date: datetime | None = None) -> None:
        """Record the state of a call after it was made, at a time of the service's clock.

        Raises
        ------
        ProdexError
            When it cannot be written; this object keeps the state, and writes it before anything else.
        """
        try:
            self._add(_end_of(number, batch, date))
        except ProdexError:  # of the disk, or of a file that somebody has damaged meanwhile
            self._unwritten.append((number, batch))
            raise

    def note_arrived(self, number: int, gtins: Collection[str]) -> None:
        """Record of which products in a call the service was seen to have what was sent."""
        self._add({"call": number, "arrived": sorted(gtins)})

    def continue_by(self, name: str, numbers: Collection[int]) -> None:
        """Record that another upsert sends the products of these calls instead, once its plan is on disk."""
        self._add({"continued": name, "calls": sorted(numbers)})

    def stop(self, why: str) -> None:
        """Record why the rest was not sent."""
        self._add({"stopped": why})

    def discard_payloads(self) -> None:
        """Delete the payloads; the plan and the states remain."""
        self._remove("payloads")

    def forget(self) -> None:
        """Delete the products as they were before; what was sent, and when, remains."""
        self._remove("records")

    def note_ended(self, imports: Mapping[str, Mapping[str, str]], date: datetime | None) -> None:
        """Record that imports have ended, each with the statuses of its products, at a time of the service's clock."""
        now = datetime.now(UTC)
        with self._readable(), self._rows.writing() as change:
            for tracking, statuses in imports.items():
                known = self.ended.get(tracking)
                made = EndedImport(now, date) if known is None else known
                made = msgspec.structs.replace(made, statuses=dict(statuses) or made.statuses)
                change.replace("imports", tracking, as_json(made))
                self.ended[tracking] = made

    @property
    def is_settled(self) -> bool:
        """Whether a service has shown that none of its imports can be running any more."""
        return self._settled

    def settle(self, date: datetime | None) -> None:
        """Note that no import can be running any more, if that is so at a date of the service."""
        if date is None or not self.calls or self._settled:
            return
        begun = [_later(self.ended.get(call.tracking or ""), call) for call in self.calls]
        if any(one is None or one + LONGEST > date for one in begun):
            return
        with self._readable():
            # As many as there are with it: whatever is done later is more.
            self._add({"settled": len(self._rows.rows("events")) + 1})
        self._settled = True

    def earlier_rows(self, names: Sequence[str] | None = None) -> list[SealedRow]:
        """Return the packed records of the products as they were; see `prodex.ledger.earlier_records`."""
        with self._readable():
            return self._rows.rows("records", names)

    def keep_later(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Keep products as they are now, which holds in place of what was kept of them."""
        with self._readable(), self._rows.writing() as change:
            for name, packed in records:
                change.add("records", name, packed)

    @property
    def earlier_bytes(self) -> int:
        """The size of the products as they were; 0 if none are kept."""
        with self._readable():
            return self._rows.sizes("records")

    def _has(self, table: str) -> bool:
        with self._readable():
            return self._rows.sizes(table) > 0

    def _remove(self, table: str) -> None:
        with self._readable():
            with self._rows.writing() as change:
                change.clear(table)
            self._rows.shrink()

    def _add(self, event: Mapping[str, Any]) -> None:
        """Add an event; a call must not be made before its event survives a power cut."""
        with self._readable(), self._rows.writing() as change:
            change.add("events", "", as_json(event))

    def _states_in(self, rows: Sequence[SealedRow]) -> _States:
        return _states_of(rows, [self.gtins(number) for number in range(len(self._planned))])

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (Damaged, ValueError, RecursionError) as error:
            raise InputError(
                f"The upsert {self.path} cannot be read: {error}. The state of this upsert is not known; load its "
                "products to see which arrived."
            ) from error
        except FileNotFoundError as error:
            raise InputError(f"The upsert {self.path} cannot be read: it is not there.") from error


def _rows_of(
    plan: UpsertPlan, calls: Iterable[Planned], earlier: Iterable[tuple[str, bytes]]
) -> Iterator[tuple[str, str, bytes]]:
    """Yield the rows of a new upsert, call by call: all payloads at once would take much memory."""
    yield "plan", "", as_json(plan)
    for number, one in enumerate(calls):
        yield "calls", "", as_json(PlannedCall(hashlib.sha256(one.body).hexdigest()))
        for gtin, product in zip(one.gtins, _planned_products(number, one), strict=True):
            yield "products", gtin, as_json(product)
        yield "payloads", str(number), one.body
    for gtin, packed in earlier:
        yield "records", gtin, packed


def _planned_products(number: int, call: Planned) -> Iterator[PlannedProduct]:
    for place, _ in enumerate(call.gtins):
        yield PlannedProduct(
            number,
            call.loaded[place] if call.loaded else None,
            call.changes[place] if call.changes else (),
            call.sizes[place] if call.sizes else None,
        )


def new_name() -> str:
    """Return a name for a new upsert; with the process id, since two may plan in the same microsecond."""
    return f"{clock.as_name(datetime.now(UTC))}-{os.getpid()}"


def file_named(name: str) -> Path:
    """Return where the file of an upsert is, or would be; `name` may be from a file of somebody else."""
    return ledger_folder() / Path(name).name / UPSERT_FILE


def name_of(path: Path) -> str:
    """Return the name of an upsert: that of its folder, or of its file where that is of another layout."""
    return path.stem if path.parent == ledger_folder() else path.parent.name


def planned_at(path: Path) -> datetime:
    """Return when an upsert was planned, by its name; else when its file was last changed."""
    moment = clock.from_name(name_of(path).partition("Z")[0] + "Z")
    return moment or datetime.fromtimestamp(path.lstat().st_mtime, UTC)


def ledger_folder() -> Path:
    """Return the folder of all upserts."""
    return home() / "tracking"


def host_of(base_url: str) -> str:
    """Return the host of a service."""
    return urlsplit(base_url).hostname or base_url


def settling_time(base_url: str) -> timedelta:
    """Return how long a service takes until searches return what it has imported."""
    # The sandbox finds products at once; waiting would make every example of the documentation load twice.
    return timedelta(0) if is_loopback(base_url) else SETTLES


def _later(ended: EndedImport | None, call: SentCall) -> datetime | None:
    return call.date if ended is None or ended.date is None else ended.date


def _end_of(number: int, batch: Batch, date: datetime | None = None) -> dict[str, Any]:
    event = {"call": number, "state": batch.sent, "tracking": batch.tracking, "message": batch.message}
    return event | {"date": date} | ({"left_out": dict(batch.left_out)} if batch.left_out else {})


def _ended_in(rows: Iterable[SealedRow]) -> dict[str, EndedImport]:
    """Return the imports that have ended, as far as their rows can be read."""
    found = {}
    for row in rows:
        try:
            one = converted(row.read(), EndedImport)
            for moment in (one.at, one.date):
                check_moment(moment)
        except ValueError:
            continue
        found[row.name] = one
    return found


def _states_of(rows: Sequence[SealedRow], gtins: Sequence[tuple[str, ...]]) -> _States:
    states: dict[int, Batch] = {}
    under_way: dict[int, SentCall] = {}
    calls: list[SentCall] = []
    continued: dict[int, str] = {}
    stopped, is_damaged, settled = "", False, None
    for row in rows:
        event = _event_in(row)
        number = event.get("call")
        if "stopped" in event:
            stopped = str(event["stopped"])
        elif "continued" in event:
            continued |= dict.fromkeys(_numbers(event.get("calls")), str(event["continued"]))
        elif "settled" in event:
            settled = event["settled"]
        elif "arrived" in event and isinstance(number, int) and number in states:
            states[number] = _with_arrived(states[number], event["arrived"])
        elif "state" in event and isinstance(number, int) and 0 <= number < len(gtins):
            state = states[number] = state_of(gtins[number], event)
            begun = under_way.pop(number, None)
            if event.get("state") == BEING_SENT:
                calls += [begun] if begun else []  # its reply was never recorded
                under_way[number] = SentCall(_time(event.get("time")), None, number, _time(event.get("date")))
            elif state.sent in ARRIVED:
                dates = [one for one in (begun and begun.date, _time(event.get("date"))) if one is not None]
                at, date = begun.at if begun else None, max(dates, default=None)
                calls.append(SentCall(at, state.tracking, number, date))
        else:
            is_damaged = True
    # What is damaged may have been about a call, whose time is then unknown.
    lost = [SentCall()] if is_damaged else []
    return _States(states, stopped, is_damaged, (*calls, *under_way.values(), *lost), continued, settled)


def _event_in(row: SealedRow) -> Mapping[str, Any]:
    """Return what an event says; nothing of one that is damaged."""
    try:
        event = row.read()
    except Damaged:
        return {}
    return event if isinstance(event, dict) else {}


def _numbers(found: Any) -> list[int]:
    return [one for one in found if isinstance(one, int)] if isinstance(found, list) else []


def _with_arrived(batch: Batch, found: Any) -> Batch:
    gtins = {one for one in found if isinstance(one, str)} if isinstance(found, list) else set()
    return replace(batch, arrived=batch.arrived | gtins.intersection(batch.gtins))


def _time(written: Any) -> datetime | None:
    """Return when a call was made; None for anything that is not a time."""
    try:
        moment = datetime.fromisoformat(written)
        check_moment(moment)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else None


def state_of(gtins: tuple[str, ...], event: Mapping[str, Any]) -> Batch:
    """Return the state of a call from an event; an unknown word is "unknown"."""
    found = event.get("left_out")
    left_out = {gtin: str(found[gtin]) for gtin in gtins if gtin in found} if isinstance(found, dict) else {}
    gtins = tuple(gtin for gtin in gtins if gtin not in left_out)
    tracking = event.get("tracking")
    word: Any = event.get("state")
    if word == BEING_SENT:
        problem = "the process ended before the reply was received"
    elif word not in get_args(Sent) or (word == "sent" and tracking is None):
        problem = f"its file has the unknown state {word!r:.40}"
    elif tracking is not None and not is_identifier(str(tracking)):
        problem = f"its file has {tracking!r:.80}, which is not an identifier"
    else:
        identifier = None if tracking is None else str(tracking)
        return Batch(gtins, word, identifier, str(event.get("message") or ""), left_out=left_out)
    return Batch(gtins, "unknown", message=problem, left_out=left_out)
