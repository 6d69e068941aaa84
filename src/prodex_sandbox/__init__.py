"""A complete local exchange service: what a newcomer tries prodex on, and what the tests run against.

It is a reading of the service's specification of its own: it imports nothing of prodex. Users import its names from
`prodex.sandbox`.
"""

from prodex_sandbox.behaviour import Behaviour, ScrollEnd
from prodex_sandbox.faults.kinds import FAULTS, Fault
from prodex_sandbox.home import journal, open_defects, reset, set_time, simulate
from prodex_sandbox.sandbox import Sandbox
from prodex_sandbox.simulation import INCIDENTS, Entry, Incident, Journal, OpenDefect

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
