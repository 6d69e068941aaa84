"""The report says what the audit says, in its order, verbatim, and nothing in it runs or asks the network."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from datetime import timedelta
from html import escape
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import prodex
from prodex import charts
from prodex.colour_scale import SCALE
from prodex.display.audit import text_of
from prodex.display.report import rendered
from prodex.display.report.contents import GROUPINGS, contents, tiles
from prodex.errors import InputError
from prodex.languages import Translation
from prodex.notebook import assets
from prodex.phrases import percent
from prodex.quality.audit_part import AuditPart, Crash
from prodex.quality.scores import CAVEAT, FORMULA, readiness
from prodex.quality.states import State
from prodex.untrusted_text import even_limit, words
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row

from . import hostile
from .reading_html import Node, parsed, read

#: A few checks of each severity; profiles that come with prodex may change.
PROFILE = {
    "checks": {
        "valid_gtin": {"severity": "blocker"},
        "has_front_packshot": {"severity": "blocker"},
        "duplicate_gtin": {},
        "updated_within": {"days": 365, "severity": "info"},
        "required_text": [
            {"attribute": "namePublicLong", "language": "of the market", "severity": "blocker"},
            {"attribute": ["namePublicShort", "description"], "language": "of the market"},
        ],
    }
}
ORDER = ["figures", "grades", "gaps", "standings", "offenders", "checks", "failing", "cards"]


@pytest.fixture(scope="module")
def audit(sample: prodex.Catalog) -> prodex.quality.Audit:
    return prodex.audit(sample, PROFILE, now=AS_OF)


@pytest.fixture(scope="module")
def earlier(sample: prodex.Catalog) -> prodex.quality.Audit:
    part = sample.where(is_consumer_unit=True)
    return prodex.audit(part, PROFILE, now=AS_OF - timedelta(days=31))


@pytest.fixture(scope="module")
def page(
    audit: prodex.quality.Audit, earlier: prodex.quality.Audit, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    return audit.to_html(tmp_path_factory.mktemp("report") / "my-report.html", trend=[earlier])


@pytest.fixture(scope="module")
def top(page: Path) -> Node:
    return read(page)


@pytest.fixture
def hostile_page(tmp_path: Path) -> Path:
    return hostile.audit().to_html(tmp_path / "hostile.html")


@pytest.mark.slow
def test_sections_stand_in_their_order(top: Node) -> None:
    """Header, figures, grades, gaps, heat map, offenders, rules, failing products, cards, footnotes."""
    body = top.one("body")
    landmarks = [one.name for one in body.inside if isinstance(one, Node)]
    assert ["a", "header", "nav", "main", "footer", "script"] == landmarks
    assert ORDER == [one.attributes["id"] for one in body.one("main").all("section")]
    links = [one.attributes["href"] for one in body.one("nav").all("a")]
    assert [f"#{name}" for name in [*ORDER, "notes"]] == links


@pytest.mark.slow
def test_header_says_what_was_asked(service: prodex.service.Client, tmp_path: Path) -> None:
    """The page begins with catalogue, time, query and what the query left out."""
    query = prodex.ProductQuery(target_market=250, source_include=["brand"], product_languages=["fr"])
    catalog = prodex.load_products(service, query, name="shop", progress=False)
    head = read(prodex.audit(catalog, PROFILE, now=AS_OF).to_html(tmp_path / "a.html")).one("header")
    facts = {
        one.one("dt").words: one.one("dd").words for one in head.one("dl").inside if isinstance(one, Node)
    }
    assert "shop" == head.one("h1").words == facts["Catalogue"]
    assert repr(query) == facts["Query"]
    assert service.base_url == facts["From"]
    assert f"{catalog.origin.server_time:%Y-%m-%d %H:%M} UTC" == facts["Requested"]
    assert "Only these attributes were requested: brand" in facts["Not requested"]
    assert "Only texts in these languages were requested: fr." in facts["Not requested"]
    assert "Therefore unknown for every product:" in facts["Not requested"]
    assert "required_text[namePublicLong,fr]" in facts["Not requested"]


def test_tiles_are_the_summary_with_its_change(
    audit: prodex.quality.Audit, earlier: prodex.quality.Audit, top: Node
) -> None:
    """Ready, mean score, products to work on and blockers, and what became of them."""
    now, then = audit.summary, earlier.summary
    tiles = [one for one in top.one("ul", class_="tiles").inside if isinstance(one, Node)]
    assert [
        percent(now["ready"]),
        percent(now["mean_score"]),
        str(now["to_work_on"]),
        str(now["not_ready_products"]),
    ] == [tile.one("strong").words for tile in tiles]
    more = now["to_work_on"] - then["to_work_on"]
    assert more > 0
    assert f"▲ {more} more since {earlier.now:%Y-%m-%d} (worse)" in tiles[2].words
    step = (now["ready"] - then["ready"]) * 100
    assert f"{abs(step):.1f} points" in tiles[0].words


def test_of_two_audits_on_a_day_the_time_is_named() -> None:
    """ "Since 2026-11-24" on that very day would not say since when."""
    catalog = prodex.flatten([{"id": 1, "gtin": "03036811359935"}])
    noon = AS_OF.replace(hour=12, minute=30)
    hours = [prodex.audit(catalog, "core", now=noon + timedelta(hours=step)) for step in (-3, 0, 24)]

    assert ["since 09:30"] * 4 == [tile["since"] for tile in tiles(hours[1], hours[0])]
    assert [f"since {noon:%Y-%m-%d}"] * 4 == [tile["since"] for tile in tiles(hours[2], hours[1])]


@pytest.mark.slow
def test_only_equal_measures_are_compared(audit: prodex.quality.Audit, earlier: prodex.quality.Audit) -> None:
    """The newest earlier audit by the same profile and rules counts; a later one or another measure does not."""
    other = replace(earlier, rule_set="0", now=AS_OF - timedelta(days=1))
    later = replace(earlier, now=AS_OF + timedelta(days=1))
    older = replace(earlier, now=AS_OF - timedelta(days=300))
    shown = contents(audit, [older, other, later, earlier])
    assert all(f"{earlier.now:%Y-%m-%d}" in tile["since"] for tile in shown["tiles"])
    assert [None] * 4 == [tile["change"] for tile in contents(audit, [other, later])["tiles"]]
    assert "another measure" in rendered(shown)


def test_trend_is_that_of_the_audit(
    audit: prodex.quality.Audit, earlier: prodex.quality.Audit, top: Node
) -> None:
    """Each audit is in the table with the numbers behind the chart."""
    expected = [
        [
            str(row["products"]),
            f"{row['ready_products']} ({percent(row['ready'])})",
            str(row["not_ready_products"]),
            str(row["undecided_products"]),
            percent(row["mean_score"]),
        ]
        + [str(row[f"grade_{grade}"]) for grade in "ABCDE"]
        for row in audit.trend([earlier]).to_dict("records")
    ]
    assert expected == [row[2:] for row in top.one("section", id="grades").one("table").rows()]
    assert (
        ", ".join(f"{audit.summary[f'grade_{g}']} {g}" for g in "ABCDE") in top.one("img").attributes["alt"]
    )


def test_gaps_are_those_of_the_audit(audit: prodex.quality.Audit, top: Node) -> None:
    """The five largest gaps are listed with the gain of fixing each, which is never zero."""
    found = audit.gaps()
    shown = top.one("ol", class_="gaps").all("li")
    assert min(5, len(found)) == len(shown)
    assert f"{len(shown)} of {len(found)} problems" in top.one("section", id="gaps").words
    for gap, row in zip(shown, found.to_dict("records"), strict=False):
        assert gap.one("h3").words.startswith(row["problem"])
        assert f"{row['products']} of {row['applicable']} products fail" in gap.words
        assert f"If fixed: {row['brings'].replace('->', '→')}." in gap.words
        now = audit.summary["ready"]
        if percent(row["ready_if_fixed"]) != percent(now):
            assert f"ready {percent(now)[:-2]} → {percent(row['ready_if_fixed'])}" in gap.words
        assert f"score +{row['score_gain'] * 100:.2f} points." in gap.words


@each_row("by", GROUPINGS)
def test_heat_map_is_that_of_the_scores(audit: prodex.quality.Audit, top: Node, by: str) -> None:
    """Each grouping has its table, worst first, with a column for each block."""
    whole = audit.scores(by)
    whole = whole[whole["products"] > 0]
    table = top.one("div", class_=f"panel of-{by}").one("table")
    rows = table.rows()
    shown = min(25, len(whole))
    assert f"{shown} of {len(whole)}" in table.one("caption").words
    assert [percent(score) for score in whole["score"][:shown]] == [
        row[2].split(" %")[0] + " %" for row in rows
    ]
    code = whole.columns[0]
    for place, block in enumerate(dict.fromkeys(check.block for check in audit.checks), 3):
        scores = audit.scores(by, block=block).set_index(code)
        for row, group in zip(rows, whole[code], strict=False):
            here = scores.loc[group] if group in scores.index else {"score": float("nan"), "failed": 0}
            expected = "–" if pd.isna(here["score"]) else percent(here["score"])
            assert row[place] == (f"{expected}{here['failed']} failing" if here["failed"] else expected)


def test_worst_offenders_have_most_failures(audit: prodex.quality.Audit, top: Node) -> None:
    """Owners of ten products and more by the number of failing checks, then smaller ones; with their worst problem."""
    scores = audit.scores("owner").set_index("owner")
    rows = top.one("div", class_="panel worst-owner").one("table").rows()
    by_size = scores[scores["failed"] > 0].assign(small=scores["products"] < 10)
    expected = by_size.sort_values(["small", "failed"], ascending=[True, False])["failed"]
    assert expected[: len(rows)].tolist() == [int(row[1]) for row in rows]
    failures = audit.failures().drop_duplicates(["product_id", "check"])
    for row in rows:
        owner, size = re.fullmatch(r"(.+?)(?:\s*n = (\d+))?", row[0]).groups()  # type: ignore[union-attr]
        own = scores.loc[owner]
        assert (str(own["products"]) if own["products"] < 10 else None) == size
        assert own["failed"] == int(row[1])
        assert f"{own['to_work_on']} of {own['products']}" == row[2]
        assert str(readiness(own)) == row[4]
        counts = failures[failures["owner"] == owner]["problem"].value_counts()
        problem, count = re.fullmatch(r"(.+) \((\d+)\)", row[-1]).groups()  # type: ignore[union-attr]
        assert int(count) == counts.max() == counts[problem]


def test_rule_table_is_that_of_the_checks(audit: prodex.quality.Audit, top: Node) -> None:
    """Each check has a line with its counts; failing checks come first and link to their products."""
    table = audit.by_check.set_index("check")
    shown = top.one("section", id="checks").one("table")
    rows = [one for one in shown.one("tbody").inside if isinstance(one, Node)]
    assert set(table.index) == {row.one("code").words for row in rows}
    for row, cells in zip(rows, shown.rows(), strict=True):
        facts = table.loc[row.one("code").words]
        counts = (
            facts["failed"],
            facts["failed"] + facts["passed"],
            facts["not_applicable"],
            facts["unknown"],
        )
        assert [f"{count:,}" for count in counts] == cells[4:8]
        assert (percent(facts["score"]) if cells[5] != "0" else "–") == cells[8]
        for link in row.all("a"):
            (target,) = [one for one in top.walk() if one.attributes.get("id") == link.attributes["href"][1:]]
            assert f"Findings of {row.one('code').words}" == target.attributes["aria-label"]
    failing = [cells[4] != "0" for cells in shown.rows()]
    assert sorted(failing, reverse=True) == failing


@pytest.mark.slow
def test_every_failure_of_a_small_audit_is_on_the_page(audit: prodex.quality.Audit, top: Node) -> None:
    """Product, field, value and reason of each finding are listed under its check."""
    failures = audit.failures()
    section = top.one("section", id="failing")
    assert f"{len(failures)} of {len(failures)} findings" in section.words
    for check, rows in failures.groupby("check", observed=True):
        table = section.one("div", **{"aria-label": f"Findings of {check}"}).one("table")
        expected = [
            (row.gtin, row.owner, row.reason if isinstance(row.reason, str) else "–")
            for row in rows.itertuples()
        ]
        assert expected == [(row[0], row[2], row[5]) for row in table.rows()]


def test_files_beside_the_page_hold_everything(audit: prodex.quality.Audit, page: Path, top: Node) -> None:
    """The linked files exist with the stated number of rows and hold the audit's own tables."""
    links = [a.attributes["href"] for a in top.one("ul", class_="files").all("a")]
    assert [
        f"my-report_files/{n}.{e}" for n in ("failures", "products", "checks") for e in ("csv", "parquet")
    ] == links
    folder = page.with_name("my-report_files")
    failures = pd.read_parquet(folder / "failures.parquet")
    assert audit.failures()["reason"].tolist() == failures["reason"].tolist()
    again = pd.read_csv(folder / "failures.csv", dtype="str")
    assert failures["gtin"].tolist() == again["gtin"].tolist()
    products = pd.read_parquet(folder / "products.parquet")
    assert audit.products["score"].tolist() == products["score"].tolist()
    assert f"all products with score and grade, {len(products)} rows" in top.one("ul", class_="files").words
    assert audit.by_check["failed"].tolist() == pd.read_parquet(folder / "checks.parquet")["failed"].tolist()


