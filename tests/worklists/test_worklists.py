"""Worklists: every failure once, in a workbook that shows text as text and takes new values in."""

from __future__ import annotations

import email
import email.policy
import json
import re
import shutil
import xml.etree.ElementTree as ET
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError, QueryError
from prodex.formats.workbook_cells import LONGEST
from prodex.formats.workbook_writing import all_spelled, spelled
from prodex.languages import Translation
from prodex.quality.audit import Audit
from prodex.quality.scores import CAVEAT, FORMULA
from prodex.worklists.answer_fields import Fields
from prodex.worklists.grid import fit_text, fit_texts
from prodex.worklists.layout import SEVERAL_SHEET, TO_FIX, WORKLIST
from prodex.worklists.rows import file_names
from prodex.worklists.sheets import Worklist, WorklistFacts
from prodex.worklists.workbook import write_workbook
from prodex_sandbox.sample import AS_OF
from tests.quality.workbooks import keys, sheets, to_fix, validations, xml

CORE = {
    "checks": {
        "valid_gtin": {"severity": "blocker"},
        "required_text": {
            "attribute": ["namePublicLong", "namePublicShort", "description"],
            "language": "fr",
        },
        "has_front_packshot": {"severity": "info"},
    }
}


#: What makes a product a food that consumers buy.
FOOD = {"isConsumerUnit": True, "GPC": {"code": "50000001"}}


def text(data: str, code: str = "fra-FR") -> dict[str, Any]:
    return {"expressedIn": {"code": code}, "data": data}


def own_rule(attribute: str | None, language: str | None = None, value: str | None = None) -> Any:
    """Declare a rule that fails for everything, with evidence as given."""

    @prodex.packs.rule(title="nothing is right", fix="Mend it.")
    def nothing_is_right(products: Any) -> prodex.packs.Verdict:
        everything = list(range(len(products)))
        return prodex.packs.Verdict(
            [True] * len(products),
            evidence=prodex.packs.Evidence(everything, attribute, language, value, "as told"),
        )

    return nothing_is_right


def audited(*records: dict[str, Any], checks: Any = None) -> Audit:
    return prodex.audit(prodex.flatten(records), checks or CORE, now=AS_OF)


SMALL = [
    {"id": 1, "gtin": "03036811359935", "owner": {"id": 4, "name": "Mill"}, "isConsumerUnit": True},
    {"id": 2, "gtin": "03036811359936", "owner": {"id": 4, "name": "Mill"}, "namePublicLong": [text("Pain")]},
    {
        "id": 3,
        "gtin": "03036811359935",
        "owner": {"id": 5, "name": "Mill"},
        "updatedAt": "2026-10-01T08:00:00",
    },
    {"id": 4, "gtin": "03036811359935"},
]


def test_each_owner_has_a_workbook_and_a_mail_and_programs_have_its_rows(tmp_path: Path) -> None:
    """Groups are made by code, never by label; products without an owner have a worklist of their own."""
    audit = audited(*SMALL)

    index = audit.worklists(tmp_path / "to_fix")

    there = {path.name for path in (tmp_path / "to_fix").iterdir()}
    stems = ["Mill-4", "Mill-5", "no_owner"]
    assert {f"{s}.{e}" for s in stems for e in ("xlsx", "eml")} | {
        "index.csv",
        "worklists.json",
    } == there
    assert [("4", 7), ("5", 3), (None, 3)] == [
        (None if pd.isna(code) else code, count)
        for code, count in zip(index["code"], index["findings"], strict=True)
    ]
    for stem, owner in zip(stems, ["4", "5", None], strict=True):
        rows = audit.worklist_rows(owner)
        assert WORKLIST.names == rows.columns.tolist()
        filled = to_fix(tmp_path / "to_fix" / f"{stem}.xlsx")
        for name in (
            "product_id",
            "gtin",
            "check",
            "attribute",
            "language",
            "severity",
            "value",
            "reason",
        ):
            expected = ["" if pd.isna(one) else str(one) for one in rows[name]]
            # People read the name of a language.
            shown = ["French" if name == "language" and one == "fr" else one for one in expected]
            assert shown == [one[name] for one in filled], name


