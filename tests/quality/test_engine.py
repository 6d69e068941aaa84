"""The engine: unknown where nobody asked or a rule crashed, and the same on any executor."""

from __future__ import annotations

import gc
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import prodex
from prodex import Catalog, ProductQuery
from prodex.catalog import Origin
from prodex.errors import InputError, SnapshotDamaged
from prodex.quality import run
from prodex.quality.audit import Audit
from prodex.quality.audit_part import IDENTITY, AuditPart, Crash
from prodex.quality.products import Products
from prodex.quality.states import NO_FINDINGS, State
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality import judging

FRENCH = {"expressedIn": {"normalizedCode": "fr", "code": "fra-FR"}}
NAME = {"required_text": {"attribute": "namePublicLong", "language": "fr"}}


def asked(catalog: Catalog, **query: Any) -> Catalog:
    """Return the catalogue as if this had been asked for."""
    return replace(catalog, origin=replace(catalog.origin, query=ProductQuery(**query)))


def in_parts(catalog: Catalog, *sizes: int) -> Catalog:
    """Cut the first part of a catalogue into smaller ones."""
    ids = catalog.arrow("products", ["product_id"])["product_id"].combine_chunks()
    edges = [0, *sizes, len(ids)]
    parts = [
        replace(catalog.parts[0], size=end - start, chosen=ids[start:end]) for start, end in pairwise(edges)
    ]
    return replace(catalog, parts=tuple(parts))


def content(audit: Audit) -> tuple[Any, ...]:
    """Return all results of an audit."""
    return audit.matrix, audit.failures(), audit.scores("owner"), audit.summary


def test_missing_is_absent_null_or_empty() -> None:
    """Absent, null, empty, blank and another language fail alike; one word passes; what is no text is unknown."""
    values: list[Any] = [None, [], [FRENCH], [{**FRENCH, "data": None}], [{**FRENCH, "data": ""}], ""]
    german = {"expressedIn": {"normalizedCode": "de", "code": "deu-DE"}, "data": "Reis"}
    values += [[{**FRENCH, "data": " \n"}], [german], [german, {**FRENCH, "data": "Riz"}], {"x": 1}]
    records = [{"id": 0}, *({"id": n, "namePublicLong": value} for n, value in enumerate(values, 1))]

    audit = prodex.audit(prodex.flatten(records), {"checks": NAME})

    assert [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 3] == audit.states[:, 0].tolist()
    failures = audit.failures()
    assert {"no data: absent, null or empty"} == set(failures["reason"])
    assert {("namePublicLong", "fr")} == set(zip(failures["attribute"], failures["language"], strict=True))


@each_row(
    ("query", "state"),
    [
        ({}, State.FAIL),
        ({"source_include": ["namePublicLong"]}, State.FAIL),
        ({"source_include": ["namePublicLong.data"]}, State.FAIL),
        ({"source_include": ["brand"]}, State.UNKNOWN),
        ({"source_exclude": ["brand"]}, State.FAIL),
        ({"source_exclude": ["namePublicLong"]}, State.UNKNOWN),
        ({"source_exclude": ["namePublicLong.data"]}, State.UNKNOWN),
        ({"source_exclude": ["namePublicLong.dat"]}, State.UNKNOWN),
        ({"source_exclude": ["namePublicLongs.data"]}, State.FAIL),
        ({"product_languages": ["fr"]}, State.FAIL),
        ({"product_languages": ["de"]}, State.UNKNOWN),
    ],
)
def test_what_nobody_asked_for_is_unknown(query: dict[str, Any], state: State) -> None:
    """A field or language that was not asked for is neither a failure of the supplier nor a pass."""
    audit = prodex.audit(asked(prodex.flatten([{"id": 7}]), **query), {"checks": NAME})

    assert [state] == audit.states[:, 0].tolist()
    assert (state == State.FAIL) == bool(len(audit.failures()))


def test_a_text_that_stands_deeper_is_known_by_any_part_of_its_path() -> None:
    """Where only that part was asked for, another may hold what is not there."""
    checks = {"required_text": {"attribute": "productBenefits", "language": "fr"}}
    catalog = prodex.flatten(
        [{"id": 7, "productBenefits": [{"text": [{**FRENCH, "data": "Riz"}]}]}, {"id": 8}]
    )

    for path, states in {
        "productBenefits": [State.PASS, State.FAIL],
        "productBenefits.text": [State.PASS, State.UNKNOWN],
        "productBenefits.text.data": [State.PASS, State.UNKNOWN],
    }.items():
        audit = prodex.audit(asked(catalog, source_include=[path]), {"checks": checks})
        assert states == audit.states[:, 0].tolist()


