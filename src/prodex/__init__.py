"""prodex: product master data from an exchange service, as tables that an analyst can trust.

>>> import prodex
>>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
>>> catalog.products[["gtin", "brand"]].values.tolist()
[['03036811359935', 'Acme']]

`prodex.charts` draws figures of what these tables and audits say, and `prodex.errors` has the errors to catch.
"""

import logging as _logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Of pandas and its accessor: whoever imports prodex has `Series.gtin`.
from prodex import gtin as _gtin  # noqa: F401
from prodex.errors import ProdexError
from prodex.messages import hint as _hint
from prodex.untrusted_text import printable_record as _inert_record

if TYPE_CHECKING:
    from prodex.catalog import Catalog, Origin, UnmatchedWarning, read_export
    from prodex.catalog.ledger import Ledger
    from prodex.compare import Difference, diff
    from prodex.corrections import operations as operations
    from prodex.corrections.bulk import apply_recipe, correct
    from prodex.corrections.history import changes_of
    from prodex.corrections.overridden import overridden
    from prodex.corrections.recipe import Recipe, RecipeStep
    from prodex.corrections.recipe_files import read_recipe
    from prodex.corrections.undo import undo
    from prodex.display import charts as charts
    from prodex.formats.exporting import ExportedFiles
    from prodex.formats.formulas import unescape_formulas
    from prodex.job import JobResult, run_job
    from prodex.languages import Message, add_messages
    from prodex.limits import Limits
    from prodex.load import LoadBudget, load_products, load_rich_content, recover
    from prodex.load.reference_data import load_organizations, load_segments
    from prodex.load.refresh import refresh
    from prodex.load.workbook.reading import read_workbook
    from prodex.notebook.widget import Explore, explore
    from prodex.pictures import Gallery, Pictures, download_pictures, gallery
    from prodex.publishing import Publication, open_published, publish
    from prodex.quality import (
        Audit,
        AuditComparison,
        Check,
        Evidence,
        Profile,
        Requirements,
        Verdict,
        list_audits,
        open_audit,
        rule,
    )
    from prodex.quality.accepting import accept, accepted, withdraw
    from prodex.quality.declared_fields import law_fields
    from prodex.quality.profile import profiles
    from prodex.quality.requirement_files.for_catalog import requirements
    from prodex.quality.rulebook import laws, rules
    from prodex.quality.run import audit
    from prodex.quality.watch import Watch, watch
    from prodex.query import ProductQuery
    from prodex.query.values import ProductStatus, SharingStatus, ValidationStatus
    from prodex.sandbox_weeks import SimulatedWeeks, simulated_weeks
    from prodex.selection import Begins, Selection
    from prodex.selection.files import read_selection
    from prodex.send import (
        DELETE,
        Changes,
        ScenarioRequest,
        Tracking,
        changes_from_frame,
        forget_earlier_records,
        list_upserts,
        require_scenarios,
        scenario_request,
    )
    from prodex.send.following import track
    from prodex.send.upsert import DryRun, upsert
    from prodex.service import Client, ProductPage, RetryPolicy, connect
    from prodex.store.reading import flatten, read_products, with_pending_updates
    from prodex.store.snapshot import list_snapshots, open_snapshot, verify
    from prodex.store.vacuum import vacuum
    from prodex.worklists.fix import Fix
    from prodex.worklists.pasted import correct_from, propose_headings
    from prodex.worklists.read_worklist import read_worklist
    from prodex.worklists.text_corrections import TextCorrection, fix_texts

# Lines of a log quote the service and suppliers, and end on a terminal.
_logging.getLogger("prodex").addFilter(_inert_record)

