"""Attributes by their wire paths: how a path is written, which table holds it, and which attributes are known.

The attribute model is open: a name that is not known here may be a supplier's own, and then a catalogue knows it.

`products` has columns such as `brand` and `kind`. If `presence` showed the same names, a merge of both would end in
`brand_x` and `brand_y`; so what people see has only the key in common. Files keep the names that they always had.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.declaration import TABLES, Table
from prodex.tables.values import storable

#: What the wire path of everything in an update begins with that waits to be accepted.
PENDING = "lastRequest."

#: Localized texts that the specification lists.
TEXTS = (
    "nameLegal",
    "namePublicShort",
    "namePublicLong",
    "description",
    "composition",
    "allergens",
    "productionVariantName",
)

#: Attributes that hold amounts with their units, also inside of hierarchies.
MEASURES = (
    *("netContent", "netWeight", "grossWeight", "drainedWeight", "height", "width", "depth"),
    *("temperature", "percentageOfAlcoholByVolume", "suggestedRetailPrice", "dutyFeeTax"),
)

#: "Other product attribute names that appear" (spec, Product).
_OTHERS = """
synonyms conservationAdvices productionVariantEffectiveDate shapeStatement productActivities keepRefrigeratedAfter
keepRefrigeratedBefore compulsoryStatements isDerivedFrom createdShareValueStatement isPracticeCompatible shape serves
isComplementaryWith originText brandHighlight manufactureInsights flavorStatement substitutes importClassification
packagingMentions isSharedFrom additives conservations tradeItemDateOnPackagingTypeCode packaging temperature
isClassifiedIn isWrappedBy advertisedInformations startAvailabilityDateTime endAvailabilityDateTime dutyFeeTax
hasNotableIngredients isSizedBy environmentStatement sparklingValue replaces nutritionalAllegations isEquivalentTo
netContent history netWeight grossWeight priceComparisonType originCountry isSubstitutableWith reasonForNewEAN
isReplaceableBy productBenefits suggestedRetailPrice description warnings consumptionAdvice isPartitionedBy contact
offerOnPack nameLegal namePublicShort namePublicLong composition allergens productionVariantName subdivisions
""".split()  # noqa: SIM905
#: Seen at a deployed service, and in records of the GDSN.
_SEEN = """
assetsLastRequests barcodeScanText certificationInformationList depth flavors foodAndBeverageIngredientDescriptionList
height lastRequest lastUserHistoryDate percentageOfAlcoholByVolume sharingUnits tags targetConsumerGenderList
textileModel validationRules width
""".split()  # noqa: SIM905


def _declared_paths() -> Iterator[str]:
    for table in TABLES.values():
        for anchor in table.anchors:
            yield from filter(None, [anchor])
            for column in table.columns:
                yield from (".".join(filter(None, [anchor, *path])) for path in column.paths)


#: Wire paths that the tables declare, such as "assets.pictures.url".
PATHS = frozenset(_declared_paths())
#: Names at the top of a product.
ATTRIBUTES = frozenset(["id", "gtin", *_OTHERS, *_SEEN, *(path.partition(".")[0] for path in PATHS)])


_ANCHORS = {anchor: table for table in TABLES.values() for anchor in table.anchors}


@lru_cache(maxsize=65536)
def anchored(path: str) -> Table | None:
    """Return the table whose rows are at this wire path, if one is declared.

    A record under `lastRequest` (the update that waits for acceptance) has the same shape as the product around it,
    and hierarchies recurse through `children`.

    >>> anchored("lastRequest.assets.pictures").name, anchored("logisticalHierarchies.children.children").name
    ('pictures', 'hierarchies')
    """
    own = path.removeprefix("lastRequest.")
    while own.endswith(".children"):
        own = own.removesuffix(".children")
        if (table := _ANCHORS.get(own)) is not None:
            return table if table.name == "hierarchies" else None
    return _ANCHORS.get(own)


def child_path(path: str, key: str) -> str:
    r"""Append one wire key to a wire path.

    Dots inside a key are escaped and an empty key is written `\e`, so that different places never share a path.

    >>> child_path("netContent", "data"), child_path("tags", "a.b"), child_path("", "")
    ('netContent.data', 'tags.a\\.b', '\\e')
    """
    if not key or "." in key or "\\" in key:
        key = key.replace("\\", "\\\\").replace(".", "\\.") or "\\e"
    return f"{path}.{key}" if path else key


_KEY = re.compile(r"(?:\\.|[^.\\])+")


def path_keys(path: str) -> list[str]:
    r"""Return the wire keys of a path, the inverse of `child_path`.

    >>> path_keys(r"tags.a\.b.\e")
    ['tags', 'a.b', '']
    """
    found = _KEY.findall(path) or [r"\e"]  # the path of a product that is itself a code or a text
    return ["" if one == r"\e" else re.sub(r"\\(.)", r"\1", one) for one in found]


def is_within(path: str, outer: str) -> bool:
    """Whether a wire path is another one, or lies below it.

    >>> is_within("brand.code", "brand"), is_within("brandHighlight", "brand")
    (True, False)
    """
    return path == outer or path.startswith(f"{outer}.")


_KEYS = ("product_id", "gtin")
_STATE = "_state"
_RESERVED = {f"{key} (attribute)": key for key in _KEYS}


def stored_column(attribute: str) -> str:
    """Return the name of an attribute's column in parts and files, which have key columns as well.

    >>> stored_column("brand"), stored_column("gtin")
    ('brand', 'gtin (attribute)')
    """
    return f"{attribute} (attribute)" if attribute in _KEYS else storable(attribute)


def state_column(attribute: str) -> str:
    """Return the name of an attribute's column in `presence`.

    >>> state_column("brand"), state_column("gtin")
    ('brand_state', 'gtin_state')
    """
    return storable(attribute) + _STATE


def attribute_of(column: str) -> str | None:
    """Return the attribute that a column of `presence` is about, or None for its key.

    >>> attribute_of("brand_state"), attribute_of("product_id")
    ('brand', None)
    """
    return column.removesuffix(_STATE) if column.endswith(_STATE) else None


def shown_columns(stored: Iterable[str]) -> dict[str, str]:
    """Return the columns that people see, each with its name in parts and files.

    The GTIN is left out: it is a column of `products`, and the product's id is key enough.

    >>> shown_columns(["product_id", "gtin", "gtin (attribute)", "brand"])
    {'product_id': 'product_id', 'gtin_state': 'gtin (attribute)', 'brand_state': 'brand'}
    """
    shown = {"product_id": "product_id"}
    for name in stored:
        if name not in _KEYS:
            shown[_RESERVED.get(name, name) + _STATE] = name
    return shown


def stored_presence(shown: pa.Table, products: pa.Table | None) -> pa.Table:
    """Return a `presence` that was shown, as parts and files have it.

    Parameters
    ----------
    shown
        With the columns that people see.
    products
        Where the GTINs are to be had, or None: then they are missing.
    """
    # The reverse of `shown_columns`: `brand_state` is `brand` again.
    names = [
        stored_column(attribute_of(name) or "") if name != "product_id" else name
        for name in shown.column_names
    ]
    ids = shown["product_id"]
    if products is None:
        # Whoever exported no products has no GTINs; the ids are key enough.
        gtins: pa.Array | pa.ChunkedArray = pa.nulls(len(ids), pa.string())
    else:
        gtins = pc.take(products["gtin"], pc.index_in(ids, products["product_id"]))
    return shown.rename_columns(names).add_column(1, "gtin", gtins)
