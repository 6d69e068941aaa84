"""A client that is generated from the OpenAPI document, and used as somebody would who knows nothing else.

The generator, openapi-python-client, is no part of prodex; it is named in the test group, and its absence is a failure.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from prodex.sandbox import Sandbox
from prodex_sandbox.command import write_openapi
from prodex_sandbox.sample import shared_products

PACKAGE = "exchange_client"
PRODUCTS = 400

#: Files are bytes to the generator.
CONFIG = {
    "post_hooks": [],
    "content_type_overrides": dict.fromkeys(
        ("application/pdf", "image/jpeg", "image/png", "image/tiff"), "application/octet-stream"
    ),
}

#: What the contract speaks of, by the names of its schemas.
NAMES = """
AccessToken AdvancedSearch Assets CodeValue Document Error Exportable HierarchyNode ImportStatus Label Language
LocalizedText LogisticalHierarchy ListedOrganization OrganizationPage OrganizationType Owner Picture PicturedCodeValue
PresentEntities Product ProductOutcome ProductPage ProductSearch ProductSent ProductStatus ProductUpsert
RequiredScenario Scenario ScenarioAnswer ScenarioRequirement SearchEntry Segment SharingStatus Specialization Tag
TokenRequest TrackingRecord UpsertAnswer User Validation ValidationStatus Video
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Generate the client and import it; the generator may warn of XML alone, which it does not know."""
    folder = tmp_path_factory.mktemp("generated")
    document, config = folder / "openapi.json", folder / "config.json"
    write_openapi(document)
    config.write_text(json.dumps(CONFIG))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    ended = subprocess.run(
        [*command, "--path", document, "--config", config, "--output-path", folder / PACKAGE],
        capture_output=True,
        text=True,
        check=False,
    )
    said = ended.stdout + ended.stderr
    assert 0 == ended.returncode, said
    assert 1 == said.count("WARNING") == said.count("Unsupported content type application/xml"), said
    sys.path.insert(0, str(folder))
    try:
        yield import_module(PACKAGE)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def models(generated: ModuleType) -> Any:
    """Give the generated models."""
    return import_module(f"{generated.__name__}.models")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Serve some of the sample; it is written on."""
    with Sandbox(shared_products(PRODUCTS)) as sandbox:
        yield sandbox


def call(name: str, **arguments: Any) -> Any:
    """Call a generated function, and return what it made of the reply."""
    module = import_module(f"{PACKAGE}.api.default.{name}")
    return module.sync(**arguments)


@pytest.fixture
def key(sandbox: Sandbox) -> dict[str, str]:
    """Give the access key of the retailer that sees all."""
    first = sandbox.credentials[0]
    return {
        "client_id": first["client_id"],
        "client_secret": first["client_secret"],
        "grant_type": "client_credentials",
    }


def logged_in(generated: ModuleType, models: Any, sandbox: Sandbox, key: dict[str, str]) -> Any:
    """Return a generated client with a token."""
    with generated.Client(base_url=sandbox.base_url, raise_on_unexpected_status=True) as anybody:
        token = call("create_token", client=anybody, body=models.TokenRequest(**key))
    assert isinstance(token, models.AccessToken)
    return generated.AuthenticatedClient(
        base_url=sandbox.base_url, token=token.access_token, raise_on_unexpected_status=True
    )


@pytest.mark.slow
def test_the_generated_models_have_the_names_of_the_contract(models: Any) -> None:
    """Whoever generates a client finds product, picture, hierarchy, import and the rest by name."""
    assert [] == sorted(set(NAMES.split()) - set(models.__all__))


@pytest.mark.slow
def test_a_wrong_key_is_an_error_with_a_name(
    generated: ModuleType, models: Any, sandbox: Sandbox, key: dict[str, str]
) -> None:
    """A refusal comes as the contract's error, not as an exception about an unknown reply."""
    wrong = models.TokenRequest(**key | {"client_secret": "wrong"})
    with generated.Client(base_url=sandbox.base_url, raise_on_unexpected_status=True) as anybody:
        refused = call("create_token", client=anybody, body=wrong)

    assert isinstance(refused, models.Error)
    assert "authentication_failed" == refused.error


