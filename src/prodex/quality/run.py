"""Running an audit: a profile's checks on every part of a catalogue, on any executor.

A rule that raises, or returns something that is no verdict, leaves its column unknown in that part and is reported;
it never counts as a pass. So does, without a report, one that needs what the catalogue's export left out.
"""

from __future__ import annotations

import ctypes
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial, reduce
from operator import or_
from os import cpu_count
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import clock
from prodex.advice import Argument
from prodex.catalog import Catalog, Origin, Part
from prodex.catalog.counted_units import is_chosen_by_units
from prodex.errors import InputError, NotExported, SnapshotError
from prodex.executors import checked_executor, mapped, side_by_side
from prodex.facts.owner import owner_codes
from prodex.facts.requested_data import OR, Asked, asked_for
from prodex.progress import Progress, reporting
from prodex.quality.accepted import accepted_findings
from prodex.quality.audit import Audit
from prodex.quality.audit_part import IDENTITY, AuditPart, Crash
from prodex.quality.check import Check
from prodex.quality.products import Products, once_per_part
from prodex.quality.profile import Profile, confirm
from prodex.quality.requirements import Requirements
from prodex.quality.rulebook import RULE_SET, Rule
from prodex.quality.scope import is_meant
from prodex.quality.states import NO_FINDINGS, Judged, State, VerdictRefused, states_of_verdict
from prodex.quality.verdict import Verdict
from prodex.selection import Selection
from prodex.selection.units import NAMED
from prodex.store.snapshot import catalog_given
from prodex.tables.columns import Answer, Mask
from prodex.tables.declaration import TABLES
from prodex.written_dates import day_given

_Made = TypeVar("_Made")

#: Seconds that a user's rule may take for one part of a catalogue; prodex's own rules take less than one.
RULE_SECONDS = 60.0


class RuleTimeout(Exception):
    """A rule exceeded its time limit."""


class RuleExited(Exception):
    """A rule tried to end the program."""


class _Abandoned(SystemExit):
    """Raised in an abandoned thread: it ends the thread without a traceback."""


def run_within(seconds: float | None, work: Callable[[], _Made]) -> _Made:
    """Return or raise what `work` returns or raises, but wait only for a limited time.

    The work runs in a thread of its own. Python cannot end a thread from outside. One that has not returned in time is
    abandoned: nobody takes its result any more, and an exception in it ends it as soon as it runs Python code again. A
    call into compiled code (a regular expression, a computation of Arrow) continues until it returns, and so does code
    that catches every exception; both use a processor and memory meanwhile. The thread is a daemon: the process
    does not wait for it when it ends.

    Parameters
    ----------
    seconds
        For how long; None waits for ever, without a thread.
    work
        What to do.

    Raises
    ------
    RuleTimeout
        When it did not return in time.
    RuleExited
        When it raised SystemExit, or another exception that is meant to end more than itself. KeyboardInterrupt is
        raised as it is.

    Examples
    --------
    >>> run_within(10, lambda: 7)
    7
    """
    if seconds is None:
        return _kept_inside(work)
    outcome: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            raised.append(error)

    thread = Thread(target=run, name="rule", daemon=True)
    thread.start()
    thread.join(seconds)
    # A thread that has its result but not ended yet is in time.
    if thread.is_alive() and not (outcome or raised):
        _abandon(thread)
        raise RuleTimeout(
            f"it took longer than {seconds:g} seconds and was abandoned. Allow more with rule_seconds, or let it work "
            "on whole columns instead of product by product."
        )
    if raised:
        _kept_inside(lambda: _raise(raised.pop()))
    made: _Made = outcome.pop()
    return made


def _kept_inside(work: Callable[[], _Made]) -> _Made:
    try:
        return work()
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise RuleExited(
            f"it tried to end the program: {type(error).__name__} {error_words(error)}".rstrip()
        ) from error


