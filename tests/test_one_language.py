"""One language has several codes, and one text several spellings: wherever they are compared, they are one."""

from __future__ import annotations

import json
import unicodedata
from datetime import datetime
from itertools import product as pairs
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.facts.attribute_states import fill_states
from prodex.facts.groups import groups_of
from prodex.facts.name import names_of
from prodex.locales import is_meant, known_language_tag, language_label, short_of, tag_of
from prodex.quality import Audit
from prodex.tables.fill_state import STATES
from tests.cases import each_row

NOW = datetime.fromisoformat("2026-11-01T06:00:00")

#: Codes of one language each, by hand: ISO 639-1 with its withdrawn codes, ISO 639-2 in both forms, with a country.
ONE_LANGUAGE = {
    "Norwegian": ["no", "nb", "nor", "nob", "nb-NO", "nob-NO", "nor-NO", "NO", "no_NO"],
    "Hebrew": ["he", "iw", "heb", "heb-IL", "iw-IL"],
    "Indonesian": ["id", "in", "ind", "ind-ID", "in-ID"],
    "Filipino": ["fil", "tl", "tgl", "fil-PH", "tl-PH", "tgl-PH"],
    "Yiddish": ["yi", "ji", "yid"],
    "Romanian": ["ro", "mo", "ron", "rum", "mol"],
    "Serbian": ["sr", "sh", "srp", "scc"],
    "German": ["de", "deu", "ger", "deu-AT"],
    "French": ["fr", "fra", "fre", "fra-BE", "FR"],
    "Czech": ["cs", "ces", "cze"],
    "Dutch": ["nl", "nld", "dut", "nld-BE"],
    "Greek": ["el", "ell", "gre"],
    "Chinese": ["zh", "zho", "chi"],
    "Nynorsk": ["nn", "nno", "nn-NO"],
    "Danish": ["da", "dan"],
}


def named(code: str, text: str = "Ris", short: str | None = None) -> dict[str, Any]:
    """Return a record with a name in a language."""
    described = {"code": code, **({} if short is None else {"normalizedCode": short})}
    return {"namePublicLong": [{"expressedIn": described, "data": text}]}


def catalog(*records: dict[str, Any]) -> prodex.Catalog:
    return prodex.flatten({"id": number, **record} for number, record in enumerate(records))


def audited(found: prodex.Catalog, rule: str, **parameters: Any) -> Audit:
    return prodex.audit(found, {"checks": {rule: parameters}}, now=NOW)


def test_codes_of_one_language_are_one_and_no_others() -> None:
    """The table by hand, each code against each."""
    every = [(language, code) for language, codes in ONE_LANGUAGE.items() for code in codes]
    wrong = [
        (one, other)
        for (language, one), (another, other) in pairs(every, every)
        if (language == another) != (short_of(one) == short_of(other))
    ]
    assert [] == wrong


@pytest.mark.slow
@each_row("codes", ONE_LANGUAGE.values(), ids=ONE_LANGUAGE)
def test_a_text_under_any_code_is_there_for_all(codes: list[str]) -> None:
    """Rules, names, coverage and groups find it, whichever code is asked for; `wide` in its variant, or in all."""
    found = catalog(*(named(code, code) for code in codes))
    asked = [code for code in codes if known_language_tag(code)]

    for code in asked:
        audit = audited(found, "required_text", attribute="namePublicLong", language=code)
        assert {0} == set(audit.matrix.iloc[:, 0]), code
        shown = [one if is_meant(one, code) else None for one in codes]
        wide = found.wide(language=code)["namePublicLong"]
        assert shown == wide.astype(object).where(wide.notna(), None).tolist(), code
        assert {"filled"} == {STATES[one] for one in fill_states(found, "namePublicLong", code)}
        assert len(codes) == len(groups_of(found, "language").members(code))
    assert codes == list(names_of(found).values())
    assert 1 == len(groups_of(found, "language").codes)
    assert codes == found.texts["language_code"].tolist()  # as they were sent


def test_bokmaal_and_nynorsk_are_two() -> None:
    """Nynorsk is written differently: a text in it is no text in Norwegian."""
    found = catalog(named("nno-NO"), named("nob-NO"))
    audit = audited(found, "required_text", attribute="namePublicLong", language="no")
    assert [1, 0] == audit.matrix.iloc[:, 0].tolist()


def test_what_was_not_requested_under_any_code_is_unknown(tmp_path: Path) -> None:
    """A query for Hebrew is one for all its codes, and of other languages it says nothing."""
    records = [{"id": 1, **named("heb-IL")}, {"id": 2}]
    for asked in ("he", "iw", "heb"):
        query = prodex.ProductQuery(product_languages=[asked])
        origin = prodex.catalog.Origin("sandbox", query)
        assert [True, True, False] == [origin.asked("namePublicLong", one) for one in ("iw", "heb-IL", "fr")]
        path = tmp_path / "a.json"
        path.write_text(json.dumps(records))
        found = prodex.read_products(path, query=query)
        states = {
            language: audited(found, "required_text", attribute="namePublicLong", language=language)
            .matrix.iloc[:, 0]
            .tolist()
            for language in ("iw", "he", "fr")
        }
        assert {"iw": [0, 1], "he": [0, 1], "fr": [3, 3]} == states


