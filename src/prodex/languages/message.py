"""Messages: what prodex says as data, put into words where somebody reads it, in the reader's language.

Whoever makes a message (a rule that finds something wrong, a reader of answers) does not know who will read it. So it
names the sentence and gives the values; `Translation.say` makes the words. A text of somebody else (the reason of a
rule of one's own, what a service answers) is a `str`, and is shown as it is.

>>> message = Message("over {limit:g} g per 100 g", limit=105.5)
>>> str(message), message.id, message.values
('over 105.5 g per 100 g', 'over {limit:g} g per 100 g', {'limit': 105.5})
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache, reduce
from typing import Any, Self, TypeAlias

import msgspec
import numpy as np

from prodex.errors import ProdexError

#: What is shown to somebody: a message, or a text that is shown as it is.
Said: TypeAlias = "Message | str"

#: A place for a value, perhaps with how a number is written there: {limit}, {limit:g}, {limit:,.1f}. A width is none of
#: it: a saved audit of somebody else could ask for a billion spaces.
_PLACE = re.compile(r"{(\w+)(?::(\+?,?(?:\.\d\d?)?[dfg%]?))?}")
#: Different messages that are kept taken apart: those of the code, and the titles and problems of one's own rules.
_KEPT = 4_000


class Message:
    """A sentence of prodex with its values.

    Parameters
    ----------
    id
        The sentence in English, with places for values: `{length}`, or with the format of a number: `{length:g}`,
        `{length:,.1f}`, and `{share:%}` for a share in per cent. The catalogues of the other languages have it by these
        words.
    values
        The values by the names of their places: numbers, texts, other messages, and tuples of these, which are
        listed. What is at `{language}` is a language, at `{attribute}` an attribute, at `{market}` a market by its
        number, at `{earlier_share}` a share whose sign is that of the share after it, at `{day}` and `{moment}` a day
        and a moment as the code writes them: they are shown as the reader calls them.

    Examples
    --------
    >>> import prodex
    >>> reason = prodex.packs.Message("{length} characters, at least {least} are wanted", length=12, least=40)
    >>> str(reason)
    '12 characters, at least 40 are wanted'
    """

    __slots__ = ("_json", "id", "is_sentence", "many", "values")

    id: str
    many: str
    is_sentence: bool
    values: dict[str, Any]

    def __init__(self, id: str, /, **values: Any) -> None:  # noqa: A002 - gettext calls it so
        self.id, self.many, self.is_sentence, self.values = id, "", False, values
        self._json: str | None = None

    @classmethod
    def of_number(cls, one: str, many: str, number: int, /, **values: Any) -> Self:
        """Return a message of a number of things, which is at `{number}`, in the form for one and the form for many.

        >>> [str(Message.of_number("{number} product", "{number} products", number)) for number in (1, 1200)]
        ['1 product', '1,200 products']
        """
        made = cls(one, number=number, **values)
        made.many = many
        return made

    @classmethod
    def sentence(cls, id: str, /, **values: Any) -> Self:  # noqa: A002
        """Return a message that begins with a capital, whatever value it begins with.

        >>> str(Message.sentence("{attribute} missing", attribute="namePublicLong"))
        'Long name missing'
        """
        made = cls(id, **values)
        made.is_sentence = True
        return made

    def __str__(self) -> str:
        from prodex.languages.translation import ENGLISH

        return ENGLISH.say(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.id, self.json) == (other.id, other.json)

    def __hash__(self) -> int:
        return hash((self.id, self.json))

    def __reduce__(self) -> tuple[Callable[[str, str], Message], tuple[str, str]]:
        return _read, (self.id, self.json)

    def with_values(self, **values: Any) -> Self:
        """Return the same message with other values at some of its places."""
        made = type(self)(self.id, **{**self.values, **values})
        made.many, made.is_sentence = self.many, self.is_sentence
        return made

    @property
    def json(self) -> str:
        """Its values as JSON; `read_message` takes them back.

        >>> Message("{said} ({count})", said=Message("none"), count=3).json
        '{"said":{"id":"none","values":{}},"count":3}'
        """
        if self._json is None:
            self._json = values_json(self.values, self)
        return self._json

    def plain(self) -> dict[str, Any]:
        """Return it as plain data, as it stands in the values of another."""
        return {"id": self.id, "values": {**_finite(self.values), **_marks(self)}}

    @classmethod
    def of_plain(cls, plain: Any) -> Message:
        """Return what `plain` has written.

        Raises
        ------
        ValueError
            When it is something else.
        """
        match plain:
            case {"id": str(sentence), "values": dict(values)}:
                return message_of(sentence, values)
        raise ValueError(f"{plain!r:.80} is no message")


def sentences(*said: Said) -> Said:
    """Return several sentences, one after the other, as one message.

    >>> str(sentences("It is a date.", Message("Write the value as text.")))
    'It is a date. Write the value as text.'
    """
    return reduce(lambda before, one: Message("{said} {further}", said=before, further=one), said)


def either(*said: Said) -> Said:
    """Return several things of which one is meant, as one message.

    >>> str(either("ACME", Message("nothing")))
    'ACME or nothing'
    """
    return reduce(lambda before, one: Message("{said} or {further}", said=before, further=one), said)


def said_by(error: ProdexError) -> Said:
    """Return what an error says as a message; as its text, where that is all there is.

    >>> said_by(ProdexError.saying("{text} is not a number.", text="'a lot'")).values, said_by(ProdexError("Full."))
    ({'text': "'a lot'"}, 'Full.')
    """
    return Message(error.sentence, **error.values) if error.sentence else str(error)


#: Where it stands among the values of a message that it has a second form, or begins with a capital: no place is
#: called so.
_MANY, _SENTENCE = "(many)", "(sentence)"


def _marks(message: Message) -> dict[str, Any]:
    return ({_MANY: message.many} if message.many else {}) | (
        {_SENTENCE: True} if message.is_sentence else {}
    )


def plain_value(value: Any) -> Any:
    """Return a value that JSON does not have as one that it has."""
    if isinstance(value, Message):
        return value.plain()
    # Numbers of numpy are numbers.
    return _finite_number(value.item()) if isinstance(value, np.generic) else str(value)


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _finite_number(one) for name, one in values.items()}


def _finite_number(value: Any) -> Any:
    """Return what is no number and what is infinite as a text, which JSON would make nothing; all else as it is."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


