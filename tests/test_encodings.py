"""Bytes that are no UTF-8: read in the encoding that is stated, or set aside and listed; a letter is never replaced."""

from __future__ import annotations

import codecs
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.encodings import not_utf8
from prodex.errors import IncompleteLoad, InputError
from prodex.store import records_in_files
from tests.cases import each_row
from tests.load.strange import connected
from tests.stranger import Stranger


def product(number: int, name: str) -> str:
    """Return a record as JSON with its letters as they are."""
    text = {"expressedIn": {"code": "fra-FR"}, "data": name}
    record = {"id": number, "gtin": f"{number:014d}", "namePublicLong": [text]}
    return json.dumps(record, ensure_ascii=False)


def names(catalog: prodex.Catalog) -> dict[str, str]:
    """Return the names of a catalogue by product."""
    return dict(catalog.texts[["product_id", "text"]].values.tolist())


FORMS = {
    "lines": "\n".join,
    "list": lambda every: f"[{','.join(every)}]",
    "reply": lambda every: f'{{"totalResults": {len(every)}, "data": [{",".join(every)}]}}',
    "indented": lambda every: json.dumps([json.loads(one) for one in every], indent=1, ensure_ascii=False),
}


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Any:
    return FORMS[request.param]


@pytest.fixture(params=["in memory", "as a snapshot"])
def how(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"name": "delivery"} if request.param == "as a snapshot" else {}


def test_a_record_that_is_no_utf8_is_set_aside_and_listed(
    tmp_path: Path, form: Any, how: dict[str, Any]
) -> None:
    """Of three records one is in Latin-1: the others are read, and the catalogue is not complete."""
    path = tmp_path / "products.json"
    every = [product(number, name) for number, name in enumerate(["Rösti", "Pâté", "Sel"])]
    content = form(every).encode()
    path.write_bytes(content.replace("Pâté".encode(), "Pâté".encode("latin-1")))
    catalog = prodex.read_products(path, **how)

    assert {"0": "Rösti", "2": "Sel"} == names(catalog)
    ((place, reason),) = catalog.origin.ledger.problems
    assert (False, True) == (catalog.complete, "not UTF-8: byte 0xe2" in reason)
    assert "�" not in "".join(catalog.raw["json"])
    assert place.startswith("products.json")


@pytest.mark.slow
@each_row("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-32", "utf-8-sig", "UTF-8"])
def test_a_file_is_read_in_the_encoding_that_is_stated(
    tmp_path: Path, form: Any, how: dict[str, Any], encoding: str
) -> None:
    """Tables and raw have the letters that were written, whatever the form of the file."""
    path = tmp_path / "products.json"
    path.write_bytes(form([product(1, "Pâté"), product(2, "Sel")]).encode(encoding))
    catalog = prodex.read_products(path, encoding=encoding, **how)

    assert ({"1": "Pâté", "2": "Sel"}, True) == (names(catalog), catalog.complete)
    assert "Pâté" in catalog.raw["json"][0]


