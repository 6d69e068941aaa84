"""Laws on offers: a breach is found, a lawful neighbour does not fail, and what nobody has declared is unknown."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

import prodex
from prodex.quality import laws as core_laws
from prodex.quality.declared_fields import FIELDS
from prodex.quality.laws import Law
from prodex.quality.rulebook import all_rules
from prodex.quality.states import State
from prodex_food import laws as food_laws
from tests.cases import each_row

#: Where the records of these tests have the fields.
DECLARED = {
    "manufacturer": "contactInformationList",
    "responsible_person": "partyInformationList",
    "warnings": "warnings",
    "origin_country": "honeyOrigin.country",
    "origin_share": "honeyOrigin.share",
    "packaging_components": "packagingInformationList",
    "customs_code": "importEuropeanClassification",
    "due_diligence": "dueDiligence",
    "unit_price": "priceUnit",
}
OWN = sorted({path.partition(".")[0] for path in DECLARED.values()})
OURS = [rule.id for rule in all_rules().values() if rule.function.__module__.endswith("market_laws")]
OF_LAWS = [rule.id for rule in all_rules().values() if rule.law is not None and rule.shipped]
NOW = datetime.fromisoformat("2026-11-27")


def product(**facts: Any) -> dict[str, Any]:
    """Return a consumer unit."""
    return {"id": 7, "isConsumerUnit": True, "gtin": "03036811359935", **facts}


def code(value: str, label: str = "") -> dict[str, str]:
    """Return a code value."""
    return {"code": value, "label": label}


def text(language: str, said: str) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"normalizedCode": language}, "data": said}


def quantity(amount: float, unit: str) -> list[dict[str, Any]]:
    """Return a list of one number with its unit."""
    return [{"data": amount, "expressedIn": code(unit)}]


def honey(*shares: Any, countries: str = "FR ES IT RO HU BG PT") -> dict[str, Any]:
    """Return honey of several countries; None is a country without a share."""
    items = [
        {"country": code(country)} | ({} if share is None else {"share": share})
        for country, share in zip(countries.split(), shares, strict=False)
    ]
    return product(kind=code("H", "Flower honey"), honeyOrigin=items)


TOY: dict[str, Any] = {"kind": code("T", "Teddy bear"), "GPC": code("86000000")}
PICTURE = {"pictures": [{"url": "https://example.org/a.jpg"}]}
BELGIUM = {"product_key": {"target_market_id": 56}}
COFFEE: dict[str, Any] = {"kind": code("C", "Ground coffee")}


def states(records: list[dict[str, Any]], rule: str, **declared: Any) -> list[int]:
    """Return the states of a rule on records, with all fields declared unless others are given."""
    fields = {
        name: path for name, path in (declared or DECLARED).items() if name in all_rules()[rule].declared
    }
    profile = prodex.Profile.read({"checks": {rule: {}}, "attributes": {"others": OWN, **fields}})
    audit = prodex.audit(prodex.flatten(records), profile, now=NOW, progress=False)
    assert audit.crashes == ()
    return [int(one) for one in audit.matrix[rule]]


#: For each rule a breach, and neighbours that are lawful or of which nobody can say.
CASES: dict[str, tuple[dict[str, Any], tuple[dict[str, Any], ...]]] = {
    "non_food_names_manufacturer": (
        product(**TOY),
        (
            product(**TOY, contactInformationList=[{"name": "Acme"}]),
            product(kind=code("Y", "Yogurt"), GPC=code("50130000")),
            product(kind=code("D", "Dog food"), GPC=code("10000000")),
            product(kind=code("P", "Paracetamol"), GPC=code("51000000")),
            product(kind=code("S", "Rose"), GPC=code("93000000")),
            product(),
        ),
    ),
    "non_food_names_responsible_person": (
        product(**TOY, contactInformationList=[{"country": code("156")}]),
        (
            product(**TOY, contactInformationList=[{"country": code("276")}]),
            product(**TOY, contactInformationList=[{"country": code("CN")}, {"country": code("DE")}]),
            product(
                **TOY, contactInformationList=[{"country": "CN"}], partyInformationList=[{"name": "Acme EU"}]
            ),
            product(**TOY, contactInformationList=[{"name": "Acme"}]),
            product(**TOY, contactInformationList=[{"country": "Atlantis"}]),
            product(**TOY),
        ),
    ),
    "non_food_has_picture": (
        product(**TOY),
        (product(**TOY, assets=PICTURE), product(kind=code("Y", "Yogurt"), GPC=code("50130000")), product()),
    ),
    "non_food_warns_in_languages_of_market": (
        product(**TOY, **BELGIUM, warnings=[{"text": [text("fr", "Danger.")]}]),
        (
            product(**TOY, **BELGIUM, warnings=[{"text": [text("fr", "Danger."), text("nl", "Gevaar.")]}]),
            product(**TOY, **BELGIUM),
            product(**TOY, **BELGIUM, warnings=[{"text": "Danger."}]),
            product(**TOY, **BELGIUM, warnings=[code("W1")]),
            product(**TOY, warnings=[{"text": [text("fr", "Danger.")]}]),
        ),
    ),
    "honey_states_shares_of_origin": (
        honey(None, None),
        (
            honey(60, 40),
            honey(None),
            honey(100),
            product(kind=code("H", "Flower honey")),
            product(kind=code("M", "Honey mustard"), honeyOrigin=honey(None, None)["honeyOrigin"]),
            honey(None, None) | {"kind": code("Y", "Yogurt")},
        ),
    ),
    "packaging_materials_are_given": (
        product(),
        (product(packagingInformationList=[{"material": code("GLASS")}]),),
    ),
    "forest_goods_have_customs_code": (
        product(**COFFEE),
        (
            product(**COFFEE, importEuropeanClassification="0901 21 00"),
            product(kind=code("M", "Coffee machine")),
            product(kind=code("Y", "Yogurt")),
            product(),
        ),
    ),
    "forest_goods_have_due_diligence": (
        product(**COFFEE),
        (
            product(**COFFEE, dueDiligence="25FR0001"),
            product(**COFFEE, importEuropeanClassification="21011100"),
            product(kind=code("T", "Tyres"), importEuropeanClassification="4011 10"),
            product(),
        ),
    ),
    "price_unit_is_given": (
        product(netContent=quantity(250, "GRM")),
        (
            product(netContent=quantity(250, "GRM"), priceUnit=code("KGM")),
            product(netContent=quantity(1, "KGM")),
            product(netContent=quantity(1000, "MLT")),
            product(netContent=quantity(6, "H87")),
            product(),
        ),
    ),
}


def test_every_rule_has_its_cases() -> None:
    """No rule of these laws is without a breach and a neighbour."""
    assert sorted(CASES) == sorted(OURS)


@each_row("rule", OURS)
def test_a_breach_is_found_and_its_neighbours_do_not_fail(rule: str) -> None:
    """The breach fails; what is lawful, or what nobody can say, does not."""
    breach, neighbours = CASES[rule]
    found = states([one | {"id": n} for n, one in enumerate((breach, *neighbours))], rule)
    assert found[0] == State.FAIL
    assert State.FAIL not in found[1:]


@each_row(
    ("kind", "state"),
    [
        *((each, State.FAIL) for each in ("Kaffee", "Holzkohle", "Rundvlees")),
        *((each, State.UNKNOWN) for each in ("Kaffeekapseln", "Couchtische aus Holz", "Schokoladenkekse")),
        *(
            (each, State.UNKNOWN)
            for each in ("Chaussures en cuir", "Muebles", "Autobanden", "Tofu", "Espresso")
        ),
        *(
            (each, State.NOT_APPLICABLE)
            for each in ("Joghurt", "Framboises", "Asiatische Nudeln", "Weingummi")
        ),
        *((each, State.NOT_APPLICABLE) for each in ("Purée without sugar", "Vegetables", "Tamarinds")),
    ],
)
def test_what_may_be_made_of_a_commodity_is_unknown(kind: str, state: State) -> None:
    """Annex I lists furniture of wood and some goods of coffee: a part of a word is no proof, and no proof against."""
    assert [state] == states([product(id=1, kind=code("K", kind))], "forest_goods_have_customs_code")


@each_row("rule", OF_LAWS)
def test_what_is_not_declared_is_unknown(rule: str) -> None:
    """For each field that a rule asks for: without its declaration no product fails, and none passes."""
    for left_out in all_rules()[rule].declared:
        every = DECLARED | {name: OWN[0] for name in FIELDS if name not in DECLARED}
        declared = {name: path for name, path in every.items() if name != left_out} or {
            "warnings": "warnings"
        }
        breach, neighbours = CASES.get(rule, (product(), ()))
        assert set(states([breach, *neighbours], rule, **declared)) == {State.UNKNOWN}


@pytest.mark.slow
def test_records_without_the_fields_fail_no_profile() -> None:
    """Nothing that a law asks of undeclared fields fails in the profiles that come along."""
    catalog = prodex.flatten([breach | {"id": n} for n, (breach, _) in enumerate(CASES.values())])
    for name in ("online-listing", "food-eu", "logistics"):
        audit = prodex.audit(catalog, name, now=NOW, progress=False)
        asked = [check.id for check in audit.checks if check.not_asked]
        assert asked
        assert not (audit.matrix[asked] != State.UNKNOWN).any(axis=None)


@pytest.mark.slow
@each_row(
    ("shares", "state"),
    [
        ((60, 40), State.PASS),
        (("60 %", "39,9"), State.PASS),
        ((61, 40), State.PASS),
        ((50, 50), State.PASS),
        ((40, 60), State.FAIL),
        ((0, 0), State.FAIL),
        ((110, -10), State.FAIL),
        ((60, None), State.FAIL),
        ((None, 60), State.FAIL),
        ((30, 30), State.FAIL),
        ((60, 33), State.UNKNOWN),
        (("about half", 40), State.UNKNOWN),
        (({"data": 60, "expressedIn": {"code": "P1"}}, 40), State.PASS),
        ((30, 20, 10, 10, None, None), State.PASS),
        ((30, 20, 10, 10, 10, None), State.FAIL),
        ((30, 20, 10, None, None), State.FAIL),
        ((None, 30, 20, 10, 10), State.FAIL),
        ((8, 7, 7, 6, None), State.FAIL),
        ((14, 13, 12, 10, None), State.UNKNOWN),
        ((30, 20, 20, 10, 10, 10), State.PASS),
    ],
)
def test_shares_of_honey(shares: tuple[Any, ...], state: State) -> None:
    """Shares in descending order that make 100; the four largest are enough; what cannot be read is unknown."""
    assert states([honey(*shares)], "honey_states_shares_of_origin") == [state]


def test_a_share_below_nothing_is_wrong_where_all_make_a_hundred() -> None:
    """No part of a honey is less than nothing, whatever the sum and the order."""
    assert states([honey(60, 45, -5)], "honey_states_shares_of_origin") == [State.FAIL]


@pytest.mark.slow
@each_row("given", [None, [], {}, "", 7, "FR", ["FR", None], [[1]], {"country": None}, [None]])
def test_any_shape_at_a_declared_path(given: Any) -> None:
    """Scalars, lists, objects, nulls and nothing at declared paths end in a state, not in a crash."""
    checks: dict[str, Any] = {rule: {} for rule in OURS}
    records = [one | dict.fromkeys(OWN, given) | {"id": n} for n, (one, _) in enumerate(CASES.values())]
    for declared in (DECLARED, dict.fromkeys(DECLARED, "honeyOrigin")):
        profile = prodex.Profile.read({"checks": checks, "attributes": {"others": OWN, **declared}})
        audit = prodex.audit(prodex.flatten(records), profile, now=NOW, progress=False)
        assert audit.crashes == ()
        assert audit.matrix.shape == (len(records), len(OURS))


def test_the_same_country_twice_is_one_country() -> None:
    """Two items of one country are honey of one country, which needs no share."""
    assert states([honey(None, None, countries="FR fr")], "honey_states_shares_of_origin") == [
        State.NOT_APPLICABLE
    ]


@pytest.mark.slow
def test_very_many_countries_are_judged_and_shown_in_short() -> None:
    """A list of 40,000 countries takes no longer than it must, and its finding is short."""
    many = honey(*[None] * 40_000, countries=" ".join(f"X{n}" for n in range(40_000)))
    profile = prodex.Profile.read({"checks": {"honey_states_shares_of_origin": {}}}).with_attributes(
        origin_country="honeyOrigin.country", origin_share="honeyOrigin.share"
    )
    other = honey(60, 40) | {"id": 8}
    (value,) = prodex.audit(prodex.flatten([many, other]), profile, now=NOW).failures()["value"]
    assert value == "X0, X1, X2, X3, X4, X5, ..."


@pytest.mark.slow
@each_row(
    "label",
    [
        *(
            "Honey",
            "Flower honey",
            "Blütenhonig",
            "Miel de fleurs",
            "Miele di acacia",
            "Bloemenhoning",
            "Mel",
        ),
        *("Miel de flores", "Honung", "Honning", "Hunaja", "Waldhonig cremig"),
    ],
)
def test_honey_in_ten_languages(label: str) -> None:
    """Honey is told by the words of its kind, or of its legal name."""
    wrong = honey(40, 60)
    by_name = {**wrong, "kind": None, "nameLegal": [text("en", label)]}
    records = [wrong | {"kind": code("H", label)}, by_name | {"id": 8}]
    assert states(records, "honey_states_shares_of_origin") == [State.FAIL, State.FAIL]


@each_row("label", ["Honey mustard", "Senf mit Honig", "Honigmelone", "Pain au miel", "Cereals honey"])
def test_honey_in_something_else_never_fails(label: str) -> None:
    """A word of honey in the name of something else is no honey, or nobody knows."""
    assert State.FAIL not in states(
        [honey(40, 60) | {"kind": code("H", label)}], "honey_states_shares_of_origin"
    )


def test_days_move_the_laws_alone() -> None:
    """Audits before, between and after the days of a law differ by the laws alone, and what is to come is a warning."""
    records = [one | {"id": n} for n, (one, _) in enumerate(CASES.values())]
    checks: dict[str, Any] = {"valid_gtin": {}, **{rule: {} for rule in OURS}}
    profile = prodex.Profile.read({"checks": checks, "attributes": {"others": OWN, **DECLARED}})
    days = ("2024-12-12", "2026-07-01", "2028-08-12")
    audits = [prodex.audit(prodex.flatten(records), profile, now=NOW, as_of=day) for day in days]
    assert audits[0].matrix.equals(audits[1].matrix)
    assert audits[1].matrix.equals(audits[2].matrix)
    seen = [one.by_check.set_index("check")["severity"] for one in audits]
    assert [each["non_food_names_manufacturer"] for each in seen] == ["warning", "error", "error"]
    assert [each["packaging_materials_are_given"] for each in seen] == ["warning", "warning", "error"]
    problem = audits[1].failures(rule="packaging_materials_are_given")["problem"].iloc[0]
    assert problem.endswith("(from 12 August 2028 on)")
    assert len({one["valid_gtin"] for one in seen}) == 1


def test_a_path_that_no_product_has_is_refused() -> None:
    """A misspelled path would fail every product, so the audit names it before, in profiles of prodex as well."""
    profile = prodex.Profile.read("online-listing").with_attributes(manufacturer="contctInformationList")
    with pytest.raises(prodex.errors.InputError, match="no attribute 'contctInformationList'"):
        prodex.audit(prodex.flatten([product(contactInformationList=[{"name": "Acme"}])]), profile)


def test_nobody_fails_twice_for_one_picture() -> None:
    """No profile that comes along asks for a picture twice."""
    for name in prodex.profiles()["profile"]:
        asked = {check.rule.id for check in prodex.Profile.read(name).checks}
        assert not {"has_picture", "non_food_has_picture"} <= asked


def test_every_law_is_cited_dated_and_has_a_rule() -> None:
    """Each law says where its text is and when it was checked; each rule its article and what it cannot see."""
    laws = {all_rules()[rule].law for rule in OF_LAWS}
    declared = [
        one for module in (core_laws, food_laws) for one in vars(module).values() if isinstance(one, Law)
    ]
    assert laws == set(declared)
    assert all(law.source.startswith("https://") and law.checked >= date(2026, 11, 1) for law in laws)
    assert all(all_rules()[rule].article and all_rules()[rule].cannot_see for rule in OURS)
