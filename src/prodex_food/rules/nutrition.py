"""Rules of nutrition: figures that cannot be, or that contradict each other.

A false alarm costs more than a missed one here: Open Food Facts widened its tolerance from 10 % to 30 %. So each rule
compares only what is declared, and leaves room for rounding.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import (
    FOOD_INFORMATION,
    NAMES,
    Evidence,
    Mask,
    Message,
    Numbers,
    Nutrient,
    NutritionColumns,
    Products,
    Rows,
    TextColumns,
    Verdict,
    compared_with,
    encoded,
    folded,
    has_match,
    is_true,
    rule,
)

_OFF = "data quality checks of Open Food Facts"
#: The finding names whose limit it is. Open Food Facts widened its own where false findings annoyed people.
_PRESET = Message("preset: {said}", said="Open Food Facts")
_EU = "Regulation (EU) No 1169/2011"
#: What may tell polyols and acids that are not declared: the ingredients, and names.
_INGREDIENTS = ("composition", *NAMES)
#: What does not overlap: saturates are fat, sugars and starch are carbohydrate, and fibre may be part of it.
_ADDED_UP = (Nutrient.FAT, Nutrient.CARBOHYDRATE, Nutrient.PROTEIN, Nutrient.SALT)
#: What Art. 30(1) and Annex XV ask for, in their order.
_MANDATORY = {
    Message("energy in kJ"): (Nutrient.ENERGY, "kJ"),
    Message("energy in kcal"): (Nutrient.ENERGY, "kcal"),
    Message("fat"): (Nutrient.FAT,),
    Message("saturates"): (Nutrient.SATURATES,),
    Message("carbohydrate"): (Nutrient.CARBOHYDRATE,),
    Message("sugars"): (Nutrient.SUGARS,),
    Message("protein"): (Nutrient.PROTEIN,),
    Message("salt"): (Nutrient.SALT,),
}
#: Grams that may be rounded away: figures below 10 g are rounded to a tenth (`NutritionColumns.range`).
_ROUNDING = 0.1
#: Kilocalories up to which American labels round energy to the next five (21 CFR 101.9(c)(1)).
_SMALL_ENERGY = 50.0
#: Energy by unit: that of a gram of fat, carbohydrate or protein, fibre, polyols, organic acids (that of erythritol is
#: 0), as in Annex XIV; and what may be rounded away, of the figures of 100 g and of those of each serving, which
#: American labels round to five kilocalories.
_FACTORS = {"kJ": (37.0, 17.0, 8.0, 10.0, 13.0, 50.0, 21.0), "kcal": (9.0, 4.0, 2.0, 2.4, 3.0, 12.0, 5.0)}
#: The nutrients that give most of the energy.
_MACRO = (Nutrient.FAT, Nutrient.CARBOHYDRATE, Nutrient.PROTEIN)
#: Between a kind and a nutrient that are looked for together.
_AND = "\0"
#: What ingredients are called that have another energy than the nutrients declared, in folded text of any of the ten
#: languages: polyols and erythritol, what consists of organic acids to a part, and organic acids as additives.
_POLYOLS_NAMED = (
    r"maltit|sorbit|xylit|ksylit|isomalt|lactit|mannit|polyol|poliol|polialcol|zuckeralkohol|sugar alcohol"
    r"|\be[ -]?(?:420|421|953|964|965|966|967)\b"
)
_ERYTHRITOL_NAMED = r"erythrit|eritrit|erytrit|\be[ -]?968\b"
_ACID_FOODS_NAMED = (
    r"vinegar|vinaigre|essig\b|essig[ ,(]|vinagre|\baceto\b|azijn|eddik|\battika|etikka|\bedik|pickle|cornichon|gurken"
    r"|lemon|citron|zitrone|\blimon|\blima\b|limao|limoe|citroen|sitron|sitruuna|\blimes?\b|limette|verjus|yuzu"
    r"|choucroute|sauerkraut|zuurkool|chucrut|crauti|surkal|hapankaali|kimchi|kombucha|cranberr|passion"
)
_ACIDS_NAMED = (
    r"(?:citric|malic|lactic|tartaric|acetic|fumaric)\W+acid|acides? (?:citr|mal|lact|tart|acet)|acido (?:citr|mal"
    r"|latt|lact|tart|acet)|(?:citronen|zitronen|apfel|milch|wein|essig)saure|(?:citroen|appel|melk|wijnsteen|azijn)zuur"
    r"|(?:sitron|citron|eple|aeble|melke|maelke|vin|eddik)syre|(?:citron|appel|mjolk|vin|attik)syra"
    r"|(?:sitruuna|omena|maito|viini|etikka)happo|acidul|acidif|sauerungsmittel|zuurteregelaar|voedingszuur"
    r"|\be[ -]?(?:260|270|296|297|330|334)\b"
)
#: Grams of organic acids in 100 g, at most: of vinegar (5 to 8) and lemon juice (about 6), and of sweets and drinks
#: that are made sour.
_MOST_ACIDS, _MOST_ADDED_ACIDS = 8.0, 3.0

#: What has no energy and says so, in folded text of any of the ten languages: water, tea, coffee, herbal tea, salt,
#: spices, sweeteners and what is sweetened with them, vinegar, baking powder.
_NOTHING_IN_IT = (
    r"\b(?:water|eaux?|wasser|agua|acqua|vand|vann|vatten|vesi|vedet)\b|mineralwasser|sprudel|\w+(?:wasser|vatten|vesi)\b"
    r"|\b(?:teas?|thes|tees?|thee|cha|rooibos|mate|matcha|infusions?|infusiones|infusioni|infuso|tisanes?"
    r"|tisana|verveines?|tilleul|camomi\w*|chamomi\w*|kamille\w*|manzanilla|menthe|mint|peppermint|earl grey|darjeeling"
    r"|sencha)\b|\w{3,}(?:tee|thee)\b|(?:urte|gronn|svart|sort|gron|ort|frukt)te\b|krauter\w*|yrtti\w*"
    # Without its accent, "thé" is an English word, and "té" one in several languages.
    r"|\bthe (?:vert|noir|blanc|rouge|oolong|glace|bio|a |au |aux |de |du |en |infus|darjeeling|ceylan|assam|menthe)"
    r"|\bte (?:verde|negro|nero|bianco|blanco|rojo|rosso|preto|helado|freddo)|^(?:the|te)$"
    r"|coffee|cafes?\b|kaffee|koffie|kaffe|kahvi|caffe|espresso|expresso|lungo|ristretto|capsul|kapsel|chicoree"
    r"|\b(?:salt|sel|salz|sal|sale|zout|suola)\b|meersalz|\w+salz\b|\w*salt\b"
    r"|\b(?:spices?|epices?|herbs?|herbes?|pepper|poivre|pfeffer|pimienta|pepe|peper|pebre|pimenta|pepper|cannelle|cinnamon"
    r"|zimt|laurier|thym|basilic|persil|oregano|origan|curry|safran)\b|gewurz|krydd|mauste"
    r"|stevia|sucralose|saccharin|aspartam|sweetener|edulcor|sussstoff|dolcificant|zoetstof|adocante|sotning|sodstof|makeutus"
    r"|\b(?:zero|light|diet|sugar[ -]?free|sans sucres?|zuckerfrei|sin azucar|senza zucchero|suikervrij|sem acucar"
    r"|uten sukker|uden sukker|sockerfri|sokeriton)\b|vinegar|vinaigre|essig|vinagre|aceto|azijn|eddik|attika|etikka"
    r"|bicarbonat|baking (?:soda|powder)|levure chimique|backpulver|natron|gum\b|gomme|kaugummi|colorant|food colou?r"
)
#: What a declaration of nothing has, at least: one or two zeros are true of many foods, such as fat and salt.
_FEWEST_ZEROS = 3

#: Declares a rule of figures that contradict each other.
_rule = partial(rule, dimension="consistency", block="food", needs=NutritionColumns.NEEDS, source=_OFF)


def _are_known(*amounts: Numbers) -> Mask:
    return np.logical_not(np.isnan(np.stack(amounts)).any(axis=0))


@_rule(
    title="the nutrition declaration has all mandatory figures",
    problem="Nutrition declaration incomplete",
    fix="Add what is missing: energy in kJ and kcal, fat, saturates, carbohydrate, sugars, protein, salt.",
    severity="warning",
    dimension="completeness",
    law=FOOD_INFORMATION,
    article="Art. 30(1)",
    in_force=date(2016, 12, 13),  # Art. 55
    cannot_see="Whether the figures are those of the food.",
)
def nutrition_complete(products: Products) -> Verdict:
    """An incomplete table cannot be compared, and shops show it as an error or not at all."""
    nutrition = NutritionColumns.of(products)
    # Any partition will do: the figures may be spread over several, such as 100 g and a serving.
    lacks = np.stack([~nutrition.any(nutrition.is_declared(*figure)) for figure in _MANDATORY.values()])
    known = products.any(nutrition.product)
    wrong = np.flatnonzero(known & lacks.any(axis=0))
    lacking = [[*compress(_MANDATORY, lacks[:, product])] for product in wrong]
    reason = Message("not declared: {labels}", labels=lacking)
    compared = [", ".join(label.id for label in labels) for labels in lacking]
    evidence = Evidence(wrong, NutritionColumns.PATH, None, None, reason, compared)
    return Verdict(lacks.any(axis=0), applies=known, evidence=evidence)


@_rule(
    title="nutrition is declared per 100 g or 100 ml",
    problem="Nutrition not declared per 100 g or 100 ml",
    fix="Give the figures per 100 g or 100 ml; figures per serving can be added.",
    severity="warning",
    dimension="validity",
    needs=(NutritionColumns.NEEDS[0], *NutritionColumns.BASIS),
    law=FOOD_INFORMATION,
    article="Art. 32(2)",
    in_force=date(2016, 12, 13),  # Art. 55
    cannot_see="Whether the figures are those of the food as sold or as prepared.",
)
def nutrition_per_hundred(products: Products) -> Verdict:
    """Figures per serving cannot be compared: every supplier uses another serving."""
    nutrition = NutritionColumns.of(products)
    hundred = np.isclose(nutrition.per_hundred, 1.0)
    known = products.any(nutrition.product)
    # One partition per 100 g or 100 ml is enough; figures per serving may be added (Art. 33).
    fails = known & ~nutrition.any(hundred)
    rows = nutrition.in_order(fails[nutrition.product])
    names, reason = nutrition.names(rows), Message("neither 100 g nor 100 ml")
    compared = [compared_with(nutrition.per_hundred[row], nutrition.by_weight[row]) for row in rows]
    evidence = Evidence(nutrition.product[rows], "isPartitionedBy", None, names, reason, compared)
    return Verdict(fails, known, evidence)


@_rule(
    title="no nutrient is below zero",
    problem="Nutrient below zero",
    fix="Correct the figure.",
    severity="error",
    dimension="validity",
)
def nutrient_not_negative(products: Products) -> Verdict:
    """A quantity cannot be negative."""
    nutrition = NutritionColumns.of(products)
    amounts = nutrition.quantity
    return nutrition.nutrient_verdict(amounts < 0, ~np.isnan(amounts), Message("below zero"))


@_rule(
    title="no nutrient weighs more than the 100 g that contain it",
    problem="Nutrient over {limit} g per 100 g",
    fix="Correct the figure, its unit or its reference quantity: it is over {limit} g per 100 g.",
    severity="error",
    dimension="validity",
    needs=(*NutritionColumns.NEEDS, *NutritionColumns.BASIS),
)
def nutrient_within_hundred(products: Products, *, limit: float = 105.0) -> Verdict:
    """A decimal point was lost, or the figure refers to the whole pack; scores computed from it are meaningless.

    Not a question of figures per 100 ml: 100 ml of a syrup weigh 140 g.
    """
    nutrition = NutritionColumns.of(products)
    # Milligrams and micrograms in grams, a serving scaled to 100: only then a limit means anything. The limit is above
    # 100 since scaled and rounded figures exceed 100 without being wrong.
    factor = np.where(nutrition.by_weight, nutrition.per_hundred, np.nan)
    amounts = nutrition.grams * factor[nutrition.row]
    rounded = np.zeros(len(amounts))
    for each in NutritionColumns.IN_STEPS:
        rows = nutrition.rows_of(each)
        rounded[rows] = (nutrition.rounded_away(each) * factor)[nutrition.row[rows]]
    why = Message("over {limit:g} g per 100 g ({said})", limit=limit, said=_PRESET)
    # Scaled by the basis of its partition: the same figure of another serving is another one.
    return nutrition.nutrient_verdict(
        amounts - rounded > limit, ~np.isnan(amounts), why, lambda row: [float(factor[nutrition.row[row]])]
    )


@_rule(
    title="all nutrients together weigh no more than the 100 g that contain them",
    problem="Nutrients together over {limit} g per 100 g",
    fix="Correct fat, carbohydrate, protein or salt: together they are over {limit} g per 100 g.",
    severity="error",
    needs=(*NutritionColumns.NEEDS, *NutritionColumns.BASIS),
)
def nutrients_within_hundred(products: Products, *, limit: float = 105.0) -> Verdict:
    """One of the figures is wrong, or refers to another quantity than the others.

    Fibre is left out: some suppliers include it in carbohydrate, so that it would count twice. Not a question of
    figures per 100 ml, which have no limit by weight.
    """
    nutrition = NutritionColumns.of(products)
    # These four do not overlap: saturates are in fat, sugars in carbohydrate.
    parts = np.stack([nutrition.amount(each) for each in _ADDED_UP])
    factor = np.where(nutrition.by_weight, nutrition.per_hundred, np.nan)
    total = np.nan_to_num(parts).sum(axis=0) * factor
    # Four figures that were rounded up for each of many servings are more than the food.
    rounded = (
        np.stack([nutrition.rounded_away(each) for each in _ADDED_UP if each != Nutrient.SALT]).sum(axis=0)
        * factor
    )
    known = ~np.isnan(parts).all(axis=0) & ~np.isnan(total)
    why = Message(
        "fat, carbohydrate, protein and salt are over {limit:g} g per 100 g ({said})",
        limit=limit,
        said=_PRESET,
    )
    return nutrition.verdict(
        known & (total - rounded > limit),
        known,
        lambda row: f"{total[row]:g} g",
        why,
        lambda row: [*parts[:, row].tolist(), float(factor[row])],
    )


@_rule(
    title="the energy is physically possible",
    problem="Energy over {limit} kJ per 100 g or ml",
    fix="Correct the energy, its unit (kJ or kcal) or its reference quantity: it is over {limit} kJ per 100 g or ml.",
    severity="error",
    dimension="validity",
    needs=(*NutritionColumns.NEEDS, *NutritionColumns.BASIS),
)
def energy_possible(products: Products, *, limit: float = 3800.0) -> Verdict:
    """Pure fat has 3,700 kJ per 100 g; no food has more."""
    nutrition = NutritionColumns.of(products)
    # The larger of the two counts, since a wrong unit makes one of them too large.
    both = np.stack([nutrition.energy("kJ"), nutrition.energy("kcal") * 4.184]) * nutrition.per_hundred
    known: Mask = np.logical_not(np.isnan(both).all(axis=0))
    highest: Numbers = np.nan_to_num(both).max(axis=0)
    why = Message("over {limit:g} kJ per 100 g or ml ({said})", limit=limit, said=_PRESET)
    wrong: Mask = known & (highest > limit)
    return nutrition.verdict(
        wrong, known, lambda row: f"{highest[row]:g} kJ", why, lambda row: both[:, row].tolist()
    )


@_rule(
    title="kilojoules and kilocalories agree",
    problem="Kilojoules and kilocalories disagree",
    fix="Correct the one that is wrong; 1 kcal is 4.184 kJ.",
    severity="error",
    needs=(*NutritionColumns.NEEDS, *NutritionColumns.BASIS),
)
def kilojoules_fit_kilocalories(
    products: Products, *, least: float = 3.7, most: float = 4.7, rounding: float = 2.0
) -> Verdict:
    """They are one figure in two units: one of them is mistyped, or they were swapped."""
    nutrition = NutritionColumns.of(products)
    kilojoules, kilocalories = nutrition.energy("kJ"), nutrition.energy("kcal")
    known = _are_known(kilojoules, kilocalories)
    # 1 kcal is 4.184 kJ; 3.7 to 4.7, give or take 2 kJ, is what Open Food Facts tolerates.
    # Half a kilocalorie may have been rounded away as well, and of small figures five: American labels round the energy
    # of a serving to the next five kilocalories (21 CFR 101.9(c)(1)), and are then scaled to 100 g.
    # Where figures show that they were multiplied from servings, five of each may have been.
    of_servings = 5.0 * nutrition.of_serving
    room = np.maximum(np.where(kilocalories <= _SMALL_ENERGY, 5.0, 0.5), of_servings)
    low = kilojoules < least * (kilocalories - room) - rounding
    high = (
        kilojoules
        > most * (kilocalories + np.where(kilocalories > 0, room, np.maximum(0.5, of_servings))) + rounding
    )
    why = Message("not {least:g} to {most:g} kJ for each kcal ({said})", least=least, most=most, said=_PRESET)
    return nutrition.verdict(
        known & (low | high),
        known,
        nutrition.energies,
        why,
        lambda row: (kilojoules[row], kilocalories[row]),
    )


@_rule(
    title="the energy agrees with the nutrients within {percent} %",
    problem="Energy and nutrients over {percent} % apart",
    fix="Compare energy, fat, carbohydrate, protein and fibre with the pack: they contradict each other.",
    severity="warning",
    # Figures that were multiplied from a serving have more room, and with alcohol it is no question.
    needs=(*NutritionColumns.NEEDS, *NutritionColumns.BASIS, "percentageOfAlcoholByVolume"),
    source=f"{_EU}, Annex XIV (factors); {_OFF} (15 % and 30 %)",
    exact=False,
)
def energy_fits_nutrients(products: Products, *, percent: float = 15.0) -> Verdict:
    """One of the figures belongs to another product or another quantity, or is mistyped.

    Not a question where there is alcohol, or where fat, carbohydrate or protein is not declared. Fibre may be part
    of the carbohydrate or stand beside it, and count or not: the energy has to fit none of these to fail. So with
    polyols (2.4 kcal), erythritol (0) and organic acids (3 kcal); where the ingredients name them and the declaration
    does not, as much of them is assumed as the energy needs.
    """
    nutrition = NutritionColumns.of(products)
    # Alcohol has 29 kJ per gram (Annex XIV) and is no nutrient of the table.
    alcohol = products.filled("percentageOfAlcoholByVolume")[nutrition.product] | nutrition.has_alcohol
    given = {sign: _computed(nutrition, sign) for sign in _FACTORS}
    known = _are_known(*(nutrition.range(each)[0] for each in _MACRO))
    has_energy = np.logical_not(np.isnan(np.stack([nutrition.energy(sign) for sign in _FACTORS])).all(axis=0))
    known &= has_energy & ~alcohol
    off = known & _energy_off(nutrition, percent, np.zeros((3, len(known))))
    excused, may_be_excused = _excused(products, nutrition, percent, off)

    def why(row: int) -> Message:
        return Message(
            "fat, carbohydrate and protein give {kj:.0f} kJ or {kcal:.0f} kcal: more than {percent:g} % away ({said})",
            kj=given["kJ"][row],
            kcal=given["kcal"][row],
            percent=percent,
            said=_PRESET,
        )

    certain = off & ~excused & ~may_be_excused
    nutrients = np.stack(
        [
            *(
                nutrition.amount(each)
                for each in (
                    Nutrient.FAT,
                    Nutrient.CARBOHYDRATE,
                    Nutrient.PROTEIN,
                    Nutrient.FIBRE,
                    Nutrient.POLYOLS,
                    Nutrient.ERYTHRITOL,
                )
            ),
            nutrition.sum_of(NutritionColumns.ORGANIC_ACIDS),
            *(nutrition.energy(sign) for sign in _FACTORS),
        ]
    )
    verdict = nutrition.verdict(
        certain, known, nutrition.energies, why, lambda row: nutrients[:, row].tolist()
    )
    unclear = nutrition.any(off & may_be_excused) & ~verdict.fails
    return replace(verdict, fails=pd.arrays.BooleanArray(np.asarray(verdict.fails), unclear))


def _computed(nutrition: NutritionColumns, sign: str) -> Numbers:
    """Return the energy that fat, carbohydrate and protein give."""
    of_fat, of_sugar = _FACTORS[sign][:2]
    middle = [np.mean(nutrition.range(each), axis=0) for each in _MACRO]
    return np.asarray(of_fat * middle[0] + of_sugar * (middle[1] + middle[2]))


def _energy_off(nutrition: NutritionColumns, percent: float, more: Numbers) -> Mask:
    """Say in which partitions the energy fits no reading of the nutrients.

    Parameters
    ----------
    nutrition
        The declarations.
    percent
        By how much the energy may be off.
    more
        Grams of polyols, of erythritol and of organic acids that may be there besides those declared.
    """
    servings = nutrition.of_serving
    fat, carbohydrate, protein = (nutrition.range(each, servings) for each in _MACRO)
    fibre, polyols, erythritol = (
        np.nan_to_num(nutrition.range(each, servings)[1])
        for each in (Nutrient.FIBRE, Nutrient.POLYOLS, Nutrient.ERYTHRITOL)
    )
    acids = np.nan_to_num(nutrition.sum_of(NutritionColumns.ORGANIC_ACIDS)) + more[2]
    # Polyols count as carbohydrate; where there are more of them than of it, somebody left them out of it.
    beside = np.where(polyols > carbohydrate[1], polyols, 0.0)
    erythritol = erythritol + more[1]
    polyols = np.maximum(np.maximum(polyols, more[0]), erythritol)
    off = np.zeros(len(servings), bool)
    for sign, (of_fat, of_sugar, of_fibre, of_polyols, of_acids, rounding, of_serving) in _FACTORS.items():
        energy = nutrition.energy(sign)
        least, most = (of_fat * fat[end] + of_sugar * (carbohydrate[end] + protein[end]) for end in (0, 1))
        most = most + of_fibre * fibre + of_polyols * beside + of_acids * acids
        # These are counted as carbohydrate but give less energy; acids may be counted so, too.
        least = least - of_sugar * fibre - (of_sugar - of_polyols) * polyols - of_polyols * erythritol
        least = least - (of_sugar - of_acids) * np.minimum(acids, carbohydrate[1])
        # Small figures: the rounding of the declaration alone can exceed the percentage.
        of_servings = of_serving * servings
        off |= energy > most + np.maximum(percent / 100 * most, rounding) + of_servings
        off |= energy < least - np.maximum(percent / 100 * least, rounding) - of_servings
    return off


def _excused(products: Products, nutrition: NutritionColumns, percent: float, off: Mask) -> tuple[Mask, Mask]:
    """Say in which partitions what is not declared explains the energy: for certain, and perhaps.

    For certain where ingredients or names tell it; perhaps where these were not requested.
    """
    certain, perhaps = np.zeros((2, len(off)), bool)
    if not off.any():
        return certain, perhaps
    # American labels round small amounts in a serving to zero, and the size of the serving is not known here.
    nothing = np.stack([nutrition.amount(each) for each in _MACRO]) == 0
    perhaps |= off & nothing.all(axis=0) & np.isnan(nutrition.energy("kJ"))
    are_asked = products.are_asked_for([f"{each}.data" for each in _INGREDIENTS])
    carbohydrate = np.nan_to_num(nutrition.range(Nutrient.CARBOHYDRATE)[1])
    declared = [nutrition.is_declared(each) for each in (Nutrient.POLYOLS, Nutrient.ERYTHRITOL)]
    declared.append(np.logical_not(np.isnan(nutrition.sum_of(NutritionColumns.ORGANIC_ACIDS))))

    def explained(polyols: Mask | bool, erythritol: Mask | bool, acids: Numbers | float) -> Mask:
        # What is declared need not be assumed; the declared polyols may all be erythritol.
        polyols_left = np.where(polyols & ~declared[0], carbohydrate, 0.0)
        zero = np.where(declared[0], np.nan_to_num(nutrition.amount(Nutrient.POLYOLS)), carbohydrate)
        more = [
            polyols_left,
            np.where(erythritol & ~declared[1], zero, 0.0),
            np.where(declared[2], 0.0, acids),
        ]
        return off & ~_energy_off(nutrition, percent, np.stack(more))

    if not are_asked:
        perhaps |= explained(True, True, _MOST_ACIDS)
        return certain, perhaps
    named = {pattern: _names_match(products, nutrition, off, pattern) for pattern in _NAMED}
    acids = np.where(named[_ACIDS_NAMED], _MOST_ADDED_ACIDS, 0.0)
    acids = np.where(named[_ACID_FOODS_NAMED], _MOST_ACIDS, acids)
    certain |= explained(named[_POLYOLS_NAMED], named[_ERYTHRITOL_NAMED], acids)
    return certain, perhaps


_NAMED = (_POLYOLS_NAMED, _ERYTHRITOL_NAMED, _ACID_FOODS_NAMED, _ACIDS_NAMED)


def _names_match(
    products: Products,
    nutrition: NutritionColumns,
    chosen: Mask,
    pattern: str,
    attributes: tuple[str, ...] = _INGREDIENTS,
) -> Mask:
    """Say of which of the chosen partitions the product's ingredients or names match a pattern."""
    texts = TextColumns.of(products)
    asked = products.any(nutrition.product[chosen])
    rows = np.flatnonzero(asked[texts.product] & texts.within(attributes))
    folded_texts = texts.folded(texts.wording[rows])
    found = is_true(has_match(folded_texts, pattern))
    return products.any(texts.product[rows[found]])[nutrition.product]


