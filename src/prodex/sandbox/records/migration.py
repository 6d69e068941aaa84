"""Stores of earlier versions, brought up to date: what somebody has in the sandbox is not lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from prodex.sandbox.records.beginning import BEGINNING, keeping_beginning, note_beginning
from prodex.sandbox.records.tables import JOURNAL, VERSION

#: The last version without a journal, and without what a store was at its beginning.
_WITHOUT_JOURNAL: Final = "4"


def bring_up_to_date(path: Path) -> None:
    """Bring the store in a file up to date, if it is of the version before; any other stays as it is.

    What it holds now is its beginning from then on: what was changed in it before was not kept by that version.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        try:
            found = connection.execute("SELECT value FROM settings WHERE name = 'version'").fetchone()
        except sqlite3.Error:
            return  # no store; whoever opens it says so
        if found != (_WITHOUT_JOURNAL,):
            return
        # Twice is as good as once, should the first time have been interrupted: the version changes last.
        connection.executemany("DELETE FROM settings WHERE name = ?", [(name,) for name in BEGINNING])
        note_beginning(connection)
        made = f"{JOURNAL}{keeping_beginning(connection)}"
        version = f"UPDATE settings SET value = '{VERSION}' WHERE name = 'version';"  # noqa: S608 - our own
        connection.executescript(f"BEGIN IMMEDIATE; {made} {version} COMMIT;")
