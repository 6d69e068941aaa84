"""Plain XML, as the specification shows it: elements named after attributes, and types by the attribute alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_exchange import BREAD, BUTTER, DAIRY, MILL
from tests.cases import each_row
from writer import Writer, messages

from prodex.sandbox import Sandbox
from prodex_sandbox.api.docs import SECTIONS
from prodex_sandbox.records.model import SharedProduct
from prodex_sandbox.records.payload import XML, read_payload
from prodex_sandbox.records.schemas import ATTRIBUTES, FLAG

XSI = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
FLAGS = sorted(name for name, type_ in ATTRIBUTES.items() if type_ is FLAG)


@pytest.fixture(scope="module")
def mill() -> Iterator[Writer]:
    """Write as a manufacturer that has one product."""
    products = [SharedProduct({"id": 1, "gtin": BREAD}, MILL.id, ())]
    with Sandbox(products, organizations=[MILL, DAIRY], labels={}) as sandbox:
        writer = Writer(sandbox.base_url, MILL)
        with writer.session:
            writer.log_in()
            yield writer


def xml(inner: str, root: str = "", head: str = "") -> str:
    return f"{head}<SupplierProducts{root}><product><gtin>{BREAD}</gtin>{inner}</product></SupplierProducts>"


def read(body: str | bytes) -> list[dict[str, Any]]:
    """Read a payload to plain values."""
    products = read_payload(body if isinstance(body, bytes) else body.encode(), XML, 10)
    return [{name: json.loads(bytes(raw)) for name, raw in product.items()} for product in products]


def product(inner: str, **options: str) -> dict[str, Any]:
    (found,) = read(xml(inner, **options))
    assert BREAD == found.pop("gtin")
    return found


def text(code: str, data: str) -> dict[str, Any]:
    return {"expressedIn": {"code": code}, "data": data}


#: What is written, and what JSON would say.
WRITTEN: list[tuple[str, dict[str, Any]]] = [
    ("<lifeCycle>1</lifeCycle>", {"lifeCycle": 1}),
    ("<lifeCycle>\n    -12\n  </lifeCycle>", {"lifeCycle": -12}),
    ("<isConsumerUnit>true</isConsumerUnit>", {"isConsumerUnit": True}),
    ("<isConsumerUnit>FALSE</isConsumerUnit>", {"isConsumerUnit": False}),
    ("<isConsumerUnit>True</isConsumerUnit>", {"isConsumerUnit": True}),
    ("<isConsumerUnit>0</isConsumerUnit>", {"isConsumerUnit": False}),
    ("<isDisplayUnit> 1 </isDisplayUnit>", {"isDisplayUnit": True}),
    ("<uuid>1</uuid><gtin2>007</gtin2>", {"uuid": "1", "gtin2": "007"}),
    ("<brand><code>4001</code></brand>", {"brand": {"code": "4001"}}),
    ("<brand><code>true</code><label>TRUE</label></brand>", {"brand": {"code": "true", "label": "TRUE"}}),
    ("<xNote>TRUE</xNote><xCount>5</xCount>", {"xNote": "TRUE", "xCount": "5"}),
    ("<xNote/><xOther>  </xOther>", {"xNote": "", "xOther": "  "}),
    ("<xDeep><a>1</a><b><c>x</c></b></xDeep>", {"xDeep": {"a": "1", "b": {"c": "x"}}}),
    ("<xList>1</xList><xList>2</xList>", {"xList": ["1", "2"]}),
    ('<namePublicLong languages="fra-FR">Pain</namePublicLong>', {"namePublicLong": [text("fra-FR", "Pain")]}),
    ('<namePublicLong languages="fr">5</namePublicLong>', {"namePublicLong": [text("fra-FR", "5")]}),
    (
        """<nameLegal languages="fr">a</nameLegal><nameLegal languages="en">TRUE</nameLegal>
        <nameLegal languages="fr-BE"> c </nameLegal><nameLegal languages="NL">d</nameLegal>""",
        {"nameLegal": [text("fra-FR", "a"), text("eng-GB", "TRUE"), text("fra-BE", " c "), text("nld-NL", "d")]},
    ),
    (
        "<namePublicLong><expressedIn><code>fra-FR</code></expressedIn><data>7</data></namePublicLong>",
        {"namePublicLong": [text("fra-FR", "7")]},
    ),
    (
        "<netContent><data>12.50</data><expressedIn><code>GRM</code></expressedIn></netContent>",
        {"netContent": [{"data": 12.5, "expressedIn": {"code": "GRM"}}]},
    ),
    (
        "<assets><pictures><url>u</url><isPackshot>true</isPackshot><width>10</width></pictures></assets>",
        {"assets": {"pictures": [{"url": "u", "isPackshot": True, "width": 10}]}},
    ),
    (
        "<assets><pictures><url>1</url></pictures><pictures><url>2</url><tags>a</tags></pictures></assets>",
        {"assets": {"pictures": [{"url": "1"}, {"url": "2", "tags": ["a"]}]}},
    ),
    (
        "<assets><pictures><picture><url>1</url></picture><picture><url>2</url></picture></pictures></assets>",
        {"assets": {"pictures": [{"url": "1"}, {"url": "2"}]}},
    ),
    (
        "<assets><pictures><url>1</url><exportables><fileSize>5</fileSize><crc32>05</crc32></exportables></pictures></assets>",
        {"assets": {"pictures": [{"url": "1", "exportables": [{"fileSize": 5, "crc32": "05"}]}]}},
    ),
    (
        "<validationRules><validationRule><type>Deactivate</type><ruleId>12</ruleId></validationRule></validationRules>",
        {"validationRules": [{"type": "Deactivate", "ruleId": "12"}]},
    ),
    (
        "<validationRules><type>Deactivate</type><ruleId>12</ruleId></validationRules>",
        {"validationRules": [{"type": "Deactivate", "ruleId": "12"}]},
    ),
    (
        '<synonyms><text languages="fr">Miche</text><text languages="en">Loaf</text></synonyms>',
        {"synonyms": [{"text": [text("fra-FR", "Miche"), text("eng-GB", "Loaf")]}]},
    ),
    (
        '<synonyms><synonym><text languages="fr">Miche</text></synonym></synonyms>',
        {"synonyms": [{"text": [text("fra-FR", "Miche")]}]},
    ),
    (
        """<logisticalHierarchies><gtin>1</gtin><quantity>10</quantity><activeListing>true</activeListing>
        <children><quantity>20</quantity><children><gtin>3</gtin></children></children></logisticalHierarchies>""",
        {
            "logisticalHierarchies": [
                {
                    "gtin": "1",
                    "quantity": 10,
                    "activeListing": True,
                    "children": [{"quantity": 20, "children": [{"gtin": "3"}]}],
                }
            ]
        },
    ),
    (
        "<specializes><isBrandedBy><code>7</code></isBrandedBy><isIdentifiedBy><reference>01</reference></isIdentifiedBy></specializes>",
        {"specializes": {"isBrandedBy": {"code": "7"}, "isIdentifiedBy": [{"reference": "01"}]}},
    ),
    ("<isTaggedBy>bio</isTaggedBy>", {"isTaggedBy": ["bio"]}),
    ("<owner><type>1</type><name>2</name></owner>", {"owner": {"type": 1, "name": "2"}}),
    ("<contact><name>Mill</name></contact>", {"contact": [{"name": "Mill"}]}),
    ("<xNote>a<![CDATA[ <b>&amp; ]]>c</xNote>", {"xNote": "a <b>&amp; c"}),
    ("<lifeCycle><!-- one -->1<?pi two?></lifeCycle>", {"lifeCycle": 1}),
    ("<xNote>&lt;&#233;&amp;</xNote>", {"xNote": "<é&"}),
]  # fmt: skip


@each_row(("inner", "wanted"), WRITTEN, ids=[inner[:60] for inner, _ in WRITTEN])
def test_plain_xml_is_read_by_the_type_of_the_attribute(inner: str, wanted: dict[str, Any]) -> None:
    """Numbers, flags, texts, arrays and objects are what the attribute holds, without a mark in the XML."""
    assert wanted == product(inner)


@each_row(
    "root",
    [
        f' {XSI} xsi:schemaLocation="urn:x http://x.example/products.xsd"',
        f' {XSI} xsi:noNamespaceSchemaLocation="products.xsd"',
        ' xmlns="urn:x"',
        f' xmlns="urn:x" {XSI} xsi:schemaLocation="urn:x products.xsd" xml:lang="fr"',
    ],
)
def test_a_root_may_have_a_namespace_and_a_place_of_its_schema(root: str) -> None:
    """The location of a schema and a default namespace change nothing."""
    assert {"lifeCycle": 1} == product("<lifeCycle>1</lifeCycle>", root=root)


def test_a_namespace_may_have_a_prefix() -> None:
    """A prefix of the root's namespace changes nothing."""
    body = f'<p:SupplierProducts xmlns:p="urn:x"><p:product><p:gtin>{BREAD}</p:gtin></p:product></p:SupplierProducts>'
    assert [{"gtin": BREAD}] == read(body)


