"""The saved audits before an audit: what its figures are compared with."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prodex import clock
from prodex.catalog import Catalog
from prodex.errors import SnapshotError
from prodex.progress import SILENT, Reporter
from prodex.quality import Audit, list_audits, open_audit

#: With the audit itself a year of monthly audits.
_EARLIER = 11


def earlier(audit: Audit) -> list[Audit]:
    """Return the newest earlier audits of the same snapshots by the same profile, oldest first; for a view, views."""
    return _alike(audit, _folders(audit, same_rules=False)[-_EARLIER:])


def previous(audit: Audit) -> Audit | None:
    """Return the last audit before this one by the same rules, for a view as a view; None if none can be read."""
    return next(iter(_alike(audit, _folders(audit, same_rules=True)[-1:])), None)


def newest(catalog: Catalog) -> Audit | None:
    """Return the audit of a snapshot that was saved last, of those that can be read; None without any."""
    if catalog.folder is None:
        return None
    own = [folder for _, folder in audits_of(catalog.folder)]
    return next((audit for folder in reversed(own) for audit in readable([folder])), None)


def audits_of(snapshot: Path) -> list[tuple[str, str]]:
    """Return the profile and the folder of each saved audit of a snapshot, the newest last."""
    listed = list_audits(snapshot.parent.name).dropna(subset="snapshot").to_dict("records")
    # The folder of all snapshots may have moved since, so only the snapshot's own name is compared.
    own = [one for one in listed if Path(str(one["snapshot"])).name == snapshot.name]
    return [(str(one["profile"]), str(one["folder"])) for one in own]


def readable(folders: Iterable[str], reporter: Reporter = SILENT) -> list[Audit]:
    """Open audits, and leave out those that cannot be read: one of them must not hide the others."""
    found, wanted = [], list(folders)
    with reporter.phase("Opening saved audits", "audits", len(wanted)) as show:
        for number, folder in enumerate(wanted, 1):
            # The list of snapshots reports the damage; figures and charts are shown without.
            with suppress(SnapshotError):
                found.append(open_audit(folder))
            show(number, len(wanted))
    return found


def _alike(audit: Audit, folders: Iterable[str]) -> list[Audit]:
    found = readable(folders)
    return found if audit.as_found is None else [one.with_accepted() for one in found]


def _folders(audit: Audit, *, same_rules: bool) -> list[str]:
    if audit.catalog_folder is None:
        return []
    listed = list_audits(audit.catalog_folder.parent.name)
    stamp = clock.as_name(audit.audited_at)  # as the folder of this audit is called
    own = listed.index[listed["time"] == stamp]
    # Those before it in the list, which is in order; where it is not saved, those with an earlier time.
    before = listed.index < own[0] if len(own) else listed["time"] < stamp
    alike = listed[(listed["profile"] == audit.profile) & before]
    if same_rules:
        alike = alike[alike["rule_set"] == audit.rule_set]
    return [str(folder) for folder in alike["folder"]]
