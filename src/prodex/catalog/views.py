"""Two ways to look at a catalogue whole: side by side, and where the data does not agree with itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.declaration import TABLES
from prodex.tables.frames import to_frame

Read = Callable[..., pa.Table]

_JOINED_BY = " | "
_KEYS = ["product_id", "attribute"]

#: What stands on a product and describes other units, or itself in a version that nobody has accepted yet.
_NOT_ITSELF = ("logisticalHierarchies", "sharingUnits", "lastRequest")


def wide(read: Read, language: str | None, attributes: tuple[str, ...] | None) -> pd.DataFrame:
    """Put what stands in rows beside the products; several values of one attribute are joined with " | "."""
    products = to_frame(read("products"))
    wanted = _wanted(attributes)
    codes = to_frame(read("codes", [*_KEYS, "label", "code"], wanted))
    every = [
        to_frame(_texts(read, language, wanted)).rename(columns={"text": "shown"}),
        codes.assign(shown=codes["label"].fillna(codes["code"])),
        _quantities(read, wanted),
        to_frame(read("scalars", [*_KEYS, "value"], wanted)).rename(columns={"value": "shown"}),
    ]
    cells = pd.concat([frame[[*_KEYS, "shown"]] for frame in every], ignore_index=True)
    if cells.empty:
        return products
    side = _pivot(cells)
    names = {name: f"{name} (value)" for name in side.columns if name in products.columns}
    return products.merge(side.rename(columns=names), how="left", left_on="product_id", right_index=True)


def drift(read: Read) -> pd.DataFrame:
    """List each attribute that came in more than one form; what fits a declared column is a form of its own."""
    forms = []
    for table, value in (("texts", "text"), ("codes", "code"), ("quantities", "value"), ("scalars", "value")):
        columns = ["attribute", "product_id", value, *(["type"] if table == "scalars" else [])]
        frame = to_frame(read(table, columns)).rename(columns={value: "example"})
        frame["form"] = frame["type"] if table == "scalars" else table
        forms.append(frame)
    seen = set(pd.concat([frame["attribute"] for frame in forms]))
    forms += [_declared(read, table, column, path) for table, column, path in _leaves() if path in seen]
    every = pd.concat(
        [frame.assign(example=frame["example"].astype(str)) for frame in forms], ignore_index=True
    )
    every["example"] = every["example"].str.slice(0, 80).replace("", "''")
    summary = (
        every.groupby(["attribute", "form"], sort=True)
        .agg(values=("product_id", "size"), products=("product_id", "nunique"), example=("example", "first"))
        .reset_index()
    )
    several = summary.groupby("attribute")["form"].transform("size") > 1
    return summary[several].reset_index(drop=True)


def _leaves() -> Iterator[tuple[str, str, str]]:
    """Yield table, column and whole wire path of every declared leaf."""
    for table in TABLES.values():
        for column in table.columns:
            for path in column.paths:
                yield table.name, column.name, ".".join(filter(None, [table.anchors[0], *path]))


def _declared(read: Read, table: str, column: str, path: str) -> pd.DataFrame:
    filled = to_frame(read(table, ["product_id", column], pc.field(column).is_valid()))
    kind = str(TABLES[table].schema.field(column).type)
    return filled.rename(columns={column: "example"}).assign(
        attribute=path, form=f"{table}.{column} ({kind})"
    )


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
    frame = to_frame(read("quantities", [*_KEYS, "value", "unit"], wanted))
    numbers = frame["value"].map(lambda value: f"{value:.15g}", na_action="ignore")
    return frame.assign(shown=numbers.astype(str).str.cat(frame["unit"].fillna(""), sep=" ").str.strip())


def _pivot(cells: pd.DataFrame) -> pd.DataFrame:
    cells["shown"] = cells["shown"].astype(str)
    several = cells.duplicated(_KEYS, keep=False)
    joined = cells[several].groupby(_KEYS, sort=False, as_index=False)["shown"].agg(_JOINED_BY.join)
    return pd.concat([cells[~several], joined]).pivot(index="product_id", columns="attribute", values="shown")
