"""Rules made to do harm: whatever a rule does, it concerns its own column only."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest

import prodex
from prodex.errors import InputError
from prodex.quality.products import Products
from prodex.quality.run import run_within
from prodex.quality.states import State
from tests.cases import each_row
from tests.quality import judging
from tests.quality.test_engine import in_parts

GTIN = "03036811359935"


def catalog() -> prodex.Catalog:
    """Hold two products with a right GTIN."""
    return prodex.flatten([{"id": 7, "gtin": GTIN}, {"id": 8, "gtin": GTIN}])


def judged(rule: Callable[..., Any], **options: Any) -> prodex.quality.Audit:
    """Judge by a hostile rule, and by one that comes with prodex after it."""
    prodex.packs.rule(title="never")(rule)
    profile = {"checks": {rule.__name__: {}, "valid_gtin": {}}}
    return prodex.audit(catalog(), profile, progress=False, **options)


def passes(products: Products) -> prodex.packs.Verdict:
    """Let everything pass."""
    return prodex.packs.Verdict([False] * len(products))


def exits(products: Products) -> Any:
    """End the program."""
    sys.exit(3)


def recurses(products: Products) -> Any:
    """Call itself for ever."""
    return recurses(products)


def raises_its_own(products: Products) -> Any:
    """Raise an exception that is no Exception."""

    class Oddity(BaseException):
        pass

    raise Oddity("odd")


def yields(products: Products) -> Any:
    """Be a generator."""
    yield passes(products)


def gives_a_generator(products: Products) -> Any:
    """Give a generator for booleans."""
    return prodex.packs.Verdict(one for one in [False, False])


def explains_for_ever(products: Products) -> Any:
    """Give an endless generator as reasons."""
    return prodex.packs.Verdict(
        [True, True],
        evidence=prodex.packs.Evidence([0, 1], reason=map(str, itertools.count())),  # type: ignore[arg-type]
    )


def is_too_long(products: Products) -> Any:
    """Give one boolean too many."""
    return prodex.packs.Verdict([False] * (len(products) + 1))


def raises_what_cannot_be_shown(products: Products) -> Any:
    """Raise an exception that cannot be written."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    raise Mute


@pytest.mark.slow
@each_row(
    ("rule", "why"),
    [
        (exits, "it tried to end the program: SystemExit 3"),
        (raises_its_own, "it tried to end the program: Oddity odd"),
        (recurses, "RecursionError"),
        (yields, "it returned generator instead of prodex.packs.Verdict"),
        (gives_a_generator, "fails has the shape ()"),
        (explains_for_ever, "the evidence has map for reason; give a list or a column"),
        (is_too_long, "fails has 3 values for 2 products"),
        (raises_what_cannot_be_shown, "Mute"),
    ],
)
@each_row("rule_seconds", [60, None])
def test_a_hostile_rule_concerns_its_column_only(
    rule: Callable[..., Any], why: str, rule_seconds: float | None
) -> None:
    """The check is unknown and reported, with and without a time limit; the next rule runs normally."""
    audit = judged(rule, rule_seconds=rule_seconds)

    assert [[State.UNKNOWN, State.PASS]] * 2 == audit.states.tolist()
    assert [rule.__name__] == [crash.check for crash in audit.crashes]
    assert why in audit.crashes[0].message


def test_the_user_can_still_interrupt() -> None:
    """A KeyboardInterrupt ends the audit, whoever raises it."""

    def interrupts(products: Products) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judged(interrupts)


def test_what_a_rule_does_to_its_rows_does_not_reach_another() -> None:
    """A rule gets copies or read-only arrays."""

    def spoils(products: Products) -> prodex.packs.Verdict:
        rows = products.rows("products", "gtin")
        rows["gtin"] = ""
        del rows["product"]
        gtins = products["gtin"]
        gtins.iloc[:] = ""
        with pytest.raises(ValueError, match="read-only"):
            products.arrow("products", "gtin")["product"].chunk(0).to_numpy()[:] = 0
        return passes(products)

    audit = judged(spoils)

    assert () == audit.crashes
    assert [[State.PASS, State.PASS]] * 2 == audit.states.tolist()


