"""How a record differs from viewer to viewer, and how records that come without views are seen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from prodex.sandbox.model import PRODUCT_STATUSES, SharedProduct, SharingStatus, View
from prodex.sandbox.wire import storable

# ISO 3166-1 numeric codes.
_MARKETS = range(1, 1000)


def views_with_owner(product: SharedProduct) -> tuple[View, ...]:
    """Return the product's views, with one for its owner.

    A manufacturer sees each of its own products. Unless the product says how, it sees the sharing of the
    first view, without that viewer's tags; a product without views is its owner's draft.
    """
    if any(view.organization_id == product.owner_id for view in product.views):
        return product.views
    if not product.views:
        draft = SharingStatus.DRAFT
        return (
            View(product.owner_id, draft, draft, "NOT_ASSIGNED", active_range=False, validation_status=0),
        )
    own = replace(product.views[0], organization_id=product.owner_id, active_range=False, tags=())
    return (*product.views, own)


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
    if view.tags != first.tags:
        members["hasTags"] = [{"tag": name, "createdAt": created_at} for name, created_at in view.tags]
        members["isTaggedBy"] = [name for name, _ in view.tags]
    return members


def views_of_record(record: dict[str, Any], viewers: Iterable[int]) -> tuple[View, ...]:
    """Return equal views for all viewers, with what the record says about itself and a view's defaults."""
    view = View(organization_id=0, tags=_tags(record))
    shared = record.get("manufacturerSharingStatus")
    if shared in tuple(SharingStatus):
        view = replace(view, shared_from=SharingStatus(shared), shared_with=SharingStatus(shared))
    if (status := record.get("targetProductStatus")) in PRODUCT_STATUSES:
        view = replace(view, product_status=status)
    if (status := _member(record, "validation", "status")) in (0, 1, 2, 3):
        view = replace(view, validation_status=int(status))
    market = _member(record, "product_key", "target_market_id")
    if isinstance(market, int) and market in _MARKETS:
        view = replace(view, target_market=market)
    return tuple(replace(view, organization_id=viewer) for viewer in viewers)


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
