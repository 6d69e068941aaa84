"""The figures of a coverage grid: how many products of each group have each attribute.

Either everything that is filled counts, or what the checks of an audit require of each product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from prodex.exploration.facet_values import FacetValues
from prodex.exploration.facets import fill_facet
from prodex.exploration.filled import CellState, FilledColumns, FilledCount
from prodex.exploration.filtering import ProductFilter
from prodex.facts.attribute_states import Attribute
from prodex.facts.groups import column_names
from prodex.locales import language_label, language_name
from prodex.phrases import counted
from prodex.progress import Show
from prodex.quality import Audit
from prodex.quality.check import Check
from prodex.quality.scores import SMALL, ratio
from prodex.quality.states import State
from prodex.selection import Code, FailingChecks, Selection
from prodex.selection.paths import FILL
from prodex.selection.units import ALL_UNITS, CONSUMER, CONSUMER_UNITS, CountedUnits, UnitCount, names_units
from prodex.tables.columns import Mask, as_one_chunk, places
from prodex.tables.fill_state import LACKING

#: What the panel calls it to count every product, whatever an audit requires of it.
ALL_PRODUCTS = "needed or not"


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
    units
        Which units are counted: "consumer" or "all".
    """

    attributes: tuple[str, ...]
    by: str = "language"
    language: str = ""
    of_required: bool = False
    units: str = CONSUMER


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
    >>> data = CoverageData.of(filter_).reading(choice, Selection())
    >>> data.has_read(choice, Selection()), data.figures(choice, Selection()).filled.tolist()
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

    def has_read(self, choice: Choice, conditions: Selection) -> bool:
        """Return whether everything is there for a choice: then its figures are counted at once."""
        return (
            self.filled.attributes.issuperset(choice.attributes)
            and (choice.by == "language" or choice.by in self._facets)
            and (not choice.of_required or self.required is not None)
            and self.filter.has_found(conditions.words)
        )

    def reading(self, choice: Choice, conditions: Selection, show: Show = lambda *_: None) -> Self:
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
        filled = self.filter.facets.filled.read(choice.attributes, show)
        return replace(self, filled=filled, required=required, _facets=facets)

    def figures(self, choice: Choice, conditions: Selection) -> CoverageFigures:
        """Count, among the products that meet conditions and are of the units that count."""
        among, counted = self.filter.mask(conditions), self._units(choice, conditions).mask
        required = self.required if choice.of_required else None
        if required is None:
            among = among & counted
        else:
            required = required.counting(counted)
        source: Source = self.filled if required is None else required
        if choice.by == "language":
            found = CoverageFigures.by_language(source, choice.attributes, self.languages(choice), among)
        else:
            rows = self._rows(choice, required)
            found = CoverageFigures.by_group(source, rows, choice.by, self.filter.facets[choice.by], among)
        return found if required is None else found.applying()

    def counted_units(self, choice: Choice, conditions: Selection) -> UnitCount:
        """Return of how many of the products that meet conditions the figures are."""
        return self._units(choice, conditions).count(self.filter.mask(conditions))

    def _units(self, choice: Choice, conditions: Selection) -> CountedUnits:
        usual = self.filter.products.units
        is_named = names_units(conditions) or (
            choice.of_required and self.required is not None and self.required.name_units
        )
        return usual.counting(ALL_UNITS) if is_named or choice.units == ALL_UNITS else usual

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


#: The checks that ask for data, by attribute and language.
Checks: TypeAlias = Mapping[Attribute, tuple[Check, ...]]


