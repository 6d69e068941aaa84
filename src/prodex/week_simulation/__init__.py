"""Weeks of the sandbox: what a user of prodex would have by now, had the sandbox been in use for three weeks."""

from prodex.week_simulation.weeks import SimulatedWeeks, simulated_weeks

__all__ = ["SimulatedWeeks", "simulated_weeks"]
