"""Watch on saved audits: which are compared, what is kept of them, and how it is shown."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex import clock
from prodex.catalog import Origin
from prodex.catalog.load_ledger import Ledger
from prodex.errors import InputError, SnapshotNotFound
from prodex.quality.archive import remove_audits
from prodex.quality.figures import FIGURES, Figures, figures_of, kept_figures
from tests.cases import each_row

HOSTILE = "<img src=x onerror=alert(1)> *Mill*\u202e\x1b[2J"


def records(count: int = 60, pictures: bool = True, owner: str = "Mill") -> list[dict[str, Any]]:
    """Return products of one supplier."""
    assets = {"pictures": [{"url": "https://pictures.example/1.png"}] if pictures else []}
    name = [{"expressedIn": {"code": "fra-FR"}, "data": "Lait"}]
    return [
        {
            "id": number,
            "gtin": f"{number:014}",
            "owner": {"id": 4, "name": owner},
            "kind": {"code": "12", "label": "Milk"},
            "namePublicLong": name,
            "assets": assets,
        }
        for number in range(count)
    ]


def audited(lists: Iterable[list[dict[str, Any]]], name: str = "shop") -> list[prodex.quality.Audit]:
    """Save a snapshot of each list of products, with an audit."""
    return [prodex.audit(prodex.flatten(one).save(name), "pictures").save() for one in lists]


def usual(count: int = 5) -> list[list[dict[str, Any]]]:
    """Return the products of some nights on which nothing happens."""
    return [records() for _ in range(count)]


@pytest.mark.slow
def test_pictures_that_are_gone_are_news() -> None:
    """In words that name supplier, figure and usual range; scores and attributes follow."""
    audited([*usual(), records(pictures=False)])

    watch = prodex.watch("shop")

    assert (True, True, 6) == (watch.enough, watch.is_unusual, watch.audits)
    assert (list(watch.findings), [*range(len(watch.new))]) == (list(watch.new), list(watch.new.index))
    assert "Pictures of Mill: 0 % of its products have one, usually 100 % (5 audits)." in watch.sentences
    row = watch.findings.set_index("measure").loc["pictures"]
    assert ("4", "Mill", "new", 0.0, 1.0) == (
        row["group"],
        row["label"],
        row["state"],
        row["now"],
        row["usual_low"],
    )


def test_the_figures_of_an_audit_are_kept_when_it_is_saved() -> None:
    """Whoever watches hundreds of audits reads figures, and opens none of the audits."""
    (audit,) = audited([records(1)])

    assert audit.folder is not None
    assert (audit.folder.parent.parent / FIGURES.below / audit.folder.name / "manifest.json").is_file()


@pytest.mark.slow
def test_under_five_audits_nothing_is_said() -> None:
    """Neither of four, nor of five audits of one snapshot."""
    audits = audited([*usual(3), records(pictures=False)])
    for _ in range(3):
        prodex.audit(prodex.open_snapshot("shop"), "pictures").save()

    watch = prodex.watch("shop")

    assert (False, 4, True) == (watch.enough, watch.audits, watch.findings.empty)
    assert ["Not enough is known yet: 4 of the 5 saved audits that it takes."] == watch.sentences
    assert 4 == len(audits)


@pytest.mark.slow
def test_on_the_second_day_it_lasts_and_then_it_is_over() -> None:
    """What a person has read yesterday is no news today, and is said once more when it has gone."""
    audited([*usual(), records(pictures=False), records(pictures=False)])
    second = prodex.watch("shop")
    audited([records()])
    third = prodex.watch("shop")

    assert (False, {"lasting"}) == (second.is_unusual, set(second.findings["state"]))
    assert second.sentences[0].endswith(f"Since {second.findings['since'][0]:%Y-%m-%d}.")
    assert (False, {"over"}) == (third.is_unusual, set(third.findings["state"]))
    assert "As usual again" in third.sentences[0]


@pytest.mark.slow
def test_what_was_learned_stays_when_snapshots_and_audits_are_gone() -> None:
    """Figures are kept beside the audits, and are enough."""
    audited(usual())
    prodex.vacuum("shop", keep=1)
    remove_audits("shop", keep=1)
    audited([records(pictures=False)])

    assert (6, True) == (prodex.watch("shop").audits, prodex.watch("shop").is_unusual)


@pytest.mark.slow
def test_audits_without_figures_are_used_as_far_as_they_go(home: Path) -> None:
    """Somebody has deleted them: their figures are made of what is left, and then kept."""
    audited(usual())
    shutil.rmtree(home / "snapshots" / "shop" / "figures")
    prodex.vacuum("shop", keep=2)
    audited([records(count=10)])

    watch = prodex.watch("shop")

    assert 6 == watch.audits
    assert "Products: 10, usually 60 (5 audits)." in watch.sentences
    assert 6 == len(FIGURES.of("shop"))
    assert ["pictures" in {row.measure for row in one.rows} for one in kept_figures("shop")] == [
        False
    ] * 3 + [True] * 3


@pytest.mark.slow
def test_damaged_figures_are_left_out(home: Path) -> None:
    """And everything else is used; what is not theirs to read is not followed."""
    audited(usual(7))
    first, second, *_ = sorted((home / "snapshots" / "shop" / "figures").iterdir())
    (first / "manifest.json").write_text("{", "utf-8")
    shutil.rmtree(second)
    second.symlink_to(home)

    assert 6 == prodex.watch("shop").audits


@pytest.mark.slow
def test_only_what_answers_the_same_question_is_compared() -> None:
    """Counts of another query are no news, and neither are those of a load that is not complete."""
    catalog = prodex.flatten(records())
    for market, complete in ((250, True), (250, True), (56, True), (250, False), (250, True)):
        ledger = Ledger(announced=60 if complete else 99, received=60, distinct=60)
        origin = Origin("https://exchange.example", prodex.ProductQuery(target_market=market), ledger=ledger)
        saved = prodex.Catalog(catalog.parts, origin).save("shop")
        prodex.audit(saved, "pictures").save()

    assert 3 == prodex.watch("shop").audits


@pytest.mark.slow
def test_an_earlier_snapshot_is_compared_with_what_was_before_it(tmp_path: Path) -> None:
    """Audited again, its report says what was unusual then, and not what came later."""
    audited([*usual(), records(pictures=False), *usual(2)])
    earlier = prodex.list_snapshots("shop")["time"].tolist()[5]

    audit = prodex.audit(prodex.open_snapshot(f"shop@{earlier}"), "pictures")
    page = audit.to_html(tmp_path / "report.html").read_text("utf-8")

    assert "Pictures of Mill: 0 %" in page
    assert "Pictures of Mill" not in " ".join(prodex.watch("shop").sentences)


@pytest.mark.slow
def test_scores_of_another_profile_are_not_compared() -> None:
    """Everything else is: the catalogue is the same by any profile."""
    audited(usual())
    prodex.audit(prodex.flatten(records(count=30)).save("shop"), "core").save()

    found = prodex.watch("shop").findings

    assert "products" in set(found["measure"])
    assert not found["measure"].str.contains("score").any()


@pytest.mark.slow
def test_audits_that_do_not_come_are_news() -> None:
    """The newest is older than any was when the next one came; a job that runs late is none."""
    audited(usual(6))
    now = datetime.now(UTC)

    late = prodex.watch("shop", now=now + timedelta(days=4))

    assert late.is_unusual
    assert late.sentences[0].startswith("The newest audit is 4.0 days old")
    assert not prodex.watch("shop", now=now + timedelta(days=1)).is_unusual


@pytest.mark.slow
def test_an_earlier_snapshot_that_is_audited_again_does_not_hide_that_audits_have_stopped() -> None:
    """How often audits come is seen by when they were made, and not from one snapshot to the next."""
    audited(usual(6))
    first = prodex.list_snapshots("shop")["time"].tolist()[0]
    with clock.at(datetime.now(UTC) + timedelta(days=9)):
        prodex.audit(prodex.open_snapshot(f"shop@{first}"), "pictures").save()

    assert prodex.watch("shop", now=datetime.now(UTC) + timedelta(days=60)).is_unusual


@pytest.mark.slow
def test_days_have_the_names_that_they_have_in_the_shop() -> None:
    """A Monday that begins in Kiritimati is Sunday in London; the column keeps UTC."""
    moment = datetime(2026, 11, 22, 11, tzinfo=UTC)
    for night in range(7):
        with clock.at(moment + timedelta(days=night)):
            audited([records(pictures=night < 5)])

    there, here = (prodex.watch("shop", zone=zone) for zone in ("Pacific/Kiritimati", "Europe/London"))

    assert (there.moment, there.findings["since"][0]) == (here.moment, here.findings["since"][0])
    assert there.sentences[0].endswith(" Since 2026-11-28.")
    assert here.sentences[0].endswith(" Since 2026-11-27.")
    assert "of 2026-11-29 01:00 +14" in repr(there)
    assert "of 2026-11-28 11:00 GMT" in repr(here)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of the machine is fixed there")
def test_days_are_those_of_the_machine_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a program has set it anew."""
    for night in range(7):
        with clock.at(datetime(2026, 11, 22, 11, tzinfo=UTC) + timedelta(days=night)):
            audited([records(pictures=night < 5)])
    try:
        monkeypatch.setenv("TZ", "Pacific/Kiritimati")
        time.tzset()
        assert prodex.watch("shop").sentences[0].endswith(" Since 2026-11-28.")
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.slow
@each_row(
    ("zone", "said"),
    [
        ("Europe/Londno", "no time zone 'Europe/Londno'; did you mean 'Europe/London'"),
        ("europe/london", "did you mean 'Europe/London'"),
        ("Europe", "no time zone 'Europe'"),
        ("../etc/passwd", "no time zone"),
        ("", "no time zone ''"),
        (1, "zone is the number 1"),
    ],
)
def test_a_zone_that_there_is_not_is_refused(zone: object, said: str) -> None:
    """With the nearest; a path is none."""
    audited([records()])

    with pytest.raises(InputError, match=re.escape(said)):
        prodex.watch("shop", zone=zone)  # type: ignore[arg-type] # the mistake


