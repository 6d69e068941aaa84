"""Copies: several records with one key, and whether they are states of one product, or two products.

A product that is updated between two pages may be received again: it is the same one, and its newest state counts.
But a service may also have two records with one GTIN and no id, or give one id to two products. A key names one product
in every table, so one of these records is left out; it is listed with what contradicts it, and the load is incomplete.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any, NamedTuple

from prodex.catalog.load_ledger import product_named
from prodex.clock import ANY_ZONE
from prodex.store.disappeared_products import listing_is_whole
from prodex.store.journal import LoadJournal
from prodex.store.journal_format import PageEntry, Stage
from prodex.store.newest import Newest, Place, packed, repeated
from prodex.tables.records import identify
from prodex.tables.values import read_json

#: What says of a record which product it is of, besides its key; the best first.
_FACTS = (
    ("gtin",),
    ("uuid",),
    ("product_key", "product_id"),
    ("product_key", "target_market_id"),
    ("product_key", "organization_id"),
    ("product_key", "source_id"),
    ("owner", "id"),
    ("owner", "uuid"),
    ("owner", "name"),
    ("createdAt",),
)


class Copy(NamedTuple):
    """One record of several with the same key.

    Attributes
    ----------
    product_id, gtin
        Its key, and its GTIN.
    updated_at
        When it was last updated, as it says; None if it does not.
    facts
        What else it says of which product it is, by wire path.
    content
        The whole record.
    reply
        Number of the reply that contained it.
    received_at
        When that reply was received; None for a record that was not received just now.
    """

    product_id: str
    gtin: str | None
    updated_at: str | None
    facts: Mapping[str, str]
    content: Any
    reply: int
    received_at: datetime | None

    @classmethod
    def of(cls, record: bytes, reply: int = 0, received_at: datetime | None = None) -> Copy | None:
        """Read a record; None if it is no product."""
        identity = identify(record)
        if identity is None:
            return None
        content = read_json(record)
        facts = {".".join(path): text for path in _FACTS if (text := _comparable_scalar(content, path))}
        if (gtin := identity.filled_gtin) is not None:
            facts["gtin"] = gtin
        return cls(
            identity.product_id, identity.gtin, identity.updated_at, facts, content, reply, received_at
        )

    @property
    def is_keyed_by_gtin(self) -> bool:
        """Whether its GTIN has to do as its key, which the versions of an article in several markets share."""
        return self.product_id == self.gtin and not _comparable_scalar(self.content, ("id",))


def contradiction(one: Copy, other: Copy) -> str:
    """Return in what two records with one key contradict each other; "" if they may be states of one product.

    An update explains any difference but that of the GTIN, if the copies were received in the order of their dates.
    Where the GTIN is the only key, it explains nothing that says which product it is, and only if it is dated after the
    older record was received.

    Examples
    --------
    >>> one = Copy.of(b'{"id": 7, "gtin": "03036811359935", "updatedAt": "2026-11-20T08:00:00"}')
    >>> later = Copy.of(b'{"id": 7, "gtin": "03036811359935", "updatedAt": "2026-11-20T09:00:00"}', reply=1)
    >>> other = Copy.of(b'{"id": 7, "gtin": "03663215000110", "updatedAt": "2026-11-20T09:00:00"}', reply=1)
    >>> contradiction(one, later), contradiction(one, other)
    ('', 'gtin 03036811359935 and 03663215000110')
    """
    if one.content == other.content:
        return ""
    differing = _differing_facts(one, other)
    is_bare = one.is_keyed_by_gtin
    was_updated = one.reply != other.reply and _is_update(one, other)
    if was_updated and is_bare:
        was_updated = _is_recent(one, other)
    if differing and (is_bare or not was_updated or "gtin" in differing):
        return _differences_in_words(one, other, differing)
    if one.reply == other.reply or (is_bare and not was_updated):
        return "other contents"
    return ""


def replacement(old: Copy, new: Copy) -> str:
    """Return in what a record contradicts the one of an earlier load that it would replace; "" if it is its new state.

    A supplier may correct a GTIN, and a service may give out new uuids; a record of which both are others is of another
    product. Where the GTIN is the only key, a record for another market is.

    Examples
    --------
    >>> old = Copy.of(b'{"id": 7, "gtin": "03036811359935", "uuid": "a"}')
    >>> replacement(old, Copy.of(b'{"id": 7, "gtin": "03663215000110", "uuid": "a"}'))
    ''
    >>> replacement(old, Copy.of(b'{"id": 7, "gtin": "03663215000110", "uuid": "b"}'))
    'gtin 03036811359935 and 03663215000110; uuid a and b'
    """
    decisive = {"product_key.target_market_id", "createdAt"} if old.is_keyed_by_gtin else {"gtin", "uuid"}
    differing = [path for path in _differing_facts(old, new) if path in decisive]
    if len(differing) < (1 if old.is_keyed_by_gtin else len(decisive)):
        return ""
    return _differences_in_words(old, new, differing)


def left_out(journal: LoadJournal, received: Newest, *, is_from_service: bool = True) -> dict[str, list[str]]:
    """Return the records of a journal that are left out although they are of other products, by key, a line for each.

    Parameters
    ----------
    journal
        The pages that were received.
    received
        The copy of each product that is taken.
    is_from_service
        Whether the records are from a service just now; records in files may be older than their dates say.
    """
    entries = journal.entries()
    lines: dict[str, list[str]] = {}
    products = [entry for entry in entries if entry.stage.has_products]
    # Each key of the listing names a product, too: it shows what an earlier load left out, even without a word.
    listing = [entry for entry in entries if entry.stage is Stage.LISTING]
    differing = [_differing(journal, several, is_from_service) for several in (products, listing)]
    once = _listed_once(journal, listing) if any(differing) else frozenset()
    for copies_by_key in differing:
        chosen = received.among(copies_by_key)
        for key, copies in copies_by_key.items():
            # One record has this key at the end: earlier records were replaced under it, and nothing is left out.
            if key in lines or key in once:
                continue
            place = chosen[key][1:3] if key in chosen else None
            kept = copies.pop(place) if place in copies else copies.popitem()[1]
            found = (
                left_out_line(copy, why) for copy in copies.values() if (why := contradiction(copy, kept))
            )
            # The same record may have been received several times, as where a window was fetched again.
            if several_lines := list(dict.fromkeys(found)):
                lines[key] = several_lines
    return lines


def _listed_once(journal: LoadJournal, listing: Sequence[PageEntry]) -> Set[str]:
    """Return the keys that a whole listing names exactly once; none if it is not whole."""
    if not listing_is_whole(journal):
        return frozenset()
    return {key for entry in listing for key in packed(entry.keys).ids} - {
        key for key, _ in repeated(listing)
    }


def left_out_line(copy: Copy, why: str) -> str:
    """Return what a ledger says of a record that is left out."""
    return (
        f"{product_named(copy.product_id, copy.gtin)}: another record has the same key, and is not the same product "
        f"({why}); this one is left out"
    )


def _differing(
    journal: LoadJournal, entries: Sequence[PageEntry], is_from_service: bool
) -> dict[str, dict[Place, Copy]]:
    """Return the copies of each product that was received several times, and not always as the same bytes."""
    by_page: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for key, (page, item) in repeated(entries):
        by_page[page].append((item, key))
    # Most repeated products are the same, byte for byte, and a hash of each is all that is held of them.
    contents: dict[str, set[int]] = defaultdict(set)
    for page, wanted in by_page.items():
        items, keys = zip(*wanted, strict=True)
        for key, record in zip(keys, journal.products(page, items), strict=True):
            contents[key].add(hash(record))
    received = {entry.page: entry.received_at for entry in entries}
    differing: dict[str, dict[Place, Copy]] = defaultdict(dict)
    for page, wanted in by_page.items():
        if not (some := [(item, key) for item, key in wanted if len(contents[key]) > 1]):
            continue
        items, keys = zip(*some, strict=True)
        for item, key, record in zip(items, keys, journal.products(page, items), strict=True):
            # In files, each record is a reply of its own: the records may be of several days.
            reply, moment = (page, received[page]) if is_from_service else (len(differing[key]), None)
            if (copy := Copy.of(record, reply, moment)) is not None:
                differing[key][page, item] = copy
    return differing


def _differing_facts(one: Copy, other: Copy) -> list[str]:
    """Return the facts that both records have, and that differ."""
    return [path for path, text in one.facts.items() if text != other.facts.get(path, text)]


def _differences_in_words(one: Copy, other: Copy, paths: Iterable[str]) -> str:
    return "; ".join(f"{path} {one.facts[path]} and {other.facts[path]}" for path in paths)


def _is_update(one: Copy, other: Copy) -> bool:
    """Whether two records have different dates, as two states of one product do."""
    return bool(one.updated_at and other.updated_at) and one.updated_at != other.updated_at


def _is_recent(one: Copy, other: Copy) -> bool:
    """Whether the newer of two records can have been updated after the older one was received."""
    older, newer = sorted((one, other), key=lambda copy: copy.updated_at or "")
    if older.received_at is None:
        return True
    try:
        moment = datetime.fromisoformat(newer.updated_at or "").replace(tzinfo=UTC)
    except ValueError:
        return False
    # The date is a local time of any zone.
    return moment >= older.received_at - ANY_ZONE


def _comparable_scalar(content: Any, path: tuple[str, ...]) -> str:
    """Return a scalar of a record as text, by which it is compared; "" if there is none."""
    for name in path:
        content = content.get(name) if isinstance(content, dict) else None
    if isinstance(content, bool | dict | list) or content is None:
        return ""
    text = content if isinstance(content, str) else json.dumps(content, default=str)
    return text.strip().casefold()
