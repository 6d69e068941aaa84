"""Where settings come from, and what a base URL may look like."""

from __future__ import annotations

import json
import os
import sys
import types

import pytest
from tests.cases import each_row

from prodex.cli.words import error_in_words
from prodex.errors import SettingsError
from prodex.network.addresses import is_loopback
from prodex.service import connect
from prodex.service.settings import VARIABLES, checked_base_url, find_settings

FOUND = {"base_url": "https://{}.example.com", "client_id": "{}-id", "client_secret": "{}-secret"}


class KeyringError(Exception):
    """What the real package raises when no keyring can be used."""


@pytest.fixture(autouse=True)
def places(monkeypatch, tmp_path):
    """Empty places: no variables, no .env, and a keyring of our own."""
    for variable in (*VARIABLES.values(), "PRODEX_SERVICE"):
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


def values(settings):
    """Return the three settings as text."""
    return settings.base_url, settings.client_id, settings.client_secret.reveal()


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


@each_row("first", ORDER)
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
    assert FOUND["client_secret"].format(first) == settings.client_secret.reveal()


def test_each_setting_may_come_from_another_place(places):
    """The base URL may stand in .env and the secret in the keyring, where it is kept for that host."""
    (places.folder / ".env").write_text("PRODEX_BASE_URL=https://dotenv.example.com\n")
    places.keyring.entries = {("prodex@dotenv.example.com", "PRODEX_CLIENT_SECRET"): "keyring-secret"}
    settings = find_settings(client_id="argument-id")
    assert ("https://dotenv.example.com", "argument-id", "keyring-secret") == values(settings)


def test_a_dotenv_file_is_not_exported(places):
    """Reading .env leaves the environment of this process, and so of its children, alone."""
    put(places, "dotenv")
    find_settings()
    assert not set(VARIABLES.values()) & set(os.environ)


def test_a_secret_in_a_dotenv_file_is_taken_as_it_stands(places):
    """A secret with a dollar sign is no reference to a variable."""
    put(places, "dotenv")
    (places.folder / "notebooks" / ".env").write_text(
        "PRODEX_BASE_URL=https://a.example.com\nPRODEX_CLIENT_ID=x\nPRODEX_CLIENT_SECRET='a${HOME}#b'\n"
    )
    assert "a${HOME}#b" == find_settings().client_secret.reveal()


@each_row("name", VARIABLES)
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
    settings = find_settings(base_url="https://a.example.com", client_id="x", ask=lambda _: "asked")
    assert "asked" == settings.client_secret.reveal()


def test_who_sits_at_a_terminal_is_asked(monkeypatch):
    """At a terminal missing settings are asked for, the secret without showing it."""
    asked = []
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr(
        "builtins.input", lambda question: asked.append(question) or "https://typed.example.com"
    )
    monkeypatch.setattr("getpass.getpass", lambda question: asked.append(question) or "typed-secret")
    settings = find_settings(client_id="x")
    base_url = 'PRODEX_BASE_URL (without an account: connect("sandbox"), or --service sandbox): '
    assert [base_url, "PRODEX_CLIENT_SECRET for typed.example.com: "] == asked
    assert ("https://typed.example.com", "x", "typed-secret") == values(settings)


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


