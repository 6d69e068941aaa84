"""Nutrients side by side: one row per product, one column per nutrient and unit, for one basis such as 100 g."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import pandas as pd

from prodex.catalog.catalog import Catalog
from prodex.errors import QueryError
from prodex.messages import hint
from prodex.tables.attributes import PENDING
from prodex.tables.frames import to_frame

_COLUMNS = (
    "product_id",
    "attribute",
    "partition",
    "basis_quantity",
    "basis_unit_code",
    "nutrient_code",
    "nutrient",
    "quantity",
    "unit_code",
    "unit",
)
# Recommendation 20 has two kilocalories, E14 (international table) and K51 (mean); labels call both kcal.
#: How people write units (UN/CEFACT Recommendation 20).
_SYMBOLS = {
    "GRM": "g",
    "MGM": "mg",
    "MC": "µg",
    "KGM": "kg",
    "MLT": "ml",
    "CLT": "cl",
    "LTR": "l",
    "KJO": "kJ",
    "E14": "kcal",
    "K51": "kcal",
    "P1": "%",
}
_WORDS = {
    "gram": "GRM",
    "gramme": "GRM",
    "gr": "GRM",
    "milliliter": "MLT",
    "millilitre": "MLT",
    "liter": "LTR",
}
_WORDS |= {"litre": "LTR", "mcg": "MC", "milligram": "MGM", "kilogram": "KGM"}
_UNITS = {
    # Reversed, so that of two codes with one symbol the first counts: "kcal" is E14.
    **{symbol.casefold(): code for code, symbol in reversed(_SYMBOLS.items())},
    **{code.casefold(): code for code in _SYMBOLS},
    **_WORDS,
}
_AMOUNT = re.compile(r"\s*([0-9]+(?:[.,][0-9]+)?)\s*([^\W\d_]\w*\.?)\s*")
#: Problems named one by one in a warning.
_NAMED = 3


class Basis(NamedTuple):
    """What figures refer to: an amount, with its unit by code."""

    amount: float
    unit: str

    def __str__(self) -> str:
        return f"{self.amount:g} {_SYMBOLS.get(self.unit, self.unit)}"


def nutrition_wide(catalog: Catalog, basis: str, labels: bool) -> pd.DataFrame:
    """Put the nutrients of one basis side by side; see `Catalog.nutrition_wide`."""
    if not isinstance(basis, str):
        raise QueryError(f"nutrition_wide() takes a basis such as '100 g', not {basis!r:.60}.")
    rows = to_frame(catalog.arrow("nutrients", _COLUMNS))
    # A figure of an update that waits would look like a second figure of the product.
    rows = rows[~rows["attribute"].str.startswith(PENDING)]
    bases, contradicted = _bases(rows)
    chosen = _of_basis(rows, bases, basis)
    if skipped := sorted(set(rows["product_id"][contradicted.map(lambda two: parsed(basis) in two)])):
        _warn(
            skipped, f"say {basis!r} in words and another amount in figures, or the reverse, and are left out"
        )
    products = to_frame(catalog.arrow("products", ["product_id", "gtin"]))
    found, unclear = _pivoted(chosen, products, labels)
    if unclear:
        _warn(
            unclear,
            "have different figures for one nutrient; these are missing, and stand under `duplicates`",
        )
    return found


def parsed(text: object) -> Basis | None:
    """Return the amount that a text states, or None.

    >>> parsed("100 g"), parsed("100GRM"), parsed("per portion")
    (Basis(amount=100.0, unit='GRM'), Basis(amount=100.0, unit='GRM'), None)
    """
    match = _AMOUNT.fullmatch(text) if isinstance(text, str) else None
    unit = match[2].casefold().rstrip(".") if match else ""
    code = _UNITS.get(unit) or _UNITS.get(unit.rstrip("s"))
    return Basis(float(match[1].replace(",", ".")), code) if match and code else None


def _bases(rows: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return what each row refers to, from its figures or else its words; and both, where these contradict."""
    keys = ["partition", "basis_quantity", "basis_unit_code"]
    # Partitions are parsed once, and not once for each of the dozen nutrients in them.
    distinct = rows[keys].drop_duplicates()
    found: list[Basis | None] = []
    wrong: list[tuple[Basis, ...]] = []
    for words, amount, unit in distinct.itertuples(index=False):
        figures = None if pd.isna(amount) or pd.isna(unit) else Basis(float(amount), str(unit))
        named = parsed(words)
        wrong.append((figures, named) if figures and named and figures != named else ())
        found.append(None if wrong[-1] else figures or named)
    both = distinct.assign(
        basis=pd.Series(found, distinct.index, object), wrong=pd.Series(wrong, distinct.index, object)
    )
    merged = rows[keys].merge(both, how="left", on=keys).set_axis(rows.index)
    return merged["basis"].astype(object), merged["wrong"].astype(object)


