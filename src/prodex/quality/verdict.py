"""Verdicts: what a rule says of the products of a part, and the evidence that it shows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from prodex.languages import Message
from prodex.quality.products import Products
from prodex.quality.reasons import Reasons, of_rows
from prodex.tables.columns import Mask, Rows

#: One value for all rows of evidence, or one for each.
Words: TypeAlias = "str | Sequence[Any] | pd.Series | None"


@dataclass(frozen=True)
class Evidence:
    """What was found on failing products: one row for each finding; a product can have several.

    Attributes
    ----------
    product
        Positions of the products in their part, as `Products.rows` gives them under `product`.
    attribute
        Wire path of where it was seen: one for all rows, or one for each (this holds for the next three as well).
    language
        Short language code, where the finding has one.
    value
        The value found there, verbatim.
    reason
        What is wrong with it: a `Message`, whose values may be columns with one for each row, or a text, which is
        shown as it is in every language.
    compared
        What the value was compared with: every fact that decides and is not in the value itself (the other field, the
        other product, the limit of a table), and none that changes by itself (how many days ago, how many other
        products). A finding that was accepted comes back when its value or this changes; the reason is for people, and
        no word of it counts.

    Examples
    --------
    >>> import prodex
    >>> prodex.packs.Evidence([0], attribute="namePublicLong", language="fr", value="??", reason="no letters").reason
    'no letters'
    """

    product: Any
    attribute: Words = None
    language: Words = None
    value: Words = None
    reason: Reasons = None
    compared: Words = None


@dataclass(frozen=True)
class Verdict:
    """The result of a rule for the products of a part. Only the engine turns it into states.

    Both columns of booleans may hold missing values (None, `pd.NA`): there the check is unknown.
    pandas' "boolean" arrays compute with them as logic does: unknown and False is False, unknown and True is unknown.

    Attributes
    ----------
    fails
        One boolean for each product: whether the rule's sentence is not true of it.
    applies
        One boolean for each product: whether the rule applies to it. Where this is False, the check is not applicable,
        whatever `fails` holds. By default it applies to the whole scope.
    evidence
        What was seen on failing products. Missing data need no evidence.
    doubts
        Why the check is unknown of some products: one row for each reason, such as a word that nobody knows. What is
        said of a product that passes or fails is left out.
    unjudged
        Why some products could not be judged, where that is a fault, such as a pattern that takes too long: it is
        among the audit's crashes, and the other products are judged.

    Examples
    --------
    >>> import prodex
    >>> prodex.packs.Verdict(fails=[True, False], evidence=prodex.packs.Evidence([0], value="??")).fails
    [True, False]
    """

    fails: Any
    applies: Any = None
    evidence: Evidence | None = None
    doubts: Evidence | None = None
    unjudged: str = ""


#: One value for all products or a column of them, from which those that are shown are taken; or what makes their words.
Shown: TypeAlias = "str | pd.Series | Callable[[Rows], Sequence[Any] | pd.Series | Message] | None"


def product_verdict(
    fails: Any,
    attribute: str,
    value: Shown,
    reason: Shown | Message,
    *,
    applies: Any = None,
    shown: Any = True,
    compared: Shown = None,
) -> Verdict:
    """Return a verdict with at most one row of evidence for each product.

    Parameters
    ----------
    fails, applies
        As in a `Verdict`; missing is False.
    attribute
        Wire path of what was looked at.
    value, reason
        What is shown of the failing products; the columns of a message have a value for each product.
    shown
        Which of the failing products have evidence: missing data leave none.
    compared
        What the value was compared with; see `Evidence`.
    """
    failing = _where_true(fails)
    rows = np.flatnonzero(failing & np.asarray(shown, bool))
    words: Any = (shown_of(one, rows) if len(rows) else None for one in (value, reason, compared))
    return Verdict(failing, applies, Evidence(rows, attribute, None, *words))


def _where_true(given: Any) -> Mask:
    """Return booleans in any form as an array; missing is False."""
    values: Any = given.array if isinstance(given, pd.Series) else given
    if isinstance(values, np.ndarray) and values.dtype == bool:
        return values
    if not isinstance(values, pd.arrays.BooleanArray):
        values = pd.array(values, "boolean")
    return np.asarray(values.to_numpy(bool, na_value=False))


#: Characters that say what a value was compared with; what is longer is kept as its digest.
_LONGEST = 60


def compared_with(*facts: object) -> str:
    """Return what a value was compared with, as a short text that is the same as long as all of it is.

    >>> compared_with("fr", None, 4.0), len(compared_with("a" * 1000))
    ('["fr", null, 4]', 16)
    """
    # As JSON: no two lists of facts are written alike, whatever signs are in the texts.
    words = json.dumps([*map(_fact, facts)], ensure_ascii=False)
    if len(words) <= _LONGEST:
        return words
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _fact(fact: object) -> object:
    if isinstance(fact, list | tuple):
        return [*map(_fact, fact)]
    if fact is None or fact is pd.NA or (isinstance(fact, float | np.floating) and np.isnan(fact)):
        return None
    if isinstance(fact, bool | np.bool_):
        return bool(fact)
    if isinstance(fact, int | np.integer):
        return int(fact)
    if isinstance(fact, float | np.floating):
        # All digits of which a float is sure, and 4.0 as 4.
        return int(fact) if float(fact).is_integer() else float(f"{fact:.15g}")
    return fact if isinstance(fact, str) else str(fact)


def shown_of(shown: Shown | Message, rows: Rows) -> Words | Message:
    """Return what is shown of some rows."""
    if callable(shown):
        return shown(rows)
    if isinstance(shown, Message):
        return of_rows(shown, rows)
    if not isinstance(shown, pd.Series):
        return shown
    taken = shown.iloc[rows]
    return as_sent(taken) if shown.dtype.kind == "M" else taken


def as_sent(times: pd.Series) -> pd.Series:
    """Return times as the service writes them, so that a value shown can be found in the record."""
    sent: pd.Series = times.dt.strftime("%Y-%m-%dT%H:%M:%S")
    return sent


#: The reason of a failure that needs no work, only acceptance.
PENDING = Message("pending: filled as soon as the update is accepted")


def missing_data(
    products: Products, attribute: str | Sequence[str], applies: Any = None, language: str | None = None
) -> Verdict:
    """Fail the products without data for an attribute, or for each of several where one of them is enough.

    Data pending acceptance are evidence, and no data.
    """
    paths = [attribute] if isinstance(attribute, str) else attribute
    fails = ~products.any_filled(paths, language=language)
    waiting = np.flatnonzero(fails & products.any_filled(paths, "lastRequest.", language))
    return Verdict(fails, applies, Evidence(waiting, paths[0], language, None, PENDING))
