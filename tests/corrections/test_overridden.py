"""Overridden since we sent it: what arrived from here, and is something else now."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.corrections.overridden import sent_summary
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.saved_views import SavedView, applicable, open_view, save_view
from prodex.ledger.earlier_records import forget_earlier_records
from prodex.ledger.upsert_file import ledger_folder
from prodex.notebook.session.session import Session
from prodex.notebook.views.facets import facets_block
from prodex.selection import Selection
from tests.corrections.machines import Machines, machines, names
from tests.ledgered import contents, rewrite
from tests.send.mill_exchange import gtin


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer at this machine and at another one."""
    with machines() as found:
        yield found


def rows(frame: pd.DataFrame, *columns: str) -> list[list[Any]]:
    """Return some columns, None for what is missing."""
    found = frame[list(columns)].astype(object)
    return found.where(found.notna(), None).to_numpy().tolist()


def facet(catalog: prodex.Catalog) -> dict[str | None, int]:
    """Count the products by what became of what was sent of them."""
    values = ProductFilter(catalog).facets["sent"]
    return dict(zip(values.codes, values.totals.tolist(), strict=True))


def shown_facets(catalog: prodex.Catalog) -> dict[str, str]:
    """Return the filters of an explorer by name."""
    facets = facets_block(Session(catalog))["blocks"]
    return {one["key"]: one["title"] for one in facets if one["kind"] == "facet"}


def test_nothing_is_said_where_nothing_was_sent(mill: Machines) -> None:
    """There is no facet, and no row."""
    catalog = mill.load()

    assert catalog.overridden().empty
    assert "sent" not in list(ProductFilter(catalog).facets)
    assert {None: 5} == facet(catalog)


@pytest.mark.slow
def test_what_a_supplier_changed_back_is_overridden(mill: Machines) -> None:
    """With what was sent, what is there, by whom it was sent, and since which snapshot."""
    mill.load()
    sent = mill.here(namePublicLong=names("Corrigé"))
    shown = mill.load()
    mill.elsewhere(namePublicLong=names("Name 1 fr"))
    since = mill.load()
    catalog = mill.load()

    found = catalog.overridden()
    assert [["1", gtin(1), "namePublicLong", "fr", "Corrigé", "Name 1 fr", "max", "spelling"]] == rows(
        found, "product_id", "gtin", "attribute", "language", "sent", "now", "by", "why"
    )
    assert shown.folder is not None
    assert since.folder is not None
    assert [[str(sent.tracking_ids[0]), f"mine@{since.folder.name}", f"mine@{shown.folder.name}"]] == rows(
        found, "tracking", "since_snapshot", "shown_in"
    )
    assert {"overridden": 1, None: 4} == facet(catalog)


def test_as_we_sent_it(mill: Machines) -> None:
    """What was changed elsewhere beside it does not matter."""
    mill.here(lifeCycle=5)
    mill.elsewhere(namePublicLong=names("Autre"))
    catalog = mill.load()

    assert catalog.overridden().empty
    assert {"as sent": 1, None: 4} == facet(catalog)


def test_what_was_sent_anew_from_here_is_not_overridden(mill: Machines) -> None:
    """Neither is what was taken back: the last value counts."""
    mill.here(lifeCycle=5)
    mill.here(lifeCycle=6)
    mill.here(lifeCycle=1)
    catalog = mill.load()

    assert catalog.overridden().empty
    assert {"as sent": 1, None: 4} == facet(catalog)


def test_what_was_loaded_before_is_not_visible_yet(mill: Machines) -> None:
    """The old value is no change by somebody else."""
    catalog = mill.load()
    mill.here(lifeCycle=5)

    assert catalog.overridden().empty
    assert {"not visible yet": 1, None: 4} == facet(catalog)


def test_an_import_whose_end_nobody_has_seen_is_not_visible_yet(mill: Machines) -> None:
    """Although the service may have imported it."""
    mill.here(lifeCycle=5)
    mill.here(lifeCycle=7, wait=False)
    mill.elsewhere(lifeCycle=9)
    catalog = mill.load()

    assert {"not visible yet": 1, None: 4} == facet(catalog)