def _part_within(products: Products, parts: tuple[str, ...], whole: str, why: Message) -> Verdict:
    """Say where the parts together are more than the whole that they belong to, whose figure the reason has."""
    nutrition = NutritionColumns.of(products)
    amounts = np.stack([nutrition.amount(part) for part in parts])
    total, of = np.nan_to_num(amounts).sum(axis=0), np.nan_to_num(nutrition.amount(whole))
    least = np.stack([nutrition.range(part)[0] for part in parts])
    most = nutrition.range(whole)[1]
    known = ~np.isnan(least).all(axis=0) & ~np.isnan(most)
    # Wrong is what no rounding explains, neither of the parts nor of the whole.
    wrong = known & (np.nan_to_num(least).sum(axis=0) > most - 1e-6) & (total > of + _ROUNDING + 1e-6)
    return nutrition.verdict(
        wrong,
        known,
        lambda row: f"{total[row]:g} g",
        lambda row: why.with_values(figure=of[row]),
        lambda row: [*amounts[:, row].tolist(), float(of[row])],
    )


@_rule(
    title="saturates do not exceed the fat that includes them",
    problem="Saturates above the fat",
    fix="Correct fat or saturates.",
    severity="error",
)
def saturates_within_fat(products: Products) -> Verdict:
    """Saturates are a part of fat: one of the two figures is wrong, or they were swapped."""
    why = Message("saturates, more than the fat of {figure:g} g")
    return _part_within(products, (Nutrient.SATURATES,), Nutrient.FAT, why)


