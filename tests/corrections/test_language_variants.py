"""A language variant is a place of its own: what is meant by a code, and by a language alone, for all that writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import operations as do
from prodex.catalog import Origin
from prodex.catalog.names import rows_in
from prodex.changes import ABSENT, Change, Item, apply, diff, value_at
from prodex.changes.trails import trails
from prodex.errors import ChangesRefused, QueryError
from prodex.facts.requested_data import Asked, asked_for
from prodex.ledger.change_digests import are_shown, digests_of, shown_by
from prodex.query import ProductQuery
from prodex.sandbox import Sandbox
from prodex.selection import Selection
from prodex.send.merging import TextPlace, merge_values, text_change
from prodex.send.records import DELETE
from prodex.worklists.exact_answers import exact_change
from prodex.worklists.fix import make_fix
from prodex.worklists.returned_files import Returned
from prodex.worklists.text_corrections import NO_RULES

GTIN = "03036811359935"
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
#: Each code as services write it, with the spellings that people and other services have for it, by hand.
SPELLINGS = {
    "fra-FR": ("fra-FR", "fr-FR", "fre-FR", "FR-fr", "fra_FR"),
    "fra-BE": ("fra-BE", "fr-BE", "fre-be", "FRA-BE", "fr_be"),
    "fra-CH": ("fra-CH", "fr-CH", "Fr-Ch"),
    "eng-GB": ("eng-GB", "en-GB", "EN-gb"),
    "eng-US": ("eng-US", "en-US", "en_US"),
    "por-PT": ("por-PT", "pt-PT", "PT-pt"),
    "por-BR": ("por-BR", "pt-BR", "pt_br"),
    "nor-NO": ("nor-NO", "no-NO", "NO-no"),
}
ALONE = {"fra": ("fr", "fra", "fre", "FR"), "eng": ("en", "ENG"), "por": ("pt", "por"), "nor": ("no", "nb")}
WORDS = ("Pain", "Bread", "Pão")
TEXTS = st.dictionaries(st.sampled_from(list(SPELLINGS)), st.sampled_from(WORDS), min_size=1, max_size=4)
#: The codes that are meant, in whatever spelling.
REGIONS = st.sampled_from([(code, one) for code, several in SPELLINGS.items() for one in several])


def text(code: str, data: str | None) -> dict[str, Any]:
    """Return a localized text as the service has it."""
    return {"expressedIn": {"code": code}, "data": data}


def record(texts: Mapping[str, str | None], **more: Any) -> dict[str, Any]:
    """Return a product with a description by the codes of its languages, and a name in Dutch."""
    described = [text(code, data) for code, data in texts.items()]
    return {
        "id": 7,
        "gtin": GTIN,
        "namePublicLong": [text("nld-NL", "Naam")],
        "description": described,
        **more,
    }


def catalog(texts: Mapping[str, str | None]) -> prodex.Catalog:
    return prodex.flatten([record(texts)])


def written(fix: prodex.worklists.Fix, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts by their codes once the accepted answers of a fix are written; none stands there twice."""
    if not fix.counts:
        return dict(texts)
    records = fix._known().changes.records  # what is sent is nowhere else
    items = records[0]["description"] or [] if records else [text(*one) for one in texts.items()]
    found = {one["expressedIn"]["code"]: one["data"] for one in items}
    assert len(items) == len(found)
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, str], list[str], str]:
    """Draw texts, a language in some spelling, and the codes of the texts that it means."""
    texts = draw(TEXTS)
    if draw(st.booleans()):
        code, spelled = draw(REGIONS)
        return texts, [code] if code in texts else [], spelled
    alone = draw(st.sampled_from(sorted({code[:3] for code in texts})))
    return texts, [code for code in texts if code[:3] == alone], draw(st.sampled_from(ALONE[alone]))


def long_code(spelled: str) -> str:
    return next(code for code, several in SPELLINGS.items() if spelled in several)


def merged_alone(texts: Mapping[str, str], language: str, way: str) -> Any:
    """Return the description with a new text in a language, by a frame or by a merge."""
    if way == "merge":
        product = record(texts)
        change = text_change("7", product, TextPlace("description", language=language), "neu", {})
        return merge_values(product, [change])["description"]
    row = {"product_id": "7", "attribute": "description", "language": language, "text": "neu"}
    return catalog(texts).changes_from(pd.DataFrame([row])).records[0]["description"]


