"""The places that may hold settings: the environment, a `.env` file, the keyring, a question."""

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
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import dotenv

from prodex.errors import SettingsError
from prodex.progress import in_notebook
from prodex.service.secret import Secret

logger = logging.getLogger("prodex")

#: Setting -> the environment variable, key in `.env` and keyring entry that hold it.
VARIABLES: Mapping[str, str] = {
    "base_url": "PRODEX_BASE_URL",
    "client_id": "PRODEX_CLIENT_ID",
    "client_secret": "PRODEX_CLIENT_SECRET",
}

_KEYRING = "prodex"


class SettingSource(StrEnum):
    """Where a setting may stand, in the order in which the places are asked."""

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
        What stands there; a base URL, too, is only shown once it was checked.
    place, where
        The kind of place, and which one it is, for people.
    host
        The host that an entry of the keyring is kept for, or None.
    """

    value: Secret
    place: SettingSource
    where: str
    host: str | None = None


class SettingSources:
    """All places, each read when it is first asked.

    Parameters
    ----------
    given
        The arguments.
    ask
        How to ask for a missing setting; by default at the terminal or in the notebook.
    """

    def __init__(
        self, given: Mapping[str, Secret | None], ask: Callable[[str], str | None] | None = None
    ) -> None:
        self._given = given
        self._ask = ask
        self.passed_over = ""

    def find(self, place: SettingSource, name: str, host: str | None = None) -> FoundSetting | None:
        """Return a setting as it stands in one place, or None where it is absent or blank.

        Parameters
        ----------
        host
            The host that credentials are for, as far as it is known.
        """
        variable = VARIABLES[name]
        match place:
            case SettingSource.ARGUMENT:
                return _found(self._given.get(name), place, "an argument")
            case SettingSource.ENVIRONMENT:
                return _found(os.environ.get(variable), place, f"the environment variable {variable}")
            case SettingSource.DOTENV:
                return _found(self._dotenv.get(variable), place, str(self._dotenv_path))
            case SettingSource.KEYRING:
                own = f"{_KEYRING}@{host}"
                kept = _from_keyring(own, variable) if host else None
                bound = _found(kept, place, f"the keyring ({own})", host)
                return bound or _found(_from_keyring(_KEYRING, variable), place, "the keyring")
            case SettingSource.PROMPT:
                answer = self._ask(name) if self._ask else _ask(variable, host)
                return _found(answer, place, "an answer typed in")

    @cached_property
    def _dotenv_path(self) -> Path | None:
        """The nearest `.env`, from the working directory up to the home directory or the root."""
        try:
            folder, home = Path.cwd(), Path.home()
        except (OSError, RuntimeError):  # a folder that was deleted, a user without a home
            return None
        for each in (folder, *folder.parents):
            path = each / ".env"
            with suppress(OSError):  # a folder that may not be looked into
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
        values = _read_dotenv(self._dotenv_path)
        if values is None:
            raise SettingsError(f"{self._dotenv_path} cannot be read as UTF-8 text. Save it as UTF-8.")
        return values


def _found(
    value: str | Secret | None, place: SettingSource, where: str, host: str | None = None
) -> FoundSetting | None:
    text = "" if value is None else Secret(value).reveal().strip()
    return FoundSetting(Secret(text), place, where, host) if text else None


def _is_ours(path: Path) -> bool:
    """Say whether a file is this user's or the system's; warn of one that everybody may change."""
    if os.name == "nt":
        return True
    facts, user = path.stat(), os.geteuid()
    # In a container, root reads what somebody else mounted.
    if user != 0 and facts.st_uid not in (0, user):
        return False
    if facts.st_mode & stat.S_IWOTH:
        logger.warning("Every user of this machine may change %s. Close it: chmod o-w %s", path, path)
    return True


def _read_dotenv(path: Path) -> Mapping[str, Secret] | None:
    """Return what stands in a `.env`, or None when it is no text: the error of the decoder would hold it."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    # A secret may hold a $ of its own, so nothing is filled in.
    values = dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False)
    return {name: Secret(value) for name, value in values.items() if value is not None}


def _from_keyring(service: str, variable: str) -> str | None:
    if importlib.util.find_spec("keyring") is None:
        return None
    keyring = importlib.import_module("keyring")
    try:
        value: str | None = keyring.get_password(service, variable)
    except keyring.errors.KeyringError:  # no usable keyring on this machine, or it stays locked
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
    except (EOFError, NotImplementedError):  # a notebook that is run by a program has nobody to ask
        return None
