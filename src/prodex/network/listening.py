"""A socket that listens on this machine only, for the pages that prodex serves."""

from __future__ import annotations

import socket

from prodex.errors import InputError

#: The address of this machine that no other machine reaches.
LOOPBACK = "127.0.0.1"


def listening(port: int = 0) -> socket.socket:
    """Return a socket that listens on this machine: from then on, callers of its address wait and are not refused.

    Parameters
    ----------
    port
        Where; any that is free, unless given.

    Raises
    ------
    InputError
        When the port cannot be used.

    Examples
    --------
    >>> with listening() as one:
    ...     one.getsockname()[0]
    '127.0.0.1'
    """
    server = socket.socket()
    try:
        server.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        server.close()
        raise InputError(
            f"Port {port} cannot be used: {str(error).removeprefix('bind(): ').rstrip('.')}. Give another one, or "
            "leave it out for any that is free."
        ) from error
    server.listen()
    return server