def test_a_scope_that_nobody_asked_for_is_unknown_as_well() -> None:
    """Without the data of its scope a check is unknown; a market in the query is known."""
    catalog = prodex.flatten([{"id": 7, "isConsumerUnit": True}, {"id": 8, "isConsumerUnit": False}])
    checks = {"required_text": {**NAME["required_text"], "only": {"is_consumer_unit": True, "market": 250}}}

    def states(**query: Any) -> list[int]:
        return prodex.audit(asked(catalog, **query), {"checks": checks}).states[:, 0].tolist()

    name = "namePublicLong"
    assert [3, 3] == states(source_include=[name], target_market=250)
    assert [3, 3] == states(source_include=[name, "isConsumerUnit"])
    assert [1, 2] == states(source_include=[name, "isConsumerUnit"], target_market=250)
    assert [3, 2] == states(source_include=["isConsumerUnit"], target_market=250)
    checks["required_text"]["only"] = {"has_pending_update": True}
    assert [3, 3] == states(source_exclude=["lastRequest"])
    assert [2, 2] == states(source_exclude=["brand"])
    checks["required_text"]["only"] = {"pictures_count": 0}
    assert [3, 3] == states(source_exclude=["assets"])
    assert [1, 1] == states()


def test_a_rule_that_raises_is_a_crash_in_the_report() -> None:
    """The column of a crashing rule is unknown in that part; the other columns do not change."""
    judging.declare()
    catalog = in_parts(prodex.flatten([{"id": n} for n in (2, 4, 1, 3)]), 2)

    audit = prodex.audit(catalog, {"checks": {"is_even": {}, "raises_on_odd": {}}})

    assert {"is_even": [0, 0, 1, 1], "raises_on_odd": [0, 0, 3, 3]} == audit.matrix.to_dict("list")
    assert [("raises_on_odd", 1)] == [(crash.check, crash.part) for crash in audit.crashes]
    assert audit.crashes[0].message.startswith("ZeroDivisionError: an odd id (in raises_on_odd, line ")
    assert "rule crashed: raises_on_odd: ZeroDivisionError: an odd id" in repr(audit)
    assert "ZeroDivisionError" in audit.by_check.set_index("check").loc["raises_on_odd", "crash"]


@each_row(
    ("verdict", "why"),
    [
        (prodex.packs.Verdict([True]), "fails has 1 values for 2 products"),
        (
            prodex.packs.Verdict([False, True], evidence=prodex.packs.Evidence([0])),
            "1 products that do not fail",
        ),
        (True, "it returned bool instead of prodex.packs.Verdict"),
    ],
)
def test_a_verdict_that_cannot_be_taken_is_a_crash(verdict: Any, why: str) -> None:
    """The crash says clearly what is wrong with it."""

    @prodex.packs.rule(title="never")
    def is_odd(products: Products) -> Any:
        return verdict

    audit = prodex.audit(prodex.flatten([{"id": 1}, {"id": 2}]), {"checks": {"is_odd": {}}})

    assert [3, 3] == audit.states[:, 0].tolist()
    assert why in audit.crashes[0].message


def test_a_blocker_that_crashed_makes_nobody_ready() -> None:
    """A product whose blocker crashed is undecided, and the audit reports it."""

    @prodex.packs.rule(title="never", severity="blocker")
    def breaks(products: Products) -> prodex.packs.Verdict:
        raise RuntimeError

    audit = prodex.audit(prodex.flatten([{"id": 1}]), {"checks": {"breaks": {}}})

    assert (0, 1) == (audit.summary["ready_products"], audit.summary["undecided_products"])
    assert audit.products["ready"].isna().all()
    assert "1 product undecided: their data do not show whether they are ready" in repr(audit)


def test_what_a_rule_wants_whole_is_seen_over_all_parts() -> None:
    """A GTIN that occurs in two parts is found in both."""
    records = [
        {"id": n, "gtin": gtin} for n, gtin in enumerate(["03036811359935", "", None, "03036811359935"])
    ]
    catalog = in_parts(prodex.flatten(records), 2)

    audit = prodex.audit(catalog, {"checks": {"duplicate_gtin": {}}})

    assert [1, 0, 0, 1] == audit.states[:, 0].tolist()
    assert ["also the GTIN of product 3", "also the GTIN of product 0"] == audit.failures()["reason"].tolist()


