"""Products as XML are plain elements that any reader of the specification reads back, or are refused."""

from __future__ import annotations

import json
import re

import plain_xml
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import wire
from tests.cases import each_row

from prodex.errors import InputError
from prodex.send.records import records_of
from prodex.send.xml import encode_product, find_problems, join_products, parse_products
from prodex_sandbox.records.payload import JSON, XML, UnreadableProduct, read_payload

GTIN = "03036811359935"


def item(code, data):
    """Write a localized item."""
    return {"expressedIn": {"code": code}, "data": data}


texts = st.text(max_size=30) | st.sampled_from(
    [
        "TRUE",
        "false",
        "007",
        "-1.5",
        "1e5",
        "",
        " ",
        " a",
        "null",
        "<b>&amp;]]>",
        "a\r\nb\tc",
        "\x00",
        "\ud83d",
        "5",
    ]
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
names = st.sampled_from(
    ["code", "label", "expressedIn", "data", "x.y", "_z", "9", "a b", "xsi:nil", "list", "languages"]
)
items = st.builds(
    item,
    st.text(max_size=8) | st.sampled_from(["fra-FR", 'a"<\n', " x"]),
    texts | numbers | st.none() | st.booleans(),
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts | items,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)

# Values that mostly fit their attributes, so that much of what is drawn is accepted.
words = st.sampled_from(["Pain", "a & b", "007", "true", "x\ny", "<i>", "5.0"])
codes = st.fixed_dictionaries({"code": words}, optional={"label": words, "odd": words | values})
fitting = {
    "gtin": st.just(GTIN),
    "namePublicLong": st.lists(st.builds(item, st.sampled_from(["fra-FR", "eng-GB"]), words), max_size=3),
    "isConsumerUnit": st.booleans(),
    "lifeCycle": st.integers(),
    "brand": codes,
    "isTaggedBy": st.lists(words, max_size=3),
    "hasTags": st.lists(st.fixed_dictionaries({"tag": words}), max_size=2),
    "synonyms": st.lists(
        st.fixed_dictionaries({"text": st.lists(st.builds(item, words, words))}), max_size=3
    ),
    "specializes": st.fixed_dictionaries(
        {"isIdentifiedBy": st.lists(st.fixed_dictionaries({"reference": words}), min_size=1)}
    ),
    "assets": st.fixed_dictionaries(
        {
            "pictures": st.lists(
                st.fixed_dictionaries(
                    {"url": words},
                    optional={
                        "isPackshot": st.booleans(),
                        "width": st.integers(),
                        "tags": st.lists(words | values),
                        "exportables": st.lists(st.fixed_dictionaries({"fileSize": st.integers()})),
                    },
                ),
                min_size=1,
                max_size=2,
            )
        },
        optional={"documents": st.lists(st.fixed_dictionaries({"fileName": words}))},
    ),
    "x": values,
    "y": st.sampled_from(["a", "b"]) | st.lists(st.sampled_from(["a", "b"]), min_size=2),
}
anything_there = {name: usual | values for name, usual in fitting.items()}


@pytest.mark.slow
@given(st.fixed_dictionaries({}, optional=anything_there) | st.fixed_dictionaries({}, optional=fitting))
def test_what_preflight_accepts_is_read_back_as_it_was(product):
    """A reader that knows only the specification reads the same product, or preflight says what XML cannot carry."""
    if not list(find_problems(product)):
        assert [product] == plain_xml.read(join_products([encode_product(product)]))


def read_by_the_sandbox(body, media_type):
    """Have the sandbox read the one product of a payload: plain JSON values, or what it cannot read."""
    (product,) = read_payload(body, media_type, 1)
    if isinstance(product, UnreadableProduct):
        return product.message
    return {name: json.loads(bytes(value)) for name, value in product.items()}


@given(st.fixed_dictionaries({}, optional=fitting))
def test_the_sandbox_reads_from_xml_what_it_reads_from_json(product):
    """An attribute of the specification arrives as the same value, whichever way it was sent."""
    if not list(find_problems(product)):
        as_json = read_by_the_sandbox(json.dumps({"data": [product]}).encode(), JSON)
        assert as_json == read_by_the_sandbox(join_products([encode_product(product)]), XML)


@pytest.mark.slow
@given(st.fixed_dictionaries({}, optional=anything_there))
def test_the_sandbox_reads_nothing_else_from_xml_than_from_json(product):
    """A value that does not fit its attribute arrives the same, or is named; it never becomes another one."""
    if not list(find_problems(product)):
        as_json = read_by_the_sandbox(json.dumps({"data": [product]}).encode(), JSON)
        from_xml = read_by_the_sandbox(join_products([encode_product(product)]), XML)
        assert from_xml == as_json or isinstance(from_xml, str)


@pytest.mark.slow
@given(wire.products)
def test_wild_products_are_carried_or_refused(product):
    """Products as they come from the wire, with nulls, empty lists and odd keys."""
    found = list(find_problems(product))
    if not found:
        assert [product] == plain_xml.read(join_products([encode_product(product)]))
    assert len(found) <= len(product)
    assert all(any(path.startswith(name) for name in product) for path, _ in found)


@given(st.fixed_dictionaries({}, optional=fitting))
def test_what_was_written_can_be_read(product):
    """Our own reader returns the same products, in their order."""
    if not list(find_problems(product)):
        assert json.dumps([product]) == json.dumps(parse_products(join_products([encode_product(product)])))


def test_the_example_of_the_specification():
    """SupplierProducts, product, gtin, isConsumerUnit, and a name with its language."""
    product = {"gtin": GTIN, "isConsumerUnit": True, "namePublicLong": [item("fra-FR", "Pain")]}
    assert [] == list(find_problems(product))
    assert (
        b'<?xml version="1.0" encoding="UTF-8"?>\n'
        b"<SupplierProducts>\n"
        b"<product><gtin>03036811359935</gtin><isConsumerUnit>true</isConsumerUnit>"
        b'<namePublicLong languages="fra-FR">Pain</namePublicLong></product>\n</SupplierProducts>\n'
    ) == join_products([encode_product(product)])


def test_lists_are_repeated_and_objects_nested():
    """No XML attribute says what is a list, a number or an object."""
    product = {
        "lifeCycle": 1,
        "isTaggedBy": ["7", "new"],
        "assets": {"pictures": [{"url": "https://example.com/1.jpg", "isPackshot": False, "width": 800}]},
        "brand": {"code": "12"},
    }
    assert [] == list(find_problems(product))
    assert (
        b"<product><lifeCycle>1</lifeCycle><isTaggedBy>7</isTaggedBy><isTaggedBy>new</isTaggedBy><assets><pictures>"
        b"<url>https://example.com/1.jpg</url><isPackshot>false</isPackshot><width>800</width></pictures></assets>"
        b"<brand><code>12</code></brand></product>"
    ) == encode_product(product)


@each_row(
    ("name", "value", "path", "why"),
    [
        ("x", [[1]], "x", "list directly in a list"),
        ("x", {"<b>": "a"}, "x", "no XML element"),
        ("x", {"a": [{"b": "x"}, {"b c": "x"}]}, "x.a[1]", "no XML element"),
        ("x", "\x0b", "x", r"U\+000B"),
        ("x", [item("\x00", "x")], "x[0].expressedIn.code", r"U\+0000"),
        ("x", "\ud83d", "x", r"U\+D83D"),
        ("x", "\ufffe", "x", r"U\+FFFE"),
        ("brand", None, "brand", "is null"),
        ("allergens", [], "allergens", "empty list"),
        ("x", {}, "x", "empty object"),
        ("x", "", "x", "empty text"),
        ("namePublicLong", [item("fra-FR", "")], "namePublicLong[0].data", "empty text"),
        ("namePublicLong", [item("fra-FR", " Pain")], "namePublicLong[0].data", "white space"),
        ("namePublicLong", [item("fra-FR", None)], "namePublicLong", "not just"),
        ("namePublicLong", [item("fra-FR", "a") | {"sort": 1}], "namePublicLong", "not just"),
        (
            "namePublicLong",
            [{"expressedIn": {"code": "fra-FR", "label": "French"}, "data": "a"}],
            "namePublicLong",
            "not just",
        ),
        ("namePublicLong", item("fra-FR", "a"), "namePublicLong", "not a list"),
        ("x", item("fra-FR", "a"), "x", "read as a list"),
        ("x", 7, "x", "read as text"),
        ("x", True, "x", "read as text"),
        ("x", "007", "x", "as a number"),
        ("x", "-1.5E3", "x", "as a number"),
        ("x", "true", "x", "as a boolean"),
        ("x", "Null", "x", "as null"),
        ("x", ["a"], "x", "list of one item"),
        ("x", ["a", None], "x[1]", "is null"),
        ("netContent", [{"expressedIn": {"code": "GRM"}, "data": 500}], "netContent", "list of one item"),
        ("netWeight", {"a": "b"}, "netWeight", "not a list"),
        ("gtin", 3036811359935, "gtin", "in place of a text"),
        ("isConsumerUnit", "true", "isConsumerUnit", "in place of true or false"),
        ("isConsumerUnit", 1, "isConsumerUnit", "in place of true or false"),
        ("lifeCycle", 1.0, "lifeCycle", "in place of a whole number"),
        ("lifeCycle", True, "lifeCycle", "in place of a whole number"),
        ("lifeCycle", [1], "lifeCycle", "in place of one value"),
        ("lifeCycle", {"a": "b"}, "lifeCycle", "in place of a whole number"),
        ("brand", {"code": 12}, "brand.code", "in place of a text"),
        ("brand", "ACME", "brand", "in place of an object"),
        ("isTaggedBy", "new", "isTaggedBy", "not a list"),
        (
            "assets",
            {"pictures": [{"url": "u"}, {"width": "800"}]},
            "assets.pictures[1].width",
            "a whole number",
        ),
        ("assets", {"pictures": [{"tags": ["5"]}]}, "assets.pictures[0].tags[0]", "as a number"),
        ("a b", "x", "a b", "no XML element"),
    ],
)
def test_what_xml_cannot_carry_is_named(name, value, path, why):
    """With its path, once for an attribute."""
    ((found, problem),) = find_problems({"isNomadic": True, name: value})
    assert path == found
    assert re.search(why, problem), problem


@pytest.mark.parametrize(("levels", "refused"), [(61, False), (62, True), (5000, True)])
def test_depth_is_counted_as_the_service_counts(levels, refused):
    """64 levels with root and product; however deep, nothing breaks."""
    value = "x"
    for _ in range(levels):
        value = {"a": value}
    found = list(find_problems({"v": value}))
    assert refused == bool(found)
    if not refused:
        assert [{"v": value}] == plain_xml.read(join_products([encode_product({"v": value})]))


BOMB = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><SupplierProducts><product>&c;</product></SupplierProducts>'


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ("<Products/>", "root of the XML is 'Products'"),
        (BOMB, "document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><SupplierProducts/>', "document type"),
        ("<SupplierProducts><item/></SupplierProducts>", "only product is allowed there"),
        ("<SupplierProducts>" + "<a>" * 70 + "</a>" * 70 + "</SupplierProducts>", "levels deep"),
        ("<SupplierProducts><product>", "not XML"),
        ("", "not XML"),
        ("<SupplierProducts><product><a><b/>text</a></product></SupplierProducts>", "invalid combination"),
        (
            '<SupplierProducts><product><a languages="fr"><b/></a></product></SupplierProducts>',
            "invalid combination",
        ),
        *(
            (
                f"<SupplierProducts><product><a {mark}>1</a></product></SupplierProducts>",
                f"the XML attribute '{name}'",
            )
            for name, mark in {
                "colour": 'colour="red"',
                "type": 'type="number"',
                "list": 'list="empty"',
                "unit": 'unit="GRM"',
                "rank": 'languages="fr" rank="1"',
            }.items()
        ),
    ],
)
def test_a_file_that_is_not_such_xml_is_refused(tmp_path, inner, why):
    """No entity is expanded and no other file is read; the error has the reason."""
    path = tmp_path / "products.xml"
    path.write_text(inner)
    with pytest.raises(InputError, match=why):
        records_of(path)


