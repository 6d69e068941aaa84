"""Which leaves a step means: the one of each product that is certain, and why nothing is done where none is.

There, values are put, set, added and taken away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import pyarrow as pa

from prodex.corrections.leaves import UNIT, Leaves, Mask, Rows, differing_rows, no_rows
from prodex.corrections.operations import Transformed
from prodex.languages import Said
from prodex.locales import codes_in_words, short_of, tag_of
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.units import dimension_of


class StepRefusal(NamedTuple):
    """What a step does not do: of which product and row (-1 for none), and why."""

    product: int
    row: int
    why: str


class StepRows(NamedTuple):
    """What a step meant: rows of its leaves, what it refused, and how many of its products have no value there."""

    rows: Rows
    refused: Sequence[StepRefusal] = ()
    without: int = 0
    #: Of texts that were moved: by their row, the leaves and the row where they arrived.
    arrived: Mapping[int, tuple[Leaves, int]] = MappingProxyType({})


#: What each of some products is to hold.
Wanted: TypeAlias = Mapping[int, Any]
#: The codes of the languages that texts of products are in.
Codes: TypeAlias = Mapping[int, str | None]


@dataclass(frozen=True, eq=False)
class StepPlace:
    """The leaves that a step is about.

    Attributes
    ----------
    leaves
        Of its attribute.
    chosen
        Which products it is about.
    rows
        Their leaves, in its language.
    lacking
        Those of the products that have none.
    tag
        The language; None for all of them.
    """

    leaves: Leaves
    chosen: Mask
    rows: Rows
    lacking: Rows
    tag: str | None

    @classmethod
    def of(cls, leaves: Leaves, chosen: Mask, tag: str | None) -> Self:
        """Return the leaves of products in a language."""
        rows = np.flatnonzero(chosen[leaves.product] & leaves.in_language(tag) & leaves.is_there)
        has_any = np.zeros(len(chosen), bool)
        has_any[leaves.product[rows]] = True
        return cls(leaves, chosen, rows, np.flatnonzero(chosen & ~has_any), tag)

    @property
    def in_words(self) -> str:
        """Attribute and language."""
        return f"{self.leaves.attribute}{f' in {self.tag}' if self.tag else ''}"

    def put(self, made: Transformed, without: int | None = None) -> StepRows:
        """Let all rows hold new values; where a language means one beside others, it is asked whether that is meant."""
        leaves, rows = self.leaves, self.rows
        is_new = differing_rows(leaves.now.take(pa.array(rows)), made.values)
        leaves.put(rows[is_new], made.values.filter(pa.array(is_new)))
        self._ask_of_several(rows[is_new])
        owners = leaves.product[rows]
        refused = [StepRefusal(int(owners[one]), int(rows[one]), why) for one, why in made.refused.items()]
        return StepRows(rows, refused, len(self.lacking) if without is None else without)

    def remove(self) -> StepRows:
        """Take all values away, but those that the language means beside others."""
        rows, refused = self.without_several(self.rows)
        self.leaves.put(rows, self.leaves.nothing(len(rows)))
        return StepRows(rows, refused, len(self.lacking))

    def set(
        self, wanted: Wanted, questions: Sequence[Said] = (), codes: Codes = MappingProxyType({})
    ) -> StepRows:
        """Let products have values, each at the one place that is meant."""
        leaves = self.leaves
        targets, refused = self._targets(wanted)
        rows = np.array(list(targets), np.int64)
        absent = {product: wanted[product] for product in self.lacking.tolist() if product in wanted}
        if absent and (why := self.why_not_added()):
            refused += [StepRefusal(product, -1, why) for product in absent]
            absent = {}
        leaves.put(rows, leaves.column(targets.values()))
        rows = np.concatenate([rows, self.add(absent, codes)])
        for row, value in leaves.held(rows).items() if questions else ():
            for question in questions:
                leaves.ask([row], question, value)
        return StepRows(rows, refused)

    def add(self, absent: Wanted, codes: Codes = MappingProxyType({})) -> Rows:
        """Let products have values that have none, where an earlier step took one away, or in a new row."""
        leaves = self.leaves
        if not absent:
            return no_rows()
        gone = leaves.by_product(np.flatnonzero(leaves.in_language(self.tag) & ~leaves.is_there))
        found = {one: self._same_place(gone.get(one, []), new, codes.get(one)) for one, new in absent.items()}
        by_product = {product: row for product, row in found.items() if row is not None}
        again = {row: absent[product] for product, row in by_product.items()}
        rows = np.array(list(again), np.int64)
        leaves.put(rows, leaves.column(again.values()))
        fresh = {product: value for product, value in absent.items() if product not in by_product}
        new = leaves.add(fresh, self.tag, codes)
        return np.concatenate([rows, new])

    def _same_place(self, gone: list[int], new: Any, code: str | None) -> int | None:
        """Return the row, of those that an earlier step has emptied, where a value would be again; None for none.

        A text that keeps its code is not written under that of another country, nor an amount where a number of pieces
        was, with what else was said of that.
        """
        if code is not None:
            own = zip(gone, self.leaves.variants(gone), strict=True)
            gone = [row for row, held in own if held is not None and tag_of(held) == tag_of(code)]
        if self.leaves.shape is AnswerShape.QUANTITY:
            before = self.leaves.before.take(pa.array(gone, pa.int64())).to_pylist()
            kind = dimension_of(new[UNIT])
            own_kind = zip(gone, before, strict=True)
            gone = [row for row, held in own_kind if held is not None and dimension_of(held[UNIT]) == kind]
        return gone[0] if gone else None

    def why_not_added(self) -> str:
        """Return why a product that has no value here can get none; "" if it can."""
        if self.leaves.is_text and "." in self.leaves.attribute:
            return "there is no text yet, and it is not known which item of the attribute it belongs to."
        if self.leaves.is_text and self.tag is None:
            return "there is no text yet. Give a language to add one."
        return ""

    def _targets(self, wanted: Wanted) -> tuple[dict[int, Any], list[StepRefusal]]:
        """Return the one row of each product that gets its value, and the products of which that is not certain."""
        owners = self.leaves.product[self.rows]
        # Nearly every product has one value, of which nothing has to be asked.
        has_one = (np.bincount(owners, minlength=1) == 1)[owners] if len(owners) else np.zeros(0, bool)
        single = zip(self.rows[has_one].tolist(), owners[has_one].tolist(), strict=True)
        found = {row: wanted[product] for row, product in single if product in wanted}
        refused = []
        for product, own in self.leaves.by_product(self.rows[~has_one]).items():
            if product not in wanted:
                continue
            meant = self._meant(own, wanted[product])
            if len(meant) == 1:
                found[meant[0]] = wanted[product]
            else:
                refused.append(StepRefusal(product, own[0], self._why_several(meant)))
        return found, refused

    def _meant(self, rows: list[int], new: Any) -> list[int]:
        held = self.leaves.held(np.array(rows, np.int64))
        if same := [row for row in rows if held[row] == new]:
            # It is one of several already; of texts, the others may be meant.
            return same[:1] if not self.leaves.is_text else rows
        if self.leaves.shape is AnswerShape.QUANTITY:
            kind = dimension_of(new[UNIT])
            return [row for row in rows if dimension_of(held[row][UNIT]) == kind] or rows
        return rows

    def _why_several(self, rows: list[int]) -> str:
        held = self.leaves.variants(rows) if self.leaves.is_text else []
        if len({None if one is None else tag_of(one) for one in held}) > 1:
            if self.tag is not None:
                return self.why_none_of(codes_in_words(held))
            languages = {None if one is None else short_of(one) for one in held}
            # A language is enough where each text has its own.
            names = sorted(map(str, languages)) if len(languages) == len(held) else [codes_in_words(held)]
            return f"it has texts in {', '.join(names)}. Give the language that is meant."
        what = "texts" if self.leaves.is_text else "values"
        return f"it has {len(rows)} {what} there, and it is not known which is meant."

    def why_none_of(self, codes: str) -> str:
        """Say that the language means several texts, by their codes, and that none of them is taken for the other."""
        named = f"{self.leaves.attribute} has texts in {codes}"
        return f"{named}, and {self.tag!r} means each of them. Give the code of the one that is meant."

    def why_not_set(self) -> dict[int, str]:
        """Return of each product that has several texts here why none of them is set."""
        if not self.leaves.is_text:
            return {}
        own = self.leaves.by_product(self.rows)
        return {product: self._why_several(rows) for product, rows in own.items() if len(rows) > 1}

    def without_several(self, rows: Rows) -> tuple[Rows, list[StepRefusal]]:
        """Return rows but those that the language means beside others, and why these are refused, by product."""
        several = self.leaves.of_several(rows, self.tag)
        if not several:
            return rows, []
        refused: dict[int, StepRefusal] = {}
        for row, codes in several.items():
            product = int(self.leaves.product[row])
            refused.setdefault(product, StepRefusal(product, row, self.why_none_of(codes)))
        # Of such a product, nothing is done.
        kept = ~np.isin(self.leaves.product[rows], list(refused))
        return rows[kept], list(refused.values())

    def _ask_of_several(self, rows: Rows) -> None:
        """Ask of each of some texts whether it is meant, where the language means several of one list."""
        several = self.leaves.of_several(self.rows, self.tag)
        for row in rows.tolist() if several else ():
            if row in several:
                (code,) = self.leaves.variants([row])
                named = f"{self.leaves.attribute} has texts in {several[row]}"
                self.leaves.ask(
                    [row], f"{named}, and {self.tag!r} means each of them. Is the one in {code} meant?"
                )


def single_values(
    leaves: Leaves, rows: Rows, held: Mapping[int, Any]
) -> tuple[dict[int, Any], dict[int, list[int]]]:
    """Return the value of each product that has one among some rows, and the rows of those that have several."""
    own = leaves.by_product(rows)
    one = {product: held[several[0]] for product, several in own.items() if len(several) == 1}
    return one, {product: several for product, several in own.items() if len(several) > 1}


def in_codes(leaves: Leaves, rows: Sequence[int]) -> str:
    """Return the codes of texts in brackets, where these tell them apart."""
    names = leaves.variants(rows) if leaves.is_text else []
    return f" ({codes_in_words(names)})" if len({tag_of(str(one)) for one in names}) > 1 else ""
