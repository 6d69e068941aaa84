"""Doing the steps of a recipe on columns: of each attribute all values at once, and never product by product.

The values of an attribute are rows: whose it is, where it is, what it was, and what it is now. A step changes what it
is now; what a row was and is at the end is one change of one place, whatever steps have been between.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.changes import in_words
from prodex.corrections.operations import (
    ChangeCase,
    ConvertUnit,
    CopyFrom,
    MoveText,
    RemovePrefix,
    RemoveValue,
    ReplaceText,
    SetCode,
    SetValue,
    TextOperation,
    Transformed,
    TrimSpaces,
)
from prodex.corrections.recipe import RecipeStep
from prodex.errors import InputError, ProdexError
from prodex.executors import side_by_side
from prodex.locales import (
    codes_in_words,
    is_meant,
    is_whole_language,
    known_language_tag,
    language_code,
    language_tag,
    short_of,
    tag_of,
    variant_of,
)
from prodex.messages import composed, hint
from prodex.send.corrections import received_products
from prodex.send.records import Product
from prodex.tables.declaration import TABLES
from prodex.tables.values import number_text
from prodex.worklists.answer_kinds import NEVER_WRITTEN, AnswerShape, Shapes, code_column
from prodex.worklists.answer_outcomes import NO_VALUE
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, boolean, is_standard_code, number
from prodex.worklists.layout import is_deletion
from prodex.worklists.remarks import remark
from prodex.worklists.units import dimension
from prodex.written_json import exact_value

Rows: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

_TEXT: Final = pa.large_string()
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


_NUMBERS: Final = frozenset({AnswerShape.QUANTITY, AnswerShape.INTEGER, AnswerShape.NUMBER})


class StepImpossible(InputError):
    """A step cannot be done at all, with whichever products."""


@dataclass(eq=False)
class Values:
    """All values of one attribute among the chosen products, and what becomes of them.

    Attributes
    ----------
    attribute, shape
        Which, and of what kind.
    product
        Whose a row is: the number of the product.
    position, code, language
        Where it is: position, and language code and language of a text; null for a value that was added.
    before, now
        What it was and what it is, as text; null for nothing.
    bound
        Rows with one number are sent together or not at all, since a text was moved from one to the other; -1 for none.
    questions
        What is asked back about a value, by row.
    doubts
        What is asked back about a row, whatever value it has in the end.
    """

    attribute: str
    shape: AnswerShape
    product: Rows
    position: pa.Array
    code: pa.Array
    language: pa.Array
    before: pa.Array
    now: pa.Array
    bound: Rows = field(init=False)
    questions: dict[int, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    doubts: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bound = np.full(len(self.product), -1, np.int64)

    def asked_of(self, row: int, value: str | None) -> tuple[str, ...]:
        """Return what is asked back about a row, and about its value, unless a later step has set another one."""
        about, questions = self.questions.get(row, (None, ()))
        doubt = (self.doubts[row],) if row in self.doubts else ()
        return (*questions, *doubt) if about == value else doubt

    @property
    def is_text(self) -> bool:
        """Whether its values are texts in languages."""
        return self.shape is AnswerShape.TEXT

    def in_language(self, tag: str | None) -> Mask:
        """Return which rows are in a language; with a country, in that of the country."""
        if tag is None or not self.is_text:
            return np.ones(len(self.product), bool)
        names, number = self._variants
        meant = np.array([is_meant(one, tag) for one in names], bool)
        found: Mask = meant[number]
        return found

    @property
    def _variants(self) -> tuple[list[str | None], Rows]:
        """The languages of texts with their countries, and the number of that of each row."""
        codes, shorts = (one.dictionary_encode("encode") for one in (self.code, self.language))
        width = len(shorts.dictionary)
        both = codes.indices.to_numpy().astype(np.int64) * width + shorts.indices.to_numpy()
        kinds, number = np.unique(both, return_inverse=True)
        spelled, short = codes.dictionary.to_pylist(), shorts.dictionary.to_pylist()
        names = [variant_of(spelled[one // width], short[one % width]) for one in kinds.tolist()]
        return names, number.astype(np.int64)

    def variants(self, rows: Rows) -> list[str | None]:
        """Return the languages of texts with their countries, as they were sent."""
        names, number = self._variants
        return [names[one] for one in number[rows].tolist()]

    def of_several(self, rows: Rows, tag: str | None) -> dict[int, str]:
        """Return those of some rows that a language means beside others of one list, each with the codes of them all.

        A language with its country means one, and without a language all are meant.
        """
        if tag is None or not self.is_text or not is_whole_language(tag) or not len(rows):
            return {}
        names, number = self._variants
        tags = [None if one is None else tag_of(one) for one in names]
        if len({tags[one] for one in np.unique(number[rows]).tolist()}) < 2:
            return {}
        lists: dict[tuple[int, str], list[int]] = {}
        positions = self.position.take(pa.array(rows)).to_pylist()
        for row, position in zip(rows.tolist(), positions, strict=True):
            holder = (position or "").rpartition(".")[0]
            lists.setdefault((int(self.product[row]), holder), []).append(row)
        return {
            row: codes_in_words(names[number[one]] for one in several)
            for several in lists.values()
            if len({tags[number[one]] for one in several}) > 1
            for row in several
        }

    @property
    def is_there(self) -> Mask:
        """Return which rows hold a value now."""
        there: Mask = pc.is_valid(self.now).to_numpy(zero_copy_only=False)
        return there

    def put(self, rows: Rows, values: pa.Array) -> None:
        """Let rows hold other values."""
        if not len(rows):
            return
        mask = np.zeros(len(self.product), bool)
        mask[rows] = True
        order = np.argsort(rows, kind="stable")
        self.now = pc.replace_with_mask(self.now, pa.array(mask), values.take(pa.array(order)))

    def add(
        self, products: Rows, values: pa.Array, tag: str | None, codes: Sequence[str | None] | None = None
    ) -> Rows:
        """Add rows for values that products have had nothing of, and return their numbers.

        A text that comes from another place keeps the code of its language.
        """
        count = len(products)
        code = language_code(tag) if tag is not None and "-" in tag else None
        language = None if tag is None else short_of(tag)
        self.product = np.concatenate([self.product, products])
        self.bound = np.concatenate([self.bound, np.full(count, -1, np.int64)])
        nothing = pa.nulls(count, _TEXT)
        self.position = _joined(self.position, nothing)
        self.before = _joined(self.before, nothing)
        self.code = _joined(self.code, pa.array(codes or [code] * count, _TEXT))
        self.language = _joined(self.language, pa.array([language] * count, _TEXT))
        self.now = _joined(self.now, values)
        return np.arange(len(self.product) - count, len(self.product))

    @property
    def changed(self) -> Rows:
        """Return the rows that hold something else than they did."""
        same = pc.equal(self.now, self.before)
        both = pc.and_(pc.is_null(self.now), pc.is_null(self.before))
        return np.flatnonzero(~pc.or_(same.fill_null(False), both).to_numpy(zero_copy_only=False))


def _joined(one: pa.Array, other: pa.Array) -> pa.Array:
    return pa.concat_arrays([one, other.cast(one.type)])


@dataclass(frozen=True, eq=False)
class StepDone:
    """What a step did.

    Attributes
    ----------
    step
        The step.
    values
        The values that its rows are of; None if it could not be done at all.
    impossible
        Why it could not be done at all.
    changed
        Its rows, with what they held before and after it.
    so_already
        The rows that it left as they were.
    refused
        Products, row (-1 for none) and reason of what it did not do.
    without
        How many of its products have no value there, so that there was nothing to do.
    gone
        How many values were given for products that are not there.
    what
        In words, where it is not what its operation says.
    arrived
        Of texts that were moved: by their row, the values and the row where they arrived.
    """

    step: RecipeStep
    values: Values | None = None
    impossible: str = ""
    changed: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    before: pa.Array = field(default_factory=lambda: pa.nulls(0, _TEXT))
    after: pa.Array = field(default_factory=lambda: pa.nulls(0, _TEXT))
    so_already: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    refused: Sequence[tuple[int, int, str]] = ()
    without: int = 0
    gone: int = 0
    what: str = ""
    arrived: Mapping[int, tuple[Values, int]] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What it does, for people."""
        return self.what or self.step.operation.words

    @property
    def is_refused_wholly(self) -> bool:
        """Whether nothing of it could be done."""
        return bool(self.impossible or (self.refused and not len(self.changed) and not len(self.so_already)))


