"""No row vanishes: each is sent, unchanged, refused, in conflict, to be confirmed, or without an answer."""

from __future__ import annotations

import csv
import random
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from openpyxl.comments import Comment

import prodex
from tests.formats.archives import Parts, rewritten
from tests.quality.workbooks import questions

from .bakery import RECORDS, Answer, record, text
from .handling import as_csv, fill, place
from .test_evidence import without_keys

FIRST, _, THIRD = (one["gtin"] for one in RECORDS)
MOMENT = RECORDS[0]["updatedAt"]
PROFILE: dict[str, Any] = {
    "checks": {
        "names_not_in_capitals": {},
        "required_text": {"attribute": ["description", "namePublicShort"], "language": ["nl", "fr"]},
        "packshot_large_enough": {"pixels": 800},
        "valid_gtin": {},
        "has_net_content": {},
        "net_not_over_gross": {},
    }
}
STATES = ("accepted", "unchanged", "refused", "conflict", "needs confirmation", "without an answer")
MANY = [
    *RECORDS[:1],
    *(
        record(
            10 + number,
            f"000000000000{number}7"[-14:],
            isConsumerUnit=True,
            namePublicLong=[text("fra-FR", f"PAIN NUMÉRO {'I' * number}"), text("nld-NL", "Brood")],
            netWeight=[{"data": 1.5, "expressedIn": {"code": "KGM"}}],
            grossWeight=[{"data": 1, "expressedIn": {"code": "KGM"}}],
            assets={
                "pictures": [
                    {"url": "https://cdn.example/1.jpg", "gdsnFileName": "1.jpg", "isPackshot": True}
                    | {"productFace": 1, "width": 480, "height": 360}
                ]
            },
        )
        for number in range(1, 6)
    ),
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a worklist of about thirty rows, as it was written."""
    folder = tmp_path_factory.mktemp("rows") / "out"
    prodex.audit(prodex.flatten(MANY), PROFILE, progress=False).worklists(folder)
    (path,) = folder.glob("*.xlsx")
    return path


@pytest.fixture
def worklist(written: Path, tmp_path: Path) -> Path:
    """Return a copy of it in a folder of its own."""
    target = tmp_path / written.name
    target.write_bytes(written.read_bytes())
    return target


@pytest.fixture(scope="module")
def many() -> prodex.Catalog:
    """Return the products of the worklist."""
    return prodex.flatten(MANY)


def findings(written: Path) -> pd.DataFrame:
    """Return what the worklist asks for."""
    return questions(written)


def law(fix: prodex.worklists.Fix) -> None:
    """Check that all rows are accounted for, in the frame and in print."""
    counts = fix.row_counts
    assert (counts["rows"] == counts[list(STATES)].sum(axis=1)).all(), counts
    assert fix.rows == int(counts["rows"].sum())
    assert fix.unanswered == int(counts["without an answer"].sum())
    for shown in (str(fix), fix._repr_html_()):
        assert f"{fix.rows:,} of {fix.rows:,} row" in re.sub(r"\s+", " ", shown)


#: What a row of a random file holds: answers in two columns, keys that are there or not, notes.
CELL = st.sampled_from(["", " ", "Pain bis", "?", "Pain de campagne", "x" * 201])
ROW = st.fixed_dictionaries(
    {
        "GTIN": st.sampled_from([FIRST, THIRD, "", "123", "00000000000017"]),
        "Field": st.sampled_from(["namePublicLong", "brand", "gtin", "", "nameless"]),
        "Language": st.sampled_from(["fr", "nl", "", "klingon"]),
        "Value seen": st.sampled_from(["", "PAIN DE CAMPAGNE AUX GRAINES", "Autre"]),
        "New value": CELL,
        "Remarks": st.sampled_from(["", "call me"]),
    }
)


@given(
    st.lists(st.one_of(ROW, st.just({}), st.just({"Headings": "again"})), max_size=12),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
)
def test_every_row_of_any_table_is_accounted_for(
    tmp_path: Path, rows: list[dict[str, str]], columns: int, is_hidden: bool, is_csv: bool
) -> None:
    """Empty rows and repeated headings are none; several answers in a row are one row."""
    heading = ["GTIN", "Field", "Language", "Value seen", *["New value"] * columns, "Remarks"]
    shuffle = random.Random(columns)
    lines = [heading]
    for row in rows:
        new = [row.get("New value", "")] * columns
        shuffle.shuffle(new)
        line = [row.get(name, "") for name in heading[:4]] + new + [row.get("Remarks", "")]
        lines.append(heading if "Headings" in row else line)
    expected = sum(any(cell.strip() for cell in line) for line in lines if line is not heading)
    file = tmp_path / ("a.csv" if is_csv else "a.xlsx")
    (tmp_path / "a.csv").unlink(missing_ok=True)
    (tmp_path / "a.xlsx").unlink(missing_ok=True)
    if is_csv:
        with file.open("w", encoding="utf-8", newline="") as opened:
            csv.writer(opened).writerows(lines)
    else:
        book = Workbook()
        book.create_sheet("Cover")
        for line in lines:
            book.active.append([cell or None for cell in line])
        book.active.sheet_state = "hidden" if is_hidden else "visible"
        book.save(file)
    fix = prodex.read_worklist(file, prodex.flatten(RECORDS), profile={"checks": {"valid_gtin": {}}})
    law(fix)
    assert expected == fix.rows
    if is_hidden and not is_csv:
        assert not len(fix.accepted)


@pytest.mark.slow
def test_rows_that_lost_their_column_or_their_headings_are_refused_rows(
    worklist: Path, many: prodex.Catalog
) -> None:
    """They are counted, and one sentence says why."""
    rows = load_workbook(worklist)["To fix"].max_row - 1
    book = load_workbook(worklist)
    book["To fix"].cell(1, place(book["To fix"], "GTIN")).value = "Number"
    book["To fix"].delete_cols(place(book["To fix"], "Row key"))
    book["To fix"].delete_cols(place(book["To fix"], "Number"))
    other = book.create_sheet("Remarks")
    other.append(["Dear Ben,"])
    other.append(["please call"])
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert (rows, rows) == (fix.rows, int(fix.row_counts["refused"].sum()))
    assert any(one.endswith("Remarks") for one in fix.ignored)
    assert "sheets of another kind not read" in str(fix)

    book = load_workbook(worklist)
    book["To fix"].delete_rows(1)
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert rows == int(fix.row_counts["refused"].sum())
    assert "no headings any more" in " ".join(fix.refused["reason"])


def test_a_row_with_several_answers_is_one_row(answer: Answer) -> None:
    """It counts as what needs most attention."""
    rows = [
        {"GTIN": FIRST, "Field": "namePublicLong", "Language": "nl", "New value": "Brood", "Answer": "?"},
        {"GTIN": THIRD, "Field": "namePublicLong", "Language": "fr", "New value": "", "Answer": "Pain"},
    ]
    fix = answer(*rows)
    law(fix)
    assert {"accepted": 2, "refused": 1} == dict(fix.counts)
    assert [2, 1, 0, 1, 0, 0, 0] == fix.row_counts.iloc[0, 2:].tolist()


def test_typed_corrections_are_rows_as_well(many: prodex.Catalog) -> None:
    """Each of them is one."""
    typed = prodex.TextCorrection(
        "1", "namePublicLong", "fr", "Pain bis", before="PAIN DE CAMPAGNE AUX GRAINES"
    )
    fix = prodex.correct_from([typed, typed], many)
    assert (2, 0) == (fix.rows, fix.unanswered)


# What was typed somewhere else than into "New value".

#: Attribute of the finding, what is typed over the value seen, and what becomes of the attribute once it is confirmed.
OVER = {
    "namePublicLong": ("Pain de campagne", "Pain de campagne"),
    "description": ("Een lekker brood", "Een lekker brood"),
    "netWeight": ("900 g", 900),
    "netContent": ("500 g", 500),
    "assets.pictures.width": ("1.jpg -> https://cdn.example/new.jpg", "https://cdn.example/new.jpg"),
}


def over(path: Path, heading: str, typed: dict[int, str]) -> None:
    """Type into a column of a worklist, by the number of the row."""
    book = load_workbook(path)
    sheet = book["To fix"]
    for number, new in typed.items():
        sheet.cell(number + 1, place(sheet, heading)).value = new
    book.save(path)


def chosen(written: Path) -> dict[str, int]:
    """Return the number of a row for each attribute."""
    rows = findings(written)
    rows = rows[rows["gtin"] != FIRST].drop_duplicates("attribute").set_index("attribute")["row"]
    return {name: int(rows[name]) for name in OVER}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["xlsx", "csv", "no keys"])
def test_a_value_that_was_typed_over_needs_confirmation_row_by_row(
    kind: str, worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """With what was typed and its cell; confirmed, it is the new value."""
    rows = chosen(written)
    over(worklist, "Value seen", {rows[name]: typed for name, (typed, _) in OVER.items()})
    if kind == "csv":
        as_csv(worklist, ";", "utf-8-sig")
    if kind == "no keys":
        without_keys(worklist)
    fix = prodex.read_worklist(worklist.parent, many, profile=PROFILE)
    law(fix)
    # Without keys, only what the words of the row name can be compared with what is there.
    asked = {"namePublicLong", "description", "netContent"} if kind == "no keys" else set(OVER)
    assert asked == set(fix.needs_confirmation["attribute"])
    assert {"needs confirmation": len(asked)} == dict(fix.counts), fix.answers["reason"].tolist()
    for row in fix.needs_confirmation.to_dict("records"):
        assert OVER[row["attribute"]][0] == row["answer"]
        assert 'typed over "Value seen"' in row["reason"]
        assert row["cell"].startswith("E")
    fix.confirm()
    assert {"accepted": len(asked)} == dict(fix.counts), fix.answers["reason"].tolist()
    sent = str(fix._judged.changes.records if fix._judged else "")
    assert all(str(OVER[name][1]) in sent for name in asked)


def test_what_cannot_be_an_answer_says_where_it_belongs(
    worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """A remark over a weight is refused, and the row says into which column an answer is written."""
    rows = chosen(written)
    gtin = int(findings(written).query("attribute == 'gtin'")["row"].iloc[0])
    over(worklist, "Value seen", {rows["netWeight"]: "much less", gtin: "00000000000024"})
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert {"refused": 2} == dict(fix.counts)
    assert fix.refused["reason"].str.contains('write it into "New value"').all()


@pytest.mark.slow
def test_an_untouched_worklist_says_nothing(written: Path, worklist: Path, many: prodex.Catalog) -> None:
    """As workbook, as CSV, without its keys, with an encoding that lacks letters, and after products have changed."""
    changed = [{**one, "updatedAt": "2026-11-20T06:00:00"} for one in MANY]
    changed[1]["namePublicLong"] = [text("fra-FR", "AUTRE PAIN")]
    for catalog in (many, prodex.flatten(changed)):
        for number, do in enumerate((lambda _: None, without_keys, _in_ascii, _by_excel)):
            folder = worklist.parent / f"{number} {id(catalog)}"
            folder.mkdir()
            copy = folder / worklist.name
            copy.write_bytes(written.read_bytes())
            do(copy)
            fix = prodex.read_worklist(folder, catalog, profile=PROFILE)
            law(fix)
            # Without keys nobody knows whether a text was typed over, or is another one by now: a person decides.
            unsure = {"needs confirmation": 1} if do is without_keys and catalog is not many else {}
            assert unsure == dict(fix.counts), (do, fix.answers[["answer", "reason"]].values.tolist())
            assert not len(fix.notes), fix.notes


def _in_ascii(path: Path) -> None:
    as_csv(path, ";", "ascii", "replace")


def _by_excel(path: Path) -> None:
    """Save as CSV what a spreadsheet makes of a CSV file when it opens it."""
    as_csv(path, ",", "utf-8")
    with path.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(
            [heading, *[[retyped(cell) for cell in row] for row in rows]]
        )


def retyped(cell: str) -> str:
    """Return what a spreadsheet of Western Europe makes of a cell of a CSV file."""
    if re.fullmatch(r"\d{12,}", cell):
        return f"{float(cell):.5E}"
    if re.fullmatch(r"\d+", cell):
        return str(int(cell))
    if re.fullmatch(r"\d{1,2}\.\d{1,2}", cell):
        return f"{cell.replace('.', '. Jan ')}"
    if (moment := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d):\d\d", cell)) is not None:
        year, month, day, time = moment.groups()
        return f"{day}.{month}.{year} {time}"
    return {"true": "WAHR", "false": "FALSCH"}.get(cell, cell)


def test_answers_in_a_csv_file_that_a_spreadsheet_saved_are_taken(
    worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """Whatever it made of the keys: GTINs in scientific notation, dates of positions, moments of another form."""
    rows = chosen(written)
    answers = {"namePublicLong": "Pain bis", "description": "Een brood", "netWeight": "900 g"}
    fill(worklist, {rows[name]: new for name, new in answers.items()})
    _by_excel(worklist)
    fix = prodex.read_worklist(worklist.parent, many, profile=PROFILE)
    law(fix)
    assert {"accepted": 3} == dict(fix.counts), fix.answers["reason"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seen", "keys", "told"),
    [
        ("PAIN DE CAMPAGNE AUX GRAINES", {}, False),
        ("CAMPAGNE", {}, False),
        ("Pain bis", {}, True),
        ("Pain bis", {"Last changed": MOMENT}, True),
        ("Pain bis", {"Last changed": "2020-01-01T00:00:00"}, False),
        ("Pain bis", {"Check": "names_not_in_capitals"}, False),
        ("Pain bis", {"Check": "names_not_in_capitals", "Last changed": MOMENT}, True),
        ("500 g", {"Field": "netContent", "Language": ""}, False),
        ("600 g", {"Field": "netContent", "Language": ""}, True),
        ("ACME", {"Field": "brand", "Language": ""}, False),
        ("BEST", {"Field": "brand", "Language": ""}, True),
        ("what?", {"Field": "netContent", "Language": ""}, False),
    ],
)
def test_a_table_without_keys_is_compared_with_what_is_there(
    answer: Answer, seen: str, keys: dict[str, str], told: bool
) -> None:
    """Only a difference that nothing else explains was typed."""
    row = {
        "GTIN": FIRST,
        "Field": "namePublicLong",
        "Language": "fr",
        "Value seen": seen,
        "New value": "",
        **keys,
    }
    fix = answer(row)
    law(fix)
    assert ({"needs confirmation": 1} if told else {}) == dict(fix.counts), fix.answers["reason"].tolist()


@pytest.mark.slow
def test_what_is_typed_beside_a_row_is_listed(worklist: Path, written: Path, many: prodex.Catalog) -> None:
    """In "How to answer", over an explanation, in a column of remarks and beside the table; never sent."""
    rows = chosen(written)
    over(worklist, "How to answer", {rows["namePublicLong"]: "Pain de campagne"})
    over(worklist, "Problem", {rows["description"]: "not our product"})
    book = load_workbook(worklist)
    sheet = book["To fix"]
    last = sheet.max_column
    sheet.cell(1, last + 1).value = "Kommentar"
    number = rows["netWeight"] + 1
    sheet.cell(number, last + 1).value = "ask Eva"
    sheet.cell(number, last + 3).value = "urgent"
    answered = rows["netContent"] + 1
    sheet.cell(answered, last + 1).value = "as on the label"
    sheet.cell(answered, place(sheet, "New value")).value = "500 g"
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert {"accepted": 1} == dict(fix.counts)
    found = {(row["column"], row["text"], row["attribute"]) for row in fix.notes.to_dict("records")}
    assert {
        ("How to answer", "Pain de campagne", "namePublicLong"),
        ("Problem", "not our product", "description"),
        ("Kommentar", "ask Eva", "netWeight"),
        (None, "urgent", "netWeight"),
    } == found
    for words in (
        "4 cells beside rows without an answer, not sent",
        "Kommentar: ask Eva",
        "no heading: urgent",
    ):
        assert words in str(fix)
    assert "ask Eva" in fix._repr_html_()
    assert "ask Eva" not in str(fix._judged.changes.records if fix._judged else "")


# The key of a row: it is recognized as itself, or known to be of another row, or to be damaged.

#: An answer for each text that is asked for, by attribute and language.
TEXTS = {
    ("namePublicLong", "fr"): "Pain de campagne aux graines",
    ("namePublicShort", "fr"): "Pain aux graines",
    ("namePublicShort", "nl"): "Brood met zaden",
    ("description", "fr"): "Un pain de campagne aux graines de lin, cuit au four à bois.",
    ("description", "nl"): "Een boerenbrood met lijnzaad, gebakken in een houtoven.",
}


def answered(worklist: Path, written: Path) -> dict[int, tuple[str, str]]:
    """Answer every text of a worklist; return attribute and language by the number of the row."""
    rows = findings(written)
    names = {"French": "fr", "Dutch": "nl"}
    asked = {row.row: (row.attribute, names.get(row.language, "")) for row in rows.itertuples()}
    asked = {number: place for number, place in asked.items() if place in TEXTS}
    fill(worklist, {number: TEXTS[place] for number, place in asked.items()})
    return asked


@pytest.mark.slow
@pytest.mark.parametrize("shift", [1, 2, 5])
def test_no_answer_of_rows_whose_keys_were_not_sorted_along_is_taken(
    shift: int, worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """Whoever sorts what is shown leaves the hidden column behind: each row has the key of another one."""
    asked = answered(worklist, written)
    book = load_workbook(worklist)
    sheet = book["To fix"]
    at = place(sheet, "Row key")
    keys = [sheet.cell(number, at).value for number in range(2, sheet.max_row + 1)]
    for number in range(2, sheet.max_row + 1):
        sheet.cell(number, at).value = keys[(number - 2 + shift) % len(keys)]
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert 15 < len(asked) <= len(fix.answers)
    assert not len(fix.accepted), fix.accepted[["row", "attribute", "answer"]].values.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "cut", [lambda key: key[:-1], lambda key: key.replace('"names_not', '"name_not'), lambda _: "x"]
)
def test_a_damaged_key_is_known_and_its_answer_needs_confirmation(
    cut: Any, worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """What the row shows says what it is about; confirmed, the answer is taken."""
    row = next(
        number for number, one in answered(worklist, written).items() if one == ("namePublicLong", "fr")
    )
    book = load_workbook(worklist)
    cell = book["To fix"].cell(row + 1, place(book["To fix"], "Row key"))
    cell.value = cut(cell.value)
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert [row + 1] == fix.needs_confirmation["row"].tolist()
    assert "hidden key of its row was changed" in fix.needs_confirmation["reason"][0]
    before = len(fix.accepted)
    assert len(fix.confirm().accepted) == before + 1


def test_merged_keys_are_not_those_of_the_rows_below(
    worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """A spreadsheet keeps the first of merged cells: rows below have no key, and are not taken for the first."""
    asked = answered(worklist, written)
    book = load_workbook(worklist)
    sheet = book["To fix"]
    at = place(sheet, "Row key")
    sheet.merge_cells(start_row=2, end_row=sheet.max_row, start_column=at, end_column=at)
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert {row + 1 for row in asked if row > 1} == set(fix.needs_confirmation["row"])
    about = {row["row"] - 1: (row["attribute"], row["language"]) for row in fix.answers.to_dict("records")}
    assert asked == about


def test_a_language_that_somebody_wrote_over_is_meant(
    worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """The cell counts before the key, which then is one of another question; an emptied cell is no language."""
    asked = findings(written).query("attribute == 'namePublicLong' and language == 'French'")
    row = int(asked["row"].iloc[0])
    fill(worklist, {row: "Boerenbrood met zaden"})
    over(worklist, "Language", {row: "Dutch"})
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    (found,) = fix.answers.to_dict("records")
    assert (row + 1, "nl") == (found["row"], found["language"])
    assert found["state"] in {"needs confirmation", "conflict"}
    missing = findings(written).query("attribute == 'description' and language == 'Dutch'")
    row = int(missing["row"].iloc[0])
    fill(worklist, {row: TEXTS["description", "nl"]})
    over(worklist, "Language", {row: ""})
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    (refused,) = fix.refused.to_dict("records")
    assert (row + 1, True) == (refused["row"], "the row has no language" in refused["reason"])


@pytest.mark.slow
@pytest.mark.parametrize("gone", [["GTIN"], ["GTIN", "Asked for", "Language"], ["Asked for", "Value seen"]])
def test_a_row_is_recognized_by_its_key_alone(
    gone: list[str], worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """Whatever somebody deletes of what it shows."""
    asked = answered(worklist, written)
    book = load_workbook(worklist)
    for heading in gone:
        book["To fix"].delete_cols(place(book["To fix"], heading))
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    about = {row["row"] - 1: (row["attribute"], row["language"]) for row in fix.accepted.to_dict("records")}
    assert asked == about, fix.answers["reason"].tolist()


def test_half_of_a_character_in_a_frame_is_refused_and_breaks_no_key() -> None:
    """No workbook holds one; a frame of somebody's program may, in an answer or in the key of its row."""
    name = [{"expressedIn": {"code": "eng-GB"}, "data": "BREAD WITH SEEDS"}]
    catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    profile = {"checks": {"names_not_in_capitals": {}}}
    rows = prodex.audit(catalog, profile, progress=False).worklist_rows().astype(object)
    states = []
    for answer, key in (
        ("Bre\ud83dad", rows["row_key"][0]),
        ("Bread", "\ud83d"),
        ("Bread", rows["row_key"][0]),
    ):
        cells = {"new_value": pd.Series([answer], dtype=object), "row_key": pd.Series([key], dtype=object)}
        states += (
            prodex.read_worklist(rows.assign(**cells), catalog, profile=profile).answers["state"].tolist()
        )
    assert ["refused", "needs confirmation", "accepted"] == states


def test_a_frame_of_many_rows_is_read() -> None:
    """A thousand rows are as far as headings are looked for, and no end of the answers."""
    catalog = prodex.flatten(RECORDS)
    empty = {"gtin": FIRST, "attribute": "namePublicLong", "language": "fr", "new_value": None}
    frame = pd.DataFrame([*[empty] * 1_500, {**empty, "new_value": "Pain bis"}])

    assert [1_501] == prodex.read_worklist(frame, catalog).row_counts["rows"].tolist()


@pytest.mark.parametrize(
    ("headings", "cells"),
    [
        (("EAN", "GTIN", "Field", "Language"), (THIRD, FIRST, "namePublicLong", "fr")),
        (("GTIN", "EAN", "Field", "Language"), (THIRD, FIRST, "namePublicLong", "fr")),
        (("GTIN", "Field", "Language", "Langue"), (FIRST, "namePublicLong", "fr", "nl")),
        (("GTIN", "Field", "Attribute", "Language"), (FIRST, "namePublicLong", "description", "fr")),
    ],
)
def test_a_row_that_says_two_things_is_refused(
    answer: Answer, headings: tuple[str, ...], cells: tuple[str, ...]
) -> None:
    """Two columns have one meaning, and nobody knows which of them is meant."""
    fix = answer(dict(zip((*headings, "New value"), (*cells, "Pain"), strict=True)))
    law(fix)
    assert {"refused": 1} == dict(fix.counts)
    assert "Leave the one that is meant" in fix.refused["reason"][0]


def test_a_row_that_says_one_thing_twice_is_read(answer: Answer) -> None:
    """With and without zeros, by name and by code, or in one of both columns."""
    own = {"EAN": FIRST.lstrip("0"), "GTIN": FIRST, "Field": "namePublicLong"}
    fix = answer(
        {**own, "Language": "French", "Langue": "fr", "New value": "Pain"},
        {**own, "Language": "", "Langue": "nl", "New value": "Brood"},
    )
    assert 2 == len(fix.answers)
    assert not any("Leave the one" in reason for reason in fix.answers["reason"])


def test_rows_of_a_worklist_in_a_sheet_without_headings_are_refused(
    worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """Somebody copied them into a sheet of their own: the answers there are not lost in silence."""
    book = load_workbook(worklist)
    row = [cell.value for cell in book["To fix"][chosen(written)["description"] + 1]]
    row[place(book["To fix"], "New value") - 1] = "Un pain"
    book.create_sheet("Eva").append(row)
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert [("Eva", 1)] == list(fix.refused[["sheet", "row"]].itertuples(index=False, name=None))
    assert "has no headings any more" in fix.refused["reason"][0]


def test_comments_at_cells_are_listed(worklist: Path, written: Path, many: prodex.Catalog) -> None:
    """People answer in a comment as well: it is no value, and it is not lost. One at a heading is about no row."""
    rows = chosen(written)
    book = load_workbook(worklist)
    sheet = book["To fix"]
    at = place(sheet, "New value")
    sheet.cell(rows["description"] + 1, at).comment = Comment("Eva:\nUn pain", "Eva")
    sheet.cell(1, at).comment = Comment("here?", "Eva")
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert {} == dict(fix.counts)
    assert [("New value", "Eva:\nUn pain", "description")] == list(
        fix.notes[["column", "text", "attribute"]].itertuples(index=False, name=None)
    )
    assert "not sent (.notes)" in str(fix)


def test_a_conversation_about_a_cell_is_listed_once(
    worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """Newer programs write it beside a comment that repeats it below a sentence of theirs."""
    book = load_workbook(worklist)
    sheet = book["To fix"]
    cell = sheet.cell(chosen(written)["description"] + 1, place(sheet, "New value"))
    cell.comment = Comment("[Threaded comment]\nYour version of Excel ...\nComment:\n    Un pain", "Eva")
    number, place_ = book.sheetnames.index("To fix") + 1, cell.coordinate
    book.save(worklist)
    space = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
    texts = "".join(
        f'<threadedComment ref="{place_}" id="{{{n}}}"><text>{one}</text></threadedComment>'
        for n, one in enumerate(("Un pain", "Sure?"))
    )
    beside = f"xl/worksheets/_rels/sheet{number}.xml.rels"
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    link = f'<Relationship Id="t1" Type="{kind}" Target="/xl/threadedComments/threadedComment1.xml"/>'

    def with_conversation(parts: Parts) -> Parts:
        return parts | {
            "xl/threadedComments/threadedComment1.xml": (
                f'<ThreadedComments xmlns="{space}">{texts}</ThreadedComments>'.encode()
            ),
            beside: parts[beside].replace(b"</Relationships>", f"{link}</Relationships>".encode()),
        }

    rewritten(worklist, with_conversation)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    assert ["Un pain", "Sure?"] == fix.notes["text"].tolist()


def test_a_name_that_was_typed_over_is_listed(worklist: Path, written: Path, many: prodex.Catalog) -> None:
    """Whoever corrects a name does so where the name is; in other rows of the product it is as it was."""
    over(worklist, "Name", {chosen(written)["namePublicLong"]: "Pain de campagne"})
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert ({}, [("Name", "Pain de campagne", "namePublicLong")]) == (
        dict(fix.counts),
        list(fix.notes[["column", "text", "attribute"]].itertuples(index=False, name=None)),
    )


def test_a_new_value_beside_the_old_one_in_the_other_column_is_not_lost(
    worklist: Path, written: Path, many: prodex.Catalog
) -> None:
    """Somebody took "Value seen" for the new value and the other column for the old one: that is no "unchanged"."""
    number = chosen(written)["namePublicLong"]
    book = load_workbook(worklist)
    sheet = book["To fix"]
    at = place(sheet, "Value seen")
    sheet.cell(number + 1, place(sheet, "New value")).value = sheet.cell(number + 1, at).value
    sheet.cell(number + 1, at).value = "Pain de campagne"
    book.save(worklist)
    fix = prodex.read_worklist(worklist, many, profile=PROFILE)
    law(fix)
    assert {"conflict": 1} == dict(fix.counts)
    assert "was typed over" in fix.conflicts["reason"][0]
