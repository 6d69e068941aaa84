"""The state of an attribute of a product: filled, missing in one of three ways, not readable, or not asked for."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

#: The states of an attribute of products, one `FillState.number` for each product.
FillStates: TypeAlias = npt.NDArray[np.int8]


class FillState(StrEnum):
    """Whether an attribute of a product is filled, and why not; the member's value is shown.

    The table `presence` has all of them but the last for the attributes at the top of the records: no record shows
    what was not asked for.
    """

    FILLED = "filled"
    #: A list or an object without anything in it, or a text that shows nothing.
    EMPTY = "empty"
    NULL = "null"
    ABSENT = "absent"
    #: There, and nobody knows what it means (see `prodex.tables.unreadable`): neither filled nor missing.
    UNREADABLE = "unreadable"
    #: Not there, and a query or a file left it out.
    NOT_ASKED = "not asked for"

    @property
    def number(self) -> int:
        """What stands for it in an array of states: its place among all of them."""
        return STATES.index(self)


#: All states, each at its number.
STATES = tuple(FillState)
#: The states of an attribute that a product lacks: of what is not readable or was not asked for nobody knows it.
LACKING = (FillState.EMPTY, FillState.NULL, FillState.ABSENT)


def state_of(value: Any) -> FillState:
    """Return how the value of an attribute was sent: as null, empty or filled.

    >>> [str(state_of(value)) for value in (None, [], "", {}, 0, [None])]
    ['null', 'empty', 'empty', 'empty', 'filled', 'filled']
    """
    if value is None:
        return FillState.NULL
    return FillState.EMPTY if value in ("", [], {}) else FillState.FILLED
