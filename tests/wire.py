"""Hypothesis strategies for wire products, and an independent reading of what leaves they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

#: Keys that decide where a value goes, a few that nobody declared, and some that are awkward.
KEYS = [
    "id",
    "uuid",
    "gtin",
    "code",
    "label",
    "description",
    "normalizedCode",
    "expressedIn",
    "data",
    "quantity",
    "createdAt",
    "children",
    "version",
    "typePackaging",
    "assets",
    "pictures",
    "documents",
    "document",
    "exportables",
    "lastUpdatedAt",
    "brand",
    "kind",
    "owner",
    "name",
    "hasTags",
    "tag",
    "isTaggedBy",
    "isLabeledBy",
    "isConceptualizedBy",
    "isPartitionedBy",
    "contains",
    "isMeasuredBy",
    "specializes",
    "isIdentifiedBy",
    "reference",
    "logisticalHierarchies",
    "sharingUnits",
    "activeListing",
    "lastRequest",
    "presentEntities",
    "referential",
    "namePublicLong",
    "netContent",
    "isConsumerUnit",
    "width",
    "fileEffectiveStartDateTime",
    "certificationInformationList",
    "certificationDetailsList",
    "certificationEffectiveEndDate",
    "endAvailabilityDateTime",
    "unknown",
    "other",
]

#: Codes of descriptors, and what each names, by hand.
NAMED = {
    **dict.fromkeys(["fra-FR", "nob-NO", "FRA"], "language"),
    "fr": "two letters",
    **dict.fromkeys(["GRM", "E14", "MIN"], "unit"),
    "KAR": "like a unit",
    **dict.fromkeys(["grm", "min", "RON", "12", ""], "uncertain"),
}

#: Amounts and times as text, some of which are none.
amounts = st.sampled_from(
    ["500.0000", "1,5", "-0.50", " 12 ", "+7", "1.000,5", "1e3", "9007199254740993", "about 5"]
)
moments = st.sampled_from(
    [
        *(
            "2026-11-20T08:00:00",
            "2026-02-30T08:00:00",
            "2026-11-20",
            "2026-11-20T08:00:00Z",
            "2026-11-20 08:00:00",
        ),
        *(
            "2026-11-20T08:00:00+01:00",
            "2026-11-20T08:00:00.123-0500",
            "2026-11-20T08:00:00.250",
            "0001-01-01T00:00:00Z",
        ),
    ]
)
texts = st.one_of(
    st.sampled_from(["", " ", "EACH", "1e5", *NAMED]),
    amounts,
    moments,
    st.text(st.characters(exclude_categories=()), max_size=8),  # lone surrogates included
)
numbers = st.one_of(
    st.sampled_from(
        [0, 1, 250, 0.5, 1.0, -0.0, 2**53 - 1, 2**53, 2**53 + 1, 2**63, -(2**63) - 1, 1e300, 1.7e9, 5e-324]
    ),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
keys = st.one_of(st.sampled_from(KEYS), st.sampled_from(["", "a.b", "a\\b", "é", "\ud83d", "product_id"]))


def objects(
    values: st.SearchStrategy[Any], names: st.SearchStrategy[str] = keys
) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(names, values, max_size=5)


#: Keys of an object that stands for a list, and some that only look like it.
indexes = st.sampled_from(["0", "1", "2", "10", "01", "-1", "1.0"])

#: Any JSON at all, out of keys that mean something.
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), objects(inner), objects(inner, indexes)),
    max_leaves=12,
)

descriptors = st.fixed_dictionaries(
    {"code": st.one_of(st.sampled_from([*NAMED]), texts, st.integers(0, 99))},
    optional={
        "normalizedCode": st.one_of(st.sampled_from([*NAMED]), texts),
        "description": st.one_of(texts, scalars),
        "label": texts,
        "sort": scalars,
    },
)


def sometimes(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw what is usual, and null, empty, in another container or something else where it should stand."""
    return st.one_of(usual, usual, usual, st.none(), st.just([]), wrapped(usual), anything)


