"""The record as received, laid out line by line; every character that is not space between signs stays."""

from __future__ import annotations

import re

from prodex.verbatim import Words, words

#: Characters of a record that are shown.
_MOST = 300_000
#: Deeper levels are not moved further in: a record nested a thousand times would be made of spaces.
_DEEPEST = 40

_SIGN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


def laid_out(json: str) -> str:
    """Return a JSON text with one value on a line, whatever it is: keys given twice stay, numbers keep their spelling.

    >>> print(laid_out('{"a": [1.50, {}], "a": "\\\\ud83d"}'))
    {
      "a": [
        1.50,
        {}
      ],
      "a": "\\ud83d"
    }
    """
    made: list[str] = []
    depth, before = 0, ""
    for found in _SIGN.finditer(json):
        sign = found[0]
        if sign in "]}":
            depth = max(depth - 1, 0)
            if before not in "[{":
                made.append(_line(depth))
        elif before in "[{," and before:
            made.append(_line(depth))
        made.append(f"{sign} " if sign == ":" else sign)
        if sign in "[{":
            depth += 1
        before = sign
    return "".join(made)


def raw(json: str | None) -> Words:
    """Return a record for people to read, or its beginning."""
    if json is None:
        return words(None)
    whole = laid_out(json)
    shown = words(whole[:_MOST])
    return Words(shown.text, len(whole))


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, _DEEPEST)