def test_cards_are_about_the_products_furthest_from_ready(audit: prodex.quality.Audit, top: Node) -> None:
    """Those with most failing blockers, then with the least score, each with its texts in their languages."""
    products = audit.products
    worst = products[products["failed"] > 0].sort_values(
        ["blockers", "score"], ascending=[False, True], kind="stable"
    )
    cards = top.all("article", class_="card")
    gtins = [card.one("dd", class_="gtin").words for card in cards]
    assert worst["gtin"].head(10).tolist() == gtins
    assert f"{len(cards)} of {len(worst)} products that fail a check" in top.one("section", id="cards").words
    assert audit.catalog is not None
    texts = audit.catalog.texts
    own = texts[(texts["gtin"] == gtins[0]) & ~texts["attribute"].str.startswith("lastRequest.")]
    (table,) = [one for one in cards[0].all("table") if "texts" in one.one("caption").words] or [None]
    shown = [] if table is None else [row[2] for row in table.rows()]
    assert sorted(own["text"]) == sorted(shown)


def test_without_its_catalogue_a_card_says_so(audit: prodex.quality.Audit) -> None:
    """An audit whose catalogue is not available has no texts to show."""
    text = rendered(contents(replace(audit, catalog=None)))
    assert "The catalogue was not available" in text
    assert "Texts</h4>" not in text


