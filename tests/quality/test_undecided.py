"""What is undecided is unknown, until somebody decides it by word."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex import ProductQuery
from prodex.errors import InputError
from prodex.quality.products import Products
from prodex.quality.states import State
from tests.cases import each_row

UNIT = {"isConsumerUnit": True, "kind": {"code": "PIZZA"}}
#: A pizza that tells neither its class nor anything of a food, a cheese that does, and a soap by its class.
PIZZA = {"id": 1, **UNIT}
CHEESE = {
    "id": 2,
    **UNIT,
    "allergens": [{"expressedIn": {"normalizedCode": "fr", "code": "fra-FR"}, "data": "lait"}],
}
SOAP = {"id": 3, **UNIT, "GPC": {"code": "53000000"}}
RECORDS = [PIZZA, CHEESE, SOAP]


def states(check: str, profile: dict[str, Any] | None = None, **options: Any) -> list[State]:
    """Return the check's states of the three products."""
    catalog = prodex.flatten(RECORDS)
    audit = prodex.audit(catalog, {"checks": {check: {}}, **(profile or {})}, progress=False, **options)
    assert () == audit.crashes
    return [State(state) for state in audit.states[:, 0]]


@each_row("check", ["has_composition", "has_nutrition", "has_storage_conditions", "has_operator_contact"])
def test_what_may_be_food_is_neither_ready_nor_beside_the_question(check: str) -> None:
    """A pizza without any data of food is unknown; what tells its class, or anything of food, is decided."""
    assert [State.UNKNOWN, State.FAIL, State.NOT_APPLICABLE] == states(check)


@each_row(("assumed", "pizza"), [(True, State.FAIL), (False, State.NOT_APPLICABLE), (None, State.UNKNOWN)])
def test_food_is_decided_by_word(assumed: bool | None, pizza: State) -> None:
    """The assumption holds for products of which nothing says whether they are food, and for no other."""
    expected = [pizza, State.FAIL, State.NOT_APPLICABLE]
    assert expected == states("has_composition", assume_food=assumed)
    if assumed is not None:
        assert expected == states("has_composition", {"assume": {"food": assumed}})
        assert expected == states("has_composition", {"assume": {"food": not assumed}}, assume_food=assumed)


def test_an_audit_says_what_was_assumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so also when it was saved and is opened again, since its figures rest on it."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    catalog = prodex.flatten(RECORDS).save("shop")
    audit = prodex.audit(catalog, "food-eu", progress=False, assume_food=True).save()

    assert audit.folder is not None
    assert (("food", True),) == audit.assumed == prodex.open_audit(audit.folder).assumed


def test_a_product_that_hides_whether_customers_buy_it_is_unknown() -> None:
    """Checks of consumer units are unknown without the flag, not passed or not applicable; a profile can decide."""
    catalog = prodex.flatten([{"id": 1}, {"id": 2, "isConsumerUnit": False}])

    def found(**profile: Any) -> list[int]:
        audit = prodex.audit(catalog, {"checks": {"has_picture": {}}, **profile}, progress=False)
        return audit.states[:, 0].tolist()

    assert [State.UNKNOWN, State.NOT_APPLICABLE] == found()
    assert [State.FAIL, State.NOT_APPLICABLE] == found(assume={"is_consumer_unit": True})
    assert [State.NOT_APPLICABLE, State.NOT_APPLICABLE] == found(assume={"is_consumer_unit": False})


@each_row(
    ("assume", "words"),
    [
        ("food", "give a table of assumptions"),
        ({"food": "yes"}, "give true or false"),
        ({"is_consumer_units": True}, "did you mean 'is_consumer_unit'"),
        ({"is_consumer_unit": "yes"}, "is_consumer_unit holds bool"),
        ({"is_consumer_unit": [True, False]}, "assume"),
    ],
)
def test_an_assumption_that_cannot_be_is_refused(assume: Any, words: str) -> None:
    """The message says what to write instead."""
    with pytest.raises(InputError, match=words):
        prodex.Profile.read({"checks": {"has_picture": {}}, "assume": assume})


def test_files_say_what_they_were_asked_for_with(tmp_path: Path) -> None:
    """What the query left out is unknown, and not a failure of the supplier."""
    path = tmp_path / "names.jsonl"
    path.write_text(json.dumps({"id": 1, "gtin": "03036811359935", "uuid": "1"}), "utf-8")
    checks = {"checks": {"has_brand": {}, "valid_gtin": {}}}

    asked = prodex.read_products(path, query=ProductQuery(source_include=["gtin"]))

    assert [[State.UNKNOWN, State.PASS]] == prodex.audit(asked, checks, progress=False).states.tolist()
    everything = prodex.audit(prodex.read_products(path), checks, progress=False)
    assert [[State.FAIL, State.PASS]] == everything.states.tolist()
    with pytest.raises(InputError, match="ProductQuery"):
        prodex.read_products(path, query={"source_include": ["gtin"]})  # type: ignore[arg-type] # that is the test


def test_a_rule_that_does_not_say_what_it_needs_needs_what_it_looks_at() -> None:
    """Be it a column, an attribute, a table, the name, or what another rule remembered."""

    def looks(products: Products) -> Any:
        return products.remember("brand", lambda: ~products["brand_code"].notna())

    @prodex.packs.rule(title="by column")
    def by_column(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(products["brand_code"].isna())

    @prodex.packs.rule(title="by attribute")
    def by_attribute(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(~products.filled("brand"))

    @prodex.packs.rule(title="by table")
    def by_table(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(~products.any(products.rows("codes", "attribute")["product"]))

    @prodex.packs.rule(title="by what was remembered")
    def first_to_remember(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(looks(products))

    @prodex.packs.rule(title="by what was remembered")
    def next_to_remember(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(looks(products))

    @prodex.packs.rule(title="by what was asked for")
    def by_gtin(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(products["gtin"].isna())

    names = ["by_column", "by_attribute", "by_table", "first_to_remember", "next_to_remember", "by_gtin"]
    catalog = prodex.flatten([{"id": 1, "gtin": "03036811359935"}])
    less = replace(catalog, origin=replace(catalog.origin, query=ProductQuery(source_include=["kind"])))
    checks = {"checks": {name: {} for name in names}}

    assert [[1, 1, 1, 1, 1, 0]] == prodex.audit(catalog, checks, progress=False).states.tolist()
    assert [[3, 3, 3, 3, 3, 0]] == prodex.audit(less, checks, progress=False).states.tolist()
