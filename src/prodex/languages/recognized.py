"""What comes back of what prodex wrote: a heading, the name of a sheet, a label or a choice, in whichever language."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection
from functools import cache

from prodex import phrases
from prodex.languages.translation import LANGUAGES, Translation


def spellings(message: str) -> frozenset[str]:
    """Return how a message reads in each language.

    >>> sorted(spellings("(delete)"))
    ['(delete)', '(löschen)', '(supprimer)', '(verwijderen)']
    """
    return frozenset(Translation(language).gettext(message) for language in LANGUAGES)


def letters(text: str) -> str:
    """Return a text as it is recognized: letters and digits in small, without accents, umlauts of two letters as one.

    >>> letters("Wert GESEHEN:"), letters("löschen"), letters("loeschen")
    ('wertgesehen', 'loschen', 'loschen')
    """
    return _UMLAUTS.sub(r"\1", _SIGNS_AND_SPACES.sub("", phrases.unaccented(text)))


_SIGNS_AND_SPACES, _UMLAUTS = re.compile(r"[\W_]+"), re.compile("([aou])e")


def recognized(text: str, of: Collection[str], alike: Callable[[str], str] = letters) -> str | None:
    """Return which of some messages a text is that somebody returns: a heading, the name of a sheet, a label, a choice.

    Parameters
    ----------
    text
        As it came back, in any language.
    of
        The messages.
    alike
        Makes the same of what people and programs make of a message.

    Returns
    -------
    str or None
        The message; None where the text is none of them, or may be several.

    Examples
    --------
    >>> recognized("NOUVELLE VALEUR", ("New value", "Language")), recognized("wert", ("New value", "Language"))
    ('New value', None)
    """
    return _by_spelling(frozenset(of), alike).get(alike(text))


@cache
def _by_spelling(of: frozenset[str], alike: Callable[[str], str]) -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for message in of:
        for spelled in spellings(message):
            found[alike(spelled)].add(message)
    return {spelled: next(iter(several)) for spelled, several in found.items() if len(several) == 1}
