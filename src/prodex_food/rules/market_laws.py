"""Rules of laws on what is offered: product safety, honey, packaging, deforestation, prices per unit.

The specification lists hardly any of these fields. A profile declares where its catalogue has them; without a
declaration nobody is asked, since what was not declared is unknown and not missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.packs import (
    CONSUMER_UNITS,
    Answer,
    Evidence,
    Message,
    Origins,
    PictureColumns,
    Products,
    TextColumns,
    Verdict,
    by_value,
    compared_with,
    is_in_union,
    languages_of,
    missing_data,
    rule,
)
from prodex_food.law_scopes import commodities, is_consumer_product, is_honey, is_sold_by_measure
from prodex_food.laws import DEFORESTATION, HONEY, PACKAGING, PRODUCT_SAFETY, UNIT_PRICE

#: Declares a rule of a law; cases and pallets are not offered to consumers.
_rule = partial(rule, dimension="completeness", block="identity", scope=CONSUMER_UNITS)
#: Art. 19 asks it of every offer at a distance, which is what records are made for.
_safety = partial(_rule, law=PRODUCT_SAFETY, severity="error")
_deforestation = partial(_rule, law=DEFORESTATION)


def _missing(products: Products, paths: Sequence[str], applies: Any) -> Verdict:
    """Fail the products without data at any of the declared paths; data pending acceptance are evidence, not data."""
    return missing_data(products, paths, applies) if paths else _not_asked(products)


def _not_asked(products: Products) -> Verdict:
    """Return that nobody knows: a profile that declares no field is not asked, and neither is who calls a rule."""
    every = np.ones(len(products), bool)
    return Verdict(pd.arrays.BooleanArray(~every, every))


@_safety(
    title="the manufacturer is named on the offer",
    problem="Name and address of the manufacturer missing",
    fix="Give name, postal address and electronic address of the manufacturer.",
    needs="{manufacturer}",
    certain="passes",
    article="Art. 19(a)",
    cannot_see="Whether name, postal and electronic address are all given, and whether it is the manufacturer.",
)
def non_food_names_manufacturer(products: Products, *, manufacturer: tuple[str, ...] = ()) -> Verdict:
    """Whoever offers a product online has to say who made it, and how to reach them."""
    return _missing(products, manufacturer, is_consumer_product(products))


@_safety(
    title="a manufacturer outside the EU has a responsible person in it",
    problem="Responsible person in the EU missing",
    fix="Give name, postal address and electronic address of the responsible person in the EU.",
    needs=("{responsible_person}", "{manufacturer}"),
    article="Art. 19(b) and 16(1)",
    cannot_see="A manufacturer whose record names no country, or several with one in the EU among them.",
)
def non_food_names_responsible_person(
    products: Products, *, manufacturer: tuple[str, ...] = (), responsible_person: tuple[str, ...] = ()
) -> Verdict:
    """Where the manufacturer is outside the Union, somebody inside has to answer for the product."""
    applies = is_consumer_product(products) & _is_made_outside(products, manufacturer)
    return _missing(products, responsible_person, applies)


def _is_made_outside(products: Products, manufacturer: Sequence[str]) -> Answer:
    """Say whose manufacturer is outside the Union: all countries that stand at these paths; unknown without any."""
    rows = products.values_at(manufacturer, "codes.code", "scalars.value")
    rows = rows.filter(pa.array(by_value(rows["attribute"], _is_country, False).astype(bool)))
    product, union = rows["product"].to_numpy(), by_value(rows["value"], _union, -1)
    inside, outside = (products.any(product[union == one]) for one in (1, 0))
    return pd.arrays.BooleanArray(outside & ~inside, ~(outside | inside))


def _union(country: str) -> int:
    is_inside = is_in_union(country)
    return -1 if is_inside is None else int(is_inside)


def _is_country(name: str) -> bool:
    return "country" in name.rpartition(".")[2].casefold()


@_safety(
    title="what is no food is shown in a picture on the offer",
    problem="No picture of a product that is no food",
    fix="Add a picture that shows the product.",
    needs="assets.pictures.url",
    article="Art. 19(c)",
    cannot_see="Whether the picture shows this product, and its type and further identification.",
)
def non_food_has_picture(products: Products) -> Verdict:
    """Who buys at a distance has to know which product it is."""
    # In no profile that has `has_picture`, which asks the same of every product: nobody fails twice for one picture.
    return Verdict(~PictureColumns.of(products).pictured, is_consumer_product(products))


@_safety(
    title="warnings are there in each language of the market",
    problem="Warnings not in a language of the market",
    fix="Translate warnings and safety information into the languages of the market.",
    needs="{warnings}",
    article="Art. 19(d)",
    cannot_see="Whether a product without any warning needs one, and warnings that the language of a text conceals.",
)
def non_food_warns_in_languages_of_market(products: Products, *, warnings: tuple[str, ...] = ()) -> Verdict:
    """A warning that nobody can read warns nobody. Asked of products that have a warning in some language."""
    if not warnings:
        return _not_asked(products)
    texts = TextColumns.of(products)
    meant = np.flatnonzero(texts.within(warnings))
    spoken: dict[int, set[str]] = {}
    for row, language in zip(texts.product[meant].tolist(), texts.language[meant].tolist(), strict=True):
        spoken.setdefault(row, set()).add(texts.languages[language])
    # A text that states no language may be in any: who has one is unknown.
    told = {row: languages for row, languages in spoken.items() if all(languages)}
    required = by_value(products.column("market"), lambda market: " ".join(languages_of(market)), "").tolist()
    missing = [
        (row, language, sorted(languages))
        for row, languages in sorted(told.items())
        for language in required[row].split()
        if language not in languages
    ]
    has_text = products.any(list(spoken))
    knows = np.array([bool(languages) for languages in required], bool) & products.any(list(told))
    applies = is_consumer_product(products) & pd.arrays.BooleanArray(has_text, has_text & ~knows)
    rows = [row for row, _, _ in missing]
    reason = Message(
        "filled in {language_codes} only", language_codes=[languages for _, _, languages in missing]
    )
    compared = [compared_with(*languages) for _, _, languages in missing]
    evidence = Evidence(rows, warnings[0], [language for _, language, _ in missing], None, reason, compared)
    return Verdict(products.any(rows), applies, evidence)


#: A stated share may be off by so many points (Directive 2001/110/EC, Art. 2(4), as amended).
TOLERANCE = 5.0
#: From so many countries on, a member state may ask for the shares of the largest of them alone.
_LARGEST = 4


@_rule(
    title="honey of several countries states their shares in descending order",
    problem="Shares of the countries of origin of honey missing or wrong",
    fix="Give each country of origin with its share in per cent, the largest first; together they are 100 %.",
    severity="warning",
    dimension="validity",
    block="food",
    needs=("{origin_country}", "{origin_share}"),
    law=HONEY,
    article="Art. 1, which amends Directive 2001/110/EC, Art. 2(4)",
    cannot_see=(
        "Honey that was labelled before 14 June 2026, which may be sold while stocks last; the order on the label; "
        "whether the member state asks for the four largest shares alone."
    ),
)
def honey_states_shares_of_origin(
    products: Products, *, origin_country: tuple[str, ...] = (), origin_share: tuple[str, ...] = ()
) -> Verdict:
    """Since 14 June 2026 the label of a blend names every country with its share, the largest first.

    Honey of one country needs no share. Where there are more than four countries, the shares of the four largest are
    enough if they are more than half.
    """
    if not (origin_country and origin_share):
        return _not_asked(products)
    honey = is_honey(products)
    origins = Origins.of(products, origin_country, origin_share, honey.to_numpy(bool, na_value=True))
    # Honey without any country is left to `has_origin`.
    named = origins.rows["country"].str.casefold().groupby(origins.rows["product"]).nunique()
    blends = origins.rows[origins.rows["product"].isin(named.index[named > 1])]
    wrong: dict[int, Message] = {}
    unknown = origins.unreadable.copy()
    for product, each in blends.groupby("product"):
        row, found = int(str(product)), _judged_shares(each["share"].to_numpy(float))
        if isinstance(found, Message):
            wrong[row] = found
        unknown[row] |= found is None
    fails = products.any(list(wrong)) & ~unknown
    rows = np.flatnonzero(fails)
    shown = blends[blends["product"].isin(rows)].groupby("product")
    values = [_in_words(shown.get_group(row)) for row in rows.tolist()]
    reasons = [wrong[row] for row in rows.tolist()]
    # The value shows the first countries alone.
    compared = [
        compared_with(*shown.get_group(row)[["country", "share"]].to_numpy().tolist())
        for row in rows.tolist()
    ]
    applies = honey & (products.any(blends["product"].to_numpy(np.int64)) | origins.unreadable)
    return Verdict(
        pd.arrays.BooleanArray(fails, unknown),
        applies,
        Evidence(rows, origin_share[0], None, values, reasons, compared),
    )


def _judged_shares(shares: np.ndarray[Any, Any]) -> Message | bool | None:
    """Return what is wrong with the shares of several countries in their order; False for nothing, None for unknown."""
    given = shares[~np.isnan(shares)]
    if not len(given):
        return Message("no country has a share")
    if (given < 0).any() or (given > 100 + TOLERANCE).any():
        return Message("a share is below 0 or above 100 %")
    if (np.diff(given) > 0).any():
        return Message("not in descending order")
    total, off = float(given.sum()), TOLERANCE * len(given)
    if len(given) < len(shares):
        is_short = len(shares) > _LARGEST and len(given) == _LARGEST
        if not is_short or np.isnan(shares[:_LARGEST]).any():
            return Message("a country has no share")
        if total > 100 + off or total <= 50 - off:
            return Message("the four largest shares are not between 50 and 100 %")
        return False if 50 < total <= 100 + TOLERANCE else None
    if abs(total - 100) > off:
        return Message("the shares do not add up to 100 %")
    # Within the tolerance of each share, and beyond that of their sum: it depends on how the law is read.
    return False if abs(total - 100) <= TOLERANCE else None


def _in_words(countries: pd.DataFrame) -> str:
    said = [
        country if np.isnan(share) else f"{country} {share:g} %"
        for country, share in zip(countries["country"][:6], countries["share"][:6], strict=True)
    ]
    return ", ".join([*said, *(["..."] if len(countries) > len(said) else [])])


@_rule(
    title="the materials of the packaging are given",
    problem="Materials of the packaging missing",
    fix="Give each part of the packaging with its material.",
    severity="error",
    needs="{packaging_components}",
    certain="passes",
    law=PACKAGING,
    article="Art. 12(1)",
    in_force=date(2028, 8, 12),
    cannot_see=(
        "Whether the label itself is on the packaging; packaging with a deposit, which needs none; a later first day, "
        "24 months after the acts of the Commission that the label waits for."
    ),
)
def packaging_materials_are_given(
    products: Products, *, packaging_components: tuple[str, ...] = ()
) -> Verdict:
    """The label by which people sort their waste says what the packaging is made of.

    The regulation applies since 12 August 2026; its labels are asked for from 12 August 2028 on.
    """
    return _missing(products, packaging_components, None)


@_deforestation(
    title="goods of the law on deforestation have a customs code",
    problem="Customs code missing",
    fix="Give the code of the Combined Nomenclature.",
    severity="warning",
    needs=("{customs_code}", "kind.label"),
    article="Art. 2(2) and Annex I",
    exact=False,
    cannot_see="Goods of which the words of their kind do not tell; whether the code is right; recycled material.",
)
def forest_goods_have_customs_code(products: Products, *, customs_code: tuple[str, ...] = ()) -> Verdict:
    """The code decides whether the law is about a product at all: coffee is listed, instant coffee is not."""
    return _missing(products, customs_code, commodities(products))


@_deforestation(
    title="goods of the law on deforestation have the reference of a due diligence statement",
    problem="Reference of the due diligence statement missing",
    fix="Give the reference number of the due diligence statement.",
    severity="info",
    needs=("{due_diligence}", "{customs_code}", "kind.label"),
    article="Art. 4(2) and 5",
    exact=False,
    cannot_see=(
        "Who placed the product on the market: since Regulation (EU) 2025/2650 the number need not be passed on beyond "
        "the first buyer; firms that are small begin on 30 June 2027."
    ),
)
def forest_goods_have_due_diligence(
    products: Products, *, customs_code: tuple[str, ...] = (), due_diligence: tuple[str, ...] = ()
) -> Verdict:
    """Coffee, cocoa, palm oil, soya, wood, rubber and cattle need a statement before they are placed on the market.

    A notice and no error: most suppliers do not have to pass the number on.
    """
    return _missing(products, due_diligence, commodities(products, customs_code))


@_rule(
    title="what is sold by weight or volume has a unit of the price",
    problem="Unit of the price missing",
    fix="Give the unit or the measure for which the price is compared.",
    severity="warning",
    needs=("{unit_price}", "netContent.data"),
    law=UNIT_PRICE,
    article="Art. 3(1)",
    exact=False,
    cannot_see="Goods that a member state exempts (Art. 5), and small shops (Art. 6).",
)
def price_unit_is_given(products: Products, *, unit_price: tuple[str, ...] = ()) -> Verdict:
    """Shops have to show the price of a kilogram or a litre beside the price; one kilogram or litre needs none."""
    return _missing(products, unit_price, is_sold_by_measure(products))
