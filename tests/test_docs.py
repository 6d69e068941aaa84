"""What README and docs say is true: their Python, commands, profiles, links, lists, pictures and drawings.

`python -m tests.test_docs --write` renews what is generated. That the pages build is in tests/test_docs_build.py.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import prodex
from prodex.cli import app, main
from prodex.cli.lab import is_tutorial, tutorials
from prodex.notebook.session.jobs import let_end
from prodex.quality.rulebook import all_rules
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products
from tests.test_architecture import RANK

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
CONFORMANCE = DOCS / "conformance.md"
ARCHITECTURE = DOCS / "architecture.md"
WRITTEN_BY_HAND = (DOCS, *(DOCS / name for name in ("tutorials", "howto", "reference", "extending")))
PAGES = [
    README,
    ROOT / "CONTRIBUTING.md",
    *sorted(page for folder in WRITTEN_BY_HAND for page in folder.glob("*.md")),
]
_CONFORMANCE = re.compile(r"(<!-- conformance: .*? -->\n).*?(<!-- conformance end -->)", re.DOTALL)
_FIGURES = re.compile(r"(<!-- figures: .*? -->\n).*?(<!-- figures end -->)", re.DOTALL)
_FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)

#: Of the sandbox that the pages use: enough for every example to find something.
PRODUCTS = 100

#: Lines that another test runs, or that end only when somebody stops them.
_RUN_ELSEWHERE = re.compile(
    r"(pip|make|git|cd|python3 -m venv|prodex (demo|lab|sandbox|open(?!.* --to )))\b|\.venv/|\. "
)


def text_of(page: Path) -> str:
    """Return a page as it is written."""
    return page.read_text("utf-8")


def name_of(page: Path) -> str:
    """Return the path of a page from the root of the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    return [block for of, block in _FENCE.findall(text_of(page)) if of == language]


def pages_with(language: str) -> list[Path]:
    """Return the pages that have a block in a language."""
    return [page for page in PAGES if blocks(page, language)]


def pages_run_here(language: str) -> list[Path]:
    """Return these without the README, which tests/test_packaging.py pastes after the demo of the wheel."""
    return [page for page in pages_with(language) if page != README]


def conformance() -> str:
    """Return the table of conformance as the page has it: each row of the specification and its tests."""
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
    return f"[{name.removeprefix('test_').replace('_', ' ')}](../{path})"


def _number(figure: str) -> int:
    return int(figure.replace(",", ""))


def figures() -> str:
    """Return the table of the README: what the last `make bench` measured, with its own digits."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text_of(ROOT / "tests" / "bench" / "RESULTS.md").splitlines()
        if line.startswith("|")
    ]
    rows = {row[0]: row[1:] for row in reversed(cells)}  # of rows with one name, the first
    header = next(row for row in cells if row[-1] == "exponent of s")
    size = max(
        (name.partition(":")[0] for name in header if name.endswith(": s")),
        key=_number,
    )
    seconds, megabytes = (header.index(f"{size}: {unit}") - 1 for unit in ("s", "MB"))
    load = " products of the sandbox: "
    most = max((name.partition(load)[0] for name in rows if load in name), key=_number)
    loaded = f"{most}{load}"
    peers = ("json_normalize", "dlt", "polars", "duckdb")
    shown = {
        "the first report, from an empty environment, by `pip install` and `prodex demo`": f"{rows['by pip, s'][0]} s",
        "the first report, from a fresh checkout, by `make demo`": (
            f"{rows['by make demo in a fresh checkout, s'][0]} s"
        ),
        f"a whole load of {most} products": f"{rows[f'{loaded}load, s'][0]} s",
        "downloading the same pages and reading their JSON, without keeping it": (
            f"{rows[f'{loaded}download and json(), s'][0]} s"
        ),
        "the same bytes as zstd Parquet: pandas.json_normalize, dlt, polars, DuckDB take": (
            f"{', '.join(rows[name][1] for name in peers)} times as long"
        ),
        f"opening and showing a snapshot of {size} products": f"{rows['open and repr'][seconds]} s",
        "the texts of one of its brands": f"{rows['where one brand, then its texts'][seconds]} s",
        "its audit for online listing": f"{rows['audit'][seconds]} s, {rows['audit'][megabytes]} MB",
    }
    return "| what | measured |\n|---|--:|\n" + "".join(
        f"| {what} | {value} |\n" for what, value in shown.items()
    )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fill the store of a sandbox, once."""
    folder = tmp_path_factory.mktemp("filled")
    with Sandbox(products=shared_products(PRODUCTS), home=folder):
        return folder / "store.sqlite"


