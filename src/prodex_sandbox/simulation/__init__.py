"""Suppliers at work: days pass in a store, with a journal of what was done."""

from prodex_sandbox.simulation.actions import ACTIONS
from prodex_sandbox.simulation.incidents import INCIDENTS, Incident
from prodex_sandbox.simulation.journal import Entry, Journal
from prodex_sandbox.simulation.run import OpenDefect, open_defects, read_journal, simulate_store

__all__ = [
    "ACTIONS",
    "INCIDENTS",
    "Entry",
    "Incident",
    "Journal",
    "OpenDefect",
    "open_defects",
    "read_journal",
    "simulate_store",
]