def test_the_worst_stand_first_then_product_by_product(tmp_path: Path) -> None:
    """Rows are sorted by severity, then in the order of the catalogue, then in that of the profile."""
    audited(*SMALL).worklists(tmp_path / "all", by="validation_status")

    rows = pd.DataFrame(to_fix(tmp_path / "all" / "no_validation_status.xlsx"))
    order = ["blocker", "error", "warning", "info"]
    found = [
        (order.index(severity), int(product)) for severity, product in rows[["severity", "product_id"]].values
    ]
    assert sorted(found) == found


def test_gtins_are_text_and_new_values_are_empty(tmp_path: Path) -> None:
    """No leading zero is lost, and each cell to fill in has the format of text."""
    audited(*SMALL).worklists(tmp_path / "out")
    path = tmp_path / "out" / "Mill-4.xlsx"

    assert {"03036811359935", "03036811359936"} == {row["gtin"] for row in to_fix(path)}
    assert {""} == {row["new_value"] for row in to_fix(path)}
    assert not re.search(r"<f>|<v>", xml(path, "To fix"))
    assert [column.heading for column in TO_FIX] == sheets(path)["To fix"][0]


def test_the_sheets_say_what_they_are(tmp_path: Path) -> None:
    """Where it comes from, how to fill it in, formula and caveat, what was left out and why."""
    audit = audited(*SMALL)
    audit.worklists(tmp_path / "out", severity=["blocker", "error"])
    path = tmp_path / "out" / "Mill-4.xlsx"

    assert ["Read me", "Summary", "To fix", "prodex"] == list(sheets(path))
    said = "\n".join(row[0] for row in sheets(path)["Read me"])
    every = len(audit.failures())
    for words in (
        "What to fix: Mill (4)",
        "2 of 2 products have something to fix: 6 findings in 6 failing checks.",
        "ready 1, not ready 1, undecided 0 of 2: by all checks of the profile",
        "Catalogue: records, 4 products, complete",
        f"Profile: own, 5 checks, rule set {audit.rule_set}",
        "as of 2026-11-01 06:00",
        f"1 of {every} findings of the audit: only those with severity = ['blocker', 'error'] were selected.",
        FORMULA,
        CAVEAT,
    ):
        assert words in said, words
    summary = [row for row in sheets(path)["Summary"] if row[0] in {"blocker", "error"}]
    assert [
        ["blocker", "GTIN missing or wrong", 1.0, 1.0, "valid_gtin"],
        ["error", "Description missing in French", 2.0, 2.0, "required_text[description,fr]"],
        ["error", "Short name missing in French", 2.0, 2.0, "required_text[namePublicShort,fr]"],
        ["error", "Long name missing in French", 1.0, 1.0, "required_text[namePublicLong,fr]"],
    ] == [[row[0], row[1], row[3], row[4], row[6]] for row in summary]


def test_an_update_that_waits_a_crash_and_what_is_unknown_are_said(tmp_path: Path) -> None:
    """Whoever fills it in knows what was not looked at."""

    @prodex.packs.rule(title="it raises", fix="Mend it.")
    def it_raises(products: Any) -> prodex.packs.Verdict:
        raise ZeroDivisionError(str(len(products)))

    waiting = {**SMALL[1], "isConsumerUnit": False, "lastRequest": {"description": [text("Pain")]}}
    checks = {"checks": CORE["checks"] | {"it_raises": {}}}
    audited(waiting, checks=checks).worklists(tmp_path / "out")

    said = "\n".join(row[0] for row in sheets(tmp_path / "out" / "Mill-4.xlsx")["Read me"])
    assert "1 product has an update that waits for acceptance; it was not judged." in said
    assert "1 checks crashed: it_raises." in said
    assert "1 results of the audit are unknown" in said


def test_programs_find_the_rows_again(tmp_path: Path) -> None:
    """The hidden sheet names the audit and the columns."""
    audit = audited(*SMALL)
    audit.worklists(tmp_path / "out")
    told = keys(tmp_path / "out" / "Mill-4.xlsx")

    assert (5, "owner") == (told["format"], told["by"])
    assert (audit.profile, audit.audited_at.isoformat()) == (told["profile"], told["audited_at"])
    assert 'name="prodex" sheetId="4" state="hidden"' in _part(
        tmp_path / "out" / "Mill-4.xlsx", "xl/workbook.xml"
    )
    manifest = json.loads((tmp_path / "out" / "worklists.json").read_text("utf-8"))
    assert ["Mill-4.xlsx", "Mill-5.xlsx", "no_owner.xlsx"] == [one["file"] for one in manifest["worklists"]]


