"""The contents of a journal: the newest copy of each product, and the keys received for each purpose.

Pure: it reads the lines of a journal and no page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from prodex.store.journal import LoadJournal
from prodex.store.journal_format import PageEntry, Stage
from prodex.store.newest import Newest
from prodex.tables.records import Identity

#: The note in which a journal keeps what was asked for by GTIN to see whether it has gone: for each window the keys,
#: their GTINs, and products that are known to be there; see `prodex.store.disappeared_products`.
ABSENT = "absent"

#: What can be asked for by GTIN.
_GTIN = re.compile("[0-9]{1,14}")


def newest(journal: LoadJournal) -> Newest:
    """Return the newest copy of each product, in the order in which the products were first received."""
    return Newest(journal.entries())


def dates_by_key(journal: LoadJournal) -> Mapping[str, str | None]:
    """Return key and updatedAt of each product that was received."""
    return newest(journal).dates


def keys_of(journal: LoadJournal, stage: Stage) -> dict[str, Identity]:
    """Return the keys of all products that were received for a purpose, such as those that the listing names."""
    return {
        key.product_id: key
        for entry in journal.entries()
        if entry.stage is stage
        for key in entry.keys
        if key
    }


def announced_for(journal: LoadJournal, stage: Stage) -> int | None:
    """Return the sum of what was announced for the whole of each part of the query; None if that is not known."""
    totals = [c.total for name, c in journal.counts.items() if c.stage is stage and name.count("/") == 1]
    known = [total for total in totals if total is not None]
    return sum(known) if known and len(known) == len(totals) else None


def is_newer(updated_at: str | None, than: str | None) -> bool:
    """Whether a time of update is later than another, to the second: tables hold no fractions of it.

    >>> is_newer("2026-11-20T08:00:00.9", "2026-11-20T08:00:00"), is_newer("2026-11-20T08:00:01", None)
    (False, True)
    """
    return (updated_at or "")[:19] > (than or "")[:19]


def is_another(updated_at: str | None, than: str | None) -> bool:
    """Whether a time of update is that of another state than the one before: later, or set back.

    A product that was put back to an earlier state may have the time of that state. Without a time of update, nothing
    tells one state from another.

    >>> is_another("2026-11-20T08:00:00", "2026-11-21T08:00:00"), is_another(None, "2026-11-21T08:00:00")
    (True, False)
    """
    return updated_at is not None and updated_at[:19] != (than or "")[:19]


def failure_of(window: str) -> str:
    """Return the name under which a journal notes that a window could not be fetched."""
    return f"failed {window}"


def contradiction_of(about: str) -> str:
    """Return the name under which a journal notes something that the service contradicts itself in."""
    return f"contradiction {about}"


def askable_gtin(one: Identity) -> str | None:
    """Return the GTIN that a product can be asked for by, if it has one; suppliers type other things as well.

    >>> askable_gtin(Identity("7", gtin="3036811359935")), askable_gtin(Identity("7", gtin="to follow"))
    ('3036811359935', None)
    """
    return one.gtin if one.gtin is not None and _GTIN.fullmatch(one.gtin) else None


def returned_all(pages: Sequence[PageEntry], received: int) -> bool:
    """Say whether pages ended, and gave at least as many products as they announced at any time."""
    totals = [page.total_results for page in pages if page.total_results is not None]
    return bool(pages) and received >= max(totals, default=0)
