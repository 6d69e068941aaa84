"""What is unusual is said in the reader's language: in the report, the terminal, a notebook and the result of a job."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest

import prodex
from prodex.errors import InputError
from prodex.languages import LANGUAGES
from prodex.quality.figures import MEASURES, NONE, Figure, Figures
from prodex.quality.unusual import FigureKind, FigureState, Judgement
from prodex.quality.watch import LATE, UnusualFigure, Watch, watched
from tests.cases import each_row
from tests.languages.test_catalogues import pairs
from tests.quality.test_watch import audited, records, usual

OTHERS = LANGUAGES[1:]
AT = datetime(2026, 11, 26, 4, tzinfo=UTC)
#: Names that no language has as a word.
GROUPS = {"supplier": "4711", "kind": "4712", "attribute": "4713", "language": "fr", "": NONE}


def found() -> Iterator[UnusualFigure]:
    """Yield a figure of each measure in each state, with a range and without, and days of silence."""
    states = (FigureState.NEW, FigureState.LASTING, FigureState.OVER)
    yield UnusualFigure(Figure(LATE, NONE, NONE, 4, 0), NONE, NONE, AT, Judgement(states[0], 1, 1, 9, 0, 6))
    for (name, measure), state, high in product(MEASURES.items(), states, (0.5, 0.9)):
        judgement = Judgement(state, 0.5, high, 9, 0, 6)
        group = GROUPS[measure.by]
        yield UnusualFigure(Figure(name, "4711", group, 0.25, 10), group, "4711", AT, judgement)
        if measure.kind is FigureKind.OF_A_DAY:
            silence = replace_silence(judgement, 1 if high == 0.5 else 3)
            yield UnusualFigure(Figure(name, NONE, group, 0, 10), group, NONE, AT, silence)
    for name in ("supplier", "kind"):
        label = {"supplier": "without owner", "kind": "without kind"}[name]
        yield UnusualFigure(
            Figure(name, NONE, NONE, 1, 1), label, NONE, AT, Judgement(states[0], 0.5, 0.5, 9, 0, 6)
        )


def replace_silence(judgement: Judgement, audits: int) -> Judgement:
    """Return a judgement of days on which nothing was counted."""
    return judgement._replace(audits=audits, is_silence=True)


def watch_in(language: str) -> Watch:
    """Return a watch that has found everything that there is."""
    return Watch("4714", AT, 6, 99, tuple(found()), UTC, language)


def english_words(language: str) -> set[str]:
    """Return the words of all English messages that no translation into a language has."""
    words = [
        set(re.findall(r"[^\W\d]{3,}", " ".join(texts).lower()))
        for texts in zip(*pairs(language), strict=True)
    ]
    return words[0] - words[1]


@each_row("language", OTHERS)
def test_no_word_of_what_is_unusual_is_english(language: str) -> None:
    """By the catalogue of messages: of every measure and state, and of a watch that knows or finds nothing."""
    watch = watch_in(language)
    others = [replace(watch, found=(), audits=audits, figures=1) for audits in (1, 2, 6)]
    texts = [*watch.sentences, *(text for one in (watch, *others) for text in (repr(one), *one.sentences))]
    said = " ".join(texts).replace(".findings", "").lower()

    assert len(watch.sentences) == len(set(watch.sentences))
    assert set() == set(re.findall(r"[^\W\d]{3,}", said)) & english_words(language)


def test_counts_have_their_plural() -> None:
    """One figure, one audit and one finding are not several, and the words of a language agree with them."""
    watch = watch_in("fr")
    new = [one for one in watch.found if one.judgement.state is FigureState.NEW]
    lasting = next(one for one in watch.found if one.judgement.state is FigureState.LASTING)
    one, several = replace(watch, found=(new[0], lasting)), replace(watch, found=tuple(new[:2]))
    little = [replace(watch, found=(), audits=audits) for audits in (1, 2)]

    assert "1 inhabituel\u00a0; 1 constat d'audits" in repr(one)
    assert "2 inhabituels" in repr(several)
    assert [": 1 audit", ": 2 audits"] == [
        repr(each).splitlines()[0][-len(end) :]
        for each, end in zip(little, (": 1 audit", ": 2 audits"), strict=True)
    ]


@each_row(
    ("language", "sentence"),
    [
        ("fr", "Un chiffre est inhabituel"),
        ("de", "Durch Zufall allein hat eines von tausend Audits"),
        ("nl", "één op de duizend audits"),
    ],
)
@pytest.mark.slow
def test_report_terminal_and_notebook_say_it_in_the_language(
    language: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The figure that is unusual, and how that is meant; in the report no line of it is English."""
    from prodex.cli import app

    audits = audited([*usual(), records(pictures=False)])
    watch = prodex.watch("shop", language=language)
    page = audits[-1].to_html(tmp_path / "report.html", language=language).read_text("utf-8")
    block = page.partition('<h2 id="unusual-title">')[2].partition("</section>")[0]
    app(["watch", "shop", "--language", language], standalone_mode=False)
    shown = capsys.readouterr().out

    assert watch.is_unusual
    for text in (repr(watch), watch._repr_html_(), block, shown):
        assert sentence in html.unescape(text)
        assert watch.sentences[0] in html.unescape(text)
    plain = re.sub(r"<[^>]*>", " ", block).replace(".findings", "").lower()
    assert set() == set(re.findall(r"[^\W\d]{3,}", plain)) & english_words(language) - {"mill", "shop"}


def test_a_language_that_there_is_not_is_refused() -> None:
    """With those that there are."""
    audited([records()])

    with pytest.raises(InputError, match="English, French, German, Dutch"):
        prodex.watch("shop", language="Finnish")


def test_an_attribute_of_products_without_owner_says_whose_it_is() -> None:
    """They are a group like any supplier, whose code is empty."""
    figure = Figure("supplier filled", NONE, "brand", 0.0, 9)
    one = UnusualFigure(figure, "brand", NONE, AT, Judgement(FigureState.NEW, 1, 1, 9, 0, 6))

    assert ["Attribut brand de sans propriétaire\u00a0: renseigné pour 0\u00a0% de ses produits"] == [
        text.partition(",")[0] for text in replace(watch_in("fr"), found=(one,)).sentences
    ]


def test_english_is_as_it_was() -> None:
    """Whoever gives no language reads English sentences, whose figures are those of the frame."""
    history = [
        Figures(
            AT + timedelta(days=day),
            AT + timedelta(days=day),
            f"{day}",
            "",
            "",
            True,
            [Figure("products", "", None, 60, 60), Figure("products", "", "", 60 if day < 6 else 10, 60)],
        )
        for day in range(7)
    ]
    watch = watched("shop", history, None, UTC)

    assert ["Products: 10, usually 60 (6 audits)."] == watch.sentences == watch.findings["sentence"].tolist()
