"""Worklists that come back: suppliers fill in what they know, some of them with mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

#: Suppliers who send their worklist back: those who have most left to answer.
_SUPPLIERS = 3
#: Every fifth cell is left empty, and the first answer of several is none.
_FORGOTTEN = 5
_NO_ANSWER = "?"
_PLACE = ["product_id", "attribute", "language"]


def answer_worklists(sent: Path, returned: Path, right: Callable[[list[str]], pd.DataFrame]) -> list[Path]:
    """Write the worklists that came back, as the suppliers filled them in, and return their files.

    Parameters
    ----------
    sent
        The folder of worklists.
    returned
        The folder to write to; new.
    right
        Returns what is wrong with products, and what would be right, by their GTINs; see `sandbox.open_defects`.
    """
    lists = {
        path: pd.read_csv(path, dtype=str) for path in sorted(sent.glob("*.csv")) if path.name != "index.csv"
    }
    gtins = sorted({gtin for rows in lists.values() for gtin in rows["gtin"].dropna()})
    known = right(gtins)
    # Of what is no text, the record has a structure, and a cell holds text.
    texts = known[known["right"].map(lambda value: isinstance(value, str)).astype(bool)]
    answers = texts.drop_duplicates(_PLACE).set_index(_PLACE)["right"]
    filled = {path: rows.assign(new_value=_answered(rows, answers)) for path, rows in lists.items()}
    most = sorted(filled, key=lambda path: (-int(filled[path]["new_value"].notna().sum()), path.name))
    written = []
    for path in most[:_SUPPLIERS]:
        if filled[path]["new_value"].notna().any():
            returned.mkdir(parents=True, exist_ok=True)
            filled[path].to_csv(returned / path.name, index=False)
            written.append(returned / path.name)
    return written


def _answered(rows: pd.DataFrame, answers: pd.Series) -> pd.Series:
    """Return the column of new values: what the supplier knows and is asked for, less what it forgets."""
    places = pd.MultiIndex.from_frame(rows[_PLACE])
    typed = pd.Series(answers.reindex(places).to_numpy(), rows.index, dtype=object)
    # What the supplier has sent already waits for acceptance.
    typed[rows["update_waits"].eq("true")] = None
    known = typed.index[typed.notna()]
    typed[known[_FORGOTTEN - 1 :: _FORGOTTEN]] = None
    if len(known) > 1:
        typed[known[0]] = _NO_ANSWER
    return typed