def test_null_in_xml_is_left_alone_unless_it_is_to_delete(tmp_path):
    """As in JSON: `xsi:nil` is how XML writes it."""
    path = tmp_path / "products.xml"
    path.write_text(
        '<SupplierProducts xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><product>'
        '<gtin>03036811359935</gtin><brand xsi:nil="true"/></product></SupplierProducts>'
    )
    assert [{"gtin": GTIN}] == records_of(path)
    assert [{"gtin": GTIN, "brand": None}] == records_of(path, null_deletes=True)


def test_a_file_of_plain_xml_is_read_by_the_types_of_its_attributes(tmp_path):
    """From any writer: schema location, true in small letters, a list of one, a language of two letters."""
    path = tmp_path / "products.xml"
    path.write_text(
        '<s:SupplierProducts xmlns:s="urn:x" xmlns:xsi="urn:y" xsi:schemaLocation="urn:x a.xsd"><s:product>'
        "<gtin>03036811359935</gtin><isConsumerUnit>true</isConsumerUnit><lifeCycle>1</lifeCycle><x>007</x>"
        '<nameLegal languages="fr">Pain</nameLegal><assets><pictures><width>8</width></pictures></assets>'
        "</s:product></s:SupplierProducts>"
    )
    assert [
        {
            "gtin": GTIN,
            "isConsumerUnit": True,
            "lifeCycle": 1,
            "x": "007",
            "nameLegal": [item("fr", "Pain")],
            "assets": {"pictures": [{"width": 8}]},
        }
    ] == records_of(path)
