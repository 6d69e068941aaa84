"""What was read of worklists with answers: answers, problems, notes, and where each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from prodex.changes import Change
from prodex.formats.workbook_cells import CellKind
from prodex.languages import Said


@dataclass(frozen=True)
class AnswerSource:
    """Where an answer is from, which decides whose answer it can be.

    Attributes
    ----------
    is_worklist
        Whether prodex wrote the rows around it; a table of one's own asks for nothing.
    is_hidden
        Whether its sheet is hidden.
    is_edited
        Whether the hidden sheet, which names owners and products, is not as prodex wrote it.
    host
        Of the service whose products the worklist was written for, if it says one.
    owners
        What the owners are known by that the worklist was written for; None if that is not known, or any.
    of_sheet
        The owners of all products in its sheet.
    only
        What the owners are known by whose answers are read at all; None for all of them.
    """

    is_worklist: bool = False
    is_hidden: bool = False
    is_edited: bool = False
    host: str | None = None
    owners: frozenset[str | None] | None = None
    of_sheet: frozenset[str | None] = frozenset()
    only: frozenset[str | None] | None = None


class CellPlace(NamedTuple):
    """Where a cell is: file, sheet, row, and what spreadsheets call it ("L5"). An answer is known by it."""

    file: str
    sheet: str
    row: int
    cell: str


class Answer(NamedTuple):
    """A filled cell, or a correction that was typed somewhere else.

    Attributes
    ----------
    file, sheet, row, cell
        Its place; `cell` as spreadsheets call it ("L5"). A typed correction has its number as `row`, and no file.
    text, kind
        What it holds.
    shown
        A number as its format shows it, where that only adds zeros or shows percent.
    keys
        What its row says of product, attribute and so on; a key that the row lacks is absent. `value` is what was seen;
        empty if nothing was there. `position_read` is a position that a spreadsheet may have changed.
    source
        Of which worklist it is.
    is_typed_over
        Whether it was typed over the value that was seen, while "New value" is empty.
    given_at
        The place of an answer for several rows at once, in words; None where it is in its own row.
    change
        What it changes, of an answer that is exact (`prodex.worklists.exact_answers`); None for a cell.
    order
        The order of the list in which an exact answer adds an item or takes one away; None where it follows.
    questions
        What needs confirmation of it in any case.
    seen
        What it changes of the product for which it was written, place by place; None where that is not known.
    refusal
        Why it cannot be sent, where that is known already.
    bound
        Answers with the same number are sent together or not at all: a text is moved by taking it from one place and
        writing it at another one.
    restores
        Whether it restores what the product held earlier, of which nobody has to say that it is meant.
    is_spelled
        Whether its cell is of CSV or of a frame, which do not say what a spreadsheet has made of it.
    """

    file: str
    sheet: str
    row: int
    cell: str
    text: str
    kind: CellKind
    keys: Mapping[str, str]
    shown: str | None = None
    source: AnswerSource = AnswerSource()
    is_typed_over: bool = False
    given_at: str | None = None
    change: Change | None = None
    order: Change | None = None
    questions: tuple[Said, ...] = ()
    seen: tuple[Change, ...] | None = None
    refusal: Said | None = None
    bound: int | None = None
    restores: bool = False
    is_spelled: bool = False

    @classmethod
    def typed(
        cls,
        number: int,
        text: str,
        keys: Mapping[str, str | None],
        *,
        change: Change | None = None,
        order: Change | None = None,
        questions: tuple[Said, ...] = (),
        refusal: Said | None = None,
    ) -> Answer:
        """Return a correction that is in no file, but beside the product or computed; what is None is no key."""
        known = {name: value for name, value in keys.items() if value is not None}
        about = (change, order, questions, None, refusal)
        return cls("", "", number, "", text, "text", known, None, AnswerSource(), False, None, *about)

    @property
    def cell_place(self) -> CellPlace:
        """Its place, by which it is known."""
        return CellPlace(self.file, self.sheet, self.row, self.cell)

    @property
    def place(self) -> str:
        """Its place, in words."""
        place = place_in_words(*self.cell_place)
        return place if self.given_at is None else f"{place} (as in {self.given_at})"


class Problem(NamedTuple):
    """What could not be read: a file, a sheet or a cell, as far as it is known, and why."""

    file: str
    sheet: str | None
    row: int | None
    cell: str | None
    text: str | None
    problem: Said


class CellNote(NamedTuple):
    """What somebody typed beside a row that has no answer: a remark, or an answer in another column.

    Attributes
    ----------
    file, sheet, row, cell
        Where it is.
    column
        The heading above it; None where there is none.
    text
        What was typed.
    gtin, attribute
        What its row is about.
    """

    file: str
    sheet: str
    row: int
    cell: str
    column: str | None
    text: str
    gtin: str | None
    attribute: str | None


class ShownName(NamedTuple):
    """The name of a product in a row without an answer: a note if somebody has typed over it.

    Attributes
    ----------
    note
        The cell.
    product_id, updated_at
        The product by the key of the row, and when it was last changed before the worklist was written.
    """

    note: CellNote
    product_id: str
    updated_at: str | None


class HiddenSheet(msgspec.Struct, frozen=True):
    """What a workbook says of the audit it was written for, as far as it says it.

    Attributes
    ----------
    format
        The number of the layout; None where somebody has removed it.
    profile
        The profile of the audit.
    snapshot
        Name and time of the snapshot that was audited, "shop@2026-11-23T08-00-00Z".
    columns
        The columns in their order.
    sheets
        The sheets with findings.
    host
        The host of the service from which the products were loaded, if there is one.
    owners
        What the owner is known by whose products these are, None for products without one; None for any owners.
    is_sealed
        Whether the hidden sheet is as prodex wrote it.
    language
        The language of the worklist.
    """

    format: int | None = None
    profile: str | None = None
    snapshot: str | None = None
    columns: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    host: str | None = None
    owners: tuple[str | None, ...] | None = None
    is_sealed: bool = False
    language: str = "en"


@dataclass(frozen=True)
class AnswerSheet:
    """A sheet with findings, or a CSV file.

    Attributes
    ----------
    file, sheet
        Where it is.
    rows
        Number of rows: all that are not empty below its headings, but for headings that are repeated.
    unread
        How many of them could not be read, since a column is missing.
    is_hidden
        Whether the sheet is hidden.
    is_worklist
        Whether prodex wrote it, by its hidden sheet or by the keys of its rows.
    products
        Number of rows by product id and GTIN, as far as they have them.
    """

    file: str
    sheet: str
    rows: int = 0
    unread: int = 0
    is_hidden: bool = False
    is_worklist: bool = False
    products: Mapping[tuple[str | None, str | None], int] = field(default_factory=dict)


@dataclass
class Returned:
    """What was read.

    Attributes
    ----------
    answers
        The filled cells.
    problems
        What could not be read.
    hidden_sheets
        What the hidden sheets of each workbook say, by file.
    files
        Number of files.
    sheets
        The sheets with findings.
    ignored
        Files in a folder that are neither workbooks nor CSV, and sheets without the headings of a worklist.
    doubtful
        Cells "Value seen" of rows without an answer that may have been typed over: their keys say so, or nothing says
        what they were.
    notes
        What was typed into other columns of rows without an answer.
    names
        The names of products in these rows.
    requests
        The filled cells of the column "Accept because".
    damaged
        Texts of each file beside the answers in which letters may have been lost.
    """

    answers: list[Answer] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    hidden_sheets: dict[str, list[HiddenSheet]] = field(default_factory=dict)
    files: int = 0
    sheets: list[AnswerSheet] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    doubtful: list[Answer] = field(default_factory=list)
    notes: list[CellNote] = field(default_factory=list)
    names: list[ShownName] = field(default_factory=list)
    requests: list[Answer] = field(default_factory=list)
    damaged: dict[str, set[str]] = field(default_factory=dict)


def trimmed(text: str) -> str:
    """Return an answer without outer spaces, and with line ends as the service has them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip().strip("\u00a0\u200b\ufeff").strip()


def place_in_words(file: str | None, sheet: str | None, row: int | None, cell: str | None) -> str:
    """Return the place of an answer: file, sheet and cell, or the number of a correction that was typed.

    >>> place_in_words("/home/eva/to_fix/ACME.xlsx", "To fix", 5, "L5"), place_in_words("", "", 2, "")
    ('ACME.xlsx To fix L5', 'correction 2')
    """
    if not file:
        return f"correction {row}"
    # Its folder is nobody else's business.
    return " ".join(filter(None, [file_name(file), sheet, cell]))


def file_name(path: str) -> str:
    """Return the name of a file without its folder, whichever system wrote the path.

    >>> file_name("/home/eva/to_fix/ACME.xlsx"), file_name("")
    ('ACME.xlsx', '')
    """
    return path.replace("\\", "/").rpartition("/")[2]
