"""The section on quality without a browser: what it says, what a press does to the session, what it writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.selection import Range, Selection
from prodex_sandbox.sample import AS_OF
from tests.notebook.held import held
from tests.quality import hostile

BROKEN = {"id": 8, "gtin": "03036811359936", "brand": {"code": "A", "label": "Ace"}}
RECORDS = [
    {"id": 7, "gtin": "03036811359935"},
    BROKEN,
    {**BROKEN, "id": 9, "brand": {"code": "B", "label": "Ace"}},
]
PROFILE = {"checks": {"valid_gtin": {"severity": "blocker"}, "has_name": {"severity": "warning"}}}


def quality(audit: prodex.quality.Audit | None, catalog: prodex.Catalog | None = None) -> App:
    """Return a panel that shows the section, once everything is counted."""
    catalog = catalog if catalog is not None else audit.catalog if audit is not None else None
    assert catalog is not None
    app = App(Session(catalog, audit, section="quality"))
    shown(app)
    return app


@pytest.fixture
def app() -> App:
    """Show three products, of which two have a wrong GTIN and none has a name."""
    return quality(prodex.audit(prodex.flatten(RECORDS), PROFILE, progress=False))


def shown(app: App) -> list[dict[str, Any]]:
    """Return the section as it is shown once everything is counted."""
    if app.session.section != "quality":
        app.act("section.open", name="quality")
    app.view()
    app.wait()
    return list(app.view()["blocks"])


def below(value: Any) -> Iterator[Any]:
    """Yield a value of a view and all in it."""
    yield value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from below(one)


def block(app: App, key: str) -> dict[str, Any]:
    """Return a block of the section by its key."""
    return next(one for one in below(shown(app)) if isinstance(one, dict) and one.get("key") == key)


def has(app: App, key: str) -> bool:
    """Return whether there is such a block."""
    return any(isinstance(one, dict) and one.get("key") == key for one in below(shown(app)))


def words(app: App, key: str = "") -> str:
    """Return all texts of the section, or of a block, in a row."""
    whole = block(app, key) if key else [app.view()["head"], shown(app)]
    made = []
    for one in below(whole):
        if isinstance(one, dict):
            made += [
                one[name]
                for name in ("text", "label", "words", "title", "gap")
                if isinstance(one.get(name), str)
            ]
            if isinstance(one.get("text"), list):
                made.append(
                    "".join(part if isinstance(part, str) else part.get("text", "") for part in one["text"])
                )
        elif isinstance(one, list):
            made += [part for part in one if isinstance(part, str)]
    return " ".join(made)


def press(app: App, key: str) -> None:
    """Press a button of the section."""
    found = block(app, key)
    app.act(found["do"], **found["args"])
    app.wait()


def chosen(app: App) -> tuple[str, ...]:
    """Return the ids of the products that the conditions leave."""
    return tuple(app.session.chosen.products["product_id"])


def test_an_audit_of_products_that_are_not_shown_any_more_is_said_to_be_lost() -> None:
    """Products that were requested again, or loaded, take the place of those whose audit was running."""
    catalog, tables = held(prodex.flatten(RECORDS))
    app = App(Session(catalog, section="quality"))
    app.act("quality.run")
    assert tables.begun.wait(30)
    app.change(lambda session: session.renewed(catalog, prodex.flatten(RECORDS[:2]), None))
    tables.go_on.set()
    app.wait()
    assert app.session.audit is None
    assert "The audit of “3 products, in memory” was not kept" in words(app)


def test_a_gap_opens_its_products(app: App) -> None:
    """The button says how many products fail; a press opens these, and the figures are about them then."""
    assert "Show 2 products" == block(app, "gap valid_gtin")["label"]
    press(app, "gap valid_gtin")
    assert ("products", ("8", "9")) == (app.session.section, chosen(app))
    assert "table" == app.view()["focus"]["key"]
    assert ("valid_gtin",) == app.session.conditions.failing[0].checks
    assert "✓ Show 2 products" == block(app, "gap valid_gtin")["label"]
    assert "The figures are about 2 products: " in words(app, "chosen")
    assert "2 of 3 products audited" in words(app, "headline")
    press(app, "everything")
    assert ("quality", Selection()) == (app.session.section, app.session.conditions)


def test_a_second_press_takes_the_choice_back(app: App) -> None:
    """The section stays open then: nothing is listed that was not before."""
    press(app, "gap valid_gtin")
    shown(app)
    press(app, "gap valid_gtin")
    assert ("quality", Selection()) == (app.session.section, app.session.conditions)


def test_what_was_filtered_before_is_kept(app: App) -> None:
    """A press adds to the filters of other sections, and the figures are about what is left."""
    both = Selection().toggled("brand", "A").toggled("brand", "B")
    app.change(lambda session: session.filtered(both))
    assert "2 of 3 products" in words(app, "headline")
    press(app, "gap valid_gtin")
    assert ("A", "B") == app.session.conditions.groups["brand"]
    assert 1 == len(app.session.conditions.failing)


def test_the_headline_says_when_the_snapshot_was_made() -> None:
    """A day and a time as people write them, and not the name of a folder."""
    saved = prodex.flatten(RECORDS).save("shop")
    said = words(quality(prodex.audit(saved, PROFILE, progress=False)), "headline")
    assert re.search(r"shop, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; as of", said)
    assert saved.folder is not None
    assert saved.folder.name not in said


def test_a_panel_of_this_section_alone_refines_itself(app: App) -> None:
    """Where there is no section of products, the figures follow the press."""
    audit = app.session.audit
    alone = App(Session(app.session.catalog, audit, section="quality"), ["quality"])
    shown(alone)
    press(alone, "gap valid_gtin")
    assert "quality" == alone.session.section
    assert "2 of 3 products audited" in words(alone, "headline")


def test_an_action_about_another_audit_is_refused(app: App) -> None:
    """A page that shows an audit of before names checks that there are not: it is told, and nothing is chosen."""
    for do, args in (
        ("quality.check", {"check": "gone[<b>]"}),
        ("checks.open", {"check": "gone[<b>]"}),
        ("heat.open", {"row": "none", "column": "gone"}),
        ("completeness.open", {"row": "none", "column": "gone"}),
        ("checks.sort", {"column": "gone"}),
        ("form.set", {"form": "scores", "field": "by", "value": "gone"}),
        ("quality.check", {"check": 7}),
    ):
        app.act(do, **args)
        assert app.session.notices["quality"].is_problem, do
        assert "Nothing was done" in app.session.notices["quality"].sentence
    assert Selection() == app.session.conditions


def test_a_catalogue_is_judged_by_the_profile_that_is_chosen(sample: prodex.Catalog) -> None:
    """The button runs the audit in the background, and shows its figures."""
    app = quality(None, sample)
    assert "have not been audited" in words(app)
    assert not has(app, "tiles")
    app.act("form.set", form="audit", field="profile", value="pictures")
    press(app, "quality.run {}")
    audit = app.session.audit
    assert audit is not None
    assert ("pictures", 400) == (audit.profile, len(audit))
    assert "400" in words(app, "Products")
    assert (
        "pictures" == next(one for one in block(app, "audit")["fields"] if one["key"] == "profile")["value"]
    )
    assert {} == app.session.works


def test_nothing_comes_of_what_was_cancelled() -> None:
    """Cancel leaves the panel as it was and ready for the next audit."""
    catalog, tables = held(prodex.flatten(RECORDS))
    app = App(Session(catalog, section="quality"))
    app.act("quality.run")
    assert tables.begun.wait(10)
    app.act("work.cancel", slot="quality.audit")
    tables.go_on.set()
    app.wait()
    assert (None, {}) == (app.session.audit, app.session.works)
    press(app, "quality.run {}")
    assert app.session.audit is not None


def test_an_audit_of_what_is_looked_at_no_longer_is_dropped() -> None:
    """Another catalogue is explored before the audit ends."""
    catalog, tables = held(prodex.flatten(RECORDS))
    app = App(Session(catalog, section="quality"))
    app.act("quality.run")
    assert tables.begun.wait(10)
    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS[:2])))
    tables.go_on.set()
    app.wait()
    assert app.session.audit is None


def test_updates_that_wait_can_be_judged_as_accepted() -> None:
    """A pending update is audited only if it is included, and the catalogue stays the same."""
    waiting = {
        "id": 7,
        "gtin": "03036811359935",
        "lastRequest": {"nameLegal": [{"data": "Milk", "expressedIn": {}}]},
    }
    catalog = prodex.flatten([waiting])
    app = quality(prodex.audit(catalog, {"checks": {"has_name": {}}}, progress=False))
    found = []
    for is_accepted in (False, True):
        app.act("form.set", form="audit", field="pending", value=is_accepted)
        press(app, "quality.run {}")
        assert app.session.audit is not None
        found.append(app.session.audit.matrix["has_name"].tolist())
        assert not has(app, "warnings")
    assert [[1], [0]] == found


def test_the_profile_of_the_audit_is_offered_first() -> None:
    """Whoever audits again mostly wants the same one, and one of one's own is in no list of prodex."""
    catalog = prodex.flatten(RECORDS)
    app = quality(prodex.audit(catalog, {"title": "$5 or $6 <b>", **PROFILE}, progress=False))
    field = block(app, "audit")["fields"][0]
    assert "$5 or $6 <b>" == field["options"][0]["label"]
    press(app, "quality.run {}")
    assert app.session.audit is not None
    assert ["valid_gtin", "has_name"] == [check.id for check in app.session.audit.checks]
    assert "$5 or $6 <b>" in words(app, "headline")


