"""The plan of planted defects: what is wrong in the sample, on purpose, and on which products.

Importing this package declares every kind.
"""

from prodex_sandbox.sample.defects import families, labelling, pictures, status

__all__ = ["families", "labelling", "pictures", "status"]
