"""What is published is what is read: by prodex, by Delta, and by whoever reads Parquet; only changes are written."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

import prodex
from prodex import clock
from prodex.cli import app
from prodex.errors import InputError, MissingExtra, PublicationRefused, SnapshotDamaged, SnapshotNotFound
from prodex.tables.declaration import TABLES
from tests.publishing.snapshots import catalog_of, in_parts, product, same, shop
from tests.wire import CORNERS, OTHER_CORNERS, products

_READ_TABLE = pq.read_table


def rows_of(table: pa.Table) -> list[str]:
    """Return the rows of a table in an order of their own: Delta gives files no order."""
    return sorted(map(repr, table.to_pylist()))


def expected(catalog: prodex.Catalog, table: str) -> pa.Table:
    """Return a table as its files hold it; what Delta cannot tell apart by name is left out."""
    if table != "presence":
        return catalog.arrow(table)
    found = pa.concat_tables([part.stored(table) for part in catalog.parts], promote_options="default")
    first = {name.lower(): name for name in reversed(found.column_names)}
    return found.select([name for name in found.column_names if first[name.lower()] == name])


def as_delta(folder: Path, published: prodex.publishing.Publication) -> dict[str, pa.Table]:
    """Return the tables of a publication as `deltalake` reads them."""
    versions = published.versions
    return {name: DeltaTable(folder / name, version=versions[name]).to_pyarrow_table() for name in TABLES}


def files_of(folder: Path) -> dict[str, int]:
    """Return every file with the time of its last change."""
    return {
        path.relative_to(folder).as_posix(): path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.slow
@example([CORNERS, [], OTHER_CORNERS])
@given(st.lists(st.lists(products, max_size=3), min_size=1, max_size=3))
def test_every_table_of_any_catalogue_is_read_as_it_was_saved(pages: list[list[dict[str, Any]]]) -> None:
    """By prodex and by Delta, whatever attributes are called, in any number of parts."""
    catalog = in_parts(*pages).save("any")
    folder = Path(tempfile.mkdtemp())
    try:
        published = prodex.publish(catalog, folder)
        opened = prodex.open_published(folder)

        assert catalog.equals(opened)
        for name, found in as_delta(folder, published).items():
            wanted = expected(catalog, name)
            assert wanted.column_names == found.column_names, name
            assert rows_of(wanted) == rows_of(found), name
    finally:
        shutil.rmtree(folder)


def test_other_programs_read_the_files(tmp_path: Path) -> None:
    """What Delta lists is plain Parquet, here for DuckDB without its extension for Delta."""
    catalog = shop()
    mask = os.umask(0o022)
    published = prodex.publish(catalog, tmp_path)
    os.umask(mask)
    listed = DeltaTable(tmp_path / "texts", version=published.versions["texts"]).file_uris()

    found = duckdb.sql(f"select text from read_parquet({listed}) order by product_id").fetchall()
    assert [(text,) for text in catalog.texts["text"]] == found
    # Files of a snapshot are private; these are for others.
    assert {0o644} == {stat.S_IMODE(Path(path).stat().st_mode) for path in listed}


def test_a_lexicon_has_each_entry_once(tmp_path: Path) -> None:
    """Every part has the entries that it uses; a join with their union would double rows."""
    catalog = shop()
    published = prodex.publish(catalog, tmp_path)

    for name in ("descriptors", "code_labels"):
        found = DeltaTable(tmp_path / name, version=published.versions[name]).to_pyarrow_table()
        assert catalog.row_count(name) == found.num_rows, name
    assert 0 < catalog.row_count("descriptors") < sum(part.rows("descriptors") for part in catalog.parts)


def test_statistics_let_readers_leave_out_files(tmp_path: Path) -> None:
    """The product of a filter is found, and Delta knows of each file which products it may have."""
    published = prodex.publish(shop(), tmp_path)
    table = DeltaTable(tmp_path / "products", version=published.versions["products"])
    bounds = pa.table(table.get_add_actions(flatten=True)).to_pylist()

    assert {("1", "2"), ("3", "3")} == {(one["min.product_id"], one["max.product_id"]) for one in bounds}
    assert [2, 1] == sorted((one["num_records"] for one in bounds), reverse=True)
    found = table.to_pyarrow_table(filters=[("product_id", "=", "3")], columns=["gtin"])
    assert ["00000000000003"] == found["gtin"].to_pylist()


def test_an_unchanged_snapshot_is_not_published_again(tmp_path: Path) -> None:
    """No file is touched, no version is made, and the answer is the same."""
    catalog = shop()
    first = prodex.publish(catalog, tmp_path)
    before = files_of(tmp_path)
    again = prodex.publish(str(catalog.folder), tmp_path)

    assert before == files_of(tmp_path)
    assert (first.number, first.versions, 0) == (again.number, again.versions, again.uploaded)


@pytest.mark.slow
def test_only_changed_parts_are_uploaded_and_unchanged_tables_keep_their_version(tmp_path: Path) -> None:
    """A corrected text changes the files of one part that hold it; earlier publications stay as they were."""
    old = shop()
    first = prodex.publish(old, tmp_path)
    before = files_of(tmp_path)
    new = shop("Riz long")
    second = prodex.publish(new, tmp_path)
    added = files_of(tmp_path).keys() - before.keys()

    assert before.items() <= files_of(tmp_path).items()
    parquet = {name.partition("/")[0] for name in added if name.split("/")[1].startswith("part-")}
    assert {"texts", "raw", "_snapshots"} == parquet
    assert 2 == second.uploaded
    changed = {name for name in TABLES if first.versions[name] != second.versions[name]}
    assert {"texts", "raw"} == changed
    assert same(new, prodex.open_published(tmp_path))
    assert same(old, prodex.open_published(tmp_path, at=1))
    assert same(old, prodex.open_published(tmp_path, at=str(first.snapshot)))
    for catalog, published in ((old, first), (new, second)):
        assert rows_of(catalog.arrow("texts")) == rows_of(as_delta(tmp_path, published)["texts"])


@pytest.mark.slow
def test_columns_may_come_and_go(tmp_path: Path) -> None:
    """An attribute that nobody had before is a column of `presence`; each publication has its own columns."""
    unusual = {**product(9), "unusual": "yes"}
    catalogs = [
        in_parts([product(1)], [product(2)]).save("shop"),
        in_parts([product(1)], [unusual]).save("shop"),
        in_parts([product(1)]).save("shop"),
    ]
    published = [prodex.publish(catalog, tmp_path) for catalog in catalogs]

    for catalog, one in zip(catalogs, published, strict=True):
        found = as_delta(tmp_path, one)["presence"]
        wanted = expected(catalog, "presence")
        assert wanted.column_names == found.column_names
        assert rows_of(wanted) == rows_of(found)
        assert same(catalog, prodex.open_published(tmp_path, at=one.number))
    assert "unusual" in as_delta(tmp_path, published[1])["presence"].column_names


@pytest.mark.slow
@pytest.mark.parametrize("name", ["team%20shop", "a%2Fb", "100%25", "%C3%A9"])
def test_a_folder_may_have_percent_signs_in_its_name(tmp_path: Path, name: str) -> None:
    """Published twice and opened, by its path, as text and as an address; what it is decoded is another folder."""
    beside = tmp_path / unquote(name)
    mine = shop(name="mine")
    prodex.publish(shop(name="other"), beside)
    before = files_of(beside)
    for place in (tmp_path / name, str(tmp_path / name), (tmp_path / name).as_uri()):
        prodex.publish(mine, place, older=True)
        assert same(mine, prodex.open_published(place))
    prodex.publish(mine.where(product_id="1").save("mine"), tmp_path / name)

    assert 1 == len(prodex.open_published(tmp_path / name))
    assert before == files_of(beside)
    with pytest.raises(SnapshotNotFound, match="not%20there"):
        prodex.open_published(tmp_path / "not%20there")
    assert not (tmp_path / "not%20there").exists()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed")
def test_a_day_of_a_publication_is_one_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for snapshots: half past eleven in the evening by UTC is the next day in Paris."""
    with clock.at(datetime(2026, 11, 28, 23, 30, tzinfo=UTC)):
        prodex.publish(prodex.flatten([product(1)]).save("late"), tmp_path)
    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    try:
        assert prodex.open_published(tmp_path, at="2026-11-29") is not None
        assert prodex.open_published(tmp_path, at="2026-11-28T23") is not None
        with pytest.raises(
            SnapshotNotFound, match="These times are UTC, and 2026-11-28 is meant in the time"
        ):
            prodex.open_published(tmp_path, at="2026-11-28")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.slow
