"""The settings of the sandbox: what the specification leaves open, or allows to vary."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

#: The address of this machine, on which the sandbox listens unless another is given.
LOOPBACK: Final = "127.0.0.1"

#: Seconds of a century: dates that are further away cannot be written.
_MOST: Final = 100 * 365 * 86_400


class ScrollEnd(StrEnum):
    """How a scroll ends."""

    #: Every page has a cursor; the page after the last product is empty.
    EMPTY_PAGE = "empty-page"
    #: The page with the last product has no `next_page`.
    NO_CURSOR = "no-cursor"
    #: The page with the last product has a `next_page` of null.
    NULL_CURSOR = "null-cursor"


def _setting(default: Any, meaning: str) -> Any:
    """Declare a setting; its meaning is the help of the command's option."""
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """The settings; each is also an option of `prodex sandbox`. Durations are in seconds.

    Examples
    --------
    >>> Behaviour(cursor_lifetime=5).cursor_lifetime
    5
    """

    token_lifetime: float = _setting(7200.0, "seconds after which an access token has expired")
    cursor_lifetime: float = _setting(120.0, "seconds for which an unused scroll cursor is kept")
    cursor_changes: bool = _setting(True, "give a new scroll cursor with each page, else always the same")
    scroll_end: ScrollEnd = _setting(ScrollEnd.EMPTY_PAGE, "how a scroll ends")  # noqa: RUF009 - a field
    endless_scroll: bool = _setting(
        False, "after the last page of a scroll, begin again with the first, always with a cursor"
    )
    total_shrinks: int = _setting(
        0, "products by which each page after the first announces and holds fewer in all"
    )
    exclusive_from: bool = _setting(False, "leave products of the second updated_at_from itself out")
    exclusive_to: bool = _setting(False, "leave products of the second updated_at_to itself out")
    latency: float = _setting(0.0, "seconds that every call takes longer")
    clock_skew: float = _setting(
        0.0, "seconds that the clock of the service (Date, updatedAt) is ahead, or behind below 0"
    )
    documents_key: str = _setting(
        "documents", "name of the documents in assets; one description has document"
    )
    token_type_key: str = _setting("token_type", "name of the token's type; one example has type")
    integer_codes: bool = _setting(
        False, "send codes of brands and kinds that are made of digits as integers"
    )
    odd_blanks: bool = _setting(
        False, "send attributes without data as empty texts and empty objects too, not only as null and []"
    )
    only_consumer_units: bool = _setting(
        False, "list only consumer and display units unless allow_not_consumer_units is true"
    )
    body_limit: int = _setting(32_000_000, "most bytes of a body, and of what a gzip body unpacks to")
    upsert_limit: int = _setting(10_000, "most products in one upsert")
    import_delay: float = _setting(0.0, "seconds that an import is in progress at least")
    import_timeout: float = _setting(300.0, "seconds of work after which an import is given up as TIMEOUT")
    organizations_need_token: bool = _setting(True, "list organisations only to callers with a token")
    organizations_as_list: bool = _setting(False, "list organisations as a bare array, without an envelope")
    organizations_total: bool = _setting(True, "include the number of organisations in the envelope")
    organizations_paged: bool = _setting(True, "apply offset and limit to the list of organisations")

    def __post_init__(self) -> None:
        for field_ in fields(self):
            name, value = field_.name, getattr(self, field_.name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            # Without it, each call would fail where it first waits or writes a date. Bytes and products are no time.
            if field_.type == "float" and not (math.isfinite(value) and abs(value) <= _MOST):
                raise ValueError(f"{name} is {value!r}; it cannot be over {_MOST:,}.")
            if value < 0 and name != "clock_skew":
                raise ValueError(f"{name} is {value!r}; it cannot be below 0.")

    def now(self) -> datetime:
        """Return the time of the service."""
        return datetime.now(UTC) + timedelta(seconds=self.clock_skew)
