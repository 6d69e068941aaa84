"""Auditing a catalogue: a profile's checks on every part, on any executor."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.quality.engine import run
from prodex.quality.outcome import Audit
from prodex.quality.profile import Profile
from prodex.quality.rules import RULE_SET
from prodex.service.progress import Progress, showing


def audit(
    catalog: Catalog,
    profile: str | Path | Mapping[str, Any] | Profile = "core",
    *,
    executor: Executor | None = None,
    progress: Progress = None,
    now: datetime | None = None,
    assume_food: bool | None = None,
) -> Audit:
    """Judge every product of a catalogue by the checks of a profile.

    Parameters
    ----------
    catalog
        What to judge. A product that waits for acceptance has its data under `lastRequest`;
        `with_pending_updates(catalog)` judges it as it will be.
    profile
        "core", "online-listing", "logistics", "food-eu" or "pictures"; one's own by its path, or as a mapping of the
        same shape, or a `Profile`.
    executor
        Any `concurrent.futures` executor; threads by default. Rules of one's own that are defined in a notebook run on
        threads and on a Dask client's executor.
    progress
        None shows a bar where somebody is watching.
    now
        The moment to which "older than" refers, the present by default: a date without zone is taken as the service's
        dates are, one with a zone in UTC.
    assume_food
        Whether products are food of which nothing tells it: neither a GPC class nor anything that only food has. None
        leaves them undecided, and the checks of food unknown, unless the profile's `assume` says it.

    Raises
    ------
    InputError
        When the profile cannot be used; the message names file, line and key.

    Examples
    --------
    >>> import prodex
    >>> audit = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359936"}]), "core")
    >>> audit.matrix["valid_gtin"].tolist()
    [1]
    """
    if not isinstance(catalog, Catalog):
        raise InputError(
            f"audit() takes a catalogue, not {type(catalog).__name__}. Make one of records: prodex.flatten(records)."
        )
    chosen = profile if isinstance(profile, Profile) else Profile.read(profile)
    if assume_food is not None:
        chosen = chosen.with_assumption(food=assume_food)
    moment = _moment(now)
    parts = []
    with showing(progress, "Judged") as show:
        done = 0
        for part in run(catalog, chosen.checks, moment, chosen.market, executor, dict(chosen.assume)):
            parts.append(part)
            done += len(part.states)
            show(done, len(catalog))
    return Audit(
        parts=tuple(parts),
        checks=tuple(check.facts for check in chosen.checks),
        profile=chosen.name,
        rule_set=RULE_SET,
        assumed=chosen.assume,
        origin=catalog.origin,
        now=moment,
        audited_at=datetime.now(UTC),
        catalog_folder=catalog.folder,
        catalog=catalog,
        grade_with_blocker=chosen.grade_with_blocker,
    )


def _moment(now: datetime | None) -> datetime:
    given = datetime.now(UTC) if now is None else now
    if not isinstance(given, datetime):
        raise InputError(f"now is {now!r}; give a datetime.")
    return given if given.tzinfo is None else given.astimezone(UTC).replace(tzinfo=None)
