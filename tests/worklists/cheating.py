"""A supplier who cheats: what he does to his own worklist, so that it changes what nobody asked him about.

Each way takes the workbook of the mill, in which one row has a good answer, and the folder of all worklists. It adds
answers in which the text begins with `CHEAT`; none of them may be sent before somebody has confirmed it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

import prodex
from prodex.sandbox import Sandbox
from prodex.worklists.layout import OF_THE_KEY
from prodex.worklists.row_keys import RowKey
from tests.quality.workbooks import questions

from .bakery import record, stored, text
from .handling import as_csv, fill, place, rows_of

CHEAT = "Tromperie"
GOOD = "Pain de campagne aux graines"

#: The mill (4) has two products, and the oven (5), its rival, as well.
RECORDS = (
    record(
        1,
        "03036811359935",
        namePublicLong=[text("fra-FR", "PAIN DE CAMPAGNE AUX GRAINES")],
        isConsumerUnit=True,
    ),
    record(
        2, "05410228142027", namePublicLong=[text("fra-FR", "PAIN BIS DU MOULIN")], brand={"code": "ACME"}
    ),
    record(
        3,
        "08784900123459",
        namePublicLong=[text("fra-FR", "BRIOCHE AU BEURRE DU FOUR")],
        owner={"id": 5, "name": "Oven"},
        brand={"code": "BEST"},
        isConsumerUnit=True,
    ),
    record(
        4,
        "04006381333931",
        namePublicLong=[text("fra-FR", "PAIN AUX NOIX DU FOUR")],
        owner={"id": 5, "name": "Oven"},
    ),
)
PROFILE = {
    "checks": {"names_not_in_capitals": {}, "required_text": {"attribute": "description", "language": "fr"}}
}
RIVAL = RECORDS[2]

CHEATS: dict[str, Callable[[Path, Path], None]] = {}


def cheat(does: Callable[..., None]) -> Callable[..., None]:
    """Register a way that changes the sheet "To fix" of a workbook, and the workbook around it."""

    def apply(path: Path, folder: Path) -> None:
        book = load_workbook(path)
        does(book["To fix"], folder)
        book.save(path)

    CHEATS[does.__name__] = apply
    return does


def added(sheet: Worksheet, **cells: Any) -> None:
    """Add a row with these cells, by their headings; columns that the sheet does not have are added."""
    with_columns(sheet, *(name for name in cells if name not in [cell.value for cell in sheet[1]]))
    heading = [cell.value for cell in sheet[1]]
    sheet.append([cells.get(name) for name in heading])


def like(sheet: Worksheet, number: int, **cells: Any) -> None:
    """Add a copy of a row in which some cells are others; what only its key says is changed there, and sealed anew."""
    heading = [cell.value for cell in sheet[1]]
    row = dict(zip(heading, (cell.value for cell in sheet[number]), strict=True))
    key = RowKey.read(row["Row key"])
    assert key is not None
    facts = {name: cells.pop(shown) for name, shown in OF_THE_KEY.items() if shown in cells}
    language = {"language": cells["Language"], "language_code": None} if "Language" in cells else {}
    forged = key._replace(**facts, **language).sealed
    added(sheet, **{**row, "Row key": forged.text, **cells})


def with_columns(sheet: Worksheet, *headings: str) -> None:
    """Add columns, beside those that there are."""
    for heading in headings:
        sheet.cell(1, sheet.max_column + 1).value = heading


def of_rival(**cells: Any) -> dict[str, Any]:
    """Return the cells of an answer about the name of the rival's product."""
    return {
        "GTIN": RIVAL["gtin"],
        "Product": str(RIVAL["id"]),
        "Field": "namePublicLong",
        "Language": "fr",
        "Check": "names_not_in_capitals",
        "Value seen": RIVAL["namePublicLong"][0]["data"],
        "New value": f"{CHEAT} au beurre",
        **cells,
    }


def rows_of_rival(folder: Path) -> list[list[Any]]:
    """Return the rival's worklist as he got it, with answers."""
    heading, *rows = rows_of(load_workbook(next(folder.glob("Oven*.xlsx")))["To fix"])
    at = heading.index("New value")
    return [heading, *[[*row[:at], f"{CHEAT} {number}", *row[at + 1 :]] for number, row in enumerate(rows)]]


def keys_of(sheet: Worksheet) -> dict[str, int]:
    """Return the rows of the hidden sheet by their names."""
    hidden = sheet.parent["prodex"]
    return {hidden.cell(number, 1).value: number for number in range(1, hidden.max_row + 1)}


def said(sheet: Worksheet, name: str, value: Any) -> None:
    """Let the hidden sheet say something else."""
    sheet.parent["prodex"].cell(keys_of(sheet)[name], 2).value = json.dumps(value)


@cheat
def a_row_with_gtin_and_id_of_the_rival(sheet: Worksheet, _: Path) -> None:
    added(sheet, **of_rival())


