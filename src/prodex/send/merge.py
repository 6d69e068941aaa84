"""Merging corrections into what stands in one product: a written array replaces the whole, so the whole is written.

The positions are those of the tables: list indexes along the wire path, outermost first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from prodex import locales
from prodex.errors import ChangesRefused, QueryError
from prodex.locales import short_language
from prodex.send.records import DELETE, KEPT_BY_THE_SERVICE, Product


class Correction(NamedTuple):
    """One correction as a frame has it.

    Attributes
    ----------
    attribute
        Wire path: of a localized text (`productBenefits.text`), or of a value at the top of the product.
    value
        The new text or value, or DELETE.
    is_text
        Whether it is a localized text.
    position
        Which text of the attribute, as `catalog.texts` has it, or None.
    language, language_code
        Its language in the short and the long form; one of them is enough.
    """

    attribute: str
    value: Any
    is_text: bool = True
    position: str | None = None
    language: str | None = None
    language_code: str | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """One correction, with what it replaces.

    Attributes
    ----------
    gtin, attribute, position, language
        Where it is; position and language are None for what is no text, and position for a new text.
    before, after
        The old value, None where there was none; the new one, or DELETE.
    """

    gtin: str
    attribute: str
    position: str | None
    language: str | None
    before: Any
    after: Any


class _Text(NamedTuple):
    """A localized text of a product, and the list or object that holds it."""

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
    product: Mapping[str, Any], wishes: Iterable[Correction], codes: Mapping[str, frozenset[str]]
) -> tuple[Product, list[Edit]]:
    """Return the attributes of a product that corrections touch, whole, and the corrections that change something.

    Parameters
    ----------
    product
        The record as received.
    wishes
        What to correct in it.
    codes
        The long language codes that are in use for each short one, for texts in a language that is new here.

    Raises
    ------
    ChangesRefused
        When a correction does not say which of several texts it means, or in which language a new one is.
    """
    work = _Work(product, codes)
    edits = [edit for wish in wishes if (edit := work.apply(wish)) is not None]
    return work.finished({edit.attribute.partition(".")[0] for edit in edits}), edits


class _Work:
    """One product while it is corrected: copies of the attributes that are touched."""

    def __init__(self, product: Mapping[str, Any], codes: Mapping[str, frozenset[str]]) -> None:
        self._product = product
        self._codes = codes
        self._gtin = str(product.get("gtin"))
        self._values: Product = {}
        self._aims: dict[int, Correction] = {}
        self._gone: list[_Text] = []

    def apply(self, wish: Correction) -> Edit | None:
        """Do what one correction asks for; None when that changes nothing."""
        root = wish.attribute.partition(".")[0]
        if not wish.is_text:
            before = self._product.get(root)
            if before == wish.value or (before is None and wish.value is DELETE):
                return None
            self._values[root] = None if wish.value is DELETE else wish.value
            return Edit(self._gtin, root, None, None, before, wish.value)
        if root not in self._values:
            self._values[root] = copy.deepcopy(self._product.get(root))
        text = _aimed_at(list(_texts(self._values[root], root)), wish, self._gtin)
        if text is not None:
            return self._correct(text, wish)
        if wish.value is DELETE:
            return None
        self._values[root] = _with_new(self._values[root], wish, self._product, self._codes, self._gtin)
        return Edit(self._gtin, wish.attribute, None, wish.language or wish.language_code, None, wish.value)

    def _correct(self, text: _Text, wish: Correction) -> Edit | None:
        before = text.item["data"]
        if self._aims.setdefault(id(text.item), wish).value != wish.value:
            raise ChangesRefused(
                f"GTIN {self._gtin}: two different texts were given for {_named(wish)}. Keep one of them."
            )
        if before == wish.value:
            return None
        if wish.value is DELETE:
            self._gone.append(text)
        else:
            text.item["data"] = wish.value
        return Edit(self._gtin, wish.attribute, text.position, text.language or text.code, before, wish.value)

    def finished(self, touched: set[str]) -> Product:
        """Return the touched attributes as they are to be written."""
        for root in touched:
            _refuse_unsettled(self._product, root, self._gtin)
        for text in self._gone:  # only now, since positions count what is there
            _remove(text, self._gtin)
        return {
            root: None if value == [] else value for root, value in self._values.items() if root in touched
        }


def _texts(value: Any, root: str) -> Iterator[_Text]:
    """Yield every localized text below a value, in its order."""
    waiting: list[tuple[Any, str, tuple[int, ...], Any]] = [(value, root, (), None)]
    while waiting:
        at, path, position, holder = waiting.pop()
        if isinstance(at, list):
            waiting += [(item, path, (*position, i), at) for i, item in reversed(list(enumerate(at)))]
        elif isinstance(at, dict):
            if isinstance(at.get("expressedIn"), dict) and isinstance(at.get("data"), str):
                yield _Text(path, ".".join(map(str, position)), at, holder)
            waiting += [(inner, f"{path}.{key}", position, at) for key, inner in reversed(at.items())]


def _aimed_at(texts: list[_Text], wish: Correction, gtin: str) -> _Text | None:
    """Return the text that a correction means, None when it means a new one."""
    here = [text for text in texts if text.attribute == wish.attribute]
    if wish.position is not None:
        at = next((text for text in here if text.position == wish.position), None)
        if at is None or not _speaks(at, wish):
            found = "no text" if at is None else f"a text in {at.code or at.language}"
            raise ChangesRefused(
                f"GTIN {gtin}: at {_named(wish)} the catalogue has {found}. Take the frame from catalog.texts of the "
                "same catalogue, and keep its column position; leave it out (None) for a text that is new."
            )
        return at
    spoken = [text for text in here if _speaks(text, wish)]
    if len(spoken) > 1:
        raise ChangesRefused(
            f"GTIN {gtin}: there are {len(spoken)} texts for {_named(wish)}. Say which one is meant with a column "
            f"position, as catalog.texts has it: {', '.join(text.position for text in spoken)}."
        )
    return spoken[0] if spoken else None


def _speaks(text: _Text, wish: Correction) -> bool:
    if wish.language_code is not None and wish.language_code != text.code:
        return False
    if wish.language is None or wish.language_code is not None:
        return True
    return wish.language.casefold() in {name.casefold() for name in (text.language, text.code) if name}


def _with_new(
    value: Any, wish: Correction, product: Mapping[str, Any], codes: Mapping[str, frozenset[str]], gtin: str
) -> Any:
    """Return the attribute with one more text."""
    if "." in wish.attribute:
        raise ChangesRefused(
            f"GTIN {gtin}: there is no text yet for {_named(wish)}, and nobody can tell which item of "
            f"{wish.attribute.partition('.')[0]} it belongs to. Send the whole attribute as a record."
        )
    if value is not None and not isinstance(value, list):
        raise ChangesRefused(
            f"GTIN {gtin}: {wish.attribute} is no list of texts but {value!r:.60}. "
            "Send the whole attribute as a record."
        )
    return [
        *(value or []),
        {"expressedIn": {"code": _long_code(wish, product, codes, gtin)}, "data": wish.value},
    ]


def _long_code(
    wish: Correction, product: Mapping[str, Any], codes: Mapping[str, frozenset[str]], gtin: str
) -> str:
    """Return the long code of a new text's language: as given, else as this product or the catalogue writes it."""
    if wish.language_code is not None:
        return wish.language_code
    language = wish.language or ""
    own = {text.code for root in product for text in _texts(product[root], root) if text.language == language}
    for used in (own - {None}, codes.get(language, frozenset())):
        if len(used) == 1:
            return str(*used)
    try:
        code = locales.language_code(language)
    except QueryError as error:
        raise ChangesRefused(f"GTIN {gtin}, {wish.attribute}: {error}") from error
    if len(code) == len("fra-FR"):
        return code
    choice = ", ".join(sorted(codes.get(language, ()))) or f"{code}-..."
    raise ChangesRefused(
        f"GTIN {gtin}: {wish.attribute} has no text in {language!r} yet, and its code needs a country. Give a column "
        f"language_code, such as {choice}."
    )


def _remove(text: _Text, gtin: str) -> None:
    if not isinstance(text.holder, list):
        raise ChangesRefused(
            f"GTIN {gtin}: the text at {text.attribute} stands alone and not in a list, so it cannot be deleted by "
            "itself. Send the whole attribute as a record."
        )
    text.holder[:] = [item for item in text.holder if item is not text.item]


def _refuse_unsettled(product: Mapping[str, Any], root: str, gtin: str) -> None:
    if root in KEPT_BY_THE_SERVICE:
        raise ChangesRefused(f"GTIN {gtin}: {root} is kept by the service and cannot be written.")
    pending = product.get("lastRequest")
    if isinstance(pending, Mapping) and pending.get(root):
        raise ChangesRefused(
            f"GTIN {gtin}: an update of {root} waits under lastRequest, so its current content is not settled. Correct "
            "it when the update was accepted or refused."
        )


def _named(wish: Correction) -> str:
    language = wish.language_code or wish.language or "no language"
    place = "" if wish.position is None else f" at position {wish.position!r}"
    return f"{wish.attribute} in {language}{place}"


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
