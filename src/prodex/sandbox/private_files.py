"""Files and folders that only their owner reads, whatever the umask: they hold keys and secrets."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

_FILE: Final = 0o600
_FOLDER: Final = 0o700


def make_folder(path: Path) -> None:
    """Make a folder for its owner alone, and close one that stood open; one that everybody shares stays so."""
    if not path.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(_FOLDER, exist_ok=True)
    # In a folder with the sticky bit, such as /tmp, others have files of their own.
    if not path.stat().st_mode & stat.S_ISVTX:
        _close(path, _FOLDER)


def make_file(path: Path, content: bytes = b"") -> None:
    """Write a new file for its owner alone; a file that was there is replaced."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE), "wb") as file:
        file.write(content)
    _close(path, _FILE)


def close_files(folder: Path, pattern: str) -> None:
    """Take files of a folder away from all but their owner."""
    for path in folder.glob(pattern):
        if path.is_file():
            _close(path, _FILE)


def _close(path: Path, mode: int) -> None:
    found = path.stat()
    # Only an owner can do so; what belongs to somebody else is theirs.
    if stat.S_IMODE(found.st_mode) != mode and (not hasattr(os, "getuid") or found.st_uid == os.getuid()):
        path.chmod(mode)
