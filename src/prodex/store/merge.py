"""Merging by key: a snapshot and what changed since become a new one, of which only what changed is written.

Part by part, on any executor, as decided in `prodex.store.merge_plan`. The old snapshot stays as it is, byte for
byte: its files are linked or read, and nothing is ever written through a link.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from itertools import repeat
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.part import union
from prodex.errors import SnapshotDamaged
from prodex.executors import mapped, running
from prodex.files.atomic import make_folder
from prodex.progress import SILENT, Reporter
from prodex.store.build import products_of
from prodex.store.journal import LoadJournal
from prodex.store.merge_plan import PartMerge
from prodex.store.parts import Files, StoredPart, path_of, same_columns, write_part, write_tables
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import Tables, blocks_of, decoded, distinct

#: Row groups smaller than this are combined when they are copied: each merge adds one, and there would be ever more.
_PIECE_BYTES = 6_000_000

#: Tables of one row for each product, which are in the same order in all of them.
_ONE_ROW_EACH = frozenset({"products", "presence", "raw"})


def merge_parts(
    old: Sequence[StoredPart],
    old_folder: Path,
    journal: Path,
    plans: Sequence[PartMerge],
    folder: Path,
    executor: Executor | None = None,
    reporter: Reporter = SILENT,
) -> Iterator[StoredPart]:
    """Make the parts of the new snapshot, in order.

    A changed product keeps its place among the products, and new ones follow; if a part gets more than one block,
    all of it follows. In child tables, the rows that stay keep their order, and the new rows follow. Descriptors that
    are no longer used stay; attributes that no product has any more are no longer columns of `presence`.

    Parameters
    ----------
    old, old_folder
        The parts of the old snapshot, and its folder.
    journal
        Folder of the journal with the received products.
    plans
        What to do, from `plan_merge`.
    folder
        Where the parts go.
    executor
        Any `concurrent.futures` executor; threads by default.
    reporter
        Gets the number of products in the parts that are made.
    """
    # Only the total is counted here: a part that is linked as a whole counts with all its products.
    olds = [None if part.old is None else old[part.old] for part in plans]
    stay = sum(0 if part is None else part.products for part in olds)
    total = stay + sum(products_of(part) - len(part.leaving) for part in plans)
    with running(executor) as runner, reporter.phase("Merging tables", "products", total) as phase:
        jobs = (olds, repeat(old_folder), repeat(journal), plans, repeat(folder))
        made: list[StoredPart] = []
        for part in mapped(runner, merge_part, *jobs, folders=[old_folder, journal]):
            made.append(part)
            phase.add(part.products)
    yield from same_columns(made, folder, forgetting=True)


def merge_part(
    old: StoredPart | None, old_folder: Path, journal: Path, part: PartMerge, folder: Path
) -> StoredPart:
    """Make one part of the new snapshot; what is the same in it as in the old one is linked."""
    if old is None:
        return write_part(_coming(journal, part), folder, part.number)
    written: Files = {}
    if not part.linked:
        blocks = _changed_tables(old, old_folder, part.leaving, map(decoded, _coming(journal, part)))
        written = write_tables(blocks, folder, part.number)
    for table in old.files.keys() - written.keys():
        link_table(old, old_folder, table, folder, part.number)
    files = old.files | written
    return StoredPart(part.number, int(files["products"]["rows"]), files)


def _coming(journal: Path, part: PartMerge) -> Iterator[Tables]:
    """Flatten the new products of a part, block by block; without any there is one empty block."""
    pages = LoadJournal(journal, {})
    return blocks_of(pages.products_of(part.pages))


def _changed_tables(
    old: StoredPart, old_folder: Path, leaving: Collection[str], coming: Iterator[Tables]
) -> Iterator[Tables]:
    """Yield those tables of a part that change, piece by piece: the rows that stay, then the new rows.

    A table that would have the same rows again is left out: few of many changed products have new pictures, and a
    product may be returned unchanged. If there is more than one new block, all tables count as changed.
    """
    # With one block of new products its rows can be put in place of the old ones; more blocks are appended.
    first, second = next(coming), next(coming, None)
    part = old.open(old_folder)
    those = pa.array(list(leaving), pa.string())
    changed: list[str] = []
    for name, table in TABLES.items():
        _refuse_damage(old, old_folder, name)
        pieces: Iterable[pa.Table] = part.pieces(name, _PIECE_BYTES)
        # `raw` is the last of TABLES, and large: if any other table has changed, it has as well.
        if second is None and not (name == "raw" and changed):
            pieces = list(pieces)
            before = [_rows_of(piece, those) if table.per_product else piece for piece in pieces]
            after = [first[name]] if table.per_product else [*before, first[name]]
            if _same_rows(union(before, name), union(after, name), name):
                continue
        changed.append(name)
        for piece in pieces:
            if second is None and name in _ONE_ROW_EACH:
                yield {name: _with_rows_replaced(piece, first[name], those, name)}
            else:
                yield {name: _without_products(piece, those) if table.per_product else piece}
    if second is None:
        yield {
            name: _without_products(first[name], those) if name in _ONE_ROW_EACH else first[name]
            for name in changed
        }
        return
    for block in (first, second, *coming):
        yield {name: block[name] for name in changed}


def _same_rows(before: pa.Table, after: pa.Table, name: str) -> bool:
    """Whether two tables have the same rows, in whatever order."""
    if not TABLES[name].per_product:
        before, after = distinct(before.combine_chunks()), distinct(after.combine_chunks())
    if before.num_rows != after.num_rows:
        return False
    both = union([before, after], name)
    # Sorted by all columns: the place of a row in its table is no content.
    order = [(column, "ascending") for column in both.column_names]
    one, other = both.slice(0, before.num_rows), both.slice(before.num_rows)
    return bool(one.sort_by(order).equals(other.sort_by(order)))


def _rows_of(table: pa.Table, products: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["product_id"], products))


def _without_products(table: pa.Table, products: pa.Array) -> pa.Table:
    return table.filter(pc.invert(pc.is_in(table["product_id"], products))) if len(products) else table


def _with_rows_replaced(table: pa.Table, coming: pa.Table, leaving: pa.Array, name: str) -> pa.Table:
    """Return a table of one row for each product; a new row takes the place of the old one that it replaces."""
    # One `take` from old and new rows together keeps the order that all tables of one row each share.
    own = pa.array(np.arange(table.num_rows), pa.int32())
    newer = pc.index_in(table["product_id"].combine_chunks(), coming["product_id"].combine_chunks())
    stays = pc.or_(newer.is_valid(), pc.invert(pc.is_in(table["product_id"].combine_chunks(), leaving)))
    rows = pc.coalesce(pc.add(newer, table.num_rows), own)
    return union([table, coming], name).take(rows.filter(stays))


def link_table(part: StoredPart, folder: Path, table: str, target: Path, number: int) -> None:
    """Use a table of a part unchanged in another snapshot, after checking that it is as it was written.

    Raises
    ------
    SnapshotDamaged
        When it is not; `prodex.load.refresh` says what can be done.
    """
    _refuse_damage(part, folder, table)
    _link(folder / path_of(table, part.number), target / path_of(table, number))


def _refuse_damage(part: StoredPart, folder: Path, table: str) -> None:
    # A link to a damaged file would carry the damage into every later snapshot, and so would a copy of its rows.
    if problem := part.problem(table, folder):
        raise SnapshotDamaged(
            f"{folder / path_of(table, part.number)}: {problem}. Load again, or begin with an earlier snapshot."
        )


def _link(source: Path, target: Path) -> None:
    """Give a file a second name (hard link); copy it if the file system has no links."""
    make_folder(target.parent, private=True)
    # What an interrupted merge left may be a hard link: copying onto it would change the file of an old snapshot.
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
