"""Who gets which language: by owner, by command, by job, and in the file that comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.errors import InputError
from prodex.job.job_file import read_job
from prodex.worklists.ownership import owners_given
from tests.cases import each_row
from tests.quality.workbooks import keys, sheets
from tests.worklists.bakery import RECORDS

PROFILE = {"checks": {"names_not_in_capitals": {}, "has_packaging_type": {}}}
OWNERS = ({"id": 4, "name": "Mill"}, {"id": 5, "name": "Oven"}, None)
CATALOG = prodex.flatten([{**one, "owner": owner} for one, owner in zip(RECORDS, OWNERS, strict=True)])


def languages_of(folder: Path, index: pd.DataFrame) -> dict[str | None, str]:
    """Return the language of each workbook, by the name of its owner."""
    return {
        None if pd.isna(row.label) else row.label: keys(folder / row.file)["language"]
        for row in index.itertuples()
    }


def test_each_owner_gets_the_language_given_for_it(tmp_path: Path) -> None:
    """By name in any case, or by code; all others get the language of the call."""
    audit = prodex.audit(CATALOG, PROFILE)
    index = audit.worklists(tmp_path / "one", language="nl", languages={"MILL": "de", "5": "French"})
    assert {"Mill": "de", "Oven": "fr", None: "nl"} == languages_of(tmp_path / "one", index)


@each_row(
    ("options", "says"),
    [
        ({"language": "italian"}, "no messages in 'italian'"),
        ({"languages": {"Mlil": "fr"}}, "did you mean 'Mill'"),
        ({"languages": {"Mill": "tlh"}}, "no messages in 'tlh'"),
        ({"languages": {"Mill": "fr"}, "by": "brand"}, "about owners"),
    ],
)
def test_a_language_or_owner_that_there_is_not_is_refused(
    options: dict[str, Any], says: str, tmp_path: Path
) -> None:
    """Before anything is written."""
    with pytest.raises(InputError, match=says):
        prodex.audit(CATALOG, PROFILE).worklists(tmp_path / "to_fix", **options)
    assert not (tmp_path / "to_fix").exists()


def test_owners_whose_names_differ_by_case_keep_their_own_language(tmp_path: Path) -> None:
    """The name as it is there is that one's; a name that two have is refused with their codes."""
    owners = ({"id": 4, "name": "Mill"}, {"id": 5, "name": "MILL"}, {"id": 6, "name": "MILL"})
    records = [{**one, "owner": owner} for one, owner in zip(RECORDS, owners, strict=True)]
    audit = prodex.audit(prodex.flatten(records), PROFILE)
    index = audit.worklists(tmp_path / "one", language="nl", languages={"Mill": "de", "6": "fr"})
    found = {row.code: keys(tmp_path / "one" / row.file)["language"] for row in index.itertuples()}
    assert {"4": "de", "5": "nl", "6": "fr"} == found
    for name, codes in (("mill", "4, 5, 6"), ("MILL", "5, 6")):
        with pytest.raises(InputError, match=f"is the name of . owners. Give one of {codes}"):
            audit.worklists(tmp_path / "two", languages={name: "de"})


def test_who_names_owners_of_answers_is_read_in_the_same_way(tmp_path: Path) -> None:
    """A name in one case is not that in another, and where nobody has an owner the message says so."""
    owners = ({"id": 4, "name": "Mill"}, {"id": 5, "name": "MILL"}, {})
    catalog = prodex.flatten([{**one, "owner": own} for one, own in zip(RECORDS, owners, strict=True)])
    assert {"4"} == owners_given(catalog, "Mill")
    assert {"4", "5"} == owners_given(catalog, ["Mill", "5"])
    with pytest.raises(InputError, match=r"'mill' is the name of 2 owners. Give one of 4, 5\."):
        owners_given(catalog, "mill")
    nobody = prodex.flatten([{**one, "owner": {}} for one in RECORDS])
    says = r"No product of the audit has the owner 'Mill'\. None of them has an owner\."
    with pytest.raises(InputError, match=says):
        prodex.audit(nobody, PROFILE).worklists(tmp_path / "one", languages={"Mill": "de"})


def test_an_english_worklist_is_as_it_was(tmp_path: Path) -> None:
    """English is the default, and no file of it changes by the option."""
    audit = prodex.audit(CATALOG, PROFILE)
    for name, options in (("a", {}), ("b", {"language": "en", "languages": {"Mill": "English"}})):
        audit.worklists(tmp_path / name, **options)
    files = [sorted((tmp_path / name).iterdir()) for name in ("a", "b")]
    assert len(files[0]) > 2
    for one, same in zip(*files, strict=True):
        # A mail and the manifest have the moment of writing beside what the workbook says.
        if one.suffix == ".xlsx":
            assert sheets(one) == sheets(same)
        elif one.suffix == ".csv":
            assert one.read_bytes() == same.read_bytes()
    assert sheets(files[0][0] if files[0][0].suffix == ".xlsx" else files[0][1])["To fix"][0][0] == "GTIN"


