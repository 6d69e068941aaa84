"""What prodex does, shown in a terminal: the tables of a catalogue, and a correction on its way there and back."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pandas as pd

from prodex.catalog import Catalog
from prodex.errors import ChangesRefused, IncompleteLoad
from prodex.gtin import are_valid
from prodex.query import ProductQuery
from prodex.reading import flatten
from prodex.send import Changes, changes_from_frame, upsert
from prodex.service import Client
from prodex.tables.declaration import TABLES

_LINES = 3
_WIDTH = 110
_ATTRIBUTE = "namePublicLong"
_CORRECTED = re.compile(r" \(corrected at [0-9:.]+\)$")


def show_tables(catalog: Catalog, say: Callable[[str], object]) -> None:
    """Show each table with rows, columns and bytes, then a few lines of it."""
    say(repr(catalog).split("\n  ")[0])
    say(f"\n{'table':<18}{'rows':>12}{'columns':>9}{'bytes':>15}")
    sizes = catalog.tables
    rows_of = {name: int(rows) for name, rows in sizes["rows"].items()}
    for name in TABLES:
        stored = (
            sum(path.stat().st_size for path in catalog.files(name))
            if catalog.folder
            else catalog.arrow(name).nbytes
        )
        say(f"{name:<18}{rows_of[name]:>12,}{sizes['columns'][name]:>9}{stored:>15,}")
    for name, table in TABLES.items():
        rows = catalog.arrow(name).slice(0, _LINES).to_pylist()
        say(f"\n{name}: one row per {table.row}; {len(rows)} of {rows_of[name]:,}")
        for row in rows:
            shown = [
                f"{column}={plain(value)}"
                for column, value in row.items()
                if value is not None and value != "absent"
            ]
            say("  " + _cut(", ".join(shown), _WIDTH))


def correct_a_text(client: Client, catalog: Catalog, say: Callable[[str], object]) -> None:
    """Correct one text in one language, follow it to its end, and read back what the service has then.

    Raises
    ------
    IncompleteLoad
        When what is read back is not what was sent, or another language changed.
    """
    changes = _a_correction(catalog)
    (edit,) = changes.edits
    say(f"Correcting one text: {edit.attribute} of GTIN {edit.gtin} in {edit.language!r}.")
    say(f"  before: {plain(edit.before)}\n  after:  {plain(edit.after)}")
    tracking = upsert(client, changes, progress=False).wait(progress=False)
    say(f"Sent: tracking {tracking.tracking_ids}, status {tracking.status}. {tracking.message}".rstrip())
    page = client.search_products(ProductQuery(gtins_in=edit.gtin, extra={"allow_not_consumer_units": True}))
    there: list[dict[str, Any]] = [json.loads(bytes(product)) for product in page.envelope.data]
    texts = flatten(there).texts.query("attribute == @_ATTRIBUTE")
    sent = changes.records[0][_ATTRIBUTE]
    if there[0][_ATTRIBUTE] != sent:
        raise IncompleteLoad(f"GTIN {edit.gtin} came back with another {_ATTRIBUTE} than was sent.")
    say("Read back from the service:")
    for row in texts.itertuples():
        mark = "corrected" if row.position == edit.position else "untouched"
        say(f"  {row.language_code}  {mark}  {plain(row.text)}")


def _a_correction(catalog: Catalog) -> Changes:
    """Choose a product with a name in several languages, and correct one of them."""
    names = catalog.texts.query("attribute == @_ATTRIBUTE")
    names = names[are_valid(names["gtin"].fillna("").tolist())]
    languages = names.groupby("product_id")["language"].nunique()
    for product in languages.sort_values(ascending=False, kind="stable").index:
        texts: pd.DataFrame = names[names["product_id"] == product].iloc[:1].copy()
        old = _CORRECTED.sub("", str(texts["text"].iloc[0]))
        moment = datetime.now().astimezone().time().isoformat("milliseconds")
        texts["text"] = f"{old} (corrected at {moment})"
        try:
            changes = changes_from_frame(texts, catalog)
        except ChangesRefused:  # an update of this one waits, or another product has its GTIN
            continue
        if max(len(item["data"] or "") for item in changes.records[0][_ATTRIBUTE]) <= 200:
            return changes
    raise IncompleteLoad(f"No product of the catalogue has a {_ATTRIBUTE} that could be corrected.")


def plain(value: object) -> str:
    """Write a value on one line; what a supplier typed must not move a terminal's cursor."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cf"} else c for c in str(value)
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
