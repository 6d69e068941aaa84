"""Writing to the service: products are checked before they are sent, and followed afterwards."""

from prodex.ledger.earlier_records import forget_earlier_records
from prodex.ledger.upserts import list_upserts
from prodex.send.corrections import Changes
from prodex.send.following import track
from prodex.send.frame_changes import changes_from_frame
from prodex.send.records import DELETE
from prodex.send.scenarios import ScenarioRequest, require_scenarios, scenario_request
from prodex.send.tracking import Tracking
from prodex.send.upsert import DryRun, upsert

__all__ = [
    "DELETE",
    "Changes",
    "DryRun",
    "ScenarioRequest",
    "Tracking",
    "changes_from_frame",
    "forget_earlier_records",
    "list_upserts",
    "require_scenarios",
    "scenario_request",
    "track",
    "upsert",
]
