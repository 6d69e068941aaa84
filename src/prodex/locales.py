"""Markets and languages by code and by name.

The service numbers its markets (ISO 3166-1 numeric: 250) and writes languages in two ways: `fra-FR` in
the `expressedIn.code` of a text, `fr` or `fr-FR` in its `normalizedCode` and in the Accept-language
header. People say "France" and "French". Names and codes are those of the CLDR, through Babel.

>>> market_code("France"), market_code("fr"), market_name(56)
(250, 250, 'Belgium')
>>> language_tag("fra-FR"), language_tag("Dutch"), language_code("fr-FR"), language_name("nld")
('fr-FR', 'nl', 'fra-FR', 'Dutch')

One language has several codes: those of two and of three letters, those that ISO 639 has withdrawn (`iw`, `in`), and
`nb` beside `no`. What people and services wrote is kept as they wrote it; wherever languages are compared, `short_of`
decides. One language has several variants, too: French of France, of Belgium, and without a country. Each is a place of
its own for what is written, and `meant_by` decides which text of a product a language means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from babel import Locale
from babel.core import get_global

from prodex.errors import QueryError
from prodex.phrases import nearest

#: Languages in which names of markets and languages are understood.
_NAMES_IN = ("en", "fr", "de", "es", "nl")

# Numbers that ISO 3166-1 withdrew; the CLDR keeps them as aliases of today's countries.
_RETIRED_MARKETS = frozenset({"230", "249", "278", "280", "720", "736", "886"})

# ISO 639-2/B codes (library use) and two that the CLDR merges into another language: read, never written.
_UNWRITTEN_LANGUAGES = frozenset(
    "alb arm baq bur chi cze dut fre geo ger gre ice mac mao may per prp rum scc scr slo tib twi wel".split()  # noqa: SIM905
)

#: Codes of one language that the CLDR keeps apart. Nearly all texts under `no` are in Bokmål (`nb`); Nynorsk (`nn`) is
#: written differently, and stays a language of its own.
_ONE_LANGUAGE = {"nb": "no"}

_TAG = re.compile(r"([A-Za-z]{2,3})((?:[-_][A-Za-z0-9]{2,8})*)")
_LONG_CODE = re.compile("[a-z]{3}-[A-Z]{2}")


def market_code(market: int | str) -> int:
    """Return the ISO 3166-1 numeric code of a market.

    Parameters
    ----------
    market
        The number itself (250, "250", "056"), an alpha-2 or alpha-3 code ("FR", "FRA"), or a name in English,
        French, German, Spanish or Dutch ("France", "Frankreich").

    Raises
    ------
    QueryError
        When no market has this code or name; the message names the nearest.
    """
    numbers = _market_numbers()
    wanted = f"{market:03d}" if isinstance(market, int) else market.strip()
    if wanted.isdecimal() and wanted.zfill(3) in numbers:
        return int(wanted)
    alpha = get_global("territory_aliases").get(wanted.upper(), [wanted.upper()])[0]
    alpha = _market_names().get(wanted.casefold(), alpha)
    for number, territory in numbers.items():
        if territory == alpha and number not in _RETIRED_MARKETS:
            return int(number)
    near = nearest(str(market), _market_names())
    hint = f" Did you mean {near.title()!r}?" if near else ""
    raise QueryError(
        f"There is no market {market!r}.{hint} Give its ISO 3166-1 number (250) or its name (France)."
    )


def market_name(market: int | str, language: str = "en") -> str:
    """Return the name of a market, or its number in three digits when the CLDR has no name for it."""
    number = str(market).lstrip("0").zfill(3)
    territory = _market_numbers().get(number, "")
    return str(Locale.parse(language_tag(language), sep="-").territories.get(territory, number))


def markets() -> dict[int, str]:
    """Return the number and English name of every market of today, by name.

    >>> markets()[250], 280 in markets()
    ('France', False)
    """
    numbers = {
        int(number): market_name(number) for number in _market_numbers() if number not in _RETIRED_MARKETS
    }
    return dict(sorted(numbers.items(), key=lambda one: one[1]))


def languages() -> dict[str, str]:
    """Return the tag of two letters and English name of every language that has one, by name.

    >>> languages()["nl"]
    'Dutch'
    """
    tags = {tag: str(name) for tag, name in Locale("en").languages.items() if len(tag) == 2}
    return dict(sorted(tags.items(), key=lambda one: one[1]))


def language_tag(language: str) -> str:
    """Return a language as the Accept-language header has it: two letters, then subtags ("fr", "fr-FR").

    Parameters
    ----------
    language
        A tag or code in either form ("fr-FR", "fra-FR", "fre"), or a name ("French", "Französisch").

    Raises
    ------
    QueryError
        When no language has this code or name; the message names the nearest.
    """
    if known := known_language_tag(language):
        return known
    if near := nearest(str(language), _language_names()):
        raise QueryError.saying(
            "There is no language {text}. Did you mean {near}? Give a tag such as fr-FR or a name such as French.",
            text=repr(language),
            near=repr(near.title()),
        )
    raise QueryError.saying(
        "There is no language {text}. Give a tag such as fr-FR or a name such as French.", text=repr(language)
    )


@lru_cache(maxsize=4096)
def known_language_tag(language: str) -> str | None:
    """Return the same as `language_tag`, or None where no language has this code or name.

    Services send any codes; to find the nearest name for the message of an error takes milliseconds for each.

    >>> known_language_tag("fra-FR"), known_language_tag("klingon")
    ('fr-FR', None)
    """
    match = _TAG.fullmatch(language.strip())
    if match and (short := _shortest_code(match[1].lower())):
        return short + _subtags(match[2])
    return _language_names().get(language.strip().casefold())


def language_code(language: str) -> str:
    """Return a language as `expressedIn.code` holds it: three letters, then the country ("fra-FR")."""
    short, _, subtags = language_tag(language).partition("-")
    return _long_codes().get(short, short) + (f"-{subtags}" if subtags else "")


def language_name(language: str, language_of_name: str = "en") -> str:
    """Return the name of a language; its country follows in brackets where it has one ("French (France)")."""
    names = Locale.parse(language_tag(language_of_name), sep="-")
    short, _, country = language_tag(language).partition("-")
    name = str(names.languages.get(short, short))
    return f"{name} ({names.territories.get(country, country)})" if country else name


def language_label(language: str) -> str:
    """Return the name of a language that somebody typed, or what was typed where there is no such language.

    >>> language_label("fra-FR"), language_label("klingon")
    ('French (France)', 'klingon')
    """
    return language if known_language_tag(language) is None else language_name(language)


def _shortest_code(code: str) -> str | None:
    """Return the shortest code of a language by a code of two or three letters, or None."""
    # The CLDR replaces some codes by a language with a script or country: sh by sr_Latn.
    code = get_global("language_aliases").get(code, code).partition("_")[0]
    return code if code in Locale("en").languages else None


def _subtags(subtags: str) -> str:
    """Write the country in capitals, as in fr-FR, and leave the rest as it is."""
    parts = re.split("[-_]", subtags)[1:]
    return "".join(f"-{part.upper() if len(part) == 2 else part}" for part in parts)


@cache
def _market_numbers() -> Mapping[str, str]:
    """Return alpha-2 codes by three-digit number, of numbers that mean exactly one country."""
    return {
        number: territories[0]
        for number, territories in get_global("territory_aliases").items()
        # ISO 3166-1 reserves the numbers from 900 for private use, so that they mean no market.
        if number.isdecimal() and number < "900" and len(territories) == 1 and len(territories[0]) == 2
    }


@cache
def _market_names() -> Mapping[str, str]:
    """Return alpha-2 codes by name, in lower case."""
    known = set(_market_numbers().values())
    return {name: territory for name, territory in _cldr_names("territories") if territory in known}


@cache
def _language_names() -> Mapping[str, str]:
    """Return tags by name, in lower case."""
    return {name: tag for name, tag in _cldr_names("languages") if len(tag) == 2}


def _cldr_names(what: str) -> Iterator[tuple[str, str]]:
    """Yield the names that the CLDR has, each with its code; where two languages share a name, English is last."""
    for language in reversed(_NAMES_IN):
        for code, name in getattr(Locale(language), what).items():
            yield name.casefold(), code


@cache
def _long_codes() -> Mapping[str, str]:
    """Return three-letter codes (ISO 639-2/T) by two-letter code."""
    aliases = get_global("language_aliases")
    return {
        short: code
        for code, short in aliases.items()
        if len(code) == 3 and len(short) == 2 and code not in _UNWRITTEN_LANGUAGES
    }


def short_language(code: str | None, short: str | None) -> str | None:
    """Return the short code as sent, else the one that belongs to the long code, else None.

    >>> short_language("fra-FR", None), short_language("fra-FR", "fr-FR"), short_language("xx", None)
    ('fr', 'fr-FR', None)
    """
    return short if short is not None else _from_code(code) if code is not None else None


def short_languages(codes: pa.Array, shorts: pa.Array) -> pa.Array:
    """Do the same for whole columns."""
    # Nearly every text has its short code; the few distinct long codes are looked up once each.
    if not pc.any(pc.and_(shorts.is_null(), codes.is_valid())).as_py():
        return shorts
    encoded = codes.dictionary_encode()
    found = pa.array([_from_code(code) for code in encoded.dictionary.to_pylist()], pa.string())
    return pc.coalesce(shorts, found.take(encoded.indices))


def is_long_code(language: str) -> bool:
    """Whether a language is written as `expressedIn.code` holds it: three letters and the country.

    >>> is_long_code("fra-FR"), is_long_code("fr-FR"), is_long_code("French")
    (True, False, False)
    """
    return _LONG_CODE.fullmatch(language) is not None


@lru_cache(maxsize=4096)
def short_of(language: str) -> str:
    """Return the short code of a language in any form, or what was given where there is none.

    Two codes are of one language if, and only if, this is the same for both.

    >>> short_of("fra-FR"), short_of("fr-FR"), short_of("es"), short_of("Klingon")
    ('fr', 'fr', 'es', 'Klingon')
    >>> short_of("nb"), short_of("nob-NO"), short_of("iw"), short_of("in"), short_of("tl"), short_of("nn")
    ('no', 'no', 'he', 'id', 'fil', 'nn')
    """
    first = language.replace("_", "-").split("-")[0].strip().lower()
    short = _shortest_code(first)
    if short is None:
        return first if len(first) == 2 else language
    return _ONE_LANGUAGE.get(short, short)


@lru_cache(maxsize=4096)
def tag_of(language: str) -> str:
    """Return a language with its country in the one form in which all its spellings are the same.

    >>> tag_of("nob-NO"), tag_of("no-NO"), tag_of("nb"), tag_of("fra_fr"), tag_of("ZHO-HANS"), tag_of("Klingon")
    ('no-NO', 'no-NO', 'no', 'fr-FR', 'zh-Hans', 'Klingon')
    """
    match = _TAG.fullmatch(language.strip())
    if match is None:
        return language
    # Case says nothing, of a country as of a script.
    spelled = {2: str.upper, 4: str.title}
    subtags = re.split("[-_]", match[2])[1:]
    return "-".join([short_of(match[1]), *(spelled.get(len(one), str.lower)(one) for one in subtags)])


@lru_cache(maxsize=4096)
def variant_of(code: str | None, short: str | None) -> str | None:
    """Return the language of a text with its country, by the codes that it was sent with; None where it has neither.

    The long code decides, unless only the short one names the country, or they are of two languages: then a text is in
    that of the short one, as in every table.

    >>> variant_of("fra-BE", "fr"), variant_of("fra", "fr-BE"), variant_of(None, "fr"), variant_of("nld-NL", "fr")
    ('fra-BE', 'fr-BE', 'fr', 'fr')
    """
    if code is None or short is None:
        return short if code is None else code
    if short_of(code) != short_of(short):
        return short
    return short if is_whole_language(code) and not is_whole_language(short) else code


def is_meant(variant: str | None, language: str) -> bool:
    """Whether a language can mean a text, by the language of the text as `variant_of` returns it.

    One with a country means that country in any spelling, and nothing else. One alone means all that is in it.

    >>> is_meant("fra-BE", "FR-be"), is_meant("fra-FR", "fr-BE"), is_meant("fra", "fr-BE"), is_meant("fra-BE", "fre")
    (True, False, False, True)
    """
    if variant is None:
        return False
    if is_whole_language(language):
        return short_of(variant) == short_of(language)
    return tag_of(variant) == tag_of(language)


def is_same_language(one: str, other: str) -> bool:
    """Whether two codes are of one language: services write "fr-FR" or "fr" for "fra-FR", which is not "fra-BE".

    >>> is_same_language("fra-FR", "fr"), is_same_language("fr-FR", "fra_fr"), is_same_language("fra-FR", "fra-BE")
    (True, True, False)
    """
    if tag_of(one) == tag_of(other):
        return True
    return short_of(one) == short_of(other) and (is_whole_language(one) or is_whole_language(other))


def meant_by(language: str, variants: Sequence[str | None], *, is_code: bool = False) -> list[int]:
    """Return which texts of an attribute a language means, as indexes: the one home of that question.

    What is written goes to the only text that is meant, and to none where several are: nobody can say which.

    Parameters
    ----------
    language
        A code, with a country or alone.
    variants
        The language of each text, as `variant_of` returns it.
    is_code
        Whether the code is that of a text as it was sent. Then one alone means a text that names no country either, if
        there is one.

    Examples
    --------
    >>> meant_by("fr-BE", ["fra-FR", "fra-BE"]), meant_by("fr", ["nld-BE", "fra-BE"]), meant_by("fr-BE", ["fra-FR"])
    ([1], [1], [])
    >>> meant_by("fra", ["fra-BE", "fra"]), meant_by("fra", ["fra-BE", "fra"], is_code=True)
    ([0, 1], [1])
    """
    found = [place for place, one in enumerate(variants) if is_meant(one, language)]
    if not is_code or not is_whole_language(language):
        return found
    return [place for place in found if is_whole_language(str(variants[place]))] or found


def codes_in_words(variants: Iterable[str | None]) -> str:
    """Return the codes of several texts, each once, so that somebody can say which one is meant.

    >>> codes_in_words(["fra-FR", "fra-BE", None, "fra-FR"])
    'fra-BE, fra-FR'
    """
    return ", ".join(sorted({one for one in variants if one is not None}))


def spelled_short(language: str) -> str:
    """Return the short code of a language as it was spelled, by which results of a call are named.

    >>> spelled_short("nb"), spelled_short("nob-NO"), spelled_short("iw"), spelled_short("fra-FR"), spelled_short("gsw")
    ('nb', 'nb', 'iw', 'fr', 'gsw')
    """
    first = language.replace("_", "-").split("-")[0].strip().lower()
    return first if len(first) == 2 else _shortest_code(first) or language


def spelled_tag(language: str) -> str:
    """Return the same with the country or script, if there is one: results in a variant are named by it.

    >>> spelled_tag("fra_be"), spelled_tag("nob-NO"), spelled_tag("zho-hans"), spelled_tag("fre"), spelled_tag("gsw-ch")
    ('fr-BE', 'nb-NO', 'zh-Hans', 'fr', 'gsw-CH')
    """
    short = spelled_short(language)
    return short if short == language else "-".join([short, *tag_of(language).split("-")[1:]])


def is_whole_language(language: str) -> bool:
    """Whether a language is named without a country or script: "fr-BE" is not all that is French.

    >>> is_whole_language("fr"), is_whole_language("nob"), is_whole_language("fr-BE"), is_whole_language("fra-FR")
    (True, True, False, False)
    """
    return "-" not in language.replace("_", "-")


@lru_cache(maxsize=4096)
def _from_code(code: str) -> str | None:
    language = code.replace("_", "-").split("-")[0].lower()
    if len(language) != 3:
        return None
    alias: str | None = get_global("language_aliases").get(language)
    return alias if alias is not None and len(alias) == 2 else None


#: Member states of the European Union, ISO 3166-1 numeric.
EU = frozenset(
    {
        *(40, 56, 100, 191, 196, 203, 208, 233, 246, 250, 276, 300, 348, 372),
        *(380, 428, 440, 442, 470, 528, 616, 620, 642, 703, 705, 724, 752),
    }
)


def is_in_union(country: str) -> bool | None:
    """Say whether a country is a member state of the European Union; None where a text names no country.

    >>> is_in_union("FR"), is_in_union("156"), is_in_union("Atlantis")
    (True, False, None)
    """
    try:
        return market_code(country) in EU
    except QueryError:
        return None
