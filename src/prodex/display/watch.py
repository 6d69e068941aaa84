"""How a watch looks: what is unusual in sentences of the reader's language, the first of many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from prodex.display.html_tables import block
from prodex.languages import Translation
from prodex.quality.figures import MEASURES, NONE
from prodex.quality.unusual import NEEDED, FigureKind, FigureState
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.quality.watch import UnusualFigure, Watch

#: Sentences that are shown; all are in `findings`.
_SHOWN = 12


def text_of(watch: Watch) -> str:
    """Return a watch in words."""
    lines = [headline(watch), *(f"  {line}" for line in first_sentences(watch)), *_watch_notes(watch)]
    return "\n".join(map(on_one_line, lines))


def html_of(watch: Watch) -> str:
    """Return a watch for a notebook; what is new is a warning."""
    new = len(watch.new)
    lines = [(line, place < new) for place, line in enumerate(first_sentences(watch))]
    return block(headline(watch), lines, notes=_watch_notes(watch))


def _watch_notes(watch: Watch) -> list[str]:
    return [explained(watch)] if watch.enough else []


def explained(watch: Watch) -> str:
    """Return how the measure is explained below every list."""
    return Translation(watch.language).gettext(
        "A figure is unusual if it lies outside all its values of the last 28 audits, by more than its usual changes "
        "explain. By chance alone, one audit in a thousand has such a figure."
    )


def headline(watch: Watch) -> str:
    """Return what a watch says, in one line."""
    words = Translation(watch.language)
    wall = watch.moment.astimezone(watch.zone)
    moment = f"{words.moment(wall)} {wall.tzname() or f'{wall:%z}'}"
    new = sum(one.judgement.state is FigureState.NEW for one in watch.found)
    unusual = words.ngettext("{number} unusual", "{number} unusual", new)
    what = unusual if watch.enough else words.ngettext("{number} audit", "{number} audits", watch.audits)
    if others := len(watch.found) - new:
        findings = words.ngettext("{number} finding", "{number} findings", others)
        what = words.gettext("{what}; {findings} of earlier audits", what=what, findings=findings)
    return words.gettext("Watch of {name} of {moment}: {what}", name=watch.name, moment=moment, what=what)


def first_sentences(watch: Watch) -> list[str]:
    """Return the first sentences, and how many more there are."""
    sentences = watch.sentences
    if len(sentences) <= _SHOWN:
        return sentences
    more = Translation(watch.language).ngettext(
        "{number} more figure in .findings", "{number} more figures in .findings", len(sentences) - _SHOWN
    )
    return [*sentences[:_SHOWN], more]


def sentences_of(watch: Watch) -> list[str]:
    """Return every finding in words; or that there is none, or that not enough is known yet."""
    words = Translation(watch.language)
    if not watch.enough:
        return [
            words.gettext(
                "Not enough is known yet: {audits} of the {needed} saved audits that it takes.",
                audits=watch.audits,
                needed=NEEDED,
            )
        ]
    if not watch.found:
        figures, audits = (
            words.ngettext("{number} figure", "{number} figures", watch.figures),
            words.ngettext("{number} audit", "{number} audits", watch.audits),
        )
        return [
            words.gettext(
                "Nothing is unusual: {figures} of {audits} compared.", figures=figures, audits=audits
            )
        ]
    return [sentence(one, watch) for one in watch.found]


def findings_frame(watch: Watch) -> pd.DataFrame:
    """Return the findings of a watch as a frame; see `Watch.findings`."""
    figures, judgements = [one.figure for one in watch.found], [one.judgement for one in watch.found]
    return pd.DataFrame(
        {
            "measure": [one.measure for one in figures],
            "supplier": [one.supplier for one in figures],
            "group": [one.group for one in figures],
            "label": [one.label for one in watch.found],
            "state": [str(one.state) for one in judgements],
            "now": [one.value for one in figures],
            "usual_low": [one.low for one in judgements],
            "usual_high": [one.high for one in judgements],
            "distance": [round(one.distance, 1) for one in judgements],
            "audits": [one.audits for one in judgements],
            "since": [one.since for one in watch.found],
            "sentence": [sentence(one, watch) for one in watch.found],
        },
        # Without any, pandas would take every column for numbers.
        dtype=None if watch.found else object,
    )


def sentence(found: UnusualFigure, watch: Watch) -> str:
    """Return what is unusual of a figure, in the language of a watch and with days of its zone."""
    words, judgement = Translation(watch.language), found.judgement
    if found.figure.measure not in MEASURES:
        age, days = (words.number(round(one, 1), 1) for one in (found.figure.value, judgement.high))
        return words.gettext(
            "The newest audit is {age} days old; until now there was one at least every {days} days.",
            age=age,
            days=days,
        )
    measure = MEASURES[found.figure.measure]
    values = (found.figure.value, judgement.low, judgement.high)
    now, low, high = (_figure_in_words(one, measure.kind, words) for one in values)
    usual = words.gettext("usually {low} to {high}", low=low, high=high)
    if low == high:
        usual = words.gettext("usually {value}", value=low)
    supplier = found.supplier if found.figure.supplier else words.gettext("without owner")
    said = words.gettext(
        measure.silence if judgement.is_silence else measure.sentence,
        now=now,
        usual=usual,
        expected=high,
        audits=words.ngettext("{number} audit", "{number} audits", judgement.audits),
        **{"supplier": supplier, measure.by or "all": _label_in_words(found, measure.by, words)},
    )
    day = words.day(found.since.astimezone(watch.zone).date())
    if judgement.state is FigureState.LASTING:
        return " ".join([said, words.gettext("Since {day}.", day=day)])
    if judgement.state is FigureState.OVER:
        return " ".join([said, words.gettext("As usual again; it was not since {day}.", day=day)])
    return said


def _label_in_words(found: UnusualFigure, by: str, words: Translation) -> str:
    """Return what a figure is about, in a language; attributes have one name in all of them."""
    if by == "language":
        return words.language_label(found.figure.group or NONE)
    if by == "supplier" and found.figure.group == NONE:
        return words.gettext("without owner")
    if by == "kind" and found.figure.group == NONE:
        return words.gettext("without kind")
    return found.label


def _figure_in_words(value: float, kind: FigureKind, words: Translation) -> str:
    if kind is FigureKind.SHARE:
        return words.percent(value, 0 if value in (0, 1) else 1)
    return words.number(round(value))
