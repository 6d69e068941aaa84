"""Law: a load, a refresh, an audit and a comparison give the same on any executor, whatever happens to a worker.

The workers are processes of a Dask cluster on this machine. What a worker cannot do, it says in words of ours.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from datetime import datetime
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError, SnapshotDamaged, WorkerLost, WorkerRefused
from prodex.executors import mapped
from prodex.sandbox import Sandbox
from prodex.store.build import build_parts
from prodex.store.merge import merge_parts
from prodex.store.merge_plan import held_products, plan_merge
from prodex.store.newest import Place, by_page
from prodex.store.parts import StoredPart
from prodex.store.plan import PartPlan
from prodex.store.publish import publish_parts
from prodex.store.snapshot import stored_parts
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products
from tests.cluster import scheduler, worker
from tests.load.exchange import renamed
from tests.store.test_merge import journal_of
from tests.wire import CORNERS, OTHER_CORNERS, encode, products

#: One cluster for all of these.
pytestmark = pytest.mark.xdist_group("cluster")

#: One rule of each kind: of a product's own values, of all parts at once, of time.
CHECKS = {"checks": {"valid_gtin": {}, "duplicate_gtin": {}, "updated_within": {"days": 31}}}

NOW = datetime.fromisoformat("2026-11-22")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a cluster with two workers, each of one thread."""
    folder = tmp_path_factory.mktemp("workers")
    with scheduler() as client, worker(client, "one", folder), worker(client, "two", folder):
        yield client


def process_of(client: Client, name: str) -> int:
    """Return the process of a worker."""
    workers = client.scheduler_info()["workers"].items()
    (found,) = client.run(os.getpid, workers=[at for at, facts in workers if facts["name"] == name]).values()
    return int(found)


@pytest.fixture(scope="module")
def dask(client: Client) -> Executor:
    """The executor of both workers."""
    executor: Executor = client.get_executor(workers=["one", "two"])
    return executor


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """A process pool of the standard library."""
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve some products of the sample."""
    with Sandbox(products=shared_products(60)) as sandbox:
        yield sandbox


@pytest.fixture
def service(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch) -> prodex.service.Client:
    """Reach them; a load of all makes four parts."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 15)
    key = exchange.credentials[0]
    return prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


def distinct_labels(one: prodex.Catalog, other: prodex.Catalog) -> list[tuple[int, str]]:
    """Return the tables in which two snapshots differ, by part: rows, their order, columns, what the manifest says.

    Their bytes may differ: the dictionary of a column is not always in the same order, not even in one process.
    """
    assert prodex.verify(other)["ok"].all()
    return [
        (number, table)
        for number, (left, right) in enumerate(zip(one.parts, other.parts, strict=True))
        for table in TABLES
        if not left.stored(table).equals(right.stored(table))
        or left.facts[table]["rows"] != right.facts[table]["rows"]
    ]


def told(difference: prodex.compare.Difference) -> list[Any]:
    """Return all that a comparison found."""
    frames = (difference.products, difference.changes, difference.not_comparable)
    rows = [frame.astype(object).where(frame.notna(), None).values.tolist() for frame in frames]
    return [*rows, difference.notes, difference.outcomes.to_pylist()]


def judged(audit: prodex.quality.Audit) -> list[Any]:
    """Return all that an audit found."""
    failures = audit.failures()
    rows = failures.astype(object).where(failures.notna(), None).values.tolist()
    return [audit.matrix.values.tolist(), rows, [(one.check, one.part, one.message) for one in audit.crashes]]


@pytest.mark.slow
def test_a_whole_story_is_the_same_on_a_cluster(
    exchange: Sandbox, service: prodex.service.Client, dask: Executor
) -> None:
    """Loaded, audited, changed at the service, refreshed and compared: the same files and the same findings."""
    loaded = [
        prodex.load_products(service, name=name, page_size=15, max_age=0, executor=executor)
        for name, executor in (("here", None), ("there", dask))
    ]
    audits = [
        prodex.audit(catalog, CHECKS, now=NOW, executor=executor)
        for catalog, executor in zip(loaded, (None, dask), strict=True)
    ]
    records = [json.loads(record) for record in loaded[0].raw["json"].iloc[[3, 50]]]
    exchange.change([renamed(records[0], "Riz rond"), {**records[1], "onlyNow": 1}])
    refreshed = [
        prodex.refresh(name, service, executor=executor)
        for name, executor in (("here", None), ("there", dask))
    ]
    differences = [
        prodex.diff(old, new, executor=executor)
        for old, new, executor in zip(loaded, refreshed, (None, dask), strict=True)
    ]

    assert len(loaded[0].parts) >= 4
    assert [] == distinct_labels(*loaded)
    assert [] == distinct_labels(*refreshed)
    assert judged(audits[0]) == judged(audits[1])
    assert told(differences[0]) == told(differences[1])
    assert differences[0]


