"""Capitals and small letters as languages write them: what is known of each, and what is not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeAlias

from prodex.locales import short_of
from prodex.phrases import composed

#: The cases that texts can be written in.
CASES: Final = ("upper", "lower", "sentence", "title")


class CaseUnknown(ValueError):
    """It is not known how a language writes it; the message says why."""


_DOTTED = frozenset({"tr", "az"})
#: Languages that write capitals in their own way.
OWN_CAPITALS: Final = _DOTTED | {"el"}
#: Texts of Latin letters with one capital each, and without markup and addresses of mail, as a pattern of RE2.
SIMPLE_LETTERS: Final = (
    r"^[\x{9}-\x{25}\x{27}-\x{3B}\x{3D}-\x{3F}A-Za-z\x{5B}-\x{60}\x{7B}-\x{7E}\x{A0}-\x{B4}\x{B6}-\x{DE}\x{E0}-\x{12F}"
    r"\x{132}-\x{148}\x{14A}-\x{17E}\x{2010}-\x{203A}\x{20AC}]*$"
)
#: An address of the web, which such a text must not have.
WEB_ADDRESS: Final = r"(?i)www\.|://"
#: Languages that write nouns with capitals: only a person knows which words are nouns.
_NOUNS: Mapping[str, str] = {"de": "German", "lb": "Luxembourgish"}
#: Words that are small inside of titles, by language; how titles are written in others is not known.
_SMALL: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "a an the and or nor but of in on at by for from to with without as per via",
        "fr": "le la les l un une des de du d au aux à a en et ou ni sans avec sur sous pour par dans chez que qu",
        "nl": "de het een 't 'n en of van in op met zonder voor bij uit aan te tot naar per",
        "de": "der die das den dem des ein eine einer eines einem einen und oder mit ohne in im aus auf für von vom "
        "zu zum zur bei nach an am",
        "es": "el la los las un una unos unas y e o u de del al a en con sin para por sobre",
        "it": "il lo la i gli le un uno una e ed o di del dello della dei degli delle da dal dalla a al alla ai alle "
        "in nel nella con senza per su sul sulla",
        "pt": "o a os as um uma e ou de do da dos das em no na nos nas com sem para por ao à aos às",
        "da": "en et og eller af i på med uden til fra for",
        "sv": "en ett och eller av i på med utan till från för",
        "no": "en et ei og eller av i på med uten til fra for",
    }.items()
}
#: Where a short word and the next one are written as one: l'huile, dell'olio.
_ELIDING = frozenset({"fr", "it", "ca", "oc", "pms", "fur", "sc", "co"})

#: A word with its accents, and with what an apostrophe joins.
_WORD = re.compile(r"[^\W_][\w\u0300-\u036f]*(?:['’ʼ][^\W_][\w\u0300-\u036f]*)*")
_ELISION = re.compile(r"([^\W_][\w\u0300-\u036f]*)(['’ʼ])(.+)")
_CAPITAL_INSIDE = re.compile(r"[^\W\d_]*?[a-zà-öø-ÿ\u0300-\u036f][A-ZÀ-ÖØ-Þ]|[a-z][A-Z]")
_LETTER_DIGIT = re.compile(r"[^\W\d_]+\d")
_SENTENCE_END = re.compile(r"[.!?…]\s+[\"'«“‘(\[]*$")
_TONOS, _DIALYTIKA = "\u0301", "\u0308"


#: Symbols of units, which have one spelling in every language and in every case.
_SYMBOLS: Final = (
    "µg mcg mg cg dg g kg t ml cl dl hl l mm cm dm m km mm² cm² m² km² cm³ dm³ m³ W kW kWh Wh V kV Hz kHz MHz GHz "
    "J kJ MJ cal kcal IU UI IE bar mbar Pa hPa kPa Ah mAh dB lm MB GB TB °C °F"
)
_UNITS: Mapping[str, str] = {one.casefold(): one for one in _SYMBOLS.split()}
_SYMBOL: Final = "|".join(sorted(_UNITS, key=len, reverse=True))
#: Behind a symbol neither a word goes on nor an elided one (3 l'eau) begins.
_ENDS: Final = r"(?![\w\u0300-\u036f]|['’ʼ]\w)"
#: A number and its unit, and what that is for each of: 844 kJ, 5 mg/l. In front of it the x of 6x33cl is no word.
_NUMBER: Final = r"(?<![^\W_xX])(?<![^\W_xX][.,])\d+(?:[.,]\d+)*[ \t\u00a0\u202f]*"
_QUANTITY: Final = rf"{_NUMBER}(?:{_SYMBOL}){_ENDS}(?:[ ]?/[ ]?(?:{_SYMBOL}){_ENDS})*"
#: Symbols that are spelled like nothing but a unit, wherever they are.
_ALONE: Final = "kW kWh kV kHz MHz GHz kJ hPa kPa mAh dB °C °F mm² cm² m² km² cm³ dm³ m³"
_UNIT_ALONE: Final = rf"(?<![\w\u0300-\u036f])(?-i:{_ALONE.replace(' ', '|')}){_ENDS}"
#: Where a text of simple letters may have one, as a pattern of RE2.
NEAR_A_UNIT: Final = (
    rf"(?i)[0-9][ \t\x{{A0}}\x{{202F}}]*(?:{_SYMBOL})(?:[^\pL\pN_]|$)|(?-i:{_ALONE.replace(' ', '|')})"
)
#: The letters of a unit in a quantity.
_UNIT_LETTERS = re.compile(r"[^\W\d_]+[²³]?|°[CF]", re.IGNORECASE)
#: A generation of mobile networks, and no mass.
_NETWORK = re.compile(r"[2-6]G")
#: What stays as it is: markup, references to characters, addresses, and units, which are written as their symbol.
_VERBATIM = re.compile(
    rf"(<[^<>]*>|&#?\w{{1,31}};|https?://\S+|www\.\S+|\S+@\S+|{_QUANTITY}|{_UNIT_ALONE})", re.IGNORECASE
)
_A_QUANTITY = re.compile(_QUANTITY, re.IGNORECASE)


def change_case(text: str, language: str | None, to: str, keep: Collection[str] = ()) -> str:
    """Return a text in a case, as its language writes it.

    Parameters
    ----------
    text
        The text.
    language
        Its language, if it is known.
    to
        One of `CASES`.
    keep
        Words that are written exactly so.

    Raises
    ------
    CaseUnknown
        When it is not known how the language writes it.

    Examples
    --------
    >>> change_case("straße", "de", "upper"), change_case("ILIK SÜT", "tr", "lower")
    ('STRASSE', 'ılık süt')
    >>> change_case("ijsthee met munt", "nl", "title")
    'IJsthee met Munt'
    >>> change_case("500 MG, 844 kj", "fr", "lower"), change_case("500 mg, 844 kj", "fr", "upper")
    ('500 mg, 844 kJ', '500 mg, 844 kJ')
    >>> change_case("ΓΆΛΑ ΦΡΈΣΚΟ", "el", "upper"), change_case("BREAD WITH SEEDS. BAKED", "en", "sentence")
    ('ΓΑΛΑ ΦΡΕΣΚΟ', 'Bread with seeds. Baked')
    """
    spoken = "" if language is None else short_of(language)
    kept = {composed(one).casefold(): one for one in keep}
    pieces = _VERBATIM.split(text)
    pieces[1::2] = [_with_symbols(one, kept) for one in pieces[1::2]]
    if to in ("upper", "lower"):
        change = _upper if to == "upper" else _lower
        made = [
            piece if number % 2 else _with_kept(change(piece, spoken), kept)
            for number, piece in enumerate(pieces)
        ]
        return "".join(made)
    plain = "".join(pieces[::2])
    if plain.lower() == plain.upper():
        return "".join(pieces)  # a script without capitals
    if to == "sentence":
        made_text = _sentences(pieces, spoken, kept)
        if spoken in _NOUNS and made_text != text:
            raise CaseUnknown(
                f"{_NOUNS[spoken]} writes nouns with capitals, and which words are nouns is not known here. Correct "
                "the text by hand."
            )
        return made_text
    if spoken not in _SMALL:
        raise CaseUnknown(
            f"it is not known how titles are written in {language or 'a text without a language'}. Write sentences: "
            'ChangeCase("sentence").'
        )
    return _title(pieces, spoken, kept)


def _with_kept(text: str, kept: Mapping[str, str]) -> str:
    return _WORD.sub(lambda found: _own_spelling(found[0], kept) or found[0], text) if kept else text


def _own_spelling(word: str, kept: Mapping[str, str]) -> str | None:
    """Return how a word is written that is kept, in whichever form of Unicode it is; None where it is not."""
    return kept.get(composed(word).casefold())


def _with_symbols(piece: str, kept: Mapping[str, str]) -> str:
    """Return a quantity with its units as they are spelled; anything else stays as it is."""
    if _A_QUANTITY.fullmatch(piece) is None or _NETWORK.fullmatch(piece):
        return piece

    def spelled(found: re.Match[str]) -> str:
        unit = found[0]
        # Both are spellings of the litre.
        return kept.get(unit.casefold(), unit if unit in "lL" else _UNITS.get(unit.casefold(), unit))

    return _UNIT_LETTERS.sub(spelled, piece)


def _upper(text: str, language: str) -> str:
    if language in _DOTTED:
        text = text.replace("i", "İ")
    # The sign of a millionth is no Greek letter.
    made = "µ".join(part.upper() for part in text.split("µ"))
    return _without_tonos(made) if language == "el" else made


def _lower(text: str, language: str) -> str:
    if language in _DOTTED:
        return text.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı").lower()
    return text.lower().replace("i\u0307", "i") if "İ" in text else text.lower()


def _without_tonos(text: str) -> str:
    """Return Greek capitals without their accents; two vowels that these kept apart get a dialytika."""
    made: list[str] = []
    had_tonos = False
    for one in unicodedata.normalize("NFD", text):
        if one == _TONOS and made and "\u0370" <= made[-1][0] <= "\u03ff":
            had_tonos = True
            continue
        is_apart = one in "ΙΥ" and had_tonos and made[-1] in "ΑΕΟΗ"
        had_tonos = had_tonos and unicodedata.combining(one) != 0
        made.append(one + _DIALYTIKA if is_apart else one)
    return unicodedata.normalize("NFC", "".join(made))


def _first_upper(word: str, language: str) -> str:
    """Return a word with its first letter as a capital; Georgian has none at the beginning of words."""
    if language == "nl" and word[:2].lower() == "ij":
        return f"IJ{word[2:]}"
    if language in _DOTTED and word[:1] == "i":
        return f"İ{word[1:]}"
    return word[:1].title() + word[1:] if word[:1] != "µ" else word


def _stays(word: str, kept: Mapping[str, str]) -> str | None:
    """Return how a word is written whatever the case; None where it follows the case."""
    if (own := _own_spelling(word, kept)) is not None:
        return own
    if _CAPITAL_INSIDE.match(word) or _LETTER_DIGIT.match(word):
        return word
    return None


#: Writes a word: gets it, what is before it in its piece, and whether it is the first of the text.
_WriteWord: TypeAlias = Callable[[str, str, bool], str]


def _by_word(pieces: list[str], write: _WriteWord) -> str:
    """Return a text whose words are written anew; every second piece stays verbatim."""
    made: list[str] = []
    is_first = True
    for number, piece in enumerate(pieces):
        if number % 2:
            made.append(piece)
            is_first &= not piece[:1].isdigit()
            continue
        end = 0
        for found in _WORD.finditer(piece):
            made += [piece[end : found.start()], write(found[0], piece[: found.start()], is_first)]
            is_first, end = False, found.end()
        made.append(piece[end:])
    return "".join(made)


def _sentences(pieces: list[str], language: str, kept: Mapping[str, str]) -> str:
    def write(word: str, before: str, is_first: bool) -> str:
        if (own := _stays(word, kept)) is not None:
            return own
        begins = is_first or (_SENTENCE_END.search(before) and word[:1].isupper())
        small = _lower(word, language)
        return _first_upper(small, language) if begins else small

    return _by_word(pieces, write)


def _title(pieces: list[str], language: str, kept: Mapping[str, str]) -> str:
    def write(word: str, _: str, is_first: bool) -> str:
        return _title_word(word, language, kept, is_first=is_first)

    return _by_word(pieces, write)


def _title_word(word: str, language: str, kept: Mapping[str, str], *, is_first: bool) -> str:
    if (own := _stays(word, kept)) is not None:
        return own
    small = _lower(word, language)
    if language in _ELIDING and (found := _ELISION.fullmatch(small)):
        before = _first_upper(found[1], language) if is_first else found[1]
        return f"{before}{found[2]}{_first_upper(found[3], language)}"
    return small if small in _SMALL[language] and not is_first else _first_upper(small, language)
