"""What the command shows: how far the products of a new store are, where the sandbox answers, and how to stop it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from prodex_sandbox.simulation.journal import printable

_T = TypeVar("_T")

#: Seconds between two reports; whatever takes less time is not reported.
_BETWEEN: Final = 1.0


def report(text: str) -> None:
    """Report something on one line, beside the result."""
    sys.stderr.write(f"prodex sandbox: {printable(text)}\n")
    sys.stderr.flush()


def with_progress(
    products: Iterable[_T], total: int | None, what: str, progress: Path | None = None
) -> Iterator[_T]:
    """Yield products, and say how many there were.

    A terminal gets one line that is written again once a second, and is gone at the end. A file, which keeps whatever
    is written to it, gets one line at the end. What takes less than a second is not reported.

    Parameters
    ----------
    products
        Any products.
    total
        How many there will be, if that is known.
    what
        What is done with them.
    progress
        File that holds the same once a second, for a program that waits.

    Examples
    --------
    >>> list(with_progress("abc", 3, "making the sample catalogue"))
    ['a', 'b', 'c']
    """
    of_all = "" if total is None else f" of {total:,}"
    is_rewritten = sys.stderr.isatty()
    began = last = time.monotonic()
    number = 0
    for number, product in enumerate(products, start=1):
        if (now := time.monotonic()) - last >= _BETWEEN:
            last, count = now, f"{number - 1:,}{of_all} products"
            if progress is not None:
                progress.write_text(count, "utf-8")
            if is_rewritten:
                sys.stderr.write(f"\rprodex sandbox: {what}, {count}")
                sys.stderr.flush()
        yield product
    if last == began:
        return
    if is_rewritten:
        sys.stderr.write(f"\r{' ' * 100}\r")
        sys.stderr.flush()
    else:
        report(f"{what}: {number:,} products in {time.monotonic() - began:.0f} s")


def announce(server: Mapping[str, Any], home: Path, *, is_default: bool) -> None:
    """Say on the standard output that a server answers: in words to a terminal, else as one line of JSON.

    Parameters
    ----------
    server
        What is announced: its address, number of products, and access keys.
    home
        Folder of its store.
    is_default
        Whether that is the folder which `prodex.connect("sandbox")` uses.
    """
    if not sys.stdout.isatty():
        sys.stdout.write(json.dumps(server) + "\n")  # ASCII: nothing in it moves a cursor
        sys.stdout.flush()
        return
    url, key = server["base_url"], server["credentials"][0]
    number = server["products"]
    lines = [
        f"The sandbox answers at {url} with {number:,} {'product' if number == 1 else 'products'}.",
        f"  documentation  {url}/docs",
        f"  access key     {key['client_id']}, secret {key['client_secret']} ({key['organization']})",
        f"  all keys       {home / 'server.json'}",
    ]
    if is_default:
        lines.append('  in Python      prodex.connect("sandbox")')
    lines.append(f"Stop it with Ctrl-C. What was written to it is kept in {home}.")
    sys.stdout.write("".join(f"{printable(line)}\n" for line in lines))
    sys.stdout.flush()