@pytest.mark.slow
@given(cases(), st.sampled_from(["correct", "text", "frame", "merge"]))
def test_a_text_is_set_where_its_language_is_meant_and_nowhere_else(
    case: tuple[dict[str, str], list[str], str], way: str
) -> None:
    """By an operation, a typed text, a frame and a merge: the one that is meant, a new one, or none of several."""
    texts, meant, language = case
    expected = dict(texts)
    if len(meant) < 2:
        expected[meant[0] if meant else long_code(language)] = "neu"
    found = catalog(texts)
    if way == "correct":
        fix = prodex.correct(found, "description", "neu", language=language)
    elif way == "text":
        seen = texts[meant[0]] if len(meant) == 1 else None
        fix = prodex.correct_from([prodex.TextCorrection("7", "description", language, "neu", seen)], found)
    else:
        several = ", ".join(sorted(meant))
        with nullcontext() if len(meant) < 2 else pytest.raises(ChangesRefused, match=several):
            assert [text(*one) for one in expected.items()] == merged_alone(texts, language, way)
        return
    assert expected == written(fix, texts)
    if len(meant) > 1:
        assert {"refused": 1} == dict(fix.counts)
        assert ", ".join(sorted(meant)) in fix.refused["reason"][0]


@pytest.mark.slow
@given(cases(), REGIONS)
def test_a_text_is_moved_and_removed_where_its_language_is_meant_and_nothing_is_lost(
    case: tuple[dict[str, str], list[str], str], to: tuple[str, str]
) -> None:
    """What is taken away has arrived: of several texts, and where another text is, all stay as they were."""
    texts, meant, language = case
    removed, moved = dict(texts), dict(texts)
    if len(meant) == 1:
        del removed[meant[0]]
        if meant[0] != to[0] and texts.get(to[0], texts[meant[0]]) == texts[meant[0]]:
            moved[to[0]] = moved.pop(meant[0])
    fix = prodex.correct(catalog(texts), "description", do.RemoveValue(), language=language)
    assert removed == written(fix, texts)
    if len(meant) > 1:
        assert ", ".join(sorted(meant)) in fix.refused["reason"][0]
    if language in SPELLINGS[to[0]]:
        return  # it is there
    fix = prodex.correct(catalog(texts), "description", do.MoveText(to_language=to[1]), language=language)
    assert moved == written(fix, texts)
    assert set(texts.values()) == set(moved.values())


@pytest.mark.slow
@given(cases(), st.sampled_from([do.ReplaceText("a", "o"), do.ChangeCase("upper"), str.upper]))
def test_any_other_operation_asks_of_each_of_several(
    case: tuple[dict[str, str], list[str], str], operation: Any
) -> None:
    """Each is a change of its own, which names its code, and is sent once it is confirmed."""
    texts, meant, language = case
    done = (lambda one: one.replace("a", "o")) if isinstance(operation, do.ReplaceText) else str.upper
    expected = {code: done(one) if code in meant else one for code, one in texts.items()}
    changes = [code for code in meant if expected[code] != texts[code]]
    fix = prodex.correct(catalog(texts), "description", operation, language=language)
    if len(meant) > 1:
        assert texts == written(fix, texts)
        assert {"needs confirmation": len(changes)} == dict(fix.counts) or not changes
        asked = " ".join(fix.needs_confirmation["reason"])
        assert changes == re.findall(r"Is the one in (\S+) meant", asked)
        fix = fix.confirm() if changes else fix
    assert expected == written(fix, texts)


@pytest.mark.slow
def test_a_text_that_is_moved_to_another_country_arrives() -> None:
    """British English becomes American: one text before, one after."""
    for source, to, code in (
        ("en-GB", "en-US", "eng-US"),
        ("pt-PT", "pt-BR", "por-BR"),
        ("fr", "fr-BE", "fra-BE"),
    ):
        texts = {{"en-GB": "eng-GB", "pt-PT": "por-PT", "fr": "fra-FR"}[source]: "Yogurt"}
        fix = prodex.correct(catalog(texts), "description", do.MoveText(to_language=to), language=source)
        assert {code: "Yogurt"} == written(fix, texts)