def error_words(error: BaseException) -> str:
    """Return the message of an exception, which somebody else's class makes."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the message is lost, and nothing else should be
        return "(its message cannot be shown)"


def _raise(error: BaseException) -> NoReturn:
    raise error


def _abandon(thread: Thread) -> None:
    # The only way that CPython has: https://docs.python.org/3/c-api/init.html#c.PyThreadState_SetAsyncExc
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Abandoned)
    )


#: The tables of so many products fit in memory, where each is read once, however many rules look at it.
_FEW = 2_000

#: To judge a part by a hundred checks has a price of its own, that of a thousand products: smaller ones are judged
#: together, up to so many products, and fewer where cores would be idle.
_TOGETHER = 5_000
_WORTH_A_CORE = 1_000
#: A part that makes a group a little larger is not left to another one.
_LARGER = 1.25

#: A week: what is longer is no limit, and more than the clock of a thread takes.
_LONGEST = 7 * 24 * 3600


def audit(
    catalog: Catalog | str | Path,
    profile: str | Path | Mapping[str, Any] | Profile | Requirements = "core",
    *,
    executor: Executor | None = None,
    progress: Progress = None,
    now: datetime | None = None,
    assume_food: bool | None = None,
    rule_seconds: float | None = RULE_SECONDS,
    requirements: Requirements | str | Path | None = None,
    accepted: str | Path | None = None,
    as_of: date | str | None = None,
) -> Audit:
    """Judge every product of a catalogue by the checks of a profile, by requirements, or by both.

    Parameters
    ----------
    catalog
        What to judge, or the name of a snapshot. A product that waits for acceptance has its data under `lastRequest`;
        `catalog.with_pending_updates()` judges it as it will be.
    profile
        "core", "online-listing", "logistics", "food-eu" or "pictures"; one's own by its path, or as a mapping of the
        same shape, or a `Profile`. Requirements, or the path of a file with them, are judged by alone.
    executor
        Any `concurrent.futures` executor; threads by default. Rules of one's own that are defined in a notebook run on
        threads and on a Dask client's executor.
    progress
        A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done, total),
        both in products.
    now
        The moment to which "older than" refers, the present by default: a date without zone is taken as the service's
        dates are, one with a zone in UTC.
    assume_food
        Whether to treat products as food that have neither a GPC class nor any data that only food has. None leaves
        them undecided, and the checks of food unknown, unless the profile's `assume` decides.
    rule_seconds
        How long a rule of one's own may take for one part of the catalogue. One that takes longer is unknown there
        and among the audit's crashes, and the others are judged as ever. Its thread is abandoned: it ends as soon as
        it runs Python code again. None waits for ever.
    requirements
        What channels ask of each family, beside the checks of the profile: `Requirements`, or the path of a file with
        them.
    accepted
        A file of accepted findings, for a catalogue in memory or in place of the one beside the snapshot; see
        `prodex.accept`.
    as_of
        The day whose laws are meant, as a date or as "2026-08-12"; the day of `now` unless given. A check whose law is
        not in force on that day is a warning, and one whose law has ended applies to no product.

    Raises
    ------
    InputError
        When there is no such file of accepted findings.
        When the profile cannot be used, also because it names an attribute that neither the specification nor the
        catalogue knows; the message names file, line, key and the nearest name. A kind that no product has is a
        warning.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359936"}]), "core")
    >>> audit.matrix["valid_gtin"].tolist()
    [1]
    """
    catalog = catalog_given(catalog, "audit(catalog, 'online-listing')", profile)
    chosen = profile if isinstance(profile, Profile) else Profile.read(profile)
    if requirements is not None:
        chosen = chosen.with_requirements(requirements)
    if assume_food is not None:
        chosen = chosen.with_assumption(food=assume_food)
    moment = moment_of(now)
    day = day_given(as_of, Argument("as_of"))
    limit = _seconds_limit(rule_seconds)
    # Read first: a file that is not there should cost seconds, not the whole run.
    known = accepted_findings(catalog.folder, accepted)
    checked_executor(executor)
    judged = audit_among(
        catalog,
        catalog,
        chosen,
        moment,
        executor=executor,
        progress=progress,
        rule_seconds=limit,
        as_of=day,
    )
    return judged if known is None else judged.accepting(known)


def audit_among(
    catalog: Catalog,
    among: Catalog,
    profile: Profile,
    now: datetime,
    *,
    executor: Executor | None = None,
    progress: Progress = None,
    rule_seconds: float | None = RULE_SECONDS,
    as_of: date | None = None,
) -> Audit:
    """Judge some products of a larger catalogue: rules that compare products look at all of it.

    Parameters
    ----------
    catalog
        The products to judge.
    among
        The catalogue that they belong to.
    profile, now, executor, progress, rule_seconds, as_of
        As for `audit`, and checked already.

    Examples
    --------
    >>> import prodex
    >>> twice = prodex.flatten([{"id": n, "gtin": "03036811359935"} for n in (7, 8)])
    >>> profile = Profile.read({"checks": {"duplicate_gtin": {}}})
    >>> audit_among(twice.head(1), twice, profile, datetime(2026, 1, 1)).matrix["duplicate_gtin"].tolist()
    [1]
    """
    parts = []
    day = as_of or now.date()

    with reporting(progress, "Audited") as reporter:
        with reporter.phase("Checking the profile"):
            # Before any part is judged: a typing error should cost seconds, not the whole run.
            confirm(among, profile.checks, profile.attributes, profile.requirements)
        with reporter.phase("Auditing", "products", len(catalog), counts=True) as phase:
            for part in run(
                catalog,
                profile.every_check,
                now,
                profile.market,
                executor,
                dict(profile.assume),
                rule_seconds,
                among,
                day=day,
            ):
                parts.append(part)
                phase.add(part.size)
    # Every table was read into memory, which Arrow would keep for further tables.
    pa.default_memory_pool().release_unused()
    return Audit(
        parts=tuple(parts),
        checks=_checks_on(day, profile, catalog),
        profile=profile.name,
        rule_set=RULE_SET,
        assumed=profile.assume,
        origin=catalog.origin,
        now=now,
        audited_at=clock.now(),
        catalog_folder=catalog.folder,
        catalog=catalog,
        grade_with_blocker=profile.grade_with_blocker,
        made_by=profile,
        families=None if profile.requirements is None else profile.requirements.without_asks(),
        as_of=day,
        is_own=True,
    )


def moment_of(now: datetime | None) -> datetime:
    """Return a moment as dates of the service are: without zone, in UTC; the present by default."""
    given = clock.now() if now is None else now
    if not isinstance(given, datetime):
        raise InputError(f"now is {now!r}; give a datetime.")
    # Dates of the service have no zone, and two kinds of dates cannot be compared.
    return given if given.tzinfo is None else given.astimezone(UTC).replace(tzinfo=None)


def _seconds_limit(seconds: Any) -> float | None:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds <= _LONGEST):
        raise InputError(f"rule_seconds is {seconds!r:.60}; give seconds, such as 60, or None for no limit.")
    return None if seconds is None else float(seconds)


@dataclass(frozen=True)
class PartsJob:
    """Parts that are judged together, with everything that is needed, fit to be sent to another process.

    Attributes
    ----------
    number
        The place of the first part in the catalogue.
    parts
        The parts, one after another.
    """

    number: int
    parts: tuple[Part, ...]
    origin: Origin
    checks: tuple[Check, ...]
    now: datetime
    market: int | None
    assume: Mapping[str, Any]
    whole: Mapping[str, Any]
    crashed: tuple[Crash, ...]
    rule_seconds: float | None = RULE_SECONDS
    day: date | None = None


def run(
    catalog: Catalog,
    checks: Sequence[Check],
    now: datetime,
    market: int | None = None,
    executor: Executor | None = None,
    assume: Mapping[str, Any] | None = None,
    rule_seconds: float | None = RULE_SECONDS,
    among: Catalog | None = None,
    *,
    day: date | None = None,
) -> Iterator[AuditPart]:
    """Judge a catalogue part by part, in order.

    Parameters
    ----------
    catalog
        What is judged.
    checks
        By which checks: the columns of the matrix.
    now
        Local time without zone.
    market
        Market of products without one of their own.
    executor
        Any `concurrent.futures` executor; threads by default.
    assume
        Assumptions for products whose data do not decide.
    rule_seconds
        How long a rule of one's own may take for one part; None waits for ever.
    among
        Where rules look that need all products at once: a larger catalogue that has these products as well.
    day
        The day whose laws are meant; that of `now` by default.

    Raises
    ------
    InputError
        When a rule of one's own is to run in other processes that do not know its function.
    SnapshotDamaged
        When a file of the catalogue cannot be read: this is not a rule's fault.
    """
    among = among or catalog
    catalog, among = _held(catalog, among, executor)
    whole, crashed = prepared_for(among, checks, now, rule_seconds, executor)
    jobs, number = [], 0
    for parts in small_together(catalog.parts, cpu_count() or 1):
        jobs.append(
            PartsJob(
                number,
                parts,
                catalog.origin,
                tuple(checks),
                now,
                market,
                dict(assume or {}),
                whole,
                crashed if number == 0 else (),  # a crash of a preparation is reported once
                rule_seconds,
                day,
            )
        )
        number += len(parts)
    if executor is not None:
        folders = [] if catalog.folder is None else [catalog.folder]
        judged = mapped(executor, audit_parts, jobs, folders=folders)
    else:
        judged = side_by_side(audit_parts, jobs)
    for together in judged:
        yield from together


def small_together(parts: Sequence[Part], cores: int) -> Iterator[tuple[Part, ...]]:
    """Yield parts in their order, small ones together, of which each core has some if they are many.

    Examples
    --------
    >>> [len(one) for one in small_together([Part(900)] * 10, cores=2)]
    [5, 5]
    """
    enough = min(max(sum(part.size for part in parts) // cores, _WORTH_A_CORE), _TOGETHER)
    group: list[Part] = []
    size = 0
    for part in parts:
        is_full = size >= enough or size + part.size > _LARGER * enough
        if group and (is_full or not _are_alike(group[0], part)):
            yield tuple(group)
            group, size = [], 0
        group.append(part)
        size += part.size
    if group:
        yield tuple(group)


def _are_alike(one: Part, other: Part) -> bool:
    """Whether two parts have the same tables and columns: where one lacks what a rule needs, the other may have it."""
    return one.lacking == other.lacking and all(one.holds(table) == other.holds(table) for table in TABLES)


def _held(catalog: Catalog, among: Catalog, executor: Executor | None) -> tuple[Catalog, Catalog]:
    """Return both with their tables in memory from when they are first read, where they are small."""
    if executor is not None or len(among) > _FEW:
        return catalog, among
    held = _read_once(among)
    return held if among is catalog else _read_once(catalog), held


def _read_once(catalog: Catalog) -> Catalog:
    return replace(catalog, parts=tuple(part.read_once() for part in catalog.parts))


def audit_parts(job: PartsJob) -> list[AuditPart]:
    """Judge parts together; each has its own result."""
    if (judged := _judged_together(job)) is not None:
        return judged
    alone = (
        replace(job, number=job.number + place, parts=(part,), crashed=job.crashed if place == 0 else ())
        for place, part in enumerate(job.parts)
    )
    return [judged for one in alone for judged in _judged_together(one) or ()]


def _judged_together(job: PartsJob) -> list[AuditPart] | None:
    """Judge parts as if they were one; None where they have to be judged one by one."""
    products = _products_of(job)
    is_alone = len(job.parts) == 1
    # Rows are told by the key of their product, which a catalogue that somebody put together may hold in two parts.
    if not is_alone and pc.count_distinct(products.column("product_id")).as_py() < len(products):
        return None
    # Column by column is how states are counted and written.
    states = np.empty((len(products), len(job.checks)), np.int8, order="F")
    findings, doubts, crashes = [NO_FINDINGS], [NO_FINDINGS], list(job.crashed)
    for place, check in enumerate(job.checks):
        unjudged = ""
        try:
            seconds = _seconds(check.rule, job.rule_seconds)
            judged, unjudged = run_within(seconds, partial(_judged_check, products, check, place, job))
        except (SnapshotError, MemoryError):
            # A damaged file or a lack of memory is no fault of a rule: the audit ends.
            raise
        except NotExported:
            # The rule read something that the export left out: its result is unknown, and this is no crash.
            if not is_alone:  # of another part it may need nothing of that
                return None
            judged = _all(State.UNKNOWN, products)
        except Exception as error:  # noqa: BLE001 - whatever a rule raises is reported and concerns its column only
            judged, unjudged = _all(State.UNKNOWN, products), _message_of(error)
            if isinstance(error, RuleTimeout):
                products = _products_of(job)  # the abandoned thread may still be reading the old ones
        states[:, place], found, doubted = judged
        for rows, of_part in ((found, findings), (doubted, doubts)):
            if rows.num_rows:
                of_part.append(rows)
        if unjudged:
            if not is_alone:  # the other parts may well be judged
                return None
            crashes.append(Crash(check.id, job.number, unjudged))
    found, doubted = (pa.concat_tables(tables).combine_chunks() for tables in (findings, doubts))
    sizes = [part.size for part in job.parts]
    parts = AuditPart.of_each(sizes, _identity_columns(products), states, found, doubted)
    products.forget()
    # What could not be prepared is said once.
    return [replace(parts[0], crashes=tuple(crashes)), *parts[1:]]


def _products_of(job: PartsJob) -> Products:
    return Products(job.parts, job.origin, job.now, job.market, job.assume)


def _checks_on(day: date, profile: Profile, catalog: Catalog) -> tuple[Check, ...]:
    """Return the checks as an audit keeps them; of products that were chosen by the kind of their units all count."""
    checks = profile.checks_on(day)
    return tuple(replace(one, units=NAMED) for one in checks) if is_chosen_by_units(catalog) else checks


def _seconds(rule: Rule, seconds: float | None) -> float | None:
    """Return how long a rule may take: those of prodex end by themselves, and a thread for each costs up to 8 %."""
    return None if rule.shipped else seconds


def _judged_check(products: Products, check: Check, place: int, job: PartsJob) -> tuple[Judged, str]:
    """Return what a check says of the products of a part, and why it could not judge some of them."""
    if check.has_ended(job.day or job.now.date()):
        return _all(State.NOT_APPLICABLE, products), ""
    says_unknown = check.rule.says_unknown
    # Where the catalogue has it, nobody said: an absent value would be a guess.
    if check.not_asked or not (says_unknown or check.knows_scope(job.origin, job.market, job.assume)):
        return _all(State.UNKNOWN, products), ""
    in_scope = _products_in_scope(products, check.scopes, check.rule.scope)
    asked = Asked.ALL if says_unknown else check.asked(job.origin)
    cannot_say = asked is Asked.NOTHING or (asked is Asked.PART and check.rule.certain is None)
    # A rule whose preparation crashed is unknown everywhere, as its crash says.
    if cannot_say or (check.rule.needs_all_parts and check.rule.id not in job.whole):
        return _undecided(in_scope, place), ""
    given = dict(check.parameters)
    if check.language is not None:
        given["language"] = check.language
    if check.rule.needs_all_parts:
        given["whole"] = job.whole[check.rule.id]
    verdict, read = products.read_by(partial(check.rule.function, products, **given))
    if not check.rule.needs and asked_for(job.origin, read) is not Asked.ALL:
        # A user's rule that does not declare what it needs is assumed to need all that it reads, of this part.
        if len(job.parts) > 1:
            raise NotExported(f"Rule {check.rule.id} read what was not requested.")
        return _undecided(in_scope, place), ""
    judged = states_of_verdict(verdict, in_scope, place)
    if says_unknown:
        return judged, verdict.unjudged
    looked_at = [path for need in check.needs or read for path in need.split(OR)]
    doubtful = products.unreadable(looked_at, check.language)
    if asked is not Asked.ALL:
        doubtful = np.ones(len(products), bool)
    certain = _certain(judged, check.rule.certain, in_scope, doubtful) if doubtful.any() else judged
    return certain, verdict.unjudged


def _all(state: State, products: Products) -> Judged:
    return np.full(len(products), state, np.int8), NO_FINDINGS, NO_FINDINGS


def _undecided(in_scope: Answer, place: int) -> Judged:
    """Return that a check is unknown for the products that it is about."""
    unknown = pd.arrays.BooleanArray(np.zeros(len(in_scope), bool), np.ones(len(in_scope), bool))
    return states_of_verdict(Verdict(unknown), in_scope, place)


def _certain(judged: Judged, certain: str | None, in_scope: Answer, doubtful: Mask) -> Judged:
    """Return the certain part of a verdict on products of which not all that is needed was requested, or is readable.

    What is there decides for good in one direction at most: one wrong text fails, one name is a name.
    """
    states, findings, doubts = judged
    kept = {"fails": State.FAIL, "passes": State.PASS}.get(certain or "")
    is_certain = np.zeros(len(doubtful), bool) if kept is None else states == kept
    unknown = doubtful & ~is_certain & in_scope.fillna(True).to_numpy(bool)
    states = np.where(unknown, State.UNKNOWN, states).astype(np.int8)
    fails = states[findings["product"].to_numpy()] == State.FAIL
    return states, findings.filter(pa.array(fails)), doubts


@once_per_part
def _products_in_scope(products: Products, scopes: tuple[Selection, ...], of_rule: Selection) -> Answer:
    """Return the products that a check is about; many checks share their conditions, which are evaluated once."""
    return reduce(or_, (is_meant(products, scope) for scope in scopes)) & is_meant(products, of_rule)


class Prepared(NamedTuple):
    """What rules need of all parts at once, by rule; and the crashes of rules for which it could not be made."""

    whole: Mapping[str, Any]
    crashed: tuple[Crash, ...] = ()


def prepared_for(
    catalog: Catalog,
    checks: Sequence[Check],
    now: datetime,
    seconds: float | None,
    executor: Executor | None,
) -> Prepared:
    """Prepare what rules need of all parts at once; an error is a crash of the rule's checks.

    Raises
    ------
    InputError, SnapshotDamaged
        See `run`.
    """
    # Other executors share this process, or send functions along.
    if isinstance(executor, ProcessPoolExecutor):
        _refuse_own(checks)
    made: dict[str, Any] = {}
    shared: dict[Any, Any] = {}
    crashes: list[Crash] = []
    for rule in {check.rule.id: check.rule for check in checks if check.rule.needs_all_parts}.values():
        # Rules that gather and prepare the same share it.
        key = rule.id if rule.gather is None else (rule.gather, rule.prepare)
        try:
            if key not in shared:
                found = (
                    run_within(_seconds(rule, seconds), partial(_gathered, catalog, rule, now, executor))
                    if rule.gather
                    else _whole_columns(catalog, rule.whole)
                )
                shared[key] = (
                    run_within(_seconds(rule, seconds), partial(rule.prepare, found))
                    if rule.prepare is not None
                    else found
                )
            made[rule.id] = shared[key]
        except (SnapshotError, MemoryError):
            raise
        except NotExported:
            continue  # not prepared, its checks are unknown
        except Exception as error:  # noqa: BLE001 - as in audit_parts
            crashes += [Crash(c.id, 0, _message_of(error)) for c in checks if c.rule.id == rule.id]
    return Prepared(made, tuple(crashes))


@dataclass(frozen=True)
class _GatherJob:
    """One part of which a rule's table is made, fit to be sent to another process."""

    part: Part
    origin: Origin
    now: datetime
    gather: Callable[[Products], pa.Table]