@cheat
def a_row_with_the_gtin_alone(sheet: Worksheet, _: Path) -> None:
    added(sheet, **of_rival(Product=None))


@cheat
def an_own_row_with_the_keys_of_the_rival(sheet: Worksheet, _: Path) -> None:
    like(sheet, 2, **of_rival())


@cheat
def a_hidden_row(sheet: Worksheet, _: Path) -> None:
    added(sheet, **of_rival())
    sheet.row_dimensions[sheet.max_row].hidden = True


@cheat
def a_row_far_below(sheet: Worksheet, _: Path) -> None:
    with_columns(sheet, "Product", "Field", "Check")
    for place_, value in of_rival().items():
        sheet.cell(50_000, place(sheet, place_)).value = value


@cheat
def a_row_pasted_from_the_worklist_of_the_rival(sheet: Worksheet, folder: Path) -> None:
    sheet.append(rows_of_rival(folder)[1])


@cheat
def rows_pasted_with_their_headings(sheet: Worksheet, folder: Path) -> None:
    for row in rows_of_rival(folder):
        sheet.append(row)


def _in_a_sheet(sheet: Worksheet, rows: list[list[Any]], state: str) -> None:
    other = sheet.parent.create_sheet("Notes")
    for row in rows:
        other.append(row)
    other.sheet_state = state


def _typed() -> list[list[Any]]:
    return [[*of_rival()], [*of_rival().values()]]


@cheat
def a_sheet_of_his_own(sheet: Worksheet, _: Path) -> None:
    _in_a_sheet(sheet, _typed(), "visible")


@cheat
def a_hidden_sheet(sheet: Worksheet, _: Path) -> None:
    _in_a_sheet(sheet, _typed(), "hidden")


@cheat
def a_sheet_that_no_menu_shows(sheet: Worksheet, _: Path) -> None:
    _in_a_sheet(sheet, _typed(), "veryHidden")


@cheat
def the_worklist_of_the_rival_as_a_hidden_sheet(sheet: Worksheet, folder: Path) -> None:
    _in_a_sheet(sheet, rows_of_rival(folder), "hidden")


@cheat
def his_own_product_in_a_hidden_sheet(sheet: Worksheet, _: Path) -> None:
    heading, *rows = rows_of(sheet)
    at, of = heading.index("New value"), heading.index("GTIN")
    row = next(row for row in rows if row[of] == RECORDS[1]["gtin"])
    _in_a_sheet(sheet, [heading, [*row[:at], f"{CHEAT} du moulin", *row[at + 1 :]]], "hidden")


@cheat
def fields_that_nobody_asked_about(sheet: Worksheet, _: Path) -> None:
    for field, value in (("isConsumerUnit", "false"), ("brand", CHEAT.upper()), ("lifeCycle", "3")):
        added(sheet, GTIN=RECORDS[1]["gtin"], Product="2", Field=field, **{"New value": value})
        like(sheet, 2, Field=field, Language=None, **{"New value": value})


@cheat
def the_field_of_a_row_changed(sheet: Worksheet, _: Path) -> None:
    like(sheet, 2, Field="nameLegal", **{"New value": f"{CHEAT} bis", "Value seen": "Pain"})


@cheat
def the_field_in_a_key_changed(sheet: Worksheet, _: Path) -> None:
    like(sheet, 2, **{"New value": f"{CHEAT} bis"})
    cell = sheet.cell(sheet.max_row, place(sheet, "Row key"))
    cell.value = cell.value.replace("namePublicLong", "nameLegal").replace("description", "nameLegal")


@cheat
def the_key_of_another_row(sheet: Worksheet, _: Path) -> None:
    """Of the same product and language: what it shows is the one question, and its key the other."""
    keys = {
        RowKey.read(cell.value): cell.value for cell in sheet[get_column_letter(place(sheet, "Row key"))][1:]
    }
    one, other = (
        next(text for key, text in keys.items() if (key.product_id, key.attribute) == ("2", attribute))
        for attribute in ("namePublicLong", "description")
    )
    (row,) = [row for row in sheet.iter_rows(min_row=2) if row[place(sheet, "Row key") - 1].value == one]
    row[place(sheet, "Row key") - 1].value = other
    row[place(sheet, "Value seen") - 1].value = None
    row[place(sheet, "New value") - 1].value = f"{CHEAT} du moulin, avec des graines de lin et de tournesol"


@cheat
def the_language_of_a_row_changed(sheet: Worksheet, _: Path) -> None:
    like(sheet, 2, Language="nl", **{"New value": f"{CHEAT} brood", "Value seen": None})


@cheat
def another_owner_in_the_hidden_sheet(sheet: Worksheet, _: Path) -> None:
    said(sheet, "owners", ["4", "5"])
    added(sheet, **of_rival())


@cheat
def no_owner_in_the_hidden_sheet(sheet: Worksheet, _: Path) -> None:
    said(sheet, "owners", None)
    said(sheet, "by", "market")
    like(sheet, 2, **of_rival())