def test_what_cannot_be_prepared_is_a_crash() -> None:
    """A column that is not there, or a function that raises: unknown everywhere, reported once."""

    @prodex.packs.rule(title="never", whole="products.gtim")
    def misspelt(products: Products, *, whole: Any) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([False] * len(products))

    audit = prodex.audit(in_parts(prodex.flatten([{"id": 1}, {"id": 2}]), 1), {"checks": {"misspelt": {}}})

    assert [3, 3] == audit.states[:, 0].tolist()
    assert ["misspelt"] == [crash.check for crash in audit.crashes]
    assert "did you mean 'gtin'" in audit.crashes[0].message


def test_a_damaged_snapshot_is_no_fault_of_a_rule() -> None:
    """The audit ends with the name of the file, and is not one of unknowns."""
    catalog = prodex.flatten([{"id": 7}]).save("shop")
    catalog.files("pictures")[0].unlink()

    with pytest.raises(SnapshotDamaged, match="pictures"):
        prodex.audit(catalog, {"checks": {"has_front_packshot": {}}})


def test_what_one_rule_does_to_its_columns_does_not_reach_another() -> None:
    """Each gets a column of its own, and what it remembers is found under its own key."""

    @prodex.packs.rule(title="never")
    def careless(products: Products) -> prodex.packs.Verdict:
        gtins = products["gtin"]
        gtins[:] = ""
        products.remember(("column", "gtin"), lambda: gtins)
        products.remember("market", lambda: None)
        return prodex.packs.Verdict([False] * len(products))

    audit = prodex.audit(
        prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), {"checks": {"careless": {}, "valid_gtin": {}}}
    )

    assert [0, 0] == audit.states[0].tolist()


@pytest.mark.slow
def test_the_audit_is_the_same_on_threads_processes_and_any_parts(sample: Catalog) -> None:
    """A user's rule from an importable module works on other processes too."""
    judging.declare()
    profile = prodex.Profile.read("core").with_check("is_even").with_check("raises_on_odd")
    cut = in_parts(sample, 7, 7, 300)

    whole = prodex.audit(sample, profile, now=AS_OF)
    with ThreadPoolExecutor(3) as threads, ProcessPoolExecutor(1, get_context("spawn")) as processes:
        others = [
            prodex.audit(cut, profile, now=AS_OF, executor=executor)
            for executor in (None, threads, processes)
        ]

    assert [True] * 3 == [
        whole.matrix.drop(columns="raises_on_odd").equals(o.matrix.drop(columns="raises_on_odd"))
        for o in others
    ]
    assert [True] * 3 == [whole.failures().equals(other.failures()) for other in others]
    assert [[(c.check, c.part) for c in others[0].crashes]] * 2 == [
        [(c.check, c.part) for c in other.crashes] for other in others[1:]
    ]


