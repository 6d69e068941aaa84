"""The service that a function was given: a client, or the word "sandbox", which can mean one thing only."""

from __future__ import annotations

from prodex.described import described
from prodex.errors import InputError
from prodex.service.client import Client


def service_given(given: object, call: str, *others: object) -> Client:
    """Return the service that was given first to a function.

    Parameters
    ----------
    given
        What stands in the place of the service.
    call
        The call as it should be, `service` first: "refresh(service, 'shop')".
    *others
        What was given after it: where the service is among them, the order was wrong.

    Raises
    ------
    InputError
        When it is none; the message has the line to write.
    """
    if isinstance(given, Client):
        return given
    if isinstance(given, str) and given == "sandbox":
        from prodex.service.connection import connect

        return connect("sandbox")
    if any(isinstance(one, Client) for one in others):
        raise InputError(f"The service comes first: write prodex.{call}.")
    name, _, rest = call.partition("(service")
    raise InputError(
        f"{name}() asks a service first, and service is {described(given)}. Write "
        f'prodex.{name}(prodex.connect("sandbox"){rest}, or prodex.connect() for the one in your settings.'
    )
