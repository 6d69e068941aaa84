"""Who takes part in the sandbox's exchange, and how a product looks to each of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any


class OrganizationType(IntEnum):
    """Type of an organisation (spec, endpoint 3)."""

    MANUFACTURER = 1
    RETAILER = 2


class SharingStatus(IntEnum):
    """Sharing status of a product (spec, States)."""

    DRAFT = 2
    PENDING = 3
    ACCEPTED = 4


class ValidationStatus(IntEnum):
    """Validation status of a product (spec, Product)."""

    NOT_APPLICABLE = 0
    NOT_OK = 1
    OK = 2
    #: Seen at a deployed service.
    CORRECTION = 3


class ProductStatus(StrEnum):
    """Product status on the retailer side (spec, States)."""

    NOT_ASSIGNED = "NOT_ASSIGNED"
    ASSIGNATION_PENDING = "ASSIGNATION_PENDING"
    WAITING_TO_BE_SHARED = "WAITING_TO_BE_SHARED"
    TO_BE_VALIDATED = "TO_BE_VALIDATED"
    REFUSED = "REFUSED"
    UPDATED = "UPDATED"
    ACCEPTED = "ACCEPTED"


PRODUCT_STATUSES = tuple(status.value for status in ProductStatus)


@dataclass(frozen=True, slots=True)
class Organization:
    """One participant with its access key.

    The sandbox is local and its products are invented, so its keys are public: they are printed, and written
    into the documentation.
    """

    id: int
    name: str
    type: OrganizationType
    client_id: str
    client_secret: str
    username: str
    scenarios_enabled: bool = False
    deadlines_enabled: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """How one product looks to one organisation.

    Attributes
    ----------
    organization_id
        The viewer.
    shared_from
        Sharing status of the source product, on the manufacturer's side (`status_shared_from`).
    shared_with
        Sharing status of the target product, on the viewer's side (`status_shared_with`).
    product_status
        Retailer-side status (`filter_target_productstatus_in`).
    active_range
        Whether the product is in the viewer's active range (`filter_active_range`).
    validation_status
        0 not applicable, 1 not OK, 2 OK, 3 correction (`filter_validation_status_in`).
    target_market
        ISO 3166-1 numeric code of the market it is shared for (`filter_target_market`).
    tags
        Tag names with the date-time they were put on (`filter_tags_in`, `filter_tags_not_in`).
    """

    organization_id: int
    shared_from: SharingStatus = SharingStatus.ACCEPTED
    shared_with: SharingStatus = SharingStatus.ACCEPTED
    product_status: str = "ACCEPTED"
    active_range: bool = True
    validation_status: int = 2
    target_market: int = 250
    tags: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SharedProduct:
    """One product of the exchange: its full wire record, who owns it, and its views.

    `record` carries labels in US English and the view-dependent values (manufacturerSharingStatus,
    targetProductStatus, validation.status, hasTags, isTaggedBy) of the first view, so that it can be served
    to that viewer byte for byte as it is stored.
    """

    record: dict[str, Any]
    owner_id: int
    views: tuple[View, ...]
