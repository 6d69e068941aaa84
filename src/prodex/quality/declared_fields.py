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
