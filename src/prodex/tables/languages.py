"""The short code of a text's language, where only the long one was sent."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from babel.core import get_global


def short_language(code: str | None, short: str | None) -> str | None:
    """Return the short code as sent, else the one that belongs to the long code, else None.

    >>> short_language("fra-FR", None), short_language("fra-FR", "fr-FR"), short_language("xx", None)
    ('fr', 'fr-FR', None)
    """
    return short if short is not None else _from_code(code) if code is not None else None


def short_languages(codes: pa.Array, shorts: pa.Array) -> pa.Array:
    """Do the same for whole columns."""
    if not pc.any(pc.and_(shorts.is_null(), codes.is_valid())).as_py():
        return shorts
    encoded = codes.dictionary_encode()
    found = pa.array([_from_code(code) for code in encoded.dictionary.to_pylist()], pa.string())
    return pc.coalesce(shorts, found.take(encoded.indices))


def short_of(language: str) -> str:
    """Return the short code of a language in either form, or what was given where there is none.

    >>> short_of("fra-FR"), short_of("fr-FR"), short_of("es"), short_of("Klingon")
    ('fr', 'fr', 'es', 'Klingon')
    """
    first = language.replace("_", "-").split("-")[0].lower()
    return first if len(first) == 2 else _from_code(language) or language


@lru_cache(maxsize=4096)
def _from_code(code: str) -> str | None:
    language = code.replace("_", "-").split("-")[0].lower()
    if len(language) != 3:
        return None
    alias: str | None = get_global("language_aliases").get(language)
    return alias if alias is not None and len(alias) == 2 else None
