"""Packs of rules: packages that tell of themselves by the entry point group `prodex.rules`.

A pack is a module or a package whose import defines rules. Beside its code, a package may have `profiles/*.toml` and
`languages/fr/LC_MESSAGES/<package>.mo`. That a pack is there is known without importing it, so that whoever only reads
a saved audit in French needs none of its code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

GROUP = "prodex.rules"

#: The distribution whose own packs are prodex's own rules.
_PRODEX = "prodex"


@dataclass(frozen=True)
class RulePack:
    """A pack of rules that is installed.

    Attributes
    ----------
    name
        Its package, the first part of the names of its modules.
    entries
        What its import is asked for by: one for each of its modules that have rules.
    """

    name: str
    entries: tuple[EntryPoint, ...]

    @cached_property
    def distribution(self) -> str:
        """What was installed, as an installer calls it; the name of the pack where nobody knows."""
        dist = self.entries[0].dist
        return self.name if dist is None else dist.name

    @property
    def is_shipped(self) -> bool:
        """Whether it comes with prodex."""
        return self.distribution == _PRODEX

    @property
    def folder(self) -> Path | None:
        """Where its files are; None of a single module, and where it cannot be found."""
        # A module that is not within another is found without importing it.
        found = find_spec(self.name)
        places = None if found is None else found.submodule_search_locations
        return Path(next(iter(places))) if places else None

    def profiles(self) -> dict[str, bytes]:
        """Return the content of each of its profiles, by name."""
        files = [] if self.folder is None else sorted((self.folder / "profiles").glob("*.toml"))
        return {file.stem: file.read_bytes() for file in files if file.is_file()}

    def catalogue(self, language: str) -> bytes | None:
        """Return its messages in a language, compiled; None where it has none."""
        if self.folder is None:
            return None
        file = self.folder / "languages" / language / "LC_MESSAGES" / f"{self.name}.mo"
        return file.read_bytes() if file.is_file() else None


@cache
def installed_packs() -> Mapping[str, RulePack]:
    """Return the packs that are installed, by name.

    Examples
    --------
    >>> installed_packs()["prodex_food"].is_shipped
    True
    """
    found: dict[str, dict[str, EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        # An editable installation beside an older one is listed twice: the first is the one that is imported.
        found.setdefault(entry.module.partition(".")[0], {}).setdefault(entry.value, entry)
    return {name: RulePack(name, tuple(entries.values())) for name, entries in sorted(found.items())}
