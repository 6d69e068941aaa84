"""Damage: every way in which a file of ours is spoiled in tests, each with a name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

_DEEP = "@deep@"

#: What takes the place of a value; every one is wrong for most of them.
_VALUES: dict[str, Any] = {
    "null": None,
    "a text": "x",
    "an empty text": "",
    "a path": "../../../../../../etc/passwd",
    "a text with a zero": "a\0b",
    "half a pair": "\ud83d",
    "a truth": True,
    "below zero": -1,
    "a fraction": 0.5,
    "huge": 2**70,
    "endless": 10**400,
    "not a number": float("nan"),
    "infinite": float("inf"),
    "a list": [],
    "a list of lists": [[[]], None, 1],
    "an object": {},
    "an object of objects": {"a": {"b": None}, "": 1},
    "nested 5,000 deep": _DEEP,
    "year one": "0001-01-01T00:00:00+00:00",
    "year 9999": "9999-12-31T23:59:59.999999-12:00",
    "a moment without zone": "2026-11-22T00:00:00",
}


def spoiled_json(content: bytes, *, repeated: int = 2) -> Iterator[tuple[str, bytes]]:
    """Yield a JSON file with one thing wrong, at every path and in every way, and the name of what is wrong.

    Parameters
    ----------
    content
        The file.
    repeated
        How many members of a large object or list are spoiled; the others are alike.
    """
    value = json.loads(content)
    for path in _paths(value, repeated):
        for name, other in _VALUES.items():
            yield f"{'.'.join(map(str, path)) or 'all'} is {name}", _written(_with(value, path, other))
        if path:
            yield f"{'.'.join(map(str, path))} is missing", _written(_without(value, path))
            yield f"{'.'.join(map(str, path))} is there twice", _written(_twice(value, path))
    if isinstance(value, dict):
        yield "something is added", _written({**value, "added": {"a": [1]}})
    yield from spoiled(content)


def spoiled(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield any file cut off, emptied, or replaced by something else."""
    yield "empty", b""
    yield "white", b"\n\n \n"
    yield "junk", bytes(range(256)) * 4
    yield "not UTF-8", content.replace(b"e", b"\xe9", 3)
    yield "with a byte order mark", b"\xef\xbb\xbf" + content
    yield "in UTF-16", content.decode("utf-8", "replace").encode("utf-16")
    yield "followed by something", content + b"{}"
    yield "deep", b"[" * 100_000 + b"]" * 100_000
    yield "deep objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    for share in (0.1, 0.5, 0.9):
        yield f"cut off at {share:.0%}", content[: int(len(content) * share)]
    yield "without its last byte", content.rstrip()[:-1]


def flipped(content: bytes, places: range) -> Iterator[tuple[str, bytes]]:
    """Yield a file with one bit flipped, at several places counted from its end."""
    for back in places:
        spoilt = bytearray(content)
        spoilt[-1 - back] ^= 1 << (back % 8)
        yield f"a bit {back} bytes before the end", bytes(spoilt)


def _paths(value: Any, repeated: int) -> Iterator[tuple[str | int, ...]]:
    yield ()
    children: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        children = list(value.items())
        if len(children) > 12 and len({type(child) for _, child in children}) == 1:
            children = children[:repeated]
    elif isinstance(value, list):
        children = list(enumerate(value))[:repeated]
    for key, child in children:
        yield from ((key, *path) for path in _paths(child, repeated))


def _with(value: Any, path: tuple[str | int, ...], other: Any) -> Any:
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = _with(value[path[0]], path[1:], other)
    return copy


def _without(value: Any, path: tuple[str | int, ...]) -> Any:
    copy = value.copy()
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _without(value[path[0]], path[1:])
    return copy


def _twice(value: Any, path: tuple[str | int, ...]) -> Any:
    copy = value.copy()
    if len(path) > 1:
        copy[path[0]] = _twice(value[path[0]], path[1:])
    elif isinstance(value, list):
        copy.append(value[path[0]])
    else:
        copy[f"{path[0]}2"] = value[path[0]]
    return copy


def _written(value: Any) -> bytes:
    text = json.dumps(value)
    return text.replace(f'"{_DEEP}"', "[" * 5_000 + "]" * 5_000).encode()
