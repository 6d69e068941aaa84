"""Nutrients side by side: of one basis, every figure in its own column, and nothing settled in silence."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import QueryError
from prodex_sandbox.sample import shared_products
from tests.cases import each_row


def partition(
    name: str | None, amount: Any, unit: str | None, *nutrients: tuple[str, float, str]
) -> dict[str, Any]:
    contains = [
        {
            "isConceptualizedBy": {"code": code, "label": code.title()},
            "quantity": q,
            "expressedIn": {"code": u},
        }
        for code, q, u in nutrients
    ]
    measured = {"code": unit} if unit else None
    return {"name": name, "quantity": amount, "isMeasuredBy": measured, "contains": contains}


def catalog_of(*products: list[dict[str, Any]]) -> prodex.Catalog:
    return prodex.flatten({"id": n, "isPartitionedBy": one} for n, one in enumerate(products, 1))


def values(frame: pd.DataFrame) -> list[list[Any]]:
    """Return the cells without keys, None for what is missing."""
    cells = frame.drop(columns=["product_id", "gtin"]).astype(object)
    return cells.where(cells.notna(), None).values.tolist()


FAT, SALT, SODIUM = ("FAT", 5.0, "GRM"), ("SALTEQ", 1.0, "GRM"), ("NA", 0.4, "GRM")


def test_each_nutrient_and_unit_is_a_column_and_each_product_a_row() -> None:
    """Energy in two units is two columns, sodium is called NA, and a product without nutrients has a row."""
    energy = ("ENER-", 900.0, "KJO"), ("ENER-", 215.0, "E14")
    catalog = catalog_of([partition("100 g", 100, "GRM", *energy, FAT, SODIUM)], [])

    frame = catalog.nutrition_wide()
    assert ["product_id", "gtin", "ENER-.kJ", "ENER-.kcal", "FAT.g", "NA.g", "duplicates"] == list(frame)
    assert [[900.0, 215.0, 5.0, 0.4, None], [None] * 5] == values(frame)
    assert "Na (g)" in catalog.nutrition_wide(labels=True)


@pytest.mark.slow
@each_row("basis", ["100 g", "100g", "100 GRM", "100 grams", "100,0 G"])
def test_a_basis_is_an_amount_in_any_spelling(basis: str) -> None:
    """A basis is read from the figures of a partition, or else from its words."""
    catalog = catalog_of(
        [partition("100 g", 100, "GRM", FAT)],
        [partition(None, 100, "GRM", FAT)],
        [partition("100 g", None, None, FAT)],
        [partition("100 ml", 100, "MLT", SALT), partition("per portion", 30, "GRM", SALT)],
    )

    assert [[5.0, None]] * 3 + [[None, None]] == values(catalog.nutrition_wide(basis))
    assert [None, None, None, 1.0] == [one[0] for one in values(catalog.nutrition_wide("100 ml"))]
    assert [None, None, None, 1.0] == [one[0] for one in values(catalog.nutrition_wide("Per portion"))]


def test_an_unknown_basis_is_refused_with_those_that_there_are() -> None:
    """An unknown basis is an error that names those there are."""
    catalog = catalog_of([partition("100 g", 100, "GRM", FAT), partition("per portion", None, None, FAT)])

    with pytest.raises(QueryError, match="Give one of 100 g, per portion"):
        catalog.nutrition_wide("zzz")
    with pytest.raises(QueryError, match="did you mean '100 g'"):
        catalog.nutrition_wide("100 mg")
    with pytest.raises(QueryError, match="takes a basis"):
        catalog.nutrition_wide(100)  # type: ignore[arg-type]
    assert ["product_id", "gtin", "duplicates"] == list(prodex.flatten([{"id": 1}]).nutrition_wide())


def test_figures_that_come_twice_are_said_and_never_chosen_from() -> None:
    """The same figure twice is that figure; different ones are none, with a warning that names the product."""
    same = [partition("100 g", 100, "GRM", FAT, SALT), partition("100 g", 100, "GRM", FAT)]
    other = [
        partition("100 g", 100, "GRM", FAT),
        partition("per 100 g", 100, "GRM", ("FAT", 7.0, "GRM"), SALT),
    ]

    assert [[5.0, 1.0, "FAT.g: 5 | 5"]] == values(catalog_of(same).nutrition_wide())
    with pytest.warns(UserWarning, match=r"1 products \(1\) have different figures"):
        frame = catalog_of(other).nutrition_wide()
    assert [[None, 1.0, "FAT.g: 5 | 7"]] == values(frame)


FAT_SOLD, SALT_PREPARED = ("FAT", 30.0, "GRM"), ("SALTEQ", 0.1, "GRM")


@pytest.mark.slow
@each_row(
    ("sold", "prepared"),
    [
        ("100 g", "100 g as prepared"),
        ("100 g as sold", "100 g prepared"),
        ("Pour 100 g", "Pour 100 g de produit préparé"),
        ("100 g, wie verkauft", "100 g (zubereitet)"),
        ("100 g", "prepared"),
        (None, "as prepared"),
    ],
)
def test_words_beyond_the_amount_make_another_basis(sold: str | None, prepared: str) -> None:
    """What 100 g hold as prepared stands beside nothing of what they hold as sold."""
    catalog = catalog_of(
        [partition(sold, 100, "GRM", FAT_SOLD), partition(prepared, 100, "GRM", SALT_PREPARED)],
        [partition(prepared, 100, "GRM", FAT)],
    )
    frame = catalog.nutrition_wide()
    assert (["FAT.g", "duplicates"], [[30.0, None], [None, None]]) == (list(frame)[2:], values(frame))
    frame = catalog.nutrition_wide("100 g as prepared")
    assert (["FAT.g", "SALTEQ.g"], [[None, 0.1, None], [5.0, None, None]]) == (
        list(frame)[2:4],
        values(frame),
    )
    with pytest.raises(QueryError, match=r"100 g(?: |,).*did you mean '100 g prepared'"):
        catalog.nutrition_wide("100 g preparedd")


def test_words_that_nobody_knows_are_named_where_a_product_has_no_other_figures() -> None:
    """Drained is another basis: whoever asks for 100 g is told that there is one, and not left with a gap."""
    drained = partition("drained, 100 g", 100, "GRM", SALT)
    catalog = catalog_of([partition("per 100 g", 100, "GRM", FAT_SOLD), drained], [drained])
    with pytest.warns(
        UserWarning, match=r"1 products \(2\) have figures of '100 g' .* ask for '100 g drained'"
    ):
        frame = catalog.nutrition_wide()
    assert (["FAT.g", "duplicates"], [[30.0, None], [None, None]]) == (list(frame)[2:], values(frame))
    assert [[1.0, None], [1.0, None]] == values(catalog.nutrition_wide("100 g drained"))
    with pytest.raises(QueryError, match="did you mean '100 g drained'"):
        catalog.nutrition_wide("100 g draned")


@each_row(
    "name",
    [
        "Valeurs nutritionnelles moyennes pour 100 g",
        "Tableau nutritionnel",
        "Nutrition declaration per 100 g",
        "Nährwerttabelle je 100 g",
        "Gemiddelde voedingswaarde per 100 g van het product",
        "Valori nutrizionali medi per 100 g di prodotto",
        "Información nutricional por cada 100 g",
        "Declaração nutricional média por 100 g",
    ],
)
def test_plain_words_of_many_languages_say_nothing_beyond_the_amount(name: str) -> None:
    """They are the headings of every table of nutrition."""
    catalog = catalog_of([partition(name, 100, "GRM", FAT_SOLD)])
    assert [[30.0, None]] == values(catalog.nutrition_wide())


STATE_PREPARED: list[Any] = [
    {"preparationState": {"code": "PREPARED", "label": "Prepared"}},
    {"preparationState": "PREPARED"},
    {"preparationStateCode": {"code": "PREPARED"}},
    {"preparationState": [{"code": "PREPARED"}]},
    {"preparationState": [{"expressedIn": {"code": "eng-GB"}, "data": "as prepared"}]},
]


@pytest.mark.slow
@each_row("state", STATE_PREPARED, ids=str)
@each_row("is_list", [True, False])
def test_the_state_of_preparation_is_part_of_the_basis(state: dict[str, Any], is_list: bool) -> None:
    """Whatever its shape, of a partition and of a nutrient; unprepared is as sold."""
    sold = partition("100 g", 100, "GRM", FAT_SOLD) | {"preparationState": {"code": "UNPREPARED"}}
    prepared = partition("100 g", 100, "GRM", SALT_PREPARED) | state
    alone: Any = [prepared] if is_list else prepared
    of_nutrient = partition("100 g", 100, "GRM", FAT_SOLD, SALT_PREPARED)
    of_nutrient["contains"][1] |= state

    catalog = catalog_of([sold, prepared], alone, [of_nutrient])
    frame = catalog.nutrition_wide()
    assert [[30.0, None], [None, None], [30.0, None]] == values(frame)
    frame = catalog.nutrition_wide("100 g as prepared")
    assert (["SALTEQ.g"], [[0.1, None]] * 3) == (list(frame)[2:3], values(frame))


def test_a_name_without_an_amount_has_its_words_and_its_state() -> None:
    """A portion as prepared is no portion as sold; in figures alone it is that amount of a portion."""
    sold = partition("per portion", 30, "GRM", FAT_SOLD)
    prepared = partition("per portion", 200, "GRM", SALT_PREPARED) | {"preparationState": "PREPARED"}
    catalog = catalog_of([sold, prepared])
    assert [[30.0, None]] == values(catalog.nutrition_wide("Per portion"))
    assert [[0.1, None]] == values(catalog.nutrition_wide("portion prepared"))
    assert [[30.0, None]] == values(catalog.nutrition_wide("portion (30 g)"))
    with pytest.raises(QueryError, match="Give one of 30 g portion"):
        catalog.nutrition_wide("30 g")


def test_a_partition_that_contradicts_itself_is_left_out_and_named() -> None:
    """Its words say 100 g, its figures 50: nobody knows."""
    catalog = catalog_of([partition("100 g", 50, "GRM", FAT)], [partition("100 g", 100, "GRM", SALT)])

    with pytest.warns(UserWarning, match=r"1 products \(1\) say '100 g' in words"):
        assert [[None, None], [1.0, None]] == values(catalog.nutrition_wide())


@pytest.mark.slow
def test_every_figure_of_the_sample_stands_in_its_cell() -> None:
    """The figures agree with plain Python over the raw records."""
    records = [product.record for product in shared_products(400)]
    expected = {}
    for record in records:
        for one in record.get("isPartitionedBy") or []:
            if (one["quantity"], one["isMeasuredBy"]["code"]) == (100, "GRM"):
                for item in one["contains"]:
                    code, unit = item["isConceptualizedBy"]["code"], item["expressedIn"]["code"]
                    expected[str(record["id"]), code, unit] = item["quantity"]
    frame = prodex.flatten(records).nutrition_wide().set_index("product_id")

    symbols = {"GRM": "g", "KJO": "kJ", "E14": "kcal", "MGM": "mg"}
    cells = frame.drop(columns=["gtin", "duplicates"]).stack().dropna().to_dict()
    assert {(i, f"{code}.{symbols[unit]}"): value for (i, code, unit), value in expected.items()} == cells
    assert len(expected) > 200


@each_row("catalog", [prodex.flatten([]), prodex.flatten([{"id": 7}]).where(product_id="8")])
def test_no_products_are_no_rows(catalog: prodex.Catalog) -> None:
    """A catalogue without products, or a choice of none of them, has the columns that are there of any."""
    found = catalog.nutrition_wide()
    assert (["product_id", "gtin", "duplicates"], 0) == (list(found), len(found))