@pytest.mark.slow
@each_row("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_an_encoding_that_shows_itself_need_not_be_stated(tmp_path: Path, form: Any, encoding: str) -> None:
    """A byte order mark, or the zeros of UTF-16, say what it is, also against what was stated."""
    path = tmp_path / "products.json.gz"
    path.write_bytes(gzip.compress(form([product(1, "Pâté")]).encode(encoding)))

    assert {"1": "Pâté"} == names(prodex.read_products(path))
    assert {"1": "Pâté"} == names(prodex.read_products(path, encoding="cp1252"))


@each_row("encoding", ["utf-16", "utf-32", "utf-16-be"])
def test_a_file_that_is_not_in_the_stated_encoding_is_an_error_of_ours(tmp_path: Path, encoding: str) -> None:
    """Python's own error is no word about the file."""
    path = tmp_path / "products.json"
    path.write_bytes(product(1, "Sel").encode())
    with pytest.raises(InputError, match=r"products\.json"):
        prodex.read_products(path, encoding=encoding)

    path.write_bytes(codecs.BOM_UTF16_BE + product(1, "Sel").encode("utf-16-be"))
    assert {"1": "Sel"} == names(prodex.read_products(path, encoding=encoding))


def test_what_the_stated_encoding_does_not_have_is_set_aside(tmp_path: Path) -> None:
    """0x81 is nothing in cp1252, and half a pair nothing in UTF-16: these records are listed, and no others."""
    path = tmp_path / "products.jsonl"
    lines = [product(1, "Pâté").encode("cp1252"), product(2, "x").encode().replace(b'"x"', b'"\x81"'), b"{}"]
    path.write_bytes(b"\n".join(lines))
    catalog = prodex.read_products(path, encoding="cp1252")
    assert ({"1": "Pâté"}, 2) == (names(catalog), len(catalog.origin.ledger.set_aside))

    half = product(2, "x").encode("utf-16-le").replace("x".encode("utf-16-le"), b"\x3d\xd8")
    path.write_bytes(codecs.BOM_UTF16_LE + (product(1, "Pâté") + "\n").encode("utf-16-le") + half)
    catalog = prodex.read_products(path)
    assert ({"1": "Pâté"}, 1) == (names(catalog), len(catalog.origin.ledger.set_aside))


def test_a_replacement_character_that_was_sent_stays(tmp_path: Path) -> None:
    """U+FFFD in the data is what the supplier has, and no problem."""
    path = tmp_path / "products.jsonl"
    path.write_text(product(1, "P�t�"), encoding="utf-8")
    catalog = prodex.read_products(path)
    assert ({"1": "P�t�"}, True) == (names(catalog), catalog.complete)


@each_row(
    "odd",
    [
        b"\xc0\xaf",
        b"\xed\xa0\xbd\xed\xb8\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xe2\x82",
        b"\x80",
        b"\xf4\x90\x80\x80",
    ],
    ids=["overlong", "surrogates", "five bytes", "cut", "lone", "beyond"],
)
def test_every_kind_of_wrong_bytes_is_found(tmp_path: Path, odd: bytes) -> None:
    """What only looks like UTF-8 is none either."""
    path = tmp_path / "products.jsonl"
    path.write_bytes(
        product(1, "x").encode().replace(b'"x"', b'"' + odd + b'"') + b"\n" + product(2, "Sel").encode()
    )
    catalog = prodex.read_products(path)
    assert ({"2": "Sel"}, 1) == (names(catalog), len(catalog.origin.ledger.set_aside))


def test_a_file_of_nothing_else_says_what_to_do(tmp_path: Path) -> None:
    """Nothing can be read: the error names the way out; an encoding that does not exist is refused."""
    path = tmp_path / "products.jsonl"
    path.write_bytes("\n".join(product(n, "Pâté") for n in range(3)).encode("cp1252"))
    with pytest.raises(InputError, match=r"not UTF-8.*encoding of the file, such as cp1252"):
        prodex.read_products(path)
    for wrong in ("cp9999", "base64", "unicode_escape", "", 7):
        with pytest.raises(InputError, match="does not know the encoding"):
            prodex.read_products(path, encoding=wrong)  # type: ignore[arg-type]


def test_long_files_lose_no_record_for_the_bytes_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Any
) -> None:
    """Also where a file is too long to hold, and its first hundred records are in another encoding."""
    monkeypatch.setattr(records_in_files, "LONG", 3_000)
    monkeypatch.setattr(records_in_files, "_CHUNK", 500)
    every = [product(number, "Pâté" if number < 120 else "Rösti") for number in range(150)]
    path = tmp_path / "products.json"
    path.write_bytes(form(every).encode().replace("Pâté".encode(), "Pâté".encode("latin-1")))
    catalog = prodex.read_products(path)

    assert {str(number): "Rösti" for number in range(120, 150)} == names(catalog)
    assert 120 == len(catalog.origin.ledger.set_aside)
    assert 150 == len(prodex.read_products(path, encoding="latin-1"))


def test_joined_files_have_marks_in_the_middle(tmp_path: Path) -> None:
    """A byte order mark before a later line is none of its letters."""
    path = tmp_path / "products.jsonl"
    path.write_bytes(b"\n".join(codecs.BOM_UTF8 + product(n, "Pâté").encode() for n in range(3)))
    assert {"0", "1", "2"} == set(names(prodex.read_products(path)))


def test_what_was_read_in_another_encoding_is_not_taken_up(tmp_path: Path) -> None:
    """An interrupted call continues only if it read the files as this one does."""
    path = tmp_path / "products.jsonl"
    path.write_bytes(product(1, "Pâté").encode("cp1252"))

    def interrupt(done: int, total: int) -> None:
        if done and total:  # everything is read, and a part is built
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prodex.read_products(path, name="delivery", encoding="cp437", progress=interrupt)
    assert {"1": "Pâté"} == names(prodex.read_products(path, name="delivery", encoding="cp1252"))
    with pytest.raises(InputError, match="not UTF-8"):
        prodex.read_products(path, name="delivery")


