"""Product records from files, as `prodex sandbox --products` takes them."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_row

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.excerpts import Excerpts
from prodex_sandbox.records.indexing import indexed_values
from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct
from prodex_sandbox.records.reading import read_records, shared_with_all
from prodex_sandbox.records.referentials import codes_of
from prodex_sandbox.records.segments import SegmentBuilder

A, B = b'{"gtin": "1",  "n": 1.0}', '{"gtin": "2", "name": "é"}'.encode()


def looked_at(records: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Return all that a new store takes from records, save their bytes."""
    segments, organizations = (
        SegmentBuilder(),
        [Organization(1, "R", OrganizationType.RETAILER, "r", "s", "u")],
    )
    codes: dict[Any, Any] = {}
    products = [one for _, one in shared_with_all([(b"", record) for record in records], organizations)]
    for product in products:
        segments.add(product.record, product.owner_id, product.views)
        for place, code in codes_of(product.record):
            codes.setdefault(place, code)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE settings (name, value)")
        segments.note(connection)
        noted = connection.execute("SELECT * FROM settings").fetchall()
    values = [indexed_values(record) for record in records]
    return values, [(one.owner_id, one.views) for one in products], organizations, codes, noted


def read(path: Path, content: bytes) -> tuple[list[bytes], list[str]]:
    """Write a file, read it, and return the bytes of its records and what was reported."""
    path.write_bytes(content)
    reports: list[str] = []
    records = list(read_records([path], reports.append))
    # Many lines may be the same.
    for body, record in dict(records).items():
        assert looked_at([json.loads(body)]) == looked_at([record])
    return [body for body, _ in records], [report.replace(str(path), "FILE") for report in reports]


