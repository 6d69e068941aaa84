"""Records and values whose changes the laws are about."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from prodex.written_json import read_written
from tests.compare.test_compare_laws import edited
from tests.wire import encode, products


def text(code: str, data: Any, **more: Any) -> dict[str, Any]:
    """Return a localized text."""
    return {"expressedIn": {"code": code}, "data": data, **more}


def amount(data: float, code: str) -> dict[str, Any]:
    """Return an amount with its unit."""
    return {"data": data, "expressedIn": {"code": code}}


def as_read(record: dict[str, Any]) -> Any:
    """Return a record as it is read from the wire."""
    return read_written(encode(record))


#: A record, and what became of it or another one.
edited_records = st.one_of(
    edited().map(lambda pair: (as_read(pair[0]), as_read(pair[1]))),
    st.tuples(products.map(as_read), products.map(as_read)),
)

words = st.sampled_from(["Pain", "Bread", "", "x\ud800", "1", "ﷺ"])
numbers = st.sampled_from([0, 1, 1.0, 2, 1.5, -1, 2**53 + 1, *map(read_written, ("1.50", "1E2", "-0"))])
scalars = st.one_of(st.none(), st.booleans(), numbers, words)
codes_of_languages = st.sampled_from(["fra-FR", "fra-BE", "fr", "fr-FR", "nld-NL", "deu-DE"])
texts = st.lists(
    st.builds(
        lambda one, more: {**one, **more},
        st.builds(text, codes_of_languages, st.one_of(words, st.none())),
        st.fixed_dictionaries({}, optional={"sort": numbers}),
    ),
    max_size=4,
)
codes = st.lists(
    st.fixed_dictionaries({"code": st.sampled_from("ABCD")}, optional={"label": words, "sort": numbers}),
    max_size=4,
)
amounts = st.lists(st.builds(amount, numbers, st.sampled_from(["GRM", "KGM", "MLT"])), max_size=3)
pictures = st.lists(
    st.fixed_dictionaries(
        {"url": st.sampled_from(["https://a", "https://b", "https://c"])},
        optional={
            "isPackshot": st.booleans(),
            "uuid": st.sampled_from(["u1", "u2"]),
            "updatedAt": st.sampled_from(["t1", "t2"]),
            "tags": st.lists(words, max_size=2),
        },
    ),
    max_size=3,
)
nested = st.lists(st.fixed_dictionaries({"rank": numbers, "text": texts}), max_size=3)
_lists = (texts, codes, amounts, pictures, nested, st.lists(scalars, max_size=3))
#: A value of an attribute.
values = st.one_of(
    scalars,
    *_lists,
    st.builds(text, codes_of_languages, words),
    st.fixed_dictionaries({}, optional={"pictures": pictures, "documents": codes, "lastUpdatedAt": words}),
)
#: Two values of one attribute: mostly of one kind, as a correction has them.
pairs_of_values = st.one_of(st.tuples(values, values), *(st.tuples(one, one) for one in _lists))
