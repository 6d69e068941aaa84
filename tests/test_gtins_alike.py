"""GTINs as people have them mean the same product wherever they are given."""

from __future__ import annotations

import decimal
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import prodex
from prodex import gtin
from prodex.cli import app
from prodex.errors import ChangesRefused, InputError, ProdexError, QueryError
from prodex.notebook.views.query_fields import read_gtins
from prodex.send.frame_changes import corrections_in
from prodex.send.known_products import KnownProducts
from prodex.send.records import records_of
from prodex.send.scenarios import _uuids
from tests.cases import each_row

GTIN = "08431701027348"

#: The ways in which one GTIN comes: typed, out of a database, out of a spreadsheet.
WRITTEN = [
    "08431701027348",
    "8431701027348",
    " 8431701027348 ",
    "8431701027348\n",
    "\u00a08431701027348",
    "8431701027348.0",
    "'8431701027348",
    '="8431701027348"',
    "\u20198431701027348",
    "\ufeff8431701027348",
    "843\u200b1701027348",
    "\u200f8431701027348\u200e",
    "\u202a8431701027348\u202c",
    "8-431701-027348",
    "8431701\u2013027348",
    "8\u00ad431701\u00ad027348",
    "\uff18\uff14\uff13\uff11\uff17\uff10\uff11\uff10\uff12\uff17\uff13\uff14\uff18",
    "8.431701027348E+12",
    "8.431.701.027.348",
    8431701027348,
    8431701027348.0,
    np.int64(8431701027348),
    np.float64(8431701027348),
    np.str_("8431701027348"),
    decimal.Decimal("8431701027348"),
]

#: How one GTIN is printed below its bars; two of them with a space between them have more digits.
IN_GROUPS = [
    "8 431701 027348",
    "08 43170102734 8",
    "0 8431701 027348",
    " 8\u00a0431701\u202f027348 ",
    "8 431701-027348",
    "\ufeff8 431701 027348",
]

#: What a spreadsheet made of a GTIN, and how it is named.
LOST = {
    "8.4317E+12": "scientific notation",
    "8,4317E12": "scientific notation",
    "8E+12": "scientific notation",
    "2026-11-23": "a date",
    "23.11.2026": "a date",
    "8431701027348.5": "decimals",
    "8431701 02734 8431701": "is not a GTIN",
    "843170102734O": "is not a GTIN",
}

#: What stands in a cell without a GTIN.
BLANK = [None, float("nan"), np.nan, pd.NA, pd.NaT, "", "  ", "\u00a0"]

#: What can be no GTIN, and is no blank either.
NEVER = [True, 1.5, -8431701027348, 10**14, float("inf"), b"8431701027348", {"gtin": 1}]

RECORD = {
    "id": 7,
    "gtin": GTIN,
    "namePublicLong": [{"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": "Riz"}],
    "lifeCycle": 1,
}
CATALOG = prodex.flatten([RECORD, {"id": 8, "gtin": "03036811359935"}])


def _by_where(given: list[Any]) -> list[str]:
    return CATALOG.where(gtin=given).products["gtin"].tolist()


def _by_query(given: list[Any]) -> list[str]:
    return list(prodex.ProductQuery(gtins_in=given).gtins_in)


def _by_upsert(given: list[Any]) -> list[str]:
    return list(dict.fromkeys(record["gtin"] for record in records_of([{"gtin": one} for one in given])))


def _by_frame(given: list[Any]) -> list[str]:
    frame = pd.DataFrame({"gtin": pd.Series(given, dtype=object), "lifeCycle": 2})
    return list(dict.fromkeys(record["gtin"] for record in records_of(frame)))


def _by_changes(given: list[Any]) -> list[str]:
    frame = pd.DataFrame({"gtin": pd.Series(given, dtype=object), "life_cycle": 2})
    changes = CATALOG.changes_from(frame)
    return [record["gtin"] for record in changes.records]


def _by_accessor(given: list[Any]) -> list[str]:
    return pd.Series(given, dtype=object).gtin.normalized.dropna().unique().tolist()


def _by_failures(given: list[Any]) -> list[str]:
    audit = prodex.audit(
        CATALOG, {"checks": {"required_text": {"attribute": "description", "language": "fr"}}}
    )
    return audit.failures(gtin=given)["gtin"].unique().tolist()


