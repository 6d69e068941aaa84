"""The commands as a user runs them: in a shell, with their exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import metadata
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command
from typer.testing import CliRunner

import prodex
from prodex.cli import SECTIONS, app, main
from prodex.cli.options import _query_of_options
from prodex.cli.words import query_in_options
from prodex.query import SEARCH_FIELDS
from prodex.sandbox import Sandbox
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products
from tests.cases import each_row
from tests.test_query import VALUES, queries

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def settings(home: Path, sample_exchange: Sandbox) -> dict[str, str]:
    """Return the variables by which a command finds its home and the sandbox."""
    key = sample_exchange.credentials[0]
    return {
        "PRODEX_HOME": str(home),
        "PRODEX_BASE_URL": sample_exchange.base_url,
        "PRODEX_CLIENT_ID": str(key["client_id"]),
        "PRODEX_CLIENT_SECRET": str(key["client_secret"]),
        "COLUMNS": "200",
    }


@pytest.fixture
def run(settings: dict[str, str], tmp_path: Path) -> Run:
    """Run a command as its process does, but in this one: to start Python and import pandas takes two seconds."""

    def command(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(io.StringIO()) as stdout,
            redirect_stderr(io.StringIO()) as stderr,
        ):
            for name, value in {**settings, **more}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["prodex", *words])
            patch.chdir(tmp_path)
            with pytest.raises(SystemExit) as ended:
                main()
        return subprocess.CompletedProcess(words, ended.value.code, stdout.getvalue(), stderr.getvalue())

    return command


@pytest.mark.slow
@pytest.mark.parametrize("words", [("tables",), ("tables", "nothing"), ("load", "--nothing")])
def test_a_process_gives_the_same(
    run: Run, settings: dict[str, str], tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Exit code and output of a command in a shell are those that the other tests look at."""
    process = subprocess.run(
        [sys.executable, "-m", "prodex", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        cwd=tmp_path,
        check=False,
    )
    done = run(*words)
    assert (process.returncode, process.stdout, process.stderr) == (done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
def test_load_keeps_a_snapshot_that_the_other_commands_use(run: Run, home: Path, tmp_path: Path) -> None:
    """Load, list, verify, export: the path of a working day."""
    loaded = run(
        "load", "--tag", "exportable", "--name", "shop", "--include", "brand", "--include", "updatedAt"
    )
    assert (0, True) == (loaded.returncode, "complete" in loaded.stdout), loaded.stderr

    listed = run("snapshots", "--verify")
    assert 0 == listed.returncode
    assert re.search(r"shop@20\d\d-.*\n.*: (\d+) of \1 files as written", listed.stdout)

    exported = run("export", "shop", "--format", "csv", "--to", str(tmp_path / "out"), "--escape-formulas")
    assert 0 == exported.returncode
    described = json.loads((tmp_path / "out" / "datapackage.json").read_text("utf-8"))
    assert ["exportable"] == described["origin"]["query"]["filter_tags_in"].split(",")
    assert (
        0
        == run(
            "export", "shop", "--table", "texts", "--table", "products", "--to", str(tmp_path / "two")
        ).returncode
    )
    assert {"products", "texts"} == set(prodex.read_export(tmp_path / "two").tables.index)
    for words, said in (
        (["--to", "shop.csv"], "--to 'shop' --format csv"),
        (["--to", "out", "--table", "text"], "did you mean 'texts'"),
        (["--to", "out", "--format", "cvs"], "did you mean 'csv'"),
        (["--to", "out", "--escape-formulas"], "takes no --escape-formulas"),
    ):
        refused = run("export", "shop", *words)
        assert (1, True) == (refused.returncode, bool(re.search(said, refused.stderr))), refused.stderr


@pytest.mark.slow
def test_export_takes_a_selection(run: Run, home: Path, tmp_path: Path) -> None:
    """Of its file; what is wrong in it is named with its line, and nothing is written."""
    prodex.flatten([{"id": 1, "brand": {"code": "A"}}, {"id": 2}]).save("two")
    (tmp_path / "a.toml").write_text('brand_code = "A"\n')
    done = run("export", "two", "--to", str(tmp_path / "a"), "--select", str(tmp_path / "a.toml"))
    assert 0 == done.returncode, done.stderr
    assert "1 of 2 products, chosen by: brand_code = A" in done.stdout + done.stderr
    assert ["1"] == prodex.read_export(tmp_path / "a").products["product_id"].tolist()
    (tmp_path / "b.toml").write_text('brand_cod = "A"\n')
    done = run("export", "two", "--to", str(tmp_path / "b"), "--select", str(tmp_path / "b.toml"))
    assert (1, False) == (done.returncode, (tmp_path / "b").exists())
    assert "line 1, brand_cod" in done.stderr


def test_export_takes_columns_languages_and_records(run: Run, home: Path, tmp_path: Path) -> None:
    """What is left out is on stderr; columns are for all tables, or each for its table."""
    texts = [{"expressedIn": {"code": code}, "data": code} for code in ("fra-FR", "deu-DE")]
    catalog = prodex.flatten([{"id": 1, "brand": {"code": "A"}, "namePublicLong": texts}]).save("two")
    done = run("export", "two", "--to", str(tmp_path / "a"), "--column", "text", "--language", "French")
    assert 0 == done.returncode, done.stderr
    assert "Written: 1 of 2 rows of texts, in fr" in done.stderr
    assert ["fra-FR"] == prodex.read_export(tmp_path / "a").texts["text"].tolist()

    apart = ["--column", "products.brand_code", "--column", "products.brand", "--column", "texts.text"]
    assert 0 == run("export", "two", "--to", str(tmp_path / "b"), *apart).returncode
    read = prodex.read_export(tmp_path / "b")
    assert ["product_id", "gtin", "brand_code", "brand"] == list(read.products)
    assert list(catalog.codes) == list(read.codes)

    assert 0 == run("export", "two", "--to", str(tmp_path / "c"), "--format", "jsonl").returncode
    assert catalog.equals(prodex.read_export(tmp_path / "c"))
    for words, said in (
        (["--column", "brand", "--column", "texts.text"], "--column 'brand' names no table"),
        (["--column", "texts.tekst"], "did you mean 'text'"),
        (["--language", "Frensh"], "Did you mean 'French'"),
        (["--language", "fr", "--format", "jsonl"], "whole records"),
    ):
        refused = run("export", "two", "--to", str(tmp_path / "d"), *words)
        assert (1, True) == (refused.returncode, said in refused.stderr), refused.stderr


OPTIONS = {
    "gtins_in": ["--gtin", "03036811359935"],
    "updated_at_from": ["--updated-from", "2020-01-01T00:00+01:00"],
    "updated_at_to": ["--updated-to", "2030-01-01"],
    "validation_status_in": ["--validation", "OK", "--validation", "1"],
    "tags_in": ["--tag", "exportable"],
    "tags_not_in": ["--without-tag", "exportable"],
    "source_include": ["--include", "brand"],
    "source_exclude": ["--exclude", "assets"],
    "target_productstatus_in": ["--product-status", "ACCEPTED"],
    "status_shared_from": ["--shared-from", "ACCEPTED"],
    "status_shared_with": ["--shared-with", "PENDING"],
    "target_market": ["--market", "France"],
    "product_languages": ["--language", "fr"],
    "has_packshot": ["--packshot"],
    "has_no_packshot": ["--no-packshot"],
    "pictures_last_updated_at_from": ["--pictures-from", "2020-01-01"],
    "pictures_last_updated_at_to": ["--pictures-to", "2030-01-01"],
    "active_range": ["--active-range"],
    "owners_in": ["--owner", "7"],
    "search": ["--search", "lait@description.data"],
    "extra": ["--extra", "allow_not_consumer_units=true"],
}


@pytest.fixture(scope="module")
def few() -> Iterator[Sandbox]:
    """Serve so few products that a load of them costs nothing."""
    with Sandbox(shared_products(30)) as sandbox:
        yield sandbox


#: What contradicts another option is asked in a load of its own.
OTHERS = {"tags_not_in", "source_exclude", "has_no_packshot"}


@pytest.mark.slow
@pytest.mark.parametrize("fields", [set(OPTIONS) - OTHERS, OTHERS], ids=["most", "others"])
def test_every_option_of_load_reaches_the_query(
    fields: set[str], few: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each filter of the service has an option, and the snapshot's origin shows that it, and no other, was asked."""
    key = few.credentials[0]
    monkeypatch.setenv("PRODEX_BASE_URL", few.base_url)
    monkeypatch.setenv("PRODEX_CLIENT_ID", str(key["client_id"]))
    monkeypatch.setenv("PRODEX_CLIENT_SECRET", str(key["client_secret"]))
    options = [word for field in sorted(fields) for word in OPTIONS[field]]
    result = CliRunner().invoke(app, ["load", "--name", "one", "--allow-incomplete", *options])

    assert 0 == result.exit_code, result.output
    query = prodex.open_snapshot("one").origin.query
    assert fields == {field for field in OPTIONS if getattr(query, field)}


@cache
def _load_command() -> click.Command:
    return get_command(app).commands["load"]  # type: ignore[attr-defined, no-any-return] # it is a group


# No terminal takes a control character: it is shown as what escapes it, which begins with a backslash.
_TYPED_CHARACTERS = st.characters(exclude_categories=["C", "Z"], exclude_characters="\\,")
_TYPED = st.text(st.sampled_from(" ,") | _TYPED_CHARACTERS, min_size=1)
_TYPED_TAGS = st.lists(st.text(_TYPED_CHARACTERS, min_size=1), min_size=1, max_size=5)
_TYPED_WORDS = st.tuples(_TYPED.filter(str.strip), st.lists(st.sampled_from(SEARCH_FIELDS), min_size=1))
#: As many of each filter as a line shows; four keys are requested with each path.
_TYPED_VALUES = {
    **{
        name: drawn.map(lambda some: some[:5] if isinstance(some, list) else some)
        for name, drawn in VALUES.items()
    },
    "source_include": VALUES["source_include"].map(lambda paths: paths[:1]),
    "tags_in": _TYPED_TAGS,
    "tags_not_in": _TYPED_TAGS,
    "search": st.lists(_TYPED_WORDS, min_size=1, max_size=5),
}
_TYPED_JSON = st.none() | st.booleans() | st.integers() | _TYPED
_TYPED_EXTRA = st.dictionaries(
    _TYPED.map(lambda name: f"x_{name}".replace("=", "_")),
    _TYPED_JSON | st.lists(_TYPED_JSON, max_size=3) | st.dictionaries(_TYPED, _TYPED_JSON, max_size=3),
    max_size=3,
)


@pytest.mark.slow
@given(queries(values=_TYPED_VALUES, extra=_TYPED_EXTRA))
def test_a_query_is_said_as_the_options_that_ask_for_it(query: prodex.ProductQuery) -> None:
    """What a command says of a query of up to five values each can be typed again."""
    said = query_in_options(query)
    typed = _load_command().make_context("load", shlex.split(said) if said != "all products" else []).params
    given = {name: typed[name] for name in (*prodex.query.FILTERS, "extra")}

    assert query == _query_of_options(**given)


def test_many_values_are_counted() -> None:
    """Of thousands of GTINs a line shows some."""
    gtins = [f"{number:014}" for number in range(7_000)]

    said = query_in_options(prodex.ProductQuery(gtins_in=gtins, has_packshot=True))

    assert " ".join(f"--gtin {one}" for one in gtins[:5]) + " (5 of 7,000) --packshot" == said


def test_every_filter_has_an_option() -> None:
    """A filter that is added to the query must be added here too."""
    from prodex.query import FILTERS

    assert set(FILTERS) | {"extra"} == set(OPTIONS)


@pytest.mark.slow
def test_rich_content_labels_and_gtins_from_a_file(run: Run, tmp_path: Path) -> None:
    """The options that are no filters do what they say."""
    gtins = [str(shared.record["gtin"]) for shared in shared_products(40)]
    (tmp_path / "gtins.txt").write_text("\n".join(gtins))

    loaded = run(
        "load",
        "--gtin",
        f"@{tmp_path / 'gtins.txt'}",
        "--labels",
        "fr-FR",
        "--name",
        "forty",
        "--page-size",
        "7",
    )
    assert (0, True) == (loaded.returncode, "code_labels" in loaded.stdout), loaded.stderr
    rich = run("load", "--rich-content", "--name", "rich")
    assert (0, False) == (rich.returncode, " texts " in rich.stdout), rich.stderr


@pytest.mark.slow
@each_row(
    ("words", "said"),
    [
        (("load", "--market", "Atlantis"), "Atlantis"),
        (("load", "--updated-from", "yesterday"), "--updated-from: 'yesterday' is no date"),
        (("load", "--updated-from", "2026-11-20T08:00"), "aware|zone|offset"),
        (("load", "--extra", "novalue"), "NAME=VALUE"),
        (("load", "--service", "http://example.com"), "https"),
        (("export", "nothing", "--to", "out"), "No snapshot 'nothing'"),
        (("tables", "nothing"), "no table 'nothing'"),
    ],
)
def test_what_does_not_work_is_one_line_and_exit_code_1(run: Run, words: tuple[str, ...], said: str) -> None:
    """No traceback: what happened, with which value, and what to do."""
    done = run(*words)

    assert 1 == done.returncode
    assert re.search(said, done.stderr), done.stderr
    assert "Traceback" not in done.stderr


def test_a_command_that_is_not_understood_exits_with_2(run: Run) -> None:
    """As shells and job schedulers expect."""
    assert 2 == run("load", "--nothing").returncode


def test_wrong_credentials_are_told_without_showing_them(run: Run) -> None:
    """The secret is in no output."""
    done = run("load", PRODEX_CLIENT_SECRET="very-private")

    assert 1 == done.returncode
    assert "very-private" not in done.stderr + done.stdout


def test_tables_shows_the_data_dictionary(run: Run) -> None:
    """All tables, or the columns of one with type, path and meaning."""
    every, one = run("tables"), run("tables", "pictures")

    assert list(TABLES) == [line.split()[0] for line in every.stdout.splitlines()]
    assert re.search(r"is_packshot +bool +assets.pictures.isPackshot +marked as a packshot", one.stdout)


@each_row(
    "command",
    [
        "load",
        "refresh",
        "recover",
        "snapshots",
        "vacuum",
        "tables",
        "export",
        "publish",
        "check",
        "organizations",
        "segments",
        "upsert",
        "track",
        "scenarios require",
        "sandbox",
        "demo",
    ],
)
def test_help_gives_an_example(run: Run, command: str) -> None:
    """Each command explains itself."""
    shown = run(*command.split(), "--help")

    assert 0 == shown.returncode
    assert re.search(rf"[Ee]xamples?:\s+prodex {command}", shown.stdout)


def test_the_help_lists_every_command_once_under_what_it_is_for(run: Run) -> None:
    """The sections have exactly the commands that there are."""
    listed = [name for names in SECTIONS.values() for name in names]

    assert sorted(get_command(app).commands) == sorted(listed)
    assert [*SECTIONS] == re.findall(r"^(\w.*):$", run("--help").stdout, re.MULTILINE)[1:]


@each_row(
    ("words", "is_empty"),
    [
        (("snapshots", "nothing", "--verify"), True),
        (("snapshots",), False),
        (("snapshots", "--verify"), False),
        (("snapshots", "shop", "--verify"), False),
        (("history", "03036811359935"), False),
        (("overridden", "shop"), False),
        (("vacuum", "shop"), False),
        (("upserts",), False),
        (("accepted", "shop"), False),
        (("scenarios", "require", "--scenario", "7=true", "--gtin", "03036811359935"), True),
    ],
)
def test_what_a_program_asked_for_is_json_and_nothing_else(
    run: Run, home: Path, words: tuple[str, ...], is_empty: bool
) -> None:
    """Whatever a command has to say goes to the other output, and a file is written where one was asked for."""
    nothing_yet = run(*words, "--format", "json")
    prodex.flatten([{"id": 1, "gtin": "03036811359935"}]).save("shop")
    shown = run(*words, "--format", "json")
    written = run(*words, "--format", "table", "--out", str(home / "out.txt"))

    assert nothing_yet.returncode == 1 or json.loads(nothing_yet.stdout or "[]") == []
    assert is_empty or isinstance(json.loads(shown.stdout), list)
    assert not is_empty or shown.stdout == ""
    assert is_empty or (home / "out.txt").read_text("utf-8"), written.stderr


def test_ctrl_c_says_what_continues(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is stopped while it waits for the service ends with 130, as shells expect, and says what to do."""

    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(socket, "getaddrinfo", pressed)
    stopped = run("load", "--name", "shop")

    assert (130, "") == (stopped.returncode, stopped.stdout)
    assert "prodex: stopped. No unfinished file was left. The same command continues a load" in stopped.stderr
    assert "`prodex send-rest` lists what an upsert has not sent" in stopped.stderr


@each_row("words", [(), ("scenarios",), ("profiles",)])
def test_no_sentence_of_a_list_of_commands_is_cut(run: Run, words: tuple[str, ...]) -> None:
    """In a terminal of eighty columns, and one sentence is one line."""
    commands = run(*words, "--help", COLUMNS="80").stdout.partition("Show this message")[2]

    assert "..." not in commands
    assert [] == re.findall(r"^ {10,}\S.*", commands, re.MULTILINE)


def test_the_version_is_the_same_for_a_shell_and_for_python(run: Run) -> None:
    """And that of the package which is installed."""
    assert f"prodex {metadata.version('prodex')}\n" == run("--version").stdout
    assert metadata.version("prodex") == prodex.__version__


def test_a_damaged_snapshot_makes_verify_fail(run: Run) -> None:
    """So that a job notices."""
    folder = prodex.flatten([{"id": 1}]).save("shop").folder
    assert folder is not None
    (folder / "texts" / "part-00000.parquet").write_bytes(b"PAR1 no")

    done = run("snapshots", "--verify")
    assert 1 == done.returncode
    assert "texts/part-00000.parquet" in done.stdout.replace("\\", "/")


def test_a_snapshot_that_was_copied_in_part_makes_verify_fail(run: Run) -> None:
    """An earlier one is the newest then, and nobody would hear that there is another."""
    prodex.flatten([{"id": 1}]).save("shop")
    folder = prodex.flatten([{"id": 2}]).save("shop").folder
    assert folder is not None
    (folder / "manifest.json").unlink()

    done = run("snapshots", "--verify")
    assert 1 == done.returncode
    assert "copied or deleted in part" in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="links take a right of its own on Windows")
def test_a_link_in_place_of_a_snapshot_makes_verify_fail(run: Run, tmp_path: Path) -> None:
    """Its files are as written, and its name opens nothing."""
    folder = prodex.flatten([{"id": 1}]).save("shop").folder
    assert folder is not None
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")

    done = run("snapshots", "--verify")
    assert (1, True) == (done.returncode, "links among snapshots are not followed" in done.stdout)


@pytest.mark.slow
def test_a_snapshot_is_refreshed(run: Run, home: Path, sample_exchange: Sandbox) -> None:
    """It says when nothing changed; a sweep lists everything."""
    # A sandbox that runs already, so that none is started and filled with the whole sample.
    facts = {
        "base_url": sample_exchange.base_url,
        "pid": os.getpid(),
        "credentials": sample_exchange.credentials,
    }
    (home / "sandbox").mkdir(parents=True)
    (home / "sandbox" / "server.json").write_text(json.dumps(facts, default=str), "utf-8")
    assert 0 == run("load", "--service", "sandbox", "--name", "shop", "--tag", "exportable").returncode
    refreshed = run("refresh", "shop", "--service", "sandbox", "--sweep")

    assert 0 == refreshed.returncode, refreshed.stderr
    assert re.search(r"Since shop@\S+: [\d,]+ unchanged\.$", refreshed.stdout)


def test_recovering_needs_something_to_recover(run: Run) -> None:
    """If no load was interrupted, that is an error."""
    assert (1, "prodex: No load of 'shop' was interrupted") == (
        (ended := run("recover", "shop")).returncode,
        ended.stderr.partition(":")[0] + ":" + ended.stderr.split(":")[1],
    )
