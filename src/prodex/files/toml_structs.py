"""TOML files read into structs: an error names file, line, key and value, and the nearest name that is known.

msgspec compares the values with the types of the struct. It names neither the line of a key nor the names that there
are, so that its errors are worded here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin

import msgspec

from prodex.arguments import described
from prodex.errors import InputError
from prodex.files.toml_text import Keys, TomlText
from prodex.phrases import hint

_Shape = TypeVar("_Shape", bound=msgspec.Struct)

#: A problem in the words of msgspec, and where it is (`$.exports[1].format`).
_PROBLEM = re.compile(r"(.*?)(?: - at `\$([^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_FIELD = re.compile(r"Object (contains unknown|missing required) field `(.*)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `([^`]*)`(?: >= (.*))?.*")

#: What is to be given, by the name that msgspec has for it.
_WORDS = {
    "bool": "true or false",
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "array": "a list",
    "object": "a table",
}


def struct_of(
    place: TomlText,
    values: Mapping[str, Any],
    shape: type[_Shape],
    made: Mapping[type, Callable[[str], Any]] | None = None,
) -> _Shape:
    """Return the values of a TOML file as a struct.

    Parameters
    ----------
    place
        The text of the file.
    values
        Its values.
    shape
        The struct.
    made
        How a value of a type that msgspec does not know is made of a text; a `ValueError` says what is wrong with it.

    Raises
    ------
    InputError
        When there is another key, or none that is needed, or another value.

    Examples
    --------
    >>> class Keep(msgspec.Struct, forbid_unknown_fields=True):
    ...     snapshots: int = 0
    >>> struct_of(TomlText("job.toml", "snapshots = 14"), {"snapshots": 14}, Keep)
    Keep(snapshots=14)
    >>> struct_of(TomlText("job.toml", "snapshot = 14"), {"snapshot": 14}, Keep)
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: job.toml, line 1, snapshot: there is no key 'snapshot'; did you mean 'snapshots'?
    """

    def make(kind: type, value: Any) -> Any:
        if not isinstance(value, str) or not value.strip():
            raise TypeError("Expected `str`")
        return (made or {})[kind](value)

    try:
        return msgspec.convert(values, shape, dec_hook=make)
    except msgspec.ValidationError as error:
        raise _error(place, values, shape, error) from error


def unknown_name(given: str, known: Collection[str], thing: str = "") -> str:
    """Return what is wrong with a name that is none of those known, with the nearest one or all of them.

    >>> unknown_name("cvs", ["csv", "parquet"])
    "there is no 'cvs'; did you mean 'csv'?"
    """
    near = hint(given, known, f"Give one of {', '.join(known)}.")
    return f"there is no {thing}{given!r:.80}{near}"


def _error(
    place: TomlText, values: Mapping[str, Any], shape: type, error: msgspec.ValidationError
) -> InputError:
    said = _PROBLEM.fullmatch(str(error))
    assert said is not None  # noqa: S101 - it matches any text
    keys: Keys = tuple(name or int(number) for name, number in _STEP.findall(said[2] or ""))
    kind, value, name = shape, values, ""
    for key in keys:
        value, name = value[key], key if isinstance(key, str) else name  # type: ignore[index]
        kind = _inside(kind, key, value)
    if isinstance(error.__cause__, ValueError):
        return place.error(keys, str(error.__cause__))
    if (found := _FIELD.fullmatch(said[1])) and found[1] == "contains unknown":
        return place.error((*keys, found[2]), unknown_name(found[2], list(_types(kind)), "key "))
    if found:
        return place.error(keys or (found[2],), f"there is no {found[2]}, which is needed.")
    if get_origin(kind) is Literal and isinstance(value, str):
        return place.error(keys, unknown_name(value, get_args(kind)))
    given = "a table" if isinstance(value, Mapping) else described(value)
    return place.error(keys, f"{name} is {given}; give {_wanted(said[1], kind, name)}.")


def _wanted(problem: str, kind: Any, name: str) -> str:
    """Return what msgspec expects, as the end of a sentence; how a table is written, or several of them."""
    if any(_types(inner) for inner in get_args(kind)):
        return f"tables: write [[{name}]]"
    if _types(kind):
        return f"a table: write [{name}]"
    expected = _EXPECTED.fullmatch(problem)
    kinds, least = (expected[1], expected[2]) if expected else ("str", None)
    words = " or ".join(_WORDS[one] for one in kinds.split(" | ") if one in _WORDS)
    return words if least is None else f"{words}, at least {least}"


def _inside(kind: Any, key: str | int, value: Any) -> Any:
    """Return the type of a key of a table, or of an item of a list, without None, which no TOML has."""
    inner = next(iter(get_args(kind)), Any) if isinstance(key, int) else _types(kind).get(key, Any)
    is_union = isinstance(inner, UnionType) or NoneType in get_args(inner)
    if not is_union:
        return inner
    several = [one for one in get_args(inner) if one is not NoneType]
    # A text or a table: what was given as a table has the keys of that.
    tables = [one for one in several if isinstance(value, Mapping) and _types(one)]
    return next(iter((*tables, *several)))


def _types(kind: Any) -> dict[str, Any]:
    """Return the types of the keys of a struct; none for what is no struct."""
    is_struct = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    return {one.encode_name: one.type for one in msgspec.structs.fields(kind)} if is_struct else {}
