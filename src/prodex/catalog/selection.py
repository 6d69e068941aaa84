"""Which products are meant: from what a person gives `where()` to the parts of a catalogue with only these."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache, reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.masks import in_parts, mask_of
from prodex.catalog.part import Part
from prodex.catalog.wanted import not_found_words, wanted
from prodex.errors import QueryError
from prodex.nearest import hint
from prodex.tables.declaration import TABLES

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog

#: With more values than this, all products are asked at once: for each part anew, most of the time goes into the list.
_MANY = 1_000

UNMATCHED = ("ignore", "warn", "raise")


class UnmatchedWarning(UserWarning):
    """Values that were asked for, and that no product has.

    Examples
    --------
    >>> import warnings
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}])
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     found = catalog.where(gtin=[3036811359935, 4006381333931], unmatched="warn")
    >>> len(found), told[0].category.__name__
    (1, 'UnmatchedWarning')
    """


def selected(catalog: Catalog, condition: Any, unmatched: str, equal: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of a catalogue with only the products that are meant; see `Catalog.where`.

    Raises
    ------
    QueryError
        When something in it cannot be understood; the message says what to write.
    """
    if unmatched not in UNMATCHED:
        there_are = hint(str(unmatched), UNMATCHED, f"It takes {', '.join(UNMATCHED)}.")
        raise QueryError(f"unmatched does not know {unmatched!r:.60}{there_are}")
    schema = TABLES["products"].schema
    for column in equal:
        if column not in schema.names:
            there_are = hint(column, schema.names, "catalog.dictionary() lists its columns.")
            raise QueryError(f"products has no column {column!r}{there_are}")

    @cache
    def stored(column: str) -> pa.Array:
        return catalog.arrow("products", [column])[column].unique()

    wants = [wanted(column, value, schema, stored) for column, value in equal.items()]
    conditions = [want.condition for want in wants if len(want.entries) <= _MANY]
    masks = [
        want.holds(catalog.arrow("products", want.columns)).to_numpy()
        for want in wants
        if len(want.entries) > _MANY
    ]
    if condition is not None:
        given = mask_of(condition, len(catalog), lambda: catalog.products, lambda: _ids(catalog))
        (conditions if isinstance(given, pc.Expression) else masks).append(given)
    if unmatched != "ignore" and (told := not_found_words(wants, stored)):
        if unmatched == "raise":
            raise QueryError(f"{told}.")
        warnings.warn(f"{told}.", UnmatchedWarning, stacklevel=3)
    parts = catalog.parts
    if masks:
        cut = in_parts(reduce(and_, masks), [part.size for part in parts])
        parts = tuple(part.take(chosen) for part, chosen in zip(parts, cut, strict=True))
    if not conditions:
        return parts
    # Parts without any product stay: the lexicons of codes and descriptors are spread over all of them.
    return tuple(part.choose(reduce(and_, conditions)) for part in parts)


def _ids(catalog: Catalog) -> pd.Index:
    ids: pd.Index = pd.Index(
        catalog.arrow("products", ["product_id"])["product_id"].to_pylist(), dtype=object
    )
    return ids
