"""One table in one file, for Excel and Power BI: labels beside codes, as `Catalog.wide` has them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pytest

import prodex
from prodex.errors import QueryError, StorageError
from prodex.formats import xlsx_files
from tests.test_cli import Run, run, settings  # noqa: F401 - fixtures


def text(language: str, words: str) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"code": language}, "data": words}


RECORDS: list[dict[str, Any]] = [
    {
        "id": 1,
        "gtin": "03036811359935",
        "isConsumerUnit": True,
        "brand": {"code": "ACME", "label": "Acme"},
        "namePublicLong": [text("fra-FR", "=1+1"), text("nld-NL", 'Rij"st;\nwit'), text("deu-DE", "Reis")],
        "netContent": [{"data": 0.5, "expressedIn": {"code": "KGM", "label": "kg"}}],
        "updatedAt": "2026-11-23T08:15:00+00:00",
        "createdAt": "1899-11-23T08:15:00+00:00",
    },
    {"id": 2, "gtin": "00000000000017", "namePublicLong": [text("nld-NL", "Zout")], "brand": {"code": "B"}},
]
ENDINGS = (".xlsx", ".csv", ".parquet")


@pytest.fixture
def catalog() -> prodex.Catalog:
    """Two products with names in three languages."""
    return prodex.flatten(RECORDS)


def rows(file: Path) -> list[list[Any]]:
    """Return the rows of a file as its program has them, headings first."""
    if file.suffix == ".csv":
        return list(csv.reader(io.StringIO(file.read_text("utf-8-sig"), newline="")))
    if file.suffix == ".parquet":
        read = pq.read_table(file)
        return [read.column_names, *map(list, zip(*read.to_pydict().values(), strict=True))]
    sheets = openpyxl.load_workbook(file).worksheets
    return [list(row) for row in sheets[0].iter_rows(values_only=True)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_has_the_columns_of_wide(catalog: prodex.Catalog, tmp_path: Path, ending: str) -> None:
    """Labels are beside their codes, each language has its column, and nothing else is in the folder."""
    written = catalog.export_wide(tmp_path / f"shop{ending}", ["fr", "nl"])

    assert [tmp_path / f"shop{ending}"] == written == list(tmp_path.iterdir())
    wide = catalog.wide(["fr", "nl"])
    heading, first, second = rows(written[0])
    assert list(wide.columns) == heading
    assert {"brand_code", "brand", "namePublicLong.fr", "namePublicLong.nl", "netContent"} <= set(heading)
    shown = dict(zip(heading, first, strict=True))
    assert ("03036811359935", "ACME", "Acme", "0.5 kg") == tuple(
        shown[name] for name in ("gtin", "brand_code", "brand", "netContent")
    )
    assert ("=1+1", 'Rij"st;\nwit') == (shown["namePublicLong.fr"], shown["namePublicLong.nl"])
    assert "00000000000017" == dict(zip(heading, second, strict=True))["gtin"]


def test_a_parquet_file_is_the_frame(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """With the same types, so that a program need not guess what a column is."""
    file = catalog.export_wide(tmp_path / "shop.parquet", "nl", numbers=True)[0]

    pd.testing.assert_frame_equal(catalog.wide("nl", numbers=True), pd.read_parquet(file))


def test_a_workbook_has_dates_and_no_formula(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """A moment is one for a spreadsheet, and a text that begins with a sign stays a text."""
    file = catalog.export_wide(tmp_path / "shop.xlsx", "fr")[0]

    sheet = openpyxl.load_workbook(file).active
    places = {cell.value: cell.column for cell in sheet[1]}
    name, changed = (sheet.cell(2, places[one]) for one in ("namePublicLong", "updated_at"))
    assert ("s", "=1+1") == (name.data_type.replace("inlineStr", "s"), name.value)
    assert (True, "2026-11-23") == (changed.is_date, f"{changed.value:%Y-%m-%d}")
    assert "1899-11-23" in str(sheet.cell(2, places["created_at"]).value)


def test_the_first_day_of_a_spreadsheet_is_that_day(tmp_path: Path) -> None:
    """Many systems write it where no date is known; as a number below 1 it would be a time without a day."""
    moments = [f"1900-01-0{day}T{hour}:00:00" for day, hour in ((1, "00"), (1, "13"), (2, "00"))]
    made = prodex.flatten([{"id": place, "createdAt": one} for place, one in enumerate(moments)])
    file = made.export_wide(tmp_path / "shop.xlsx")[0]

    column = pd.read_excel(file, engine="openpyxl")["created_at"]
    assert moments == [one.isoformat() for one in column]


def test_csv_for_a_spreadsheet_is_escaped_when_asked(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """As in every other export; without it, programs get each text as it is."""
    plain = catalog.export_wide(tmp_path / "plain.csv", "fr")[0].read_bytes()
    safe = catalog.export_wide(tmp_path / "safe.csv", "fr", escape_formulas=True)[0].read_bytes()

    assert (True, False) == (b'"=1+1"' in plain, plain.startswith(b"\xef\xbb\xbf"))
    assert (True, True) == (b'"\'=1+1"' in safe, safe.startswith(b"\xef\xbb\xbf"))
    with pytest.raises(QueryError, match="takes no escape_formulas"):
        catalog.export_wide(tmp_path / "safe.xlsx", escape_formulas=True)


def test_what_is_left_out_is_counted(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Texts in other languages and columns that were not chosen; nothing is said of a file with all."""
    file = tmp_path / "shop.csv"

    assert [] == catalog.export_wide(file).left_out
    assert ["3 of 4 texts, in fr, nl"] == catalog.export_wide(file, ["fr", "nl"]).left_out
    columns, texts = catalog.export_wide(file, "fr", columns=["gtin", "namePublicLong"]).left_out
    assert (f"2 of {catalog.wide('fr').shape[1]} columns", "1 of 4 texts, in fr") == (columns, texts)


