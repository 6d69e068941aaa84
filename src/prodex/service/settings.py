"""Base URL and credentials: where they are looked for, which may be used together, and how a base URL may look.

Spec: "HTTPS on the default port 443 is the only transport; the host name must carry no explicit port".
"""

from __future__ import annotations

import getpass
import importlib
import importlib.util
import io
import logging
import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import dotenv
from dotenv.parser import parse_stream

from prodex.advice import Advice, PythonCall, advice
from prodex.encodings import NotUtf8, utf8_text
from prodex.errors import SettingsError
from prodex.network.addresses import is_loopback_host
from prodex.progress import in_notebook
from prodex.service.secret import Secret

__all__ = ["VARIABLES", "Settings", "checked_base_url", "find_settings"]

logger: logging.Logger = logging.getLogger("prodex")


@dataclass(frozen=True, init=False)
class Settings:
    """Base URL of the service, and the credentials for it.

    Attributes
    ----------
    base_url, client_id, client_secret
        As given; the secret is never shown.
    sources
        Where each of the three was found, in words.
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
        # By way of `object`, since the class is frozen.
        object.__setattr__(self, "base_url", base_url)
        object.__setattr__(self, "client_id", client_id)
        object.__setattr__(self, "client_secret", Secret(client_secret))
        object.__setattr__(self, "sources", dict(sources or dict.fromkeys(VARIABLES, "given to Settings")))


def find_settings(
    *,
    base_url: str | None = None,
    client_id: str | None = None,
    client_secret: str | Secret | None = None,
    ask: Callable[[str], str | None] | None = None,
) -> Settings:
    """Find each setting in the first source that has it.

    The sources are: the argument, the environment, the nearest `.env` file from the working directory up to the home
    directory, the keyring (where the package `keyring` is installed), and a prompt where a person can answer it.
    Credentials are first looked for in the source of the base URL.

    A secret is sent to a base URL that was given as an argument or typed, to one from the same source, or to the host
    for which the keyring has it (`keyring set prodex@api.example.com PRODEX_CLIENT_SECRET`, or a PRODEX_BASE_URL beside
    it). Otherwise a base URL in a `.env` among somebody's files could receive it.

    Parameters
    ----------
    ask
        Asks for a missing setting; by default at the terminal or in the notebook.

    Raises
    ------
    SettingsError
        When a setting is in none of these sources, the base URL is not valid, or the secret is not for it.
    """
    # At once, and under the same name, so that no traceback shows it as text.
    client_secret = client_secret and Secret(client_secret)
    given = {"base_url": base_url, "client_id": client_id, "client_secret": client_secret}
    if others := [name for name, value in given.items() if not _is_text(value)]:
        # Not with its value: a number may be the secret.
        raise SettingsError(f'{" and ".join(others)} must be text, such as {others[0]}="...".')
    lookup = SettingSources(
        {name: None if text is None else Secret(text) for name, text in given.items()}, ask
    )
    address = _required("base_url", _first_found(lookup, "base_url", SettingSource), lookup)
    url = checked_base_url(address.value.reveal())
    host = urlsplit(url).netloc
    nearest = dict.fromkeys((SettingSource.ARGUMENT, address.source, *SettingSource))
    # A person is asked last, when no other source has the setting.
    nearest.pop(SettingSource.PROMPT)
    key = _required(
        "client_id", _first_found(lookup, "client_id", (*nearest, SettingSource.PROMPT), host), lookup
    )
    secret = _secret(lookup, nearest, address, url) or lookup.find(
        SettingSource.PROMPT, "client_secret", host
    )
    secret = _required("client_secret", secret, lookup)
    sources = {"base_url": address.where, "client_id": key.where, "client_secret": secret.where}
    logger.info("Settings for %s from %s", host, ", ".join(": ".join(pair) for pair in sources.items()))
    return Settings(url, key.value.reveal(), secret.value, sources)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value.reveal() if isinstance(value, Secret) else value, str)


def checked_base_url(url: str) -> str:
    """Return the base URL in its normal form, without a slash at the end.

    Raises
    ------
    SettingsError
        When the service cannot be there, or a secret could leak. The message shows the host only: a mistyped URL may
        contain credentials.

    Examples
    --------
    >>> checked_base_url("https://api.example.com/")
    'https://api.example.com'
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise SettingsError(
            "The base URL cannot be parsed. It must look like https://api.example.com"
        ) from None
    if (
        parts.scheme not in ("https", "http")
        or not host
        or any(sign <= " " or sign == "\\" for sign in url.strip())
    ):
        raise SettingsError("The base URL must look like https://api.example.com")
    if parts.username is not None or parts.query or parts.fragment:
        raise SettingsError(
            f"The base URL of {host} contains more than scheme, host and path. Give credentials as client_id "
            "and client_secret, and filters in the query."
        )
    # The sandbox runs on http and any port; a real service has https on the default port (spec).
    if not is_loopback_host(host):
        if parts.scheme != "https":
            raise SettingsError(f"http://{host} would send secrets in the clear. Use https://{host}")
        if port is not None or parts.netloc.endswith(":"):
            raise SettingsError(f"The service closes connections to an explicit port. Use https://{host}")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def _first_found(
    lookup: SettingSources, name: str, order: Iterable[SettingSource], host: str | None = None
) -> FoundSetting | None:
    return next((found for source in order if (found := lookup.find(source, name, host))), None)