def test_a_profile_in_a_file(tmp_path: Path) -> None:
    """It is read where the audit is run; what is wrong with it stands beside the field."""
    app = quality(None, prodex.flatten(RECORDS))
    app.act("form.set", form="audit", field="profile", value="file")
    for typed, said in (
        ("", "Enter the file of a profile"),
        (str(tmp_path / "no.toml"), "There is no file"),
        ("x" * 300, "Give another name"),
    ):
        app.act("form.set", form="audit", field="file", value=typed)
        press(app, "quality.run {}")
        assert said in app.session.errors["audit.file"]
    file = tmp_path / "mine.toml"
    file.write_text("[checks.no_such_rule]\n")
    app.act("form.set", form="audit", field="file", value=str(file))
    press(app, "quality.run {}")
    assert "no_such_rule" in app.session.errors["audit.file"]
    file.write_text("[checks.has_name]\n")
    press(app, "quality.run {}")
    assert app.session.audit is not None
    assert ({}, "mine") == (app.session.errors, app.session.audit.profile)


@pytest.mark.slow
def test_another_catalogue_is_told_with_what_differs(sample: prodex.Catalog) -> None:
    """Which products are in one of both alone, and of which snapshots both are."""
    audit = prodex.audit(sample, "core", now=AS_OF, progress=False)
    app = quality(audit)
    assert "other products" not in words(app)
    app.change(lambda session: session.replaced(catalog=sample.where(is_consumer_unit=True)))
    said = words(app, "warnings")
    assert f"{len(app.session.catalog)} products are in both; only in the audit" in said
    app.change(lambda session: session.replaced(catalog=prodex.flatten(RECORDS)))
    said = words(app, "warnings")
    assert "No product is in both" in said
    assert "only among those shown 3: GTIN 03036811359935, GTIN 03036811359936, GTIN 03036811359936" in said
    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS)))
    assert "have not been audited" in words(app)