@lru_cache(maxsize=65_536)
def _questions_about(attribute: str, text: str) -> tuple[str, ...]:
    """Return what is asked of a text that somebody has typed for many products."""
    word = text.strip()
    if is_deletion(word) or is_deletion(f"({word})"):
        return (
            f"{word!r:.60} takes values away in worklists. Is it the text of {attribute}? Else: remove value.",
        )
    if word.casefold() in NO_VALUE:
        return (f"{word!r:.60} says that there is no value. Is it the text of {attribute}?",)
    says = remark(text)
    return () if says is None else (f"{text!r:.60} reads like {says}. Is it the text of {attribute}?",)


def _key_of(where: Mapping[str, Any]) -> str:
    return repr(sorted(where.items(), key=lambda one: one[0]))


def _grows(then: str | None) -> str:
    """Return what is asked about a value that the same steps would change again, into another one."""
    said = "would be taken away" if then is None else f"would become {then!r:.80}"
    return f"Done again, this changes again: the new value {said}. Is it meant?"


#: What a function of somebody, or a list of values, says of a value: a new one, None to leave it, or REMOVE.
NewValue: TypeAlias = Any
REMOVE: Final = object()


@dataclass(eq=False)
class ProductsInWork:
    """The chosen products while the steps are done: the only place that changes.

    Attributes
    ----------
    catalog
        The chosen products.
    whole
        The catalogue that they are of: its codes and attributes are those in use.
    received
        The records that were read, by product id.
    """

    catalog: Catalog
    whole: Catalog
    received: dict[str, Product] = field(default_factory=dict, init=False)
    _values: dict[str, Values] = field(default_factory=dict, init=False)
    _masks: dict[str, Mask] = field(default_factory=dict, init=False)
    _bindings: int = field(default=0, init=False)

    @cached_property
    def ids(self) -> pa.Array:
        """The ids of the products, by their numbers."""
        return _one(self.catalog.arrow("products", ["product_id"])["product_id"])

    @cached_property
    def shapes(self) -> Shapes:
        """What the attributes hold."""
        return Shapes.of(self.whole)

    @cached_property
    def _words(self) -> dict[str, Vocabulary]:
        return {}

    @property
    def touched(self) -> Iterable[Values]:
        """The values of each attribute that a step has looked at."""
        return self._values.values()

    def words(self, attribute: str) -> Vocabulary:
        """Return units in use, and the codes in use of an attribute."""
        if attribute not in self._words:
            codes = [attribute] if self.shape_of(attribute) is AnswerShape.CODE else []
            self._words[attribute] = Vocabulary.of(self.whole, codes)
        return self._words[attribute]

    def shape_of(self, attribute: str) -> AnswerShape:
        """Return what an attribute holds.

        Raises
        ------
        StepImpossible
            When it is not known, or cannot be corrected; the message names the nearest.
        """
        shape = self.shapes.of_attribute(attribute)
        root = attribute.partition(".")[0]
        if shape not in _TABLES and shape not in _SCALARS:
            if root in NEVER_WRITTEN:
                why = "would be that of another product" if root == "gtin" else "is maintained by the service"
                raise StepImpossible(f"{attribute!r:.60} {why} and cannot be written.")
            if ("." in attribute and root in self.shapes.found) or shape is not AnswerShape.NONE:
                raise StepImpossible(
                    f"{attribute!r:.60} cannot be corrected for many products. Correct it in a worklist."
                )
            near = hint(attribute, self.shapes.found, "catalog.describe() lists the attributes in use.")
            raise StepImpossible(f"no product here has an attribute {attribute!r:.60}{near}")
        return shape

    def wire_path(self, attribute: str) -> str:
        """Return the wire path of an attribute, which may be given as the column of `products` that holds it."""
        name = attribute.strip()
        path = _WIRE.get(name, name)
        shape = self.shapes.found.get(path)
        return path if shape is not None or "." in path else name

    def values(self, attribute: str) -> Values:
        """Return the values of an attribute, which are read once."""
        if attribute not in self._values:
            self.read([attribute])
        return self._values[attribute]

    def read(self, attributes: Iterable[str]) -> None:
        """Read the values of attributes, those of one table together."""
        wanted = [one for one in dict.fromkeys(attributes) if one not in self._values]
        shapes = {one: self.shape_of(one) for one in wanted}
        by_table: dict[str, list[str]] = {}
        for one in wanted:
            if code_column(one) is not None and "." not in one:
                self._values[one] = self._of_column(one, str(code_column(one)), shapes[one])
            elif one in _COLUMNS and shapes[one] in _SCALARS:
                self._values[one] = self._of_column(one, _COLUMNS[one], shapes[one])
            else:
                by_table.setdefault(_TABLES.get(shapes[one], "scalars"), []).append(one)
        for table, several in by_table.items():
            self._read_table(table, several, shapes)

    def _of_column(self, attribute: str, column: str, shape: AnswerShape) -> Values:
        held = _one(self.catalog.arrow("products", [column])[column])
        there = np.flatnonzero(pc.is_valid(held).to_numpy(zero_copy_only=False))
        texts = held.take(pa.array(there)).cast(_TEXT)
        nothing = pa.nulls(len(there), _TEXT)
        position = pa.array([""] * len(there), _TEXT)
        return Values(attribute, shape, there, position, nothing, nothing, texts, texts)

    def _read_table(self, table: str, attributes: list[str], shapes: Mapping[str, AnswerShape]) -> None:
        names = {
            "texts": ["text", "language_code", "language"],
            "codes": ["code"],
            "quantities": ["value", "unit_code"],
            "scalars": ["value", "type"],
        }[table]
        meant = pc.field("attribute").isin(attributes)
        rows = self.catalog.arrow(table, ["product_id", "attribute", "position", *names], meant)
        product = pc.index_in(rows["product_id"], self.ids).to_numpy()
        order = np.argsort(product, kind="stable")
        rows, product = rows.take(pa.array(order)), product[order].astype(np.int64)
        for one in attributes:
            is_own = pc.equal(rows["attribute"], one)
            if table == "scalars":
                is_own = pc.and_(is_own, pc.equal(rows["type"], _SCALARS[shapes[one]]))
            own = rows.filter(is_own)
            chosen = product[_one(is_own).to_numpy(zero_copy_only=False)]
            texts = _quantities(own) if table == "quantities" else _one(own[names[0]]).cast(_TEXT)
            nothing = pa.nulls(own.num_rows, _TEXT)
            is_text = table == "texts"
            self._values[one] = Values(
                one,
                shapes[one],
                chosen,
                _one(own["position"]).cast(_TEXT).fill_null(""),
                _one(own["language_code"]).cast(_TEXT) if is_text else nothing,
                _one(own["language"]).cast(_TEXT) if is_text else nothing,
                texts,
                texts,
            )

    def prepare(self, steps: Sequence[RecipeStep]) -> None:
        """Read what steps need, each table once; what cannot be read is said by its step."""
        names = [one.attribute for one in steps]
        names += [one.operation.from_attribute or "" for one in steps if isinstance(one.operation, CopyFrom)]
        names += [one.operation.to_attribute or "" for one in steps if isinstance(one.operation, MoveText)]
        known = []
        for name in map(self.wire_path, filter(None, names)):
            try:
                self.shape_of(name)
            except StepImpossible:
                continue
            known.append(name)
        self.read(known)

    def mask(self, where: Mapping[str, Any]) -> Mask:
        """Return which of the products a step is about, by the catalogue as it came."""
        key = _key_of(where)
        if key not in self._masks:
            self._masks[key] = self._chosen_by(where) if where else np.ones(len(self.ids), bool)
        return self._masks[key]

    def _chosen_by(self, where: Mapping[str, Any]) -> Mask:
        chosen = (self.catalog.where(**where) if where else self.catalog).arrow("products", ["product_id"])
        found: Mask = pc.is_in(self.ids, _one(chosen["product_id"])).to_numpy(zero_copy_only=False)
        return found

    @property
    def changed(self) -> Rows:
        """Return the numbers of the products of which something changes."""
        found = [one.product[one.changed] for one in self.touched]
        return np.unique(np.concatenate([np.zeros(0, np.int64), *found]))

    def may_choose_others(self, where: Mapping[str, Any]) -> bool:
        """Whether what changes may decide which products keywords of `where` choose."""
        changed = {one.attribute for one in self.touched if len(one.changed)}
        return bool(changed) and any(_WIRE.get(name) in changed | {None} for name in where)

    def ask_about_growth(self, steps: Sequence[RecipeStep], after: Catalog | None = None) -> None:
        """Do steps once more with what they have made, and ask back what changes again: it would do so every night.

        Parameters
        ----------
        steps
            The steps, without those that cannot be done.
        after
            The products that are chosen then, as they are then; None where what changes does not decide it.
        """
        if not len(changed := self.changed):
            return
        again = ProductsInWork(self.catalog if after is None else after, self.whole)
        again.__dict__ |= {"ids": self.ids, "shapes": self.shapes}
        again._values = {name: replace(one, questions={}) for name, one in self._values.items()}
        chosen = np.zeros(len(self.ids), bool)
        chosen[changed] = True
        for where in ({}, *(one.where for one in steps)):
            again._masks[_key_of(where)] = chosen & again._chosen_by(where)
        for step in steps:
            again.done(step)
        for name, values in self._values.items():
            rows = values.changed
            now, then = (one.now.take(pa.array(rows)).to_pylist() for one in (values, again._values[name]))
            for row, value, next_value in zip(rows.tolist(), now, then, strict=True):
                if value != next_value:
                    asked = (*values.asked_of(row, value), _grows(next_value))
                    values.questions[row] = value, asked

    def done(
        self,
        step: RecipeStep,
        function: Callable[[int, str | None], NewValue] | None = None,
        *,
        is_typed: bool = False,
    ) -> StepDone:
        """Do a step, and return what it did; what it cannot do is in the result.

        Parameters
        ----------
        step
            The step.
        function
            In place of its operation: gets number and value of a product, and returns the new one.
        """
        try:
            return self._done(step, function, is_typed=is_typed)
        except ProdexError as error:
            return StepDone(step, impossible=str(error))

    def _done(
        self, step: RecipeStep, function: Callable[[int, str | None], NewValue] | None, *, is_typed: bool
    ) -> StepDone:
        attribute = self.wire_path(step.attribute)
        shape = self.shape_of(attribute)
        operation = step.operation
        if function is None and shape not in operation.shapes:
            kinds = ", ".join(sorted(one.value for one in operation.shapes))
            raise StepImpossible(f"{operation.do!r} is for {kinds}, and {attribute} holds a {shape.value}.")
        if step.language is not None and shape is not AnswerShape.TEXT:
            raise StepImpossible(
                f"{attribute} holds a {shape.value}, which has no language. Leave language out."
            )
        tag = None if step.language is None else language_tag(step.language)
        values = self.values(attribute)
        chosen = self.mask(step.where)
        rows = np.flatnonzero(chosen[values.product] & values.in_language(tag) & values.is_there)
        has_any = np.zeros(len(self.ids), bool)
        has_any[values.product[rows]] = True
        lacking = np.flatnonzero(chosen & ~has_any)
        place = _Place(values, chosen, rows, lacking, tag)
        if function is not None:
            return self._called(step, place, function, is_typed=is_typed)
        match operation:
            case ReplaceText() | ChangeCase() | TrimSpaces() | RemovePrefix():
                return self._transformed(step, place, operation)
            case ConvertUnit():
                return self._converted(step, place, operation)
            case RemoveValue():
                kept, several = place.without_several(rows)
                return _changed(step, place, kept, pa.nulls(len(kept), _TEXT), several)
            case SetValue(value) | SetCode(value):
                new, questions = self.as_stored(attribute, value, is_typed=True)
                return self._set(step, place, dict.fromkeys(np.flatnonzero(chosen).tolist(), new), questions)
            case CopyFrom():
                return self._copied(step, place, operation)
            case MoveText():
                return self._moved(step, place, operation)
            case _:
                assert_never(operation)

    def _transformed(
        self, step: RecipeStep, place: _Place, operation: ReplaceText | ChangeCase | TrimSpaces | RemovePrefix
    ) -> StepDone:
        values, rows = place.values, place.rows
        taken = pa.array(rows)
        made = _side_by_side(operation, values.now.take(taken), values.language.take(taken))
        refused = [(int(values.product[rows[one]]), int(rows[one]), why) for one, why in made.refused.items()]
        return place.asked_of_each(_changed(step, place, rows, made.values, refused))

    def _converted(self, step: RecipeStep, place: _Place, operation: ConvertUnit) -> StepDone:
        values, rows = place.values, place.rows
        held = values.now.take(pa.array(rows)).dictionary_encode()
        results: list[str] = []
        problems: dict[int, str] = {}
        for place_of, one in enumerate(held.dictionary.to_pylist()):
            unit = one.rpartition(" ")[2]
            try:
                results.append(one if operation.only not in (None, unit) else operation.converted(one))
            except InputError as error:
                results.append(one)
                problems[place_of] = str(error)
        indices = held.indices.to_numpy(zero_copy_only=False)
        new = pa.array(results, _TEXT).take(held.indices)
        refused = []
        if problems:
            why = np.array([problems.get(one, "") for one in range(len(results))], object)[indices]
            refused = [
                (int(values.product[rows[one]]), int(rows[one]), str(why[one])) for one in np.flatnonzero(why)
            ]
        inexact = self._inexact(values, rows[_differs(new, values, rows)])
        if inexact:
            stays = np.isin(rows, np.fromiter(inexact.keys(), np.int64, len(inexact)))
            new = pc.if_else(pa.array(stays), values.now.take(pa.array(rows)), new)
            refused += [
                (int(values.product[row]), row, f"{spelled} is no number that is converted exactly.")
                for row, spelled in inexact.items()
            ]
        for meant, why_twice in self._several(values, rows, new, operation.to):
            new = pc.if_else(pa.array(meant), values.now.take(pa.array(rows)), new)
            refused += [(int(values.product[row]), int(row), why_twice) for row in rows[meant].tolist()]
        unread = self._unread(values, place.chosen, "converted")
        made = _changed(step, place, rows, new, [*refused, *unread])
        return replace(made, without=made.without - len(place.absent & {product for product, *_ in unread}))

    def _several(self, values: Values, rows: Rows, new: pa.Array, to: str) -> Iterator[tuple[Mask, str]]:
        """Yield which rows would hold a second quantity in one unit, two answers to one question, and why."""
        differs, owners = _differs(new, values, rows), values.product[rows]
        units = pc.list_element(pc.split_pattern(values.now, " "), 1).dictionary_encode()
        in_unit = pc.equal(units.dictionary_decode(), to).fill_null(False).to_numpy(zero_copy_only=False)
        have_one = np.isin(owners, values.product[in_unit])
        yield differs & have_one, f"the product has a quantity in {to} already."
        # Several of one unit were as many before; those of several units are told apart by these.
        number = units.indices.fill_null(-1).to_numpy(zero_copy_only=False)[rows]
        pairs = set(zip(owners[differs].tolist(), number[differs].tolist(), strict=True))
        counts = Counter(owner for owner, _ in pairs)
        mixed = np.isin(owners, [owner for owner, count in counts.items() if count > 1])
        why = f"the product has quantities in several units, and would have several in {to}."
        yield differs & mixed & ~have_one, why

    def _inexact(self, values: Values, rows: Rows) -> dict[int, str]:
        """Return the rows whose number is not the one in the record, which may have more digits, as it is there."""
        found: dict[int, str] = {}
        # What an earlier step has set is what it is.
        rows = rows[
            pc.equal(*(one.take(pa.array(rows)) for one in (values.now, values.before)))
            .fill_null(False)
            .to_numpy(zero_copy_only=False)
        ]
        if not len(rows):
            return found
        ids = self.ids.take(pa.array(values.product[rows])).to_pylist()
        records = self.records(ids)
        columns = (one.take(pa.array(rows)).to_pylist() for one in (values.position, values.now))
        for row, product, position, text in zip(rows.tolist(), ids, *columns, strict=True):
            if "." in position:  # a list in a list, which is not corrected here
                continue
            held = records[product].get(values.attribute)
            item = held[int(position)] if isinstance(held, list) and position else held
            number = item.get("data") if isinstance(item, dict) else item
            spelled = number.strip().replace(",", ".") if isinstance(number, str) else repr(number)
            amount = text.partition(" ")[0]
            if exact_value(spelled) != exact_value(amount) or math.isinf(float(amount)):
                found[row] = in_words(item)
        return found

    def _unread(self, values: Values, chosen: Mask, done: str) -> list[tuple[int, int, str]]:
        """Return the products of which an amount is no number that tables can hold, which are not without one."""
        if values.shape is not AnswerShape.QUANTITY:
            return []
        rows = self.catalog.arrow(
            "scalars", ["product_id", "value"], pc.field("attribute") == f"{values.attribute}.data"
        )
        owners = pc.index_in(rows["product_id"], self.ids).to_pylist()
        return [
            (owner, -1, f"{amount} is no number that is {done} exactly.")
            for owner, amount in zip(owners, rows["value"].to_pylist(), strict=True)
            if chosen[owner]
        ]

    def records(self, ids: Sequence[str]) -> Mapping[str, Product]:
        """Return the records of products by their ids, among others; each is read once."""
        lacking = [one for one in dict.fromkeys(ids) if one not in self.received]
        if lacking:
            self.received |= received_products(self.catalog, lacking)
        return self.received

    def as_stored(self, attribute: str, value: Any, *, is_typed: bool = False) -> tuple[str, tuple[str, ...]]:
        """Return a value as its column has it, and what is to be asked about it.

        Of what a person has typed it is asked whether a remark, or a word that takes values away elsewhere, is meant.

        Raises
        ------
        AnswerRefused
            When it is no value of the attribute.
        """
        shape = self.shape_of(attribute)
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # a column of floats
        match shape:
            case AnswerShape.TEXT | AnswerShape.STRING:
                if not isinstance(value, str) or not value.strip():
                    raise AnswerRefused(f"{value!r:.60} is no text, which {attribute} takes.")
                try:
                    value.encode()
                except UnicodeEncodeError:
                    raise AnswerRefused(
                        f"{value!r:.60} has half of a character, which cannot be sent."
                    ) from None
                return value, _questions_about(attribute, value) if is_typed else ()
            case AnswerShape.BOOLEAN:
                return str(value if isinstance(value, bool) else boolean(str(value))).lower(), ()
            case AnswerShape.INTEGER | AnswerShape.NUMBER:
                if isinstance(value, bool):
                    raise AnswerRefused(f"{value!r} is no number, which {attribute} takes.")
                found = number(value) if isinstance(value, str) else number(repr(value), is_stored=True)
                if shape is AnswerShape.INTEGER and not isinstance(found, int):
                    raise AnswerRefused(f"{value!r:.60} is not a whole number, which {attribute} takes.")
                return repr(found), ()
            case AnswerShape.QUANTITY:
                amount, unit = self.words(attribute).quantity(str(value))
                return f"{amount!r} {unit}", ()
        return self._code(attribute, str(value))

    def _code(self, attribute: str, value: str) -> tuple[str, tuple[str, ...]]:
        words = self.words(attribute)
        code = words.code(attribute, value)
        if code in words.in_use(attribute) or is_standard_code(attribute, code):
            return code, ()
        near = ", ".join(words.nearest(attribute, code))
        question = (
            f"{code!r:.60} is a code of {attribute} that no product of the catalogue and no list has"
            f"{f'; the nearest: {near}' if near else ''}. Is it meant?"
        )
        return code, (question,)

    def _set(
        self,
        step: RecipeStep,
        place: _Place,
        wanted: Mapping[int, str],
        questions: tuple[str, ...] = (),
        codes: Mapping[int, str | None] | None = None,
    ) -> StepDone:
        """Let products have values, each at the one place that is meant."""
        values = place.values
        targets, refused = place.targets(wanted)
        rows = np.fromiter(targets.keys(), np.int64, len(targets))
        new = pa.array(list(targets.values()), _TEXT)
        absent = {product: value for product, value in wanted.items() if product in place.absent}
        if absent and (why := place.why_not_added()):
            refused += [(product, -1, why) for product in absent]
            absent = {}
        added = self._added(place, absent, codes)
        made = _changed(step, place, rows, new, refused, lacking=False)
        if questions:
            rows_asked = np.concatenate([made.changed, added])
            held = values.now.take(pa.array(rows_asked)).to_pylist()
            values.questions |= {
                row: (value, questions) for row, value in zip(rows_asked.tolist(), held, strict=True)
            }
        if not len(added):
            return made
        return replace(
            made,
            changed=np.concatenate([made.changed, added]),
            before=_joined(made.before, pa.nulls(len(added), _TEXT)),
            after=_joined(made.after, values.now.take(pa.array(added))),
        )

    def _added(
        self, place: _Place, absent: Mapping[int, str], codes: Mapping[int, str | None] | None = None
    ) -> Rows:
        """Let products have values that have none, where an earlier step took one away, or in a new row."""
        values = place.values
        if not absent:
            return np.zeros(0, np.int64)
        gone = np.flatnonzero(values.in_language(place.tag) & ~values.is_there)
        by_product = {int(values.product[row]): int(row) for row in gone[::-1]}
        again = {product: by_product[product] for product in absent if product in by_product}
        if again:
            rows = np.fromiter(again.values(), np.int64, len(again))
            values.put(rows, pa.array([absent[product] for product in again], _TEXT))
        fresh = [product for product in absent if product not in again]
        new = values.add(
            np.array(fresh, np.int64),
            pa.array([absent[one] for one in fresh], _TEXT),
            place.tag,
            [codes.get(one) for one in fresh] if codes else None,
        )
        return np.concatenate([np.fromiter(again.values(), np.int64, len(again)), new])

    def _called(
        self,
        step: RecipeStep,
        place: _Place,
        function: Callable[[int, str | None], NewValue],
        *,
        is_typed: bool,
    ) -> StepDone:
        """Ask a function for the new value of each value, and of each product that has none."""
        values, rows = place.values, place.rows
        attribute = values.attribute
        held = values.now.take(pa.array(rows)).to_pylist()
        # A list of values sets one of each product, and a function makes a new value of each that is there.
        several = place.why_not_set() if is_typed else {}
        beside = values.of_several(rows, place.tag)
        new: list[str | None] = []
        refused: list[tuple[int, int, str]] = []
        asked: dict[int, tuple[str, tuple[str, ...]]] = {}

        def answered(product: int, row: int, value: str | None) -> str | None:
            try:
                given = function(product, value)
                if given is None or (isinstance(given, str) and given == value):
                    return value
                why = several.get(product, "")
                if given is REMOVE and row in beside:
                    why = why or place.why_none_of(beside[row])
                if why:
                    refused.append((product, row, why))
                    return value
                if given is REMOVE:
                    return None
                stored, questions = self.as_stored(attribute, given, is_typed=is_typed)
            except AnswerRefused as error:
                refused.append((product, row, str(error)))
                return value
            if questions:
                asked[row] = stored, questions
            return stored

        for row, value in zip(rows.tolist(), held, strict=True):
            new.append(answered(int(values.product[row]), row, value))
        made = place.asked_of_each(_changed(step, place, rows, pa.array(new, _TEXT), refused))
        values.questions |= {row: asked[row] for row in made.changed.tolist() if row in asked}
        wanted: dict[int, str] = {}
        if not place.why_not_added():
            for product in place.lacking.tolist():
                before = len(refused)
                value = answered(product, -1, None)
                if value is not None:
                    wanted[product] = value
                elif len(refused) > before:
                    continue
        added = self._set(step, replace(place, rows=np.zeros(0, np.int64)), wanted) if wanted else None
        if added is None:
            return replace(made, refused=refused)
        return replace(
            added,
            changed=np.concatenate([made.changed, added.changed]),
            before=_joined(made.before, added.before),
            after=_joined(made.after, added.after),
            so_already=made.so_already,
            refused=[*refused, *added.refused],
            without=len(place.lacking) - len(wanted),
        )

    def _copied(self, step: RecipeStep, place: _Place, operation: CopyFrom) -> StepDone:
        source_name = place.values.attribute
        if operation.from_attribute is not None:
            source_name = self.wire_path(operation.from_attribute)
        shape = self.shape_of(source_name)
        own = place.values.shape
        if shape is not own and {shape, own} != {AnswerShape.INTEGER, AnswerShape.NUMBER}:
            raise StepImpossible(
                f"{source_name} holds a {shape.value}, and {place.values.attribute} a {own.value}: one is no other."
            )
        tag = place.tag if operation.from_language is None else language_tag(operation.from_language)
        if own is AnswerShape.TEXT:
            return self._copied_texts(step, place, operation, self.values(source_name), tag)
        if operation.from_language is not None:
            raise StepImpossible(
                f"{source_name} holds a {shape.value}, which has no language. Leave from_language out."
            )
        return self._copied_rows(step, place, operation, self.values(source_name), None)

    def _copied_texts(
        self, step: RecipeStep, place: _Place, operation: CopyFrom, source: Values, tag: str | None
    ) -> StepDone:
        if source is place.values and (place.tag is None or _is_one_tag(tag, place.tag)):
            raise StepImpossible(
                "it is copied from where it is. Give the language of the step, and another one to copy from."
            )
        if place.tag is not None:
            return self._copied_rows(step, place, operation, source, tag)
        # Each language into the same one.
        rows = np.flatnonzero(place.chosen[source.product] & source.is_there & source.in_language(tag))
        languages = _languages_of(source, rows)
        parts = [
            self._copied_rows(step, self.place(place.values, place.chosen, one), operation, source, one)
            for one in languages
        ]
        made = _together(step, place, parts)
        known = np.zeros(len(source.product), bool)
        for one in languages:
            known |= source.in_language(one)
        unknown = [(int(source.product[row]), -1, _NO_LANGUAGE) for row in rows[~known[rows]].tolist()]
        return replace(made, refused=[*made.refused, *unknown])

    def place(self, values: Values, chosen: Mask, tag: str | None) -> _Place:
        """Return the values of products in a language."""
        rows = np.flatnonzero(chosen[values.product] & values.in_language(tag) & values.is_there)
        has_any = np.zeros(len(self.ids), bool)
        has_any[values.product[rows]] = True
        return _Place(values, chosen, rows, np.flatnonzero(chosen & ~has_any), tag)

    def _copied_rows(
        self, step: RecipeStep, place: _Place, operation: CopyFrom, source: Values, tag: str | None
    ) -> StepDone:
        rows = np.flatnonzero(place.chosen[source.product] & source.is_there & source.in_language(tag))
        held = dict(zip(rows.tolist(), source.now.take(pa.array(rows)).to_pylist(), strict=True))
        # An empty text is no value to copy.
        rows = np.array([row for row in rows.tolist() if held[row].strip()], np.int64)
        wanted, several = _one_each(source, rows, held)
        refused = [
            (
                one,
                -1,
                f"{source.attribute} has several values{_in_codes(source, own)}, and it is not known which is meant.",
            )
            for one, own in several.items()
        ]
        if source.shape in _NUMBERS:
            for row, spelled in self._inexact(source, rows).items():
                if wanted.pop(product := int(source.product[row]), None) is not None:
                    refused.append((product, -1, f"{spelled} is no number that is copied exactly."))
        if not operation.replace:
            there: dict[int, dict[str, str]] = {}
            for row, value in zip(
                place.rows.tolist(), place.values.now.take(pa.array(place.rows)).to_pylist(), strict=True
            ):
                there.setdefault(int(place.values.product[row]), {})[composed(value)] = value
            other = [one for one in wanted if one in there and composed(wanted[one]) not in there[one]]
            # What is there in another form of Unicode is there already.
            wanted = {one: there.get(one, {}).get(composed(value), value) for one, value in wanted.items()}
            refused += [
                (one, -1, f"{place.in_words} holds another value already: {min(there[one])[:60]!r}.")
                for one in other
            ]
            wanted = {one: value for one, value in wanted.items() if one not in set(other)}
        is_same = operation.from_language is None and "-" not in (place.tag or "")
        made = self._set(step, place, wanted, codes=_codes_of(source, rows) if is_same else None)
        sources = set(source.product[rows].tolist())
        unread = [one for one in self._unread(source, place.chosen, "copied") if one[0] not in sources]
        sources |= {product for product, *_ in unread}
        return replace(
            made,
            refused=[*made.refused, *refused, *unread],
            without=int(place.chosen.sum()) - len(sources),
        )

    def _moved(self, step: RecipeStep, place: _Place, operation: MoveText) -> StepDone:
        source = place.values
        target_name = source.attribute
        if operation.to_attribute is not None:
            target_name = self.wire_path(operation.to_attribute)
        if self.shape_of(target_name) is not AnswerShape.TEXT:
            raise StepImpossible(
                f"{target_name} holds a {self.shape_of(target_name).value}, and takes no text."
            )
        target = self.values(target_name)
        tag = None if operation.to_language is None else language_tag(operation.to_language)
        rows, several = place.without_several(place.rows)
        if target is source:
            if tag is None or _is_one_tag(tag, place.tag):
                raise StepImpossible("it is moved to where it is. Give another attribute or language.")
            # What is in the language already is where it is to be.
            rows = rows[~source.in_language(tag)[rows]]
        parts = []
        left = rows
        for one in [tag] if tag is not None else _languages_of(source, rows):
            own = left if tag is not None else left[source.in_language(one)[left]]
            left = np.setdiff1d(left, own)
            parts.append(
                self._moved_rows(step, place, self.place(target, place.chosen, one), own, tag is None)
            )
        made = _together(step, place, parts)
        unknown = [(int(source.product[row]), row, _NO_LANGUAGE) for row in left.tolist()]
        return replace(made, without=len(place.lacking), refused=[*several, *made.refused, *unknown])

    def _moved_rows(
        self, step: RecipeStep, place: _Place, there: _Place, rows: Rows, keeps_language: bool
    ) -> StepDone:
        source, target = place.values, there.values
        held = dict(zip(rows.tolist(), source.now.take(pa.array(rows)).to_pylist(), strict=True))
        owner = {int(source.product[row]): row for row in rows.tolist()}
        wanted, several = _one_each(source, rows, held)
        refused = [
            (
                one,
                own[0],
                f"{source.attribute} has several texts to move{_in_codes(source, own)}, and only one fits there.",
            )
            for one, own in several.items()
        ]
        # Where several texts may be the other place, it is not known whether one of them is where this text is to be.
        for _, row, why in there.without_several(there.rows)[1]:
            if (product := int(target.product[row])) in wanted:
                refused.append((product, owner[product], why))
                del wanted[product]
        present: dict[int, set[str]] = {}
        for row, value in zip(
            there.rows.tolist(), target.now.take(pa.array(there.rows)).to_pylist(), strict=True
        ):
            present.setdefault(int(target.product[row]), set()).add(composed(value))
        for one in list(wanted):
            if one in present and composed(wanted[one]) not in present[one]:
                refused.append(
                    (
                        one,
                        owner[one],
                        f"{there.in_words} holds another text already: {min(present[one])[:60]!r}.",
                    )
                )
                del wanted[one]
        absent = {one: value for one, value in wanted.items() if one not in present}
        if absent and (why := there.why_not_added()):
            refused += [(one, owner[one], why) for one in absent]
            wanted = {one: value for one, value in wanted.items() if one in present}
            absent = {}
        arrived = self._added(there, absent, _codes_of(source, rows) if keeps_language else None)
        by_product = {int(target.product[row]): int(row) for row in arrived}
        taken = np.array([owner[one] for one in wanted], np.int64)
        result = _changed(step, place, taken, pa.nulls(len(taken), _TEXT), [], lacking=False)
        for one, other in by_product.items():
            self._bind(source, owner[one], target, other)
        # Where the text stands already, it has to stand there still when it is taken away here.
        for row, value in zip(
            there.rows.tolist(), target.now.take(pa.array(there.rows)).to_pylist(), strict=True
        ):
            product = int(target.product[row])
            if (
                product in wanted
                and composed(wanted[product]) == composed(value)
                and product not in by_product
            ):
                self._bind(source, owner[product], target, row)
        there_now = {owner[one]: (target, other) for one, other in by_product.items()}
        return replace(result, refused=refused, arrived=there_now)

    def _bind(self, source: Values, row: int, target: Values, other: int) -> None:
        """Let two rows be sent together or not at all, with all that they are bound to already."""
        known = {number for number in (int(source.bound[row]), int(target.bound[other])) if number >= 0}
        if not known:
            self._bindings += 1
        number = min(known, default=self._bindings - 1)
        for one in known - {number}:
            for values in self.touched:
                values.bound[values.bound == one] = number
        source.bound[row] = target.bound[other] = number