def test_attributes_of_schemas_say_nothing_on_members_either() -> None:
    """xsi:type and xml:space are allowed on every element."""
    root = f' {XSI} xmlns:xs="http://www.w3.org/2001/XMLSchema"'
    inner = '<lifeCycle xsi:type="xs:integer">1</lifeCycle><xNote xml:space="preserve"> a </xNote>'
    assert {"lifeCycle": 1, "xNote": " a "} == product(inner, root=root)


@each_row(
    ("encoding", "declared"),
    [
        ("utf-8", ""),
        ("utf-8", '<?xml version="1.0"?>'),
        ("utf-8", '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n<!-- head --><?pi x?>\n'),
        ("utf-8-sig", ""),
        ("utf-8-sig", '<?xml version="1.0" encoding="UTF-8"?>'),
        ("utf-16", ""),
        ("utf-16", '<?xml version="1.0" encoding="UTF-16"?>'),
        ("iso-8859-1", '<?xml version="1.0" encoding="ISO-8859-1"?>'),
        ("cp1252", '<?xml version="1.0" encoding="windows-1252"?>'),
    ],
)
def test_every_usual_encoding_is_read(encoding: str, declared: str) -> None:
    """XML is read in UTF-8 with or without a byte order mark, in UTF-16, and in the encoding of its declaration."""
    (found,) = read(xml("<xNote>Blé à 5</xNote>", head=declared).encode(encoding))
    assert "Blé à 5" == found["xNote"]


