"""What kind of answer an attribute takes: a text, a code, a quantity, the address of a picture.

The attribute model of the service is open, so a catalogue knows better than the specification what an attribute holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.changes import MAINTAINED_BY_SERVICE
from prodex.languages import Message
from prodex.send.attribute_types import PRODUCT
from prodex.tables.attributes import TEXTS
from prodex.tables.declaration import TABLES


class AnswerShape(StrEnum):
    """What an answer has to be."""

    TEXT = "text"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    STRING = "string"
    CODE = "code"
    QUANTITY = "quantity"
    PICTURE = "picture"
    NUTRITION = "nutrition"
    HIERARCHY = "hierarchy"
    #: Nothing that can be answered in a cell.
    NONE = "none"


#: With another GTIN it would be another product, and what an import decides is not written.
NEVER_WRITTEN = MAINTAINED_BY_SERVICE | {"gtin", "validationRules", "expressedIn"}


def why_never_written(root: str, shown: str | None = None) -> Message:
    """Return why no answer, correction or undo writes an attribute of `NEVER_WRITTEN`, which may be shown otherwise.

    >>> str(why_never_written("updatedAt"))
    'updatedAt is maintained by the service and cannot be written.'
    """
    path = shown or root
    if root == "gtin":
        return Message("{path} would be that of another product and cannot be written.", path=path)
    if root in MAINTAINED_BY_SERVICE:
        return Message("{path} is maintained by the service and cannot be written.", path=path)
    return Message("{path} is written in records alone (upsert), by no correction and no undo.", path=path)


_IN_DEPTH = {
    "logisticalHierarchies": AnswerShape.HIERARCHY,
    "isPartitionedBy": AnswerShape.NUTRITION,
}
_PICTURES = "assets.pictures"

_DECLARED = {
    path[0]: column.kind for column in TABLES["products"].columns for path in column.paths if len(path) == 1
}
#: Attributes of one code, with the column of `products` that holds it.
_CODES = {
    path[0]: column.name
    for column in TABLES["products"].columns
    for path in column.paths
    if column.kind == "code" and len(path) == 2 and path[1] == "code"
}
#: GDSN measures that no product of a catalogue may have yet.
_MEASURES = ("netContent", "netWeight", "grossWeight", "height", "width", "depth")


@dataclass(frozen=True)
class Shapes:
    """What the attributes of a catalogue hold.

    Attributes
    ----------
    found
        Attributes at the top of products, with their values.
    in_lists
        Those of which a product can have several.
    """

    found: Mapping[str, AnswerShape]
    in_lists: frozenset[str]

    @classmethod
    def of(cls, catalog: Catalog | None) -> Self:
        """Return the shapes of a catalogue's attributes; without one, those that the specification shows."""
        found = dict(_specified())
        several = {name for name, type_ in PRODUCT.items() if type_ in ("array", "localized")}
        several |= set(_MEASURES)
        if catalog is not None:
            seen = [
                (attribute, is_listed, shape)
                for table, shape in _TABLES.items()
                for attribute, is_listed, _type in _attributes_in_use(catalog, table)
            ]
            seen += [
                (attribute, is_listed, _SCALARS.get(type_ or "", AnswerShape.NONE))
                for attribute, is_listed, type_ in _attributes_in_use(catalog, "scalars", "type")
                if attribute not in found
            ]
            for attribute, is_listed, shape in seen:
                found[attribute] = shape
                several = several | {attribute} if is_listed else several - {attribute}
        return cls(found, frozenset(several))

    def of_attribute(self, attribute: str | None) -> AnswerShape:
        """Return what an answer about an attribute has to be.

        >>> shapes = Shapes.of(None)
        >>> [str(shapes.of_attribute(one)) for one in ("namePublicLong", "brand", "netContent", "gtin")]
        ['text', 'code', 'quantity', 'none']
        """
        if attribute is None:
            return AnswerShape.NONE
        root = attribute.partition(".")[0]
        if root in NEVER_WRITTEN:
            return AnswerShape.NONE
        if root in _IN_DEPTH:
            return _IN_DEPTH[root]
        if attribute == _PICTURES or attribute.startswith(f"{_PICTURES}."):
            return AnswerShape.PICTURE
        if self.found.get(attribute) is AnswerShape.TEXT:
            return AnswerShape.TEXT
        top = without_code(attribute)
        return AnswerShape.NONE if "." in top else self.found.get(top, AnswerShape.NONE)


def without_code(attribute: str) -> str:
    """Return the attribute that a finding about its code or label is about.

    >>> without_code("brand.label"), without_code("netContent")
    ('brand', 'netContent')
    """
    return attribute.removesuffix(".code").removesuffix(".label")


def code_column(attribute: str) -> str | None:
    """Return the column of `products` that holds the codes of an attribute.

    >>> code_column("kind"), code_column("kind.code"), code_column("namePublicLong")
    ('kind_code', 'kind_code', None)
    """
    return _CODES.get(without_code(attribute))


_TABLES = {"texts": AnswerShape.TEXT, "codes": AnswerShape.CODE, "quantities": AnswerShape.QUANTITY}
_SCALARS = {"boolean": AnswerShape.BOOLEAN, "number": AnswerShape.NUMBER, "string": AnswerShape.STRING}
_KINDS = {
    "boolean": AnswerShape.BOOLEAN,
    "integer": AnswerShape.INTEGER,
    "number": AnswerShape.NUMBER,
    "string": AnswerShape.STRING,
}


def _specified() -> Mapping[str, AnswerShape]:
    """Return what the specification shows."""
    found = {name: _KINDS[kind] for name, kind in _DECLARED.items() if kind in _KINDS}
    found |= dict.fromkeys(_CODES, AnswerShape.CODE)
    for name, type_ in PRODUCT.items():
        if type_ == "localized":
            found[name] = AnswerShape.TEXT
        elif isinstance(type_, Mapping) and "code" in type_:
            found[name] = AnswerShape.CODE
    found |= dict.fromkeys(_MEASURES, AnswerShape.QUANTITY) | dict.fromkeys(TEXTS, AnswerShape.TEXT)
    return found


def _attributes_in_use(
    catalog: Catalog, table: str, column: str | None = None
) -> list[tuple[str, bool, str | None]]:
    """Return each attribute of a table once, with whether it is in a list, and a value of another column."""
    names = ["attribute", "position", *filter(None, [column])]
    rows = catalog.arrow(table, names)
    rows = rows.set_column(1, "position", pc.greater(pc.utf8_length(rows["position"]), 0))
    distinct: pa.Table = rows.group_by(names).aggregate([])
    return [
        (row["attribute"], bool(row["position"]), row[column] if column else None)
        for row in distinct.to_pylist()
        if row["attribute"] is not None
    ]