@_rule(
    title="sugars and starch do not exceed the carbohydrate that includes them",
    problem="Sugars or starch above the carbohydrate",
    fix="Correct carbohydrate, sugars or starch.",
    severity="error",
)
def sugars_within_carbohydrate(products: Products) -> Verdict:
    """Sugars and starch are parts of carbohydrate: one of the figures is wrong, or they were swapped."""
    why = Message("sugars and starch, more than the carbohydrate of {figure:g} g")
    return _part_within(products, (Nutrient.SUGARS, Nutrient.STARCH), Nutrient.CARBOHYDRATE, why)


@_rule(
    title="salt is 2.5 times the sodium",
    problem="Salt is not 2.5 times the sodium",
    fix="Correct salt or sodium; salt is the sodium times 2.5.",
    severity="warning",
    source=f"{_EU}, Annex I(11)",
)
def salt_fits_sodium(products: Products, *, tolerance: float = 0.1) -> Verdict:
    """Sodium was entered as salt or in the wrong unit; people plan diets by the figure."""
    nutrition = NutritionColumns.of(products)
    (low, high), (least, most) = nutrition.range(Nutrient.SALT), nutrition.range(Nutrient.SODIUM)
    known = _are_known(low, least)
    # What both may be after rounding has to overlap, give or take what the tolerance leaves.
    room = np.maximum(tolerance * 2.5 * most, _ROUNDING)
    wrong = known & ((low > 2.5 * most + room) | (high < 2.5 * least - room))
    salt, sodium = nutrition.amount(Nutrient.SALT), nutrition.amount(Nutrient.SODIUM)
    # Of sodium that is declared as less than so much, nobody knows more.
    expected = 2.5 * np.where(np.isnan(sodium), most, sodium)
    return nutrition.verdict(
        wrong,
        known,
        lambda row: f"{salt[row]:g} g of salt, {sodium[row]:g} g of sodium",
        lambda row: Message("{figure:g} g of salt expected", figure=expected[row]),
        lambda row: (salt[row], sodium[row]),
    )


