"""What is declared at a wire path: a value, an object, a list of objects, or texts, amounts and codes by their shape.

Rows of the tables that are filled by shape show it where something else is there: they are at paths of their own.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from prodex.tables.attributes import MEASURES, PENDING, TEXTS, anchored, is_within
from prodex.tables.containers import is_list_at, singles_at
from prodex.tables.declaration import TABLES, ColumnKind

#: The ends of paths that mean a value, and the descriptor beside it.
DATA, DESCRIPTOR = ".data", ".expressedIn"


class DeclaredKind(StrEnum):
    """What is declared at a wire path."""

    LEAF = "leaf"
    OBJECT = "object"
    ROWS = "rows"
    TEXTS = "texts"
    AMOUNTS = "quantities"
    CODES = "codes"


#: Kinds of attributes that are read by shape; the values of the members are the tables that have them.
SHAPES = frozenset({DeclaredKind.TEXTS, DeclaredKind.AMOUNTS, DeclaredKind.CODES})
#: Further attributes that hold texts or codes, and nothing else.
_TEXTS = frozenset({*TEXTS, "conservationAdvices", "consumptionAdvice", "advertisedInformations"})
_CODES = frozenset({"tradeItemDateOnPackagingTypeCode"})
#: Of these some services have the amounts in objects of their own, such as the lowest temperature and the highest.
_AMOUNTS = frozenset(MEASURES) - {"temperature", "suggestedRetailPrice", "dutyFeeTax"}


class Home(NamedTuple):
    """What is declared at a wire path, or nearest above it."""

    path: str
    kind: DeclaredKind
    #: What the columns of a leaf take.
    takes: tuple[ColumnKind, ...] = ()


@lru_cache(maxsize=65536)
def home_of(path: str) -> Home | None:
    """Return what is declared at a wire path of a product's own, or nearest above it."""
    around = path
    while around:
        if (found := _declared(around)) is not None:
            return found
        around = around.rpartition(".")[0]
    return None


@lru_cache(maxsize=65536)
def _declared(path: str) -> Home | None:
    if is_list_at(path):
        return Home(path, DeclaredKind.ROWS)
    outer, _, name = path.rpartition(".")
    if (kinds := _single(path)) is not None:
        return Home(path, DeclaredKind.LEAF if kinds else DeclaredKind.OBJECT, kinds)
    if not outer and name in _TEXTS | _CODES:
        return Home(path, DeclaredKind.TEXTS if name in _TEXTS else DeclaredKind.CODES)
    if name in _AMOUNTS and (not outer or _is_of_node(outer)):
        return Home(path, DeclaredKind.AMOUNTS)
    if any(anchor.startswith(f"{path}.") for table in TABLES.values() for anchor in table.anchors):
        return Home(path, DeclaredKind.ROWS)
    return Home(path, DeclaredKind.LEAF, ("code",)) if path == "gtin" else None


def _is_of_node(path: str) -> bool:
    """Whether objects at a wire path are nodes of a hierarchy, or the attributes of one apart."""
    table = anchored(path.removesuffix(".version"))
    return table is not None and table.name == "hierarchies"


def _single(path: str) -> tuple[ColumnKind, ...] | None:
    """Return the kinds of value that fit at a wire path, none where an object is declared; None where nothing is."""
    around = path
    inner: tuple[str, ...] = ()
    found: tuple[ColumnKind, ...] = ()
    is_object = False
    while around:
        around, _, last = around.rpartition(".")
        inner = (last, *inner)
        declared: Any = singles_at(around)
        for key in inner:
            declared = declared.get(key) if isinstance(declared, dict) else None
        if isinstance(declared, dict):
            is_object = True
        elif declared:
            found += declared
    return found or (() if is_object else None)


@lru_cache(maxsize=65536)
def depth_of(path: str) -> int:
    """Return how many lists are declared on the way to a wire path."""
    keys = path.split(".")
    return sum(is_list_at(".".join(keys[: number + 1])) for number in range(len(keys)))


@lru_cache(maxsize=65536)
def has_column(path: str) -> bool:
    """Whether a column takes what is at a leaf: otherwise no row has it, or rows have copies of it."""
    around = path
    inner: tuple[str, ...] = ()
    while around:
        around, _, last = around.rpartition(".")
        inner = (last, *inner)
        table = anchored(around)
        if table is not None and any(inner in column.paths for column in table.columns):
            return True
    return path == "gtin"


@lru_cache(maxsize=65536)
def is_doubtful(table: str, path: str) -> bool:
    """Whether rows of a table at a wire path may be something that cannot be read."""
    if path.startswith(PENDING) or TABLES[table].anchors:
        return False
    if (home := home_of(path)) is None:
        return table == "scalars" and base_of(path) is not None
    below = f"{path[len(home.path) :]}."
    if home.kind in SHAPES:
        is_read = table == home.kind and path == home.path
        return not (is_read or below.startswith(f"{DESCRIPTOR}."))
    return True


@lru_cache(maxsize=65536)
def is_copied(table: str, path: str) -> bool:
    """Whether rows of a table at a wire path are values that no column takes: read as they are, or copied into rows.

    >>> is_copied("scalars", "isPartitionedBy.name"), is_copied("codes", "isPartitionedBy.isMeasuredBy")
    (True, True)
    >>> is_copied("scalars", "isConsumerUnit"), is_copied("codes", "brand")
    (False, False)
    """
    home = home_of(path)
    if home is None or home.path != path:
        return False
    if table == "scalars":
        return home.kind is DeclaredKind.LEAF and not has_column(path)
    is_code = table == "codes" and home.kind is DeclaredKind.OBJECT and _single(f"{path}.code")
    return bool(is_code) and not has_column(f"{path}.code")


@lru_cache(maxsize=65536)
def is_data_of(table: str, path: str, attribute: str) -> bool:
    """Whether a row of a table is data of an attribute: at its wire path, or below it.

    What is declared otherwise is no data of it, and neither is the language or unit of a value.

    >>> is_data_of("texts", "namePublicLong", "namePublicLong"), is_data_of("scalars", "serves.data", "serves")
    (True, True)
    >>> is_data_of("scalars", "brand", "brand"), is_data_of("codes", "netContent.expressedIn", "netContent")
    (False, False)
    """
    if not is_within(path, attribute) or f"{DESCRIPTOR}." in f"{path[len(attribute) :]}.":
        return False
    home = home_of(path)
    # Whoever asks for something else inside of what is declared means that.
    if home is None or not is_within(home.path, attribute):
        return True
    # A text that says no language is a text.
    is_text = home.kind is DeclaredKind.TEXTS and path == f"{home.path}{DATA}"
    return is_text or is_copied(table, path) or not is_doubtful(table, path)


@lru_cache(maxsize=65536)
def base_of(path: str) -> str | None:
    """Return the path of the object whose `data` a scalar is in."""
    base, found, below = f"{path}.".partition(f"{DATA}.")
    return base if found and base and DESCRIPTOR not in f"{base}{below}" else None
