"""TOML files that a person wrote: read within bounds, and errors about them name file, line and key.

All TOML is read here. Its reader in the standard library takes time with the square of the parts of a key, and gives
numbers of more digits than Python writes; so keys and names are measured before it starts, and whatever else a file
does, it costs what it has.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from prodex.encodings import NotUtf8, utf8_text
from prodex.errors import InputError, StorageError
from prodex.files.atomic import reading
from prodex.files.untrusted import read_bytes, resolved

#: The header of a table. A row of an array may begin with a bracket too, and has commas or values in it.
_HEADER = re.compile(r"\[\[?([^\[\],=]+)\]\]?\s*(?:#.*)?$")

#: Where a value is in a file: keys, and the number of a table among several of one name (`[[name]]`).
Keys = tuple[str | int, ...]

#: Bytes of a file, unless its readers say otherwise: those of jobs, profiles and recipes have a few thousand.
MOST_BYTES: Final = 2**20
#: Parts of a key with dots: names of files, attributes and languages need a few.
_MOST_PARTS: Final = 32
#: Characters of a name without quotes, or of a number: Python writes no number of more than 4,300 digits.
_LONGEST_NAME: Final = 1_000

_TEXT_IN_LINES = (
    r'"""(?:[^"\\]++|\\[\s\S]|""?(?!"))*+"{3,5}'
    r"|'''(?:[^']++|''?(?!'))*+'{3,5}"
)
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]++|\\.)*+"|'[^'\n]*+')"""
#: What a file consists of, as far as it can hold a key: comments, texts over several lines, keys (or values that are
#: written like them), and a quote that nothing ends.
_TOKEN = re.compile(
    rf"#[^\n]*+|(?P<lines>{_TEXT_IN_LINES})|(?P<key>{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)|(?P<open>[\"'])"
)
_NAME = re.compile(_PART)


class NotToml(ValueError):
    """A text is no TOML, or more than anybody writes by hand; the message is the end of a sentence about it."""


def toml_values(text: str) -> dict[str, Any]:
    """Return the values of a TOML text.

    Raises
    ------
    NotToml
        When it cannot be read, is nested too deep, or has a longer key, name or number than is read.

    Examples
    --------
    >>> toml_values("a.b = 1")
    {'a': {'b': 1}}
    >>> toml_values(".".join("a" * 8000) + " = 1")
    Traceback (most recent call last):
    ...
    prodex.files.toml_text.NotToml: has a key of 8,000 parts in line 1, and 32 are read at most.
    """
    _measure(text)
    try:
        return tomllib.loads(text)
    except RecursionError as error:  # tomllib recurses, and the file may be from somebody else
        raise NotToml("is nested too deep.") from error
    except ValueError as error:  # also of a number that Python does not read
        raise NotToml(f"is not TOML: {error}.") from error


def _measure(text: str) -> None:
    """Refuse keys of very many parts, and names or numbers of very many characters."""
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "open":
            return  # it is no TOML, and nobody reads further than this
        if token.lastgroup != "key":
            continue
        parts = _NAME.findall(token["key"])
        if len(parts) > _MOST_PARTS:
            line = text.count("\n", 0, token.start()) + 1
            raise NotToml(
                f"has a key of {len(parts):,} parts in line {line}, and {_MOST_PARTS} are read at most."
            )
        longest = max((len(one) for one in parts if one[0] not in "\"'"), default=0)
        if longest > _LONGEST_NAME:
            line = text.count("\n", 0, token.start()) + 1
            raise NotToml(
                f"has a name or number of {longest:,} characters in line {line}, and {_LONGEST_NAME:,} are read at "
                "most."
            )


@dataclass(frozen=True)
class TomlFile:
    """A TOML file that was read.

    Attributes
    ----------
    content
        Its bytes.
    text
        Its text, to name lines in errors.
    values
        Its values.
    """

    content: bytes
    text: TomlText
    values: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path, called: str, *, shown: str | None = None, most: int = MOST_BYTES) -> TomlFile:
        """Read a file; the path may be a link, as users make them.

        Parameters
        ----------
        path
            The file.
        called
            What it is called at the beginning of an error: "The recipe spelling.toml".
        shown
            What it is called where a line of it is named; its path unless given.
        most
            Bytes that it may have.

        Raises
        ------
        InputError
            When it cannot be read, or is no TOML.
        StorageError
            When it is somebody else's.
        """
        try:
            with reading(path):
                content = read_bytes(resolved(path), most)
            text = utf8_text(content)
            return cls(content, TomlText(str(path) if shown is None else shown, text), toml_values(text))
        except StorageError:
            raise
        except OSError as error:
            raise InputError(f"{called} cannot be read: {error}.") from error
        except (NotUtf8, NotToml) as error:
            raise InputError(f"{called} {error}") from error


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
            headers = self._headers.get(".".join(names[:length]), ())
            if headers:
                header = headers[min(number, len(headers) - 1)]
                # A key may have dots: `name.fr = "must"`.
                whole = self._below.get((header, ".".join(names[length:])))
                return whole or self._below.get((header, *names[length : length + 1])) or header
        top = self._below.get((0, *names[:1]))
        return top or min((line for one in names[1:] if (line := self._anywhere.get(one))), default=None)

    @cached_property
    def _headers(self) -> dict[str, list[int]]:
        """The lines of each header of a table."""
        found: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines, 1):
            if name := _table_header(line):
                found.setdefault(name, []).append(number)
        return found

    @cached_property
    def _below(self) -> dict[tuple[int | str, ...], int]:
        """The first line of each key in the table whose header is in a line; 0 is above all headers."""
        found: dict[tuple[int | str, ...], int] = {}
        headers = {line for lines in self._headers.values() for line in lines}
        header = 0
        for number, line in enumerate(self.lines, 1):
            if number in headers:
                header = number
            elif key := _key_in_line(line):
                found.setdefault((header, _whole_key(line)), number)
                found.setdefault((header, key), number)
        return found

    @cached_property
    def _anywhere(self) -> dict[str, int]:
        """The first line of each key, in whichever table."""
        found: dict[str, int] = {}
        for number, line in enumerate(self.lines, 1):
            found.setdefault(_key_in_line(line), number)
        return found


def _table_header(line: str) -> str:
    """Return the name in the header of a table; "" for any other line."""
    found = _HEADER.match(line)
    return "" if found is None else found[1].replace('"', "").strip()


def _whole_key(line: str) -> str:
    return line.partition("=")[0].replace('"', "").replace("'", "").strip()


def _key_in_line(line: str) -> str:
    return line.partition("=")[0].strip().strip("\"'").split(".")[-1] if "=" in line else ""
