"""What a write sends beside the leaf that is meant: equal tokens in their order, or nothing, with the product named."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from recorded import Recorded, tokens
from tests import wire

import prodex
from prodex import operations as do
from prodex.errors import ChangesRefused, InputError, PreflightFailed

GTIN, OTHER = "03036811359935", "08784900123459"
MEANT = "Pain  complet, le vrai"

#: Numbers and texts that Python's reader and writer make others of.
SPELLED = (
    *(
        "0.1234567890123456789012345",
        "12345678901234567890.5",
        "1e-400",
        "1e400",
        "-1E400",
        "12.50",
        "1E5",
        "-0",
    ),
    *("0.10e1", "9" * 500, r'"\ud800x"', r'"a\udfff b"', r'"\u00e9\/"'),
)
#: What cannot be written back: a key that is there twice, and numbers that JSON does not have.
REFUSED = ('{"a": 1, "a": 2.50}', '{"a": {"b": 1, "c": 2, "b": 1}}', "NaN", "-Infinity")


def name(*beside: str, meant: str = MEANT) -> str:
    """Return a French and a German name, with members beside the French text."""
    more = "".join(f', "beside{number}": {one}' for number, one in enumerate(beside))
    german = '{"expressedIn": {"code": "deu-DE"}, "data": "Brot\\ud800x "}'
    return f'[{{"expressedIn": {{"code": "fra-FR"}}, "data": "{meant}"{more}}}, {german}]'


def product(number: int, gtin: str, names: str, more: str = "") -> str:
    """Return a product as it is served."""
    stamp = '"updatedAt": "2026-11-20T08:00:00"'
    return f'{{"id": {number}, "gtin": "{gtin}", {stamp}, "namePublicLong": {names}{more}}}'


def trimmed(service: prodex.service.Client, **chosen: Any) -> prodex.worklists.Fix:
    """Trim the French names of all products."""
    catalog = prodex.load_products(service, max_age=0, progress=False).where(**chosen)
    return prodex.correct(catalog, "namePublicLong", do.TrimSpaces(), language="fr")


def test_what_is_beside_a_text_is_sent_as_it_was_written_and_so_is_its_undo() -> None:
    """Numbers of any length, exponents, halves of characters: a correction of one text changes that text."""
    before = name(*SPELLED)
    exchange = Recorded([product(1, GTIN, before, ', "netContent": [{"data": 1e400}]')])
    tracking = trimmed(exchange.service).apply(exchange.service, progress=False).wait(progress=False)
    after = before.replace(MEANT, "Pain complet, le vrai")
    assert [tokens(f'{{"gtin": "{GTIN}", "namePublicLong": {after}}}')] == [
        tokens(f'{{"gtin": {one["gtin"]}, "namePublicLong": {one["namePublicLong"]}}}')
        for one in exchange.sent
    ]
    assert {"gtin", "namePublicLong"} == set(exchange.sent[0])
    prodex.undo(tracking).apply(exchange.service, progress=False).wait(progress=False)
    assert tokens(before) == tokens(exchange.sent[1]["namePublicLong"])


@pytest.mark.slow
def test_a_product_that_cannot_be_written_back_is_refused_by_its_name_and_the_others_are_sent() -> None:
    """No payload holds what is no JSON, and of a key that is there twice no value is chosen."""
    for odd in REFUSED:
        exchange = Recorded([product(1, GTIN, name(odd)), product(2, OTHER, name("12.50"))])
        fix = trimmed(exchange.service)
        assert [(GTIN, True)] == [
            (row["gtin"], "namePublicLong[0].beside0" in row["reason"])
            for row in fix.refused.to_dict("records")
        ]
        fix.apply(exchange.service, progress=False)
        assert [f'"{OTHER}"'] == [one["gtin"] for one in exchange.sent]
        json.loads(exchange.posted[0], parse_constant=pytest.fail)


def test_an_attribute_that_a_product_has_twice_is_refused() -> None:
    """Nobody knows which of both the service keeps; another attribute of the product is corrected."""
    twice = f', "namePublicLong": {name()}, "nameLegal": [{{"expressedIn": {{"code": "fra-FR"}}, "data": "A  b"}}]'
    exchange = Recorded([product(1, GTIN, name(), twice)])
    assert "has the key 'namePublicLong' twice" in trimmed(exchange.service).refused["reason"][0]
    catalog = prodex.load_products(exchange.service, max_age=0, progress=False)
    prodex.correct(catalog, "nameLegal", do.TrimSpaces()).apply(exchange.service, progress=False)
    assert [{"gtin", "nameLegal"}] == [set(one) for one in exchange.sent]


@pytest.mark.slow
@pytest.mark.parametrize("odd", [*SPELLED[:4], r'"\ud800x"', *REFUSED])
def test_xml_refuses_a_product_with_such_a_value_by_its_name(odd: str) -> None:
    """It has no numbers and no halves of characters; also within what XML leaves out of a language."""
    language = f'{{"code": "fra-FR", "label": {odd}}}'
    for names in (name(odd), f'[{{"expressedIn": {language}, "data": "{MEANT}"}}]'):
        exchange = Recorded([product(1, GTIN, names)])
        catalog = prodex.load_products(exchange.service, max_age=0, progress=False)
        texts = catalog.texts.query("language == 'fr'").assign(text="Pain")
        with pytest.raises((PreflightFailed, ChangesRefused), match=GTIN):
            prodex.upsert(exchange.service, catalog.changes_from(texts), format="xml")
        assert [] == exchange.posted


def test_a_frame_that_leaves_half_a_character_as_it_is_shown_leaves_the_text() -> None:
    """Tables show it as the letters of its escape, which nobody has typed; beside a change they are refused."""
    exchange = Recorded([product(1, GTIN, name())])
    catalog = prodex.load_products(exchange.service, max_age=0, progress=False)
    texts = catalog.texts
    is_french = texts["language"] == "fr"
    french = texts.assign(text=texts["text"].where(~is_french, "Pain"))
    prodex.upsert(exchange.service, catalog.changes_from(french), progress=False)
    assert tokens(name(meant="Pain")) == tokens(exchange.sent[0]["namePublicLong"])
    for changed in (texts["text"].str.strip(), texts["text"].str.upper()):
        with pytest.raises(ChangesRefused, match=rf"GTIN {GTIN}.*half of a character \(U\+D800\)"):
            catalog.changes_from(texts.assign(text=changed))
    fix = prodex.correct(catalog, "namePublicLong", do.TrimSpaces(), language="de")
    assert ["refused"] == fix.answers["state"].tolist()
    whole = prodex.correct(catalog, "namePublicLong", "Brot", language="de")
    assert {"accepted": 1} == dict(whole.counts)


def test_a_catalogue_and_a_file_are_sent_as_they_were_written(tmp_path: Any) -> None:
    """All of it is meant; a key that is there twice is refused with the product."""
    served = product(1, GTIN, name(*SPELLED), ', "netContent": [{"data": 12.50}], "abv": 1e400')
    exchange = Recorded([served])
    prodex.upsert(exchange.service, prodex.load_products(exchange.service, progress=False), progress=False)
    path = tmp_path / "products.json"
    path.write_text(f"[{served}]")
    prodex.upsert(exchange.service, path, progress=False)
    for sent in exchange.sent:
        assert tokens(name(*SPELLED)) == tokens(sent["namePublicLong"])
        assert ["1e400", tokens('[{"data": 12.50}]')] == [sent["abv"], tokens(sent["netContent"])]
    path.write_text(f"[{product(1, GTIN, name(REFUSED[0]))}]")
    with pytest.raises(InputError, match=rf"GTIN {GTIN}.*namePublicLong\[0\]\.beside0 has the key 'a' twice"):
        prodex.upsert(exchange.service, path)


def test_an_undo_restores_the_spelling_of_a_number_that_was_written_over() -> None:
    """An upsert of one's own record replaces it, and what was before is kept letter by letter."""
    before = '[{"data": 0.1234567890123456789012345, "expressedIn": {"code": "KGM"}}]'
    exchange = Recorded([product(1, GTIN, name(), f', "netWeight": {before}')])
    new = [{"data": 0.12345678901234568, "expressedIn": {"code": "KGM"}}]
    names = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    record = {"gtin": GTIN, "netWeight": new, "namePublicLong": names}
    tracking = prodex.upsert(exchange.service, [record], progress=False).wait(progress=False)
    prodex.undo(tracking).apply(exchange.service, progress=False).wait(progress=False)
    assert tokens(before) == tokens(exchange.sent[1]["netWeight"])
    assert tokens(name()) == tokens(exchange.sent[1]["namePublicLong"])


