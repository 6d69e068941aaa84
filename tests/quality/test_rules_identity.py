"""The rules of identity, each on tiny products that pass, fail, are no question, or of which nothing was asked."""

from __future__ import annotations

from typing import Any

from prodex.quality.states import State
from tests.cases import each_row
from tests.quality.four_states import NOTHING, Case, named

UNIT = {"isConsumerUnit": True}
OUTER = {"isConsumerUnit": False}
RIGHT = {"gtin": "03036811359935"}
SHORT = {"gtin": "3036811359935"}


def told(value: Any, unit: str) -> list[dict[str, Any]]:
    """Return a number with its unit."""
    return [{"data": value, "expressedIn": {"code": unit}}]


def serving(value: float, unit: str) -> dict[str, Any]:
    """Return a partition of this size that declares its fat."""
    fat = {"isConceptualizedBy": {"code": "FAT"}, "quantity": 1, "expressedIn": {"code": "GRM"}}
    return {"name": "a serving", "quantity": value, "isMeasuredBy": {"code": unit}, "contains": [fat]}


CASES = {
    "has_net_content": Case(
        {"isConsumerUnit": True, "netContent": told(250, "GRM")},
        {"isConsumerUnit": True, "netContent": told(0, "GRM")},
        ("netContent", None, "0", "not more than zero"),
        {"isConsumerUnit": False},
    ),
    "net_content_fits_net_weight": Case(
        UNIT | {"netContent": told(1, "KGM"), "netWeight": told(950, "GRM")},
        UNIT | {"netContent": told(1, "GRM"), "netWeight": told(1, "KGM")},
        ("netContent", None, "1 g", "net weight 1000 g, more than 10% apart"),
        UNIT | {"netContent": told(1, "LTR"), "netWeight": told(1, "KGM")},
    ),
    "valid_gtin": Case(
        RIGHT,
        {"gtin": "03036811359936"},
        ("gtin", None, "03036811359936", "ends with the check digit 6, and 5 would be right"),
        asked=(),
    ),
    "duplicate_gtin": Case(
        {"gtin": "03663215000110"},
        RIGHT,
        ("gtin", None, "03036811359935", "also the GTIN of product 3"),
        others=(RIGHT,),
        asked=(),
    ),
    "gtin_is_unrestricted": Case(
        RIGHT,
        {"gtin": "02012345678903"},
        ("gtin", None, "02012345678903", "of restricted circulation: begins with 201"),
        SHORT,
        asked=(),
    ),
    "gtin_is_of_a_product": Case(
        RIGHT,
        {"gtin": "09521234543213"},
        ("gtin", None, "09521234543213", "952 stands for examples and demonstrations"),
        SHORT,
        asked=(),
    ),
    "consumer_unit_has_own_gtin": Case(
        UNIT | RIGHT,
        UNIT | {"gtin": "13663836037981"},
        ("gtin", None, "13663836037981", "indicator 1 stands for an outer unit"),
        OUTER | {"gtin": "13663836037981"},
        asked=("dutyFeeTax",),
    ),
    "consumer_unit_is_of_fixed_measure": Case(
        UNIT | RIGHT,
        UNIT | {"gtin": "93663836037987"},
        ("gtin", None, "93663836037987", "indicator 9 stands for a variable measure"),
        OUTER | {"gtin": "93663836037987"},
        asked=("dutyFeeTax",),
    ),
    "has_name": Case(named("Riz"), {"nameLegal": []}, ("namePublicLong", None, None, NOTHING)),
    "has_brand": Case(
        {"brand": {"code": 12}}, {"brand": {"label": "Acme"}}, ("brand.label", None, "Acme", "has a label without code")
    ),
    "has_kind": Case({"kind": {"code": "TEA"}}, {"kind": None}, ("kind.code", None, None, NOTHING)),
    "has_gpc_brick": Case(
        {"GPC": {"code": "10000045"}}, {"GPC": {"code": "Food"}}, ("GPC.code", None, "Food", "not eight digits")
    ),
    "says_whether_consumer_unit": Case(
        OUTER, {"isConsumerUnit": None}, ("isConsumerUnit", None, None, NOTHING), asked=("dutyFeeTax",)
    ),
    "has_packaging_type": Case(
        {"typePackaging": {"code": "EACH"}}, {"typePackaging": {}}, ("typePackaging.code", None, None, NOTHING)
    ),
    "has_owner": Case({"owner": {"name": "Acme"}}, {"owner": {"type": 1}}, (None, None, None, NOTHING)),
    "has_uuid": Case(
        {"uuid": "c995e7e9-1c3d-5922-864f-6714923b7de2"},
        {"uuid": "c995e7e9"},
        ("uuid", None, "c995e7e9", "not of the form of a uuid"),
        asked=(),
    ),
    "has_market": Case(
        {"product_key": {"target_market_id": 250}},
        {"product_key": {"target_market_id": 999}},
        ("product_key.target_market_id", None, "999", "no code of a market"),
    ),
    "brand_code_has_one_label": Case(
        {"brand": {"code": 2, "label": "Acme"}},
        {"brand": {"code": 1, "label": "Acme"}},
        ("brand.label", None, "Acme", "also Bolt (1 product)"),
        {"brand": {"code": 1}},
        others=({"brand": {"code": 1, "label": "Bolt"}},),
    ),
    "brand_has_one_code": Case(
        {"brand": {"code": 1, "label": "Bolt"}},
        {"brand": {"code": 2, "label": "Acme"}},
        ("brand.code", None, "2", "also 3 (1 product)"),
        {"brand": {"code": 3}},
        others=({"brand": {"code": 3, "label": "ACME"}},),
    ),
    "brand_is_spelled_one_way": Case(
        {"brand": {"code": 1, "label": "Mill & Co"}},
        {"brand": {"code": 2, "label": "MILL AND CO."}},
        ("brand.label", None, "MILL AND CO.", "also Mill & Co (2 products)"),
        {"brand": {"code": 3}},
        others=({"brand": {"label": "Mill & Co"}}, {"brand": {"label": "Millet"}}),
    ),
    "brand_is_no_company": Case(
        {"brand": {"label": "Lindt"}},
        {"brand": {"label": "Lindt & Sprüngli (Schweiz) AG"}},
        ("brand.label", None, "Lindt & Sprüngli (Schweiz) AG", "has the legal form of a company"),
        {"brand": {"code": 3}},
    ),
    "drained_not_over_net_weight": Case(
        UNIT | {"drainedWeight": told(250, "GRM"), "netWeight": told(0.4, "KGM")},
        UNIT | {"drainedWeight": told(250, "GRM"), "netWeight": told(200, "GRM")},
        ("drainedWeight", None, "250 g", "more than the net weight of 200 g"),
        UNIT | {"drainedWeight": told(250, "GRM"), "netContent": told(1, "LTR")},
    ),
    "net_content_is_no_serving": Case(
        UNIT | {"netContent": told(300, "GRM"), "isPartitionedBy": [serving(30, "GRM")]},
        UNIT | {"netContent": told(0.03, "KGM"), "isPartitionedBy": [serving(30, "GRM")]},
        ("netContent", None, "30 g", "the same as a serving, to which nutrition is declared"),
        UNIT | {"netContent": told(100, "GRM"), "isPartitionedBy": [serving(100, "GRM")]},
    ),
}  # fmt: skip

