"""Files and records of every usual form give the same catalogue; what cannot be read is named and costs no other."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import InputError
from tests.cases import each_row

RECORDS: list[dict[str, Any]] = [
    {"id": 1, "gtin": "03036811359935", "isTaggedBy": ["a", None]},
    {"id": 2, "gtin": "03663215000110", "data": [1, 2], "odd": "é"},
]


def zipped(name: str, content: bytes) -> bytes:
    """Return an archive with one file."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr(name, content)
    return archive.getvalue()


def write(path: Path, form: str) -> Path:
    """Write the records in one of the forms."""
    lines = [json.dumps(r) for r in RECORDS]
    text = {
        "reply": json.dumps({"totalResults": 2, "data": RECORDS, "offset": 0}),
        "pretty reply": json.dumps({"totalResults": 2, "data": RECORDS}, indent=2),
        "list": json.dumps(RECORDS),
        "pretty list": json.dumps(RECORDS, indent=1),
        "lines": "\n".join(lines),
        "lines with blanks": "\n\n" + "\r\n\r\n".join(lines) + "\n",
        "replies as lines": "\n".join(json.dumps({"data": [r]}) for r in RECORDS),
        "byte order mark": "\ufeff" + json.dumps(RECORDS),
    }[form]
    path.write_text(text, encoding="utf-8", newline="")
    return path


FORMS = [
    "reply",
    "pretty reply",
    "list",
    "pretty list",
    "lines",
    "lines with blanks",
    "replies as lines",
    "byte order mark",
]


@pytest.mark.slow
@each_row("form", FORMS)
@each_row("packed", [False, True])
def test_every_form_of_file_gives_the_same_products(tmp_path: Path, form: str, packed: bool) -> None:
    """Replies, lists, lines and single products are read, plain or compressed."""
    path = write(tmp_path / "products.json", form)
    if packed:
        (tmp_path / "products.json.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = tmp_path / "products.json.gz"
    catalog = prodex.read_products(path)

    expected = prodex.flatten(RECORDS)
    for table in ("products", "tags", "scalars", "presence"):
        assert expected.arrow(table).to_pylist() == catalog.arrow(table).to_pylist()
    assert catalog.complete


def test_several_files_follow_each_other(tmp_path: Path) -> None:
    """They are read in the given order, and the origin names them."""
    one, other = write(tmp_path / "a.json", "list"), write(tmp_path / "b.jsonl", "lines")

    catalog = prodex.read_products([one, other])
    assert ["1", "2"] == catalog.products["product_id"].tolist()
    assert "a.json, b.jsonl" == catalog.origin.source
    assert "2 came more than once" in repr(catalog)


def test_a_line_that_cannot_be_read_is_set_aside_with_its_place(tmp_path: Path) -> None:
    """The others are there, and the catalogue says that it is not complete."""
    path = tmp_path / "products.jsonl"
    path.write_text('{"id": 1}\n{"id": 2, "na\n[null, {"id": 3}]\n7\n{"id": 4}', encoding="utf-8")
    catalog = prodex.read_products(path)

    assert ["1", "3", "4"] == catalog.products["product_id"].tolist()
    assert ["line 2", "line 3, item 0", "line 4, item 0"] == [
        reason.split(": ")[0].removeprefix("products.jsonl, ") for reason in catalog.origin.ledger.set_aside
    ]
    assert "incomplete" in repr(catalog)


@each_row("content", [b"<html>no</html>", b"{", b"\x1f\x8b broken", b"null"])
def test_a_file_without_any_product_is_an_error(tmp_path: Path, content: bytes) -> None:
    """It says what the file holds instead."""
    path = tmp_path / "products.json"
    path.write_bytes(content)

    with pytest.raises(InputError, match=r"products.json"):
        prodex.read_products(path)


def test_records_in_memory_are_no_paths() -> None:
    """Whoever hands in records instead of files is told what takes them."""
    with pytest.raises(InputError, match=r"paths has a dict in it.*prodex\.flatten"):
        prodex.read_products([{"id": 7}])  # type: ignore[list-item]


def test_a_missing_or_cut_off_file_is_an_error(tmp_path: Path) -> None:
    """Half an archive is not silently half the products."""
    with pytest.raises(InputError, match="cannot be read"):
        prodex.read_products(tmp_path / "none.json")
    cut = tmp_path / "cut.jsonl.gz"
    packed = gzip.compress(b"\n".join(json.dumps({"id": i, "x": "y" * i}).encode() for i in range(2000)))
    cut.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match="cannot be read"):
        prodex.read_products(cut)


