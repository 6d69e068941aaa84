"""Rules: declared by a decorator, one's own next to those that come with prodex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import prodex
from prodex.errors import InputError
from prodex.quality.check import Check
from prodex.quality.products import Products
from prodex.quality.rulebook import BLOCKS, SEVERITIES, all_rules
from tests.cases import each_row


def test_a_rule_of_ones_own_is_judged_like_any_other() -> None:
    """It is defined here, named in a profile, and seen in the matrix."""

    @prodex.packs.rule(title="the product is light", needs="grossWeight")
    def is_light(products: Products, *, grams: float = 100.0) -> prodex.packs.Verdict:
        """Heavy ones need another carrier."""
        weights = products.rows("quantities", "attribute", "value")
        heavy = weights["product"][(weights["attribute"] == "grossWeight") & (weights["value"] > grams)]
        return prodex.packs.Verdict(
            products.any(heavy), evidence=prodex.packs.Evidence(heavy.unique(), "grossWeight")
        )

    weight = {"expressedIn": {"code": "GRM"}}
    catalog = prodex.flatten(
        [
            {"id": 7, "grossWeight": [{**weight, "data": 90}]},
            {"id": 8, "grossWeight": [{**weight, "data": 70}]},
        ]
    )
    audit = prodex.audit(catalog, {"checks": {"is_light": {"grams": 80}}})

    assert {"is_light[grams=80]": [1, 0]} == audit.matrix.to_dict("list")
    assert "Heavy ones need another carrier." == all_rules()["is_light"].why
    assert not prodex.rules().set_index("rule").loc["is_light", "shipped"]


@dataclass(frozen=True)
class _IsGiven:
    """What several rules can share: a column that has to have a value."""

    column: str

    def __call__(self, products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict(products[self.column].isna())


def test_rules_that_share_what_judges_them_have_names_and_reasons_of_their_own() -> None:
    """The name and the docstring of a function are used unless others are given."""
    for name, column in (("is_branded", "brand_code"), ("is_of_a_kind", "kind_code")):
        prodex.packs.rule(name=name, why=f"{column} is needed.", title=name)(_IsGiven(column))

    branded = {"id": 7, "brand": {"code": "ACME"}}
    checks: dict[str, dict[str, object]] = {"is_branded": {}, "is_of_a_kind": {}}
    audit = prodex.audit(prodex.flatten([branded, {"id": 8}]), {"checks": checks})

    assert {"is_branded": [0, 1], "is_of_a_kind": [1, 1]} == audit.matrix.to_dict("list")
    assert "kind_code is needed." == all_rules()["is_of_a_kind"].why
    assert not all_rules()["is_branded"].shipped


def test_defining_a_rule_again_replaces_it() -> None:
    """Running the cell of a notebook again does so."""
    for title in ("before", "after"):

        @prodex.packs.rule(title=title)
        def is_mine(products: Products) -> prodex.packs.Verdict:
            return prodex.packs.Verdict([False] * len(products))

    assert "after" == all_rules()["is_mine"].title


def test_a_shipped_rule_is_replaced_only_on_purpose() -> None:
    """Nobody loses the real valid_gtin by accident."""

    def valid_gtin(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([False] * len(products))

    with pytest.raises(InputError, match="one of the rules of prodex"):
        prodex.packs.rule(title="anything goes")(valid_gtin)
    prodex.packs.rule(title="anything goes", replace=True)(valid_gtin)

    audit = prodex.audit(prodex.flatten([{"id": 7, "gtin": "1"}]), {"checks": {"valid_gtin": {}}})

    assert [0] == audit.matrix["valid_gtin"].tolist()


def _never(products: Products) -> prodex.packs.Verdict:
    raise NotImplementedError


@each_row(
    ("words", "why"),
    [
        ({"severity": "fatal"}, "severity 'fatal' is not one of blocker, error"),
        ({"block": "prices"}, "block 'prices' is not one of identity"),
        ({"dimension": "beauty"}, "dimension 'beauty' is not one of completeness"),
        ({"scope": {"is_consumer_unti": True}}, "did you mean 'is_consumer_unit'"),
        ({"scope": {"is_consumer_unit": "yes"}}, "holds bool, and 'yes' is not one of them"),
        ({"scope": {"market": "Atlantis"}}, "no market 'Atlantis'"),
    ],
)
def test_a_rule_says_what_is_wrong_with_its_words(words: dict[str, object], why: str) -> None:
    """It does so at once, not when somebody audits."""
    with pytest.raises(InputError, match=why):
        prodex.packs.rule(title="never", **words)(_never)  # type: ignore[arg-type]


@each_row(
    ("words", "why"),
    [
        ({"weight": -1}, "Rule is_odd: weight is -1; give a number from 0"),
        ({"weight": float("nan")}, "Rule is_odd: weight is nan"),
        ({"in_force": "01/02/2027"}, "Rule is_odd: in_force: '01/02/2027' may be"),
        ({"until": 2027}, "Rule is_odd: until is 2027. Give a day"),
    ],
)
def test_a_rule_has_the_weights_and_days_that_a_check_can_have(words: dict[str, Any], why: str) -> None:
    """It is refused where it is defined, and not when a score is made or a day compared."""
    with pytest.raises(InputError, match=why):
        prodex.packs.rule(name="is_odd", title="odd", **words)(_IsGiven("brand_code"))


def test_a_day_as_text_is_one_for_rules_and_laws_as_well() -> None:
    """In profiles it always was; every audit by such a rule ended with a TypeError."""
    law = prodex.packs.Law("own", "Law 1", "Own", "2999-01-01", "https://example.com", "2026-11-27")  # type: ignore[arg-type]
    prodex.packs.rule(name="is_of_law", title="of a law", law=law)(_IsGiven("brand_code"))
    prodex.packs.rule(name="is_for_a_time", title="for a time", until="2020-01-01")(_IsGiven("brand_code"))

    audit = prodex.audit(prodex.flatten([{"id": 7}]), {"checks": {"is_of_law": {}, "is_for_a_time": {}}})
    assert ["announced", "ended"] == [check.standing for check in audit.checks]


def test_a_parameter_needs_a_type() -> None:
    """A parameter without a type could not be validated in a profile."""

    def vague(products: Products, *, limit) -> prodex.packs.Verdict:  # type: ignore[no-untyped-def]
        raise NotImplementedError

    with pytest.raises(InputError, match="parameter limit needs a type"):
        prodex.packs.rule(title="never")(vague)


@each_row(
    ("rule", "parameters", "why"),
    [
        ("valid_gtim", {}, "did you mean 'valid_gtin'"),
        ("required_text", {"attribute": "nameLegal"}, "language must be given"),
        ("required_text", {"attribute": "nameLegal", "langauge": "fr"}, "did you mean 'language'"),
        ("required_text", {"attribute": 3, "language": "fr"}, "attribute is 3; give a text"),
        ("updated_within", {"days": 1.5}, "days is 1.5; give a whole number"),
        ("updated_within", {"days": True}, "days is True; give a whole number"),
        ("valid_gtin", {"days": 3}, "It takes none"),
    ],
)
def test_parameters_are_checked(rule: str, parameters: dict[str, object], why: str) -> None:
    """Their names and types are checked, and the message suggests the nearest name."""
    with pytest.raises(InputError, match=why):
        Check.of(rule, parameters)


def test_a_check_is_named_after_what_it_asks() -> None:
    """Parameters with their default value are not part of the id."""
    check = Check.of("required_text", {"attribute": "nameLegal", "language": "fr"})

    assert ("required_text[nameLegal,fr]", "legal name is filled in French") == (check.id, str(check.title))
    assert "updated_within" == Check.of("updated_within").id
    assert "updated_within[days=30]" == Check.of("updated_within", {"days": 30}).id


def test_every_shipped_rule_says_what_it_is() -> None:
    """Each rule is listed with title, why, fix, severity and block."""
    shipped = [rule for rule in all_rules().values() if rule.shipped]
    silent = [rule.id for rule in shipped if not (rule.title and rule.why and rule.fix and rule.needs)]

    assert [] == silent
    assert {True} == {rule.severity in SEVERITIES and rule.block in BLOCKS for rule in shipped}
