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
from prodex.catalog.part import union
from prodex.errors import SnapshotDamaged
from prodex.store.build import BLOCK_BYTES, blocks_of
from prodex.store.journal import Journal
from prodex.store.parts import Files, StoredPart, path_of, write_part, write_tables
from prodex.store.plan import PRODUCTS_PER_PART
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import Tables, decoded, distinct

#: Row groups smaller than this are put together when they are copied: each merge adds one, and they would pile up.
_PIECE_BYTES = BLOCK_BYTES // 2

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
    """Make one part of the new snapshot; what is the same in it as in the old one is linked."""
    if old is None:
        return write_part(_coming(journal, part), folder, part.number)
    written: Files = {}
    if not part.linked:
        blocks = _changed(old, old_folder, part.leaving, map(decoded, _coming(journal, part)))
        written = write_tables(blocks, folder, part.number)
    for table in old.files.keys() - written.keys():
        _link(old_folder / path_of(table, old.number), folder / path_of(table, part.number))
    files = old.files | written
    return StoredPart(part.number, int(files["products"]["rows"]), files)


def _coming(journal: Path, part: PartMerge) -> Iterator[Tables]:
    """Flatten the products that come in, block by block; without any there is one empty block."""
    pages = Journal(journal, {})
    products = (product for page, indexes in part.pages for product in pages.products(page, indexes))
    return blocks_of(products)


def _changed(
    old: StoredPart, old_folder: Path, leaving: Collection[str], coming: Iterator[Tables]
) -> Iterator[Tables]:
    """Yield those tables of a part that change, piece by piece: the rows that stay, then the rows that come.

    A table with the same rows afterwards is not among them: of many changed products few have other pictures, and a
    product may come again as it was. Where more than one block comes, all tables count as changed.
    """
    first, second = next(coming), next(coming, None)
    part = old.open(old_folder)
    those = pa.array(list(leaving), pa.string())
    changed: list[str] = []
    for name, table in TABLES.items():
        if name in old.files and (problem := old.problem(name, old_folder)):
            raise SnapshotDamaged(
                f"{old_folder / path_of(name, old.number)}: {problem}. Load again, or begin with an earlier snapshot."
            )
        pieces: Iterable[pa.Table] = part.pieces(name, _PIECE_BYTES)
        # The records come last in TABLES, and are large: where anything changed, they did.
        if second is None and not (name == "raw" and changed):
            pieces = list(pieces)
            before = [_rows_of(piece, those) if table.per_product else piece for piece in pieces]
            after = [first[name]] if table.per_product else [*before, first[name]]
            if _same_rows(union(before, name), union(after, name), name):
                continue
        changed.append(name)
        for piece in pieces:
            yield {name: _without(piece, those, name) if table.per_product else piece}
    for block in (first, *([] if second is None else [second]), *coming):
        yield {name: block[name] for name in changed}


def _same_rows(before: pa.Table, after: pa.Table, name: str) -> bool:
    """Whether two tables have the same rows, in whatever order."""
    if not TABLES[name].per_product:
        before, after = distinct(before.combine_chunks()), distinct(after.combine_chunks())
    if before.num_rows != after.num_rows:
        return False
    both = union([before, after], name)
    order = [(column, "ascending") for column in both.column_names]
    one, other = both.slice(0, before.num_rows), both.slice(before.num_rows)
    return bool(one.sort_by(order).equals(other.sort_by(order)))


def _rows_of(table: pa.Table, products: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["product_id"], products))


def _without(table: pa.Table, products: pa.Array, name: str) -> pa.Table:
    """Return a table without the rows of some products, and `presence` without what is then absent from all."""
    if len(products):
        table = table.filter(pc.invert(pc.is_in(table["product_id"], products)))
    if name != "presence":
        return table
    seen = (c for c in table.column_names if c in _KEYS or pc.any(pc.not_equal(table[c], "absent")).as_py())
    return table.select(list(seen))


def _link(source: Path, target: Path) -> None:
    """Give a file a second name; where the file system has no links, copy it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)  # copying over what an interrupted merge left could write through a link
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _by_page(places: Iterable[Place]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    pages: dict[int, list[int]] = {}
    for page, index in sorted(places):
        pages.setdefault(page, []).append(index)
    return tuple((page, tuple(indexes)) for page, indexes in pages.items())
