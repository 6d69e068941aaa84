"""The demo in a terminal: every table, three weeks, answers that came back, and nothing that a supplier could run."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import prodex
from prodex.cli import app
from prodex.cli.demo import show_audit, show_contents, show_tables, show_weeks, show_work_left, take_answers
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import shared_products
from tests.lived import UNTIL, exchange_in


def shown(catalog: prodex.Catalog) -> list[str]:
    """Return what is said of a catalogue, line by line."""
    said: list[str] = []
    show_tables(catalog, said.append)
    return "\n".join(said).split("\n")


def test_every_table_is_shown_with_rows_columns_and_bytes() -> None:
    """In memory and on disk, and when there is nothing in it."""
    records = [{"id": i, "gtin": f"{i:014d}", "isTaggedBy": ["new"]} for i in range(10)]
    for catalog in (prodex.flatten([]), prodex.flatten(records), prodex.flatten(records).save("ten")):
        lines = shown(catalog)
        for name in TABLES:
            assert [
                line
                for line in lines
                if line.startswith(f"{name} ") and line.split()[1].replace(",", "").isdigit()
            ]
            assert [line for line in lines if line.startswith(f"{name}: one row per ")]
    assert "tags: one row per tag of a product (hasTags, isTaggedBy); 3 of 10" in lines
    assert ["00000000000000", "isTaggedBy", "new"] in [line.split() for line in lines]


def test_what_a_supplier_typed_moves_no_cursor_and_breaks_no_line() -> None:
    """Control characters are shown as replacement characters, long text is cut with a sign."""
    hostile = "\x1b[2Jgone\r\n\u202eevil" + "x" * 40_000
    text = [{"expressedIn": {"code": "eng-GB"}, "data": hostile}]
    lines = shown(prodex.flatten([{"id": 1, "description": text}]))

    assert [] == [line for line in lines if "\x1b" in line or "\u202e" in line or "\r" in line]
    assert max(map(len, lines)) < 150
    assert any("[2Jgone" in line and line.endswith("…") for line in lines)


def test_the_short_version_counts_products_and_tables() -> None:
    """Empty tables are not counted."""
    records = [{"id": i, "gtin": f"{i:014d}", "isTaggedBy": ["new", "old"]} for i in range(10)]
    for catalog in (prodex.flatten([]), prodex.flatten(records), prodex.flatten(records).save("ten")):
        said: list[str] = []
        show_contents(catalog, said.append)
        filled = sum(map(bool, map(catalog.row_count, TABLES)))
        assert said[0].startswith(f"{len(catalog)} products in {filled} tables are kept in ")


@pytest.mark.slow
def test_the_audit_of_the_sample_says_where_report_and_worklists_are(home: Path) -> None:
    """Figures, gaps, the worst owners; and both are there."""
    judged = prodex.audit(prodex.flatten(product.record for product in shared_products(60)), "online-listing")
    said: list[str] = []
    show_audit(judged, said.append)
    (first,) = (home / "reports").glob("*/report.html")
    assert first.as_uri() in said[-1]
    show_work_left(judged, said.append, trend=[judged])
    told = "\n".join(said)

    for words in ("Audit of 60 products", "largest gaps", "Completeness is not accuracy"):
        assert words in told, words
    (folder,) = {path.parent for path in (home / "reports").glob("*/to_fix")}
    assert (folder / "report.html").as_uri() in told
    assert "in the folder to_fix beside" in told
    assert list((folder / "to_fix").glob("*.xlsx"))


@pytest.mark.slow
def test_the_demo_runs_again_and_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first time three weeks pass; the second time they are there; after a reset, they pass again."""
    home.mkdir(parents=True)
    with exchange_in(home, shared_products(300)) as exchange:
        first, second = (CliRunner().invoke(app, words) for words in (["demo"], ["demo", "--tables"]))
        weeks = prodex.simulated_weeks()
        counts = [len(prodex.open_snapshot(one)) for one in weeks.snapshots]
        exchange.reset()
        # Two runs have written what is written of an audit, which does not depend on how often weeks have passed.
        monkeypatch.setattr("prodex.cli.demo.show_audit", lambda *_: None)
        monkeypatch.setattr("prodex.cli.demo.show_work_left", lambda *_, **__: None)
        third = CliRunner().invoke(app, ["demo"])
        anew = prodex.simulated_weeks()
    supplier = weeks.incident.partition(":")[0]
    for shown in (first, second, third):
        assert 0 == shown.exit_code, shown.output
        for words in (
            "6 loads, each with an audit",
            "when suppliers were asked, are gone",
            f"  Pictures of {supplier}: 0 % of its products have one",
            "status SUCCESS",
            "1 changed",
            "prodex sandbox --reset",
        ):
            assert words in shown.stdout, words
    for words in (f"Audit of {counts[0]} products", "The report opens in a browser"):
        assert words in first.stdout
        assert words in second.stdout
    for count in (counts[0], counts[-1]):
        assert f"  {count} products  " in first.stdout
    assert "proves it" in first.stdout
    assert "proves it" in third.stdout
    assert "was sent before" in second.stdout
    assert "tags: one row per tag of a product" in second.stdout
    # `make demo`, whose paths are shorter, adds the lines of its progress.
    assert first.stdout.count("\n") <= 40
    assert not set(weeks.snapshots) & set(anew.snapshots)


@pytest.mark.slow
def test_the_weeks_are_shown_and_what_came_back_is_sent_once(home: Path) -> None:
    """A line for each audit, who corrected least, what changed since Monday, what is unusual.

    Then the worklist of one supplier is read, sent and proved; the others are left for whoever comes next.
    """
    home.mkdir(parents=True)
    with exchange_in(home, shared_products(300)):
        weeks = prodex.simulated_weeks(until=UNTIL)
        said: list[str] = []
        show_weeks(weeks, said.append)
        told = "\n".join(said)
        days = [one.partition("@")[2][:10] for one in weeks.snapshots]
        for day in (days[0], weeks.monday.partition("@")[2][:10], days[-1]):
            assert day in told
        assert f"Since Monday, {weeks.monday.partition('@')[2][:10]}: " in told
        assert 1 == told.count(" (fewest at ")

        client = prodex.connect("sandbox")
        compared = take_answers(client, weeks, prodex.audit(weeks.catalog, "online-listing"), said.append)
        assert compared is not None
        assert len(compared.changes("fixed"))
        left = prodex.read_worklist(weeks.returned, "french-shop", profile="online-listing")
        assert {path.name for path in weeks.returned.iterdir()} - {
            Path(file).name for file in left.accepted["file"]
        }
        assert len(left.accepted)
        again = take_answers(client, weeks, prodex.audit("french-shop", "online-listing"), said.append)
    assert again is None
    assert "was sent before" in said[-1]


@pytest.mark.slow
def test_nothing_may_have_come_back(home: Path) -> None:
    """With products of one's own nobody knows what to answer, and the demo says so."""
    home.mkdir(parents=True)
    records = [{"id": n, "gtin": f"{n:014d}", "owner": {"id": 4, "name": "Mill"}} for n in range(1, 40)]
    with exchange_in(home, records):
        weeks = prodex.simulated_weeks(until=UNTIL)
        said: list[str] = []
        show_weeks(weeks, said.append)
        judged = prodex.audit(weeks.catalog, "online-listing")
        assert take_answers(prodex.connect("sandbox"), weeks, judged, said.append) is None
    assert "No worklist came back" in said[-1]
