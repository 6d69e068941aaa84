"""The commands that ask the service and write to it, each in every format."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer.main
from click.testing import Result
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.cli.demo import correct_a_text
from prodex.errors import InputError, PreflightFailed, SettingsError
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products
from tests.cases import each_row
from tests.on_the_way import carried

Run = Callable[..., Result]

NAME = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
GTINS = ["03036811359935", "03663215000110"]


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """A sandbox that nobody else reads, since these commands write to it."""
    with Sandbox(products=shared_products(120)) as sandbox:
        yield sandbox


@pytest.fixture
def run(exchange: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command as the first supplier, or as another organisation."""

    def command(*words: str, who: int = 3, catch: bool = True) -> Result:
        key = exchange.credentials[who]
        monkeypatch.setenv("PRODEX_BASE_URL", exchange.base_url)
        monkeypatch.setenv("PRODEX_CLIENT_ID", str(key["client_id"]))
        monkeypatch.setenv("PRODEX_CLIENT_SECRET", str(key["client_secret"]))
        monkeypatch.chdir(tmp_path)
        return CliRunner().invoke(app, list(words), catch_exceptions=catch)

    return command


def file_of(folder: Path, *products: dict[str, object]) -> str:
    """Write products to a file."""
    path = folder / "products.json"
    path.write_text(json.dumps(list(products)))
    return str(path)


def posted(exchange: Sandbox) -> list[Any]:
    """Return the bodies of all upserts."""
    return [
        body for method, path, body in exchange.requests if (method, path) == ("POST", "/public/v1/products")
    ]


COMMANDS = {
    "check": (["check"], "Grand Panier Sandbox"),
    "organizations": (["organizations", "--type", "retailer"], "Marktplein Sandbox"),
    "segments": (["segments", "--permission", "READ"], "All products"),
}


@pytest.mark.slow
@each_row("command", COMMANDS)
@each_row("format", ["table", "csv", "json", "parquet"])
def test_every_format_holds_the_same(run: Run, tmp_path: Path, command: str, format: str) -> None:  # noqa: A002
    """On the terminal and in a file; Parquet in a file only."""
    words, said = COMMANDS[command]
    out = tmp_path / "out.file"
    written = run(*words, "--format", format, "--out", str(out), who=0)
    assert (0, "") == (written.exit_code, written.stdout), written.output
    if format == "parquet":
        assert isinstance(run(*words, "--format", format, who=0).exception, InputError)
        frame = pd.read_parquet(out)
    else:
        shown = run(*words, "--format", format, who=0)
        assert said in shown.stdout
        if command != "check":  # whose seconds run on
            # A file that is opened in a spreadsheet has a mark at its beginning, and what goes to a program has none.
            assert out.read_text("utf-8-sig" if format == "csv" else "utf-8") == shown.stdout
        if format == "table":
            return
        frame = {
            "csv": lambda: pd.read_csv(out, dtype=str),
            "json": lambda: pd.DataFrame(json.loads(out.read_text("utf-8"))),
        }[format]()
    assert said in frame.astype(str).to_numpy()


def test_check_never_shows_the_token_or_the_secret(run: Run) -> None:
    """Host, organisation and seconds are enough."""
    done = run("check", "--format", "json", who=0)
    (access,) = json.loads(done.stdout)
    assert {"host", "organization", "organization_id", "token_lifetime"} == set(access)
    assert "eyJ" not in done.output
    assert "secret" not in done.output


def test_check_says_where_the_settings_came_from(run: Run, exchange: Sandbox) -> None:
    """On standard error, so that the table stays as it is; an option names address and host instead."""
    done = run("check", who=0)
    assert "Address from the environment variable PRODEX_BASE_URL; credentials from the" in done.stderr
    done = run("check", "--service", exchange.base_url, who=0)
    assert (
        "Address from an argument; credentials from the environment variable PRODEX_CLIENT_ID" in done.stderr
    )


