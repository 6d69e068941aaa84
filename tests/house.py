"""The figures of the house: `python -m tests.house [SRC ...]` prints them for this tree, and for others beside it.

They inform; none is a bound. `SRC` is the folder `src` of another checkout, such as one of an earlier commit
(`git worktree add ../before COMMIT`; then `python -m tests.house ../before/src`).
"""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

HERE = Path(__file__).parents[1] / "src"

#: The values whose methods may import what lies above them, inside the method: what shows a value, answers a question
#: about it or writes it takes the value as an argument. It is the one exception in tests/test_architecture.py.
VALUES = frozenset(
    {
        "Audit",
        "AuditComparison",
        "CardContents",
        "Catalog",
        "Difference",
        "Fix",
        "Gallery",
        "Message",
        "Pictures",
        "Recipe",
        "Requirements",
        "Selection",
        "Tracking",
        "Watch",
    }
)

#: Loads, audits, writes worklists, fills one in, reads it, sends it and follows it; prints the modules that took part.
#: The sandbox runs in the same process, and is not counted.
_CORRECTION = """
import sys, tempfile, threading
from pathlib import Path

import prodex
from openpyxl import load_workbook
from prodex.sandbox import Sandbox

name = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
records = [
    {"id": n, "gtin": gtin, "isConsumerUnit": True, "namePublicLong": name, "updatedAt": "2026-01-01T00:00:00"}
    for n, gtin in enumerate(["03036811359935", "03091033779527", "13663836037981"], 7)
]
checks = {"required_text": {"attribute": "namePublicShort", "language": "fr", "severity": "blocker"}}
seen = set()


def look(frame, event, argument):
    if event == "call":
        seen.add(frame.f_globals.get("__name__", ""))


with Sandbox(records) as exchange:
    key = exchange.credentials[0]
    secrets = {one: key[one] for one in ("client_id", "client_secret")}
    service = prodex.connect(base_url=exchange.base_url, **secrets)
    folder = Path(tempfile.mkdtemp())
    threading.setprofile(look)
    sys.setprofile(look)
    catalog = prodex.load_products(service, name="shop", progress=False)
    prodex.audit(catalog, {"checks": checks}).worklists(folder / "to_fix")
    sys.setprofile(None)
    for path in (folder / "to_fix").glob("*.xlsx"):
        book = load_workbook(path)
        sheet = book["To fix"]
        headings = next(n for n, row in enumerate(sheet.iter_rows(), 1) if "New value" in [c.value for c in row])
        at = [cell.value for cell in sheet[headings]].index("New value")
        for row in sheet.iter_rows(min_row=headings + 1):
            row[at].value = "Pain"
        book.save(path)
    sys.setprofile(look)
    fix = prodex.read_worklist(folder / "to_fix", catalog, profile={"checks": checks})
    tracking = fix.apply(service).wait()
    sys.setprofile(None)
assert len(tracking.products), tracking
names = {name for name in seen if name == "prodex" or name.startswith("prodex.")}
print(len([name for name in names if not name.startswith("prodex.sandbox")]))
"""


@cache
def modules(source: Path) -> dict[str, Path]:
    """Return every module below a folder `src` by its dotted name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def lines_of_code(text: str) -> int:
    """Count the lines of a module that are neither blank nor a comment nor of a docstring."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped | {tokenize.ENDMARKER}:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def imports(source: Path) -> dict[str, set[str]]:
    """Return what each module imports of the others, without what methods of values import inside themselves."""
    found: dict[str, set[str]] = {}
    for module, path in modules(source).items():
        named = {
            name for node in _importing(ast.parse(path.read_text("utf-8"))) for name in _names(node, source)
        }
        found[module] = named - {module}
    return found