def test_rows_say_which_text_they_mean(tmp_path: Path) -> None:
    """A row refers to the text with the value seen, by language and position; equal texts are distinguished."""

    @prodex.packs.rule(title="no bread twice", fix="Mend it.")
    def no_bread_twice(products: Any) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(
            [True], evidence=prodex.packs.Evidence([0, 0], "synonyms.text", "fr", "Pain", "again")
        )

    synonyms = [{"text": [text("Miche"), text("Pain")]}, {"text": [text("Pain"), text("Bread", "eng-GB")]}]
    record = {"id": 1, "synonyms": synonyms, "updatedAt": "2026-10-01T08:00:00"}
    audit = audited(record, checks={"checks": {"no_bread_twice": {}}})
    audit.worklists(tmp_path / "one")

    rows = audit.worklist_rows().to_dict("records")
    assert [("fra-FR", "0.1"), ("fra-FR", "1.0")] == [(row["language_code"], row["position"]) for row in rows]
    shown = to_fix(tmp_path / "one" / "no_owner.xlsx")
    assert ["2026-10-01T08:00:00"] * 2 == [row["updated_at"] for row in shown]
    assert ["0.1", "1.0"] == [row["position"] for row in shown]


def test_a_row_never_means_a_text_in_another_language(tmp_path: Path) -> None:
    """Three checks find the same copy of a French text labelled Spanish: each row names the place of its language."""
    copy = "Biscuits secs au zeste de citron, que toute la famille appréciera au petit déjeuner ou en pique-nique."

    @prodex.packs.rule(title="nobody picnics", fix="Mend it.")
    def nobody_picnics(products: Any) -> prodex.packs.Verdict:
        # Two findings about one text, one of them with the whole code of the language.
        languages = ["es", "spa-ES"]
        return prodex.packs.Verdict(
            [True], evidence=prodex.packs.Evidence([0, 0], "description", languages, copy, ["pique", "nique"])
        )

    record = {"id": 1, "description": [text(copy), text("Crackers", "eng-GB"), text(copy, "spa-ES")]}
    checks = {"in_stated_language": {}, "translations_differ": {}, "nobody_picnics": {}}
    rows = audited(record, checks={"checks": checks}).worklist_rows().to_dict("records")
    found = [(row["check"], row["language"], row["language_code"], row["position"]) for row in rows]
    assert sorted(found) == [
        ("in_stated_language", "es", "spa-ES", "2"),
        ("nobody_picnics", "es", "spa-ES", "2"),
        ("nobody_picnics", "spa-ES", "spa-ES", "2"),
        ("translations_differ", "es", "spa-ES", "2"),
        ("translations_differ", "fr", "fra-FR", "0"),
    ]


def test_the_only_text_in_a_language_is_meant_whatever_was_seen(tmp_path: Path) -> None:
    """Where there are several and none reads like that, no position is made up."""
    own_rule("namePublicLong", "fr")
    records = [
        {"id": 1, "namePublicLong": [text("Bread", "eng-GB"), text("Pain")]},
        {"id": 2, "namePublicLong": [text("Miche"), text("Pain")]},
    ]
    rows = audited(*records, checks={"checks": {"nothing_is_right": {}}}).worklist_rows()
    places = rows[["language_code", "position"]].astype(object)
    assert [["fra-FR", "1"], [None, None]] == places.where(places.notna(), None).values.tolist()


def test_a_row_that_shows_a_word_shows_the_text_that_an_answer_replaces(tmp_path: Path) -> None:
    """Oats are named in the ingredients and not listed: who answers "oats" alone would delete milk from the list."""
    composition = "Farine d'avoine, lait écrémé en poudre, sucre et sel."
    long = "Lait. " * 200
    records = [
        {"id": 1, "composition": [text(composition)], "allergens": [text("Contient : lait.")], **FOOD},
        {"id": 2, "composition": [text(composition)], "allergens": [text(long)], **FOOD},
    ]
    audit = audited(*records, checks={"checks": {"composition_allergens_listed": {}}})

    first, second = audit.worklist_rows().to_dict("records")
    assert (first["attribute"], first["value"], first["position"]) == ("allergens", "avoine", "0")
    assert first["how"] == "A text in French, in place of: Contient : lait."
    assert second["how"].endswith(f"in place of: {long[:500]}… (500 of 1,200 characters)")


