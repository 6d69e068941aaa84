"""The law of knowledge: with less asked for, every cell of an audit is as with everything, or unknown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import prodex
from prodex import Catalog, ProductQuery
from prodex.quality.outcome import Audit
from prodex.quality.states import State
from prodex.query.product_query import ALWAYS_REQUESTED, RICH_CONTENT
from prodex.sandbox.sample import AS_OF, shared_products
from prodex.sandbox.shape import Shape
from tests.quality.test_audit_laws import profile
from tests.quality.test_rules import CASES
from tests.wire import products as wire_products

Record = dict[str, Any]


def restricted(records: list[Record], query: ProductQuery) -> Catalog:
    """Return the catalogue that a service gives for a query with fewer fields or languages."""
    shape = Shape(query.source_include or (), query.source_exclude or (), query.product_languages or ())
    served = [json.loads(shape.serve(json.dumps(record).encode())) for record in records]
    catalog = prodex.flatten(served)
    return replace(catalog, origin=replace(catalog.origin, query=query))


def contradictions(records: list[Record], query: ProductQuery, everything: Audit) -> list[str]:
    """Return in words each cell that says something else than it does with everything."""
    audit = prodex.audit(restricted(records, query), profile(), now=AS_OF, progress=False)
    assert () == audit.crashes
    wrong = (audit.states != everything.states) & (audit.states != State.UNKNOWN)
    return sorted(
        {
            f"{audit.checks[check].id}: {State(everything.states[row, check]).name} became "
            f"{State(audit.states[row, check]).name}"
            for row, check in zip(*np.nonzero(wrong), strict=True)
        }
    )


def paths_of(value: Any, before: str = "") -> Iterator[str]:
    """Yield every path of a record, through lists."""
    if isinstance(value, list):
        for item in value:
            yield from paths_of(item, before)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if "." not in name and "," not in name and name.strip():
                yield f"{before}{name}"
                yield from paths_of(inner, f"{before}{name}.")


def restrictions(records: list[Record]) -> st.SearchStrategy[ProductQuery]:
    """Draw what was asked for, of what some products hold: fields, languages, the rich content."""
    paths = st.sampled_from(sorted({path for record in records for path in paths_of(record)} | {"gtin"}))
    several = st.lists(paths, min_size=1, max_size=6, unique=True)
    languages = st.lists(st.sampled_from(["fr", "nl", "de", "en", "es"]), min_size=1, max_size=2, unique=True)
    including = st.one_of(several, st.just(list(RICH_CONTENT)))
    return st.one_of(
        st.builds(lambda paths: ProductQuery(source_include=paths), including),
        st.builds(lambda paths: ProductQuery(source_exclude=paths), several.map(_without_keys)),
        st.builds(lambda languages: ProductQuery(product_languages=languages), languages),
        st.builds(
            lambda paths, languages: ProductQuery(source_exclude=paths, product_languages=languages),
            several.map(_without_keys),
            languages,
        ),
    )


def _without_keys(paths: list[str]) -> list[str]:
    """Leave out what a query refuses to leave out."""
    needed = [path for path in paths if path not in ALWAYS_REQUESTED and ".expressedIn." not in f"{path}."]
    return needed or ["assets"]


@cache
def of_the_rules() -> tuple[list[Record], Audit]:
    """Return the products with which each rule is tried, and what is said of them."""
    tried = [
        record
        for case in CASES.values()
        for record in (case.passes, case.fails, case.not_applicable, *case.others)
        if record is not None
    ]
    return audited([{**record, "id": number} for number, record in enumerate(tried, 1)])


@cache
def of_the_sample() -> tuple[list[Record], Audit]:
    """Return a sample catalogue, planted defects included, and what is said of it."""
    return audited([dict(product.record) for product in shared_products(200, seed=12)])


def audited(records: list[Record]) -> tuple[list[Record], Audit]:
    return records, prodex.audit(prodex.flatten(records), profile(), now=AS_OF, progress=False)


law = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@law
@given(st.data())
def test_the_law_holds_for_the_products_of_every_rule(data: st.DataObject) -> None:
    """What passes, fails or is no question is so with everything, or is unknown."""
    records, everything = of_the_rules()
    query = data.draw(restrictions(records))
    assert [] == contradictions(records, query, everything)


@law
@given(st.data())
def test_the_law_holds_for_a_catalogue(data: st.DataObject) -> None:
    """The same for products as suppliers send them."""
    records, everything = of_the_sample()
    query = data.draw(restrictions(records))
    assert [] == contradictions(records, query, everything)


@law
@given(st.data())
def test_the_law_holds_for_any_record(data: st.DataObject) -> None:
    """The same for whatever JSON may come in place of a product."""
    drawn = data.draw(st.lists(wire_products, min_size=1, max_size=4))
    records, everything = audited([{**record, "id": number} for number, record in enumerate(drawn, 1)])
    assert [] == contradictions(records, data.draw(restrictions(records)), everything)
