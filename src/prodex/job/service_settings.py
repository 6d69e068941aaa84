"""Which service a job calls: the sandbox, the one in the settings, or one that variables of the environment name.

A job file is kept in version control and comes from colleagues, so it holds no secret and no address: an address of
somebody else would receive the user's secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from prodex.arguments import described
from prodex.errors import SettingsError
from prodex.files.toml_text import Keys, TomlText
from prodex.messages import hint
from prodex.service import Client, connect

_SANDBOX = "sandbox"
_SETTINGS = ("base_url", "client_id", "client_secret")

#: Only variables of prodex: a job file of somebody else must not send other secrets of the environment anywhere.
_REFERENCE = re.compile(r"\$(PRODEX_[A-Z0-9_]+)")

#: Keys whose value would be a secret.
_SECRET_KEY = re.compile(r"secret|password|passwd|token|api_?key|credential", re.IGNORECASE)
_SECRET_IN_ADDRESS = re.compile(r"^[a-z0-9+]+://[^/?#]*@", re.IGNORECASE)


@dataclass(frozen=True)
class ServiceSettings:
    """The service of a job.

    Attributes
    ----------
    sandbox
        Whether it is the sandbox.
    variables
        Otherwise, for each setting the variable of the environment that has it.
    """

    sandbox: bool = False
    variables: tuple[tuple[str, str], ...] = ()


def connected(settings: ServiceSettings | None) -> Client:
    """Return a client of the service of a job; nothing is sent yet.

    Raises
    ------
    SettingsError
        When a variable is not set, or as for `prodex.connect`.
    """
    if settings is None:
        return connect()
    if settings.sandbox:
        return connect(_SANDBOX)
    found = {}
    for setting, variable in settings.variables:
        found[setting] = os.environ.get(variable, "").strip()
        if not found[setting]:
            raise SettingsError(
                f"The environment variable {variable}, which the job names as {setting}, is not set. Set it where the "
                "job is started."
            )
    return connect(**found)  # type: ignore[arg-type] # the three settings are texts


def service_settings(given: Any, place: TomlText) -> ServiceSettings | None:
    """Return which service a job file names.

    Raises
    ------
    InputError
        When it names an address or credentials instead of variables.
    """
    if given is None:
        return None
    if isinstance(given, str):
        if given != _SANDBOX:
            raise place.error(
                ("service",),
                'service is "sandbox", or a table of variables: {base_url = "$PRODEX_SHOP_URL", client_id = '
                '"$PRODEX_SHOP_ID", client_secret = "$PRODEX_SHOP_SECRET"}. Leave it out for the service in your '
                "settings.",
            )
        return ServiceSettings(sandbox=True)
    if not isinstance(given, Mapping):
        raise place.error(("service",), f'service is {described(given)}; give "sandbox", or leave it out.')
    variables = []
    for key, value in given.items():
        if key not in _SETTINGS:
            near = hint(key, _SETTINGS, f"Give one of {', '.join(_SETTINGS)}.")
            raise place.error(("service", key), f"there is no key {key!r}{near}")
        found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            # The value is not quoted: it may be what it should not be.
            raise place.error(
                ("service", key),
                f"{key} must name a variable of the environment that begins with PRODEX_, such as "
                f'"$PRODEX_SHOP_{key.upper()}". A job file has neither addresses nor credentials.',
            )
        variables.append((key, found[1]))
    # All three or none: an address of one place never goes with a secret of another.
    if missing := [key for key in _SETTINGS if key not in given]:
        raise place.error(("service",), f"{missing[0]} is missing; give all of {', '.join(_SETTINGS)}.")
    return ServiceSettings(variables=tuple(variables))


def refuse_secrets(values: Mapping[str, Any], place: TomlText) -> None:
    """Refuse a job file with a secret in it; the message does not show it.

    Raises
    ------
    InputError
        When a key asks for a secret, or an address has credentials in it.
    """
    for keys, value in _leaves(values, ()):
        if isinstance(value, str) and _REFERENCE.fullmatch(value):
            continue
        named = next((key for key in reversed(keys) if isinstance(key, str)), "")
        if _SECRET_KEY.search(named) or (isinstance(value, str) and _SECRET_IN_ADDRESS.search(value)):
            raise place.error(
                keys,
                "a job file holds no secrets. Take the value out and change that secret, since others may have read "
                "it; keep the new one in the environment, in .env or in the keyring (docs: Settings).",
            )


def _leaves(value: Any, keys: Keys) -> Iterator[tuple[Keys, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*keys, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, (*keys, number))
    else:
        yield keys, value
