"""What `import prodex` offers is exactly what is listed here; a new name is a decision."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterator

import pandas
import requests

import prodex
from prodex import errors

NAMES = [
    "Audit",
    "AuditComparison",
    "Begins",
    "Catalog",
    "Changes",
    "Check",
    "Client",
    "DELETE",
    "Difference",
    "DryRun",
    "Evidence",
    "Explore",
    "ExportedFiles",
    "Fix",
    "Gallery",
    "JobResult",
    "Ledger",
    "Limits",
    "LoadBudget",
    "Message",
    "Origin",
    "Pictures",
    "ProdexError",
    "ProductPage",
    "ProductQuery",
    "ProductStatus",
    "Profile",
    "Publication",
    "Recipe",
    "RecipeStep",
    "Requirements",
    "RetryPolicy",
    "ScenarioRequest",
    "Selection",
    "SharingStatus",
    "SimulatedWeeks",
    "TextCorrection",
    "Tracking",
    "UnmatchedWarning",
    "ValidationStatus",
    "Verdict",
    "Watch",
    "accept",
    "accepted",
    "add_messages",
    "apply_recipe",
    "audit",
    "changes_from_frame",
    "changes_of",
    "connect",
    "correct",
    "correct_from",
    "diff",
    "download_pictures",
    "explore",
    "fix_texts",
    "flatten",
    "forget_earlier_records",
    "gallery",
    "law_fields",
    "laws",
    "list_audits",
    "list_snapshots",
    "list_upserts",
    "load_organizations",
    "load_products",
    "load_rich_content",
    "load_segments",
    "open_audit",
    "open_published",
    "open_snapshot",
    "overridden",
    "profiles",
    "propose_headings",
    "publish",
    "read_export",
    "read_products",
    "read_recipe",
    "read_selection",
    "read_workbook",
    "read_worklist",
    "recover",
    "refresh",
    "require_scenarios",
    "requirements",
    "rule",
    "rules",
    "run_job",
    "scenario_request",
    "simulated_weeks",
    "track",
    "undo",
    "unescape_formulas",
    "upsert",
    "vacuum",
    "verify",
    "watch",
    "with_pending_updates",
    "withdraw",
]


def test_the_public_names_are_exactly_these() -> None:
    """Nothing else is promised, and no submodule hides a function of its name."""
    assert NAMES == sorted(prodex.__all__)
    assert [name for name in NAMES if inspect.ismodule(getattr(prodex, name))] == []


def test_every_public_name_is_documented() -> None:
    """Each has a docstring of its own; functions show an example or say what they raise."""
    for name in NAMES:
        text = inspect.getdoc(getattr(prodex, name)) or ""
        assert len(text.splitlines()) >= 1, name
        if inspect.isfunction(getattr(prodex, name)):
            assert "Parameters" in text or "Returns" in text or "column" in text or "snapshots" in text, name


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
    "Chosen",
    "Crash",
    "Groups",
    "HtmlFile",
    "Identity",
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
    imported_for_types = {"pd": pandas, "requests": requests, "Message": prodex.packs.Message}
    return inspect.get_annotations(value, globals={**vars(module), **imported_for_types}, eval_str=True)


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
    """Whatever a public function, method or property gives can be named in an annotation: `changes: px.send.Changes`."""
    values = [getattr(prodex, name) for name in NAMES if name != "DELETE"]
    found = {one for value in values for kind in _given(value) for one in _named(kind)}
    public = [*values, *vars(errors).values()]

    assert INNER == {one.__name__ for one in found if one not in public}