@pytest.fixture
def sandbox_is_running(filled: Path, home: Path) -> Iterator[None]:
    """Have `connect("sandbox")` find a sandbox with a store of its own, since the pages write to it."""
    (home / "sandbox").mkdir(parents=True)
    shutil.copy(filled, home / "sandbox")
    with Sandbox(home=home / "sandbox") as exchange:
        facts = {"base_url": exchange.base_url, "pid": os.getpid(), "credentials": exchange.credentials}
        (home / "sandbox" / "server.json").write_text(json.dumps(facts, default=str), "utf-8")
        yield


def test_the_readme_is_short() -> None:
    """It is the front door: everything else is in docs/."""
    assert len(text_of(README).splitlines()) <= 130


@pytest.mark.slow
def test_the_readme_connects_to_ones_own_service_in_three_lines(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the address and the access key of another service, they load and audit its products."""
    (block,) = blocks(README, "text")
    assert block in blocks(DOCS / "install.md", "text")
    settings, *commands = block.splitlines()
    assert 2 == len(commands)
    monkeypatch.chdir(tmp_path)
    with Sandbox(products=shared_products(40)) as service:
        key = service.credentials[0]
        own = [service.base_url, key["client_id"], key["client_secret"]]
        names = re.findall(r"(PRODEX_\w+)=\S+", settings)
        assert settings.startswith("export ")
        for name, value in zip(names, own, strict=True):
            monkeypatch.setenv(name, str(value))
        for line in commands:
            for command in line.split(" && "):
                assert 0 == exit_code_of(shlex.split(command)), command

    assert (tmp_path / "report.html").exists()
    assert 0 < len(prodex.open_snapshot("mine"))


def test_the_figures_of_the_readme_are_those_of_the_last_bench() -> None:
    """Whoever measures again renews the README as well."""
    found = _FIGURES.search(text_of(README))

    assert found is not None
    assert f"{found[1]}{figures()}{found[2]}" == found[0]


def test_the_readme_shows_few_lines_of_python() -> None:
    """With the import, and without blank lines."""
    (block,) = blocks(README, "python")
    assert 14 >= len([line for line in block.splitlines() if line])


@pytest.fixture
def logging_is_restored() -> Iterator[None]:
    """Take back what a page sets for all of Python."""
    root, own = logging.getLogger(), logging.getLogger("prodex")
    handlers, level = list(root.handlers), own.level
    yield
    root.handlers[:] = handlers
    own.setLevel(level)


@pytest.mark.filterwarnings("ignore::prodex.catalog.UnmatchedWarning")  # a page shows how it comes
@pytest.mark.slow
@pytest.mark.usefixtures("sandbox_is_running", "logging_is_restored")
@pytest.mark.parametrize("page", pages_run_here("python"), ids=name_of)
def test_the_python_of_every_page_runs(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every block runs in the order of its page, as a newcomer would paste it, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(block, names)
    # What a panel still reads belongs to this folder.
    let_end(60)

    if "catalog" in names:
        assert PRODUCTS == len(names["catalog"])  # type: ignore[arg-type]
    if "tracking" in names:
        assert "SUCCESS" == names["tracking"].status  # type: ignore[attr-defined]


def script_of(page: Path) -> list[str]:
    """Return the lines of a page for the shell, without those that are run elsewhere."""
    lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
    return [line for line in lines if not _RUN_ELSEWHERE.match(line)]


def run_as_a_shell_would(script: list[str]) -> None:
    """Run lines in this process: to start Python and import pandas for each of them takes minutes in all.

    It knows what the pages use: prodex, `export NAME=VALUE`, `||`, and a file that is written with `cat`.
    """
    lines = iter(script)
    for line in lines:
        if written := re.fullmatch(r"cat > (\S+) <<'END'", line):
            Path(written[1]).write_text("".join(f"{text}\n" for text in iter(lines.__next__, "END")), "utf-8")
        elif exported := re.fullmatch(r"export (\w+)=(\S+)", line):
            os.environ[exported[1]] = exported[2]
        else:
            assert any(0 == exit_code_of(shlex.split(command)) for command in line.split(" || ")), line


def exit_code_of(words: list[str]) -> object:
    """Run one command in this process, and return its exit code."""
    assert "prodex" == words[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code or 0


@pytest.mark.slow
@pytest.mark.usefixtures("sandbox_is_running")
@pytest.mark.parametrize("page", pages_run_here("sh"), ids=name_of)
def test_the_commands_of_every_page_run(page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every line runs in the order of its page, in an empty folder, where nothing is configured."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRODEX_SERVICE", "")  # so that what the page exports is taken back at the end
    run_as_a_shell_would(script_of(page))


@pytest.mark.slow
@pytest.mark.usefixtures("sandbox_is_running")
def test_the_commands_of_a_page_run_in_a_real_shell(home: Path, tmp_path: Path) -> None:
    """The lines of one page, each in a process of its own, with an environment that says nothing else."""
    programs, work = tmp_path / "bin", tmp_path / "work"
    programs.mkdir()
    work.mkdir()
    program = programs / "prodex"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m prodex "$@"\n', "utf-8")
    program.chmod(0o755)
    settings = {
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PRODEX_HOME": str(home),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    script = "\n".join(script_of(DOCS / "howto" / "settings.md"))
    done = subprocess.run(
        ["bash", "-ex"], input=script, capture_output=True, text=True, env=settings, cwd=work, check=False
    )

    assert (0, True) == (done.returncode, "prodex check" in script), done.stderr[-2000:]


def commands(pages: list[Path]) -> Iterator[list[str]]:
    """Yield the words of each prodex command of some pages."""
    for page in pages:
        for block in blocks(page, "sh"):
            for line in block.splitlines():
                for part in line.split(" || "):
                    if part.startswith("prodex "):
                        yield shlex.split(part)


def test_every_command_is_on_the_page_of_commands() -> None:
    """A command that nobody shows is one that nobody finds."""
    import typer.main

    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]

    assert set(known) == {words[1] for words in commands([DOCS / "howto" / "commands.md"])}


@pytest.mark.slow
def test_every_line_that_starts_a_sandbox_is_understood(tmp_path: Path) -> None:
    """With its options as they are written, it writes its OpenAPI document instead of serving until it is stopped."""
    from prodex_sandbox.command import main as serve

    shown = [words for words in commands(PAGES) if words[1] == "sandbox"]

    assert shown
    assert [0] * len(shown) == [
        serve([*words[2:], "--openapi", str(tmp_path / "openapi.json")]) for words in shown
    ]


def test_every_line_that_installs_names_extras_that_exist() -> None:
    """And the package itself; tests/test_packaging.py installs it."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    shown = [name for page in PAGES for name in re.findall(r"\bprodex\[([a-z,]+)\]", text_of(page))]

    assert shown
    assert {extra for names in shown for extra in names.split(",")} <= set(extras)
    assert set(extras) <= {extra for names in shown for extra in names.split(",")}


def test_every_make_target_of_the_pages_exists() -> None:
    """Nothing is promised that the Makefile does not have, and every target that a user may call is explained."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    shown = {name for page in PAGES for name in re.findall(r"(?m)(?:^|`)make ([a-z-]+)", text_of(page))}

    assert targets == shown


@pytest.mark.parametrize("page", pages_with("toml"), ids=name_of)
def test_the_profiles_of_every_page_can_be_read(page: Path, tmp_path: Path) -> None:
    """Each has checks, and builds on a profile that there is."""
    for number, block in enumerate(blocks(page, "toml")):
        path = tmp_path / f"{number}.toml"
        path.write_text(block, "utf-8")
        written = tomllib.loads(block)
        # Those of a pack are tried where it is installed, and the words of ingredients belong into any profile.
        if not written.keys() & {"project", "packs", "ingredients"}:
            assert prodex.Profile.read(written["extends"]).checks
        if "project" not in written:
            assert prodex.Profile.read(path).checks or "ingredients" in written


def test_every_block_is_of_a_language_that_is_tested_or_a_drawing() -> None:
    """A block without a language would be left out by the tests above."""
    languages = {of for page in PAGES for of, _ in _FENCE.findall(text_of(page))}

    assert {"python", "sh", "text", "toml"} == {
        of for of in languages if not of.startswith("{")
    }  # {directives}


#: How pages write how many notebooks there are.
_NUMBERS = ("seven", "eight", "nine", "ten", "eleven", "twelve")


def test_the_number_of_notebooks_is_right() -> None:
    """Every page that says how many says as many as the folder has, and the page of the tutorials lists each."""
    notebooks = [path.stem for path in tutorials()]
    saying = re.compile(rf"\b({'|'.join(_NUMBERS)})\b \[?(?:notebooks|tutorials)\b", re.IGNORECASE)
    said = {page: saying.findall(text_of(page)) for page in PAGES}

    assert {"README.md", "index.md", "notebook.md"} <= {page.name for page, found in said.items() if found}
    assert {7 + _NUMBERS.index(word.lower()) for found in said.values() for word in found} == {len(notebooks)}
    assert notebooks == re.findall(r"\(generated/(\w+)\.ipynb\)", text_of(DOCS / "tutorials" / "index.md"))


def test_the_number_of_rules_is_right() -> None:
    """It counts those that come with prodex, whatever other tests have added."""
    number = sum(rule.shipped for rule in all_rules().values())

    assert f"by {number} rules" in text_of(README)
    assert f"({number} come with prodex)" in text_of(DOCS / "howto" / "auditing.md")


def test_the_conformance_table_is_in_step() -> None:
    """It has each row of the specification, with the tests that show it on both sides."""
    found = _CONFORMANCE.search(text_of(CONFORMANCE))

    assert found is not None
    assert f"{found[1]}{conformance()}{found[2]}" == found[0]


def test_every_home_on_the_architecture_page_is_there() -> None:
    """Whoever looks for an idea where the page says finds a module, or a folder of modules."""
    named = set(re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py|\.js)?)`", text_of(ARCHITECTURE)))
    named |= set(re.findall(r"^([a-z]+/[a-z_]*)  ", text_of(ARCHITECTURE), re.MULTILINE))
    source = ROOT / "src"

    assert len(named) > 25
    assert [] == [
        name
        for name in sorted(named)
        if not any(
            (folder / f"{name}{end}").exists()
            for folder in (ROOT, source, source / "prodex")
            for end in ("", ".py")
        )
    ]


def test_the_drawings_are_what_their_program_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a part that imports another is drawn above it, or to its left."""
    monkeypatch.syspath_prepend(str(DOCS))
    drawing = import_module("draw_architecture")

    for name, draw in drawing.PICTURES.items():
        assert draw() == (DOCS / "images" / name).read_text("utf-8"), name
    ranks = [RANK[part] for _, parts in reversed(drawing.LAYERS) for part in reversed(parts)]
    assert sorted(ranks) == ranks


def test_every_error_that_is_explained_exists() -> None:
    """The page about errors names classes that can be caught."""
    named = re.findall(r"^\| `(\w+)` \|", text_of(DOCS / "howto" / "errors.md"), re.MULTILINE)

    assert named
    assert [] == [name for name in named if not issubclass(getattr(prodex.errors, name), prodex.ProdexError)]


def test_every_link_to_a_file_leads_somewhere() -> None:
    """Pages, tests, notebooks and pictures are named by their path from the page."""
    links = [
        (page, link.partition("#")[0])
        for page in PAGES
        for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text_of(page))
        for link in link
        if link and not link.startswith(("#", "https://"))
    ]

    assert links
    # By the build, whose test finds a wrong one.
    made = re.compile(r"((\.\./)?(reference|tutorials)/)?generated/")
    assert [] == [
        (name_of(page), link)
        for page, link in links
        if not made.search(link) and not (page.parent / link).exists()
    ]


