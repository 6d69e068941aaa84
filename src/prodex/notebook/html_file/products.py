"""The products that a panel shows as the data of a file: its script filters, sorts, searches and shows with them.

Which product has which value is decided here, by what the panel itself asks. The script only adds up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from prodex.errors import ProdexError
from prodex.exploration.facet_values import FacetValues, MaskEach, OneValueEach, SeveralValues
from prodex.exploration.facets import MISSING, attribute_words
from prodex.exploration.product_columns import ProductRows
from prodex.exploration.range_facets import column_of
from prodex.exploration.ranges import Histograms, measure_of
from prodex.exploration.search import HELP, LABELS, searched_texts
from prodex.exploration.table_page import NOT_ASKED, NOTHING, Sorter, cells
from prodex.notebook.html_file.quality import quality_blocks
from prodex.notebook.session.actions import Block
from prodex.notebook.session.session import Session
from prodex.notebook.views.columns import columns_of
from prodex.notebook.views.facets import NOTES, VALUE_LABEL, FacetsState, facet_names, facet_title
from prodex.notebook.views.table import IS_DENSE, SIZE, ProductTableState, column_block, name_language_of
from prodex.phrases import LETTERS
from prodex.selection import Selection
from prodex.selection.paths import attribute_of_code
from prodex.selection.sentences import range_words
from prodex.tables.columns import Mask
from prodex.untrusted_text import cut

#: The facet of the checks that products fail, which a panel has as the section Quality.
CHECK = "check"


def products_data(session: Session, head: Sequence[Block]) -> dict[str, Any]:
    """Return what the script of a file needs to show products.

    Parameters
    ----------
    session
        Their catalogue, its audit, and how the table and the filters are shown.
    head
        What the page begins with.
    """
    columns, order = columns_of(session), session.part(ProductTableState).order
    order = order if order.column in columns else type(order)()
    facets = [*_facets(session)]
    opened = session.part(FacetsState).foldings.items()
    return {
        "kind": "products",
        "head": [*head],
        "ids": session.filter.products.ids.to_pylist(),
        "columns": [*_columns(session, columns)],
        "label": columns.index("name") if "name" in columns else 0,
        "look": "dense" if IS_DENSE.of(session) else "roomy",
        "size": SIZE.of(session),
        "sort": {"column": order.column, "descending": order.descending},
        "names": [one["key"] for one in facets],
        "facets": [one for one in facets if one["key"] != MISSING.name],
        "open": [name for name, folding in opened if folding.is_open],
        "missing": _missing(session),
        "units": _units(session),
        "letters": [*LETTERS.items()],
        "search": _search(session),
        # To the script an empty list is something: a section without anything in it, as if nothing had been found.
        "quality": quality_blocks(session) or None,
        "blockers": _failing_blockers(session),
    }


def without_texts(data: dict[str, Any], session: Session) -> dict[str, Any]:
    """Return the same where labels and numbers are searched alone, as there is no room for the words of all texts."""
    hint = f"Searches in {LABELS} only: the texts of these products do not fit into a file."
    return {**data, "search": {**_search(session, texts=False), "hint": hint}}


def _columns(session: Session, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    products, language = session.filter.products, name_language_of(session)
    sorter, order = Sorter(products), session.part(ProductTableState).order
    shown = cells(ProductRows(products, np.arange(len(products))), columns, language)
    for place, name in enumerate(columns):
        distinct, of = np.unique(shown.iloc[:, place].to_numpy(dtype=object), return_inverse=True)
        texts = distinct.tolist()
        yield {
            **column_block(name, order),
            "texts": texts,
            "of": of.tolist(),
            "gaps": [number for number, text in enumerate(texts) if text in {NOTHING, NOT_ASKED}],
            "ranks": sorter.ranks(name, language).tolist(),
        }


# Filters.


def _facets(session: Session) -> Iterator[dict[str, Any]]:
    facets = session.filter.facets
    facets.look_at(Selection())
    for name in facet_names(session):
        facet = {"key": name, "title": facet_title(session, name), "note": NOTES.get(name, "")}
        try:
            if column := column_of(name):
                yield facet | _range(session, column)
            elif name == MISSING.name:
                yield facet
                yield from _checks(session)
            else:
                yield facet | _values(facets[name])
        except ProdexError as error:
            yield facet | {"problem": str(error)}


def _values(values: FacetValues) -> dict[str, Any]:
    found: dict[str, Any] = {
        "codes": values.codes,
        "labels": [cut(label, VALUE_LABEL) for label in values.labels],
        "without": values.facet.without,
        "ordered": values.facet.is_ordered,
        "asked": values.is_asked,
        "of": [*_numbers_of(values)],
    }
    return found | ({"above": values.above, "depths": values.depths} if values.above else {})


def _numbers_of(values: FacetValues) -> Iterator[int | list[int]]:
    """Yield for each product the number of its value; where it has several, or values above it, all of them."""
    membership = values.membership
    if isinstance(membership, OneValueEach):
        if not values.above:
            yield from membership.numbers.tolist()
            return
        lines = [_with_above(values.above, number) for number in range(len(values.codes))]
        yield from (lines[number] for number in membership.numbers.tolist())
        return
    own: list[list[int]] = [[] for _ in range(membership.size)]
    for row, number in _pairs(membership):
        own[row].append(number)
    yield from own


def _with_above(above: Sequence[int], number: int) -> list[int]:
    line = [number]
    while above[line[-1]] >= 0:
        line.append(above[line[-1]])
    return line


def _pairs(membership: SeveralValues | MaskEach) -> Iterator[tuple[int, int]]:
    if isinstance(membership, SeveralValues):
        yield from zip(membership.rows.tolist(), membership.numbers.tolist(), strict=True)
        return
    for number, mask in enumerate(membership.masks):
        yield from ((row, number) for row in np.flatnonzero(mask).tolist())


def _range(session: Session, column: str) -> dict[str, Any]:
    products = session.filter.products
    found = Histograms(products).of(column, np.ones(len(products), bool))
    own = [found.range(place, place) for place in range(len(found.counts))]
    values = products.column(column)
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us")).cast(pa.int64())
    bins = [
        {"label": range_words(one), "least": _plain(one.least), "greatest": _plain(one.greatest)}
        for one in own
    ]
    edges = [_plain(edge) for edge in found.edges]
    return {
        "measure": measure_of(column),
        "asked": found.is_asked,
        "values": values.to_pylist(),
        "bins": bins,
        "of": [*_bins_of(values, edges)],
    }


def _bins_of(values: pa.Array, edges: Sequence[Any]) -> Iterator[int | list[int]]:
    for value in values.to_pylist():
        # The last bin ends with its edge.
        place = (
            -1 if value is None else min(int(np.searchsorted(edges, value, side="right")), len(edges) - 1) - 1
        )
        yield [] if place < 0 else place


def _plain(value: Any) -> Any:
    """Return a limit as the script has it: a date is in microseconds."""
    if not isinstance(value, datetime):
        return value
    return int(np.datetime64(value, "us").astype(np.int64))


def _checks(session: Session) -> Iterator[dict[str, Any]]:
    """Yield the facet of failing checks, as the code of which their ids are."""
    audit, products = session.audit, session.filter.products
    if audit is None:
        return
    failing = {check.id: products.failing((check.id,)) for check in audit.checks}
    masks = {name: mask for name, mask in failing.items() if mask.any()}
    problems = {check.id: cut(str(check.problem), VALUE_LABEL) for check in audit.checks}
    own: list[list[int]] = [[] for _ in range(len(products))]
    for number, mask in enumerate(masks.values()):
        for row in np.flatnonzero(mask).tolist():
            own[row].append(number)
    of_none = len(masks)
    yield {
        "key": CHECK,
        "title": "Failing check",
        "note": "",
        "codes": [*masks, None],
        "labels": [*(problems[name] for name in masks), "fails no check"],
        "without": "fails no check",
        "ordered": False,
        "asked": True,
        "of": [one or [of_none] for one in own],
    }


def _failing_blockers(session: Session) -> list[str]:
    if session.audit is None:
        return []
    blockers = [check.id for check in session.audit.checks if check.severity == "blocker"]
    return [one for one in blockers if session.filter.products.failing((one,)).any()]


def _written(mask: Mask) -> str:
    return "".join(map(str, mask.astype(np.int8).tolist()))


def _missing(session: Session) -> dict[str, Any]:
    """Return who lacks what, of all units: which units count depends on other conditions, and so does the language."""
    facets = session.filter.facets
    spoken = [code for code in facets["language"].codes if code is not None] if "language" in facets else []
    lists, titles = {}, {}
    for language in (None, *spoken):
        facets.look_at(Selection(groups={"language": (language,)}) if language else Selection())
        lists[language or ""] = facets.lackable(language)
        titles[language or ""] = facets.title(MISSING.name)
    facets.look_at(Selection())
    filled = facets.filled.read([])
    codes = dict.fromkeys(code for some in lists.values() for code in some)
    masks = {code: filled.lacking(*attribute_of_code(code)) for code in codes}
    return {
        "lists": lists,
        "titles": titles,
        "labels": {code: cut(attribute_words(*attribute_of_code(code)), VALUE_LABEL) for code in codes},
        "masks": {code: _written(mask) for code, mask in masks.items() if mask.any()},
    }


def _units(session: Session) -> dict[str, Any]:
    units = session.filter.products.units
    return {
        "consumer": _written(units.consumer),
        "unknown": _written(units.unknown),
        "asked": units.is_asked,
    }


# The search.


def _search(session: Session, *, texts: bool = True) -> dict[str, Any]:
    products = session.filter.products
    found, of = searched_texts(products, texts=texts)
    return {"texts": found, "of": of, "gtins": products.column("gtin").to_pylist(), "help": HELP, "hint": ""}
