"""Faults that a stranger found: what is claimed is what is done, and what is nobody's is left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex import operations as do
from prodex.changes import apply, diff, inverse, is_made
from prodex.errors import ChangesRefused, InputError, ServiceError
from prodex.sandbox import Fault, Sandbox
from prodex_sandbox.sample import shared_products
from tests.worklists.bakery import RECORDS


def text(code: str, data: str) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"code": code}, "data": data}


def product(number: int, gtin: str = "", **more: Any) -> dict[str, Any]:
    """Return a product with a French name."""
    digits = gtin or prodex.gtin.normal_form(
        ("03036811359935", "08784900123459", "05410228142027")[number - 1]
    )
    return {"id": number, "gtin": digits, "namePublicLong": [text("fra-FR", f"Produit {number}")], **more}


def connected(sandbox: Sandbox) -> prodex.service.Client:
    """Reach a sandbox."""
    key = sandbox.credentials[0]
    return prodex.connect(
        base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


@pytest.fixture
def service() -> Iterator[prodex.service.Client]:
    """Serve a few products of the sample."""
    with Sandbox(products=shared_products(30)) as sandbox:
        yield connected(sandbox)


def one_of(service: prodex.service.Client) -> prodex.Catalog:
    """Return one product that can be written."""
    catalog = prodex.load_products(service, max_age=0, progress=False)
    gtins = catalog.products.set_index("product_id")["gtin"]
    single = gtins[gtins.gtin.is_valid & ~gtins.duplicated(keep=False)]
    named = catalog.texts.query("attribute == 'namePublicLong' and language == 'fr'")["product_id"]
    pending = catalog.products.set_index("product_id")["has_pending_update"]
    chosen = next(one for one in named if one in single.index and not pending[one])
    return catalog.where(product_id=chosen)


def name_of(service: prodex.service.Client, gtin: str) -> str:
    """Return the French name that the service has."""
    query = prodex.ProductQuery(gtins_in=[gtin], extra={"allow_not_consumer_units": True})
    (found,) = service.search_products(query, limit=1).envelope.data
    names = json.loads(bytes(found))["namePublicLong"]
    return str(next(one["data"] for one in names if one["expressedIn"]["code"].startswith("fr")))


@pytest.mark.slow
def test_an_undo_at_another_port_asks_first(service: prodex.service.Client) -> None:
    """The same host is not the same service; whoever knows better says so."""
    chosen = one_of(service)
    tracking = prodex.correct(chosen, "namePublicLong", "Autre", language="fr").apply(service).wait()
    with Sandbox(products=shared_products(30)) as other:
        elsewhere = connected(other)
        prodex.correct(one_of(elsewhere), "namePublicLong", "Autre", language="fr").apply(elsewhere).wait()
        fix = prodex.undo(str(tracking.name), elsewhere)
        assert {"accepted": 1} == dict(fix.counts), fix.answers["reason"].tolist()
        with pytest.raises(InputError, match="elsewhere=True"):
            fix.apply(elsewhere)
        assert "Autre" == name_of(elsewhere, str(chosen.products["gtin"].iloc[0]))


@pytest.mark.slow
def test_an_undo_that_comes_right_after_another_one_is_sent(service: prodex.service.Client) -> None:
    """The time stamp of a product has seconds, and three writes fit into one."""
    chosen = one_of(service)
    gtin = str(chosen.products["gtin"].iloc[0])
    before = name_of(service, gtin)
    tracking = prodex.correct(chosen, "namePublicLong", "Autre", language="fr").apply(service).wait()
    for number in range(5):
        fix = prodex.undo(tracking)
        tracking = fix.apply(service).wait()
        assert (before, "Autre")[number % 2] == name_of(service, gtin)
        assert {"SUCCESS": 1} == dict(fix.outcomes)


def test_a_gtin_that_is_shared_with_a_product_outside_the_choice_is_refused_in_the_preview() -> None:
    """A write names its product by the GTIN alone, whichever product was chosen."""
    twins = [product(1, brand={"code": "A"}), product(2, "03036811359935", brand={"code": "B"})]
    catalog = prodex.flatten([*twins, product(3, brand={"code": "A"})])
    fix = prodex.correct(catalog.where(brand_code="A"), "namePublicLong", do.ReplaceText("Produit", "P"))
    assert {"accepted": 1, "refused": 1} == dict(fix.counts)
    assert (1, 1) == (fix.steps["changed"][0], fix.steps["refused"][0])


def test_a_move_whose_text_comes_back_counts_where_it_arrived() -> None:
    """What is sent is what the steps say."""
    steps = [
        prodex.RecipeStep(do.MoveText("nameLegal"), "namePublicLong"),
        prodex.RecipeStep(do.CopyFrom("nameLegal"), "namePublicLong"),
    ]
    fix = prodex.apply_recipe(prodex.flatten([product(1)]), prodex.Recipe(steps))
    assert ["nameLegal"] == fix.preview()["attribute"].tolist()
    assert [1, 0] == fix.steps["changed"].tolist()


def test_a_required_step_of_which_nothing_can_be_sent_stops_the_recipe() -> None:
    """Also if only the service would refuse it; what needs confirmation may still be confirmed."""
    weight = [{"data": 1, "expressedIn": {"code": "KGM"}}]
    catalog = prodex.flatten([product(1, netWeight=weight, brand={"code": "A"})])
    first = prodex.RecipeStep(do.ConvertUnit("g"), "netWeight")
    too_long = prodex.RecipeStep(do.ReplaceText("Produit", "A" * 300), "namePublicLong", required=True)
    with pytest.raises(ChangesRefused, match="step 2"):
        prodex.apply_recipe(catalog, prodex.Recipe([first, too_long]))
    asked = prodex.RecipeStep(do.SetCode("NOPE"), "brand", required=True)
    assert 1 == prodex.apply_recipe(catalog, prodex.Recipe([first, asked])).counts["needs confirmation"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("lait 2 kg 500 ml 80 g", "Lait 2 kg 500 ml 80 g"),
        ("MILK 500 ML 2 KG", "Milk 500 ml 2 kg"),
        ("LED lamp 5 w 230 V", "LED Lamp 5 W 230 V"),
        ("WATER 1 L", "Water 1 L"),
        ("vitamin g kg", "Vitamin G Kg"),
    ],
)
def test_titles_leave_units_behind_numbers(before: str, after: str) -> None:
    """Their symbols have one spelling in every case."""
    catalog = prodex.flatten([product(1) | {"namePublicLong": [text("eng-GB", before)]}])
    title = do.ChangeCase("title", keep=["LED"])
    fix = prodex.correct(catalog, "namePublicLong", title)
    assert [after] == fix.preview()["after"].tolist() or (before == after and not len(fix.preview()))


def test_several_quantities_of_one_unit_are_removed_together() -> None:
    """One operation does not contradict itself."""
    weights = [{"data": one, "expressedIn": {"code": "KGM"}} for one in (1, 2)]
    catalog = prodex.flatten([product(1, netWeight=weights)])
    for operation in (do.RemoveValue(), do.ConvertUnit("g")):
        fix = prodex.correct(catalog, "netWeight", operation)
        assert {"accepted": 1} == dict(fix.counts), fix.answers["reason"].tolist()


def test_an_empty_text_is_not_copied() -> None:
    """Nothing is made of nothing."""
    empty = [text("fra-FR", "Produit"), text("deu-DE", "")]
    catalog = prodex.flatten([product(1) | {"namePublicLong": empty}])
    fix = prodex.correct(catalog, "namePublicShort", do.CopyFrom("namePublicLong"))
    assert ["Produit"] == fix.preview()["after"].tolist()


def test_nothing_to_change_is_said_in_these_words() -> None:
    """No answer is missing: there is nothing to send."""
    fix = prodex.correct(prodex.flatten([product(1)]), "namePublicLong", do.ReplaceText("nothere", "x"))
    with pytest.raises(InputError, match="There is nothing to change"):
        fix.apply(prodex.connect("sandbox"))


def test_items_are_not_known_by_a_number_of_theirs() -> None:
    """Where somebody changes it, the item is there all the same: that is a conflict, and not gone."""
    first, ours = {"text": [text("fra-FR", "a")], "level": 1}, {"text": [text("deu-DE", "b")], "level": 2}
    (back,) = inverse(diff({"warnings": [first]}, {"warnings": [first, ours]}))
    assert not is_made({"warnings": [first, ours | {"level": 3}]}, back)


def test_a_time_stamp_of_the_service_is_no_change_of_somebody() -> None:
    """An attribute that was taken away may leave it behind."""
    assets = {"pictures": [{"url": "a"}], "lastUpdatedAt": "2026-11-26T10:00:00"}
    back = inverse(diff({"assets": assets}, {"assets": None}))
    assert {"assets": assets} == apply({"assets": {"lastUpdatedAt": "2026-11-26T11:00:00"}}, back)


@pytest.mark.slow
def test_what_was_sent_and_may_never_have_arrived_is_not_called_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply was lost before the service took it: the history does not know."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    with Sandbox(products=shared_products(30)) as sandbox:
        service = connected(sandbox)
        prodex.load_products(service, name="shop", progress=False)
        chosen = one_of(service)
        sandbox.order(Fault("500", at=range(1, 99), endpoint="upsert"))
        with suppress(ServiceError):
            prodex.correct(chosen, "namePublicLong", "Autre", language="fr").apply(service)
        found = prodex.history(str(chosen.products["gtin"].iloc[0]), "shop")
        (row,) = found[found["value"] == "Autre"].to_dict("records")
        assert "not known" == row["sent"]
        assert "may never have arrived" in row["note"]


def stored(service: prodex.service.Client, gtin: str) -> dict[str, Any]:
    """Return what the service has of a product."""
    query = prodex.ProductQuery(gtins_in=[gtin], extra={"allow_not_consumer_units": True})
    (found,) = service.search_products(query, limit=1).envelope.data
    return dict(json.loads(bytes(found)))


def moved(service: prodex.service.Client) -> prodex.worklists.Fix:
    """Move the long name to the short one, where it is not there already; nothing is sent."""
    catalog = prodex.load_products(service, max_age=0, progress=False)
    return prodex.correct(
        catalog.where(product_id="1"), "namePublicLong", do.MoveText("namePublicShort"), language="fr"
    )


def test_a_text_is_not_taken_away_while_the_place_where_it_goes_waits() -> None:
    """An upsert whose reply was lost may still write there: then nothing of the move is sent."""
    gtin = str(RECORDS[0]["gtin"])
    with Sandbox(RECORDS) as sandbox:
        service = connected(sandbox)
        fix = moved(service)
        sandbox.order(Fault("500", at=range(1, 99), endpoint="upsert"))
        other = {"gtin": gtin, "namePublicShort": [text("fra-FR", "Autre")]}
        with suppress(ServiceError):
            prodex.upsert(service, [other], progress=False)
        sandbox.clear_faults()
        before = stored(service, gtin)
        with pytest.raises(InputError, match="no answer is left to send"):
            fix.apply(service)
        assert before == stored(service, gtin)
        assert {"conflict": 2} == dict(fix.counts)
        assert "it is sent only together with what becomes of namePublicShort" in " ".join(
            fix.conflicts["reason"]
        )


@pytest.mark.slow
def test_a_text_is_not_taken_away_when_its_twin_is_gone_by_then() -> None:
    """The other place had it already, so that only the first one is written; somebody empties the other one."""
    twin = RECORDS[0] | {"namePublicShort": [RECORDS[0]["namePublicLong"][0]]}
    gtin = str(twin["gtin"])
    with Sandbox([twin, *RECORDS[1:]]) as sandbox:
        service = connected(sandbox)
        fix = moved(service)
        assert 1 == fix.counts["accepted"]
        assert [1] == fix.steps["changed"].tolist()
        emptied = {"gtin": gtin, "namePublicLong": twin["namePublicLong"], "namePublicShort": prodex.DELETE}
        prodex.upsert(service, [emptied]).wait()
        before = stored(service, gtin)
        with pytest.raises(InputError, match="no answer is left to send"):
            fix.apply(service)
        assert before == stored(service, gtin)


def sent(record: dict[str, Any], *steps: prodex.RecipeStep) -> dict[str, Any]:
    """Return what the service has of a product after steps that change it."""
    record = {"updatedAt": "2026-11-01T12:00:00", **record}
    with Sandbox([record]) as sandbox:
        service = connected(sandbox)
        fix = prodex.apply_recipe(prodex.load_products(service, progress=False), prodex.Recipe(steps))
        fix.apply(service, progress=False).wait(progress=False)
        return stored(service, str(record["gtin"]))


def test_a_text_is_not_copied_under_the_country_of_one_that_a_step_took_away() -> None:
    """French of Belgium stays that of Belgium, as where nothing had been; French of France has its place again."""
    names = [text("fra-FR", "Pain"), text("nld-NL", "Naam")]
    steps = [
        prodex.RecipeStep(do.RemoveValue(), "namePublicLong", "fr-FR"),
        prodex.RecipeStep(do.CopyFrom("namePublicShort"), "namePublicLong", "fr"),
    ]
    for code, expected in {
        "fra-BE": [text("nld-NL", "Naam"), text("fra-BE", "Court")],
        "fra-FR": [text("fra-FR", "Court"), text("nld-NL", "Naam")],
    }.items():
        short = {"namePublicLong": names, "namePublicShort": [text(code, "Court")]}
        assert expected == sent(product(1) | short, *steps)["namePublicLong"]


def test_an_amount_is_not_set_in_the_item_of_another_kind_that_a_step_took_away() -> None:
    """What an item says beside its amount goes with it."""
    pieces = {"data": 6, "expressedIn": {"code": "H87"}, "note": "in a tray"}
    made = sent(
        product(1, netContent=[pieces]),
        prodex.RecipeStep(do.RemoveValue(), "netContent"),
        prodex.RecipeStep(do.SetValue("3 l"), "netContent"),
    )
    assert [3] == [one["data"] for one in made["netContent"]]
    assert "note" not in made["netContent"][0]


@pytest.mark.parametrize("operation", [do.CopyFrom("namePublicShort"), do.MoveText("nameLegal")])
@pytest.mark.parametrize("nothing", ["", " \u00a0"])
def test_an_empty_text_is_no_other_text(operation: Any, nothing: str) -> None:
    """What is carried there takes its place, in its item; nothing else of the list changes."""
    legal = [text("nld-NL", "Naam"), text("fra-FR", nothing)]
    record = product(1, namePublicShort=[text("fra-FR", "Court")], nameLegal=legal)
    place = "nameLegal" if isinstance(operation, do.CopyFrom) else "namePublicShort"
    made = sent(record, prodex.RecipeStep(operation, place, "fr"))
    assert [text("nld-NL", "Naam"), text("fra-FR", "Court")] == made["nameLegal"]


def test_an_empty_text_is_not_moved() -> None:
    """Nothing arrives where nothing was, and the product has no value to move."""
    record = product(1, namePublicShort=[text("fra-FR", "")], nameLegal=[text("nld-NL", "Naam")])
    fix = prodex.correct(prodex.flatten([record]), "namePublicShort", do.MoveText("nameLegal"))
    assert [] == fix.preview()["after"].tolist()
    assert [1] == fix.steps["no_value"].tolist()


@pytest.mark.parametrize(
    ("query", "language", "operation", "said"),
    [
        ({"source_include": ["gtin", "nameLegal"]}, None, do.TrimSpaces(), "without namePublicLong, so"),
        ({"source_exclude": ["namePublicLong"]}, None, do.RemoveValue(), "without namePublicLong, so"),
        ({"product_languages": ["nl"]}, "fr", do.TrimSpaces(), "without namePublicLong in fr, so"),
        ({"product_languages": ["nl"]}, "fr", str.upper, "without namePublicLong in fr, so"),
        (
            {"source_exclude": ["nameLegal"]},
            "fr",
            do.CopyFrom("nameLegal"),
            "without nameLegal in fr, so",
        ),
    ],
)
def test_what_was_not_loaded_is_not_called_no_value(
    query: dict[str, Any], language: str | None, operation: Any, said: str
) -> None:
    """Nobody knows what the products have there; a step that only adds is refused for each product."""
    with Sandbox([product(1, updatedAt="2026-11-01T12:00:00", nameLegal=[text("fra-FR", "x")])]) as sandbox:
        part = prodex.load_products(connected(sandbox), prodex.ProductQuery(**query), progress=False)
    with pytest.raises(InputError, match=said):
        prodex.correct(part, "namePublicLong", operation, language=language)


def test_an_attribute_inside_of_another_one_is_not_unknown() -> None:
    """It is there, and nobody is asked whether its own name was meant."""
    whole = prodex.flatten([product(1, productBenefits=[{"rank": 1}])])
    with pytest.raises(InputError, match=r"'productBenefits\.rank' cannot be corrected for many products"):
        prodex.correct(whole, "productBenefits.rank", 2)
