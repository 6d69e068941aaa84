"""Audits on disk: aligned parts in Parquet, beside the snapshots that they are about.

`<root>/<name>/audits/<UTC time>/manifest.json`, and `states`, `products` and `evidence` with one file for each part
of the catalogue. What is written is never changed, and visible only when it is whole.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex import parquet
from prodex.catalog import Origin
from prodex.errors import InputError, SnapshotDamaged, SnapshotError, SnapshotNotFound
from prodex.files import checked_name, safe_name, sha256, sweep, writing_folder
from prodex.quality.check import CheckFacts
from prodex.quality.engine import IDENTITY, AuditPart, Crash
from prodex.quality.outcome import Audit
from prodex.quality.states import EVIDENCE
from prodex.store.snapshot import open_snapshot, snapshots_folder

_FORMAT = 1
_MANIFEST = "manifest.json"
_TABLES = ("products", "states", "evidence")


def save_audit(audit: Audit, name: str | None = None) -> Audit:
    """Keep an audit beside the snapshots of a name.

    Parameters
    ----------
    audit
        What to keep.
    name
        Name of the snapshot; that of the audit's own where it was made of one.

    Returns
    -------
    Audit
        The same, with its folder.

    Raises
    ------
    InputError
        When the catalogue is in memory and no name is given.
    StorageError
        When the disk refuses.
    """
    if name is None:
        if audit.catalog_folder is None:
            raise InputError(
                "The catalogue is in memory, so its audit has no place yet. Give a name: audit.save('shop')."
            )
        folder = audit.catalog_folder.parent / "audits"
    else:
        folder = snapshots_folder() / checked_name(name) / "audits"
    folder = folder / f"{audit.audited_at:%Y-%m-%dT%H%M%S.%f}Z"
    sweep(folder.parent)
    with writing_folder(folder) as beside:
        files = [_write_part(part, number, beside) for number, part in enumerate(audit.parts)]
        content = json.dumps(_manifest_of(audit, files), ensure_ascii=False, indent=1)
        (beside / _MANIFEST).write_text(content, "utf-8")
    return replace(audit, folder=folder)


def open_audit(name: str | Path, profile: str | None = None) -> Audit:
    """Open an audit that was saved.

    Parameters
    ----------
    name
        "shop" is the newest audit beside the snapshots of that name, "shop@2026-11-13" the last one of that day. The
        folder of an audit is taken as well.
    profile
        Only audits by this profile.

    Returns
    -------
    Audit
        With the catalogue it is about, where the snapshot is still there.

    Raises
    ------
    SnapshotNotFound
        When there is none.
    SnapshotDamaged
        When its files are missing or changed.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.save(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), "judged")
    >>> _ = prodex.audit(catalog, {"checks": {"valid_gtin": {}}}).save()
    >>> float(prodex.open_audit("judged").summary()["score"])
    1.0
    """
    if (Path(name) / _MANIFEST).is_file():
        return _open(Path(name))
    wanted, _, time = str(name).partition("@")
    found = [folder for folder in _folders(wanted) if folder.name.startswith(time)]
    if profile is not None:
        found = [folder for folder in found if _manifest(folder)["profile"] == profile]
    if not found:
        there = sorted({folder.parent.parent.name for folder in _folders("*")})
        by = f" by profile {profile!r}" if profile is not None else ""
        raise SnapshotNotFound(
            f"No audit {str(name)!r}{by} in {snapshots_folder()}. There are audits of {', '.join(there) or 'nothing'}; "
            "prodex.audit(catalog).save() keeps one."
        )
    return _open(found[-1])


def list_audits(name: str = "*") -> pd.DataFrame:
    """Return the audits of the snapshots of a name, or all: when, by which profile, how many products, where.

    `snapshot` is the folder of the snapshot that was judged, as it was called then; none for a catalogue in memory.

    Parameters
    ----------
    name
        Name of the snapshot.
    """
    rows = []
    for folder in _folders(name):
        manifest = _manifest(folder)
        rows.append(
            {
                "name": folder.parent.parent.name,
                "time": folder.name,
                "profile": manifest["profile"],
                "rule_set": manifest["rule_set"],
                "products": manifest["products"],
                "checks": len(manifest["checks"]),
                "snapshot": manifest["catalog"],
                "folder": str(folder),
            }
        )
    columns = ["name", "time", "profile", "rule_set", "products", "checks", "snapshot", "folder"]
    return pd.DataFrame(rows, columns=columns)


def _folders(name: str) -> list[Path]:
    if name != "*" and name != safe_name(name):
        return []
    return sorted(path.parent for path in snapshots_folder().glob(f"{name}/audits/[0-9]*/{_MANIFEST}"))


def _write_part(part: AuditPart, number: int, folder: Path) -> dict[str, str]:
    columns = [pa.array(np.ascontiguousarray(column)) for column in part.states.T]
    # Numbers as names: the manifest says which check is which, and one name can be very long.
    states = pa.table(columns, names=[str(place) for place in range(len(columns))]) if columns else None
    written = {"products": part.products, "evidence": part.evidence}
    digests = {}
    for table, rows in (written if states is None else {**written, "states": states}).items():
        path = folder / _path(table, number)
        path.parent.mkdir(exist_ok=True)
        parquet.write(rows, path)
        digests[table] = sha256(path)
    return digests


def _path(table: str, number: int) -> Path:
    return Path(table) / f"part-{number:05d}.parquet"


def _manifest_of(audit: Audit, files: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "prodex": version("prodex"),
        "profile": audit.profile,
        "rule_set": audit.rule_set,
        "now": audit.now.isoformat(),
        "audited_at": audit.audited_at.isoformat(),
        "origin": audit.origin.to_json(),
        "catalog": None if audit.catalog_folder is None else str(audit.catalog_folder),
        "products": len(audit),
        "checks": [asdict(check) for check in audit.checks],
        "crashes": [[asdict(crash) for crash in part.crashes] for part in audit.parts],
        "parts": files,
    }


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / _MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_bytes())
        if manifest["format"] != _FORMAT:
            raise SnapshotDamaged(
                f"{path} is of format {manifest['format']}, which this version does not read. Update prodex."
            )
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SnapshotDamaged(f"{path} cannot be read ({error}). Audit the catalogue again.") from error
    return manifest


def _open(folder: Path) -> Audit:
    manifest = _manifest(folder)
    try:
        checks = tuple(CheckFacts(**facts) for facts in manifest["checks"])
        crashes = [tuple(Crash(**crash) for crash in part) for part in manifest["crashes"]]
        parts = tuple(
            _read_part(folder, number, digests, len(checks), told)
            for number, (digests, told) in enumerate(zip(manifest["parts"], crashes, strict=True))
        )
        judged = None if manifest["catalog"] is None else Path(manifest["catalog"])
        audit = Audit(
            parts=parts,
            checks=checks,
            profile=manifest["profile"],
            rule_set=manifest["rule_set"],
            origin=Origin.from_json(manifest["origin"]),
            now=datetime.fromisoformat(manifest["now"]),
            audited_at=datetime.fromisoformat(manifest["audited_at"]).astimezone(UTC),
            folder=folder,
            catalog_folder=judged,
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SnapshotDamaged(
            f"{folder / _MANIFEST} does not describe an audit ({error}). Audit the catalogue again."
        ) from error
    return _with_catalog(audit, judged)


def _with_catalog(audit: Audit, judged: Path | None) -> Audit:
    """Give the audit its catalogue where the snapshot is still there; it answers for what the audit does not keep."""
    if judged is None:
        return audit
    # The whole folder may have moved to another disk or machine since.
    assert audit.folder is not None  # noqa: S101 - it was opened from there
    for place in (judged, audit.folder.parent.parent / judged.name):
        try:
            if (place / _MANIFEST).is_file():
                return replace(audit, catalog=open_snapshot(place), catalog_folder=place)
        except SnapshotError:
            continue
    return audit


def _read_part(
    folder: Path, number: int, digests: dict[str, str], checks: int, crashes: tuple[Crash, ...]
) -> AuditPart:
    tables = {}
    for table, digest in digests.items():
        path = folder / _path(table, number)
        try:
            if sha256(path) != digest:
                raise SnapshotDamaged(f"{path} was changed: its digest differs. Audit the catalogue again.")
            tables[table] = parquet.read(path)
        except OSError as error:
            raise SnapshotDamaged(f"{path} cannot be read ({error}). Audit the catalogue again.") from error
    products = tables["products"].cast(IDENTITY)
    states = np.empty((products.num_rows, checks), np.int8, order="F")
    for place in range(checks):
        states[:, place] = tables["states"][str(place)].to_numpy()
    return AuditPart(products, states, tables["evidence"].cast(EVIDENCE), crashes)
