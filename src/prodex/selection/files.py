"""Selections as files: TOML, short, to be read and edited by people."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from prodex.arguments import described
from prodex.errors import InputError
from prodex.files.layouts import require_layout
from prodex.files.toml_text import Keys, TomlFile
from prodex.files.toml_writing import toml_lines, write_toml
from prodex.selection.plain import as_plain, read_plain
from prodex.selection.selection import Selection

#: The number of the layout that is written and read.
_LAYOUT: Final = 1
_MARK: Final = "selection"

_NOTES: Final = """\
# A selection of products: those that meet each line.
#   catalog.where(prodex.Selection.read("{name}"))   chooses them; str() of it is a sentence
"""


def save_selection(selection: Selection, path: str | Path) -> Path:
    """Write a selection to a file, in the place of one before, and return its path; see `Selection.save`."""
    notes = _NOTES.format(name=Path(path).name)
    lines = [f"{_MARK} = {_LAYOUT}", *toml_lines(as_plain(selection))]
    return write_toml(path, notes + "\n".join(lines) + "\n", "selection", _MARK)


def read_selection(path: str | Path) -> Selection:
    """Read a selection from its file; see `Selection.read`."""
    if not isinstance(path, str | Path):
        raise InputError(
            f"path is {described(path)}. Give the path of a selection: prodex.Selection.read('snacks.toml')."
        )
    file = Path(path)
    read = TomlFile.read(file, f"The selection {file}")
    problems: list[str] = []

    def tell(keys: Keys, what: str) -> None:
        problems.append(f"{read.text.where(keys)}: {what}")

    values = dict(read.values)
    layout = values.pop(_MARK, _LAYOUT)
    if not isinstance(layout, int) or isinstance(layout, bool) or layout < 1:
        tell((_MARK,), f"{_MARK} is {described(layout)}; leave it out.")
    else:
        require_layout(read.text.shown, layout, _LAYOUT)
    found = read_plain(values, tell)
    if problems or found is None:
        raise InputError("\n".join(dict.fromkeys(problems)))
    return found
