"""Every error that prodex raises on purpose.

::

    ProdexError
    ├── SettingsError                  base URL, credentials or folders cannot be used as given
    ├── QueryError                     a query that the service could not understand, or not as meant
    │   └── NotExported                a table or column that the export of a catalogue left out
    ├── InputError                     records or files handed in that cannot be read
    │   ├── ExportDamaged              an export is not as it was written
    │   ├── SpreadsheetUnreadable      a workbook or CSV file of others has a password, is damaged or no such file
    │   ├── PreflightFailed            products that the service would refuse; nothing was sent
    │   └── ChangesRefused             corrections that cannot be merged
    │       └── ChangesStale           the product was changed since it was loaded
    ├── ServiceError                   the exchange service, or the way to it, failed
    │   ├── ServiceUnreachable         no connection, a timeout, or 429/5xx until the time for retries was over
    │   ├── AuthenticationFailed       credentials or token not accepted
    │   ├── RequestRefused             a 4xx other than those: the request itself is wrong
    │   │   └── CursorLost             a scroll cursor is no longer known to the service
    │   ├── RedirectRefused            the service points to another host
    │   ├── OutcomeUnknown             the answer to a write was lost; it may have happened or not
    │   │   └── IdentifierUnreadable   the write was accepted, but nobody can read under which identifier
    │   ├── MediaFailed                a file at an address that a supplier typed was not received
    │   │   └── MediaRefused           that address is not asked, or what it gives is not taken
    │   └── UnexpectedReply            a reply that is not what the contract promises
    ├── TrackingTimeout                an import still ran when the wait ended
    ├── IncompleteLoad                 fewer (or more) products were received than the service announced
    ├── SnapshotError                  a snapshot on disk cannot be used
    │   ├── SnapshotNotFound
    │   ├── SnapshotDamaged
    │   ├── SnapshotLocked             another process is writing it
    │   ├── PublicationRefused         a place of publications holds what may not be added to or cannot be read
    │   └── PublicationConflict        another process published to the same place meanwhile
    ├── OtherLayout                    what another version of prodex wrote to the disk; it is not read
    ├── StorageError                   the disk or the object store refused (full, read-only, not permitted)
    │   └── UpsertStopped              it refused in the middle of an upsert; the rest was not sent
    ├── WorkerError                    a worker of the executor that was given cannot do its part
    │   ├── WorkerRefused              it has another version of prodex, or does not see the data folder
    │   └── WorkerLost                 it was killed, and nobody took over its part
    └── MissingExtra                   an optional dependency is not installed

A message says what happened, with which value, and what to do. No message, repr or attribute holds a client
secret or a token.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    # Only for checking: what iterates over this module finds errors, and nothing else that could be raised.
    from collections.abc import Callable
    from pathlib import Path
    from typing import Protocol

    import pandas as pd

    class Shortfall(Protocol):
        """What an incomplete load has to say of itself, as a `prodex.catalog.Ledger` does."""

        @property
        def problems(self) -> list[tuple[str, str]]:
            """What is missing and why."""

    class Unfinished(Protocol):
        """What an interrupted upsert has to offer, as a `prodex.send.Tracking` does."""

        @property
        def send_rest(self) -> Callable[..., Any]:
            """Send what was not sent yet."""


#: Categories of Unicode that a terminal obeys, or that make two texts look alike: controls, characters that turn the
#: direction of writing or have no width, halves of surrogate pairs (which no stream can encode), and line separators.
CONTROL_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: object) -> str:
    r"""Return a text as a terminal, a log or an error may show it: control characters are written as escapes.

    Line feeds stay, since messages of prodex have them; `on_one_line` escapes those too. It is defined here and not in
    `prodex.untrusted_text`, which builds on it, because every error needs it and this module imports no other.

    >>> printable("\x1b[2Jgone\r\u202e"), printable("Crème 5\u202f% \U0001f9c0"), printable("a\nb")
    ('\\x1b[2Jgone\\r\\u202e', 'Crème 5\u202f% 🧀', 'a\nb')
    """
    return "\n".join(map(on_one_line, str(text).split("\n")))


def on_one_line(text: object) -> str:
    r"""Return the same of a text that has to stay on its line.

    >>> on_one_line("a\nprodex: all is well")
    'a\\nprodex: all is well'
    """
    whole = str(text)
    if whole.isprintable():  # nearly every text is: the loop below would take ten times as long
        return whole
    return "".join(_unicode_escape(c) if unicodedata.category(c) in CONTROL_CATEGORIES else c for c in whole)


def _unicode_escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


class ProdexError(Exception):
    """Anything that prodex raises on purpose.

    What a message quotes of the service, of files and of suppliers is shown and never obeyed by a terminal.

    Examples
    --------
    >>> import prodex
    >>> try:
    ...     prodex.open_snapshot("nothing")
    ... except prodex.ProdexError as error:
    ...     print(type(error).__name__)
    SnapshotNotFound
    """

    #: The sentence of the message and the values at its places, where it was made by `saying`.
    sentence: str = ""
    values: dict[str, Any] = {}  # noqa: RUF012 - it is never changed, only replaced

    def __init__(self, *parts: object, **more: Any) -> None:
        # What `prodex.advice` has made is printable, and knows what it names.
        super().__init__(*(printable(part) if type(part) is str else part for part in parts), **more)

    @classmethod
    def saying(cls, sentence: str, /, **values: Any) -> Self:
        """Return an error whose message can be said in another language as well: a sentence, and what is at its places.

        `prodex.languages.message.said_by` has it as a message.

        Examples
        --------
        >>> str(ProdexError.saying("{text} is not a number.", text="'a lot'"))
        "'a lot' is not a number."
        """
        shown = {name: printable(one) if isinstance(one, str) else one for name, one in values.items()}
        made = cls(sentence.format(**shown))
        made.sentence, made.values = sentence, shown
        return made

    def add_note(self, note: str) -> None:
        """Add a line below the message.

        Examples
        --------
        >>> error = ProdexError("It did not work.")
        >>> error.add_note("It was tried twice.")
        >>> error.__notes__
        ['It was tried twice.']
        """
        super().add_note(printable(note) if type(note) is str else note)


class SettingsError(ProdexError, ValueError):
    """Base URL, credentials or folders cannot be used as given."""


class QueryError(ProdexError, ValueError):
    """A query that the service could not understand, or not as it was meant."""


class NotExported(QueryError):
    """A table or a column that a catalogue does not have, since the export that it was read from left it out."""


class InputError(ProdexError, ValueError):
    """Records or files that were handed in cannot be read."""


class ExportDamaged(InputError):
    """A file of an export is missing, cut off, changed or none of its own."""


class SpreadsheetUnreadable(InputError):
    """A workbook or CSV file that somebody filled in cannot be read: it has a password, is damaged, or is none.

    The message says which file, why, and how to save it so that it can be read.
    """


class PreflightFailed(InputError):
    """Products that the service would refuse; nothing was sent.

    Attributes
    ----------
    findings
        What was found: a frame of gtin, attribute, severity, problem and what_to_do.
    """

    def __init__(self, message: str, findings: pd.DataFrame) -> None:
        super().__init__(message)
        self.findings = findings


class ChangesRefused(InputError):
    """Corrections that cannot be merged, because the rest of the product or the attribute is not known.

    Attributes
    ----------
    refused
        The products concerned, if they are known: a frame of product_id, gtin and problem. Otherwise None.
    """

    def __init__(self, message: str, refused: pd.DataFrame | None = None) -> None:
        super().__init__(message)
        self.refused = refused


class ChangesStale(ChangesRefused):
    """A product was changed since it was loaded: merging with what was loaded would undo that."""


class ServiceError(ProdexError):
    """The exchange service, or the way to it, failed.

    Attributes
    ----------
    status
        The HTTP status of the last reply, or None when there was no reply.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ServiceUnreachable(ServiceError):
    """No connection, a timeout, or 429/5xx replies until the time for retries was over."""


