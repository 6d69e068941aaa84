"""The requirements workbook: what it shows of a catalogue, what it keeps, and that its first sheet explains it."""

from __future__ import annotations

from pathlib import Path

import pytest
from openpyxl import load_workbook

import prodex
from prodex import ProductQuery
from prodex.catalog import Origin
from prodex.errors import InputError
from prodex.quality.requirement_files.for_catalog import channel_of
from prodex.quality.requirement_files.from_profile import requirements_of_profile
from prodex.quality.requirements import Channel, ProductFamily
from tests.quality.requirements.sheets import answer, asks, cells, changed, shop

FRANCE = "Web shop (France)"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the workbook of four products for two channels."""
    channels = ["Web shop:France", "Catalogue"]
    return prodex.write_requirements(tmp_path_factory.mktemp("book") / "r.xlsx", shop(), channels=channels)


def test_each_cell_has_the_share_of_its_family(book: Path) -> None:
    """Of texts by language, codes, faces, nutrients and attributes of one's own; of the market's products alone."""
    found = {
        (path, language): [by_label[one].value for one in ("Filled", "All families", "Tea", "Coffee")]
        for _, language, path, by_label in cells(book, FRANCE)
    }

    assert ["50 %", "67 %", "50 %", "100 %"] == found["namePublicLong", "fr"]
    assert ["25 %", "33 %", "50 %", "0 %"] == found["brand", ""]
    assert ["25 %", "33 %", "50 %", "0 %"] == found["assets.pictures[front]", ""]
    assert ["0 %", "0 %", "0 %", "0 %"] == found["assets.pictures[back]", ""]
    assert ["25 %", "33 %", "0 %", "100 %"] == found["isPartitionedBy.contains[FAT]", ""]
    assert ["25 %", "33 %", "50 %", "0 %"] == found["xShelf", ""]
    assert ["100 %", "100 %", "100 %", "100 %"] == found["kind", ""]
    assert ("namePublicLong", "nl") not in found
    other = {(path, language) for _, language, path, _ in cells(book, "Catalogue")}
    assert {("namePublicLong", "fr"), ("namePublicLong", "nl")} <= other


def test_each_column_says_its_family_and_its_products(book: Path) -> None:
    """The code, how many products it has in this market, and what it belongs to."""
    sheet = load_workbook(book)[FRANCE]

    assert ["Channel", FRANCE] == [one.value for one in sheet[2][:2]]
    assert ["*", "COFFEE", "TEA"] == [one.value for one in sheet[4][4:]]
    assert ["3", "1", "2"] == [one.value for one in sheet[5][4:]]
    assert ["All families", "Coffee", "Tea"] == [one.value for one in sheet[6][4:]]


def test_each_attribute_has_a_row_to_fill_in(book: Path) -> None:
    """Of each channel, for all families, with its name and the share beside it; and each family has its name."""
    rows = list(load_workbook(book)["Requirements"].iter_rows(values_only=True))
    long_name = [row for row in rows if row[6] == "namePublicLong"]

    assert [
        (
            "Web shop",
            "France",
            "true",
            "*",
            None,
            None,
            "namePublicLong",
            "fr",
            None,
            None,
            "kind",
            "Long name",
            "67 %",
        ),
        (
            "Catalogue",
            "all",
            "true",
            "*",
            None,
            None,
            "namePublicLong",
            "fr",
            None,
            None,
            "kind",
            "Long name",
            "50 %",
        ),
        (
            "Catalogue",
            "all",
            "true",
            "*",
            None,
            None,
            "namePublicLong",
            "nl",
            None,
            None,
            "kind",
            "Long name",
            "25 %",
        ),
    ] == long_name
    assert {("COFFEE", "Coffee"), ("TEA", "Tea")} == {row[3:5] for row in rows if row[0] is None}


def test_a_workbook_is_easy_to_fill_in_and_to_print(book: Path) -> None:
    """Frozen headings, lists to choose from, headings on each page, an explanation, and a matrix that is locked."""
    whole = load_workbook(book)
    sheet, matrix = whole["Requirements"], whole[FRANCE]

    assert ["Read me", "Requirements", FRANCE, "Catalogue", "prodex requirements"] == whole.sheetnames
    assert 30 > whole["Read me"].max_row
    text = " ".join(str(cell.value) for row in whole["Read me"] for cell in row if cell.value)
    assert all(
        word in text for word in ("must", "should", "may", "not", "all families", "at least 800 pixels")
    )
    assert ("A2", "E7") == (sheet.freeze_panes, matrix.freeze_panes)
    assert ("$1:$1", "$1:$6") == (sheet.print_title_rows, matrix.print_title_rows)
    assert "landscape" == sheet.page_setup.orientation == matrix.page_setup.orientation
    assert (False, True) == (sheet.protection.sheet, matrix.protection.sheet)
    assert "hidden" == whole["prodex requirements"].sheet_state


def test_what_can_be_chosen_is_in_a_list(book: Path) -> None:
    """Channels, markets, families, attributes, languages and levels; of these only a level cannot be another one."""
    whole = load_workbook(book)
    hidden = whole["prodex requirements"]
    choices = {}
    for one in whole["Requirements"].data_validations.dataValidation:
        if one.type == "list":
            column = str(one.sqref)[0]
            cells_of_list = hidden[one.formula1.split("!")[1].replace("$", "")]
            choices[column] = ([cell.value for (cell,) in cells_of_list], one.showErrorMessage)

    assert (["must", "should", "may", "not"], True) == choices["I"]
    assert (["*", "COFFEE", "TEA"], False) == choices["D"]
    assert (["Web shop", "Catalogue"], False) == choices["A"]
    assert {"all", "France", "Belgium"} <= set(choices["B"][0])
    assert {"brand", "xShelf", "assets.pictures[front]"} <= set(choices["G"][0])
    assert {"any", "fr", "nl"} <= set(choices["H"][0])


def test_what_was_not_asked_for_is_no_share(tmp_path: Path) -> None:
    """A catalogue that was loaded without brands says nothing of brands."""
    records = [{"id": 7, "kind": {"code": "TEA"}}]
    catalog = prodex.flatten(records)
    origin = Origin("sandbox", ProductQuery(source_include=["kind"]))
    partial = type(catalog)(catalog.parts, origin)
    path = prodex.write_requirements(tmp_path / "r.xlsx", partial, channels="Web shop")
    by_path = {path: row for _, _, path, row in cells(path, "Web shop")}

    assert "not asked for" == by_path["brand"]["TEA"].value
    assert "not asked for" == by_path["brand"]["Filled"].value
    assert "100 %" == by_path["kind"]["TEA"].value
    assert () == prodex.Requirements.read(path).requirements


def test_a_workbook_is_written_again_with_its_answers(tmp_path: Path) -> None:
    """For a new snapshot: the shares are new, and every answer is kept, also of a family that no product has now."""
    path = prodex.write_requirements(tmp_path / "r.xlsx", shop(), channels="Web shop:France")

    def ask(book: object) -> None:
        answer(book, "must", "nameLegal", "fr")
        answer(book, "should", "nameLegal", "fr", "COFFEE", "at most 80 characters")
        answer(book, "may", "namePublicLong", "fr", "TEA")

    before = asks(prodex.Requirements.read(changed(path, ask)))
    later = prodex.flatten(
        [{"id": 1, "kind": {"code": "TEA", "label": "Tea"}, "product_key": {"target_market_id": "250"}}]
    )
    with pytest.raises(InputError, match="Give another path, or replace=True"):
        prodex.write_requirements(path, later)
    prodex.write_requirements(path, later, replace=True)

    assert 3 == len(before)
    assert before == asks(prodex.Requirements.read(path))
    assert ["COFFEE", "TEA"] == [one.code for one in prodex.Requirements.read(path).families]


def test_a_workbook_that_cannot_be_read_is_never_replaced(tmp_path: Path) -> None:
    """Its answers would be lost."""
    path = prodex.write_requirements(tmp_path / "r.xlsx", shop(), channels="Web shop:France")

    before = changed(path, lambda book: answer(book, "x", "nameLegal", "fr")).read_bytes()
    with pytest.raises(InputError, match=r"(?s)was not replaced.*Requirements!I2: 'x' is not clear"):
        prodex.write_requirements(path, shop(), replace=True)

    assert before == path.read_bytes()


def test_a_workbook_with_things_of_ones_own_is_not_replaced(tmp_path: Path) -> None:
    """A column of remarks and a sheet of notes would be lost: another path takes the answers, and they stay."""
    path = prodex.write_requirements(tmp_path / "r.xlsx", shop(), channels="Web shop:France")

    def remark(book: object) -> None:
        answer(book, "must", "nameLegal", "fr")
        book["Requirements"]["N1"], book["Requirements"]["N9"] = "Remark", "ask Anna"  # type: ignore[index]
        book.create_sheet("Notes").append(["call Ben"])  # type: ignore[attr-defined]

    before = changed(path, remark).read_bytes()
    with pytest.raises(InputError, match=r"would be lost: sheet Notes, column Remark \(Requirements!N\)"):
        prodex.write_requirements(path, shop(), replace=True)
    other = prodex.write_requirements(tmp_path / "new.xlsx", shop(), start=path)

    assert before == path.read_bytes()
    assert ["must"] == list(asks(prodex.Requirements.read(other)).values())


def test_no_two_attributes_have_one_name(book: Path) -> None:
    """Somebody may delete the paths: each name is of one attribute."""
    found = {(title, path) for sheet in (FRANCE, "Catalogue") for title, _, path, _ in cells(book, sheet)}

    assert {"logisticalHierarchies", "sharingUnits"} <= {path for _, path in found}
    assert len(found) == len({title for title, _ in found}) == len({path for _, path in found})


def test_sorting_by_a_filter_keeps_answers_with_their_rows(book: Path) -> None:
    """A spreadsheet sorts only the range of the filter: it has all columns and rows."""
    sheet = load_workbook(book)["Requirements"]

    assert f"A1:M{sheet.max_row}" == sheet.auto_filter.ref


def test_families_are_those_of_the_gpc_at_every_level(tmp_path: Path) -> None:
    """A segment has the products of its families, and each its parent."""
    records = [
        {"id": n, "GPC": {"code": code, "label": code}}
        for n, code in enumerate(["50131703", "50131700", "10000025"])
    ]
    path = prodex.write_requirements(
        tmp_path / "r.xlsx", prodex.flatten(records), by="gpc", channels="Web shop"
    )
    sheet = load_workbook(path)["Web shop"]
    products = dict(
        zip([one.value for one in sheet[4][4:]], [one.value for one in sheet[5][4:]], strict=True)
    )

    assert {
        "*": "3",
        "50000000": "2",
        "50130000": "2",
        "50131700": "2",
        "50131703": "1",
        "10000025": "1",
    } == products
    read = prodex.Requirements.read(path)
    assert "gpc" == read.by
    assert {
        "50131703": "50131700",
        "50131700": "50130000",
        "50130000": "50000000",
        "50000000": "",
        "10000025": "",
    } == {one.code: one.parent for one in read.families}


def test_families_whose_names_differ_by_case_are_never_taken_for_each_other(tmp_path: Path) -> None:
    """By its code, by its name as it is, and by a name that two have in another case."""
    kinds = [("T1", "Tea"), ("T2", "TEA"), ("C1", "Coffee")]
    records = [{"id": n, "kind": {"code": code, "label": label}} for n, (code, label) in enumerate(kinds)]
    catalog = prodex.flatten(records)
    for number, (named, codes) in enumerate(
        [("Tea", ["T1"]), ("TEA", ["T2"]), ("coffee", ["C1"]), ("T2", ["T2"])]
    ):
        path = prodex.write_requirements(
            tmp_path / f"{number}.xlsx", catalog, by="kind", channels="Web shop", families=[named]
        )
        headings = [one.value for one in load_workbook(path)["Web shop"][6]]
        assert [dict(kinds)[code] for code in codes] == headings[headings.index("All families") + 1 :]
    with pytest.raises(InputError, match=r"'tea' is the name of 2 families. Give one of T1, T2"):
        prodex.write_requirements(
            tmp_path / "x.xlsx", catalog, by="kind", channels="Web shop", families=["tea"]
        )


def test_families_are_limited_and_the_others_named(tmp_path: Path) -> None:
    """Of hundreds of families the largest have a column; all others are counted with all families, and said to be."""
    catalog = prodex.flatten({"id": n, "brand": {"code": f"B{min(n, 60)}"}} for n in range(70))
    path = prodex.write_requirements(
        tmp_path / "r.xlsx", catalog, by="brand_code", channels="Web shop", families=5
    )
    whole = load_workbook(path)

    assert ["*", "B60", "B0", "B1", "B10", "B11"] == [one.value for one in whole["Web shop"][4][4:]]
    assert ["70", "10", "1", "1", "1", "1"] == [one.value for one in whole["Web shop"][5][4:]]
    assert "56 of 61 families are in no matrix" in str([row[1].value for row in whole["Read me"]])
    own = prodex.write_requirements(
        tmp_path / "own.xlsx", catalog, by="brand_code", channels="W", families=["B7", "B8"]
    )
    assert ["*", "B7", "B8"] == [one.value for one in load_workbook(own)["W"][4][4:]]


def test_choices_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """With the nearest name where there is one; nothing is written then."""
    catalog = shop()
    wrong = {
        "did you mean 'kind'": {"by": "knd"},
        "Did you mean 'France'": {"channels": "Web shop:Frnace"},
        "did you mean 'TEA'": {"families": ["TEE"]},
        "There is no language": {"languages": "klingon"},
        "is no channel": {"channels": ":France"},
        "Give a number of families": {"families": -1},
    }
    for message, choice in wrong.items():
        with pytest.raises(InputError, match=message):
            prodex.write_requirements(tmp_path / "r.xlsx", catalog, **choice)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"cannot be written"):
        prodex.write_requirements(tmp_path / "r.csv", catalog)
    with pytest.raises(InputError, match="takes a catalogue or the name of a snapshot"):
        prodex.write_requirements(tmp_path / "r.xlsx", None)  # type: ignore[arg-type]

    with pytest.raises(InputError, match="in the wrong place"):
        prodex.write_requirements(catalog, "r.xlsx")  # type: ignore[arg-type]

    assert [] == list(tmp_path.iterdir())


def test_an_empty_catalogue_has_a_workbook(tmp_path: Path) -> None:
    """Before the first product there are rows to fill in, and no shares."""
    path = prodex.write_requirements(tmp_path / "r.xlsx", prodex.flatten([]))

    assert ["no products"] == list(
        {row["All families"].value for _, _, _, row in cells(path, "All channels")}
    )
    assert ("All channels",) == tuple(one.label for one in prodex.Requirements.read(path).channels)


def test_channels_are_given_in_words() -> None:
    """Name, market and units, divided by colons; a channel is taken as it is."""
    assert Channel("Web shop", 250, consumer_units=True) == channel_of("Web shop : France : consumer units")
    assert Channel("Web shop", 56) == channel_of(Channel("Web shop", 56))


def test_a_workbook_begins_with_what_a_profile_asks(tmp_path: Path) -> None:
    """Of all products of a channel; what a rule decides for itself, such as by what is food, stays with the profile."""
    checks = {
        "required_text": [
            {"attribute": "namePublicLong", "language": "of the market"},
            {
                "attribute": "description",
                "language": "fr",
                "severity": "warning",
                "only": {"is_consumer_unit": True},
            },
            {"attribute": "nameLegal", "language": "fr", "only": {"kind_code": ["TEA"]}, "severity": "error"},
            {
                "attribute": "allergens",
                "language": "fr",
                "except": {"kind_code": ["TEA"]},
                "severity": "error",
            },
            {"attribute": "composition", "language": "fr", "only": {"brand_code": ["A"]}},
        ],
        "has_composition": {},
    }
    profile = prodex.Profile.read({"checks": checks})
    of_all = prodex.write_requirements(
        tmp_path / "a.xlsx", shop(), channels="Web shop:France:all", start=profile
    )
    of_consumers = prodex.write_requirements(
        tmp_path / "b.xlsx", shop(), channels="Web shop:France", start=profile
    )

    expected = {
        ("namePublicLong fr", "*"): "must",
        ("nameLegal fr", "TEA"): "must",
        ("allergens fr", "*"): "must",
        ("allergens fr", "TEA"): "may",
    }
    assert expected == asks(prodex.Requirements.read(of_all))
    assert expected | {("description fr", "*"): "should"} == asks(prodex.Requirements.read(of_consumers))
    with pytest.raises(InputError, match="online-listing"):
        prodex.write_requirements(tmp_path / "c.xlsx", shop(), start="online-listin")


def test_families_of_a_profile_are_those_that_it_names() -> None:
    """What is asked of all families makes none of its own."""
    checks = [
        {"attribute": "nameLegal", "language": "fr", "only": {"kind_code": ["TEA"]}},
        {"attribute": "namePublicLong", "language": "fr"},
    ]
    profile = prodex.Profile.read({"checks": {"required_text": checks}})

    assert (ProductFamily("TEA"),) == requirements_of_profile(profile, [Channel("Shop")], "kind").families
