"""How to add a filter: its entry in the registry, and the typed field of a query; in the sandbox, its condition."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

ENTRY = """
Filter("filter_gtins_not_in", GTINS, "without-gtin", "Not this GTIN (repeat), or @FILE."),
"""

FIELD = """
gtins_not_in: tuple[str, ...] | None = None
"""

ARGUMENT = """
gtins_not_in: Many[str | int] = None,
"""

DOCUMENTED = """    gtins_not_in
        GTINs of products to leave out.
    search
        Words"""

CONDITION = """
"filter_gtins_not_in": ListFilter(
    texts(),
    "Products with none of these GTINs.",
    "products.gtin NOT IN (SELECT value FROM json_each(:filter_gtins_not_in))",
),
"""

USED = """
import inspect
import prodex
from prodex.sandbox import Sandbox
from prodex_sandbox.app import openapi

# A query takes it, checks it and writes it, and editors propose it.
query = prodex.ProductQuery(gtins_not_in=["3036811359935", 5000000000128])
gtins = ("03036811359935", "05000000000128")
assert query.gtins_not_in == gtins
assert query.to_body() == {"filter_gtins_not_in": list(gtins)}
assert query.to_params() == {"filter_gtins_not_in": ",".join(gtins)}
assert "gtins_not_in" in inspect.signature(prodex.ProductQuery).parameters
assert repr(query) == f"ProductQuery(gtins_not_in={gtins!r})"

# The sandbox answers it, and its document describes it.
assert "filter_gtins_not_in" in str(openapi()["paths"]["/public/v1/products"]["get"])
records = [{"id": number, "gtin": gtin} for number, gtin in enumerate([*gtins, "00000000000017"])]
with Sandbox(records) as sandbox:
    key = sandbox.credentials[0]
    client = prodex.connect(sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"])
    assert client.count(query) == 1

    # The section Load has a field for it.
    panel = prodex.explore(service=client, show="load")
    panel.app.view()
    panel.app.act("form.set", form="load", field="gtins_not_in", value="3036811359935")
    panel.wait()
    assert panel.query.gtins_not_in == gtins[:1]
    assert "2 products match" in str(panel.app.view())
"""


def test_a_filter_is_an_entry_and_a_typed_field(source: ChangedSource) -> None:
    """A new filter is in queries, on the wire, on the command line, in the query panel and in the sandbox."""
    source.insert("prodex/query/filters.py", 'Filter("filter_owners_in"', ENTRY)
    source.insert("prodex/query/product_query.py", "search: tuple[", FIELD)
    source.insert("prodex/query/product_query.py", "search: Search = None", ARGUMENT)
    source.replace("prodex/query/product_query.py", "    search\n        Words", DOCUMENTED)
    source.insert("prodex_sandbox/api/filters.py", '"next_page": ListFilter(', CONDITION)
    assert {
        "prodex/query/filters.py",
        "prodex/query/product_query.py",
        "prodex_sandbox/api/filters.py",
    } == source.files
    (help_,) = source.python(USED, "load --help")
    assert "--without-gtin" in help_
