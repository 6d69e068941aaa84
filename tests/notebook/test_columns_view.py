"""The columns of the table: any can be added, moved and removed, and they stay when the catalogue changes."""

from __future__ import annotations

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.columns import columns_of, with_columns
from tests.notebook.test_table_view import block, cells, grid, heads, notice, of, opened, press

RECORDS = [{"id": n, "gtin": f"{n:014}", "jsonVersion": "3", "isNomadic": n > 1} for n in range(4)]


def shown(app: App) -> list[str]:
    return [one["title"] for one in grid(app)["columns"]]


def pickable(app: App) -> App:
    app.act("fold.set", key="columns", is_open=True)
    return app


def test_any_column_is_added_moved_and_removed() -> None:
    """Each press names its column: it moves or goes, wherever it stands by then."""
    app = pickable(opened(prodex.flatten(RECORDS)))
    before = shown(app)
    assert "GTIN" == before[0]
    press(app, "remove gtin")
    app.act("columns.add", value="is_nomadic")
    assert [*before[1:], "is_nomadic"] == shown(app)
    assert ["no", "yes"] == sorted({row[-1] for row in cells(app)})
    assert heads(app)["is_nomadic"]["values"]
    app.act("columns.move", column="is_nomadic", by=-1)
    press(app, "left is_nomadic")
    assert before[-2:] == shown(app)[-2:]
    app.act("columns.add", value="gtin")
    assert "GTIN" == shown(app)[-1]


def test_the_list_offers_what_is_not_shown_by_its_title() -> None:
    """By title, in its order; the first entry adds nothing."""
    app = pickable(opened(prodex.flatten(RECORDS)))
    options = next(
        one["fields"][0]["options"] for one in block(app, "column-picker")["blocks"] if one["kind"] == "form"
    )
    titles = [one["label"] for one in options[1:]]
    assert titles == sorted(titles, key=str.casefold)
    assert not {one["value"] for one in options} & {one["key"] for one in grid(app)["columns"]}
    app.act("columns.add", value="")
    assert "no such column" in notice(app)


def test_a_press_that_comes_too_late_is_refused() -> None:
    """The last column stays, and a column that is gone or unknown is neither moved nor added."""
    app = pickable(of([{}]))
    app.change(lambda session: with_columns(session, ["gtin"]))
    app.act("columns.remove", column="gtin")
    assert "could not show which products" in notice(app)
    assert ["GTIN"] == shown(app)
    assert block(app, "remove gtin")["off"]
    app.act("columns.remove", column="brand")  # it is not there any more, as was wanted
    app.act("columns.move", column="brand", by=1)
    assert "does not show this column" in notice(app)
    app.act("columns.add", value="<b>nonsense</b>")
    assert "no such column" in notice(app)
    assert ["GTIN"] == shown(app)


def test_a_table_is_not_sorted_by_a_column_that_it_does_not_show() -> None:
    """Nobody would see why; once the column is back, so is the order."""
    app = opened(prodex.flatten(RECORDS))
    for _ in range(2):
        app.act("table.sort", column="gtin")
    assert ["3", "2", "1", "0"] == [row["key"] for row in grid(app)["rows"]]
    app.act("columns.remove", column="gtin")
    assert ["0", "1", "2", "3"] == [row["key"] for row in grid(app)["rows"]]


def test_columns_stay_when_the_catalogue_changes_and_an_audit_adds_its_own() -> None:
    """What was chosen stays; grade and score come with an audit and go with it; a snapshot may lack nothing of it."""
    catalog = prodex.flatten(RECORDS)
    app = opened(catalog)
    app.act("columns.remove", column="gtin")
    app.act("columns.add", value="json_version")
    audit = prodex.audit(catalog, "online-listing")
    app.change(lambda session: session.replaced(audit=audit))
    app.wait()
    assert ("json_version", "grade", "score") == columns_of(app.session)[-3:]
    app.act("columns.remove", column="score")
    assert ("json_version", "grade") == columns_of(app.session)[-2:]
    assert heads(app)["grade"]["values"]
    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS[:1])))
    app.wait()
    assert "json_version" == columns_of(app.session)[-1]
    assert "gtin" not in columns_of(app.session)
    assert 1 == len(cells(app))


@pytest.mark.parametrize("columns", [["nonsense"], [], ["grade"]])
def test_columns_that_a_catalogue_has_not_change_nothing(columns: list[str]) -> None:
    """A saved view may name them."""
    session = Session(prodex.flatten(RECORDS))
    assert session is with_columns(session, columns)
    assert ("brand",) == columns_of(with_columns(session, [*columns, "brand", "brand"]))
