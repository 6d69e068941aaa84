"""Words of labels that laws know: nutrition claims, and statements that certain foods have to bear.

Both tables hold regular expressions for folded texts (`text_normalization.py`), without looks ahead or behind, so that
Arrow finds them in a whole column. The language of a row says whose words it has; the words of all languages are looked
for in every text.

`claim_phrases.tsv` has the claims of the Annex of Regulation (EC) No 1924/2006. The order of its rows counts: what was
found is taken out of the text before the next claim is looked for, so that "sans sucres ajoutés" is not "sans sucres".
The rows of `-` are what looks like a claim and is none ("less sugar", "with low fat milk", "sans sel nitrité").
Comparisons ("reduced", "light") are no rows, since what they are compared with is no data; but for those that say a
figure which is too little (`little_less_...`): "20 % less fat".

`claim_surroundings.tsv` says of whom a claim speaks, by the words around it: `part` makes it one of an ingredient
("Biscuit au yaourt 0 % mg"), `around` one of diets, other versions or its denial, `compared` a comparison,
`content` speaks of the product whatever comes before ("with a high content of fibre"), `adjective` of the food that
follows ("unsalted butter"), `cooked` of cooking ("ohne Fett braten"), `after` one of a sort ("sin grasa de palma"),
`subject` one of whatever stands before it. `both` has two claims in one phrase ("rich in fibre and protein"), which are
read as two. In `around` and `compared`, ";" is the place of the claim.

`statement_words.tsv` has what Annex III of Regulation (EU) No 1169/2011 speaks of: sweeteners by their category and by
name and number, sugars, and words of the statements; liquids around solid food, and words of its drained weight
(Annex IX); dates of use by (Annex X). What sweetens beside sugars (`sweet_food`; every `syrup` of a list; what was
`extracted` from `cane`; `concentrated` `juice` of `sweet_fruit` where a list is not `thinned` by water, as drinks of
concentrated juice are) counts for claims alone, in any order of words; `not_sugar` is taken out before sugars are
looked for. `to_prepare` is what a claim means as it is prepared, `milk` what may have more fat. Some rows are no words
of a label, but the grammar around them:

- `deny_before` and `deny_after` make a denial of the words of any use: "without ...", "0 % ...", "...frei";
- `by_nature` says that nobody added what follows, `look_alike` is no number of an additive ("vitamin E 955 mg");
- `with` before a sweetener is the statement, wherever it stands;
- `in_liquid` is food that lies in a liquid where a `medium` of the same language follows, and no `no_medium` is there.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import MARK, Rows, has_match, is_true, once_per_process, unaccented
from prodex_food.words import rows_of

#: What looks like a claim and is none.
_NO_CLAIM = "-"
#: Claims of what was done to a product, and not of what is in it.
_NOT_ADDED = ("no_added_sugars", "no_added_salt")
#: What stands where something was taken out of a text: the words before and after are no phrase.
_TAKEN_OUT = " ; "
#: The uses whose words can be denied, each with the uses that a denial of it may list as well ("no saccharin or ...").
_DENIED = {
    **dict.fromkeys(("sweetener", "intense", "aspartame"), ("sweetener", "intense")),
    **{use: (use,) for use in ("sterol", "polyol", "phenylalanine", "stated_sugar", "use_by", "laxative")},
    **{use: (use,) for use in ("caffeine", "named_aspartame")},
}
#: Words between a denial and what it denies: "sans ajout d'", "no artificial", "ohne Farbstoffe, Aromen oder".
_BETWEEN = r"[ :]{0,2}(?:(?:\w+[ '])?(?:\w+[ ']){0,2}?|(?:\w+,? ){1,4}?(?:%s) (?:\w+ )?)"
_AND = "and|or|nor|et|ni|ou|und|oder|noch|y|o|e|nem|en|of|og|eller|och|i|ani|lub|tai"
#: Beginnings of the names of claims that compare: words of comparison are no sign of another meaning there.
_COMPARING = "little_less"
#: Parts of words: a text with a claim has one that says how much, and one that says of what. They are looked for as the
#: text was typed, with accents and capitals: to fold it takes ten times as long, and few texts claim anything. A letter
#: that may have an accent is any, of one or two characters.
_HOW_MUCH = (
    r"(?i)low|free|z.{1,2}ro|\bno[nt]?\b|non|neither|never|without|less\b|high|\bhi|rich|source|\d ?%|0 ?k?[ck]al|0 ?g"
    r"|packed|loaded|bursting|brim|full|added|extra|contain|unsal|unsw"
    r"|sans|pauvre|faible|haute|forte|\bpeu\b|exempt|aucun|\bpas\b|hyper|h?[iy]po|h?iper|plein|bourr|rempli|lev|bass"
    r"|important|enrichi|contie|arm|frei|ohne|niedrig|gering|wei?nig|reich|ho[hcg]|quelle|lieferant|nul|kein|los|vol|enth"
    r"|\bmit\b|unges|\bsin\b|baj[oa]|cero|libre|exent|lleva|\bric|\balt|fuente|llen|replet|cargad|reducid|poc|enriqu"
    r"|senza|pover|ridott|priv|font[ei]|pien|arricch|zonder|vrij|laag|lage|rijk|bron|hoog|geen|loos|loz|veel|bevat|mager"
    r"|ongez|\bsem\b|baix|teor|isent|livre|chei|pouc|cont.{1,2}m|prot|eiwei|eiwit"
)
_OF_WHAT = (
    r"(?i)sugar|sucre|zucker|suiker|az.{1,2}car|zuccher|a.{1,2}.{1,2}car|fat|grai?s|l.{1,2}pid|\bm\.? ?g|mat|fett|vet"
    r"|gordura|sal[tz]?|\bsel|zout|s.{1,2}di|natri|fib|ballast|vezel|prot|eiwei|eiwit|cal.{1,2}r|kalor|kcal|0 ?cal"
    r"|satur|verzadigd|ges.{1,2}ttigt|nerg|brennwert|sweet|s.{1,2}(?:ss|ß)t|gezoet|gezout"
)
#: Full width, ligatures, entities, tags and marks within words hide these parts until a text is folded.
_HIDDEN = (
    r"[\x{FB00}-\x{FB06}\x{FF01}-\x{FF5E}\x{AD}\x{1F}\x{200B}-\x{200D}\x{2060}\x{FEFF}]"
    r"|</?\w[^<>]*>\pL|&#?\w+;|\pL(?:_|\*\*)\pL"
)
#: German tells less from little by an accent that folding takes: "fettärmer" compares, "fettarmer" claims.
_LESS = r"(?i)(?:ä|a\x{308}|&auml;)rmer"
#: Signs that claims_in reads in its own way, so that no expression has to know them.
_ODD = f"[{MARK}\u2010-\u2015]"
_HYPHENS = dict.fromkeys(range(0x2010, 0x2016), "-")
#: Ends of what is said in one breath, and of sentences.
_ENDS, _SENTENCE = r"[.;!?:,()|\n]", r"[.!?\n]"
#: Texts that run on claim something only where few words are around a claim.
_FEW_WORDS = 3
_ARTICLES = frozenset(
    {"a", "an", "een", "ein", "eine", "einem", "einen", "einer", "un", "une", "una", "um", "uma"}
)
#: Claims that say that something is not there, which may be said of cooking.
_FREE = ("fat_free", "salt_free", "sugars_free")
#: The same of names that say that food lies in a liquid.
_LIQUIDS = (
    r"(?i)brine|water|juice|syrup|vinegar|natural|naturel|saumure|sirop|\bjus\b|vinaigre|lake|wasser|saft|gezuckert|essig"
    r"|aufgu|salmuera|alm.{1,2}bar|vinagre|jugo|agua|.{1,2}gua\b|salamoia|scirop|aceto|\bsap\b|azijn|pekel|\bzuur|salmoura"
    r"|calda|sirup|siroop|succo|sumo|acqua"
)
#: Table-top sweeteners have limits of energy of their own, by portion.
_SWEET = ("low_energy", "energy_free")


@once_per_process
def _first(use: str) -> re.Pattern[str] | None:
    """Return what is taken out of a text before words of a use are looked for in it."""
    if use in {"sugar", "sweet_food"}:
        return _compiled("not_sugar")
    if use not in _DENIED:
        return None
    named = f"(?:{words_of(*_DENIED[use])})"
    before = words_of("deny_before", *(["by_nature"] if use == "sterol" else []))
    between = _BETWEEN % _AND
    parts = [
        rf"(?:{before}){between}{named}(?:,? (?:(?:{_AND}) )?(?:\w+ )?{named})*",
        rf"{named}(?:{words_of('deny_after')})",
        words_of("look_alike"),
    ]
    return re.compile("|".join(parts))


@once_per_process
def _languages(use: str) -> frozenset[str]:
    return frozenset(row["language"] for row in rows_of("statement_words.tsv", use=use))


@once_per_process
def _in_liquids() -> tuple[re.Pattern[str], ...]:
    """Return for each language the expression of food that lies in a liquid, whose words are its group."""
    table = _table("statement_words", "use", "language")
    return tuple(
        re.compile(rf"(?:{table['in_liquid', language]})[^.;:!?]{{0,60}}?({table['medium', language]})")
        for language in sorted(_languages("in_liquid"))
    )


@once_per_process
def _table(name: str, *by: str) -> Mapping[Any, str]:
    found: dict[Any, list[str]] = {}
    for row in rows_of(f"{name}.tsv"):
        key = row[by[0]] if len(by) == 1 else tuple(row[each] for each in by)
        found.setdefault(key, []).append(row["expression"])
    return {use: "|".join(expressions) for use, expressions in found.items()}


def words_of(*uses: str) -> str:
    """Return one expression of the words of some uses.

    >>> re.findall(words_of("sweetener"), "con edulcorante, sucralose")
    ['edulcorante']
    """
    table = _table("statement_words", "use")
    return "|".join(table[use] for use in uses)


def may_claim(texts: pa.Array) -> Rows:
    """Return the places of the texts, as they were typed, that may have a claim.

    >>> may_claim(pa.array(["Lait entier", "Zéro sucres", "ZUCKERFREI"])).tolist()
    [1, 2]
    """
    plain = _having(texts, _OF_WHAT, _HOW_MUCH)
    return np.union1d(plain, _having(texts, _HIDDEN))


def without_comparatives(texts: pa.Array) -> pa.Array:
    """Return texts, as they were typed, in which no comparative becomes a claim when they are folded.

    >>> without_comparatives(pa.array(["Fettärmer", "Fettarmer Käse"])).to_pylist()
    ['Fettaermer', 'Fettarmer Käse']
    """
    return pc.replace_substring_regex(texts, _LESS, "aermer")


#: Expressions that are looked for at once: of ten, it would take a hundred times as long, since Arrow could not keep
#: what it found out about so large an expression.
_AT_ONCE = 3


def has_claim_words(folded: pa.Array) -> Rows:
    """Return the places of the folded texts that have words of a claim; `claims_in` says whether they make one."""
    words = _table("claim_phrases", "claim").items()
    both = re.sub(r"\((?!\?)", "(?:", _table("claim_surroundings", "where")["both"])
    signs = [*(expression for claim, expression in words if claim != _NO_CLAIM), both, _ODD]
    some = ["|".join(signs[place : place + _AT_ONCE]) for place in range(0, len(signs), _AT_ONCE)]
    return np.unique(np.concatenate([_having(folded, each) for each in some]))


def may_lie_in_liquid(texts: pa.Array) -> Rows:
    """Return the places of the texts, as they were typed, that may say that food lies in a liquid."""
    return _having(texts, _LIQUIDS)


def _having(texts: pa.Array, *signs: str) -> Rows:
    """Return the places of the texts that have a match of each of some expressions."""
    rows = np.arange(len(texts))
    for sign in signs:
        rows = rows[is_true(has_match(texts.take(pa.array(rows)), sign))]
    return rows


@once_per_process
def _compiled(use: str) -> re.Pattern[str]:
    return re.compile(words_of(use))


@once_per_process
def _claims() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((claim, re.compile(words)) for claim, words in _table("claim_phrases", "claim").items())


@once_per_process
def _around(where: str) -> re.Pattern[str]:
    return re.compile(_table("claim_surroundings", "where")[where])


@lru_cache(maxsize=2**14)
def claims_in(text: str, *, running: bool = False) -> tuple[tuple[str, str], ...]:
    """Return the claims that a folded text makes of its product, each with its words.

    Parameters
    ----------
    text
        A name or a claim; words around a claim may make it one of another food.
    running
        Whether the text runs on, as descriptions do: then a claim has to stand nearly by itself.

    Examples
    --------
    >>> claims_in("boisson sans sucres ajoutes, 30 % less fat, source of fibre")
    (('no_added_sugars', 'sans sucres ajoutes'), ('fibre_source', 'source of fibre'))
    >>> claims_in("biscuit au yaourt 0 % mg")
    ()
    """
    if MARK in text:
        # It is inside of one word or between two.
        one, two = (claims_in(text.replace(MARK, sign), running=running) for sign in ("", " "))
        return one or two
    text = _around("both").sub(_as_two, text.translate(_HYPHENS))
    rest, found = text, []
    is_sweetener = bool(_compiled("sweetener").search(text))
    for claim, pattern in _claims():
        # "No added salt or sugar" is two claims in the same words.
        matches = list(pattern.finditer(text if claim in _NOT_ADDED else rest))
        if claim != _NO_CLAIM and not (is_sweetener and claim in _SWEET):
            found += [(claim, *_span(match)) for match in matches]
        if matches:
            # Not nothing: the words before and after would be read as one phrase.
            rest = pattern.sub(_blank, rest)
    own: dict[str, str] = {}
    for claim, start, end in found:
        if claim not in own and _is_own(claim, text, rest, start, end, running):
            own[claim] = text[start:end]
    return tuple(own.items())


def _as_two(match: re.Match[str]) -> str:
    head, one, other = (group for group in match.groups() if group is not None)
    return f"{head} {one} {head} {other}"


def _span(match: re.Match[str]) -> tuple[int, int]:
    """Return where the words of a match are, without what only says that its number begins there."""
    words = match.group()
    before = re.match(r"\D{0,2}?(?=0)|\s*", words)
    return match.start() + (before.end() if before else 0), match.end() - len(words) + len(words.rstrip())


def _blank(match: re.Match[str]) -> str:
    start, end = (place - match.start() for place in _span(match))
    words = match.group()
    return words[:start] + ";" * (end - start) + words[end:]


def _is_own(claim: str, text: str, rest: str, start: int, end: int, running: bool) -> bool:
    """Say whether a claim is one of the product, by the words around it; `rest` is the text without all claims."""
    first, last = _ends(_ENDS, text, start, end)
    begin, close = _ends(_SENTENCE if running else _ENDS, text, start, end)
    if text[last : last + 1] == "?" or _around("after").match(text[end:]):
        return False
    around = f"{rest[begin:start]}{_TAKEN_OUT}{rest[end:close]}"
    around = re.sub(r"\s*;[\s;]*", _TAKEN_OUT, around)
    if not claim.startswith(_COMPARING) and _around("compared").search(around):
        return False
    if _around("around").search(around) or (claim in _FREE and _around("cooked").search(around)):
        return False
    before, after = rest[first:start], re.findall(r"\w+", rest[end:last])
    # "Compote with vanilla, without added sugar" speaks of the compote, "with unsalted butter" of the butter.
    is_whole = claim in _NOT_ADDED and not _around("adjective").search(text[start:end])
    parts = list(_around("part").finditer(before))
    if parts:
        between = [word for word in re.findall(r"\w+", before[parts[-1].end() :]) if word not in _ARTICLES]
        # "With a high content of fibre": nothing else is meant by "with".
        is_content = not between and _around("content").search(text[start:end])
        if not is_content and (after or (between and not is_whole)):
            return False
    # "Met magere melk, vetarme yoghurt": all of it is what the product is made with.
    opening = rest[_ends(_SENTENCE, text, start, end)[0] :].lstrip()
    made_with = _around("part").match(opening)
    if made_with and not is_whole:
        words = [word for word in opening[made_with.end() :].split() if word not in _ARTICLES]
        if not words or not words[0].startswith(";"):
            return False
    if not running:
        return True
    words = re.findall(r"\w+", before)
    return max(len(words), len(after)) <= _FEW_WORDS and not _around("subject").search(before)


def _ends(signs: str, text: str, start: int, end: int) -> tuple[int, int]:
    """Return where what surrounds a part of a text begins and ends."""
    begin = max((sign.end() for sign in re.finditer(signs, text[:start])), default=0)
    close = re.search(signs, text[end:])
    return begin, len(text) if close is None else end + close.start()


def sweetened_with(text: str) -> str:
    """Return the first words of a folded list of ingredients that no food without added sugars has, "" without any.

    Concentrated juice is what drinks are made of where the list has water: see `may_sweeten`.

    >>> sweetened_with("avoine, sirop d'agave"), sweetened_with("apples, grape juice (concentrated)")
    ("sirop d'agave", 'grape juice (concentrated)')
    >>> sweetened_with("water, apple juice concentrate"), sweetened_with("apple juice from concentrate, maltitol syrup")
    ('', '')
    """
    words = (
        words_in(text, "sugar") or words_in(text, "sweet_food") or _item(text, ["syrup"], "no_sweet_syrup")
    )
    words = words or _item(text, ["cane", "extracted"])
    return words or ("" if words_in(text, "thinned") else _sweet_juice(text))


def may_sweeten(text: str) -> bool:
    """Say whether a folded list has what may be added for its sweetness, or for its taste.

    >>> may_sweeten("water, apple juice concentrate"), may_sweeten("peanuts, date paste"), may_sweeten("peanuts, dates")
    (True, True, False)
    """
    mashed = _item(text, ["date", "mashed"]) or _item(text, ["sweet_fruit", "mashed", "concentrated"])
    return bool(mashed or _sweet_juice(text) or words_in(text, "perhaps_sweet"))


def _sweet_juice(text: str) -> str:
    return _item(
        _compiled("reconstituted").sub(_TAKEN_OUT, text),
        ["sweet_fruit", "juice", "concentrated"],
        "sour_fruit",
    )


def _item(text: str, uses: Sequence[str], but: str = "") -> str:
    """Return the first item of a list that has words of all of some uses, in any order, and of another none."""
    # Few lists have them at all.
    if not all(_compiled(use).search(text) for use in uses):
        return ""
    for item in re.split(r"[,;:.]", _without_denials(text, "sugar")):
        if all(words_in(item, use) for use in uses) and not (but and words_in(item, but)):
            return item.strip(" []") if item.count("(") == item.count(")") else item.strip(" ()[]")
    return ""


@lru_cache(maxsize=2**15)
def words_in(text: str, use: str) -> str:
    """Return the first words of a use that a folded text has, "" where it has none.

    >>> words_in("eau, sans edulcorant", "sweetener"), words_in("sweetener: e951", "aspartame")
    ('', 'e951')
    """
    found = _compiled(use).search(text)
    if found is not None:
        found = _compiled(use).search(_without_denials(text, use))
    return "" if found is None else found.group().strip(" ,;:.")


@lru_cache(maxsize=2**10)
def _without_denials(text: str, use: str) -> str:
    first = _first(use)
    return text if first is None else first.sub(_TAKEN_OUT, text)


@lru_cache(maxsize=2**14)
def sweetener_in(text: str) -> str:
    """Return the first words for a sweetener in a folded text; honey that is called a natural sweetener is none.

    >>> sweetener_in("oats, natural sweetener: honey"), sweetener_in("natural sweetener: steviol glycosides")
    ('', 'steviol')
    """
    text = _compiled("natural_sweetener").sub(_TAKEN_OUT, text)
    return words_in(text, "sweetener") or words_in(text, "intense")


@lru_cache(maxsize=2**14)
def says_with_sweetener(text: str) -> bool:
    """Say whether a folded text has the statement of sweeteners, and not only their names.

    >>> says_with_sweetener("getrank mit zucker und sussungsmittel"), says_with_sweetener("sweetener: aspartame")
    (True, False)
    >>> says_with_sweetener("non contiene edulcoranti")
    False
    """
    said = _with_sweetener()
    return bool(said.search(text) and said.search(_without_denials(text, "sweetener")))


@once_per_process
def _with_sweetener() -> re.Pattern[str]:
    between = r"(?:\(s\))?,? (?:\w+(?:\(s\))?,? ){0,4}?"
    return re.compile(rf"(?:{words_of('with')}){between}(?:{words_of('sweetener')})")


@lru_cache(maxsize=2**14)
def says_sweetener(text: str) -> bool:
    """Say whether a folded text beside the name says that there are sweeteners; a list or a question does not.

    >>> says_sweetener("drink with sweeteners"), says_sweetener("ingredients: water, sweetener (sucralose)")
    (True, False)
    >>> says_sweetener("sussstoff? nicht bei uns!")
    False
    """
    if says_with_sweetener(text) or not _compiled("sweetener").search(text):
        return says_with_sweetener(text)
    said = _listed_sweetener().sub(_TAKEN_OUT, re.sub(r"[^.!?]*\?", _TAKEN_OUT, text))
    return bool(words_in(said, "sweetener"))


@once_per_process
def _listed_sweetener() -> re.Pattern[str]:
    one = rf"(?:\w+[ -]){{0,2}}(?:{words_of('intense', 'polyol')}|e ?\d{{3}})"
    return re.compile(rf"(?:{words_of('sweetener')})(?:\(s\)|s)? ?[:(] ?{one}")


def says_sugar_and_sweetener(text: str) -> bool:
    """Say whether a folded text beside the name says that there are both sugars and sweeteners.

    >>> says_sugar_and_sweetener("met zoetstof en rietsuiker"), says_sugar_and_sweetener("with sweeteners")
    (True, False)
    """
    return says_sweetener(text) and bool(words_in(text, "stated_sugar") or words_in(text, "sugar"))


def says_together(*uses: str) -> Callable[[str], bool]:
    """Return what says whether a folded text has words of all of some uses.

    >>> says_together("laxative", "excess")("not a laxative")
    False
    """
    return lambda text: all(words_in(text, use) for use in uses)


def as_typed(text: str, words: str) -> str:
    """Return the part of a text that folded words were found in, in its own letters.

    Letters and digits are compared one by one, and what is between them may be anything; words that are read twice
    ("riche en fibres et en protéines") reach from the first to the last. A part that is not found is the whole text.

    >>> as_typed("Purée sans SUCRES  ajoutés", "sans sucres ajoutes")
    'sans SUCRES  ajoutés'
    >>> as_typed("Riche en fibres et en protéines", "riche en proteines")
    'Riche en fibres et en protéines'
    """
    shown = html.unescape(text)
    plain, places = [" "], [0]
    for place, sign in enumerate(shown):
        for one in unaccented(sign):
            if one.isalnum() or (plain[-1] != " " and unicodedata.category(one) != "Cf"):
                plain.append(one if one.isalnum() else " ")
                places.append(place)
    sought = re.findall(r"[^\W_]+", words)
    for between in (" ?", r"(?: [^ ]+){0,4}? "):
        found = re.search(rf"(?<= ){between.join(sought)}", "".join(plain)) if sought else None
        if found:
            last = places[found.end() - 1] + 1
            # Accents that are signs of their own belong to the letter before them.
            while last < len(shown) and unicodedata.combining(shown[last]):
                last += 1
            return shown[places[found.start()] : last]
    return text


@lru_cache(maxsize=2**15)
def medium_of(text: str) -> str:
    """Return the words of a folded name that say that its food lies in a liquid, "" where it does not.

    >>> medium_of("ananas au sirop"), medium_of("pancakes au sirop"), medium_of("pois chiches secs, tremper en saumure")
    ('au sirop', '', '')
    """
    if not _compiled("medium").search(text) or _compiled("no_medium").search(text):
        return ""
    found = next((match for one in _in_liquids() if (match := one.search(text))), None)
    return "" if found is None else found.group(1).strip()


def knows_statements_in(language: str) -> bool:
    """Say whether the table has the words of statements of a language; a text without a language is read in all.

    >>> knows_statements_in("fi"), knows_statements_in("tr")
    (True, False)
    """
    return not language or language in _STATED


#: The official languages of the Union, whose words of statements the table has, and Norwegian.
_STATED = frozenset(
    {
        *("bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "ga", "hr", "hu", "it"),
        *("lt", "lv", "mt", "nb", "nl", "nn", "no", "pl", "pt", "ro", "sk", "sl", "sv"),
    }
)