def test_a_text_is_copied_to_another_country_and_from_none_of_several() -> None:
    """That the neighbour has the value already is no reason; of two sources, none is chosen."""
    texts = {"fra-FR": "Pain"}
    fix = prodex.correct(catalog(texts), "description", do.CopyFrom(from_language="fr-FR"), language="fr-BE")
    assert {"fra-FR": "Pain", "fra-BE": "Pain"} == written(fix, texts)
    several = {"fra-FR": "Pain", "fra-BE": "Pain"}
    fix = prodex.correct(catalog(several), "description", do.CopyFrom(from_language="fr"), language="nl")
    assert {"refused": 1} == dict(fix.counts)
    assert "(fra-BE, fra-FR)" in fix.refused["reason"][0]


def test_without_a_language_each_text_moves_to_its_own_country() -> None:
    """French of Belgium stays that of Belgium, beside French of France; nothing is asked."""
    texts = {"fra-FR": "Pain", "fra-BE": "Pistolet"}
    for operation in (do.MoveText("specialInstructions"), do.CopyFrom("description")):
        attribute = "description" if isinstance(operation, do.MoveText) else "specialInstructions"
        made = record(texts, specialInstructions=[text("nld-NL", "x")])
        (sent,) = prodex.correct(prodex.flatten([made]), attribute, operation)._known().changes.records
        added = {one["expressedIn"]["code"]: one["data"] for one in sent["specialInstructions"]}
        assert texts == {code: data for code, data in added.items() if code != "nld-NL"}


@pytest.mark.slow
def test_a_text_that_is_gone_is_not_taken_for_its_neighbour() -> None:
    """The Belgian text is gone, and that of France says the same: nothing is written over it, and nothing deleted."""
    found = catalog({"fra-FR": "Pain"})
    for change, state in (("Brioche", "conflict"), (None, "unchanged")):
        for named in ({"language": "fr-BE"}, {"language_code": "fra-BE"}, {"language_code": "fr-be"}):
            given = prodex.TextCorrection(
                "7",
                "description",
                named.get("language"),
                change,
                "Pain",
                language_code=named.get("language_code"),
            )
            fix = prodex.correct_from([given], found)
            assert {state: 1} == dict(fix.counts), (named, fix.answers["reason"])


@pytest.mark.parametrize("code", ["fra-BE", "fr-BE", "fre-be"])
def test_an_answer_that_was_made_earlier_is_none_about_a_neighbour(code: str) -> None:
    """What steps have made for Belgian French, and what an undo restores, is a conflict once that text is gone."""
    item = ("description", Item("language", code))
    for change, state in (
        (Change("7", (*item, "data"), "Pain", "Brioche"), "conflict"),
        (Change("7", item, text(code, "Pain"), ABSENT), "unchanged"),
    ):
        answer = exact_change(change, number=1)
        fix = make_fix(Returned([answer]), catalog({"fra-FR": "Pain"}), NO_RULES, NOW)
        assert {state: 1} == dict(fix.counts)


def test_cells_of_a_worklist_mean_the_country_that_they_name(tmp_path: Path) -> None:
    """A row for Belgium is none for France; one for French alone is refused where both say the same."""
    found = catalog({"fra-FR": "Pain", "fra-BE": "Pain"})
    file = tmp_path / "answers.csv"

    def answered(*rows: tuple[str, str]) -> prodex.worklists.Fix:
        cells = [(GTIN, "description", language, "Pain", new) for language, new in rows]
        columns = ["GTIN", "Field", "Language", "Value seen", "New value"]
        pd.DataFrame(cells, columns=columns).to_csv(file, index=False)
        return prodex.read_worklist(file, found, profile={"checks": {"has_brand": {}}})

    one = answered(("fr-BE", "Pistolet"))
    assert {"fra-FR": "Pain", "fra-BE": "Pistolet"} == written(one, {})
    two = answered(("fr-BE", "Pistolet"), ("fra-FR", "Baguette"))
    assert {"fra-FR": "Baguette", "fra-BE": "Pistolet"} == written(two, {})
    alone = answered(("fr", "Pistolet"))
    assert {"refused": 1} == dict(alone.counts)
    assert "in 'fr' (fra-BE, fra-FR), and the row does not say which is meant" in alone.refused["reason"][0]


