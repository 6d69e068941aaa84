"""Product segments and validation scenarios (spec, endpoints 9 and 10)."""

from __future__ import annotations

from pydantic import Field

from prodex.sandbox.schemas.objects import ABSENT, ClosedObject


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