def wrapped(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw what is usual in a container: a list of one, or of more; numbers as keys; an object around it."""
    return st.one_of(
        st.lists(usual, min_size=1, max_size=2),
        st.dictionaries(indexes, usual, min_size=1, max_size=2),
        st.fixed_dictionaries({"data": usual}),
    )


def lists(item: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return sometimes(st.lists(sometimes(item), max_size=3))


localized = st.fixed_dictionaries(
    {"expressedIn": sometimes(descriptors), "data": st.one_of(amounts, texts, numbers, scalars)},
    optional={"sort": numbers},
)
codes = st.fixed_dictionaries(
    {"code": st.one_of(texts, st.integers(0, 10**6))},
    optional={"label": texts, "description": texts, "pictureUrl": texts},
)
pictures = st.fixed_dictionaries(
    {"url": texts},
    optional={
        "width": sometimes(numbers),
        "isPackshot": sometimes(st.booleans()),
        "createdAt": texts,
        "exportables": lists(
            st.fixed_dictionaries({"fileSize": numbers}, optional={"crc32": texts, "x": scalars})
        ),
        "tags": lists(texts),
    },
)
nodes = st.recursive(
    st.fixed_dictionaries(
        {"gtin": texts}, optional={"quantity": sometimes(numbers), "version": sometimes(objects(scalars))}
    ),
    lambda inner: st.fixed_dictionaries(
        {"gtin": texts, "children": lists(inner)},
        optional={"quantity": numbers, "typePackaging": sometimes(codes), "activeListing": st.booleans()},
    ),
    max_leaves=5,
)
partitions = st.fixed_dictionaries(
    {
        "name": texts,
        "contains": lists(
            st.fixed_dictionaries(
                {"isConceptualizedBy": codes, "quantity": st.one_of(numbers, amounts)},
                optional={"expressedIn": descriptors},
            )
        ),
    },
    optional={"quantity": st.one_of(numbers, amounts), "isMeasuredBy": codes},
)
attributes = {
    "uuid": texts,
    "gtin": st.one_of(texts, st.just("03036811359935"), st.integers(0, 10**13)),
    "updatedAt": texts,
    "isConsumerUnit": sometimes(st.booleans()),
    "brand": sometimes(codes),
    "kind": sometimes(codes),
    "namePublicLong": lists(localized),
    "netContent": lists(localized),
    "isPartitionedBy": lists(partitions),
    "assets": sometimes(
        st.fixed_dictionaries(
            {"pictures": lists(pictures)}, optional={"document": lists(pictures), "lastUpdatedAt": anything}
        )
    ),
    "hasTags": lists(st.fixed_dictionaries({"tag": texts, "createdAt": texts})),
    "isTaggedBy": lists(texts),
    "isLabeledBy": lists(
        st.fixed_dictionaries({"isConceptualizedBy": sometimes(codes)}, optional={"value": scalars})
    ),
    "specializes": sometimes(
        st.fixed_dictionaries({"isIdentifiedBy": lists(objects(scalars, st.just("reference")))})
    ),
    "expressedIn": lists(
        st.fixed_dictionaries(
            {
                "referential": sometimes(st.fixed_dictionaries({"name": texts})),
                "presentEntities": lists(descriptors),
            }
        )
    ),
    "logisticalHierarchies": lists(nodes),
    "sharingUnits": lists(nodes),
    "synonyms": lists(localized),
    "unknown": anything,
}
products = st.one_of(
    st.fixed_dictionaries({"id": st.one_of(st.integers(1, 10**9), texts)}, optional=attributes),
    st.fixed_dictionaries(
        {}, optional={**attributes, "lastRequest": st.fixed_dictionaries({}, optional=attributes)}
    ),
    objects(anything),
)


_FRENCH = {"code": "fra-FR", "normalizedCode": "fr", "label": "French"}
_PICTURE = {
    "url": "https://cdn.example/a.jpg",
    "width": 2**53 + 1,
    "isPackshot": False,
    "createdAt": "2026-11-20T08:00:00+01:00",
    "exportables": [{"fileSize": 2**53 - 1, "crc32": "00", "x": None}],
    "tags": ["front", ""],
}
_UNIT = {
    "gtin": "14006381333938",
    "quantity": 6,
    "typePackaging": {"code": "CASE"},
    "activeListing": True,
    "children": [{"gtin": "04006381333931", "quantity": "1,5", "version": {"unknown": 0.1 + 0.2}}],
}
#: A product with something in every table, by hand.
FULL: dict[str, Any] = {
    "id": 1,
    "uuid": "00000000-0000-4000-8000-000000000001",
    "gtin": "04006381333931",
    "updatedAt": "2026-11-20T08:00:00",
    "isConsumerUnit": True,
    "width": -0.0,
    "brand": {"code": "ACME", "label": "Acme", "pictureUrl": "https://cdn.example/l.png"},
    "kind": {"code": 12, "description": "KAR"},
    "namePublicLong": [
        {"expressedIn": _FRENCH, "data": "Pain"},
        {"expressedIn": {"code": "nob-NO"}, "data": ""},
        {"expressedIn": {"code": "fra-FR", "sort": 1}, "data": "\ud83d", "sort": 2},
    ],
    "netContent": [
        {"expressedIn": {"code": "GRM", "label": "g"}, "data": amount}
        for amount in ("500.0000", 1e300, "about 5")
    ],
    "isPartitionedBy": [
        {
            "name": "100 g",
            "quantity": "1.000,5",
            "isMeasuredBy": {"code": "GRM"},
            "contains": [
                {"isConceptualizedBy": {"code": "FAT"}, "quantity": 2**63, "expressedIn": {"code": "grm"}},
                {"isConceptualizedBy": {"code": "FIBTG"}, "quantity": None},
            ],
        }
    ],
    "assets": {"pictures": [_PICTURE], "document": [_PICTURE], "lastUpdatedAt": "2026-02-30T08:00:00"},
    "hasTags": [{"tag": "new", "createdAt": "0001-01-01T00:00:00Z"}],
    "isTaggedBy": ["new", ""],
    "isLabeledBy": [{"isConceptualizedBy": {"code": "BIO"}, "value": 5e-324}],
    "specializes": {"isIdentifiedBy": [{"reference": "A-1"}, {"reference": 7}]},
    "expressedIn": [{"referential": {"name": "GS1"}, "presentEntities": [_FRENCH]}],
    "logisticalHierarchies": [_UNIT],
    "sharingUnits": [_UNIT],
    "unknown": {"": {"a.b": [1, {"a\\b": [None, [], {}]}]}, "product_id": "1e5", "01": [[True], "text"]},
}


def _in_other_containers(value: Any) -> Any:
    """Write each list as an object with numbers as keys, and each object in a list of one."""
    if isinstance(value, dict):
        return [{key: _in_other_containers(item) for key, item in value.items()}]
    if isinstance(value, list):
        return {str(place): _in_other_containers(item) for place, item in enumerate(value)}
    return value


#: Products that laws about any products meet in every run: full, with nothing in it in three ways, in other
#: containers, with values of another kind in every place, with a request beside them, and one that is none.
CORNERS: list[dict[str, Any]] = [
    FULL,
    {"id": 2, **dict.fromkeys(attributes)},
    {"id": "3", **{name: [] for name in attributes}, "brand": {}, "assets": {"pictures": []}},
    {name: _in_other_containers(value) for name, value in FULL.items()} | {"id": 4},
    {
        "id": 5,
        **dict(zip(attributes, [0, "x", [None], {"0": 1}, False] * 9, strict=False)),
    },
    {"gtin": 3036811359935, "lastRequest": {**FULL, "id": 6}, "isConsumerUnit": "true"},
    {"": None, "a.b": {"code": "fra-FR"}, "product_id": [], "\ud83d": "2026-11-20"},
]
#: The same places with other values, for a page that stands beside the first.
OTHER_CORNERS = [
    CORNERS[4],
    CORNERS[0] | {"id": 7, "netContent": 5, "kind": []},
    CORNERS[6],
    CORNERS[1] | {"id": 8},
]


def encode(product: dict[str, Any]) -> bytes:
    """Write a product as a service would; lone surrogates as their escapes."""
    return json.dumps(product).encode()


def leaves(
    value: Any, path: tuple[str, ...] = (), position: tuple[int, ...] = ()
) -> Iterator[tuple[Any, Any, Any]]:
    """Yield every scalar of a product with its keys and list indexes: the naive reading."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, canonical(key)), position)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, path, (*position, index))
    elif value is not None:
        yield path, position, value


def canonical(value: Any) -> str:
    """Write a leaf by its value: 1.0 is 1, and half a surrogate pair is its escape."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in value)
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return f"{number.normalize():f}" if number else "0"


def listed(value: Any) -> Any:
    """Return the items of an object that has numbers as keys."""
    is_numbered = isinstance(value, dict) and all(
        key.isascii() and key.isdecimal() and len(key) < 10 and str(int(key)) == key for key in value
    )
    return list(value.values()) if is_numbered and value else value
