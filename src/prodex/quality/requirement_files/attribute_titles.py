"""What attributes are called in a workbook of requirements, and which of them a file may name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from prodex.errors import InputError
from prodex.languages.labels import attribute_title
from prodex.phrases import nearest, unaccented
from prodex.quality.asked_attributes import NUTRIENTS, checked_attribute, selector_of
from prodex.quality.picture_columns import FACES, PICTURES
from prodex.tables.attributes import ATTRIBUTES, PATHS

#: The faces that pictures have, in the order in which rows show them.
FACES_SHOWN = tuple(
    one for one in ("front", "left", "top", "back", "right", "bottom") if one in FACES.values()
)
#: Nutrients of Annex XV of Regulation (EU) No 1169/2011 in its order, by the code that services use.
_NUTRIENTS: Mapping[str, str] = {
    "ENER-": "energy",
    "FAT": "fat",
    "FASAT": "saturates",
    "CHOAVL": "carbohydrate",
    "SUGAR-": "sugars",
    "FIBTG": "fibre",
    "PRO-": "protein",
    "SALTEQ": "salt",
    "POLYL": "polyols",
    "STARCH": "starch",
}
#: The nutrients that labels have to show, in their order.
NUTRIENTS_SHOWN = tuple(_NUTRIENTS)

#: How alike a text is at least to the attribute that a message proposes.
_ALIKE = 0.6
#: Names of a file for which the nearest is looked for: each takes a while.
_MOST_SOUGHT = 200
#: How somebody confirms that an attribute of no list is meant.
_CONFIRMED = re.compile(r"own\s*:\s*(.+)", re.IGNORECASE)
_KNOWN = frozenset({*ATTRIBUTES, *PATHS, "drainedWeight"})


def title_of(attribute: str, label: str = "") -> str:
    """Return what a row is called: the name of its attribute, with the face or the nutrient.

    Parameters
    ----------
    attribute
        A wire path, a picture's face or a nutrient.
    label
        What the catalogue calls the nutrient.

    Examples
    --------
    >>> title_of("namePublicLong"), title_of("assets.pictures[front]"), title_of("isPartitionedBy.contains[FAT]")
    ('Long name', 'Picture: front', 'Nutrient: fat')
    """
    path, chosen = selector_of(attribute)
    if not chosen:
        return attribute_title(path)
    return (
        f"Picture: {chosen}" if path == PICTURES else f"Nutrient: {_NUTRIENTS.get(chosen) or label or chosen}"
    )


@dataclass(frozen=True)
class KnownAttributes:
    """The attributes that a file of requirements may name.

    Attributes
    ----------
    paths
        Their wire paths.
    is_whole
        Whether these are all attributes of a catalogue: any other one has to be confirmed.
    """

    paths: frozenset[str] = _KNOWN
    is_whole: bool = False
    _sought: set[str] = field(default_factory=set, repr=False, compare=False)

    @classmethod
    def of(cls, written: Collection[str] = (), known: Iterable[str] = ()) -> Self:
        """Add the attributes with which a workbook was written, and others that are known."""
        return cls(_KNOWN.union(written, known), bool(written))

    def path_of(self, text: str) -> str:
        """Return the attribute that a cell names by its wire path.

        Raises
        ------
        InputError
            When it names none; the message has the nearest.

        Examples
        --------
        >>> KnownAttributes.of(["brand"]).path_of("own: shelfLife"), KnownAttributes.of().path_of("shelfLife")
        ('shelfLife', 'shelfLife')
        >>> KnownAttributes.of().path_of("Long name")
        Traceback (most recent call last):
        ...
        prodex.errors.InputError: 'Long name' is the name of namePublicLong in words. Write namePublicLong.
        """
        if text in self.paths or selector_of(text)[0] in {PICTURES, NUTRIENTS}:
            return checked_attribute(text)
        if (path := self._by_title.get(_folded(text))) is not None:
            raise InputError(f"{text!r:.60} is the name of {path} in words. Write {path}.")
        if not self.is_whole:
            return checked_attribute(text)
        if (own := _CONFIRMED.fullmatch(text)) is not None:
            return checked_attribute(own[1])
        near = self._nearest(text)
        meant = f"; did you mean {near} ({title_of(near)})?" if near else "."
        raise InputError(
            f"there is no attribute {text!r:.60}{meant} If the attribute is your own, write 'own: {text:.60}'."
        )

    def _nearest(self, text: str) -> str | None:
        self._sought.add(text)
        if len(self._sought) > _MOST_SOUGHT:
            return None
        if (near := nearest(text, self.paths, _ALIKE)) is not None:
            return near
        words = nearest(_folded(text), self._by_title, _ALIKE)
        return None if words is None else self._by_title[words]

    @cached_property
    def _by_title(self) -> Mapping[str, str]:
        return {_folded(title_of(path)): path for path in sorted(self.paths, reverse=True)}


def _folded(text: str) -> str:
    """Return words as they are compared: in small letters, without accents, signs and double spaces."""
    return re.sub(r"[^\w]+", " ", unaccented(text)).strip()