def test_a_recipe_asks_once_more_whatever_later_steps_do() -> None:
    """A step on French alone asks; that a later step changes the same text again answers nothing."""
    texts = {"fra-FR": "Pain", "fra-BE": "Pain"}
    steps = [
        prodex.RecipeStep(do.ReplaceText("Pain", "Bon"), "description", "fr"),
        prodex.RecipeStep(do.ChangeCase("upper"), "description"),
    ]
    fix = prodex.apply_recipe(catalog(texts), prodex.Recipe(steps))
    assert {"needs confirmation": 2} == dict(fix.counts)
    assert {"fra-FR": "BON", "fra-BE": "BON"} == written(fix.confirm(), texts)


@pytest.mark.slow
def test_a_country_is_written_and_taken_back_at_a_service_that_keeps_them_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corrected, moved, read back and undone: the other text of the language is the same all the time."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    names = {name: [text("nld-NL", "Naam")] for name in ("nameLegal", "namePublicShort", "namePublicLong")}
    texts = {"fra-FR": "Pain", "fra-BE": "Pain"}
    described = [
        {"expressedIn": {"code": code, "normalizedCode": "fr"}, "data": data} for code, data in texts.items()
    ]
    moment = "2026-11-01T06:00:00"
    made = {**record({}), **names, "kind": {"code": "FOOD"}, "description": described, "updatedAt": moment}
    with Sandbox([made]) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )

        def stored(**query: Any) -> dict[str, str]:
            loaded = prodex.load_products(service, prodex.ProductQuery(**query), progress=False).texts
            own = loaded[loaded["attribute"] == "description"]
            return dict(zip(own["language_code"], own["text"], strict=True))

        assert {"fra-BE": "Pain"} == stored(product_languages=["fr-BE"])
        for operation, after in (
            ("Pistolet", {"fra-FR": "Pain", "fra-BE": "Pistolet"}),
            (do.MoveText(to_language="fr-CH"), {"fra-FR": "Pain", "fra-CH": "Pain"}),
            (do.RemoveValue(), {"fra-FR": "Pain"}),
        ):
            found = prodex.load_products(service, progress=False)
            fix = prodex.correct(found, "description", operation, language="fr-BE")
            tracking = fix.apply(service, progress=False).wait(progress=False)
            assert after == stored()
            back = prodex.undo(tracking, service)
            back.apply(service, progress=False).wait(progress=False)
            assert texts == stored()


def test_two_new_texts_of_one_language_are_two_places() -> None:
    """French of France and of Belgium are no two answers to one question; two spellings of one code are."""
    found = catalog({"nld-NL": "Brood"})

    def typed(language: str, data: str) -> prodex.TextCorrection:
        return prodex.TextCorrection("7", "description", language, data)

    two = prodex.correct_from([typed("fr-FR", "Pain"), typed("fr-BE", "Pistolet")], found)
    assert {"nld-NL": "Brood", "fra-FR": "Pain", "fra-BE": "Pistolet"} == written(two, {})
    one = prodex.correct_from([typed("fr-BE", "Pain"), typed("fra-be", "Pistolet")], found)
    assert {"conflict": 2} == dict(one.counts)


def test_a_new_text_goes_by_the_code_of_its_country_as_it_is_in_use() -> None:
    """French of Belgium is not written under the only French code of the catalogue; a spelling in use is kept."""
    for others, code in (({"fra-FR": "x"}, "fra-BE"), ({"fr-BE": "x"}, "fr-BE")):
        made = record({}, specialInstructions=[text(*one) for one in others.items()])
        fix = prodex.correct(prodex.flatten([made]), "description", "Pain", language="fr-BE")
        assert {code: "Pain"} == written(fix, {})


def test_a_row_that_names_two_countries_is_refused() -> None:
    """Somebody changed the language of a row of a frame, and its code is that of the other text."""
    found = catalog({"fra-FR": "Pain", "fra-BE": "Pain"})
    row = found.texts.query("language_code == 'fra-FR'").assign(text="Brioche", language="fr-BE")
    with pytest.raises(ChangesRefused, match=r"'fr-BE' and the language_code 'fra-FR'"):
        found.changes_from(row)


