"""Rules of identity: the GTIN and what else identifies a product."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.gtin import are_upc_e, are_valid, check_digit, with_all_digits
from prodex.languages import Message
from prodex.quality.products import Products, once_per_part
from prodex.quality.remembered import has_match
from prodex.quality.rulebook import CONSUMER_UNITS, rule
from prodex.quality.verdict import Verdict, compared_with, product_verdict
from prodex.tables.columns import Mask, Rows, is_true

#: At most so many of the other products with a GTIN are named; the total is always given.
_MOST_NAMED = 50
_GS1 = "GS1 General Specifications, section 7.9"

#: What a prefix stands for that no product has.
_OF_NO_PRODUCT = (
    *(Message("reserved for coupons"), Message("coupons"), Message("coupons in a common currency")),
    *(Message("refund receipts"), Message("examples and demonstrations")),
)

#: Declares a rule of the GTIN.
_rule = partial(rule, block="identity", needs="gtin")


@_rule(
    title="the GTIN has 14 digits with a correct check digit",
    problem="GTIN missing or wrong",
    fix="Correct the GTIN: compare it with the one printed under the barcode.",
    severity="error",
    dimension="validity",
    source=f"{_GS1}; GDSN rule 447",
)
def valid_gtin(products: Products) -> Verdict:
    """A wrong GTIN belongs to another product or to none: orders, prices and pictures go to the wrong product.

    The check digit of a UPC-E, which leaves out zeros of a GTIN-12, is that of the GTIN-12.
    """
    # A missing GTIN fails as well, but without evidence: there is no value to show.
    gtins = products["gtin"].fillna("")
    fails = ~are_valid(gtins.tolist()) & ~_are_upc_e(products)
    return product_verdict(
        fails, "gtin", gtins, lambda rows: [*map(_what_is_wrong, gtins.iloc[rows])], shown=gtins != ""
    )


@_rule(
    title="the GTIN is not restricted to use within a company",
    problem="GTIN restricted to use within a company",
    fix="Ask the brand owner for the globally unique GTIN.",
    severity="warning",
    source="GS1 General Specifications, section 1.4: restricted circulation numbers",
)
def gtin_is_unrestricted(products: Products) -> Verdict:
    """Restricted circulation numbers identify a different product in each company and country."""
    gtins = products["gtin"]
    names = gtins.gtin.prefix_name.fillna("")
    # GTIN-8 with prefix 0 or 2 are restricted too (GS1 General Specifications, 1.4), as 14 digits with six zeros
    # before.
    short = gtins.str.match("0{6}[02]").fillna(False) & (names == "GTIN-8")
    within = (names.str.startswith("restricted circulation") | short) & ~_are_upc_e(products)

    def reasons(rows: Rows) -> list[Message]:
        some = gtins.iloc[rows]
        return [
            Message("eight digits of restricted circulation: begins with {prefix}", prefix=gtin[6])
            if is_short
            else Message("of restricted circulation: begins with {prefix}", prefix=prefix)
            for gtin, prefix, is_short in zip(some, some.gtin.prefix, short.iloc[rows], strict=True)
        ]

    return product_verdict(within, "gtin", gtins, reasons, applies=_is_formed(products))


@_rule(
    title="the GTIN identifies a product, not a coupon, a refund receipt or a demonstration",
    problem="GTIN of a coupon, receipt or demonstration",
    fix="Replace the number: its prefix is not assigned to products.",
    severity="warning",
    source="GS1 General Specifications, section 1.4: GS1 prefixes",
)
def gtin_is_of_a_product(products: Products) -> Verdict:
    """Anybody can use such numbers, so they come from a test or a template."""
    gtins = products["gtin"]
    meaning = gtins.gtin.prefix_name.map({one.id: one for one in _OF_NO_PRODUCT})
    return product_verdict(
        meaning.notna(),
        "gtin",
        gtins,
        lambda rows: Message(
            "{prefix} stands for {evidence}", prefix=gtins.iloc[rows].gtin.prefix, evidence=meaning.iloc[rows]
        ),
        applies=_is_formed(products),
    )


@_rule(
    title="a consumer unit does not have the GTIN of an outer unit",
    problem="Consumer unit with the GTIN of an outer unit",
    fix="Assign the consumer unit its own GTIN, or state that it is not a consumer unit.",
    severity="warning",
    dimension="consistency",
    needs=("gtin", "isConsumerUnit"),
    scope=CONSUMER_UNITS,
    source="GS1 General Specifications, section 2.1: indicator digits",
)
def consumer_unit_has_own_gtin(products: Products) -> Verdict:
    """GTINs with an indicator from 1 to 8 identify cases and pallets; tills cannot read them."""
    return _with_indicator(products, "12345678", Message("indicator {digit} stands for an outer unit"))


@_rule(
    title="a consumer unit does not have the GTIN of a variable measure item",
    problem="Consumer unit with the GTIN of a variable measure item",
    fix="Assign it a GTIN without indicator 9, or state that it is not a consumer unit.",
    severity="info",
    dimension="consistency",
    needs=("gtin", "isConsumerUnit"),
    scope=CONSUMER_UNITS,
    source="GS1 General Specifications, section 2.1: indicator 9, variable measure trade items",
)
def consumer_unit_is_of_fixed_measure(products: Products) -> Verdict:
    """Indicator 9 means that each piece has its own weight; tills cannot read such a number."""
    return _with_indicator(products, "9", Message("indicator {digit} stands for a variable measure"))


def _with_indicator(products: Products, indicators: str, reason: Message) -> Verdict:
    gtins = products["gtin"]
    applies = _is_formed(products)
    # The indicator is the first of the 14 digits; in a malformed number it means nothing.
    return product_verdict(
        gtins.str[0].isin(list(indicators)) & applies,
        "gtin",
        gtins,
        reason.with_values(digit=gtins.str[0]),
        applies=applies,
    )


def _is_formed(products: Products) -> Mask:
    """Say for each product whether its GTIN has 14 digits that are not all zeros: only then they mean something."""
    # The check digit is left to `valid_gtin`: one mistake should not fail three rules.
    formed = has_match(products.column("gtin"), "^[0-9]*[1-9][0-9]*$")
    long = pc.equal(pc.utf8_length(products.column("gtin")), 14)
    return is_true(pc.and_(formed, long))


@once_per_part
def _are_upc_e(products: Products) -> Mask:
    """Say which products have a UPC-E in place of the GTIN-12 that it abbreviates, whose check digit it has."""
    return are_upc_e(products["gtin"].fillna("").tolist())


def _what_is_wrong(gtin: str) -> Message:
    if not (gtin.isascii() and gtin.isdigit()):
        return Message("not only digits")
    if (whole := with_all_digits(gtin)) is not None:
        return Message(
            "{kind} with the right check digit; with all 14 digits {gtin}", kind=whole[0], gtin=whole[1]
        )
    if len(gtin) != 14:
        return Message("{digits:d} digits instead of 14", digits=len(gtin))
    if not int(gtin):
        return Message("only zeros")
    right = check_digit(gtin[:-1])
    return Message(
        "ends with the check digit {digit}, and {right} would be right", digit=gtin[-1], right=right
    )


def _several_times(whole: dict[str, pa.ChunkedArray]) -> pa.Table:
    """Return the GTINs of several products, with the ids of these products."""
    table = pa.table([whole["products.gtin"], whole["products.product_id"]], names=["gtin", "product_id"])
    # Products without a GTIN are not duplicates of each other.
    table = table.filter(pc.not_equal(pc.fill_null(table["gtin"], ""), ""))
    counted = table.group_by("gtin", use_threads=False).aggregate([("product_id", "count")])
    # Only the few repeated GTINs are sent to the parts, not the whole column.
    several = counted.filter(pc.greater(counted["product_id_count"], 1))["gtin"].combine_chunks()
    repeated = table.filter(pc.is_in(table["gtin"], several))
    return repeated.group_by("gtin", use_threads=False).aggregate([("product_id", "list")])


@_rule(
    title="no other product has the same GTIN",
    problem="Another product with the same GTIN",
    fix="Find out whose GTIN it is. The other product needs a GTIN of its own, or is a duplicate to remove.",
    severity="warning",
    dimension="uniqueness",
    whole=("products.gtin", "products.product_id"),
    prepare=_several_times,
    source="GS1 General Specifications, GTIN management",
)
def duplicate_gtin(products: Products, *, whole: Any) -> Verdict:
    """Where two products share a number, nobody can say which of them is meant."""
    place = pc.index_in(products.column("gtin"), whole["gtin"].combine_chunks())

    def others(rows: Rows) -> list[list[str]]:
        bearers = whole["product_id_list"].combine_chunks().take(place.take(pa.array(rows))).to_pylist()
        own = products["product_id"].iloc[rows]
        # Sorted, since the order of a grouped list depends on the number of threads.
        return [sorted(set(ids) - {mine}) for ids, mine in zip(bearers, own, strict=True)]

    return product_verdict(
        is_true(place.is_valid()),
        "gtin",
        products["gtin"],
        lambda rows: [*map(_also, others(rows))],
        compared=lambda rows: [compared_with(*ids) for ids in others(rows)],
    )


def _also(others: list[str]) -> Message:
    """Name the other products; a GTIN of thousands is a placeholder, and the first of them are enough."""
    named = tuple(others[:_MOST_NAMED])
    if len(others) <= _MOST_NAMED:
        return Message("also the GTIN of product {products_named}", products_named=named)
    return Message(
        "also the GTIN of {count} other products, of which the first {most} are {products_named}",
        count=len(others),
        most=_MOST_NAMED,
        products_named=named,
    )
