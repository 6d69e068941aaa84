"""Keys as columns say the same as a list of them, and the newest copies are those that a plain walk finds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from prodex.store.journal import LoadJournal
from prodex.store.journal_format import PageEntry
from prodex.store.newest import Keys, Newest, NewestCopy, by_page, distinct_keys
from prodex.store.snapshot_keys import RefreshedKeys, SnapshotKeys
from prodex.tables.envelope import Envelope
from prodex.tables.records import Identity

MOMENT = datetime(2026, 11, 20, 8, tzinfo=UTC)

# Few of each, so that copies meet; a date may be absent, empty, or no date at all.
IDENTITIES = st.builds(
    Identity,
    st.sampled_from(["1", "2", "3", "4", "5", "", "½"]),
    st.none() | st.sampled_from(["", "2026-11-20T08:00:00", "2026-11-20T08:00:00.5", "2026-11-21", "soon"]),
    st.none() | st.sampled_from(["03036811359935", "to follow"]),
)
KEYS = st.lists(st.none() | IDENTITIES, max_size=6)
WINDOWS = st.sampled_from(["pull/0", "pull/1", "changes/0", "missing/0", "listing/0", "absent/0"])


def entry(page: int, window: str, keys: Sequence[Identity | None]) -> PageEntry:
    return PageEntry(page, window, None, None, None, None, None, MOMENT, 0, "", keys)


def walked(entries: Sequence[PageEntry]) -> dict[str, NewestCopy]:
    """Return the newest copies as the rule says: the latest date counts, and the last received among equal ones."""
    found: dict[str, NewestCopy] = {}
    for page in entries:
        for item, key in enumerate(page.keys):
            if key is None or not page.stage.has_products:
                continue
            before = found.get(key.product_id)
            date = key.updated_at or ""
            if before is None or date >= before.updated_at:
                stage = page.stage if before is None else before.stage
                found[key.product_id] = NewestCopy(date, page.page, item, stage)
    return found


@given(KEYS)
def test_keys_as_columns_are_the_same_keys(keys: list[Identity | None]) -> None:
    """Each comes back as it was: an item that is no product, and every value that is absent."""
    columns = Keys(keys)

    assert keys == list(columns) == columns
    assert len(keys) == len(columns)
    assert keys[1:] == columns[1:]
    assert keys[-1:] == [columns[-1]] if keys else not columns


@given(st.lists(st.tuples(WINDOWS, KEYS), max_size=8), st.sets(st.sampled_from("12345")))
def test_the_newest_copies_are_those_of_a_plain_walk(
    pages: list[tuple[str, list[Identity | None]]], gone: set[str]
) -> None:
    """Whatever came twice, in whatever order: the same copies, in the same order, on the same pages."""
    entries = [entry(number, window, Keys(keys)) for number, (window, keys) in enumerate(pages, 3)]
    expected = walked(entries)

    found = Newest(entries)

    assert list(expected.items()) == list(found.items())
    assert len(expected) == len(found)
    assert sum(copy.stage != "pull" for copy in expected.values()) == found.arrived
    for without in (set(), gone):
        places = [(copy.page, copy.item) for key, copy in expected.items() if key not in without]
        assert by_page(places) == found.by_page(without)
    assert len({key.product_id for one in entries for key in one.keys if key}) == distinct_keys(entries)


@given(st.dictionaries(st.sampled_from("1234567"), IDENTITIES), KEYS)
def test_what_is_held_and_what_came_are_as_two_dictionaries(
    held: dict[str, Identity], keys: list[Identity | None]
) -> None:
    """Looked up, counted and listed: the newest copy of what came, and what was held of all else."""
    before = {key: one._replace(product_id=key) for key, one in held.items()}
    names = ["product_id", "updated_at", "gtin"]
    columns = [pa.array(column, pa.string()) for column in zip(*before.values(), strict=True)]
    nothing = [pa.array([], pa.string())] * 3
    found = SnapshotKeys(pa.table(columns or nothing, names=names))
    received = Newest([entry(0, "pull/0", keys), entry(1, "changes/0", keys[:2])])

    together = RefreshedKeys(found, received)

    assert before == dict(found)
    assert {key: one for key, one in before.items() if key in received} == found.among(received)
    expected = before | dict(received)
    assert expected == dict(together)
    assert (len(expected), received.arrived) == (len(together), together.arrived)


@given(st.lists(KEYS, max_size=4))
def test_a_journal_keeps_its_keys(tmp_path_factory, pages: list[list[Identity | None]]) -> None:  # type: ignore[no-untyped-def]
    """They are the same after it was opened again, and after a damaged page ended its window."""
    folder: Path = tmp_path_factory.mktemp("journal") / "journal"
    journal = LoadJournal.begin(folder, {})
    for keys in [*pages, [Identity("9")]]:
        journal.add("pull/0", b"{}", Envelope([]), keys, received_at=MOMENT)

    opened = LoadJournal.open(folder)
    assert opened is not None
    assert [*pages, [Identity("9")]] == [one.keys for one in opened.entries()]

    (folder / f"page-{len(pages):06d}.zst").unlink()
    for again in (LoadJournal.open(folder), LoadJournal.open(folder)):
        assert again is not None
        assert pages == [one.keys for one in again.pages_of("pull/0")]


def test_products_of_a_plan_are_as_they_were_received(tmp_path: Path) -> None:
    """Of a whole page they are not copied; of others they are, since a few would keep their page in memory."""
    journal = LoadJournal.begin(tmp_path / "journal", {})
    for first in (1, 3):
        body = b'{"data":[{"id":%d}, {"id": %d }]}' % (first, first + 1)
        journal.add("pull/0", body, Envelope([]), [None, None], received_at=MOMENT)

    taken = list(journal.products_of(((0, (0, 1)), (1, (1,)))))

    assert [b'{"id":1}', b'{"id": 2 }', b'{"id": 4 }'] == list(map(bytes, taken))
    assert [msgspec.Raw, msgspec.Raw, bytes] == list(map(type, taken))
