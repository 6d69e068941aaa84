"""prodex: product master data from an exchange service, as tables that an analyst can trust.

>>> import prodex
>>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "brand": {"code": "ACME", "label": "Acme"}}])
>>> catalog.products[["gtin", "brand"]].values.tolist()
[['03036811359935', 'Acme']]

Here is what a notebook or a command begins with. What these functions return (an `Audit`, a `Difference`) is met and
not imported; for type hints each is in the module of its part: `prodex.quality.Audit`. `prodex.charts` draws figures of
what tables and audits say, and `prodex.errors` has the errors to catch.
"""

import ast as _ast
import logging as _logging
from importlib import import_module
from importlib.util import find_spec as _find_spec
from pathlib import Path as _Path
from typing import TYPE_CHECKING, Any

# Of pandas and its accessor: whoever imports prodex has `Series.gtin`.
from prodex import gtin as _gtin  # noqa: F401
from prodex.errors import ProdexError
from prodex.imported_later import imported_later as _imported_later
from prodex.phrases import hint as _hint
from prodex.untrusted_text import printable_record as _inert_record

if TYPE_CHECKING:
    from prodex import catalog as catalog
    from prodex import compare as compare
    from prodex import errors as errors
    from prodex import formats as formats
    from prodex import job as job
    from prodex import languages as languages
    from prodex import limits as limits
    from prodex import load as load
    from prodex import notebook as notebook
    from prodex import packs as packs
    from prodex import pictures as pictures
    from prodex import publishing as publishing
    from prodex import quality as quality
    from prodex import query as query
    from prodex import sandbox_weeks as sandbox_weeks
    from prodex import selection as selection
    from prodex import send as send
    from prodex import service as service
    from prodex import worklists as worklists
    from prodex.catalog import Catalog, read_export
    from prodex.compare import diff
    from prodex.corrections import operations as operations
    from prodex.corrections.bulk import apply_recipe, correct
    from prodex.corrections.history import history
    from prodex.corrections.recipe import Recipe, RecipeStep
    from prodex.corrections.undo import undo
    from prodex.display import charts as charts
    from prodex.job import run_job
    from prodex.load.products import load_products, recover
    from prodex.load.reference_data import load_organizations, load_segments
    from prodex.load.refresh import refresh
    from prodex.load.workbook.reading import read_workbook
    from prodex.notebook import explore
    from prodex.pictures import download_pictures
    from prodex.publishing import open_published, publish
    from prodex.quality import Profile, Requirements, list_audits, open_audit
    from prodex.quality.accepting import accept, accepted, withdraw
    from prodex.quality.profile import profiles
    from prodex.quality.requirement_files.for_catalog import write_requirements
    from prodex.quality.rulebook import laws, rules
    from prodex.quality.run import audit
    from prodex.quality.watch import watch
    from prodex.query import ProductQuery
    from prodex.sandbox_weeks import simulated_weeks
    from prodex.selection import Selection
    from prodex.send import DELETE, list_upserts, require_scenarios
    from prodex.send.following import track
    from prodex.send.upsert import upsert
    from prodex.service import connect
    from prodex.store.reading import flatten, read_products
    from prodex.store.snapshot import list_snapshots, open_snapshot, verify
    from prodex.store.vacuum import vacuum
    from prodex.worklists.given_corrections import correct_from
    from prodex.worklists.read_worklist import read_worklist
    from prodex.worklists.text_corrections import TextCorrection

# Lines of a log quote the service and suppliers, and end on a terminal.
_logging.getLogger("prodex").addFilter(_inert_record)

