"""How to add a fault of the sandbox: one entry in the list of faults."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

ADDED = """
"504": FaultKind("A gateway waited in vain.", _reply(504, _error("Gateway timeout."))),
"""

USED = """
import requests
from prodex.sandbox import FAULTS, Fault, Sandbox
from prodex_sandbox.command_options import parser

assert Fault.from_text("504@2,endpoint=organizations").hits(2)
assert parser().parse_args(["--fault", "504@2"]).faults == [Fault("504", at=2)]
with Sandbox([{"id": 7}]) as sandbox:
    sandbox.order(Fault("504", endpoint="token"))
    reply = requests.post(f"{sandbox.base_url}/auth/v2/token", json={}, timeout=10)
    assert (reply.status_code, reply.json()["message"]) == (504, "Gateway timeout.")
    assert [hit.kind for hit in sandbox.faults_hit] == ["504"]
"""


def test_a_fault_is_one_entry_in_one_file(source: ChangedSource) -> None:
    """A new fault is ordered from Python and from the command line, strikes, and is listed."""
    source.insert("prodex_sandbox/faults/kinds.py", '"cut": FaultKind', ADDED)
    assert {"prodex_sandbox/faults/kinds.py"} == source.files
    (help_,) = source.python(USED, "sandbox --help faults")
    assert "A gateway waited in vain." in help_