PLACES = [_by_where, _by_query, _by_upsert, _by_frame, _by_changes, _by_accessor, _by_failures]


@pytest.mark.slow
@each_row("written", WRITTEN, ids=repr)
@each_row("place", PLACES)
def test_every_place_reads_a_gtin_alike(place: Any, written: object) -> None:
    """Whether it filters, asks the service, is written or corrected."""
    assert [GTIN] == place([written])


def _by_answer(given: list[Any]) -> list[str]:
    rows = "\n".join(f'"{one}";lifeCycle;2' for one in given)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "answers.csv"
        file.write_text(f"GTIN;Field;New value\n{rows}\n", "utf-8")
        return [str(one) for one in prodex.read_worklist(file, CATALOG, profile=NO_RULES).preview()["gtin"]]


NO_RULES = {"checks": {"valid_gtin": {}}}


@pytest.mark.slow
@each_row("written", IN_GROUPS, ids=repr)
@each_row("place", [*PLACES, _by_answer])
def test_digits_may_be_in_groups(place: Any, written: str) -> None:
    """As they are printed below the bars, with any space."""
    assert [GTIN] == place([written])


@each_row("written", IN_GROUPS, ids=repr)
def test_a_gtin_that_was_sent_in_groups_is_found_like_any(written: str) -> None:
    """Both sides compare in one form; as text of several, and pasted beside others, it is one of them."""
    catalog = prodex.flatten([RECORD | {"gtin": written}, {"id": 8, "gtin": "3 036811 359935"}])
    assert ["7"] == catalog.where(gtin=GTIN).products["product_id"].tolist()
    assert ["7"] == catalog.where(gtin=written).products["product_id"].tolist()
    assert 2 == len(catalog.where(gtin=f"{written}, 3 036811 359935"))
    assert (GTIN, "03036811359935") == prodex.ProductQuery(gtins_in=f"{written},3036811359935").gtins_in
    pasted = read_gtins(f"{written}\n3 036811 359935\t8431701027348 3036811359935")
    assert ((GTIN, "03036811359935"), ()) == (pasted.gtins, pasted.unreadable)


def test_a_line_break_and_too_many_digits_separate_gtins() -> None:
    """What could be two is not joined."""
    for text in ("8431701\n027348", "8431701\t027348", f"{GTIN} 3036811359935", "8431701  027348"):
        assert not gtin.has_digits(gtin.comparable(text))
    assert "00000040123455" == gtin.comparable("4012 3455")


@each_row(("written", "named"), LOST.items())
def test_what_a_spreadsheet_made_of_a_gtin_is_named(written: str, named: str) -> None:
    """Nobody can tell which product it was, but what to do about it."""
    with pytest.raises(InputError, match=named):
        gtin.normal_form(written)
    assert [] == _by_answer([written])


@each_row("blank", BLANK, ids=repr)
@each_row("place", [_by_where, _by_query, _by_accessor, _by_failures])
def test_blank_cells_among_gtins_are_skipped(place: Any, blank: object) -> None:
    """A list out of a spreadsheet has them; they stand for no product."""
    assert [GTIN] == place([blank, 8431701027348.0, blank])


@each_row("blank", BLANK, ids=repr)
def test_a_list_of_blank_cells_names_no_product(blank: object) -> None:
    """`where` finds none; a query would ask for every product, so it is refused."""
    assert [] == _by_where([blank])
    with pytest.raises(QueryError, match="gtins_in"):
        _by_query([blank])


@each_row("never", NEVER, ids=repr)
def test_what_can_be_no_gtin_is_refused_everywhere(never: object) -> None:
    """The message contains the value."""
    with pytest.raises(QueryError):
        _by_where([never])
    with pytest.raises(QueryError):
        _by_query([never])
    with pytest.raises(ProdexError):
        _by_changes([never])
    with pytest.raises(InputError):
        gtin.normal_form(never)


def test_a_column_out_of_a_spreadsheet_finds_its_products() -> None:
    """Numbers with gaps are floats in pandas, and the same in text; both find what is there."""
    numbers = pd.DataFrame({"GTIN": [8431701027348, None, 3036811359935]})
    texts = pd.DataFrame({"GTIN": ["8431701027348", "", "3036811359935"]})

    assert "float64" == str(numbers["GTIN"].dtype)
    for column in (
        numbers["GTIN"],
        texts["GTIN"],
        numbers["GTIN"].astype("Int64"),
        numbers["GTIN"].astype(str),
    ):
        assert 2 == len(CATALOG.where(gtin=column)), column
        assert 2 == len(prodex.ProductQuery(gtins_in=column).gtins_in)


