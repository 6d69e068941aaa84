"""What a worklist showed, as evidence: whether a value of a product is what somebody saw, however a cell wrote it.

A cell shows a value in its own way. A spreadsheet composes letters, changes line ends, drops spaces and cuts what is
too long; a rule shows a size in grams where the product has kilograms, a label in place of a code, one of several
items. None of that is another value. Where it is not certain whether two values are the same, nothing is claimed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any

from prodex.tables.values import moment_text
from prodex.worklists import hierarchy_answers, nutrition_answers, picture_answers
from prodex.worklists.answer_kinds import AnswerShape, without_code
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, as_one_line, read_boolean, read_number
from prodex.worklists.items import amount_of, is_quantity, unit_code_of
from prodex.worklists.units import are_equal

#: What workbooks cannot hold, and the escapes that worklists show in its place.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|\\x[01][0-9a-f]|\\uff[ef]{2}")
_LINE_ENDS = re.compile(r"\r\n|\\x0d\n|\r|\\x0d")
#: How a text ends that was cut: " … [32,697 of 40,000 characters; ...]", "… (500 of 1,200 characters)"; in French the
#: word is in between: "… (500 caractères sur 1 200)".
_CUT = re.compile(r" ?… [\[(]\d[\d.,\s]*\w[^\d\])]* (\d(?:[\d.,\s]*\d)?)(?: \w+)?(?:;[^\])]*)?[\])]\s*$")
#: Letters that an encoding may lack, and what programs write in their place.
_FOREIGN, _LOST = re.compile("[^\x00-\x7f?]|[?]"), "?\ufffd"
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")
_MOMENT = re.compile(r"\d+(?:\s?[./:T-]\s?\d+| \d+|Z| ?[AP]M)+\.?", re.IGNORECASE)
#: Characters of a text that are compared by digest: a cell that is cut shows as many of them at least.
_COMPARED = 16_000
_AMOUNT = re.compile(r"(?:(?P<name>.*?\S)\s*[:=]?\s+)?(?P<amount>[-+−]?\d[\d.,]*\s*[^\d\s].*)", re.DOTALL)


def visible_text(text: str) -> str:
    r"""Return a text as far as cells show it alike.

    >>> visible_text(" Cre\u0300me\r\nbru\x0ble\u0301e "), visible_text("Crème\nbrulée")
    ('Crème\nbrulée', 'Crème\nbrulée')
    """
    text = _CONTROLS.sub("", _LINE_ENDS.sub("\n", unicodedata.normalize("NFC", text)))
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def alike(one: str | None, shown: str | None) -> bool:
    """Whether a text is the one that a cell shows.

    >>> alike("Crème brûlée", " Crème brûlée"), alike("Pain " * 9, "Pain Pa… (7 of 45 characters)"), alike("a", None)
    (True, True, False)
    """
    if one is None or shown is None:
        return one is shown
    whole, seen = visible_text(one), visible_text(shown)
    if whole == seen:
        return True
    if (cut := _CUT.search(seen)) is not None:
        is_as_long = int(re.sub(r"\D", "", cut[1])) == len(one) or _CONTROLS.search(one) is not None
        return is_as_long and whole.startswith(seen[: cut.start()])
    # Saved with an encoding that lacks some of its letters.
    return any(mark in seen for mark in _LOST) and _without_letters(whole) == _without_letters(seen)


def _without_letters(text: str) -> str:
    return re.sub("[?]+", "?", _FOREIGN.sub("?", text))


def as_seen(text: str | None) -> str:
    """Return what is compared of a cell by digest: the same for all that spreadsheets make of it by themselves.

    >>> as_seen("0012") == as_seen("12"), as_seen("2026-02-20T06:00:00") == as_seen("20.02.26 06:00")
    (True, True)
    """
    shown = visible_text(text or "")
    if _NUMBER.fullmatch(shown):
        return format(Decimal(shown.replace(",", ".")).normalize(), "f")
    if _MOMENT.fullmatch(shown):
        parts = {int(part) % 100 for part in re.findall(r"\d+", shown)} - {0}
        return " ".join(map(str, sorted(parts)))
    if len(shown) > 3 and shown.isalpha():  # TRUE, WAHR, VRAI
        with suppress(AnswerRefused):
            return str(read_boolean(shown)).lower()
    return _without_letters(shown)[:_COMPARED]


def same_moment(then: str, now: str | None) -> bool | None:
    """Whether a product was last changed at the time in a cell; None where a spreadsheet left no certain date.

    >>> now = "2026-11-01T06:00:00"
    >>> [same_moment(then, now) for then in ("2026-11-01 06:00:00", "01.11.2026 06:00", "2026-11-02", "1. Nov")]
    [True, True, False, None]
    """
    if now is None:
        return False
    if _comparable_moment(then) == _comparable_moment(now) or as_seen(then) == as_seen(now[:19]):
        return True
    return False if re.match(r"\d{4}-\d\d-\d\d", then) else None


def _comparable_moment(text: str) -> str:
    return moment_text(text.strip()).replace(" ", "T").removesuffix("T00:00:00")[:19]


def has_value_seen(
    shape: AnswerShape,
    seen: str,
    value: Any,
    attribute: str,
    words: Vocabulary,
    gtin: str = "",
) -> bool | None:
    """Whether an attribute still holds what was seen; None where that cannot be compared.

    Parameters
    ----------
    shape
        What the attribute holds; a text is compared by `alike`.
    seen
        What was seen; one of several items is enough.
    value
        What the product has at the top of the attribute.
    attribute
        The attribute.
    words
        Units, codes and nutrients of the catalogue.
    gtin
        Of the product.

    Examples
    --------
    >>> weight = [{"data": 1.44, "expressedIn": {"code": "KGM"}}]
    >>> seen = ("1440 g", "2 kg", "2 x 2")
    >>> [has_value_seen(AnswerShape.QUANTITY, one, weight, "netWeight", Vocabulary()) for one in seen]
    [True, False, None]
    """
    is_there = value not in (None, "", [], {})
    if not seen.strip():
        # Where only a part is corrected, the worklist may show nothing although the attribute has a value.
        in_part = shape in {AnswerShape.PICTURE, AnswerShape.NUTRITION, AnswerShape.HIERARCHY}
        return None if in_part and is_there else not is_there
    if not is_there:
        return False
    compare = _COMPARED_BY.get(shape)
    try:
        return None if compare is None else compare(as_one_line(seen), value, attribute, words, gtin)
    except AnswerRefused:
        return None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _split_list(seen: str) -> list[str]:
    return [part.strip() for part in seen.split(";") if part.strip()]


def _boolean(seen: str, value: Any, *_: Any) -> bool:
    return read_boolean(seen) is value


def _is_same_number(seen: str, value: Any, *_: Any) -> bool:
    return bool(read_number(seen) == value)


def _string(seen: str, value: Any, *_: Any) -> bool:
    return alike(str(value), seen) or as_seen(str(value)) == as_seen(seen)


def _are_same_codes(seen: str, value: Any, attribute: str, words: Vocabulary, _: str) -> bool:
    held = [one for one in _as_list(value) if isinstance(one, Mapping)]

    def has_part(part: str) -> bool:
        meant = {_folded(one) for one in (part, *re.split("[∣|]", part)[-1:])}
        with suppress(AnswerRefused):
            meant.add(_folded(words.code(without_code(attribute), part)))
        return any(meant & {_folded(one.get("code")), _folded(one.get("label"))} for one in held)

    return has_part(seen) or all(map(has_part, _split_list(seen)))


def _folded(text: Any) -> str:
    return visible_text(str(text)).casefold()


def _quantities(seen: str, value: Any, _: str, words: Vocabulary, __: str) -> bool:
    held = [(amount_of(one.get("data")), unit_code_of(one)) for one in _as_list(value) if is_quantity(one)]
    parts = map(words.quantity, _split_list(seen))
    return all(any(one[0] is not None and are_equal(one, part) for one in held) for part in parts)


def _pictures(seen: str, value: Any, *_: Any) -> bool | None:
    if picture_answers.has_picture_seen(value, seen):
        return True
    # A rule shows moments without their zone.
    return None if _MOMENT.fullmatch(seen) else False


def _nutrients(seen: str, value: Any, _: str, words: Vocabulary, __: str) -> bool | None:
    """Whether the nutrients that were seen are there: those that are named by name, others by their amount."""
    with suppress(AnswerRefused):
        return nutrition_answers.read_nutrient_answer("", value, seen, words).is_there
    named = (found for part in re.split("[;,/]\\s+", seen) if (found := _AMOUNT.fullmatch(part)) is not None)
    amounts = [words.quantity(one["amount"]) for one in named]
    return (
        True
        if amounts and all(one in nutrition_answers.amounts_of_nutrients(value) for one in amounts)
        else None
    )


def _are_same_units(seen: str, value: Any, _: str, words: Vocabulary, gtin: str) -> bool:
    return hierarchy_answers.read_hierarchy_answer("", value, seen, gtin, words).is_there


_COMPARED_BY: Mapping[AnswerShape, Callable[..., bool | None]] = {
    AnswerShape.BOOLEAN: _boolean,
    AnswerShape.INTEGER: _is_same_number,
    AnswerShape.NUMBER: _is_same_number,
    AnswerShape.STRING: _string,
    AnswerShape.CODE: _are_same_codes,
    AnswerShape.QUANTITY: _quantities,
    AnswerShape.PICTURE: _pictures,
    AnswerShape.NUTRITION: _nutrients,
    AnswerShape.HIERARCHY: _are_same_units,
}