def test_wide_calls_a_language_as_it_was_asked_for() -> None:
    """The columns are called by what somebody asked, and hold the texts under all its codes."""
    found = catalog(named("nob-NO", "Ris", "nb"), named("nor-NO", "Rise", "no"), named("fra-FR", "Riz", "fr"))
    asked = found.wide(language=["nb", "fr"])
    assert ["Ris", "Rise"] == asked["namePublicLong.nb"].tolist()[:2]
    assert ["Ris", "Rise"] == found.wide(language=["no", "fr"])["namePublicLong.no"].tolist()[:2]
    assert "namePublicLong.no" in found.wide(language=["Norwegian", "French"])


def test_wide_has_one_column_for_a_language_and_its_code_as_it_came() -> None:
    """Without a choice, several codes of one language make one column; a single one is called as it was sent."""
    both = catalog(named("nob-NO", "Ris", "nb"), named("nor-NO", "Rise", "no"))
    assert ["Ris", "Rise"] == both.wide()["namePublicLong.no"].tolist()
    assert "namePublicLong.nb" not in both.wide()
    assert "namePublicLong.nb" in catalog(named("nob-NO", "Ris", "nb")).wide()
    described = both.describe()
    assert ["no"] == described[described["attribute"] == "namePublicLong"]["language"].tolist()


def test_texts_of_one_language_are_no_translations_of_each_other() -> None:
    """One text under `no` and one under `nb` are two in one language, and neither is a translation."""
    items = [{"expressedIn": {"code": code}, "data": "Ris"} for code in ("nor-NO", "nob-NO")]
    found = catalog({"namePublicLong": items})
    assert [1] == audited(found, "one_text_per_language").matrix.iloc[:, 0].tolist()
    assert [0] == audited(found, "translated", language="nb").matrix.iloc[:, 0].tolist()


def test_an_export_in_a_language_has_all_its_codes(tmp_path: Path) -> None:
    """Also a Norwegian one; read back, it knows that no other language was asked for."""
    found = catalog(named("nob-NO", "Ris"), named("nor-NO", "Rise"), named("fra-FR", "Riz"))
    found.export(tmp_path, "csv", languages=["nb"])
    back = prodex.read_export(tmp_path)
    assert ["Ris", "Rise"] == back.texts["text"].tolist()
    assert [True, False] == [back.origin.asked("namePublicLong", one) for one in ("no", "fr")]


def test_failures_are_found_under_any_code() -> None:
    """Who looks for what is missing in `iw` finds what the check of `he` says."""
    audit = audited(catalog({}), "required_text", attribute="namePublicLong", language="iw")
    for code in ("iw", "he", "heb"):
        assert 1 == len(audit.failures(language=code)), code


def test_a_check_is_called_as_it_was_written() -> None:
    """Audits are compared by the names of their checks."""
    check = audited(catalog({}), "required_text", attribute="namePublicLong", language="nb").checks[0]
    assert ("required_text[namePublicLong,nb]", "no") == (check.id, check.language)


def test_a_correction_finds_the_text_under_another_code() -> None:
    """Otherwise a product would have its Norwegian name twice."""
    found = prodex.flatten([{"id": 7, "gtin": "03036811359935", **named("nob-NO", "Ris", "nb")}])
    frame = found.texts.assign(language="no", language_code=None, position=None, text="Ny ris")
    changes = found.changes_from(frame)
    assert [{"code": "nob-NO", "normalizedCode": "nb"}, "Ny ris"] == [
        changes.records[0]["namePublicLong"][0][key] for key in ("expressedIn", "data")
    ]
    assert 1 == len(changes.records[0]["namePublicLong"])


@each_row(("answered", "sent"), [("no", "nob-NO"), ("nb", "nor-NO"), ("iw", "heb-IL")])
def test_an_answer_to_a_worklist_is_about_the_text_under_another_code(answered: str, sent: str) -> None:
    """The code of the answer is another spelling of the language of the text, and so are its letters."""
    found = prodex.flatten([{"id": 7, "gtin": "03036811359935", **named(sent, f"Ris {DECOMPOSED}")}])
    corrected = prodex.TextCorrection("7", "namePublicLong", answered, "Ny ris", before=f"Ris {COMPOSED}")
    preview = prodex.correct_from([corrected], found).preview()
    assert [[f"Ris {DECOMPOSED}", "Ny ris"]] == preview[["before", "after"]].values.tolist()
    same = prodex.TextCorrection(
        "7", "namePublicLong", answered, f"Ris {DECOMPOSED}", before=f"Ris {COMPOSED}"
    )
    assert {"unchanged"} == set(prodex.correct_from([same], found).answers["state"])


