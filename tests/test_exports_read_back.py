"""Exports come back exactly: by plain pandas from Parquet, and in every format by `prodex.read_export`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex import limits
from prodex.errors import ExportDamaged, InputError, OtherLayout, QueryError, StorageError
from prodex.tables.attributes import state_column
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products
from tests import wire
from tests.cases import each_row

FORMATS = ("parquet", "csv", "csv for spreadsheets", "xlsx")

#: Texts that some format or reader makes something else of.
TEXTS = [
    "NA",
    "null",
    "nan",
    "",
    " ",
    "0017",
    "1e5",
    "true",
    "2026-11-20",
    "=1+1",
    "'=1+1",
    "'tis",
    "a;=b",
    "a\r\nb",
    "a\rb",
    "\n",
    'say "hi"',
    '"',
    ",",
    "x\x00y",
    "_x0041_",
    "<r><t>x</t></r>",
    "שלום 🧀",
    " lead and trail ",
    "\ufeffbom",
]

HOSTILE: list[dict[str, Any]] = [
    {
        "id": 1,
        "gtin": "00000000000017",
        "updatedAt": "2026-11-20T08:00:00",
        "isConsumerUnit": True,
        "lifeCycle": 1,
        "width": 0.1 + 0.2,
        "brand": {"code": "", "label": None},
        "assets": {
            "documents": [{"url": "u", "fileEffectiveStartDateTime": 1_700_000_000, "fileSize": 2**53 - 1}],
            "pictures": [{"url": "a", "isPackshot": False, "createdAt": "1899-12-31T23:59:59"}],
        },
        "netContent": [{"data": one, "expressedIn": {"code": "GRM"}} for one in (0.1 + 0.2, -0.0, 1e300)],
    },
    {
        "id": "NA",
        "gtin": None,
        "createdAt": "0001-01-01T00:00:00",
        "odd": [{"expressedIn": {"code": "fra-FR"}, "data": text} for text in TEXTS],
        **dict.fromkeys(["=1+1", "", "a,b", 'q"', "line\nbreak", " x", "Gtin"], "filled"),
    },
    {"id": 3},
]


def export(catalog: prodex.Catalog, folder: Path, form: str, **more: Any) -> list[Path]:
    """Export in one of `FORMATS`, with every table that the catalogue has; of CSV, records have to be named."""
    if form.startswith("csv"):
        more = {"tables": list(catalog.tables.index)} | more
    if form == "csv for spreadsheets":
        return catalog.export(folder, "csv", escape_formulas=True, **more)
    return catalog.export(folder, form, **more)


def assert_same(expected: prodex.Catalog, actual: prodex.Catalog) -> None:
    """Compare every table: values, types, order; and where they come from. A frame is made of its table."""
    for table in TABLES:
        assert expected.arrow(table).equals(actual.arrow(table)), table  # null and "" apart
    assert expected.equals(actual)


CATALOGS = {
    "hostile": lambda: prodex.flatten(HOSTILE),
    "without products": lambda: prodex.flatten([]),
    "all null": lambda: prodex.flatten([{"id": 1}, {"id": 2}]),
    "sample": lambda: prodex.flatten([shared.record for shared in shared_products(40)]),
    "in several parts": lambda: _joined().save("parts"),
    "filtered": lambda: prodex.flatten(HOSTILE).where(product_id="NA"),
}


def _joined() -> prodex.Catalog:
    """Return a catalogue of two parts that have seen different attributes."""
    one, two = prodex.flatten([{"id": 1, "a": 1}]), prodex.flatten([{"id": 2, "b": "x"}])
    return prodex.Catalog((*one.parts, *two.parts), one.origin)


@pytest.fixture(params=CATALOGS)
def catalog(request: pytest.FixtureRequest) -> prodex.Catalog:
    """Catalogues of each kind."""
    made: prodex.Catalog = CATALOGS[request.param]()
    return made


@pytest.mark.slow
def test_plain_pandas_reads_parquet_as_the_catalogue_has_it(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """Values and dtypes of all tables, empty ones and columns of nulls included."""
    catalog.export(tmp_path / "out")

    for table in TABLES:
        read = pd.read_parquet(tmp_path / "out" / f"{table}.parquet")
        pd.testing.assert_frame_equal(getattr(catalog, table), read)


def test_plain_pandas_reads_the_files_of_a_snapshot_alike(tmp_path: Path) -> None:
    """`catalog.files` hands them out; files of `presence` keep the names of the wire, and the key of all tables."""
    catalog = prodex.flatten(HOSTILE).save("saved")

    for table in TABLES:
        if table == "presence":
            (path,) = catalog.files(table)
            names = set(pd.read_parquet(path).columns) - {"product_id", "gtin"}
            assert {state_column(name.removesuffix(" (attribute)")) for name in names} == set(
                catalog.presence.columns[1:]
            )
            continue
        read = pd.concat([pd.read_parquet(path) for path in catalog.files(table)])
        pd.testing.assert_frame_equal(getattr(catalog, table), read)


@pytest.mark.slow
def test_other_readers_of_parquet_see_types_and_texts(tmp_path: Path) -> None:
    """What pandas is told disturbs neither DuckDB nor Arrow."""
    catalog = prodex.flatten(HOSTILE)
    catalog.export(tmp_path)

    for table in TABLES:
        path = tmp_path / f"{table}.parquet"
        expected = catalog.arrow(table)
        read = pq.read_table(path)
        assert expected.to_pylist() == read.to_pylist()
        assert [f.metadata for f in catalog._schema(table)] == [f.metadata for f in read.schema]
        with duckdb.connect() as connection:
            found = connection.read_parquet(str(path)).to_arrow_table()
        # DuckDB has no two names that differ in case only.
        assert [c.to_pylist() for c in expected.columns] == [c.to_pylist() for c in found.columns]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*workbook:UserWarning")
@pytest.mark.parametrize("form", FORMATS)
def test_every_export_comes_back_exactly(catalog: prodex.Catalog, tmp_path: Path, form: str) -> None:
    """Null and "" apart, NA a text, line breaks, quotes, zeros, formulas, fractions to the last digit."""
    export(catalog, tmp_path / "out", form)

    assert_same(catalog, prodex.read_export(tmp_path / "out"))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
@given(records=st.lists(wire.products, max_size=4))
@example(records=[*HOSTILE, *wire.CORNERS])
def test_any_products_come_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, form: str, records: list[dict[str, Any]]
) -> None:
    """Law: `read_export` undoes `export`, and plain pandas reads Parquet as the catalogue has it."""
    catalog = prodex.flatten(records)
    folder = tmp_path_factory.mktemp("law")
    export(catalog, folder, form)
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    if sum(resource["altered_texts"] for resource in package["resources"]):
        with pytest.warns(UserWarning, match="as the workbook holds"):
            prodex.read_export(folder)
        return

    assert_same(catalog, prodex.read_export(folder))
    if form == "parquet":
        for table in TABLES:
            read = pd.read_parquet(folder / f"{table}.parquet")
            pd.testing.assert_frame_equal(getattr(catalog, table), read)


def test_sodium_stays_sodium(tmp_path: Path) -> None:
    """The nutrient code NA is no missing value."""
    catalog = prodex.flatten(
        [
            {
                "id": 1,
                "isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": "NA"}, "quantity": 1}]}],
            }
        ]
    )
    catalog.export(tmp_path, "csv")

    assert ["NA"] == prodex.read_export(tmp_path).nutrients["nutrient_code"].tolist()


def test_a_catalogue_that_was_read_back_answers_every_question(tmp_path: Path) -> None:
    """It is a `Catalog` with its origin, to filter, query, save, audit and export again."""
    catalog = prodex.flatten(HOSTILE)
    export(catalog, tmp_path / "out", "csv")
    read = prodex.read_export(tmp_path / "out")

    for table in TABLES:
        pd.testing.assert_frame_equal(getattr(catalog, table), getattr(read, table))
    assert catalog.origin == read.origin
    assert 1 == len(read.where(gtin="00000000000017"))
    assert [3] == read.sql("select count(*) n from products")["n"].tolist()
    assert read.save("again").equals(catalog)
    assert prodex.diff(catalog, read).changes.empty
    assert catalog.wide("fr").equals(read.wide("fr"))


def test_a_text_that_a_workbook_cut_is_said(tmp_path: Path) -> None:
    """A warning counts such texts; each is read as the cell holds it."""
    catalog = prodex.flatten([{"id": 1, "a": "x" * 40_000}])
    catalog.export(tmp_path, "xlsx")

    with pytest.warns(UserWarning, match=r"1 text of scalars, 1 text of raw are as the workbook holds"):
        read = prodex.read_export(tmp_path)
    assert read.scalars["value"][0].endswith("of 40,000 characters]")


def test_only_a_workbook_alters_a_text(tmp_path: Path) -> None:
    """Every other format has room for any text, and the package says so: a reader would be warned otherwise."""
    catalog = prodex.flatten([{"id": 1, "a": "x" * 40_000}])
    altered = {}
    for form in FORMATS:
        export(catalog, tmp_path / form, form)
        package = json.loads((tmp_path / form / "datapackage.json").read_text("utf-8"))
        altered[form] = sum(resource["altered_texts"] for resource in package["resources"])

    assert {"xlsx": 2} == {form: number for form, number in altered.items() if number}


@pytest.mark.slow
def test_a_long_text_comes_back_from_csv_and_parquet(tmp_path: Path) -> None:
    """40,000 characters, and a record of 20 MB, which is larger than what is read at a time."""
    catalog = prodex.flatten([{"id": 1, "a": "x" * 40_000, "b": ["y\r\n" * 4_000_000]}])
    for form in ("csv", "parquet"):
        export(catalog, tmp_path / form, form)
        assert catalog.equals(prodex.read_export(tmp_path / form))


@pytest.mark.slow
@pytest.mark.parametrize("escape_formulas", [False, True])
def test_the_package_says_how_pandas_reads_csv(tmp_path: Path, escape_formulas: bool) -> None:
    """With these arguments types and values are the catalogue's; only null and an empty text are one."""
    catalog = prodex.flatten(HOSTILE)
    catalog.export(tmp_path, "csv", escape_formulas=escape_formulas)

    for resource in described(tmp_path)["resources"]:
        frame = pd.read_csv(tmp_path / resource["path"], **resource["pandas"])
        # pandas gives a column without a name one.
        frame = frame.rename(columns=lambda name: "" if name.startswith("Unnamed: ") else name)
        if escape_formulas:
            frame = frame.rename(columns=prodex.formats.unescape_formulas)
            for name in frame.select_dtypes("str"):
                frame[name] = (
                    frame[name].map(prodex.formats.unescape_formulas, na_action="ignore").astype("str")
                )
        expected = getattr(catalog, resource["name"])
        for name in expected.select_dtypes("str"):
            # A NUL ends a text for pandas.
            expected[name] = expected[name].replace("", None).str.replace("\x00.*", "", regex=True)
            frame[name] = frame[name].str.replace("\x00.*", "", regex=True)
        for name in resource["pandas"]["parse_dates"]:
            # pandas chooses the unit itself, without a single moment no zone, and without rows no type.
            assert frame.empty or "datetime64" in str(frame[name].dtype)
            kind = expected[name].dtype
            frame[name] = (
                frame[name].astype(kind)
                if frame[name].notna().any()
                else pd.Series([pd.NaT] * len(frame), dtype=kind)
            )
        pd.testing.assert_frame_equal(expected, frame)


