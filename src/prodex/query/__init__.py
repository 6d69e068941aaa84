"""What to ask the service for; the only home of the wire's filter names, types and units."""

from prodex.query.filters import FILTERS
from prodex.query.product_query import ALWAYS_REQUESTED, GTINS_PER_CALL, ProductQuery
from prodex.query.values import SEARCH_FIELDS, ProductStatus, SharingStatus, ValidationStatus

__all__ = [
    "ALWAYS_REQUESTED",
    "FILTERS",
    "GTINS_PER_CALL",
    "SEARCH_FIELDS",
    "ProductQuery",
    "ProductStatus",
    "SharingStatus",
    "ValidationStatus",
]
