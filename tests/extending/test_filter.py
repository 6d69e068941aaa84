"""How to add a filter: its entry in the registry, and the typed field of a query; in the sandbox, its condition."""

from __future__ import annotations

from tests.extending.changed_source import ChangedSource

ENTRY = """
"owners_not_in": Filter(
    "filter_owners_not_in", INTEGERS, "without-owner", "Without the products of this owner (repeat)."
),
"""

FIELD = """
owners_not_in: tuple[int, ...] | None = None
"""

ARGUMENT = """
owners_not_in: Many[int | str] = None,
"""

DOCUMENTED = """    owners_not_in
        Ids of owners whose products are left out.
    search
        Words"""

CONDITION = """
"filter_owners_not_in": Filter(
    value_types.integers(),
    "Products of all owners but these, by organisation id.",
    "products.owner_id NOT IN (SELECT value FROM json_each(:filter_owners_not_in))",
),
"""

USED = """
import inspect
import prodex
from prodex.sandbox import Sandbox
from prodex.sandbox.app import application

# A query takes it, checks it and writes it, and editors propose it.
query = prodex.ProductQuery(owners_not_in=["11", 12])
assert query.owners_not_in == (11, 12)
assert query.to_body() == {"filter_owners_not_in": "11,12"}
assert query.to_params() == {"filter_owners_not_in": "11,12"}
assert "owners_not_in" in inspect.signature(prodex.ProductQuery).parameters
assert repr(query) == "ProductQuery(owners_not_in=(11, 12))"

# The sandbox answers it, and its document describes it.
assert "filter_owners_not_in" in str(application().openapi()["paths"]["/public/v1/products"]["get"])
records = [{"id": owner, "gtin": f"{owner:014}", "owner": {"id": owner, "name": "Mill"}} for owner in (11, 12, 13)]
with Sandbox(records) as sandbox:
    key = sandbox.credentials[0]
    client = prodex.connect(sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"])
    assert client.count(query) == 1

    # The query panel has a control for it.
    panel = prodex.QueryPanel(client)
    panel.control("owners_not_in").value = "11"
    panel.wait()
    assert (panel.query.owners_not_in, panel.count) == ((11,), 2)
"""


def test_a_filter_is_an_entry_and_a_typed_field(source: ChangedSource) -> None:
    """A new filter is in queries, on the wire, on the command line, in the query panel and in the sandbox."""
    source.insert("query/filters.py", '"search": Filter(', ENTRY)
    source.insert("query/product_query.py", "search: tuple[", FIELD)
    source.insert("query/product_query.py", "search: Search = None", ARGUMENT)
    source.replace("query/product_query.py", "    search\n        Words", DOCUMENTED)
    source.insert("sandbox/api/filters.py", '"next_page": Filter(', CONDITION)
    assert {"query/filters.py", "query/product_query.py", "sandbox/api/filters.py"} == source.files
    source.python(USED)
    assert "--without-owner" in source.command("load", "--help")
