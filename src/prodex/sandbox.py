"""The sandbox as users name it: `from prodex.sandbox import Sandbox`, `python -m prodex.sandbox`.

The sandbox itself is the package `prodex_sandbox`, a reading of the service's specification of its own. This is the one
module of prodex that imports it, so that whatever both sides must agree on passes through the service's interface.
"""

from __future__ import annotations

import runpy
from collections.abc import Sequence

from prodex.installation import missing_extra

try:
    from prodex_sandbox import (
        FAULTS,
        INCIDENTS,
        Behaviour,
        Entry,
        Fault,
        Incident,
        Journal,
        OpenDefect,
        Sandbox,
        ScrollEnd,
        journal,
        open_defects,
        reset,
        set_time,
        simulate,
    )
    from prodex_sandbox.command import main
except ModuleNotFoundError as error:
    raise missing_extra("The sandbox", str(error.name), "sandbox") from error

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


def run_command(arguments: Sequence[str]) -> int:
    """Run the command `prodex sandbox`, and return its exit status."""
    return main(arguments)


if __name__ == "__main__":
    runpy.run_module("prodex_sandbox", run_name="__main__")