COMPOSED, DECOMPOSED = "Nestlé", "Nestle\N{COMBINING ACUTE ACCENT}"


def branded(name: str, code: str = "N") -> dict[str, Any]:
    return {"brand": {"code": code, "label": name}, "hasTags": [{"tag": name}], "owner": {"name": name}}


@pytest.mark.parametrize("wanted", [COMPOSED, DECOMPOSED])
def test_where_finds_both_spellings(wanted: str) -> None:
    """One name, written with one character or with two; what is shown is what came."""
    found = catalog(branded(COMPOSED), branded(DECOMPOSED), branded("Nestle"))
    for column in ("brand", "owner"):
        chosen = found.where(**{column: wanted}, unmatched="raise")
        assert ["0", "1"] == chosen.products["product_id"].tolist()
        assert [COMPOSED, DECOMPOSED] == chosen.products[column].tolist()
    assert ["2"] == found.where(brand=["Nestle"]).products["product_id"].tolist()
    many = [wanted, *(f"é{number}" for number in range(1_200))]
    assert 2 == len(found.where(brand=many))
    with pytest.raises(prodex.errors.QueryError, match="1 of 2 values"):
        found.where(brand=[COMPOSED, "Müller"], unmatched="raise")


def test_groups_and_facets_have_both_spellings_once() -> None:
    """A brand without an own code for each spelling, a tag and an owner are one group each."""
    found = catalog(branded(COMPOSED, COMPOSED), branded(DECOMPOSED, DECOMPOSED), branded("Mill", "M"))
    for by in ("brand", "tag", "owner"):
        groups = groups_of(found, by)
        assert {COMPOSED, "M" if by == "brand" else "Mill"} == set(groups.codes), by
        assert [0, 1] == groups.members(COMPOSED).tolist(), by


def test_two_spellings_of_a_brand_are_no_finding() -> None:
    """Nobody can see the difference; two codes for one name are found across both."""
    found = catalog(branded(COMPOSED), branded(DECOMPOSED))
    assert [0, 0] == audited(found, "brand_code_has_one_label").matrix.iloc[:, 0].tolist()
    found = catalog(branded(COMPOSED, "A"), branded(DECOMPOSED, "B"))
    assert [1, 1] == audited(found, "brand_has_one_code").matrix.iloc[:, 0].tolist()


def test_another_spelling_is_no_change() -> None:
    """Texts, labels and tags compare as people read them; the record itself is another."""
    both = [catalog(branded(name) | named("fra-FR", name)) for name in (COMPOSED, DECOMPOSED)]
    difference = prodex.diff(*both)
    assert ([], []) == (difference.changes.values.tolist(), difference.products.values.tolist())
    other = catalog(branded("Nestle") | named("fra-FR", DECOMPOSED + "!"))
    assert {"brand.label", "hasTags", "namePublicLong", "owner.name"} == set(
        prodex.diff(both[0], other).changes["attribute"]
    )


letters = st.text("aeéèüñçÅKΩ\N{COMBINING ACUTE ACCENT}\N{COMBINING RING ABOVE}한漢", min_size=1, max_size=5)


@given(st.lists(letters, min_size=1, max_size=6), st.data())
def test_where_finds_what_looks_the_same_and_nothing_else(names: list[str], data: st.DataObject) -> None:
    """For any names: exactly those whose composed form is that of the wanted one."""
    wanted = unicodedata.normalize(
        data.draw(st.sampled_from(["NFC", "NFD"])), data.draw(st.sampled_from(names))
    )
    found = catalog(*({"brand": {"code": "N", "label": name}} for name in names))
    same = [
        str(number)
        for number, name in enumerate(names)
        if unicodedata.normalize("NFC", name) == unicodedata.normalize("NFC", wanted)
    ]
    assert same == found.where(brand=wanted).products["product_id"].tolist()
    by = groups_of(found, "brand")
    assert len(names) == len(by.rows)


def test_what_was_sent_is_shown_as_it_was_sent() -> None:
    """Codes and letters in tables are those of the supplier."""
    found = catalog(named("iw-IL", DECOMPOSED, "iw"))
    assert [["iw-IL", "iw", DECOMPOSED]] == found.texts[["language_code", "language", "text"]].values.tolist()
    assert ("Hebrew (Israel)", "he-IL") == (language_label("iw-IL"), tag_of("iw-IL"))


@each_row("wanted", [COMPOSED, DECOMPOSED, f"{DECOMPOSED[:-2]}*"])
def test_a_check_of_one_brand_concerns_both_spellings(wanted: str) -> None:
    """The scope of a check names a brand as `where` does; the beginning of it, too."""
    found = catalog(branded(COMPOSED), branded(DECOMPOSED), branded("Mill"))
    only = {"checks": {"has_gpc_brick": {"only": {"brand": wanted}}}}
    assert [1, 1, 2] == prodex.audit(found, only, now=NOW).matrix.iloc[:, 0].tolist()
