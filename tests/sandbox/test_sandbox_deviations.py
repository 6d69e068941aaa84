"""Codes and blanks as the specification says, and as services were seen to send them where a setting asks for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from small_exchange import SHOP, Caller
from tests.cases import each_row

from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.media.files import MEDIA
from prodex_sandbox.records.model import SharedProduct, View
from prodex_sandbox.records.upsert import SET_BY_EXCHANGE
from prodex_sandbox.sample import organizations, shared_products

PRODUCTS = list(shared_products(300))
RETAILER = organizations()[0]


def served(behaviour: Behaviour, **parameters: Any) -> list[dict[str, Any]]:
    """Return the sample as the principal retailer gets it."""
    with Sandbox(PRODUCTS, behaviour=behaviour) as sandbox:
        # The contract knows integer codes, and of blanks only null and [].
        caller = Caller(sandbox.base_url, RETAILER, keeps_contract=not behaviour.odd_blanks).log_in()
        with caller.session:
            reply = caller.search(limit=500, **parameters)
            # Files stand under the address of the sandbox, which is another one each time.
            return list(json.loads(reply.text.replace(f"{sandbox.base_url}/media", MEDIA))["data"])


@pytest.fixture(scope="module")
def plain() -> list[dict[str, Any]]:
    """Serve the sample as it is."""
    return served(Behaviour())


def codes(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every code with the name of what it stands in."""
    if isinstance(value, list):
        for item in value:
            yield from codes(item, name)
    elif isinstance(value, dict):
        if "code" in value:
            yield name, value["code"]
        for key, item in value.items():
            yield from codes(item, key)


@pytest.mark.slow
def test_by_default_every_code_is_a_string_and_every_blank_null_or_empty(plain: list[dict[str, Any]]) -> None:
    """Nothing deviates unless it is asked for; what is served is what the sample holds."""
    assert {"str"} == {type(code).__name__ for _, code in codes(plain)}
    blanks = {
        json.dumps(value) for record in plain for value in record.values() if not value and value is not False
    }
    assert {"null", "[]"} == blanks
    assert [product.record for product in PRODUCTS] == plain


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", [{}, {"filter_source_include": ["brand", "kind", "specializes", "lastRequest"]}]
)
def test_codes_of_brands_and_kinds_come_as_integers_by_setting(
    plain: list[dict[str, Any]], parameters: dict[str, Any]
) -> None:
    """Codes of digits are integers at every place, and no others; as text they are the same codes."""
    found = list(codes(served(Behaviour(integer_codes=True), **parameters)))
    assert {"brand", "kind", "isBrandedBy"} == {name for name, code in found if isinstance(code, int)}
    for name, code in found:
        digits = name in {"brand", "kind", "isBrandedBy"} and str(code).isdigit()
        assert digits == isinstance(code, int)
    if not parameters:
        assert [(name, code) for name, code in codes(plain)] == [(name, str(code)) for name, code in found]


def test_blanks_come_in_several_kinds_by_setting(plain: list[dict[str, Any]]) -> None:
    """Attributes without data are null, [], "" or {}; those that the exchange sets, and all others, stay."""
    odd = served(Behaviour(odd_blanks=True))
    kinds = set()
    for record, before in zip(odd, plain, strict=True):
        assert record.keys() == before.keys()
        for name, value in record.items():
            if before[name] in (None, []) and name not in SET_BY_EXCHANGE:
                kinds.add(json.dumps(value))
            else:
                assert before[name] == value
    assert {"null", "[]", '""', "{}"} == kinds


@pytest.mark.slow
def test_a_deviation_is_the_same_at_every_call() -> None:
    """The same product has the same blanks in every reply."""
    assert served(Behaviour(odd_blanks=True)) == served(Behaviour(odd_blanks=True))


def test_fields_that_are_asked_for_have_no_blanks_at_all(plain: list[dict[str, Any]]) -> None:
    """With filter_source_include attributes without data are absent, whatever the setting."""
    names = ["isLabeledBy", "allergens", "offerOnPack", "netContent"]
    for record in served(Behaviour(odd_blanks=True), filter_source_include=names):
        assert "" not in record.values()
        assert {} not in record.values()


@pytest.mark.slow
@each_row("code", ["007", "9" * 40, "4001a", "", "٤"])
def test_a_code_that_would_change_as_an_integer_stays_a_string(code: str) -> None:
    """Codes with leading zeros, very many digits or digits of other scripts stay text."""
    record = {"gtin": "1", "brand": {"code": code, "label": "x"}, "kind": None}
    products = [SharedProduct(record, 10, (View(SHOP.id),))]
    with Sandbox(
        products, organizations=[SHOP], labels={}, behaviour=Behaviour(integer_codes=True)
    ) as sandbox:
        caller = Caller(sandbox.base_url).log_in()
        with caller.session:
            assert [record] == caller.call("POST")["data"]
