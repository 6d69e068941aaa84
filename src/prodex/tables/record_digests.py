"""Digests of records: two records with the same one are the same, byte for byte.

A snapshot keeps them in the footer of each file of `raw`. Whoever wants to know which products are as they were before
then reads a few bytes of each record and not the record.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.tables.columns import Mask, Rows

#: The name of the note in the footer.
NOTE = "prodex.records"

#: Half of a SHA-256: enough to distinguish any number of records, and there may be millions of them.
DIGEST = np.dtype("V16")

_SIZE = np.dtype("<i4")


@dataclass(frozen=True, eq=False)
class RecordDigests:
    """Bytes and digest of each of some records.

    Attributes
    ----------
    sizes
        Bytes of each.
    digests
        The first 16 bytes of its SHA-256.
    """

    sizes: Rows
    digests: npt.NDArray[np.void]

    def __len__(self) -> int:
        return len(self.digests)

    @classmethod
    def of(cls, json: pa.ChunkedArray | pa.Array) -> Self:
        """Make them of a column of texts, hashed where Arrow holds them: no record is copied into Python.

        Examples
        --------
        >>> RecordDigests.of(pa.array(["{}", '{"id":7}'])).sizes.tolist()
        [2, 8]
        """
        sizes, digests = [np.zeros(0, np.int64)], []
        for chunk in filter(len, json.chunks if isinstance(json, pa.ChunkedArray) else [json]):
            kind = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
            # A chunk may be a slice.
            offsets = np.frombuffer(chunk.buffers()[1], kind)[chunk.offset : chunk.offset + len(chunk) + 1]
            text = memoryview(chunk.buffers()[2] or b"")
            bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
            digests += [hashlib.sha256(text[begin:end]).digest()[: DIGEST.itemsize] for begin, end in bounds]
            sizes.append(np.diff(offsets).astype(np.int64))
        return cls(np.concatenate(sizes), np.frombuffer(b"".join(digests), DIGEST))

    @classmethod
    def joined(cls, several: Iterable[Self]) -> Self:
        """Return the digests of several pieces, one after the other."""
        pieces = [cls(np.zeros(0, np.int64), np.zeros(0, DIGEST)), *several]
        return cls(
            np.concatenate([one.sizes for one in pieces]), np.concatenate([one.digests for one in pieces])
        )

    def take(self, rows: Rows | Mask) -> RecordDigests:
        """Return those of some records."""
        return RecordDigests(self.sizes[rows], self.digests[rows])

    @property
    def note(self) -> str:
        """The same as text, for a footer: what is there has to be text."""
        return b64encode(self.sizes.astype(_SIZE).tobytes() + self.digests.tobytes()).decode("ascii")

    @classmethod
    def of_note(cls, note: bytes, records: int) -> Self | None:
        """Read what `note` has written; None where it is not of so many records.

        Examples
        --------
        >>> made = RecordDigests.of(pa.array(["{}"]))
        >>> RecordDigests.of_note(made.note.encode(), 1).digests == made.digests
        array([ True])
        """
        try:
            content = b64decode(note, validate=True)
        except ValueError:
            return None
        if len(content) != records * (_SIZE.itemsize + DIGEST.itemsize):
            return None
        sizes = np.frombuffer(content, _SIZE, records)
        return cls(sizes.astype(np.int64), np.frombuffer(content, DIGEST, offset=sizes.nbytes))


def beginnings(digests: npt.NDArray[np.void]) -> npt.NDArray[np.uint64]:
    """Return the first eight bytes of each digest: numbers are sorted and found much faster."""
    return np.ascontiguousarray(digests).view(np.uint64).reshape(-1, 2)[:, 0]
