"""A file for colleagues in a browser: opened from a disk, it answers as Python does, and nothing in it runs."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import prodex
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.product_columns import ProductRows
from prodex.exploration.range_facets import column_of
from prodex.exploration.ranges import Histograms, measure_of
from prodex.exploration.table_page import Order, Sorter, cells
from prodex.notebook.assets import file_script
from prodex.notebook.html_file.products import CHECK
from prodex.notebook.html_file.write import write_products
from prodex.notebook.session.session import Session
from prodex.selection import Range, Selection
from prodex_sandbox.sample import AS_OF, shared_products
from tests.quality import hostile
from tests.quality.hostile import CONTROLS, LONG, STRINGS
from tests.test_real_products import REAL

from .one_browser import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

#: Selections that are drawn: of the sample, and of real products.
_DRAWN = 150
#: What somebody may type, beside pieces of texts that there are.
_TYPED = (
    *(
        "lait",
        "CRÈME brulee",
        '"de l"',
        '"de l eau a b"',
        "-bio",
        "lait OR milk",
        "NOT bio",
        "OR",
        '"',
        "œuf",
        "ß",
    ),
    *(
        "3036811359935",
        "00",
        "a b c",
        "ΣΟΦΟΣ",
        "İ",
        "\u0301",
        "a\u00a0b",
        "  ",
        "«pain d'épices»",
        "x" * 300,
        "😀",
    ),
    *("(", "[a-z]+", "0x", "\u2028"),
    *('"demi-écrémé 2,5"', '"^a-b$ (c) [d] {e} | f/g\\ *+.?"', f'"{"x" * 40_000} b"'),
)


@contextmanager
def opened(path: Path, browser: Browser, **options: Any) -> Iterator[Page]:
    """Open a file from the disk; whatever it asks for, says or raises fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, **options)
    page = context.new_page()
    wrong: list[str] = []
    page.on("request", lambda one: wrong.append(one.url) if one.url != path.as_uri() else None)
    page.on("console", lambda one: wrong.append(one.text))
    page.on("pageerror", lambda one: wrong.append(str(one)))
    page.on("dialog", lambda one: wrong.append(one.message))
    page.goto(path.as_uri())
    page.locator(".page-body").wait_for()
    yield page
    settled(page)
    assert [] == wrong
    context.close()


def settled(page: Page) -> None:
    """Wait until all that was pressed is answered."""
    page.wait_for_selector(".prodex[data-under-way='0']", state="attached")


@pytest.fixture(scope="module")
def sample() -> tuple[prodex.Catalog, prodex.quality.Audit]:
    """400 products of the sample, audited, and one whose words are far from each other."""
    spaced = {"expressedIn": {"code": "fra-FR"}, "data": "de  l\u2003eau\na\u00a0b c"}
    records = [
        *(product.record for product in shared_products(400)),
        {"id": "spaced", "namePublicLong": [spaced]},
    ]
    catalog = prodex.flatten(records)
    return catalog, prodex.audit(catalog, "online-listing", now=AS_OF, progress=False)


_DATA = """async () => {
    const partOfFile = (() => { SCRIPT; return partOfFile; })();
    return partOfFile("data");
}"""
_ANSWERED = """async (asked) => {
    const { FileFilter, partOfFile } = (() => { SCRIPT; return { FileFilter, partOfFile }; })();
    const filter = new FileFilter(await partOfFile("data"));
    return asked.map((conditions) => {
        const left = filter.narrow(conditions);
        const counts = filter.data.names.map((name) => {
            const facet = filter.facet(name, conditions);
            const numbers = filter.counts(facet, left.without(name));
            return [name, facet.codes ? facet.codes.map((code, at) => [code, numbers[at]]) : numbers];
        });
        return { mask: left.mask.join(""), counts };
    });
}"""


