"""The known name that a person most likely meant, for the messages that refuse an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: Characters of a word that are compared. difflib takes quadratic time: a text of a million characters takes minutes.
_LONGEST = 60


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name that is most similar to a word, ignoring case; None if none is similar.

    Parameters
    ----------
    word
        What was given.
    known
        The names there are.
    cutoff
        How similar they have to be, from 0 (anything) to 1 (equal).

    Examples
    --------
    >>> nearest("Bloker", ["blocker", "error", "warning"]), nearest("xx", ["blocker"])
    ('blocker', None)
    """
    return next(iter(nearest_few(word, known, 1, cutoff)), None)


def nearest_few(word: str, known: Iterable[str], most: int, cutoff: float = 0.6) -> list[str]:
    """Return so many of the known names that are like a word, the one that is most like it first.

    >>> nearest_few("1234", ["1235", "9999", "1243"], 3)
    ['1243', '1235']
    """
    # Reversed, so that of two names that differ in case alone the first wins.
    by_folded = {name.casefold(): name for name in reversed(list(known))}
    near = difflib.get_close_matches(word[:_LONGEST].casefold(), by_folded, n=most, cutoff=cutoff)
    return [by_folded[one] for one in near]


def hint(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a sentence that refuses a name: which one was meant, or else a sentence of what there is.

    >>> f"There is no {'brnad'!r}" + hint("brnad", ["brand", "kind"], "There are brand, kind.")
    "There is no 'brnad'; did you mean 'brand'?"
    >>> f"There is no {'xx'!r}" + hint("xx", ["brand", "kind"], "There are brand, kind.")
    "There is no 'xx'. There are brand, kind."
    """
    near = nearest(word, known)
    return f". {otherwise}".rstrip() if near is None else f"; did you mean {near!r}?"


def hint_and_all(word: str, known: Iterable[str], all_of_them: str) -> str:
    """Return the same with the sentence of what there is in any case, for lists of a few names.

    >>> f"severity does not know {'bloker'!r}" + hint_and_all("bloker", ["blocker", "info"], "It takes blocker, info.")
    "severity does not know 'bloker'; did you mean 'blocker'? It takes blocker, info."
    """
    return f"{hint(word, known)} {all_of_them}"