@pytest.mark.slow
def test_footnotes_say_how_far_the_figures_go(sample: prodex.Catalog, tmp_path: Path) -> None:
    """Formula, rule set, caveat, crashes, unknowns, and a catalogue that is not whole."""
    prodex.packs.rule(title="it raises")(hostile.raises)
    ledger = replace(sample.origin.ledger, announced=500)
    partial = replace(sample, origin=sample.origin.with_ledger(ledger))
    top = read(
        prodex.audit(partial, {"checks": {"raises": {}, "valid_gtin": {}}}).to_html(tmp_path / "a.html")
    )
    notes = top.one("footer").words
    assert FORMULA in notes
    assert CAVEAT in notes
    assert "Rule set" in notes
    assert "1 crash: these checks are unknown there, and never a pass" in notes
    assert "ValueError" in top.one("footer").one("table").rows()[0][2]
    assert "incomplete: 400 of 500 products" in notes
    assert "incomplete: 400 of 500 products" in top.one("ul", class_="warnings").words


@pytest.mark.slow
def test_hostile_text_is_shown_verbatim(hostile_page: Path) -> None:
    """Texts of suppliers appear on the page unchanged, in each place, isolated from the text around them."""
    top = read(hostile_page)
    main, there = top.one("main"), [bdi.text for bdi in top.all("bdi")]
    (findings,) = [one for one in main.all("div") if one.attributes.get("aria-label") == "Findings of fails"]
    for text in (*hostile.STRINGS, hostile.CONTROLS[1], hostile.LONG):
        cells = [cell for row in findings.all("tr") for cell in row.all("td")]
        assert 2 <= sum(text in [bdi.text for bdi in cell.all("bdi")] for cell in cells), text
        label = text[:160]
        assert any(
            label == bdi.text for one in main.all("article", class_="card") for bdi in one.all("bdi")
        ) or (label in there)
        assert sum(label == one for one in there) >= 4, text
    assert {"auto"} == {bdi.attributes.get("dir") for bdi in top.all("bdi")}
    assert hostile.STRINGS[0] in top.one("section", id="checks").text


