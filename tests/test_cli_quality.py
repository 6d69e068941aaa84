"""The commands that judge a catalogue."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.errors import InputError, ProdexError, QueryError
from tests.cases import each_row

Run = Callable[..., Result]


@pytest.fixture
def run() -> Run:
    """Run a command on a snapshot of three products, one of them with a wrong GTIN, one that waits."""
    name = [{"expressedIn": {"normalizedCode": "fr", "code": "fra-FR"}, "data": "Riz"}]
    records = [
        {"id": 1, "gtin": "03036811359935", "namePublicLong": name, "brand": {"code": "ACME"}},
        {"id": 2, "gtin": "03036811359936", "namePublicLong": name},
        {"id": 3, "gtin": "03663215000110", "lastRequest": {"namePublicLong": name}},
    ]
    prodex.flatten(records).save("shop")
    return lambda *words: CliRunner().invoke(app, list(words))


@pytest.fixture
def profile(tmp_path: Path) -> str:
    """Write a profile of two checks; mild.toml beside it has none that is grave."""
    (tmp_path / "mild.toml").write_text("[checks.valid_gtin]\nseverity='info'\n")
    path = tmp_path / "own.toml"
    path.write_text(
        "[checks.valid_gtin]\nseverity='blocker'\n"
        "[checks.required_text]\nattribute='namePublicLong'\nlanguage='of the market'\nseverity='blocker'\n"
    )
    return str(path)


def test_an_audit_is_shown_in_words(run: Run, profile: str) -> None:
    """With the formula and what can be trusted of it."""
    result = run("audit", "shop", "--profile", profile, "--market", "France")

    assert 0 == result.exit_code
    assert "Audit of 3 products" in result.stdout
    assert "ready 1, not ready 2, undecided 0 of 3 (33.3 % ready)" in result.stdout
    assert "Completeness is not accuracy" in result.stdout


def test_without_a_market_it_is_said_that_none_is_known(run: Run, profile: str) -> None:
    """Else nobody would see that a check applies to nothing."""
    assert "no market is known for 3 products" in run("audit", "shop", "--profile", profile).stdout


def test_an_audit_judges_what_waits_when_asked_to(run: Run, profile: str) -> None:
    """Then the product that waits has its name."""
    words = (
        "audit",
        "shop",
        "--profile",
        profile,
        "--market",
        "250",
        "--show",
        "failures",
        "--format",
        "json",
    )

    assert ["2", "3"] == [row["product_id"] for row in json.loads(run(*words).stdout)]
    assert ["2"] == [row["product_id"] for row in json.loads(run(*words, "--pending").stdout)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "column"),
    [
        ("summary", "mean_score"),
        ("gaps", "ready_if_fixed"),
        ("scores", "owner_id"),
        ("checks", "crash"),
        ("failures", "reason"),
        ("coverage", "applicable"),
        ("products", "grade"),
    ],
)
def test_every_table_of_an_audit_can_be_shown(
    run: Run, profile: str, tmp_path: Path, what: str, column: str
) -> None:
    """On the terminal, and in a file."""
    words = ("audit", "shop", "--profile", profile, "--market", "250", "--show", what)
    path = tmp_path / "told.parquet"

    assert column in pd.read_csv(io.StringIO(run(*words, "--format", "csv").stdout)).columns
    assert 0 == run(*words, "--format", "parquet", "--out", str(path)).exit_code
    assert column in pd.read_parquet(path).columns


def test_scores_are_shown_by_any_group(run: Run) -> None:
    """Figures with three digits in a table, all of them in a file."""
    shown = run("audit", "shop", "--profile", "core", "--by", "brand").stdout

    assert "brand_code" in shown.splitlines()[0]
    assert "ACME" in shown


def test_a_job_fails_below_a_score(run: Run, profile: str) -> None:
    """Exit code 1, with the score; also where there is none."""
    words = ("audit", "shop", "--profile", profile, "--market", "250", "--fail-under")
    result = run(*words, "0.9")

    assert (0, 1) == (run(*words, "0.6").exit_code, result.exit_code)
    assert "The score is not 0.9 or more: it is 0.667." in result.stderr
    ended = Path(profile).with_name("ended.toml")
    ended.write_text("[checks.valid_gtin]\nuntil = 2020-01-01")
    assert (
        "since no check applies"
        in run("audit", "shop", "--profile", str(ended), "--fail-under", "0.1").stderr
    )


def test_a_profile_that_asks_nothing_is_no_pass(run: Run, profile: str) -> None:
    """A job that fails on blockers would end well with it for ever."""
    empty = Path(profile).with_name("empty.toml")
    empty.write_text("title = 'nothing'")
    done = run("audit", "shop", "--profile", str(empty), "--fail-on", "blocker")
    assert (1, True) == (done.exit_code, "the profile has no check" in str(done.exception))


@pytest.mark.slow
def test_an_audit_is_kept_when_asked_to(run: Run) -> None:
    """Beside its snapshot."""
    result = run("audit", "shop", "--now", "2026-11-20T08:00", "--save")

    assert "The audit is in " in result.stderr
    assert "2026-11-20 08:00" in repr(prodex.open_audit("shop"))
    assert 0 == run("audit", "shop", "--pending", "--save").exit_code
    assert 2 == len(prodex.list_audits("shop"))


@pytest.mark.slow
def test_rules_and_profiles_are_listed(run: Run) -> None:
    """With what they are."""
    assert "valid_gtin" in run("rules", "--block", "identity").stdout
    assert "why" in run("rules", "--format", "csv").stdout.splitlines()[0]
    assert "online-listing" in run("profiles").stdout
    assert "is_consumer_unit = true" in run("profiles", "show", "core").stdout
    assert "fix" in json.loads(run("profiles", "show", "pictures", "--format", "json").stdout)[0]


def test_laws_and_what_they_ask_for_are_listed(run: Run) -> None:
    """A table fits a screen; a file says what a rule cannot see as well."""
    shown = run("laws").stdout
    assert "Regulation (EU) 2023/988, Art. 19(a)" in shown
    assert max(map(len, shown.splitlines())) < 200
    assert "cannot_see" in run("laws", "--format", "csv").stdout.splitlines()[0]
    assert "contactInformationList" in run("laws", "--fields").stdout


def test_an_audit_as_of_a_day_has_the_laws_of_that_day(run: Run, tmp_path: Path) -> None:
    """What is asked later is a warning, and no reason to fail yet."""
    path = tmp_path / "later.toml"
    path.write_text("[checks.has_gpc_brick]\nseverity = 'error'\nin_force = 2026-08-12\n")
    words = ("audit", "shop", "--profile", str(path), "--fail-on", "error", "--as-of")
    before, after = run(*words, "2026-08-11"), run(*words, "2026-08-12")
    assert (0, 1) == (before.exit_code, after.exit_code)
    assert "(from 12 August 2026 on)" in before.stdout
    assert "from 12" not in after.stdout


@pytest.mark.slow
@each_row(
    ("words", "error", "why"),
    [
        (("audit", "ship"), ProdexError, "No snapshot 'ship'"),
        (("audit", "shop", "--profile", "cor"), InputError, "did you mean 'core'"),
        (("audit", "shop", "--by", "ownr"), QueryError, "did you mean 'owner'"),
        (("audit", "shop", "--now", "soon"), QueryError, "--now: 'soon' is no date"),
        (("audit", "shop", "--as-of", "soon"), InputError, "as_of: 'soon' is no date"),
        (("audit", "shop", "--market", "Fance"), QueryError, "Did you mean 'France'"),
        (("rules", "valid_gtn"), QueryError, "did you mean 'valid_gtin'"),
        (("audit", "shop", "--since", "ship"), ProdexError, "No snapshot 'ship'"),
        (("audit", "shop", "--show", "changes"), QueryError, "--since"),
        (("rules", "--block", "prices"), QueryError, "no rules under 'prices'"),
    ],
)
def test_mistakes_are_said_in_words(
    run: Run, words: tuple[str, ...], error: type[Exception], why: str
) -> None:
    """As everywhere."""
    result = run(*words)

    assert isinstance(result.exception, error)
    assert why in str(result.exception)


@pytest.mark.slow
def test_report_and_worklists_are_written(run: Run, profile: str, tmp_path: Path) -> None:
    """They are written whatever is shown; existing worklists are replaced only with --replace."""
    words = ("audit", "shop", "--profile", profile, "--market", "250", "--show", "gaps")
    words += ("--html", str(tmp_path / "report.html"), "--worklists", str(tmp_path / "fix"), "--by", "brand")
    result = run(*words)

    assert 0 == result.exit_code, result.output
    assert "with 2 findings written to" in result.stderr
    assert "ready_if_fixed" in result.stdout
    assert "Completeness is not accuracy" in (tmp_path / "report.html").read_text("utf-8")
    assert {
        "no_brand.xlsx",
        "no_brand.eml",
        "index.csv",
        "worklists.json",
    } == {path.name for path in (tmp_path / "fix").iterdir()}
    assert "already contains worklists" in str(run(*words).exception)
    assert 0 == run(*words, "--replace").exit_code


@pytest.mark.slow
def test_an_audit_is_compared_with_an_earlier_snapshot(run: Run, profile: str) -> None:
    """By the same profile; or with a saved audit where the snapshot is gone."""
    words = ("audit", "shop", "--profile", profile, "--market", "250")
    assert 0 == run(*words, "--save").exit_code
    first = prodex.open_snapshot("shop").folder
    assert first is not None
    name = [{"expressedIn": {"normalizedCode": "fr", "code": "fra-FR"}, "data": "Riz"}]
    mended = [{"id": n, "gtin": "03036811359935", "namePublicLong": name} for n in (1, 2, 4)]
    prodex.flatten(mended).save("shop")

    since = ("--since", f"shop@{first.name}")
    assert "1 fixed" in run(*words, *since).stdout
    assert ["fixed"] == pd.read_csv(
        io.StringIO(run(*words, *since, "--show", "changes", "--format", "csv").stdout)
    )["change"].tolist()
    audit = prodex.open_audit("shop").folder
    assert audit is not None
    assert "1 fixed" in run(*words, "--since", str(audit)).stdout
    shutil.rmtree(first)
    assert "1 fixed" in run(*words, "--since", f"shop@{audit.name}").stdout


def test_a_job_fails_on_what_is_grave(run: Run, profile: str) -> None:
    """Exit code 1 when anything of the severity, or worse, fails."""
    words = ("audit", "shop", "--profile", profile, "--market", "250", "--fail-on")
    result = run(*words, "error")

    assert 1 == result.exit_code
    assert "2 failing checks of severity blocker or error." in result.stderr
    assert (
        0
        == run("audit", "shop", "--profile", profile.replace("own", "mild"), "--fail-on", "blocker").exit_code
    )


def test_a_rule_is_shown_with_all_that_is_known_of_it(run: Run) -> None:
    """Why it matters, what to do, and where it comes from."""
    told = run("rules", "valid_gtin").stdout

    assert "GS1 General Specifications" in told
    assert "orders, prices and pictures go to the wrong product" in told
    assert ["valid_gtin"] == [
        row["rule"] for row in json.loads(run("rules", "valid_gtin", "--format", "json").stdout)
    ]


@pytest.mark.slow
def test_the_whole_way_in_a_process_of_its_own(run: Run, profile: str, home: Path, tmp_path: Path) -> None:
    """What a nightly job does: judge, write, and say by its exit code that it is not good enough."""
    words = [
        "audit",
        "shop",
        "--profile",
        profile,
        "--market",
        "250",
        "--worklists",
        "fix",
        "--fail-under",
        "0.9",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "prodex", *words],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "PRODEX_HOME": str(home)},
    )  # fmt: skip

    assert 1 == done.returncode
    assert "The score is not 0.9 or more" in done.stderr
    assert (tmp_path / "fix" / "no_owner.xlsx").is_file()
    again = subprocess.run(
        [sys.executable, "-m", "prodex", *words],
        capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "PRODEX_HOME": str(home)},
    )  # fmt: skip
    assert (1, 1) == (again.returncode, len(again.stderr.strip().splitlines()))
    assert "which may have been filled in" in again.stderr


WORSE = ("audit", "shop", "--market", "250", "--fail-if-worse", "--profile")


def save_wrong(*wrong: int) -> None:
    """Save the three products anew, some of them with a wrong GTIN."""
    gtins = {1: "03036811359935", 2: "03036811359935", 3: "03663215000110"}
    name = [{"expressedIn": {"normalizedCode": "fr", "code": "fra-FR"}, "data": "Riz"}]
    records = [
        {"id": key, "gtin": "03036811359936" if key in wrong else gtin, "namePublicLong": name}
        for key, gtin in gtins.items()
    ]
    prodex.flatten(records).save("shop")


@pytest.mark.slow
def test_a_job_fails_when_the_audit_is_worse_than_the_last_one_saved(run: Run, profile: str) -> None:
    """Lower score or fewer ready: exit code 1 and the figures; as good, or better, is no failure."""
    save_wrong(2)
    assert 0 == run("audit", "shop", "--market", "250", "--profile", profile, "--save").exit_code
    same = run(*WORSE, profile)
    save_wrong(2, 3)
    worse = run(*WORSE, profile)
    save_wrong()
    better = run(*WORSE, profile)

    assert [0, 1, 0] == [same.exit_code, worse.exit_code, better.exit_code]
    assert "worse than the audit of" in worse.stderr
    assert "score 83.3 -> 66.7 %" in worse.stderr
    assert "not ready 1, undecided 0 of 3 -> ready 1, not ready 2" in worse.stderr
    assert "worse" not in same.stderr + better.stderr


@pytest.mark.slow
def test_an_audit_is_compared_with_the_one_saved_before_it(run: Run, profile: str) -> None:
    """Not with itself, though --save keeps it first; next time it is the one to be compared with."""
    save_wrong()
    run("audit", "shop", "--market", "250", "--profile", profile, "--save")
    save_wrong(1)

    assert [1, 0] == [run(*WORSE, profile, "--save").exit_code for _ in range(2)]


def test_without_a_saved_audit_a_job_is_not_told_that_all_is_well(run: Run, profile: str) -> None:
    """Without an audit to compare with, the message names --save; after that, the next run has one."""
    first = run(*WORSE, profile, "--save")
    second = run(*WORSE, profile)

    assert [1, 0] == [first.exit_code, second.exit_code]
    assert "no saved audit of 'shop' by the profile own" in " ".join(first.stderr.split())
    assert "--save" in first.stderr


@pytest.mark.slow
def test_an_audit_is_compared_with_the_one_that_is_named(run: Run, profile: str) -> None:
    """A saved audit by its name and time, or an earlier snapshot, which is judged by the same profile."""
    save_wrong()
    good = prodex.open_snapshot("shop")
    save_wrong(1, 2)
    assert good.folder is not None

    assert 1 == run(*WORSE, profile, "--than", f"shop@{good.folder.name}").exit_code
    assert 0 == run(*WORSE, profile, "--than", "shop").exit_code
    assert 1 == run(*WORSE, profile, "--than", "nothing").exit_code
    assert isinstance(run("audit", "shop", "--profile", profile, "--than", "shop").exception, QueryError)


def test_audits_of_different_measure_are_not_passed_silently(run: Run, profile: str, tmp_path: Path) -> None:
    """Another severity, an own profile of the same name: exit code 1, and why nobody can say."""
    save_wrong(2)
    run("audit", "shop", "--market", "250", "--profile", profile, "--save")
    Path(profile).write_text(Path(profile).read_text().replace("blocker", "warning"))
    result = run(*WORSE, profile)

    assert 1 == result.exit_code
    assert "It is not known whether this audit is worse" in result.stderr
    assert "severity" in result.stderr


def test_a_check_that_knows_less_than_before_is_not_passed_silently(run: Run, tmp_path: Path) -> None:
    """What failed and is unknown now, since it was not requested, has not been mended, though the score is higher."""
    path = tmp_path / "names.toml"
    path.write_text(
        "[checks.valid_gtin]\n[checks.required_text]\nattribute='namePublicLong'\nlanguage='fr'\n"
    )
    records = prodex.flatten([{"id": 1, "gtin": "03036811359935"}])
    records.save("shop")
    run("audit", "shop", "--profile", str(path), "--save")
    query = prodex.ProductQuery(source_include=["brand"])
    replace(records, origin=replace(records.origin, query=query)).save("shop")
    result = run(*WORSE, str(path))

    assert 1 == result.exit_code
    assert "It is not known" in result.stderr
    assert "1 answer of checks: failing on one side, and unknown on the other" in result.stderr


def test_score_and_grade_of_an_audit_are_those_of_its_headline(run: Run, profile: str) -> None:
    """One number, wherever it is shown."""
    save_wrong(2)
    audit = prodex.audit("shop", profile)
    summary = audit.summary

    assert (summary["score"], summary["grade"]) == (audit.score, audit.grade)
    assert f"score {audit.score * 100:.1f} % (grade {audit.grade})" in repr(audit)
    nothing = prodex.audit(prodex.flatten([]), profile)
    assert pd.isna(nothing.score)
    assert nothing.grade is None


@pytest.mark.slow
def test_findings_are_accepted_listed_and_withdrawn(run: Run, profile: str) -> None:
    """By check and product, as a baseline, and back: each command says the figures with and without."""
    accept = ("accept", "shop", "--profile", profile, "--reason", "printed so")

    one = run(
        *accept,
        "--check",
        "valid_gtin",
        "--product",
        "3036811359936",
        "--until",
        "2099-01-05",
        "--user",
        "Ana",
    )
    listed = run("accepted", "shop", "--format", "json")
    every = run(*accept, "--all")
    gone = run("withdraw", "shop", "--profile", profile, "--product", "2")

    assert [(0, None)] * 4 == [(result.exit_code, result.exception) for result in (one, listed, every, gone)]
    assert "1 finding of 1 product newly accepted; 1 accepted in all" in one.stdout
    assert [("2", "printed so", "Ana", "in force")] == [
        (row["product_id"], row["reason"], row["by"], row["state"]) for row in json.loads(listed.stdout)
    ]
    assert "in all; score" in every.stdout
    assert re.search(r"(\d+) findings? of 1 product withdrawn; \d+ accepted in all", gone.stdout)


@pytest.mark.slow
@each_row(
    ("words", "why"),
    [
        (("accept", "shop", "--reason", "x"), "Say which findings"),
        (("accept", "shop", "--reason", "x", "--all", "--check", "valid_gtin"), "Say which findings"),
        (("accept", "shop", "--reason", " ", "--all"), "reason is"),
        (("accept", "shop", "--reason", "x", "--check", "valid_gtn"), "valid_gtin"),
        (("accept", "shop", "--reason", "x", "--product", "9"), "No product of this audit has gtin '9'"),
        (("accept", "shop", "--reason", "x", "--all", "--until", "05.01.2027"), "2027-01-05"),
        (("fix", "answers.csv", "--until", "2027-01-05"), "--accept"),
        (("audit", "shop", "--new-only"), "--fail-on"),
        (("accepted", "shpo"), "did you mean"),
    ],
)
def test_what_cannot_be_accepted_is_said(run: Run, words: tuple[str, ...], why: str) -> None:
    """Nothing is written."""
    result = run(*words)

    assert result.exit_code
    assert why in str(result.exception) + result.output
    assert not list(Path(os.environ["PRODEX_HOME"]).rglob("accepted.jsonl"))


@pytest.mark.slow
def test_only_new_findings_break_a_limit(run: Run, profile: str) -> None:
    """With a baseline of all of today, a later failure of another product is new."""
    audit = ("audit", "shop", "--profile", profile, "--fail-on", "blocker", "--fail-under", "1", "--new-only")

    before = run(*audit)
    run("accept", "shop", "--profile", profile, "--all", "--reason", "baseline")
    after, pending = run(*audit), run(*audit, "--pending")
    prodex.flatten([{"id": 2, "gtin": "03036811359937"}]).save("shop")
    changed = run(*audit)

    assert [1, 0, 0, 1] == [result.exit_code for result in (before, after, pending, changed)]
    assert "1 new failing check of severity blocker." in changed.output
    assert "The score with what is accepted is not 1 or more" in changed.output


@pytest.mark.slow
def test_a_workbook_of_requirements_is_written_and_kept(run: Run, tmp_path: Path) -> None:
    """For the channels that are given; written again, its answers stay; what cannot be is refused."""
    path = tmp_path / "requirements.xlsx"
    first = run("requirements", "shop", "--to", str(path), "--channel", "Web shop:France", "--start", "core")
    again = run("requirements", "shop", "--to", str(path), "--replace")

    assert "1 channel, 0 families and 4 answers." in first.stderr
    assert "1 channel, 0 families and 4 answers." in again.stderr
    assert "replace=True" in str(run("requirements", "shop", "--to", str(path)).exception)
    assert "France" in str(
        run("requirements", "shop", "--to", str(tmp_path / "b.xlsx"), "--channel", "W:Frnace").exception
    )
