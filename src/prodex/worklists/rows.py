"""The rows of worklists: every finding, with the keys by which a new value is assigned to its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part
from prodex.errors import NotExported
from prodex.facts.groups import Groups
from prodex.files.atomic import on_disk, safe_name
from prodex.locales import language_label, short_of
from prodex.progress import SILENT, Reporter
from prodex.quality.audit import Audit
from prodex.quality.failures import FOUND, failure_filter, findings_in_words, found_rows
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import by_group
from prodex.tables.attributes import TEXTS
from prodex.tables.columns import Rows
from prodex.worklists.layout import WORKLIST
from prodex.worklists.pending_updates import PendingUpdates, awaiting_attribute, pending_updates
from prodex.worklists.row_keys import NOTHING, place_digest
from prodex.worklists.sheets import Worklist

_PLACE = ["language_code", "position"]

#: What a worklist has of a finding beside what an audit has: `how` is the text that an answer replaces, where the
#: finding shows another one, and `row_key` the digest of the text at its place.
_ADDED = (*_PLACE, "updated_at", "update_waits", "new_value", "how", "row_key")
#: Findings before they are put into words, for a worklist; `product` is the place of the product in the audit.
QUESTIONS = pa.schema([("product", pa.int64()), *FOUND, *(WORKLIST.field(name) for name in _ADDED)])


def finding_rows(
    audit: Audit, equal: Mapping[str, Any], reporter: Reporter = SILENT, *, accepted: bool = False
) -> pa.Table:
    """Return the findings, the worst first, then product by product as in the catalogue.

    Parameters
    ----------
    audit
        The audit.
    equal
        Column of the findings = value or list of values.
    reporter
        Hears of how many products have been gone through.
    accepted
        Whether those that are accepted are among them.

    Returns
    -------
    pyarrow.Table
        `QUESTIONS`, whose text is dictionary-encoded.
    """
    # There are few different texts among millions of findings.
    pieces = [_dictionary_encoded(QUESTIONS.empty_table())]
    with reporter.phase("Collecting findings", "products", len(audit)) as phase:
        for part, rows in zip(audit.parts, _by_part(audit, equal, accepted), strict=True):
            pieces.append(_dictionary_encoded(rows))
            phase.add(part.size)
    table = pa.concat_tables(pieces).unify_dictionaries()
    of_check = [list(SEVERITIES).index(check.severity) for check in audit.checks]
    severity = np.array(of_check, np.int64)[table["check"].to_numpy()]
    order = np.lexsort((np.arange(len(table)), table["product"].to_numpy(), severity))
    return table.take(pa.array(order))


def drop_repeated(rows: pa.Table, audit: Audit) -> tuple[pa.Table, int]:
    """Return findings with what several channels require alike once, in its worst form, and how many were left out.

    A supplier answers for the product: the same question for the web shop and for the leaflet would be two.

    Parameters
    ----------
    rows
        From `finding_rows`.
    audit
        The audit.
    """
    asked = {
        one.id: f"{one.required_attribute} {one.language or ''}"
        for one in audit.checks
        if one.channel and one.is_presence
    }
    if not asked:
        return rows, 0
    said = findings_in_words(rows.cast(QUESTIONS), audit.checks)
    about = rows.select(["product", "value"]).to_pandas().assign(reason=said["reason"].to_pandas())
    about["check"] = said["check"].to_pandas().astype("str").map(asked)
    repeated = about.duplicated() & about["check"].notna()
    return rows.filter(pa.array(~repeated)), int(repeated.sum())


def _dictionary_encoded(table: pa.Table) -> pa.Table:
    columns = [
        column.dictionary_encode() if pa.types.is_string(column.type) else column for column in table.columns
    ]
    return pa.table(columns, table.column_names)


def _text_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string())


def _by_part(audit: Audit, equal: Mapping[str, Any], with_accepted: bool) -> Iterator[pa.Table]:
    before = 0
    wants = failure_filter(audit.parts, audit.checks, equal, audit.accepted_parts)
    waiting = _pending_updates(audit.catalog)
    each = zip(audit.parts, audit.accepted_parts, strict=True)
    for number, (part, accepted) in enumerate(each):
        rows = found_rows(part, audit.checks, wants, accepted)
        # Somebody has looked at these, and nothing is asked of a supplier.
        rows = rows if with_accepted else rows.filter(pc.is_null(rows["accepted"]))
        place = pc.index_in(rows["product_id"], part.column("product_id").combine_chunks())
        rows = rows.append_column("product", pc.add(place.cast(pa.int64()), before))
        before += part.size
        found = _catalog_facts(rows, audit.catalog, number)
        found["update_waits"] = update_waits(rows, waiting)
        columns = {name: rows[name] for name in rows.column_names} | found
        yield pa.table({name: columns[name] for name in QUESTIONS.names}, QUESTIONS)


def _catalog_facts(rows: pa.Table, catalog: Catalog | None, number: int) -> dict[str, Any]:
    """Return what only the catalogue has: which text is meant, and when the product was last changed."""
    size = len(rows)
    empty = {name: pa.nulls(size, QUESTIONS.field(name).type) for name in _ADDED}
    if catalog is None or not size:
        return empty
    part = catalog.parts[number]
    products = part.read("products", ["product_id", "updated_at"])
    place = pc.index_in(rows["product_id"].combine_chunks(), products["product_id"].combine_chunks())
    updated = products["updated_at"].combine_chunks().take(place).cast(pa.timestamp("us"))
    places = _places(rows.select(["product_id", "attribute", "language", "value", "check"]).to_pandas(), part)
    keys = {name: pa.array(places[name], pa.string(), from_pandas=True) for name in _PLACE}
    # `Fields.hows` says it with how to answer.
    replaced = pa.array(places["replaced"], pa.string(), from_pandas=True)
    # `row_keys` makes the keys of these digests and of what the row shows in the end.
    held = pa.array(places["held"], pa.string(), from_pandas=True)
    return {**empty, **keys, "updated_at": updated, "how": replaced, "row_key": held}


def _pending_updates(catalog: Catalog | None) -> PendingUpdates | None:
    """Return of which attributes an update waits, by product id; None where that is not known."""
    if catalog is None or not catalog.origin.asked("lastRequest"):
        return None
    try:
        return pending_updates(catalog)
    except NotExported:
        return None


def update_waits(rows: pa.Table, waiting: PendingUpdates | None) -> pa.Array:
    """Return for each finding whether an update of its attribute waits for acceptance; null where it is not known."""
    if waiting is None:
        return pa.nulls(len(rows), pa.bool_())
    concerned = pc.is_in(_text_column(rows["product_id"]), pa.array(list(waiting), pa.string()))
    places = np.flatnonzero(concerned.to_numpy())
    waits = np.zeros(len(rows), bool)
    some = rows.select(["product_id", "attribute"]).take(pa.array(places)).to_pydict()
    for place, product, attribute in zip(places, *some.values(), strict=True):
        waits[place] = awaiting_attribute(attribute, waiting[product]) is not None
    return pa.array(waits)


def _places(rows: pd.DataFrame, part: Part) -> pd.DataFrame:
    """Return which text item each finding means: the one with the value found, else the only one.

    Of one whose text is not the value found, `replaced` has the text. `held` has the digest of the text, `NOTHING`
    where the language has none yet, and None where it is not certain which one is meant.

    If several have the same text, the first finding of a check means the first of them, and so on. A finding that names
    a language never means a text in another one.
    """
    columns = ["product_id", "attribute", "language", "text", *_PLACE]
    concerned = pc.field("attribute").isin(pa.array(rows["attribute"].dropna().unique(), pa.string()))
    texts = part.read("texts", columns, concerned).to_pandas().rename(columns={"text": "value"})
    rows, texts = (one.assign(language=_short_languages(one["language"])) for one in (rows, texts))
    places = [*_PLACE, "replaced"]
    found = pd.DataFrame({name: pd.Series(pd.NA, rows.index, "object") for name in [*places, "held"]})
    for keys in (
        ["product_id", "attribute", "language", "value"],
        ["product_id", "attribute", "value"],
        ["product_id", "attribute", "language"],
    ):
        left = rows[found["position"].isna() & rows[keys].notna().all(axis=1)]
        if "language" not in keys:
            left = left[left["language"].isna()]
        if "value" in keys:
            same = texts.groupby(keys, dropna=False)
            known = texts.assign(turn=same.cumcount())
            number = left[keys].merge(same.size().rename("number").reset_index(), "left", keys)["number"]
            turn = left.groupby([*keys, "check"]).cumcount()
            meant = left.assign(turn=turn.where(number.to_numpy() > 1, 0))
            keys = [*keys, "turn"]  # noqa: PLW2901 - the turn tells equal ones apart
        else:
            known, meant = texts[~texts.duplicated(keys, keep=False)], left
        known = known.assign(replaced=None) if "value" in keys else known.assign(replaced=known["value"])
        met = meant[keys].merge(known[[*keys, *places]], "left", keys, validate="many_to_one")
        found.loc[left.index, places] = met[places].to_numpy(object)
    is_known = found["position"].notna()
    held = found["replaced"].where(found["replaced"].notna(), rows["value"])[is_known]
    found.loc[is_known, "held"] = np.array([place_digest(one) for one in held], object)
    place = ["product_id", "attribute", "language"]
    left = rows[~is_known & rows["language"].notna() & rows["attribute"].isin(TEXTS)]
    is_there = pd.MultiIndex.from_frame(left[place]).isin(pd.MultiIndex.from_frame(texts[place]))
    found.loc[left.index[~is_there], "held"] = NOTHING
    return found


def _short_languages(languages: pd.Series[Any]) -> pd.Series[Any]:
    short = {one: short_of(one) for one in languages.dropna().unique()}
    return languages.map(short).astype(object)  # of no language at all pandas would make numbers


#: The findings of a group, numbered.
_NUMBERED = pa.schema([("row", pa.int64()), *list(QUESTIONS)[1:]])


def group_worklists(audit: Audit, rows: pa.Table, by: str, taken: Collection[str] = ()) -> Iterator[Worklist]:
    """Yield a worklist for each group, by code and never by label; those with the most findings first.

    Parameters
    ----------
    audit
        The audit.
    rows
        From `finding_rows`.
    by
        A grouping of `Audit.scores`; by "language", findings are grouped by their own language.
    taken
        Names of files, without ending, that no worklist may have.

    Raises
    ------
    QueryError
        When there is no such grouping.
    """
    found: list[tuple[str | None, str | None, Rows, Mapping[Any, Any]]] = []
    of_all: Mapping[str | None, Mapping[Any, Any]] = {}
    if by == "language":
        languages = _text_column(rows["language"])
        codes = pc.unique(languages).to_pylist()
        place = pc.index_in(languages, pa.array(codes, pa.string())).to_numpy()
        found = [
            (code, None if code is None else language_label(code), np.flatnonzero(place == number), {})
            for number, code in enumerate(codes)
        ]
    else:
        groups = audit.groups(by)
        figures = _group_figures(audit, groups)
        if audit.taken_from is not None and audit.chosen is not None:
            # A worklist for a supplier has the figures of all their products, whatever the screen shows.
            every = audit.taken_from.groups(by)
            of_all = dict(zip(every.codes, _group_figures(audit.taken_from, every), strict=True))
        for number, members in enumerate(_rows_of_groups(groups, rows["product"].to_numpy(), len(audit))):
            found.append((groups.codes[number], groups.labels[number], members, figures[number]))
    found = [one for one in found if len(one[2])]
    found.sort(key=lambda one: (-len(one[2]), one[0] is None, one[0] or ""))
    names = file_names([(code, label) for code, label, *_ in found], by, taken)
    for name, (code, label, members, of_group) in zip(names, found, strict=True):
        own = rows.take(pa.array(members)).drop_columns("product")
        own = own.add_column(0, "row", pa.array(np.arange(1, len(own) + 1)))
        yield Worklist(
            *(by, code, label, name, own.cast(_NUMBERED), of_group),
            checks=audit.checks,
            of_all=of_all.get(code, {}),
            scope=None if audit.chosen is None else audit.chosen.said(len(audit)),
            chosen_by=() if audit.chosen is None else audit.chosen.shown,
        )


def _group_figures(audit: Audit, groups: Groups) -> Sequence[Mapping[Any, Any]]:
    """Return the figures of each group."""
    return by_group(audit.tally, groups).to_dict("records")


def _rows_of_groups(groups: Groups, products: Rows, size: int) -> Iterator[Rows]:
    """Yield for each group the rows of its products, in their order."""
    by_product = np.argsort(products, kind="stable")
    first = np.searchsorted(products[by_product], np.arange(size + 1))
    order = np.argsort(groups.groups, kind="stable")
    edges = np.searchsorted(groups.groups[order], np.arange(len(groups.codes) + 1))
    for number in range(len(groups.codes)):
        own = groups.rows[order[edges[number] : edges[number + 1]]]
        counts = first[own + 1] - first[own]
        starts = np.repeat(first[own] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        yield np.sort(by_product[starts + np.arange(len(starts))])


def file_names(
    groups: Sequence[tuple[str | None, str | None]], by: str, taken: Collection[str] = ()
) -> list[str]:
    """Return a safe file name for each group, unique even on a disk that ignores case or the form of letters.

    >>> file_names([("4", "Käse & Co"), ("../4", "Käse & Co"), (None, None)], "owner")
    ['Käse_Co-4', 'Käse_Co-4-2', 'no_owner']
    """
    names: list[str] = []
    given = set(map(on_disk, taken))
    for code, label in groups:
        named = (
            f"{_short_name(label, 100)}-{_short_name(code, 60)}"
            if label not in {None, code}
            else _short_name(code, 160)
        )
        stem = safe_name(f"no_{by}" if code is None else named)
        name, turn = stem, 1
        while on_disk(name) in given:
            turn += 1
            name = f"{stem}-{turn}"
        given.add(on_disk(name))
        names.append(name)
    return names


def _short_name(text: str | None, most: int) -> str:
    """Return a safe name of at most so many bytes: file systems count these."""
    return safe_name(text or "").encode()[:most].decode("utf-8", "ignore")
