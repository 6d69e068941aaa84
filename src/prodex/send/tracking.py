"""Following imports: what the service makes of the products that were sent (spec, endpoint 8)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pandas as pd

from prodex import gtin
from prodex.errors import InputError, TrackingTimeout
from prodex.send.display import html_of, text_of
from prodex.send.journal import Batch, Journal
from prodex.service import Client
from prodex.service.progress import Progress, showing
from prodex.service.settings import is_loopback

#: What a batch can come to, the worst first. Words in small letters are ours, the others the service's.
_WORST_FIRST = (
    "IN_PROGRESS",
    "unknown",
    "not sent",
    "refused",
    "TIMEOUT",
    "ERROR",
    "CONTAINS_ERRORS",
    "EMPTY",
    "SUCCESS",
)

_WHAT_TO_DO = {
    "unknown": "The answer was lost: the import may have happened. Load the products to see, then send again what is "
    "missing.",
    "not sent": "Send these again once the way to the service is clear.",
    "TIMEOUT": "The import did not end at the service. Contact its support and name the tracking identifier.",
}

# Seconds between two rounds of questions: from the first pause to the longest, each twice the one before.
_PAUSES = (2.0, 60.0)
_PAUSES_ON_LOOPBACK = (0.02, 1.0)


class Tracking:
    """What became of products that were sent: one record for each batch, asked for again by `wait` and `refresh`.

    Made by `prodex.upsert` and `prodex.track`.

    Attributes
    ----------
    findings
        What was found before sending; a frame of gtin, attribute, severity, problem and what_to_do.
    path
        The file that keeps the tracking identifiers, or None for imports that were not sent from here.
    """

    def __init__(
        self,
        service: Client,
        batches: Iterable[Batch],
        *,
        path: Path | None = None,
        findings: pd.DataFrame | None = None,
    ) -> None:
        self._service = service
        self._sent = tuple(batches)
        self._records: dict[int, Mapping[str, Any]] = {}
        self.path = path
        self.findings = pd.DataFrame() if findings is None else findings

    @property
    def tracking_ids(self) -> list[int]:
        """The tracking identifiers, in the order of sending."""
        return [batch.tracking for batch in self._sent if batch.tracking is not None]

    @property
    def status(self) -> str:
        """The status of all batches together: the worst, and IN_PROGRESS as long as one of them is.

        Beside the six of the service (EMPTY, IN_PROGRESS, ERROR, CONTAINS_ERRORS, SUCCESS, TIMEOUT) there are three
        of our own: "unknown" (the answer was lost), "refused" and "not sent".
        """
        found = {self._status(batch) for batch in self._sent}
        return next((status for status in _WORST_FIRST if status in found), "EMPTY")

    @property
    def message(self) -> str:
        """What the service says of what failed, and what to do where we know."""
        said = [self._message(batch) for batch in self._sent]
        hints = [_WHAT_TO_DO.get(self._status(batch), "") for batch in self._sent]
        return " ".join(dict.fromkeys(text for text in (*said, *hints) if text))

    @property
    def count(self) -> int:
        """Number of products in the payloads, as the service counted them where it did."""
        return sum(self._count(batch) for batch in self._sent)

    @property
    def created_at(self) -> str | None:
        """When the first import was made, as the service writes it."""
        return _named(self._first("createdAt"), "")

    @property
    def user(self) -> str | None:
        """Who sent it, by the service's account."""
        return _named(self._first("user"), "username")

    @property
    def organization(self) -> str | None:
        """Whose import it is."""
        return _named(self._first("organization"), "nameLegal")

    @property
    def endpoint(self) -> str | None:
        """API for a write through upsert, IMPORT for the import of a file."""
        return _named(self._first("endpoint"), "")

    @property
    def done(self) -> bool:
        """Whether no import is running any more."""
        return self.status != "IN_PROGRESS"

    @property
    def records(self) -> dict[int, Mapping[str, Any]]:
        """The tracking records as they came, by tracking identifier."""
        return dict(self._records)

    @property
    def batches(self) -> pd.DataFrame:
        """One row for each batch, in the order of sending."""
        rows = [
            {
                "tracking": batch.tracking,
                "status": self._status(batch),
                "count": self._count(batch),
                "created_at": self._record(batch).get("createdAt"),
                "message": self._message(batch),
                "user": _named(self._record(batch).get("user"), "username"),
                "organization": _named(self._record(batch).get("organization"), "nameLegal"),
                "endpoint": self._record(batch).get("endpoint"),
            }
            for batch in self._sent
        ]
        frame = pd.DataFrame(rows, columns=list(_BATCH_COLUMNS))
        return frame.astype({"tracking": "Int64", "count": "Int64"})

    @property
    def products(self) -> pd.DataFrame:
        """One row for each product sent: gtin, status, message, tracking.

        Where the service gives no outcome of a product, the status is that of its batch.
        """
        rows = [row for batch in self._sent for row in self._outcomes(batch)]
        frame = pd.DataFrame(rows, columns=["gtin", "status", "message", "tracking"])
        return frame.astype({"tracking": "Int64"})

    @property
    def failed(self) -> pd.DataFrame:
        """The rows of `products` that are neither SUCCESS nor still running: failed, or nobody knows."""
        products = self.products
        return products[~products["status"].isin(["SUCCESS", "IN_PROGRESS"])].reset_index(drop=True)

    def refresh(self) -> Self:
        """Ask the service once for each import that is not known to have ended."""
        for batch in self._sent:
            if batch.tracking is not None and self._status(batch) == "IN_PROGRESS":
                self._records[batch.tracking] = self._service.track(batch.tracking)
        return self

    def wait(self, timeout: float = 3600, *, progress: Progress = None) -> Self:
        """Wait until every import has ended.

        Asks after 2, 4, 8 ... seconds, at last every 60; far more often on this machine.

        Parameters
        ----------
        timeout
            Seconds after which to give up waiting.
        progress
            A bar where somebody is watching (None), always (True), never (False), or a function of (done, total).

        Raises
        ------
        TrackingTimeout
            When one still runs then. It goes on at the service; `prodex.track` picks it up at any time.
        """
        begin = time.monotonic()
        pause, longest = _PAUSES_ON_LOOPBACK if is_loopback(self._service.base_url) else _PAUSES
        total = sum(len(batch.gtins) for batch in self._sent) or self.count
        with showing(progress, "Imported") as show:
            while not self.refresh().done:
                show(self._ended(), total)
                left = begin + timeout - time.monotonic()
                if left <= 0:
                    running = [b.tracking for b in self._sent if self._status(b) == "IN_PROGRESS"]
                    raise TrackingTimeout(
                        f"{len(running)} of {len(self._sent)} imports still ran after {timeout:g} s. They go on at the "
                        f"service; prodex.track(service, {running[:20]}) picks them up at any time."
                    )
                time.sleep(min(pause, left))
                pause = min(2 * pause, longest)
            show(self._ended(), total)
        return self

    def _ended(self) -> int:
        return sum(len(batch.gtins) for batch in self._sent if self._status(batch) != "IN_PROGRESS")

    def _record(self, batch: Batch) -> Mapping[str, Any]:
        return {} if batch.tracking is None else self._records.get(batch.tracking, {})

    def _count(self, batch: Batch) -> int:
        count = self._record(batch).get("count")
        return count if isinstance(count, int) else len(batch.gtins)

    def _status(self, batch: Batch) -> str:
        if batch.tracking is None:
            return batch.sent
        return str(self._record(batch).get("status", "IN_PROGRESS"))

    def _message(self, batch: Batch) -> str:
        return str(self._record(batch).get("message") or batch.message)

    def _first(self, name: str) -> Any:
        return next(
            (self._record(batch)[name] for batch in self._sent if self._record(batch).get(name)), None
        )

    def _outcomes(self, batch: Batch) -> Iterator[tuple[str, str, str, int | None]]:
        told: dict[str, tuple[str, str]] = {}
        listed = self._record(batch).get("products")
        for outcome in listed if isinstance(listed, list) else ():
            if isinstance(outcome, Mapping):
                told[_gtin(outcome.get("gtin"))] = (
                    str(outcome.get("status")),
                    str(outcome.get("message") or ""),
                )
        # With CONTAINS_ERRORS alone, nobody can tell how a product fared that is not named.
        status = self._status(batch)
        untold = ("unknown" if status == "CONTAINS_ERRORS" else status), self._message(batch)
        for one in dict.fromkeys((*batch.gtins, *told)):
            yield (one, *told.get(one, untold), batch.tracking)

    def __repr__(self) -> str:
        return text_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def statuses(self) -> Counter[str]:
        """Count the products by status."""
        return Counter(self.products["status"].tolist())