def test_cells_know_what_may_stand_in_them(tmp_path: Path) -> None:
    """Lengths of texts, true or false, codes in use; what no cell can correct is locked."""
    records = [
        {"id": 1, "gtin": "1", "kind": {"code": "TOFU", "label": "=Tofu"}},
        {"id": 2, "gtin": "2", "kind": {"code": 12}},
    ]
    wanted = {"isConsumerUnit": None, "kind": None, "composition": "fr", "assets.pictures": None}
    for number, (attribute, language) in enumerate(wanted.items()):
        rule = own_rule(attribute, language)
        rule.__name__ = f"own_{number}"
        prodex.packs.rule(title="nothing is right", fix="Mend it.")(rule)
    checks = CORE["checks"] | {f"own_{number}": {} for number in range(len(wanted))}
    audited(*records, checks={"checks": checks}).worklists(tmp_path / "out")
    path = tmp_path / "out" / "no_owner.xlsx"

    rows = to_fix(path)
    told: dict[tuple[str, str], list[dict[str, str]]] = {}
    for one in validations(path):
        for first, last in re.findall(r"F(\d+)(?::F(\d+))?", one["sqref"]):
            for number in range(int(first), int(last or first) + 1):
                row = rows[number - 2]
                told.setdefault((row["attribute"], row["language"]), []).append(one)
    said = {key: {(one.get("type"), one["formula"]) for one in found} for key, found in told.items()}
    assert {
        ("namePublicLong", "French"): {("textLength", "200")},
        ("namePublicShort", "French"): {("textLength", "35")},
        ("description", "French"): {("textLength", "20000")},
        ("composition", "French"): {("textLength", "20000")},
        ("isConsumerUnit", ""): {("list", '"true,false"')},
        ("kind", ""): {("list", "Codes!$B$2:$B$3")},
    } == said
    assert {2} == {len(found) for found in told.values()}
    assert all(one["prompt"] for one in validations(path))
    assert [["kind", "12", ""], ["kind", "TOFU", "=Tofu"]] == sheets(path)["Codes"][1:]
    assert "<sheetProtection sheet=" in xml(path, "To fix")
    assert "password" not in xml(path, "To fix")


def test_cells_that_can_be_filled_in_are_open_and_no_others(tmp_path: Path) -> None:
    """A name or the address of a picture can be written into its cell; a GTIN cannot, and its cell is locked."""
    audited(SMALL[1] | {"isConsumerUnit": True}).worklists(tmp_path / "out")
    path = tmp_path / "out" / "Mill-4.xlsx"
    styles = _part(path, "xl/styles.xml").split("<cellXfs")[1].split("<xf ")[1:]
    can_be_filled = {
        int(number) - 2: 'locked="0"' in styles[int(style)]
        for number, style in re.findall(r'<c r="F(\d+)" s="(\d+)"/>', xml(path, "To fix"))
    }

    assert [
        ("gtin", False),
        ("namePublicShort", True),
        ("description", True),
        ("assets.pictures.isPackshot", True),
    ] == [(row["attribute"], can_be_filled[place]) for place, row in enumerate(to_fix(path))]


@pytest.mark.slow
def test_very_many_cells_are_told_what_may_stand_in_them(tmp_path: Path) -> None:
    """Alternating kinds of rows make a range each; none is left out."""
    records = [{"id": number, "gtin": "1"} for number in range(1_200)]
    checks = {"valid_gtin": {}, "required_text": {"attribute": "nameLegal", "language": "fr"}}
    audited(*records, checks={"checks": checks}).worklists(tmp_path / "out")
    path = tmp_path / "out" / "no_owner.xlsx"

    told = [cell for one in validations(path) for cell in one["sqref"].split()]
    assert 1_200 == len(told) == len(set(told))
    assert {f"F{n}" for n, row in enumerate(to_fix(path), 2) if row["attribute"] == "nameLegal"} == set(told)
    assert '<dimension ref="A1:P2401"/>' in xml(path, "To fix")


HOSTILE = [
    '=HYPERLINK("http://example.com","x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "<r><t>x</t></r>",
    "<b onload='x'>&amp;</b>]]>",
    "_x0041_x0042_",
    " padded \n\ttwice ",
    "\u202egnp.exe \u0645\u0631\u062d\u0628\u0627",
    "$$\\int_0^1$$",
    "'quoted",
    "😀" * 50,
    "nul\x00 bell\x07 return\r\n \ufffe\uffff",
    "long " * 8_000,
    "😀" * 20_000,
    "../../etc/passwd",
    "CON",
    "9" * 5_000,
]


