"""Logistical hierarchies and sharing units: what a case or pallet holds (spec, Product).

The specification shows `activeListing` and `product_key_id`. The nodes below come in two shapes that were seen: with
their attributes beside the place, or in `version`.
"""

from __future__ import annotations

from pydantic import Field

from prodex.sandbox.schemas.objects import ABSENT, OpenObject
from prodex.sandbox.schemas.values import CodeValue


class HierarchyUnit(OpenObject):
    """What a unit of a hierarchy is; any attribute of a product may stand here."""

    typePackaging: CodeValue | None = ABSENT
    isConsumerUnit: bool | None = ABSENT
    isDespatchUnit: bool | None = ABSENT
    isOrderableUnit: bool | None = ABSENT


class HierarchyNode(HierarchyUnit):
    """A unit in its place in a hierarchy, with the units that it holds."""

    gtin: str | None = ABSENT
    uuid: str | None = ABSENT
    quantity: int | float | None = Field(
        default=ABSENT, description="How many of this unit its parent holds; absent or null where unknown."
    )
    version: HierarchyUnit | None = Field(
        default=ABSENT, description="The attributes of the unit, where they do not stand in the node itself."
    )
    children: list[HierarchyNode | None] | None = ABSENT


class LogisticalHierarchy(HierarchyNode):
    """One hierarchy of a product, from its largest unit down (spec, Product)."""

    activeListing: bool | None = Field(
        default=ABSENT,
        description="Whether it is shared through a listing; it then stands among the sharing units too.",
    )
    product_key_id: int | None = ABSENT
