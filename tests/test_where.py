"""`catalog.where` takes what an analyst has at hand, gives what plain pandas gives, or says what to write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import QueryError
from prodex.query import ProductStatus, SharingStatus, ValidationStatus
from tests.cases import each_row

PACKAGINGS = [
    {"code": "EACH", "label": "Unité"},
    {"code": "PALLET", "label": "Palette"},
    {"code": "CASE", "label": "Carton"},
    None,
]

RECORDS: list[dict[str, Any]] = [
    {
        "id": number,
        "gtin": f"{number:014d}",
        "isConsumerUnit": number % 2 == 0 if number % 3 else None,
        "brand": {"code": number % 4, "label": f"Brand {number % 4}"} if number % 5 else None,
        "typePackaging": PACKAGINGS[number % 4],
        "manufacturerSharingStatus": 3 + number % 2,
        "targetProductStatus": "TO_BE_VALIDATED" if number % 2 else "REFUSED",
        "validation": {"status": number % 3},
        "lifeCycle": number % 3 if number % 4 else None,
        "owner": {"id": number % 2, "name": f"Owner {number % 2}", "type": 1 + number % 2},
        "product_key": {"target_market_id": (250, "056", 56, None)[number % 4]},
        "updatedAt": f"2026-11-{1 + number % 20:02d}T08:00:00",
    }
    for number in range(1, 41)
]


def _catalog() -> prodex.Catalog:
    halves = prodex.flatten(RECORDS[:15]).parts + prodex.flatten(RECORDS[15:]).parts
    return prodex.Catalog(halves, prodex.flatten([]).origin)


CATALOG = _catalog()
PRODUCTS = CATALOG.products


@pytest.fixture(scope="module", params=["in memory", "on disk", "filtered"])
def catalog(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> prodex.Catalog:
    """Forty products in each form a catalogue has."""
    if request.param == "on disk":
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PRODEX_HOME", str(tmp_path_factory.mktemp("where")))
            return CATALOG.save("forty")
    if request.param == "filtered":
        other = prodex.flatten([{"id": "other", "brand": {"code": "none of ours"}}])
        more = prodex.Catalog((*CATALOG.parts, *other.parts), CATALOG.origin)
        return more.where(pc.field("product_id") != "other")
    return CATALOG


def _ids(catalog: prodex.Catalog) -> list[str]:
    found: list[str] = catalog.products["product_id"].tolist()
    assert len(found) == len(catalog)
    return found


def _generated(values: list[str]) -> Any:
    return (value for value in values)


@pytest.mark.slow
@each_row(
    "held_in",
    [
        list,
        tuple,
        set,
        frozenset,
        iter,
        _generated,
        lambda values: dict.fromkeys(values).keys(),
        pd.Series,
        lambda values: pd.Series(values, dtype=object),
        lambda values: pd.Series(values).unique(),
        lambda values: pd.Series(values, dtype="category"),
        lambda values: pd.Series(values, dtype="category").unique(),
        pd.Index,
        pd.CategoricalIndex,
        np.array,
        lambda values: np.array(values, object),
        lambda values: pd.array(values, "string"),
        pa.array,
        lambda values: pa.chunked_array([values]),
        lambda values: [int(value) for value in values],
        lambda values: np.array(values, float),
        lambda values: pd.array([int(value) for value in values], "Int64"),
        lambda values: pd.Series([int(value) for value in values]).to_frame("id")["id"],
    ],
)
def test_values_may_be_held_in_anything(catalog: prodex.Catalog, held_in: Callable[[list[str]], Any]) -> None:
    """Lists, sets, generators, Series, Index, arrays of all kinds and categories mean the same values."""
    assert ["3", "7", "31"] == _ids(catalog.where(product_id=held_in(["7", "31", "3"])))


@pytest.mark.slow
@each_row(
    ("question", "expected"),
    [
        ({"life_cycle": np.int64(1)}, lambda r: r["lifeCycle"] == 1),
        ({"life_cycle": 1.0}, lambda r: r["lifeCycle"] == 1),
        ({"life_cycle": "1"}, lambda r: r["lifeCycle"] == 1),
        ({"life_cycle": pa.scalar(1)}, lambda r: r["lifeCycle"] == 1),
        ({"life_cycle": np.array(1)}, lambda r: r["lifeCycle"] == 1),
        ({"life_cycle": [1, None]}, lambda r: r["lifeCycle"] in (1, None)),
        ({"life_cycle": [2, float("nan")]}, lambda r: r["lifeCycle"] in (2, None)),
        ({"life_cycle": pd.Series([2.0, np.nan])}, lambda r: r["lifeCycle"] in (2, None)),
        ({"life_cycle": pd.array([2, None], "Int64")}, lambda r: r["lifeCycle"] in (2, None)),
        ({"life_cycle": pd.NA}, lambda r: r["lifeCycle"] is None),
        ({"life_cycle": float("nan")}, lambda r: r["lifeCycle"] is None),
        ({"brand": [pd.NaT, "Brand 1"]}, lambda r: not r["brand"] or r["brand"]["label"] == "Brand 1"),
        ({"brand_code": None}, lambda r: r["brand"] is None),
        ({"brand_code": 3}, lambda r: r["brand"] and r["brand"]["code"] == 3),
        ({"brand_code": np.float64(3)}, lambda r: r["brand"] and r["brand"]["code"] == 3),
        ({"brand_code": np.str_("3")}, lambda r: r["brand"] and r["brand"]["code"] == 3),
        ({"is_consumer_unit": np.bool_(True)}, lambda r: r["isConsumerUnit"] is True),
        ({"is_consumer_unit": [False, None]}, lambda r: not r["isConsumerUnit"]),
        (
            {"updated_at": datetime.fromisoformat("2026-11-03T08:00")},
            lambda r: r["updatedAt"] == "2026-11-03T08:00:00",
        ),
        ({"updated_at": "2026-11-03T08:00"}, lambda r: r["updatedAt"] == "2026-11-03T08:00:00"),
        (
            {"updated_at": pd.Timestamp("2026-11-03T08:00")},
            lambda r: r["updatedAt"] == "2026-11-03T08:00:00",
        ),
        (
            {"updated_at": np.array(["2026-11-03T08:00"], "datetime64[ns]")},
            lambda r: r["updatedAt"] == "2026-11-03T08:00:00",
        ),
        ({"brand_code": []}, lambda _: False),
        ({"product_id": PRODUCTS.loc[PRODUCTS["gtin"] == "", "product_id"].unique()}, lambda _: False),
    ],
)
def test_values_of_every_type_find_their_products(
    catalog: prodex.Catalog, question: dict[str, Any], expected: Callable[[dict[str, Any]], Any]
) -> None:
    """numpy's and pandas' scalars are values, each way of saying "missing" is no value, an empty list is nothing."""
    assert [str(r["id"]) for r in RECORDS if expected(r)] == _ids(catalog.where(**question))


@pytest.mark.slow
@each_row(
    ("question", "expected"),
    [
        ({"sharing_status": "DRAFT"}, lambda _: False),
        ({"sharing_status": "pending"}, lambda r: r["manufacturerSharingStatus"] == 3),
        ({"sharing_status": SharingStatus.ACCEPTED}, lambda r: r["manufacturerSharingStatus"] == 4),
        ({"sharing_status": [3, "accepted"]}, lambda _: True),
        ({"sharing_status": "4"}, lambda r: r["manufacturerSharingStatus"] == 4),
        ({"product_status": "refused"}, lambda r: r["targetProductStatus"] == "REFUSED"),
        ({"product_status": ProductStatus.REFUSED}, lambda r: r["targetProductStatus"] == "REFUSED"),
        ({"product_status": "to be validated"}, lambda r: r["targetProductStatus"] == "TO_BE_VALIDATED"),
        ({"product_status": "UPDATED"}, lambda _: False),
        ({"validation_status": "OK"}, lambda r: r["validation"]["status"] == 2),
        ({"validation_status": "VALIDATION_STATUS_NOT_OK"}, lambda r: r["validation"]["status"] == 1),
        ({"validation_status": [ValidationStatus.NA, 2]}, lambda r: r["validation"]["status"] in (0, 2)),
        ({"validation_status": "correction"}, lambda _: False),
        ({"target_market": "Belgium"}, lambda r: r["product_key"]["target_market_id"] in ("056", 56)),
        ({"target_market": "BE"}, lambda r: r["product_key"]["target_market_id"] in ("056", 56)),
        ({"target_market": 56}, lambda r: r["product_key"]["target_market_id"] in ("056", 56)),
        ({"target_market": "056"}, lambda r: r["product_key"]["target_market_id"] in ("056", 56)),
        ({"target_market": np.float64(56)}, lambda r: r["product_key"]["target_market_id"] in ("056", 56)),
        ({"target_market": ["France", None]}, lambda r: r["product_key"]["target_market_id"] in (250, None)),
        ({"target_market": "Spain"}, lambda _: False),
        ({"packaging_code": "PALLET"}, lambda r: (r["typePackaging"] or {}).get("code") == "PALLET"),
        ({"packaging_code": "pallet"}, lambda r: (r["typePackaging"] or {}).get("code") == "PALLET"),
        ({"packaging_code": "Palette"}, lambda r: (r["typePackaging"] or {}).get("code") == "PALLET"),
        ({"packaging": "palette"}, lambda r: (r["typePackaging"] or {}).get("code") == "PALLET"),
        ({"packaging": ["Pallet", "CASE"]}, lambda r: (r["typePackaging"] or {}).get("code") in ("PALLET", "CASE")),
        ({"packaging_code": "PACK"}, lambda _: False),
        ({"packaging_code": None}, lambda r: r["typePackaging"] is None),
        ({"owner_type": "retailer"}, lambda r: r["owner"]["type"] == 2),
    ],
)  # fmt: skip
def test_closed_values_go_by_name_or_number(
    catalog: prodex.Catalog, question: dict[str, Any], expected: Callable[[dict[str, Any]], Any]
) -> None:
    """Statuses, markets and packaging as `ProductQuery` takes them; one that nobody here has gives nothing."""
    assert [str(r["id"]) for r in RECORDS if expected(r)] == _ids(catalog.where(**question))


@pytest.mark.slow
@each_row(
    ("question", "message"),
    [
        ({"sharing_status": "DRAFFT"}, "sharing_status .*'DRAFFT'; did you mean 'DRAFT'"),
        ({"sharing_status": 7}, r"sharing_status .*7.*DRAFT \(2\), PENDING \(3\), ACCEPTED \(4\)"),
        ({"sharing_status": ["DRAFT", "acepted"]}, "did you mean 'ACCEPTED'"),
        ({"product_status": "REFUSD"}, "did you mean 'REFUSED'"),
        ({"validation_status": "KO"}, "NOT_OK"),
        ({"target_market": "Belgum"}, "Belgium"),
        ({"target_market": "Atlantis"}, "target_market.*Atlantis"),
        ({"packaging_code": "PALET"}, "did you mean 'PALLET'"),
        ({"packaging": "Palete"}, "did you mean 'Palette'"),
        ({"owner_type": "retailr"}, "did you mean 'RETAILER'"),
        ({"is_consumer_unit": "yes"}, "is_consumer_unit .*'yes' is not one of them. Give True or False"),
        ({"is_consumer_unit": 1}, "True or False"),
        ({"life_cycle": "one"}, "life_cycle .*'one' is not one of them. Give whole numbers"),
        ({"life_cycle": 1.5}, "1.5 is not one of them. Give whole numbers"),
        ({"life_cycle": True}, "True is not one of them. Give whole numbers"),
        ({"brand_code": 1.5}, "brand_code .*1.5 is not one of them. Give text"),
        ({"brand_code": True}, "True is not one of them. Give text"),
        ({"brand_code": b"1"}, "text"),
        ({"brand_code": {"1": 2}}, "mapping"),
        ({"brand_code": ["1", ["2"]]}, r"\['2'\]"),
        ({"brand_code": np.array([["1"], ["2"]])}, "one dimension"),
        ({"product_id": PRODUCTS[["product_id", "gtin"]]}, r"frame.*where\(product_id=frame\['product_id'\]\)"),
        ({"product_id": PRODUCTS}, "frame"),
        ({"product_id": pc.field("product_id") == "1"}, r"where\(expression\)"),
        ({"product_id": str}, "product_id"),
        ({"product_id": object()}, "product_id"),
        ({"updated_at": "yesterday"}, "updated_at.*'yesterday'"),
        ({"updated_at": "2026-11-03"}, "whole day"),
        ({"updated_at": date(2026, 11, 3)}, "whole day"),
        ({"updated_at": datetime(2026, 11, 3, tzinfo=UTC)}, "zone"),
        ({"brandcode": "1"}, "did you mean 'brand_code'"),
        ({"brand_code": "1", "unmatched": "wran"}, "did you mean 'warn'"),
        ({"unmatched": None}, "unmatched"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_what_to_write(
    catalog: prodex.Catalog, question: dict[str, Any], message: str
) -> None:
    """No raw error comes out, and nothing is given in silence: the message has the value and the right line."""
    with pytest.raises(QueryError, match=message):
        catalog.where(**question)


def test_what_stands_in_the_catalogue_is_always_found() -> None:
    """A word that no contract knows is found where a service sent it, in its own spelling."""
    catalog = prodex.flatten(
        [
            {"id": 1, "targetProductStatus": "SOMETHING_NEW", "manufacturerSharingStatus": 9},
            {"id": 2, "product_key": {"target_market_id": "EU-27"}, "typePackaging": {"code": "DOLLY"}},
        ]
    )

    assert ["1"] == _ids(catalog.where(product_status="SOMETHING_NEW"))
    assert ["1"] == _ids(catalog.where(sharing_status=9))
    assert ["2"] == _ids(catalog.where(target_market="EU-27"))
    assert ["2"] == _ids(catalog.where(packaging_code="dolly"))


@pytest.mark.slow
@each_row(
    "mask",
    [
        lambda p: p["brand_code"] == "1",
        lambda p: (p["brand_code"] == "1").sample(frac=1, random_state=3),
        lambda p: (p["brand_code"] == "1").to_numpy(),
        lambda p: (p["brand_code"] == "1").to_list(),
        lambda p: (p["brand_code"] == "1").array,
        lambda p: pd.array((p["brand_code"] == "1").to_list(), "boolean"),
        lambda p: pa.array((p["brand_code"] == "1").to_list()),
        lambda p: (p["brand_code"] == "1").astype(object),
        lambda p: p.set_index("product_id")["brand_code"] == "1",
        lambda p: (p.set_index("product_id")["brand_code"] == "1").sort_index(),
        lambda _: lambda products: products["brand_code"] == "1",
        lambda _: lambda products: products.brand_code.eq("1").to_numpy(),
        lambda _: lambda _: pc.field("brand_code") == "1",
        lambda _: pc.field("brand_code") == "1",
    ],
)
def test_masks_and_callables_choose_products(
    catalog: prodex.Catalog, mask: Callable[[pd.DataFrame], Any]
) -> None:
    """What pandas takes in brackets, and what it takes in `loc`, with the children of each product."""
    expected = PRODUCTS.loc[PRODUCTS["brand_code"] == "1", "product_id"].tolist()
    some = catalog.where(mask(catalog.products))

    assert expected == _ids(some)
    assert set(expected) == set(some.raw["product_id"])


def test_masks_and_values_hold_together(catalog: prodex.Catalog) -> None:
    """A mask and values in one call mean the products for which both hold."""
    both = catalog.where(catalog.products["life_cycle"].eq(1).fillna(False), brand_code=["1", "2"])

    assert _ids(catalog.where(life_cycle=1).where(brand_code=["1", "2"])) == _ids(both)


@pytest.mark.slow
@each_row(
    ("condition", "message"),
    [
        (lambda p: p["is_consumer_unit"], r"missing.*fillna\(False\)"),
        (lambda p: p["is_consumer_unit"].astype(object), r"missing.*fillna\(False\)"),
        (lambda _: [True, None] * 20, "missing"),
        (lambda p: p["brand_code"].iloc[:10] == "1", r"10.*40.*catalog\.products"),
        (lambda p: (p["brand_code"] == "1").set_axis(range(1, 41)), "index"),
        (lambda p: (p["brand_code"] == "1").set_axis([0] * 40), "index"),
        (lambda p: (p.set_index("product_id")["brand_code"] == "1").iloc[1:], "no value for 1 of 40"),
        (lambda p: pd.concat([p, p]).set_index("product_id")["gtin"] == "1", "twice"),
        (lambda _: [True], "1.*40"),
        (lambda _: [], "0.*40"),
        (lambda _: np.zeros((40, 2), bool), "dimension"),
        (lambda p: p["life_cycle"], "where"),
        (lambda p: p["product_id"], r"where\(product_id=\.\.\.\)"),
        (lambda p: p["product_id"].unique(), r"where\(.*=\.\.\.\)"),
        (lambda p: p, "frame"),
        (lambda p: p[["is_consumer_unit"]], "frame"),
        (lambda _: "brand_code == '1'", r"where\(brand_code="),
        (lambda _: {"brand_code": "1"}, r"where\(\*\*"),
        (lambda _: 3, "3"),
        (lambda _: True, "True"),
        (lambda _: lambda products: products, "frame"),
        (lambda _: lambda products: products["brandcode"] == 1, "brandcode"),
        (lambda _: lambda products: products.brandcode == 1, "brandcode"),
        (lambda _: lambda: True, "callable"),
        (lambda _: lambda _: lambda _: True, "callable"),
        (lambda _: pc.field("nowhere") == 1, "does not fit"),
        (lambda _: pc.field("brand_code") == 1, "does not fit"),
    ],
)
def test_what_is_no_mask_is_refused_with_what_to_write(
    catalog: prodex.Catalog, condition: Callable[[pd.DataFrame], Any], message: str
) -> None:
    """A mask of other products or with gaps would choose the wrong ones; nothing is guessed."""
    with pytest.raises(QueryError, match=message):
        catalog.where(condition(catalog.products))


def test_none_is_no_condition(catalog: prodex.Catalog) -> None:
    """Without a condition all products stay."""
    assert 40 == len(catalog.where()) == len(catalog.where(None))


def test_values_that_were_not_found_are_named() -> None:
    """With `unmatched="warn"` the warning says how many of how many, and the first of them."""
    with pytest.warns(prodex.catalog.UnmatchedWarning, match=r"2 of 4 values of product_id .*'81', 82"):
        found = CATALOG.where(product_id=["1", "81", "2", 82], unmatched="warn")
    assert ["1", "2"] == _ids(found)

    with pytest.warns(prodex.catalog.UnmatchedWarning, match="1 of 1 values? of brand_code .*'ACMEE'"):
        assert 0 == len(CATALOG.where(brand_code="ACMEE", unmatched="warn"))
    with pytest.warns(prodex.catalog.UnmatchedWarning, match="sharing_status.*'DRAFT'"):
        CATALOG.where(sharing_status="DRAFT", unmatched="warn")
    with pytest.warns(prodex.catalog.UnmatchedWarning, match="95 of 100"):
        CATALOG.where(product_id=range(36, 136), unmatched="warn")
    with pytest.raises(QueryError, match=r"1 of 2 values of brand_code .*'ACMEE'"):
        CATALOG.where(brand_code=["ACMEE", 1], unmatched="raise")
    with pytest.raises(QueryError, match="Belgium"):
        prodex.flatten([{"id": 1}]).where(target_market="Belgium", unmatched="raise")


def test_nothing_is_said_where_everything_was_found() -> None:
    """There is no warning about values that were found, and none by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CATALOG.where(brand_code=["1", None], sharing_status="ACCEPTED", unmatched="warn")
        CATALOG.where(brand_code=["1", None], packaging="palette", unmatched="raise")
        CATALOG.where(brand_code="ACMEE")
        CATALOG.where(lambda p: p["brand_code"] == "1", unmatched="raise")


