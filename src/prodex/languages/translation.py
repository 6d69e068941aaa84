"""One language: messages, figures, days and the names of languages as its readers write them.

>>> Translation("fr").ngettext("{number} product", "{number} products", 12000)
'12\\u202f000 produits'
"""

from __future__ import annotations

import gettext
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache, lru_cache, reduce
from importlib import resources
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Self

from babel import Locale, dates, numbers
from babel.messages.pofile import PoFileError, read_po

from prodex import phrases
from prodex.errors import InputError
from prodex.installed_packs import installed_packs
from prodex.languages.labels import NAMED, attribute_label
from prodex.languages.message import Message, Said, filled_in, places_of
from prodex.locales import known_language_tag, language_label, language_name, market_name
from prodex.phrases import hint_and_all

#: The languages that there are: English, and those with a folder here.
LANGUAGES = ("en", "fr", "de", "nl")

_DAY_IN_WORDS = re.compile(rf"([1-9]|[12]\d|3[01]) ({'|'.join(phrases.MONTHS)}) (\d{{4}})")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?")
#: Different sentences of one language that are kept: there are few among very many rows.
_KEPT = 20_000


@dataclass(frozen=True)
class Translation:
    """What prodex writes, in one language.

    Attributes
    ----------
    language
        One of `LANGUAGES`.

    Examples
    --------
    >>> Translation("fr").gettext("New value"), Translation("en").gettext("New value")
    ('Nouvelle valeur', 'New value')
    """

    language: str = "en"

    @classmethod
    def of(cls, language: str) -> Self:
        """Return the words of a language by its code or name.

        Raises
        ------
        InputError
            When it is no language, or one without translations; the message names those that there are.

        Examples
        --------
        >>> Translation.of("French"), Translation.of("de-AT"), Translation.of("nld")
        (Translation(language='fr'), Translation(language='de'), Translation(language='nl'))
        """
        tag = known_language_tag(language) if isinstance(language, str) else None
        short = None if tag is None else tag.partition("-")[0]
        if short not in LANGUAGES:
            names = [language_name(one) for one in LANGUAGES]
            there_are = f"Give one of {', '.join(names)}."
            raise InputError(
                f"There are no messages in {str(language)!r:.40}{hint_and_all(str(language), names, there_are)}"
            )
        return cls(short)

    @property
    def is_english(self) -> bool:
        """Whether everything is as the code says it."""
        return self.language == "en"

    @property
    def locale(self) -> Locale:
        """Its rules for figures and dates."""
        return Locale(self.language)

    def gettext(self, message: str, **values: Any) -> str:
        """Return a message with its values filled in; whole numbers as the language writes them.

        >>> Translation("nl").gettext("Page {page} of {pages}", page=1, pages=1200)
        'Pagina 1 van 1.200'
        """
        return self._filled(_catalogue(self.language).gettext(message), values)

    def ngettext(self, one: str, many: str, number: int, **values: Any) -> str:
        """Return the same of a number of things; {number} is the number."""
        return self._filled(
            _catalogue(self.language).ngettext(one, many, number), {**values, "number": number}
        )

    def _filled(self, message: str, values: Mapping[str, Any]) -> str:
        if not values:
            return message
        return message.format(
            **{name: self.number(value) if type(value) is int else value for name, value in values.items()}
        )

    def number(self, value: float | Decimal, digits: int | None = None) -> str:
        """Write a number with the signs of the language.

        >>> Translation("en").number(12000), Translation("de").number(1234.5), Translation("fr").number(0.5, 2)
        ('12,000', '1.234,5', '0,50')
        """
        if digits is None and (type(value) is int or isinstance(value, Integral)):
            return self._with_own_signs(f"{value:,}")
        decimals = "0" * digits if digits is not None else "#" * 15
        form = f"#,##0.{decimals}" if decimals else "#,##0"
        return _written_number(value, form, self.language)

    def percent(self, share: float, digits: int = 1) -> str:
        """Write a share in per cent, as `prodex.phrases.percent` does in English.

        >>> Translation("en").percent(0.612), Translation("de").percent(0.612), Translation("fr").percent(1, 0)
        ('61.2 %', '61,2\\xa0%', '100\\xa0%')
        """
        english = phrases.percent(share, digits)
        if not english.endswith(" %"):
            return self.gettext("none")
        return english if self.is_english else self._with_own_signs(english.replace(" %", "%"))

    def day(self, day: date) -> str:
        """Write a day.

        >>> [Translation(one).day(date(2026, 11, 26)) for one in LANGUAGES]
        ['2026-11-26', '26 novembre 2026', '26. November 2026', '26 november 2026']
        >>> Translation("fr").day(date(2026, 10, 1))
        '1er octobre 2026'
        """
        if self.is_english:
            return f"{day:%Y-%m-%d}"
        written = dates.format_date(day, "long", locale=self.language)
        # Babel does not know that the first of a month is an ordinal in French.
        return f"1er{written[1:]}" if (self.language, day.day) == ("fr", 1) else written

    def moment(self, moment: datetime) -> str:
        """Write a moment to the minute, in the zone that it has.

        >>> [Translation(one).moment(datetime(2026, 11, 26, 8, 5)) for one in ("en", "de")]
        ['2026-11-26 08:05', '26. November 2026, 08:05']
        """
        if self.is_english:
            return f"{moment:%Y-%m-%d %H:%M}"
        return f"{self.day(moment)}, {dates.format_time(moment, 'HH:mm', locale=self.language)}"

    def language_label(self, language: str) -> str:
        """Return the name of a language that somebody typed, or what was typed where there is no such language.

        >>> Translation("de").language_label("fra-FR"), Translation("de").language_label("klingon")
        ('Französisch (Frankreich)', 'klingon')
        """
        if self.is_english or known_language_tag(language) is None:
            return language_label(language)
        return language_name(language, self.language)

    def attribute_title(self, path: str) -> str:
        """Return what an attribute is called at the head of a row; in English, and without a label, by its wire path.

        >>> [Translation("fr").attribute_title(one) for one in ("namePublicLong", "brand.code", "xOwn")]
        ['Nom long', 'Marque\\xa0: code', 'xOwn']
        """
        if self.is_english:
            return path
        *above, own = (
            attribute_label(part) for part in path.removesuffix(".data").removeprefix("assets.").split(".")
        )
        if own not in NAMED:
            return path
        parts = dict.fromkeys([*(self.gettext(one) for one in above if one in NAMED), self.gettext(own)])
        title = reduce(lambda before, one: self.gettext("{name}: {value}", name=before, value=one), parts)
        return f"{title[:1].upper()}{title[1:]}"

    def column_label(self, column: str) -> str:
        """Return what a column of products is called; in English, and where it is called nothing else, by its name.

        >>> [Translation("fr").column_label(one) for one in ("is_consumer_unit", "kind_code", "xOwnColumn")]
        ['unité consommateur', 'type', 'xOwnColumn']
        """
        label = attribute_label(re.sub(r"_(code|id)$", "", column))
        return column if self.is_english or label not in NAMED else self.gettext(label)

    def translated_moment(self, text: str) -> str | None:
        """Return a day or moment as the code writes it in this language; None of anything else.

        >>> [Translation("de").translated_moment(one) for one in ("2026-11-26 08:05", "2 August 2026", "2 Augustus")]
        ['26. November 2026, 08:05', '2. August 2026', None]
        """
        if (said := _DAY_IN_WORDS.fullmatch(text)) is not None:
            return self.day(date(int(said[3]), phrases.MONTHS.index(said[2]) + 1, int(said[1])))
        if not _MOMENT.fullmatch(text):
            return None
        moment = datetime.fromisoformat(text)
        return self.day(moment) if len(text) == len("2026-11-26") else self.moment(moment)

    def say(self, said: Said) -> str:
        """Put a message into words; a text that is somebody else's stays as it is.

        >>> message = Message("{attribute} missing in {language}", attribute="namePublicLong", language="fr")
        >>> [Translation(one).say(message) for one in ("en", "fr")]
        ['long name missing in French', 'Texte manquant en français\xa0: nom long']
        """
        if isinstance(said, str):
            return said
        if not said.id:
            # Catalogues have their own description there.
            return ""
        if said.many:
            form = _catalogue(self.language).ngettext(said.id, said.many, said.values["number"])
        else:
            form = _catalogue(self.language).gettext(said.id)
        text = filled_in(form, said.values, self._shown) if said.values else form
        return f"{text[:1].upper()}{text[1:]}" if said.is_sentence else text

    def say_again(self, said: Said) -> str:
        """Put a message into words as `say` does, and keep them: of what is said of very many findings alike.

        >>> Translation("de").say_again(Message("not given"))
        'nicht angegeben'
        """
        return said if isinstance(said, str) else _said_again(self.language, said)

    def _shown(self, place: str, value: Any, form: str) -> str:
        """Return a value as it is shown at its place."""
        if isinstance(value, Message):
            return self.say(value)
        if isinstance(value, tuple | list):
            return _DIVIDED.get(place, ", ").join(self._shown(place, one, form) for one in value)
        if isinstance(value, bool):
            return self.gettext("yes") if value else self.gettext("no")
        if form == "%" and isinstance(value, Real):
            return self.percent(float(value))
        if place == _EARLIER_SHARE:
            return self.percent(value).rstrip("%\xa0 ")
        if form:
            # In English as the sentence says; elsewhere thousands are told apart, as in all other numbers.
            is_plain = self.is_english or form[0] not in ".dfg"
            try:
                return self._with_own_signs(format(value, form if is_plain else f",{form}"))
            except (TypeError, ValueError):
                # A rule of one's own may give anything: its finding is shown all the same.
                return str(value)
        if isinstance(value, Real):
            return self._with_own_signs(f"{value:,.15g}" if isinstance(value, float) else f"{value:,}")
        shown = _SHOWN.get(place)
        return str(value) if shown is None else shown(self, str(value))

    def _with_own_signs(self, number: str) -> str:
        """Return a number as Python writes it with the signs of the language."""
        return number if self.is_english else number.translate(_signs(self.language))


