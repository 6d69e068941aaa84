"""Answers as a value: what is accepted, what is not and why, how they are sent, and what has arrived.

Some people correct the cell "Value seen" and leave "New value" empty. That is not taken for an answer, and must not be
lost either: the key of a row shows that its cell was typed over. Without a key, the cell is compared with the
product, and counts as typed over only if nothing else explains the difference.

Sending asks for the products once more, so that answers are merged with the newest values.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import Argument, advice
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog
from prodex.catalog.where import without_products
from prodex.errors import InputError
from prodex.executors import without_collecting
from prodex.files.lock import user_name
from prodex.gtin import gtin_key, has_digits
from prodex.languages import Message, Said
from prodex.locales import short_of
from prodex.progress import Progress
from prodex.quality.audit import Audit
from prodex.quality.comparison import AuditComparison, compare_audits
from prodex.quality.profile import Profile
from prodex.query import ProductQuery
from prodex.send.known_products import KnownProducts, received_products
from prodex.send.products_now import products_now
from prodex.send.records import Product
from prodex.send.sending import read_also
from prodex.send.sending_rule import SentBefore
from prodex.send.tracking import Tracking
from prodex.send.upsert import Author
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.store.reading import flatten
from prodex.tables.plain_walk import product_key
from prodex.worklists.acceptance_requests import accept_requests
from prodex.worklists.answer_kinds import AnswerShape, Shapes
from prodex.worklists.answer_outcomes import (
    AnswerState,
    ConcernedProducts,
    Confirmed,
    Decision,
    assign_product,
    decide_answers,
)
from prodex.worklists.answer_rows import (
    COLUMNS,
    PLACE,
    PREVIEW,
    ROWS,
    SENT,
    TYPED,
    Names,
    answer_row,
    preview_row,
    problem_row,
    product_names,
    reason_of,
    row_count,
    sent_rows,
)
from prodex.worklists.evidence import alike, same_moment, visible_text
from prodex.worklists.judging import ARRIVED, JudgedAnswers, judge_answers, judge_decisions, mark_arrived
from prodex.worklists.ownership import Owners, identify_sources, is_same_service, service_in_words
from prodex.worklists.pending_updates import PendingUpdates, pending_attributes, pending_updates
from prodex.worklists.returned_files import (
    Answer,
    AnswerSheet,
    CellNote,
    CellPlace,
    Returned,
    file_name,
    place_in_words,
)
from prodex.worklists.row_keys import key_of
from prodex.worklists.sent_answers import NOT_SENT, SentAnswers

#: State and reason of answers, by their number.
AnswerStates: TypeAlias = Mapping[int, tuple[AnswerState, str]]


@dataclass(frozen=True)
class MadeBy:
    """Where corrections come from, and what else is known of them.

    Attributes
    ----------
    why
        In words, for those who look back at what was sent: "worklist food.xlsx", "recipe brand-spelling".
    by
        Who makes them; None for the user of this machine.
    steps
        One row for each step of a recipe, of corrections of many products; it gets what becomes of each answer, by
        its number.
    step_rows
        The same value by value.
    write_recipe
        Writes the recipe of them to a file; None where there is none.
    """

    why: str = ""
    by: str | None = None
    steps: Callable[[AnswerStates], pd.DataFrame] | None = field(default=None, repr=False)
    step_rows: Callable[[AnswerStates], pd.DataFrame] | None = field(default=None, repr=False)
    write_recipe: Callable[[Path], Path] | None = field(default=None, repr=False)


@dataclass
class Fix:
    """Answers: those in worklists, or corrections that were typed.

    Made by `prodex.read_worklist`, `prodex.correct` and `prodex.correct_from`.

    Attributes
    ----------
    catalog
        The products that they are about.
    profile
        The checks that judge them.
    tracking
        What became of them at the service, from before the first call that `apply` makes; None if nothing was sent.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "eng-GB"}, "data": "BREAD WITH SEEDS"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> rows = prodex.audit(catalog, {"checks": {"names_not_in_capitals": {}}}).worklist_rows()
    >>> fix = prodex.read_worklist(rows.assign(new_value="Bread with seeds"), catalog)
    >>> fix.preview()[["before", "after"]].values.tolist()
    [['BREAD WITH SEEDS', 'Bread with seeds']]
    """

    catalog: Catalog = field(repr=False)
    profile: Profile = field(repr=False)
    _returned: Returned = field(default_factory=Returned, repr=False)
    _judged: JudgedAnswers | None = field(default=None, repr=False)
    _now: datetime = field(default_factory=datetime.now, repr=False)
    _names: Names = field(default_factory=dict, repr=False)
    _confirmed: Confirmed = field(default_factory=dict, repr=False)
    _sent: SentAnswers = field(default_factory=SentAnswers, repr=False)
    _requests: tuple[Decision, ...] = field(default=(), repr=False)
    _made_by: MadeBy = field(default_factory=MadeBy, repr=False)
    #: Where GTINs are looked for, and what rules compare products with: more than the catalogue if that was chosen.
    _among: Catalog | None = field(default=None, repr=False)

    @property
    def _every(self) -> Catalog:
        return self.catalog if self._among is None else self._among

    @property
    def why(self) -> str:
        """Where the corrections come from, in words: what the file of an upsert says of them."""
        if self._made_by.why:
            return self._made_by.why
        names = sorted({file_name(one.file) for one in self._returned.answers if one.file})
        if not names:
            return TYPED
        return f"{'worklist' if len(names) == 1 else 'worklists'} {', '.join(names)}"

    @property
    def by(self) -> str | None:
        """Who makes the corrections, as it was given; None for the user of this machine."""
        return self._made_by.by

    @property
    def tracking(self) -> Tracking | None:
        """What became of the answers at the service; see the class."""
        return self._sent.tracking

    @property
    def files(self) -> int:
        """Number of files that were read, or could not be."""
        return self._returned.files

    @property
    def rows(self) -> int:
        """Number of rows that were read, with an answer or without: all below headings that are not empty.

        Each of them is counted in one column of `row_counts`. Of corrections that were typed, each is a row.
        """
        return int(self.row_counts["rows"].sum())

    @property
    def unanswered(self) -> int:
        """Number of rows without an answer."""
        return int(self.row_counts["without an answer"].sum())

    @property
    def row_counts(self) -> pd.DataFrame:
        """How many rows of each sheet are in which state: file, sheet, rows, the states of answers, without an answer.

        The row of a cell that could not be read is "refused"; so are rows whose sheet has lost a column. A row with
        several answers is in the state that needs most attention: "refused", "conflict", "needs confirmation",
        "accepted", "unchanged". So in each line, `rows` is the sum of the columns behind it. Files that could not be
        read at all have no line; `refused` lists them.
        """
        states: dict[tuple[str, str | None], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for one, (state, _) in zip(self._decisions, self._states(), strict=True):
            file, sheet, row, *_ = one.answer
            states[file, sheet][row].add(state)
        for one in self._requests:
            file, sheet, row, *_ = one.answer
            states[file, sheet][row].add(one.state)
        for problem in self._returned.problems:
            if problem.cell is not None and problem.row is not None:
                states[problem.file, problem.sheet][problem.row].add(AnswerState.REFUSED)
        sheets = self._returned.sheets or [
            AnswerSheet(file, sheet or "", len(rows)) for (file, sheet), rows in states.items()
        ]
        counts = [row_count(one, states[one.file, one.sheet]) for one in sheets]
        return pd.DataFrame(counts, columns=list(ROWS))

    @property
    def notes(self) -> pd.DataFrame:
        """What somebody typed beside rows without an answer: file, sheet, row, cell, column, text, gtin, attribute.

        These are cells in columns that a worklist does not have, cells such as "Name" and "How to answer" that were
        typed over, and comments at cells. Nothing of it is sent: what is meant as an answer belongs into "New value".
        """
        return pd.DataFrame(self._returned.notes, columns=list(CellNote._fields), dtype=object)

    @property
    def steps(self) -> pd.DataFrame:
        """What the steps of a recipe did, one row each; without rows where there is no recipe.

        See `prodex.apply_recipe` for its columns.
        """
        return (
            pd.DataFrame() if self._made_by.steps is None else self._made_by.steps(self._states_by_number())
        )

    @property
    def step_rows(self) -> pd.DataFrame:
        """What the steps of a recipe did value by value; without rows where there is no recipe.

        Its columns are step, product_id, gtin, attribute, language, before, after, state and reason. `before` and
        `after` are what the step found and left; the state is "changed", "already_so", "refused",
        "needs_confirmation" or "conflict", as the value is judged in the end.
        """
        made_by = self._made_by
        return pd.DataFrame() if made_by.step_rows is None else made_by.step_rows(self._states_by_number())

    def _states_by_number(self) -> dict[int, tuple[AnswerState, str]]:
        decisions = zip(self._decisions, self._states(), strict=True)
        return {one.answer.row: (state, str(reason)) for one, (state, reason) in decisions}

    def recipe(self, path: str | Path) -> Path:
        """Keep what was done as a recipe: a short file to read, to edit, and to use on other products.

        Parameters
        ----------
        path
            The file, such as "brand-spelling.toml".

        Raises
        ------
        InputError
            When there is no recipe: of answers in worklists, of texts that were typed, and of functions.
        """
        if self._made_by.write_recipe is None:
            raise InputError(
                f"There is no recipe of this ({self.why}): what is kept are the named operations of prodex.correct. "
                "A worklist keeps single answers: fix.worklist(folder, accepted=True)."
            )
        return self._made_by.write_recipe(Path(path))

    @property
    def owners(self) -> pd.DataFrame:
        """The owners whose products the answers are about: owner, products, answers, the most answers first.

        `owner` is None for products without one, and for answers whose product is not known.
        """
        # Few rows, and every repr asks for them: pandas would take most of its time to group them.
        products: dict[str | None, list[str | None]] = {}
        for row, *about in self.answers[["row", "owner", "product_id"]].itertuples(index=False):
            if not is_missing(row):
                owner, product = (None if is_missing(one) else one for one in about)
                products.setdefault(owner, []).append(product)
        most_first = sorted(products, key=lambda owner: -len(products[owner]))
        counts = [(len({*products[owner]} - {None}), len(products[owner])) for owner in most_first]
        frame = pd.DataFrame(counts, columns=["products", "answers"], dtype="int64")
        frame.insert(0, "owner", pd.Series(most_first, dtype=object))
        return frame

    @property
    def ignored(self) -> list[str]:
        """Files in a folder that are neither workbooks nor CSV, which were not read."""
        return list(self._returned.ignored)

    @property
    def answers(self) -> pd.DataFrame:
        """One row for each filled cell, and for each file that could not be read: its place, what it is about.

        `value` is what the worklist showed, `before` what the product has, `answer` what was typed; `state` is
        "accepted", "unchanged", "refused", "conflict" or "needs confirmation", and `reason` says why. Once `apply` was
        called, answers that the service refused are "refused" too, with its message. What a supplier wrote under
        "Accept because" needs confirmation, with the words as `answer`: see `accept`.
        """
        reasons = iter(self._reasons())
        rows = [
            answer_row(one, state, next(reasons), self._names)
            for one, (state, _) in zip(self._decisions, self._states(), strict=True)
        ]
        rows += [answer_row(one, one.state, next(reasons), self._names) for one in self._requests]
        rows += [problem_row(one, next(reasons)) for one in self._returned.problems]
        return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)

    def _reasons(self) -> list[Said]:
        """Return why each of the answers is in its state, row by row of `answers`."""
        own = [reason_of(one, *state) for one, state in zip(self._decisions, self._states(), strict=True)]
        asked = [reason_of(one, one.state, one.reason) for one in self._requests]
        return [*own, *asked, *(one.problem for one in self._returned.problems)]

    @property
    def accepted(self) -> pd.DataFrame:
        """The answers that are sent, as rows of `answers`."""
        return self._with(AnswerState.ACCEPTED)

    @property
    def unchanged(self) -> pd.DataFrame:
        """Answers that change nothing: the product has the value already, or another row has the same answer."""
        return self._with(AnswerState.UNCHANGED)

    @property
    def refused(self) -> pd.DataFrame:
        """Answers that cannot be used, and cells that cannot be read, each with the reason and what to do."""
        return self._with(AnswerState.REFUSED)

    @property
    def conflicts(self) -> pd.DataFrame:
        """Answers that somebody has to decide: two say different things, or the product changed, is gone or waits."""
        return self._with(AnswerState.CONFLICT)

    @property
    def needs_confirmation(self) -> pd.DataFrame:
        """Answers that may not be meant, each with its question as `reason`: they are sent once they are confirmed."""
        return self._with(AnswerState.NEEDS_CONFIRMATION)

    def confirm(self, answers: pd.DataFrame | None = None) -> Fix:
        """Answer with yes what needs confirmation: these answers are meant as they are, and `apply` may send them.

        Only the questions that `needs_confirmation` shows now are confirmed. Where a confirmed answer raises another
        one (the product has changed meanwhile, say), it needs confirmation again.

        Parameters
        ----------
        answers
            Rows of `needs_confirmation`; by default all of them.

        Returns
        -------
        Fix
            This one, judged again.

        Raises
        ------
        InputError
            When the rows are not of `needs_confirmation`, or the answers have been sent already.
        """
        if self.tracking is not None:
            raise InputError(
                "These answers have been sent already. Read the worklists again to confirm and send what is left."
            )
        asked = {
            one.answer.cell_place: one
            for one in self._decisions
            if one.state is AnswerState.NEEDS_CONFIRMATION
        }
        chosen = self.needs_confirmation if answers is None else answers
        places = _places_in(
            "answers", chosen, "Give rows of fix.needs_confirmation, or nothing to confirm all."
        )
        requests = {one.answer.cell_place for one in self._requests}
        if answers is None:
            # These are no answers to send: `accept` is for them.
            places = [place for place in places if place not in requests]
        if requests and not places:
            return self
        if asks := [one for one in places if one in requests]:
            raise InputError(
                f"{place_in_words(*asks[0])} asks to accept a finding, and is no value. fix.accept() accepts it."
            )
        if wrong := [one for one in places if one not in asked]:
            raise InputError(
                f"{place_in_words(*wrong[0])} does not need confirmation. Give rows of fix.needs_confirmation, or "
                "nothing to confirm all of them."
            )
        confirmed = dict(self._confirmed)
        for place in places:
            confirmed[place] = confirmed.get(place, frozenset()) | set(asked[place].questions)
        products = find_products(self._every, self._known().products, KnownProducts.of(self._every))
        self._confirmed, self._sent.judged = confirmed, None
        self._judged = judge_answers(
            self._returned.answers, products, self._every, self.profile, self._now, confirmed
        )
        return self

    @property
    def requests(self) -> pd.DataFrame:
        """What suppliers wrote under "Accept because", as rows of `answers`: the analyst decides, with `accept`."""
        places = {one.answer.cell_place for one in self._requests}
        answers = self.answers
        own = [one in places for one in _places_in("answers", answers)]
        return answers[own].reset_index(drop=True)

    def accept(
        self,
        requests: pd.DataFrame | None = None,
        *,
        by: str | None = None,
        until: str | date | None = None,
        to: str | Path | None = None,
    ) -> Audit:
        """Accept the findings that suppliers ask to accept; their words are quoted as the reason.

        Parameters
        ----------
        requests
            Rows of `requests`; by default all that need confirmation.
        by, until, to
            As for `prodex.accept`: `by` is who decides, the user by default.

        Returns
        -------
        Audit
            The audit of these products, with what is accepted now.

        Raises
        ------
        InputError
            When the rows are no requests, none is open, or a finding is not there as the supplier has seen it.
        """
        asked = {
            one.answer.cell_place: one
            for one in self._requests
            if one.state is AnswerState.NEEDS_CONFIRMATION
        }
        places = list(asked)
        if requests is not None:
            places = _places_in("requests", requests, "Give rows of fix.requests, or nothing for all.")
        if wrong := [one for one in places if one not in asked]:
            raise InputError(
                f"{place_in_words(*wrong[0])} asks for nothing that is open. Give rows of fix.requests."
            )
        if not places:
            raise InputError('Nobody asks to accept a finding: the column "Accept because" is empty.')
        chosen = [asked[place] for place in places]
        made = accept_requests(chosen, self.catalog, self.profile, self._now, by=by, until=until, to=to)
        done = set(places)
        self._requests = tuple(
            replace(one, state=AnswerState.UNCHANGED, reason=Message("its finding is accepted now."))
            if one.answer.cell_place in done
            else one
            for one in self._requests
        )
        return made

    @property
    def counts(self) -> Counter[str]:
        """Number of answers by state."""
        return Counter(self.answers["state"].tolist())

    @property
    def outcomes(self) -> Counter[str]:
        """Number of accepted answers by the status of their product at the service; none before `apply`."""
        return Counter(status for status, _ in self._outcomes().values())

    @property
    def waiting(self) -> PendingUpdates:
        """The attributes of which an update waits, by product id: an answer about one of them is a conflict."""
        return {} if self._judged is None else self._known().waiting

    @property
    def before(self) -> Audit:
        """The audit of the products concerned as they are; rules that compare products look at the whole catalogue."""
        return self._known().before

    @property
    def after(self) -> Audit:
        """The audit of the same products with the accepted answers."""
        return self._known().after

    def preview(self) -> pd.DataFrame:
        """Return the accepted answers, old and new side by side, whose products they are, and where they are from.

        Its columns are owner, gtin, name, attribute, language, before, after, check, says, file, sheet, cell. `says` is
        a remark: that a rule cannot judge it yet.
        """
        rows = [
            preview_row(one, self._names)
            for one, (state, _) in zip(self._decisions, self._states(), strict=True)
            if state is AnswerState.ACCEPTED
        ]
        return pd.DataFrame(rows, columns=list(PREVIEW), dtype=object)

    def effect(self) -> AuditComparison:
        """Return what the audit would then say of the products concerned: fixed, and newly failing.

        >>> import prodex
        >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "ACME  Riz"}]
        >>> catalog = prodex.flatten([{"gtin": "03036811359935", "namePublicLong": name}])
        >>> trim, profile = prodex.operations.TrimSpaces(), {"checks": {"texts_without_stray_spaces": {}}}
        >>> prodex.correct(catalog, "namePublicLong", trim, profile=profile).effect().figures.loc["failed"].to_dict()
        {'old': 1, 'new': 0}
        """
        return compare_audits(self.before, self.after)

    def apply(
        self,
        service: Client,
        *,
        also: str | Collection[str] = (),
        elsewhere: bool = False,
        progress: Progress = None,
    ) -> Tracking:
        """Send the accepted answers, merged with the values beside them, and nothing else.

        The products are requested first. Where they have changed, the answers are judged again by what the products are
        now: those whose place has changed meanwhile become conflicts, and the others are merged with the newest values.

        Each answer is sent once, also when this is interrupted and called again for the same answers, here or in
        another process: what was sent is followed, and only the rest is sent. Where a reply was lost, the product shows
        whether the answer has arrived; it is not sent again while the service may still import it, for a day by the
        clock of the service. Where an upsert from this machine may still write something else to the same field, an
        answer is a conflict until then.

        Where several calls are made, each looks at its products once more. What somebody has changed while the calls
        before it were made is left out of it, and is "not sent": apply the answers again.

        Parameters
        ----------
        service
            From `prodex.connect`: the service from which the catalogue was loaded.
        also
            "unknown" to send again what may have arrived already.
        elsewhere
            Send them also to another service, or where the catalogue was loaded from files or records.
        progress
            As for `prodex.upsert`.

        Returns
        -------
        Tracking
            `.wait()` follows the import to its end; it is kept as `tracking`, so that `refused` has what the service
            refused. It includes what earlier calls have sent of these answers.

        Raises
        ------
        InputError
            When no answer is accepted, none is left to send, or the products are not of this service.
        ServiceError
            When the service cannot be reached; nothing was sent now.
        ChangesStale
            When a product was changed since it was requested, a moment ago; nothing was sent now.
        SnapshotLocked
            When another process is sending some of these products; nothing was sent now.
        """
        service = service_given(service, "fix.apply(service)")
        words = read_also(also, {"unknown"})
        asked = self._asked()
        if not asked.changes.writes:
            raise InputError(f"No answer is accepted, so there is nothing to send. {self!r}")
        if not elsewhere and (question := self.asks_where(service)) is not None:
            raise InputError(
                advice("{question} If so, pass {it}.", question=question, it=Argument("elsewhere", True))
            )
        # Before the products are requested: they show all that imports have written until now.
        gtins = [one.gtin for one in asked.changes.writes.values()]
        before = SentBefore.look(service, gtins, gives_up_lost=bool(words))
        newest, products = self._judged_now(service, asked, is_continued=bool(before.calls))
        left, ruling = self._sent.judge(asked, newest, products, before)
        if left.writes:
            author = Author(self.by or user_name(), self.why)
            return self._sent.send(service, left, before, ruling, progress, products, author)
        if not ruling.upserts:
            raise InputError(
                "The products were requested again, and no answer is left to send: see .conflicts and .refused. "
                f"{self!r}"
            )
        return self._sent.follow(service, ruling)

    def _judged_now(
        self, service: Client, asked: JudgedAnswers, *, is_continued: bool
    ) -> tuple[JudgedAnswers, list[Product]]:
        """Return the accepted answers as judged by the products of now, and these products."""
        chosen = [one for one in asked.decisions if _is_judged_again(one)]
        ids = {one.product for one in chosen if one.product is not None}
        records = request_products(service, self.catalog, ids)
        if are_as_judged(records, self.catalog, ids):
            return asked, records
        catalog = replace_products(self._every, records, ids)
        products = find_products(catalog, ids, KnownProducts.of(catalog))
        answers = [_with_what_was_previewed(one) for one in chosen]
        judged_again = iter(decide_answers(answers, products, catalog, self._confirmed))
        kept = [next(judged_again) if _is_judged_again(one) else one for one in asked.decisions]
        newest = judge_decisions(kept, products, catalog, self.profile, self._now)
        if is_continued:
            newest = mark_arrived(newest, self._known(), products)
        # What was refused before is about products that were not requested again.
        waiting = {**asked.waiting, **newest.waiting}
        return replace(newest, before=asked.before, after=asked.after, waiting=waiting), records

    def asks_where(self, service: Client) -> str | None:
        """Return the question to ask before answers are sent to a service other than the catalogue's; else None.

        Parameters
        ----------
        service
            From `prodex.connect`.
        """
        source = self.catalog.origin.source
        if is_same_service(source, service.base_url):
            return None
        return (
            f"The products come from {source:.80}, and the answers would be sent to "
            f"{service_in_words(service.base_url)}. Is that meant?"
        )

    @property
    def sent(self) -> pd.DataFrame:
        """What became of each product that was sent: product_id, gtin, name, status, message; no row before `apply`.

        `status` is that of `Tracking.products`.
        """
        tracking = self.tracking
        rows = [] if tracking is None else sent_rows(self._known().changes, tracking, self._names)
        return pd.DataFrame(rows, columns=list(SENT), dtype=object)

    def recheck(self, service: Client) -> Fix:
        """Judge the same answers by the products as the service has them now; nothing is sent.

        What has arrived is `unchanged` in the result, since its product has the value. `prodex.diff(fix.before,
        result.before)` shows what was fixed, and `result.catalog` is this catalogue with the products of now.

        Parameters
        ----------
        service
            From `prodex.connect`.

        Raises
        ------
        ServiceError
            When the service cannot be reached.

        Examples
        --------
        >>> import prodex
        >>> service = prodex.connect("sandbox")
        >>> catalog = prodex.load_products(service).head(3)
        >>> name = catalog.texts.query("attribute == 'namePublicLong'").iloc[0]
        >>> place = {"position": name["position"], "language_code": name["language_code"]}
        >>> same = prodex.TextCorrection(name["product_id"], "namePublicLong", None, name["text"], **place)
        >>> prodex.correct_from([same], catalog).recheck(service).counts
        Counter({'unchanged': 1})
        """
        service = service_given(service, "fix.recheck(service)")
        ids = {one.product for one in self._decisions if one.product is not None}
        # Those that cannot be requested are not gone: they stay as they were.
        asked = _with_a_gtin(self.catalog, ids)
        records = request_products(service, self.catalog, asked)
        newest = replace_products(self._every, records, asked)
        chosen = newest if self._among is None else replace_products(self.catalog, records, asked)
        products = find_products(newest, ids, KnownProducts.of(newest))
        made = judge_answers(
            self._returned.answers, products, newest, self.profile, self._now, self._confirmed
        )
        if made is not None and self.tracking is not None:
            made = mark_arrived(made, self._known(), products)
        # For the others, only the attributes that were requested then are known.
        catalog = replace(chosen, origin=self.catalog.origin)
        return Fix(
            catalog,
            self.profile,
            self._returned,
            made,
            self._now,
            self._names,
            self._confirmed,
            _requests=self._requests,
            _made_by=self._made_by,
            _among=None if self._among is None else replace(newest, origin=self.catalog.origin),
        )

    def worklist(
        self,
        folder: str | Path,
        by: str = "owner",
        *,
        accepted: bool = False,
        replace: bool = False,
        language: str | None = None,
        languages: Mapping[str, str] | None = None,
    ) -> pd.DataFrame:
        """Write what was refused, is in conflict or needs confirmation as worklists again, one for each owner.

        Parameters
        ----------
        folder
            The folder, which must be new or empty.
        by
            As for `Audit.worklists`.
        accepted
            Write the accepted answers as well, with "New value" filled in: for somebody else to look at and send.
        replace
            Replace worklists that were written there before.
        language, languages
            As for `Audit.worklists`; by default each owner gets them in the language of the worklist that came back.

        Returns
        -------
        pandas.DataFrame
            As `Audit.worklists` returns it; the column "What is wrong" has each answer and why it was not taken.
        """
        from prodex.worklists.follow_up import write_follow_up

        options = {"accepted": accepted, "replace": replace}
        return write_follow_up(self, folder, by, **options, language=language, languages=languages)

    @property
    def languages_of_owners(self) -> dict[str | None, str]:
        """The languages of the worklists that came back, by what their owners are known by.

        Where those of one owner are in several languages, none is known.
        """
        found: dict[str | None, set[str]] = {}
        for sheet in (one for several in self._returned.hidden_sheets.values() for one in several):
            for owner in sheet.owners or ():
                found.setdefault(owner, set()).add(sheet.language)
        return {owner: next(iter(several)) for owner, several in found.items() if len(several) == 1}

    @property
    def _decisions(self) -> tuple[Decision, ...]:
        return () if self._judged is None else self._known().decisions

    def _asked(self) -> JudgedAnswers:
        """Return the answers as they were judged when they were read, or confirmed."""
        if self._judged is None and not self.files and not self._returned.problems:
            raise InputError(f"There is nothing to change, and so nothing to send: {self.why}.")
        if self._judged is None:
            raise InputError(f"No answer could be assigned to a product. {self!r}")
        return self._judged

    def _known(self) -> JudgedAnswers:
        """Return the answers as they were judged last: when they were sent, if they were."""
        return self._asked() if self._sent.judged is None else self._sent.judged

    def _with(self, state: AnswerState) -> pd.DataFrame:
        answers = self.answers
        return answers[answers["state"] == state.value].reset_index(drop=True)

    def _states(self) -> list[tuple[AnswerState, Said]]:
        """Return the state and the reason of each answer, with what became of it at the service."""
        outcomes = self._outcomes()
        return [
            _state_after_sending(one, *outcomes.get(number, ("", "")))
            for number, one in enumerate(self._decisions)
        ]

    def _outcomes(self) -> dict[int, tuple[str, str]]:
        """Return status and message at the service of each accepted answer, by its number."""
        gtins = {product: gtin_key(gtin) for product, (gtin, *_) in self._names.items()}
        accepted = [
            (number, gtins.get(str(one.product), ""))
            for number, one in enumerate(self._decisions)
            if one.state is AnswerState.ACCEPTED
        ]
        return self._sent.outcomes(accepted)

    def __repr__(self) -> str:
        from prodex.display.fix import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from prodex.display.fix import html_of

        return html_of(self)


def _places_in(name: str, rows: object, advice: str = "") -> list[CellPlace]:
    """Return the places that rows of answers are about."""
    if not isinstance(rows, pd.DataFrame) or not set(PLACE) <= set(rows.columns):
        raise InputError(f"{name} is {described(rows)}. {advice}")
    return [CellPlace(*row) for row in rows[list(PLACE)].itertuples(index=False, name=None)]


def _is_judged_again(decision: Decision) -> bool:
    """Whether an answer is judged by the products of now: it is sent, or something that is sent depends on it."""
    is_needed = decision.answer.bound is not None and decision.state is AnswerState.UNCHANGED
    return is_needed or decision.state is AnswerState.ACCEPTED


def _with_what_was_previewed(decision: Decision) -> Answer:
    """Return an answer; one of a row that says nothing of what was seen was given for what the preview has shown."""
    answer = decision.answer
    is_known = answer.change is not None or answer.seen is not None
    is_of_worklist = decision.check is not None or answer.keys.get("value") or key_of(answer.keys) is not None
    return answer if is_known or is_of_worklist else answer._replace(seen=decision.changes)


def _state_after_sending(decision: Decision, status: str, message: str) -> tuple[AnswerState, Said]:
    if decision.state is not AnswerState.ACCEPTED:
        return decision.state, decision.reason or decision.note
    # Where the product has the new value, an error of the service does not matter.
    if status == "ERROR" and decision.note != ARRIVED:
        return AnswerState.REFUSED, Message("the service says {text}", text=f"{status}: {message}")
    why = message.strip(" .")
    if status in NOT_SENT:
        return AnswerState.ACCEPTED, Message("not sent yet: {said}. Apply the answers again.", said=why)
    if status == "unknown":
        return AnswerState.ACCEPTED, Message(
            "it may have been sent: {said}. Apply the answers again to look.", said=why
        )
    return AnswerState.ACCEPTED, decision.note


def make_fix(
    returned: Returned,
    catalog: Catalog,
    profile: Profile,
    now: datetime,
    only: frozenset[str | None] | None = None,
    made_by: MadeBy | None = None,
    received: Mapping[str, Product] = MappingProxyType({}),
    among: Catalog | None = None,
) -> Fix:
    """Judge answers that were read, by the checks of a profile.

    Parameters
    ----------
    returned
        As they were read.
    catalog, profile
        The products, and the checks.
    now
        The moment to which "older than" refers.
    only
        What the owners are known by whose answers are read; None for all.
    made_by
        Where they come from; by default from the files that were read.
    received
        Records of the catalogue that were read already, by product id.
    among
        The catalogue that the products were chosen from, where others of it count as well: one may have the same GTIN.
    """
    with without_collecting():
        return _fix_of(returned, catalog, profile, now, only, made_by, received, among)


def _fix_of(
    returned: Returned,
    catalog: Catalog,
    profile: Profile,
    now: datetime,
    only: frozenset[str | None] | None,
    made_by: MadeBy | None,
    received: Mapping[str, Product],
    among: Catalog | None,
) -> Fix:
    every = catalog if among is None else among
    known = KnownProducts.of(every)
    returned = identify_sources(returned, every, only)
    returned.answers += find_typed_over(returned.doubtful, every, known)
    there = dict.fromkeys(one for several in known.ids.values() for one in several)
    whose = [assign_product(one, known, there).product for one in returned.answers]
    own = [one.keys.get("product_id") for one in returned.answers]
    products = find_products(every, filter(None, [*whose, *own]), known, received)
    made = judge_answers(returned.answers, products, every, profile, now)
    requests = tuple(_needs_confirmation(assign_product(one, known, there)) for one in returned.requests)
    asking = [one.product for one in requests if one.product is not None]
    names = product_names(every, list(dict.fromkeys([*products.records, *asking])))
    origin = MadeBy() if made_by is None else made_by
    return Fix(
        catalog, profile, returned, made, now, names, _requests=requests, _made_by=origin, _among=among
    )


def _needs_confirmation(request: Decision) -> Decision:
    """Ask the analyst whether a finding is accepted; a supplier's answer alone does not do it."""
    if request.state in {AnswerState.REFUSED, AnswerState.CONFLICT}:
        return request
    words = " ".join(request.answer.text.split())
    return replace(
        request,
        state=AnswerState.NEEDS_CONFIRMATION,
        reason=Message(
            'The supplier asks to accept this finding: "{words}". If you agree, fix.accept() or --accept does it.',
            words=words,
        ),
    )


