"""What is asked of an attribute in the words of a cell: a level, and what the value has to be like.

`must`, `should; one of: A, B`, `must 20-80 characters`, `must; at least 800 pixels`, `must; pattern: [A-Z].*`.
Conditions are divided by semicolons, commas or line breaks. A code or pattern that holds one of these is in quotes, and
a quote inside is doubled. All of it is read in English, French, German and Dutch; `Ask.words` writes English.

Yes, a cross and 1 do not say which of the four levels is meant, so that they need confirmation and are never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prodex.errors import InputError
from prodex.messages import nearest, unaccented
from prodex.quality.requirement_files.code_lists import divided, not_in_use
from prodex.quality.requirement_files.row_kinds import RowKind
from prodex.quality.requirements import Ask, Level, checked_ask
from prodex.written_numbers import SPACES

#: What people write for each level, by language.
_LEVELS: Mapping[Level, Mapping[str, str]] = {
    Level.MUST: {
        "en": "must|must have|must be filled|required|mandatory|compulsory|obligatory",
        "fr": "obligatoire|obligatoirement|requis|requise|exige|exigee|doit",
        "de": "muss|pflicht|pflichtfeld|pflichtangabe|verpflichtend|erforderlich|obligatorisch",
        "nl": "moet|verplicht|vereist|noodzakelijk",
    },
    Level.SHOULD: {
        "en": "should|should have|recommended|desired|desirable|nice to have",
        "fr": "recommande|recommandee|conseille|conseillee|souhaite|souhaitee|souhaitable|devrait",
        "de": "soll|sollte|empfohlen|erwunscht|wunschenswert",
        "nl": "aanbevolen|aanbevelenswaardig|gewenst|wenselijk|zou moeten",
    },
    Level.MAY: {
        "en": "may|optional|voluntary|not required|not mandatory|not compulsory|need not|not needed|not necessary",
        "fr": "facultatif|facultative|optionnel|optionnelle|peut|non obligatoire|pas obligatoire|non requis"
        "|pas necessaire|non necessaire",
        "de": "kann|darf|optional|freiwillig|fakultativ|nicht erforderlich|nicht verpflichtend|keine pflicht"
        "|muss nicht|nicht notig|nicht notwendig",
        "nl": "mag|kan|optioneel|facultatief|vrijwillig|niet verplicht|niet vereist|hoeft niet|niet nodig",
    },
    Level.NOT: {
        "en": "not|must not|should not|forbidden|prohibited|not allowed|not permitted|never",
        "fr": "ne pas|pas|interdit|interdite|non autorise|pas autorise|ne doit pas|jamais|exclu",
        "de": "nicht|darf nicht|nicht erlaubt|nicht zulassig|unzulassig|verboten|nie",
        "nl": "niet|mag niet|niet toegestaan|niet toelaatbaar|verboden|nooit",
    },
}
_LEVEL_OF = {
    word: level
    for level, by_language in _LEVELS.items()
    for words in by_language.values()
    for word in words.split("|")
}
#: What means "not" to some and "need not" to others.
_TWO_MEANINGS = frozenset({"may not", "peut ne pas", "doit pas", "kann nicht", "moet niet", "kan niet"})
_MOST_WORDS = max(word.count(" ") + 1 for word in _LEVEL_OF)

_FOUR = "Type must, should, may or not"
#: What people write for an answer that does not say which of the four words is meant.
_MARKS = frozenset(
    {
        "x",
        "xx",
        "xxx",
        "✓",
        "✔",
        "v",
        "1",
        "0",
        "y",
        "n",
        "j",
        "o",
        "yes",
        "no",
        "ja",
        "nein",
        "nee",
        "oui",
        "non",
    }
    | {"true", "false", "wahr", "falsch", "vrai", "faux", "waar", "onwaar", "ok", "+", "++"}
)
#: Characters of an answer: a cell of a workbook holds no more.
_LONGEST = 32_767
#: How alike a word is to one of the four that is proposed for it.
_ALIKE = 0.75
#: Letters with which a word begins that is written shorter.
_SHORTEST_BEGINNING = 4

_LEAST = (
    r"at least|not less than|from|minimum|min\.?|>=|≥|au moins|au minimum|mindestens|wenigstens|minimal|minstens"
    r"|tenminste|ten minste"
)
_MOST = (
    r"at most|not more than|no more than|up to|maximum|max\.?|<=|≤|au plus|au maximum|jusqu'a|hochstens|maximal|bis zu"
    r"|hoogstens|maximaal|ten hoogste|tot"
)
_ABOVE = r"more than|longer than|over|>|plus de|mehr als|langer als|uber|meer dan"
_BELOW = (
    r"less than|fewer than|shorter than|under|<|moins de|weniger als|kurzer als|unter|minder dan|korter dan"
)
_EXACT = r"exactly|=|exactement|genau|precies"
_CHARACTERS = (
    r"characters?|chars?\.?|ch\.|letters?|signs?|caracteres?|caract?\.?|car\.?|signes?|zeichen|zeich\.?|zch\.?|z\.?"
    r"|buchstaben|buchst\.?|tekens?|tek\.?|tkns?\.?|karakters?|kar\.?"
)
_PIXELS = r"pixels?|px|pixeln"
_NUMBER = r"[0-9]{1,9}"
_UNIT = rf"(?:\s*(?:(?P<characters>{_CHARACTERS})|(?P<pixels>{_PIXELS}))(?![a-z]))?"
_BOUND = re.compile(
    rf"(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|(?P<above>{_ABOVE})|(?P<below>{_BELOW})|(?P<exact>{_EXACT}))"
    rf"\s*(?P<number>{_NUMBER}){_UNIT}"
)
_RANGE = re.compile(
    rf"(?:(?:between|entre|zwischen|tussen|from|von|de|van)\s+)?(?P<least>{_NUMBER})"
    rf"\s*(?:-|–|—|\.\.|…|to|and|a|et|bis|und|tot|en)\s*(?P<most>{_NUMBER}){_UNIT}"
)
#: The bound behind the number: "80 characters max."
_BEHIND = re.compile(
    rf"(?P<number>{_NUMBER}){_UNIT}\s*(?:(?P<most>max(?:imum|imal|imaal|i)?|at most|or less|or fewer|au plus|ou moins"
    r"|hochstens|oder weniger|hoogstens|of minder)|(?P<least>min(?:imum|imal|imaal|i)?|at least|or more|au moins"
    r"|ou plus|mindestens|oder mehr|minstens|of meer))\.?(?![a-z])"
)
_ALONE = re.compile(rf"{_NUMBER}\s*(?:{_CHARACTERS}|{_PIXELS})")
_AND = re.compile(r"\s*(?:(?:and|et|und|en|&|\+)\s+)?")
_ONE_OF = re.compile(
    r"(?:one of|any of|allowed(?: codes| values)?|codes?|values?|un de|une de|l'un de|parmi|eine[rs]? von|einer aus"
    r"|een van|keuze uit)\s*(?::|=|\s(?=\S))\s*"
)
_PATTERN = re.compile(r"(?:pattern|regex|regular expression|motif|muster|patroon)\s*(?::|=)[^\S\n]*")
#: Characters and pixels are counted, so that a mark in their number divides thousands.
_THOUSANDS = re.compile(rf"(?<=[0-9])[.,'\u2019{SPACES}](?=[0-9]{{3}}(?![0-9]))")
_BETWEEN = re.compile(r"(?:[\s;,:|]|[-–—](?=\s))*")
#: Digits with commas and no blank between them: one number with decimals or thousands, or several codes.
_COMMAS = re.compile(r"(?<![0-9],)[+-]?[0-9][0-9.]*(?:,[0-9]+)+(?![\w.])")
_GROUPS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+")
_ALIKE_NUMBERS = re.compile(r"[0-9]{3}(?:,[0-9]{3})+")
#: A size of pictures, of which the longer side counts.
_SIZE = re.compile(r"([0-9]{1,9})\s*x\s*([0-9]{1,9})(?=\s*(?:px|pixel))")
#: A comma between digits divides thousands and no conditions.
_DIVIDER = re.compile(r"[;\n]|,(?!(?<=[0-9],)[0-9]{3}(?![0-9]))")


@dataclass
class _Conditions:
    """What was read of a value so far."""

    row: RowKind
    codes: list[str] = field(default_factory=list)
    unquoted: list[str] = field(default_factory=list)
    shortest: int = 0
    longest: int = 0
    pixels: int = 0
    pattern: str = ""

    def bound(self, name: str, number: int, what: str) -> None:
        if getattr(self, name) not in {0, number}:
            raise InputError(f"{what!r:.60} says {name} a second time, with another number.")
        setattr(self, name, number)


def ask_of(text: str, row: RowKind | None = None) -> Ask:
    """Return what a text asks: a level, and conditions behind it.

    Parameters
    ----------
    text
        The words.
    row
        What the attribute can take; anything where nobody knows.

    Raises
    ------
    InputError
        When it is not clear; the message says what to type.

    Examples
    --------
    >>> ask_of("Pflicht; höchstens 80 Zeichen").words, ask_of("must >= 800 px").words
    ('must; at most 80 characters', 'must; at least 800 pixels')
    """
    if len(text) > _LONGEST:
        raise InputError(f"it has {len(text):,} characters, and {_LONGEST:,} are read at most.")
    whole = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    level, rest = _level(whole)
    row = row or RowKind()
    conditions = _Conditions(row)
    _read_conditions(rest, conditions)
    codes = tuple(dict.fromkeys(conditions.codes))
    ask = checked_ask(
        Ask(level, codes, conditions.shortest, conditions.longest, conditions.pattern, conditions.pixels)
    )
    row.check(ask)
    if unknown := not_in_use(conditions.unquoted, row.codes):
        raise InputError(" ".join(unknown))
    return ask


def _level(text: str) -> tuple[Level, str]:
    """Return the level that a text begins with, and what follows it."""
    head = re.match(r"[^;,:\n(]*", text)
    # Signs of comparison need no space before them.
    pieces = list(re.finditer(r"[<>≤≥=]+|[^\s<>≤≥=]+", head[0] if head else ""))
    for count in range(min(_MOST_WORDS, len(pieces)), 0, -1):
        words = " ".join(unaccented(one[0]).rstrip(".!") for one in pieces[:count])
        if words in _TWO_MEANINGS:
            raise InputError(
                f"{text!r:.60} has two meanings. Write 'not' where it does not belong there, or 'may' where it is not "
                "needed."
            )
        if (level := _LEVEL_OF.get(words)) is not None:
            return level, text[pieces[count - 1].end() :]
    word = unaccented(head[0].strip()) if head else ""
    # "No" and "yes" are like some of them, and may mean another one.
    near = None if word in _MARKS else _abbreviated(word.rstrip(".")) or nearest(word, _LEVEL_OF, _ALIKE)
    meant = f" ({near} was perhaps meant)" if near else ""
    raise InputError(f"{text!r:.60} is not clear{meant}. {_FOUR}.")


def _abbreviated(word: str) -> str | None:
    """Return the word of the four for which people write a shorter one, such as "oblig."; None where it is not certain.

    >>> _abbreviated("oblig"), _abbreviated("no"), _abbreviated("faculta")
    ('must', None, 'may')
    """
    levels = {level for one, level in _LEVEL_OF.items() if one.startswith(word)}
    return next(iter(levels)).value if len(word) >= _SHORTEST_BEGINNING and len(levels) == 1 else None


def _read_conditions(text: str, into: _Conditions) -> None:
    place, in_codes, has_list = 0, False, False
    small = text.casefold()
    small = small if len(small) == len(text) else text
    while (start := _after(_BETWEEN, text, place)) < len(text):
        # What follows a semicolon is another condition, and no code.
        in_codes = in_codes and ";" not in text[place:start]
        place = start
        # Small letters without accents have other places than the text where a letter is taken apart.
        if (found := _after_keyword(_PATTERN, small, place)) is not None:
            value, place = _item(text, found, re.compile(r"[;\n]"))
            if not value:
                raise InputError("it has no pattern. Write it behind the colon, or remove the word.")
            if into.pattern not in {"", value}:
                raise InputError(f"it has two patterns, {into.pattern!r:.40} and {value!r:.40}.")
            into.pattern, in_codes = value, False
            continue
        if (found := _after_keyword(_ONE_OF, small, place)) is not None:
            place, in_codes, has_list = found, True, True
        if in_codes and (commas := _COMMAS.match(text, place)) is not None:
            _refuse_one_number(commas[0], into.row)
        is_quoted = text[place : place + 1] == '"'
        value, place = _item(text, place, re.compile(r"[;\n,|]") if in_codes else _DIVIDER)
        if is_quoted and in_codes:
            into.codes.append(value)
        elif _is_condition(value, into):
            in_codes = False
        elif in_codes:
            codes = divided(value, into.row.codes)
            into.codes += codes if value else []
            into.unquoted += codes if value else []
        else:
            raise InputError(_not_a_condition(value, into.row, has_list=has_list))
    if has_list and not into.codes:
        raise InputError("it names no code. Write the codes behind the colon, divided by commas.")


def _refuse_one_number(text: str, row: RowKind) -> None:
    """Refuse digits with commas that may be one number, unless all between the commas are codes in use."""
    parts = text.split(",")
    known = {code.casefold() for code in row.codes}
    are_codes = bool(known) and all(one.casefold() in known for one in parts)
    # Three digits each are codes of countries and the like, where the attribute is a code.
    are_alike = row.kind == "code" and _ALIKE_NUMBERS.fullmatch(text) is not None
    if not (are_codes or are_alike) and (len(parts) == 2 or _GROUPS.fullmatch(text) is not None):
        raise InputError(
            f"{text!r:.60} may be one number or several codes. Of codes, write a blank behind each comma: "
            f"'one of: {', '.join(parts):.80}'; of a number, write a point for its decimals and nothing between its "
            f'thousands, or, if it is a code that is written so, put it in quotes: "{text:.60}".'
        )


def _not_a_condition(value: str, row: RowKind, *, has_list: bool) -> str:
    folded = _folded(value)
    if _ALONE.fullmatch(folded):
        return f"{value!r:.60} does not say which bound it is. Write at least or at most before it."
    if (bare := _RANGE.fullmatch(folded)) is not None:
        missing = f"{bare['least']}-{bare['most']} characters"
        return (
            f"{value!r:.60} is not a condition yet: only the word characters is missing. Write '{missing}'."
        )
    if _BOUND.fullmatch(folded) is not None or _BEHIND.fullmatch(folded) is not None:
        return f"{value!r:.60} is not a condition yet: it does not say of what. Write characters or pixels behind it."
    if has_list:
        return f"{value!r:.60} is not a condition. If it is a code, divide the codes by commas: 'one of: FR, ES'."
    # One word below a coded attribute is probably its code.
    is_code = row.kind == "code" and re.fullmatch(rf"(?!(?:{_CHARACTERS}|{_PIXELS})$)[\w-]{{1,20}}", value)
    advice = f"Write 'one of: {value}' behind the word." if is_code else row.advice
    return f"{value!r:.60} is not a condition. {advice}"


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return place if found is None else found.end()


def _after_keyword(pattern: re.Pattern[str], text: str, place: int) -> int | None:
    """Return where a condition begins whose keyword is at a place; None where it is not."""
    found = pattern.match(text, place)
    return None if found is None else found.end()


def _item(text: str, place: int, divider: re.Pattern[str]) -> tuple[str, int]:
    """Return what is at a place up to a divider, or between quotes, and where it ends."""
    if text[place : place + 1] == '"':
        found = re.compile(r'"((?:[^"]|"")*)"\s*(?=[;,|\n]|$)').match(text, place)
        if found is not None:
            return found[1].replace('""', '"'), found.end()
    end = divider.search(text, place)
    until = len(text) if end is None else end.start()
    return text[place:until].strip(), until


def _folded(text: str) -> str:
    words = _SIZE.sub(_longest_side, unaccented(text.replace("≥", ">=").replace("≤", "<=").replace("×", "x")))
    return re.sub(r"\s+", " ", _THOUSANDS.sub("", words)).strip(" .()")


def _longest_side(size: re.Match[str]) -> str:
    return str(max(int(size[1]), int(size[2])))


def _is_condition(text: str, into: _Conditions) -> bool:
    """Whether a text is bounds of characters or pixels; these are kept."""
    folded = _folded(text)
    found: list[re.Match[str]] = []
    place = 0
    while place < len(folded):
        match = next(filter(None, (one.match(folded, place) for one in (_RANGE, _BEHIND, _BOUND))), None)
        if match is None:
            return False
        found.append(match)
        place = _after(_AND, folded, match.end())
    # "At least 20 and at most 80 characters": the unit is that of the next one.
    units = [_unit(one) for one in found]
    if not units:
        return False
    if units[-1] is None:
        # Pictures can only be too small: what has an upper bound is characters.
        if found[-1].re is _RANGE or not found[-1]["most"]:
            return False
        units[-1] = "characters"
    for place in range(len(units) - 2, -1, -1):
        units[place] = units[place] or units[place + 1]
    for match, unit in zip(found, units, strict=True):
        for name, number in _bounds(match):
            if unit == "pixels" and name == "longest":
                raise InputError(f"{text!r:.60}: a picture can only be too small. Write at least 800 pixels.")
            into.bound("pixels" if unit == "pixels" else name, number, text)
    return True


def _unit(match: re.Match[str]) -> str | None:
    return "characters" if match["characters"] else "pixels" if match["pixels"] else None


def _bounds(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    if match.re is _RANGE:
        yield "shortest", int(match["least"])
        yield "longest", int(match["most"])
        return
    number = int(match["number"])
    named = match.groupdict()
    if named["least"] or named.get("exact"):
        yield "shortest", number
    if named["most"] or named.get("exact"):
        yield "longest", number
    if named.get("above"):
        yield "shortest", number + 1
    if named.get("below"):
        if number < 2:
            raise InputError(f"{match[0]!r:.60} leaves no character.")
        yield "longest", number - 1
