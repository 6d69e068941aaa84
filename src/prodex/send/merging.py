"""Merging corrections into one product: a written array replaces the stored one, so the whole array is written.

Positions are those of the tables: list indexes along the wire path, the outermost first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from prodex import locales
from prodex.errors import ChangesRefused, QueryError
from prodex.locales import is_whole_language, short_language, short_of
from prodex.send.attribute_types import CODE_VALUE, LANGUAGE
from prodex.send.records import DELETE, MAINTAINED_BY_SERVICE, Product
from prodex.tables.containers import numbered_place, rewritten_container, unusual_list


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
        Where it is. Position and language are None for a value that is not a text, position also for a new text.
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
    edits = [edit for correction in corrections if (edit := work.apply(correction)) is not None]
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

    def apply(self, correction: Correction) -> Edit | None:
        """Apply one correction; return None if it changes nothing."""
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
            return self._edit(correction._replace(value=after), None, None, before)
        if root not in self._values:
            # A copy, because later corrections are compared with the record as it was loaded.
            self._values[root] = copy.deepcopy(self._product.get(root))
        text = self._text_of(correction)
        if text is not None:
            return self._correct(text, correction)
        if new is None:
            return None
        self._values[root] = self._with_new(self._values[root], correction)
        return self._edit(correction, None, correction.language or correction.language_code, None)

    def finished(self, corrected: set[str]) -> Product:
        """Return the corrected attributes as they are to be written."""
        for root in corrected:
            self._refuse_pending(root)
        for text in self._deleted:  # at the end, since deletions shift the positions of other texts
            self._remove(text)
        return {
            root: None if value == [] else value for root, value in self._values.items() if root in corrected
        }

    def _edit(self, correction: Correction, position: str | None, language: str | None, before: Any) -> Edit:
        return Edit(self._gtin, correction.attribute, position, language, before, correction.value)

    def _correct(self, text: TextItem, correction: Correction) -> Edit | None:
        before = text.item["data"]
        # Two rows of a frame may be about one text if they agree, as they do after a join.
        # Known by identity, since two texts of a product may be equal.
        if self._by_text.setdefault(id(text.item), correction).value != correction.value:
            raise self._refused(
                f"two different texts were given for {_correction_in_words(correction)}. Keep one of them."
            )
        if before == correction.value:
            return None
        if correction.value is DELETE:
            self._deleted.append(text)
        else:
            text.item["data"] = correction.value
        return self._edit(correction, text.position, text.sent_language or text.code, before)

    def _text_of(self, correction: Correction) -> TextItem | None:
        """Return the text that a correction is about; None for a new text."""
        root = correction.attribute.partition(".")[0]
        here = [one for one in texts_of(self._values[root], root) if one.attribute == correction.attribute]
        if not here and (place := numbered_place(self._values[root], root)) is not None:
            raise self._refused(
                f"{place} is an object with numbers as keys in place of a list. A correction never rewrites what is "
                "there. Correct it at its source, or send the whole attribute as a record."
            )
        if correction.position is not None:
            at = next((text for text in here if text.position == correction.position), None)
            if at is None or not _is_in_language(at, correction):
                found = "no text" if at is None else f"a text in {at.code or at.sent_language}"
                raise self._refused(
                    f"at {_correction_in_words(correction)} the catalogue has {found}. Take the frame from "
                    "catalog.texts of the same catalogue, and keep its column position; leave it out (None) "
                    "for a text that is new."
                )
            return at
        # A text under exactly this code is preferred to one of the same language under another code.
        matching = [text for text in here if _is_called(text, correction)]
        matching = matching or [text for text in here if _is_in_language(text, correction)]
        if len(matching) > 1:
            raise self._refused(
                f"there are {len(matching)} texts for {_correction_in_words(correction)}. Add a column position to say "
                f"which, as in catalog.texts: {', '.join(text.position for text in matching)}."
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
        if value is not None and not isinstance(value, list):
            value = None
        texts = [] if value is None else value
        # Into the same list: a text that another correction deletes is taken out of that in the end.
        texts.append({"expressedIn": {"code": self._long_code(correction)}, "data": correction.value})
        return texts

    def _long_code(self, correction: Correction) -> str:
        """Return the long code of a new text's language: as given, else as in this product or in the catalogue."""
        if correction.language_code is not None:
            return correction.language_code
        language = short_of(correction.language or "")
        # The catalogue has the texts of this product, too: where all its texts go by one code, so do those.
        if len(in_use := self._codes.get(language, frozenset())) == 1:
            return str(*in_use)
        texts = (text for root, value in self._product.items() for text in texts_of(value, root))
        own = {text.code for text in texts if text.language == language}
        for used in (own - {None}, self._codes.get(language, frozenset())):
            if len(used) == 1:
                return str(*used)
        try:
            code = locales.language_code(correction.language or "")
        except QueryError as error:
            raise ChangesRefused(f"GTIN {self._gtin}, {correction.attribute}: {error}") from error
        # The service stores long codes. A short one is only completed if exactly one country is known for it.
        if locales.is_long_code(code):
            return code
        choice = ", ".join(sorted(self._codes.get(language, ()))) or f"{code}-..."
        raise self._refused(
            f"{correction.attribute} has no text in {correction.language!r} yet, and its code needs a country. Give a "
            f"column language_code, such as {choice}."
        )

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

    def _refused(self, why: str) -> ChangesRefused:
        return ChangesRefused(f"GTIN {self._gtin}: {why}")


