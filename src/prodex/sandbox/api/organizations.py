"""The list of organisations (spec, endpoint 3), whose shape the specification does not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from prodex.sandbox.api import value_types
from prodex.sandbox.api.filters import Filter
from prodex.sandbox.behaviour import Behaviour
from prodex.sandbox.records.model import Organization, OrganizationType

PARAMETERS: Final[Mapping[str, Filter]] = {
    "organization_type": Filter(
        value_types.integer(tuple(map(int, OrganizationType))),
        "1 manufacturers, 2 retailers; both unless given.",
    ),
    "offset": Filter(value_types.integer(bounds=range(2**31)), "Index of the first organisation returned."),
    "limit": Filter(
        value_types.integer(bounds=range(1, 501)), "Most organisations returned; 20 unless given."
    ),
}

_DEFAULT_LIMIT: Final = 20


def list_organizations(
    organizations: Sequence[Organization], values: Mapping[str, Any], behaviour: Behaviour
) -> dict[str, Any] | list[dict[str, Any]]:
    """Return one page of the organisations, as an envelope or a bare array."""
    wanted = [one for one in organizations if values.get("organization_type", one.type) == one.type]
    offset, limit = values.get("offset", 0), values.get("limit", _DEFAULT_LIMIT)
    page = wanted[offset : offset + limit] if behaviour.organizations_paged else wanted
    data = [{"id": one.id, "nameLegal": one.name, "type": int(one.type)} for one in page]
    if behaviour.organizations_as_list:
        return data
    total = {"totalResults": len(wanted)} if behaviour.organizations_total else {}
    return {**total, "data": data, "offset": offset if behaviour.organizations_paged else 0}