#: What cannot be read, and what the product's message says of it.
UNREADABLE: list[tuple[str, str]] = [
    ("<lifeCycle>abc</lifeCycle>", "lifeCycle is 'abc', not an integer"),
    ("<lifeCycle>1.5</lifeCycle>", "lifeCycle is '1.5', not an integer"),
    ("<lifeCycle/>", "lifeCycle is '', not an integer"),
    ("<lifeCycle>1 2</lifeCycle>", "lifeCycle is '1 2', not an integer"),
    ("<lifeCycle>\u0661</lifeCycle>", "lifeCycle is '\u0661', not an integer"),
    ("<lifeCycle><a>1</a></lifeCycle>", "lifeCycle holds elements; it is an integer"),
    ("<lifeCycle>1</lifeCycle><lifeCycle>2</lifeCycle>", "lifeCycle was sent 2 times; it is an integer"),
    ("<isConsumerUnit>yes</isConsumerUnit>", "isConsumerUnit is 'yes', not true or false"),
    ("<isConsumerUnit/>", "isConsumerUnit is '', not true or false"),
    ("<brand>ACME</brand>", "brand is 'ACME', not an object"),
    ("<brand><code>A</code></brand><brand><code>B</code></brand>", "brand was sent 2 times"),
    ("<brand/>", "brand is {}, not an object with a code"),
    ("<namePublicLong>Pain</namePublicLong>", "namePublicLong[0] is 'Pain', not an object"),
    ('<namePublicLong languages="xx">Pain</namePublicLong>', "'xx' is not in the referential languages"),
    ("<netContent><data>much</data></netContent>", "netContent[0].data is 'much', not a number"),
    (
        "<assets><pictures><url>1</url></pictures><pictures><url>2</url><width>wide</width></pictures></assets>",
        "assets.pictures[1].width is 'wide', not an integer",
    ),
    ("<assets><pictures/></assets>", "assets.pictures is an empty element"),
    ("<assets>none</assets>", "assets is 'none', not an object"),
    ("<namePublicLong/>", "namePublicLong is an empty element"),
]  # fmt: skip


@each_row(("inner", "words"), UNREADABLE, ids=[words for _, words in UNREADABLE])
def test_a_value_that_cannot_be_read_is_its_products_error(mill: Writer, inner: str, words: str) -> None:
    """The product has an ERROR that names attribute and value, stays as it was, and keeps no other from its import."""
    before = mill.stored(BREAD)
    other = f'<product><gtin>{BUTTER}</gtin><nameLegal languages="fr">Beurre</nameLegal></product>'
    body = f"<SupplierProducts><product><gtin>{BREAD}</gtin>{inner}</product>{other}</SupplierProducts>"
    record = mill.write_xml(body)
    assert "CONTAINS_ERRORS" == record["status"]
    assert [(BREAD, "ERROR"), (BUTTER, "SUCCESS")] == [
        (one["gtin"], one["status"]) for one in record["products"]
    ]
    message, _ = messages(record)
    assert message.startswith("product 1: ")
    assert words in message
    assert before == mill.stored(BREAD)


def test_what_plain_xml_says_is_stored_as_json_would_say_it(mill: Writer) -> None:
    """A product written by hand is taken, its languages completed from the referential."""
    inner = (
        "<lifeCycle>1</lifeCycle><isConsumerUnit>true</isConsumerUnit>"
        '<namePublicLong languages="fr">Pain</namePublicLong>'
        "<assets><pictures><url>https://p.test/1.jpg</url><isPackshot>true</isPackshot></pictures></assets>"
    )
    assert "SUCCESS" == mill.write_xml(xml(inner))["status"]
    stored = mill.stored(BREAD)
    assert (1, True) == (stored["lifeCycle"], stored["isConsumerUnit"])
    assert ("fra-FR", "French", "Pain") == (
        stored["namePublicLong"][0]["expressedIn"]["code"],
        stored["namePublicLong"][0]["expressedIn"]["label"],
        stored["namePublicLong"][0]["data"],
    )
    assert [{"url": "https://p.test/1.jpg", "isPackshot": True}] == stored["assets"]["pictures"]