def test_long_texts_are_folded_and_say_their_length(hostile_page: Path) -> None:
    """A text of 40,000 characters is folded with its length; a cut label shows the full length."""
    top = read(hostile_page)
    folded = [one for one in top.all("details", class_="typed") if one.one("bdi").text == hostile.LONG]
    assert folded
    assert {f"{len(hostile.LONG):,} characters"} == {one.one("summary").words for one in folded}
    assert f"(160 of {len(hostile.LONG):,} characters)" in top.text


@pytest.mark.slow
def test_nothing_on_the_page_runs_or_is_fetched(page: Path, hostile_page: Path) -> None:
    """One script, ours, whose hash the policy names; no address but of this page, its files, and its own picture."""
    for path in (page, hostile_page):
        top = read(path)
        policy = top.one("meta", **{"http-equiv": "Content-Security-Policy"}).attributes["content"]
        script = top.one("script")
        hashed = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
        assert (
            f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{hashed}'; "
            "base-uri 'none'; form-action 'none'"
        ) == policy
        assert {} == script.attributes
        for node in top.walk():
            assert not [name for name in node.attributes if name.startswith("on")]
            assert node.name not in {
                "iframe",
                "object",
                "embed",
                "link",
                "base",
                "form",
                "video",
                "audio",
                "svg",
            }
            for name in ("src", "href", "srcset", "action", "data", "background"):
                address = node.attributes.get(name, "#")
                assert re.match(
                    r"#|data:image/svg\+xml;base64,|[\w%-]+_files/\w+\.(csv|parquet)$", address
                ), address
            style = node.attributes.get("style", "")
            assert re.fullmatch(r"(width:[\d.]+%)?", style)
        assert not re.search(r"url\(|@import|expression", top.one("style").text)


