"""Texts that were cut: at the length of a column, which shows across products, and by how they end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import prodex
from prodex import Catalog, ProductQuery
from prodex.quality.rulebook import all_rules
from prodex.quality.states import State
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row
from tests.quality.four_states import Record, named, text

WORDS = [
    *(
        "sucre",
        "farine",
        "beurre",
        "levure",
        "amidon",
        "pectine",
        "glucose",
        "cacao",
        "vanille",
        "sel",
        "eau",
        "huile",
    ),
    *("arôme", "orange", "miel", "riz", "avoine", "lécithine"),
]


def listing(chance: Random, length: int) -> str:
    """Return a list of ingredients of so many characters at least."""
    written = ""
    while len(written) < length:
        written += f"{chance.choice(WORDS)} {chance.randint(1, 99)} %, "
    return written


def composed(owner: str, data: str, language: str = "fr", attribute: str = "composition") -> Record:
    """Return a product of this owner with a list of ingredients."""
    return {"owner": {"name": owner}, attribute: [text(language, data)]}


def of_all_lengths(owner: str, count: int, seed: int, **more: Any) -> list[Record]:
    """Return products whose lists have any length from 40 to 400 characters, and end as lists do."""
    chance = Random(seed)
    lists = (listing(chance, 40)[: chance.randint(40, 400)].rsplit(",", 1)[0] + "." for _ in range(count))
    longer = (listing(chance, chance.randint(40, 400)).rsplit(",", 1)[0] + "." for _ in range(count))
    return [composed(owner, one, **more) for one in (*lists, *longer)]


def cut(owner: str, count: int, length: int, seed: int, *, in_bytes: bool = False) -> list[Record]:
    """Return products whose lists were cut at this length."""
    chance = Random(seed)
    lists = (listing(chance, 2 * length) for _ in range(count))
    return [
        composed(
            owner, (one.encode()[:length].decode(errors="ignore") if in_bytes else one[:length]).rstrip()
        )
        for one in lists
    ]


def audited(records: list[Record], catalog: Catalog | None = None, **options: Any) -> prodex.quality.Audit:
    """Return the records' audit by the rule alone."""
    catalog = catalog or prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    audit = prodex.audit(catalog, {"checks": {"texts_not_cut_off": {}}}, now=AS_OF, progress=False, **options)
    assert () == audit.crashes
    return audit


def states(records: list[Record], **options: Any) -> list[int]:
    """Return the rule's states of the records."""
    return [int(state) for state in audited(records, **options).states[:, 0]]


@pytest.mark.slow
@each_row("length", [80, 100, 250, 254, 255, 256, 512, 1000])
def test_a_length_at_which_an_owners_texts_end_is_that_of_a_column(length: int) -> None:
    """The texts of exactly that length are found; those of every other length are not, nor those of another owner."""
    beside = [*of_all_lengths("Mill", 50, 1), *of_all_lengths("Bakery", 50, 2)]
    records = [*beside, *cut("Mill", 20, length, 3)]
    found = states(records)

    assert [State.FAIL] * 20 == found[len(beside) :]
    assert 1 >= found[: len(beside)].count(State.FAIL)


def test_the_message_says_at_which_length() -> None:
    """It says how many texts end there and beside it, and that the column is to blame."""
    audit = audited([*of_all_lengths("Mill", 40, 1), *cut("Mill", 12, 255, 3)])
    reasons = set(audit.failures()["reason"])

    (reason,) = reasons
    assert reason.startswith("cut at 255 characters, where 1")
    assert reason.endswith("at each length beside it: a column was too short")
    assert "texts of this owner" in reason


def test_a_column_that_counts_bytes_is_found() -> None:
    """With accents, its texts differ in characters; the letter that did not fit is missing as a whole."""
    records = [*of_all_lengths("Mill", 60, 1), *cut("Mill", 30, 255, 3, in_bytes=True)]
    found = states(records)

    assert len({len(record["composition"][0]["data"]) for record in records[-30:]}) > 1
    assert found[-30:].count(State.FAIL) >= 28
    assert 0 == found[:-30].count(State.FAIL)


def test_the_column_of_a_service_is_found_over_all_owners() -> None:
    """Each owner has too few of its texts to show it."""
    owners = [f"Owner {number}" for number in range(60)]
    beside = [one for n, owner in enumerate(owners) for one in of_all_lengths(owner, 4, n)]
    short = [one for n, owner in enumerate(owners) for one in cut(owner, 2, 255, 100 + n)]
    found = states([*beside, *short])

    assert found[len(beside) :].count(State.FAIL) >= 0.95 * len(short)
    assert found[: len(beside)].count(State.FAIL) <= 0.02 * len(beside)


