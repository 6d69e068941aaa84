"""What an editor can say of prodex: names, keywords, types, and an example that runs for each public name."""

from __future__ import annotations

import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from pathlib import Path

import pytest

import prodex
from prodex.query import FILTERS
from tests.cases import each_row
from tests.public import PUBLIC
from tests.test_public_names import MODULES, NAMES

#: Values whose public methods people call, each with an example of its own.
VALUES = (
    "Audit",
    "Catalog",
    "Client",
    "Difference",
    "Gallery",
    "Ledger",
    "Origin",
    "Pictures",
    "ProductQuery",
    "Profile",
    "Tracking",
)


def members(name: str) -> Iterator[tuple[str, object]]:
    """Yield the public methods of a class that are prodex's own."""
    for member, value in inspect.getmembers_static(PUBLIC[name]):
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        is_own = str(getattr(function, "__module__", None)).startswith("prodex")
        if not member.startswith("_") and inspect.isfunction(function) and is_own:
            yield f"{name}.{member}", function


EVERY = PUBLIC | {path: function for name in VALUES for path, function in members(name)}


@each_row("path", EVERY)
def test_every_public_name_has_an_example(path: str) -> None:
    """In its docstring, where the doctests of `make test` run it; of classes and functions under its own heading."""
    text = inspect.getdoc(EVERY[path]) or ""

    assert ">>> " in text
    if "." not in path:
        assert "Examples\n--------" in text


@pytest.mark.slow
def test_an_editor_proposes_the_public_names_and_nothing_else() -> None:
    """In a fresh process and after everything was used: no imports of ours, and public modules alone."""
    code = (
        "import prodex; print(*dir(prodex)); [getattr(prodex, name) for name in prodex.__all__]; prodex.charts;"
        "import prodex.store.snapshot; print(*dir(prodex))"
    )
    words = [sys.executable, "-c", code]
    first, second = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()

    assert first == second
    assert sorted([*NAMES, *MODULES]) == [name for name in first.split() if not name.startswith("__")]


@pytest.mark.slow
def test_charts_are_there_without_an_import_of_their_own() -> None:
    """`px.charts.bars` works, and `import prodex` stays light: see the test of the architecture."""
    code = "import sys, prodex as px; assert 'matplotlib' not in sys.modules; print(px.charts.bars.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "bars" == done.stdout.strip()
    drawing = [name for name in prodex.charts.__all__ if callable(getattr(prodex.charts, name))]
    assert [] == [name for name in drawing if ">>> " not in inspect.getdoc(getattr(prodex.charts, name))]
    assert "prodex.charts" in (prodex.__doc__ or "")


def test_a_name_that_there_is_not_is_told_with_the_nearest() -> None:
    """The error names the nearest public name."""
    with pytest.raises(AttributeError, match="did you mean 'load_products'"):
        _ = prodex.load_product


def test_the_keywords_of_a_query_are_the_filters() -> None:
    """Each with its type and its place in the docstring; what is none of them is not proposed."""
    signature = inspect.signature(prodex.ProductQuery)
    named = [one for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    documented = (
        (inspect.getdoc(prodex.ProductQuery) or "").partition("Parameters\n")[2].partition("Raises\n")[0]
    )
    hints = typing.get_type_hints(
        prodex.ProductQuery.__init__, vars(sys.modules["prodex.query.product_query"])
    )

    assert [*FILTERS, "extra"] == [one.name for one in named]
    assert [] == [one.name for one in named if f"{one.name}\n" not in documented.replace(", ", "\n")]
    assert [] == [one.name for one in named if hints[one.name] is typing.Any]
    assert typing.Never is hints["unknown"]


def test_the_fields_of_a_query_have_the_types_that_they_hold() -> None:
    """They hold tuples, moments and codes, in whatever form these were given."""
    hints = typing.get_type_hints(prodex.ProductQuery, vars(sys.modules["prodex.query.product_query"]))
    query = prodex.ProductQuery(
        gtins_in="3036811359935", target_market="France", has_packshot=True, search="cocoa", owners_in=4
    )

    assert set(FILTERS) <= hints.keys()
    for name in FILTERS:
        value = getattr(query, name)
        wanted = [typing.get_origin(one) or one for one in typing.get_args(hints[name])]
        assert isinstance(value, tuple(wanted)), name


def test_an_editor_knows_what_a_difference_is() -> None:
    """Of two catalogues `diff` returns a Difference, and of two audits their comparison."""
    overloads = {
        typing.get_type_hints(one, {**vars(sys.modules[one.__module__])})["return"].__name__
        for one in typing.get_overloads(prodex.diff)
    }

    assert {"AuditComparison", "Difference"} == overloads


@pytest.mark.slow
def test_a_type_checker_agrees(tmp_path: Path) -> None:
    """With keywords of a query, tables, and both kinds of difference; and it refuses what is none."""
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(
        "import pandas as pd\nimport prodex as px\n"
        "query = px.ProductQuery(target_market='France', gtins_in=[3036811359935], tags_in='new')\n"
        "catalog = px.load_products(px.connect('sandbox'), query)\n"
        "texts: pd.DataFrame = catalog.texts\n"
        "changed: pd.DataFrame = px.diff('a', catalog).changes\n"
        "fixed: pd.DataFrame = px.diff(px.audit('a'), px.audit(catalog)).changes('fixed')\n"
        "score: float = px.audit(catalog).score\n"
        "figure = px.charts.bars\n"
    )
    bad.write_text("import prodex as px\npx.ProductQuery(marktet=250)\n")
    # With the configuration and the cache of `make test`, which has checked all of prodex before.
    words = [sys.executable, "-m", "mypy", str(good), str(bad)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    lines = [line for line in done.stdout.splitlines() if str(tmp_path) in line or "good.py" in line]

    assert [] == [line for line in lines if "good.py" in line]
    assert "bad.py:2" in done.stdout