def test_an_upsert_sends_a_file_in_its_encoding_or_not_at_all(tmp_path: Path) -> None:
    """Half of a file is never sent; with its encoding the letters that were written are."""
    service = prodex.connect("sandbox")
    path = tmp_path / "products.jsonl"
    path.write_bytes((product(3036811359935, "Pâté") + "\n").encode("cp1252"))
    with pytest.raises(InputError, match="such as cp1252"):
        prodex.upsert(service, path, dry_run=True)
    trial = prodex.upsert(service, path, dry_run=True, encoding="cp1252")
    assert "Pâté" in json.loads(trial.payloads[0])["data"][0]["namePublicLong"][0]["data"]
    xml = tmp_path / "products.xml"
    xml.write_text("<SupplierProducts/>")
    with pytest.raises(InputError, match="states its encoding itself"):
        prodex.upsert(service, xml, dry_run=True, encoding="cp1252")


def records(total: int) -> list[dict[str, Any]]:
    """Return products of which two have letters beyond ASCII."""
    return [
        {**json.loads(product(n + 1, "Pâté" if n in (3, 4) else "Sel")), "updatedAt": "2026-11-20T08:00:00"}
        for n in range(total)
    ]


@each_row("trait", ["latin_1", "utf_16", "utf_8_called_latin_1"])
def test_a_service_is_read_in_the_encoding_that_it_states(trait: str) -> None:
    """What a header says is heeded where the bytes are no UTF-8, and not where they are."""
    with Stranger(records(30), [trait]) as stranger:
        catalog = prodex.load_products(connected(stranger), name="shop", progress=False)
    assert (["Pâté", "Pâté"], True) == (
        [name for name in names(catalog).values() if name != "Sel"],
        catalog.complete,
    )


def test_what_a_service_sends_in_an_unknown_encoding_is_listed() -> None:
    """No header says what the bytes are: these products are set aside, and a load is not complete without them."""
    with Stranger(records(30), ["latin_1_unsaid"]) as stranger:
        client = connected(stranger)
        with pytest.raises(IncompleteLoad, match="28 of 30"):
            prodex.load_products(client, name="shop", progress=False)
        catalog = prodex.load_products(client, name="shop", progress=False, allow_incomplete=True)
    problems = [reason for _, reason in catalog.origin.ledger.problems]
    assert (28, False) == (len(catalog), catalog.complete)
    assert any("UTF-8" in reason for reason in problems)
    assert {"Sel"} == set(names(catalog).values())


@given(
    st.lists(st.tuples(st.text("aéß€漢😀�", min_size=1, max_size=6), st.booleans()), min_size=1, max_size=8)
)
def test_every_record_is_read_as_it_was_or_listed(tmp_path: Path, every: list[tuple[str, bool]]) -> None:
    """Whatever records are in another encoding: no name is changed, and none is missing without a word."""
    lines = [
        product(number, name).encode("gb18030" if is_other else "utf-8")
        for number, (name, is_other) in enumerate(every)
    ]
    readable = {}
    for number, line in enumerate(lines):
        try:
            readable[str(number)] = json.loads(line.decode())["namePublicLong"][0]["data"]
        except UnicodeDecodeError:
            continue
    reply = records_in_files.ReadingNotes()
    path = tmp_path / "products.jsonl"
    path.write_bytes(b"\n".join(lines))
    found = [json.loads(record) for record in records_in_files.records_in(path, reply, None)]

    assert readable == {str(one["id"]): one["namePublicLong"][0]["data"] for one in found}
    assert len(every) == len(found) + len(reply.set_aside)


#: Beginnings, ends and limits of what UTF-8 allows: Unicode, table 3-7.
EDGES = (
    *(
        b"a",
        b"\x00",
        b"\x80",
        b"\xff",
        b"\xc3\xa9",
        b"\xc0\x80",
        b"\xc1\xbf",
        b"\xe0\x80\x80",
        b"\xe0\xa0\x80",
    ),
    *(
        b"\xed\x9f\xbf",
        b"\xed\xa0\x80",
        b"\xee\x80\x80",
        b"\xf0\x80\x80\x80",
        b"\xf0\x90\x80\x80",
        b"\xe2\x82",
    ),
    *(b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5", b"\xf0\x9f"),
)


@given(st.lists(st.sampled_from(EDGES)).map(b"".join) | st.binary())
def test_utf8_is_what_python_decodes(text: bytes) -> None:
    """Overlong forms, surrogates and what is cut off are none, wherever they are."""
    try:
        text.decode()
    except UnicodeDecodeError:
        assert not_utf8(text)
    else:
        assert "" == not_utf8(text)
