"""Numbers of options are read by the grammar of all that people type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from prodex.cli import app
from prodex.cli.typed_numbers import count, integer, number, share
from tests.cases import each_row


def options() -> Iterator[tuple[str, Any]]:
    """Yield each option of each command, with the command's name."""
    group = typer.main.get_command(app)
    commands = {**group.commands, **group.commands["scenarios"].commands}  # type: ignore[attr-defined]
    for name, command in commands.items():
        yield from ((f"{name} {one.opts[0]}", one) for one in command.params)


def test_no_option_has_a_grammar_of_its_own() -> None:
    """Typer reads a whole number as Python does, which takes 1_000 and digits of Arabic."""
    kinds = {name: type(one.type).__name__ for name, one in options()}

    assert [] == [name for name, kind in kinds.items() if kind.startswith(("Int", "Float"))]
    assert "FuncParamType" == kinds["load --max-age"] == kinds["vacuum --keep"] == kinds["audit --fail-under"]


@each_row(
    ("read", "typed", "meant"),
    [
        (integer, "3", 3), (integer, "1 000", 1000), (integer, "-3", -3), (number, "0,5", 0.5), (number, "3600", 3600),
        (count, "0", 0), (share, "0,8", 0.8), (share, "1", 1), (integer, None, None),
        (number, float("inf"), float("inf")),
    ],
)  # fmt: skip
def test_a_number_is_read(read: Any, typed: object, meant: object) -> None:
    """As it is typed in any other place; a default is as it is."""
    assert meant == read(typed)


@each_row(
    ("read", "typed"),
    [
        (integer, "1_000"), (integer, "\u0663"), (integer, "2.5"), (integer, "1,234"), (integer, ""), (number, "nan"),
        (number, "inf"), (number, "1e3"), (number, "1_000"), (number, "9" * 40_000), (count, "-1"), (share, "80"),
        (share, "-0,1"), (share, "80 %"),
    ],
)  # fmt: skip
def test_what_is_none_is_refused(read: Any, typed: str) -> None:
    """In words, by the command."""
    with pytest.raises(typer.BadParameter, match=r"\w \w+"):
        read(typed)
