"""An audit since an earlier one: equal to a whole audit, and judged anew only what changed."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex import ProductQuery
from prodex.catalog import Catalog, Part
from prodex.quality import archive, reuse
from prodex.quality.audit import Audit
from prodex.quality.audit_part import Crash
from prodex.quality.products import Products
from prodex.quality.profile import Profile
from prodex.quality.rulebook import RULES
from prodex_sandbox.sample import AS_OF, shared_products
from tests.quality.test_audit_laws import profile as every_check
from tests.wire import products

LATER = AS_OF + timedelta(days=400)


def test_a_query_of_half_a_character_is_a_basis() -> None:
    """Names of attributes are asked for as suppliers typed them."""
    origin = prodex.flatten([]).origin
    half, other = (
        replace(origin, query=ProductQuery(source_include=["gtin", name])) for name in ("\ud83d", "\ud83e")
    )
    core = Profile.read("core")
    day = AS_OF.date()
    bases = [reuse.basis_of(core, one, day) for one in (half, half, other)]
    assert bases[0] == bases[1] != bases[2]


def audited(catalog: Catalog, profile: Any = None, **how: Any) -> Audit:
    return prodex.audit(catalog, profile or every_check(), **{"now": AS_OF, "since": False} | how)


def of_parts(records: list[dict[str, Any]], *sizes: int, query: ProductQuery | None = None) -> Catalog:
    """Return a catalogue in memory, cut into parts of these sizes and the rest."""
    parts, begin = [], 0
    for size in (*sizes, len(records)):
        if piece := records[begin : begin + size]:
            parts.append(Part.of_records(iter([json.dumps(record).encode() for record in piece])))
        begin += size
    empty = prodex.flatten([])
    return replace(empty, parts=tuple(parts) or empty.parts, origin=replace(empty.origin, query=query))


def assert_same(whole: Audit, since: Audit) -> None:
    """Compare every frame of two audits, and every cell and finding of their parts."""
    assert whole.crashes == since.crashes
    assert whole.checks == since.checks
    pd.testing.assert_frame_equal(whole.matrix, since.matrix)
    pd.testing.assert_frame_equal(whole.products, since.products)
    pd.testing.assert_frame_equal(whole.failures(), since.failures())
    pd.testing.assert_frame_equal(whole.by_check, since.by_check)
    pd.testing.assert_frame_equal(whole.gaps(), since.gaps())
    pd.testing.assert_frame_equal(whole.scores("brand"), since.scores("brand"))
    pd.testing.assert_series_equal(whole.summary, since.summary)
    for one, other in zip(whole.parts, since.parts, strict=True):
        assert one.evidence.equals(other.evidence)
        assert one.products.equals(other.products)


@cache
def sample() -> list[dict[str, Any]]:
    """Return products of the sample, with their planted faults."""
    return [product.record for product in shared_products(120)]


def edited(record: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the content of another one, as when a supplier corrects it."""
    return other | {name: record.get(name) for name in ("id", "uuid") if name in record}


@given(st.data())
def test_it_is_equal_to_a_whole_audit(data: st.DataObject) -> None:
    """Whatever was edited, added, removed, put in another order and cut otherwise, on whatever day."""
    chosen = random.Random(data.draw(st.integers(0, 10**6))).sample(sample(), 24)
    strange = [
        {**one, "id": 5_000_000 + n} for n, one in enumerate(data.draw(st.lists(products, max_size=4)))
    ]
    before = [*chosen[:16], *strange]
    after = list(before)
    for what in data.draw(st.permutations(["edit", "add", "remove", "twice"]) | st.just([])):
        place = data.draw(st.integers(0, len(after) - 1))
        match what:
            case "edit":
                after[place] = edited(after[place], data.draw(st.sampled_from(chosen)))
            case "add":
                after.append(data.draw(st.sampled_from(chosen[16:])))
            case "remove":
                del after[place]
            case "twice":
                after.append({**after[place], "id": 6_000_000 + len(after)})
    if data.draw(st.booleans()):
        random.Random(7).shuffle(after)
    query = data.draw(st.sampled_from([None, ProductQuery(source_exclude=["kind"], target_market=56)]))
    # One integer replays a choice of checks.
    few = random.Random(data.draw(st.integers(0, 10**6))).sample(every_check().checks, 40)
    # Always those whose verdict rests on the day or on other products.
    some = tuple(
        check
        for check in every_check().checks
        if check in few or not check.rule.record_alone or check.rule.needs_all_parts
    )
    profile = replace(every_check(), checks=some, market=data.draw(st.sampled_from([None, 250])))
    cuts = [data.draw(st.lists(st.integers(1, 12), max_size=2)) for _ in range(2)]
    old, new = of_parts(before, *cuts[0], query=query), of_parts(after, *cuts[1], query=query)
    day = data.draw(st.sampled_from([AS_OF, LATER]))

    earlier = audited(old, profile)

    assert_same(audited(new, profile, now=day), audited(new, profile, now=day, since=earlier))


