"""What is there and cannot be read is unknown: it is neither data nor missing, and nobody is asked for it again."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.exploration.filled import FilledColumns
from prodex.facts.attribute_states import fill_states
from prodex.tables.fill_state import STATES
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality.containers import at, containers, declared, ways, wire_path, with_value
from tests.quality.four_states import named
from tests.quality.test_rules import CASES

NOW = datetime.fromisoformat("2026-11-01T06:00:00")
PASS, FAIL, NOT_APPLICABLE, UNKNOWN = range(4)


def state(rule: str, record: dict[str, Any], **parameters: Any) -> int:
    """Return the state of one product under one rule."""
    catalog = prodex.flatten([{"id": 7, "isConsumerUnit": True, **record}])
    found = prodex.audit(catalog, {"checks": {rule: parameters}}, now=NOW)
    return int(found.matrix.iloc[0, 0])


def amounts(attribute: str, *pairs: tuple[Any, str]) -> dict[str, Any]:
    """Return a record with amounts of one attribute."""
    return {attribute: [{"data": data, "expressedIn": {"code": code}} for data, code in pairs]}


@each_row(
    ("pairs", "expected"),
    [
        ([("500.0000", "GRM")], PASS),
        ([("0", "GRM")], FAIL),
        ([("about 500", "GRM")], UNKNOWN),
        ([("about 500", "GRM"), (500, "GRM")], PASS),  # one that is above zero is enough
        ([("about 500", "GRM"), (0, "GRM")], UNKNOWN),
        ([(True, "GRM")], UNKNOWN),
        ([("", "GRM")], FAIL),
        ([(None, "GRM")], FAIL),
        ([], FAIL),
    ],
)
@each_row(("rule", "attribute"), [("measure_told", "grossWeight"), ("has_net_content", "netContent")])
def test_an_amount_counts_if_it_can_be_read(
    rule: str, attribute: str, pairs: list[tuple[Any, str]], expected: int
) -> None:
    """An amount as text is an amount; one that is no number is unknown, and an empty one is missing."""
    assert expected == state(rule, amounts(attribute, *pairs), attribute=attribute)


def test_weights_are_compared_if_both_can_be_read() -> None:
    """The net weight is under the gross weight, over it, or nobody knows."""
    net = [amounts("netWeight", (data, "GRM")) for data in ("400.0", "600,0", "ca. 400")]
    states = [state("net_not_over_gross", one | amounts("grossWeight", ("0.5", "KGM"))) for one in net]
    assert [PASS, FAIL, UNKNOWN] == states


@each_row(
    ("written", "expected"),
    [
        ("2026-10-01T06:00:00Z", PASS),
        ("2026-10-01T06:00:00.123", PASS),
        ("2026-10-01T06:00:00+01:00", PASS),
        ("2020-10-01T06:00:00+01:00", FAIL),
        ("2026-10-01", UNKNOWN),
        ("yesterday", UNKNOWN),
        (1_790_812_800, UNKNOWN),
        ({"date": "2026-10-01 06:00:00.000000", "timezone_type": 3, "timezone": "Europe/Paris"}, UNKNOWN),
        ("", FAIL),
        (None, FAIL),
    ],
)
def test_a_time_of_update_is_read_or_unknown(written: Any, expected: int) -> None:
    """A time with zone or fraction is a time, and one that cannot be read is not missing."""
    assert expected == state("updated_within", {"updatedAt": written})


@each_row(
    ("rule", "record"),
    [
        ("updated_in_the_past", {"updatedAt": "tomorrow"}),
        ("created_before_updated", {"createdAt": "2026-10-01", "updatedAt": "2026-10-01T06:00:00"}),
        ("is_still_available", {"endAvailabilityDateTime": "until stocks last"}),
        (
            "labels_in_force",
            {"isLabeledBy": [{"endDate": "31.12.2026", "isConceptualizedBy": {"code": "BIO"}}]},
        ),
        (
            "documents_in_force",
            {"assets": {"documents": [{"fileName": "a", "fileEffectiveEndDateTime": "2026-10-01"}]}},
        ),
        ("says_whether_consumer_unit", {"isConsumerUnit": "yes"}),
        ("has_kind", {"kind": {"code": ["A", "B"]}}),
    ],
)
def test_what_is_not_readable_is_not_applicable_to_nothing(rule: str, record: dict[str, Any]) -> None:
    """Dates, flags and codes that fit no column leave the check unknown: neither missing nor no question."""
    assert UNKNOWN == state(rule, record)


def test_one_expired_certificate_is_enough() -> None:
    """A date that cannot be read does not hide another that has passed."""
    details = [{"certificationEffectiveEndDate": end} for end in ("soon", "2026-01-01")]
    record = {"certificationInformationList": [{"certificationDetailsList": details}]}
    assert FAIL == state("certificates_in_force", record)
    record["certificationInformationList"][0]["certificationDetailsList"] = details[:1]
    assert UNKNOWN == state("certificates_in_force", record)


@each_row(
    ("data", "code", "expected"),
    [(1664, "fra-FR", UNKNOWN), (1664, "deu-DE", FAIL), (True, "fr", UNKNOWN), ("1664", "fra-FR", PASS)],
)
def test_a_name_that_is_a_number_is_not_missing(data: Any, code: str, expected: int) -> None:
    """A number under French is not known to be a name, nor is a French name missing; under German it says nothing."""
    record = amounts("namePublicLong", (data, code))
    assert expected == state("required_text", record, attribute="namePublicLong", language="fr")


def test_nobody_is_asked_for_the_french_of_an_amount() -> None:
    """The amount of the issue: no text in the language GRM, no gap, and nothing in the worklist about it."""
    record = {
        "id": 7,
        "updatedAt": "2026-10-01T06:00:00Z",
        **named("Riz"),
        **amounts("netContent", ("500.0000", "GRM")),
    }
    catalog = prodex.flatten([record])
    audit = prodex.audit(catalog, "online-listing", now=NOW)
    failures = audit.failures()

    assert ["fr"] == catalog.texts["language"].tolist()
    assert [] == failures[failures["attribute"].isin(["netContent", "updatedAt"])].values.tolist()


def test_a_nutrient_that_is_less_than_something_stays_readable() -> None:
    """The rules of nutrition read "<0.5" themselves, so that it leaves nothing unknown; "traces" does."""

    def record(salt: str) -> dict[str, Any]:
        nutrient = {
            "isConceptualizedBy": {"code": "SALTEQ"},
            "quantity": salt,
            "expressedIn": {"code": "GRM"},
        }
        partition = {
            "name": "100 g",
            "quantity": 100,
            "isMeasuredBy": {"code": "GRM"},
            "contains": [nutrient],
        }
        return {"isPartitionedBy": [partition]}

    states = [state("nutrition_complete", record(salt)) for salt in ("0.4", "<0.5", "traces")]
    assert [FAIL, FAIL, UNKNOWN] == states


def test_an_unreadable_value_of_one_product_concerns_that_product_alone() -> None:
    """Beside it, a product without the value still fails, and one with it still passes."""
    records = [{"id": n, "updatedAt": value} for n, value in enumerate(["soon", None, "2026-10-01T06:00:00"])]
    found = prodex.audit(prodex.flatten(records), {"checks": {"updated_within": {}}}, now=NOW)

    assert [UNKNOWN, FAIL, PASS] == found.matrix.iloc[:, 0].tolist()
    assert 1 == len(found.failures())


def test_a_pending_value_that_cannot_be_read_says_nothing_of_the_product() -> None:
    """What waits under lastRequest is not the product's own."""
    record = {"lastRequest": amounts("grossWeight", ("about 500", "GRM"))}
    assert FAIL == state("measure_told", record, attribute="grossWeight")