@dataclass(frozen=True, eq=False)
class RequiredColumns:
    """The attributes that an audit requires, and of which products.

    Attributes
    ----------
    audit
        The audit.
    checks
        The checks that ask for data of an attribute, in one language or in any.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> catalog = prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8}])
    >>> checks = {"required_text": {"attribute": "nameLegal", "language": "fr"}}
    >>> required = RequiredColumns.of(prodex.audit(catalog, {"checks": checks}), pa.array(["8", "7"]))
    >>> required.counted(("nameLegal", "fr"), np.array([True, True]))
    FilledCount(filled=1, products=2, unknown=0)
    """

    audit: Audit
    checks: Checks
    _states: Mapping[Attribute, npt.NDArray[np.int8]]
    _counted: Mask | None = None

    @classmethod
    def of(cls, audit: Audit, product_ids: pa.Array) -> Self:
        """Read the states of these products; what the audit does not cover is unknown."""
        checks = required_checks(audit)
        numbers = {check.id: place for place, check in enumerate(audit.checks)}
        judged = places(product_ids, as_one_chunk(audit.identity["product_id"]))
        found: dict[Attribute, npt.NDArray[np.int8]] = {}
        columns = [[numbers[check.id] for check in some] for some in checks.values()]
        # Part by part: the states of all checks of a large audit at once would take much memory.
        read: list[list[npt.NDArray[np.int8]]] = [[] for _ in columns]
        for part in audit.parts:
            states = part.states
            for own, kept in zip(columns, read, strict=True):
                kept.append(_merged_states(states[:, own]))
        for attribute, kept in zip(checks, read, strict=True):
            # The last value is for products that the audit does not cover, whose place is -1.
            joined = np.concatenate([*kept, np.array([State.UNKNOWN], np.int8)])
            found[attribute] = joined[judged]
        return cls(audit, checks, found)

    def counting(self, counted: Mask) -> Self:
        """Return the same where only these products count, but for checks that name the units that they are about."""
        return replace(self, _counted=counted)

    @property
    def name_units(self) -> bool:
        """Whether each check names the units that it is about, so that all to which it applies count."""
        return all(map(self._names_units, self.checks))

    def _names_units(self, attribute: Attribute) -> bool:
        return any(check.units != CONSUMER for check in self.checks.get(attribute, ()))

    def state(self, attribute: Attribute) -> CellState:
        """Return what the figures of an attribute, in any language or in one, mean."""
        return CellState.KNOWN if attribute in self.checks else CellState.NOT_REQUIRED

    def counted(self, attribute: Attribute, among: Mask) -> FilledCount:
        """Return how many of some products have what is required, of how many it is, and of how many it is unknown."""
        passed, failed, unknown = (int(one.sum()) for one in self._masks(attribute, among))
        return FilledCount(passed, passed + failed, unknown)

    def counted_by(self, groups: FacetValues, attribute: Attribute, among: Mask) -> FilledCount:
        """Return the same for each group."""
        passed, failed, unknown = (groups.count(one) for one in self._masks(attribute, among))
        return FilledCount(passed, passed + failed, unknown)

    def _masks(self, attribute: Attribute, among: Mask) -> Iterator[Mask]:
        states = self._states.get(attribute)
        if self._counted is not None and not self._names_units(attribute):
            among = among & self._counted
        for state in (State.PASS, State.FAIL, State.UNKNOWN):
            yield np.zeros(len(among), bool) if states is None else (states == state) & among


def required_checks(audit: Audit) -> Checks:
    """Return the checks of an audit that ask for data, by attribute and language."""
    found: dict[Attribute, tuple[Check, ...]] = {}
    for check in audit.checks:
        if check.is_presence and check.attribute is not None:
            key = (check.attribute, check.language)
            found[key] = (*found.get(key, ()), check)
    return found