COMPANIES = [
    *(
        "Bäckerei Muster GmbH",
        "Mill Ltd.",
        "Reed's  Inc.",
        "Healthy Food Brands Llc",
        "Boulangerie du Lac S.A.S.",
    ),
    *(
        "Laiterie SARL",
        "Pasta Zara S.P.A.",
        "Acetificio De Nigris Srl",
        "Poppies Int. Nv.",
        "Kaas B.V.",
        "Aceites SA",
    ),
    *(
        "Mejeri AB",
        "Leipomo Oy",
        "Bakeri AS",
        "Mejeri ApS",
        "Queijo Lda",
        "Muster GmbH & Co. KG",
        "Grove Candy Co.",
    ),
]
BRANDS = [
    *(
        "Lindt",
        "Marks & Spencer",
        "Tiffany & Co",
        "Nature & Cie",
        "Visa",
        "Oslo",
        "Salsa",
        "Ag",
        "Slim-Fast",
        "LU",
    ),
    *(
        "Pasta",
        "Cosa",
        "Incognito",
        "Limited Edition Tea",
        "Corporate Coffee",
        "M&S",
        "Spa",
        "Kelly's of Cornwall",
    ),
]
EDGES = [
    *(("brand_is_no_company", {"brand": {"label": one}}, State.FAIL) for one in COMPANIES),
    *(("brand_is_no_company", {"brand": {"label": one}}, State.PASS) for one in BRANDS),
    ("valid_gtin", {"gtin": "00000006200017"}, State.PASS),
    ("valid_gtin", {"gtin": "00000006200018"}, State.FAIL),
    ("valid_gtin", {"gtin": "00000012345670"}, State.PASS),
    ("valid_gtin", {"gtin": "00000000002220"}, State.FAIL),
    ("valid_gtin", {"gtin": "00000062000170"[:13] + "9"}, State.FAIL),
    ("gtin_is_unrestricted", {"gtin": "00000006200017"}, State.PASS),
    ("gtin_is_unrestricted", {"gtin": "00000000011747"}, State.FAIL),
    ("gtin_is_unrestricted", {"gtin": "00000022116666"}, State.FAIL),
    ("gtin_is_unrestricted", {"gtin": "00000030000002"}, State.PASS),
    ("gtin_is_unrestricted", {"gtin": "00312345678906"}, State.PASS),
    ("gtin_is_unrestricted", {"gtin": "00412345678903"}, State.FAIL),
    ("gtin_is_unrestricted", {"gtin": "00000000000000"}, State.NOT_APPLICABLE),
    ("has_gpc_brick", {"GPC": {"code": "1000004"}}, State.FAIL),
    ("has_market", {"product_key": {"target_market_id": "FR"}}, State.FAIL),
    ("has_market", {"product_key": {"target_market_id": "056"}}, State.PASS),
    ("has_market", {"product_key": {"target_market_id": 56}}, State.PASS),
    ("valid_gtin", {"gtin": "00000000000000"}, State.FAIL),
    ("valid_gtin", {"gtin": "０３０３６８１１３５９９３５"}, State.FAIL),
]