def test_findings_of_a_product_have_one_order_whatever_is_judged_with_it() -> None:
    """What changed in all parts is judged together, and attributes of an earlier part come first there."""
    dutch = [{"expressedIn": {"code": "nld-NL"}, "data": "Siroop"}]
    french = [*dutch, {"expressedIn": {"code": "fra-FR"}, "data": "Sirop"}]
    names = ("description", "nameLegal", "namePublicLong")
    same = [{"id": number, "nameLegal": french} for number in range(3, 20)]
    before = [{"id": 1, "nameLegal": french}, *same[:9], {"id": 2} | dict.fromkeys(names, french), *same[9:]]
    after = [{"id": 1, "nameLegal": dutch}, *same[:9], {"id": 2} | dict.fromkeys(names, dutch), *same[9:]]
    profile = {"checks": {"translated": {"language": "fr"}}}

    earlier = audited(of_parts(before, 10), profile)
    found = audited(of_parts(after, 10), profile, since=earlier)

    assert found.judged_anew == 2
    assert found.failures()["attribute"].tolist() == ["nameLegal", *names]


@pytest.mark.slow
def test_only_what_changed_is_judged_by_all_checks() -> None:
    """The figure says how many; a second audit of the same judges none."""
    before = sample()[:60]
    after = [{**before[0], "lifeCycle": 7}, *before[1:], *sample()[60:61]]

    first = audited(of_parts(before, 20))
    second = audited(of_parts(after, 30), since=first)
    third = audited(of_parts(after, 10, 10), since=second)

    assert (None, 2, 0) == (first.judged_anew, second.judged_anew, third.judged_anew)
    assert_same(audited(of_parts(after, 10, 10)), third)


@pytest.mark.slow
def test_rules_that_are_said_to_depend_on_the_record_alone_do() -> None:
    """Other products, another order, other parts and another day change none of their verdicts."""
    alone = tuple(c for c in every_check().checks if c.rule.record_alone and not c.rule.needs_all_parts)
    profile = replace(every_check(), checks=alone)
    some = random.Random(3).sample(sample(), 50)

    every = audited(of_parts(sample()), profile)
    those = audited(of_parts(some, 7), profile, now=LATER)

    ids = [str(record["id"]) for record in some]
    pd.testing.assert_frame_equal(every.matrix.loc[ids], those.matrix)
    found = every.failures().drop(columns="first_seen")
    found = found[found["product_id"].isin(ids)].sort_values(["check", "product_id"], kind="stable")
    expected = those.failures().drop(columns="first_seen").sort_values(["check", "product_id"], kind="stable")
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected.reset_index(drop=True))


@pytest.mark.slow
def test_rules_that_are_given_something_of_all_products_depend_on_no_day() -> None:
    """Beside the record and what was prepared of all, nothing counts."""
    given_all = tuple(c for c in every_check().checks if c.rule.record_alone and c.rule.needs_all_parts)
    profile = replace(every_check(), checks=given_all)
    catalog = of_parts(sample())

    pd.testing.assert_frame_equal(
        audited(catalog, profile).matrix, audited(catalog, profile, now=LATER).matrix
    )


