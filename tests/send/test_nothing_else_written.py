"""What nobody meant is not written: parts that were not loaded, labels of a language, empty cells, another product."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
import xlsxwriter
from mill_exchange import gtin, product, text
from tests.on_the_way import carried

import prodex
from prodex import ProductQuery
from prodex.errors import ChangesRefused, InputError, PreflightFailed
from prodex.sandbox import Sandbox
from prodex.service import Client

COUNTRIES = [{"code": "FR", "label": "France"}, {"code": "DE", "label": "Germany"}]
CONTENTS = [
    {"data": 500, "expressedIn": {"code": "GRM", "label": "gram"}},
    {"data": 2, "expressedIn": {"code": "LTR", "label": "litre"}},
]
LABELS = {
    ("FR", "France"): {"fr": "La France"},
    ("DE", "Germany"): {"fr": "Allemagne"},
    ("LTR", "litre"): {"fr": "Litre (fr)"},
}


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve two products to a retailer; labels are in English, and in French for who asks so."""
    records = [product(number, originCountry=COUNTRIES, netContent=CONTENTS) for number in (1, 2)]
    with Sandbox(records, labels=LABELS) as sandbox:
        yield sandbox


def connected(exchange: Sandbox, accept_language: str | None = None) -> Client:
    """Return a client."""
    own = exchange.credentials[0]
    keys = {"client_id": own["client_id"], "client_secret": own["client_secret"]}
    return prodex.connect(exchange.base_url, accept_language=accept_language, **keys)


def stored(exchange: Sandbox, number: int = 1) -> list[dict[str, Any]]:
    """Return what the service has of the products of a GTIN, without the date."""
    page = connected(exchange).search_products(ProductQuery(gtins_in=[gtin(number)]))
    return [{**json.loads(bytes(one)), "updatedAt": None} for one in page.envelope.data]


def written(number: int = 1, **attributes: Any) -> dict[str, Any]:
    """Return a record that can be sent."""
    return {"gtin": gtin(number), "namePublicLong": product(number)["namePublicLong"], **attributes}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"product_languages": ["fr"]}, "namePublicLong: it was loaded only in fr"),
        (
            {"source_include": ["gtin", "namePublicLong.data"]},
            "namePublicLong: it was requested only in part",
        ),
        ({"source_exclude": ["namePublicLong.data"]}, "namePublicLong: it was loaded without a part of it"),
    ],
)
def test_a_catalogue_that_lacks_a_part_of_an_attribute_is_not_sent(
    exchange: Sandbox, query: dict[str, Any], why: str
) -> None:
    """The texts in other languages would be gone at the service."""
    service, before = connected(exchange), stored(exchange)
    catalog = prodex.load_products(service, ProductQuery(**query), name="part", progress=False)
    assert () == prodex.upsert(service, catalog, dry_run=True).payloads
    with pytest.raises(PreflightFailed, match="would be lost") as caught:
        prodex.upsert(service, catalog, progress=False)
    found = caught.value.findings
    assert any(f"{row.attribute}: {row.problem}".startswith(why) for row in found.itertuples())
    assert before == stored(exchange)


def test_whole_attributes_of_a_catalogue_are_sent(exchange: Sandbox) -> None:
    """Others were not requested, and stay as they are."""
    service, before = connected(exchange), stored(exchange)
    query = ProductQuery(source_include=["gtin", "namePublicLong"])
    catalog = prodex.load_products(service, query, name="whole", progress=False)
    assert "SUCCESS" == prodex.upsert(service, catalog, progress=False).wait(progress=False).status
    assert before == stored(exchange)


