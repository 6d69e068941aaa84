"""Whatever an answer is about: after the write the record differs in what the preview shows, and in nothing else."""

from __future__ import annotations

import copy
import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import prodex

GTIN, CASE, PALLET = "03036811359935", "13036811359932", "05410228142027"


@dataclass(frozen=True)
class Case:
    """An attribute of a product, and an answer that means one item of it.

    Attributes
    ----------
    attribute, value
        What the product has. Every item of a list has a number of its own under `sort`.
    row
        The answer.
    meant
        The number of the item that it means; None for an additional one.
    leaves
        Which leaves of that item it may change; empty where it removes the item.
    before, after
        What the preview shows.
    """

    attribute: str
    value: Any
    row: Mapping[str, str]
    meant: int | None
    leaves: tuple[str, ...]
    before: str | None
    after: str | None


def _numbered(items: list[dict[str, Any]], first: int) -> list[dict[str, Any]]:
    return [item | {"sort": first + place} for place, item in enumerate(items)]


def _placed(items: list[Any], place: int, item: Any) -> list[Any]:
    return [*items[:place], item, *items[place:]]


@st.composite
def quantities(draw: st.DrawFn) -> Case:
    """Draw weight, volume and number of pieces, and an answer about one of them."""
    units = draw(st.permutations(["GRM", "MLT", "H87", "MTR"]))[: draw(st.integers(1, 4))]
    items = [
        {"data": 100 + 7 * place, "expressedIn": {"code": unit, "label": f"Label {unit}"}, "own": {"a": [1]}}
        for place, unit in enumerate(units)
    ]
    items = _numbered(items, 100)
    place = draw(st.integers(0, len(items) - 1))
    before, unit = f"{items[place]['data']} {units[place]}", units[place]
    after, answer = f"55.5 {unit}", draw(st.sampled_from(["55,5 {}", "55.5{}", "55.50 {}"])).format(unit)
    seen = draw(st.sampled_from([before, str(items[place]["data"]), f"{items[place]['data']} Label {unit}"]))
    ways: list[dict[str, str]] = [
        {"New value": answer},
        {"New value": answer, "Value seen": seen},
        {"New value": f"{before} -> {answer}"},
        {
            "New value": "; ".join(
                answer if one is items[place] else f"{one['data']} {one['expressedIn']['code']}"
                for one in items
            )
        },
    ]
    deletions = [{"New value": f"{before} -> (delete)"}, {"New value": "(delete)", "Value seen": seen}]
    row = draw(st.sampled_from(ways + deletions))
    if "(delete)" in row["New value"]:
        return Case("netContent", items, row, 100 + place, (), before, None)
    return Case("netContent", items, row, 100 + place, ("data",), before, after)


@st.composite
def codes(draw: st.DrawFn) -> Case:
    """Draw codes with labels, and an answer about one of them."""
    names = draw(st.permutations(["COLD", "DARK", "DRY", "WET"]))[: draw(st.integers(1, 4))]
    items = _numbered(
        [{"code": one, "label": f"Label {one}", "description": "d", "own": 1} for one in names], 200
    )
    place = draw(st.integers(0, len(items) - 1))
    before = names[place]
    answer = draw(st.sampled_from(["FREEZE", "Frozen∣FREEZE"]))
    ways = [
        {
            "New value": answer,
            "Value seen": draw(st.sampled_from([before, f"Label {before}", f"Label {before}∣{before}"])),
        },
        {"New value": f"{before} -> {answer}"},
        {"New value": "; ".join(answer if one == before else one for one in names)},
    ]
    deletions = [{"New value": "(delete)", "Value seen": before}, {"New value": f"{before} -> (delete)"}]
    row = draw(st.sampled_from(ways + deletions))
    if "(delete)" in row["New value"]:
        return Case("conservations", items, row, 200 + place, (), before, None)
    return Case("conservations", items, row, 200 + place, ("code", "label", "description"), before, "FREEZE")


