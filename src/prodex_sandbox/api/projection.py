"""The projection of records: which fields a reply holds, in which languages, and with which labels.

A record is decoded only as far as needed. Where nothing asks for a change, its stored bytes are served; a change inside
one attribute decodes that attribute alone. Settings add deviations from the specification that services were seen to
have: codes as integers, and blanks of several kinds.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import msgspec

from prodex_sandbox.raw_json import decode, encode, joined, members
from prodex_sandbox.records.upsert import SET_BY_EXCHANGE

#: Attributes with codes of brands and kinds in them.
_WITH_CODES: Final = ("brand", "kind", "specializes", "lastRequest")
_CODE_VALUES: Final = frozenset({"brand", "kind", "isBrandedBy"})
#: Codes that an integer keeps as they are.
_DIGITS: Final = re.compile("0|[1-9][0-9]{0,29}")
_UNFILLED: Final = (b"null", b"[]")
#: Blanks that were seen, the documented ones first.
_BLANKS: Final = (b"null", b"[]", b'""', b"{}")

Members = dict[str, msgspec.Raw]


def with_integer_codes(record: Mapping[str, msgspec.Raw]) -> Members:
    """Return a record in which codes of brands and kinds are integers where they are made of digits.

    Examples
    --------
    >>> from prodex_sandbox.raw_json import joined, members
    >>> joined(with_integer_codes(members(b'{"brand":{"code":"4001"},"kind":{"code":"TEA"}}')))
    b'{"brand":{"code":4001},"kind":{"code":"TEA"}}'
    """
    given = dict(record)
    for name in _WITH_CODES:
        # Codes of brands and kinds are nowhere else, so nothing else is decoded.
        if name in given and b'"code"' in bytes(given[name]):
            value = {name: decode(given[name])}
            _make_integers(value)
            given[name] = msgspec.Raw(encode(value[name]))
    return given


def with_odd_blanks(record: Mapping[str, msgspec.Raw]) -> Members:
    """Return a record in which attributes without data are null, an empty array, an empty text or an empty object.

    Attribute and product decide which one it is, so that all replies agree. What the exchange sets itself stays as it
    is.
    """
    id_ = bytes(record.get("id", b""))
    return {
        name: msgspec.Raw(_BLANKS[zlib.crc32(name.encode() + id_) % len(_BLANKS)])
        if bytes(raw) in _UNFILLED and name not in SET_BY_EXCHANGE
        else raw
        for name, raw in record.items()
    }


def _nodes(value: Any) -> Iterator[dict[str, Any] | list[Any]]:
    """Yield every object and list in a value, each before what it holds then."""
    # Attributes nest deeper than Python may recurse, so this is a loop with a list of what is left.
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            yield node
            pending.extend(node)
        elif isinstance(node, dict):
            yield node
            pending.extend(node.values())


def _make_integers(value: Any) -> None:
    for node in _nodes(value):
        if isinstance(node, list):
            continue
        for name in _CODE_VALUES & node.keys():
            held = node[name]
            code = held.get("code") if isinstance(held, dict) else None
            # A code with a zero before it would lose it.
            if isinstance(code, str) and _DIGITS.fullmatch(code):
                held["code"] = int(code)


#: Paths as a tree of names; an empty tree includes everything below.
Paths = dict[str, Any]

_NOTHING: Final = object()
_LANGUAGE_CODE: Final = re.compile(r"[a-z]{3}-[A-Z]{2}")


class Projection:
    """What one call changes in every record.

    Parameters
    ----------
    include, exclude
        Dotted paths to keep, and to leave out of what is kept. An attribute that holds no data (null, or an
        empty array) is absent from a reply with `include`. No `include` keeps everything.
    languages
        Languages of the localized texts to keep, as fr, fra-FR or fr-FR; none keeps all.
    labels
        (code, label in US English) -> label in the language asked for.
    documents_key
        The name under which documents are served.
    integer_codes, odd_blanks
        Whether to serve what was seen to deviate from the specification; see `deviations`.
    """

    def __init__(
        self,
        include: Collection[str] = (),
        exclude: Collection[str] = (),
        languages: Collection[str] = (),
        labels: Mapping[tuple[str, str], str] | None = None,
        documents_key: str = "documents",
        *,
        integer_codes: bool = False,
        odd_blanks: bool = False,
    ) -> None:
        # The rich-content response (spec, endpoint 6) always holds gtin and id, and its id is a string.
        roots = {path.partition(".")[0] for path in include}
        self._rich = "assets" in roots and roots <= {"gtin", "id", "assets"}
        self._include = _tree([*include, "gtin", "id"] if self._rich else include)
        self._exclude = _tree(exclude)
        self._languages = frozenset(map(str.lower, languages))
        self._labels = labels or {}
        self._documents_key = documents_key
        renames_documents = documents_key != "documents"
        self._integer_codes = integer_codes
        # A reply with chosen fields has no blanks at all.
        self._odd_blanks = odd_blanks and not include
        # The common case: the stored bytes are the reply, and are not even parsed.
        self._as_stored = not (include or exclude or languages or labels or renames_documents)

    def serve(self, body: bytes, overlay: bytes | None = None) -> bytes:
        """Return a stored record as this call gets it.

        Parameters
        ----------
        body
            The record as stored.
        overlay
            The members that the viewer sees otherwise, or None.
        """
        deviates = self._integer_codes or self._odd_blanks
        if self._as_stored and overlay is None and not deviates:
            return body
        record = members(body)
        if overlay is not None:
            record |= members(overlay)
        shaped = record if self._as_stored else self._shaped(record)
        if self._integer_codes:
            shaped = with_integer_codes(shaped)
        if self._odd_blanks:
            shaped = with_odd_blanks(shaped)
        return joined(shaped)

    def _shaped(self, record: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
        shaped: dict[str, msgspec.Raw] = {}
        for name, value in record.items():
            below = self._include.get(name)
            if self._include and (below is None or bytes(value) in _UNFILLED):
                continue
            kept = self._shape(name, value, below or {})
            if kept is not None:
                shaped[name] = kept
        return shaped

    def _shape(self, name: str, raw: msgspec.Raw, include: Paths) -> msgspec.Raw | None:
        exclude = self._exclude.get(name)
        if exclude == {}:
            return None
        # A search for bytes is much cheaper than decoding; a text that holds the word costs a decoding, no more.
        languages = self._languages if b'"expressedIn"' in bytes(raw) else None
        labels = self._labels if b'"label"' in bytes(raw) else None
        renames = name == "assets" and self._documents_key != "documents"
        becomes_text = self._rich and name == "id"
        if not (include or exclude or languages or labels or renames or becomes_text):
            return raw
        value = decode(raw)
        if include and (value := _included(value, include)) is _NOTHING:
            return None
        if exclude:
            value = _excluded(value, exclude)
        if languages:
            value = _in_languages(value, languages)
        if labels:
            _relabel(value, labels)
        if renames and isinstance(value, dict):
            value = {self._documents_key if key == "documents" else key: item for key, item in value.items()}
        return msgspec.Raw(encode(str(value) if becomes_text else value))


def _tree(paths: Collection[str]) -> Paths:
    tree: Paths = {}
    # A shorter path is sorted first, and includes everything below it.
    for path in sorted(paths, key=len):
        node = tree
        *names, last = path.split(".")
        for name in names:
            if node.get(name) == {}:
                break
            node = node.setdefault(name, {})
        else:
            node.setdefault(last, {})
    return tree


def _included(value: Any, paths: Paths) -> Any:
    if not paths:
        return value
    if isinstance(value, list):
        return [kept for item in value if (kept := _included(item, paths)) is not _NOTHING] or _NOTHING
    if not isinstance(value, dict):
        return _NOTHING
    chosen = ((name, _included(value[name], below)) for name, below in paths.items() if name in value)
    return {name: kept for name, kept in chosen if kept is not _NOTHING} or _NOTHING


def _excluded(value: Any, paths: Paths) -> Any:
    if isinstance(value, list):
        return [_excluded(item, paths) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _excluded(item, paths.get(name, {})) for name, item in value.items() if paths.get(name) != {}
    }


def _in_languages(value: Any, languages: Collection[str]) -> Any:
    """Remove localized texts in other languages, at any depth."""
    if _is_foreign(value, languages):
        return None
    for node in _nodes(value):
        if isinstance(node, list):
            node[:] = [item for item in node if not _is_foreign(item, languages)]
        else:
            node |= {name: None for name, item in node.items() if _is_foreign(item, languages)}
    return value


def _is_foreign(value: Any, languages: Collection[str]) -> bool:
    if not (isinstance(value, dict) and "data" in value and isinstance(value.get("expressedIn"), dict)):
        return False
    code, short = value["expressedIn"].get("code"), value["expressedIn"].get("normalizedCode")
    names = {short.lower()} if isinstance(short, str) else set()
    if isinstance(code, str) and _LANGUAGE_CODE.fullmatch(code):
        names |= {code.lower(), *(f"{name}-{code[4:].lower()}" for name in tuple(names))}
    return bool(names) and names.isdisjoint(languages)


# Labels are translated by code and label: one code means different things in different lists.
def _relabel(value: Any, labels: Mapping[tuple[str, str], str]) -> None:
    """Translate the labels of code values, at any depth."""
    for node in _nodes(value):
        if isinstance(node, dict):
            code, label = node.get("code"), node.get("label")
            if isinstance(label, str) and isinstance(code, str | int):
                node["label"] = labels.get((str(code), label), label)
