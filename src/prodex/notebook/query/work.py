"""What a query panel has others do in a thread: count what matches, and load it, with progress and a way to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from prodex.catalog import Catalog
from prodex.load import load_products
from prodex.query import ProductQuery
from prodex.service import Client
from prodex.service.client import announced


class Cancelled(Exception):
    """The load was cancelled; it is raised by what shows its progress, and ends in the panel."""


def count_products(
    service: Client, query: ProductQuery, is_wanted: Callable[[], bool] = lambda: True
) -> int | None:
    """Return how many products match, or None when nobody wants to know any more.

    A long list of GTINs is counted in several calls.

    Parameters
    ----------
    is_wanted
        Asked before each call: nobody waits for the sum of a query that has changed meanwhile.
    """
    total = 0
    for part in query.in_calls():
        if not is_wanted():
            return None
        total += announced(service.search_products(part.to_probe()))
    return total


class Load:
    """One load; `run` it in a thread, `stop` it from another.

    Parameters
    ----------
    service, query, name, max_age, allow_incomplete
        As for `load_products`.

    Attributes
    ----------
    done, total
        Products that have come, and that were announced.
    began
        Our clock when it began, UTC.
    """

    def __init__(
        self,
        service: Client,
        query: ProductQuery,
        *,
        name: str | None = None,
        max_age: float | None = None,
        allow_incomplete: bool = False,
    ) -> None:
        self._service, self._query, self._name = service, query, name
        self._max_age, self._allow_incomplete = max_age, allow_incomplete
        self._stop = threading.Event()
        self._start = time.monotonic()
        self.began = datetime.now(UTC)
        self.done = self.total = 0

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._start

    @property
    def is_stopping(self) -> bool:
        """Whether it was stopped, and ends with the page in flight."""
        return self._stop.is_set()

    def run(self) -> Catalog:
        """Load.

        Raises
        ------
        Cancelled
            When it was stopped before all had come; what came is in the journal.
        ProdexError
            As `load_products`.
        """
        return load_products(
            self._service,
            self._query,
            name=self._name,
            max_age=self._max_age,
            allow_incomplete=self._allow_incomplete,
            progress=self._came,
        )

    def stop(self) -> None:
        """Stop after the page in flight."""
        self._stop.set()

    def _came(self, done: int, total: int) -> None:
        self.done, self.total = done, total
        if self._stop.is_set():
            raise Cancelled
