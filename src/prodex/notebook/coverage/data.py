"""What the figures of a coverage grid are counted from: read once, kept for the next press."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from prodex.facts.fill import Attribute
from prodex.locales import language_name
from prodex.messages import counted
from prodex.notebook.conditions import Conditions
from prodex.notebook.coverage.figures import CoverageFigures, Source
from prodex.notebook.coverage.filled import FilledColumns, Report
from prodex.notebook.coverage.required import RequiredColumns
from prodex.notebook.products.filtering import ProductFilter

#: What the panel calls it to count every product, whatever an audit requires of it.
ALL_PRODUCTS = "all products"


@dataclass(frozen=True)
class Choice:
    """What a coverage grid shows.

    Attributes
    ----------
    attributes
        The attributes, as wire paths.
    by
        "language", or the facet by which products are grouped.
    language
        Of groups of products: the language in which texts count, "" for any.
    of_required
        Whether only what the audit requires is counted.
    """

    attributes: tuple[str, ...]
    by: str = "language"
    language: str = ""
    of_required: bool = False


@dataclass(frozen=True, eq=False)
class CoverageData:
    """What was read of a catalogue.

    Attributes
    ----------
    filter
        The products, and which of them meet conditions.
    filled
        Which of them have which attributes.
    required
        What the audit requires of them; None as long as nobody asked.

    Examples
    --------
    >>> import prodex
    >>> filter_ = ProductFilter(prodex.flatten([{"id": 7, "kind": {"code": "TEA"}}, {"id": 8}]))
    >>> choice = Choice(("kind",), by="kind")
    >>> data = CoverageData.of(filter_).reading(choice, Conditions())
    >>> data.has_read(choice, Conditions()), data.figures(choice, Conditions()).filled.tolist()
    (True, [[1, 1, 0]])
    """

    filter: ProductFilter
    filled: FilledColumns
    required: RequiredColumns | None = None
    _facets: frozenset[str] = frozenset()

    @classmethod
    def of(cls, filter_: ProductFilter) -> Self:
        """Return data of which nothing has been read."""
        return cls(filter_, FilledColumns.of(filter_.products.catalog))

    def following(self, filter_: ProductFilter) -> CoverageData:
        """Return what is still true of another filter: with another audit, which attributes are filled."""
        if filter_ is self.filter:
            return self
        if filter_.products.catalog is self.filter.products.catalog:
            return CoverageData(filter_, self.filled)
        return CoverageData.of(filter_)

    def has_read(self, choice: Choice, conditions: Conditions) -> bool:
        """Return whether everything is there for a choice: then its figures are counted at once."""
        return (
            self.filled.attributes.issuperset(choice.attributes)
            and (choice.by == "language" or choice.by in self._facets)
            and (not choice.of_required or self.required is not None)
            and self.filter.has_found(conditions.words)
        )

    def reading(self, choice: Choice, conditions: Conditions, report: Report | None = None) -> Self:
        """Return the same with all that a choice needs; may be called in a thread of its own."""
        products = self.filter.products
        # Other panels may have read all of it before the snapshot disappeared, and nobody would notice here.
        for part in products.catalog.parts[:1]:
            part.check("products")
        required = self.required
        if choice.of_required and required is None and products.audit is not None:
            required = RequiredColumns.of(products.audit, products.ids)
        facets = self._facets
        if choice.by != "language":
            self.filter.facets[choice.by]  # which reads it
            facets |= {choice.by}
        if not self.filter.has_found(conditions.words):
            self.filter.find(conditions.words)
        filled = self.filter.facets.filled.read(choice.attributes, report)
        return replace(self, filled=filled, required=required, _facets=facets)

    def figures(self, choice: Choice, conditions: Conditions) -> CoverageFigures:
        """Count, among the products that meet conditions."""
        among = self.filter.mask(conditions)
        required = self.required if choice.of_required else None
        source: Source = self.filled if required is None else required
        if choice.by == "language":
            found = CoverageFigures.by_language(source, choice.attributes, self.languages(choice), among)
        else:
            rows = self._rows(choice, required)
            found = CoverageFigures.by_group(source, rows, choice.by, self.filter.facets[choice.by], among)
        return found if required is None else found.applying()

    def languages(self, choice: Choice) -> list[str]:
        """Return the languages of the attributes, the one with most texts first; and those that are required."""
        required = self.required if choice.of_required else None
        found = self.filled.languages(choice.attributes)
        asked = (
            [] if required is None else [code for name, code in required.checks if name in choice.attributes]
        )
        return list(dict.fromkeys([*found, *(one for one in asked if one is not None)]))

    def left_out(self, choice: Choice, figures: CoverageFigures) -> str:
        """Say what the figures leave out: languages in which nothing is required, and what no product here needs."""
        if not choice.of_required or self.required is None:
            return ""
        pairs = [pair for pair in self.required.checks if pair[0] in choice.attributes]
        shown = {
            (name, group.code if choice.by == "language" else language)
            for (name, language), applies in zip(figures.rows, figures.applies, strict=True)
            for group, does_apply in zip(figures.columns, applies, strict=True)
            if does_apply
        }
        sentences = []
        columns = {group.code for group in figures.columns}
        gone = (
            [one for one in self.languages(choice) if one not in columns] if choice.by == "language" else []
        )
        if gone:
            sentences.append(
                f"not shown, since the audit requires nothing in them: {', '.join(map(language_name, gone))} "
                f"(to see them, choose Count: {ALL_PRODUCTS})"
            )
        if left := len(pairs) - len(shown.intersection(pairs)):
            sentences.append(
                f"not shown, since no product here needs them: {left} of {counted(len(pairs), 'requirement')}"
            )
        return "; ".join(sentences)

    def _rows(self, choice: Choice, required: RequiredColumns | None) -> list[Attribute]:
        rows: list[Attribute] = []
        for attribute in choice.attributes:
            if required is None:
                has_language = choice.language and self.filled.is_text(attribute)
                rows.append((attribute, choice.language if has_language else None))
            else:
                own = [pair for pair in required.checks if pair[0] == attribute]
                rows += own or [(attribute, None)]
        return rows
