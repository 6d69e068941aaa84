"""What the filters need to know about a product, taken from its record.

Records are as messy as suppliers are: a value of an unexpected type is no fact, never an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from prodex.sandbox.search import SEARCH_FIELDS
from prodex.sandbox.wire import storable

_IDS: Final = range(2**62)


@dataclass(frozen=True, slots=True)
class Facts:
    """One product, as the filters see it.

    Attributes
    ----------
    updated_at
        UNIX time in seconds, or None.
    pictures_updated_at
        UNIX time in milliseconds, or None.
    consumer_unit
        Whether it is a consumer unit or a display unit.
    texts
        What `advanced_search` looks through, by field.
    """

    id: int | None
    uuid: str | None
    gtin: str | None
    updated_at: int | None
    pictures_updated_at: int | None
    has_packshot: bool
    consumer_unit: bool
    texts: dict[str, str]


def facts_of(record: dict[str, Any]) -> Facts:
    """Take the facts from a record."""
    id_ = record.get("id")
    updated_at = _unix_time(record.get("updatedAt"))
    pictures_updated_at = _unix_time(next(values_at(record, "assets.lastUpdatedAt.pictures"), None))
    return Facts(
        id=id_ if isinstance(id_, int) and id_ in _IDS else None,
        uuid=_text(record.get("uuid")),
        gtin=_text(record.get("gtin")),
        updated_at=None if updated_at is None else int(updated_at),
        pictures_updated_at=None if pictures_updated_at is None else round(pictures_updated_at * 1000),
        has_packshot=any(value is True for value in values_at(record, "assets.pictures.isPackshot")),
        consumer_unit=record.get("isConsumerUnit") is True or record.get("isDisplayUnit") is True,
        texts={field: _text_at(record, field) for field in SEARCH_FIELDS},
    )


def values_at(value: Any, path: str) -> Iterator[Any]:
    """Yield what stands at a dotted path, through objects and lists."""
    name, _, rest = path.partition(".")
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and name in item:
            if rest:
                yield from values_at(item[name], rest)
            else:
                yield item[name]


def _text(value: Any) -> str | None:
    return storable(value) if isinstance(value, str) else None


def _text_at(record: dict[str, Any], field: str) -> str:
    return storable("\n".join(text for text in values_at(record, field) if isinstance(text, str)))


def _unix_time(value: Any) -> float | None:
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
