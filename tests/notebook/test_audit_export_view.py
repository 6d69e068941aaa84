"""Exports of the section on quality: worklists in each supplier's language, a report, and the saved audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openpyxl
import pytest

import prodex
from prodex.notebook.app import App
from prodex.worklists.supplier_languages import languages_of_suppliers
from prodex_sandbox.sample import shared_products

from .test_audit_view import block, press, quality, shown, words

PROFILE = {"checks": {"valid_gtin": {"severity": "blocker"}, "has_name": {"severity": "warning"}}}


def text(data: str, language: str) -> dict[str, Any]:
    return {"data": data, "expressedIn": {"code": language, "normalizedCode": language}}


_OWNERS = ("", "Moulin", "Mühle", "Molen", "Mulino")


def product(number: int, owner: str | None, *texts: dict[str, Any]) -> dict[str, Any]:
    """Return a product with a wrong GTIN."""
    made: dict[str, Any] = {"id": number, "gtin": "03036811359936", "productBenefits": [{"text": [*texts]}]}
    if owner is not None:
        made["owner"] = {"id": _OWNERS.index(owner), "name": owner}
    return made


RECORDS = [
    product(1, "Moulin", text("Bon", "fr"), text("Good", "en")),
    product(2, "Moulin", text("Bon", "fr")),
    product(3, "Mühle", text("Gut", "de")),
    product(4, "Molen", text("Goed", "nl"), text("Goed", "nl"), text("Bon", "fr")),
    product(5, "Mulino", text("Buono", "it"), text("Bueno", "es")),
    product(6, None, text("Bon", "fr")),
]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    """Show six products of five suppliers, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return quality(prodex.audit(prodex.flatten(RECORDS).save("shop"), PROFILE, progress=False))


def typed(app: App, form: str, **values: Any) -> None:
    for name, value in values.items():
        app.act("form.set", form=form, field=name, value=value)


def field(app: App, form: str, name: str) -> dict[str, Any]:
    return next(one for one in block(app, form)["fields"] if one["key"] == name)


def said(app: App) -> str:
    return words(app, "exported")


def test_each_supplier_gets_its_language(app: App, tmp_path: Path) -> None:
    """It is the first choice, and the sentence counts the languages; who writes in no such one gets English."""
    language = field(app, "worklists", "language")
    assert ("each", "each supplier's language") == (
        language["value"],
        language["options"][0]["label"],
    )
    typed(app, "worklists", folder=str(tmp_path / "lists"))
    press(app, "export.worklists {}")
    assert "Exported 5 worklists with 12 findings to" in said(app)
    assert "2 in English, 1 in French, 1 in German, 1 in Dutch" in said(app)
    sheets = {
        one.name: set(openpyxl.load_workbook(one, read_only=True).sheetnames)
        for one in (tmp_path / "lists").glob("*.xlsx")
    }
    english = next(names for name, names in sheets.items() if "Mulino" in name)
    french = next(names for name, names in sheets.items() if "Moulin" in name)
    assert english != french


def test_the_language_of_a_supplier_is_that_of_its_numbers_or_of_most_of_its_texts() -> None:
    """Of as many in two, its own before English; owners of whom neither says one are left out."""
    audit = prodex.audit(prodex.flatten(RECORDS), PROFILE, progress=False)
    called = dict(zip(audit.groups("owner").codes, audit.groups("owner").labels, strict=True))
    found = {called[code]: one for code, one in languages_of_suppliers(audit).items()}
    assert {"Moulin": "fr", "Mühle": "de", "Molen": "nl"} == found
    some = audit.only(["3"], "one")
    assert ["de"] == list(languages_of_suppliers(some).values())
    # Half of the texts of a Dutch supplier of the sample are French, and most of those of a Spanish one are.
    sample = prodex.flatten(product.record for product in shared_products(400))
    audit = prodex.audit(sample, PROFILE, progress=False)
    called = dict(zip(audit.groups("owner").codes, audit.groups("owner").labels, strict=True))
    found = {called[code]: one for code, one in languages_of_suppliers(audit).items()}
    assert ("nl", "de", None) == tuple(
        found.get(one) for one in ("Van Durmelen Foods BV", "Haushaltswerk Trautloh", "Hogar Limpiaferra SL")
    )


