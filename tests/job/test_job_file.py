"""Job files: what they may say, and errors that name file, line and key."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import prodex
from prodex.errors import InputError
from prodex.job.job_file import ExportOptions, KeepOptions, WorklistOptions, read_job
from prodex.job.steps import steps_of
from tests.cases import each_row

WHOLE = """\
name = "shop"
profile = ["core", "own.toml"]
labels = ["fr-FR"]
results = "results"
zone = "Europe/London"
language = "German"

[query]
target_market = "France"
tags_in = ["exportable"]
updated_at_from = 2026-11-01T00:00:00Z
search = [["lait", ["namePublicLong.data"]]]

[worklists]
folder = "worklists"
by = "brand"
severity = ["blocker", "error"]

[[exports]]
folder = "out"

[[exports]]
format = "csv"
folder = "/elsewhere"
tables = ["products", "texts"]
escape_formulas = true

[publish]
uri = "s3://bucket/shop"

[keep]
snapshots = 14
audits = 60
"""


def written(folder: Path, text: str) -> Path:
    """Write a job file."""
    path = folder / "shop.toml"
    path.write_text(text, "utf-8")
    return path


def test_everything_that_a_job_file_can_say_is_read(tmp_path: Path) -> None:
    """Paths begin at the folder of the job file, and a query takes what it takes in Python."""
    (tmp_path / "own.toml").write_text("[checks.valid_gtin]\n", "utf-8")

    job = read_job(written(tmp_path, WHOLE))

    assert ("shop", ("fr-FR",), tmp_path / "results") == (job.name, job.labels, job.results)
    assert (ZoneInfo("Europe/London"), "de") == (job.zone, job.language)
    assert (250, ("exportable",)) == (job.query.target_market, job.query.tags_in)
    assert (("lait", ("namePublicLong.data",)),) == job.query.search
    assert ["core", "own"] == [profile.name for profile in job.profiles]
    assert (
        WorklistOptions(tmp_path / "worklists", "brand", "core", ("blocker", "error"), "de") == job.worklists
    )
    assert (
        ExportOptions(tmp_path / "out"),
        ExportOptions(Path("/elsewhere"), "csv", ("products", "texts"), escape_formulas=True),
    ) == job.exports
    assert ("s3://bucket/shop", KeepOptions(14, 60)) == (job.publish, job.keep)
    assert [
        *("load", "audit core", "audit own", "compare", "watch", "worklists"),
        *("export 1 (parquet to out)", "export 2 (csv to elsewhere)", "publish", "keep"),
    ] == [step.name for step in steps_of(job)]


def test_a_name_is_enough(tmp_path: Path) -> None:
    """Then the products of the service in the settings are loaded, audited by "core", compared and watched."""
    job = read_job(written(tmp_path, 'name = "shop"'))

    assert ["load", "audit core", "compare", "watch"] == [step.name for step in steps_of(job)]
    assert job.service is None


WRONG = [
    ('name = "shop"\nfail_on = "blocke"', "line 2, fail_on: there is no 'blocke'; did you mean 'blocker'?"),
    (
        'name = "shop"\nfail_under = 80',
        "line 2, fail_under: fail_under is 80; give a share, such as 0.8",
    ),
    ('name = "shop"\nnew_only = true', "line 2, new_only: new_only says what fail_on and fail_under judge"),
    ('name = "shop"\nprofil = "core"', "line 2, profil: there is no key 'profil'; did you mean 'profile'?"),
    (
        'name = "shop"\n[keep]\nsnapshot = 3',
        "line 3, keep.snapshot: there is no key 'snapshot'; did you mean",
    ),
    (
        'name = "shop"\n\n[query]\ntarget_marke = 250',
        "line 4, query.target_marke: .*Did you mean target_market",
    ),
    ('name = "shop"\n[query]\ntarget_market = "Frence"', "line 3, query.target_market: .*France"),
    (
        'name = "shop"\n[query]\nhas_packshot = true\nhas_no_packshot = true',
        "line 2, query: has_packshot and has_no_packshot contradict",
    ),
    ('name = "shop"\n[query]\nupdated_at_from = 2026-11-01T00:00:00', "line 3, query.updated_at_from: "),
    ('name = "shop"\nprofile = "cor"', "line 2, profile: There is no profile 'cor'; did you mean 'core'?"),
    ('name = "shop"\nprofile = ["core", "core"]', "line 2, profile: 'core' is named twice"),
    ('name = "shop"\nprofile = 7', "line 2, profile: profile is the number 7; give a text or a list"),
    ('name = "shop"\n[worklists]\nby = "owner"', "line 2, worklists: there is no folder, which is needed"),
    (
        'name = "shop"\n[worklists]\nfolder = "w"\nby = "owners"',
        "line 4, worklists.by: there is no 'owners'; did you mean 'owner'?",
    ),
    (
        'name = "shop"\n[worklists]\nfolder = "w"\nseverity = "blocke"',
        "line 4, worklists.severity: there is no 'blocke'; did you mean 'blocker'?",
    ),
    (
        'name = "shop"\n[worklists]\nfolder = "w"\nformat = "csv"',
        "line 4, worklists.format: what a supplier gets is the workbook.*worklist_rows",
    ),
    (
        'name = "shop"\nprofile = []\n[worklists]\nfolder = "w"',
        "line 3, worklists: worklists are made of an audit; give a profile",
    ),
    (
        'name = "shop"\n[[exports]]\nfolder = "a"\n[[exports]]\nfolder = "b"\nformat = "cvs"',
        "line 6, exports.format: there is no 'cvs'; did you mean 'csv'?",
    ),
    (
        'name = "shop"\n[exports]\nfolder = "a"',
        r"line 2, exports: exports is a table; give tables: write \[\[exports\]\]",
    ),
    (
        'name = "shop"\n[[exports]]\nfolder = "a"\n[[exports]]\nfolder = "./a"\nformat = "csv"',
        "line 5, exports.folder: .* is used twice",
    ),
    (
        'name = "shop"\n[[exports]]\nfolder = "a"\n[[exports]]\nfolder = "b/../a"\nformat = "csv"',
        "line 5, exports.folder: .* is used twice",
    ),
    (
        'name = "shop"\nprofile = []\nfail_on = "error"',
        "line 3, fail_on: fail_on judges an audit; give a profile",
    ),
    (
        'name = "shop"\nfail_under = 0.9\nprofile = []',
        "line 2, fail_under: fail_under judges an audit; give a profile",
    ),
    (
        'name = "shop"\n[service]\nclient_secre = "$PRODEX_SECRET"',
        "line 3, service.client_secre: there is no key 'client_secre'; did you mean 'client_secret'?",
    ),
    (
        'name = "shop"\n[[exports]]\nfolder = "a"\nescape_formulas = true',
        "line 4, exports.escape_formulas: parquet holds no formulas",
    ),
    (
        'name = "shop"\n[keep]\nsnapshots = 0',
        "line 3, keep.snapshots: snapshots is the number 0; give a whole number, at least 1",
    ),
    (
        'name = "shop"\nzone = "Europe/Londno"',
        "line 2, zone: There is no time zone .* did you mean 'Europe/London'",
    ),
    ('name = "shop"\nzone = 1', "line 2, zone: zone is the number 1; give a text"),
    ('name = "shop"\ncompare = "yes"', "line 2, compare: compare is the text 'yes'; give true or false"),
    ('name = "../shop"', "line 1, name: '../shop' cannot be the name of a snapshot"),
    ("name = 7", "line 1, name: name is the number 7; give a text"),
    ('profile = "core"', "name: there is no name, which is needed"),
    ('name = "shop', "is not TOML: Unterminated string"),
    ('name = "shop"\nfail_under = nan', "line 2, fail_under: fail_under is nan; give a share"),
    ('name = "shop"\nfail_under = true', "line 2, fail_under: fail_under is True; give a number"),
    ('name = "shop"\nkeep = 3', r"line 2, keep: keep is the number 3; give a table: write \[keep\]"),
    ('name = "shop"\nlabels = ["fr", 3]', "line 2, labels: labels is the number 3; give a text"),
    ('name = "shop"\nresults = " "', "line 2, results: results is the text ' '; give a text"),
    ('name = "shop"\nlanguage = ""', "line 2, language: "),
    ('name = "shop"\n[publish]\nuri = ""', "line 3, publish.uri: uri is empty; give a folder"),
    ('name = "shop"\n[publish]', "line 2, publish: there is no uri, which is needed"),
    ('name = "shop"\n[[recipes]]\nsend = true', "line 2, recipes: there is no file, which is needed"),
    (
        'name = "shop"\n[[recipes]]\nfile = "a"\n[[recipes]]\nfile = "b"\nprofile = "cor"',
        "line 6, recipes.profile: there is no 'cor'; did you mean 'core'?",
    ),
    (
        'name = "shop"\n[[exports]]\nfolder = "a"\ntables = "product"',
        "line 4, exports.tables: there is no 'product'",
    ),
    (
        'name = "shop"\n[worklists]\nfolder = "w"\n[worklists.languages]\nACME = "Frensh"',
        "line 5, worklists.languages.ACME: ",
    ),
    ('name = "shop"\nservice = "https://evil.example"', 'line 2, service: service is "sandbox", or a table'),
    (
        'name = "shop"\n[service]\nbase_url = "$AWS_SECRET_ACCESS_KEY"',
        "line 3, service.base_url: give the name of a variable of the environment that begins with PRODEX_",
    ),
    (
        'name = "shop"\n[service]\nbase_url = "$PRODEX_URL"\nclient_id = "$PRODEX_ID"',
        "line 2, service: there is no client_secret, which is needed",
    ),
]


@each_row(("text", "message"), WRONG)
def test_an_error_names_file_line_and_key(text: str, message: str, tmp_path: Path) -> None:
    """And the nearest known name, where there is one."""
    with pytest.raises(InputError, match=message) as caught:
        read_job(written(tmp_path, text))

    assert str(tmp_path / "shop.toml") in str(caught.value)


@each_row(
    "text",
    [
        '[service]\nbase_url = "$PRODEX_A"\nclient_id = "$PRODEX_B"\nclient_secret = "hunter2"',
        'client_secret = "hunter2"',
        '[publish]\nuri = "s3://key:hunter2@bucket/shop"',
        '[publish]\nuri = "az://container/shop?sig=hunter2"',
        '[publish]\nuri = "abfss://container:hunter2@account.dfs.core.windows.net/shop"',
        '[publish]\nuri = "s3://[hunter2/shop"',
        '[query.extra]\nhidden = {token = "hunter2"}',
        'password = "hunter2"\nprofile = "hunter2"',
    ],
)
def test_a_secret_is_refused_and_not_shown(text: str, tmp_path: Path) -> None:
    """Wherever it is; the message says what to do with it."""
    with pytest.raises(InputError, match="a job file holds no secrets") as caught:
        read_job(written(tmp_path, f'name = "shop"\n{text}\n'))

    assert "hunter2" not in "".join(map(str, [caught.value, *getattr(caught.value, "__notes__", [])]))


def test_a_container_of_azure_is_no_secret(tmp_path: Path) -> None:
    """It is before an @, as a user would be."""
    uri = "abfss://container@account.dfs.core.windows.net/shop"

    assert uri == read_job(written(tmp_path, f'name = "shop"\n[publish]\nuri = "{uri}"\n')).publish


def test_a_file_that_cannot_be_read_is_said_so(tmp_path: Path) -> None:
    """Missing, a folder, no text, or no path at all."""
    (tmp_path / "latin.toml").write_bytes('name = "kühl"'.encode("latin-1"))
    (tmp_path / "wide.toml").write_bytes(b"\xff\xfe" + 'name = "shop"'.encode("utf-16-le"))
    (tmp_path / "unmarked.toml").write_bytes('name = "shop"'.encode("utf-16-be"))

    for path, message in (
        (tmp_path / "none.toml", "cannot be read"),
        (tmp_path, "cannot be read"),
        (tmp_path / "latin.toml", "is not UTF-8 text"),
        (tmp_path / "wide.toml", "is UTF-16 text. Save it as UTF-8"),
        (tmp_path / "unmarked.toml", "is UTF-16 text. Save it as UTF-8"),
        (7, "Give the path of a job file"),
    ):
        with pytest.raises(InputError, match=message):
            prodex.run_job(path)  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\ufeff"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path, mark: str) -> None:
    """Editors of Windows begin a file with one, and some programs write another before it."""
    assert read_job(written(tmp_path, f'{mark}name = "shop"\n')).name == "shop"
