"""Requirements as files: workbook, CSV and TOML, written and read; which files are requirements at all."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from prodex.advice import Advice, Argument, PythonCall, advice
from prodex.arguments import described
from prodex.encodings import NotUtf8, utf8_text
from prodex.errors import InputError, StorageError
from prodex.files.atomic import look_at, reading, writing
from prodex.files.untrusted import is_file, is_there, read_bytes
from prodex.formats.formulas import escape_formulas
from prodex.formats.spreadsheet_files import sheets_of
from prodex.formats.workbook_cells import Row
from prodex.limits import Limits
from prodex.phrases import hint
from prodex.quality.requirement_files.layout import heading_of
from prodex.quality.requirement_files.rows import COLUMNS, check_lengths, rows_of
from prodex.quality.requirement_files.sheet_reading import named_columns, read_sheets
from prodex.quality.requirement_files.toml_file import MOST_BYTES, is_requirements_text, read_toml, toml_of
from prodex.quality.requirement_files.workbook import write_workbook
from prodex.quality.requirement_files.workbook_contents import contents_without_catalog
from prodex.quality.requirements import Requirements

#: Endings of what a spreadsheet saves, readable or not: none of them is a profile.
_SHEETS = frozenset({".xlsx", ".xlsm", ".csv", ".tsv", ".txt", ".xls", ".xlsb", ".ods", ".numbers"})
#: Rows of a file: ten channels with a thousand attributes in ten languages each.
_MOST_ROWS = 100_000
_WRITTEN = (".xlsx", ".csv", ".toml")


def is_requirements_file(path: str | Path) -> bool:
    """Return whether a path is that of requirements, and not of a profile.

    A spreadsheet never is a profile. A TOML file is of requirements if it has the key `requirements`.

    >>> is_requirements_file("requirements.xlsx"), is_requirements_file("core")
    (True, False)
    """
    file = Path(path)
    ending = file.suffix.casefold()
    if ending in _SHEETS:
        return True
    if ending != ".toml" or not is_file(file):
        return False
    try:
        return is_requirements_text(utf8_text(_content(file)))
    except NotUtf8:
        return False


def read_requirements(
    path: str | Path, known: Collection[str] = (), limits: Limits | None = None
) -> Requirements:
    """Read requirements of a file, and write an empty workbook beside another table; see `Requirements.read`."""
    if not isinstance(path, str | Path):
        raise InputError(f"path is {described(path)}. Give the path of a workbook, CSV or TOML.")
    file = Path(path)
    look_at(file)
    if not is_file(file):
        what = "is not a plain file" if is_there(file) else "is not there"
        raise InputError(f"{file} {what}. Give the path of requirements: a workbook (.xlsx), CSV or TOML.")
    if file.suffix.casefold() == ".toml":
        return _read_toml(file)
    with sheets_of(
        file,
        limits=limits,
        setting="Requirements.read",
        headings=_number_of_headings,
        most_rows=_MOST_ROWS,
    ) as sheets:
        found = read_sheets(sheets, known)
        names = [sheet.name for sheet in sheets]
    if not found.is_there and not found.wrong:
        what = _what_it_is(file, names, found.lacks)
        raise InputError(advice("{file} has no requirements. {what}", file=file.name, what=what))
    return Requirements.joined(
        found.entries,
        found.wrong,
        by=found.by or "kind",
        name=file.stem,
        ignored=tuple(dict.fromkeys(found.ignored)),
        notes=tuple(dict.fromkeys(found.notes)),
    )


def write_requirements(requirements: Requirements, path: str | Path, *, replace: bool = False) -> Path:
    """Write requirements as a file; see `Requirements.write`."""
    file = checked_path(path, _WRITTEN, replace=replace)
    rows = rows_of(requirements)
    check_lengths(rows)
    with writing(file) as beside:
        match file.suffix.casefold():
            case ".toml":
                beside.write_text(toml_of(requirements), "utf-8", newline="\n")
            case ".csv":
                _write_csv(rows, beside)
            case _:
                write_workbook(contents_without_catalog(requirements), beside)
    return file


def checked_path(path: str | Path, endings: Collection[str], *, replace: bool) -> Path:
    """Return the path of a file that may be written.

    Raises
    ------
    InputError
        When its ending is another one, or there is something that should not be replaced.
    """
    if not isinstance(path, str | Path):
        raise InputError(
            f"path is {described(path)}. Give the path of the file, such as 'requirements.xlsx'."
        )
    file = Path(path)
    if file.suffix.casefold() not in endings:
        near = hint(file.suffix, endings, f"Give one that ends in {' or '.join(endings)}.")
        raise InputError(f"{file.name!r:.80} cannot be written{near}")
    if is_there(file) and not (replace and is_file(file)):
        what = "There is" if is_file(file) else "Something else is at"
        raise InputError(
            advice(
                "{what} {file}. Give another path{or_replace}.",
                what=what,
                file=file,
                or_replace=advice(", or {replace}", replace=Argument("replace", True))
                if is_file(file)
                else "",
            )
        )
    return file


def _read_toml(file: Path) -> Requirements:
    content = _content(file)
    try:
        return read_toml(file.stem, file.name, utf8_text(content), file)
    except NotUtf8 as error:
        raise InputError(f"{file.name} {error}") from error


def _content(file: Path) -> bytes:
    try:
        with reading(file):
            return read_bytes(file, MOST_BYTES)
    except StorageError:
        raise
    except OSError as error:
        raise InputError(f"{file.name} cannot be read: {error}.") from error


def _write_csv(rows: Iterable[Mapping[str, str]], path: Path) -> None:
    """Write one requirement a row, safe to open in a spreadsheet."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        table.writerows([escape_formulas(row[name]) for name in COLUMNS] for row in rows)


def _number_of_headings(_: int, row: Row) -> int:
    """Return how many columns the row of headings names: by it the separator of a CSV file is found."""
    return len(named_columns(row))


def _what_it_is(file: Path, names: Collection[str], lacks: Collection[str]) -> Advice:
    """Return what a file is that has no requirements, and what to fill in: an empty workbook is written beside it."""
    if any(name.startswith("To fix") for name in names):
        reads = PythonCall("prodex.read_worklist({file!r})", file=file.name)
        return advice("It is a worklist: {reads} reads it.", reads=reads)
    lacking = f"Its table lacks {', '.join(map(heading_of, lacks))}. " if lacks else ""
    template = file.with_name(f"{file.stem} template.xlsx")
    if not is_there(template):
        # Where nothing can be written, the words are all there is.
        with suppress(StorageError, InputError, OSError):
            write_requirements(Requirements(), template)
    beside = f": {template.name} beside it is an empty one to fill in, and" if is_file(template) else "."
    return advice(
        "{lacking}Requirements are read from their own table alone{beside} {requirements} writes one for a catalogue.",
        lacking=lacking,
        beside=beside,
        requirements=PythonCall("prodex.write_requirements({file!r}, catalog)", file="requirements.xlsx"),
    )
