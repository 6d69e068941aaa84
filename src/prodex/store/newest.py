"""Keys as a journal holds them: those of each page packed, and the newest copy of each product among them.

A load of a million products has a million keys. As Python objects they would take three times the memory of everything
else that a load holds; so they are columns, and become objects one page at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import repeat
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.store.journal_format import PageEntry, Stage
from prodex.tables.records import Identity

#: The place of a product in the journal: page, and index on that page.
Place = tuple[int, int]
#: For each page the indexes of the products that are taken from it.
Pages = tuple[tuple[int, tuple[int, ...]], ...]

Rows = npt.NDArray[np.int64]


#: Keys that are objects at the same time.
_AT_ONCE = 10_000


class Keys(Sequence[Identity | None]):
    """The keys of one page, as columns: read-only, and equal to the list that they were made of.

    Examples
    --------
    >>> keys = Keys([Identity("7", "2026-11-20T08:00:00"), None])
    >>> len(keys), list(keys)
    (2, [Identity(product_id='7', updated_at='2026-11-20T08:00:00', gtin=None), None])
    """

    __slots__ = ("columns",)

    def __init__(self, keys: Iterable[Identity | None]) -> None:
        nothing = (None, None, None)
        rows = [nothing if key is None else key for key in keys]
        columns = zip(*rows, strict=True) if rows else repeat((), 3)
        #: Key, updatedAt and GTIN; an item that is no product has no key.
        self.columns = tuple(pa.array(column, pa.string()) for column in columns)

    @classmethod
    def of(cls, ids: pa.Array, dates: pa.Array, gtins: pa.Array) -> Keys:
        """Return keys of the columns that they are kept as."""
        made = cls(())
        made.columns = (ids, dates, gtins)
        return made

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[Identity | None]:
        for start in range(0, len(self), _AT_ONCE):
            rows = zip(*(column.slice(start, _AT_ONCE).to_pylist() for column in self.columns), strict=True)
            yield from (None if row[0] is None else Identity(*row) for row in rows)

    @property
    def dates(self) -> pa.Array:
        """The `updatedAt` of each item, as a column."""
        return self.columns[1]

    @property
    def ids(self) -> list[str]:
        """The keys of the items that have one."""
        ids: list[str] = self.columns[0].drop_null().to_pylist()
        return ids

    @overload
    def __getitem__(self, place: int) -> Identity | None: ...
    @overload
    def __getitem__(self, place: slice) -> list[Identity | None]: ...
    def __getitem__(self, place: int | slice) -> Identity | list[Identity | None] | None:
        return list(self)[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    # Equal to any sequence with the same keys, such as a list, so that it cannot have a hash of its own.
    __hash__ = None  # type: ignore[assignment] # as of a list


class NewestCopy(NamedTuple):
    """The newest copy of a product in the journal: its updatedAt, its place, and what it was fetched for."""

    updated_at: str
    page: int
    item: int
    stage: Stage


class Newest(Mapping[str, NewestCopy]):
    """The newest copy of each product on some pages, by key, in the order in which products were first received.

    Of copies with the same updatedAt the last one received counts; dates are ISO text and compare as such.

    Examples
    --------
    >>> len(Newest([])), Newest([]).by_page()
    (0, ())
    """

    def __init__(self, entries: Iterable[PageEntry]) -> None:
        entries = [entry for entry in entries if entry.stage.has_products and len(entry.keys)]
        keys = [packed(entry.keys) for entry in entries]
        sizes = [len(one) for one in keys]
        ids, dates = (
            pa.chunked_array([one.columns[column] for one in keys], pa.string()) for column in (0, 1)
        )
        pages = np.repeat(np.array([entry.page for entry in entries], np.int64), sizes)
        items = np.concatenate([np.arange(size) for size in sizes] or [np.arange(0)])
        stages = np.repeat(np.array([_STAGES.index(entry.stage) for entry in entries], np.int64), sizes)
        # The first copy decides the order and the stage: a product that the pull found did not arrive later.
        first, newest = _first_and_newest(ids, dates)
        self._ids = ids.take(pa.array(first)).combine_chunks()
        self._dates = pc.fill_null(dates.take(pa.array(newest)), "").combine_chunks()
        self._pages, self._items, self._stages = pages[newest], items[newest], stages[first]

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[str]:
        yield from self._ids.to_pylist()

    def __contains__(self, product: object) -> bool:
        return product in self._copies

    def __getitem__(self, product: str) -> NewestCopy:
        return self._copies[product]

    @cached_property
    def _copies(self) -> dict[str, NewestCopy]:
        # Only needed to look up single products, as where a listing of all keys is compared with what was received.
        columns = (self._dates.to_pylist(), self._pages.tolist(), self._items.tolist(), self._stages.tolist())
        copies = (
            NewestCopy(date, page, item, _STAGES[stage])
            for date, page, item, stage in zip(*columns, strict=True)
        )
        return dict(zip(self, copies, strict=True))

    def among(self, products: Iterable[str]) -> dict[str, NewestCopy]:
        """Return the newest copies of some products, of those that were received."""
        wanted = pa.array(list(products), pa.string())
        places = pc.index_in(self._ids, wanted)
        rows = np.flatnonzero(places.is_valid().to_numpy(zero_copy_only=False))
        keys, dates = (column.take(pa.array(rows)).to_pylist() for column in (self._ids, self._dates))
        found = (self._pages[rows].tolist(), self._items[rows].tolist(), self._stages[rows].tolist())
        return {
            key: NewestCopy(date, page, item, _STAGES[stage])
            for key, date, page, item, stage in zip(keys, dates, *found, strict=True)
        }

    @property
    def dates(self) -> dict[str, str]:
        """The `updatedAt` of each product."""
        return dict(zip(self, self._dates.to_pylist(), strict=True))

    @property
    def arrived(self) -> int:
        """How many the pull did not find: they were received with the changes, or when they were looked for."""
        return int(np.count_nonzero(self._stages != _STAGES.index(Stage.PULL)))

    def by_page(self, without: Collection[str] = ()) -> Pages:
        """Return for each page the indexes of the products that are taken from it, without some products."""
        pages, items = self._pages, self._items
        if without:
            kept = ~pc.is_in(self._ids, pa.array(list(without), pa.string())).to_numpy(zero_copy_only=False)
            pages, items = pages[kept], items[kept]
        # By page, since a page is unpacked as a whole: each is read once.
        order = np.lexsort((items, pages))
        pages, items = pages[order], items[order]
        numbers, starts = np.unique(pages, return_index=True)
        each = np.split(items, starts[1:]) if len(starts) else []
        return tuple(
            (page, tuple(indexes.tolist())) for page, indexes in zip(numbers.tolist(), each, strict=True)
        )


_STAGES = tuple(Stage)


def packed(keys: Sequence[Identity | None]) -> Keys:
    """Return keys as columns."""
    return keys if isinstance(keys, Keys) else Keys(keys)


def repeated(entries: Iterable[PageEntry]) -> Iterator[tuple[str, Place]]:
    """Yield each copy of a product that is on some pages several times: its key, and its place.

    >>> page = PageEntry(7, "pull/0", "", "", 0, 3, None, None, 9, "", [Identity("1"), Identity("2"), Identity("1")])
    >>> list(repeated([page]))
    [('1', (7, 0)), ('1', (7, 2))]
    """
    entries = [entry for entry in entries if len(entry.keys)]
    if not entries:
        return
    ids = pa.chunked_array([packed(entry.keys).columns[0] for entry in entries], pa.string()).combine_chunks()
    # An item without a key is no copy of another one.
    numbers = pc.fill_null(ids.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
    counts = np.bincount(numbers[numbers >= 0], minlength=1)
    rows = np.flatnonzero((numbers >= 0) & (counts[numbers] > 1))
    starts = np.cumsum([0, *(len(entry.keys) for entry in entries)])
    for row, key in zip(rows.tolist(), ids.take(pa.array(rows)).to_pylist(), strict=True):
        number = int(np.searchsorted(starts, row, "right")) - 1
        yield key, (entries[number].page, row - int(starts[number]))


def distinct_keys(pages: Iterable[PageEntry]) -> int:
    """Count the products on some pages, each once."""
    ids = pa.chunked_array([packed(page.keys).columns[0] for page in pages], pa.string())
    return int(pc.count_distinct(ids).as_py())


def by_page(places: Iterable[Place]) -> Pages:
    """Return for each page of the journal the indexes of some products on it, in order."""
    pages: dict[int, list[int]] = {}
    for page, index in sorted(places):
        pages.setdefault(page, []).append(index)
    return tuple((page, tuple(indexes)) for page, indexes in pages.items())


def _first_and_newest(ids: pa.ChunkedArray, dates: pa.ChunkedArray) -> tuple[Rows, Rows]:
    """Return for each product the row of its first copy, and that of its newest one."""
    numbers = pc.fill_null(ids.combine_chunks().dictionary_encode().indices, -1).to_numpy(
        zero_copy_only=False
    )
    rows = np.flatnonzero(numbers >= 0)
    first = rows[np.sort(np.unique(numbers[rows], return_index=True)[1])]
    newest = first.copy()
    # Few products are repeated, and only these are compared one by one.
    if len(first) < len(rows):
        place = np.full(numbers.max() + 1, -1)
        place[numbers[first]] = np.arange(len(first))
        again = np.setdiff1d(rows, first, assume_unique=True)
        products = place[numbers[again]]
        several = np.unique(products)
        best = dict(zip(several.tolist(), dates.take(pa.array(first[several])).to_pylist(), strict=True))
        copies = zip(products.tolist(), again.tolist(), dates.take(pa.array(again)).to_pylist(), strict=True)
        for product, row, date in copies:
            # `>=`: of copies with the same date the last one received counts.
            if (date or "") >= (best[product] or ""):
                best[product], newest[product] = date, row
    return first, newest
