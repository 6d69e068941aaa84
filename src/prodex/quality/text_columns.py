"""The texts of a part, each wording once: what a rule finds out about one holds for all texts that have it.

`AttributeTexts` are those of one attribute, with or without a language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.name import NAMES
from prodex.facts.requested_data import EVERY_TEXT, OR
from prodex.quality.products import Products
from prodex.quality.reasons import Reasons
from prodex.quality.remembered import has_match
from prodex.quality.text_normalization import FoldedTexts
from prodex.quality.verdict import Evidence, Verdict, Words
from prodex.tables.attributes import is_within
from prodex.tables.columns import Mask, Rows, as_one_chunk, composed_texts, encoded, filled_values, is_true
from prodex.tables.filled import short_languages

#: Localized texts of the specification, of which a product has one in each language.
TEXTS = (
    *NAMES,
    *("productionVariantName", "description", "composition", "allergens"),
    *("conservationAdvices", "consumptionAdvice", "advertisedInformations"),
)
#: How many characters the end of a text has: what rules look for at the end is shorter, and texts can be very long.
_AT_THE_END = 60
#: What rules about texts need: whichever was asked for can be judged.
ANY_TEXT = OR.join([*(f"{name}.data" for name in TEXTS), EVERY_TEXT])
ANY_NAME = OR.join(f"{name}.data" for name in NAMES)


@dataclass(frozen=True, eq=False)
class TextColumns:
    """Filled texts, without those that wait under `lastRequest`.

    Attributes
    ----------
    size
        Number of products.
    product, attribute, language, wording
        One value for each text: position of its product, and the place of its attribute, language and wording below.
    attributes
        Wire paths.
    languages
        Short codes, "" where a text says none.
    texts
        Each wording once, verbatim.
    folds
        Folds them, for all that the rules of a part look at.
    """

    size: int
    product: Rows
    attribute: Rows
    language: Rows
    wording: Rows
    attributes: list[str]
    languages: list[str]
    texts: pa.Array
    folds: FoldedTexts

    @classmethod
    def of(cls, products: Products) -> Self:
        """Return those of a part, made once however many rules ask."""
        return products.remember("wordings", lambda: cls._made(products))

    @classmethod
    def _made(cls, products: Products) -> Self:
        table = products.arrow("texts", "attribute", "language", "text").combine_chunks()
        # Blank texts count as missing everywhere, so no rule has to look at them.
        filled = pa.array(filled_values(as_one_chunk(table["text"])))
        table = table.filter(filled).combine_chunks()
        attributes, attribute = encoded(table["attribute"])
        languages, language = short_languages(table["language"])
        # Many products share a text, so each wording is judged once.
        texts, wording = encoded(table["text"])
        return cls(
            len(products),
            as_one_chunk(table["product"]).to_numpy(),
            attribute,
            language,
            wording,
            attributes.to_pylist(),
            languages,
            texts,
            products.folded_texts,
        )

    def within(self, attributes: Sequence[str]) -> Mask:
        """Say which texts are at or below one of these wire paths; without any path, all are."""
        if not attributes:
            return np.ones(len(self.product), bool)
        meant = [any(is_within(name, one) for one in attributes) for name in self.attributes]
        return np.array(meant, bool)[self.attribute]

    def matching(self, pattern: str, among: Mask | None = None) -> Mask:
        """Say which texts, or which of some, have a match of a regular expression."""
        return self.marked(lambda texts: has_match(texts, pattern), among)

    def ending(self, pattern: str, among: Mask | None = None) -> Mask:
        """Say the same of an expression that is looked for at the end of the texts only, which may be long."""
        if among is None:
            return self.where(has_match(self._ends, pattern))
        return self.marked(lambda texts: has_match(_ends_of(texts), pattern), among)

    def marked(self, mark: Callable[[pa.Array], Any], among: Mask | None = None) -> Mask:
        """Say which texts, or which of some, a function marks that gets each of their wordings once."""
        if among is None:
            return self.where(mark(self.texts))
        asked, found = np.zeros((2, len(self.texts)), bool)
        asked[self.wording[among]] = True
        found[asked] = is_true(mark(self.texts.filter(pa.array(asked))))
        return found[self.wording] & among

    @cached_property
    def _ends(self) -> pa.Array:
        return _ends_of(self.texts)

    def where(self, wordings: Any) -> Mask:
        """Say which texts have one of the wordings that are marked."""
        return is_true(wordings)[self.wording]

    @cached_property
    def length(self) -> Rows:
        """The number of characters of each wording, whichever form of Unicode its accents have."""
        return np.asarray(pc.utf8_length(composed_texts(self.texts)).to_numpy(zero_copy_only=False))

    def used(self, rows: Rows) -> Rows:
        """Return the places of the wordings of some texts, each once."""
        is_used = np.zeros(len(self.texts), bool)
        is_used[self.wording[rows]] = True
        return np.flatnonzero(is_used)

    def folded(self, wordings: Rows) -> pa.Array:
        """Return wordings, given by their places in `texts`, as words are looked for in them; each is folded once."""
        # By number they are found quicker than by their letters.
        if len(new := np.unique(wordings[self._place_folded[wordings] < 0])):
            self._place_folded[new] = self.folds.places(self.texts.take(pa.array(new)))
        return self.folds.at(pa.array(self._place_folded[wordings]))

    @cached_property
    def _place_folded(self) -> Rows:
        return np.full(len(self.texts), -1)

    def texts_of(self, rows: Rows | slice) -> pa.Array:
        """Return the texts of these rows."""
        return self.texts.take(pa.array(self.wording[rows]))

    def verdict(
        self, wrong: Mask, reason: Reasons, judged: Mask | None = None, compared: Words = None
    ) -> Verdict:
        """Fail the products of the wrong texts, with each of these as evidence.

        Parameters
        ----------
        wrong
            One boolean for each text.
        reason
            What is wrong: once for all, or one for each wrong text; the columns of a message have a value for each.
        judged
            Which texts the rule is about, all by default: products without one are not applicable.
        compared
            What the wrong texts were compared with, as in `Evidence`.
        """
        rows = np.flatnonzero(wrong if judged is None else wrong & judged)
        fails, applies = np.zeros((2, self.size), bool)
        fails[self.product[rows]] = True
        applies[self.product if judged is None else self.product[judged]] = True
        attributes = pa.array(self.attributes, pa.string())
        languages = pa.array([one or None for one in self.languages], pa.string())
        evidence = Evidence(
            self.product[rows],
            attributes.take(pa.array(self.attribute[rows])),
            languages.take(pa.array(self.language[rows])),
            self.texts_of(rows),
            reason,
            compared,
        )
        return Verdict(fails, applies, evidence)


def _ends_of(texts: pa.Array) -> pa.Array:
    return pc.utf8_slice_codeunits(texts, -_AT_THE_END, None)


@dataclass(frozen=True)
class AttributeTexts:
    """The values that products have under an attribute.

    Attributes
    ----------
    texts
        Its texts that are not blank: product, language (its label, or none), text.
    otherwise
        Which products tell something there that is no text: codes, numbers.
    """

    texts: pa.Table
    otherwise: Mask

    @classmethod
    def of(cls, products: Products, attribute: str) -> Self:
        """Return the values of the products, also texts without any language; they are read once."""
        return products.remember(("attribute", attribute), lambda: cls._read(products, attribute))

    @classmethod
    def _read(cls, products: Products, attribute: str) -> Self:
        texts = products.arrow("texts", "attribute", "language", "text")
        texts = texts.filter(pc.equal(texts["attribute"], attribute)).drop_columns("attribute")
        # Some services send the list as a plain string: without a language it is a scalar, not a text.
        scalars = _below(products.arrow("scalars", "attribute", "type", "value"), attribute)
        is_text = pc.and_(
            pc.equal(scalars["type"], "string"),
            pc.is_in(scalars["attribute"], pa.array([attribute, f"{attribute}.data"])),
        )
        bare = scalars.filter(is_text)
        bare = bare.select(["product"]).append_column("language", pa.nulls(len(bare), pa.string()))
        bare = bare.append_column("text", scalars.filter(is_text)["value"])
        both = pa.concat_tables([texts, bare.cast(texts.schema)])
        # A number or a code is a list too, but one whose meaning is not known here.
        otherwise = products.any(scalars.filter(pc.invert(is_text))["product"].to_numpy())
        for table in ("codes", "quantities"):
            otherwise |= products.any(
                _below(products.arrow(table, "attribute"), attribute)["product"].to_numpy()
            )
        return cls(both.filter(pa.array(filled_values(both["text"].combine_chunks()))), otherwise)

    def of_products(self, chosen: Any) -> Self:
        """Return those of some products."""
        own = np.asarray(chosen, bool)
        return replace(self, texts=self.texts.filter(pa.array(own[self.product])))

    @property
    def product(self) -> Rows:
        """The position of the product of each text."""
        return np.asarray(self.texts["product"].to_numpy(), np.int64)


def _below(rows: pa.Table, attribute: str) -> pa.Table:
    """Return the rows at or below an attribute, except those that only name the language of a text."""
    own = pc.or_(
        pc.equal(rows["attribute"], attribute),
        pc.and_(
            pc.starts_with(rows["attribute"], f"{attribute}."),
            pc.invert(pc.starts_with(rows["attribute"], f"{attribute}.expressedIn")),
        ),
    )
    return rows.filter(own)