def test_a_brand_has_no_language_of_its_own(app: App, tmp_path: Path) -> None:
    """By brand or kind one language is chosen; what was chosen for owners is offered no more."""
    typed(app, "worklists", by="brand", folder=str(tmp_path / "lists"))
    language = field(app, "worklists", "language")
    assert ["English", "French", "German", "Dutch"] == [one["label"] for one in language["options"]]
    press(app, "export.worklists {}")
    assert "1 in English" in said(app)
    typed(app, "worklists", language="nl", folder=str(tmp_path / "dutch"))
    press(app, "export.worklists {}")
    assert "1 in Dutch" in said(app)


@pytest.mark.slow
def test_files_are_written_and_not_replaced_silently(app: App, tmp_path: Path) -> None:
    """Each export says where it is; what is there is replaced only if that is allowed, and the field says so."""
    typed(app, "worklists", folder=str(tmp_path / "lists"))
    typed(app, "report", page=str(tmp_path / "audit.html"))
    for name, told in (
        ("export.worklists {}", "Exported 5 worklists with 12 findings to"),
        ("export.report {}", "Exported the report to"),
        ("export.save {}", "Saved the audit to"),
    ):
        press(app, name)
        assert told in said(app)
    assert 5 == len(list((tmp_path / "lists").glob("*.xlsx")))
    assert (tmp_path / "audit.html").stat().st_size > 10_000
    assert 1 == len(prodex.list_audits("shop"))
    for name, at, refused in (
        (
            "export.worklists {}",
            ("worklists", "folder"),
            "already contains worklists, which may have been filled in",
        ),
        ("export.report {}", ("report", "page"), "already exists"),
    ):
        press(app, name)
        assert refused in field(app, *at)["error"]
        assert "replace=" not in field(app, *at)["error"]
        assert "tick 'Replace existing files'" in field(app, *at)["error"]
    typed(app, "export", replace=True)
    for name in ("export.worklists {}", "export.report {}"):
        press(app, name)
        assert {} == app.session.errors


def test_a_folder_with_other_files_is_left_alone(app: App, tmp_path: Path) -> None:
    """Also where replacing is allowed; what is wrong stands beside the field."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    typed(app, "worklists", folder=str(tmp_path / "mine"))
    typed(app, "export", replace=True)
    press(app, "export.worklists {}")
    assert (
        "something that is not a worklist of prodex: 'thesis.txt'"
        in field(app, "worklists", "folder")["error"]
    )


@pytest.mark.parametrize("name", ["", "x" * 300, "a\0b", "~nobody-is-called-so/x"])
def test_a_name_that_cannot_be_written_to_is_refused_in_words(app: App, name: str) -> None:
    """Beside its field, and never as the name of an exception."""
    typed(app, "worklists", folder=name)
    typed(app, "report", page=name)
    for button, at in (
        ("export.worklists {}", ("worklists", "folder")),
        ("export.report {}", ("report", "page")),
    ):
        press(app, button)
        error = field(app, *at)["error"]
        assert "Enter a f" in error if not name else "Give another name." in error
        assert "Error" not in error


def test_some_products_are_said_to_be_some(app: App, tmp_path: Path) -> None:
    """Exports are of the products that are shown, and a saved audit is of all."""
    app.change(lambda session: session.filtered(session.conditions.searching("03036811359936")))
    app.change(lambda session: session.filtered(session.conditions.searching("").toggled("owner", None)))
    shown(app)
    typed(app, "worklists", folder=str(tmp_path / "lists"))
    press(app, "export.worklists {}")
    assert "Exported 1 worklist with 2 findings" in said(app)
    assert "Only of the products that are shown: 1 of 6 products, chosen by: owner:" in said(app)
    press(app, "export.save {}")
    assert 6 == len(prodex.open_audit("shop"))


def test_an_audit_in_memory_asks_for_a_name() -> None:
    """Of a snapshot it is saved with the snapshot, and the field says so."""
    audit = prodex.audit(prodex.flatten(RECORDS), PROFILE, progress=False)
    app = quality(audit)
    press(app, "export.save {}")
    assert "Enter the name of the snapshots" in field(app, "saved", "name")["error"]
    typed(app, "saved", name="kept")
    press(app, "export.save {}")
    assert "Saved the audit to" in said(app)
    kept = quality(prodex.audit(prodex.flatten(RECORDS).save("shop"), PROFILE, progress=False))
    assert "saved with its snapshot" in field(kept, "saved", "name")["off"]
