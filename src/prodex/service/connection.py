"""Connecting: `connect`, and the service that a public function was given."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from prodex.arguments import described
from prodex.errors import InputError, SettingsError
from prodex.limits import Limits
from prodex.network.retry import RetryPolicy
from prodex.phrases import nearest
from prodex.service import local_sandbox
from prodex.service.client import Client
from prodex.service.secret import Secret
from prodex.service.settings import find_settings
from prodex.service.token import token_path

if TYPE_CHECKING:
    import requests


_SANDBOX = "sandbox"

#: Names the service of a terminal, for commands and for `connect()` without a target.
_VARIABLE = "PRODEX_SERVICE"


def connect(
    target: str | None = None,
    *,
    client_id: str | None = None,
    client_secret: str | Secret | None = None,
    base_url: str | None = None,
    accept_language: str | None = None,
    timeout: float | tuple[float, float] = (10, 120),
    calls_per_second: float | None = None,
    retry: RetryPolicy | None = None,
    limits: Limits | None = None,
    session: requests.Session | None = None,
    token_version: int = 2,
) -> Client:
    """Connect to a product data exchange service.

    Nothing is sent yet: the token is fetched with the first call.

    Parameters
    ----------
    target
        "sandbox" for the local service, which is started when it does not run yet, or a base URL. When neither this
        nor `base_url` is given, the environment variable `PRODEX_SERVICE` may name the sandbox.
    client_id, client_secret, base_url
        Credentials and base URL. What is not given is read from the environment (`PRODEX_BASE_URL`,
        `PRODEX_CLIENT_ID`, `PRODEX_CLIENT_SECRET`), the nearest `.env` file up to the home directory, the keyring, or a
        prompt. The secret is only sent to a base URL that you give or type, that is from the same source, or for
        which the keyring has it; `settings_sources` of the client shows where each was found. The sandbox needs no
        credentials; with some, you are another of its organisations.
    accept_language
        Language of labels ("fr-FR", "French"); US English when None.
    timeout
        Seconds to wait for a connection, and for the next bytes of a reply.
    calls_per_second
        Limit of calls; None for 2 to a remote service and no limit on this machine.
    retry
        For how long a call is tried again when the service or the way to it fails: `prodex.service.RetryPolicy`.
    limits
        The most seconds and bytes of one reply: `prodex.limits.Limits`.
    session
        A `requests` session for all calls, for proxies and certificates that need code.
    token_version
        2, or 1 for a service that only has the deprecated token endpoint; it is never tried automatically.

    Raises
    ------
    SettingsError
        When a setting is missing, the base URL is not valid, or the secret is not for it.
    ServiceUnreachable
        When the sandbox does not start.

    Examples
    --------
    >>> connect("https://api.example.com", client_id="my-access-key", client_secret="...")
    <Client https://api.example.com key my-a...>

    A service that takes ten minutes to restart, and replies of up to a gigabyte:

    >>> from prodex.limits import Limits
    >>> from prodex.service import RetryPolicy
    >>> connect("https://api.example.com", client_id="my-access-key", client_secret="...",
    ...         retry=RetryPolicy(load_seconds=900), limits=Limits(unpacked_bytes=1_000_000_000))
    <Client https://api.example.com key my-a...>
    """
    token_path(token_version)  # before a sandbox is started for nothing
    # From here on no traceback shows it as text.
    client_secret = None if client_secret is None else Secret(client_secret)
    if target is not None and base_url is not None:
        raise SettingsError("connect got a target and a base_url. Give one of them.")
    if target is not None and not isinstance(target, str):
        raise SettingsError(
            f'connect() takes "sandbox" or a base URL, and target is {described(target)}. Write connect("sandbox"), or '
            "connect() for the service in your settings."
        )
    # Otherwise the message about a misspelt "sandbox" would be one about base URLs.
    if target is not None and target != _SANDBOX and target.isalnum() and nearest(target, [_SANDBOX]):
        raise SettingsError(
            f"There is no service {target!r:.60}; did you mean {_SANDBOX!r}? Or give a base URL."
        )
    if target is None and base_url is None:
        target = _sandbox_named_in_environment()
    if target == _SANDBOX:
        settings = local_sandbox.sandbox_settings(client_id=client_id, client_secret=client_secret)
    else:
        settings = find_settings(
            base_url=target or base_url, client_id=client_id, client_secret=client_secret
        )
    return Client(
        settings,
        accept_language=accept_language,
        timeout=timeout,
        calls_per_second=calls_per_second,
        retry=retry,
        limits=limits,
        session=session,
        token_version=token_version,
    )


def _sandbox_named_in_environment() -> str | None:
    """Return "sandbox" if `PRODEX_SERVICE` names it, and None if it names nothing.

    Raises
    ------
    SettingsError
        When it names anything else. An editor may load it from a `.env` file among files of others,
        and what is given as a target gets the secret: an address there could fetch it.
    """
    named = os.environ.get(_VARIABLE, "").strip()
    if named not in ("", _SANDBOX):
        raise SettingsError(
            f"The environment variable {_VARIABLE} may only be {_SANDBOX!r}. Name a service of your own with "
            "PRODEX_BASE_URL, connect(...) or --service."
        )
    return named or None


def service_given(given: object, call: str, *others: object) -> Client:
    """Return the service that was given as the first argument of a function.

    Parameters
    ----------
    given
        The first argument: a client, or the text "sandbox".
    call
        The call as it should be, for the message: "load_products(service, name='shop')".
    *others
        The other arguments: if the service is among them, the order is wrong.

    Raises
    ------
    InputError
        When it is neither; the message contains the line to write.
    """
    if isinstance(given, Client):
        return given
    # Only this text: any other could be the name of a snapshot in the wrong place.
    if isinstance(given, str) and given == "sandbox":
        return connect("sandbox")
    if any(isinstance(one, Client) for one in others):
        raise InputError(f"The service comes first: write prodex.{call}.")
    name = call.partition("(")[0].rpartition(".")[2]
    # In "service=service" the second one is the value.
    whole = call if "." in call.partition("(")[0] else f"prodex.{call}"
    written = re.sub(r"\bservice\b(?!=)", 'prodex.connect("sandbox")', whole, count=1)
    raise InputError(
        f"{name}() needs a service, and service is {described(given)}. Write {written}, "
        "or prodex.connect() for the one in your settings."
    )
