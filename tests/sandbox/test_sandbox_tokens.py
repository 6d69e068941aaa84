"""Access tokens: how they are had, what they open, and when they end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jwt
import pytest
import requests
from small_exchange import MARKET, SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.api.authentication import Tokens
from prodex_sandbox.refusals import Refusal

CallerOf = Callable[..., Caller]
CREDENTIALS = {"client_id": "shop", "client_secret": "shop-secret", "grant_type": "client_credentials"}


def refused(reply: requests.Response) -> tuple[int, str]:
    assert "WWW-Authenticate" in reply.headers if reply.status_code == 401 else True
    return reply.status_code, reply.json()["error"]


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_client_credentials_get_a_token_that_opens_the_list(sandbox: Sandbox, version: str) -> None:
    """Both versions give a JWT for client credentials, and it opens the product list."""
    reply = requests.post(f"{sandbox.base_url}/auth/{version}/token", json=CREDENTIALS)
    assert 200 == reply.status_code
    assert {"access_token", "token_type"} == reply.json().keys()
    assert "JWT" == reply.json()["token_type"]
    headers = {"Authorization": f"Bearer {reply.json()['access_token']}"}
    assert 200 == requests.get(f"{sandbox.base_url}/public/v1/products", headers=headers).status_code


def test_a_token_lasts_two_hours(shop: Caller) -> None:
    """The token's own end is two hours after it was issued."""
    claims = jwt.decode(shop.token().json()["access_token"], options={"verify_signature": False})
    assert 7_200 == pytest.approx(claims["exp"] - claims["iat"], abs=1)


@each_row(
    ("changes", "refusal"),
    [
        ({"client_secret": "wrong"}, (401, "authentication_failed")),
        ({"client_secret": "shop-secret "}, (401, "authentication_failed")),
        ({"client_secret": "\u00e9\u0000"}, (401, "authentication_failed")),
        ({"client_secret": "market-secret"}, (401, "authentication_failed")),
        ({"client_id": "nobody"}, (401, "authentication_failed")),
        ({"grant_type": "password"}, (400, "invalid_value")),
        ({"grant_type": None}, (400, "invalid_value")),
        ({"client_id": 5}, (400, "invalid_value")),
        ({"client_secret": ["shop-secret"]}, (400, "invalid_value")),
    ],
)
def test_wrong_credentials_get_no_token(
    shop: Caller, changes: dict[str, Any], refusal: tuple[int, str]
) -> None:
    """Credentials that are not right are refused; the message does not repeat the secret."""
    reply = shop.token(**changes)
    assert refusal == refused(reply)
    if refusal[0] == 401:
        assert "could not be authenticated" in reply.json()["message"]
        assert changes.get("client_secret", "shop-secret") not in reply.text


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_credentials_as_a_form_are_refused(sandbox: Sandbox, version: str) -> None:
    """Credentials sent as a form are refused, and the message asks for JSON."""
    reply = requests.post(f"{sandbox.base_url}/auth/{version}/token", data=CREDENTIALS)
    assert (415, "unsupported_media_type") == refused(reply)
    assert "send the body as application/json" in reply.json()["message"]


@each_row(
    ("header", "code"),
    [
        (None, "token_missing"),
        ("", "token_missing"),
        ("Bearer", "token_missing"),
        ("Basic c2hvcDpzaG9wLXNlY3JldA==", "token_missing"),
        ("Bearer nonsense", "token_invalid"),
        ("Bearer a.b.c", "token_invalid"),
    ],
)
def test_a_call_without_a_token_of_the_sandbox_is_refused(
    sandbox: Sandbox, header: str | None, code: str
) -> None:
    """Both product lists are closed to a call without a token, and to one with another's."""
    headers = {} if header is None else {"Authorization": header}
    for method, path in (("GET", "products"), ("POST", "products/list")):
        reply = requests.request(method, f"{sandbox.base_url}/public/v1/{path}", headers=headers)
        assert (401, code) == refused(reply)


@each_row(
    ("claims", "key"),
    [
        ({"sub": "1", "exp": 2**40}, "k" * 64),
        ({"sub": "1"}, None),
        ({"exp": 2**40}, None),
        ({"sub": "999", "exp": 2**40}, None),
    ],
)
def test_a_forged_token_is_refused(claims: dict[str, Any], key: str | None) -> None:
    """A token that another key signed, or that lacks an end or a known holder, is refused."""
    ours = "o" * 64
    with pytest.raises(Refusal, match="not issued here"):
        Tokens([SHOP], ours, 60).check(jwt.encode(claims, key or ours, "HS256"))


def test_an_unsigned_token_is_refused(shop: Caller) -> None:
    """A token with the algorithm `none` is refused."""
    token = jwt.encode({"sub": "1", "exp": 2**40}, "", "none")
    reply = requests.get(f"{shop.base_url}/public/v1/products", headers={"Authorization": f"Bearer {token}"})
    assert (401, "token_invalid") == refused(reply)


@pytest.mark.slow
def test_an_expired_token_is_refused_and_a_new_one_opens_again(caller_of: CallerOf) -> None:
    """A token that has passed its lifetime yields 401; authenticating again opens the list."""
    with Sandbox(
        [{"gtin": "1"}], organizations=[SHOP, MARKET], labels={}, behaviour=Behaviour(token_lifetime=1)
    ) as sandbox:
        caller = caller_of(SHOP, sandbox)
        assert ["1"] == caller.gtins()
        time.sleep(2.05)
        assert (401, "token_expired") == refused(caller.get())
        assert (401, "token_expired") == refused(caller.search())
        assert ["1"] == caller.log_in().gtins()


def test_the_key_of_the_tokens_type_can_be_set(caller_of: CallerOf) -> None:
    """With token_type_key=type the token comes as one quick-start example shows it."""
    with Sandbox([], organizations=[SHOP], labels={}, behaviour=Behaviour(token_type_key="type")) as sandbox:
        reply = caller_of(SHOP, sandbox).token().json()
        assert ({"access_token", "type"}, "JWT") == (reply.keys(), reply["type"])
