"""Where settings come from, and what a base URL may look like."""

from __future__ import annotations

import sys
import types

import pytest

from prodex.errors import SettingsError
from prodex.service import connect
from prodex.service.settings import VARIABLES, checked_base_url, find_settings, is_loopback

FOUND = {"base_url": "https://{}.example.com", "client_id": "{}-id", "client_secret": "{}-secret"}


class KeyringError(Exception):
    """What the real package raises when no keyring can be used."""


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path):
    """Empty places: no variables, no .env, and a keyring of our own."""
    for variable in VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    below = tmp_path / "project" / "notebooks"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    keyring = types.ModuleType("keyring")
    keyring.__spec__ = types.SimpleNamespace(name="keyring")
    keyring.errors = types.SimpleNamespace(KeyringError=KeyringError)
    keyring.entries = {}
    keyring.get_password = lambda service, name: keyring.entries.get((service, name))
    monkeypatch.setitem(sys.modules, "keyring", keyring)
    return types.SimpleNamespace(environment=monkeypatch.setenv, folder=tmp_path / "project", keyring=keyring)


def put(places, place):
    """Put all three settings, marked with the name of the place, there."""
    values = {VARIABLES[name]: text.format(place) for name, text in FOUND.items()}
    if place == "environment":
        for name, value in values.items():
            places.environment(name, value)
    elif place == "dotenv":
        (places.folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    elif place == "keyring":
        places.keyring.entries = {("prodex", name): value for name, value in values.items()}


ORDER = ["argument", "environment", "dotenv", "keyring", "prompt"]


@pytest.mark.parametrize("first", ORDER)
def test_the_first_place_that_has_a_setting_wins(places, first):
    """A setting comes from the argument, the environment, .env, the keyring or the prompt, in this order."""
    filled = ORDER[ORDER.index(first) :]
    for place in filled:
        put(places, place)
    arguments = (
        {name: text.format("argument") for name, text in FOUND.items()} if "argument" in filled else {}
    )
    settings = find_settings(**arguments, ask=lambda name: FOUND[name].format("prompt"))
    assert FOUND["base_url"].format(first) == settings.base_url
    assert FOUND["client_id"].format(first) == settings.client_id
    assert FOUND["client_secret"].format(first) == settings.client_secret


def test_each_setting_may_come_from_another_place(places):
    """The base URL may stand in .env and the secret in the keyring."""
    (places.folder / ".env").write_text("PRODEX_BASE_URL=https://dotenv.example.com\n")
    places.keyring.entries = {("prodex", "PRODEX_CLIENT_SECRET"): "keyring-secret"}
    settings = find_settings(client_id="argument-id")
    assert ("https://dotenv.example.com", "argument-id", "keyring-secret") == (
        settings.base_url,
        settings.client_id,
        settings.client_secret,
    )


def test_a_dotenv_file_is_not_exported(places):
    """Reading .env leaves the environment of this process, and so of its children, alone."""
    import os

    put(places, "dotenv")
    find_settings()
    assert not set(VARIABLES.values()) & set(os.environ)


def test_a_secret_in_a_dotenv_file_is_taken_as_it_stands(places):
    """A secret with a dollar sign is no reference to a variable."""
    put(places, "dotenv")
    (places.folder / "notebooks" / ".env").write_text(
        "PRODEX_BASE_URL=https://a.example.com\nPRODEX_CLIENT_ID=x\nPRODEX_CLIENT_SECRET='a${HOME}#b'\n"
    )
    assert "a${HOME}#b" == find_settings().client_secret


@pytest.mark.parametrize("name", VARIABLES)
def test_a_missing_setting_names_every_way_to_give_it(places, name, monkeypatch):
    """A setting that is nowhere is an error that names all the ways to give it."""
    monkeypatch.setattr(sys, "stdin", None)
    given = {key: text.format("argument") for key, text in FOUND.items() if key != name}
    with pytest.raises(SettingsError) as caught:
        find_settings(**given)
    for way in (f"connect({name}=", VARIABLES[name], ".env", "keyring set prodex", 'connect("sandbox")'):
        assert way in str(caught.value)
    assert "argument-secret" not in str(caught.value)


def test_a_locked_keyring_is_passed_over(places):
    """A keyring that cannot be used is like one without the entry."""

    def locked(*_):
        raise KeyringError("no backend")

    places.keyring.get_password = locked
    assert (
        "asked"
        == find_settings(base_url="https://a.example.com", client_id="x", ask=lambda _: "asked").client_secret
    )


def test_who_sits_at_a_terminal_is_asked(monkeypatch):
    """At a terminal missing settings are asked for, the secret without showing it."""
    asked = []
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(
        "builtins.input", lambda question: asked.append(question) or "https://typed.example.com"
    )
    monkeypatch.setattr("getpass.getpass", lambda question: asked.append(question) or "typed-secret")
    settings = find_settings(client_id="x")
    assert ["PRODEX_BASE_URL: ", "PRODEX_CLIENT_SECRET: "] == asked
    assert ("https://typed.example.com", "typed-secret") == (settings.base_url, settings.client_secret)


@pytest.mark.parametrize("refusal", [EOFError, NotImplementedError])
def test_a_notebook_that_a_program_runs_is_not_asked(monkeypatch, refusal):
    """Where a question cannot be answered, the setting is missing."""

    def unanswered(_):
        raise refusal

    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", unanswered)
    with pytest.raises(SettingsError, match="base_url is not set"):
        find_settings(client_id="x", client_secret="y")


def test_the_secret_is_not_in_the_repr(places):
    """Neither credentials nor anything like them are in the repr of settings."""
    settings = find_settings(base_url="https://a.example.com", client_id="my-id", client_secret="my-secret")
    assert "Settings(base_url='https://a.example.com')" == repr(settings)


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://api.example.com", "https://api.example.com"),
        (" https://API.example.com/ ", "https://api.example.com"),
        ("https://example.com/exchange/", "https://example.com/exchange"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://localhost:8000/", "http://localhost:8000"),
        ("https://[::1]:8443", "https://[::1]:8443"),
        ("http://127.1.2.3", "http://127.1.2.3"),
    ],
)
def test_https_without_a_port_and_loopback_are_taken(url, plain):
    """HTTPS without a port is taken, and on loopback anything."""
    assert plain == checked_base_url(url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://api.example.com:443", "explicit port. Use https://api.example.com"),
        ("https://api.example.com:8443", "explicit port"),
        ("https://api.example.com:", "explicit port"),
        ("http://api.example.com", "in the clear. Use https://api.example.com"),
        ("http://localhost.example.com:80", "in the clear"),
        ("https://0.0.0.0:8000", "explicit port"),
        ("api.example.com", "must look like"),
        ("ftp://api.example.com", "must look like"),
        ("https://", "must look like"),
        ("https://api.exa mple.com", "must look like"),
        ("https://api.example.com\\@evil.example.com", "must look like"),
        ("https://api.example.com:port", "cannot be read"),
        ("https://[::1", "cannot be read"),
        ("https://user:canary@api.example.com", "more than scheme"),
        ("https://user@api.example.com", "more than scheme"),
        ("https://api.example.com?client_secret=canary", "more than scheme"),
        ("https://api.example.com#canary", "more than scheme"),
    ],
)
def test_other_base_urls_are_refused_without_echoing_secrets(url, words):
    """Any other base URL is refused; what may be a secret in it does not show."""
    with pytest.raises(SettingsError, match=words) as caught:
        checked_base_url(url)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("url", "local"),
    [("http://127.0.0.1:1", True), ("http://localhost", True), ("https://localhost.example.com", False)],
)
def test_loopback_is_this_machine_alone(url, local):
    """A host is on this machine by its address or the name localhost, not by how its name begins."""
    assert local == is_loopback(url)


def test_a_target_may_be_a_base_url():
    """connect takes the base URL as its first argument, but not twice."""
    client = connect("https://api.example.com", client_id="a-long-key", client_secret="secret")
    assert "https://api.example.com" == client.base_url
    with pytest.raises(SettingsError, match="Give one of them"):
        connect("https://api.example.com", base_url="https://api.example.com")


def test_connect_says_hello_to_nobody(monkeypatch):
    """connect sends nothing: a wrong key shows with the first call."""
    import socket

    def refuse(*_, **__):
        raise AssertionError("connect opened a connection")

    monkeypatch.setattr(socket, "create_connection", refuse)
    connect("https://api.example.com", client_id="a-long-key", client_secret="secret")