def test_numbers_and_texts_of_one_text() -> None:
    """A text with commas is several GTINs, as a query takes it."""
    assert ["08431701027348", "03036811359935"] == _by_query(["8431701027348", "3036811359935"])
    assert 2 == len(CATALOG.where(gtin="8431701027348, 3036811359935"))
    assert 1 == len(CATALOG.where(gtin="8431701027348"))


def test_a_gtin_is_found_however_the_service_sent_it() -> None:
    """Both sides are compared in one form; the data stays as it came."""
    sent = [
        "8431701027348",
        "08431701027348",
        " 8431701027348",
        "no GTIN at all",
        "8431701027349",
        "4012",
        None,
    ]
    catalog = prodex.flatten([{"id": number, "gtin": one} for number, one in enumerate(sent)])

    def found(given: object) -> list[str]:
        return catalog.where(gtin=given).products["product_id"].tolist()

    assert ["0", "1", "2"] == found(GTIN) == found([8431701027348]) == found(8431701027348.0)
    assert ["3"] == found("no GTIN at all") == found(["no GTIN at all"])
    assert ["4"] == found("8431701027349") == found("08431701027349")
    assert ["5"] == found("4012") == found(4012)
    assert ["6"] == found(None) == found(float("nan"))
    assert sent == [None if pd.isna(one) else one for one in catalog.products["gtin"]]


def test_what_was_not_found_is_named_as_it_was_given() -> None:
    """How many of how many, the first of them, and how many cells were blank."""
    asked = [8431701027348.0, None, "4006381333931", "", 4006381333931]
    with pytest.warns(
        prodex.catalog.UnmatchedWarning, match=r"1 of 2 GTINs.*'?4006381333931'?.*2 blank"
    ) as said:
        assert 1 == len(CATALOG.where(gtin=asked, unmatched="warn"))
    assert 1 == len(said)
    with pytest.raises(QueryError, match="1 of 2 GTINs"):
        CATALOG.where(gtin=asked, unmatched="raise")


@pytest.mark.parametrize("text", ["GTIN", "8431701 0273"])
def test_a_text_that_is_no_gtin_and_stands_nowhere_is_refused(text: str) -> None:
    """Alone it can only be a mistake; among others it is one that was not found."""
    with pytest.raises(QueryError, match="GTIN"):
        CATALOG.where(gtin=text)
    with pytest.raises(QueryError, match="GTIN"):
        CATALOG.where(gtin=[text, None])
    with pytest.raises(QueryError):
        prodex.ProductQuery(gtins_in=text)
    with pytest.warns(prodex.catalog.UnmatchedWarning, match="1 of 2 GTINs"):
        assert 1 == len(CATALOG.where(gtin=[text, GTIN], unmatched="warn"))


def test_rounded_numbers_are_refused_even_among_others() -> None:
    """What a spreadsheet shows of a long number has lost its last digits."""
    for column in (["8.4317E+12", GTIN], "8.4317E+12", ["8,43E+12"]):
        with pytest.raises(QueryError, match="as text"):
            CATALOG.where(gtin=column)
        with pytest.raises(QueryError, match="as text"):
            prodex.ProductQuery(gtins_in=column)


def test_a_correction_without_a_gtin_is_refused_with_its_row() -> None:
    """A blank cell beside a correction would lose it; a blank row is nothing."""
    frame = pd.DataFrame({"gtin": [GTIN, None], "life_cycle": [2, 3]})
    with pytest.raises(ChangesRefused, match="row 1"):
        CATALOG.changes_from(frame)

    frame = pd.DataFrame({"gtin": [8431701027348, None], "life_cycle": [2, None]})
    assert 1 == len(CATALOG.changes_from(frame).records)
    frame = pd.DataFrame({"product_id": [7.0, None], "life_cycle": [2, None]})
    assert 1 == len(CATALOG.changes_from(frame).records)