def test_a_name_without_audits_is_said(home: Path) -> None:
    """With the names that have some; and a moment needs a zone."""
    audited([records()])

    with pytest.raises(SnapshotNotFound, match="did you mean 'shop'"):
        prodex.watch("shp")
    with pytest.raises(InputError, match="with a time zone"):
        prodex.watch("shop", now=datetime(2026, 11, 23))  # noqa: DTZ001 - the mistake


@pytest.mark.slow
def test_figures_of_audits_know_what_the_audit_knows() -> None:
    """Of a catalogue in memory without owners, kinds or dates: its own figures, and none invented."""
    figures = figures_of(prodex.audit(prodex.flatten([{"id": 7}, {"id": 8, "brand": {"code": "A"}}]), "core"))
    empty = figures_of(prodex.audit(prodex.flatten([]), "core"))

    def values(of: Figures) -> dict[tuple[str, str | None], float]:
        return {(row.measure, row.group): row.value for row in of.rows}

    assert (2, None) == (values(figures)["products", ""], figures.snapshot)
    assert 0.5 == values(figures)["filled", "brand"]
    assert {"without owner"} == set(figures.labels["supplier"].values())
    assert "updated" not in {row.measure for row in figures.rows}
    assert (0, [("filled", None)]) == (
        values(empty)["products", ""],
        [one for one in values(empty) if one[0] == "filled"],
    )


