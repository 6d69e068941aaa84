"""The products whose values are corrected: what they hold is read as columns, what an attribute takes is known once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.corrections.leaves import TEXT, Leaves, Mask, Rows, as_one_array, no_rows, quantities
from prodex.corrections.operations import CopyFrom, MoveText
from prodex.corrections.recipe import RecipeStep
from prodex.errors import InputError
from prodex.phrases import hint
from prodex.selection import Selection
from prodex.send.known_products import received_products
from prodex.send.records import Product
from prodex.tables.declaration import TABLES
from prodex.tables.values import number_text
from prodex.worklists.answer_kinds import NEVER_WRITTEN, AnswerShape, Shapes, code_column, why_never_written
from prodex.worklists.answer_parsing import Vocabulary

_TABLES: Final[Mapping[AnswerShape, str]] = {
    AnswerShape.TEXT: "texts",
    AnswerShape.CODE: "codes",
    AnswerShape.QUANTITY: "quantities",
}
_SCALARS: Final = {
    AnswerShape.BOOLEAN: "boolean",
    AnswerShape.INTEGER: "number",
    AnswerShape.NUMBER: "number",
    AnswerShape.STRING: "string",
}
#: What is read of each table.
_READ: Final = {
    "texts": ("text", "language_code", "language"),
    "codes": ("code",),
    "quantities": ("value", "unit_code"),
    "scalars": ("value", "type"),
}
#: Columns of `products` that hold one attribute at the top of the record.
_COLUMNS: Final = {
    column.paths[0][0]: column.name
    for column in TABLES["products"].columns
    if len(column.paths) == 1 and len(column.paths[0]) == 1 and column.kind != "timestamp"
}
#: The attribute that a column of `products` holds: people write the names that they see.
_WIRE: Final = {
    column.name: column.paths[0][0]
    for column in TABLES["products"].columns
    if column.paths and (len(column.paths[0]) == 1 or column.paths[0][1:] == ("code",))
}


class StepImpossible(InputError):
    """A step cannot be done at all, with whichever products."""


@dataclass(eq=False)
class ProductsInWork:
    """The chosen products while the steps are done: the only place that changes.

    Attributes
    ----------
    catalog
        The chosen products.
    whole
        The catalogue that they are of: its codes and attributes are those in use.
    """

    catalog: Catalog
    whole: Catalog
    _records: dict[str, Product] = field(default_factory=dict, init=False)
    _leaves: dict[str, Leaves] = field(default_factory=dict, init=False)
    _masks: dict[Selection, Mask] = field(default_factory=dict, init=False)
    _vocabularies: dict[str, Vocabulary] = field(default_factory=dict, init=False)

    @cached_property
    def ids(self) -> pa.Array:
        """The ids of the products, by their numbers."""
        return as_one_array(self.catalog.arrow("products", ["product_id"])["product_id"])

    @cached_property
    def shapes(self) -> Shapes:
        """What the attributes hold."""
        return Shapes.of(self.whole)

    @property
    def touched(self) -> Iterable[Leaves]:
        """The leaves of each attribute that a step has looked at."""
        return self._leaves.values()

    @property
    def changed(self) -> Rows:
        """Return the numbers of the products of which something changes."""
        return np.unique(np.concatenate([no_rows(), *(one.product[one.is_changed] for one in self.touched)]))

    def words(self, attribute: str) -> Vocabulary:
        """Return units in use, and the codes in use of an attribute."""
        if attribute not in self._vocabularies:
            codes = [attribute] if self.shape_of(attribute) is AnswerShape.CODE else []
            self._vocabularies[attribute] = Vocabulary.of(self.whole, codes)
        return self._vocabularies[attribute]

    def shape_of(self, attribute: str) -> AnswerShape:
        """Return what an attribute holds.

        Raises
        ------
        StepImpossible
            When it is not known, or cannot be corrected; the message names the nearest.
        """
        shape = self.shapes.of_attribute(attribute)
        root = attribute.partition(".")[0]
        if shape in _TABLES or shape in _SCALARS:
            return shape
        if root in NEVER_WRITTEN:
            raise StepImpossible(str(why_never_written(root, f"{attribute!r:.60}")))
        is_inside = "." in attribute and not self.shapes.found.keys().isdisjoint((root, attribute))
        if is_inside or shape is not AnswerShape.NONE:
            raise StepImpossible(
                f"{attribute!r:.60} cannot be corrected for many products. Correct it in a worklist."
            )
        near = hint(attribute, self.shapes.found, "catalog.describe() lists the attributes in use.")
        raise StepImpossible(f"no product here has an attribute {attribute!r:.60}{near}")

    def wire_path(self, attribute: str) -> str:
        """Return the wire path of an attribute, which may be given as the column of `products` that holds it."""
        name = attribute.strip()
        path = _WIRE.get(name, name)
        return path if path in self.shapes.found or "." in path else name

    def records(self, ids: Collection[str]) -> Mapping[str, Product]:
        """Return the records of products by their ids; each is read once."""
        lacking = [one for one in ids if one not in self._records]
        if lacking:
            self._records |= received_products(self.catalog, lacking)
        return {one: self._records[one] for one in ids if one in self._records}

    def leaves(self, attribute: str) -> Leaves:
        """Return the leaves of an attribute, which are read once."""
        if attribute not in self._leaves:
            self.read([attribute])
        return self._leaves[attribute]

    def prepare(self, steps: Sequence[RecipeStep]) -> None:
        """Read what steps need, each table once; what cannot be read is said by its step."""
        known = []
        for step in steps:
            operation = step.operation
            other = operation.from_attribute if isinstance(operation, CopyFrom) else None
            other = operation.to_attribute if isinstance(operation, MoveText) else other
            for name in map(self.wire_path, filter(None, (step.attribute, other))):
                try:
                    self.shape_of(name)
                except StepImpossible:
                    continue
                known.append(name)
        self.read(known)

    def read(self, attributes: Iterable[str]) -> None:
        """Read the leaves of attributes, those of one table together."""
        by_table: dict[str, list[str]] = {}
        for one in dict.fromkeys(attributes):
            if one in self._leaves:
                continue
            shape = self.shape_of(one)
            column = None if "." in one else code_column(one)
            if shape in _SCALARS:
                column = _COLUMNS.get(one)
            if column is not None:
                self._leaves[one] = self._of_column(one, column, shape)
            else:
                by_table.setdefault(_TABLES.get(shape, "scalars"), []).append(one)
        for table, several in by_table.items():
            self._read_table(table, several)

    def _of_column(self, attribute: str, column: str, shape: AnswerShape) -> Leaves:
        held = as_one_array(self.catalog.arrow("products", [column])[column])
        there = np.flatnonzero(pc.is_valid(held).to_numpy(zero_copy_only=False))
        values = held.take(pa.array(there))
        values = values if shape is AnswerShape.BOOLEAN else values.cast(TEXT)
        nothing = pa.nulls(len(there), TEXT)
        return Leaves(attribute, shape, there, pa.repeat("", len(there)).cast(TEXT), nothing, nothing, values)

    def _read_table(self, table: str, attributes: list[str]) -> None:
        meant = pc.field("attribute").isin(attributes)
        rows = self.catalog.arrow(table, ["product_id", "attribute", "position", *_READ[table]], meant)
        product = pc.index_in(rows["product_id"], self.ids).to_numpy()
        order = np.argsort(product, kind="stable")
        rows, product = rows.take(pa.array(order)), product[order].astype(np.int64)
        for attribute in attributes:
            shape = self.shape_of(attribute)
            is_own = pc.equal(rows["attribute"], attribute)
            if table == "scalars":
                is_own = pc.and_(is_own, pc.equal(rows["type"], _SCALARS[shape]))
            own = {name: as_one_array(rows[name].filter(is_own)) for name in ("position", *_READ[table])}
            nothing = pa.nulls(len(own["position"]), TEXT)
            code, language = (own.get(name, nothing).cast(TEXT) for name in ("language_code", "language"))
            self._leaves[attribute] = Leaves(
                attribute,
                shape,
                product[as_one_array(is_own).to_numpy(zero_copy_only=False)],
                own["position"].cast(TEXT).fill_null(""),
                code,
                language,
                _values_read(own, shape),
            )

    def mask(self, where: Selection) -> Mask:
        """Return which of the products a step is about, by the catalogue as it came."""
        if where not in self._masks:
            self._masks[where] = self._chosen_by(where) if where else np.ones(len(self.ids), bool)
        return self._masks[where]

    def _chosen_by(self, where: Selection) -> Mask:
        chosen = (self.catalog.where(where) if where else self.catalog).arrow("products", ["product_id"])
        found: Mask = pc.is_in(self.ids, as_one_array(chosen["product_id"])).to_numpy(zero_copy_only=False)
        return found

    def again(self, wheres: Iterable[Selection], after: Catalog | None) -> ProductsInWork:
        """Return the products that change as they are now, to do steps once more with those that are chosen then.

        Parameters
        ----------
        wheres
            Which products the steps are about.
        after
            The products that are chosen then, as they are then; None where what changes does not decide it.
        """
        made = ProductsInWork(self.catalog if after is None else after, self.whole)
        made.__dict__ |= {"ids": self.ids, "shapes": self.shapes}
        made._leaves = {name: one.copied() for name, one in self._leaves.items()}
        is_changed = np.zeros(len(self.ids), bool)
        is_changed[self.changed] = True
        made._masks = {where: is_changed & made._chosen_by(where) for where in (Selection(), *wheres)}
        return made

    def may_choose_others(self, where: Selection) -> bool:
        """Whether what changes may decide which products a selection means."""
        changed = {one.attribute for one in self.touched if one.is_changed.any()}
        # Of anything but a column with one attribute, any change may decide it.
        names = {_WIRE.get(name) for one in where.every() for name in (*one.columns, *one.ranges)}
        is_other = any(one.groups or one.words or one.failing for one in where.every())
        return bool(changed) and (is_other or bool(names & {*changed, None}))


def _values_read(own: Mapping[str, pa.Array], shape: AnswerShape) -> pa.Array:
    """Return the leaves that rows of a table hold."""
    match shape:
        case AnswerShape.TEXT:
            return own["text"].cast(TEXT)
        case AnswerShape.CODE:
            return own["code"].cast(TEXT)
        case AnswerShape.BOOLEAN:
            return pc.equal(own["value"], "true")
        case AnswerShape.QUANTITY:
            numbers = own["value"].dictionary_encode()
            spelled = pa.array([number_text(one) for one in numbers.dictionary.to_pylist()], TEXT)
            return quantities(spelled.take(numbers.indices), own["unit_code"].cast(TEXT).fill_null(""))
    return own["value"].cast(TEXT)
