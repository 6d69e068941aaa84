"""Sentences that users meet are whole: punctuation, and one sentence for one thing and for several."""

from __future__ import annotations

import re

import pytest

from .messages import Message, messages


@pytest.fixture(scope="module")
def sentences() -> list[Message]:
    """Return all of them."""
    return list(messages())


@pytest.mark.slow
def test_every_sentence_is_found(sentences: list[Message]) -> None:
    """Of errors, commands, panels, options and rules."""
    found = [one.text for one in sentences]
    for words in ("No snapshot yet.", "Send now", "GTIN missing or wrong", "JupyterLab does not run as root"):
        assert [text for text in found if words in text], words


@pytest.mark.slow
def test_no_sentence_is_spelled_carelessly(sentences: list[Message]) -> None:
    """No two spaces in a row, no space before a full stop or a comma, no two full stops that are not three."""
    careless = re.compile(r"[^ \n]  +[^ \n{]| [,;](?: |$)|(?<=\w) \.(?: |$)|(?<!\.)\.\.(?![./\w'\"])")
    assert [] == [one for one in sentences if careless.search(one.text)]
