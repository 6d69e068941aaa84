"""The figures of a coverage grid: how many products of each group have each attribute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from prodex.facts.fill import Attribute
from prodex.facts.groups import column_names
from prodex.locales import language_label
from prodex.notebook.conditions import Code
from prodex.notebook.coverage.filled import CellState, FilledColumns, FilledCount
from prodex.notebook.coverage.required import RequiredColumns
from prodex.notebook.products.facet_values import FacetValues
from prodex.quality.scores import SMALL, ratio
from prodex.tables.columns import Mask

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
            counted.append(_side_by_side([source.counted(pair, among) for pair in pairs]))
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
        # What came without having been asked for is a part of what there is.
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
        """Return the same with the rows and groups first of which the least is filled; small groups come last."""
        there = self.has_figures
        whole = self.shares[:, 0] if self.columns else np.zeros(len(self.rows))
        # A row that has no figure for all together, since each language is required by itself, has that of its parts.
        parts = ratio((self.filled * there).sum(axis=1) * 1.0, (self.products * there).sum(axis=1) * 1.0)
        rows = np.argsort(np.where(np.isnan(whole), parts, whole), kind="stable")
        share = self.total_shares
        small = np.array([group.products < SMALL for group in self.columns], bool)
        # NaN comes last in any case; the first column stays where it is.
        columns = np.array([0, *(1 + np.lexsort((share[1:], small[1:])))], np.int64)
        return self._taken(rows, columns)

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
            "attribute": _texts(np.repeat([row[0] for row in self.rows], width)),
            "language": _texts(codes if is_language else [row[1] for row in self.rows for _ in groups]),
        }
        if not is_language:
            names = column_names(self.by)
            found[names[0]] = _texts(codes)
            if len(names) > 1:
                found[names[1]] = _texts([group.label for group in groups] * n)
        found["filled"] = self.filled[:, first:].ravel()
        found["products"] = self.products[:, first:].ravel()
        found["coverage"] = self.shares[:, first:].ravel()
        found["unknown"] = self.unknown[:, first:].ravel()
        found["state"] = _texts([str(one) for one in self.states[:, first:].ravel()])
        return pd.DataFrame(found)


def _side_by_side(counted: Sequence[FilledCount]) -> FilledCount:
    return FilledCount(*(np.array(one, np.int64) for one in zip(*counted, strict=True)))


def _shares(filled: Counts, products: Counts, there: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    return np.where(there, ratio(filled.astype(float), products.astype(float)), np.nan)


def _texts(values: object) -> pd.Series:
    return pd.Series(values, dtype="str")
