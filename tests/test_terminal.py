"""What a terminal obeys is shown there and never obeyed: in every repr, error, command, log and progress bar."""

from __future__ import annotations

import ast
import json
import logging
import os
import pickle
import shutil
import subprocess
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import errors
from prodex.cli import main
from prodex.quality.comparison import compare_audits
from prodex.untrusted_text import on_one_line, printable, printable_json
from tests.cases import each_row, own_home
from tests.service.exchange import CLIENT_ID, CLIENT_SECRET, Answer, Exchange, says

#: Clear the screen, write to the clipboard, make a link, go back over what is there; C1 controls, DEL, a line that
#: looks like ours; writing that runs backwards, characters without a width, and other ends of a line.
HOSTILE = (
    "Pain \x1b[2J\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil.example\x1b\\x\r\x08\x07\x00\x7f\x9b2J\x9d0;t\x9c\n"
    "prodex: all is well\u202egnp.exe\u2066\u2067\u2069\u200b\u200f\ufeff\x85\u2028\u2029\x0b\x0c\ttab"
)


def obeyed(text: str) -> list[str]:
    """Return what a terminal would obey of a text, or show as nothing; our own line feeds are none of it."""
    return [
        f"{c!r} in {text[max(at - 30, 0) : at + 10]!r}"
        for at, c in enumerate(text)
        if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    ]


def record(number: int) -> dict[str, Any]:
    """Make a product in which every text is hostile, names of attributes and keys included."""
    french = {"expressedIn": {"code": HOSTILE, "label": HOSTILE}, "data": f"{HOSTILE}{number}"}
    return {
        "id": f"{number}{HOSTILE}",
        "uuid": HOSTILE,
        "gtin": HOSTILE if number % 2 else "03036811359935",
        "updatedAt": HOSTILE,
        "owner": {"id": HOSTILE, "name": HOSTILE},
        "brand": {"code": HOSTILE, "label": HOSTILE},
        "kind": {"code": HOSTILE, "label": HOSTILE},
        "namePublicLong": [french],
        "isConsumerUnit": HOSTILE,
        HOSTILE: [french],
        "assets": {"pictures": [{"url": f"http://{HOSTILE}", "isPackshot": True, "gdsnFileName": HOSTILE}]},
    }


class HostileExchange(Exchange):
    """A service that says hostile things wherever it has a word."""

    def __init__(self) -> None:
        super().__init__(6)
        tracked = {"gtin": HOSTILE, "status": HOSTILE, "message": HOSTILE}
        self.records = [{"status": "CONTAINS_ERRORS", "message": HOSTILE, "user": HOSTILE, "organization": HOSTILE,
                         "endpoint": HOSTILE, "createdAt": HOSTILE, "products": [tracked]}]  # fmt: skip

    @staticmethod
    def product(index: int) -> dict[str, Any]:
        return record(index)

    def _products(self, handler: BaseHTTPRequestHandler, content: dict[str, Any]) -> Answer:
        path = urlsplit(handler.path).path
        if "organization" in path:
            return says(200, {"data": [{"id": HOSTILE, "name": HOSTILE, "type": HOSTILE}], "totalResults": 1})
        if "segments" in path:
            return says(200, {"data": [{"id": HOSTILE, "name": HOSTILE, "children": []}]})
        if "rulesets" in path:
            return says(400, {"message": HOSTILE})
        return super()._products(handler, content)