def test_what_was_shown_and_never_confirmed_can_be_overridden(mill: Machines) -> None:
    """A snapshot has shown it."""
    mill.here(lifeCycle=7, wait=False)
    while (
        prodex.load_products(mill.service, name="mine", max_age=0, progress=False)
        .products["life_cycle"]
        .tolist()[0]
        != 7
    ):
        pass
    mill.elsewhere(lifeCycle=9)
    prodex.track(mill.service).wait(progress=False)
    for one in ledger_folder().rglob("upsert.sqlite"):
        ended = json.loads(contents(one, "imports")[0])
        rewrite(one, "imports", 0, json.dumps({**ended, "statuses": {}}).encode())
    catalog = mill.load()

    assert [["7", "9"]] == rows(catalog.overridden(), "sent", "now")
    # A facet looks at one catalogue only.
    assert {"not known": 1, None: 4} == facet(catalog)


def test_what_the_service_refused_was_not_sent(mill: Machines) -> None:
    """The product holds what it held."""
    mill.load()
    refused = mill.here(lifeCycle=5, assets=[])
    assert ["ERROR"] == refused.products["status"].tolist()
    mill.elsewhere(lifeCycle=9)
    catalog = mill.load()

    assert {None: 5} == facet(catalog)
    assert "sent, refused by the service" in prodex.history(gtin(1))["event"].tolist()


def test_what_was_not_asked_for_is_not_known(mill: Machines) -> None:
    """It may be as it was sent."""
    mill.here(lifeCycle=5)
    mill.elsewhere(lifeCycle=9)
    catalog = mill.load(source_include=["brand"])

    assert catalog.overridden().empty
    assert {None: 5} == facet(catalog)


def test_what_was_taken_away_and_put_back_is_overridden(mill: Machines) -> None:
    """What was sent is nothing."""
    mill.here(description=prodex.DELETE)
    mill.elsewhere(description=names("Retour"))
    catalog = mill.load()

    found = catalog.overridden()
    assert {("fr", None, "Retour")} == {
        tuple(one) for one in rows(found[found["language"] == "fr"], "language", "sent", "now")
    }


def test_assets_that_were_not_named_were_not_taken_away(mill: Machines) -> None:
    """Of the assets only those that are sent are replaced."""
    pictures = [{"url": "https://example.com/2.jpg", "isPackshot": True}]
    mill.load()
    mill.here(assets={"pictures": pictures})
    catalog = mill.load()

    assert {"as sent": 1, None: 4} == facet(catalog)
    found = prodex.history(gtin(1), attribute="assets")
    assert {"yes": {"assets.pictures.url", "assets.pictures.isPackshot"}} == {
        sent: set(of["attribute"]) - {"assets.documents.fileName"}
        for sent, of in found[found["event"] != "in the first snapshot"].groupby("sent")
    }


def test_what_is_not_kept_is_not_known(mill: Machines) -> None:
    """Neither overridden nor as it was sent."""
    mill.here(lifeCycle=5)
    mill.elsewhere(lifeCycle=9)
    forget_earlier_records()
    catalog = mill.load()

    assert catalog.overridden().empty
    assert {"not known": 1, None: 4} == facet(catalog)


def test_a_later_write_that_is_not_kept_leaves_it_open(mill: Machines) -> None:
    """It may be what is there now."""
    mill.here(lifeCycle=5)
    record = {"gtin": gtin(1), "lifeCycle": 9, "namePublicLong": names("Name 1 fr")}
    prodex.upsert(mill.service, [record], keep_before=False, progress=False).wait(progress=False)
    catalog = mill.load()

    assert catalog.overridden().empty
    assert (0, 1) == (sent_summary(catalog).as_sent, sent_summary(catalog).products)
    assert {"not known": 1, None: 4} == facet(catalog)


def test_another_service_has_other_products(mill: Machines) -> None:
    """The same GTIN there says nothing."""
    mill.here(lifeCycle=5)
    catalog = prodex.flatten([{"id": 1, "gtin": gtin(1), "lifeCycle": 9}])

    assert catalog.overridden().empty


def test_the_facet_is_a_condition_like_others(mill: Machines) -> None:
    """Products are chosen by it, and a saved view keeps it."""
    mill.here(1, lifeCycle=5)
    mill.elsewhere(1, lifeCycle=9)
    mill.here(2, lifeCycle=5)
    catalog = mill.load()
    chosen = ProductFilter(catalog)

    conditions = Selection().toggled("sent", "overridden")
    assert [True, False, False, False, False] == chosen.mask(conditions).tolist()
    assert {"overridden": 1, "as sent": 1, None: 3} == facet(catalog)
    assert "sent" in list(chosen.facets)
    assert "Sent from here" == chosen.facets.title("sent")


JOB = """
name = "mine"
profile = "core"
results = "results"
"""