@pytest.mark.slow
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_shown_and_nothing_more(hostile: str, tmp_path: Path) -> None:
    """Hostile texts are written verbatim in every column, or marked as cut."""
    own_rule(hostile, hostile, hostile)
    record = {
        "id": hostile,
        "gtin": hostile,
        "namePublicLong": [{"expressedIn": {"code": hostile}, "data": hostile}],
        "owner": {"id": hostile, "name": hostile},
        "kind": {"code": hostile, "label": hostile},
        "product_key": {"target_market_id": hostile},
    }
    audit = audited(record, checks={"checks": {"nothing_is_right": {}}})

    index = audit.worklists(tmp_path / "out")

    assert 1 == len(audit.worklists(tmp_path / "by market", by="market"))
    (name,) = index["file"]
    path = tmp_path / "out" / name
    assert {path.parent} == {one.parent.resolve() for one in (tmp_path / "out").rglob("*")}
    (row,) = to_fix(path)
    shown, escaped, is_cut = fit_text(hostile)
    for column in ("gtin", "name", "language", "value"):
        assert shown == row[column], column
    assert row.get("attribute", hostile) == hostile  # a key that no cell could hold says nothing
    for sheet in sheets(path):
        ET.fromstring(xml(path, sheet))
        assert "<f>" not in xml(path, sheet)
        assert "<hyperlink" not in xml(path, sheet)
    (kept,) = audit.worklist_rows().to_dict("records")
    assert [hostile] * 3 == [kept[column] for column in ("product_id", "attribute", "value")]
    said = "\n".join(one[0] for one in sheets(path)["Read me"])
    assert bool(escaped) == ("control characters" in said)
    assert bool(is_cut) == ("longer than a cell" in said)
    assert (escaped > 0, is_cut) == (index["escaped_characters"][0] > 0, index["cut_texts"][0] > 0)


def test_what_is_cut_says_so() -> None:
    """A cell of 32,767 units is whole; a longer text states how much of it is shown."""
    whole, more = "x" * LONGEST, "x" * (LONGEST + 1)

    assert (whole, 0, False) == fit_text(whole)
    shown, _, is_cut = fit_text(more)
    assert is_cut
    assert len(shown) <= LONGEST
    faces, _, is_cut = fit_text("😀" * 20_000)
    assert is_cut
    assert len(faces.encode("utf-16-le")) <= 2 * LONGEST
    assert faces.endswith("… [16,348 of 20,000 characters]")
    assert shown.endswith(f"… [{LONGEST - 70:,} of 32,768 characters]")


@pytest.mark.slow
@given(
    st.lists(
        st.one_of(st.none(), st.text(), st.from_regex(r"(_x00[0-9A-F]{2}_?){1,3}", fullmatch=True)),
        max_size=4,
    )
)
def test_columns_are_cells_one_by_one(texts: list[str | None]) -> None:
    """The fast way agrees with the definition, and XML gives back what was put in."""
    storable = [None if one is None else one.encode("utf-8", "replace").decode() for one in texts]
    column = fit_texts(pa.array(storable, pa.string()))

    assert [None if one is None else fit_text(one)[0] for one in storable] == column.texts.to_pylist()
    written = all_spelled(column.texts).to_pylist()
    assert [None if one is None else spelled(fit_text(one)[0]) for one in storable] == written
    for shown, xml_text in zip(column.texts.to_pylist(), written, strict=True):
        if xml_text is not None:
            read = ET.fromstring(f"<t>{xml_text}</t>").text or ""
            assert shown == re.sub("_x([0-9a-fA-F]{4})_", lambda found: chr(int(found[1], 16)), read)


def test_more_rows_than_a_sheet_holds_go_on_in_the_next(tmp_path: Path) -> None:
    """None is lost, and the hidden sheet names all sheets."""
    rows = pa.Table.from_pandas(audited(*SMALL).worklist_rows(), WORKLIST, preserve_index=False)
    worklist = Worklist("owner", None, None, "all", rows, {})

    write_workbook(worklist, WorklistFacts({}, [], []), Fields(), {}, tmp_path / "small.xlsx", most_rows=6)

    assert ["To fix", "To fix 2", "To fix 3"] == keys(tmp_path / "small.xlsx")["sheets"]
    shown = [(row["gtin"], row["reason"]) for row in to_fix(tmp_path / "small.xlsx")]
    assert list(zip(rows["gtin"].to_pylist(), rows["reason"].to_pylist(), strict=True)) == shown