@st.composite
def texts(draw: st.DrawFn) -> Case:
    """Draw texts of several languages, some at depth, and an answer about one of them."""
    languages = draw(st.permutations(["fra-FR", "nld-NL", "deu-DE"]))[: draw(st.integers(1, 3))]
    items = _numbered(
        [{"expressedIn": {"code": one, "label": f"Label {one}"}, "data": f"text {one}"} for one in languages],
        300,
    )
    place = draw(st.integers(0, len(items) - 1))
    before = items[place]["data"]
    is_deep = draw(st.booleans())
    attribute = "warnings.text" if is_deep else "description"
    value: Any = (
        [{"rank": 1, "sort": 350, "text": items}, {"rank": 2, "sort": 351, "text": []}] if is_deep else items
    )
    keys = {
        "Language": languages[place][:2],
        "Language code": languages[place],
        "Value seen": before,
        "Position": f"0.{place}" if is_deep else str(place),
    }
    keys["Language"] = {"fra-FR": "fr", "nld-NL": "nl", "deu-DE": "de"}[languages[place]]
    if draw(st.booleans()):
        return Case(attribute, value, keys | {"New value": "(delete)"}, 300 + place, (), before, None)
    return Case(
        attribute, value, keys | {"New value": "neu: 5 g"}, 300 + place, ("data",), before, "neu: 5 g"
    )


@st.composite
def nutrients(draw: st.DrawFn) -> Case:
    """Draw tables of nutrients, and an answer about one figure."""
    names = draw(st.permutations(["FAT", "SALTEQ", "SUGAR-"]))
    bases = draw(st.permutations([(100, "GRM"), (100, "MLT"), (30, "GRM")]))[: draw(st.integers(1, 3))]
    tables = []
    for number, (amount, unit) in enumerate(bases):
        figures = [
            {
                "isConceptualizedBy": {"code": one, "label": f"Label {one}"},
                "quantity": 1 + 10 * number + place,
                "expressedIn": {"code": "GRM", "label": "Gram"},
                "percentageOfDailyValueIntake": 5,
            }
            for place, one in enumerate(names)
        ]
        contains = _numbered(figures, 400 + 10 * number)
        tables.append(
            {
                "quantity": amount,
                "isMeasuredBy": {"code": unit, "label": "Unit"},
                "own": 1,
                "contains": contains,
            }
        )
    table, place = draw(st.integers(0, len(bases) - 1)), draw(st.integers(0, 2))
    basis, name = " ".join(map(str, bases[table])), names[place]
    before = f"{name} {1 + 10 * table + place} GRM per {basis}"
    meant = 400 + 10 * table + place
    numbered = _numbered(tables, 450)
    if draw(st.booleans()):
        return Case(
            "isPartitionedBy",
            numbered,
            {"New value": f"per {basis}: {name} (delete)"},
            meant,
            (),
            before,
            None,
        )
    row = {"New value": draw(st.sampled_from([f"per {basis}: {name} 2,5 g", f"pro {basis}\n{name}: 2.5 g"]))}
    return Case("isPartitionedBy", numbered, row, meant, ("quantity",), before, f"{name} 2.5 GRM per {basis}")


FILE = ("url", "gdsnFileName", "width", "height", "exportables", "crc32")


