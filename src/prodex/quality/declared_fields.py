"""Fields that laws ask for and the specification does not list: a profile declares where this catalogue has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class DeclaredField:
    """A field that a profile can declare.

    Attributes
    ----------
    name
        The key in `[attributes]` of a profile, and the parameter of the rules that ask for it.
    label
        What it is called in a sentence.
    what
        What belongs there, in a sentence.
    suggestions
        Wire paths where other catalogues were seen to have it.
    """

    name: str
    label: str
    what: str
    suggestions: tuple[str, ...] = ()


def _by_name(*fields: DeclaredField) -> dict[str, DeclaredField]:
    return {field.name: field for field in fields}


#: All of them, by name.
FIELDS: Mapping[str, DeclaredField] = _by_name(
    DeclaredField(
        "manufacturer",
        "manufacturer",
        "Name, postal address and electronic address of the manufacturer.",
        ("contactInformationList", "partyInformationList"),
    ),
    DeclaredField(
        "responsible_person",
        "responsible person in the EU",
        "Name, postal address and electronic address of the person in the Union who answers for the product.",
        ("partyInformationList", "contactInformationList"),
    ),
    DeclaredField(
        "warnings",
        "warnings",
        "Warnings and safety information, as texts in the languages of the markets.",
        ("warnings",),
    ),
    DeclaredField(
        "origin_country",
        "countries of origin",
        "The country of each part of a blend, one item of a list for each.",
        ("originCountry",),
    ),
    DeclaredField(
        "origin_share",
        "shares of the countries of origin",
        "The share of each country in per cent, in the same item of the list as the country.",
        (),
    ),
    DeclaredField(
        "packaging_components",
        "materials of the packaging",
        "The parts of the packaging with the material of each.",
        ("packagingInformationList",),
    ),
    DeclaredField(
        "customs_code",
        "customs code",
        "Code of the Combined Nomenclature: digits, the first six those of the Harmonized System.",
        ("importEuropeanClassification", "importClassification"),
    ),
    DeclaredField(
        "due_diligence",
        "reference of the due diligence statement",
        "Reference number of the due diligence statement on deforestation.",
        (),
    ),
    DeclaredField(
        "unit_price",
        "unit of the price",
        "The unit, or the measure, for which a price is compared: per kilogram, per litre.",
        ("priceLegalCommonUnitObligation", "priceComparisonType"),
    ),
)


def law_fields() -> pd.DataFrame:
    """Return the fields that laws ask for and the specification does not list.

    A profile declares them with `attributes = {manufacturer = "contactInformationList"}`, or `Profile.with_attributes`.

    Returns
    -------
    pandas.DataFrame
        One row per field: its name (`field`), its label, what belongs there (`what`), and the attributes where other
        catalogues were seen to have it (`seen_as`).

    Examples
    --------
    >>> law_fields().set_index("field").loc["manufacturer", "seen_as"]
    'contactInformationList, partyInformationList'
    """
    rows = [(field.name, field.label, field.what, ", ".join(field.suggestions)) for field in FIELDS.values()]
    return pd.DataFrame(rows, columns=["field", "label", "what", "seen_as"])
