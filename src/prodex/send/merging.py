"""Changes of one product become what is written of it: a written array replaces the stored one, so it is whole.

A text is named by its attribute, its language and its position: list indexes along the wire path, the outermost first,
as tables have them. `text_change` finds the place that is meant, and `merge_values` makes changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from prodex import locales
from prodex.changes import (
    ABSENT,
    MAINTAINED_BY_SERVICE,
    OF_THE_CODE,
    Change,
    Item,
    PlaceChanged,
    apply,
    in_words,
    is_exact,
    named,
    path_after,
    value_at,
)
from prodex.changes.sameness import is_text
from prodex.errors import ChangesRefused, QueryError
from prodex.languages.message import said_by
from prodex.locales import (
    codes_in_words,
    is_meant,
    is_whole_language,
    meant_by,
    short_language,
    short_of,
    tag_of,
    variant_of,
)
from prodex.send.records import DELETE, Product
from prodex.tables.containers import numbered_place, rewritten_container, unusual_list
from prodex.tables.values import halves_of, storable
from prodex.written_json import RepeatedKeys, unwritable, why_unwritable


class TextPlace(NamedTuple):
    """The place of a text, as somebody names it.

    Attributes
    ----------
    attribute
        Wire path of the text (`productBenefits.text`).
    position
        The position of the text in the attribute, as in `catalog.texts`, or None.
    language, language_code
        The language in the short and the long form; one of them is enough.
    """

    attribute: str
    position: str | None = None
    language: str | None = None
    language_code: str | None = None

    @property
    def root(self) -> str:
        return self.attribute.partition(".")[0]

    def __str__(self) -> str:
        language = self.language_code or self.language or "no language"
        return f"{self.attribute} in {language}" + (
            "" if self.position is None else f" at position {self.position!r}"
        )


class TextItem(NamedTuple):
    """A localized text of a product, with its position and all steps that lead to it."""

    attribute: str
    position: str
    item: dict[str, Any]
    steps: tuple[str | int, ...] = ()

    @property
    def code(self) -> str | None:
        return _string(self.item["expressedIn"].get("code"))

    @property
    def sent_language(self) -> str | None:
        return short_language(self.code, _string(self.item["expressedIn"].get("normalizedCode")))

    @property
    def language(self) -> str | None:
        """The language as languages are compared: `no` and `nb` are one."""
        sent = self.sent_language or self.code
        return None if sent is None else short_of(sent)

    @property
    def variant(self) -> str | None:
        """The language with its country, which tells the text from others of one language."""
        return variant_of(self.code, _string(self.item["expressedIn"].get("normalizedCode")))

    @property
    def is_code_its_language(self) -> bool:
        """Whether its code is of the language that it is in; a short code may say something else."""
        return self.code is None or short_of(self.code) == self.language

    @property
    def data(self) -> str | None:
        """The text; None of an item that has none."""
        data: str | None = self.item.get("data")
        return data


def texts_meant(texts: Sequence[TextItem], language: str | None, language_code: str | None) -> list[TextItem]:
    """Return those of some texts that are in a language; where its code is given, under that code."""
    if language_code is not None:
        codes = [one.variant if one.is_code_its_language else one.code for one in texts]
        return [texts[place] for place in meant_by(language_code, codes, is_code=True)]
    return (
        [] if language is None else [texts[one] for one in meant_by(language, [one.variant for one in texts])]
    )


def text_change(
    product: str, record: Product, place: TextPlace, text: Any, codes: Mapping[str, frozenset[str]]
) -> Change | None:
    """Return the change that a text is to be another one; where the product has it already, that leads to the same.

    None where a text is to be taken away that cannot be there.

    Parameters
    ----------
    product
        The key of the product.
    record
        It, as received.
    place, text
        The text that is meant, and the new one, or DELETE.
    codes
        The long language codes of each short one, for texts in a language that is new in this product.

    Raises
    ------
    ChangesRefused
        When it is not certain which of several texts is meant, or in which language a new one is.

    Examples
    --------
    >>> names = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> record = {"namePublicLong": names}
    >>> change = text_change("7", record, TextPlace("namePublicLong", language="fr"), "Riz long", {})
    >>> change.path[-1], change.before, change.after
    ('data', 'Riz', 'Riz long')
    """
    found = _text_meant(record, place)
    if found is None and text is not DELETE:
        return _new_text(product, record, place, text, codes)
    if found is None:
        with suppress(ChangesRefused):
            new = _new_text(product, record, place, "", codes)
            return replace(new, after=new.before)
        return None
    path, before = named(record, found.steps), found.data
    if text is DELETE:
        if before is None:
            # Of an item without a text, nothing is to be taken away.
            return Change(product, path, found.item, found.item)
        if not isinstance(found.steps[-1], int):
            raise ChangesRefused(
                f"the text at {place.attribute} is not in a list, so it cannot be deleted alone. Send the whole "
                "attribute as a record.",
            )
        return Change(product, path, found.item, ABSENT)
    # Tables show half of a surrogate pair as its escape; whoever leaves that in a frame leaves the text.
    if before is not None and text == storable(before):
        text = before
    elif halves := [one for one in halves_of(before or "") if storable(one) in text.lower()]:
        raise ChangesRefused(
            f"{place} has half of a character (U+{ord(halves[0]):04X}), which tables show as the letters "
            f"{storable(halves[0])}: these would be written in its place. Leave them out.",
        )
    _refuse_half(place, text, before)
    return Change(product, (*path, "data"), found.item.get("data", ABSENT), text)


def _refuse_half(place: TextPlace, text: str, before: str | None) -> None:
    """Refuse a new text with half of a character, which nobody has typed; one that is there already stays."""
    if text != before and (halves := halves_of(text)):
        raise ChangesRefused(
            f"the text for {place} has half of a character (U+{ord(halves[0]):04X}), which cannot be sent. Type it "
            "again.",
        )


def text_there(record: Product, place: TextPlace) -> str:
    """Return the text at a place; "" where there is none.

    Raises
    ------
    ChangesRefused
        When it is not certain which of several texts is meant.
    """
    found = _text_meant(record, place)
    return "" if found is None else found.data or ""


def _text_meant(record: Product, place: TextPlace) -> TextItem | None:
    """Return the text that is meant, or the item that lacks it; None for a new text."""
    value, language, code = record.get(place.root), place.language, place.language_code
    items = texts_at(record, place.attribute, empty=True)
    if not items and (odd := numbered_place(value, place.root)) is not None:
        raise ChangesRefused(
            f"{odd} is an object with numbers as keys in place of a list. A correction never rewrites what is "
            "there. Correct it at its source, or send the whole attribute as a record.",
        )
    here = [one for one in items if one.data is not None]
    if place.position is not None:
        at = next((text for text in here if text.position == place.position), None)
        if at is None or not texts_meant([at], language, code):
            found = "no text" if at is None else f"a text in {at.code or at.sent_language}"
            raise ChangesRefused(
                f"at {place} the catalogue has {found}. Take the frame from catalog.texts of the same catalogue, and "
                "keep its column position; leave it out (None) for a text that is new.",
            )
        return at
    if not (matching := texts_meant(here, language, code)):
        empty = texts_meant([one for one in items if one.data is None], language, code)
        # Of items that are equal in everything, whichever gets the text, it is the same.
        matching = empty[:1] if all(one.item == empty[0].item for one in empty) else empty
    if len(matching) > 1:
        codes = codes_in_words(one.variant for one in matching)
        differ = len({tag_of(str(one.variant)) for one in matching}) > 1
        in_codes = f" ({codes}). Give the code of one in a column language_code, or a" if differ else ". A"
        raise ChangesRefused(
            f"there are {len(matching)} texts for {place}{in_codes}dd a column position to say which, as in "
            f"catalog.texts: {', '.join(text.position for text in matching)}.",
        )
    return matching[0] if matching else None


def _new_text(
    product: str, record: Product, place: TextPlace, text: str, codes: Mapping[str, frozenset[str]]
) -> Change:
    """Return the change that adds a text to its attribute."""
    _refuse_half(place, text, None)
    attribute, value = place.attribute, record.get(place.root)
    # A nested text belongs to one item of a list, and nobody says to which.
    if "." in attribute:
        raise ChangesRefused(
            f"there is no text yet for {place}, and it is not known which item of {place.root} it belongs to. Send the "
            "whole attribute as a record.",
        )
    if (unusual := unusual_list(value)) is not None:
        raise ChangesRefused(
            f"{attribute} is not a list of texts but {unusual}: {value!r:.60}. A correction never rewrites what is "
            "there. Correct it at its source, or send the whole attribute as a record.",
        )
    texts = value if isinstance(value, list) else []
    language = place.language_code or place.language or ""
    if (odd := _of_another_form(texts, language)) is not None:
        raise ChangesRefused(
            f"{attribute}[{odd}] may be the text in {language}, and is of another form: {texts[odd]!r:.80}. A "
            "correction never rewrites what is there. Correct it at its source, or send the whole attribute as a "
            "record.",
        )
    code = _long_code(record, place, codes)
    item = {"expressedIn": {"code": code}, "data": text}
    change = Change(product, (attribute, Item("language", code)), ABSENT, item)
    try:
        made = apply({attribute: value}, [change])[attribute]
    except PlaceChanged:
        made = None
    # Beside a text of that language without its country, the attribute changes as a whole.
    return change if made == [*texts, item] else Change(product, (attribute,), value, [*texts, item])


def _long_code(record: Product, place: TextPlace, codes: Mapping[str, frozenset[str]]) -> str:
    """Return the long code of a new text's language: as in this product or in the catalogue, else as given."""
    language = place.language_code or place.language or ""
    known = codes.get(short_of(language), frozenset())
    if not is_whole_language(language):
        # In the spelling that is in use: a service takes no other.
        for used in (_own_codes(record), known):
            spelled = sorted(used)
            if len(places := meant_by(language, spelled)) == 1:
                return spelled[places[0]]
    elif place.language_code is not None:
        return place.language_code
    else:
        # The catalogue has the texts of this product, too: where all its texts go by one code, so do those.
        used = known if len(known) == 1 else {one for one in _own_codes(record) if is_meant(one, language)}
        if len(used) == 1:
            return str(*used)
    try:
        code = locales.language_code(language)
    except QueryError as error:
        # A code with its country is sent as it is: services know languages that the CLDR does not.
        if place.language_code is not None:
            return place.language_code
        raise ChangesRefused.saying("{path}: {said}", path=place.attribute, said=said_by(error)) from error
    # The service stores long codes. A short one is only completed if exactly one country is known for it.
    if locales.is_long_code(code):
        return code
    if place.language_code is not None:
        return place.language_code
    choice = ", ".join(sorted(known)) or f"{code}-…"
    raise ChangesRefused.saying(
        "{path} has no text in {code} yet, and its code needs a country. Name the language with it, such as {example} "
        "(of a frame, in a column language_code).",
        path=place.attribute,
        code=repr(place.language),
        example=choice,
    )