def test_an_earlier_snapshot_can_be_published_again(tmp_path: Path) -> None:
    """As a publication of its own, if that is meant: whoever opens the newest has it, and nothing is uploaded."""
    old, new = shop(), shop("Riz long")
    prodex.publish(old, tmp_path)
    prodex.publish(new, tmp_path)
    before = files_of(tmp_path)
    with pytest.raises(PublicationRefused, match=r"is older than .* \(number 2\).* older=True"):
        prodex.publish(old, tmp_path)
    assert before == files_of(tmp_path)
    assert same(new, prodex.open_published(tmp_path))
    third = prodex.publish(old, tmp_path, older=True)

    assert (3, 0) == (third.number, third.uploaded)
    assert same(old, prodex.open_published(tmp_path))


@pytest.mark.slow
def test_the_command_asks_before_it_publishes_an_older_snapshot(tmp_path: Path) -> None:
    """With the option to add."""
    folders = [str(shop().folder), str(shop("Riz long").folder)]
    answers = [
        CliRunner().invoke(app, ["publish", *words])
        for words in (
            [folders[1], "--to", str(tmp_path)],
            [folders[0], "--to", str(tmp_path)],
            [folders[0], "--to", str(tmp_path), "--older"],
        )
    ]

    assert [0, 1, 0] == [answer.exit_code for answer in answers]
    assert "older=True" in str(answers[1].exception)
    assert same(shop(), prodex.open_published(tmp_path))


