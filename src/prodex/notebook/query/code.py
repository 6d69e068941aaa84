"""A query as Python code and as the body of a request, to copy."""

from __future__ import annotations

import ast
from html import escape
from typing import Any

from prodex.notebook.boxes import VBox
from prodex.notebook.panel import Fold, html
from prodex.query import ProductQuery

#: Height of the field in lines; the others are reached by scrolling.
_MOST_ROWS = 18


class QueryCode(VBox):
    """Two folds with a query as Python and as the body of a request.

    A closed fold is not filled: a query with ten thousand GTINs would go to the browser twice with every change.
    """

    def __init__(self) -> None:
        self._asked: tuple[ProductQuery, str | None, float | None] = (ProductQuery(), None, None)
        self.python: Any = html("")
        self.wire: Any = html("")
        self.python_fold: Fold = Fold("Python code", [self.python])
        self.wire_fold: Fold = Fold("Request as JSON", [self.wire])
        super().__init__([self.python_fold, self.wire_fold])
        for fold in (self.python_fold, self.wire_fold):
            fold.observe(lambda _: self._write(), "is_open")

    def show(self, query: ProductQuery, name: str | None, max_age: float | None) -> None:
        """Show a query, and the call that loads it."""
        self._asked = (query, name, max_age)
        self._write()

    def _write(self) -> None:
        if self.python_fold.is_open:
            self.python.value = _text(as_python(*self._asked), "Python code of the query")
        if self.wire_fold.is_open:
            self.wire.value = _text(self._asked[0].wire(), "Request of the query as JSON")


def as_python(query: ProductQuery, name: str | None, max_age: float | None) -> str:
    """Return the query and the call that loads it as Python code that runs as it is.

    >>> print(as_python(ProductQuery(target_market=250), "shop", None))
    import prodex as px
    <BLANKLINE>
    service = px.connect()
    query = px.ProductQuery(
        target_market=250,
    )
    catalog = px.load_products(service, query, name='shop')
    """
    how = "" if name is None else f", name={name!r}"
    how += "" if max_age is None else f", max_age={max_age!r}"
    asked = query_as_python(query)
    # The repr of a point in time names its module.
    imports = "import datetime\n\nimport prodex as px" if "datetime." in asked else "import prodex as px"
    return (
        f"{imports}\n\nservice = px.connect()\nquery = {asked}\n"
        f"catalog = px.load_products(service, query{how})"
    )


def query_as_python(query: ProductQuery) -> str:
    """Return a query as Python code, one field per line.

    >>> print(query_as_python(ProductQuery(tags_in="new")))
    px.ProductQuery(
        tags_in=('new',),
    )
    """
    # The repr of a query is Python, and leaves out what is not asked for; it is only laid out here.
    call = ast.parse(repr(query), mode="eval").body
    fields = [f"    {one.arg}={ast.unparse(one.value)},\n" for one in getattr(call, "keywords", ())]
    return f"px.ProductQuery(\n{''.join(fields)})" if fields else "px.ProductQuery()"


def _text(text: str, name: str) -> str:
    """Return text that can be copied: Tab leads into it, and Ctrl+A selects all of it."""
    # Not read-only: JupyterLab would take Ctrl+A for itself, and select all cells.
    rows = min(text.count("\n") + 1, _MOST_ROWS)
    return (
        f"<textarea class='code' rows='{rows}' aria-label='{name}' dir='ltr' spellcheck='false'>"
        f"{escape(text)}</textarea>"
    )
