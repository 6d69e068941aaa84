"""Judging by requirements: what is asked of whom, what is there, and what nobody knows."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook
from typer.testing import CliRunner

import prodex
from prodex.catalog import Catalog
from prodex.cli import app
from prodex.quality.required_checks import checks_of_requirements
from prodex.quality.states import State
from prodex.query import ProductQuery
from prodex.store.reading import flatten
from prodex_sandbox.sample import AS_OF, shared_products
from tests.cases import each_row
from tests.quality.requirements.sheets import in_words
from tests.quality.restricting import restricted
from tests.quality.workbooks import questions

PASS, FAIL, NOT_APPLICABLE, UNKNOWN = (State.PASS, State.FAIL, State.NOT_APPLICABLE, State.UNKNOWN)


def text(words: str | None, language: str = "fra-FR") -> list[dict[str, Any]]:
    """Return a localized text of one language as the service sends it."""
    return [{"expressedIn": {"code": language}, "data": words}]


def required(*rows: dict[str, Any], by: str = "kind") -> prodex.Requirements:
    """Return requirements of a channel "Shop", of all families and as a must unless a row says otherwise."""
    usual = {"channel": "Shop", "family": "*", "level": "must"}
    return prodex.Requirements.of(pd.DataFrame([usual | in_words(row) for row in rows]), by=by)


def judged(
    record: dict[str, Any] | Catalog, *rows: dict[str, Any], by: str = "kind", place: int = 0
) -> State:
    """Return the state of the first product under the check at a place."""
    catalog = record if isinstance(record, Catalog) else flatten([{"id": 7, **record}])
    audit = prodex.audit(catalog, required(*rows, by=by), progress=False)
    return State(audit.states[0, place])


NAME = {"attribute": "namePublicLong", "language": "fr"}
BRAND = {"attribute": "brand"}
ACME = {"brand": {"code": "ACME", "label": "Acme"}}


@each_row(
    ("record", "asked", "state"),
    [
        ({}, NAME, FAIL),
        ({"namePublicLong": None}, NAME, FAIL),
        ({"namePublicLong": []}, NAME, FAIL),
        ({"namePublicLong": text("  ")}, NAME, FAIL),
        ({"namePublicLong": text(None)}, NAME, FAIL),
        ({"namePublicLong": text("Riz", "deu-DE")}, NAME, FAIL),
        ({"namePublicLong": text("Riz")}, NAME, PASS),
        ({"namePublicLong": text("Riz", "fra-BE")}, NAME, PASS),
        ({"lastRequest": {"namePublicLong": text("Riz")}}, NAME, FAIL),
        (ACME, BRAND, PASS),
        ({}, BRAND, FAIL),
        (ACME, BRAND | {"level": "not"}, FAIL),
        ({}, BRAND | {"level": "not"}, PASS),
        ({"brand": {"code": ""}}, BRAND | {"level": "not"}, PASS),
        ({"ownField": "x"}, {"attribute": "ownField"}, PASS),
        (
            {"netContent": [{"data": "about 5", "expressedIn": {"code": "GRM"}}]},
            {"attribute": "netContent"},
            UNKNOWN,
        ),
    ],
)
def test_what_is_there(record: dict[str, Any], asked: dict[str, Any], state: State) -> None:
    """Absent, null, empty and blank are missing; an update that waits is none of the product's data."""
    assert state == judged(record, asked)


LONG = NAME | {"shortest": 3, "longest": 5}
PICTURE = {"attribute": "assets.pictures[front]", "pixels": 800}


def picture(*sides: tuple[int | None, int | None], face: str = "1") -> dict[str, Any]:
    """Return a record with pictures of these widths and heights."""
    each = [
        {"url": f"https://x.invalid/{n}", "productFace": face, "width": w, "height": h}
        for n, (w, h) in enumerate(sides)
    ]
    return {"assets": {"pictures": each}}


