"""A table of rows says which of them are selected, and answers a page that is behind."""

from __future__ import annotations

from prodex.notebook.shared.panel import Panel
from prodex.notebook.shared.row_table import RowTable
from prodex.notebook.shared.static_picture import picture_of
from tests.cases import each_row

ROWS = {"a": ("Apple <b>", "3"), "p": ("Pear", "12"), "q": ("Quince", "1")}


@each_row(
    ("is_multiple", "pressed", "selected"),
    [
        (False, "p", [1]),
        (False, "pa", [0]),
        (False, "pp", []),
        (True, "qp", [1, 2]),
        (True, "qpq", [1]),
        (True, "pz", [1]),
    ],
)
def test_presses_select(is_multiple: bool, pressed: str, selected: list[int]) -> None:
    """One row or several; a second press takes the first back, and a row that is shown no longer changes nothing."""
    table = RowTable(Panel(), "Fruits", ("Name", "Pieces"), numbers=("Pieces",), is_multiple=is_multiple)
    table.show(ROWS)
    for row in pressed:
        table.press(do="select", row=row)
    assert selected == table.selected_rows
    assert [list(ROWS)[place] for place in selected] == table.view["selected"]
    assert [["left", "right"], is_multiple] == [
        [one["align"] for one in table.view["columns"]],
        table.view["multiple"],
    ]


def test_who_observes_the_selection_finds_the_rows_of_it() -> None:
    """Rows and selection change together, and a selection that stays is not reported again."""
    table = RowTable(Panel(), "Fruits", ("Name", "Pieces"))
    heard: list[tuple[list[int], list[str]]] = []
    table.observe(
        lambda change: heard.append((change["new"], [row["key"] for row in table.view["rows"]])),
        "selected_rows",
    )
    table.show(ROWS, [2])
    table.show({"z": ("Zucchini", "1")}, [0])
    table.show({"y": ("Yam", "1")}, [0])
    assert [([2], ["a", "p", "q"]), ([0], ["z"])] == heard
    assert ["y"] == table.view["selected"]


def test_a_saved_notebook_shows_the_rows() -> None:
    """As a plain table, with what suppliers typed as text; of no rows there is nothing."""
    table = RowTable(Panel(), "Fruits", ("Name", "Pieces"), numbers=("Pieces",))
    assert "" == picture_of(table)
    table.show(ROWS)
    drawn = picture_of(table)
    assert "Apple &lt;b&gt;" in drawn
    assert 2 == drawn.count("<th style")
    assert '<td style="text-align:right"><bdi dir="auto">12</bdi></td>' in drawn
