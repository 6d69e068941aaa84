r"""JSON as it was written: what Python would spell in another way keeps its own spelling, and so can be written back.

Python reads `12.50`, `0.1234567890123456789` and `1e400` as doubles and writes others, and of a key that is there twice
it keeps one value. Whoever writes a record back changes all of that beside what is meant. Here such a number knows its
spelling, and such an object both its values; everything else is what the standard library makes of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Self


class WrittenNumber(float):
    """A number that Python would write in another way, with its spelling.

    It is the double that is nearest to it. It equals what has exactly the same value, and is shown as it was written.

    Attributes
    ----------
    token
        Its spelling.

    Examples
    --------
    >>> WrittenNumber("12.50"), WrittenNumber("12.50") == 12.5, WrittenNumber("1e400") == WrittenNumber("1e401")
    (12.50, True, False)
    """

    __slots__ = ("token",)

    token: str

    def __new__(cls, token: str) -> Self:
        made = super().__new__(cls, token)
        made.token = token
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | float) or not float.__eq__(self, other):
            return False
        return exact_value(self) == exact_value(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = float.__hash__

    def __repr__(self) -> str:
        return self.token

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.token,)

    @property
    def is_json(self) -> bool:
        """Whether it is a number of JSON, which NaN and Infinity are not."""
        return self.token[-1:].isdecimal()


class RepeatedKeys(dict[str, Any]):
    """An object that has a key twice: of its values the last one counts, as in every reader of JSON.

    Attributes
    ----------
    pairs
        All keys and values, in their order.
    """

    def __init__(self, pairs: Sequence[tuple[str, Any]] = ()) -> None:
        super().__init__(pairs)
        self.pairs = tuple(pairs)

    @property
    def repeated(self) -> list[str]:
        """The keys that it has more than once."""
        counts = Counter(name for name, _ in self.pairs)
        return [name for name, count in counts.items() if count > 1]


def exact_value(number: float | str) -> Decimal | str:
    """Return the value of a number as it is spelled; its spelling, if it is too large or too small for any.

    >>> exact_value(WrittenNumber("0.50")) == exact_value(0.5), exact_value("1e999999999999999999999")
    (True, '1e999999999999999999999')
    """
    spelled = number if isinstance(number, str) else repr(number)
    try:
        return Decimal(spelled)
    except InvalidOperation:
        return spelled


def read_written(text: str | bytes) -> Any:
    r"""Read JSON so that `written_json` writes what was read: equal numbers, texts and keys, in their order.

    Raises
    ------
    ValueError
        When it is no JSON.
    RecursionError
        When it is nested too deep.

    Examples
    --------
    >>> read = read_written('{"size": 12.50, "size": 1e400, "half": "\\ud83d"}')
    >>> read["size"], written_json(read)
    (1e400, '{"size":12.50,"size":1e400,"half":"\\ud83d"}')
    """
    return _READER.decode(
        text if isinstance(text, str) else text.decode(json.detect_encoding(text), "surrogatepass")
    )


def written_json(value: Any, *, is_ascii: bool = False) -> str:
    """Write JSON as `read_written` has read it, without spaces; halves of surrogate pairs become their escapes.

    Parameters
    ----------
    value
        What to write.
    is_ascii
        Whether all letters beyond ASCII become escapes.
    """
    text = _spelled(value) if is_spelled(value) else _plain(value)
    if text.isascii():
        return text
    return (_BEYOND_ASCII if is_ascii else _HALF).sub(_escaped, text)


def is_spelled(value: Any) -> bool:
    """Whether Python would write a value that was read in another way than it was written.

    Raises
    ------
    RecursionError
        When it is nested too deep.
    """
    kind = type(value)
    if kind is dict:
        return any(map(is_spelled, value.values()))
    if kind is list:
        return any(map(is_spelled, value))
    return kind is WrittenNumber or kind is RepeatedKeys


def is_plain(value: Any) -> bool:
    """Whether Python would write all of a value as it was written, and all texts are whole characters."""
    return not is_spelled(value) and _HALF.search(_plain(value)) is None


def unwritable(value: Any, path: str) -> Iterator[tuple[str, RepeatedKeys | float]]:
    """Yield what cannot be kept when a value is changed, and what is no JSON, each with its path.

    >>> [(at, why_unwritable(one)) for at, one in unwritable(read_written('[{"a": 1, "a": 2}, {"b": NaN}]'), "x")]
    [('x[0]', "has the key 'a' twice"), ('x[1].b', 'is NaN, which is no number of JSON')]
    """
    waiting = [(path, value)]
    while waiting:
        at, one = waiting.pop()
        match one:
            case RepeatedKeys():
                yield at, one
            case Mapping():
                waiting += [(f"{at}.{name}", inner) for name, inner in reversed([*one.items()])]
            case list() | tuple():
                waiting += [(f"{at}[{number}]", inner) for number, inner in reversed([*enumerate(one)])]
            case WrittenNumber() if one.is_json:
                continue
            case float() if one - one != 0:
                yield at, one


def why_unwritable(found: RepeatedKeys | float) -> str:
    """Say what is wrong with something that `unwritable` has found."""
    if isinstance(found, RepeatedKeys):
        return f"has the key {found.repeated[0]!r:.60} twice"
    return f"is {found}, which is no number of JSON"


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _spelled(value: Any) -> str:
    match value:
        case WrittenNumber():
            return value.token
        case dict():
            pairs = value.pairs if isinstance(value, RepeatedKeys) else value.items()
            return f"{{{','.join([f'{_plain(name)}:{_spelled(inner)}' for name, inner in pairs])}}}"
        case list() | tuple():
            return f"[{','.join(map(_spelled, value))}]"
    return _plain(value)


_HALF = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


def _escaped(letter: re.Match[str]) -> str:
    return json.dumps(letter[0])[1:-1]


#: Python refuses to read integers of more than 4,300 digits, since that takes quadratic time.
_LONG_INTEGER = 4_000


def _number(spelled: str) -> float:
    value = float(spelled)
    return value if repr(value) == spelled else WrittenNumber(spelled)


def _integer(spelled: str) -> float:
    return int(spelled) if len(spelled) < _LONG_INTEGER and spelled != "-0" else WrittenNumber(spelled)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else RepeatedKeys(pairs)


_READER = json.JSONDecoder(
    parse_float=_number, parse_int=_integer, parse_constant=WrittenNumber, object_pairs_hook=_object
)
