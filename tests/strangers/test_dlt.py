"""dlt's `rest_api` source, configured as its users do, against the sandbox: all products, each once.

dlt ends a scroll where a reply has no cursor or a null one. The sandbox, like services that were seen, has a cursor
with every page unless it is told otherwise, and an empty page at the end. So dlt needs `stop_after_empty_page` in its
paginator, or the sandbox `--scroll-end null-cursor` or `no-cursor`.
"""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.behaviour import ScrollEnd
from prodex_sandbox.sample import shared_products

#: More than pages by offset reach.
MANY = 12_000
#: More than a GET reaches with chosen fields.
SOME = 4_300

#: dlt leaves a connection open where a scroll ends early; whoever collects it is warned.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")

SCROLL = {"type": "cursor", "cursor_path": "next_page", "cursor_body_path": "next_page"}
OFFSET = {"type": "offset", "limit": 500, "total_path": "totalResults"}


@pytest.fixture(scope="module", autouse=True)
def quiet_dlt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep dlt from calling home, and from the user's own folder; none of its connections is left to other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RUNTIME__DLTHUB_TELEMETRY", "false")
        patch.setenv("RUNTIME__LOG_LEVEL", "ERROR")
        patch.setenv("DLT_DATA_DIR", str(tmp_path_factory.mktemp("dlt")))
        yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def records(count: int) -> Iterator[dict[str, Any]]:
    """Yield small products."""
    for number in range(1, count + 1):
        brand = {"code": f"B{number % 7}", "label": f"Brand {number % 7}"}
        yield {"id": number, "gtin": f"{number:014d}", "updatedAt": "2026-01-01T00:00:00", "brand": brand}


@cache
def credentials_class() -> type:
    """Return dlt's client credentials, with the one change that the service needs: they go as JSON, not as a form."""
    # dlt reads its settings when it is imported.
    from dlt.common.configuration import configspec
    from dlt.sources.helpers.rest_client.auth import OAuth2ClientCredentials

    class JsonCredentials(OAuth2ClientCredentials):
        def build_access_token_request(self) -> dict[str, Any]:
            key = {"client_id": self.client_id, "client_secret": self.client_secret}
            return {"json": key | {"grant_type": "client_credentials"}}

    return configspec(JsonCredentials)


def credentials(sandbox: Sandbox, kind: type | None = None, **settings: Any) -> Any:
    """Return the retailer's access key as dlt wants it."""
    key = sandbox.credentials[0]
    return (kind or credentials_class())(
        access_token_url=f"{sandbox.base_url}/auth/v2/token",
        client_id=key["client_id"],
        client_secret=key["client_secret"],
        **settings,
    )


def source(sandbox: Sandbox, endpoint: dict[str, Any], auth: Any = None) -> Any:
    """Return dlt's source of the products."""
    from dlt.sources.rest_api import rest_api_source

    products = {
        "name": "products",
        "primary_key": "id",
        "endpoint": {"data_selector": "data"} | endpoint,
    }
    client = {"base_url": f"{sandbox.base_url}/public/v1/", "auth": auth or credentials(sandbox)}
    return rest_api_source({"client": client, "resources": [products]})


def scrolled(**settings: Any) -> dict[str, Any]:
    """Return the endpoint of a scroll; `settings` are the paginator's."""
    return {
        "path": "products/list",
        "method": "POST",
        "json": {"limit": 500, "next_page": ""},
        "paginator": SCROLL | settings,
    }


def ids(loaded: Any) -> list[int]:
    """Return the ids of the rows that a source extracts."""
    return [row["id"] for row in loaded.resources["products"]]


@pytest.mark.slow
def test_dlt_loads_every_product_of_a_scroll_once() -> None:
    """More products than pages by offset reach come, each once and in the order of the service."""
    with Sandbox(records(MANY)) as sandbox:
        assert list(range(1, MANY + 1)) == ids(source(sandbox, scrolled(stop_after_empty_page=True)))


