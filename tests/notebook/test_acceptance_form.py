"""Accepting findings in the audit panel, without a browser: what is written, and what the panel shows then."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import ipywidgets as w
import pytest

import prodex
from prodex import Audit
from prodex.notebook.audit.panel import AuditPanel

RECORDS = [{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}, {"id": 9, "gtin": "7"}]
PROFILE = {"checks": {"valid_gtin": {"severity": "blocker"}, "has_name": {"severity": "warning"}}}


@pytest.fixture
def panel() -> AuditPanel:
    """Show three products of a snapshot, of which two have a wrong GTIN and none has a name."""
    return AuditPanel(prodex.audit(prodex.flatten(RECORDS).save("shop"), PROFILE, progress=False))


def below(widget: w.Widget) -> Iterator[w.Widget]:
    """Yield a widget and all in it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from below(child)


def markup(panel: AuditPanel) -> str:
    """Return all texts of the panel."""
    return "\n".join(one.value for one in below(panel) if isinstance(one, w.HTML))


def accepted(panel: AuditPanel) -> list[tuple[str, str]]:
    """Return product and check of what is accepted in the audit that is shown."""
    assert isinstance(panel.audit, Audit)
    found = panel.audit.failures(accepted=True)
    return list(found[["product_id", "check"]].itertuples(index=False, name=None))


def press(panel: AuditPanel, *, withdraw: bool = False) -> None:
    """Press a button of the form, and wait."""
    form = panel.acceptance
    (form.withdraw if withdraw else form.accept).click()
    panel.wait()


@pytest.mark.slow
def test_a_finding_a_check_and_a_selection_are_accepted(panel: AuditPanel) -> None:
    """Each with reason and date; the figures with and without are shown."""
    form = panel.acceptance
    form.check.value = "valid_gtin"
    assert ["All findings of the products shown", "03036811359936: 03036811359936", "7: 7"] == [
        words for words, _ in form.finding.options
    ]
    form.finding.value, form.reason.value, form.until.value = 0, "printed so", "2099-1-5"

    press(panel)

    assert [("8", "valid_gtin")] == accepted(panel)
    assert "1 finding accepted by" in markup(panel)
    assert "accepted.jsonl" in markup(panel)
    assert "2 products, 1 accepted" in str(form.check.options)
    press_check = panel.acceptance
    press_check.check.value, press_check.reason.value = "has_name", "a test"
    press(panel)
    assert 4 == len(accepted(panel))
    press_check.check.value = ""
    press(panel, withdraw=True)
    assert [] == accepted(panel)
    assert "Nothing is accepted of these products" in markup(panel)


@pytest.mark.slow
def test_a_view_is_compared_with_a_view_and_gives_back_what_is_accepted() -> None:
    """The figures of the night before are those of its view, and what passes in a view is listed to be withdrawn."""
    catalog = prodex.flatten(RECORDS).save("shop")
    for _ in range(2):
        audit = prodex.audit(catalog, PROFILE, progress=False).save()
    audit = prodex.accept(
        audit, audit.failures(product_id="8", check="valid_gtin"), reason="printed so", by="Ana"
    )
    panel = AuditPanel(audit.with_accepted())
    panel.wait()
    form = panel.acceptance

    assert "no change <span class='muted'>since" in markup(panel)
    assert "higher, better" not in markup(panel)
    assert "1 finding accepted by Ana and taken as passed; without them ready 1 (33.3 %)" in markup(panel)
    assert "2 products, 1 accepted" in str(form.check.options)

    form.check.value = "valid_gtin"
    form.finding.value = 0
    press(panel, withdraw=True)

    assert panel.audit is not None
    assert panel.audit.as_found is not None
    assert 5 == len(panel.audit.failures())
    assert "Nothing is accepted of these products" in markup(panel)


@pytest.mark.slow
def test_only_the_products_that_are_shown_are_meant(panel: AuditPanel) -> None:
    """A click on the blockers leaves the third product out."""
    panel.tiles.buttons[1].click()
    panel.acceptance.reason.value = "looked at"

    press(panel)

    assert {"8", "9"} == {product for product, _ in accepted(panel)}


def test_what_is_wrong_is_said(panel: AuditPanel) -> None:
    """No reason, and a date that could be two."""
    press(panel)
    assert "reason is" in markup(panel)
    panel.acceptance.reason.value, panel.acceptance.until.value = "x", "05.01.2027"
    press(panel)
    assert "2027-01-05 or 2027-05-01" in markup(panel)
    assert [] == accepted(panel)


def test_a_catalogue_in_memory_has_no_place() -> None:
    """The error says what to do."""
    panel = AuditPanel(prodex.audit(prodex.flatten(RECORDS), PROFILE, progress=False))
    panel.acceptance.reason.value = "x"

    press(panel)

    assert "The catalogue is in memory" in markup(panel)


@pytest.mark.slow
def test_one_press_accepts_what_a_supplier_asks_to_accept(panel: AuditPanel, tmp_path: Path) -> None:
    """The list of what needs confirmation has the words; pressing the row accepts the finding."""
    assert panel.audit is not None
    rows = panel.audit.worklist_rows(progress=False)
    rows.loc[rows["check"] == "valid_gtin", "accept_because"] = "printed so"
    rows.to_csv(tmp_path / "answers.csv", index=False)
    back = tmp_path / "back"
    back.mkdir()
    (tmp_path / "answers.csv").rename(back / "answers.csv")
    panel.returned.folder.value = str(back)
    panel.returned.read.click()
    panel.wait()
    asked = panel.returned.asked.view["rows"]
    assert 2 == len(asked)
    assert "asks to accept this finding" in asked[0]["question"]

    panel.returned.asked.press(do="confirm", key=asked[0]["key"])
    panel.wait()

    assert 1 == len(accepted(panel))
    assert 1 == len(panel.returned.asked.view["rows"])
    panel.returned.asked.press(do="all")
    panel.wait()
    assert 1 == len(accepted(panel))
