"""The place still holds what was seen: what a worklist showed is compared with what is there, for every shape."""

from __future__ import annotations

import copy
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

import prodex
from prodex.worklists.layout import FORMAT

from .bakery import RECORDS, Answer, text
from .handling import fill, key_at, place

FIRST = RECORDS[0]["gtin"]
MOMENT = RECORDS[0]["updatedAt"]
CAPITALS = "PAIN DE CAMPAGNE AUX GRAINES"
ACCENTS = "Crème brûlée"
LONG = "Pain. " * 8_000
CASE = "13036811359932"

#: The first product, with lists of several items, texts with accents, texts that are too long for a cell.
RECORD: dict[str, Any] = {
    **RECORDS[0],
    "conservations": [{"code": "COLD", "label": "Chilled"}, {"code": "DARK", "label": "In the dark"}],
    "netContent": [
        {"data": 500, "expressedIn": {"code": "GRM", "label": "Gram"}},
        {"data": 12, "expressedIn": {"code": "H87", "label": "Piece"}},
    ],
    "netWeight": [{"data": 1.44, "expressedIn": {"code": "KGM"}}],
    "batchNote": "Batch 7",
    "nameLegal": [text("fra-FR", ACCENTS), text("nld-NL", "Brood\r\nmet zaden"), text("eng-GB", LONG)],
}

#: Field, language, what the worklist showed where the place still holds it, and where it holds something else by now.
SEEN: tuple[tuple[str, str, str, list[str], list[str]], ...] = (
    ("namePublicLong", "fr", "Pain bis", [CAPITALS, f"  {CAPITALS}\n"], ["PAIN DE CAMPAGNE", "", "?"]),
    (
        "nameLegal",
        "fr",
        "Crème",
        [ACCENTS, unicodedata.normalize("NFD", ACCENTS), f"\u00a0{ACCENTS} "],
        ["Creme brulee", "Crème", ""],
    ),
    (
        "nameLegal",
        "nl",
        "Brood",
        ["Brood\nmet zaden", "Brood\rmet zaden", "Brood \n met zaden"],
        ["Brood met zaad"],
    ),
    (
        "nameLegal",
        "en",
        "Bread",
        [LONG, f"{LONG[:32_000]} … [32,000 of {len(LONG):,} characters; all in the Parquet and CSV]"],
        [LONG[:32_000], f"Brot. {LONG[:31_000]} … [31,006 of 48,000 characters; all in the Parquet and CSV]"],
    ),
    ("namePublicShort", "fr", "Pain", [""], ["Pain complet"]),
    ("brand", "", "BEST", ["ACME", "Acme", "Acme∣ACME", " acme "], ["BEST", "Best & Co", "OTHER", ""]),
    ("brand.label", "", "BEST", ["Acme"], ["Acme Foods", ""]),
    ("conservations", "", "FREEZE-1", ["COLD; DARK", "COLD", "In the dark"], ["WARM", "COLD; WARM", ""]),
    (
        "netContent",
        "",
        "600 g",
        ["500 g", "500 GRM", "0,5 kg", "500 Gram", "12 H87", "500 g; 12 H87"],
        ["400 g", "500 ml", "500 g; 6 H87", ""],
    ),
    ("netWeight", "", "1,5 kg", ["1440 g", "1.44 KGM", "1,44 kg"], ["1400 g", ""]),
    ("height", "", "5 cm", [""], ["4 cm"]),
    ("kind", "", "CAKE", ["BREAD"], ["TOAST"]),
    ("isDespatchUnit", "", "true", [""], ["false"]),
    ("batchNote", "", "Batch 8", ["Batch 7", " Batch 7 "], ["Batch 6", ""]),
    ("isConsumerUnit", "", "false", ["true", "TRUE", "ja", "1"], ["false", "nein", ""]),
    ("percentageOfAlcoholByVolume", "", "5", ["4.5", "4,5", "4.50"], ["4.6", "45", ""]),
    ("assets.pictures.width", "", "https://cdn.example/n.jpg", ["480 x 360", "480"], ["300 x 300"]),
    ("assets.pictures.gdsnFileName", "", "https://cdn.example/n.jpg", ["a.jpg"], ["c.jpg"]),
    (
        "isPartitionedBy.contains",
        "",
        "per 100 g: Fat 4 g",
        ["Fat 3.2 g", "per 100 g: Fat 3,2 g", "844 kJ"],
        ["Fat 3.1 g", "per 100 g: Fat 3 g; Salt 1 g"],
    ),
    (
        "logisticalHierarchies",
        "",
        f"{CASE}: 8 x {FIRST}",
        [f"{CASE}: 6 x {FIRST}", f"{CASE}: isOrderableUnit false"],
        [f"{CASE}: 4 x {FIRST}"],
    ),
)
HOLDS = [(field, language, new, seen) for field, language, new, holds, _ in SEEN for seen in holds]
DIFFERS = [(field, language, new, seen) for field, language, new, _, differs in SEEN for seen in differs]


