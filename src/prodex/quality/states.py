"""The four states of a product under a check, and what is found where it fails; only this module makes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sized
from contextlib import suppress
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from prodex.languages import Message
from prodex.quality.reasons import reason_columns
from prodex.quality.verdict import Evidence, Verdict
from prodex.tables.columns import Answer, Mask, Rows, is_true

States = npt.NDArray[np.int8]


class State(IntEnum):
    """What the matrix holds."""

    PASS = 0
    FAIL = 1
    NOT_APPLICABLE = 2
    UNKNOWN = 3


class VerdictRefused(ValueError):
    """A rule returned what cannot be taken; the message says why. It becomes a crash of that rule."""


#: A row for each finding, check by check and product by product: at least one for each cell of the matrix that fails.
FINDINGS = pa.schema(
    [
        # The cell: places in the matrix.
        *((name, pa.int32()) for name in ("check", "product")),
        # What was seen there; missing data leave nothing to be seen.
        *((name, pa.string()) for name in ("attribute", "language", "value")),
        # What is wrong: a message and its values as JSON; a text of somebody else has no values.
        *((name, pa.string()) for name in ("reason_id", "reason_values")),
        ("compared", pa.string()),
        # Since when it is open: as the audit's `now`; missing as long as nobody has looked.
        ("first_seen", pa.timestamp("us")),
    ]
)

#: What most checks find in most parts.
NO_FINDINGS = FINDINGS.empty_table()


#: The column of a check in the matrix, its findings, and why it is unknown of some products.
Judged: TypeAlias = tuple[States, pa.Table, pa.Table]


def states_of_verdict(verdict: Any, in_scope: Mask | Answer, check: int) -> Judged:
    """Make states of a verdict, and tables of what was found where it fails and of why it is unknown elsewhere.

    The columns of both are those of `FINDINGS`.

    Parameters
    ----------
    verdict
        What a rule returned.
    in_scope
        The products that the check is about; missing where this is undecided.
    check
        Its place in the matrix.

    Raises
    ------
    VerdictRefused
        When it is no verdict, of the wrong length, or has evidence for a product that passes.
    """
    if not isinstance(verdict, Verdict):
        raise VerdictRefused(f"it returned {type(verdict).__name__} instead of prodex.packs.Verdict(fails)")
    size = len(in_scope)
    applies, undecided = meant, unclear = _booleans("in_scope", in_scope, size)
    fails, doubtful = _booleans("fails", verdict.fails, size)
    if verdict.applies is not None:
        applies, undecided = _booleans("applies", verdict.applies, size)
    # The order matters: out of scope wins over unknown, and unknown over fail and pass.
    states = np.where(fails, State.FAIL, State.PASS).astype(np.int8)
    states[doubtful | undecided | unclear] = State.UNKNOWN
    states[~(meant | unclear) | ~(applies | undecided)] = State.NOT_APPLICABLE
    doubts = NO_FINDINGS
    if verdict.doubts is not None:
        doubts = _seen(verdict.doubts, np.ones(size, bool), states == State.UNKNOWN, check)
    return states, _findings(verdict.evidence, fails, states == State.FAIL, check), doubts


def _booleans(name: str, given: Any, size: int) -> tuple[Mask, Mask]:
    """Return where a column of booleans is true, and where it is missing."""
    # What nearly every rule returns needs no more than this.
    if isinstance(given, np.ndarray) and given.dtype == bool and given.shape == (size,):
        return given, np.zeros(size, bool)
    values = given
    if isinstance(values, pd.Series):
        # A filtered or sorted Series would be read in the wrong order without any error.
        if len(values) == size and not values.index.equals(pd.RangeIndex(size)):
            raise VerdictRefused(
                f"{name} is a Series whose index is not 0 to {size - 1}, so its order is not the products'; use "
                "products.any(rows['product']) or .reindex(range(len(products)))"
            )
        values = values.array
    if isinstance(values, pa.Array | pa.ChunkedArray):
        if not pa.types.is_boolean(values.type):
            raise VerdictRefused(f"{name} holds {values.type} instead of booleans")
        missing = np.asarray(values.is_null().to_numpy(zero_copy_only=False), bool)
        values = is_true(values)
    elif isinstance(values, pd.api.extensions.ExtensionArray):
        if str(values.dtype) not in {"bool", "boolean", "bool[pyarrow]"}:
            raise VerdictRefused(f"{name} holds {values.dtype} instead of booleans")
        missing = np.asarray(values.isna(), bool)
        values = values.to_numpy(dtype=bool, na_value=False)
    else:
        values = np.asarray(values)
        missing = np.zeros(len(values) if values.ndim else 0, bool)
    if values.ndim != 1 or len(values) != size:
        has = f"{len(values):,} values" if values.ndim == 1 else f"the shape {values.shape}"
        raise VerdictRefused(f"{name} has {has} for {size:,} products")
    # A list of True, False and None, as rules of one's own return.
    if values.dtype == object and all(one is None or one is pd.NA or isinstance(one, bool) for one in values):
        missing = np.array([not isinstance(one, bool) for one in values], bool)
        values = np.array([one is True for one in values], bool)
    if values.dtype != bool and size:
        raise VerdictRefused(f"{name} holds {values.dtype} instead of booleans")
    return values.astype(bool), missing


def _findings(given: Evidence | None, fails: Mask, kept: Mask, check: int) -> pa.Table:
    """Return what was seen on the products that are kept, and a row for each of them on which nothing was."""
    seen = NO_FINDINGS if given is None else _seen(given, fails, kept, check)
    if not kept.any():
        return seen
    bare = kept.copy()
    bare[seen["product"].to_numpy()] = False
    found = seen
    if bare.any():
        found = pa.concat_tables([seen, _table(np.flatnonzero(bare), check, {})])
    product = found["product"].to_numpy()
    in_order = bool((product[:-1] <= product[1:]).all())
    return found if in_order else found.take(pa.array(np.argsort(product, kind="stable")))


def _seen(given: Evidence, fails: Mask, kept: Mask, check: int) -> pa.Table:
    products = np.asarray(given.product)
    if products.ndim != 1 or (len(products) and not np.issubdtype(products.dtype, np.integer)):
        raise VerdictRefused("the evidence needs `product`: positions of products, as whole numbers")
    products = products.astype(np.int64)
    if len(products) and (products.min() < 0 or products.max() >= len(fails)):
        raise VerdictRefused(f"the evidence is about positions outside the {len(fails):,} products")
    # Evidence for a passing product is a mistake in the rule; dropping it would hide the mistake.
    innocent = products[~fails[products]]
    if len(innocent):
        raise VerdictRefused(
            f"there is evidence for {len(np.unique(innocent)):,} products that do not fail, the first at position "
            f"{innocent[0]}"
        )
    # A single value is that of all rows.
    size = len(products)
    words = {name: getattr(given, name) for name in ("attribute", "language", "value", "compared")}
    if not size and all(map(_is_of_no_row, (*words.values(), given.reason))):
        return NO_FINDINGS
    columns = {name: _evidence_words(name, one, size) for name, one in words.items()}
    columns |= zip(("reason_id", "reason_values"), _reasons(given.reason, size), strict=True)
    table = _table(products, check, columns)
    # A product that fails but is out of scope or unknown has no finding.
    has_finding = kept[products]
    return table if has_finding.all() else table.filter(pa.array(has_finding))


def _table(products: Rows, check: int, seen: Mapping[str, pa.Array]) -> pa.Table:
    """Return findings with what was seen; nothing is in the columns that are not given."""
    size = len(products)
    place = {"check": pa.array(np.full(size, check, np.int32)), "product": pa.array(products, pa.int32())}
    columns = {one.name: pa.nulls(size, one.type) for one in FINDINGS} | place | dict(seen)
    return pa.table(columns, schema=FINDINGS)


def _is_of_no_row(words: Any) -> bool:
    return words is None or isinstance(words, str | Message) or (isinstance(words, Sized) and len(words) == 0)


def _reasons(given: Any, size: int) -> tuple[pa.Array, pa.Array]:
    try:
        return reason_columns(given, size)
    except (TypeError, ValueError) as error:
        raise VerdictRefused(f"{error}") from error


def _evidence_words(name: str, given: Any, size: int) -> pa.Array:
    if given is None or isinstance(given, str):
        return pa.repeat(pa.scalar(given, pa.string()), size)
    if isinstance(given, pa.ChunkedArray):
        given = given.combine_chunks()
    if not isinstance(given, Sized):
        raise VerdictRefused(f"the evidence has {type(given).__name__} for {name}; give a list or a column")
    if not isinstance(given, pa.Array):
        given = _array(given)
    if len(given) != size:
        raise VerdictRefused(f"the evidence has {len(given):,} values of {name} for {size:,} rows")
    return given if given.type == pa.string() else given.cast(pa.string())


def _array(given: Any) -> pa.Array:
    if isinstance(given, pd.Series | np.ndarray):
        made = pa.array(given, from_pandas=True)
        made = made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
        if pa.types.is_string(made.type):
            return made
    values = given.tolist() if isinstance(given, pd.Series | np.ndarray) else list(given)
    # Nearly always they are texts.
    with suppress(pa.ArrowException, TypeError, ValueError):
        return pa.array(values, pa.string())
    return pa.array([None if _is_missing(one) else _evidence_text(one) for one in values], pa.string())


def _is_missing(value: Any) -> bool:
    return (
        value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value))
    )


def _evidence_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    # 15 digits show a number as it was typed: 0.1 + 0.2 is 0.3.
    return f"{value:.15g}" if isinstance(value, float) else str(value)