@pytest.mark.slow
@each_row("command", [["check"], ["organizations"], ["segments"], ["load", "--name", "old"]])
def test_the_old_token_endpoint_is_asked_when_told(run: Run, exchange: Sandbox, command: list[str]) -> None:
    """--token-version 1 is passed on to the call; without it, the current endpoint is called."""
    before = len(exchange.requests)
    assert 0 == run(*command, "--token-version", "1", who=0).exit_code
    asked = [path for _, path, _ in exchange.requests[before:] if path.endswith("/token")]
    assert ["/auth/v1/token"] == asked
    refused = run(*command, "--token-version", "3", who=0)
    assert isinstance(refused.exception, SettingsError)


def test_every_command_that_asks_the_service_knows_the_old_token_endpoint() -> None:
    """Every command that has --service has --token-version."""
    waiting = [typer.main.get_command(app)]
    options = []
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        options.append({name for parameter in command.params for name in parameter.opts})
    asking = [known for known in options if "--service" in known]
    assert len(asking) >= 8
    assert all("--token-version" in known for known in asking)


@pytest.mark.slow
@pytest.mark.parametrize("way", [[], ["--xml"]])
def test_upsert_waits_and_track_picks_up(run: Run, tmp_path: Path, exchange: Sandbox, way: list[str]) -> None:
    """GTINs keep their leading zero; the last upsert needs no identifier."""
    products = [{"gtin": gtin, "nameLegal": NAME, "isConsumerUnit": True} for gtin in GTINS]
    done = run(
        "upsert",
        file_of(tmp_path, *products),
        "--send",
        *way,
        "--wait",
        "--batch-size",
        "1",
        "--format",
        "csv",
    )
    assert 0 == done.exit_code, done.output
    frame = pd.read_csv(io.StringIO(done.stdout), dtype=str)
    assert [[gtin, "SUCCESS"] for gtin in GTINS] == frame[["gtin", "status"]].to_numpy().tolist()
    assert bool(way) == isinstance(posted(exchange)[-1], bytes)

    last = run("track", "--format", "json")
    ids = [str(row["tracking"]) for row in json.loads(last.stdout)]
    named = run("track", *ids, "--wait", "--format", "json")
    assert (0, 0, 2) == (last.exit_code, named.exit_code, len(json.loads(named.stdout)))