def test_records_out_of_pandas_keep_their_missing_values_missing() -> None:
    """NaN is null, not a number; a number that JSON cannot say is an error that names the record."""
    frame = pd.DataFrame({"id": [1, 2], "lifeCycle": [1.0, None]})
    catalog = prodex.flatten(frame.to_dict("records"))  # type: ignore[arg-type]

    assert [1, None] == catalog.arrow("products")["life_cycle"].to_pylist()
    assert ["filled", "null"] == catalog.presence["lifeCycle_state"].tolist()
    with pytest.raises(InputError, match="Record 1 cannot be written as JSON"):
        prodex.flatten([{"id": 1}, {"id": 2, "x": object()}])
    with pytest.raises(InputError, match="Record 0 is a str"):
        prodex.flatten(["no"])  # type: ignore[list-item]


def test_updates_that_wait_take_the_place_of_the_products_own() -> None:
    """Attribute by attribute, on those products only, and the catalogue that was given stays as it is."""
    text = {"expressedIn": {"code": "fra-FR"}, "data": "Riz"}
    records = [
        {"id": 1, "brand": {"code": "OLD"}, "lifeCycle": 1, "lastRequest": {"brand": {"code": "NEW"}}},
        {"id": 2, "lastRequest": {"namePublicLong": [text], "allergens": None}},
        {"id": 3, "brand": {"code": "OLD"}, "lastRequest": None},
    ]
    catalog = prodex.flatten(records).save("waiting")
    waiting = catalog.with_pending_updates()

    assert ["NEW", None, "OLD"] == waiting.arrow("products")["brand_code"].to_pylist()
    assert [("2", "namePublicLong", "Riz")] == list(
        waiting.where(product_id="2")
        .texts.query("attribute == 'namePublicLong'")[["product_id", "attribute", "text"]]
        .itertuples(index=False, name=None)
    )
    assert "null" == waiting.presence["allergens_state"][1]
    assert ["OLD", None, "OLD"] == catalog.arrow("products")["brand_code"].to_pylist()
    assert "pending updates" in waiting.origin.source
    assert [False] * 3 == waiting.products["has_pending_update"].tolist()


def test_a_broken_first_line_costs_only_itself(tmp_path: Path) -> None:
    """As any other line would; a byte order mark before lines costs nothing."""
    path = tmp_path / "products.jsonl"
    path.write_bytes(b'{broken\n{"id": 1}\n{"id": 2}\n')
    catalog = prodex.read_products(path)
    assert ["1", "2"] == catalog.products["product_id"].tolist()
    assert "line 1" in catalog.origin.ledger.set_aside[0]

    path.write_bytes(b'\xef\xbb\xbf{"id": 1}\n{"id": 2}\n')
    assert prodex.read_products(path).complete


@pytest.mark.parametrize("odd", ['"\\ud83d"', "NaN"])
def test_a_reply_with_an_odd_value_is_a_reply(tmp_path: Path, odd: str) -> None:
    """Half a surrogate pair or a number that is none in one product does not cost the others."""
    path = tmp_path / "reply.json"
    path.write_text(f'{{"totalResults": 2, "data": [{{"id": 1, "a": {odd}}}, {{"id": 2}}]}}')
    catalog = prodex.read_products(path)

    assert ["1", "2"] == catalog.products["product_id"].tolist()
    assert catalog.complete


def test_a_reply_that_announces_more_than_it_holds_is_incomplete(tmp_path: Path) -> None:
    """One page of many in a file is not the whole; an answer that is no product is none."""
    path = tmp_path / "page.json"
    path.write_text(json.dumps({"totalResults": 10, "data": RECORDS}))
    assert "incomplete: 2 of 10 products" in repr(prodex.read_products(path))

    for text in ('{"message": "unauthorized"}', '{"totalResults": 0, "data": null}', ""):
        path.write_text(text)
        with pytest.raises(InputError, match=r"page\.json"):
            prodex.read_products(path)