@pytest.mark.slow
def test_a_rule_reads_the_day_only_if_it_does_not_say_that_the_record_is_enough() -> None:
    """The moment of the audit is not even looked at."""

    class Timeless(Products):
        @property
        def now(self) -> Any:  # type: ignore[override]
            raise AssertionError("the day was read")

        @now.setter
        def now(self, moment: Any) -> None:
            pass

    catalog = of_parts(sample())
    for check in every_check().checks:
        if check.rule.record_alone and not check.rule.needs_all_parts:
            given = dict(check.parameters) | ({} if check.language is None else {"language": check.language})
            check.rule.function(Timeless(catalog.parts[0], catalog.origin, AS_OF), **given)


def test_most_rules_say_that_the_record_is_enough() -> None:
    """Else an audit after a refresh would cost nearly as much as a whole one."""
    shipped = [rule for rule in RULES.values() if rule.shipped]

    assert sum(rule.record_alone for rule in shipped) >= 0.9 * len(shipped)


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        lambda _: audited(of_parts(sample()[:40]), "pictures"),
        lambda _: audited(of_parts(sample()[:40]), "core", assume_food=True),
        lambda _: audited(of_parts(sample()[:40], query=ProductQuery(target_market=56)), "core"),
        lambda audit: replace(audit, taken_from=audit),
        lambda audit: audit.with_accepted(),
        lambda audit: replace(audit, basis=None),
        lambda audit: replace(audit, catalog=None),
    ],
    ids=["profile", "assumption", "query", "cut", "a view", "of an unknown basis", "of unknown records"],
)
def test_an_audit_of_something_else_gives_nothing(other: Callable[[Audit], Audit]) -> None:
    """All products are judged, as if there were none."""
    catalog = of_parts(sample()[:40])
    whole = audited(catalog, "core")

    since = audited(catalog, "core", since=other(whole))

    assert since.judged_anew is None
    assert_same(whole, since)