def test_csv_runs_nothing_in_a_spreadsheet(hostile_page: Path) -> None:
    """A text that looks like a formula has an apostrophe before it in CSV, and is as it came in Parquet."""
    folder = hostile_page.with_name("hostile_files")
    (formula,) = [text for text in hostile.STRINGS if text.startswith("=")]
    assert f"'{formula}" in pd.read_csv(folder / "failures.csv", dtype="str")["value"].tolist()
    assert formula in pd.read_parquet(folder / "failures.parquet")["value"].tolist()


def test_tables_and_headings_can_be_followed(top: Node) -> None:
    """Headings do not skip a level; tables have captions, their headings a scope; ids are there once."""
    levels = [int(node.name[1]) for node in top.walk() if re.fullmatch("h[1-6]", node.name)]
    assert 1 == levels[0] == min(levels)
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for table in top.all("table"):
        assert table.one("caption").words
        assert all(head.attributes.get("scope") in {"col", "row"} for head in table.all("th"))
    ids = [node.attributes["id"] for node in top.walk() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    named = {
        node.attributes["aria-labelledby"] for node in top.walk() if "aria-labelledby" in node.attributes
    }
    assert named <= set(ids)


@pytest.mark.slow
def test_rows_are_shared_out_among_the_checks(sample: prodex.Catalog) -> None:
    """With more failures than a page can hold, each check shows a part, with the total."""
    nothing = [f"nothing{n}" for n in range(9)]
    many = {"required_text": {"attribute": nothing, "language": "fr"}, "valid_gtin": {}}
    audit = prodex.audit(sample, {"attributes": nothing, "checks": many}, now=AS_OF)
    shown = contents(audit)
    total = int((audit.states == State.FAIL).sum())
    assert 2_000 < total == shown["failures_total"]
    assert 1_900 < shown["failures_shown"] <= 2_000
    assert {len(one["rows"]) for one in shown["failing"] if one["total"] > 300} == {
        max(len(one["rows"]) for one in shown["failing"])
    }
    assert all(len(one["rows"]) == one["total"] for one in shown["failing"] if one["total"] < 50)
    text, first = rendered(shown), shown["failing"][0]
    assert f"{shown['failures_shown']:,} of {total:,} findings" in text
    assert f"{len(first['rows']):,} of {first['total']:,} findings" in text


@pytest.mark.slow
def test_endless_values_are_cut_aloud() -> None:
    """Where the values alone would be too large for a page, each is cut to a fair share, with its length."""
    text = "<" * 40_000
    name = [{"expressedIn": {"code": "fra-FR"}, "data": text}]
    records = [{"id": n, "gtin": f"{n}", "namePublicLong": name} for n in range(100)]
    prodex.packs.rule(title="always")(hostile.fails)
    page = rendered(contents(prodex.audit(prodex.flatten(records), {"checks": {"fails": {}}})))
    assert len(page.encode()) < 5_000_000
    shown = parsed(page).one("div", **{"aria-label": "Findings of fails"}).all("td", class_="typed")[0]
    length = len(shown.one("bdi").text)
    assert 1_000 < length < 40_000
    assert f"{length:,} of 40,000 characters" in shown.words


def several_times(part: AuditPart, times: int) -> AuditPart:
    """Return a part that has each product of another so often."""
    place = part.findings.schema.get_field_index("product")
    findings = [
        part.findings.set_column(
            place,
            part.findings.schema.field(place),
            pc.add(part.findings["product"], pa.scalar(n * part.size, pa.int32())),
        )
        for n in range(times)
    ]
    products = pa.concat_tables([part.products] * times)
    return AuditPart.of(products, np.tile(part.states, (times, 1)), pa.concat_tables(findings))


@pytest.mark.slow
def test_page_of_a_hundred_thousand_products_is_small(audit: prodex.quality.Audit) -> None:
    """100,000 products and their failures make a page below 5 MB."""
    # Parts have some thousand products each, as those of a snapshot.
    at_once, parts = 25, 10
    times = at_once * parts
    assert len(audit) * times == 100_000
    large = replace(audit, parts=(several_times(audit.parts[0], at_once),) * parts, catalog=None)
    page = rendered(contents(large))
    assert f"{len(audit) * times:,} products" in page
    assert f"of {len(audit.failures()) * times:,} findings" in page
    assert len(page.encode()) < 5_000_000


@pytest.mark.slow
@each_row(
    "records",
    [[], [{"id": 1}], [{"id": 1, "gtin": "03036811359935"}]],
    ids=["empty", "one field", "all pass"],
)
def test_little_makes_a_page_too(records: list[dict[str, object]], tmp_path: Path) -> None:
    """An empty catalogue, one of one field, and one without failures are shown as what they are."""
    top = read(
        prodex.audit(prodex.flatten(records), {"checks": {"valid_gtin": {}}}).to_html(tmp_path / "a.html")
    )
    assert ORDER == [one.attributes["id"] for one in top.one("main").all("section")]
    assert (
        f"{len(records)} product{'' if len(records) == 1 else 's'}, 1 check of 1 rule"
        in top.one("header").words
    )


@pytest.mark.slow
def test_a_trend_of_one_point_is_a_sentence(tmp_path: Path) -> None:
    """One audit has no chart; a second one of the same measure has."""
    catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}])
    audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}}, progress=False)
    page = audit.to_html(tmp_path / "one.html").read_text("utf-8")
    assert "100 % of 1 product has grade A or B (1 A, 0 B, 0 C, 0 D, 0 E). It is the only audit" in page
    assert "Chart of grades" not in page
    assert "Chart of grades" in audit.to_html(tmp_path / "two.html", trend=[audit]).read_text("utf-8")


