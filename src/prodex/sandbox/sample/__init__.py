"""The sandbox's sample: an invented catalogue that is the same everywhere, and the defects planted in it."""

from prodex.sandbox.sample.catalogue import shared_products
from prodex.sandbox.sample.participants import organizations
from prodex.sandbox.sample.vocabulary import LABELS

__all__ = ["LABELS", "organizations", "shared_products"]
