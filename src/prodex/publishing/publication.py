"""What was published: a row of the table `_snapshots`, which pins the version of every table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
import pyarrow as pa

from prodex.catalog.origin import Origin
from prodex.errors import SnapshotDamaged
from prodex.files.untrusted import Count, converted
from prodex.store.parts import StoredPart
from prodex.tables.declaration import TABLES

#: The table of publications. The columns up to `versions` are for everybody; the others are what prodex needs.
SCHEMA = pa.schema(
    [
        ("publication", pa.int64()),
        ("name", pa.string()),
        ("snapshot", pa.string()),
        ("published_at", pa.timestamp("us", tz="UTC")),
        ("prodex", pa.string()),
        ("products", pa.int64()),
        ("complete", pa.bool_()),
        ("versions", pa.string()),
        ("origin", pa.string()),
        ("parts", pa.string()),
    ]
)

#: What is read of every publication, to find one of them.
FACTS = SCHEMA.names[:8]


@dataclass(frozen=True)
class Publication:
    """One publication of a snapshot.

    Attributes
    ----------
    uri
        The folder or address.
    number
        1 for the first publication there, and so on.
    name, snapshot
        Name and time of the snapshot.
    published_at
        When, UTC.
    products
        How many products.
    complete
        Whether everything was received that the service had announced.
    versions
        The version of every Delta table that belongs to it.
    uploaded
        How many files this call has uploaded; the others were there already.

    Examples
    --------
    >>> import prodex, tempfile
    >>> published = prodex.publish(prodex.flatten([{"id": 7}]).save("shop"), tempfile.mkdtemp())
    >>> published.name, published.versions["texts"], published.complete
    ('shop', 0, True)
    """

    uri: str
    number: int
    name: str
    snapshot: str
    published_at: datetime
    products: int
    complete: bool
    versions: Mapping[str, int] = field(repr=False)
    uploaded: int = 0


class _RowLayout(msgspec.Struct):
    """A row of `_snapshots`; it may be from somebody else."""

    publication: Annotated[int, msgspec.Meta(ge=1, lt=2**53)]
    name: str
    snapshot: str
    published_at: datetime
    products: Count
    complete: bool
    versions: str
    prodex: str = ""
    origin: str = "{}"
    parts: str = "[]"


@dataclass(frozen=True)
class Row:
    """What prodex needs to open a publication: its facts, origin and parts."""

    publication: Publication
    origin: Origin
    parts: tuple[StoredPart, ...]

    def says_the_same(self, other: Row) -> bool:
        """Whether another publication is of the same snapshot, with the same content."""
        return (self.publication.name, self.publication.snapshot, self.origin, self.parts) == (
            other.publication.name,
            other.publication.snapshot,
            other.origin,
            other.parts,
        )

    def to_arrow(self, prodex: str) -> pa.Table:
        """Return it as it is written."""
        facts = self.publication
        row = {
            "publication": facts.number,
            "name": facts.name,
            "snapshot": facts.snapshot,
            "published_at": facts.published_at,
            "prodex": prodex,
            "products": facts.products,
            "complete": facts.complete,
            "versions": json.dumps(dict(facts.versions)),
            "origin": json.dumps(self.origin.to_json()),
            "parts": json.dumps([part._asdict() for part in self.parts]),
        }
        return pa.Table.from_pylist([row], SCHEMA)

    @classmethod
    def read(cls, row: Mapping[str, Any], uri: str) -> Self:
        """Read what `to_arrow` wrote.

        Raises
        ------
        SnapshotDamaged
            When it is anything else.
        """
        try:
            parts = tuple(StoredPart.from_json(part) for part in msgspec.json.decode(row["parts"], type=list))
            origin = Origin.from_json(msgspec.json.decode(row["origin"], type=dict))
        except (ValueError, KeyError, TypeError) as error:
            raise unreadable(uri, error) from error
        found = publication_of_row(row, uri)
        if sum(part.products for part in parts) != found.products:
            raise unreadable(uri, f"its parts do not have {found.products:,} products together")
        return cls(found, origin, parts)


def publication_of_row(row: Mapping[str, Any], uri: str) -> Publication:
    """Return what the first columns of a row say.

    Raises
    ------
    SnapshotDamaged
        When it is no such row.
    """
    try:
        written = converted(dict(row), _RowLayout)
        versions = converted(msgspec.json.decode(written.versions), dict[str, Count])
    except ValueError as error:
        raise unreadable(uri, error) from error
    if missing := [table for table in TABLES if table not in versions]:
        raise unreadable(uri, f"it pins no version of {missing[0]}")
    return Publication(
        uri,
        written.publication,
        written.name,
        written.snapshot,
        written.published_at,
        written.products,
        written.complete,
        versions,
    )


def file_names(parts: Iterable[StoredPart]) -> list[dict[str, str]]:
    """Return for each part the names of its files by table, as paths inside the place.

    The content decides the name, so that a file is uploaded once. Only parts that hold the same products twice need two
    files of the same content.

    >>> file_names([StoredPart(0, 1, {"texts": {"rows": 1, "sha256": "ab12"}})])
    [{'texts': 'texts/part-ab12.parquet'}]
    """
    seen: Counter[tuple[str, object]] = Counter()
    every = []
    for part in parts:
        names = {}
        for table, facts in part.files.items():
            earlier = seen[table, facts["sha256"]] if TABLES[table].per_product and facts["rows"] else 0
            seen[table, facts["sha256"]] += 1
            number = f"-{earlier + 1}" if earlier else ""
            names[table] = f"{table}/part-{facts['sha256']}{number}.parquet"
        every.append(names)
    return every


#: What to do where the table of publications cannot be read.
_REPAIR = "Publish the snapshot again, which repairs it, or open another publication (at=...)."


def unreadable(uri: str, problem: object, advice: str = _REPAIR) -> SnapshotDamaged:
    """Return the error for publications that are not as they were written."""
    return SnapshotDamaged(f"What is published at {uri} cannot be read ({problem}). {advice}")
