"""A progress bar where somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from prodex.display_text import on_one_line

#: None: a bar where somebody is watching. True, False: a bar in any case, or none. A function: called
#: with the number of products that have come and the number announced.
Progress: TypeAlias = bool | Callable[[int, int], object] | None


@contextmanager
def showing(progress: Progress, label: str, unit: str = "products") -> Iterator[Callable[[int, int], object]]:
    """Give a function that shows (done, total) in the way that was asked for.

    Examples
    --------
    >>> with showing(print, "Products") as show:
    ...     show(50, 120)
    50 120
    """
    if callable(progress):
        yield progress
        return
    if progress is False or (progress is None and not is_watched()):
        yield lambda *_: None
        return
    from tqdm.auto import tqdm

    with tqdm(desc=label, unit=f" {unit}") as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def tell(progress: Progress, line: str) -> None:
    """Write a line where a bar would be shown: below the cell of a notebook, or on the terminal.

    It is quiet where there would be no bar, and where a function of one's own takes the bar's place.

    Examples
    --------
    >>> tell(False, "Nobody wants to know.")
    """
    if progress is True or (progress is None and is_watched()):
        # The error stream is red in a notebook, and this is no error.
        stream = sys.stdout if in_notebook() else sys.stderr
        if stream is not None:
            stream.write(f"{on_one_line(line)}\n")
            stream.flush()


def is_watched() -> bool:
    """Say whether somebody sees what is written to the terminal or the notebook."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Say whether this runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")
