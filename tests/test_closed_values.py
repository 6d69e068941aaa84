"""A misspelt name of a closed list is an error with the nearest wherever it is given, never an empty answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import prodex
from prodex import charts
from prodex.cli import app
from prodex.errors import ProdexError
from prodex.store.reading import flatten
from tests.cases import each_row

RECORDS = [
    {
        "id": number,
        "gtin": "03036811359935",
        "brand": {"code": "ACME", "label": "Acme"},
        "owner": {"id": 4, "name": "The Mill"},
        "hasTags": [{"code": "new"}],
        "namePublicLong": [{"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": "Riz"}],
    }
    for number in (7, 8)
]
CATALOG = flatten(RECORDS)
AUDIT = prodex.audit(
    CATALOG,
    {
        "market": 250,
        "checks": {"valid_gtin": {}, "required_text": {"attribute": "composition", "language": ["fr", "nl"]}},
    },
)
CHANGED = prodex.diff(flatten(RECORDS[:1]), flatten([RECORDS[0] | {"lifeCycle": 2}]))

#: A service that nobody asks: what is misspelt is refused before.
NOWHERE = prodex.connect(base_url="http://127.0.0.1:9", client_id="me", client_secret="x")

Call = Callable[[Any, Path], Any]

#: What is called, the misspelt name, the nearest one that the message has to say.
CASES: list[tuple[str, Call, str, str]] = [
    ("where(column)", lambda word, _: CATALOG.where(**{word: 1}), "brandcode", "brand_code"),
    ("where(unmatched)", lambda word, _: CATALOG.where(unmatched=word), "wran", "warn"),
    ("where(sharing_status)", lambda word, _: CATALOG.where(sharing_status=word), "DRAFFT", "DRAFT"),
    ("where(validation_status)", lambda word, _: CATALOG.where(validation_status=word), "NOTOK", "NOT_OK"),
    ("where(product_status)", lambda word, _: CATALOG.where(product_status=word), "REFUSD", "REFUSED"),
    ("where(target_market)", lambda word, _: CATALOG.where(target_market=word), "Belgum", "Belgium"),
    ("where(packaging_code)", lambda word, _: CATALOG.where(packaging_code=word), "PALET", "PALLET"),
    ("where(packaging)", lambda word, _: CATALOG.where(packaging=word), "PALET", "PALLET"),
    ("arrow(table)", lambda word, _: CATALOG.arrow(word), "textes", "texts"),
    ("arrow(columns)", lambda word, _: CATALOG.arrow("texts", [word]), "langage", "language"),
    ("batches(table)", lambda word, _: list(CATALOG.batches(word)), "textes", "texts"),
    ("batches(columns)", lambda word, _: list(CATALOG.batches("texts", [word])), "langage", "language"),
    ("row_count(table)", lambda word, _: CATALOG.row_count(word), "textes", "texts"),
    ("files(table)", lambda word, _: CATALOG.files(word), "textes", "texts"),
    ("export(format)", lambda word, tmp: CATALOG.export(tmp / "out", word), "parqet", "parquet"),
    ("query(field)", lambda word, _: prodex.ProductQuery(**{word: 1}), "target_markt", "target_market"),
    ("query market", lambda word, _: prodex.ProductQuery(target_market=word), "Belgum", "Belgium"),
    ("query language", lambda word, _: prodex.ProductQuery(product_languages=word), "Frnch", "French"),
    ("query validation", lambda word, _: prodex.ProductQuery(validation_status_in=word), "NOTOK", "NOT_OK"),
    ("query product", lambda word, _: prodex.ProductQuery(target_productstatus_in=word), "REFUSD", "REFUSED"),
    ("query sharing", lambda word, _: prodex.ProductQuery(status_shared_with=word), "ACEPTED", "ACCEPTED"),
    ("query search", lambda word, _: prodex.ProductQuery(search=[("rice", [word])]), "brand.labl", "brand.label"),
    ("failures(column)", lambda word, _: AUDIT.failures(**{word: "x"}), "severty", "severity"),
    ("failures(severity)", lambda word, _: AUDIT.failures(severity=word), "bloker", "blocker"),
    ("failures(severities)", lambda word, _: AUDIT.failures(severity=["error", word]), "bloker", "blocker"),
    ("failures(check)", lambda word, _: AUDIT.failures(check=word), "valid_gtn", "valid_gtin"),
    ("failures(rule)", lambda word, _: AUDIT.failures(rule=word), "requird_text", "required_text"),
    ("failures(block)", lambda word, _: AUDIT.failures(block=word), "identiti", "identity"),
    ("failures(attribute)", lambda word, _: AUDIT.failures(attribute=word), "compositon", "composition"),
    ("failures(language)", lambda word, _: AUDIT.failures(language=word), "Frnch", "French"),
    ("failures(market)", lambda word, _: AUDIT.failures(market=word), "Belgum", "Belgium"),
    ("failure_batches", lambda word, _: list(AUDIT.failure_batches(severity=word)), "bloker", "blocker"),
    ("worklists(severity)", lambda word, tmp: AUDIT.worklists(tmp / "w", severity=word), "bloker", "blocker"),
    ("worklists(by)", lambda word, tmp: AUDIT.worklists(tmp / "w", word), "ownr", "owner"),
    ("scores(by)", lambda word, _: AUDIT.scores(word), "ownr", "owner"),
    ("scores(by language)", lambda word, _: AUDIT.scores(word), "langage", "language"),
    ("scores(block)", lambda word, _: AUDIT.scores(block=word), "identiti", "identity"),
    ("scores(language, block)", lambda word, _: AUDIT.scores("language", block=word), "txts", "texts"),
    ("coverage(by)", lambda word, _: AUDIT.coverage(word), "ownr", "owner"),
    ("groups(by)", lambda word, _: AUDIT.groups(word), "ownr", "owner"),
    ("gaps(by)", lambda word, _: AUDIT.gaps(word), "chek", "check"),
    ("counts(by)", lambda word, _: CHANGED.counts(word), "ownr", "owner"),
    ("audit(profile)", lambda word, _: prodex.audit(CATALOG, word), "online-listng", "online-listing"),
    ("Profile.read", lambda word, _: prodex.Profile.read(word), "fod-eu", "food-eu"),
    ("profile rule", lambda word, _: prodex.Profile.read({"checks": {word: {}}}), "valid_gtn", "valid_gtin"),
    ("profile severity", lambda word, _: prodex.Profile.read({"checks": {"valid_gtin": {"severity": word}}}),
     "bloker", "blocker"),
    ("profile market", lambda word, _: prodex.Profile.read({"market": word, "checks": {"valid_gtin": {}}}),
     "Belgum", "Belgium"),
    ("with_market", lambda word, _: prodex.Profile.read("core").with_market(word), "Belgum", "Belgium"),
    ("with_assumption", lambda word, _: prodex.Profile.read("core").with_assumption(**{word: True}), "fod", "food"),
    ("with_check", lambda word, _: prodex.Profile.read("core").with_check(word), "valid_gtn", "valid_gtin"),
    ("with_check(severity)", lambda word, _: prodex.Profile.read("core").with_check("valid_gtin", severity=word),
     "bloker", "blocker"),
    ("with_check(parameter)", lambda word, _: prodex.Profile.read("core").with_check(
        "required_text", attribute="composition", **{word: "fr"}), "langage", "language"),
    ("with_check(only)", lambda word, _: prodex.Profile.read("core").with_check("valid_gtin", only={word: "x"}),
     "knd_code", "kind_code"),
    ("rule(severity)", lambda word, _: prodex.packs.rule(title="It is so.", severity=word)(str),
     "bloker", "blocker"),
    ("rule(block)", lambda word, _: prodex.packs.rule(title="It is so.", block=word)(str),
     "identiti", "identity"),
    ("rule(dimension)", lambda word, _: prodex.packs.rule(title="It is so.", dimension=word)(str),
     "validty", "validity"),
    ("open_snapshot", lambda word, _: (CATALOG.save("shop"), prodex.open_snapshot(word)), "shopp", "shop"),
    ("open_audit", lambda word, _: (_saved(), prodex.open_audit(word)), "shopp", "shop"),
    ("connect(target)", lambda word, _: prodex.connect(word), "sandbx", "sandbox"),
    ("connect(accept_language)", lambda word, _: _service(accept_language=word), "Frnch", "French"),
    ("load(labels)", lambda word, _: prodex.load_products(_service(), labels=[word]), "Frnch", "French"),
    ("load_organizations", lambda word, _: prodex.load_organizations(_service(), word), "retailr", "retailer"),
    ("changes(language)", lambda word, _: CATALOG.changes_from(
        CATALOG.products[["product_id"]], language=word), "Frnch", "French"),
    ("with_check(attribute)", lambda word, _: prodex.audit(CATALOG, prodex.Profile.read("core").with_check(
        "required_text", attribute=word, language="fr")), "compositon", "composition"),
    ("upsert(format)", lambda word, _: prodex.upsert(NOWHERE, RECORDS, format=word, dry_run=True), "jsn", "json"),
]  # fmt: skip

#: Commands, with the misspelt name in place of WORD.
COMMANDS = [
    ("tables WORD", "textes", "texts"),
    ("rules WORD", "valid_gtn", "valid_gtin"),
    ("rules --block WORD", "identiti", "identity"),
    ("profiles show WORD", "fod-eu", "food-eu"),
    ("export shop --to out --format WORD", "parqet", "parquet"),
    ("audit shop --profile WORD", "online-listng", "online-listing"),
    ("audit shop --market WORD", "Belgum", "Belgium"),
    ("audit shop --by WORD", "ownr", "owner"),
    ("audit shop --show WORD", "gasp", "gaps"),
    ("audit shop --fail-on WORD", "bloker", "blocker"),
    ("audit shop --format WORD", "tabel", "table"),
    ("audit WORD", "shopp", "shop"),
    ("diff shop shop --by WORD", "ownr", "owner"),
    ("diff shop shop --show WORD", "chnges", "changes"),
    ("load --market WORD --service sandbox", "Belgum", "Belgium"),
    ("load --shared-with WORD --service sandbox", "ACEPTED", "ACCEPTED"),
    ("load --product-status WORD --service sandbox", "REFUSD", "REFUSED"),
    ("load --validation WORD --service sandbox", "NOTOK", "NOT_OK"),
    ("load --language WORD --service sandbox", "Frnch", "French"),
]


def _service(**options: Any) -> prodex.service.Client:
    """Return a client of a place where nobody answers: names are checked before anything is asked."""
    retry = prodex.service.RetryPolicy(seconds=0, load_seconds=0)
    return prodex.connect("http://127.0.0.1:9", client_id="a", client_secret="b", retry=retry, **options)


def _saved() -> None:
    catalog = CATALOG.save("shop")
    prodex.audit(catalog, {"checks": {"valid_gtin": {}}}).save()


@each_row(("call", "word", "near"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_misspelt_name_is_an_error_that_names_the_nearest(
    call: Call, word: str, near: str, tmp_path: Path
) -> None:
    """This holds for every function that takes a name from a closed list."""
    with pytest.raises((ProdexError, AttributeError)) as refused:
        call(word, tmp_path)

    assert word in str(refused.value)
    assert near in str(refused.value).replace(word, "")
    assert "did you mean" in str(refused.value).casefold()


@pytest.mark.slow
@each_row(("command", "word", "near"), COMMANDS, ids=[command for command, *_ in COMMANDS])
def test_a_misspelt_name_in_a_command_is_an_error_that_names_the_nearest(
    command: str, word: str, near: str
) -> None:
    """An option of a closed list says what it takes, and the command ends with an error."""
    CATALOG.save("shop")

    ended = CliRunner().invoke(app, command.replace("WORD", word).split())

    told = ended.output + str(ended.exception or "")
    assert 0 != ended.exit_code
    assert not isinstance(ended.exception, AttributeError | KeyError)
    assert near in told.replace(word, "")


def test_charts_take_no_names() -> None:
    """Their parameters are values and words to write; there is nothing to misspell."""
    assert {"bars", "heat", "histogram", "shares", "stacks", "steps"} <= set(dir(charts))
