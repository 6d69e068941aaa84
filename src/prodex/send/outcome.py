"""What is known of a batch: what became of its call, and what its tracking record says, held against what was sent.

Nothing is settled in silence: a record that contradicts itself or what was sent is never a success.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from prodex import gtin
from prodex.errors import InputError
from prodex.send.batches import Batch
from prodex.service.replies import ENDED, RUNNING, SUCCESS
from prodex.service.tracking_identifiers import canonical
from prodex.tables.envelope import count_of

#: An outcome that a record tells of a GTIN that was not sent.
UNEXPECTED = "unexpected"

_AS_A_WHOLE = "said of the import as a whole, not of this product"

Row = tuple[str, str, str]


@dataclass(frozen=True)
class Outcome:
    """What is known of one batch.

    Attributes
    ----------
    status
        A state of the service, or one of ours in small letters.
    message
        The service's words, and what contradicts.
    count
        Number of products, as the service counted them where it did.
    is_running
        Whether to ask again.
    products
        gtin, status and message of each product.
    record
        The tracking record as it came.
    """

    status: str
    message: str
    count: int
    is_running: bool
    products: tuple[Row, ...] = field(repr=False)
    record: Mapping[str, Any] = field(repr=False)


def outcome_of(batch: Batch, record: Mapping[str, Any] | None, problem: str, *, gave_up: bool) -> Outcome:
    """Return what is known of a batch.

    Parameters
    ----------
    record
        Its tracking record, or None while there is none.
    problem
        Why the service could not be asked, or "".
    gave_up
        Whether nobody asks any more.
    """
    if batch.tracking is None:
        rows = tuple((one, str(batch.sent), batch.message) for one in batch.gtins)
        return Outcome(batch.sent, batch.message, len(batch.gtins), False, rows, {})
    if record is None:
        status = "unknown" if problem else RUNNING
        rows = tuple((one, status, problem) for one in batch.gtins)
        return Outcome(status, problem, len(batch.gtins), not gave_up, rows, {})
    word = record.get("status")
    has_ended = isinstance(word, str) and word in ENDED
    notes = []
    if not has_ended and word != RUNNING:
        notes.append(
            "the tracking record has no status" if word is None else f"it says {word!r:.80}, no known status"
        )
    counted = count_of(record.get("count"))
    if batch.gtins and has_ended and word != "ERROR" and counted not in {None, len(batch.gtins)}:
        notes.append(f"the service counted {counted:,} products, and {len(batch.gtins):,} were sent")
    told, foreign = _told(record, batch.gtins)
    if foreign and batch.gtins:
        notes.append(f"it tells of {len(foreign):,} GTINs that were not sent, {foreign[0]} first")
    silent = [one for one in batch.gtins if _key(one) not in told] if told else []
    if word == SUCCESS and silent:
        notes.append(f"it says nothing of {len(silent):,} products that were sent, {silent[0]} first")
    if word == SUCCESS and (bad := sum(status != SUCCESS for status, _ in told.values())):
        notes.append(f"it says SUCCESS, but not of {bad:,} of its products")
    certain = has_ended and not (word == SUCCESS and notes)
    status = str(word) if certain or word == RUNNING else "unknown"
    message = " ".join([*([str(record["message"])] if record.get("message") else []), *map(_sentence, notes)])
    return Outcome(
        status,
        message or (problem if word == RUNNING else ""),
        len(batch.gtins) if counted is None else counted,
        not has_ended and not gave_up,
        tuple(_rows(batch, told, status, message)),
        record,
    )


def _rows(batch: Batch, told: Mapping[str, tuple[str, str]], status: str, message: str) -> Iterator[Row]:
    rest = dict(told)
    # With CONTAINS_ERRORS, nobody can tell how a product fared that is not named.
    untold = "unknown" if status == "CONTAINS_ERRORS" else status
    for one in batch.gtins:
        if (found := rest.pop(_key(one), None)) is not None:
            yield one, *found
        else:
            yield one, untold, message or (_AS_A_WHOLE if status == SUCCESS else "")
    for key, (said, words) in rest.items():
        if batch.gtins:
            yield (
                key,
                UNEXPECTED,
                f"the service says {said} of this GTIN, which was not sent. {words}".strip(),
            )
        else:  # an import that was not sent from here
            yield key, said, words


def _told(record: Mapping[str, Any], sent: tuple[str, ...]) -> tuple[dict[str, tuple[str, str]], list[str]]:
    """Return what a record says of products, by GTIN, and the GTINs among them that were not sent."""
    told: dict[str, tuple[str, str]] = {}
    listed = record.get("products")
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, Mapping):
            continue
        key, said = _key(entry.get("gtin")), (str(entry.get("status")), str(entry.get("message") or ""))
        if key in told and told[key][0] != said[0]:
            said = "unknown", f"the service says both {told[key][0]} and {said[0]} of it. {said[1]}".strip()
        told[key] = said
    ours = {_key(one) for one in sent}
    return told, [key for key in told if key not in ours]


def _key(value: Any) -> str:
    """Return a GTIN as 14 digits, whatever its check digit: services leave zeros out."""
    try:
        return gtin.comparable(value) or ""
    except InputError:
        return str(value)


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."


#: What all batches together can come to, the worst first. Words in small letters are ours, the others the service's.
_WORST_FIRST = (
    RUNNING,
    "unknown",
    "refused",
    "not sent",
    "TIMEOUT",
    "ERROR",
    "CONTAINS_ERRORS",
    "accepted",
    "EMPTY",
    SUCCESS,
)

_WHAT_TO_DO = {
    "unknown": "The answer was lost: the import may have happened. Load the products to see, then send again what is "
    'missing: send_rest(also="unknown").',
    "accepted": "The service took these products, but nobody can ask what became of them. Load them to see.",
    "refused": 'When the reason is gone, send_rest(also="refused") sends these again.',
    "not sent": "send_rest() sends these.",
    "TIMEOUT": "The import did not end at the service. Contact its support and name the tracking identifier.",
}


def status_of_all(outcomes: Sequence[Outcome]) -> str:
    """Return the worst status, and IN_PROGRESS as long as one batch is."""
    found = {outcome.status for outcome in outcomes}
    return next((status for status in _WORST_FIRST if status in found), "EMPTY")


def message_of_all(batches: Sequence[Batch], outcomes: Sequence[Outcome]) -> str:
    """Return what the service says, what contradicts, and what to do."""
    said = [outcome.message for outcome in outcomes]
    times = Counter(batch.tracking for batch in batches if batch.tracking is not None)
    twice = [
        f"The service gave the tracking identifier {identifier} for {number} calls, so nobody can tell them apart."
        for identifier, number in times.items()
        if number > 1
    ]
    hints = [
        _WHAT_TO_DO.get(outcome.status, "")
        for batch, outcome in zip(batches, outcomes, strict=True)
        if batch.tracking is None or outcome.status == "TIMEOUT"
    ]
    return " ".join(dict.fromkeys(text for text in (*said, *twice, *hints) if text))


def still_running(batches: Sequence[Batch], outcomes: Sequence[Outcome], timeout: float) -> str:
    """Say which imports still run when the time to wait for them is over."""
    running = [
        (batch.tracking, outcome)
        for batch, outcome in zip(batches, outcomes, strict=True)
        if outcome.is_running and batch.tracking is not None
    ]
    ids = [canonical(identifier) for identifier, _ in running[:20]]
    odd = next((outcome.message for _, outcome in running if outcome.status != RUNNING), "")
    return (
        f"{len(running)} of {len(batches)} imports still ran after {timeout:g} s. They go on at the service; "
        f"prodex.track(service, {ids}) picks them up at any time. {odd}".rstrip()
    )


def batches_frame(batches: Sequence[Batch], outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return one row for each batch."""
    rows = [
        (
            outcome.status,
            outcome.count,
            outcome.record.get("createdAt"),
            outcome.message,
            named(outcome.record.get("user"), "username"),
            named(outcome.record.get("organization"), "nameLegal"),
            outcome.record.get("endpoint"),
        )
        for outcome in outcomes
    ]
    columns = ["status", "count", "created_at", "message", "user", "organization", "endpoint"]
    frame = pd.DataFrame(rows, columns=columns).astype({"count": "Int64"})
    frame.insert(0, "tracking", _identifiers([batch.tracking for batch in batches]))
    return frame


def products_frame(batches: Sequence[Batch], outcomes: Sequence[Outcome]) -> pd.DataFrame:
    """Return one row for each product."""
    rows = [row for outcome in outcomes for row in outcome.products]
    frame = pd.DataFrame(rows, columns=["gtin", "status", "message"])
    pairs = zip(batches, outcomes, strict=True)
    frame["tracking"] = _identifiers([batch.tracking for batch, outcome in pairs for _ in outcome.products])
    return frame


def named(value: Any, name: str) -> str | None:
    """Return what an object of a tracking record is called."""
    if not isinstance(value, Mapping):
        return None if value is None else str(value)
    return str(value.get(name) or value.get("id") or "") or None


def _identifiers(texts: Sequence[str | None]) -> pd.Series[Any]:
    """Return identifiers as whole numbers where 64 bits hold all of them, else as text: every digit counts."""
    distinct = {text: canonical(text) for text in set(texts) if text is not None}
    if all(isinstance(one, int) and one < 2**63 for one in distinct.values()):
        return pd.Series([None if text is None else distinct[text] for text in texts], dtype="Int64")
    return pd.Series(list(texts), dtype="str")
