"""What `import prodex` offers is exactly what is listed here; a new name is a decision."""

from __future__ import annotations

import inspect

import prodex
from prodex import errors

NAMES = [
    "Audit",
    "AuditPanel",
    "Catalog",
    "CatalogExplorer",
    "Client",
    "DELETE",
    "Difference",
    "Evidence",
    "Explore",
    "Gallery",
    "Ledger",
    "Limits",
    "LoadBudget",
    "Origin",
    "Pictures",
    "ProdexError",
    "ProductCard",
    "ProductQuery",
    "Profile",
    "QueryPanel",
    "RetryPolicy",
    "SnapshotPanel",
    "Tracking",
    "UnmatchedWarning",
    "Verdict",
    "audit",
    "changes_from_frame",
    "connect",
    "diff",
    "download_pictures",
    "explore",
    "flatten",
    "gallery",
    "list_audits",
    "list_snapshots",
    "list_upserts",
    "load_organizations",
    "load_products",
    "load_rich_content",
    "load_segments",
    "open_audit",
    "open_snapshot",
    "profiles",
    "read_export",
    "read_products",
    "recover",
    "refresh",
    "require_scenarios",
    "rule",
    "rules",
    "save",
    "scenario_request",
    "track",
    "unescape_formulas",
    "upsert",
    "vacuum",
    "verify",
    "with_pending_updates",
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
