"""Laws begin and end on a day: what an audit says before, between and after, and what nobody has declared."""

from __future__ import annotations

import re
from datetime import date, datetime
from pathlib import Path

import pytest

import prodex
from prodex.languages import Translation
from prodex.quality.comparison import worsening
from prodex.quality.declared_fields import FIELDS
from prodex.quality.states import State
from tests.cases import each_row

_RECORDS = [
    {"id": 7, "gtin": "03036811359935"},
    {"id": 8, "gtin": "03036811359936", "GPC": {"code": "10000045"}},
]
_CHECKS = {
    "valid_gtin": {},
    "has_gpc_brick": {"severity": "blocker", "in_force": "2026-08-12", "until": "2027-03-15"},
}
_BEFORE, _FIRST, _LAST, _AFTER = "2026-08-11", "2026-08-12", "2027-03-15", "2027-03-16"


def _audit(day: str | date, records: list[dict] = _RECORDS, checks: dict = _CHECKS) -> prodex.quality.Audit:
    return prodex.audit(
        prodex.flatten(records), {"checks": checks}, now=datetime.fromisoformat("2026-11-27"), as_of=day
    )


@each_row(
    ("day", "severity", "failing"),
    [(_BEFORE, "warning", 1), (_FIRST, "blocker", 1), (_LAST, "blocker", 1), (_AFTER, "blocker", 0)],
)
def test_a_check_begins_and_ends_with_its_days(day: str, severity: str, failing: int) -> None:
    """Before its first day a check is a warning, on its first and its last day it is itself, then nobody fails it."""
    audit = _audit(day)
    row = audit.by_check.set_index("check").loc["has_gpc_brick"]
    assert (row["severity"], row["failed"]) == (severity, failing)
    assert (row["not_applicable"] == 2) == (day == _AFTER)


def test_a_warning_says_from_when_on() -> None:
    """What is announced says its first day, in the language of the reader."""
    audit = _audit(_BEFORE)

    def problem(language: str) -> str:
        (batch,) = audit.failure_batches(words=Translation(language), rule="has_gpc_brick")
        return str(batch["problem"].to_pylist()[0])

    assert problem("en").endswith("(from 12 August 2026 on)")
    assert problem("de").endswith("(ab 12. August 2026)")
    assert problem("fr").endswith("(à partir du 12 août 2026)")


def test_the_day_moves_nothing_else() -> None:
    """Audits on other days have the same findings of everything that is no law, and the same ages."""
    days = [_audit(day) for day in (_BEFORE, _FIRST, _AFTER)]
    assert len({str(one.matrix["valid_gtin"].tolist()) for one in days}) == 1
    assert {one.now for one in days} == {datetime.fromisoformat("2026-11-27")}
    assert [one.as_of for one in days] == [date(2026, 8, 11), date(2026, 8, 12), date(2027, 3, 16)]


def test_the_day_is_that_of_the_audit_unless_given() -> None:
    """An audit as of a moment of the past is made by the laws of that day."""
    audit = prodex.audit(
        prodex.flatten(_RECORDS), {"checks": _CHECKS}, now=datetime.fromisoformat("2026-08-11T23:59")
    )
    assert audit.laws()["standing"].tolist() == ["announced"]


@pytest.mark.slow
@each_row(("one", "other"), [(_BEFORE, _FIRST), (_LAST, _AFTER), (_BEFORE, _AFTER), (_AFTER, _FIRST)])
def test_a_day_of_a_law_is_no_worsening(one: str, other: str) -> None:
    """Two audits of the same products differ by their laws alone: nothing is fixed, nothing fails newly."""
    compared = prodex.diff(_audit(one), _audit(other))
    assert compared.by_check[["fixed", "newly_failing"]].to_numpy().sum() == 0
    assert not len(compared.changes("fixed", "newly failing", "not comparable"))
    assert worsening(compared).is_worse is False
    assert compared.law_changes["check"].tolist() == ["has_gpc_brick"]
    assert "by the laws of the new audit" in repr(compared)


@pytest.mark.slow
@each_row(("one", "other"), [(_BEFORE, _FIRST), (_FIRST, _BEFORE), (_LAST, _AFTER)])
def test_a_worse_product_is_a_worsening_on_such_a_day_as_well(one: str, other: str) -> None:
    """A product that became worse is found, whatever the laws did on that day."""
    worse = [_RECORDS[0], {"id": 8, "gtin": "03036811359937", "GPC": {"code": "10000045"}}]
    better = [_RECORDS[0], {"id": 8, "gtin": "03036811359935", "GPC": {"code": "10000045"}}]
    assert worsening(prodex.diff(_audit(one, better), _audit(other, worse))).is_worse is True
    assert worsening(prodex.diff(_audit(one, worse), _audit(other, better))).is_worse is False


