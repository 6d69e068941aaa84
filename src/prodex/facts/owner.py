"""The owner of a product: what distinguishes owners.

The specification gives an owner a type and a name, and the service an id as well (`filter_owners_in` uses it), or
a uuid. So an owner is known by the id, else the uuid, else the name; blank ones are none. Two owners of one name are
two, and one that changed its name is still one. What is shown is the name, and where there is none what it is known by.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.name import shown_labels
from prodex.tables.columns import unless_blank

#: What an owner is known by: columns of `products`, the best first.
OWNER_COLUMNS = ("owner_id", "owner_uuid", "owner")


def owner_codes(column: Callable[[str], pa.Array]) -> pa.Array:
    """Return what the owner of each product is known by; null where there is none.

    Parameters
    ----------
    column
        Gives a column of `products`.

    Examples
    --------
    >>> owners = {"owner_id": ["4", None, " "], "owner_uuid": ["u", "u", None], "owner": ["Mill", "Mill", "Mill"]}
    >>> owner_codes(lambda name: pa.array(owners[name])).to_pylist()
    ['4', 'u', 'Mill']
    """
    return pc.coalesce(*(unless_blank(column(name)) for name in OWNER_COLUMNS))


def owners_shown(column: Callable[[str], pa.Array]) -> pa.Array:
    """Return what people read for the owner of each product: the name, else what the owner is known by.

    >>> owners = {"owner_id": ["4", "5"], "owner_uuid": [None, None], "owner": ["Mill", " "]}
    >>> owners_shown(lambda name: pa.array(owners[name], pa.string())).to_pylist()
    ['Mill', '5']
    """
    return shown_labels(column("owner"), owner_codes(column))
