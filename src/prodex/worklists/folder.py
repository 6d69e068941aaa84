"""A folder of worklists: a workbook for each group, the mail that it is sent with, and an index of them.

The folder appears when all of it is written. What somebody may have filled in is never overwritten by accident.
"""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import Argument, PythonCall, advice
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.executors import side_by_side
from prodex.files.atomic import storage
from prodex.files.folders import is_of_system, replacing
from prodex.files.untrusted import is_file, is_folder, is_there, read_json
from prodex.formats.csv_files import write_csv
from prodex.languages import ENGLISH, Message, Said, Translation
from prodex.progress import PATIENCE, SILENT, Progress, Reporter, reporting
from prodex.quality.audit import Audit
from prodex.worklists.answer_fields import AnswerCell, Codes, Fields
from prodex.worklists.answer_kinds import Shapes
from prodex.worklists.answer_parsing import codes_in_use
from prodex.worklists.layout import (
    ENDINGS,
    INDEX,
    MAIL,
    MANIFEST,
    OF_OTHER_FORMATS,
    ONLY_WORKBOOKS,
)
from prodex.worklists.mail import mail_of
from prodex.worklists.ownership import host_of_source, owner_called
from prodex.worklists.questions import add_questions, find_questions
from prodex.worklists.rows import group_worklists
from prodex.worklists.sheets import Worklist, WorklistFacts, group_names
from prodex.worklists.workbook import write_workbook

#: Names without ending that no worklist may have.
_TAKEN = frozenset({MANIFEST.removesuffix(".json"), INDEX.removesuffix(".csv")})

#: Reasons that are named of findings that were accepted.
_REASONS = 10

_FORMAT = 2
_MOST_CODES = 5_000
#: Characters of a list in the hidden sheet; only rules of one's own make more fields than that.
_MOST_NAMED = 20_000
_INDEX_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("code", "label")),
        *((name, pa.int64()) for name in ("products", "failing_checks", "findings", "blockers")),
        *((name, pa.int64()) for name in ("to_answer", "update_waits")),
        ("file", pa.string()),
        *((name, pa.int64()) for name in ("escaped_characters", "cut_texts")),
        *((name, pa.int64()) for name in ("chosen_products", "group_products", "group_to_work_on")),
        *((name, pa.string()) for name in ("scope", "mail")),
    ]
)


def write_worklists(
    audit: Audit,
    folder: str | Path,
    by: str = "owner",
    *,
    replace: bool = False,
    language: str = "en",
    languages: Mapping[str, str] | None = None,
    accepted: bool = False,
    progress: Progress = None,
    **equal: Any,
) -> pd.DataFrame:
    """Write what fails, one worklist for each group.

    Parameters
    ----------
    audit
        The audit.
    folder
        The folder, which must be new or empty.
    by
        A grouping of `Audit.scores`. A product with several tags is in the worklist of each. By "language", findings
        are grouped by their own language. Products without a group have a worklist of their own.
    replace
        Replace worklists that were written there before. Values that were filled in are lost; a folder with any other
        file is refused in any case.
    language
        The language of those who get them: English, French, German or Dutch, by code or name. What a supplier typed,
        codes and units stay as they are. Answers are read in any of the four, whatever the language of the worklist.
    languages
        The languages of single owners, by their codes or names; all others get `language`. Only with `by="owner"`.
    accepted
        Write findings that are accepted as well; by default they are left out, and each worklist says how many and why.
    progress
        A progress bar in notebooks and terminals once it takes over a second (None), or from the start (True), none
        (False), or a function of (done, total), both in findings.
    **equal
        Only some findings, as `Audit.failures` takes them: `severity=["blocker", "error"]`.

    Returns
    -------
    pandas.DataFrame
        One row per worklist, the most findings first: code and label of the group, products, their failing checks,
        findings (one for each text, picture or other place), those of blockers, those that ask for an answer
        (`to_answer`), those that ask for none since an update of the attribute waits for acceptance (`update_waits`),
        name of the workbook, and how many characters and texts a workbook could not show whole. `chosen_products` are
        those of the group that the audit is about, and `group_products` and `group_to_work_on` the figures of the whole
        group; `scope` says which products were chosen, and is missing where all were; `mail` is a draft of the mail
        that the workbook is sent with. Workbooks hold all text as text, so that nothing in them ever runs. Programs
        take the same rows from `Audit.worklist_rows`.

    Raises
    ------
    InputError
        When the folder is not empty, or has files that are not worklists, there is no such language or owner, or CSV or
        Parquet is asked for.
    QueryError
        When there is no such group or column.
    StorageError
        When the disk refuses.
    """
    if other := next((name for name in equal if name in OF_OTHER_FORMATS), None):
        raise InputError(f"There is no option {other!r}: {ONLY_WORKBOOKS}")
    words_of = chosen_words(audit, by, language, languages)
    with reporting(progress, "Worklists", "findings", after=PATIENCE) as reporter:
        rows, repeated = find_questions(audit, equal, reporter, accepted=accepted)
        made = group_worklists(audit, rows, by, _TAKEN)
        facts = _worklist_facts(audit, by, equal, len(rows) + repeated, repeated, accepted)
        named = pc.unique(rows["attribute"])
        return write_folder(
            audit,
            folder,
            by,
            made,
            facts,
            named,
            replace=replace,
            reporter=reporter,
            findings=len(rows),
            words_of=words_of,
        )


