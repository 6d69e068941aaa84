"""How to add an incident of the sandbox: one entry in the list of incidents."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

ADDED = """
"brands_swapped": IncidentKind("A supplier's products get another brand.", _swap_brands),
"""

FUNCTION = """
def _swap_brands(day: Day, affected: Sequence[Affected], _rng: Random) -> str:
    for owner, key in affected:
        _write(day, owner, key, {"brand": {"code": "OTHER", "label": "Other"}})
    return "the brand became Other."


"""

USED = """
from prodex.sandbox import Sandbox
from prodex_sandbox.command_options import parser

assert parser().parse_args(["--incident", "brands_swapped@1"]).incidents[0].day == 1
with Sandbox([{"id": 7, "gtin": "03036811359935"}]) as sandbox:
    journal = sandbox.simulate(days=1, incidents=["brands_swapped"])
    assert journal.incidents == ["Unknown owner: the brand became Other. 1 product: 03036811359935."]
    assert [entry.after for entry in journal if entry.attribute == "brand"] == [{"code": "OTHER", "label": "Other"}]
"""


@pytest.mark.slow
def test_an_incident_is_one_entry_in_one_file(source: ChangedSource) -> None:
    """A new incident happens from Python and from the command line, is in the journal, and is listed."""
    source.insert("prodex_sandbox/simulation/incidents.py", '"volume_halves": IncidentKind', ADDED)
    source.insert("prodex_sandbox/simulation/incidents.py", "def _stop", FUNCTION)
    assert {"prodex_sandbox/simulation/incidents.py"} == source.files
    (help_,) = source.python(USED, "sandbox --help days")
    assert "A supplier's products get another brand." in " ".join(help_.split())