@st.composite
def pictures(draw: st.DrawFn) -> Case:
    """Draw pictures among other assets, and an answer about one of them."""
    made = [
        {
            "url": f"https://cdn.example/{place}.jpg",
            "gdsnFileName": f"{place}.jpg",
            "isPackshot": place == 0,
            "productFace": place,
            "tags": ["a"],
            "width": 100 + place,
            "height": 50,
            "crc32": f"0{place}",
            "exportables": [
                {"width": 64, "uniformResourceIdentifier": f"https://cdn.example/64-{place}.jpg"}
            ],
            "own": 1,
        }
        for place in range(draw(st.integers(1, 3)))
    ]
    items = _numbered(made, 500)
    others = {
        name: [{"sort": 550, "url": "o", "pictures": [1]}]
        for name in ("documents", "videos", "enriched_contents")
    }
    assets = {"pictures": items, **others, "lastUpdatedAt": {"pictures": "2026-01-01T00:00:00"}}
    place, new = draw(st.integers(0, len(items) - 1)), "https://cdn.example/new.jpg"
    before = items[place]["url"]
    way = draw(st.sampled_from(["arrow", "seen", "added", "deleted"]))
    if way == "added":
        return Case("assets.pictures", assets, {"New value": new}, None, (), None, new)
    if way == "deleted":
        return Case(
            "assets.pictures",
            assets,
            {"New value": f"{place}.jpg -> (delete)"},
            500 + place,
            (),
            before,
            None,
        )
    row = (
        {"New value": f"{place}.jpg -> {new}"}
        if way == "arrow"
        else {"New value": new, "Value seen": f"{100 + place} x 50"}
    )
    attribute = "assets.pictures" if way == "arrow" else "assets.pictures.width"
    return Case(attribute, assets, row, 500 + place, FILE, before, new)


@st.composite
def hierarchies(draw: st.DrawFn) -> Case:
    """Draw two hierarchies, in either shape, and an answer about one of their units."""
    weight = [{"data": 4, "expressedIn": {"code": "KGM", "label": "Kilogram"}, "own": 1}]
    is_flat = draw(st.booleans())
    held = {"gtin": GTIN, "quantity": 6, "sort": 601, "own": 1, "children": []}
    fields = {"grossWeight": weight, "isOrderableUnit": False, "own": 2}
    case = {
        "gtin": CASE,
        "quantity": 1,
        "sort": 600,
        "children": [held],
        **(fields if is_flat else {"version": fields}),
    }
    other = {"gtin": PALLET, "sort": 602, "children": [{"gtin": GTIN, "quantity": 9, "sort": 603}]}
    trees = draw(st.permutations([case, other]))
    where = "" if is_flat else "version."
    typed, meant, leaves, before, after = draw(
        st.sampled_from(
            [
                (f"{CASE}: 8 x {GTIN}", 601, "quantity", f"{CASE}: 6 x {GTIN}", f"{CASE}: 8 x {GTIN}"),
                (f"{CASE}: isOrderableUnit ja", 600, f"{where}isOrderableUnit",
                 f"{CASE}: isOrderableUnit false", f"{CASE}: isOrderableUnit true"),
                (f"{CASE}: grossWeight 4,5 kg", 600, f"{where}grossWeight.data",
                 f"{CASE}: grossWeight 4 KGM", f"{CASE}: grossWeight 4.5 KGM"),
            ]
        )
    )  # fmt: skip
    return Case("logisticalHierarchies", list(trees), {"New value": typed}, meant, (leaves,), before, after)


@st.composite
def plain(draw: st.DrawFn) -> Case:
    """Draw a single code, a number, a text, or yes and no."""
    attribute, value, typed, leaves, before, after = draw(
        st.sampled_from(
            [
                ("brand.code", {"code": "ACME", "label": "Acme", "pictureUrl": "https://cdn.example/l.png", "own": 1},
                 "BEST", ("code", "label", "pictureUrl"), "ACME", "BEST"),
                ("brand.label", {"label": "Acme", "own": 1}, "ACME", ("code", "label"), "Acme", "ACME"),
                ("isConsumerUnit", True, "nein", ("",), "true", "false"),
                ("lifeCycle", 1, "2", ("",), "1", "2"),
                ("abv", 4.5, "5,5 %", ("",), "4.5", "5.5"),
                ("storage", "cool; dry", "dark; dry", ("",), "cool; dry", "dark; dry"),
                ("storage", "cool", "(delete)", ("",), "cool", None),
                ("brand", {"code": "ACME", "label": "Acme"}, "(delete)", ("code", "label"), "ACME", None),
            ]
        )
    )  # fmt: skip
    return Case(attribute, value, {"New value": typed}, 0, leaves, before, after)