TranslationOf = Callable[[Worklist], Translation]


def chosen_words(
    audit: Audit,
    by: str,
    language: str,
    languages: Mapping[str, str] | None,
    known: Mapping[str | None, str] | None = None,
) -> TranslationOf:
    """Return what says in which language a worklist is written.

    Parameters are those of `write_worklists`; `known` has the languages of owners, by what they are known by, of which
    nothing else is said.

    Raises
    ------
    InputError
        When there is no such language or owner, or the worklists are not by owner.
    """
    usual = Translation.of(language)
    own = {code: Translation.of(one) for code, one in (known or {}).items()}
    if not languages:
        return lambda worklist: own.get(worklist.code, usual)
    if by not in {"owner", "owner_id"}:
        raise InputError(
            advice(
                "{languages} is about owners, and the worklists are by {by}. Give {owner}, or {language}.",
                languages=PythonCall("languages"),
                by=by,
                owner=PythonCall("by='owner'"),
                language=Argument("language"),
            )
        )
    for owner, one in languages.items():
        own[owner_called(audit.groups(by), str(owner), "audit")] = Translation.of(one)
    return lambda worklist: own.get(worklist.code, usual)


def write_folder(
    audit: Audit,
    folder: str | Path,
    by: str,
    worklists: Iterable[Worklist],
    facts: WorklistFacts,
    attributes: pa.Array,
    *,
    replace: bool = False,
    reporter: Reporter = SILENT,
    findings: int = 0,
    words_of: TranslationOf = lambda _: ENGLISH,
) -> pd.DataFrame:
    """Write worklists as a folder, with an index of them.

    Parameters
    ----------
    audit
        The audit that found them.
    folder, by, replace
        As for `write_worklists`.
    worklists
        The worklists.
    facts
        The facts that all of them share.
    attributes
        The attributes that they ask for.
    reporter
        Hears of how many findings are written.
    findings
        How many there are, if that is known.
    words_of
        Returns the language in which a worklist is written.

    Returns
    -------
    pandas.DataFrame
        As from `write_worklists`.
    """
    with storage(Path(folder)):
        target = Path(folder).resolve()  # where a link leads, which stays one
    fields = Fields(Shapes.of(audit.catalog), _codes_in_lists(audit.catalog, attributes))
    _refuse_foreign(target, replace)
    # Only the files that the index lists are removed with the folder that is replaced.
    spoken = (dataclasses.replace(one, words=words_of(one)) for one in worklists)
    of_audit = _audit_keys(audit)
    with replacing(target, _written_before(target), target / MANIFEST) as beside:
        write = partial(
            _write_worklist,
            facts=facts,
            fields=fields,
            audit=audit,
            of_audit=of_audit,
            folder=beside,
        )
        index = _index_lines(side_by_side(write, spoken), reporter, findings)
        frame = pd.DataFrame(index, columns=_INDEX_SCHEMA.names)
        listed = pa.Table.from_pandas(frame, _INDEX_SCHEMA, preserve_index=False)
        write_csv(iter(listed.to_batches()), listed.schema, beside / INDEX, escape_formulas=True)
        about = {"by": by, "scope": audit.scope, **of_audit}
        manifest = {"format": _FORMAT, **about, "worklists": index}
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        (beside / MANIFEST).write_text(text, "utf-8")
    return frame


def _index_lines(
    written: Iterable[dict[str, Any]], reporter: Reporter, findings: int
) -> list[dict[str, Any]]:
    """Yield the lines of the index one by one, and report how many findings are written."""
    index = []
    with reporter.phase("Writing worklists", "findings", findings, counts=True) as phase:
        for one in written:
            index.append(one)
            # A product with several tags is in several worklists, and so are its findings.
            phase.add(one["findings"])
    return index


