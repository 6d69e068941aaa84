"""The schemas of requests and replies (spec, endpoints 1 to 10), as pydantic models, for the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, WithJsonSchema, create_model

from prodex_sandbox.api.filters import FILTERS
from prodex_sandbox.records.imports import Endpoint, ImportStatus
from prodex_sandbox.records.indexing import SEARCH_FIELDS
from prodex_sandbox.records.model import OrganizationType
from prodex_sandbox.records.schemas.product import Product
from prodex_sandbox.records.schemas.values import ABSENT, ClosedObject, LocalDateTime, described


class TokenRequest(ClosedObject):
    """Client credentials (spec, endpoint 1)."""

    client_id: str
    client_secret: str
    grant_type: Literal["client_credentials"]


class AccessToken(ClosedObject):
    """A bearer token (spec, Access token response)."""

    access_token: str = Field(description="A JWT, for the header `Authorization: Bearer`.")
    token_type: Literal["JWT"] = ABSENT
    type: Literal["JWT"] = described(
        "The token's type under the name that one example has; see token_type_key."
    )


class Error(ClosedObject):
    """Why a call was refused; the specification shows no such body."""

    error: str = Field(description="A code that does not change; each endpoint lists its own.")
    message: str = Field(description="What was wrong, and what to send instead.")


class ListedOrganization(ClosedObject):
    """A participant of the exchange (spec, Other resources; its fields are not shown)."""

    id: int
    nameLegal: str
    type: OrganizationType


class OrganizationPage(ClosedObject):
    """One page of the organisations."""

    totalResults: int = ABSENT
    data: list[ListedOrganization]
    offset: int


class Health(ClosedObject):
    """That the sandbox runs; no part of the service."""

    service: str
    products: int


class ProductPage(ClosedObject):
    """The products of one page, and how many match (spec, Response envelope)."""

    totalResults: int = Field(ge=0, description="Number of products that match.")
    data: list[Product]
    offset: int = Field(ge=0, description="Index of the first product of the page.")
    next_page: str | None = described(
        "Cursor of the next page of a scroll. Where the last page has one, an empty page follows."
    )


SearchField = Annotated[str, WithJsonSchema({"enum": list(SEARCH_FIELDS), "type": "string"})]


class SearchEntry(ClosedObject):
    """A word that one of some fields has to hold (spec, endpoint 5)."""

    query: str = Field(min_length=1, examples=["chocolate"])
    fields: list[SearchField] = Field(min_length=1)


class AdvancedSearch(ClosedObject):
    """A text search: every entry of `must` has to match (spec, endpoint 5)."""

    must: list[SearchEntry] = Field(max_length=32)


#: Filters whose value is an object, which has a name.
# A filter of its own schema; all others are described by their type.
_OBJECTS: Final = {"advanced_search": AdvancedSearch}

_MEMBERS: Final[dict[str, Any]] = {
    name: (
        _OBJECTS.get(name) or Annotated[Any, WithJsonSchema(one.value_type.post_schema)],
        Field(default=ABSENT, description=one.meaning),
    )
    for name, one in FILTERS.items()
    if "POST" in one.methods
}

#: The body of a search: the filters that a POST takes, as they are declared.
ProductSearch: Final = create_model(
    "ProductSearch",
    __base__=ClosedObject,
    __module__=__name__,
    __doc__="What to look for, which fields to return, and which page (spec, endpoint 5).",
    **_MEMBERS,
)


class Segment(ClosedObject):
    """A product segment with those below it; the specification does not show its fields."""

    id: str
    name: str
    children: list[Segment]


class ScenarioRequirement(ClosedObject):
    """Scenarios to activate or deactivate, and the products on which (spec, endpoint 10)."""

    uuids: list[str] = Field(min_length=1, description="Products, by uuid.")
    ruleset_values: dict[str, bool] = Field(
        min_length=1, description="Scenario id -> true to activate, false to deactivate."
    )
    deadline: str = Field(
        default=ABSENT,
        description="Day until which what is activated has to be done.",
        json_schema_extra={"format": "date"},
    )


class ScenarioAnswer(ClosedObject):
    """On how many products the scenarios were activated or deactivated."""

    products: int


class Scenario(ClosedObject):
    """A validation scenario of the caller; the specification does not show its fields."""

    id: str
    name: str
    deadlinesEnabled: bool
    products: int = Field(description="Number of products that it is active on.")


TrackingId = Annotated[int, Field(ge=1, lt=2**31, json_schema_extra={"format": "int32"})]


class ProductSent(Product):
    """A product to write: its gtin, and the attributes to write. A present one replaces, null deletes."""

    gtin: str = Field(description="8, 12, 13 or 14 digits with a right check digit.")


class ProductUpsert(ClosedObject):
    """Products to write (spec, endpoint 7)."""

    data: list[ProductSent]


class UpsertAnswer(ClosedObject):
    """The identifier under which the import is tracked (spec, endpoint 7)."""

    tracking: TrackingId


class ProductOutcome(ClosedObject):
    """What became of one product of an import."""

    gtin: str
    status: Literal[ImportStatus.SUCCESS, ImportStatus.ERROR]
    message: str = Field(description="The reason of an ERROR; otherwise empty.")


class User(ClosedObject):
    """Whose access key sent an import."""

    id: int
    username: str


class OrganizationName(ClosedObject):
    """The organisation that an import is of."""

    id: int
    nameLegal: str


class TrackingRecord(ClosedObject):
    """What became of an import (spec, Product inbound tracking record)."""

    createdAt: LocalDateTime
    status: ImportStatus
    message: str = Field(description="Detail when status is ERROR; otherwise empty.")
    count: int = Field(ge=0, description="Number of products; 0 while the import is in progress.")
    tracking: TrackingId
    products: list[ProductOutcome] = Field(description="Empty while the import is in progress.")
    user: User
    organization: OrganizationName
    endpoint: Endpoint
