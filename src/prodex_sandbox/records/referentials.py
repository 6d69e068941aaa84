"""Referentials: the codes that a product may hold, as far as the sandbox knows them.

Languages, units and packaging types are known from the start; the records that fill a store add theirs, and
are the only source of brands and kinds. A referential without a single code accepts every value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from prodex_sandbox.own_tables import read_table
from prodex_sandbox.raw_json import storable

#: Top-level attributes that are a code value -> their referential.
CODE_ATTRIBUTES: Final = {"brand": "brands", "kind": "kinds", "typePackaging": "packagings"}
#: Top-level quantities whose units have a referential of their own; those of all others are "units".
UNITS_OF: Final = {"netContent": "netcontents", "netWeight": "weights", "grossWeight": "weights"}

_TEXTS: Final = ("nameLegal", "namePublicShort", "namePublicLong", "description")
_QUANTITIES: Final = (*UNITS_OF, "height", "width", "depth")
#: Attributes of items that are expressed in a language or a unit.
DESCRIBED_ATTRIBUTES: Final = (*_TEXTS, *_QUANTITIES)

#: Attributes, each with the referentials of its code, or of the language or unit that its items are expressed in.
_REFERENTIALS_OF: Final = (
    *((attribute, (name,)) for attribute, name in CODE_ATTRIBUTES.items()),
    *((attribute, ("languages",)) for attribute in _TEXTS),
    *((name, tuple(dict.fromkeys((UNITS_OF.get(name, "units"), "units")))) for name in _QUANTITIES),
)

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
    for attribute, names in _REFERENTIALS_OF:
        value = record.get(attribute)
        if attribute in CODE_ATTRIBUTES:
            coded = [value]
        else:
            items = value if isinstance(value, list) else ()
            coded = [item.get("expressedIn") for item in items if isinstance(item, dict)]
        for one in coded:
            if not isinstance(one, dict):
                continue
            code = one.get("code")
            if isinstance(code, str | int) and not isinstance(code, bool):
                for name in names:
                    yield (name, storable(str(code))), one
