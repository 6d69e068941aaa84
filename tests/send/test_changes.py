"""Corrections from frames are merged with the rest of the attribute, or refused with the reason."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mill_exchange import LANGUAGES, gtin, product, text

import prodex
from prodex import DELETE, ProductQuery
from prodex.catalog import Origin
from prodex.errors import ChangesRefused, ChangesStale, InputError


def catalog_of(*products, **query):
    """Make a catalogue as if it was loaded with a query."""
    catalog = prodex.flatten(products)
    if query:
        accept = query.pop("accept_language", None)
        origin = Origin("https://api.example.com", ProductQuery(**query), accept)
        return prodex.Catalog(catalog.parts, origin)
    return catalog


def long(*rows):
    """Make a frame in the long form."""
    return pd.DataFrame(rows, columns=["gtin", "attribute", "position", "language", "text"])


def one(frame, catalog, **options):
    """Return the only record that comes of it."""
    (record,) = catalog.changes_from(frame, **options).records
    return record


def test_the_frame_of_a_catalogue_is_no_change():
    """Neither its texts nor its wide form, also after a way through CSV."""
    catalog = catalog_of(product(1), product(2))
    wide = catalog.wide()
    csv = pd.read_csv(pd.io.common.StringIO(wide.to_csv(index=False)), dtype={"gtin": str, "product_id": str})
    for frame in (catalog.texts, wide, csv):
        changes = catalog.changes_from(frame)
        assert (0, ()) == (len(changes), changes.records)
    assert 0 == len(catalog.changes_from(catalog.wide("fr"), language="fr"))


def test_the_items_beside_a_correction_keep_every_key():
    """What the service sent along (sort, labels) goes back with it."""
    record = one(long((gtin(1), "description", None, "fr", "Très bon")), catalog_of(product(1)))
    assert {"gtin": gtin(1), "description": [{**text("fra-FR", "Très bon"), "sort": 1}]} == record


def test_a_language_that_is_new_gets_the_code_that_is_in_use():
    """From the product, else from the catalogue, else as given."""
    catalog = catalog_of(product(1), {"id": 9, "gtin": gtin(9), "nameLegal": [text("deu-DE", "Brot")]})
    record = one(long((gtin(9), "description", None, "fr", "Bon")), catalog)
    assert [{"expressedIn": {"code": "fra-FR"}, "data": "Bon"}] == record["description"]

    frame = long((gtin(9), "description", None, None, "Buono")).assign(language_code="ita-IT")
    assert [{"expressedIn": {"code": "ita-IT"}, "data": "Buono"}] == one(frame, catalog)["description"]
    with pytest.raises(
        ChangesRefused, match=r"its code needs a country. Name the language with it, such as ita-"
    ):
        catalog.changes_from(long((gtin(9), "description", None, "it", "Buono")))


def test_deleting_the_last_text_deletes_the_attribute():
    """Null, as the service wants it; a text that is not there is deleted already."""
    catalog = catalog_of(product(1))
    assert one(long((gtin(1), "description", None, "fr", DELETE)), catalog)["description"] is None
    assert () == catalog.changes_from(long((gtin(1), "description", None, "de", DELETE))).records


def test_texts_are_deleted_at_their_positions():
    """Two of three in one go, and the one that is left is corrected."""
    rows = [
        (gtin(1), "namePublicLong", str(n), None, value) for n, value in enumerate([DELETE, "New", DELETE])
    ]
    frame = long(*rows).assign(language_code=list(LANGUAGES))
    assert [text("eng-GB", "New")] == one(frame, catalog_of(product(1)))["namePublicLong"]


def test_wide_columns_of_values_and_codes_are_written_whole():
    """Flags, numbers and codes; as text out of a spreadsheet, too."""
    catalog = catalog_of(product(1))
    cells = {"is_consumer_unit": ["FALSE"], "life_cycle": [2.0], "brand_code": [77.0]}
    frame = pd.DataFrame({"gtin": [gtin(1)], **cells})
    assert {"gtin": gtin(1), "isConsumerUnit": False, "lifeCycle": 2, "brand": {"code": "77"}} == one(
        frame, catalog
    )
    assert one(pd.DataFrame({"gtin": [gtin(1)], "life_cycle": [DELETE]}), catalog)["lifeCycle"] is None


@pytest.mark.parametrize(
    ("column", "cell", "attribute", "value"),
    [
        ("life_cycle", "2.0", "lifeCycle", 2),
        ("life_cycle", " 2 ", "lifeCycle", 2),
        ("is_consumer_unit", 0.0, "isConsumerUnit", False),
    ],
)
def test_cells_are_read_as_frames_spell_them(column, cell, attribute, value):
    """A file that pandas wrote has 2.0 for 2, and 0.0 for no."""
    record = one(pd.DataFrame({"gtin": [gtin(1)], column: [cell]}), catalog_of(product(1)))
    assert (value, type(value)) == (record[attribute], type(record[attribute]))


@pytest.mark.parametrize("cell", [float("inf"), "9" * 5_000, "1,234", "12E3", "\u0662", 2.5, True, "sNaN"])
def test_what_is_no_whole_number_is_refused(cell):
    """With the column and the value; nothing crashes, and nothing takes long."""
    with pytest.raises(ChangesRefused, match="life_cycle takes a integer"):
        catalog_of(product(1)).changes_from(pd.DataFrame({"gtin": [gtin(1)], "life_cycle": [cell]}))


def test_a_code_keeps_what_stands_beside_it():
    """Its label and its picture are those of the old code; everything else is of the product."""
    brand = {"code": "ACME", "label": "Acme", "pictureUrl": "https://example.com/acme.png", "own": [1]}
    frame = pd.DataFrame({"gtin": [gtin(1)], "brand_code": ["BEST"]})
    assert {"code": "BEST", "own": [1]} == one(frame, catalog_of(product(1, brand=brand)))["brand"]


def test_a_description_that_is_no_label_stays():
    """Labels of our language stay here; a text that an item holds is no label."""
    item = {
        "code": "W1",
        "label": "Achtung",
        "description": [text("fra-FR", "Attention")],
        "text": [text("eng-GB", "Hot")],
    }
    catalog = catalog_of(
        {"id": 1, "gtin": gtin(1), "warnings": [item]}, target_market=250, accept_language="de"
    )
    (sent,) = one(long((gtin(1), "warnings.text", None, "en", "Very hot")), catalog)["warnings"]
    assert [text("fra-FR", "Attention")] == sent["description"]
    assert {"code", "description", "text"} == set(sent)


def test_labels_of_our_language_stay_here():
    """A catalogue with French labels does not write French labels to the service."""
    item = {"expressedIn": {"code": "eng-GB", "label": "Anglais", "description": "anglais"}, "data": "Bread"}
    catalog = catalog_of(
        {"id": 1, "gtin": gtin(1), "nameLegal": [item]}, target_market=250, accept_language="fr"
    )
    frame = long((gtin(1), "nameLegal", None, "en", "Loaf"))
    assert [{"expressedIn": {"code": "eng-GB"}, "data": "Loaf"}] == one(frame, catalog)["nameLegal"]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"source_include": ["brand"]}, "description was not requested"),
        ({"source_include": ["description.data"]}, "requested only in part"),
        ({"source_exclude": ["description"]}, "was not requested"),
        ({"source_exclude": ["description.sort"]}, "without a part"),
        ({"product_languages": ["fr"]}, "only in fr"),
    ],
)
def test_what_is_not_known_is_not_overwritten(query, why):
    """The rest of the attribute would be lost at the service."""
    frame = long((gtin(1), "description", None, "fr", "Meilleur"))
    with pytest.raises(ChangesRefused, match=why):
        catalog_of(product(1), **query).changes_from(frame)
    assert 1 == len(catalog_of(product(1), source_include=["description"]).changes_from(frame))


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((gtin(2), "description", None, "fr", "x"), "no product of GTIN"),
        ((gtin(1), "desciption", None, "fr", "x"), "did you mean 'description'"),
        (
            (gtin(1), "productBenefits.text", None, "fr", "x"),
            r"there are 2 texts.*column position.*0\.0, 1\.0",
        ),
        ((gtin(1), "productBenefits.text", None, "de", "x"), "it is not known which item"),
        ((gtin(1), "productBenefits.text", "7.0", "fr", "x"), "the catalogue has no text"),
        ((gtin(1), "productBenefits.text", "0.0", "en", "x"), "a text in fra-FR"),
        ((gtin(1), "description", None, None, "x"), "has no language"),
        ((gtin(1), "description", None, "klingon", "x"), "no language 'klingon'"),
        ((gtin(1), "description", None, "fr", 5), "Give text, or prodex.DELETE"),
        (("123", "description", None, "fr", "x"), "3 digits"),
    ],
)
def test_what_does_not_say_what_it_means_is_refused(row, why):
    """With the product, the attribute, and what to add."""
    with pytest.raises(InputError, match=why):
        catalog_of(product(1)).changes_from(long(row))


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("kind", "Bread", "cannot be written. Correct its code instead: kind_code"),
        ("texts_count", 3, "is derived from other data"),
        ("owner_id", "7", "maintained by the service"),
        ("is_consumer_unit", "perhaps", "takes a boolean"),
        ("life_cycle", "many", "takes a integer"),
        ("netContent", "1 kg", "sent as a whole, in records"),
        ("productBenefits.text.fr", "x", "several texts in one cell"),
    ],
)
def test_a_wide_cell_that_cannot_be_written_is_refused(column, value, why):
    """And says how it can be done."""
    frame = pd.DataFrame({"gtin": [gtin(1)], column: [value]})
    with pytest.raises(ChangesRefused, match=why):
        catalog_of(product(1)).changes_from(frame)


def test_a_frame_of_an_older_catalogue_is_stale():
    """Its updated_at is not that of the catalogue."""
    frame = catalog_of(product(1)).wide().assign(life_cycle=5)
    with pytest.raises(ChangesStale, match="Make the frame again"):
        catalog_of(product(1, updatedAt="2026-11-02T00:00:00")).changes_from(frame)


def test_two_products_of_one_gtin_are_refused():
    """By GTIN nobody knows which is read, and with the id still not which is written."""
    twice = catalog_of(product(1), {**product(2), "gtin": gtin(1)})
    row = long((gtin(1), "description", None, "fr", "x"))
    with pytest.raises(ChangesRefused, match="Add a column product_id to say which"):
        twice.changes_from(row)
    with pytest.raises(ChangesRefused, match="2 products of GTIN"):
        twice.changes_from(row.assign(product_id="2"))


def test_an_update_that_waits_is_not_overtaken():
    """An attribute with a pending update under lastRequest cannot be corrected."""
    pending = product(1, lastRequest={"description": [text("fra-FR", "Autre")]})
    with pytest.raises(ChangesRefused, match="waits for acceptance, so its value may still change"):
        catalog_of(pending).changes_from(long((gtin(1), "description", None, "fr", "x")))


def test_what_is_as_it_was_refuses_nothing():
    """An update that waits, a product without GTIN, one GTIN twice: no matter where nothing changes."""
    pending = product(1, lastRequest={"description": [text("fra-FR", "Autre")]})
    nameless = {"id": 8, "description": [text("fra-FR", "Bon")]}
    catalog = catalog_of(pending, nameless, product(2), {**product(3), "gtin": gtin(2)})
    assert 0 == len(catalog.changes_from(catalog.texts))
    with pytest.raises(ChangesRefused, match="Product 8 has no GTIN"):
        catalog.changes_from(catalog.texts.query("product_id == '8'").assign(text="x"))
    waiting = catalog.texts.query("attribute == 'lastRequest.description'").assign(text="x")
    with pytest.raises(ChangesRefused, match="lastRequest is maintained by the service"):
        catalog.changes_from(waiting)


def test_two_texts_for_one_place_are_refused():
    """Which of them counts would be left to chance."""
    rows = [(gtin(1), "description", None, "fr", word) for word in ("a", "b")]
    with pytest.raises(ChangesRefused, match="two different texts"):
        catalog_of(product(1)).changes_from(long(*rows))


@pytest.mark.parametrize("keys", [{}, {"gtin": [gtin(1)]}])
def test_a_frame_without_keys_is_refused(keys):
    """No product, or no language."""
    frame = pd.DataFrame({**keys, "attribute": ["description"], "text": ["x"]})
    with pytest.raises(InputError, match="has neither"):
        catalog_of(product(1)).changes_from(frame)


def test_the_preview_shows_before_and_after():
    """One row for each correction."""
    changes = catalog_of(product(1)).changes_from(long((gtin(1), "description", None, "fr", "x")))
    assert [[gtin(1), "description", "0", "fr", "Bon", "x"]] == changes.preview().to_numpy().tolist()
    assert "1 correction of 1 product" in repr(changes)


localized = st.builds(text, st.sampled_from(list(LANGUAGES)), st.text(min_size=1, max_size=5))


@pytest.mark.slow
@given(st.lists(localized, min_size=1, max_size=5), st.data())
def test_a_correction_changes_its_text_and_no_other(items, data):
    """Whatever texts there are: the one at its position, and the rest as it was."""
    place = data.draw(st.integers(0, len(items) - 1))
    catalog = catalog_of({"id": 1, "gtin": gtin(1), "description": items})
    texts = catalog.texts
    texts.loc[texts.position == str(place), "text"] = "corrected!"
    expected = json.loads(json.dumps(items))
    expected[place]["data"] = "corrected!"
    assert expected == one(texts, catalog)["description"]


def test_two_languages_of_one_row_are_refused():
    """Somebody changed one of the columns, and writing to the language of the other would spoil a good text."""
    catalog = catalog_of(product(1))
    texts = catalog.texts.query("attribute == 'description' and language == 'fr'")
    with pytest.raises(
        ChangesRefused, match=r"language 'nl' and the language_code 'fra-FR'.*leave the column"
    ):
        catalog.changes_from(texts.assign(language="nl", text="x"))
    odd = {**text("fra-FR", "Bon"), "expressedIn": {"code": "nld-NL", "normalizedCode": "fr"}}
    catalog = catalog_of({**product(1), "description": [odd]})
    texts = catalog.texts.query("attribute == 'description'")
    (record,) = catalog.changes_from(texts.assign(text="Beau")).records
    assert [{**odd, "data": "Beau"}] == record["description"]


def test_all_products_that_cannot_be_corrected_are_named_at_once():
    """One waits, two share a GTIN, and one can be corrected: what is left when the others are left out."""
    waits = {**product(2), "lastRequest": {"description": [text("fra-FR", "Neuf")]}}
    twins = [{**product(3), "id": 31}, {**product(3), "id": 32}]
    catalog = catalog_of(product(1), waits, *twins)
    texts = catalog.texts.query("attribute == 'description' and language == 'fr'").assign(text="Beau")
    with pytest.raises(ChangesRefused, match=r"^3 of 4 products cannot be corrected\. .*\.refused") as told:
        catalog.changes_from(texts)
    refused = told.value.refused
    assert ["product_id", "gtin", "problem"] == list(refused.columns)
    left = texts[~texts["product_id"].isin(refused["product_id"])]
    assert [gtin(1)] == [record["gtin"] for record in catalog.changes_from(left).records]
    with pytest.raises(
        ChangesRefused, match=r"waits for acceptance.* in \.refused of this error: without it the other 1 can"
    ):
        catalog.changes_from(texts[texts["product_id"].isin(["1", "2"])])


@pytest.mark.parametrize(
    ("held", "frame", "words"),
    [
        ({"brand": "ACME"}, {"brand_code": "MILL"}, "brand_code is not one code but 'ACME'"),
        ({"brand": [{"code": "ACME"}]}, {"brand_code": "MILL"}, "brand_code is not one code but"),
        (
            {"isConsumerUnit": [True]},
            {"is_consumer_unit": False},
            "isConsumerUnit is a list, and would become a bare value",
        ),
        (
            {"unitType": {"code": "A"}},
            {"unit_type": "B"},
            "unitType is an object, and would become a bare value",
        ),
    ],
)
def test_a_correction_never_rewrites_a_container(held, frame, words):
    """A value in another container than the declared one is refused by the name of its attribute, and stays."""
    catalog = catalog_of({"id": 1, "gtin": gtin(1), **held})
    with pytest.raises(ChangesRefused, match=words):
        catalog.changes_from(pd.DataFrame([{"product_id": "1", **frame}]))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Riz", "nameLegal is not a list of texts but a bare value"),
        ({"fr": "Riz"}, "nameLegal is not a list of texts but an object"),
        ([{"fr": "Riz"}], "nameLegal is not a list of texts but a list with other items than texts"),
        ({"1": text("fra-FR", "Riz")}, "nameLegal is an object with numbers as keys in place of a list"),
    ],
)
def test_texts_that_are_no_list_of_texts_are_refused(name, words):
    """Nothing is written beside texts that cannot be read, or in place of them."""
    catalog = catalog_of({"id": 1, "gtin": gtin(1), "nameLegal": name}, product(2))
    with pytest.raises(ChangesRefused, match=words):
        catalog.changes_from(long((gtin(1), "nameLegal", None, "fr", "Riz long")))


@pytest.mark.parametrize(
    "item",
    [
        {"expressedIn": {"code": "fra-FR"}, "data": ["Riz"]},
        {"expressedIn": {"normalizedCode": "fr-FR"}, "data": {"text": "Riz"}},
        {"expressedIn": {"code": "fra-FR"}, "data": 5},
        {"expressedIn": "fra-FR", "data": None},
        {"expressedIn": [{"code": "fra-FR"}], "data": "Riz"},
    ],
)
def test_a_text_of_another_form_gets_no_twin(item):
    """Where an item may be the text and cannot be read, none is written beside it; other languages are written."""
    catalog = catalog_of({"id": 1, "gtin": gtin(1), "nameLegal": [item]}, product(2))
    with pytest.raises(
        ChangesRefused, match=r"nameLegal\[0\] may be the text in fr-FR, and is of another form"
    ):
        catalog.changes_from(long((gtin(1), "nameLegal", None, "fr-FR", "Riz long")))
    if not isinstance(item["expressedIn"], list):
        dutch = catalog.changes_from(long((gtin(1), "nameLegal", None, "nl-NL", "Rijst")))
        added = {"expressedIn": {"code": "nld-NL"}, "data": "Rijst"}
        assert [item, added] == dutch.records[0]["nameLegal"]


def test_an_answer_never_rewrites_a_container(tmp_path):
    """An answer for an attribute that is there in another container is refused by its name, and changes nothing."""
    names = {"nameLegal": [text("fra-FR", "Riz")]}
    catalog = catalog_of(
        {"id": 1, "gtin": gtin(1), **names, "brand": "ACME", "netContent": {"1": {"data": 5}}}
    )
    path = tmp_path / "answers.csv"
    rows = [[gtin(1), "brand", "MILL"], [gtin(1), "netContent", "600 GRM"]]
    pd.DataFrame(rows, columns=["GTIN", "Attribute", "New value"]).to_csv(path, index=False)
    fix = prodex.read_worklist(path, catalog)

    assert fix.preview().empty
    for attribute in ("brand", "netContent"):
        assert f"the product has {attribute} of another form. Correct it at its source." in str(fix)