#: Imported when first asked for: whoever only opens a catalogue need not wait for the network, rules and widgets.
_LATER = {
    "prodex.catalog": ("Catalog", "read_export"),
    "prodex.compare": ("diff",),
    "prodex.corrections.bulk": ("apply_recipe", "correct"),
    "prodex.corrections.history": ("history",),
    "prodex.corrections.recipe": ("Recipe", "RecipeStep"),
    "prodex.corrections.undo": ("undo",),
    "prodex.job": ("run_job",),
    "prodex.load": ("load_products", "recover", "refresh"),
    "prodex.load.reference_data": ("load_organizations", "load_segments"),
    "prodex.load.workbook.reading": ("read_workbook",),
    "prodex.notebook": ("explore",),
    "prodex.pictures": ("download_pictures",),
    "prodex.publishing": ("open_published", "publish"),
    "prodex.quality": ("Profile", "Requirements", "list_audits", "open_audit", "profiles", "rules"),
    "prodex.quality.accepting": ("accept", "accepted", "withdraw"),
    "prodex.quality.requirement_files.for_catalog": ("write_requirements",),
    "prodex.quality.rulebook": ("laws",),
    "prodex.quality.run": ("audit",),
    "prodex.quality.watch": ("watch",),
    "prodex.query": ("ProductQuery",),
    "prodex.selection": ("Selection",),
    "prodex.send": ("DELETE", "list_upserts", "require_scenarios", "track", "upsert"),
    "prodex.service": ("connect",),
    "prodex.store.reading": ("flatten", "read_products"),
    "prodex.store.snapshot": ("list_snapshots", "open_snapshot", "verify"),
    "prodex.store.vacuum": ("vacuum",),
    "prodex.sandbox_weeks": ("simulated_weeks",),
    "prodex.worklists.given_corrections": ("correct_from",),
    "prodex.worklists.read_worklist": ("read_worklist",),
    "prodex.worklists.text_corrections": ("TextCorrection",),
}

#: The public modules, with where they are: what only few need is there, and the classes of what functions return.
_MODULES = {
    name: f"prodex.{name}"
    for name in (
        "catalog",
        "compare",
        "errors",
        "formats",
        "job",
        "languages",
        "limits",
        "load",
        "notebook",
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
    )
} | {"charts": "prodex.display.charts", "operations": "prodex.corrections.operations"}

__all__ = [
    "DELETE",
    "Catalog",
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


_named = _imported_later(__name__, _LATER)


def _attribute(name: str) -> Any:
    if name in __all__:
        return _named(name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name == "__version__":
        return import_module("importlib.metadata").version("prodex")
    # Nobody reads a proposal where Python asks before it imports a module, and tools ask for names with underscores.
    is_asked_by_nobody = name.startswith("_") or _find_spec(f"{__name__}.{name}") is not None
    raise AttributeError(
        f"module 'prodex' has no attribute {name!r}{'' if is_asked_by_nobody else _where_it_is(name)}"
    )


if not TYPE_CHECKING:
    # A type checker that saw it would take every name for one that is there.
    __getattr__ = _attribute


def _where_it_is(name: str) -> str:
    """Return the end of an error: which module has the name, that a catalogue has it, or which one is near."""
    for module, path in _MODULES.items():
        if name in _public_names(path):
            return f"; it is in a module: prodex.{module}.{name}"
    if callable(getattr(_named("Catalog"), name, None)):
        return f"; catalogues have it: catalog.{name}(...)"
    return _hint(name, sorted({*__all__, *_MODULES}))


def _public_names(module: str) -> list[str]:
    """Return what a module offers: `__all__`, and classes. It is read and not imported, which takes longer."""
    spec = _find_spec(module)
    tree = _ast.parse(_Path(spec.origin).read_text("utf-8") if spec and spec.origin else "")
    classes = [one.name for one in tree.body if isinstance(one, _ast.ClassDef) and one.name[0] != "_"]
    lists = [
        one for one in tree.body if isinstance(one, _ast.Assign) and _ast.unparse(one.targets[0]) == "__all__"
    ]
    return classes + [name for one in lists for name in _ast.literal_eval(one.value)]


def __dir__() -> list[str]:
    """Return what is promised: an editor proposes nothing else."""
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