@pytest.mark.slow
def test_a_refresh_says_what_changed(run: Run, tmp_path: Path) -> None:
    """How many products, what of them most, and the line that shows each value."""
    assert 0 == run("load", "--name", "ours").exit_code
    before = prodex.open_snapshot("ours")
    texts = before.texts.query("attribute == 'namePublicLong'").drop_duplicates("gtin").head(3)
    changed = [
        {"gtin": one, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": f"Pain {one}"}]}
        for one in texts["gtin"]
    ]
    assert 0 == run("upsert", file_of(tmp_path, *changed), "--send", "--wait").exit_code

    done = run("refresh", "ours")

    assert 0 == done.exit_code, done.output
    assert re.search(rf"^Since ours@\S+: {len(changed)} changed\b", done.stdout, re.MULTILINE)
    assert re.search(r"^  Long name in French changed on \d product", done.stdout, re.MULTILINE), done.stdout
    (line,) = re.findall(r"^Each old and new value: prodex (.*)$", done.stdout, re.MULTILINE)
    shown = run(*line.split(), "--format", "csv")
    assert {str(one["namePublicLong"][0]["data"]) for one in changed} <= {  # type: ignore[index]
        str(value) for value in pd.read_csv(io.StringIO(shown.stdout))["new"]
    }


def test_a_refresh_that_cannot_be_compared_is_a_refresh(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody cleared the earlier snapshot away meanwhile: the new one is there, and the exit code says so."""
    assert 0 == run("load", "--name", "ours").exit_code
    before = prodex.open_snapshot("ours").folder
    refresh = prodex.refresh

    def cleared_meanwhile(*arguments: Any, **options: Any) -> prodex.Catalog:
        refreshed = refresh(*arguments, **options)
        assert before is not None
        shutil.rmtree(before)
        return refreshed

    monkeypatch.setattr(prodex, "refresh", cleared_meanwhile)
    done = run("refresh", "ours")

    assert 0 == done.exit_code, done.output
    now = prodex.open_snapshot("ours").folder
    assert now is not None
    assert now != before
    assert now.name in done.stdout
    assert re.search(r"^What changed is not known: .*\bThe new snapshot is saved", done.stderr, re.MULTILINE)
    assert "Since" not in done.stdout


@pytest.mark.slow
def test_the_rest_of_an_upsert_is_sent_by_its_name(run: Run, tmp_path: Path) -> None:
    """`upserts` lists what is left, and `send-rest` sends it; what may have arrived only with --also."""

    class Ended(BaseException):
        pass

    def end(*_: object) -> Any:
        raise Ended

    products = [{"gtin": gtin, "nameLegal": NAME} for gtin in GTINS]
    with carried("upsert", end), pytest.raises(Ended):
        run("upsert", file_of(tmp_path, *products), "--send", "--batch-size", "1", catch=False)
    (left,) = json.loads(run("upserts", "--format", "json").stdout)
    assert (2, 1, 1) == (left["products"], left["unknown"], left["not_sent"])

    rest = run("send-rest", "--send", "--upsert", left["name"], "--wait", "--format", "json")
    assert (1, ["unknown", "SUCCESS"]) == (rest.exit_code, [row["status"] for row in json.loads(rest.stdout)])
    assert isinstance(run("send-rest", "--send", "--also", "all").exception, InputError)
    every = run("send-rest", "--send", "--also", "unknown", "--wait", "--format", "json")
    assert (0, ["SUCCESS"] * 2) == (every.exit_code, [row["status"] for row in json.loads(every.stdout)])
    shown = run("track", "--upsert", left["name"], "--format", "json")
    assert ["SUCCESS"] * 2 == [row["status"] for row in json.loads(shown.stdout)]


@pytest.mark.slow
def test_an_upsert_is_undone_by_its_number_and_what_is_kept_is_forgotten(
    run: Run, tmp_path: Path, exchange: Sandbox
) -> None:
    """Nothing is sent without --send; what somebody forgets cannot be taken back."""
    before = {"gtin": GTINS[0], "nameLegal": NAME, "lifeCycle": 1}
    assert 0 == run("upsert", file_of(tmp_path, before), "--send", "--wait", "--no-keep-before").exit_code
    after = {**before, "lifeCycle": 2}
    assert 0 == run("upsert", file_of(tmp_path, after), "--send", "--wait", "--why", "a mistake").exit_code
    kept, left_out = json.loads(run("upserts", "--format", "json").stdout)
    assert (1, "a mistake", True) == (kept["number"], kept["why"], kept["earlier_records"] > 0)
    assert (2, "file products.json", 0, None) == (
        left_out["number"],
        left_out["why"],
        left_out["earlier_records"],
        left_out["kept_until"],
    )

    sent = len(posted(exchange))
    shown = run("undo", "1", "--format", "json")
    assert (0, [("lifeCycle", "2", "1")]) == (
        shown.exit_code,
        [(row["attribute"], row["before"], row["after"]) for row in json.loads(shown.stdout)],
    )
    assert f"Undo of {kept['name']}" in shown.stderr
    assert sent == len(posted(exchange))
    assert isinstance(run("undo", "2").exception, InputError)
    done = run("undo", "last", "--send", "--wait", "--format", "json")
    assert (0, ["SUCCESS"]) == (done.exit_code, [row["status"] for row in json.loads(done.stdout)])
    assert 1 == posted(exchange)[-1]["data"][0]["lifeCycle"]
    again = run("undo", kept["name"], "--send")
    assert (0, "Nothing is left to take back." in again.stderr) == (again.exit_code, True)

    assert isinstance(run("upserts", "--forget", "x").exception, InputError)
    forgotten = run("upserts", "--forget", "all", "--format", "json")
    assert [0, 0, 0] == [row["earlier_records"] for row in json.loads(forgotten.stdout)]
    assert "were removed" in str(run("undo", kept["name"]).exception)


def test_what_failed_is_exit_code_1(run: Run, tmp_path: Path) -> None:
    """With the product and the reason."""
    bad = {"gtin": GTINS[0], "nameLegal": [{"expressedIn": {"code": "xxx-XX"}, "data": "Pain"}]}
    done = run("upsert", file_of(tmp_path, bad), "--send", "--wait")
    assert 1 == done.exit_code
    assert "xxx-XX" in done.stdout
    assert "CONTAINS_ERRORS" in done.stderr


def test_a_dry_run_shows_the_findings(run: Run, tmp_path: Path, exchange: Sandbox) -> None:
    """Exit code 1 when the sending would stop; nothing is sent."""
    calls = len(exchange.requests)
    good, bad = {"gtin": GTINS[0], "nameLegal": NAME}, {"gtin": "03036811359936", "nameLegal": NAME}
    fine = run("upsert", file_of(tmp_path, good))
    assert (0, True) == (fine.exit_code, "no kind" in fine.stdout)
    spoilt = run("upsert", file_of(tmp_path, good, bad), "--format", "json")
    assert (1, "error") == (spoilt.exit_code, json.loads(spoilt.stdout)[0]["severity"])
    assert "--send sends the products." in fine.stderr
    assert "Nothing was sent, and --send would send nothing: 1 error found." in spoilt.stderr
    assert isinstance(run("upsert", file_of(tmp_path, bad), "--send").exception, PreflightFailed)
    assert calls == len(exchange.requests)


def test_null_deletes_only_when_told(run: Run, tmp_path: Path, exchange: Sandbox) -> None:
    """Null in a file is no order by itself."""
    path = file_of(tmp_path, {"gtin": GTINS[0], "nameLegal": NAME, "description": None})
    for option, sent in (([], False), (["--null-deletes"], True)):
        assert 0 == run("upsert", path, "--send", "--wait", *option).exit_code
        (product,) = posted(exchange)[-1]["data"]
        assert sent == ("description" in product)


@pytest.mark.slow
def test_scenarios_are_required_of_named_products(run: Run, exchange: Sandbox, tmp_path: Path) -> None:
    """By GTIN, from a file, and of a whole snapshot; a batch that is refused is exit code 1."""
    key = exchange.credentials[0]
    retailer = prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    every = retailer.call("GET", "/sandbox/scenarios", decode=lambda reply: json.loads(reply.body))
    switch = f"{every[0]['id']}=true"
    catalog = prodex.load_products(retailer, name="shop", progress=False)
    accepted = catalog.where(product_status="ACCEPTED", owner_type=1).products
    gtins = accepted[
        ~accepted.gtin.duplicated(keep=False) & accepted.gtin.str.fullmatch("[0-9]{14}")
    ].gtin.head(3)
    (tmp_path / "gtins.txt").write_text("\n".join(gtins))

    words = ["scenarios", "require", "--scenario", switch]
    named = [*words, "--gtin", f"@{tmp_path / 'gtins.txt'}", "--format", "json"]
    calls = len(exchange.requests)
    # The first one in another spelling is the same product.
    assert "3 products, 1 scenario." in run(*named, "--gtin", gtins.iloc[0].lstrip("0"), who=0).output
    assert calls == len(exchange.requests)

    done = run(*named, "--send", who=0)
    assert (0, [3]) == (done.exit_code, [row["products"] for row in json.loads(done.stdout)]), done.output
    mixed = run(*words, "--snapshot", "shop", "--batch-size", "10", "--send", who=0)
    assert (1, True) == (mixed.exit_code, "refused" in mixed.stdout)


@each_row(
    "words",
    [
        ["--scenario", "7"],
        ["--scenario", "7=yes", "--gtin", GTINS[0]],
        ["--scenario", "7=true", "--gtin", GTINS[0], "--snapshot", "shop"],
        ["--scenario", "7=true", "--scenario", "7=false", "--gtin", GTINS[0]],
        ["--scenario", "7=true", "--gtin", "123"],
        ["--scenario", "7=true", "--gtin", GTINS[0], "--deadline", "2027-02-29"],
        ["--scenario", "7=true", "--gtin", GTINS[0], "--deadline", "2020-02-29"],
        ["--scenario", "7=false", "--gtin", GTINS[0], "--deadline", "2999-01-01"],
    ],
)
def test_scenarios_that_are_not_said_clearly_are_refused(run: Run, words: list[str]) -> None:
    """Which products, on or off and until when; without --send, too, as --send would refuse them."""
    assert isinstance(run("scenarios", "require", *words, who=0).exception, InputError)


def test_untrusted_text_does_not_move_the_cursor(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """What others wrote is shown on one line, each control character as its escape."""
    from prodex.cli.output import Format, show

    show(pd.DataFrame({"message": ["a\x1b[2Jb\nc"], "none": [None]}), Format.TABLE, None)
    assert "message       none\na\\x1b[2Jb\\nc\n" == capsys.readouterr().out


def test_a_long_text_makes_no_wide_table(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell on a terminal is cut, with its length; a file and a format for programs have it whole."""
    from prodex.cli.output import Format, show

    frame = pd.DataFrame({"value": ["a" * 40_000, "b"], "gtin": GTINS})
    show(frame, Format.TABLE, None)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < 600
    assert f"aaa … (40,000 characters)  {GTINS[0]}" in lines[1]
    show(frame, Format.CSV, None)
    show(frame, Format.TABLE, tmp_path / "table.txt")
    assert ["a" * 40_000] * 2 == [
        re.findall("a{500,}", text)[0]
        for text in (capsys.readouterr().out, (tmp_path / "table.txt").read_text())
    ]


@pytest.mark.slow
def test_a_failure_is_one_line_in_a_shell(exchange: Sandbox, tmp_path: Path) -> None:
    """No traceback for what prodex refuses on purpose."""
    key = exchange.credentials[3]
    settings = {
        "PRODEX_HOME": str(tmp_path),
        "PRODEX_BASE_URL": exchange.base_url,
        "PRODEX_CLIENT_ID": str(key["client_id"]),
        "PRODEX_CLIENT_SECRET": str(key["client_secret"]),
    }
    done = subprocess.run(
        [sys.executable, "-m", "prodex", "track", "999999"],
        capture_output=True,
        text=True,
        env={**os.environ, **settings},
        cwd=tmp_path,
        check=False,
    )
    assert (1, 1) == (done.returncode, len(done.stderr.splitlines())), done.stderr
    assert "Only the access key that sent a write can track it" in done.stderr


@pytest.mark.slow
def test_the_demo_corrects_a_text_and_reads_it_back(exchange: Sandbox) -> None:
    """One language corrected, the others untouched; and again, on what it corrected before."""
    key = exchange.credentials[0]
    client = prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    for _ in range(2):
        said: list[str] = []
        correct_a_text(client, prodex.load_products(client, max_age=0, progress=False), said.append)
        story = "\n".join(said)
        assert "status SUCCESS" in story
        assert 1 == story.count("(corrected at")
        assert re.search(r"[2-9] other languages untouched:", story)
        assert all(line.count("(corrected at") <= 1 for line in story.splitlines())


@pytest.mark.slow
def test_every_command_that_asks_the_service_can_be_told_for_how_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One option, the same everywhere: where nobody answers, the command ends after that time."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    monkeypatch.setenv("PRODEX_CLIENT_ID", "key")
    monkeypatch.setenv("PRODEX_CLIENT_SECRET", "secret")
    begin = time.monotonic()
    for words in (
        ["check"],
        ["organizations"],
        ["segments"],
        ["track", "7"],
        ["load", "--name", "shop"],
    ):
        result = CliRunner().invoke(app, [*words, "--service", nobody, "--retry-seconds", "0.2"])
        assert re.search(r"failed \d times in 0 s", str(result.exception)), (words, result.exception)

    assert time.monotonic() - begin < 15


def test_the_option_for_retries_is_declared_once() -> None:
    """Whatever has --service has --retry-seconds, and what makes no sense is refused."""
    import typer.main

    group = typer.main.get_command(app)
    commands = {**group.commands, **group.commands["scenarios"].commands}  # type: ignore[attr-defined]
    options = {name: {word for one in of.params for word in one.opts} for name, of in commands.items()}
    asking = {name for name, words in options.items() if "--service" in words}

    assert {"load", "refresh", "check", "upsert", "track", "require", "organizations", "segments"} <= asking
    assert asking == {name for name, words in options.items() if "--retry-seconds" in words}
    for seconds, words in (
        ("-1", "RetryPolicy(seconds="),
        ("nan", "not an amount"),
        ("1e3", "has an exponent"),
    ):
        result = CliRunner().invoke(
            app, ["check", "--service", "http://127.0.0.1:1", "--retry-seconds", seconds]
        )
        assert words in f"{result.exception} {result.output}"
