"""Sending the batches of a plan: each one once, with an event in its file before the call and after its reply."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from prodex.advice import PythonCall, advice
from prodex.errors import (
    AuthenticationFailed,
    IdentifierUnreadable,
    InputError,
    OtherLayout,
    OutcomeUnknown,
    RedirectRefused,
    RequestRefused,
    ServiceError,
    StorageError,
    UpsertStopped,
)
from prodex.ledger.batch import ARRIVED, Batch, Sent
from prodex.ledger.earlier_records import earlier_records
from prodex.ledger.upsert_file import UpsertFile, host_of
from prodex.progress import Progress, showing
from prodex.send.batches import encoding_of
from prodex.send.products_now import find_changed, refuse_changed
from prodex.send.records import Product
from prodex.service import Client
from prodex.service.replies import canonical

#: Why a product is left out of a call whose payload is known as a whole only.
_TOGETHER: Final = "it is sent in one piece with a product that somebody has changed meanwhile"


def read_also(also: str | Collection[str], allowed: Collection[str]) -> set[str]:
    """Return the states in which products are sent again, as somebody has given them.

    Raises
    ------
    InputError
        When one of them is another word.
    """
    words = {also} if isinstance(also, str) else set(also)
    if wrong := words - set(allowed):
        every = " or ".join(map(repr, sorted(allowed)))
        raise InputError(f"also is {min(map(str, wrong))!r}; give {every}{', or both' * (len(allowed) > 1)}.")
    return words


def numbers_to_send(
    service: Client, file: UpsertFile, batches: Sequence[Batch], states: Collection[str]
) -> list[int]:
    """Return the numbers of the batches in some states that may be sent now.

    Those that a later upsert sends instead are left out, and those that have arrived after all.

    Raises
    ------
    InputError
        When their payloads are not here, or belong to another service or access key.
    ChangesStale
        When a product has changed since its corrections were merged with the loaded one.
    """
    numbers = [number for number, batch in enumerate(batches) if batch.sent in states and not batch.is_done]
    if not numbers:
        return []
    if not file.keeps_payloads:
        raise InputError(
            f"The payloads of {file.name} are no longer here, so they cannot be sent. Upsert the products again: "
            ".products contains those that were not sent."
        )
    # Sent with another key, the products would become those of another organisation.
    if not file.is_of(service.base_url, service.fingerprint):
        raise InputError(
            f"The upsert {file.name} was planned for {file.plan.host} and the access key of then; this service "
            f"is {host_of(service.base_url)}, with another key. Connect with those."
        )
    loaded = {
        gtin: one
        for number in numbers
        for gtin, one in file.loaded(number).items()
        if gtin in batches[number].gtins
    }
    refuse_changed(service, loaded, file.plan.extra)
    return numbers


def send_batches(
    service: Client, file: UpsertFile, numbers: Sequence[int], batches: list[Batch], progress: Progress
) -> None:
    """Send batches of a plan, one after the other, and put the state of each into `batches`.

    Before each of several calls its corrected products are looked at once more. Those that somebody has changed since
    they were merged are left out of it, and are not sent.

    Sending stops at a refusal, when the service cannot be reached, and after two lost replies in a row: every
    further call would probably leave more products in an unknown state.

    Raises
    ------
    UpsertStopped
        When the state of a batch cannot be recorded; the rest is not sent.
    ServiceError
        When no batch of the upsert has arrived.
    """
    total, last = sum(len(batches[number].gtins) for number in numbers), ""
    with showing(progress, "Sent", total=total, phase="Sending") as phase:
        for place, number in enumerate(numbers):
            left_out, error = {}, None
            try:
                # The only call was looked at a moment ago, before it was planned; of several, each takes its time.
                left_out = _changed(service, file, number, batches[number]) if len(numbers) > 1 else {}
            except ServiceError as failed:
                error = failed
            # What may have arrived is no longer as it was, and not "not sent".
            if left_out and batches[number].sent in ARRIVED:
                continue
            if error is None:
                error = _send_batch(service, file, number, batches, left_out)
            else:
                _stop(file, [number], batches, f"the products could not be requested once more: {error}")
            phase.add(len(batches[number].gtins))
            why = f"sending stopped at batch {number}" if error else ""
            if last == batches[number].sent == "unknown":
                why = "two replies in a row were lost"
            last = batches[number].sent
            if why and place + 1 < len(numbers):
                _stop(file, numbers[place + 1 :], batches, why)
            # If nothing has arrived, the error is more useful than a tracking in which everything has failed.
            if error is not None and not any(one.sent in ARRIVED for one in batches):
                raise error
            if why:
                break
    # Payloads may be confidential, so they are kept only as long as `send_rest` may need them.
    if all(batch.is_done for batch in batches):
        file.discard_payloads()


def _changed(service: Client, file: UpsertFile, number: int, batch: Batch) -> dict[str, str]:
    """Return the products of a batch that are not as they were when their corrections were merged, and why.

    Raises
    ------
    ServiceError
        When they cannot be requested.
    """
    loaded = {gtin: one for gtin, one in file.loaded(number).items() if gtin in batch.gtins}
    before: dict[str, Product] = {}
    if loaded and file.keeps_earlier_records:
        kept = earlier_records(file.name, batch.gtins)
        before = {one.product: one.before for one in kept if one.before is not None}
    attributes = file.plan.attributes or ()
    found = find_changed(service, loaded, attributes, before, file.plan.extra)
    if found and file.sizes(number) is None:
        return {gtin: found.get(gtin, _TOGETHER) for gtin in batch.gtins}
    return found


def _send_batch(
    service: Client,
    file: UpsertFile,
    number: int,
    batches: list[Batch],
    left_out: Mapping[str, str],
) -> ServiceError | None:
    """Send one batch without some of its products, and record it; return the error if it certainly did not arrive."""
    planned = batches[number]
    left_out = {**planned.left_out, **left_out}
    gtins = tuple(gtin for gtin in planned.gtins if gtin not in left_out)
    if not gtins:
        batches[number] = Batch((), "not sent", left_out=left_out)
        with _stopping(batches, f"before batch {number}"):
            file.end_sending(number, batches[number])
        return None
    body = file.payload(number)
    if left_out:
        places = {place for place, gtin in enumerate(file.gtins(number)) if gtin in left_out}
        body = encoding_of(file.plan.content_type).without(body, file.sizes(number) or (), places)
    with _stopping(batches, f"before batch {number}"):
        # Before the call: if this process is killed during it, the batch must not count as "not sent".
        file.begin_sending(number, left_out, service.last_date)
    made, error = _call(service, body, file.plan.content_type, gtins)
    batches[number] = replace(made, left_out=left_out)
    with _stopping(batches, f"after batch {number}"):
        file.end_sending(number, batches[number], service.last_date)
    return error


def _call(
    service: Client, body: bytes, content_type: str, gtins: tuple[str, ...]
) -> tuple[Batch, ServiceError | None]:
    """Send one batch; return its state, and the error if it certainly did not arrive."""
    try:
        return Batch(gtins, "sent", str(service.upsert_products(body, content_type))), None
    except ServiceError as error:
        state = _state_after(error)
        return Batch(gtins, state, message=str(error)), None if state in ARRIVED else error


def _state_after(error: ServiceError) -> Sent:
    match error:
        # Before its base class OutcomeUnknown: here it is certain that the service has the products.
        case IdentifierUnreadable():
            return "accepted"
        case OutcomeUnknown():
            return "unknown"
        case RequestRefused() | AuthenticationFailed():
            return "refused"
    # Redirects with which a server may answer that it is done (RFC 9110, 15.4.3 and 15.4.4): it may have the products.
    return "unknown" if isinstance(error, RedirectRefused) and error.status in {302, 303} else "not sent"


def _stop(file: UpsertFile, rest: Sequence[int], batches: list[Batch], why: str) -> None:
    with _stopping(batches, f"before batch {rest[0]}"):
        file.stop(why)
    for number in rest:
        if batches[number].sent == "not sent":
            batches[number] = replace(batches[number], message=why)


@contextmanager
def _stopping(batches: Sequence[Batch], where: str) -> Iterator[None]:
    """Turn an error of the disk, or of the file, into an `UpsertStopped` with all states."""
    try:
        yield
    except (InputError, OtherLayout, StorageError) as error:
        ids = [canonical(one.tracking) for one in batches if one.tracking is not None]
        raise UpsertStopped(
            advice(
                "{error} Sending stopped {where}. Note the tracking identifiers: {ids}. {rest} sends the rest once "
                "there is space.",
                error=error,
                where=where,
                ids=ids,
                rest=PythonCall(".tracking of this error has the state of each product, and its send_rest()"),
            )
        ) from error
