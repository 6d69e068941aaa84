"""Merging corrections into one product: a written array replaces the stored one, so the whole array is written.

Positions are those of the tables: list indexes along the wire path, the outermost first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from prodex import locales
from prodex.changes import MAINTAINED_BY_SERVICE, OF_THE_CODE
from prodex.errors import ChangesRefused, QueryError
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


class Correction(NamedTuple):
    """One correction from a frame.

    Attributes
    ----------
    attribute
        Wire path of a localized text (`productBenefits.text`), or of a value at the top level of the product.
    value
        The new text or value, or DELETE; for what is more than a value, a function that returns the new value of the
        attribute from the present one, which it leaves as it is.
    is_text
        Whether it is a localized text.
    position
        The position of the text in the attribute, as in `catalog.texts`, or None.
    language, language_code
        The language in the short and the long form; one of them is enough.
    """

    attribute: str
    value: Any
    is_text: bool = True
    position: str | None = None
    language: str | None = None
    language_code: str | None = None


class Edit(NamedTuple):
    """One change: a correction with the old value.

    Attributes
    ----------
    gtin, attribute, position, language
        Where it is. Position and language are None for a value that is not a text, position also for a new text. Where
        an attribute has several texts of one language, the language is the code of that text.
    before, after
        The old value, or None; the new one, or DELETE.
    """

    gtin: str
    attribute: str
    position: str | None
    language: str | None
    before: Any
    after: Any


class TextItem(NamedTuple):
    """A localized text of a product, and the list or object that contains it."""

    attribute: str
    position: str
    item: dict[str, Any]
    holder: Any

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


def merged(
    product: Mapping[str, Any], corrections: Iterable[Correction], codes: Mapping[str, frozenset[str]]
) -> tuple[Product, list[Edit]]:
    """Return the complete values of the corrected attributes of a product, and the actual changes.

    Parameters
    ----------
    product
        The record as received.
    corrections
        Its corrections.
    codes
        The long language codes of each short one, for texts in a language that is new in this product.

    Raises
    ------
    ChangesRefused
        When it is not certain which of several texts a correction means, or in which language a new one is.
    """
    work = _CorrectedProduct(product, codes)
    made = [one for correction in corrections if (one := work.apply(correction)) is not None]
    edits = [work.named(edit, code) for edit, code in made]
    return work.finished({edit.attribute.partition(".")[0] for edit in edits}), edits


class _CorrectedProduct:
    """A product with copies of its corrected attributes."""

    def __init__(self, product: Mapping[str, Any], codes: Mapping[str, frozenset[str]]) -> None:
        self._product = product
        self._codes = codes
        self._gtin = str(product.get("gtin"))
        self._values: Product = {}
        self._by_text: dict[int, Correction] = {}
        self._deleted: list[TextItem] = []

    def apply(self, correction: Correction) -> tuple[Edit, str | None] | None:
        """Apply one correction; return the edit and the code of its language, or None if it changes nothing."""
        root = correction.attribute.partition(".")[0]
        new = None if correction.value is DELETE else correction.value
        if not correction.is_text:
            before = self._values.get(root, self._product.get(root))
            if callable(new):
                new = new(before)
            if before == new:
                return None
            if (rewritten := rewritten_container(before, new, root)) is not None:
                raise self._refused(
                    f"{rewritten}. A correction changes values, and never what they are wrapped in. Correct it at its "
                    "source, or send the whole attribute as a record."
                )
            self._values[root] = new
            # Nothing is left of an attribute: `finished` deletes it.
            after = DELETE if new is None or new == [] else new
            return self._edit(correction._replace(value=after), None, None, before), None
        if root not in self._values:
            # A copy, because later corrections are compared with the record as it was loaded.
            self._values[root] = copy.deepcopy(self._product.get(root))
        text = self._text_of(correction)
        if text is not None:
            return self._correct(text, correction)
        if new is None:
            return None
        self._values[root] = self._with_new(self._values[root], correction)
        added = self._values[root][-1]["expressedIn"]["code"]
        return self._edit(correction, None, correction.language or correction.language_code, None), added

    def named(self, edit: Edit, code: str | None) -> Edit:
        """Return an edit with the code of its language, where its attribute has another text of that language."""
        if code is None:
            return edit
        root = edit.attribute.partition(".")[0]
        variants = {
            tag_of(one.variant)
            for one in texts_of(self._values[root], root)
            if one.attribute == edit.attribute and one.variant is not None
        }
        return edit if len(meant_by(short_of(code), list(variants))) < 2 else edit._replace(language=code)

    def finished(self, corrected: set[str]) -> Product:
        """Return the corrected attributes as they are to be written."""
        for root in corrected:
            self._refuse_pending(root)
            self._refuse_unwritable(root)
        for text in self._deleted:  # at the end, since deletions shift the positions of other texts
            self._remove(text)
        return {
            root: None if value == [] else value for root, value in self._values.items() if root in corrected
        }

    def _edit(self, correction: Correction, position: str | None, language: str | None, before: Any) -> Edit:
        return Edit(self._gtin, correction.attribute, position, language, before, correction.value)

    def _correct(self, text: TextItem, correction: Correction) -> tuple[Edit, str | None] | None:
        before = text.data
        # Two rows of a frame may be about one text if they agree, as they do after a join.
        # Known by identity, since two texts of a product may be equal.
        if self._by_text.setdefault(id(text.item), correction).value != correction.value:
            raise self._refused(
                f"two different texts were given for {_correction_in_words(correction)}. Keep one of them."
            )
        # Tables show half of a surrogate pair as its escape; whoever leaves that in a frame leaves the text. Of an item
        # without a text, nothing is to be taken away.
        shown = None if before is None else storable(before)
        if correction.value in (before, shown) or (before is None and correction.value is DELETE):
            return None
        if correction.value is DELETE:
            self._deleted.append(text)
        elif halves := [one for one in halves_of(before or "") if storable(one) in correction.value.lower()]:
            raise self._refused(
                f"{_correction_in_words(correction)} has half of a character (U+{ord(halves[0]):04X}), which tables "
                f"show as the letters {storable(halves[0])}: these would be written in its place. Leave them out."
            )
        else:
            text.item["data"] = correction.value
        # An item that gets its text is a new text for whoever looks at texts.
        position = None if before is None else text.position
        return self._edit(correction, position, text.sent_language or text.code, before), text.code

    def _text_of(self, correction: Correction) -> TextItem | None:
        """Return the text that a correction is about, or the item that lacks it; None for a new text."""
        root = correction.attribute.partition(".")[0]
        items = [
            one
            for one in texts_of(self._values[root], root, empty=True)
            if one.attribute == correction.attribute
        ]
        if not items and (place := numbered_place(self._values[root], root)) is not None:
            raise self._refused(
                f"{place} is an object with numbers as keys in place of a list. A correction never rewrites what is "
                "there. Correct it at its source, or send the whole attribute as a record."
            )
        here = [one for one in items if one.data is not None]
        language, code = correction.language, correction.language_code
        if correction.position is not None:
            at = next((text for text in here if text.position == correction.position), None)
            if at is None or not texts_meant([at], language, code):
                found = "no text" if at is None else f"a text in {at.code or at.sent_language}"
                raise self._refused(
                    f"at {_correction_in_words(correction)} the catalogue has {found}. Take the frame from "
                    "catalog.texts of the same catalogue, and keep its column position; leave it out (None) "
                    "for a text that is new."
                )
            return at
        if not (matching := texts_meant(here, language, code)):
            empty = texts_meant([one for one in items if one.data is None], language, code)
            # Of items that are equal in everything, whichever gets the text, it is the same.
            matching = empty[:1] if all(one.item == empty[0].item for one in empty) else empty
        if len(matching) > 1:
            codes = codes_in_words(one.variant for one in matching)
            differ = len({tag_of(str(one.variant)) for one in matching}) > 1
            in_codes = (
                f" ({codes}). Give the code of one in a column language_code, or a" if differ else ". A"
            )
            raise self._refused(
                f"there are {len(matching)} texts for {_correction_in_words(correction)}{in_codes}dd a column position "
                f"to say which, as in catalog.texts: {', '.join(text.position for text in matching)}."
            )
        return matching[0] if matching else None

    def _with_new(self, value: Any, correction: Correction) -> Any:
        """Return the attribute with an additional text."""
        # A nested text belongs to one item of a list, and a frame does not say to which.
        if "." in correction.attribute:
            raise self._refused(
                f"there is no text yet for {_correction_in_words(correction)}, and it is not known which item of "
                f"{correction.attribute.partition('.')[0]} it belongs to. Send the whole attribute as a record."
            )
        if (unusual := unusual_list(value)) is not None:
            raise self._refused(
                f"{correction.attribute} is not a list of texts but {unusual}: {value!r:.60}. A correction never "
                "rewrites what is there. Correct it at its source, or send the whole attribute as a record."
            )
        texts = value if isinstance(value, list) else []
        language = correction.language_code or correction.language or ""
        if (place := _of_another_form(texts, language)) is not None:
            raise self._refused(
                f"{correction.attribute}[{place}] may be the text in {language}, and is of another form: "
                f"{texts[place]!r:.80}. A correction never rewrites what is there. Correct it at its source, or send "
                "the whole attribute as a record."
            )
        # Into the same list: a text that another correction deletes is taken out of that in the end.
        item = {"expressedIn": {"code": self._long_code(correction)}, "data": correction.value}
        self._by_text[id(item)] = correction
        texts.append(item)
        return texts

    def _long_code(self, correction: Correction) -> str:
        """Return the long code of a new text's language: as in this product or in the catalogue, else as given."""
        language = correction.language_code or correction.language or ""
        known = self._codes.get(short_of(language), frozenset())
        if not is_whole_language(language):
            # In the spelling that is in use: a service takes no other.
            for used in (self._own_codes(), known):
                spelled = sorted(used)
                if len(places := meant_by(language, spelled)) == 1:
                    return spelled[places[0]]
        elif correction.language_code is not None:
            return correction.language_code
        else:
            # The catalogue has the texts of this product, too: where all its texts go by one code, so do those.
            used = known if len(known) == 1 else {one for one in self._own_codes() if is_meant(one, language)}
            if len(used) == 1:
                return str(*used)
        try:
            code = locales.language_code(language)
        except QueryError as error:
            # A code with its country is sent as it is: services know languages that the CLDR does not.
            if correction.language_code is not None:
                return correction.language_code
            raise ChangesRefused(f"GTIN {self._gtin}, {correction.attribute}: {error}") from error
        # The service stores long codes. A short one is only completed if exactly one country is known for it.
        if locales.is_long_code(code):
            return code
        if correction.language_code is not None:
            return correction.language_code
        choice = ", ".join(sorted(known)) or f"{code}-..."
        raise self._refused(
            f"{correction.attribute} has no text in {correction.language!r} yet, and its code needs a country. Give a "
            f"column language_code, such as {choice}."
        )

    def _own_codes(self) -> set[str]:
        """Return the codes of the languages that texts of the product are in."""
        texts = (text for root, value in self._product.items() for text in texts_of(value, root))
        return {text.code for text in texts if text.code is not None}

    def _remove(self, text: TextItem) -> None:
        if not isinstance(text.holder, list):
            raise self._refused(
                f"the text at {text.attribute} is not in a list, so it cannot be deleted alone. Send the whole "
                "attribute as a record."
            )
        text.holder[:] = [item for item in text.holder if item is not text.item]

    def _refuse_pending(self, root: str) -> None:
        if root in MAINTAINED_BY_SERVICE:
            raise self._refused(f"{root} is maintained by the service and cannot be written.")
        pending = self._product.get("lastRequest")
        # The service would overwrite the correction when it applies the pending update.
        if isinstance(pending, Mapping) and pending.get(root):
            raise self._refused(
                f"an update of {root} waits for acceptance, so its value may still change. Correct it when the "
                "update has been accepted or refused."
            )

    def _refuse_unwritable(self, root: str) -> None:
        """Refuse an attribute with something in it that would be written in another way than the service has it."""
        made = self._values[root]
        if made is None or made == []:
            return  # all of it is taken away
        repeated = self._product.repeated if isinstance(self._product, RepeatedKeys) else ()
        if twice := [name for name in (root, "gtin") if name in repeated]:
            raise self._refused(f"the record has the key {twice[0]!r} twice. {_AT_ITS_SOURCE}")
        for value in (self._product.get(root), made):
            for path, found in unwritable(value, root):
                raise self._refused(
                    f"{path} {why_unwritable(found)}, and a write replaces all of {root}. {_AT_ITS_SOURCE}"
                )

    def _refused(self, why: str) -> ChangesRefused:
        return ChangesRefused(f"GTIN {self._gtin}: {why}")


