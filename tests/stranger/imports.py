"""Upserts and their tracking: what was received, what became of it, and when that can be seen."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from .catalogue import Record, is_gtin, iso

NAMES = ("nameLegal", "namePublicLong", "namePublicShort")
ORGANIZATION = {"id": 42, "nameLegal": "Stranger & Co"}
USER = {"id": 9, "username": "stranger"}


class Unreadable(Exception):
    """The payload of an upsert is not what the specification describes."""


@dataclass
class Import:
    """One upsert: its payload, the moment it is done, and its outcome once that is known."""

    tracking: int
    created: float
    done: float
    body: bytes
    content_type: str
    record: Record = field(default_factory=dict)
    settled: bool = False


def parse(body: bytes, content_type: str) -> list[Any]:
    """The products of a payload, or Unreadable."""
    if "xml" in content_type:
        return _parse_xml(body)
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"the payload is not JSON: {error}") from error
    if not isinstance(payload, dict) or not isinstance(payload.get("data", []), list):
        raise Unreadable("the payload must be an object whose data is an array of products")
    return payload.get("data", [])


def _parse_xml(body: bytes) -> list[Any]:
    if b"<!DOCTYPE" in body:
        raise Unreadable("the payload declares a document type")
    try:
        root = ElementTree.fromstring(body)
    except (ElementTree.ParseError, ValueError) as error:
        raise Unreadable(f"the payload is not XML: {error}") from error
    if root.tag != "SupplierProducts":
        raise Unreadable(f"the root element must be SupplierProducts, not {root.tag}")
    return [_fields(product) for product in root.findall("product")]


def _fields(element: ElementTree.Element) -> Record:
    found: Record = {}
    for child in element:
        value = _value(child)
        held = found.get(child.tag)
        if child.tag not in found:
            found[child.tag] = value
        elif isinstance(held, list):
            held.extend(value if isinstance(value, list) else [value])
        else:
            found[child.tag] = [held, value]
    return found


def _value(element: ElementTree.Element) -> Any:
    text = (element.text or "").strip()
    if "languages" in element.attrib:
        return [{"expressedIn": {"code": element.attrib["languages"]}, "data": text}]
    children = list(element)
    # A plural element whose children are its singular is a list: <pictures><picture/>.
    if children and all(element.tag == f"{child.tag}s" for child in children):
        return [_value(child) for child in children]
    if children:
        return _fields(element)
    if re.match(r"(is|has)[A-Z]", element.tag) and text in {"true", "false"}:
        return text == "true"
    return text or None


def merged(old: Record, new: Record) -> Record:
    """What is present replaces, what is absent stays, null deletes."""
    together = {**old, **new}
    return {name: value for name, value in together.items() if value is not None}


class Imports:
    """All upserts of one stranger; they are settled when somebody looks and their time has come."""

    def __init__(
        self, now: Callable[[], float], delay: float, publish: Callable[[list[Record]], None], first: int = 7
    ) -> None:
        self.delay = delay
        self.received: list[tuple[bytes, str]] = []
        self.refused: dict[str, str] = {}
        self._first = first
        self._now = now
        self._publish = publish
        self._stored: dict[str, Record] = {}
        self._imports: dict[int, Import] = {}

    @property
    def stored(self) -> dict[str, Record]:
        """What the upserts that are done have left, by GTIN."""
        self.settle()
        return self._stored

    def take(self, body: bytes, content_type: str) -> int:
        """Accept an upsert and return its tracking number."""
        number = self._first + len(self._imports)
        now = self._now()
        self.received.append((body, content_type))
        self._imports[number] = Import(number, now, now + self.delay, body, content_type)
        return number

    def track(self, number: int) -> Record | None:
        """The tracking record as it is now; None for a number nobody was given."""
        self.settle()
        found = self._imports.get(number)
        if found is None:
            return None
        if found.settled:
            return found.record
        return self._record(found, "IN_PROGRESS")

    def settle(self) -> None:
        """Carry out the imports whose time has come, in the order in which they were made."""
        for number in sorted(self._imports):
            found = self._imports[number]
            if not found.settled and self._now() >= found.done:
                found.settled = True
                found.record = self._carry_out(found)

    def _carry_out(self, found: Import) -> Record:
        try:
            items = parse(found.body, found.content_type)
        except Unreadable as error:
            return self._record(found, "ERROR", message=str(error))
        if not items:
            return self._record(found, "EMPTY")
        outcomes = [self._integrate(item) for item in items]
        done = [item for item, outcome in zip(items, outcomes, strict=True) if outcome["status"] == "SUCCESS"]
        self._publish(done)
        failed = any(outcome["status"] == "ERROR" for outcome in outcomes)
        status = "CONTAINS_ERRORS" if failed else "SUCCESS"
        return self._record(found, status, products=outcomes, count=len(items))

    def _integrate(self, item: Any) -> Record:
        gtin = str(item.get("gtin") or "") if isinstance(item, dict) else ""
        old = self._stored.get(gtin, {})
        message = self.refused.get(gtin, "")
        if not is_gtin(gtin):
            message = f"gtin {gtin!r} is not 14 digits with a valid check digit"
        elif not old and not any(item.get(name) for name in NAMES):
            message = f"one of {', '.join(NAMES)} is required"
        if message:
            return {"gtin": gtin, "status": "ERROR", "message": message}
        self._stored[gtin] = merged(old, item)
        return {"gtin": gtin, "status": "SUCCESS", "message": ""}

    def _record(self, found: Import, status: str, **more: Any) -> Record:
        return {
            "createdAt": iso(found.created),
            "status": status,
            "message": "",
            "count": 0,
            "tracking": found.tracking,
            "products": [],
            "user": USER,
            "organization": ORGANIZATION,
            "endpoint": "API",
            **more,
        }
