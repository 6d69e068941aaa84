"""Watch: what the saved audits of a name say is usual, and what is not.

A night, a Sunday and a date are those of the people whose catalogue it is, and not of UTC: a job at half past midnight
in London runs on Monday all year, which is Sunday by UTC in summer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import pandas as pd

from prodex import clock
from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.messages import counted, hint, percent
from prodex.quality.archive import AUDITS
from prodex.quality.audit import Audit
from prodex.quality.figures import FIGURES, MEASURES, NONE, Figures, figures_of, kept_figures, measure_of
from prodex.quality.unusual import (
    NEEDED,
    WINDOW,
    FigureKind,
    FigureState,
    Judgement,
    Series,
    judge_last,
    judge_silence,
)
from prodex.store.archive import ArchivePlace, in_order
from prodex.store.snapshot import name_of

_COLUMNS = (
    *(
        "measure",
        "supplier",
        "group",
        "label",
        "state",
        "now",
        "usual_low",
        "usual_high",
        "distance",
        "audits",
        "since",
    ),
    "sentence",
)

#: Audits less than this apart counted the same day.
_ONE_DAY = timedelta(hours=18)

#: The order of the list: new findings, then those that last, then those that are over.
_ORDER = (FigureState.NEW, FigureState.LASTING, FigureState.OVER)


@dataclass(frozen=True, eq=False, repr=False)
class Watch:
    """What is unusual at the newest audit of a name.

    Attributes
    ----------
    name
        The name of the snapshots.
    moment
        When the newest catalogue was loaded, UTC; None where nothing was audited yet.
    audits
        Number of audits that are compared, the newest one included.
    figures
        Number of figures that were looked at.
    findings
        One row for each figure that is not usual: measure, supplier (of an attribute or language), group with its
        label, state ("new", "lasting" since an earlier audit, or "over"), the value now, its usual range, how many
        spreads outside of it, of how many audits that range is, since when, and all of that as a sentence. What is
        new is listed first. Sentences have days of `zone`, the column `since` is UTC.
    zone
        The time zone whose days are meant; None for that of this machine.

    Examples
    --------
    >>> import prodex
    >>> for number in range(6):
    ...     assets = {"pictures": [] if number == 5 else [{"url": "https://pictures.example/1.png"}]}
    ...     records = [{"id": n, "owner": {"id": 4, "name": "Mill"}, "assets": assets} for n in range(50)]
    ...     _ = prodex.audit(prodex.flatten(records).save("mill"), "core").save()
    >>> watch = prodex.watch("mill")
    >>> watch.new["measure"].tolist()
    ['pictures']
    >>> watch.sentences[0]
    'Pictures of Mill: 0 % of its products have one, usually 100 % (5 audits).'
    """

    name: str
    moment: datetime | None
    audits: int
    figures: int
    findings: pd.DataFrame = field(repr=False)
    zone: tzinfo | None = None

    @property
    def enough(self) -> bool:
        """Whether there are audits enough to know what is usual."""
        return self.audits >= NEEDED

    @property
    def new(self) -> pd.DataFrame:
        """The findings that are new at the newest audit."""
        return self.findings[self.findings["state"] == FigureState.NEW].reset_index(drop=True)

    @property
    def is_unusual(self) -> bool:
        """Whether anything is new."""
        return len(self.new) > 0

    @property
    def sentences(self) -> list[str]:
        """Every finding in words; or that there is none, or that not enough is known yet."""
        if not self.enough:
            return [f"Not enough is known yet: {self.audits} of the {NEEDED} saved audits that it takes."]
        found = self.findings["sentence"].tolist()
        return found or [
            f"Nothing is unusual: {counted(self.figures, 'figure')} of {self.audits} audits compared."
        ]

    def __repr__(self) -> str:
        from prodex.display.watch import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from prodex.display.watch import html_of

        return html_of(self)


def watch(name: str | Catalog, *, now: datetime | None = None, zone: str | tzinfo | None = None) -> Watch:
    """Say what is unusual at the newest saved audit of a name, by the audits before it.

    Looked at are the number of products, updates within a day, the score, languages, and how many products have each
    attribute filled; products, updates, pictures and score of each supplier; languages and attributes of each of the
    fifty largest suppliers; and the products of each kind. A figure is unusual if it lies outside all its values of the
    last 28 audits by more than its usual changes explain (`prodex.quality.unusual`). Audits of one snapshot count once,
    and only those of the same query, by the same profile where scores are concerned. Less than five audits say nothing.

    Parameters
    ----------
    name
        Name of the snapshots, or a catalogue that is one of them.
    now
        The present by default: it is unusual as well if the newest audit is older than audits usually are.
    zone
        Whose days are compared with the same days of other weeks: "Europe/London"; those of this machine by default.
        Give that of the shop where the job runs elsewhere.

    Raises
    ------
    SnapshotNotFound
        When there is no audit of this name.
    InputError
        When there is no such zone.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.audit(prodex.flatten([{"id": 7}]).save("shop"), "core").save()
    >>> prodex.watch("shop").sentences
    ['Not enough is known yet: 1 of the 5 saved audits that it takes.']
    """
    moment = clock.now() if now is None else now
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InputError(f"now is {now!r:.60}; give a datetime with a time zone.")
    days = zone_of(zone)
    known = name_of(name, "watch")
    history = kept_figures(known)
    if not history:
        raise AUDITS.not_found(known, "audited snapshots")
    return watched(known, history, moment, days)


def watch_of(audit: Audit, zone: tzinfo | None = None) -> Watch | None:
    """Return what is unusual at an audit, by those that were saved before it; None for a catalogue in memory."""
    # Audits are kept as they were found.
    audit = audit.as_found or audit
    folder = audit.folder or audit.catalog_folder
    if folder is None:
        return None
    name = FIGURES.name_of(folder) if audit.folder else folder.parent.name
    kept = kept_figures(name)
    at = next((at for at, one in enumerate(kept) if one.audited_at == audit.audited_at), None)
    if at is None:
        own, earlier = figures_of(audit), [one for one in kept if one.audited_at < audit.audited_at]
    else:
        own, earlier = kept[at], kept[:at]
    # An earlier snapshot that is audited again is not compared with later ones.
    before = [one for one in earlier if _in_snapshot_order([one, own])[-1] is own]
    return watched(name, [*before, own], None, zone)


def watched(name: str, history: Sequence[Figures], now: datetime | None, zone: tzinfo | None = None) -> Watch:
    """Return what is unusual at the newest of some audits, by their figures.

    Parameters
    ----------
    name
        The name of the snapshots.
    history
        The figures of audits, the oldest first.
    now
        The moment at which it matters how old the newest audit is; None where that is no question.
    zone
        Whose days are meant; those of this machine where it is None.
    """
    compared = _comparable_figures(history)
    newest = compared[-1]
    figures = list(_series_by_figure(compared, zone))
    rows: list[dict[str, Any]] = []
    if len(compared) >= NEEDED:
        of_days = sum(one.series.kind is FigureKind.OF_A_DAY for one in figures)
        for one in figures:
            found = judge_last(one.series, len(figures))
            if found.state in _ORDER:
                rows.append(finding(one, found, compared, zone))
            elif one.series.kind is FigureKind.OF_A_DAY:
                missed = judge_silence(one.series, of_days)
                if missed.state in _ORDER:
                    rows.append(finding(one, missed, compared, zone, is_silent=True))
        rows += list(late(compared, now))
    rows.sort(key=_importance)
    findings = pd.DataFrame(rows, columns=list(_COLUMNS))
    return Watch(name, newest.moment, len(compared), len(figures), findings, zone)


def _importance(row: dict[str, Any]) -> tuple[int, int, float]:
    """Return the place of a finding in the list: news first, and of the whole catalogue before its groups."""
    order = [LATE, *MEASURES]
    return _ORDER.index(row["state"]), order.index(row["measure"]), -row["distance"]


def _comparable_figures(history: Sequence[Figures]) -> list[Figures]:
    """Return the figures of what can be compared with the newest, one for each snapshot, the oldest first."""
    newest = history[-1]
    chosen: dict[str, Figures] = {}
    for one in history:
        # An incomplete catalogue lacks products that nobody took away.
        if one.question != newest.question or (not one.complete and one is not newest):
            continue
        key = one.snapshot or one.audited_at.isoformat()
        earlier = chosen.get(key)
        # A snapshot may have several audits: the one like the newest counts, since only its scores can be compared.
        if earlier is None or one.measure == newest.measure or earlier.measure != newest.measure:
            chosen[key] = one
    return _in_snapshot_order(sorted(chosen.values(), key=lambda one: one.audited_at))


def _in_snapshot_order(figures: Sequence[Figures]) -> list[Figures]:
    """Return figures in the order of their snapshots, whatever time the clock had when these were made."""
    return in_order(
        figures,
        lambda one: ArchivePlace(one.snapshot or clock.as_name(one.moment), one.snapshot_sequence),
    )


def _days(history: Sequence[Figures]) -> set[int]:
    """Return the places of audits that each counted a day of their own, the last one among them.

    Of several audits on one day the last is taken: what was counted of that day would otherwise count twice.
    """
    places = [len(history) - 1]
    for place in range(len(history) - 2, -1, -1):
        if history[places[-1]].moment - history[place].moment >= _ONE_DAY:
            places.append(place)
    return set(places)


def _series_by_figure(history: Sequence[Figures], zone: tzinfo | None) -> Iterator[Figure]:
    """Yield every figure over time."""
    newest = history[-1]
    weekdays = [weekday_of(one.moment, zone) for one in history]
    days = _days(history)
    for key in newest.values:
        name, supplier = measure_of(key)
        measure = MEASURES.get(name)
        if measure is None:  # of another version
            continue
        # Of scores only those that were made alike.
        known = [
            (
                place,
                one.values[key],
                one.values["supplier"][supplier] if supplier else one.values["products"][NONE],
            )
            for place, one in enumerate(history)
            if key in one.values
            and (not name.endswith("score") or one.measure == newest.measure)
            and (measure.kind is not FigureKind.OF_A_DAY or place in days)
        ]
        for group in dict.fromkeys(group for _, values, _ in known for group in values):
            values, sizes = [math.nan] * len(history), [0.0] * len(history)
            for place, found, everything in known:
                if group in found:
                    values[place], sizes[place] = found[group]
                elif not measure.is_of_group:
                    # No product has it: that is a figure, too.
                    values[place], sizes[place] = 0, everything.value
            if not math.isnan(values[-1]):
                yield Figure(name, supplier, group, Series(measure.kind, values, sizes, weekdays))


_A_DAY = timedelta(days=1)

#: The measure of a finding that is about the audits themselves.
LATE = "audits"


class Figure(NamedTuple):
    """A figure: the name of its measure, its supplier where it is one of several attributes, its group, its values."""

    measure: str
    supplier: str
    group: str
    series: Series


def _newest_label(history: Sequence[Figures], by: str, group: str) -> str:
    """Return the newest name of a group: a supplier that is gone has one in earlier audits only."""
    named = (one.labels[by][group] for one in reversed(history) if group in one.labels.get(by, {}))
    return next(named, group)


def finding(
    figure: Figure,
    found: Judgement,
    history: Sequence[Figures],
    zone: tzinfo | None = None,
    *,
    is_silent: bool = False,
) -> dict[str, Any]:
    """Return the row of a figure that is not usual.

    Parameters
    ----------
    figure
        The figure.
    found
        What was found of it at the last audit.
    history
        The figures of all audits, which have names and times.
    zone
        Whose days sentences name; those of this machine where it is None.
    is_silent
        Whether it was found by several days on which nothing was counted.
    """
    label = _newest_label(history, MEASURES[figure.measure].by, figure.group)
    supplier = _newest_label(history, "supplier", figure.supplier) if figure.supplier else NONE
    value = figure.series.values[-1]
    since = history[found.since].moment
    day = f"{local(since, zone):%Y-%m-%d}"
    subject = MEASURES[figure.measure].subject.format(label, supplier)
    words = _silence(subject, found) if is_silent else _unusual_sentence(figure, subject, value, found)
    lasts = {
        FigureState.NEW: "",
        FigureState.LASTING: f" Since {day}.",
        FigureState.OVER: f" As usual again; it was not since {day}.",
    }[found.state]
    return {
        "measure": figure.measure,
        "supplier": figure.supplier,
        "group": figure.group,
        "label": label,
        "state": str(found.state),
        "now": value,
        "usual_low": found.low,
        "usual_high": found.high,
        "distance": round(found.distance, 1),
        "audits": found.audits,
        "since": since,
        "sentence": f"{words}{lasts}",
    }


def _unusual_sentence(figure: Figure, subject: str, value: float, found: Judgement) -> str:
    measure = MEASURES[figure.measure]
    low, high, now = (_format_figure(one, measure.kind) for one in (found.low, found.high, value))
    usual = low if low == high else f"{low} to {high}"
    what = f" {measure.what}" if measure.what else ""
    return f"{subject}: {now}{what}, usually {usual} ({found.audits} audits)."


def _silence(subject: str, found: Judgement) -> str:
    return f"{subject}: none for {counted(found.audits, 'audit')}, usually {found.high:,.0f} in that time."


def _format_figure(value: float, kind: FigureKind) -> str:
    if kind is FigureKind.SHARE:
        return percent(value, 0 if value in (0, 1) else 1)
    return f"{value:,.0f}"


def late(history: Sequence[Figures], now: datetime | None) -> Iterator[dict[str, Any]]:
    """Yield that audits have stopped, if the newest one is older than the longest gap between two audits."""
    if now is None:
        return
    # By when they were made: an earlier snapshot may have been audited again later.
    made = sorted(one.audited_at for one in history)
    days = [(later - one) / _A_DAY for one, later in pairwise(made)]
    age = (now - history[-1].audited_at) / _A_DAY
    usual = max(days[-WINDOW:])
    # At least a day and a half more, since a job may start later than usual.
    if age <= usual + max(usual, 1.5):
        return
    yield {
        "measure": LATE,
        "supplier": NONE,
        "group": NONE,
        "label": NONE,
        "state": str(FigureState.NEW),
        "now": age,
        "usual_low": min(days[-WINDOW:]),
        "usual_high": usual,
        "distance": round((age - usual) / 0.5, 1),
        "audits": len(days),
        "since": history[-1].moment,
        "sentence": f"The newest audit is {age:.1f} days old; until now there was one at least every {usual:.1f} days.",
    }


def zone_of(given: str | tzinfo | None) -> tzinfo | None:
    """Return a time zone by its name; None is the zone of this machine, as for `datetime.astimezone`.

    Raises
    ------
    InputError
        When there is no zone of this name; the message names the nearest.

    Examples
    --------
    >>> zone_of("Europe/London")
    zoneinfo.ZoneInfo(key='Europe/London')
    """
    if given is None or isinstance(given, tzinfo):
        return given
    if not isinstance(given, str):
        raise InputError(
            f"zone is {described(given)}. Give the name of a time zone, such as 'Europe/London'."
        )
    try:
        return ZoneInfo(given)
    # Names become paths below the folder of zones: "Europe" is a folder there, and "../zone" leads out of it.
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        if not available_timezones():  # as on Windows, where pandas brings the package
            raise InputError(
                f"There is no time zone {given!r:.60}, since this machine has none at all. Install the package tzdata: "
                "pip install tzdata."
            ) from error
        near = hint(given, sorted(available_timezones()), "Give a name such as 'Europe/London' or 'UTC'.")
        raise InputError(f"There is no time zone {given!r:.60}{near}") from error


def local(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return a moment as clocks on the wall show it."""
    return moment.astimezone(zone)


def weekday_of(moment: datetime, zone: tzinfo | None) -> float:
    """Return how many days of its week had passed at a moment, by clocks on the wall.

    >>> zone = ZoneInfo("Europe/London")
    >>> [weekday_of(datetime.fromisoformat(one), zone) for one in ("2026-10-18T23:00Z", "2026-10-26T00:00Z")]
    [0.0, 0.0]
    """
    wall = local(moment, zone).replace(tzinfo=None)
    return wall.weekday() + (wall - wall.replace(hour=0, minute=0, second=0, microsecond=0)) / _A_DAY
