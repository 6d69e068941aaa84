"""Answers about nutrition: "per 100 g: Fat 3.2 g; Salt 0,5 g; Energy 844 kJ / 202 kcal".

Each nutrient that is named is set; the others stay. A product has them in `isPartitionedBy`: for each basis, such as
100 g, the nutrients that it contains.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

from prodex.messages import hint, unaccented
from prodex.send.merging import recoded
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, as_one_line
from prodex.worklists.items import ItemEdit, amount_of
from prodex.worklists.layout import is_deletion
from prodex.worklists.units import are_equal, dimension

#: How to answer, for the worklist.
HOW = (
    "The basis, then the nutrients to correct, each with its unit: per 100 g: Fat 3.2 g; Salt 0.5 g; Energy 844 kJ / "
    "202 kcal. Others stay as they are."
)

_BASIS = re.compile(r"(?:per|pro|pour|par|por|je|pr\.?|/)\s+([^:;\n]+?)\s*[:;\n]", re.IGNORECASE)
_NUTRIENT = re.compile(r"(.*?\S)\s*[:=]?\s+((?:[-+−<>~≈≤≥]?\s*[.,]?\d|\().*)", re.DOTALL)
_OF_WHICH = re.compile(
    r"(?:of which|davon|dont|de las cuales|di cui|waarvan|dos quais|hvorav|heraf|varav|josta)\s+"
)
#: What labels are declared for (Regulation (EU) 1169/2011, article 32): 100 g or 100 ml.
_USUAL = ((100, "GRM"), (100, "MLT"))

#: The nutrients of a nutrition declaration (Regulation (EU) 1169/2011, article 30), by words for them.
_WORDS = {
    "ENER-": "energy, énergie, energie, energía, energia, energi, brennwert, energiewert, energy value, valeur "
    "énergétique, valor energético, valore energetico, energetische waarde",
    "FAT": "fat, lipides, matières grasses, matière grasse, fett, vet, vetten, grasas, grassi, lípidos, "
    "gorduras, fedt, rasva",
    "FASAT": "saturates, saturated, saturated fat, acides gras saturés, gesättigte fettsäuren, grasas saturadas, "
    "ácidos grasos saturados, acidi grassi saturi, verzadigde vetzuren, verzadigd vet, ácidos gordos "
    "saturados, mettede fettsyrer, mættede fedtsyrer, mättat fett, tyydyttynyttä",
    "CHOAVL": "carbohydrate, carbohydrates, glucides, kohlenhydrate, kohlenhydrat, koolhydraten, koolhydraat, "
    "hidratos de carbono, carboidrati, carboidratos, karbohydrat, karbohydrater, kulhydrat, kolhydrat, "
    "hiilihydraatit, hiilihydraattia",
    "SUGAR-": "sugars, sugar, sucres, sucre, zucker, suikers, suiker, azúcares, zuccheri, açúcares, sukkerarter, "
    "sukker, sockerarter, socker, sokerit, sokereita",
    "FIBTG": "fibre, fiber, fibres, fibres alimentaires, ballaststoffe, ballaststoff, vezels, vezel, "
    "voedingsvezel, fibra, fibra alimentaria, fibra alimentare, kostfiber, kostfibre, ravintokuitu, "
    "ravintokuitua",
    "PRO-": "protein, proteins, protéines, protéine, eiweiß, eiwitten, eiwit, proteínas, proteine, proteiini, "
    "proteiinia",
    "SALTEQ": "salt, sel, salz, zout, sal, sale, suola, suolaa",
}  # fmt: skip
#: Without accents, which get lost in capitals; ß is ss in them.
_COMMON = {unaccented(one.strip()): code for code, several in _WORDS.items() for one in several.split(",")}
_ENERGY = "ENER-"


def with_nutrients(value: Any, text: str, words: Vocabulary) -> tuple[Any, list[ItemEdit]]:
    """Return the nutrition of a product with the nutrients of an answer, and what becomes of each of these.

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
    >>> made, edits = with_nutrients(None, "per 100 g: Fat 3,2 g", Vocabulary())
    >>> made[0]["quantity"], made[0]["contains"]
    (100, [{'isConceptualizedBy': {'code': 'FAT'}, 'quantity': 3.2, 'expressedIn': {'code': 'GRM'}}])
    >>> edits[0].before, edits[0].after
    (None, 'FAT 3.2 GRM per 100 GRM')
    """
    if value is not None and not (
        isinstance(value, list) and all(isinstance(one, dict | None) for one in value)
    ):
        raise AnswerRefused("the product has nutrition of another form. Correct it at its source.")
    found = _BASIS.match(text.strip() + "\n")
    rest = text.strip() if found is None else text.strip()[found.end() :]
    nutrients = [line for part in re.split("[;\n]", rest) if (line := as_one_line(part))]
    if not nutrients:
        raise AnswerRefused(f"{text!r:.60} names no nutrient. {HOW}")
    partitions = copy.deepcopy(value or [])
    partition = _partition(partitions, None if found is None else found[1], words)
    edits = [edit for nutrient in nutrients for edit in _set(partition, nutrient, words)]
    _refuse_twice(edits)
    if not any(partition is one for one in partitions) and partition["contains"]:
        # An article without a basis at the service is filled rather than given a second table.
        partitions.append(partition)
    # What says nothing new changes nothing, such as null where a list of nutrients could be.
    return (partitions if any(edit.before != edit.after for edit in edits) else value), edits


def _partition(partitions: list[Any], typed: str | None, words: Vocabulary) -> dict[str, Any]:
    """Return the partition of a basis; a new one where there is none yet."""
    there = [one for one in partitions if one is not None]
    if typed is None:
        if len(there) == 1 and any(_is_of_basis(there[0], basis) for basis in _USUAL):
            return _with_nutrients(there[0])
        has = f"there are {len(there)} tables ({', '.join(map(_basis, there))})"
        if len(there) < 2:
            has = f"the only table is {_basis(there[0])}" if there else "there is no table"
        raise AnswerRefused(f"{has} of nutrients, so the basis is needed. Begin with it: per 100 g:")
    named = [one for one in there if as_one_line(str(one.get("name") or "")).casefold() == typed.casefold()]
    if len(named) == 1:
        return _with_nutrients(named[0])
    try:
        basis = words.quantity(typed)
    except AnswerRefused as error:
        raise AnswerRefused(f"{error} The basis is an amount of food, such as per 100 g:") from None
    same = [one for one in there if _is_of_basis(one, basis)]
    if len(same) > 1:
        raise AnswerRefused(
            f"the product has {len(same)} tables {_basis(same[0])}, and it is not certain which is meant. Correct it "
            "at its source."
        )
    if same:
        return _with_nutrients(same[0])
    return {"quantity": basis[0], "isMeasuredBy": {"code": basis[1]}, "contains": []}


def _with_nutrients(partition: dict[str, Any]) -> dict[str, Any]:
    if partition.get("contains") is None:
        partition["contains"] = []
    if not isinstance(partition["contains"], list):
        raise AnswerRefused("the product has nutrition of another form. Correct it at its source.")
    return partition


def _is_of_basis(partition: Mapping[str, Any], basis: tuple[float, str]) -> bool:
    """Whether a table is of this amount of food, in whatever unit: 100 g is 0.1 kg, and never 100 ml."""
    amount, unit = amount_of(partition.get("quantity")), _code_of(partition, "isMeasuredBy")
    return amount is not None and unit is not None and are_equal((amount, unit), basis)


def _basis(partition: Mapping[str, Any]) -> str:
    amount, unit = partition.get("quantity"), _code_of(partition, "isMeasuredBy")
    return f"per {amount} {unit}" if amount is not None and unit else f"per {partition.get('name') or '?'}"


def _set(partition: dict[str, Any], nutrient: str, words: Vocabulary) -> Iterator[ItemEdit]:
    """Set a nutrient in its table, and yield what becomes of its figures."""
    found = _NUTRIENT.fullmatch(nutrient)
    if found is None:
        raise AnswerRefused(f"{nutrient!r:.60} is not a nutrient with its quantity. Write it so: Fat 3.2 g.")
    code, contains, basis = _nutrient_code(found[1], words), partition["contains"], _basis(partition)
    of_code = [
        one for one in contains if isinstance(one, dict) and _code_of(one, "isConceptualizedBy") == code
    ]
    if is_deletion(found[2]):
        contains[:] = [one for one in contains if not any(one is other for other in of_code)]
        yield from (
            ItemEdit(
                _place_of_nutrient(basis, code, _code_of(one, "expressedIn")),
                _nutrient_text(one, basis),
                None,
            )
            for one in of_code
        )
        return
    for part in found[2].split("/"):
        quantity, unit = words.quantity(part)
        same = _matching_figure(of_code, code, unit)
        place = _place_of_nutrient(basis, code, unit)
        if same is None:
            same = {"isConceptualizedBy": {"code": code}, "quantity": quantity, "expressedIn": {"code": unit}}
            contains.append(same)
            of_code.append(same)
            yield ItemEdit(place, None, _nutrient_text(same, basis))
            continue
        before = _nutrient_text(same, basis)
        if amount_of(same.get("quantity")) != quantity:
            same["quantity"] = quantity
        same["expressedIn"] = recoded(same.get("expressedIn"), unit)
        yield ItemEdit(place, before, _nutrient_text(same, basis))


def _matching_figure(of_code: list[dict[str, Any]], code: str, unit: str) -> dict[str, Any] | None:
    """Return the figure that is meant: that of the unit, else the only one that measures the same."""
    same = [one for one in of_code if _code_of(one, "expressedIn") == unit]
    # Energy is declared twice, in kilojoules and kilocalories.
    if not same and code != _ENERGY:
        alike = [one for one in of_code if dimension(_code_of(one, "expressedIn")) == dimension(unit)]
        same = of_code if len(of_code) == 1 else alike
    if len(same) > 1:
        raise AnswerRefused(
            f"the product has {code} {len(same)} times, and it is not certain which is meant. Correct it at its source."
        )
    return same[0] if same else None


def _place_of_nutrient(basis: str, code: str, unit: Any) -> str:
    # A nutrient has one figure for what it weighs, and energy one in each unit.
    return f"isPartitionedBy {basis} {code} {unit if code == _ENERGY else dimension(unit)}"


def _nutrient_text(nutrient: Mapping[str, Any], basis: str) -> str:
    code, unit = _code_of(nutrient, "isConceptualizedBy"), _code_of(nutrient, "expressedIn")
    return f"{code} {nutrient.get('quantity')} {unit or ''}".rstrip() + f" {basis}"


def _refuse_twice(edits: list[ItemEdit]) -> None:
    after_by_place: dict[str, str | None] = {}
    for edit in edits:
        if after_by_place.setdefault(edit.place, edit.after) != edit.after:
            raise AnswerRefused(
                f"the answer has {after_by_place[edit.place]} and {edit.after}. Write one of them."
            )


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


def _nutrient_code(word: str, words: Vocabulary) -> str:
    """Return the code of a nutrient by its code, its label in the catalogue, or a common word."""
    typed = word.strip().rstrip(":=").strip()
    folded = unaccented(_OF_WHICH.sub("", typed.casefold(), count=1))
    known = words.nutrients.get(typed.casefold(), frozenset())
    if len(known) == 1:
        return next(iter(known))
    if typed in _WORDS:
        return typed
    if (code := _COMMON.get(folded)) is not None:
        return code
    near = hint(typed, [*_COMMON, *words.nutrients], "Write its code, such as FAT, or its name.")
    raise AnswerRefused(f"{typed!r:.60} is not a known nutrient{near}")
