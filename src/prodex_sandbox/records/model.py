"""Who takes part in the sandbox's exchange, and how a product looks to each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Any

from prodex_sandbox.raw_json import storable


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
        ISO 3166-1 numeric code of the market it is shared for (`filter_target_market`, `product_key.target_market_id`).
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
    targetProductStatus, validation.status, hasTags, isTaggedBy, the market of product_key) of the first view, so that
    it can be served to that viewer byte for byte as it is stored.
    """

    record: dict[str, Any]
    owner_id: int
    views: tuple[View, ...]


_SHARING_STATUSES = tuple(SharingStatus)
# ISO 3166-1 numeric codes.
_MARKETS = range(1, 1000)


def views_with_owner(product: SharedProduct) -> tuple[View, ...]:
    """Return the product's views, with one for its owner.

    A manufacturer sees each of its own products: with the statuses of the first view unless the product has a
    view for it, and without that viewer's tags; a product without views is its owner's draft.
    """
    if any(view.organization_id == product.owner_id for view in product.views):
        return product.views
    if not product.views:
        draft = SharingStatus.DRAFT
        return (
            View(product.owner_id, draft, draft, "NOT_ASSIGNED", active_range=False, validation_status=0),
        )
    return (*product.views, _view_of_owner(product.views[0], product.owner_id))


# Most products of a file look alike to all who see them: a view of each kind is made once.
_VIEWS_KEPT = 4_096


@lru_cache(_VIEWS_KEPT)
def _view_of_owner(first: View, owner_id: int) -> View:
    return replace(first, organization_id=owner_id, active_range=False, tags=())


def overlay(record: dict[str, Any], first: View, view: View) -> dict[str, Any]:
    """Return the members that `view` has and the record, made for the `first` view, has not."""
    members: dict[str, Any] = {}
    if view.shared_from != first.shared_from:
        members["manufacturerSharingStatus"] = int(view.shared_from)
    if view.product_status != first.product_status:
        members["targetProductStatus"] = view.product_status
    if view.validation_status != first.validation_status:
        validation = record.get("validation")
        members["validation"] = {
            **(validation if isinstance(validation, dict) else {}),
            "status": view.validation_status,
        }
    key = record.get("product_key")
    if view.target_market != first.target_market and isinstance(key, dict):
        # The market of a version is a part of its key, and a viewer gets the version for its own market.
        members["product_key"] = {**key, "target_market_id": view.target_market}
    if view.tags != first.tags:
        members["hasTags"] = [{"tag": name, "createdAt": created_at} for name, created_at in view.tags]
        members["isTaggedBy"] = [name for name, _ in view.tags]
    return members


def views_of_record(record: dict[str, Any], viewers: Iterable[int]) -> tuple[View, ...]:
    """Return equal views for all viewers, with the statuses that the record holds and defaults for the others."""
    statuses: dict[str, Any] = {}
    shared = record.get("manufacturerSharingStatus")
    if shared in _SHARING_STATUSES:
        statuses["shared_from"] = statuses["shared_with"] = SharingStatus(shared)
    if (status := record.get("targetProductStatus")) in PRODUCT_STATUSES:
        statuses["product_status"] = status
    if (status := _member(record, "validation", "status")) in (0, 1, 2, 3):
        statuses["validation_status"] = int(status)
    market = _member(record, "product_key", "target_market_id")
    if isinstance(market, int) and market in _MARKETS:
        statuses["target_market"] = int(market)
    return _equal_views(tuple(viewers), _tags(record), *statuses.items())


@lru_cache(_VIEWS_KEPT)
def _equal_views(
    viewers: tuple[int, ...], tags: tuple[tuple[str, str], ...], *statuses: tuple[str, Any]
) -> tuple[View, ...]:
    return tuple(View(viewer, tags=tags, **dict(statuses)) for viewer in viewers)


def _member(record: dict[str, Any], name: str, inner: str) -> Any:
    value = record.get(name)
    return value.get(inner) if isinstance(value, dict) else None


def _tags(record: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    tags: dict[str, str] = {}
    tagged_by, has_tags = record.get("isTaggedBy"), record.get("hasTags")
    for name in tagged_by if isinstance(tagged_by, list) else []:
        if isinstance(name, str):
            tags[storable(name)] = ""
    for item in has_tags if isinstance(has_tags, list) else []:
        if isinstance(item, dict) and isinstance(item.get("tag"), str):
            tags[storable(item["tag"])] = storable(str(item.get("createdAt") or ""))
    return tuple(tags.items())
