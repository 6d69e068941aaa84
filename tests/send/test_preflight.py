"""What is found before anything is sent."""

from __future__ import annotations

import pytest

from prodex.errors import PreflightFailed
from prodex.send.preflight import inspect_products, preflight_frame, refuse_errors

GTIN = "03036811359935"


def named(data="Pain", attribute="nameLegal", **others):
    """Make a product that has a name and a kind."""
    item = {"expressedIn": {"code": "fra-FR"}, "data": data}
    return {"gtin": GTIN, attribute: [item], "kind": {"code": "1"}, **others}


def found(*products, as_xml=False, filled=None):
    """Return attribute and severity of each finding."""
    return [
        (one.attribute, one.severity)
        for one in inspect_products(products, as_xml=as_xml, filled=filled or {})
    ]


def test_a_product_without_fault_has_no_finding():
    """As JSON and as XML."""
    assert [] == found(named()) == found(named(), as_xml=True)


@pytest.mark.parametrize(
    "gtin", ["03036811359936", "003036811359935", "00000000000000", "", "abc", 5, ["03036811359935"]]
)
def test_a_wrong_gtin_is_an_error(gtin):
    """15 digits, a wrong check digit, no digits, no text."""
    assert [("gtin", "error")] == found({**named(), "gtin": gtin})


def test_no_gtin_is_an_error():
    """The finding names the record by its place."""
    product = named()
    del product["gtin"]
    (finding,) = inspect_products([product], as_xml=False, filled={})
    assert ("error", "record 0 has no GTIN") == (finding.severity, finding.problem)


def test_a_gtin_twice_is_an_error():
    """The finding names the places."""
    other = {**named(), "gtin": "03663215000110"}
    (finding,) = inspect_products([named(), other, named("Brot")], as_xml=False, filled={})
    assert (GTIN, "error") == (finding.gtin, finding.severity)
    assert "2 times, in the records 0, 2" in finding.problem


@pytest.mark.parametrize("attribute", ["nameLegal", "namePublicLong", "namePublicShort"])
def test_one_of_three_names_is_enough(attribute):
    """Any of them."""
    assert [] == found(named(attribute=attribute))


@pytest.mark.parametrize("value", [None, [], "absent"])
def test_no_name_is_an_error(value):
    """Absent, empty, deleted: unless the service is known to have one."""
    product = {"gtin": GTIN, "kind": {"code": "1"}, **({} if value == "absent" else {"nameLegal": value})}
    assert [(None, "error")] == found(product)
    assert [] == found(product, filled={GTIN: {"namePublicLong"}})
    deleted = {"gtin": GTIN, "nameLegal": None, "kind": {"code": "1"}}
    assert [(None, "error")] == found(deleted, filled={GTIN: {"nameLegal"}})


def test_no_kind_is_a_warning():
    """It does not stop the sending."""
    product = named()
    del product["kind"]
    assert [("kind", "warning")] == found(product)
    refuse_errors(inspect_products([product], as_xml=False, filled={}))


@pytest.mark.parametrize(
    ("attribute", "longest"),
    [("namePublicLong", 200), ("namePublicShort", 35), ("nameLegal", 3_000), ("description", 20_000)],
)
def test_lengths_are_those_of_the_attribute(attribute, longest):
    """One character more is an error."""
    assert [] == found({**named(), **named("x" * longest, attribute)})
    assert [(attribute, "error")] == found({**named(), **named("x" * (longest + 1), attribute)})


def test_a_long_string_is_a_warning_and_an_endless_one_an_error():
    """Whether an attribute is a string or a text is not known for all; at any depth."""
    assert [] == found(named(x={"y": ["z" * 3_000]}))
    assert [("x", "warning")] == found(named(x={"y": ["z" * 3_001]}))
    assert [("x", "error")] == found(named(x={"y": ["z" * 1_000_000]}))


@pytest.mark.parametrize("sign", ["\n", "\r"])
def test_a_line_break_in_a_name_is_an_error(sign):
    """In a text it is none."""
    assert [("nameLegal", "error")] == found(named(f"a{sign}b"))
    assert [] == found({**named(), **named(f"a{sign}b", "description")})


def test_what_switches_off_a_check_is_a_warning():
    """Only that type of rule."""
    rules = [{"type": "DeactivateValidationRule", "ruleId": 3}, {"type": "Other"}, None]
    assert [("validationRules", "warning")] == found(named(validationRules=rules))


def test_what_xml_cannot_carry_is_an_error_there_alone():
    """JSON carries it."""
    assert [("x", "error")] == found(named(x=[[1]]), as_xml=True)
    assert [] == found(named(x=[[1]]))


def test_what_the_service_keeps_is_told_once_for_all():
    """Not once a product."""
    others = [{**named(id=1, uuid="u"), "gtin": gtin} for gtin in (GTIN, "03663215000110")]
    findings = inspect_products(others, as_xml=False, filled={})
    assert {("id", "info"), ("uuid", "info")} == {(one.attribute, one.severity) for one in findings}
    assert "2 products" in findings[0].problem


def test_a_product_that_the_service_has_under_a_wrong_gtin_can_be_corrected():
    """The GTIN is a warning then."""
    wrong = "03036811359936"
    assert [("gtin", "warning")] == found({**named(), "gtin": wrong}, filled={wrong: {"kind"}})


def test_errors_come_first_and_the_frame_says_what_to_do():
    """The error holds all findings; its message the first."""
    product = {**named("x" * 201, "namePublicLong"), "id": 1}
    del product["kind"]
    with pytest.raises(
        PreflightFailed, match=rf"1 error found.*GTIN {GTIN}, namePublicLong: 201 characters.*Shorten it"
    ) as caught:
        refuse_errors(inspect_products([product], as_xml=False, filled={}))
    frame = caught.value.findings
    assert ["error", "warning", "info"] == frame["severity"].tolist()
    assert ["gtin", "attribute", "severity", "problem", "what_to_do"] == list(frame.columns)
    assert frame["what_to_do"].str.len().gt(5).all()
    assert list(frame.columns) == list(preflight_frame([]).columns)