@pytest.mark.slow
def test_long_lists_are_asked_like_short_ones(catalog: prodex.Catalog) -> None:
    """Thousands of values find the products that a few of them find."""
    many = [str(number) for number in range(30, 5_000)]

    assert [str(number) for number in range(30, 41)] == _ids(catalog.where(product_id=many))
    assert ["40"] == _ids(
        catalog.where(product_id=many, brand_code=[None, "0"], gtin=range(35, 9_000)).where(
            product_id=["40", "35"], packaging_code="EACH"
        )
    )
    assert _ids(catalog.where(brand_code=None)) == _ids(catalog.where(brand_code=[None, *many]))


values = {
    "product_id": st.integers(0, 45).map(str),
    "brand_code": st.integers(0, 5).map(str),
    "brand": st.sampled_from(["Brand 0", "Brand 1", "brand 1", "Brand 9", ""]),
    "life_cycle": st.integers(0, 3),
    "is_consumer_unit": st.booleans(),
    "sharing_status": st.sampled_from([2, 3, 4]),
    "gtin": st.integers(0, 45).map("{:014d}".format),
    "updated_at": st.integers(1, 25).map(lambda day: datetime.fromisoformat(f"2026-11-{day:02d}T08:00")),
}
held_in = st.sampled_from(
    [list, tuple, iter, pd.Series, lambda v: pd.Index(v, dtype=object), lambda v: np.array(v, object)]
)


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::prodex.catalog.UnmatchedWarning"
)  # a brand that only sounds like another
@given(
    st.sampled_from(sorted(values)).flatmap(
        lambda column: st.tuples(st.just(column), st.lists(values[column], max_size=5))
    ),
    held_in,
)
def test_where_is_the_plain_selection_over_products(
    asked: tuple[str, list[Any]], held: Callable[[Any], Any]
) -> None:
    """For values of any column, held in anything: the products that plain Python finds, in their order."""
    column, wanted = asked
    rows = CATALOG.arrow("products").to_pylist()
    plain = [row["product_id"] for row in rows if row[column] in wanted]

    assert plain == _ids(CATALOG.where(**{column: held(wanted)}))