@dataclass(frozen=True, eq=False)
class _Place:
    """The values that a step is about.

    Attributes
    ----------
    values
        Of its attribute.
    chosen
        Which products it is about.
    rows
        Their values, in its language.
    lacking
        Those of the products that have none.
    tag
        The language; None for all of them.
    """

    values: Values
    chosen: Mask
    rows: Rows
    lacking: Rows
    tag: str | None

    @cached_property
    def absent(self) -> frozenset[int]:
        return frozenset(self.lacking.tolist())

    @property
    def in_words(self) -> str:
        return f"{self.values.attribute}{f' in {self.tag}' if self.tag else ''}"

    def why_not_added(self) -> str:
        """Return why a product that has no value here can get none; "" if it can."""
        if self.values.is_text and "." in self.values.attribute:
            return "there is no text yet, and it is not known which item of the attribute it belongs to."
        if self.values.is_text and self.tag is None:
            return "there is no text yet. Give a language to add one."
        return ""

    def targets(self, wanted: Mapping[int, str]) -> tuple[dict[int, str], list[tuple[int, int, str]]]:
        """Return the one row of each product that gets its value, and the products of which that is not certain."""
        owners = self.values.product[self.rows]
        # Nearly every product has one value, of which nothing has to be asked.
        has_one = (np.bincount(owners, minlength=1) == 1)[owners] if len(owners) else np.zeros(0, bool)
        single = zip(self.rows[has_one].tolist(), owners[has_one].tolist(), strict=True)
        found = {row: wanted[product] for row, product in single if product in wanted}
        rows: dict[int, list[int]] = {}
        for row, product in zip(self.rows[~has_one].tolist(), owners[~has_one].tolist(), strict=True):
            rows.setdefault(product, []).append(row)
        refused = []
        for product, own in rows.items():
            if product not in wanted:
                continue
            meant = self._meant(own, wanted[product])
            if len(meant) == 1:
                found[meant[0]] = wanted[product]
            else:
                refused.append((product, own[0], self._why_several(meant)))
        return found, refused

    def _meant(self, rows: list[int], new: str) -> list[int]:
        held = {row: self.values.now[row].as_py() for row in rows}
        if same := [row for row in rows if held[row] == new]:
            # It is one of several already; of texts, the others may be meant.
            return same[:1] if not self.values.is_text else rows
        if self.values.shape is AnswerShape.QUANTITY:
            kind = dimension(new.rpartition(" ")[2])
            return [row for row in rows if dimension(held[row].rpartition(" ")[2]) == kind] or rows
        return rows

    def _why_several(self, rows: list[int]) -> str:
        held = self.values.variants(np.array(rows, np.int64)) if self.values.is_text else []
        if len({None if one is None else tag_of(one) for one in held}) > 1:
            if self.tag is not None:
                return self.why_none_of(codes_in_words(held))
            languages = {None if one is None else short_of(one) for one in held}
            # A language is enough where each text has its own.
            names = sorted(map(str, languages)) if len(languages) == len(held) else [codes_in_words(held)]
            return f"it has texts in {', '.join(names)}. Give the language that is meant."
        what = "texts" if self.values.is_text else "values"
        return f"it has {len(rows)} {what} there, and it is not known which is meant."

    def why_none_of(self, codes: str) -> str:
        """Say that the language means several texts, by their codes, and that none of them is taken for the other."""
        named = f"{self.values.attribute} has texts in {codes}"
        return f"{named}, and {self.tag!r} means each of them. Give the code of the one that is meant."

    def without_several(self, rows: Rows) -> tuple[Rows, list[tuple[int, int, str]]]:
        """Return rows but those that the language means beside others, and why these are refused, by product."""
        several = self.values.of_several(rows, self.tag)
        if not several:
            return rows, []
        refused: dict[int, tuple[int, int, str]] = {}
        for row, codes in several.items():
            product = int(self.values.product[row])
            refused.setdefault(product, (product, row, self.why_none_of(codes)))
        # Of such a product, nothing is done.
        kept = ~np.isin(self.values.product[rows], np.array(list(refused), np.int64))
        return rows[kept], list(refused.values())

    def why_not_set(self) -> dict[int, str]:
        """Return of each product that has several texts here why none of them is set."""
        if not self.values.is_text:
            return {}
        own: dict[int, list[int]] = {}
        for row, product in zip(self.rows.tolist(), self.values.product[self.rows].tolist(), strict=True):
            own.setdefault(product, []).append(row)
        return {product: self._why_several(rows) for product, rows in own.items() if len(rows) > 1}

    def asked_of_each(self, done: StepDone) -> StepDone:
        """Ask of each changed text whether it is meant, where the language means several of one list."""
        several = self.values.of_several(self.rows, self.tag)
        for row in done.changed.tolist() if several else ():
            if row in several:
                (code,) = self.values.variants(np.array([row], np.int64))
                self.values.doubts[row] = (
                    f"{self.values.attribute} has texts in {several[row]}, and {self.tag!r} means each of them. Is the "
                    f"one in {code} meant?"
                )
        return done