_encoder = msgspec.json.Encoder(enc_hook=plain_value)
_decode = msgspec.json.Decoder(dict[str, Any]).decode


def values_json(values: Mapping[str, Any], message: Message) -> str:
    """Return values of a message as JSON: its own, or those of one row where they are columns."""
    return _encoder.encode({**_finite(values), **_marks(message)}).decode()


def read_message(message: str, values: str | None) -> Said:
    """Return a message by its id and its values as JSON; without values it is a text that is shown as it is.

    >>> str(read_message("over {limit:g} g", '{"limit":105.5}')), read_message("{it} is mine", None)
    ('over 105.5 g', '{it} is mine')
    """
    if values is None:
        return message
    return _read(message, values)


def _read(message: str, values: str) -> Message:
    return message_of(message, _decode(values))


def message_of(message: str, values: Mapping[str, Any]) -> Message:
    """Return a message of plain data."""
    given = {name: _revived(value) for name, value in values.items()}
    many, is_sentence = given.pop(_MANY, ""), given.pop(_SENTENCE, False)
    made = Message(message, **given)
    made.many, made.is_sentence = many, is_sentence
    return made


def _revived(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_revived, value))
    return Message.of_plain(value) if isinstance(value, dict) else value


@lru_cache(_KEPT)
def _pieces(form: str) -> tuple[str | tuple[str, str], ...]:
    """Return a sentence as its texts and its places, each with its format."""
    pieces: list[str | tuple[str, str]] = []
    end = 0
    for found in _PLACE.finditer(form):
        pieces += [form[end : found.start()], (found[1], found[2] or "")]
        end = found.end()
    return tuple(one for one in (*pieces, form[end:]) if one)


def places_of(form: str) -> set[str]:
    """Return the names of the places of a sentence."""
    return {piece[0] for piece in _pieces(form) if not isinstance(piece, str)}


def filled_in(form: str, values: Mapping[str, Any], shown: Callable[[str, Any, str], str]) -> str:
    """Return a sentence with its values; a place without one stays, since it may be somebody's own brace.

    Parameters
    ----------
    form
        The sentence, in any language.
    values
        The values by place.
    shown
        Makes words of a value: of the name of its place, the value, and its format.
    """
    return "".join(
        piece
        if isinstance(piece, str)
        else shown(piece[0], values[piece[0]], piece[1])
        if piece[0] in values
        else f"{{{piece[0]}{':' * bool(piece[1])}{piece[1]}}}"
        for piece in _pieces(form)
    )
