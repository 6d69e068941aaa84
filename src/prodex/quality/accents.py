"""Words as they are written where accents get lost: in capitals, on old keyboards, by machines that read labels."""

from __future__ import annotations

import unicodedata

_LIGATURES = str.maketrans({"œ": "oe", "ß": "ss", "æ": "ae"})


def without_accents(word: str) -> str:
    """Return a word in small letters without what stands over, under and between them.

    >>> without_accents("bœuf"), without_accents("süßstoff"), without_accents("glúten")
    ('boeuf', 'sussstoff', 'gluten')
    """
    decomposed = unicodedata.normalize("NFKD", word.translate(_LIGATURES))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))
