"""Reference data of the service: organisations and product segments, as frames.

The specification shows the shape of neither, so every field is kept under its own name.

Three shapes of segments are understood: trees, whatever the children are called; lists of segments that name their
parents; and mixtures of both. Every object becomes a row. Contradictions are in the row's `note`; any other shape is an
error.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from prodex.arguments import described
from prodex.errors import IncompleteLoad, QueryError, RequestRefused, UnexpectedReply
from prodex.messages import hint_and_all
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.tables.envelope import count_of

#: organization_type on the wire (spec, endpoint 3), by what a user may write.
ORGANIZATION_TYPES: Mapping[str, int] = {"manufacturer": 1, "retailer": 2, "1": 1, "2": 2}

_PAGE = 100
_MOST_PAGES = 10_000
_TOTALS = ("totalResults", "total", "totalCount")

#: Names under which services wrap a list.
_LIST_NAMES = ("data", "organizations", "organisations", "results", "items")


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
        rows = _objects_of(service, reply, "organisations")
        announced = max(announced, _total(reply))
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
        (the names from the root, joined with " > "), and all other fields of the service. A column `note` has
        contradictions in the reply.

    Raises
    ------
    UnexpectedReply
        When the reply is not a hierarchy of segments; the message shows it.

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
        raise UnexpectedReply(
            f"The service sent no list of segments: {error}. {_reply_excerpt(service, reply)}"
        ) from None
    columns = dict.fromkeys(
        ["id", "name", "parent", "level", "path", *(name for row in rows for name in row)]
    )
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


def _objects_of(service: Client, reply: Any, what: str) -> list[dict[str, Any]]:
    """Return the objects of a reply: a list, or the one list in an envelope or in two."""
    found = reply
    for _ in range(3):
        if not isinstance(found, dict):
            break
        lists = [value for value in found.values() if isinstance(value, list)]
        known = [found[name] for name in _LIST_NAMES if isinstance(found.get(name), list | dict)]
        found = known[0] if known else lists[0] if len(lists) == 1 else None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise UnexpectedReply(f"The service sent no list of {what}. {_reply_excerpt(service, reply)}")
    return found


def _reply_excerpt(service: Client, reply: Any) -> str:
    """Return the beginning of a reply of unknown shape for a message, without secrets."""
    return f"It sent {service.without_secrets(repr(reply)[:5_000])}"


def _total(reply: Any) -> int:
    """Return the total of a reply; 0 if it announces none."""
    if not isinstance(reply, dict):
        return 0
    totals = (count_of(reply.get(name)) for name in _TOTALS)
    return next((total for total in totals if total is not None), 0)


def _organization_key(row: Mapping[str, Any]) -> str:
    """Return the key by which an organisation is recognised: its id, or the whole row."""
    identifier = next((row[name] for name in ("id", "uuid") if isinstance(row.get(name), int | str)), None)
    return json.dumps(row, sort_keys=True) if identifier is None else str(identifier)


_IDS = ("id", "uuid", "segmentid", "segmentuuid", "code")
_NAMES = ("name", "label", "title", "segmentname")
_PARENTS = ("parent", "parentid", "parentuuid", "parentsegment", "parentsegmentid", "parentcode")
_CHILDREN = ("children", "childs", "childsegments", "subsegments", "nodes")
#: Names under which an envelope contains the segments; a segment may use them too.
_SEGMENT_LIST_NAMES = ("data", "segments", "productsegments", "hierarchy", "items", "results")
#: Values that services write if there is no parent.
_NO_PARENT = ("", "0", "-1")
#: Columns that are added; an attribute of the same name gets another one in the frame.
_ADDED_COLUMNS = frozenset({"parent", "level", "path", "note"})
_NAMELESS = "(no name)"


@dataclass(eq=False)
class _Segment:
    """One object of the reply."""

    values: Mapping[str, Any]
    above: _Segment | None
    below: list[_Segment] = field(default_factory=list)
    used: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)
    missing_parent: str | None = None

    @property
    def id(self) -> str | None:
        return next(iter(self.ids.values()), None)

    @property
    def ids(self) -> dict[str, str]:
        """Its identifiers by kind; the first is its id."""
        found = {_normalized_name(name): _scalar_as_text(value) for name, value in self.values.items()}
        return {name: text for name in _IDS if (text := found.get(name)) is not None}

    @property
    def name(self) -> str | None:
        named = {
            _normalized_name(name): value for name, value in self.values.items() if name not in self.used
        }
        return next((text for name in _NAMES if (text := _localized_name(named.get(name))) is not None), None)


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
    segments = _all_segments(_roots(reply))
    _link(segments)
    times = Counter(segment.id for segment in segments)
    rows: dict[int, dict[str, Any]] = {}
    for root in segments:
        if root.above is None:
            _add_rows(rows, root, 0)
    for segment in segments:  # a segment that no root reaches is part of a circle
        if id(segment) not in rows:
            segment.notes.append(f"its parents form a circle: {_circle(segment)}")
            _add_rows(rows, segment, None)
    for segment in segments:
        if segment.id is not None and times[segment.id] > 1:
            segment.notes.append(f"its id occurs {times[segment.id]} times")
        if segment.notes:
            rows[id(segment)]["note"] = "; ".join(segment.notes)
    return list(rows.values())


def _roots(reply: Any) -> list[Any]:
    """Return the top objects: the items of a list, a root, or the content of an envelope."""
    # Bounded: a reply may nest any number of envelopes.
    for _ in range(4):
        if isinstance(reply, list):
            return reply
        if not isinstance(reply, dict):
            raise ValueError(f"it is a {type(reply).__name__}")  # noqa: TRY004 - about the reply, not about our call
        if _is_segment(reply, _IDS[:-1]) or _has_facts_and_children(reply):
            return [reply]
        containers = {name: value for name, value in reply.items() if isinstance(value, list | dict)}
        wrapped = [
            value for name, value in containers.items() if _normalized_name(name) in _SEGMENT_LIST_NAMES
        ]
        filled = [value for value in containers.values() if value]
        if len(wrapped) != 1 and len(filled) > 1 and all(isinstance(value, list) for value in filled):
            return [item for value in filled for item in value]
        if not wrapped and len(containers) != 1:
            raise ValueError("it contains no list of objects")
        reply = wrapped[0] if wrapped else next(iter(containers.values()))
    raise ValueError("it has too many envelopes")


def _all_segments(roots: list[Any]) -> list[_Segment]:
    """Return every object of the reply, parents before children."""
    found: list[_Segment] = []
    pending: list[tuple[Any, _Segment | None]] = [(root, None) for root in reversed(roots)]
    while pending:  # a stack, not recursion: a tree may be of any depth
        values, above = pending.pop()
        if not isinstance(values, dict):
            raise ValueError(f"it has {values!r:.40} in place of a segment")  # noqa: TRY004
        children = _children(values)
        segment = _Segment(values, above, used=frozenset(children))
        found.append(segment)
        if above is not None:
            above.below.append(segment)
        below = [child for several in children.values() for child in several]
        pending += [(child, segment) for child in reversed(below)]
    return found


def _children(values: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the members that contain children, by name."""
    known = {
        name: _several(name, value)
        for name, value in values.items()
        if _normalized_name(name) in _CHILDREN and (value is None or isinstance(value, list | dict))
    }
    if known:
        return known
    return {
        name: value
        for name, value in values.items()
        if _normalized_name(name) not in _NAMES
        and isinstance(value, list)
        and value
        and all(isinstance(one, dict) and _is_segment(one, _IDS) for one in value)
    }


