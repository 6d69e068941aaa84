"""Where a catalogue holds what cannot be read, in sentences; see `prodex.tables.unreadable`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pyarrow as pa

from prodex.catalog import Catalog, Part
from prodex.executors import side_by_side
from prodex.phrases import counted
from prodex.tables.columns import as_one_chunk
from prodex.tables.declared_paths import DeclaredKind
from prodex.tables.unreadable import Unreadable

#: Products that a line names.
_NAMED = 3

_DECLARED_WORDS = {
    DeclaredKind.LEAF: "a value that fits its column",
    DeclaredKind.OBJECT: "an object with what is declared for it",
    DeclaredKind.ROWS: "a list of objects with what is declared for them",
    DeclaredKind.TEXTS: "texts, each with its language",
    DeclaredKind.AMOUNTS: "amounts, each with its unit",
    DeclaredKind.CODES: "codes",
}


def unreadable_places(catalog: Catalog) -> list[tuple[str, str]]:
    """Return a line for each wire path at which a catalogue holds what cannot be read: the path, and what it means.

    >>> import prodex
    >>> unreadable_places(prodex.flatten([{"id": 7, "brand": "Acme"}]))[0][0]
    'brand'
    """
    products: dict[tuple[str, DeclaredKind], list[str]] = defaultdict(list)
    for found in side_by_side(_ids_by_place, catalog.parts):
        for place, ids in found.items():
            products[place] += ids
    return [
        (path, _line(kind, list(dict.fromkeys(ids))))
        for (path, kind), ids in sorted(products.items(), key=lambda one: one[0])
    ]


def _ids_by_place(part: Part) -> dict[tuple[str, DeclaredKind], list[str]]:
    unreadable = Unreadable.of(part)
    found: dict[tuple[str, DeclaredKind], list[str]] = defaultdict(list)
    if unreadable.found:
        ids = as_one_chunk(part.read("products", ["product_id"])["product_id"])
        for place, rows in unreadable.found.items():
            found[place.path, place.kind] += ids.take(pa.array(rows)).to_pylist()
    return found


def _line(kind: DeclaredKind, ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return (
        f"{counted(len(ids), 'product')} ({', '.join(ids[:_NAMED])}{more}) {'has' if len(ids) == 1 else 'have'} "
        f"something else here than {_DECLARED_WORDS[kind]}: it is kept as it came, nobody knows what it means, and "
        "what needs it is unknown"
    )
