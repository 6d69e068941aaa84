"""Accepted is what was judged: product, place, value and what was compared; over all rules and all conditions."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import OtherLayout
from prodex.gtin import check_digit
from prodex.quality import Audit
from prodex.quality.accepted import digests_of
from prodex.quality.audit_part import AuditPart
from prodex.quality.rulebook import all_rules
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from tests.quality.four_states import Record
from tests.quality.test_required_checks import picture, required, text
from tests.quality.test_rules import CASES

GTIN, OTHER = "04006381333931", "04006381333948"

#: Rules whose finding is about the GTIN itself, or about others that have it.
OF_GTIN = {rule for rule in CASES if CASES[rule].fails.get("gtin") or "gtin" in all_rules()[rule].needs}


def looks_at_others(rule: str) -> bool:
    """Whether a rule judges a product by other products."""
    return bool(all_rules()[rule].needs_all_parts or CASES[rule].others)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file for what is accepted."""
    return tmp_path / "accepted.jsonl"


def judged(rule: str, record: Record, accepted: Path | None = None, *more: Record) -> Audit:
    """Return the audit of a product of a case, with those that pass, and others."""
    case = CASES[rule]
    records = [record, {"id": 1} | case.passes]
    records += [{"id": n} | other for n, other in enumerate((*case.others, *more), 100)]
    checks = {"checks": {rule: dict(case.parameters)}}
    return prodex.audit(prodex.flatten(records), checks, now=AS_OF, progress=False, accepted=accepted)


def accepted_of(audit: Audit, product: str) -> list[bool]:
    """Return for each finding of a product whether it is accepted."""
    found = audit.failures(product_id=product)
    assert len(found)
    return found["accepted"].notna().tolist()


def numbered(number: int) -> str:
    """Return a GTIN of its own for each number."""
    digits = f"0400638{number:06d}"
    return f"{digits}{check_digit(digits)}"


@pytest.mark.slow
def test_a_product_is_its_gtin(file: Path) -> None:
    """The same product under a new id keeps all of it, and another product under the old id has none of it."""
    rules = [rule for rule in sorted(set(CASES) - OF_GTIN) if not looks_at_others(rule)]
    checks = {"checks": {rule: dict(CASES[rule].parameters) for rule in rules}}

    def found(
        first: int, gtins: list[str | None], accepted: Path | None = None
    ) -> tuple[Audit, pd.DataFrame]:
        """Return the audit of a product of each rule, and its findings of that rule."""
        records = [
            {"id": n} | ({} if gtin is None else {"gtin": gtin}) | CASES[rule].fails
            for n, (rule, gtin) in enumerate(zip(rules, gtins, strict=True), first)
        ]
        audit = prodex.audit(prodex.flatten(records), checks, now=AS_OF, progress=False, accepted=accepted)
        ids = {f"{first + rules.index(check.rule.id)}": check.id for check in audit.checks}
        failures = audit.failures()
        return audit, failures[failures["product_id"].map(ids) == failures["check"]]

    def are_accepted(first: int, gtins: list[str | None]) -> dict[str, set[bool]]:
        _, failures = found(first, gtins, file)
        states = failures["accepted"].notna().groupby(failures["product_id"]).agg(set)
        return {rules[int(product) - first]: state for product, state in states.items()}

    gtins = [numbered(n) for n in range(len(rules))]
    prodex.accept(*found(1_000, [*gtins]), reason="looked at", to=file)

    assert are_accepted(5_000, [gtin.lstrip("0") for gtin in gtins]) == {rule: {True} for rule in rules}
    others = [numbered(500 + n) for n in range(len(rules))]
    assert are_accepted(1_000, [*others]) == {rule: {False} for rule in rules}
    assert are_accepted(1_000, [None] * len(rules)) == {rule: {False} for rule in rules}


