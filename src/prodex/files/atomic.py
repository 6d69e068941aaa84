"""Files and folders that are there as a whole or not at all: written beside, flushed, renamed; safe names for them.

All times are in seconds.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import IO, NoReturn

import platformdirs

from prodex.advice import PythonCall, advice
from prodex.arguments import described
from prodex.errors import InputError, SettingsError, StorageError
from prodex.files.untrusted import is_folder
from prodex.untrusted_text import on_one_line

try:
    import pwd
except ImportError:  # Windows has no such list of users
    pwd = None  # type: ignore[assignment]

#: Windows keeps these names for devices, with any ending.
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=\.|$)", re.IGNORECASE)
#: What addresses begin with: `Path("s3://bucket/shop")` takes it for the name of a folder.
_ADDRESSES = frozenset(
    f"{scheme}:"
    for scheme in (
        *("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "adl", "wasb", "wasbs", "dbfs", "hdfs"),
        *("http", "https", "ftp", "ftps", "sftp", "file"),
    )
)
_UNSAFE = re.compile(r"[^\w.\-]+")
#: A name that `beside_of` has made.
_BESIDE = re.compile(r"\.(.+)\.[0-9]+\.part", re.DOTALL)

#: Bytes of a name: Linux takes 255, and what is written beside a file has some more in its name.
_LONGEST_NAME = 240

#: Seconds between attempts to rename what another program has open, which only Windows refuses.
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)

#: Read, write and enter for the owner, nothing for others.
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600


def home() -> Path:
    """Return the folder that holds everything prodex stores: `PRODEX_HOME`, else the platform's data folder."""
    given = os.environ.get("PRODEX_HOME")
    try:
        folder = path_here(given) if given else Path(platformdirs.user_data_dir("prodex", appauthor=False))
    except InputError as error:
        raise SettingsError(f"PRODEX_HOME cannot be used: {error}") from error
    return folder.absolute()


def path_here(given: str | Path) -> Path:
    """Return a path on this machine; where it begins with `~`, below the home folder of that user.

    Raises
    ------
    InputError
        When it is an address, or this machine has no such user.

    Examples
    --------
    >>> path_here("out/list.csv").name
    'list.csv'
    >>> path_here("s3://bucket/shop")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: 's3://bucket/shop' is an address, and files are written to folders of this machine. Give \
a folder; prodex.publish takes addresses, as text with two slashes.
    """
    path = Path(given)
    if _is_address(path):
        raise InputError(_no_folder(given))
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise InputError(
            f"{str(given)!r:.200} begins with the home folder of a user whom this machine does not have. Give another "
            "path."
        ) from error


def _is_address(path: Path) -> bool:
    """Whether a path was an address, of which one slash is left; the rest would be folders that nobody looks for."""
    return not _ADDRESSES.isdisjoint(part.lower() for part in path.parts)


def _no_folder(given: str | Path) -> str:
    return advice(
        "{given} is an address, and files are written to folders of this machine. Give a folder; {publish} takes "
        "addresses, as text with two slashes.",
        given=f"{str(given)!r:.200}",
        publish=PythonCall("prodex.publish"),
    )


def safe_name(text: str) -> str:
    """Return a file name that any system accepts and nobody can mistake for a path.

    >>> safe_name("Müller & Söhne / Käse"), safe_name("../../etc"), safe_name("con.txt")
    ('Müller_Söhne_Käse', 'etc', 'con_.txt')
    """
    name = _UNSAFE.sub("_", unicodedata.normalize("NFC", text)).strip("._-")[:100]
    name = name.encode("utf-8", "ignore")[:_LONGEST_NAME].decode("utf-8", "ignore").rstrip("._-")
    return _RESERVED.sub(r"\1_", name, count=1) if _RESERVED.match(name) else name or "_"