def test_the_products_of_a_workbook_are_not_sent_in_part(exchange: Sandbox, tmp_path: Any) -> None:
    """It has no columns of the other languages and fields, and a cell in it is no number."""
    rows = [
        ["gtin", "updatedAt", "namePublicLong", "assets.pictures.url", "netContent", "originCountry"],
        ["GTIN", "Changed", "Name", "Picture", "Content", "Country"],
        ["", "", "French", "", "GRM", ""],
        [""],
        [gtin(1), "2026-11-01T12:00:00", "Riz", "https://example.com/9.jpg", "12x", "France∣FR"],
    ]
    with xlsxwriter.Workbook(tmp_path / "platform.xlsx") as book:
        sheet = book.add_worksheet("Products")
        for number, row in enumerate([["Our list"], [""], [""], *rows]):
            sheet.write_row(number, 0, row)
    catalog = prodex.read_workbook(tmp_path / "platform.xlsx")
    findings = prodex.upsert(connected(exchange), catalog, dry_run=True).findings
    said = {row.attribute: row.problem for row in findings.itertuples() if row.severity == "error"}
    rest = ", and a write replaces all of it: the missing part would be lost"
    assert {
        "assets": f"it is from a file with columns only of assets.pictures.url{rest}",
        "namePublicLong": f"it is from a file with columns only in fr{rest}",
        "netContent": f"it is from a file with cells of it that could not be read{rest}",
    } == said
    frame = catalog.texts.query("attribute == 'namePublicLong'").assign(text="Riz long")
    with pytest.raises(PreflightFailed, match="it is from a file with columns only in fr"):
        prodex.upsert(connected(exchange), catalog.changes_from(frame), progress=False)


def test_updates_that_nobody_has_accepted_are_not_sent(exchange: Sandbox) -> None:
    """A catalogue that shows them as accepted is not what the service has."""
    waiting = product(1, lastRequest={"description": [text("fra-FR", "Autre")]})
    shown = prodex.flatten([waiting]).with_pending_updates(progress=False)
    with pytest.raises(InputError, match="shows pending updates as accepted"):
        prodex.upsert(connected(exchange), shown, dry_run=True)


def test_labels_of_a_catalogue_in_another_language_are_not_sent(exchange: Sandbox) -> None:
    """The service has its own, in its own language."""
    service = connected(exchange, "fr-FR")
    catalog = prodex.load_products(service, name="labels", progress=False)
    (payload,) = prodex.upsert(service, catalog, dry_run=True).payloads
    sent = json.loads(payload)["data"][0]
    assert [{"code": "FR"}, {"code": "DE"}] == sent["originCountry"]


@pytest.mark.parametrize("who", ["writes", "undoes"])
def test_an_undo_restores_labels_whoever_asks_in_another_language(exchange: Sandbox, who: str) -> None:
    """Neither a write nor an undo by a client in French leaves French labels at the service."""
    before, both = stored(exchange), {"writes": connected(exchange), "undoes": connected(exchange)}
    both[who] = connected(exchange, "fr-FR")
    record = written(originCountry=[COUNTRIES[1], {"code": "BE"}])
    tracking = prodex.upsert(both["writes"], [record], progress=False).wait(progress=False)
    fix = prodex.undo(str(tracking.name), both["undoes"])
    fix.apply(both["undoes"], progress=False).wait(progress=False)
    assert before[0]["originCountry"] == stored(exchange)[0]["originCountry"]


def test_a_correction_by_a_client_in_another_language_leaves_labels(exchange: Sandbox) -> None:
    """What is beside the corrected value is requested once more, and not in the language of the client."""
    catalog = prodex.load_products(connected(exchange), name="plain", progress=False)
    kilograms = prodex.operations.ConvertUnit("kg", only="g")
    fix = prodex.correct(catalog, "netContent", kilograms)
    # Somebody else has written it since, so that it is merged with what is there now.
    prodex.upsert(connected(exchange), [written(lifeCycle=2)], progress=False).wait(progress=False)
    fix.apply(connected(exchange, "fr-FR"), progress=False).wait(progress=False)
    assert CONTENTS[1] == stored(exchange)[0]["netContent"][1]


