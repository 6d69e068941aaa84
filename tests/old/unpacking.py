"""The kept files of a version, put on the disk as if they had been made there.

What stands in them of the place and the moment of their making is replaced: the address of the service, the folder of
prodex, and when interrupted loads began, since these are only taken up again for a day.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parent

#: What the version kept under the question of a journal that does not make it another load.
_SETTINGS = {"windows", "page_size", "began"}


@dataclass(frozen=True)
class Kept:
    """The files of a version on the disk.

    Attributes
    ----------
    folder
        Where they are: `home` is what PRODEX_HOME names, `pictures`, `to_fix` and `export` are folders of a user.
    """

    folder: Path

    @property
    def home(self) -> Path:
        """What PRODEX_HOME names."""
        return self.folder / "home"

    @property
    def products(self) -> list[dict[str, Any]]:
        """What the service had when the loads were made."""
        records: list[dict[str, Any]] = json.loads((self.folder / "products.json").read_bytes())
        return records

    @property
    def changes(self) -> list[dict[str, Any]]:
        """What changed there before the refresh: 30 products, and one that is new."""
        records: list[dict[str, Any]] = json.loads((self.folder / "changes.json").read_bytes())
        return records

    def journals(self) -> dict[str, Path]:
        """Return the journals of interrupted loads and refreshes, by the name that was loaded."""
        return {path.parent.name: path for path in sorted(self.home.glob("snapshots/*/.journal-*"))}


def unpack(version: str, folder: Path, base_url: str | None = None) -> Kept:
    """Put the files of a version into a folder.

    Parameters
    ----------
    version
        A folder of `tests/old`.
    folder
        Where to.
    base_url
        Where the service is now that they were loaded from.
    """
    shutil.copytree(_extracted(version), folder / "files")
    kept = Kept(folder / "files")
    facts = json.loads((kept.folder / "facts.json").read_bytes())
    for path in kept.home.rglob("*.json"):
        text = path.read_text("utf-8")
        path.write_text(text.replace(facts["base_url"], base_url or facts["base_url"]), "utf-8")
    for journal in kept.journals().values():
        _renew(journal)
    return kept


@cache
def _extracted(version: str) -> Path:
    """Extract the files of a version once: copying them is five times as quick."""
    folder = Path(tempfile.mkdtemp(prefix="prodex-old-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(KEPT / version / "files.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "files"


def _renew(journal: Path) -> None:
    """Let the load of a journal have begun a moment ago, and name the journal after what it asked for."""
    head = json.loads((journal / "question.json").read_bytes())
    asked = head["asked"]
    asked["began"] = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    (journal / "question.json").write_text(json.dumps(head), "utf-8")
    question = {name: value for name, value in asked.items() if name not in _SETTINGS}
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    journal.rename(journal.with_name(f".journal-{digest[:8]}"))