def test_the_column_of_one_owner_says_nothing_about_another() -> None:
    """A list of another owner that has this length by chance stays what it is."""
    others = [one for n in range(20) for one in of_all_lengths(f"Owner {n}", 10, n)]
    by_chance = composed("Owner 3", listing(Random(7), 400)[:255])
    found = states([*others, by_chance, *cut("Mill", 40, 255, 3)])

    assert State.PASS == found[len(others)]
    assert [State.FAIL] * 40 == found[len(others) + 1 :]


@each_row(
    "data",
    [
        ["Conserver au sec et à l'abri de la lumière"] * 40,
        [f"Référence du fournisseur numéro {number:06d}" for number in range(40)],
        [f"{number:03d} est la couleur de cet article en coton" for number in range(40)],
        [word[:6].ljust(6, "e") + f"-{number:04d}" for number, word in enumerate(WORDS * 2)],
    ],
)
def test_texts_that_are_alike_are_equally_long(data: list[str]) -> None:
    """The same text many times, templates with a number in them and codes are no cut texts."""
    assert [State.PASS] * len(data) == states([composed("Mill", one) for one in data])


def test_a_list_that_is_finished_at_that_length_is_not_cut() -> None:
    """By chance a list ends with its dot there; one in brackets that are open did not end."""
    whole_one = listing(Random(9), 300)[:253].rstrip(", 1234567890%") + "."
    whole_one = whole_one[:-1].ljust(254, "a") + "."
    records = [*of_all_lengths("Mill", 40, 1), *cut("Mill", 12, 255, 3), composed("Mill", whole_one)]

    assert State.PASS == states(records)[-1]


@pytest.mark.slow
def test_a_space_that_was_lost_at_the_end_hides_nothing() -> None:
    """What ends one character earlier was cut at a space."""
    records = [*of_all_lengths("Mill", 40, 1), *cut("Mill", 60, 255, 3)]
    shorter = [n for n, record in enumerate(records) if 254 == len(record["composition"][0]["data"])]

    assert shorter
    assert {State.FAIL} == {states(records)[number] for number in shorter}


def test_where_owners_or_texts_were_not_requested_nobody_knows() -> None:
    """What ends in dots fails all the same; everything else is unknown, and what fails would fail with everything."""
    records = [*of_all_lengths("Mill", 40, 1), *cut("Mill", 12, 255, 3), composed("Mill", "Riz de Cam...")]
    catalog = prodex.flatten({"id": n, **record} for n, record in enumerate(records))

    def asked(query: ProductQuery) -> list[int]:
        return states([], catalog=replace(catalog, origin=replace(catalog.origin, query=query)))

    without_owner = asked(ProductQuery(source_include=["composition"]))
    assert [State.FAIL] == without_owner[-1:]
    assert {State.UNKNOWN} == set(without_owner[:-1])
    with_owner = asked(ProductQuery(source_include=["composition", "owner"]))
    assert [State.FAIL] * 13 == with_owner[-13:]
    assert {State.UNKNOWN} == set(with_owner[:-13])
    one_language = asked(ProductQuery(product_languages=["fr"]))
    assert [State.UNKNOWN, State.FAIL] == one_language[-2:]