def _own_codes(record: Product) -> set[str]:
    """Return the codes of the languages that texts of the product are in."""
    texts = (text for root, value in record.items() for text in texts_of(value, root))
    return {text.code for text in texts if text.code is not None}


def join_changes(changes: Iterable[Change]) -> list[Change]:
    """Return changes that several people ask for, each once, in an order in which none moves the place of another.

    What leads to the same is left out.
    """
    distinct = [one for one in dict.fromkeys(changes) if not is_exact(one.before, one.after)]
    return sorted(distinct, key=_when)


def _when(change: Change) -> tuple[int, int]:
    last = change.path[-1]
    if len(change.path) == 1:
        # What changes as a whole is compared with what is there now.
        return 0, 0
    if change.after is not ABSENT or isinstance(last, str):
        return 1, 0
    # An item that is taken away moves those behind it.
    return (2, -last) if isinstance(last, int) else (3, 0)


def merge_values(record: Product, changes: Iterable[Change]) -> Product:
    """Return the complete values of the attributes that changes of a product change; None takes one away.

    Parameters
    ----------
    record
        The product as received; stays as it is.
    changes
        Its changes, made as one.

    Raises
    ------
    ChangesRefused
        When two of them do not go together, or something in an attribute cannot be written back as it is.

    Examples
    --------
    >>> merge_values({"gtin": "7", "serves": 4, "isTaggedBy": ["new"]}, [Change("7", ("serves",), 4, 6)])
    {'serves': 6}
    """
    several = join_changes(changes)
    try:
        made = _with_all(record, several)
    except PlaceChanged as error:
        there = in_words(error.change.before) or str(error.change.attribute)
        raise ChangesRefused.saying(
            "another answer changes {text} too. Keep one of them.", text=there
        ) from None
    written = {}
    for root in dict.fromkeys(str(one.attribute) for one in several):
        before, after = record.get(root), made.get(root)
        if before == after:
            continue
        if (rewritten := rewritten_container(before, after, root)) is not None:
            raise ChangesRefused(
                f"{rewritten}. A correction changes values, and never what they are wrapped in. Correct it at its "
                "source, or send the whole attribute as a record.",
            )
        _refuse_pending(record, root)
        # Of what is taken away as a whole, nothing has to be writable.
        written[root] = None if after == [] else after
        if written[root] is not None:
            _refuse_unwritable(record, root, after)
    return written