def described(folder: Path) -> dict[str, Any]:
    """Return the data package of a folder."""
    package: dict[str, Any] = json.loads((folder / "datapackage.json").read_text("utf-8"))
    return package


def test_plain_read_csv_loses_zeros_and_sodium(tmp_path: Path) -> None:
    """What the README must not promise: a file of CSV alone says no types."""
    catalog = prodex.flatten(
        [
            {
                "id": 1,
                "gtin": "00000000000017",
                "isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": "NA"}}]}],
            }
        ]
    )
    catalog.export(tmp_path, "csv")

    assert [17] == pd.read_csv(tmp_path / "products.csv")["gtin"].tolist()
    assert pd.read_csv(tmp_path / "nutrients.csv")["nutrient_code"].isna().all()
    assert ["00000000000017"] == pd.read_csv(tmp_path / "products.csv", dtype=str)["gtin"].tolist()


def with_digests_of_now(folder: Path) -> None:
    """Let a data package say of its files what they are now, as somebody may who has changed both."""
    package = described(folder)
    for resource in package["resources"]:
        path = folder / resource["path"]
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            resource |= {"bytes": len(content), "hash": f"sha256:{hashlib.sha256(content).hexdigest()}"}
    (folder / "datapackage.json").write_text(json.dumps(package))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_tables_that_were_not_exported_are_not_empty(tmp_path: Path, form: str) -> None:
    """The error names a table that was not exported; the other tables can be read."""
    catalog = prodex.flatten(HOSTILE)
    paths = export(catalog, tmp_path, form, tables=["texts", "products"])
    assert ["texts", "products", "datapackage"] == [path.stem for path in paths]
    read = prodex.read_export(tmp_path)

    pd.testing.assert_frame_equal(catalog.texts, read.texts)
    assert 3 == len(read)
    for ask in (lambda: read.codes, lambda: read.row_count("codes"), read.wide, lambda: read.where(x=1)):
        with pytest.raises(QueryError):
            ask()
    with pytest.raises(QueryError, match="codes is not in this catalogue: it was not exported"):
        _ = read.codes
    with pytest.raises(QueryError, match="codes"):
        read.sql("select * from codes")
    with pytest.raises(QueryError, match="not exported"):
        read.save("part")
    assert {"texts", "products"} == set(read.tables.index)
    assert {"texts", "products"} == set(read.dictionary["table"])
    assert "not exported, and so not here: codes" in repr(read)
    assert not read.equals(catalog)
    assert [3] == read.sql("select count(*) n from products")["n"].tolist()
    export(read, tmp_path / "again", form)
    assert read.equals(prodex.read_export(tmp_path / "again"))
    export(catalog, tmp_path / "only", form, tables=["texts"])
    only = prodex.read_export(tmp_path / "only")
    assert (3, len(catalog.texts)) == (len(only), len(only.texts))
    with pytest.raises(QueryError, match="products is not in this catalogue"):
        only.where(gtin="1")