def test_a_product_that_breaks_a_law_newly_is_worse_before_its_first_day_too() -> None:
    """A law that has not begun counts as on its first day: both audits are judged by the same one."""
    right = [{**_RECORDS[0], "GPC": {"code": "10000045"}}, _RECORDS[1]]
    found = worsening(prodex.diff(_audit(_BEFORE, right), _audit(_FIRST)))
    assert found.is_worse is True


def test_figures_of_other_laws_are_another_measure() -> None:
    """A trend does not join audits whose laws stand otherwise."""
    assert _audit(_BEFORE).trend([_audit(_FIRST)])["comparable"].tolist().count(True) == 1
    assert _audit(_FIRST).trend([_audit(_LAST)])["comparable"].all()


def test_a_saved_audit_knows_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was saved and opened again says the same of its laws."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    catalog = prodex.flatten(_RECORDS).save("shop")
    saved = prodex.audit(catalog, {"checks": _CHECKS}, as_of=_BEFORE).save()
    opened = prodex.open_audit(saved.folder)
    assert opened.as_of == date(2026, 8, 11)
    assert opened.laws().equals(saved.laws())


@each_row("given", ["12.8.2026", "2026-13-01", 20260812, datetime.fromisoformat("2026-08-12T09:00"), ""])
def test_what_is_no_day_is_refused(given: object) -> None:
    """A day is a date or a text that can be read in one way; anything else is refused with its value."""
    with pytest.raises(prodex.errors.InputError, match=f"as_of.*{re.escape(repr(given))}.* (Write|Give) "):
        _audit(given)  # type: ignore[arg-type]


def test_days_in_the_wrong_order_are_refused() -> None:
    """A check cannot end before it begins."""
    checks = {"has_gpc_brick": {"in_force": date(2026, 8, 12), "until": date(2026, 8, 11)}}
    with pytest.raises(prodex.errors.InputError, match="until is 2026-08-11, which is before the first day"):
        _audit(_FIRST, checks=checks)


def test_a_profile_of_toml_has_days(tmp_path: Path) -> None:
    """TOML has dates of its own, and texts are read as well."""
    file = tmp_path / "own.toml"
    file.write_text('[checks.has_gpc_brick]\nin_force = 2026-08-12\nuntil = "2027-03-15"\n')
    (check,) = prodex.Profile.read(file).checks
    assert (check.in_force, check.until) == (date(2026, 8, 12), date(2027, 3, 15))


def test_an_unknown_field_is_refused_by_name() -> None:
    """A misspelled field is refused, with the nearest one."""
    with pytest.raises(prodex.errors.InputError, match=r"no field 'manufacture'.*manufacturer"):
        prodex.Profile.read({"attributes": {"manufacture": "contactInformationList"}})


@each_row("given", [7, "", [], [7], {"path": "x"}, ["  "]])
def test_a_field_is_a_path(given: object) -> None:
    """Where a field is has to be a name, or several."""
    with pytest.raises(prodex.errors.InputError, match="manufacturer is "):
        prodex.Profile.read({"attributes": {"manufacturer": given}})


def test_every_field_says_what_it_is() -> None:
    """Every field that can be declared has a label and a sentence."""
    assert all(field.label and field.what.endswith(".") for field in FIELDS.values())
    assert prodex.quality.law_fields()["field"].tolist() == list(FIELDS)


def test_not_asked_is_unknown_and_said_once() -> None:
    """A check of a field that nobody declared is unknown for all products, and the audit says once what to declare."""

    def asks_manufacturer(products, *, manufacturer: tuple[str, ...] = ()):
        return prodex.packs.Verdict(fails=~products.filled(manufacturer[0]))

    rules = prodex.quality.rulebook.all_rules()
    prodex.packs.rule(title="there is a manufacturer", needs="{manufacturer}")(asks_manufacturer)
    try:
        profile = prodex.Profile.read({"checks": {"asks_manufacturer": {}}})
        catalog = prodex.flatten([{"id": 7}, {"id": 8, "contactInformationList": [{"name": "Acme"}]}])
        silent = prodex.audit(catalog, profile)
        assert silent.matrix["asks_manufacturer"].tolist() == [State.UNKNOWN, State.UNKNOWN]
        assert repr(silent).count("the profile declares no manufacturer") == 1
        assert silent.summary["checks_unknown"] == 0
        assert silent.summary["checks_not_asked"] == 1
        declared = profile.with_attributes(manufacturer="contactInformationList")
        audit = prodex.audit(catalog, declared)
        assert audit.matrix["asks_manufacturer"].tolist() == [State.FAIL, State.PASS]
        assert audit.checks[0].attribute == "contactInformationList"
        assert audit.checks[0].id == silent.checks[0].id == "asks_manufacturer"
    finally:
        del rules["asks_manufacturer"]
