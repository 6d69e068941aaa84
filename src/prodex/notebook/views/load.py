"""The section that loads products: a query as a form, how many match, the load with its progress, and what came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import islice
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from prodex import clock
from prodex.catalog import Catalog
from prodex.errors import IncompleteLoad, SettingsError
from prodex.files.atomic import checked_name
from prodex.load import load_products
from prodex.load.reference_data import load_organizations
from prodex.load.resume import (
    RESUMABLE,
    UnfinishedLoad,
    question_to,
    reusable_snapshot,
    unfinished_loads,
)
from prodex.notebook.session.actions import Block, Panel, Section, Want, action, task
from prodex.notebook.session.readings import last_read, read_for, reading
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.blocks import (
    box,
    button,
    fold,
    heading,
    is_open,
    listing,
    paragraph,
    row,
    switch,
    typed_text,
    work,
)
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.frame import catalog_label
from prodex.notebook.views.query_fields import (
    FORM,
    WORDS_HINT,
    FieldGroup,
    Offered,
    TypedQuery,
    asked,
    count_given,
    fields_with_choices,
    form_fields,
    list_with,
    offered_by,
    owners_by_name,
    periods,
    shown_moment,
    similar_words,
    word_names,
)
from prodex.notebook.views.saved_snapshots import unfinished_title
from prodex.phrases import duration_in_words, moment_in_words
from prodex.progress import Reporter
from prodex.query import FILTERS, GTINS_PER_CALL, ProductQuery
from prodex.service import Client
from prodex.store.archive import snapshots_folder

#: Seconds without a change before the service is asked, and before filters are tried: whoever types a word has no match
#: until it is whole.
_PAUSE, _NO_MATCH_PAUSE = 0.4, 0.6
#: Problems that are shown; `catalog.problems` has all.
_PROBLEMS = 20
#: Filters that are tried where nothing matches: each is a call to the service.
_MOST_TRIED = 6
#: Characters of a word that are quoted, and kinds that are named for one.
_LONGEST, _KINDS = 40, 5
#: Unfinished loads that are offered.
_UNFINISHED = 5
#: What says which data is returned, and not of which products; words and dates are tried by themselves.
_DATES = ("updated_at_from", "updated_at_to")
_NOT_TRIED = frozenset({"product_languages", "source_include", "source_exclude", "search", *_DATES})
_FOLDED = (FieldGroup.STATUS, FieldGroup.MORE, FieldGroup.ANSWER, FieldGroup.EXPERT)

_OTHER = "This is about a load that was begun before the form was changed: it asks for something else now."

_NAME = FormField("name", "Name of the snapshot", placeholder="optional, such as french-shop")
_AGES = (("", "reuse it for an hour"), (86_400, "reuse it for a day"), (0, "load it again"))
_AGE = FormField("age", "If it was loaded before", "choice", "", _AGES)


@dataclass(frozen=True)
class LoadReport:
    """What became of a load, as long as the form asks for the same.

    Attributes
    ----------
    question
        What the form asked for when it ended, with the name and the age.
    blocks
        What is said of it.
    can_keep
        Whether what came can be kept as an incomplete snapshot.
    """

    question: tuple[Any, ...] = ("",)
    blocks: tuple[Block, ...] = ()
    can_keep: bool = False


@dataclass(frozen=True)
class LoadState:
    """What the section keeps.

    Attributes
    ----------
    query
        What the form begins with; what is typed comes on top of it.
    rows
        Numbers of the rows of words; a number is never used again.
    made
        How many rows there were.
    recounts
        How often somebody has asked for the same count again.
    report
        What became of the last load.
    ended
        How many loads have ended: each changes what is there.
    """

    query: ProductQuery = field(default_factory=ProductQuery)
    rows: tuple[int, ...] = (0,)
    made: int = 1
    recounts: int = 0
    report: LoadReport = LoadReport()
    ended: int = 0


def with_query(session: Session, query: ProductQuery) -> Session:
    """Return the session whose form holds a query, and nothing else that was typed in it."""
    rows = tuple(range(max(len(query.search or ()), 1)))
    kept = {name: value for name, value in session.typed.get(FORM, {}).items() if name in ("name", "age")}
    emptied = session.without_typed(FORM).with_typed(FORM, **kept)
    return emptied.with_changed(LoadState, query=query, rows=rows, made=len(rows))


class _LastAsked:
    """What was typed last, and what it asks for."""

    def __init__(self, _: Session) -> None:
        self.of: tuple[Any, ...] = ()
        self.asked = TypedQuery(None)


def asked_of(session: Session) -> TypedQuery:
    """Return what the form asks for; read once for all that is shown of it."""
    kept, state = session.derived(_LastAsked), session.part(LoadState)
    of = (session.typed.get(FORM), state.query, state.rows)
    if kept.of != of:
        kept.of, kept.asked = of, asked(_values(session), state.rows)
    return kept.asked


def _groups(session: Session) -> dict[FieldGroup, list[FormField]]:
    state = session.part(LoadState)
    return form_fields(state.query, state.rows, last_read(session, "load.offered").value or Offered())


def _values(session: Session) -> dict[str, Any]:
    fields = [_NAME, _AGE, *(one for group in _groups(session).values() for one in group)]
    values = form_values(session, FORM, fields)
    texts = {one.name: str(values[one.name]) for one in fields if one.kind in ("text", "long", "moment")}
    return {**values, **texts}


def _name_and_age(session: Session) -> tuple[str | None, float | None]:
    """Return the name and the age as `load_products` takes them."""
    values = form_values(session, FORM, [_NAME, _AGE])
    return str(values["name"]).strip() or None, values["age"] if values["age"] != "" else None


def _question(session: Session) -> tuple[Any, ...]:
    return (asked_of(session).key, *_name_and_age(session))


def _count_key(session: Session) -> tuple[Any, ...]:
    return asked_of(session).key, session.part(LoadState).recounts


def _has_no_match(session: Session) -> bool:
    count = read_for(session, "load.count", _count_key(session))
    return count is not None and count.value == 0


# What is shown.


def load_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    if session.service is None:
        return [paragraph("Nothing can be loaded: give explore a service, as prodex.connect returns it.")]
    state, asks = session.part(LoadState), asked_of(session)
    groups, values = _groups(session), _values(session)
    errors = {f"{FORM}.{name}": error for name, error in asks.errors.items()}
    told = session.replaced(errors={**session.errors, **errors})
    owners = last_read(session, "load.owners")
    unnamed = owners.problem and f"Names of owners could not be loaded: {owners.problem} Numbers still work."

    def fields(group: FieldGroup) -> Block:
        shown = fields_with_choices(groups[group], values, owners.value or (), unnamed)
        return form(told, FORM, shown, label=group.value)

    label = paragraph(FieldGroup.PERIOD.value, key="label", tone="label")
    period = box(label, _periods(values), fields(FieldGroup.PERIOD), key="period", look="query-period")
    market = box(fields(FieldGroup.FRONT), key="market")
    matching = box(*_matching(session, asks), key="matching", look="query-matching")
    clear = button("Clear all filters", "load.clear", look="quiet")
    blocks = [
        # Not saved with a notebook: the address may be a port of this machine.
        {**heading(f"Load products from {urlsplit(session.service.base_url).netloc}"), "tone": "only-live"},
        row(market, period, key="front", look="query-front"),
        _words(told, groups[FieldGroup.WORDS], state),
        row(matching, clear, key="count", look="query-count"),
        _no_match(session, asks),
        _load(told, asks),
        paragraph("More filters, and what to load", key="more", tone="muted"),
        *(_folded(session, asks, group, groups[group], fields) for group in _FOLDED),
        *_code(session, asks),
        _unfinished(session),
    ]
    return [one for one in blocks if one]


def _folded(
    session: Session,
    asks: TypedQuery,
    group: FieldGroup,
    fields: Sequence[FormField],
    shown: Callable[[FieldGroup], Block],
) -> Block:
    wrong = sum(one.name in asks.errors for one in fields)
    given = 0 if asks.query is None else count_given(asks.query, group)
    note = f" ({wrong} to correct)" if wrong else f" ({given} set)" if given else ""
    return fold(session, f"load {group.name}", f"{group.value}{note}", lambda: [shown(group)])


def _periods(values: dict[str, Any]) -> Block:
    limits = (values["updated_at_from"], values["updated_at_to"])
    known = {label: tuple(map(shown_moment, ends)) for label, *ends in periods(clock.now())}
    chosen = next((label for label, ends in known.items() if ends == limits), "")
    return switch("Updated", chosen, {one: one for one in known}, "load.period", key="periods")


def _words(told: Session, fields: Sequence[FormField], state: LoadState) -> Block:
    lines = []
    for place, number in enumerate(state.rows):
        title = f"Remove word {place + 1}"
        remove = button("Remove", "load.remove_word", look="quiet", title=title, row=number)
        drawn = form(told, FORM, fields[2 * place : 2 * place + 2], look="query-word")
        # One word is cleared where it is typed.
        both = (drawn, remove) if len(state.rows) > 1 else (drawn,)
        lines.append(row(*both, key=f"word {number}", look="query-row"))
    add = button("+ Add a word", "load.add_word", look="quiet")
    hint = paragraph(WORDS_HINT, key="hint", tone="muted")
    return box(*lines, add, hint, key="words", look="query-words")


def _matching(session: Session, asks: TypedQuery) -> Iterator[Block | None]:
    if asks.query is None:
        named = {one.name: one.label for group in _groups(session).values() for one in group}
        labels = ", ".join(f"“{named.get(name, name)}”" for name in asks.errors)
        wrong = f"Nothing is counted or loaded until this is corrected: {labels}."
        yield paragraph(wrong, key="wrong", tone="problem")
    elif (count := read_for(session, "load.count", _count_key(session))) is None:
        yield paragraph("Counting matching products …", key="counting", tone="status")
    elif count.problem:
        problem = f"The products could not be counted: {count.problem}"
        yield paragraph(typed_text(problem), key="uncounted", tone="problem")
        yield button("Count again", "load.count_again", look="link")
    else:
        yield paragraph(count_text(count.value, asks.query), key="number", tone="status")


def count_text(count: int, query: ProductQuery) -> str:
    """Return how many products match, as a sentence.

    >>> count_text(1203, ProductQuery()), count_text(1, ProductQuery())
    ('1,203 products match', '1 product matches')
    """
    words = "1 product matches" if count == 1 else f"{count:,} products match"
    gtins = query.gtins_in or ()
    if len(gtins) > GTINS_PER_CALL:
        calls = -(-len(gtins) // GTINS_PER_CALL)
        words += f" (the sum of {calls:,} calls, for {len(gtins):,} GTINs)"
    return words


def _no_match(session: Session, asks: TypedQuery) -> Block | None:
    if asks.query is None or not _has_no_match(session):
        return None
    words = [word.strip() for word, _ in asks.query.search or ()]
    kinds = (last_read(session, "load.offered").value or Offered()).kinds
    instead = [
        button(_offered_word(other, named), "load.search_instead", look="link", word=word, other=other)
        for word, other, named in similar_words(kinds, words)
    ]
    line = row(paragraph("Similar words of kinds:", key="similar", tone="muted"), *instead, key="instead")
    narrower = read_for(session, "load.narrower", (asks.key,))
    said = paragraph(narrower.value, key="narrower", tone="note") if narrower and narrower.value else None
    return box(line if instead else None, said, key="no-match", look="no-match")


def _offered_word(word: str, kinds: Sequence[str]) -> list[Any]:
    # Each is what suppliers typed, and keeps its direction to itself.
    named: list[Any] = []
    for kind in kinds[:_KINDS]:
        named += [", " if named else "", typed_text(kind)]
    return [typed_text(word), " (", *named, f" and {len(kinds) - _KINDS} more)" if kinds[_KINDS:] else ")"]


def _load(told: Session, asks: TypedQuery) -> Block:
    is_loading, state, question = "load" in told.works, told.part(LoadState), _question(told)
    is_shown = not is_loading and state.report.question[0] == asks.key
    report = state.report if is_shown else LoadReport()
    off = (
        "It is loading." if is_loading else "" if asks.query is not None else "Correct what is marked first."
    )
    # It can be pressed all the same: what a service announces may be wrong.
    look = "" if _has_no_match(told) else "main"
    start = button("Load products", "load.start", key="load.start", look=look, off=off)
    title = "Save the products that were received as an incomplete snapshot"
    keep = button("Keep incomplete load", "load.start", title=title, key="keep", allow_incomplete=True)
    buttons = (start, keep) if report.can_keep else (start,)
    planned, plan = read_for(told, "load.plan", (*question, state.ended)), None
    if planned and planned.value and not is_loading and state.report.question != question:
        age = duration_in_words(clock.now() - planned.value)
        opens = (
            f"“Load products” opens the snapshot that was loaded {age} ago, without asking the service again."
        )
        plan = paragraph(opens, key="plan", tone="muted")
    return box(
        form(told, FORM, [_NAME, _AGE], *buttons, look="query-load", label="Load"),
        plan,
        work(told, "load"),
        box(*report.blocks, key="report") if report.blocks else None,
        key="load",
    )


def _code(session: Session, asks: TypedQuery) -> Iterator[Block]:
    if (query := asks.query) is None:
        return

    def block(key: str, label: str, text: str) -> list[Block]:
        return [{"kind": "code", "key": key, "label": f"{label} of the query", "text": text}]

    # A closed fold is not filled: a query with ten thousand GTINs would go to the browser twice with every change.
    how, request = "Python code", "Request as JSON"
    python = partial(as_python, query, *_name_and_age(session))
    yield fold(session, "load python", how, lambda: block("python", how, python()))
    yield fold(session, "load wire", request, lambda: block("wire", request, query.wire()))


# Shown again with each change of anything, and a query may have ten thousand GTINs.
@lru_cache(maxsize=2)
def as_python(query: ProductQuery, name: str | None, max_age: float | None) -> str:
    """Return the query and the call that loads it as Python code that runs as it is.

    >>> print(as_python(ProductQuery(target_market=250), "shop", None))
    import prodex as px
    <BLANKLINE>
    service = px.connect()
    query = px.ProductQuery(
        target_market=250,
    )
    catalog = px.load_products(service, query, name='shop')
    """
    how = "" if name is None else f", name={name!r}"
    how += "" if max_age is None else f", max_age={max_age!r}"
    # The repr of a query is Python, and leaves out what is not asked for: here it is a line for each filter.
    alone = [repr(ProductQuery(**{name: getattr(query, name)})) for name in (*FILTERS, "extra")]
    filters = [
        one.removeprefix("ProductQuery(").removesuffix(")") for one in alone if one != "ProductQuery()"
    ]
    lines = "\n".join(f"    {one}," for one in filters)
    made = f"px.ProductQuery(\n{lines}\n)" if filters else "px.ProductQuery()"
    # The repr of a point in time names its module.
    imports = "import datetime\n\nimport prodex as px" if "datetime." in made else "import prodex as px"
    return f"{imports}\n\nservice = px.connect()\nquery = {made}\ncatalog = px.load_products(service, query{how})"


def _unfinished(session: Session) -> Block | None:
    loads: tuple[UnfinishedLoad, ...] = last_read(session, "load.unfinished").value or ()
    if not loads or "load" in session.works:
        return None
    lines = []
    for one in loads[:_UNFINISHED]:
        began = one.began.isoformat()
        until = f"{one.began + RESUMABLE:%Y-%m-%d %H:%M}"
        query = "all products" if one.query in (None, ProductQuery()) else str(one.query)
        when = f", begun {one.began:%Y-%m-%d %H:%M}, until {until} "
        said = [typed_text(one.name), ": ", typed_text(query), when]
        go_on = button("Continue this load", "load.resume", look="link", name=one.name, began=began)
        lines.append(row(paragraph(said, key="said"), go_on, key=f"unfinished {one.name} {began}"))
    title = paragraph(unfinished_title(len(lines), len(loads)), key="title", tone="muted")
    return box(title, *lines, key="unfinished", look="unfinished")


# What is read meanwhile.


def load_wants(session: Session) -> Iterator[Want]:
    """Yield what the section lacks; what is only a help is left out where it cannot be had."""
    service, state, catalog = session.service, session.part(LoadState), session.catalog
    if service is None:
        return
    yield reading("load.offered", (catalog,), lambda _: offered_by(catalog))
    yield reading("load.unfinished", (state.ended,), lambda _: _resumable(service))
    if is_open(session, f"load {FieldGroup.MORE.name}"):
        yield reading("load.owners", (service,), lambda _: owners_by_name(load_organizations(service)))
    asks, question = asked_of(session), _question(session)
    if (query := asks.query) is None:
        return
    yield reading("load.count", _count_key(session), partial(count_products, service, query), delay=_PAUSE)
    if _has_no_match(session):
        tried = partial(_without_each, service, query)
        yield reading("load.narrower", (asks.key,), tried, delay=_NO_MATCH_PAUSE)
    if state.report.question != question and "load" not in session.works:
        planned = partial(_planned, service, query, *question[1:])
        yield reading("load.plan", (*question, state.ended), planned, delay=_PAUSE)


def _planned(
    service: Client, query: ProductQuery, name: str | None, age: float | None, _: Reporter
) -> datetime | None:
    """Return when the snapshot was loaded that a load would open."""
    found = reusable_snapshot(service, query, name, age)
    return None if found is None else found.origin.loaded_at


def _resumable(service: Client) -> tuple[UnfinishedLoad, ...]:
    """Return the loads from a service that the same call would continue."""
    return tuple(
        one
        for one in unfinished_loads(snapshots_folder())
        if one.is_resumable and one.asked == question_to(service, one.query or ProductQuery())
    )


def count_products(service: Client, query: ProductQuery, reporter: Reporter) -> int:
    """Return how many products match; a long list of GTINs is counted in several calls, between which it can end."""
    calls, total = [*query.in_calls()], 0
    with reporter.phase("Counting matching products", total=len(calls)) as show:
        for part in calls:
            total += service.count(part)
            show.add()
    return total


def _without_each(service: Client, query: ProductQuery, reporter: Reporter) -> str:
    counts = [
        f"{count_products(service, wider, reporter):,} without {left_out}"
        for left_out, wider in relaxed(query)
    ]
    return f"With one filter less: {', '.join(counts)}." if counts else ""


def relaxed(query: ProductQuery) -> list[tuple[str, ProductQuery]]:
    """Return a query without each of its filters, and what was left out, in words.

    Examples
    --------
    >>> query = ProductQuery(target_market="France", search=[("drinks", ["kind.label"])])
    >>> for left_out, wider in relaxed(query):
    ...     print(left_out, "->", wider)
    “drinks” -> ProductQuery(target_market=250)
    market -> ProductQuery(search=(('drinks', ('kind.label',)),))
    """
    # A longer list of GTINs is counted in several calls, which would be made again for each filter.
    too_long = len(query.gtins_in or ()) > GTINS_PER_CALL
    return [] if too_long else [*islice(_wider_queries(query), _MOST_TRIED)]


def _wider_queries(query: ProductQuery) -> Iterator[tuple[str, ProductQuery]]:
    words = query.search or ()
    for place, (word, _) in enumerate(words):
        others = (*words[:place], *words[place + 1 :])
        shown = word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"
        yield f"“{shown}”", replace(query, search=others or None)
    tried = {one.option.replace("-", " "): (name,) for name, one in FILTERS.items() if name not in _NOT_TRIED}
    for left_out, names in {"dates": _DATES, **tried}.items():
        if any(getattr(query, name) for name in names):
            none: dict[str, Any] = dict.fromkeys(names)
            yield left_out, replace(query, **none)
    if query.extra:
        yield "other filters", replace(query, extra={})


# What can be done.


@action("load.period")
def choose_period(session: Session, name: str) -> Session:
    """Ask for products that were updated in a period."""
    ends = next((ends for label, *ends in periods(clock.now()) if label == name), None)
    if ends is None:
        return session
    begin, end = map(shown_moment, ends)
    return session.with_typed(FORM, updated_at_from=begin, updated_at_to=end)


@action("load.add")
def add_to_list(session: Session, field: str, value: int | str) -> Session:
    """Add something that was chosen by name to a list."""
    return session.with_typed(FORM, **{field: list_with(str(_values(session).get(field, "")), str(value))})


@action("load.add_word")
def add_word(session: Session) -> Session:
    """Add a row for another word."""
    state = session.part(LoadState)
    return session.with_changed(LoadState, rows=(*state.rows, state.made), made=state.made + 1)


@action("load.remove_word")
def remove_word(session: Session, row: int) -> Session:
    """Remove the row of a word; there is always one to type in."""
    state = session.part(LoadState)
    left = tuple(one for one in state.rows if one != row)
    removed = session.with_changed(LoadState, rows=left)
    return removed if left else add_word(removed)


@action("load.search_instead")
def search_instead(session: Session, word: str, other: str) -> Session:
    """Search for another word in place of one."""
    values, state = _values(session), session.part(LoadState)
    names = [word_names(one)[0] for one in state.rows]
    return session.with_typed(FORM, **{name: other for name in names if values[name].strip() == word})


@action("load.clear")
def clear_filters(session: Session) -> Session:
    """Ask for all products."""
    return with_query(session, ProductQuery())


@action("load.count_again")
def count_again(session: Session) -> Session:
    """Count once more what could not be counted."""
    return session.with_changed(LoadState, recounts=session.part(LoadState).recounts + 1)


class _Heard:
    """What a load has counted so far, for its report."""

    def __init__(self) -> None:
        self.done = self.total = 0
        self.began, self._start = clock.now(), monotonic()

    @property
    def seconds(self) -> float:
        return monotonic() - self._start

    def beside(self, reporter: Reporter) -> Reporter:
        """Return a reporter that hears it as well."""

        def count(done: int, total: int) -> None:
            self.done, self.total = done, total
            reporter.count(done, total)

        return Reporter(reporter.tell, count)


@task("load.start")
def start_load(app: Panel, allow_incomplete: bool = False) -> None:
    """Load the products that the form asks for."""
    session = app.session
    query, (name, age), service = asked_of(session).query, _name_and_age(session), session.service
    if query is None or service is None:
        raise Refused("Nothing is loaded: correct what is marked first.")
    if name is not None:
        try:
            checked_name(name)
        except SettingsError as error:
            raise Refused(str(error), at=f"{FORM}.{_NAME.name}") from error
    heard, is_alone, began = _Heard(), len(app.sections) == 1, _question(session)

    load = partial(load_products, service, query, name=name, max_age=age, allow_incomplete=allow_incomplete)

    def cancelled(session: Session) -> Session:
        said = cancelled_text(heard.done, heard.total)
        return _reported(session, began, [paragraph(said, key="cancelled", tone="note")])

    app.run(
        "load",
        lambda reporter: load(progress=heard.beside(reporter)),
        lambda session, catalog: _loaded(session, began, catalog, heard, is_alone=is_alone),
        title="Waiting for the service",
        key="load",
        failed=partial(_failed, began=began),
        cancelled=cancelled,
    )


@task("load.resume")
def resume_load(app: Panel, name: str, began: str) -> None:
    """Go on with a load that is not finished."""
    if "load" in app.session.works:
        raise Refused("Other products are loading. Wait for them, or cancel that first.")
    service = app.session.service
    kept = () if service is None else _resumable(service)
    found = next((one for one in kept if (one.name, one.began.isoformat()) == (name, began)), None)
    if found is None:
        raise Refused("This load cannot be continued any more: it was finished or removed, or is too old.")
    query = found.query or ProductQuery()
    app.change(lambda session: with_query(session, query).with_typed(FORM, name=name, age=0))
    start_load(app)


def _reported(
    session: Session, began: tuple[Any, ...], blocks: Iterable[Block], *, can_keep: bool = False
) -> Session:
    """Return the session with what became of a load, and whether it was of what the form still asks for."""
    now = _question(session)
    is_other = now != began
    other = [paragraph(_OTHER, key="other", tone="note")] if is_other else []
    # What is kept is loaded once more with the query of the form: of another one nobody wants half of the products.
    report = LoadReport(now, (*other, *blocks), can_keep and not is_other)
    return session.with_changed(LoadState, report=report, ended=session.part(LoadState).ended + 1)


def _failed(session: Session, error: BaseException, began: tuple[Any, ...]) -> Session:
    said = paragraph(typed_text(error_text(error)), key="failed", tone="problem")
    # Only a load that the service ended early has something to keep; other errors left nothing, or the journal.
    return _reported(session, began, [said], can_keep=isinstance(error, IncompleteLoad))


def _loaded(
    session: Session, began: tuple[Any, ...], catalog: Catalog, heard: _Heard, *, is_alone: bool
) -> Session:
    now = session.looking_at(catalog)
    blocks = load_report(catalog, heard)
    if not is_alone and now.former is not None:
        back = f"Back to {catalog_label(now.former[0])}"
        said = ["All sections show these products now. “", typed_text(back), "” at the top returns."]
        blocks.append(paragraph(said, key="shown", tone="note"))
    return _reported(now, began, blocks)


def cancelled_text(done: int, total: int) -> str:
    """Return the progress of a load that was cancelled, as a sentence.

    >>> cancelled_text(3500, 12000)
    'Cancelled after 3,500 of 12,000 products. They are kept: “Load products” continues from there.'
    >>> cancelled_text(139, 139)
    'Cancelled before the snapshot was saved. All 139 products came and are kept: “Load products” continues from there.'
    """
    if not done:
        return "Cancelled before any product was received."
    if done >= total:
        came = f"Cancelled before the snapshot was saved. All {done:,} products came and are kept"
    else:
        came = f"Cancelled after {done:,} of {total:,} products. They are kept"
    return f"{came}: “Load products” continues from there."


def load_report(catalog: Catalog, heard: _Heard) -> list[Block]:
    """Return the report of a load: how many products, complete or not, when, where, and what is missing."""
    ledger = catalog.origin.ledger
    state = "complete" if catalog.complete else "incomplete"
    loaded = f"{ledger}, {state}. {_loaded_when(catalog, heard)}"
    blocks = [paragraph(loaded, key="loaded", tone="good" if catalog.complete else "note")]
    if catalog.folder is not None:
        blocks.append(paragraph(["Snapshot in ", typed_text(str(catalog.folder))], key="where", tone="muted"))
    if problems := ledger.problems:
        of = f"{min(_PROBLEMS, len(problems)):,} of {len(problems):,}"
        missing = f"Missing: {of}; all in explored.catalog.problems"
        columns = {"What": lambda one: typed_text(one[0]), "Reason": lambda one: typed_text(one[1])}
        blocks.append(paragraph(missing, key="missing"))
        blocks.append(listing(problems[:_PROBLEMS], columns, key="problems", label=missing, look="problems"))
    return blocks


def _loaded_when(catalog: Catalog, heard: _Heard) -> str:
    loaded = catalog.origin.loaded_at
    if loaded is None or loaded >= heard.began:
        return f"Loaded in {duration_in_words(heard.seconds)}."
    when = moment_in_words(loaded, zone=UTC)
    if heard.total:  # something was received, so this load has continued an earlier one
        return f"Begun at {when} and continued for {duration_in_words(heard.seconds)}."
    return f"Reused a snapshot from {when}, {duration_in_words(heard.began - loaded)} old."


LOAD = Section(
    "load", lambda _: "Load", load_view, load_wants, is_offered=lambda session: session.service is not None
)
