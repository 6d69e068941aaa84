"""Whose answer it is: a worklist changes what it asked for, of its owner, at the service of its products."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.errors import InputError, SnapshotNotFound
from prodex.sandbox import Sandbox
from tests.quality.workbooks import questions

from .bakery import Answer, stored
from .cheating import (
    CHEAT,
    CHEATS,
    GOOD,
    PROFILE,
    RECORDS,
    RIVAL,
    added,
    asked,
    cheated,
    returned,
    rows_of_rival,
)
from .handling import fill, key_at, place, rows_of

FIRST = RECORDS[0]["gtin"]


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve the products of two rivals."""
    with Sandbox(RECORDS) as sandbox:
        yield sandbox


@pytest.fixture
def service(exchange: Sandbox) -> prodex.service.Client:
    """Reach them."""
    key = exchange.credentials[0]
    return prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


@pytest.fixture
def catalog() -> prodex.Catalog:
    """Return the products of two rivals."""
    return prodex.flatten(RECORDS)


@pytest.fixture(scope="module")
def worklists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the worklists of all owners, that of the mill with one good answer."""
    return asked(prodex.flatten(RECORDS), tmp_path_factory.mktemp("whose") / "out").parent


@pytest.fixture
def worklist(worklists: Path, tmp_path: Path) -> Path:
    """Return the worklist of the mill, with one good answer, in a copy of its folder."""
    shutil.copytree(worklists, tmp_path / "out")
    (path,) = (tmp_path / "out").glob("Mill*.xlsx")
    return path


def read(path: Path, catalog: prodex.Catalog, **options: Any) -> prodex.worklists.Fix:
    """Read the answers that came back."""
    return prodex.read_worklist(returned(path), catalog, profile=PROFILE, **options)


@pytest.mark.slow
def test_an_honest_answer_is_taken(worklist: Path, catalog: prodex.Catalog) -> None:
    """Without any question, with file, sheet, cell and owner beside it."""
    fix = read(worklist, catalog)
    assert {"accepted": 1} == dict(fix.counts), fix.answers["reason"].tolist()
    (row,) = fix.preview().to_dict("records")
    assert ("Mill", GOOD, "To fix", "F4") == tuple(row[name] for name in ("owner", "after", "sheet", "cell"))
    assert row["file"].endswith("Mill-4.xlsx") or row["file"].endswith("Mill.xlsx")


#: Where it is in doubt for whom the whole workbook was written, the good answer in it needs confirmation as well.
DOUBTED = {
    "another_owner_in_the_hidden_sheet",
    "no_owner_in_the_hidden_sheet",
    "the_seal_removed",
}
#: Without the number of its layout nobody knows what the hidden sheet says.
_NO_LAYOUT = "no_layout_and_no_marks"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CHEATS if name != _NO_LAYOUT])
def test_what_nobody_asked_for_needs_confirmation(name: str, worklist: Path, catalog: prodex.Catalog) -> None:
    """With file, sheet, cell and owner; nothing of it is sent before somebody confirms it. The good answer is taken."""
    CHEATS[name](worklist, worklist.parent)
    fix = read(worklist, catalog)
    rows = list(cheated(fix))
    assert {row["state"] for row in rows} <= {"needs confirmation", "refused", "conflict"}, rows
    needs_confirmation = [row for row in rows if row["state"] == "needs confirmation"]
    # The catalogue has no country for that language, so that this one is refused before anything is asked.
    assert rows
    assert needs_confirmation or name == "the_language_of_a_row_changed"
    for row in rows:
        assert row["owner"] in {"Mill", "Oven"}
        assert all(row[one] for one in ("file", "sheet", "row", "cell")) or row["file"].endswith(".csv")
    assert all(row["owner"] in row["reason"] for row in needs_confirmation)
    (state,) = fix.answers[fix.answers["answer"] == GOOD]["state"]
    assert ("needs confirmation" if name in DOUBTED else "accepted") == state
    sent = [] if fix._judged is None else fix._judged.changes.records
    assert CHEAT.casefold() not in str(sent).casefold()
    assert {record["gtin"] for record in sent} <= {FIRST}
    assert all(set(record) <= {"gtin", "namePublicLong"} for record in sent)
    assert not needs_confirmation or f"{len(fix.needs_confirmation)} to be confirmed" in repr(fix)
    fix.confirm()
    assert not len(fix.needs_confirmation)
    # Whoever knows the sender names him: then nothing of others is taken, confirmed or not.
    fix = prodex.read_worklist(worklist.parent / "back", catalog, profile=PROFILE, owner="mill")
    assert all(row["owner"] == "Mill" or row["state"] in {"refused", "unchanged"} for row in cheated(fix))
    if len(fix.needs_confirmation):
        fix.confirm()
    assert set(fix.accepted["owner"]) <= {"Mill"}


def test_a_workbook_without_the_number_of_its_layout_is_refused_as_a_whole(
    worklist: Path, catalog: prodex.Catalog
) -> None:
    """No answer of it is read, the good one as little as the others, and the reason says what to do."""
    CHEATS[_NO_LAYOUT](worklist, worklist.parent)
    fix = read(worklist, catalog)
    (row,) = fix.answers.to_dict("records")
    assert ("refused", None) == (row["state"], row["answer"])
    assert "has no layout number" in row["reason"]
    assert "Write the worklist anew" in row["reason"]


@pytest.mark.slow
def test_nothing_of_a_rival_is_changed_at_the_service(service: prodex.service.Client, tmp_path: Path) -> None:
    """All ways together, applied: the record of the rival is what it was."""
    catalog = prodex.load_products(service, name="rivals", progress=False)
    before = {one["gtin"]: stored(service, one["gtin"]) for one in RECORDS}
    back = tmp_path / "back"
    back.mkdir()
    worklist = asked(catalog, tmp_path / "out")
    for number, (name, does) in enumerate(CHEATS.items()):
        copy = back / f"{number:02} {name}.xlsx"
        copy.write_bytes(worklist.read_bytes())
        does(copy, worklist.parent)
    fix = prodex.read_worklist(back, catalog, profile=PROFILE)
    assert fix.rows == int(fix.row_counts.drop(columns=["file", "sheet", "rows"]).sum().sum())
    fix.apply(service, progress=False).wait(progress=False)
    after = {one["gtin"]: stored(service, one["gtin"]) for one in RECORDS}
    moved = {
        (gtin, name)
        for gtin in before
        for name in before[gtin]
        if before[gtin][name] != after[gtin].get(name)
    }
    assert moved - {(FIRST, "updatedAt")} <= {(FIRST, "namePublicLong")}


def test_worklists_that_were_merged_are_both_ours(worklist: Path, catalog: prodex.Catalog) -> None:
    """The worklist of another owner in a sheet of its own is taken, and it is said first that there are two owners."""
    book = load_workbook(worklist)
    sheet = book.create_sheet("To fix (2)")
    for row in rows_of_rival(worklist.parent)[:2]:
        sheet.append(row)
    at = place(sheet, "New value")
    sheet.cell(2, at).value = "Brioche au beurre du four"
    book.save(worklist)
    fix = read(worklist, catalog)
    assert {"accepted": 2} == dict(fix.counts), fix.answers["reason"].tolist()
    assert str(fix).startswith("Fix for products of 2 owners: 2 answers")
    assert ["Mill", "Oven"] == sorted(fix.owners["owner"])
    assert {"Mill", "Oven"} == set(fix.preview()["owner"])


@pytest.mark.slow
@pytest.mark.parametrize("by", ["brand", "market", "language", "kind"])
def test_worklists_of_other_groups_have_products_of_several_owners(
    by: str, catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """Their rows are known by their keys; one that was added needs confirmation."""
    audit = prodex.audit(catalog, PROFILE, progress=False)
    audit.worklists(tmp_path / "out", by=by)
    for path in (tmp_path / "out").glob("*.xlsx"):
        rows = questions(path)
        names = rows[rows["check"] == "names_not_in_capitals"]
        fill(path, {int(one.row): "Pain de campagne" for one in names.itertuples()})
    fix = prodex.read_worklist(tmp_path / "out", catalog, profile=PROFILE)
    assert {"accepted": len(RECORDS)} == dict(fix.counts), fix.answers["reason"].tolist()
    path = next((tmp_path / "out").glob("*.xlsx"))
    book = load_workbook(path)
    sheet = book["To fix"]
    added(sheet, **{"GTIN": FIRST, "Field": "namePublicShort", "Language": "fr", "New value": CHEAT})
    book.save(path)
    fix = prodex.read_worklist(tmp_path / "out", catalog, profile=PROFILE)
    assert [CHEAT] == fix.needs_confirmation["answer"].tolist()


@pytest.mark.slow
def test_a_worklist_of_another_service_needs_confirmation(
    service: prodex.service.Client, catalog: prodex.Catalog, tmp_path: Path
) -> None:
    """It has the same GTINs, ids and owners, and other products."""
    loaded = prodex.load_products(service, name="rivals", progress=False)
    path = asked(loaded, tmp_path / "out")
    rows = prodex.audit(loaded, PROFILE, progress=False).worklist_rows("Mill")
    other = dataclasses.replace(
        loaded, origin=dataclasses.replace(loaded.origin, source="https://api.other.example")
    )
    for answers in (path, rows.assign(new_value=rows["new_value"].where(rows.index > 0, GOOD))):
        fix = prodex.read_worklist(answers, other, profile=PROFILE)
        assert {"needs confirmation": 1} == dict(fix.counts), fix.answers["reason"].tolist()


def test_a_product_that_changed_hands_needs_confirmation(worklist: Path) -> None:
    """The mill does not own it any more."""
    sold = [{**RECORDS[0], "owner": {"id": 5, "name": "Oven"}}, *RECORDS[1:]]
    fix = read(worklist, prodex.flatten(sold))
    assert {"needs confirmation": 1} == dict(fix.counts)
    assert (
        "written for Mill, and the answer is about a product of Oven" in fix.needs_confirmation["reason"][0]
    )


def test_an_answer_to_a_check_that_finds_nothing_any_more_needs_confirmation(
    worklist: Path, catalog: prodex.Catalog
) -> None:
    """A key can be made by anybody; the audit says whether something is asked."""
    book = load_workbook(worklist)
    sheet = book["To fix"]
    forged = key_at(sheet, 4)._replace(check="required_text[namePublicLong,fr]").sealed
    sheet.cell(4, place(sheet, "Row key")).value = forged.text
    book.save(worklist)
    profile = {
        "checks": {**PROFILE["checks"], "required_text": {"attribute": "namePublicLong", "language": "fr"}}
    }
    back = worklist.parent / "back"
    back.mkdir()
    worklist.rename(back / worklist.name)
    fix = prodex.read_worklist(back, catalog, profile=profile)
    assert {"needs confirmation": 1} == dict(fix.counts)
    assert "asks for nothing" in fix.needs_confirmation["reason"][0]


@pytest.mark.slow
def test_a_table_of_ones_own_says_first_how_many_owners_it_is_about(answer: Answer) -> None:
    """It has no identity, so all of it may be sent; whoever reads it can limit it."""
    rows = [
        {"GTIN": one["gtin"], "Field": "namePublicLong", "Language": "fr", "New value": GOOD}
        for one in RECORDS
    ]
    fix = answer(*rows)
    assert {"accepted": 4} == dict(fix.counts)
    assert str(fix).splitlines()[0].startswith("Fix for products of 2 owners: 4 answers")
    assert "Products of Mill (2 answers), Oven (2 answers)" in str(fix).splitlines()[1]
    assert "for products of 2 owners" in fix._repr_html_()
    for owner in ("Oven", "5", ["5"], 5, pd.Series(["oven"])):
        limited = answer(*rows, owner=owner)
        assert {"accepted": 2, "refused": 2} == dict(limited.counts)
        assert {"Oven"} == set(limited.accepted["owner"])
        assert "only answers about products of Oven are read" in limited.refused["reason"][0]
    assert {"accepted": 4} == dict(answer(*rows, owner=["Mill", "5"]).counts)


def test_owners_are_listed_by_the_number_of_their_answers(answer: Answer) -> None:
    """With how many of their products these are about; an answer for nobody has no owner."""
    fields = {"Language": "fr", "New value": GOOD}
    about = [(RECORDS[0], "namePublicLong"), (RECORDS[2], "namePublicLong"), (RECORDS[2], "namePublicShort")]
    rows = [{"GTIN": one["gtin"], "Field": field, **fields} for one, field in about]
    fix = answer(*rows, {"GTIN": "00000000000017", "Field": "namePublicLong", **fields})

    assert [["Oven", 1, 2], ["Mill", 1, 1], [None, 0, 1]] == fix.owners.to_numpy().tolist()


def test_an_owner_that_nobody_has_is_an_error_with_the_nearest(answer: Answer) -> None:
    """So that nothing is refused for a letter."""
    row = {"GTIN": FIRST, "Field": "namePublicLong", "Language": "fr", "New value": GOOD}
    with pytest.raises(InputError, match="did you mean 'Mill'"):
        answer(row, owner="Mil")
    with pytest.raises(InputError, match="nobody"):
        answer(row, owner=[])
    two = prodex.flatten(
        [*RECORDS, {**RECORDS[0], "id": 9, "gtin": "00000000000017", "owner": {"id": 6, "name": "Mill"}}]
    )
    with pytest.raises(InputError, match=r"2 owners\. Give one of 4, 6"):
        answer(row, catalog=two, owner="Mill")
    assert {"accepted": 1} == dict(answer(row, catalog=two, owner="4").counts)


#: What a workbook may name in place of a snapshot.
PATHS = (
    *("attachment/snap", "/tmp/snap", "../snap", "..", ".", "C:\\snap", "attachment\\snap", "snap/../snap"),
    *("", "a/b@2026"),
)


@pytest.mark.slow
def test_a_workbook_opens_no_path(
    worklist: Path, catalog: prodex.Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names its snapshot, and a snapshot that came with it is not what is meant."""
    saved = catalog.save("snap")
    assert saved.folder is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "attachment").mkdir()
    (tmp_path / "attachment" / "snap").symlink_to(saved.folder)
    (tmp_path / "evil").symlink_to(saved.folder)
    opened = []
    for name in PATHS:
        _said(worklist, snapshot=name, profile="core")
        with suppress(InputError, SnapshotNotFound):
            opened.append((name, prodex.read_worklist(worklist)))
    assert [] == opened
    # A folder beside the reader has a name as a snapshot has.
    _said(worklist, snapshot="evil@2026-11-23")
    with pytest.raises(SnapshotNotFound):
        prodex.read_worklist(worklist)
    _said(worklist, snapshot="snap@../../evil")
    assert prodex.read_worklist(worklist, profile=PROFILE).catalog.folder == saved.folder


