"""Which products of a catalogue a figure counts: consumer units, unless all were asked for or chosen by their kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from prodex.errors import NotExported
from prodex.selection.paths import GROUP_PATHS
from prodex.selection.units import ALL_UNITS, CONSUMER, FLAG, CountedUnits, names_units, units_given

if TYPE_CHECKING:
    from prodex.catalog.catalog import Catalog


def counted_units(catalog: Catalog, units: str = CONSUMER) -> CountedUnits:
    """Return which products of a catalogue count.

    Parameters
    ----------
    catalog
        The catalogue. Of one that was chosen by the flag of consumer units, or by packaging, all count.
    units
        "consumer" or "all".

    Raises
    ------
    InputError
        When `units` is anything else.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "isConsumerUnit": False}, {"id": 8}])
    >>> print(counted_units(catalog).count())
    1 consumer unit, 1 of unknown kind
    >>> print(counted_units(catalog.where(is_consumer_unit=False)).count())
    1 product
    """
    given = units_given(units)
    wanted = ALL_UNITS if is_chosen_by_units(catalog) else given
    try:
        flags = catalog.arrow("products", [FLAG])[FLAG]
    except NotExported:
        # As where nobody has asked for it: all count, and that is said.
        return CountedUnits.of(pa.nulls(len(catalog), pa.bool_()), wanted, is_asked=False)
    return CountedUnits.of(flags, wanted, catalog.origin.asked(GROUP_PATHS["unit"]))


def is_chosen_by_units(catalog: Catalog) -> bool:
    """Whether the products of a catalogue were chosen by what tells units apart: then all of them are meant."""
    return catalog.chosen is not None and names_units(catalog.chosen.selection)