@pytest.mark.slow
def test_a_list_of_values_sets_no_two_texts_of_a_product() -> None:
    """As a value that is set: of two French texts it is not known which is meant."""
    found = catalog({"fra-FR": "Pain", "fra-BE": "Pistolet"})
    values = pd.Series({"7": "Brioche"})
    for language in ("fr", None):
        fix = prodex.correct(found, "description", values, language=language)
        assert {"refused"} == set(fix.counts)
        assert "fra-BE, fra-FR" in fix.refused["reason"][0]
    named = prodex.correct(found, "description", values, language="fr-BE")
    assert {"fra-FR": "Pain", "fra-BE": "Brioche"} == written(named, {})


@pytest.mark.slow
def test_an_item_without_a_text_gets_the_text() -> None:
    """Null, or absent: no second item of its language stands beside it, and what else it says stays."""
    for empty in ({"data": None}, {}):
        item = {"expressedIn": {"code": "fra-BE"}, "sort": 3, **empty}
        made = {**record({"nld-NL": "Brood"}), "description": [item, text("nld-NL", "Brood")]}
        found = prodex.flatten([made])
        expected = [{"expressedIn": {"code": "fra-BE"}, "sort": 3, "data": "Pain"}, text("nld-NL", "Brood")]
        for language in ("fr", "fr-BE"):
            row = {"product_id": "7", "attribute": "description", "language": language, "text": "Pain"}
            typed = prodex.TextCorrection("7", "description", language, "Pain")
            sent = [
                prodex.correct(found, "description", "Pain", language=language)._known().changes,
                prodex.correct_from([typed], found)._known().changes,
                found.changes_from(pd.DataFrame([row])),
            ]
            assert [expected] * 3 == [one.records[0]["description"] for one in sent]
        gone = {"product_id": "7", "attribute": "description", "language": "fr", "text": DELETE}
        assert 0 == len(found.changes_from(pd.DataFrame([gone])))
        beside = prodex.correct(found, "description", "Pain", language="fr-FR")._known().changes.records[0]
        assert [*made["description"], text("fra-FR", "Pain")] == beside["description"]


def test_the_item_that_has_a_text_is_meant_before_one_that_has_none() -> None:
    """A text and an empty item of one language: the text is corrected, and the item stays as it is."""
    made = {**record({}), "description": [text("fra-BE", None), text("fra-FR", "Pain")]}
    fix = prodex.correct(prodex.flatten([made]), "description", "Brioche", language="fr")
    (sent,) = fix._known().changes.records
    assert [text("fra-BE", None), text("fra-FR", "Brioche")] == sent["description"]


def test_a_preview_names_the_country_where_there_are_several() -> None:
    """In the short form where there is one text of a language."""
    for texts, language in (({"fra-FR": "Pain"}, "fr"), ({"fra-FR": "Pain", "fra-BE": "Pain"}, "fra-FR")):
        found = catalog(texts)
        rows = found.texts.query("language_code == 'fra-FR'").assign(text="Brioche")
        assert [language] == found.changes_from(rows).preview()["language"].tolist()
        assert [language] == prodex.correct(found, "description", "Brioche", language="fr-FR").preview()[
            "language"
        ].tolist()


def test_a_text_of_a_neighbour_does_not_show_that_a_correction_has_arrived() -> None:
    """A reply was lost: that French of France says what was sent for Belgium is no evidence."""
    before = record({"fra-FR": "Pain"})
    change = text_change("7", before, TextPlace("description", None, "fr", "fra-BE"), "Pain", {})
    after = {**before, **merge_values(before, [change])}
    digests = digests_of(diff(before, after))
    assert [False, True] == [are_shown(digests, shown_by(one)) for one in (before, after)]


def test_countries_are_apart_in_trails_and_spellings_are_not() -> None:
    """French of France went away and French of Belgium came; a code that is written otherwise is the same text."""
    found = list(trails("description", [[text("fra-FR", "Pain")], [text("fra-BE", "Pain")]]))
    assert [["fra-FR", "Pain", None], ["fra-BE", None, "Pain"]] == [
        [one.place.language_code, *(held if isinstance(held, str) else None for held in one.held)]
        for one in found
    ]
    for other in ("fr-be", "fr"):
        (one,) = trails("description", [[text("fra-BE", "Pain")], [text(other, "Pain")]])
        assert ("Pain", "Pain") == one.held