def _changed(
    step: RecipeStep,
    place: _Place,
    rows: Rows,
    new: pa.Array,
    refused: Sequence[tuple[int, int, str]],
    *,
    lacking: bool = True,
) -> StepDone:
    """Let rows hold new values, and return which have changed."""
    values = place.values
    old = values.now.take(pa.array(rows))
    same = pc.equal(old, new).fill_null(False).to_numpy(zero_copy_only=False)
    different = np.flatnonzero(~same)
    changed, taken = rows[different], pa.array(different)
    values.put(changed, new.take(taken))
    not_done = np.array([row for _, row, _ in refused], np.int64)
    so_already = rows[same]
    if len(not_done):
        so_already = so_already[~np.isin(so_already, not_done)]
    without = len(place.lacking) if lacking else 0
    return StepDone(
        step, values, "", changed, old.take(taken), new.take(taken), so_already, list(refused), without
    )


def _differs(new: pa.Array, values: Values, rows: Rows) -> Mask:
    """Return which of some rows would hold something else."""
    differs: Mask = pc.not_equal(new, values.now.take(pa.array(rows))).to_numpy(zero_copy_only=False)
    return differs


def _together(step: RecipeStep, place: _Place, parts: Sequence[StepDone]) -> StepDone:
    """Return what a step did language by language."""
    if not parts:
        return StepDone(step, place.values, without=int(place.chosen.sum()))
    return StepDone(
        step,
        parts[0].values,
        "",
        np.concatenate([one.changed for one in parts]),
        pa.concat_arrays([one.before for one in parts]),
        pa.concat_arrays([one.after for one in parts]),
        np.concatenate([one.so_already for one in parts]),
        [refusal for one in parts for refusal in one.refused],
        min(one.without for one in parts),
        arrived={row: there for one in parts for row, there in one.arrived.items()},
    )


