"""Which products a query asks for, in which order and with which fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .catalogue import Record, seconds_of
from .scrolling import Refused

Query = dict[str, Any]
Test = Callable[[Record], bool]

SEARCHABLE = (
    "namePublicLong.data",
    "composition.data",
    "allergens.data",
    "brand.label",
    "kind.label",
    "description.data",
)


def words(value: Any) -> list[str]:
    """A list, a comma-separated text or one value, as a list of texts."""
    if isinstance(value, list):
        return [str(item).strip() for item in value]
    return [part.strip() for part in str(value).split(",") if part.strip()]


def whole(value: Any, name: str) -> int:
    """A number that may come as text."""
    try:
        return int(str(value).strip())
    except ValueError:
        raise Refused(400, f"{name} must be a whole number, got {value!r}") from None


def is_true(value: Any) -> bool:
    """A boolean that may come as text."""
    return str(value).lower() in {"true", "1"}


def reach(value: Any, path: str) -> list[Any]:
    """All values at a dotted path, through lists."""
    values = [value]
    for step in path.split("."):
        inner = (item[step] for item in values if isinstance(item, dict) and step in item)
        values = [leaf for item in inner for leaf in (item if isinstance(item, list) else [item])]
    return values


def has_packshot(record: Record) -> bool:
    """Whether one of the pictures is a packshot."""
    return True in reach(record, "assets.pictures.isPackshot")


def updated(record: Record) -> float:
    """The moment of the last update in UNIX seconds; 0 where there is none."""
    text = record.get("updatedAt")
    try:
        return seconds_of(text) if isinstance(text, str) else 0.0
    except ValueError:  # a test may put in any record
        return 0.0


def _pictures_updated(record: Record) -> float:
    found = [text for text in reach(record, "assets.lastUpdatedAt.pictures") if isinstance(text, str)]
    return seconds_of(found[0]) * 1000 if found else -1.0


def _among(path: str) -> Callable[[Any], Test]:
    def build(value: Any) -> Test:
        wanted = set(words(value))
        return lambda record: any(str(leaf) in wanted for leaf in reach(record, path))

    return build


def _gtins(value: Any) -> Test:
    wanted = {gtin.zfill(14) for gtin in words(value)}
    return lambda record: str(record.get("gtin")) in wanted


def _from(moment: Callable[[Record], float]) -> Callable[[Any], Test]:
    def build(value: Any) -> Test:
        least = whole(value, "the date")
        return lambda record: moment(record) >= least

    return build


def _to(moment: Callable[[Record], float]) -> Callable[[Any], Test]:
    def build(value: Any) -> Test:
        most = whole(value, "the date")
        return lambda record: moment(record) <= most

    return build


def _not(build: Callable[[Any], Test]) -> Callable[[Any], Test]:
    def inverted(value: Any) -> Test:
        test = build(value)
        return lambda record: not test(record)

    return inverted


def _if_true(test: Test) -> Callable[[Any], Test]:
    return lambda value: test if is_true(value) else (lambda _: True)


def _advanced(value: Any) -> Test:
    entries = value.get("must", []) if isinstance(value, dict) else []
    for entry in entries:
        if not isinstance(entry, dict):
            raise Refused(400, f"advanced_search.must holds objects, got {entry!r}")
        if not set(entry.get("fields", [])) <= set(SEARCHABLE):
            raise Refused(400, f"advanced_search allows only the fields {', '.join(SEARCHABLE)}")

    def holds(record: Record, entry: Record) -> bool:
        word = str(entry.get("query", "")).lower()
        return any(
            word in str(leaf).lower()
            for path in entry.get("fields", SEARCHABLE)
            for leaf in reach(record, path)
        )

    return lambda record: all(holds(record, entry) for entry in entries)


FILTERS: dict[str, Callable[[Any], Test]] = {
    "filter_gtins_in": _gtins,
    "updated_at_from": _from(updated),
    "updated_at_to": _to(updated),
    "filter_tags_in": _among("isTaggedBy"),
    "filter_tags_not_in": _not(_among("isTaggedBy")),
    "filter_validation_status_in": _among("validation.status"),
    "filter_target_productstatus_in": _among("targetProductStatus"),
    "status_shared_from": _among("manufacturerSharingStatus"),
    "status_shared_with": _among("manufacturerSharingStatus"),
    "filter_target_market": _among("product_key.target_market_id"),
    "filter_has_packshot": _if_true(has_packshot),
    "filter_has_no_packshot": _if_true(lambda record: not has_packshot(record)),
    "filter_pictures_last_updated_at_from": _from(_pictures_updated),
    "filter_pictures_last_updated_at_to": _to(_pictures_updated),
    "filter_active_range": _if_true(
        lambda record: True in reach(record, "logisticalHierarchies.activeListing")
    ),
    "filter_owners_in": _among("owner.id"),
    "advanced_search": _advanced,
}
"""Each filter of the specification and the test it builds; an empty value filters nothing."""


def find(records: Iterable[Record], query: Query) -> list[Record]:
    """The records that pass every filter of the query."""
    asked = [build(query[name]) for name, build in FILTERS.items() if query.get(name) not in (None, "")]
    return [record for record in records if all(test(record) for test in asked)]


def included(value: Any, paths: list[list[str]]) -> Any:
    """The value with only the fields named by the paths."""
    if isinstance(value, list):
        return [included(item, paths) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, inner in value.items():
        deeper = [path[1:] for path in paths if path[0] == name]
        if deeper:
            kept[name] = inner if [] in deeper else included(inner, deeper)
    return kept


def excluded(value: Any, paths: list[list[str]]) -> Any:
    """The value without the fields named by the paths."""
    if isinstance(value, list):
        return [excluded(item, paths) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, inner in value.items():
        deeper = [path[1:] for path in paths if path[0] == name]
        if [] not in deeper:
            kept[name] = excluded(inner, deeper) if deeper else inner
    return kept


def in_languages(value: Any, languages: set[str]) -> Any:
    """The value with only the localized texts of these languages."""
    if isinstance(value, list):
        kept = [item for item in value if _is_spoken(item, languages)]
        return [in_languages(item, languages) for item in kept]
    if isinstance(value, dict):
        return {name: in_languages(inner, languages) for name, inner in value.items()}
    return value


def _is_spoken(item: Any, languages: set[str]) -> bool:
    spoken = item.get("expressedIn") if isinstance(item, dict) and "data" in item else None
    return not isinstance(spoken, dict) or bool(
        languages & {spoken.get("normalizedCode"), spoken.get("code")}
    )


def shown(record: Record, query: Query) -> Record:
    """The record as the query wants to see it: its fields and languages."""
    if languages := words(query.get("filter_product_languages") or ""):
        record = in_languages(record, set(languages))
    if fields := words(query.get("filter_source_include") or ""):
        record = included(record, [path.split(".") for path in fields])
        # A product field that has no data is absent from a filtered response.
        record = {name: value for name, value in record.items() if value not in (None, [])}
    if fields := words(query.get("filter_source_exclude") or ""):
        record = excluded(record, [path.split(".") for path in fields])
    return record
