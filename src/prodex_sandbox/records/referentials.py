"""Referentials: the codes that a product may hold, as far as the sandbox knows them.

Languages, units and packaging types are known from the start; the records that fill a store add theirs, and
are the only source of brands and kinds. A referential without a single code accepts every value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from prodex_sandbox.raw_json import storable
from prodex_sandbox.records.reading import read_table

#: Top-level attributes that are a code value -> their referential.
CODE_ATTRIBUTES: Final = {"brand": "brands", "kind": "kinds", "typePackaging": "packagings"}
#: Top-level quantities whose units have a referential of their own; those of all others are "units".
UNITS_OF: Final = {"netContent": "netcontents", "netWeight": "weights", "grossWeight": "weights"}

_TEXTS: Final = ("nameLegal", "namePublicShort", "namePublicLong", "description")
_QUANTITIES: Final = (*UNITS_OF, "height", "width", "depth")

#: (referential, code) -> the code value or descriptor as records hold it.
Codes = dict[tuple[str, str], dict[str, Any]]


def codes_known() -> Codes:
    """Return the codes that are known without a record."""
    known: Codes = {}
    for row in read_table(__package__, "referentials"):
        code, label = row["code"], row["label"]
        body: dict[str, Any] = {"code": code, "label": label}
        if row["short"]:
            body = {"normalizedCode": row["short"], "code": code, "description": label, "label": label}
        known |= {(name, code): body for name in row["referentials"].split()}
    return known


def language_code(name: str) -> str:
    """Return the code of a language that is named by it, by a short one or by a tag; another name as it is.

    A short one means the first country in the referential.

    Examples
    --------
    >>> language_code("fr"), language_code("fr-BE"), language_code("fra-fr"), language_code("tlh")
    ('fra-FR', 'fra-BE', 'fra-FR', 'tlh')
    """
    return _languages().get(name.strip().lower().replace("_", "-"), name)


@cache
def _languages() -> dict[str, str]:
    names: dict[str, str] = {}
    for (referential, code), body in codes_known().items():
        if referential == "languages":
            long, _, country = code.partition("-")
            short = body["normalizedCode"]
            for name in (code, long, short, f"{short}-{country}"):
                names.setdefault(name.lower(), code)
    return names


def codes_of(record: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    """Yield the codes of a record's own attributes; deeper ones hold the same codes again."""
    for attribute, name in CODE_ATTRIBUTES.items():
        yield from _coded(name, record.get(attribute))
    for attribute in _TEXTS:
        for item in _items(record.get(attribute)):
            yield from _coded("languages", item.get("expressedIn"))
    for attribute in _QUANTITIES:
        for item in _items(record.get(attribute)):
            for name in {UNITS_OF.get(attribute, "units"), "units"}:
                yield from _coded(name, item.get("expressedIn"))


def _items(value: Any) -> Iterator[dict[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def _coded(name: str, value: Any) -> Iterator[tuple[tuple[str, str], dict[str, Any]]]:
    code = value.get("code") if isinstance(value, dict) else None
    if isinstance(code, str | int) and not isinstance(code, bool):
        yield (name, storable(str(code))), value
