"""Law 6: the four states add up, scores stay in [0, 1], and an audit is a function of each product alone."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex import ProductQuery
from prodex.quality.audit import Audit
from prodex.quality.check import Check
from prodex.quality.profile import Profile
from prodex.quality.rulebook import Parameter, all_rules
from prodex_sandbox.sample import AS_OF
from tests.wire import CORNERS, OTHER_CORNERS, localized, products, sometimes

pytestmark = pytest.mark.slow

queries = st.sampled_from(
    [
        None,
        ProductQuery(source_include=["namePublicLong", "isConsumerUnit"]),
        ProductQuery(source_exclude=["assets", "kind"]),
        ProductQuery(product_languages=["fr"], target_market=56),
    ]
)
catalogues = st.lists(products, max_size=6)


@cache
def profile() -> Profile:
    """Return every check of every shipped profile, and each rule once, in its own severity."""
    own = [
        Check.of(rule.id, {p.name: _some(p) for p in rule.parameters if p.required})
        for rule in all_rules().values()
        if rule.shipped
    ]
    shipped = [check for name in prodex.profiles()["profile"] for check in Profile.read(name).checks]
    checks = {check.id: check for check in (*shipped, *own)}
    return replace(Profile("all"), checks=tuple(checks.values())).with_attributes(**_DECLARED)


#: Where a catalogue has what laws ask for: attributes of texts, codes, numbers and objects that records do have.
_DECLARED = {
    **dict.fromkeys(("manufacturer", "responsible_person"), "contact"),
    **dict.fromkeys(("origin_country", "origin_share"), "originCountry"),
    "warnings": "description",
    "packaging_components": "typePackaging",
    "customs_code": "GPC.code",
    "due_diligence": "uuid",
    "unit_price": "netContent",
}


def _some(parameter: Parameter) -> Any:
    values = {str: "fr" if parameter.name == "language" else "description", int: 10, float: 1.0, bool: True}
    return (values[parameter.kind],) if parameter.several else values[parameter.kind]


def audited(records: list[dict[str, Any]], query: ProductQuery | None) -> Audit:
    catalog = prodex.flatten(records)
    catalog = replace(catalog, origin=replace(catalog.origin, query=query))
    return prodex.audit(catalog, profile(), now=AS_OF)


@example(CORNERS, None)
@given(catalogues, queries)
def test_the_four_states_add_up(records: list[dict[str, Any]], query: ProductQuery | None) -> None:
    """For every check the four states add up to all products, no rule crashes, and scores are between 0 and 1."""
    audit = audited(records, query)
    by_check = audit.by_check
    states = ["failed", "passed", "not_applicable", "unknown"]

    assert () == audit.crashes
    assert [len(audit)] * len(audit.checks) == by_check[states].sum(axis=1).tolist()
    for scores in (
        by_check["score"],
        audit.products["score"],
        audit.scores("brand")["score"],
        audit.scores("language")["score"],
    ):
        told = scores.to_numpy(float)
        told = told[~np.isnan(told)]
        assert ((told >= 0) & (told <= 1)).all()
    assert audit.products["score"].isna().tolist() == (audit.tally["possible"] == 0).tolist()
    cells = audit.matrix.stack()
    assert set(cells[cells == 1].index) == set(audit.failures().set_index(["product_id", "check"]).index)


@example(CORNERS, OTHER_CORNERS, None)
@given(catalogues, catalogues, queries)
def test_an_audit_is_one_of_each_product_alone(
    some: list[dict[str, Any]], others: list[dict[str, Any]], query: ProductQuery | None
) -> None:
    """Cut into parts or not, the states are the same, but for rules that want all parts."""
    one, two = prodex.flatten(some), prodex.flatten(others)
    clash = set(one.products["product_id"]) & set(two.products["product_id"])
    two = two.where(~_is_in(clash))
    origin = replace(one.origin, query=query)
    every = profile()
    alone = [c for c in every.checks if not c.rule.whole]
    every = replace(every, checks=tuple(alone))

    cut = prodex.audit(replace(one, parts=one.parts + two.parts, origin=origin), every, now=AS_OF)
    apart = [prodex.audit(replace(c, origin=origin), every, now=AS_OF).states for c in (one, two)]

    assert np.concatenate(apart).tolist() == cut.states.tolist()


@example([[{"expressedIn": {"code": "nob-NO", "normalizedCode": "fra-FR"}, "data": 0}]])
@example(
    [[{"expressedIn": {"code": 0}, "data": "500"}], {"01": [{"expressedIn": {"code": "fr"}, "data": "Riz"}]}]
)
@example([["\x1b"], "\x1b"])
@given(st.lists(st.one_of(st.just(...), sometimes(st.lists(localized, max_size=3))), max_size=6))
def test_missing_is_absent_null_or_empty_however_it_was_sent(values: list[Any]) -> None:
    """The check agrees with a plain reading of the wire: what is there and says no language is unknown."""
    records = [
        {"id": n} if value is ... else {"id": n, "namePublicLong": value} for n, value in enumerate(values, 1)
    ]
    checks = {"required_text": {"attribute": "namePublicLong", "language": "fr"}}

    states = prodex.audit(prodex.flatten(records), {"checks": checks}).states[:, 0].tolist()

    for record, state in zip(records, states, strict=True):
        name = record.get("namePublicLong")
        # It passes exactly where a reader sees French, and fails only where there is nothing but other languages.
        assert (state == 0) == _says_in_french(name), record
        assert state != 1 or not _is_there(name), record
        assert state != 3 or _shows_anything(name), record


def _is_there(value: Any) -> bool:
    """Look for anything at any depth that is no text in another language."""
    if isinstance(value, list):
        return any(map(_is_there, value))
    if not isinstance(value, dict):
        return _shows_anything(value)
    if isinstance(value.get("data"), str) and _language(value) not in {"", *_FRENCH}:
        return False
    # Beside what says its language there may be more.
    inner = [value.get("data")] if "data" in value or "expressedIn" in value else [*value.values()]
    return any(map(_is_there, inner)) and _language(value) in {"", *_FRENCH}


def _shows_anything(value: Any) -> bool:
    if isinstance(value, list | dict):
        return any(map(_shows_anything, value.values() if isinstance(value, dict) else value))
    # Spaces and signs that steer a screen show nothing, in whatever script.
    return value is not None and any(unicodedata.category(sign)[0] not in "CZ" for sign in str(value))


_FRENCH = {"fr", "fra", "fre"}


def _language(item: dict[str, Any]) -> str:
    language = item.get("expressedIn")
    if not isinstance(language, dict):
        return ""
    told = _code(language.get("normalizedCode")) or _code(language.get("code"))
    return told.replace("_", "-").split("-")[0].lower() or told.strip()


def _code(value: Any) -> str:
    """Return a code as text: services write those of digits as numbers too."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if isinstance(value, str) else str(value) if is_number else ""


def _says_in_french(value: Any) -> bool:
    """Look for a text in French at any depth, as a reader would."""
    if isinstance(value, list):
        return any(map(_says_in_french, value))
    if not isinstance(value, dict):
        return False
    language, data = value.get("expressedIn"), value.get("data")
    if isinstance(language, dict) and isinstance(data, str):
        short, code = language.get("normalizedCode"), language.get("code")
        told = short if isinstance(short, str) else code if isinstance(code, str) else ""
        if told.replace("_", "-").split("-")[0].lower() in {"fr", "fra", "fre"} and data.strip():
            return True
    # A list may be written as an object with numbers; of other objects nobody knows what their keys mean.
    is_list = all(key.isdecimal() and key.isascii() and key == str(int(key)) for key in value)
    return (is_list or bool({*value} & {"data", "expressedIn"})) and any(map(_says_in_french, value.values()))


def _is_in(ids: set[str]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.field("product_id").isin(pa.array(sorted(ids), pa.string()))
