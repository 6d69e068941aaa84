"""Codes with their labels: of each attribute the code, which never changes, and what it means in each language."""

from __future__ import annotations

from typing import Any

from prodex.notebook.card.grids import Grid, grid
from prodex.notebook.card.record import PATHS, Record

_TOLD = {"label": "", "description": "_description"}


def codes(record: Record) -> Grid:
    """Return the codes with labels, those of `products` first; further languages beside them."""
    every: list[dict[str, Any]] = []
    for column, path in PATHS.items():
        if column.endswith("_code"):
            name = column.removesuffix("_code")
            told = {one: record.product.get(f"{name}{suffix}") for one, suffix in _TOLD.items()}
            row = {"code": record.product[column], **told}
            if any(value is not None for value in row.values()):
                every.append({"attribute": path.removesuffix(".code"), **row})
    every += map(dict, record.rows("codes"))
    languages = sorted({one for labels in record.code_labels.values() for one in labels})
    for place, row in enumerate(every):
        labels = record.code_labels.get((row["attribute"], row["code"]), {})
        every[place] = row | {
            f"{one} {kind}": text
            for one in languages
            for kind, text in zip(_TOLD, labels.get(one, (None, None)), strict=True)
        }
    further = {f"{kind} ({one})": f"{one} {kind}" for one in languages for kind in _TOLD}
    columns = {"attribute": "attribute", "code": "code", "label": "label", "description": "description"}
    return grid("Codes", {**columns, **further, "item": "item"}, every)
