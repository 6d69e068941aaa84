"""Numbers with units as columns: `netContent [GRM]` is the net content of each product in grams.

A weight is given in kilograms by one supplier and in grams by the next, and a net content in grams and in pieces. So
weights, volumes and lengths each become one column in one unit, and every other unit has a column of its own.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part
from prodex.catalog.cells import NOT_ITSELF
from prodex.quality.problems import attribute_label
from prodex.quality.units import FACTORS
from prodex.tables.attributes import within
from prodex.tables.columns import encoded, numbers, places, whole

_NAME = re.compile(r"(?P<attribute>.+) \[(?P<unit>[^\[\]]*)\]", re.DOTALL)
_SYMBOLS = {"GRM": "g", "MMT": "mm", "MLT": "ml", "H87": "pieces", "CEL": "°C", "P1": "%"}
#: The unit that a unit is converted to, and how much of it one is.
_BASE = {
    unit: (next(base for base, one in factors.items() if one == 1), factor)
    for factors in FACTORS.values()
    for unit, factor in factors.items()
}


def quantity_column(attribute: str, unit: str | None) -> str:
    """Return the name of the column of an attribute that is given in a unit (UN/CEFACT Recommendation 20).

    >>> quantity_column("netWeight", "KGM"), quantity_column("storageTemperature", "CEL"), quantity_column("x", None)
    ('netWeight [GRM]', 'storageTemperature [CEL]', 'x []')
    """
    return f"{attribute} [{_base(unit)[0]}]"


def quantity_of(column: str) -> tuple[str, str] | None:
    """Return the attribute and the unit of such a column; None for any other column.

    >>> quantity_of("netWeight [GRM]"), quantity_of("updated_at")
    (('netWeight', 'GRM'), None)
    """
    found = _NAME.fullmatch(column)
    return None if found is None else (found["attribute"], found["unit"])


def quantity_title(attribute: str, unit: str) -> str:
    """Return such a column as people call it.

    >>> quantity_title("netWeight", "GRM"), quantity_title("netWeight", "")
    ('Net weight in g', 'Net weight without unit')
    """
    label = attribute_label(attribute)
    unit = f"in {_SYMBOLS.get(unit, unit)}" if unit else "without unit"
    return f"{label[:1].upper()}{label[1:]} {unit}"


def quantity_names(catalog: Catalog) -> list[str]:
    """Return the names of all such columns of a catalogue: of the products themselves, not of the units they are in."""
    keys = ["attribute", "unit_code"]
    given = catalog.arrow("quantities", keys).group_by(keys).aggregate([]).to_pylist()
    pairs = ((row["attribute"], row["unit_code"]) for row in given)
    return sorted(
        {quantity_column(*one) for one in pairs if not any(within(one[0], path) for path in NOT_ITSELF)}
    )


def quantity_values(part: Part, attribute: str, unit: str) -> pa.Array:
    """Return the number of each product of a part: the first that can be had in the unit, or null.

    Examples
    --------
    >>> import prodex
    >>> weights = ([{"data": 1.5, "expressedIn": {"code": "KGM"}}], [{"data": 7, "expressedIn": {"code": "GRM"}}], [])
    >>> catalog = prodex.flatten([{"id": n, "netWeight": weight} for n, weight in enumerate(weights)])
    >>> quantity_values(catalog.parts[0], "netWeight", "GRM").to_pylist()
    [1500.0, 7.0, None]
    """
    rows = part.encoded("quantities", ["product_id", "attribute", "value", "unit_code"])
    rows = rows.filter(pc.equal(rows["attribute"], attribute))
    distinct, code = encoded(rows["unit_code"])
    bases = [*map(_base, distinct.to_pylist()), _base(None)]
    # The last one stands for rows without a unit, whose code is -1.
    factors = np.array([factor if base == unit else np.nan for base, factor in bases])
    found = numbers(rows["value"]) * factors[code]
    ids = whole(part.read("products", ["product_id"])["product_id"])
    product = places(whole(rows["product_id"]), ids)
    # Reversed, so that the first of several numbers is written last and stays.
    known = np.flatnonzero(np.isfinite(found) & (product >= 0))[::-1]
    of_product = np.full(part.size, np.nan)
    of_product[product[known]] = found[known]
    return pa.array(of_product, mask=np.isnan(of_product))


def _base(unit: str | None) -> tuple[str, float]:
    return _BASE.get(unit or "", (unit or "", 1.0))
