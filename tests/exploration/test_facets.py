"""Facets count what a plain walk over the records counts, whatever is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Origin
from prodex.errors import QueryError
from prodex.exploration.facets import FACETS, Facets, apply_filters
from prodex.exploration.filled import USUAL
from prodex.exploration.product_columns import ProductColumns
from prodex.query import ProductQuery
from prodex.selection import Selection

Record = dict[str, Any]


def code_of(value: Any) -> str | None:
    """Return the code of a code value, as text."""
    code = value.get("code") if isinstance(value, dict) else None
    return None if code is None else str(code)


def categories_of(record: Record, known: set[str | None]) -> set[str | None]:
    """Return the categories that a product counts for; `known` are the GPC codes of all products."""
    gpc, kind = code_of(record.get("GPC")), code_of(record.get("kind"))
    own = None if gpc is None else gpc.replace("/", "\\/")
    found: set[str | None] = set() if known == {None} else {own}
    if gpc is not None and gpc.startswith("1000") and gpc != "10000000":
        found.add("//bricks")
    elif gpc is not None and gpc.isdecimal():
        found |= {*({f"{gpc[:6]}00", f"{gpc[:4]}0000"} & known), f"{gpc[:2]}000000"}
    if kind is not None:
        found.add(f"{own or ''}/{kind}")
    return found or {None}


def has_data(value: Any) -> bool:
    """Return whether anything stands in a value: no null, no blank text; of a text its language is no data."""
    if isinstance(value, dict):
        return any(has_data(one) for name, one in value.items() if name != "expressedIn")
    if isinstance(value, list):
        return any(map(has_data, value))
    return bool(value.strip()) if isinstance(value, str) else value is not None


def lacked_by(record: Record) -> set[str | None]:
    """Return the usual attributes that a product lacks."""
    pictures = (record.get("assets") or {}).get("pictures")
    return {one for one in USUAL if not has_data(pictures if one == "assets.pictures" else record.get(one))}


def values_of(record: Record, gpc_codes: set[str | None]) -> dict[str, set[str | None]]:
    """Return which values of each facet a product has, read from its record one by one."""
    owner = record.get("owner") or {}
    texts = [item for item in record.get("namePublicLong") or () if item["data"].strip()]
    pictures = (record.get("assets") or {}).get("pictures") or ()
    pending = record.get("lastRequest")
    flag = record.get("isConsumerUnit")
    status = record.get("manufacturerSharingStatus")
    market = (record.get("product_key") or {}).get("target_market_id")
    return {
        "missing": lacked_by(record),
        "category": categories_of(record, gpc_codes),
        "kind": {code_of(record.get("kind"))},
        "brand": {code_of(record.get("brand"))},
        "owner": {next((owner[key] for key in ("id", "uuid", "name") if owner.get(key) is not None), None)},
        "market": {None if market is None else str(market).lstrip("0")},
        "language": {item["expressedIn"]["code"][:2] for item in texts} or {None},
        "tag": {tag["tag"] for tag in record.get("hasTags") or () if tag["tag"] is not None} or {None},
        "status": {record.get("targetProductStatus")},
        "sharing": {None if status is None else str(status)},
        "packshot": {"yes" if any(picture.get("isPackshot") for picture in pictures) else "no"},
        "unit": {None if flag is None else str(flag).lower()},
        "packaging": {code_of(record.get("typePackaging"))},
        "pending": {"true" if pending else "false"},
    }


def code_values(*codes: Any) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(),
        st.builds(lambda code, label: {"code": code, "label": label}, st.sampled_from(codes), labels),
    )


labels = st.sampled_from(["Lait", "Thé", "", None])
texts = st.builds(
    lambda code, text: {"expressedIn": {"code": code}, "data": text},
    st.sampled_from(["fra-FR", "frx", "nld-BE"]).map(lambda code: {"frx": "fra-BE"}.get(code, code)),
    st.sampled_from(["a", " ", ""]),
)
pictures = st.fixed_dictionaries(
    {"url": st.just("u")}, optional={"isPackshot": st.sampled_from([True, False, None])}
)
records = st.fixed_dictionaries(
    {},
    optional={
        "kind": code_values("1", 2, ""),
        "GPC": code_values("50131703", 50131700, "50130000", "50000000", "10000025", "10000000", "a/b"),
        "brand": code_values("ACME", "ZEST", 7),
        "owner": st.one_of(
            st.none(),
            st.fixed_dictionaries(
                {}, optional={name: st.sampled_from(["a", "b"]) for name in ("id", "uuid", "name")}
            ),
        ),
        "product_key": st.sampled_from([None, {}, {"target_market_id": 250}, {"target_market_id": "056"}]),
        "namePublicLong": st.one_of(st.none(), st.lists(texts, max_size=3)),
        "hasTags": st.one_of(
            st.none(),
            st.lists(st.sampled_from(["x", "y", None]).map(lambda tag: {"tag": tag}), max_size=3),
        ),
        "targetProductStatus": st.sampled_from([None, "ACCEPTED", "REFUSED"]),
        "manufacturerSharingStatus": st.sampled_from([None, 2, 3, 4]),
        "assets": st.one_of(
            st.none(),
            st.fixed_dictionaries({"pictures": st.one_of(st.none(), st.lists(pictures, max_size=2))}),
        ),
        "isConsumerUnit": st.sampled_from([None, True, False]),
        "typePackaging": code_values("EACH", "CASE"),
        "lastRequest": st.sampled_from(
            [
                None,
                {
                    "hasTags": [{"tag": "waits"}],
                    "namePublicLong": [{"expressedIn": {"code": "deu-DE"}, "data": "wartet"}],
                    "assets": {"pictures": [{"url": "u", "isPackshot": True}]},
                },
            ]
        ),
    },
)
ANY_CODES = [
    *(None, "1", "ACME", "a", "fr", "x", "250", "ACCEPTED", "4", "yes", "true", "EACH", "nobody"),
    *("50000000", "50130000", "50131703/1", "//bricks", "brand", "kind", "namePublicLong"),
]
#: Others are refused before they are counted.
CODES_OF = {
    "packshot": ["yes", "no", None],
    "unit": ["true", "false", None],
    "pending": ["true", "false", None],
}


@st.composite
def choices(draw: st.DrawFn) -> dict[str, tuple[str | None, ...]]:
    """Draw values of some facets, also such as no product has."""
    names = st.sampled_from([facet.name for facet in FACETS if not facet.needs_audit] + ["missing"])
    return {
        name: tuple(
            draw(
                st.lists(st.sampled_from(CODES_OF.get(name, ANY_CODES)), min_size=1, max_size=4, unique=True)
            )
        )
        for name in draw(st.sets(names, max_size=4))
    }


@pytest.mark.slow
@given(st.lists(records, max_size=12), choices(), choices(), st.data())
def test_counts_are_those_of_a_plain_walk(
    records_: list[Record],
    chosen: dict[str, tuple[str | None, ...]],
    excluded: dict[str, tuple[str | None, ...]],
    data: st.DataObject,
) -> None:
    """The counts of a facet apply the conditions of all other facets and not its own.

    What is missing is looked for in consumer units, unless a condition is about units or packaging, as one more would
    be.
    """
    products = ProductColumns(prodex.flatten({"id": number, **one} for number, one in enumerate(records_)))
    facets = Facets(products)
    other = data.draw(st.lists(st.booleans(), min_size=len(products), max_size=len(products)))
    conditions = Selection(
        groups=chosen, excepted=tuple(Selection(groups={name: codes}) for name, codes in excluded.items())
    )
    units = {"unit", "packaging"}
    # No more than whether units are named: attributes that are asked for, and languages, would be listed as well.
    facets.look_at(Selection(groups=dict.fromkeys(units & {*chosen, *excluded}, (None,))))
    left = apply_filters(facets, conditions, len(products), [np.array(other, bool)])

    gpc_codes = {code_of(one.get("GPC")) for one in records_}
    of_all = [values_of(one, gpc_codes) for one in records_]
    of_consumers = [one | ({"missing": set()} if one["unit"] == {"false"} else {}) for one in of_all]

    def misses(has: list[dict[str, set[str | None]]]) -> list[set[str]]:
        """Return the facets whose conditions each product misses."""
        return [
            {name for name, codes in chosen.items() if not one[name] & set(codes)}
            | {name for name, codes in excluded.items() if one[name] & set(codes)}
            for one in has
        ]

    has = of_all if units & {*chosen, *excluded} else of_consumers
    meets = misses(has)
    assert [not missed and one for missed, one in zip(meets, other, strict=True)] == left.mask.tolist()
    for name, values in facets.items():
        expected: dict[str | None, int] = dict.fromkeys({code for one in has for code in one[name]}, 0)
        named = misses(of_all) if name in units and "missing" in chosen else meets
        for one, missed, is_in in zip(has, named, other, strict=True):
            for code in one[name] if is_in and missed <= {name} else ():
                expected[code] += 1
        assert expected == dict(zip(values.codes, left.counts[name].tolist(), strict=True)), name


def test_values_with_equal_labels_are_told_apart_by_their_codes() -> None:
    """Two brands with one label are two values, and a brand without a label is shown by its code."""
    brands = [("1", "Lait"), ("2", "Lait"), ("3", None), ("", "")]
    facets = Facets(
        ProductColumns(
            prodex.flatten(
                {"id": place, "brand": {"code": code, "label": label}}
                for place, (code, label) in enumerate(brands)
            )
        )
    )

    assert {"1": "Lait (1)", "2": "Lait (2)", "3": "3", "": '""'} == dict(
        zip(facets["brand"].codes, facets["brand"].labels, strict=True)
    )


def test_the_most_frequent_value_comes_first_and_the_missing_one_is_a_value() -> None:
    """Products without a brand are a value like any other, by frequency."""
    brands = [None, None, None, "B", "A", "A"]
    records = [{"id": n, "brand": None if b is None else {"code": b}} for n, b in enumerate(brands)]
    brand = Facets(ProductColumns(prodex.flatten(records)))["brand"]

    assert [(None, "without brand", 3), ("A", "A", 2), ("B", "B", 1)] == list(
        zip(brand.codes, brand.labels, brand.totals.tolist(), strict=True)
    )


def test_what_nobody_asked_for_is_not_a_count_of_nothing() -> None:
    """A catalogue loaded without brands does not claim that products have none."""
    catalog = prodex.flatten([{"id": 7, "kind": {"code": "1"}}])
    origin = Origin("sandbox", ProductQuery(source_include=["kind", "assets.pictures.url"]))
    facets = Facets(ProductColumns(prodex.Catalog(catalog.parts, origin)))

    assert {"kind", "category", "missing"} == {name for name, one in facets.items() if one.is_asked}


def test_a_catalogue_without_products_has_facets_without_values() -> None:
    """Facets of an empty catalogue have no values."""
    facets = Facets(ProductColumns(prodex.flatten([])))

    assert dict.fromkeys(facets, 0) == {
        name: int(counts.sum())
        for name, counts in apply_filters(facets, Selection(groups={"tag": (None,)}), 0).counts.items()
    }


def test_grades_are_there_where_there_is_an_audit() -> None:
    """Grades are in the order A to E; a product that the audit does not cover has none."""
    catalog = prodex.flatten(
        [{"id": 7, "gtin": "03036811359936"}, {"id": 8, "gtin": "03036811359935"}, {"id": 9}]
    )
    known = prodex.flatten([{"id": 8, "gtin": "03036811359935"}, {"id": 7, "gtin": "03036811359936"}])
    audit = prodex.audit(known, {"checks": {"valid_gtin": {}}})
    products = ProductColumns(catalog, audit)
    grade = Facets(products)["grade"]

    assert (("A", "E", None), [1, 1, 1]) == (grade.codes, grade.totals.tolist())
    assert [False, True, False] == grade.having(("A",)).tolist()
    assert [True, False, False] == products.failing((audit.checks[0].id,)).tolist()


def test_a_facet_that_is_not_there_is_said() -> None:
    """The error for an unknown facet names those that exist."""
    with pytest.raises(QueryError, match="no facet 'colour'; give one of category, kind, brand"):
        apply_filters(
            Facets(ProductColumns(prodex.flatten([{"id": 7}]))), Selection(groups={"colour": ("red",)}), 1
        )


def test_checks_without_an_audit_are_said() -> None:
    """A condition on checks without an audit is refused, and neither ignored nor taken as no match."""
    products = ProductColumns(prodex.flatten([{"id": 7}]))

    with pytest.raises(QueryError, match="there is no audit"):
        products.failing(("valid_gtin",))
    audit = prodex.audit(products.catalog, {"checks": {"valid_gtin": {}}})
    with pytest.raises(QueryError, match="no check 'nonsense'"):
        ProductColumns(products.catalog, audit).failing(("nonsense",))


def test_nobody_is_known_to_lack_what_was_not_asked_for() -> None:
    """A selection that was kept means of it what the list of what is missing and the states of the attribute say."""
    origin = Origin("sandbox", ProductQuery(source_include=["namePublicLong"]))
    catalog = prodex.Catalog(prodex.flatten([{"id": 7}]).parts, origin)

    def meant(group: str, code: str) -> list[bool]:
        return [bool(one) for one in catalog.mask(Selection(groups={group: (code,)}))]

    assert [[False]] * 2 == [meant("missing:all", "brand"), meant("fill:brand", "absent")]
    assert [[True]] * 2 == [meant("missing:all", "namePublicLong"), meant("fill:brand", "not asked for")]
    assert ("namePublicLong",) == Facets(ProductColumns(catalog))["missing:all"].codes
