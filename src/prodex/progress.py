"""Progress bars, and lines beside them, for somebody at a terminal or in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from prodex.errors import QueryError

#: None: a bar if somebody is watching (a terminal or a notebook). True: always a bar. False: never. A function: called
#: with the number of products received and the number announced.
Progress: TypeAlias = bool | Callable[[int, int], object] | None


@contextmanager
def showing(progress: Progress, label: str, unit: str = "products") -> Iterator[Callable[[int, int], object]]:
    """Give a function that shows (done, total) as requested.

    Examples
    --------
    >>> with showing(print, "Products") as show:
    ...     show(50, 120)
    50 120
    """
    if callable(progress):
        yield progress
        return
    if not is_shown(progress):
        yield lambda *_: None
        return
    from tqdm.auto import tqdm

    with tqdm(desc=label, unit=f" {unit}") as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show


def is_shown(progress: Progress) -> bool:
    """Whether anybody sees how far something is.

    Raises
    ------
    QueryError
        When it is none of what `progress=` takes.

    Examples
    --------
    >>> is_shown(False), is_shown(print)
    (False, True)
    """
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise QueryError(
            f"progress={progress!r:.40} is neither None, True nor False, nor a function of (done, total)."
        )
    return is_watched() if progress is None else bool(progress)


def tell(progress: Progress, line: str) -> None:
    """Write a line where a bar would be shown: below the cell of a notebook, or on the terminal.

    Nothing is written if no bar would be shown, or if a function takes its place. The caller makes the line printable.

    Examples
    --------
    >>> tell(False, "Nobody wants to know.")
    """
    if not callable(progress) and is_shown(progress):
        # Notebooks show the error stream in red, and this is no error. On a terminal standard output is for data.
        stream = sys.stdout if in_notebook() else sys.stderr
        if stream is not None:
            stream.write(f"{line}\n")
            stream.flush()


def is_watched() -> bool:
    """Whether output goes to a terminal or a notebook, where somebody sees it."""
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def in_notebook() -> bool:
    """Whether this runs in the kernel of a notebook."""
    # IPython is looked up and not imported: if nobody has loaded it, this is no notebook.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return hasattr(shell, "kernel")
