"""The text of a TOML file that a person wrote: errors about it name file, line and key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from prodex.errors import InputError

#: The header of a table. A row of an array may begin with a bracket too, and has commas or values in it.
_HEADER = re.compile(r"\[\[?([^\[\],=]+)\]\]?\s*(?:#.*)?$")

#: Where a value is in a file: keys, and the number of a table among several of one name (`[[name]]`).
Keys = tuple[str | int, ...]


@dataclass(frozen=True)
class TomlText:
    """The text of a TOML file, to name the line of a key in errors.

    Attributes
    ----------
    shown
        What the file is called in errors.
    text
        Its content; "" for a mapping that was given in its place, which has no lines.
    shipped
        Whether the file is part of prodex.

    Examples
    --------
    >>> text = TomlText("job.toml", 'name = "shop"\\n[worklists]\\nby = "owner"\\n')
    >>> text.where(("worklists", "by")), text.where(("worklists", "folder")), text.where(("name",))
    ('job.toml, line 3, worklists.by', 'job.toml, line 2, worklists.folder', 'job.toml, line 1, name')
    """

    shown: str
    text: str
    shipped: bool = False
    lines: list[str] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        self.lines.extend(line.strip() for line in self.text.splitlines())

    def error(self, keys: Keys, problem: str) -> InputError:
        """Return an error that names file, line and key."""
        return InputError(f"{self.where(keys)}: {problem}")

    @contextmanager
    def named(self, keys: Keys) -> Iterator[None]:
        """Name file, line and key in errors that are raised inside."""
        try:
            yield
        except ValueError as error:  # `InputError` and `QueryError` are
            raise self.error(keys, str(error)) from error

    def where(self, keys: Keys) -> str:
        """Return file, line and key as they are named in errors."""
        line = self._line(keys)
        where = f"{self.shown}, line {line}" if line else self.shown
        return f"{where}, {'.'.join(str(key) for key in keys if not isinstance(key, int))}"

    def _line(self, keys: Keys) -> int | None:
        """Find the line of the innermost key that has a line of its own."""
        # tomllib does not report lines, so the line of a key is found in the text.
        names = [str(key) for key in keys if not isinstance(key, int)]
        # A table named several times has a header for each: `number` says which is meant.
        number = next((key for key in keys if isinstance(key, int)), 0)
        for length in range(len(names), 0, -1):
            headers = [
                place
                for place, line in enumerate(self.lines)
                if _table_header(line) == ".".join(names[:length])
            ]
            if headers:
                start = headers[min(number, len(headers) - 1)]
                return self._key_below(start + 1, names[length:]) or start + 1
        top = self._key_below(0, names)
        return top or next(
            (i for i, line in enumerate(self.lines, 1) if _key_in_line(line) in names[1:]), None
        )

    def _key_below(self, start: int, names: list[str]) -> int | None:
        """Find the first of some keys in the table that begins at a line."""
        for place in range(start, len(self.lines)):
            if _table_header(self.lines[place]):
                return None
            if names and _key_in_line(self.lines[place]) == names[0]:
                return place + 1
        return None


def _table_header(line: str) -> str:
    """Return the name in the header of a table; "" for any other line."""
    found = _HEADER.match(line)
    return "" if found is None else found[1].replace('"', "").strip()


def _key_in_line(line: str) -> str:
    return line.partition("=")[0].strip().strip("\"'").split(".")[-1] if "=" in line else ""
