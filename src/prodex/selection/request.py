"""What of a selection a service can be asked, and which products a query asks for, as far as records show it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from prodex.advice import Argument, PythonCall, advice
from prodex.errors import QueryError
from prodex.locales import is_whole_language, short_of
from prodex.query import ProductQuery
from prodex.query.values import EPOCH, MILLISECOND, SECOND, ProductStatus
from prodex.selection.paths import languages_of, needs_audit, paths_of
from prodex.selection.selection import Begins, Code, Range, Selection, SelectionRequest
from prodex.tables.attributes import TEXTS

#: Returns the fields of a query for a condition; None where the service has no such filter.
_Fields: TypeAlias = "dict[str, Any] | None"


def request_for(selection: Selection, query: ProductQuery | None = None) -> SelectionRequest:
    """Return how a service is asked for the products of a selection; see `Selection.request`."""
    if needs_audit(selection):
        raise QueryError(
            advice(
                "{selection} asks for what an audit finds, which is known only after the products are loaded{later}.",
                selection=selection,
                later=PythonCall(
                    ". Load them, and choose then: catalog.where(selection, audit=prodex.audit(catalog))"
                ),
            )
        )
    asked = query or ProductQuery()
    rest, filtered = Selection(), Selection()
    for one in selection.single():
        found = _fields_for(one)
        if found is None or any(getattr(asked, name) is not None for name in found):
            rest = rest & one
            continue
        try:
            asked = _with_fields(asked, found)
        except QueryError:  # such as a tag with a comma, which no query can hold
            rest = rest & one
            continue
        filtered = filtered & one
    _refuse_what_is_left_out(asked, rest)
    return SelectionRequest(asked, rest, filtered)


def _with_fields(query: ProductQuery, found: Mapping[str, Any]) -> ProductQuery:
    given = {one.name: getattr(query, one.name) for one in fields(query)}
    return ProductQuery(**{**given, **found})


def _refuse_what_is_left_out(query: ProductQuery, rest: Selection) -> None:
    has_words = any(one.words for one in rest.every())
    needed = paths_of(rest) | ({*TEXTS, "brand", "owner"} if has_words else set())
    for path in sorted(needed):
        if not query.holds(path):
            raise QueryError(
                advice(
                    "{rest} is chosen from what was loaded, and needs {path}, which the query leaves out. Add it to "
                    "{include}, or take it out of {exclude}.",
                    rest=rest,
                    path=path,
                    include=Argument("source_include"),
                    exclude=Argument("source_exclude"),
                )
            )
    # "fr-BE" is not all that is French, and what is filled is known of a language with all its variants.
    asked = {short_of(one) for one in query.product_languages or () if is_whole_language(one)}
    if query.product_languages and (has_words or not languages_of(rest) <= asked):
        raise QueryError(
            advice(
                "{rest} is chosen from what was loaded, and needs texts in languages that the query leaves out. Take "
                "{languages} away, or choose afterwards: {choose}.",
                rest=rest,
                languages=Argument("product_languages"),
                choose=PythonCall("catalog.where(selection)"),
            )
        )


def _fields_for(one: Selection) -> _Fields:
    for column, values in one.columns.items():
        return _ask(_BY_COLUMN.get(column), values)
    for name, codes in one.groups.items():
        return _ask(_BY_GROUP.get(name), codes)
    for column, limits in one.ranges.items():
        return _in_range(column, limits)
    excluded = dict(one.excluded)
    if set(excluded) == {"tag"} and None not in excluded["tag"]:
        return {"tags_not_in": list(excluded["tag"])}
    return None


_Values: TypeAlias = "tuple[Any, ...]"


def _ask(write: Callable[[_Values], _Fields] | None, values: _Values) -> _Fields:
    # None is a product without a value, and a beginning means values that nobody has listed.
    if write is None or not values or any(one is None or isinstance(one, Begins) for one in values):
        return None
    return write(values)


def _several(field: str) -> Callable[[_Values], _Fields]:
    return lambda values: {field: list(values)}


def _one(field: str) -> Callable[[_Values], _Fields]:
    """Return what asks for one value: the service takes no list of these."""
    return lambda values: {field: values[0]} if len(values) == 1 else None


def _market(values: _Values) -> _Fields:
    text = str(values[0])
    return {"target_market": int(text) if _is_number(text) else text} if len(values) == 1 else None


def _numbers(field: str) -> Callable[[_Values], _Fields]:
    def write(values: _Values) -> _Fields:
        texts = [str(one) for one in values]
        # "007" is a code of its own, and no number 7.
        is_exact = all(_is_number(one) and one == str(int(one)) for one in texts)
        return {field: [int(one) for one in texts]} if is_exact else None

    return write


def _sharing(codes: _Values) -> _Fields:
    return {"status_shared_from": int(codes[0])} if len(codes) == 1 and _is_number(codes[0]) else None


def _statuses(codes: _Values) -> _Fields:
    # Groups are exact, and the service is asked by the names of its list.
    return {"target_productstatus_in": list(codes)} if {*codes} <= {*ProductStatus} else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20


def _packshot(codes: _Values) -> _Fields:
    name = {("yes",): "has_packshot", ("no",): "has_no_packshot"}.get(codes)
    return None if name is None else {name: True}


#: Columns of `products` -> the filter of the service. Records of no owner but by id have none.
_BY_COLUMN: Mapping[str, Callable[[_Values], _Fields]] = MappingProxyType(
    {
        "gtin": _several("gtins_in"),
        "market": _market,
        "owner_id": _numbers("owners_in"),
        "product_status": _several("target_productstatus_in"),
        "sharing_status": _one("status_shared_from"),
        "target_market": _market,
        "validation_status": _several("validation_status_in"),
    }
)
_BY_GROUP: Mapping[str, Callable[[_Values], _Fields]] = MappingProxyType(
    {
        "market": _market,
        "owner": _numbers("owners_in"),
        "packshot": _packshot,
        "sharing": _sharing,
        "status": _statuses,
        "tag": _several("tags_in"),
    }
)
#: Columns with moments -> the filters of their bounds, and the unit in which these count.
_BOUNDS: Mapping[str, tuple[str, timedelta]] = MappingProxyType(
    {"updated_at": ("updated_at", SECOND), "pictures_updated_at": ("pictures_last_updated_at", MILLISECOND)}
)


def _in_range(column: str, limits: Range) -> _Fields:
    if column not in _BOUNDS or not limits:
        return None
    name, unit = _BOUNDS[column]
    ends = {f"{name}_from": limits.least, f"{name}_to": limits.greatest}
    given = {
        field: one if one.tzinfo else one.replace(tzinfo=UTC)
        for field, one in ends.items()
        if isinstance(one, datetime)
    }
    # A bound between two units would be another one on the wire.
    is_exact = all(not (one - EPOCH) % unit for one in given.values())
    return given if is_exact and len(given) == sum(one is not None for one in ends.values()) else None


def selection_of(query: ProductQuery) -> Selection:
    """Return which products a query asks for, as far as records show it; see `Selection.of_query`."""
    columns: dict[str, tuple[Any, ...]] = {}
    groups: dict[str, tuple[Code, ...]] = {}
    if query.gtins_in is not None:
        columns["gtin"] = query.gtins_in
    if query.target_market is not None:
        columns["market"] = (str(query.target_market),)
    if query.validation_status_in is not None:
        columns["validation_status"] = tuple(map(int, query.validation_status_in))
    if query.target_productstatus_in is not None:
        columns["product_status"] = tuple(map(str, query.target_productstatus_in))
    if query.status_shared_from is not None:
        columns["sharing_status"] = (int(query.status_shared_from),)
    if query.owners_in is not None:
        groups["owner"] = tuple(map(str, query.owners_in))
    if query.tags_in is not None:
        groups["tag"] = query.tags_in
    if query.has_packshot or query.has_no_packshot:
        groups["packshot"] = ("yes" if query.has_packshot else "no",)
    found = Selection(columns=columns, groups=groups)
    for column, (name, _) in _BOUNDS.items():
        found = found.within(column, Range(getattr(query, f"{name}_from"), getattr(query, f"{name}_to")))
    if query.tags_not_in is not None:
        found = replace(found, excepted=(Selection(groups={"tag": query.tags_not_in}),))
    return found