def test_two_snapshots_of_as_many_products_are_told_apart() -> None:
    """The sentence names the time of both, and the products that one of them alone has."""
    first = prodex.flatten(RECORDS).save("shop")
    second = prodex.flatten([*RECORDS[:2], {"id": 10, "gtin": "04006381333931"}]).save("shop")
    app = quality(prodex.audit(first, PROFILE, progress=False), second)
    said = words(app, "warnings")
    assert first.folder is not None
    assert second.folder is not None
    for one in (first, second):
        assert f"shop, {one.folder.name[:10]}" in said  # type: ignore[union-attr]
    assert (
        "2 products are in both; only in the audit 1: GTIN 03036811359936; only among those shown 1" in said
    )
    assert "Press Audit to audit those shown." in said
    same = quality(prodex.audit(first, PROFILE, progress=False), prodex.flatten(RECORDS).save("shop"))
    assert "Both have the same products, whose data may have changed" in words(same, "warnings")


def test_what_makes_figures_less_than_they_seem_stands_on_top() -> None:
    """Crashed rules, attributes that were not requested and an incomplete catalogue are warnings."""

    def raises(products: object) -> prodex.packs.Verdict:
        raise ValueError("$5 <img src=x>")

    prodex.packs.rule(title="it raises")(raises)
    catalog = prodex.flatten(RECORDS)
    ledger = replace(catalog.origin.ledger, announced=9)
    query = prodex.ProductQuery(source_include=["gtin"])
    partial = replace(catalog, origin=replace(catalog.origin, query=query, ledger=ledger))
    app = quality(prodex.audit(partial, {"checks": {"raises": {}, "has_name": {}}}, progress=False))
    warned = words(app, "warnings")
    for said in ("incomplete", "2 of 2 checks unknown", "rule crashed: raises", "<img src=x>"):
        assert said in warned


