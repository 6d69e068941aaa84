"""The tables as properties of a catalogue: what an editor says of each is what the declaration says.

`python tests/test_catalog_tables.py --write` renews the module from the declaration.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
import typing
from pathlib import Path

import pandas as pd
import pytest

import prodex
from prodex.catalog import table_properties
from prodex.tables.declaration import TABLES, Table
from tests.cases import each_row

#: A product with a text, a number, a boolean and a moment.
EVERY_TYPE = {
    "id": 7,
    "gtin": "03036811359935",
    "isConsumerUnit": True,
    "lifeCycle": 1,
    "createdAt": "2026-11-20T08:00:00",
    "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}],
    "netContent": [{"expressedIn": {"code": "GRM", "label": "g"}, "data": 250.5}],
}

HEAD = '''"""The tables of a catalogue as properties, so that an editor proposes them and says what is in them.

Written from the declaration in `prodex.tables` by `python tests/test_catalog_tables.py --write`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class TableProperties:
    """What has the tables of a catalogue; `_frame` reads one of them."""

    if TYPE_CHECKING:

        def _frame(self, table: str) -> pd.DataFrame: ...
'''


COPY = "The frame is a copy: changing it does not change the catalogue."


def docstring(table: Table) -> str:
    """Say of a table what a row is, and what its columns mean."""
    about = ", ".join(f"{column.name} ({column.meaning})" for column in table.columns)
    lines = textwrap.wrap(f"Columns: {about}.", 108, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"One row per {table.row}.", "", COPY, "", *lines])


def written() -> str:
    """Write the module."""
    properties = [
        f"\n    @property\n    def {name}(self) -> pd.DataFrame:\n"
        + textwrap.indent(f'"""{docstring(table)}\n"""', " " * 8, lambda line: bool(line.strip()))
        + f'\n        return self._frame("{name}")\n'
        for name, table in TABLES.items()
    ]
    return HEAD + "".join(properties)


def test_the_properties_are_the_declared_tables() -> None:
    """Each table, and nothing else, with what a row is and every column's meaning."""
    found = {
        name: inspect.getdoc(one)
        for name, one in vars(table_properties.TableProperties).items()
        if isinstance(one, property)
    }

    assert {name: docstring(table) for name, table in TABLES.items()} == found
    assert Path(table_properties.__file__).read_text("utf-8") == written()


@each_row("name", TABLES)
def test_an_editor_knows_the_type_of_a_table(name: str) -> None:
    """It is a pandas frame with the declared columns."""
    getter = vars(table_properties.TableProperties)[name].fget
    catalog = prodex.flatten([{"id": 7}])
    frame = getattr(catalog, name)

    assert pd.DataFrame is typing.get_type_hints(getter, {"pd": pd})["return"]
    assert isinstance(frame, pd.DataFrame)
    assert set(TABLES[name].schema.names) <= set(frame.columns)
    assert name in dir(catalog)


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "disk"])
def test_a_frame_is_a_copy(kept: bool) -> None:
    """Whatever is written into a frame, the catalogue and the next frame stay as they were."""
    catalog = prodex.flatten([EVERY_TYPE, {**EVERY_TYPE, "id": 8}])
    catalog = catalog.save("copied") if kept else catalog
    before = {name: catalog.arrow(name).to_pylist() for name in TABLES}
    for name in TABLES:
        frame = getattr(catalog, name)
        for column in frame.columns if len(frame) else ():
            frame.loc[:, column] = frame[column].array[::-1]
            frame[column] = frame[column].shift(1)

    assert before == {name: catalog.arrow(name).to_pylist() for name in TABLES}
    assert all(len(getattr(catalog, name)) == len(before[name]) for name in TABLES)


def test_a_table_that_does_not_exist_is_refused_with_the_nearest_name() -> None:
    """Asking for `product` names `products`."""
    with pytest.raises(AttributeError, match="did you mean 'products'"):
        _ = prodex.flatten([]).product


if __name__ == "__main__" and "--write" in sys.argv:
    Path(table_properties.__file__).write_text(written(), "utf-8")