def test_a_refresh_asks_in_the_language_of_its_snapshot(exchange: Sandbox) -> None:
    """Otherwise labels of two languages were in one catalogue, and were written from there."""
    prodex.load_products(connected(exchange), name="plain", progress=False)
    prodex.upsert(connected(exchange), [written(lifeCycle=2)], progress=False).wait(progress=False)
    newest = prodex.refresh("plain", connected(exchange, "fr-FR"), progress=False)
    record = json.loads(newest.where(product_id="1").arrow("raw", ["json"])["json"][0].as_py())
    assert (2, COUNTRIES) == (record["lifeCycle"], record["originCountry"])


def test_a_product_of_another_market_with_the_same_gtin_is_not_written() -> None:
    """A filter had left it out of the catalogue, and a write contains the GTIN alone."""
    records = [
        product(1, product_key={"target_market_id": 250}),
        product(2, product_key={"target_market_id": 56}) | {"gtin": gtin(1)},
    ]
    with Sandbox(records) as exchange:
        service, before = connected(exchange), stored(exchange)
        query = ProductQuery(target_market=250)
        catalog = prodex.load_products(service, query, name="france", progress=False)
        frame = catalog.texts.query("attribute == 'namePublicLong' and language == 'fr'").assign(text="Autre")
        changes = catalog.changes_from(frame)
        with pytest.raises(ChangesRefused, match="The service has 2 products of GTIN 00000000000017"):
            prodex.upsert(service, changes, progress=False)
        with pytest.raises(ChangesRefused, match="it is not certain which of them would change"):
            catalog.changes_from(frame, service=service)
        assert 2 == len(before)
        assert before == stored(exchange)


def test_a_product_that_shares_its_gtin_by_now_is_left_out_of_its_call(exchange: Sandbox) -> None:
    """It came to the service while an earlier call was sent."""
    service = connected(exchange)
    catalog = prodex.load_products(service, name="both", progress=False)
    frame = catalog.texts.query("attribute == 'namePublicLong' and language == 'fr'").assign(text="Autre")
    changes = catalog.changes_from(frame)
    calls = []

    def carry(_: Any, send: Any) -> Any:
        calls.append(send())
        # A twin of the product that is sent next.
        exchange.change([product(9) | {"gtin": gtin(2)}])
        return calls[-1]

    with carried("upsert", carry):
        tracking = prodex.upsert(service, changes, batch_size=1, progress=False)
    assert 1 == len(calls)
    rows = tracking.products.set_index("gtin")
    assert "not sent" == rows["status"][gtin(2)]
    assert "another product with its GTIN" in rows["message"][gtin(2)]


def test_a_product_without_a_real_gtin_stops_no_other_one() -> None:
    """A service cannot be asked for it, so it is refused by itself, before anything is sent."""
    with Sandbox([product(1) | {"gtin": "ABC"}, product(2)]) as exchange:
        service = connected(exchange)
        catalog = prodex.load_products(service, name="odd", progress=False)
        fix = prodex.correct(catalog, "namePublicLong", "Autre nom", language="fr")
        assert {"accepted": 1, "refused": 1} == fix.counts
        assert ["'ABC' is no GTIN"] == [one.partition(",")[0] for one in fix.refused["reason"]]
        assert "SUCCESS" == fix.apply(service, progress=False).wait(progress=False).status
        assert {"unchanged": 1, "refused": 1} == fix.recheck(service).counts
        frame = catalog.texts.query("attribute == 'namePublicLong' and language == 'fr'").assign(text="Autre")
        with pytest.raises(ChangesRefused, match="'ABC' is no GTIN") as caught:
            catalog.changes_from(frame)
        assert ["1"] == caught.value.refused["product_id"].tolist()


