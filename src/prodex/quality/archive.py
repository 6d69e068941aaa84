"""Audits on disk: aligned parts in Parquet, beside the snapshots that they are about.

`<root>/<name>/audits/<UTC time>/manifest.json`, and `states`, `products` and `findings` with one file for each part
of the catalogue. What is written is never changed, and visible only when it is whole.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import clock
from prodex.advice import PythonCall, advice
from prodex.arguments import described, whole_number
from prodex.catalog import Catalog, Origin
from prodex.catalog.origin import Chosen, chosen_as_json
from prodex.errors import InputError, OtherLayout, QueryError, SnapshotDamaged, SnapshotError, StorageError
from prodex.executors import side_by_side
from prodex.files import parquet
from prodex.files.atomic import checked_name, discard, folder_beside, publish_folder, safe_name, sha256
from prodex.files.lock import locked
from prodex.files.untrusted import (
    Count,
    Digest,
    Moment,
    check_moment,
    is_file,
    is_folder,
    is_there,
    refuse_links,
)
from prodex.languages.message import plain_value
from prodex.quality.accepted import ACCEPTED_FILE, AcceptedFindings, AcceptedThen
from prodex.quality.audit import Audit
from prodex.quality.audit_part import IDENTITY, AuditPart, Crash
from prodex.quality.check_files import SavedCheck, saved
from prodex.quality.requirements import Requirements
from prodex.quality.rulebook import MOST_WEIGHT, SEVERITIES
from prodex.quality.scores import GRADES
from prodex.quality.states import FINDINGS, NO_FINDINGS, State, States
from prodex.store.archive import Archive, is_entry, new_entry, new_name, snapshots_folder
from prodex.store.snapshot import folder_of, name_of, open_snapshot

#: The file of an audit with the findings of earlier ones that it did not judge.
_CARRIED = "carried.parquet"

AUDITS = Archive("audit", "Audit the catalogue again.", below="audits", format=2)


def write_audit(audit: Audit, name: str | None = None, carried: pa.Table | None = None) -> Audit:
    """Keep an audit beside the snapshots of a name.

    Parameters
    ----------
    audit
        What to keep.
    name
        Name of the snapshot; that of the audit's own where it was made of one.
    carried
        Findings of earlier audits that this one did not judge; see `prodex.quality.first_seen`.

    Returns
    -------
    Audit
        The same, with its folder.

    Raises
    ------
    InputError
        When the catalogue is in memory and no name is given, an audit of the same moment is there, or it is a view with
        what is accepted.
    StorageError
        When the disk refuses.
    """
    if audit.as_found is not None:
        raise InputError(
            "This is the view of an audit in which what is accepted passes, and what is saved is what was found: "
            "audit.as_found.save(). prodex.open_audit(...).with_accepted() is the view again."
        )
    if name is None:
        if audit.catalog_folder is None:
            raise InputError(
                "The catalogue is in memory, so its audit has no place yet. Give a name: audit.save('shop')."
            )
        folder = audit.catalog_folder.parent / AUDITS.below
    else:
        folder = AUDITS.folder(new_name(name))
    target = folder / clock.as_name(audit.audited_at)
    # A link would let an audit be written outside the folder of snapshots.
    if is_there(folder) and not is_folder(folder):
        raise StorageError(
            f"{folder} is a link or a file, and audits are kept in a folder of their own. Nothing was written; look "
            "where it comes from, and delete it."
        )
    if audit.folder is not None and audit.folder.absolute() == target.absolute():
        # What is written is never changed, and what is accepted since is in a file of its own.
        return audit
    if is_there(target):
        raise InputError(
            advice(
                "{target} is an audit that was made at the same moment: this one, or one of more or fewer of its "
                "products. It is not replaced{other}.",
                target=target,
                other=PythonCall("; save this one under another name: audit.save('other')"),
            )
        )
    with folder_beside(new_entry(folder, audit.audited_at)) as beside:
        files = [write_part(part, number, beside) for number, part in enumerate(audit.parts)]
        digest = None
        if carried is not None and len(carried):
            parquet.write(carried, beside / _CARRIED)
            digest = sha256(beside / _CARRIED)
        with AUDITS.publishing(folder, audit.audited_at) as (made, sequence, _):
            content = _audit_manifest(audit, files, digest)
            AUDITS.write_manifest(beside, content, sequence, sealed_for=made if audit.is_own else None)
            publish_folder(beside, made)
    return replace(audit, folder=made)


def open_audit(name: str | Path | Catalog, profile: str | None = None) -> Audit:
    """Open an audit that was saved.

    Parameters
    ----------
    name
        "shop" is the newest audit beside the snapshots of that name, "shop@2026-11-13" the last one of that day, by
        this machine's time zone. The folder of an audit is taken as well, and so is a catalogue that is one of the
        snapshots.
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
    OtherLayout
        When another version of prodex wrote it.

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
    # A catalogue means the snapshot that it was opened from.
    wanted = str(name_of(name, "open_audit") if isinstance(name, Catalog) else given)
    if wanted and is_entry(Path(wanted)):
        return _open_folder(Path(wanted))
    found = [folder for folder in AUDITS.matching(wanted) if is_folder(folder)]
    if profile is not None:
        # The profile is in the manifest only, so each manifest is read; an audit that cannot be read has none.
        found = [folder for folder in found if profile_of(folder) == profile]
    if not found:
        by = f" by profile {profile!r}" if profile is not None else ""
        # The folder may be there with audits by other profiles alone.
        raise AUDITS.not_found(wanted, "audited snapshots", by)
    return _open_folder(found[-1])