def on_disk(name: str) -> str:
    """Return what a name is to a disk that ignores the case and the form of letters, as macOS and Windows have them.

    >>> on_disk("Käse") == on_disk("KA\u0308SE")
    True
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def checked_name(name: str) -> str:
    """Return a name for a snapshot, its letters in their usual form (NFC), or say why it cannot be one."""
    if not isinstance(name, str):
        raise SettingsError(f"The name of a snapshot is {described(name)}. Write it as text, such as 'shop'.")
    name = unicodedata.normalize("NFC", name)  # the Finder of macOS gives others
    if not name or name != safe_name(name) or "@" in name:
        raise SettingsError(
            f"{name!r} cannot be the name of a snapshot, since it becomes a folder. Use letters, digits, '-', '_' "
            f"and '.', for example {safe_name(name.replace('@', '-'))!r}."
        )
    return name


def make_folder(folder: Path, *, private: bool = False, flushed: bool = True) -> None:
    """Make a folder and those above it, flushed so that they survive a power cut.

    Parameters
    ----------
    folder
        Which; it may be there already.
    private
        Only its owner may enter it, whatever the umask, as for everything that prodex stores for itself. Folders on
        the way to it that belong to prodex, below `home()`, are made private as well, even if they exist already.
    flushed
        False where all of it is flushed later, by `make_ready`.
    """
    levels = (folder, *folder.parents)
    # Thousands of folders are made in places that exist: what lies above the first that does is not looked at.
    missing = list(takewhile(lambda level: not level.is_dir(), levels))
    if private:
        for level in reversed(_folders_of_prodex(levels)[len(missing) :]):
            _close(level, _PRIVATE_FOLDER)
    for level in reversed(missing):
        level.mkdir(mode=_PRIVATE_FOLDER if private else 0o777, exist_ok=True)
        # The name of a new folder is part of its parent: without this a power cut may lose it.
        if flushed:
            flush(level.parent)
        if private:
            _close(level, _PRIVATE_FOLDER)


def _check_text(path: Path) -> None:
    """Refuse a path that no system can have, with the error of those that say so."""
    for name in path.parts:
        try:
            is_text = b"\0" not in os.fsencode(name)
        except UnicodeEncodeError:  # half of a surrogate pair
            is_text = False
        if not is_text:
            raise OSError(errno.EILSEQ, "no file can have this name", name)


def open_private(path: Path, mode: str) -> IO[bytes]:
    """Open a file for writing bytes that only its owner may read, whatever the umask."""
    # The mode is given to `open` itself: between creating a file and changing its mode others could open it.
    file = open(path, mode, opener=lambda name, flags: os.open(name, flags, _PRIVATE_FILE))  # noqa: SIM115
    _close(path, _PRIVATE_FILE)
    return file


def _folders_of_prodex(levels: Sequence[Path]) -> Sequence[Path]:
    """Return those of a folder and its parents that prodex made for itself; `PRODEX_HOME` may be somebody's desktop."""
    root = home()
    if root not in levels:
        return ()
    return levels[: levels.index(root) + (not os.environ.get("PRODEX_HOME"))]


def _close(path: Path, mode: int) -> None:
    """Restrict access to the owner; links, and what others own, are left alone."""
    if os.name == "nt":  # Windows inherits permissions from the folder above
        return
    with suppress(OSError):
        found = path.lstat().st_mode
        if not stat.S_ISLNK(found) and stat.S_IMODE(found) != mode:
            path.chmod(mode)


@contextmanager
def writing(path: Path, *, private: bool = False) -> Iterator[Path]:
    """Give a temporary path to write to, and rename it to `path` at the end.

    An existing file stays until the new one is complete, and a half-written one is removed.

    Parameters
    ----------
    path
        Of the file.
    private
        Only its owner may read it; see `make_folder`.

    Raises
    ------
    StorageError
        When the disk refuses: full, read-only, not permitted; and where a device or a pipe is at the path.
    """
    if not path.name:
        raise StorageError(f"Could not write {path}: it is a folder. Give the path of a file.")
    beside = beside_of(path)
    try:
        with storage(path):
            refuse_device(path)
            make_folder(path.parent, private=private)
            remove(beside)  # if it were a link, writing would change the file that it leads to
            yield beside
            if private:
                _close(beside, _PRIVATE_FILE)
            # In this order: a rename that reaches the disk before the content leaves an empty file after a power cut.
            flush(beside)
            retry_rename(beside.replace, path)
            flush(path.parent)
    finally:
        remove(beside)