@each_row(
    ("record", "asked", "state"),
    [
        ({"namePublicLong": text("Ri")}, LONG, FAIL),
        ({"namePublicLong": text("Riz")}, LONG, PASS),
        ({"namePublicLong": text("  Riz  ")}, LONG, PASS),
        ({"namePublicLong": text("Rizot")}, LONG, PASS),
        ({"namePublicLong": text("Rizoto")}, LONG, FAIL),
        ({"namePublicLong": text("Rizoto", "deu-DE")}, LONG, FAIL),
        ({"namePublicLong": [*text("Riz"), *text("Ri", "fra-BE")]}, LONG, FAIL),
        (ACME, BRAND | {"one_of": ["OTHER", "acme"]}, PASS),
        (ACME, BRAND | {"one_of": ["OTHER", "ACM"]}, FAIL),
        (ACME, BRAND | {"pattern": "ACM"}, FAIL),
        (ACME, BRAND | {"pattern": "A.*|x"}, PASS),
        ({"namePublicLong": text("a\nb")}, NAME | {"pattern": "a.b"}, PASS),
        ({"namePublicLong": text("Riz\nlong")}, NAME | {"pattern": "[A-Z].*"}, PASS),
        ({"namePublicLong": text("Thé vert")}, NAME | {"pattern": r"\w+( \w+)*"}, PASS),
        ({"namePublicLong": text("Thé, vert")}, NAME | {"pattern": r"\w+( \w+)*"}, FAIL),
        ({"namePublicLong": text("हिन्दी चाय")}, NAME | {"pattern": r"\w+( \w+)*"}, PASS),
        ({"namePublicLong": text("The\u0301")}, NAME | {"pattern": "Thé"}, PASS),
        ({"namePublicLong": text("Thé")}, NAME | {"pattern": "The\u0301"}, PASS),
        ({"namePublicLong": text("The\u0301s")}, NAME | {"longest": 4}, PASS),
        ({"namePublicLong": text("Phở")}, NAME | {"one_of": ["Pho\u031b\u0309"]}, PASS),
        (picture((800, 100)), PICTURE, PASS),
        (picture((799, 799)), PICTURE, FAIL),
        (picture((10, 10), (100, 900)), PICTURE, PASS),
        (picture((None, None)), PICTURE, UNKNOWN),
        (picture((None, None), (10, 10)), PICTURE, FAIL),
        (picture((800, 800), face="7"), PICTURE, FAIL),
        (picture((800, 800), face="7"), {"attribute": "assets.pictures[back]"}, PASS),
    ],
)
def test_what_a_value_has_to_be_like(record: dict[str, Any], asked: dict[str, Any], state: State) -> None:
    """A value that is there and not as required fails; one of which this cannot be said is unknown."""
    assert state == judged(record, asked)


def test_a_wrong_value_is_shown_with_the_reason() -> None:
    """A finding shows the value verbatim, and what it should have been."""
    audit = prodex.audit(
        flatten([{"id": 7, "namePublicLong": text("<b>")}]), required(NAME | {"shortest": 20})
    )

    assert audit.failures()[["value", "reason", "language"]].values.tolist() == [
        ["<b>", "too short: 3 of at least 20 characters", "fr"]
    ]


def only(*paths: str) -> Catalog:
    """Return a catalogue of an empty product of which only these attributes were asked for."""
    return restricted([{"id": 7}], ProductQuery(source_include=list(paths)))


def _kind(code: str | None) -> dict[str, Any]:
    return {} if code is None else {"kind": {"code": code}}


TEA = BRAND | {"family": "TEA"}


@each_row(
    ("kind", "rows", "state"),
    [
        ("TEA", [TEA], FAIL),
        ("COFFEE", [TEA], UNKNOWN),
        (None, [TEA], UNKNOWN),
        ("COFFEE", [TEA, {"attribute": "netContent"}], NOT_APPLICABLE),
        ("COFFEE", [BRAND], FAIL),
        (None, [BRAND], FAIL),
        ("TEA", [BRAND, TEA | {"level": "may"}], NOT_APPLICABLE),
        ("TEA", [BRAND, {"attribute": "netContent", "family": "TEA"}], FAIL),
        ("GREEN", [TEA, {"attribute": "netContent", "family": "GREEN", "family_parent": "TEA"}], FAIL),
        (
            "GREEN",
            [TEA, {"attribute": "brand", "family": "GREEN", "family_parent": "TEA", "level": "may"}],
            NOT_APPLICABLE,
        ),
    ],
)
def test_a_family_inherits(kind: str | None, rows: list[dict[str, Any]], state: State) -> None:
    """A family takes what its parent is asked; of one that nobody listed nobody knows, unless all are asked."""
    assert state == judged(_kind(kind), *rows)


