"""The words of the sample: kinds, variants, ingredients, phrases and code labels in five languages.

They are read once from the CSV files in this folder: one row for each thing, one column for each language.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from prodex_sandbox.own_tables import read_table

#: Short language codes in the order of the tables, with the wire form of each.
LANGUAGES: Mapping[str, str] = MappingProxyType(
    {"en": "eng-GB", "fr": "fra-FR", "de": "deu-DE", "es": "spa-ES", "nl": "nld-NL"}
)

Words = Mapping[str, str]
"""One expression: short language code to text."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of product: what it is, how it is sold, what it is made of.

    `nutrition` holds grams per 100 g or ml: fat, saturates, carbohydrate, sugars, protein, fibre, salt.
    """

    code: str
    sector: str
    group: str
    unit: str
    sizes: tuple[int | float, ...]
    storage: str
    variants: str
    recipe: tuple[str, ...]
    nutrition: tuple[float, ...]
    needs_origin: bool
    needs_preparation: bool
    alcohol: float | None
    noun: Words

    @property
    def is_food(self) -> bool:
        """Whether the rules for food apply (drinks with alcohol included)."""
        return self.group in {"food", "alcohol"}


@dataclass(frozen=True, slots=True)
class Variant:
    """What distinguishes two products of a kind, and the ingredient that this adds."""

    ingredient: str
    words: Words


@dataclass(frozen=True, slots=True)
class Ingredient:
    """An ingredient with its allergen group; `*` marks the part of the word that names the allergen."""

    code: str
    allergen: str
    words: Words


def _words(row: Mapping[str, str]) -> Words:
    return MappingProxyType({language: row[language] for language in LANGUAGES})


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _kind(row: Mapping[str, str]) -> Kind:
    traits = row["traits"].split()
    alcohol = [float(trait.removeprefix("abv=")) for trait in traits if trait.startswith("abv=")]
    return Kind(
        code=row["code"],
        sector=row["sector"],
        group=row["group"],
        unit=row["unit"],
        sizes=tuple(_number(size) for size in row["sizes"].split()),
        storage=row["storage"],
        variants=row["variants"],
        recipe=tuple(row["recipe"].split()),
        nutrition=tuple(float(part) for part in row["nutrition"].split()),
        needs_origin="origin" in traits,
        needs_preparation="prepare" in traits,
        alcohol=alcohol[0] if alcohol else None,
        noun=_words(row),
    )


def _grouped(table: str, key: str) -> dict[str, list[dict[str, str]]]:
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in read_table(__package__, table):
        groups[row[key]].append(row)
    return dict(groups)


KINDS: tuple[Kind, ...] = tuple(_kind(row) for row in read_table(__package__, "kinds"))
VARIANTS: Mapping[str, tuple[Variant, ...]] = {
    name: tuple(Variant(row["ingredient"], _words(row)) for row in rows)
    for name, rows in _grouped("variants", "set").items()
}
INGREDIENTS: Mapping[str, Ingredient] = {
    row["code"]: Ingredient(row["code"], row["allergen"], _words(row))
    for row in read_table(__package__, "ingredients")
}
PHRASES: Mapping[str, tuple[Words, ...]] = {
    key: tuple(_words(row) for row in rows) for key, rows in _grouped("phrases", "key").items()
}
#: Code lists other than kinds: list name, then code, then the label in each language.
CODES: Mapping[str, Mapping[str, Words]] = {
    name: {row["code"]: _words(row) for row in rows} for name, rows in _grouped("labels", "list").items()
}


def _labels() -> dict[tuple[str, str], Words]:
    labelled = [(kind.code, kind.noun) for kind in KINDS]
    labelled += [(code, words) for codes in CODES.values() for code, words in codes.items()]
    return {
        (code, words["en"]): MappingProxyType({key: text for key, text in words.items() if key != "en"})
        for code, words in labelled
    }


#: Translations of every code label: (code as text, US English label) to short language code to label.
LABELS: Mapping[tuple[str, str], Words] = MappingProxyType(_labels())


def code_value(code_list: str, code: str) -> dict[str, Any]:
    """Return a code value object of one of the code lists, labelled in US English.

    >>> code_value("packaging", "CASE")
    {'code': 'CASE', 'label': 'Case', 'description': None}
    """
    return {"code": code, "label": CODES[code_list][code]["en"], "description": None}


def unit(code: str) -> dict[str, Any]:
    """Return the descriptor of a unit of measure, as `expressedIn` of a quantity holds it.

    >>> unit("GRM")
    {'code': 'GRM', 'label': 'Gram'}
    """
    return {"code": code, "label": CODES["unit"][code]["en"]}


def quantity(value: float, unit_code: str) -> dict[str, Any]:
    """Return a number with its unit.

    >>> quantity(250, "GRM")
    {'data': 250, 'expressedIn': {'code': 'GRM', 'label': 'Gram'}}
    """
    return {"data": value, "expressedIn": unit(unit_code)}