def refuse_device(path: Path) -> None:
    """Refuse to put a file in the place of a device, a pipe or a socket: to root, the rename would be allowed.

    Raises
    ------
    StorageError
        When one is there.
    """
    try:
        found = path.lstat().st_mode
    except OSError:  # it is not there, or the disk says so again when it is written
        return
    if not (stat.S_ISREG(found) or stat.S_ISLNK(found) or stat.S_ISDIR(found)):
        raise StorageError(
            f"Could not write {on_one_line(path)}: it is a device, a pipe or a socket, which a file would replace. "
            "Give the path of a file."
        )


@contextmanager
def writing_folder(folder: Path) -> Iterator[Path]:
    """Do the same for a whole private folder, which must not exist yet: one rename publishes everything in it."""
    with folder_beside(folder) as beside:
        yield beside
        publish_folder(beside, folder)


@contextmanager
def folder_beside(folder: Path) -> Iterator[Path]:
    """Give a private folder beside one that is to be made; whoever asked publishes it, or it is removed."""
    beside = beside_of(folder)
    remove(beside)
    try:
        with storage(folder):
            make_folder(beside, private=True)
            yield beside
    finally:
        remove(beside)


def publish_folder(beside: Path, folder: Path, *, added: Collection[Path] | None = None) -> None:
    """Give a complete private folder its final name, after everything in it was flushed to the disk.

    Where only some files were `added` directly to it since `make_ready`, the others are not flushed again.
    """
    with storage(folder):
        make_ready(beside, added)
        make_folder(folder.parent, private=True)
        retry_rename(beside.rename, folder)
        flush(folder.parent)
        flush(beside.parent)


def make_ready(folder: Path, added: Collection[Path] | None = None) -> None:
    """Restrict a folder to its owner and flush it to the disk, with everything in it or with these files of it."""
    folders, files = _contents(folder) if added is None else ([folder], added)
    for path in folders:
        _close(path, _PRIVATE_FOLDER)
    for path in files:
        _close(path, _PRIVATE_FILE)
    _flush_all(folders, files)


#: Files that are flushed at the same time.
_FLUSHING = 8


def flush_all(folder: Path) -> None:
    """Flush a folder with everything in it to the disk."""
    _flush_all(*_contents(folder))