def _merged_states(states: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return the state of several checks as one: a product lacks what any of them misses."""
    found = np.full(len(states), State.NOT_APPLICABLE, np.int8)
    for state in (State.PASS, State.UNKNOWN, State.FAIL):
        found[(states == state).any(axis=1)] = state
    return found


Counts = npt.NDArray[np.int64]
#: What is counted: attributes that are filled, or what an audit requires.
Source: TypeAlias = FilledColumns | RequiredColumns

_WITH_FIGURES = (CellState.KNOWN, CellState.IN_PART)


@dataclass(frozen=True)
class Group:
    """A column: the products of a group, or texts in a language.

    Attributes
    ----------
    code
        Of the group; None for the products without one.
    label
        What it is called.
    products
        How many products it has.
    """

    code: Code
    label: str
    products: int


@dataclass(frozen=True, eq=False)
class CoverageFigures:
    """How many products have attributes, by attribute and group.

    Attributes
    ----------
    by
        "language", or the facet by which the products are grouped.
    rows
        An attribute each, and the language of its texts where only those count.
    columns
        The groups, after the first: that is all products, and texts in any language.
    filled, products, unknown
        By row and column: how many products have it, of how many, and of how many it is unknown.
    states
        By row and column what the figures mean.

    Examples
    --------
    >>> import prodex
    >>> text = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> filled = FilledColumns.of(prodex.flatten([{"id": 7, "nameLegal": text}, {"id": 8}]), ["nameLegal", "brand"])
    >>> figures = CoverageFigures.by_language(filled, ["brand", "nameLegal"], ["fr"], np.array([True, True]))
    >>> figures.frame()[["attribute", "language", "filled", "products", "state"]].values.tolist()[1]
    ['brand', 'fr', 0, 2, 'not applicable']
    """

    by: str
    rows: tuple[Attribute, ...]
    columns: tuple[Group, ...]
    filled: Counts
    products: Counts
    unknown: Counts
    states: npt.NDArray[np.object_]

    @classmethod
    def by_language(
        cls, source: Source, attributes: Iterable[str], languages: Sequence[str], among: Mask
    ) -> Self:
        """Count texts of attributes by language, of some products."""
        rows = [(attribute, None) for attribute in attributes]
        size = int(among.sum())
        columns = [
            Group(None, "any language", size),
            *(Group(one, language_label(one), size) for one in languages),
        ]
        counted, states = [], []
        for attribute, _ in rows:
            pairs = [(attribute, group.code) for group in columns]
            counted.append(_stacked_counts([source.counted(pair, among) for pair in pairs]))
            states.append([source.state(pair) for pair in pairs])
        return cls._of("language", rows, columns, counted, states)

    @classmethod
    def by_group(
        cls, source: Source, rows: Sequence[Attribute], by: str, groups: FacetValues, among: Mask
    ) -> Self:
        """Count attributes by group, of some products; groups without any of these are left out."""
        sizes = groups.count(among)
        there = np.flatnonzero(sizes)
        there = there[np.argsort(-sizes[there], kind="stable")]
        every = Group(None, "all products", int(among.sum()))
        columns = [every, *(Group(groups.codes[n], groups.labels[n], int(sizes[n])) for n in there)]
        counted, states = [], []
        for row in rows:
            whole, parts = source.counted(row, among), source.counted_by(groups, row, among)
            counted.append(
                FilledCount(
                    *(np.concatenate([[one], some[there]]) for one, some in zip(whole, parts, strict=True))
                )
            )
            states.append([source.state(row)] * len(columns))
        return cls._of(by, rows, columns, counted, states)

    @classmethod
    def _of(
        cls,
        by: str,
        rows: Sequence[Attribute],
        columns: Sequence[Group],
        counted: Sequence[FilledCount],
        states: Sequence[Sequence[CellState]],
    ) -> Self:
        shape = (len(rows), len(columns))
        filled, products, unknown = (
            np.array([one[place] for one in counted], np.int64).reshape(shape) for place in range(3)
        )
        meant = np.array(states, object).reshape(shape)
        # Values that were received although they were not requested may be only a part of all values.
        meant[(meant == CellState.NOT_ASKED) & (filled > 0)] = CellState.IN_PART
        known = meant == CellState.KNOWN
        meant[known & (products == 0) & (unknown > 0)] = CellState.UNKNOWN
        has_group = np.array([group.products > 0 for group in columns], bool)
        meant[known & (products == 0) & (unknown == 0) & has_group] = CellState.NOT_APPLICABLE
        return cls(by, tuple(rows), tuple(columns), filled, products, unknown, meant)

    @property
    def has_figures(self) -> npt.NDArray[np.bool_]:
        """By row and column: whether there are figures."""
        return np.isin(self.states, _WITH_FIGURES)

    @property
    def applies(self) -> npt.NDArray[np.bool_]:
        """By row and column: whether there is anything to say, be it that it is unknown."""
        return ~np.isin(self.states, (CellState.NOT_APPLICABLE, CellState.NOT_REQUIRED))

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """By row and column: the share of products that have it; NaN where there is none."""
        return _shares(self.filled, self.products, self.has_figures)

    @property
    def totals(self) -> tuple[Counts, Counts]:
        """By column: the sums of filled and products over all rows that have figures."""
        there = self.has_figures
        return (self.filled * there).sum(axis=0), (self.products * there).sum(axis=0)

    @property
    def total_shares(self) -> npt.NDArray[np.float64]:
        """By column: the share that is filled of all that could be; NaN where nothing could."""
        filled, products = self.totals
        return ratio(filled.astype(float), products.astype(float))

    def applying(self) -> Self:
        """Return the same without the rows and groups to which nothing that is required applies."""
        # A row of which nothing is required says so: somebody has asked for it.
        is_required = (self.states != CellState.NOT_REQUIRED).any(axis=1)
        rows = np.flatnonzero(self.applies.any(axis=1) | ~is_required)
        groups = 1 + np.flatnonzero(self.applies[:, 1:].any(axis=0))
        return self._taken(rows, np.concatenate([[0], groups]))

    def worst_first(self) -> Self:
        """Return the same with the least filled rows and groups first; small groups are last."""
        there = self.has_figures
        whole = self.shares[:, 0] if self.columns else np.zeros(len(self.rows))
        # A row that has no figure for all together, since each language is required by itself, has that of its parts.
        parts = ratio((self.filled * there).sum(axis=1) * 1.0, (self.products * there).sum(axis=1) * 1.0)
        rows = np.argsort(np.where(np.isnan(whole), parts, whole), kind="stable")
        share = self.total_shares
        small = np.array([group.products < SMALL for group in self.columns], bool)
        # NaN is sorted last in any case; the first column stays where it is.
        columns = np.array([0, *(1 + np.lexsort((share[1:], small[1:])))], np.int64)
        return self._taken(rows, columns)

    def by_row(self, row: int, *, is_best_first: bool = False) -> Self:
        """Return the same with the groups in the order of one row, the least filled first; small groups are last.

        >>> import prodex
        >>> records = [{"id": n, "kind": {"code": "AB"[n > 10]}} | {"brand": {"code": "X"}} for n in range(1, 22)]
        >>> records += [{"id": n, "kind": {"code": "C"}} for n in range(30, 41)]
        >>> choice = Choice(("brand",), by="kind")
        >>> data = CoverageData.of(ProductFilter(prodex.flatten(records))).reading(choice, Selection())
        >>> [group.code for group in data.figures(choice, Selection()).by_row(0).columns]
        [None, 'C', 'B', 'A']
        """
        share = self.shares[row]
        small = np.array([group.products < SMALL for group in self.columns], bool)
        order = -share if is_best_first else share
        columns = 1 + np.lexsort((order[1:], small[1:], np.isnan(share[1:])))
        return self._taken(np.arange(len(self.rows)), np.array([0, *columns], np.int64))

    def _taken(self, rows: Counts, columns: Counts) -> Self:
        place = np.ix_(rows, columns)
        return replace(
            self,
            rows=tuple(self.rows[n] for n in rows),
            columns=tuple(self.columns[n] for n in columns),
            filled=self.filled[place],
            products=self.products[place],
            unknown=self.unknown[place],
            states=self.states[place],
        )

    def frame(self) -> pd.DataFrame:
        """Return one row per attribute and group, or language; without a language texts in any count."""
        is_language = self.by == "language"
        first = 0 if is_language else 1
        groups = self.columns[first:]
        n, width = len(self.rows), len(groups)
        codes = [group.code for group in groups] * n
        found: dict[str, object] = {
            "attribute": _text_series(np.repeat([row[0] for row in self.rows], width)),
            "language": _text_series(codes if is_language else [row[1] for row in self.rows for _ in groups]),
        }
        if not is_language:
            names = column_names(self.by)
            found[names[0]] = _text_series(codes)
            if len(names) > 1:
                found[names[1]] = _text_series([group.label for group in groups] * n)
        found["filled"] = self.filled[:, first:].ravel()
        found["products"] = self.products[:, first:].ravel()
        found["coverage"] = self.shares[:, first:].ravel()
        found["unknown"] = self.unknown[:, first:].ravel()
        found["state"] = _text_series([str(one) for one in self.states[:, first:].ravel()])
        return pd.DataFrame(found)


def _stacked_counts(counted: Sequence[FilledCount]) -> FilledCount:
    return FilledCount(*(np.array(one, np.int64) for one in zip(*counted, strict=True)))


def _shares(filled: Counts, products: Counts, there: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    return np.where(there, ratio(filled.astype(float), products.astype(float)), np.nan)


def _text_series(values: object) -> pd.Series:
    return pd.Series(values, dtype="str")


def lacks(attribute: str, language: str | None = None, group: tuple[str, Code] | None = None) -> Selection:
    """Return the conditions of products that lack an attribute, in any language or in one.

    Parameters
    ----------
    attribute, language
        What they lack.
    group
        A facet and its code, if only the products of a group are meant.

    Examples
    --------
    >>> lacks("namePublicLong", "fr", ("kind", "TEA")).groups
    {'fill:namePublicLong:fr': ('empty', 'null', 'absent'), 'kind': ('TEA',)}
    """
    missing = tuple(map(str, LACKING))
    return Selection(groups={fill_facet(attribute, language): missing, **_group_condition(group)})


def of_counted_units(conditions: Selection, counted: UnitCount) -> Selection:
    """Return conditions that leave out what figures leave out: other units, where there are any."""
    return conditions.adding(CONSUMER_UNITS) if counted.others else conditions


def pressed(now: Selection, wanted: Selection) -> Selection:
    """Return conditions after a press: they require what was pressed as well, or no longer.

    That other units are left out stays as long as anything else that was pressed says so, too.
    """
    if not now.require(wanted):
        return now.adding(wanted)
    left = now.removing(wanted)
    others = left.failing or any(name.startswith(FILL) for name in left.groups)
    if others and now.require(CONSUMER_UNITS):
        return left.adding(CONSUMER_UNITS)
    return left.removing(CONSUMER_UNITS)


def fails(title: str, checks: Sequence[str], group: tuple[str, Code] | None = None) -> Selection:
    """Return the conditions of products, or of those of a group, that fail one of some checks; the title is shown."""
    return Selection(groups=_group_condition(group), failing=(FailingChecks(title, tuple(checks)),))


def in_group(facet: str, code: Code) -> Selection:
    """Return the conditions of the products of a group."""
    return Selection(groups=_group_condition((facet, code)))


def _group_condition(group: tuple[str, Code] | None) -> dict[str, tuple[Code, ...]]:
    return {} if group is None else {group[0]: (group[1],)}
