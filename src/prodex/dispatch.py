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
    "Audit.html": "prodex.quality.display:html_of",
    "Audit.report": "prodex.quality.report:write_report",
    "Audit.save": "prodex.quality.saved:save_audit",
    "Audit.text": "prodex.quality.display:text_of",
    "Audit.worklists": "prodex.quality.worklists:write_worklists",
    "Catalog.html": "prodex.catalog.display:html_of",
    "Catalog.text": "prodex.catalog.display:text_of",
    "Difference.html": "prodex.compare.display:html_of",
    "Difference.text": "prodex.compare.display:text_of",
    "Pictures.html": "prodex.pictures.display:html_of",
    "Pictures.text": "prodex.pictures.display:text_of",
    "Tracking.html": "prodex.send.display:html_of",
    "Tracking.text": "prodex.send.display:text_of",
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