@pytest.mark.slow
def test_a_new_audit_keeps_the_conditions_that_it_can_answer(app: App) -> None:
    """Conditions on checks stay, unless the new audit does not have them; the section stays open."""
    narrow = Selection().toggled("brand", "A").failing_any("No name", ("has_name",))
    app.change(lambda session: session.filtered(narrow))
    press(app, "quality.run {}")
    assert (1, "quality") == (len(app.session.conditions.failing), app.session.section)
    app.act("form.set", form="audit", field="profile", value="pictures")
    press(app, "quality.run {}")
    assert (0, {"brand": ("A",)}) == (len(app.session.conditions.failing), app.session.conditions.groups)
    assert "quality" == app.session.section


def test_figures_that_nobody_sees_are_not_counted(app: App) -> None:
    """A press among the products counts nothing; opening the section does."""
    app.act("section.open", name="products")
    app.change(lambda session: session.filtered(Selection().toggled("brand", "A")))
    app.wait()
    assert "3 products audited" in next(
        one["text"][0]
        for one in below(_section_view(app))
        if isinstance(one, dict) and one.get("key") == "headline"
    )
    assert "1 of 3 products audited" in words(app, "headline")


def _section_view(app: App) -> list[dict[str, Any]]:
    from prodex.notebook.views.audit import quality_view

    return quality_view(app.session)


def test_words_that_were_not_searched_yet_are(app: App) -> None:
    """The figures of a search wait for all of it."""
    app.change(lambda session: session.filtered(Selection().searching("03036811359935")))
    assert "1 of 3 products audited" in words(app, "headline")


@pytest.mark.slow
def test_an_audit_opens_as_many_products_as_it_counts(sample: prodex.Catalog) -> None:
    """Grades, gaps, tiles, checks and cells of every grouping: the products are those of the failures."""
    audit = prodex.audit(sample, "online-listing", now=AS_OF, progress=False)
    app = quality(audit)
    failures, products = audit.failures(), audit.products
    for grade in "ABCDE":
        own = products[products["grade"] == grade]["product_id"]
        if len(own):
            press(app, f"grade {grade}")
            assert tuple(own) == chosen(app)
            app.act("quality.everything")
    for which, severity in (("any", None), ("blocker", "blocker")):
        press(app, f"show {which}")
        rows = failures if severity is None else failures[failures["severity"] == severity]
        assert set(rows["product_id"]) == set(chosen(app))
        app.act("quality.everything")
    for row in block(app, "checks-table")["rows"]:
        app.act(row["do"], **row["args"])
        rows = failures[failures["check"] == row["args"]["check"]]
        assert set(rows["product_id"]) == set(chosen(app))
        assert row["cells"][3] == f"{len(chosen(app)):,}"
        app.act("quality.everything")