@pytest.mark.slow
def test_same_audit_gives_the_same_page(audit: prodex.quality.Audit) -> None:
    """Nothing in a page comes from the moment at which it was written."""
    assert rendered(contents(audit)) == rendered(contents(audit))


def test_what_cannot_be_written_is_refused(audit: prodex.quality.Audit, tmp_path: Path) -> None:
    """A folder is no file, and one audit no list of audits."""
    with pytest.raises(InputError, match="is a folder"):
        audit.to_html(tmp_path)
    with pytest.raises(InputError, match="list of earlier audits"):
        audit.to_html(tmp_path / "a.html", trend=audit)  # type: ignore[arg-type]
    assert [] == list(tmp_path.iterdir())


def test_limits() -> None:
    """What is shown never takes more room than there is; escaped characters count as what they become."""
    assert 10 == even_limit([3, 3, 3], 10)
    assert 4 == even_limit([3, 3, 9], 10)
    assert 0 == even_limit([5] * 10, 9)
    assert len(escape(words("&" * 100, 50).text)) <= 50
    assert not words("").is_missing


@pytest.mark.slow
def test_figures_draw_the_audits_numbers(audit: prodex.quality.Audit, earlier: prodex.quality.Audit) -> None:
    """Charts for a notebook hold the same numbers; audits of another measure are not drawn."""
    other = replace(earlier, profile="other")
    drawn = charts.grades_over_time(audit.trend([earlier, other]))
    assert ["2026-10-01", "2026-11-01"] == [text.get_text() for text in drawn.axes[0].get_yticklabels()]
    widths = [bar.get_width() for bar in drawn.axes[0].patches]
    counts = [
        row[f"grade_{g}"] / row["products"] for _, row in audit.trend([earlier]).iterrows() for g in "ABCDE"
    ]
    assert pytest.approx(counts) == widths
    gaps = charts.largest_gaps(audit, 3)
    assert pytest.approx((audit.gaps()["ready_gain"].head(3) * 100).tolist()) == [
        bar.get_width() for bar in gaps.axes[0].patches
    ]
    scores = charts.score_map(audit, "market")
    shown = [text.get_text() for text in scores.axes[0].texts]
    assert len(audit.scores("market")) * (1 + len({check.block for check in audit.checks})) == len(shown)


