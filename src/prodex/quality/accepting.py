"""Accepting findings of an audit, taking it back, and what is accepted of a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import asdict
from msgspec.structs import replace as replace_facts

from prodex import clock
from prodex.advice import Argument, PythonCall, advice
from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.errors import InputError, SnapshotNotFound
from prodex.facts.same_product import subject_of
from prodex.files.atomic import reading
from prodex.files.lock import user_name
from prodex.files.untrusted import leads_to_file
from prodex.phrases import counted, hint
from prodex.quality.accepted import (
    ACCEPTED_FILE,
    AcceptedFindings,
    AcceptedLine,
    digests_of,
    file_beside,
    file_given,
)
from prodex.quality.archive import open_audit
from prodex.quality.audit import Audit
from prodex.quality.failures import rows_of_findings
from prodex.store.archive import snapshots_folder
from prodex.store.snapshot import SNAPSHOTS, name_of
from prodex.tables.columns import is_true
from prodex.written_dates import day_given

#: Columns by which a row of a frame is found among the findings; a frame may have fewer of them.
_IDENTIFYING = ("product_id", "check", "attribute", "language", "value", "reason")

#: Rows that a refusal names.
_NAMED = 5


def accept(
    audit: Audit,
    findings: pd.DataFrame | pd.Series | None = None,
    *,
    reason: str,
    by: str | None = None,
    until: str | date | None = None,
    to: str | Path | None = None,
) -> Audit:
    """Accept findings of an audit: they stay failures, and are marked until what they are about changes.

    An accepted finding stays accepted in every later audit of the same snapshots while its product (by its GTIN first),
    its value, and what the check compared it with, are the same. It comes back when one of them changes, or after the
    date. A line for each goes to a file beside the snapshots, to which several people can add (`accepted.jsonl`).

    Parameters
    ----------
    audit
        The audit, or its view `with_accepted()`.
    findings
        Rows of `audit.failures()` or `audit.findings()`, chosen as rows of any frame are. None accepts all findings of
        today that are not accepted yet, as a baseline: from then on only what is new counts.
    reason
        Why they are accepted.
    by
        Who says so; the name of the user by default.
    until
        The last day on which they are accepted; for good unless given.
    to
        Another file: required for a catalogue in memory. `prodex.audit(catalog, ..., accepted=file)` reads it.

    Returns
    -------
    Audit
        The same audit, or view, with what is accepted now. It says how many findings, of how many products, were
        accepted by this call (`audit.accepted_findings.written`).

    Raises
    ------
    InputError
        When there is no reason, a row is no finding of this audit, or there is no place for the file.
    StorageError
        When the disk refuses.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}]).save("accepting")
    >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
    >>> audit = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so on the pack", by="Ana")
    >>> audit.summary[["failed", "accepted", "ready_products"]].tolist()
    [1, 1, 0]
    >>> int(audit.with_accepted().summary["ready_products"])
    1
    >>> audit.accepted_findings.written
    WrittenFindings(findings=1, products=1, is_withdrawal=False)
    """
    _check_audit(audit, "accept")
    words = _reason(reason)
    day = _day(until, audit)
    who = _by(by)
    known = _file_of(audit, to)
    chosen = _chosen(audit, findings)
    # Beginning again after an interruption writes only what is not there yet, and a baseline leaves reasons that
    # somebody has given.
    today = audit.now.date()
    fresh = [
        one
        for one in chosen
        if (there := _counting(known, one, audit)) is None
        or not there.is_in_force(today)
        or (findings is not None and (there.reason, there.by, there.until) != (words, who, day))
    ]
    at = _moment_after(known, fresh, audit)
    lines = [replace_facts(one, reason=words, by=who, until=day, at=at) for one in fresh]
    return audit.accepting(known.adding(lines, private=to is None))


def withdraw(
    audit: Audit,
    findings: pd.DataFrame | pd.Series | None = None,
    *,
    reason: str = "",
    by: str | None = None,
    to: str | Path | None = None,
) -> Audit:
    """Take back that findings are accepted: a further line of the file says so, and nothing is removed from it.

    Parameters
    ----------
    audit
        The audit, or its view `with_accepted()`.
    findings
        Rows of `audit.failures()` or `audit.findings()`; None takes back all that are accepted in this audit.
    reason
        Why, if there is something to say.
    by
        Who says so; the name of the user by default.
    to
        The file, where it is not the one beside the snapshots.

    Returns
    -------
    Audit
        The same audit, or view, with what is accepted now.

    Raises
    ------
    InputError
        When a row is no finding of this audit.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}]).save("withdrawing")
    >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}})
    >>> audit = prodex.accept(audit, reason="printed so on the pack")
    >>> int(prodex.withdraw(audit).summary["accepted"])
    0
    """
    _check_audit(audit, "withdraw")
    who = _by(by)
    known = _file_of(audit, to)
    chosen = [
        one
        for one in _chosen(audit, findings)
        if (there := _counting(known, one, audit)) is not None and not there.is_withdrawal
    ]
    at = _moment_after(known, chosen, audit)
    words = " ".join(str(reason).split())
    lines = [replace_facts(one, reason=words, by=who, at=at, is_withdrawal=True) for one in chosen]
    return audit.accepting(known.adding(lines, private=to is None, is_withdrawal=True))


def accepted(name: str | Path | Catalog) -> pd.DataFrame:
    """Return the accepted findings of a name or of a file: every line of it, with what it means today.

    Parameters
    ----------
    name
        Name of the snapshots, a catalogue that is one of them, or the path of a file.

    Returns
    -------
    pandas.DataFrame
        One row per line: its number, product_id, gtin, check, attribute, language, value, reason, by, at (UTC), until,
        digest, `state` and `note`. The state is "in force", "superseded" (a newer line counts), "value changed" (of the
        newest saved audit, if that has it: the finding is another one, the product has another GTIN, or it is gone),
        "date passed", "withdrawn", "withdrawal", "not in the newest audit" (the product or the check), or "cannot be
        read".

    Raises
    ------
    SnapshotNotFound
        When there is nothing of that name.
    SettingsError
        When no snapshot can have this name, such as "..".
    StorageError
        When the file cannot be read.
    OtherLayout
        When another version of prodex has written it.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}]).save("listed")
    >>> _ = prodex.accept(prodex.audit(catalog, {"checks": {"valid_gtin": {}}}), reason="printed so on the pack")
    >>> prodex.accepted("listed")[["product_id", "check", "reason", "state"]].values.tolist()
    [['8', 'valid_gtin', 'printed so on the pack', 'in force']]
    """
    path, wanted = _file_named(name)
    file = AcceptedFindings.read(path)
    newest = None
    if wanted is not None:
        # Without a saved audit, nobody knows whether a value has changed.
        with suppress(SnapshotNotFound):
            newest = open_audit(wanted)
    day = clock.now().date()
    found = None if newest is None else _Newest.of(newest, file)
    rows: list[dict[str, Any]] = [
        {
            **asdict(one),
            "product_id": one.product,
            "at": _time(one),
            "state": _state(one, file, day, found),
        }
        for one in file.lines
    ]
    rows += [
        {"line": one.line, "value": one.text, "state": "cannot be read", "note": one.note}
        for one in file.unread
    ]
    frame = pd.DataFrame(rows, columns=_COLUMNS).sort_values("line", ignore_index=True)
    texts = [name for name in _COLUMNS if name not in {"line", "at", "until"}]
    times = {name: pd.to_datetime(frame[name]).astype("datetime64[us]") for name in ("at", "until")}
    return frame.astype(dict.fromkeys(texts, "str")).assign(**times)


_COLUMNS = [
    *("line", "product_id", "gtin", "check", "attribute", "language", "value", "reason", "by"),
    *("at", "until", "digest", "state", "note"),
]


def _time(line: AcceptedLine) -> datetime | None:
    return None if line.at.year == 1 else line.at.astimezone(UTC).replace(tzinfo=None)


@dataclass(frozen=True)
class _Newest:
    """What the newest audit has of what is accepted.

    Attributes
    ----------
    subjects, ids, checks
        What it is of, as far as the file is about it; products by what names them, and by their ids.
    counting
        What the lines are about that count for its findings.
    """

    subjects: frozenset[str]
    ids: frozenset[str]
    checks: frozenset[str]
    counting: frozenset[tuple[str, str, str, str]]

    @classmethod
    def of(cls, audit: Audit, file: AcceptedFindings) -> _Newest:
        meant = {line.subject for line in file.lines}
        named = {line.product for line in file.lines}
        there: dict[str, str] = {}
        for part in audit.parts:
            each = zip(part.column("product_id").to_pylist(), part.column("gtin").to_pylist(), strict=True)
            for product, gtin in each:
                if (subject := subject_of(product, gtin)) in meant or product in named:
                    there[str(product)] = subject
        checks = frozenset(check.id for check in audit.checks)
        found = _findings(audit, set(there), {line.check for line in file.lines})
        lines = filter(None, (_counting(file, one, audit) for one in found))
        return cls(frozenset(there.values()), frozenset(there), checks, frozenset(line.key for line in lines))


def _counting(file: AcceptedFindings, one: AcceptedLine, audit: Audit) -> AcceptedLine | None:
    """Return the line that counts for a finding of an audit."""
    return file.counting(one.product, one.gtin, one.check, one.digest, audit.shared_gtins)


def _state(line: AcceptedLine, file: AcceptedFindings, day: date, found: _Newest | None) -> str:
    counts = file.newest[line.key]
    if counts is not line:
        return "withdrawn" if counts.is_withdrawal and not line.is_withdrawal else "superseded"
    if line.is_withdrawal:
        return "withdrawal"
    if line.until is not None and line.until < day:
        return "date passed"
    if found is None or line.key in found.counting:
        return "in force"
    # A product of this id with another GTIN is another one: what was accepted is gone.
    is_there = line.subject in found.subjects or line.product in found.ids
    return "value changed" if is_there and line.check in found.checks else "not in the newest audit"


def _file_named(name: object) -> tuple[Path, str | None]:
    """Return the file that a name, a catalogue or a path means, and the name where it is one."""
    if isinstance(name, Catalog):
        wanted = name_of(name, "accepted")
    elif isinstance(name, Path) or (
        isinstance(name, str)
        and (name.endswith(".jsonl") or (Path(name).suffix and leads_to_file(Path(name))))
    ):
        path = file_given(name)
        with reading(path):
            is_there = path.exists()
        if not is_there:
            raise InputError(f"There is no file {path} of accepted findings.")
        return path, None
    else:
        wanted = name_of(name, "accepted")  # type: ignore[arg-type]
    folder = SNAPSHOTS.folder(wanted.partition("@")[0])
    with reading(folder):
        is_known = folder.is_dir()
        there = [] if is_known else sorted(one.name for one in snapshots_folder().glob("*") if one.is_dir())
    if not is_known:
        near = hint(wanted, there)
        raise SnapshotNotFound(
            advice(
                "There is nothing of {wanted} in {folder}"
                + near
                + " {list} lists what there is." * (near == "."),
                wanted=repr(wanted),
                folder=snapshots_folder(),
                list=PythonCall("prodex.list_snapshots()"),
            )
        )
    return folder / ACCEPTED_FILE, folder.name


def _check_audit(audit: object, call: str) -> None:
    if not isinstance(audit, Audit):
        raise InputError(
            f"{call} takes an audit, and {described(audit)} is none. prodex.audit(catalog) makes one."
        )


def _reason(given: object) -> str:
    words = " ".join(given.split()) if isinstance(given, str) else ""
    if not words:
        raise InputError(
            advice(
                "{reason} is {given}. Say why the findings are accepted, such as {example}.",
                reason=Argument("reason"),
                given=described(given),
                example=Argument("reason", "printed so on the pack"),
            )
        )
    return words


def _by(given: object) -> str:
    if given is not None:
        if not isinstance(given, str) or not given.strip():
            raise InputError(f"by is {described(given)}. Give a name, or leave it out for that of the user.")
        return given
    return user_name()


def _day(given: object, audit: Audit) -> date | None:
    day = day_given(given, Argument("until"))
    if day is not None and day < audit.now.date():
        of_audit = f"{audit.now:%Y-%m-%d}"
        raise InputError(
            advice(
                "{until} is {day}, which is before the day of the audit ({of_audit}). Give a later one.",
                until=Argument("until"),
                day=day,
                of_audit=of_audit,
            )
        )
    return day


def _file_of(audit: Audit, to: object) -> AcceptedFindings:
    """Return the file to which a line about this audit is added, as it is now."""
    if to is not None:
        return AcceptedFindings.read(file_given(to))
    if audit.accepted_findings is not None:
        return AcceptedFindings.read(audit.accepted_findings.path)
    path = file_beside(audit.catalog_folder)
    if path is None:
        raise InputError(
            "The catalogue is in memory, so there is no place beside its snapshots. Save it first, or name a file: "
            "to='accepted.jsonl', which prodex.audit(catalog, ..., accepted='accepted.jsonl') reads."
        )
    return AcceptedFindings.read(path)


def _moment_after(known: AcceptedFindings, lines: Iterable[AcceptedLine], audit: Audit) -> datetime:
    """Return the time of new lines: after that of the lines which they are meant to replace.

    The clock of the machine that wrote those may have been ahead.
    """
    earlier = (there.at for one in lines if (there := _counting(known, one, audit)) is not None)
    return max([clock.now(), *(at + timedelta(microseconds=1) for at in earlier)])


def _chosen(audit: Audit, rows: pd.DataFrame | pd.Series | None) -> list[AcceptedLine]:
    """Return lines about the findings that rows of a frame mean: one for each finding.

    Raises
    ------
    InputError
        When rows are no findings of this audit; the first of them are named.
    """
    # A view has no findings that are accepted, and they are taken back from it as well.
    audit = audit.as_found or audit
    if rows is None:
        return _findings(audit)
    if isinstance(rows, pd.Series) and {"product_id", "check"} <= set(rows.index):
        # One row, as `iloc` and `iterrows` give it.
        rows = rows.to_frame().T
    if not isinstance(rows, pd.DataFrame):
        raise InputError(
            f"findings is {described(rows)}. Give rows of audit.failures() or audit.findings(), or leave it out for "
            "all."
        )
    if missing := [name for name in ("product_id", "check") if name not in rows.columns]:
        raise InputError(
            f"These rows have no column {missing[0]!r}. Give rows of audit.failures() or audit.findings()."
        )
    columns = [name for name in _IDENTIFYING if name in rows.columns]
    wanted = [_cells(row) for row in rows[columns].astype(object).itertuples(index=False, name=None)]
    checks = {str(row[1]) for row in wanted}
    there: dict[tuple[str | None, ...], list[AcceptedLine]] = {}
    for one, shown in _shown_findings(audit, {str(row[0]) for row in wanted}, checks):
        there.setdefault(tuple(shown[name] for name in columns), []).append(one)
    refused = [(place, row) for place, row in enumerate(wanted) if row not in there]
    if refused:
        named = "; ".join(f"row {place}: product {row[0]}, {row[1]}" for place, row in refused[:_NAMED])
        more = f", and {len(refused) - _NAMED:,} more" if len(refused) > _NAMED else ""
        raise InputError(
            f"{counted(len(refused), 'row')} of {len(wanted):,} no finding of this audit ({named}{more}). Nothing was "
            "accepted. Take the rows from audit.failures() of this very audit."
        )
    return [one for row in dict.fromkeys(wanted) for one in there[row]]


def _cells(row: tuple[Any, ...]) -> tuple[str | None, ...]:
    # pandas makes 7.0 of the id 7 in a column with gaps.
    whole = (int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in row)
    return tuple(None if pd.isna(cell) else str(cell) for cell in whole)


def _findings(
    audit: Audit, products: set[str] | None = None, checks: set[str] | None = None
) -> list[AcceptedLine]:
    return [one for one, _ in _shown_findings(audit, products, checks)]


def _shown_findings(
    audit: Audit, products: set[str] | None = None, checks: set[str] | None = None
) -> Iterable[tuple[AcceptedLine, Mapping[str, str | None]]]:
    """Yield findings of an audit as lines without reason and time, each with what `failures` shows of it."""
    names = [check.id for check in audit.checks]
    among = None if products is None else pa.array(sorted(products), pa.string())
    of_checks = np.array([checks is None or name in checks for name in names], bool)
    for part in audit.parts:
        ids = part.column("product_id").combine_chunks()
        is_named = np.ones(part.size, bool) if among is None else is_true(pc.is_in(ids, among))
        if not is_named.any():
            continue
        findings = part.findings
        product, check = (findings[name].to_numpy() for name in ("product", "check"))
        kept = np.flatnonzero(is_named[product] & of_checks[check])
        digests = digests_of(findings, kept, audit.checks)
        # Shown as `failures` shows them, in the order in which they are numbered.
        shown = rows_of_findings(part, audit.checks, kept)
        facts_of = shown.select([*_IDENTIFYING, "gtin"]).to_pylist()
        for facts, place, digest in zip(facts_of, check[kept].tolist(), digests, strict=True):
            line = AcceptedLine(
                line=0,
                product=str(facts["product_id"]),
                check=names[place],
                digest=digest,
                reason="",
                by="",
                at=clock.now(),
                until=None,
                is_withdrawal=False,
                gtin=facts["gtin"],
                attribute=facts["attribute"],
                language=facts["language"],
                value=facts["value"],
            )
            yield line, facts
