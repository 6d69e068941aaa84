"""The columns of the parts that are judged together, each read once.

Text that repeats stays a dictionary, as files hold it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from prodex.catalog import Part
from prodex.tables.attributes import attribute_of, state_column
from prodex.tables.columns import as_one_chunk

#: What is asked of every table that rules look at: to open a file takes longer than to read such a column.
_OF_EVERY_ROW = ("product_id", "attribute")


class PartColumns:
    """The columns of one part, or of several one below the other.

    Attributes
    ----------
    parts
        Whose they are.
    size
        Number of products.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]}])
    >>> PartColumns(catalog.parts).plain("texts", "text").to_pylist()
    ['Riz']
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        self.size = sum(part.size for part in parts)
        self._held: dict[tuple[str, str], pa.Array] = {}
        self._plain: dict[tuple[str, str], pa.Array] = {}

    def holds(self, table: str) -> bool:
        """Whether there is a table."""
        return all(part.holds(table) for part in self.parts)

    def arrays(self, table: str, columns: Sequence[str]) -> list[pa.Array]:
        """Return columns of a table as they are held: text is a dictionary, or is not."""
        missing = [name for name in dict.fromkeys(columns) if (table, name) not in self._held]
        if missing:
            self._held |= dict(self._read(table, missing))
        return [self._held[table, name] for name in columns]

    def encoded(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Return the same as a table."""
        return pa.table(self.arrays(table, columns), names=list(columns))

    def read(self, table: str, columns: Sequence[str]) -> pa.Table:
        """Return columns of a table with every text written out, and keep nothing of that."""
        return pa.table([written_out(one) for one in self.arrays(table, columns)], names=list(columns))

    def plain(self, table: str, column: str) -> pa.Array:
        """Return a column with every text written out: rules compare texts, and know no dictionaries."""
        (held,) = self.arrays(table, (column,))
        if not pa.types.is_dictionary(held.type):
            return held
        if (table, column) not in self._plain:
            self._plain[table, column] = written_out(held)
        return self._plain[table, column]

    def forget(self) -> None:
        """Give the memory back."""
        self._held.clear()
        self._plain.clear()

    def _read(self, table: str, columns: list[str]) -> Iterator[tuple[tuple[str, str], pa.Array]]:
        is_first = not any(name == table for name, _ in self._held)
        if is_first and table not in {"presence", "products"}:
            there = self.parts[0].columns(table)
            columns = list(dict.fromkeys([*columns, *(name for name in _OF_EVERY_ROW if name in there)]))
        pieces = [_columns_of(part, table, columns) for part in self.parts]
        # What one part holds as dictionaries may be written out in another, of which some products are chosen.
        if any(piece.schema != pieces[0].schema for piece in pieces):
            pieces = [
                pa.table([written_out(column) for column in piece.columns], names=columns) for piece in pieces
            ]
        read = pa.concat_tables(pieces)
        for name in columns:
            yield (table, name), as_one_chunk(read.column(name))


def _columns_of(part: Part, table: str, columns: Sequence[str]) -> pa.Table:
    if table == "presence":
        return _states(part, columns)
    # Of products hardly a column repeats.
    return part.read(table, columns) if table == "products" else part.encoded(table, columns)


def _states(part: Part, columns: Sequence[str]) -> pa.Table:
    """Read columns of `presence`; a rule may name them as the attribute, and nobody in this part may have it."""
    shown = {
        name: name if attribute_of(name) or name == "product_id" else state_column(name) for name in columns
    }
    read = part.read("presence", list(shown.values()))
    absent = pa.repeat(pa.scalar("absent"), part.size)
    return pa.table({name: read[own] if own in read.column_names else absent for name, own in shown.items()})


def written_out(values: pa.Array) -> pa.Array:
    """Return a column in which every text stands where it is.

    >>> written_out(pa.array(["fr", "nl", "fr"]).dictionary_encode()).to_pylist()
    ['fr', 'nl', 'fr']
    """
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
