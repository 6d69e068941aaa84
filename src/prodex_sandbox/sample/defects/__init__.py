"""The plan of planted defects: what is wrong in the sample, on purpose, and on which products.

Importing the modules of this package enters their planters into the list.
"""

from prodex_sandbox.sample.defects import food, identity, imaging, packing, status, wording

__all__ = ["food", "identity", "imaging", "packing", "status", "wording"]