_BATCH_COLUMNS = ("tracking", "status", "count", "created_at", "message", "user", "organization", "endpoint")


def track(service: Client, ids: int | Sequence[int] | None = None) -> Tracking:
    """Pick up imports that were sent before, from this process or any other.

    Parameters
    ----------
    service
        From `prodex.connect`, with the access key that sent them.
    ids
        Tracking identifiers; without any, those of the last `upsert` to this service from this machine.

    Returns
    -------
    Tracking
        With what the service knows now; `.wait()` waits for the end.

    Raises
    ------
    RequestRefused
        When the service does not know one of them.
    InputError
        When nothing was sent from here, and no identifiers are given.
    """
    if ids is None:
        journal = Journal.latest(service.base_url)
        return Tracking(service, journal.batches(), path=journal.path).refresh()
    wanted = [ids] if isinstance(ids, int) else list(ids)
    for one in wanted:
        if isinstance(one, bool) or not isinstance(one, int) or not 0 <= one < 2**31:
            raise InputError(f"{one!r} is no tracking identifier; it is a whole number, such as 12.")
    return Tracking(service, [Batch((), "sent", one) for one in wanted]).refresh()


def _gtin(value: Any) -> str:
    try:
        return gtin.normal_form(value)
    except InputError:
        return str(value)


def _named(value: Any, name: str) -> str | None:
    """Return what an object of the record is called."""
    if not isinstance(value, Mapping):
        return None if value is None else str(value)
    return str(value.get(name) or value.get("id") or "") or None