def _several(name: str, value: Any) -> list[Any]:
    """Return children that are a list, one object, or objects by id."""
    if not value:
        return []
    if isinstance(value, list):
        return value
    if _is_segment(value, _IDS):
        return [value]
    if all(isinstance(one, dict) for one in value.values()):
        return [one if _Segment(one, None).id else {"id": key, **one} for key, one in value.items()]
    if len(value) == 1 and isinstance(inner := next(iter(value.values())), list):
        return inner
    raise ValueError(f"{name!r} is {value!r:.80}, which is not a list of segments")


def _link(segments: list[_Segment]) -> None:
    """Put each segment that names its parent below it."""
    by_id: dict[tuple[str, str], _Segment] = {}
    by_any: dict[str, _Segment] = {}
    for segment in segments:
        for kind, text in segment.ids.items():
            by_id.setdefault((kind, text), segment)
            by_any.setdefault(text, segment)
    for segment in segments:
        kind, named = _named_parent(segment)
        if named is None or named in _NO_PARENT:
            continue
        # A parent may be named by another kind of identifier than its attribute says.
        parent = by_id.get((kind, named)) or by_any.get(named)
        if segment.above is not None:
            if parent is not segment.above:
                segment.notes.append(f"it names {named} as its parent, and is below {segment.above.id}")
        elif parent is None:
            segment.missing_parent = named
            segment.notes.append(f"its parent {named} is not in the reply")
        elif parent is segment:
            segment.notes.append("it names itself as its parent")
        else:
            segment.above = parent
            parent.below.append(segment)


