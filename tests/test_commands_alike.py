"""The commands are alike: the same option means the same everywhere, and whoever knows one command knows the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from tests.cases import each_row

#: Options that take another kind of value in another command, or several.
TAKES = {
    "--to": "a path, or the address of an object store",
    "--language": "of texts, of which there are several, or of what prodex says",
    "--snapshot": "history looks at several",
    "--format": "of a table, or of an export",
}
#: What the help of an option may say differently: what the option is about is another thing in each command.
WORDED = {
    *("--show", "--profile", "--to", "--html", "--all", "--language", "--snapshot", "--format"),
    *("--market", "--owner", "--reason", "--worklists", "--dry-run", "--exit-code", "--by"),
}


def commands() -> Iterator[tuple[str, Any]]:
    """Yield each command, by its words."""
    waiting = [("", get_command(app))]
    while waiting:
        words, command = waiting.pop()
        if inner := getattr(command, "commands", None):
            waiting += [(f"{words} {name}".strip(), one) for name, one in inner.items()]
        else:
            yield words, command


#: The sandbox has a parser of its own.
OURS = sorted((words, command) for words, command in commands() if words != "sandbox")


def _is_option(parameter: Any) -> bool:
    return parameter.param_type_name == "option"


def _options() -> dict[str, list[tuple[str, Any]]]:
    found = defaultdict(list)
    for words, command in OURS:
        for parameter in filter(_is_option, command.params):
            found[parameter.opts[0]].append((words, parameter))
    return found


@each_row("words", [words for words, _ in OURS])
def test_each_command_has_an_example_that_is_its_own(words: str) -> None:
    """It begins with the words of the command, and so does each further one."""
    epilog = dict(OURS)[words].epilog or ""

    examples = epilog.removeprefix("Example: ").split("; ")
    assert epilog.startswith("Example: ")
    assert all(f"{one} ".startswith(f"prodex {words} ") for one in examples), examples


@each_row("name", [name for name, uses in _options().items() if len(uses) > 1])
def test_an_option_takes_the_same_wherever_it_is(name: str) -> None:
    """A word, a number, a flag or several of them; and what it is for has the same words."""
    uses = _options()[name]

    if name not in TAKES:
        assert 1 == len({(type(one.type).__name__, one.multiple, one.is_flag) for _, one in uses}), uses
    if name not in WORDED:
        assert 1 == len({one.help for _, one in uses}), [(words, one.help) for words, one in uses]


def test_what_is_said_to_differ_does() -> None:
    """No exception is left behind that nothing needs."""
    options = _options()

    for name in TAKES:
        assert 1 < len({(type(one.type).__name__, one.multiple) for _, one in options[name]}), name
    for name in WORDED:
        assert 1 < len({one.help for _, one in options[name]}), name


@each_row("words", [words for words, _ in OURS])
def test_help_has_one_order(words: str) -> None:
    """What only this command has comes first, and what all share last, in the same order."""
    own = [one.opts[0] for one in dict(OURS)[words].params if _is_option(one)]
    shared = ["--windows", "--confirm", "--wait", "--timeout", "--out", "--service", "--retry-seconds"]
    places = [own.index(name) for name in shared if name in own]

    assert places == sorted(places)
    for name in ("--service", "--out"):
        if name in own:
            after = set(own[own.index(name) :])
            assert after <= {"--out", "--service", "--retry-seconds", "--token-version", "--help"}, after


WRITING = {"fix", "undo", "recipe", "open", "upsert", "send-rest", "scenarios require"}


def test_what_writes_to_the_service_has_one_option_for_it() -> None:
    """`--send`, and no other word; without it nothing is sent."""
    sending = {words for words, command in OURS if "--send" in {o for p in command.params for o in p.opts}}
    every = set(_options())

    assert WRITING == sending
    assert not every & {"--apply", "--post", "--execute", "--yes"}


def test_a_snapshot_is_called_the_same_everywhere() -> None:
    """As an argument SNAPSHOT, or NAME where all of a name are meant; as an option `--snapshot`."""
    arguments = {
        parameter.metavar
        for _, command in OURS
        for parameter in command.params
        if not _is_option(parameter) and '"shop' in (parameter.help or "")
    }

    assert {"SNAPSHOT", "NAME", "SNAPSHOTS", "OLD", "NEW"} == arguments
    assert not set(_options()) & {"--catalog", "--catalogue"}


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, home: Path) -> Callable[..., list[str]]:
    """Run a command in a terminal of 80 columns, and return the lines it shows."""
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *words: CliRunner().invoke(app, list(words)).stdout.splitlines()


def test_the_help_of_all_commands_is_as_wide_as_a_terminal(screen: Callable[..., list[str]]) -> None:
    """And each command is one line."""
    assert 80 >= max(map(len, screen("--help")))


def test_snapshots_fit_a_screen(screen: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thirty the newest are listed, by names that other commands take, and how many there are."""
    names = ["france" if number % 3 else "online-shop" for number in range(30)]
    for number, name in enumerate(names):
        prodex.flatten([{"id": number}]).save(name)

    lines = screen("snapshots")

    assert 22 == len(lines)
    assert 80 >= max(map(len, lines))
    assert "The newest 20 of 30; --all lists the rest." == lines[-1]
    shown = [line.split()[0] for line in lines[1:-1]]
    assert [name.partition("@")[0] for name in shown] == names[::-1][:20]
    assert ["29"] == prodex.open_snapshot(shown[0]).products["product_id"].tolist()
    every = screen("snapshots", "--all")
    assert 31 == len(every)
    assert 10 == len(screen("snapshots", "online-shop")) - 1


def test_snapshots_in_a_file_have_all_that_is_known(screen: Callable[..., list[str]], tmp_path: Path) -> None:
    """With the folder of each."""
    folder = prodex.flatten([{"id": 1}]).save("shop").folder
    screen("snapshots", "--format", "csv", "--out", str(tmp_path / "a.csv"))

    (row,) = pd.read_csv(tmp_path / "a.csv").to_dict("records")
    assert ("shop", 1, True, str(folder)) == (row["name"], row["products"], row["complete"], row["folder"])