@pytest.fixture
def catalog() -> prodex.Catalog:
    """Return the product as a catalogue."""
    return prodex.flatten([RECORD, *RECORDS[1:]])


def row(field: str, language: str, new: str, **keys: Any) -> dict[str, Any]:
    """Return a row of answers."""
    return {"GTIN": FIRST, "Field": field, "Language": language, "New value": new, **keys}


def judged(
    answer: Answer, cases: list[tuple[str, str, str, str]], changed: str
) -> list[tuple[str, str, str, str]]:
    """Return field, what was seen, state and reason of each case, of a product of its own."""
    products = [{**RECORD, "id": 100 + number, "gtin": f"9{number:011}"} for number in range(len(cases))]
    rows = [
        {**row(field, language, new), "GTIN": None, "Product": str(100 + number)}
        | {"Value seen": seen, "Last changed": changed}
        for number, (field, language, new, seen) in enumerate(cases)
    ]
    fix = answer(*rows, catalog=prodex.flatten(products))
    found = fix.answers.sort_values("row")
    columns = [[case[0] for case in cases], [case[3] for case in cases], found["state"], found["reason"]]
    return list(zip(*columns, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("changed", [MOMENT, "2020-01-01T00:00:00"])
def test_what_was_seen_is_there_however_a_spreadsheet_writes_it(answer: Answer, changed: str) -> None:
    """Composed or decomposed, with other line ends, spaces and units, or cut: whenever the product changed."""
    found = judged(answer, HOLDS, changed)
    assert [] == [one for one in found if one[2] == "conflict"]


@pytest.mark.slow
@pytest.mark.parametrize("changed", [MOMENT, "2020-01-01T00:00:00", ""])
def test_another_value_than_was_seen_is_a_conflict(answer: Answer, changed: str) -> None:
    """Also where the product says that it has not changed since: nothing seen and something there is one as well."""
    found = judged(answer, DIFFERS, changed)
    assert [] == [one for one in found if one[2] != "conflict"]
    assert [] == [one for one in found if one[1] and "in place of" not in one[3]]


def test_a_value_that_cannot_be_compared_goes_by_the_last_change(answer: Answer) -> None:
    """A rule may show what no field holds: then the product must be as it was."""
    keys = {"Value seen": "29 x 42 x 50 mm"}
    same, other = (
        answer(row("netWeight", "", "1,5 kg", **keys, **{"Last changed": moment}))
        for moment in (MOMENT, "2026-10-01T06:00:00")
    )
    assert ({"accepted": 1}, {"conflict": 1}) == (dict(same.counts), dict(other.counts))


# From here on: worklists that prodex wrote, for every shape, with a rule that shows a part, a word or nothing.

PROFILE: dict[str, Any] = {
    "checks": {
        "names_not_in_capitals": {},
        "required_text": {"attribute": "namePublicShort", "language": "fr"},
        "composition_allergens_listed": {},
        "net_not_over_gross": {},
        "packshot_large_enough": {"pixels": 800},
        "nutrient_within_hundred": {},
        "has_orderable_unit": {},
        "quantity_in_parent_whole": {},
        "has_origin": {},
    }
}
WRITTEN: dict[str, Any] = {
    **RECORD,
    "GPC": {"code": "50000001"},
    "composition": [text("fra-FR", "Farine d'avoine, lait écrémé en poudre, sucre et sel.")],
    "allergens": [text("fra-FR", "Contient : lait.")],
    "grossWeight": [{"data": 1, "expressedIn": {"code": "KGM"}}],
    "isPartitionedBy": [
        {
            "quantity": 100,
            "isMeasuredBy": {"code": "GRM"},
            "contains": [
                {"isConceptualizedBy": {"code": "FAT"}, "quantity": 120, "expressedIn": {"code": "GRM"}},
                {"isConceptualizedBy": {"code": "SALTEQ"}, "quantity": 1, "expressedIn": {"code": "GRM"}},
            ],
        }
    ],
    "logisticalHierarchies": [
        {
            "gtin": CASE,
            "quantity": 1,
            "version": {"isOrderableUnit": False},
            "children": [{"gtin": FIRST, "quantity": 0, "children": []}],
        }
    ],
}

#: Attribute of each finding, its answer, and what happened to the record meanwhile: to its place, and beside it.
ANSWERS: dict[str, tuple[str, Any, Any]] = {
    "namePublicLong": (
        "Pain de campagne",
        lambda one: one["namePublicLong"][0].update(data="AUTRE PAIN EN CAPITALES"),
        lambda one: one["namePublicLong"][1].update(data="Ander brood"),
    ),
    "namePublicShort": (
        "Pain",
        lambda one: one.update(namePublicShort=[text("fra-FR", "Miche")]),
        lambda one: one.update(namePublicShort=[text("nld-NL", "Brood")]),
    ),
    "allergens": (
        "Contient : lait, avoine.",
        lambda one: one["allergens"][0].update(data="Contient : lait, soja."),
        lambda one: one["allergens"].append(text("nld-NL", "Bevat: melk.")),
    ),
    "netWeight": (
        "0,9 kg",
        lambda one: one.update(netWeight=[{"data": 1.8, "expressedIn": {"code": "KGM"}}]),
        lambda one: one.update(netContent=[{"data": 900, "expressedIn": {"code": "GRM"}}]),
    ),
    "assets.pictures.width": (
        "https://cdn.example/n.jpg",
        lambda one: one["assets"]["pictures"][0].update(width=490),
        lambda one: one["assets"]["pictures"][1].update(gdsnFileName="bb.jpg"),
    ),
    "isPartitionedBy.contains": (
        "per 100 g: Fat 12 g",
        lambda one: one["isPartitionedBy"][0]["contains"][0].update(quantity=130),
        lambda one: one["isPartitionedBy"][0]["contains"][1].update(quantity=2),
    ),
    "logisticalHierarchies.quantity": (
        f"{CASE}: 6 x {FIRST}",
        lambda one: one["logisticalHierarchies"][0]["children"][0].update(quantity=-1),
        lambda one: one["logisticalHierarchies"][0]["version"].update(isOrderableUnit=None),
    ),
}


def packshots(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose first picture is a packshot that is too small."""
    record = copy.deepcopy(record)
    record["assets"]["pictures"][0] |= {"isPackshot": True, "productFace": 1}
    return record


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """Return a folder with a workbook and a table of a program, both with an answer for each field, and the fields."""
    tmp_path = tmp_path_factory.mktemp("evidence")
    audit = prodex.audit(prodex.flatten([packshots(WRITTEN)]), PROFILE)
    audit.worklists(tmp_path / "out")
    (path,) = (tmp_path / "out").glob("*.xlsx")
    rows = audit.worklist_rows()
    asked = rows[rows["attribute"].isin(list(ANSWERS))].drop_duplicates("attribute")
    fill(path, {row.row: ANSWERS[row.attribute][0] for row in asked.itertuples()})
    (tmp_path / "csv").mkdir()
    rows.loc[asked.index, "new_value"] = asked["attribute"].map(lambda one: ANSWERS[one][0])
    rows.to_csv(tmp_path / "csv" / "answers.csv", index=False)
    return tmp_path, set(asked["attribute"])


@pytest.fixture
def answered(written: tuple[Path, set[str]], tmp_path: Path) -> tuple[Path, set[str]]:
    """Return a copy of them."""
    folder, fields = written
    shutil.copytree(folder, tmp_path / "answered")
    return tmp_path / "answered", fields


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["out", "csv"])
def test_every_shape_is_answered_and_taken(answered: tuple[Path, set[str]], kind: str) -> None:
    """As long as nothing has changed."""
    folder, fields = answered
    assert set(ANSWERS) == fields
    fix = prodex.read_worklist(folder / kind, prodex.flatten([packshots(WRITTEN)]), profile=PROFILE)
    assert {"accepted": len(ANSWERS)} == dict(fix.counts), fix.answers[["attribute", "state", "reason"]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["out", "csv"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_place_that_changed_is_a_conflict_and_a_change_beside_it_is_none(
    written: tuple[Path, set[str]], first: int, kind: str
) -> None:
    """Although the product says that it is as it was (`updatedAt`), for each shape, whatever else has changed."""
    folder, _ = written
    record, expected = packshots(WRITTEN), {}
    # Every second attribute has changed at its place, the others beside it; and the other way round.
    for number, (attribute, (_, there, beside)) in enumerate(ANSWERS.items(), first):
        (beside if number % 2 else there)(record)
        expected[attribute] = "accepted" if number % 2 else "conflict"
    fix = prodex.read_worklist(folder / kind, prodex.flatten([record]), profile=PROFILE)
    found = fix.answers[["attribute", "state"]].itertuples(index=False, name=None)
    assert expected == dict(found)


def test_a_value_that_was_typed_over_is_no_evidence(answered: tuple[Path, set[str]]) -> None:
    """Somebody who changed "Value seen" and answered as well did not see what is there."""
    folder, _ = answered
    (path,) = (folder / "out").glob("*.xlsx")
    book = load_workbook(path)
    sheet = book["To fix"]
    for number in range(2, sheet.max_row + 1):
        if key_at(sheet, number).attribute == "netWeight":
            sheet.cell(number, place(sheet, "Value seen")).value = "1300 g"
    book.save(path)
    fix = prodex.read_worklist(folder / "out", prodex.flatten([packshots(WRITTEN)]), profile=PROFILE)
    assert {"accepted": len(ANSWERS) - 1, "conflict": 1} == dict(fix.counts)
    assert fix.conflicts["attribute"].tolist() == ["netWeight"]


#: What a spreadsheet makes of a position when it opens a CSV file and saves it, with the place in the list.
RETYPED = {
    "0.2": ("0.2", "0,2", "2-Jan", "00:02", "02.01.2026", "0.20"),
    "1.10": ("1.1", "1,1", "1.10", "01.10.2026", "1-Oct"),
}


def many() -> dict[str, Any]:
    """Return a product with eleven texts in an item of a list, two of them equal."""
    names = [text("fra-FR", f"Pain {number}") for number in range(12)]
    return {
        **RECORDS[0],
        "synonyms": [{"text": [*names[:2], text("fra-FR", "AUTRE")]}, {"text": names}],
    }


def test_a_position_that_a_spreadsheet_changed_is_never_another_one(answer: Answer) -> None:
    """The text that was seen says which is meant; where it does not, nothing is taken."""
    for equal in (False, True):
        cases = [(position, read) for position, several in RETYPED.items() for read in several]
        seen = {"0.2": "AUTRE", "1.10": "Pain 10"}
        products = [{**many(), "id": 100 + number, "gtin": f"9{number:011}"} for number in range(len(cases))]
        rows = [
            row("synonyms.text", "fr", "Miche", **{"Language code": "fra-FR", "Position": read})
            # The text of 1.1 is at 0.1 as well.
            | {
                "GTIN": None,
                "Product": str(100 + number),
                "Value seen": "Pain 1" if equal else seen[position],
            }
            for number, (position, read) in enumerate(cases)
        ]
        fix = answer(*rows, catalog=prodex.flatten(products))
        if equal:
            assert {"1.1"} >= set(fix.accepted["position"])
        else:
            assert {"accepted": len(cases)} == dict(fix.counts), fix.answers["reason"].tolist()
            assert [position for position, _ in cases] == fix.answers["position"].tolist()


def test_keys_are_written_so_that_no_spreadsheet_changes_them(tmp_path: Path) -> None:
    """A position, and a product id with zeros before it or very many digits; other ids stay as people know them."""
    ids = [
        "7",
        "0012",
        "123456789012",
        "12345678901234567890",
        "1E5",
        "3-4",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
    ]
    records = [{**many(), "id": one, "gtin": f"0000000000{number:02}"} for number, one in enumerate(ids)]

    @prodex.packs.rule(title="no other bread", fix="Mend it.")
    def no_other_bread(products: Any) -> prodex.packs.Verdict:
        every = range(len(products))
        return prodex.packs.Verdict(
            [True] * len(products),
            evidence=prodex.packs.Evidence([*every], "synonyms.text", "fr", "AUTRE", "other"),
        )

    catalog = prodex.flatten(records)
    profile = {"checks": {"no_other_bread": {}}}
    audit = prodex.audit(catalog, profile)
    audit.worklists(tmp_path / "out")
    rows = audit.worklist_rows().assign(new_value="Miche")
    assert ids == rows["product_id"].tolist()
    assert {"0.2"} == set(rows["position"])
    fill(next((tmp_path / "out").glob("*.xlsx")), dict.fromkeys(range(1, len(ids) + 1), "Miche"))
    rows.drop(columns=["product_id", "position"]).to_csv(tmp_path / "back.csv", index=False)
    for answers in (tmp_path / "out", tmp_path / "back.csv", rows):
        fix = prodex.read_worklist(answers, catalog, profile=profile)
        assert ids == fix.accepted["product_id"].tolist()
        assert {"0.2"} == set(fix.accepted["position"])


@pytest.mark.parametrize(
    ("written", "ids", "meant"),
    [
        ("12", ["0012"], "0012"),
        ("12", ["0012", "12"], None),
        ("1.23457E+14", ["123457000000000"], None),
        ("0012", ["0012", "12"], "0012"),
    ],
)
def test_an_id_that_lost_its_zeros_is_taken_only_if_it_is_certain(
    tmp_path: Path, written: str, ids: list[str], meant: str | None
) -> None:
    """Of a row that has no GTIN."""
    records = [{**RECORDS[0], "id": one, "gtin": f"00000000000{place:03}"} for place, one in enumerate(ids)]
    file = tmp_path / "a.csv"
    file.write_text(f"Product;Field;Language;New value\n{written};namePublicLong;fr;Pain bis\n")
    fix = prodex.read_worklist(file, prodex.flatten(records), profile={"checks": {"valid_gtin": {}}})
    assert ([] if meant is None else [meant]) == fix.accepted["product_id"].tolist(), fix.answers["reason"][0]


@pytest.mark.slow
@pytest.mark.parametrize("layout", [1, 2, FORMAT - 1])
def test_a_worklist_of_an_earlier_layout_is_refused_as_a_whole(
    answered: tuple[Path, set[str]], layout: int
) -> None:
    """With its file and what to do; a workbook of today beside it is read."""
    folder, _ = answered
    (path,) = (folder / "out").glob("*.xlsx")
    old = path.with_name("old.xlsx")
    shutil.copy(path, old)
    book = load_workbook(old)
    for row in book["prodex"].iter_rows():
        if row[0].value == "format":
            row[1].value = str(layout)
    book.save(old)
    fix = prodex.read_worklist(folder / "out", prodex.flatten([packshots(WRITTEN)]), profile=PROFILE)
    assert {"accepted": len(ANSWERS), "refused": 1} == dict(fix.counts), fix.answers[["attribute", "reason"]]
    (refused,) = fix.refused.to_dict("records")
    assert refused["file"].endswith("old.xlsx")
    assert (
        f"an earlier version of prodex (it has layout {layout}, and this version reads layout {FORMAT})"
        in refused["reason"]
    )
    assert "Write the worklist anew" in refused["reason"]


def without_keys(path: Path) -> None:
    """Remove the column of the keys, as somebody does who tidies up a worklist."""
    book = load_workbook(path)
    book["To fix"].delete_cols(place(book["To fix"], "Row key"))
    book.save(path)