def test_names_of_files_are_told_apart() -> None:
    """Equal names, names that a disk cannot distinguish and reserved names get different files."""
    names = file_names(
        [
            ("1", "Acme"),
            ("1.", "Acme"),
            ("1", "ACME"),
            (None, None),
            ("no_owner", None),
            ("index", None),
            ("é" * 300, "漢" * 300),
        ],
        "owner",
        {"index"},
    )

    assert ["Acme-1", "Acme-1-2", "ACME-1-3", "no_owner", "no_owner-2", "index-2"] == names[:6]
    assert max(len(name.encode()) for name in names) < 200


@pytest.mark.slow
def test_a_folder_that_holds_anything_else_is_left_alone(tmp_path: Path) -> None:
    """Foreign files are never touched; worklists only where that is asked for."""
    audit, out = audited(*SMALL), tmp_path / "out"
    out.mkdir()
    audit.worklists(out)
    (out / "Mill-4.xlsx").write_bytes(b"filled in")

    with pytest.raises(InputError, match="replace=True"):
        audit.worklists(out)
    assert b"filled in" == (out / "Mill-4.xlsx").read_bytes()

    audit.worklists(out, replace=True, severity="blocker")
    assert {"Mill-4.xlsx", "Mill-4.eml", "index.csv", "worklists.json"} == {
        path.name for path in out.iterdir()
    }

    (out / "notes.txt").write_text("mine")
    before = sorted((path.name, path.read_bytes()) for path in out.iterdir())
    with pytest.raises(InputError, match=r"notes\.txt"):
        audit.worklists(out, replace=True)
    assert before == sorted((path.name, path.read_bytes()) for path in out.iterdir())
    assert {"out", "home"} >= {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
def test_an_interrupted_run_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fills up in the last file: no folder where there was none, the old one where there was one."""
    audit, out = audited(*SMALL), tmp_path / "out"
    write = Path.write_text

    def full(path: Path, *words: Any) -> int:
        if path.name == "worklists.json":
            raise OSError(28, "No space left on device")
        return write(path, *words)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(prodex.errors.StorageError, match="No space"):
        audit.worklists(out)
    assert [] == [path for path in tmp_path.iterdir() if path.name != "home"]
    monkeypatch.undo()
    audit.worklists(out)
    before = sorted((path.name, path.read_bytes()) for path in out.iterdir())
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(prodex.errors.StorageError):
        audit.worklists(out, replace=True)
    assert before == sorted((path.name, path.read_bytes()) for path in out.iterdir())


@pytest.mark.slow
def test_what_could_not_be_replaced_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk refuses the very last step, when the old worklists have already made room."""
    audit, out = audited(*SMALL), tmp_path / "out"
    audit.worklists(out)
    before = sorted((path.name, path.read_bytes()) for path in out.iterdir())
    rename = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if Path(target) == out and ".old." not in path.name:
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(prodex.errors.StorageError):
        audit.worklists(out, replace=True)

    assert before == sorted((path.name, path.read_bytes()) for path in out.iterdir())
    assert {"out", "home"} >= {path.name for path in tmp_path.iterdir()}


def test_nothing_to_mend_is_an_index_without_worklists(tmp_path: Path) -> None:
    """Without failures, or with an empty catalogue, the folder has an empty index."""
    for number, audit in enumerate([audited(), audited(SMALL[0], checks={"checks": {"valid_gtin": {}}})]):
        assert [] == audit.worklists(tmp_path / str(number))["file"].tolist()
        assert {"index.csv", "worklists.json"} == {path.name for path in (tmp_path / str(number)).iterdir()}


@pytest.mark.parametrize("option", ["format", "escape_formulas"])
def test_another_format_is_refused_and_the_words_name_the_rows(tmp_path: Path, option: str) -> None:
    """What a supplier gets is the workbook; a program takes the frame, which has each text as it is."""
    own_rule("description", "fr", "=1+1")
    audit = audited({"id": 1}, checks={"checks": {"nothing_is_right": {}}})
    with pytest.raises(InputError, match=r"audit\.worklist_rows\(owner"):
        audit.worklists(tmp_path / "out", **{option: "csv"})
    assert not (tmp_path / "out").exists()
    assert ["=1+1"] == audit.worklist_rows()["value"].tolist()


def test_no_owner_and_all_owners_are_two_choices() -> None:
    """None is the products without an owner; rows of several owners are those of each, and unknown owners are named."""
    audit = audited(*SMALL)
    none, mill, every = (
        audit.worklist_rows(None),
        audit.worklist_rows(owner=["4", None]),
        audit.worklist_rows(),
    )
    assert {"4"} == set(none["product_id"])
    assert {"1", "2", "4"} == set(mill["product_id"])
    assert (3, 10, 13) == (len(none), len(mill), len(every))
    assert [*range(1, 8), *range(1, 4), *range(1, 4)] == every["row"].tolist()
    with pytest.raises(InputError, match="'Mill' is the name of 2 owners"):
        audit.worklist_rows("Mill")
    with pytest.raises(InputError, match="has the owner 'Mll'"):
        audit.worklist_rows("Mll")


def test_a_saved_audit_without_its_catalogue_still_writes(home: Path, tmp_path: Path) -> None:
    """Columns that need the catalogue are empty, and Read me states it."""
    catalog = prodex.flatten(SMALL).save("gone")
    prodex.audit(catalog, CORE, now=AS_OF).save()
    assert catalog.folder is not None
    shutil.rmtree(catalog.folder)

    prodex.open_audit("gone").worklists(tmp_path / "out")

    said = "\n".join(row[0] for row in sheets(tmp_path / "out" / "Mill-4.xlsx")["Read me"])
    assert "the catalogue was not available" in said
    assert {""} == {row["updated_at"] for row in to_fix(tmp_path / "out" / "Mill-4.xlsx")}


def test_groups_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    """They are refused as scores refuses them, before anything is written."""
    with pytest.raises(QueryError, match="did you mean 'owner'"):
        audited(*SMALL).worklists(tmp_path / "out", by="ownr")
    assert not (tmp_path / "out").exists()


owners = st.sampled_from([None, "4", "5", "Mill", "mill", "../4", "=4"])
records = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "owner": st.fixed_dictionaries({"id": owners, "name": owners}),
            "gtin": st.sampled_from(["03036811359935", "1", "", None]),
            "kind": st.fixed_dictionaries({"code": owners}),
            "namePublicLong": st.lists(st.sampled_from(["Pain", "=1", ""]).map(text), max_size=3),
            "hasTags": st.lists(st.sampled_from([{"code": "a"}, {"code": "b"}]), max_size=2),
        },
    ),
    max_size=5,
)