#: Rules that judge a product by itself.
ALONE = sorted(rule for rule, case in CASES.items() if not case.others)


def wrapped(record: dict[str, Any], below: str = "") -> st.SearchStrategy[tuple[str, str, dict[str, Any]]]:
    """Draw a wire path of a record that is around another one, a container, and the record with the value in it."""
    places = [
        way
        for way in ways(record)
        if at(record, way) not in (None, "", [], {})
        and f"{below}.".startswith(f"{wire_path(way)}." if below else "")
    ]
    return st.sampled_from(places).flatmap(
        lambda way: st.sampled_from(list(containers(at(record, way)))).map(
            lambda one: (wire_path(way), one[0], with_value(record, way, one[1]))
        )
    )


@pytest.mark.slow
@given(st.data())
def test_no_rule_calls_missing_what_is_in_another_container(data: st.DataObject) -> None:
    """What passes is in any container read, found wrong with evidence, or unknown: never missing, never no question."""
    rule = data.draw(st.sampled_from(ALONE))
    case = CASES[rule]
    path, container, record = data.draw(wrapped(case.passes))
    catalog = prodex.flatten([{"id": 7, **record}])
    audit = prodex.audit(catalog, {"checks": {rule: dict(case.parameters)}}, now=AS_OF, progress=False)

    assert () == audit.crashes
    found = int(audit.states[0, 0])
    assert found in {PASS, UNKNOWN} or (found == FAIL and audit.failures()["value"].notna().all()), (
        path,
        container,
    )


