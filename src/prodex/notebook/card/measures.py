"""Numbers with a unit: quantities, and nutrients by what they refer to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prodex.notebook.card.faces import face
from prodex.notebook.card.facts import said
from prodex.notebook.card.grids import Grid, grid
from prodex.notebook.card.record import Record, Row
from prodex.verbatim import label

#: Tables of nutrients.
_MOST = 12


def quantities(record: Record) -> Grid:
    """Return the numbers with a unit."""
    columns = {
        "attribute": "attribute",
        "value": "value",
        "unit": "unit",
        "unit code": "unit_code",
        "item": "item",
    }
    return grid("Quantities", columns, list(record.rows("quantities")), numeric=("value",))


@dataclass(frozen=True)
class Nutrients:
    """Tables of nutrients, one for each partition (per 100 g, per serving), of how many; why there are none."""

    tables: tuple[Grid, ...]
    total: int
    missing: str


def nutrients(record: Record) -> Nutrients:
    """Return the nutrients by partition."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in record.rows("nutrients"):
        outer = row["position"].rpartition(".")[0]
        parts.setdefault(
            (row["attribute"], outer, row["partition"], row["basis_quantity"], row["basis_unit_code"]), []
        ).append(row)
    columns = {
        "nutrient": "nutrient",
        "code": "nutrient_code",
        "quantity": "quantity",
        "unit": "unit",
        "unit code": "unit_code",
        "% of the daily intake": "daily_percentage",
    }
    tables = tuple(
        grid(_per(*key[2:]), columns, rows, numeric=("quantity", "% of the daily intake"))
        for key, rows in list(parts.items())[:_MOST]
    )
    return Nutrients(tables, len(parts), f"isPartitionedBy is {face(record, 'isPartitionedBy')}")


def _per(partition: str | None, quantity: float | None, unit: str | None) -> str:
    basis = " ".join(filter(None, ["" if quantity is None else said(quantity).text, label(unit).text]))
    if partition is None:
        return f"per {basis}" if basis else "of a basis that is not said"
    return f"per {label(partition).text}" + (f" ({basis})" if basis else "")
