"""A simulation of what Windows and macOS do otherwise with files, for tests that run on Linux.

It is no Windows: it refuses what the documentation of Windows and of Python says that Windows refuses, and notes names
of files that cannot be there, or that a disk there would mix up. What has not run there is not claimed.
"""

# ruff: noqa: PTH100, PTH112, PTH115, PTH208 - it stands in the place of `os`, which `pathlib` calls

from __future__ import annotations

import builtins
import errno
import fcntl
import importlib
import io
import os
import re
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import prodex

_PACKAGES = ("prodex", "prodex_sandbox")
#: What only other systems have.
MISSING = frozenset(
    "chown fchmod fchown fork geteuid getuid killpg mkfifo setsid O_CLOEXEC O_NOFOLLOW O_NONBLOCK".split()  # noqa: SIM905
)

#: A flag that Linux does not have, in the place of O_BINARY.
BINARY = 1 << 30

real_open = builtins.open

_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]')
_DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
#: The longest path of a Windows that nobody has set up otherwise.
LONGEST = 259


def fault(name: str) -> str | None:
    """Return why Windows would refuse a name of a file or change it; None if it would not.

    >>> fault("CON.txt"), fault("a:b"), fault("a."), fault("console.txt")
    ('a device', "has ':'", 'ends with a dot or a space', None)
    """
    if _DEVICE.fullmatch(name.partition(".")[0].rstrip(" ")):
        return "a device"
    if found := _FORBIDDEN.search(name):
        return f"has {found[0]!r}"
    return "ends with a dot or a space" if name[-1:] in {".", " "} and name not in {".", ".."} else None