def drawn_conditions(data: Mapping[str, Any], pieces: list[str], draw: random.Random) -> dict[str, Any]:
    """Return conditions as a file has them: of several facets, ranges and words."""
    conditions: dict[str, Any] = {"groups": {}, "excluded": {}, "ranges": {}, "words": ""}
    for name in draw.sample(data["names"], draw.choice((0, 1, 1, 2, 2, 3))):
        facet = next((one for one in data["facets"] if one["key"] == name), None)
        if facet is not None and "measure" in facet:
            if facet["bins"]:
                one, other = sorted(draw.choices(range(len(facet["bins"])), k=2))
                limits = {"least": facet["bins"][one]["least"], "greatest": facet["bins"][other]["greatest"]}
                conditions["ranges"][name] = {**limits, draw.choice(["least", "greatest", "neither"]): None}
                conditions["ranges"][name].pop("neither", None)
            continue
        codes = facet["codes"] if facet is not None else [*data["missing"]["masks"]]
        if name == CHECK:
            codes = [code for code in codes if code is not None]
        if codes:
            chosen = draw.sample(codes, min(len(codes), draw.choice((1, 1, 2, 3))))
            conditions[draw.choice(["groups", "groups", "excluded"])][name] = chosen
    if draw.random() < 0.5:
        conditions["words"] = draw.choice([*_TYPED, *draw.choices(pieces, k=len(_TYPED))])
    # Whoever asks what is missing in one language, of units of one kind, has it counted for these. Nobody selects and
    # excludes the same value.
    if draw.random() < 0.3:
        conditions["excluded"].pop("missing", None)
        conditions["groups"]["missing"] = draw.sample([*data["missing"]["masks"]], 1)
    if draw.random() < 0.1:
        conditions["groups"].pop("unit", None)
        conditions["excluded"]["unit"] = ["false"]
    return conditions


def selection_of(conditions: Mapping[str, Any], checks: tuple[str, ...]) -> Selection:
    """Return the same conditions as Python has them."""
    found = Selection().searching(conditions["words"])
    for name, codes in conditions["groups"].items():
        is_check, chosen = name == CHECK, tuple(codes)
        found = found.failing_any("checks", chosen) if is_check else found.choosing(name, chosen)
    for name, codes in conditions["excluded"].items():
        if name == CHECK:
            found = found & ~Selection().failing_any("checks", tuple(codes))
        else:
            for code in codes:
                found = found.excluding(name, code)
    for name, limits in conditions["ranges"].items():
        column = column_of(name)
        assert column is not None
        found = found.within(column, Range(*(_limit(column, limits[one]) for one in ("least", "greatest"))))
    return found


def _limit(column: str, value: Any) -> Any:
    if value is None or measure_of(column) != "date":
        return value
    return datetime(1970, 1, 1) + timedelta(microseconds=value)  # noqa: DTZ001 - the tables have dates without a zone


def expected(filter_: ProductFilter, selection: Selection, names: list[str]) -> dict[str, Any]:
    """Return what Python answers."""
    left = filter_.narrow(selection)
    counts: list[Any] = []
    for name in names:
        if column := column_of(name):
            found = Histograms(filter_.products).of(column, left.without(column))
            counts.append([name, [*found.counts]])
        elif name != CHECK:
            filter_.facets.look_at(selection)
            values = filter_.facets[name]
            numbers = values.count(left.without(name)).tolist()
            counts.append([name, [list(one) for one in zip(values.codes, numbers, strict=True)]])
    return {"mask": "".join(map(str, left.mask.astype(int))), "counts": counts}


def compare_answers(catalog: prodex.Catalog, audit: prodex.quality.Audit, page: Page, seed: int) -> None:
    """Draw conditions, and compare what the file and Python answer to each."""
    draw = random.Random(seed)
    data = page.evaluate(_DATA.replace("SCRIPT", scripts()))
    words = [one for text in draw.sample(catalog.texts["text"].tolist(), 60) for one in text.split()[:3]]
    pieces = [*words, *(one[1:4] for one in words), *(f'"{one} {two}"' for one, two in pairwise(words))]
    pieces += [f"0000{gtin}" for gtin in catalog.products["gtin"].dropna().head(5)]
    asked = [drawn_conditions(data, pieces, draw) for _ in range(_DRAWN)]
    asked += [{"groups": {}, "excluded": {}, "ranges": {}, "words": one} for one in (*_TYPED, *pieces[-5:])]
    filter_ = ProductFilter(catalog, audit)
    checks = tuple(check.id for check in audit.checks)

    wrong = []
    found_some = 0
    answers = page.evaluate(_ANSWERED.replace("SCRIPT", scripts()), asked)
    for conditions, answer in zip(asked, answers, strict=True):
        wanted = expected(filter_, selection_of(conditions, checks), data["names"])
        answer["counts"] = [one for one in answer["counts"] if one[0] != CHECK]
        found_some += "1" in wanted["mask"]
        if answer != wanted:
            both = zip(answer["counts"], wanted["counts"], strict=True)
            wrong.append((conditions, [pair for pair in both if pair[0] != pair[1]][:2]))
    assert [] == wrong[:3]
    assert found_some > _DRAWN / 4


