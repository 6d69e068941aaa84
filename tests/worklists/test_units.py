"""Units are understood by their codes, symbols and words in ten languages; what may be two of them is refused."""

from __future__ import annotations

from typing import Any

import pytest

from prodex.errors import InputError
from prodex.quality.units import FACTORS
from prodex.worklists.answer_parsing import AnswerRefused, Vocabulary
from prodex.worklists.units import are_equal, dimension_of, unit_code

#: By code: symbols, as people type them, and words in English, German, French, Dutch, Spanish, Italian, Portuguese,
#: Norwegian or Danish, Swedish, Finnish.
UNDERSTOOD = {
    "GRM": "g G gr g. Gram Gramm grammes gram gramos grammi gramas gram gram grammaa GRM grm \uff47 g\u212e",
    "KGM": "kg KG Kg kgs kilo kilogramm kilogrammes kilo kilogramos chilogrammi quilogramas kilo kilogram kilogrammaa",
    "MGM": "mg MG milligram Milligramm milligrammes milligram miligramos milligrammi miligramas milligrammaa",
    "MC": "\u00b5g \u03bcg ug mcg MC microgram Mikrogramm microgrammes microgramos microgrammi mikrogrammaa",
    "ONZ": "oz OZ ounce Unzen onces onza oncia on\u00e7as",
    "LBR": "lb lbs pound",
    "TNE": "tonne Tonnen tonnes toneladas tonnellate TNE",
    "LTR": "l L lt litre Liter litres liter litros litri litros liter liter litraa LTR",
    "DLT": "dl dL DL decilitre Deziliter d\u00e9cilitres desiliter decilitri desilitraa",
    "CLT": "cl cL CL centilitre Zentiliter centilitres centiliter centilitros centilitri senttilitraa",
    "MLT": "ml mL ML Ml millilitre Milliliter millilitres mililitros millilitri mililitros millilitraa \u3396",
    "HLT": "hl hectolitre Hektoliter",
    "CMQ": "cm3 cm\u00b3 ccm cc",
    "MTQ": "m3 m\u00b3 cbm Kubikmeter",
    "MMT": "mm millimetre Millimeter millim\u00e8tres mil\u00edmetros millimetri millimetri\u00e4",
    "CMT": "cm centimetre Zentimeter centim\u00e8tres cent\u00edmetros centimetri senttimetri\u00e4",
    "MTR": "m metre Meter m\u00e8tres metros metri metri\u00e4",
    "INH": "in inch Zoll pouces pulgadas pollici polegadas tommer tum tuumaa",
    "MTK": "m2 m\u00b2 qm sqm mq kvm Quadratmeter",
    "KJO": "kJ KJ kj kilojoule Kilojoules",
    "E14": "kcal Kcal KCAL kilocalories Kilokalorien kilocalor\u00edas chilocalorie quilocalorias kilokalorier",
    "CEL": "\u00b0C \u2103 C celsius",
    "P1": "% percent Prozent procent prosent prosenttia",
    "H87": "pc pcs pieces St\u00fcck Stk. stk pi\u00e8ces stuks unidades uds. pezzi pz. "
    "pe\u00e7as stykker stycken kpl kappaletta H87",
    "PR": "pair Paar paire pares paia",
    "PTN": "portion Portionen porties porciones porzioni por\u00e7\u00f5es porsjoner annosta",
    "WTT": "W w Watt",
    "VLT": "V Volt",
    "MIN": "min Minuten minuti",
    "MON": "month Monate mois maanden meses mesi m\u00e5neder m\u00e5nader kuukautta kk",
    "3B": "MJ",
    "MAW": "MW",
    "C31": "mW",
}

#: What may be two units: both are named.
AMBIGUOUS = {
    "t": ("TNE", "G25"), "T": ("TNE", "G25"), "ton": ("TNE", "STN"), "st": ("H87", "STI"), "St.": ("H87", "STI"),
    "M": ("MTR", "MIN"), "Mg": ("MGM", "TNE"), "cal": ("E14", "D70"), "Cal": ("E14", "D70"), "Kalorien": ("E14", "D70"),
    "fl oz": ("OZA", "OZI"), "fl.oz.": ("OZA", "OZI"),
    "gallon": ("GLL", "GLI"), "pint": ("PTL", "PTI"), "v": ("VLT", "ANN"),
    "mw": ("C31", "MAW"), "mj": ("C15", "3B"), "a": ("AMP", "ANN"), "c": ("CEL", "G21"), "mc": ("MC", "MTQ"),
    "% vol": ("P1", "ASU"), '"': ("INH", "SEC"), "'": ("FOT", "MIN"), "ct": ("H87", "CTM"),
}  # fmt: skip

