"""The sources of settings: arguments, the environment, a `.env` file, the keyring, a prompt."""

from __future__ import annotations

import getpass
import importlib
import importlib.util
import io
import logging
import os
import stat
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import dotenv

from prodex.errors import SettingsError
from prodex.files.untrusted import NotUtf8, utf8_text
from prodex.progress import in_notebook
from prodex.service.secret import Secret

logger: logging.Logger = logging.getLogger("prodex")

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
                return _found(self.given.get(name), source, "an argument")
            case SettingSource.ENVIRONMENT:
                return _found(os.environ.get(variable), source, f"the environment variable {variable}")
            case SettingSource.DOTENV:
                return _found(self._dotenv.get(variable), source, str(self._dotenv_path))
            case SettingSource.KEYRING:
                own = f"{_KEYRING}@{host}"
                kept = _from_keyring(own, variable) if host else None
                # An entry for this host first: one keyring may have the keys of several services.
                bound = _found(kept, source, f"the keyring ({own})", host)
                return bound or _found(_from_keyring(_KEYRING, variable), source, "the keyring")
            case SettingSource.PROMPT:
                answer = self.ask(name) if self.ask else _ask(variable, host)
                return _found(answer, source, "an answer typed in")

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
            return _read_dotenv(self._dotenv_path)
        except OSError as error:
            raise SettingsError(f"{self._dotenv_path} cannot be read: {error.strerror}.") from error
        except NotUtf8 as error:
            why = str(error)
        # Outside, since the error of the decoder has the content of the file with it.
        raise SettingsError(f"{self._dotenv_path} {why}")


def _found(
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


def _read_dotenv(path: Path) -> Mapping[str, Secret]:
    """Return the values of a `.env`."""
    text = utf8_text(path.read_bytes())
    # Without interpolation, since a secret may contain a $.
    values = dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False)
    return {name: Secret(value) for name, value in values.items() if value is not None}


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
