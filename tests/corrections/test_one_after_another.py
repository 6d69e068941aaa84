"""Corrections one after another: each is judged by what the one before it has left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import prodex
from prodex import operations as do
from tests.corrections.machines import Machines, machines
from tests.send.mill_exchange import gtin, text


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer at this machine and at another one."""
    with machines() as found:
        yield found


def records(catalog: prodex.Catalog) -> list[dict[str, Any]]:
    """Return the products as they were received."""
    return [json.loads(one) for one in catalog.raw["json"]]


def names_at_service(mill: Machines) -> list[str]:
    """Return the French names that the service has, by GTIN."""
    found = mill.load("now").arrow("texts", ["gtin", "attribute", "language", "text"]).to_pylist()
    own = [one for one in found if (one["attribute"], one["language"]) == ("namePublicLong", "fr")]
    return [one["text"] for one in sorted(own, key=lambda one: one["gtin"])]


@pytest.mark.slow
@pytest.mark.parametrize("saved", [True, False])
def test_a_second_correction_sees_what_the_first_has_sent(mill: Machines, saved: bool) -> None:
    """Its catalogue has each chosen product once, as it is now, and a product that was not chosen stays as it is."""
    for number in (1, 2, 3):
        mill.elsewhere(
            number, namePublicLong=[text("fra-FR", f"Acme  Pain {number}")], brand={"code": "ACME"}
        )
    catalog = mill.load() if saved else prodex.flatten(records(mill.load()))
    first = prodex.correct(
        catalog.where(gtin=[gtin(1), gtin(2)]), "namePublicLong", do.ReplaceText("Acme", "ACME")
    )
    first.apply(mill.service, elsewhere=True, progress=False).wait(progress=False)
    newest = first.recheck(mill.service).catalog
    assert {gtin(1), gtin(2)} == set(newest.products["gtin"])

    for chosen in (newest.where(brand_code="ACME"), newest):
        second = prodex.correct(chosen, "namePublicLong", do.TrimSpaces(), language="fr")
        found = second.preview()[["before", "after"]].values.tolist()
        expected = [[f"ACME  Pain {number}", f"ACME Pain {number}"] for number in (1, 2)]
        assert (expected, 2) == (sorted(found), len(second.catalog))
    second.apply(mill.service, elsewhere=True, progress=False).wait(progress=False)
    assert ["ACME Pain 1", "ACME Pain 2", "Acme  Pain 3"] == names_at_service(mill)[:3]


@pytest.mark.slow
def test_what_was_left_out_by_a_filter_still_counts(mill: Machines) -> None:
    """A GTIN that a product outside of the chosen ones has as well is refused, before and after a correction."""
    found = [*records(mill.load()), {"id": 77, "gtin": gtin(1), "brand": {"code": "OTHER"}}]
    both = prodex.flatten(found)
    chosen = both.where(product_id=["1", "2"])
    fix = prodex.correct(chosen, "namePublicLong", do.ReplaceText("Name", "Nom"), language="fr")
    assert {"1": "refused", "2": "accepted"} == dict(
        fix.answers[["product_id", "state"]].itertuples(index=False)
    )
    newest = fix.recheck(mill.service).catalog
    again = prodex.correct(newest.where(product_id=["1"]), "namePublicLong", do.ReplaceText("Name", "Nom"))
    assert {"refused"} == set(again.answers["state"]), again.answers["reason"].tolist()
