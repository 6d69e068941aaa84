"""Reasons as columns: of each finding the message and its values, and their words in a language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeAlias

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.languages import Message, Said, Translation
from prodex.languages.message import read_message, values_json
from prodex.languages.translation import additions
from prodex.tables.columns import Rows

#: What is wrong: one for all rows of evidence, or one for each; a value of a message may be a column as well.
Reasons: TypeAlias = "Said | Sequence[Said | None] | pd.Series | None"

_COLUMN = (list, np.ndarray, pd.Series, pa.Array, pa.ChunkedArray)
#: Different reasons whose words are kept.
_KEPT = 100_000


def reason_columns(reasons: Reasons, size: int) -> tuple[pa.Array, pa.Array]:
    """Return the messages of some findings and their values as JSON; a plain text has no values.

    Parameters
    ----------
    reasons
        One for all findings or one for each; see `Reasons`.
    size
        Number of findings.

    Raises
    ------
    ValueError
        When there are more or fewer reasons, or values of a message, than findings.

    Examples
    --------
    >>> messages, values = reason_columns(Message("over {limit} g", limit=[1, 2]), 2)
    >>> messages.to_pylist(), values.to_pylist()
    (['over {limit} g', 'over {limit} g'], ['{"limit":1}', '{"limit":2}'])
    """
    if reasons is None or isinstance(reasons, str):
        return _repeated(reasons, size), _repeated(None, size)
    if isinstance(reasons, Message):
        return _repeated(reasons.id, size), _values(reasons, size)
    if not isinstance(reasons, (*_COLUMN, tuple)):
        raise TypeError(f"the evidence has {type(reasons).__name__} for reason; give a list or a column")
    given = _listed(reasons)
    _check_size("values of reason", given, size)
    # Many findings have the same message, which is written once.
    distinct = {id(one): one for one in given}
    place = {one: number for number, one in enumerate(distinct)}
    messages = [_id(one) for one in distinct.values()]
    values = [one.json if isinstance(one, Message) else None for one in distinct.values()]
    rows = pa.array([place[id(one)] for one in given], pa.int64())
    return pa.array(messages, pa.string()).take(rows), pa.array(values, pa.string()).take(rows)


def _id(reason: Any) -> str | None:
    if isinstance(reason, Message):
        return reason.id
    return None if reason is None or pd.isna(reason) else str(reason)


def _values(message: Message, size: int) -> pa.Array:
    encoded = {name: one for name, one in message.values.items() if isinstance(one, pa.DictionaryArray)}
    if len(encoded) == 1:
        # Values that are told apart already are written once each.
        ((name, column),) = encoded.items()
        of_each = message.with_values(**{name: column.dictionary})
        _check_size(f"values of {name} in its reason", column, size)
        return _values(of_each, len(column.dictionary)).take(column.indices)
    columns = {name: _listed(one) for name, one in message.values.items() if isinstance(one, _COLUMN)}
    if not columns:
        return _repeated(message.json, size)
    for name, column in columns.items():
        _check_size(f"values of {name} in its reason", column, size)
    others = {name: one for name, one in message.values.items() if name not in columns}

    # Many findings have the same values, which are written once; 1 and True are not the same.
    @lru_cache(maxsize=None, typed=True)
    def written(*row: Any) -> str:
        return values_json({**others, **dict(zip(columns, row, strict=True))}, message)

    return pa.array([*map(written, *(map(_hashable, column) for column in columns.values()))], pa.string())


def _hashable(value: Any) -> Any:
    """Return a value that can be told apart; an object of a record is no message, and is shown as text."""
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return str(value) if isinstance(value, dict | set) else value


def _listed(column: Any) -> list[Any]:
    return list(column) if isinstance(column, tuple | list) else column.tolist()


def of_rows(message: Message, rows: Rows) -> Message:
    """Return a message whose columns have values for some rows only."""
    chosen = {name: _taken(one, rows) for name, one in message.values.items() if isinstance(one, _COLUMN)}
    return message.with_values(**chosen) if chosen else message


def _taken(column: Any, rows: Rows) -> Any:
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column.take(pa.array(rows))
    return (np.asarray(column, object) if isinstance(column, list) else np.asarray(column))[rows]


def has_columns(message: Message) -> bool:
    """Whether a message has a value for each finding."""
    return any(isinstance(one, _COLUMN) for one in message.values.values())


def of_each(reasons: Reasons, size: int) -> list[Said | None]:
    """Return the reason of each finding.

    >>> of_each(Message("over {limit} g", limit=[1, 2]), 2)
    [Message('over 1 g'), Message('over 2 g')]
    """
    if reasons is None or isinstance(reasons, str):
        return [reasons] * size
    if not isinstance(reasons, Message):
        return _listed(reasons)
    columns = {name: _listed(one) for name, one in reasons.values.items() if isinstance(one, _COLUMN)}
    if not columns:
        return [reasons] * size
    rows = zip(*columns.values(), strict=True)
    return [reasons.with_values(**dict(zip(columns, row, strict=True))) for row in rows]


def _check_size(what: str, given: Sequence[Any], size: int) -> None:
    if len(given) != size:
        raise ValueError(f"the evidence has {len(given):,} {what} for {size:,} rows")


def _repeated(value: str | None, size: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.string()), size)


def written_reason(reason: Said) -> str:
    """Return a reason as one text: its message and, behind a character that JSON does not have, its values.

    >>> written_reason(Message("over {limit} g", limit=1)), written_reason("mine")
    ('over {limit} g\\x00{"limit":1}', 'mine\\x00')
    """
    return f"{reason}\0" if isinstance(reason, str) else f"{reason.id}\0{reason.json}"


def written_reasons(messages: pa.Array, values: pa.Array) -> pa.DictionaryArray:
    """Return the reasons of `reason_columns` as `written_reason` writes them, each different one once."""
    return pc.binary_join_element_wise(messages, pc.coalesce(values, pa.scalar("")), "\0").dictionary_encode()


def read_reason(written: str) -> Said:
    """Return what `written_reason` has written.

    >>> read_reason('over {limit} g\\x00{"limit":1}'), read_reason("mine\\x00")
    (Message('over 1 g'), 'mine')
    """
    message, values = written.rsplit("\0", 1)
    return read_message(message, values or None)


def reason_words(reasons: pa.DictionaryArray, words: Translation) -> pa.Array:
    """Return written reasons in a language; each different one is put into words once.

    >>> found = reason_columns([Message("not given"), "mine", None], 3)
    >>> reason_words(written_reasons(*found), Translation("de")).to_pylist()
    ['nicht angegeben', 'mine', None]
    """
    # Of a few findings, most reasons that a part has are not there.
    here = reasons.indices.dictionary_encode()
    say = _sayer(words, len(additions()))
    said = [say(one) for one in reasons.dictionary.take(here.dictionary).to_pylist()]
    return pa.array(said, pa.string()).take(here.indices)


@cache
def _sayer(words: Translation, _: int) -> Callable[[str], str]:
    """Return what puts a written reason into a language."""

    @lru_cache(_KEPT)
    def said(written: str) -> str:
        try:
            return words.say(read_reason(written))
        except (ValueError, KeyError, TypeError, RecursionError, msgspec.MsgspecError):
            # No rule makes such values: the audit is somebody else's, or a rule of one's own has left out the number.
            return written.rsplit("\0", 1)[0]

    return said
