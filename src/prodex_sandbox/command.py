"""The command `prodex sandbox`: a process that serves until it is stopped, and changes of a store."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from prodex_sandbox.behaviour import LOOPBACK, Behaviour
from prodex_sandbox.command_options import given_options, parser
from prodex_sandbox.faults.kinds import Fault
from prodex_sandbox.faults.schedule import FaultSchedule
from prodex_sandbox.home import (
    SAMPLE_SIZE,
    Filling,
    access_keys,
    default_home,
    open_store,
    server_file,
    store_file,
)
from prodex_sandbox.home import reset as reset_home
from prodex_sandbox.home import simulate as simulate_home
from prodex_sandbox.raw_json import encode
from prodex_sandbox.records.reading import read_records
from prodex_sandbox.records.store import StoreUnusable
from prodex_sandbox.simulation import Incident
from prodex_sandbox.simulation.journal import printable
from prodex_sandbox.terminal import announce, report, with_progress

if TYPE_CHECKING:
    from prodex_sandbox.records.model import Organization
    from prodex_sandbox.records.store import Store
    from prodex_sandbox.server import Server


_SECONDS_BETWEEN_LOOKS: Final = 0.5
_MAX_REPORTED: Final = 20
_AFTER_RESET: Final = (
    "the store is as it was at the beginning. Its dates of update went back, which a refresh does not see: "
    "load snapshots of it again."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with its arguments, those of the process unless given; return the exit code."""
    options = vars(parser().parse_args(arguments))
    if problem := _misplaced(options):
        parser().error(problem)
    try:
        behaviour = Behaviour(**{field.name: options.pop(field.name) for field in fields(Behaviour)})
    except ValueError as error:
        parser().error(str(error))
    openapi = options.pop("openapi")
    changes = {name: options.pop(name) for name in ("simulate", "incidents", "reset")}
    try:
        if openapi:
            write_openapi(openapi)
        elif changes["simulate"] is not None or changes["reset"] is not None:
            change_home(behaviour=behaviour, home=options["home"], seed=options["seed"], **changes)
        else:
            serve(behaviour=behaviour, **options)
    except ModuleNotFoundError as error:
        report(f"it needs {error.name}: pip install 'prodex[sandbox]'")
        return 2
    except (StoreUnusable, OSError, ValueError, LookupError) as error:
        report(str(error))
        return 2
    return 0


def _misplaced(options: Mapping[str, Any]) -> str | None:
    """Return what is wrong where an option was given that would have no effect."""
    days_pass = options["simulate"] is not None
    if options["incidents"] and not days_pass:
        return "--incident happens in simulated days: give --simulate DAYS with it"
    if not days_pass and options["reset"] is None:
        return None
    # The document is written whatever else is asked for.
    read = {"--simulate", "--incident", "--reset", "--home", "--clock-skew", "--openapi"}
    read |= {"--seed"} if days_pass else set()
    if unread := [flag for flag in given_options(options) if flag not in read]:
        named = ", ".join(unread)
        return (
            f"--simulate and --reset serve nothing, and {named} would have no effect; give it when you serve"
        )
    return None


