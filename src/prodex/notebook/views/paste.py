"""Corrections that are pasted from a spreadsheet: what the columns mean is confirmed, then they are sent as all others.

The table is read as soon as it is in its field. A button says what its columns mean; with another text, or another
choice, it has to be pressed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.readings import KeptReading, read_for, reading
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.arrival import profile_of
from prodex.notebook.views.blocks import button, fold, is_open, paragraph, typed_text, work
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.judged_answers import answers_blocks, judged_answers
from prodex.notebook.views.sending import Judging, Outbox, outbox
from prodex.phrases import counted
from prodex.quality import Audit
from prodex.quality.run import moment_of
from prodex.untrusted_text import label
from prodex.worklists.answer_kinds import AnswerShape
from prodex.worklists.fix import Fix, MadeBy
from prodex.worklists.pasted import PastedTable, make_fix_of_table, pasted_table
from prodex.worklists.pasted_headings import (
    IGNORED,
    KEYS,
    ColumnMeaning,
    HeadingProposal,
    KnownHeadings,
    problem_of_meanings,
)
from prodex.worklists.text_corrections import NO_RULES

_NAME, _SECTION = "paste", "corrections"
_FORM, _TABLE, _HEADINGS = "paste", "table", "paste-headings"
#: Languages in which texts are offered for a column, the most frequent first.
_LANGUAGES = 8
#: Characters of a heading and of a cell that a label shows.
_SHOWN = 60
_FIELD = FormField(
    _TABLE,
    "Table",
    "long",
    placeholder="Copy rows of a spreadsheet with their headings, and paste them here: a column of GTINs, and one for "
    "each value",
)
_KEY_TITLES = {"gtin": "GTIN", "product_id": "Product id"}


@dataclass(frozen=True)
class ConfirmedTable:
    """What somebody has confirmed.

    Attributes
    ----------
    text
        The table as it was pasted; empty as long as none was confirmed.
    meanings
        What its columns mean, by their places.
    """

    text: str = ""
    meanings: tuple[tuple[int, ColumnMeaning], ...] = ()


@dataclass(frozen=True, eq=False)
class OfferedColumns:
    """A table that was pasted, and what is known of its columns.

    Attributes
    ----------
    table
        The table.
    options
        What a column can mean, and what each is called.
    """

    table: PastedTable
    known: KnownHeadings = field(repr=False)
    options: tuple[tuple[str, str], ...] = field(repr=False)


def paste_fold(session: Session) -> Block:
    """Return what takes a table, folded at first."""
    return fold(session, _NAME, "Paste from a spreadsheet", lambda: _blocks(session))


def paste_wants(session: Session) -> Iterator[Want]:
    """Yield the reading of what was pasted, and the judging of what was confirmed, while somebody looks at it."""
    if not is_open(session, _NAME):
        return
    if (text := _pasted(session)) and _read_now(session) is None:
        yield reading(_SLOT, (text, session.catalog), lambda _: _read(text, session.catalog), is_dropped=True)
    yield from _BOX.wants(session)


_SLOT = "read the pasted table"


def _pasted(session: Session) -> str:
    text = str(form_values(session, _FORM, [_FIELD])[_TABLE] or "")
    return text if text.strip() else ""


def _read_now(session: Session) -> KeptReading | None:
    return read_for(session, _SLOT, (_pasted(session), session.catalog))


def _read(text: str, catalog: Catalog) -> OfferedColumns:
    known = KnownHeadings(catalog)
    return OfferedColumns(pasted_table(text, catalog, known), known, tuple(_options(known)))


def _options(known: KnownHeadings) -> Iterator[tuple[str, str]]:
    """Yield what a column can mean: a key, nothing, or an attribute, of texts in a language."""
    yield IGNORED, "ignore this column"
    yield from _KEY_TITLES.items()
    for attribute in known.attributes:
        if known.shapes.of_attribute(attribute) is not AnswerShape.TEXT:
            yield attribute, _called(ColumnMeaning(attribute))
            continue
        for language in known.languages_of(attribute)[:_LANGUAGES]:
            meaning = ColumnMeaning(attribute, language)
            yield str(meaning), _called(meaning)


def _called(meaning: ColumnMeaning) -> str:
    if meaning.attribute in KEYS:
        return _KEY_TITLES[meaning.attribute]
    language = "" if meaning.language is None else f", {language_label(meaning.language)}"
    return f"{attribute_title(meaning.attribute)}{language}"


def _field_name(one: HeadingProposal) -> str:
    """Return the name of the field of a column: what was chosen for another heading says nothing of this one."""
    return f"{one.column} {one.heading[:_SHOWN]}"


def _fields(session: Session, read: OfferedColumns) -> list[FormField]:
    """Return a choice for each column that has values: what is proposed, and what it may be before all others."""
    typed = session.typed.get(_HEADINGS, {})
    return [
        _heading_field(one, read.options, typed.get(_field_name(one)))
        for one in read.table.proposals
        if one.example
    ]


def _heading_field(one: HeadingProposal, options: tuple[tuple[str, str], ...], chosen: object) -> FormField:
    likely = {str(meaning): _called(meaning) for meaning in one.candidates}
    offered = {"": "choose …", **likely, **dict(options)}
    heading = label(one.heading[:_SHOWN] or f"Column {one.column}").text
    proposed = "" if one.meaning is None else str(one.meaning)
    # Whoever has chosen something has answered it.
    question = one.question if chosen in {None, "", proposed} else ""
    hint = f"{question} First value: {one.example[:_SHOWN]}".strip()
    return FormField(
        _field_name(one),
        heading,
        "choice",
        proposed,
        [(value, typed_text(title)) for value, title in offered.items()],
        hint=typed_text(hint),
    )


def _chosen(session: Session, read: OfferedColumns) -> Mapping[str, Any]:
    return form_values(session, _HEADINGS, _fields(session, read))


def _blocks(session: Session) -> Iterator[Block | None]:
    clear = button("Clear", "paste.clear", title="Forget the table; what was sent stays sent")
    yield form(session, _FORM, [_FIELD], clear if _pasted(session) else None, label="Paste")
    found, confirmed = _read_now(session), session.part(ConfirmedTable)
    yield work(session, _SLOT)
    if found is not None and found.problem:
        yield paragraph(typed_text(found.problem), key="paste-problem", tone="problem")
    elif found is not None and not (_is_confirmed(session, found.value) and _BOX.known(session).sent):
        yield from _headings(session, found.value)
    if not confirmed.text:
        return
    yield work(session, _BOX.slot)
    if failure := _BOX.failure(session):
        yield paragraph(typed_text(failure), key="paste-failure", tone="problem")
    yield from answers_blocks(session, _BOX)
    yield from _BOX.blocks(session)


def _headings(session: Session, read: OfferedColumns) -> Iterator[Block]:
    """Yield what the columns may mean, and the button that confirms it."""
    fields = _fields(session, read)
    rows, columns = counted(len(read.table.rows), "row"), counted(len(fields), "column")
    yield paragraph(f"{rows}, {columns}. What do the columns mean?", key="paste-read", tone="status")
    press = button(
        "The columns mean this",
        "paste.confirm",
        key="paste-confirm",
        look="" if _is_confirmed(session, read) else "main",
        off="These columns are confirmed." if _is_confirmed(session, read) else "",
    )
    yield form(session, _HEADINGS, fields, press, label="Columns")


def _is_confirmed(session: Session, read: OfferedColumns) -> bool:
    confirmed = session.part(ConfirmedTable)
    if confirmed.text != _pasted(session):
        return False
    names, said = _chosen(session, read), {place: str(meaning) for place, meaning in confirmed.meanings}
    return all(
        names.get(_field_name(one), IGNORED) == said.get(one.place, IGNORED) for one in read.table.proposals
    )


@action("paste.confirm")
def confirm(session: Session) -> Session:
    """Take the columns for what is chosen, and judge the corrections; what was sent of another table is forgotten."""
    found = _read_now(session)
    if found is None or found.value is None:
        raise Refused(
            "Nothing was confirmed: the table is another by now, or is being read. Look at it again."
        )
    _BOX.refuse_while_sending(session)
    read, meanings = found.value, {}
    chosen = _chosen(session, read)
    for one in read.table.proposals:
        said = chosen.get(name := _field_name(one), IGNORED)
        if not said:
            raise Refused(f"Choose what {one.called} is, or ignore it.", at=f"{_HEADINGS}.{name}")
        if said != IGNORED:
            try:
                meanings[one.place] = read.known.meaning_of(said)
            except InputError as error:
                raise Refused(str(error), at=f"{_HEADINGS}.{name}") from error
    if problem := problem_of_meanings(meanings):
        raise Refused(problem)
    return _BOX.begun_anew(session).with_part(ConfirmedTable(_pasted(session), tuple(meanings.items())))


@action("paste.clear")
def clear(session: Session) -> Session:
    """Forget the table."""
    _BOX.refuse_while_sending(session)
    session = _BOX.begun_anew(session).with_part(ConfirmedTable())
    return session.without_typed(_FORM).without_typed(_HEADINGS)


def _judging(session: Session) -> Judging | None:
    confirmed, found = session.part(ConfirmedTable), _read_now(session)
    # With another table in the field, or another choice, what was confirmed is not what somebody sees.
    if found is None or found.value is None or not _is_confirmed(session, found.value):
        return None
    of = (confirmed.text, confirmed.meanings, session.catalog, session.audit)
    return Judging(of, partial(_fix, *of), "Judging the pasted corrections")


def _fix(
    text: str, meanings: tuple[tuple[int, ColumnMeaning], ...], catalog: Catalog, audit: Audit | None
) -> Fix:
    """Judge the corrections of a table by the checks of an audit; without one by what the service would refuse."""
    known = KnownHeadings(catalog)
    table = pasted_table(text, catalog, known)
    profile = profile_of(audit) or NO_RULES
    return make_fix_of_table(table, dict(meanings), catalog, known, profile, moment_of(None), MadeBy())


_BOX = outbox(Outbox(_NAME, _SECTION, _judging, partial(judged_answers, _NAME), stays=True))
