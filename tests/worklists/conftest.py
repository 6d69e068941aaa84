"""What tests of answers share: the bakery as a catalogue and as a service, and answers typed into a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.sandbox import Sandbox

from .bakery import RECORDS, Answer


@pytest.fixture(scope="session")
def catalog() -> prodex.Catalog:
    """Return the products as a catalogue."""
    return prodex.flatten(RECORDS)


@pytest.fixture
def answer(tmp_path: Path, catalog: prodex.Catalog) -> Answer:
    """Return a function that reads rows of answers from a CSV file."""
    number = iter(range(100))

    def read(*rows: dict[str, Any], **options: Any) -> prodex.worklists.Fix:
        file = tmp_path / f"answers{next(number)}.csv"
        # A column that a row does not have is no empty one: each kind of row has its own headings.
        lines: list[list[Any]] = []
        for number_, row in enumerate(rows):
            if number_ == 0 or list(row) != list(rows[number_ - 1]):
                lines.append(list(row))
            lines.append(list(row.values()))
        quoted = [";".join('"' + str(cell).replace('"', '""') + '"' for cell in line) for line in lines]
        file.write_text("\n".join(quoted), "utf-8")
        options.setdefault("profile", {"checks": {"valid_gtin": {}}})
        return prodex.read_worklist(file, options.pop("catalog", catalog), **options)

    return read


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve the products."""
    with Sandbox(RECORDS) as sandbox:
        yield sandbox


@pytest.fixture
def mill(exchange: Sandbox) -> prodex.service.Client:
    """Reach them."""
    key = exchange.credentials[0]
    return prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