def last_own_audit(name: str, profile: str) -> Audit | None:
    """Return the last audit by a profile that this installation has saved under a name; None where there is none.

    Raises
    ------
    OtherLayout
        When another version of prodex has saved one.
    """
    # Whatever is wrong with earlier audits, or not ours to read: nobody asked for them, and all products can be judged.
    with suppress(SnapshotError, StorageError):
        for folder in reversed(AUDITS.of(name)):
            if AUDITS.is_own(folder) and profile_of(folder) == profile:
                return _open_folder(folder)
    return None


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
    rows = AUDITS.listing(name_of(name, "list_audits"), _archive_row)
    # A link among the audits is none of them: what lies elsewhere may be changed by somebody else.
    own = [row for row in rows if is_folder(Path(row["folder"]))]
    columns = ["name", "time", "profile", "rule_set", "products", "checks", "snapshot", "folder", "note"]
    frame = pd.DataFrame(own, columns=columns)
    return frame.astype({"products": "Int64", "checks": "Int64"})


def remove_audits(name: str, *, keep: int) -> list[str]:
    """Remove all but the newest audits of a name, of each profile; what `watch` has learned from them stays.

    Parameters
    ----------
    name
        Name of the snapshots.
    keep
        How many of each profile stay; one at least. Audits that cannot be read stay as well.

    Returns
    -------
    list of str
        The times of those that were removed.

    Raises
    ------
    SnapshotLocked
        When a process is loading under this name.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7}]).save("shop")
    >>> for _ in range(3):
    ...     audit = prodex.audit(catalog, "core").save()
    >>> len(remove_audits("shop", keep=1)), len(prodex.list_audits("shop"))
    (2, 1)
    """
    if whole_number(keep, 1) is None:
        raise QueryError(f"keep is {keep!r:.40}. Keep at least one audit.")
    listed = list_audits(name)
    readable = listed[listed["note"] == ""]
    newest = readable.groupby("profile").tail(keep)
    old = readable.drop(newest.index)
    if len(old):
        with locked(
            snapshots_folder() / checked_name(name), f"removing audits of {name!r}", without_space=True
        ):
            for folder in old["folder"]:
                discard(Path(folder))
    return [str(time) for time in old["time"]]


def _archive_row(folder: Path) -> dict[str, Any]:
    manifest = _read_audit_manifest(folder)
    return {
        "profile": manifest.profile,
        "rule_set": manifest.rule_set,
        "products": manifest.products,
        "checks": len(manifest.checks),
        "snapshot": manifest.catalog,
    }


def read_carried(folder: Path) -> pa.Table | None:
    """Return the findings that a saved audit did not judge; None where there are none, or they cannot be read."""
    manifest = _read_audit_manifest(folder)
    path = folder / _CARRIED
    try:
        if manifest.carried is None or not is_file(path) or sha256(path) != manifest.carried:
            return None
        return parquet.read(path)
    except (OSError, pa.ArrowException):
        # Without it, what was not judged begins anew.
        return None


def profile_of(folder: Path) -> str | None:
    """Return the name of the profile of a saved audit; None where it is damaged.

    Raises
    ------
    OtherLayout
        When another version of prodex wrote it.
    """
    try:
        return _read_audit_manifest(folder).profile
    except SnapshotDamaged:
        return None


def _audit_manifest(audit: Audit, files: list[dict[str, str]], carried: str | None) -> dict[str, Any]:
    then = audit.with_accepted() if audit.has_accepted else audit
    return {
        "profile": audit.profile,
        "rule_set": audit.rule_set,
        "assumed": dict(audit.assumed),
        "grade_with_blocker": audit.grade_with_blocker,
        "now": audit.now.isoformat(),
        "audited_at": audit.audited_at.isoformat(),
        "origin": audit.origin.to_json(),
        "catalog": None if audit.catalog_folder is None else str(audit.catalog_folder),
        "products": len(audit),
        **chosen_as_json(audit.chosen, len(audit)),
        "checks": [msgspec.to_builtins(saved(check), enc_hook=plain_value) for check in audit.checks],
        "crashes": [[asdict(crash) for crash in part.crashes] for part in audit.parts],
        "families": None if audit.families is None else msgspec.to_builtins(audit.families),
        "parts": files,
        "carried": carried,
        "as_of": None if audit.as_of is None else audit.as_of.isoformat(),
        # What was accepted when it was saved; what is accepted now is in the file beside the snapshots.
        "accepted": int(audit.summary["accepted"]),
        "score_with_accepted": _number(then.score),
        "ready_products_with_accepted": int(then.summary["ready_products"]),
    }


