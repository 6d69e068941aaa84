"""Weights, lengths and volumes in one unit each: grams, millimetres and millilitres."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.products import Products
from prodex.tables.columns import Numbers, Rows, encoded, numbers

#: Grams, millimetres and millilitres in one of each unit (UN/CEFACT Recommendation 20).
FACTORS: Mapping[str, Mapping[str, float]] = {
    "weight": {
        "MC": 1e-6,
        "MGM": 1e-3,
        "CGM": 1e-2,
        "DG": 0.1,
        "GRM": 1.0,
        "HGM": 1e2,
        "KGM": 1e3,
        "TNE": 1e6,
        "ONZ": 28.349523125,
        "LBR": 453.59237,
    },
    "length": {"MMT": 1.0, "CMT": 10.0, "DMT": 100.0, "MTR": 1e3, "INH": 25.4, "FOT": 304.8},
    "volume": {
        "MLT": 1.0,
        "CLT": 10.0,
        "DLT": 100.0,
        "LTR": 1e3,
        "HLT": 1e5,
        "CMQ": 1.0,
        "DMQ": 1e3,
        "MTQ": 1e6,
    },
}


def in_base_unit(values: Numbers, units: Any, kinds: npt.NDArray[np.str_] | str) -> Numbers:
    """Return numbers in grams, millimetres or millilitres; NaN where the unit is unknown or no number is given.

    >>> in_base_unit(np.array([1.5, 3.0, 7.0]), pa.array(["KGM", "GRM", None]), "weight")
    array([1500.,    3.,   nan])
    """
    distinct, code = encoded(units)
    factors = np.full(len(code), np.nan)
    for kind, known in FACTORS.items():
        # The last value is for rows without a unit, whose code is -1.
        factor = np.array([*(known.get(unit, np.nan) for unit in distinct.to_pylist()), np.nan])
        np.copyto(factors, factor[code], where=np.asarray(kinds) == kind)
    return factors * values


def quantities(products: Products, attribute: str, *kinds: str) -> tuple[Rows, Numbers, pa.ChunkedArray]:
    """Return position of the product, value and unit of every quantity of an attribute.

    Parameters
    ----------
    products
        Those of a part.
    attribute
        Wire path.
    *kinds
        "weight", "length", "volume": the values are in grams, millimetres and millilitres then, and NaN where the unit
        is of none of these.
    """
    rows = products.arrow("quantities", "attribute", "value", "unit_code")
    rows = rows.filter(pc.equal(rows["attribute"], attribute))
    values, units = numbers(rows["value"]), rows["unit_code"]
    if kinds:
        of_kinds = np.array([in_base_unit(values, units, kind) for kind in kinds])
        values = np.fmax.reduce(of_kinds)
    return rows["product"].to_numpy(), values, units


def grams(products: Products, attribute: str) -> Numbers:
    """Return the weight of each product: the first that is given in a known unit, else NaN."""
    product, value, unit = quantities(products, attribute)
    weights = in_base_unit(value, unit, "weight")
    # Reversed, so that the first of several weights is written last and stays.
    known = np.flatnonzero(~np.isnan(weights))[::-1]
    of_product = np.full(len(products), np.nan)
    of_product[product[known]] = weights[known]
    return of_product