ENGLISH = Translation()

#: The place of what a share was before: the sign of the share that follows is enough for both.
_EARLIER_SHARE = "earlier_share"


@lru_cache(_KEPT)
def _said_again(language: str, message: Message) -> str:
    return Translation(language).say(message)


#: What stands between several values at a place; a comma anywhere else.
_DIVIDED = {"conditions": "; "}

#: What stands at a place with one of these names is shown as the reader calls it.
_SHOWN: Mapping[str, Callable[[Translation, str], str]] = {
    **dict.fromkeys(
        ("attribute", "attributes", "listed"),
        lambda words, one: words.gettext(attribute_label(one)),
    ),
    **dict.fromkeys(("language", "languages"), Translation.language_label),
    # Codes in English, as columns and profiles write them.
    **dict.fromkeys(
        ("language_code", "language_codes"),
        lambda words, one: one if words.is_english else words.language_label(one),
    ),
    # By what products were chosen, where it is no message: mostly what somebody wrote, some of it words of prodex.
    "conditions": lambda words, one: "; ".join(map(words.gettext, one.split("; "))),
    # A wire path in English, as messages of answers name a column.
    "path": lambda words, one: words.attribute_title(one),
    "market": lambda words, one: market_name(one, words.language) if one.isdecimal() else one,
    # Columns and codes in English, as profiles write them.
    "column": lambda words, one: words.column_label(one),
    "market_code": lambda words, one: (
        one if words.is_english or not one.isdecimal() else market_name(one, words.language)
    ),
    **dict.fromkeys(
        ("day", "moment", "then_moment"),
        lambda words, one: one if words.is_english else words.translated_moment(one) or one,
    ),
}


