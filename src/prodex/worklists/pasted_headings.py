"""What the columns of a copied table mean: proposed by their headings, and confirmed by whoever copied them.

People call a column "Nom du produit", "Name FR" or "Nettofüllmenge". What a heading certainly names is proposed; where
it may mean several attributes or lacks its language, these are listed, and nothing is chosen for anybody.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import pandas as pd

from prodex import gtin
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.facts.name import NAMES
from prodex.formats.workbook_cells import Row, cell_place
from prodex.languages.labels import attribute_title
from prodex.languages.recognized import letters
from prodex.languages.translation import LANGUAGES, Translation
from prodex.locales import known_language_tag
from prodex.phrases import hint, nearest_few
from prodex.tables.attributes import TEXTS
from prodex.tables.declaration import TABLES
from prodex.worklists.answer_kinds import AnswerShape, Shapes
from prodex.worklists.headings import column_of_heading, is_empty

#: What a column is that is not read.
IGNORED = "ignore"
#: What says which product a row is about.
KEYS = ("gtin", "product_id")
#: Words of people for several attributes: which one is meant has to be asked.
_SEVERAL: Mapping[str, Sequence[str]] = {
    "name, product name, nom, nom du produit, nom produit, désignation, libellé, Bezeichnung, Artikelbezeichnung, "
    "Produktname, Artikelname, naam, productnaam, artikelnaam, benaming": NAMES,
    "weight, poids, Gewicht, gewicht": ("netContent", "netWeight", "grossWeight"),
    "content, contenu, contenance, Inhalt, inhoud": ("netContent", "netWeight"),
}
#: Other words for one attribute.
_ALSO = {
    "namePublicLong": "name long, public long name, Langname, naam lang",
    "namePublicShort": "name short, public short name, Kurzname, naam kort",
    "nameLegal": "name legal, legal denomination, dénomination de vente, Verkehrsbezeichnung, wettelijke naam",
    "netContent": "contenu net, contenance nette, Nettoinhalt, netto inhoud",
    "composition": "ingredient list, liste des ingrédients, Zutatenliste, Zutatenverzeichnis, ingrediëntenlijst",
}
#: A heading with a language behind it or in front of it: "Name FR", "Name (fr-BE)", "namePublicLong.fr", "FR - Name".
_BEHIND = re.compile(r"(.+?)[\s._:;,/|()\[\]-]+([^\W\d_]+(?:-[^\W\d_]+)?)[)\]]?\s*", re.DOTALL)
_BEFORE = re.compile(r"\s*[(\[]?([^\W\d_]{2,}(?:-[^\W\d_]+)?)[\s._:;,/|()\[\]-]+(.+)", re.DOTALL)
#: Characters of a heading that anybody reads.
_LONGEST = 120
#: Columns with values of one table.
MOST_COLUMNS = 5
#: Attributes that are proposed for a heading that nobody knows.
_NEAREST = 3
#: Rows in which GTINs are looked for where no heading names them.
LOOKED_AT = 50


class ColumnMeaning(NamedTuple):
    """What a column is about: an attribute, and the language of its texts; or one of `KEYS`."""

    attribute: str
    language: str | None = None

    def __str__(self) -> str:
        return self.attribute if self.language is None else f"{self.attribute}.{self.language}"


@dataclass(frozen=True)
class HeadingProposal:
    """What a column may mean.

    Attributes
    ----------
    place
        Its place, from 0.
    heading
        As it was copied; empty where there is none.
    example
        The first filled cell.
    meaning
        What is proposed; None where it has to be chosen.
    candidates
        What it may mean, the likelier first.
    question
        What is asked of whoever confirms it; empty where the heading says it.
    """

    place: int
    heading: str
    example: str
    meaning: ColumnMeaning | None = None
    candidates: tuple[ColumnMeaning, ...] = ()
    question: str = ""

    @property
    def column(self) -> str:
        """What spreadsheets call its column: "B"."""
        return cell_place(1, self.place)[:-1]

    @property
    def called(self) -> str:
        """How messages name it."""
        return repr(self.heading[:60]) if self.heading else f"column {self.column}"


class KnownHeadings:
    """The attributes of a catalogue that can be answered in a cell, by what people call them.

    Parameters
    ----------
    catalog
        The catalogue.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.shapes = Shapes.of(catalog)

    @cached_property
    def attributes(self) -> list[str]:
        """The wire paths that can be answered, as far as they are known."""
        known = {*self.shapes.found, *TEXTS, "assets.pictures", "isPartitionedBy", "logisticalHierarchies"}
        return sorted(one for one in known if self.shapes.of_attribute(one) is not AnswerShape.NONE)

    @cached_property
    def languages(self) -> Mapping[str, list[str]]:
        """The languages that the texts of each attribute are in, the most frequent first."""
        columns = ["attribute", "language"]
        rows = (
            self._catalog.arrow("texts", columns).group_by(columns).aggregate([([], "count_all")]).to_pylist()
        )
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            if row["language"]:
                counts[row["attribute"]][row["language"]] += row["count_all"]
        return {name: [one for one, _ in count.most_common()] for name, count in counts.items()}

    def languages_of(self, attribute: str) -> list[str]:
        """Return the languages that texts of an attribute may be in: its own, then those of all others."""
        every = Counter(one for several in self.languages.values() for one in several)
        return list(
            dict.fromkeys([*self.languages.get(attribute, ()), *(one for one, _ in every.most_common())])
        )

    @cached_property
    def _called(self) -> Mapping[str, list[str]]:
        """Return the attributes by what they are called: by path, by column, and by title in each language."""
        found: dict[str, dict[str, None]] = defaultdict(dict)
        words = [Translation(language) for language in LANGUAGES]
        for path in self.attributes:
            titles = {path, attribute_title(path), *(one.attribute_title(path) for one in words)}
            for title in [*titles, *_ALSO.get(path, "").split(",")]:
                found[letters(title)][path] = None
        for column in TABLES["products"].columns:
            for one in column.paths:
                if one and one[0] in self.attributes and one[1:] in ((), ("code",), ("label",)):
                    found[letters(column.name)][one[0]] = None
        for names, paths in _SEVERAL.items():
            for name in names.split(","):
                found[letters(name)].update(dict.fromkeys(paths))
        return {name: [*paths] for name, paths in found.items() if name}

    def meant_by(self, heading: str) -> list[ColumnMeaning]:
        """Return what a heading may mean: one thing if it is certain, nothing if nobody knows it."""
        if len(heading) > _LONGEST:
            return []
        if paths := self._called.get(letters(heading)):
            return [ColumnMeaning(path) for path in paths]
        found: dict[ColumnMeaning, None] = {}
        for words, language in _with_language(heading):
            for path in self._called.get(letters(words), ()):
                if self.shapes.of_attribute(path) is AnswerShape.TEXT:
                    found[ColumnMeaning(path, language)] = None
        return [*found]

    def near(self, heading: str) -> list[ColumnMeaning]:
        """Return the attributes whose names are most like a heading that nobody knows."""
        words = nearest_few(letters(heading), self._called, _NEAREST)
        return [
            ColumnMeaning(path)
            for path in dict.fromkeys(path for word in words for path in self._called[word])
        ]

    def meaning_of(self, given: str) -> ColumnMeaning:
        """Return what somebody says that a column means: "gtin", a wire path, or one with a language behind it.

        Raises
        ------
        InputError
            When there is no such attribute, or no cell can answer it.
        """
        text = given.strip()
        if text.casefold() in KEYS:
            return ColumnMeaning(text.casefold())
        if self.shapes.of_attribute(text) is not AnswerShape.NONE:
            return ColumnMeaning(text)
        path, _, language = text.rpartition(".")
        if self.shapes.of_attribute(path) is AnswerShape.TEXT:
            if (tag := known_language_tag(language)) is None:
                raise InputError(
                    f"{given!r:.80} has no known language. Write it behind the attribute: {f'{path}.fr'!r:.60}."
                )
            return ColumnMeaning(path, tag)
        if (meant := self.meant_by(text)) and len(meant) == 1:
            raise InputError(f"{given!r:.80} is the name of {meant[0]} in words. Write {str(meant[0])!r}.")
        near = hint(text, [*self.attributes, *KEYS], f"Write a wire path, 'gtin', or {IGNORED!r}.")
        raise InputError(f"{given!r:.80} cannot be corrected in a cell{near}")