#: Attribute, language and text.
_Texts = list[tuple[str, str | None, str]]


def find_typed_over(doubtful: Sequence[Answer], catalog: Catalog, known: KnownProducts) -> list[Answer]:
    """Return the cells "Value seen" that were typed over, of those whose rows have no answer.

    Parameters
    ----------
    doubtful
        Cells that are not what the key of their row says, or whose row has none.
    catalog
        The products.
    known
        Facts of them.
    """
    if not doubtful:
        return []
    rows = catalog.arrow("products", ["product_id", "gtin", "updated_at"]).to_pylist()
    gtins = {row["product_id"]: row["gtin"] for row in rows}
    changed = {row["product_id"]: row["updated_at"] for row in rows}
    shapes = Shapes.of(catalog)
    owned = [(assign_product(one, known, gtins).product, one) for one in doubtful]
    texts = _texts_by_product(catalog, {product for product, _ in owned if product is not None})
    found, unsure = [], []
    for product, one in owned:
        if product is None:
            continue
        is_text = shapes.of_attribute(one.keys.get("attribute")) is AnswerShape.TEXT
        if key_of(one.keys) is not None:
            if not (is_text and _is_in_product(one, texts[product])):
                found.append(one)
        elif _is_of_now(one, changed[product]) and not _is_in_texts(one.text, texts[product]):
            # What a rule shows may be computed, and nobody knows of what.
            if is_text:
                found.append(one)
            elif one.keys.get("check") is None:
                unsure.append((product, one))
    if unsure:
        products = find_products(catalog, [product for product, _ in unsure], known)
        made = decide_answers([one for _, one in unsure], products, catalog)
        found += [one.answer for one in made if one.holds is False]
    return found