@each_row(
    ("code", "state"),
    [
        ("50131703", FAIL),
        ("50130000", FAIL),
        ("50990000", FAIL),
        ("10000025", UNKNOWN),
        ("47000000", UNKNOWN),
    ],
)
def test_gpc_codes_inherit_by_their_digits(code: str, state: State) -> None:
    """A class inherits from its segment; a brick does not show what it is a brick of, so nobody knows."""
    assert state == judged({"GPC": {"code": code}}, BRAND | {"family": "50000000"}, by="gpc")


def test_what_was_not_asked_for_is_unknown() -> None:
    """Nothing is said of an attribute, a language or a family that was not requested."""
    assert judged(only("kind"), BRAND) == UNKNOWN
    assert judged(only("kind"), BRAND | {"level": "not"}) == UNKNOWN
    assert judged(only("brand"), TEA) == UNKNOWN
    assert judged(only("brand", "isConsumerUnit"), BRAND) == FAIL
    assert judged(only("brand"), BRAND | {"consumer_units": False}) == FAIL


MARKET = BRAND | {"market": "France"}


@each_row(("market", "state"), [(250, FAIL), (56, NOT_APPLICABLE), (None, UNKNOWN)])
def test_a_channel_is_of_its_market(market: int | None, state: State) -> None:
    """Products of another market are none of the channel's; where the market is missing nobody knows."""
    record = {} if market is None else {"product_key": {"target_market_id": market}}

    assert state == judged(record, MARKET)


@each_row(
    ("record", "state"),
    [
        ({"isConsumerUnit": True}, FAIL),
        ({"isConsumerUnit": False}, NOT_APPLICABLE),
        ({"isConsumerUnit": None}, FAIL),
        ({"isConsumerUnit": "perhaps"}, FAIL),
        ({}, FAIL),
        ({"isConsumerUnit": True, "isOrderableUnit": True, "typePackaging": {"code": "CASE"}}, FAIL),
    ],
)
def test_a_channel_means_consumer_units(record: dict[str, Any], state: State) -> None:
    """A case needs no picture, unless the channel is of all units; a product that does not say what it is counts."""
    assert state == judged(record, BRAND)
    assert state == judged(record, BRAND | {"consumer_units": True})
    assert judged(record, BRAND | {"consumer_units": False}) == FAIL


def test_nobody_knows_what_is_required_where_the_flag_was_not_asked_for() -> None:
    """The product may be a case, so that it is neither complete nor incomplete; of all units it is known."""
    catalog = prodex.flatten([{"id": 7}])
    origin = prodex.catalog.Origin("sandbox", ProductQuery(source_include=["brand"]))
    catalog = prodex.Catalog(catalog.parts, origin)
    for units, state in ((True, UNKNOWN), (False, FAIL)):
        wanted = prodex.Requirements.of(
            pd.DataFrame(
                [{"channel": "Shop", "attribute": "brand", "level": "must", "consumer_units": units}]
            )
        )
        assert [[state]] == prodex.audit(catalog, wanted, progress=False).states.tolist()


def test_requirements_that_name_kinds_of_units_mean_these() -> None:
    """Families of packaging are asked each for itself, and whoever asks for a kind of unit asks every product."""
    catalog = prodex.flatten([{"id": 7, "isConsumerUnit": False, "typePackaging": {"code": "CASE"}}])
    row = {"channel": "Shop", "attribute": "brand", "level": "must"}
    by_packaging = prodex.Requirements.of(pd.DataFrame([row | {"family": "CASE"}]), by="packaging")
    of_units = prodex.Requirements.of(
        pd.DataFrame([row, row | {"attribute": "typePackaging"}, row | {"attribute": "isConsumerUnit"}])
    )

    def states(wanted: prodex.Requirements) -> dict[str, State]:
        audit = prodex.audit(catalog, wanted, progress=False)
        return dict(
            zip([check.required_attribute for check in audit.checks], audit.states[0].tolist(), strict=True)
        )

    assert {"brand": FAIL} == states(by_packaging)
    assert {"brand": NOT_APPLICABLE, "typePackaging": PASS, "isConsumerUnit": PASS} == states(of_units)