@pytest.mark.slow
def test_a_night_lists_what_was_overridden(
    mill: Machines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The headline counts, the page lists; imports that nobody has followed are followed first."""
    monkeypatch.setenv("PRODEX_BASE_URL", mill.service.base_url)
    monkeypatch.setenv("PRODEX_CLIENT_ID", "mill")
    monkeypatch.setenv("PRODEX_CLIENT_SECRET", "mill-secret")
    job = tmp_path / "mine.toml"
    job.write_text(JOB, "utf-8")
    assert "sent from here" not in {step.name for step in prodex.run_job(job).steps}

    mill.here(lifeCycle=5, wait=False)
    mill.elsewhere(lifeCycle=9)
    assert "sent from here" in {step.name for step in prodex.run_job(job, dry_run=True).steps}
    first = prodex.run_job(job)
    second = prodex.run_job(job)

    (step,) = [one for one in second.steps if one.name == "sent from here"]
    assert ("done", 1) == (step.state, step.figures["overridden"])
    assert (
        "Overridden since we sent it: 1 value of 1 product, of 1 product of which something was sent."
        in step.lines
    )
    assert f"{gtin(1)} lifeCycle: sent “5” on" in step.lines[1]
    assert "1 value overridden since we sent it" in second.headline
    assert "failed" not in first.headline


@pytest.mark.slow
def test_what_was_taken_back_from_here_is_not_overridden(mill: Machines) -> None:
    """An undo is a write of ours as well, and its own override is one."""
    sent = mill.here(lifeCycle=5, description=names("Corrigé"))
    prodex.undo(sent, mill.service).apply(mill.service).wait(progress=False)
    catalog = mill.load()
    assert catalog.overridden().empty
    assert {"as sent": 1, None: 4} == facet(catalog)

    mill.elsewhere(lifeCycle=5)
    catalog = mill.load()
    assert [["lifeCycle", "1", "5"]] == rows(catalog.overridden(), "attribute", "sent", "now")
    assert [["changed", "5", "no"]] == rows(
        prodex.history(gtin(1), attribute="lifeCycle")[:1], "event", "value", "sent"
    )


def test_a_saved_view_keeps_the_filter(mill: Machines) -> None:
    """It is opened where nothing was sent, too, and then nothing is left."""
    mill.here(lifeCycle=5)
    mill.elsewhere(lifeCycle=9)
    catalog = mill.load()
    view = SavedView("quarrels", Selection().toggled("sent", "overridden"))
    save_view(view)

    conditions, note = applicable(open_view("quarrels").conditions, ProductFilter(catalog))
    assert ("", [True, False, False, False, False]) == (
        note,
        ProductFilter(catalog).mask(conditions).tolist(),
    )
    other = ProductFilter(prodex.flatten([{"id": 1}]))
    conditions, _ = applicable(open_view("quarrels").conditions, other)
    assert [False] == other.mask(conditions).tolist()


def test_a_pending_update_of_the_attribute_is_waited_for(mill: Machines) -> None:
    """What was sent may be what waits for acceptance."""
    mill.here(lifeCycle=5)
    catalog = mill.load()
    record = {"id": 1, "gtin": gtin(1), "lifeCycle": 1, "lastRequest": {"lifeCycle": 5}}
    waiting = prodex.flatten([record])
    waiting = dataclasses.replace(waiting, origin=catalog.origin)

    assert {"not visible yet": 1} == facet(waiting)


@pytest.mark.slow
def test_an_explorer_lists_the_filter_where_something_was_sent(mill: Machines) -> None:
    """Elsewhere it is not there, so that nobody wonders about it."""
    catalog = mill.load()
    assert "sent" not in shown_facets(catalog)
    mill.here(lifeCycle=5)
    catalog = mill.load()

    assert "Sent from here" == shown_facets(catalog)["sent"]


@pytest.mark.parametrize("ahead", [timedelta(minutes=5), timedelta(days=400)])
def test_a_catalogue_by_a_clock_that_was_ahead_is_not_taken_for_a_later_one(
    mill: Machines, ahead: timedelta
) -> None:
    """It was loaded before, although its time says otherwise."""
    catalog = mill.load()
    mill.here(lifeCycle=5)
    moment = datetime.now(UTC) + ahead
    wrong = dataclasses.replace(catalog, origin=dataclasses.replace(catalog.origin, loaded_at=moment))

    assert wrong.overridden().empty
    assert "overridden" not in facet(wrong)
