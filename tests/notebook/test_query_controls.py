"""The controls of a query, one by one: what is pressed and typed, and what stands in `value`."""

from __future__ import annotations

from prodex.notebook.query.controls import (
    ChoiceControl,
    ListControl,
    PasteControl,
    Pasted,
    PresetControl,
    SearchWords,
    ToggleControl,
    lock,
    read_gtins,
    shown_paths,
    text_line,
)
from prodex.notebook.query.options import INCLUDED
from prodex.notebook.shared.panel import Fold
from prodex.query import ProductQuery
from tests.cases import each_row

FIELDS = [("Name", "name"), ("Brand", "brand")]


@each_row(
    ("text", "gtins"),
    [
        ("3036811359935", ["03036811359935"]),
        ("GTIN\r\n03036811359935\r\n03663215000110\r\n", ["03036811359935", "03663215000110"]),
        ("03036811359935,03663215000110;8", ["03036811359935", "03663215000110", "00000000000008"]),
        ("03036811359935\tLait\t1.5\n", ["03036811359935"]),
        ('\'03036811359935 "03036811359935" ="03036811359935"', ["03036811359935"]),
        ("3036811359935.0", ["03036811359935"]),
        ("3.03681E+12 -5 ٣٠٣٦٨١١٣٥٩٩٣٥", []),
        (" , \n", []),
    ],
)
def test_gtins_are_read_as_spreadsheets_give_them(text: str, gtins: list[str]) -> None:
    """Headings, other columns, quotes and decimals do no harm, and nothing is guessed."""
    assert tuple(gtins) == read_gtins(text).gtins


def test_what_is_wrong_with_a_paste_is_said_with_numbers() -> None:
    """How many there are, which look wrong and which are left out; a long list is cut."""
    text = "\n".join([*map(str, range(10_000_001, 10_000_021)), "3036811359935", "3036811359935", *"abcdefg"])
    said = str(read_gtins(text))
    assert "21 GTINs to filter by. 1 repeated." in said
    assert "18 with a wrong length or check digit: 10000001, 10000002, 10000003," in said
    assert "(5 of 18)" in said
    assert "Left out, not GTINs: a, b, c, d, e (5 of 7)." in said
    assert Pasted() == read_gtins("")


def test_toggles_keep_the_order_of_the_choice() -> None:
    """A button that is pressed comes last, a second press removes it, and an assigned value is shown."""
    toggles = ToggleControl("Fields", FIELDS)
    for button in reversed(toggles.buttons):
        button.value = True
    assert ("brand", "name") == toggles.value
    toggles.buttons[1].value = False
    assert ("name",) == toggles.value
    toggles.value = ("brand",)
    assert [False, True] == [button.value for button in toggles.buttons]


def test_a_name_is_added_to_a_list_once() -> None:
    """Selecting a name adds its value to the text, and the list is ready for the next."""
    listed = ListControl("Owners", "an owner", [("Acme", 11), ("Zest", 12)], "11")
    listed.value = "7, "
    for number in (11, 12, 11):
        listed._names.value = number
    assert ("7, 11, 12", "") == (listed.value, listed._names.value)
    listed.offer([])
    assert "none" == listed._names.layout.display


def test_a_usual_text_is_named_and_another_is_ones_own() -> None:
    """The list shows the preset of the text, or "other paths"."""
    preset = PresetControl("Return", INCLUDED)
    assert ("everything", "") == (preset._usual.list.label, preset.value)
    preset._usual.value = "assets.pictures"
    assert "assets.pictures" == preset.value
    preset.value = "brand"
    assert "other paths" == preset._usual.list.label
    preset.value = ""
    assert "everything" == preset._usual.list.label


@each_row("text", [text for _, text in INCLUDED if text])
def test_every_usual_choice_of_fields_is_recognised_again(text: str) -> None:
    """The fields of a query are shown as the preset that they came from."""
    assert text == shown_paths(ProductQuery(source_include=text))


def test_rows_of_words_come_and_go() -> None:
    """A row is added and removed; one without a word is no filter; the others keep their content."""
    rows = SearchWords(FIELDS)
    assert ((), 1) == (rows.value, len(rows.rows))
    rows.rows[0].text.value = "lait"
    rows.add.click()
    assert (("lait", ("name", "brand")),) == rows.value
    rows.rows[1].text.value = "bio"
    rows.rows[1].fields.buttons[0].value = False
    assert (("lait", ("name", "brand")), ("bio", ("brand",))) == rows.value
    rows.rows[0].remove.click()
    assert ((("bio", ("brand",)),), 1) == (rows.value, len(rows.rows))
    rows.rows[0].remove.click()
    assert ((), 1, "") == (rows.value, len(rows.rows), rows.rows[0].text.value)
    assert ("name", "brand") == rows.rows[0].fields.value


def test_a_row_that_is_typed_into_is_not_made_anew() -> None:
    """The focus stays in the row that is typed into."""
    rows = SearchWords(FIELDS)
    shown, first = rows._list.children, rows.rows[0]
    for word in ("l", "la", "lai"):
        first.text.value = word
    assert shown == rows._list.children
    assert first is rows.rows[0]


def test_a_locked_control_is_locked_down_to_its_buttons() -> None:
    """Nothing in a locked control can be changed, and everything in an unlocked one."""
    for control in (
        SearchWords(FIELDS),
        ChoiceControl("Market", [("any", "")]),
        PasteControl("GTINs", "", read_gtins),
        text_line("Tags"),
    ):
        for is_locked in (True, False):
            lock(control, is_locked=is_locked)
            assert {is_locked} == set(_disabled(control))


def _disabled(widget: object) -> list[bool]:
    inside = [one for child in getattr(widget, "children", ()) for one in _disabled(child)]
    own = getattr(widget, "disabled", None)
    return inside if own is None else [own, *inside]


def test_a_fold_is_opened_by_its_button_and_from_python() -> None:
    """Button and traitlet agree, and the label shows the state."""
    fold = Fold("more", [text_line("Tags")])
    assert ("▸ more", "none") == (fold.button.description, fold.body.layout.display)
    fold.button.value = True
    assert (True, "▾ more", "flex") == (fold.is_open, fold.button.description, fold.body.layout.display)
    fold.is_open = False
    fold.title = "more (2 set)"
    assert (False, "▸ more (2 set)") == (fold.button.value, fold.button.description)
