"""The errors of a terminal name options and commands, and never a line of Python."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import prodex
from prodex.advice import Argument, PythonCall, advice, in_words
from prodex.cli import main
from prodex.cli.words import CALLS, OPTIONS, error_in_words, of_terminal
from prodex.errors import InputError
from prodex.sandbox import Fault, Sandbox
from prodex_sandbox.sample import shared_products
from tests.cases import each_row, own_home
from tests.test_commands_alike import commands

#: Python, as a message has it: a name of the package, a call, an argument (with a value, or what is wrong with it), a
#: value, an attribute, which is no ending of a file.
PYTHON = re.compile(
    r"\bpx\.|\bprodex\.\w|\b[A-Za-z_]\w*\((?!s\))|(?<![\w./-])[a-z_]{2,}=|\b(?:True|False|None)\b|of this error"
    r"|(?<=: )(?:[a-z]+_[a-z_]+: |(?:windows|keep|until) is |extra holds )"
    r"|(?<=[ (])\.(?!env\b|toml\b|csv\b|xlsx\b|json\b|xml\b|parquet\b|html\b)[a-z_]+\b"
)

_PRODUCT = (
    '[{"gtin": "03036811359935", "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]}]'
)
FILES = {
    "empty.json": "",
    "bad.json": "{nope",
    "list.json": "[1, 2]",
    "nameless.json": '[{"gtin": "03036811359935"}]',
    "good.json": _PRODUCT,
    "bad_gtin.json": _PRODUCT.replace("03036811359935", "123"),
    "bad.toml": "= nope",
    "empty.toml": "",
    "other.toml": 'name = "x"\ncolour = 3\n',
    "rule.toml": "[checks.vlid_gtin]\n",
    "no_rule.toml": "[checks.zzzzzz]\n",
    "parameter.toml": '[checks.required_text]\nattribute = "namePublicLnog"\n',
    "no_channel.toml": "requirements = 1\n",
    "operation.toml": '[[steps]]\ndo = "trim space"\nattribute = "namePublicLong"\n',
    "attribute.toml": '[[steps]]\ndo = "trim spaces"\nattribute = "namePublicLnog"\n',
    "no_value.toml": '[[steps]]\ndo = "set value"\nattribute = "namePublicLong"\nvalue = ""\n',
    "column.toml": 'brand_cod = "A"\n',
    "day.toml": 'updated_at = "2026-11-13"\n',
    "failing.toml": 'fails = ["valid_gtin"]\n',
    "workbook.xlsx": "hello",
    "table.csv": "a,b\n1,2\n",
    "trim.toml": '[[steps]]\ndo = "trim spaces"\nattribute = "namePublicLong"\n',
    "job.toml": 'name = "nowhere"\nprofile = "coer"\n',
    "owners.toml": 'ACME = "de"\n',
}

NO_SERVICE = [
    "check",
    "load --name x",
    "refresh shop",
    "upsert good.json",
    "track 7",
    "organizations",
    "undo last",
]
SERVICE_AWAY = ["check", "load --name x", "track 7", "organizations", "segments", "upsert good.json --send"]

#: What people type wrong: a file, a name, an option, a combination of options.
WRONG = """
check --token-version 3
check --retry-seconds -1
check --service nope
check --format parquet
load --market Atlantis
load --gtin 3,03681E+12
load --gtin @nothing
load --updated-from yesterday
load --updated-from 2026-11-20T08:00
load --updated-from 2026-11-20 --updated-to 2025-01-01
load --pictures-from 2026-11-20T08:00
load --language Klingon
load --validation maybe
load --shared-from NEVER
load --packshot --no-packshot
load --search word@nofield
load --search @brand.label
load --extra novalue
load --extra target_market=250 --market 276
load --extra filter_target_market=250
load --extra limit=1
load --include brand --exclude brand
load --owner ""
load --tag a --without-tag a
load --name ../x
load --labels Klingon --name y
load --select nothing.toml
load --select column.toml
load --select failing.toml
load --rich-content --labels fr
load --page-size 1000
load --windows -1
load --most-calls 0
load --most-calls 1 --name w
refresh nothing
refresh mine
refresh shop@2026
refresh shop --lag -1
recover shop
recover nothing
snapshots nothing
vacuum nothing
vacuum shop --keep 0
open nothing
open shop mine x
open shop --to nowhere/a.html --send
open shop --service sandbox
open shop --send --port 99999 --no-browser
tables nothing
diff nothing shop
diff shop mine --by ownr
diff shop mine --by owner --show changes
history 123
history ""
history 03036811359935 --snapshot nothing
history 03036811359935 --attribute namePublicLnog
overridden nothing
pictures nothing --to p
pictures shop --to p --size 0
pictures shop --to p --workers 0
export nothing --to out
export shop --to shop.csv
export shop --to shop.csv --format csv
export shop --to out --format cvs
export shop --to out --table text
export shop --to out --table raw --language fr
export shop --to out --column nothing
export shop --to out --column brand --column texts.text
export shop --to out --language Klingon
export shop --to out --language fr --format jsonl
export shop --to out --column brand --format jsonl
export shop --to out --escape-formulas
export shop --to a.xlsx --wide Klingon
export shop --to a.xlsx --wide ""
export shop --to a.txt --wide fr
export shop --to a.xlsx --wide fr --column nothing
export shop --to a.xlsx --wide fr --table texts
export shop --to a.xlsx --wide fr --format csv
export shop --to a.xlsx --wide fr --escape-formulas
export shop --to out --select column.toml
export shop --to out --select failing.toml
export shop --to out --select day.toml
publish nothing --to pub
publish shop --to table.csv
audit nothing
audit shop --profile coer
audit shop --profile nothing.toml
audit shop --profile bad.toml
audit shop --profile rule.toml
audit shop --profile no_rule.toml
audit shop --profile parameter.toml
audit shop --profile no_channel.toml
audit shop --profile workbook.xlsx
audit shop --profile table.csv
audit shop --requirements nothing.xlsx
audit shop --requirements bad.toml
audit shop --requirements rule.toml
audit shop --requirements fixes/index.csv
audit shop --requirements fixes
audit shop --market Atlantis
audit shop --show changes
audit shop --show completeness
audit shop --by ownr
audit shop --units all
audit shop --html dir
audit shop --worklists fixes
audit shop --worklists fixes --languages nothing.toml
audit shop --worklists w --by brand --languages owners.toml
audit shop --languages owners.toml
audit shop --language Klingon
audit shop --since nothing
audit shop --now yesterday
audit shop --as-of yesterday
audit shop --fail-under 2
audit shop --fail-if-worse --profile online-listing
audit shop --than nothing
audit shop --new-only
requirements nothing --to r.xlsx
requirements shop --to r.txt
requirements shop --to r.xlsx --by ownr
requirements shop --to r.xlsx --channel Web:Atlantis
requirements shop --to r.xlsx --language Klingon
requirements shop --to r.xlsx --start nothing
requirements shop --to workbook.xlsx
requirements shop --to workbook.xlsx --replace
accept nothing --check valid_gtin --reason x
accept shop --check vlid_gtin --reason x
accept shop --reason x
accept shop --all --reason ""
accept shop --all --reason x --until yesterday
accept shop --all --reason x --until 2020-02-29
accept shop --product 999 --reason x
withdraw shop
withdraw nothing --all
accepted nothing
rules vlid_gtin
rules --block foood
profiles show coer
watch nothing
watch shop --zone Nowhere/City
watch shop --language Klingon
run nothing.toml
run bad.toml
run empty.toml
run other.toml
fix nothing
fix workbook.xlsx
fix table.csv
fix fixes --snapshot nothing
fix fixes --profile coer
fix fixes --owner nobody
fix fixes --until 2099-01-01
fix table.csv --snapshot shop
recipe nothing.toml shop
recipe bad.toml shop
recipe empty.toml shop
recipe operation.toml shop
recipe attribute.toml shop
recipe no_value.toml shop
recipe operation.toml nothing
upsert nothing.json
upsert empty.json
upsert bad.json
upsert list.json
upsert nameless.json --send
upsert bad_gtin.json --send
upsert good.json --batch-size 0
upsert latin.json
upsert latin.json --encoding nope
track
track abc
track --upsert nothing
upserts --forget nothing
send-rest
send-rest --upsert nothing
undo last
undo 99
undo nothing
organizations --type shop
segments --permission NOPE
scenarios require --scenario 7
scenarios require --scenario 7=true
scenarios require --scenario 7=true --gtin 123 --send
scenarios require --scenario 7=true --gtin 123
scenarios require --scenario 7=true --scenario 7=false --snapshot mine
scenarios require --scenario 7=true --snapshot mine --deadline 2027-02-29
scenarios require --scenario 7=true --snapshot mine --deadline 2020-02-29
scenarios require --scenario 7=true --snapshot nothing
scenarios require --scenario 7=true --snapshot mine --deadline yesterday --send
scenarios require --scenario 7=true --snapshot mine --batch-size 0 --send
lab --to table.csv --copy-only
""".strip().splitlines()


#: What goes well, with what makes a snapshot, a comparison and a write say more than usual.
RIGHT = """
load --name few --market 250 --gtin 03036811359935
load --name few --search "Pain@namePublicLong.data" --max-age 9000
refresh shop
snapshots
snapshots --verify
tables products
diff shop few
diff shop mine --show changes
overridden shop
history 03036811359935 --snapshot mine
pictures shop --to pictures
export shop --to exported
publish shop --to published
audit shop --profile core
requirements shop --to requirements.xlsx
accept shop --all --reason x
withdraw shop --all
watch shop
fix sent --snapshot shop
recipe trim.toml shop
upsert good.json
upserts
organizations
segments
check
vacuum shop
""".strip().splitlines()


class Terminal:
    """A folder with files, snapshots and a service; runs commands in it as a shell does."""

    def __init__(self, folder: Path, service: Sandbox) -> None:
        self.folder, self.service = folder, service
        key = service.credentials[0]
        self.settings = {
            "PRODEX_HOME": str(folder / "home"),
            "PRODEX_BASE_URL": service.base_url,
            "PRODEX_CLIENT_ID": str(key["client_id"]),
            "PRODEX_CLIENT_SECRET": str(key["client_secret"]),
        }

    def run(self, line: str, **settings: str | None) -> tuple[object, str]:
        """Run a line; return its exit code and what it wrote to standard error."""
        code, _, said = self.shown(line, **settings)
        return code, said

    def shown(self, line: str, **settings: str | None) -> tuple[object, str, str]:
        """Run a line; return its exit code and what it wrote to standard output and standard error."""
        with (
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(StringIO()) as shown,
            redirect_stderr(StringIO()) as said,
        ):
            for name, value in {**self.settings, **settings}.items():
                patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
            patch.setattr(sys, "argv", ["prodex", *shlex.split(line)])
            patch.chdir(self.folder)
            with pytest.raises(SystemExit) as ended:
                main()
        return ended.value.code, shown.getvalue(), said.getvalue()


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """Have a snapshot `shop` of the service with an audit and worklists, one of other records, and wrong files."""
    folder = tmp_path_factory.mktemp("terminal")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    (folder / "latin.json").write_bytes(_PRODUCT.replace("Pain", "Crème").encode("cp1252"))
    (folder / "dir").mkdir()
    with Sandbox(shared_products(40)) as service, own_home(folder / "home"):
        made = Terminal(folder, service)
        assert (0, True) == ((ended := made.run("load --name shop"))[0], True), ended
        prodex.flatten([{"id": 1, "gtin": "03036811359935"}]).save("mine")
        judged = prodex.audit("shop", "core", progress=False).save()
        # What is typed wrong leaves a template in the first.
        for name in ("fixes", "sent"):
            judged.worklists(folder / name)
        yield made


def problems(said: tuple[object, str]) -> list[str]:
    """Return what is wrong with how a command failed: it did not, it said nothing, or it said Python."""
    code, text = said
    wrong = [] if code in {1, 2} and text else [f"exit code {code}, {text!r}"]
    # Other lines have the results of a command, and what they quote.
    lines = [line for line in text.splitlines() if line.startswith(("prodex: ", "Error: "))]
    return wrong + [f"{found.group()!r} in {line!r}" for line in lines for found in PYTHON.finditer(line)]


@pytest.mark.slow
@each_row("line", WRONG)
def test_what_is_typed_wrong_is_refused_in_the_words_of_a_terminal(line: str, terminal: Terminal) -> None:
    """Every command, with what people get wrong: exit code 1 or 2, and no Python."""
    assert [] == problems(terminal.run(line))


@pytest.mark.slow
@each_row("line", RIGHT)
def test_what_goes_well_is_said_in_the_words_of_a_terminal(line: str, terminal: Terminal) -> None:
    """A query is shown as the options that ask for it, and nothing as a line of Python."""
    code, shown, said = terminal.shown(line)

    assert 0 == code, said
    # Tables have values of products, among them True and False.
    python = re.compile(PYTHON.pattern.replace(r"|\b(?:True|False|None)\b", ""))
    lines = (one for text in (shown, said) for one in text.splitlines())
    assert [] == [(found.group(), one) for one in lines for found in python.finditer(one)]


@pytest.mark.slow
@each_row("line", NO_SERVICE)
def test_without_settings_a_command_says_how_to_give_them(line: str, terminal: Terminal) -> None:
    """Environment, `.env`, keyring, or the sandbox."""
    said = terminal.run(line, PRODEX_BASE_URL=None, PRODEX_CLIENT_ID=None, PRODEX_CLIENT_SECRET=None)

    assert [] == problems(said)
    assert "Set PRODEX_BASE_URL in the environment" in said[1]
    assert "--service sandbox" in said[1]


@pytest.mark.slow
@each_row("line", SERVICE_AWAY)
def test_a_service_that_is_away_is_told_with_options(line: str, terminal: Terminal) -> None:
    """And what makes the command try for longer."""
    said = terminal.run(f"{line} --retry-seconds 0.05", PRODEX_BASE_URL="http://127.0.0.1:9")

    assert [] == problems(said)
    assert "--retry-seconds tries longer than 0.05 s" in said[1]


@pytest.mark.slow
@each_row(
    "line",
    [
        "check",
        "load --name x",
        "upsert good.json --send",
        "scenarios require --scenario 7=true --gtin 03036811359935 --send",
    ],
)
@each_row("fault", ["500", "garbage", "401", "429"])
def test_a_service_that_fails_is_told_with_options(line: str, fault: str, terminal: Terminal) -> None:
    """Whatever it answers."""
    terminal.service.order(Fault(fault, endpoint="all"))
    try:
        assert [] == problems(terminal.run(f"{line} --retry-seconds 0.05"))
    finally:
        terminal.service.clear_faults()


@pytest.mark.slow
@each_row("line", ["check", "load --name x", "organizations", "upsert good.json --send"])
def test_credentials_that_are_refused_are_told(line: str, terminal: Terminal) -> None:
    """Without Python, and without the secret."""
    said = terminal.run(line, PRODEX_CLIENT_SECRET="very-private")

    assert [] == problems(said)
    assert "very-private" not in said[1]


def _named_in_source(kind: str) -> set[str]:
    """Return the first argument of each `Argument` or `PythonCall` that the package makes, where it is a text."""
    found = set()
    sources = (path.read_text("utf-8") for path in Path(prodex.__file__).parent.rglob("*.py"))
    for source in (one for one in sources if "from prodex.advice import" in one):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(text)), *_]) if (
                    name == kind
                ):
                    found.add(text)
    return found


def test_each_call_that_a_message_names_has_words_for_a_terminal() -> None:
    """And none has words that nobody names any more."""
    assert _named_in_source("PythonCall") == set(CALLS)


def test_each_call_that_a_message_names_exists() -> None:
    """Where it begins with the package, whatever else was given another name."""
    for line in CALLS:
        for path in re.findall(r"\b(?:prodex|px)((?:\.\w+)+)", line):
            found: object = prodex
            for name in path.split(".")[1:]:
                found = getattr(found, name)


def test_each_argument_that_a_message_names_is_an_option() -> None:
    """Of some command, under the name by which the terminal calls it."""
    options = {
        word
        for _, command in commands()
        for one in command.params
        for word in (*one.opts, *one.secondary_opts)
    }
    named = {of_terminal(Argument(name)) for name in {*_named_in_source("Argument"), *OPTIONS}}

    assert set() == named - options


def test_the_words_of_a_terminal_have_no_python() -> None:
    """Neither those of calls, nor those of arguments with values."""
    values = {name: "x" for one in CALLS.items() for name in re.findall(r"{(\w+)", " ".join(one))}

    for line, words in CALLS.items():
        assert [] == PYTHON.findall(words.format(**values)), line
    assert ["--replace", "--no-keep-before", "--size 0", "--reason 'on the pack'"] == [
        of_terminal(Argument(*one))
        for one in (("replace", True), ("keep_before", False), ("size", 0), ("reason", "on the pack"))
    ]


def test_words_go_through_errors_in_errors() -> None:
    """What is quoted keeps its own words, in a message, in another error, and in a note."""
    inner = InputError(advice("Give {it}.", it=Argument("replace", True)))
    outer = InputError(
        advice(
            "{error} {sandbox} is another way; {text}.",
            error=inner,
            sandbox=PythonCall('connect("sandbox")'),
            text="{it}",
        )
    )
    outer.add_note(advice("{again} loads again.", again=Argument("max_age", 0)))

    assert 'Give replace=True. connect("sandbox") is another way; {it}.' == str(outer)
    assert ["max_age=0 loads again."] == outer.__notes__
    assert (
        "Give --replace. --service sandbox is another way; {it}. --max-age 0 loads again."
        == error_in_words(outer)
    )
    assert "Give replace=True." == in_words(inner, str)


def test_what_a_message_quotes_is_never_obeyed() -> None:
    """Neither in Python nor in a terminal."""
    error = InputError(advice("No {name}.", name="\x1b[2J\nprodex: all is well"))

    assert "No \\x1b[2J\nprodex: all is well." == str(error)
    assert "No \\x1b[2J\\nprodex: all is well." == error_in_words(error)


@pytest.mark.slow
def test_what_was_not_taken_is_listed_by_an_option(terminal: Terminal) -> None:
    """A command names how to see the rest of the answers, and not an attribute of Python."""
    answers = [f"{number:014};namePublicLong;fr;Pain" for number in range(12)]
    (terminal.folder / "many.csv").write_text("\n".join(["GTIN;Field;Language;New value", *answers]))
    code, _, said = terminal.shown("fix many.csv --snapshot shop")

    assert 1 == code
    assert "10 of 12 shown; --show refused, --show conflicts and --show needs-confirmation list all" in said
    assert [] == PYTHON.findall(said)
