"""What changed between two catalogues: products, and every value of them, old beside new."""

from prodex.compare.difference import Difference
from prodex.compare.diffing import diff

__all__ = ["Difference", "diff"]
