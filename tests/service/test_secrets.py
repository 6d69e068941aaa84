"""Law 7: no secret in a log, a repr, an error or anything that hangs on it."""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import logging
import pickle
import traceback
from urllib.parse import quote

import pandas as pd
import pytest
import requests
from exchange import CLIENT_ID, CLIENT_SECRET, HTML, Answer, says
from tests.cases import each_row

from prodex.errors import AuthenticationFailed, ProdexError, RequestRefused, SettingsError, UnexpectedReply
from prodex.service import Client, RetryPolicy, connect, pages
from prodex.service.secret import Secret
from prodex.service.settings import Settings

TOKEN_CANARY = "canary-token-signature"


def reachable(value, seen, depth=6):
    """Yield the text of everything that hangs on a value: attributes, items, causes and contexts."""
    if id(value) in seen or depth < 0:
        return
    seen.add(id(value))
    yield f"{value!r} {value!s}"
    inner = []
    if isinstance(value, dict):
        inner += [*value, *value.values()]
    elif isinstance(value, list | tuple | set):
        inner += value
    elif isinstance(value, BaseException):
        inner += [
            *value.args,
            value.__cause__,
            value.__context__,
            vars(value),
            *getattr(value, "__notes__", []),
        ]
    elif type(value).__module__.split(".")[0] in ("prodex", "requests", "urllib3", "http"):
        inner += [getattr(value, "__dict__", None)]
    for each in inner:
        yield from reachable(each, seen, depth - 1)


def echo(exchange):
    """Answer with everything that a service could echo: the secret, and any token."""
    return says(
        400, {"message": f"bad request: {CLIENT_SECRET} Bearer {next(iter(exchange.tokens), 'eyJa.eyJb.c')}"}
    )


SITUATIONS = {
    "refused": lambda exchange: exchange.answers.append(echo(exchange)),
    "server error": lambda exchange: exchange.answers.extend([echo(exchange)] * 10),
    "HTML": lambda exchange: exchange.answers.extend([Answer(502, HTML)] * 10),
    "dropped": lambda exchange: exchange.answers.extend([Answer(drop=True)] * 10),
    "slow": lambda exchange: exchange.answers.extend([Answer(hold=0.6)] * 10),
    "cut": lambda exchange: exchange.answers.extend([Answer(200, b"{}", cut=5)] * 10),
    "redirect": lambda exchange: exchange.answers.append(
        Answer(302, headers={"Location": "https://x.example.com/?a=b"})
    ),
    "bad redirect": lambda exchange: exchange.answers.append(
        Answer(307, headers={"Location": "http://a:b/"})
    ),
    "401 twice": lambda exchange: exchange.answers.extend(
        [says(401, f"token {token} invalid") for token in [*exchange.tokens] * 2]
    ),
    "token echoed as page": lambda exchange: exchange.answers.extend(
        [says(200, next(iter(exchange.tokens)))] * 10
    ),
    "secret echoed as text": lambda exchange: exchange.answers.extend(
        [Answer(200, f"{CLIENT_SECRET} {next(iter(exchange.tokens))}".encode())] * 10
    ),
    "wrong key": lambda exchange: renew_with(exchange, echo(exchange)),
    "token dropped": lambda exchange: renew_with(exchange, Answer(drop=True)),
    "token slow": lambda exchange: renew_with(exchange, Answer(hold=0.6)),
    "token HTML": lambda exchange: renew_with(exchange, Answer(200, HTML)),
    "token elsewhere": lambda exchange: renew_with(
        exchange, Answer(307, headers={"Location": "https://x.example.com"})
    ),
    "token cut": lambda exchange: renew_with(exchange, Answer(200, b'{"access_token": "eyJ', cut=9)),
    "token cut in the middle": lambda exchange: renew_with(
        exchange, Answer(200, b'{"access_token": "eyJhbGciOiJIUzI1NiJ9.e30.canary-token-signature')
    ),
    "secret as message": lambda exchange: renew_with(
        exchange, says(200, {"message": f"no: {CLIENT_SECRET}"})
    ),
    "token misnamed": lambda exchange: renew_with(
        exchange, says(200, {"token": "eyJhbGciOiJIUzI1NiJ9.e30.canary-token-signature"})
    ),
}


def renew_with(exchange, answer):
    """Let the next call need a token, and get this answer in its place."""
    exchange.tokens.clear()
    exchange.token_answers.extend([answer] * 10)


