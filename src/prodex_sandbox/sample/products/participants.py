"""The organisations of the sample: three retailers, and forty invented suppliers with brands and number ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import NAMESPACE_DNS, uuid5

from prodex_sandbox.own_tables import read_table
from prodex_sandbox.records.model import Organization, OrganizationType

#: The retailer that sees every product of the sample.
PRINCIPAL_ID = 1
#: Sees about a third of the products.
SECOND_ID = 2
#: Sees a few.
THIRD_ID = 3


@dataclass(frozen=True, slots=True)
class Brand:
    """A brand; half of the codes are made of digits."""

    code: str
    name: str


@dataclass(frozen=True, slots=True)
class Supplier:
    """A manufacturer: its organisation id, trade, address and brands."""

    id: int
    uuid: str
    number: int
    name: str
    sector: str
    company: str
    country: str
    city: str
    brands: tuple[Brand, ...]


def _suppliers() -> tuple[Supplier, ...]:
    suppliers: list[Supplier] = []
    brand_count = 0
    for number, row in enumerate(read_table(__package__, "suppliers"), start=1):
        brands = []
        for name in row["brands"].split(","):
            brand_count += 1
            spelled = "".join(letter if letter.isalnum() else "_" for letter in name).upper()
            # Half of the codes are digits, which some services send as integers.
            brands.append(Brand(str(4_000 + brand_count) if brand_count % 2 else spelled, name))
        suppliers.append(
            Supplier(
                id=100 + number,
                # Derived from the name, so that it is the same in every run.
                uuid=str(uuid5(NAMESPACE_DNS, f"supplier-{number:02d}.example")),
                number=number,
                name=row["name"],
                sector=row["sector"],
                company=f"{row['gs1']}{10 + number:02d}",
                country=row["country"],
                city=row["city"],
                brands=tuple(brands),
            )
        )
    return tuple(suppliers)


SUPPLIERS: tuple[Supplier, ...] = _suppliers()
SUPPLIERS_BY_SECTOR: Mapping[str, tuple[Supplier, ...]] = {
    sector: tuple(supplier for supplier in SUPPLIERS if supplier.sector == sector)
    for sector in dict.fromkeys(supplier.sector for supplier in SUPPLIERS)
}


def _organization(
    id_: int,
    name: str,
    type_: OrganizationType,
    slug: str,
    *,
    scenarios: bool = False,
    deadlines: bool = False,
) -> Organization:
    secret, username = f"{slug}-secret", f"{slug}@prodex.example"
    return Organization(id_, name, type_, slug, secret, username, scenarios, deadlines)


def organizations() -> tuple[Organization, ...]:
    """Return all organisations, the principal retailer first.

    Their keys are public: the sandbox is local and what it holds is invented.

    >>> organizations()[0].client_id
    'sandbox-retailer'
    """
    retailer, manufacturer = OrganizationType.RETAILER, OrganizationType.MANUFACTURER
    grand, markt, corner = "Grand Panier Sandbox", "Marktplein Sandbox", "Corner Basket Sandbox"
    return (
        _organization(PRINCIPAL_ID, grand, retailer, "sandbox-retailer", scenarios=True, deadlines=True),
        _organization(SECOND_ID, markt, retailer, "sandbox-retailer-2", scenarios=True),
        _organization(THIRD_ID, corner, retailer, "sandbox-retailer-3"),
        *(
            _organization(one.id, one.name, manufacturer, f"sandbox-supplier-{one.number:02d}")
            for one in SUPPLIERS
        ),
    )