def test_a_text_without_a_country_beside_one_with_it_is_another() -> None:
    """What was written to one of them is taken back there, and where it is gone, nowhere."""
    before = [text("fr", "Pain"), text("fra-BE", "Pain")]
    after = [text("fr", "Pain"), text("fra-BE", "Brioche")]
    (change,) = diff({"description": before}, {"description": after})
    made = apply({"description": list(reversed(before))}, [change])
    assert {"description": [text("fra-BE", "Brioche"), text("fr", "Pain")]} == made
    found = value_at({"description": [text("fr", "Pain"), text("fra-FR", "Pain")]}, change.path)
    assert found not in ("Pain", "Brioche")


def test_a_new_text_takes_no_place_of_a_text_with_its_code_and_another_language() -> None:
    """A service may have French under a Dutch code: where Dutch is to be added, that text is not written over."""
    odd = {"expressedIn": {"code": "nld-NL", "normalizedCode": "fr"}, "data": "Pain"}
    found = prodex.flatten([{**record({}), "description": [odd]}])
    fix = prodex.correct(found, "description", "Brood", language="nl-NL")
    assert {"conflict": 1} == dict(fix.counts)
    assert "there is now 'Pain' in place of nothing" in fix.conflicts["reason"][0]


def test_a_code_of_two_letters_is_the_language_that_it_names() -> None:
    """Tables name no language for it, and a step on German means it: its nouns and the Turkish i are kept."""
    texts = {"de-DE": "FRISCHE MILCH", "deu-AT": "FRISCHE MILCH", "tr-TR": "ılık süt i"}
    small = prodex.correct(catalog(texts), "description", do.ChangeCase("sentence"), language="de")
    assert {"refused": 2} == dict(small.counts)
    assert {"de"} == set(small.answers["language"]) == set(small.step_rows["language"])
    large = prodex.correct(catalog(texts), "description", do.ChangeCase("upper"), language="tr")
    assert ["ILIK SÜT İ"] == large.preview()["after"].tolist()


SIBLINGS = {"fra-FR": "Pain", "fra-BE": "Pistolet", "fra": "Miche", "nld-BE": "Brood"}
OF_BELGIUM = ("fr-BE", "fra-BE", "fre_be", "FR-be")


def names_in(found: prodex.Catalog, language: str | list[str]) -> dict[Any, Any]:
    """Return the columns of descriptions in the wide form."""
    return found.wide(language, ["description"], columns=["gtin"]).drop(columns="gtin").to_dict("list")


@pytest.mark.parametrize("spelled", OF_BELGIUM)
def test_wide_has_a_variant_in_a_column_of_its_own(spelled: str) -> None:
    """In any spelling it is without the texts of its siblings; the language alone has all of them."""
    found = prodex.flatten([record(SIBLINGS)])

    assert {"description": ["Pistolet"]} == names_in(found, spelled)
    every = names_in(found, ["fr", spelled, "fr-FR"])
    assert ["description.fr", "description.fr-BE", "description.fr-FR"] == list(every)
    assert ["Pain | Pistolet | Miche", "Pistolet", "Pain"] == [cell for (cell,) in every.values()]


@pytest.mark.parametrize("short", ["fr", "fr-BE"])
def test_the_more_exact_of_two_codes_says_the_variant(short: str) -> None:
    """Services write the country into either code of a text."""
    code = "fra-BE" if short == "fr" else "fra"
    described = {"expressedIn": {"code": code, "normalizedCode": short}, "data": "Pistolet"}
    found = prodex.flatten([{**record({}), "description": [described]}])

    assert {"description": ["Pistolet"]} == names_in(found, "fr-BE")
    assert found.wide("fr-FR", ["description"])["description"].isna().all()