@each_row("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_addresses_of_the_sandboxs_own_files_are_turned_back_in_every_encoding(
    mill: Writer, encoding: str
) -> None:
    """A picture's address that the sandbox gave out comes back as the same picture, whatever the encoding."""
    url = f"{mill.base_url}/media/1/front.jpg"
    mark = "\ufeff" if encoding.endswith("be") else ""
    body = mark + xml(f"<assets><pictures><url>{url}</url></pictures></assets>")
    assert "SUCCESS" == mill.wait(mill.send(body.encode(encoding), "application/xml"))["status"]
    at_another_name = mill.session.post(
        f"{mill.base_url}/public/v1/products/list", json={}, headers={"Host": "localhost:9"}
    ).json()
    assert "http://localhost:9/media/1/front.jpg" in json.dumps(at_another_name)


@given(name=st.sampled_from(FLAGS), word=st.sampled_from(["true", "false", "TRUE", "0"]))
def test_every_flag_of_the_specification_is_one(name: str, word: str) -> None:
    """Each boolean attribute is read as one."""
    assert {name: word.lower() == "true"} == product(f"<{name}>{word}</{name}>")


def test_units_of_a_hierarchy_have_the_types_of_their_schema() -> None:
    """A flag of a nested unit is a flag, as the schema that the record is checked by says, and not a text."""
    unit = "<isConsumerUnit>true</isConsumerUnit><typePackaging><code>CASE</code></typePackaging>"
    expected = {"isConsumerUnit": True, "typePackaging": {"code": "CASE"}}
    nested = f"<logisticalHierarchies>{unit}<children>{unit}</children></logisticalHierarchies>"
    assert {"logisticalHierarchies": [expected | {"children": [expected]}]} == product(nested)


def test_every_attribute_that_the_specification_types_is_declared() -> None:
    """Every attribute of the specification's table of the product, and of its list of arrays, has a type."""
    named = """
    id uuid gtin _jsonVersion createdAt updatedAt nameLegal namePublicShort namePublicLong description composition
    allergens productionVariantName brand kind typePackaging isConsumerUnit isDespatchUnit isOrderableUnit isInvoiceUnit
    isPromotionalItem isNomadic isMarkedRecyclable hasBatchNumber lifeCycle manufacturerSharingStatus hasTags isTaggedBy
    expressedIn isLabeledBy specializes owner GPC subdivisions logisticalHierarchies assets synonyms
    conservationAdvices productionVariantEffectiveDate shapeStatement productActivities keepRefrigeratedAfter
    keepRefrigeratedBefore compulsoryStatements isDerivedFrom createdShareValueStatement isPracticeCompatible shape
    serves isComplementaryWith originText brandHighlight manufactureInsights flavorStatement substitutes
    importClassification
    packagingMentions isSharedFrom additives conservations tradeItemDateOnPackagingTypeCode packaging temperature
    isClassifiedIn isWrappedBy advertisedInformations startAvailabilityDateTime endAvailabilityDateTime dutyFeeTax
    hasNotableIngredients isSizedBy environmentStatement sparklingValue replaces nutritionalAllegations isEquivalentTo
    netContent history netWeight grossWeight priceComparisonType originCountry isSubstitutableWith reasonForNewEAN
    isReplaceableBy productBenefits suggestedRetailPrice warnings consumptionAdvice isPartitionedBy contact offerOnPack
    """
    assert [] == sorted(set(named.split()) - ATTRIBUTES.keys())


def test_the_example_of_the_contract_is_read_as_it_says() -> None:
    """The XML example of /docs is read as the values that JSON would have."""
    begin, end = (
        SECTIONS["Products as XML"].index("    <SupplierProducts>"),
        SECTIONS["Products as XML"].index("</SupplierProducts>"),
    )
    assert [
        {
            "gtin": BREAD,
            "isConsumerUnit": True,
            "lifeCycle": 1,
            "namePublicLong": [text("fra-FR", "Pain de campagne"), text("eng-GB", "Country bread")],
            "netContent": [{"data": 500, "expressedIn": {"code": "GRM"}}],
            "brand": {"code": "ACME"},
            "assets": {"pictures": [{"url": "https://pictures.example/1.jpg", "isPackshot": True}]},
            "validationRules": [{"type": "T", "ruleId": "5"}],
        }
    ] == read(SECTIONS["Products as XML"][begin:end] + "</SupplierProducts>")
