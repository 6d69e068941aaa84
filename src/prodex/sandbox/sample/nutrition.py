"""Nutrition declarations whose figures agree: energy follows from the nutrients, parts stay within wholes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from prodex.sandbox.sample.vocabulary import CODES, Kind, unit

_KILOJOULES_PER_KILOCALORIE = 4.184
#: Daily reference intakes in grams (Annex XIII); energy in kilocalories.
_REFERENCE_INTAKES = {
    "ENER-": 2000,
    "FAT": 70,
    "FASAT": 20,
    "CHOAVL": 260,
    "SUGAR-": 90,
    "PRO-": 50,
    "SALTEQ": 6,
}


@dataclass(frozen=True, slots=True)
class Nutrients:
    """Grams per 100 g or 100 ml."""

    fat: float
    saturates: float
    carbohydrate: float
    sugars: float
    protein: float
    fibre: float
    salt: float

    @property
    def kilocalories(self) -> float:
        """Energy, computed with the factors of Regulation (EU) 1169/2011, Annex XIV."""
        return 9 * self.fat + 4 * self.carbohydrate + 4 * self.protein + 2 * self.fibre


def draw_nutrients(rng: Random, kind: Kind) -> Nutrients | None:
    """Draw figures near those of the kind; None where nothing has to be declared.

    Fibre stays below a twenty-fifth of the energy, because auditors may compute energy without it.
    """
    if not kind.nutrition:
        return None
    spread = rng.uniform(0.92, 1.0)
    fat, saturates, carbohydrate, sugars, protein, fibre, salt = kind.nutrition
    drawn = Nutrients(
        fat=round(fat * spread, 1),
        saturates=round(saturates * spread, 1),
        carbohydrate=round(carbohydrate * spread, 1),
        sugars=round(sugars * spread, 1),
        protein=round(protein * spread, 1),
        fibre=0.0,
        salt=round(salt * spread, 2),
    )
    return replace(drawn, fibre=min(fibre, int(drawn.kilocalories * 0.02 * 10) / 10))


def declaration(
    nutrients: Nutrients, basis: str, *, kilocalories: float | None = None, daily: bool = False
) -> list[dict[str, Any]]:
    """Return `isPartitionedBy`: one partition of 100 g or ml with its nutrients.

    Parameters
    ----------
    nutrients
        The figures.
    basis
        Unit code of the 100: GRM or MLT.
    kilocalories
        Energy to declare instead of the computed one.
    daily
        Whether to give the share of the daily reference intake.
    """
    energy = nutrients.kilocalories if kilocalories is None else kilocalories
    rows: list[tuple[str, float, str]] = [
        ("ENER-", round(energy * _KILOJOULES_PER_KILOCALORIE), "KJO"),
        ("ENER-", round(energy), "E14"),
        ("FAT", nutrients.fat, "GRM"),
        ("FASAT", nutrients.saturates, "GRM"),
        ("CHOAVL", nutrients.carbohydrate, "GRM"),
        ("SUGAR-", nutrients.sugars, "GRM"),
        ("PRO-", nutrients.protein, "GRM"),
        ("SALTEQ", nutrients.salt, "GRM"),
    ]
    if nutrients.fibre:
        rows.insert(6, ("FIBTG", nutrients.fibre, "GRM"))
    contains = []
    for code, amount, unit_code in rows:
        item: dict[str, Any] = {
            "isConceptualizedBy": {"code": code, "label": CODES["nutrient"][code]["en"]},
            "quantity": amount,
            "expressedIn": unit(unit_code),
        }
        if daily and code in _REFERENCE_INTAKES and unit_code != "KJO":
            item["percentageOfDailyValueIntake"] = round(100 * amount / _REFERENCE_INTAKES[code])
        contains.append(item)
    name = "100 g" if basis == "GRM" else "100 ml"
    return [{"name": name, "quantity": 100, "isMeasuredBy": unit(basis), "contains": contains}]