def test_an_undo_names_what_it_cannot_write_as_it_was() -> None:
    """A key that was there twice comes back for nobody."""
    exchange = Recorded([product(1, GTIN, name(), f', "packaging": [{REFUSED[0]}]')])
    record = {
        "gtin": GTIN,
        "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}],
        "packaging": [],
    }
    record["packaging"] = [{"a": 7}]
    tracking = prodex.upsert(exchange.service, [record], progress=False).wait(progress=False)
    fix = prodex.undo(tracking)
    assert [("packaging", True)] == [
        (row["attribute"], "packaging[0] has the key 'a' twice" in row["reason"])
        for row in fix.refused.to_dict("records")
    ]


#: Where a value may be planted: in place of any leaf of a product of any shape.
_PLANTED = st.sampled_from([*SPELLED, *REFUSED]).map(lambda one: f"@@{[*SPELLED, *REFUSED].index(one)}@@")
_LEAVES = st.one_of(wire.scalars, _PLANTED)
_ANY = st.recursive(
    _LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=3), wire.objects(inner)), max_leaves=8
)
_BESIDE = st.fixed_dictionaries(
    {}, optional={"sort": _ANY, "label": _ANY, "x": _ANY, "quantity": _ANY, "code": _ANY}
)
_NAMES = st.tuples(_BESIDE, _BESIDE, st.lists(st.one_of(wire.localized, _ANY), max_size=3), st.integers(0, 3))


