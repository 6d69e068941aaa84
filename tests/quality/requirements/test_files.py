"""Requirements as files: what is written is read back, and a file says what it is."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError
from prodex.quality.asked_attributes import AskedAttribute
from prodex.quality.asks import Ask, Level
from prodex.quality.requirements import Channel, ChannelRequirement, Requirements
from tests.cases import each_row
from tests.quality.requirements.drawing import requirements
from tests.quality.requirements.sheets import changed


@given(requirements, st.sampled_from([".toml", ".csv", ".xlsx"]))
@example(Requirements(), ".xlsx")
@example(Requirements(by="gpc"), ".csv")
@example(Requirements(), ".toml")
def test_what_is_written_is_read_back(given_: Requirements, ending: str) -> None:
    """All of it, channels and families of which nothing is asked included, and in the same order."""
    with tempfile.TemporaryDirectory() as folder:
        path = given_.write(Path(folder, f"own{ending}"))

        assert given_ == Requirements.read(path)
        assert Requirements.is_file(path)
        assert () == Requirements.read(path).ignored


@given(requirements)
def test_a_frame_is_read_back(given_: Requirements) -> None:
    """Also where a code has the sign that divides codes."""
    assert given_ == Requirements.of(given_.frame, by=given_.by)


def test_toml_is_pleasant_in_a_diff(tmp_path: Path) -> None:
    """One requirement a line, sorted, with names beside codes."""
    asked = [
        ("Web shop (France)", "brand", "", "must"),
        ("Web shop (France)", "namePublicLong", "fr", "must"),
    ]
    wanted = Requirements(
        "own",
        "kind",
        (Channel("Web shop", 250),),
        (),
        tuple(
            ChannelRequirement(
                channel,
                AskedAttribute(name, language),
                "*",
                Ask(Level(level), pattern="" if not language else r"\w+"),
            )
            for channel, name, language, level in asked
        ),
    )

    assert [
        "# What each channel asks of the products of each family: must, should, may or not, and conditions.",
        "requirements = 1",
        'by = "kind"',
        "",
        "[[channels]]",
        'name = "Web shop"',
        "market = 250  # France",
        "",
        "# All families",
        '[asked."Web shop (France)"."*"]',
        'brand = "must"',
        r"namePublicLong.fr = 'must; pattern: \w+'",
    ] == wanted.write(tmp_path / "own.toml").read_text("utf-8").splitlines()


def test_toml_written_by_hand_is_refused_line_by_line(tmp_path: Path) -> None:
    """Every line at once, each with its number; the nearest name where there is one."""
    path = tmp_path / "own.toml"
    path.write_text(
        "requirements = 1\n"
        "chanels = []\n"
        "[[channels]]\n"
        'name = "Web shop"\n'
        'market = "Frnace"\n'
        "[[channels]]\n"
        'name = "Drive"\n'
        "[asked.Drive.TEA]\n"
        'brand = "x"\n'
        'namePublicLong.klingon = "must"\n'
        "[asked.Driv.TEA]\n"
        'brand = "must"\n'
    )
    with pytest.raises(InputError) as refused:
        Requirements.read(path)

    assert [
        "own.toml, line 2, chanels: requirements have no key 'chanels'; did you mean 'channels'?",
        "own.toml, line 3, channels: There is no market 'Frnace'",
        "own.toml, line 9, asked.Drive.TEA.brand: 'x' is not clear. Type must, should, may or not.",
        "own.toml, line 10, asked.Drive.TEA.namePublicLong.klingon: There is no language 'klingon'",
        "own.toml, line 11, asked.Driv.TEA: there is no channel 'Driv'; did you mean 'Drive'?",
    ] == [line.split("? Give")[0].split(". Did")[0].strip() for line in str(refused.value).splitlines()[1:]]


def test_codes_mean_the_same_in_every_file(tmp_path: Path) -> None:
    """Codes have a comma and a blank between them, and what may be one or several needs confirmation."""
    toml, table = tmp_path / "own.toml", tmp_path / "own.csv"
    heading = "channel;market;consumer_units;attribute;language;family;family_label;family_parent;level;condition;by"
    for codes, meant in (("FR, ES", ("FR", "ES")), ("FR/ES", None), ("FR,ES", None), ('""A/B""', ("A/B",))):
        in_toml = codes.replace('""', '"')
        toml.write_text(
            f"requirements = 1\n[[channels]]\nname = 'Shop'\n[asked.Shop.'*']\nbrand = 'must; one of: {in_toml}'\n"
        )
        table.write_text(f'{heading}\nShop;all;;brand;;*;;;must;"one of: {codes}";\n')
        for path in (toml, table):
            if meant is None:
                with pytest.raises(InputError, match="may be one code or several"):
                    Requirements.read(path)
            else:
                assert [meant] == [one.ask.one_of for one in Requirements.read(path).requirements]


def test_a_market_that_can_be_none_is_refused_by_its_channel(tmp_path: Path) -> None:
    """In TOML a value has a type: a market is a whole number or a name."""
    path = tmp_path / "own.toml"
    answers = {}
    for market in ("true", "250.5", '["France"]', "2026-11-20"):
        path.write_text(f'requirements = 1\n[[channels]]\nname = "Drive"\nmarket = {market}\n')
        try:
            answers[market] = str(Requirements.read(path))
        except InputError as refused:
            answers[market] = str(refused)

    assert not {market: one for market, one in answers.items() if "give its number or its name" not in one}


def test_a_profile_and_requirements_are_told_apart(tmp_path: Path) -> None:
    """By a key of the file, never by what its other keys look like; a broken file stays what it was."""
    texts = {
        "profile": ('title = "requirements = 1"\n[checks.valid_gtin]\n', False),
        "own": ("requirements = 1\n", True),
        "broken": ("requirements = 1\n[asked\n", True),
        "torn": ("[checks\n", False),
    }
    for name, (text, _) in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "utf16.toml").write_text("requirements = 1", "utf-16")

    assert {name: is_one for name, (_, is_one) in texts.items()} == {
        name: Requirements.is_file(tmp_path / f"{name}.toml") for name in texts
    }
    assert [True, True, True, False, False, False] == [
        Requirements.is_file(one)
        for one in ("a.xlsx", Path("a.CSV"), "a.ods", "core", "a.toml", tmp_path / "utf16.toml")
    ]
    with pytest.raises(InputError, match=r"broken\.toml is no TOML"):
        Requirements.read(tmp_path / "broken.toml")
    with pytest.raises(InputError, match="it lacks the key requirements"):
        Requirements.read(tmp_path / "profile.toml")


def test_rows_of_csv_are_refused_each_with_its_number(tmp_path: Path) -> None:
    """One requirement a row, edited by hand: own columns are named, and what is no code is refused."""
    path = tmp_path / "own.csv"
    path.write_text(
        "\ufeffchannel;market;consumer_units;attribute;language;family;family_label;family_parent;level;condition;by;Why\n"
        "Web shop;France;;namePublicLong;français;*;;;must;;; because\n"
        "Web shop;France;;brand;;TEA;;;must;one of: A, B;kind;\n"
        ";;;;;;;;;;;\n"
        "Web shop;France;;kind;;TEA;;;yes;;;\n"
        "Web shop;Frnace;;kind;;TEA;;;must;;;\n"
        "Web shop;France;;kind;;TEA;;;;one of: A;;\n"
    )
    with pytest.raises(InputError) as refused:
        Requirements.read(path)
    lines = [line.strip() for line in str(refused.value).splitlines()[1:]]
    path.write_text("\n".join(path.read_text().splitlines()[:4]))

    assert [
        "row 5, level: 'yes' is not clear",
        "row 6, market: There is no market 'Frnace'",
        "row 7, level: there is a condition, and no level",
    ] == [line.split(". ")[0] for line in lines]
    read = Requirements.read(path)
    assert ["must", "must; one of: A, B"] == [
        one.ask.words for one in sorted(read.requirements, key=lambda one: one.family)
    ]
    assert ("column Why (L)",) == read.ignored


@given(requirements, st.randoms(use_true_random=False))
def test_files_of_all_kinds_say_the_same(given_: Requirements, order: Random) -> None:
    """TOML, CSV and the workbook one after the other; however its rows are sorted, the workbook is what it was."""
    with tempfile.TemporaryDirectory() as folder:
        toml = given_.write(Path(folder, "own.toml"))
        table = Requirements.read(toml).write(Path(folder, "own.csv"))
        book = Requirements.read(table).write(Path(folder, "own.xlsx"))

        def shuffle(whole: Any) -> None:
            sheet = whole["Requirements"]
            rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
            order.shuffle(rows)
            for number, row in enumerate(rows, 2):
                for column, value in enumerate(row, 1):
                    sheet.cell(number, column).value = value
                    # openpyxl takes a text that begins with a sign for a formula.
                    sheet.cell(number, column).data_type = "s"

        assert given_ == Requirements.read(changed(book, shuffle))


@each_row("ending", [".toml", ".csv", ".xlsx"])
def test_a_family_that_nobody_listed_is_not_written_as_all(tmp_path: Path, ending: str) -> None:
    """Requirements that Python makes may ask of a code without a name."""
    wanted = Requirements(
        channels=(Channel("Shop"),),
        requirements=(ChannelRequirement("Shop", AskedAttribute("brand"), "TEA", Ask(Level.MUST)),),
    )

    read = Requirements.read(wanted.write(tmp_path / f"own{ending}"))
    assert ["TEA"] == [one.family for one in read.requirements]


def test_what_no_cell_holds_is_not_written(tmp_path: Path) -> None:
    """A pattern of 40,000 characters would be cut, and read back as another one."""
    about = AskedAttribute("xOwn")
    wanted = Requirements(
        channels=(Channel("Shop"),),
        requirements=(ChannelRequirement("Shop", about, "*", Ask(Level.MUST, pattern="a" * 40_000)),),
    )
    for ending in (".xlsx", ".csv", ".toml"):
        with pytest.raises(InputError, match="40,009 characters, and a cell holds 32,767 at most"):
            wanted.write(tmp_path / f"own{ending}")

    assert [] == list(tmp_path.iterdir())


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    """Nothing is replaced without a word, and no other ending is written."""
    path = Requirements().write(tmp_path / "own.toml")
    with pytest.raises(InputError, match="Give another path, or replace=True"):
        Requirements().write(path)
    with pytest.raises(InputError, match="cannot be written"):
        Requirements().write(tmp_path / "own.ods")

    assert path == Requirements(by="gpc").write(path, replace=True)
    assert "gpc" == prodex.Requirements.read(path).by
