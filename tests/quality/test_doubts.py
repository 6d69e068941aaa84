"""Why a check is unknown: kept with the audit, counted by what stands in the way, and settled by an analyst's words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import QueryError

CHECK: dict[str, Any] = {"checks": {"composition_allergens_listed": {}}}


def food(place: int, said: str, language: str = "eng-GB") -> dict[str, Any]:
    """Return a food with a list of ingredients and no allergens."""
    return {
        "id": place,
        "isConsumerUnit": True,
        "GPC": {"code": "50000001"},
        "owner": {"id": 11, "name": "Mill"},
        "composition": [{"expressedIn": {"code": language}, "data": said}],
    }


def audited(*records: dict[str, Any], profile: dict[str, Any] = CHECK) -> prodex.quality.Audit:
    """Judge records."""
    return prodex.audit(prodex.flatten(records), profile, progress=False)


RICE = "Rice (61 %), water, zlork powder, sunflower oil, salt"


def test_words_that_nobody_knows_are_named_as_the_label_has_them() -> None:
    """Each with the products that it holds up, those that hold up most first; a list that is known has none."""
    audit = audited(
        food(1, RICE.replace("zlork", "Zlörk")),
        food(2, RICE),
        food(3, "Tomatoes, hokipoki extract, onions, garlic, salt, zlork"),
        food(4, "Tomatoes, water, onions, garlic, salt"),
    )

    assert ["4"] == audit.matrix.index[audit.matrix.iloc[:, 0] == 0].tolist()
    assert {("1", "Zlörk"), ("2", "zlork"), ("3", "hokipoki"), ("3", "zlork")} == set(
        audit.doubts()[["product_id", "value"]].itertuples(index=False, name=None)
    )
    counted = audit.doubts(by="value")
    assert [("zlork", 2), ("Zlörk", 1), ("hokipoki", 1)] == list(
        counted[["value", "products"]].itertuples(index=False, name=None)
    )
    with pytest.raises(QueryError, match="by='value'"):
        audit.doubts(by="word")


def test_what_only_describes_a_word_does_not_make_it_known() -> None:
    """A list in brackets says what something is made of; wild, frozen and salted say it not."""
    audit = audited(
        food(1, "Hokipoki (wild, frozen, salt), rice, water, onions, parsley"),
        food(2, "Hokipoki (rice, onions, salt), water, parsley, black pepper"),
    )

    assert [3, 0] == audit.matrix.iloc[:, 0].tolist()
    assert ["Hokipoki"] == audit.doubts()["value"].tolist()


def test_suppliers_are_not_asked_what_nobody_knows(tmp_path: Path) -> None:
    """Doubts are no findings: neither a list of failures nor a worklist has them."""
    audit = audited(food(1, RICE))

    assert (0, 1) == (len(audit.failures()), len(audit.doubts()))
    assert 0 == len(audit.worklist_rows())


def test_doubts_are_saved_and_opened_and_taken_with_their_products(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An audit of some of the products has theirs."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    audit = audited(food(1, RICE), food(2, "Tomatoes, salt"), food(3, RICE.replace("zlork", "morpf")))
    opened = prodex.open_audit(audit.save("shop").folder)

    assert audit.doubts().equals(opened.doubts())
    assert ["morpf"] == opened.only(["2", "3"]).doubts()["value"].tolist()
    assert ["3"] == opened.only(["2", "3"]).doubts()["product_id"].tolist()


def test_a_profile_takes_the_words_of_an_analyst() -> None:
    """What is harmless lets a list pass, what names an allergen is found in it; a group that there is not is told."""
    records = food(1, RICE), food(2, "Tomatoes, hokipoki extract, onions, garlic, salt")
    own = {**CHECK, "ingredients": {"harmless": ["Zlork"], "fish": ["hokipoki"]}}
    audit = audited(*records, profile=own)

    assert [0, 1] == audit.matrix.iloc[:, 0].tolist()
    assert ["fish: named in the ingredients, not listed"] == audit.failures()["reason"].tolist()
    assert "hokipoki" == audit.failures()["value"][0]
    wrong = audited(*records, profile={**CHECK, "ingredients": {"fihs": ["hokipoki"]}})
    assert "[ingredients] has 'fihs'. Give harmless, or one of gluten" in wrong.crashes[0].message
    with pytest.raises(prodex.errors.InputError, match="give lists of words"):
        audited(*records, profile={**CHECK, "ingredients": ["zlork"]})


def test_a_list_in_another_language_is_never_judged_by_the_words_of_one_of_the_seven() -> None:
    """Polish "sole" are salts and no fish, and what a Finnish list holds is not known."""
    polish = "Woda, cukier, sole emulgujące, tłuszcz roślinny, kwas cytrynowy, aromat, barwnik naturalny"
    finnish = "Peruna, auringonkukkaöljy, merisuola, sipulijauhe, hiivauute, happamuudensäätöaine"
    audit = audited(food(1, polish, "pol-PL"), food(2, finnish, "fin-FI"))

    assert [3, 3] == audit.matrix.iloc[:, 0].tolist()
    assert {"in a language whose words are not known here"} == set(audit.doubts()["reason"])


@pytest.mark.parametrize(
    "said",
    [
        "a" * 40_000,
        "farine-" * 5_700,
        "(" * 20_000 + "zlork",
        "cabillaud " * 3_900 + "(riz, sel)",
        "pain : " * 5_700,
        " ".join(f"mot{place:05d}x" for place in range(3_900)),
        " ".join(
            f"m{chr(97 + place % 26)}{chr(97 + place // 26 % 26)}{chr(97 + place // 676)}w"
            for place in range(6_000)
        ),
    ],
    ids=["one word", "hyphens", "brackets", "an item", "colons", "numbers", "words"],
)
def test_texts_of_forty_thousand_characters_are_read_in_a_moment(said: str) -> None:
    """Whatever they are made of, reading takes as long as the text is, and no list of a mailbox is made of it."""
    audit = audited(food(1, said, "fra-FR"))

    assert () == audit.crashes
    assert 0 != audit.matrix.iloc[0, 0]
    assert len(audit.doubts()) <= 60
