"""What the README says is true: its table list, its conformance table, its Python, its commands.

`python tests/test_docs.py --write` renews what is generated.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import prodex
from prodex.cli import app
from prodex.quality.rulebook import RULES
from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products
from prodex.tables.declaration import TABLES

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
_LIST = re.compile(r"(<!-- tables: .*? -->\n).*?(<!-- tables end -->)", re.DOTALL)
_CONFORMANCE = re.compile(r"(<!-- conformance: .*? -->\n).*?(<!-- conformance end -->)", re.DOTALL)


def table_list() -> str:
    """Return the list of tables as the README has it."""
    rows = [f"| `{t.name}` | {t.row} | {len(t.columns)} |\n" for t in TABLES.values()]
    return "".join(["| table | one row per | columns |\n|---|---|--:|\n", *rows])


def conformance() -> str:
    """Return the table of conformance as the README has it: each row of the specification and its tests."""
    rows = tomllib.loads((ROOT / "tests" / "conformance.toml").read_text("utf-8"))["row"]
    cells = [
        (row["area"], row["item"].replace("|", "\\|"), _test(row["client"]), _test(row["sandbox"]))
        for row in rows
    ]
    return "".join(
        [
            "| area | of the specification | shown on the client by | and in the sandbox by |\n|---|---|---|---|\n"
        ]
        + ["| " + " | ".join(row) + " |\n" for row in cells]
    )


def _test(node: str) -> str:
    path, _, name = node.partition("::")
    return f"[{name.removeprefix('test_').replace('_', ' ')}]({path})"


def blocks(language: str) -> list[str]:
    """Return the code blocks of the README in one language."""
    every = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [block for of, block in every if of == language]


def test_the_table_list_is_the_declaration() -> None:
    """Generated, and in step."""
    found = _LIST.search(README.read_text("utf-8"))

    assert found is not None
    assert f"{found[1]}{table_list()}{found[2]}" == found[0]


def test_the_number_of_rules_is_right() -> None:
    """Of those that come with prodex, whatever other tests have added."""
    assert f"by {sum(rule.shipped for rule in RULES.values())} rules" in README.read_text("utf-8")


@pytest.fixture
def own_service() -> Iterator[prodex.Client]:
    """A sandbox that nobody else reads, since the README writes to it."""
    with Sandbox(products=shared_products(600)) as sandbox:
        key = sandbox.credentials[0]
        yield prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )


def test_the_conformance_table_is_in_step() -> None:
    """Each row of the specification, with the tests that show it on both sides."""
    found = _CONFORMANCE.search(README.read_text("utf-8"))

    assert found is not None
    assert f"{found[1]}{conformance()}{found[2]}" == found[0]


@pytest.mark.filterwarnings("ignore::prodex.UnmatchedWarning")  # the README shows how it comes
def test_the_first_lines_of_python_run(
    own_service: prodex.Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every Python block, in order, as a newcomer would paste them."""
    pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(prodex, "connect", lambda _: own_service)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(block, names)

    assert 600 == len(names["catalog"])  # type: ignore[arg-type]
    assert (tmp_path / "out" / "datapackage.json").is_file()
    assert "SUCCESS" == prodex.track(own_service).status


def commands() -> Iterator[list[str]]:
    """Yield the command lines of the README."""
    for block in blocks(""):
        for line in block.splitlines():
            if line.startswith("prodex "):
                yield shlex.split(line)


def test_every_command_stands_in_the_readme() -> None:
    """And every line there names a command that exists, with options that it has."""
    import typer.main

    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    shown = list(commands())

    assert set(known) == {words[1] for words in shown}
    for words in shown:
        if words[1] != "sandbox":  # it reads its own options
            command = known[words[1]]
            if words[1] == "scenarios":
                command = command.commands[words[2]]
            options = {name for parameter in command.params for name in parameter.opts}
            assert {word for word in words if word.startswith("--")} <= options, words


def test_every_make_target_of_the_readme_exists() -> None:
    """Nothing is promised that the Makefile does not have."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))

    assert set(re.findall(r"(?:^|`)make ([a-z]+)", README.read_text("utf-8"), re.MULTILINE)) <= targets


def test_every_module_of_the_house_stands_in_the_readme() -> None:
    """The tree shown is the tree there is."""
    shown = set(re.findall(r"^    ([a-z_]+(?:\.py|/))  ", README.read_text("utf-8"), re.MULTILINE))
    source = ROOT / "src" / "prodex"
    there = {path.name for path in source.glob("*.py")} | {
        f"{path.parent.name}/" for path in source.glob("*/__init__.py")
    }

    assert there - {"__init__.py", "__main__.py"} == shown


def test_every_picture_of_the_readme_and_the_notebooks_is_there() -> None:
    """And none lies there that nobody shows."""
    folder = ROOT / "notebooks" / "images"
    pages = [README, *(ROOT / "notebooks").glob("*.ipynb")]
    shown = {name for page in pages for name in re.findall(r"images/([a-z-]+\.png)", page.read_text("utf-8"))}

    assert {path.name for path in folder.glob("*.png")} == shown


if __name__ == "__main__" and "--write" in sys.argv:
    text = README.read_text("utf-8")
    text = _LIST.sub(lambda found: found[1] + table_list() + found[2], text)
    README.write_text(_CONFORMANCE.sub(lambda found: found[1] + conformance() + found[2], text), "utf-8")
