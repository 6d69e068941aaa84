"""A socket that listens on this machine alone."""

from __future__ import annotations

import socket

from prodex.errors import InputError

#: The address of this machine that no other machine reaches.
LOOPBACK = "127.0.0.1"


def listening(port: int = 0) -> socket.socket:
    """Return a socket that listens on this machine: whoever is told of the address is answered from then on.

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
    made = socket.socket()
    try:
        made.bind((LOOPBACK, port))
    except (OSError, OverflowError) as error:
        made.close()
        raise InputError(
            f"Port {port} cannot be used: {str(error).removeprefix('bind(): ').rstrip('.')}. Give another one, or "
            "leave it out for any that is free."
        ) from error
    made.listen()
    return made
