"""Limits of seconds and bytes: what they refuse, what they count, what they say."""

from __future__ import annotations

import gzip
import math
import zlib
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.errors import SettingsError
from prodex.files.unpacking import codings, opened_within, unpacked
from prodex.limits import FILE, PICTURE, REPLY, LimitExceeded, Limits, Meter
from tests.cases import each_row


@each_row("field", [field.name for field in fields(Limits)])
@each_row("value", [0, -1, math.nan, math.inf, -math.inf, "7", True])
def test_what_is_no_limit_is_refused(field: str, value: object) -> None:
    """Negative, infinite, no number: with the name and the value."""
    with pytest.raises(SettingsError, match=rf"Limits\({field}={value!r}\)"):
        prodex.limits.Limits(**{field: value})  # type: ignore[arg-type]


def test_limits_are_values() -> None:
    """Frozen, comparable, and filled up where nothing is given."""
    with pytest.raises(FrozenInstanceError):
        Limits().seconds = 7  # type: ignore[misc]
    assert Limits(seconds=7, wire_bytes=50_000_000, unpacked_bytes=50_000_000) == Limits(seconds=7).filled(
        PICTURE
    )


def test_time_is_counted_over_all_that_comes() -> None:
    """However little comes at a time, and from the moment at which it begins."""
    now = [100.0]
    meter = Meter(Limits(seconds=10), REPLY, "connect", clock=lambda: now[0])
    now[0] = 500
    meter.begin()
    for _ in range(10):
        now[0] += 1
        meter.count_received(1)
    now[0] += 0.5
    with pytest.raises(LimitExceeded) as caught:
        meter.count_received(1)

    said = (
        "stopped after 10 s: 11 bytes received; the limit is 10 s in all, and "
        "connect(limits=px.limits.Limits(seconds=...)) sets another"
    )
    assert (said, "seconds") == (str(caught.value), caught.value.limit)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
}


@given(
    st.lists(st.binary(max_size=3_000), max_size=4),
    st.lists(st.sampled_from(sorted(PACKERS)), max_size=2),
    st.integers(1, 5_000),
)
def test_what_was_packed_is_unpacked(members: list[bytes], packed: list[str], size: int) -> None:
    """By whatever codings, of several members, and in pieces of any size."""
    body = b"".join(members)
    content = body
    for coding in packed:
        content = PACKERS[coding](content)
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    meter = Meter(Limits(), REPLY, "connect")

    assert body == b"".join(unpacked(pieces, packed, meter))
    assert len(content) == meter.wire
    assert not packed or meter.unpacked >= len(body)
    several = b"".join(map(gzip.compress, members))
    pieces = [several[i : i + size] for i in range(0, len(several), size)]
    assert body == b"".join(unpacked(pieces, ["gzip"], Meter(Limits(), REPLY, "connect"), strict=True))


@given(st.binary(max_size=2_000), st.lists(st.sampled_from(sorted(PACKERS)), max_size=2), st.integers(1, 500))
def test_bytes_of_any_kind_are_unpacked_or_refused(content: bytes, packed: list[str], size: int) -> None:
    """The only sign is the error that reports it."""
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    try:
        list(unpacked(pieces, packed, Meter(Limits(), REPLY, "connect"), may_be_more=True))
    except zlib.error:
        assert packed or content.startswith(b"\x1f\x8b")


@given(
    st.text(max_size=40) | st.lists(st.sampled_from(["gzip", "x-gzip", "br", "identity", ""])).map(",".join)
)
def test_any_header_of_a_coding_is_read(header: str) -> None:
    """As at most two codings that we know, or as none that we could unpack."""
    packed = codings(header)

    assert packed is None or (len(packed) <= 2 and set(packed) <= set(PACKERS))


@pytest.mark.slow
def test_nothing_is_made_that_was_not_counted() -> None:
    """What goes beyond the limit is never more than one step, however much a byte stands for."""
    bomb = gzip.compress(gzip.compress(bytes(100_000_000), 9), 9)
    made: list[bytes] = []
    meter = Meter(Limits(unpacked_bytes=5_000_000), REPLY, "connect")
    with pytest.raises(LimitExceeded, match="the limit is 5,000,000 bytes unpacked"):
        made.extend(unpacked([bomb], ["gzip", "gzip"], meter))

    assert sum(map(len, made)) <= 5_000_000


def test_the_end_of_a_file_has_to_be_there(tmp_path: Path) -> None:
    """And nothing may follow it but zeros, as the command gzip has it."""
    path = tmp_path / "a.gz"
    for content, error in (
        (gzip.compress(b"abc")[:-3], EOFError),
        (gzip.compress(b"abc") + b"x", zlib.error),
    ):
        path.write_bytes(content)
        with pytest.raises(error), opened_within(path, None, "read_products") as file:
            file.read()
    path.write_bytes(gzip.compress(b"abc") + bytes(99) + gzip.compress(b"def") + bytes(9))
    with opened_within(path, None, "read_products") as file:
        assert b"abcdef" == file.read()


def test_the_usual_limits_let_large_pages_and_files_pass() -> None:
    """500 products of 200 kB, whatever they are packed to; and files of any size that are not packed."""
    assert (REPLY.wire_bytes or 0) > 100_000_000
    assert FILE.wire_bytes is None
    meter = Meter(Limits(), REPLY, "connect")
    meter.count_received(100_000)
    meter.count_unpacked(100_000_000 + 50_000)
