"""What `import prodex` offers is exactly what is listed here; a new name is a decision."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pandas
import pytest
import requests

import prodex
from prodex import errors
from tests.cases import each_row
from tests.public import PATHS, PUBLIC

NAMES = [
    "Catalog",
    "DELETE",
    "ProdexError",
    "ProductQuery",
    "Profile",
    "Recipe",
    "RecipeStep",
    "Requirements",
    "Selection",
    "TextCorrection",
    "accept",
    "accepted",
    "apply_recipe",
    "audit",
    "connect",
    "correct",
    "correct_from",
    "diff",
    "download_pictures",
    "explore",
    "flatten",
    "history",
    "laws",
    "list_audits",
    "list_snapshots",
    "list_upserts",
    "load_organizations",
    "load_products",
    "load_segments",
    "open_audit",
    "open_published",
    "open_snapshot",
    "profiles",
    "publish",
    "read_export",
    "read_products",
    "read_workbook",
    "read_worklist",
    "recover",
    "refresh",
    "require_scenarios",
    "rules",
    "run_job",
    "simulated_weeks",
    "track",
    "undo",
    "upsert",
    "vacuum",
    "verify",
    "watch",
    "withdraw",
    "write_requirements",
]

#: What is in modules: the classes of what functions return, and what few need.
IN_MODULES = [
    "catalog.Ledger",
    "catalog.Origin",
    "catalog.UnmatchedWarning",
    "compare.Difference",
    "formats.ExportedFiles",
    "formats.unescape_formulas",
    "job.JobResult",
    "limits.Limits",
    "limits.LoadBudget",
    "load.load_rich_content",
    "notebook.Explore",
    "packs.Evidence",
    "packs.Message",
    "packs.Verdict",
    "packs.add_messages",
    "packs.rule",
    "pictures.Gallery",
    "pictures.Pictures",
    "publishing.Publication",
    "quality.Audit",
    "quality.AuditComparison",
    "quality.Check",
    "quality.Watch",
    "quality.law_fields",
    "query.ProductStatus",
    "query.SharingStatus",
    "query.ValidationStatus",
    "selection.Begins",
    "send.Changes",
    "send.DryRun",
    "send.Tracking",
    "send.forget_earlier_records",
    "service.Client",
    "service.ProductPage",
    "service.RetryPolicy",
    "sandbox_weeks.SimulatedWeeks",
    "worklists.Fix",
    "worklists.propose_headings",
]

#: The modules that an editor proposes.
MODULES = [
    "catalog",
    "charts",
    "compare",
    "errors",
    "formats",
    "job",
    "languages",
    "limits",
    "load",
    "notebook",
    "operations",
    "packs",
    "pictures",
    "publishing",
    "quality",
    "query",
    "sandbox",
    "selection",
    "send",
    "service",
    "sandbox_weeks",
    "worklists",
]


def test_the_public_names_are_exactly_these() -> None:
    """Nothing else is promised, and no submodule hides a function of its name."""
    assert NAMES == sorted(prodex.__all__)
    assert sorted([*NAMES, *MODULES]) == [name for name in dir(prodex) if not name.startswith("__")]
    assert [] == [name for name in NAMES if inspect.ismodule(getattr(prodex, name))]
    assert MODULES == [name for name in MODULES if inspect.ismodule(getattr(prodex, name))]


def test_the_reference_has_them_by_task() -> None:
    """Each on one page, those in modules too; each module says that it has them."""
    assert sorted([*NAMES, *IN_MODULES]) == sorted(PATHS)
    assert len(PUBLIC) == len(PATHS)
    without_list = {"errors", "limits", "sandbox_weeks"}  # their classes are meant
    for path in IN_MODULES:
        module, _, name = path.partition(".")
        assert module in MODULES
        assert module in without_list or name in getattr(prodex, module).__all__, path


def test_all_of_them_are_imported_with_a_star() -> None:
    """`from prodex import *` has every name, and nothing else."""
    found: dict[str, object] = {}
    exec("from prodex import *", found)
    assert set(NAMES) == found.keys() - {"__builtins__"}


def test_every_public_name_is_documented() -> None:
    """Each has a docstring of its own; functions show an example or say what they raise."""
    for name, value in PUBLIC.items():
        text = inspect.getdoc(value) or ""
        assert len(text.splitlines()) >= 1, name
        if inspect.isfunction(value):
            assert "Parameters" in text or "Returns" in text or "column" in text or "snapshots" in text, name


@each_row(
    "name, where",
    {
        "Audit": "it is in a module: prodex.quality.Audit",
        "rule": "it is in a module: prodex.packs.rule",
        "IncompleteLoad": "it is in a module: prodex.errors.IncompleteLoad",
        "LoadBudget": "it is in a module: prodex.limits.LoadBudget",
        "bars": "it is in a module: prodex.charts.bars",
        "Sandbox": "it is in a module: prodex.sandbox.Sandbox",
        "gallery": r"catalogues have it: catalog.gallery\(...\)",
        "load_product": "did you mean 'load_products'",
        "nothing_alike": "no attribute 'nothing_alike'",
    }.items(),
)
def test_a_name_that_is_elsewhere_is_told_with_its_place(name: str, where: str) -> None:
    """Found in the modules as they are: no list of names has to be kept."""
    with pytest.raises(AttributeError, match=where):
        getattr(prodex, name)


def test_where_a_name_is_costs_no_import() -> None:
    """Tools ask whether a name is there, and must not wait for widgets and the sandbox."""
    code = "import sys, prodex; print(hasattr(prodex, 'Explore'), *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "False" == done[0]
    assert not {"anywidget", "starlette", "prodex.notebook.widget", "prodex.quality"} & set(done)


def test_that_python_asks_for_a_module_imports_nothing_else() -> None:
    """`from prodex import gtin` asks prodex for the name first; an import of others could close a circle."""
    inner = sorted(
        path.stem for path in Path(prodex.__file__).parent.glob("[a-z]*") if path.suffix in ("", ".py")
    )
    code = (
        "import sys, prodex\n"
        f"names = [one for one in {inner} if one not in vars(prodex) and one not in prodex._MODULES]\n"
        "before = set(sys.modules)\n"
        "asked = [one for one in names if hasattr(prodex, one)]\n"
        "print(len(names) > 10, asked, sorted(one for one in set(sys.modules) - before if one.startswith('prodex')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "True [] []" == done.strip()


def test_every_error_is_in_the_tree_at_the_top_of_its_module() -> None:
    """The drawing and the classes agree, and all are ProdexErrors."""
    classes = {n: c for n, c in vars(errors).items() if inspect.isclass(c) and issubclass(c, Exception)}

    assert set() == {name for name in classes if name not in (errors.__doc__ or "")}
    assert [name for name, one in classes.items() if not issubclass(one, errors.ProdexError)] == []


#: What properties give to the rest of prodex, each documented where it is declared; nobody needs to name its type.
INNER = {
    "Ask",
    "Asked",
    "AskedAttribute",
    "Change",
    "Chosen",
    "Crash",
    "Groups",
    "HtmlFile",
    "Identity",
    "Loaded",
    "ProductFamily",
    "SelectionRequest",
}


def _named(annotation: object) -> Iterator[type]:
    """Yield the classes of prodex that a type consists of."""
    if isinstance(annotation, type) and annotation.__module__.startswith("prodex"):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _named(argument)


def _hints(value: object) -> dict[str, object]:
    """Return the types that a function or class of prodex declares itself; of anything else none."""
    module = inspect.getmodule(value)
    if module is None or not module.__name__.startswith("prodex"):
        return {}
    for_types = {
        "pd": pandas,
        "requests": requests,
        "Changes": prodex.send.Changes,
        "Client": prodex.service.Client,
        "Gallery": prodex.pictures.Gallery,
        "Message": prodex.packs.Message,
    }
    return inspect.get_annotations(value, globals={**vars(module), **for_types}, eval_str=True)


def _given(value: object) -> Iterator[object]:
    """Yield the type of whatever a public name gives: its result, or those of its public methods and properties."""
    if not inspect.isclass(value):
        yield _hints(value).get("return")
        return
    for member, static in inspect.getmembers_static(value):
        function = getattr(static, "fget", None) or getattr(static, "func", None) or static
        function = getattr(function, "__func__", function)
        if not member.startswith("_") and inspect.isfunction(function):
            yield _hints(function).get("return")


def test_what_is_returned_is_public() -> None:
    """Whatever a public function, method or property gives can be named: `changes: px.send.Changes`."""
    values = [value for name, value in PUBLIC.items() if name != "DELETE"]
    found = {one for value in values for kind in _given(value) for one in _named(kind)}
    public = [*values, *vars(errors).values()]

    assert INNER == {one.__name__ for one in found if one not in public}
