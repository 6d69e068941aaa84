"""Sending the batches of a plan: each written down before it leaves and after its answer, and sent once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from prodex.errors import (
    AuthenticationFailed,
    IdentifierUnreadable,
    InputError,
    OutcomeUnknown,
    RedirectRefused,
    RequestRefused,
    ServiceError,
    StorageError,
    UpsertStopped,
)
from prodex.progress import Progress, showing
from prodex.send.batches import ARRIVED, Batch
from prodex.send.changes import refuse_changed
from prodex.send.journal import UpsertJournal, host_of
from prodex.service import Client
from prodex.service.tracking_identifiers import canonical

# A redirect that says "it is done, look there" (RFC 9110, 15.4.3 and 15.4.4): the products may have been taken.
_DONE_ELSEWHERE = frozenset({302, 303})


def numbers_to_send(
    service: Client, journal: UpsertJournal, batches: Sequence[Batch], also: Collection[str]
) -> list[int]:
    """Return which batches of a plan may be sent now.

    Raises
    ------
    InputError
        When their products are not kept here, or belong to another service or access key.
    ChangesStale
        When a product was changed since its corrections were merged with what was loaded.
    """
    numbers = [number for number, batch in enumerate(batches) if batch.sent in {"not sent", *also}]
    if not numbers:
        return []
    if not journal.keeps_payloads:
        raise InputError(
            f"The products of {journal.name} are not kept here any more, so they cannot be sent. Upsert them again "
            "from where they came: .products names those that were not sent."
        )
    if (journal.host, journal.key) != (host_of(service.base_url), service.fingerprint):
        raise InputError(
            f"The upsert {journal.name} was planned for {journal.host} and the access key of then; this service is "
            f"{host_of(service.base_url)}, with another key. Connect with those."
        )
    loaded = [one for number in numbers for one in journal.loaded(number)]
    refuse_changed(service, loaded, journal.extra)
    return numbers


def send(
    service: Client, journal: UpsertJournal, numbers: Sequence[int], batches: list[Batch], progress: Progress
) -> None:
    """Send batches of a plan, one after the other, and put into `batches` what became of each.

    The sending stops at a refusal, when the service cannot be reached, and when two answers in a row are lost.

    Raises
    ------
    UpsertStopped
        When the disk refuses to take down what becomes of them; the rest is not sent.
    ServiceError
        When nothing of the upsert ever arrived.
    """
    total, done, last = sum(len(batches[number].gtins) for number in numbers), 0, ""
    with showing(progress, "Sent") as show:
        for place, number in enumerate(numbers):
            body = journal.payload(number)
            with _on_disk(batches, f"before batch {number}"):
                journal.sending(number)
            batches[number], error = _sent(service, body, journal.content_type, batches[number].gtins)
            with _on_disk(batches, f"after batch {number}"):
                journal.ended(number, batches[number])
            done += len(batches[number].gtins)
            show(done, total)
            why = f"the sending stopped at batch {number}" if error else ""
            if last == batches[number].sent == "unknown":
                why = "two answers in a row were lost"
            last = batches[number].sent
            if why and place + 1 < len(numbers):
                _stop(journal, numbers[place + 1 :], batches, why)
            if error is not None and not any(one.sent in ARRIVED for one in batches):
                raise error
            if why:
                break
    if all(batch.sent in {"sent", "accepted"} for batch in batches):
        journal.discard_payloads()


def _sent(
    service: Client, body: bytes, content_type: str, gtins: tuple[str, ...]
) -> tuple[Batch, ServiceError | None]:
    """Send one batch; return what became of it, and the error when it certainly did not arrive."""
    try:
        return Batch(gtins, "sent", str(service.upsert_products(body, content_type))), None
    except IdentifierUnreadable as error:
        return Batch(gtins, "accepted", message=str(error)), None
    except OutcomeUnknown as error:
        return Batch(gtins, "unknown", message=str(error)), None
    except (RequestRefused, AuthenticationFailed) as error:
        return Batch(gtins, "refused", message=str(error)), error
    except RedirectRefused as error:
        if error.status in _DONE_ELSEWHERE:
            return Batch(gtins, "unknown", message=str(error)), None
        return Batch(gtins, "not sent", message=str(error)), error
    except ServiceError as error:
        return Batch(gtins, "not sent", message=str(error)), error


def _stop(journal: UpsertJournal, rest: Sequence[int], batches: list[Batch], why: str) -> None:
    with _on_disk(batches, f"before batch {rest[0]}"):
        journal.stopped(why)
    for number in rest:
        if batches[number].sent == "not sent":
            batches[number] = Batch(batches[number].gtins, "not sent", message=why)


@contextmanager
def _on_disk(batches: Sequence[Batch], where: str) -> Iterator[None]:
    """Let a disk that refuses stop the sending with all that is known."""
    try:
        yield
    except StorageError as error:
        ids = [canonical(one.tracking) for one in batches if one.tracking is not None]
        raise UpsertStopped(
            f"{error} The sending stopped {where}. Note the tracking identifiers: {ids}. .tracking of this error has "
            "what became of each product, and its send_rest() sends the rest once there is space."
        ) from error
