"""Running an audit: a profile's checks on every part of a catalogue, on any executor."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from prodex import clock
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.progress import Progress, reporting
from prodex.quality.audit import Audit
from prodex.quality.engine import run
from prodex.quality.profile import Profile
from prodex.quality.profile_validation import confirm
from prodex.quality.rule_timeout import RULE_SECONDS
from prodex.quality.rules import RULE_SET
from prodex.store.executors import checked_executor
from prodex.store.snapshot import catalog_given

#: A week: what is longer is no limit, and more than the clock of a thread takes.
_LONGEST = 7 * 24 * 3600


def audit(
    catalog: Catalog | str | Path,
    profile: str | Path | Mapping[str, Any] | Profile = "core",
    *,
    executor: Executor | None = None,
    progress: Progress = None,
    now: datetime | None = None,
    assume_food: bool | None = None,
    rule_seconds: float | None = RULE_SECONDS,
) -> Audit:
    """Judge every product of a catalogue by the checks of a profile.

    Parameters
    ----------
    catalog
        What to judge, or the name of a snapshot. A product that waits for acceptance has its data under `lastRequest`;
        `with_pending_updates(catalog)` judges it as it will be.
    profile
        "core", "online-listing", "logistics", "food-eu" or "pictures"; one's own by its path, or as a mapping of the
        same shape, or a `Profile`.
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

    Raises
    ------
    InputError
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
    if assume_food is not None:
        chosen = chosen.with_assumption(food=assume_food)
    moment = moment_of(now)
    limit = _limit(rule_seconds)
    checked_executor(executor)
    return audit_among(
        catalog, catalog, chosen, moment, executor=executor, progress=progress, rule_seconds=limit
    )


def audit_among(
    catalog: Catalog,
    among: Catalog,
    profile: Profile,
    now: datetime,
    *,
    executor: Executor | None = None,
    progress: Progress = None,
    rule_seconds: float | None = RULE_SECONDS,
) -> Audit:
    """Judge some products of a larger catalogue: rules that compare products look at all of it.

    Parameters
    ----------
    catalog
        The products to judge.
    among
        The catalogue that they belong to.
    profile, now, executor, progress, rule_seconds
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
    assumed = dict(profile.assume)
    with reporting(progress, "Audited") as reporter:
        with reporter.phase("Checking the profile"):
            # Before any part is judged: a typing error should cost seconds, not the whole run.
            confirm(among, profile.checks, profile.attributes)
        with reporter.phase("Auditing", "products", len(catalog)) as show:
            done = 0
            for part in run(
                catalog, profile.checks, now, profile.market, executor, assumed, rule_seconds, among
            ):
                parts.append(part)
                done += part.size
                show(done, len(catalog))
                reporter.count(done, len(catalog))
    # Every table went through memory, which Arrow keeps for more.
    pa.default_memory_pool().release_unused()
    return Audit(
        parts=tuple(parts),
        checks=tuple(check.facts for check in profile.checks),
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
    )


def moment_of(now: datetime | None) -> datetime:
    """Return a moment as dates of the service are: without zone, in UTC; the present by default."""
    given = clock.now() if now is None else now
    if not isinstance(given, datetime):
        raise InputError(f"now is {now!r}; give a datetime.")
    # Dates of the service have no zone, and two kinds of dates cannot be compared.
    return given if given.tzinfo is None else given.astimezone(UTC).replace(tzinfo=None)


def _limit(seconds: Any) -> float | None:
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds <= _LONGEST):
        raise InputError(f"rule_seconds is {seconds!r:.60}; give seconds, such as 60, or None for no limit.")
    return None if seconds is None else float(seconds)
