"""Merging by key: a snapshot and what changed since become a new one, of which only the changed parts are written.

First decided, from keys alone; then done, part by part, on any executor. The old snapshot stays as it is, byte for
byte: its files are linked or read, and nothing is ever written through a link.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from os import cpu_count
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.store.build import blocks_of
from prodex.store.journal import Journal
from prodex.store.parts import StoredPart, path_of, write_part
from prodex.store.plan import PRODUCTS_PER_PART
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import Tables, decoded

_KEYS = TABLES["presence"].schema.names

#: Where a product stands in the journal: page, and index on that page.
Place = tuple[int, int]


class PartMerge(NamedTuple):
    """What one part of the new snapshot is made of.

    Attributes
    ----------
    number
        Its number.
    old
        Number of the old part that goes on in it, or None for a part of new products only.
    leaving
        The products of the old part whose rows go, because a newer version came or because they are gone.
    pages
        The products that come in: for each page of the journal the indexes.
    """

    number: int
    old: int | None
    leaving: frozenset[str]
    pages: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def linked(self) -> bool:
        """Whether the old part goes on as it is."""
        return self.old is not None and not self.leaving and not self.pages


class MergePlan(NamedTuple):
    """What a merge will do.

    Attributes
    ----------
    parts
        The parts of the new snapshot.
    added, changed, gone
        How many products are new, replaced by what came, and taken out.
    """

    parts: tuple[PartMerge, ...]
    added: int
    changed: int
    gone: int


def plan_merge(
    held: Iterable[Collection[str]],
    came: Mapping[str, Place],
    gone: Collection[str] = (),
    *,
    products_per_part: int = PRODUCTS_PER_PART,
) -> MergePlan:
    """Decide which parts go on as they are, which are written anew, and where new products go.

    A changed product stays in the part that held it. New products fill up parts that are written anyway, then the
    smallest ones, then new parts. A part that loses all its products is dropped; the first one stays, since it holds
    the labels of codes, and a catalogue has one part at least.

    Parameters
    ----------
    held
        The product ids of each old part.
    came
        What came, each product once: its id, and where it stands in the journal.
    gone
        The ids of products that are no longer there. What came is there, whatever this says.
    products_per_part
        How many products a part is filled up to.

    Examples
    --------
    >>> decided = plan_merge([["1", "2"], ["3"]], {"2": (0, 0), "4": (0, 1)}, products_per_part=2)
    >>> [(part.old, sorted(part.leaving), part.pages) for part in decided.parts]
    [(0, ['2'], ((0, (0,)),)), (1, [], ((0, (1,)),))]
    """
    gone = frozenset(gone) - came.keys()
    sizes: list[int] = []
    leaving: list[frozenset[str]] = []
    coming: list[list[Place]] = []
    replaced: set[str] = set()
    for products in held:
        left = frozenset(product for product in products if product in came or product in gone)
        back = [product for product in left if product in came and product not in replaced]
        replaced.update(back)
        leaving.append(left)
        coming.append([came[product] for product in back])
        sizes.append(len(products) - len(left) + len(back))
    added = sorted(place for product, place in came.items() if product not in replaced)
    rooms = sorted(range(len(sizes)), key=lambda old: (not leaving[old], sizes[old]))
    left_to_place = added
    for old in rooms:
        room = max(products_per_part - sizes[old], 0)
        coming[old] += left_to_place[:room]
        left_to_place = left_to_place[room:]
    merged = [
        PartMerge(0, old, leaving[old], _by_page(coming[old]))
        for old in range(len(sizes))
        if old == 0 or sizes[old] or coming[old]
    ]
    merged += [
        PartMerge(0, None, frozenset(), _by_page(left_to_place[start : start + products_per_part]))
        for start in range(0, len(left_to_place), products_per_part)
    ]
    numbered = tuple(part._replace(number=number) for number, part in enumerate(merged))
    went = sum(map(len, leaving)) - len(replaced)
    return MergePlan(numbered, len(added), len(replaced), went)


def held_products(catalog: Catalog) -> Iterator[list[str]]:
    """Yield the product ids of each part of a catalogue, one part in memory at a time."""
    for part in catalog.parts:
        yield part.read("products", ["product_id"])["product_id"].to_pylist()


def merge_parts(
    old: Sequence[StoredPart],
    old_folder: Path,
    journal: Path,
    plans: Sequence[PartMerge],
    folder: Path,
    executor: Executor | None = None,
) -> Iterator[StoredPart]:
    """Make the parts of the new snapshot, in order.

    In a part that is written anew, the rows that stay keep their order, and the rows of what came follow. Descriptors
    that nobody uses any more stay; attributes that no product has any more are no longer columns of `presence`.

    Parameters
    ----------
    old, old_folder
        The parts of the old snapshot, and its folder.
    journal
        Folder of the journal with what came.
    plans
        What to do, from `plan_merge`.
    folder
        Where the parts go.
    executor
        Any `concurrent.futures` executor; threads by default.
    """
    olds = [None if part.old is None else old[part.old] for part in plans]
    places = ([old_folder] * len(plans), [journal] * len(plans), plans, [folder] * len(plans))
    if executor is not None:
        yield from executor.map(merge_part, olds, *places)
        return
    with ThreadPoolExecutor(cpu_count()) as threads:
        yield from threads.map(merge_part, olds, *places)


def merge_part(
    old: StoredPart | None, old_folder: Path, journal: Path, part: PartMerge, folder: Path
) -> StoredPart:
    """Make one part of the new snapshot: link it, or write it anew."""
    if old is None:
        return write_part(_coming(journal, part), folder, part.number)
    if part.linked:
        for table in old.files:
            _link(old_folder / path_of(table, old.number), folder / path_of(table, part.number))
        return old._replace(number=part.number)
    blocks = [_staying(old, old_folder, part.leaving), *map(decoded, _coming(journal, part))]
    return write_part(blocks, folder, part.number)


def _coming(journal: Path, part: PartMerge) -> Iterator[Tables]:
    """Flatten the products that come in."""
    pages = Journal(journal, {})
    products = (product for page, indexes in part.pages for product in pages.products(page, indexes))
    return blocks_of(products)


def _staying(old: StoredPart, old_folder: Path, leaving: Collection[str]) -> dict[str, pa.Table]:
    """Read an old part without the rows of some products."""
    stored = old.open(old_folder)
    tables = {name: stored.read(name) for name in TABLES}
    if leaving:
        those = pa.array(leaving, pa.string())
        for name, table in TABLES.items():
            if table.per_product:
                stays = pc.invert(pc.is_in(tables[name]["product_id"], those))
                tables[name] = tables[name].filter(stays)
    presence = tables["presence"]
    seen = [c for c in presence.column_names if c in _KEYS or _is_seen(presence[c])]
    return tables | {"presence": presence.select(seen)}


def _is_seen(faces: pa.ChunkedArray) -> bool:
    """Whether an attribute is anything but absent from all products."""
    return bool(pc.any(pc.not_equal(faces, "absent")).as_py())


def _link(source: Path, target: Path) -> None:
    """Give a file a second name; where the file system has no links, copy it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _by_page(places: Iterable[Place]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    pages: dict[int, list[int]] = {}
    for page, index in sorted(places):
        pages.setdefault(page, []).append(index)
    return tuple((page, tuple(indexes)) for page, indexes in pages.items())
