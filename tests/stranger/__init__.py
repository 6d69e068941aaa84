"""A second service, written from the specification alone, that lies and fails on request."""

from .catalogue import products
from .service import Stranger
from .traits import TRAITS

__all__ = ["TRAITS", "Stranger", "products"]