@pytest.mark.slow
@pytest.mark.parametrize("rule", [rule for rule in sorted(set(CASES) - OF_GTIN) if looks_at_others(rule)])
def test_a_product_among_others_is_its_gtin(rule: str, file: Path) -> None:
    """The same for what is judged together with other products."""
    fails = CASES[rule].fails
    audit = judged(rule, {"id": 2, "gtin": GTIN} | fails)
    prodex.accept(audit, audit.failures(product_id="2"), reason="looked at", to=file)

    assert {True} == set(accepted_of(judged(rule, {"id": 77, "gtin": GTIN.lstrip("0")} | fails, file), "77"))
    assert {False} == set(accepted_of(judged(rule, {"id": 2, "gtin": OTHER} | fails, file), "2"))
    assert {False} == set(accepted_of(judged(rule, {"id": 2} | fails, file), "2"))


def test_of_two_products_with_one_gtin_the_other_is_not_accepted(file: Path) -> None:
    """Nobody has looked at it; also where a selection shows it alone, and where both have new ids."""
    record = {"gtin": GTIN, "namePublicLong": text("TBD")}
    profile = {"checks": {"texts_without_placeholders": {}}}
    first = prodex.audit(prodex.flatten([{"id": 2} | record]), profile, progress=False)
    prodex.accept(first, reason="looked at", to=file)

    def accepted(*ids: int, only: int = 0) -> list[str]:
        catalog = prodex.flatten([{"id": one} | record for one in ids])
        chosen = catalog.where(product_id=str(only)) if only else catalog
        audit = prodex.audit(chosen, profile, progress=False, accepted=file)
        return audit.failures(accepted=True)["product_id"].tolist()

    assert [["2"], ["2"], [], [], ["7"]] == [
        accepted(2, 3),
        accepted(2, 3, only=2),
        accepted(2, 3, only=3),
        accepted(7, 8),
        accepted(7),
    ]


def test_what_is_withdrawn_of_one_stays_accepted_of_another(file: Path) -> None:
    """Two products have one GTIN; when one of them is gone, the line about the other counts."""
    record = {"gtin": GTIN, "namePublicLong": text("TBD")}
    profile = {"checks": {"texts_without_placeholders": {}}}
    both = prodex.audit(prodex.flatten([{"id": n} | record for n in (2, 3)]), profile, progress=False)
    both = prodex.accept(both, reason="looked at", to=file)
    prodex.withdraw(both, both.failures(product_id="3"), to=file)

    alone = prodex.audit(prodex.flatten([{"id": 2} | record]), profile, progress=False, accepted=file)

    assert [True] == accepted_of(alone, "2")


def test_under_a_new_id_it_can_be_withdrawn_and_a_baseline_adds_nothing(file: Path) -> None:
    """The line of the old id is found: it is accepted already, and a further line takes it back."""
    record = {"gtin": GTIN, "namePublicLong": text("TBD")}
    profile = {"checks": {"texts_without_placeholders": {}}}
    first = prodex.audit(prodex.flatten([{"id": 2} | record]), profile, progress=False)
    prodex.accept(first, reason="looked at", to=file)
    moved = prodex.audit(prodex.flatten([{"id": 9} | record]), profile, progress=False, accepted=file)

    again = prodex.accept(moved, reason="baseline")
    assert 1 == file.read_text().count("\n")
    taken_back = prodex.withdraw(again, reason="after all")

    assert (1, 0) == (again.summary["accepted"], taken_back.summary["accepted"])


