"""The plan of planted defects: what is wrong in the sample, on purpose, and on which products.

Importing the modules of this package enters their planters into the list.
"""

from prodex.sandbox.sample.defects import food, identity, imaging, packing, status, wording
from prodex.sandbox.sample.defects.planting import (
    CONSEQUENCES,
    DEFECTS,
    Defect,
    plant_in_family,
    plant_in_record,
    record_defects,
)

__all__ = [
    "CONSEQUENCES",
    "DEFECTS",
    "Defect",
    "food",
    "identity",
    "imaging",
    "packing",
    "plant_in_family",
    "plant_in_record",
    "record_defects",
    "status",
    "wording",
]
