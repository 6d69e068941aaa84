"""The upserts that were made from this machine: finding the last one, naming them all."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from prodex.errors import InputError
from prodex.send.journal import Journal, host_of, tracking_folder

_LOG = logging.getLogger("prodex")

_COUNTS = ("sent", "accepted", "unknown", "refused", "not sent")


def latest(base_url: str, key: str) -> Journal:
    """Return the newest upsert that an access key made to a service.

    Raises
    ------
    InputError
        When there is none on this machine.
    """
    for path in journals():
        try:
            journal = Journal(path)
        except InputError as error:
            _LOG.warning("%s It was passed over.", error)
            continue
        if journal.host == host_of(base_url) and journal.key in {None, key}:
            return journal
    raise InputError(
        f"Nothing that was sent to {host_of(base_url)} with this access key is in {tracking_folder()}. Give the "
        "tracking identifiers, prodex.track(service, [...]), or the name of an upsert that prodex.list_upserts() shows."
    )


def named(name: str) -> Journal:
    """Return the upsert of a name.

    Raises
    ------
    InputError
        When there is none, or its journal cannot be read.
    """
    for path in journals():
        if _name(path) == name:
            return Journal(path)
    raise InputError(
        f"There is no upsert {name!r:.80} in {tracking_folder()}. prodex.list_upserts() shows all."
    )


def list_upserts() -> pd.DataFrame:
    """List the upserts that were made from this machine, the newest first.

    Returns
    -------
    DataFrame
        One row for each upsert: name, at (when it was planned), host, products (how many), and how many of them are
        sent, accepted (under an identifier that could not be read), unknown, refused and not_sent; keeps_products
        says whether `Tracking.send_rest` has what it needs; note says why a journal cannot be read.

    Examples
    --------
    >>> import prodex
    >>> prodex.list_upserts()["name"].tolist()
    []
    """
    rows = [_row(path) for path in journals()]
    columns = ["name", "at", "host", "products", *(name.replace(" ", "_") for name in _COUNTS)]
    frame = pd.DataFrame(rows, columns=[*columns, "keeps_products", "note"])
    numbers = dict.fromkeys(columns[3:], "Int64")
    return frame.astype({**numbers, "keeps_products": "bool"})


def _row(path: Path) -> dict[str, Any]:
    try:
        journal = Journal(path)
        batches = journal.batches()
    except InputError as error:
        return {"name": _name(path), "keeps_products": False, "note": str(error)}
    counts: Counter[str] = Counter()
    for batch in batches:
        counts[batch.sent] += len(batch.gtins)
    return {
        "name": journal.name,
        "at": journal.at,
        "host": journal.host,
        "products": counts.total(),
        **{name.replace(" ", "_"): counts[name] for name in _COUNTS},
        "keeps_products": journal.keeps_payloads,
        "note": "being sent now" if journal.is_busy else "",
    }


def journals() -> Iterator[Path]:
    """Yield the journals, the newest first; a link is none, and neither is what is half-written."""
    folder = tracking_folder()
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir(), key=_stem, reverse=True):
        if path.name.startswith(".") or path.is_symlink():
            continue
        inside = path / "journal.jsonl"
        if path.is_dir() and inside.is_file() and not inside.is_symlink():
            yield inside
        elif path.suffix == ".jsonl" and path.is_file():
            yield path


def _stem(path: Path) -> str:
    return path.name.removesuffix(".jsonl")


def _name(journal: Path) -> str:
    return journal.parent.name if journal.name == "journal.jsonl" else journal.stem