#: Texts that are worth a thread.
_MANY: Final = 20_000


def _side_by_side(operation: TextOperation, texts: pa.Array, languages: pa.Array) -> Transformed:
    """Do an operation with parts of many texts at a time: Arrow needs no Python while it does."""
    if len(texts) <= _MANY:
        return operation.transformed(texts, languages)
    starts = range(0, len(texts), _MANY)
    parts = side_by_side(
        lambda start: operation.transformed(texts.slice(start, _MANY), languages.slice(start, _MANY)), starts
    )
    values: list[pa.Array] = []
    refused: dict[int, str] = {}
    for start, made in zip(starts, parts, strict=True):
        values.append(made.values)
        refused |= {start + row: why for row, why in made.refused.items()}
    return Transformed(pa.concat_arrays(values), refused)


#: Why a text is neither moved nor copied.
_NO_LANGUAGE: Final = "its language is not known. Give the language that it is to have."


def _codes_of(source: Values, rows: Rows) -> dict[int, str | None]:
    """Return the code of the language of each product's text: it stays the same wherever the text is."""
    codes = source.code.take(pa.array(rows)).to_pylist()
    return dict(zip(source.product[rows].tolist(), codes, strict=True))


def _one_each(
    source: Values, rows: Rows, held: Mapping[int, str]
) -> tuple[dict[int, str], dict[int, list[int]]]:
    """Return the value of each product that has one, and the rows of those that have several."""
    own: dict[int, list[int]] = {}
    for row, product in zip(rows.tolist(), source.product[rows].tolist(), strict=True):
        own.setdefault(product, []).append(row)
    one = {product: held[several[0]] for product, several in own.items() if len(several) == 1}
    return one, {product: several for product, several in own.items() if len(several) > 1}


