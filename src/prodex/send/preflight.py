"""Preflight: what the service would refuse, found before anything is sent; each finding says what to do.

The limits are those that users of a deployed service report, since the specification shows none. If it is not certain
that a limit applies to an attribute, the finding is a warning.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from prodex import gtin
from prodex.advice import PythonCall, advice
from prodex.changes import MAINTAINED_BY_SERVICE
from prodex.errors import InputError, PreflightFailed
from prodex.facts.name import NAMES
from prodex.languages import Message, Said
from prodex.ledger.earlier_records import without_maintained
from prodex.phrases import counted
from prodex.send import xml
from prodex.send.records import Product

_ONE_NAME = "Include one: a write needs a name, even if the service already has the product."

#: Characters: of the two names with limits of their own, of a string, and of a long text.
_LONGEST = {"namePublicLong": 200, "namePublicShort": 35}
_LONGEST_STRING = 3_000
_LONGEST_TEXT = 20_000

Severity = Literal["error", "warning", "info"]


class PreflightFinding(NamedTuple):
    """One finding of preflight.

    Attributes
    ----------
    gtin
        The product; None if it is about several.
    attribute
        The attribute, or None for the product as a whole.
    severity
        An error stops the whole upsert.
    problem, what_to_do
        In words.
    """

    gtin: str | None
    attribute: str | None
    severity: Severity
    problem: Said
    what_to_do: Said


def inspect_products(
    products: Sequence[Product], *, as_xml: bool, filled: Mapping[str, Collection[str]]
) -> list[PreflightFinding]:
    """Return the findings about products, errors first.

    Parameters
    ----------
    as_xml
        Whether they are sent as XML, which cannot represent every value.
    filled
        The filled attributes of products that the service already has.
    """
    found = [*_about_all(products)]
    texts = [str(product.get("gtin", "")) for product in products]
    for place, (product, valid) in enumerate(zip(products, gtin.are_valid(texts), strict=True)):
        found += _about_gtin(product, place, valid=bool(valid), is_known=texts[place] in filled)
        found += _about_one(product, filled.get(texts[place], ()))
        if as_xml:
            for path, why in xml.find_problems(without_maintained(product)):
                problem = f"XML cannot represent it: it {why}"
                found.append(PreflightFinding(texts[place], path, "error", problem, "Send it as JSON."))
    # Errors first: a person who sees only the beginning must see why nothing was sent.
    order = {"error": 0, "warning": 1, "info": 2}
    return sorted(found, key=lambda finding: order[finding.severity])


def preflight_frame(findings: Iterable[PreflightFinding]) -> pd.DataFrame:
    """Return findings as a frame."""
    rows = [one._replace(problem=str(one.problem), what_to_do=str(one.what_to_do)) for one in findings]
    return pd.DataFrame(rows, columns=list(PreflightFinding._fields), dtype=object)


def refuse_errors(findings: Sequence[PreflightFinding]) -> None:
    """Raise PreflightFailed if one of the findings is an error."""
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        first = errors[0]
        place = ", ".join([f"GTIN {first.gtin}", *([first.attribute] if first.attribute else [])])
        place = f"{place}: " if first.gtin else ""
        raise PreflightFailed(
            advice(
                "Nothing was sent: {errors} found. {place}{problem}. {what_to_do} {all}",
                errors=counted(len(errors), "error"),
                place=place,
                problem=first.problem,
                what_to_do=first.what_to_do,
                all=PythonCall(
                    "All are in .findings of this error; upsert(..., dry_run=True) shows them too."
                ),
            ),
            preflight_frame(findings),
        )


def _about_all(products: Sequence[Product]) -> Iterator[PreflightFinding]:
    places = defaultdict(list)
    for place, product in enumerate(products):
        places[str(product.get("gtin"))].append(str(place))
    for name, several in places.items():
        if len(several) > 1 and name != "None":
            problem = f"the GTIN occurs {len(several)} times, in the records {', '.join(several[:10])}"
            hint = "Give each product once: which of them the service would keep is not defined."
            yield PreflightFinding(name, "gtin", "error", problem, hint)
    left_out = Counter(name for product in products for name in product.keys() & MAINTAINED_BY_SERVICE)
    for name, times in left_out.items():
        problem = f"left out of {times:,} products: the service maintains it"
        yield PreflightFinding(None, name, "info", problem, "Nothing; the service keeps its own value.")


def _about_gtin(product: Product, place: int, *, valid: bool, is_known: bool) -> Iterator[PreflightFinding]:
    if "gtin" not in product:
        problem = f"record {place} has no GTIN"
        yield PreflightFinding(None, "gtin", "error", problem, "Add it: every product needs one.")
    elif not isinstance(product["gtin"], str) or not valid:
        try:
            problem = f"record {place}: {gtin.normal_form(product['gtin'])} is not in its normal form"
        except InputError as error:
            problem = f"record {place}: {str(error).rstrip('.')}"
        # A product that the service has with a wrong GTIN can be corrected, except for that GTIN.
        severity: Severity = "warning" if is_known else "error"
        yield PreflightFinding(str(product["gtin"])[:40], "gtin", severity, problem, "Correct the GTIN.")


def _about_one(product: Product, filled: Collection[str]) -> Iterator[PreflightFinding]:
    name = str(product.get("gtin"))
    # Null deletes an attribute at the service, so that what it has there does not count.
    deleted = {attribute for attribute, value in product.items() if value is None}
    has = ({attribute for attribute, value in product.items() if value} | set(filled)) - deleted
    if not has & set(NAMES):
        problem = f"none of {', '.join(NAMES)} is filled"
        yield PreflightFinding(name, None, "error", problem, _ONE_NAME)
    # Only a warning: the FAQ of a deployed service asks for a kind, its specification does not.
    if "kind" not in has:
        problem = "no kind: the service may refuse a new product without one"
        yield PreflightFinding(name, "kind", "warning", problem, "Add a kind, unless the service has one.")
    for attribute, value in product.items():
        yield from _about_texts(name, attribute, value)
    for rule in _objects_in(product.get("validationRules")):
        if rule.get("type") == "DeactivateValidationRule":
            problem = f"DISABLES the check {rule.get('ruleId')!r} of the service for this product"
            hint = "Leave validationRules out unless that is intended."
            yield PreflightFinding(name, "validationRules", "warning", problem, hint)


def _objects_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a value and what is in it, as far as these are objects: XML has a list within an object."""
    stack = [value]
    while stack:
        at = stack.pop(0)
        if isinstance(at, Mapping):
            yield at
            stack += at.values()
        elif isinstance(at, list):
            stack += at