#: Imported when first asked for: whoever only opens a catalogue need not wait for the network, rules and widgets.
_LATER = {
    "prodex.catalog": ("Catalog", "Origin", "UnmatchedWarning", "read_export"),
    "prodex.corrections.undo": ("undo",),
    "prodex.compare": ("Difference", "diff"),
    "prodex.corrections.bulk": ("apply_recipe", "correct"),
    "prodex.corrections.recipe": ("Recipe", "RecipeStep"),
    "prodex.corrections.recipe_files": ("read_recipe",),
    "prodex.corrections.history": ("changes_of",),
    "prodex.corrections.overridden": ("overridden",),
    "prodex.worklists.fix": ("Fix",),
    "prodex.worklists.pasted": ("correct_from", "propose_headings"),
    "prodex.worklists.text_corrections": ("TextCorrection", "fix_texts"),
    "prodex.worklists.read_worklist": ("read_worklist",),
    "prodex.formats.exporting": ("ExportedFiles",),
    "prodex.formats.formulas": ("unescape_formulas",),
    "prodex.sandbox_weeks": ("SimulatedWeeks", "simulated_weeks"),
    "prodex.job": ("JobResult", "run_job"),
    "prodex.catalog.ledger": ("Ledger",),
    "prodex.limits": ("Limits", "LoadBudget"),
    "prodex.load": ("load_products", "load_rich_content", "recover", "refresh"),
    "prodex.languages": ("Message", "add_messages"),
    "prodex.load.reference_data": ("load_organizations", "load_segments"),
    "prodex.load.workbook.reading": ("read_workbook",),
    "prodex.notebook.widget": ("Explore", "explore"),
    "prodex.pictures": ("Gallery", "Pictures", "download_pictures", "gallery"),
    "prodex.selection": ("Begins", "Selection"),
    "prodex.selection.files": ("read_selection",),
    "prodex.publishing": ("Publication", "open_published", "publish"),
    "prodex.quality": (
        "Audit",
        "AuditComparison",
        "Check",
        "Evidence",
        "Profile",
        "Requirements",
        "Verdict",
        "list_audits",
        "open_audit",
        "rule",
    ),
    "prodex.quality.accepting": ("accept", "accepted", "withdraw"),
    "prodex.quality.profile": ("profiles",),
    "prodex.quality.requirement_files.for_catalog": ("requirements",),
    "prodex.quality.declared_fields": ("law_fields",),
    "prodex.quality.rulebook": ("laws", "rules"),
    "prodex.quality.run": ("audit",),
    "prodex.quality.watch": ("Watch", "watch"),
    "prodex.query": ("ProductQuery",),
    "prodex.query.values": ("ProductStatus", "SharingStatus", "ValidationStatus"),
    "prodex.send": (
        "DELETE",
        "Changes",
        "DryRun",
        "ScenarioRequest",
        "Tracking",
        "changes_from_frame",
        "forget_earlier_records",
        "list_upserts",
        "require_scenarios",
        "scenario_request",
        "track",
        "upsert",
    ),
    "prodex.service": ("Client", "ProductPage", "RetryPolicy", "connect"),
    "prodex.store.reading": ("flatten", "read_products", "with_pending_updates"),
    "prodex.store.snapshot": ("list_snapshots", "open_snapshot", "verify"),
    "prodex.store.vacuum": ("vacuum",),
}

#: The modules that are public beside the names below: figures, and the errors to catch.
_MODULES = ("charts", "errors", "operations")

__all__ = [
    "DELETE",
    "Audit",
    "AuditComparison",
    "Begins",
    "Catalog",
    "Changes",
    "Check",
    "Client",
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


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            globals()[name] = getattr(import_module(module), name)
            return globals()[name]
    if name == "charts":
        return import_module("prodex.display.charts")
    if name == "operations":
        return import_module("prodex.corrections.operations")
    if name == "__version__":
        return import_module("importlib.metadata").version("prodex")
    # Names with underscores are asked for by tools, often hundreds of times; nobody reads a proposal then.
    known = () if name.startswith("_") else sorted({*__all__, *_MODULES})
    raise AttributeError(f"module 'prodex' has no attribute {name!r}{_hint(name, known, '')}")


def __dir__() -> list[str]:
    """Return what is promised: an editor proposes nothing else."""
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
