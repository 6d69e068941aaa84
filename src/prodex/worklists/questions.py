"""The questions of an audit: what each row of a worklist asks for, in words, and as a frame for programs.

A worklist for people is a workbook. A program takes the same rows as a frame, fills in `new_value`, and writes what it
likes: any table with these columns is read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

import pandas as pd
import pyarrow as pa

from prodex.arguments import listed
from prodex.facts.groups import Groups
from prodex.languages import Translation
from prodex.progress import PATIENCE, SILENT, Progress, Reporter, reporting
from prodex.quality.audit import Audit
from prodex.quality.failures import FAILURES, findings_in_words
from prodex.quality.problems import asked_label
from prodex.tables.frames import to_frame
from prodex.worklists.answer_fields import Fields
from prodex.worklists.answer_kinds import Shapes
from prodex.worklists.layout import WORKLIST
from prodex.worklists.ownership import host_of_source, owner_called
from prodex.worklists.row_keys import row_keys
from prodex.worklists.rows import drop_repeated, finding_rows, group_worklists
from prodex.worklists.sheets import Worklist

#: Findings in words whose text is no dictionary: it is gone through row by row.
_TEXTS = pa.schema(
    [field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field for field in FAILURES]
)


def worklist_rows(
    audit: Audit,
    owner: Any = ...,
    *,
    language: str = "en",
    accepted: bool = False,
    progress: Progress = None,
    **equal: Any,
) -> pd.DataFrame:
    """Return the rows of worklists by owner, as their workbooks have them; see `Audit.worklist_rows`."""
    with reporting(progress, "Worklist rows", "findings", after=PATIENCE) as reporter:
        rows, _ = find_questions(audit, equal, reporter, accepted=accepted)
    words = Translation.of(language)
    fields, host = Fields(Shapes.of(audit.catalog)), host_of_source(audit.origin.source)
    wanted = _owners_named(audit.groups("owner"), owner)
    tables = [
        add_questions(dataclasses.replace(worklist, words=words), fields, host).rows
        for worklist in group_worklists(audit, rows, "owner")
        if wanted is None or worklist.code in wanted
    ]
    return to_frame(pa.concat_tables([WORKLIST.empty_table(), *tables]))


def _owners_named(groups: Groups, owner: Any) -> Collection[str | None] | None:
    """Return what the chosen owners are known by, None for those without an owner; None where all are wanted."""
    if owner is ...:
        return None
    chosen = listed("owner", owner)
    return {None if one is None else owner_called(groups, str(one), "audit") for one in chosen}


def find_questions(
    audit: Audit, equal: Mapping[str, Any], reporter: Reporter = SILENT, *, accepted: bool = False
) -> tuple[pa.Table, int]:
    """Return the findings that a supplier is asked about, each once, and how many more ask for the same."""
    return drop_repeated(finding_rows(audit, equal, reporter, accepted=accepted), audit)


def add_questions(worklist: Worklist, fields: Fields, host: str | None) -> Worklist:
    """Return a worklist whose rows say what is asked for and how to answer, in its language, each with its key.

    Parameters
    ----------
    worklist
        The findings of a group.
    fields
        What the fields take.
    host
        Of the service that has the products, if there is one.
    """
    found, words = worklist.rows, worklist.words
    said = findings_in_words(found, worklist.checks, words).cast(_TEXTS)
    columns = {name: found[name] for name in found.column_names} | {
        name: said[name] for name in FAILURES.names
    }
    # There are few different fields among very many findings.
    label = cache(lambda *asked: None if (one := asked_label(*asked)) is None else words.say(one))
    pairs = zip(found["attribute"].to_pylist(), said["rule"].to_pylist(), strict=True)
    columns["asked_for"] = pa.array([label(*one) for one in pairs], pa.string())
    columns["scope"] = pa.repeat(pa.scalar(worklist.about, pa.string()), len(found))
    columns["accept_because"] = pa.nulls(len(found), pa.string())
    columns["same_answer"] = fields.same_answers(pa.table(columns))
    columns["how"] = fields.hows(found, words)
    columns["row_key"] = row_keys(pa.table(columns), host)
    rows = pa.table([columns[name] for name in WORKLIST.names], WORKLIST.names).cast(WORKLIST)
    return dataclasses.replace(worklist, rows=rows)
