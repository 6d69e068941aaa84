"""What an earlier audit still says: an audit after a refresh costs what changed.

A verdict depends on the record of the product, on other products, or on the day. A rule that declares that its verdict
depends on the record alone says the same of the same record again, as long as all else is the same that verdicts depend
on: the versions of prodex and of its rules, the checks and their scope, the requirements, and what was requested of the
service. All of that is one digest, the basis of an audit; audits of another basis give nothing.

So the products whose records an earlier audit has judged keep their cells of the columns of such rules, with evidence
and identity. All other products are put together and judged as if they were one part. The columns of all other rules
are judged anew for all products. What comes out is equal to a whole audit, cell by cell.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin, Part
from prodex.quality.audit import Audit
from prodex.quality.audit_part import AuditPart, evidence_in_order
from prodex.quality.check import Check
from prodex.quality.profile import Profile
from prodex.quality.rulebook import RULE_SET
from prodex.tables.columns import Mask, Rows
from prodex.tables.record_digests import RecordDigests, beginnings

#: Read once: it is looked up in files.
_VERSION = version("prodex")

#: If more than one product in so many changed, all are judged: to put so many together would take longer.
_MOST_CHANGED = 3

#: A part of an earlier audit is unpacked for a part of the new one if it has at least this share of its products.
_WORTH_UNPACKING = 0.05

#: Changed products that are judged together.
_AT_ONCE = 10_000

#: Judges parts of a catalogue by some of the checks, and says how products are called or not; see `quality.run`.
Judge = Callable[[Sequence[Part], Sequence[Check], bool], Iterator[AuditPart]]


def basis_of(profile: Profile, origin: Origin, day: date) -> str:
    """Return the digest of all that verdicts depend on beside the records.

    Examples
    --------
    >>> import prodex
    >>> core, origin, day = Profile.read("core"), prodex.flatten([]).origin, date(2026, 8, 12)
    >>> basis_of(core, origin, day) == basis_of(core.with_assumption(food=True), origin, day)
    False
    """
    query = None if origin.query is None else origin.query.to_body()
    depends_on = (
        *(_VERSION, RULE_SET),
        # A law that begins changes how bad a finding is, and no verdict; one that ends takes its verdicts along.
        [(c.rule.id, c.parameters, c.scopes, c.has_ended(day)) for c in profile.checks],
        *(profile.market, sorted(profile.assume, key=repr)),
        None if profile.requirements is None else repr(profile.requirements),
        *(json.dumps(query, sort_keys=True), origin.accept_language, origin.extent),
    )
    return hashlib.sha256(repr(depends_on).encode("utf-8", "surrogatepass")).hexdigest()


def digests_of_given(checks: Sequence[Check], whole: Mapping[str, Any]) -> dict[str, str]:
    """Return the digest of what each rule was given of all parts, as far as it says whether that is the same again."""
    rules = {check.rule.id: check.rule for check in checks if check.rule.id in whole}
    return {
        name: hashlib.sha256(b"".join(content)).hexdigest()
        for name, rule in rules.items()
        if rule.record_alone and rule.shipped and (content := _content(whole[name])) is not None
    }


def _content(given: Any) -> list[bytes] | None:
    """Return the bytes of what a rule prepared; None of what has none that are the same for the same content."""
    if isinstance(given, tuple):
        each = [_content(one) for one in given]
        return None if any(one is None for one in each) else [b for one in each for b in (one or ())]
    if isinstance(given, pd.DataFrame):
        given = pa.Table.from_pandas(given, preserve_index=False)
    if isinstance(given, pa.Array | pa.ChunkedArray):
        given = pa.table([given], names=["given"])
    if isinstance(given, pa.Table):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, given.schema) as stream:
            stream.write_table(given.combine_chunks())
        return [sink.getvalue().to_pybytes()]
    if isinstance(given, Mapping):
        return [repr(list(given.items())).encode("utf-8", "surrogatepass")]
    return None


class _Places(NamedTuple):
    """Where the products of a part are in an earlier audit: its part and the row there; -1 for none."""

    part: Rows
    row: Rows

    @property
    def found(self) -> Mask:
        return self.part >= 0


@dataclass(frozen=True, eq=False)
class EarlierAudit:
    """An earlier audit of the same basis, in the order of the digests of its records."""

    audit: Audit
    _beginnings: npt.NDArray[np.uint64]
    _digests: npt.NDArray[np.void]
    _part: Rows
    _row: Rows

    @classmethod
    def of(cls, audit: Audit, basis: str) -> Self | None:
        """Return it; None where it cannot say of which records it is, or is of another basis, or cut."""
        if audit.basis != basis or audit.taken_from is not None:
            return None
        digests = [_digests_judged(audit, number) for number in range(len(audit.parts))]
        known = [one for one in digests if one is not None]
        if len(known) < len(digests) or not sum(map(len, known)):
            return None
        every = np.concatenate(known)
        sizes = [len(one) for one in known]
        first = beginnings(every)
        order = np.argsort(first, kind="stable")
        part = np.repeat(np.arange(len(sizes)), sizes)
        row = np.concatenate([np.arange(size) for size in sizes])
        return cls(audit, first[order], every[order], part[order], row[order])

    def places(self, digests: npt.NDArray[np.void]) -> _Places:
        """Say where records with these digests are."""
        place = np.minimum(np.searchsorted(self._beginnings, beginnings(digests)), len(self._beginnings) - 1)
        found = self._digests[place] == digests
        # A record that the new catalogue holds twice is judged the second time: each row is given once.
        first = np.zeros(len(digests), bool)
        first[np.unique(np.where(found, place, -1), return_index=True)[1]] = True
        found &= first
        part, row = np.where(found, self._part[place], -1), np.where(found, self._row[place], -1)
        few = np.bincount(part[found], minlength=1) < _WORTH_UNPACKING * len(digests)
        given = found & ~few[part]
        return _Places(np.where(given, part, -1), np.where(given, row, -1))


def _digests_judged(audit: Audit, number: int) -> npt.NDArray[np.void] | None:
    """Return the digests of the records that a part of an audit has judged."""
    part = audit.parts[number]
    if part.digests is not None or audit.catalog is None or number >= len(audit.catalog.parts):
        return part.digests
    # An audit of this session, of a catalogue without digests of its own.
    of_catalog = audit.catalog.parts[number]
    if of_catalog.size != part.size:
        return None
    made = digests_of(of_catalog, computed=True)
    return None if made is None else made.digests


def digests_of(part: Part, *, computed: bool) -> RecordDigests | None:
    """Return the digests of the records in the order of the products; None where a part cannot say them."""
    if not part.holds("raw"):
        return None
    digests = part.record_digests(computed=computed)
    # All tables of one row a product have one order; a file of somebody else may have another.
    if digests is None or len(digests) != part.size:
        return None
    keys, others = (part.read(table, ["product_id"])["product_id"] for table in ("raw", "products"))
    return digests if keys.equals(others) else None


def _are_held_once(catalog: Catalog) -> bool:
    """Whether products can be told by their keys; a catalogue that somebody put together may hold one twice."""
    keys = catalog.arrow("products", ["product_id"])["product_id"]
    return int(pc.count_distinct(keys, mode="all").as_py()) == len(catalog)


def judged_since(
    earlier: EarlierAudit,
    catalog: Catalog,
    checks: Sequence[Check],
    given: Mapping[str, str],
    judge: Judge,
) -> tuple[Iterator[AuditPart], int] | None:
    """Judge what changed since an earlier audit, and keep the rest.

    Parameters
    ----------
    earlier
        An audit of the same basis.
    catalog
        What is judged.
    checks
        By which checks.
    given
        From `digests_of_given`.
    judge
        Judges parts by some of them.

    Returns
    -------
    tuple, optional
        The parts, and how many products were judged by all checks. None where so much changed that a whole audit takes
        no longer.
    """
    digests = [digests_of(part, computed=True) for part in catalog.parts]
    if any(one is None for one in digests) or not _are_held_once(catalog):
        return None
    places = [earlier.places(one.digests) for one in digests if one is not None]
    changed = [np.flatnonzero(~one.found) for one in places]
    anew = sum(map(len, changed))
    if anew * _MOST_CHANGED > len(catalog):
        return None
    was = earlier.audit.checks
    crashed = {crash.check for crash in earlier.audit.crashes}
    alone = [
        _says_the_same(check, given, earlier.audit.given)
        and was[place].shipped
        and was[place].id not in crashed
        for place, check in enumerate(checks)
    ]
    pieces = [_judged_together(catalog, some, changed, checks, alone, judge) for some in _groups(changed)]
    # A rule that crashed on the changed products crashes on their whole part: its column is judged anew.
    crashed = {crash.check for part, _ in pieces for crash in part.crashes}
    kept = np.array([one and check.id not in crashed for one, check in zip(alone, checks, strict=True)], bool)
    others = [check for place, check in enumerate(checks) if not kept[place]]
    rest = judge(catalog.parts, others, False)
    return _combined(earlier.audit, places, digests, pieces, alone, kept, rest), anew


def _says_the_same(check: Check, given: Mapping[str, str], was: Mapping[str, str]) -> bool:
    """Whether a check says the same of the same record again."""
    rule = check.rule
    if not rule.record_alone or not rule.shipped:
        return False
    # Neighbours are what was prepared of all parts: where that is the same, so are they.
    return not rule.needs_all_parts or (rule.id in given and given[rule.id] == was.get(rule.id))


class _Changed(NamedTuple):
    """Which rows of judged products belong to which part, and where there."""

    number: int
    begin: int
    rows: Rows


def _groups(changed: Sequence[Rows]) -> Iterator[list[int]]:
    """Yield numbers of parts whose changed products are judged together."""
    group: list[int] = []
    for number, rows in enumerate(changed):
        if group and sum(len(changed[one]) for one in group) + len(rows) > _AT_ONCE:
            yield group
            group = []
        if len(rows):
            group.append(number)
    if group:
        yield group


def _judged_together(
    catalog: Catalog,
    numbers: Sequence[int],
    changed: Sequence[Rows],
    checks: Sequence[Check],
    alone: Sequence[bool],
    judge: Judge,
) -> tuple[AuditPart, list[_Changed]]:
    """Judge the changed products of some parts by what depends on the record alone."""
    parts, where, begin = [], [], 0
    for number in numbers:
        part, rows = catalog.parts[number], changed[number]
        mask = np.zeros(part.size, bool)
        mask[rows] = True
        parts.append(part.take(pa.array(mask)))
        where.append(_Changed(number, begin, rows))
        begin += len(rows)
    chosen = [check for check, is_alone in zip(checks, alone, strict=True) if is_alone]
    (judged,) = judge([Part.joined(parts)], chosen, True)
    return judged, where


def _combined(
    earlier: Audit,
    places: Sequence[_Places],
    digests: Sequence[RecordDigests | None],
    pieces: Sequence[tuple[AuditPart, Sequence[_Changed]]],
    alone: Sequence[bool],
    kept: Mask,
    rest: Iterator[AuditPart],
) -> Iterator[AuditPart]:
    """Put each part together from what is kept, what changed, and the columns that were judged anew."""
    own = np.flatnonzero(alone)
    taken = {one.number: (part, one.begin, one.rows) for part, where in pieces for one in where}
    for number, others in enumerate(rest):
        size = others.size
        states = np.empty((size, len(kept)), np.int8, order="F")
        states[:, ~kept] = others.states
        evidence = [_moved(others.evidence, np.flatnonzero(~kept), np.arange(size))]
        identity, order = [], []
        for give, rows, places_there, columns in _givers(
            earlier, places[number], taken.get(number), own, kept
        ):
            given = give.states
            for column, place in enumerate(columns):
                if place >= 0:
                    states[rows, place] = given[places_there, column]
            where = np.full(give.size, -1)
            where[places_there] = rows
            evidence.append(_moved(give.evidence, columns, where))
            identity.append(give.products.take(pa.array(places_there)))
            order.append(rows)
        products = pa.concat_tables(identity).take(pa.array(np.argsort(np.concatenate(order))))
        made = AuditPart.of(
            products, states, evidence_in_order(pa.concat_tables(evidence).combine_chunks()), others.crashes
        )
        records = digests[number]
        yield made if records is None else made.with_digests(records.digests)


def _givers(
    earlier: Audit,
    places: _Places,
    changed: tuple[AuditPart, int, Rows] | None,
    own: Rows,
    kept: Mask,
) -> Iterator[tuple[AuditPart, Rows, Rows, Rows]]:
    """Yield what gives cells to a part: the rows of the part, the rows there, and for each column there its place."""
    of_earlier = np.where(kept, np.arange(len(kept)), -1)
    for number in np.unique(places.part[places.found]).tolist():
        rows = np.flatnonzero(places.part == number)
        yield earlier.parts[number], rows, places.row[rows], of_earlier
    if changed is not None:
        part, begin, rows = changed
        yield part, rows, begin + np.arange(len(rows)), np.where(kept[own], own, -1)


def _moved(evidence: pa.Table, columns: Rows, products: Rows) -> pa.Table:
    """Return the evidence of columns and products that have a place (-1: none), at these places."""
    check, product = columns[evidence["check"].to_numpy()], products[evidence["product"].to_numpy()]
    is_kept = (check >= 0) & (product >= 0)
    found = evidence.filter(pa.array(is_kept))
    for name, values in (("check", check), ("product", product)):
        at = found.schema.get_field_index(name)
        found = found.set_column(at, found.schema.field(at), pa.array(values[is_kept], pa.int32()))
    return found
