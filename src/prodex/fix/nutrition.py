"""Answers about nutrition: "per 100 g: Fat 3.2 g; Salt 0,5 g; Energy 844 kJ / 202 kcal".

Each nutrient that is named is set; the others stay. What stands in a product is `isPartitionedBy`: for each basis the
nutrients it contains.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from prodex.fix.layout import DELETE_WORD
from prodex.fix.words import AnswerRefused, Vocabulary, as_one_line
from prodex.text import hint

#: How to answer, for the worklist.
HOW = (
    "The basis, then the nutrients to correct, each with its unit: per 100 g: Fat 3.2 g; Salt 0.5 g; Energy 844 kJ / "
    "202 kcal. Others stay as they are."
)

_BASIS = re.compile(r"(?:per|pro|pour|por|je)\s+([^:;\n]+?)\s*[:;\n]", re.IGNORECASE)
_NUTRIENT = re.compile(r"(.*?\S)\s*[:=]?\s+((?:[-+−<]?\s*\d|\().*)", re.DOTALL)

#: The nutrients of a nutrition declaration (Regulation (EU) 1169/2011, article 30), by words for them.
_WORDS = {
    "ENER-": "energy énergie energie energía",
    "FAT": "fat lipides fett vetten grasas",
    "FASAT": "saturates saturated",
    "CHOAVL": "carbohydrate carbohydrates glucides kohlenhydrate koolhydraten",
    "SUGAR-": "sugars sugar sucres zucker suikers azúcares",
    "FIBTG": "fibre fiber fibres ballaststoffe vezels",
    "PRO-": "protein proteins protéines eiweiß eiwitten proteínas",
    "SALTEQ": "salt sel salz zout sal",
}


def with_nutrients(value: Any, text: str, words: Vocabulary) -> Any:
    """Return the nutrition of a product with the nutrients of an answer.

    Parameters
    ----------
    value
        What the product has under `isPartitionedBy`; stays as it is.
    text
        The answer.
    words
        Units and nutrients of the catalogue.

    Raises
    ------
    AnswerRefused
        When it is not certain which nutrient, which unit or which basis is meant.

    Examples
    --------
    >>> made = with_nutrients(None, "per 100 g: Fat 3,2 g", Vocabulary())
    >>> made[0]["quantity"], made[0]["contains"]
    (100, [{'isConceptualizedBy': {'code': 'FAT'}, 'quantity': 3.2, 'expressedIn': {'code': 'GRM'}}])
    """
    if value is not None and not (isinstance(value, list) and all(isinstance(one, dict) for one in value)):
        raise AnswerRefused("the product has nutrition of another form. Correct it at its source.")
    partitions = copy.deepcopy(value or [])
    found = _BASIS.match(text.strip() + "\n")
    basis = None if found is None else words.quantity(found[1])
    rest = text.strip() if found is None else text.strip()[found.end() :]
    nutrients = [line for part in re.split("[;\n]", rest) if (line := as_one_line(part))]
    if not nutrients:
        raise AnswerRefused(f"{text!r:.60} names no nutrient. {HOW}")
    contains = _partition(partitions, basis).setdefault("contains", [])
    for nutrient in nutrients:
        _set(contains, nutrient, words)
    return partitions


def _partition(partitions: list[dict[str, Any]], basis: tuple[float, str] | None) -> dict[str, Any]:
    """Return the partition of a basis; a new one where there is none yet."""
    if basis is None:
        if len(partitions) == 1:
            return partitions[0]
        has = f"there are {len(partitions)} tables" if partitions else "there is none yet"
        raise AnswerRefused(f"{has} of nutrients, so the basis has to be said. Begin with it: per 100 g:")
    for partition in partitions:
        unit = partition.get("isMeasuredBy")
        if (
            partition.get("quantity") == basis[0]
            and isinstance(unit, Mapping)
            and unit.get("code") == basis[1]
        ):
            return partition
    # An article without a basis at the service is filled rather than given a second table.
    made = {"quantity": basis[0], "isMeasuredBy": {"code": basis[1]}, "contains": []}
    partitions.append(made)
    return made


def _set(contains: list[Any], nutrient: str, words: Vocabulary) -> None:
    found = _NUTRIENT.fullmatch(nutrient)
    if found is None:
        raise AnswerRefused(f"{nutrient!r:.60} is not a nutrient with its quantity. Write it so: Fat 3.2 g.")
    code = _code(found[1], words)
    of_code = [
        one for one in contains if isinstance(one, dict) and _code_of(one, "isConceptualizedBy") == code
    ]
    if found[2].strip().casefold() == DELETE_WORD:
        contains[:] = [one for one in contains if not any(one is other for other in of_code)]
        return
    for part in found[2].split("/"):
        quantity, unit = words.quantity(part)
        # Energy stands twice, in kilojoules and kilocalories.
        same = [one for one in of_code if _code_of(one, "expressedIn") == unit]
        same = same or ([] if code == "ENER-" or len(of_code) > 1 else of_code)
        if len(same) > 1:
            raise AnswerRefused(f"{code} stands {len(same)} times in {unit}. Correct it at its source.")
        if same:
            same[0]["quantity"] = quantity
            if _code_of(same[0], "expressedIn") != unit:
                same[0]["expressedIn"] = {"code": unit}
        else:
            made = {"isConceptualizedBy": {"code": code}, "quantity": quantity, "expressedIn": {"code": unit}}
            contains.append(made)


def amounts(value: Any) -> list[tuple[Any, Any]]:
    """Return quantity and unit of each nutrient of a product.

    >>> fat = {"isConceptualizedBy": {"code": "FAT"}, "quantity": 3.2, "expressedIn": {"code": "GRM"}}
    >>> amounts([{"quantity": 100, "contains": [fat]}])
    [(3.2, 'GRM')]
    """
    partitions = value if isinstance(value, list) else []
    contained = [one.get("contains") for one in partitions if isinstance(one, Mapping)]
    return [
        (nutrient.get("quantity"), _code_of(nutrient, "expressedIn"))
        for nutrients in contained
        if isinstance(nutrients, list)
        for nutrient in nutrients
        if isinstance(nutrient, Mapping)
    ]


def _code_of(value: Mapping[str, Any], key: str) -> Any:
    held = value.get(key)
    return held.get("code") if isinstance(held, Mapping) else None


def _code(word: str, words: Vocabulary) -> str:
    """Return the code of a nutrient by its code, its label in the catalogue, or a common word."""
    typed = word.strip().rstrip(":").strip()
    known = words.nutrients.get(typed.casefold(), frozenset())
    if len(known) == 1:
        return next(iter(known))
    if typed in _WORDS:
        return typed
    common = {one: code for code, several in _WORDS.items() for one in several.split()}
    if (code := common.get(typed.casefold())) is not None:
        return code
    near = hint(typed, [*common, *words.nutrients], "Write its code, such as FAT, or its name.")
    raise AnswerRefused(f"{typed!r:.60} is no nutrient that is known{near}")