def test_a_rule_of_a_notebook_is_refused_for_processes() -> None:
    """The message says what to do instead."""

    @prodex.packs.rule(title="mine")
    def is_mine(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([False] * len(products))

    with (
        ProcessPoolExecutor(1, get_context("spawn")) as processes,
        pytest.raises(InputError, match=r"'is_mine' was defined in this notebook.*Leave executor out"),
    ):
        prodex.audit(prodex.flatten([{"id": 1}]), {"checks": {"is_mine": {}}}, executor=processes)


def test_what_waits_under_last_request_is_not_called_empty() -> None:
    """A pending value is reported as pending; judged as accepted it passes; the audit counts such products."""
    name = [{**FRENCH, "data": "Riz"}]
    catalog = prodex.flatten([{"id": 7, "lastRequest": {"namePublicLong": name}}, {"id": 8}])

    audit = prodex.audit(catalog, {"checks": NAME})
    accepted = prodex.audit(catalog.with_pending_updates(), {"checks": NAME})

    assert ["pending", "no data"] == [reason.split(":")[0] for reason in audit.failures()["reason"]]
    assert ["Riz", None] == audit.failures()["name"].astype(object).where(lambda s: s.notna(), None).tolist()
    assert 1 == audit.pending
    assert "1 product judged without an update pending acceptance" in repr(audit)
    assert [0, 1] == accepted.states[:, 0].tolist()


def test_now_is_what_older_than_refers_to() -> None:
    """A moment with zone is taken in UTC, as the service's dates are."""
    catalog = prodex.flatten([{"id": 7, "updatedAt": "2026-10-01T00:00:00"}, {"id": 8}])

    def states(now: str) -> list[int]:
        checks = {"updated_within": {"days": 31}}
        return (
            prodex.audit(catalog, {"checks": checks}, now=datetime.fromisoformat(now)).states[:, 0].tolist()
        )

    assert [0, 1] == states("2026-11-01T00:00:00")
    assert [0, 1] == states("2026-11-01T01:00:00+01:00")
    assert [1, 1] == states("2026-11-01T00:00:01+00:00")


@pytest.mark.slow
def test_a_filtered_catalogue_is_audited_as_it_is(sample: Catalog) -> None:
    """Only its products are judged, and those as before."""
    chosen = sample.where(is_consumer_unit=True)

    part = prodex.audit(chosen, "core", now=AS_OF).matrix
    whole = prodex.audit(sample, "core", now=AS_OF).matrix

    assert 0 < len(part) < len(whole)
    assert part.equals(whole.loc[part.index])


def test_products_gives_rules_what_they_ask_for() -> None:
    """Rows come with positions and without pending updates; `filled` looks at any depth."""
    picture = {"url": "https://media.example/1.jpg", "isPackshot": False}
    records = [
        {
            "id": 7,
            "netContent": [{"data": 0, "expressedIn": {"code": "GRM"}}],
            "assets": {"pictures": [picture]},
        },
        {"id": 8, "contact": [{"name": "", "country": {"code": "528"}}], "lifeCycle": 0},
        {
            "id": 9,
            "lastRequest": {"assets": {"pictures": [picture]}, "lifeCycle": 1},
            "assets": {"pictures": []},
        },
    ]
    catalog = prodex.flatten(records)
    products = Products(catalog.parts, Origin("records"), AS_OF)

    assert [0] == products.rows("pictures", "url")["product"].tolist()
    assert [1, 0, 0] == products.count(products.arrow("pictures", "url")["product"]).tolist()
    filled = {
        path: products.filled(path).tolist()
        for path in (
            "netContent", "assets", "assets.pictures", "assets.pictures.url", "assets.pictures.width", "contact",
            "contact.name", "contact.country", "lifeCycle", "lastRequest.assets.pictures", "lastRequest", "id", "x",
        )
    }  # fmt: skip
    assert {
        "netContent": [True, False, False],
        "assets": [True, False, False],
        "assets.pictures": [True, False, False],
        "assets.pictures.url": [True, False, False],
        "assets.pictures.width": [False, False, False],
        "contact": [False, True, False],
        "contact.name": [False, False, False],
        "contact.country": [False, True, False],
        "lifeCycle": [False, True, False],
        "lastRequest.assets.pictures": [False, False, True],
        "lastRequest": [False, False, True],
        "id": [True, True, True],
        "x": [False, False, False],
    } == filled
    assert pa.array(["7", "8", "9"]).equals(products.column("product_id"))
    assert ["absent"] * 3 == products.rows("presence", "brand")["brand"].tolist()
    assert ["filled", "absent", "filled"] == products.rows("presence", "assets")["assets"].tolist()


@pytest.mark.slow
def test_what_was_read_of_a_part_is_given_back_as_soon_as_it_is_judged() -> None:
    """Without waiting for Python to look for circles: an audit of a hundred parts holds the columns of none."""
    records = [{"id": n, "namePublicLong": [{**FRENCH, "data": f"Riz {n} " * 300}]} for n in range(200)]
    catalog = in_parts(prodex.flatten(records), *range(20, 200, 20))
    prodex.audit(catalog, "food-eu", now=AS_OF)  # what is made once for the process is not the audit's
    gc.collect()
    gc.disable()
    try:
        before = pa.total_allocated_bytes()
        audit = prodex.audit(catalog, "food-eu", now=AS_OF)
        kept = pa.total_allocated_bytes() - before
    finally:
        gc.enable()

    assert 200 == len(audit)
    assert kept < catalog.arrow("texts").nbytes / 4


@each_row("shape", [(0, 0), (0, 3), (4, 0), (4, 3)])
def test_a_part_is_the_same_after_it_was_held(shape: tuple[int, int]) -> None:
    """Compressed, sent to another process and asked again: types, nulls, order and places stay."""
    products, checks = shape
    identity = IDENTITY.empty_table()
    if products:
        names = pa.array(["Riz", None, "", "Riz"])
        columns = [pa.array([False, True, None, False]) if f.type == pa.bool_() else names for f in IDENTITY]
        identity = pa.table(columns, schema=IDENTITY)
    states = (np.arange(products * checks, dtype=np.int8) % 4).reshape(shape)
    findings = NO_FINDINGS
    if states.size:
        words = ["a", None], [None, "fr"], ["", "x"], ["r", "r"], [None, "{}"], [None, "c"]
        times = [np.datetime64("2026-11-13", "us"), None]
        findings = pa.table([[1, 2], [0, 3], *words, times], schema=NO_FINDINGS.schema)
    crash = Crash("one", 0, "crashed")

    part = pickle.loads(pickle.dumps(AuditPart.of(identity, states, findings, (crash,))))

    assert shape == part.states.shape == (part.size, part.checks)
    assert states.tolist() == part.states.tolist()
    assert identity.equals(part.products)
    assert IDENTITY == part.products.schema
    assert all(identity[name].equals(part.column(name)) for name in IDENTITY.names)
    assert findings.equals(part.findings)
    assert (crash,) == part.crashes


def test_small_parts_are_judged_together_and_say_what_they_say_alone(
    sample: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """States, findings, doubts and identity of each part are those of the part that was judged by itself."""
    profile = prodex.Profile.read("online-listing")
    pieces = in_parts(sample, 60, 120, 121, 121, 300)
    on_disk = replace(sample, parts=pieces.parts[1:2]).save("piece", progress=False).parts
    several = replace(pieces, parts=(pieces.parts[0], *on_disk, *pieces.parts[2:]))
    assert [60, 60, 1, 0, 179] == [part.size for part in several.parts[:5]]

    def groups() -> int:
        return len([*run.small_together(several.parts, cores=2)])

    together, many = prodex.audit(several, profile, now=AS_OF), groups()
    monkeypatch.setattr(run, "_TOGETHER", 1)
    monkeypatch.setattr(run, "_WORTH_A_CORE", 1)
    assert (1, len(several.parts)) == (many, groups())
    alone = prodex.audit(several, profile, now=AS_OF)

    for one, other in zip(together.parts, alone.parts, strict=True):
        assert one.states.tolist() == other.states.tolist()
        for table in ("products", "findings", "doubts"):
            assert getattr(one, table).equals(getattr(other, table))


def test_a_product_that_two_small_parts_have_is_judged_in_each() -> None:
    """Rows of a product are told by its key: somebody's catalogue may have another of this key."""
    name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    named, bare = (prodex.flatten([record]) for record in ({"id": 7, "namePublicLong": name}, {"id": 7}))

    def judged(one: Catalog, other: Catalog) -> Any:
        return prodex.audit(replace(one, parts=one.parts + other.parts), {"checks": NAME}).states.tolist()

    assert ([[0], [1]], [[1], [0]]) == (judged(named, bare), judged(bare, named))


def test_a_part_that_needs_nothing_of_what_was_not_exported_is_judged(tmp_path: Path) -> None:
    """A part beside it may need it, and how many parts are judged together is up to the machine."""
    record = {"id": 7, "namePublicLong": [{**FRENCH, "data": "Riz"}]}
    fronts = [{"url": f"{n}.jpg", "isPackshot": True, "productFace": 1} for n in range(2)]
    several = {"id": 8, "assets": {"pictures": fronts}}
    parts = []
    for one in (record, several):
        folder = tmp_path / str(one["id"])
        prodex.flatten([one]).export(folder, tables=["products", "presence", "pictures"], progress=False)
        parts += prodex.read_export(folder).parts
    both = replace(prodex.flatten([]), parts=tuple(parts))

    states = prodex.audit(both, {"checks": {"one_front_packshot": {}}}).states

    assert [[State.NOT_APPLICABLE], [State.UNKNOWN]] == states.tolist()


def test_a_part_in_which_a_rule_of_ones_own_reads_nothing_that_was_not_asked_for_is_judged() -> None:
    """Such a rule is assumed to need what it reads, and of each part it may read another thing."""

    @prodex.packs.rule(title="a case has a description")
    def case_is_described(products: Products) -> prodex.packs.Verdict:
        cases = (products["packaging_code"] == "CASE").to_numpy(bool)
        return prodex.packs.Verdict(cases & ~products.filled("description") if cases.any() else cases)

    records = [{"id": code, "typePackaging": {"code": code}} for code in ("EACH", "CASE")]
    both = asked(in_parts(prodex.flatten(records), 1), source_include=["typePackaging"])

    states = prodex.audit(both, {"checks": {"case_is_described": {}}}).states

    assert [[State.PASS], [State.UNKNOWN]] == states.tolist()
