"""Reference data of the service: its organisations and its product segments, as frames.

The specification shows the shape of neither. What services were seen to answer is declared here (`_LISTS`, `_TOTALS`,
`_MEMBERS`), and any other reply is refused with what it holds. Other attributes keep their own names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from prodex.arguments import described
from prodex.errors import IncompleteLoad, QueryError, RequestRefused, UnexpectedReply
from prodex.phrases import counted, hint_and_all
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.tables.envelope import count_of

#: organization_type on the wire (spec, endpoint 3), by what a user may write.
ORGANIZATION_TYPES: Mapping[str, int] = {"manufacturer": 1, "retailer": 2, "1": 1, "2": 2}

_PAGE = 100
_MOST_PAGES = 10_000

#: Members of a reply that hold its list, or the number of all organisations.
_LISTS = ("data", "organizations")
_TOTALS = ("totalResults", "total")

#: What services call the members of a segment; of several names the first one that a segment has counts.
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "uuid", "code"),
    "name": ("name", "label", "title"),
    "parent": ("parent", "parentId", "parentUuid"),
    "children": ("children", "subSegments", "nodes"),
}
_COLUMNS = ("id", "name", "parent", "level", "path")


def load_organizations(service: Client, organization_type: int | str | None = None) -> pd.DataFrame:
    """Load the organisations that the service lists (spec, endpoint 3), all pages.

    Parameters
    ----------
    service
        From `prodex.connect`.
    organization_type
        1 or "manufacturer", 2 or "retailer"; both when None.

    Returns
    -------
    DataFrame
        One row for each organisation, its columns as the service names them.

    Raises
    ------
    IncompleteLoad
        When the service announces more organisations than it sends.
    UnexpectedReply
        When the reply contains no list.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> prodex.load_organizations(service, "retailer").columns[:2].tolist()
    ['id', 'nameLegal']
    """
    service = service_given(service, "load_organizations(service)", organization_type)
    wanted = None if organization_type is None else ORGANIZATION_TYPES.get(str(organization_type))
    if organization_type is not None and wanted is None:
        near = hint_and_all(
            str(organization_type), ORGANIZATION_TYPES, "Give 1 or 'manufacturer', 2 or 'retailer'."
        )
        raise QueryError(f"There is no type of organisation {organization_type!r}{near}")
    found: dict[str, dict[str, Any]] = {}
    keys: set[str] = set()
    offset, announced = 0, 0  # a total is a claim: it does not end the loop, and has to be reached
    for _ in range(_MOST_PAGES):
        try:
            reply = service.organizations(organization_type=wanted, offset=offset, limit=_PAGE)
        except RequestRefused:
            if not offset:
                raise
            break  # some services refuse an offset after the last organisation
        rows, total = _organizations_of(service, reply)
        announced = max(announced, total)
        new = {_organization_key(row) for row in rows} - keys
        # Rows are compared as a whole: two rows of one id with different fields are both kept.
        found |= {json.dumps(row, sort_keys=True): row for row in rows}
        if not new:  # the end, or a service that ignores the offset
            break
        keys |= new
        offset += len(rows)
    if len(found) < announced:
        raise IncompleteLoad(
            f"{len(found):,} organisations were received, but the service announced {announced:,}. Load again; if it "
            "happens again, its pages do not contain all of them."
        )
    return pd.DataFrame(list(found.values()))


def load_segments(service: Client, permission: str | None = None) -> pd.DataFrame:
    """Load the product segment hierarchy (spec, endpoint 9).

    A tree, a list of trees and a flat list of segments that name their parents are understood. A segment whose parent
    is not in the reply is a root that names it.

    Parameters
    ----------
    service
        From `prodex.connect`.
    permission
        The type of permission; the specification does not show its values.

    Returns
    -------
    DataFrame
        One row for each segment, parents before children: id (text), name, parent (its id), level (0 at the root), path
        (the names from the root, joined with " > "), and all other fields of the service.

    Raises
    ------
    UnexpectedReply
        When the reply is not a hierarchy of segments, or its parents form a circle; the message shows it.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> prodex.load_segments(service).columns[:5].tolist()
    ['id', 'name', 'parent', 'level', 'path']
    """
    service = service_given(service, "load_segments(service)", permission)
    if permission is not None and not isinstance(permission, str):
        raise QueryError(
            f"permission is {described(permission)}. Give a type of permission as text, such as 'READ'."
        )
    reply = service.product_segments(permission)
    try:
        rows = segment_rows(reply)
    except ValueError as error:
        raise _no_list(service, "segments", reply, str(error)) from None
    columns = dict.fromkeys([*_COLUMNS, *(name for row in rows for name in row)])
    return pd.DataFrame(rows, columns=list(columns)).astype({"level": "Int64"} if rows else {})


def access_of(service: Client) -> dict[str, Any]:
    """Connect, and return host, organisation of the access key, and seconds until the token expires.

    The organisation is the subject of the token, with its name if the service lists it.
    """
    subject, lifetime = service.token_facts()
    name = None
    try:
        organizations = load_organizations(service)
    except (RequestRefused, UnexpectedReply, IncompleteLoad):  # then only the identifier is known
        organizations = pd.DataFrame()
    if subject is not None and "id" in organizations:
        own = organizations[organizations["id"].astype(str) == subject]
        columns = [column for column in ("nameLegal", "name") if column in own]
        name = str(own[columns[0]].iloc[0]) if columns and len(own) else None
    return {
        "host": urlsplit(service.base_url).netloc,
        "organization": name,
        "organization_id": subject,
        "token_lifetime": int(lifetime),
    }


def segment_rows(reply: Any) -> list[dict[str, Any]]:
    """Return one row for each segment, parents before children.

    Raises
    ------
    ValueError
        When the reply is not a hierarchy; the message says why.

    Examples
    --------
    >>> [row["path"] for row in segment_rows([{"uuid": "a", "label": "Food"}, {"uuid": "b", "parentUuid": "a"}])]
    ['Food', 'Food > b']
    """
    segments = list(_segments_of(reply))
    by_id: dict[str | None, _Segment] = {}
    for segment in segments:
        by_id.setdefault(segment.id, segment)
    for segment in segments:
        if segment.parent is None and segment.parent_id is not None:
            segment.parent = by_id.get(segment.parent_id)
            if segment.parent is not None:
                segment.parent.children.append(segment)
    rows: list[dict[str, Any]] = []
    placed: set[int] = set()
    pending = [(segment, 0, "") for segment in reversed(segments) if segment.parent is None]
    while pending:  # a stack, not recursion: a tree may be of any depth
        segment, level, above = pending.pop()
        path = above + (segment.name or segment.id or "(no name)")
        rows.append(segment.row(level, path))
        placed.add(id(segment))
        pending += [(child, level + 1, f"{path} > ") for child in reversed(segment.children)]
    if left := [segment for segment in segments if id(segment) not in placed]:
        shown = ", ".join(f"{one.id!r:.80} is below {one.parent_id!r:.80}" for one in left[:3])
        raise ValueError(f"no root is above {counted(len(left), 'segment')}, as in a circle: {shown}")
    return rows


def _organizations_of(service: Client, reply: Any) -> tuple[list[dict[str, Any]], int]:
    """Return the organisations of a reply, which is a list or has one, and how many it announces; 0 if it does not."""
    around = reply if isinstance(reply, dict) else {}
    found = next((around[name] for name in _LISTS if name in around), reply)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise _no_list(service, "organisations", reply, f"a list is read, alone or under {_LISTS[0]!r}")
    totals = (count_of(around.get(name)) for name in _TOTALS)
    return found, next((total for total in totals if total is not None), 0)


def _no_list(service: Client, things: str, reply: Any, reason: str) -> UnexpectedReply:
    """Return the error for a reply of another shape: its beginning, without secrets."""
    problem = f"The service sent no list of {things}: {reason}. It sent {reply!r:.5000}"
    return UnexpectedReply(service.without_secrets(problem))


def _organization_key(row: Mapping[str, Any]) -> str:
    """Return the key by which an organisation is recognised: its id, or the whole row."""
    identifier = next((row[name] for name in ("id", "uuid") if isinstance(row.get(name), int | str)), None)
    return json.dumps(row, sort_keys=True) if identifier is None else str(identifier)


@dataclass(eq=False)
class _Segment:
    """One segment: what it says of itself, and its place in the hierarchy."""

    id: str | None
    name: str | None
    parent_id: str | None
    others: Mapping[str, Any]
    parent: _Segment | None = None
    children: list[_Segment] = field(default_factory=list)

    def row(self, level: int, path: str) -> dict[str, Any]:
        """Return its row; an attribute with the name of one of our columns gets another one."""
        others = {f"{name} (attribute)" if name in _COLUMNS else name: v for name, v in self.others.items()}
        parent_id = self.parent_id if self.parent is None else self.parent.id
        return {"id": self.id, "name": self.name, "parent": parent_id, "level": level, "path": path, **others}


def _segments_of(reply: Any) -> Iterator[_Segment]:
    """Yield every segment of a reply, parents before children, those of a tree below their parents."""
    is_envelope = isinstance(reply, dict) and "data" in reply and not _members(reply)
    top = reply["data"] if is_envelope else reply
    pending: list[tuple[Any, _Segment | None]] = [
        (one, None) for one in reversed(top if isinstance(top, list) else [top])
    ]
    while pending:
        value, parent = pending.pop()
        names = _members(value) if isinstance(value, dict) else {}
        if not names:
            raise ValueError(f"{value!r:.80} is no segment with {', '.join(_MEMBERS['id'])} or a name")
        members = {member: value[name] for member, name in names.items()}
        segment = _Segment(
            _text(members.get("id")),
            _name(members.get("name")),
            _parent_id(members.get("parent")),
            {name: other for name, other in value.items() if name not in names.values()},
            parent,
        )
        if parent is not None:
            parent.children.append(segment)
        yield segment
        children = members.get("children") or []
        if not isinstance(children, list):
            raise ValueError(f"{names['children']!r} is {children!r:.80}, which is no list of segments")  # noqa: TRY004
        pending += [(child, segment) for child in reversed(children)]


def _members(value: Mapping[str, Any]) -> dict[str, str]:
    """Return which of the declared members an object has, each with the name that the service gives it."""
    named = {
        member: next((name for name in names if name in value), None) for member, names in _MEMBERS.items()
    }
    return {member: name for member, name in named.items() if name is not None}


def _text(value: Any) -> str | None:
    """Return an identifier or a name as text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise ValueError(f"{value!r:.80} is neither an identifier nor a name")  # noqa: TRY004 - about the reply
    return None if value is None else str(value)


def _name(value: Any) -> str | None:
    """Return a name: a text, or the first of several in languages (`{expressedIn, data}`)."""
    if isinstance(value, list):
        return next(
            (_text(item["data"]) for item in value if isinstance(item, dict) and "data" in item), None
        )
    return _text(value)


def _parent_id(value: Any) -> str | None:
    """Return the id of the parent that a segment names, by it or by an object with it; None for a root."""
    if isinstance(value, dict):
        value = next((value[name] for name in _MEMBERS["id"] if name in value), None)
    return _text(value) or None
