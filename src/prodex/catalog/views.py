"""Two ways to look at a catalogue whole: side by side, and where the data does not agree with itself."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.frames import to_frame

Read = Callable[..., pa.Table]

_JOINED_BY = " | "

#: What stands on a product and describes other units, or itself in a version that nobody has accepted yet.
_NOT_ITSELF = ("logisticalHierarchies", "sharingUnits", "lastRequest")


def wide(read: Read, language: str | None, attributes: tuple[str, ...] | None) -> pd.DataFrame:
    """Put what stands in rows beside the products; several values of one attribute are joined with " | "."""
    products = to_frame(read("products"))
    wanted = _wanted(attributes)
    columns = [
        _pivot(to_frame(_texts(read, language, wanted)), "text"),
        _pivot(
            to_frame(read("codes", ["product_id", "attribute", "label", "code"], wanted)), "label", "code"
        ),
        _pivot(_quantities(read, wanted), "quantity"),
        _pivot(to_frame(read("scalars", ["product_id", "attribute", "value"], wanted)), "value"),
    ]
    side = (
        pd.concat([column for column in columns if not column.empty], axis=1) if columns else pd.DataFrame()
    )
    side = side.loc[:, ~side.columns.duplicated()]
    names = {name: f"{name} (value)" for name in side.columns if name in products.columns}
    return products.merge(side.rename(columns=names), how="left", left_on="product_id", right_index=True)


def drift(read: Read) -> pd.DataFrame:
    """List each attribute that came in more than one form."""
    forms = []
    for table, value in (("texts", "text"), ("codes", "code"), ("quantities", "value"), ("scalars", "value")):
        columns = ["attribute", "product_id", value, *(["type"] if table == "scalars" else [])]
        frame = to_frame(read(table, columns)).rename(columns={value: "example"})
        frame["form"] = frame["type"] if table == "scalars" else table
        frame["example"] = frame["example"].astype(str).str.slice(0, 80).replace("", "''")
        forms.append(frame[["attribute", "form", "product_id", "example"]])
    every = pd.concat(forms, ignore_index=True)
    grouped = every.groupby(["attribute", "form"], sort=True)
    summary = grouped.agg(
        values=("product_id", "size"), products=("product_id", "nunique"), example=("example", "first")
    ).reset_index()
    several = summary.groupby("attribute")["form"].transform("size") > 1
    return summary[several].reset_index(drop=True)


def _wanted(attributes: tuple[str, ...] | None) -> pc.Expression:
    """Return the condition on `attribute` for what is to be shown."""
    paths = _NOT_ITSELF if attributes is None else attributes
    below = "|".join(re.escape(path) for path in paths)
    found = pc.match_substring_regex(pc.field("attribute"), f"^({below})([.]|$)")
    return ~found if attributes is None else found


def _texts(read: Read, language: str | None, wanted: pc.Expression) -> pa.Table:
    if language is not None:
        return read("texts", ["product_id", "attribute", "text"], wanted & (pc.field("language") == language))
    texts = read("texts", ["product_id", "attribute", "text", "language", "language_code"], wanted)
    by = pc.coalesce(texts["language"], texts["language_code"])
    named = pc.binary_join_element_wise(texts["attribute"], by, ".")
    return texts.set_column(1, "attribute", named).select(["product_id", "attribute", "text"])


def _quantities(read: Read, wanted: pc.Expression) -> pd.DataFrame:
    frame = to_frame(read("quantities", ["product_id", "attribute", "value", "unit"], wanted))
    numbers = frame["value"].map(lambda value: f"{value:.15g}", na_action="ignore")
    frame["quantity"] = numbers.astype(str).str.cat(frame["unit"].fillna(""), sep=" ").str.strip()
    return frame


def _pivot(frame: pd.DataFrame, value: str, otherwise: str | None = None) -> pd.DataFrame:
    if frame.empty:
        return pd.DataFrame()
    keys = ["product_id", "attribute"]
    shown = frame[value] if otherwise is None else frame[value].fillna(frame[otherwise])
    cells = frame[keys].assign(shown=shown.astype(str))
    several = cells.duplicated(keys, keep=False)
    joined = cells[several].groupby(keys, sort=False, as_index=False)["shown"].agg(_JOINED_BY.join)
    return pd.concat([cells[~several], joined]).pivot(index="product_id", columns="attribute", values="shown")