def _texts_by_product(catalog: Catalog, products: set[str]) -> defaultdict[str, _Texts]:
    concerned = pc.field("product_id").isin(pa.array(sorted(products), pa.string()))
    found: defaultdict[str, _Texts] = defaultdict(list)
    for row in catalog.arrow("texts", ["product_id", "attribute", "language", "text"], concerned).to_pylist():
        found[row["product_id"]].append((row["attribute"], row["language"], row["text"] or ""))
    return found


def _is_in_product(answer: Answer, texts: _Texts) -> bool:
    """Whether the place has the text of a cell, which an encoding may have changed."""
    attribute, language = answer.keys.get("attribute"), answer.keys.get("language")
    return any(
        alike(text, answer.text)
        for name, of_text, text in texts
        if name == attribute and (language is None or of_text == short_of(language))
    )


def _is_of_now(answer: Answer, changed: object) -> bool:
    """Whether a cell shows the product as it is, so that a difference was typed."""
    then = answer.keys.get("updated_at")
    if then is None:
        # Nobody knows how old a worklist without dates is; a table of one's own is new.
        return answer.keys.get("check") is None
    return changed is not None and same_moment(then, str(changed)) is True


def _is_in_texts(seen: str, texts: _Texts) -> bool:
    """Whether a product has a text, or a rule may have shown a word of one."""
    return any(alike(text, seen) or visible_text(seen) in visible_text(text) for *_, text in texts)


