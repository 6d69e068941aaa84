"""The law of knowledge: with less asked for, every cell of an audit is as with everything, or unknown."""

from __future__ import annotations

import gzip
import json
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex import ProductQuery
from prodex.quality.audit import Audit
from prodex.query.product_query import RICH_CONTENT
from prodex_sandbox.sample import shared_products
from tests import laws
from tests.quality.restricting import (
    LANGUAGES,
    Record,
    audited,
    contradictions,
    drawn,
    paths_of,
    without_keys,
)
from tests.quality.test_rules import CASES
from tests.test_real_products import REAL
from tests.wire import CORNERS
from tests.wire import products as wire_products


def restrictions(records: list[Record]) -> st.SearchStrategy[ProductQuery]:
    """Draw what was asked for, of what some products hold: fields, languages, the rich content."""
    paths = st.sampled_from(sorted({path for record in records for path in paths_of(record)} | {"gtin"}))
    several = st.lists(paths, min_size=1, max_size=6, unique=True)
    languages = st.lists(st.sampled_from(LANGUAGES), min_size=1, max_size=2, unique=True)
    including = st.one_of(several, st.just(list(RICH_CONTENT)))
    return st.one_of(
        st.builds(lambda paths: ProductQuery(source_include=paths), including),
        st.builds(lambda paths: ProductQuery(source_exclude=paths), several.map(without_keys)),
        st.builds(lambda languages: ProductQuery(product_languages=languages), languages),
        st.builds(
            lambda paths, languages: ProductQuery(source_exclude=paths, product_languages=languages),
            several.map(without_keys),
            languages,
        ),
    )


#: What rules read that is not where they look: a class and nutrients, addresses, one list of two, a language.
PLANTED = [
    ProductQuery(source_exclude=["GPC", "isPartitionedBy.contains", "assets.pictures.url"]),
    ProductQuery(source_include=["gtin", "logisticalHierarchies", "namePublicLong.data", "netContent.data"]),
    ProductQuery(source_exclude=["sharingUnits", "brand.code", "kind"], product_languages=["fr"]),
]


@cache
def of_the_rules() -> tuple[list[Record], Audit]:
    """Return the products with which each rule is tried, and their results."""
    tried = [
        record
        for case in CASES.values()
        for record in (case.passes, case.fails, case.not_applicable, *case.others)
        if record is not None
    ]
    return audited([{**record, "id": number} for number, record in enumerate(tried, 1)])


@cache
def of_the_sample() -> tuple[list[Record], Audit]:
    """Return a sample catalogue with planted defects, and its results."""
    return audited([dict(product.record) for product in shared_products(80, seed=12)])


@pytest.mark.slow
def test_the_law_holds_without_class_and_nutrients() -> None:
    """Energy and net content of a serving need the nutrients that were left out; the class cannot stand in for them."""
    records, everything = of_the_rules()
    query = ProductQuery(source_exclude=["GPC", "isPartitionedBy.contains"])
    assert [] == contradictions(records, query, everything)


@pytest.mark.slow
@laws.planted(*PLANTED)
@given(st.deferred(lambda: restrictions(of_the_rules()[0])))
def test_the_law_holds_for_the_products_of_every_rule(query: ProductQuery) -> None:
    """With fewer data requested, a state is as with everything, or unknown."""
    records, everything = of_the_rules()
    assert [] == contradictions(records, query, everything)


@pytest.mark.slow
@laws.planted(*PLANTED)
@given(st.deferred(lambda: restrictions(of_the_sample()[0])))
def test_the_law_holds_for_a_catalogue(query: ProductQuery) -> None:
    """It holds for products as suppliers send them."""
    records, everything = of_the_sample()
    assert [] == contradictions(records, query, everything)


@pytest.mark.slow
@laws.planted((CORNERS, PLANTED[0]), (CORNERS, PLANTED[2]))
@given(
    st.lists(wire_products, min_size=1, max_size=4).flatmap(
        lambda records: st.tuples(st.just(records), restrictions(records))
    )
)
def test_the_law_holds_for_any_record(some: tuple[list[Record], ProductQuery]) -> None:
    """The same holds for any JSON in place of a product."""
    records, everything = audited([{**record, "id": number} for number, record in enumerate(some[0], 1)])
    assert [] == contradictions(records, some[1], everything)


UNIT: Record = {
    "gtin": "not digits",
    "typePackaging": {"code": "CASE"},
    "isConsumerUnit": {"value": False},
    "children": [],
}


@pytest.mark.slow
@pytest.mark.parametrize("requested", ["logisticalHierarchies", "sharingUnits"])
@pytest.mark.parametrize("sent", ["logisticalHierarchies", "sharingUnits"])
def test_hierarchies_stand_in_two_places(sent: str, requested: str) -> None:
    """Who requests one of the two lists of hierarchies does not know what the other one holds."""
    records, everything = audited([{"id": 1, "gtin": "03036811359935", sent: [UNIT]}, {"id": 2}])
    assert {"hierarchy_gtins_valid"} <= set(everything.failures()["rule"])
    assert [] == contradictions(records, ProductQuery(source_include=[requested]), everything)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_file(), reason=f"the real products are not at {REAL.name}")
def test_the_law_holds_for_real_products() -> None:
    """One in ten of them for a few restrictions; `make soak` holds all of them against fifty."""
    with gzip.open(REAL) as file:
        records, everything = audited([json.loads(line) for line in file][::10])
    assert [] == [
        wrong for query in drawn(records, 6, seed=1) for wrong in contradictions(records, query, everything)
    ]


@pytest.mark.slow
def test_a_picture_without_anything_requested_of_it_is_still_one() -> None:
    """Whether a picture that has an address alone is past its use is unknown where that was not requested."""
    picture = {"url": "https://cdn.example/a.jpg"}
    records, everything = audited([{"id": 1, "gtin": "03036811359935", "assets": {"pictures": [picture]}}])
    query = ProductQuery(source_exclude=["assets.pictures.url"])
    assert [] == contradictions(records, query, everything)
