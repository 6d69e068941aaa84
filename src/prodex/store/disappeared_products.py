"""Absence: which products have disappeared from a service, and of which nobody can tell.

A missing product is evidence only beside a control: a product that is known to be there, was requested in the same
way, and was received. A service whose index is being built anew, or that does not apply a filter, otherwise looks like
one whose products have gone.

Pure: it reads the lines of a journal and no page.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from prodex.files.untrusted import converted
from prodex.store.journal import LoadJournal
from prodex.store.journal_contents import (
    ABSENT,
    announced_for,
    askable_gtin,
    failure_of,
    keys_of,
    returned_all,
)
from prodex.store.journal_format import AbsenceCheck, Stage
from prodex.tables.records import Identity

#: If more of the products are missing at once than this share, or this number where there are few, that is a note, and
#: they are only removed if the service announces as many products as it lists: an index that is built anew looks the
#: same, but grows.
MANY, FEW = 0.1, 10

#: If more than this share is missing at once, nothing is removed: a load, which claims nothing about before, finds out.
TOO_MANY = 0.6

_NO_GTIN = "only a product with a GTIN can be requested by itself"
_NO_CONTROL = (
    "the service showed no product that could be requested together with it, as while its index is built anew"
)
_IGNORED = "a request by GTIN brought products that nobody requested: the service ignores this filter"
_NOT_WHOLE = "the reply to a request by GTIN was not whole"
_CONTROL_MISSING = "a request by GTIN did not bring a product that is known to be there"
_LIST_IS_WRONG = "other products that the list does not name came when they were requested by GTIN"
_TOO_MANY = (
    f"more than {TOO_MANY:.0%} of all products would disappear at once, as while the index of the service is built "
    "anew; if they are really gone, load again"
)
_IT_MOVES = (
    f"more than {MANY:.0%} of all products would disappear at once, and the service does not announce as many as it "
    "lists, as while its index is built anew"
)


class Absence(NamedTuple):
    """What became of the products that a whole listing of all keys does not name.

    Attributes
    ----------
    gone
        Those that have disappeared.
    doubtful
        Those of which that is not known, each with the reason; they are kept.
    listing
        The products that the listing of all keys names; None if there is none, or it is not whole.
    """

    gone: frozenset[str]
    doubtful: Mapping[str, str]
    listing: Mapping[str, Identity] | None


def absence_of(journal: LoadJournal, held: Mapping[str, object], left: Collection[str] = ()) -> Absence:
    """Decide which products have disappeared.

    The listing does not name them, and a call for their GTINs proves it. A reply proves nothing if it is incomplete, if
    it holds products that nobody requested, or if it lacks a control. All of them prove nothing if a product was
    received that the listing does not name, since then the listing was wrong, or if so many products would
    disappear at once that an index which is built anew is more likely.

    Parameters
    ----------
    journal
        What was requested, and what was received.
    held
        The products that there are, by key.
    left
        Products whose own record says that they do not belong to the query: that they go is no surprise.
    """
    if not listing_is_whole(journal):
        return Absence(frozenset(), {}, None)
    listing = keys_of(journal, Stage.LISTING)
    gone: set[str] = set()
    received: set[str] = set()
    doubtful: dict[str, str] = {}
    for window, note in (journal.notes.get(ABSENT) or {}).items():
        asked = converted(note, AbsenceCheck)
        keys = {key.product_id: key for page in journal.pages_of(window) for key in page.keys if key}
        missing = [product for product in asked.keys if product not in keys and product in held]
        received.update(product for product in asked.keys if product in keys)
        if why := _proves_nothing(asked, window, journal, keys):
            doubtful |= dict.fromkeys(missing, why)
        else:
            gone.update(missing)
    surprising = sum(product not in left for product in gone)
    if received:
        why = _LIST_IS_WRONG
    elif are_many(surprising, len(held), TOO_MANY):
        why = _TOO_MANY
    elif are_many(surprising, len(held)) and announced_for(journal, Stage.END) not in {None, len(listing)}:
        why = _IT_MOVES
    else:
        why = ""
    if why:
        doubtful |= dict.fromkeys(gone, why)
        gone.clear()
    unasked = held.keys() - listing.keys() - received - gone - doubtful.keys()
    has_control = any(askable_gtin(one) for one in listing.values()) if unasked else False
    doubtful |= dict.fromkeys(sorted(unasked), _NO_GTIN if has_control else _NO_CONTROL)
    return Absence(frozenset(gone), doubtful, listing)


def are_many(gone: int, of: int, share: float = MANY) -> bool:
    """Whether so many products are more than usually go at once.

    >>> are_many(10, 12), are_many(11, 60), are_many(23, 234), are_many(24, 234)
    (False, True, False, True)
    """
    return gone > max(share * of, FEW)


def listing_is_whole(journal: LoadJournal) -> bool:
    """Whether there is a listing of all keys that returned as many as it announced at any time, in every window."""
    # A listing that is cut short would make products look gone that are there.
    windows = {entry.window for entry in journal.entries() if entry.stage is Stage.LISTING}
    failed = tuple(
        name for name, why in journal.notes.items() if why and name.startswith(failure_of("listing"))
    )
    return (
        bool(windows)
        and not failed
        and all(
            returned_all(journal.pages_of(window), len(journal.keys_of_window(window))) for window in windows
        )
    )


def _proves_nothing(
    asked: AbsenceCheck, window: str, journal: LoadJournal, received: Mapping[str, Identity]
) -> str:
    """Return why the reply to a call for GTINs is no evidence that the others of them have disappeared; "" if it is."""
    controls = set(asked.controls)
    gtins = {gtin.zfill(14) for gtin in asked.gtins}
    pages = journal.pages_of(window)
    if not controls:
        return _NO_CONTROL
    if not all(key.filled_gtin in gtins for key in received.values()):
        return _IGNORED
    if not pages or failure_of(window) in journal.notes or not returned_all(pages, len(received)):
        return _NOT_WHOLE
    return "" if controls <= received.keys() else _CONTROL_MISSING
