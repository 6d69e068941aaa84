"""Seals: what this installation wrote itself, told from what was copied, unpacked or edited by somebody.

A seal is a keyed digest (HMAC-SHA256) of what was written and of where it is kept. Its key lies in the user's own
folder (`home`), outside of all that is copied, shared and archived, and only its owner may read it. Whoever has no key
can make no seal. A key that is lost is replaced, and what it sealed is then not believed any more: it is judged again.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from contextlib import suppress
from pathlib import Path

from prodex.errors import SnapshotLocked, StorageError
from prodex.files.atomic import home, writing
from prodex.files.lock import publishing_lock
from prodex.files.untrusted import read_bytes

#: The file of the key.
KEY = "seal.key"

_BYTES = 32


def own_seal(place: str, content: bytes) -> str | None:
    """Return the seal of something that is written now; None where no key can be kept.

    Parameters
    ----------
    place
        What it is and where it is kept, so that a seal is worth nothing anywhere else.
    content
        What is written.
    """
    # A full disk, or a folder that is read only, leaves it without a seal, and costs nothing else.
    with suppress(StorageError, SnapshotLocked):
        return _digest(_key() or _new_key(), place, content)
    return None


def has_own_seal(place: str, content: bytes, seal: str) -> bool:
    """Whether this installation wrote something, at this place and exactly so."""
    key = _key()
    return key is not None and hmac.compare_digest(_digest(key, place, content).encode(), seal.encode())


def _digest(key: bytes, place: str, content: bytes) -> str:
    # No place has a NUL in it, so that no two places and contents are the same message.
    return hmac.new(key, place.encode() + b"\0" + content, hashlib.sha256).hexdigest()


def _key() -> bytes | None:
    """Return the key; None where there is none, or what is there is no key: a link, half of a file."""
    with suppress(OSError):
        key = read_bytes(home() / KEY, _BYTES)
        return key if len(key) == _BYTES else None
    return None


def _new_key() -> bytes:
    path: Path = home() / KEY
    with publishing_lock(path.parent):
        # Another process may have made it meanwhile.
        if (known := _key()) is not None:
            return known
        key = secrets.token_bytes(_BYTES)
        with writing(path, private=True) as beside:
            beside.write_bytes(key)
        return key