def _with_all(record: Product, changes: Sequence[Change]) -> Product:
    made: Product = apply(record, changes)
    for one in changes:
        # Two new texts, one of them without its country, would be one.
        if is_text(one.after) and not is_exact(found := value_at(made, path_after(one)), one.after):
            raise PlaceChanged(one, found)
    return made


def _refuse_pending(record: Product, root: str) -> None:
    if root in MAINTAINED_BY_SERVICE:
        raise ChangesRefused(f"{root} is maintained by the service and cannot be written.")
    pending = record.get("lastRequest")
    # The service would overwrite the correction when it applies the pending update.
    if isinstance(pending, Mapping) and pending.get(root):
        raise ChangesRefused(
            f"an update of {root} waits for acceptance, so its value may still change. Correct it when the update has "
            "been accepted or refused.",
        )


def _refuse_unwritable(record: Product, root: str, made: Any) -> None:
    """Refuse an attribute with something in it that would be written in another way than the service has it."""
    repeated = record.repeated if isinstance(record, RepeatedKeys) else ()
    if twice := [name for name in (root, "gtin") if name in repeated]:
        raise ChangesRefused(f"the record has the key {twice[0]!r} twice. {_AT_ITS_SOURCE}")
    for value in (record.get(root), made):
        for path, found in unwritable(value, root):
            raise ChangesRefused(
                f"{path} {why_unwritable(found)}, and a write replaces all of {root}. {_AT_ITS_SOURCE}",
            )


