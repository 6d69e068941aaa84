"""A disk that may lose its power: what is there after a crash is what was synced, and of the rest any legal part.

The rules, those of POSIX and of common file systems: content is safe when its file was synced, and a name when its
folder was. Of what was not, a crash leaves any prefix of the changes of a folder, each folder for itself, and of a
file a prefix, zeros, or all of it. A kill of the process alone leaves everything as it is in that moment.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

#: What a tree holds: folders by name, files by inode and content, so that links stay links.
Tree = dict[str, "Tree | tuple[int, bytes]"]

#: The calls that change names; os.fsync makes things safe.
_CHANGES = ("rename", "replace", "link", "unlink", "remove", "rmdir", "mkdir")

#: No process can have this number: what is left half-written is of a process that is gone.
_GONE = 4_999_999


class PowerCut(BaseException):
    """The process ends here; nothing that it does to clean up afterwards counts."""


class Disk:
    """A folder on a file system that never gives an inode's number twice (tmpfs), with what of it is safe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = threading.RLock()
        self._left: int | None = None
        self._ended = False
        self._image: Callable[[], Tree] = dict
        self._left_behind: Tree | None = None
        self._forget()

    @contextmanager
    def traced(self) -> Iterator[None]:
        """Watch every change of a name and every sync below the root."""
        calls = {name: self._watched(getattr(os, name)) for name in _CHANGES}
        with patch.multiple(os, **calls, fsync=self._sync):
            yield

    def crash_during(self, work: Callable[[], Any], moment: int, chance: Random, *, power: bool) -> bool:
        """Do some work, end it before that many changes or right after it, and leave what a crash leaves.

        Returns whether the work had ended: then all that it reported has to be there.
        """
        self._left, self._ended = moment, False
        self._image = lambda: self._tree(self.root.stat().st_ino, self._paths(), chance if power else None)
        try:
            work()
            done = not self._ended
        except PowerCut:
            done = False
        with self._lock:
            left = self._left_behind if self._ended else self._image()
            self._left, self._ended, self._left_behind = None, True, None
            for path in self.root.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            _write(left or {}, self.root, {})
            self._forget()
            self._ended = False
        return done

    def _forget(self) -> None:
        """Take everything that is there for safe."""
        self._names: dict[int, list[dict[str, int]]] = {}
        self._folders: set[int] = set()
        self._safe: dict[int, bytes] = {}
        for inode, path in self._paths().items():
            if path.is_dir():
                self._names[inode] = [self._listed(path)]
            else:
                self._safe[inode] = path.read_bytes()

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any, **options: Any) -> Any:
            paths = [
                self._below(one, options.get("dir_fd"))
                for one in arguments[:2]
                if isinstance(one, str | Path)
            ]
            folders = [path.parent for path in paths if path is not None]
            if not folders:
                return call(*arguments, **options)
            with self._lock:
                self._count()
                for folder in folders:
                    self._note(folder)
                result = call(*arguments, **options)
                for folder in folders:
                    self._note(folder)
                return result

        return changed

    def _sync(self, handle: int) -> None:
        path = self._below(Path(f"/proc/self/fd/{handle}").readlink(), None)
        if path is None or not path.exists():
            return
        with self._lock:
            self._count()
            if self._ended:
                return
            if path.is_dir():
                self._names[path.stat().st_ino] = [self._listed(path)]
            else:
                self._safe[path.stat().st_ino] = path.read_bytes()

    def _below(self, path: str | Path, folder: int | None) -> Path | None:
        whole = Path(f"/proc/self/fd/{folder}").readlink() / path if folder is not None else Path(path)
        return whole if whole.is_relative_to(self.root) else None

    def _count(self) -> None:
        if self._left is None or self._ended:
            return
        if not self._left:
            self._left_behind, self._ended = self._image(), True
            raise PowerCut
        self._left -= 1

    def _note(self, folder: Path) -> None:
        """Enter the names of a folder, where they changed, also by calls that nobody watches."""
        if self._ended or not folder.is_dir():
            return
        known = self._names.setdefault(folder.stat().st_ino, [{}])
        if (now := self._listed(folder)) != known[-1]:
            known.append(now)

    def _listed(self, folder: Path) -> dict[str, int]:
        with os.scandir(folder) as found:
            entries = list(found)
        self._folders.update(entry.inode() for entry in entries if entry.is_dir())
        return {entry.name: entry.inode() for entry in entries}

    def _paths(self) -> dict[int, Path]:
        return {path.lstat().st_ino: path for path in (self.root, *self.root.rglob("*"))}

    def _tree(self, folder: int, paths: dict[int, Path], chance: Random | None) -> Tree:
        known = list(self._names.get(folder, [{}]))
        if folder in paths:
            now = self._listed(paths[folder])
            known = [*known, now] if chance is not None else [now]
        names = known[-1] if chance is None else chance.choice(known)
        return {
            name.replace(f".{os.getpid()}.part", f".{_GONE}.part"): self._tree(inode, paths, chance)
            if inode in self._folders
            else (inode, self._content(inode, paths, chance))
            for name, inode in sorted(names.items())
        }

    def _content(self, inode: int, paths: dict[int, Path], chance: Random | None) -> bytes:
        safe = self._safe.get(inode, b"")
        now = paths[inode].read_bytes() if inode in paths else safe
        if chance is None or now == safe:
            return now
        if not now.startswith(safe):
            return chance.choice([safe, now])
        more = now[len(safe) :]
        part = chance.randrange(len(more) + 1)
        return safe + chance.choice([b"", more[:part], bytes(len(more)), more])


def _write(tree: Tree, folder: Path, written: dict[int, Path]) -> None:
    for name, what in tree.items():
        path = folder / name
        if isinstance(what, dict):
            path.mkdir(exist_ok=True)
            _write(what, path, written)
        elif what[0] in written:
            os.link(written[what[0]], path)
        else:
            path.write_bytes(what[1])
            written[what[0]] = path