def _required(name: str, found: FoundSetting | None, lookup: SettingSources) -> FoundSetting:
    if found is None:
        raise SettingsError(
            advice(
                "{name} is not set. {give} {variable} in the environment or in a .env file, or store it with `keyring "
                "set prodex {variable}`.{passed_over} Without an account, {sandbox} starts a complete local service; "
                "so does PRODEX_SERVICE=sandbox in the environment.",
                name=name,
                give=PythonCall("Give connect({name}=...), or set", name=name),
                variable=VARIABLES[name],
                passed_over=lookup.passed_over,
                sandbox=PythonCall('connect("sandbox")'),
            )
        )
    return found


def _secret(
    lookup: SettingSources, order: Iterable[SettingSource], address: FoundSetting, url: str
) -> FoundSetting | None:
    """Return the first secret that may be sent to a base URL; None if there is no secret.

    Raises
    ------
    SettingsError
        When every secret is for another base URL, or the one that was given as an argument is.
    """
    refused = None
    for source in order:
        found = lookup.find(source, "client_secret", urlsplit(url).netloc)
        if found is None:
            continue
        if _may_be_sent(found, address, url, lookup):
            return found
        refused = refused or found
        if source is SettingSource.ARGUMENT:
            break
    if refused is not None:
        raise SettingsError(_refusal(refused, address, url, lookup))
    return None


def _may_be_sent(secret: FoundSetting, address: FoundSetting, url: str, lookup: SettingSources) -> bool:
    """Whether a secret may be sent to a base URL, by the sources of both."""
    # Somebody named the base URL just now, or the keyring names the host that the secret is for.
    if address.source in {SettingSource.ARGUMENT, SettingSource.PROMPT} or secret.host is not None:
        return True
    if secret.source is SettingSource.KEYRING and (bound := _keyring_address(lookup)) is not None:
        return urlsplit(bound)[:2] == urlsplit(url)[:2]  # scheme and host
    return secret.source in {address.source, SettingSource.DOTENV} or not _is_in_dotenv(address, lookup)


def _keyring_address(lookup: SettingSources) -> str | None:
    """Return the base URL that the keyring has beside its secret; None if it has none."""
    found = lookup.find(SettingSource.KEYRING, "base_url")
    return None if found is None else checked_base_url(found.value.reveal())


def _is_in_dotenv(address: FoundSetting, lookup: SettingSources) -> bool:
    """Whether a base URL is from `.env`, also by way of the environment, into which editors load that file."""
    if address.source is SettingSource.KEYRING:
        return False
    in_file = lookup.find(SettingSource.DOTENV, "base_url")
    return in_file is not None and in_file.value == address.value


def _refusal(secret: FoundSetting, address: FoundSetting, url: str, lookup: SettingSources) -> Advice:
    """Return the message: why a secret is not sent to a base URL, and what to do."""
    host = urlsplit(url).netloc
    bound = _keyring_address(lookup) if secret.source is SettingSource.KEYRING else None
    whose = "" if bound is None else f" for {urlsplit(bound).netloc}"
    return advice(
        "client_secret was found in {where}{whose}, but the base URL {host} in {there}. Nothing was sent: a base URL "
        "in somebody else's files could receive your secret. If it is the right one, give it yourself: {connect}; or "
        "keep both in one place; or bind the secret to its host: keyring set prodex@{host} {variable}.",
        where=secret.where,
        whose=whose,
        host=host,
        there=address.where,
        connect=PythonCall('connect("{url}")', url=url),
        variable=VARIABLES["client_secret"],
    )


#: Setting -> its environment variable, which is also its key in `.env` and in the keyring.
VARIABLES: Mapping[str, str] = {
    "base_url": "PRODEX_BASE_URL",
    "client_id": "PRODEX_CLIENT_ID",
    "client_secret": "PRODEX_CLIENT_SECRET",
}

_KEYRING = "prodex"


class SettingSource(StrEnum):
    """The sources, in the order in which they are read."""

    ARGUMENT = "argument"
    ENVIRONMENT = "environment"
    DOTENV = "dotenv"
    KEYRING = "keyring"
    PROMPT = "prompt"


@dataclass(frozen=True)
class FoundSetting:
    """A setting that was found.

    Attributes
    ----------
    value
        As found. A base URL is a `Secret` too until it was checked: it may contain credentials.
    source, where
        The kind of source, and which one in words.
    host
        The host that an entry of the keyring is for, or None.
    """

    value: Secret
    source: SettingSource
    where: str
    host: str | None = None


