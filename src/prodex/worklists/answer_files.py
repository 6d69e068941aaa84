"""Reading the files of worklists with answers: which files there are, what their hidden sheets say, and each sheet."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pandas as pd

from prodex.arguments import described
from prodex.encodings import Known
from prodex.errors import InputError, OtherLayout, SpreadsheetUnreadable
from prodex.files.layouts import require_layout
from prodex.files.untrusted import is_file, is_folder
from prodex.formats.frame_sheet import sheet_of_frame
from prodex.formats.spreadsheet_files import Sheet, sheets_of
from prodex.formats.workbook_cells import Row
from prodex.languages import Message
from prodex.languages.message import said_by, sentences
from prodex.languages.recognized import recognized
from prodex.limits import Limits
from prodex.worklists.answer_sheets import SeveralAnswers, SheetReader
from prodex.worklists.headings import filled_rows, headings_of
from prodex.worklists.layout import (
    CODES_SHEET,
    FORMAT,
    INDEX,
    KEYS_SHEET,
    MAIL,
    MANIFEST,
    READ_ME_SHEET,
    SUMMARY_SHEET,
    seal_of,
)
from prodex.worklists.lost_letters import LOST, find_lost_letters
from prodex.worklists.returned_files import HiddenSheet, Problem, Returned, place_in_words

#: Copies of the hidden sheet, which spreadsheets make when all sheets of a workbook are copied into another one.
_KEYS_SHEET = re.compile(rf"{KEYS_SHEET}(?: ?\(\d+\)|_?\d+)?", re.IGNORECASE)
#: Sheets of a worklist that have no findings.
_EXPLANATIONS = (READ_ME_SHEET, SUMMARY_SHEET, CODES_SHEET)
_ENDINGS = frozenset({".xlsx", ".xlsm", ".csv", ".tsv", ".txt", ".xls", ".xlsb", ".ods", ".numbers"})
_TEXT_ENDINGS = frozenset({".csv", ".tsv", ".txt"})
_OWN = frozenset({MANIFEST, INDEX})
#: What to do with a worklist of another version.
_ADVICE = "Its answers are not read. Write the worklist anew, audit.worklists(folder), and copy them into it."

#: Files and frames of answers, as they are given.
Given: TypeAlias = str | Path | pd.DataFrame | Iterable[str | Path | pd.DataFrame]


def read_files(
    files: Given,
    limits: Limits | None = None,
    known: Callable[[Returned], Known] | None = None,
) -> Returned:
    """Read the answers of worklists.

    Parameters
    ----------
    files
        Paths of workbooks and CSV files, and of folders with them; and frames with the columns of a worklist.
    limits
        What a file may take, unpacked.
    known
        Returns what knows the texts of the catalogue, by what was read before; it is asked where the letters of a file
        are not certain. Workbooks, which name their catalogue, are read before CSV files, which do not.

    Raises
    ------
    InputError
        When there is no such file, or none in a folder.
    """
    returned = Returned()

    def asked(skeletons: Collection[str]) -> Collection[str]:
        return () if known is None else known(returned)(skeletons)

    found = _answer_files(files, returned)
    places = {file: place for place, file in enumerate(found)}
    # Workbooks first: they name the catalogue, with which the encoding of other files has to agree.
    for file in sorted(places, key=lambda one: one.suffix.casefold() in _TEXT_ENDINGS):
        try:
            _read_file(file, found[file], limits, returned, asked)
        except (SpreadsheetUnreadable, OtherLayout) as error:
            returned.problems.append(Problem(str(file), None, None, None, None, said_by(error)))
    returned.answers.sort(key=lambda one: places[Path(one.file)])
    returned.problems.sort(key=lambda one: places[Path(one.file)])
    returned.files = len(places)
    return returned


def _answer_files(files: Given, returned: Returned) -> dict[Path, pd.DataFrame | None]:
    """Return the files that are read, and the frames by how messages name them."""
    if isinstance(files, str | Path | pd.DataFrame) or not isinstance(files, Iterable):
        files = [files]
    given: list[Any] = list(files)
    frames = [one for one in given if isinstance(one, pd.DataFrame)]
    given = [one for one in given if not isinstance(one, pd.DataFrame)]
    if wrong := [one for one in given if not isinstance(one, str | Path)]:
        raise InputError(
            f"files is {described(wrong[0])}. Give paths of workbooks and CSV files, or the folder of them."
        )
    found: list[Path] = []
    for path in map(Path, given):
        if not is_folder(path):
            if not is_file(path):
                raise InputError(
                    f"There is no file {path}. Give workbooks or CSV files, or the folder of them."
                )
            found.append(path)
            continue
        here = sorted(
            one for one in path.iterdir() if one.name not in _OWN and not one.name.startswith(("~$", "."))
        )
        wanted = [one for one in here if one.suffix.casefold() in _ENDINGS and is_file(one)]
        # The draft of a mail is beside its workbook; one that came back may have the answers attached.
        drafts = {one.with_suffix(MAIL) for one in wanted}
        returned.ignored += [str(one) for one in here if one not in wanted and one not in drafts]
        if not wanted:
            raise InputError(
                f"The folder {path} has no workbook and no CSV file. Give the folder of the answers."
            )
        found += wanted
    if not found and not frames:
        raise InputError("No file was given. Give workbooks or CSV files, or the folder of them.")
    named = {Path(f"frame {n}" if n > 1 else "frame"): frame for n, frame in enumerate(frames, 1)}
    return {**dict.fromkeys(one.resolve() for one in found), **named}


def _sheets(
    file: Path, frame: pd.DataFrame | None, limits: Limits | None, known: Known
) -> AbstractContextManager[list[Sheet]]:
    if frame is not None:
        return nullcontext([sheet_of_frame(frame, file)])
    return sheets_of(file, limits=limits, headings=_named_columns, known=known)


def _read_file(
    file: Path, frame: pd.DataFrame | None, limits: Limits | None, returned: Returned, known: Known
) -> None:
    before = len(returned.answers)
    with _sheets(file, frame, limits, known) as sheets:
        kept = {sheet.name: facts for sheet in sheets if (facts := _read_hidden_sheet(sheet)) is not None}
        returned.hidden_sheets[str(file)] = list(kept.values())
        for one in kept.values():
            require_layout(file, one.format, FORMAT, _ADVICE)
        own = {name for one in kept.values() for name in one.sheets}
        listed = next((one.columns for one in kept.values()), ())
        lists, others = [], []
        several = SeveralAnswers()
        readers = [SheetReader(one, returned, several) for one in sheets if one.name not in kept]
        # Answers for several rows first: each row asks whether there is one for it.
        for reader in [one for one in readers if not one.read_several()]:
            sheet, found = reader.sheet, reader.read_rows(listed, bool(kept))
            lists.append(found is not None)
            if found is None and sheet.name in own:
                reader.refuse_rows()
            elif (
                found is None
                and not (kept and recognized(sheet.name, _EXPLANATIONS))
                and any(filled_rows(sheet))
            ):
                others.append(reader)
        for reader in others:
            # Where no sheet has headings, the file as a whole is a problem.
            if any(lists) and reader.has_keys():
                reader.refuse_rows()
            else:
                returned.ignored.append(place_in_words(str(file), reader.sheet.name, None, None))
        returned.problems += several.unmet
    if not any(lists):
        problem = Message(
            "no sheet has the headings of a worklist: GTIN, Field and New value. Name its columns as they were."
        )
        returned.problems.append(Problem(str(file), None, None, None, None, problem))
    _refuse_lost_letters(file, before, returned, known)


def _named_columns(number: int, row: Row) -> int:
    """Return how many columns of a worklist a row names."""
    del number
    found = headings_of(row, ())
    return 0 if found is None else len(found.places)


def _refuse_lost_letters(file: Path, before: int, returned: Returned, known: Known) -> None:
    """Make problems of the answers of a file in which letters were lost."""
    doubtful = [one for one in returned.answers[before:] if not LOST.isdisjoint(one.text)]
    if not doubtful:
        return
    lost = find_lost_letters(returned.damaged.get(str(file), ()), known)
    kept = []
    for one in returned.answers[before:]:
        if "\ufffd" in one.text:
            why = Message(
                "it holds {letter}, which programs write for a letter that they cannot read.", letter="\ufffd"
            )
        elif lost is not None and "?" in one.text:
            text, other = (f"{each!r:.60}" for each in lost)
            why = Message(
                "letters of this file were lost when it was saved: it has {text} for {other}.",
                text=text,
                other=other,
            )
        else:
            kept.append(one)
            continue
        again = Message("Write the answer again, and save it as a workbook (.xlsx) or as CSV in UTF-8.")
        returned.problems.append(Problem(*one.cell_place, one.text, sentences(why, again)))
    returned.answers[before:] = kept


def _read_hidden_sheet(sheet: Sheet) -> HiddenSheet | None:
    """Return the facts in a hidden sheet, without values that somebody spoilt; None for any other sheet."""
    if _KEYS_SHEET.fullmatch(sheet.name) is None:
        return None
    found: dict[str, Any] = {}
    for _, row in sheet.rows():
        name, value = row.get(0), row.get(1)
        if name is not None and value is not None:
            try:
                found[name.text] = json.loads(value.text)
            except (ValueError, RecursionError):
                continue
    if sheet.name.casefold() != KEYS_SHEET and "format" not in found:
        return None
    layout = found.get("format")
    is_sealed = found.get("seal") == seal_of(found)
    try:
        return msgspec.convert(found | {"is_sealed": is_sealed}, HiddenSheet)
    except msgspec.ValidationError:
        return HiddenSheet(layout if isinstance(layout, int) else None)