def test_a_partial_export_leaves_no_table_of_an_earlier_one(tmp_path: Path) -> None:
    """Files that the earlier export named go; somebody's notes stay."""
    catalog = prodex.flatten(HOSTILE)
    catalog.export(tmp_path, "csv")
    (tmp_path / "notes.txt").write_text("mine")
    catalog.export(tmp_path, "csv", tables="products")

    assert ["datapackage.json", "notes.txt", "products.csv"] == sorted(
        path.name for path in tmp_path.iterdir()
    )
    assert 3 == len(prodex.read_export(tmp_path))


def shorten(path: Path) -> None:
    """Cut the end off a file."""
    path.write_bytes(path.read_bytes()[:-20])


def change(path: Path) -> None:
    """Change a byte in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def link(path: Path) -> None:
    """Put a link in the place of a file, to a copy of it elsewhere."""
    elsewhere = path.parent.parent / f"elsewhere-{path.name}"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def pipe(path: Path) -> None:
    """Put a pipe in the place of a file, which would be waited for."""
    path.unlink()
    os.mkfifo(path)


DAMAGES: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "missing": ("texts", Path.unlink),
    "cut off": ("texts", shorten),
    "changed": ("texts", change),
    "a link": ("texts", link),
    "a pipe": ("texts", pipe),
    "a folder": ("texts", lambda path: (path.unlink(), path.mkdir())),
    "empty": ("products", lambda path: path.write_bytes(b"")),
    "of another table": ("texts", lambda path: shutil.copy(path.with_name(f"codes{path.suffix}"), path)),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return an export in each format, which is copied and not changed."""
    made = tmp_path_factory.mktemp("exported")
    for form in FORMATS:
        export(prodex.flatten(HOSTILE), made / form, form)
    return {form: made / form for form in FORMATS}


