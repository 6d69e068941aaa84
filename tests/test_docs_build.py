"""The documentation builds without a warning, offline, and has every name, column, rule, fault and notebook."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

import prodex
from prodex import charts, operations, sandbox
from prodex.cli.lab import is_tutorial
from prodex.quality.rulebook import all_rules
from prodex.tables.declaration import TABLES
from tests.accessibility import violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]
# One worker builds once for all of them, and has the browser.
pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

TOOLS = ("sphinx", "myst_nb", "pydata_sphinx_theme")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages once; under CI the tools must be there."""
    missing = [name for name in TOOLS if find_spec(name) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"{', '.join(missing)} missing, and CI needs them")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    folder = tmp_path_factory.mktemp("docs")
    # No proxy answers there: a page that fetches something would fail.
    offline = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", str(folder / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
        env={**os.environ, **offline},
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr), done.stderr[-3000:]
    return folder / "html"


def text_of(page: Path) -> str:
    """Return the words of a page without its markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", page.read_text("utf-8")))


def test_every_public_name_is_described(built: Path) -> None:
    """Each has an entry of its own in the reference, and so have charts, errors and the sandbox."""
    pages = "".join(
        page.read_text("utf-8") for page in (built / "reference" / "generated").glob("api-*.html")
    )
    names = [f"prodex.{name}" for name in prodex.__all__]
    names += [f"prodex.charts.{name}" for name in charts.__all__]
    names += [f"prodex.operations.{name}" for name in operations.__all__]
    names += [f"prodex.sandbox.{name}" for name in sandbox.__all__ if callable(getattr(sandbox, name))]
    names += ["prodex.errors.ProdexError", "prodex.errors.IncompleteLoad"]

    assert [] == [name for name in names if f'id="{name}"' not in pages]


def test_every_table_and_column_is_described(built: Path) -> None:
    """The page comes from the declaration: name, type, wire path and meaning of each column."""
    page = text_of(built / "reference" / "generated" / "tables.html")
    columns = [column for table in TABLES.values() for column in table.columns]

    rows = {table.name: table.row.replace("`", "") for table in TABLES.values()}
    assert [] == [name for name, row in rows.items() if f"One row per {row}" not in page]
    assert [] == [one.name for one in columns if one.name not in page]


def test_every_rule_profile_and_fault_is_described(built: Path) -> None:
    """Each is found under its own name."""
    folder = built / "reference" / "generated"
    names = ("rules", "profiles", "faults", "simulation")
    rules, profiles, faults, incidents = (text_of(folder / f"{name}.html") for name in names)

    assert [] == [rule.id for rule in all_rules().values() if rule.shipped and rule.id not in rules]
    for rule in all_rules().values():
        if rule.shipped:
            page = text_of(folder / f"rule-{rule.id}.html")
            for words in ("Example", "What it cannot see", "switch it off", "can still be wrong", "Source"):
                assert words in page, rule.id
    assert [] == [name for name in prodex.profiles()["profile"] if name not in profiles]
    assert [] == [name for name in sandbox.FAULTS if name not in faults]
    assert [] == [name for name in sandbox.INCIDENTS if name not in incidents]


def test_every_example_of_how_to_add_something_is_a_page(built: Path) -> None:
    """The page is the text of the test, so that it cannot show what does not work."""
    examples = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "extending").glob("test_*.py")}

    assert examples == {page.stem for page in (built / "extending" / "generated").glob("*.html")}


def test_security_changelog_and_conformance_are_among_the_pages(built: Path) -> None:
    """They are the files of the repository, not copies of them."""
    for page, words in (
        ("security", "What is defended"),
        ("changelog", "newest first"),
        ("contributing", "before each commit"),
        ("conformance", "POST /auth/v2/token"),
    ):
        assert words in text_of(built / f"{page}.html"), page


def test_no_page_fetches_anything_from_elsewhere(built: Path) -> None:
    """Scripts, styles, fonts and pictures all come from the folder itself."""
    fetched = re.compile(r"<(?:script|img|link|source)[^>]+(?:src|href|srcset)=\"(?:https?:)?//[^\"]+")

    assert [] == [
        (page.name, found)
        for page in built.rglob("*.html")
        for found in fetched.findall(page.read_text("utf-8"))
    ]


#: Tags that name something, or lead somewhere. Of pages with source code nearly all others are colours of words.
_TAG = re.compile(r"<(?!script|style)[a-z][^>]*\s(?:id|name|href|src)=[^>]*>")


class Links(HTMLParser):
    """What a page links to and shows, and the places in it that others may link to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()
        self.feed("".join(_TAG.findall(page.read_text("utf-8"))))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep addresses of links and pictures, and ids."""
        found = dict(attrs)
        wanted = {"a": "href", "img": "src"}.get(tag)
        if wanted and (target := found.get(wanted)):
            self.targets.append(target)
        self.places |= {value for name in ("id", "name") if (value := found.get(name))}


@pytest.fixture(scope="module")
def links(built: Path) -> dict[Path, Links]:
    """Read each page once."""
    return {page: Links(page) for page in built.rglob("*.html") if "_static" not in page.parts}


def linked(page: Path, target: str) -> tuple[Path, str]:
    """Return the file and the place that a link of a page leads to."""
    parts = urlsplit(target)
    return ((page.parent / unquote(parts.path)).resolve() if parts.path else page), unquote(parts.fragment)


def test_every_link_and_picture_of_every_page_is_there(links: dict[Path, Links]) -> None:
    """Files, and places in them; only what is elsewhere in the network is not asked for."""
    wrong = []
    for page, found in links.items():
        for target in found.targets:
            if urlsplit(target).scheme:
                assert target.startswith(("https://", "data:image/", "mailto:")), (page.name, target)
                continue
            file, place = linked(page, target)
            if not file.exists() or (place and file in links and place not in links[file].places):
                wrong.append((page.name, target))

    assert [] == wrong


def test_every_page_is_reached_from_the_first(built: Path, links: dict[Path, Links]) -> None:
    """By links alone, without search and index."""
    apart = {built / name for name in ("search.html", "genindex.html", "py-modindex.html")}
    reached, waiting = set(), [built / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in reached or page in apart or page not in links:
            continue
        reached.add(page)
        waiting += [linked(page, target)[0] for target in links[page].targets if not urlsplit(target).scheme]

    assert set() == links.keys() - reached - apart


def test_every_notebook_is_a_page_with_its_results(built: Path, links: dict[Path, Links]) -> None:
    """Headings, code, tables and charts as they are kept, and the file itself to download."""
    import nbformat  # here, since it takes seconds to import

    for path in filter(is_tutorial, (ROOT / "notebooks").glob("*.ipynb")):
        page = built / "tutorials" / "generated" / f"{path.stem}.html"
        shown = "".join(text_of(page).split())
        cells = nbformat.read(path, as_version=4).cells
        outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]

        assert [] == [
            one.source
            for one in cells
            if one.cell_type == "code" and "".join(one.source.split()) not in shown
        ]
        assert sum("image/png" in data for data in outputs) <= page.read_text("utf-8").count("<img")
        assert sum("text/html" in data for data in outputs) == page.read_text("utf-8").count(
            "output text_html"
        )
        assert [path.name] == [Path(one).name for one in links[page].targets if one.endswith(".ipynb")]


@contextmanager
def opened(
    browser: Browser, page: Path, *, scheme: str = "light", width: int = 1280, query: str = ""
) -> Iterator[Page]:
    """Open a page as a file, where nobody serves it; what the browser complains of is an error."""
    context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme)  # type: ignore[arg-type]
    said: list[str] = []
    with context.new_page() as tab:
        tab.on("console", lambda one: said.append(one.text) if one.type in {"error", "warning"} else None)
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(f"{page.as_uri()}{query}")
        yield tab
    context.close()
    assert [] == said


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("worklist", "howto/worklists.html"),
        ("packshot", "tutorials/generated/04_pictures.html"),
        ("units_per_root", "reference/generated/tables.html"),
        ("PublicationConflict", "reference/generated/api-errors.html"),
    ],
)
def test_search_finds_pages_in_a_folder_of_files(built: Path, browser: Browser, word: str, page: str) -> None:
    """Somebody who got the folder as an archive searches as on a server."""
    with opened(browser, built / "search.html", query=f"?q={word}") as tab:
        tab.locator("ul.search li").first.wait_for()
        tab.wait_for_function(
            "document.querySelector('#search-progress, .search-summary')?.innerText.includes('finished')"
        )
        found = tab.eval_on_selector_all("ul.search li a", "links => links.map(link => link.href)")

    assert [link for link in found if urlsplit(link).path.endswith(page)]


#: One of each kind: front, tutorial with charts and with panels, how-to, tables, rules, benchmarks.
LOOKED_AT = (
    "index",
    "tutorials/generated/01_first_look",
    "tutorials/generated/03_filter_and_explore",
    "howto/auditing",
    "reference/generated/tables",
    "extending/generated/rule",
    "performance",
)


@pytest.mark.parametrize("name", LOOKED_AT)
def test_pages_can_be_read_on_light_and_dark_screens(built: Path, browser: Browser, name: str) -> None:
    """Text has contrast, and of each picture the one that fits is shown, on the ground of the page."""
    rules = ["image-alt", "link-name", "duplicate-id"]
    with opened(browser, built / f"{name}.html") as tab:
        for scheme, other in (("light", "dark"), ("dark", "light")):
            tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            tab.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
            assert [] == [one for one in tab.locator(f"img.only-{other}").all() if one.is_visible()]
            # Only contrast depends on the theme.
            assert [] == violations(tab, "article", "all" if scheme == "light" else "colours", rules)
            grounds = tab.eval_on_selector_all(
                "article img:not(.only-light):not(.only-dark), article .cell_output .text_html",
                "all => all.map(one => getComputedStyle(one).backgroundColor)",
            )
            assert {"rgba(0, 0, 0, 0)"} >= set(grounds)


@pytest.mark.parametrize("name", LOOKED_AT)
def test_pages_fit_a_phone(built: Path, browser: Browser, name: str) -> None:
    """Wide tables, code and charts scroll inside themselves."""
    with opened(browser, built / f"{name}.html", width=390) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