def test_the_brand_that_most_products_bear_is_right() -> None:
    """The minority of a brand is wrong; a GTIN of thousands of products does not list them all."""
    acme, bolt = {"brand": {"code": 1, "label": "Acme"}}, {"brand": {"code": 1, "label": "Bolt"}}
    case = Case(acme, bolt, ("brand.label", None, "Bolt", "also Acme (3 products)"), others=(acme, acme))
    assert case.expected == case.states("brand_code_has_one_label")
    assert case.finding == case.found("brand_code_has_one_label")


def test_a_number_that_many_bear_names_the_first_and_counts_all() -> None:
    """Thousands of products that name each other would be millions of names."""
    case = Case({}, RIGHT, ("", None, None, ""), others=(RIGHT,) * 60)
    reason = case.found("duplicate_gtin")[3]
    assert reason.startswith("also the GTIN of 60 other products, of which the first 50 are 10, 11, ")


@each_row(
    ("gtin", "said"),
    [
        ("3036811359935", "GTIN-13 with the right check digit; with all 14 digits 03036811359935"),
        ("12345670", "GTIN-8 with the right check digit; with all 14 digits 00000012345670"),
        ("11747", "GTIN-8 with the right check digit; with all 14 digits 00000000011747"),
        ("9780306406157", "ISBN with the right check digit; with all 14 digits 09780306406157"),
        ("0306406152", "ISBN with the right check digit; with all 14 digits 09780306406157"),
        ("2220", "4 digits instead of 14"),
        ("3036811359936", "13 digits instead of 14"),
        ("00000000002220", "ends with the check digit 0, and 6 would be right"),
    ],
)
def test_numbers_without_their_zeros_are_called_what_they_are(gtin: str, said: str) -> None:
    """The check digits of GTIN and ISBN (GS1 General Specifications, 7.9; ISO 2108) tell which lost its zeros."""
    assert ("gtin", None, gtin, said) == Case({}, {"gtin": gtin}, ("", None, None, "")).found("valid_gtin")
