"""Correcting all chosen products at once: the form, the preview, and nothing is sent that no longer holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.corrections.operations import OPERATIONS, SetValue
from prodex.errors import InputError
from prodex.notebook.products.bulk_correction import BulkCorrection
from prodex.notebook.products.explorer import CatalogExplorer
from prodex.sandbox import Sandbox
from prodex.selection import Selection
from tests.worklists.bakery import RECORDS, stored

FIRST = RECORDS[0]["gtin"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is sent in a folder of the test."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture
def service() -> Iterator[prodex.Client]:
    """Serve the products."""
    with Sandbox(RECORDS) as sandbox:
        key = sandbox.credentials[0]
        yield prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )


@pytest.fixture
def opened(service: prodex.Client) -> Callable[..., tuple[CatalogExplorer, BulkCorrection]]:
    """Return a function that opens the section of an explorer, and fills in the form."""

    def open_(**given: Any) -> tuple[CatalogExplorer, BulkCorrection]:
        catalog = prodex.load_products(service, progress=False)
        explorer = CatalogExplorer(catalog, service=given.pop("service", service))
        explorer.correcting.is_open = True
        assert explorer.bulk is not None
        fill(explorer.bulk, **given)
        return explorer, explorer.bulk

    return open_


def fill(bulk: BulkCorrection, do: str = "replace text", field: str = "Long name", **given: Any) -> None:
    """Fill in the form, and wait for the preview."""
    bulk.form.operation.value = do
    bulk.form.attribute.value = field
    bulk.form.language.value = given.pop("language", "")
    for name, value in given.items():
        bulk.form.parameters[name].value = value
    bulk.wait()


def send(bulk: BulkCorrection) -> None:
    """Press Send, and Yes."""
    bulk.sender.send.click()
    bulk.sender.confirm.click()
    bulk.wait()


@pytest.mark.slow
def test_every_operation_has_a_form_and_every_form_says_what_is_missing(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]],
) -> None:
    """Each parameter that an operation needs is asked for; what is not filled in is named, and nothing is judged."""
    _, bulk = opened()
    for name, made in OPERATIONS.items():
        bulk.form.operation.value = name
        asked = set(bulk.form.parameters)
        assert {one.name for one in fields(made)} == asked
        fill(bulk, name, field=bulk.form.attribute.options[0] if bulk.form.attribute.options else "")
        assert bulk.preview is not None or bulk.form._hint.value


@pytest.mark.slow
def test_what_is_previewed_is_sent_and_shown_and_taken_back(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]], service: prodex.Client
) -> None:
    """The explorer shows the products as they are afterwards, and an undo goes the same way."""
    explorer, bulk = opened(find="PAIN", by="Pain")
    assert bulk.preview is not None
    assert ["Pain DE CAMPAGNE AUX GRAINES"] == bulk.preview.fix.preview()["after"].tolist()
    send(bulk)
    assert "Pain DE CAMPAGNE AUX GRAINES" == stored(service, FIRST)["namePublicLong"][0]["data"]
    assert "Pain DE CAMPAGNE AUX GRAINES" in explorer.exploration.catalog.texts["text"].tolist()
    bulk.back.click()
    bulk.wait()
    assert "Take back what was sent: 1 value of 1 product can be sent" in bulk._result.value
    send(bulk)
    assert RECORDS[0]["namePublicLong"][0]["data"] == stored(service, FIRST)["namePublicLong"][0]["data"]


@pytest.mark.slow
def test_a_second_correction_is_of_what_the_first_has_left(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]], service: prodex.Client
) -> None:
    """In one go, without a new load: the products are judged and counted as they are now."""
    explorer, bulk = opened(find="PAIN", by="Pain")
    send(bulk)
    fill(bulk, find="CAMPAGNE", by="campagne")
    assert bulk.preview is not None
    assert ["Pain DE campagne AUX GRAINES"] == bulk.preview.fix.preview()["after"].tolist()
    assert len(RECORDS) == len(bulk.preview.fix.catalog) == len(explorer.exploration.catalog)
    send(bulk)
    assert "Pain DE campagne AUX GRAINES" == stored(service, FIRST)["namePublicLong"][0]["data"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda explorer, _: setattr(explorer.exploration, "selected", ("2",)),
        lambda explorer, _: setattr(explorer.exploration, "conditions", Selection().toggled("brand", "ACME")),
        lambda explorer, _: setattr(explorer.exploration, "catalog", prodex.flatten(RECORDS[1:])),
        lambda _, bulk: setattr(bulk.form.parameters["by"], "value", "Brot"),
        lambda _, bulk: setattr(bulk.form.language, "value", "Dutch"),
        lambda _, bulk: setattr(bulk.form.operation, "value", "remove value"),
    ],
    ids=["selection", "filter", "catalogue", "parameter", "language", "operation"],
)
def test_a_preview_that_no_longer_holds_is_not_sent(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]],
    service: prodex.Client,
    change: Callable[[CatalogExplorer, BulkCorrection], object],
) -> None:
    """Whatever changes between the question and Yes: the first preview is not what is sent."""
    before = stored(service, FIRST)
    explorer, bulk = opened(find="PAIN", by="Pain")
    bulk.sender.send.click()
    change(explorer, bulk)
    bulk.sender.confirm.click()
    bulk.sender.wait()
    assert before == stored(service, FIRST)


@pytest.mark.slow
def test_selected_products_come_before_filters(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]],
) -> None:
    """The title says how many are chosen, and the preview is about these alone."""
    explorer, bulk = opened(find="PAIN", by="Pain")
    assert f"Correct the {len(RECORDS)} chosen products" == explorer.correcting.title
    explorer.exploration.selected = ("1",)
    bulk.wait()
    assert "Correct the 1 chosen product" == explorer.correcting.title
    assert bulk.preview is not None
    assert {"1"} == set(bulk.preview.fix.answers["product_id"])


@pytest.mark.slow
def test_what_needs_confirmation_needs_a_press_of_its_own(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]],
) -> None:
    """A code that nobody uses is not sent with the others."""
    _, bulk = opened(do="set code", field="Brand", code="NOBODY")
    assert bulk.preview is not None
    number = bulk.preview.fix.counts["needs confirmation"]
    assert number > 0
    assert f"To be confirmed, {number}" in bulk._result.value
    assert "none" == bulk.sender.send.layout.display
    bulk.confirm.click()
    assert number == bulk.preview.fix.counts["accepted"]
    assert "" == bulk.sender.send.layout.display


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed", ["", "no such field", "gtin", "updatedAt", "<b>Long name</b>", "long name "]
)
def test_a_field_is_known_by_title_or_path_and_others_are_named(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]], typed: str
) -> None:
    """Case and spaces do not matter; markup is shown, and not drawn."""
    _, bulk = opened(find="a", by="b")
    fill(bulk, field=typed, find="a", by="b")
    assert (typed == "long name ") == (bulk.preview is not None)
    assert "<b>" not in bulk.form._hint.value
    assert (typed == "long name ") == (not bulk.form._hint.value)


def test_without_a_service_it_is_previewed_and_says_how_to_send(home: Path) -> None:
    """The button says what is missing, and a recipe is kept all the same."""
    explorer = CatalogExplorer(prodex.flatten(RECORDS))
    explorer.exploration.conditions = Selection().toggled("brand", "ACME")
    explorer.correcting.is_open = True
    bulk = explorer.bulk
    assert bulk is not None
    fill(bulk, find="PAIN", by="Pain")
    bulk.sender.send.click()
    assert "explore(catalog, service=prodex.connect())" in explorer.message
    bulk.file.value = str(home / "pain.toml")
    bulk.keep.click()
    recipe = prodex.read_recipe(home / "pain.toml")
    fix = prodex.apply_recipe(prodex.flatten(RECORDS), recipe)
    assert ["Pain DE CAMPAGNE AUX GRAINES"] == fix.preview()["after"].tolist()
    assert "pain" == recipe.title
    assert Selection().toggled("brand", "ACME") == recipe.chosen


@pytest.mark.slow
def test_what_suppliers_typed_is_shown_letter_by_letter(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]],
) -> None:
    """Before and after, in the headline and in the reasons."""
    _, bulk = opened(
        do="set value", field="Long name", language="French", value="<img src=x onerror=alert(1)>"
    )
    assert "<img" not in bulk._result.value
    assert "&lt;img src=x onerror=alert(1)&gt;" in bulk._result.value


@pytest.mark.slow
def test_a_form_has_no_step_until_it_is_filled_in(
    opened: Callable[..., tuple[CatalogExplorer, BulkCorrection]],
) -> None:
    """What it says is the operation as a recipe has it."""
    _, bulk = opened()
    with pytest.raises(InputError, match="Find"):
        _ = bulk.form.chosen
    fill(bulk, "set value", value="Pain", language="fra-FR")
    assert (SetValue("Pain"), "fr-FR") == (bulk.form.chosen.operation, bulk.form.chosen.language)


def test_the_form_offers_each_country_of_a_language_where_there_are_several() -> None:
    """Beside the language as a whole, by its name; also as where a text is moved to or copied from."""
    names = [
        {"expressedIn": {"code": code, "normalizedCode": code[:2]}, "data": code}
        for code in ("fra-FR", "fra-BE", "nld-NL")
    ]
    explorer = CatalogExplorer(prodex.flatten([{"id": 7, "gtin": FIRST, "namePublicLong": names}]))
    explorer.correcting.is_open = True
    assert explorer.bulk is not None
    form = explorer.bulk.form
    assert ("French", "French (Belgium)", "French (France)", "Dutch") == form.language.options
    form.operation.value = "move text"
    form.attribute.value = "Long name"
    form.language.value, form.parameters["to_language"].value = "French (Belgium)", "French (France)"
    assert ("fr-BE", "fr-FR") == (form.chosen.language, form.chosen.operation.to_language)
