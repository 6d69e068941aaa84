"""Products as XML: the same as in JSON, or said to be impossible."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import wire

from prodex.errors import InputError
from prodex.sandbox.payload import JSON, XML, read_payload
from prodex.send.records import records_of
from prodex.send.xml import decoded, encoded, payload, problems

GTIN = "03036811359935"


def item(code, data):
    """Write a localized item."""
    return {"expressedIn": {"code": code}, "data": data}


def read(body, media_type):
    """Have the sandbox read a payload, to plain JSON values in their order."""
    return [
        [(name, json.loads(bytes(value))) for name, value in product.items()]
        for product in read_payload(body, media_type, 10)
    ]


texts = st.text(max_size=30) | st.sampled_from(
    ["TRUE", "FALSE", "", " ", "<b>&amp;]]>", "a\r\nb\tc", "\x00", "\ud83d", "5"]
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
names = st.sampled_from(["code", "label", "expressedIn", "data", "x.y", "_z", "9", "a b", "xsi:nil", "list"])
items = st.builds(
    item,
    st.text(max_size=8) | st.sampled_from(["fra-FR", 'a"<\n']),
    texts | numbers | st.none() | st.booleans(),
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts | items,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(names, values, max_size=4), max_size=3))
def test_xml_says_what_json_says(products):
    """The sandbox reads the same products from both, or preflight says what XML cannot carry."""
    products = [product for product in products if not list(problems(product))]
    as_json = read(json.dumps({"data": products}).encode(), JSON)
    assert as_json == read(payload(map(encoded, products)), XML)


@given(wire.products)
def test_wild_products_are_carried_or_refused(product):
    """Products as they come from the wire, with nulls, empty lists and odd keys."""
    found = list(problems(product))
    if not found:
        assert read(json.dumps({"data": [product]}).encode(), JSON) == read(payload([encoded(product)]), XML)
    assert {name for name, _ in found} <= set(product)


def test_the_example_of_the_specification():
    """SupplierProducts, product, gtin, isConsumerUnit, and a name with its language."""
    product = {"gtin": GTIN, "isConsumerUnit": True, "namePublicLong": [item("fra-FR", "Pain")]}
    assert (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b'<SupplierProducts xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        b"<product><gtin>03036811359935</gtin><isConsumerUnit>TRUE</isConsumerUnit>"
        b'<namePublicLong languages="fra-FR">Pain</namePublicLong></product>\n</SupplierProducts>\n'
    ) == payload([encoded(product)])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([[1]], "list directly in a list"),
        ({"<b>": 1}, "no XML element"),
        ([{"a": {"b c": 1}}], "no XML element"),
        ("\x0b", r"U\+000B"),
        (item("\x00", "x"), r"U\+0000"),
        ("\ud83d", r"U\+D83D"),
        ("\ufffe", r"U\+FFFE"),
    ],
)
def test_what_xml_cannot_carry_is_named(value, why):
    """With its attribute."""
    ((name, problem),) = problems({"gtin": GTIN, "x": value})
    assert "x" == name
    assert re.search(why, problem)


@pytest.mark.parametrize(("levels", "refused"), [(61, False), (62, True), (5000, True)])
def test_depth_is_counted_as_the_service_counts(levels, refused):
    """64 levels with root and product; however deep, nothing breaks."""
    value = "x"
    for _ in range(levels):
        value = {"a": value}
    found = list(problems({"v": value}))
    assert refused == bool(found)
    if not refused:
        assert [[("v", value)]] == read(payload([encoded({"v": value})]), XML)


@given(st.lists(st.dictionaries(names, values, max_size=4), max_size=3))
def test_what_was_written_can_be_read(products):
    """Our own reader gives the same products back, in their order."""
    products = [product for product in products if not list(problems(product))]
    again = decoded(payload(map(encoded, products)))
    assert json.dumps(products) == json.dumps(again)


BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><SupplierProducts><product>&c;</product></SupplierProducts>'


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ("<Products/>", "root of the XML is 'Products'"),
        (BOMB, "document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><SupplierProducts/>', "document type"),
        ("<SupplierProducts><item/></SupplierProducts>", "only product belongs there"),
        ("<SupplierProducts>" + "<a>" * 70 + "</a>" * 70 + "</SupplierProducts>", "levels deep"),
        ("<SupplierProducts><product>", "not XML"),
        ("", "not XML"),
        ("<SupplierProducts><product><a><b/>text</a></product></SupplierProducts>", "cannot be meant"),
        ('<SupplierProducts><product><a colour="red">1</a></product></SupplierProducts>', "cannot be meant"),
        ('<SupplierProducts><product><a type="number">x</a></product></SupplierProducts>', "no number"),
        ('<SupplierProducts><product><a type="number">NaN</a></product></SupplierProducts>', "no number"),
        ('<SupplierProducts><product><a list="empty">x</a></product></SupplierProducts>', "not empty"),
        ('<SupplierProducts><product><a type="date">x</a></product></SupplierProducts>', "cannot be meant"),
    ],
)
def test_a_file_that_is_not_such_xml_is_refused(tmp_path, inner, why):
    """No entity is expanded and nothing else is read; the reason is told."""
    path = tmp_path / "products.xml"
    path.write_text(inner)
    with pytest.raises(InputError, match=why):
        records_of(path)


def test_a_file_of_xml_is_taken_like_any_other(tmp_path):
    """Null in it is left alone unless it is to delete."""
    path = tmp_path / "products.xml"
    path.write_bytes(payload([encoded({"gtin": GTIN, "nameLegal": [item("fra-FR", "Pain")], "brand": None})]))
    assert [{"gtin": GTIN, "nameLegal": [item("fra-FR", "Pain")]}] == records_of(path)
    assert records_of(path, null_deletes=True)[0]["brand"] is None