@pytest.mark.slow
def test_page_panels_and_charts_share_their_shades(audit: prodex.quality.Audit) -> None:
    """A score looks the same on the page, in a panel and in a chart of a notebook."""
    shades = {f"h{place}": one.light for place, one in enumerate(SCALE)}

    for styled in (rendered(contents(audit)), assets.style()):
        assert shades == dict(re.findall(r"--(h\d): (#\w+);", styled)[: len(shades)])


@pytest.mark.slow
def test_a_language_that_there_is_not_is_shown_as_it_came(tmp_path: Path) -> None:
    """Suppliers type what they like, and the page is written all the same."""
    klingon = {"expressedIn": {"normalizedCode": "klingon"}, "data": "<b>Heghlu'meH</b>"}
    catalog = prodex.flatten([{"id": 7, "isConsumerUnit": True, "namePublicLong": [klingon]}])
    audit = prodex.audit(catalog, "core", progress=False)
    assert "klingon" in set(audit.failures()["language"])
    assert ">klingon<" in audit.to_html(tmp_path / "report.html").read_text("utf-8")


GTIN, WRONG_GTIN = "03036811359935", "03036811359936"
GTIN_ONLY = {"checks": {"valid_gtin": {"severity": "blocker"}}}


def page_of(audit: prodex.quality.Audit, folder: Path, language: str = "en") -> str:
    """Return the words of a page."""
    return (
        read(audit.to_html(folder / "page.html", language=language)).one("body").words.replace("\u00a0", " ")
    )


def test_pages_of_names_alike_have_lists_of_their_own(tmp_path: Path) -> None:
    """Reports of "A & B" and "A + B", and x.htm beside x.html, each have their own products."""
    catalog = prodex.flatten([{"id": number, "gtin": WRONG_GTIN} for number in range(4)])
    audit = prodex.audit(catalog, GTIN_ONLY, now=AS_OF)
    names = ["A & B.html", "A + B.html", "x.html", "x.htm"]
    for number, name in enumerate(names):
        audit.only([str(number)], name).to_html(tmp_path / name)
    for number, name in enumerate(names):
        links = [one.attributes["href"] for one in read(tmp_path / name).one("ul", class_="files").all("a")]
        (products,) = [link for link in links if link.endswith("products.parquet")]
        assert [str(number)] == pd.read_parquet(tmp_path / unquote(products))["product_id"].tolist(), name


def test_what_the_profile_does_not_declare_is_no_reason_of_other_checks(tmp_path: Path) -> None:
    """A check that is unknown since no market is known is not so "therefore"."""
    checks = {
        "non_food_names_manufacturer": {},
        "required_text": {"attribute": "namePublicLong", "language": "of the market"},
    }
    audit = prodex.audit(prodex.flatten([{"id": 1, "gtin": GTIN}]), {"checks": checks}, now=AS_OF)
    page = page_of(audit, tmp_path)
    assert "Not asked, since the profile does not say where" in page
    assert "Unknown for every product: required_text" in page
    assert "Therefore" not in page


