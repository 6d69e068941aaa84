"""Families: consumer units that belong together, and everything they are packed in.

GTINs, ids and checksums are one-to-one functions of the product's place in the catalogue, so no register of used
numbers is needed, and a product keeps its numbers in a catalogue of any size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt
from random import Random

from prodex_sandbox.sample.products.participants import SUPPLIERS_BY_SECTOR, Brand, Supplier
from prodex_sandbox.sample.products.vocabulary import KINDS, LANGUAGES, VARIANTS, Kind, Variant

#: Markets of the sample (ISO 3166-1 numeric): the languages each requires, its share of the families in percent.
MARKETS: dict[int, tuple[tuple[str, ...], int]] = {
    250: (("fr",), 45),
    56: (("nl", "fr"), 15),
    276: (("de",), 12),
    528: (("nl",), 10),
    724: (("es",), 9),
    826: (("en",), 9),
}
_MARKETS = [market for market, (_, share) in MARKETS.items() for _ in range(share)]

#: Shapes of families and their shares in percent.
_SHAPES = {"lone": 50, "case": 15, "pallet": 18, "pack": 7, "mixed": 5, "two parents": 3, "display": 2}
_SHAPE_OF_PERCENT = [shape for shape, share in _SHAPES.items() for _ in range(share)]
# Number of units of each shape.
_SIZE = {"lone": 1, "case": 2, "pallet": 3, "pack": 4, "mixed": 4, "two parents": 5, "display": 3}

# Pieces weigh 60 g each, roughly.
_GRAMS = {"GRM": 1, "MLT": 1, "KGM": 1000, "LTR": 1000, "H87": 60}


@dataclass(slots=True, eq=False)
class Packed:
    """What a unit holds: so many of another unit; `gtin` is set when it is not the number of that unit."""

    unit: Unit
    quantity: int | float | None
    gtin: str | None = None


@dataclass(slots=True, eq=False)
class Unit:
    """One trade item of a family.

    Weights are in grams, dimensions in millimetres (height, width, depth); `count` is the number of inner units in
    its name.
    """

    number: int
    uuid: str
    gtin: str
    packaging: str
    variant: Variant
    size: int | float
    net: int
    gross: int
    dimensions: tuple[int, int, int]
    is_consumer_unit: bool
    count: int = 1
    is_despatch_unit: bool = False
    is_orderable_unit: bool = False
    is_display_unit: bool = False
    contains: list[Packed] = field(default_factory=list)

    @property
    def id(self) -> int:
        """The service's id."""
        return product_id(self.number)


@dataclass(slots=True, eq=False)
class Family:
    """Units of one supplier, brand and kind, children before parents; `tops` are held by no other unit.

    `shows_parents`: whether the records of consumer units show what they are packed in.
    """

    kind: Kind
    supplier: Supplier
    brand: Brand
    market: int
    languages: tuple[str, ...]
    units: list[Unit]
    tops: list[Unit]
    shows_parents: bool


def draw_family(
    rng: Random, number: int, room: int, *, lone: bool = False, supplier: Supplier | None = None
) -> Family:
    """Draw a family.

    Parameters
    ----------
    rng
        Source of chance.
    number
        Place in the catalogue of its first unit.
    room
        At most so many units; a family that does not fit becomes a lone consumer unit.
    lone
        Whether it has to be one consumer unit alone.
    supplier
        Whose family it is; one of the sector of the kind that is drawn unless given.
    """
    kind = rng.choice([kind for kind in KINDS if supplier is None or kind.sector == supplier.sector])
    supplier = supplier or rng.choice(SUPPLIERS_BY_SECTOR[kind.sector])
    market = rng.choice(_MARKETS)
    shape = rng.choice(_SHAPE_OF_PERCENT)
    if lone or _SIZE[shape] > room:
        shape = "lone"
    shows_parents = shape == "two parents" or rng.random() < 0.6
    family = Family(
        kind, supplier, rng.choice(supplier.brands), market, _languages(rng, market), [], [], shows_parents
    )
    _Packer(rng, family, number).pack(shape)
    return family


def _languages(rng: Random, market: int) -> tuple[str, ...]:
    required = MARKETS[market][0]
    others = [language for language in LANGUAGES if language not in required and rng.random() < 0.28]
    return required + tuple(others)