def test_a_publication_shows_where_it_is_and_answers_as_any_catalogue(tmp_path: Path) -> None:
    """The repr has the address; filters, SQL and saving work, also of a selection."""
    catalog = shop()
    prodex.publish(catalog, tmp_path)
    opened = prodex.open_published(tmp_path)

    assert f"published at {tmp_path}" in repr(opened)
    assert repr(catalog).splitlines()[:3] == repr(opened).splitlines()[:3]
    assert catalog.origin == opened.origin
    assert 3 == opened.sql("select count(*) as n from products")["n"][0]
    chosen = opened.where(brand_code="B1")
    assert f"chosen from what is published at {tmp_path}" in repr(chosen)
    assert ["1"] == sorted(chosen.save("chosen").products["product_id"])
    assert opened.files("texts")[0].is_relative_to(tmp_path)


def test_what_needs_a_snapshot_says_that_this_is_a_publication(tmp_path: Path) -> None:
    """It can be saved, and is then a snapshot."""
    prodex.publish(shop(), tmp_path)
    opened = prodex.open_published(tmp_path)

    with pytest.raises(InputError, match=r"published at .* catalog\.save"):
        prodex.verify(opened)
    with pytest.raises(InputError, match="Save it first"):
        prodex.publish(opened, tmp_path)
    assert prodex.verify(opened.save("mine"))["ok"].all()


def test_the_pointer_is_a_table_for_everybody(tmp_path: Path) -> None:
    """Its row names the snapshot and pins a version of every table."""
    published = prodex.publish(shop(), tmp_path)
    (row,) = DeltaTable(tmp_path / "_snapshots").to_pyarrow_table().to_pylist()

    assert ("shop", 3, True) == (row["name"], row["products"], row["complete"])
    assert dict(published.versions) == json.loads(row["versions"])
    assert set(TABLES) == set(published.versions)


