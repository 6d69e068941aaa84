"""Where the service is and who we are: the sources of settings, and what a base URL may look like.

Spec: "HTTPS on the default port 443 is the only transport; the host name must carry no explicit port".
"""

from __future__ import annotations

import getpass
import importlib
import importlib.util
import ipaddress
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import dotenv

from prodex.errors import SettingsError
from prodex.service.progress import in_notebook

#: Setting -> the environment variable, key in `.env` and keyring entry that hold it.
VARIABLES: Mapping[str, str] = {
    "base_url": "PRODEX_BASE_URL",
    "client_id": "PRODEX_CLIENT_ID",
    "client_secret": "PRODEX_CLIENT_SECRET",
}


@dataclass(frozen=True)
class Settings:
    """Where the service is, and the credentials for it."""

    base_url: str
    client_id: str = field(repr=False)
    client_secret: str = field(repr=False)


def find_settings(
    *,
    base_url: str | None = None,
    client_id: str | None = None,
    client_secret: str | None = None,
    ask: Callable[[str], str | None] | None = None,
) -> Settings:
    """Find each setting in the first place that has it.

    The places are: the argument, the environment, the nearest `.env` file from the working directory
    upwards, the keyring (where the package `keyring` is installed), and a question where somebody is
    there to answer it.

    Parameters
    ----------
    ask
        How to ask for a missing setting; by default at the terminal or in the notebook.

    Raises
    ------
    SettingsError
        When a setting is in none of these places, or the base URL cannot be used.
    """
    given = {"base_url": base_url, "client_id": client_id, "client_secret": client_secret}
    dotenv_path = dotenv.find_dotenv(usecwd=True)
    # Without a path, python-dotenv would look around the file that calls it; a secret may hold a $ of
    # its own.
    dotenv_file = dotenv.dotenv_values(dotenv_path, interpolate=False) if dotenv_path else {}
    places: tuple[Callable[[str], str | None], ...] = (
        given.get,
        lambda name: os.environ.get(VARIABLES[name]),
        lambda name: dotenv_file.get(VARIABLES[name]),
        _from_keyring,
        ask or _ask,
    )
    found = {}
    for name in VARIABLES:
        value = next((value for place in places if (value := (place(name) or "").strip())), None)
        if value is None:
            raise SettingsError(
                f"{name} is not set. Give connect({name}=...), or set {VARIABLES[name]} in the "
                f"environment or in a .env file, or store it with `keyring set prodex {VARIABLES[name]}`. "
                "Without an account, "
                'connect("sandbox") starts a complete local service.'
            )
        found[name] = value
    return Settings(checked_base_url(found["base_url"]), found["client_id"], found["client_secret"])


def checked_base_url(url: str) -> str:
    """Return the base URL in its plain form, without a slash at the end.

    Raises
    ------
    SettingsError
        When the service could not be reached there, or a secret could leak. The message shows no more
        than the host.

    Examples
    --------
    >>> checked_base_url("https://api.example.com/")
    'https://api.example.com'
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise SettingsError("The base URL cannot be read. It looks like https://api.example.com") from None
    if (
        parts.scheme not in ("https", "http")
        or not host
        or any(sign <= " " or sign == "\\" for sign in url.strip())
    ):
        raise SettingsError("The base URL must look like https://api.example.com")
    if parts.username is not None or parts.query or parts.fragment:
        raise SettingsError(
            f"The base URL of {host} holds more than scheme, host and path. Credentials go into client_id "
            "and client_secret, filters into the query."
        )
    if not _is_loopback_host(host):
        if parts.scheme != "https":
            raise SettingsError(f"http://{host} would send secrets in the clear. Use https://{host}")
        if port is not None or parts.netloc.endswith(":"):
            raise SettingsError(f"The service closes connections to an explicit port. Use https://{host}")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def is_loopback(base_url: str) -> bool:
    """Say whether the base URL is on this machine."""
    return _is_loopback_host(urlsplit(base_url).hostname or "")


def _is_loopback_host(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _from_keyring(name: str) -> str | None:
    if importlib.util.find_spec("keyring") is None:
        return None
    keyring = importlib.import_module("keyring")
    try:
        value: str | None = keyring.get_password("prodex", VARIABLES[name])
    except keyring.errors.KeyringError:  # no usable keyring on this machine, or it stays locked
        return None
    return value


def _ask(name: str) -> str | None:
    if not (in_notebook() or (sys.stdin is not None and sys.stdin.isatty())):
        return None
    question = f"{VARIABLES[name]}: "
    try:
        return getpass.getpass(question) if name == "client_secret" else input(question)
    except (EOFError, NotImplementedError):  # a notebook that is run by a program has nobody to ask
        return None
