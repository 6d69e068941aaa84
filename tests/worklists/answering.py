"""A thousand answers for the worklists of the sandbox, good and bad ones, known beforehand."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

import prodex
from tests.quality.workbooks import questions

#: Sentences that are certainly of their language, and long enough for a description.
SENTENCES = {
    "fr": "Un produit de notre région, préparé avec soin selon une recette que nos clients aiment depuis toujours",
    "nl": "Een product uit onze streek, met zorg bereid volgens een recept waar onze klanten al jaren van houden",
    "es": "Un producto de nuestra región, preparado con cuidado según una receta que gusta mucho a los clientes",
}
LANGUAGES = {"French": "fr", "Dutch": "nl", "Spanish": "es"}
#: Names, with room for a number.
NAMES = {
    "fr": "Préparation de la ferme avec légumes {} sachet de la maison",
    "nl": "Bereiding van de boerderij met groenten {} zakje van het huis",
    "es": "Preparado de la granja con verduras {} bolsa de la casa",
}
SHORT = {"fr": "Légumes fermiers {}", "nl": "Groenten van hier {}", "es": "Verduras de casa {}"}
ATTRIBUTES = ("namePublicLong", "namePublicShort", "description")


@dataclass
class Answers:
    """What was answered: by file and row of the worklist.

    Attributes
    ----------
    texts
        The answers, by file and number of the row.
    good
        The text that each good answer stands for, by product, attribute and language.
    bad
        Product, attribute and language of answers that may not be sent.
    asked
        Product and check of each good answer, where nothing else of the product fails the check.
    """

    texts: dict[Path, dict[int, str]] = field(default_factory=dict)
    good: dict[tuple[str, str, str], str] = field(default_factory=dict)
    bad: set[tuple[str, str, str]] = field(default_factory=set)
    asked: set[tuple[str, str]] = field(default_factory=set)


def answered(folder: Path, catalog: prodex.Catalog, most: int) -> Answers:
    """Return answers for the findings about texts in three languages, one in ten of them bad."""
    waiting = {
        row["product_id"]
        for row in catalog.arrow("texts", ["product_id", "attribute"]).to_pylist()
        if row["attribute"].startswith("lastRequest.")
    }
    made = Answers()
    files = sorted(folder.glob("*.xlsx"))
    places: set[tuple[str, str, str]] = set()
    products = catalog.products.set_index("product_id")["gtin"]
    shared = set(products[products.duplicated(keep=False)].index)
    number = 0
    findings: Counter[tuple[str, str]] = Counter()
    candidates: dict[Path, list[Any]] = {}
    for path in files:
        rows = questions(path)
        findings.update(zip(rows["product_id"], rows["check"], strict=True))
        rows = rows[rows["attribute"].isin(ATTRIBUTES) & rows["language"].isin(list(LANGUAGES))]
        # What only a person can decide is tested elsewhere: products that wait, or share their GTIN.
        rows = rows[~rows["product_id"].isin(waiting | shared) & rows["gtin"].notna()]
        candidates[path] = list(rows.itertuples())
    # One of each worklist in turn, so that every worklist is answered.
    for path, row in (
        one for turn in zip_longest(*map(_with_path, candidates.items())) for one in turn if one
    ):
        language = LANGUAGES[row.language]
        where = (row.product_id, row.attribute, language)
        if where in places or number >= most:
            continue
        places.add(where)
        number += 1
        if number % 10 == 0:
            text = ("?", "x" * 20_001, "n/a")[number // 10 % 3]
            made.bad.add(where)
        else:
            text = good_text(row.attribute, language, number)
            made.good[where] = text
            made.asked.add((row.product_id, row.check))
        made.texts.setdefault(path, {})[int(row.row)] = text
    made.asked = {one for one in made.asked if findings[one] == 1}
    return made


def _with_path(found: tuple[Path, list[Any]]) -> list[tuple[Path, Any]]:
    path, rows = found
    return [(path, row) for row in rows]


def good_text(attribute: str, language: str, number: int) -> str:
    """Return a text that passes every check."""
    if attribute == "description":
        return (
            f"{SENTENCES[language]}, numéro {number}."
            if language == "fr"
            else f"{SENTENCES[language]} {number}."
        )
    pattern = NAMES if attribute == "namePublicLong" else SHORT
    return pattern[language].format(number)