@pytest.mark.slow
def test_a_workbook_opens_no_profile(
    worklist: Path, catalog: prodex.Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those that come with prodex are known by name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text("[checks.valid_gtin]\n")
    (tmp_path / "core").write_text("[checks.valid_gtin]\n")
    for name in ("own.toml", "/etc/passwd", "../own", "core.toml", "attachment/own"):
        _said(worklist, profile=name)
        with pytest.raises(InputError, match="does not come with prodex"):
            prodex.read_worklist(worklist, catalog)
    _said(worklist, profile="core")
    assert len(prodex.read_worklist(worklist, catalog).profile.checks) > 10


def _said(path: Path, **values: Any) -> None:
    book = load_workbook(path)
    sheet = book["prodex"]
    for number in range(1, sheet.max_row + 1):
        if (name := sheet.cell(number, 1).value) in values:
            sheet.cell(number, 2).value = json.dumps(values[name])
    book.save(path)


@pytest.mark.slow
def test_answers_go_to_the_service_of_their_products(
    service: prodex.service.Client, catalog: prodex.Catalog, answer: Answer
) -> None:
    """Another one is asked about: other products may have the same GTINs there."""
    row = {"GTIN": FIRST, "Field": "namePublicLong", "Language": "fr", "New value": GOOD}
    from_records = answer(row)
    assert "come from records, and the answers would be sent to 127.0.0.1:" in str(
        from_records.asks_where(service)
    )
    with pytest.raises(InputError, match="elsewhere=True"):
        from_records.apply(service)
    assert from_records.tracking is None
    loaded = prodex.load_products(service, name="rivals", progress=False)
    fix = answer(row, catalog=loaded)
    assert fix.asks_where(service) is None
    assert (
        "SUCCESS" == from_records.apply(service, elsewhere=True, progress=False).wait(progress=False).status
    )
    assert GOOD == stored(service, FIRST)["namePublicLong"][0]["data"]


def test_another_port_is_another_service(service: prodex.service.Client, answer: Answer) -> None:
    """As a service for tests and the real one are, on one host: nothing is sent to it unasked."""
    row = {"GTIN": FIRST, "Field": "namePublicLong", "Language": "fr", "New value": GOOD}
    fix = answer(row, catalog=prodex.load_products(service, name="rivals", progress=False))
    with Sandbox(RECORDS) as other:
        key = other.credentials[0]
        second = prodex.connect(
            base_url=other.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        with pytest.raises(InputError, match="elsewhere=True"):
            fix.apply(second)
        assert [] == [one for one in other.requests if one[0] == "POST" and one[1].endswith("/products")]


@pytest.mark.slow
def test_the_command_limits_and_asks_as_python_does(
    service: prodex.service.Client,
    exchange: Sandbox,
    worklist: Path,
    catalog: prodex.Catalog,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`--owner` refuses answers about products of others, and `--elsewhere` sends to another service."""
    catalog.save("rivals")
    CHEATS["a_row_with_gtin_and_id_of_the_rival"](worklist, worklist.parent)
    profile = worklist.parent / "own.toml"
    profile.write_text("[checks.names_not_in_capitals]\n")
    words = ["fix", str(worklist), "--snapshot", "rivals", "--profile", str(profile)]

    def run(*more: str) -> Any:
        return CliRunner().invoke(app, [*words, *more])

    result = run("--show", "needs-confirmation", "--format", "json")
    assert 1 == result.exit_code
    assert "Oven" in result.stdout
    result = run("--owner", "Mill", "--show", "refused", "--format", "json")
    assert "only answers about products of Mill are read" in result.stdout
    assert "did you mean 'Mill'" in str(run("--owner", "Mil").exception)
    key = exchange.credentials[0]
    for name in ("client_id", "client_secret"):
        monkeypatch.setenv(f"PRODEX_{name.upper()}", key[name])
    to = ["--owner", "4", "--service", exchange.base_url, "--send", "--wait"]
    assert "elsewhere=True" in str(run(*to).exception)
    run(*to, "--elsewhere")
    assert GOOD == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert RIVAL["namePublicLong"] == stored(service, RIVAL["gtin"])["namePublicLong"]


def test_what_goes_out_again_tells_no_rival(worklist: Path, catalog: prodex.Catalog, tmp_path: Path) -> None:
    """The words of one supplier are in no worklist of another one."""
    CHEATS["a_row_with_gtin_and_id_of_the_rival"](worklist, worklist.parent)
    fix = read(worklist, catalog)
    index = fix.worklist(tmp_path / "again")
    assert ["not_assigned.xlsx"] == index["file"].tolist()
    shown = rows_of(load_workbook(tmp_path / "again" / "not_assigned.xlsx")["To fix"])
    assert CHEAT in str(shown)


@pytest.mark.slow
def test_what_goes_out_again_comes_back(worklist: Path, catalog: prodex.Catalog, tmp_path: Path) -> None:
    """An answer that was refused is asked for again, and the next one is taken without a question."""
    fill(worklist, {3: "PAIN BIS"})
    fix = read(worklist, catalog)
    assert {"refused": 1} == dict(fix.counts)
    index = fix.worklist(tmp_path / "again")
    path = tmp_path / "again" / index["file"][0]
    fill(path, {1: GOOD})
    fix = prodex.read_worklist(path, catalog, profile=PROFILE)
    assert {"accepted": 1} == dict(fix.counts), fix.answers["reason"].tolist()
