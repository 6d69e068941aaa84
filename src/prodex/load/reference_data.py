"""Reference data of the service: organisations and product segments, as frames.

The specification shows the shape of neither, so every field is kept under its own name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from prodex.arguments import described
from prodex.errors import IncompleteLoad, QueryError, RequestRefused, UnexpectedReply
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.service.segments import segment_rows
from prodex.tables.envelope import count_of
from prodex.text import hint_and_all

#: organization_type on the wire (spec, endpoint 3), by what a user may write.
ORGANIZATION_TYPES: Mapping[str, int] = {"manufacturer": 1, "retailer": 2, "1": 1, "2": 2}

_PAGE = 100
_MOST_PAGES = 10_000
_TOTALS = ("totalResults", "total", "totalCount")

#: Names under which services wrap a list.
_WRAPPED = ("data", "organizations", "organisations", "results", "items")


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
        raise QueryError(f"There is no organization_type {organization_type!r}{near}")
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
        rows = _listed(service, reply, "organisations")
        announced = max(announced, _total(reply))
        new = {_key(row) for row in rows} - keys
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
            f"The service sent no list of segments: {error}. {_shown(service, reply)}"
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


def _listed(service: Client, reply: Any, what: str) -> list[dict[str, Any]]:
    """Return the objects of a reply: a list, or the one list in an envelope or in two."""
    found = reply
    for _ in range(3):
        if not isinstance(found, dict):
            break
        lists = [value for value in found.values() if isinstance(value, list)]
        known = [found[name] for name in _WRAPPED if isinstance(found.get(name), list | dict)]
        found = known[0] if known else lists[0] if len(lists) == 1 else None
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise UnexpectedReply(f"The service sent no list of {what}. {_shown(service, reply)}")
    return found


def _shown(service: Client, reply: Any) -> str:
    """Return the beginning of a reply of unknown shape for a message, without secrets."""
    return f"It sent {service.without_secrets(repr(reply)[:5_000])}"


def _total(reply: Any) -> int:
    """Return the total of a reply; 0 if it announces none."""
    if not isinstance(reply, dict):
        return 0
    totals = (count_of(reply.get(name)) for name in _TOTALS)
    return next((total for total in totals if total is not None), 0)


def _key(row: Mapping[str, Any]) -> str:
    """Return the key by which an organisation is recognised: its id, or the whole row."""
    identifier = next((row[name] for name in ("id", "uuid") if isinstance(row.get(name), int | str)), None)
    return json.dumps(row, sort_keys=True) if identifier is None else str(identifier)
