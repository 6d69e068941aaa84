"""A panel that was saved with a notebook is seen without its kernel: in plain HTML that nothing can be done to."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ipywidgets as w
import pytest

import prodex
from prodex.notebook.shared.panel import Panel
from prodex.notebook.shared.static_picture import MOST_BYTES, picture_of
from prodex.quality.audit import Audit
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import AS_OF, shared_products

from .canary import ADDRESS
from .canary import catalog as spoiled

CATALOG = prodex.flatten(product.record for product in shared_products(60))
_VIEW = "application/vnd.jupyter.widget-view+json"
_VOID = frozenset({"br", "img", "hr", "input", "wbr", "col"})


@pytest.fixture(scope="module")
def audit() -> Audit:
    """Return the audit of the catalogue."""
    return prodex.audit(CATALOG, "online-listing", progress=False, now=AS_OF)


class Seen(HTMLParser):
    """What a page without scripts and style sheets makes of HTML: its text, and whether its elements are whole."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def seen_of(panel: Any) -> tuple[str, Seen]:
    """Return the picture of a panel, which is beside its view and never a style sheet or a list of widgets."""
    bundle = panel._repr_mimebundle_()
    assert {"text/plain", "text/html", _VIEW} == set(bundle)
    assert re.fullmatch(
        r"[A-Z][a-z ]+(: [\d,]+ products?)?\. Run this cell to use it\.", bundle["text/plain"]
    )
    html = bundle["text/html"]
    assert len(html.encode()) <= 200_000
    assert "children=" not in html
    seen = Seen(html)
    assert not seen.open
    assert not {"style", "script", "iframe", "object", "input", "button", "form", "link"} & seen.tags
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    return " ".join(" ".join(seen.text).split()), seen


@pytest.mark.slow
def test_products_are_a_table_of_the_first_page(audit: Audit) -> None:
    """With the heads, all rows of the page, and the filters that are chosen, in both panels that show it."""
    for make in (prodex.explore, prodex.CatalogExplorer):
        text, seen = seen_of(make(CATALOG, audit=audit))
        assert {"table", "th", "td"} <= seen.tags
        for gtin in CATALOG.products["gtin"].head(50).dropna():
            assert gtin in text
        assert "1 to 50 of 60 products" in text
    panel = prodex.CatalogExplorer(CATALOG, audit=audit)
    panel.exploration.conditions = panel.exploration.conditions.toggled("language", "nl")
    assert "Filters: language of texts: \u2068Dutch\u2069" in seen_of(panel)[0]


def test_an_audit_is_figures_gaps_a_heat_map_and_checks(audit: Audit) -> None:
    """What is only pressed has no picture: no heading stands above nothing."""
    text, seen = seen_of(prodex.AuditPanel(audit))
    summary = audit.summary
    for words in (
        f"Mean score {summary['mean_score']:.1%}".replace("%", " %"),
        "Grade A",
        "blocker",
        "all blocks",
    ):
        assert words in text, words
    assert audit.gaps()["problem"][0] in text
    assert any(name == "style" and "background-color:#" in value for name, value in seen.attributes)
    for words in ("Export", "Worklists that came back", "Select a figure"):
        assert words not in text


@pytest.mark.slow
def test_a_card_a_gallery_and_coverage(audit: Audit, home: Path) -> None:
    """The texts of a product in their languages, a row for each picture, and the shares of attributes."""
    one = CATALOG.products.iloc[0]
    card, _ = seen_of(prodex.ProductCard(CATALOG, one["product_id"], audit=audit))
    names = CATALOG.texts.query("attribute == 'namePublicLong' and product_id == @one.product_id")["text"]
    assert one["gtin"] in card
    assert all(name in card for name in names)
    gallery, _ = seen_of(prodex.GalleryPanel(CATALOG))
    assert one["gtin"] in gallery
    assert "selected" not in gallery
    coverage, _ = seen_of(prodex.CoveragePanel(CATALOG, audit=audit))
    assert "Long name" in coverage
    assert "French" in coverage
    CATALOG.save("shop")
    assert "60" in seen_of(prodex.SnapshotPanel("shop"))[0]
    seen_of(prodex.CorrectionsPanel(CATALOG))


def test_a_long_term_does_not_run_into_its_value() -> None:
    """Notebooks let the terms of a list float: here each stands before its value, in a line of its own."""
    made = picture_of(w.HTML("<dl class='facts'><div><dt>updated</dt> <dd><b>Monday</b></dd></div></dl>"))
    assert "<div><div><b>updated</b>: <b>Monday</b></div></div>" in made


def test_a_query_is_its_count_and_its_code() -> None:
    """And no address of the service, which may be a port of this machine."""
    with Sandbox([{"id": 7, "gtin": "03036811359935"}, {"id": 8}]) as sandbox:
        keys = {name: sandbox.credentials[0][name] for name in ("client_id", "client_secret")}
        service = prodex.connect(sandbox.base_url, **keys)
        panel = prodex.QueryPanel(service, prodex.ProductQuery(gtins_in=["03036811359935"]))
        text, _ = seen_of(panel)
        assert "1 product match" in text
        assert "gtins_in=('03036811359935',)" in text
        assert "127.0.0.1" not in text


def panels_of_canary() -> list[Callable[[], Any]]:
    catalog = spoiled()
    audit = prodex.audit(catalog, "core", progress=False, now=AS_OF)
    first = catalog.products["product_id"].iloc[0]
    return [
        lambda: prodex.explore(catalog, audit=audit),
        lambda: prodex.AuditPanel(audit),
        lambda: prodex.ProductCard(catalog, first, audit=audit),
        lambda: prodex.GalleryPanel(catalog),
        lambda: prodex.CoveragePanel(catalog),
    ]


@pytest.mark.slow
def test_hostile_text_stays_text_however_long() -> None:
    """No element, address or handler of a product is in a picture, and none is larger than it may be."""
    for make in panels_of_canary():
        _, seen = seen_of(make())
        assert not [value for name, value in seen.attributes if name in {"src", "href"} and ADDRESS in value]
        assert {value[:10] for name, value in seen.attributes if name == "src"} <= {"data:image"}


def test_too_much_is_cut_between_elements_and_says_so() -> None:
    """Pictures of products go first; of one long text its beginning stays."""
    image = w.HTML(f'<p>Bread</p><img alt="" src="data:image/png;base64,{"A" * MOST_BYTES}">')
    assert "<div><p>Bread</p></div>" == picture_of(w.VBox([image]))
    rows = "".join(f"<tr><td>{number}</td></tr>" for number in range(30_000))
    long = picture_of(w.VBox([w.HTML("<h3>Numbers</h3>"), w.HTML(f"<table>{rows}</table>"), w.HTML("after")]))
    assert len(long.encode()) <= MOST_BYTES
    assert "<p>0 1 2 3 " in long
    assert long.endswith("<p>More is in the panel: run the cell to see it.</p></div>")


def test_a_panel_without_a_picture_is_shown_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    """A mistake of ours costs the picture, not the panel."""

    class Broken(Panel):
        def static_picture(self) -> str:
            raise ZeroDivisionError

    bundle = Broken("Bread")._repr_mimebundle_()
    assert bundle is not None
    assert _VIEW in bundle
    assert "<p>Broken. Run this cell to use it.</p>" == bundle["text/html"]
    assert "ZeroDivisionError" in caplog.text