@_rule(
    title="not every figure of the nutrition declaration is zero",
    problem="Nutrition perhaps all zero",
    fix="Give the figures of the pack; where nothing is declared, leave the declaration out.",
    severity="info",
    dimension="accuracy",
    needs=(*NutritionColumns.NEEDS, "kind.code", *(f"{name}.data" for name in _INGREDIENTS)),
    exact=False,
)
def nutrition_not_all_zero(products: Products) -> Verdict:
    """Zeros that stand for "not known" make food look lighter than water; scores and filters take them as they are.

    Perhaps: water, tea, coffee, salt, spices, vinegar, sweeteners and what is sweetened with them have next to nothing;
    they are told by name, kind or ingredients in ten languages.
    """
    nutrition = NutritionColumns.of(products)
    amounts = nutrition.quantity
    size = len(nutrition.product)
    declared = np.bincount(nutrition.row[~np.isnan(amounts)], minlength=size)
    figures = np.bincount(nutrition.row[amounts != 0], minlength=size)
    known = declared >= _FEWEST_ZEROS
    nothing = known & (figures == 0)
    kinds = folded(products.column("kind").take(pa.array(nutrition.product)))
    nothing &= ~is_true(has_match(kinds, _NOTHING_IN_IT))
    if nothing.any():
        nothing &= ~_names_match(products, nutrition, nothing, _NOTHING_IN_IT, NAMES)
        # Nearly every list of ingredients names water or salt somewhere; it is one of nothing else where it begins so.
        nothing &= ~_names_match(
            products, nutrition, nothing, rf"^(?:ingr\w+ ?: ?)?[^,.;:(]{{0,60}}(?:{_NOTHING_IN_IT})"
        )
    # Of the findings that were read, about half were right: the rule informs, and does not accuse.
    why = Message("every nutrient and the energy are 0")
    return nutrition.verdict(nothing, known, lambda row: f"{declared[row]} figures, all 0", why, lambda _: ())


