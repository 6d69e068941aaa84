"""Building the parts of a load while its later pages are fetched.

It never holds up the fetch, and decides nothing: what it built is used where the plan at the end is the same, and built
again where it is not, because a newer copy of a product was received later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from os import cpu_count
from types import TracebackType
from typing import Self

import pyarrow as pa

from prodex.executors import REPORT_SECONDS, own_threads
from prodex.progress import Reporter
from prodex.store.build import (
    BUILDING,
    build_folder,
    build_part,
    build_parts,
    built_so_far,
    products_of,
)
from prodex.store.journal import LoadJournal
from prodex.store.journal_contents import newest
from prodex.store.parts import StoredPart
from prodex.store.plan import EARLY, PartPlan, early_cut, early_parts, early_plan, parts_of


class EarlyBuild:
    """Builds the parts of one load, the first of them while pages are still received.

    Parameters
    ----------
    journal
        The journal to which the pages are added.
    executor
        Builds everything at the end; without one, parts are built early, by threads of our own.
    make_own
        Makes these.
    """

    def __init__(
        self,
        journal: LoadJournal,
        executor: Executor | None = None,
        *,
        make_own: Callable[[], Executor] = own_threads,
    ) -> None:
        self._journal = journal
        self._given = executor
        self._make_own = make_own
        self._own: Executor | None = None
        self._begun: dict[int, tuple[PartPlan, Future[StoredPart]]] = {}
        self._is_offset = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._own is not None:
            self._own.shutdown(cancel_futures=True)

    def begin(self, announced: int) -> None:
        """Begin the parts whose pages have all been received, of a load for which so many products are announced."""
        if EARLY not in self._journal.notes:
            if not announced:
                return
            # Whoever builds them, the parts are the same.
            self._journal.note(EARLY, early_cut(announced, cpu_count() or 1))
        if self._given is not None or self._is_offset:
            return
        if self._own is None:
            if self._journal.notes[EARLY][1] <= 0:
                return
            self._own = self._make_own()
        for number, pages in enumerate(early_parts(self._journal)):
            if number in self._begun:
                continue
            # Offset pages overlap, so that most parts would be built again.
            if any(page.asked is not None for page in pages):
                self._is_offset = True
                return
            self._submit(early_plan(number, pages))

    def begin_rest(self) -> None:
        """Begin all other parts: every page is there, and the rest of the fetch only checks whether that is all."""
        if self._given is not None:
            return
        received = newest(self._journal)
        if self._own is None:
            self._own = self._make_own()
        for plan in parts_of(self._journal, received.by_page(), cores=cpu_count() or 1):
            if plan.number not in self._begun:
                self._submit(plan)
        # Those who build need what a million keys took.
        pa.default_memory_pool().release_unused()

    def parts(self, plans: Sequence[PartPlan], reporter: Reporter) -> Iterator[StoredPart]:
        """Build the parts of a plan, but for those that were built like this before; in order."""
        folder = build_folder(self._journal.folder)
        if self._own is None:
            yield from build_parts(self._journal.folder, plans, folder, self._given, reporter)
            return
        decided = {plan.number: plan for plan in plans}
        other = [future for number, (plan, future) in self._begun.items() if decided.get(number) != plan]
        for future in other:
            future.cancel()
        # Nobody may write the files of a part while they are written again.
        wait(other)
        futures = [
            self._begun[plan.number][1]
            if plan.number in self._begun and self._begun[plan.number][0] == plan
            else self._own.submit(build_part, self._journal.folder, plan, folder)
            for plan in plans
        ]
        self._wait_for(dict(zip(futures, plans, strict=True)), reporter)
        for plan, future in zip(plans, futures, strict=True):
            try:
                yield future.result()
            except Exception:  # noqa: BLE001 - what is wrong for good is raised by the second attempt
                # Its process may have been killed for its memory, or the disk was full for a while.
                yield build_part(self._journal.folder, plan, folder)

    def _wait_for(self, parts: Mapping[Future[StoredPart], PartPlan], reporter: Reporter) -> None:
        """Wait until parts are built, and report how many of their products are."""
        total = sum(map(products_of, parts.values()))

        def done() -> int:
            left = [plan for future, plan in parts.items() if not future.done()]
            return total - sum(map(products_of, left)) + built_so_far(self._journal.folder, left)

        with reporter.phase(BUILDING, "products", total, done=done()) as phase:
            waiting = set(parts)
            while waiting:
                # Also reported while none is done: a listener may end the load.
                _, waiting = wait(waiting, REPORT_SECONDS, FIRST_COMPLETED)
                phase(max(phase.done, done()), total)

    def _submit(self, plan: PartPlan) -> None:
        assert self._own is not None  # noqa: S101 - whoever calls it has seen to that
        folder = build_folder(self._journal.folder)
        future = self._own.submit(build_part, self._journal.folder, plan, folder)
        self._begun[plan.number] = (plan, future)