@pytest.mark.slow
@each_row("form", FORMATS)
@each_row("resealed", [False, True])
@each_row("damage", DAMAGES)
def test_a_file_that_is_not_as_written_is_said(
    exported: dict[str, Path], tmp_path: Path, form: str, resealed: bool, damage: str
) -> None:
    """By its name and with what to do; where its digest was changed as well, as far as the file itself shows it."""
    folder = shutil.copytree(exported[form], tmp_path / "out")
    table, do = DAMAGES[damage]
    path = next(folder.glob(f"{table}.*"))
    do(path)
    if resealed:
        with_digests_of_now(folder)

    if resealed and damage == "changed":
        return  # nobody can tell a text that was changed from one that was written
    with pytest.raises(ExportDamaged, match=f"{table}.*Export again"):
        prodex.read_export(folder)


PACKAGES: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "a path upwards": ("path", lambda p: p["resources"][0].update(path="../products.csv")),
    "an absolute path": ("path", lambda p: p["resources"][0].update(path="/etc/hostname")),
    "an address": ("path", lambda p: p["resources"][0].update(path="http://127.0.0.1:9/products.csv")),
    "a name that is a path": (
        "path",
        lambda p: p["resources"][0].update(name="../products", path="../products.csv"),
    ),
    "another format": ("format", lambda p: p["resources"][0].update(format="exe")),
    "several formats": ("path|several", lambda p: p["resources"][0].update(format="parquet")),
    "a table twice": ("twice", lambda p: p["resources"].append(p["resources"][0])),
    "somebody else's": ("did not write", lambda p: p.update(name="weather")),
    "a newer one": ("Update prodex", lambda p: p.update(format=99)),
    "huge numbers": ("bytes|int", lambda p: p["resources"][0].update(bytes=10**30)),
    "negative numbers": ("rows|>=", lambda p: p["resources"][0].update(rows=-1)),
    "other rows": ("rows instead of 7", lambda p: p["resources"][0].update(rows=7)),
    "no tables": ("names no file", lambda p: p.update(resources=[])),
    "a column twice": ("twice", lambda p: p["resources"][0]["schema"]["fields"].append({"name": "gtin"})),
    "a column less": ("no column", lambda p: p["resources"][0]["schema"]["fields"].pop()),
    "a strange origin": ("origin", lambda p: p.update(origin={"source": 7})),
    "a table less": ("does not name it", lambda p: p["resources"].pop()),
}