def _of_basis(rows: pd.DataFrame, bases: pd.Series, basis: str) -> pd.DataFrame:
    """Return the rows of a basis, which may be an amount or the name of a partition."""
    wanted = parsed(basis)
    named = rows["partition"].str.strip().str.casefold() == basis.strip().casefold()
    meant = bases.map(lambda one: wanted is not None and one == wanted).astype(bool)
    if wanted is None:
        meant = named
    if len(rows) and not meant.any():
        amounts = Counter(map(str, bases.dropna()))
        there = [*amounts, *(w for w in rows["partition"].dropna().unique() if parsed(w) is None)]
        otherwise = (
            f"Give one of {', '.join(there[:12])}." if there else "No partition says what it refers to."
        )
        raise QueryError(f"No nutrients refer to {basis!r}{hint(basis, there, otherwise)}")
    return rows[meant]


def _pivoted(rows: pd.DataFrame, products: pd.DataFrame, labels: bool) -> tuple[pd.DataFrame, list[str]]:
    """Return a column for each nutrient and unit, and the products without a figure because they have several."""
    rows = rows[rows["quantity"].notna()]
    keys = ["nutrient_code", "nutrient", "unit_code", "unit"]
    names = _column_names(rows[keys].value_counts(dropna=False).index.tolist(), labels)
    column = [names[_nutrient_key(*row)] for row in rows[keys].itertuples(index=False)]
    cells = rows.assign(column=pd.Series(column, rows.index, object))
    several = cells.duplicated(["product_id", "column"], keep=False)
    agreed = cells.groupby(["product_id", "column"])["quantity"].agg(["first", "nunique"])
    side = agreed["first"].where(agreed["nunique"] == 1).unstack("column")
    found = products.merge(
        side.reindex(columns=sorted(set(column))), "left", left_on="product_id", right_index=True
    )
    said = (
        cells[several]
        .groupby(["product_id", "column"])["quantity"]
        .agg(lambda values: " | ".join(f"{value:g}" for value in values))
    )
    named = said.index.get_level_values("column")
    texts = pd.Series([f"{n}: {t}" for n, t in zip(named, said, strict=True)], said.index, dtype="str")
    by_product = texts.groupby(level="product_id").agg("; ".join)
    found["duplicates"] = found["product_id"].map(by_product).astype("str")
    unclear = agreed.index[agreed["nunique"] > 1].get_level_values("product_id")
    return found, sorted(set(unclear))


def _nutrient_key(code: Any, label: Any, unit: Any, sign: Any) -> tuple[str | None, ...]:
    """Return what distinguishes one column from another: the code where there is one, else the label."""
    name = label if pd.isna(code) else code
    measure = sign if pd.isna(unit) else unit
    return (None if pd.isna(name) else str(name), None if pd.isna(measure) else str(measure))


def _column_names(kinds: Iterable[tuple[Any, ...]], labels: bool) -> dict[tuple[str | None, ...], str]:
    """Return the names of columns: `FAT.g`, or by label `Fat (g)` where no two nutrients share it."""
    by_key: dict[tuple[str | None, ...], str] = {}
    called: dict[tuple[str | None, ...], str] = {}
    for code, label, unit, sign in kinds:  # the most frequent label first
        key = _nutrient_key(code, label, unit, sign)
        symbol = _SYMBOLS.get(str(key[1]), key[1])
        name = key[0] or "unnamed"
        by_key[key] = name if symbol is None else f"{name}.{symbol}"
        if labels and not pd.isna(label):
            called.setdefault(key, str(label) if symbol is None else f"{label} ({symbol})")
    shared = Counter(called.values())
    return {key: called[key] if shared[called.get(key, "")] == 1 else name for key, name in by_key.items()}


def _warn(products: Iterable[str], what: str) -> None:
    several = list(products)
    named = ", ".join(several[:_NAMED]) + (" ..." if several[_NAMED:] else "")
    warnings.warn(f"{len(several):,} products ({named}) {what}.", stacklevel=4)