_AT_ITS_SOURCE = "It cannot be written back as it is: correct it at its source."


def texts_of(value: Any, root: str, *, empty: bool = False) -> Iterator[TextItem]:
    """Yield every localized text below a value, in order; with `empty` also items of a language that lack the text."""
    stack: list[tuple[Any, str, tuple[int, ...], Any]] = [(value, root, (), None)]
    while stack:
        at, path, position, holder = stack.pop()
        if isinstance(at, list):
            stack += [(item, path, (*position, i), at) for i, item in reversed(list(enumerate(at)))]
        elif isinstance(at, dict):
            data = at.get("data")
            if isinstance(at.get("expressedIn"), dict) and (
                isinstance(data, str) or (empty and data is None)
            ):
                yield TextItem(path, ".".join(map(str, position)), at, holder)
            stack += [(inner, f"{path}.{key}", position, at) for key, inner in reversed(at.items())]


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
            variant = TextItem("", "", item, None).variant
        if is_text and (named is None or isinstance(named, dict)):
            continue
        if variant is None or is_meant(variant, language):
            return place
    return None


def recoded(described: Any, code: str) -> dict[str, Any]:
    """Return a code value with another code: its label belongs to the old one, everything else to the item.

    >>> recoded({"code": "COLD", "label": "Cold", "sort": 1}, "DARK"), recoded({"code": 12, "label": "Twelve"}, "12")
    ({'code': 'DARK', 'sort': 1}, {'code': 12, 'label': 'Twelve'})
    """
    if not isinstance(described, dict):
        return {"code": code}
    if "code" in described and str(described["code"]) == code:
        return described
    return {name: value for name, value in described.items() if name not in OF_THE_CODE} | {"code": code}


def _correction_in_words(correction: Correction) -> str:
    language = correction.language_code or correction.language or "no language"
    place = "" if correction.position is None else f" at position {correction.position!r}"
    return f"{correction.attribute} in {language}{place}"


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