def _about_texts(name: str, attribute: str, value: Any) -> Iterator[PreflightFinding]:
    stack = [value]
    while stack:
        at = stack.pop()
        if isinstance(at, list):
            stack += at
        elif isinstance(at, Mapping):
            localized = "expressedIn" in at and isinstance(at.get("data"), str)
            if localized:
                yield from _about_text(name, attribute, at["data"])
            stack += [inner for key, inner in at.items() if not (localized and key == "data")]
        # Which attributes are strings and which are long texts is not shown, so between both limits it is a warning.
        elif isinstance(at, str) and len(at) > _LONGEST_STRING:
            yield _too_long(name, attribute, at, _LONGEST_STRING, sure=len(at) > _LONGEST_TEXT)


def longest_text(attribute: str) -> int:
    """Return how many characters a localized text may have.

    >>> longest_text("namePublicShort"), longest_text("nameLegal"), longest_text("description")
    (35, 3000, 20000)
    """
    return _LONGEST.get(attribute, _LONGEST_STRING if attribute in NAMES else _LONGEST_TEXT)


def _about_text(name: str, attribute: str, text: str) -> Iterator[PreflightFinding]:
    longest = longest_text(attribute)
    if len(text) > longest:
        yield _too_long(name, attribute, text, longest, sure=True)
    if attribute in NAMES and ("\n" in text or "\r" in text):
        problem = Message("a line break in {text}", text=repr(text[:40]))
        yield PreflightFinding(name, attribute, "error", problem, Message("Write it on one line."))


def _too_long(name: str, attribute: str, text: str, longest: int, *, sure: bool) -> PreflightFinding:
    problem = Message(
        "{characters:,} characters, and the limit is {limit:,}: {text}",
        characters=len(text),
        limit=longest,
        text=f"{text[:40]!r}...",
    )
    return PreflightFinding(name, attribute, "error" if sure else "warning", problem, Message("Shorten it."))
