"""The card of a product: what it says of each part, and how it tells the faces of what is missing apart."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Origin
from prodex.errors import InputError
from prodex.exploration.card.record import indented
from prodex.notebook.card_html import card_html
from prodex.notebook.views.card_contents import CardContents, read_card
from prodex.pictures.thumbnails import Thumbnail
from prodex.query import ProductQuery
from prodex.untrusted_text import words
from prodex_sandbox.sample import shared_products
from tests.cases import each_row
from tests.notebook.card_products import CASE, EACH, PACK, PALLET, rich, text
from tests.quality import hostile
from tests.quality.reading_html import Node, parsed

from . import canary
from .test_card_laws import shown


def of(*records: dict[str, Any], audit: str | None = None, query: ProductQuery | None = None) -> CardContents:
    """Return the card of the first of these products."""
    catalog = prodex.flatten(records)
    if query is not None:
        catalog = replace(catalog, origin=Origin("https://exchange.example", query))
    judged = None if audit is None else prodex.audit(catalog, audit, progress=False)
    return read_card(catalog, catalog.products["product_id"][0], judged)


def part(made: CardContents, title: str) -> Node:
    """Return the section of a card with this heading."""
    (found,) = [
        one
        for one in parsed(made.html).all("section")
        if one.all("h4") and one.all("h4")[0].words.startswith(title)
    ]
    return found


def facts(section: Node) -> dict[str, str]:
    """Return the values of a section by their labels."""
    return {
        term.words: value.words
        for term, value in zip(
            section.all("strong", class_="term"), section.all("span", class_="value"), strict=True
        )
    }


def inside(node: Node, name: str, look: str = "") -> list[Node]:
    """Return the elements that are directly in another."""
    found = [one for one in node.inside if isinstance(one, Node) and one.name == name]
    return [one for one in found if look in one.attributes.get("class", "")]


def roots(hierarchy: Node, number: int = 0) -> list[Node]:
    """Return the outermost units of the logistical hierarchies, or of the sharing units."""
    return inside(inside(hierarchy, "ul", "tree")[number], "li")


def units(unit: Node) -> list[tuple[str, list[str]]]:
    """Return the GTIN of a unit and how many of it there are, and those of the first unit in it and so on."""
    own = (inside(unit, "span", "gtin")[0].words, [one.words for one in inside(unit, "span", "times")])
    below = [one for tree in inside(unit, "ul", "tree") for one in inside(tree, "li")]
    return [own, *(units(below[0]) if below else [])]


def row(section: Node, attribute: str) -> list[str]:
    """Return the cells of a line of the texts."""
    (found,) = [cells for cells in section.rows() if cells[0] == attribute]
    return found[1:]


def test_the_head_says_what_it_is() -> None:
    """The header has the name in a language of its market, GTIN, check digit, brand, kind, owner and market."""
    page = parsed(of(rich()).html)
    gtin = page.one("strong", class_="copy")

    assert "Halfvolle melk update pending" == page.all("h3")[0].words
    assert EACH == gtin.words
    assert "✓ check digit correct" in page.words
    assert ["Lait Dupont 4017", "Milk MILK", "Laiterie Dupont", "Belgium 56", "Each EACH"] == [
        one.words for one in page.all("div", class_="facts")[0].all("span", class_="value")
    ]


def test_statuses_go_by_name() -> None:
    """Statuses are shown by name, with the number of the service."""
    assert {
        "Sharing": "PENDING 3",
        "Validation": "CORRECTION 3",
        "Product status": "TO_BE_VALIDATED",
        "Regulatory": "WAITING",
        "Suggestions": "2",
    } == facts(part(of(rich()), "Status"))


def test_a_status_that_nobody_knows_is_shown_as_it_is() -> None:
    """A status without a name is shown as its number."""
    assert "9" == facts(part(of({"id": 7, "manufacturerSharingStatus": 9}), "Status"))["Sharing"]


def test_flags_say_yes_no_and_nothing() -> None:
    """A missing answer is neither yes nor no, and absent is not null."""
    made = of({"id": 7, "isConsumerUnit": True, "isOrderableUnit": False, "isInvoiceUnit": None})
    said = [[one.words for one in line.all("span")] for line in part(made, "Properties").all("li")]
    flags = dict(said)

    assert ("consumer unit", "orderable", "invoice unit") == (
        flags["yes"],
        flags["no"],
        flags["not specified (null)"],
    )
    assert "display unit" in flags["not specified (absent)"]


@each_row(
    ("gtin", "said"),
    [
        (EACH, "check digit correct"),
        ("03091033779528", "check digit 8 is wrong, expected 7"),
        ("3091033779527", f"check digit correct; with all 14 digits {EACH}"),
        ("<b>1</b>", "not a GTIN: 14 digits expected"),
        (None, "no GTIN: null"),
    ],
)
def test_a_gtin_is_judged_in_words(gtin: str | None, said: str) -> None:
    """A GTIN is correct, or the card states what is wrong with it."""
    page = parsed(of({"id": 7, "gtin": gtin}).html)
    (judged,) = [one for one in page.all("span") if one.attributes.get("class", "").startswith("digits")]

    assert said == judged.words.partition(" ")[2]


def test_the_four_faces_of_a_missing_text() -> None:
    """Absent, null, empty and not requested are four different reasons for a missing text."""
    texts = part(of(rich()), "Texts")
    asked = part(of(rich(), query=ProductQuery(product_languages=["nl"])), "Texts")

    assert ["Halfvolle melk", "absent", "حليب نصف دسم"] == row(texts, "Long name")
    assert ["Melk", "empty", "absent"] == row(texts, "Short name")
    assert ["Gepasteuriseerde melk", "null", "absent"] == row(texts, "Legal name")
    assert ["null"] == row(texts, "Ingredients")
    assert ["empty"] == row(texts, "Allergens")
    assert "not asked for" == row(asked, "Long name")[1]


def test_the_four_faces_of_other_parts() -> None:
    """A part without data states why: absent, null, empty, or not requested."""
    made = of({"id": 7, "isPartitionedBy": None, "assets": {"pictures": []}})
    not_asked = of({"id": 7}, query=ProductQuery(source_include=["namePublicLong"]))

    assert "None: null." in part(made, "Nutrients").words
    assert "None: empty." in part(made, "Pictures").words
    assert "Labels and certificates: absent" in part(made, "No data").words
    assert "None: not asked for." in part(not_asked, "Pictures").words
    assert "not asked for" == facts(parsed(not_asked.html).all("div", class_="facts")[0])["Brand"]


def test_languages_of_the_market_are_there_even_without_a_text() -> None:
    """Belgium requires Dutch and French: both have a column."""
    headings = [
        one.words for one in part(of({"id": 7, "product_key": {"target_market_id": 56}}), "Texts").all("th")
    ]

    assert ["Attribute", "Dutch required", "French required"] == headings[:3]


def test_an_audit_adds_the_texts_that_it_looks_for() -> None:
    """A text that a check looks for has a row even if it is missing."""
    checks = {"required_text": {"attribute": "benefits", "language": "de"}}
    profile = {"attributes": ["benefits"], "checks": checks}
    catalog = prodex.flatten([{"id": 7}])
    made = read_card(catalog, "7", prodex.audit(catalog, profile, progress=False))

    assert ["absentBenefits missing in German"] == row(part(made, "Texts"), "Benefits")
    assert "German" in part(made, "Texts").words


def test_several_texts_of_one_attribute_are_a_list() -> None:
    """All texts are listed, with their language code where it differs."""
    made = of({"id": 7, "synonyms": [{"text": [text("fra-FR", "lait"), text("fra-BE", "du lait")]}]})
    (line,) = [one for one in made.texts.lines if one.attribute.text == "Synonyms: text"]
    (cell,) = [one for one in line.cells if one.texts]

    assert [("lait", "fra-FR"), ("du lait", "fra-BE")] == [(one.text.text, one.tag) for one in cell.texts]


def test_long_texts_are_folded_and_whole() -> None:
    """A text of forty thousand characters is complete in a fold that states its length."""
    long = "Ω" * 40_000
    page = parsed(of({"id": 7, "namePublicLong": [text("ell-GR", long)]}).html)
    (folded,) = [
        one
        for one in page.all("details")
        if "40,000 characters" in one.all("summary")[0].words and one.all("div")
    ]

    assert long == folded.all("div")[0].text
    assert ["el"] == [one.attributes["lang"] for one in page.all("td") if "lang" in one.attributes]


def test_more_texts_than_fit_are_counted() -> None:
    """Texts that are left out are counted as "n of N"."""
    made = of({"id": 7, "synonyms": [text("fra-FR", f"mot {number}") for number in range(1_203)]})

    assert "1,000 of 1,203 texts" in part(made, "Texts").words


def test_an_update_that_waits_shows_what_would_change() -> None:
    """Current and pending values are side by side, including values that would be removed."""
    rows = part(of(rich()), "Update pending").rows()

    assert [
        ["Brand: label", "", "Lait Dupont", "Lait Dupont & fils"],
        ["Orderable unit", "", "false", "true"],
        ["Long name", "Arabic", "حليب نصف دسم", "no longer there"],
        ["Long name", "French", "absent", "Lait demi-écrémé"],
        ["Net content", "", "1.5 ltr", "1 ltr"],
        ["Net content", "item 2", "1500 mlt", "no longer there"],
        ["Country of origin: code", "", "056", "null"],
        ["Country of origin: label", "", "Belgium", "null"],
        ["Updated at", "", "2025-10-29T17:00:00", "2026-08-20T07:00:00"],
    ] == rows


def test_without_an_update_nothing_waits() -> None:
    """Without a pending update, neither the mark nor the section is shown."""
    assert "pending" not in of({"id": 7, "lastRequest": None}).html


def test_a_name_that_only_waits_is_called_so() -> None:
    """A product without a name is shown by the name of its pending update."""
    made = of({"id": 7, "lastRequest": {"namePublicLong": [text("fra-FR", "Citron")]}})

    assert "This name is part of the pending update" in parsed(made.html).words
    assert "Citron" == made.name.text


def test_the_hierarchy_is_a_tree() -> None:
    """Each unit states how many of it are in the unit around it, and in total."""
    hierarchy = part(of(rich()), "Hierarchy")
    pallet, case = roots(hierarchy)
    (shared,) = roots(hierarchy, 1)

    assert [
        (PALLET, []),
        (CASE, ["× 10"]),
        (PACK, ["× 20", "= 200 in total"]),
        (EACH, ["× 20", "= 4,000 in total"]),
    ] == units(pallet)
    assert [["× unknown"], ["× 20", "total unknown"]] == [times for _, times in units(case)[1:]]
    assert ["Logistical hierarchies", "Sharing units"] == [one.words for one in hierarchy.all("h5")]
    assert ("active listing" in pallet.words, "active listing" in shared.words) == (True, False)


def test_cycles_and_several_parents_survive() -> None:
    """A case that contains itself is marked, and so is a product in two units."""
    _, case = roots(part(of(rich()), "Hierarchy"))
    inner, product = case.all("li")[:2]

    assert [1, 1] == [one.words.count("contains itself") for one in (case, inner)]
    assert "packed in 2 different units" in product.words
    assert "this product" in product.words


def test_a_hierarchy_without_end_is_shown_to_an_end() -> None:
    """A hundred levels are shown; units that are too deep are shown next to each other."""
    node: dict[str, Any] = {"gtin": "last"}
    for level in range(120):
        node = {"gtin": f"level {level}", "quantity": 1, "children": [node]}
    made = of({"id": 7, "logisticalHierarchies": [node]})

    assert "121 units" in [one.words for one in part(made, "Hierarchy").all("p")]
    assert "last" in shown(made.html)


def test_pictures_are_facts() -> None:
    """Pictures are described with their size and their contradictions, and the browser loads none."""
    made = of(rich())
    page = parsed(made.html)
    pictures = part(made, "Pictures")

    assert ["1. front 3,000 × 2,400 pixels packshot", "2. face not specified size not specified"] == [
        one.words for one in pictures.all("h5")
    ]
    assert [
        "The file name contains another GTIN.",
        "The file name says back, productFace says front.",
        "The size as text is 1,200 × 900.",
    ] == [one.words for one in pictures.all("ul", class_="list disagreements")[0].all("li")]
    assert [] == page.all("img") + page.all("a") + page.all("link") + page.all("iframe")
    assert "https://evil.example/front_512.jpg" in page.text


def test_images_are_bytes_with_words() -> None:
    """Images that were loaded are in the page itself; a missing one states the reason."""
    made = of(rich())
    images = {
        "0": Thumbnail(product_id="7", bytes=b"picture"),
        "1": Thumbnail(product_id="7", problem="the file is <gone>"),
    }
    page = parsed(card_html(made, images))
    (image,) = page.all("img")

    assert image.attributes["src"].startswith("data:image/jpeg;base64,")
    assert "Picture 1: front, packshot" == image.attributes["alt"]
    assert "the file is <gone>" in page.text


def test_nutrients_go_by_partition() -> None:
    """Nutrients per 100 ml and per glass are two tables, each with units and shares of the daily intake."""
    nutrients = part(of(rich()), "Nutrients")
    tables = nutrients.all("table")

    for said in ("Nutrients per 100 ml (100 MLT): 1 nutrient", "Nutrients per a glass (250 MLT): 1 nutrient"):
        assert said in nutrients.words
    assert [["Fat", "FAT", "4", "g", "GRM", "6"]] == tables[1].rows()


def test_tags_of_two_lists_are_one() -> None:
    """A tag with a date and the same tag by name alone are one row."""
    assert [["exportable", "2025-08-14 21:00:00", "hasTags, isTaggedBy"], ["summer", "–", "hasTags"]] == part(
        of(rich()), "Tags"
    ).rows()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed")
@pytest.mark.parametrize(
    ("zone", "shown"),
    [("UTC", "2026-10-26 07:33:20 UTC"), ("Asia/Tokyo", "2026-10-26 16:33:20 JST")],
)
def test_dates_say_their_zone(monkeypatch: pytest.MonkeyPatch, zone: str, shown: str) -> None:
    """A date in UNIX seconds is shown in this machine's zone; the others are the service's, which the card states."""
    try:
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        made = of(rich())
        assert shown in part(made, "Documents").words
        assert "that of this machine" in part(made, "Numbers and dates").words
        assert "in local time of the service" in part(made, "Numbers and dates").words
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.slow
def test_codes_have_their_labels_in_further_languages(service: prodex.service.Client) -> None:
    """Labels that were loaded in another language are next to those of the record."""
    (first,) = shared_products(1)
    query = ProductQuery(gtins_in=[first.record["gtin"]])
    catalog = prodex.load_products(service, query, labels=["fr"], progress=False)
    made = read_card(catalog, catalog.products["product_id"][0])

    assert "Label (fr)" in [one.words for one in part(made, "Codes").all("th", scope="col")]


def test_an_audit_is_told_in_words() -> None:
    """The audit of a card has score, grade, and failed checks with reason and fix; other checks are folded."""
    made = of(rich(), audit="online-listing")
    section = part(made, "Quality by online-listing")
    figures = [one.words for one in section.one("ul", class_="list card-tiles").all("li")]
    assert ["Ready no", "To fix 17"] == figures[2:]
    assert "blocker" == section.one("ul", class_="list failed").all("li")[0].all("span")[0].words
    assert "pending: filled as soon as the update is accepted" in section.words
    assert "How to fix it: Write the long name in French." in section.words
    assert "checks passed" in section.words


def test_unknown_is_not_a_pass() -> None:
    """A check of an attribute that was not requested neither passes nor fails."""
    query = ProductQuery(source_include=["namePublicLong"])
    profile = {"checks": {"has_front_packshot": {"severity": "blocker"}}}
    catalog = replace(prodex.flatten([{"id": 7}]), origin=Origin("https://exchange.example", query))
    made = read_card(catalog, "7", prodex.audit(catalog, profile, progress=False))

    assert "Ready undecided" in part(made, "Quality").words
    assert "1 check unknown" in part(made, "Quality").words


def test_an_audit_of_other_products_says_so() -> None:
    """A product that the audit does not cover has no score."""
    catalog = prodex.flatten([{"id": 7}])
    other = prodex.audit(prodex.flatten([{"id": 8}]), "core", progress=False)

    assert "does not cover this product" in part(read_card(catalog, "7", other), "Quality").words


@pytest.mark.slow
def test_the_audit_of_a_card_is_the_audit() -> None:
    """Score, grade and findings of a card are those of the audit."""
    records = [rich(), {"id": 8, "gtin": "03036811359936"}, {"id": 9}]
    catalog = prodex.flatten(records)
    audit = prodex.audit(catalog, "online-listing", progress=False)
    for product in audit.products.to_dict("records"):
        quality = part(read_card(catalog, product["product_id"], audit), "Quality")
        failed = inside(quality.one("ul", class_="list failed"), "li")
        found = [finding.words for one in failed for finding in one.all("li")]
        reasons = audit.failures(product_id=product["product_id"])["reason"].fillna("").tolist()

        assert f"Grade {product['grade']}" in quality.words
        assert (product["failed"], len(reasons)) == (len(failed), len(found))
        assert [] == [one for one in reasons if not any(one in line for line in found)]


def test_the_record_is_shown_as_received() -> None:
    """Indenting keeps repeated keys, the spelling of numbers, and lone surrogates."""
    received = '{"id":7,"a":1.50,"a":[],"b":"\\ud83d \\u00e9, {x}","c":{"d":[1,{"e":null}]}}'
    laid = indented(received)

    assert received == "".join(one.strip().replace(": ", ":", 1) for one in laid.split("\n"))
    assert 10 < len(laid.split("\n"))
    assert indented("{" * 5_000)
    assert json.loads(received) == json.loads(laid)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('ab{}[],:"\\\n é\ud83d', max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("a{:\\", max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(_JSON, st.booleans(), st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:")]))
def test_every_record_is_laid_out_alike(value: Any, is_ascii: bool, separators: tuple[str, str]) -> None:
    """Also what no reader of JSON takes: half a character, or a number that is none."""
    for one in ([value], [value, float("nan")]):
        received = json.dumps(one, ensure_ascii=is_ascii, separators=separators)
        assert json.dumps(one, ensure_ascii=is_ascii, indent=2) == indented(received)


def test_half_a_character_survives() -> None:
    """A character that no file can hold is shown as its escape."""
    made = of({"id": 7, "namePublicLong": [text("fra-FR", "half \ud83d")]})

    assert "half \\ud83d" in part(made, "Texts").text
    made.html.encode()


def test_a_product_that_is_not_there_is_named_with_its_neighbours() -> None:
    """The error names similar ids, or the product whose GTIN was given."""
    catalog = prodex.flatten([{"id": 1234567, "gtin": "03036811359935"}, {"id": 7}])
    with pytest.raises(InputError, match=r"There is no product 1234568 among 2\. Similar ids are 1234567\."):
        read_card(catalog, "1234568")
    with pytest.raises(InputError, match="It is the GTIN of product 1234567: give that id"):
        read_card(catalog, "3036811359935")
    with pytest.raises(InputError, match="has all ids"):
        read_card(catalog, "zzz")


@pytest.mark.slow
@each_row("number", range(1, len(hostile.STRINGS) + 1))
def test_what_suppliers_type_is_shown_letter_by_letter(number: int) -> None:
    """Markup, formulas and directions are shown as they were typed, and become no elements."""
    page = parsed(read_card(hostile.catalog(), str(number)).html)

    assert hostile.STRINGS[number - 1] in page.text
    assert not {"script", "svg", "base", "title", "b"} & {one.name for one in page.walk()}
    assert not [key for one in page.walk() for key in one.attributes if key.startswith("on")]


def test_control_characters_are_seen() -> None:
    """Characters that a browser would drop are shown as symbols."""
    assert (
        hostile.CONTROLS[1] in parsed(read_card(hostile.catalog(), str(len(hostile.STRINGS) + 1)).html).text
    )


@pytest.mark.slow
def test_no_card_asks_for_anything() -> None:
    """Addresses are text: no element of a card loads anything, and no formula is typeset."""
    catalog = canary.catalog()
    for product in catalog.products["product_id"]:
        page = parsed(read_card(catalog, product)._repr_html_())
        outside = [
            (one.name, key)
            for one in page.walk()
            for key in one.attributes
            if key in {"src", "href", "srcset", "background", "poster", "data", "action", "style"}
        ]

        assert [] == outside
        assert page.all("div", class_="prodex mathjax_ignore")
        assert canary.ADDRESS in page.text


def test_every_table_says_what_it_is() -> None:
    """Tables have captions and headings, and regions that scroll have a name and are reached by keyboard."""
    page = parsed(of(rich(), audit="online-listing").html)

    assert all(one.all("caption") for one in page.all("table"))
    assert all("scope" in one.attributes for one in page.all("th"))
    regions = [one for one in page.walk() if one.attributes.get("role") == "region"]
    assert regions
    assert all({"aria-label", "tabindex"} <= one.attributes.keys() for one in regions)


def test_a_snapshot_gives_the_same_card() -> None:
    """The card is the same from disk and from memory, and from a selection."""
    catalog = prodex.flatten([rich(), {"id": 8}])
    saved = catalog.save("shop")
    once = read_card(catalog, "7").html

    assert once == read_card(saved, "7").html
    assert once == read_card(prodex.open_snapshot("shop").where(product_id="7"), "7").html


def test_a_card_says_what_it_is() -> None:
    """The repr names the product and counts its contents."""
    assert "CardContents(product '7', 'Halfvolle melk', 9 texts, 2 pictures)" == repr(of(rich()))
    assert words("x").text in of({"id": "x"}).html


def test_the_head_stays_short() -> None:
    """A brand with forty thousand characters is cut and counted."""
    made = of({"id": 7, "brand": {"code": "x" * 40_000, "label": "y" * 40_000}, "gtin": "9" * 40_000})
    brand = parsed(made.html).all("div", class_="facts")[0].all("span", class_="value")[0]

    assert 2 == brand.words.count("(160 of 40,000 characters)")
    assert "2,000 of 40,000 characters" in part(made, "Codes").words


def test_a_name_is_in_the_language_of_the_market() -> None:
    """The name is French in France, whatever comes first, and English elsewhere."""
    names = [text("deu-DE", "Milch"), text("eng-GB", "Milk"), text("fra-FR", "Lait")]

    assert (
        "Lait" == of({"id": 7, "product_key": {"target_market_id": 250}, "namePublicLong": names}).name.text
    )
    assert "Milk" == of({"id": 7, "namePublicLong": names}).name.text


def test_codes_have_labels_and_descriptions() -> None:
    """Codes of the product itself come first."""
    codes = part(of({"id": 7, "brand": {"code": 4017, "description": "Since 1897"}}), "Codes")

    assert ["Attribute", "Code", "Description"] == [one.words for one in codes.all("th", scope="col")]
    assert [["brand", "4017", "Since 1897"]] == codes.rows()


def test_partitions_of_one_name_stay_apart() -> None:
    """Two lists of nutrients with the same partition are two tables."""
    fat = {"isConceptualizedBy": {"code": "FAT"}, "quantity": 1}

    made = of({"id": 7, "isPartitionedBy": [{"name": "100 g", "contains": [fat]}] * 2})

    assert 2 == len(part(made, "Nutrients").all("table"))


def test_an_update_may_empty_what_is_not_there() -> None:
    """Null instead of absent is a change, though no value is added or removed."""
    made = of({"id": 7, "lastRequest": {"description": None, "lifeCycle": 2}})

    assert [["Description", "", "absent", "null"], ["Life cycle", "", "absent", "2"]] == part(
        made, "Update pending"
    ).rows()


def test_what_has_no_gtin_is_not_this_product() -> None:
    """Two units without a GTIN are not the same."""
    made = of({"id": 7, "logisticalHierarchies": [{"uuid": "a"}]})

    assert "no GTIN" in part(made, "Hierarchy").words
    assert "this product" not in part(made, "Hierarchy").words


@pytest.mark.slow
def test_whatever_is_left_out_is_counted() -> None:
    """A huge record gives a readable page that states how much is left out."""
    fat = [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 1}]
    made = of(
        {
            "id": 7,
            "description": [text(f"x{number}", "word") for number in range(300)],
            "isPartitionedBy": [{"name": f"{number} g", "contains": fat} for number in range(40)],
            "shelf": [{"code": number} for number in range(500)],
            "assets": {"pictures": [{"url": f"https://evil.example/{number}"} for number in range(90)]},
            "logisticalHierarchies": [
                # The first of those that are shown and all that are not have more values than a unit shows.
                {"gtin": str(number), "notes": [str(note) for note in range(100)]}
                if number < 40 or number >= 400
                else {"gtin": str(number), "notes": ["0"]}
                for number in range(450)
            ],
            "lastRequest": {"seasons": list(range(400))},
        }
    )

    for title, said in {
        "Texts": "24 of 300 texts, 24 of 300 languages",
        "Nutrients": "12 of 40 tables",
        "Codes": "300 of 500 codes",
        "Pictures": "60 of 90 pictures",
        "Hierarchy": "400 of 450 units",
        "Update": "300 of 400 changes",
    }.items():
        assert said in part(made, title).words
    assert "60 of 100 more values" in part(made, "Hierarchy").words
    assert "60 of 5,000 values of units that are not shown" in part(made, "Hierarchy").words
    assert len(made.html) < 1_000_000


def test_only_known_languages_are_told_to_a_browser() -> None:
    """A text has its language for screen readers, if browsers know the language."""
    made = of({"id": 7, "nameLegal": [text("fra-FR", "lait"), text('xx" onload="1', "lait")]})

    assert ["fr"] == [
        one.attributes["lang"] for one in parsed(made.html).all("td") if "lang" in one.attributes
    ]


def test_no_text_turns_our_words_around() -> None:
    """A mark of direction that a text leaves open ends with the text."""
    page = parsed(of({"id": 7, "brand": {"code": "x", "label": "a \u2066b \u202ec"}, "gtin": EACH}).html)
    shown = [one.text for one in page.all("bdi") if "\u2066" in one.text]

    assert shown
    assert all(one.count("\u2066") == one.count("\u2069") for one in shown)