def test_much_evidence_is_kept_whole() -> None:
    """A million findings of one product are no reason to lose one."""

    def says_much(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([True, False], evidence=prodex.packs.Evidence([0] * 1_000_000, value="x"))

    audit = judged(says_much)

    assert () == audit.crashes
    assert 1_000_000 == len(audit.parts[0].findings)


def busy(products: Products) -> Any:
    """Compute for ever, in Python."""
    while True:
        pass


def sleeps(products: Products) -> Any:
    """Wait for ever, in small steps."""
    while True:
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize("rule", [busy, sleeps])
def test_a_rule_that_takes_too_long_concerns_its_column_only(rule: Callable[..., Any]) -> None:
    """A rule that does not return is unknown in each part and reported; other rules run, and its threads end."""
    prodex.packs.rule(title="never")(rule)
    cut = in_parts(catalog(), 1)

    audit = prodex.audit(
        cut, {"checks": {rule.__name__: {}, "valid_gtin": {}}}, rule_seconds=1.5, progress=False
    )

    assert [[State.UNKNOWN, State.PASS]] * 2 == audit.states.tolist()
    assert [(rule.__name__, 0), (rule.__name__, 1)] == [(crash.check, crash.part) for crash in audit.crashes]
    assert audit.crashes[0].message.startswith("it took longer than 1.5 seconds and was abandoned.")
    for thread in threading.enumerate():
        if thread.name == "rule":
            thread.join(10)
    assert [] == [thread for thread in threading.enumerate() if thread.name == "rule"]


@pytest.mark.slow
def test_an_abandoned_rule_does_not_reach_those_after_it() -> None:
    """What it does to its products when it wakes up is done to others than theirs."""
    wake, woken = threading.Event(), threading.Event()

    def lingers(products: Products) -> Any:
        try:
            wake.wait()  # a call into C, which nothing ends
        finally:
            products.now = products.now.replace(year=1999)
            woken.set()

    def is_of_today(products: Products) -> prodex.packs.Verdict:
        wake.set()
        assert woken.wait(60)
        return prodex.packs.Verdict([products.now.year == 1999] * len(products))

    prodex.packs.rule(title="never")(lingers)
    for number in range(4):
        is_of_today.__name__ = f"is_of_today_{number}"
        prodex.packs.rule(title="it is not 1999")(is_of_today)
    checks = {"lingers": {}, **{f"is_of_today_{number}": {} for number in range(4)}}

    audit = prodex.audit(catalog(), {"checks": checks}, rule_seconds=3, progress=False)

    assert ["lingers"] == [crash.check for crash in audit.crashes]
    assert [[State.UNKNOWN, *[State.PASS] * 4]] * 2 == audit.states.tolist()


@pytest.mark.slow
def test_what_a_rule_wants_whole_is_limited_as_well() -> None:
    """Preparing is done once, for all parts, and may not return either."""

    def counts(products: Products, *, whole: Any) -> Any:
        return passes(products)

    prodex.packs.rule(title="never", whole="products.gtin", prepare=busy)(counts)

    audit = prodex.audit(catalog(), {"checks": {"counts": {}, "valid_gtin": {}}}, rule_seconds=1.5)

    assert [[State.UNKNOWN, State.PASS]] * 2 == audit.states.tolist()
    assert "longer than 1.5 seconds" in audit.crashes[0].message


@pytest.mark.slow
def test_the_limit_holds_on_any_executor() -> None:
    """It holds on threads and in other processes as well."""
    judging.declare()
    cut = in_parts(catalog(), 1)
    profile = {"checks": {"never_returns": {}, "valid_gtin": {}}}

    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(1, get_context("spawn")) as processes:
        audits = [
            prodex.audit(cut, profile, executor=executor, rule_seconds=1.5, progress=False)
            for executor in (threads, processes)
        ]

    for audit in audits:
        assert [[State.UNKNOWN, State.PASS]] * 2 == audit.states.tolist()
        assert 2 == len(audit.crashes)


@each_row("seconds", [0, -1, "60", True, float("nan"), float("inf"), 1e12])
def test_a_limit_that_is_none_is_refused(seconds: Any) -> None:
    """The message says what to give."""
    with pytest.raises(InputError, match=r"rule_seconds is .*; give seconds, such as 60, or None"):
        prodex.audit(catalog(), rule_seconds=seconds)


def test_what_returns_in_time_is_returned_and_raised_as_it_is() -> None:
    """The thread adds nothing and takes nothing away."""

    def fails() -> None:
        raise LookupError("gone")

    assert 7 == run_within(5, lambda: 7)
    assert 7 == run_within(None, lambda: 7)
    with pytest.raises(LookupError, match="gone"):
        run_within(5, fails)