@pytest.mark.parametrize("name", [None, "delivery"])
def test_pages_that_announce_different_totals_are_whole_by_the_largest(
    tmp_path: Path, name: str | None
) -> None:
    """Products come between two pages: four of eleven were called complete, since the totals did not agree."""
    paths = [tmp_path / "1.json", tmp_path / "2.json"]
    for path, total, ids in zip(paths, (10, 11), ((1, 2), (3, 4)), strict=True):
        path.write_text(json.dumps({"totalResults": total, "data": [{"id": number} for number in ids]}))

    catalog = prodex.read_products(paths, name=name)

    assert (False, 11) == (catalog.complete, catalog.origin.ledger.announced)


@pytest.mark.parametrize("name", [None, "delivery"])
def test_no_file_is_no_delivery_without_products(tmp_path: Path, name: str | None) -> None:
    """A pattern that fits nothing made a complete snapshot in which every product was gone."""
    with pytest.raises(InputError, match="paths has no file in it"):
        prodex.read_products(tmp_path.glob("*.json"), name=name)

    assert "delivery" not in set(prodex.list_snapshots()["name"])


@each_row("broken", ['{"id": 7, "x": }', '[{"id": 7}, nix]', '{"data": [{"id": 7}, nix]}'])
def test_the_byte_that_is_wrong_is_one_of_the_text(tmp_path: Path, broken: str) -> None:
    """It was counted with what was put around the line to read it: the 24th of 16 bytes."""
    path = tmp_path / "products.jsonl"
    path.write_text(f'{{"id": 1}}\n{broken}\n')

    (line,) = prodex.read_products(path).origin.ledger.set_aside

    wrong = broken.index("}" if broken.startswith('{"id"') else "nix")
    found = re.search(r"\(byte ([0-9]+)\)", line)
    assert found is not None
    assert wrong <= int(found[1]) <= wrong + 1


@pytest.mark.parametrize("name", [None, "delivery"])
def test_a_table_that_pandas_wrote_by_columns_is_not_one_product(tmp_path: Path, name: str | None) -> None:
    """A frame of two products was read as one without a key, and called complete; by records it is read."""
    path, frame = tmp_path / "products.json", pd.DataFrame(RECORDS)[["id", "gtin"]]
    frame.to_json(path)

    with pytest.raises(InputError, match=r"a table by columns.*orient='records'"):
        prodex.read_products(path, name=name)
    frame.to_json(path, orient="records")
    assert 2 == len(prodex.read_products(path, name=name))


def test_a_reply_in_place_of_its_products_is_refused() -> None:
    """It became one product without a key, as the message about a single record had advised."""
    reply = {"totalResults": 2, "data": RECORDS, "offset": 0}

    for given in (reply, [reply]):
        with pytest.raises(InputError, match=r"reply\['data'\]"):
            prodex.flatten(given)  # type: ignore[arg-type]
    assert 2 == len(prodex.flatten(reply["data"]))  # type: ignore[arg-type]


def test_of_a_record_that_comes_twice_the_newest_counts() -> None:
    """This is the same as in every load; the ledger counts all copies."""
    records = [
        {"id": 1, "updatedAt": "2026-01-02T00:00:00", "lifeCycle": 2},
        {"id": 1, "updatedAt": "2026-01-01T00:00:00", "lifeCycle": 1},
    ]
    catalog = prodex.flatten(records)

    assert [2] == catalog.products["life_cycle"].tolist()
    assert (2, 1) == (catalog.origin.ledger.received, catalog.origin.ledger.distinct)