def scripts() -> str:
    """Return the scripts of a file, without the call that opens it."""
    body = re.fullmatch(
        r'"use strict";\n\(\(\) => \{\n(.*)\nopenFile\(\);\n\}\)\(\);\n', file_script(), re.DOTALL
    )
    assert body is not None
    return body[1]


@pytest.mark.slow
def test_every_count_is_that_of_python(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], browser: Browser, tmp_path: Path
) -> None:
    """For many selections of values, gaps, ranges, checks and words: the same products, and the same numbers."""
    catalog, audit = sample
    written = write_products(Session(catalog, audit), tmp_path / "shop.html", progress=False)

    with opened(written.path, browser) as page:
        compare_answers(catalog, audit, page, seed=54)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_file(), reason="real products are not on this machine")
def test_every_count_of_real_products_is_that_of_python(browser: Browser, tmp_path: Path) -> None:
    """Real products have odd letters, brands, gaps and dates."""
    catalog = prodex.read_products(REAL)
    catalog = catalog.where(catalog.products.index % 10 == 3)
    audit = prodex.audit(catalog, "online-listing", now=AS_OF, progress=False)
    written = write_products(Session(catalog, audit), tmp_path / "real.html", progress=False)

    with opened(written.path, browser) as page:
        compare_answers(catalog, audit, page, seed=5)


# What somebody does in it.


def facet(page: Page, title: str) -> Locator:
    """Return a facet by its title."""
    return page.locator(".facet", has=page.locator(".facet-head", has_text=title))


def summary(page: Page) -> str:
    """Return how many products the table has."""
    settled(page)
    return page.locator(".table-head .text").inner_text()


