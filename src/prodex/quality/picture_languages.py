"""In which languages pictures are: what their fields say, else what the names of their files end in."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.locales import language_tag
from prodex.quality.columns import Rows
from prodex.quality.imagery import Imagery

_PICTURES = "assets.pictures"
#: Fields in which services say it: the specification has none, so all that are in use are read.
_FIELDS = ("language", "languages", "languageCode", "languageCodes", "expressedIn")
#: What has to have been asked for before anybody can say that a picture has no language.
LANGUAGE_NEEDS = tuple(f"{_PICTURES}.{field}" for field in ("url", "gdsnFileName", *_FIELDS))

#: Languages that are looked for in names of files: those of Europe and a few more. Most pairs of letters are a
#: language somewhere, and "sm", "lg", "tn", "hi", "lo" are sizes.
_IN_NAMES = (
    *("bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr", "hu", "is", "it"),
    *("la", "lt", "lv", "mk", "mt", "nb", "nl", "nn", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv"),
    *("tr", "uk", "ar", "he", "ja", "ko", "zh"),
)  # fmt: skip
_AT_THE_END = re.compile(rf"[_.-]({'|'.join(_IN_NAMES)})(?:[_-][A-Z]{{2}})?\.[A-Za-z0-9]{{2,5}}(?:[?#].*)?$")


def in_one_language(pictures: Imagery, rows: Rows) -> Rows:
    """Return those of some pictures that share a language with another one of the same product.

    A picture that says no language is meant for all of them.
    """
    if not len(rows):
        return rows
    languages = _languages(pictures, rows)
    whose = pictures.product[rows].tolist()
    total = Counter(whose)
    in_language = Counter(
        (product, language) for product, said in zip(whose, languages, strict=True) for language in said
    )
    silent = Counter(product for product, said in zip(whose, languages, strict=True) if not said)
    shared = [
        any(in_language[product, language] > 1 for language in said) or silent[product] > 0
        if said
        else total[product] > 1
        for product, said in zip(whose, languages, strict=True)
    ]
    return np.asarray(rows[np.array(shared, bool)])


def _languages(pictures: Imagery, rows: Rows) -> list[frozenset[str]]:
    """Return the languages of some pictures, none where nobody says."""
    places = pa.array(rows)
    keys = list(
        zip(pictures.product[rows].tolist(), pictures["position"].take(places).to_pylist(), strict=True)
    )
    told = _told(pictures, set(keys))
    names = zip(
        pictures["gdsn_file_name"].take(places).to_pylist(),
        pictures["url"].take(places).to_pylist(),
        strict=True,
    )
    return [
        frozenset(told.get(key) or _named(file) or _named(url))
        for key, (file, url) in zip(keys, names, strict=True)
    ]


def _told(pictures: Imagery, wanted: set[tuple[int, str]]) -> dict[tuple[int, str], set[str]]:
    """Return what fields say, by product and position of the picture."""
    found: dict[tuple[int, str], set[str]] = {}
    fields = pa.array([f"{_PICTURES}.{field}{leaf}" for field in _FIELDS for leaf in ("", ".normalizedCode")])
    for table, column in (("codes", "code"), ("scalars", "value")):
        rows = pictures.products.arrow(table, "attribute", "position", column)
        rows = rows.filter(pc.is_in(rows["attribute"], fields))
        for product, position, value in zip(
            *(rows[name].to_pylist() for name in ("product", "position", column)), strict=True
        ):
            # A list has one more index: "0.1" is the second language of picture "0".
            for key in ((product, position), (product, position.rpartition(".")[0])):
                if value and key in wanted:
                    found.setdefault(key, set()).add(_short(value))
                    break
    return found


def _short(language: str) -> str:
    try:
        return language_tag(language).partition("-")[0]
    except QueryError:
        return language.strip().casefold()


def _named(file: str | None) -> set[str]:
    match = _AT_THE_END.search(file or "")
    return {match[1]} if match else set()
