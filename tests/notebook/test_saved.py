"""A panel that was saved with a notebook is seen without its kernel: in plain HTML that nothing can be done to."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.notebook.saved import MOST_BYTES, saved_html
from prodex.notebook.session.actions import Section
from prodex.notebook.session.session import Session
from prodex.notebook.views import SECTIONS
from prodex.notebook.views.blocks import heading, paragraph, table, typed_text
from prodex.notebook.widget import Explore, explore
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


def seen_of(panel: Explore) -> tuple[str, Seen]:
    """Return what is saved of a panel, which is beside its view and never a style sheet or a list of widgets."""
    bundle = panel._repr_mimebundle_()
    assert bundle is not None
    assert {"text/plain", "text/html", _VIEW} == set(bundle)
    assert re.fullmatch(r"[A-Z][a-z]+: [\d,]+ products?\. Run this cell to use it\.", bundle["text/plain"])
    return inert(bundle["text/html"])


def inert(html: str) -> tuple[str, Seen]:
    assert len(html.encode()) <= 200_000
    seen = Seen(html)
    assert not seen.open
    assert not {"style", "script", "iframe", "object", "input", "button", "form", "link", "a"} & seen.tags
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name == "href"]
    return " ".join(" ".join(seen.text).split()), seen


def test_products_are_a_table_of_the_first_page(audit: Audit) -> None:
    """With its heads, all rows of the page and the filters that are chosen; without the values that can be chosen."""
    text, seen = seen_of(explore(CATALOG, audit=audit))
    assert {"table", "th", "td"} <= seen.tags
    for gtin in CATALOG.products["gtin"].head(50).dropna():
        assert gtin in text
    assert "1 to 50 of 60 products" in text
    assert "Belgium" not in text
    panel = explore(CATALOG, audit=audit)
    panel.app.act("facets.toggle", facet="language", code="nl")
    assert "Filter: language of texts: \u2068Dutch\u2069" in seen_of(panel)[0]


def test_an_audit_is_figures_gaps_a_heat_map_and_checks(audit: Audit) -> None:
    """What is only pressed is left out: no heading stands above nothing."""
    text, seen = seen_of(explore(CATALOG, audit=audit, show="quality"))
    summary = audit.summary
    for words in (f"{summary['mean_score']:.1%}".replace("%", " %"), "Grade A", "blocker", "all blocks"):
        assert words in text, words
    assert audit.gaps()["problem"][0] in text
    assert any(name == "style" and "background-color:#" in value for name, value in seen.attributes)
    for words in ("Export", "Worklists that came back", "Select a figure"):
        assert words not in text


def test_a_card_a_gallery_coverage_and_snapshots(audit: Audit, home: Path) -> None:
    """The texts of a product in their languages, a row for each picture, and the shares of attributes."""
    one = CATALOG.products.iloc[0]
    card, _ = seen_of(explore(CATALOG, audit=audit, show="card", product_id=one["product_id"]))
    names = CATALOG.texts.query("attribute == 'namePublicLong' and product_id == @one.product_id")["text"]
    assert one["gtin"] in card
    assert all(name in card for name in names)
    beside, _ = seen_of(explore(CATALOG, product_id=one["product_id"]))
    assert all(name in beside for name in names)
    gallery, _ = seen_of(explore(CATALOG, show="gallery"))
    assert one["gtin"] in gallery
    assert "selected" not in gallery
    coverage, _ = seen_of(explore(CATALOG, audit=audit, show="coverage"))
    assert "Long name" in coverage
    assert "French" in coverage
    CATALOG.save("shop")
    assert "60" in seen_of(explore(CATALOG, show="snapshots"))[0]
    assert "No corrections." in seen_of(explore(CATALOG, show="corrections"))[0]


def test_a_query_is_its_count() -> None:
    """And no address of the service, which may be a port of this machine, and no secret."""
    with Sandbox([{"id": 7, "gtin": "03036811359935"}, {"id": 8}]) as sandbox:
        keys = {name: sandbox.credentials[0][name] for name in ("client_id", "client_secret")}
        service = prodex.connect(sandbox.base_url, **keys)
        query = prodex.ProductQuery(gtins_in=["03036811359935"])
        text, _ = seen_of(explore(CATALOG, service=service, query=query, show="load"))
        assert "1 product match" in text
        assert "127.0.0.1" not in text
        assert keys["client_secret"] not in text


def panels_of_canary() -> list[Callable[[], Explore]]:
    catalog = spoiled()
    audit = prodex.audit(catalog, "core", progress=False, now=AS_OF)
    first = catalog.products["product_id"].iloc[0]
    shows = ("products", "quality", "coverage", "corrections", "snapshots", "card", "gallery")

    def making(show: str) -> Callable[[], Explore]:
        return lambda: explore(catalog, audit=audit, show=show, product_id=first)

    return [*map(making, shows)]


@pytest.mark.slow
def test_hostile_text_stays_text_however_long() -> None:
    """No element, address or handler of a product is in what is saved, and nothing is larger than it may be."""
    for make in panels_of_canary():
        _, seen = seen_of(make())
        assert not [value for name, value in seen.attributes if name in {"src", "href"} and ADDRESS in value]
        assert {value[:10] for name, value in seen.attributes if name == "src"} <= {"data:image"}


def _view(*blocks: Any) -> dict[str, Any]:
    return {"title": "Numbers", "head": [], "blocks": [*blocks]}


def test_too_much_is_cut_between_elements_and_says_so() -> None:
    """Pictures of products go first; of one long text its beginning stays, whatever letters it has."""
    rows = [{"key": str(at), "cells": [str(at), typed_text("\ud800<b>é")]} for at in range(30_000)]
    columns = [{"name": "a", "title": "Number"}, {"name": "b", "title": "Text"}]
    numbers = table(columns, rows, key="numbers", label="Numbers")
    long = saved_html(_view(paragraph("before"), numbers, paragraph("after")))
    text, _ = inert(long)
    assert "before" in text
    assert "0 \ufffd<b>é" in text or "0 ?<b>é" in text
    assert text.endswith("More is in the panel: run the cell to see it.")
    assert "after" not in text
    picture = {"kind": "picture", "key": "p", "image": "p", "alt": "Bread"}
    shown = saved_html(_view(paragraph("Bread"), picture), {"p": ("image/png", b"x" * MOST_BYTES)})
    assert "Bread" in inert(shown)[0]
    assert "<img" not in shown


def test_a_formula_is_left_alone() -> None:
    """JupyterLab typesets what stands between dollars, unless it is told not to."""
    assert 'class="mathjax_ignore' in saved_html(_view(paragraph(typed_text("$5 and $6"))))


def test_headings_above_nothing_are_left_out() -> None:
    """Of a view with nothing but headings nothing is saved but that the cell can be run."""
    assert "" == saved_html(_view(heading("Export")))


def test_a_view_that_cannot_be_made_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """A mistake of ours costs what is saved, not the panel."""

    def broken(_: Session) -> list[Any]:
        return [{"kind": "table", "key": "x"}]

    SECTIONS["broken"] = Section("broken", lambda _: "Broken", broken)
    try:
        bundle = Explore(Session(CATALOG), ("broken",))._repr_mimebundle_()
    finally:
        del SECTIONS["broken"]
    assert bundle is not None
    assert _VIEW in bundle
    assert "<p>Broken: 60 products. Run this cell to use it.</p>" == bundle["text/html"]
    assert "KeyError" in caplog.text


def test_a_panel_that_was_closed_has_no_view() -> None:
    """It is named, as any other object."""
    panel = explore(CATALOG)
    panel.close()
    assert "Explore: 60 products" in repr(panel)


def test_a_page_around_it_does_not_style_what_is_saved() -> None:
    """Its own "card" is another thing; and a text that looks like an attribute stays as it was written."""
    hostile = ' class="card" <b class="card">'
    catalog = prodex.flatten(
        [{"id": 7, "namePublicLong": [{"data": hostile, "expressedIn": {"code": "fr"}}]}]
    )
    panel = explore(catalog, show="card", product_id="7")
    panel.app.view()
    panel.wait()
    html = saved_html(panel.app.view())
    assert "class=" not in html.replace(escape(hostile), "").removeprefix(
        '<div class="mathjax_ignore tex2jax_ignore">'
    )
    assert escape(hostile) in html
