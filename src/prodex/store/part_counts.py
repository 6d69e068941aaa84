"""How much of a part is built: whoever builds it notes the count in a file, and whoever waits for it reads that.

A file, and not a message: it reaches the one who waits from a thread, a process, and a worker of a cluster alike. A
count that cannot be written or read costs nothing but a coarser estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from prodex.files.atomic import open_private
from prodex.files.untrusted import is_foreign
from prodex.tables.flatten import Tables

#: Digits of a count: what is longer is none of ours.
_MOST = 12


def counted(blocks: Iterable[Tables], journal: Path, number: int) -> Iterator[Tables]:
    """Pass the blocks of a part on, and note how many of its products are written.

    Parameters
    ----------
    blocks
        The tables of its products, block by block.
    journal
        The folder in which the count is noted.
    number
        The number of the part.
    """
    forget_count(journal, number)  # of a build that was interrupted
    done = 0
    for block in blocks:
        # Whoever writes the tables has no use for them afterwards, and neither has this function.
        waiting = [block]
        rows = block["products"].num_rows
        del block
        if done:  # what came before is written when the next block is asked for
            _note(_path(journal, number), done)
        yield waiting.pop()
        done += rows


def forget_count(journal: Path, number: int) -> None:
    """Remove the count of a part that is done."""
    with suppress(OSError):
        _path(journal, number).unlink(missing_ok=True)


def count_of(journal: Path, number: int) -> int:
    """Return how many products of a part that is being built are written; 0 where nobody has noted it."""
    try:
        with _path(journal, number).open("rb") as file:
            return int(file.read(_MOST))
    except (OSError, ValueError):
        return 0


def _note(path: Path, done: int) -> None:
    # What an interrupted build left may be anything, and nothing is written through a link.
    if is_foreign(path):
        return
    with suppress(OSError), open_private(path, "wb") as file:
        file.write(str(done).encode())


def _path(journal: Path, number: int) -> Path:
    return journal / f"building-{number:05d}"
