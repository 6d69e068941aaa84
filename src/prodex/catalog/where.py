"""`Catalog.where`: from selections, masks and values to the parts of a catalogue with only the products they mean."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache, reduce
from operator import and_
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import is_one, listed, whole_number
from prodex.catalog.catalog import Catalog
from prodex.catalog.part import Part
from prodex.errors import QueryError
from prodex.executors import side_by_side
from prodex.phrases import hint
from prodex.selection import Selection
from prodex.selection.column_values import column_condition, containing_words, not_found_words
from prodex.selection.plain import COLUMNS, MARKET
from prodex.selection.units import names_units_by, with_units_named
from prodex.tables.declaration import TABLES

Mask = npt.NDArray[np.bool_]

_COLUMNS = TABLES["products"].schema.names
_TAKES = (
    "where() takes column=value, a boolean mask over catalog.products, a callable that makes one, or an expression "
    "such as pyarrow.compute.field('texts_count') > 10"
)


def mask_of(condition: Any, catalog: Catalog) -> pc.Expression | Mask:
    """Return a condition as an expression over `products`, or as a mask of its rows.

    Parameters
    ----------
    condition
        A pandas Series, array or list of truth values, a callable that makes one of `products`, or an expression.
    catalog
        Its products are read only as far as needed: the frame for a callable, the ids for a mask by id.

    Raises
    ------
    QueryError
        When it is nothing of this, belongs to other rows, or has missing values; the message says what to write.
    """
    if isinstance(condition, pc.Expression):
        return condition
    if callable(condition):
        made = _called(condition, catalog.products)
        # A lambda that returns a lambda is a mistake, and could go on without end.
        if callable(made):
            raise QueryError(f"The callable given to where() gave another callable, {made!r:.60}. {_TAKES}.")
        return mask_of(made, catalog)
    _refuse(condition)
    mask = (
        condition
        if isinstance(condition, pd.Series)
        else pd.Series(listed("where()", condition), dtype=object)
    )
    _check_truth_values(mask)
    if isinstance(condition, pd.Series) and mask.index.name == "product_id":
        mask = _by_id(mask, pd.Index(_product_ids(catalog).to_pylist(), dtype=object))
    else:
        mask = _by_row(mask, len(catalog))
    return mask.to_numpy(bool)


def _called(condition: Callable[[pd.DataFrame], Any], products: pd.DataFrame) -> Any:
    try:
        return condition(products)
    except (KeyError, AttributeError) as error:
        name = str(error.name if isinstance(error, AttributeError) else error.args[0] if error.args else "")
        raise QueryError(
            f"The callable given to where() asks for {name!r:.60}{hint(name, _COLUMNS, str(error))}"
        ) from error
    except TypeError as error:
        raise QueryError(
            f"The callable given to where() failed: {error}. It is called with catalog.products, and gives a mask: "
            "where(lambda products: products['texts_count'] > 10)."
        ) from error


def _refuse(condition: Any) -> None:
    if isinstance(condition, pd.DataFrame):
        raise QueryError(
            f"where() got a frame of {len(condition.columns)} columns. Give one column of truth values, or values of "
            "one column: where(product_id=frame['product_id'])."
        )
    if isinstance(condition, Mapping):
        raise QueryError("where() got a mapping. Write where(**mapping) for column = value.")
    if isinstance(condition, str):
        raise QueryError(
            f"{_TAKES}, not the text {condition!r:.60}. Write where(brand_code='ACME') for a value of a column, or "
            "where(lambda products: products.eval(text)) for pandas' own words."
        )
    if is_one(condition):
        raise QueryError(f"{_TAKES}, not {condition!r:.60}.")


def _check_truth_values(mask: pd.Series) -> None:
    if mask.dtype == bool:
        return
    missing = mask.isna()
    if not all(isinstance(one, bool | np.bool_) for one in mask[~missing].tolist()):
        # 0 and 1, or "yes", are most likely values to look for, and no mask.
        column = mask.name if mask.name in _COLUMNS else "product_id"
        raise QueryError(
            f"where() got {len(mask):,} values that are not True or False. For products that have one of these values "
            f"write where({column}=...)."
        )
    if count := int(missing.sum()):
        raise QueryError(
            f"The mask has {count:,} missing values, so it is not known whether these products are meant. Write "
            "where(mask.fillna(False)) to leave them out."
        )


def _by_row(mask: pd.Series, size: int) -> pd.Series:
    """Return a mask in the order of the rows; by its index it may have another."""
    # pandas keeps the index when it sorts or filters, so that it shows which product a value belongs to.
    rows = pd.RangeIndex(size)
    if mask.index.equals(rows):  # the usual case, for which nothing has to be sorted
        return mask
    if len(mask) != size:
        raise QueryError(
            f"The mask has {len(mask):,} values, and the catalogue {size:,} products. Make it of catalog.products as "
            "it is, or give the products' ids: where(product_id=frame['product_id'])."
        )
    if not mask.index.is_unique or not mask.index.isin(rows).all():
        raise QueryError(
            "The index of the mask is not that of catalog.products, so it belongs to other rows. Give the products' "
            "ids: where(product_id=...), or where(mask.to_numpy()) if its order is that of catalog.products."
        )
    return mask.reindex(rows)


def _by_id(mask: pd.Series, ids: pd.Index) -> pd.Series:
    """Return a mask that has product ids for its index in the order of the rows."""
    if not mask.index.is_unique:
        twice = mask.index[mask.index.duplicated()][0]
        raise QueryError(f"The mask has the product_id {twice!r:.60} twice. Keep one value for each product.")
    place = mask.index.get_indexer(ids)
    if len(lacking := ids[place < 0]):
        raise QueryError(
            f"The mask has no value for {len(lacking):,} of {len(ids):,} products, {lacking[0]!r:.60} first. "
            "Give the ids that are meant: where(product_id=mask[mask].index)."
        )
    return mask.iloc[place]


def in_parts(mask: Mask, sizes: list[int]) -> list[pa.Array]:
    """Cut a mask as a catalogue is cut."""
    ends = np.cumsum(sizes)
    return [pa.array(mask[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


#: Up to so many values, each part is filtered by itself. With more, all products are looked up at once: Arrow prepares
#: the list of values again for every part, which would take most of the time.
_MANY = 1_000

UNMATCHED = ("ignore", "warn", "raise")


class UnmatchedWarning(UserWarning):
    """Values that were asked for, and that no product has; for a word, with the values that contain it.

    Examples
    --------
    >>> import warnings
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     found = catalog.where(gtin=[3036811359935, 4006381333931], unmatched="warn")
    >>> len(found), caught[0].category.__name__
    (1, 'UnmatchedWarning')
    """


def selected(
    catalog: Catalog, condition: Any, unmatched: str, equal: Mapping[str, Any], audit: Any = None
) -> tuple[Part, ...]:
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
    meant = condition if isinstance(condition, Selection) else Selection()
    meant = with_units_named(meant, any(map(names_units_by, equal)))
    given = [*equal.items(), *meant.columns.items()]
    for column, _ in given:
        if column not in COLUMNS:
            there_are = hint(column, COLUMNS, "catalog.dictionary lists its columns.")
            raise QueryError(f"products has no column {column!r}{there_are}")
    # The columns of `products` are looked up part by part, with no others of them in memory.
    of_products = [(column, value) for column, value in given if column != MARKET]
    others = [Selection.of(**{column: value}) for column, value in given if column == MARKET]
    others += [replace(meant, columns={})]

    # Several conditions, and the search for values that no product has, read a column once.
    @cache
    def stored(column: str) -> pa.Array:
        return catalog.arrow("products", [column])[column].unique()

    wants = [column_condition(column, value, schema, stored) for column, value in of_products]
    conditions = [want.condition for want in wants if len(want.entries) <= _MANY]
    masks = [
        want.holds(catalog.arrow("products", want.columns)).to_numpy()
        for want in wants
        if len(want.entries) > _MANY
    ]
    if condition is not None and not isinstance(condition, Selection):
        chosen = mask_of(condition, catalog)
        (conditions if isinstance(chosen, pc.Expression) else masks).append(chosen)
    masks += [catalog.mask(one, audit=audit) for one in others if one]
    if unmatched != "ignore" and (missing := not_found_words(wants, stored)):
        if unmatched == "raise":
            raise QueryError(f"{missing}.")
        warnings.warn(f"{missing}.", UnmatchedWarning, stacklevel=3)
    parts = catalog.parts
    if masks:
        cut = in_parts(reduce(and_, masks), [part.size for part in parts])
        parts = tuple(part.take(kept) for part, kept in zip(parts, cut, strict=True))
    if conditions:
        # Parts without any product are kept: descriptors and labels of codes are spread over all parts.
        every = reduce(and_, conditions)
        parts = tuple(side_by_side(lambda part: part.choose(every), parts))
    # Nobody asks for nothing: where a word finds no product, values that contain it were probably meant.
    is_empty = unmatched == "ignore" and not any(part.size for part in parts)
    if is_empty and (similar := containing_words(wants, stored)):
        warnings.warn(f"{similar}.", UnmatchedWarning, stacklevel=3)
    return parts


def without_products(catalog: Catalog, ids: Collection[str]) -> tuple[Part, ...]:
    """Return the parts of a catalogue without some products for good: no filter that is taken away brings them back."""
    gone = pa.array(sorted(ids), pa.string())
    return tuple(side_by_side(lambda part: part.without(gone), catalog.parts))


def _product_ids(catalog: Catalog) -> pa.ChunkedArray:
    return catalog.arrow("products", ["product_id"])["product_id"]


def first(catalog: Catalog, n: int) -> tuple[Part, ...]:
    """Return the parts of a catalogue with only its first products."""
    return _taken(catalog, np.arange(min(_checked_number(n, "head"), len(catalog))))


def drawn(catalog: Catalog, n: int, seed: int | None) -> tuple[Part, ...]:
    """Return the parts of a catalogue with only products drawn at random, each at most once."""
    if _checked_number(n, "sample") > len(catalog):
        raise QueryError(f"sample({n}) asks for more products than the {len(catalog):,} that there are.")
    return _taken(catalog, np.random.default_rng(seed).choice(len(catalog), n, replace=False))


def _taken(catalog: Catalog, places: npt.NDArray[np.int64]) -> tuple[Part, ...]:
    mask = np.zeros(len(catalog), np.bool_)
    mask[places] = True
    cut = in_parts(mask, [part.size for part in catalog.parts])
    return tuple(part.take(chosen) for part, chosen in zip(catalog.parts, cut, strict=True))


def _checked_number(n: int, method: str) -> int:
    if (number := whole_number(n, 0)) is None:
        raise QueryError(f"{method}() takes a number of products, not {n!r:.60}.")
    return number