def texts_of(value: Any, root: str) -> Iterator[TextItem]:
    """Yield every localized text below a value, in order."""
    stack: list[tuple[Any, str, tuple[int, ...], Any]] = [(value, root, (), None)]
    while stack:
        at, path, position, holder = stack.pop()
        if isinstance(at, list):
            stack += [(item, path, (*position, i), at) for i, item in reversed(list(enumerate(at)))]
        elif isinstance(at, dict):
            if isinstance(at.get("expressedIn"), dict) and isinstance(at.get("data"), str):
                yield TextItem(path, ".".join(map(str, position)), at, holder)
            stack += [(inner, f"{path}.{key}", position, at) for key, inner in reversed(at.items())]


#: What describes a code: it is that of the code, and of no other.
_OF_THE_CODE = (CODE_VALUE.keys() | LANGUAGE.keys()) - {"code"}


def recoded(described: Any, code: str) -> dict[str, Any]:
    """Return a code value with another code: its label belongs to the old one, everything else to the item.

    >>> recoded({"code": "COLD", "label": "Cold", "sort": 1}, "DARK"), recoded({"code": 12, "label": "Twelve"}, "12")
    ({'code': 'DARK', 'sort': 1}, {'code': 12, 'label': 'Twelve'})
    """
    if not isinstance(described, dict):
        return {"code": code}
    if "code" in described and str(described["code"]) == code:
        return described
    return {name: value for name, value in described.items() if name not in _OF_THE_CODE} | {"code": code}


def _is_in_language(text: TextItem, correction: Correction) -> bool:
    """Whether a text is in the language of a correction, under whatever code where it names no country."""
    if _is_called(text, correction):
        return True
    language = None if correction.language_code is not None else correction.language
    return language is not None and is_whole_language(language) and short_of(language) == text.language


def _is_called(text: TextItem, correction: Correction) -> bool:
    if correction.language_code is not None and correction.language_code != text.code:
        return False
    if correction.language is None or correction.language_code is not None:
        return True
    return correction.language.casefold() in {
        name.casefold() for name in (text.sent_language, text.code) if name
    }


def _correction_in_words(correction: Correction) -> str:
    language = correction.language_code or correction.language or "no language"
    place = "" if correction.position is None else f" at position {correction.position!r}"
    return f"{correction.attribute} in {language}{place}"


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
