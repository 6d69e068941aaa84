"""Product records from files, as `prodex sandbox --products` takes them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct
from prodex_sandbox.records.reading import read_records, shared_with_all

A, B = b'{"gtin": "1",  "n": 1.0}', '{"gtin": "2", "name": "é"}'.encode()


def read(path: Path, content: bytes) -> tuple[list[bytes], list[str]]:
    """Write a file, read it, and return the bytes of its records and what was reported."""
    path.write_bytes(content)
    reports: list[str] = []
    records = list(read_records([path], reports.append))
    assert [json.loads(body) for body, _ in records] == [record for _, record in records]
    return [body for body, _ in records], [report.replace(str(path), "FILE") for report in reports]


@pytest.mark.parametrize(
    "content",
    [
        A + b"\n" + B + b"\n",
        A + b"\r\n\r\n  " + B,
        b"\xef\xbb\xbf" + A + b"\n" + B,
        b"\n\n" + A + b"\n" + B,
        b"[" + A + b", " + B + b"]",
        b"[\n" + A + b",\n" + B + b"\n]\n",
        b'{"totalResults": 2, "data": [' + A + b"," + B + b'], "offset": 0}',
        b'{\n"totalResults": 2,\n"data": [' + A + b",\n" + B + b"]\n}",
        b'{"data": [' + A + b']}\n{"data": [' + B + b"]}\n",
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_records_come_from_each_form_as_the_bytes_they_are_written_in(
    tmp_path: Path, content: bytes, packed: bool
) -> None:
    """JSON lines, an array and a service reply, plain or gzip, give their records byte for byte."""
    assert ([A, B], []) == read(tmp_path / "p", gzip.compress(content) if packed else content)


@pytest.mark.parametrize("content", [A, b"\n" + A, b'{\n "gtin": "1",\n "data": [1]\n}'])
def test_a_single_object_is_one_record(tmp_path: Path, content: bytes) -> None:
    """A file of one object is one record, also when it spans lines or has a member named data."""
    assert ([content.strip()], []) == read(tmp_path / "p.json", content)


@pytest.mark.parametrize(
    ("content", "kept", "reports"),
    [
        (A + b'\n{"gtin": \n' + B, [A, B], ["FILE, line 2: not JSON"]),
        (b"oops\n" + A + b"\n" + B, [A, B], ["FILE, line 1: not JSON"]),
        (A + b"\n5\nnull\n", [A], ["FILE, line 2: int instead", "FILE, line 3: NoneType instead"]),
        (b"[" + A + b", null, " + B + b"]", [A, B], ["FILE, line 1, item 1: NoneType instead"]),
        (b'{"n": NaN}\n' + A, [A], ["FILE, line 1: not JSON (NaN is not JSON)"]),
        (b"\xff\xfe\n" + A, [A], ["FILE, line 1: not JSON"]),
        (b"[" * 5000 + b"\n" + A, [A], ["FILE, line 1: not JSON"]),
        (b"5", [], ["FILE, line 1: int instead", "FILE: holds no product record"]),
        (b"", [], ["FILE: holds no product record"]),
    ],
)  # fmt: skip
def test_what_is_no_record_is_reported_with_file_and_line_and_left_out(
    tmp_path: Path, content: bytes, kept: list[bytes], reports: list[str]
) -> None:
    """A line that is no record is reported with its file and line, and the others are read."""
    records, told = read(tmp_path / "p.jsonl", content)
    assert kept == records
    assert len(reports) == len(told)
    for wanted, report in zip(reports, told, strict=True):
        assert report.startswith(wanted)


def test_a_gzip_file_that_is_cut_off_gives_what_it_holds(tmp_path: Path) -> None:
    """A cut gzip file gives its whole records and a report."""
    packed = gzip.compress(b"\n".join([A] * 20_000))
    records, reports = read(tmp_path / "p.gz", packed[:-20])
    assert records
    assert {A} == set(records)
    assert reports[-1].startswith("FILE: the rest is unreadable")


def test_a_record_with_half_a_surrogate_pair_is_kept_as_written(tmp_path: Path) -> None:
    """A text that no file can hold is kept as its escape."""
    odd = rb'{"gtin":"1","name":"\ud83d"}'
    assert ([odd, odd], []) == read(tmp_path / "p.json", odd + b"\n" + odd)
    assert ([odd], []) == read(tmp_path / "p.json", b"[" + odd + b"]")


def test_records_lacking_an_id_are_not_given_one(tmp_path: Path) -> None:
    """A record is served as it is, whatever it lacks."""
    assert ([b"{}"], []) == read(tmp_path / "p.json", b"{}")


def test_every_retailer_sees_a_record_and_its_owner_owns_it() -> None:
    """Records are shared with every retailer; each owner's name becomes one manufacturer with a key of its own."""
    organizations = [
        Organization(1, "R", OrganizationType.RETAILER, "r", "s", "u"),
        Organization(2, "S", OrganizationType.RETAILER, "r2", "s", "u"),
        Organization(9, "Known", OrganizationType.MANUFACTURER, "m", "s", "u"),
    ]
    names = ["New", "Known", "New", None, 5]
    records = [{"owner": {"name": name}} for name in names] + [{}]
    products = [
        product for _, product in shared_with_all([(b"{}", record) for record in records], organizations)
    ]
    assert [10, 9, 10, 11, 11, 11] == [product.owner_id for product in products]
    assert {(1, 2)} == {tuple(view.organization_id for view in product.views) for product in products}
    assert [(10, "New"), (11, "Unknown owner")] == [(one.id, one.name) for one in organizations[3:]]
    assert 5 == len({one.client_id for one in organizations})


def test_shared_products_stay_as_they_are() -> None:
    """Products that say who sees them are passed on with the bytes of their record."""
    product = SharedProduct({"gtin": "1"}, 5, ())
    assert [(b'{"gtin":"1"}', product)] == list(shared_with_all([product], []))
