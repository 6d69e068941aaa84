"""Since when findings are open: from the saved audits of the same snapshots and the same profile.

A finding is open since the first audit that has it without interruption: product, check, attribute and language are the
same; its value may change. What an audit does not judge is no interruption: a check that is unknown or not in the
profile, and a product outside of a selection, of an incomplete load, or of a query for other products. Each saved audit
keeps the moments of its own findings, and those of what it did not judge, so that only the last one is read.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import OtherLayout, SnapshotError
from prodex.files.untrusted import is_folder
from prodex.quality.archive import AUDITS, open_audit, profile_of, read_carried
from prodex.quality.audit import Audit
from prodex.quality.audit_part import AuditPart
from prodex.quality.check import Check
from prodex.quality.states import State
from prodex.query import ProductQuery
from prodex.store.archive import in_order
from prodex.tables.columns import Mask, Rows, as_one_chunk, combinations, looked_up

_LOG = logging.getLogger("prodex")

#: Spreads the digest of a product over all bits before it is combined with that of a check.
_ODD = np.int64(0x9E3779B97F4A7C15 - 2**64)

#: A finding that is open: digests of its product, of its check, and of all that tells it from others; and since when,
#: as `Audit.now`, in microseconds since 1970.
OPEN = pa.schema([(name, pa.int64()) for name in ("product", "check", "key", "since")])


def with_first_seen(audit: Audit, name: str | None = None) -> tuple[Audit, pa.Table]:
    """Return an audit that says since when its findings are open, and what it has to keep of what it did not judge.

    Parameters
    ----------
    audit
        An audit that is about to be saved.
    name
        The name under which it will be; that of its snapshot unless given.
    """
    earlier = _last_before(audit, audits_beside(audit) if name is None else AUDITS.folder(name))
    before = _open_after(earlier)
    left = before[~_is_judged(before, audit, earlier)]
    return replace(audit, parts=_dated(audit, before)), pa.Table.from_pandas(left, OPEN, preserve_index=False)


def dated_parts(audit: Audit) -> tuple[AuditPart, ...]:
    """Return the parts of an audit with findings that say since when they are open, as far as saved audits tell."""
    place = audits_beside(audit)
    if place is None or not any(part.first_seen.null_count for part in audit.parts):
        return audit.parts
    try:
        return _dated(audit, _open_after(_last_before(audit, place)))
    except OtherLayout as error:
        _LOG.warning("It is not known since when findings are open. %s", error)
        return audit.parts


def audits_beside(audit: Audit) -> Path | None:
    """Return the folder of the saved audits of the same name; None for a catalogue in memory."""
    if audit.folder is not None:
        return audit.folder.parent
    folder = audit.catalog_folder
    # What was exported has no name.
    return None if folder is None or not folder.name[:1].isdecimal() else folder.parent / AUDITS.below


def _last_before(audit: Audit, place: Path | None) -> Audit | None:
    """Return the last saved audit of this profile before this one, if there is one."""
    return None if place is None else next(_earlier(audit, place), None)


def _open_after(earlier: Audit | None) -> pd.DataFrame:
    """Return what was open after an audit, and of each finding whether it is only `carried` by it from one before."""
    found: list[pd.DataFrame] = [OPEN.empty_table().to_pandas().assign(carried=False)]
    if earlier is not None and earlier.folder is not None:
        for part in earlier.parts:
            since = part.first_seen.cast(pa.int64()).to_numpy()
            found.append(_findings(part, earlier.checks).assign(since=since, carried=False))
        carried = read_carried(earlier.folder)
        found += [] if carried is None else [carried.cast(OPEN).to_pandas().assign(carried=True)]
    return pd.concat(found, ignore_index=True)


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


def _dated(audit: Audit, before: pd.DataFrame) -> tuple[AuditPart, ...]:
    """Return the parts of an audit whose findings are open since they were before, the others since now."""
    now = int(pa.scalar(audit.now, pa.timestamp("us")).cast(pa.int64()).as_py())
    keys, since = before["key"].to_numpy(), before["since"].to_numpy()
    # Of several findings with one key the oldest is first, which is the one that is looked up.
    order = np.lexsort((since, keys))
    keys, since = keys[order], np.minimum(since[order], now)
    made = []
    for part in audit.parts:
        row = looked_up(keys, np.arange(len(keys)), _findings(part, audit.checks)["key"].to_numpy())
        times = np.append(since, now)[row]
        made.append(part.with_first_seen(pa.array(times, pa.int64()).cast(pa.timestamp("us"))))
    return tuple(made)


def _is_judged(before: pd.DataFrame, audit: Audit, earlier: Audit | None) -> Mask:
    """Say which of these findings an audit has judged; the others are open as before."""
    names, product, check = _digests(audit.checks), before["product"].to_numpy(), before["check"].to_numpy()
    order = np.argsort(names)
    # A check that is not in the profile was not judged, whatever became of the product.
    column = looked_up(names[order], order, check)
    judged = (column >= 0) & _is_gone(before, audit, earlier)
    for part in audit.parts:
        ids = _product_digests(part)
        order = np.argsort(ids)
        row = looked_up(ids[order], order, product)
        there = (row >= 0) & (column >= 0)
        judged[there] = part.states[row[there], column[there]] != State.UNKNOWN
    return judged


def _is_gone(before: pd.DataFrame, audit: Audit, earlier: Audit | None) -> Mask:
    """Say of each of these findings whether its product is gone where the audit does not have it."""
    whole = np.full(len(before), _is_whole(audit))
    asked = audit.origin.products_asked
    if earlier is None or asked is None or asked == ProductQuery():
        return whole
    if asked != earlier.origin.products_asked:
        return np.zeros(len(before), bool)
    # A whole audit by the same query has carried what is of none of its products.
    return whole & ~(before["carried"].to_numpy(bool) & _is_whole(earlier))


def _is_whole(audit: Audit) -> bool:
    """Whether all products that its query asks for are in the audit."""
    return audit.chosen is None and audit.origin.complete and len(audit) >= audit.origin.ledger.distinct


def _findings(part: AuditPart, checks: Sequence[Check]) -> pd.DataFrame:
    """Return the findings of a part, each with its product, its check and its own digest, as in `OPEN`."""
    findings = part.findings
    place = as_one_chunk(findings["check"])
    columns = [
        pc.coalesce(
            as_one_chunk(findings[name]),
            pa.array([getattr(one, name) for one in checks], pa.string()).take(place),
        )
        for name in ("attribute", "language")
    ]
    names, product = _digests(checks), _product_digests(part)[findings["product"].to_numpy()]
    of_row, values = combinations(place, *columns)
    seen = zip(*(one.to_pylist() for one in values), strict=True)
    where = np.array([_digest(f"{names[one]} {two} {three}") for one, two, three in seen], np.int64)
    return pd.DataFrame(
        {
            "product": product,
            "check": names[place.to_numpy()],
            "key": (product * _ODD) ^ where[of_row],
        }
    )


def _digests(checks: Sequence[Check]) -> Rows:
    return np.array([_digest(check.id) for check in checks], np.int64)


def _product_digests(part: AuditPart) -> Rows:
    return np.array([_digest(one or "") for one in part.column("product_id").to_pylist()], np.int64)


def _digest(text: str) -> int:
    content = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "big", signed=True)
