"""The sandbox's own tables: CSV files in its packages."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from importlib import resources


def read_table(package: str | None, name: str) -> Iterable[dict[str, str]]:
    """Return the rows of a table of the sandbox's own: a CSV file in one of its packages."""
    assert package  # noqa: S101 - `__package__` has no better type
    text = resources.files(package).joinpath(f"{name}.csv").read_text("utf-8")
    # Texts hold quotation marks, and no semicolon.
    return csv.DictReader(text.splitlines(), delimiter=";", quoting=csv.QUOTE_NONE)
