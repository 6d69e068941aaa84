"""Since when findings are open: from the saved audits of the same snapshots and the same profile.

A finding is open since the first audit that has it without interruption: product, check, attribute and language are the
same; its value may change. What an audit does not judge is no interruption: a check that is unknown or not in the
profile, and a product outside of a selection or of an incomplete load. Each saved audit keeps the moments of its own
findings, and those of what it did not judge, so that only the last one is read.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import OtherLayout, SnapshotError
from prodex.files.untrusted import is_folder
from prodex.quality.archive import AUDITS, open_audit, profile_of, read_carried
from prodex.quality.audit import Audit
from prodex.quality.audit_part import AuditPart, findings_of
from prodex.quality.check import Check
from prodex.quality.states import State
from prodex.store.archive import in_order
from prodex.tables.columns import Mask, combinations, whole

_LOG = logging.getLogger("prodex")

_Keys = npt.NDArray[np.uint64]

#: Spreads the digest of a product over all bits before it is combined with that of a check.
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class OpenFindings:
    """The findings that were open after an audit.

    Attributes
    ----------
    product, check, key
        Digests of the product, the check, and all that tells the finding from others; in the order of `key`.
    since
        Since when each is open, as `Audit.now`: microseconds since 1970.
    """

    product: _Keys
    check: _Keys
    key: _Keys
    since: npt.NDArray[np.int64]

    @classmethod
    def of(cls, product: _Keys, check: _Keys, key: _Keys, since: npt.NDArray[np.int64]) -> OpenFindings:
        """Put them in order; of several findings with one key the oldest is first."""
        order = np.lexsort((since, key))
        return cls(product[order], check[order], key[order], since[order])

    @classmethod
    def none(cls) -> OpenFindings:
        """Return what was open before the first audit."""
        empty = np.empty(0, np.uint64)
        return cls(empty, empty, empty, np.empty(0, np.int64))

    @classmethod
    def of_table(cls, table: pa.Table) -> OpenFindings:
        """Read what `table` has made."""
        product, check, key, since = (whole(column).to_numpy() for column in table.columns)
        return cls.of(product, check, key, since)

    def table(self, kept: Mask) -> pa.Table:
        """Return some of them, as they are kept on disk."""
        columns = (self.product, self.check, self.key, self.since)
        return pa.table([pa.array(column[kept]) for column in columns], CARRIED.names)

    def since_of(self, key: _Keys, now: int) -> npt.NDArray[np.int64]:
        """Return since when findings are open: now, unless they were open before."""
        if not len(self.key):
            return np.full(len(key), now)
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[place] == key, np.minimum(self.since[place], now), now)


#: What is kept of findings that an audit did not judge.
CARRIED = pa.schema([*((name, pa.uint64()) for name in ("product", "check", "key")), ("since", pa.int64())])


def with_first_seen(audit: Audit, name: str | None = None) -> tuple[Audit, pa.Table]:
    """Return an audit that says since when its findings are open, and what it has to keep of what it did not judge.

    Parameters
    ----------
    audit
        An audit that is about to be saved.
    name
        The name under which it will be; that of its snapshot unless given.
    """
    place = audits_beside(audit) if name is None else AUDITS.folder(name)
    before = OpenFindings.none() if place is None else _open_before(audit, place)
    return _continued(audit, before)


def first_seen_of(audit: Audit) -> tuple[pa.Array | None, ...]:
    """Return for each part since when its findings are open, in the order of `findings_of`; None where nobody knows."""
    if all(part.first_seen is not None for part in audit.parts):
        return tuple(part.first_seen for part in audit.parts)
    place = audits_beside(audit)
    if place is None:
        return (None,) * len(audit.parts)
    now = _microseconds(audit)
    try:
        before = _open_before(audit, place)
    except OtherLayout as error:
        _LOG.warning("It is not known since when findings are open. %s", error)
        return (None,) * len(audit.parts)
    return tuple(_as_times(before.since_of(_keys(part, audit.checks)[2], now)) for part in audit.parts)


def audits_beside(audit: Audit) -> Path | None:
    """Return the folder of the saved audits of the same name; None for a catalogue in memory."""
    if audit.folder is not None:
        return audit.folder.parent
    folder = audit.catalog_folder
    # What was exported has no name.
    return None if folder is None or not folder.name[:1].isdecimal() else folder.parent / AUDITS.below


def _open_before(audit: Audit, place: Path) -> OpenFindings:
    """Return what was open after the last audit of this profile before this one."""
    earlier = next(_earlier(audit, place), None)
    return OpenFindings.none() if earlier is None else _kept(earlier)


def _earlier(audit: Audit, place: Path) -> Iterator[Audit]:
    """Yield the saved audits of the profile before this one, the last first; what is damaged is left out.

    Raises
    ------
    OtherLayout
        When another version of prodex has saved one: findings that are open for long would seem new.
    """
    ordered = [place / one.name for one in in_order(AUDITS.places_in(place), lambda one: one)]
    if audit.folder in ordered:
        ordered = ordered[: ordered.index(audit.folder)]
    for folder in reversed(ordered):
        if not is_folder(folder) or profile_of(folder) != audit.profile:
            continue
        with suppress(SnapshotError):
            yield open_audit(folder)


def _kept(audit: Audit) -> OpenFindings:
    carried = None if audit.folder is None else read_carried(audit.folder)
    return _joined(audit, OpenFindings.none() if carried is None else OpenFindings.of_table(carried))


def _joined(audit: Audit, carried: OpenFindings) -> OpenFindings:
    """Return the findings of an audit that says since when they are open, with those that it did not judge."""
    pieces = [(carried.product, carried.check, carried.key, carried.since)]
    for part in audit.parts:
        if part.first_seen is not None:
            since = part.first_seen.cast(pa.int64()).to_numpy()
            pieces.append((*_keys(part, audit.checks), since))
    product, check, key, since = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
    return OpenFindings.of(product, check, key, since)


def _continued(audit: Audit, before: OpenFindings) -> tuple[Audit, pa.Table]:
    now = _microseconds(audit)
    parts = []
    left = np.full(len(before.key), not _is_whole(audit))
    names = np.array([_digest(check.id) for check in audit.checks], np.uint64)
    order = np.argsort(names)
    place = np.minimum(np.searchsorted(names[order], before.check), max(len(names) - 1, 0))
    column = np.full(len(before.key), -1)
    if len(names):
        column = np.where(names[order][place] == before.check, order[place], -1)
    # A check that is not in the profile was not judged, whatever became of the product.
    left |= column < 0
    for part in audit.parts:
        parts.append(part.with_first_seen(_as_times(before.since_of(_keys(part, audit.checks)[2], now))))
        if not len(before.key) or not part.size:
            continue
        ids = _product_digests(part)
        by_id = np.argsort(ids)
        row = np.minimum(np.searchsorted(ids[by_id], before.product), part.size - 1)
        judged = (ids[by_id][row] == before.product) & (column >= 0)
        states = part.states[by_id[row[judged]], column[judged]]
        left[judged] = states == State.UNKNOWN
    return replace(audit, parts=tuple(parts)), before.table(left)


def _is_whole(audit: Audit) -> bool:
    """Whether a product that the audit does not have is gone, and not just not asked for."""
    return audit.chosen is None and audit.origin.complete and len(audit) >= audit.origin.ledger.distinct


def _keys(part: AuditPart, checks: Sequence[Check]) -> tuple[_Keys, _Keys, _Keys]:
    """Return the digests of product, check and finding for the findings of a part."""
    evidence = part.evidence
    findings = findings_of(part, evidence)
    product = _product_digests(part)[findings.product]
    names = np.array([_digest(check.id) for check in checks], np.uint64)
    bare = len(findings.product) - findings.seen
    place = pa.array(findings.check)
    columns = []
    for name in ("attribute", "language"):
        own = pa.concat_arrays([whole(evidence[name]), pa.nulls(bare, pa.string())])
        usual = pa.array([getattr(check, name) for check in checks], pa.string())
        columns.append(pc.coalesce(own, usual.take(place)))
    of_row, (check, attribute, language) = combinations(place, *columns)
    seen = zip(check.to_pylist(), attribute.to_pylist(), language.to_pylist(), strict=True)
    where = np.array([_digest(f"{names[one]} {two} {three}") for one, two, three in seen], np.uint64)
    key = (product * _ODD) ^ where[of_row] if len(of_row) else np.empty(0, np.uint64)
    return product, names[findings.check] if len(names) else np.empty(0, np.uint64), key


def _product_digests(part: AuditPart) -> _Keys:
    return np.array([_digest(one or "") for one in part.column("product_id").to_pylist()], np.uint64)


def _digest(text: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big"
    )


def _microseconds(audit: Audit) -> int:
    return int(pa.scalar(audit.now, pa.timestamp("us")).cast(pa.int64()).as_py())


def _as_times(since: npt.NDArray[np.int64]) -> pa.Array:
    return pa.array(since, pa.int64()).cast(pa.timestamp("us"))