def empty_cells(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame after a way through CSV that makes empty texts of empty cells."""
    return pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str, keep_default_na=False)


def test_empty_cells_add_nothing() -> None:
    """Where a product has no text, no code and no number, an empty one is no correction."""
    described = product(2, brand={"code": "ACME"}, composition=[text("eng-GB", "rice")], lifeCycle=None)
    catalog = prodex.flatten([product(1, description=None), described])
    frame = empty_cells(catalog.wide()).drop(columns="updated_at")
    assert {"", "Bon"} == set(frame["description.fr"])
    assert () == catalog.changes_from(frame).records
    texts = pd.DataFrame(
        {"gtin": [gtin(1)], "attribute": ["description"], "language": ["fr"], "text": [" "]},
    )
    assert () == catalog.changes_from(texts).records


@pytest.mark.parametrize("column", ["brand_code", "description.fr", "life_cycle", "is_consumer_unit"])
def test_an_empty_cell_writes_over_no_value(column: str) -> None:
    """Whether it is to go, or was never read, nobody knows."""
    catalog = prodex.flatten([product(1, brand={"code": "ACME"})])
    frame = pd.DataFrame({"gtin": [gtin(1)], column: [""]})
    with pytest.raises(ChangesRefused, match="is empty in the frame, and the product has a value there"):
        catalog.changes_from(frame)


def test_an_empty_text_of_the_long_form_writes_over_no_text() -> None:
    """One that says nothing already stays as it is."""
    catalog = prodex.flatten([product(1, description=[text("fra-FR", "Bon"), text("eng-GB", "")])])
    texts = catalog.texts.query("attribute == 'description'")
    with pytest.raises(ChangesRefused, match=r"is empty in the frame.*Give prodex\.DELETE"):
        catalog.changes_from(texts.assign(text=""))
    assert () == catalog.changes_from(texts.query("language == 'en'").assign(text=" ")).records


def test_an_empty_cell_of_records_in_a_frame_is_no_value(exchange: Sandbox) -> None:
    """As NaN is; a text of no letters would stand in the product."""
    names = [written()["namePublicLong"]] * 2
    frame = pd.DataFrame({"gtin": [gtin(1), gtin(2)], "namePublicLong": names, "originText": ["", "Wales"]})
    (payload,) = prodex.upsert(connected(exchange), frame, dry_run=True).payloads
    assert [None, "Wales"] == [one.get("originText") for one in json.loads(payload)["data"]]


def test_half_of_a_character_is_no_correction() -> None:
    """Neither of a text that is there, nor a new one."""
    catalog = prodex.flatten([product(1)])
    for language in ("fr", "en"):
        row = {"gtin": gtin(1), "attribute": "description", "language": language}
        frame = pd.DataFrame({name: [value] for name, value in row.items()})
        frame["text"] = pd.Series(["Bon \ud83d"], dtype=object)
        with pytest.raises(ChangesRefused, match=r"half of a character \(U\+D83D\), which cannot be sent"):
            catalog.changes_from(frame)


@pytest.mark.parametrize(
    "element", ["<description/>", "<description> </description>", "<brand/>", "<lifeCycle/>"]
)
def test_an_empty_element_is_no_value(exchange: Sandbox, tmp_path: Any, element: str) -> None:
    """It would be written over all texts of an attribute, as a list of one text without letters."""
    path = tmp_path / "products.xml"
    body = f'<gtin>{gtin(1)}</gtin><namePublicLong languages="fra-FR">Riz</namePublicLong>{element}'
    path.write_text(f"<SupplierProducts><product>{body}</product></SupplierProducts>")
    with pytest.raises(InputError, match="is empty, which is neither a value nor says that there is none"):
        prodex.upsert(connected(exchange), path, dry_run=True)


@pytest.mark.parametrize("form", ["list", "within"])
def test_a_check_that_is_switched_off_is_said_in_each_form(exchange: Sandbox, form: str) -> None:
    """A list of XML is within an element of its own."""
    rule = {"type": "DeactivateValidationRule", "ruleId": "R7"}
    rules = [rule] if form == "list" else {"validationRule": [rule]}
    found = prodex.upsert(connected(exchange), [written(validationRules=rules)], dry_run=True).findings
    assert ["DISABLES the check 'R7' of the service for this product"] == [
        row.problem for row in found.itertuples() if row.attribute == "validationRules"
    ]
