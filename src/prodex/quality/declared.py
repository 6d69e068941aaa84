"""The nutrition that the products of a part declare: one row for each partition, one column for each nutrient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.columns import Mask, Numbers, Rows, encoded, numbers
from prodex.quality.products import Products
from prodex.quality.units import FACTORS

PATH = "isPartitionedBy.contains"
#: What the rules of nutrition look at.
NEEDS = tuple(f"{PATH}.{leaf}" for leaf in ("quantity", "isConceptualizedBy.code", "expressedIn.code"))
BASIS = ("isPartitionedBy.quantity", "isPartitionedBy.isMeasuredBy.code")

ENERGY, ALCOHOL = "ENER-", "ALC"
#: Code of each of the nutrients that rules name (GS1, INFOODS).
FAT, SATURATES, CARBOHYDRATE, SUGARS = "FAT", "FASAT", "CHOAVL", "SUGAR-"
STARCH, POLYOLS, FIBRE, PROTEIN, SALT, SODIUM = "STARCH", "POLYL", "FIBTG", "PRO-", "SALTEQ", "NA"
#: Kilojoules and kilocalories by unit code.
_ENERGY_UNITS = {"KJO": ("kJ", 1.0), "JOU": ("kJ", 1e-3), "E14": ("kcal", 1.0), "K51": ("kcal", 1.0)}
#: How much of 100 g or 100 ml one of these units is.
_OF_A_HUNDRED = {"GRM": 0.01, "MLT": 0.01, "KGM": 10.0, "LTR": 10.0, "CLT": 0.1, "MGM": 1e-5}


@dataclass(frozen=True)
class Declared:
    """Every nutrient that a part declares.

    A partition ("100 g", "a serving") is a row of what `amount` and `energy` return.

    Attributes
    ----------
    products
        Whose they are.
    row
        For each nutrient the row of its partition.
    product
        For each partition the position of its product.
    """

    products: Products
    row: Rows
    product: Rows
    _first: Rows

    @classmethod
    def of(cls, products: Products) -> Self:
        """Return the nutrition of a part, made once."""
        return products.remember("declared", lambda: cls._made(products))

    @classmethod
    def _made(cls, products: Products) -> Self:
        table = products.arrow("nutrients", "position")
        positions, position = encoded(table["position"])
        # The last index is the nutrient's place in its partition.
        outer = encoded(pc.replace_substring_regex(positions, "[.]?[^.]*$", ""))[1]
        product = table["product"].to_numpy()
        keys = product * (len(positions) + 1) + outer[position]
        _, first, row = np.unique(keys, return_index=True, return_inverse=True)
        return cls(products, row.astype(np.int64), product[first], first)

    def __getitem__(self, column: str) -> pa.Array:
        """Return a column of `nutrients`."""
        return self.products.arrow("nutrients", column)[column].combine_chunks()

    @cached_property
    def code(self) -> tuple[list[str], Rows]:
        codes, code = encoded(self["nutrient_code"])
        return codes.to_pylist(), code

    @cached_property
    def grams(self) -> Numbers:
        """How many grams of each nutrient; NaN for energy and for units that are no weight."""
        units, unit = encoded(self["unit_code"])
        factors = [FACTORS["weight"].get(each, np.nan) for each in units.to_pylist()]
        weights: Numbers = numbers(self["quantity"]) * np.array([*factors, np.nan])[unit]
        return weights

    @cached_property
    def per_hundred(self) -> Numbers:
        """What the figures of a partition are multiplied by to be those of 100 g or ml; NaN where nobody can say."""
        units, unit = encoded(self["basis_unit_code"])
        part = np.array([*(_OF_A_HUNDRED.get(each, np.nan) for each in units.to_pylist()), np.nan])
        basis = numbers(self["basis_quantity"])[self._first] * part[unit[self._first]]
        factor: Numbers = np.full(len(basis), np.nan)
        np.divide(1.0, basis, out=factor, where=basis > 0)
        return factor

    def amount(self, nutrient: str) -> Numbers:
        """Return the grams of a nutrient in each partition; NaN where it is not declared."""
        codes, code = self.code
        chosen = code == (codes.index(nutrient) if nutrient in codes else -2)
        return self._in_partitions(chosen, self.grams)

    @property
    def has_alcohol(self) -> Mask:
        """The partitions that declare alcohol, in whatever unit."""
        codes, code = self.code
        told = (code == (codes.index(ALCOHOL) if ALCOHOL in codes else -2)) & (numbers(self["quantity"]) > 0)
        found = np.zeros(len(self.product), bool)
        found[self.row[told]] = True
        return found

    def energy(self, sign: str) -> Numbers:
        """Return the energy of each partition in "kJ" or "kcal"; NaN where it is not declared so."""
        codes, code = self.code
        units, unit = encoded(self["unit_code"])
        factors = [
            factor if named == sign else np.nan
            for named, factor in (_ENERGY_UNITS.get(each, ("", np.nan)) for each in units.to_pylist())
        ]
        chosen = code == (codes.index(ENERGY) if ENERGY in codes else -2)
        return self._in_partitions(chosen, numbers(self["quantity"]) * np.array([*factors, np.nan])[unit])

    def _in_partitions(self, chosen: Mask, values: Numbers) -> Numbers:
        """Spread values of nutrients over the partitions; the first one counts where there are several."""
        rows = np.flatnonzero(chosen & ~np.isnan(values))[::-1]
        spread = np.full(len(self.product), np.nan)
        spread[self.row[rows]] = values[rows]
        return spread

    def any(self, partitions: Mask) -> Mask:
        """Say of which products one of their partitions is among these."""
        return self.products.any(self.product[partitions])

    def in_order(self, partitions: Mask) -> Rows:
        """Return the rows of chosen partitions, product by product."""
        rows = np.flatnonzero(partitions)
        return rows[np.argsort(self.product[rows], kind="stable")]

    def names(self, rows: Rows) -> list[str]:
        """Return the names of partitions, "?" where they have none."""
        return [name or "?" for name in self["partition"].take(pa.array(self._first[rows])).to_pylist()]
