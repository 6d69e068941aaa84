"""The catalogue to measure with: 3,000 products of the sandbox's sample as it was once, and copies of them.

The sample grows with the sandbox, and figures of another day could not be compared; so these products are kept as a
file, with the version and the seed that they were made by. A larger catalogue repeats them under other ids and other
valid GTINs: with their oddities, defects and hierarchies.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from prodex.gtin import check_digit
from tests.bench.measuring import HOME

_DATA = Path(__file__).with_name("data")

#: Which sample this is. Another one gets another number and another file; this one never changes.
VERSION = 1

_GTIN = re.compile(rb"(?<![0-9])[0-9]{14}(?![0-9])")
_ID = re.compile(rb'("id":)([0-9]+)(?=[,}])')

#: More than any id of the sample.
_NEXT_COPY = 10_000_000


@cache
def facts() -> dict[str, Any]:
    """Return what is known of the sample: how it was made, its digest, and which products are unusual.

    Unusual are those that the parser of the day when it was pinned could not read together with the others.
    """
    found: dict[str, Any] = json.loads((_DATA / f"sample-{VERSION}.json").read_text("utf-8"))
    return found


@cache
def originals() -> tuple[bytes, ...]:
    """Return the products themselves, each as its JSON.

    Raises
    ------
    SystemExit
        When the file is not the one that was pinned.
    """
    lines = lzma.decompress((_DATA / f"sample-{VERSION}.jsonl.xz").read_bytes())
    if hashlib.sha256(lines).hexdigest() != facts()["sha256"]:
        raise SystemExit(
            f"sample-{VERSION}.jsonl.xz is not the sample that was pinned; figures would not compare"
        )
    return tuple(lines.splitlines())


def products(count: int) -> Iterator[bytes]:
    """Yield so many products, each as its JSON: the pinned ones, then copies of them."""
    pinned = originals()
    for number in range(count):
        copy, place = divmod(number, len(pinned))
        yield copied(pinned[place], copy) if copy else pinned[place]


def clean_products() -> list[bytes]:
    """Return the products without the unusual ones."""
    unusual = set(facts()["unusual"])
    return [product for place, product in enumerate(originals()) if place not in unusual]


def copied(product: bytes, copy: int) -> bytes:
    """Return a product under other numbers: its GTINs are as valid, and as wrong, as they were.

    >>> copied(b'{"id":7,"gtin":"03036811359935","name":"03036811359935.jpg"}', 1)
    b'{"id":10000007,"gtin":"03036816359947","name":"03036816359947.jpg"}'
    """
    moved = _GTIN.sub(lambda match: _moved(match[0], copy), product)
    return _ID.sub(lambda match: match[1] + b"%d" % (int(match[2]) + copy * _NEXT_COPY), moved, count=1)


# A product repeats its few GTINs in the addresses of its pictures.
@lru_cache(maxsize=1024)
def _moved(gtin: bytes, copy: int) -> bytes:
    """Return another GTIN of the same country and kind; what was wrong with the check digit is as wrong again."""
    if not int(gtin):
        return gtin  # fourteen zeros are no number at all, and stay so
    # Short GTINs are filled up with zeros, and stay short.
    first = next((at for at in (4, 8, 9) if gtin[1:at].strip(b"0")), 9)
    size = 10 ** (13 - first)
    number = (int(gtin[first:13]) + copy * (500_001 if first == 4 else 11)) % size
    body = gtin[:first] + b"%0*d" % (13 - first, number)
    wrong_by = (int(gtin[13:]) - int(check_digit(gtin[:13].decode()))) % 10
    return body + b"%d" % ((int(check_digit(body.decode())) + wrong_by) % 10)


def kept() -> Path:
    """Return the folder in which `make bench` keeps files of these products; another way of making them has another."""
    way = hashlib.sha256(Path(__file__).read_bytes() + facts()["sha256"].encode()).hexdigest()
    folder = HOME / "data" / "bench" / way[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_lines(path: Path, lines: Iterable[bytes]) -> Path:
    """Write products as JSON lines; return where."""
    with path.open("wb") as file:
        file.writelines(line + b"\n" for line in lines)
    return path


def read_lines(path: Path) -> list[bytes]:
    """Read products from JSON lines, packed."""
    with gzip.open(path) as lines:
        return [line.strip() for line in lines]