def test_an_unknown_attribute_names_the_nearest_and_all_at_once() -> None:
    """Whoever misspelled two attributes corrects both in one go."""
    wanted = required({"attribute": "brnad"}, {"attribute": "netContnet"})

    with pytest.raises(prodex.ProdexError) as refused:
        prodex.audit(flatten([{"id": 7}]), wanted)
    assert "'brand'" in str(refused.value)
    assert "'netContent'" in str(refused.value)


def test_an_attribute_that_nobody_has_any_more_is_missing() -> None:
    """It was there when the workbook was written: all products lack it now, and a warning says so."""
    with pytest.warns(UserWarning, match="no product of this catalogue has 'ownKindOfLid'"):
        audit = prodex.audit(flatten([{"id": 7}]), required({"attribute": "ownKindOfLid"}))

    assert audit.states.tolist() == [[FAIL]]
    assert judged({}, {"attribute": "drainedWeight"}) == FAIL


@each_row(
    ("row", "words"),
    [
        ({"level": "mist"}, "must"),
        ({"shortest": 9, "longest": 3}, "cannot both be"),
        ({"pattern": "("}, "cannot be read"),
        ({"level": "may", "shortest": 3}, "only what must or should"),
        ({"attribute": "assets.pictures[frnt]"}, "front"),
        ({"attribute": "brand[x]"}, "face or a nutrient"),
        ({"language": "klingonish"}, "klingonish"),
        ({"market": "Frence"}, "France"),
        ({"family": "A", "family_parent": "A"}, "parents of each other"),
    ],
)
def test_a_row_that_cannot_be_is_refused(row: dict[str, Any], words: str) -> None:
    """The message says which row, with which value, and what would do."""
    with pytest.raises(prodex.ProdexError) as refused:
        required(BRAND | row)
    assert words in str(refused.value)


def test_columns_follow_the_attributes_and_then_the_levels() -> None:
    """A person finds an attribute by its name, however much it is wanted."""
    wanted = required(
        BRAND | {"level": "should"}, {"attribute": "kind"}, {"attribute": "netContent", "level": "not"}
    )

    assert ["should_have[Shop,brand]", "must_have[Shop,kind]", "must_not_have[Shop,netContent]"] == [
        one.id for one in checks_of_requirements(wanted)
    ]


def test_contradictions_are_named_all_at_once() -> None:
    """Two rows that ask different things of the same are no requirement; the same twice is one."""
    rows = [BRAND, BRAND, BRAND | {"level": "may"}, NAME, NAME | {"level": "not"}]

    with pytest.raises(prodex.ProdexError) as refused:
        required(*rows)
    assert "2 in all" in str(refused.value)
    assert len(required(BRAND, BRAND).requirements) == 1


FAMILIES = ("*", "TEA", "GREEN", "COFFEE")
ATTRIBUTES = ("brand", "netContent", "originCountry")
HELD: dict[str, Any] = {
    "brand": {"code": "ACME"},
    "netContent": [{"data": 5, "expressedIn": {"code": "GRM"}}],
    "originCountry": [{"code": "250"}],
}


@given(
    asks=st.dictionaries(
        st.tuples(st.sampled_from(FAMILIES), st.sampled_from(ATTRIBUTES)),
        st.sampled_from(["must", "should", "may", "not"]),
        min_size=1,
    ),
    products=st.lists(
        st.tuples(st.sampled_from(["TEA", "GREEN", "COFFEE", "NEW"]), st.sets(st.sampled_from(ATTRIBUTES))),
        min_size=1,
        max_size=5,
    ),
)
def test_the_states_are_those_of_the_plain_definition(
    asks: dict[tuple[str, str], str], products: list[tuple[str, set[str]]]
) -> None:
    """Family by family and product by product, by hand: the same states, and each product has one under each check."""
    rows = [
        {
            "family": family,
            "attribute": name,
            "level": level,
            "family_parent": "TEA" if family == "GREEN" else "",
        }
        for (family, name), level in asks.items()
    ]
    records = [
        {"id": n, "kind": {"code": kind}, **{name: HELD[name] for name in held}}
        for n, (kind, held) in enumerate(products)
    ]
    audit = prodex.audit(flatten(records), required(*rows), progress=False)
    listed = {family for family, _ in asks}
    parents = {"GREEN": "TEA"} if "GREEN" in listed else {}

    def expected(kind: str, held: set[str], name: str, level: str) -> State:
        chain = [kind, *([parents[kind]] if kind in parents else []), "*"]
        asked = next((asks[one, name] for one in chain if (one, name) in asks), None)
        if asked is None:
            known = any(one in listed for one in chain[:-1]) or "*" in listed
            return NOT_APPLICABLE if known else UNKNOWN
        if asked != level:
            return NOT_APPLICABLE
        return PASS if (name in held) == (level != "not") else FAIL

    for place, check in enumerate(audit.checks):
        for row, (kind, held) in enumerate(products):
            assert expected(kind, held, check.required_attribute, check.level) == State(
                audit.states[row, place]
            )
    assert (sum(audit.state_counts[state] for state in State) == len(products)).all()