@pytest.mark.slow
def test_figures_say_what_became_of_them() -> None:
    """The tiles compare with the last saved audit of the same snapshots by the same rules."""
    mended = [RECORDS[0], {**RECORDS[1], "gtin": "03036811359935"}, RECORDS[2]]
    prodex.audit(prodex.flatten(RECORDS).save("shop"), PROFILE, progress=False).save()
    newer = prodex.flatten(mended).save("shop")
    app = quality(prodex.audit(newer, PROFILE, progress=False))
    assert "▲ 33.3 points higher, better since" in words(app, "Ready")
    assert "▼ 1 fewer, better since" in words(app, "Products not ready")
    press(app, "show any")
    app.change(lambda session: session.filtered(Selection().toggled("brand", "A")))
    assert "since" not in words(app, "tiles")  # figures of some products are no progress of all
    app.act("quality.everything")
    assert "▼ 1 fewer, better since" in words(app, "Products not ready")
    alone = quality(
        prodex.audit(prodex.flatten(mended).save("alone"), {"checks": {"has_name": {}}}, progress=False)
    )
    assert "since" not in words(alone, "tiles")


def test_a_damaged_audit_is_nothing_to_compare_with() -> None:
    """The section shows its audit although the earlier one is damaged."""
    catalog = prodex.flatten(RECORDS).save("shop")
    saved = prodex.audit(catalog, PROFILE, progress=False).save()
    assert saved.folder is not None
    (saved.folder / "states" / "part-00000.parquet").write_bytes(b"no")
    app = quality(prodex.audit(catalog, PROFILE, progress=False))
    assert "since" not in words(app, "tiles")
    assert {} == app.session.notices


def test_a_view_of_another_audit_is_none_of_this(app: App) -> None:
    """Conditions that only an audit can answer do not break the section."""
    app.change(lambda session: session.filtered(Selection().within("score", Range(0.1, None))))
    assert "1 of 3 products audited" in words(app, "headline")


@pytest.mark.slow
def test_what_suppliers_typed_is_a_text_of_its_own() -> None:
    """Names of groups, titles of rules and reasons stand as typed texts, in no sentence of ours."""
    app = quality(hostile.audit())
    for by in ("owner", "brand", "kind"):
        app.act("form.set", form="scores", field="by", value=by)
        grid = block(app, "grid")
        assert 12 == len(grid["rows"])
        app.act("checks.explain", check=block(app, "checks-table")["rows"][0]["key"])
        view = shown(app)
        typed = [one for one in below(view) if isinstance(one, dict) and "kind" not in one and "text" in one]
        assert typed
        for one in below(view):
            if isinstance(one, dict) and one.get("kind") == "text" and isinstance(one.get("text"), str):
                assert not any(text in one["text"] for text in hostile.STRINGS), one
        assert "grid" in json.dumps(view)
        # A name of 40,000 letters is shown cut.
        assert len(json.dumps(view)) < 400_000


@pytest.mark.slow
def test_the_section_stays_small(sample: prodex.Catalog) -> None:
    """The whole view of an audit with 138 checks is below 200 kB."""
    app = quality(prodex.audit(sample, "online-listing", now=AS_OF, progress=False))
    assert len(json.dumps(app.view())) < 200_000


@pytest.mark.slow
def test_every_block_has_a_key_of_its_own(sample: prodex.Catalog) -> None:
    """By its key a page knows which element a block is."""
    app = quality(prodex.audit(sample, "online-listing", now=AS_OF, progress=False))
    for one in below(app.view()):
        if isinstance(one, list) and one and all(isinstance(part, dict) and "kind" in part for part in one):
            keys = [(part["kind"], part["key"]) for part in one]
            assert len(keys) == len(set(keys)), keys
