"""A complete local exchange service: what a newcomer tries prodex on, and what the tests run against.

It is a reading of the service's specification of its own: it imports nothing else of prodex.
"""

from prodex.sandbox.behaviour import Behaviour, ScrollEnd
from prodex.sandbox.faults.fault import Fault
from prodex.sandbox.faults.kinds import FAULTS
from prodex.sandbox.kept_at_home import journal, open_defects, reset, set_time, simulate
from prodex.sandbox.running import Sandbox
from prodex.sandbox.simulation import INCIDENTS, Entry, Incident, Journal, OpenDefect

__all__ = [
    "FAULTS",
    "INCIDENTS",
    "Behaviour",
    "Entry",
    "Fault",
    "Incident",
    "Journal",
    "OpenDefect",
    "Sandbox",
    "ScrollEnd",
    "journal",
    "open_defects",
    "reset",
    "set_time",
    "simulate",
]