def _with_language(heading: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a heading without its language, and the tag of that."""
    if (found := _BEHIND.fullmatch(heading)) and (tag := known_language_tag(found[2])):
        yield found[1], tag
    if (found := _BEFORE.fullmatch(heading)) and (tag := known_language_tag(found[1])):
        yield found[2], tag


def propose_meanings(
    headings: Mapping[int, str], rows: Sequence[tuple[int, Row]], catalog: Catalog, known: KnownHeadings
) -> list[HeadingProposal]:
    """Return what each column of a table may mean.

    Parameters
    ----------
    headings
        The headings by their places; none for a table without.
    rows
        The rows below them.
    catalog
        The products, for columns of GTINs that are called nothing.
    known
        What attributes are called.
    """
    places = sorted({*headings, *(place for _, row in rows for place in row)})
    examples: dict[int, str] = {}
    for _, row in rows:
        for place, cell in row.items():
            if not is_empty(cell):
                examples.setdefault(place, cell.text[:60])
    made = [
        _proposal(place, headings.get(place, ""), examples.get(place, ""), known)
        for place in places
        if headings.get(place) or place in examples
    ]
    if not any(one.meaning is not None and one.meaning.attribute in KEYS for one in made):
        made = _with_gtins(made, rows, catalog)
    return _each_once(made)


def _proposal(place: int, heading: str, example: str, known: KnownHeadings) -> HeadingProposal:
    start = HeadingProposal(place, heading, example)
    if (own := column_of_heading(heading)) in KEYS:
        return replace(start, meaning=ColumnMeaning(str(own)))
    meant = known.meant_by(heading) if heading else []
    if not meant:
        near = tuple(known.near(heading)) if heading else ()
        what = f"Nobody knows {start.called}" if heading else "The column has no heading"
        return replace(start, candidates=near, question=f"{what}. What is it, or is it to be ignored?")
    if len(meant) > 1:
        what = ", ".join(one.attribute for one in meant)
        question = f"It may be {what}. Which of them is meant?"
        return replace(start, candidates=tuple(meant), question=question)
    (one,) = meant
    if known.shapes.of_attribute(one.attribute) is not AnswerShape.TEXT or one.language is not None:
        return replace(start, meaning=one, candidates=(one,))
    languages = known.languages_of(one.attribute)
    several = tuple(ColumnMeaning(one.attribute, language) for language in languages)
    if len(languages) == 1:
        question = f"The heading names no language; all texts here are in {languages[0]}. Is it that?"
        return replace(start, meaning=several[0], candidates=several, question=question)
    question = "The heading names no language. In which one are its texts?"
    return replace(start, candidates=several or (one,), question=question)


def _with_gtins(
    made: list[HeadingProposal], rows: Sequence[tuple[int, Row]], catalog: Catalog
) -> list[HeadingProposal]:
    """Return the proposals, with a column of GTINs that is known by its cells alone."""
    there = {gtin.comparable(one) for one in catalog.arrow("products", ["gtin"])["gtin"].to_pylist()} - {None}
    for number, one in enumerate(made):
        cells = [row[one.place].text for _, row in rows[:LOOKED_AT] if one.place in row]
        if cells and 2 * sum(_comparable(cell) in there for cell in cells) > len(cells):
            question = "No heading says so, and most of its cells are GTINs of the catalogue. Is it that?"
            meant = ColumnMeaning("gtin")
            made[number] = replace(one, meaning=meant, candidates=(meant,), question=question)
            break
    return made


def _comparable(text: str) -> str | None:
    try:
        return gtin.comparable(text)
    except InputError:
        return None


def _each_once(made: Sequence[HeadingProposal]) -> list[HeadingProposal]:
    """Return the proposals; what two columns may be is asked of both, since one of them may be last year's."""
    often = Counter(one.meaning for one in made if one.meaning is not None)
    questions = {
        one: f"{number} columns may be {one}. Which of them is it?"
        for one, number in often.items()
        if number > 1
    }
    return [
        replace(one, meaning=None, question=questions[one.meaning]) if one.meaning in questions else one
        for one in made
    ]


#: Columns of `prodex.worklists.propose_headings`.
COLUMNS = ("column", "heading", "meaning", "may_be", "question", "example")


def proposals_frame(made: Sequence[HeadingProposal]) -> pd.DataFrame:
    """Return proposals as a frame; see `prodex.worklists.propose_headings`."""
    rows = [
        (
            one.column,
            one.heading,
            None if one.meaning is None else str(one.meaning),
            ", ".join(map(str, one.candidates)),
            one.question,
            one.example,
        )
        for one in made
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def confirm_meanings(
    given: object, made: Sequence[HeadingProposal], known: KnownHeadings
) -> dict[int, ColumnMeaning]:
    """Return what each column means, by its place, as somebody has confirmed it; those that are ignored are left out.

    Raises
    ------
    InputError
        When something is not confirmed, not known or said twice. All that is open is named at once.
    """
    if given is None:
        raise InputError(f"What the columns mean has to be confirmed. {_to_confirm(made)}")
    said = _said_of_places(given, made)
    # A column without a value changes nothing.
    open_ = [one for one in made if one.place not in said and one.example]
    if open_:
        named = ", ".join(one.called for one in open_)
        raise InputError(f"Nobody has said what {named} is. {_to_confirm(made, said)}")
    meanings = {place: known.meaning_of(text) for place, text in said.items() if text.strip() != IGNORED}
    if problem := problem_of_meanings(meanings):
        raise InputError(f"{problem} {_to_confirm(made)}")
    return meanings


def problem_of_meanings(meanings: Mapping[int, ColumnMeaning]) -> str:
    """Return why no corrections can be made of columns that mean this; empty where they can."""
    for meaning, number in Counter(meanings.values()).items():
        if number > 1:
            return f"{number} columns are {meaning}. Keep one of them, and ignore the others."
    values = [one for one in meanings.values() if one.attribute not in KEYS]
    if len(values) == len(meanings):
        return "No column says which product a row is about. One of them has to be gtin."
    if not values:
        return "No column has values: all are GTINs or ignored."
    if len(values) > MOST_COLUMNS:
        return (
            f"{len(values)} columns have values, and {MOST_COLUMNS} are read at a time. Ignore some: they can be "
            "pasted next."
        )
    return ""


def _said_of_places(given: object, made: Sequence[HeadingProposal]) -> dict[int, str]:
    """Return what is said of each column, by its place."""
    match given:
        case pd.DataFrame():
            pairs = _said_in_frame(given, made)
        case Mapping():
            pairs = [
                (one, IGNORED if meaning is None else meaning)
                for one, meaning in _said_by_heading(given, made)
            ]
        case Sequence() if not isinstance(given, str | bytes):
            if len(given) != len(made):
                raise InputError(
                    f"headings has {len(given)} entries, and the table has {len(made)} columns. {_to_confirm(made)}"
                )
            several = zip(made, given, strict=True)
            pairs = [(one, IGNORED if meaning is None else meaning) for one, meaning in several]
        case _:
            raise InputError(f"headings is {described(given)}. {_to_confirm(made)}")
    return {one.place: _text_of(one, meaning) for one, meaning in pairs if not is_missing(meaning)}


def _said_in_frame(
    given: pd.DataFrame, made: Sequence[HeadingProposal]
) -> list[tuple[HeadingProposal, object]]:
    if not {"column", "meaning"} <= set(given.columns):
        raise InputError(
            "headings is a frame without the columns 'column' and 'meaning'. Give the one of "
            "prodex.worklists.propose_headings."
        )
    by_column = {one.column: one for one in made}
    if strange := [one for one in given["column"] if one not in by_column]:
        raise InputError(f"The table has no column {strange[0]!r:.20}. Propose its headings again.")
    return [(by_column[column], said) for column, said in zip(given["column"], given["meaning"], strict=True)]


def _said_by_heading(
    given: Mapping[Any, object], made: Sequence[HeadingProposal]
) -> Iterator[tuple[HeadingProposal, object]]:
    by_name = defaultdict(list)
    for one in made:
        by_name[one.heading].append(one)
    for heading, meaning in given.items():
        named = by_name.get(heading, [])
        if not named:
            near = hint(str(heading), by_name, f"It has {', '.join(one.called for one in made)}.")
            raise InputError(f"The table has no heading {heading!r:.60}{near}")
        if len(named) > 1:
            raise InputError(
                f"{len(named)} columns are called {heading!r:.60}. Give a list with what each column means."
            )
        yield named[0], meaning


def _text_of(proposal: HeadingProposal, meaning: object) -> str:
    if isinstance(meaning, str) and meaning.strip():
        return meaning
    raise InputError(
        f"What {proposal.called} means is {described(meaning)}. Give text, such as 'netContent', or {IGNORED!r}."
    )


def _to_confirm(made: Sequence[HeadingProposal], said: Collection[int] = ()) -> str:
    """Return what to give, with what is proposed, and what is asked of the rest."""
    proposed = ", ".join(
        f"{one.heading[:60]!r}: {'...' if one.meaning is None else repr(str(one.meaning))}" for one in made
    )
    asked = " ".join(
        f"{one.called}: {one.question}{f' ({_some(one)})' if one.candidates else ''}"
        for one in made
        if one.question and one.place not in said
    )
    return f"If it is so, give headings={{{proposed}}}. {asked}".strip()


def _some(proposal: HeadingProposal) -> str:
    names = [*map(str, proposal.candidates)]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