def _gathered(catalog: Catalog, rule: Rule, now: datetime, executor: Executor | None) -> pa.Table:
    """Return the tables that a rule makes of each part, one below the other."""
    if rule.gather is None:
        raise InputError(f"Rule {rule.id} gathers nothing.")
    jobs = [_GatherJob(part, catalog.origin, now, rule.gather) for part in catalog.parts]
    if executor is not None:
        folders = [] if catalog.folder is None else [catalog.folder]
        return pa.concat_tables(list(mapped(executor, _gather, jobs, folders=folders)))
    return pa.concat_tables(list(side_by_side(_gather, jobs)))


def _gather(job: _GatherJob) -> pa.Table:
    products = Products((job.part,), job.origin, job.now)
    table = job.gather(products)
    products.forget()
    return table


def _whole_columns(catalog: Catalog, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """Read columns such as "products.gtin"; those of one table in one go, so that their rows stay together."""
    tables: dict[str, list[str]] = {}
    for name in names:
        table, _, column = name.partition(".")
        tables.setdefault(table, []).append(column)
    return {
        f"{table}.{column}": read.column(column)
        for table, columns in tables.items()
        for read in [catalog.arrow(table, columns)]
        for column in columns
    }


def _message_of(error: Exception) -> str:
    if isinstance(error, VerdictRefused | RuleTimeout | RuleExited):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error_words(error)} (in {place.name}, line {place.lineno})"


