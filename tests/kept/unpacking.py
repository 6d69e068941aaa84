"""The kept files, put on the disk as if they had been made there.

What stands in them of the place and the moment of their making is replaced: the address of the service, the folder of
prodex, and when interrupted loads and runs began, since these are only taken up again for a day.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from tests.ledgered import FILE, contents, rewrite

FILES = Path(__file__).with_name("files.tar.xz")

#: What is kept under the question of a journal that does not make it another load.
_SETTINGS = {"windows", "page_size", "began"}


@dataclass(frozen=True)
class Kept:
    """The files on the disk.

    Attributes
    ----------
    folder
        Where they are: `home` is what PRODEX_HOME names; `pictures`, `to_fix`, `export` and `published` are folders of
        a user, and `ended.toml` and `interrupted.toml` jobs of theirs.
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

    def tracked(self, base_url: str | None = None) -> list[Path]:
        """Return the files of upserts, in their order, as sent to the service at an address."""
        paths = sorted(self.home.glob(f"tracking/*/{FILE}"))
        for path in paths if base_url is not None else ():
            (plan,) = contents(path, "plan")
            rewrite(path, "plan", 0, json.dumps({**json.loads(plan), "base_url": base_url}).encode())
        return paths


def unpack(folder: Path, base_url: str | None = None, without: Sequence[str] = ()) -> Kept:
    """Put the files into a folder.

    Parameters
    ----------
    folder
        Where to.
    base_url
        Where the service is now that they were loaded from.
    without
        Folders that are left out, by their names.
    """
    shutil.copytree(_extracted(), folder / "files", ignore=shutil.ignore_patterns(*without))
    kept = Kept(folder / "files")
    facts = json.loads((kept.folder / "facts.json").read_bytes())
    user = str(Path(facts["home"]).parent)
    for path in kept.home.rglob("*.json"):
        text = path.read_text("utf-8").replace(facts["base_url"], base_url or facts["base_url"])
        path.write_text(text.replace(user, str(kept.folder)), "utf-8")
    for journal in kept.journals().values():
        _renew(journal)
    for run in kept.home.glob("jobs/*/run.json"):
        run.write_text(json.dumps({**json.loads(run.read_bytes()), "began": _moment_ago()}), "utf-8")
    return kept


@cache
def _extracted() -> Path:
    """Extract the files once: copying them is five times as quick."""
    folder = Path(tempfile.mkdtemp(prefix="prodex-kept-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(FILES) as archive:
        archive.extractall(folder, filter="data")
    return folder / "files"


def _renew(journal: Path) -> None:
    """Let the load of a journal have begun a moment ago, and name the journal after what it asked for."""
    head = json.loads((journal / "question.json").read_bytes())
    asked = head["asked"]
    asked["began"] = _moment_ago()
    (journal / "question.json").write_text(json.dumps(head), "utf-8")
    question = {name: value for name, value in asked.items() if name not in _SETTINGS}
    digest = hashlib.sha256(json.dumps(question, sort_keys=True).encode()).hexdigest()
    journal.rename(journal.with_name(f".journal-{digest[:8]}"))


def _moment_ago() -> str:
    return (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