@pytest.mark.slow
@given(st.data())
def test_no_declared_path_is_missing_in_another_container(data: st.DataObject) -> None:
    """Coverage, the explorer and requirements agree: it is filled, or nobody knows it."""
    path, record = data.draw(st.sampled_from(sorted(declared().items(), key=lambda one: one[0])))
    outer, container, odd = data.draw(wrapped(record, path))
    # A text in place of a tag is a tag, which has no time.
    if container == "text" and outer in {"hasTags", "isTaggedBy"}:
        return
    key = {"id": 7, "gtin": "03036811359935"}
    catalog = prodex.flatten([{**key, **odd}, {"id": 8, **record}])
    state = STATES[fill_states(catalog, path)[0]]
    frame = pd.DataFrame([["Shop", "*", path, "must"]], columns=["channel", "family", "attribute", "level"])
    required = prodex.audit(catalog, prodex.Requirements.of(frame), progress=False).states[:, 0].tolist()

    assert ("filled", PASS) == (STATES[fill_states(catalog, path)[1]], required[1])
    assert state in {"filled", "unreadable"}, (outer, container)
    assert (state == "filled") == (required[0] == PASS), (outer, container)
    assert (state == "unreadable") == (required[0] == UNKNOWN), (outer, container)
    assert not FilledColumns.of(catalog, [path]).lacking(path)[0], (outer, container)


def test_bare_codes_and_texts_are_there_and_unknown() -> None:
    """The values of the issue: each is a line among the problems, unknown to rules, and nobody is asked for it."""
    nutrient = {"isConceptualizedBy": "FAT", "quantity": {"data": 0.1}, "expressedIn": {"code": "GRM"}}
    other = {"isConceptualizedBy": {"code": "SALTEQ"}, "quantity": [0.1], "expressedIn": {"code": "GRM"}}
    partition = {"name": "100 g", "quantity": 100, "isMeasuredBy": "GRM", "contains": [nutrient, other]}
    record = {
        "id": 7,
        "isConsumerUnit": True,
        **dict.fromkeys(("brand", "kind", "GPC", "typePackaging"), "X"),
        "namePublicLong": {"fr": "Riz"},
        "nameLegal": "Riz long",
        "isPartitionedBy": [partition],
    }
    catalog = prodex.flatten([record, {"id": 8, "isConsumerUnit": True}])
    checks: dict[str, Any] = {"has_brand": {}, "has_kind": {}, "has_gpc_brick": {}, "has_packaging_type": {}}
    checks["required_text"] = {"attribute": ["namePublicLong", "nameLegal"], "language": "fr"}
    audit = prodex.audit(catalog, {"checks": checks}, now=NOW)

    assert {
        *(
            "brand",
            "kind",
            "GPC",
            "typePackaging",
            "namePublicLong",
            "nameLegal",
            "isPartitionedBy.isMeasuredBy",
        ),
        *("isPartitionedBy.contains.isConceptualizedBy", "isPartitionedBy.contains.quantity"),
    } == set(catalog.problems["what"])
    assert {UNKNOWN} == set(audit.states[0].tolist())
    assert {FAIL} == set(audit.states[1].tolist())
    assert ["8"] == audit.failures()["product_id"].unique().tolist()


def test_what_leaves_no_doubt_is_read() -> None:
    """Pictures with numbers as keys, and flags and brands in lists of one, are what they are and no problem."""
    picture = {"url": "https://a.example/a.jpg", "isPackshot": [True], "productFace": ["1"]}
    record = {
        "id": 7,
        "isConsumerUnit": [True],
        "assets": {"pictures": {"1": picture}},
        "brand": [{"code": "ACME"}],
    }
    catalog = prodex.flatten([record])
    audit = prodex.audit(catalog, {"checks": {"has_front_packshot": {}, "has_brand": {}}}, now=NOW)

    assert [[PASS, PASS]] == audit.states.tolist()
    assert catalog.problems.empty


