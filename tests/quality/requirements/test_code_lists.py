"""Lists of codes, beside those in use: what is certain is read, and all else is refused with how to write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

import prodex
from prodex.errors import InputError
from prodex.quality.asks import Level, ask_of
from tests.cases import each_row
from tests.quality.requirements.sheets import answer, asks, changed, made, table


def book(path: Path) -> Path:
    """Write the workbook of products of three countries, which are known by their numbers."""
    countries = {"250": "France", "724": "Spain", "056": "Belgium"}
    records = [
        {
            "id": number,
            "kind": {"code": "TEA", "label": "Tea"},
            "originCountry": {"code": code, "label": label},
            "brand": {"code": f"B{number}/X", "label": f"Brand {number}"},
        }
        for number, (code, label) in enumerate(countries.items())
    ]
    return prodex.write_requirements(path, prodex.flatten(records), channels="Shop")


def answered(path: Path, attribute: str, condition: str, *, without_keys: bool = False) -> Path:
    """Ask a condition of an attribute of all families."""

    def ask(whole: Any) -> None:
        answer(whole, "must", attribute, condition=condition)
        if without_keys:
            del whole["prodex requirements"]

    return changed(path, ask)


@each_row(
    ("text", "problem"),
    [
        (
            "one of: FR ES BE IT",
            "may be one code or several. Divide codes by a comma and a blank: 'one of: FR, ES, BE, IT'",
        ),
        (
            "one of: FR/ES/BE",
            "may be one code or several. Divide codes by a comma and a blank: 'one of: FR, ES, BE'",
        ),
        (
            "one of: FR,ES",
            "may be one code or several. Divide codes by a comma and a blank: 'one of: FR, ES'",
        ),
        ("one of: BE or IT", "'BE or IT' may be one code or several"),
        ("one of: FR, ES et IT", "'ES et IT' may be one code or several"),
        ("one of: FR, voir achats", "'voir achats' may be one code or several"),
        (
            "one of: FR; voir achats",
            "'voir achats' is not a condition. If it is a code, divide the codes by commas",
        ),
        ("one of: FR; ES", "'ES' is not a condition. If it is a code, divide the codes by commas"),
        ("one of: A/B", "'A/B' may be one code or several"),
        ("one of: n/a", "may be one code or several"),
        ("one of: FR, IT.", "'one of: IT'; if it is one, write it in quotes: \"IT.\""),
        ("one of: FR, etc.", "'etc.' names no code"),
        ("one of: FR, usw.", "'usw.' names no code"),
        ("one of: FR, ...", "'...' names no code"),
        ("one of: FR, ?", "'?' names no code"),
    ],
)
def test_codes_that_are_not_certain_need_confirmation(text: str, problem: str) -> None:
    """The message shows how to write them."""
    with pytest.raises(InputError) as refused:
        ask_of(Level.MUST, text)

    assert problem in str(refused.value)


@pytest.mark.slow
@each_row(
    ("text", "near"),
    [
        ("FR", "'FR' is not among the codes in use; did you mean 250 (France)?"),
        ("France", "'France' is not among the codes in use; did you mean 250 (France)?"),
        ("Frankreich", "'Frankreich' is not among the codes in use; did you mean 250 (France)?"),
        ("251", "'251' is not among the codes in use; did you mean 250 (France)?"),
        ("EU", "'EU' is not among the codes in use. In use are 056 Belgium; 250 France; 724 Spain."),
    ],
)
def test_a_code_that_is_not_in_use_needs_confirmation(tmp_path: Path, text: str, near: str) -> None:
    """A workbook that was written from a catalogue knows its codes; the nearest is named by code and label."""
    with pytest.raises(InputError) as refused:
        prodex.Requirements.read(answered(book(tmp_path / "r.xlsx"), "originCountry", f"one of: 250, {text}"))

    assert near in str(refused.value)


@pytest.mark.slow
@each_row(
    ("attribute", "text", "words"),
    [
        ("originCountry", "one of: 250, 724", "one of: 250, 724"),
        ("originCountry", 'one of: 250, "380"', "one of: 250, 380"),
        ("brand", 'one of: "B0/X", "b1/x"', 'one of: "B0/X", "b1/x"'),
    ],
)
def test_codes_in_use_and_codes_in_quotes_are_taken(
    tmp_path: Path, attribute: str, text: str, words: str
) -> None:
    """Also when the workbook is written anew: what was confirmed once is not asked again."""
    path = answered(book(tmp_path / "r.xlsx"), attribute, text)
    read = prodex.Requirements.read(path)
    later = [{"id": 1, "originCountry": {"code": "250", "label": "France"}, "brand": {"code": "B0/X"}}]
    again = prodex.write_requirements(tmp_path / "again.xlsx", prodex.flatten(later), start=read)

    assert {(attribute, "*"): f"must; {words}"} == asks(read) == asks(prodex.Requirements.read(again))


def test_without_the_codes_in_use_any_code_is_taken(tmp_path: Path) -> None:
    """A file whose hidden sheet is gone does not know them."""
    path = answered(book(tmp_path / "r.xlsx"), "originCountry", "one of: FR, EU", without_keys=True)

    assert {("originCountry", "*"): "must; one of: FR, EU"} == asks(prodex.Requirements.read(path))


def test_the_codes_in_use_are_shown_at_the_name_of_the_attribute(tmp_path: Path) -> None:
    """As a message of the cell, with code and label, and never longer than such a message can be."""
    many = [{"id": n, "brand": {"code": f"B{n:03}", "label": f"Brand {n}"}} for n in range(200)]
    few = load_workbook(book(tmp_path / "r.xlsx"))["Shop"].data_validations.dataValidation
    wide = load_workbook(
        prodex.write_requirements(tmp_path / "m.xlsx", prodex.flatten(many), channels="Shop")
    )["Shop"]

    assert "Codes in use: 056 Belgium, 250 France, 724 Spain" in {one.prompt for one in few}
    (shown,) = [
        one.prompt for one in wide.data_validations.dataValidation if "B000 Brand 0" in (one.prompt or "")
    ]
    assert 255 >= len(shown)
    assert shown.endswith(" ...")


@each_row(
    ("attribute", "text", "problem"),
    [
        (
            "namePublicLong",
            "at least 800 pixels",
            "pixels cannot be asked of this attribute, which is a text",
        ),
        ("brand", "at most 80 characters", "characters cannot be asked of this attribute, which is a code"),
        (
            "assets.pictures[front]",
            "20-80 characters",
            "characters cannot be asked of this attribute, which is a picture",
        ),
        (
            "assets.pictures[front]",
            "one of: A",
            "codes cannot be asked of this attribute, which is a picture",
        ),
        (
            "netWeight",
            "at least 800 pixels",
            "pixels cannot be asked of this attribute, which is a quantity",
        ),
        (
            "isPartitionedBy.contains[SALTEQ]",
            "at most 3 characters",
            "characters cannot be asked of this attribute",
        ),
        ("gtin", "at least 800 pixels", "pixels cannot be asked of this attribute, which is no picture"),
    ],
)
def test_conditions_that_make_no_sense_for_an_attribute_need_confirmation(
    tmp_path: Path, attribute: str, text: str, problem: str
) -> None:
    """The message says what can be written there."""
    language = "fr" if attribute == "namePublicLong" else None
    rows = table({"Attribute": attribute, "Language": language, "Condition": text})
    with pytest.raises(InputError) as refused:
        prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Shop": rows}))

    assert f"Shop!J2: {problem}" in str(refused.value)


def test_many_codes_with_long_labels_are_kept_in_cells_that_can_hold_them(tmp_path: Path) -> None:
    """A cell holds 32,767 characters, and letters of other scripts take several; all codes are known all the same."""
    many = [{"id": n, "brand": {"code": f"B{n:03}", "label": f"{n} {'Ελλάδα ' * 20}"}} for n in range(200)]
    path = prodex.write_requirements(tmp_path / "r.xlsx", prodex.flatten(many), channels="Shop")
    hidden = load_workbook(path)["prodex requirements"]

    assert 32_767 >= max(len(str(cell.value)) for row in hidden for cell in row)
    read = prodex.Requirements.read(answered(path, "brand", "one of: B000, B199"))
    assert {("brand", "*"): "must; one of: B000, B199"} == asks(read)
    with pytest.raises(InputError, match="'B200' is not among the codes in use"):
        prodex.Requirements.read(answered(path, "brand", "one of: B200"))
