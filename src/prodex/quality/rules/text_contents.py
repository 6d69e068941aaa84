"""Rules of the contents of texts: length, ends, placeholders, markup, formulas, addresses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.name import NAMES
from prodex.languages import Message
from prodex.quality.cut_texts import CutLengths
from prodex.quality.misread_letters import MISREAD
from prodex.quality.products import Products, once_per_part
from prodex.quality.remembered import has_match
from prodex.quality.rule_forms import NoTextHas, declare
from prodex.quality.rulebook import rule
from prodex.quality.text_columns import ANY_NAME, ANY_TEXT, TextColumns
from prodex.quality.verdict import Verdict, compared_with
from prodex.tables.columns import Mask, composed_texts, is_true

_LENGTHS = (
    "Data model of the exchange service: string 3,000, text 20,000, long name 200, short name 35 characters"
)

#: Said instead of nothing, compared without case and outer punctuation: only whole texts, since "test" and "na" are
#: words and parts of names as well.
_PLACEHOLDERS = pa.array(
    [
        *("tbd", "tba", "tbc", "todo", "to do", "to be defined", "to be determined", "to be completed"),
        *("n/a", "na", "n.a", "n/d", "n.d", "null", "nan", "nil", "undefined", "unknown", "not available"),
        *("test", "test test", "test1", "test 1", "texte", "text", "sample text", "placeholder", "dummy"),
        *("à compléter", "a compléter", "a completer", "à définir", "a définir", "à venir", "non renseigné"),
        *("noch offen", "folgt", "wird nachgereicht", "por definir", "pendiente", "da definire", "nog te bepalen"),
    ]
)  # fmt: skip
#: Signs without a letter, a digit or a symbol (a heart may be all of a greeting), only x, and the filler of printers.
_NOTHING_SAID = r"^[^\pL\pN\p{So}]*$|^[xX]+$|^[xX]{2,}[\s.]*$|^(?i:lorem ipsum)"

#: Only what HTML calls an element is markup: "<5 %" and "<brand>" are not.
_ELEMENTS = (
    "a|abbr|b|big|blockquote|body|br|button|center|cite|code|dd|div|dl|dt|em|font|footer|form|frame|h[1-6]|head|header"
    "|hr|html|i|iframe|img|input|ins|label|li|link|main|meta|nav|object|ol|option|p|pre|q|s|script|section|select|small"
    "|span|strike|strong|style|sub|sup|svg|table|tbody|td|textarea|th|thead|title|tr|tt|u|ul|video"
)
_MARKUP = rf"(?i)</?(?:{_ELEMENTS})(?:\s[^<>]*)?/?>|<!--|<!\[CDATA\[|<!doctype"
#: By number, or by a name that escaping programs use: "sel&poivre;" is none.
_REFERENCE = (
    r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp|euro|copy|reg|trade|deg|laquo|raquo|lsquo|rsquo"
    r"|ldquo|rdquo|ndash|mdash|hellip|bull|middot|frac12|frac14|times|szlig|oelig|OElig"
    r"|[A-Za-z](?:grave|acute|circ|tilde|uml|ring|cedil|slash)|[aA][eE]lig);"
)
#: How spreadsheets recognise a formula, with something to compute behind it.
#: A list that begins with a dash or a plus is none: "- sucre (50 %)" has a space behind the sign or before the bracket.
_FORMULA = r"^\s*(?:=\s*[^\s=]|@\s*[A-Za-z0-9_.]+\s*\(|[+-][A-Za-z][A-Za-z0-9_.]*\(|[=+@-][^ ].*\|.*!)"
#: A bare domain is no address: brands are called so.
_ADDRESS = r"(?i)https?://|\bwww\.[\pL0-9-]+\.|[\pL0-9._+-]+@[\pL0-9-]+\.[a-z]{2,}\b"
#: Dots in place of the rest, with spaces between them or not.
_CUT_OFF = r"(?:\.\.\.|…|\.\s+\.\.|\.\.\s+\.)\s*$"
#: Dots that somebody typed on purpose: four and more (a line to fill in), behind "and so on" in the languages of the
#: European markets, or behind a sentence that has ended.
_MEANT_DOTS = (
    r"(?i)(?:(?:\.\s*){4}|\.\s*…|…\s*[.…]|\.\s+\.\s+\.|[!?]\s*(?:\.\.\.|…)"
    r"|(?:^|[^\pL])(?:etc|et cetera|et caetera|usw|u\.\s?s\.\s?w|ecc|enz|osv|m\.\s?m|jne|itd|atd|stb|etcétera)"
    r"\s*\.?\s*(?:\.\s*\.\s*\.?|…))\s*$"
)
#: Words after which something has to follow, by language; "" has those that end no text in any of the languages.
#: Left out is what ends texts as well: "vitamine E", "plug-in", "for men", "roll on", "carte d'or".
_JOINING = {
    "": "et und og och sekä avec mit med con com with du des aux von vom zum zur van voor für för para della dello "
    "delle degli dalla nella alla agli y/o e/o et/ou and/or und/oder en/of och/eller og/eller ja/tai",
    "fr": "ou de dans pour par sur sous le les une aux ainsi dont ni à d' l' issu issue",
    "en": "and or of the from by at an into including contains",
    "de": "oder aus der die das den dem ein eine einer einem im am beim sowie bzw",
    "es": "y o u de en por sobre el los las una del al sin",
    "it": "e o ed od di da in su per tra il lo gli le una del dei al ai nel nei senza d' l' dell' all'",
    "nl": "met en of de het een uit bij te zonder door",
    "pt": "e ou de do da dos das em no na nos nas por ao aos os as uma sem",
    "no": "eller av til fra uten på som et en",
    "sv": "eller av till från utan på som ett en",
    "fi": "ja tai sekä",
}
#: Norwegian and Danish join with the same words.
_TAKEN_FOR = {"nb": "no", "nn": "no", "da": "no"}
#: The end of a name that should continue; and names that are whole although they end in a joining word.
_ENDS_IN_COMMA = r"(?:,|&|^[^&]*;|;\s*;)\s*$"
_WHOLE_NAMES = (
    r"(?i)\b(?:best of|made of|to go with|avec ou sans|with or without|ohne|sans|sem|sin|zonder|uten|utan)\s*$"
    # Black, in Breton.
    r"|\p{Ll}\s+(?-i:Du)\s*$"
)
#: Brackets that are closed, the innermost; signs that only look like one; how deep they are nested at most.
_INNERMOST = r"[(\[{][^()\[\]{}]*[)\]}]"
_NO_BRACKET = r"[:;]['-]?[(\[{]"
_DEEPEST = 20
#: A sentence has ended here, whatever closes behind it.
_ENDED = r"""[.!?…]\s*["'»”’)\]}*]*\s*$"""
#: Inside of a bracket that is never closed.
_IN_BRACKET = r"[(\[{][^()\[\]{}]*$"

#: Declares what no text, or no name, may have.
_declare = partial(declare, block="texts")
#: Declares a rule of all texts: one that is wrong is enough to fail, also where only some of them were asked for.
_rule = partial(rule, block="texts", needs=ANY_TEXT, certain="fails")
#: Declares the same of names.
_name_rule = partial(rule, block="texts", needs=ANY_NAME, certain="fails")


@_rule(
    title="{attribute} has at most {characters} characters",
    problem="{attribute} over {characters} characters",
    fix="Shorten the {attribute} to {characters} characters.",
    severity="error",
    needs="{attribute}.data",
    source=_LENGTHS,
)
def text_fits(products: Products, *, attribute: str, characters: int) -> Verdict:
    """Receivers cut longer texts in the middle of a word, or reject the product."""
    return _at_most(products, characters, [attribute])


@_rule(
    title="no text has more than {characters} characters",
    problem="Text over {characters} characters",
    fix="Shorten the text to {characters} characters.",
    severity="error",
    source=_LENGTHS,
)
def texts_fit(products: Products, *, characters: int = 20_000) -> Verdict:
    """The service accepts no longer texts; they result from copying errors, and break pages and files."""
    return _at_most(products, characters)


@_rule(
    title="{attribute} has at least {characters} characters",
    problem="{attribute} under {characters} characters",
    fix="Extend the {attribute} to at least {characters} characters.",
    severity="info",
    dimension="completeness",
    needs="{attribute}.data",
    exact=False,
)
def text_says_enough(products: Products, *, attribute: str, characters: int) -> Verdict:
    """Two words do not describe a product, and online customers have nothing else to rely on."""
    texts = TextColumns.of(products)
    judged = texts.within([attribute])
    length = pc.utf8_length(composed_texts(pc.utf8_trim_whitespace(texts.texts))).to_numpy()[texts.wording]
    wrong = judged & (length < characters)
    reasons = [
        Message.of_number("{number} character", "{number} characters", number)
        for number in length[wrong].tolist()
    ]
    return texts.verdict(wrong, reasons, judged)


@_rule(
    title="no text is a placeholder",
    problem="Placeholder instead of a text",
    fix="Write the text, or remove the placeholder.",
    severity="error",
    dimension="completeness",
    exact=False,
)
def texts_without_placeholders(products: Products) -> Verdict:
    """TBD or N/A counts as filled in and is printed as it is."""
    texts = TextColumns.of(products)
    bare = pc.utf8_trim(pc.utf8_lower(texts.texts), " \t\r\n.:;,-_*()[]<>{}\"'")
    known = texts.where(pc.is_in(bare, _PLACEHOLDERS))
    return texts.verdict(known | texts.matching(_NOTHING_SAID), Message("stands there for its place only"))


_declare(
    "texts_without_markup",
    NoTextHas(_MARKUP, Message("holds HTML")),
    title="no text contains markup",
    problem="Markup in a text",
    fix="Remove the tags and keep the words.",
    why=(
        "Texts are shown as they are: customers see the tags, and a page that interprets them is open to "
        "attack."
    ),
    severity="error",
    source="HTML Living Standard, section 4",
)

_declare(
    "texts_without_character_references",
    NoTextHas(_REFERENCE, Message("holds a character reference of HTML")),
    title="no text contains a character reference",
    problem="Character reference in a text",
    fix="Write the character itself: & for &amp;, é for &eacute;.",
    why="A text escaped for a web page is escaped there again: customers see &amp;amp;.",
    severity="warning",
    source="HTML Living Standard, section 13.5",
)

_declare(
    "texts_without_formulas",
    NoTextHas(_FORMULA, Message("a spreadsheet would compute it")),
    title="no text begins like a formula",
    problem="Text begins like a formula",
    fix="Remove the character at the beginning of the text.",
    why="A spreadsheet that opens an export runs the formula.",
    severity="error",
    source="OWASP, CSV Injection",
    exact=False,
)

_declare(
    "names_without_addresses",
    NoTextHas(_ADDRESS, Message("holds an address"), NAMES),
    title="names contain no web or mail address",
    problem="Web or mail address in a name",
    fix="Remove the address from the name; contact details have their own attribute.",
    why="A name describes the product; marketplaces reject names with addresses.",
    severity="warning",
)


@_name_rule(
    title="names consist of words",
    problem="Name without words",
    fix="Write the name: product, brand, variant, content.",
    severity="error",
)
def names_are_words(products: Products, *, letters: int = 2) -> Verdict:
    """An article number means nothing outside the company that assigned it."""
    texts = TextColumns.of(products)
    named = texts.within(NAMES)
    # One letter is enough in scripts without capitals, of which some write a word as one sign.
    enough = texts.matching(rf"(?:\pL[^\pL]*){{{letters}}}|[\p{{Lo}}]", named)
    return texts.verdict(~enough, Message("has fewer than {letters} letters", letters=letters), named)


@_rule(
    title="no text is cut off",
    problem="Text cut off",
    fix="Complete the text. If many texts end at the same length, widen the column that they are sent from.",
    severity="warning",
    dimension="completeness",
    gather=CutLengths.gather,
    prepare=CutLengths.of,
    exact=False,
    source="Open Food Facts: the lists of ingredients of one product in twenty end at the length of a column",
)
def texts_not_cut_off(products: Products, *, whole: CutLengths) -> Verdict:
    """What is missing at the end of a list of ingredients may be an allergen.

    A text was cut where its owner, or many owners, have far more texts of exactly its length than of one beside it:
    a column was too short. Three dots at the end remain when a system had no room for the rest (four or more are a line
    to fill in; after "etc" or the end of a sentence they are intended); so does a bracket that is open at the end, and
    a word that joins ("flour and"). Names that end in such a word have a rule of their own.
    """
    texts = TextColumns.of(products)
    cuts = whole.rows(products, texts.product, texts.attributes, texts.attribute, texts.texts, texts.wording)
    ended = texts.ending(_ENDED)
    in_bracket = texts.matching(_IN_BRACKET)
    reasons: dict[int, Message] = {
        row: cut.reason for row, cut in cuts.items() if not ended[row] or in_bracket[row]
    }
    dots = texts.ending(_CUT_OFF)
    found = {
        Message("ends in dots"): dots & ~texts.ending(_MEANT_DOTS, dots),
        Message("ends within a bracket"): in_bracket & ~ended & ~texts.within(NAMES),
        Message("ends in a word that joins"): _joins(products) & ~texts.within(NAMES),
    }
    for reason, which in found.items():
        for row in np.flatnonzero(which).tolist():
            reasons.setdefault(row, reason)
    wrong = np.zeros(len(texts.product), bool)
    wrong[list(reasons)] = True
    # How many others end at this length changes every night, and the text that ends there does not.
    verdict = texts.verdict(wrong, [reasons[row] for row in sorted(reasons)])
    # Without the owners nobody knows whose columns are too short.
    unclear = ~CutLengths.are_known(products) & ~verdict.fails
    return replace(verdict, fails=pd.arrays.BooleanArray(verdict.fails, unclear))


@once_per_part
def _joins(products: Products) -> Mask:
    """Say which texts end in a word after which something has to follow, in the language that they state."""
    texts = TextColumns.of(products)
    found = np.zeros(len(texts.product), bool)
    for language, words in _JOINING.items():
        stated = [not language or _TAKEN_FOR.get(one, one) == language for one in texts.languages]
        spoken = np.array(stated, bool)[texts.language]
        if spoken.any():
            any_word = "|".join(map(re.escape, words.split()))
            # "d'" needs no space behind it. The word follows another one, or is the whole text.
            found |= texts.ending(rf"(?i)[\pL\pN,;:)%*]['’]?\s+(?:{any_word})\s*[,;:-]?\s*$", spoken)
    return found


@_rule(
    title="every bracket in a text is closed",
    problem="Bracket never closed",
    fix="Close the bracket after the words in it.",
    severity="info",
    source="Regulation (EU) No 1169/2011, Annex VII, Part E: what a compound ingredient is made of follows its name",
)
def brackets_are_closed(products: Products) -> Verdict:
    """Nobody can tell of which ingredient the open bracket names the parts, and what comes behind it."""
    # Of 884 such texts among 20,599 real products, 12 were read, and in all a bracket was open.
    texts = TextColumns.of(products)
    left = texts.texts
    has_any = is_true(has_match(left, r"[(\[{]"))
    rows = np.flatnonzero(has_any)
    left = pc.replace_substring_regex(left.take(pa.array(rows)), _NO_BRACKET, "")
    # From the inside out: closed brackets are removed until only the ones that are never closed are left.
    for _ in range(_DEEPEST):
        closed = is_true(has_match(left, _INNERMOST))
        if not closed.any():
            break
        left = pc.replace_substring_regex(left, _INNERMOST, "")
    is_open = np.zeros(len(texts.texts), bool)
    is_open[rows] = is_true(has_match(left, r"[(\[{]"))
    wrong = is_open[texts.wording]
    behind = pc.struct_field(pc.extract_regex(left, r"(?s)^.*(?P<open>[(\[{].{0,30})"), "open")
    seen = dict(zip(rows.tolist(), behind.to_pylist(), strict=True))
    return texts.verdict(
        wrong, Message("never closed: {text}", text=[seen[one] for one in texts.wording[wrong].tolist()])
    )


@_name_rule(
    title="names do not end in a comma or a word that joins",
    problem="Name ends in the middle",
    fix="Complete the name, or remove the comma or the last word.",
    severity="warning",
    dimension="completeness",
    exact=False,
    source="Open Food Facts: names of real products that end so",
)
def names_are_finished(products: Products) -> Verdict:
    """ "Olives, boîte de": the rest was lost, or the parts of the name were put together in the wrong order."""
    # Of 105 such names among 20,599 real products, 16 were read, and about 11 lacked something: it is a warning.
    texts = TextColumns.of(products)
    named = texts.within(NAMES)
    comma = texts.ending(_ENDS_IN_COMMA, named)
    joins = _joins(products) & named & ~comma
    # "Best of" and "ready to go" are whole names.
    joins &= ~texts.ending(_WHOLE_NAMES, joins)
    in_comma, in_word = Message("ends in a comma"), Message("ends in a word that joins")
    reasons = [in_comma if is_comma else in_word for is_comma in comma[comma | joins].tolist()]
    return texts.verdict(comma | joins, reasons, named)


@rule(
    title="the description adds to the name",
    problem="Description repeats the name",
    fix="Describe the product: its properties and its use.",
    severity="warning",
    dimension="completeness",
    block="texts",
    needs=("description.data", ANY_NAME),
)
def description_is_more_than_name(products: Products) -> Verdict:
    """A name copied into the description fills the field without adding information."""
    texts = TextColumns.of(products)
    described, named = texts.within(["description"]), texts.within(NAMES)
    # In whatever language: a name that was copied into another one says no more there.
    pair = texts.product * (len(texts.texts) + 1) + texts.wording
    wrong = described & np.isin(pair, pair[named])
    same_names: dict[int, set[str]] = defaultdict(set)
    for row in np.flatnonzero(named & np.isin(pair, pair[wrong])).tolist():
        name = f"{texts.attributes[texts.attribute[row]]} {texts.languages[texts.language[row]]}"
        same_names[int(pair[row])].add(name)
    compared = [compared_with(*sorted(same_names[one])) for one in pair[wrong].tolist()]
    return texts.verdict(wrong, Message("is the name again"), described, compared)


def _at_most(products: Products, characters: int, attributes: Sequence[str] = ()) -> Verdict:
    texts = TextColumns.of(products)
    judged, length = texts.within(attributes), texts.length[texts.wording]
    wrong = judged & (length > characters)
    reason = Message(
        "{characters} characters, {allowed} allowed", characters=length[wrong], allowed=characters
    )
    return texts.verdict(wrong, reason, judged)


#: C0 and C1 controls but tab, line feed, carriage return and next line, which are spaces and line breaks.
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{84}\x{86}-\x{9f}]"
#: Marks of direction, zero-width spaces and joiners of words, byte order marks, tags, private use.
_INVISIBLE = (
    r"[\x{200b}\x{202a}-\x{202e}\x{2060}-\x{2069}\x{feff}\x{fff9}-\x{fffb}\x{e000}-\x{f8ff}\x{e0001}]"
)
#: What Unicode calls the end of a line or of a paragraph.
_BREAK = r"[\n\r\v\f\x{85}\x{2028}\x{2029}]"
#: Spaces of any width count (`\pZ`), and so does a line break at an end; inside of a text it may be meant.
_STRAY = r"^\s|\s$|\pZ{2}|^\pZ|\pZ$"