@pytest.fixture(scope="module")
def shop(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A file of some of them."""
    catalog, audit = sample
    some = catalog.where(catalog.products.index < 130)
    path = tmp_path_factory.mktemp("shop") / "shop.html"
    return write_products(Session(some, audit.only(some.products["product_id"])), path, progress=False).path


def test_a_colleague_filters_searches_sorts_and_opens_cards(
    shop: Path, sample: tuple[prodex.Catalog, prodex.quality.Audit], browser: Browser
) -> None:
    """Presses lead to the same products as in Python; what was chosen is a chip, and can be gone back from."""
    catalog = sample[0].where(sample[0].products.index < 130)
    filter_ = ProductFilter(catalog, sample[1])
    brand = filter_.facets["brand"]
    with opened(shop, browser) as page:
        assert "1 to 50 of 130 products" == summary(page)
        facet(page, "Brand").locator("button.value").first.click()
        chosen = Selection().toggled("brand", brand.codes[brand.order(brand.totals)[0]])
        many = int(filter_.mask(chosen).sum())
        assert f"of {many} products (130 in all)" in summary(page)
        page.get_by_label("Search", exact=True).fill("xyzzy")
        page.get_by_text("No products to show.").wait_for()
        assert 2 == page.locator(".chips .is-chip", has_text="✕").count()
        for left in (many, 130):
            page.get_by_role("button", name="← Back").click()
            assert f"{left} products" in summary(page)

        page.get_by_role("button", name="Name", exact=True).click()
        settled(page)
        names = page.locator("td.name").all_inner_texts()
        order = Sorter(filter_.products).order(Order("name"))
        shown = cells(ProductRows(filter_.products, order[:50]), ["name"]).iloc[:, 0].tolist()
        assert [" ".join(one.split()) for one in shown] == [" ".join(one.split()) for one in names]

        page.locator("td.name").nth(3).click()
        page.locator(".card h3").wait_for()
        assert names[3][:20] in page.locator(".card h3").inner_text()
        assert ["Status", "Properties", "Quality"] == [
            one.split("\n")[0].split(" by")[0] for one in page.locator(".card h4").all_inner_texts()[:3]
        ]


def test_a_check_lists_the_products_that_fail_it(
    shop: Path, sample: tuple[prodex.Catalog, prodex.quality.Audit], browser: Browser
) -> None:
    """From the figures of the audit, and from the filters: the same products as the audit has."""
    audit = sample[1].only(sample[0].products["product_id"].head(130))
    worst = audit.by_check.sort_values("failed", kind="stable").iloc[-1]
    with opened(shop, browser) as page:
        page.get_by_role("button", name="Quality", exact=True).click()
        page.locator("table", has_text="Not applicable").locator(
            "tr", has_text=str(worst["problem"])
        ).first.click()
        assert f"of {worst['failed']} products (130 in all)" in summary(page)
        facet(page, "Failing check").locator(".facet-head").click()
        assert "true" == facet(page, "Failing check").locator("button.value").first.get_attribute(
            "aria-pressed"
        )
        page.get_by_role("button", name="Quality", exact=True).click()
        page.locator(".tile", has_text="blocker").get_by_role("button").click()
        blocked = [one.id for one in audit.checks if one.severity == "blocker"]
        mask = ProductFilter(sample[0].where(sample[0].products.index < 130), audit).mask(
            Selection().failing_any("blockers", tuple(blocked))
        )
        assert f"{int(mask.sum())} products (130 in all)" in summary(page)


def test_a_range_is_typed_and_pressed(
    shop: Path, sample: tuple[prodex.Catalog, prodex.quality.Audit], browser: Browser
) -> None:
    """A day, a bar, and what nobody understands, which is said beside its field."""
    catalog = sample[0].where(sample[0].products.index < 130)
    with opened(shop, browser) as page:
        facet(page, "Updated").locator(".facet-head").click()
        day = catalog.products["updated_at"].median().date()
        facet(page, "Updated").get_by_label("from").fill(day.isoformat())
        facet(page, "Updated").get_by_label("from").press("Enter")
        settled(page)
        many = int((catalog.products["updated_at"] >= str(day)).sum())
        assert f"of {many} products" in summary(page)
        page.locator(".chips .is-chip").click()
        facet(page, "Score").locator(".facet-head").click()
        facet(page, "Score").get_by_label("from").fill("much")
        facet(page, "Score").get_by_label("from").press("Enter")
        page.get_by_role("alert").filter(has_text="is not understood").wait_for()
        assert "130 products" in summary(page)
        bar = facet(page, "Score").locator(".bin").last
        bar.click()
        assert (
            f"of {(bar.get_attribute('aria-label') or '').split(': ')[1]} (130 in all)"
            in f"of {summary(page)}"
        )


def test_a_file_is_used_by_keyboard_alone(shop: Path, browser: Browser) -> None:
    """Search, a filter, the rows, a card and back: the focus is where it is expected."""
    with opened(shop, browser) as page:
        for _ in range(30):
            page.keyboard.press("Tab")
            if "search" == page.evaluate("document.activeElement.type"):
                break
        page.keyboard.type("a")
        page.keyboard.press("Enter")
        settled(page)
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.classList.contains('value')"):
                break
        page.keyboard.press("Enter")
        settled(page)
        assert "true" == page.evaluate("document.activeElement.getAttribute('aria-pressed')")
        for _ in range(80):
            page.keyboard.press("Tab")
            if "TR" == page.evaluate("document.activeElement.tagName"):
                break
        page.keyboard.press("ArrowDown")
        row = page.evaluate("document.activeElement.dataset.key")
        page.keyboard.press("Enter")
        page.locator(".card h3").wait_for()
        page.keyboard.press("Escape")
        settled(page)
        assert 0 == page.locator(".card").count()
        assert row == page.evaluate("document.activeElement.dataset.key")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_file_is_read_by_everybody(shop: Path, browser: Browser, scheme: str) -> None:
    """The checker of accessibility has nothing to say, in either theme; nothing is wider than the page."""
    with opened(shop, browser, color_scheme=scheme) as page:
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert {"light": "rgb(255, 255, 255)", "dark": "rgb(22, 27, 34)"}[scheme] == ground
        for width in (1440, 800, 600):
            page.set_viewport_size({"width": width, "height": 900})
            page.locator("td.name").first.click()
            page.locator(".card h3").wait_for()
            assert [] == violations(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            page.keyboard.press("Escape")
        page.get_by_role("button", name="Quality", exact=True).click()
        settled(page)
        assert [] == violations(page)


def test_what_is_printed_is_what_is_shown(shop: Path, browser: Browser) -> None:
    """All rows of the page, and the card whole, on white, without what is only there to be pressed."""
    with opened(shop, browser, color_scheme="dark") as page:
        page.locator("td.name").first.click()
        page.locator(".card h3").wait_for()
        page.emulate_media(media="print")
        page.wait_for_selector("html[data-theme='light']")
        assert "rgb(255, 255, 255)" == page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert 50 == page.locator("td.name").count()
        # What scrolls on the screen has no rest that would not be printed.
        for place in (".product-table .scroll", ".pane"):
            assert page.locator(place).evaluate("one => one.scrollHeight <= one.clientHeight + 1")
        assert not page.locator(".facet-list").is_visible()
        assert not page.locator(".pager button").first.is_visible()
        assert page.locator("h1").is_visible()


def test_nothing_of_a_supplier_runs_in_a_file(browser: Browser, tmp_path: Path) -> None:
    """Hostile texts in every place: all are shown, none runs, nothing is fetched, and no words of ours are turned."""
    catalog = hostile.catalog()
    audit = prodex.audit(catalog, "online-listing", now=AS_OF, progress=False)
    written = write_products(Session(catalog, audit), tmp_path / "shop.html", progress=False)
    with opened(written.path, browser) as page:
        title = page.title()
        for head in page.locator(".facet-head").all():
            if head.get_attribute("aria-expanded") == "false":
                head.click()
                settled(page)
        page.locator(".facet-row button.value", has_text="<img").first.click()
        settled(page)
        page.get_by_role("button", name="← Back").click()
        whole = ""
        for place in range(len(catalog)):
            page.locator("tr[data-key^='row/']").nth(place).locator("td.name").click()
            settled(page)
            page.locator(".card h4").first.wait_for()
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            whole += page.locator(".card").evaluate("one => one.textContent")
        assert [] == [one for one in (*STRINGS, CONTROLS[1], LONG) if one not in whole]
        assert title == page.title()
        made = "main :is(script, svg, iframe, base, object, embed, link, form, img)"
        assert 0 == page.locator(made).count()
        page.get_by_label("Search", exact=True).fill("\u202e</script><!-- \u2028")
        page.get_by_text("No products to show.").wait_for()


def test_without_an_audit_there_is_no_section_of_it(browser: Browser, tmp_path: Path) -> None:
    """An empty one would look as if nothing had been found."""
    path = write_products(Session(prodex.flatten([{"id": 7}])), tmp_path / "shop.html").path

    with opened(path, browser) as page:
        page.get_by_text("1 product", exact=True).first.wait_for()
        assert 0 == page.get_by_role("button", name="Quality").count()


def test_without_scripts_a_file_says_what_to_do(shop: Path, browser: Browser) -> None:
    """As in a preview of a mail."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(shop.as_uri())
    assert "Open it in a browser" in page.locator("noscript").inner_text()
    context.close()


def test_a_damaged_file_says_so(shop: Path, browser: Browser, tmp_path: Path) -> None:
    """One that was cut in the middle of its data, and one that lacks its cards."""
    text = shop.read_text("utf-8")
    (tmp_path / "cut.html").write_text(re.sub(r'(id="prodex-data">).{200}', r"\1", text), "utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "cut.html").as_uri())
    page.get_by_text("This file cannot be shown: it is damaged").wait_for()
    context.close()

    (tmp_path / "cards.html").write_text(
        text[: text.index('<script type="text/x-prodex" id="prodex-cards-')], "utf-8"
    )
    with opened(tmp_path / "cards.html", browser) as page:
        page.locator("td.name").first.click()
        page.get_by_text("This part of the file cannot be read").wait_for()


# What changed.


def test_a_cause_lists_its_values(browser: Browser, tmp_path: Path) -> None:
    """A press on what happened leads to its old and new values; added products are listed; hostile values are text."""
    records = [product.record for product in shared_products(60)]
    after = json.loads(json.dumps(records[2:]))
    for number, record in enumerate(after):
        record["serves"] = number
        if number % 2:
            text = STRINGS[number % len(STRINGS)]
            record["namePublicLong"] = [{"expressedIn": {"code": "fra-FR"}, "data": text}]
    difference = prodex.diff(prodex.flatten(records[:50]), prodex.flatten(after))
    written = difference.to_html(tmp_path / "changes.html", progress=False)
    values = difference.changes.groupby("attribute").size()
    for scheme in ("light", "dark"):
        with opened(written.path, browser, color_scheme=scheme) as page:
            page.locator("tr", has_text="Serves").first.click()
            settled(page)
            pager = page.locator(".pager .text")
            assert f"1 to 20 of {values['serves']} changed values" == pager.inner_text()
            assert page.locator("[data-block='values-bar']").evaluate(_IS_IN_SIGHT)
            page.get_by_role("button", name="Next").click()
            settled(page)
            assert f"21 to 40 of {values['serves']} changed values" == pager.inner_text()
            page.get_by_label("Changes of").select_option("added products (10)")
            settled(page)
            assert 10 == page.locator("table.rows", has_text="Owner").first.locator("tbody tr").count()
            page.get_by_label("Changes of").select_option(index=0)
            settled(page)
            page.get_by_role("button", name="brands").click()
            settled(page)
            assert page.get_by_text("brands with changes").is_visible()
            assert 0 == page.locator("main :is(script, svg, iframe, base, img)").count()
            assert [] == violations(page)
            page.set_viewport_size({"width": 600, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


_IS_IN_SIGHT = (
    "one => { const box = one.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; }"
)
