"""Watch: what the saved audits of a name say is usual, and what is not.

A night, a Sunday and a date are those of the people whose catalogue it is, and not of UTC: a job at half past midnight
in London runs on Monday all year, which is Sunday by UTC in summer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from prodex import clock
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.languages import Translation
from prodex.locales import language_label
from prodex.quality.archive import AUDITS
from prodex.quality.audit import Audit
from prodex.quality.figures import FIGURES, MEASURES, NONE, Figure, Figures, figures_of, kept_figures
from prodex.quality.unusual import NEEDED, WINDOW, FigureKind, FigureState, Judgement, Series, judge
from prodex.store.archive import ArchivePlace, in_order
from prodex.store.snapshot import name_of
from prodex.written_dates import zone_of

_A_DAY = timedelta(days=1)

#: Audits less than this apart counted the same day.
_ONE_DAY = timedelta(hours=18)

#: The measure of a finding that is about the audits themselves.
LATE = "audits"

#: The order of the list: new findings, then those that last, then those that are over; of the whole catalogue first.
_STATES, _MEASURES = list(FigureState), [LATE, *MEASURES]


class UnusualFigure(NamedTuple):
    """A figure that is not usual: values that `prodex.display.watch` puts into words.

    Attributes
    ----------
    figure
        The figure at the newest audit; its measure is one of `MEASURES`, or `LATE`.
    label
        What people call its group.
    supplier
        What people call the supplier of an attribute or language.
    since
        The time of the audit at which it became unusual, UTC.
    judgement
        What it is, its usual range, and how far outside of it the value is.
    """

    figure: Figure
    label: str
    supplier: str
    since: datetime
    judgement: Judgement


@dataclass(frozen=True, eq=False, repr=False)
class Watch:
    """What is unusual at the newest audit of a name.

    Attributes
    ----------
    name
        The name of the snapshots.
    moment
        When the newest catalogue was loaded, UTC.
    audits
        Number of audits that are compared, the newest one included.
    figures
        Number of figures that were looked at.
    found
        The figures that are not usual; what is new is listed first.
    zone
        The time zone whose days are meant; None for that of this machine.
    language
        The language of its sentences: "en", "fr", "de" or "nl".

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
    >>> prodex.watch("mill", language="German").sentences[0].replace("\\xa0", " ")
    'Bilder von Mill: 0 % der Produkte haben eines, gewöhnlich 100 % (5 Audits).'
    """

    name: str
    moment: datetime
    audits: int
    figures: int
    found: tuple[UnusualFigure, ...] = field(repr=False)
    zone: tzinfo | None = None
    language: str = "en"

    @property
    def enough(self) -> bool:
        """Whether there are audits enough to know what is usual."""
        return self.audits >= NEEDED

    @property
    def findings(self) -> pd.DataFrame:
        """One row for each figure that is not usual.

        Measure, supplier (of an attribute or language), group with its label, state ("new", "lasting" since an earlier
        audit, or "over"), the value now, its usual range, how many spreads outside of it, of how many audits that range
        is, since when, and all of that as a sentence. Sentences have days of `zone`, the column `since` is UTC.
        """
        from prodex.display.watch import findings_frame

        return findings_frame(self)

    @property
    def new(self) -> pd.DataFrame:
        """The findings that are new at the newest audit."""
        findings = self.findings
        return findings[findings["state"] == FigureState.NEW].reset_index(drop=True)

    @property
    def is_unusual(self) -> bool:
        """Whether anything is new."""
        return any(one.judgement.state is FigureState.NEW for one in self.found)

    @property
    def sentences(self) -> list[str]:
        """Every finding in words; or that there is none, or that not enough is known yet."""
        from prodex.display.watch import sentences_of

        return sentences_of(self)

    def __repr__(self) -> str:
        from prodex.display.watch import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from prodex.display.watch import html_of

        return html_of(self)


def watch(
    name: str | Catalog,
    *,
    now: datetime | None = None,
    zone: str | tzinfo | None = None,
    language: str = "en",
) -> Watch:
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
    language
        The language of its sentences: English, French, German or Dutch, by code or name.

    Raises
    ------
    SnapshotNotFound
        When there is no audit of this name.
    InputError
        When there is no such zone or language.

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
    days, words = zone_of(zone), Translation.of(language)
    known = name_of(name, "watch")
    history = kept_figures(known)
    if not history:
        raise AUDITS.not_found(known, "audited snapshots")
    return watched(known, history, moment, days, words.language)


def watch_of(audit: Audit, zone: tzinfo | None = None, language: str = "en") -> Watch | None:
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
    return watched(name, [*before, own], None, zone, language)


def watched(
    name: str,
    history: Sequence[Figures],
    now: datetime | None,
    zone: tzinfo | None = None,
    language: str = "en",
) -> Watch:
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
    language
        The code of the language of its sentences.
    """
    compared = _comparable(history)
    figures = list(_series_of(compared, zone))
    found: list[UnusualFigure] = []
    if len(compared) >= NEEDED:
        daily = sum(series.kind is FigureKind.OF_A_DAY for _, series in figures)
        judged = ((figure, judge(series, len(figures), daily)) for figure, series in figures)
        found = [*_named((one for one in judged if one[1].state.is_news), compared), *_late(compared, now)]
    found.sort(key=_importance)
    return Watch(name, compared[-1].moment, len(compared), len(figures), tuple(found), zone, language)