def plans(places: dict[str, Place], size: int) -> list[PartPlan]:
    """Share products out to parts of so many."""
    every = sorted(places.values())
    cut = [every[start : start + size] for start in range(0, len(every) or 1, size)]
    return [PartPlan(number, by_page(some)) for number, some in enumerate(cut)]


@pytest.mark.slow
@example([encode(one) for one in CORNERS], [encode(one) for one in OTHER_CORNERS])
@given(
    st.lists(products, min_size=1, max_size=6).map(lambda many: [encode(one) for one in many]),
    st.lists(products, max_size=4).map(lambda many: [encode(one) for one in many]),
)
def test_what_is_made_does_not_depend_on_the_executor(
    tmp_path_factory: pytest.TempPathFactory,
    dask: Executor,
    processes: Executor,
    before: list[bytes],
    after: list[bytes],
) -> None:
    """Strange products too: built, merged, compared and audited, on threads, on processes and on a cluster."""
    made = []
    for executor in (None, processes, dask):
        folder = tmp_path_factory.mktemp("law")
        journal, came = journal_of([before], folder / "j")
        old = publish_parts(
            "law",
            prodex.flatten([]).origin,
            lambda beside, j=journal, c=came, e=executor: build_parts(j, plans(c, 3), beside, e),  # type: ignore[misc]
        )
        changes, newer = journal_of([after], folder / "k")
        decided = plan_merge(held_products(old), newer, products_per_part=3)
        assert old.folder is not None
        held, old_folder = stored_parts(old.folder), old.folder

        def merge(
            beside: Path,
            e: Executor | None = executor,
            o: Any = held,
            f: Path = old_folder,
            c: Path = changes,
            d: Any = decided,
        ) -> Iterable[StoredPart]:
            return merge_parts(o, f, c, d.parts, beside, e)

        new = publish_parts("law", old.origin, merge)
        audit = prodex.audit(new, CHECKS, now=NOW, executor=executor)
        difference = prodex.diff(old, new, executor=executor)
        made.append((old, new, [judged(audit), told(difference)]))

    (old, new, findings), *others = made
    for one in others:
        assert [] == distinct_labels(old, one[0]) + distinct_labels(new, one[1])
        assert findings == one[2]


def test_a_rule_of_a_notebook_travels_to_the_workers(dask: Executor) -> None:
    """With what it refers to: a name of its notebook, and modules that the workers have."""
    heaviest = 7

    @prodex.packs.rule(title="is light")
    def is_light(products: prodex.quality.products.Products) -> prodex.packs.Verdict:  # type: ignore[name-defined]
        where.append(os.getpid())
        return prodex.packs.Verdict(np.asarray(products["product_id"].astype(int) > heaviest))

    where: list[int] = []
    catalog = prodex.flatten([{"id": number} for number in range(5, 10)])

    audit = prodex.audit(catalog, {"checks": {"is_light": {}}}, executor=dask)

    assert [0, 0, 0, 1, 1] == audit.states[:, 0].tolist()
    assert [] == where  # it ran elsewhere