def test_what_cannot_be_read_is_not_called_missing(tmp_path: Path) -> None:
    """A brand that is a text is named; without its catalogue a page does not claim that the record lacks it."""
    catalog = prodex.flatten([{"id": 1, "gtin": GTIN, "brand": "Acme"}])
    audit = prodex.audit(catalog, {"checks": {"has_brand": {}}}, now=AS_OF)
    missing = "data that are missing here are missing in the record"
    page = page_of(audit, tmp_path)
    assert "is something that cannot be read: brand." in page
    assert missing not in page
    assert "1 of 1 checks unknown for all products: their data were not requested or cannot be read" in page
    readable = prodex.audit(prodex.flatten([{"id": 1, "gtin": GTIN}]), GTIN_ONLY, now=AS_OF)
    assert f"{missing} Print" in page_of(readable, tmp_path)
    assert f"{missing}, or cannot be read Print" in page_of(replace(readable, catalog=None), tmp_path)


def test_no_language_says_that_unknown_checks_pass(tmp_path: Path) -> None:
    """German said "all checks are passed" where none had been decided."""
    audit = prodex.audit(prodex.flatten([]), GTIN_ONLY, now=AS_OF)
    page = page_of(audit, tmp_path, "de")
    assert "Keine Prüfung beanstandet etwas." in page
    assert "Kein Produkt wird von einer Prüfung beanstandet." in page
    assert "bestanden." not in page.split("Wie dies zu lesen ist")[0]


def test_one_is_one_and_none_is_none(tmp_path: Path) -> None:
    """One gap, one product with a grade, one supplier, one check; and no share of no grades."""
    owner = {"id": 1, "name": "Mill"}
    audit = prodex.audit(
        prodex.flatten([{"id": 1, "gtin": WRONG_GTIN, "owner": owner}]), GTIN_ONLY, now=AS_OF
    )
    page = page_of(audit, tmp_path)
    assert "The only gap:" in repr(audit)
    assert "The only gap" in audit._repr_html_()
    assert "0 % of 1 product has grade A or B" in page
    assert "1 of 1 owner with any" in page
    assert "The page also has 1 check, 1 of 1 finding, 1 product card and all rows" in page
    assert "La seule lacune :" in text_of(audit, Translation("fr")).replace("\u00a0", " ")
    nothing = page_of(prodex.audit(prodex.flatten([]), GTIN_ONLY, now=AS_OF), tmp_path)
    assert "No product has a grade (0 A, 0 B, 0 C, 0 D, 0 E)." in nothing


def test_french_captions_agree_with_every_grouping(tmp_path: Path) -> None:
    """A language and a brand are feminine: "le moins bon langue" is no French."""
    catalog = prodex.flatten({"id": number, "gtin": GTIN} for number in range(20))
    page = page_of(prodex.audit(catalog, GTIN_ONLY, now=AS_OF), tmp_path, "fr")
    assert "Score par marque et bloc, les scores les plus bas en premier : 1 sur 1" in page
    assert "le moins bon" not in page


def test_a_long_crash_is_cut_in_the_language_of_the_page(tmp_path: Path) -> None:
    """How much of a message is shown is said in the words of the reader."""
    audit = prodex.audit(prodex.flatten([{"id": 1, "gtin": GTIN}]), GTIN_ONLY, now=AS_OF)
    part = replace(audit.parts[0], crashes=(Crash("valid_gtin", 0, "x" * 300),))
    crashed = replace(audit, parts=(part,))
    assert "... (200 caractères sur 300)" in page_of(crashed, tmp_path, "fr")
    assert "... (200 of 300 characters)" in repr(crashed)


def test_profiles_without_a_name_are_compared_by_their_checks() -> None:
    """Two mappings are both called "own": a score by other checks is no change for the worse."""
    catalog = prodex.flatten([{"id": 1, "gtin": GTIN}])
    before = prodex.audit(catalog, GTIN_ONLY, now=AS_OF - timedelta(days=1))
    same = prodex.audit(catalog, GTIN_ONLY, now=AS_OF)
    other = prodex.audit(
        catalog, {"checks": {"valid_gtin": {"severity": "blocker"}, "has_brand": {}}}, now=AS_OF
    )
    lighter = prodex.audit(catalog, {"checks": {"valid_gtin": {}}}, now=AS_OF)
    assert [True, True] == same.trend([before])["comparable"].tolist()
    for changed in (other, lighter):
        assert [False, True] == changed.trend([before])["comparable"].tolist()
        assert [None] * 4 == [tile["change"] for tile in contents(changed, [before])["tiles"]]
