"""TOML of people is read through one door: a small file has a small cost, whatever is in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import InputError
from prodex.files.toml_text import NotToml, TomlText, toml_values
from prodex.job.job_file import read_job
from tests.cases import each_row

SOURCE = Path(prodex.__file__).parent

#: Every function that reads TOML of people.
READERS: dict[str, Callable[[Path], object]] = {
    "job": read_job,
    "recipe": prodex.Recipe.read,
    "profile": prodex.Profile.read,
    "requirements": prodex.Requirements.read,
}

_DEEP = ".".join("a" * 8_000)
#: Texts of a few kilobytes for which the standard library takes seconds, or that hold what nothing can show.
HOSTILE = {
    "a key": (f"{_DEEP} = 1", "a key of 8,000 parts in line 1, and 32"),
    "a key with spaces": (" . ".join("a" * 8_000) + " = 1", "8,000 parts in line 1"),
    "a key in quotes": (".".join(['"a"', "'b'"] * 4_000) + " = 1", "8,000 parts in line 1"),
    "a header": (f"[{_DEEP}]", "8,000 parts in line 1"),
    "a header of an array": (f"[[{_DEEP}]]", "8,000 parts in line 1"),
    "a key in a table": (f"x = {{{_DEEP} = 1}}", "8,000 parts in line 1"),
    "a key behind a text": (f'x = """\n"\\"""\'""""\n{_DEEP} = 1', "8,000 parts in line 3"),
    "a key behind a text as it is": (f"x = '''\n\\''\"'''''\n{_DEEP} = 1", "8,000 parts in line 3"),
    "a key behind a comment": (f'# it\'s """\n{_DEEP} = 1', "8,000 parts in line 2"),
    "a number": (f"x = {'9' * 5_000}", "of 5,000 characters in line 1"),
    "a number of the machine": (f"x = 0x{'f' * 5_000}", "of 5,002 characters in line 1"),
    "arrays": (f"x = {'[' * 9_000}", "nested too deep"),
    "tables": (f"x = {'{a = ' * 9_000}", "nested too deep"),
}


@each_row("reader", READERS)
def test_a_small_file_is_refused_before_it_costs(reader: str, tmp_path: Path) -> None:
    """Each reader refuses it in words, by what is measured before its values are read."""
    file = tmp_path / "a.toml"
    for text, words in HOSTILE.values():
        file.write_text(text, "utf-8")
        with pytest.raises(InputError, match=words):
            READERS[reader](file)
    file.write_text("#" * 2**24 + "\n# requirements", "utf-8")
    with pytest.raises(InputError, match="16,777,231 bytes, and more than"):
        READERS[reader](file)


def test_what_people_write_is_read_as_before() -> None:
    """Texts with dots, quotes and keys in them are no keys, and a key of a few parts is read."""
    text = """
    title = "a.b.c." # it's "
    'a.b'."c d".e = 1.5
    long = '''{}'''
    [x."y.z"]
    list = ["{}", {{p.q = 1979-05-27}}]
    """.format("a.b." * 5_000, "a." * 5_000)
    assert tomllib.loads(text) == toml_values(text)


@given(st.text(st.sampled_from("ab.=[]{}\"'\\\n #,1"), max_size=40))
def test_the_measure_changes_nothing(text: str) -> None:
    """Whatever the standard library reads of a short text is read, and what it refuses is refused."""
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        with pytest.raises(NotToml):
            toml_values(text)
    else:
        assert expected == toml_values(text)


@given(
    st.text(st.sampled_from("\"'\\\n #"), max_size=12),
    st.sampled_from(['x = """{}"""\n', "x = '''{}'''\n", 'x = "{}"\n', "x = '{}'\n", "#{}\n"]),
)
def test_no_text_before_a_key_hides_it(before: str, around: str) -> None:
    """Quotes, escapes and comments before a long key: if the file can be read up to there, the key is found."""
    text = around.format(before)
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    with pytest.raises(NotToml, match="a key of 40 parts"):
        toml_values(f"{text}{'.'.join('a' * 40)} = 1")


def test_there_is_one_door() -> None:
    """No other module reads TOML."""
    importing = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"(?m)^\s*(import|from) tomllib\b", path.read_text("utf-8"))
    ]
    assert ["files/toml_text.py"] == importing


def test_naming_lines_costs_what_the_file_has() -> None:
    """Its lines are looked at once, however many are asked for: a look for each would take minutes here."""
    text = TomlText("a.toml", "".join(f"[t{n}]\nk = 1\n" for n in range(20_000)))
    assert [f"a.toml, line {2 * n + 2}, t{n}.k" for n in range(20_000)] == [
        text.where((f"t{n}", "k")) for n in range(20_000)
    ]