#: What has fewer letters may be an abbreviation, or a brand that writes itself so.
_FEWEST_LETTERS = 5
#: What may be next to the one word of a name: single letters, and units of the contents.
_UNIT = r"(?:\pL\pM*|[KMC]G|[MCD]L|[MC]M|PCS?|ST)"


_declare(
    "texts_without_control_characters",
    NoTextHas(_CONTROL, Message("holds a control character")),
    title="no text contains a control character",
    problem="Control character in a text",
    fix="Retype the text around the character: it was pasted from another program.",
    why="Label printers, XML files and tills stop at control characters, or show a box.",
    severity="error",
    source="Unicode Standard, section 23.1",
)

_declare(
    "texts_without_invisible_characters",
    NoTextHas(_INVISIBLE, Message("holds a mark of direction, a zero-width space or a private sign")),
    title="no text contains an invisible character that changes how it reads",
    problem="Invisible character in a text",
    fix="Retype the text without direction marks, zero-width spaces and private-use characters.",
    why=(
        "A direction mark can make a text display something else than it contains, and no search finds a "
        "split word."
    ),
    severity="warning",
    source="Unicode Technical Report 36, section 3.6",
)

_declare(
    "texts_without_mojibake",
    NoTextHas(MISREAD, Message("written as UTF-8 and read as something else")),
    title="no text was decoded with the wrong encoding",
    problem="Text decoded with the wrong encoding",
    fix="Send the text again as UTF-8.",
    why="Ã© in place of é: customers see at once that nobody has checked the text.",
    severity="error",
    source="RFC 3629",
    exact=False,
)

