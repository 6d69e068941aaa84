"""Nutrients side by side: one row per product, one column per nutrient and unit, for one basis such as 100 g.

A basis is an amount and the words beyond it: what 100 g hold as prepared is nothing that 100 g hold as sold. The words
are those of the partition's name and of its `preparationState`, as far as they say more than the amount. "As sold" is
what is meant where nothing is said (Regulation (EU) No 1169/2011, Art. 31(3)).
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.catalog import Catalog
from prodex.errors import InputError, QueryError
from prodex.phrases import hint, unaccented
from prodex.tables.attributes import PENDING
from prodex.tables.frames import to_frame
from prodex.written_numbers import INSIDE, written_number

_COLUMNS = (
    "product_id",
    "position",
    "attribute",
    "partition",
    "basis_quantity",
    "basis_unit_code",
    "nutrient_code",
    "nutrient",
    "quantity",
    "unit_code",
    "unit",
)
# Recommendation 20 has two kilocalories, E14 (international table) and K51 (mean); labels call both kcal.
#: How people write units (UN/CEFACT Recommendation 20).
_SYMBOLS = {
    "GRM": "g",
    "MGM": "mg",
    "MC": "µg",
    "KGM": "kg",
    "MLT": "ml",
    "CLT": "cl",
    "LTR": "l",
    "KJO": "kJ",
    "E14": "kcal",
    "K51": "kcal",
    "P1": "%",
}
_WORDS = {
    "gram": "GRM",
    "gramme": "GRM",
    "gr": "GRM",
    "milliliter": "MLT",
    "millilitre": "MLT",
    "liter": "LTR",
}
_WORDS |= {"litre": "LTR", "mcg": "MC", "milligram": "MGM", "kilogram": "KGM"}
_UNITS = {
    # Reversed, so that of two codes with one symbol the first counts: "kcal" is E14.
    **{symbol.casefold(): code for code, symbol in reversed(_SYMBOLS.items())},
    **{code.casefold(): code for code in _SYMBOLS},
    **_WORDS,
}
_AMOUNT = re.compile(rf"({INSIDE})\s*([^\W\d_]\w*\.?)")
_WORD = re.compile(r"\w+")

#: Words around an amount that say nothing beyond it, without accents.
_PLAIN = frozenset(
    """
    per of the a for each nutrition nutritional nutrient nutrients fact facts information declaration label panel table
    typical average value values content analysis product food
    pour par de du des d la le les l une un chaque et nutritionnel nutritionnelle nutritionnels nutritionnelles moyen
    moyens moyenne moyennes valeur valeurs tableau analyse apport apports informations produit aliment
    pro je im durchschnittliche durchschnittlicher durchschnitt nahrwert nahrwerte nahrwertangaben nahrwerttabelle
    nahrwertinformation nahrwertdeklaration produkt lebensmittel
    van het voedingswaarde voedingswaarden voedingswaardevermelding voedingsinformatie gemiddeld gemiddelde
    di ogni valori valore nutrizionali nutrizionale medi medio dichiarazione informazioni tabella prodotto alimento
    por cada valor valores nutricionales nutricional medios promedio informacion declaracion tabla producto
    nutricionais media declaracao informacao tabela produto
    """.split()  # noqa: SIM905
)
#: How records say the state in which figures are meant, without accents and the words above; "" as sold.
_STATES = {
    **dict.fromkeys(
        (
            *("as sold", "sold", "as purchased", "unprepared", "not prepared", "non prepared"),
            *("tel que vendu", "tels que vendus", "telle que vendue", "tel vendu", "vendu", "non prepare"),
            *(
                "wie verkauft",
                "unzubereitet",
                "nicht zubereitet",
                "zoals verkocht",
                "onbereid",
                "niet bereid",
            ),
        ),
        "",
    ),
    **dict.fromkeys(
        (
            *("prepared", "as prepared", "when prepared", "ready prepared"),
            *(
                "prepare",
                "prepares",
                "tel que prepare",
                "tels que prepares",
                "apres preparation",
                "une fois prepare",
            ),
            *("zubereitet", "zubereitetes", "zubereiteten", "nach zubereitung", "bereid", "na bereiding"),
        ),
        "prepared",
    ),
}
_PARTITIONS = "isPartitionedBy"
_STATE = "preparationstate"
#: Problems named one by one in a warning.
_NAMED = 3


class Basis(NamedTuple):
    """What figures refer to: an amount, with its unit by code, and the words beyond it."""

    amount: float
    unit: str
    words: str = ""

    def __str__(self) -> str:
        return f"{self.amount:g} {_SYMBOLS.get(self.unit, self.unit)} {self.words}".rstrip()


def nutrition_wide(catalog: Catalog, basis: str, labels: bool) -> pd.DataFrame:
    """Put the nutrients of one basis side by side; see `Catalog.nutrition_wide`."""
    if not isinstance(basis, str):
        raise QueryError(f"nutrition_wide() takes a basis such as '100 g', not {basis!r:.60}.")
    rows = to_frame(catalog.arrow("nutrients", _COLUMNS))
    # A figure of an update that waits would look like a second figure of the product.
    rows = rows[~rows["attribute"].str.startswith(PENDING)]
    rows = rows.assign(
        state=states_said(lambda table, *names: catalog.arrow(table, ["product_id", *names]), rows)
    )
    bases, contradicted = _bases(rows)
    chosen = _of_basis(rows, bases, basis)
    if skipped := sorted(set(rows["product_id"][contradicted.map(lambda two: parsed(basis) in two)])):
        _warn(
            skipped, f"say {basis!r} in words and another amount in figures, or the reverse, and are left out"
        )
    if others := _with_other_words(rows, bases, chosen, basis):
        words = ", ".join(map(repr, list(dict.fromkeys(others.values()))[:_NAMED]))
        _warn(
            others, f"have figures of {basis!r} with further words alone, and are left out; ask for {words}"
        )
    products = to_frame(catalog.arrow("products", ["product_id", "gtin"]))
    found, unclear = _pivoted(chosen, products, labels)
    if unclear:
        _warn(
            unclear,
            "have different figures for one nutrient; these are missing, and stand under `duplicates`",
        )
    return found


def parsed(text: object) -> Basis | None:
    """Return the amount that a text states, with the words beyond it; None where it states none, or several.

    >>> parsed("100 g"), parsed("per 100GRM"), parsed("per portion")
    (Basis(amount=100.0, unit='GRM', words=''), Basis(amount=100.0, unit='GRM', words=''), None)
    >>> parsed("1 000 g"), parsed("1,000 g")
    (Basis(amount=1000.0, unit='GRM', words=''), None)
    >>> parsed("100 g as prepared"), parsed("100 g, tel que vendu"), parsed("Portion (30 g)")[2]
    (Basis(amount=100.0, unit='GRM', words='prepared'), Basis(amount=100.0, unit='GRM', words=''), 'portion')
    """
    return _read(text)[0]


def _read(text: object) -> tuple[Basis | None, str]:
    """Return the amount that a text states, and the words beyond it."""
    if not isinstance(text, str):
        return None, ""
    found = [(match, code) for match in _AMOUNT.finditer(text) if (code := _unit_code(match[2]))]
    if len(found) != 1:
        return None, _words_of(text)
    match, code = found[0]
    words = _words_of(f"{text[: match.start()]} {text[match.end() :]}")
    try:
        return Basis(float(written_number(match[1])), code, words), words
    except InputError:  # "1,000 g" is one gram, or a thousand
        return None, words


def _unit_code(word: str) -> str | None:
    unit = word.casefold().rstrip(".")
    return _UNITS.get(unit) or _UNITS.get(unit.rstrip("s"))


def _words_of(text: str) -> str:
    """Return what a text says beyond an amount, in the form in which it compares.

    >>> _words_of("Pour une portion"), _words_of("Préparé"), _words_of("UNPREPARED")
    ('portion', 'prepared', '')
    """
    words = " ".join(word for word in _WORD.findall(unaccented(text)) if word not in _PLAIN)
    return _STATES.get(words, words)


def states_said(read: Callable[..., pa.Table], rows: pd.DataFrame) -> pd.Series:
    """Return the state in which the figures of each row are meant, as their partition or they themselves say it.

    Parameters
    ----------
    read
        Returns columns of a table by its name and theirs, behind one that says whose each row is.
    rows
        Nutrients: whose each is, and their `attribute` and `position`.
    """
    whose = rows.columns[0]
    said: dict[tuple[Any, str, str], list[str]] = {}
    # Nobody has declared it, so it is kept by its shape.
    for table, *columns in (("codes", "code", "label"), ("scalars", "value"), ("texts", "text")):
        found = read(table, "attribute", "position", *columns)
        is_state = pc.match_substring_regex(found["attribute"], rf"(?i)^{_PARTITIONS}\..*\b{_STATE}\w*$")
        for one in found.filter(is_state).to_pylist():
            word = str(next((one[column] for column in columns if one[column]), ""))
            around = one["attribute"].rpartition(".")[0]
            position = one["position"] or ""
            # Texts, and a list of anything, have the item's place behind that of the partition.
            is_item = table == "texts" or "." in position
            for place in {position, position.rpartition(".")[0] if is_item else position} if word else ():
                said.setdefault((one[whose], around, place), []).append(_words_of(word))
    if not said:
        return pd.Series("", rows.index, dtype=object)
    found_states = []
    for product, attribute, position in rows[[whose, "attribute", "position"]].itertuples(index=False):
        outer = str(position).rpartition(".")[0]
        # With one index alone, either the partitions or the nutrients are no list.
        around = [outer] if outer else ["", str(position)]
        own = [word for place in around for word in said.get((product, _PARTITIONS, place), ())]
        own += said.get((product, attribute, str(position)), ())
        found_states.append(" ".join(dict.fromkeys(filter(None, own))))
    return pd.Series(found_states, rows.index, dtype=object)


def says_prepared(text: str | None) -> bool:
    """Say whether the name or the state of a partition says that its figures are those of prepared food.

    >>> says_prepared("100 g as prepared"), says_prepared("100 g, tel que vendu"), says_prepared(None)
    (True, False, False)
    """
    return "prepared" in _read(text)[1].split()


def _bases(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    """Return what each row refers to, from its figures or else its words; and both, where these contradict."""
    keys = ["partition", "basis_quantity", "basis_unit_code", "state"]
    # Partitions are parsed once, and not once for each of the dozen nutrients in them.
    distinct = rows[keys].drop_duplicates()
    found: list[tuple[Basis | None, str]] = []
    wrong: list[tuple[Basis, ...]] = []
    for name, amount, unit, state in distinct.itertuples(index=False):
        named, words = _read(name)
        words = " ".join(dict.fromkeys([*words.split(), *state.split()]))
        named = named and named._replace(words=words)
        figures = None if pd.isna(amount) or pd.isna(unit) else Basis(float(amount), str(unit), words)
        wrong.append((figures, named) if figures and named and figures != named else ())
        found.append((None if wrong[-1] else figures or named, words))
    both = distinct.assign(
        basis=pd.Series([basis for basis, _ in found], distinct.index, object),
        words=pd.Series([words for _, words in found], distinct.index, object),
        wrong=pd.Series(wrong, distinct.index, object),
    )
    merged = rows[keys].merge(both, how="left", on=keys).set_axis(rows.index)
    return merged[["basis", "words"]].astype(object), merged["wrong"].astype(object)


def _of_basis(rows: pd.DataFrame, bases: pd.DataFrame, basis: str) -> pd.DataFrame:
    """Return the rows of a basis, which may be an amount or the name of a partition."""
    wanted, words = _read(basis)
    if wanted is not None:
        meant = bases["basis"].map(lambda one: one == wanted).astype(bool)
    else:
        # A name that says nothing beyond an amount is only itself.
        named = rows["partition"].str.strip().str.casefold() == basis.strip().casefold()
        meant = (bases["words"] == words) & (named.fillna(False) | bool(words))
    if len(rows) and not meant.any():
        amounts = Counter(map(str, bases["basis"].dropna()))
        there = [*amounts, *(w for w in rows["partition"].dropna().unique() if parsed(w) is None)]
        otherwise = (
            f"Give one of {', '.join(there[:12])}." if there else "No partition says what it refers to."
        )
        raise QueryError(f"No nutrients refer to {basis!r}{hint(basis, there, otherwise)}")
    return rows[meant]


def _with_other_words(
    rows: pd.DataFrame, bases: pd.DataFrame, chosen: pd.DataFrame, basis: str
) -> dict[str, str]:
    """Return the products that have an amount only with words that nobody knows here, each with one such basis."""
    wanted = parsed(basis)
    if wanted is None or wanted.words:
        return {}
    unknown = bases["basis"].map(
        lambda one: one is not None and one[:2] == wanted[:2] and one.words not in _STATES.values()
    )
    others = rows[unknown.astype(bool) & ~rows["product_id"].isin(chosen["product_id"])]
    return dict(zip(others["product_id"], map(str, bases["basis"][others.index]), strict=True))


def _pivoted(rows: pd.DataFrame, products: pd.DataFrame, labels: bool) -> tuple[pd.DataFrame, list[str]]:
    """Return a column for each nutrient and unit, and the products without a figure because they have several."""
    rows = rows[rows["quantity"].notna()]
    keys = ["nutrient_code", "nutrient", "unit_code", "unit"]
    names = _column_names(rows[keys].value_counts(dropna=False).index.tolist(), labels)
    column = [names[_nutrient_key(*row)] for row in rows[keys].itertuples(index=False)]
    cells = rows.assign(column=pd.Series(column, rows.index, object))
    several = cells.duplicated(["product_id", "column"], keep=False)
    agreed = cells.groupby(["product_id", "column"])["quantity"].agg(["first", "nunique"])
    side = agreed["first"].where(agreed["nunique"] == 1).unstack("column")
    # Beside a column of keys, since pandas cannot merge no products with an index.
    found = products.merge(
        side.reindex(columns=sorted(set(column))).reset_index(), how="left", on="product_id"
    )
    said = (
        cells[several]
        .groupby(["product_id", "column"])["quantity"]
        .agg(lambda values: " | ".join(f"{value:g}" for value in values))
    )
    named = said.index.get_level_values("column")
    texts = pd.Series([f"{n}: {t}" for n, t in zip(named, said, strict=True)], said.index, dtype="str")
    by_product = texts.groupby(level="product_id").agg("; ".join)
    found["duplicates"] = found["product_id"].map(by_product).astype("str")
    unclear = agreed.index[agreed["nunique"] > 1].get_level_values("product_id")
    return found, sorted(set(unclear))


def _nutrient_key(code: Any, label: Any, unit: Any, sign: Any) -> tuple[str | None, ...]:
    """Return what distinguishes one column from another: the code where there is one, else the label."""
    name = label if pd.isna(code) else code
    measure = sign if pd.isna(unit) else unit
    return (None if pd.isna(name) else str(name), None if pd.isna(measure) else str(measure))


def _column_names(kinds: Iterable[tuple[Any, ...]], labels: bool) -> dict[tuple[str | None, ...], str]:
    """Return the names of columns: `FAT.g`, or by label `Fat (g)` where no two nutrients share it."""
    by_key: dict[tuple[str | None, ...], str] = {}
    called: dict[tuple[str | None, ...], str] = {}
    for code, label, unit, sign in kinds:  # the most frequent label first
        key = _nutrient_key(code, label, unit, sign)
        symbol = _SYMBOLS.get(str(key[1]), key[1])
        name = key[0] or "unnamed"
        by_key[key] = name if symbol is None else f"{name}.{symbol}"
        if labels and not pd.isna(label):
            called.setdefault(key, str(label) if symbol is None else f"{label} ({symbol})")
    shared = Counter(called.values())
    return {key: called[key] if shared[called.get(key, "")] == 1 else name for key, name in by_key.items()}


def _warn(products: Iterable[str], what: str) -> None:
    several = list(products)
    named = ", ".join(several[:_NAMED]) + (" ..." if several[_NAMED:] else "")
    warnings.warn(f"{len(several):,} products ({named}) {what}.", stacklevel=4)
