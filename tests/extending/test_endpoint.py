"""How to add an endpoint: a method of the client, and in the sandbox what answers it, with its contract."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

METHOD = '''
def markets(self) -> Any:
    """List the markets of the service as they came."""
    return self.call("GET", "/core/v1/markets", decode=json_value)

'''

ROUTE = '''

@operation(
    "GET",
    "/core/v1/markets",
    *_TOKEN,
    replies=list[int],
    meaning="The markets.",
)
def list_markets(request: Request) -> Response:
    """List the markets in which products can be sold."""
    _caller(request)
    return _reply([56, 250])
'''

USED = """
import prodex
import requests
from prodex.sandbox import Fault, Sandbox
from prodex_sandbox.app import openapi

# The document describes it.
described = openapi()["paths"]["/core/v1/markets"]["get"]
assert described["operationId"] == "list_markets"
assert described["responses"].keys() >= {"200", "401"}

with Sandbox([{"id": 7}]) as sandbox:
    key = sandbox.credentials[0]
    client = prodex.connect(sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"])
    # It needs a token, and the client's retries hold for it.
    assert requests.get(f"{sandbox.base_url}/core/v1/markets", timeout=10).status_code == 401
    sandbox.order(Fault("503", at=1, endpoint="all"))
    assert client.markets() == [56, 250]
"""


def test_an_endpoint_is_one_method_and_one_function_of_the_sandbox(source: ChangedSource) -> None:
    """A new endpoint is called with the client's token and retries, answered by the sandbox, and in its document."""
    source.insert("prodex/service/client.py", "def product_segments", METHOD)
    source.append("prodex_sandbox/api/endpoints.py", ROUTE)
    assert {"prodex/service/client.py", "prodex_sandbox/api/endpoints.py"} == source.files
    source.python(USED)
