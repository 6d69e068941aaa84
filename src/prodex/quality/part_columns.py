"""The columns of a part, each read once: text that repeats stays a dictionary, as files hold it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from prodex.catalog import Part
from prodex.tables.attributes import attribute_of, state_column
from prodex.tables.columns import as_one_chunk

#: What is asked of every table that rules look at: to open a file takes longer than to read such a column.
_OF_EVERY_ROW = ("product_id", "attribute")


class PartColumns:
    """The columns of a part.

    Attributes
    ----------
    part
        Whose they are.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]}])
    >>> PartColumns(catalog.parts[0]).plain("texts", "text").to_pylist()
    ['Riz']
    """

    def __init__(self, part: Part) -> None:
        self.part = part
        self._held: dict[tuple[str, str], pa.Array] = {}
        self._plain: dict[tuple[str, str], pa.Array] = {}

    @property
    def size(self) -> int:
        """Number of products."""
        return self.part.size

    def holds(self, table: str) -> bool:
        """Whether there is a table."""
        return self.part.holds(table)

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
        if table == "presence":
            read = self._states(columns)
        elif table == "products":
            read = self.part.read(table, columns)  # of which hardly a column repeats
        else:
            if not any(name == table for name, _ in self._held):
                there = self.part.columns(table)
                columns = list(dict.fromkeys([*columns, *(name for name in _OF_EVERY_ROW if name in there)]))
            read = self.part.encoded(table, columns)
        for name in columns:
            yield (table, name), as_one_chunk(read.column(name))

    def _states(self, columns: Sequence[str]) -> pa.Table:
        """Read columns of `presence`; a rule may name them as the attribute, and nobody in this part may have it."""
        shown = {
            name: name if attribute_of(name) or name == "product_id" else state_column(name)
            for name in columns
        }
        read = self.part.read("presence", list(shown.values()))
        absent = pa.repeat(pa.scalar("absent"), self.size)
        return pa.table(
            {name: read[own] if own in read.column_names else absent for name, own in shown.items()}
        )


def written_out(values: pa.Array) -> pa.Array:
    """Return a column in which every text stands where it is.

    >>> written_out(pa.array(["fr", "nl", "fr"]).dictionary_encode()).to_pylist()
    ['fr', 'nl', 'fr']
    """
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
