"""Upserts and what becomes of them (spec, endpoints 7 and 8)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from prodex.sandbox.imports import Endpoint, ImportStatus
from prodex.sandbox.schemas.objects import ClosedObject, LocalDateTime
from prodex.sandbox.schemas.product import Product

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
