"""The files of products: where they are named, what is served there, and that it is what the record says."""

from __future__ import annotations

import io
import json
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from small_exchange import MILL, SHOP, Caller
from tests.cases import each_row
from writer import Writer

from prodex.sandbox import Fault, Sandbox
from prodex_sandbox.media.drawing import SHAPES, draw_logo, draw_pack, modules_of, shape_of
from prodex_sandbox.media.files import (
    MEDIA,
    MediaAddress,
    Pack,
    PictureFile,
    address_of_call,
    file_at,
    pack_of,
)
from prodex_sandbox.media.rendering import content_of, fitted, four_bytes
from prodex_sandbox.refusals import Refusal
from prodex_sandbox.sample import organizations, plan, shared_products
from prodex_sandbox.sample.products.vocabulary import KINDS

COUNT = 600
Record = dict[str, Any]
FRONT = {
    "url": f"{MEDIA}/07/7/front.jpg",
    "productFace": 1,
    "width": 300,
    "height": 400,
    "format": "jpeg",
    "crc32": "0badcafe",
    "exportables": [
        {
            "uniformResourceIdentifier": f"{MEDIA}/07/7/front_64.jpg",
            "width": 64,
            "height": 64,
            "fileSize": 2_000,
            "crc32": "00000007",
        }
    ],
}
TEA: Record = {
    "id": 7,
    "gtin": "03036811359935",
    "owner": {"name": MILL.name},
    "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": f"Thé, voir {MEDIA}/07/7/front.jpg"}],
    "brand": {"code": "TEA", "label": "Thé", "pictureUrl": f"{MEDIA}/brands/TEA.png"},
    "kind": {"code": "TEA", "label": "Tea"},
    "isLabeledBy": [{"isConceptualizedBy": {"code": "BIO", "pictureUrl": f"{MEDIA}/labels/BIO.png"}}],
    "assets": {
        "pictures": [FRONT],
        "documents": [
            {"fileName": "a.pdf", "uniformResourceIdentifier": f"{MEDIA}/documents/7/a.pdf"},
        ],
        "videos": [{"url": f"{MEDIA}/07/7/film.mp4"}],
        "enriched_contents": [{"url": f"{MEDIA}/pages/7.html"}],
    },
}


@contextmanager
def exchange(*records: Record) -> Iterator[tuple[Sandbox, Caller]]:
    """Serve records to a caller who sees all of them."""
    with Sandbox(records, organizations=[SHOP, MILL], labels={}) as sandbox:
        caller = Caller(sandbox.base_url).log_in()
        with caller.session:
            yield sandbox, caller


@pytest.fixture(scope="module")
def tea() -> Iterator[Caller]:
    """Serve one product whose files nothing changes."""
    with exchange(TEA) as (_, caller):
        yield caller


@pytest.fixture(scope="module")
def products() -> Iterator[list[Record]]:
    """Serve a sample, and read it; it is served meanwhile."""
    with Sandbox(shared_products(COUNT)) as sandbox:
        caller = Caller(sandbox.base_url, organizations()[0]).log_in()
        with caller.session:
            pages = [caller.call("POST", limit=500, offset=offset)["data"] for offset in (0, 500)]
            yield [product for page in pages for product in page]


