"""The envelope of a reply is split off without decoding the products, and what is no reply is said to be none."""

from __future__ import annotations

import pytest

from prodex.errors import UnexpectedReply
from prodex.tables.envelope import split
from tests.cases import each_row


def test_products_come_out_as_the_bytes_they_were() -> None:
    """Not decoded, not written again; the envelope's values beside them."""
    reply = split(
        b'{"totalResults": 2, "offset": 50, "data": [{"id" : 1.0}, null], "next_page": 123, "other": {}}'
    )

    assert [b'{"id" : 1.0}', b"null"] == [bytes(item) for item in reply.data]
    assert (2, 50, 123) == (reply.total_results, reply.offset, reply.next_page)


def test_totals_and_cursors_may_be_absent_or_null() -> None:
    """The end of a scroll was seen both ways."""
    for body in (b'{"data": []}', b'{"data": [], "totalResults": null, "next_page": null}'):
        reply = split(body)
        assert (None, None, None, 0) == (reply.total_results, reply.offset, reply.next_page, len(reply.data))


@each_row(
    "body",
    [
        b"",
        b"<html><body>Bad gateway</body></html>",
        b'{"error": "no"}',
        b"[1]",
        b'"text"',
        b"null",
        b'{"data": "abc"}',
        b'{"data": {"id": 1}}',
        b'{"data": [{"id": 1}',
        b'{"data": [{"id": 01}]}',
        b'{"data": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
        b"\xff\xfe{\x00}\x00",
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
def test_what_is_no_envelope_is_an_unexpected_reply(body: bytes) -> None:
    """One typed error that shows how the reply begins, whatever is wrong with it."""
    with pytest.raises(UnexpectedReply, match="not a product envelope"):
        split(body)


def test_null_is_an_empty_page_only_with_the_rest_of_an_envelope_and_counts_that_agree() -> None:
    """A word of an error beside it, or products that were announced and did not come, make it something else."""
    pages = {
        b'{"totalResults": 7, "offset": 7, "data": null}': (6, 7, 8),
        b'{"data": null, "next_page": null, "totalResults": "7"}': (6, 7, 8),
        b'{"totalResults": 0, "offset": 0, "data": null, "message": null, "status": 200, "success": true}': (
            0,
        ),
        b'{"totalResults": 0, "offset": NaN, "data": null}': (0,),
        b'{"totalResults": 0, "offset": 0, "data": null, "failedShards": 0, "defaultLanguage": "fr"}': (0,),
    }
    for body, received in pages.items():
        reply = split(body)
        assert ([], True) == (reply.data, reply.is_null)
        assert [count >= reply.total_results for count in received] == list(
            map(reply.is_page_after, received)
        )
    # Services stop counting at 10,000, whatever there is: such a count says nothing of an end.
    assert not split(b'{"totalResults": 10000, "offset": 10000, "data": null}').is_page_after(10_500)
    assert split(b'{"totalResults": 12000, "offset": 12000, "data": null}').is_page_after(12_000)

    for body in (
        b'{"data": null}',
        b'{"data": null, "totalResults": 0}',
        b'{"data": null, "offset": 0}',
        b'{"data": null, "totalResults": null, "offset": 0}',
        b'{"data": null, "totalResults": -1, "offset": 0}',
        b'{"data": null, "totalResults": 0, "offset": 0, "message": "try later"}',
        b'{"data": null, "totalResults": 0, "offset": 0, "errors": [{"code": 7}]}',
        b'{"data": null, "totalResults": 0, "offset": 0, "exception": "NullPointerException"}',
        b'{"data": null, "totalResults": 0, "offset": 0, "warning": "index is being built"}',
        b'{"data": null, "totalResults": 0, "offset": 0, "status": 500}',
        b'{"data": null, "totalResults": 0, "offset": 0, "status": "error"}',
        b'{"data": null, "totalResults": 0, "offset": 0, "success": false}',
    ):
        with pytest.raises(UnexpectedReply, match="null in place of products") as caught:
            split(body)
        assert caught.value.is_answer


@each_row(
    ("written", "expected"),
    [
        (b"230", 230),
        (b'"230"', 230),
        (b"230.0", 230),
        (b"-1", None),
        (b'"many"', None),
        (b"true", None),
        (b"[7]", None),
        (b"NaN", None),
        (b"1" * 400, 2**62),
        (b"1" * 5_000, None),
        (b"1180591620717411303424", 2**62),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_total_is_read_as_a_count_or_as_none(written: bytes, expected: int | None) -> None:
    """Whatever a service writes there, the products come; nothing is ever sized by it."""
    reply = split(b'{"data": [{"id": 1}], "totalResults": ' + written + b"}")
    assert (expected, 1) == (reply.total_results, len(reply.data))


@each_row("number", [b"NaN", b"Infinity", b"-Infinity"])
def test_what_only_lenient_readers_accept_costs_no_product(number: bytes) -> None:
    """NaN is no JSON, but the products around it are read."""
    reply = split(b'{"data": [{"id": 1, "x": ' + number + b'}, {"id": 2}]}')

    assert 2 == len(reply.data)


def test_half_a_surrogate_pair_costs_no_product() -> None:
    """It becomes the text of its escape; whole pairs and escaped backslashes stay."""
    reply = split(b'{"data": [{"a": "\\ud83d", "b": "\\ud83d\\ude00", "c": "\\\\ud83d"}]}')

    assert 1 == len(reply.data)