_AT_ITS_SOURCE = "It cannot be written back as it is: correct it at its source."


_CONTAINERS = (dict, list)


def texts_of(value: Any, root: str, *, empty: bool = False) -> Iterator[TextItem]:
    """Yield every localized text below a value, in order; with `empty` also items of a language that lack the text."""
    stack: list[tuple[Any, str, tuple[str | int, ...]]] = [(value, root, (root,))]
    while stack:
        at, path, steps = stack.pop()
        if isinstance(at, list):
            inside = [(i, item) for i, item in enumerate(at) if isinstance(item, _CONTAINERS)]
            stack += [(item, path, (*steps, i)) for i, item in reversed(inside)]
        elif isinstance(at, dict):
            data = at.get("data")
            if isinstance(at.get("expressedIn"), dict) and (
                isinstance(data, str) or (empty and data is None)
            ):
                position = ".".join(str(step) for step in steps if isinstance(step, int))
                yield TextItem(path, position, at, steps)
            below = [(key, inner) for key, inner in at.items() if isinstance(inner, _CONTAINERS)]
            stack += [(inner, f"{path}.{key}", (*steps, key)) for key, inner in reversed(below)]


def texts_at(record: Product, attribute: str, *, empty: bool = False) -> list[TextItem]:
    """Return the texts of one attribute of a product, by its wire path; with `empty` also items that lack the text."""
    root = attribute.partition(".")[0]
    return [one for one in texts_of(record.get(root), root, empty=empty) if one.attribute == attribute]


def _of_another_form(texts: Sequence[Any], language: str) -> int | None:
    """Return the place of the first item that may be the text in a language, and cannot be read as one; else None.

    >>> french = {"code": "fra-FR"}
    >>> [_of_another_form([{"expressedIn": french, "data": one}], "fr-FR") for one in (["Riz"], 5, "Riz", None)]
    [0, 0, None, None]
    """
    for place, item in enumerate(texts):
        if not isinstance(item, dict):
            continue
        data, named = item.get("data"), item.get("expressedIn")
        is_text = data is None or isinstance(data, str)
        variant = named if isinstance(named, str) else None
        if isinstance(named, dict):
            variant = TextItem("", "", item).variant
        if is_text and (named is None or isinstance(named, dict)):
            continue
        if variant is None or is_meant(variant, language):
            return place
    return None


def replace_code(described: Any, code: str) -> dict[str, Any]:
    """Return a code value with another code: its label belongs to the old one, everything else to the item.

    >>> replace_code({"code": "COLD", "label": "Cold", "sort": 1}, "DARK")
    {'code': 'DARK', 'sort': 1}
    >>> replace_code({"code": 12, "label": "Twelve"}, "12")
    {'code': 12, 'label': 'Twelve'}
    """
    if not isinstance(described, dict):
        return {"code": code}
    if "code" in described and str(described["code"]) == code:
        return described
    return {name: value for name, value in described.items() if name not in OF_THE_CODE} | {"code": code}


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
