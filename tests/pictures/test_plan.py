"""What is decided before anything is fetched: which file, under which name."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError
from prodex.pictures.plan import plan, size_in
from tests.cases import each_row

from . import drawn


def renditions(*sides: int | None) -> list[dict[str, Any]]:
    return [{"uniformResourceIdentifier": f"{side}", "width": side, "height": side} for side in sides]


@each_row(
    ("sides", "size", "url"),
    [
        ((1024, 512, 256), None, "original"),
        ((1024, 512, 256), 512, "512"),
        ((256, 512, 1024), 500, "512"),
        ((1024, 512, 256), 513, "1024"),
        ((1024, 512, 256), 2000, "1024"),
        ((64, 128), 512, "128"),
        ((), 512, "original"),
        ((None,), 512, "original"),
        ((0,), 512, "original"),
    ],
)
def test_the_smallest_rendition_that_is_large_enough(
    sides: tuple[int | None, ...], size: int | None, url: str
) -> None:
    """A size selects the smallest rendition that is large enough, else the largest, else the original."""
    catalog = prodex.flatten([drawn.product(1, {"url": "original", "exportables": renditions(*sides)})])

    assert [url] == [picture.url for picture in plan(catalog, size=size)]


def test_the_longest_side_counts() -> None:
    """The longest side of a rendition counts, and renditions without an address do not."""
    tall = {"uniformResourceIdentifier": "tall", "width": 300, "height": 600}
    lost = {"width": 512, "height": 512}
    catalog = prodex.flatten([drawn.product(1, {"url": "original", "exportables": [lost, tall]})])

    assert ["tall"] == [picture.url for picture in plan(catalog, size=512)]


def test_what_is_told_of_the_chosen_file_comes_along() -> None:
    """The plan has the record of the rendition, with the pixels of the original."""
    small = {**renditions(512)[0], "fileSize": 9, "crc32": "ab"}
    picture = {"url": "original", "width": 3000, "height": 2000, "crc32": "cd", "exportables": [small]}
    catalog = prodex.flatten([drawn.product(1, picture)])
    facts = [
        (one.url, one.rendition, one.crc32, one.file_size, one.width, one.height, one.original)
        for size in (None, 512)
        for one in plan(catalog, size=size)
    ]

    assert [
        ("original", None, "cd", None, 3000, 2000, (3000, 2000)),
        ("512", "0.0", "ab", 9, 512, 512, (3000, 2000)),
    ] == facts


def test_every_picture_is_in_the_plan() -> None:
    """A picture that is not wanted has its reason: no packshot, or part of a pending update."""
    record = drawn.product(
        1, {"url": "a", "isPackshot": True}, {"url": "b", "isPackshot": False}, {"url": "c"}
    )
    record["lastRequest"] = {"assets": {"pictures": [{"url": "d", "isPackshot": True}]}}
    found = plan(prodex.flatten([record]), packshots_only=True)

    assert {
        "a": None,
        "b": "it is not a packshot according to its record",
        "c": "it is not a packshot according to its record",
    } == {one.url: one.left_out for one in found if one.url != "d"}
    assert "it belongs to a pending update" in str(next(one.left_out for one in found if one.url == "d"))


@each_row("size", [0, -1, "big", 512.0, True, 10**9])
def test_a_size_must_be_a_number_of_pixels(size: Any) -> None:
    """A size that is not a number of pixels is refused."""
    with pytest.raises(InputError, match="not a number of pixels"):
        plan(prodex.flatten([]), size=size)


def test_names_are_those_of_gtin_position_and_product() -> None:
    """A file name has GTIN, position and product, and the size if one is given."""
    catalog = prodex.flatten(
        [drawn.product(7, {"url": "a"}, {"url": "b"}), {"id": 8, "assets": {"pictures": [{"width": 1}]}}]
    )

    assert ["00000000000007_0_7", "00000000000007_1_7", "no-gtin_0_8"] == [one.stem for one in plan(catalog)]
    assert "00000000000007_0_7_512" == plan(catalog, size=512)[0].stem


def test_a_name_does_not_depend_on_what_else_is_in_the_catalogue() -> None:
    """Two products with one GTIN never overwrite each other, together or apart."""
    products = [
        {**drawn.product(number, {"url": f"{number}"}), "gtin": "03036811359935"} for number in (1, 2)
    ]
    together = {one.stem for one in plan(prodex.flatten(products))}
    apart = {one.stem for record in products for one in plan(prodex.flatten([record]))}

    assert 2 == len(together)
    assert together == apart


def test_a_name_does_not_depend_on_updates_that_wait() -> None:
    """Pending updates do not change file names, wherever they are in the record."""
    waits = {"lastRequest": {"assets": {"pictures": [{"url": "b"}]}}}
    record = {"id": 1, **waits, "assets": {"pictures": [{"url": "a"}]}}

    for products in ([record], [dict(reversed(record.items()))]):
        stems = {one.url: one.stem for one in plan(prodex.flatten(products))}
        assert {"a": "no-gtin_0_1", "b": "no-gtin_0_1_waiting"} == stems


NASTY = st.one_of(
    st.text(min_size=1, max_size=60).filter(lambda text: "\ud800" > text.strip() > ""),
    st.sampled_from(
        [
            "../../etc/passwd",
            "con",
            "NUL",
            "con.a",
            "LPT1.b.c",
            "a/b",
            "a\\b",
            "a:b",
            "é" * 300,
            "x" * 40_000,
            "\0",
            ".",
            "AB",
        ]
    ),
)


@pytest.mark.slow
@given(st.lists(st.tuples(NASTY, NASTY), min_size=2, max_size=5, unique=True))
def test_names_are_safe_and_different_whatever_was_typed(typed: list[tuple[str, str]]) -> None:
    """Names are different on systems that ignore case, and are no path, device or hidden file."""
    records = [
        {"id": key, "gtin": gtin, "assets": {"pictures": [{"url": f"{number}"}]}}
        for number, (key, gtin) in enumerate(typed)
    ]
    found = plan(prodex.flatten(records))
    stems = [one.stem for one in found]

    assert len({(one.product_id, one.gtin) for one in found}) == len({stem.casefold() for stem in stems})
    for stem in stems:
        assert set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789-._")
        assert len(stem) < 150
        assert not stem.startswith((".", "-", "_"))
        assert stem.partition(".")[0] not in {"con", "nul", "lpt1"}
        assert None is size_in(stem)


@pytest.mark.slow
@given(st.integers(1, 30_000), NASTY)
def test_the_size_can_be_read_from_a_name(size: int, key: str) -> None:
    """The size is read from a file name, whatever the product."""
    record = {"id": key, "gtin": key, "assets": {"pictures": [{"url": "a"}]}}

    assert [size] == [size_in(one.stem) for one in plan(prodex.flatten([record]), size=size)]