@dataclass(eq=False, repr=False)
class SettingSources:
    """All sources; each is read when it is first needed.

    Parameters
    ----------
    given
        The arguments.
    ask
        Asks for a missing setting; by default at the terminal or in the notebook.

    Attributes
    ----------
    passed_over
        Which `.env` was not read because it belongs to another user, in words; "" if none was.
    """

    given: Mapping[str, Secret | None]
    ask: Callable[[str], str | None] | None = None
    passed_over: str = field(default="", init=False)

    def find(self, source: SettingSource, name: str, host: str | None = None) -> FoundSetting | None:
        """Return a setting from one source, or None if it is absent or blank there.

        Parameters
        ----------
        host
            The host that credentials are for, if it is known.
        """
        variable = VARIABLES[name]
        match source:
            case SettingSource.ARGUMENT:
                return _setting_found(self.given.get(name), source, "an argument")
            case SettingSource.ENVIRONMENT:
                return _setting_found(
                    os.environ.get(variable), source, f"the environment variable {variable}"
                )
            case SettingSource.DOTENV:
                return _setting_found(self._dotenv.get(variable), source, str(self._dotenv_path))
            case SettingSource.KEYRING:
                own = f"{_KEYRING}@{host}"
                kept = _from_keyring(own, variable) if host else None
                # An entry for this host first: one keyring may have the keys of several services.
                bound = _setting_found(kept, source, f"the keyring ({own})", host)
                return bound or _setting_found(_from_keyring(_KEYRING, variable), source, "the keyring")
            case SettingSource.PROMPT:
                answer = self.ask(name) if self.ask else _ask(variable, host)
                return _setting_found(answer, source, "an answer typed in")

    @cached_property
    def _dotenv_path(self) -> Path | None:
        """The nearest `.env`, from the working directory up to the home directory or the root."""
        try:
            folder, home = Path.cwd(), Path.home()
        except (OSError, RuntimeError):  # the folder was deleted, or the user has no home
            return None
        for each in (folder, *folder.parents):
            path = each / ".env"
            with suppress(OSError):  # a folder without permission to read
                if path.is_file() and _is_ours(path):
                    return path
                if path.is_file():
                    self.passed_over = f" {path} belongs to another user and was not read."
            if each == home:
                break
        return None

    @cached_property
    def _dotenv(self) -> Mapping[str, Secret]:
        if self._dotenv_path is None:
            return {}
        try:
            values, lines = _read_dotenv(self._dotenv_path)
        except OSError as error:
            raise SettingsError(f"{self._dotenv_path} cannot be read: {error.strerror}.") from error
        except NotUtf8 as error:
            why = str(error)
        else:
            if lines:
                self.passed_over = (
                    f" Line {lines[0]} of {self._dotenv_path} cannot be read: it is not NAME=value, or has a quotation "
                    "mark that is not closed."
                )
            return values
        # Outside, since the error of the decoder has the content of the file with it.
        raise SettingsError(f"{self._dotenv_path} {why}")


def _setting_found(
    value: str | Secret | None, source: SettingSource, where: str, host: str | None = None
) -> FoundSetting | None:
    text = "" if value is None else Secret(value).reveal().strip()
    return FoundSetting(Secret(text), source, where, host) if text else None


def _is_ours(path: Path) -> bool:
    """Whether a file belongs to this user or to root; log a warning if everybody may change it."""
    if os.name == "nt":
        return True
    facts, user = path.stat(), os.geteuid()
    # In a container, root reads files that belong to the user outside, who mounted them.
    if user != 0 and facts.st_uid not in (0, user):
        return False
    if facts.st_mode & stat.S_IWOTH:
        logger.warning("Every user of this machine may change %s. Close it: chmod o-w %s", path, path)
    return True


def _read_dotenv(path: Path) -> tuple[Mapping[str, Secret], list[int]]:
    """Return the values of a `.env`, and the lines that are none."""
    text = utf8_text(path.read_bytes())
    # Without interpolation, since a secret may contain a $.
    values = dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False)
    lines = [one.original.line for one in parse_stream(io.StringIO(text)) if one.error]
    return {name: Secret(value) for name, value in values.items() if value is not None}, lines


def _from_keyring(service: str, variable: str) -> str | None:
    if importlib.util.find_spec("keyring") is None:
        return None
    keyring = importlib.import_module("keyring")
    try:
        value: str | None = keyring.get_password(service, variable)
    except keyring.errors.KeyringError:  # there is no usable keyring, or it is locked
        return None
    return value


def _ask(variable: str, host: str | None) -> str | None:
    if not (in_notebook() or (sys.stdin is not None and sys.stdin.isatty())):
        return None
    question = f"{variable} for {host}: " if host else f"{variable}: "
    if variable == VARIABLES["base_url"]:  # who has no account yet would not know what to answer
        question = f'{variable} (without an account: connect("sandbox"), or --service sandbox): '
    try:
        return getpass.getpass(question) if variable == VARIABLES["client_secret"] else input(question)
    except (EOFError, NotImplementedError):  # a notebook that a program runs has no user to answer
        return None
