"""The house: imports point one way, the sandbox stands apart, and importing prodex stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import prodex

SOURCE = Path(prodex.__file__).parent

#: From the ground up: a module may import what lies below its own row, and from its own package.
ROWS = (
    {"verbatim", "dispatch"},
    {"errors"},
    {"described", "limits", "nearest", "several"},
    {"gtin"},
    {"gtin_lists"},
    {"files", "unpacking", "locales", "envelope", "markup", "spreadsheet", "untrusted"},
    {"sheets", "folders"},
    {"query", "tables"},
    {"parquet"},
    {"formats"},
    {"catalog", "service"},
    {"store", "charts"},
    {"reading", "labels", "quality"},
    {"send", "listings", "compare", "pictures"},
    {"load"},
    {"notebook"},
    {"__init__"},
    {"demo"},
    {"cli"},
    {"__main__"},
)
RANK = {name: row for row, names in enumerate(ROWS) for name in names}


def modules() -> dict[Path, str]:
    """Return every module with the name of the house's part that it belongs to."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        first = path.relative_to(SOURCE).parts[0]
        found[path] = first.removesuffix(".py")
    return found


def imported(path: Path) -> set[str]:
    """Return the parts of prodex that a module imports, inside functions too; for types only does not count."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    parts = set()
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            names = [
                f"{node.module}.{alias.name}" if node.module == "prodex" else str(node.module)
                for alias in node.names
            ]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            head, _, rest = name.partition(".")
            if head == "prodex":
                first = rest.split(".")[0]
                parts.add(
                    first if (SOURCE / first).is_dir() or (SOURCE / f"{first}.py").is_file() else "__init__"
                )
    return {"__init__" if part == "" else part for part in parts}


def test_imports_point_down() -> None:
    """No module imports from its own row or above, its own package excepted."""
    wrong = [
        f"{path.relative_to(SOURCE)} imports {other}"
        for path, part in modules().items()
        if part not in {"sandbox"}
        for other in imported(path) - {part}
        if other != "sandbox" and RANK[other] >= RANK[part]
    ]

    assert [] == wrong


def test_every_module_has_its_row() -> None:
    """A new module has to say where it belongs."""
    assert set(RANK) | {"sandbox"} == set(modules().values())


def test_the_sandbox_stands_apart() -> None:
    """It imports nothing of prodex, and of prodex only the command line imports it."""
    theirs = {other for path, part in modules().items() if part == "sandbox" for other in imported(path)}
    users = {part for path, part in modules().items() if "sandbox" in imported(path)}

    assert {"sandbox"} == theirs
    assert {"sandbox", "cli"} == users


def test_only_one_part_opens_the_network() -> None:
    """What opens connections is at home in the service package; the sandbox answers calls and makes none."""
    ways_out = {"requests", "urllib3", "http.client", "socket", "ssl"}
    users = {
        part
        for path, part in modules().items()
        if part != "sandbox"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.Import) and any(alias.name in ways_out for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and str(node.module) in ways_out)
    }

    assert {"service"} == users


def test_importing_prodex_pulls_no_widget_chart_or_extra() -> None:
    """Whoever only wants tables does not wait for notebooks."""
    code = "import sys, prodex; print(sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    heavy = {
        "ipywidgets",
        "matplotlib",
        "IPython",
        "duckdb",
        "fastapi",
        "typer",
        "itables",
        "jinja2",
        "xlsxwriter",
        "tqdm",
        "PIL",
    }

    assert set() == {name for name in heavy if f"'{name}'" in loaded}
