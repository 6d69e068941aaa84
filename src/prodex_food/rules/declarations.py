"""Rules of the information about food that the law requires before it is bought, online as well."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import (
    CONSUMER_UNITS,
    FOOD_INFORMATION,
    NAMES,
    Evidence,
    Message,
    Products,
    TextColumns,
    Verdict,
    compared_with,
    encoded,
    folded,
    has_match,
    missing_data,
    quantities,
    rule,
)
from prodex_food.alcohol import ALCOHOL_LIMIT, is_alcoholic
from prodex_food.food_products import TAKEN_FOR_FOOD_BY, food_evidence, is_food, names_food
from prodex_food.label_words import may_lie_in_liquid, medium_of, words_in, words_of
from prodex_food.plain_food import may_need_no_nutrition

_EU = "Regulation (EU) No 1169/2011"

#: Article 9(1) lists what food has to say; cases and pallets are not sold to those whom it protects.
_rule = partial(
    rule,
    dimension="completeness",
    block="food",
    needs="{attribute}.data",
    certain="passes",
    scope=CONSUMER_UNITS,
    law=FOOD_INFORMATION,
)
#: What says how food has to be stored.
_STORAGE = ("conservationAdvices", "conservations", "temperature", "keepRefrigeratedBefore")
_NO_DATA = {
    evidence: Message("no data; taken for food by {evidence}", evidence=said)
    for evidence, said in TAKEN_FOR_FOOD_BY.items()
}
#: Signs that a name may have beside a brand ("®", full stops, brackets).
_SIGNS = 10
#: Where words of a drained weight are looked for, beside its own field.
_DRAINED = (*NAMES, "description", "composition")


def _missing_of_food(products: Products, attribute: str, applies: Any) -> Verdict:
    """Fail the products without data for an attribute; where no class says that they are food, say what does."""
    verdict = missing_data(products, attribute, applies)
    pending = verdict.evidence
    unclassed = products.column("gpc_code").is_null().to_numpy(zero_copy_only=False)
    is_known = is_food(products).fillna(False).to_numpy(bool)
    shown = np.flatnonzero(
        verdict.fails & is_known & unclassed & ~products.any(pending.product if pending else [])
    )
    if pending is None or not len(shown):
        return verdict
    no_data = map(_NO_DATA.__getitem__, food_evidence(products)[shown].tolist())
    waiting = dict.fromkeys(pending.product.tolist(), pending.reason)
    reasons: dict[int, Any] = dict(zip(shown.tolist(), no_data, strict=True)) | waiting
    rows = sorted(reasons)
    return replace(verdict, evidence=Evidence(rows, attribute, None, None, [reasons[row] for row in rows]))


@_rule(
    title="food has a list of ingredients",
    problem="List of ingredients missing",
    fix="Give the list of ingredients, in descending order of weight, with the allergens emphasised.",
    severity="error",
    source=f"{_EU}, Art. 9(1)(b) and 18; not of drinks over 1.2 % alcohol, Art. 16(4)",
    article="Art. 9(1)(b) and 18",
    cannot_see="That food of a single ingredient with the same name needs no list, unless the profile says its kind.",
)
def has_composition(products: Products, *, attribute: str = "composition") -> Verdict:
    """People with an allergy cannot buy food without a list of ingredients.

    Food of a single ingredient with the same name needs no list (Art. 19): exclude such kinds in the profile.
    """
    # Art. 16(4): drinks over 1.2 % alcohol need neither a list of ingredients nor a nutrition declaration.
    return _missing_of_food(products, attribute, is_food(products) & ~is_alcoholic(products))


@_rule(
    title="food has a legal name",
    problem="Legal name of the food missing, or perhaps in another field",
    fix="Give the legal name; where no law prescribes one, the customary name or a description of the food.",
    severity="warning",
    source=f"{_EU}, Art. 9(1)(a) and 17(1); GDSN rule 1744, of three markets",
    article="Art. 9(1)(a) and 17(1)",
    exact=False,
    cannot_see="Whether a law prescribes another name, and whether another name of the record describes the food.",
)
def has_legal_name(products: Products, *, attribute: str = "nameLegal") -> Verdict:
    """The name says what the food is; marketing names do not replace it, and shops show it online as well."""
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="the legal name is not only the brand",
    problem="Legal name perhaps only the brand",
    fix="Say what the food is: a brand, a trade mark or a fancy name does not replace the name of the food.",
    severity="warning",
    dimension="accuracy",
    needs=("{attribute}.data", "brand.label", "kind.label", "composition.data"),
    certain=None,
    article="Art. 17(4)",
    exact=False,
    cannot_see="Names of food that are brands as well (Roquefort), and fancy names that are no brand of the record.",
)
def legal_name_is_no_brand(products: Products, *, attribute: str = "nameLegal") -> Verdict:
    """A brand tells nobody what the food is. One that names a kind or an ingredient as well ("Water") is let pass."""
    texts = TextColumns.of(products)
    judged = texts.within([attribute])
    judged &= ~products.column("brand").is_null().to_numpy(zero_copy_only=False)[texts.product]
    rows = np.flatnonzero(judged)
    lengths = pc.utf8_length(products.column("brand")).fill_null(0).to_numpy(zero_copy_only=False)
    # A name that is much longer than the brand says more than the brand, and is not read.
    is_near = pc.utf8_length(texts.texts_of(rows)).to_numpy(zero_copy_only=False) <= (
        lengths[texts.product[rows]] + _SIGNS
    )
    rows = rows[is_near]
    whose = texts.product[rows]
    brand = _plain(products.column("brand").take(pa.array(whose))).to_pylist()
    name = _plain(texts.texts_of(rows)).to_pylist()
    # One letter is no name of anything, and nobody can compare with a brand that is not given.
    same = [len(one) > 1 and _letters(one) == _letters(its) for one, its in zip(name, brand, strict=True)]
    wrong = np.zeros(len(judged), bool)
    wrong[rows] = same
    suspects = products.any(whose[np.array(same, bool)])
    if suspects.any():
        kinds = _plain(products.column("kind")).to_pylist()
        listed = np.flatnonzero(texts.within(["composition"]) & suspects[texts.product])
        made_of = dict.fromkeys(texts.product[listed].tolist(), "")
        for product, words in zip(
            texts.product[listed].tolist(), _plain(texts.texts_of(listed)).to_pylist(), strict=True
        ):
            made_of[product] += f" {words} "
        for place in np.flatnonzero(same).tolist():
            product = int(whose[place])
            wrong[rows[place]] = not (
                f" {name[place]} " in f" {kinds[product]} "
                or f" {name[place]} " in made_of.get(product, "").replace(f" {name[place]} ingredients ", " ")
                or names_food(name[place])
            )
    brands = products["brand"]
    compared = [compared_with(brands.iloc[row]) for row in texts.product[np.flatnonzero(wrong)].tolist()]
    verdict = texts.verdict(wrong, Message("the same as the brand"), judged, compared)
    return replace(verdict, applies=is_food(products) & verdict.applies)


#: What companies write behind their names.
_COMPANY = (
    r"[ ,]+(?:s\.? ?a\.?(?: ?s\.?)?|s\.? ?p\.? ?a\.?|s\.? ?r\.? ?l\.?"
    r"|gmbh|ag|kg|b\.? ?v\.?|n\.? ?v\.?|ltd\.?|inc\.?|plc)$"
)


def _plain(texts: Any) -> pa.Array:
    """Return texts as names and brands compare: folded, without forms of companies, words with a space between them."""
    distinct, code = encoded(texts)
    plain = pc.replace_substring_regex(pc.utf8_trim_whitespace(folded(distinct)), _COMPANY, "")
    plain = pc.utf8_trim_whitespace(pc.replace_substring_regex(plain, r"[^\pL\pM\pN]+", " "))
    # The last value is for products without one, whose code is -1.
    return pa.concat_arrays([plain, pa.array([""], pa.string())]).take(pa.array(code % (len(distinct) + 1)))


def _letters(plain: str) -> str:
    return plain.replace(" ", "")


@_rule(
    title="food in a liquid medium has its drained weight",
    problem="Drained weight perhaps missing",
    fix="Give the drained net weight beside the net weight, as printed on the pack.",
    severity="warning",
    needs=("{attribute}.data", "kind.label", *(f"{name}.data" for name in _DRAINED)),
    certain=None,
    article="Art. 23 and Annex IX(5)",
    exact=False,
    cannot_see="Food whose names and kind name no liquid around it; the law does not count oil.",
)
def has_drained_weight(products: Products, *, attribute: str = "drainedWeight") -> Verdict:
    """Who buys a tin of pineapple pays for its juice as well: the law wants both weights.

    Perhaps: the names and the kind tell that food lies in brine, water, vinegar, syrup or juice.
    """
    texts = TextColumns.of(products)
    named = np.flatnonzero(texts.within(NAMES))
    in_liquid: dict[int, str] = {}
    of_kind = products.by_folded(products.column("kind"), medium_of, "")
    for product in np.flatnonzero(of_kind != "").tolist():
        in_liquid[product] = str(of_kind[product])
    used = texts.used(named)
    used = used[may_lie_in_liquid(texts.texts.take(pa.array(used)))]
    mediums = np.full(len(texts.texts), "", object)
    mediums[used] = [*map(medium_of, texts.folded(used).to_pylist())]
    named = named[mediums[texts.wording[named]] != ""]
    for product, wording in zip(texts.product[named].tolist(), texts.wording[named].tolist(), strict=True):
        in_liquid.setdefault(product, mediums[wording])
    told = texts.within(_DRAINED) & products.any(list(in_liquid))[texts.product]
    has_words = texts.marked(lambda wordings: has_match(products.folded(wordings), words_of("drained")), told)
    fails = (
        products.any(list(in_liquid)) & ~products.filled(attribute) & ~products.any(texts.product[has_words])
    )
    rows = np.flatnonzero(fails)
    evidence = Evidence(
        rows,
        attribute,
        None,
        [in_liquid[row] for row in rows.tolist()],
        Message("no data; its name says that it lies in a liquid"),
    )
    return Verdict(fails, is_food(products) & products.any(list(in_liquid)), evidence)


@_rule(
    title="alcoholic strength has at most one decimal",
    problem="Alcoholic strength with more than one decimal",
    fix="Give the alcoholic strength with at most one decimal, as on the label.",
    severity="info",
    dimension="validity",
    certain="fails",
    article="Art. 28(2) and Annex XII",
    cannot_see="How the strength is written on the pack, and whether it is the actual one.",
)
def alcohol_strength_to_a_tenth(
    products: Products, *, attribute: str = "percentageOfAlcoholByVolume"
) -> Verdict:
    """The law prescribes how the strength is written, so a figure such as 4.95 is not that of the label."""
    product, strength, _ = quantities(products, attribute)
    # Below the limit the law asks for no strength, and so not for how it is written.
    judged = strength > ALCOHOL_LIMIT
    # A float of 32 bits holds 12.1 as 12.100000381: what is as near as that to a tenth is one.
    tenth = np.round(strength, 1)
    wrong = np.flatnonzero(judged & (np.abs(strength - tenth) > np.abs(tenth) * 2.0**-23))
    evidence = Evidence(
        product[wrong], attribute, None, strength[wrong].tolist(), Message("more than one decimal")
    )
    return Verdict(products.any(product[wrong]), is_food(products) & products.any(product[judged]), evidence)


@_rule(
    title='food with a "use by" date has storage conditions',
    problem='Storage conditions beside the "use by" date missing',
    fix="Give the storage conditions that have to be observed until the date.",
    severity="error",
    needs=("{attribute}", *_STORAGE),
    certain=None,
    article="Art. 24, 25 and Annex X(2)(b)",
    cannot_see="Dates on the pack of which the record does not say the type.",
)
def use_by_has_storage_conditions(
    products: Products, *, attribute: str = "tradeItemDateOnPackagingTypeCode"
) -> Verdict:
    """A "use by" date is true only of food that is stored as it should be, so the law wants the conditions after it."""
    rows = products.values_at([attribute], "codes.code", "codes.label", "scalars.value", "texts.text")
    is_date = products.by_folded(rows["value"], lambda text: bool(words_in(text, "use_by")), False)
    used = products.any(rows["product"].to_numpy()[is_date])
    fails = used & ~products.any_filled(_STORAGE)
    reason = Message('a "use by" date, and no storage conditions')
    return Verdict(
        fails,
        is_food(products) & used,
        Evidence(np.flatnonzero(fails), _STORAGE[0], reason=reason),
    )


@_rule(
    title="food has storage conditions",
    problem="Storage conditions missing",
    fix="Give the storage conditions as printed on the pack.",
    severity="warning",
    exact=False,
    article="Art. 9(1)(g) and 25",
    cannot_see="Whether the food needs special conditions.",
)
def has_storage_conditions(products: Products, *, attribute: str = "conservationAdvices") -> Verdict:
    """Food that is stored wrongly spoils or makes people ill.

    The law requires them only for food that needs special conditions, which a record does not show: a warning.
    """
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="the name and address of the food business operator are given",
    problem="Name and address of the food business operator missing",
    fix="Give the name and address of the operator under whose name the food is sold.",
    severity="error",
    needs="{attribute}",
    article="Art. 9(1)(h) and 8(1)",
    cannot_see="Whether it is the operator under whose name the food is sold, and whether the address is right.",
)
def has_operator_contact(products: Products, *, attribute: str = "contact") -> Verdict:
    """Customers and authorities have to know whom to contact."""
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="food has a country of origin",
    problem="Country of origin missing",
    fix="Give the country of origin or place of provenance.",
    severity="error",
    needs="{attribute}",
    source=f"{_EU}, Art. 9(1)(i) and 26; the kinds of which it is asked stand in the profile",
    article="Art. 9(1)(i) and 26",
    cannot_see="Food of other kinds whose origin is asked for because the pack suggests one.",
)
def has_origin(products: Products, *, attribute: str = "originCountry") -> Verdict:
    """It is mandatory for meat, fish, eggs, honey, olive oil, wine, fruit and vegetables, and where its absence
    misleads.
    """
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="food has instructions for use",
    problem="Instructions for use missing",
    fix="Give the instructions for use as printed on the pack.",
    severity="error",
    source=f"{_EU}, Art. 9(1)(j) and 27; the kinds of which it is asked stand in the profile",
    article="Art. 9(1)(j) and 27",
    cannot_see="Whether food of other kinds can be used without instructions.",
)
def has_instructions_for_use(products: Products, *, attribute: str = "consumptionAdvice") -> Verdict:
    """They are mandatory where food cannot be used properly without them, as with raw, frozen or dried food."""
    return _missing_of_food(products, attribute, is_food(products))


@_rule(
    title="alcoholic drinks state their strength",
    problem="Alcoholic strength missing",
    fix="Give the alcoholic strength by volume in per cent.",
    severity="error",
    source=f"{_EU}, Art. 9(1)(k) and 28; GDSN rule 325, of beers, wines and spirits by class",
    article="Art. 9(1)(k) and 28",
    cannot_see="Drinks whose class, kind, names and figures do not say that they have alcohol.",
)
def has_alcohol_strength(
    products: Products, *, attribute: str = "percentageOfAlcoholByVolume", kinds: tuple[str, ...] = ()
) -> Verdict:
    """It is mandatory for drinks over 1.2 % alcohol: by class, kind, names and figures, or the profile's kinds."""
    return _missing_of_food(products, attribute, is_alcoholic(products, kinds))


@_rule(
    title="food has a nutrition declaration",
    problem="Nutrition declaration missing",
    fix="Give the nutrition declaration per 100 g or 100 ml.",
    severity="error",
    needs="{attribute}.contains.quantity",
    source=f"{_EU}, Art. 9(1)(l) and 30; not of drinks over 1.2 % alcohol, Art. 16(4), nor of Annex V",
    article="Art. 9(1)(l) and 30",
    in_force=date(2016, 12, 13),  # Art. 55
    cannot_see="Small packs and food of small local makers, which need none (Annex V).",
)
def has_nutrition(products: Products, *, attribute: str = "isPartitionedBy") -> Verdict:
    """Shops compute scores and filters from the declaration.

    Unprocessed single-ingredient food, water, spices, tea and coffee need none (Annex V): what may be such food is
    unknown, unless the profile excludes its kind.
    """
    # A partition without nutrients declares nothing, so the nutrients are looked for, not the partition.
    verdict = missing_data(products, f"{attribute}.contains", is_food(products) & ~is_alcoholic(products))
    lacking = np.asarray(verdict.fails, bool) & verdict.applies.fillna(False).to_numpy(bool)
    return replace(verdict, applies=verdict.applies & ~may_need_no_nutrition(products, lacking))
