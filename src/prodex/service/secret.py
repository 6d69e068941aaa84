"""A text that is only shown by an explicit call: client secrets, tokens, and requests that contain one."""

from __future__ import annotations

import hmac
import json
from typing import Any, NoReturn, Self
from urllib.parse import quote

from prodex.errors import SettingsError

_SHOWN = "***"

#: A shorter excerpt does not reveal the secret, and would also replace common words in a message.
_SHORTEST = 4


class Secret:
    """A client secret, a token, or a request that contains one.

    Printed, formatted, copied or put into a frame it is `***`; it cannot be pickled. Only `reveal` returns the text.

    Examples
    --------
    >>> secret = Secret("open sesame")
    >>> print(secret, [secret], f"{secret}", secret.reveal())
    *** [***] *** open sesame
    """

    __slots__ = ("__text",)

    def __init__(self, text: str | Secret) -> None:
        self.__text: str = text.reveal() if isinstance(text, Secret) else text

    def reveal(self) -> str:
        """Return the text."""
        return self.__text

    def hidden_in(self, text: str) -> str:
        """Return a text without the secret, in whatever form: plain, in JSON, quoted, or in a URL."""
        plain = self.__text
        in_json = [json.dumps(plain, ensure_ascii=escaped)[1:-1] for escaped in (True, False)]
        spelled = {plain, *in_json, repr(plain)[1:-1], quote(plain, safe="", errors="replace")}
        for each in sorted(spelled, key=len, reverse=True):
            text = text.replace(each, _SHOWN) if each else text
        # An error message may quote only its beginning.
        for length in range(len(plain) - 1, _SHORTEST - 1, -1):
            text = text.replace(f"{plain[:length]}'", f"{_SHOWN}'")
        return text

    def __repr__(self) -> str:
        return _SHOWN

    def __format__(self, spec: str) -> str:
        return format(_SHOWN, spec)

    def __bool__(self) -> bool:
        return bool(self.__text)

    # compare_digest takes the same time for any text, so that nobody can guess a secret letter by letter.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        ours, theirs = (each.reveal().encode("utf-8", "surrogatepass") for each in (self, other))
        return hmac.compare_digest(ours, theirs)

    def __hash__(self) -> int:
        return hash(self.__text)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise SettingsError(
            "A secret cannot be pickled: it would be readable in the file. Call connect(...) where it is needed; "
            "catalogues and snapshots contain no secret."
        )

    def __getstate__(self) -> NoReturn:
        self.__reduce_ex__(None)
