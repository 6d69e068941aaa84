"""The house: imports point one way and in no circle, the sandbox is apart, and importing prodex stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import prodex
from tests.house import VALUES, is_for_types, method_returning, returned_by_values

# One worker reads every module, once for all of them.
pytestmark = pytest.mark.xdist_group("architecture")

SOURCE = Path(prodex.__file__).parents[1]
SANDBOX = "prodex_sandbox"
FOOD = "prodex_food"

#: From the ground up: a module may import what lies above its own row here, and from its own package.
ROWS = (
    {"errors"},
    {"advice"},
    {"phrases", "written_numbers", "clock"},
    {"limits", "arguments", "untrusted_text", "progress"},
    {
        "once_per_process",
        "colour_scale",
        "encodings",
        "executors",
        "gtin",
        "imported_later",
        "installation",
        "installed_packs",
        "locales",
        "patterns",
        "written_json",
        "written_dates",
    },
    {"languages"},
    {"query", "tables"},
    {"changes", "files", "sandbox"},
    {"selection"},
    {"formats"},
    {"catalog"},
    {"network"},
    {"service"},
    {"ledger"},
    {"store"},
    {"facts"},
    {"quality"},
    {"packs"},
    {"send", "compare", "publishing"},
    {"worklists"},
    {"load"},
    {"pictures"},
    {"exploration"},
    {"corrections"},
    {"display"},
    {"notebook", "job", "sandbox_weeks"},
    {"page"},
    {"__init__"},
    {"cli"},
    {"__main__"},
)
RANK = {name: row for row, names in enumerate(ROWS) for name in names}


@cache
def modules() -> dict[str, Path]:
    """Return every module of all packages by its dotted name."""
    found = {}
    for package in ("prodex", FOOD, SANDBOX):
        for path in sorted((SOURCE / package).rglob("*.py")):
            parts = path.relative_to(SOURCE).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def client_modules() -> list[str]:
    """Return the modules of prodex, without those of the sandbox and of the pack of rules."""
    return [module for module in modules() if module.partition(".")[0] == "prodex"]


def modules_of_sandbox() -> set[str]:
    """Return the modules of the sandbox."""
    return {module for module in modules() if is_of_sandbox(module)}


def is_of_sandbox(module: str) -> bool:
    """Whether a module is on the sandbox's side of the wall."""
    return module.partition(".")[0] == SANDBOX


def part_of(module: str) -> str:
    """Return the part of the house that a module belongs to: what stands directly under `prodex`."""
    return module.split(".")[1] if "." in module else "__init__"


@cache
def parsed(module: str) -> ast.Module:
    """Return the syntax tree of a module."""
    return ast.parse(modules()[module].read_text("utf-8"))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield everything in a tree that an import may be, or be in: no expression has one."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        for one in getattr(tree, name, ()):
            yield one
            yield from statements(one)


@cache
def import_statements(module: str) -> list[ast.Import | ast.ImportFrom]:
    """Return every import of a module, wherever it stands."""
    return [node for node in statements(parsed(module)) if isinstance(node, ast.Import | ast.ImportFrom)]


@cache
def imports(module: str) -> frozenset[str]:
    """Return the modules of prodex that a module imports, inside functions and for type checking too.

    What a method of a value imports (`VALUES`) is not among them: `carried_out_by` has that.
    """
    return _imported(module, import_statements(module)) - carried_out_by(module).keys()


@cache
def carried_out_by(module: str) -> dict[str, str]:
    """Return the modules that a module imports inside of methods of its values alone, with the method.

    So does what a method returns: its class is imported for type checking.
    """
    found: dict[str, str] = {}
    elsewhere: set[str] = set()
    returned = returned_by_values(parsed(module))
    for node in parsed(module).body:
        if isinstance(node, ast.If) and is_for_types(node):
            for one in node.body:
                if method := method_returning(one, returned):
                    found |= dict.fromkeys(_imported(module, [one]), method)
                else:
                    elsewhere |= _imported(module, [one, *statements(one)])
            continue
        if not isinstance(node, ast.ClassDef) or node.name not in VALUES:
            elsewhere |= _imported(module, [node, *statements(node)])
            continue
        for member in node.body:
            if isinstance(member, ast.FunctionDef):
                found |= dict.fromkeys(_imported(module, statements(member)), f"{node.name}.{member.name}")
    return {other: method for other, method in found.items() if other not in elsewhere}


def _imported(module: str, nodes: Iterable[ast.AST]) -> frozenset[str]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: imports are absolute"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in modules() else str(node.module))
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found & modules().keys())


def folder_of(module: str) -> str:
    """Return the folder of a module, or the module itself where it is in none."""
    return module if is_face(module) or module.count(".") < 2 else module.rpartition(".")[0]


def is_face(module: str) -> bool:
    """Whether a module is what a folder shows of itself and its sub-folders, its `__init__`."""
    return modules()[module].name == "__init__.py"