@pytest.mark.slow
@given(some=records, by=st.sampled_from(["owner", "brand", "kind", "market", "language", "gpc_code"]))
def test_the_worklists_together_are_the_failures(some: list[dict[str, Any]], by: str, tmp_path: Path) -> None:
    """No finding is lost or repeated, whatever the grouping."""
    audit = audited(*({"id": number, **one} for number, one in enumerate(some, 1)))
    out = tmp_path / "out"
    shutil.rmtree(out, ignore_errors=True)

    index = audit.worklists(out, by)

    expected = audit.failures()
    # What is accepted is in no worklist, and suppliers are not told since when something is open.
    columns = list(expected.columns[: list(expected.columns).index("accepted")])
    rows = audit.worklist_rows()
    assert _counted(expected[columns]) == _counted(rows[columns])
    shown = [row for name in index["file"] for row in to_fix(out / name)]
    assert Counter(zip(rows["product_id"], rows["check"], strict=True)) == Counter(
        (row["product_id"], row["check"]) for row in shown
    )


def test_a_product_of_two_tags_stands_in_both_worklists_and_one_of_none_in_its_own(tmp_path: Path) -> None:
    """Tags overlap; every failure of a product is where its tags are."""
    tagged = [
        {"id": number, "gtin": "1", "hasTags": [{"tag": tag} for tag in tags]}
        for number, tags in ((1, "ab"), (2, ""))
    ]
    audit = audited(*tagged, checks={"checks": {"valid_gtin": {}}})

    index = audit.worklists(tmp_path / "out", by="tag")

    assert [("a", 1), ("b", 1), ("none", 1)] == list(
        index[["code", "findings"]].fillna("none").itertuples(index=False, name=None)
    )


@pytest.mark.slow
def test_the_sample_is_written_whole(sample: prodex.Catalog, tmp_path: Path) -> None:
    """All failures of a real profile are written, in workbooks that open."""
    audit = prodex.audit(sample, "core", now=AS_OF)
    index = audit.worklists(tmp_path / "out")
    assert (
        len(audit.failures())
        == index["findings"].sum()
        == sum(len(to_fix(tmp_path / "out" / f)) for f in index["file"])
    )


