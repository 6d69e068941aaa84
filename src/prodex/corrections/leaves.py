"""The leaves of an attribute as columns: whose each is, where it is, what it held, and what it holds now.

A leaf keeps its type: a text, a code, yes or no, an amount with its unit. A number is its spelling in JSON, since Arrow
has no type that keeps every number as it was written.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.changes import differing_leaves
from prodex.languages import Said
from prodex.locales import (
    codes_in_words,
    is_meant,
    is_whole_language,
    language_code,
    short_of,
    tag_of,
    variant_of,
)
from prodex.worklists.answer_kinds import AnswerShape

Rows: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

TEXT: Final = pa.large_string()
#: The fields of a quantity.
AMOUNT, UNIT = "amount", "unit"
QUANTITY: Final = pa.struct([(AMOUNT, TEXT), (UNIT, TEXT)])
#: Of a question about a row, whatever value that has in the end.
_WHATEVER: Final = object()


def no_rows() -> Rows:
    """Return no numbers of rows."""
    return np.zeros(0, np.int64)


@dataclass(eq=False)
class Leaves:
    """All leaves of one attribute among the chosen products, and what becomes of them.

    Attributes
    ----------
    attribute, shape
        Which, and of what kind.
    product
        Whose a row is: the number of the product.
    position, code, language
        Where it is: position, and language code and language of a text; null for a value that was added.
    before, now
        What it held and what it holds; null for nothing.
    bound
        Rows with one number are sent together or not at all, since a text was moved from one to the other; -1 for none.
    questions
        By row what needs confirmation, each question with the value that it is about.
    """

    attribute: str
    shape: AnswerShape
    product: Rows
    position: pa.Array
    code: pa.Array
    language: pa.Array
    before: pa.Array
    now: pa.Array = field(init=False)
    bound: Rows = field(init=False)
    questions: dict[int, dict[Said, Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.now = self.before
        self.bound = np.full(len(self.product), -1, np.int64)

    def copied(self) -> Self:
        """Return them as they are, to try something with; what was asked is not asked of the copy."""
        made = copy.copy(self)
        made.bound, made.questions = self.bound.copy(), {}
        return made

    def ask(self, rows: Iterable[int], question: Said, value: Any = _WHATEVER) -> None:
        """Ask something about rows, as long as they hold a value; by default whatever they hold."""
        for row in rows:
            self.questions.setdefault(row, {})[question] = value

    def asked_of(self, row: int, value: Any) -> tuple[Said, ...]:
        """Return what needs confirmation where a row holds a value in the end."""
        asked = self.questions.get(row, {})
        return tuple(one for one, about in asked.items() if about is _WHATEVER or about == value)

    @property
    def is_text(self) -> bool:
        """Whether they are texts in languages."""
        return self.shape is AnswerShape.TEXT

    def column(self, values: Iterable[Any]) -> pa.Array:
        """Return values as a column of the type of these leaves."""
        return pa.array(list(values), self.before.type)

    def nothing(self, count: int) -> pa.Array:
        """Return a column of no values."""
        return pa.nulls(count, self.before.type)

    def held(self, rows: Rows) -> dict[int, Any]:
        """Return what some rows hold now."""
        return dict(zip(rows.tolist(), self.now.take(pa.array(rows)).to_pylist(), strict=True))

    def texts(self, rows: Rows) -> dict[int, str]:
        """Return what some rows hold now, as text."""
        return dict(zip(rows.tolist(), as_texts(self.now.take(pa.array(rows))).to_pylist(), strict=True))

    def owners(self, rows: Rows) -> dict[int, int]:
        """Return whose some rows are."""
        return dict(zip(rows.tolist(), self.product[rows].tolist(), strict=True))

    def by_product(self, rows: Rows) -> dict[int, list[int]]:
        """Return the rows of each product among some."""
        found: dict[int, list[int]] = {}
        for row, product in self.owners(rows).items():
            found.setdefault(product, []).append(row)
        return found

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

    def spoken(self, rows: Rows) -> pa.Array:
        """Return the short codes of the languages of texts, also where tables know none: of "de-DE" they have none."""
        known = self.language.take(pa.array(rows))
        if not self.is_text or not known.null_count:
            return known
        names, number = self._variants
        own = pa.array([None if one is None else short_of(one) for one in names], TEXT)
        return pc.coalesce(known, own.take(pa.array(number[rows])))

    def variants(self, rows: Sequence[int] | Rows) -> list[str | None]:
        """Return the languages of texts with their countries, as they were sent; None for what is no text."""
        names, number = self._variants
        return [names[one] for one in number[np.array(rows, np.int64)].tolist()]

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
        for (row, product), position in zip(self.owners(rows).items(), positions, strict=True):
            lists.setdefault((product, (position or "").rpartition(".")[0]), []).append(row)
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

    @property
    def is_changed(self) -> Mask:
        """Return which rows hold something else than they did."""
        return differing_rows(self.before, self.now)

    def put(self, rows: Rows, values: pa.Array) -> None:
        """Let rows hold other values."""
        if not len(rows):
            return
        source = np.arange(len(self.now))
        source[rows] = len(self.now) + np.arange(len(rows))
        self.now = join_columns(self.now, values).take(pa.array(source))

    def add(self, values: Mapping[int, Any], tag: str | None, codes: Mapping[int, str | None]) -> Rows:
        """Add rows for values of products that have had nothing of, and return their numbers.

        A text that comes from another place keeps the code of its language.
        """
        count, products = len(values), np.array(list(values), np.int64)
        code = language_code(tag) if tag is not None and "-" in tag else None
        language = None if tag is None else short_of(tag)
        self.product = np.concatenate([self.product, products])
        self.bound = np.concatenate([self.bound, np.full(count, -1, np.int64)])
        self.position = join_columns(self.position, pa.nulls(count, TEXT))
        self.before = join_columns(self.before, self.nothing(count))
        self.code = join_columns(self.code, pa.array([codes.get(one) or code for one in values], TEXT))
        self.language = join_columns(self.language, pa.array([language] * count, TEXT))
        self.now = join_columns(self.now, self.column(values.values()))
        return np.arange(len(self.product) - count, len(self.product))


def quantities(amounts: pa.Array, units: pa.Array) -> pa.Array:
    """Return a column of quantities."""
    return pa.StructArray.from_arrays([amounts.cast(TEXT), units.cast(TEXT)], fields=list(QUANTITY))


def as_texts(values: pa.Array) -> pa.Array:
    """Return a column as people read it, and as functions get it.

    >>> as_texts(quantities(pa.array(["500"]), pa.array(["GRM"])))[0].as_py(), as_texts(pa.array([True]))[0].as_py()
    ('500 GRM', 'true')
    """
    if pa.types.is_struct(values.type):
        parts = [pc.struct_field(values, name) for name in (AMOUNT, UNIT)]
        return pc.binary_join_element_wise(*parts, pa.scalar(" ", TEXT))
    return values.cast(TEXT)


def text_of(value: Any) -> str:
    """Return one value as people read it; "" for none."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case dict():
            return f"{value[AMOUNT]} {value[UNIT]}"
    return str(value)


def differing_rows(one: pa.Array, other: pa.Array) -> Mask:
    """Return at which rows two columns hold something else."""
    found: Mask = differing_leaves(one, other).to_numpy(zero_copy_only=False)
    return found


def join_columns(one: pa.Array, other: pa.Array) -> pa.Array:
    """Return one column behind another."""
    return pa.concat_arrays([one, other.cast(one.type)])


def as_one_array(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return a column as one array."""
    if isinstance(column, pa.ChunkedArray):
        made = column.combine_chunks()
        return made if isinstance(made, pa.Array) else pa.concat_arrays(made.chunks)
    return column
