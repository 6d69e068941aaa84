"""What somebody gave, in words: for messages that refuse it."""

from __future__ import annotations

from pathlib import PurePath


def described(given: object) -> str:
    """Say what a value is; of a text also what it says, and never what a secret does.

    >>> described(None), described("shop"), described(7), described([])
    ('None', "the text 'shop'", 'the number 7', 'a list')
    """
    if given is None or isinstance(given, bool):
        return repr(given)
    if isinstance(given, str):
        return f"the text {given!r:.60}"
    if isinstance(given, int | float):
        return f"the number {given!r:.30}"
    if isinstance(given, PurePath):
        return f"the path {str(given)!r:.80}"
    name = type(given).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name:.60}"
