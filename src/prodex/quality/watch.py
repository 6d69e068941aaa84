"""Watch: what the saved audits of a name say is usual, and what is not."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import pandas as pd

from prodex.catalog import Catalog
from prodex.dispatch import call
from prodex.errors import InputError
from prodex.quality.archive import AUDITS
from prodex.quality.audit import Audit
from prodex.quality.figure_archive import FIGURES, kept_figures
from prodex.quality.figures import MEASURES, NONE, Figures, figures_of
from prodex.quality.unusual import NEEDED, WINDOW, FigureKind, FigureState, Judgement, Series, judge, silence
from prodex.store.snapshot import name_of
from prodex.text import counted, percent

_COLUMNS = (
    *("measure", "group", "label", "state", "now", "usual_low", "usual_high", "distance", "audits", "since"),
    "sentence",
)

#: What is listed first: news, then what lasts, then what is over.
_ORDER = (FigureState.NEW, FigureState.LASTING, FigureState.OVER)

_A_DAY = timedelta(days=1)

#: The measure of a finding that is about the audits themselves.
_LATE = "audits"


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
        One row for each figure that is not usual: measure, group with its label, state ("new", "lasting" since an
        earlier audit, or "over"), the value now, its usual range, how many spreads outside of it, of how many audits
        that range is, since when, and all of that as a sentence. What is new comes first.

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
            return [f"Not enough is known yet: {self.audits} of {NEEDED} audits."]
        found = self.findings["sentence"].tolist()
        return found or [
            f"Nothing is unusual: {counted(self.figures, 'figure')} of {self.audits} audits compared."
        ]

    def __repr__(self) -> str:
        text: str = call("Watch.text", self)
        return text

    def _repr_html_(self) -> str:
        html: str = call("Watch.html", self)
        return html


def watch(name: str | Catalog, *, now: datetime | None = None) -> Watch:
    """Say what is unusual at the newest saved audit of a name, by the audits before it.

    Looked at are the number of products, of updates within a day, the score, languages, suppliers (their products,
    updates, pictures and scores), kinds, and how many products have each attribute filled. A figure is unusual if it
    lies outside all its values of the last 28 audits by more than its usual changes explain. Audits of one snapshot
    count once, and only those of the same query, by the same profile where scores are concerned. Less than five
    audits say nothing.

    Parameters
    ----------
    name
        Name of the snapshots, or a catalogue that is one of them.
    now
        The present by default: it is unusual as well if the newest audit is older than audits usually are.

    Raises
    ------
    SnapshotNotFound
        When there is no audit of this name.

    Examples
    --------
    >>> import prodex
    >>> _ = prodex.audit(prodex.flatten([{"id": 7}]).save("shop"), "core").save()
    >>> prodex.watch("shop").sentences
    ['Not enough is known yet: 1 of 5 audits.']
    """
    moment = datetime.now(UTC) if now is None else now
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InputError(f"now is {now!r:.60}; give a datetime with a time zone.")
    known = name_of(name, "watch")
    history = kept_figures(known)
    if not history:
        raise AUDITS.not_found(known, "There are audits of")
    return watched(known, history, moment)


def watch_of(audit: Audit) -> Watch | None:
    """Return what is unusual at an audit, by those that were saved before it; None for a catalogue in memory."""
    folder = audit.folder or audit.catalog_folder
    if folder is None:
        return None
    name = FIGURES.name_of(folder) if audit.folder else folder.parent.name
    before = [one for one in kept_figures(name) if one.audited_at < audit.audited_at]
    return watched(name, [*before, figures_of(audit)], None)


class _Figure(NamedTuple):
    """A figure: the name of its measure, its group, and its values over time."""

    measure: str
    group: str
    series: Series


def watched(name: str, history: Sequence[Figures], now: datetime | None) -> Watch:
    """Return what is unusual at the newest of some audits, by their figures.

    Parameters
    ----------
    name
        The name of the snapshots.
    history
        The figures of audits, the oldest first.
    now
        The moment at which it matters how old the newest audit is; None where that is no question.
    """
    compared = _comparable(history)
    newest = compared[-1]
    figures = list(_series(compared))
    rows: list[dict[str, Any]] = []
    if len(compared) >= NEEDED:
        for one in figures:
            found = judge(one.series, len(figures))[-1]
            if found.state in _ORDER:
                rows.append(_row(one, found, compared))
            elif one.series.kind is FigureKind.OF_A_DAY:
                missed = silence(one.series, len(figures))
                if missed.state in _ORDER:
                    rows.append(_row(one, missed, compared, is_silent=True))
        rows += list(_late(compared, now))
    rows.sort(key=_importance)
    return Watch(name, newest.moment, len(compared), len(figures), pd.DataFrame(rows, columns=list(_COLUMNS)))


def _importance(row: dict[str, Any]) -> tuple[int, int, float]:
    """Return the place of a finding in the list: news first, and of the whole catalogue before its groups."""
    order = [_LATE, *MEASURES]
    return _ORDER.index(row["state"]), order.index(row["measure"]), -row["distance"]


def _comparable(history: Sequence[Figures]) -> list[Figures]:
    """Return the figures of what can be compared with the newest, one for each snapshot, the oldest first."""
    newest = history[-1]
    chosen: dict[str, Figures] = {}
    for one in history:
        # An incomplete catalogue lacks products that nobody took away.
        if one.question != newest.question or (not one.complete and one is not newest):
            continue
        key = one.snapshot or one.audited_at.isoformat()
        earlier = chosen.get(key)
        # Of several audits of a snapshot the one that is like the newest: only its scores can be compared.
        if earlier is None or one.measure == newest.measure or earlier.measure != newest.measure:
            chosen[key] = one
    return sorted(chosen.values(), key=lambda one: (one.moment, one.audited_at))


def _series(history: Sequence[Figures]) -> Iterator[_Figure]:
    """Yield every figure over time."""
    newest = history[-1]
    weekdays = [one.moment.weekday() for one in history]
    for name, measure in MEASURES.items():
        is_score = name.endswith("score")
        groups = dict.fromkeys(group for one in history for group in one.values.get(name, {}))
        if name not in newest.values:
            continue
        for group in groups:
            values, sizes = [math.nan] * len(history), [0.0] * len(history)
            for place, one in enumerate(history):
                if name not in one.values or (is_score and one.measure != newest.measure):
                    continue
                found = one.values[name].get(group)
                if found is not None:
                    values[place], sizes[place] = found
                elif not measure.is_of_group:
                    # No product has it: that is a figure, too, and of a share the size is that of the catalogue.
                    values[place], sizes[place] = 0, one.values["products"][NONE].value
            if not math.isnan(values[-1]):
                yield _Figure(name, group, Series(measure.kind, values, sizes, weekdays))


def _row(
    figure: _Figure, found: Judgement, history: Sequence[Figures], *, is_silent: bool = False
) -> dict[str, Any]:
    by = MEASURES[figure.measure].by
    # The newest name of it: a supplier that is gone has one in earlier audits only.
    named = (
        one.labels[by][figure.group] for one in reversed(history) if figure.group in one.labels.get(by, {})
    )
    label = next(named, figure.group)
    value = figure.series.values[-1]
    since = history[found.since].moment
    words = _silence(figure, label, found) if is_silent else _sentence(figure, label, value, found)
    lasts = {
        FigureState.NEW: "",
        FigureState.LASTING: f" Since {since:%Y-%m-%d}.",
        FigureState.OVER: f" As usual again; it was not since {since:%Y-%m-%d}.",
    }[found.state]
    return {
        "measure": figure.measure,
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


def _sentence(figure: _Figure, label: str, value: float, found: Judgement) -> str:
    measure = MEASURES[figure.measure]
    low, high, now = (_written(one, measure.kind) for one in (found.low, found.high, value))
    usual = low if low == high else f"{low} to {high}"
    what = f" {measure.what}" if measure.what else ""
    return f"{measure.subject.format(label)}: {now}{what}, usually {usual} ({found.audits} audits)."


def _silence(figure: _Figure, label: str, found: Judgement) -> str:
    subject = MEASURES[figure.measure].subject.format(label)
    return f"{subject}: none for {counted(found.audits, 'audit')}, usually {found.high:,.0f} in that time."


def _written(value: float, kind: FigureKind) -> str:
    if kind is FigureKind.SHARE:
        return percent(value, 0 if value in (0, 1) else 1)
    return f"{value:,.0f}"


def _late(history: Sequence[Figures], now: datetime | None) -> Iterator[dict[str, Any]]:
    """Yield that audits have stopped, if the newest one is older than any was when the next one came."""
    if now is None:
        return
    days = [(later.audited_at - one.audited_at) / _A_DAY for one, later in pairwise(history)]
    age = (now - history[-1].audited_at) / _A_DAY
    usual = max(days[-WINDOW:])
    # At least a day and a half more, since a job may start later than usual.
    if age <= usual + max(usual, 1.5):
        return
    yield {
        "measure": _LATE,
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
