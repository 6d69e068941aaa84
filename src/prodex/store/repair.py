"""Repair: damaged tables of a snapshot are built again from its records before a refresh continues with them.

Every table of a snapshot except `code_labels` follows from `raw`, which holds the products as received. If `raw` is
undamaged, the other tables of its part are built again, as a new snapshot; the damaged one is not changed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from prodex.catalog import Catalog
from prodex.errors import SnapshotDamaged
from prodex.progress import SILENT, Reporter
from prodex.store.merge import link_table
from prodex.store.parts import Files, StoredPart, write_tables
from prodex.store.snapshot import commit, stored_parts
from prodex.tables.declaration import TABLES
from prodex.tables.flatten import blocks_of

_LOG = logging.getLogger("prodex")

#: Loaded from the service and not made from the records; it can be loaded again.
_LABELS = "code_labels"

_SHOWN = 5


def repaired(catalog: Catalog, reporter: Reporter = SILENT) -> Catalog:
    """Return a snapshot if every file of it is as it was written, else a new snapshot with the damage repaired.

    Parameters
    ----------
    catalog
        An opened snapshot; whoever calls holds the lock of its folder.
    reporter
        Hears of how much has been read.

    Raises
    ------
    SnapshotDamaged
        When records themselves are damaged: `error.products` are those that have to be fetched again.
    """
    folder = catalog.folder
    assert folder is not None  # noqa: S101 - an opened snapshot has one
    parts = stored_parts(folder)
    damage = {}
    with reporter.phase("Checking the files of the snapshot", "products", len(catalog)) as show:
        done = 0
        for part in parts:
            if found := {table: wrong for table in part.files if (wrong := part.problem(table, folder))}:
                damage[part.number] = found
            done += part.products
            show(done, len(catalog))
    if not damage:
        return catalog
    for number, tables in damage.items():
        _LOG.warning("part %d of %s is damaged: %s", number, folder, ", ".join(sorted(tables)))
    # Everything else follows from `raw`; what is damaged there is known to the service alone.
    lost = [part for part in parts if "raw" in damage.get(part.number, ())]
    if lost:
        raise _records_lost(lost, damage, folder)

    def write(beside: Path) -> Iterable[StoredPart]:
        return [_written(part, damage.get(part.number, {}), folder, beside) for part in parts]

    with reporter.phase("Repairing damaged tables"):
        return commit(folder.parent.name, catalog.origin, write)


def _written(part: StoredPart, damage: Mapping[str, str], folder: Path, beside: Path) -> StoredPart:
    """Link a part that is good, and build another one from its records."""
    kept = {table for table in part.files if not damage or table in {"raw", _LABELS}} - damage.keys()
    for table in kept:
        link_table(part, folder, table, beside, part.number)
    files: Files = {table: dict(part.files[table]) for table in kept}
    if damage:
        records = part.open(folder).read("raw", ["json"])["json"]
        built = blocks_of(record.as_py().encode() for record in records)
        blocks = ({name: rows for name, rows in tables.items() if name not in kept} for tables in built)
        files |= write_tables(blocks, beside, part.number)
    if int(files["products"]["rows"]) != part.products:
        raise SnapshotDamaged(
            f"{folder} cannot be repaired: `raw` of part {part.number} has the records of {files['products']['rows']} "
            f"products instead of {part.products}. Load again."
        )
    return StoredPart(part.number, part.products, {name: files[name] for name in TABLES if name in files})


def _records_lost(
    lost: Iterable[StoredPart], damage: Mapping[int, Mapping[str, str]], folder: Path
) -> SnapshotDamaged:
    """Return the error that names the products without an undamaged record."""
    products: list[str] = []
    for part in lost:
        good = (t for t in ("products", "presence", "texts") if t not in damage[part.number])
        table = next(good, None)
        if table is not None:
            rows = part.open(folder).stored(table, ["product_id", "gtin"]).group_by(["product_id", "gtin"])
            found = rows.aggregate([]).to_pylist()
            products += [row["gtin"] or row["product_id"] for row in found]
    count = sum(part.products for part in lost)
    named = ", ".join(products[:_SHOWN]) + (" and more (error.products)" if products[_SHOWN:] else "")
    return SnapshotDamaged(
        f"{folder} cannot be refreshed: the records of {count:,} products are damaged and have to be fetched again"
        f"{f': {named}' if named else ''}. Load everything again (load_products with max_age=0), or refresh from an "
        "earlier snapshot; verify() lists the damaged files.",
        products=tuple(products),
    )