_declare(
    "names_on_one_line",
    NoTextHas(_BREAK, Message("holds a line break"), NAMES),
    title="names have no line break",
    problem="Line break in a name",
    fix="Replace the line break by a space.",
    why="Shelf labels, receipts and search results show a name on one line.",
    severity="error",
    source="Data model of the exchange service: names have no line breaks",
)


@_name_rule(
    title="names are not written in capitals only",
    problem="Name all in capitals",
    fix="Write the name as in a sentence.",
    severity="warning",
    dimension="consistency",
    source="Google Merchant Center product data specification, title",
)
def names_not_in_capitals(
    products: Products, *, letters: int = _FEWEST_LETTERS, one_word: int = 8
) -> Verdict:
    """Names in capitals look like shouting, lose their accents, and are rejected by some receivers.

    What has few letters may be an abbreviation, and one word of up to {one_word} letters a brand that writes itself
    so.
    """
    texts = TextColumns.of(products)
    alone = rf"^[^\pL]*(?:{_UNIT}[^\pL\pM]+)*(?:\pL\pM*){{1,{one_word}}}(?:[^\pL\pM]+{_UNIT})*[^\pL\pM]*$"
    named = texts.within(NAMES)
    capitals = texts.matching(rf"(?:\p{{Lu}}[^\pL]*){{{letters}}}", named)
    capitals = texts.marked(lambda names: pc.equal(pc.utf8_upper(names), names), capitals)
    capitals &= ~texts.matching(alone, capitals)
    return texts.verdict(capitals, Message("in capitals throughout"), named)


_declare(
    "texts_without_stray_spaces",
    NoTextHas(_STRAY, Message("has spaces at an end or two in a row")),
    title="no text has leading, trailing or double spaces",
    problem="Leading, trailing or double spaces in a text",
    fix="Remove spaces at the beginning and the end, and replace double spaces by single ones.",
    why="Extra spaces make equal texts differ, so that searches and comparisons miss them.",
    severity="info",
    dimension="consistency",
)