@pytest.mark.slow
def test_no_word_of_a_reason_counts() -> None:
    """Every reason is another sentence, without its numbers and quotes: all findings of all rules are the same."""
    cases = [(rule, case) for rule, case in CASES.items() if not looks_at_others(rule)]
    checks = {"checks": {rule: dict(case.parameters) for rule, case in cases}}
    records = [{"id": number} | case.fails for number, (_, case) in enumerate(cases, 1)]
    together = prodex.audit(prodex.flatten(records), checks, now=AS_OF, progress=False)
    among_others = [judged(rule, {"id": 2} | CASES[rule].fails) for rule in CASES if looks_at_others(rule)]

    audits = [together, *among_others]
    assert {rule for audit in audits for rule in audit.failures()["rule"]} == set(CASES)
    for audit in audits:
        (part,) = audit.parts
        findings = part.findings
        words = pa.array(['another sentence, of 7 and "eight"'] * len(findings), pa.string())
        reworded = findings.set_column(findings.schema.get_field_index("reason_id"), "reason_id", words)
        every = np.arange(len(findings))
        assert digests_of(findings, every, audit.checks) == digests_of(reworded, every, audit.checks)


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every leaf of a record with its path."""
    if isinstance(value, dict | list):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(one, (*path, key))
    else:
        yield path, value


def _with(record: Record, path: tuple[Any, ...], value: Any) -> Record:
    made = copy.deepcopy(record)
    place: Any = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return made


def _others(value: Any) -> list[Any]:
    """Return other values than one: near and far, of its own type."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [
            one for one in (value * 1.01 + 0.001, value + 1, value * 2, value * 1000, -3, 0) if one != value
        ]
    if isinstance(value, str):
        made = (f"{value} x", value[:-1], f"x {value}", f"{value}9", "zzz", value.upper())
        return [one for one in made if one.strip().casefold() != value.strip().casefold()]
    return []


#: What decides, and is another finding in one respect only: of the renditions of a picture the largest is compared.
_NOT_ALL = {"packshot_has_rendition": ("width", "height")}


def _changes(rule: str) -> list[tuple[tuple[Any, ...], Any]]:
    """Return each leaf of the product that fails, with each other value."""
    leaves = [
        (path, value) for path, value in _leaves(CASES[rule].fails) if path[-1] not in _NOT_ALL.get(rule, ())
    ]
    return [(path, other) for path, value in leaves for other in _others(value)]


def _changed(rule: str) -> list[Record]:
    """Return the product that fails, and all that differ from it in one leaf."""
    fails = CASES[rule].fails
    return [fails, *(_with(fails, *one) for one in _changes(rule))]


@pytest.fixture(scope="module")
def together() -> dict[str, list[tuple[int, list[str]]]]:
    """Return what is found of all these products, by the rules that look at no others: in one audit."""
    rules = [rule for rule in CASES if not looks_at_others(rule)]
    records = [(rule, one) for rule in rules for one in _changed(rule)]
    catalog = prodex.flatten({"id": 1_000 + n} | one for n, (_, one) in enumerate(records))
    checks = {"checks": {rule: dict(CASES[rule].parameters) for rule in rules}}
    audit = prodex.audit(catalog, checks, now=AS_OF, progress=False)
    (part,) = audit.parts
    columns = {check.rule.id: column for column, check in enumerate(audit.checks)}
    own = np.array([columns[rule] for rule, _ in records])
    product, check = (part.findings[name].to_numpy() for name in ("product", "check"))
    places = np.flatnonzero(check == own[product])
    digests: list[list[str]] = [[] for _ in records]
    for place, digest in zip(places, digests_of(part.findings, places, audit.checks), strict=True):
        digests[product[place]].append(digest)
    found: dict[str, list[tuple[int, list[str]]]] = {rule: [] for rule in rules}
    for number, (rule, _) in enumerate(records):
        found[rule].append((int(audit.states[number, own[number]]), sorted(digests[number])))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rule", CASES)
def test_every_value_that_decides_is_part_of_it(
    rule: str, together: dict[str, list[tuple[int, list[str]]]]
) -> None:
    """A leaf that can make the product pass was compared: with another value that fails, it is another finding."""
    changes = _changes(rule)
    (state, before), *after = together.get(rule) or [_state_and_digests(rule, one) for one in _changed(rule)]
    assert (State.FAIL, True) == (state, bool(before))
    passes = {path for (path, _), (state, _) in zip(changes, after, strict=True) if state == State.PASS}
    hidden = [
        (path, other)
        for (path, other), found in zip(changes, after, strict=True)
        # What is missing is the same, whichever blank stands there.
        if found == (State.FAIL, before) and path in passes and str(other).strip()
    ]
    assert [] == hidden


