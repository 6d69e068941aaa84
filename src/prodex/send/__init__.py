"""Writing to the service: what is sent, checked before, followed after."""

from prodex.send.changes import Changes, changes_from_frame
from prodex.send.records import DELETE
from prodex.send.scenarios import ScenarioRequest, require_scenarios, scenario_request
from prodex.send.tracking import Tracking, track
from prodex.send.upsert import DryRun, upsert

__all__ = [
    "DELETE",
    "Changes",
    "DryRun",
    "ScenarioRequest",
    "Tracking",
    "changes_from_frame",
    "require_scenarios",
    "scenario_request",
    "track",
    "upsert",
]