UNKNOWN = [
    *(
        "mG",
        "kG",
        "gG",
        "bananas",
        "g e",
        "g net",
        "g/",
        "g.g",
        "grams each",
        "E",
        "e",
        "x",
        "livre",
        "Pfund",
        "pal",
    ),
    *("", " ", "\u212e", "$", "\u20ac", "GRMM", "GRM KGM", "100", "-g"),
]


@pytest.mark.parametrize(("code", "words"), UNDERSTOOD.items())
def test_a_unit_is_understood_by_its_words(code: str, words: str) -> None:
    """With the case of its symbol where another one differs by that alone."""
    listed = words.split(" ")
    assert dict.fromkeys(listed, code) == {word: unit_code(word) for word in listed}


@pytest.mark.parametrize(("word", "codes"), AMBIGUOUS.items())
def test_what_may_be_two_units_is_refused_with_both(word: str, codes: tuple[str, ...]) -> None:
    """And with the code that says which."""
    with pytest.raises(InputError) as caught:
        unit_code(word)
    assert all(code in str(caught.value) for code in codes)
    assert f"5 {codes[0]}" in str(caught.value)


@pytest.mark.parametrize("word", UNKNOWN)
def test_what_is_no_unit_is_refused(word: str) -> None:
    """No slip of a shift key is guessed at, and nothing that is more than a unit."""
    with pytest.raises(InputError, match="is not a known unit"):
        unit_code(word)


def test_a_catalogue_knows_its_own_units() -> None:
    """Where a word is not known, or may be two; never against what a symbol means everywhere."""
    own = {"kiste": {"BOX"}, "cal": {"E14"}, "g": {"KGM"}, "st": {"BOX"}, "sack": {"BG", "SA"}}
    assert [unit_code(one, own) for one in ("Kiste", "cal", "g")] == ["BOX", "E14", "GRM"]
    for word in ("st", "sack"):
        with pytest.raises(InputError):
            unit_code(word, own)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (".33 L", (0.33, "LTR")), ("500g\u212e", (500, "GRM")), ("\u212e 500 g", (500, "GRM")),
        ("1 234,5 kg", (1234.5, "KGM")),
        ("1\u202f000 ml", (1000, "MLT")), ("-18\u00b0C", (-18, "CEL")), ("\u221218 \u00b0C", (-18, "CEL")),
        ("5%", (5, "P1")),
        ("12 Stk.", (12, "H87")), ("5 m\u00b2", (5, "MTK")), ("0 g", (0, "GRM")),
    ],
)  # fmt: skip
def test_an_amount_is_understood(typed: str, meant: tuple[Any, str]) -> None:
    """A number by the one grammar, and a unit."""
    assert Vocabulary().quantity(typed) == meant


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "1,234 g",
            "inf g",
            "sNaN g",
            "NaN1 g",
            "1E1000000 g",
            "12E3 g",
            "5-6 g",
            "3 x 125 g",
            "\u00bd l",
            "1/2 l",
        ),
        *(
            "~5 g",
            "ca. 5 g",
            "< 0,1 g",
            "500 g e",
            "1 kg 200 g",
            "1\t234 g",
            "g 500",
            "500",
            "12.5.1 g",
            "5 cal",
            "5 t",
        ),
    ],
)
def test_an_amount_that_is_not_certain_is_refused(typed: str) -> None:
    """With what to write instead."""
    with pytest.raises(AnswerRefused, match=r"Write|did you mean"):
        Vocabulary().quantity(typed)


def test_amounts_are_compared_in_one_unit() -> None:
    """And units of which that is not known, only with themselves."""
    assert are_equal((1.5, "KGM"), (1500, "GRM"))
    assert not are_equal((1, "KGM"), (1, "LTR"))
    assert not are_equal((1, "H87"), (1, "EA"))
    assert not are_equal((20, "CEL"), (68, "FAH"))


def test_every_unit_that_is_measured_has_its_dimension() -> None:
    """The table of words and that of factors are of the same units."""
    names = {"weight": "mass", "length": "length", "volume": "volume"}
    assert all(
        dimension_of(code) == names[kind]
        for kind, factors in FACTORS.items()
        for code in factors
        if code != "DG"
    )
