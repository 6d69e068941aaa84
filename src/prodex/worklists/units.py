"""Units of measure: their codes, and the words and symbols for them in the languages that prodex detects.

English, German, French, Dutch, Spanish, Italian, Portuguese, the Scandinavian languages and Finnish. What may be two
units is refused with both.

Sources: UN/CEFACT Recommendation 20 (codes); SI Brochure, chapters 2 to 5 (symbols, whose case matters).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from prodex.errors import InputError
from prodex.phrases import nearest
from prodex.quality.units import FACTORS

#: By dimension and code: symbols and words, separated by commas. One after "=" is read in this case only: `A` is an
#: ampere, `a` is not.
_WORDS: Mapping[str, Mapping[str, str]] = {
    "mass": {
        "MC": "µg, ug, mcg, microgram, micrograms, microgramme, microgrammes, mikrogramm, microgramo, "
        "microgramos, microgrammo, microgrammi, micrograma, microgramas, mikrogram, mikrogramma, "
        "mikrogrammaa",
        "MGM": "mg, milligram, milligrams, milligramme, milligrammes, milligramm, miligramo, miligramos, "
        "milligrammo, milligrammi, miligrama, miligramas, milligramma, milligrammaa",
        "CGM": "cg, centigram, centigrams, centigramme, centigrammes, zentigramm",
        "GRM": "g, gr, grs, gram, grams, gramme, grammes, gramm, gramo, gramos, grammo, grammi, grama, "
        "gramas, gramma, grammaa",
        "HGM": "hg, hekto, etto, etti, hectogram, hektogram, hectogramme",
        "KGM": "kg, kgs, kilo, kilos, kilogram, kilograms, kilogramme, kilogrammes, kilogramm, kilogramo, "
        "kilogramos, chilo, chili, chilogrammo, chilogrammi, quilo, quilos, quilograma, quilogramas, "
        "kilogramma, kilogrammaa, kiloa",
        "TNE": "tonne, tonnes, metric ton, metric tons, tonnen, tonelada, toneladas, tonnellata, "
        "tonnellate, tonni, tonnia",
        "ONZ": "oz, ounce, ounces, unze, unzen, once, onces, onza, onzas, oncia, onça, onças",
        "LBR": "lb, lbs, pound, pounds",
    },
    "volume": {
        "4G": "µl, µL, ul, microlitre, microliter, mikroliter",
        "MLT": "ml, mL, millilitre, millilitres, milliliter, milliliters, mililitro, mililitros, "
        "millilitro, millilitri, millilitra, millilitraa",
        "CLT": "cl, cL, centilitre, centilitres, centiliter, centiliters, zentiliter, centilitro, "
        "centilitros, centilitri, senttilitra, senttilitraa, centilitra",
        "DLT": "dl, dL, decilitre, decilitres, deciliter, deciliters, deziliter, décilitre, décilitres, "
        "decilitro, decilitros, decilitri, desiliter, desilitra, desilitraa",
        "LTR": "l, lt, ltr, ltrs, litre, litres, liter, liters, litro, litros, litri, litra, litraa",
        "HLT": "hl, hL, hectolitre, hectolitres, hectoliter, hektoliter, hectolitro, hectolitros, "
        "ettolitro, ettolitri",
        "MMQ": "mm3, cubic millimetre, cubic millimeter",
        "CMQ": "cm3, ccm, cc, cubic centimetre, cubic centimetres, cubic centimeter, kubikzentimeter, "
        "centimètre cube, centimètres cubes",
        "DMQ": "dm3, cubic decimetre, cubic decimeter, kubikdezimeter, décimètre cube",
        "MTQ": "m3, cbm, cubic metre, cubic metres, cubic meter, cubic meters, kubikmeter, mètre cube, "
        "mètres cubes, metro cúbico, metros cúbicos, metro cubo, metri cubi, kubieke meter, kuutiometri",
        "OZA": "us fl oz, fl oz us, fl oz (us), us fluid ounce, us fluid ounces",
        "OZI": "uk fl oz, fl oz uk, fl oz (uk), imp fl oz, imperial fluid ounce, uk fluid ounce, "
        "uk fluid ounces",
        "GLL": "us gal, us gallon, us gallons",
        "GLI": "uk gal, imp gal, imperial gallon, imperial gallons",
        "PTL": "us pint, us pints",
        "PTI": "uk pint, uk pints, imperial pint, imperial pints",
    },
    "length": {
        "4H": "µm, um, micron, microns, micrometre, micrometer, mikrometer",
        "MMT": "mm, millimetre, millimetres, millimeter, millimeters, millimètre, millimètres, milímetro, "
        "milímetros, millimetro, millimetri, millimetriä",
        "CMT": "cm, centimetre, centimetres, centimeter, centimeters, zentimeter, centimètre, centimètres, "
        "centímetro, centímetros, centimetro, centimetri, senttimetri, senttimetriä, centimeter",
        "DMT": "dm, decimetre, decimeter, dezimeter, décimètre, desimeter",
        "MTR": "m, mtr, metre, metres, meter, meters, mètre, mètres, metro, metros, metri, metriä",
        "KMT": "km, kilometre, kilometres, kilometer, kilometers, kilomètre, kilomètres, kilómetro, "
        "kilómetros, chilometro, chilometri, quilómetro, quilómetros, quilômetro, quilômetros, kilometri",
        "INH": "in, inch, inches, zoll, pouce, pouces, pulgada, pulgadas, pollice, pollici, polegada, "
        "polegadas, tomme, tommer, tum, tuuma, tuumaa",
        "FOT": "ft, foot, feet, fuß, fuss, pied, pieds, voet",
        "YRD": "yd, yard, yards",
    },
    "area": {
        "MMK": "mm2, square millimetre, square millimeter, quadratmillimeter",
        "CMK": "cm2, qcm, square centimetre, square centimetres, square centimeter, quadratzentimeter, "
        "centimètre carré, centimètres carrés, centimetri quadrati",
        "DMK": "dm2, square decimetre, quadratdezimeter",
        "MTK": "m2, qm, sqm, mq, kvm, square metre, square metres, square meter, square meters, "
        "quadratmeter, mètre carré, mètres carrés, vierkante meter, metro cuadrado, metros cuadrados, "
        "metro quadrato, metri quadrati, metro quadrado, metros quadrados, kvadratmeter, neliömetri, "
        "neliömetriä",
    },
    "energy": {
        "JOU": "=J, joule, joules",
        "KJO": "kJ, kilojoule, kilojoules, kilojulio, kilojulios, quilojoule, quilojoules, kilojoulea",
        "3B": "=MJ, megajoule, megajoules",
        "E14": "kcal, kilocalorie, kilocalories, kilokalorie, kilokalorien, kilocaloría, kilocalorías, "
        "chilocaloria, chilocalorie, quilocaloria, quilocalorias, kilokalori, kilokalorier, kilokaloria, "
        "kilokaloriaa, kilocalorieën",
        "WHR": "Wh, watt hour, watt hours, wattstunde, wattstunden",
        "KWH": "kWh, kilowatt hour, kilowatt hours, kilowattstunde, kilowattstunden",
    },
    "temperature": {
        "CEL": "°C, =C, deg c, celsius, grad celsius, degree celsius, degrees celsius, degrés celsius, "
        "grados celsius, gradi celsius, graus celsius, graden celsius, grader celsius",
        "FAH": "°F, fahrenheit, degree fahrenheit, degrees fahrenheit, grad fahrenheit",
        "KEL": "=K, kelvin",
    },
    "share": {
        "P1": "%, pct, percent, per cent, prozent, pour cent, pourcent, por ciento, per cento, por cento, "
        "procent, prosent, prosenttia",
        "NX": "‰, per mille, promille, pour mille",
        "59": "ppm",
    },
    "count": {
        "H87": "pc, pcs, pce, pces, piece, pieces, pièce, pièces, stück, stücke, stueck, stk, stuk, stuks, "
        "styck, stycken, unit, units, unité, unités, unidad, unidades, uds, ud, unidade, unidades, unid, "
        "un, pieza, piezas, pza, pzas, pezzo, pezzi, pz, peça, peças, stykke, stykker, kpl, kappale, "
        "kappaletta, item, items",
        "EA": "ea, each",
        "PR": "pair, pairs, paar, paare, paire, paires, par, pares, paio, paia, pari, paria",
        "DZN": "dozen, dozens, dutzend, douzaine, douzaines, docena, docenas, dozzina, dozzine, dozijn, "
        "dúzia, dúzias, dusin, tusina",
        "PTN": "portion, portions, portionen, portie, porties, porción, porciones, porzione, porzioni, "
        "porção, porções, porsjon, porsjoner, portioner, annos, annosta",
    },
    "time": {
        "SEC": "s, sec, secs, second, seconds, sekunde, sekunden, seconde, secondes, segundo, segundos, "
        "secondo, secondi, sekund, sekunder, sekuntia",
        "MIN": "min, mins, minute, minutes, minuten, minuto, minutos, minuti, minutt, minutter, minut, "
        "minuter, minuutti, minuuttia, minuut",
        "HUR": "h, hr, hrs, std, hour, hours, stunde, stunden, heure, heures, hora, horas, ora, ore, uur, "
        "timer, timme, timmar, tunti, tuntia",
        "DAY": "day, days, tag, tage, tagen, jour, jours, día, días, dia, dias, giorno, giorni, dag, "
        "dagen, dage, dager, dagar, päivä, päivää, pv",
        "WEE": "week, weeks, woche, wochen, semaine, semaines, semana, semanas, settimana, settimane, "
        "weken, uke, uker, uge, uger, vecka, veckor, viikko, viikkoa, vko",
        "MON": "month, months, monat, monate, monaten, mois, mes, meses, mese, mesi, maand, maanden, mês, "
        "måned, måneder, månad, månader, kuukausi, kuukautta, kk",
        "ANN": "year, years, yr, yrs, jahr, jahre, jahren, an, ans, année, années, año, años, anno, anni, "
        "jaar, jaren, ano, anos, år, vuosi, vuotta",
    },
    "power": {
        "C31": "=mW, milliwatt, milliwatts",
        "WTT": "W, watt, watts, vatio, vatios, wattia",
        "KWT": "kW, kilowatt, kilowatts, kilovatio, kilovatios",
        "MAW": "=MW, megawatt, megawatts",
    },
    "voltage": {
        "2Z": "=mV, millivolt, millivolts",
        "VLT": "=V, volt, volts, voltio, voltios, volttia",
        "KVT": "kV, kilovolt, kilovolts",
    },
    "current": {
        "4K": "mA, milliampere, milliamperes",
        "AMP": "=A, amp, amps, ampere, amperes, ampère, ampères, amperio",
    },
    "charge": {
        "E09": "mAh",
        "AMH": "Ah",
    },
    "frequency": {
        "HTZ": "Hz, hertz",
        "KHZ": "kHz",
        "MHZ": "=MHz",
        "A86": "GHz",
    },
    "pressure": {
        "A97": "hPa",
        "KPA": "kPa",
        "MBR": "mbar",
        "BAR": "bar",
    },
    "light": {
        "LUM": "lm, lumen",
    },
    "sound": {
        "2N": "dB, decibel, dezibel",
    },
    "data": {
        "2P": "kB",
        "4L": "=MB",
        "E34": "GB",
        "E35": "TB",
    },
}  # fmt: skip

#: What may be two units: the words, and what each of its meanings is to be written as.
_AMBIGUOUS: Mapping[str, Mapping[str, str]] = {
    "t": {"TNE": "tonne", "G25": "teaspoon"},
    "ton, tons": {"TNE": "tonne", "STN": "short ton", "LTN": "long ton"},
    "st": {"H87": "pcs", "STI": "stone"},
    "=M": {"MTR": "m", "MIN": "min", "MON": "month"},
    "=Mg": {"MGM": "mg", "TNE": "tonne"},
    "mw": {"C31": "mW", "MAW": "MW"},
    "mj": {"C15": "mJ", "3B": "MJ"},
    "mv": {"2Z": "mV", "B78": "MV"},
    "mb": {"4L": "MB", "MBR": "mbar"},
    "mc": {"MC": "µg", "MTQ": "m³"},
    "mn": {"MIN": "min", "59": "ppm"},
    "cal, calorie, calories, kalorie, kalorien, caloría, calorías, caloria, calorias, calorieën, kalori, "
    "kalorier, kaloria, kaloriaa": {"E14": "kcal", "D70": "cal"},
    "fl oz, floz, oz fl, fluid ounce, fluid ounces, fl ounce, once liquide, onces liquides": {
        "OZA": "US fl oz",
        "OZI": "UK fl oz",
    },
    "gal, gallon, gallons, galón, galones, gallone, gallonen": {"GLL": "US gallon", "GLI": "UK gallon"},
    "pt, pint, pints, pinte, pintes": {"PTL": "US pint", "PTI": "UK pint"},
    "v": {"VLT": "V", "ANN": "year"},
    "a": {"AMP": "A", "ANN": "year"},
    "j": {"JOU": "J", "DAY": "day"},
    "k": {"KEL": "K", "KGM": "kg"},
    "c": {"CEL": "°C", "G21": "cup"},
    "ct": {"H87": "pcs", "CTM": "carat"},
    "% vol, %vol, vol %, vol%, vol-%, % vol alc, % abv": {"P1": "%", "ASU": "strength by volume"},
    '", ″, \'\', ”': {"INH": "inch", "SEC": "s"},
    "', ′, ’": {"FOT": "ft", "MIN": "min"},
}  # fmt: skip

#: Dimensions whose codes are no words of their own in small letters, as `pal` and `mon` are.
_MEASURES = frozenset({"mass", "volume", "length", "area"})
#: The dimension of each code.
_DIMENSIONS = {code: dimension for dimension, units in _WORDS.items() for code in units} | {
    "DG": "mass",
    "STI": "mass",
    "STN": "mass",
    "LTN": "mass",
    "D70": "energy",
    "C15": "energy",
    "G21": "volume",
    "G25": "volume",
    "CTM": "mass",
    "ASU": "share",
    "B78": "voltage",
}
_FACTORS = {code: factor for units in FACTORS.values() for code, factor in units.items()}

#: The mark of the EU for packs that are filled by weight or volume (Directive 76/211/EEC); it is no part of an amount.
ESTIMATED = "℮"
#: That of an abbreviation: Stk., fl. oz.
_FULL_STOP = re.compile(r"(?<=[^\W\d_])\.(?!\.)")


def unit_code(word: str, own: Mapping[str, Iterable[str]] | None = None) -> str:
    """Return the code of a unit.

    Parameters
    ----------
    word
        Its code, a symbol or a word for it.
    own
        Codes that a catalogue uses, by code and label in lower case; they are asked where the word is not known
        otherwise, or may be two of them.

    Raises
    ------
    InputError
        When it is not known, or not certain, which unit is meant.

    Examples
    --------
    >>> [unit_code(one) for one in ("g", "KG", "Liter", "m²", "GRM", "MJ")]
    ['GRM', 'KGM', 'LTR', 'MTK', 'GRM', '3B']
    >>> unit_code("cal")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: 'cal' may be kcal (E14) or cal (D70). Write the code behind the number: 5 E14 or 5 D70.
    """
    typed = _as_written(word)
    exact, folded = _units_by_word()
    if typed in _DIMENSIONS:
        return typed
    labels = own or {}
    codes = frozenset(labels.get(word.strip().casefold()) or labels.get(typed.casefold(), ()))
    meanings = exact.get(typed) or (folded.get(typed.casefold(), {}) if _has_usual_case(typed) else {})
    if len(meanings) == 1:
        return next(iter(meanings))
    if len(codes) == 1 and (not meanings or codes <= meanings.keys()):
        return next(iter(codes))
    if meanings:
        raise InputError.saying(
            "{text} may be {meanings}. Write the code behind the number: {examples}.",
            text=f"{word.strip()!r:.40}",
            meanings=" or ".join(f"{meant} ({code})" for code, meant in meanings.items()),
            examples=f"5 {' or 5 '.join(meanings)}",
        )
    if dimension_of(typed.upper()) in _MEASURES:
        return typed.upper()
    shown = f"{word.strip()!r:.40}"
    if near := nearest(typed, [*folded, *labels]):
        raise InputError.saying(
            "{text} is not a known unit; did you mean {near}?", text=shown, near=repr(near)
        )
    raise InputError.saying(
        "{text} is not a known unit. Write g, kg, ml, l, cm or a code such as GRM.", text=shown
    )


def dimension_of(code: Any) -> str:
    """Return what a unit measures; a unit that is not known is the only one of its kind.

    >>> dimension_of("GRM"), dimension_of("KGM"), dimension_of("H87"), dimension_of("BOX")
    ('mass', 'mass', 'count', 'BOX')
    """
    return _DIMENSIONS.get(str(code), str(code))


def are_equal(one: tuple[Any, Any], other: tuple[Any, Any], tolerance: float = 1e-9) -> bool:
    """Whether two amounts are the same, each a number and the code of its unit, but for so small a part of them.

    >>> are_equal((0.5, "KGM"), (500, "GRM")), are_equal((500, "GRM"), (500, "MLT"))
    (True, False)
    """
    (first, unit), (second, others) = one, other
    if unit == others:
        return math.isclose(first, second, rel_tol=tolerance, abs_tol=1e-12)
    if dimension_of(unit) != dimension_of(others) or not {unit, others} <= _FACTORS.keys():
        return False
    return math.isclose(first * _FACTORS[unit], second * _FACTORS[others], rel_tol=tolerance, abs_tol=1e-12)


def _as_written(word: str) -> str:
    """Return a word for a unit as the table has it: m2 for m², kg for ㎏, without the mark of estimated quantities."""
    plain = unicodedata.normalize("NFKC", word.replace(ESTIMATED, " ")).replace("μ", "µ")
    return " ".join(_FULL_STOP.sub("", plain.replace("µ", "\u00b5")).split())


def _has_usual_case(typed: str) -> bool:
    """Whether letters are all small, all capitals, or the first one alone is: mG and kG are no slips of a shift key."""
    letters = "".join(filter(str.isalpha, typed))
    return letters in {letters.lower(), letters.upper(), letters.capitalize()} or " " in typed


@cache
def _units_by_word() -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """Return what words mean: those that are read in one case, and those that are read in any."""
    exact: dict[str, dict[str, str]] = defaultdict(dict)
    folded: dict[str, dict[str, str]] = defaultdict(dict)
    for units in _WORDS.values():
        for code, words in units.items():
            for word in map(str.strip, words.split(",")):
                # A symbol is written as declared, whatever its letters mean in another case.
                exact[_as_written(word.removeprefix("="))][code] = word.removeprefix("=")
                if not word.startswith("="):
                    folded[_as_written(word).casefold()][code] = word
    for words, meanings in _AMBIGUOUS.items():
        for word in map(str.strip, words.split(",")):
            if word.startswith("="):
                exact[word.removeprefix("=")] = dict(meanings)
            else:
                exact.pop(_as_written(word), None)
                folded[_as_written(word).casefold()] = dict(meanings)
    return dict(exact), dict(folded)
