"""Named operations on columns of texts and quantities: a table of cases by hand, with what each language does."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from prodex import operations as do
from prodex.corrections.leaves import as_texts, quantities
from prodex.corrections.letter_case import change_case
from prodex.corrections.operations import OPERATIONS, TextOperation, parameters_of
from prodex.corrections.stepping import DONE_BY
from prodex.errors import InputError, QueryError
from tests.cases import each_row


def done(operation: TextOperation, text: str, language: str | None = "fr") -> str | None:
    """Return a text after an operation; None where it is refused."""
    made = operation.transformed(pa.array([text], pa.large_string()), pa.array([language]))
    return None if made.refused else made.values[0].as_py()


@each_row(
    ("operation", "before", "after"),
    [
        (do.ReplaceText("a.b", "X"), "a.b acb", "X acb"),
        (do.ReplaceText("ACME", "Acme", ignore_case=True), "acme AcMe", "Acme Acme"),
        (do.ReplaceText("thé", "Thé", whole_words=True), "théière thé, thé", "théière Thé, Thé"),
        (do.ReplaceText("the", "X", whole_words=True), "the\u0301 the", "the\u0301 X"),
        (do.ReplaceText("Nestlé", "N"), "Nestle\u0301 Nestlé", "N N"),
        (do.ReplaceText(r"(\d+) ?gr\b", r"\1 g", pattern=True), "500gr 3 gr grand", "500 g 3 g grand"),
        (do.ReplaceText("\\1", "\\2"), "a\\1b", "a\\2b"),
        (do.ReplaceText(r"\bpur\b", "100 %", pattern=True), "pur purée", "100 % purée"),
        (do.ReplaceText(r"\bthé\b", "Thé", pattern=True), "théière thé, the\u0301", "théière Thé, Thé"),
        (do.ReplaceText(r"\w+", "X", pattern=True), "हिन्दी شَاي the\u0301", "X X X"),
        (do.ReplaceText(r"a(?=b)", r"<\0>", pattern=True), "ab ac", "<a>b ac"),
        (do.ReplaceText("the", "X"), "the\u0301 the", "the\u0301 X"),
        (do.ReplaceText("Phở", "X"), "Pho\u031b\u0309 Ph\u01a1\u0309 Phở e\u0301", "X X X e\u0301"),
        (do.ReplaceText("हिन", "X", whole_words=True), "हिन्दी हिन", "हिन्दी X"),
        (do.ReplaceText("شا", "X", whole_words=True), "شَاي شاَ شا", "شَاي شاَ X"),
        (do.ReplaceText("=SUM(", "("), "=SUM(A1)", "(A1)"),
        (do.ReplaceText("®", ""), "Acme®", "Acme"),
        (do.ReplaceText("Pain", ""), "Pain", None),
        (do.ReplaceText("Pain", ""), "Pain \u00a0", None),
        (do.ReplaceText("x", "y"), "Pain", "Pain"),
        (do.ReplaceText("شاي", "قهوة"), "شاي أخضر", "قهوة أخضر"),
        (do.TrimSpaces(), " \u2003Riz\u2009 long \u3000", "Riz long"),
        (do.TrimSpaces(), "500\u00a0g", "500\u00a0g"),
        (do.TrimSpaces(), "500 \u202f\u00a0 g", "500\u202f\u00a0g"[:4] + "g"),
        (do.TrimSpaces(no_break="space"), "500\u00a0g", "500 g"),
        (do.TrimSpaces(), "a \r\n\r\n b", "a\r\n\r\nb"),
        (do.TrimSpaces(line_breaks="space"), "a \r\n\r\n b\u2028c", "a b c"),
        (do.TrimSpaces(), "\ufeffa\u200b", "a"),
        (do.TrimSpaces(), "a\u200db", "a\u200db"),
        (do.TrimSpaces(), "\t \n", None),
        (do.TrimSpaces(), "a\tb", "a b"),
        (do.RemovePrefix("ACME"), "ACME\u00a0 Riz", "Riz"),
        (do.RemovePrefix("ACME"), "ACMEX Riz", "ACMEX Riz"),
        (do.RemovePrefix("ACME"), "ACMÉ Riz", "ACMÉ Riz"),
        (do.RemovePrefix("ACME"), "ACME", None),
        (do.RemovePrefix("ACME -", ignore_case=True), "acme - Riz", "Riz"),
        (do.RemovePrefix("ACME"), "Riz ACME", "Riz ACME"),
        (do.RemovePrefix("the"), "the\u0301 vert", "the\u0301 vert"),
        (do.RemovePrefix("thé"), "the\u0301 pure\u0301", "pure\u0301"),
        (do.RemovePrefix("हि"), "हिन्दी चाय", "हिन्दी चाय"),
        (do.RemovePrefix("हिन्दी"), "हिन्दी चाय", "चाय"),
    ],
)
def test_a_text_is_what_a_person_expects(operation: TextOperation, before: str, after: str | None) -> None:
    """Each operation gives the text that was written down by hand, or refuses it."""
    assert after == done(operation, before)


@each_row(
    ("case", "language", "before", "after"),
    [
        ("upper", "tr", "ılık süt içecek", "ILIK SÜT İÇECEK"),
        ("lower", "tr", "ILIK İÇECEK", "ılık içecek"),
        ("lower", "fr", "İSTANBUL", "istanbul"),
        ("sentence", "tr", "içecek ISI", "İçecek ısı"),
        ("upper", "de", "weiße Soße", "WEISSE SOSSE"),
        ("title", "de", "VOLLKORNBROT MIT SAMEN", "Vollkornbrot mit Samen"),
        ("upper", "fr", "l'été à 5 µg", "L'ÉTÉ À 5 µg"),
        ("title", "fr", "CONFITURE DE FRAISES À L'ANCIENNE", "Confiture de Fraises à l'Ancienne"),
        ("title", "fr", "l’eau d’ici", "L’Eau d’Ici"),
        ("title", "nl", "ijsthee met citroen", "IJsthee met Citroen"),
        ("title", "en", "the bread of the world's best", "The Bread of the World's Best"),
        ("upper", "el", "μάιος γάλα", "ΜΑΪΟΣ ΓΑΛΑ"),
        ("lower", "el", "ΣΑΣ", "σας"),
        ("sentence", "en", "BREAD WITH SEEDS. BAKED", "Bread with seeds. Baked"),
        ("sentence", "en", "500g BREAD", "500g bread"),
        (
            "sentence",
            "fr",
            "vitamine B12 et pH neutre MCCAIN McCain",
            "Vitamine B12 et pH neutre mccain McCain",
        ),
        ("upper", "fr", "&eacute; <b>gras</b> www.acme.fr", "&eacute; <b>GRAS</b> www.acme.fr"),
        ("upper", "ar", "شاي", "شاي"),
        ("title", "zh", "茶", "茶"),
        ("sentence", "ka", "ქართული ჩაი", "ქართული ჩაი"),
        ("upper", None, "thé", "THÉ"),
        ("upper", "fr", "énergie 844 kj/202 kcal", "ÉNERGIE 844 kJ/202 kcal"),
        ("upper", "fr", "sel 500 mg, 33cl", "SEL 500 mg, 33cl"),
        ("upper", "fr", "6x33CL bière 1,5 l", "6X33cl BIÈRE 1,5 l"),
        ("lower", "fr", "SEL 500 MG, 844 KJ", "sel 500 mg, 844 kJ"),
        ("lower", "fr", "EAU 1 L, Énergie kJ", "eau 1 L, énergie kJ"),
        ("lower", "de", "BEI 180 °C 5 KWH", "bei 180 °C 5 kWh"),
        ("lower", "en", "5G PHONE, 3 L'OREAL, 5 GO", "5G phone, 3 l'oreal, 5 go"),
        ("lower", "en", "VITAMIN B12 G", "vitamin b12 g"),
        ("sentence", "en", "500 G BREAD. 844 KJ PER 100 ML", "500 g bread. 844 kJ per 100 ml"),
        ("sentence", "en", "BREAD 5 MG/L WITH 0.5 KG", "Bread 5 mg/L with 0.5 kg"),
        ("title", "en", "BREAD 500 G WITH 844 KJ", "Bread 500 g with 844 kJ"),
        ("title", "en", "water 2 L 5G", "Water 2 L 5G"),
        ("sentence", "en", "100ML", "100ml"),
        ("upper", "fr", "surface en m², a m l g t", "SURFACE EN m², A M L G T"),
        ("upper", "tr", "500 ml içecek", "500 ml İÇECEK"),
        ("upper", "el", "γάλα 5 mg", "ΓΑΛΑ 5 mg"),
    ],
)
def test_capitals_follow_the_language(case: str, language: str | None, before: str, after: str) -> None:
    """Texts are written as people of their language write them; those of other scripts are not harmed."""
    assert after == done(do.ChangeCase(case), before, language)


def test_what_is_not_known_of_a_language_is_refused() -> None:
    """German sentences and Finnish titles are refused, unless nothing would change."""
    assert done(do.ChangeCase("sentence"), "FRISCHE MILCH", "de") is None
    assert done(do.ChangeCase("sentence"), "Milch", "de") == "Milch"
    assert done(do.ChangeCase("title"), "tuore maito", "fi") is None


def test_words_to_keep_are_written_as_they_are_given() -> None:
    """A word in `keep` is written so in every case."""
    assert done(do.ChangeCase("sentence", keep=["UHT"]), "LAIT UHT") == "Lait UHT"
    assert done(do.ChangeCase("lower", keep=["Acme"]), "RIZ ACME") == "riz Acme"
    assert done(do.ChangeCase("lower", keep=["KG"]), "RIZ 5 KG") == "riz 5 KG"
    # Whichever form of Unicode the text and the word are in.
    for case in ("lower", "sentence", "title"):
        assert done(do.ChangeCase(case, keep=["TH\u00c9"]), "LE THE\u0301", "fr").endswith("TH\u00c9")
        assert done(do.ChangeCase(case, keep=["THE\u0301"]), "LE TH\u00c9", "fr").endswith("THE\u0301")


def test_most_capitals_are_made_by_arrow_and_are_the_same() -> None:
    """The fast way of capitals gives what the slow one gives, letter by letter."""
    texts = [f"a{chr(code)}b" for code in range(0x20, 0x2100) if not 0xD800 <= code < 0xE000]
    texts += [
        "www.x",
        "a://b",
        "a@b",
        "&amp;",
        "<b>",
        "5 g",
        "5Kg",
        "5\u00a0KJ",
        "kJ",
        "MHz",
        "kPa",
        "hPa",
        "dB",
        "kV",
        "mAh",
        "3 °c",
        "5 µG",
    ]
    for case in ("upper", "lower"):
        made = do.ChangeCase(case).transformed(
            pa.array(texts, pa.large_string()), pa.array(["fr"] * len(texts))
        )
        assert [change_case(one, "fr", case) for one in texts] == made.values.to_pylist()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: do.ReplaceText("", "x"), "no text to find"),
        (lambda: do.ReplaceText("(", "x", pattern=True), "cannot be read"),
        (lambda: do.ReplaceText("a(?=b", "x", pattern=True), r"missing \).*character 6"),
        (lambda: do.ReplaceText("a(?R)?b", "x", pattern=True), r"calls a group again \(character 2\)"),
        (lambda: do.ReplaceText("a{99999999}", "x", pattern=True), "longer than 10,000"),
        (lambda: do.ReplaceText("(" * 900 + "a" + ")" * 900, "x", pattern=True), "nested too deep"),
        (lambda: do.ReplaceText("(a)", "\\q", pattern=True), "cannot replace.*Write"),
        (lambda: do.ReplaceText("x*", "y", pattern=True), "is found in an empty text"),
        (lambda: do.ReplaceText("(a)", r"\2", pattern=True), "cannot replace"),
        (lambda: do.ReplaceText("((a{1000}){1000}){1000}", "x", pattern=True), "cannot be read"),
        (lambda: do.ReplaceText("a" * 3_000, "x"), "may have 2,000"),
        (lambda: do.ReplaceText("a", "x", pattern=True, whole_words=True), "whole_words is for plain texts"),
        (lambda: do.ReplaceText("a", "\ud800"), "half of a character"),
        (lambda: do.ReplaceText("a", 3), "by is .*Give text"),  # type: ignore[arg-type]
        (lambda: do.ChangeCase("uper"), "did you mean 'upper'"),
        (lambda: do.ChangeCase("upper", keep="UHT"), "Give a list of words"),  # type: ignore[arg-type]
        (lambda: do.TrimSpaces(line_breaks="no"), "Give 'keep' or 'space'"),
        (lambda: do.RemovePrefix(" "), "prefix is empty"),
        (do.MoveText, "not said where"),
        (do.CopyFrom, "from where"),
        (lambda: do.SetValue(""), "RemoveValue"),
        (lambda: do.SetValue(" \n"), "RemoveValue"),
        (lambda: do.SetValue(float("nan")), "Give a text"),
        (lambda: do.SetValue(None), "Give a text"),  # type: ignore[arg-type]
        (lambda: do.ConvertUnit("parsec"), "not a known unit"),
        (lambda: do.ConvertUnit("kcal"), "not known how to convert"),
        (lambda: do.ConvertUnit("kg", only="ml"), "one is no other"),
    ],
)
def test_an_operation_that_cannot_be_is_refused_with_what_to_do(make: Any, words: str) -> None:
    """What an operation is made of is checked at once."""
    with pytest.raises(InputError, match=words):
        make()


def test_languages_are_checked_with_the_nearest() -> None:
    """A language that there is not is named with the one that is probably meant."""
    with pytest.raises(QueryError, match="French"):
        do.MoveText(to_language="Frensh")


@pytest.mark.parametrize(
    ("unit", "quantity", "after"),
    [
        ("kg", "500 GRM", "0.5 KGM"),
        ("g", "0.1 KGM", "100 GRM"),
        ("g", "1 ONZ", "28.349523125 GRM"),
        ("lb", "1 ONZ", "0.0625 LBR"),
        ("oz", "1 GRM", None),
        ("l", "33 CLT", "0.33 LTR"),
        ("inch", "1 MTR", None),
        ("mm", "1 INH", "25.4 MMT"),
        ("kg", "12 H87", None),
        ("kg", "500 MLT", None),
        ("g", "0.30000000000000004 KGM", None),
        ("g", "-1.5 KGM", "-1500 GRM"),
        ("g", "9007199254740993 MGM", None),
    ],
)
def test_units_are_converted_exactly_or_not_at_all(unit: str, quantity: str, after: str | None) -> None:
    """A number that would be rounded, or measures something else, is refused."""
    before = quantities(*(pa.array([one]) for one in quantity.split()))
    values, refused = do.ConvertUnit(unit).transformed(before)
    assert [after or quantity] == as_texts(values).to_pylist()
    assert ([0] if after is None else []) == [*refused]


def test_long_texts_cost_themselves_only() -> None:
    """A text that would become far too long is refused, and its neighbour is not."""
    texts = pa.array(["a" * 40_000, "ab"], pa.large_string())
    made = do.ReplaceText("a", "b" * 900).transformed(texts, pa.nulls(2, pa.string()))
    assert [0] == list(made.refused)
    assert "b" * 901 == made.values[1].as_py()
    assert "b" * 40_000 == done(do.ReplaceText("a", "b"), "a" * 40_000)


def test_each_operation_has_a_name_words_and_parameters() -> None:
    """The table of operations has each of them once, and each can be written."""
    assert len(do.__all__) == len(OPERATIONS) == len({one.do for one in OPERATIONS.values()})
    assert {*OPERATIONS.values()} == DONE_BY.keys()
    assert {"find": "a", "by": "b"} == parameters_of(do.ReplaceText("a", "b"))
    assert {"to": "upper", "keep": ["UHT"]} == parameters_of(do.ChangeCase("upper", keep=["UHT"]))
