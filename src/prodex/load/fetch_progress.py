"""The progress of a fetch: what its windows have received, in whichever phase it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prodex.load.windows import Window
from prodex.progress import SILENT, Reporter, Show
from prodex.store.journal_format import Stage

#: Stages whose products count for the whole load; what changed meanwhile was received before, most of it.
_COUNTED = frozenset(stage for stage in Stage if stage.has_products) - {Stage.CHANGES}


@dataclass(frozen=True)
class Came:
    """What a fetch says whenever something has come.

    Attributes
    ----------
    window
        For which window.
    products
        How many products that window has received by now.
    announced
        Products announced for the whole load.
    """

    window: Window
    products: int
    announced: int


#: Hears what has come; what it raises ends the fetch. It is called by the threads that fetch, by one at a time.
Listener = Callable[[Came], object]


class FetchProgress:
    """Counts what is received, and reports it.

    Parameters
    ----------
    reporter
        To whom the phases are reported.

    Examples
    --------
    >>> progress = FetchProgress(Reporter(print))
    >>> with progress.phase("Receiving", Stage.PULL, total=40):
    ...     progress.hear(Came(Window(Stage.PULL, 0), 20, announced=40))
    Receiving: 0 of 40 products, time left unknown
    Receiving: 20 of 40 products, about 1 s left
    """

    def __init__(self, reporter: Reporter = SILENT) -> None:
        self._reporter = reporter
        self._by_window: dict[Stage, dict[str, int]] = defaultdict(dict)
        self._phase: tuple[frozenset[Stage], int, Show] | None = None

    @contextmanager
    def phase(self, phase: str, *stages: Stage, total: int = 0) -> Iterator[None]:
        """Begin a phase in which the products of these stages are counted; without any, nothing is counted."""
        with self._reporter.phase(phase, "products" if stages else "", total) as show:
            self._phase = (frozenset(stages), total, show)
            try:
                yield
            finally:
                self._phase = None

    def hear(self, came: Came) -> None:
        """Report what has come."""
        stage = came.window.stage
        self._by_window[stage][came.window.name] = came.products
        # First: whoever hears of a phase may end the load, and then knows how much of it has come.
        if stage.has_products:
            done = self._sum(_COUNTED)
            self._reporter.count(done, max(came.announced, done))
        if self._phase is not None and stage in self._phase[0]:
            stages, total, show = self._phase
            done = self._sum(stages)
            show(done, max(total, done) if total else 0)

    def _sum(self, stages: frozenset[Stage]) -> int:
        return sum(count for stage in stages for count in self._by_window[stage].values())
