"""Merging corrections into one product: a written array replaces the stored one, so the whole array is written.

Positions are those of the tables: list indexes along the wire path, the outermost first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from prodex import locales
from prodex.errors import ChangesRefused, QueryError
from prodex.locales import short_language
from prodex.send.records import DELETE, MAINTAINED_BY_SERVICE, Product


class Correction(NamedTuple):
    """One correction from a frame.

    Attributes
    ----------
    attribute
        Wire path of a localized text (`productBenefits.text`), or of a value at the top level of the product.
    value
        The new text or value, or DELETE.
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


@dataclass(frozen=True, slots=True)
class Edit:
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


class _Text(NamedTuple):
    """A localized text of a product, and the list or object that contains it."""

    attribute: str
    position: str
    item: dict[str, Any]
    holder: Any

    @property
    def code(self) -> str | None:
        return _string(self.item["expressedIn"].get("code"))

    @property
    def language(self) -> str | None:
        return short_language(self.code, _string(self.item["expressedIn"].get("normalizedCode")))


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
        self._deleted: list[_Text] = []

    def apply(self, correction: Correction) -> Edit | None:
        """Apply one correction; return None if it changes nothing."""
        root = correction.attribute.partition(".")[0]
        if not correction.is_text:
            before = self._product.get(root)
            if before == correction.value or (before is None and correction.value is DELETE):
                return None
            self._values[root] = None if correction.value is DELETE else correction.value
            return Edit(self._gtin, root, None, None, before, correction.value)
        if root not in self._values:
            # A copy, because later corrections are compared with the record as it was loaded.
            self._values[root] = copy.deepcopy(self._product.get(root))
        text = _text_of(list(_texts(self._values[root], root)), correction, self._gtin)
        if text is not None:
            return self._correct(text, correction)
        if correction.value is DELETE:
            return None
        self._values[root] = _with_new(self._values[root], correction, self._product, self._codes, self._gtin)
        return Edit(
            self._gtin,
            correction.attribute,
            None,
            correction.language or correction.language_code,
            None,
            correction.value,
        )

    def _correct(self, text: _Text, correction: Correction) -> Edit | None:
        before = text.item["data"]
        # Two rows of a frame may be about one text if they agree, as they do after a join.
        if self._by_text.setdefault(id(text.item), correction).value != correction.value:
            raise ChangesRefused(
                f"GTIN {self._gtin}: two different texts were given for {_named(correction)}. Keep one of them."
            )
        if before == correction.value:
            return None
        if correction.value is DELETE:
            self._deleted.append(text)
        else:
            text.item["data"] = correction.value
        return Edit(
            self._gtin,
            correction.attribute,
            text.position,
            text.language or text.code,
            before,
            correction.value,
        )

    def finished(self, corrected: set[str]) -> Product:
        """Return the corrected attributes as they are to be written."""
        for root in corrected:
            _refuse_pending(self._product, root, self._gtin)
        for text in self._deleted:  # at the end, since deletions shift the positions of other texts
            _remove(text, self._gtin)
        return {
            root: None if value == [] else value for root, value in self._values.items() if root in corrected
        }


def _texts(value: Any, root: str) -> Iterator[_Text]:
    """Yield every localized text below a value, in order."""
    stack: list[tuple[Any, str, tuple[int, ...], Any]] = [(value, root, (), None)]
    while stack:
        at, path, position, holder = stack.pop()
        if isinstance(at, list):
            stack += [(item, path, (*position, i), at) for i, item in reversed(list(enumerate(at)))]
        elif isinstance(at, dict):
            if isinstance(at.get("expressedIn"), dict) and isinstance(at.get("data"), str):
                yield _Text(path, ".".join(map(str, position)), at, holder)
            stack += [(inner, f"{path}.{key}", position, at) for key, inner in reversed(at.items())]


