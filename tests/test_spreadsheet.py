"""Text in a spreadsheet: no cell runs, whatever separates cells there, and every text comes back as it was."""

from __future__ import annotations

import csv
import io
import time
import unicodedata
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.cli.output import Format, show
from prodex.formats.csv_files import write_csv
from prodex.formats.formulas import escape_formulas as escaped
from prodex.formats.formulas import unescape_formulas as unescaped
from prodex.formats.xlsx_files import write_xlsx
from tests.cases import each_row

#: What a supplier could type, with a formula behind everything that a spreadsheet splits at or drops.
ATTACKS = [
    "=1+1",
    "x;=HYPERLINK(1)",
    'x;"=1+1',
    'x;""=1+1',
    "x;",
    'x;"',
    '";=1',
    "x\t=1",
    "x\n=1",
    "x\r\n=1",
    "x\r=1",
    "\x00=1",
    "\u200b=1",
    "\ufeff\t =1",
    "x; \u202e=1",
    "＝1+1",
    "x;＋1",
    "－1",
    "＠SUM(1)",
    "−1",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "'=1",
    "''=1",
    ";=1",
    ";;=1",
    "a,=1",
    "\t",
    "",
    "plain",
    "- sugar\n- salt",
]
PIECES = [
    "=",
    "+",
    "-",
    "@",
    "＝",
    "−",
    ";",
    ",",
    "\t",
    "\n",
    "\r",
    '"',
    "'",
    " ",
    "\x00",
    "\u200b",
    "\xa0",
    "a",
    "1",
]
texts = st.one_of(
    st.sampled_from(ATTACKS), st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.text()
)
tables = st.lists(st.tuples(*[st.one_of(st.none(), texts)] * 3), min_size=1, max_size=4)


def runs(cell: str) -> bool:
    """Whether a spreadsheet may take a cell for a formula: what it drops is dropped, and what it folds is folded."""
    seen = (c for c in cell if unicodedata.category(c) not in {"Cc", "Cf", "Zs", "Zl", "Zp"})
    first = next(seen, "")
    return unicodedata.normalize("NFKC", first).replace("\u2212", "-")[:1] in {"=", "+", "-", "@"} and bool(
        first
    )


def cells_that_run(content: str) -> list[tuple[str, str]]:
    """Open a file as people do whose list separator is a comma, a semicolon or a tab."""
    return [
        (separator, cell)
        for separator in ",;\t"
        for row in csv.reader(io.StringIO(content, newline=""), delimiter=separator)
        for cell in row
        if runs(cell)
    ]


@given(texts)
def test_every_text_comes_back_as_it_was(text: str) -> None:
    """The escape can be undone exactly, also of texts that look escaped."""
    assert text == unescaped(escaped(text))
    assert text == unescaped(unescaped(escaped(escaped(text))))


@given(tables)
@example([("a", 'x;"', "=1")])
def test_no_cell_of_an_export_for_spreadsheets_runs(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str | None, ...]]
) -> None:
    """Whatever separates cells where the file is opened; and a reader gets every text and every null back."""
    path = tmp_path_factory.mktemp("safe") / "table.csv"
    storable = [
        [None if one is None else one.encode("utf-8", "replace").decode() for one in row] for row in rows
    ]
    names = ["a", "b", "c"]
    table = pa.table([pa.array(column, pa.string()) for column in zip(*storable, strict=True)], names=names)

    write_csv(iter(table.to_batches()), table.schema, path, escape_formulas=True)

    content = path.read_bytes().decode()
    assert [] == cells_that_run(content)
    _, *read = csv.reader(io.StringIO(content, newline=""))
    assert [["" if one is None else one for one in row] for row in storable] == [
        [unescaped(cell) for cell in row] for row in read
    ]


def test_names_of_columns_do_not_run_either(tmp_path: Path) -> None:
    """Suppliers name attributes, and `presence` has a column for each."""
    path = tmp_path / "table.csv"
    table = pa.table([pa.array(["a"])] * len(ATTACKS), names=ATTACKS)

    write_csv(iter(table.to_batches()), table.schema, path, escape_formulas=True)

    assert [] == cells_that_run(path.read_bytes().decode())


