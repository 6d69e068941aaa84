"""Writing to the service: products are checked before they are sent, and followed afterwards."""

from prodex.ledger.earlier_records import forget_earlier_records
from prodex.ledger.upserts import list_upserts
from prodex.send.following import track
from prodex.send.product_writes import Changes
from prodex.send.records import DELETE
from prodex.send.scenarios import require_scenarios
from prodex.send.tracking import Tracking
from prodex.send.upsert import DryRun, upsert

__all__ = [
    "DELETE",
    "Changes",
    "DryRun",
    "Tracking",
    "forget_earlier_records",
    "list_upserts",
    "require_scenarios",
    "track",
    "upsert",
]
