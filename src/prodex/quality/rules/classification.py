"""Rules of what a product belongs to: name, brand, kind, owner, market, sort of unit."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import QueryError
from prodex.facts.name import NAMES
from prodex.facts.owner import owner_codes
from prodex.languages import Message
from prodex.locales import market_code
from prodex.phrases import composed, unaccented
from prodex.quality.products import Products
from prodex.quality.remembered import has_match
from prodex.quality.rule_forms import HasValue, declare
from prodex.quality.rulebook import rule
from prodex.quality.text_columns import ANY_NAME
from prodex.quality.verdict import PENDING, Verdict, compared_with, product_verdict
from prodex.tables.columns import by_value, combinations, filled_values, is_true

#: Declares a rule of what a product has to say about itself.
_rule = partial(rule, dimension="completeness", block="identity")
_declare = partial(declare, dimension="completeness", block="identity")

#: The frequent case: somebody typed the brand instead of choosing it.
_LABEL_ONLY = Message("has a label without code")
#: As text, in either case; which version it is of says nothing about the product.
_UUID = "[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"


@_rule(
    title="the product has a name: long, short or legal",
    problem="No name",
    fix="Write the long name.",
    severity="blocker",
    needs=ANY_NAME,
    certain="passes",
    source="Product data exchange service: gtin and one of three names are mandatory",
)
def has_name(products: Products) -> Verdict:
    """A product without a name can neither be found nor sold."""
    # A name pending acceptance needs no work by the supplier, so the evidence states it.
    waits = products.any_filled(NAMES, "lastRequest.")
    return product_verdict(~products.any_filled(NAMES), "namePublicLong", None, PENDING, shown=waits)


_declare(
    "has_brand",
    HasValue("brand_code", instead="brand", reason=_LABEL_ONLY),
    title="the brand is given with its code",
    problem="No brand with a code",
    fix="Choose the brand from the service's list.",
    why="Brand labels are spelled in many ways; only the code finds all products of a brand.",
    severity="error",
)

_declare(
    "has_kind",
    HasValue("kind_code", instead="kind", reason=_LABEL_ONLY),
    title="the kind is given with its code",
    problem="No kind (category) with a code",
    fix="Choose the kind (category) from the service's list.",
    why="The kind decides which information a product needs and where customers find it.",
    severity="error",
)


@_rule(
    title="the GS1 brick is given as eight digits",
    problem="No eight-digit GS1 brick",
    fix="Choose the brick of the Global Product Classification.",
    severity="info",
    needs="GPC.code",
    source="GS1 Global Product Classification",
)
def has_gpc_brick(products: Products) -> Verdict:
    """The brick is the only category that all trading partners have in common."""
    # Segments, families and classes have eight digits as well; only the digits are judged.
    codes = products["gpc_code"].fillna("").str.strip()
    fails = ~codes.str.fullmatch("[0-9]{8}").astype(bool)
    reason = Message("not eight digits")
    return product_verdict(fails, "GPC.code", products["gpc_code"], reason, shown=codes != "")


_declare(
    "says_whether_consumer_unit",
    HasValue("is_consumer_unit"),
    title="the record states whether this is a consumer unit",
    problem="Consumer unit not stated",
    fix="State whether it is a consumer unit: true or false.",
    why="Most requirements depend on it: without it, the checks for consumer units are unknown.",
    severity="error",
    source="GDSN, isTradeItemAConsumerUnit",
)

_declare(
    "has_packaging_type",
    HasValue("packaging_code"),
    title="the type of packaging is given",
    problem="Type of packaging missing",
    fix="Choose the type of packaging: each, pack, case, pallet.",
    why="Orders and deliveries depend on whether the unit is a piece, a case or a pallet.",
    severity="warning",
)


@_rule(
    title="the owner is known",
    problem="Owner unknown",
    fix="Ask the service who shared the product; only the owner can correct it.",
    severity="warning",
    needs="owner.id or owner.uuid or owner.name",
    certain="passes",
)
def has_owner(products: Products) -> Verdict:
    """Somebody has to receive the corrections to make."""
    # Services identify owners in one of three ways; any of them is enough to write to somebody.
    return Verdict(owner_codes(products.column).is_null())


@rule(
    title="the product has a uuid",
    problem="No universally unique id",
    fix="Load the product again; if it still has none, ask the service.",
    severity="info",
    block="identity",
    needs="uuid",
    source="RFC 9562",
)
def has_uuid(products: Products) -> Verdict:
    """Validation scenarios are activated by uuid."""
    uuids = products["uuid"].fillna("")
    fails, given = ~uuids.str.fullmatch(_UUID).astype(bool), filled_values(products.column("uuid"))
    return product_verdict(fails, "uuid", uuids, Message("not of the form of a uuid"), shown=given)


@_rule(
    title="the market is a country of ISO 3166-1",
    problem="Market missing or unknown",
    fix="Give the market as its ISO number, such as 250 for France.",
    severity="warning",
    needs="product_key.target_market_id",
    source="ISO 3166-1 numeric",
)
def has_market(products: Products) -> Verdict:
    """The market decides which languages and laws apply; checks for a market are unknown without one."""
    own = products.column("target_market")
    return product_verdict(
        ~by_value(own, _is_market, False),
        "product_key.target_market_id",
        products["target_market"],
        Message("no code of a market"),
        shown=filled_values(own),
    )


def _is_market(code: str) -> bool:
    try:
        return code.strip().isdecimal() and bool(market_code(code))
    except QueryError:
        return False


class _Brand(NamedTuple):
    """One way to give a brand, which several products may have.

    Attributes
    ----------
    code, label
        As sent.
    products
        How many have it so.
    spelling
        The label, whichever way its accents are written.
    name
        The label as brands are compared.
    """

    code: str
    label: str
    products: int
    spelling: str
    name: str


#: Why a brand is unusual, and with what it was compared; by its code and label, or by its label alone.
_Unusual: TypeAlias = dict[tuple[str, ...], tuple[Message, str]]


def _minority(whole: dict[str, pa.ChunkedArray], *, by: str, other: str) -> _Unusual:
    """Return the pairs of brand code and label that differ from those of most products.

    Parameters
    ----------
    whole
        Codes and labels of all products.
    by
        What should go with one value only: "code", or "name", the label without case and punctuation.
    other
        The value: "spelling" (of the label) or "code".
    """
    pairs = pa.table([whole["products.brand_code"], whole["products.brand"]], names=["code", "label"])
    # Counted pairs instead of products: a catalogue of millions has some thousand brands.
    counts = pairs.group_by(["code", "label"], use_threads=False).aggregate([([], "count_all")])
    brands = []
    for code, label, count in zip(*(counts[name].to_pylist() for name in counts.column_names), strict=True):
        if code is not None and label is not None:
            spelling = composed(label)
            # "Mill & Co." and "MILL & CO" are one brand; the codes of both should be the same.
            name = re.sub(r"[\W_]+", "", spelling.casefold(), flags=re.ASCII)
            if name and code.strip():
                brands.append(_Brand(code, label, count, spelling, name))
    return {
        # Not how many have it: that changes every night.
        (brand.code, brand.label): (reason, compared_with(getattr(brand, by), *sorted(usual)))
        for brand, reason, usual in _deviating(brands, by, other)
    }


def _deviating(brands: Iterable[_Brand], by: str, other: str) -> Iterator[tuple[_Brand, Message, list[str]]]:
    """Yield the brands that are not as with most products: with the reason, and with what is usual instead."""
    groups: dict[str, list[_Brand]] = defaultdict(list)
    for brand in brands:
        groups[getattr(brand, by)].append(brand)
    for group in groups.values():
        counts: Counter[str] = Counter()
        for brand in group:
            counts[getattr(brand, other)] += brand.products
        most = max(counts.values())
        # Where two are equally frequent, neither is the usual one, and both are shown.
        usual = [value for value, count in counts.items() if count == most]
        by_count = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        for brand in group:
            own = getattr(brand, other)
            if usual != [own]:
                also = tuple(
                    Message.of_number(
                        "{name} ({number} product)", "{name} ({number} products)", n, name=value
                    )
                    for value, n in by_count
                    if value != own
                )
                yield brand, Message("also {counts}", counts=also), [one for one in usual if one != own]


@_rule(
    title="a brand code has one label",
    problem="Brand code with several spellings",
    fix="Use one spelling of the brand, or give the other brand its own code.",
    severity="info",
    dimension="consistency",
    needs=("brand.code", "brand.label"),
    whole=("products.brand_code", "products.brand"),
    prepare=partial(_minority, by="code", other="spelling"),
)
def brand_code_has_one_label(products: Products, *, whole: Any) -> Verdict:
    """Two labels for one code are two brands with the same code, or a brand that was renamed in some records only.

    Products with the most frequent label of the code pass.
    """
    return _is_usual(products, whole, ("brand_code", "brand"), "brand", "brand.label")


@_rule(
    title="a brand has one code",
    problem="Brand with several codes",
    fix="Use the code that most products of the brand have.",
    severity="warning",
    dimension="uniqueness",
    needs=("brand.code", "brand.label"),
    whole=("products.brand_code", "products.brand"),
    prepare=partial(_minority, by="name", other="code"),
    exact=False,
)
def brand_has_one_code(products: Products, *, whole: Any) -> Verdict:
    """Two codes for one name split the brand: every list and score of it misses some products.

    Products with the most frequent code of the name pass; case and punctuation do not make another name.
    """
    return _is_usual(products, whole, ("brand_code", "brand"), "brand_code", "brand.code")


def _unusual_spellings(whole: dict[str, pa.ChunkedArray]) -> _Unusual:
    """Return the spellings of brands that are not those of most products."""
    labels, counts = (one.to_pylist() for one in whole["products.brand"].value_counts().flatten())
    spelled = [
        (label, count, composed(label).strip())
        for label, count in zip(labels, counts, strict=True)
        if label is not None
    ]
    brands = [
        _Brand("", label, count, spelling, _comparable_brand(spelling)) for label, count, spelling in spelled
    ]
    return {
        (brand.label,): (reason, compared_with(*sorted(usual)))
        for brand, reason, usual in _deviating((one for one in brands if one.name), "name", "spelling")
    }


def _comparable_brand(label: str) -> str:
    """Return a brand as brands are compared: without case, accents, punctuation and marks; "and" is the same as "&"."""
    return re.sub(
        r"[\W_]+", "", re.sub(r"(?<=\s)(?:and|et|und|en|y|e|og|och|ja)(?=\s)", "", unaccented(label))
    )


@_rule(
    title="a brand is spelled in one way",
    problem="Brand spelled in several ways",
    fix="Spell the brand as most of its products do.",
    severity="info",
    dimension="consistency",
    needs="brand.label",
    whole="products.brand",
    prepare=_unusual_spellings,
    exact=False,
    source="Open Food Facts: one brand has ten labels on 109 products",
)
def brand_is_spelled_one_way(products: Products, *, whole: Any) -> Verdict:
    """Lists and filters show "Marks & Spencer" and "MARKS AND SPENCER" as brands of their own.

    Spellings differ in case, accents, punctuation or the word for "and"; products with the most frequent one pass.
    """
    return _is_usual(products, whole, ("brand",), "brand", "brand.label")


#: Legal forms behind the name of a company, in the countries of the ten languages; where a word is one, only as the
#: law writes it.
_COMPANY = (
    r"[\pL\pN.)!]\s*[,\s]\s*(?:(?i:gmbh|s\.?a\.?s\.?u?|s\.?a\.?r\.?l\.?|eurl|s\.a\.|s\.p\.a\.?|spa|s\.?r\.?l\.?|s\.l\.u?\.?|n\.?v\.?"
    r"|b\.?v\.?|b\.v\.b\.a\.?|bvba|ltda?\.?|limited|l\.?l\.?c\.?|inc\.?|incorporated|corp\.?|corporation|plc|llp|lda\.?"
    r"|aps|oyj?|kgaa|e\. ?k\.|ohg|ges\.? ?m\.? ?b\.? ?h\.?|scop|a/s)|AG|Ag|KG|SA|SE|AB|AS|ASA|SL|UG)\.?$"
    r"|[\pL.]{3,}\s+(?:Co|CO)\.$|\b(?i:gmbh|g\.m\.b\.h\.)(?:\W|$)|(?i:&\s*co\.?\s*(?:kg|ohg|inc|ltd))"
)


@_rule(
    title="the brand is not a company",
    problem="Brand is a company",
    fix="Give the brand as the pack shows it; the company belongs in the contact.",
    severity="info",
    dimension="accuracy",
    needs="brand.label",
    source="GS1 General Specifications: a brand name is not the name of the company",
    exact=False,
)
def brand_is_no_company(products: Products) -> Verdict:
    """Customers look for "Lindt", and filters show "Lindt & Sprüngli (Schweiz) AG" as another brand."""
    labels = products.column("brand")
    # Short forms count at the end only, since they are words elsewhere. Of 92 brands found in real data, 12 were read,
    # and all were companies.
    found = is_true(has_match(pc.utf8_trim_whitespace(labels), _COMPANY))
    return product_verdict(
        found,
        "brand.label",
        products["brand"],
        Message("has the legal form of a company"),
        applies=filled_values(labels),
    )


def _is_usual(products: Products, odd: _Unusual, keys: Sequence[str], column: str, attribute: str) -> Verdict:
    """Fail the products that have one of the deviating combinations of values in some columns."""
    columns = [products.column(key) for key in keys]
    place, values = combinations(*columns)
    found = [odd.get(each, (None, "")) for each in zip(*(one.to_pylist() for one in values), strict=True)]
    return product_verdict(
        np.array([reason is not None for reason, _ in found], bool)[place],
        attribute,
        products[column],
        lambda rows: [found[each][0] for each in place[rows]],
        applies=np.logical_and.reduce([is_true(one.is_valid()) for one in columns]),
        compared=lambda rows: [found[each][1] for each in place[rows]],
    )
