"""Every part of a snapshot has the same columns of `presence`, whichever way the snapshot was made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.files.parquet import facts_of
from prodex.load.refresh import repaired
from prodex.sandbox import Sandbox
from prodex.store.journal import LoadJournal
from prodex.store.merge import merge_parts
from prodex.store.merge_plan import held_products, plan_merge
from prodex.store.parts import StoredPart, path_of, write_part
from prodex.store.publish import publish_parts
from prodex.store.snapshot import SNAPSHOTS, stored_parts
from prodex.tables.declaration import TABLES
from prodex.tables.envelope import split
from prodex.tables.flatten import flatten_products
from prodex.tables.records import identify

Record = dict[str, Any]


def in_parts(*parts: Sequence[Record]) -> prodex.Catalog:
    """Return a catalogue in memory of just these parts."""
    catalogs = [prodex.flatten(records) for records in parts]
    return prodex.Catalog(tuple(part for one in catalogs for part in one.parts), catalogs[0].origin)


def columns(catalog: prodex.Catalog) -> list[list[str]]:
    """Return the columns of `presence` in each part's file."""
    return [pq.read_schema(path).names for path in catalog.files("presence")]


def refreshed(
    old: prodex.Catalog, changes: Sequence[Record], folder: Path, gone: Iterable[str] = ()
) -> prodex.Catalog:
    """Merge changes into a snapshot, as a refresh does."""
    journal = LoadJournal.begin(folder, {})
    body = json.dumps({"totalResults": len(changes), "data": changes}).encode()
    envelope = split(body)
    keys = [identify(product) for product in envelope.data]
    journal.add("all", body, envelope, keys, received_at=datetime.now(UTC))
    came = {key.product_id: (0, index) for index, key in enumerate(keys) if key}
    decided = plan_merge(held_products(old), came, set(gone), products_per_part=2)
    old_folder = old.folder
    assert old_folder is not None
    stored = stored_parts(old_folder)

    def write(beside: Path) -> Iterable[StoredPart]:
        return merge_parts(stored, old_folder, folder, decided.parts, beside)

    return publish_parts(old_folder.parent.name, old.origin, write)


def saved_as_before(*parts: Sequence[Record]) -> prodex.Catalog:
    """Make a snapshot as versions did whose parts have the columns of their own products, without statistics."""
    origin = prodex.flatten([]).origin
    folder = SNAPSHOTS.folder("shop") / "2026-01-01T000000.000000Z"
    stored = []
    for number, records in enumerate(parts):
        blocks = [flatten_products([json.dumps(record).encode() for record in records])]
        stored.append(write_part(blocks, folder, number))
    plain = []
    for part in stored:
        path = folder / path_of("presence", part.number)
        table = pq.read_table(path)
        pq.write_table(table, path, write_statistics=False, store_schema=False, write_page_checksum=True)
        plain.append(part._replace(files={**part.files, "presence": facts_of(path)}))
    SNAPSHOTS.write_manifest(
        folder,
        {
            "name": "shop",
            "products": sum(part.products for part in plain),
            "origin": origin.to_json(),
            "parts": [part._asdict() for part in plain],
        },
    )
    return prodex.open_snapshot("shop")


ONE = [{"id": 1, "brand": None}, {"id": 2, "kind": []}]
TWO = [{"id": 3, "gtin": "03036811359935", "b.c": 1}, {"id": 4, "brand": {"code": "X"}}]
THREE = [{"id": 5, "Kind": "other", "json": "text"}]


def test_saving_gives_every_part_every_column() -> None:
    """An attribute that another part has is absent, which the catalogue said before it was saved as well."""
    catalog = in_parts(ONE, TWO, THREE)

    saved = catalog.save("shop")

    first, *others = columns(saved)
    assert [first] * 2 == others
    assert catalog.equals(saved)
    assert prodex.verify(saved)["ok"].all()


def test_saving_a_selection_keeps_columns_that_are_absent_throughout() -> None:
    """What a selection shows, it shows after saving."""
    chosen = in_parts(ONE, TWO, THREE).where(product_id="5")

    assert chosen.equals(chosen.save("five"))


