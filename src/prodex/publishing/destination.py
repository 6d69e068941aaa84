"""The place of publications: a folder, or an address in an object store; its files are listed, written and fetched.

Credentials are among the options of an object store. They are in no repr, and every message of the store is cleaned of
them before it is shown.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Protocol
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

import pyarrow.fs as arrow_files

from prodex.arguments import described
from prodex.errors import InputError, ProdexError, SettingsError, StorageError
from prodex.files import parquet
from prodex.files.atomic import flush, left_over, path_here, remove, storage, writing
from prodex.files.parquet import FileFacts
from prodex.files.untrusted import read_bytes
from prodex.installation import missing_extra

#: Requests to an object store at a time.
WORKERS = 8

#: Real paths of Delta tables -> folders with a link to their log; see `Place.table`.
_LINKED: dict[str, str] = {}
_LINKING = threading.Lock()

#: Two threads that publish the same file would write it under the same temporary name; a file always has the same lock.
_LOCKS = tuple(threading.Lock() for _ in range(64))

#: Seconds after which nobody writes to a file any more that was left half-written.
_ABANDONED = 86_400

#: Bytes copied at a time.
_STEP = 2**22

#: Of an object store that does not answer, people want to know within seconds; other options that are given decide.
_PATIENCE = {"max_retries": "3", "retry_timeout": "30s"}

#: Names of options and of environment variables that hold no secret, though the names of secrets contain such words.
_HARMLESS = re.compile(
    r"region|endpoint|allow|url|retries|timeout|style|skip|conditional|bucket|container_name", re.I
)

#: Environment variables from which object stores take credentials.
_OF_STORES = re.compile(
    r"(AWS|AZURE|GOOGLE|GCP|GCS)_.*(KEY|SECRET|TOKEN|PASSWORD|SAS|CREDENTIAL|ACCOUNT)", re.I
)

_TERMINAL = re.compile("\x1b\\[[0-9;]*m|\u21b3")
_REFUSED = re.compile(
    r"\b40[13]\b|necessary privileges|[Pp]ermission ?denied|Unauthori[sz]ed|Unauthenticated"
)
_FULL = re.compile(r"No space left|os error 28\b|quota", re.I)
_MARKUP = re.compile(r"<[?!A-Za-z].*", re.DOTALL)
_QUERY = re.compile(r"(?<=\w)\?[^\s'\"]*")  # of an address: Azure has its signatures there
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")


#: The folder of the log of a Delta table.
LOG = "_delta_log"

#: True of whatever is refused before the row of a publication is committed.
UNCHANGED = "What was published is unchanged."


class Output(Protocol):
    """What bytes are written to."""

    def write(self, data: bytes, /) -> int:
        """Write bytes."""


@dataclass(frozen=True)
class Place:
    """A folder or an address of an object store.

    Attributes
    ----------
    address
        As it is shown, without a slash at its end.
    folder
        The folder on this machine; None for an object store.
    options
        What the object store needs to be reached, credentials included.
    """

    address: str
    folder: Path | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)

    def at(self, name: str) -> str:
        """Return the address of something inside, as it is shown."""
        return str(self.folder / name) if self.folder is not None else f"{self.address}/{name}"

    def table(self, name: str) -> str:
        """Return the address of a Delta table inside, as `deltalake` takes it.

        Raises
        ------
        StorageError
            When there is a percent sign in the path, and the system does not let us make links.
        """
        if self.folder is None:
            return self.at(name)
        # `deltalake` writes to the path that it is given, and reads from that path with `%20` and the like decoded:
        # from the folder "team shop" beside "team%20shop", if there is one. It resolves links on the way to a table,
        # and not in it; and of a folder it touches nothing but the log.
        real = os.path.realpath(self.folder / name)
        if unquote(real) == real:
            return self.at(name)
        with _LINKING:
            if real not in _LINKED:
                beside = Path(_links().name, str(len(_LINKED)))
                with storage(beside):
                    beside.mkdir()
                    (beside / LOG).symlink_to(Path(real, LOG), target_is_directory=True)
                _LINKED[real] = str(beside)
            return _LINKED[real]

    def make_log(self, name: str) -> None:
        """Make the folder of the log of a Delta table; object stores have no folders."""
        if self.folder is not None:
            with self.refusals("write"):
                (self.folder / name / LOG).mkdir(parents=True, exist_ok=True)

    @property
    def storage_options(self) -> dict[str, str]:
        """The options as `deltalake` takes them."""
        return dict(self.options) if self.folder is not None else {**_PATIENCE, **self.options}

    def sizes(self, folders: list[str]) -> dict[str, int]:
        """Return the files in some folders, at any depth: their paths inside the place, and their bytes."""
        with self.refusals("read"):
            with ThreadPoolExecutor(WORKERS) as pool:
                found = list(pool.map(self._sizes_in, folders))
            return {name: size for files in found for name, size in files.items()}

    def _sizes_in(self, name: str) -> dict[str, int]:
        if self.folder is not None:
            inside = self.folder / name
            if inside.exists() and not inside.is_dir():
                raise NotADirectoryError(
                    errno.ENOTDIR, "There is a file in the place of a folder", str(inside)
                )
            sizes = {}
            for path in inside.rglob("*"):
                # Another publisher may just have given a file its final name.
                with suppress(FileNotFoundError):
                    if stat.S_ISREG((state := path.stat()).st_mode):
                        sizes[path.relative_to(self.folder).as_posix()] = state.st_size
            return sizes
        chosen = arrow_files.FileSelector(name, allow_not_found=True, recursive=True)
        found = self._handler.get_file_info_selector(chosen.base_dir, True, True)
        return {info.path: info.size for info in found if info.type is arrow_files.FileType.File}

    def remove_left_over(self, folders: Iterable[str]) -> None:
        """Remove what killed processes left half-written in some folders; object stores keep nothing of the kind."""
        if self.folder is None:
            return
        for name in folders:
            for left in left_over(self.folder / name):
                # A process that is not known here may run on another machine that reaches the folder.
                with suppress(FileNotFoundError):
                    if time.time() - left.lstat().st_mtime > _ABANDONED:
                        remove(left)

    def upload(self, source: Path, name: str, facts: FileFacts) -> None:
        """Write the bytes of a file, provided that they are those of its digest; it is there as a whole or not at all.

        Raises
        ------
        SnapshotDamaged
            When the file is not as it was written.
        StorageError
            When the place refuses.
        """
        if self.folder is None:
            with self.refusals("write"):
                output = self._handler.open_output_stream(name, None)
                # What is not closed is never seen: a damaged file and an interruption leave nothing.
                _copy(source, output, facts)
                output.close()
            return
        whole = writing(self.folder / name)
        with self.refusals("write"), _alone(name), whole as beside, beside.open("wb") as output:
            _copy(source, output, facts)

    def write(self, name: str, content: bytes) -> None:
        """Write a small file; it is there as a whole or not at all, in the place of one that has its name.

        Raises
        ------
        StorageError
            When the place refuses.
        """
        with self.refusals("write"):
            if self.folder is None:
                output = self._handler.open_output_stream(name, None)
                output.write(content)
                output.close()
                return
            with _alone(name), writing(self.folder / name) as beside:
                beside.write_bytes(content)

    def remove(self, name: str) -> None:
        """Remove a file.

        Raises
        ------
        StorageError
            When the place refuses.
        """
        with self.refusals("write"):
            if self.folder is None:
                self._handler.delete_file(name)
            else:
                (self.folder / name).unlink(missing_ok=True)

    def flush(self, name: str) -> None:
        """Have a file and its name reach the disk, as whoever relies on it after a power cut has to.

        `deltalake` does not. An object store has what it has answered for.

        Raises
        ------
        StorageError
            When the place refuses.
        """
        if self.folder is None:
            return
        path = self.folder / name
        # A log that another program has tidied up needs no flush.
        with self.refusals("write"), suppress(FileNotFoundError):
            for level in (path, *path.parents):
                flush(level)
                if level == self.folder:
                    return

    def read(self, name: str) -> bytes:
        """Return the content of a small file.

        Raises
        ------
        OSError
            When it is not there, or is no plain file.
        StorageError
            When the place refuses.
        """
        if self.folder is not None:
            try:
                return read_bytes(self.folder / name)
            except OSError as error:
                # What may not be read, or not now, is not damaged: it must not be repaired.
                if error.errno in (None, errno.ENOENT):
                    raise
                raise self.refusal("read", error) from None
        output = BytesIO()
        self.fetch(name, output)
        return output.getvalue()

    def fetch(self, name: str, output: BinaryIO) -> str:
        """Copy a file of the object store, and return the digest of what was received."""
        digest = hashlib.sha256()
        with self.refusals("read"):
            file = self._handler.open_input_file(name)
            while piece := bytes(file.read(_STEP)):
                digest.update(piece)
                output.write(piece)
        return digest.hexdigest()

    @property
    def _handler(self) -> Any:
        # The file system of deltalake takes the same options as its tables. pyarrow's wrapper around it hands buffers
        # to what writes bytes only, so that the object inside is used.
        delta()
        from deltalake._internal import DeltaFileSystemHandler

        return DeltaFileSystemHandler(self.address, self.storage_options)

    @contextmanager
    def refusals(self, doing: str) -> Iterator[None]:
        """Report what the place refuses as a `StorageError` that has no credentials."""
        from deltalake.exceptions import DeltaError

        try:
            if self.folder is None:
                yield
            else:
                with storage(self.folder):
                    yield
        except ProdexError:
            raise
        except FileNotFoundError:
            raise
        except (DeltaError, OSError) as error:
            # Not `from error`: what the store answered may quote credentials, and a traceback would show it.
            raise self.refusal(doing, error) from None

    def refusal(self, doing: str, error: BaseException) -> StorageError:
        """Return the error for what a place refused, with what to do."""
        text = str(error)
        if _FULL.search(text):
            advice = "There is no space left. Free some, or choose another place"
        elif _REFUSED.search(text) or isinstance(error, PermissionError):
            advice = f"You may not {doing} there. Check credentials and rights, or choose another place"
        else:
            advice = "Check the address, storage_options and the network"
        return StorageError(f"Could not {doing} {self.address}: {self.cleaned(text)} {advice}. {UNCHANGED}")

    def cleaned(self, text: str) -> str:
        """Return a message of the store on one line, without credentials and without its XML."""
        code = _CODE.search(text)
        words = _MARKUP.sub(f"({code[1]})" if code else "", _TERMINAL.sub("", text))
        words = _QUERY.sub("", words)
        for secret in _secrets(self.options):
            words = words.replace(secret, "***")
        for real, beside in _LINKED.items():
            words = words.replace(beside, real)
        return re.sub(r"\s+", " ", words).strip()[:400].rstrip(".") + "."


def place_of(uri: object, storage_options: object = None) -> Place:
    """Return the place that a user named.

    Parameters
    ----------
    uri
        A folder, or an address such as "s3://bucket/shop", "gs://bucket/shop" or
        "abfss://container@account.dfs.core.windows.net/shop".
    storage_options
        What the object store needs, as `deltalake` takes it; also from the environment, such as AWS_ACCESS_KEY_ID.

    Raises
    ------
    InputError
        When it is no place, or the options are not texts by name.
    SettingsError
        When credentials are in the address, where logs and tables would show them.

    Examples
    --------
    >>> place_of("s3://team/shop/", {"aws_secret_access_key": "private"})
    Place(address='s3://team/shop', folder=None)
    """
    if not isinstance(uri, str | Path) or not str(uri):
        raise InputError(f"uri is {described(uri)}. Give a folder, or an address such as 's3://bucket/shop'.")
    options = {} if storage_options is None else storage_options
    if not isinstance(options, Mapping) or not all(
        isinstance(text, str) for pair in options.items() for text in pair
    ):
        # Not even the type of a value: it may be a credential.
        raise InputError("storage_options are texts by name: {'aws_region': 'eu-west-1'}.")
    text = str(uri)
    if isinstance(uri, Path) or "://" not in text:
        folder = path_here(uri).absolute()
        return Place(str(folder), folder)
    if may_hold_credentials(text):
        raise SettingsError(
            "The address of a publication has more than a place in it, which could be a credential. Give credentials "
            "as storage_options, or in the environment."
        )
    parts = urlsplit(text)
    if parts.scheme == "file":
        if parts.netloc not in {"", "localhost"} or parts.query or parts.fragment:
            raise InputError(
                f"{text!r:.200} is not the address of a folder on this machine: that has three slashes and a whole "
                "path, 'file:///home/eva/shop', with %23 for # and %3F for ?. Or give the folder without 'file:'."
            )
        return place_of(Path(url2pathname(parts.path)))  # with the letter of a drive, or blanks
    return Place(text.rstrip("/"), None, dict(options))


def may_hold_credentials(address: str) -> bool:
    """Whether an address has more than a place in it, which could be a credential.

    >>> may_hold_credentials("s3://key:secret@bucket/shop"), may_hold_credentials("az://container/shop?sig=secret")
    (True, True)
    >>> may_hold_credentials("s3://bucket/shop"), may_hold_credentials("abfss://shop@account.dfs.core.windows.net/x")
    (False, False)
    """
    try:
        parts = urlsplit(address)
        of_azure = parts.scheme in {"abfs", "abfss"}  # their containers are before an @
        is_of_user = parts.username is not None and not of_azure
        is_more = (
            parts.query or parts.fragment
        ) and parts.scheme != "file"  # where they are letters of a name
        return bool(is_more or parts.password or is_of_user)
    except ValueError:  # no place is written so, and what is in it is shown to nobody
        return True


@cache
def _links() -> TemporaryDirectory[str]:
    """Return a folder of this process for links to logs, which is removed when the process ends."""
    folder = TemporaryDirectory(prefix="prodex-", ignore_cleanup_errors=True)
    if unquote(os.path.realpath(folder.name)) != os.path.realpath(folder.name):
        raise StorageError(
            f"The folder for temporary files, {folder.name}, has a percent sign in its path, and so has the place to "
            "publish to. Let TMPDIR name another one, or choose another place."
        )
    return folder


def delta() -> Any:
    """Return the module `deltalake`.

    Raises
    ------
    MissingExtra
        When it is not installed.
    """
    try:
        import deltalake
    except ImportError as error:
        raise missing_extra("Publishing", "deltalake", "publish") from error
    return deltalake


def _alone(name: str) -> threading.Lock:
    return _LOCKS[hash(name) % len(_LOCKS)]


def _copy(source: Path, output: Output, facts: FileFacts) -> None:
    digest = hashlib.sha256()
    try:
        file = source.open("rb")
    except OSError as error:
        raise parquet.damaged(source, error) from error
    with file:
        while piece := file.read(_STEP):
            digest.update(piece)
            output.write(piece)
    if digest.hexdigest() != facts["sha256"]:
        raise parquet.damaged(source, "its digest differs")


def _secrets(options: Mapping[str, str]) -> list[str]:
    """Return what no message may show, longest first, since one may contain another."""
    given = {value for name, value in options.items() if not _HARMLESS.search(name)}
    found = {value for name, value in os.environ.items() if _OF_STORES.fullmatch(name)}
    return sorted((value for value in given | found if len(value) > 3), key=len, reverse=True)
