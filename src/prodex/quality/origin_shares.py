"""Countries of origin with their shares, as a catalogue has them in the items of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.errors import InputError
from prodex.quality.products import Products
from prodex.tables.columns import Mask, encoded
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
        given = _values(products, among, countries, ("codes", "code"), ("scalars", "value"))
        numbers = (("quantities", "value"), ("scalars", "value"), ("codes", "code"))
        told = _values(products, among, shares, *numbers)
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


class _Source(NamedTuple):
    table: str
    column: str


def _values(products: Products, among: Mask, paths: Sequence[str], *sources: tuple[str, str]) -> pd.DataFrame:
    """Return the values at wire paths: product, item of the outermost list, order in it, value as text."""
    found = []
    for table, column in map(_Source._make, sources):
        rows = products.arrow(table, "attribute", "position", column)
        names, name = encoded(rows["attribute"])
        meant = np.array([each in set(paths) for each in names.to_pylist()], bool)
        is_meant = meant[name] if meant.any() else np.zeros(len(rows), bool)
        is_meant &= among[rows["product"].to_numpy()]
        if is_meant.any():
            kept = rows.filter(pa.array(is_meant))
            found.append(kept.select(["product", "position", column]).to_pandas().set_axis(_NAMES, axis=1))
    every = pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(_NAMES))
    every = every[every["value"].notna()]
    every["value"] = every["value"].astype(str).str.strip()
    every = every[every["value"] != ""].astype({"product": np.int64})
    every["item"] = every["item"].fillna("").astype(str)
    outermost = every["item"].str.partition(".")[0] if len(every) else every["item"]
    every["order"] = pd.to_numeric(outermost, errors="coerce").fillna(0).astype(np.int64)
    return every


_NAMES = ("product", "item", "value")


def _share(text: str) -> float:
    """Return a share as a number; NaN where it is none."""
    try:
        return float(written_share(text))
    except InputError:
        return float("nan")