def test_loading_gives_every_part_every_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are built without knowledge of each other, and agree when they are a snapshot."""
    monkeypatch.setattr("prodex.store.plan.PRODUCTS_PER_PART", 2)
    records = [{"id": n, "gtin": f"{n:014d}", f"only{n}": [n], "serves": n} for n in range(1, 8)]
    with Sandbox(products=records) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        catalog = prodex.load_products(service, name="odd", page_size=2)

    first, *others = columns(catalog)
    assert len(others) > 1
    assert [first] * len(others) == others
    assert {f"only{n}" for n in range(1, 8)} <= set(first)
    assert prodex.verify(catalog)["ok"].all()


def test_a_new_attribute_comes_into_every_part_and_nothing_else_is_written(tmp_path: Path) -> None:
    """Of the parts that do not change, `presence` alone is written again; the old snapshot stays as it was."""
    old = in_parts(ONE, TWO).save("shop")
    before = [path.read_bytes() for path in old.files("presence")]

    new = refreshed(old, [{"id": 4, "newest": 1}], tmp_path / "j")

    first, second = columns(new)
    assert first == second
    assert "newest" == first[-1]
    assert not new.files("presence")[0].samefile(old.files("presence")[0])
    assert all(
        new.files(table)[0].samefile(old.files(table)[0]) for table in ("products", "raw", "texts", "scalars")
    )
    assert before == [path.read_bytes() for path in old.files("presence")]
    assert prodex.verify(new)["ok"].all()


def test_without_a_new_attribute_presence_is_linked(tmp_path: Path) -> None:
    """A refresh stays as cheap as what changed."""
    old = in_parts(ONE, TWO, THREE).save("shop")

    new = refreshed(old, [{"id": 4, "kind": {"code": "Y"}, "brand": {"code": "X"}}], tmp_path / "j")

    links = [a.samefile(b) for a, b in zip(new.files("presence"), old.files("presence"), strict=True)]
    assert [True, False, True] == links
    assert columns(old) == columns(new)


def test_an_attribute_that_no_product_has_any_more_leaves_every_part(tmp_path: Path) -> None:
    """And one that another part still has stays in all of them."""
    old = in_parts(ONE, TWO, THREE).save("shop")

    new = refreshed(old, [{"id": 3}], tmp_path / "j", gone=["1", "5"])

    first, *others = columns(new)
    assert [first] * len(others) == others
    assert {"product_id", "gtin", "id", "kind", "brand"} == set(first)


def test_snapshots_of_earlier_versions_open_and_agree_after_a_refresh(tmp_path: Path) -> None:
    """Their parts have the columns of their own products, and say nothing in statistics."""
    old = saved_as_before(ONE, TWO, THREE)
    assert columns(old)[0] != columns(old)[1]
    expected = in_parts(ONE, TWO, THREE)
    assert expected.arrow("presence").equals(old.arrow("presence"))

    new = refreshed(old, [{"id": 4, "brand": {"code": "X"}}], tmp_path / "j")

    first, *others = columns(new)
    assert [first] * 2 == others
    assert expected.arrow("presence").equals(new.arrow("presence"))


def test_a_repaired_part_has_the_columns_of_the_others() -> None:
    """It is built again from its own records, which know nothing of the other parts."""
    old = in_parts(ONE, TWO, THREE).save("shop")
    path = old.files("presence")[1]
    path.write_bytes(path.read_bytes()[:-40])

    new = repaired(old)

    assert columns(new) == [columns(new)[0]] * 3
    assert prodex.verify(new)["ok"].all()


attributes = st.sampled_from(["a", "b", "c", "A", "gtin", "product_id", "x.y", "é", "json", "text"])
values = st.sampled_from([None, [], "", 7, {"code": "1"}])
records = st.lists(st.dictionaries(attributes, values, max_size=4), max_size=6)


@pytest.mark.slow
@given(st.lists(records, min_size=1, max_size=3), records, st.sets(st.integers(0, 12)))
def test_merging_gives_what_flattening_gives(
    tmp_path_factory: pytest.TempPathFactory,
    parts: list[list[Record]],
    coming: list[Record],
    gone: set[int],
) -> None:
    """Whatever came and went, the states are those of a catalogue of all current records."""
    numbered = [
        [{"id": 4 * part + place, **record} for place, record in enumerate(held[:4])]
        for part, held in enumerate(parts)
    ]
    changes = [{"id": 2 * place, **record} for place, record in enumerate(coming)]
    old = in_parts(*numbered).save("law")

    new = refreshed(old, changes, tmp_path_factory.mktemp("j") / "j", map(str, gone))

    now = {str(record["id"]): record for held in numbered for record in held}
    now = {key: record for key, record in now.items() if int(key) not in gone}
    now |= {str(record["id"]): record for record in changes}
    expected, found = prodex.flatten(now.values()).presence, new.presence
    order = ["product_id", *sorted(expected.columns[1:])]
    assert set(order) == set(found.columns)
    assert (
        expected[order].sort_values("product_id").values.tolist()
        == found[order].sort_values("product_id").values.tolist()
    )
    assert 1 == len({tuple(names) for names in columns(new)})


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_part_without_an_attribute_has_it_absent(on_disk: bool, tmp_path: Path) -> None:
    """Where only one part knows an attribute, the products of the other are read all the same."""
    parts = [prodex.flatten([{"id": 1, "brand": {"code": "B"}}]), prodex.flatten([{"id": 2, "only": 1}])]
    catalog = replace(parts[0], parts=tuple(part for one in parts for part in one.parts))
    if on_disk:
        tables = [{table: one.parts[0].stored(table) for table in TABLES} for one in parts]
        written = [write_part([one], tmp_path, number) for number, one in enumerate(tables)]
        catalog = replace(catalog, parts=tuple(one.open(tmp_path) for one in written))

    assert ["absent", "filled"] == catalog.table("presence", columns=["only_state"])["only_state"].tolist()
    chosen = catalog.where(product_id="1").table("presence", columns=["only_state"])
    assert ["absent"] == chosen["only_state"].tolist()