@pytest.mark.parametrize("spelled", OF_BELGIUM)
def test_an_export_in_a_variant_has_that_variant_alone(spelled: str, tmp_path: Path) -> None:
    """Tables and one table; both say what they left out, and read back nothing is known of its siblings."""
    found = prodex.flatten([record(SIBLINGS)])
    written = found.export(tmp_path, languages=[spelled], tables=["products", "texts"])
    read = prodex.read_export(tmp_path)

    assert ["fra-BE"] == read.texts["language_code"].tolist()
    assert [1] == read.products["texts_count"].tolist()
    assert "1 of 5 rows of texts, in fr-BE" in written.left_out
    assert [True, False] == [read.origin.asked("description", one) for one in ("fra-BE", "fra-FR")]
    assert "1 of 5 texts, in fr-BE" in found.export_wide(tmp_path / "one.csv", [spelled]).left_out


def test_of_what_was_requested_the_narrower_is_exported(tmp_path: Path) -> None:
    """A variant of a language that was requested is known; that of another variant is not."""
    query = prodex.ProductQuery(product_languages=["fr", "nl-BE"])
    (tmp_path / "a.json").write_text(json.dumps([record(SIBLINGS)]))
    found = prodex.read_products(tmp_path / "a.json", query=query)
    found.export(tmp_path / "out", languages=["fr-BE", "nl"])

    read = prodex.read_export(tmp_path / "out").origin.query
    assert ProductQuery(product_languages=["fr-BE", "nl-BE"]) == read
    with pytest.raises(QueryError, match=r"Texts in nl-NL were not requested"):
        found.export(tmp_path / "none", languages=["nl-NL"])


def test_labels_of_the_language_alone_stay_with_its_variant() -> None:
    """Nobody asks a service for labels by country; those of another country are left out."""
    labels = [("fr", "Boulanger"), ("fr-BE", "Boulangerie"), ("fr-FR", "Pain")]
    rows = [{"code": "1", "label": word, "label_language": code} for code, word in labels]
    kept = rows_in(pa.Table.from_pylist(rows), "code_labels", ["fra-BE"])

    assert ["Boulanger", "Boulangerie"] == kept["label"].to_pylist()


def test_a_frame_of_a_language_and_its_variant_is_no_change() -> None:
    """Read as it was written, nothing was typed; a cell of the variant goes to the variant."""
    found = prodex.flatten([record(SIBLINGS)])
    frame = found.wide(["fr", "fr-BE"])

    assert 0 == len(found.changes_from(frame))
    frame["description.fr-BE"] = "Petit pain"
    changed = found.changes_from(frame).preview()
    assert [["fra-BE", "Pistolet", "Petit pain"]] == changed[["language", "before", "after"]].values.tolist()


def test_a_variant_that_was_not_requested_is_not_absent() -> None:
    """Who asked for French of Belgium knows nothing of that of France, and of all French a part."""
    origin = Origin("sandbox", ProductQuery(product_languages=["fr-BE"]))
    asked = {one: origin.asked("description", one) for one in ("fr", "fra-BE", "fr_be", "fra-FR", "nl")}

    assert {"fr": True, "fra-BE": True, "fr_be": True, "fra-FR": False, "nl": False} == asked
    known = [asked_for(origin, ["description"], one) for one in ("fr-FR", "fr", "fra-BE")]
    assert [Asked.NOTHING, Asked.PART, Asked.ALL] == known


def test_texts_of_a_variant_that_one_load_did_not_request_are_not_new(tmp_path: Path) -> None:
    """They are listed as not compared: they were taken for texts that a supplier had added."""
    loads = []
    for languages, kept in ((["fr-BE"], {"fra-BE": "Pistolet"}), (["fr"], SIBLINGS)):
        (tmp_path / "a.json").write_text(json.dumps([record(kept)]))
        query = prodex.ProductQuery(product_languages=languages)
        loads.append(prodex.read_products(tmp_path / "a.json", query=query))
    found = prodex.diff(*loads)

    assert "fra-FR" not in set(found.changes["language_code"].dropna())
    assert "fra-FR" in set(found.not_comparable["language"])


def test_products_that_lack_a_language_are_not_chosen_by_one_variant() -> None:
    """With only French of Belgium requested, every product with French of France would lack French."""
    lacking = Selection().toggled("missing", "description:fr")
    with pytest.raises(QueryError, match="languages that the query leaves out"):
        lacking.request(ProductQuery(product_languages=["fr-BE"]))
