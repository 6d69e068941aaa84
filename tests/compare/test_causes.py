"""What happened is counted by items: values that belong to one picture, text or unit are one event."""

from __future__ import annotations

from typing import Any

import prodex


def product(number: int, owner: str, pictures: int, **more: Any) -> dict[str, Any]:
    """Return a product with pictures, each of which has many values and renditions."""
    rendition = {"width": 64, "height": 64, "format": "jpeg"}
    made = [
        {
            "url": f"https://cdn.example/{number}/{place}.jpg",
            "width": 400 + place,
            "tags": ["new"],
            "exportables": [
                rendition | {"uniformResourceIdentifier": f"https://cdn.example/{number}/{place}-64.jpg"}
            ],
        }
        for place in range(pictures)
    ]
    dates = {"pictures": f"2026-11-{10 + pictures:02}T00:00:00"}
    assets = {"pictures": made, "lastUpdatedAt": dates}
    return {"id": number, "gtin": f"{number:014d}", "owner": {"name": owner}, "assets": assets, **more}


def said(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[str]:
    """Return what happened, in sentences."""
    return list(prodex.diff(prodex.flatten(old), prodex.flatten(new)).causes["says"])


def test_pictures_with_all_that_they_hold_are_one_event() -> None:
    """Of one supplier, or mostly of one; the date that services write beside them is no event of its own."""
    old = [product(n, "Mill", 3) for n in range(4)]
    assert ["8 pictures removed from 4 products of Mill"] == said(
        old, [product(n, "Mill", 1) for n in range(4)]
    )
    owners = ["Mill", "Mill", "Mill", "Oven"]
    old = [product(n, owner, 1) for n, owner in enumerate(owners)]
    new = [product(n, owner, 2) for n, owner in enumerate(owners)]
    assert ["4 pictures added to 4 products of 2 suppliers, 3 of them of Mill"] == said(old, new)


def test_what_changes_inside_of_a_picture_removes_none() -> None:
    """A rendition that goes, or a width that changes, is a change of the picture."""
    old, new = product(1, "Mill", 2), product(1, "Mill", 2)
    new["assets"]["pictures"][0]["exportables"] = []
    new["assets"]["pictures"][1]["width"] = 9
    assert ["2 pictures changed on 1 product of Mill"] == said([old], [new])


def test_texts_are_counted_by_language() -> None:
    """And attributes that are no items go by their name; products that came or went are no change of values."""

    def texts(**by_code: str) -> dict[str, Any]:
        made = [
            {"expressedIn": {"code": code.replace("_", "-")}, "data": text} for code, text in by_code.items()
        ]
        return {"namePublicLong": made}

    old = [product(n, "Mill", 0, lifeCycle=1, **texts(fra_FR="Pain")) for n in range(3)]
    new = [
        product(n, "Mill", 0, lifeCycle=2, **texts(fra_FR="Pain bis", nld_NL="Brood")) for n in range(1, 3)
    ]
    assert [
        "Life cycle changed on 2 products of Mill",
        "Long name in Dutch added to 2 products of Mill",
        "Long name in French changed on 2 products of Mill",
    ] == said(old, new)


def test_things_that_are_many_are_named_so() -> None:
    """Of every kind of item the sentence has the plural that people write."""
    tables = [{"name": name, "contains": [{"quantity": 1}]} for name in ("per 100 g", "per serving")]
    whole = [{"packagingInformation": number} for number in range(2)]
    old, new = (
        product(1, "Mill", 0),
        product(1, "Mill", 0, isPartitionedBy=tables, logisticalHierarchies=whole),
    )
    assert {
        "2 nutrient tables added to 1 product of Mill",
        "2 hierarchies added to 1 product of Mill",
    } == {*said([old], [new])}


def test_nothing_happened() -> None:
    """The frame has its columns all the same."""
    same = [product(1, "Mill", 1)]
    causes = prodex.diff(prodex.flatten(same), prodex.flatten(same)).causes
    assert (0, "says") == (len(causes), causes.columns[-1])


def test_an_attribute_may_be_called_anything() -> None:
    """A dot in its name does not make it a part of another one: what happened and the attributes agree about it."""
    names = ["", ".odd", "a.b", "assets"]
    old, new = ([{"id": 7, **dict.fromkeys(names, value)}] for value in (1, 2))
    difference = prodex.diff(prodex.flatten(old), prodex.flatten(new))
    counted = difference.attributes.set_index("attribute")
    assert {r"\e", r"\.odd", r"a\.b", "assets"} == {*difference.causes["attribute"]} == {*counted.index}
    assert [0, 0, 1, 1] == counted.loc[r"a\.b"].tolist()
