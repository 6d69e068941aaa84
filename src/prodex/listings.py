"""Who and what there is at the service: organisations and product segments, as frames.

The specification shows neither record, so whatever comes is kept under its own name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pandas as pd

from prodex.errors import IncompleteLoad, QueryError, RequestRefused, UnexpectedReply
from prodex.service import Client

#: organization_type on the wire (spec, endpoint 3), by what people may write.
ORGANIZATION_TYPES: Mapping[str, int] = {"manufacturer": 1, "retailer": 2, "1": 1, "2": 2}

_PAGE = 100
_TOTALS = ("totalResults", "total", "totalCount")


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
        When the service announces more organisations than it gives.
    UnexpectedReply
        When its reply holds no list.
    """
    wanted = None if organization_type is None else ORGANIZATION_TYPES.get(str(organization_type))
    if organization_type is not None and wanted is None:
        raise QueryError(
            f"There is no organization_type {organization_type!r}. Give 1 or 'manufacturer', 2 or 'retailer'."
        )
    found: dict[str, dict[str, Any]] = {}
    offset, total = 0, None
    while total is None or offset < total:
        reply = service.organizations(organization_type=wanted, offset=offset, limit=_PAGE)
        rows, total = _listed(reply, "organisations"), _total(reply)
        new = {_key(row): row for row in rows if _key(row) not in found}
        if not new:  # the end, or a service that gives the same page at every offset
            break
        found |= new
        offset += len(rows)
    if total is not None and len(found) < total:
        raise IncompleteLoad(
            f"{len(found):,} organisations came, but the service announced {total:,}. Load again; if it stays so, it "
            "does not give all of them in pages."
        )
    return pd.DataFrame(list(found.values()))


def load_segments(service: Client, permission: str | None = None) -> pd.DataFrame:
    """Load the product segment hierarchy (spec, endpoint 9).

    Parameters
    ----------
    service
        From `prodex.connect`.
    permission
        The type of permission asked for, whose values the specification does not show.

    Returns
    -------
    DataFrame
        One row for each segment, parents before children: id, name, parent (its id), level (0 at the root), path (the
        names from the root, joined with " > "), and whatever else the service says of it.

    Raises
    ------
    UnexpectedReply
        When the reply is no tree of segments.
    """
    reply = service.product_segments(permission)
    roots = [reply] if isinstance(reply, dict) and "id" in reply else _listed(reply, "segments")
    frame = pd.DataFrame(list(_segments(roots)))
    return frame.reindex(
        columns=list(dict.fromkeys(["id", "name", "parent", "level", "path", *frame.columns]))
    )


def access_of(service: Client) -> dict[str, Any]:
    """Connect, and return who we are to the service: host, organisation, seconds until the token ends.

    The organisation is the subject of the token, with its name where the service lists it.
    """
    subject, lifetime = service.token_facts()
    name: Any = None
    try:
        organizations = load_organizations(service)
    except (RequestRefused, UnexpectedReply, IncompleteLoad):  # then the number has to do
        organizations = pd.DataFrame()
    if subject is not None and "id" in organizations:
        (name, *_) = [*_names(organizations[organizations["id"].astype(str) == subject]), None]
    return {
        "host": urlsplit(service.base_url).netloc,
        "organization": name,
        "organization_id": subject,
        "token_lifetime": int(lifetime),
    }


def _segments(roots: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    # A stack, not recursion: a tree may be of any depth.
    waiting: list[tuple[dict[str, Any], Any, int, tuple[str, ...]]]
    waiting = [(node, None, 0, ()) for node in reversed(roots)]
    while waiting:
        node, parent, level, above = waiting.pop()
        path = (*above, str(node.get("name", node.get("id"))))
        others = {key: value for key, value in node.items() if key not in {"id", "name", "children"}}
        yield {
            "id": node.get("id"),
            "name": node.get("name"),
            "parent": parent,
            "level": level,
            "path": " > ".join(path),
            **{f"{key} (attribute)" if key in _OURS else key: value for key, value in others.items()},
        }
        children = node.get("children")
        waiting += [
            (child, node.get("id"), level + 1, path)
            for child in reversed(_listed(children, "segments") if children is not None else [])
        ]


_OURS = frozenset({"parent", "level", "path"})


def _names(organizations: pd.DataFrame) -> list[str]:
    column = next((name for name in ("nameLegal", "name") if name in organizations), None)
    return [] if column is None else [str(name) for name in organizations[column]]


def _listed(reply: Any, what: str) -> list[dict[str, Any]]:
    """Return the objects of a reply: a bare list, or the one list in an envelope."""
    if isinstance(reply, dict):
        lists = [value for value in reply.values() if isinstance(value, list)]
        reply = (
            reply["data"] if isinstance(reply.get("data"), list) else lists[0] if len(lists) == 1 else reply
        )
    if not isinstance(reply, list) or not all(isinstance(item, dict) for item in reply):
        raise UnexpectedReply(f"The service sent no list of {what}, but {reply!r:.80}.")
    return reply


def _total(reply: Any) -> int | None:
    if not isinstance(reply, dict):
        return None
    return next((n for n in map(reply.get, _TOTALS) if isinstance(n, int) and not isinstance(n, bool)), None)


def _key(row: Mapping[str, Any]) -> str:
    """Tell organisations apart: by id where there is one."""
    return str(row["id"]) if "id" in row else json.dumps(row, sort_keys=True)