def test_further_keys_beside_what_is_declared_leave_no_doubt() -> None:
    """An object with anything that is declared for it is read; what its other keys mean is no question."""
    record = {
        "id": 7,
        "brand": {"code": "ACME", "since": "1990"},
        "assets": {"pictures": [{"url": "https://a.example/a.jpg", "studio": {"light": 3}}]},
        "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Riz", "rank": 1}],
        "netContent": [{"data": 500, "expressedIn": {"code": "GRM"}, "rank": 1}],
        "nameLegal": {"expressedIn": {"code": "fra-FR"}, "data": "Riz", "tags": ["a"]},
    }
    assert prodex.flatten([record]).problems.empty


FRENCH = {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}}
GRAMS = {"expressedIn": {"code": "GRM"}}


@each_row(
    ("rule", "record", "parameters"),
    [
        *(
            ("required_text", {"namePublicLong": names}, {"attribute": "namePublicLong", "language": "fr"})
            for names in (
                [{**FRENCH, "data": {"code": "Riz"}}],
                [{**FRENCH, "value": "Riz"}],
                [{**FRENCH, "data": None, "text": "Riz"}],
                [{"expressedIn": {"code": "deu-DE"}, "data": "Reis"}, {"fr": "Riz"}],
                [{"expressedIn": {"code": "deu-DE"}, "data": "Reis"}, {**FRENCH, "value": "Riz"}],
            )
        ),
        ("has_net_content", {"netContent": [{**GRAMS, "data": {"code": 500}}]}, {}),
        ("has_net_content", {"netContent": [{**GRAMS, "value": 500}]}, {}),
        ("has_front_packshot", {"assets": {"pictures": {"url": [{"url": "a"}]}}}, {}),
        ("labels_in_force", {"isLabeledBy": {"value": [{"endDate": "2027-01-31"}]}}, {}),
        ("has_brand", {"brand": {"label": {"name": "Acme"}}}, {}),
    ],
)
def test_a_value_below_another_key_is_not_missing(
    rule: str, record: dict[str, Any], parameters: dict[str, Any]
) -> None:
    """Beside its language or unit, beside a text in another one, and below a key that is declared for a value."""
    assert UNKNOWN == state(rule, record, **parameters)


@each_row(
    "names",
    [
        [{**FRENCH, "rank": 1}],
        [{**FRENCH, "data": None, "isGenerated": False}],
        [{**FRENCH, "data": ""}, {"expressedIn": {"code": "deu-DE"}, "value": "Reis"}],
    ],
)
def test_what_is_beside_a_missing_text_does_not_hide_that_it_is_missing(names: list[Any]) -> None:
    """A rank or a flag is no text, and what says that it is German is no French text."""
    record = {"namePublicLong": names}
    assert FAIL == state("required_text", record, attribute="namePublicLong", language="fr")


def test_what_may_be_in_any_language_is_unknown_in_each_wherever_it_is() -> None:
    """A text that says no language may be German, also where another part has one that says that it is."""
    german = {"expressedIn": {"code": "deu-DE"}, "value": "Reis"}
    parts = [
        prodex.flatten([{"id": n, "namePublicLong": name}]).parts[0]
        for n, name in enumerate(["Riz", [german]])
    ]
    catalog = replace(prodex.flatten([{"id": 0}, {"id": 1}]), parts=tuple(parts))

    for language, expected in ((None, [True, True]), ("de", [True, True]), ("fr", [True, False])):
        states = [STATES[state] for state in fill_states(catalog, "namePublicLong", language)]
        assert expected == [state == "unreadable" for state in states]
        columns = FilledColumns.of(catalog, ["namePublicLong"])
        assert expected == columns.unreadable("namePublicLong", language).tolist()


def test_what_decides_whether_a_check_applies_and_cannot_be_read_leaves_it_unknown() -> None:
    """A type of packaging that is a bare code is none of CASE and PALLET, and may be either."""
    assert UNKNOWN == state("outer_unit_has_hierarchy", {"typePackaging": "CASE"})


def test_what_was_left_out_may_have_been_the_container() -> None:
    """Who leaves out what is below a key that wraps values does not know whether the value was there."""
    record = {"id": 7, "isConsumerUnit": True, "kind": {"01": {"code": "TEA"}}}
    checks = {"checks": {"has_kind": {}}}
    everything = prodex.flatten([record])
    query = prodex.ProductQuery(source_exclude=["kind.01"])
    less = prodex.flatten([{**record, "kind": {}}])
    less = replace(less, origin=replace(less.origin, query=query))

    assert [[UNKNOWN]] == prodex.audit(everything, checks, now=NOW).states.tolist()
    assert [[UNKNOWN]] == prodex.audit(less, checks, now=NOW).states.tolist()
