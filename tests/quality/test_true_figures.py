"""What leaves the screen says of which products its figures are, and has those of all products beside them."""

from __future__ import annotations

import email
import email.policy
import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

import prodex
from prodex.catalog.origin import Chosen
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.export import shown_table
from prodex.phrases import percent
from prodex.quality.audit import Audit
from prodex.worklists.layout import SEVERAL, TO_FIX, VISIBLE_WIDTH, pixels
from prodex_sandbox.sample import AS_OF, shared_products
from tests.quality.workbooks import sheets

WORDS = "a text is missing"


# Made by the first test that asks: workers that only collect the tests need none of it.
@cache
def every_product() -> prodex.Catalog:
    return prodex.flatten(product.record for product in shared_products(150))


@cache
def whole() -> Audit:
    return prodex.audit(every_product(), "online-listing", progress=False, now=AS_OF)


@cache
def failing() -> list[str]:
    return whole().failures(rule="required_text")["product_id"].unique().tolist()


@cache
def largest() -> pd.Series:
    """Return the supplier with most products."""
    return whole().scores("owner").sort_values("products", ascending=False).iloc[0]


@pytest.fixture(scope="module")
def chosen() -> Audit:
    """Return the audit of some products, as a press on a figure leaves it."""
    return whole().only(failing(), WORDS)


@pytest.fixture(scope="module")
def written(chosen: Audit, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, pd.Series]:
    """Return a folder of worklists of them, and the line of the largest supplier."""
    folder = tmp_path_factory.mktemp("chosen") / "to_fix"
    index = chosen.worklists(folder)
    return folder, index[index["code"] == largest()["owner_id"]].iloc[0]


def of_owner(audit: Audit) -> pd.Series:
    return audit.scores("owner").set_index("owner_id").loc[largest()["owner_id"]]


def test_the_columns_of_an_answer_fit_on_a_laptop() -> None:
    """Who it is, what is wrong, what is there, the new value and how to answer, in this order; the wire is hidden."""
    shown = [column for column in TO_FIX if not column.is_hidden]
    names = ["gtin", "name", "language", "problem", "value", "new_value", "how"]
    assert names == [column.name for column in shown[: len(names)]]
    assert sum(pixels(column.width) for column in shown[: len(names) + 1]) <= VISIBLE_WIDTH
    assert sum(pixels(column.width) for column in SEVERAL if not column.is_hidden) <= VISIBLE_WIDTH
    # One of them is the key, which alone has the terms of the service.
    assert ["title", "row_key"] == [column.name for column in TO_FIX if column.is_hidden]
    assert {"attribute", "check", "product_id", "position"}.isdisjoint(column.name for column in TO_FIX)


def test_a_workbook_says_which_products_and_has_the_figures_of_all(
    written: tuple[Path, pd.Series], chosen: Audit
) -> None:
    """Of the supplier: both, and the words by which they were chosen."""
    folder, line = written
    some, every = of_owner(chosen), of_owner(whole())
    for sheet in ("Read me", "Summary"):
        said = "\n".join(str(row[0]) for row in sheets(folder / line["file"])[sheet])
        title = largest()["owner"]
        of = f"{some['products']:,.0f} of the {every['products']:,.0f} products of {title}"
        assert f"Scope: {of}, chosen by: {WORDS}." in said, said
        assert f"Chosen products: score {percent(some['score'])};" in said
        assert f"All products of {title}: {every['to_work_on']:,.0f} of {every['products']:,.0f} have" in said
        assert f"score {percent(every['score'])}; ready {every['ready_products']:,.0f}," in said
    assert line["chosen_products"] == some["products"]
    assert line["group_products"] == every["products"]
    assert line["group_to_work_on"] == every["to_work_on"]


def test_its_rows_its_index_and_its_mail_say_it_too(written: tuple[Path, pd.Series], chosen: Audit) -> None:
    """Each of them may travel alone."""
    folder, line = written
    rows = chosen.worklist_rows(line["code"])
    assert {line["scope"]} == set(rows["scope"])
    assert WORDS in line["scope"]
    assert line["scope"] in pd.read_csv(folder / "index.csv", dtype=str)["scope"].tolist()
    assert chosen.scope == json.loads((folder / "worklists.json").read_text("utf-8"))["scope"]
    mail = email.message_from_bytes((folder / line["mail"]).read_bytes(), policy=email.policy.default)
    assert ("1", None) == (mail["X-Unsent"], mail["To"])
    body = mail.get_body()
    assert body is not None
    assert line["scope"] in body.get_content()
    assert line["file"] in body.get_content()
    (attached,) = mail.iter_attachments()
    assert line["file"] == attached.get_filename()
    assert (folder / line["file"]).read_bytes() == attached.get_content()


@pytest.mark.slow
def test_a_worklist_of_all_says_nothing_of_a_choice(tmp_path: Path) -> None:
    """There is one pair of figures, and they are of all products."""
    index = whole().worklists(tmp_path / "all")
    line = index[index["code"] == largest()["owner_id"]].iloc[0]
    said = "\n".join(str(row[0]) for row in sheets(tmp_path / "all" / line["file"])["Read me"])
    assert "Scope" not in said
    assert "chosen" not in said
    assert line["chosen_products"] == line["group_products"] == of_owner(whole())["products"]
    assert pd.isna(line["scope"])


