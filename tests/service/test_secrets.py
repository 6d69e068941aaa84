"""Law 7: no secret in a log, a repr, an error or anything that hangs on it."""

from __future__ import annotations

import io
import logging
import traceback

import pytest
from exchange import CLIENT_SECRET, HTML, Answer, says

from prodex.errors import ProdexError
from prodex.service import pages

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


@pytest.mark.parametrize("situation", SITUATIONS)
def test_no_secret_comes_out(make_client, exchange, caplog, situation):
    """Whatever goes wrong, neither secret nor token stands in the error, on it, in its traceback or in a log."""
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