@pytest.mark.slow
@each_row("situation", SITUATIONS)
def test_no_secret_comes_out(make_client, exchange, caplog, situation):
    """Whatever fails, neither secret nor token is in the error, its attributes, its traceback or a log."""
    caplog.set_level(logging.DEBUG)
    client = make_client(timeout=0.3)
    client.search_products()
    SITUATIONS[situation](exchange)
    with pytest.raises(ProdexError) as caught:
        list(pages(client))
    shown = io.StringIO()
    traceback.print_exception(caught.value, file=shown)
    texts = [
        *reachable(caught.value, set()),
        shown.getvalue(),
        caplog.text,
        *(repr(vars(record)) for record in caplog.records),
        repr(client),
        repr(client.list_products),
        repr(vars(client)),
    ]
    assert [] == [text for text in texts if CLIENT_SECRET in text or TOKEN_CANARY in text]
    assert any("prodex" == record.name for record in caplog.records)
    assert any("urllib3" in record.name for record in caplog.records)


def test_the_search_for_secrets_finds_them(make_client, exchange):
    """The search above is no formality: it finds a secret three levels below an error."""
    error = ProdexError("harmless")
    error.__cause__ = ProdexError("harmless", {"request": [CLIENT_SECRET]})
    assert any(CLIENT_SECRET in text for text in reachable(error, set()))


def shown_with_variables(error):
    """Return the traceback as tools print it that show the variables of each frame, causes and contexts too.

    The frame of the test itself, which knows the secret, is left out.
    """
    kind, below = type(error), error.__traceback__.tb_next
    return "".join(traceback.TracebackException(kind, error, below, capture_locals=True).format())


ODD_TOKENS = {
    "CR and LF": f"{TOKEN_CANARY}\r\nX-Evil: 1",
    "LF at the end": f"{TOKEN_CANARY}\n",
    "letters beyond ASCII": f"{TOKEN_CANARY}éß漢",
    "a lone surrogate": f"{TOKEN_CANARY}\ud800",
    "blanks at both ends": f" {TOKEN_CANARY} ",
}


@each_row("token", ODD_TOKENS.values(), ids=ODD_TOKENS)
def test_a_token_that_cannot_be_sent_stands_in_no_traceback(make_client, exchange, caplog, token):
    """It is refused when it comes: no library shows the header that it would have made."""
    caplog.set_level(logging.DEBUG)
    client = make_client()
    exchange.token_answers.append(says(200, {"access_token": token}))
    with pytest.raises(AuthenticationFailed) as caught:
        client.search_products()
    texts = [*reachable(caught.value, set()), shown_with_variables(caught.value), caplog.text]
    assert [] == [text for text in texts if TOKEN_CANARY in text or CLIENT_SECRET in text]


@pytest.mark.slow
@each_row("situation", SITUATIONS)
def test_no_secret_is_in_the_variables_of_a_traceback(make_client, exchange, situation):
    """Tools that print the variables of every frame, ours and those of libraries, show no secret."""
    client = make_client(timeout=0.3)
    client.search_products()
    SITUATIONS[situation](exchange)
    with pytest.raises(ProdexError) as caught:
        list(pages(client))
    shown = shown_with_variables(caught.value)
    assert "search_products" in shown
    assert [] == [word for word in (CLIENT_SECRET, TOKEN_CANARY) if word in shown]


def test_no_secret_is_in_the_variables_when_nobody_answers(make_client):
    """Nor when the connection itself fails, where libraries hold the whole request."""
    settings = Settings("http://127.0.0.1:9", "key", CLIENT_SECRET)
    client = Client(settings, retry=RetryPolicy(attempts=1), timeout=1)
    with pytest.raises(ProdexError) as caught:
        client.search_products()
    shown = shown_with_variables(caught.value)
    assert "ConnectionError" in shown
    assert CLIENT_SECRET not in shown


def test_settings_that_are_refused_are_in_no_variables():
    """The secret is wrapped as soon as it comes in, so no frame of connect holds it as text."""
    with pytest.raises(SettingsError) as caught:
        connect("http://remote.example.com", client_id="key", client_secret=CLIENT_SECRET)
    frames = traceback.TracebackException.from_exception(caught.value, capture_locals=True).stack
    inside = [str(frame.locals) for frame in frames if "prodex" in frame.filename]
    assert inside
    assert [] == [text for text in inside if CLIENT_SECRET in text]


