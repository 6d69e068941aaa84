"""What `watch` looks at: the measures, and the values that audits have of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from prodex.quality.unusual import FigureKind

#: The code of products without one, and the only group of a figure of the whole catalogue.
NONE = ""

#: Suppliers of fewer products have no shares of their own: one product makes too much of them.
LEAST = 5

#: So many of the largest suppliers are watched attribute by attribute.
LARGEST = 50


class MeasuredValue(NamedTuple):
    """A figure of one group: the value, and of a share of how many products it is one."""

    value: float
    size: int = 0


@dataclass(frozen=True)
class Measure:
    """A kind of figure, one for each group.

    Attributes
    ----------
    kind
        What it is.
    subject
        What is measured, with {0} for the group, and {1} for the supplier of an attribute.
    what
        What its value says, behind the value.
    by
        Of which groups there is one each: "supplier", "kind", "language"; attributes are called as they are.
    is_of_group
        Whether there is none where the group has no products; otherwise it is 0 there.
    """

    kind: FigureKind
    subject: str
    what: str = ""
    by: str = ""
    is_of_group: bool = False


#: Every measure by its name, in the order in which findings are listed: those of the whole catalogue first, causes
#: before consequences, of which scores are the last.
MEASURES: Mapping[str, Measure] = {
    "products": Measure(FigureKind.COUNT, "Products"),
    "language": Measure(FigureKind.SHARE, "Texts in {0}", "of the products have some", "language"),
    "filled": Measure(FigureKind.SHARE, "Attribute {0}", "of the products have it filled"),
    "supplier": Measure(FigureKind.COUNT, "Products of {0}", by="supplier"),
    "pictures": Measure(
        FigureKind.SHARE, "Pictures of {0}", "of its products have one", "supplier", is_of_group=True
    ),
    "supplier language": Measure(
        FigureKind.SHARE, "Texts in {0} of {1}", "of its products have some", "language"
    ),
    "supplier filled": Measure(FigureKind.SHARE, "Attribute {0} of {1}", "of its products have it filled"),
    "kind": Measure(FigureKind.COUNT, "Products of the kind {0}", by="kind"),
    "updated": Measure(FigureKind.OF_A_DAY, "Products updated within a day"),
    "supplier updated": Measure(FigureKind.OF_A_DAY, "Products of {0} updated within a day", by="supplier"),
    "score": Measure(FigureKind.SHARE, "Score"),
    "supplier score": Measure(FigureKind.SHARE, "Score of {0}", by="supplier", is_of_group=True),
}


def measure_of(key: str) -> tuple[str, str]:
    """Return the name of a measure and the supplier that it is about, from the key of its values.

    >>> measure_of("filled"), measure_of("supplier filled@4")
    (('filled', ''), ('supplier filled', '4'))
    """
    name, _, supplier = key.partition("@")
    return name, supplier