def _importance(one: UnusualFigure) -> tuple[int, int, float]:
    """Return the place of a figure in the list."""
    state, measure = one.judgement.state, one.figure.measure
    return _STATES.index(state), _MEASURES.index(measure), -round(one.judgement.distance, 1)


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


def _series_of(history: Sequence[Figures], zone: tzinfo | None) -> Iterator[tuple[Figure, Series]]:
    """Yield each figure of the newest audit, with its values over time."""
    every, last = range(len(history)), len(history) - 1
    weekdays = [weekday_of(one.moment, zone) for one in history]
    days = _days(history)
    # Of scores only those that were made alike.
    alike = {place for place, one in enumerate(history) if one.measure == history[-1].measure}
    table: dict[tuple[str, str, str | None], dict[int, Figure]] = defaultdict(dict)
    for place, one in enumerate(history):
        for row in one.rows:
            table[row.measure, row.supplier, row.group][place] = row
    for (name, supplier, group), own in table.items():
        measured = table.get((name, supplier, None), {})
        if group is None or last not in measured or name not in MEASURES:
            continue
        measure = MEASURES[name]
        # No product has it: that is a figure, too.
        none = () if measure.is_of_group else measured.keys() - own.keys()
        known = own | {place: measured[place]._replace(group=group, value=0) for place in none}
        places = days if measure.kind is FigureKind.OF_A_DAY else alike if name.endswith("score") else every
        rows = [known.get(place) if place in places else None for place in every]
        if rows[-1] is not None:
            values = [math.nan if row is None else row.value for row in rows]
            sizes = [0 if row is None else row.size for row in rows]
            yield rows[-1], Series(measure.kind, values, sizes, weekdays)


def _days(history: Sequence[Figures]) -> set[int]:
    """Return the places of audits that each counted a day of their own, the last one among them.

    Of several audits on one day the last is taken: what was counted of that day would otherwise count twice.
    """
    places = [len(history) - 1]
    for place in range(len(history) - 2, -1, -1):
        if history[places[-1]].moment - history[place].moment >= _ONE_DAY:
            places.append(place)
    return set(places)


def _named(judged: Iterable[tuple[Figure, Judgement]], history: Sequence[Figures]) -> Iterator[UnusualFigure]:
    """Yield figures with the newest names of their groups: a supplier that is gone has one in earlier audits only."""
    labels = {by: dict[str, str]() for one in history for by in one.labels}
    for one in history:
        for by, own in one.labels.items():
            labels[by] |= own
    for figure, judgement in judged:
        by, group = MEASURES[figure.measure].by, figure.group or NONE
        label = language_label(group) if by == "language" else labels.get(by, {}).get(group, group)
        supplier = (
            labels.get("supplier", {}).get(figure.supplier, figure.supplier) if figure.supplier else NONE
        )
        yield UnusualFigure(figure, label, supplier, history[judgement.since].moment, judgement)


def _late(history: Sequence[Figures], now: datetime | None) -> Iterator[UnusualFigure]:
    """Yield that audits have stopped, if the newest one is older than the longest gap between two audits."""
    if now is None:
        return
    # By when they were made: an earlier snapshot may have been audited again later.
    made = sorted(one.audited_at for one in history)
    days = [(later - one) / _A_DAY for one, later in pairwise(made)]
    age = (now - history[-1].audited_at) / _A_DAY
    least, usual = min(days[-WINDOW:]), max(days[-WINDOW:])
    # At least a day and a half more, since a job may start later than usual.
    if age > usual + max(usual, 1.5):
        judgement = Judgement(FigureState.NEW, least, usual, (age - usual) / 0.5, len(history) - 1, len(days))
        yield UnusualFigure(Figure(LATE, NONE, NONE, age, 0), NONE, NONE, history[-1].moment, judgement)


def weekday_of(moment: datetime, zone: tzinfo | None) -> float:
    """Return how many days of its week had passed at a moment, by clocks on the wall.

    >>> zone = zone_of("Europe/London")
    >>> [weekday_of(datetime.fromisoformat(one), zone) for one in ("2026-10-18T23:00Z", "2026-10-26T00:00Z")]
    [0.0, 0.0]
    """
    wall = moment.astimezone(zone).replace(tzinfo=None)
    return wall.weekday() + (wall - wall.replace(hour=0, minute=0, second=0, microsecond=0)) / _A_DAY
