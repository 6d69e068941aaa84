"""Answers that are sent by somebody who interrupts: each call of the way is killed or interrupted, and begun again.

The service takes a moment to import, and takes down every product that it receives.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.gtin import check_digit
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.records import imports
from tests.forks import ENDING_AT, Forks, forking
from tests.ledgered import after_each_commit

from .bakery import record, text

#: Products of one worklist, and of one call: three calls write them.
PRODUCTS, BATCH = 7, 3
#: Seconds that an import takes, at least as long as the next attempt needs to look.
_DELAY = 0.4

#: Where a process ends: before or after a call to the service, or after something was written to the disk.
MOMENTS = ("before", "after", "disk")
#: From which call or flush to which one each of them matters: the calls that ask for the products, look at them again,
#: and write them.
_MATTERS = {"before": (2, 16), "after": (2, 16), "disk": (1, 20)}

_IMPORTED = f"""
import itertools, os, signal, sys
import requests
import prodex, prodex.cli, prodex.worklists.read_worklist, prodex.quality.run, prodex.send.upsert
sys.modules["prodex.send.upsert"].LARGEST_BATCH = {BATCH}
"""
_WORK = (
    ENDING_AT
    + """
sys.argv[1:] = words
os.dup2(2, 1)
try:
    prodex.cli.main()
except SystemExit as ended:
    sys.stdout.flush()
    os._exit(ended.code or 0)
"""
)


def gtin(number: int) -> str:
    """Return a GTIN."""
    return f"{number:013d}{check_digit(f'{number:013d}')}"


def french(product: dict[str, Any]) -> str:
    """Return the French name of a product."""
    return str(product["namePublicLong"][0]["data"])


def settle(sandbox: Sandbox) -> None:
    """Wait until every import that a service has received has ended."""
    store, worker = sandbox._store, sandbox._worker
    assert store is not None
    assert worker is not None
    worker._woken.set()
    end = time.monotonic() + 60
    while imports.next_import(store) is not None:
        assert time.monotonic() < end, "the imports do not end"
        time.sleep(0.01)


@dataclass
class Interrupted:
    """What became of the answers.

    Attributes
    ----------
    kills, interrupts
        How often a process was killed (SIGKILL), and how often a command or a cell was interrupted (Ctrl-C).
    worklists
        How many worklists came to their end all the same.
    sent, unknown
        Products whose import is known to have succeeded, or whose answer may have arrived; each of these is one.
    unknown_that_arrived
        How many of the unknown ones the service has received.
    twice
        GTINs that the service received twice.
    unaccounted
        What is known of an answer and is not so, in words.
    """

    kills: int = 0
    interrupts: int = 0
    worklists: int = 0
    sent: int = 0
    unknown: int = 0
    unknown_that_arrived: int = 0
    twice: list[str] = field(default_factory=list)
    unaccounted: list[str] = field(default_factory=list)


class AnsweredExchange:
    """A service, a snapshot of it, and a worklist of answers after the other, each about products of its own.

    Parameters
    ----------
    sandbox
        The service.
    folder
        Where the worklists are.
    """

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox, self._folder, self._number = sandbox, folder, 0
        key = sandbox.credentials[0]
        self.environment = {
            "PRODEX_CLIENT_ID": key["client_id"],
            "PRODEX_CLIENT_SECRET": key["client_secret"],
        }
        self.service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        self.catalog = prodex.load_products(self.service, name="interrupted", progress=False)

    @classmethod
    @contextmanager
    def serving(cls, folder: Path, worklists: int, delay: float = _DELAY) -> Iterator[AnsweredExchange]:
        """Serve products for so many worklists; each import takes so many seconds."""
        records = [
            record(n, gtin(n), namePublicLong=[text("fra-FR", f"PAIN {n}"), text("nld-NL", f"Brood {n}")])
            for n in range(1, 1 + worklists * PRODUCTS)
        ]
        with Sandbox(records, behaviour=Behaviour(import_delay=delay)) as sandbox:
            yield cls(sandbox, folder)

    def worklist(self, products: int = PRODUCTS) -> tuple[Path, list[str]]:
        """Return the next worklist with answers, and the GTINs of its products."""
        first = 1 + self._number * PRODUCTS
        self._number += 1
        gtins = [gtin(n) for n in range(first, first + products)]
        path = self._folder / f"answers{self._number}.csv"
        rows = [f"{one};namePublicLong;fr;Pain aux graines {one};PAIN {int(one[:-1])}" for one in gtins]
        path.write_text("\n".join(["GTIN;Field;Language;New value;Value seen", *rows]), "utf-8")
        return path, gtins

    @property
    def received(self) -> Counter[str]:
        """How often each GTIN was received."""
        bodies = [body for method, path, body in self.sandbox.requests if path.endswith("/products")]
        return Counter(one["gtin"] for body in bodies if isinstance(body, dict) for one in body["data"])

    def read(self, path: Path) -> prodex.worklists.Fix:
        """Read a worklist."""
        return prodex.read_worklist(path, self.catalog, profile={"checks": {"valid_gtin": {}}})

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Let imports wait until the end of the context, and then end."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(imports, "next_import", lambda _: None)
            yield
        self.settle()

    def settle(self) -> None:
        """Wait until every import that was received has ended: until then nobody can know what has arrived."""
        settle(self.sandbox)

    def records(self, gtins: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return what the service has of products, by their GTIN."""
        page = self.service.search_products(prodex.ProductQuery(gtins_in=list(gtins)), limit=len(gtins))
        found = [json.loads(bytes(one)) for one in page.envelope.data]
        return {one["gtin"]: one for one in found}

    def stored(self, gtin_: str) -> str:
        """Return the French name that the service has."""
        return french(self.records([gtin_])[gtin_])


