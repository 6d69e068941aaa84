"""A running sandbox, for tests and notebooks: a context manager that serves from a thread of this process."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prodex_sandbox.behaviour import LOOPBACK, Behaviour
from prodex_sandbox.faults.kinds import Fault
from prodex_sandbox.faults.schedule import FaultHit, FaultSchedule
from prodex_sandbox.home import Filling, access_keys, lock_changes, open_store, reset_opened
from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.filling import Labels, Product, put_products, remove_products
from prodex_sandbox.records.model import Organization, SharedProduct
from prodex_sandbox.records.service_clock import service_clock, set_service_time
from prodex_sandbox.simulation import Incident, Journal, read_journal, simulate_store

if TYPE_CHECKING:
    from prodex_sandbox.records.imports import Worker
    from prodex_sandbox.records.store import Store


class Sandbox:
    """A complete local exchange service, running while the context is open.

    Parameters
    ----------
    products
        What a new store holds: shared products, or records, which every retailer then sees. The sample
        catalogue unless given.
    behaviour
        How it behaves where the specification leaves it open.
    home
        Folder of its store. A store that is there already is used as it is, and where its port is free, it answers
        at the same address as before. A temporary folder unless given.
    organizations
        Who takes part; the organisations of the sample unless given.
    labels
        Labels in other languages, by code and US English label; those of the sample unless given.
    clock
        Measures the life of scroll cursors, and how long to wait after wrong secrets, in seconds.
    faults
        What shall go wrong, and at which calls; see `order`.

    Attributes
    ----------
    base_url
        Where it answers.
    organizations
        Who takes part.
    requests
        (method, path, parameters or body) of each call, in their order.

    Examples
    --------
    >>> with Sandbox([{"gtin": "03036811359935"}]) as sandbox:
    ...     sandbox.base_url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        products: Iterable[SharedProduct | Mapping[str, Any]] | None = None,
        *,
        behaviour: Behaviour | None = None,
        home: Path | None = None,
        organizations: Sequence[Organization] | None = None,
        labels: Labels | None = None,
        clock: Callable[[], float] = time.monotonic,
        faults: Iterable[Fault] = (),
    ) -> None:
        if products is not None and (
            not isinstance(products, Iterable) or isinstance(products, str | bytes | Mapping)
        ):
            raise TypeError(
                f"products are records, and this is {products!r:.60}. Give a list such as [{{'gtin': "
                "'03036811359935'}], or nothing for the sample."
            )
        self._products = products
        self._behaviour = behaviour or Behaviour()
        self._home = home
        self._organizations = organizations
        self._labels = labels
        self._clock = clock
        self._schedule = FaultSchedule(faults)
        self._stack = ExitStack()
        self._store: Store | None = None
        self._worker: Worker | None = None
        self.base_url: str = ""
        self.organizations: tuple[Organization, ...] = ()
        self.requests: list[tuple[str, str, Any]] = []

    @property
    def credentials(self) -> list[dict[str, Any]]:
        """The organisations' names, types and access keys; the first is the principal retailer's."""
        return access_keys(self.organizations)

    def __enter__(self) -> Sandbox:
        from prodex_sandbox import sample
        from prodex_sandbox.app import RecordingMiddleware, create_app
        from prodex_sandbox.records.imports import running_worker
        from prodex_sandbox.server import base_url_of, listen, listen_on_home_port, server_of, stop

        with ExitStack() as stack:
            home = self._home or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="prodex-")))
            organizations = self._organizations if self._organizations is not None else sample.organizations()
            labels = self._labels if self._labels is not None else sample.LABELS
            store = stack.enter_context(
                open_store(home, self._filling, organizations, labels, "products given")
            )
            worker = stack.enter_context(running_worker(store, self._behaviour))
            app, tidy = create_app(store, self._behaviour, worker, self._schedule, self._clock)
            listener = listen_on_home_port(LOOPBACK, self._home) if self._home else listen(LOOPBACK, 0)
            server = server_of(RecordingMiddleware(app, self.requests, self._behaviour.body_limit), tidy)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
            self._store, self._worker = store, worker
            self.organizations = store.organizations
            self.base_url = base_url_of(listener)
            thread.start()
            # uvicorn offers no event for it.
            while not server.started and thread.is_alive():
                time.sleep(0.002)
            stack.callback(stop, server, thread)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, raised: type[BaseException] | None, *_of_it: object) -> None:
        self._stack.close()
        self._store = self._worker = None
        # An error of the body of the context is more important than one that it probably caused.
        if self._schedule.failures and raised is None:
            raise self._schedule.failures[0]

    def order(self, *faults: Fault) -> None:
        """Order faults; each counts calls from now on. Those ordered before stay.

        Examples
        --------
        >>> import requests
        >>> with Sandbox([]) as sandbox:
        ...     sandbox.order(Fault("503", endpoint="token", times=2))
        ...     for _ in range(3):
        ...         requests.post(f"{sandbox.base_url}/auth/v2/token", json={}).status_code
        ...     [(hit.kind, hit.call) for hit in sandbox.faults_hit]
        503
        503
        400
        [('503', 1), ('503', 2)]
        """
        self._schedule.add(faults)

    def at_call(self, call: int, run: Callable[[], object], endpoint: str = "list") -> None:
        """Run a function when a call arrives, before it is answered.

        Where the function raises, the call gets a 500, and the error is raised again when the context ends.

        Parameters
        ----------
        call
            Number of the call, counted from 1 among those of the endpoint from now on.
        run
            A function without parameters; it may change the catalogue.
        endpoint
            As for `Fault`.
        """
        self.order(Fault("call", at=call, run=run, endpoint=endpoint))

    def clear_faults(self) -> None:
        """Remove every fault that is ordered; `faults_hit` stays."""
        self._schedule.clear()

    @property
    def faults_hit(self) -> tuple[FaultHit, ...]:
        """The faults that have happened, in their order."""
        return tuple(self._schedule.hits)

    def change(self, products: Iterable[Product], *, moves_updated_at: bool = True) -> None:
        """Put products into the catalogue, as their manufacturers would; all viewers see them from the next call.

        A product takes the place of the one with the same id (where it has none: uuid, gtin). It replaces the
        record as a whole, and what retailers had written over it. Who sees it, its tags and statuses stay, unless
        it is a `SharedProduct`. A new product is added after the last one; a record without views is then
        shared with every retailer. An owner that was not there can log in from the next start of the home on.

        All of them become visible at once. A scroll that has begun keeps its products, each as it is when its page is
        fetched.

        Parameters
        ----------
        products
            Records, or shared products.
        moves_updated_at
            Set `updatedAt` to the service's clock, unless it was later already; else it stays as given.

        Examples
        --------
        >>> with Sandbox([{"id": 1, "gtin": "1"}, {"id": 2, "gtin": "2"}]) as sandbox:
        ...     sandbox.change([{"id": 2, "gtin": "2", "lifeCycle": 1}, {"id": 3, "gtin": "3"}])
        ...     sandbox.remove([1])
        """
        store, _ = self._running()
        put_products(store, products, service_clock(store, self._behaviour) if moves_updated_at else None)
        self.organizations = store.organizations

    def remove(self, products: Iterable[str | int | Product]) -> None:
        """Remove products from the catalogue, for all viewers.

        A scroll that has begun continues; its pages lack the removed products.

        Parameters
        ----------
        products
            GTINs as they are stored (str), ids (int), or products as `change` takes them.

        Raises
        ------
        LookupError
            When one of them is not there; then none is removed.
        """
        store, _ = self._running()
        remove_products(store, products)

    def simulate(
        self,
        days: int = 7,
        seed: int = 1,
        incidents: Iterable[Incident | str] = (),
        requested: Iterable[str] = (),
    ) -> Journal:
        """Let days pass: suppliers correct, break, add, delist, share and withdraw products.

        Each day is one transaction, and its changes are visible from the next call on. Suppliers differ in how much
        they do and in how careful they are, and do little on weekends. Corrections, defects and new products come from
        the generator of the sample, so products of other origin only get updates, pictures, statuses and incidents.

        Simulated days follow each other, the first one the newest update of the products that the store was filled
        with; they are the dates of the journal. For the service all of it happens now: `updatedAt` is its clock, as
        with any other write, so that whoever loaded before finds every change by asking for what was updated since.

        Where the time of the service was set (`set_time`), the days are its own: the last is the day that it has, and
        what happens on a day is dated to that day, at the same hour.

        Parameters
        ----------
        days
            How many.
        seed
            Another one gives another story; the same in the same store gives the same.
        incidents
            What goes wrong with many products at once: keys of `INCIDENTS`, as NAME[@DAY][:OWNER], or `Incident`.
        requested
            GTINs of products that suppliers were asked to correct, such as those of worklists. On each day they put
            some of them right; careful suppliers correct most of them within a week.

        Examples
        --------
        >>> with Sandbox([{"id": 1, "gtin": "03036811359935"}]) as sandbox:
        ...     journal = sandbox.simulate(1, incidents=["volume_halves"])
        >>> journal.incidents
        ['Unknown owner: every second product was taken back. 1 product: 03036811359935.']
        """
        store, _ = self._running()
        with self._changing():
            clock = service_clock(store, self._behaviour)
            return simulate_store(store, days, seed, incidents, clock, requested)

    def set_time(self, moment: datetime | None = None) -> None:
        """Set the clock of the service, by which it dates replies and writes; it runs on from there.

        Parameters
        ----------
        moment
            With a time zone. The clock of this machine unless given.

        Examples
        --------
        >>> from datetime import UTC, datetime
        >>> with Sandbox([{"id": 1, "gtin": "03036811359935"}]) as sandbox:
        ...     sandbox.set_time(datetime(2026, 11, 20, 20, tzinfo=UTC))
        ...     str(sandbox.simulate(2).days[-1])
        '2026-11-20'
        """
        store, _ = self._running()
        with self._changing():
            set_service_time(store, moment, self._behaviour)

    def reset(self, gtins: Iterable[str] | str | None = None) -> int:
        """Take back what was changed since the beginning, and return of how many products.

        Parameters
        ----------
        gtins
            Products that become what they were, dated to now. Unless given, everything becomes what it was, dates of
            update, imports and journal too; who has loaded it since has to load it again.

        Raises
        ------
        LookupError
            When a GTIN never was there; then nothing is taken back.
        """
        store, _ = self._running()
        with self._changing():
            changed = reset_opened(store, gtins, self._behaviour)
        self.organizations = store.organizations
        return changed

    @property
    def journal(self) -> Journal:
        """What was simulated since the beginning."""
        store, _ = self._running()
        return read_journal(store)

    def import_file(self, path: Path, organization: Organization) -> int:
        """Import a file (XML where it is named `.xml`, else JSON) for an organisation; return its tracking id.

        The tracking record then says IMPORT instead of API.
        """
        _, worker = self._running()
        return worker.take_file(organization, path)

    def _changing(self) -> AbstractContextManager[object]:
        """Keep out simulations of other processes in the same home."""
        return nullcontext() if self._home is None else lock_changes(self._home)

    def _running(self) -> tuple[Store, Worker]:
        if self._store is None or self._worker is None:
            raise RuntimeError("The sandbox does not run; open its context first.")
        return self._store, self._worker

    def _filling(self) -> Filling:
        if self._products is None:
            from prodex_sandbox.sample import shared_products

            yield from shared_products()
            return
        for product in self._products:
            yield product if isinstance(product, SharedProduct) else (encode(dict(product)), dict(product))
