"""Groups of findings: who gets which rows, and what their files are called."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.files import safe_name
from prodex.quality.groups import Groups, Integers
from prodex.quality.outcome import Audit
from prodex.quality.worklists.rows import WORKLIST
from prodex.quality.worklists.sheets import Worklist


def grouped_worklists(
    audit: Audit, rows: pa.Table, by: str, taken: Collection[str] = ()
) -> Iterator[Worklist]:
    """Cut findings into groups by code, never by label; those with the most come first.

    Parameters
    ----------
    audit
        The audit.
    rows
        From `worklist_rows`.
    by
        What `Audit.scores` groups by; by "language" a finding goes where its language goes.
    taken
        Names of files, without ending, that no worklist may have.

    Raises
    ------
    QueryError
        When there is nothing to group by under this name.
    """
    found: list[tuple[str | None, str | None, Integers, Mapping[Any, Any]]] = []
    if by == "language":
        codes = pc.unique(rows["language"]).to_pylist()
        place = pc.index_in(rows["language"], pa.array(codes, pa.string())).to_numpy()
        found = [(code, code, np.flatnonzero(place == number), {}) for number, code in enumerate(codes)]
    else:
        groups = _with_everybody(audit.groups(by), len(audit))
        figures = audit.tally.taken(groups.rows).by_group(groups.groups, len(groups.codes)).to_dict("records")
        for number, members in enumerate(_members(groups, rows["product"].to_numpy(), len(audit))):
            found.append((groups.codes[number], groups.labels[number], members, figures[number]))
    found = [one for one in found if len(one[2])]
    found.sort(key=lambda one: (-len(one[2]), one[0] is None, one[0] or ""))
    names = file_names([(code, label) for code, label, *_ in found], by, taken)
    for name, (code, label, members, told) in zip(names, found, strict=True):
        own = rows.take(pa.array(members)).drop_columns("product")
        own = own.add_column(0, "row", pa.array(np.arange(1, len(own) + 1)))
        yield Worklist(by, code, label, name, own.cast(WORKLIST), told)


def _with_everybody(groups: Groups, size: int) -> Groups:
    """Put products that are in no group (such as those without tags) into one of their own."""
    outside = np.setdiff1d(np.arange(size), groups.rows)
    if not len(outside):
        return groups
    number = np.full(len(outside), len(groups.codes))
    return Groups(
        np.concatenate([groups.rows, outside]),
        np.concatenate([groups.groups, number]),
        [*groups.codes, None],
        [*groups.labels, None],
    )


def _members(groups: Groups, products: Integers, size: int) -> Iterator[Integers]:
    """Yield for each group which rows are about its products, in their order."""
    by_product = np.argsort(products, kind="stable")
    first = np.searchsorted(products[by_product], np.arange(size + 1))
    order = np.argsort(groups.groups, kind="stable")
    edges = np.searchsorted(groups.groups[order], np.arange(len(groups.codes) + 1))
    for number in range(len(groups.codes)):
        own = groups.rows[order[edges[number] : edges[number + 1]]]
        counts = first[own + 1] - first[own]
        starts = np.repeat(first[own] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        yield np.sort(by_product[starts + np.arange(len(starts))])


def file_names(
    groups: Sequence[tuple[str | None, str | None]], by: str, taken: Collection[str] = ()
) -> list[str]:
    """Give each group the name of its files: safe, told apart even where letters of both sizes are one.

    >>> file_names([("4", "Käse & Co"), ("../4", "Käse & Co"), (None, None)], "owner")
    ['Käse_Co-4', 'Käse_Co-4-2', 'no_owner']
    """
    names: list[str] = []
    given = {name.casefold() for name in taken}
    for code, label in groups:
        named = f"{_short(label, 100)}-{_short(code, 60)}" if label not in {None, code} else _short(code, 160)
        stem = safe_name(f"no_{by}" if code is None else named)
        name, turn = stem, 1
        while name.casefold() in given:
            turn += 1
            name = f"{stem}-{turn}"
        given.add(name.casefold())
        names.append(name)
    return names


def _short(text: str | None, most: int) -> str:
    """Return a safe name of at most so many bytes: file systems count these."""
    return safe_name(text or "").encode()[:most].decode("utf-8", "ignore")