@pytest.mark.slow
@each_row("case", PACKAGES)
def test_a_data_package_of_somebody_else_is_not_trusted(
    exported: dict[str, Path], tmp_path: Path, case: str
) -> None:
    """No path leads out of the folder, no number is believed, and the reason is said."""
    shutil.copytree(exported["csv"], tmp_path, dirs_exist_ok=True)
    words, do = PACKAGES[case]
    package = described(tmp_path)
    do(package)
    (tmp_path / "datapackage.json").write_text(json.dumps(package))

    with pytest.raises((ExportDamaged, OtherLayout), match=words):
        prodex.read_export(tmp_path)


@each_row("content", [b"", b"{", b"[]", b"[" * 100_000, b"\xff", b"7"])
def test_a_data_package_that_is_none_is_said(tmp_path: Path, content: bytes) -> None:
    """The message gives the reason, whatever the file holds."""
    (tmp_path / "datapackage.json").write_bytes(content)

    with pytest.raises(ExportDamaged, match="cannot be read"):
        prodex.read_export(tmp_path)


def test_what_is_no_export_is_said(tmp_path: Path) -> None:
    """Nothing there, a file, a snapshot, an empty folder, no path at all."""
    saved = prodex.flatten(HOSTILE).save("saved")
    (tmp_path / "a.csv").write_text("x")
    assert saved.folder is not None
    for what, words in (
        (tmp_path / "nowhere", "is not there"),
        (tmp_path / "a.csv", "is a file"),
        (saved.folder, "open_snapshot"),
        (tmp_path, "no datapackage.json"),
        (7, "takes the folder"),
        (None, "takes the folder"),
        ("a\x00b", "takes the folder|is not there"),
    ):
        with pytest.raises(InputError, match=words):
            prodex.read_export(what)  # type: ignore[arg-type]


def test_a_table_as_it_was_shown_is_left_to_pandas(tmp_path: Path) -> None:
    """It is no table of a catalogue; the error says the line that reads it."""
    prodex.flatten(HOSTILE).export(tmp_path, "csv", tables=["products"])
    package = described(tmp_path)
    package["resources"][0] |= {"name": "products_as_shown", "path": "products_as_shown.csv"}
    (tmp_path / "datapackage.json").write_text(json.dumps(package))
    (tmp_path / "products.csv").rename(tmp_path / "products_as_shown.csv")

    with pytest.raises(InputError, match=r"pandas.read_csv\(.*products_as_shown.csv'"):
        prodex.read_export(tmp_path)