def _state_and_digests(rule: str, record: Record) -> tuple[int, list[str]]:
    """Return the state of a product among others, and what its findings are known by."""
    audit = judged(rule, {"id": 1_000} | record)
    (part,) = audit.parts
    own = np.flatnonzero(part.findings["product"].to_numpy() == 0)
    return int(audit.states[0, 0]), sorted(digests_of(part.findings, own, audit.checks))


NAME = {"attribute": "namePublicLong", "language": "fr"}

#: A value of each kind, as a record and the attribute that is asked for.
_SUBJECTS: dict[str, tuple[dict[str, Any], Any]] = {
    "text": (NAME, lambda value: {"namePublicLong": text(value)}),
    "code": ({"attribute": "ownSort"}, lambda value: {"ownSort": {"code": value, "label": "Sort"}}),
    "scalar": ({"attribute": "ownField"}, lambda value: {"ownField": value}),
}

CODES = st.sampled_from(["BAG", "CAN", "JAR", "bag", "TIN BOX"])


@st.composite
def _conditions(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a condition on a value."""
    match draw(st.sampled_from(["one of", "pattern", "shortest", "longest"])):
        case "one of":
            return {"one_of": draw(st.lists(CODES, min_size=1, max_size=3, unique=True))}
        case "pattern":
            return {"pattern": draw(st.sampled_from(["[A-Z]+", "[0-9]+", "BAG|CAN", "BAG|JAR"]))}
        case "shortest":
            return {"shortest": draw(st.integers(4, 6))}
        case _:
            return {"longest": draw(st.integers(1, 3))}


def _meaning(condition: dict[str, Any]) -> object:
    """Return what a condition means: neither order nor case of codes matters."""
    codes = condition.get("one_of")
    return condition if codes is None else {one.lower() for one in codes}


@pytest.mark.slow
@given(
    kind=st.sampled_from(sorted(_SUBJECTS)),
    values=st.tuples(CODES, CODES),
    conditions=st.tuples(_conditions(), _conditions()),
    gtins=st.tuples(st.sampled_from([GTIN, OTHER]), st.sampled_from([GTIN, OTHER])),
    keep=st.tuples(st.booleans(), st.booleans()),
)
def test_a_condition_is_part_of_what_was_judged(
    kind: str,
    values: tuple[str, str],
    conditions: tuple[dict[str, Any], dict[str, Any]],
    gtins: tuple[str, str],
    keep: tuple[bool, bool],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Accepted stays what has the same GTIN, value and condition, under any id; everything else comes back."""
    asked, record = _SUBJECTS[kind]
    file = tmp_path_factory.mktemp("conditions") / "accepted.jsonl"
    file.touch()
    before, after = conditions if not keep[0] else (conditions[0], conditions[0])
    one, other = values if not keep[1] else (values[0], values[0])

    def audit(product: int, gtin: str, value: str, condition: dict[str, Any]) -> Audit:
        catalog = prodex.flatten([{"id": product, "gtin": gtin} | record(value)])
        return prodex.audit(catalog, required(asked | condition), progress=False, accepted=file)

    prodex.accept(audit(7, gtins[0], one, before), reason="looked at")
    was_accepted = file.read_text().count("\n")
    later = audit(8, gtins[1], other, after)

    same = gtins[0] == gtins[1] and one == other and _meaning(before) == _meaning(after)
    found = later.failures()["accepted"].notna().tolist()
    assert [same and bool(was_accepted)] * len(found) == found


def test_a_requirement_that_names_another_code_brings_it_back(file: Path) -> None:
    """Accepted was "none of BAG, CAN": nobody has looked at whether it should be a JAR."""
    catalog = prodex.flatten([{"id": 7, "gtin": GTIN, "kind": {"code": "BOX"}}])

    def accepted(*codes: str) -> int:
        wanted = required({"attribute": "kind", "one_of": list(codes)})
        audit = prodex.audit(catalog, wanted, progress=False, accepted=file if file.exists() else None)
        if not file.exists():
            audit = prodex.accept(audit, reason="sold in boxes", to=file)
        return int(audit.summary["accepted"])

    assert [1, 0, 0, 1] == [accepted("BAG", "CAN"), accepted("JAR"), accepted("BAG"), accepted("can", "BAG")]


def quantity(amount: float, unit: str) -> list[dict[str, Any]]:
    """Return a quantity as the service sends it."""
    return [{"data": amount, "expressedIn": {"code": unit}}]


PIXELS = {"attribute": "assets.pictures[front]", "pixels": 800}


@pytest.mark.parametrize(
    ("before", "after", "stays"),
    [
        ((PIXELS, picture((500, 500))), (PIXELS, picture((500, 500))), True),
        ((PIXELS, picture((500, 500))), (PIXELS | {"pixels": 900}, picture((500, 500))), False),
        ((PIXELS, picture((500, 500))), (PIXELS, picture((500, 501))), False),
        (
            (PIXELS, picture((500, 500))),
            (
                PIXELS,
                {
                    "assets": {
                        "pictures": [
                            {"url": "https://x.invalid/new", "productFace": "1", "width": 500, "height": 500}
                        ]
                    }
                },
            ),
            False,
        ),
        (
            ({"attribute": "kind", "one_of": ["BAG"]}, {"kind": None}),
            ({"attribute": "kind", "one_of": ["JAR"]}, {"kind": {"code": ""}}),
            True,
        ),
        (
            ({"attribute": "kind", "level": "not"}, {"kind": {"code": "BOX"}}),
            ({"attribute": "kind", "level": "not"}, {"kind": {"code": "BAG"}}),
            False,
        ),
        (
            ({"attribute": "kind", "level": "not"}, {"kind": {"code": "BOX"}}),
            ({"attribute": "kind", "level": "not"}, {"kind": {"code": "BOX"}, "remark": "x"}),
            True,
        ),
        (
            ({"attribute": "netContent", "level": "not"}, {"netContent": quantity(500, "GRM")}),
            ({"attribute": "netContent", "level": "not"}, {"netContent": quantity(500, "GRM")}),
            True,
        ),
        (
            ({"attribute": "netContent", "level": "not"}, {"netContent": quantity(500, "GRM")}),
            ({"attribute": "netContent", "level": "not"}, {"netContent": quantity(500, "KGM")}),
            False,
        ),
        (
            ({"attribute": "ownField", "level": "not"}, {"ownField": {"note": text("Riz")}}),
            ({"attribute": "ownField", "level": "not"}, {"ownField": {"note": text("Riz", "nld-NL")}}),
            False,
        ),
        (
            (
                {"attribute": "isPartitionedBy", "level": "not"},
                {"isPartitionedBy": [{"name": "100 g", "ownField": {"a": "x"}}]},
            ),
            (
                {"attribute": "isPartitionedBy", "level": "not"},
                {"isPartitionedBy": [{"name": "100 g", "ownField": {"a": "y"}}]},
            ),
            False,
        ),
    ],
)
def test_other_conditions_and_levels(
    before: tuple[dict[str, Any], Record], after: tuple[dict[str, Any], Record], stays: bool, file: Path
) -> None:
    """Pixels and the picture; what must not be there; and what is missing, which is missing whatever it should be."""

    def audit(asked: dict[str, Any], record: Record) -> Audit:
        catalog = prodex.flatten([{"id": 7, "gtin": GTIN} | record])
        known = file if file.exists() else None
        return prodex.audit(catalog, required(asked), progress=False, accepted=known)

    prodex.accept(audit(*before), reason="looked at", to=file)

    assert [stays] == accepted_of(audit(*after), "7")


def test_a_parameter_makes_another_check(file: Path) -> None:
    """However near it is: two checks that differ in a parameter never have one name."""
    catalog = prodex.flatten([{"id": 7, "namePublicLong": text("Riz")}])

    def check(rule: str, **parameters: Any) -> str:
        return prodex.audit(catalog, {"checks": {rule: parameters}}, progress=False).checks[0].id

    near = [check("nutrient_within_hundred", limit=one) for one in (105.0000001, 105.0000002, 104.0)]
    assert 3 == len(set(near))
    assert check("picture_format_for_web", formats=["a|b"]) != check(
        "picture_format_for_web", formats=["a", "b"]
    )


def test_a_file_of_before_is_refused_in_words(file: Path) -> None:
    """Its digests rest on the words of reasons; it is not read as if nobody had accepted anything."""
    catalog = prodex.flatten([{"id": 2, "gtin": "03036811359936"}])
    profile = {"checks": {"valid_gtin": {}}}
    new = prodex.accept(prodex.audit(catalog, profile, progress=False), reason="printed so", to=file)
    (line,) = file.read_text().splitlines()
    (digest,) = {one.digest for one in new.accepted_findings.lines} if new.accepted_findings else ()
    old = line.replace(digest, digest.partition("-")[2])
    file.write_text(f"{old}\n")

    for call in (
        lambda: prodex.audit(catalog, profile, progress=False, accepted=file),
        lambda: prodex.accept(new, reason="again"),
        lambda: prodex.accepted(file),
    ):
        with pytest.raises(OtherLayout, match=r"earlier version|no layout number"):
            call()
    assert file.read_text() == f"{old}\n"
    # Among lines of today, as git merges them, too: nobody knows what it accepts.
    file.write_text(f"{line}\n{old}\n")
    with pytest.raises(OtherLayout, match="Line 2 is the first"):
        prodex.accepted(file)


def test_what_a_rule_of_ones_own_compares_with_is_what_it_declares(file: Path) -> None:
    """Its value and `compared` count; its reason may say what it likes."""

    def audit(net: int, gross: int, words: str) -> Audit:
        @prodex.packs.rule(title="own weights fit", needs=("netWeight", "grossWeight"), replace=True)
        def own_weights_fit(products: Any) -> prodex.packs.Verdict:
            evidence = prodex.packs.Evidence([0], "netWeight", None, str(net), words, str(gross))
            return prodex.packs.Verdict([True], evidence=evidence)

        known = file if file.exists() else None
        catalog = prodex.flatten([{"id": 7, "gtin": GTIN}])
        try:
            return prodex.audit(catalog, {"checks": {"own_weights_fit": {}}}, progress=False, accepted=known)
        finally:
            all_rules().pop("own_weights_fit")

    prodex.accept(audit(5, 4, "more than 4"), reason="wet goods", to=file)

    found = [accepted_of(audit(*one), "7") for one in ((5, 4, "above 3"), (5, 3, "more than 4"), (6, 4, "x"))]
    assert [[True], [False], [False]] == found


def test_reasons_of_saved_audits_do_not_count_either() -> None:
    """An audit that was saved, and one that is made now with other words, have the same findings."""
    catalog = prodex.flatten([{"id": 2, "gtin": "03036811359936"}]).save("shop")
    profile = {"checks": {"valid_gtin": {}}}
    saved = prodex.audit(catalog, profile, progress=False).save()
    reworded = replace(
        saved,
        parts=tuple(
            AuditPart.of(
                part.products,
                part.states,
                part.findings.set_column(5, "reason_id", pa.array(["other words"], pa.string())),
            )
            for part in saved.parts
        ),
    )

    prodex.accept(reworded, reason="printed so")

    assert 1 == prodex.open_audit("shop").summary["accepted"]
    assert pd.notna(prodex.open_audit("shop").failures()["accepted"]).all()