def find_products(
    catalog: Catalog,
    ids: Iterable[str],
    known: KnownProducts,
    received: Mapping[str, Product] = MappingProxyType({}),
) -> ConcernedProducts:
    """Return products of a catalogue by their ids; those that it does not have are left out."""
    rows = catalog.arrow("products", ["product_id", "gtin"])
    gtins = dict(zip(rows["product_id"].to_pylist(), rows["gtin"].to_pylist(), strict=True))
    wanted = [one for one in dict.fromkeys(ids) if one in gtins]
    records = {one: received[one] for one in wanted if one in received}
    records |= received_products(catalog, [one for one in wanted if one not in records])
    if catalog.as_received is None:
        waiting = {product: pending_attributes(record) for product, record in records.items()}
    else:
        waiting = pending_updates(catalog, wanted)
    return ConcernedProducts(known, gtins, records, waiting, Owners.of(catalog, list(records)))


def request_products(service: Client, catalog: Catalog, ids: Collection[str]) -> list[Product]:
    """Return products of a catalogue as the service has them now, whatever else has the same GTINs.

    Raises
    ------
    ServiceError
        When the service cannot be reached.
    """
    concerned = _is_of_products(ids)
    gtins = catalog.arrow("products", ["gtin"], concerned)["gtin"].drop_null().to_pylist()
    extra = {} if catalog.origin.query is None else catalog.origin.query.extra
    language = catalog.origin.accept_language
    # The answers about a product that is missing become conflicts.
    return [*products_now(service, gtins, extra, accept_language=language, some_may_lack=True)]