@pytest.mark.slow
def test_answers_go_back_in_the_language_of_each_owner(tmp_path: Path) -> None:
    """As their worklists were, or as the caller says."""
    folder = tmp_path / "to_fix"
    index = prodex.audit(CATALOG, PROFILE).worklists(folder, languages={"Mill": "de", "Oven": "fr"})
    for row in index.itertuples():
        book = load_workbook(folder / row.file)
        sheet = book[keys(folder / row.file)["sheets"][0]]
        for cells in sheet.iter_rows(min_row=2):
            cells[5].value = "n/a"
        book.save(folder / row.file)
    fix = prodex.read_worklist(folder, CATALOG, profile=PROFILE)
    back = fix.worklist(tmp_path / "back")
    assert {"Mill": "de", "Oven": "fr", None: "en"} == languages_of(tmp_path / "back", back)
    again = fix.worklist(tmp_path / "again", language="nl")
    assert {"nl"} == set(languages_of(tmp_path / "again", again).values())


@pytest.mark.slow
def test_the_command_takes_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the report and for the worklists; one without messages is an error before the audit."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    CATALOG.save("bakery")
    options = [
        "--html",
        str(tmp_path / "r.html"),
        "--worklists",
        str(tmp_path / "to_fix"),
        "--language",
        "German",
    ]
    result = CliRunner().invoke(app, ["audit", "bakery", "--profile", "core", *options])
    assert 0 == result.exit_code, result.output
    assert '<html lang="de">' in (tmp_path / "r.html").read_text("utf-8")
    assert {"de"} == {keys(one)["language"] for one in (tmp_path / "to_fix").glob("*.xlsx")}
    wrong = CliRunner().invoke(
        app, ["audit", "bakery", "--language", "klingon", "--html", str(tmp_path / "x.html")]
    )
    assert (True, False) == (wrong.exit_code != 0, (tmp_path / "x.html").exists())


@pytest.fixture
def bakery(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Save the products of two owners, and one of nobody, as a snapshot."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path_factory.mktemp("home")))
    CATALOG.save("bakery")
    return "bakery"


def audited(snapshot: str, folder: Path, owners: str, *options: str) -> Any:
    """Audit a snapshot by command, with a file of owners and their languages."""
    (folder / "owners.toml").write_text(owners, "utf-8")
    words = ["--worklists", str(folder / "to_fix"), "--languages", str(folder / "owners.toml"), *options]
    return CliRunner().invoke(app, ["audit", snapshot, *words])


def test_a_file_gives_each_owner_a_language(bakery: str, tmp_path: Path) -> None:
    """By name or code, as `languages=` does; all others get the language of the command."""
    result = audited(bakery, tmp_path, 'MILL = "German"\n5 = "fr"\n', "--language", "nl")
    assert 0 == result.exit_code, result.output
    index = pd.read_csv(tmp_path / "to_fix" / "index.csv")
    assert {"Mill": "de", "Oven": "fr", None: "nl"} == languages_of(tmp_path / "to_fix", index)


@each_row(
    ("owners", "options", "says"),
    [
        ('Mlil = "fr"', (), "No product of the audit has the owner 'Mlil'; did you mean 'Mill'?"),
        ('Mill = "Frensh"', (), "There are no messages in 'Frensh'; did you mean 'French'?"),
        ('Mill = "fr"\nOven = 7', (), "line 2"),
        ("Mill fr", (), "owners.toml is not TOML"),
        ('Mill = "fr"', ("--by", "brand"), "languages is about owners"),
    ],
)
def test_a_file_with_an_owner_or_language_that_there_is_not_is_refused(
    owners: str, options: tuple[str, ...], says: str, bakery: str, tmp_path: Path
) -> None:
    """In words, with the nearest that there is, and before anything is written."""
    result = audited(bakery, tmp_path, owners, "--html", str(tmp_path / "r.html"), *options)
    assert 0 != result.exit_code
    assert says in str(result.exception)
    assert ["owners.toml"] == [one.name for one in tmp_path.iterdir()]


def test_languages_of_owners_need_the_folder_of_the_worklists(bakery: str, tmp_path: Path) -> None:
    """Without worklists there is nothing that would be in these languages."""
    (tmp_path / "owners.toml").write_text('Mill = "fr"')
    result = CliRunner().invoke(app, ["audit", bakery, "--languages", str(tmp_path / "owners.toml")])
    assert "give their folder as well, --worklists to_fix." in str(result.exception)


JOB = """
name = "shop"
profile = "core"
[worklists]
folder = "worklists"
language = "French"
[worklists.languages]
Mill = "nl"
"""


def test_a_job_names_languages_as_worklists_do(tmp_path: Path) -> None:
    """By code or name; one without messages is an error with its line."""
    file = tmp_path / "job.toml"
    file.write_text(JOB)
    options = read_job(file).worklists
    assert options is not None
    assert ("fr", {"Mill": "nl"}) == (options.language, options.languages)
    file.write_text(JOB.replace('"nl"', '"klingon"'))
    with pytest.raises(InputError, match="klingon"):
        read_job(file)


def test_what_was_chosen_is_said_in_the_language(tmp_path: Path) -> None:
    """A worklist about some products says so, and by what they were chosen."""
    audit = prodex.audit(CATALOG, PROFILE).only(["1"], "Name all in capitals")
    index = audit.worklists(tmp_path / "to_fix", language="fr")
    book = load_workbook(tmp_path / "to_fix" / index["file"][0])
    said = {str(row[0]).replace("\u00a0", " ") for row in book["Lisez-moi"].iter_rows(values_only=True)}
    facts = "Périmètre : 1 sur 3 produits, choisis par : Nom entièrement en majuscules."
    assert (facts in said, [one for one in said if "chosen" in one or "Scope" in one]) == (True, [])
