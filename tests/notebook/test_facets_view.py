"""The filters of the products: order, counts, trees, paging, facets that are added by name, and ranges."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.selection import Range, Selection
from prodex_sandbox.sample import shared_products
from tests.cases import each_row
from tests.notebook.blocks_of import block, blocks, field, fill, words
from tests.notebook.held import held

_MILK = {"GPC": {"code": "50131700", "label": "Milk"}}
_CREAM = {"GPC": {"code": "50131800", "label": "Cream"}}


@pytest.fixture(scope="module")
def sample() -> prodex.Catalog:
    """300 products of the sample."""
    return prodex.flatten(product.record for product in shared_products(300))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what is saved in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))


def shown(catalog: prodex.Catalog, **more: Any) -> App:
    """Return a panel that was looked at, with all that this reads."""
    app = App(Session(catalog, **more), ["products"])
    app.view()
    app.wait()
    return app


def facets(app: App) -> dict[str, dict[str, Any]]:
    """Return the facets as pages are given them, by name and in their order."""
    return {one["key"]: one for one in blocks(app, "facet")}


def opened(app: App, facet: str) -> dict[str, Any]:
    """Return a facet that is open."""
    if not facets(app)[facet]["open"]:
        app.act("facets.fold", facet=facet, is_open=True)
        app.wait()
    return facets(app)[facet]


def press(app: App, action: str, facet: str, label: str, **more: Any) -> None:
    """Press a value of a facet."""
    (code,) = [one["code"] for one in opened(app, facet)["values"] if one["label"] == label]
    app.act(f"facets.{action}", facet=facet, code=code, **more)


def labels(app: App, facet: str) -> list[str]:
    """Return the labels of the values of a facet that are shown."""
    return [one["label"] for one in opened(app, facet)["values"]]


def buttons(app: App, facet: str) -> list[str]:
    """Return what the buttons below the values of a facet say."""
    return [one["label"] for one in opened(app, facet)["buttons"]]


def adding(app: App) -> dict[str, Any]:
    """Return what is offered to be added."""
    found = block(app, "add", "facet_add")
    assert found is not None
    return found


def typed(app: App, text: str) -> list[dict[str, Any]]:
    """Type a name into the field that adds a facet, and return what is offered."""
    fill(app, "facets", "add", text)
    app.wait()
    return list(adding(app)["offers"])


def limits(app: App, facet: str) -> list[str]:
    """Return what stands in the two fields of a range."""
    return [one["value"] for one in facets(app)[facet]["form"]["fields"]]


def errors(app: App) -> list[str]:
    """Return what is wrong with fields of facets."""
    forms = [one for one in blocks(app, "form") if one["key"] == "facets"]
    return [one["error"] for form in forms for one in form["fields"] if "error" in one]


def ids(app: App) -> list[str]:
    """Return the ids of the products that are left."""
    return list(app.session.chosen.products["product_id"])


@pytest.mark.slow
def test_the_facets_of_most_questions_come_first(sample: prodex.Catalog) -> None:
    """Consumer unit, market, language, what is missing and the supplier come before all others."""
    app = shown(sample)
    names = [*facets(app)]
    assert ["unit", "market", "language", "missing", "owner", "brand", "category"] == names[:7]
    assert len(names) == len(set(names))
    assert ["consumer unit", "other unit"] == sorted(labels(app, "unit"))[:2]


@pytest.mark.slow
def test_what_is_shown_is_what_is_handed_back(sample: prodex.Catalog) -> None:
    """A press on a value filters the catalogue and its count alike; values of one facet add to each other."""
    app = shown(sample)
    press(app, "toggle", "market", "France")
    by_hand = sample.where(target_market=250)
    assert ids(app) == by_hand.products["product_id"].tolist()
    press(app, "toggle", "market", "Belgium")
    assert len(sample.where(target_market=[250, 56])) == len(ids(app))
    press(app, "toggle", "unit", "consumer unit")
    assert len(sample.where(target_market=[250, 56], is_consumer_unit=True)) == len(ids(app))
    assert "2 selected" == facets(app)["market"]["active"]


def test_a_value_can_be_excluded_and_taken_back(sample: prodex.Catalog) -> None:
    """Products with an excluded value are gone, and a second press brings them back."""
    app = shown(sample)
    press(app, "exclude", "market", "France")
    assert len(sample) - len(sample.where(target_market=250)) == len(ids(app))
    assert ("France", "excluded") == tuple(
        facets(app)["market"]["values"][0][name] for name in ("label", "state")
    )
    assert "1 excluded" == facets(app)["market"]["active"]
    press(app, "exclude", "market", "France")
    assert not app.session.conditions


def test_a_press_on_a_page_that_is_behind_means_the_value_that_was_seen() -> None:
    """A value is named by its code, and not by its place in a list that another page has changed meanwhile."""
    brands = "AAABBC"
    app = shown(prodex.flatten({"id": n, "brand": {"code": code}} for n, code in enumerate(brands)))
    seen = facets(app)["brand"]["values"]
    app.act("facets.exclude", facet="brand", code="A")
    app.act("facets.toggle", facet="brand", code=seen[-1]["code"])
    assert (("C",), ("A",)) == (
        app.session.conditions.groups["brand"],
        app.session.conditions.excluded["brand"],
    )


def test_values_are_in_the_order_of_their_counts_as_filters_change(sample: prodex.Catalog) -> None:
    """What is selected comes first, then the most frequent; values without products are folded and counted."""
    app = shown(sample)
    press(app, "toggle", "market", "Belgium")
    app.act("facets.more", facet="brand")
    counts = [one["count"] for one in facets(app)["brand"]["values"]]
    assert counts == sorted(counts, reverse=True)
    assert 0 < counts[-1]
    assert f"Show {facets(app)['brand']['zeros']} unused values" == buttons(app, "brand")[-1]
    app.act("facets.zeros", facet="brand", is_shown=True)
    everything = facets(app)["brand"]
    assert everything["shown"] + everything["more"] == len(app.session.filter.facets["brand"].codes)
    assert "Hide unused values" == buttons(app, "brand")[-1]
    label = labels(app, "brand")[3]
    press(app, "toggle", "brand", label)
    first = facets(app)["brand"]["values"][0]
    assert (label, "chosen") == (first["label"], first["state"])


def test_the_counts_of_a_facet_ignore_its_own_selection(sample: prodex.Catalog) -> None:
    """A count is the number of products that a value has, or would add."""
    app = shown(sample)
    before = {one["label"]: one["count"] for one in opened(app, "tag")["values"]}
    press(app, "toggle", "tag", "online")
    assert before == {one["label"]: one["count"] for one in facets(app)["tag"]["values"]}
    among = sample.where(product_id=ids(app)).products["target_market"]
    france = next(one for one in facets(app)["market"]["values"] if one["label"] == "France")
    assert int((among == "250").sum()) == france["count"]


def test_values_beyond_the_first_eight_are_found_by_a_word_or_by_asking_for_more(
    sample: prodex.Catalog,
) -> None:
    """More values are found by a word or by "Show more", and selected ones stay in sight."""
    app = shown(sample)
    number = len(app.session.filter.facets["brand"].codes)
    assert [f"Show 20 more (8 of {number})"] == buttons(app, "brand")
    assert f"find in {number} values" == field(app, "facets", "brand/find")["placeholder"]
    app.act("facets.more", facet="brand")
    assert 28 == len(labels(app, "brand"))
    app.act("facets.fewer", facet="brand")
    assert 8 == len(labels(app, "brand"))
    fill(app, "facets", "brand/find", "TRÁMOY")
    assert ["Tramoy"] == labels(app, "brand")
    press(app, "toggle", "brand", "Tramoy")
    fill(app, "facets", "brand/find", "nothing is called so")
    assert ["Tramoy"] == labels(app, "brand")


def test_missing_is_about_the_one_language_that_is_selected(sample: prodex.Catalog) -> None:
    """With one language the facet says so and counts what products lack in it; with two it is about any."""
    app = shown(sample)
    press(app, "toggle", "language", "French")
    assert "Missing in French" == facets(app)["missing"]["title"]
    assert "needed or not" in facets(app)["missing"]["note"]
    app.act("facets.more", facet="missing")
    (found,) = [one for one in facets(app)["missing"]["values"] if one["label"] == "description in French"]
    has = set(sample.texts.query("language == 'fr' and attribute == 'description'")["product_id"])
    counted = set(app.session.chosen.where(is_consumer_unit=[True, None]).products["product_id"])
    assert len(counted - has) == found["count"] > 0
    assert f"Of {len(counted):,} consumer units" in facets(app)["missing"]["note"]

    press(app, "toggle", "language", "Dutch")
    assert "Missing" == facets(app)["missing"]["title"]
    assert "description" in labels(app, "missing")


def test_what_is_missing_stays_that_of_the_conditions_whatever_else_is_asked(sample: prodex.Catalog) -> None:
    """Another question to the same products in another language, as a report asks it, changes no list."""
    app = shown(sample)
    press(app, "toggle", "language", "French")
    app.session.filter.narrow(Selection().toggled("language", "nl"))
    app.act("facets.more", facet="missing")
    assert all("French" in one or "in " not in one for one in labels(app, "missing"))


def test_a_tree_unfolds_and_shows_what_is_selected() -> None:
    """Below a folded value only selected and excluded ones are shown, and what is searched for with all above it."""
    records = [{"id": 1, **_MILK, "kind": {"code": "F", "label": "Fresh milk"}}, {"id": 2, **_CREAM}]
    app = shown(prodex.flatten(records))
    assert ["Food and beverages"] == labels(app, "category")
    press(app, "unfold", "category", "Food and beverages", is_open=True)
    assert ["Food and beverages", "Cream", "Milk"] == labels(app, "category")
    press(app, "unfold", "category", "Milk", is_open=True)
    last = facets(app)["category"]["values"][-1]
    assert ("Fresh milk", 2, "") == (last["label"], last["level"], last["fold"])

    press(app, "exclude", "category", "Fresh milk")
    press(app, "unfold", "category", "Food and beverages", is_open=False)
    assert ["Food and beverages", "Milk", "Fresh milk"] == labels(app, "category")
    assert ["2"] == ids(app)
    app.act("facets.find", facet="category", value="cream")
    assert {"Food and beverages", "Cream"} <= {*labels(app, "category")}


def test_two_thousand_values_are_paged_and_searched() -> None:
    """Few are sent to the page, all can be found, none is lost from a count."""
    app = shown(prodex.flatten({"id": n, "brand": {"code": f"B{n:04}"}} for n in range(2_000)))
    assert ["Show 20 more (8 of 2,000)"] == buttons(app, "brand")
    app.act("facets.more", facet="brand")
    assert ["Show 20 more (28 of 2,000)", "Show fewer"] == buttons(app, "brand")
    app.act("facets.fewer", facet="brand")
    assert 8 == len(labels(app, "brand"))
    fill(app, "facets", "brand/find", "b1234")
    press(app, "toggle", "brand", "B1234")
    assert ["1234"] == ids(app)
    assert 50_000 > len(json.dumps(block(app, "facets", "facets")))


@pytest.mark.slow
def test_a_facet_is_added_by_the_name_of_an_attribute(sample: prodex.Catalog) -> None:
    """Offers have plain names and wire paths; the facet filters by the state of the attribute, and is removed again."""
    app = shown(sample)
    typed(app, "ingred")
    fill(app, "facets", "language", "fr")
    first = adding(app)["offers"][0]
    assert ("fill:composition:fr", "ingredients in French", "composition") == tuple(
        first[name] for name in ("key", "label", "detail")
    )
    app.act("facets.add", facet=first["key"])
    name, added = next(iter(facets(app).items()))
    assert ("fill:composition:fr", "Ingredients in French", True) == (
        name,
        added["title"],
        added["removable"],
    )
    assert "" == field(app, "facets", "add")["value"]

    press(app, "toggle", name, "filled")
    query = "attribute == 'composition' and language == 'fr'"
    assert sample.texts.query(query)["product_id"].nunique() == len(ids(app))
    app.act("facets.remove", facet=name)
    assert name not in facets(app)
    assert not app.session.conditions


def test_a_name_that_is_typed_whole_is_taken_or_refused_beside_the_field(sample: prodex.Catalog) -> None:
    """Return takes a wire path or the likeliest offer; what is no attribute at all is refused with the nearest."""
    app = shown(sample)
    for text, name in (("netContent", "fill:netContent"), ("gross w", "fill:grossWeight")):
        app.act("facets.named", text=text)
        assert name == next(iter(facets(app)))
    assert ["fill:grossWeight", "fill:netContent"] == [*facets(app)][:2]

    app.act("facets.named", text="netContemt")
    assert "netContent" in field(app, "facets", "add")["error"]
    # What somebody has pasted by mistake is not a page of red.
    app.act("facets.named", text="name" * 10_000)
    assert len(field(app, "facets", "add")["error"]) < 300
    assert [] == typed(app, "no such thing")
    assert "no attribute" in adding(app)["note"]
    app.act("facets.add", facet="fill<b>")
    assert "There is no filter" in field(app, "facets", "add")["error"]
    app.act("facets.named", text="netContent")
    assert [] == errors(app)


def test_a_facet_that_something_else_selects_from_is_shown(sample: prodex.Catalog) -> None:
    """What the coverage asks for can be taken back in the list."""
    app = shown(sample)
    app.change(lambda session: session.filtered(Selection().toggled("fill:brand", "absent")))
    assert ("fill:brand", "1 selected") == next((name, one["active"]) for name, one in facets(app).items())
    app.act("facets.remove", facet="fill:brand")
    assert not app.session.conditions


def test_a_range_is_typed_or_pressed(sample: prodex.Catalog) -> None:
    """Both limits are included, the last day as a whole; a bar that is pressed again is no longer selected."""
    app = shown(sample)
    name = "range:updated_at"
    opened(app, name)
    fill(app, "facets", f"{name}/least", "2026-01-01")
    fill(app, "facets", f"{name}/greatest", "2026-06-30")
    days = sample.products["updated_at"].dt.date.astype(str)
    assert int(days.between("2026-01-01", "2026-06-30").sum()) == len(ids(app)) > 0
    bins = facets(app)[name]["bins"]
    assert (["date", "date"], ["2026-01-01", "2026-06-30"]) == (
        [one["kind"] for one in facets(app)[name]["form"]["fields"]],
        limits(app, name),
    )
    assert 0 < sum(one["inside"] for one in bins) < len(bins)
    # The bars ignore the range itself, so that it can be widened.
    assert int(days.notna().sum()) == sum(one["count"] for one in bins)
    fill(app, "facets", f"{name}/greatest", "2025-01-01")
    assert "no product fits" in facets(app)[name]["note"]
    for side in ("least", "greatest"):
        fill(app, "facets", f"{name}/{side}", "")
    assert not app.session.conditions

    bar = facets(app)[name]["bins"][3]
    for found in (bar["count"], len(sample)):
        app.act("table.range", column="updated_at", least=bar["least"], greatest=bar["greatest"])
        assert found == len(ids(app))


def test_a_refused_limit_is_not_forgotten_when_the_other_is_typed(sample: prodex.Catalog) -> None:
    """Both limits are typed one after the other: without the reason nobody sees that the first does not count."""
    app, name = shown(sample), "range:pictures_count"
    opened(app, name)
    fill(app, "facets", f"{name}/least", "1,234")
    (reason,) = errors(app)
    fill(app, "facets", f"{name}/greatest", "3")
    assert [reason] == errors(app)
    fill(app, "facets", f"{name}/greatest", "many")
    assert 2 == len(errors(app))
    fill(app, "facets", f"{name}/greatest", "2")
    assert [reason] == errors(app)
    fill(app, "facets", f"{name}/least", "1")
    assert ([], ["1", "2"]) == (errors(app), limits(app, name))


def test_what_is_no_date_is_said_beside_its_field(sample: prodex.Catalog) -> None:
    """And nowhere else; the next date takes the sentence away."""
    app = shown(sample)
    name = "range:updated_at"
    opened(app, name)
    fill(app, "facets", f"{name}/least", "yesterday")
    assert "no date" in field(app, "facets", f"{name}/least")["error"]
    assert [] == app.view()["head"]
    fill(app, "facets", f"{name}/least", "2026-01-01")
    assert [] == errors(app)


def test_ranges_of_numbers_are_added_by_name(sample: prodex.Catalog) -> None:
    """Any column of numbers or dates is offered, and numbers that are none are refused beside their field."""
    app = shown(sample)
    name = "range:hierarchies_count"
    assert [name] == [one["key"] for one in typed(app, "hierarchies_count")]
    app.act("facets.add", facet=name)
    fill(app, "facets", f"{name}/least", "2")
    assert {"hierarchies_count": Range(2.0, None)} == app.session.conditions.ranges
    assert int((sample.products["hierarchies_count"] >= 2).sum()) == len(ids(app))
    for wrong in ("nan", "inf", "two", "1e3", "1_000", "1,234", "5-6"):
        fill(app, "facets", f"{name}/least", wrong)
        assert "Write " in field(app, "facets", f"{name}/least")["error"]
        assert {"hierarchies_count": Range(2.0, None)} == app.session.conditions.ranges
    for number, typed_as in ((0.5, "0,5"), (1000.0, "1 000"), (1234.5, "1.234,5"), (-5.0, "\u22125")):
        fill(app, "facets", f"{name}/least", typed_as)
        assert {"hierarchies_count": Range(number, None)} == app.session.conditions.ranges
    assert [] == errors(app)
    app.act("facets.remove", facet=name)
    assert not app.session.conditions


def weight(value: float | None, unit: str) -> dict[str, Any]:
    """Return a weight as it comes from the service."""
    return {"data": value, "expressedIn": {"code": unit}}


def test_numbers_with_units_have_ranges_in_one_unit() -> None:
    """1.5 kg and 1,500 g are in one range; pieces, a unit of its own, nothing and a pending update are not."""
    contents: list[Any] = [
        [weight(1.5, "KGM")],
        [weight(1500, "GRM")],
        [weight(6, "H87"), weight(200, "GRM"), weight(9, "KGM")],
        [weight(1500, "H87")],
        [weight(1500, "")],
        [weight(None, "GRM"), weight(1500, "XXX")],
        None,
        [],
    ]
    records: list[dict[str, Any]] = [{"id": n, "netContent": content} for n, content in enumerate(contents)]
    records += [{"id": 90}, {"id": 91, "lastRequest": {"netContent": [weight(1500, "GRM")]}}]
    records += [{"id": 92, "logisticalHierarchies": [{"netContent": [weight(1500, "GRM")]}]}]
    app = shown(prodex.flatten(records))
    offers = {one["key"]: one["label"] for one in typed(app, "net content") if "range" in one["key"]}
    assert {
        "range:netContent [GRM]": "Net content in g",
        "range:netContent [H87]": "Net content in pieces",
        "range:netContent [XXX]": "Net content in XXX",
        "range:netContent []": "Net content without unit",
    } == offers
    grams = "range:netContent [GRM]"
    app.act("facets.add", facet=grams)
    app.wait()
    assert "8 products without a value" == facets(app)[grams]["note"]
    fill(app, "facets", f"{grams}/least", "1000")
    fill(app, "facets", f"{grams}/greatest", "1500")
    assert ["0", "1"] == ids(app)
    assert "net content in g: 1,000 to 1,500" in app.session.chosen_words
    fill(app, "facets", f"{grams}/greatest", "")
    fill(app, "facets", f"{grams}/least", "9000.5")
    assert [] == ids(app)
    fill(app, "facets", f"{grams}/least", "200")
    # The first number in the unit counts: 200 g, and not the 9 kg after it.
    fill(app, "facets", f"{grams}/greatest", "200")
    assert ["2"] == ids(app)


def notes(app: App) -> Iterator[str]:
    """Yield the notes of the facets that are shown."""
    for one in facets(app).values():
        yield one.get("note", "")


@pytest.mark.slow
def test_numbers_with_units_of_many_products_are_read_beside() -> None:
    """The facet says that it is read, and then shows its bars."""
    app = shown(prodex.flatten({"id": n, "netWeight": [weight(n, "GRM")]} for n in range(20_001)))
    said: list[str] = []
    app.observers.append(lambda *_: said.extend(notes(app)))
    app.act("facets.add", facet="range:netWeight [GRM]")
    app.wait()
    assert "Reading …" in said
    assert 20_001 == sum(one["count"] for one in facets(app)["range:netWeight [GRM]"]["bins"])


@pytest.mark.slow
def test_what_takes_long_is_read_beside() -> None:
    """Facets of attributes of many products are counted once they have been read, and nothing else waits."""
    catalog, tables = held(prodex.flatten({"id": n, "brand": {"code": "A"}} for n in range(5_001)))
    app = App(Session(catalog), ["products"])
    assert ["Reading …"] == [one for one in (app.view(), *notes(app)) if one == "Reading …"]
    assert ["A"] == labels(app, "brand")
    tables.go_on.set()
    app.wait()
    assert "description" in labels(app, "missing")
    app.act("facets.add", facet="fill:brand")
    app.wait()
    assert ["filled"] == labels(app, "fill:brand")


@pytest.mark.slow
def test_presses_while_it_is_read_do_not_read_it_again() -> None:
    """What products lack is read once, however many facets are opened and pressed meanwhile."""
    catalog, tables = held(prodex.flatten({"id": n, "brand": {"code": f"{n % 9}"}} for n in range(5_001)))
    app = App(Session(catalog), ["products"])
    app.view()
    for code in "01234":
        app.act("facets.toggle", facet="brand", code=code)
        app.act("facets.add", facet=f"fill:name{code}")
    tables.go_on.set()
    app.wait()
    assert 1 == tables.reads.count("nutrients")  # nothing else needs it
    assert "description" in labels(app, "missing")
    assert ["absent"] == labels(app, "fill:name4")


def test_a_damaged_snapshot_is_said_where_it_was_asked_for(sample: prodex.Catalog) -> None:
    """The facet that cannot be read says what to do; all others are there."""
    catalog = sample.save("damaged")
    for path in catalog.files("tags"):
        path.unlink()
    app = shown(catalog)
    app.act("facets.fold", facet="tag", is_open=True)
    assert "open an earlier snapshot or load again" in facets(app)["tag"]["problem"]
    assert labels(app, "market")
    app.act("facets.fold", facet="tag", is_open=False)
    assert "problem" not in facets(app)["tag"]


def test_a_snapshot_that_disappears_is_said_and_what_is_in_memory_goes_on_working(
    sample: prodex.Catalog,
) -> None:
    """A press on what was read is answered; what was not read says that it is gone."""
    catalog = sample.save("gone")
    app = shown(catalog)
    shutil.rmtree(catalog.folder or "")
    press(app, "toggle", "market", "France")
    assert labels(app, "brand")
    app.act("facets.fold", facet="tag", is_open=True)
    app.wait()
    assert "is gone" in facets(app)["tag"]["problem"]
    app.change(lambda session: session.looking_at(sample.head(3)))
    app.wait()
    assert "problem" not in words(block(app, "facets", "facets"))


def test_another_catalogue_has_its_own_values_and_keeps_what_is_open(sample: prodex.Catalog) -> None:
    """What was typed for the one before is forgotten; facets that were opened or added stay."""
    app = shown(sample)
    opened(app, "tag")
    app.act("facets.add", facet="fill:nameLegal")
    fill(app, "facets", "brand/find", "tra")
    typed(app, "ingred")
    app.change(lambda session: session.looking_at(prodex.flatten([{"id": 7, "brand": {"code": "ONLY"}}])))
    app.wait()
    assert ["ONLY"] == labels(app, "brand")
    assert ("fill:nameLegal", True, "") == (
        next(iter(facets(app))),
        facets(app)["tag"]["open"],
        field(app, "facets", "add")["value"],
    )


@pytest.mark.slow
def test_an_audit_adds_its_facets_and_takes_them_with_it(sample: prodex.Catalog) -> None:
    """Grade and score are there as long as there is an audit."""
    app = shown(sample, audit=prodex.audit(sample, "online-listing"))
    assert {"grade", "range:score"} <= {*facets(app)}
    app.change(lambda session: session.replaced(audit=None))
    assert not {"grade", "range:score"} & {*facets(app)}


@each_row("records", [[], [{"id": 7}], [{}]])
def test_catalogues_of_hardly_anything_are_shown(records: list[dict[str, Any]]) -> None:
    """A catalogue without products and a product without attributes have all filters, each of which opens."""
    app = shown(prodex.flatten(records))
    for name in facets(app):
        opened(app, name)
    assert "problem" not in words(block(app, "facets", "facets"))
    assert len(records) == sum(one["count"] for one in facets(app)["brand"]["values"])


@pytest.mark.parametrize("text", ["x" * 40_000, "\u05e9\u05dc\u05d5\u05dd 12 \u0645\u0631\u062d\u0628\u0627"])
def test_texts_that_are_long_or_run_from_right_to_left_are_cut_and_whole(text: str) -> None:
    """A long text is cut and says so; little is sent."""
    app = shown(prodex.flatten([{"id": 7, "brand": {"code": "B", "label": text}}, {"id": 8}]))
    cut = text if len(text) < 60 else text[:60] + " …(60 of 40,000 characters)"
    assert cut == labels(app, "brand")[0]
    press(app, "toggle", "brand", cut)
    assert ["7"] == ids(app)
    assert 50_000 > len(json.dumps(app.view()))


def test_what_suppliers_typed_is_a_label_and_a_code_and_nothing_else() -> None:
    """Texts of suppliers are in no sentence, no hint and no action of ours."""
    evil = "<img src=x onerror=typed()> $5 or $6"
    record: dict[str, Any] = {"id": 7, "gtin": evil, "hasTags": [{"tag": evil}]}
    record |= {name: {"code": evil, "label": evil} for name in ("brand", "kind", "typePackaging")}
    app = shown(prodex.flatten([record | {"owner": {"id": 1, "name": evil}}]))
    for name in facets(app):
        opened(app, name)
    for one in facets(app).values():
        others = {name: value for name, value in one.items() if name != "values"}
        assert "typed()" not in words(others)
    assert [evil] == labels(app, "brand")
    press(app, "toggle", "brand", evil)
    assert ["7"] == ids(app)


@each_row(
    "do, arguments",
    [
        ("facets.toggle", {"facet": "brand"}),
        ("facets.toggle", {"facet": "brand", "code": 7}),
        ("facets.limit", {"facet": "range:updated_at", "side": "least"}),
        ("facets.fold", {"facet": ["brand"], "is_open": True}),
        ("facets.no_such_thing", {}),
    ],
)
def test_what_a_page_of_another_version_sends_is_refused(do: str, arguments: dict[str, Any]) -> None:
    """With a word, and without a change."""
    app = shown(prodex.flatten([{"id": 7}]))
    app.act(do, **arguments)
    assert "Nothing was done" in words(app.view()["head"])
    assert not app.session.conditions


def test_a_facet_of_no_catalogue_is_said_and_can_be_removed() -> None:
    """Products are shown again as soon as the condition is gone."""
    app = shown(prodex.flatten([{"id": 7}]))
    app.act("facets.toggle", facet="colour", code="red")
    error = block(app, "error", "text")
    assert error is not None
    assert "no facet 'colour'" in error["text"]
    app.act("facets.toggle", facet="colour", code="red")
    assert block(app, "error", "text") is None


def test_the_filters_wait_behind_a_button_where_there_is_no_room() -> None:
    """The button says whether they are shown."""
    app = shown(prodex.flatten([{"id": 7}]))
    drawer, list_ = block(app, "drawer"), block(app, "facets", "facets")
    assert drawer is not None
    assert list_ is not None
    assert (False, False) == (drawer["pressed"], list_["drawn"])
    app.act(drawer["do"], **drawer["args"])
    drawer, list_ = block(app, "drawer"), block(app, "facets", "facets")
    assert drawer is not None
    assert list_ is not None
    assert (True, True) == (drawer["pressed"], list_["drawn"])
