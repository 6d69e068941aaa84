"""`prodex lab` copies the notebooks and opens them; after the demo, each next step is one that can be taken here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prodex.cli import app
from prodex.cli.lab import copy_notebooks, next_steps, tutorials
from prodex.errors import InputError, MissingExtra, StorageError

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def test_the_notebooks_are_copied_with_the_pictures_that_they_show(tmp_path: Path) -> None:
    """Whole, and under their names."""
    copied, kept = copy_notebooks(tmp_path / "course")

    assert [] == kept
    assert {path.name for path in NOTEBOOKS.glob("*.ipynb")} <= {path.name for path in copied}
    assert [] == [
        path.name
        for path in copied
        if path.read_bytes() != (NOTEBOOKS / path.relative_to(tmp_path / "course")).read_bytes()
    ]
    for path in copied:
        if path.suffix == ".ipynb" and "](images/" in path.read_text("utf-8"):
            name = path.read_text("utf-8").partition("](")[2].partition(")")[0]
            assert (path.parent / name).exists()


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    """Somebody may have worked in it for a week."""
    (tmp_path / "02_completeness_audit.ipynb").write_text("mine", "utf-8")
    copied, kept = copy_notebooks(tmp_path)

    assert [tmp_path / "02_completeness_audit.ipynb"] == kept
    assert "mine" == kept[0].read_text("utf-8")
    assert ([], len(copied) + 1) == (copy_notebooks(tmp_path)[0], len(copy_notebooks(tmp_path)[1]))


def test_a_file_where_the_folder_should_be_is_an_error_of_ours(tmp_path: Path) -> None:
    """It says what to do, and the file stays."""
    (tmp_path / "file").write_text("mine", "utf-8")

    with pytest.raises(StorageError, match="There is a file where a folder should be"):
        copy_notebooks(tmp_path / "file")
    assert "mine" == (tmp_path / "file").read_text("utf-8")


def test_without_jupyterlab_the_notebooks_are_there_and_the_line_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs open notebooks as well."""
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    ended = CliRunner().invoke(app, ["lab", "--to", str(tmp_path / "course")])

    assert isinstance(ended.exception, MissingExtra)
    assert "prodex lab needs JupyterLab. Install it with: " in str(ended.exception)
    assert (tmp_path / "course" / "01_first_look.ipynb").exists()


def test_the_next_steps_fit_the_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make` only where make was used, and what is missing is installed first."""
    monkeypatch.delenv("MAKELEVEL", raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    lab = f"Next, {len(tutorials())} notebooks in JupyterLab: "
    assert f"{lab}prodex lab" in next_steps("sample")
    assert not [line for line in next_steps("sample") if "make" in line]

    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    line = f"{tmp_path}/bin/python -m pip install 'prodex[lab]' && prodex lab"
    assert f"{lab}{line}" in next_steps("sample")

    (tmp_path / "Makefile").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAKELEVEL", "1")
    assert f"{lab}make lab" in next_steps("sample")


def test_root_is_told_why_jupyterlab_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how it starts where that does no harm."""
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    ended = CliRunner().invoke(app, ["lab", "--to", str(tmp_path / "course")])

    assert isinstance(ended.exception, InputError)
    assert "prodex lab --allow-root" in str(ended.exception)