def planted(value: Any) -> str:
    """Write a value with what is planted in it."""
    return re.sub(r'"@@(\d+)@@"', lambda one: [*SPELLED, *REFUSED][int(one[1])], json.dumps(value))


#: All of what is planted, beside the text, in its language, beside its item and elsewhere.
_EACH = [f"@@{number}@@" for number in range(len(SPELLED))]


@pytest.mark.slow
@example(names=({}, {"x": _EACH}, [{"data": "Brood", "x": _EACH}], 1), others={"planted": _EACH})
@example(names=({"sort": _EACH}, {"sort": "@@0@@"}, [], 0), others={"planted": f"@@{len(SPELLED)}@@"})
@example(names=({}, {"x": f"@@{len(SPELLED)}@@"}, [], 0), others={})
@given(names=_NAMES, others=st.fixed_dictionaries({}, optional={**wire.attributes, "planted": _ANY}))
def test_one_text_is_corrected_and_no_other_token_changes(names: Any, others: dict[str, Any]) -> None:
    """For products of every shape: what is posted is what was served but for the text, or the product is named."""
    language, item, beside, place = names
    meant = item | {"expressedIn": {"code": "fra-FR"} | {k: v for k, v in language.items() if k != "code"}}
    items = [*beside[:place], meant | {"data": MEANT}, *beside[place:]]
    rest = {
        name: value for name, value in others.items() if name not in {"gtin", "updatedAt", "namePublicLong"}
    }
    before = planted(items)
    exchange = Recorded([product(1, GTIN, before, f", {planted(rest)[1:-1]}" if rest else "")])
    catalog = prodex.load_products(exchange.service, max_age=0, progress=False)
    fix = prodex.correct_from(
        [prodex.TextCorrection("1", "namePublicLong", None, "Pain complet", MEANT, language_code="fra-FR")],
        catalog,
    )
    assert 1 == len(fix.answers)
    if not fix.counts["accepted"]:
        assert [GTIN] == fix.answers["gtin"].tolist()
        assert fix.answers["reason"][0]
        return
    tracking = fix.apply(exchange.service, progress=False).wait(progress=False)
    after = [one.replace(MEANT, "Pain complet") for one in tokens(before)]
    assert [after] == [tokens(one["namePublicLong"]) for one in exchange.sent]
    assert {"gtin", "namePublicLong"} == set(exchange.sent[0])
    undo = prodex.undo(tracking)
    assert {"accepted": 1} == dict(undo.counts)
    undo.apply(exchange.service, progress=False).wait(progress=False)
    assert tokens(before) == tokens(exchange.sent[1]["namePublicLong"])
