"""The declared contract against what the sandbox serves and takes: each reply, the whole sample, any write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, DAIRY, LABELS, MARKET, MILL, PRODUCTS, SHOP
from tests.cases import each_row
from writer import Writer

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.api.filters import FILTERS
from prodex_sandbox.api.listing import ProductPage
from prodex_sandbox.app import openapi
from prodex_sandbox.records.indexing import SEARCH_FIELDS
from prodex_sandbox.records.model import OrganizationType
from prodex_sandbox.records.schemas import SHAPE_NOT_SHOWN, Product
from prodex_sandbox.sample import shared_products

DOCUMENT = openapi()
SCHEMAS = DOCUMENT["components"]["schemas"]

#: What the specification's tables describe, and the schema that has to describe it.
DESCRIBED = {
    "ProductPage": "totalResults data offset next_page",
    "AccessToken": "access_token token_type",
    "LocalizedText": "expressedIn data",
    "Language": "normalizedCode code description label",
    "CodeValue": "code description label",
    "PicturedCodeValue": "code description label pictureUrl",
    "Product": "id uuid gtin _jsonVersion createdAt updatedAt nameLegal namePublicShort namePublicLong description "
    "composition allergens productionVariantName brand kind typePackaging isConsumerUnit isDespatchUnit "
    "isOrderableUnit isInvoiceUnit isPromotionalItem isNomadic isMarkedRecyclable hasBatchNumber lifeCycle "
    "manufacturerSharingStatus hasTags isTaggedBy expressedIn isLabeledBy specializes owner GPC subdivisions "
    f"logisticalHierarchies sharingUnits assets {SHAPE_NOT_SHOWN}",
    "Tag": "tag createdAt",
    "PresentEntities": "referential presentEntities",
    "Label": "startDate endDate detail value attributedAt isConceptualizedBy",
    "Specialization": "isBrandedBy isIdentifiedBy kind",
    "Owner": "type name",
    "LogisticalHierarchy": "activeListing product_key_id gtin quantity children",
    "Assets": "pictures documents videos enriched_contents lastUpdatedAt",
    "Picture": "url isPackshot typeOfInformation contentType productFace fileType angleHorizontal angleVertical "
    "angleOther sequenceNumber definition resolution resolutionX resolutionY width height ratio format tags "
    "uniformResourceIdentifierOrigin fileEffectiveStartDateTime fileEffectiveEndDateTime createdAt updatedAt "
    "exportables",
    "Exportable": "uniformResourceIdentifier height width fileSize productpicture_id crc32 createdAt updatedAt",
    "TrackingRecord": "createdAt status message count tracking products user organization endpoint",
    "ProductOutcome": "gtin status message",
    "User": "id username",
    "ScenarioRequirement": "uuids ruleset_values deadline",
}


def references(node: Any) -> Iterator[str]:
    """Yield every reference below a node."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


@each_row("name", DESCRIBED)
def test_every_table_of_the_specification_has_a_schema_with_its_fields(name: str) -> None:
    """A schema has every field that the specification names, and a description."""
    assert [] == sorted(set(DESCRIBED[name].split()) - SCHEMAS[name]["properties"].keys())
    assert SCHEMAS[name]["description"]


def test_every_body_of_every_operation_refers_to_a_schema_by_name() -> None:
    """What is JSON in a request or a reply of 200 is a named schema, or an array of one; no reference leads nowhere."""
    anonymous = []
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for body in bodies:
                schema = body.get("content", {}).get("application/json", {}).get("schema", {"$ref": ""})
                if not list(references(schema)) or "properties" in schema:
                    anonymous.append((method, path, schema))

    assert [] == anonymous
    assert {reference.rpartition("/")[2] for reference in references(DOCUMENT)} <= set(SCHEMAS)


def test_the_body_of_a_search_is_made_of_the_declared_filters() -> None:
    """Its members are FILTERS, with their schemas and meanings; a search field is one that is searched."""
    members = SCHEMAS["ProductSearch"]["properties"]
    declared = {
        name: one.value_type.post_schema | {"description": one.meaning}
        for name, one in FILTERS.items()
        if "POST" in one.methods and name != "advanced_search"
    }

    assert declared == {name: schema for name, schema in members.items() if name != "advanced_search"}
    assert {"$ref": "#/components/schemas/AdvancedSearch"}.items() <= members["advanced_search"].items()
    fields = SCHEMAS["SearchEntry"]["properties"]["fields"]["items"]["enum"]
    assert list(SEARCH_FIELDS) == fields


def test_requests_are_closed_and_products_are_open() -> None:
    """Unknown members of requests are no part of the contract; unknown attributes of products are."""
    assert all(
        SCHEMAS[name]["additionalProperties"] is True for name in ("Product", "ProductSent", "Picture")
    )
    assert all(
        SCHEMAS[name]["additionalProperties"] is False
        for name in ("ProductSearch", "TokenRequest", "TrackingRecord")
    )


