"""The product segment hierarchy of each organisation (spec, endpoint 9).

The specification shows neither permissions nor segments. Here a hierarchy has three levels: all products, their
GPC class, their kind. It is made once, of the products that fill the store, when one is first asked for, and kept.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode, storable
from prodex_sandbox.records.model import View
from prodex_sandbox.records.schemas import ClosedObject
from prodex_sandbox.records.store import Store

#: permission -> which segments it shows.
PERMISSIONS: Final = {
    "READ": "segments with a product that the caller sees",
    "WRITE": "segments with a product that the caller owns, or has in its active range",
    "VALIDATE": "segments with a product that waits for the caller: TO_BE_VALIDATED or UPDATED",
}

#: The setting of what hierarchies are made of, until they are.
_NOTED: Final = "segments_missing"
_WAITING: Final = {"TO_BE_VALIDATED", "UPDATED"}

Path = tuple[tuple[str, str], ...]


class SegmentBuilder:
    """Builds the segments of the products that fill a store."""

    def __init__(self) -> None:
        self._permissions: dict[tuple[int, Path], set[str]] = {}

    def add(self, record: Mapping[str, Any], owner_id: int, views: tuple[View, ...]) -> None:
        """Add a product with all its views, that of its owner too."""
        path = (_segment(record.get("GPC"), "No GPC class"), _segment(record.get("kind"), "No kind"))
        for view in views:
            held = self._permissions.setdefault((view.organization_id, path), set())
            held.add("READ")
            if view.active_range or view.organization_id == owner_id:
                held.add("WRITE")
            if view.product_status in _WAITING and view.organization_id != owner_id:
                held.add("VALIDATE")

    def note(self, connection: sqlite3.Connection) -> None:
        """Note what the hierarchies are made of; they are made when the first is asked for."""
        noted = [(*place, sorted(held)) for place, held in self._permissions.items()]
        connection.execute("INSERT INTO settings VALUES (?, ?)", (_NOTED, encode(noted).decode()))


def _insert_noted(connection: sqlite3.Connection) -> None:
    """Insert the hierarchies that were noted, unless that has been done."""
    noted = connection.execute("SELECT value FROM settings WHERE name = ?", (_NOTED,)).fetchone()
    if noted is None:
        return
    ids: dict[tuple[int, Path], str] = {}
    numbers: dict[int, int] = {}
    segments: list[tuple[int, str, str | None, int, str]] = []
    permissions: dict[tuple[int, str, str], None] = {}
    permitted = [(id_, tuple(map(tuple, path)), held) for id_, path, held in decode(noted[0].encode())]
    # Sorted, so that the same products give the same ids.
    for organization_id, path, held in sorted(permitted):
        parent_id = None
        for level in range(len(path) + 1):
            place = organization_id, path[:level]
            if place not in ids:
                numbers[organization_id] = number = numbers.get(organization_id, 0) + 1
                code, name = path[level - 1] if level else ("all", "All products")
                ids[place] = f"PS_{organization_id:04d}_{number:05d}_{_slug(code)}"
                segments.append((organization_id, ids[place], parent_id, number, name))
            parent_id = ids[place]
            permissions.update(((organization_id, parent_id, permission), None) for permission in held)
    connection.executemany("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", segments)
    connection.executemany("INSERT INTO segment_permissions VALUES (?, ?, ?)", permissions)
    connection.execute("DELETE FROM settings WHERE name = ?", (_NOTED,))


class Segment(ClosedObject):
    """A product segment with those below it; the specification does not show its fields."""

    id: str
    name: str
    children: list[Segment]


def hierarchy(store: Store, viewer: int, permission: str) -> list[Segment]:
    """Return the viewer's tree of the segments that a permission shows: id, name, children."""
    if store.rows("SELECT 1 FROM settings WHERE name = ?", (_NOTED,)):
        with store.writing(changes_products=False) as connection:
            _insert_noted(connection)
    rows = store.rows(
        "SELECT segments.id, parent_id, name FROM segments JOIN segment_permissions AS held"
        " ON held.organization_id = segments.organization_id AND held.segment_id = segments.id"
        " WHERE segments.organization_id = ? AND permission = ? ORDER BY position",
        (viewer, permission),
    )
    nodes: dict[str | None, Segment] = {None: Segment(id="", name="", children=[])}
    # A parent is inserted before its children.
    for id_, parent_id, name in rows:
        nodes[id_] = Segment(id=id_, name=name, children=[])
        nodes[parent_id].children.append(nodes[id_])
    return nodes[None].children


def _segment(value: Any, otherwise: str) -> tuple[str, str]:
    code = value.get("code") if isinstance(value, dict) else None
    if not isinstance(code, str | int):
        return "none", otherwise
    label = value.get("label")
    return storable(str(code)), storable(label if isinstance(label, str) and label else str(code))


def _slug(code: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", code.lower()).strip("-") or "other"
