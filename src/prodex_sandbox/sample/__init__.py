"""The sandbox's sample: an invented catalogue that is the same everywhere, and the defects planted in it."""

from prodex_sandbox.sample.catalogue import plan, shared_products, write_plan
from prodex_sandbox.sample.defects.planting import CONSEQUENCES, DEFECTS, Defect
from prodex_sandbox.sample.law_products import LAW_FIELDS, law_breaches, law_products
from prodex_sandbox.sample.products.dates import AS_OF, STALE_AFTER
from prodex_sandbox.sample.products.participants import organizations
from prodex_sandbox.sample.products.vocabulary import LABELS

__all__ = [
    "AS_OF",
    "CONSEQUENCES",
    "DEFECTS",
    "LABELS",
    "LAW_FIELDS",
    "STALE_AFTER",
    "Defect",
    "law_breaches",
    "law_products",
    "organizations",
    "plan",
    "shared_products",
    "write_plan",
]
