"""Audits on disk: aligned parts in Parquet, beside the snapshots that they are about.

`<root>/<name>/audits/<UTC time>/manifest.json`, and `states`, `products` and `evidence` with one file for each part
of the catalogue. What is written is never changed, and visible only when it is whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import described
from prodex.catalog import Catalog, Origin
from prodex.errors import InputError, SnapshotDamaged, SnapshotError, SnapshotNotFound, StorageError
from prodex.files import checked_name, parquet, safe_name, sha256, sweep, writing_folder
from prodex.files.untrusted import (
    Count,
    Digest,
    MadeByNewer,
    Moment,
    check_moment,
    is_file,
    is_folder,
    is_there,
    read_json,
    refuse_links,
)
from prodex.quality.audit import Audit
from prodex.quality.check import MOST_WEIGHT, CheckFacts
from prodex.quality.engine import IDENTITY, AuditPart, Crash
from prodex.quality.problems import with_problem
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import GRADES
from prodex.quality.states import EVIDENCE, State, States
from prodex.store.archive import entries_of, snapshots_folder
from prodex.store.snapshot import folder_of, name_of, open_snapshot
from prodex.text import hint_and_all

_FORMAT = 1
_MANIFEST = "manifest.json"
_AUDITS = "audits"


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
        folder = audit.catalog_folder.parent / _AUDITS
    else:
        folder = snapshots_folder() / checked_name(name) / _AUDITS
    if is_there(folder) and not is_folder(folder):
        raise StorageError(
            f"{folder} is a link or a file, and audits are kept in a folder of their own. Nothing was written; look "
            "where it comes from, and delete it."
        )
    folder = folder / f"{audit.audited_at:%Y-%m-%dT%H%M%S.%f}Z"
    sweep(folder.parent)
    with writing_folder(folder) as beside:
        files = [_write_part(part, number, beside) for number, part in enumerate(audit.parts)]
        content = json.dumps(_manifest_of(audit, files), ensure_ascii=False, indent=1)
        (beside / _MANIFEST).write_text(content, "utf-8")
    return replace(audit, folder=folder)


def open_audit(name: str | Path | Catalog, profile: str | None = None) -> Audit:
    """Open an audit that was saved.

    Parameters
    ----------
    name
        "shop" is the newest audit beside the snapshots of that name, "shop@2026-11-13" the last one of that day. The
        folder of an audit is taken as well, and so is a catalogue that is one of the snapshots.
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
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).save("judged")
    >>> _ = prodex.audit(catalog, {"checks": {"valid_gtin": {}}}).save()
    >>> float(prodex.open_audit("judged").summary["score"])
    1.0
    """
    if profile is not None and not isinstance(profile, str):
        raise InputError(
            f"profile is {described(profile)}. Give its name, such as open_audit('shop', 'core')."
        )
    given = folder_of(name, "open_audit")
    name = name_of(name, "open_audit") if isinstance(name, Catalog) else given
    if str(name) and (Path(name) / _MANIFEST).is_file():
        return _open(Path(name))
    wanted, _, time = str(name).partition("@")
    found = [folder for folder in _folders(wanted) if folder.name.startswith(time)]
    if profile is not None:
        found = [folder for folder in found if _profile_of(folder) == profile]
    if not found:
        there = sorted({folder.parent.parent.name for folder in _every_folder()})
        by = f" by profile {profile!r}" if profile is not None else ""
        saved = (
            f"There are audits of {', '.join(there) or 'nothing'}; prodex.audit(catalog).save() keeps one."
        )
        near = f". {saved}" if wanted in there else hint_and_all(wanted, there, saved)
        raise SnapshotNotFound(f"No audit {str(name)!r}{by} in {snapshots_folder()}{near}")
    return _open(found[-1])


def list_audits(name: str | Catalog = "*") -> pd.DataFrame:
    """Return the audits of the snapshots of a name, or all: when, by which profile, how many products, where.

    `snapshot` is the folder of the snapshot that was judged, as it was called then; none for a catalogue in memory. An
    audit that cannot be read is listed with the reason under `note`.

    Parameters
    ----------
    name
        Name of the snapshots, or a catalogue that is one of them.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).save("shop")
    >>> _ = prodex.audit(catalog, "core").save()
    >>> prodex.list_audits("shop")[["name", "profile", "products"]].values.tolist()
    [['shop', 'core', 1]]
    """
    name = name_of(name, "list_audits")
    rows = []
    for folder in _every_folder() if name == "*" else _folders(name):
        row: dict[str, Any] = {
            "name": folder.parent.parent.name,
            "time": folder.name,
            "folder": str(folder),
            "note": "",
        }
        try:
            manifest = _manifest(folder)
            row |= {
                "profile": manifest.profile,
                "rule_set": manifest.rule_set,
                "products": manifest.products,
                "checks": len(manifest.checks),
                "snapshot": manifest.catalog,
            }
        except SnapshotDamaged as error:
            row["note"] = str(error)
        rows.append(row)
    columns = ["name", "time", "profile", "rule_set", "products", "checks", "snapshot", "folder", "note"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype({"products": "Int64", "checks": "Int64"})


def _folders(name: str) -> list[Path]:
    """Return the audits of a name, oldest first."""
    return list(_times(snapshots_folder() / name)) if name == safe_name(name) else []


def _every_folder() -> Iterator[Path]:
    for folder in entries_of(snapshots_folder()):
        yield from _times(folder)


def _times(folder: Path) -> Iterator[Path]:
    """Yield the audits beside the snapshots of a name; a link in their place is none."""
    if is_folder(folder / _AUDITS):
        for path in entries_of(folder / _AUDITS):
            if path.name[:1] in "0123456789" and is_folder(path) and is_there(path / _MANIFEST):
                yield path


def _profile_of(folder: Path) -> str | None:
    try:
        return _manifest(folder).profile
    except SnapshotDamaged:
        return None


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
        "assumed": dict(audit.assumed),
        "grade_with_blocker": audit.grade_with_blocker,
        "now": audit.now.isoformat(),
        "audited_at": audit.audited_at.isoformat(),
        "origin": audit.origin.to_json(),
        "catalog": None if audit.catalog_folder is None else str(audit.catalog_folder),
        "products": len(audit),
        "checks": [asdict(check) for check in audit.checks],
        "crashes": [[asdict(crash) for crash in part.crashes] for part in audit.parts],
        "parts": files,
    }


class _Written(msgspec.Struct):
    """The manifest of an audit as JSON."""

    profile: str
    rule_set: str
    now: Annotated[datetime, msgspec.Meta(tz=False)]
    audited_at: Moment
    origin: dict[str, Any]
    catalog: str | None
    products: Count
    checks: list[CheckFacts]
    crashes: list[list[Crash]]
    parts: list[dict[Literal["products", "states", "evidence"], Digest]]
    assumed: dict[str, bool | int | float | str | None] = {}
    grade_with_blocker: str = "A"  # audits that were saved before knew no limit


def _manifest(folder: Path) -> _Written:
    path = folder / _MANIFEST
    try:
        written = read_json(path, _Written, newest=_FORMAT)
        check_moment(written.now)
        check_moment(written.audited_at)
        _check_grade(written.grade_with_blocker)
        for check in written.checks:
            _check_facts(check)
    except MadeByNewer as error:
        raise SnapshotDamaged(f"{path} was {error}.") from error
    except OSError as error:
        raise SnapshotDamaged(f"{path} cannot be read ({error}). Audit the catalogue again.") from error
    except ValueError as error:
        raise SnapshotDamaged(
            f"{path} cannot be read: it does not describe an audit ({error}). Audit the catalogue again."
        ) from error
    return written


def _check_grade(grade: str) -> None:
    if grade not in dict(GRADES):
        raise ValueError(f"its grade_with_blocker is {grade!r:.40}")


def _check_facts(check: CheckFacts) -> None:
    if check.severity not in SEVERITIES or not 0 <= check.weight <= MOST_WEIGHT:
        raise ValueError(
            f"check {check.id!r:.80} has severity {check.severity!r:.40} and weight {check.weight!r:.40}"
        )


def _open(folder: Path) -> Audit:
    manifest = _manifest(folder)
    try:
        parts = tuple(
            _read_part(folder, number, digests, len(manifest.checks), tuple(told))
            for number, (digests, told) in enumerate(zip(manifest.parts, manifest.crashes, strict=True))
        )
        _check_sum(parts, manifest.products)
        audit = Audit(
            parts=parts,
            checks=tuple(map(with_problem, manifest.checks)),
            profile=manifest.profile,
            rule_set=manifest.rule_set,
            origin=Origin.from_json(manifest.origin),
            now=manifest.now,
            audited_at=manifest.audited_at.astimezone(UTC),
            folder=folder,
            assumed=tuple(manifest.assumed.items()),
            grade_with_blocker=manifest.grade_with_blocker,
        )
    except (OSError, ValueError, pa.ArrowException) as error:
        raise SnapshotDamaged(
            f"The audit {folder} cannot be read: {error}. Audit the catalogue again."
        ) from error
    return _with_catalog(audit, folder, manifest.catalog)


def _check_sum(parts: Iterable[AuditPart], products: int) -> None:
    if sum(part.products.num_rows for part in parts) != products:
        raise ValueError(f"its parts do not have {products:,} products together")


def _with_catalog(audit: Audit, folder: Path, judged: str | None) -> Audit:
    """Give the audit its catalogue where the snapshot is still there; it answers for what the audit does not keep.

    An audit may come from somebody else. So the catalogue is looked for among the snapshots beside it and the user's
    own, never at a path that the audit names, and it must come from the same load as what was judged.
    """
    path = PurePath(judged or "")
    time, name = path.name, path.parent.name
    if not time[:1].isdecimal() or time != safe_name(time):
        return audit
    beside = folder.absolute().parent.parent / time
    places = [beside, *([snapshots_folder() / name / time] if name == safe_name(name) else [])]
    for place in places:
        try:
            if is_folder(place) and is_file(place / _MANIFEST):
                catalog = open_snapshot(place)
                if catalog.origin == audit.origin:
                    return replace(audit, catalog=catalog, catalog_folder=place)
        except SnapshotError:
            continue
    return replace(audit, catalog_folder=beside)


def _read_part(
    folder: Path, number: int, digests: Mapping[Any, str], checks: int, crashes: tuple[Crash, ...]
) -> AuditPart:
    """Read one part of an audit.

    Raises
    ------
    OSError, ValueError, pyarrow.ArrowException
        When it is not as an audit writes it.
    """
    paths = {table: folder / _path(table, number) for table in digests}
    refuse_links(folder, paths.values())
    tables = {}
    for table, path in paths.items():
        if sha256(path) != digests[table]:
            raise ValueError(f"{path} was changed: its digest differs")
        tables[table] = parquet.read(path)
    if missing := {"products", "evidence", *(["states"] if checks else [])} - tables.keys():
        raise ValueError(f"part {number} has no {min(missing)}")
    products, evidence = tables["products"].cast(IDENTITY), tables["evidence"].cast(EVIDENCE)
    states = np.empty((products.num_rows, checks), np.int8, order="F")
    for place in range(checks):
        states[:, place] = _states(tables["states"], str(place), products.num_rows)
    for column, most in (("check", checks), ("product", products.num_rows)):
        found = pc.min_max(evidence[column]).as_py()
        if evidence[column].null_count or (
            found["min"] is not None and not 0 <= found["min"] <= found["max"] < most
        ):
            raise ValueError(f"the evidence of part {number} is of a {column} that there is not")
    return AuditPart(products, states, evidence, crashes)


def _states(table: pa.Table, column: str, products: int) -> States:
    if column not in table.column_names or table.num_rows != products:
        raise ValueError(f"there are no states of check {column} for {products:,} products")
    states = table[column]
    if states.type != pa.int8() or states.null_count or not set(pc.unique(states).to_pylist()) <= set(State):
        raise ValueError(f"check {column} has states that there are not")
    found: States = states.to_numpy()
    return found