def folded(name: str) -> str:
    """Return what a name is to a disk that knows neither case nor forms of a letter, as those of macOS."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def faults(folder: Path) -> list[str]:
    """Return what is wrong with the names in a folder, at any depth."""
    found = [f"{path}: {why}" for path in folder.rglob("*") if (why := fault(path.name))]
    for parent in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
        names: dict[str, str] = {}
        for path in parent.iterdir():
            if (other := names.setdefault(folded(path.name), path.name)) != path.name:
                found.append(f"{parent}: {other} and {path.name} are one file")
    return found


def open_here(path: Any) -> list[str]:
    """Return what this process has open of a path or below it, mapped files included."""
    wanted = os.path.abspath(os.fspath(path))
    held = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            held.append(os.readlink(f"/proc/self/fd/{number}"))
    with real_open("/proc/self/maps", "rb") as maps:
        if (mapped := maps.read()) and os.fsencode(wanted) in mapped:
            lines = (line.split(None, 5) for line in mapped.splitlines() if os.fsencode(wanted) in line)
            held += [os.fsdecode(parts[5]) for parts in lines]
    return [one for one in held if one == wanted or one.startswith(f"{wanted}/")]


class Windows:
    """What was done on the simulated system that would be wrong there."""

    def __init__(self, patch: pytest.MonkeyPatch, root: Path) -> None:
        self.root = str(root)
        #: Names that would be refused, changed or mixed up.
        self.names: list[str] = []
        #: Files that were to be replaced, renamed or deleted while they were open: a fault of the program's own.
        self.in_use: list[str] = []
        #: Texts that were opened in the encoding of the machine.
        self.unnamed_encodings: list[str] = []
        #: Files that were opened without O_BINARY: their line ends become two characters.
        self.text_modes: list[str] = []
        #: Files that another program has open.
        self.elsewhere: set[str] = set()
        self._patch = patch
        self._install()

    @property
    def faults(self) -> list[str]:
        """Everything that would be wrong there."""
        return [
            *self.names,
            *self.in_use,
            *self.unnamed_encodings,
            *self.text_modes,
            *faults(Path(self.root)),
        ]

    def hold(self, path: Path) -> None:
        """Have another program, such as Excel, keep a file open."""
        self.elsewhere.add(str(path))

    def let_go(self) -> None:
        """Have the other program close its files."""
        self.elsewhere.clear()

    def _concerns(self, path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and os.path.abspath(os.fspath(path)).startswith(
            f"{self.root}/"
        )

    def _look_at(self, path: Any) -> None:
        """Note what is wrong with a name that is to be made."""
        if not self._concerns(path):
            return
        whole = os.path.abspath(os.fspath(path))
        parent, name = os.path.split(whole)
        if why := fault(name):
            self.names.append(f"{whole}: {why}")
            error, said = (
                (errno.ENOENT, "No such file or directory") if why == "a device" else (errno.EINVAL, "")
            )
            raise OSError(error, said or "Invalid argument", whole)
        if len(whole) - len(self.root) > LONGEST - 60:  # a home such as C:\Users\somebody\Documents\prodex
            self.names.append(f"{whole}: {len(whole) - len(self.root)} characters")
        if os.path.isdir(parent) and not os.path.lexists(whole):
            twins = [one for one in os.listdir(parent) if one != name and folded(one) == folded(name)]
            self.names += [f"{whole}: {one} is the same" for one in twins]

    def _refuse_in_use(self, *paths: Any) -> None:
        for path in paths:
            if not self._concerns(path):
                continue
            own = open_here(path)
            # A lock is deleted while it is held, where that is possible.
            self.in_use += [one for one in own if not one.endswith(".lock")]
            whole = os.path.abspath(os.fspath(path))
            if own or any(one == whole or one.startswith(f"{whole}/") for one in self.elsewhere):
                raise PermissionError(errno.EACCES, "The process cannot access the file", whole)

    def _install(self) -> None:
        real = SimpleNamespace(
            **{
                name: getattr(os, name)
                for name in [
                    "open",
                    "fsync",
                    "rename",
                    "replace",
                    "unlink",
                    "remove",
                    "rmdir",
                    "mkdir",
                    "link",
                    "kill",
                ]
            }
        )

        def opened(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
            if isinstance(path, str | os.PathLike) and os.path.isdir(path) and self._concerns(path):
                raise PermissionError(errno.EACCES, "Permission denied", os.fspath(path))
            if flags & os.O_CREAT:
                self._look_at(path)
            # Other packages, such as `tempfile`, do not see the flag here.
            is_ours = "prodex" in Path(sys._getframe(1).f_code.co_filename).parts
            if is_ours and not flags & BINARY and self._concerns(path):
                self.text_modes.append(os.fspath(path))
            return real.open(path, flags & ~BINARY, mode, dir_fd=dir_fd)

        def synced(number: Any) -> None:
            handle = number if isinstance(number, int) else number.fileno()
            if fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                raise OSError(errno.EBADF, "Bad file descriptor")
            real.fsync(handle)

        def renamed(source: Any, target: Any, **more: Any) -> None:
            self._look_at(target)
            if self._concerns(target) and os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, "File exists", os.fspath(source), None, os.fspath(target))
            self._refuse_in_use(source)
            real.rename(source, target, **more)

        def replaced(source: Any, target: Any, **more: Any) -> None:
            self._look_at(target)
            if self._concerns(target) and os.path.isdir(target):
                raise PermissionError(errno.EACCES, "Access is denied", os.fspath(target))
            self._refuse_in_use(source, target)
            real.replace(source, target, **more)

        def unlinked(path: Any, **more: Any) -> None:
            self._refuse_in_use(path)
            real.unlink(path, **more)

        def folder_removed(path: Any, **more: Any) -> None:
            self._refuse_in_use(path)
            real.rmdir(path, **more)

        def folder_made(path: Any, mode: int = 0o777, **more: Any) -> None:
            self._look_at(path)
            real.mkdir(path, mode, **more)

        def linked(source: Any, target: Any, **more: Any) -> None:
            self._look_at(target)
            real.link(source, target, **more)

        def killed(process: int, number: int) -> None:
            raise AssertionError(f"os.kill({process}, {number}) would end the process")

        def file_opened(file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
            if self._concerns(file) and os.path.isdir(file):
                raise PermissionError(errno.EACCES, "Permission denied", os.fspath(file))
            if set(mode) & set("wax+"):
                self._look_at(file)
            if (opener := more.get("opener")) is not None:  # Python gives it O_BINARY
                more["opener"] = lambda name, flags: opener(name, flags | BINARY)
            if "b" not in mode and self._concerns(file):
                given = dict(zip(("buffering", "encoding", "errors", "newline"), rest, strict=False)) | more
                if given.get("encoding") in {None, "locale"}:
                    self.unnamed_encodings.append(os.fspath(file))
                    given["encoding"] = "cp1252"
                if given.get("newline") is None and set(mode) & set("wax"):
                    given["newline"] = "\r\n"
                return real_open(file, mode, **given)
            return real_open(file, mode, *rest, **more)

        changed = {
            "open": opened,
            "fsync": synced,
            "rename": renamed,
            "replace": replaced,
            "unlink": unlinked,
            "remove": unlinked,
            "rmdir": folder_removed,
            "mkdir": folder_made,
            "link": linked,
        }
        for name, function in changed.items():
            self._patch.setattr(os, name, function)
        self._patch.setattr(io, "open", file_opened)
        self._patch.setattr(builtins, "open", file_opened)
        self._patch.setattr(shutil, "_use_fd_functions", False)
        self._patch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
        for name in _using_os():
            importlib.import_module(name)
        # `os.name` itself decides what `Path` is, so that only prodex sees the other system.
        seen = _OtherSystem(kill=killed)
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in _PACKAGES and getattr(module, "os", None) is os:
                self._patch.setattr(module, "os", seen)
            if name.partition(".")[0] in _PACKAGES and hasattr(module, "pwd"):
                self._patch.setattr(module, "pwd", None)


def _using_os() -> list[str]:
    """Return the modules of prodex that use `os`: they are imported before it is replaced."""
    root = Path(prodex.__file__).parents[1]
    return [
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for package in _PACKAGES
        for path in (root / package).rglob("*.py")
        if "\nimport os\n" in path.read_text("utf-8")
    ]


class _OtherSystem:
    """The module `os` as prodex finds it on Windows."""

    name = "nt"
    linesep = "\r\n"
    O_BINARY = BINARY

    def __init__(self, **own: Any) -> None:
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        if name in MISSING:
            raise AttributeError(f"module 'os' has no attribute {name!r} on Windows")
        return getattr(os, name)


@contextmanager
def on_windows(root: Path) -> Iterator[Windows]:
    """Have everything below a folder be on a disk of Windows."""
    with pytest.MonkeyPatch.context() as patch:
        yield Windows(patch, root)
