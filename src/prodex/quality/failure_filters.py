"""Which findings are meant: from what a person gives `failures()` to conditions over its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from prodex import locales
from prodex.catalog.closed import ClosedList, in_three_digits, market_value
from prodex.catalog.wanted import Wanted, wanted
from prodex.errors import QueryError
from prodex.nearest import hint
from prodex.quality.check import CheckFacts
from prodex.quality.engine import IDENTITY, AuditPart
from prodex.quality.rulebook import SEVERITIES
from prodex.tables.attributes import ATTRIBUTES, PATHS
from prodex.tables.languages import short_of

#: Columns of the findings that say which check it was, with the name of the fact.
OF_CHECK: Mapping[str, str] = {
    "check": "id",
    "rule": "rule",
    "problem": "problem",
    "title": "title",
    "block": "block",
    "severity": "severity",
    "fix": "fix",
}


def failure_filters(
    names: Sequence[str], parts: Sequence[AuditPart], checks: Sequence[CheckFacts], equal: Mapping[str, Any]
) -> list[Wanted]:
    """Return what is wanted of the columns of the findings.

    Parameters
    ----------
    names
        The columns.
    parts, checks
        Of the audit.
    equal
        Column = value, or several in anything that holds values; None is no value.

    Raises
    ------
    QueryError
        When there is no such column, or no such severity, check, rule, market or the like; the message names the
        nearest.
    """
    for name in equal:
        if name not in names:
            there_are = hint(name, names, f"There are {', '.join(names)}.")
            raise QueryError(f"Failures have no column {name!r}{there_are}")

    @cache
    def stored(column: str) -> pa.Array:
        fact = OF_CHECK.get(column, column)
        own = pa.array([getattr(check, fact, None) for check in checks], pa.string())
        if column in OF_CHECK:
            return own.unique()
        of_product = column in IDENTITY.names
        found = [(part.products if of_product else part.evidence)[column] for part in parts]
        texts = [chunk.cast(pa.string()) for one in found for chunk in one.chunks]
        return pa.chunked_array([own, *texts], pa.string()).unique()

    schema = pa.schema([(name, pa.string()) for name in names])
    closed = _closed(checks, stored)
    return [wanted(column, value, schema, stored, closed) for column, value in equal.items()]


def _closed(checks: Sequence[CheckFacts], stored: Callable[[str], pa.Array]) -> dict[str, ClosedList]:
    """Return the columns whose values are known beforehand; what a check is not about cannot be among its findings."""
    lists = {
        column: ClosedList(_one_of(list(dict.fromkeys(getattr(check, fact) for check in checks))))
        for column, fact in OF_CHECK.items()
    }
    return {
        **lists,
        "severity": ClosedList(_one_of(list(SEVERITIES))),
        "attribute": ClosedList(lambda name, value: _one_of(_attributes(stored(name)))(name, value)),
        "language": ClosedList(_language),
        "market": ClosedList(market_value, in_three_digits),
    }


def _attributes(stored: pa.Array) -> list[str]:
    return sorted({*ATTRIBUTES, *PATHS, *filter(None, stored.to_pylist())})


def _one_of(known: Iterable[str]) -> Callable[[str, Any], str]:
    """Read one of some names, whatever its case."""
    folded = {name.casefold(): name for name in known}

    def read(column: str, value: Any) -> str:
        word = str(value)
        if word in folded.values():
            return word
        if (found := folded.get(word.strip().casefold())) is not None:
            return found
        shown = [f"{name:.60}" for name in list(folded.values())[:20]]
        there_are = f"There are {', '.join(shown)}{', ...' if len(folded) > len(shown) else ''}."
        of_audit = "" if column == "severity" else " of this audit"
        raise QueryError(
            f"No {column}{of_audit} is called {word!r:.60}{hint(word, folded.values(), there_are)}"
        )

    return read


def _language(column: str, value: Any) -> str:
    try:
        return short_of(locales.language_tag(str(value)))
    except QueryError as error:
        raise QueryError(f"{column}: {error}") from error
