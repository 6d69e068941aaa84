"""Which products of a catalogue have which attributes filled: read once, part by part, and held packed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from prodex.catalog import Catalog
from prodex.executors import side_by_side
from prodex.exploration.facet_values import FacetValues
from prodex.facts.attribute_states import Attribute, filled_masks
from prodex.facts.requested_data import Asked, asked_for
from prodex.progress import Show
from prodex.tables.attributes import TEXTS
from prodex.tables.columns import Mask
from prodex.tables.fill_state import FillState


class CellState(StrEnum):
    """What the figures of a cell of a coverage grid mean; the member's value is shown where they mean nothing."""

    KNOWN = ""
    IN_PART = "asked for in part"
    NOT_ASKED = FillState.NOT_ASKED.value
    NOT_APPLICABLE = "not applicable"
    NOT_REQUIRED = "not required"
    UNKNOWN = "unknown"


class FilledCount(NamedTuple):
    """How many products have an attribute, of how many, and of how many it is unknown; for all, or for each group."""

    filled: Any
    products: Any
    unknown: Any


#: Attributes that are shown where no audit says what is required.
USUAL = (
    *TEXTS,
    *("brand", "kind", "typePackaging", "netContent", "originCountry"),
    *("assets.pictures", "isPartitionedBy", "isLabeledBy"),
)

#: One bit for each product, or where few products have it their places.
_Held: TypeAlias = npt.NDArray[Any]
_STATES = {Asked.NOTHING: CellState.NOT_ASKED, Asked.PART: CellState.IN_PART, Asked.ALL: CellState.KNOWN}
#: A place takes as much memory as so many bits.
_BITS_OF_A_PLACE = 32


