"""What changed between two catalogues: products, and every value of them, old beside new."""

from prodex.compare.comparison import diff
from prodex.compare.difference import Difference

__all__ = ["Difference", "diff"]
