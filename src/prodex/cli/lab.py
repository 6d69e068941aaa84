"""The notebooks: copied to where the user works, and opened in JupyterLab; and what to do after the demo."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import prodex
from prodex.cli.options import command
from prodex.cli.output import say
from prodex.errors import InputError
from prodex.files.atomic import home, storage, writing
from prodex.installation import extra_line, is_made, missing_extra, prodex_command
from prodex.phrases import counted

_FIRST = "01_first_look.ipynb"
#: In an installed package, and in a checkout.
_PLACES = (Path(prodex.__file__).with_name("tutorials"), Path(prodex.__file__).parents[2] / "notebooks")

app: typer.Typer = typer.Typer()


@command(app, example="prodex lab; prodex lab --to course --copy-only")
def lab(
    to: Annotated[Path, typer.Option(help="Folder for the notebooks.")] = Path("prodex-notebooks"),
    copy_only: Annotated[bool, typer.Option("--copy-only", help="Copy them, and open nothing.")] = False,
    allow_root: Annotated[
        bool, typer.Option("--allow-root", help="Let JupyterLab run as root, as in a container.")
    ] = False,
) -> None:
    """Open the tutorials in JupyterLab.

    Notebooks and their pictures are copied into a folder; files that are there already are kept.
    """
    copied, kept = copy_notebooks(to)
    was_there = f"; {counted(len(kept), 'file')} already there, and kept as before" if kept else ""
    notebooks = sum(map(is_tutorial, copied))
    pictures = len(copied) - notebooks
    say(
        f"{counted(notebooks, 'notebook')} and {counted(pictures, 'picture')} copied to {to}{was_there}.",
        aside=True,
    )
    if copy_only:
        return
    if not has_lab():
        raise missing_extra("prodex lab", "JupyterLab", "lab")
    if is_root() and not allow_root:
        raise InputError(
            "JupyterLab does not run as root: whoever reaches it can do everything on this machine. Run it as another "
            "user; or, where only you can reach it, as in a container: prodex lab --allow-root (make lab "
            "LAB=--allow-root)."
        )
    from jupyterlab.labapp import main as open_lab

    # Notebooks and this terminal share snapshots and sandbox, also where PRODEX_HOME is relative.
    os.environ["PRODEX_HOME"] = str(home())
    os.chdir(to)
    say("JupyterLab opens in your browser. Stop it with Ctrl-C.", aside=True)
    open_lab([_FIRST, *(["--allow-root"] if allow_root else [])])


def copy_notebooks(folder: Path) -> tuple[list[Path], list[Path]]:
    """Copy the notebooks and their pictures to a folder; return the files that were copied and those that were there.

    Raises
    ------
    InputError
        When this installation has no notebooks.
    StorageError
        When the disk refuses.
    """
    notebooks = tutorials()
    if not notebooks:
        raise InputError(f"This installation has no notebooks in {_PLACES[0]}. Install prodex again.")
    copied, kept = [], []
    source = notebooks[0].parent
    files = [*notebooks, *source.glob("images/*-light.png")]
    with storage(folder):
        for path in sorted(files):
            copy = folder / path.relative_to(source)
            if copy.exists():
                kept.append(copy)
                continue
            with writing(copy) as beside:
                beside.write_bytes(path.read_bytes())
            copied.append(copy)
    return copied, kept


def tutorials() -> list[Path]:
    """Return the notebooks of this installation, in their order; none where it lacks them."""
    source = next((place for place in _PLACES if (place / _FIRST).exists()), None)
    return [] if source is None else sorted(filter(is_tutorial, source.glob("*.ipynb")))


def is_root() -> bool:
    """Whether this process may do everything, where systems have such a user."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def is_tutorial(path: Path) -> bool:
    """Whether a file is one of the tutorials: somebody who works in a checkout saves notebooks beside them.

    >>> is_tutorial(Path("01_first_look.ipynb")), is_tutorial(Path("01_first_look-Copy1.ipynb"))
    (True, False)
    """
    return re.fullmatch(r"\d\d_[a-z_]+\.ipynb", path.name) is not None


def has_lab() -> bool:
    """Whether JupyterLab is installed."""
    return find_spec("jupyterlab") is not None


def next_steps(snapshot: str) -> list[str]:
    """Return what to do after the demo, in lines that can be pasted.

    Parameters
    ----------
    snapshot
        Name of the snapshot that the demo made.
    """
    command = prodex_command()
    lab = f"{command} lab" if has_lab() else f"{extra_line('lab')} && {command} lab"
    if is_made():
        lab = "make lab"
    notebooks = counted(len(tutorials()), "notebook")
    return [
        f"To take back what was corrected: {command} sandbox --reset",
        f"To let a week pass in the sandbox: {command} sandbox --simulate 7",
        f"Next, {notebooks} in JupyterLab: {lab}",
        f'Or in Python: import prodex as px; px.audit(px.open_snapshot({str(snapshot)!r}), "online-listing").gaps()',
    ]