WANTED = required(
    NAME | {"shortest": 10, "market": "France"},
    *(one | {"level": level} for one in (BRAND, {"attribute": "netContent"}) for level in ("must",)),
    *(PICTURE | {"family": family} for family in ("*", "BISCUITS")),
    {"attribute": "isPartitionedBy.contains[FAT]", "level": "should"},
    {"attribute": "percentageOfAlcoholByVolume", "level": "not"},
)


@cache
def wanted_of_the_sample() -> tuple[list[dict[str, Any]], prodex.quality.Audit]:
    """Return products of the sample, and what is found with everything."""
    records = [dict(product.record) for product in shared_products(40, seed=3)]
    return records, prodex.audit(flatten(records), WANTED, now=AS_OF, progress=False)


@given(
    st.sampled_from(["source_include", "source_exclude"]),
    st.sets(
        st.sampled_from(
            [
                *(
                    "namePublicLong",
                    "namePublicLong.data",
                    "brand",
                    "brand.code",
                    "netContent",
                    "kind",
                    "kind.code",
                ),
                *(
                    "assets.pictures",
                    "assets.pictures.url",
                    "assets.pictures.width",
                    "isPartitionedBy",
                    "product_key",
                ),
                *(
                    "isPartitionedBy.contains.quantity",
                    "percentageOfAlcoholByVolume",
                    "assets.pictures.productFace",
                ),
            ]
        ),
        min_size=1,
    ),
    st.sets(st.sampled_from(["fr", "nl", "de"]), max_size=1),
)
def test_what_is_left_out_of_a_query_changes_no_answer(
    how: str, paths: set[str], languages: set[str]
) -> None:
    """With less requested a state stays or becomes unknown, and never another one."""
    records, everything = wanted_of_the_sample()
    query = ProductQuery(**{how: sorted(paths)}, product_languages=sorted(languages) or None)
    less = prodex.audit(restricted(records, query), WANTED, now=AS_OF, progress=False)

    changed = (less.states != everything.states) & (less.states != UNKNOWN)
    assert [] == sorted({less.checks[place].id for place in changed.any(axis=0).nonzero()[0]})


def test_processes_judge_alike(tmp_path: Any) -> None:
    """Requirements travel to other processes with the parts that they judge."""
    records = [{"id": n, **(ACME if n % 2 else {}), "kind": {"code": "TEA"}} for n in range(50)]
    catalog, wanted = flatten(records), required(BRAND, TEA | {"level": "should"})

    with ProcessPoolExecutor(1) as executor:
        there = prodex.audit(catalog, wanted, executor=executor, progress=False)

    assert (there.states == prodex.audit(catalog, wanted, progress=False).states).all()


def test_requirements_stand_beside_a_profile() -> None:
    """They are judged alone, or after the checks of a profile, whose states stay as they are."""
    catalog = flatten([{"id": 7, "gtin": "03036811359936"}])
    alone, core = prodex.audit(catalog, required(BRAND)), prodex.audit(catalog, "core")
    both = prodex.audit(catalog, "core", requirements=required(BRAND))

    assert [check.id for check in both.checks] == [
        *(check.id for check in core.checks),
        "must_have[Shop,brand]",
    ]
    assert (both.states[:, :-1] == core.states).all()
    assert (both.states[:, -1:] == alone.states).all()
    assert both.profile == "core + own"


