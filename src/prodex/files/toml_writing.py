"""Values as TOML has them, for files that people read and edit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, Final

from prodex.arguments import described
from prodex.errors import InputError, StorageError
from prodex.files.atomic import make_folder, storage, writing
from prodex.files.toml_text import MOST_BYTES, TomlFile

#: In place of a value: that there is none. TOML has no word for it.
NO_VALUE: Final[Mapping[str, bool]] = {"no_value": True}

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write_toml(path: str | Path, text: str, kind: str, mark: str) -> Path:
    """Write a file of one's own, in the place of one of its kind, and return its path.

    Parameters
    ----------
    path
        Of the file; its folder is made.
    text
        The TOML.
    kind
        What it is called.
    mark
        The key that files of this kind have: one without it is somebody else's, and is not replaced.

    Raises
    ------
    InputError
        When there is a file already that is of another kind, or it would be longer than what is read.
    StorageError
        When the disk refuses.
    """
    file = Path(path)
    if (size := len(text.encode("utf-8", "surrogatepass"))) > MOST_BYTES:
        raise InputError(
            f"{file} would have {size:,} bytes, and of a {kind} {MOST_BYTES:,} are read. Nothing was written: choose "
            "by fewer values, such as a brand in place of its products."
        )
    with storage(file):
        is_there_already = file.exists()
    if is_there_already and not _has_mark(file, mark):
        raise InputError(
            f"{file} is there already and is no {kind}, so that it is not replaced. Give another name."
        )
    with storage(file):
        make_folder(file.absolute().parent)
        with writing(file) as beside:
            beside.write_text(text, "utf-8", newline="\n")
    return file


def _has_mark(file: Path, mark: str) -> bool:
    try:
        return mark in TomlFile.read(file, "").values
    except (InputError, StorageError):
        return False


def toml_value(value: Any) -> str:
    """Return a value as TOML has it; None is written as a table that says that there is none.

    Raises
    ------
    InputError
        When TOML cannot hold it.

    Examples
    --------
    >>> print(toml_value({"name": 'a "b"', "codes": ["A", None], "is so": True}))
    {name = 'a "b"', codes = ["A", {no_value = true}], "is so" = true}
    """
    match value:
        case None:
            return toml_value(NO_VALUE)
        case bool():
            return str(value).lower()
        case str():
            return _text(value)
        case int():
            return str(int(value))
        case float():
            # Of a number of numpy, which is a float as well, the plain one.
            return repr(float(value)) if math.isfinite(value) else str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case Mapping():
            return f"{{{', '.join(toml_lines(value))}}}"
        case list() | tuple():
            return f"[{', '.join(map(toml_value, value))}]"
    raise InputError(
        f"{described(value)} cannot be kept in a file. Give texts, numbers, dates, True or False."
    )


def toml_lines(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each entry of a table."""
    return (f"{toml_key(name)} = {toml_value(one)}" for name, one in values.items())


def toml_key(name: object) -> str:
    """Return the key of an entry, in quotes where it needs them."""
    text = str(name)
    return text if _BARE.fullmatch(text) else _text(text)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{text!r:.60} has half of a character, which a file cannot hold.") from None
    # Patterns and quotes are easier to read without escapes.
    if ("\\" in text or '"' in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(one: str) -> str:
    if one in _ESCAPES:
        return _ESCAPES[one]
    return one if one >= " " and one != "\x7f" else f"\\u{ord(one):04X}"