class _Packer:
    """Fills a family with units, numbering them as they come."""

    def __init__(self, rng: Random, family: Family, number: int) -> None:
        self.rng = rng
        self.family = family
        self.number = number

    def pack(self, shape: str) -> None:
        rng, family = self.rng, self.family
        variants = VARIANTS[family.kind.variants]
        first = rng.randrange(len(variants))
        size = rng.choice(family.kind.sizes)
        each = self.each(variants[first], size)
        match shape:
            case "lone":
                each.is_orderable_unit = each.is_despatch_unit = rng.random() < 0.3
                tops = [each]
            case "case":
                tops = [self.case((each, self.dozen()))]
            case "pallet":
                tops = [self.pallet(self.case((each, self.dozen())))]
            case "pack":
                pack = self.outer("PACK", (each, rng.choice((2, 3, 4, 6))))
                tops = [self.pallet(self.case((pack, self.dozen())))]
            case "mixed":
                other = self.each(variants[(first + 1) % len(variants)], size)
                mixed = self.case((each, self.dozen()), (other, self.dozen()))
                tops = [self.pallet(mixed)]
            case "two parents":
                pack = self.outer("PACK", (each, rng.choice((2, 4))))
                tops = [self.pallet(self.case((pack, 6))), self.case((each, 12))]
            case _:
                other = self.each(variants[(first + 1) % len(variants)], size)
                pallet = self.pallet(each, other)
                pallet.is_display_unit = True
                pallet.is_orderable_unit = True
                tops = [pallet]
        family.tops = tops

    def dozen(self) -> int:
        return self.rng.choice((6, 8, 10, 12, 20, 24))

    def add(self, unit: Unit) -> Unit:
        self.family.units.append(unit)
        self.number += 1
        return unit

    def each(self, variant: Variant, size: int | float) -> Unit:
        rng = self.rng
        net = max(1, round(size * _GRAMS[self.family.kind.unit]))
        gross = round(net * rng.uniform(1.03, 1.15)) + 8
        # About 1.9 cubic centimetres for each gram, packed.
        edge = round((gross * 1_900) ** (1 / 3))
        return self.add(
            Unit(
                number=self.number,
                uuid=random_uuid(rng),
                gtin=base_gtin(self.number, self.family.supplier.company),
                packaging="EACH",
                variant=variant,
                size=size,
                net=net,
                gross=gross,
                dimensions=(round(edge * 1.4) + 5, round(edge * 0.9) + 5, round(edge * 0.8) + 5),
                is_consumer_unit=True,
            )
        )

    def outer(self, packaging: str, *contents: tuple[Unit, int]) -> Unit:
        """Pack units into a larger one; its walls add weight, its size has room for all of them."""
        rng = self.rng
        inner = contents[0][0]
        count = sum(quantity for _, quantity in contents)
        held = sum(unit.gross * quantity for unit, quantity in contents)
        height, width, depth = (max(unit.dimensions[axis] for unit, _ in contents) for axis in range(3))
        # As square as the number allows: 12 are 3 by 4, 7 are 1 by 7.
        across = max(divisor for divisor in range(1, isqrt(count) + 1) if count % divisor == 0)
        consumer = packaging == "PACK"
        # Suppliers number outer units in both ways: the GTIN of the content with an indicator, or one of their own.
        inherits = not consumer and inner.packaging == "EACH" and rng.random() < 0.7
        return self.add(
            Unit(
                number=self.number,
                uuid=random_uuid(rng),
                gtin=(
                    outer_gtin(inner.gtin, 1 + self.number % 8)
                    if inherits
                    else base_gtin(self.number, self.family.supplier.company)
                ),
                packaging=packaging,
                variant=inner.variant,
                size=inner.size,
                net=sum(unit.net * quantity for unit, quantity in contents),
                gross=round(held * 1.03) + (15 if consumer else 250),
                dimensions=(height + 6, width * across + 6, depth * (count // across) + 6),
                is_consumer_unit=consumer,
                count=count,
                contains=[Packed(unit, quantity) for unit, quantity in contents],
            )
        )

    def case(self, *contents: tuple[Unit, int]) -> Unit:
        unit = self.outer("CASE", *contents)
        unit.is_despatch_unit = unit.is_orderable_unit = True
        return unit

    def pallet(self, *sorts: Unit) -> Unit:
        """Stack units on a pallet of 800 by 1200 mm, up to about two metres and equally many of each sort."""
        height, width, depth = (max(unit.dimensions[axis] for unit in sorts) for axis in range(3))
        per_layer = max(1, (800 // width) * (1_200 // depth))
        layers = max(1, min(self.rng.choice((4, 5, 6, 8)), 1_800 // height))
        each = min(120, max(2, per_layer * layers // len(sorts)))
        unit = self.outer("PALLET", *((inner, each) for inner in sorts))
        # The pallet itself, of wood.
        unit.gross += 22_000
        # As many as are needed for what was drawn, which may be less than fits.
        layers = -(-each * len(sorts) // per_layer)
        unit.dimensions = (144 + layers * height, max(width, 800), max(depth, 1_200))
        unit.is_despatch_unit = True
        unit.is_orderable_unit = self.rng.random() < 0.5
        return unit


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
    # The factor has no divisor in common with 10,000,000, so no number occurs twice.
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
