"""The progress of a fetch: what its windows have received, in whichever phase it is."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prodex.load.windows import Window
from prodex.progress import SILENT, Reporter, Show
from prodex.store.journal_format import Stage

#: Stages whose products count for the whole load; what changed meanwhile was received before, most of it.
_COUNTED = frozenset(stage for stage in Stage if stage.has_products) - {Stage.CHANGES}


class FetchProgress:
    """Counts what is received, and reports it. Windows report from several threads.

    Parameters
    ----------
    reporter
        To whom the phases are reported.
    came
        Called with the number of products announced, whenever some have come.

    Attributes
    ----------
    announced
        Products announced for the whole load.

    Examples
    --------
    >>> progress = FetchProgress(Reporter(print))
    >>> with progress.phase("Receiving", Stage.PULL, total=40):
    ...     progress.received(Window(Stage.PULL, 0), 20)
    Receiving: 0 of 40 products, time left unknown
    Receiving: 20 of 40 products, about 1 s left
    """

    def __init__(self, reporter: Reporter = SILENT, came: Callable[[int], object] = lambda _: None) -> None:
        self._reporter, self._came = reporter, came
        self.announced = 0
        self._by_window: dict[Stage, dict[str, int]] = defaultdict(dict)
        self._phase: tuple[frozenset[Stage], int, Show] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def phase(self, phase: str, *stages: Stage, total: int = 0) -> Iterator[None]:
        """Begin a phase in which the products of these stages are counted; without any, nothing is counted."""
        with self._reporter.phase(phase, "products" if stages else "", total) as show:
            self._phase = (frozenset(stages), total, show)
            try:
                yield
            finally:
                self._phase = None

    def received(self, window: Window, count: int) -> None:
        """Report that a window has received so many products, now."""
        with self._lock:
            self._by_window[window.stage][window.name] = count
            # First: whoever hears of a phase may end the load, and then knows how much of it has come.
            if window.stage.has_products:
                done = self._sum(_COUNTED)
                self._reporter.count(done, max(self.announced, done))
                self._came(self.announced)
            if self._phase is not None and window.stage in self._phase[0]:
                stages, total, show = self._phase
                done = self._sum(stages)
                show(done, max(total, done) if total else 0)

    def _sum(self, stages: frozenset[Stage]) -> int:
        return sum(count for stage in stages for count in self._by_window[stage].values())