def bomb(path: Path, size: int) -> Path:
    """Write a file that becomes so many bytes, and is a thousandth of that."""
    member = gzip.compress(b" " * 10_000_000, 9)
    path.write_bytes(gzip.compress(b'[{"id": 1}') + member * (size // 10_000_000) + gzip.compress(b"]"))
    return path


@pytest.mark.slow
def test_a_file_that_becomes_very_large_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    """With its name, the numbers and the setting; 2 MB become 2 GB."""
    path = bomb(tmp_path / "products.json.gz", 2_000_000_000)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"too large: stopped after .* bytes received, unpacked .*"):
        prodex.read_products(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert most < 400_000_000


@pytest.mark.slow
def test_a_limit_that_was_given_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A larger one lets pass what would be refused, a smaller one refuses what would pass."""
    monkeypatch.setattr("prodex.limits._RATIO_FROM", 15_000_000)
    path = bomb(tmp_path / "products.json.gz", 20_000_000)
    with pytest.raises(InputError, match="for each byte received"):
        prodex.read_products(path)
    assert 1 == len(prodex.read_products(path, limits=prodex.limits.Limits(unpacked_bytes=30_000_000)))

    plain = write(tmp_path / "products.json", "lines")
    for limits, named in (
        (prodex.limits.Limits(wire_bytes=50), "50 bytes as sent"),
        (prodex.limits.Limits(seconds=1e-9), "s in all"),
    ):
        with pytest.raises(InputError, match=rf"{named}, and read_products\(limits=px.limits.Limits\("):
            prodex.read_products(plain, limits=limits)
    packed = tmp_path / "small.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    with pytest.raises(InputError, match="the limit is 50 bytes unpacked"):
        prodex.read_products(packed, limits=prodex.limits.Limits(unpacked_bytes=50))


_PACKED = json.dumps(RECORDS).encode()


@each_row(
    "name, content, said",
    [
        ("a.zip", zipped("p.json", _PACKED), "a ZIP archive. Unpack it"),
        ("a.json.bz2", bz2.compress(_PACKED), "packed by bzip2. Unpack it"),
        ("a.json.xz", lzma.compress(_PACKED), "packed by xz. Unpack it"),
        ("a.json", gzip.compress(_PACKED), "packed by gzip.*Let it end in .gz"),
        ("a.xlsx", zipped("[Content_Types].xml", b"<Types/>"), "a workbook of Excel.*prodex.read_workbook"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "an old file of Microsoft Office"),
        ("a.csv", b"id;gtin\n1;03036811359935\n", "a table of text .CSV.*no record of a product"),
        ("a.txt", "\ufeffid\tname\r\n\r\n1\tRiz\r\n".encode(), "a table of text .CSV"),
        ("a.csv.gz", gzip.compress(b'"id","gtin"\n1,2\n'), "a table of text .CSV"),
        ("a.xml", b'<?xml version="1.0"?>\n<products/>', "XML, and no JSON"),
        ("a.html", b"\n<!DOCTYPE html><html>", "a web page, and no JSON"),
        ("a.parquet", b"PAR1" + bytes(50), "a Parquet file.*prodex.read_export"),
    ],
)
def test_a_file_that_is_no_json_is_named_by_what_it_is(
    name: str, content: bytes, said: str, tmp_path: Path
) -> None:
    """With what to do; beside files that can be read it is set aside, and costs none of them."""
    (tmp_path / name).write_bytes(content)
    good = write(tmp_path / "good.json", "list")
    with pytest.raises(InputError, match=rf"(?s)No product could be read\. {re.escape(name)}: {said}"):
        prodex.read_products(tmp_path / name)
    with pytest.raises(InputError, match=rf"(?s){said}"):
        prodex.read_products(tmp_path / name, name="delivery")
    both = prodex.read_products([tmp_path / name, good])
    assert 2 == len(both)
    assert 1 == len(both.origin.ledger.set_aside)


@each_row(
    "content",
    [
        '{"id": 1, "a": 1\n{"id": 2, "a": 2}\n',  # a first line that is broken
        '"gtin": 1, "b": 2}\n{"id": 2, "a": 2}\n',  # the rest of one
        'x, y\n[{"id": 2, "a": 2}]\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_lines_of_which_the_first_is_broken_are_no_table(content: str, encoding: str, tmp_path: Path) -> None:
    """As many commas in two lines do not make one: the other lines are read."""
    path = tmp_path / "lines.jsonl"
    path.write_text(content, encoding=encoding)
    assert ["2"] == prodex.read_products(path).products["product_id"].tolist()
