"""Errors as sentences for whoever pressed."""

from __future__ import annotations

import logging

from prodex.errors import ProdexError

_LOG = logging.getLogger("prodex")


def error_text(error: BaseException) -> str:
    """Return an error as sentences; one that is not ours is named and logged with its traceback.

    >>> from prodex.errors import QueryError
    >>> error_text(QueryError("limit is 'x'. Give a number."))
    "limit is 'x'. Give a number."
    """
    if isinstance(error, ProdexError):
        return " ".join([str(error), *getattr(error, "__notes__", ())])
    _LOG.error("a panel failed", exc_info=error)
    return f"Unexpected {type(error).__name__}: {error}. The traceback is in the log of 'prodex'."