@dataclass(frozen=True, eq=False)
class FilledColumns:
    """Which products have attributes filled, in any language and in each language that occurs.

    Attributes
    ----------
    catalog
        The catalogue.
    attributes
        The attributes that were read.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> catalog = prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8, "nameLegal": []}])
    >>> filled = FilledColumns.of(catalog, ["nameLegal", "brand"])
    >>> filled.mask("nameLegal", "fr").tolist(), filled.mask("brand").tolist(), filled.languages(["nameLegal"])
    ([True, False], [False, False], {'fr': 1})
    """

    catalog: Catalog
    attributes: frozenset[str]
    _held: Mapping[tuple[FillState, Attribute], _Held]
    _counts: Mapping[tuple[FillState, Attribute], int]

    @classmethod
    def of(cls, catalog: Catalog, attributes: Iterable[str] = (), show: Show = lambda *_: None) -> Self:
        """Read attributes of a catalogue."""
        return cls(catalog, frozenset(), {}, {}).with_attributes(attributes, show)

    def with_attributes(self, attributes: Iterable[str], show: Show = lambda *_: None) -> Self:
        """Return the same with further attributes; only these are read."""
        wanted = [one for one in dict.fromkeys(attributes) if one not in self.attributes]
        if not wanted:
            return self
        size, before = len(self.catalog), 0
        pieces: _Pieces = {}
        parts = self.catalog.parts
        read = side_by_side(lambda one: [*filled_masks(one, wanted)], parts)
        for part, found in zip(parts, read, strict=True):
            here = slice(before, before + part.size)
            for state, attribute, mask in found:
                pieces.setdefault((state, attribute), []).append((here, np.packbits(mask)))
            before = here.stop
            show(before, size)
        held, counts = dict(self._held), dict(self._counts)
        for key, some in pieces.items():
            held[key], counts[key] = _held_of(some, size)
        return replace(self, attributes=self.attributes.union(wanted), _held=held, _counts=counts)

    def mask(self, attribute: str, language: str | None = None) -> Mask:
        """Return which products have an attribute filled, in any language or in one."""
        return self._mask_of(FillState.FILLED, attribute, language)

    def unreadable(self, attribute: str, language: str | None = None) -> Mask:
        """Return of which products nobody knows it: something is there, and cannot be read."""
        there = self._mask_of(FillState.UNREADABLE, attribute, language)
        if language is not None:  # what does not say its language may be in this one
            there |= self._mask_of(FillState.UNREADABLE, attribute, "")
        return there & ~self.mask(attribute, language)

    def lacking(self, attribute: str, language: str | None = None) -> Mask:
        """Return which products are known not to have an attribute filled, in any language or in one.

        Of what was not asked for nobody knows it of any product.
        """
        if self.state((attribute, language)) is CellState.NOT_ASKED:
            return np.zeros(len(self.catalog), bool)
        return ~(self.mask(attribute, language) | self.unreadable(attribute, language))

    def _mask_of(self, state: FillState, attribute: str, language: str | None) -> Mask:
        held = self._held.get((state, (attribute, language)))
        if held is not None and held.dtype == np.uint8:
            return np.unpackbits(held, count=len(self.catalog)).view(bool)
        filled = np.zeros(len(self.catalog), bool)
        if held is not None:
            filled[held] = True
        return filled

    def state(self, attribute: Attribute) -> CellState:
        """Return what the figures of an attribute, in any language or in one, mean."""
        if attribute[1] is not None and not self.is_text(attribute[0]):
            return CellState.NOT_APPLICABLE
        return _STATES[asked_for(self.catalog.origin, [attribute[0]], attribute[1])]

    def counted(self, attribute: Attribute, among: Mask) -> FilledCount:
        """Return how many of some products have an attribute filled, in any language or in one."""
        unknown = self._unknown(attribute)
        if unknown is None:
            return FilledCount(self._count(attribute, among), int(among.sum()), 0)
        unclear = int((unknown & among).sum())
        return FilledCount(self._count(attribute, among), int(among.sum()) - unclear, unclear)

    def counted_by(self, groups: FacetValues, attribute: Attribute, among: Mask) -> FilledCount:
        """Return the same for each group."""
        products = groups.count(among)
        unknown = self._unknown(attribute)
        unclear = np.zeros_like(products) if unknown is None else groups.count(unknown & among)
        return FilledCount(groups.count(self.mask(*attribute) & among), products - unclear, unclear)

    def _unknown(self, attribute: Attribute) -> Mask | None:
        """Return of which products it is unknown; None where of none, as nearly always."""
        name, language = attribute
        is_there = any((FillState.UNREADABLE, (name, one)) in self._held for one in (language, ""))
        return self.unreadable(*attribute) if is_there else None

    def _count(self, attribute: Attribute, among: Mask) -> int:
        held = self._held.get((FillState.FILLED, attribute))
        if held is None:
            return 0
        if held.dtype == np.uint8:
            return int(np.count_nonzero(np.unpackbits(held, count=len(among)).view(bool) & among))
        return int(np.count_nonzero(among[held]))

    def languages(self, attributes: Iterable[str]) -> dict[str, int]:
        """Return the languages in which these attributes are filled, with the number of texts, most frequent first."""
        wanted = set(attributes)
        found: Counter[str] = Counter()
        for (state, (attribute, language)), count in self._counts.items():
            if state is FillState.FILLED and language is not None and attribute in wanted:
                found[language] += count
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))

    def is_text(self, attribute: str) -> bool:
        """Return whether an attribute holds texts: by the specification, or in any product."""
        return attribute in TEXTS or bool(self.languages([attribute]))


_Pieces: TypeAlias = "dict[tuple[FillState, Attribute], list[tuple[slice, npt.NDArray[np.uint8]]]]"


def _held_of(pieces: list[tuple[slice, npt.NDArray[np.uint8]]], size: int) -> tuple[_Held, int]:
    """Return the products of a few parts in as little memory as can be, and how many they are."""
    found = np.zeros(size, bool)
    for here, bits in pieces:
        found[here] = np.unpackbits(bits, count=here.stop - here.start)
    there = np.flatnonzero(found).astype(np.int32)
    # Hundreds of columns of a large catalogue fit into memory as bits, thousands of rare languages as places.
    return there if len(there) * _BITS_OF_A_PLACE < size else np.packbits(found), len(there)


class FilledReader:
    """What has been read so far of the attributes of a catalogue: each is read once, whichever thread asks first.

    Parameters
    ----------
    catalog
        The catalogue.

    Attributes
    ----------
    columns
        The attributes that have been read.

    Examples
    --------
    >>> import prodex
    >>> reader = FilledReader(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}]))
    >>> _ = reader.read(["brand"])
    >>> reader.columns.mask("brand").tolist()
    [True]
    """

    def __init__(self, catalog: Catalog) -> None:
        self.columns: FilledColumns = FilledColumns.of(catalog)
        self._lock = threading.Lock()

    def read(self, attributes: Iterable[str], show: Show = lambda *_: None) -> FilledColumns:
        """Return the attributes that have been read, with these among them."""
        with self._lock:
            self.columns = self.columns.with_attributes(attributes, show)
            return self.columns