@each_row(
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
@each_row("packed", [False, True])
def test_records_come_from_each_form_as_the_bytes_they_are_written_in(
    tmp_path: Path, content: bytes, packed: bool
) -> None:
    """JSON lines, an array and a service reply, plain or gzip, give their records byte for byte."""
    assert ([A, B], []) == read(tmp_path / "p", gzip.compress(content) if packed else content)


@each_row("content", [A, b"\n" + A, b'{\n "gtin": "1",\n "data": [1]\n}'])
def test_a_single_object_is_one_record(tmp_path: Path, content: bytes) -> None:
    """A file of one object is one record, also when it spans lines or has a member named data."""
    assert ([content.strip()], []) == read(tmp_path / "p.json", content)


@each_row(
    ("content", "kept", "reports"),
    [
        (A + b'\n{"gtin": \n' + B, [A, B], ["FILE, line 2: not JSON"]),
        (b"oops\n" + A + b"\n" + B, [A, B], ["FILE, line 1: not JSON"]),
        (A + b"\n5\nnull\n", [A], ["FILE, line 2: int instead", "FILE, line 3: NoneType instead"]),
        (b"[" + A + b", null, " + B + b"]", [A, B], ["FILE, line 1, item 1: NoneType instead"]),
        (b'{"n": NaN}\n' + A, [A], ["FILE, line 1: not JSON (NaN is not JSON)"]),
        (b"\xff\xfe\n" + A, [A], ["FILE, line 1: not JSON"]),
        (A + b'\n{"n": "\xc3"}\n', [A], ["FILE, line 2: not JSON"]),
        (A + b'\n{"\xa9": 1}\n', [A], ["FILE, line 2: not JSON"]),
        (A + b'\n{"n": ' + b"9" * 5000 + b"}", [A], ["FILE, line 2: not JSON"]),
        (A + b'\n{"n": "\\q"}\n', [A], ["FILE, line 2: not JSON"]),
        (A + b'\n{"n": 01}\n{"n": nul}\n', [A], ["FILE, line 2: not JSON", "FILE, line 3: not JSON"]),
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


# Pieces of JSON, and of what only looks like it.
PIECES = rb'" \ \u \ud83d \udc00 \n \q 1 - 0 . e E+ 1e999 01 null true fals NaN Infinity [ ] { } , : "a" "a":'.split()
PIECES += [b"9" * 30, b"9" * 700, b"9" * 4400, b" ", b"\t", b"\x00", b"\x0b", b"\x7f", b"\xef\xbb\xbf"]
PIECES += [b"\xc3\xa9", b"\xc3", b"\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80"]
PLACES = [
    b'{"x":%s}',
    b'{"x":[%s]}',
    b'{"x":"%s"}',
    b'{"x":{"y":%s}}',
    b"{%s}",
    b'{"%s":1}',
    b"%s",
    b'{"x":1}%s',
]
PLACES += [b'{"id":%s,"x":2}', b'{"height":[{"expressedIn":%s}]}', b'{"assets":{"pictures":[{"x":%s}]}}']


def is_record(body: bytes) -> bool:
    """Whether the whole of it is decoded to an object."""
    try:
        return isinstance(decode(body), dict)
    except (ValueError, RecursionError):
        return False


@given(st.sampled_from(PLACES), st.lists(st.sampled_from(PIECES), min_size=1, max_size=5))
def test_what_is_not_decoded_is_checked(place: bytes, pieces: list[bytes]) -> None:
    """Nothing has an excerpt that is refused where all of it is decoded, wherever it is odd."""
    body = place % b"".join(pieces)
    assert Excerpts().of(body) is None or is_record(body)


def test_numbers_that_python_does_not_read_are_found_wherever_they_begin() -> None:
    """A number of too many digits has no excerpt, at any place in the record."""
    for length in range(120):
        assert Excerpts().of(b'{"x":"%s","y":%s}' % (b"a" * length, b"1" * 640)) is None


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
)
LEAVES |= st.sampled_from(["2026-11-27T02:00:00", "fra-FR", "GRM", "\ud83d", "ACCEPTED", 2, 3, 250, 2**70])
NAMES = st.sampled_from(
    ["code", "label", "name", "status", "target_market_id", "tag", "data", "isPackshot", "lastUpdatedAt"]
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=3,
)
CODES = st.fixed_dictionaries({}, optional={"code": LEAVES, "label": LEAVES, "data": VALUES, "x": VALUES})
ITEMS = st.lists(
    st.none() | st.fixed_dictionaries({"expressedIn": CODES}, optional={"data": LEAVES}), max_size=4
)
PLAIN = ["id", "uuid", "gtin", "updatedAt", "isConsumerUnit", "isDisplayUnit", "isTaggedBy", "data", "x"]
PLAIN += ["manufacturerSharingStatus", "targetProductStatus", "hasTags"]
OBJECTS = ["owner", "validation", "product_key", "GPC", "brand", "kind", "typePackaging"]
DESCRIBED = ["nameLegal", "namePublicLong", "description", "netContent", "netWeight", "height"]
MEMBERS = dict.fromkeys(PLAIN, VALUES)
MEMBERS |= dict.fromkeys(OBJECTS, VALUES | CODES) | dict.fromkeys(DESCRIBED, VALUES | ITEMS)
MEMBERS["assets"] = VALUES | st.fixed_dictionaries(
    {"pictures": st.lists(st.fixed_dictionaries({"isPackshot": LEAVES, "x": VALUES}), max_size=2)},
    optional={"lastUpdatedAt": st.fixed_dictionaries({"pictures": LEAVES})},
)


@given(st.lists(st.fixed_dictionaries({}, optional=MEMBERS), min_size=1, max_size=4))
def test_an_excerpt_gives_a_store_what_the_whole_record_gives(records: list[dict[str, Any]]) -> None:
    """Values, owners, views, codes and segments are the same, whatever types the members have."""
    excerpts = Excerpts()
    taken = [one if (found := excerpts.of(encode(one))) is None else found for one in records]
    assert looked_at(records) == looked_at(taken)