@pytest.mark.slow
@given(st.lists(st.booleans(), min_size=40, max_size=40))
def test_a_mask_is_the_selection_of_pandas(mask: list[bool]) -> None:
    """Whatever the mask and however the catalogue is cut into parts."""
    series = pd.Series(mask)

    assert PRODUCTS.loc[series, "product_id"].tolist() == _ids(CATALOG.where(series))


def test_a_word_that_finds_nothing_names_the_values_that_contain_it() -> None:
    """Whoever asks for chocolate means the kinds of it; where something was found, nothing is said."""
    kinds = ["Chocolate bars", "Dark chocolate", "Tea"]
    catalog = prodex.flatten(
        [{"id": n, "kind": {"code": f"{n}", "label": one}} for n, one in enumerate(kinds)]
    )
    with pytest.warns(
        prodex.catalog.UnmatchedWarning, match="kind has no 'Chocolate'; 2 of its values contain it: 'Choc"
    ):
        assert 0 == len(catalog.where(kind="Chocolate"))
    with pytest.warns(prodex.catalog.UnmatchedWarning, match="1 of its values contains it: 'Tea'"):
        catalog.where(kind="tea")
    assert 0 == len(catalog.where(kind="Coffee"))
    assert 1 == len(catalog.where(kind=["Chocolate", "Tea"]))


def test_of_many_values_that_contain_a_word_five_are_named() -> None:
    """And that there are more; of five, all are named, and no more are promised."""
    records = [{"id": n, "kind": {"code": f"{n}", "label": f"Tea {n}"}} for n in range(1, 7)]
    five = "'Tea 1', 'Tea 2', 'Tea 3', 'Tea 4', 'Tea 5'"

    with pytest.warns(
        prodex.catalog.UnmatchedWarning, match=rf"; 6 of its values contain it: {five}, \.\.\."
    ):
        prodex.flatten(records).where(kind="Tea")
    with pytest.warns(prodex.catalog.UnmatchedWarning, match=rf"; 5 of its values contain it: {five}(?!,)"):
        prodex.flatten(records[:5]).where(kind="Tea")
