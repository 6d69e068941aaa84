"""The outcome of each batch and each product: call and tracking record, compared with what was sent.

A record that contradicts itself, or what was sent, never counts as success; the contradiction is in the message.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from prodex.advice import Advice, PythonCall, advice, together
from prodex.gtin import gtin_key
from prodex.ledger.batch import Batch
from prodex.phrases import counted
from prodex.service.replies import ENDED, RUNNING, SUCCESS, canonical
from prodex.tables.envelope import count_of

#: The status of a GTIN in a record that was not sent.
UNEXPECTED = "unexpected"

_SEEN = "nothing is known of its import, and the product has what was sent"
_AS_A_WHOLE = "the status of the import as a whole, not of this product"

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one batch, as far as it is known.

    Attributes
    ----------
    batch
        The batch.
    status
        A state of the service in upper case, or one of prodex in lower case.
    message
        The message of the service, and contradictions.
    count
        Number of products: as the service has counted them once the import has ended, and as sent until then.
    is_running
        Whether to poll the import again.
    products
        gtin, status and message of each product.
    record
        The tracking record as received.
    """

    batch: Batch
    status: str
    message: str
    count: int
    is_running: bool
    products: tuple[Row, ...] = field(repr=False)
    record: Mapping[str, Any] = field(repr=False)

    @property
    def statuses(self) -> dict[str, str]:
        """The status of each product by the key of its GTIN."""
        return {gtin_key(gtin): status for gtin, status, _ in self.products}


def outcome_of(batch: Batch, record: Mapping[str, Any] | None, problem: str, *, gave_up: bool) -> Outcome:
    """Return the outcome of a batch.

    Parameters
    ----------
    record
        Its tracking record, or None while there is none.
    problem
        Why the last request for it failed, or "".
    gave_up
        Whether it is no longer polled.
    """
    # Without an identifier the service cannot be asked, so the state of the call is all that is known.
    if batch.tracking is None:
        return _without_record(batch, batch.sent, batch.message, is_running=False)
    # "unknown" only if the request for it failed; before the first request the import is simply running.
    if record is None:
        return _without_record(batch, "unknown" if problem else RUNNING, problem, is_running=not gave_up)
    word = record.get("status")
    has_ended = isinstance(word, str) and word in ENDED
    notes = []
    if not has_ended and word != RUNNING:
        notes.append(
            "the tracking record has no status" if word is None else f"its status {word!r:.80} is unknown"
        )
    announced = count_of(record.get("count"))
    # Before it has read a payload, a service may count no products, or some of them.
    count = len(batch.gtins) if announced is None or (batch.gtins and not has_ended) else announced
    if batch.gtins and has_ended and word != "ERROR" and announced not in {None, len(batch.gtins)}:
        notes.append(
            f"the service counted {counted(announced or 0, 'product')}, and {len(batch.gtins):,} were sent"
        )
    statuses, unexpected = _statuses(record, batch.gtins)
    if unexpected and batch.gtins:
        notes.append(
            f"the record contains {counted(len(unexpected), 'GTIN')} beyond those sent, {unexpected[0]} first"
        )
    absent = [one for one in batch.gtins if gtin_key(one) not in statuses] if statuses else []
    if word == SUCCESS and absent:
        notes.append(f"the record lacks {counted(len(absent), 'product')} of those sent, {absent[0]} first")
    if word == SUCCESS and (bad := sum(status != SUCCESS for status, _ in statuses.values())):
        notes.append(f"the status is SUCCESS, but that of {counted(bad, 'product')} is another")
    # A failure is believed as it is. A success has to agree with what was sent, or products could be lost unnoticed.
    certain = has_ended and not (word == SUCCESS and notes)
    status = str(word) if certain or word == RUNNING else "unknown"
    message = " ".join(
        [*([str(record["message"])] if record.get("message") else []), *map(_as_sentence, notes)]
    )
    return Outcome(
        batch,
        status,
        message or (problem if word == RUNNING else ""),
        count,
        not has_ended and not gave_up,
        tuple(_product_rows(batch, statuses, status, message)),
        record,
    )


def _without_record(batch: Batch, status: str, message: str, *, is_running: bool) -> Outcome:
    """Return the outcome of a batch of which the service says nothing; its products may show more."""
    rows = tuple(
        (one, SUCCESS, _SEEN) if one in batch.arrived else (one, status, message) for one in batch.gtins
    )
    if batch.has_arrived:
        status, message, is_running = SUCCESS, _SEEN, False
    return Outcome(batch, status, message, len(batch.gtins), is_running, rows, {})


def _product_rows(
    batch: Batch, statuses: Mapping[str, tuple[str, str]], status: str, message: str
) -> Iterator[Row]:
    # What remains after all sent GTINs were found is about products that were not sent.
    rest = dict(statuses)
    # With CONTAINS_ERRORS, the status of a product that is not in the record is not known.
    status_of_others = "unknown" if status == "CONTAINS_ERRORS" else status
    for one in batch.gtins:
        if (found := rest.pop(gtin_key(one), None)) is not None:
            yield one, *found
        else:
            yield one, status_of_others, message or (_AS_A_WHOLE if status == SUCCESS else "")
    for key, (of_record, text) in rest.items():
        problem = f"the record has {of_record} for this GTIN, which was not sent. {text}".strip()
        # Without GTINs of its own, the import was not sent from here, so that nothing in its record is unexpected.
        yield (key, UNEXPECTED, problem) if batch.gtins else (key, of_record, text)


