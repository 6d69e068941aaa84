"""Where the data of a catalogue does not agree with itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.declaration import TABLES
from prodex.tables.frames import to_frame

Read = Callable[..., pa.Table]


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
