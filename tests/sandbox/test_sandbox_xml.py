"""Products as XML: the same products as in JSON, and nothing that a hostile body could do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, BUTTER, DAIRY, ENGLISH, MILL, text
from tests.cases import each_row
from writer import Writer

from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import SharedProduct
from prodex_sandbox.records.payload import JSON, XML, PayloadUnreadable, read_payload, read_supplier_products

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'


@pytest.fixture(scope="module")
def mill() -> Iterator[Writer]:
    """Write as a manufacturer that has one product."""
    products = [SharedProduct({"id": 1, "gtin": BREAD}, MILL.id, ())]
    with Sandbox(products, organizations=[MILL, DAIRY], labels={}) as sandbox:
        writer = Writer(sandbox.base_url, MILL)
        with writer.session:
            writer.log_in()
            yield writer


def supplier_products(*products: dict[str, Any]) -> str:
    """Write products with the marks that leave no type open, and with the short forms of texts and numbers."""
    inner = "".join(
        f"<product>{''.join(element(*member) for member in product.items())}</product>"
        for product in products
    )
    return f"<SupplierProducts {XSI}>{inner}</SupplierProducts>"


def element(name: str, value: Any) -> str:
    if value == [] and isinstance(value, list):
        return f'<{name} list="empty"/>'
    if isinstance(value, list):
        mark = ' list="true"' if len(value) == 1 else ""
        return "".join(short_form(name, item) or general_form(name, item, mark) for item in value)
    return general_form(name, value, "")


def short_form(name: str, item: Any) -> str:
    if not (
        isinstance(item, dict)
        and list(item) == ["expressedIn", "data"]
        and list(item["expressedIn"]) == ["code"]
    ):
        return ""
    code, data = quoteattr(item["expressedIn"]["code"]), item["data"]
    if isinstance(data, str):
        return f"<{name} languages={code}>{written(data)}</{name}>"
    if isinstance(data, int | float) and not isinstance(data, bool):
        return f"<{name} unit={code}>{json.dumps(data)}</{name}>"
    return ""


def general_form(name: str, value: Any, mark: str) -> str:
    if value is None:
        return f'<{name}{mark} xsi:nil="true"/>'
    if isinstance(value, dict):
        inner = "".join(element(*member) for member in value.items())
        return f"<{name}{mark}>{inner}</{name}>" if value else f'<{name}{mark} type="object"/>'
    if isinstance(value, bool):
        return f'<{name}{mark} type="boolean">{str(value).upper()}</{name}>'
    if isinstance(value, str):
        kind = ' type="string"' if value in ("TRUE", "FALSE") else ""
        return f"<{name}{mark}{kind}>{written(value)}</{name}>"
    return f'<{name}{mark} type="number">{json.dumps(value)}</{name}>'


def written(data: str) -> str:
    return escape(data, {"\r": "&#13;"})


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,8}", fullmatch=True)
#: Every character that XML 1.0 holds.
CHARACTERS = st.characters(codec="utf-8", exclude_categories=["Cs"]).filter(
    lambda character: character in "\t\n\r" or (character >= " " and character not in "\ufffe\uffff")
)
TEXTS = st.one_of(st.text(CHARACTERS, max_size=12), st.sampled_from(["TRUE", "FALSE", " ", "", "true", "1"]))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
)
ITEMS = st.builds(
    lambda code, data: {"expressedIn": {"code": code}, "data": data},
    st.sampled_from(["fra-FR", "GRM", 'a"&<b']),
    SCALARS,
)
VALUES = st.recursive(
    st.one_of(SCALARS, ITEMS),
    lambda inner: st.one_of(
        st.dictionaries(NAMES, inner, max_size=4),
        st.lists(inner.filter(lambda item: not isinstance(item, list)), max_size=4),
    ),
    max_leaves=12,
)
PRODUCTS = st.lists(st.dictionaries(NAMES, VALUES, max_size=5), max_size=3)


@pytest.mark.slow
@given(products=PRODUCTS)
def test_xml_says_what_json_says(products: list[dict[str, Any]]) -> None:
    """Whatever products can hold, their XML is read as the same products as their JSON."""
    as_json = read_payload(json.dumps({"data": products}).encode(), JSON, 10)
    as_xml = read_payload(supplier_products(*products).encode(), XML, 10)
    assert [{name: json.loads(bytes(raw)) for name, raw in product.items()} for product in as_json] == [
        {name: json.loads(bytes(raw)) for name, raw in product.items()} for product in as_xml
    ]


SENT = {
    "gtin": BUTTER,
    "isConsumerUnit": True,
    "isDisplayUnit": False,
    "lifeCycle": 2,
    "namePublicLong": [
        {"expressedIn": {"code": "fra-FR"}, "data": "Beurre <doux> & «sel»\r\n"},
        {"expressedIn": {"code": "eng-GB"}, "data": "TRUE"},
    ],
    "nameLegal": [text("Butter", ENGLISH)],
    "netContent": [{"expressedIn": {"code": "GRM"}, "data": 12.5}],
    "brand": {"code": "ACME"},
    "synonyms": [{"text": [{"expressedIn": {"code": "fra-FR"}, "data": "x"}]}, None],
    "isTargeted": {"codes": ["a"], "none": [], "nothing": {}, "deep": {"er": "TRUE"}},
    "assets": {"pictures": [{"url": "https://pictures.test/1.jpg", "isPackshot": True, "width": 10}]},
}


def test_xml_and_json_store_the_same_product(mill: Writer) -> None:
    """One product sent as JSON by one manufacturer and as XML by another is stored alike, times and ids aside."""
    dairy = Writer(mill.base_url, DAIRY)
    with dairy.session:
        dairy.log_in()
        assert "SUCCESS" == mill.write(SENT)["status"]
        assert "SUCCESS" == dairy.write_xml(supplier_products(SENT))["status"]
        own = {"id", "uuid", "createdAt", "updatedAt", "owner"}
        ours, theirs = mill.stored(BUTTER), dairy.stored(BUTTER)
    for stored in (ours, theirs):
        assert stored["updatedAt"] == stored["assets"].pop("lastUpdatedAt")["pictures"]
    assert {name: ours[name] for name in ours if name not in own} == {
        name: theirs[name] for name in theirs if name not in own
    }
    assert SENT["isTargeted"] == ours["isTargeted"]
    assert "Beurre <doux> & «sel»\r\n" == theirs["namePublicLong"][0]["data"]


def test_the_specifications_form_of_xml_is_taken(mill: Writer) -> None:
    """gtin, isConsumerUnit and namePublicLong with its languages attribute are what the specification shows."""
    reply = mill.post_products(
        f"""<?xml version="1.0" encoding="UTF-8"?>
        <SupplierProducts>
          <!-- one product -->
          <product>
            <gtin>{BREAD}</gtin>
            <isConsumerUnit>TRUE</isConsumerUnit>
            <namePublicLong languages="fra-FR">Pain</namePublicLong>
          </product>
        </SupplierProducts>""".encode(),
        "application/xml; charset=utf-8",
    )
    assert (200, "application/xml") == (reply.status_code, reply.headers["Content-Type"].split(";")[0])
    number = reply.text.removeprefix('<?xml version="1.0" encoding="UTF-8"?><tracking>').removesuffix(
        "</tracking>"
    )
    record = mill.wait(int(number))
    assert ("SUCCESS", 1) == (record["status"], record["count"])
    assert True is mill.stored(BREAD)["isConsumerUnit"]
    assert "Pain" == mill.stored(BREAD)["namePublicLong"][0]["data"]


def test_null_deletes_in_xml_too(mill: Writer) -> None:
    """xsi:nil deletes an attribute as null does."""
    mill.write({"gtin": BREAD, "nameLegal": [text("Pain")], "lifeCycle": 3, "synonyms": [1]})
    mill.write_xml(supplier_products({"gtin": BREAD, "lifeCycle": None, "synonyms": []}))
    stored = mill.stored(BREAD)
    assert "lifeCycle" not in stored
    assert [] == stored["synonyms"]


def test_xml_without_a_product_is_empty(mill: Writer) -> None:
    """A root without children is EMPTY; a product without children has no gtin."""
    assert "EMPTY" == mill.write_xml("<SupplierProducts/>")["status"]
    record = mill.write_xml("<SupplierProducts><product/></SupplierProducts>")
    assert ["product 1: gtin is missing"] == [one["message"] for one in record["products"]]


def product(inner: str) -> bytes:
    return f"<SupplierProducts {XSI}><product><gtin>1</gtin>{inner}</product></SupplierProducts>".encode()


UNREADABLE: list[tuple[bytes, str]] = [
    (b"", "The payload is not XML"),
    (b"not xml", "The payload is not XML"),
    (b"<SupplierProducts><product></SupplierProducts>", "The payload is not XML: mismatched tag"),
    (b"<SupplierProducts/><SupplierProducts/>", "The payload is not XML: junk after document element"),
    (b"<SupplierProducts>\x00</SupplierProducts>", "The payload is not XML"),
    (b"<SupplierProducts>\xff</SupplierProducts>", "The payload is not XML"),
    (b'<?xml version="1.0" encoding="klingon"?><SupplierProducts/>', "encoding"),
    (b"<Products/>", "<Products> was found where <SupplierProducts> is expected"),
    (b'<Products xmlns="urn:x"/>', "<{urn:x}Products> was found where <SupplierProducts> is expected"),
    (b'<x:SupplierProducts xmlns:x="urn:x"><product xmlns="urn:y"/></x:SupplierProducts>', "was found where <product>"),
    (b"<SupplierProducts><item/></SupplierProducts>", "<item> was found where <product> is expected"),
    (b'<SupplierProducts a="1"/>', "<SupplierProducts> has the attribute a"),
    (b"<SupplierProducts>text</SupplierProducts>", "<SupplierProducts> holds text"),
    (product("text"), "<product> holds text"),
    (product('<a xmlns="urn:x"/>'), "has another namespace than the root"),
    (product('<a colour="red"/>'), "product 1, <a>: the attribute colour is not known"),
    (product('<a languages="fra-FR" unit="GRM">1</a>'), "languages and unit exclude each other"),
    (product('<a languages="fra-FR" type="string">1</a>'), "languages and type exclude each other"),
    (product('<a unit="GRM">much</a>'), "'much' is not a number"),
    (product('<a type="number">01</a>'), "'01' is not a number"),
    (product('<a type="number"> 1</a>'), "' 1' is not a number"),
    (product('<a type="date">2026</a>'), "type='date' does not fit"),
    (product('<a type="object">x</a>'), "type='object' does not fit"),
    (product('<a type="number"><b/></a>'), "it has elements, but type='number'"),
    (product("<a>x<b/></a>"), "there is text between its elements"),
    (product('<a languages="fra-FR"><b/></a>'), "an item with languages or unit has no elements"),
    (product('<a list="yes"/>'), "list='yes' is neither true nor empty"),
    (product('<a list="empty">x</a>'), 'list="empty" belongs alone'),
    (product('<a list="empty" xsi:nil="true"/>'), 'list="empty" belongs alone'),
    (product('<a list="empty"/><a>1</a>'), 'product 1: <a> is list="empty", but repeated'),
    (product('<a xsi:nil="true">x</a>'), "xsi:nil belongs on an empty element"),
    (product('<a xsi:nil="true" type="number"/>'), "xsi:nil belongs on an empty element without a type"),
    (product('<a xsi:nil="maybe"/>'), "xsi:nil='maybe' is neither true nor false"),
    (product("<a>" * 63 + "</a>" * 63), "is on level 65; at most 64 are allowed"),
    (product("<a/>" * 200_000), "product 1 has more than 200,000 elements"),
]  # fmt: skip

HOSTILE = [
    b'<!DOCTYPE a [<!ENTITY b "c">]><SupplierProducts>&b;</SupplierProducts>',
    b'<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;"><!ENTITY d "&c;&c;">]><SupplierProducts>&d;</SupplierProducts>',
    b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/hostname">]><SupplierProducts>&b;</SupplierProducts>',
    b'<!DOCTYPE a [<!ENTITY % b SYSTEM "http://127.0.0.1:9/x"> %b;]><SupplierProducts/>',
    b'<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x.dtd"><SupplierProducts/>',
    b"<!DOCTYPE SupplierProducts><SupplierProducts/>",
]  # fmt: skip


@pytest.mark.slow
@each_row(("body", "words"), UNREADABLE, ids=[words[:40] for _, words in UNREADABLE])
def test_xml_that_breaks_a_rule_is_named(body: bytes, words: str) -> None:
    """Each broken rule of the contract makes the payload unreadable, and is named."""
    with pytest.raises(PayloadUnreadable) as refused:
        read_payload(body, XML, 10)
    assert words in str(refused.value)


@each_row("body", HOSTILE)
def test_no_dtd_entity_or_external_file_is_ever_read(mill: Writer, body: bytes) -> None:
    """Entity bombs, external entities and any DTD end in ERROR, and the sandbox goes on."""
    record = mill.wait(mill.send(body, "application/xml"))
    assert ("ERROR", "The payload holds a DTD or an entity; neither is read.") == (
        record["status"],
        record["message"],
    )


def test_levels_and_numbers_are_kept_to_the_limit() -> None:
    """64 levels are read, and numbers keep their spelling."""
    (deep,) = read_supplier_products(product("<a>" * 62 + "</a>" * 62), 10)
    assert {"gtin", "a"} == deep.keys()
    (number,) = read_payload(product('<a type="number">1.50</a><b unit="GRM">1e2</b>'), XML, 10)
    assert b"1.50" == bytes(number["a"])
    assert b'[{"expressedIn":{"code":"GRM"},"data":1e2}]' == bytes(number["b"])


def test_an_encoding_that_xml_declares_is_read() -> None:
    """A body may declare another encoding than UTF-8."""
    body = '<?xml version="1.0" encoding="ISO-8859-1"?><SupplierProducts><product><a>é</a></product></SupplierProducts>'
    assert [{"a": "é"}] == read_supplier_products(body.encode("latin-1"), 10)