class AuthenticationFailed(ServiceError):
    """The service did not accept the credentials or the token."""


class RequestRefused(ServiceError):
    """The service refused the request itself (a 4xx reply)."""


class CursorLost(RequestRefused):
    """A scroll cursor is no longer known to the service; the scroll has to start again."""


class RedirectRefused(ServiceError):
    """The service pointed to another host, where no token may go."""


class OutcomeUnknown(ServiceError):
    """The answer to a write was lost: the service may have acted on it, or not. It is not sent again."""


class IdentifierUnreadable(OutcomeUnknown):
    """A write was accepted, but its answer holds no tracking identifier that can be read. It is not sent again.

    Attributes
    ----------
    answer
        The beginning of what the service answered, without secrets.
    """

    def __init__(self, message: str, *, status: int | None = None, answer: str = "") -> None:
        super().__init__(message, status=status)
        self.answer = answer


class MediaFailed(ServiceError):
    """A file at an address that a supplier typed was not received; a later attempt may succeed."""


class MediaRefused(MediaFailed):
    """An address that a supplier typed is not asked, or what it gives is not taken: asking again changes nothing."""


class UnexpectedReply(ServiceError):
    """A reply that is not what the contract promises: no JSON, cut off, or without its envelope.

    Attributes
    ----------
    is_answer
        Whether the service itself answered so, and not a proxy or a broken line.
    """

    def __init__(self, message: str, *, status: int | None = None, is_answer: bool = False) -> None:
        super().__init__(message, status=status)
        self.is_answer = is_answer