def test_a_supplier_all_of_whose_products_were_chosen_has_one_pair_of_figures(tmp_path: Path) -> None:
    """The worklist says by what they were chosen, and that these are all."""
    ids = whole().products.loc[whole().products["owner_id"] == largest()["owner_id"], "product_id"]
    index = whole().only(ids, "owner: \u202eMill\n=1+1").worklists(tmp_path / "one")
    number = f"{of_owner(whole())['products']:,.0f}"
    assert (
        index["scope"]
        .str.startswith(f"Scope: all {number} products of {largest()['owner']}, chosen by:")
        .all()
    )
    said = "\n".join(str(row[0]) for row in sheets(tmp_path / "one" / index["file"][0])["Read me"])
    assert "Chosen products" not in said
    mail = (tmp_path / "one" / index["mail"][0]).read_bytes()
    assert b"\n=3D1+1" not in mail
    assert b"\n=1+1" not in mail


@pytest.mark.slow
def test_findings_that_were_left_out_do_not_make_products_ready(tmp_path: Path) -> None:
    """Of a worklist of blockers, the products with other findings are counted as well."""
    index = whole().worklists(tmp_path / "blockers", severity="blocker")
    line = index[index["code"] == largest()["owner_id"]].iloc[0]
    every = of_owner(whole())
    assert line["products"] < every["to_work_on"]
    said = "\n".join(str(row[0]) for row in sheets(tmp_path / "blockers" / line["file"])["Read me"])
    assert f"By all checks {every['to_work_on']:,.0f} of {every['products']:,.0f} products have" in said


@pytest.mark.slow
def test_a_catalogue_that_was_filtered_on_the_screen_before_its_audit_says_so(tmp_path: Path) -> None:
    """Also two choices, one after the other; a choice of all is none."""
    missing = tuple(one.id for one in whole().checks if one.rule.id == "required_text")
    session = Session(every_product(), whole())
    chosen = session.filtered(session.conditions.failing_any("a text is missing", missing)).chosen
    audit = prodex.audit(chosen, "core", progress=False, now=AS_OF)
    assert f"{len(chosen)} of 150 products, chosen by: " in audit.scope
    assert "a text is missing" in audit.scope
    twice = prodex.audit(
        every_product().head(50).where(is_consumer_unit=True), "core", progress=False, now=AS_OF
    )
    assert "of 150 products, chosen by: the first 50; is_consumer_unit = true." in twice.scope
    assert (
        "All 150 products."
        == prodex.audit(every_product().head(500), "core", progress=False, now=AS_OF).scope
    )


def test_an_audit_of_a_part_that_is_opened_again_says_of_how_many(home: Path) -> None:
    """And by which words they were chosen; the number of all products is that of its snapshot."""
    prodex.audit(every_product().save("shop").head(20), "core", progress=False, now=AS_OF).save()
    assert "20 of 150 products, chosen by: the first 20." == prodex.open_audit("shop").scope


@pytest.mark.slow
def test_a_report_has_both_figures(chosen: Audit, tmp_path: Path) -> None:
    """On the page and beside its lists; one of all products has neither."""
    page = chosen.to_html(tmp_path / "report.html").read_text("utf-8")
    assert f"{len(chosen)} of 150 products, chosen by: {WORDS}." in page
    assert f"{percent(whole().summary['ready'])} of all 150 products" in page
    assert WORDS in (tmp_path / "report_files" / "scope.txt").read_text("utf-8")
    whole().to_html(tmp_path / "report.html")
    assert not (tmp_path / "report_files" / "scope.txt").exists()


def test_a_contact_sheet_says_of_how_many_its_products_are(tmp_path: Path) -> None:
    """As the panels choose them, and as `where` does."""
    sheet = every_product().where(is_consumer_unit=True).gallery(per_page=1, folder=tmp_path)
    assert "is_consumer_unit = true: products 1-1 of " in sheet.title
    assert "(chosen from 150 products), page 1" in sheet.title
    assert "chosen" not in every_product().gallery(per_page=1, folder=tmp_path).title


@pytest.mark.slow
def test_the_panel_exports_what_it_shows_and_saves_all(tmp_path: Path, home: Path) -> None:
    """A press on a figure: the worklists say it, the message says it, and the audit that is saved is that of all."""
    audit = prodex.audit(every_product().save("shop"), "online-listing", progress=False, now=AS_OF)
    assert audit.catalog is not None
    app = App(Session(audit.catalog, audit, section="quality"))
    app.act("quality.failing", which="blocker")
    app.act("section.open", name="quality")
    app.view()
    app.wait()
    app.act("form.set", form="worklists", field="folder", value=str(tmp_path / "to_fix"))
    app.act("export.worklists")
    app.wait()
    chosen = len(app.session.chosen)
    assert 0 < chosen < 150
    assert f"{chosen} of 150 products" in str(app.view())
    index = pd.read_csv(tmp_path / "to_fix" / "index.csv")
    assert index["scope"].notna().all()
    app.act("export.save")
    app.wait()
    assert 150 == len(prodex.open_audit("shop"))


def test_the_explorer_says_which_products_it_exported(tmp_path: Path) -> None:
    """In its message and in the description beside the files."""
    shown, catalog = shown_table(Session(every_product(), whole()), tuple(failing()[:3]))
    assert Chosen(150, ("selected one by one",)) == catalog.chosen
    catalog.export(tmp_path / "out", "csv")
    package = json.loads((tmp_path / "out" / "datapackage.json").read_text("utf-8"))
    assert "3 of 150 products, chosen by: selected one by one." == package["scope"]
    assert 3 == len(shown.rows)