@pytest.mark.slow
def test_dlt_loads_the_sample_into_a_database(tmp_path: Path) -> None:
    """A pipeline into DuckDB holds every product of the sample, and every text in a table of its own."""
    import dlt

    sample = list(shared_products(250))
    with Sandbox(sample) as sandbox:
        pipeline = dlt.pipeline(
            "exchange",
            pipelines_dir=str(tmp_path / "pipelines"),
            destination=dlt.destinations.duckdb(str(tmp_path / "loaded.duckdb")),
            dataset_name="shop",
        )
        endpoint = scrolled(stop_after_empty_page=True)
        endpoint["json"] |= {"limit": 100, "filter_source_include": ["id", "gtin", "namePublicLong"]}
        pipeline.run(source(sandbox, endpoint)).raise_on_failed_jobs()
        with pipeline.sql_client() as database:
            (products,) = database.execute_sql("SELECT count(*), count(DISTINCT id) FROM products")
            texts = database.execute_sql("SELECT data FROM products__name_public_long")

    stored = [text["data"] for product in sample for text in product.record.get("namePublicLong") or ()]
    assert (len(sample), len(sample)) == tuple(products)
    assert sorted(stored) == sorted(text for (text,) in texts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "settings"),
    [
        (Behaviour(), {"stop_after_empty_page": True}),
        (Behaviour(cursor_changes=False), {"stop_after_empty_page": True}),
        (Behaviour(scroll_end=ScrollEnd.NO_CURSOR), {}),
        (Behaviour(scroll_end=ScrollEnd.NULL_CURSOR), {}),
        (Behaviour(scroll_end=ScrollEnd.NULL_CURSOR, cursor_changes=False), {"stop_after_empty_page": True}),
    ],
    ids=["empty page", "empty page, equal cursor", "no cursor", "null cursor", "both"],
)
def test_dlt_ends_every_scroll_with_the_setting_it_needs(
    behaviour: Behaviour, settings: dict[str, Any]
) -> None:
    """Either dlt stops after an empty page, or the sandbox ends a scroll without a cursor; a second run is as good."""
    with Sandbox(records(1_500), behaviour=behaviour) as sandbox:
        loaded = source(sandbox, scrolled(**settings))
        first, second = ids(loaded), ids(loaded)

    assert list(range(1, 1_501)) == first == second


@pytest.mark.slow
def test_without_any_setting_dlt_asks_for_empty_pages_for_ever() -> None:
    """By default a cursor comes with the empty page at the end too, and dlt goes by cursors alone."""
    from dlt.sources.helpers.rest_client import RESTClient
    from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator

    with Sandbox(records(1_000)) as sandbox:
        client = RESTClient(f"{sandbox.base_url}/public/v1/", auth=credentials(sandbox), data_selector="data")
        paginator = JSONResponseCursorPaginator(cursor_path="next_page", cursor_body_path="next_page")
        body = {"limit": 500, "next_page": ""}
        pages = client.paginate("products/list", "POST", json=body, paginator=paginator)

        assert [500, 500, 0, 0, 0, 0] == [len(page) for page in islice(pages, 6)]


@pytest.mark.slow
@pytest.mark.parametrize(("fields", "most"), [("", 500), ("id,gtin", 4_000)])
def test_dlt_loads_by_get_and_offset_up_to_the_cap(fields: str, most: int) -> None:
    """GET gives as many products as its cap allows, each once."""
    parameters = {"filter_source_include": fields} if fields else {}
    with Sandbox(records(most)) as sandbox:
        loaded = source(sandbox, {"path": "products", "params": parameters, "paginator": OFFSET})

        assert list(range(1, most + 1)) == ids(loaded)


@pytest.mark.slow
def test_dlt_hears_of_the_cap_of_get() -> None:
    """Where more products match than a GET reaches, dlt's load fails; it does not end early in silence."""
    from dlt.extract.exceptions import ResourceExtractionError

    with Sandbox(records(SOME)) as sandbox:
        parameters = {"filter_source_include": "id,gtin"}
        loaded = source(sandbox, {"path": "products", "params": parameters, "paginator": OFFSET})

        with pytest.raises(ResourceExtractionError, match="400 Client Error"):
            ids(loaded)


def test_dlt_renews_its_token_by_json_credentials() -> None:
    """A token that has expired for dlt is asked for again in the middle of a scroll, and nothing is lost."""
    with Sandbox(records(1_500)) as sandbox:
        auth = credentials(sandbox, default_token_expiration=0)
        loaded = ids(source(sandbox, scrolled(stop_after_empty_page=True), auth))
        tokens = [body for _, path, body in sandbox.requests if path == "/auth/v2/token"]

    assert list(range(1, 1_501)) == loaded
    assert 4 == len(tokens)


def test_the_form_of_dlts_own_credentials_is_refused() -> None:
    """The documented body is JSON; a form is refused at once, with a status, and not mistaken for a wrong key."""
    from dlt.sources.helpers.rest_client.auth import OAuth2ClientCredentials

    with Sandbox(records(1)) as sandbox:
        auth = credentials(sandbox, OAuth2ClientCredentials)
        with pytest.raises(requests.HTTPError, match=r"^(400|415) Client Error"):
            auth(SimpleNamespace(headers={}))