def _write_worklist(
    worklist: Worklist,
    facts: WorklistFacts,
    fields: Fields,
    audit: Audit,
    of_audit: Mapping[str, Any],
    folder: Path,
) -> dict[str, Any]:
    host = host_of_source(audit.origin.source)
    worklist = add_questions(worklist, fields, host)
    states = fields.states(worklist.rows)
    number = Counter(states)
    keys = {
        "by": worklist.by,
        "host": host,
        "owners": _distinct_values(worklist.rows["owner_id"])
        if worklist.by in {"owner", "owner_id"}
        else None,
        "products": worklist.products,
        "fields": _distinct_values(worklist.rows["attribute"]),
        **of_audit,
    }
    of_all = worklist.of_all or worklist.figures
    workbook, mail = folder / f"{worklist.name}.xlsx", folder / f"{worklist.name}{MAIL}"
    unshown = write_workbook(worklist, facts, fields, keys, workbook)
    mail.write_bytes(mail_of(worklist, workbook, states))
    return {
        "code": worklist.code,
        "label": worklist.label,
        "products": worklist.products,
        "failing_checks": worklist.failing_checks,
        "findings": len(worklist.rows),
        "blockers": worklist.by_severity.get("blocker", 0),
        "to_answer": number[AnswerCell.ASKED],
        "update_waits": number[AnswerCell.WAITS],
        "file": f"{worklist.name}.xlsx",
        "escaped_characters": unshown.escaped,
        "cut_texts": unshown.cut,
        "chosen_products": _count_of_group(worklist.figures, "products"),
        "group_products": _count_of_group(of_all, "products"),
        "group_to_work_on": _count_of_group(of_all, "to_work_on"),
        "scope": worklist.about,
        "mail": mail.name,
    }


def _count_of_group(figures: Mapping[Any, Any], name: str) -> int | None:
    """Return a figure of a group of products; a language has none."""
    return int(figures[name]) if figures else None


def _distinct_values(values: pa.ChunkedArray) -> list[str | None] | None:
    """Return what a column holds, once each; None where that is too much for a cell."""
    found = sorted(pc.unique(values).to_pylist(), key=lambda one: (one is not None, one))
    return found if len(json.dumps(found)) <= _MOST_NAMED else None


def _worklist_facts(
    audit: Audit, by: str, equal: Mapping[str, Any], listed: int, repeated: int, accepted: bool
) -> WorklistFacts:
    chosen = [] if audit.chosen is None else [(Message("Scope"), audit.chosen.said(len(audit)))]
    audited = Message(
        "{moment} UTC, as of {then_moment}",
        moment=f"{audit.audited_at.astimezone(UTC):%Y-%m-%d %H:%M}",
        then_moment=f"{audit.now:%Y-%m-%d %H:%M}",
    )
    judged_by = Message(
        "{profile}, {checks}, rule set {rule_set}",
        profile=audit.profile,
        checks=Message.of_number("{number} check", "{number} checks", len(audit.checks)),
        rule_set=audit.rule_set,
    )
    made_by = Message(
        "prodex {version}, one worklist per {by}", version=version("prodex"), by=group_names(by)[0]
    )
    facts: list[tuple[Said, Said]] = [
        (Message("Catalogue"), _judged_products(audit)),
        *chosen,
        (Message("Audited"), audited),
        (Message("Profile"), judged_by),
        (Message("Made by"), made_by),
    ]
    waiting = Message.of_number(
        "{number} product has an update that waits for acceptance; it was not judged.",
        "{number} products have an update that waits for acceptance; it was not judged.",
        audit.pending,
    )
    return WorklistFacts(
        facts, list(_omissions(audit, equal, listed, repeated, accepted)), [waiting] if audit.pending else []
    )


def _judged_products(audit: Audit) -> Message:
    source = audit.origin.source_said
    if audit.origin.complete:
        return Message.of_number(
            "{source}, {number} product, complete",
            "{source}, {number} products, complete",
            len(audit),
            source=source,
        )
    return Message.of_number(
        "{source}, {number} product, INCOMPLETE: {text}",
        "{source}, {number} products, INCOMPLETE: {text}",
        len(audit),
        source=source,
        text=audit.origin.ledger.said,
    )


