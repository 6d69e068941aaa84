"""Methods of values that a part above them carries out: a catalogue's picture on a page, an audit's report.

A value lies below whatever shows or writes it, and imports nothing of that: whoever flattens records need not wait for
workbooks and charts, and no module imports itself by way of others. This table is the one place where a lower part
reaches a higher one; `tests/test_architecture.py` holds it to that.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: From the method of a value to the function that carries it out, as "module:function"; it gets the value first.
FUNCTIONS = {
    "Audit.html": "prodex.display.audit:html_of",
    "Audit.report": "prodex.display.report:write_report",
    "Audit.save": "prodex.quality.figures:save_audit",
    "Audit.text": "prodex.display.audit:text_of",
    "Audit.worklists": "prodex.display.worklists:write_worklists",
    "AuditComparison.html": "prodex.display.audit:comparison_html",
    "AuditComparison.text": "prodex.display.audit:comparison_text",
    "Catalog.html": "prodex.display.catalog:html_of",
    "CatalogViews.names": "prodex.facts.name:names_of",
    "Catalog.save": "prodex.store.snapshot:save",
    "Catalog.text": "prodex.display.catalog:text_of",
    "Difference.html": "prodex.display.difference:html_of",
    "Difference.text": "prodex.display.difference:text_of",
    "Fix.html": "prodex.display.fix:html_of",
    "Fix.text": "prodex.display.fix:text_of",
    "Fix.worklist": "prodex.display.worklists.again:write_again",
    "Gallery.html": "prodex.display.contact_sheet:html_of",
    "Gallery.to_html": "prodex.display.contact_sheet:write_page",
    "Pictures.html": "prodex.display.pictures:html_of",
    "Pictures.text": "prodex.display.pictures:text_of",
    "Tracking.html": "prodex.display.tracking:html_of",
    "Tracking.text": "prodex.display.tracking:text_of",
    "Watch.html": "prodex.display.watch:html_of",
    "Watch.text": "prodex.display.watch:text_of",
}


def call(method: str, *values: Any, **options: Any) -> Any:
    """Carry out a method of a value: import what does it, and call that.

    Parameters
    ----------
    method
        A key of `FUNCTIONS`, such as "Audit.worklists".
    *values, **options
        What the function is called with, the value itself first.
    """
    module, _, function = FUNCTIONS[method].partition(":")
    return getattr(import_module(module), function)(*values, **options)
