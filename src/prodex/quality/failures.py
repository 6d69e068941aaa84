"""Findings: what the matrix and the evidence say of failing checks, as rows that somebody can work through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import locales
from prodex.errors import QueryError
from prodex.languages import ENGLISH, Translation
from prodex.locales import short_of
from prodex.phrases import hint, meant
from prodex.quality.accepted import NONE_ACCEPTED
from prodex.quality.audit_part import IDENTITY, AuditPart
from prodex.quality.check import Check
from prodex.quality.reasons import reason_words, written_reasons
from prodex.quality.rulebook import SEVERITIES, Rule
from prodex.selection import Selection
from prodex.selection.column_values import (
    ClosedList,
    ColumnCondition,
    column_condition,
    in_three_digits,
    market_value,
)
from prodex.selection.plain import COLUMNS
from prodex.tables.attributes import ATTRIBUTES, PATHS
from prodex.tables.columns import Mask, Rows, as_one_chunk, is_true, places
from prodex.tables.frames import to_frame

#: Columns of the findings that say which check it was, with the name of the fact.
OF_CHECK: Mapping[str, str] = {
    "check": "id",
    **{name: name for name in ("rule", "problem", "title", "block", "severity", "fix")},
    "law": "law_said",
}


#: Columns of products that name something: of several, each must be that of a product of the audit, whatever fails.
_NAMES = ("name", "owner_id", "owner", "brand_code", "brand", "kind_code", "kind")
#: Those of lists made elsewhere, which may have more products than the audit: one of them must be of it.
_KEYS = ("product_id", "gtin")


@dataclass(frozen=True, eq=False)
class FailureFilter:
    """Which findings are wanted.

    Attributes
    ----------
    wants
        What is wanted of columns of every finding: known before any is written.
    rest
        What is wanted beside it: one thing or another, all but some, and what only the products say.
    answers
        How each condition of the rest is answered: by a column of the findings, or by the ids of the products.
    """

    wants: tuple[ColumnCondition, ...] = ()
    rest: Selection = field(default_factory=Selection)
    answers: Mapping[Selection, ColumnCondition | pa.Array] = field(default_factory=dict)

    @property
    def looks_at_rows(self) -> bool:
        """Whether it takes more than the columns of products and checks to know which are wanted."""
        return bool(self.rest) or any(map(_is_of_rows, self.wants))

    def kept(self, rows: pa.Table) -> Mask:
        """Return which findings are wanted, of those that the columns of products and checks have left."""
        kept = np.ones(rows.num_rows, bool)
        for want in filter(_is_of_rows, self.wants):
            kept &= is_true(want.holds(rows))
        if not self.rest:
            return kept

        def answer(one: Selection) -> Mask:
            found = self.answers[one]
            if isinstance(found, ColumnCondition):
                return is_true(found.holds(rows))
            return is_true(pc.is_in(rows["product_id"], found))

        everything = np.ones(rows.num_rows, bool)
        return kept & self.rest.met(everything, answer, lambda known: known)


def _is_of_rows(want: ColumnCondition) -> bool:
    return want.column not in _OF_PRODUCT and want.column not in OF_CHECK


NO_FILTER = FailureFilter()


def failure_filter(
    parts: Sequence[AuditPart],
    checks: Sequence[Check],
    equal: Mapping[str, Any],
    accepted: Sequence[pa.Table] = (),
    selection: Selection | None = None,
    ask: Callable[[Selection], pa.Array] | None = None,
) -> FailureFilter:
    """Return which findings are wanted.

    Parameters
    ----------
    parts, checks, accepted
        Of the audit.
    equal
        Column of the findings = value, or several in anything that holds values; None is no value.
    selection
        What is wanted beside it: its columns are those of the findings, and what these do not have is asked of their
        products.
    ask
        Returns the ids of the products that a selection means.

    Raises
    ------
    QueryError
        When there is no such column, or no such severity, check, rule, market or the like, or no product of the audit
        has such an owner, brand, kind, name, GTIN or id; the message names the nearest.
    """
    selection = selection or Selection()
    names = FAILURES.names
    of_products = [name for one in selection.every() for name in one.columns if name not in COLUMNS]
    for name in (*equal, *of_products):
        if name not in names:
            there_are = hint(name, names, f"Give one of {', '.join(names)}.")
            raise QueryError(f"Failures have no column {name!r}{there_are}")

    @cache
    def stored(column: str) -> pa.Array:
        fact = OF_CHECK.get(column, column)
        own = said_of_checks(checks, fact)
        if column in OF_CHECK:
            return own.unique()
        if column == "accepted_by":
            return pa.concat_tables([NONE_ACCEPTED, *accepted])[column].unique()
        found = [_stored(part, column) for part in parts]
        texts = [chunk.cast(pa.string()) for one in found for chunk in one.chunks]
        return pa.chunked_array([own, *texts], pa.string()).unique()

    schema = pa.schema([(name, _typed(name)) for name in names])
    closed = _closed(stored)

    def wanted(column: str, value: Any) -> ColumnCondition:
        want = column_condition(column, value, schema, stored, closed)
        if column in (*_NAMES, *_KEYS, "accepted_by"):
            _check_known(want, stored)
        return want

    own = {name: values for name, values in selection.columns.items() if name in names}
    wants = [wanted(column, value) for column, value in equal.items()]
    wants += [wanted(column, list(values)) for column, values in own.items()]
    rest = replace(
        selection, columns={name: one for name, one in selection.columns.items() if name not in own}
    )
    answers: dict[Selection, ColumnCondition | pa.Array] = {}
    for one in (
        one for every in rest.every() for one in every.single() if not one.either and not one.excepted
    ):
        of_findings = {column: values for column, values in one.columns.items() if column in names}
        for column, values in of_findings.items():
            answers[one] = wanted(column, list(values))
        if not of_findings:
            if ask is None:
                raise QueryError(f"Findings alone do not say which products are meant by: {one}.")
            answers[one] = ask(one)
    return FailureFilter(tuple(wants), rest, answers)


def _stored(part: AuditPart, column: str) -> pa.ChunkedArray:
    if column in IDENTITY.names:
        return part.column(column)
    findings = part.findings
    if column == "reason":
        ids, values = (as_one_chunk(findings[name]) for name in ("reason_id", "reason_values"))
        return pa.chunked_array([reason_words(written_reasons(ids, values), ENGLISH)])
    return findings[column]


def said_of_checks(checks: Sequence[Check], name: str, words: Translation = ENGLISH) -> pa.Array:
    """Return what each check says of itself, in a language."""
    facts = (getattr(check, name, None) for check in checks)
    said = (one.id if isinstance(one, Rule) else one for one in facts)
    return pa.array([None if one is None else words.say_again(one) for one in said], pa.string())


def _check_known(want: ColumnCondition, stored: Callable[[str], pa.Array]) -> None:
    """Make sure that what was named is there: without findings it is clean, and with another spelling nobody knows."""
    missing = [one for one in want.not_found(stored) if one is not None]
    if not missing or (want.column in _KEYS and len(missing) < len(want.entries)):
        return
    is_person = want.column == "accepted_by"
    of_whom = "Nothing was accepted by" if is_person else f"No product of this audit has {want.column}"
    there = [one for one in stored(want.column).to_pylist() if one]
    word = str(missing[0])
    several = f", and {len(missing) - 1:,} more are not there either" if len(missing) > 1 else ""
    shown = ", ".join(f"{one:.60}" for one in there[:20])
    there_are = f"There are {shown}{', ...' if len(there) > 20 else ''}." if there else "There are none."
    raise QueryError(f"{of_whom} {word!r:.60}{several}{hint(word, there, there_are)}")


def _typed(name: str) -> pa.DataType:
    kind = FAILURES.field(name).type if name in FAILURES.names else pa.string()
    return kind if pa.types.is_timestamp(kind) else pa.string()


def _closed(stored: Callable[[str], pa.Array]) -> dict[str, ClosedList]:
    """Return the columns whose values are known beforehand; what a check is not about cannot be among its findings."""
    of_checks = ClosedList(lambda name, value: _named(filter(None, stored(name).to_pylist()), name, value))
    return {
        **dict.fromkeys(OF_CHECK, of_checks),
        "severity": ClosedList(lambda name, value: _named(SEVERITIES, name, value)),
        "attribute": ClosedList(lambda name, value: _named(_known_attributes(stored(name)), name, value)),
        "language": ClosedList(lambda name, value: _stored_language(name, value, stored(name).to_pylist())),
        "market": ClosedList(market_value, in_three_digits),
    }


def _known_attributes(stored: pa.Array) -> list[str]:
    return sorted({*ATTRIBUTES, *PATHS, *filter(None, stored.to_pylist())})


def _named(known: Iterable[str], column: str, value: Any) -> str:
    """Return the one of some names that somebody means, whatever its case."""
    names, word = list(known), str(value)
    match meant(word, names):
        case [name]:
            return name
        case [_, _, *_] as several:
            raise QueryError(
                f"{column}={word!r:.60} can be {' or '.join(f'{one!r:.60}' for one in several)}. Write it as it is "
                "there."
            )
    shown = [f"{name:.60}" for name in names[:20]]
    there_are = f"Give one of {', '.join(shown)}{', ...' if len(names) > 20 else ''}." if names else ""
    of_audit = "" if column == "severity" else " of this audit"
    raise QueryError(f"No {column}{of_audit} is called {word!r:.60}{hint(word, names, there_are)}")


def _stored_language(column: str, value: Any, stored: Iterable[str | None]) -> str:
    try:
        short = short_of(locales.language_tag(str(value)))
    except QueryError as error:
        raise QueryError(f"{column}: {error}") from error
    # Findings of rules of one's own may have other codes of the same language.
    return next((one for one in sorted(filter(None, stored)) if short_of(one) == short), short)


_WORD = pa.dictionary(pa.int32(), pa.string())

FAILURES = pa.schema(
    [
        *(field for field in IDENTITY if not pa.types.is_boolean(field.type)),
        *((name, _WORD) for name in OF_CHECK if name not in {"fix", "law"}),
        *((name, pa.string()) for name in ("attribute", "language", "value", "reason")),
        ("fix", _WORD),
        ("law", _WORD),
        ("accepted", pa.string()),
        ("accepted_by", pa.string()),
        ("accepted_until", pa.timestamp("us")),
        ("first_seen", pa.timestamp("us")),
    ]
)

_OF_PRODUCT = FAILURES.names[: FAILURES.names.index("check")]
_ACCEPTED = ("accepted", "accepted_by", "accepted_until")

#: Findings before they are put into words: `check` is a place among the checks, `reason` is as `reasons` writes it.
FOUND = pa.schema(
    [
        *(FAILURES.field(name) for name in _OF_PRODUCT),
        ("check", pa.int32()),
        *((name, pa.string()) for name in ("attribute", "language", "value")),
        ("reason", _WORD),
        *(FAILURES.field(name) for name in (*_ACCEPTED, "first_seen")),
    ]
)


def failure_rows(
    part: AuditPart,
    checks: Sequence[Check],
    wanted: FailureFilter = NO_FILTER,
    accepted: pa.Table = NONE_ACCEPTED,
    words: Translation = ENGLISH,
) -> pa.Table:
    """Return the findings of a part in words, product by product and in the order of the checks.

    Parameters
    ----------
    part, checks, wanted, accepted
        As for `found_rows`.
    words
        The language of problems, titles, reasons and what to do.
    """
    return findings_in_words(found_rows(part, checks, wanted, accepted), checks, words)


def found_rows(
    part: AuditPart,
    checks: Sequence[Check],
    wanted: FailureFilter = NO_FILTER,
    accepted: pa.Table = NONE_ACCEPTED,
) -> pa.Table:
    """Return the findings of a part before they are put into words; its columns are those of `FOUND`.

    Parameters
    ----------
    part
        The part.
    checks
        The columns of its matrix.
    wanted
        Which findings; see `failure_filter`.
    accepted
        Which of the findings are accepted; see `prodex.quality.accepted.accepted_in_part`.
    """
    findings, identity = part.findings, part.products
    # They are check by check; people work product by product.
    chosen = np.argsort(findings["product"].to_numpy(), kind="stable")
    # Filtered before any text is copied: a filter by severity keeps one row in a hundred.
    chosen = chosen[_kept(identity, findings, checks, chosen, wanted.wants)]
    rows = _found(identity, findings, checks, chosen, accepted)
    # Filters are written in English, whoever reads what they leave.
    return (
        rows.filter(pa.array(wanted.kept(findings_in_words(rows, checks)))) if wanted.looks_at_rows else rows
    )


def rows_of_findings(part: AuditPart, checks: Sequence[Check], rows: Rows) -> pa.Table:
    """Return some findings of a part as `failure_rows` shows them, given by their place in `AuditPart.findings`."""
    return findings_in_words(_found(part.products, part.findings, checks, rows, NONE_ACCEPTED), checks)


def doubt_rows(part: AuditPart, checks: Sequence[Check], words: Translation = ENGLISH) -> pa.Table:
    """Return why checks are unknown of the products of a part, as `failure_rows` shows findings."""
    doubts = part.doubts
    order = np.argsort(doubts["product"].to_numpy(), kind="stable")
    return findings_in_words(_found(part.products, doubts, checks, order, NONE_ACCEPTED), checks, words)


def findings_in_words(found: pa.Table, checks: Sequence[Check], words: Translation = ENGLISH) -> pa.Table:
    """Return findings in a language; the columns of the result are those of `FAILURES`.

    Parameters
    ----------
    found
        From `found_rows`; it may be filtered, sorted and joined.
    checks
        The columns of the matrix.
    words
        The language.
    """
    # Of a few findings, most checks have none.
    here = as_one_chunk(found["check"]).dictionary_encode()
    checks = [checks[one] for one in here.dictionary.to_pylist()]
    columns: dict[str, Any] = {name: found[name] for name in found.column_names}
    for name, attribute in OF_CHECK.items():
        columns[name] = pa.DictionaryArray.from_arrays(here.indices, said_of_checks(checks, attribute, words))
    columns["reason"] = reason_words(as_one_chunk(found["reason"]), words)
    return pa.table([columns[name] for name in FAILURES.names], schema=FAILURES)


def failures_frame(batches: Iterable[pa.RecordBatch]) -> pd.DataFrame:
    """Return failures as a frame."""
    return to_frame(pa.Table.from_batches(list(batches), FAILURES))


def _kept(
    identity: pa.Table,
    findings: pa.Table,
    checks: Sequence[Check],
    rows: Rows,
    wants: Sequence[ColumnCondition],
) -> Mask:
    """Say which rows are wanted, by what is known before any of them is written."""
    kept = np.ones(len(rows), bool)
    for want in wants:
        if want.column in _OF_PRODUCT:
            kept &= want.holds(identity).to_numpy()[findings["product"].to_numpy()[rows]]
        elif want.column in OF_CHECK and len(checks):
            facts = said_of_checks(checks, OF_CHECK[want.column])
            matches = want.holds(pa.table({want.column: facts}))
            kept &= matches.to_numpy()[findings["check"].to_numpy()[rows]]
    return kept


def _found(
    identity: pa.Table, findings: pa.Table, checks: Sequence[Check], rows: Rows, accepted: pa.Table
) -> pa.Table:
    found = findings.drop_columns("compared").take(pa.array(rows)).combine_chunks()
    products = found["product"].combine_chunks()
    columns = {name: as_one_chunk(identity[name]).take(products) for name in _OF_PRODUCT}
    columns |= {name: found[name] for name in FOUND.names if name in found.column_names}
    for name in ("attribute", "language"):
        columns[name] = pc.coalesce(
            found[name], said_of_checks(checks, name).take(as_one_chunk(found["check"]))
        )
    columns["reason"] = _reasons(found, checks)
    place = places(pa.array(rows), as_one_chunk(accepted["finding"]))
    columns |= {
        name: as_one_chunk(accepted[name]).take(pa.array(place, mask=place < 0)) for name in _ACCEPTED
    }
    return pa.table([columns[name] for name in FOUND.names], schema=FOUND)


def _reasons(found: pa.Table, checks: Sequence[Check]) -> pa.Array:
    """Return the reason of each finding, written; that of its check where it has none of its own."""
    reasons = [check.reason for check in checks]
    # Behind those of the findings are those of the checks.
    ids = pa.concat_arrays(
        [as_one_chunk(found["reason_id"]), pa.array([one.id for one in reasons], pa.string())]
    )
    values = pa.concat_arrays(
        [as_one_chunk(found["reason_values"]), pa.array([one.json for one in reasons], pa.string())]
    )
    has_own = np.asarray(found["reason_id"].is_valid().to_numpy(), bool)
    row = np.where(has_own, np.arange(len(found)), len(found) + found["check"].to_numpy())
    return written_reasons(ids, values).take(pa.array(row))
