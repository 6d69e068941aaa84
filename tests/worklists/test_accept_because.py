"""The column "Accept because": a supplier's reason is asked about, and the analyst accepts the finding or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

import prodex
from prodex import Catalog
from prodex.cli import app
from prodex.errors import InputError
from prodex.quality import Audit

from .handling import key_at

TEXTS = [{"expressedIn": {"code": "fra-FR"}, "data": "RIZ BLANC LONG"}]
CHECKS: dict[str, Any] = {"names_not_in_capitals": {}, "valid_gtin": {}}


@pytest.fixture
def catalog() -> Catalog:
    """Return a snapshot of two products in capitals, of which one has a wrong GTIN."""
    records = [
        {"id": 1, "gtin": "03036811359935", "namePublicLong": TEXTS},
        {"id": 2, "gtin": "03036811359936", "namePublicLong": TEXTS},
    ]
    return prodex.flatten(records).save("shop")


def audited(catalog: Catalog) -> Audit:
    """Return its audit."""
    return prodex.audit(catalog, {"checks": CHECKS}, progress=False)


def filled(catalog: Catalog, folder: Path, **answers: dict[str, str]) -> Path:
    """Write worklists, and fill in columns of the first rows of the workbook; return its path."""
    audited(catalog).worklists(folder, progress=False)
    path = folder / "no_owner.xlsx"
    book = load_workbook(path)
    sheet = book["To fix"]
    headings = {cell.value: cell.column for cell in sheet[1]}
    for heading, by_problem in answers.items():
        for row in range(2, sheet.max_row + 1):
            key = f"{sheet.cell(row, headings['GTIN']).value} {key_at(sheet, row).check}"
            if key in by_problem:
                sheet.cell(row, headings[heading.replace("_", " ")]).value = by_problem[key]
    book.save(path)
    return path


FIRST, SECOND = "03036811359935 names_not_in_capitals", "03036811359936 valid_gtin"


@pytest.mark.slow
def test_a_reason_needs_confirmation_with_the_words(catalog: Catalog, tmp_path: Path) -> None:
    """It is accepted neither by reading nor by confirming, and the rows are counted."""
    path = filled(catalog, tmp_path / "w", Accept_because={FIRST: "our brand is in capitals"})

    fix = prodex.read_worklist(path, catalog, profile=_profile())

    assert [("needs confirmation", "our brand is in capitals", "1")] == list(
        fix.requests[["state", "answer", "product_id"]].itertuples(index=False, name=None)
    )
    assert 'The supplier asks to accept this finding: "our brand' in fix.needs_confirmation["reason"].iloc[0]
    assert {"needs confirmation": 1} == dict(fix.counts)
    assert [3, 1, 2] == fix.row_counts[["rows", "needs confirmation", "without an answer"]].iloc[0].tolist()
    assert fix.accepted.empty
    assert fix.notes.empty
    fix.confirm()
    assert {"needs confirmation": 1} == dict(fix.counts)
    with pytest.raises(InputError, match=r"fix\.accept"):
        fix.confirm(fix.needs_confirmation)
    assert 0 == audited(catalog).summary["accepted"]


def _profile() -> prodex.Profile:
    return prodex.Profile.read({"checks": CHECKS})


@pytest.mark.slow
def test_one_call_accepts_it(catalog: Catalog, tmp_path: Path) -> None:
    """The words are quoted, and the analyst is who decided."""
    path = filled(
        catalog, tmp_path / "w", Accept_because={FIRST: "our brand\nis in capitals", SECOND: "printed so"}
    )
    fix = prodex.read_worklist(path, catalog, profile=_profile())

    made = fix.accept(fix.requests[fix.requests["product_id"] == "1"], by="Ana", until="2099-01-01")

    assert [('"our brand is in capitals" (no_owner.xlsx)', "Ana")] == list(
        made.failures(accepted=True)[["accepted", "accepted_by"]].itertuples(index=False, name=None)
    )
    assert {"unchanged": 1, "needs confirmation": 1} == dict(fix.counts)
    assert 1 == audited(catalog).summary["accepted"]
    with pytest.raises(InputError, match="nothing that is open"):
        fix.accept(fix.requests)
    fix.accept(by="Ana")
    assert 2 == audited(catalog).summary["accepted"]
    with pytest.raises(InputError, match="Nobody asks"):
        fix.accept()


@pytest.mark.slow
def test_a_finding_that_has_changed_is_not_accepted(catalog: Catalog, tmp_path: Path) -> None:
    """The supplier has seen another value."""
    path = filled(catalog, tmp_path / "w", Accept_because={SECOND: "printed so"})
    newer = prodex.flatten([{"id": 2, "gtin": "03036811359937", "namePublicLong": TEXTS}]).save("shop")

    fix = prodex.read_worklist(path, newer, profile=_profile())

    assert 1 == len(fix.requests)
    if fix.requests["state"].iloc[0] == "needs confirmation":
        with pytest.raises(InputError, match="not there any more"):
            fix.accept()
    assert 0 == audited(newer).summary["accepted"]


@pytest.mark.slow
def test_a_value_beside_it_is_an_answer_of_its_own(catalog: Catalog, tmp_path: Path) -> None:
    """Both are said; nothing is lost."""
    path = filled(
        catalog,
        tmp_path / "w",
        Accept_because={FIRST: "it is our brand"},
        New_value={FIRST: "Riz blanc long"},
    )

    fix = prodex.read_worklist(path, catalog, profile=_profile())

    assert {"needs confirmation": 1, "accepted": 1} == dict(fix.counts)


@pytest.mark.slow
def test_what_is_accepted_is_not_asked_of_suppliers(catalog: Catalog, tmp_path: Path) -> None:
    """The worklist says how many were left out, and why."""
    audit = audited(catalog)
    audit = prodex.accept(audit, audit.failures(check="names_not_in_capitals"), reason="our brand", by="Ana")

    index = audit.worklists(tmp_path / "w", progress=False)

    assert [3] == audit.worklists(tmp_path / "all", accepted=True, progress=False)["findings"].tolist()
    assert [1] == index["findings"].tolist()
    book = load_workbook(tmp_path / "w" / "no_owner.xlsx")
    words = " ".join(str(cell) for row in book["Read me"].iter_rows(values_only=True) for cell in row if cell)
    assert "2 findings that were accepted: our brand (Ana, 2)." in words


@pytest.mark.slow
def test_a_worklist_without_the_column_reads_as_ever(catalog: Catalog, tmp_path: Path) -> None:
    """Those that were written before have none."""
    rows = audited(catalog).worklist_rows().drop(columns="accept_because")
    rows.loc[rows["gtin"] == "03036811359935", "new_value"] = "Riz blanc long"
    rows.to_csv(tmp_path / "answers.csv", index=False)

    fix = prodex.read_worklist(tmp_path / "answers.csv", catalog, profile=_profile())

    assert {"accepted": 1} == dict(fix.counts)
    assert fix.requests.empty


@pytest.mark.slow
def test_the_command_accepts_as_well(catalog: Catalog, tmp_path: Path) -> None:
    """Without --accept it exits with 1, as for everything that needs confirmation."""
    (tmp_path / "own.toml").write_text("[checks.names_not_in_capitals]\n[checks.valid_gtin]\n")
    path = filled(catalog, tmp_path / "w", Accept_because={FIRST: "our brand"})
    words = [
        "fix",
        str(path),
        "--snapshot",
        "shop",
        "--profile",
        str(tmp_path / "own.toml"),
        "--show",
        "needs-confirmation",
    ]

    before = CliRunner().invoke(app, words)
    after = CliRunner().invoke(app, [*words, "--accept"])

    assert (1, 0) == (before.exit_code, after.exit_code)
    assert "our brand" in before.output
    assert "1 finding of these products accepted" in after.output
    assert ["in force"] == prodex.accepted("shop")["state"].tolist()
