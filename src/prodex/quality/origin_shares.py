"""Countries of origin with their shares, as a catalogue has them in the items of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import InputError
from prodex.quality.products import Products
from prodex.tables.columns import Mask
from prodex.tables.frames import to_frame
from prodex.written_numbers import written_share


@dataclass(frozen=True)
class Origins:
    """The countries of the products of a part.

    Attributes
    ----------
    rows
        One row for each country, in the order of the list: product, country (as it is given), share (NaN where none
        is given).
    unreadable
        Products with a share that is no number, or one that belongs to no country.
    """

    rows: pd.DataFrame
    unreadable: Mask

    @classmethod
    def of(cls, products: Products, countries: Sequence[str], shares: Sequence[str], among: Mask) -> Origins:
        """Return those of some products of a part; a country and its share are in the same item of a list."""
        given = _values(products, among, countries, "codes.code", "scalars.value")
        told = _values(products, among, shares, "quantities.value", "scalars.value", "codes.code")
        # One country may be given by its code and, below it, by its name: the first of an item is kept.
        given = given.drop_duplicates(["product", "item"])
        told["share"] = [_share(each) for each in told["value"]]
        ambiguous = told.duplicated(["product", "item"], keep=False)
        joined = given.merge(
            told.loc[~ambiguous, ["product", "item", "share"]],
            how="outer",
            on=["product", "item"],
            indicator=True,
        )
        # A share without its country, two of one country, and what is no number: nobody knows what they mean.
        lost = joined.loc[joined["_merge"] == "right_only", "product"]
        wrong = [*lost, *told.loc[ambiguous | told["share"].isna(), "product"]]
        rows = joined[joined["_merge"] != "right_only"].rename(columns={"value": "country"})
        rows = rows.sort_values(["product", "order"], kind="stable", ignore_index=True)
        return cls(rows[["product", "country", "share"]], products.any(np.array(wrong, np.int64)))


def _values(products: Products, among: Mask, paths: Sequence[str], *columns: str) -> pd.DataFrame:
    """Return the values at wire paths: product, item of the outermost list, order in it, value as text."""
    rows = products.values_at(paths, *columns)
    # What is below a path is another thing that is said of it.
    rows = rows.filter(pc.is_in(rows["attribute"], pa.array(paths, pa.string())))
    frame = to_frame(rows.filter(pa.array(among[rows["product"].to_numpy()])))
    # As objects: pandas joins no empty columns of Arrow.
    item = frame["position"].fillna("").astype(object)
    order = pd.to_numeric(item.str.partition(".")[0], errors="coerce") if len(item) else item
    order = order.fillna(0).astype(np.int64)
    return frame[["product"]].assign(item=item, value=frame["value"].str.strip(), order=order)


def _share(text: str) -> float:
    """Return a share as a number; NaN where it is none."""
    try:
        return float(written_share(text))
    except InputError:
        return float("nan")