@cache
def _signs(language: str) -> dict[int, str]:
    signs = {",": numbers.get_group_symbol(language), ".": numbers.get_decimal_symbol(language)}
    return str.maketrans({**signs, "%": "\xa0%"})


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    if language == "en":
        return gettext.NullTranslations()
    compiled = (pack.catalogue(language) for pack in installed_packs().values())
    made = gettext.GNUTranslations(io.BytesIO(_compiled(language)))
    for one in filter(None, compiled):
        made.add_fallback(gettext.GNUTranslations(io.BytesIO(one)))
    made.add_fallback(_ADDED[language])
    return made


class _Added(gettext.NullTranslations):
    """Translations of what rules of one's own say."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: dict[str, str] = {}
        self.counted: dict[str, tuple[str, str]] = {}

    def gettext(self, message: str) -> str:
        return self.messages.get(message, message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        # Whoever has given one form means it for both.
        form = self.messages.get(msgid1)
        one, many = self.counted.get(msgid1, (form or msgid1, self.messages.get(msgid2, form or msgid2)))
        return one if n == 1 else many


_ADDITIONS: list[str] = []
_ADDED = {language: _Added() for language in LANGUAGES if language != "en"}


def add_messages(language: str, messages: Mapping[str, str | tuple[str, str]] | str | Path) -> None:
    """Add translations of what rules of one's own say: titles, problems, what to do, and reasons.

    Parameters
    ----------
    language
        French, German or Dutch, by code or name.
    messages
        The English sentence, with its places, and the sentence in the language; of a number of things two forms. Or the
        path of a `.po` file with them, as translators' programs write it.

    Raises
    ------
    InputError
        When there are no messages in the language, or the file cannot be read.
        When a translation has a place that its sentence does not have.

    Examples
    --------
    >>> import prodex
    >>> prodex.packs.add_messages("fr", {"Over {limit:g} kg": "Plus de {limit:g} kg"})
    >>> prodex.languages.Translation("fr").say(prodex.packs.Message("Over {limit:g} kg", limit=2.5))
    'Plus de 2,5 kg'
    """
    words = Translation.of(language)
    if words.is_english:
        raise InputError("English is what rules say: give translations into French, German or Dutch.")
    added = _ADDED[words.language]
    for one, said in (messages if isinstance(messages, Mapping) else _read_po(Path(messages), words)).items():
        forms = (said,) if isinstance(said, str) else tuple(said)
        if unknown := sorted(set().union(*map(places_of, forms)) - places_of(one)):
            raise InputError(
                f"The translation {forms[0]!r:.80} has {{{unknown[0]}}}, which {one!r:.80} does not have. Write the "
                "places as the sentence has them."
            )
        if len(forms) == 1:
            added.messages[one] = forms[0]
        else:
            added.counted[one] = (forms[0], forms[1])
    _ADDITIONS.append(words.language)
    _said_again.cache_clear()


def additions() -> Sequence[str]:
    """Return the languages to which messages were added, in turn: words that somebody keeps are of before."""
    return _ADDITIONS


def _read_po(file: Path, words: Translation) -> dict[str, str | tuple[str, str]]:
    try:
        # A pipe would be waited for.
        if not file.is_file():
            raise InputError(f"{str(file)!r:.200} is no file. Give a .po file, or a mapping of sentences.")
        with file.open("rb") as stream:
            found = read_po(stream, locale=words.language, abort_invalid=True)
    except (OSError, ValueError, PoFileError) as error:
        raise InputError(f"{str(file)!r:.200} cannot be read as a .po file: {error}") from error
    return {
        one.id if isinstance(one.id, str) else one.id[0]: one.string
        if isinstance(one.string, str)
        else (one.string[0], one.string[1])
        for one in found
        if one.id and one.string and all(one.string)
    }


def _compiled(language: str) -> bytes:
    return (resources.files("prodex.languages") / language / "LC_MESSAGES" / "prodex.mo").read_bytes()


@lru_cache(_KEPT, typed=True)
def _written_number(value: float | Decimal, form: str, language: str) -> str:
    # CLDR has no groups in numbers of four digits of some languages; what is compared has them.
    return str(numbers.format_decimal(value, form, language, decimal_quantization=False))
