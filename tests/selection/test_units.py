"""What is missing, coverage, completeness and requirements count consumer units, unless somebody says otherwise."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import prodex
from prodex import Selection
from prodex.catalog import Origin
from prodex.errors import InputError
from prodex.exploration.filtering import ProductFilter
from prodex.languages import Translation
from prodex.query import ProductQuery
from prodex.selection.units import CountedUnits, UnitCount
from tests.cases import each_row

#: One product of every kind, none of them with a brand: flag sent as such, packaging, and what else says what it is.
RECORDS: list[dict[str, Any]] = [
    {"id": 1, "isConsumerUnit": True, "typePackaging": {"code": "EACH"}},
    {"id": 2, "isConsumerUnit": False, "typePackaging": {"code": "CASE"}},
    {"id": 3, "isConsumerUnit": True, "isOrderableUnit": True, "typePackaging": {"code": "CASE"}},
    {"id": 4},
    {"id": 5, "isConsumerUnit": None},
    {"id": 6, "isConsumerUnit": "perhaps"},
    {"id": 7, "isConsumerUnit": False, "typePackaging": {"code": "PALLET"}},
    {"id": 8, "isConsumerUnit": True, "typePackaging": {"code": "EACH"}, "brand": {"code": "ACME"}},
]
MISSING = Selection(groups={"missing": ("brand",)})
CASES = Selection.of(packaging_code="CASE")


def meant(catalog: prodex.Catalog, selection: Selection) -> set[str]:
    """Return the ids of the products that a selection means."""
    return set(catalog.where(selection).products["product_id"])


@each_row(
    ("selection", "products"),
    [
        (MISSING, "13456"),
        (Selection(groups={"missing:all": ("brand",)}), "1234567"),
        (Selection(groups={"missing:consumer": ("brand",)}) & CASES, "3"),
        (MISSING & Selection.of(is_consumer_unit=False), "27"),
        (Selection.of(is_consumer_unit=False) & MISSING, "27"),
        (MISSING & Selection.of(is_consumer_unit=[True, False, None]), "1234567"),
        (MISSING & CASES, "23"),
        (MISSING & Selection(groups={"packaging": ("PALLET",)}), "7"),
        (MISSING & Selection(groups={"unit": (None,)}), "456"),
        (MISSING & ~Selection.of(packaging_code="PALLET"), "123456"),
        (MISSING & (CASES | Selection.of(product_id="7")), "237"),
        # What is beside an alternative is about it; what is in another one is not.
        (CASES & (MISSING | Selection.of(product_id="9")), "23"),
        (MISSING | Selection.of(packaging_code="PALLET"), "134567"),
        (~MISSING, "278"),
        (~MISSING & CASES, ""),
        (MISSING & Selection.of(brand_code=None), "13456"),
    ],
)
def test_what_is_missing_is_looked_for_in_the_units_that_are_meant(
    selection: Selection, products: str
) -> None:
    """In consumer units and those of unknown kind, or in those that a condition beside it names."""
    assert set(products) == meant(prodex.flatten(RECORDS), selection)
    masks = ProductFilter(prodex.flatten(RECORDS)).mask(selection)
    assert products == "".join(str(place) for place, is_meant in enumerate(masks.tolist(), 1) if is_meant)


def test_what_was_not_asked_for_leaves_nothing_out() -> None:
    """A query without the flag: nobody knows which are consumer units, so that all count, and that is said."""
    records = [{name: value for name, value in one.items() if name != "isConsumerUnit"} for one in RECORDS]
    catalog = prodex.flatten(records)
    catalog = prodex.Catalog(catalog.parts, Origin("sandbox", ProductQuery(source_include=["brand"])))
    found = ProductFilter(catalog)

    assert set("1234567") == meant(catalog, MISSING)
    left = found.narrow(Selection())
    assert "8 products (consumer units were not asked for)" == str(found.facets.counted_units(left))


def test_a_catalogue_of_cases_says_that_no_consumer_unit_is_there() -> None:
    """Nothing is missing of none, and the words say how many other units there are."""
    catalog = prodex.flatten([{"id": 1, "isConsumerUnit": False}, {"id": 2, "isConsumerUnit": False}])
    found = ProductFilter(catalog)

    assert set() == meant(catalog, MISSING)
    counted = found.facets.counted_units(found.narrow(Selection()))
    assert "no consumer unit, only 2 other units" == str(counted)


def test_products_that_were_chosen_by_their_packaging_all_count() -> None:
    """Whoever has chosen the cases means them in what follows, and the same is meant by what is kept of it."""
    catalog = prodex.flatten(RECORDS)
    cases = catalog.where(packaging_code="CASE")
    found = ProductFilter(cases)

    assert (
        set("23")
        == meant(cases, MISSING)
        == set(catalog.where(MISSING, packaging_code="CASE").products["product_id"])
    )
    for chosen, products in (
        (cases.where(MISSING), "23"),
        (catalog.where(MISSING).where(packaging_code="CASE"), "3"),
        (catalog.where(MISSING, packaging_code="CASE"), "23"),
    ):
        assert chosen.chosen is not None
        assert set(products) == set(chosen.products["product_id"]) == meant(catalog, chosen.chosen.selection)
    assert "2 products" == str(found.facets.counted_units(found.narrow(Selection())))


@each_row(
    ("language", "said"),
    [
        ("en", "4,210 consumer units, 12 of unknown kind"),
        ("fr", "4\u202f210 unités consommateur, dont 12 de type inconnu"),
        ("de", "4.210 Verbrauchereinheiten, davon 12 unbekannter Art"),
        ("nl", "4.210 consumenteneenheden, waarvan 12 van onbekende soort"),
    ],
)
def test_the_words_say_how_many_count_in_every_language(language: str, said: str) -> None:
    """With the number of those of unknown kind."""
    assert said == UnitCount(4210, 12).words(Translation(language))


def test_other_words_than_the_two_are_refused() -> None:
    """The message says which there are."""
    with pytest.raises(InputError, match="units is 'pallets'; give 'consumer' or 'all'"):
        prodex.flatten(RECORDS).describe(units="pallets")


def test_flags_of_every_state_count_as_the_words_say() -> None:
    """False alone is another unit."""
    counted = CountedUnits.of(pa.array([True, False, None, None]))

    assert [True, False, True, True] == counted.mask.tolist()
    assert UnitCount(3, 2, 1) == counted.count()
    assert UnitCount(4, 2, 0, "all") == counted.counting("all").count()


def test_describe_counts_consumer_units() -> None:
    """Its share is of them, it says how many they are, and units="all" counts every product."""
    catalog = prodex.flatten(RECORDS)
    described = catalog.describe()
    of_all = catalog.describe(units="all")

    def row(frame: pd.DataFrame, attribute: str) -> list[Any]:
        (found,) = frame[frame["attribute"] == attribute].to_dict("records")
        return [found["filled"], found["products"], found["share"]]

    assert [1, 6, 1 / 6] == row(described, "brand.code")
    assert [1, 8, 1 / 8] == row(of_all, "brand.code")
    assert "6 consumer units, 3 of unknown kind" == described.attrs["counted"]
    assert "8 products" == of_all.attrs["counted"]
    cases = catalog.where(packaging_code=["CASE", "PALLET"]).describe()
    assert [3, 3, 1.0] == row(cases, "typePackaging.code")
