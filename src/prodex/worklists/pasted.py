"""Corrections in a copied table: a block from a spreadsheet, or a frame, with a column of GTINs: the same `Fix`.

Each cell is an answer, and is read by the rules for answers of worklists. There is no worklist that says what was asked
for and seen, so two things are different: what the columns mean is confirmed by whoever copied them, and what the
catalogue holds is what was seen. Where a place holds something else by the time it is sent, that is a conflict.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pandas as pd

from prodex import gtin
from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.formats.formulas import unescape_formulas
from prodex.formats.frame_sheet import sheet_of_frame
from prodex.formats.pasted_text import sheet_of_text
from prodex.formats.workbook_cells import Row, cell_place
from prodex.languages import Message
from prodex.phrases import counted
from prodex.quality.profile import Profile
from prodex.send.known_products import KnownProducts
from prodex.store.snapshot import catalog_given
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.answer_outcomes import ConcernedProducts, assign_product, decide_answers
from prodex.worklists.answer_sheets import unusable_answer
from prodex.worklists.fix import Fix, MadeBy, find_products, make_fix
from prodex.worklists.headings import filled_rows, is_empty
from prodex.worklists.pasted_headings import (
    KEYS,
    LOOKED_AT,
    ColumnMeaning,
    HeadingProposal,
    KnownHeadings,
    proposals_frame,
    propose_meanings,
)
from prodex.worklists.returned_files import Answer, AnswerSheet, CellPlace, Problem, Returned, trimmed
from prodex.worklists.retyped import as_shown, questions_of_spelling
from prodex.written_numbers import is_rounded

#: Rows of one table.
MOST_ROWS = 1_000
#: Columns that are looked at, with those that are ignored.
_MOST_PROPOSED = 40
#: How messages name a table that was copied.
PASTE = "paste"
#: Texts, in which a spreadsheet may have changed what was typed.
_TEXTS = frozenset({AnswerShape.TEXT, AnswerShape.STRING})


@dataclass(frozen=True)
class PastedTable:
    """A table as it was copied.

    Attributes
    ----------
    file
        How messages name it.
    headings
        The headings by their places; none where the first row is one of values.
    rows
        The rows below them, with their numbers.
    proposals
        What each column may mean.
    """

    file: str
    headings: Mapping[int, str]
    rows: Sequence[tuple[int, Row]]
    proposals: Sequence[HeadingProposal]


def pasted_table(given: object, catalog: Catalog, known: KnownHeadings) -> PastedTable:
    """Return a table that was copied, with what its columns may mean.

    Raises
    ------
    InputError
        When it is no table, has no rows, or too many.
    """
    if isinstance(given, pd.DataFrame):
        name, sheet = "frame", sheet_of_frame(given, Path("frame"))
    elif isinstance(given, str):
        name, sheet = PASTE, sheet_of_text(given, Path(PASTE))
    else:
        raise InputError(
            f"table is {described(given)}. Give the text that was copied from a spreadsheet, or a frame; "
            "prodex.read_worklist reads files."
        )
    rows = list(filled_rows(sheet))
    if not rows:
        raise InputError(
            "The table is empty. Copy it with its headings: a column of GTINs, and one for each value."
        )
    if isinstance(given, str):
        _refuse_rows_in_a_cell(rows)
    headings: dict[int, str] = {}
    if not _begins_with_values(rows):
        headings = {place: cell.text.strip() for place, cell in rows.pop(0)[1].items() if not is_empty(cell)}
    rows = [(number, row) for number, row in rows if not all(map(is_empty, row.values()))]
    if not rows:
        raise InputError("The table has no row below its headings. Copy the rows as well.")
    if len(rows) > MOST_ROWS:
        raise InputError(
            f"The table has {len(rows):,} rows, and {MOST_ROWS:,} are read at a time. Copy it in parts, or save it as "
            "a file with the columns GTIN, Field, Language and New value: prodex.read_worklist."
        )
    made = propose_meanings(headings, rows, catalog, known)
    if len(made) > _MOST_PROPOSED:
        raise InputError(
            f"The table has {len(made):,} columns, and {_MOST_PROPOSED} are looked at. Copy the GTINs and those with "
            "new values."
        )
    return PastedTable(name, headings, rows, made)


def _refuse_rows_in_a_cell(rows: Sequence[tuple[int, Row]]) -> None:
    """Refuse a table in which the rows between two quotation marks were read as one cell, whatever its column is for.

    Whoever writes `"` for "the same", or for inches, has one in many rows; the value behind the last of them would be
    read into the first row.
    """
    for number, row in rows:
        for place, cell in row.items():
            if "\t" not in cell.text or not ("\n" in cell.text or "\r" in cell.text):
                continue
            if found := [one for one in re.split(r"[\t\r\n]", cell.text) if _was_to_be_gtin(one)]:
                raise InputError(
                    f"It is not certain where the cell {cell_place(number, place)} ends: it begins with a quotation "
                    f"mark, and up to the next one there are other rows, such as that of {found[0].strip()}. Write "
                    "words in place of such marks, and copy the table again."
                )


def _begins_with_values(rows: Sequence[tuple[int, Row]]) -> bool:
    """Whether the first row has a GTIN, or what was to be one in a column of such: as headings it would be lost."""
    (_, first), *others = rows
    for place, cell in first.items():
        if _is_gtin(cell.text):
            return True
        if _was_to_be_gtin(cell.text):
            below = [row[place].text for _, row in others[:LOOKED_AT] if place in row]
            if len(below) <= 2 * sum(map(_was_to_be_gtin, below)):
                return True
    return False


def _is_gtin(text: str) -> bool:
    with suppress(InputError):
        return gtin.normal_form(text) is not None
    return False


def _was_to_be_gtin(text: str) -> bool:
    """Whether a text is as long as a GTIN, with whatever check digit, or what a spreadsheet makes of one."""
    digits = gtin.as_text(text) or ""
    return is_rounded(digits) or (len(digits) in gtin.LENGTHS and gtin.has_digits(digits))


def propose_headings(table: str | pd.DataFrame, catalog: Catalog | str | Path) -> pd.DataFrame:
    """Return what the columns of a copied table may mean, to be confirmed by giving it to `correct_from`.

    Parameters
    ----------
    table, catalog
        As for `correct_from`.

    Returns
    -------
    pandas.DataFrame
        One row for each column: column ("B"), heading, meaning, may_be, question, example. `meaning` is "gtin", a wire
        path, or one with the language of its texts ("namePublicLong.fr"); None where `question` has to be answered
        first, and `may_be` lists what it may be. "ignore" leaves a column out.

    Raises
    ------
    InputError
        When it is no table, has no rows, or too many.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> headings = prodex.worklists.propose_headings("EAN;Nom long FR;Wer\\n3036811359935;Pain complet;Eva\\n", catalog)
    >>> headings[["column", "heading", "meaning"]].values.tolist()
    [['A', 'EAN', 'gtin'], ['B', 'Nom long FR', 'namePublicLong.fr'], ['C', 'Wer', None]]
    """
    chosen = catalog_given(catalog, "propose_headings(table, catalog)", table)
    return proposals_frame(pasted_table(table, chosen, KnownHeadings(chosen)).proposals)


def make_fix_of_table(
    pasted: PastedTable,
    meanings: Mapping[int, ColumnMeaning],
    catalog: Catalog,
    known: KnownHeadings,
    profile: Profile,
    now: datetime,
    made_by: MadeBy,
) -> Fix:
    """Judge the corrections in a table whose columns are confirmed; see `correct_from`."""
    values = {place: one for place, one in meanings.items() if one.attribute not in KEYS}
    keys = {one.attribute: place for place, one in meanings.items() if one.attribute in KEYS}
    returned = Returned()
    products = KnownProducts.of(catalog)
    there = dict.fromkeys(one for several in products.ids.values() for one in several)
    rows_of: dict[str, list[int]] = defaultdict(list)
    for number, row in pasted.rows:
        about = {name: row[place].text.strip().lstrip("'") for name, place in keys.items() if place in row}
        answers = [*_answers_of_row(pasted.file, number, row, about, values, known, returned.problems)]
        # A cell that cannot be used speaks of its product, too: another row is no certain answer beside it.
        if any(place in row and not is_empty(row[place]) for place in values):
            whose = Answer(
                pasted.file, "", number, "", "", "text", {key: one for key, one in about.items() if one}
            )
            if (product := assign_product(whose, products, there).product) is not None:
                rows_of[product].append(number)
        returned.answers += answers
    twice = {number: several for several in rows_of.values() if len(several) > 1 for number in several}
    returned.answers = [_refused_twice(one, twice) for one in returned.answers]
    concerned = find_products(catalog, rows_of, products)
    returned.answers = _with_what_is_there(returned.answers, concerned, catalog)
    returned.sheets = [AnswerSheet(pasted.file, "", len(pasted.rows))]
    if not made_by.why:
        made_by = MadeBy(f"pasted table of {counted(len(pasted.rows), 'row')}", made_by.by)
    return make_fix(returned, catalog, profile, now, made_by=made_by, received=concerned.records)


def _answers_of_row(
    file: str,
    number: int,
    row: Row,
    about: Mapping[str, str],
    values: Mapping[int, ColumnMeaning],
    known: KnownHeadings,
    problems: list[Problem],
) -> Iterable[Answer]:
    """Yield the answers of a row about a product; what cannot be read is a problem."""
    for place, meaning in values.items():
        cell = row.get(place)
        if cell is None or is_empty(cell):
            continue
        where = CellPlace(file, "", number, cell_place(number, place))
        text = trimmed(unescape_formulas(cell.text))
        if (why := unusable_answer(as_shown(cell), 1)) is not None:
            problems.append(Problem(*where, cell.text, why))
            continue
        said = {**about, "attribute": meaning.attribute}
        if meaning.language is not None:
            said["language"] = meaning.language
        filled = {name: value for name, value in said.items() if value}
        shape = known.shapes.of_attribute(meaning.attribute)
        questions = questions_of_spelling(text, str(meaning)) if shape in _TEXTS else ()
        yield Answer(*where, text, "text", filled, questions=questions)


def _refused_twice(answer: Answer, twice: Mapping[int, Sequence[int]]) -> Answer:
    if (several := twice.get(answer.row)) is None:
        return answer
    return answer._replace(
        refusal=Message(
            "the rows {rows} are about the same product. Keep one of them.", rows=", ".join(map(str, several))
        )
    )


def _with_what_is_there(
    answers: Sequence[Answer], products: ConcernedProducts, catalog: Catalog
) -> list[Answer]:
    """Return answers with the places that they change as they are now: that is what was seen."""
    made = decide_answers(answers, products, catalog)
    return [one._replace(seen=decision.changes) for one, decision in zip(answers, made, strict=True)]