@pytest.mark.slow
def test_a_generated_client_lists_with_filters(
    generated: ModuleType, models: Any, sandbox: Sandbox, key: dict[str, str]
) -> None:
    """GET and POST with filters give the same products, with named parts down to renditions."""
    with logged_in(generated, models, sandbox, key) as client:
        got = call("list_products", client=client, filter_tags_in="exportable", limit=5)
        body = models.ProductSearch(filter_tags_in=["exportable"], limit=5)
        posted = call("search_products", client=client, body=body)

    assert isinstance(got, models.ProductPage)
    assert got.data == posted.data
    assert 5 == len(got.data)
    product = next(product for product in got.data if product.assets.pictures)
    assert isinstance(product, models.Product)
    assert isinstance(product.name_public_long[0], models.LocalizedText)
    assert isinstance(product.name_public_long[0].expressed_in, models.Language)
    assert isinstance(product.brand, models.PicturedCodeValue)
    assert isinstance(product.assets.pictures[0], models.Picture)
    assert isinstance(product.assets.pictures[0].exportables[0], models.Exportable)
    assert all("exportable" in {tag.tag for tag in product.has_tags} for product in got.data)


@pytest.mark.slow
def test_a_generated_client_scrolls_to_the_end(
    generated: ModuleType, models: Any, sandbox: Sandbox, key: dict[str, str]
) -> None:
    """Each product comes once, and goes through the models without a loss."""
    received: list[Any] = []
    with logged_in(generated, models, sandbox, key) as client:
        body = models.ProductSearch(limit=150, next_page="")
        while (page := call("search_products", client=client, body=body)).data:
            received += page.data
            body.next_page = page.next_page

    assert page.total_results == len(received) == len({product.id for product in received})
    stored = {product.record["id"]: product.record for product in shared_products(PRODUCTS)}
    names = {product.id: [text.to_dict() for text in product.name_public_long or ()] for product in received}
    assert names == {id_: stored[id_].get("namePublicLong") or [] for id_ in names}
    assert any(hierarchy for product in received for hierarchy in product.logistical_hierarchies)


def test_a_generated_client_writes_and_tracks(
    generated: ModuleType, models: Any, sandbox: Sandbox, key: dict[str, str]
) -> None:
    """An upsert of named models is tracked to its end, and read back."""
    with logged_in(generated, models, sandbox, key) as client:
        page = call("search_products", client=client, body=models.ProductSearch(limit=1))
        text = models.LocalizedText(expressed_in=models.Language(code="fra-FR"), data="Un nom nouveau")
        sent = models.ProductSent(gtin=page.data[0].gtin, name_public_long=[text])
        unknown = models.ProductSent(gtin="03149170388000", name_public_long=[text])
        answer = call("upsert_products", client=client, body=models.ProductUpsert(data=[sent, unknown]))
        assert isinstance(answer, models.UpsertAnswer)
        until = time.monotonic() + 20
        while True:
            record = call("track_import", client=client, tracking_id=answer.tracking)
            assert isinstance(record, models.TrackingRecord)
            if record.status != models.ImportStatus.IN_PROGRESS or time.monotonic() > until:
                break
            time.sleep(0.01)
        search = models.ProductSearch(filter_gtins_in=[sent.gtin])
        (written,) = call("search_products", client=client, body=search).data

    assert models.ImportStatus.CONTAINS_ERRORS == record.status
    assert ["SUCCESS", "ERROR"] == [outcome.status for outcome in record.products]
    assert all(isinstance(outcome, models.ProductOutcome) for outcome in record.products)
    assert ["Un nom nouveau"] == [text.data for text in written.name_public_long]


def test_the_other_lists_have_names_too(
    generated: ModuleType, models: Any, sandbox: Sandbox, key: dict[str, str]
) -> None:
    """Organisations, segments and scenarios come as models, segments as deep as they are."""
    with logged_in(generated, models, sandbox, key) as client:
        organizations = call("list_organizations", client=client)
        (tree,) = call("list_segments", client=client)
        scenarios = call("list_own_scenarios", client=client)

    assert isinstance(organizations, models.OrganizationPage)
    assert models.OrganizationType.VALUE_2 == organizations.data[0].type_
    assert isinstance(tree.children[0].children[0], models.Segment)
    assert all(isinstance(one, models.Scenario) for one in scenarios)
    assert scenarios