@pytest.fixture
def exchange(monkeypatch: pytest.MonkeyPatch) -> Iterator[HostileExchange]:
    """Serve hostile things, with the settings that lead there."""
    with HostileExchange() as service:
        monkeypatch.setenv("PRODEX_BASE_URL", service.base_url)
        monkeypatch.setenv("PRODEX_CLIENT_ID", CLIENT_ID)
        monkeypatch.setenv("PRODEX_CLIENT_SECRET", CLIENT_SECRET)
        yield service


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep hostile products as the snapshot `shop`, twice, the second time with other texts."""
    folder = tmp_path_factory.mktemp("shop") / "home"
    with own_home(folder):
        prodex.flatten([record(number) for number in range(4)]).save("shop")
        other = [{**record(number), "namePublicLong": record(9)["namePublicLong"]} for number in range(1, 5)]
        prodex.flatten(other).save("shop")
    return folder


@pytest.fixture
def shop(kept: Path, home: Path) -> prodex.Catalog:
    """Have a copy of both snapshots at home."""
    shutil.copytree(kept, home)
    return prodex.open_snapshot("shop")


def snapshots() -> list[str]:
    """Return the folders of both."""
    return [str(folder) for folder in prodex.list_snapshots("shop")["folder"]]


@pytest.fixture
def spoken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run a command as a shell does, and return all that it wrote to the terminal."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["prodex", *words])
        with pytest.raises(SystemExit):  # typer always ends so
            main()
        told = capfd.readouterr()
        return told.out + told.err

    return run


@given(st.text(st.one_of(st.characters(), st.sampled_from(HOSTILE))))
def test_nothing_of_any_text_is_obeyed(text: str) -> None:
    """Of line breaks only line feeds stay, or none; what is printable stays as it is."""
    assert [] == obeyed(printable(text))
    assert text.count("\n") == printable(text).count("\n")
    assert [] == obeyed(on_one_line(text))
    assert "\n" not in on_one_line(text)
    assert not text.isprintable() or text == printable(text) == on_one_line(text)


@given(st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(HOSTILE))))
def test_json_says_the_same(text: str) -> None:
    """What is escaped in JSON is still the same text for every reader."""
    written = printable_json(json.dumps({text: [text]}, ensure_ascii=False, indent=1))

    assert [] == obeyed(written)
    assert {text: [text]} == json.loads(written)


ERRORS = sorted(name for name in vars(errors) if isinstance(getattr(errors, name), type) and name != "Any")


@each_row("name", ERRORS)
def test_no_error_moves_the_cursor(name: str) -> None:
    """Message, repr, notes and traceback of each of our errors, also after a way through another process."""
    kind = getattr(errors, name)
    error = kind(f"It said: {HOSTILE}", *[None] * (name == "PreflightFailed"))
    error.add_note(HOSTILE)
    again = error if name == "PreflightFailed" else pickle.loads(pickle.dumps(error))

    for one in (error, again):
        assert str(one).startswith("It said: Pain \\x1b[2J")
        assert [] == obeyed(f"{one}\n{one!r}\n{''.join(traceback.format_exception(one))}")


@pytest.mark.slow
def test_no_repr_moves_the_cursor(shop: prodex.Catalog, tmp_path: Path) -> None:
    """Of catalogue, audit, comparison, difference, gallery, pictures, profile, query and what is inside them."""
    old, new = (prodex.open_snapshot(folder) for folder in snapshots())
    profile = tmp_path / "own.toml"
    profile.write_text(f"title = {json.dumps(HOSTILE)}\n[checks.valid_gtin]\n")

    def raises(products: Any) -> Any:
        raise ValueError(HOSTILE)

    prodex.packs.rule(title=HOSTILE, fix=HOSTILE, source=HOSTILE)(raises)
    audits = [prodex.audit(one, {"checks": {"valid_gtin": {}, "raises": {}}}) for one in (old, new)]
    failures = audits[1].failures()
    shown = [
        old,
        old.origin,
        old.origin.ledger,
        *audits,
        compare_audits(*audits),
        prodex.diff(old, new),
        new.gallery(folder=tmp_path),
        prodex.download_pictures(new, tmp_path / "pictures"),
        prodex.Profile.read(profile),
        prodex.ProductQuery(tags_in=[HOSTILE], extra={"other": HOSTILE}),
        prodex.connect(base_url="http://127.0.0.1:9", client_id=HOSTILE, client_secret="x").with_labels(
            HOSTILE
        )
        if hasattr(prodex.service.Client, "with_labels")
        else None,
        prodex.explore(new),
        failures.columns,
    ]

    for one in shown:
        assert [] == obeyed(f"{one!r}\n{one!s}")


def test_what_a_service_said_is_shown(exchange: HostileExchange) -> None:
    """Messages of an import and of each product of it, and messages of calls that failed."""
    client = prodex.connect()
    french = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    written = prodex.upsert(client, [{"gtin": "03036811359935", "namePublicLong": french, HOSTILE: HOSTILE}])
    trial = prodex.upsert(client, [{"gtin": HOSTILE, HOSTILE: HOSTILE}], dry_run=True)

    written.wait(progress=False)
    assert 2 <= repr(written).count("Pain \\x1b[2J")
    for one in (written, trial, client, client.search_products(prodex.ProductQuery(), limit=2)):
        assert [] == obeyed(f"{one!r}\n{one!s}")
    for status in (400, 401, 403, 404, 422):
        refusal = says(status, {"message": HOSTILE, "error": HOSTILE})
        exchange.answers.extend([refusal] * (1 + (status == 401)))  # a token may be renewed once
        with pytest.raises(errors.ServiceError) as failed:
            client.search_products(prodex.ProductQuery(), limit=1)
        assert [] == obeyed("".join(traceback.format_exception(failed.value)))


LOCAL = [
    "snapshots",
    "snapshots --verify",
    "tables",
    "tables texts",
    "export shop --to out --format csv",
    "audit shop",
    *(
        f"audit shop --show {what}"
        for what in ("gaps", "scores", "checks", "failures", "coverage", "products")
    ),
    "audit shop --show failures --format json",
    "audit shop --by owner",
    "audit shop --html report.html --worklists out/worklists --save",
    "audit shop --profile own.toml",
    "diff OLD NEW",
    *(f"diff OLD NEW --show {what}" for what in ("products", "changes", "attributes", "not-comparable")),
    "diff OLD NEW --show changes --format json",
    "diff OLD NEW --by owner_id",
    "rules",
    "profiles show own.toml",
    "pictures shop --to images --html sheet.html",
    "vacuum shop --keep 1 --dry-run",
    "recover shop",
    "open HOSTILE",
    "audit HOSTILE",
    "tables HOSTILE",
    "rules HOSTILE",
]


@pytest.mark.slow
@pytest.mark.parametrize("line", LOCAL)
def test_no_command_moves_the_cursor(
    line: str, shop: prodex.Catalog, spoken: Callable[..., str], tmp_path: Path
) -> None:
    """Tables, words and errors on the terminal, of snapshots that hold nothing but hostile texts."""
    (tmp_path / "own.toml").write_text(f"title = {json.dumps(HOSTILE)}\n[checks.valid_gtin]\n")
    old, new = snapshots()
    words = [{"OLD": old, "NEW": new, "HOSTILE": HOSTILE}.get(word, word) for word in line.split()]

    told = spoken(*words)

    assert told
    assert [] == obeyed(told)


REMOTE = [
    "check",
    "organizations",
    "organizations --format json",
    "segments",
    "-v load --name shop",
    "-v load --name shop --windows 4 --allow-incomplete",
    "upsert products.json",
    "upsert products.json --send --wait",
    "track 1 --wait",
    "track 1",
    "scenarios require --scenario 7=true --gtin 03036811359935 --send",
]


@pytest.mark.slow
@each_row("line", REMOTE)
def test_no_command_obeys_the_service(
    line: str, exchange: HostileExchange, spoken: Callable[..., str], tmp_path: Path
) -> None:
    """Whatever it says, of products, imports and errors, also call by call."""
    (tmp_path / "products.json").write_text(json.dumps([record(0)]))

    told = spoken(*line.split())

    assert told
    assert [] == obeyed(told)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no pseudo-terminal")
def test_csv_is_data_in_a_pipe_and_shown_on_a_terminal(shop: prodex.Catalog) -> None:
    """A program that reads gets every text; a person who looks gets nothing that moves the cursor."""
    import pty

    old, new = snapshots()
    words = [sys.executable, "-m", "prodex", "diff", old, new, "--show", "changes", "--format", "csv"]
    piped = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    leader, follower = pty.openpty()
    with subprocess.Popen(words, stdout=follower, stderr=subprocess.DEVNULL) as command:
        os.close(follower)
        seen = b""
        try:
            while piece := os.read(leader, 4096):
                seen += piece
        except OSError:  # the other end was closed
            pass
    os.close(leader)

    assert 0 == command.returncode
    assert "\x1b]52;" in piped
    assert "Pain \\x1b[2J" in seen.decode()
    assert [] == obeyed(seen.decode().replace("\r\n", "\n"))


@pytest.mark.slow
def test_the_sandbox_shows_what_it_quotes(tmp_path: Path) -> None:
    """Of a file of products, its name and the name of who is not there, on its own console."""
    file = tmp_path / "a\x1b[2J\u202e\x9b.json"
    file.write_text(json.dumps([record(1), HOSTILE]))
    words = [
        "sandbox",
        "--home",
        str(tmp_path / "home"),
        "--products",
        str(file),
        "--import-as",
        HOSTILE[:30],
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "prodex", *words], capture_output=True, check=False, timeout=60
    )

    assert 2 == ended.returncode
    assert b"a\\x1b[2J\\u202e\\x9b.json" in ended.stderr
    assert [] == obeyed((ended.stdout + ended.stderr).decode())


def test_a_log_shows_what_it_quotes(exchange: HostileExchange, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever sets up logging gets lines that are safe to look at."""
    logger = logging.getLogger("prodex")
    with caplog.at_level(logging.DEBUG):
        logger.warning("%s is left out: %s", HOSTILE, errors.InputError(HOSTILE))
        logger.warning("%d of %d", 1, 2)

    assert [] == obeyed(caplog.text)
    assert "1 of 2" in caplog.text


def test_commands_print_in_one_place_only() -> None:
    """Nothing of the command line writes to the terminal by another way than `say` and `show`."""
    folder = Path(prodex.__file__).parent / "cli"
    for path in folder.glob("*.py"):
        if path.name != "output.py":
            names = {
                ast.unparse(node.func)
                for node in ast.walk(ast.parse(path.read_text("utf-8")))
                if isinstance(node, ast.Call)
            }
            assert not names & {
                "print",
                "typer.echo",
                "typer.secho",
                "sys.stdout.write",
                "sys.stderr.write",
            }, path
