"""What the specification leaves open, or lets vary, as settings of the sandbox."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum


class ScrollEnd(StrEnum):
    """How the end of a scroll shows."""

    #: Every page has a cursor; the page after the last product is empty.
    EMPTY_PAGE = "empty-page"
    #: The page with the last product has no `next_page`.
    NO_CURSOR = "no-cursor"
    #: The page with the last product has a `next_page` of null.
    NULL_CURSOR = "null-cursor"


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """The settings; each is also an option of `prodex sandbox`. Durations are in seconds.

    Examples
    --------
    >>> Behaviour(cursor_lifetime=5).cursor_lifetime
    5
    """

    token_lifetime: float = field(
        default=7200.0, metadata={"meaning": "seconds after which an access token has expired"}
    )
    cursor_lifetime: float = field(
        default=120.0, metadata={"meaning": "seconds for which an unused scroll cursor is kept"}
    )
    cursor_changes: bool = field(
        default=True, metadata={"meaning": "give a new scroll cursor with each page, else always the same"}
    )
    scroll_end: ScrollEnd = field(
        default=ScrollEnd.EMPTY_PAGE, metadata={"meaning": "how the end of a scroll shows"}
    )
    endless_scroll: bool = field(
        default=False,
        metadata={"meaning": "after the last page of a scroll comes the first again, always with a cursor"},
    )
    total_shrinks: int = field(
        default=0,
        metadata={"meaning": "products by which each page after the first announces and holds fewer in all"},
    )
    exclusive_from: bool = field(
        default=False, metadata={"meaning": "leave products of the second updated_at_from itself out"}
    )
    exclusive_to: bool = field(
        default=False, metadata={"meaning": "leave products of the second updated_at_to itself out"}
    )
    latency: float = field(default=0.0, metadata={"meaning": "seconds that every call takes longer"})
    clock_skew: float = field(
        default=0.0,
        metadata={
            "meaning": "seconds that the clock of the service (Date, updatedAt) is ahead, or behind below 0"
        },
    )
    documents_key: str = field(
        default="documents",
        metadata={"meaning": "name of the documents in assets; one description says document"},
    )
    token_type_key: str = field(
        default="token_type", metadata={"meaning": "name of the token's type; one example says type"}
    )
    integer_codes: bool = field(
        default=False,
        metadata={"meaning": "send codes of brands and kinds that are made of digits as integers"},
    )
    odd_blanks: bool = field(
        default=False,
        metadata={
            "meaning": "send attributes without data as empty texts and empty objects too, not only as null and []"
        },
    )
    only_consumer_units: bool = field(
        default=False,
        metadata={"meaning": "list only consumer and display units unless allow_not_consumer_units is true"},
    )
    body_limit: int = field(
        default=32_000_000, metadata={"meaning": "most bytes of a body, and of what a gzip body unpacks to"}
    )
    upsert_limit: int = field(default=10_000, metadata={"meaning": "most products in one upsert"})
    import_delay: float = field(
        default=0.0, metadata={"meaning": "seconds that an import is in progress at least"}
    )
    import_timeout: float = field(
        default=300.0, metadata={"meaning": "seconds of work after which an import is given up as TIMEOUT"}
    )
    organizations_need_token: bool = field(
        default=True, metadata={"meaning": "list organisations only to callers with a token"}
    )
    organizations_as_list: bool = field(
        default=False, metadata={"meaning": "list organisations as a bare array, without an envelope"}
    )
    organizations_total: bool = field(
        default=True, metadata={"meaning": "say in the envelope how many organisations there are"}
    )
    organizations_paged: bool = field(
        default=True, metadata={"meaning": "heed offset and limit of the list of organisations"}
    )

    def __post_init__(self) -> None:
        for name in ("latency", "total_shrinks"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it cannot be below 0.")

    def now(self) -> datetime:
        """Return what the clock of the service says."""
        return datetime.now(UTC) + timedelta(seconds=self.clock_skew)
