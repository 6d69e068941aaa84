"""The catalogue: its parts, their origin, and what is computed from them."""

from prodex.catalog.catalog import Catalog
from prodex.catalog.export_reading import read_export
from prodex.catalog.load_ledger import Ledger
from prodex.catalog.origin import Origin
from prodex.catalog.part import Part
from prodex.catalog.where import UnmatchedWarning

__all__ = ["Catalog", "Ledger", "Origin", "Part", "UnmatchedWarning", "read_export"]