def _counted(frame: pd.DataFrame) -> Counter[tuple[Any, ...]]:
    return Counter(frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None))


def _part(path: Path, name: str) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(name).decode()


def _mail(folder: Path, file: str) -> tuple[str, str]:
    """Return subject and text of a mail."""
    mail = email.message_from_bytes((folder / file).read_bytes(), policy=email.policy.default)
    body = mail.get_body()
    assert body is not None
    return str(mail["Subject"]).replace("\u00a0", " "), body.get_content().replace("\u00a0", " ")


@pytest.mark.parametrize("products", [1, 2])
@pytest.mark.parametrize("language", ["en", "fr", "de", "nl"])
def test_the_sheet_for_several_rows_is_named_where_there_is_one(
    products: int, language: str, tmp_path: Path
) -> None:
    """A mail and a read-me sent suppliers to a sheet that their workbook does not have."""
    catalog = prodex.flatten({"id": number, "gtin": "03036811359935"} for number in range(products))
    audit = prodex.audit(catalog, {"checks": {"has_brand": {}}}, now=AS_OF)
    (line,) = audit.worklists(tmp_path / "out", language=language).to_dict("records")
    book = sheets(tmp_path / "out" / line["file"])
    name = Translation(language).gettext(SEVERAL_SHEET)
    read_me = "\n".join(str(cell) for row in next(iter(book.values())) for cell in row)
    _, body = _mail(tmp_path / "out", line["mail"])
    assert [products > 1] * 3 == [name in book, name in read_me, name in body]
    assert [str(number) for number in range(1, 4 + (products > 1))] == re.findall(
        r"^(\d)\. ", body, re.MULTILINE
    )


def test_a_mail_that_asks_for_nothing_asks_nobody_to_fill_in(tmp_path: Path) -> None:
    """A GTIN is corrected at its source: "0 answers asked for" and "write the correct value" said another thing."""
    audit = prodex.audit(prodex.flatten([{"id": 1, "gtin": "1"}]), {"checks": {"valid_gtin": {}}}, now=AS_OF)
    (line,) = audit.worklists(tmp_path / "out").to_dict("records")
    subject, body = _mail(tmp_path / "out", line["mail"])
    assert "Product data to correct: without owner" == subject
    assert "None asks for a new value" in body
    assert "write the correct value" not in body


def test_one_answer_and_one_product_are_one(tmp_path: Path) -> None:
    """The subject agrees in French, and so does the first sentence in English."""
    catalog = prodex.flatten([{"id": 1, "gtin": "03036811359935"}])
    audit = prodex.audit(catalog, {"checks": {"has_brand": {}}}, now=AS_OF)
    (french,) = audit.worklists(tmp_path / "fr", language="fr").to_dict("records")
    subject, _ = _mail(tmp_path / "fr", french["mail"])
    assert "Données produit à corriger : sans propriétaire, 1 réponse attendue" == subject
    (english,) = audit.worklists(tmp_path / "en").to_dict("records")
    subject, body = _mail(tmp_path / "en", english["mail"])
    assert subject.endswith("1 answer asked for")
    assert "1 of 1 product has something to fix: 1 finding in 1 failing check." in body
    read_me = "\n".join(
        str(cell) for row in sheets(tmp_path / "en" / english["file"])["Read me"] for cell in row
    )
    assert "Profile: own, 1 check, rule set" in read_me


def test_numbers_of_accepted_findings_are_written_as_the_reader_writes_them(tmp_path: Path) -> None:
    """A thousand findings of a reason were "1,000" in every language, which is one in French."""
    catalog = prodex.flatten({"id": number, "gtin": "03036811359935"} for number in range(1001))
    audit = prodex.audit(catalog, {"checks": {"has_brand": {}}}, now=AS_OF)
    accepted = prodex.accept(
        audit, audit.failures().head(1000), reason="agreed", by="Ana", to=tmp_path / "accepted.jsonl"
    )
    (line,) = accepted.worklists(tmp_path / "out", language="de").to_dict("records")
    read_me = "\n".join(
        str(cell) for row in sheets(tmp_path / "out" / line["file"])["Bitte lesen"] for cell in row
    )
    assert "1.000 Befunde, die hingenommen wurden: agreed (Ana, 1.000)." in read_me