def test_a_rule_from_a_file_of_ones_own_is_refused_until_the_workers_have_it(
    client: Client, dask: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message names the module and the way to send it."""
    path = tmp_path / "rules_of_a_shop.py"
    path.write_text(
        "import prodex\n\n@prodex.packs.rule(title='mine')\ndef is_mine(products):\n"
        "    return prodex.packs.Verdict([False] * len(products))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    __import__("rules_of_a_shop")
    catalog, profile = prodex.flatten([{"id": 1}]), {"checks": {"is_mine": {}}}

    with pytest.raises(WorkerRefused, match=r"No module named 'rules_of_a_shop'.*client.upload_file"):
        prodex.audit(catalog, profile, executor=dask)
    client.upload_file(str(path))
    assert [0] == prodex.audit(catalog, profile, executor=dask).states[:, 0].tolist()


def test_a_rule_that_cannot_be_sent_is_refused(dask: Executor) -> None:
    """A lock lives in one process."""
    lock = threading.Lock()

    @prodex.packs.rule(title="locked")
    def is_locked(products: Any) -> prodex.packs.Verdict:
        with lock:
            return prodex.packs.Verdict([False] * len(products))

    with pytest.raises(InputError, match=r"cannot be sent to another process.*lock.*leave executor out"):
        prodex.audit(prodex.flatten([{"id": 1}]), {"checks": {"is_locked": {}}}, executor=dask)


def test_a_client_is_no_executor(client: Client) -> None:
    """People have a client in hand, and its `map` gives something else."""
    catalog = prodex.flatten([{"id": 1}])

    for call in (
        lambda: prodex.audit(catalog, executor=client),  # type: ignore[arg-type]
        lambda: prodex.diff(catalog, catalog, executor=client),  # type: ignore[call-overload]
        lambda: prodex.recover("shop", executor=client),  # type: ignore[arg-type]
        lambda: prodex.load_products("sandbox", executor=client),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=r"executor is .*client\.get_executor\(\)"):
            call()


def test_audits_are_compared_without_an_executor(dask: Executor) -> None:
    """An option that would do nothing is refused."""
    audit = prodex.audit(prodex.flatten([{"id": 1}]))

    with pytest.raises(InputError, match="leave executor out"):
        prodex.diff(audit, audit, executor=dask)  # type: ignore[call-overload]


@pytest.mark.slow
def test_errors_of_a_worker_arrive_as_they_are(dask: Executor, service: prodex.service.Client) -> None:
    """Damage that a worker finds is the same error, with the same path, as here."""
    catalog = prodex.load_products(service, name="damaged", page_size=15)
    path = catalog.files("products")[2]
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(SnapshotDamaged, match=path.name):
        prodex.audit(catalog, "core", executor=dask)


@pytest.mark.slow
def test_a_worker_of_another_version_is_refused(client: Client, tmp_path: Path) -> None:
    """Both versions are named: it might read or build something else."""
    facts = tmp_path / "prodex-9.8.7.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: prodex\nVersion: 9.8.7\n")
    with worker(client, "other", tmp_path, {"PYTHONPATH": str(tmp_path)}):
        executor = client.get_executor(workers=["other"])
        with pytest.raises(
            WorkerRefused, match=rf"has prodex 9\.8\.7, and you have {version('prodex')}.*pip install"
        ):
            prodex.audit(prodex.flatten([{"id": 1}]), "core", executor=executor)


@pytest.mark.slow
def test_a_worker_that_does_not_see_the_data_is_refused(dask: Executor, tmp_path: Path) -> None:
    """Otherwise it would build its parts where nobody finds them."""
    with pytest.raises(WorkerRefused, match=r"does not see .*elsewhere.*PRODEX_HOME"):
        list(mapped(dask, str, [1], folders=[tmp_path / "elsewhere"]))


@pytest.mark.slow
def test_a_killed_worker_costs_its_part_only(
    client: Client, dask: Executor, service: prodex.service.Client
) -> None:
    """It had parts to build when it was killed: another builds these, and no part is built twice."""
    expected = prodex.load_products(service, name="whole", page_size=15, max_age=0)
    begin, killed = time.time(), process_of(client, "two")
    # Stopped, it keeps what it was given and never ends it.
    os.kill(killed, signal.SIGSTOP)
    killer = threading.Thread(target=_kill_when_the_rest_is_built, args=(killed, client))
    killer.start()
    catalog = prodex.load_products(service, name="cut", page_size=15, max_age=0, executor=dask)
    killer.join()

    log = client.cluster.scheduler.transition_log
    built = [entry.key for entry in log if entry.finish == "memory" and entry.timestamp > begin]
    assert len(set(built)) == len(built) == len(catalog.parts)
    assert ["one"] == [facts["name"] for facts in client.scheduler_info()["workers"].values()]
    assert [] == distinct_labels(expected, catalog)


def _kill_when_the_rest_is_built(killed: int, client: Client) -> None:
    """Kill a stopped worker as soon as nobody but it has anything to do, and it has something."""
    address = next(one for one, facts in client.scheduler_info()["workers"].items() if facts["name"] == "two")
    given_up = time.monotonic() + 100
    while time.monotonic() < given_up:
        processing = client.processing()
        if processing[address] and not any(jobs for one, jobs in processing.items() if one != address):
            break
        time.sleep(0.02)
    os.kill(killed, signal.SIGKILL)


def _kill_oneself(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_part_that_kills_its_workers_is_given_up(
    client: Client, processes: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some workers, and at once where a process pool is broken for good; the last test, for it ends them."""
    message = r"A worker ended before its part was done.*the same call continues"
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)

    for executor in (processes, client.get_executor(workers=["one"])):
        with pytest.raises(WorkerLost, match=message):
            list(mapped(executor, _kill_oneself, [1]))
