"""Reasons as columns: what a rule makes, what somebody else's audit may hold, and their words."""

from __future__ import annotations

import pyarrow as pa

import prodex
from prodex.languages import Translation
from prodex.quality.reasons import reason_words


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
        assert ids.to_pylist() == reason_words(ids, values, Translation(language)).to_pylist()


def test_words_follow_what_is_added_later() -> None:
    """Whoever adds translations after a finding was shown sees them."""
    message, values = (pa.array(one) for one in (["{n} own words"], ['{"n":3}']))
    assert ["3 own words"] == reason_words(message, values, Translation("nl")).to_pylist()
    prodex.add_messages("nl", {"{n} own words": "{n} eigen woorden"})
    assert ["3 eigen woorden"] == reason_words(message, values, Translation("nl")).to_pylist()