def showing(value):
    """Yield every way in which a value is commonly shown, stored or sent on."""
    yield f"{value}"
    yield f"{value!r} {[value]} {vars(value) if hasattr(value, '__dict__') else ''}"
    if dataclasses.is_dataclass(value):
        yield str(dataclasses.asdict(value))
        yield json.dumps(dataclasses.asdict(value), default=str)
        yield repr(copy.deepcopy(value))
    yield json.dumps(value, default=lambda each: getattr(each, "__dict__", str(each)), skipkeys=True)
    yield repr(pd.DataFrame({"value": [value]}))
    yield str(list(reachable(value, set())))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        try:
            yield str(pickle.dumps(value, protocol))
        except (SettingsError, TypeError, AttributeError) as error:
            yield str(error)


def test_settings_token_and_client_show_no_secret_in_any_way(make_client, exchange):
    """vars, asdict, repr, JSON, frames, copies and pickle of what holds a secret do not show it."""
    client = make_client()
    client.search_products()
    token = client._tokens.current()
    for value in (client._settings, token, client._tokens, client._transport, client, token.text):
        if value is client or value is client._tokens or value is client._transport:
            texts = [f"{value!r} {vars(value)}", *reachable(value, set())]
        else:
            texts = list(showing(value))
        assert [] == [text for text in texts if CLIENT_SECRET in text or TOKEN_CANARY in text]


@each_row("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_secret_is_not_pickled(protocol):
    """The error says why, and what to do instead."""
    settings = Settings("https://api.example.com", "key", CLIENT_SECRET)
    for value in (settings, settings.client_secret):
        with pytest.raises(SettingsError, match=r"cannot be pickled.*connect\("):
            pickle.dumps(value, protocol)
    with pytest.raises(SettingsError):
        settings.client_secret.__getstate__()


def test_a_secret_is_copied_and_compared_as_what_it_is():
    """Copies are the same object, equal texts are equal, and only `reveal` returns the text."""
    secret = Secret(CLIENT_SECRET)
    assert secret is copy.copy(secret) is copy.deepcopy(secret)
    assert Secret(secret) == secret
    assert hash(Secret(CLIENT_SECRET)) == hash(secret)
    assert secret != Secret("another")
    assert secret != CLIENT_SECRET
    assert (True, False) == (bool(secret), bool(Secret("")))
    assert ("***", "  ***", CLIENT_SECRET) == (f"{secret}", f"{secret:>5}", secret.reveal())
    settings = Settings("https://api.example.com", "key", CLIENT_SECRET)
    assert settings == copy.deepcopy(settings)
    assert dataclasses.replace(settings, client_id="other").client_secret == secret


def test_the_session_holds_no_token(exchange):
    """A session that was passed in is not changed: only single requests contain the token."""
    session = requests.Session()
    before = dict(session.headers)
    Client(Settings(exchange.base_url, CLIENT_ID, CLIENT_SECRET), session=session).search_products()
    assert before == dict(session.headers)
    assert session.auth is None


@each_row("spelling", [str, json.dumps, repr, lambda secret: quote(secret, safe="")])
def test_a_secret_is_hidden_however_the_service_spells_it(make_client, exchange, spelling):
    """A secret with quotes, backslashes or accents is not shown in another spelling either."""
    secret = 'cänary"s\\ecret 5f2b'
    client = Client(Settings(exchange.base_url, CLIENT_ID, secret))
    exchange.answers.append(says(400, {"message": f"bad {spelling(secret)} sent"}))
    exchange.answers.append(Answer(400, f"bad {spelling(secret)} sent".encode()))
    for _ in range(2):
        with pytest.raises(RequestRefused, match=r"bad .*\*\*\*.* sent") as caught:
            client.search_products()
        assert "ecret" not in str(caught.value)
        assert "5f2b" not in str(caught.value)


@each_row("cut", range(len(CLIENT_SECRET) - 1))
def test_a_secret_that_an_excerpt_cuts_is_hidden_too(make_client, exchange, cut):
    """An error shows how a strange reply begins; where that ends within the secret, its beginning does not show."""
    client = make_client(retry=RetryPolicy(attempts=1))
    exchange.answers.append(Answer(200, b"x" * (80 - len(CLIENT_SECRET) + cut) + CLIENT_SECRET.encode()))
    with pytest.raises(UnexpectedReply) as caught:
        client.organizations()
    assert CLIENT_SECRET[:4] not in str(caught.value)