def _omissions(
    audit: Audit, equal: Mapping[str, Any], listed: int, repeated: int, accepted: bool
) -> Iterator[Message]:
    yield Message("Everything that passes: worklists contain only the findings of failing checks.")
    if repeated:
        yield Message.of_number(
            "{number} finding of other channels that ask for the same: one answer serves them all.",
            "{number} findings of other channels that ask for the same: one answer serves them all.",
            repeated,
        )
    reasons = audit.accepted_reasons()
    # A view has none of them, whatever is wished.
    if len(reasons) and (not accepted or audit.as_found is not None):
        named: list[Message] = [
            # Numbers are written as the reader writes them.
            Message("{reason} ({person}, {count})", reason=str(why), person=str(who), count=int(count))
            for why, who, count in reasons.head(_REASONS)[["accepted", "accepted_by", "findings"]].itertuples(
                index=False, name=None
            )
        ]
        if (more := len(reasons) - _REASONS) > 0:
            named.append(Message.of_number("and {number} more reason", "and {number} more reasons", more))
        yield Message.of_number(
            "{number} finding that was accepted: {conditions}.",
            "{number} findings that were accepted: {conditions}.",
            int(reasons["findings"].sum()),
            conditions=tuple(named),
        )
    if equal:
        only: dict[str, Any] = {} if accepted else {"accepted": False}
        every = sum(batch.num_rows for batch in audit.failure_batches(**only))
        wanted = ", ".join(f"{name} = {value!r}" for name, value in equal.items())
        yield Message(
            "{count} of {of} findings of the audit: only those with {text} were selected.",
            count=every - listed,
            of=every,
            text=wanted,
        )
    unknown = int(audit.tally["unknown"].sum())
    if unknown:
        yield Message(
            "{count} results of the audit are unknown: the data they need were not requested, nothing decides whether "
            "they apply, or a rule crashed.",
            count=unknown,
        )
    crashed = sorted({crash.check for crash in audit.crashes})
    if crashed:
        yield Message("{count} checks crashed: {text}.", count=len(crashed), text=", ".join(crashed))
    if audit.catalog is None:
        yield Message(
            "The last change of products, and which of several texts is meant: the catalogue was not available when "
            "this was written."
        )


def _codes_in_lists(catalog: Catalog | None, attributes: pa.Array) -> Codes:
    """Return the codes in use of the attributes with findings, if a list of them is short enough."""
    if catalog is None:
        return {}
    known = {}
    for attribute in sorted(filter(None, attributes.to_pylist())):
        codes = codes_in_use(catalog, attribute)
        # Nobody scrolls through a longer list in a cell, and every workbook would carry it.
        if 0 < len(codes) <= _MOST_CODES:
            known[attribute] = codes
    return known


def _audit_keys(audit: Audit) -> dict[str, Any]:
    """Return what identifies the audit, for programs."""
    return {
        "prodex": version("prodex"),
        "audited_at": audit.audited_at.isoformat(),
        "now": audit.now.isoformat(),
        "profile": audit.profile,
        "rule_set": audit.rule_set,
        "catalog": None if audit.catalog_folder is None else audit.catalog_folder.name,
        "snapshot": None if audit.catalog_folder is None else _snapshot_name(audit.catalog_folder),
    }


def _snapshot_name(folder: Path) -> str:
    """Return name and time of a snapshot, as `prodex.open_snapshot` takes it."""
    return f"{folder.parent.name}@{folder.name}"


def _refuse_foreign(folder: Path, replace: bool) -> None:
    """Refuse a folder that has other files than worklists, or that may not be replaced."""
    if not is_there(folder):
        return
    there = {path.name for path in folder.iterdir()} if is_folder(folder) else {folder.name}
    # Only files that our index lists are ours: a folder is never emptied on suspicion.
    known = _written_before(folder)
    foreign = sorted(
        name for name in there if not is_of_system(name) and (name not in known or not is_file(folder / name))
    )
    if foreign:
        raise InputError(
            f"{folder} contains something that is not a worklist of prodex: {foreign[0]!r}"
            f"{' and more' * (len(foreign) > 1)}. Give a folder that is new or empty."
        )
    if there and not replace:
        raise InputError(
            advice(
                "{folder} already contains worklists, which may have been filled in. Give another folder, or pass "
                "{replace}.",
                folder=folder,
                replace=Argument("replace", True),
            )
        )


class _Listed(msgspec.Struct):
    file: str


class _Manifest(msgspec.Struct):
    """The index for programs, as far as it is read again."""

    worklists: list[_Listed]


def _written_before(folder: Path) -> set[str]:
    """Return the names of the files that the index of a folder lists; none where it has no index of ours."""
    try:
        listed = read_json(folder / MANIFEST, _Manifest, layout=_FORMAT).worklists
    # An index that cannot be read lists nothing of ours, so the folder is refused as that of somebody else.
    except (OSError, ValueError):
        return set()
    stems = [one.file.removesuffix(".xlsx") for one in listed]
    names = {
        MANIFEST,
        INDEX,
        *(f"{stem}{ending}" for stem in stems for ending in ENDINGS),
    }
    # Disks and archives of macOS may have taken the letters of a name apart.
    return names | {
        path.name for path in folder.iterdir() if unicodedata.normalize("NFC", path.name) in names
    }