def _blocks(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the numbered items with their numbers, each without the numbered items in it."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, dict) and "sort" in inner:
            yield inner["sort"], {name: _around(one) for name, one in inner.items()}
        yield from _blocks(inner)


def _around(value: Any) -> Any:
    """Return what is around numbered items; renditions and measures are parts of those that they belong to."""
    if isinstance(value, dict):
        return {name: _around(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_around(one) for one in value if not (isinstance(one, dict) and "sort" in one)]
    return value


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    inner: list[tuple[str, Any]] = list(value.items()) if isinstance(value, dict) else []
    if isinstance(value, list):
        inner = [("", one) for one in value]
    if not inner:
        return {path: value}
    return {
        place: leaf
        for name, one in inner
        for place, leaf in _leaves(one, f"{path}.{name}".strip(".")).items()
    }


def _written(record: dict[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record after a write: present replaces, absent keeps, null deletes."""
    after = copy.deepcopy(record) | copy.deepcopy(dict(sent))
    return {name: value for name, value in after.items() if value is not None}


def _changed(before: Any, after: Any) -> set[str]:
    was, now = _leaves(before), _leaves(after)
    return {place for place in was.keys() | now.keys() if was.get(place) != now.get(place)}


def _read(record: dict[str, Any], rows: list[dict[str, str]]) -> prodex.worklists.Fix:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "answers.csv"
        with file.open("w", encoding="utf-8", newline="") as opened:
            table = csv.writer(opened)
            for row in rows:
                # A column that a row does not have is no empty one, so each has its own headings.
                table.writerows([list(row), list(row.values())])
        return prodex.read_worklist(
            file, prodex.flatten([copy.deepcopy(record)]), profile={"checks": {"valid_gtin": {}}}
        )


@given(st.tuples(quantities(), codes(), texts(), nutrients(), pictures(), hierarchies(), plain()))
def test_the_record_differs_in_what_the_preview_shows_and_in_nothing_else(cases: tuple[Case, ...]) -> None:
    """One answer to each of its attributes, from the file to what is stored."""
    record: dict[str, Any] = {
        "id": 1,
        "gtin": GTIN,
        "nameLegal": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}],
        "abv": 1.5,
        "updatedAt": "2026-11-01T06:00:00",
    }
    record |= {case.attribute.partition(".")[0]: case.value for case in cases}

    fix = _read(record, [{"GTIN": GTIN, "Field": case.attribute, **case.row} for case in cases]).confirm()

    assert ["accepted"] * len(cases) == fix.answers["state"].tolist(), fix.answers["reason"].tolist()
    shown = fix.preview()[["attribute", "before", "after"]].values.tolist()
    assert [[case.attribute, case.before, case.after] for case in cases] == shown
    (sent,) = fix._judged.changes.records  # type: ignore[union-attr]
    after = _written(record, sent)
    assert record.keys() >= after.keys()
    roots = {case.attribute.partition(".")[0]: case for case in cases}
    assert {name for name in record if record[name] != after.get(name)} == set(roots)
    for root, case in roots.items():
        _differs_only_there(case, record[root], after.get(root))


def _differs_only_there(case: Case, before: Any, after: Any) -> None:
    if case.meant == 0:
        assert _changed(before, after) <= set(case.leaves) if after is not None else case.after is None
        return
    was, now = dict(_blocks(before)), dict(_blocks(after))
    assert was.keys() - now.keys() == ({case.meant} if case.meant is not None and not case.leaves else set())
    for number, block in now.items():
        changed = _changed(was[number], block)
        assert bool(changed) is (number == case.meant)
        assert all(any(f"{one}.".startswith(f"{leaf}.") for leaf in case.leaves) for one in changed)
    # What is around them: other assets, ranks, the basis of a table.
    around = _around(before)
    if case.meant is None:
        around["pictures"] = [{"url": case.after, "isPackshot": False}]
    assert around == (_around(after) if after else [])
