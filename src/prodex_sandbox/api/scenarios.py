"""Validation scenarios: which products a retailer requires them of, and until when (spec, endpoint 10).

A call is carried out as a whole, or refused as a whole with nothing changed.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final, NoReturn

from msgspec import UNSET, Meta, UnsetType

from prodex_sandbox.raw_json import encode, joined, members, storable
from prodex_sandbox.records.model import Organization, OrganizationType, SharingStatus
from prodex_sandbox.records.schemas import ClosedObject
from prodex_sandbox.records.store import Store
from prodex_sandbox.refusals import Refusal

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MAX_NAMED: Final = 5


class ScenarioRequirement(ClosedObject):
    """Scenarios to activate or deactivate, and the products on which (spec, endpoint 10)."""

    uuids: Annotated[list[str], Meta(min_length=1, description="Products, by uuid.")]
    ruleset_values: Annotated[
        dict[str, bool],
        Meta(min_length=1, description="Scenario id -> true to activate, false to deactivate."),
    ]
    deadline: (
        Annotated[date, Meta(description="Day until which what is activated has to be done.")] | UnsetType
    ) = UNSET


class ScenarioAnswer(ClosedObject):
    """On how many products the scenarios were activated or deactivated."""

    products: int


class Scenario(ClosedObject):
    """A validation scenario of the caller; the specification does not show its fields."""

    id: str
    name: str
    deadlinesEnabled: bool
    products: Annotated[int, Meta(description="Number of products that it is active on.")]


def read_requirement(body: Mapping[str, Any], today: date) -> ScenarioRequirement:
    """Read the body of a call; raise Refusal when it is not as documented."""
    if unknown := body.keys() - set(ScenarioRequirement.__struct_fields__):
        raise Refusal(
            "unknown_parameter",
            f"{min(unknown)!r} is not a member of this body; it has uuids, ruleset_values and deadline.",
        )
    uuids, values = body.get("uuids"), body.get("ruleset_values")
    if not (isinstance(uuids, list) and uuids and all(isinstance(one, str) for one in uuids)):
        _refuse_value("uuids is missing, empty, or not an array of strings.")
    if not isinstance(values, dict) or not values:
        _refuse_value("ruleset_values is missing, empty, or not an object of scenario id -> true or false.")
    for id_, value in values.items():
        if not isinstance(value, bool):
            _refuse_value(f"ruleset_values: the value of {id_!r} is {value!r}, not true or false.")
    deadline = _read_deadline(body["deadline"], today) if "deadline" in body else UNSET
    if deadline and not any(values.values()):
        _refuse_value("deadline belongs to an activation; every value of ruleset_values is false.")
    # A product that is named twice counts once.
    uuids = list(dict.fromkeys(map(storable, uuids)))
    return ScenarioRequirement(uuids=uuids, ruleset_values=values, deadline=deadline)


def require_scenarios(store: Store, caller: Organization, body: Mapping[str, Any]) -> ScenarioAnswer:
    """Activate and deactivate scenarios on products; return on how many.

    Raises
    ------
    Refusal
        When the caller may not, the body is not as documented, or one of the products or scenarios does not
        allow it; then nothing is changed.
    """
    _check_caller(caller)
    wanted = read_requirement(body, datetime.now(UTC).date())
    with store.writing() as connection:
        _check_scenarios(connection, caller, wanted)
        keys = _eligible(connection, caller, wanted.uuids)
        for key in keys:
            _activate(connection, caller.id, key, wanted)
            _show(connection, caller.id, key)
    return ScenarioAnswer(products=len(keys))


def list_scenarios(store: Store, caller: Organization) -> list[Scenario]:
    """Return the caller's scenarios, each with the number of products that it is active on."""
    rows = store.rows(
        "SELECT id, name, deadlines_enabled, (SELECT count(*) FROM activations WHERE scenario_id = scenarios.id"
        " AND activations.organization_id = scenarios.organization_id)"
        " FROM scenarios WHERE organization_id = ? ORDER BY id",
        (caller.id,),
    )
    return [
        Scenario(id=id_, name=name, deadlinesEnabled=bool(deadlines), products=products)
        for id_, name, deadlines, products in rows
    ]


def _check_caller(caller: Organization) -> None:
    if caller.type is not OrganizationType.RETAILER:
        raise Refusal("retailers_only", f"{caller.name} is a manufacturer; scenarios are for retailers.")
    if not caller.scenarios_enabled:
        raise Refusal("scenarios_not_enabled", f"Scenarios are not enabled for {caller.name}.")