def _identity_columns(products: Products) -> pa.Table:
    """Return what products are called and grouped by; an owner is identified by what tells owners apart."""
    made: dict[str, Callable[[], pa.Array]] = {
        "owner_id": lambda: owner_codes(products.column),
        "name": lambda: products.name,
    }
    columns = []
    for field in IDENTITY:
        try:
            columns.append(made.get(field.name, partial(products.column, field.name))())
        except NotExported:
            columns.append(pa.nulls(len(products), field.type))
    return pa.table(columns, schema=IDENTITY)


def _refuse_own(checks: Sequence[Check]) -> None:
    for check in checks:
        if check.rule.shipped:
            continue
        functions = (check.rule.function, *([check.rule.gather] if check.rule.gather else []))
        if not all(map(_is_importable, functions)):
            raise InputError(
                f"Rule {check.rule.id!r} was defined in this notebook or inside a function, where other processes "
                "cannot find it. Leave executor out (threads know it), use a Dask client's executor (which sends "
                "functions along), or put the rule into a module and import it."
            )


def _is_importable(function: Callable[..., Any]) -> bool:
    """Whether another process finds this function by its name: not one of a notebook, nor one inside another."""
    module = sys.modules.get(function.__module__)
    return function.__module__ != "__main__" and getattr(module, function.__qualname__, None) is function