@each_row("kind", ["str", "object", "category"])
def test_csv_of_the_command_line_runs_nothing(kind: str, tmp_path: Path) -> None:
    """`--format csv --out FILE` is opened in a spreadsheet; each text can be had back, and `csv-verbatim` keeps it."""
    frame = pd.DataFrame({"=name;=1": ATTACKS, "n": range(len(ATTACKS))}).astype({"=name;=1": kind})
    frame["listed"] = [[text] for text in ATTACKS]

    show(frame, Format.CSV, tmp_path / "safe.csv")
    show(frame, Format.CSV_VERBATIM, tmp_path / "verbatim.csv")

    assert [] == cells_that_run((tmp_path / "safe.csv").read_bytes().decode())
    for name, read_as in (("safe", unescaped), ("verbatim", str)):
        with (tmp_path / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            _, *rows = csv.reader(file)
        assert ATTACKS == [read_as(row[0]) for row in rows]


@pytest.mark.slow
def test_every_file_of_a_folder_of_worklists_is_safe(tmp_path: Path) -> None:
    """Its only CSV file is the index, in which every text of others can be had back."""
    prodex.packs.rule(title="Everything is wrong")(nothing_is_right)
    records = [
        {
            "id": number,
            "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": text}],
            "owner": {"id": f"{text}{number}", "name": text},
        }
        for number, text in enumerate(ATTACKS)
    ]
    audit = prodex.audit(prodex.flatten(records), {"checks": {"nothing_is_right": {}}})

    index = audit.worklists(tmp_path / "out")

    assert ["index.csv"] == [path.name for path in (tmp_path / "out").glob("*.csv")]
    assert not cells_that_run((tmp_path / "out" / "index.csv").read_bytes().decode())
    with (tmp_path / "out" / "index.csv").open(encoding="utf-8", newline="") as file:
        assert index["label"].fillna("").tolist() == [unescaped(row["label"]) for row in csv.DictReader(file)]


def nothing_is_right(products: prodex.quality.products.Products) -> prodex.packs.Verdict:  # type: ignore[name-defined]
    """Fail everything, with its name as what was seen."""
    every = list(range(len(products)))
    evidence = prodex.packs.Evidence(every, value=products.name, reason=products.name)
    return prodex.packs.Verdict([True] * len(products), evidence=evidence)


#: What XML, Excel's codes of characters and XlsxWriter's rich texts could make something else of.
SPELLED = [
    "_x0041_",
    "_x0041_x0042_",
    "_x005F_x0041_",
    "<r><t>rich</t></r>",
    '<r><t>1</t></r></is></c><c r="Z9"><f>1+1</f><v>2</v></c><c t="inlineStr"><is><r><t>x</t></r>',
    "{=1+1}",
    "a\rb\x00\x0b\x1b",
    "]]>",
    "&amp;",
    *ATTACKS,
]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(SPELLED), texts, st.from_regex("(<r>)?(_?x00[45]1_){1,3}(</r>)?", fullmatch=True)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_a_workbook_gives_every_text_back_and_runs_none(
    tmp_path_factory: pytest.TempPathFactory, some: list[str]
) -> None:
    """Read from the XML by the rules of the standard: no formula, no markup, no character that became another."""
    path = tmp_path_factory.mktemp("book") / "table.xlsx"
    storable = [one.encode("utf-8", "replace").decode().translate({0xFFFE: "x", 0xFFFF: "x"}) for one in some]
    table = pa.table({"text": pa.array(storable, pa.string())})

    write_xlsx(iter(table.to_batches()), table.schema, path)

    assert ["text", *storable] == texts_of(path)


def texts_of(path: Path) -> list[str]:
    """Return the texts of a workbook's first sheet, and see that there is nothing but text."""
    import re

    ns = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            if name.endswith(".xml"):
                assert not [
                    e
                    for e in ET.fromstring(book.read(name)).iter()
                    if e.tag in {f"{ns}f", f"{ns}hyperlink", f"{ns}r"}
                ], name
        sheet = ET.fromstring(book.read("xl/worksheets/sheet1.xml"))
    found = [cell.findtext(f"{ns}is/{ns}t") or "" for cell in sheet.iter(f"{ns}c")]
    return [re.sub("_x([0-9A-Fa-f]{4})_", lambda code: chr(int(code[1], 16)), one) for one in found]


def test_long_runs_take_no_time() -> None:
    """A text of 20,000 separators is escaped in a moment, with a sign at its end and without."""
    begun = time.process_time()
    for text in ("\n" * 20_000 + "=", "\n;" * 20_000, " '" * 20_000 + "x", "=-" * 20_000):
        assert text == unescaped(escaped(text))
    assert time.process_time() - begun < 2


@pytest.mark.slow
def test_every_sign_and_every_invisible_character_is_known() -> None:
    """Those of which Unicode says so: what is compatible with a sign, and what is white space, control or format."""
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    signs = [c for c in every if unicodedata.normalize("NFKC", c)[:1] in {"=", "+", "-", "@"}]
    invisible = [c for c in every if unicodedata.category(c) in {"Cc", "Cf", "Zs", "Zl", "Zp"}]

    assert [] == [c for c in signs if escaped(c) == c]
    assert [] == [hex(ord(c)) for c in invisible if not escaped(f"{c}=1").startswith("'")]