def classes() -> Iterator[tuple[str, str]]:
    """Return the name and the module of every public class."""
    for module in modules():
        for node in parsed(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, module


@pytest.mark.slow
def test_imports_point_up_the_list() -> None:
    """No module imports from its own row or from one below it in the list, its own package excepted."""
    wrong = [
        f"{module} imports {other}"
        for module in client_modules()
        for other in imports(module)
        if not is_of_sandbox(other)
        and part_of(other) != part_of(module)
        and RANK[part_of(other)] >= RANK[part_of(module)]
    ]

    assert [] == wrong


@pytest.mark.slow
def test_there_is_no_circle() -> None:
    """No module imports itself by way of others, not even for type checking or inside a function."""
    try:
        TopologicalSorter({module: imports(module) - {module} for module in modules()}).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None

    assert [] == [module for module in modules() if module in imports(module)]


def test_errors_import_nothing() -> None:
    """Everything raises errors, so what they need of the house would be needed by everybody."""
    assert frozenset() == imports("prodex.errors")


def test_every_module_has_its_row() -> None:
    """A new module has to say where it belongs."""
    assert set(RANK) == {part_of(module) for module in client_modules()}


def test_folders_make_no_circle() -> None:
    """No folder imports from another that imports from it; that a folder shows its sub-folders is no import."""
    between: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        shown = {other for other in imports(module) if is_face(module) and other.startswith(f"{module}.")}
        folders = {folder_of(other) for other in imports(module) - shown}
        between[folder_of(module)] |= folders - {folder_of(module)}
    try:
        TopologicalSorter(between).prepare()
    except CycleError as error:
        raise AssertionError(" imports ".join(reversed(error.args[1]))) from None


def test_only_methods_of_values_reach_upwards() -> None:
    """A method of a value imports what shows, answers or writes it: only what could not be imported above the class."""
    needless = [
        f"{method} can import {other} at the top"
        for module in modules()
        for other, method in carried_out_by(module).items()
        if module not in reached_from(other) and RANK[part_of(other)] < RANK[part_of(module)]
    ]

    assert [] == needless


def test_circles_through_values_come_back_to_the_value() -> None:
    """What a method imports takes the value as an argument, so that it knows the value's class."""
    wrong = [
        f"{method} imports {other}, which does not know {module}"
        for module in modules()
        for other, method in carried_out_by(module).items()
        if module not in reached_from(other)
    ]

    assert [] == wrong


@cache
def reached_from(module: str) -> frozenset[str]:
    """Return every module that a module imports, by whichever way."""
    found = set(imports(module))
    for other in imports(module):
        found |= reached_from(other)
    return frozenset(found)


def test_no_public_class_name_stands_twice() -> None:
    """A name means one thing, on both sides of the sandbox's wall; only the specification's own names are on both."""
    of_the_specification = {"ProductPage", "ProductStatus", "SharingStatus", "ValidationStatus"}
    homes = defaultdict(list)
    for name, module in classes():
        homes[name].append(module)

    assert of_the_specification == {name for name, found in homes.items() if len(found) > 1}
    assert {2} == {len({module.partition(".")[0] for module in homes[name]}) for name in of_the_specification}


def test_the_pack_of_food_is_built_as_anybody_builds_one() -> None:
    """It imports the one public module for packs, and nothing of prodex imports it."""
    of_food = {module for module in modules() if module.partition(".")[0] == FOOD}
    assert {"prodex.packs"} == {other for module in of_food for other in imports(module)} - of_food
    assert [] == [module for module in modules() if module not in of_food and imports(module) & of_food]


def test_the_sandbox_imports_nothing_of_prodex() -> None:
    """Each side reads the specification by itself, and they meet over HTTP."""
    others = {
        other for module in modules() if is_of_sandbox(module) for other in imports(module)
    } - modules_of_sandbox()

    assert set() == others


def test_one_module_of_prodex_imports_the_sandbox() -> None:
    """It passes on the names to users; within prodex the command line uses it, and what lets weeks pass."""
    direct = {module for module in client_modules() if imports(module) & modules_of_sandbox()}
    users = {part_of(module) for module in client_modules() if "prodex.sandbox" in imports(module)}

    assert {"prodex.sandbox"} == direct
    assert {"sandbox_weeks", "cli"} == users


@pytest.mark.slow
def test_one_module_of_prodex_starts_the_sandbox() -> None:
    """Only one runs a process of it; whoever wants one calls `connect("sandbox")`."""
    starts = {
        module
        for module in client_modules()
        if "sandbox" in modules()[module].read_text("utf-8")
        for node in ast.walk(parsed(module))
        if isinstance(node, ast.Tuple | ast.List)
        and [one.value for one in node.elts[-2:] if isinstance(one, ast.Constant)] == ["prodex", "sandbox"]
    }

    assert {"prodex.service.local_sandbox"} == starts


@pytest.mark.slow
def test_only_two_parts_open_the_network() -> None:
    """What opens connections is at home in `network` and `service`; the sandbox answers calls and makes none."""
    ways_out = {"requests", "urllib3", "http.client", "socket", "ssl"}
    users = {
        part_of(module)
        for module in client_modules()
        for node in import_statements(module)
        if (isinstance(node, ast.Import) and any(alias.name in ways_out for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and str(node.module) in ways_out)
    }

    assert {"network", "service"} == users


@pytest.mark.slow
def test_only_the_notebook_imports_widgets() -> None:
    """Whatever a panel shows is found out below it, and is there for reports and commands, too."""
    widgets = {"anywidget", "ipywidgets", "traitlets"}
    users = {
        part_of(module)
        for module in client_modules()
        for node in import_statements(module)
        if (isinstance(node, ast.Import) and any(one.name.split(".")[0] in widgets for one in node.names))
        or (isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in widgets)
    }

    assert {"notebook"} == users


@pytest.mark.slow
def test_importing_prodex_pulls_no_widget_chart_or_extra() -> None:
    """Whoever only wants tables does not wait for notebooks."""
    code = "import sys, prodex; print(sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {
        "ipywidgets",
        "matplotlib",
        "IPython",
        "deltalake",
        "duckdb",
        "starlette",
        "typer",
        "jinja2",
        "xlsxwriter",
        "openpyxl",
        "tqdm",
        "PIL",
    }

    assert set() == {name for name in heavy if f"'{name}'" in loaded}
