"""The nutrition that the products of a part declare: one row for each partition, one column for each nutrient."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.nutrition import says_prepared, states_said
from prodex.languages import Message
from prodex.quality.products import ChildRows, Products
from prodex.quality.remembered import has_match
from prodex.quality.text_normalization import folded
from prodex.quality.units import FACTORS
from prodex.quality.verdict import Evidence, Verdict, compared_with
from prodex.tables.columns import Mask, Numbers, Rows, by_value, encoded, is_true, numbers
from prodex.tables.frames import to_frame
from prodex.written_numbers import less_than


class Nutrient(StrEnum):
    """Codes of the nutrients that rules name (GS1, INFOODS)."""

    ENERGY = "ENER-"
    ALCOHOL = "ALC"
    FAT = "FAT"
    SATURATES = "FASAT"
    CARBOHYDRATE = "CHOAVL"
    SUGARS = "SUGAR-"
    STARCH = "STARCH"
    POLYOLS = "POLYL"
    FIBRE = "FIBTG"
    PROTEIN = "PRO-"
    SALT = "SALTEQ"
    SODIUM = "NA"
    #: No list of codes that we know has erythritol: the name is ours, and labels tell it.
    ERYTHRITOL = "ERYTHL"
    #: Organic acids in all (EuroFIR); `ORGANIC_ACIDS` has them one by one as well.
    ACIDS = "OA"


#: Labels of nutrients whose codes are called differently from service to service, folded.
_LABELLED: Mapping[str, str] = {
    Nutrient.ERYTHRITOL: "erythrit|eritrit|erytrit",
    Nutrient.ACIDS: "organic acid|acides? organique|organische saure|organische zur|acidos? organico|acid[oi] organic"
    "|organiske syre|organiska syr|orgaanis",
}
#: Kilojoules and kilocalories by unit code.
_ENERGY_UNITS = {"kJ": {"KJO": 1.0, "JOU": 1e-3}, "kcal": {"E14": 1.0, "K51": 1.0}}
#: Grams that may be declared as 0: up to 0.5, but of these nutrients (guidance of the Commission on tolerances for
#: nutrient values, December 2012, table 4).
_NEGLIGIBLE: Mapping[str, float] = {Nutrient.SATURATES: 0.1, Nutrient.SALT: 0.0125, Nutrient.SODIUM: 0.005}
_NEGLIGIBLE_OTHERS = 0.5
#: Grams from which whole grams are declared.
_WHOLE_FROM = 10
#: What labels give in steps of so many grams for a serving, and the largest serving factor (100 g to 15 g): 21 CFR
#: 101.9(c). From 5 g of fat on, its steps are as large as the others'.
_STEP, _STEP_OF_FAT, _FAT_BY_GRAMS, _SMALLEST_SERVING = 1.0, 0.5, 5.0, 15.0
#: Units of volume: what is in 100 ml can weigh more than 100 g.
_VOLUMES = frozenset(FACTORS["volume"])
#: How much of 100 g or 100 ml one of these units is.
_OF_A_HUNDRED = {"GRM": 0.01, "MLT": 0.01, "KGM": 10.0, "LTR": 10.0, "CLT": 0.1, "MGM": 1e-5}

#: Gives the value of a partition by its row.
Seen: TypeAlias = Callable[[int], str]
#: What is wrong: one reason for all partitions or nutrients, or one that is given by their row.
Why: TypeAlias = "Message | Callable[[int], Message]"


@dataclass(frozen=True)
class NutritionColumns(ChildRows):
    """Every nutrient that a part declares.

    A partition ("100 g", "a serving") is a row of what `amount` and `energy` return, and `product` has the position of
    the product of each partition.

    Attributes
    ----------
    row
        For each nutrient the row of its partition.
    """

    table = "nutrients"
    #: Wire path of the nutrients, and what rules of them need; the basis is what the figures are of.
    PATH: ClassVar[str] = "isPartitionedBy.contains"
    NEEDS: ClassVar[tuple[str, ...]] = tuple(
        f"isPartitionedBy.contains.{leaf}"
        for leaf in ("quantity", "isConceptualizedBy.code", "expressedIn.code")
    )
    #: Organic acids, in all or one by one (INFOODS): their sum is what counts.
    ORGANIC_ACIDS: ClassVar[tuple[str, ...]] = (Nutrient.ACIDS, "ACEAC", "CITAC", "LACAC", "MALAC", "TARAC")
    #: What labels give in steps.
    IN_STEPS: ClassVar[tuple[Nutrient, ...]] = (
        *(Nutrient.FAT, Nutrient.SATURATES, Nutrient.CARBOHYDRATE),
        *(Nutrient.SUGARS, Nutrient.FIBRE, Nutrient.PROTEIN),
    )
    BASIS: ClassVar[tuple[str, ...]] = ("isPartitionedBy.quantity", "isPartitionedBy.isMeasuredBy.code")

    row: Rows
    _first: Rows

    @classmethod
    def _made(cls, products: Products) -> Self:
        table = products.arrow("nutrients", "position")
        positions, position = encoded(table["position"])
        # The last index is the nutrient's place in its partition.
        outer = encoded(pc.replace_substring_regex(positions, "[.]?[^.]*$", ""))[1]
        product = table["product"].to_numpy()
        # One number for product and partition; a part has far fewer than 2^63 of them.
        keys = product * (len(positions) + 1) + outer[position]
        _, first, row = np.unique(keys, return_index=True, return_inverse=True)
        return cls(products, product[first], row.astype(np.int64), first)

    @cached_property
    def _code(self) -> tuple[list[str], Rows]:
        codes, code = encoded(self["nutrient_code"])
        return codes.to_pylist(), code

    @cached_property
    def quantity(self) -> Numbers:
        """What is declared of each nutrient, in its own unit; NaN where no number is given."""
        return numbers(self["quantity"])

    @cached_property
    def grams(self) -> Numbers:
        """How many grams of each nutrient; NaN for energy and for units that are no weight."""
        return self.quantity * self._gram

    @cached_property
    def _gram(self) -> Numbers:
        """How many grams one of each nutrient's unit is."""
        return by_value(self["unit_code"], lambda unit: FACTORS["weight"].get(unit, np.nan), np.nan)

    @cached_property
    def per_hundred(self) -> Numbers:
        """What the figures of a partition are multiplied by to be those of 100 g or ml; NaN where nobody can say."""
        part = by_value(self["basis_unit_code"], lambda unit: _OF_A_HUNDRED.get(unit, np.nan), np.nan)
        basis = (numbers(self["basis_quantity"]) * part)[self._first]
        factor: Numbers = np.full(len(basis), np.nan)
        np.divide(1.0, basis, out=factor, where=basis > 0)
        return factor

    @cached_property
    def by_weight(self) -> Mask:
        """Which partitions are of so many grams: what is in a volume has no limit by weight, since syrup is heavy."""
        is_volume = by_value(self["basis_unit_code"], lambda unit: unit in _VOLUMES, False)
        return np.asarray(~is_volume.astype(bool)[self._first])

    @cached_property
    def prepared(self) -> Mask:
        """Which partitions are of the food as it is prepared, by their names or what they say of their state."""
        names = by_value(self["partition"], says_prepared, False).astype(bool)
        rows = to_frame(self.products.arrow(self.table, "attribute", "position"))
        states = states_said(self.products.arrow, rows)
        found = np.zeros(len(self.product), bool)
        found[self.row[names | states.isin([*filter(says_prepared, states.unique())]).to_numpy()]] = True
        return found

    @cached_property
    def of_serving(self) -> Numbers:
        """How many servings the figures of each partition are multiplied from, as far as they show it; else 0.

        Some labels (the American ones) round the figures of a serving, to whole grams and to five kilocalories; records
        then have them scaled to 100 g. The factor is that of a serving that is declared as well; else it shows in
        figures that nobody would round to (3.57 g are 1 g of 28 g), of which the smallest is one step at least.
        """
        is_hundred = np.isclose(self.per_hundred, 1.0)
        factor = np.where(np.isnan(self.per_hundred) | is_hundred, 0.0, 1.0)
        amounts = np.stack([self.amount(each) for each in self.IN_STEPS])
        # A float may hold 3.6 as 3.5999999.
        odd = (np.abs(amounts * 10 - np.round(amounts * 10)) > 1e-3) & (amounts >= 1)
        steps = amounts / np.array(
            [
                [_STEP_OF_FAT if each in {Nutrient.FAT, Nutrient.SATURATES} else _STEP]
                for each in self.IN_STEPS
            ]
        )
        smallest = np.where(steps > 1e-6, steps, np.inf).min(axis=0)
        scaled = np.where(odd.any(axis=0), np.minimum(smallest, 100 / _SMALLEST_SERVING), 0.0)
        # A serving that is declared beside 100 g shows how large it is.
        servings = np.full(len(self.products), np.nan)
        declared = np.flatnonzero(~is_hundred & (self.per_hundred > 1))
        servings[self.product[declared]] = self.per_hundred[declared]
        beside = servings[self.product]
        return np.where(is_hundred, np.where(np.isnan(beside), scaled, np.maximum(beside, scaled)), factor)

    def amount(self, nutrient: str) -> Numbers:
        """Return the grams of a nutrient in each partition; NaN where it is not declared."""
        return self._in_partitions(self._named(nutrient), self.grams)

    def sum_of(self, nutrients: Sequence[str]) -> Numbers:
        """Return the grams of several nutrients together; NaN where none of them is declared."""
        parts = np.stack([self.amount(each) for each in nutrients])
        return np.where(np.isnan(parts).all(axis=0), np.nan, np.nan_to_num(parts).sum(axis=0))

    def _named(self, nutrient: str) -> Mask:
        codes, code = self._code
        named = np.asarray(code == (codes.index(nutrient) if nutrient in codes else -2))
        if nutrient in _LABELLED:
            labels, label = self._label
            found = is_true(has_match(labels, _LABELLED[nutrient]))
            named |= np.append(found, False)[label]
        return named

    @cached_property
    def _label(self) -> tuple[pa.Array, Rows]:
        labels, label = encoded(self["nutrient"])
        return folded(labels), label

    def range(self, nutrient: str, servings: Numbers | None = None) -> tuple[Numbers, Numbers]:
        """Return the least and the most grams that a declared figure can mean; NaN where none is declared.

        Figures are rounded: to whole grams from 10 g on and to a tenth below, salt and sodium to a tenth from 1 g on
        and to a hundredth below. What is hardly there is declared as 0, or as "<0.5"; so 0.5 may be less, and 0.2 is
        0.2.

        Parameters
        ----------
        nutrient
            Its code.
        servings
            How many servings the figures of each partition were multiplied from (`of_serving`): these were rounded.
        """
        declared = self.amount(nutrient)
        if nutrient in {Nutrient.SALT, Nutrient.SODIUM}:
            half = np.where(declared < 1, 0.005, 0.05)
        else:
            half = np.where((declared >= _WHOLE_FROM) & (declared == np.round(declared)), 0.5, 0.05)
        negligible = _NEGLIGIBLE.get(nutrient, _NEGLIGIBLE_OTHERS)
        if servings is not None:
            half = np.maximum(half, self._half_step(nutrient, declared, servings))
        least = np.maximum(declared - half, 0.0)
        # Declared as nothing, or as the limit up to which it may be so.
        limits = np.isclose(declared, 0.0) | np.isclose(declared, negligible)
        least, most = (
            np.where(limits, 0.0, least),
            np.where(limits, np.maximum(half, negligible), declared + half),
        )
        limit = self._in_partitions(self._named(nutrient), self._limits * self._gram)
        less = np.isnan(declared) & ~np.isnan(limit)
        return np.where(less, 0.0, least), np.where(less, limit, most)

    def rounded_away(self, nutrient: str) -> Numbers:
        """Return the grams that figures of 100 g may have gained from servings that were rounded up; 0 without one."""
        servings = np.where(np.isclose(self.per_hundred, 1.0), self.of_serving, 0.0)
        declared = self.amount(nutrient)
        return np.where(np.isnan(declared), 0.0, self._half_step(nutrient, declared, servings))

    def _half_step(self, nutrient: str, declared: Numbers, servings: Numbers) -> Numbers:
        """Return the grams that may be rounded away of servings together."""
        step = np.full(len(declared), _STEP)
        if nutrient in {Nutrient.FAT, Nutrient.SATURATES}:
            small = (declared > 0) & (declared < _FAT_BY_GRAMS * servings)
            step = np.where(small, _STEP_OF_FAT, _STEP)
        return np.asarray(step / 2 * servings)

    def is_declared(self, nutrient: str, sign: str | None = None) -> Mask:
        """Say which partitions declare a nutrient (energy in this unit), as a number or as less than one."""
        declared = self.amount(nutrient) if sign is None else self.energy(sign)
        factors = self._gram if sign is None else self._energy_factors(sign)
        limit = self._in_partitions(self._named(nutrient), self._limits * factors)
        return np.logical_not(np.isnan(declared) & np.isnan(limit))

    @cached_property
    def _limits(self) -> Numbers:
        """For each nutrient that is declared as "<0.5" this number, else NaN."""
        found = np.full(len(self.row), np.nan)
        words = self.products.arrow("scalars", "attribute", "position", "value")
        words = words.filter(pc.equal(words["attribute"], f"{NutritionColumns.PATH}.quantity"))
        limits = by_value(words["value"], _limit, np.nan).astype(float)
        words = words.append_column("limit", pa.array(limits)).filter(pa.array(~np.isnan(limits)))
        if not len(words):
            return found
        own = self.products.arrow(self.table, "position")
        own = own.append_column("at", pa.array(np.arange(len(found))))
        at = words.join(own, ["product", "position"], join_type="inner")
        found[at["at"].to_numpy()] = at["limit"].to_numpy()
        return found

    def rows_of(self, nutrient: str) -> Rows:
        """Return the rows of a nutrient."""
        return np.flatnonzero(self._named(nutrient))

    @property
    def has_alcohol(self) -> Mask:
        """The partitions that declare alcohol, in whatever unit."""
        declared = self._named(Nutrient.ALCOHOL) & (self.quantity > 0)
        found = np.zeros(len(self.product), bool)
        found[self.row[declared]] = True
        return found

    def energy(self, sign: str) -> Numbers:
        """Return the energy of each partition in "kJ" or "kcal"; NaN where it is not declared so."""
        return self._energies[sign]

    @cached_property
    def _energies(self) -> dict[str, Numbers]:
        amounts, named = self.quantity, self._named(Nutrient.ENERGY)
        return {
            sign: self._in_partitions(named, amounts * self._energy_factors(sign)) for sign in _ENERGY_UNITS
        }

    def _energy_factors(self, sign: str) -> Numbers:
        """How much "kJ" or "kcal" one of each nutrient's unit is; NaN for other units."""
        return by_value(self["unit_code"], lambda unit: _ENERGY_UNITS[sign].get(unit, np.nan), np.nan)

    def _in_partitions(self, chosen: Mask, values: Numbers) -> Numbers:
        """Spread values of nutrients over the partitions; the first one counts where there are several."""
        rows = np.flatnonzero(chosen & ~np.isnan(values))[::-1]
        spread = np.full(len(self.product), np.nan)
        spread[self.row[rows]] = values[rows]
        return spread

    def names(self, rows: Rows) -> list[str]:
        """Return the names of partitions, "?" where they have none."""
        return [name or "?" for name in self["partition"].take(pa.array(self._first[rows])).to_pylist()]

    def energies(self, row: int) -> str:
        """Return the declared energy of a partition in words: "1500 kJ, 355 kcal"."""
        declared = ((self.energy(sign)[row], sign) for sign in _ENERGY_UNITS)
        return ", ".join(f"{amount:g} {sign}" for amount, sign in declared if not np.isnan(amount))

    def verdict(
        self, wrong: Mask, known: Mask, seen: Seen, why: Why, compared: Callable[[int], Sequence[Any]]
    ) -> Verdict:
        """Fail the products of the wrong partitions.

        Parameters
        ----------
        wrong, known
            One boolean for each partition: whether it is wrong, and whether it declares enough to say so.
        seen, why
            Give value and reason of a partition by its row; the reason may be one for all.
        compared
            Gives the figures by which a partition was judged, as far as the value does not say them; see `Evidence`.
        """
        rows = self.in_order(wrong)
        # A reader compares with the table on the pack, so figures of a serving name the serving.
        is_hundred = np.isclose(self.per_hundred[rows], 1.0)
        reasons = [
            said if hundred else Message("per {name}: {said}", name=name, said=said)
            for said, name, hundred in zip(_reasons(why, rows), self.names(rows), is_hundred, strict=True)
        ]
        with_what = [compared_with(*compared(row)) for row in rows]
        evidence = Evidence(
            self.product[rows], NutritionColumns.PATH, None, [*map(seen, rows)], reasons, with_what
        )
        return Verdict(self.any(wrong), self.any(known), evidence)

    def nutrient_verdict(
        self,
        wrong: Mask,
        known: Mask,
        why: Why,
        compared: Callable[[int], Sequence[Any]] = lambda _: (),
    ) -> Verdict:
        """Fail the products of the wrong nutrients: one boolean for each nutrient in `wrong` and `known`.

        The reason may be one for all, or be given by the nutrient's row; so is what it was compared with.
        """
        whose = self.product[self.row]
        rows = np.flatnonzero(wrong)
        rows = rows[np.argsort(whose[rows], kind="stable")]
        columns = ("nutrient", "nutrient_code", "quantity", "unit_code")
        shown = zip(*(self[column].take(pa.array(rows)).to_pylist() for column in columns), strict=True)
        seen = [f"{label or code}: {value:g} {unit or ''}".strip() for label, code, value, unit in shown]
        # Codes and all digits: what is shown is a label, and rounded.
        codes, amounts, units = (self[column].take(pa.array(rows)).to_pylist() for column in columns[1:])
        with_what = [
            compared_with(*own, *compared(row))
            for row, *own in zip(rows.tolist(), codes, amounts, units, strict=True)
        ]
        evidence = Evidence(whose[rows], NutritionColumns.PATH, None, seen, _reasons(why, rows), with_what)
        return Verdict(self.products.any(whose[wrong]), self.products.any(whose[known]), evidence)


def _reasons(why: Why, rows: Rows) -> list[Message]:
    return [why if isinstance(why, Message) else why(row) for row in rows.tolist()]


def _limit(text: str) -> float:
    limit = less_than(text)
    return np.nan if limit is None else float(limit)