@contextmanager
def interrupted_at(
    patch: pytest.MonkeyPatch, service: prodex.service.Client, moment: str, number: int
) -> Iterator[list[int]]:
    """Raise KeyboardInterrupt at a moment of a call to a service, or of what is written to the disk; count them."""
    seen = [0, 0]
    session = service._transport.session
    send, fsync = session.send, os.fsync

    def counted(*arguments: Any, **options: Any) -> Any:
        seen[0] += 1
        mine = seen[0]
        if (moment, number) == ("before", mine):
            raise KeyboardInterrupt
        reply = send(*arguments, **options)
        if (moment, number) == ("after", mine):
            raise KeyboardInterrupt
        return reply

    def flushed(handle: int) -> None:
        fsync(handle)
        written()

    def written() -> None:
        seen[1] += 1
        if (moment, number) == ("disk", seen[1]):
            raise KeyboardInterrupt

    with patch.context() as patched:
        patched.setattr(session, "send", counted)
        patched.setattr(os, "fsync", flushed)
        after_each_commit(patched, written)
        yield seen


def check(
    exchange: AnsweredExchange,
    fix: prodex.worklists.Fix,
    gtins: Sequence[str],
    result: Interrupted,
    where: str,
) -> None:
    """Hold what a `Fix` knows in the end against what the service received and has."""
    received, records = exchange.received, exchange.records(gtins)
    result.twice += [one for one in gtins if received[one] > 1]
    if (states := dict(fix.counts)) != {"accepted": len(gtins)}:
        result.unaccounted.append(f"{where}: {states}")
    told = dict(zip(fix.sent["gtin"], fix.sent["status"], strict=True))
    for one in gtins:
        status, times = told.get(one), received[one]
        has = french(records[one]) == f"Pain aux graines {one}"
        if status == "SUCCESS" and times == 1 and has:
            result.sent += 1
        elif status == "unknown" and not has:
            result.unknown += 1
            result.unknown_that_arrived += times
        else:
            result.unaccounted.append(
                f"{where}: {one} is {status}, was received {times} times, arrived: {has}"
            )


def kill_one(
    exchange: AnsweredExchange,
    forks: Forks,
    home: Path,
    ends: Sequence[tuple[str, int, str]],
    result: Interrupted,
) -> None:
    """Apply a worklist by the command, which is ended at each of these moments and begun again, to its end."""
    path, gtins = exchange.worklist()
    profile = path.with_name("own.toml")
    profile.write_text('title = "Own"\n[checks.valid_gtin]\n', "utf-8")
    words = ["fix", str(path), "--snapshot", "interrupted", "--profile", str(profile), "--send", "--wait"]
    words += ["--service", exchange.sandbox.base_url]
    environment = {"PRODEX_HOME": str(home), **exchange.environment}
    for moment, number, end in ends:
        status = forks.start(environment, words=words, at=[moment, number], end=end).wait()
        result.kills += status == -9
        result.interrupts += status == 130
    process = forks.start(environment, words=words, at=None, end="SIGKILL")
    process.wait()
    fix = exchange.read(path)
    before = exchange.received
    fix.apply(exchange.service, progress=False).wait(progress=False)
    if exchange.received != before:
        result.unaccounted.append(f"{ends}: the same answers were sent once more")
    result.worklists += 1
    check(exchange, fix, gtins, result, str(ends))


def interrupt_often(folder: Path, home: Path, times: int, *, seed: int = 1) -> Interrupted:
    """Kill and interrupt so often, at moments drawn by chance; each worklist is then applied to its end."""
    chance, result = random.Random(seed), Interrupted()
    # On a slow machine a process asks less often whether its import has ended, and may be done before its moment.
    most = 2 * times
    with (
        _at_home(home),
        AnsweredExchange.serving(folder, most) as exchange,
        forking(_IMPORTED, _WORK, folder / "complaints.txt") as forks,
    ):
        while (left := times - result.kills - result.interrupts) > 0 and result.worklists < most:
            several = min(left, chance.choice((1, 1, 2, 3)))
            kill_one(exchange, forks, home, [_moment(chance) for _ in range(several)], result)
    return result


@contextmanager
def _at_home(home: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODEX_HOME", str(home))
        yield


def _moment(chance: random.Random) -> tuple[str, int, str]:
    moment = chance.choice(MOMENTS)
    return moment, chance.randrange(*_MATTERS[moment]), chance.choice(("SIGKILL", "SIGINT"))