def test_another_rule_set_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of another version are not the same measure, and neither are verdicts."""
    catalog = of_parts(sample()[:40])
    earlier = audited(catalog, "core")
    monkeypatch.setattr(reuse, "RULE_SET", "0")

    assert audited(catalog, "core", since=earlier).judged_anew is None


def test_rules_of_ones_own_are_judged_anew() -> None:
    """Nobody can tell whether their code is the same, whatever they say."""
    catalog = of_parts(sample()[:40])
    limits = [0]

    @prodex.rule(title="never", record_alone=True)
    def is_refused(products: Products) -> prodex.Verdict:
        return prodex.Verdict(fails=np.full(len(products), limits[0] > 0))

    profile = Profile.read("core").with_check("is_refused")
    earlier = audited(catalog, profile)
    limits[0] = 1

    since = audited(catalog, profile, since=earlier)

    assert 0 == since.judged_anew
    assert since.matrix["is_refused"].tolist() == [1] * 40


def test_a_rule_that_crashed_is_judged_anew() -> None:
    """An unknown cell of a crash is no verdict that could be kept."""
    catalog = of_parts(sample()[:40])
    earlier = audited(catalog, "core")
    crashed = replace(
        earlier,
        parts=tuple(
            replace(
                part,
                crashes=(Crash("valid_gtin", 0, "it was so"),),
            )
            for part in earlier.parts
        ),
    )

    assert_same(earlier, audited(catalog, "core", since=crashed))


@pytest.mark.slow
def test_a_product_that_is_held_twice_is_not_told_apart() -> None:
    """Its rows cannot be chosen by their key, so everything is judged."""
    records = [*sample()[:20], sample()[0]]
    earlier = audited(of_parts(records[:20]), "core")
    catalog = of_parts(records, 20)

    since = audited(catalog, "core", since=earlier)

    assert since.judged_anew is None
    assert_same(audited(catalog, "core"), since)


@pytest.mark.slow
def test_requirements_are_kept_as_well(tmp_path: Path) -> None:
    """Their columns depend on the record and on what is required; other requirements give nothing."""
    rows = [["Web", "*", name, "", "must"] for name in ("brand", "GPC", "assets.pictures", "netContent")]
    frame = pd.DataFrame(rows, columns=["channel", "family", "attribute", "language", "level"])
    wanted, fewer = prodex.Requirements.of(frame), prodex.Requirements.of(frame.head(2))
    before, after = of_parts(sample()[:40]), of_parts([{**sample()[0], "lifeCycle": 7}, *sample()[1:40]])
    earlier = audited(before, "core", requirements=wanted)

    since = audited(after, "core", requirements=wanted, since=earlier)

    assert 1 == since.judged_anew
    assert_same(audited(after, "core", requirements=wanted), since)
    assert audited(after, "core", requirements=fewer, since=earlier).judged_anew is None


@pytest.fixture
def of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_WORTH_READING", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("of_any_size")
def test_the_last_saved_audit_is_used_by_itself() -> None:
    """With what is accepted, and since when findings are open; and it can be opened and used again."""
    before = sample()[:60]
    after = [{**before[0], "lifeCycle": 7}, *before[1:]]
    first = prodex.audit(prodex.flatten(before).save("shop"), "core", now=AS_OF).save()
    prodex.accept(first, first.failures().head(20), reason="looked at")
    newest = prodex.flatten(after).save("shop")
    whole = prodex.audit(newest, "core", now=LATER, since=False)
    assert 0 < whole.summary["accepted"] < len(whole.failures())

    since = prodex.audit(newest, "core", now=LATER)

    assert (None, None, 1) == (first.judged_anew, whole.judged_anew, since.judged_anew)
    assert_same(whole, since)
    assert since.failures()["first_seen"].notna().all()
    saved = since.save()
    assert_same(prodex.open_audit("shop"), saved)
    assert 1 == prodex.open_audit("shop").judged_anew
    assert 0 == prodex.audit(newest, "core", now=LATER).judged_anew
    assert prodex.audit(newest, "pictures", now=LATER).judged_anew is None


@pytest.mark.slow
@pytest.mark.usefixtures("of_any_size")
def test_a_damaged_audit_is_not_used() -> None:
    """Whatever is wrong with its files, all products are judged."""
    catalog = prodex.flatten(sample()[:40]).save("shop")
    saved = prodex.audit(catalog, "core", now=AS_OF).save()
    assert saved.folder is not None
    (digests,) = (saved.folder / "records").iterdir()
    digests.write_bytes(digests.read_bytes()[:-7])

    assert prodex.audit(catalog, "core", now=AS_OF).judged_anew is None


@pytest.mark.slow
@pytest.mark.usefixtures("of_any_size")
def test_a_selection_keeps_what_is_said_of_its_products() -> None:
    """The records are the same, whoever stands beside them; what is said of all products is judged anew."""
    catalog = prodex.flatten(sample()[:60]).save("shop")
    prodex.audit(catalog, "core", now=AS_OF).save()
    some = catalog.where(is_consumer_unit=True)

    since = prodex.audit(some, "core", now=AS_OF)

    assert 0 == since.judged_anew
    assert_same(prodex.audit(some, "core", now=AS_OF, since=False), since)


@pytest.mark.slow
def test_on_any_executor_it_is_the_same() -> None:
    """The parts are put together here, whoever judged them."""
    before = sample()[:40]
    after = of_parts([{**before[0], "lifeCycle": 7}, *before[1:]], 20)
    earlier = audited(of_parts(before, 15), "core")

    with ThreadPoolExecutor(2) as threads:
        since = audited(after, "core", since=earlier, executor=threads)

    assert_same(audited(after, "core"), since)


def test_the_digest_of_what_a_rule_was_given_is_that_of_its_content() -> None:
    """Tables, frames, mappings and pairs of them; of anything else nothing is known."""
    table = pa.table({"gtin": ["1", "2"]})
    cases = [table, (table, table), table.to_pandas(), {"a": 1.0}, table["gtin"]]
    check = next(check for check in every_check().checks if check.rule.id == "duplicate_gtin")

    def digest(given: Any) -> str | None:
        return reuse.digests_of_given([check], {check.rule.id: given}).get(check.rule.id)

    assert len({digest(one) for one in cases}) == len(cases)
    assert digest(table) == digest(pa.table({"gtin": pa.chunked_array([["1"], ["2"]])}))
    assert digest(table) != digest(table.slice(1))
    assert digest(object()) is None
