"""A complete local exchange service: what a newcomer tries prodex on, and what the tests run against.

It is a reading of the service's specification of its own: it imports nothing else of prodex.
"""

from prodex.sandbox.behaviour import Behaviour, ScrollEnd
from prodex.sandbox.faults.fault import Fault
from prodex.sandbox.faults.kinds import FAULTS
from prodex.sandbox.running import Sandbox

__all__ = ["FAULTS", "Behaviour", "Fault", "Sandbox", "ScrollEnd"]
