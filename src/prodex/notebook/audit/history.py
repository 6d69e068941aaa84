"""The audits that were saved of the same snapshots before."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from prodex.errors import SnapshotDamaged, SnapshotError
from prodex.quality import Audit, list_audits, open_audit

_EARLIER = 11


def earlier(audit: Audit, most: int = _EARLIER) -> list[Audit]:
    """Return the newest earlier audits of the same snapshots by the same profile, the oldest first."""
    return readable(_folders(audit, same_rules=False)[-most:])


def readable(folders: Iterable[str]) -> list[Audit]:
    """Open audits, without those that are damaged: one of them does not hide the others."""
    found = []
    for folder in folders:
        with suppress(SnapshotDamaged):
            found.append(open_audit(folder))
    return found


def previous(audit: Audit) -> Audit | None:
    """Return the last audit before this one that is the same measure; None where there is none to be read."""
    folders = _folders(audit, same_rules=True)
    try:
        return open_audit(folders[-1]) if folders else None
    except SnapshotError:  # what is damaged is no measure; the list of snapshots says so
        return None


def _folders(audit: Audit, *, same_rules: bool) -> list[str]:
    if audit.catalog_folder is None:
        return []
    listed = list_audits(audit.catalog_folder.parent.name)
    stamp = f"{audit.audited_at:%Y-%m-%dT%H%M%S.%f}Z"  # as the folder of this audit is called
    alike = listed[(listed["profile"] == audit.profile) & (listed["time"] < stamp)]
    if same_rules:
        alike = alike[alike["rule_set"] == audit.rule_set]
    return [str(folder) for folder in alike["folder"]]