def test_a_hierarchy_has_no_place_in_a_row(tmp_path: Path) -> None:
    """A row is a product itself, and the file says that it is no more."""
    case = {"gtin": "03036811359935", "id": 2, "children": [{"gtin": "00000000000017", "quantity": 4}]}
    made = prodex.flatten([{"id": 1, "gtin": "00000000000017", "logisticalHierarchies": [case]}])

    (sentence,) = made.export_wide(tmp_path / "shop.csv").left_out
    assert "without hierarchies, sharing units" in sentence


def test_a_long_text_is_cut_with_words(tmp_path: Path) -> None:
    """A cell of a workbook holds 32,767 characters: what is longer is counted, and CSV has all of it."""
    made = prodex.flatten([{"id": 1, "namePublicLong": [text("fra-FR", "x" * 40_000)]}])

    (sentence,) = made.export_wide(tmp_path / "shop.xlsx", "fr").left_out
    assert "1 text is longer than a cell" in sentence
    assert "of 40,000 characters]" in str(rows(tmp_path / "shop.xlsx")[1])
    assert [] == made.export_wide(tmp_path / "shop.csv", "fr").left_out
    assert "x" * 40_000 in rows(tmp_path / "shop.csv")[1]


def test_no_two_columns_are_called_alike(tmp_path: Path) -> None:
    """Excel and Power BI take "shelf" and "Shelf" for one, and a supplier may call an attribute as wide() does."""
    odd = {"shelf": "a", "Shelf": "b", "brand": [1], "brand (value)": "c", "tags_count": "d"}
    made = prodex.flatten([{"id": 1, **odd}])

    written = made.export_wide(tmp_path / "shop.parquet")
    (one,) = pq.read_table(written[0]).to_pylist()
    names = [name.casefold() for name in one]
    assert len(names) == len(set(names))
    assert {"a", "b", "c", "1", "d"} <= {str(value) for value in one.values()}
    assert any("'Shelf'" in sentence or "'shelf'" in sentence for sentence in written.left_out)


def test_more_columns_than_a_sheet_holds_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    """The message counts both and says what to do; an earlier file stays."""
    made = prodex.flatten([{"id": 1, **{f"a{n}": "x" for n in range(20)}}])
    file = made.export_wide(tmp_path / "shop.xlsx")[0]
    before = file.read_bytes()
    monkeypatch.setattr(xlsx_files, "MOST_COLUMNS", 70)

    with pytest.raises(
        QueryError, match=r"^shop\.xlsx would have \d+ columns, and a sheet holds 70\. Choose"
    ):
        made.export_wide(file)
    assert [file] == list(tmp_path.iterdir())
    assert before == file.read_bytes()