def test_every_picture_of_the_pages_and_the_notebooks_is_there() -> None:
    """And none lies there that nobody shows."""
    folder = ROOT / "notebooks" / "images"
    pages = [*PAGES, *filter(is_tutorial, (ROOT / "notebooks").glob("*.ipynb"))]
    shown = {name for page in pages for name in re.findall(r"images/([a-z-]+\.png)", page.read_text("utf-8"))}

    assert {path.name for path in folder.glob("*.png")} == shown


def test_a_notebook_that_somebody_saved_beside_the_tutorials_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a tutorial that was run and saved in place break the build: its widgets have no kernel there."""
    monkeypatch.syspath_prepend(str(DOCS))
    generate = import_module("generate")
    notebooks = tmp_path / "notebooks"
    shutil.copytree(ROOT / "notebooks", notebooks, ignore=shutil.ignore_patterns("data"))
    for name in ("Untitled", "01_first_look-Copy1", "09_mine"):
        (notebooks / f"{name}.ipynb").write_text('{"cells": [], "metadata": {}, "nbformat": 4}', "utf-8")
    path = notebooks / "03_filter_and_explore.ipynb"
    saved = json.loads(path.read_text("utf-8"))
    saved["metadata"] = {"widgets": {}}
    view = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/html": "<p>60 products</p>"}
    code = next(cell for cell in saved["cells"] if cell["cell_type"] == "code")
    code["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": view}]
    path.write_text(json.dumps(saved), "utf-8")
    monkeypatch.setattr(generate, "_NOTEBOOKS", notebooks)
    generate.write_tutorials(tmp_path / "pages")
    pages = {page.name for page in (tmp_path / "pages").iterdir()}
    assert {one.name for one in filter(is_tutorial, (ROOT / "notebooks").glob("*.ipynb"))} == pages
    page = json.loads((tmp_path / "pages" / path.name).read_text("utf-8"))
    assert "widget-view" not in json.dumps(page)
    assert "<p>60 products</p>" in json.dumps(page)
    assert "widgets" not in page["metadata"]


if __name__ == "__main__" and "--write" in sys.argv:
    page = text_of(CONFORMANCE)
    CONFORMANCE.write_text(_CONFORMANCE.sub(lambda found: found[1] + conformance() + found[2], page), "utf-8")
    README.write_text(_FIGURES.sub(lambda found: found[1] + figures() + found[2], text_of(README)), "utf-8")