def returned_by_values(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module uses in the types of what methods of its values return, and nowhere else.

    A method says what it returns, which is made above the value as well; such a name is imported for type checking.
    """
    found: dict[str, str] = {}
    used = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    for top in tree.body:
        if isinstance(top, ast.ClassDef) and top.name in VALUES:
            for method in top.body:
                if isinstance(method, ast.FunctionDef) and method.returns is not None:
                    names = [node.id for node in ast.walk(method.returns) if isinstance(node, ast.Name)]
                    used.subtract(names)
                    found |= dict.fromkeys(names, f"{top.name}.{method.name}")
    return {name: method for name, method in found.items() if not used[name]}


def is_for_types(node: ast.stmt) -> bool:
    """Whether a statement is the block of imports for type checking alone."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _importing(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    returned = returned_by_values(tree)
    for top in tree.body:
        parts: list[ast.stmt] = [top]
        if isinstance(top, ast.If) and is_for_types(top):
            parts = [one for one in top.body if method_returning(one, returned) is None]
        if isinstance(top, ast.ClassDef) and top.name in VALUES:
            parts = [part for part in top.body if not isinstance(part, ast.FunctionDef)]
        for part in parts:
            yield from (node for node in ast.walk(part) if isinstance(node, ast.Import | ast.ImportFrom))


def method_returning(node: ast.stmt, returned: Mapping[str, str]) -> str | None:
    """Return the method of a value that returns what a statement imports; None if not all of it is returned."""
    names = [one.name for one in node.names] if isinstance(node, ast.ImportFrom) else []
    return returned[names[0]] if names and all(one in returned for one in names) else None


def _names(node: ast.Import | ast.ImportFrom, source: Path) -> Iterator[str]:
    there = modules(source)
    for alias in node.names:
        if isinstance(node, ast.Import):
            whole, outer = alias.name, ""
        else:
            whole, outer = f"{node.module}.{alias.name}", str(node.module)
        if whole in there or outer in there:
            yield whole if whole in there else outer


def by_folder(source: Path, between: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return what the folders import of each other; that a folder shows its sub-folders is no import."""
    there = modules(source)
    faces = {name for name, path in there.items() if path.name == "__init__.py"}
    home = {name: name if name in faces or name.count(".") < 2 else name.rpartition(".")[0] for name in there}
    found: dict[str, set[str]] = defaultdict(set)
    for module, others in between.items():
        shown = {other for other in others if module in faces and other.startswith(f"{module}.")}
        found[home[module]] |= {home[other] for other in others - shown} - {home[module]}
    return found


def circles(between: Mapping[str, set[str]]) -> int:
    """Count the imports that have to be taken away, one after another, until no circle is left."""
    left, count = {name: set(others) for name, others in between.items()}, 0
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            first, second = error.args[1][:2]
            left[second].discard(first)
            count += 1
        else:
            return count


def correction(source: Path) -> str:
    """Count the modules of which a function runs between the first page of a load and the answer to a correction."""
    paths = os.pathsep.join(map(str, [source, HERE.parent]))
    # In a folder of its own: one tree does not read what another one has sent.
    with tempfile.TemporaryDirectory(prefix="prodex-house-") as home:
        environment = {**os.environ, "PYTHONPATH": paths, "PRODEX_HOME": home}
        done = subprocess.run(
            [sys.executable, "-c", _CORRECTION], capture_output=True, text=True, env=environment, check=False
        )
    return done.stdout.strip() if not done.returncode else f"failed: {(done.stderr.splitlines() or [''])[-1]}"


def figures(source: Path) -> dict[str, str]:
    """Return the figures of a tree, in words and digits."""
    between = imports(source)
    importers: dict[str, int] = defaultdict(int)
    for others in between.values():
        for other in others:
            importers[other] += 1
    faces = {name for name, path in modules(source).items() if path.name == "__init__.py"}
    code = {name: lines_of_code(path.read_text("utf-8")) for name, path in modules(source).items()}
    return {
        "modules": f"{len(code):,}",
        "  of them what a folder shows (__init__)": f"{len(faces):,}",
        "lines of code": f"{sum(code.values()):,}",
        "modules with one importer": f"{sum(importers[name] == 1 for name in code.keys() - faces):,}",
        "modules that a correction passes": correction(source),
        "imports that close a circle of modules": f"{circles(between):,}",
        "imports that close a circle of folders": f"{circles(by_folder(source, between)):,}",
    }


def main() -> None:
    """Print a row for each figure, a column for each tree."""
    sources = [Path(given).resolve() for given in sys.argv[1:]] + [HERE]
    columns = [figures(source) for source in sources]
    rows = (f"{name:42}" + "".join(f"{one[name]:>12}" for one in columns) for name in columns[0])
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