def _contents(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return all folders, that itself and those in it, and all files in them."""
    folders, files = [], []
    for place, _, names in os.walk(folder, onerror=_raise):
        folders.append(Path(place))
        files += [Path(place, name) for name in names]
    return folders, files


def _raise(error: OSError) -> NoReturn:
    raise error


def _flush_all(folders: Collection[Path], files: Collection[Path]) -> None:
    # Contents first, then the names in each folder.
    # A disk writes what several threads wait for together: sixty files one by one take it six times as long.
    with ThreadPoolExecutor(_FLUSHING) as threads:
        for some in (files, folders):
            for _ in threads.map(flush, some):
                pass


def beside_of(path: Path) -> Path:
    """Return where this process writes what is to become `path`; `left_over` finds it when the process is gone."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def becoming(path: Path) -> str:
    """Return the name of what a file becomes, for people who know no other.

    >>> becoming(Path(".shop.xlsx.4711.part")), becoming(Path("shop.xlsx"))
    ('shop.xlsx', 'shop.xlsx')
    """
    made = _BESIDE.fullmatch(path.name)
    return path.name if made is None else made[1]


def retry_rename(rename: Callable[[Path], object], to: Path) -> None:
    """Rename something; on Windows again for a second, where nothing is renamed that a program has open.

    Scanners for viruses and indexes for searching open each new file for a moment.
    """
    for seconds in _PAUSES if os.name == "nt" else ():
        try:
            rename(to)
        except PermissionError:
            time.sleep(seconds)
        else:
            return
    rename(to)


def left_over(folder: Path) -> list[Path]:
    """Return what killed processes left half-written in a folder; nothing of one that may not be looked at."""
    try:
        there = sorted(folder.glob(".*.part"))
    except PermissionError:
        return []
    return [
        left
        for left in there
        if (process := left.name.split(".")[-2]).isdecimal() and not is_alive(int(process))
    ]


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left half-written in a folder."""
    for left in left_over(folder):
        remove(left)


def remove(path: Path) -> None:
    """Delete a file or a whole folder, as far as the system lets us; of a link, only the link."""
    if is_folder(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError, ValueError):  # a name that no file can have is none of a file that is there
            path.unlink()


def discard(folder: Path) -> None:
    """Delete a folder so that nobody ever sees half of it: it is renamed first, then its content is deleted.

    If that is interrupted, `remove_leftovers` removes the rest. On a disk so full that even a rename fails, the files
    directly in the folder are deleted first: without its manifest nobody takes it for a snapshot.
    """
    gone = beside_of(folder)
    remove(gone)
    with storage(folder):
        try:
            retry_rename(folder.rename, gone)
            flush(folder.parent)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            gone = folder
            for path in folder.iterdir():
                if path.is_file():
                    path.unlink()
            flush(folder)
    remove(gone)


def is_alive(process: int) -> bool:
    """Whether a process runs, whoever's it is; on Windows nobody can say, and it is taken to.

    What else is known of it (a lock, a reply) has to decide then.
    """
    if os.name == "nt":  # where signal 0 would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def storage(path: Path) -> Iterator[None]:
    """Turn an error of the disk into a `StorageError` that names the path and what to do."""
    if _is_address(path):
        raise StorageError(_no_folder(path))
    try:
        _check_text(path)
        yield
    except StorageError:
        raise
    except OSError as error:
        # Any other error is a mistake of ours or of the caller, and must not be taken for a full disk.
        if error.errno not in _REFUSALS:
            raise
        raise StorageError(
            f"Could not write {on_one_line(path)}: {error.strerror}. {_advice(path, error)} "
            "Nothing half-written was left."
        ) from error


def _advice(path: Path, error: OSError) -> str:
    """Return what to do about an error of the disk, as sentences."""
    assert error.errno is not None  # noqa: S101 - it is one of those below
    advice = _REFUSALS[error.errno]
    named = Path(error.filename2 or error.filename or path)
    if error.errno in {errno.EINVAL, errno.EILSEQ}:
        return f"Of the name {named.name!r}, this system does not allow every character. {advice}"
    if not isinstance(error, PermissionError):
        return advice
    if os.name == "nt":  # which says the same of a file that is open and of one that is somebody else's
        return f"A program such as Excel may have {named} open: close it there, and try again. {advice}"
    return f"{_owned(path)} {advice}"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the refusal to let us read a path into a `StorageError` that names the owner and what to do.

    What cannot be looked at is not the same as what is not there: somebody else may have run prodex. A path that no
    file can have is refused as well.
    """
    try:
        _check_text(path)
        yield
    except StorageError:
        raise
    except PermissionError as error:
        raise StorageError(
            f"{path} cannot be read: {_lower(error.strerror)}. {_owned(path)} Or choose a folder of your own "
            "(PRODEX_HOME for snapshots)."
        ) from error
    except OSError as error:
        if error.errno not in _NO_PATH:
            raise
        raise StorageError(
            f"{on_one_line(path):.200} cannot be read: {_lower(error.strerror)}. Give another path."
        ) from error


def look_at(path: Path) -> None:
    """Refuse a path that may not be looked at; one that is not there is no matter.

    Raises
    ------
    StorageError
        As for `reading`.
    """
    with reading(path), suppress(FileNotFoundError, NotADirectoryError):
        path.lstat()


def _lower(text: str | None) -> str:
    return (text or "permission denied").lower()


def _owned(path: Path) -> str:
    """Return whose folder it is that a path cannot be reached through, and who can change that, as sentences."""
    found = next((level for level in (path, *path.parents) if _state(level) is not None), path)
    state = _state(found)
    if pwd is None or state is None:
        return f"{found} belongs to somebody else. Ask for access to it."
    owner, user = (_user_name(number) for number in (state.st_uid, os.geteuid()))
    if state.st_uid == os.geteuid():
        return f"{found} is yours, and its permissions do not let you: chmod -R u+rwX {found} does."
    return f"{found} belongs to {owner}, and you are {user}. Ask {owner} for it (chown -R {user} {found})."


def _state(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except OSError:
        return None


def _user_name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name if pwd is not None else str(user)
    except KeyError:  # in a container, or of a network disk
        return f"user {user}"


#: Errors of a path that leads nowhere on any disk: too long, in circles, or no text.
_NO_PATH = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EILSEQ})