def _with_a_gtin(catalog: Catalog, ids: Collection[str]) -> set[str]:
    """Return the ids of those products that have a GTIN by which a service can be asked, or that are not there."""
    rows = catalog.arrow("products", ["product_id", "gtin"], _is_of_products(ids)).to_pylist()
    return {*ids} - {row["product_id"] for row in rows if not has_digits(row["gtin"] or "")}


def are_as_judged(records: Iterable[Product], catalog: Catalog, ids: Collection[str]) -> bool:
    """Whether these products are what a catalogue has, so that nothing about them has to be judged again."""
    # A catalogue that shows updates as accepted has other records than the service.
    if catalog.as_received is not None:
        return False
    found = {product_key(record): record for record in records}
    known = received_products(catalog, ids)
    return found == known and set(known) == set(ids)


def replace_products(catalog: Catalog, records: Sequence[Product], ids: Collection[str]) -> Catalog:
    """Return a catalogue with some of its products as the service has them now.

    They are the first, so that whoever has corrected them sees them at once; the others keep their order.

    Parameters
    ----------
    catalog
        The catalogue.
    records
        The products of now, as far as there are any.
    ids
        Which products were requested: without their records they are gone.
    """
    newest = flatten(records)
    query = None if catalog.origin.query is None else catalog.origin.query.extra
    origin = replace(catalog.origin, query=ProductQuery(extra=query or {}))
    # Without what they were before, also for whoever looks among the products that were not chosen.
    others = without_products(catalog, ids)
    return replace(catalog, parts=(*newest.parts, *others), origin=origin, as_received=None)


def _is_of_products(ids: Collection[str]) -> pc.Expression:
    return pc.field("product_id").isin(pa.array(sorted(ids), pa.string()))