def test_corrections_find_products_however_their_gtin_was_sent() -> None:
    """With 13 digits, with a wrong check digit, or with none at all."""
    sent = ["8431701027348", "8431701027349", "no GTIN"]
    catalog = prodex.flatten([RECORD | {"id": number, "gtin": one} for number, one in enumerate(sent)])
    frame = pd.DataFrame({"gtin": ["08431701027348", "8431701027349", "no GTIN"], "life_cycle": [2, 3, 4]})

    found = corrections_in(frame, catalog, KnownProducts.of(catalog), None)

    assert ["0", "1", "2"] == list(found)


def test_the_command_line_and_the_panel_read_gtins_alike(tmp_path: Any) -> None:
    """Options, files and pasted text are read in the same way."""
    file = tmp_path / "gtins.txt"
    file.write_text("8 431701 027348\n\n 3036811359935 \n8431701027348.0\n", "utf-8")

    from prodex.cli.options import values_of

    asked = prodex.ProductQuery(gtins_in=values_of(["8431701027348", f"@{file}"])).gtins_in
    assert (GTIN, "03036811359935") == asked
    assert asked == read_gtins(file.read_text("utf-8")).gtins
    refused = CliRunner().invoke(app, ["load", "--gtin", "8.4317E+12", "--service", "sandbox"])
    assert 0 != refused.exit_code


def test_scenarios_find_products_by_gtins_out_of_a_spreadsheet(service: prodex.service.Client) -> None:
    """Numbers with gaps, as a column gives them; the blank ones are left out."""
    record = json.loads(bytes(service.search_products(limit=1).envelope.data[0]))
    column = pd.Series([float(record["gtin"]), None])

    assert [record["uuid"]] == _uuids(service, column) == _uuids(service, [record["gtin"].lstrip("0"), ""])


@given(
    st.text(max_size=20)
    | st.from_regex(r"\s?[0-9]{1,15}(\.0)?\s?", fullmatch=True)
    | st.text(st.sampled_from("0123456789 -.,'\u200b\uff11E+\u2013\u00a0\n"), max_size=18)
    | st.from_regex(r"\s?[0-9]([ \u202f-]?[0-9]){10,14}\s?|[0-9]{4}[ \n][0-9]{4}", fullmatch=True)
    | st.from_regex(r"'?[0-9]([-\u200b]?[0-9]){10,14}\ufeff?|[0-9][.,][0-9]{10,13}E\+1[0-3]", fullmatch=True)
)
def test_the_fast_way_compares_like_the_plain_one(text: str) -> None:
    """A whole column at once gives the same as one value at a time."""
    import pyarrow as pa

    try:
        text.encode()
    except UnicodeEncodeError:
        return
    plain = gtin.comparable(text)
    assert (plain or "") == gtin.comparable_column(pa.array([text]))[0].as_py()


@given(st.integers(1, 10**14 - 1))
def test_numbers_and_texts_compare_alike(number: int) -> None:
    """As text with or without zeros, as a whole number, as a float where a float can hold it."""
    forms = [str(number), f"{number:014d}", number, float(number), np.int64(number), f" {number}.0"]
    assert {f"{number:014d}"} == {gtin.comparable(form) for form in forms}


@pytest.mark.slow
@pytest.mark.parametrize("key", ["product_id", "gtin"])
def test_a_worklist_read_by_plain_pandas_finds_its_products_again(tmp_path: Path, key: str) -> None:
    """Its ids and GTINs are numbers then, and floats beside the empty cells of rows below."""
    audit = prodex.audit(
        CATALOG, {"checks": {"required_text": {"attribute": "description", "language": "fr"}}}
    )
    audit.worklist_rows().to_csv(tmp_path / "rows.csv", index=False)
    frame = pd.read_csv(tmp_path / "rows.csv")
    frame = frame.reindex(range(len(frame) + 1))  # a spreadsheet ends with an empty row
    frame["text"] = [
        "Du riz." if one == "8431701027348" else None for one in frame["gtin"].map("{:.0f}".format)
    ]

    changes = CATALOG.changes_from(frame[[key, "attribute", "language", "text"]])

    assert {"product_id": "float64", "gtin": "float64"} == {
        name: str(frame[name].dtype) for name in ("product_id", "gtin")
    }
    assert [(GTIN, "Du riz.")] == [
        (record["gtin"], record["description"][0]["data"]) for record in changes.records
    ]
