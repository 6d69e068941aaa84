"""What all batches of an upsert come to together, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prodex.send.batch import Batch
from prodex.send.outcome import Outcome
from prodex.service.identifiers import canonical
from prodex.service.replies import RUNNING, SUCCESS

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