def test_a_profile_names_a_file_of_requirements(tmp_path: Path) -> None:
    """The path is relative to the profile, wherever somebody runs it; a file with requirements is a profile itself."""
    required(BRAND).write(tmp_path / "shop.toml")
    (tmp_path / "own.toml").write_text('extends = "core"\nrequirements = "shop.toml"\n')

    assert prodex.Profile.read(tmp_path / "own.toml").every_check[-1].id == "must_have[Shop,brand]"
    assert [fact.id for fact in prodex.Profile.read(tmp_path / "shop.toml").every_check] == [
        "must_have[Shop,brand]"
    ]
    with pytest.raises(prodex.ProdexError, match="requirements is 5"):
        prodex.Profile.read({"requirements": 5})


def test_the_command_judges_by_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a profile or alone; the table of completeness can be printed."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    flatten([{"id": 7, "gtin": "03036811359936"}]).save("shop")
    file = required(BRAND).write(tmp_path / "shop.csv")
    shown = CliRunner().invoke(
        app, ["audit", "shop", "--requirements", str(file), "--show", "completeness", "--format", "json"]
    )

    assert [row["incomplete"] for row in json.loads(shown.stdout)] == [1, 1, 1, 1]
    alone = CliRunner().invoke(
        app, ["audit", "shop", "--profile", str(file), "--show", "checks", "--format", "json"]
    )
    assert [row["check"] for row in json.loads(alone.stdout)] == ["must_have[Shop,brand]"]


def test_a_supplier_is_asked_once_for_several_channels(tmp_path: Path) -> None:
    """What two channels require alike is one row, in its worst form; the worklist says how many were left out."""
    rows = [BRAND, BRAND | {"channel": "Leaflet", "level": "should"}, BRAND | {"channel": "Book"}, NAME]
    index = prodex.audit(flatten([{"id": 7}]), required(*rows), progress=False).worklists(tmp_path / "to_fix")
    written = questions(tmp_path / "to_fix" / index["file"][0])

    assert written[["attribute", "severity"]].values.tolist() == [
        ["brand", "blocker"],
        ["namePublicLong", "blocker"],
    ]
    lines = [
        cell.value
        for row in load_workbook(tmp_path / "to_fix" / index["file"][0]).worksheets[0]
        for cell in row
    ]
    assert "2 findings of other channels that ask for the same: one answer serves them all." in lines


def test_an_answer_is_judged_by_the_requirement_that_asked() -> None:
    """What the supplier answers is refused where it is still not as required, and taken where it is."""
    wanted = required(NAME | {"longest": 10})
    catalog = flatten([{"id": 7, "gtin": "03036811359936", "namePublicLong": text("Riz au lait entier")}])
    rows = prodex.audit(catalog, wanted, progress=False).worklist_rows()

    for answer, is_refused in (("Riz au lait du chef", True), ("Riz", False)):
        given = prodex.read_worklist(
            rows.assign(new_value=answer), catalog, profile=prodex.Profile.read(wanted)
        )
        assert [is_refused, not is_refused] == [bool(len(given.refused)), bool(len(given.preview()))]


def test_a_pattern_that_takes_too_long_leaves_its_products_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was to judge is unknown, the audit says which text it was looking at, and the rest is judged."""
    monkeypatch.setattr("prodex.patterns.SECONDS", 0.05)
    slow = NAME | {"pattern": "(a|aa)+"}
    long = {"id": 7, "namePublicLong": text("a" * 200 + "b")} | ACME
    catalog = flatten([long, {"id": 8} | ACME, {"id": 9, "namePublicLong": text("aa")}])
    audit = prodex.audit(catalog, required(BRAND | {"pattern": "A.*"}, slow), progress=False)

    brand, name = audit.states.T.tolist()
    assert [PASS, PASS, FAIL] == brand
    assert [UNKNOWN, FAIL, UNKNOWN] == name
    (crash,) = audit.crashes
    assert "must_have[Shop,namePublicLong,fr]" == crash.check
    assert "'(a|aa)+' takes longer than" in crash.message
    assert "'aaaa" in crash.message