def _statuses(
    record: Mapping[str, Any], sent: tuple[str, ...]
) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return status and message of the products in a record by GTIN, and the GTINs among them that were not sent."""
    statuses: dict[str, tuple[str, str]] = {}
    listed = record.get("products")
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, Mapping):
            continue
        key, found = gtin_key(entry.get("gtin")), (str(entry.get("status")), str(entry.get("message") or ""))
        if key in statuses and statuses[key][0] != found[0]:
            found = "unknown", f"the record has both {statuses[key][0]} and {found[0]}. {found[1]}".strip()
        statuses[key] = found
    ours = {gtin_key(one) for one in sent}
    return statuses, [key for key in statuses if key not in ours]


def _as_sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}" + "." * (note[-1] not in ".!?")


#: The statuses of batches, the worst first, and what to do. Those in lower case are of prodex, the others of the
#: service. A running import is first: as long as there is one, the other statuses may still change.
_WORST_FIRST: Mapping[str, str] = {
    RUNNING: "",
    "unknown": advice(
        "The reply was lost: the import may have happened. Load the products to check, then send missing ones with "
        "{it}.",
        it=PythonCall('send_rest(also="{what}")', what="unknown"),
    ),
    "refused": advice(
        "When the reason is removed, {it} sends these again.",
        it=PythonCall('send_rest(also="{what}")', what="refused"),
    ),
    "not sent": advice("{it} sends these.", it=PythonCall("send_rest()")),
    "TIMEOUT": "The import did not end at the service. Contact its support with the tracking identifier.",
    "ERROR": "",
    "CONTAINS_ERRORS": "",
    "accepted": "The service accepted these products, but their import cannot be tracked. Load them to check.",
    "EMPTY": "",
    SUCCESS: "",
}


_LEFT_OUT = "What was changed meanwhile is not sent: apply the answers again, or correct the products as they are now."


def status_of_all(outcomes: Sequence[Outcome]) -> str:
    """Return the worst status; IN_PROGRESS as long as one batch is."""
    found = {outcome.status for outcome in outcomes}
    return next((status for status in _WORST_FIRST if status in found), "EMPTY")


def message_of_all(outcomes: Sequence[Outcome]) -> Advice:
    """Return the messages of the service, contradictions, and what to do."""
    # Why a call was not made, or has no outcome, is a note of ours; what the service says is left as it is.
    messages = [
        _as_sentence(one.message) if one.message and one.batch.tracking is None else one.message
        for one in outcomes
    ]
    times = Counter(one.batch.tracking for one in outcomes if one.batch.tracking is not None)
    twice = [
        f"The service sent the tracking identifier {identifier} for {number} calls, so their outcomes cannot be "
        "told apart."
        for identifier, number in times.items()
        if number > 1
    ]
    hints = [
        _WORST_FIRST.get(outcome.status, "")
        for outcome in outcomes
        if (
            outcome.batch.tracking is None
            and not outcome.batch.continued_by
            and not outcome.batch.is_left_out
        )
        or outcome.status == "TIMEOUT"
    ]
    left_out = _LEFT_OUT if any(one.batch.is_left_out for one in outcomes) else ""
    return together(*dict.fromkeys(text for text in (*messages, *twice, *hints, left_out) if text))


def running_in_words(outcomes: Sequence[Outcome], timeout: float) -> Advice:
    """Return which imports are still running when the time to wait is over, in words."""
    running = [one for one in outcomes if one.is_running]
    ids = [canonical(str(one.batch.tracking)) for one in running[:20]]
    odd = next((one.message for one in running if one.status != RUNNING), "")
    return advice(
        "{running} of {count} imports were still running after {seconds} s. They continue at the service; {track} "
        "follows them at any time.{odd}",
        running=len(running),
        count=len(outcomes),
        seconds=f"{timeout:g}",
        track=PythonCall("prodex.track(service, {ids})", ids=ids, words=" ".join(map(str, ids))),
        odd=f" {odd}".rstrip(),
    )


def batches_frame(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return one row for each batch."""
    records = [outcome.record for outcome in outcomes]
    return pd.DataFrame(
        {
            "tracking": _identifiers([outcome.batch.tracking for outcome in outcomes]),
            "status": [outcome.status for outcome in outcomes],
            "count": pd.Series([outcome.count for outcome in outcomes], dtype="Int64"),
            "created_at": [record.get("createdAt") for record in records],
            "message": [outcome.message for outcome in outcomes],
            "user": [name_in(record.get("user"), "username") for record in records],
            "organization": [name_in(record.get("organization"), "nameLegal") for record in records],
            "endpoint": [record.get("endpoint") for record in records],
        }
    )


def products_frame(outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return one row for each product."""
    rows = [row for outcome in outcomes for row in outcome.products]
    frame = pd.DataFrame(rows, columns=["gtin", "status", "message"])
    frame["tracking"] = _identifiers(
        [outcome.batch.tracking for outcome in outcomes for _ in outcome.products]
    )
    return frame


def name_in(value: Any, name: str) -> str | None:
    """Return the name of an object of a tracking record: user or organization."""
    if not isinstance(value, Mapping):
        return None if value is None else str(value)
    return str(value.get(name) or value.get("id") or "") or None


def _identifiers(texts: Sequence[str | None]) -> pd.Series[Any]:
    """Return identifiers as whole numbers if all of them fit into 64 bits, else as text: every digit counts."""
    distinct = {text: canonical(text) for text in set(texts) if text is not None}
    if all(isinstance(one, int) and one < 2**63 for one in distinct.values()):
        return pd.Series([None if text is None else distinct[text] for text in texts], dtype="Int64")
    return pd.Series(list(texts), dtype="str")