def _in_codes(values: Values, rows: Sequence[int]) -> str:
    """Return the codes of texts in brackets, where these tell them apart."""
    names = values.variants(np.array(rows, np.int64)) if values.is_text else []
    return f" ({codes_in_words(names)})" if len({tag_of(str(one)) for one in names}) > 1 else ""


def _is_one_tag(one: str | None, other: str | None) -> bool:
    return one == other or (one is not None and other is not None and tag_of(one) == tag_of(other))


def _languages_of(values: Values, rows: Rows) -> list[str]:
    """Return the languages of texts that are known, those with a country first: a language alone means them, too."""
    own = [one for one in values.variants(rows) if one is not None and known_language_tag(one) is not None]
    return sorted(dict.fromkeys(map(tag_of, own)), key=is_whole_language)


def _quantities(rows: pa.Table) -> pa.Array:
    """Return quantities as text: number and code of the unit."""
    pairs = pa.table({"value": rows["value"], "unit": rows["unit_code"]})
    numbers = _one(pairs["value"]).dictionary_encode()
    spelled = pa.array([number_text(one) for one in numbers.dictionary.to_pylist()], _TEXT).take(
        numbers.indices
    )
    units = _one(pairs["unit"]).cast(_TEXT).fill_null("")
    return pc.binary_join_element_wise(spelled, units, pa.scalar(" ", _TEXT))


def _one(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        made = column.combine_chunks()
        return made if isinstance(made, pa.Array) else pa.concat_arrays(made.chunks)
    return column