@pytest.mark.slow
def test_a_workbook_that_unpacks_to_very_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused at a limit that can be set, long before memory is full; `test_reading.py` has the usual one."""
    catalog = prodex.flatten(HOSTILE)
    catalog.export(tmp_path, "xlsx", tables=["products"])
    with pytest.raises(InputError, match="unpacked_bytes"):
        prodex.read_export(tmp_path, limits=prodex.limits.Limits(unpacked_bytes=100))

    with zipfile.ZipFile(tmp_path / "products.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", b"<worksheet>" + b" " * 3_000_000 + b"</worksheet>")
    monkeypatch.setattr(limits, "_RATIO_FROM", 2_000_000)
    with_digests_of_now(tmp_path)
    with pytest.raises(InputError, match="bomb"):
        prodex.read_export(tmp_path)


@pytest.mark.slow
@each_row(
    "xml",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><worksheet>&b;</worksheet>',
        '<worksheet><row><c r="A1" t="s"><v>0</v></c></row></worksheet>',
        '<worksheet><row><c r="A1"><f>1+1</f></c></row></worksheet>',
        '<worksheet><row><c r="XFE1" t="inlineStr"><is><t>x</t></is></c></row></worksheet>',
        '<worksheet><row><c r="../1"><v>1</v></c></row></worksheet>',
        '<worksheet><row/><row><c r="A2"><v>1</v></c></row></worksheet>',
        "<worksheet>",
    ],
)
def test_a_workbook_of_somebody_else_is_refused(tmp_path: Path, xml: str) -> None:
    """It may hold entities, formulas, impossible places, or numbers instead of texts."""
    prodex.flatten(HOSTILE).export(tmp_path, "xlsx", tables=["products"])
    with zipfile.ZipFile(tmp_path / "products.xlsx", "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", xml)
    with_digests_of_now(tmp_path)

    with pytest.raises(ExportDamaged, match=r"products.xlsx cannot be read"):
        prodex.read_export(tmp_path)


def test_a_name_of_a_file_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question back with both lines that could be meant; nothing is written."""
    monkeypatch.chdir(tmp_path)
    catalog = prodex.flatten(HOSTILE)
    for name, words in (
        ("shop.csv", r"export\('shop', 'csv'\).*to_csv\('shop.csv', index=False\)"),
        ("out/Shop.XLSX", r"export\('out/Shop', 'xlsx'\)"),
        (Path("shop.parquet"), r"export\('shop', 'parquet'\).*to_parquet"),
        ("csv", r"export\('out', 'csv'\)"),
        ("", "takes a folder"),
        (None, "takes a folder"),
    ):
        with pytest.raises(QueryError, match=words):
            catalog.export(name)  # type: ignore[arg-type]
    assert [] == list(tmp_path.iterdir())
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(StorageError, match="There is a file where a folder should be"):
        catalog.export("notes")
    (tmp_path / "old.csv").mkdir()
    assert 21 == len(catalog.export("old.csv"))


@each_row(
    ("options", "words"),
    [
        ({"tables": ["product"]}, "did you mean 'products'"),
        ({"tables": ["products", 7]}, "no table 7"),
        ({"tables": []}, "names no table"),
        ({"tables": 7}, "does not hold names"),
        ({"format": "CSV"}, "did you mean 'csv'"),
        ({"format": ".csv"}, "give one of parquet, csv, xlsx"),
        ({"format": None}, "give one of parquet, csv, xlsx"),
        ({"format": "xlsx", "escape_formulas": True}, "takes no escape_formulas"),
        ({"format": "csv", "escape_formulas": "yes"}, "neither True nor False"),
    ],
)
def test_an_export_that_cannot_be_meant_is_refused(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    """The error names the nearest name, and comes before anything is written."""
    with pytest.raises(QueryError, match=words):
        prodex.flatten(HOSTILE).export(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_part_of_an_export_takes_its_place(tmp_path: Path) -> None:
    """What was read is exported again to the folder that it was read from."""
    prodex.flatten(HOSTILE).export(tmp_path / "out")
    chosen = prodex.read_export(tmp_path / "out").where(product_id=["1", "3"])
    chosen.export(tmp_path / "out")

    again = prodex.read_export(tmp_path / "out")
    assert ["1", "3"] == again.products["product_id"].tolist()
    assert [1] == again.sql("select count(*) n from pictures")["n"].tolist()


@pytest.mark.slow
def test_moments_and_numbers_of_a_workbook_are_exact(tmp_path: Path) -> None:
    """From the first day that it knows, over the leap day that it invents, to the last second."""
    moments = ["1900-01-01T00:00:00", "1900-02-28T23:59:59", "1900-03-01T00:00:01", "2026-11-20T23:59:59"]
    moments += ["1899-12-31T23:59:59", "0001-01-01T00:00:00", "9999-12-31T23:59:59", "2000-02-29T12:34:56"]
    numbers = [0.1 + 0.2, 1 / 3, 5e-324, 1e300, -0.0, 999_999_999_999_999.9, 1e15, 2**53 - 1, 1]
    records = [
        {
            "id": n,
            "updatedAt": moment,
            "lifeCycle": 2**53 - 1 - n,
            "x": [{"data": v, "expressedIn": {"code": "GRM"}} for v in numbers],
        }
        for n, moment in enumerate(moments)
    ]
    catalog = prodex.flatten(records)
    catalog.export(tmp_path, "xlsx")

    read = prodex.read_export(tmp_path)
    assert moments == [moment.isoformat() for moment in read.products["updated_at"]]
    assert_same(catalog, read)