#: Nutrients of which a wrong unit shows among products of a kind: others vary too much, or too little. Of errors
#: planted into real products, at one false finding in 200, 90 % of salt times 1,000 were found, and hardly any in fat.
_COMPARED = (Nutrient.SALT, Nutrient.SUGARS)
#: Figures are counted in steps of a twentieth of a power of ten.
_STEPS = 20
#: With fewer products, a kind does not show what is usual in it. A figure is unusual if it
#: is so many deviations away, and by at least such a factor: within a kind, ten times as much salt is often right.
_FEWEST_OF_KIND, _DEVIATIONS, _LEAST_FACTOR = 30, 6.0, 16.0
#: The median absolute deviation of a normal distribution is this part of its standard deviation.
_MAD = 0.6745
#: What makes a figure so many times too large, or too small where the factor is below one.
_UNIT_ERRORS = {
    10.0: Message("a decimal point is lost"),
    100.0: Message("two decimal places are lost"),
    400.0: Message("milligrams of sodium as grams of salt"),
    1000.0: Message("milligrams as grams"),
    0.1: Message("a decimal point too many"),
    0.01: Message("grams as hundredths"),
    0.001: Message("grams as kilograms or milligrams"),
}


def _figures_by_kind(products: Products) -> pa.Table:
    """Count the figures of salt and sugars of a part by kind, in steps of their logarithm."""
    nutrition = NutritionColumns.of(products)
    rows, per_hundred = _compared(nutrition)
    steps = np.round(np.log10(per_hundred[rows]) * _STEPS).astype(np.int64)
    whose = pa.array(nutrition.product[nutrition.row[rows]])
    kinds = products.column("kind_code").cast(pa.string()).take(whose)
    nutrients = nutrition["nutrient_code"].cast(pa.string()).take(pa.array(rows))
    table = pa.table([kinds, nutrients, pa.array(steps)], names=["kind", "nutrient", "step"])
    table = table.filter(pc.greater(pc.utf8_length(kinds), 0))
    counted = table.group_by(["kind", "nutrient", "step"]).aggregate([([], "count_all")])
    return counted.select(["kind", "nutrient", "step", "count_all"])