def _number(value: float) -> float | None:
    return None if pd.isna(value) else float(value)


class _AuditManifest(msgspec.Struct):
    """The manifest of an audit as JSON."""

    profile: str
    rule_set: str
    now: Annotated[datetime, msgspec.Meta(tz=False)]
    audited_at: Moment
    origin: dict[str, Any]
    catalog: str | None
    products: Count
    checks: list[SavedCheck]
    crashes: list[list[Crash]]
    parts: list[dict[Literal["products", "states", "findings", "doubts"], Digest]]
    assumed: dict[str, bool | int | float | str | None]
    grade_with_blocker: str
    families: Requirements | None
    carried: Digest | None
    as_of: date | None
    accepted: Count
    score_with_accepted: float | None
    ready_products_with_accepted: Count
    chosen: dict[str, Any] | None = None


def _read_audit_manifest(folder: Path) -> _AuditManifest:
    return AUDITS.read_manifest(folder, _AuditManifest, _checked)


def _checked(written: _AuditManifest) -> _AuditManifest:
    """Refuse what the shape of a manifest allows and no audit has.

    Raises
    ------
    ValueError
        When there is such a thing in it.
    """
    check_moment(written.now)
    check_moment(written.audited_at)
    if written.grade_with_blocker not in dict(GRADES):
        raise ValueError(f"its grade_with_blocker is {written.grade_with_blocker!r:.40}")
    for check in written.checks:
        if check.severity not in SEVERITIES or not 0 <= check.weight <= MOST_WEIGHT:
            raise ValueError(
                f"check {check.rule.id!r:.80} has severity {check.severity!r:.40} and weight {check.weight!r:.40}"
            )
    return written


def _open_folder(folder: Path) -> Audit:
    manifest = _read_audit_manifest(folder)
    try:
        refuse_linked_parts(folder, manifest.parts)
        files = enumerate(zip(manifest.parts, manifest.crashes, strict=True))
        checks = len(manifest.checks)
        parts = tuple(
            side_by_side(lambda one: read_part(folder, one[0], one[1][0], checks, tuple(one[1][1])), files)
        )
        # A missing part would otherwise go unnoticed: every figure would be that of fewer products.
        _check_sum(parts, manifest.products)
        audit = Audit(
            parts=parts,
            checks=tuple(one.check() for one in manifest.checks),
            profile=manifest.profile,
            rule_set=manifest.rule_set,
            origin=Origin.from_json(manifest.origin),
            now=manifest.now,
            audited_at=manifest.audited_at.astimezone(UTC),
            folder=folder,
            assumed=tuple(manifest.assumed.items()),
            grade_with_blocker=manifest.grade_with_blocker,
            families=manifest.families,
            accepted_findings=AcceptedFindings.read_beside(folder.absolute().parent.parent / ACCEPTED_FILE),
            accepted_then=_accepted_then(manifest),
            as_of=manifest.as_of,
            is_own=AUDITS.is_own(folder),
            chosen_then=None if manifest.chosen is None else Chosen.from_json(manifest.chosen),
        )
    except (OSError, ValueError, pa.ArrowException) as error:
        raise SnapshotDamaged(
            f"The audit {folder} cannot be read: {error}. Audit the catalogue again."
        ) from error
    return _with_catalog(audit, folder, manifest.catalog)


def _accepted_then(manifest: _AuditManifest) -> AcceptedThen:
    score = manifest.score_with_accepted
    return AcceptedThen(
        manifest.accepted, math.nan if score is None else score, manifest.ready_products_with_accepted
    )


def _check_sum(parts: Iterable[AuditPart], products: int) -> None:
    if sum(part.size for part in parts) != products:
        raise ValueError(f"its parts do not have {products:,} products together")


