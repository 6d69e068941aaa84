"""Figures of what an audit does not keep: pictures, updates, languages and filled attributes of its catalogue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.facts.groups import Groups
from prodex.facts.pending import IS_OWN
from prodex.facts.presence import short_languages
from prodex.quality.measures import LARGEST, LEAST, NONE, MeasuredValue
from prodex.tables.attributes import attribute_of
from prodex.tables.columns import Mask, Rows, encoded, places, whole

_A_DAY = timedelta(days=1)


def catalog_figures(
    catalog: Catalog, judged: pa.Array, owners: Groups
) -> Iterator[tuple[str, Mapping[str, MeasuredValue]]]:
    """Yield the figures of a catalogue, by measure.

    Parameters
    ----------
    catalog
        The catalogue of an audit; it may have more products, and in another order.
    judged
        The ids of the products that were judged.
    owners
        The supplier of each of them.
    """
    suppliers = _Suppliers(judged, owners)
    own = catalog.arrow("products", ["product_id", "pictures_count", "updated_at"])
    row = own.take(pc.index_in(judged, whole(own["product_id"])))
    if catalog.origin.asked("assets.pictures"):
        pictured = pc.fill_null(row["pictures_count"], 0).to_numpy() > 0
        yield "pictures", suppliers.shares(pictured)
    yield from _updates(catalog, row["updated_at"], suppliers)
    # An export that was read back has the tables that were exported.
    if all(part.holds("texts") for part in catalog.parts):
        yield from suppliers.of_attributes("language", _speaking(catalog, judged))
    if all(part.holds("presence") for part in catalog.parts):
        yield from suppliers.of_attributes("filled", _filled(catalog, judged))


class _Suppliers:
    """Counts products by supplier."""

    def __init__(self, judged: pa.Array, owners: Groups) -> None:
        self.codes = [NONE if code is None else code for code in owners.codes]
        self.of = np.full(len(judged), -1, np.int64)
        self.of[owners.rows] = owners.groups
        self.sizes = self._counts(np.arange(len(judged)))
        # Attribute by attribute only of the largest: all of a thousand suppliers would be a hundred thousand figures.
        self.large = np.argsort(-self.sizes, kind="stable")[:LARGEST]
        self.large = self.large[self.sizes[self.large] >= LEAST]

    def _counts(self, rows: Rows) -> Rows:
        suppliers = self.of[rows]
        return np.bincount(suppliers[suppliers >= 0], minlength=len(self.codes))

    def counts(self, flags: Mask) -> dict[str, MeasuredValue]:
        """Return how many products of each supplier have something."""
        counts = self._counts(np.flatnonzero(flags)).tolist()
        return {code: MeasuredValue(count) for code, count in zip(self.codes, counts, strict=True)}

    def shares(self, flags: Mask) -> dict[str, MeasuredValue]:
        """Return which share of the products of each supplier has something."""
        rows = zip(self.codes, self._counts(np.flatnonzero(flags)).tolist(), self.sizes.tolist(), strict=True)
        return {code: MeasuredValue(count / size, size) for code, count, size in rows if size >= LEAST}

    def of_attributes(
        self, measure: str, having: Iterator[tuple[str, Rows]]
    ) -> Iterator[tuple[str, Mapping[str, MeasuredValue]]]:
        """Yield the shares of all products, and of those of each large supplier, that have each of some attributes.

        Parameters
        ----------
        measure
            What is counted.
        having
            An attribute or a language, with the places of products that have it; each may come several times.
        """
        size = len(self.of)
        total: dict[str, int] = defaultdict(int)
        each: dict[str, Rows] = {}
        for name, found in having:
            rows = found[found >= 0]
            total[name] += len(rows)
            each[name] = each.get(name, 0) + self._counts(rows)
        yield (
            measure,
            {name: MeasuredValue(count / size, size) for name, count in total.items()} if size else {},
        )
        for supplier in self.large.tolist():
            whole_size = int(self.sizes[supplier])
            yield (
                f"supplier {measure}@{self.codes[supplier]}",
                {
                    name: MeasuredValue(int(counts[supplier]) / whole_size, whole_size)
                    for name, counts in each.items()
                    if counts[supplier]
                },
            )


def _updates(
    catalog: Catalog, updated_at: pa.ChunkedArray, suppliers: _Suppliers
) -> Iterator[tuple[str, Mapping[str, MeasuredValue]]]:
    loaded = catalog.origin.server_time or catalog.origin.loaded_at
    if loaded is None or updated_at.null_count == len(updated_at):  # records without dates
        return
    # Updates have local times of an unknown zone: a day may be a few hours longer, and is so every night.
    since = pa.scalar(loaded.astimezone(UTC).replace(tzinfo=None) - _A_DAY, updated_at.type)
    recent = pc.fill_null(pc.greater(updated_at, since), False).to_numpy()
    yield "updated", {NONE: MeasuredValue(int(recent.sum()))}
    yield "supplier updated", suppliers.counts(recent)


def _speaking(catalog: Catalog, judged: pa.Array) -> Iterator[tuple[str, Rows]]:
    """Yield each language of each part, with the products that have a text in it."""
    ids: list[pa.Array] = []
    spoken: list[list[tuple[str, Rows]]] = []
    for part in catalog.parts:
        texts = part.read("texts", ["product_id", "language"], IS_OWN)
        languages, language = short_languages(texts["language"].combine_chunks())
        distinct, product = encoded(texts["product_id"].combine_chunks())
        ids.append(distinct)
        spoken.append([(n, np.unique(product[language == at])) for at, n in enumerate(languages) if n])
    for places_of, found in zip(_placed(ids, judged), spoken, strict=True):
        yield from ((name, places_of[products]) for name, products in found)


def _filled(catalog: Catalog, judged: pa.Array) -> Iterator[tuple[str, Rows]]:
    """Yield each attribute of each part, with the products that have it filled."""
    ids = [whole(part.read("presence", ["product_id"])["product_id"]) for part in catalog.parts]
    for places_of, part in zip(_placed(ids, judged), catalog.parts, strict=True):
        table = part.read("presence")
        for name in table.column_names:
            if (attribute := attribute_of(name)) is not None:
                yield (
                    attribute,
                    places_of[whole(pc.equal(table[name], "filled")).to_numpy(zero_copy_only=False)],
                )


def _placed(ids: Sequence[pa.Array], judged: pa.Array) -> list[Rows]:
    """Return the places of the products of each part among those that were judged; -1 for others."""
    if not ids:
        return []
    # Looked up all at once: an index of a million products is not made for each part.
    found = places(whole(pa.chunked_array(ids, pa.string())), judged)
    return np.split(found, np.cumsum([len(one) for one in ids])[:-1])
