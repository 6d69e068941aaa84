"""Answers about nutrition: "per 100 g: Fat 3.2 g; Salt 0,5 g; Energy 844 kJ / 202 kcal".

Each nutrient that is named is set; the others stay. A product has them in `isPartitionedBy`: for each basis, such as
100 g, the nutrients that it contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from prodex.changes import ABSENT, Change, Item, step_to
from prodex.languages import Message
from prodex.languages.message import said_by
from prodex.phrases import nearest, unaccented
from prodex.send.merging import replace_code
from prodex.worklists.answer_changes import AnswerChange, AnswerChanges, merge_agreeing
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary, as_one_line
from prodex.worklists.items import amount_of
from prodex.worklists.layout import is_deletion
from prodex.worklists.units import are_equal, dimension_of

#: How to answer, for the worklist.
HOW = Message(
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
_ROOT = "isPartitionedBy"
#: The figures of a table, each by the step to it.
_Figures: TypeAlias = dict[Item | int, dict[str, Any]]


def read_nutrient_answer(product: str, value: Any, text: str, words: Vocabulary) -> AnswerChanges:
    """Return what an answer says of the nutrition of a product, nutrient by nutrient.

    Parameters
    ----------
    product
        The key of the product.
    value
        What the product has under `isPartitionedBy`.
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
    >>> said = read_nutrient_answer("7", None, "per 100 g: Fat 3,2 g", Vocabulary())
    >>> said.before, said.after
    (None, 'FAT 3.2 GRM per 100 GRM')
    >>> said.changes[-1].after
    {'isConceptualizedBy': {'code': 'FAT'}, 'quantity': 3.2, 'expressedIn': {'code': 'GRM'}}
    """
    if value is not None and not (
        isinstance(value, list) and all(isinstance(one, dict | None) for one in value)
    ):
        raise AnswerRefused.saying("the product has nutrition of another form. Correct it at its source.")
    found = _BASIS.match(text.strip() + "\n")
    rest = text.strip() if found is None else text.strip()[found.end() :]
    nutrients = [line for part in re.split("[;\n]", rest) if (line := as_one_line(part))]
    if not nutrients:
        raise AnswerRefused.saying("{text} names no nutrient. {how}", text=f"{text!r:.60}", how=HOW)
    tables = value or []
    place, table = _table(tables, None if found is None else found[1], words)
    basis, held = _basis(table), table.get("contains")
    if not isinstance(held, list | None):
        raise AnswerRefused.saying("the product has nutrition of another form. Correct it at its source.")
    step = step_to([*tables, table] if place == len(tables) else tables, place, "basis")
    before = {
        step_to(held or [], number, _known_by(_code_of(one, "isConceptualizedBy"))): one
        for number, one in enumerate(held or [])
        if isinstance(one, dict)
    }
    figures: _Figures = dict(before)
    said = []
    for nutrient in nutrients:
        for figure, after in _said_of_figures(figures, nutrient, words):
            was: Any = before.get(figure, ABSENT)
            change = Change(product, (_ROOT, step, "contains", figure), was, after)
            sides = [None if one is ABSENT else _nutrient_text(one, basis) for one in (was, after)]
            said.append(AnswerChange(change, *sides))
    if place == len(tables) and figures:
        # Another answer may say the same of a new table, and more of what it contains.
        said.insert(0, AnswerChange(Change(product, (_ROOT, step), ABSENT, table), None, None))
    return merge_agreeing(said)


def _table(tables: list[Any], typed: str | None, words: Vocabulary) -> tuple[int, Mapping[str, Any]]:
    """Return the table of a basis with its index; behind the others where there is none yet."""
    there = [(place, one) for place, one in enumerate(tables) if one is not None]
    if typed is None:
        if len(there) == 1 and any(_is_of_basis(there[0][1], basis) for basis in _USUAL):
            return there[0]
        bases = [_basis(one) for _, one in there]
        if not there:
            raise AnswerRefused.saying(
                "there is no table of nutrients, so the basis is needed. Begin with it: per 100 g:"
            )
        if len(there) == 1:
            raise AnswerRefused.saying(
                "the only table is {table} of nutrients, so the basis is needed. Begin with it: per 100 g:",
                table=bases[0],
            )
        raise AnswerRefused.saying(
            "there are {count:d} tables ({tables}) of nutrients, so the basis is needed. Begin with it: per 100 g:",
            count=len(there),
            tables=", ".join(bases),
        )
    named = [
        found
        for found in there
        if as_one_line(str(found[1].get("name") or "")).casefold() == typed.casefold()
    ]
    if len(named) == 1:
        return named[0]
    try:
        basis = words.quantity(typed)
    except AnswerRefused as error:
        raise AnswerRefused.saying(
            "{said} The basis is an amount of food, such as per 100 g:", said=said_by(error)
        ) from None
    same = [found for found in there if _is_of_basis(found[1], basis)]
    if len(same) > 1:
        raise AnswerRefused.saying(
            "the product has {count:d} tables {table}, and it is not certain which is meant. Correct it at its source.",
            count=len(same),
            table=_basis(same[0][1]),
        )
    if same:
        return same[0]
    # In the usual spelling: another answer may say 100 g where this one says 0.1 kg.
    amount, unit = next((usual for usual in _USUAL if are_equal(usual, basis)), basis)
    return len(tables), {"quantity": amount, "isMeasuredBy": {"code": unit}, "contains": []}


def _is_of_basis(partition: Mapping[str, Any], basis: tuple[float, str]) -> bool:
    """Whether a table is of this amount of food, in whatever unit: 100 g is 0.1 kg, and never 100 ml."""
    amount, unit = amount_of(partition.get("quantity")), _code_of(partition, "isMeasuredBy")
    return amount is not None and unit is not None and are_equal((amount, unit), basis)


def _basis(partition: Mapping[str, Any]) -> str:
    amount, unit = partition.get("quantity"), _code_of(partition, "isMeasuredBy")
    return f"per {amount} {unit}" if amount is not None and unit else f"per {partition.get('name') or '?'}"


def _said_of_figures(figures: _Figures, nutrient: str, words: Vocabulary) -> Iterator[tuple[Item | int, Any]]:
    """Yield what is said of the figures of a nutrient, and put it among the figures of its table."""
    found = _NUTRIENT.fullmatch(nutrient)
    if found is None:
        raise AnswerRefused.saying(
            "{text} is not a nutrient with its quantity. Write it so: Fat 3.2 g.", text=f"{nutrient!r:.60}"
        )
    code = _nutrient_code(found[1], words)
    of_code = {step: one for step, one in figures.items() if _code_of(one, "isConceptualizedBy") == code}
    if is_deletion(found[2]):
        # That it is not there is said of a nutrient, and not of each unit of energy.
        nowhere = [] if code == _ENERGY else [Item(_known_by(code), code)]
        for step in of_code or nowhere:
            figures.pop(step, None)
            yield step, ABSENT
        return
    for part in found[2].split("/"):
        quantity, unit = words.quantity(part)
        same = _matching_figure(of_code, code, unit)
        if same is None:
            made = {"isConceptualizedBy": {"code": code}, "quantity": quantity, "expressedIn": {"code": unit}}
            # A nutrient has one figure for what it weighs, and energy one in each unit.
            name = "figure" if of_code else _known_by(code)
            step = step_to([made], 0, name)
        else:
            step, old = same, of_code[same]
            new = {} if amount_of(old.get("quantity")) == quantity else {"quantity": quantity}
            made = old | new | {"expressedIn": replace_code(old.get("expressedIn"), unit)}
        figures[step] = of_code[step] = made
        yield step, made


def _known_by(code: Any) -> str:
    return "figure" if code == _ENERGY else "isConceptualizedBy"


def _matching_figure(of_code: _Figures, code: str, unit: str) -> Item | int | None:
    """Return the figure that is meant: that of the unit, else the only one that measures the same."""
    same = [step for step, one in of_code.items() if _code_of(one, "expressedIn") == unit]
    # Energy is declared twice, in kilojoules and kilocalories.
    if not same and code != _ENERGY:
        alike = [
            step
            for step, one in of_code.items()
            if dimension_of(_code_of(one, "expressedIn")) == dimension_of(unit)
        ]
        same = [*of_code] if len(of_code) == 1 else alike
    if len(same) > 1:
        raise AnswerRefused.saying(
            "the product has {code} {count:d} times, and it is not certain which is meant. Correct it at its source.",
            code=code,
            count=len(same),
        )
    return same[0] if same else None


def _nutrient_text(nutrient: Mapping[str, Any], basis: str) -> str:
    code, unit = _code_of(nutrient, "isConceptualizedBy"), _code_of(nutrient, "expressedIn")
    return f"{code} {nutrient.get('quantity')} {unit or ''}".rstrip() + f" {basis}"


def amounts_of_nutrients(value: Any) -> list[tuple[Any, Any]]:
    """Return quantity and unit of each nutrient of a product.

    >>> fat = {"isConceptualizedBy": {"code": "FAT"}, "quantity": 3.2, "expressedIn": {"code": "GRM"}}
    >>> amounts_of_nutrients([{"quantity": 100, "contains": [fat]}])
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
    shown = f"{typed!r:.60}"
    if near := nearest(typed, [*_COMMON, *words.nutrients]):
        raise AnswerRefused.saying(
            "{text} is not a known nutrient; did you mean {near}?", text=shown, near=repr(near)
        )
    raise AnswerRefused.saying(
        "{text} is not a known nutrient. Write its code, such as FAT, or its name.", text=shown
    )