def serve(
    *,
    behaviour: Behaviour,
    host: str = LOOPBACK,
    port: int | None = None,
    home: Path | None = None,
    ready: Path | None = None,
    progress: Path | None = None,
    stop_with: int | None = None,
    products: Sequence[Path] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    imports: Sequence[Path] | None = None,
    import_as: str | None = None,
    allow_hosts: Sequence[str] = (),
    faults: Sequence[Fault] = (),
) -> None:
    """Serve until the process is asked to stop.

    Once it answers, it prints one line of JSON: service, base_url, pid, number of products,
    and the access keys. The same is in `home`/server.json while it runs. A terminal gets it in words.

    Parameters
    ----------
    behaviour
        How it behaves where the specification leaves it open.
    host, port
        Where to listen; port 0 takes any that is free. Unless given, the port is the same for the same home,
        as long as it is free, so that addresses of this sandbox stay valid.
    home
        Folder of the store; `default_home` unless given.
    ready
        File that gets the line as well.
    progress
        File that says how many products a new store has so far.
    stop_with
        Id of a process with which it ends.
    products
        Files that fill a new store; the sample catalogue unless given.
    sample, seed
        Size and seed of the sample catalogue; 12,000 and 1 unless given.
    imports, import_as
        Files that are imported once it answers, and the client id of the organisation that imports them; the
        first organisation unless given.
    allow_hosts
        Names under which it may be called, beside those of this machine and the address that it listens on.
    faults
        What shall go wrong, and at which calls.

    Raises
    ------
    StoreUnusable
        When the store cannot be used, or was filled with something else than what is asked for.
    OSError
        When a file cannot be read, or the port cannot be had.
    """
    from prodex_sandbox.api.endpoints import SERVICE
    from prodex_sandbox.app import create_app, served_hosts
    from prodex_sandbox.records.imports import running_worker
    from prodex_sandbox.sample import LABELS, organizations, shared_products
    from prodex_sandbox.sample.catalogue import origin_of
    from prodex_sandbox.server import base_url_of, listen, listen_on_home_port, server_of

    home = home or default_home()
    left_out: list[str] = []
    if products:
        origin = f"the products of {', '.join(str(path.resolve()) for path in products)}"

        def filling() -> Filling:
            return with_progress(read_records(products, left_out.append), None, "reading the files", progress)
    else:
        sample_size, sample_seed = SAMPLE_SIZE if sample is None else sample, 1 if seed is None else seed
        if sample_size < 0:
            raise ValueError(f"sample is {sample_size}; it cannot be below 0.")
        origin = origin_of(sample_size, sample_seed)

        def filling() -> Filling:
            made = shared_products(sample_size, sample_seed)
            return with_progress(made, sample_size, "making the sample catalogue", progress)

    # Filling a store takes a while, and can be interrupted; uvicorn sets handlers of its own later.
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(asked_to_stop, _end)
    with ExitStack() as stack:
        store = stack.enter_context(open_store(home, filling, organizations(), LABELS, origin))
        # A store that is there is used as it is; asking for another content is an error, not a reason to delete it.
        if (products or sample is not None or seed is not None) and store.origin != origin:
            raise StoreUnusable(
                f"{home} holds {store.origin}, not {origin}; delete it, or give another home."
            )
        # A damaged file may have thousands of such lines.
        for text in left_out[:_MAX_REPORTED]:
            report(text)
        if left_out:
            report(f"{len(left_out)} such in all were left out; {store.product_count()} products are served")
        worker = stack.enter_context(running_worker(store, behaviour))
        serves_host = served_hosts(host, allow_hosts)
        app, tidy = create_app(store, behaviour, worker, FaultSchedule(faults), serves_host=serves_host)
        server = server_of(app, tidy)
        importer = _organization(store, import_as)
        for path in imports or ():
            report(f"{path} is import {worker.take_file(importer, path)} of {importer.name}")
        listener = listen_on_home_port(host, home) if port is None else listen(host, port)
        announcement = {
            "service": SERVICE,
            "base_url": base_url_of(listener),
            "pid": os.getpid(),
            "products": store.product_count(),
            "credentials": access_keys(store.organizations),
        }
        with server_file(home, ready, announcement):
            announce(announcement, home, is_default=home == default_home())
            if stop_with is not None:
                threading.Thread(target=_end_with, args=(stop_with, server), daemon=True).start()
            server.run(sockets=[listener])


def change_home(
    *,
    behaviour: Behaviour,
    home: Path | None = None,
    simulate: int | None = None,
    seed: int | None = None,
    incidents: Sequence[Incident] = (),
    reset: Sequence[str] | None = None,
) -> None:
    """Change the store of a home, and say what was done.

    Parameters
    ----------
    behaviour
        That of the sandbox that serves the home; its clock dates the changes.
    home
        Folder of the store; `default_home` unless given.
    simulate, seed, incidents
        How many days pass, and how; none unless given.
    reset
        GTINs of the products to reset first, or none of them for the whole store; nothing unless given.
    """
    home = home or default_home()
    if not store_file(home).exists():
        report(f"there is no store in {home} yet; it is filled with the sample first, which takes a while")
    if reset is not None:
        count = reset_home(reset or None, home=home, behaviour=behaviour)
        what = "as they were at the beginning, dated to now" if reset else _AFTER_RESET
        _say(f"{count:,} {'product' if count == 1 else 'products'} taken back in {home}: {what}")
    if simulate is not None:
        seed = 1 if seed is None else seed
        journal = simulate_home(simulate, seed, incidents, home=home, behaviour=behaviour)
        for line in f"{journal!r}".splitlines():
            _say(line)


def write_openapi(path: Path) -> None:
    """Write the OpenAPI document of the service as JSON."""
    from prodex_sandbox.app import openapi

    path.write_bytes(encode(openapi()))


def _organization(store: Store, client_id: str | None) -> Organization:
    for one in store.organizations:
        if client_id in (None, one.client_id):
            return one
    raise StoreUnusable(f"Nobody in this store has the client id {client_id!r}.")


def _end_with(pid: int, server: Server) -> None:
    while _runs(pid):
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    server.stop()


def _runs(pid: int) -> bool:
    if sys.platform == "win32":
        import ctypes

        # On Windows, os.kill ends the process whatever the signal.
        synchronize, still_running = 0x00100000, 0x00000102
        handle = ctypes.windll.kernel32.OpenProcess(synchronize, False, pid)
        running = bool(handle) and ctypes.windll.kernel32.WaitForSingleObject(handle, 0) == still_running
        ctypes.windll.kernel32.CloseHandle(handle)
        return running
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # A process that has ended exists as a zombie until its parent waits for it.
    stat = Path(f"/proc/{pid}/stat")
    return not (stat.exists() and stat.read_text("utf-8").rpartition(")")[2].split()[0] == "Z")


def _say(text: str) -> None:
    """Print a line of what was asked for."""
    sys.stdout.write(f"{printable(text)}\n")


def _end(*_signal: object) -> NoReturn:
    raise SystemExit(0)
