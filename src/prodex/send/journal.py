"""What was sent, on disk before anybody waits for it: a line for every step, none ever changed.

A process may end at any moment, and a write must not be sent twice, so each batch is written down before it goes out
and again when its answer has come. No product data and no secret stand here, only GTINs and tracking identifiers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from prodex.errors import InputError
from prodex.files import home, storage
from prodex.untrusted import is_file

#: What became of a batch on its way: it got its tracking identifier; its answer was lost; the service refused it; or
#: it was never sent, because the way to the service had failed.
Sent = Literal["sent", "unknown", "refused", "not sent"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Products that were sent in one call.

    Attributes
    ----------
    gtins
        Their GTINs; none for an import that somebody else sent.
    sent
        What became of the call.
    tracking
        Its tracking identifier, or None where none came.
    message
        Why it was not sent, or how its answer was lost.
    """

    gtins: tuple[str, ...]
    sent: Sent
    tracking: int | None = None
    message: str = ""


class Journal:
    """The file of one upsert."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def begin(cls, base_url: str) -> Self:
        """Make the file.

        Raises
        ------
        StorageError
            When the disk refuses: then nothing is sent.
        """
        folder = home() / "tracking"
        moment = datetime.now(UTC)
        journal = cls(folder / f"{moment:%Y-%m-%dT%H%M%S.%f}Z-{os.getpid()}.jsonl")
        with storage(journal.path):
            folder.mkdir(parents=True, exist_ok=True)
        journal._add({"version": 1, "host": _host(base_url), "at": moment.isoformat()})
        return journal

    @classmethod
    def latest(cls, base_url: str) -> Self:
        """Return the newest file of a service.

        Raises
        ------
        InputError
            When nothing was ever sent to it from here.
        """
        for path in sorted((home() / "tracking").glob("*.jsonl"), reverse=True):
            if is_file(path) and next(_lines(path), {}).get("host") == _host(base_url):
                return cls(path)
        raise InputError(
            f"Nothing that was sent to {_host(base_url)} stands in {home() / 'tracking'}. Give the tracking "
            "identifiers: prodex.track(service, [...])."
        )

    def sending(self, number: int, gtins: Sequence[str]) -> None:
        """Write down that a batch goes out now."""
        self._add({"batch": number, "gtins": list(gtins)})

    def ended(self, number: int, batch: Batch) -> None:
        """Write down what became of it."""
        self._add({"batch": number, "sent": batch.sent, "tracking": batch.tracking, "message": batch.message})

    def batches(self) -> list[Batch]:
        """Read what became of all batches; one that went out and never came back is unknown."""
        gtins: dict[int, list[str]] = {}
        ended: dict[int, Mapping[str, Any]] = {}
        for line in _lines(self.path):
            if "gtins" in line:
                gtins[line["batch"]] = line["gtins"]
            elif "sent" in line:
                ended[line["batch"]] = line
        lost = {"sent": "unknown", "message": "the process ended before the answer came"}
        found = [(gtins[number], ended.get(number, lost)) for number in sorted(gtins)]
        return [Batch(tuple(of), end["sent"], end.get("tracking"), end["message"]) for of, end in found]

    def _add(self, line: Mapping[str, Any]) -> None:
        with storage(self.path), self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file; one that was cut off when its process ended is left out."""
    with path.open("rb") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _host(base_url: str) -> str:
    """Name the service: by host only, since a sandbox gets another port with every start."""
    return urlsplit(base_url).hostname or base_url