def test_threads_of_arrow_are_given_files_and_no_bytes_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that outlived a call held bytes of Python, and aborted 1 of 75 processes when they exited."""

    def read_table(source: object, **options: Any) -> pa.Table:
        assert isinstance(source, str | Path)
        return _READ_TABLE(source, **options)

    monkeypatch.setattr(pq, "read_table", read_table)
    prodex.publish(shop(), tmp_path)
    prodex.publish(shop("Quinoa"), tmp_path)

    assert same(shop("Quinoa"), prodex.open_published(tmp_path))


def test_what_is_not_there_is_answered_with_what_is(tmp_path: Path) -> None:
    """Nothing published, no such number, no such day."""
    with pytest.raises(SnapshotNotFound, match="Nothing is published at"):
        prodex.open_published(tmp_path)
    published = prodex.publish(shop(), tmp_path)
    # A number as text is no number, and no beginning of a year.
    for at in (0, 7, "1999", -1, "2", published.snapshot[:9]):
        with pytest.raises(SnapshotNotFound, match=rf"The newest are: 1 \({published.snapshot}\)"):
            prodex.open_published(tmp_path, at=at)
    with pytest.raises(InputError, match="at is"):
        prodex.open_published(tmp_path, at=True)


def test_the_newest_publication_is_found_without_reading_the_earlier_ones(tmp_path: Path) -> None:
    """Years of publications cost nothing; here their rows cannot even be read."""
    old, new = shop(), shop("Riz long")
    prodex.publish(old, tmp_path)
    rows = set((tmp_path / "_snapshots").glob("*.parquet"))
    prodex.publish(new, tmp_path)
    for path in rows:
        path.write_bytes(b"damaged")

    assert same(new, prodex.open_published(tmp_path))
    assert same(new, prodex.open_published(tmp_path, at=2))
    assert 2 == prodex.publish(new, tmp_path).number
    with pytest.raises(SnapshotDamaged, match="cannot be read"):
        prodex.open_published(tmp_path, at=1)


def test_a_snapshot_without_products_is_published_too(tmp_path: Path) -> None:
    """Be it of one empty part or of none."""
    for number, catalog in enumerate(
        [prodex.flatten([]), prodex.Catalog((), prodex.catalog.Origin("records"))]
    ):
        saved = catalog.save("empty")
        prodex.publish(saved, tmp_path / str(number))
        assert saved.equals(prodex.open_published(tmp_path / str(number)))


def test_only_a_whole_snapshot_is_published(tmp_path: Path) -> None:
    """Anything else is told what to do first, and nothing is written."""
    catalog = shop()
    for given_catalog in (prodex.flatten([product(1)]), catalog.where(brand_code="B1")):
        with pytest.raises(InputError, match="Save it"):
            prodex.publish(given_catalog, tmp_path)
    with pytest.raises(InputError, match="wrong place"):
        prodex.publish(str(tmp_path), catalog)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="uri is"):
        prodex.publish(catalog, None)  # type: ignore[arg-type]
    assert [] == list(tmp_path.iterdir())


def test_a_damaged_snapshot_is_not_published(tmp_path: Path) -> None:
    """What is there already stays the newest."""
    old = shop()
    prodex.publish(old, tmp_path)
    new = catalog_of("Riz long").save("shop")
    known = [path.read_bytes() for path in old.files("texts")]
    (path,) = (path for path in new.files("texts") if path.read_bytes() not in known)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)

    with pytest.raises(SnapshotDamaged, match="texts"):
        prodex.publish(new, tmp_path)
    assert same(old, prodex.open_published(tmp_path))


def test_without_the_extra_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Both ways."""
    catalog = shop()
    monkeypatch.setitem(__import__("sys").modules, "deltalake", None)

    for work in (lambda: prodex.publish(catalog, tmp_path), lambda: prodex.open_published(tmp_path)):
        with pytest.raises(
            MissingExtra, match=r"needs deltalake\. Install it with: .*pip install .*\[publish\]'$"
        ):
            work()
