"""Rules of lists of ingredients: that they hold nothing else, and that they can be read."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import (
    FOOD_INFORMATION,
    Message,
    Products,
    Rows,
    TextColumns,
    Verdict,
    has_match,
    is_true,
    once_per_process,
    rule,
)
from prodex_food.words import rows_of

#: Characters of a finding that are shown.
_SHOWN = 60

#: Declares a rule of lists of ingredients: one that is wrong is enough to fail.
_rule = partial(
    rule,
    block="food",
    needs="{attribute}.data",
    certain="fails",
    dimension="accuracy",
    exact=False,
)


@once_per_process
def _label_parts() -> dict[str, str]:
    """Return for each part of a label that is no list of ingredients an expression by which folded text shows it."""
    found: dict[str, list[str]] = {}
    # What may be no list of ingredients is no finding yet: the check of allergens reads it as well.
    for row in rows_of("no_ingredients.tsv", use="finding"):
        found.setdefault(row["part"], []).append(row["expression"])
    return {part: "|".join(expressions) for part, expressions in found.items()}


#: What people call the parts.
_CALLED = {
    "nutrition": Message("a nutrition table"),
    "storage": Message("storage instructions or a date"),
    "address": Message("an address"),
    "preparation": Message("a preparation"),
}


@_rule(
    title="the list of ingredients holds nothing but ingredients",
    problem="More than ingredients in the list of ingredients",
    fix="Leave only the ingredients here; nutrition, storage, contact and use have fields of their own.",
    severity="warning",
    law=FOOD_INFORMATION,
    article="Art. 18 (what a list of ingredients is)",
    cannot_see="What else than ingredients is there in other words than those of its tables.",
)
def ingredients_only(products: Products, *, attribute: str = "composition") -> Verdict:
    """Whoever searches the list for an allergen or an additive finds it in an address, and shops show it all.

    Found are nutrition tables, storage instructions and dates, addresses, and preparation, in ten languages.
    """
    texts = TextColumns.of(products)
    judged = texts.within([attribute])
    used = np.unique(texts.wording[judged])
    ready = texts.folded(used)
    parts: dict[int, list[Message]] = {}
    for part, expression in _label_parts().items():
        rows = np.flatnonzero(is_true(has_match(ready, expression)))
        if not len(rows):
            continue
        seen = pc.struct_field(
            pc.extract_regex(ready.take(pa.array(rows)), f"(?P<seen>{expression})"), "seen"
        )
        for row, words in zip(used[rows].tolist(), seen.to_pylist(), strict=True):
            read = words[:_SHOWN].strip()
            parts.setdefault(row, []).append(Message('{part} ("{words}")', part=_CALLED[part], words=read))
    found = np.zeros(len(texts.texts), bool)
    found[list(parts)] = True
    wrong = judged & found[texts.wording]
    reason = Message("holds {parts}", parts=[parts[one] for one in texts.wording[wrong].tolist()])
    return texts.verdict(wrong, reason, judged)


#: Marks of a text that a program read from a picture: signs within a word, digits within a word that is no code, small
#: and capital letters mixed. Words are parted by spaces; marks around them count for none.
_STRANGE = (
    r"\pL[|\\^~<>=;!?$§@#%{}_\]\[+\"]\pL",
    r"\pL{2}\d\pL|\pL\d\pL{2}",
    r"\p{Ll}\p{Lu}\p{Ll}|\p{Ll}{2}\p{Lu}(?:\p{Lu}|$)",
    r"^[^\pL\pN\s]*[|\\^~§¤¢¬«»€£¥]+[^\pL\pN]*$",
    r"^[b-df-hj-np-tv-xz]{4,}$",
    # "*" before or behind a word is the mark of a footnote: "*from organic farming".
    r"^[,.;:'’]+\pL",
)
#: Words that are not strange although they have digits, signs or capitals: additives, vitamins, emphasis, amounts.
_MEANT = (
    r"(?i)^\W*(?:e ?\d{3,4}[a-z]{0,3}|[a-z]\d{1,2}|vit\w*|omega\W?\d|\w*(?:ml|kg|mg|cl|kj|kcal|g)|ph|bht|bha|tbhq|edta"
    r"|ascs|[ivx]+|aoc|aop|igp|dlc|dluo|nb|st|dr|mm|cm|km|hl|mct|dha|ff|pdct|ptfe|hbs)\W*$|^_+|_+|\*\*|https?:|www\.|&\w+;"
)
#: A text with at least so many strange words, and such a share of them, cannot be read. Of 12 such texts, 8 were
#: misread, which is why the finding says "perhaps".
_FEWEST_STRANGE, _SHARE = 3, 0.07


@_rule(
    title="the list of ingredients can be read",
    problem="List of ingredients perhaps cannot be read",
    fix="Type the list of ingredients again from the pack: a program has misread a picture of it.",
    severity="warning",
    source="Open Food Facts: ingredients read from pictures",
)
def ingredients_can_be_read(products: Products, *, attribute: str = "composition") -> Verdict:
    """What nobody can read warns nobody of an allergen: "Krümelk Id zudqer, Backtriebmittel: bonate, ; ewfrze".

    Perhaps: what counts are words with signs, digits or capitals in them where no language has any.
    """
    texts = TextColumns.of(products)
    judged = texts.within([attribute])
    used = np.unique(texts.wording[judged])
    strange, every = _strange_words(texts.texts.take(pa.array(used)))
    is_garbled = (strange >= _FEWEST_STRANGE) & (strange >= _SHARE * every)
    found = np.zeros(len(texts.texts), bool)
    found[used[is_garbled]] = True
    wrong = judged & found[texts.wording]
    counts = np.zeros((2, len(texts.texts)), np.int64)
    counts[:, used] = strange, every
    misread, words = counts[:, texts.wording[wrong]]
    reason = Message("{count} of {of} words look misread", count=misread, of=words)
    return texts.verdict(wrong, reason, judged)


def _strange_words(texts: pa.Array) -> tuple[Rows, Rows]:
    """Count for each text the words that look misread, and all that have a letter or a sign in place of one."""
    split = pc.split_pattern_regex(pc.utf8_trim_whitespace(texts), r"[\s,()/:-]+")
    own = pc.list_parent_indices(split).to_numpy()
    words = split.flatten().dictionary_encode()
    distinct = words.dictionary
    odd = np.zeros(len(distinct), bool)
    for pattern in _STRANGE:
        odd |= is_true(has_match(distinct, pattern))
    odd &= ~is_true(has_match(distinct, _MEANT))
    counted = is_true(has_match(distinct, r"\pL|^\W+$"))
    place = words.indices.to_numpy()
    strange = np.bincount(own[odd[place]], minlength=len(texts))
    return strange, np.bincount(own[counted[place]], minlength=len(texts))