def media(caller: Caller, path: str, **headers: str) -> requests.Response:
    """Fetch a file, without a token."""
    return requests.get(
        f"{caller.base_url}/media/{path}",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def pictures_of(product: Record) -> Iterator[tuple[Record, str, str]]:
    """Yield originals and renditions: what the record says, the address, the format."""
    for picture in product["assets"]["pictures"] or []:
        yield picture, picture["url"], picture["format"]
        for rendition in picture["exportables"]:
            yield rendition, rendition["uniformResourceIdentifier"], "jpeg"


def looked_at(products: list[Record]) -> list[Record]:
    """Return the first product of each defect of pictures, and of each size of an original that they lack one more."""
    firsts: dict[str, str] = {}
    for defect in plan(COUNT):
        if defect.attribute.startswith("assets.pictures"):
            firsts.setdefault(defect.defect, defect.product_id)
    chosen = [one for one in products if str(one["id"]) in firsts.values()]
    known = {size for one in chosen for size in sizes(one)}
    for one in products:
        if len(sizes(one)) == 1 and not known.issuperset(sizes(one)):
            chosen.append(one)
            known.update(sizes(one))
    return chosen


def sizes(product: Record) -> list[tuple[int, int]]:
    """Return the pixels of a product's originals."""
    return [(picture["width"], picture["height"]) for picture in product["assets"]["pictures"] or ()]


# What is served is what the record says


@pytest.mark.slow
def test_pictures_are_what_their_records_say(products: list[Record]) -> None:
    """Pixels, format, number of bytes and CRC-32 of each file are those of its record, defects or not."""
    seen = 0
    with requests.Session() as session:
        for product in looked_at(products):
            for file, address, format_ in pictures_of(product):
                reply = session.get(address)
                assert (200, f"image/{format_}") == (reply.status_code, reply.headers["Content-Type"]), (
                    address
                )
                assert file["crc32"] == f"{zlib.crc32(reply.content):08x}"
                assert file.get("fileSize", len(reply.content)) == len(reply.content)
                with Image.open(io.BytesIO(reply.content)) as image:
                    image.load()
                    assert (file["width"], file["height"], format_.upper()) == (*image.size, image.format)
                    assert "RGB" == image.mode
                seen += 1
    assert 50 < seen


@pytest.mark.slow
def test_every_address_of_the_sample_is_the_sandbox_s_own(products: list[Record]) -> None:
    """No reply names the address of the store, and brands, labels and documents are there too."""
    assert MEDIA not in json.dumps(products)
    kinds: dict[str, str] = {}
    for product in products:
        kinds.setdefault("brand", (product.get("brand") or {}).get("pictureUrl") or "")
        for label in product.get("isLabeledBy") or []:
            kinds["label"] = label["isConceptualizedBy"]["pictureUrl"] if label else kinds.get("label", "")
        for document in product["assets"]["documents"]:
            kinds["document"] = document["uniformResourceIdentifier"]
    types = {kind: requests.get(address).headers["Content-Type"] for kind, address in kinds.items()}
    assert {"brand": "image/png", "label": "image/png", "document": "application/pdf"} == types


def test_the_same_record_gives_the_same_file(tea: Caller) -> None:
    """Another sandbox, with nothing remembered, draws the same bytes."""
    first = media(tea, "07/7/front.jpg").content
    content_of.cache_clear()
    with exchange(TEA) as (_, caller):
        assert first == media(caller, "07/7/front.jpg").content


def test_pictures_of_one_checksum_show_the_same() -> None:
    """Where the second picture says that it is the first (crc32), it is; else it shows its own face."""
    back = {**FRONT, "url": f"{MEDIA}/07/7/back.jpg", "productFace": 7}
    other = {**back, "url": f"{MEDIA}/07/7/other.jpg", "crc32": "0badcaff"}
    with exchange({**TEA, "assets": {"pictures": [FRONT, back, other]}}) as (_, caller):
        files = [media(caller, f"07/7/{name}.jpg").content for name in ("front", "back", "other")]
    assert files[0] == files[1]
    assert files[0][:-4] != files[2][:-4]


@each_row(
    ("crc32", "expected"),
    [
        ("0badcafe", 0x0BADCAFE),
        ("0x0BADCAFE", 0x0BADCAFE),
        ("12345678", 0x12345678),
        ("3735928559", 3735928559),
        (3735928559, 3735928559),
        ("none", None),
        (None, None),
        (-1, None),
    ],
)
def test_checksums_are_read_as_records_have_them(crc32: object, expected: int | None) -> None:
    """Numbers are decimal, text is hexadecimal unless it has more than 8 digits; what is none asks for nothing."""
    record = {"assets": {"pictures": [{"url": "x.jpg", "width": 8, "height": 8, "crc32": crc32}]}}
    file = file_at(["x.jpg"], [record])
    assert isinstance(file, PictureFile)
    assert expected == file.crc32
    assert expected in (None, zlib.crc32(content_of(file).body))


@each_row(
    ("picture", "size", "format_"),
    [
        ({}, (1000, 1000), "JPEG"),
        ({"url": f"{MEDIA}/07/7/front.png", "fileSize": 100_000}, (1000, 1000), "PNG"),
        ({"format": "TIFF", "width": 40, "height": 30, "fileSize": 9_999}, (40, 30), "TIFF"),
        ({"width": 30, "height": 700, "productFace": None}, (30, 700), "JPEG"),
        ({"width": 1, "height": 1, "fileSize": 200_000}, (1, 1), "JPEG"),
        ({"width": "300", "height": True, "crc32": [], "fileSize": "7", "quality": 1}, (1000, 1000), "JPEG"),
    ],
)
def test_what_a_record_lacks_is_made_up(picture: Record, size: tuple[int, int], format_: str) -> None:
    """Without a format the name decides, without pixels there are 1000, without checksum it is what it is."""
    picture = {"url": f"{MEDIA}/07/7/front.jpg", **picture}
    file = file_at([picture["url"]], [{"assets": {"pictures": picture}}])
    body = content_of(file).body
    with Image.open(io.BytesIO(body)) as image:
        image.load()
        assert (size, format_) == (image.size, image.format)
    assert picture["fileSize"] == len(body) if isinstance(picture.get("fileSize"), int) else True


@pytest.mark.slow
@each_row(
    ("picture", "words"),
    [
        ({"fileSize": 100}, "100 bytes, too few for any jpeg"),
        ({"format": "webp"}, "'webp'; the sandbox draws jpeg"),
        (
            {"width": 100_000, "height": 100_000},
            "100000 x 100000 pixels; the sandbox draws 40,000,000 at most",
        ),
        ({"width": 0}, "0 x 400 pixels"),
        ({"width": -8, "height": -8}, "-8 x -8 pixels"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(picture: Record, words: str) -> None:
    """A picture whose record no file can match is a 404 that says why."""
    with exchange({**TEA, "assets": {"pictures": [{**FRONT, **picture}]}}) as (_, caller):
        reply = media(caller, "07/7/front.jpg")
    assert (404, "file_not_served") == (reply.status_code, reply.json()["error"])
    assert words in reply.json()["message"]


@each_row(
    ("path", "error"),
    [
        ("07/7/film.mp4", "file_not_served"),
        ("pages/7.html", "file_not_served"),
        ("07/7/other.jpg", "file_unknown"),
        ("07/8/front.jpg", "file_unknown"),
        ("7/front.jpg", "file_unknown"),
        ("brands/COFFEE.png", "file_unknown"),
        ("", "file_unknown"),
        ("%2e%2e/etc/passwd", "file_unknown"),
        ("07/7/front.jpg/", "file_unknown"),
        ("9" * 40, "file_unknown"),
    ],
)
def test_nothing_else_is_served(tea: Caller, path: str, error: str) -> None:
    """What no product names is not there, and what is not made says so."""
    reply = media(tea, path)
    assert (404, error) == (reply.status_code, reply.json()["error"])


def test_documents_are_pdf(tea: Caller) -> None:
    """A document is one page with its title, whose table of contents is right to the byte, and has no date."""
    body = media(tea, "documents/7/a.pdf").content
    assert body.startswith(b"%PDF-1.")
    start = int(body.rpartition(b"startxref\n")[2].split()[0])
    places = [int(line.split()[0]) for line in body[start:].splitlines() if line.endswith(b" n ")]
    assert [b"%d 0 obj" % number for number in range(1, 7)] == [body[at : at + 7] for at in places]
    assert 1 == body.count(b"/Type /Page\n")
    assert "a.pdf".encode("utf-16-be") in body
    assert b"Date" not in body[start - 500 :]


@each_row("name", ["a.pdf", None, 5, "\ud800.pdf", "\x00(\\", "x" * 5_000, "Ж" * 99, []])
def test_no_name_keeps_a_document_from_being_made(name: object) -> None:
    """Whatever a record holds as the name of a document, the page is the same each time it is made."""
    document = {"fileName": name, "uniformResourceIdentifier": "x"}
    file = file_at(["x"], [{**TEA, "assets": {"documents": [document]}}])
    first = content_of(file).body
    content_of.cache_clear()
    assert first.startswith(b"%PDF-")
    assert first == content_of(file).body


def test_logos_differ(tea: Caller) -> None:
    """Brands and labels have pictures of their own."""
    logos = [media(tea, f"{name}.png").content for name in ("brands/TEA", "labels/BIO")]
    assert [b"\x89PNG"] * 2 == [logo[:4] for logo in logos]
    assert logos[0] != logos[1]


# HTTP


def test_a_file_needs_no_token_and_can_be_asked_about(tea: Caller) -> None:
    """HEAD has the status and headers of GET, without a body."""
    whole = media(tea, "07/7/front.jpg")
    head = requests.head(f"{tea.base_url}/media/07/7/front.jpg")
    assert (200, b"") == (head.status_code, head.content)
    for name in ("Content-Length", "Content-Type", "ETag", "Accept-Ranges"):
        assert whole.headers[name] == head.headers[name]
    assert (len(whole.content), "bytes") == (
        int(head.headers["Content-Length"]),
        head.headers["Accept-Ranges"],
    )
    assert 404 == requests.head(f"{tea.base_url}/media/07/7/other.jpg").status_code


@each_row(
    ("asked", "wanted"),
    [
        ("bytes=0-0", slice(0, 1)),
        ("bytes=1000-", slice(1000, None)),
        ("bytes=10-1999", slice(10, 2000)),
        ("bytes=1999-999999", slice(1999, None)),
        ("bytes=-7", slice(-7, None)),
        ("bytes=-999999", slice(0, None)),
        ("bytes = 3 - 5", slice(3, 6)),
    ],
)
def test_a_range_is_answered_as_such(tea: Caller, asked: str, wanted: slice) -> None:
    """A range is answered with 206, its bytes, and their position."""
    whole = media(tea, "07/7/front_64.jpg").content
    reply = media(tea, "07/7/front_64.jpg", Range=asked)
    first, last, _ = wanted.indices(len(whole))
    assert (206, whole[wanted]) == (reply.status_code, reply.content)
    assert f"bytes {first}-{last - 1}/2000" == reply.headers["Content-Range"]


@each_row("asked", ["bytes=2000-", "bytes=2000-2001", "bytes=-0"])
def test_a_range_past_the_end_is_refused(tea: Caller, asked: str) -> None:
    """A range past the end is answered with 416 and the length of the file."""
    reply = media(tea, "07/7/front_64.jpg", Range=asked)
    assert (416, "bytes */2000") == (reply.status_code, reply.headers["Content-Range"])


@each_row("asked", ["bytes=5-3", "bytes=-", "bytes=0-1,3-4", "pages=1-2", "bytes=x-", "0-1"])
def test_what_is_no_range_gets_the_whole_file(tea: Caller, asked: str) -> None:
    """An invalid Range, or one of several ranges, is ignored."""
    reply = media(tea, "07/7/front_64.jpg", Range=asked)
    assert (200, 2000) == (reply.status_code, len(reply.content))


def test_a_range_of_another_file_gets_the_whole_one(tea: Caller) -> None:
    """If-Range compares the ETag, which changes with the bytes even if the checksum does not."""
    etag = media(tea, "07/7/front.jpg").headers["ETag"]
    assert 206 == media(tea, "07/7/front.jpg", Range="bytes=5-", If_Range=etag).status_code
    for other in ('"other"', f"W/{etag}", "Sat, 21 Nov 2026 00:00:00 GMT"):
        assert 200 == media(tea, "07/7/front.jpg", Range="bytes=5-", If_Range=other).status_code
    with exchange({**TEA, "brand": {"code": "COFFEE"}}) as (_, caller):
        assert etag != media(caller, "07/7/front.jpg").headers["ETag"]


def test_who_has_a_file_need_not_fetch_it_again(tea: Caller) -> None:
    """If-None-Match with the ETag of the file is answered with 304, without a body."""
    etag = media(tea, "07/7/front.jpg").headers["ETag"]
    reply = media(tea, "07/7/front.jpg", If_None_Match=f'"x", {etag}')
    assert (304, b"", etag) == (reply.status_code, reply.content, reply.headers["ETag"])
    assert 200 == media(tea, "07/7/front.jpg", If_None_Match='"x"').status_code


def test_an_address_may_be_spelled_in_two_ways() -> None:
    """A record may have special characters as they are, or percent-encoded."""
    for name in ("Käse 1.jpg", "K%C3%A4se%201.jpg"):
        picture = {**FRONT, "url": f"{MEDIA}/07/7/{name}"}
        with exchange({**TEA, "assets": {"pictures": [picture]}}) as (_, caller):
            (address,) = [one["url"] for one in caller.call("POST")["data"][0]["assets"]["pictures"]]
            assert 200 == requests.get(address).status_code


# Addresses in replies and in what is written


def test_files_are_named_where_the_caller_is(tea: Caller) -> None:
    """A call by another name of this machine gets addresses of that name, by GET and POST."""
    for host in ("127.0.0.1", "localhost"):
        base_url = tea.base_url.replace("127.0.0.1", host)
        token = {"Authorization": tea.session.headers["Authorization"]}
        for reply in (
            requests.get(f"{base_url}/public/v1/products", headers=token),
            requests.post(f"{base_url}/public/v1/products/list", json={}, headers=token),
        ):
            assert MEDIA not in reply.text
            (product,) = reply.json()["data"]
            assert f"{base_url}/media/07/7/front.jpg" == product["assets"]["pictures"][0]["url"]
            assert f"{base_url}/media/brands/TEA.png" == product["brand"]["pictureUrl"]


@each_row(
    ("host", "expected"),
    [
        ([b"shop.test:80"], "http://shop.test:80/media"),
        ([b"[::1]:8000"], "http://[::1]:8000/media"),
        ([b'x","y":"'], "http://127.0.0.1:8000/media"),
        ([b"a/b"], "http://127.0.0.1:8000/media"),
        ([b"a", b"b"], "http://127.0.0.1:8000/media"),
        ([], "http://127.0.0.1:8000/media"),
    ],
)
def test_only_a_host_that_is_one_goes_into_addresses(host: list[bytes], expected: str) -> None:
    """A Host header that could break the JSON, or is no host, is not used."""
    scope = {"scheme": "http", "server": ("127.0.0.1", 8000), "headers": [(b"host", one) for one in host]}
    assert MediaAddress(expected) == address_of_call(scope)


def test_records_without_such_addresses_stay_byte_for_byte() -> None:
    """Addresses of other hosts stay as they are."""
    record = {"gtin": "1", "assets": {"pictures": [{"url": "https://media.prodex.example.org/1.jpg"}]}}
    with exchange(record) as (_, caller):
        assert json.dumps(record, separators=(",", ":")) in caller.get().text


PARTS = [
    "a",
    "/",
    ":",
    "\\/",
    '"',
    "http://",
    "media",
    "127.0.0.1:8000",
    "http://127.0.0.1:8000/media",
    MEDIA,
]


@given(st.lists(st.sampled_from(PARTS)).map("".join))
def test_addresses_translated_both_ways_are_as_before(text: str) -> None:
    """Whatever a record holds, a reply that is sent back unchanged is stored unchanged."""
    here = MediaAddress("http://127.0.0.1:8000/media")
    stored = here.in_store(text.encode())
    assert stored == here.in_store(here.in_reply(stored))


@pytest.mark.slow
@each_row("written", ["json", "escaped", "xml"])
def test_what_is_written_back_is_turned_back(written: str, tmp_path: Path) -> None:
    """An upsert of a reply changes no picture, and addresses are right when the sandbox has another port."""
    home = tmp_path / "home"
    with Sandbox([TEA], organizations=[SHOP, MILL], labels={}, home=home) as sandbox:
        mill = Writer(sandbox.base_url, MILL)
        with mill.session:
            before = mill.log_in().call("POST")["data"][0]
            pictures, texts = before["assets"]["pictures"], before["namePublicLong"]
            if written == "xml":
                address = escape(pictures[0]["url"])
                body = (
                    f"<SupplierProducts><product><gtin>{TEA['gtin']}</gtin><note>{address}</note>"
                    "</product></SupplierProducts>"
                )
                headers = {"Content-Type": "application/xml"}
            else:
                new = {"gtin": TEA["gtin"], "note": pictures[0]["url"], "namePublicLong": texts}
                body = json.dumps({"data": [{**new, "assets": {"pictures": pictures}}]})
                body = body.replace("/", "\\/") if written == "escaped" else body
                headers = {"Content-Type": "application/json"}
            reply = mill.session.post(
                f"{sandbox.base_url}/public/v1/products", data=body.encode(), headers=headers
            )
            assert 200 == reply.status_code
            mill.wait(1)
            after = mill.call("POST")["data"][0]
            assert (pictures, texts) == (after["assets"]["pictures"], after["namePublicLong"])
    port = int(sandbox.base_url.rpartition(":")[2])
    with (
        socket.create_server(("127.0.0.1", port)),
        Sandbox([], organizations=[SHOP, MILL], labels={}, home=home) as moved,
    ):
        assert sandbox.base_url != moved.base_url
        caller = Caller(moved.base_url, MILL)
        with caller.session:
            product = caller.log_in().call("POST")["data"][0]
        assert f"{moved.base_url}/media/07/7/front.jpg" == product["note"]
        assert TEA["namePublicLong"][0]["data"] == product["namePublicLong"][0]["data"].replace(
            f"{moved.base_url}/media", MEDIA
        )
        assert 200 == requests.get(product["assets"]["pictures"][0]["url"]).status_code


def test_a_home_keeps_its_address(tmp_path: Path) -> None:
    """A store that is served again is served at the same port, so that no picture seems to have changed."""
    served = []
    for _ in range(2):
        with Sandbox([TEA], organizations=[SHOP, MILL], labels={}, home=tmp_path / "home") as sandbox:
            caller = Caller(sandbox.base_url).log_in()
            with caller.session:
                served.append(caller.get().json()["data"])
    assert served[0] == served[1]


def test_what_a_program_puts_back_is_served() -> None:
    """Records that were read from replies and put into the catalogue still name their files."""
    with exchange(TEA) as (sandbox, caller):
        read = caller.call("POST")["data"][0]
        sandbox.change([{**read, "lifeCycle": 1}])
        assert 200 == media(caller, "07/7/front.jpg").status_code


# Faults


@pytest.fixture(scope="module")
def failing() -> Iterator[tuple[Sandbox, Caller]]:
    """Serve one product to those who order faults."""
    with exchange(TEA) as served:
        yield served


def fetched(caller: Caller, patience: float = 20, **headers: str) -> requests.Response:
    """Fetch a file of 2,000 bytes; give up where nothing comes for so many seconds."""
    address = f"{caller.base_url}/media/07/7/front_64.jpg"
    return requests.get(address, headers=headers, allow_redirects=False, timeout=patience)


@each_row(
    ("fault", "status", "header", "value"),
    [
        (Fault("503", at=1, endpoint="media", retry_after=3), 503, "Retry-After", "3"),
        (Fault("429", at=1, endpoint="media"), 429, "Content-Type", "application/json"),
        (Fault("404", at=1, endpoint="media"), 404, "Content-Type", "application/json"),
        (Fault("garbage", at=1, endpoint="media"), 200, "Content-Type", "application/json"),
        (Fault("502", at=1, endpoint="media"), 502, "Content-Type", "text/html"),
        (
            Fault("redirect", at=1, endpoint="media", to="http://10.0.0.1/x"),
            302,
            "Location",
            "http://10.0.0.1/x",
        ),
    ],
    ids=lambda value: str(value) if isinstance(value, Fault) else "",
)
def test_a_file_can_be_refused_as_ordered(
    failing: tuple[Sandbox, Caller], fault: Fault, status: int, header: str, value: str
) -> None:
    """One call gets the fault, the next one the file; products are listed meanwhile."""
    sandbox, caller = failing
    sandbox.order(fault)
    assert 1 == len(caller.call("POST")["data"])
    reply = fetched(caller)
    assert (status, value) == (reply.status_code, reply.headers[header])
    assert 2000 == len(fetched(caller).content)
    sandbox.clear_faults()


@each_row("kind", ["cut", "truncated", "stalled"])
def test_a_file_can_break_off_as_ordered(failing: tuple[Sandbox, Caller], kind: str) -> None:
    """The connection ends, the file ends early, or nothing is sent for longer than the caller waits."""
    sandbox, caller = failing
    sandbox.order(Fault(kind, at=1, endpoint="media"))
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        fetched(caller, patience=0.4)
    assert 2000 == len(fetched(caller).content)
    sandbox.clear_faults()


def test_a_file_can_be_wrong_or_slow_as_ordered(failing: tuple[Sandbox, Caller]) -> None:
    """A damaged file has its length and another checksum; a slow one is sent in pieces, over a while."""
    sandbox, caller = failing
    sandbox.order(Fault("damaged", at=1, endpoint="media"), Fault("slow", at=2, endpoint="media", seconds=1))
    damaged = fetched(caller).content
    assert (2000, True) == (len(damaged), zlib.crc32(damaged) != 7)
    begin = time.monotonic()
    assert 7 == zlib.crc32(fetched(caller).content)
    assert 0.9 <= time.monotonic() - begin
    sandbox.clear_faults()


def test_what_broke_off_can_be_gone_on_with(failing: tuple[Sandbox, Caller]) -> None:
    """Half of a file and the range of the rest make the file."""
    sandbox, caller = failing
    sandbox.order(Fault("truncated", at=1, endpoint="media"))
    with requests.get(f"{caller.base_url}/media/07/7/front_64.jpg", stream=True) as reply:
        came = reply.raw.read(900)
    rest = fetched(caller, **{"Range": f"bytes={len(came)}-", "If-Range": reply.headers["ETag"]})
    assert (206, 7) == (rest.status_code, zlib.crc32(came + rest.content))
    assert 900 == len(came)
    sandbox.clear_faults()


# Drawing


FACES = (1, 2, 3, 7, 8, 9, 55)
#: One of each shape, and one that nobody knows.
KINDS_OF_SHAPES = ("TEA", "BEER", "CRISPS", "PENS", "HAM", "T_SHIRT", "SOUP", "?")


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("packaging", ["EACH", "PACK", "CASE", "PALLET", ""])
def test_every_face_can_be_seen(face: int, packaging: str) -> None:
    """Every face of every kind, and each face and kind in every packaging, shows something on a white ground."""
    # A packaging draws what one pack of it looks like: the kinds of its faces take turns.
    turn = 2 * FACES.index(face) % len(KINDS_OF_SHAPES)
    kinds = KINDS_OF_SHAPES if packaging == "EACH" else KINDS_OF_SHAPES[turn : turn + 2]
    for kind in kinds:
        pack = Pack(
            "03036811359935", "ACME", "Acme", kind, packaging, "Une chose", "1 kg", "Petits caractères"
        )
        image = draw_pack(pack, face, 64, 64)
        colours = image.getcolors(64 * 64)
        assert colours is not None
        assert 64 * 64 * 0.93 > max(count for count, _ in colours)
        assert (255, 255, 255) == image.getpixel((0, 0))


def test_faces_shapes_and_brands_look_different() -> None:
    """Front and back, two brands, two kinds and two packagings have different pictures."""

    def seen(face: int = 1, brand: str = "ACME", kind: str = "TEA", packaging: str = "EACH") -> bytes:
        pack = Pack("03036811359935", brand, brand, kind, packaging, "Thé", "1 kg", "Feuilles")
        return draw_pack(pack, face, 128, 128).tobytes()

    others = [
        seen(7),
        seen(2),
        seen(brand="MILL"),
        seen(kind="BEER"),
        seen(packaging="CASE"),
        seen(packaging="PALLET"),
    ]
    assert 7 == len({seen(), *others})


def test_the_back_has_the_barcode_of_the_gtin() -> None:
    """The bars of an original, read along a line, are those of its GTIN."""
    gtin = "03036811359935"
    pack = Pack(gtin, "ACME", "Acme", "CEREALS", "EACH", "Flocons", "500 g", "")
    image = draw_pack(pack, 7, 2_000, 2_000).convert("L").point(lambda value: 255 * (value > 128))
    # Within the label: the edge of the pack is dark too.
    lines = {read(image.crop((600, y, 2_000, y + 1)).tobytes()) for y in range(1_200, 1_800, 10)}
    assert modules_of(gtin)[0] in lines


def read(line: bytes) -> str:
    """Return what a row of pixels has from its first bar on, as 95 modules of the width of that."""
    start = line.find(0)
    width = line.find(255, start) - start
    middles = [start + place * width + width // 2 for place in range(95)]
    if start < 0 or width < 1 or middles[-1] >= len(line):
        return ""
    return "".join("0" if line[middle] else "1" for middle in middles)


@pytest.mark.slow
@given(st.text(max_size=300), st.text(max_size=80), st.sampled_from([1, 2, 7]))
def test_no_text_keeps_a_picture_from_being_drawn(name: str, brand: str, face: int) -> None:
    """No text keeps a pack from being drawn: control characters, half surrogates, unknown letters, right to left."""
    record = {"brand": {"code": brand, "label": name}, "namePublicShort": [{"data": name}], "gtin": brand}
    for kind in ("TEA", "JAM"):
        pack = pack_of({**record, "kind": {"code": kind}, "composition": [{"data": name + brand}]})
        assert (16, 16) == draw_pack(pack, face, 16, 16).size
    draw_logo(brand, name, is_brand=True)


@each_row(
    "record", [{}, {"brand": 3, "kind": [], "gtin": None, "netContent": {"data": "x"}}, {"lastRequest": 5}]
)
def test_no_record_keeps_a_picture_from_being_drawn(record: Record) -> None:
    """A pack without anything is drawn too."""
    assert (16, 16) == draw_pack(pack_of(record), 7, 16, 16).size


def test_every_shape_is_some_kind_s() -> None:
    """Every shape is the shape of a kind of the sample."""
    used = [shape_of(kind.code)[0] for kind in KINDS]
    assert [] == [name for name, shape in SHAPES.items() if shape not in used]


# Bytes that fit


@given(st.binary(max_size=200), st.integers(0, 2**32 - 1))
def test_four_bytes_make_any_checksum(content: bytes, target: int) -> None:
    """Four bytes after any others give any CRC-32."""
    assert target == zlib.crc32(content + four_bytes(content, target))


@given(st.integers(0, 140_000), st.integers(0, 2**32 - 1), st.sampled_from(["jpeg", "tiff", "png"]))
def test_a_picture_can_have_any_size_and_checksum(room: int, crc32: int, format_: str) -> None:
    """A picture can have any number of bytes from what it needs upwards, and stays a picture."""
    content = io.BytesIO()
    Image.new("RGB", (16, 16), "teal").save(content, format_)
    least = len(content.getvalue()) + 4
    assert content.getvalue() == fitted(content.getvalue(), None, None)
    assert fitted(content.getvalue(), least - 1, crc32) is None
    made = fitted(content.getvalue(), least + room, crc32)
    assert made is not None
    assert (least + room, crc32) == (len(made), zlib.crc32(made))
    with Image.open(io.BytesIO(made)) as image:
        image.load()
        red, green, blue = image.convert("RGB").getpixel((8, 8))
    assert max(abs(red - 0), abs(green - 128), abs(blue - 128)) < 12


@each_row(
    ("gtin", "modules", "digits"),
    [
        (
            "04006381333931",
            "10100011010100111010111101111010001001011001101010100001010000101000010111010010000101100110101",
            "4 006381 333931",
        ),
        (
            "00000096385074",
            "1010001011010111101111010110111010101001110111001010001001011100101",
            "9638 5074",
        ),
        ("x" * 14, "", ""),
        ("123", "", ""),
        ("", "", ""),
    ],
)
def test_barcodes_are_those_of_the_standard(gtin: str, modules: str, digits: str) -> None:
    """Two well-known numbers have the bars of the standard; what is no GTIN has none."""
    assert (modules, digits) == modules_of(gtin)


def test_an_unknown_file_is_refused() -> None:
    """The refusal names the address."""
    with pytest.raises(Refusal, match=r"No product names 'https://x/1.jpg'"):
        file_at(["https://x/1.jpg"], [TEA])