def _text_of(texts: list[_Text], correction: Correction, gtin: str) -> _Text | None:
    """Return the text that a correction is about; None for a new text."""
    here = [text for text in texts if text.attribute == correction.attribute]
    if correction.position is not None:
        at = next((text for text in here if text.position == correction.position), None)
        if at is None or not _is_in_language(at, correction):
            found = "no text" if at is None else f"a text in {at.code or at.language}"
            raise ChangesRefused(
                f"GTIN {gtin}: at {_named(correction)} the catalogue has {found}. Take the frame from catalog.texts of "
                "the same catalogue, and keep its column position; leave it out (None) for a text that is new."
            )
        return at
    matching = [text for text in here if _is_in_language(text, correction)]
    if len(matching) > 1:
        raise ChangesRefused(
            f"GTIN {gtin}: there are {len(matching)} texts for {_named(correction)}. Add a column position to say "
            f"which, as in catalog.texts: {', '.join(text.position for text in matching)}."
        )
    return matching[0] if matching else None


def _is_in_language(text: _Text, correction: Correction) -> bool:
    if correction.language_code is not None and correction.language_code != text.code:
        return False
    if correction.language is None or correction.language_code is not None:
        return True
    return correction.language.casefold() in {name.casefold() for name in (text.language, text.code) if name}


def _with_new(
    value: Any,
    correction: Correction,
    product: Mapping[str, Any],
    codes: Mapping[str, frozenset[str]],
    gtin: str,
) -> Any:
    """Return the attribute with an additional text."""
    # A nested text belongs to one item of a list, and a frame does not say to which.
    if "." in correction.attribute:
        raise ChangesRefused(
            f"GTIN {gtin}: there is no text yet for {_named(correction)}, and it is not known which item of "
            f"{correction.attribute.partition('.')[0]} it belongs to. Send the whole attribute as a record."
        )
    if value is not None and not isinstance(value, list):
        raise ChangesRefused(
            f"GTIN {gtin}: {correction.attribute} is not a list of texts but {value!r:.60}. "
            "Send the whole attribute as a record."
        )
    return [
        *(value or []),
        {"expressedIn": {"code": _long_code(correction, product, codes, gtin)}, "data": correction.value},
    ]


def _long_code(
    correction: Correction, product: Mapping[str, Any], codes: Mapping[str, frozenset[str]], gtin: str
) -> str:
    """Return the long code of a new text's language: as given, else as used in this product or in the catalogue."""
    if correction.language_code is not None:
        return correction.language_code
    language = correction.language or ""
    own = {text.code for root in product for text in _texts(product[root], root) if text.language == language}
    for used in (own - {None}, codes.get(language, frozenset())):
        if len(used) == 1:
            return str(*used)
    try:
        code = locales.language_code(language)
    except QueryError as error:
        raise ChangesRefused(f"GTIN {gtin}, {correction.attribute}: {error}") from error
    # The service stores long codes. A short one is only completed if the catalogue knows exactly one country for it.
    if len(code) == len("fra-FR"):
        return code
    choice = ", ".join(sorted(codes.get(language, ()))) or f"{code}-..."
    raise ChangesRefused(
        f"GTIN {gtin}: {correction.attribute} has no text in {language!r} yet, and its code needs a country. Give a "
        f"column language_code, such as {choice}."
    )


def _remove(text: _Text, gtin: str) -> None:
    if not isinstance(text.holder, list):
        raise ChangesRefused(
            f"GTIN {gtin}: the text at {text.attribute} is not in a list, so it cannot be deleted alone. "
            "Send the whole attribute as a record."
        )
    text.holder[:] = [item for item in text.holder if item is not text.item]


def _refuse_pending(product: Mapping[str, Any], root: str, gtin: str) -> None:
    if root in MAINTAINED_BY_SERVICE:
        raise ChangesRefused(f"GTIN {gtin}: {root} is maintained by the service and cannot be written.")
    pending = product.get("lastRequest")
    if isinstance(pending, Mapping) and pending.get(root):
        raise ChangesRefused(
            f"GTIN {gtin}: an update of {root} is pending under lastRequest, so its value may still change. Correct it "
            "when the update has been accepted or refused."
        )


def _named(correction: Correction) -> str:
    language = correction.language_code or correction.language or "no language"
    place = "" if correction.position is None else f" at position {correction.position!r}"
    return f"{correction.attribute} in {language}{place}"


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