def _with_catalog(audit: Audit, folder: Path, snapshot: str | None) -> Audit:
    """Give the audit its catalogue where the snapshot is still there; it answers for what the audit does not keep.

    Somebody else may have made the audit. So the catalogue is looked for among the snapshots beside it and the user's
    own, never at a path that the audit names, and it must be of the same load as what was judged.
    """
    path = PurePath(snapshot or "")
    time, name = path.name, path.parent.name
    # Somebody else may have written the manifest: a name such as "../../etc" is never joined to a path.
    if not time[:1].isdecimal() or time != safe_name(time):
        return audit
    beside = folder.absolute().parent.parent / time
    places = [beside, *([snapshots_folder() / name / time] if name == safe_name(name) else [])]
    for place in places:
        try:
            if is_folder(place) and is_entry(place):
                catalog = open_snapshot(place)
                if catalog.origin == audit.origin:
                    if len(audit) < len(catalog):
                        judged = catalog.where(product_id=audit.identity["product_id"].to_pylist())
                        catalog = replace(judged, chosen=audit.chosen_then or Chosen(len(catalog)))
                    return replace(audit, catalog=catalog, catalog_folder=place)
        except (SnapshotError, OtherLayout):
            # The audit can be read without its snapshot, which may have been removed or damaged.
            continue
    return replace(audit, catalog_folder=beside)


def write_part(part: AuditPart, number: int, folder: Path) -> dict[str, str]:
    """Write one part of an audit, and return the digest of each of its files by table."""
    columns = [pa.array(np.ascontiguousarray(column)) for column in part.states.T]
    # Columns are named by number: a check's id can be longer than a column's name may be, and the manifest lists
    # the checks in this order.
    states = pa.table(columns, names=[str(place) for place in range(len(columns))]) if columns else None
    written = {"products": part.products, "findings": part.findings}
    # Few rules say why they do not know.
    if (doubts := part.doubts).num_rows:
        written["doubts"] = doubts
    digests = {}
    for table, rows in (written if states is None else {**written, "states": states}).items():
        path = folder / _part_path(table, number)
        path.parent.mkdir(exist_ok=True)
        parquet.write(rows, path)
        digests[table] = sha256(path)
    return digests


def _part_path(table: str, number: int) -> Path:
    return Path(table) / f"part-{number:05d}.parquet"


def refuse_linked_parts(folder: Path, parts: Sequence[Mapping[Any, str]]) -> None:
    """Refuse files of an audit's parts that are links, or none; of each part the digests are given by table.

    Raises
    ------
    OSError
        When one of them is.
    """
    refuse_links(
        folder, (folder / _part_path(table, number) for number, part in enumerate(parts) for table in part)
    )


def read_part(
    folder: Path, number: int, digests: Mapping[Any, str], checks: int, crashes: tuple[Crash, ...]
) -> AuditPart:
    """Read one part of an audit, whose files are known to be no links.

    Raises
    ------
    OSError, ValueError, pyarrow.ArrowException
        When it is not as an audit writes it.
    """
    # The digests are checked before a file is parsed: a changed file is refused as such, whatever it holds now.
    paths = {table: folder / _part_path(table, number) for table in digests}
    tables = {}
    for table, path in paths.items():
        if sha256(path) != digests[table]:
            raise ValueError(f"{path} was changed: its digest differs")
        tables[table] = parquet.read(path)
    if missing := {"products", "findings", *(["states"] if checks else [])} - tables.keys():
        raise ValueError(f"part {number} has no {min(missing)}")
    products, findings = tables["products"].cast(IDENTITY), tables["findings"].cast(FINDINGS)
    # Column by column, as in `audit_part`: figures are counted check by check.
    states = np.empty((products.num_rows, checks), np.int8, order="F")
    for place in range(checks):
        states[:, place] = _states_of_check(tables["states"], str(place), products.num_rows)
    if states.size and not min(State) <= states.min() <= states.max() <= max(State):
        raise ValueError(f"part {number} has states that do not exist")
    doubts = tables["doubts"].cast(FINDINGS) if "doubts" in tables else NO_FINDINGS
    for rows, (column, most) in itertools.product(
        (findings, doubts), (("check", checks), ("product", products.num_rows))
    ):
        found = pc.min_max(rows[column]).as_py()
        if rows[column].null_count or (
            found["min"] is not None and not 0 <= found["min"] <= found["max"] < most
        ):
            raise ValueError(f"the findings of part {number} are of a {column} that does not exist")
    fails = np.zeros(states.shape, bool, order="F")
    fails[findings["product"].to_numpy(), findings["check"].to_numpy()] = True
    if not np.array_equal(fails, states == State.FAIL):
        raise ValueError(f"the findings of part {number} are not those of what fails in it")
    if findings["first_seen"].null_count:
        raise ValueError(f"part {number} does not say of each finding since when it is open")
    return AuditPart.of(products, states, findings, crashes, doubts)


def _states_of_check(table: pa.Table, column: str, products: int) -> States:
    if column not in table.column_names or table.num_rows != products:
        raise ValueError(f"there are no states of check {column} for {products:,} products")
    states = table[column]
    if states.type != pa.int8() or states.null_count:
        raise ValueError(f"check {column} has states that do not exist")
    found: States = states.to_numpy()
    return found