@each_row(
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


@each_row(
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
        ("https://api.example.com:port", "cannot be parsed"),
        ("https://[::1", "cannot be parsed"),
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


@each_row(
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


EVIL = "PRODEX_BASE_URL=https://evil.example.com\n"


@each_row("place", ["argument", "environment", "keyring"])
def test_an_address_in_a_file_that_came_along_gets_no_secret_of_ours(places, place):
    """A .env that holds only an address takes the secret of no other place with it."""
    (places.folder / ".env").write_text(EVIL)
    arguments = {}
    if place == "argument":
        arguments = {"client_id": "my-id", "client_secret": "my-secret"}
    elif place == "environment":
        places.environment("PRODEX_CLIENT_ID", "my-id")
        places.environment("PRODEX_CLIENT_SECRET", "my-secret")
    else:
        places.keyring.entries = {("prodex", "PRODEX_CLIENT_ID"): "my-id"}
        places.keyring.entries |= {("prodex", "PRODEX_CLIENT_SECRET"): "my-secret"}
    with pytest.raises(SettingsError) as caught:
        find_settings(**arguments, ask=lambda _: "typed")
    for word in (
        place,
        str(places.folder / ".env"),
        "evil.example.com",
        'connect("https://evil.example.com")',
    ):
        assert word in str(caught.value)
    assert "my-secret" not in str(caught.value)


def test_an_editor_that_loads_the_file_changes_nothing(places):
    """A base URL that came into the environment by loading .env still belongs to that file."""
    (places.folder / ".env").write_text(EVIL)
    places.environment("PRODEX_BASE_URL", "https://evil.example.com")
    places.keyring.entries = {("prodex", "PRODEX_CLIENT_ID"): "my-id"}
    places.keyring.entries |= {("prodex", "PRODEX_CLIENT_SECRET"): "my-secret"}
    with pytest.raises(SettingsError, match=r"keyring.*evil\.example\.com"):
        find_settings()


def test_a_file_with_an_address_alone_may_be_answered_by_whoever_sits_there(places, monkeypatch):
    """The question for a secret names the host that it goes to."""
    (places.folder / ".env").write_text(EVIL)
    asked = []
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or "typed-id")
    monkeypatch.setattr("getpass.getpass", lambda question: asked.append(question) or "typed-secret")
    assert "typed-secret" == find_settings().client_secret.reveal()
    assert [
        "PRODEX_CLIENT_ID for evil.example.com: ",
        "PRODEX_CLIENT_SECRET for evil.example.com: ",
    ] == asked


def test_a_complete_file_is_not_mixed_with_the_environment(places):
    """Credentials come from where the address is, before any other place is looked at."""
    put(places, "dotenv")
    places.environment("PRODEX_CLIENT_SECRET", "environment-secret")
    settings = find_settings()
    assert ("https://dotenv.example.com", "dotenv-id", "dotenv-secret") == values(settings)


@each_row(
    ("host", "goes"),
    [
        ("https://api.example.com", True),
        ("https://API.example.com/v1/", True),
        ("https://b.example.com", False),
    ],
)
def test_the_keyring_may_bind_a_secret_to_its_host(places, host, goes):
    """Entries for a host serve that host wherever its address is found, and no other."""
    (places.folder / ".env").write_text(f"PRODEX_BASE_URL={host}\n")
    places.keyring.entries = {
        ("prodex@api.example.com", "PRODEX_CLIENT_ID"): "my-id",
        ("prodex@api.example.com", "PRODEX_CLIENT_SECRET"): "my-secret",
    }
    if goes:
        settings = find_settings()
        assert ("my-id", "my-secret") == values(settings)[1:]
        assert "prodex@api.example.com" in settings.sources["client_secret"]
    else:
        with pytest.raises(SettingsError, match="client_id is not set"):
            find_settings(ask=lambda _: None)


@pytest.mark.parametrize("place", ["environment", "dotenv"])
def test_the_address_in_the_keyring_binds_its_secret(places, place):
    """The secret of a keyring with a base URL is not sent to a base URL of the environment or of a file."""
    put(places, "keyring")
    if place == "environment":
        places.environment("PRODEX_BASE_URL", "https://other.example.com")
    else:
        (places.folder / ".env").write_text("PRODEX_BASE_URL=https://other.example.com\n")
    with pytest.raises(SettingsError, match=r"keyring.*keyring\.example\.com.*other\.example\.com"):
        find_settings()


@each_row("address", ["argument", "environment", "dotenv", "keyring"])
def test_the_keyrings_own_address_is_served_from_wherever_it_comes(places, address):
    """Named in any place, the host that the keyring itself names gets the keyring's secret."""
    put(places, "keyring")
    url, arguments = "https://keyring.example.com", {}
    if address == "argument":
        arguments = {"base_url": url}
    elif address == "environment":
        places.environment("PRODEX_BASE_URL", url)
    elif address == "dotenv":
        (places.folder / ".env").write_text(f"PRODEX_BASE_URL={url}\n")
    assert (url, "keyring-id", "keyring-secret") == values(find_settings(**arguments))


@each_row("credentials", ["environment", "dotenv", "keyring"])
@each_row("address", ["argument", "prompt"])
def test_an_address_that_somebody_names_is_their_own_word(places, address, credentials):
    """A base URL that is given or typed may be used with credentials from any source."""
    put(places, credentials)
    if credentials == "environment":
        places.environment("PRODEX_BASE_URL", "")
    elif credentials == "keyring":
        del places.keyring.entries["prodex", "PRODEX_BASE_URL"]
    else:
        (places.folder / ".env").write_text(
            "PRODEX_CLIENT_ID=dotenv-id\nPRODEX_CLIENT_SECRET=dotenv-secret\n"
        )
    url = "https://mine.example.com"
    settings = find_settings(
        base_url=url if address == "argument" else None, ask=lambda name: url if name == "base_url" else None
    )
    assert (url, f"{credentials}-id", f"{credentials}-secret") == values(settings)


def test_an_address_in_the_environment_takes_a_secret_from_the_keyring(places):
    """An environment of one's own with the secret in the keyring, for no host in particular, goes on working."""
    places.environment("PRODEX_BASE_URL", "https://api.example.com")
    places.environment("PRODEX_CLIENT_ID", "my-id")
    places.keyring.entries = {("prodex", "PRODEX_CLIENT_SECRET"): "keyring-secret"}
    assert ("https://api.example.com", "my-id", "keyring-secret") == values(find_settings())


def test_where_each_setting_came_from_is_told(places, caplog, tmp_path):
    """connect says on the client and in the log which place each setting is from, and never the secret."""
    caplog.set_level("INFO", "prodex")
    put(places, "dotenv")
    client = connect("https://dotenv.example.com", client_id="an-argument")
    assert {
        "base_url": "an argument",
        "client_id": "an argument",
        "client_secret": str(places.folder / ".env"),
    } == client.settings_sources
    assert f"client_secret: {places.folder / '.env'}" in caplog.text
    assert "dotenv-secret" not in caplog.text


@each_row("text", [b"PRODEX_CLIENT_SECRET=canary\xff\n", b"\xff\xfeP\x00", b"P\0R\0"])
def test_a_file_that_is_no_text_is_refused_without_showing_it(places, text):
    """A .env in another encoding is an error that names the file and holds nothing of it."""
    (places.folder / ".env").write_bytes(text)
    with pytest.raises(SettingsError, match="UTF-8") as caught:
        find_settings()
    assert (None, None) == (caught.value.__cause__, caught.value.__context__)


@each_row("line", ['PRODEX_CLIENT_SECRET="canary', "PRODEX_CLIENT_SECRET: canary"])
def test_a_line_that_is_no_setting_is_named_where_one_is_missing(places, line):
    """Its owner has set it, and reads what is wrong with it; nothing of the line is shown."""
    path = places.folder / ".env"
    path.write_text(f"PRODEX_BASE_URL=https://api.example.com\nPRODEX_CLIENT_ID=key\n{line}\n")
    with pytest.raises(SettingsError, match="client_secret is not set") as caught:
        find_settings()
    assert (True, False) == (f"Line 3 of {path}" in str(caught.value), "canary" in str(caught.value))


@each_row(("name", "value"), [("client_id", 8141), ("client_secret", b"canary"), ("base_url", 8141)])
def test_a_setting_that_is_no_text_is_refused_without_showing_it(name, value):
    """Access keys of digits alone are written as numbers."""
    given = {name: text.format("given") for name, text in FOUND.items()} | {name: value}
    with pytest.raises(SettingsError, match=f"{name} must be text") as caught:
        find_settings(**given)
    assert not {"canary", "8141"} & set(str(caught.value).replace("'", " ").split())


def test_a_byte_order_mark_does_not_hide_the_first_setting(places):
    """A .env that an editor began with a BOM is read whole."""
    put(places, "dotenv")
    path = places.folder / ".env"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert ("https://dotenv.example.com", "dotenv-id", "dotenv-secret") == values(find_settings())


def test_the_search_ends_at_the_home_directory(places, monkeypatch):
    """A .env above the home directory is not read, since its owner did not put it there."""
    put(places, "dotenv")
    monkeypatch.setattr("pathlib.Path.home", lambda: places.folder / "notebooks")
    with pytest.raises(SettingsError, match="base_url is not set"):
        find_settings(ask=lambda _: None)
    monkeypatch.setattr("pathlib.Path.home", lambda: places.folder)
    assert "dotenv-secret" == find_settings().client_secret.reveal()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no owners of this kind")
def test_a_file_of_another_user_is_not_read(places, monkeypatch):
    """A .env of another user above the working directory is not read, and the error names it."""
    put(places, "dotenv")
    path = places.folder / ".env"
    if os.geteuid() == 0:
        os.chown(path, 12_345, -1)
    somebody_else = path.stat().st_uid + 1
    monkeypatch.setattr("os.geteuid", lambda: somebody_else)
    with pytest.raises(SettingsError, match=r"base_url is not set.*\.env belongs to another user"):
        find_settings(ask=lambda _: None)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permissions of this kind")
def test_a_file_that_everybody_may_write_is_warned_of(places, caplog):
    """A .env that any user could change is read, with a warning that says how to close it."""
    put(places, "dotenv")
    (places.folder / ".env").chmod(0o666)
    find_settings()
    assert f"chmod o-w {places.folder / '.env'}" in caplog.text


@each_row("token_version", [0, 3, "1", True, None, 1.0])
def test_a_token_version_is_one_or_two(token_version):
    """Another version than those of the specification is refused before anything is sent."""
    with pytest.raises(SettingsError, match=r"token_version is .*; give 2 .* or 1"):
        connect("https://api.example.com", client_id="x", client_secret="y", token_version=token_version)


def test_a_typed_address_asks_for_no_secret_that_is_at_hand(places):
    """After a base URL was typed, nothing is asked for that the environment has."""
    asked = []
    put(places, "environment")
    places.environment("PRODEX_BASE_URL", "")
    settings = find_settings(ask=lambda name: asked.append(name) or "https://typed.example.com")
    assert ("https://typed.example.com", "environment-id", "environment-secret") == values(settings)
    assert ["base_url"] == asked


def test_a_broken_file_that_is_not_needed_does_no_harm(places):
    """Where the arguments say everything, no .env is read."""
    (places.folder / ".env").write_bytes(b"\xff\xfe")
    settings = find_settings(base_url="https://a.example.com", client_id="x", client_secret="y")
    assert dict.fromkeys(VARIABLES, "an argument") == settings.sources


def test_the_environment_may_name_the_sandbox_for_connect_without_a_target(places, sample_exchange, home):
    """It is read before PRODEX_BASE_URL, and an argument before it."""
    put(places, "environment")
    facts = {
        "base_url": sample_exchange.base_url,
        "pid": os.getpid(),
        "credentials": sample_exchange.credentials,
    }
    (home / "sandbox").mkdir(parents=True)
    (home / "sandbox" / "server.json").write_text(json.dumps(facts, default=str), "utf-8")
    places.environment("PRODEX_SERVICE", " sandbox ")

    assert sample_exchange.base_url == connect().base_url
    assert "https://a.example.com" == connect("https://a.example.com").base_url
    assert "https://a.example.com" == connect(base_url="https://a.example.com").base_url
    places.environment("PRODEX_SERVICE", "")
    assert "https://environment.example.com" == connect().base_url


def test_an_address_in_prodex_service_gets_no_secret(places):
    """Only the sandbox may be named there: an address that came along in a file would pass as an argument."""
    put(places, "environment")
    places.environment("PRODEX_SERVICE", "https://elsewhere.example.com")
    with pytest.raises(SettingsError, match=r"may only be 'sandbox'.*--service") as raised:
        connect()
    assert "elsewhere" not in str(raised.value)


def test_what_is_missing_names_the_sandbox_for_python_and_for_commands(places):
    """Somebody who has no account reads in the message, and in the question, what to do instead."""
    with pytest.raises(SettingsError, match=r'connect\("sandbox"\).*PRODEX_SERVICE=sandbox') as missing:
        find_settings(ask=lambda _: None)
    assert "Without an account, --service sandbox starts" in error_in_words(missing.value)