def _compared(nutrition: NutritionColumns) -> tuple[Rows, Numbers]:
    """Return the rows of salt and sugars above zero, and the grams per 100 g or ml of all rows."""
    per_hundred = nutrition.grams * nutrition.per_hundred[nutrition.row]
    rows = np.concatenate([nutrition.rows_of(each) for each in _COMPARED])
    return rows[per_hundred[rows] > 0], per_hundred


def _usual_figures(counted: pa.Table) -> dict[tuple[str, str], tuple[float, float]]:
    """Return for kind and nutrient the median of the logarithms and how far away is unusual."""
    usual = {}
    frame = counted.to_pandas()
    for key, group in frame.groupby(["kind", "nutrient"]):
        if group["count_all"].sum() < _FEWEST_OF_KIND:
            continue
        values = np.repeat(group["step"].to_numpy() / _STEPS, group["count_all"].to_numpy())
        median = float(np.median(values))
        deviation = float(np.median(np.abs(values - median))) / _MAD
        usual[key] = median, max(_DEVIATIONS * deviation, float(np.log10(_LEAST_FACTOR)))
    return usual


@_rule(
    title="salt and sugars are not many times those of other products of the kind",
    problem="Salt or sugars perhaps in a wrong unit",
    fix="Compare the figure and its unit with the pack.",
    severity="info",
    dimension="accuracy",
    needs=(*NutritionColumns.NEEDS, *NutritionColumns.BASIS, "kind.code"),
    gather=_figures_by_kind,
    prepare=_usual_figures,
    source="median absolute deviation of the logarithms, by kind",
    exact=False,
)
def nutrient_usual_for_kind(products: Products, *, whole: Any) -> Verdict:
    """Milligrams entered as grams make a thousand times the salt, and people plan diets by it.

    Perhaps: compared are the figures per 100 g or ml of kinds with at least 30 products that declare some, on a
    logarithmic scale.
    """
    nutrition = NutritionColumns.of(products)
    rows, per_hundred = _compared(nutrition)
    kinds = (
        products.column("kind_code").cast(pa.string()).take(pa.array(nutrition.product[nutrition.row[rows]]))
    )
    nutrients = nutrition["nutrient_code"].cast(pa.string()).take(pa.array(rows))
    kind_and_nutrient, place = encoded(pc.binary_join_element_wise(kinds, nutrients, _AND))
    none = (np.nan, np.nan)
    keys = (tuple(key.split(_AND)) for key in kind_and_nutrient.to_pylist())
    usual = np.array([*(whole.get(key, none) for key in keys), none], float)[place]
    away = np.log10(per_hundred[rows]) - usual[:, 0]
    wrong, known = np.zeros((2, len(nutrition.row)), bool)
    known[rows] = ~np.isnan(away)
    wrong[rows] = np.abs(away) > usual[:, 1]
    factors = dict(zip(rows.tolist(), 10 ** np.nan_to_num(away), strict=True))
    medians = dict(zip(rows.tolist(), 10 ** np.nan_to_num(usual[:, 0]), strict=True))

    def why(row: int) -> Message:
        factor = factors[row]
        nearest = min(_UNIT_ERRORS, key=lambda one: abs(float(np.log10(one / factor))))
        return Message(
            "{factor} times the {usual} g that are usual for the kind: perhaps {said}",
            # As many digits as are known, and no power of ten.
            factor=float(f"{factor:.2g}"),
            usual=float(f"{medians[row]:.2g}"),
            said=_UNIT_ERRORS[nearest],
        )

    kind_of = products["kind_code"]

    def compared(row: int) -> list[object]:
        # Not what is usual of the kind, which is another figure every night.
        partition = nutrition.row[row]
        return [kind_of.iloc[nutrition.product[partition]], float(nutrition.per_hundred[partition])]

    return nutrition.nutrient_verdict(wrong, known, why, compared)