_REFUSALS = {
    errno.ENOSPC: "Free some space, or choose a folder on a larger disk (PRODEX_HOME for snapshots).",
    errno.EDQUOT: "Your quota is used up; choose a folder elsewhere (PRODEX_HOME for snapshots).",
    errno.EROFS: "The disk is read-only; choose a folder that can be written (PRODEX_HOME for snapshots).",
    errno.EACCES: "Choose a folder that you may write to (PRODEX_HOME for snapshots).",
    errno.EPERM: "Choose a folder that you may write to (PRODEX_HOME for snapshots).",
    errno.ENOTDIR: "There is a file where a folder should be; choose another folder (PRODEX_HOME for snapshots).",
    errno.EEXIST: "There is a file where a folder should be; choose another folder (PRODEX_HOME for snapshots).",
    errno.ENOENT: "The folder cannot be made; choose another one (PRODEX_HOME for snapshots).",
    errno.EISDIR: "There is a folder where a file should be; choose another name.",
    errno.ELOOP: "Its links lead in circles; choose another path.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    # What Windows answers for a ':', and any disk that was made for it; macOS and Python for what is no text.
    errno.EINVAL: "Choose another name.",
    errno.EILSEQ: "Choose another name.",
    # Of disks of a network.
    errno.ENOLCK: "The disk has no locks; choose a folder on another one (PRODEX_HOME for snapshots).",
    errno.EOPNOTSUPP: "The disk cannot do that; choose a folder on another one (PRODEX_HOME for snapshots).",
    errno.ENOTSUP: "The disk cannot do that; choose a folder on another one (PRODEX_HOME for snapshots).",
    errno.EFBIG: "The disk does not hold files of this size; choose a folder elsewhere (PRODEX_HOME for snapshots).",
}

#: What systems answer that cannot flush the names in a folder.
_NO_FLUSH = frozenset({errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})


def sha256(path: Path) -> str:
    """Return the digest of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush(path: Path) -> None:
    """Write the content of a file, or the names in a folder, through to the disk (fsync)."""
    is_windows, is_a_folder = os.name == "nt", path.is_dir()
    if is_windows and is_a_folder:  # it cannot open folders, and writes their names at once
        return
    # Windows flushes only what is open for writing.
    flags = os.O_RDWR | getattr(os, "O_BINARY", 0) if is_windows else os.O_RDONLY
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    except OSError as error:
        # Of the names in a folder, disks of a network and of a virtual machine may say that they cannot.
        if not is_a_folder or error.errno not in _NO_FLUSH:
            raise
    finally:
        os.close(handle)


def relative_to_working_folder(path: Path) -> Path:
    """Return a path relative to the working directory, if it lies below it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