@pytest.mark.slow
def test_what_a_supplier_is_called_is_shown_and_never_obeyed(tmp_path: Path) -> None:
    """In the terminal, in notebooks and in the report."""
    audits = audited([*[records(owner=HOSTILE) for _ in range(5)], records(pictures=False, owner=HOSTILE)])

    watch = prodex.watch("shop")
    page = audits[-1].to_html(tmp_path / "report.html").read_text("utf-8")

    assert "\x1b" not in repr(watch) + watch._repr_html_()
    assert "\u202e" not in repr(watch)
    assert "<img src=x" not in watch._repr_html_() + page
    assert "&lt;img src=x" in watch._repr_html_()
    assert "What is unusual" in page
    assert "&lt;img src=x onerror=alert(1)&gt; *Mill*" in page


def test_the_report_of_a_first_audit_has_no_such_section(tmp_path: Path) -> None:
    """There is nothing to compare it with."""
    (audit,) = audited([records()])

    assert "What is unusual" not in audit.to_html(tmp_path / "report.html").read_text("utf-8")


@pytest.mark.slow
def test_the_command_says_it_and_exits_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    """As sentences, or as rows; --exit-code is 1 if anything is new."""
    from prodex.cli import app

    audited([*usual(), records(pictures=False)])

    assert 0 == (app(["watch", "shop"], standalone_mode=False) or 0)
    assert "Pictures of Mill: 0 %" in capsys.readouterr().out
    assert 0 == (app(["watch", "shop", "--format", "csv"], standalone_mode=False) or 0)
    assert '"pictures","","4","Mill","new"' in capsys.readouterr().out
    assert 1 == app(["watch", "shop", "--exit-code"], standalone_mode=False)
    assert 0 == (app(["watch", "shop", "--zone", "Asia/Kathmandu"], standalone_mode=False) or 0)
    assert " +0545: " in capsys.readouterr().out


def test_figures_that_cannot_be_are_damage(home: Path) -> None:
    """A negative count, a share of more than all, and a figure that is there twice: they are left out, not believed."""
    audited(usual(4))
    folders = sorted((home / "snapshots" / "shop" / "figures").iterdir())
    rows = [["products", "", None, 1, 1], ["products", "", "", -1, 1]]
    more = [["score", "", None, 1, 1], ["score", "", "", 1.5, 1]]
    for folder, written in zip(folders, (rows, more, [rows[0], rows[0]]), strict=False):
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        (folder / "manifest.json").write_text(json.dumps({**manifest, "rows": written}), "utf-8")

    assert 1 == len(kept_figures("shop"))
