"""Identifiers: GTINs with check digits, ids, uuids, checksums; unique by construction.

Each is a one-to-one function of the product's place in the catalogue, so no register of used numbers is needed
and a product keeps its numbers in a catalogue of any size.
"""

from __future__ import annotations

from random import Random

_MERSENNE = 2_147_483_647


def check_digit(body: str) -> int:
    """Return the check digit of the 13 digits before it (GS1 General Specifications: weights 3, 1, 3 ...).

    >>> check_digit("0303681135993")
    5
    """
    return -(3 * sum(map(int, body[0::2])) + sum(map(int, body[1::2]))) % 10


def complete(body: str) -> str:
    """Return the 14 digits of a GTIN whose first 13 are given.

    >>> complete("2366383603798")
    '23663836037988'
    """
    return f"{body}{check_digit(body)}"


def base_gtin(number: int, company: str) -> str:
    """Return the GTIN of the product at this place in the catalogue.

    Most are a GTIN-13 after one zero; companies of prefix 0 have a GTIN-12; every fortieth product is so small
    that it has a GTIN-8.

    Parameters
    ----------
    number
        Place in the catalogue, from 0.
    company
        First five digits of the supplier's 13-digit numbers.
    """
    if number % 40 == 39 and number < 40_000_000:
        return complete(f"0000003{(number // 40 * 7_919) % 1_000_000:06d}")
    # The factor has no divisor in common with 10,000,000, so no number comes twice.
    return complete(f"0{company}{(number * 7_368_787 + 12_345) % 10_000_000:07d}")


def outer_gtin(gtin: str, indicator: int) -> str:
    """Return the GTIN of an outer unit: an indicator 1 to 8, the inner digits, a new check digit.

    >>> outer_gtin("03663836037984", 1)
    '13663836037981'
    """
    return complete(f"{indicator}{gtin[1:13]}")


def product_id(number: int) -> int:
    """Return the service's id of the product at this place, spread over 31 bits."""
    # A factor modulo a prime: a permutation, so ids are unique and look random.
    return (number + 1) * 48_271 % _MERSENNE


def checksum(number: int, file: int) -> str:
    """Return the crc32 of one of a product's (at most 256) files, as 8 hexadecimal digits."""
    # An odd factor modulo a power of two: a permutation too.
    return f"{(number * 256 + file) * 2_654_435_761 % 4_294_967_296:08x}"


def random_uuid(rng: Random) -> str:
    """Return a version 4 UUID."""
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