def _named_parent(segment: _Segment) -> tuple[str, str | None]:
    """Return the kind and the identifier of the parent that a segment names."""
    for name, value in segment.values.items():
        if name in segment.used or _normalized_name(name) not in _PARENTS:
            continue
        if isinstance(value, dict):
            ids = _Segment(value, None).ids
            return next(iter(ids.items()), ("id", None))
        if (text := _scalar_as_text(value)) is not None:
            return {"parentuuid": "uuid", "parentcode": "code"}.get(_normalized_name(name), "id"), text
    return "id", None


def _add_rows(rows: dict[int, dict[str, Any]], root: _Segment, level: int | None) -> None:
    """Add the rows of a segment and of all below it, by identity, except those that are there already."""
    pending: list[tuple[_Segment, int | None, tuple[str, ...]]] = [(root, level, ())]
    while pending:
        segment, at, above = pending.pop()
        if id(segment) in rows:
            continue
        path = (*above, segment.name or segment.id or _NAMELESS)
        rows[id(segment)] = _segment_row(segment, at, path)
        below = None if at is None else at + 1
        pending += [(child, below, path) for child in reversed(segment.below)]


def _segment_row(segment: _Segment, level: int | None, path: tuple[str, ...]) -> dict[str, Any]:
    others = {}
    for name, value in segment.values.items():
        # An id or a name that is not a text, such as an object, is in no column of its own yet.
        is_ours = name in {"id", "name"}
        if name not in segment.used and not (is_ours and (value is None or _scalar_as_text(value))):
            others[f"{name} (attribute)" if is_ours or name in _ADDED_COLUMNS else name] = value
    return {
        "id": segment.id,
        "name": segment.name,
        "parent": segment.missing_parent if segment.above is None else segment.above.id,
        "level": level,
        "path": " > ".join(path),
        **others,
    }


def _circle(segment: _Segment) -> str:
    """Return the parents of a segment in words, up to the first repeated one."""
    seen: list[_Segment] = []
    at: _Segment | None = segment
    while at is not None and at not in seen:
        seen.append(at)
        at = at.above
    return " < ".join(one.id or one.name or _NAMELESS for one in [*seen, *([at] if at else [])])


def _is_segment(values: Mapping[str, Any], ids: tuple[str, ...]) -> bool:
    """Whether an object has an identifier or a name, as segments have; a localized text does not count."""
    if "data" in values and "expressedIn" in values:
        return False
    segment = _Segment(values, None)
    return segment.name is not None or not segment.ids.keys().isdisjoint(ids)


def _has_facts_and_children(values: Mapping[str, Any]) -> bool:
    """Whether an object without identifier and name is still a root: it has children and other attributes."""
    names = {_normalized_name(name): value for name, value in values.items()}
    return any(isinstance(names.get(name), list) for name in _CHILDREN) and any(
        not isinstance(value, list | dict) and value is not None for value in values.values()
    )


def _localized_name(value: Any) -> str | None:
    """Return a name: a text, or the first of several localized texts."""
    if isinstance(value, list):
        return next((text for item in value if (text := _localized_name(item)) is not None), None)
    if isinstance(value, dict):
        named = next(
            (value[key] for key in ("data", "en", "text", "label") if isinstance(value.get(key), str)), None
        )
        return named or next((text for text in value.values() if isinstance(text, str)), None)
    return _scalar_as_text(value)


def _scalar_as_text(value: Any) -> str | None:
    """Return an identifier or a name as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)


def _normalized_name(name: str) -> str:
    return re.sub("[_-]", "", name).lower()