def test_absent_null_and_empty_are_three_facts_in_a_schema() -> None:
    """A list of products is never absent or null; an attribute may be both; a gtin may only be absent."""
    assert ["totalResults", "data", "offset"] == SCHEMAS["ProductPage"]["required"]
    assert "required" not in SCHEMAS["Product"]
    page = {"totalResults": 0, "data": [{"gtin": "1", "allergens": None}, {"allergens": []}], "offset": 0}
    assert msgspec.json.decode(json.dumps(page), type=ProductPage)
    for wrong in (
        {"gtin": None},
        {"allergens": {}},
        {"isNomadic": "true"},
        {"lifeCycle": "1"},
        {"assets": []},
    ):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(json.dumps(page | {"data": [wrong]}), type=ProductPage)


def test_no_schema_has_a_default_that_nobody_takes() -> None:
    """An absent member is absent: no generated client may fill one in."""
    assert [] == [
        name for name, schema in SCHEMAS.items() if any("default" in one for one in members_of(schema))
    ]


def members_of(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of an object's members."""
    return list(schema.get("properties", {}).values())


@pytest.mark.slow
def test_every_product_of_the_sample_fits_the_model() -> None:
    """2,000 products of the sample fit the contract, however unusual some of them are."""
    body = json.dumps([product.record for product in shared_products(2_000)])

    assert 2_000 == len(msgspec.json.decode(body, type=list[Product]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(documents_key="document", token_type_key="type"),
        Behaviour(organizations_as_list=True),
        Behaviour(organizations_total=False),
    ],
    ids=["other names", "a bare array", "no total"],
)
def test_replies_fit_the_models_under_every_setting(behaviour: Behaviour) -> None:
    """Settings that change a reply's shape keep within the document; `Caller` holds every reply against it."""
    products = list(shared_products(40))
    owners = {one.owner_id for one in products[:20]}
    with Sandbox(products, behaviour=behaviour) as sandbox:
        # All retailers, and the manufacturers of some of the products: the others see nothing.
        for organization in sandbox.organizations:
            if organization.type == OrganizationType.MANUFACTURER and organization.id not in owners:
                continue
            caller = Writer(sandbox.base_url, organization)
            with caller.session:
                caller.log_in()
                for path in (
                    "/auth/v2/organization",
                    "/core/v3/productsegments/hierarchy",
                    "/sandbox/scenarios",
                ):
                    assert 200 == caller.session.get(f"{sandbox.base_url}{path}").status_code
                for language in (None, "fr", "de"):
                    assert 200 == caller.search(language, limit=100).status_code
                for fields in (["assets"], ["namePublicLong.data"], ["brand.label", "logisticalHierarchies"]):
                    assert 200 == caller.search(filter_source_include=fields).status_code
                    assert (
                        200
                        == caller.search(
                            filter_source_exclude=fields, filter_product_languages=["fr"]
                        ).status_code
                    )


@pytest.fixture(scope="module")
def mill() -> Iterator[Writer]:
    """Call as the manufacturer of the bread."""
    owners = [replace(SHOP), MARKET, MILL, DAIRY]
    with Sandbox(PRODUCTS, organizations=owners, labels=LABELS) as sandbox:
        writer = Writer(sandbox.base_url, MILL)
        with writer.session:
            yield writer.log_in()


#: JSON of any kind, near enough to codes and texts to get past the first checks.
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(0, 1)
    | st.sampled_from(["", "x", "fra-FR", "G"])
)
WRITTEN = sorted({*Product.__struct_encode_fields__, *SHAPE_NOT_SHOWN.split()} - {"gtin", "_jsonVersion"})
WORDS = sorted({word for text in DESCRIBED.values() for word in text.split()} - {"gtin"})
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@given(
    attributes=st.dictionaries(
        st.sampled_from(
            sorted({*Product.__struct_encode_fields__, *SHAPE_NOT_SHOWN.split()} - {"gtin", "_jsonVersion"})
        ),
        VALUES,
        min_size=1,
        max_size=3,
    )
)
def test_whatever_is_written_replies_stay_as_the_contract_says(
    mill: Writer, attributes: dict[str, Any]
) -> None:
    """An attribute of another shape than its schema is the product's error; what is stored can be read by the model."""
    record = mill.write({"gtin": BREAD} | attributes)

    assert record["status"] in {"SUCCESS", "CONTAINS_ERRORS"}
    mill.stored(BREAD)


def test_a_written_product_is_made_of_the_same_parts_as_a_read_one() -> None:
    """What was read can be sent back as it is."""
    assert SCHEMAS["Product"]["properties"].keys() == SCHEMAS["ProductSent"]["properties"].keys()
    parts = {reference.rpartition("/")[2] for reference in references(SCHEMAS["ProductSent"])}
    assert {"Assets", "LocalizedText", "HierarchyNode"} <= parts