def _read_deadline(value: Any, today: date) -> date:
    try:
        deadline = date.fromisoformat(value if isinstance(value, str) and _DATE.fullmatch(value) else "")
    except ValueError:
        _refuse_value(f"deadline is {value!r}, not a day as YYYY-MM-DD.")
    if deadline < today:
        raise Refusal("deadline_passed", f"The deadline {deadline} has passed; today is {today}.")
    return deadline


def _check_scenarios(
    connection: sqlite3.Connection, caller: Organization, wanted: ScenarioRequirement
) -> None:
    known = {
        id_: bool(deadlines)
        for id_, deadlines in connection.execute(
            "SELECT id, deadlines_enabled FROM scenarios WHERE organization_id = ?", (caller.id,)
        )
    }
    if unknown := [id_ for id_ in wanted.ruleset_values if id_ not in known]:
        raise Refusal(
            "scenario_unknown", f"{caller.name} has no scenario {_named(unknown)}; it has {', '.join(known)}."
        )
    if not wanted.deadline:
        return
    if not caller.deadlines_enabled:
        raise Refusal("deadlines_not_enabled", f"Scenarios with deadlines are not enabled for {caller.name}.")
    if without := [id_ for id_, active in wanted.ruleset_values.items() if active and not known[id_]]:
        raise Refusal(
            "deadlines_not_enabled", f"Deadlines are not enabled on the scenario {_named(without)}."
        )


def _eligible(connection: sqlite3.Connection, caller: Organization, uuids: Sequence[str]) -> list[int]:
    """Return the keys of the products; raise Refusal unless all of them are eligible."""
    rows = connection.execute(
        "SELECT products.uuid, views.product_key, views.product_status, views.shared_from, organizations.type"
        # The wanted products first, each found by its index; SQLite may not reorder a CROSS JOIN.
        " FROM json_each(?) AS wanted CROSS JOIN products ON products.uuid = wanted.value"
        " JOIN views ON views.organization_id = ? AND views.seen_key = products.key"
        " LEFT JOIN organizations ON organizations.id = products.owner_id ORDER BY views.product_key",
        (encode(list(uuids)).decode(), caller.id),
    ).fetchall()
    found = {row[0] for row in rows}
    if unknown := [uuid for uuid in uuids if uuid not in found]:
        raise Refusal("product_unknown", f"{caller.name} sees no product {_named(unknown)}.")
    if pending := [uuid for uuid, _, status, _, _ in rows if status == "ASSIGNATION_PENDING"]:
        raise Refusal("assignation_pending", f"The assignation of {_named(pending)} is pending.")
    not_shared = [
        uuid
        for uuid, _, status, shared_from, owner_type in rows
        if shared_from == SharingStatus.DRAFT
        or status in ("NOT_ASSIGNED", "WAITING_TO_BE_SHARED")
        or owner_type != OrganizationType.MANUFACTURER
    ]
    if not_shared:
        raise Refusal("not_shared", f"No manufacturer has shared the data of {_named(not_shared)}.")
    return [key for _, key, _, _, _ in rows]


def _activate(connection: sqlite3.Connection, viewer: int, key: int, wanted: ScenarioRequirement) -> None:
    deadline = wanted.deadline.isoformat() if wanted.deadline else None
    for id_, active in wanted.ruleset_values.items():
        if active:
            connection.execute(
                "INSERT OR REPLACE INTO activations VALUES (?, ?, ?, ?)", (viewer, key, id_, deadline)
            )
        else:
            connection.execute(
                "DELETE FROM activations WHERE organization_id = ? AND product_key = ? AND scenario_id = ?",
                (viewer, key, id_),
            )


def _show(connection: sqlite3.Connection, viewer: int, key: int) -> None:
    """Put the active scenarios into what the viewer sees of the product."""
    place = (viewer, key)
    active = [
        {"id": id_, "deadline": deadline}
        for id_, deadline in connection.execute(
            "SELECT scenario_id, deadline FROM activations WHERE organization_id = ? AND product_key = ?",
            place,
        )
    ]
    shown = "SELECT overlay FROM views WHERE organization_id = ? AND product_key = ?"
    overlay = dict(members(connection.execute(shown, place).fetchone()[0] or b"{}"))
    overlay_with: dict[str, Any] = {**overlay, "requiredScenarios": encode(active)}
    connection.execute(
        "UPDATE views SET overlay = ? WHERE organization_id = ? AND product_key = ?",
        (joined(overlay_with), *place),
    )


def _named(values: Sequence[str]) -> str:
    more = len(values) - _MAX_NAMED
    return ", ".join(values[:_MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def _refuse_value(message: str) -> NoReturn:
    raise Refusal("invalid_value", message)
