"""Rules of the characters of texts: invisible ones, wrong encodings, capitals and spaces."""

from __future__ import annotations

from functools import partial

import pyarrow.compute as pc

from prodex.facts.name import NAMES
from prodex.quality.products import Products
from prodex.quality.rulebook import rule
from prodex.quality.text_columns import ANY_NAME, ANY_TEXT, TextColumns, no_match
from prodex.quality.verdict import Verdict

#: C0 and C1 controls but tab, line feed, carriage return and next line, which are spaces and line breaks.
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x{80}-\x{84}\x{86}-\x{9f}]"
#: Marks of direction, zero-width spaces and joiners of words, byte order marks, tags, private use.
_INVISIBLE = (
    r"[\x{200b}\x{202a}-\x{202e}\x{2060}-\x{2069}\x{feff}\x{fff9}-\x{fffb}\x{e000}-\x{f8ff}\x{e0001}]"
)
_BREAK = r"[\n\r\v\f\x{85}\x{2028}\x{2029}]"
_STRAY = r"^\s|\s$|\pZ{2}|^\pZ|\pZ$"

# What the second byte of a two-byte character of UTF-8 (0x80 to 0xBF) becomes in Windows-1252 or Latin-1.
_SECOND = r"\x{80}-\x{9f}\x{a1}-\x{bf}ŠŒŽšœžŸƒˆ˜–—‘’‚“”„†‡•…‰‹›€™"
_MOJIBAKE = (
    rf"Ã[{_SECOND}]|(?:^|[\s\p{{Ll}}'’-])Ã[ \x{{a0}}]|Å[\x{{80}}-\x{{9f}}ŠŒŽšœžŸƒˆ˜“”„†‡•…‰‹›€™]"
    r"|Â[\x{80}-\x{bf}]|â€[\x{80}-\x{bf}™œžŸ˜š“”]|ï»¿|├[®¿á¬ºóñ]|\x{fffd}"
)
#: What has fewer letters may be an abbreviation, or a brand that writes itself so.
_FEWEST_LETTERS = 5
#: Beside a name's one word: single letters, and units of what is in the pack.
_UNIT = r"(?:\pL\pM*|[KMC]G|[MCD]L|[MC]M|PCS?|ST)"

#: Declares a rule of all texts: one that is wrong is enough to fail, also where only some of them were asked for.
_rule = partial(rule, block="texts", needs=ANY_TEXT, certain="fails")
#: Declares the same of names.
_name_rule = partial(rule, block="texts", needs=ANY_NAME, certain="fails")


@_rule(
    title="no text contains a control character",
    problem="Control character in a text",
    fix="Retype the text around the character: it was pasted from another program.",
    severity="error",
    source="Unicode Standard, section 23.1",
)
def texts_without_control_characters(products: Products) -> Verdict:
    """Label printers, XML files and tills stop at control characters, or show a box."""
    return no_match(products, _CONTROL, "holds a control character")


@_rule(
    title="no text contains an invisible character that changes how it reads",
    problem="Invisible character in a text",
    fix="Retype the text without direction marks, zero-width spaces and private-use characters.",
    severity="warning",
    source="Unicode Technical Report 36, section 3.6",
)
def texts_without_invisible_characters(products: Products) -> Verdict:
    """A direction mark can make a text display something else than it contains, and no search finds a split word."""
    return no_match(products, _INVISIBLE, "holds a mark of direction, a zero-width space or a private sign")


@_rule(
    title="no text was decoded with the wrong encoding",
    problem="Text decoded with the wrong encoding",
    fix="Send the text again as UTF-8.",
    severity="error",
    source="RFC 3629",
    exact=False,
)
def texts_without_mojibake(products: Products) -> Verdict:
    """Ã© in place of é: customers see at once that nobody has checked the text."""
    return no_match(products, _MOJIBAKE, "written as UTF-8 and read as something else")


@_name_rule(
    title="names have no line break",
    problem="Line break in a name",
    fix="Replace the line break by a space.",
    severity="error",
    source="Data model of the exchange service: names have no line breaks",
)
def names_on_one_line(products: Products) -> Verdict:
    """Shelf labels, receipts and search results show a name on one line."""
    return no_match(products, _BREAK, "holds a line break", NAMES)


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
    return texts.verdict(capitals, "in capitals throughout", named)


@_rule(
    title="no text has leading, trailing or double spaces",
    problem="Leading, trailing or double spaces in a text",
    fix="Remove spaces at the beginning and the end, and replace double spaces by single ones.",
    severity="info",
    dimension="consistency",
)
def texts_without_stray_spaces(products: Products) -> Verdict:
    """Extra spaces make equal texts differ, so that searches and comparisons miss them."""
    return no_match(products, _STRAY, "has spaces at an end or two in a row")
