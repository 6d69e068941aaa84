"""Catalogues whose tables are slow to read in the background, for as long as a test wants that."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

import prodex


@dataclass(frozen=True)
class HeldTables(Mapping[str, pa.Table]):
    """Tables for which other threads than the one of the test wait.

    Attributes
    ----------
    tables
        The tables.
    go_on
        They are no longer waited for.
    begun
        Somebody waits.
    reads
        Names of the tables that other threads have read.
    """

    tables: Mapping[str, pa.Table]
    go_on: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)
    reads: list[str] = field(default_factory=list)
    _test: threading.Thread = field(default_factory=threading.current_thread)

    def __getitem__(self, name: str) -> pa.Table:
        if threading.current_thread() is not self._test:
            self.reads.append(name)
            self.begun.set()
            assert self.go_on.wait(30)
        return self.tables[name]

    def __contains__(self, name: object) -> bool:
        return name in self.tables

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)


def held(catalog: prodex.Catalog) -> tuple[prodex.Catalog, HeldTables]:
    """Return a small catalogue in memory whose tables are held, and these."""
    (part,) = catalog.parts
    tables = HeldTables(part.tables)
    return replace(catalog, parts=(replace(part, tables=tables),)), tables