class TrackingTimeout(ProdexError, TimeoutError):
    """An import still ran when the wait for it ended; it continues at the service."""


class IncompleteLoad(ProdexError):
    """The received products do not agree with what the service announced.

    Attributes
    ----------
    ledger
        A `Ledger`: the numbers, and under `problems` what could not be loaded and why. None where no snapshot was to
        be made.
    """

    def __init__(self, message: str, ledger: Shortfall | None = None) -> None:
        super().__init__(message)
        self.ledger = ledger


class SnapshotError(ProdexError):
    """A snapshot on disk cannot be used."""


class SnapshotNotFound(SnapshotError, LookupError):
    """No snapshot has this name or time."""


class SnapshotDamaged(SnapshotError):
    """A file of a snapshot is missing, cut off or changed.

    Attributes
    ----------
    products
        The products whose records have to be fetched again, by GTIN or else by id, where that is known.
    """

    def __init__(self, message: str, *, products: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.products = products


class SnapshotLocked(SnapshotError):
    """Another process is writing this snapshot."""


class PublicationRefused(SnapshotError):
    """Publications are at a place that belongs to another program, another snapshot or a newer version of prodex."""


class PublicationConflict(SnapshotError):
    """Another process published to the same place meanwhile; what it published is whole."""


class OtherLayout(ProdexError):
    """Another version of prodex wrote a file or folder, in a layout that this one does not read.

    What rests on it stops until it is moved away: it is never read as empty.

    Attributes
    ----------
    path
        The file; None where it is known by its name only.
    """

    def __init__(self, message: str, *, path: Path | None = None) -> None:
        super().__init__(message)
        self.path = path


class StorageError(ProdexError, OSError):
    """The disk or the object store refused: full, read-only, not permitted, or not reached."""


class UpsertStopped(StorageError):
    """The state of an upsert could not be written to the disk, so the rest of it was not sent.

    Attributes
    ----------
    tracking
        A `Tracking` of what was sent until then, answers that could not be written down included; its `send_rest`
        sends the rest once there is space.
    """

    def __init__(self, message: str, tracking: Unfinished | None = None) -> None:
        super().__init__(message)
        self.tracking = tracking


class WorkerError(ProdexError):
    """A worker of the executor that was given cannot do its part."""


class WorkerRefused(WorkerError):
    """A worker has another version of prodex, lacks a module, or does not see the folder with the data."""


class WorkerLost(WorkerError):
    """A worker was killed or ran out of memory, and nobody took over its part."""


class MissingExtra(ProdexError, ImportError):
    """An optional dependency is not installed."""