def test_parts_and_executors_change_nothing(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths are counted over all parts, whoever counts them; a selection is judged among all products."""
    records = [*of_all_lengths("Mill", 40, 1), *cut("Mill", 12, 255, 3)]
    flat = prodex.flatten({"id": n, **record} for n, record in enumerate(records))
    parts = [
        prodex.flatten({"id": n, **record} for n, record in enumerate(records) if n % 3 == rest)
        for rest in range(3)
    ]
    split = replace(flat, parts=tuple(part for each in parts for part in each.parts))

    whole = audited([], catalog=flat).matrix.iloc[:, 0]
    apart = audited([], catalog=split).matrix.iloc[:, 0]
    with ThreadPoolExecutor(2) as threads:
        by_threads = audited([], catalog=split, executor=threads).matrix.iloc[:, 0]
    assert whole.to_dict() == apart.to_dict() == by_threads.to_dict()
    assert 12 == int((whole == State.FAIL).sum())


#: Language, text, and whether it is cut off.
ENDINGS = [
    *[("fr", one, True) for one in ("sucre, farine de", "Farine de blé, lait et", "du sel. ..", "du sel, riz.. .")],
    *[("fr", one, True) for one in ("sucre, lait (entier, crème", "eau, arôme [vanille, riz", "farine de blé avec,")],
    *[("fr", one, False) for one in ("vitamine E", "carte d'or", "Sucre, farine (blé).", "eau, sel, etc. ..", "Plus")],
    *[("fr", one, False) for one in ("sucre, farine", "sucre, vitamine A", "voir ci-dessous", "Riz. . . .", "1, 2, 3")],
    *[("en", one, True) for one in ("Wheat flour, sugar and", "milk, salt or", "contains 2% or less of", "made with")],
    *[("en", one, False) for one in ("for men", "roll on", "plug in", "made in France", "vitamins")],
    *[("de", one, True) for one in ("Mehl, Zucker und", "Wasser, Salz sowie", "hergestellt aus", "Milch (davon Fett")],
    *[("de", one, False) for one in ("Mehl und Zucker", "Zum Anrühren", "Salz", "Mehl (Weizen)", "usw. ...")],
    *[("es", one, True) for one in ("harina de", "leche, azúcar y", "agua con", "sal o")],
    *[("es", one, False) for one in ("vitamina C", "azúcar y sal", "paella")],
    *[("it", one, True) for one in ("farina di", "latte e", "acqua con", "olio della")],
    *[("it", one, False) for one in ("vitamina D", "farina e latte", "Uno")],
    *[("nl", one, True) for one in ("meel, suiker en", "water met", "olie van", "kan sporen bevatten van")],
    *[("nl", one, False) for one in ("meel en suiker", "vitamine K", "zout")],
    *[("pt", one, True) for one in ("farinha de", "leite e", "açúcar com", "óleo das")],
    *[("pt", one, False) for one in ("vitamina B", "leite e açúcar")],
    *[("da", one, True) for one in ("mel, sukker og", "vand med", "olie til")],
    *[("nb", one, True) for one in ("mel, sukker og", "vann med", "fra")][:2],
    *[("no", one, False) for one in ("mel og sukker", "salt")],
    *[("sv", one, True) for one in ("mjöl, socker och", "vatten med", "olja från")],
    *[("sv", one, False) for one in ("mjöl och socker", "salt")],
    *[("fi", one, True) for one in ("jauhoja ja", "vettä sekä", "sokeria tai")],
    *[("fi", one, False) for one in ("jauhoja ja sokeria", "suola")],
]  # fmt: skip


@pytest.mark.slow
@each_row(("language", "data", "is_cut"), ENDINGS)
def test_how_a_text_ends(language: str, data: str, is_cut: bool) -> None:
    """Dots, open brackets and words that join say in ten languages that something is missing."""
    expected = State.FAIL if is_cut else State.PASS
    assert [expected] == states([{"composition": [text(language, data)]}])


def test_names_have_a_rule_of_their_own() -> None:
    """A name that ends in a joining word is found once."""
    assert [State.PASS] == states([named("Farine de")])


def test_a_rule_of_ones_own_can_count_over_all_products() -> None:
    """What `gather` makes of each part comes as one table, prepared once."""

    def brands(products: Any) -> Any:
        return pa.table({"brand": products.column("brand_code")})

    @prodex.packs.rule(title="there are two products", needs="brand.code", gather=brands, prepare=len)
    def are_two(products: Any, *, whole: int) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([whole != 2] * len(products))

    @prodex.packs.rule(title="gathering raises", gather=lambda products: products.nothing)
    def raises(products: Any, *, whole: Any) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([False] * len(products))

    try:
        catalog = prodex.flatten([{"id": 1, "brand": {"code": "A"}}, {"id": 2, "brand": {"code": "B"}}])
        audit = prodex.audit(catalog, {"checks": {"are_two": {}, "raises": {}}}, progress=False)
        assert [[State.PASS, State.UNKNOWN]] * 2 == audit.states.tolist()
        assert ["raises"] == [crash.check for crash in audit.crashes]
    finally:
        for name in ("are_two", "raises"):
            all_rules().pop(name)


def test_a_list_that_a_column_cut_passes_no_check_of_allergens() -> None:
    """What was cut off may name one; what is left and not listed fails all the same, and whole lists pass."""
    listed = [text("fr", "soja")]
    chance = Random(4)
    harmless = [f"riz {n} %, sel, eau, huile de tournesol, sucre, vanille, orange" for n in range(1, 60)]
    food = {"isConsumerUnit": True, "GPC": {"code": "50000000"}, "allergens": listed}
    whole = [composed("Mill", f"{one}, eau" + " sel" * chance.randint(0, 40), "fr") for one in harmless]
    long = [
        ", ".join(chance.choices(["riz", "sel", "eau", "sucre", "huile de tournesol"], k=80))
        for _ in range(20)
    ]
    cut_off = [composed("Mill", one[:255], "fr") for one in long]
    named = [composed("Mill", f"lait, {one}"[:255], "fr") for one in long[:3]]
    records = [{"id": n, **food, **one} for n, one in enumerate([*whole, *cut_off, *named])]
    catalog = prodex.flatten(records)
    audit = prodex.audit(catalog, {"checks": {"composition_allergens_listed": {}}}, now=AS_OF, progress=False)
    found = [int(state) for state in audit.states[:, 0]]
    assert {State.UNKNOWN} == set(found[len(whole) : len(whole) + len(cut_off)])
    assert [State.FAIL] * 3 == found[-3:]
    assert State.PASS in found[: len(whole)]
