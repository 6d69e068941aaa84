"""The rule of allergens: what the ingredients name, the allergens list."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.allergens import GROUPS, LANGUAGES, named_allergens
from prodex.quality.columns import Rows, encoded, looked_up, places
from prodex.quality.foods import is_food
from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule


@rule(
    title="allergens that the ingredients name are listed",
    problem="Allergen in the ingredients is not listed",
    fix="Add the allergen to {listed}, or correct the ingredients if it is not in the product.",
    severity="error",
    dimension="consistency",
    block="food",
    needs=("{composition}.data", "{listed}.data", "GPC.code"),
    scope={"is_consumer_unit": True},
    source="Regulation (EU) No 1169/2011, Art. 9(1)(c), 21 and Annex II",
    exact=False,
)
def composition_allergens_listed(
    products: Products, *, composition: str = "composition", listed: str = "allergens"
) -> Verdict:
    """People with an allergy filter by the list: what is missing there can kill.

    Words of 14 groups are looked for in English, French, German, Spanish, Italian and Dutch; what is "free from" or
    "may contain" an allergen does not count, nor what only sounds like one (coconut milk).
    """
    texts = products.arrow("texts", "attribute", "language", "text")
    texts = texts.filter(texts["text"].is_valid())
    lists = texts.filter(pc.equal(texts["attribute"], listed))
    known = pc.and_(
        pc.equal(texts["attribute"], composition), pc.is_in(texts["language"], pa.array(LANGUAGES))
    )
    compositions = texts.filter(known)
    said = _groups(products, lists)
    applies = is_food(products) & products.any(compositions["product"].to_numpy())
    mentions = _mentions(compositions)
    missing = mentions.meaning & ~said[mentions.product]
    missing[~applies[mentions.product]] = 0
    rows, reasons = _first_of_each(mentions.product, missing)
    seen = pa.array(rows)
    evidence = Evidence(
        mentions.product[rows], listed, mentions.language.take(seen), mentions.word.take(seen), reasons
    )
    return Verdict(products.any(mentions.product[missing > 0]), applies, evidence)


@dataclass(frozen=True)
class _Mentions:
    """Every word of an allergen in the compositions.

    Attributes
    ----------
    product, language, word, meaning
        For each the position of its product, the language, the word, and the bits of its groups.
    """

    product: Rows
    language: pa.Array
    word: pa.Array
    meaning: npt.NDArray[np.int32]


def _mentions(compositions: pa.Table) -> _Mentions:
    # The same text in the same language is looked at once.
    pairs = (
        compositions.select(["language", "text"])
        .group_by(["language", "text"], use_threads=False)
        .aggregate([])
    )
    languages, language = encoded(compositions["language"])
    texts, text = encoded(compositions["text"])
    keys = places(pairs["text"].combine_chunks(), texts) * len(languages)
    keys += places(pairs["language"].combine_chunks(), languages)
    order = np.argsort(keys)
    pair = looked_up(keys[order], order, text * len(languages) + language)
    found = named_allergens(pairs["text"].combine_chunks(), pairs["language"].combine_chunks())
    order = np.argsort(found.text, kind="stable")
    starts = np.searchsorted(found.text[order], np.arange(len(pairs) + 1))
    counts = starts[pair + 1] - starts[pair]
    # The words of the first composition, then those of the second ...
    inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    which = order[np.repeat(starts[pair], counts) + inside]
    row = np.repeat(np.arange(len(compositions)), counts)
    return _Mentions(
        compositions["product"].to_numpy()[row],
        compositions["language"].combine_chunks().take(pa.array(row)),
        found.word.take(pa.array(which)),
        found.meaning[which],
    )


def _groups(products: Products, lists: pa.Table) -> npt.NDArray[np.int32]:
    """Return for each product the bits of the groups that its list of allergens names, in whatever language."""
    distinct, code = encoded(lists["text"])
    said = np.zeros(len(products), np.int32)
    np.bitwise_or.at(said, lists["product"].to_numpy(), named_allergens(distinct, perhaps=True).groups[code])
    return said


def _first_of_each(product: Rows, missing: npt.NDArray[np.int32]) -> tuple[Rows, list[str]]:
    """Return of each product and missing group the first mention, product by product, and what to say of it."""
    found = []
    for group, name in enumerate(GROUPS):
        rows = np.flatnonzero(missing >> group & 1)
        _, first = np.unique(product[rows], return_index=True)
        found += [
            (int(product[row]), int(row), f"{name}: named in the composition, not listed")
            for row in rows[first]
        ]
    found.sort(key=itemgetter(0))
    return np.array([row for _, row, _ in found], np.int64), [reason for _, _, reason in found]
