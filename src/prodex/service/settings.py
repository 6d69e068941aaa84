"""Where the service is and who we are: which settings may be used together, and what a base URL may look like.

Spec: "HTTPS on the default port 443 is the only transport; the host name must carry no explicit port".
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from prodex.errors import SettingsError
from prodex.service.secret import Secret
from prodex.service.setting_sources import VARIABLES, FoundSetting, SettingSource, SettingSources

__all__ = ["VARIABLES", "Settings", "checked_base_url", "find_settings", "is_loopback"]

logger = logging.getLogger("prodex")


@dataclass(frozen=True, init=False)
class Settings:
    """Where the service is, and the credentials for it.

    Attributes
    ----------
    base_url, client_id, client_secret
        As given; the secret shows itself to nobody.
    sources
        Where each of the three came from, for people.
    """

    base_url: str
    client_id: str = field(repr=False)
    client_secret: Secret = field(repr=False)
    sources: Mapping[str, str] = field(repr=False, compare=False)

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: str | Secret,
        sources: Mapping[str, str] | None = None,
    ) -> None:
        values = {
            "base_url": base_url,
            "client_id": client_id,
            "client_secret": Secret(client_secret),
            "sources": dict(sources or dict.fromkeys(VARIABLES, "given to Settings")),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)  # the class is frozen


def find_settings(
    *,
    base_url: str | None = None,
    client_id: str | None = None,
    client_secret: str | Secret | None = None,
    ask: Callable[[str], str | None] | None = None,
) -> Settings:
    """Find each setting in the first place that has it.

    The places are: the argument, the environment, the nearest `.env` file from the working directory
    up to the home directory, the keyring (where the package `keyring` is installed), and a question where
    somebody is there to answer it. Credentials are looked for where the base URL was found before they are
    looked for elsewhere.

    A secret goes to an address that somebody gave as an argument or typed, to one from the same place, or to
    the host for which the keyring keeps it (`keyring set prodex@api.example.com PRODEX_CLIENT_SECRET`, or a
    PRODEX_BASE_URL beside it). Else an address that came along in a `.env` could fetch it.

    Parameters
    ----------
    ask
        How to ask for a missing setting; by default at the terminal or in the notebook.

    Raises
    ------
    SettingsError
        When a setting is in none of these places, the base URL cannot be used, or the secret is not for it.
    """
    client_secret = None if client_secret is None else Secret(client_secret)  # no frame holds it as text
    given = {"base_url": base_url, "client_id": client_id}
    texts = {name: None if text is None else Secret(text) for name, text in given.items()}
    places = SettingSources({**texts, "client_secret": client_secret}, ask)
    address = _required("base_url", _first(places, "base_url", SettingSource), places)
    url = checked_base_url(address.value.reveal())
    host = urlsplit(url).netloc
    nearest = dict.fromkeys((SettingSource.ARGUMENT, address.place, *SettingSource))
    nearest.pop(SettingSource.PROMPT)
    key = _first(places, "client_id", (*nearest, SettingSource.PROMPT), host)
    key = _required("client_id", key, places)
    secret = _secret(places, nearest, address, url) or places.find(
        SettingSource.PROMPT, "client_secret", host
    )
    secret = _required("client_secret", secret, places)
    sources = {"base_url": address.where, "client_id": key.where, "client_secret": secret.where}
    logger.info("Settings for %s from %s", host, ", ".join(": ".join(pair) for pair in sources.items()))
    return Settings(url, key.value.reveal(), secret.value, sources)


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


def _first(
    places: SettingSources, name: str, order: Iterable[SettingSource], host: str | None = None
) -> FoundSetting | None:
    return next((found for place in order if (found := places.find(place, name, host))), None)


def _required(name: str, found: FoundSetting | None, places: SettingSources) -> FoundSetting:
    if found is None:
        raise SettingsError(
            f"{name} is not set. Give connect({name}=...), or set {VARIABLES[name]} in the environment or in a .env "
            f"file, or store it with `keyring set prodex {VARIABLES[name]}`.{places.passed_over} Without an account, "
            'connect("sandbox") starts a complete local service; so does --service sandbox with a command, or '
            "PRODEX_SERVICE=sandbox in the environment."
        )
    return found


def _secret(
    places: SettingSources, order: Iterable[SettingSource], address: FoundSetting, url: str
) -> FoundSetting | None:
    """Return the first secret that may go to an address; None where there is none at all.

    Raises
    ------
    SettingsError
        When there are only secrets for other addresses, or the one that was given as an argument is.
    """
    refused = None
    for place in order:
        found = places.find(place, "client_secret", urlsplit(url).netloc)
        if found is None:
            continue
        if _may_go(found, address, url, places):
            return found
        refused = refused or found
        if place is SettingSource.ARGUMENT:
            break
    if refused is not None:
        raise SettingsError(_refusal(refused, address, url, places))
    return None


def _may_go(secret: FoundSetting, address: FoundSetting, url: str, places: SettingSources) -> bool:
    """Say whether a secret may be sent to an address, by where both were found."""
    if address.place in {SettingSource.ARGUMENT, SettingSource.PROMPT} or secret.host is not None:
        return True
    if secret.place is SettingSource.KEYRING and (bound := _keyring_address(places)) is not None:
        return _origin(bound) == _origin(url)
    return secret.place in {address.place, SettingSource.DOTENV} or not _came_in_a_file(address, places)


def _keyring_address(places: SettingSources) -> str | None:
    """Return the address that the keyring's own secret is for; None where it names none."""
    found = places.find(SettingSource.KEYRING, "base_url")
    return None if found is None else checked_base_url(found.value.reveal())


def _came_in_a_file(address: FoundSetting, places: SettingSources) -> bool:
    """Say whether an address stands in `.env`: editors load such a file into the environment by themselves."""
    if address.place is SettingSource.KEYRING:
        return False
    in_file = places.find(SettingSource.DOTENV, "base_url")
    return in_file is not None and in_file.value == address.value


def _refusal(secret: FoundSetting, address: FoundSetting, url: str, places: SettingSources) -> str:
    """Say why a secret is not sent to an address, and what to do."""
    host = urlsplit(url).netloc
    bound = _keyring_address(places) if secret.place is SettingSource.KEYRING else None
    whose = "" if bound is None else f", where it is kept for {urlsplit(bound).netloc}"
    return (
        f"client_secret stands in {secret.where}{whose}, but the address {host} in {address.where}. An address that "
        "came along with files of others could so fetch your secret, and nothing was sent. If it is the right one, "
        f'name it yourself: connect("{url}"), or --service {url}; or keep both in one place; or bind the secret to '
        f"its host: keyring set prodex@{host} {VARIABLES['client_secret']}."
    )


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
