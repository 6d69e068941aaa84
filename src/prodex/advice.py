"""What to do, in a message: arguments and calls are values of it, which a terminal puts into words of its own.

The library speaks Python: "pass replace=True". A command has an option for that, and its user has no Python. So whoever
makes such a message names the argument or the call as a value, and `prodex.cli.words` has the option or the command
for it. A message without such values is the same everywhere.

>>> replace = Argument("replace", True)
>>> message = advice("There is {file}. Give another path, or {replace}.", file="a.xlsx", replace=replace)
>>> message
'There is a.xlsx. Give another path, or replace=True.'
>>> in_words(message, lambda named: "--replace")
'There is a.xlsx. Give another path, or --replace.'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from prodex.errors import printable


class Argument:
    """An argument that somebody gave, or is asked to give with a value.

    >>> str(Argument("page_size")), str(Argument("replace", True))
    ('page_size', 'replace=True')
    """

    __slots__ = ("name", "value")

    name: str
    #: What to give for it; nothing where the argument alone is named.
    value: Any

    def __init__(self, name: str, *value: Any) -> None:
        self.name, self.value = name, value

    def __str__(self) -> str:
        return self.name + "".join(f"={one!r}" for one in self.value)


class PythonCall:
    """A line of Python, or a part of one, with places for values.

    >>> str(PythonCall("prodex.write_requirements({file!r}, catalog)", file="a.xlsx"))
    "prodex.write_requirements('a.xlsx', catalog)"
    """

    __slots__ = ("line", "values")

    line: str
    values: Mapping[str, Any]

    def __init__(self, line: str, /, **values: Any) -> None:
        self.line, self.values = line, values

    def __str__(self) -> str:
        return self.line.format(**self.values)


#: What a message names, and a terminal calls otherwise.
Named: TypeAlias = Argument | PythonCall


class Advice(str):
    """A message of `advice`: its words for Python, and what it is made of."""

    __slots__ = ("sentence", "values")

    sentence: str
    values: Mapping[str, Any]


def advice(sentence: str, /, **values: Any) -> Advice:
    """Return a message by its sentence and the values at its places: texts, arguments, calls, messages, errors.

    What it quotes is printable, as in each message of an error.
    """
    made = Advice(printable(sentence.format(**{name: str(value) for name, value in values.items()})))
    made.sentence, made.values = sentence, values
    return made


def together(*messages: str, by: str = " ") -> Advice:
    """Return messages one after the other as one, with a text between them; each keeps what it names.

    >>> together("It failed.", advice("Give {it}.", it=Argument("size", 3)))
    'It failed. Give size=3.'
    """
    places = {f"part_{number}": one for number, one in enumerate(messages)}
    return advice(by.join(f"{{{name}}}" for name in places), **places)


def in_words(said: object, words: Callable[[Named], str]) -> str:
    """Return what a message or an error says, with other words for each argument and call that it names.

    >>> from prodex.errors import ProdexError
    >>> in_words(ProdexError(advice("Give {it}.", it=Argument("size", 3))), lambda named: f"--{named.name} 3")
    'Give --size 3.'
    """
    match said:
        case Argument() | PythonCall():
            return words(said)
        case Advice():
            return said.sentence.format(**{name: in_words(one, words) for name, one in said.values.items()})
        case Exception(args=(Advice() as message, *_)):
            return in_words(message, words)
    return str(said)
