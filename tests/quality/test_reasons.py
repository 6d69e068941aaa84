"""Reasons as columns: what a rule makes, what somebody else's audit may hold, and their words."""

from __future__ import annotations

import pyarrow as pa

import prodex
from prodex.languages import Translation
from prodex.quality.reasons import reason_columns, reason_words, written_reasons


def test_what_no_rule_makes_is_shown_and_ends_nothing() -> None:
    """In an audit of somebody else: values that are none, a width of a billion, a number that is not there."""
    hostile = [
        ("{x:>1000000000}", '{"x":1}'),
        ("{x}", "[1]"),
        ("{x}", "{"),
        ("{number} of it", '{"(many)":"{number} of them"}'),
        ("{x}", '{"x":{"id":1}}'),
        ("{x}", '{"x":' + '{"id":"{x}","values":{"x":' * 2_000 + "1" + "}}" * 2_000 + "}"),
    ]
    ids, values = (pa.array(one) for one in zip(*hostile, strict=True))
    for language in ("en", "fr"):
        assert (
            ids.to_pylist() == reason_words(written_reasons(ids, values), Translation(language)).to_pylist()
        )


def test_any_value_of_a_rule_is_shown() -> None:
    """A rule of one's own may show what it found in a record: an object, a list, a number that is none."""
    values = {"a": [None, {"id": 1}], "b": [float("nan"), 2.5], "c": [["x", 1], ["y"]]}
    found = reason_columns(prodex.packs.Message("{a}; {b:g}; {c}", **values), 2)
    for language in ("en", "de"):
        said = reason_words(written_reasons(*found), Translation(language)).to_pylist()
        assert ["None; nan; x, 1", "{'id': 1}; 2.5; y"] == [one.replace("2,5", "2.5") for one in said]


def test_words_follow_what_is_added_later() -> None:
    """Whoever adds translations after a finding was shown sees them."""
    written = written_reasons(*(pa.array(one) for one in (["{n} own words"], ['{"n":3}'])))
    assert ["3 own words"] == reason_words(written, Translation("nl")).to_pylist()
    prodex.packs.add_messages("nl", {"{n} own words": "{n} eigen woorden"})
    assert ["3 eigen woorden"] == reason_words(written, Translation("nl")).to_pylist()
