"""Law: a snapshot merged with what changed holds what a build of all current products holds; the old one stays."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.wire import encode, products

import prodex
from prodex.envelope import split
from prodex.store.journal import Journal
from prodex.store.merge import Place, held_products, merge_parts, plan_merge
from prodex.store.parts import StoredPart
from prodex.store.snapshot import commit, stored_parts
from prodex.tables.declaration import TABLES
from prodex.tables.records import identify

Product = dict[str, Any]


def journal_of(pages: Sequence[Sequence[bytes]], folder: Path) -> tuple[Path, dict[str, Place]]:
    """Write a journal, and return where the newest version of each product stands in it."""
    journal = Journal.begin(folder, {})
    came: dict[str, Place] = {}
    for number, page in enumerate(pages):
        body = page_of(page)
        envelope = split(body)
        keys = [identify(product) for product in envelope.data]
        journal.add("all", body, envelope, keys, received_at=datetime.now(UTC))
        came |= {key.product_id: (number, index) for index, key in enumerate(keys) if key}
    return folder, came


def merged(
    old: prodex.Catalog,
    changes: Sequence[Sequence[bytes]],
    folder: Path,
    *,
    gone: Iterable[str] = (),
    products_per_part: int = 10_000,
    executor: Any = None,
) -> prodex.Catalog:
    """Merge changes into a snapshot, as a new one of the same name."""
    assert old.folder is not None
    journal, came = journal_of(changes, folder)
    decided = plan_merge(held_products(old), came, set(gone), products_per_part=products_per_part)
    olds, old_folder = stored_parts(old.folder), old.folder

    def write(beside: Path) -> Iterable[StoredPart]:
        return merge_parts(olds, old_folder, journal, decided.parts, beside, executor)

    return commit(old.folder.parent.name, old.origin, write)


def snapshot_of(parts: Sequence[Sequence[bytes]], name: str = "shop") -> prodex.Catalog:
    """Save products as a snapshot of just these parts."""
    catalogs = [prodex.flatten([json.loads(product) for product in part]) for part in parts]
    return prodex.save(
        prodex.Catalog(tuple(part for one in catalogs for part in one.parts), catalogs[0].origin), name
    )


def content(catalog: prodex.Catalog, *, descriptors: bool = True) -> dict[str, Any]:
    """Return all rows of all tables, in no order."""
    found: dict[str, Any] = {}
    for name in TABLES:
        if descriptors or name != "descriptors":
            rows = catalog.arrow(name).to_pylist()
            found[name] = Counter(repr(sorted(row.items())) for row in rows)
    return found


def digests(folder: Path) -> dict[str, str]:
    """Return every file of a snapshot with its digest."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def keyed(records: Sequence[bytes]) -> dict[str, bytes]:
    """Return products by their key, the last one of each."""
    data = split(page_of(records)).data
    return {key.product_id: bytes(record) for record in data if (key := identify(record))}


def page_of(records: Sequence[bytes]) -> bytes:
    return b'{"totalResults":%d,"data":[%b]}' % (len(records), b",".join(records))


def simple(number: int, name: str = "Riz", **more: Any) -> bytes:
    described = {"code": "fra-FR", "normalizedCode": "fr"}
    return encode({"id": number, "namePublicLong": [{"expressedIn": described, "data": name}], **more})


wire = st.lists(products.map(encode), max_size=4)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_merge_equals_a_build_of_all_current_products(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Row for row; whatever the products, which of them changed, came, went, and how the parts are cut."""
    held = keyed(data.draw(st.lists(products.map(encode), max_size=7)))
    ids = list(held)
    cut = data.draw(st.integers(0, len(ids)))
    old = snapshot_of([[held[i] for i in ids[:cut]], [held[i] for i in ids[cut:]]])
    assert old.folder is not None
    before = digests(old.folder)
    changes = {
        i: json.dumps(json.loads(version) | {"id": json.loads(held[i]).get("id", i)}).encode()
        for i, version in zip(
            data.draw(st.lists(st.sampled_from(ids), unique=True) if ids else st.just([])),
            data.draw(st.lists(st.dictionaries(st.just("uuid"), st.text("ab"), max_size=1).map(encode))),
            strict=False,
        )
    }
    came = [*changes.values(), *data.draw(wire)]
    gone = set(data.draw(st.lists(st.sampled_from(ids), unique=True) if ids else st.just([])))

    size = data.draw(st.integers(1, 5))
    new = merged(old, [came], tmp_path_factory.mktemp("journal") / "j", gone=gone, products_per_part=size)

    arrived = keyed(came)
    current = {i: record for i, record in held.items() if i not in gone} | arrived
    expected = prodex.flatten([json.loads(product) for product in current.values()])
    assert content(expected, descriptors=False) == content(new, descriptors=False)
    assert content(expected)["descriptors"].keys() <= content(new)["descriptors"].keys()
    assert before == digests(old.folder)
    assert bool(prodex.verify("shop")["ok"].all())