@cheat
def the_seal_removed(sheet: Worksheet, _: Path) -> None:
    sheet.parent["prodex"].delete_rows(keys_of(sheet)["seal"])
    said(sheet, "owners", ["5"])
    added(sheet, **of_rival())


@cheat
def no_layout_and_no_marks(sheet: Worksheet, _: Path) -> None:
    sheet.parent["prodex"].delete_rows(keys_of(sheet)["format"])
    sheet.delete_cols(place(sheet, "Row key"))
    added(sheet, **of_rival())
    added(sheet, GTIN=RECORDS[1]["gtin"], Product="2", Field="brand", **{"New value": CHEAT.upper()})


@cheat
def the_hidden_sheet_removed(sheet: Worksheet, _: Path) -> None:
    sheet.parent.remove(sheet.parent["prodex"])
    added(sheet, **of_rival())
    like(
        sheet,
        2,
        **of_rival(Field="description", Check=None, **{"Value seen": None, "New value": f"{CHEAT} !"}),
    )


@cheat
def the_hidden_sheet_of_the_rival(sheet: Worksheet, folder: Path) -> None:
    """With it the workbook says that it is for the rival, and its own rows are of somebody else."""
    book = sheet.parent
    book.remove(book["prodex"])
    copied = book.create_sheet("prodex")
    for row in rows_of(load_workbook(next(folder.glob("Oven*.xlsx")))["prodex"]):
        copied.append(row)
    copied.sheet_state = "hidden"
    like(sheet, 2, Field="brand", Language=None, **{"New value": CHEAT.upper(), "Value seen": None})


@cheat
def a_second_column_of_answers(sheet: Worksheet, _: Path) -> None:
    """The same row answers two products: its keys are those of the rival."""
    column = sheet.max_column + 1
    sheet.cell(1, column).value = "New value"
    added(sheet, **{**of_rival(), "New value": None})
    sheet.cell(sheet.max_row, column).value = f"{CHEAT} deux"


def cheat_of_file(does: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
    """Register a way that replaces the file."""
    CHEATS[does.__name__] = does
    return does


@cheat_of_file
def a_row_in_the_csv_file(path: Path, _: Path) -> None:
    as_csv(path, ";", "utf-8-sig")
    with path.with_suffix(".csv").open("a", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, delimiter=";")
        # Below its own headings, since a sheet has none for what only keys say.
        lines.writerow(of_rival())
        lines.writerow(of_rival().values())


@cheat_of_file
def the_sheet_alone_in_another_workbook(path: Path, _: Path) -> None:
    rows = rows_of(load_workbook(path)["To fix"])
    book = Workbook()
    for row in rows:
        book.active.append(row)
    added(book.active, **of_rival())
    book.save(path)


def cheated(fix: Any) -> Iterator[dict[str, Any]]:
    """Yield the answers that cheat: all but the good one."""
    for row in fix.answers.to_dict("records"):
        if row["answer"] != GOOD:
            yield row


def asked(catalog: prodex.Catalog, folder: Path, **options: Any) -> Path:
    """Write the worklists of all owners; return that of the mill, with one good answer."""
    audit = prodex.audit(catalog, PROFILE, progress=False)
    audit.worklists(folder, **options)
    (path,) = folder.glob("Mill*.xlsx") if "by" not in options else folder.glob("*.xlsx")
    rows = questions(path)
    rows = rows[rows["check"].eq("names_not_in_capitals") & rows["gtin"].eq(RECORDS[0]["gtin"])]
    fill(path, {int(rows["row"].iloc[0]): GOOD})
    return path


def returned(path: Path) -> Path:
    """Move what the supplier has of a worklist into a folder of its own, and return that."""
    back = path.parent / "back"
    back.mkdir()
    for one in path.parent.glob(f"{path.stem}.*"):
        one.rename(back / one.name)
    return back


def reached(name: str, folder: Path) -> list[str]:
    """Let a supplier cheat in one way, and send what came back without confirming anything.

    Returns
    -------
    list of str
        What stands at the service and was not asked for: the GTIN and attribute of each.
    """
    with Sandbox(RECORDS) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(service, name="cheated", progress=False)
        before = {one["gtin"]: stored(service, one["gtin"]) for one in RECORDS}
        worklist = asked(catalog, folder)
        CHEATS[name](worklist, worklist.parent)
        fix = prodex.read_worklist(returned(worklist), catalog, profile=PROFILE)
        if len(fix.accepted):
            fix.apply(service, progress=False).wait(progress=False)
        after = {gtin: stored(service, gtin) for gtin in before}
    good = {(RECORDS[0]["gtin"], "namePublicLong"), (RECORDS[0]["gtin"], "updatedAt")}
    return [
        f"{name}: {gtin} {attribute}"
        for gtin, record_ in before.items()
        for attribute in record_.keys() | after[gtin].keys()
        if record_.get(attribute) != after[gtin].get(attribute)
        and ((gtin, attribute) not in good or CHEAT in str(after[gtin].get(attribute)))
    ]