@pytest.mark.parametrize("empty", ENDINGS)
def test_a_catalogue_without_products_is_a_file_with_headings(tmp_path: Path, empty: str) -> None:
    """A job that finds nothing writes what its reader can open."""
    file = prodex.flatten([]).export_wide(tmp_path / f"shop{empty}", "fr")[0]

    (heading,) = rows(file)
    assert {"gtin", "brand", "brand_code"} <= set(heading)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("shop", "does not say in which format"),
        ("shop.jsonl", "does not say in which format"),
        ("shop.xls", "shop.xls.xlsx"),
        (".", "is a folder"),
        ("", "path is the text ''"),
        (7, "path is"),
    ],
)
def test_a_path_that_is_no_file_of_a_table_is_refused(
    catalog: prodex.Catalog, tmp_path: Path, monkeypatch: Any, path: Any, said: str
) -> None:
    """The message says which endings there are."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(QueryError, match=said):
        catalog.export_wide(path)
    assert [] == list(tmp_path.iterdir())


def test_a_language_that_nobody_knows_writes_nothing(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """It is refused before a file is begun, with the nearest one."""
    with pytest.raises(QueryError, match="French"):
        catalog.export_wide(tmp_path / "shop.xlsx", "Frensh")
    with pytest.raises(StorageError):
        catalog.export_wide(Path("/dev/null/shop.xlsx"))
    assert [] == list(tmp_path.iterdir())


def test_the_command_writes_one_file(run: Run, home: Path, tmp_path: Path) -> None:  # noqa: F811
    """`prodex export shop --wide fr,nl --to shop.xlsx`; what is left out and of which products is on stderr."""
    made = prodex.flatten(RECORDS).save("shop")
    file = tmp_path / "shop.xlsx"
    (tmp_path / "acme.toml").write_text('brand_code = "ACME"\n')

    done = run("export", "shop", "--wide", "fr,nl", "--to", str(file))
    assert (0, True) == (done.returncode, "shop.xlsx" in done.stdout), done.stderr
    assert "Written: 3 of 4 texts, in fr, nl." in done.stderr
    assert list(made.wide(["fr", "nl"])) == rows(file)[0]
    words = ["--wide", "fr", "--wide", "de", "--column", "gtin", "--column", "namePublicLong"]
    done = run("export", "shop", *words, "--select", str(tmp_path / "acme.toml"), "--to", str(file))
    assert 0 == done.returncode, done.stderr
    assert "1 of 2 products, chosen by: brand_code = ACME" in done.stderr
    assert [["gtin", "namePublicLong.de", "namePublicLong.fr"], ["03036811359935", "Reis", "=1+1"]] == rows(
        file
    )
    assert 0 == run("export", "shop", "--wide", "all", "--to", str(tmp_path / "all.csv")).returncode
    assert list(made.wide()) == rows(tmp_path / "all.csv")[0]


def test_the_command_refuses_what_is_of_many_tables(run: Run, home: Path, tmp_path: Path) -> None:  # noqa: F811
    """Each option that --wide does not take is named, and nothing is written."""
    prodex.flatten(RECORDS).save("shop")
    to = ["--to", str(tmp_path / "shop.xlsx")]
    for words, said in (
        ([*to, "--table", "texts"], "--table chooses from many tables"),
        ([*to, "--language", "fr"], "--language chooses from many tables"),
        ([*to, "--format", "csv"], "--format csv and the file 'shop.xlsx' do not agree"),
        (["--to", str(tmp_path / "out")], "does not say in which format"),
        ([*to, "--escape-formulas"], "takes no --escape-formulas"),
        ([*to, "--column", "gtim"], "did you mean 'gtin'"),
    ):
        refused = run("export", "shop", "--wide", "fr", *words)
        assert (1, True) == (refused.returncode, said in refused.stderr), refused.stderr
    assert [] == list(tmp_path.glob("*.xlsx"))
