"""The documentation builds without a warning, offline, and has every name, column, rule and fault."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import prodex
from prodex import charts, sandbox
from prodex.quality.rulebook import RULES
from prodex.tables.declaration import TABLES

ROOT = Path(__file__).parents[1]
# One worker builds once for all of them.
pytestmark = [pytest.mark.xdist_group("documentation"), pytest.mark.slow]

TOOLS = ("sphinx", "myst_parser", "pydata_sphinx_theme")


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

    assert [] == [rule.id for rule in RULES.values() if rule.shipped and rule.id not in rules]
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
