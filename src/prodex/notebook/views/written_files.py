"""Files that are written from a form: the name of a new one, how far the writing is, and below it what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from prodex.notebook.session.actions import Block, Panel
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.blocks import outcome, work
from prodex.notebook.views.forms import beside
from prodex.notebook.views.paths import path_typed
from prodex.progress import Reporter

_OF_BEFORE = "It is about the products that were shown when it began."

CANCELLED = "Cancelled. Nothing was written; files that were there before are as they were."


def written_blocks(session: Session, slot: str, *, key: str) -> tuple[Block | None, Block | None]:
    """Return how far writing is, and what became of the last one."""
    return work(session, slot), outcome(session, slot, key=key)


def new_file(values: Mapping[str, Any], at: str, sentence: str, label: str) -> Path:
    """Return the file that was typed in a field ("report.page"); one that is there only if its form has ticked that.

    Parameters
    ----------
    values
        What the form holds; `replace` says whether a file may be replaced.
    at
        The form and the field.
    sentence
        What to do where nothing was typed.
    label
        What the tick is called.
    """
    path = path_typed(values, at, sentence)
    if path.exists() and not values["replace"]:
        raise Refused(f"{path} already exists. Give another name, or tick '{label}'.", at=at)
    return path


def write_files(
    app: Panel,
    slot: str,
    write: Callable[[Reporter], str],
    title: str,
    *,
    at: str = "",
    cancelled: str = "",
    failed: Callable[[Session, BaseException], Session] | None = None,
) -> None:
    """Write files in the background; what `write` returns, or why it failed, stands below the form.

    It says so where the panel shows another catalogue by then.

    Parameters
    ----------
    app
        The panel.
    slot
        The work, by which `written_blocks` finds it.
    write, title
        What writes, and how that is called.
    at
        The form and the field beside which an error is shown; below the form, unless given.
    cancelled
        What is said where somebody has cancelled it.
    failed
        Shows an error in another way.
    """

    written_of = app.session.catalog

    def said(session: Session, sentence: str, *, is_problem: bool = False) -> Session:
        if sentence and session.catalog is not written_of:
            sentence = f"{sentence} {_OF_BEFORE}"
        return session.noting(sentence, is_problem=is_problem, section=slot)

    def below(session: Session, error: BaseException) -> Session:
        return said(session, error_text(error), is_problem=True)

    app.change(lambda session: said(session, ""))
    app.run(
        slot,
        write,
        said,
        title=title,
        failed=failed or (beside(at) if at else below),
        cancelled=lambda session: said(session, cancelled),
    )
