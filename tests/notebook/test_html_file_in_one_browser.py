"""A file for colleagues in a browser: opened from a disk, it answers as Python does, and nothing in it runs."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import prodex
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.range_facets import column_of
from prodex.exploration.ranges import Histograms, measure_of
from prodex.notebook.assets import file_script
from prodex.notebook.html_file.products import CHECK
from prodex.notebook.html_file.write import write_products
from prodex.notebook.session.value import Session
from prodex.selection import Range, Selection
from prodex_sandbox.sample import AS_OF, shared_products
from tests.test_real_products import REAL

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

#: Selections that are drawn: of the sample, and of real products.
_DRAWN = 150
#: What somebody may type, beside pieces of texts that there are.
_TYPED = (
    "lait", "CRÈME brulee", '"de l"', "-bio", "lait OR milk", "NOT bio", "OR", '"', "œuf", "ß", "3036811359935",
    "00", "a b c", "ΣΟΦΟΣ", "İ", "\u0301", "a\u00a0b", "  ", "«pain d'épices»", "x" * 300, "😀", "\ud83d", "(", "[a-z]+",
)  # fmt: skip


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
    page.wait_for_function("document.querySelector('.prodex').dataset.underWay === '0'")


@pytest.fixture(scope="module")
def sample() -> tuple[prodex.Catalog, prodex.Audit]:
    """400 products of the sample, audited."""
    catalog = prodex.flatten(product.record for product in shared_products(400))
    return catalog, prodex.audit(catalog, "online-listing", now=AS_OF, progress=False)


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


def answered(page: Page, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the scripts of a file answer: which products meet conditions, and what is counted of each facet."""
    body = re.fullmatch(r'"use strict";\n\(\(\) => \{(.*)openFile\(\);\n\s*\}\)\(\);\n', file_script(), re.DOTALL)
    assert body is not None
    return list(page.evaluate(_ANSWERED.replace("SCRIPT", body[1]), asked))


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
    # Whoever asks what is missing in one language, of units of one kind, has it counted for these.
    if draw.random() < 0.3:
        missing = draw.sample([*data["missing"]["masks"]], 1)
        conditions["groups"]["missing"] = missing
    if draw.random() < 0.1:
        conditions["excluded"]["unit"] = ["false"]
    return conditions


def selection_of(conditions: Mapping[str, Any], checks: tuple[str, ...]) -> Selection:
    """Return the same conditions as Python has them."""
    found = Selection().searching(conditions["words"])
    for name, codes in conditions["groups"].items():
        if name == CHECK:
            found = found.failing_any("checks", tuple(codes))
        else:
            found = found.choosing(name, tuple(codes))
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


def compare_answers(
    catalog: prodex.Catalog, audit: prodex.Audit, page: Page, seed: int
) -> None:
    """Draw conditions, and compare what the file and Python answer to each."""
    draw = random.Random(seed)
    data = page.evaluate(
        _ANSWERED.replace("SCRIPT", _body()).replace("return asked.map", "return filter.data; asked.map"), []
    )
    words = [one for text in draw.sample(catalog.texts["text"].tolist(), 60) for one in text.split()[:3]]
    pieces = [*words, *(one[1:4] for one in words), *(f'"{one} {two}"' for one, two in zip(words, words[1:]))]
    asked = [drawn_conditions(data, pieces, draw) for _ in range(_DRAWN)]
    filter_ = ProductFilter(catalog, audit)
    checks = tuple(check.id for check in audit.checks)

    wrong = []
    found_some = 0
    for conditions, answer in zip(asked, answered(page, asked), strict=True):
        wanted = expected(filter_, selection_of(conditions, checks), data["names"])
        answer["counts"] = [one for one in answer["counts"] if one[0] != CHECK]
        found_some += "1" in wanted["mask"]
        if answer != wanted:
            wrong.append((conditions, [(a, b) for a, b in zip(answer["counts"], wanted["counts"]) if a != b][:2]))
    assert [] == wrong[:3]
    assert found_some > _DRAWN / 4


def _body() -> str:
    body = re.fullmatch(r'"use strict";\n\(\(\) => \{(.*)openFile\(\);\n\s*\}\)\(\);\n', file_script(), re.DOTALL)
    assert body is not None
    return body[1]


def test_every_count_is_that_of_python(
    sample: tuple[prodex.Catalog, prodex.Audit], browser: Browser, tmp_path: Path
) -> None:
    """For many selections of values, gaps, ranges, checks and words: the same products, and the same numbers."""
    catalog, audit = sample
    write_products(Session(catalog, audit), tmp_path / "shop.html", progress=False)

    with opened(tmp_path / "shop.html", browser) as page:
        compare_answers(catalog, audit, page, seed=54)
