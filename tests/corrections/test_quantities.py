"""Quantities of many products: converted exactly or not at all, told apart by their units, and each at its own cost."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex import operations as do
from prodex.written_json import read_written

GTINS = ("03036811359935", "08784900123459")


def catalog(*weights: str) -> prodex.Catalog:
    """Return a product with these net weights, each as "number unit", and an ordinary one of 2 kg."""
    return prodex.flatten(
        read_written(_product(*one)) for one in zip((1, 2), (weights, ("2 KGM",)), strict=True)
    )


def _product(number: int, weights: tuple[str, ...]) -> str:
    items = []
    for one in weights:
        amount, unit = one.split()
        items.append(f'{{"data": {amount}, "expressedIn": {{"code": "{unit}"}}}}')
    name = f'[{{"expressedIn": {{"code": "fra-FR"}}, "data": "Pain  {number}"}}]'
    gtin = GTINS[number - 1]
    return (
        f'{{"id": {number}, "gtin": "{gtin}", "namePublicLong": {name}, "netWeight": [{", ".join(items)}]}}'
    )


def outcome(fix: prodex.worklists.Fix) -> dict[str, list[str]]:
    """Return what is accepted and what is refused of the first product: the values after, and the reasons."""
    own = fix.answers[fix.answers["gtin"] == GTINS[0]]
    accepted = own[own["state"] == "accepted"]["answer"].tolist()
    return {"accepted": accepted, "refused": own[own["state"] == "refused"]["reason"].tolist()}


@pytest.mark.parametrize("weights", [("1 KGM", "2.2 LBR"), ("1 LBR", "16 ONZ"), ("1 KGM", "16 ONZ", "3 H87")])
def test_quantities_of_two_units_do_not_become_two_of_one(weights: tuple[str, ...]) -> None:
    """Two weights in grams are two answers to one question; the product beside them is converted."""
    fix = prodex.correct(catalog(*weights), "netWeight", do.ConvertUnit("g"))
    found = outcome(fix)
    assert [] == found["accepted"]
    assert {"the product has quantities in several units, and would have several in GRM."} <= set(
        found["refused"]
    )
    assert ["2000 GRM"] == fix.preview()["after"].tolist()
    # One of them alone is told apart from the others by its unit, and the next one then has it already.
    single = prodex.RecipeStep(do.ConvertUnit("g", only=weights[0].split()[1]), "netWeight")
    both = prodex.apply_recipe(
        catalog(*weights), prodex.Recipe([single, prodex.RecipeStep(do.ConvertUnit("g"), "netWeight")])
    )
    assert 1 == len(outcome(both)["accepted"])
    assert "the product has a quantity in GRM already." in both.step_rows["reason"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    "weight",
    ["0.12345678901234567891", "0.50000000000000000001", "1e-400", '"0,50000000000000000001"', "1e308"],
)
def test_a_number_that_is_not_converted_or_copied_exactly_is_refused(weight: str) -> None:
    """Tables hold doubles, and a record may have more digits: none of them is cut."""
    steps = [
        prodex.RecipeStep(do.ConvertUnit("g"), "netWeight"),
        prodex.RecipeStep(do.TrimSpaces(), "namePublicLong"),
    ]
    fix = prodex.apply_recipe(catalog(f"{weight} KGM"), prodex.Recipe(steps))
    assert [1, 2] == fix.steps["changed"].tolist()
    assert [1, 0] == fix.steps["refused"].tolist()
    assert "exact" in fix.steps["reason"][0]
    copied = prodex.correct(catalog(f"{weight} KGM"), "grossWeight", do.CopyFrom("netWeight"))
    assert ["2 KGM"] == copied.preview()["after"].tolist()[-1:]
    assert weight == "1e308" or "copied exactly" in outcome(copied)["refused"][0]


def test_exact_numbers_are_converted_with_all_their_digits() -> None:
    """Sixteen digits and more are as exact as three, and what stands beside keeps its spelling."""
    fix = prodex.correct(catalog("1.2345678901234567 KGM", "12.50 H87"), "netWeight", do.ConvertUnit("g"))
    assert "1234.5678901234567 GRM" in fix.preview()["after"].tolist()
    record = next(one for one in fix._known().changes.records if one["gtin"] == GTINS[0])
    assert ["1234.5678901234567", "12.50"] == [repr(one["data"]) for one in record["netWeight"]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "weight", ["1e16", "1e22", "1e300", "1e308", "1e400", "-0", "9" * 40, "NaN", "1e-300"]
)
def test_an_odd_weight_costs_no_other_product_and_no_other_step(weight: str) -> None:
    """Steps that read, convert, copy and remove it are done with the others."""
    operations = [do.ConvertUnit("g"), do.CopyFrom("netWeight"), do.SetValue("3 kg"), do.RemoveValue()]
    attributes = ["netWeight", "grossWeight", "netWeight", "grossWeight"]
    steps = [prodex.RecipeStep(*one) for one in zip(operations, attributes, strict=True)]
    trim = prodex.RecipeStep(do.TrimSpaces(), "namePublicLong")
    for number, step in enumerate(steps, 1):
        fix = prodex.apply_recipe(catalog(f"{weight} KGM"), prodex.Recipe([*steps[:number], trim]))
        done = fix.steps["changed"].tolist()
        assert 2 == done[-1], step
        assert all(one >= 1 for one in done if one is not done[-2]) or number == 4
        assert "Pain 2" in fix.preview()["after"].tolist()
        json.dumps([dict(one) for one in fix._known().changes.records], allow_nan=False)


def test_a_list_in_a_list_costs_no_other_product() -> None:
    """It is no form that an attribute has, and is refused where a value of it would change."""
    nested = [[{"data": 1, "expressedIn": {"code": "KGM"}}]]
    products = [
        json.loads(_product(1, ("1 KGM",))) | {"netWeight": nested},
        json.loads(_product(2, ("2 KGM",))),
    ]
    for operation in (do.ConvertUnit("g"), do.SetValue("3 kg"), do.RemoveValue()):
        fix = prodex.correct(prodex.flatten(products), "netWeight", operation)
        assert {"accepted": 1, "refused": 1} == dict(fix.counts)
        assert ["the product has netWeight of another form. Correct it at its source."] == outcome(fix)[
            "refused"
        ]


@pytest.mark.parametrize("amount", [2**53 + 1, 10**30, "1e22"])
def test_an_amount_that_no_table_holds_is_refused_and_not_called_missing(amount: Any) -> None:
    """It has a value, of which nobody can compute another one; the product without one has none."""
    first, second = (json.loads(_product(number, ("1 KGM",))) for number in (1, 2))
    first["netWeight"] = [{"data": amount, "expressedIn": {"code": "KGM"}}]
    second["netContent"] = second.pop("netWeight")
    for attribute, operation, done in (
        ("netWeight", do.ConvertUnit("g"), "converted"),
        ("netContent", do.CopyFrom("netWeight"), "copied"),
    ):
        fix = prodex.correct(prodex.flatten([first, second]), attribute, operation)
        assert [f"{amount} is no number that is {done} exactly."] == fix.refused["reason"].tolist()
        assert [[1, 1]] == fix.steps[["refused", "no_value"]].values.tolist()


def test_whole_numbers_of_a_column_of_floats_are_whole() -> None:
    """pandas makes 6.0 of 6 in a column with an empty cell: it is sent as 6, and as the code "6"."""
    products: list[dict[str, Any]] = [
        {"id": n, "gtin": gtin, "serves": 4, "brand": {"code": "5"}, "namePublicLong": [_text("Pain")]}
        for n, gtin in enumerate(GTINS, 1)
    ]
    found = prodex.flatten(products)
    floats = pd.Series([6, None], index=pd.Index(GTINS, name="gtin"))
    assert "float64" == str(floats.dtype)
    for attribute, expected in (("serves", "6"), ("brand", '{"code": "6"}')):
        fix = prodex.correct(found, attribute, floats)
        fix.confirm()
        (record,) = fix._known().changes.records
        assert expected == json.dumps(record[attribute])
    frame = pd.DataFrame(
        {"gtin": GTINS, "alcohol": [6, None], "namePublicLong": [[_text("Pain")]] * 2, "serves": [0.5, 6.0]}
    )
    service = prodex.connect(base_url="http://127.0.0.1:9", client_id="key", client_secret="secret")
    dry_run = prodex.upsert(service, frame, dry_run=True)
    sent = json.loads(dry_run.payloads[0], parse_float=str, parse_int=str)["data"]
    assert [("6", "0.5"), (None, "6")] == [(one.get("alcohol"), one["serves"]) for one in sent]


def _text(data: str) -> dict[str, Any]:
    return {"expressedIn": {"code": "fra-FR"}, "data": data}
