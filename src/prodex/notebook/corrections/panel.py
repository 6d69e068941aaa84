"""The panel of corrections: what was collected, what becomes of it, and how it is sent and proved."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import ipywidgets as w
from traitlets import Instance

from prodex.catalog import Catalog
from prodex.display.fix import state_in_words, states_in_words
from prodex.errors import InputError, ProdexError
from prodex.exploration.drafts import SentCorrections, draft_name
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.messages import counted, moment_in_words
from prodex.notebook.corrections.outcome import (
    JudgedCorrections,
    Proof,
    judge_corrections,
    not_arrived,
    profile_of,
    prove,
)
from prodex.notebook.shared.arrival_check import arrival_html, fixed_and_new, lines_of
from prodex.notebook.shared.exporting import path_of
from prodex.notebook.shared.live import LiveWidget, shown
from prodex.notebook.shared.long_tasks import Exporter, WorkRow
from prodex.notebook.shared.panel import (
    Panel,
    button,
    check_box,
    html,
    list_html,
    message_html,
    row,
    show_if,
    status_html,
    text_html,
)
from prodex.notebook.shared.sending import FixSender
from prodex.notebook.shared.state import Exploration
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Profile
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.untrusted_text import label, words
from prodex.worklists.fix import Fix
from prodex.worklists.text_corrections import TextCorrection

_HOW = "CorrectionsPanel(catalog, service=prodex.connect()) or explore(catalog, service=...)"
#: Seconds without another correction before all of them are judged.
_PAUSE = 0.2


class CorrectionsPanel(Panel):
    """The corrections of texts that were collected on product cards.

    Each is judged as the answer of a worklist is. Nothing is sent before a second press that says how many products
    and where; then the import is followed to its end, and the products are requested again: what has arrived is
    removed from the list, and everything else stays, with the reason.

    Parameters
    ----------
    catalog
        The catalogue that is corrected; may be left out with an exploration.
    exploration
        The state to share with other panels: it collects the corrections.
    service
        Where they are sent; without one they are only judged and written as a worklist.
    profile
        The checks that say what is fixed; by default those of the exploration's audit. Without an audit only what the
        service would refuse is found.

    Attributes
    ----------
    fix
        The corrections as they were judged last, or None.
    proof
        What was found at the service after the last sending, or None.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    >>> panel = CorrectionsPanel(prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}]))
    >>> panel.exploration.correct(prodex.TextCorrection("7", "namePublicLong", "fr", "Pain bis", before="Pain"))
    >>> panel.wait()
    >>> panel.fix.preview()["after"].tolist()
    ['Pain bis']
    """

    reads_for: ClassVar[float] = 2.0

    fix: Instance[Fix | None] = Instance(Fix, allow_none=True)
    proof: Instance[Proof | None] = Instance(Proof, allow_none=True)

    def __init__(
        self,
        catalog: Catalog | None = None,
        *,
        exploration: Exploration | None = None,
        service: Client | None = None,
        profile: str | Path | Mapping[str, Any] | Profile | None = None,
    ) -> None:
        super().__init__("Corrections")
        if exploration is None:
            exploration = Exploration.of(catalog, None, "CorrectionsPanel")
        elif catalog is not None:
            raise InputError(
                "Give CorrectionsPanel either a catalogue, or an exploration, which has a catalogue."
            )
        self._service = (
            None if service is None else service_given(service, "CorrectionsPanel(service=service)")
        )
        self._profile = profile if profile is None or isinstance(profile, Profile) else Profile.read(profile)
        self.exploration: Exploration = exploration
        self._judged: JudgedCorrections | None = None
        self._sent: JudgedCorrections | None = None
        self._taken: tuple[TextCorrection, ...] = ()
        self._known: dict[str, dict[str, Any]] = {}
        #: The questions about corrections that are meant as they are.
        self._confirmed: dict[TextCorrection, str] = {}
        self._make()
        self.on(exploration, lambda _: self._follow(), "corrections", "unconfirmed", "catalog", "audit")
        self.on(exploration, lambda _: self._show_note(), "draft_note")
        self._show_note()
        self._follow()

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is judged, sent, proved or written; for scripts and tests."""
        for task in (self._judging, self.sender, self._proving, self._exporter):
            task.wait(seconds)
        self._judging.wait(seconds)  # what has arrived changes what is to be judged

    def _make(self) -> None:
        self._judging: WorkRow[JudgedCorrections] = WorkRow(
            self,
            self._show,
            self._not_judged,
            cancelled=lambda: self.show_message(
                "Not judged. Change a correction to judge all of them again."
            ),
            after=PATIENCE,
            delay=_PAUSE,
            is_dropped=True,
        )
        self._note, self._about, self._result = (html("", "said-of") for _ in range(3))
        self.list: LiveWidget = LiveWidget(
            self,
            "corrections",
            {
                "open": self._open,
                "remove": self._remove,
                "again": self._collect_again,
                "confirm": self._confirm,
            },
        )
        self.check: w.Button = button("Check what has arrived", tooltip="Request the products, and compare")
        self.clear: w.Button = button("Clear", tooltip="Remove all corrections that were not sent")
        self.undo: w.Button = button("Undo")
        self._proving: WorkRow[Proof] = WorkRow(
            self,
            self._proved,
            self._not_proved,
            cancelled=lambda: self._say_of_proof("Cancelled."),
            back_to=self.check,
            after=PATIENCE,
            is_dropped=True,
        )
        # What may have been sent is listed apart, and is only sent again by somebody who collects it again.
        self.sender: FixSender = FixSender(
            self, self._service, _HOW, begins=self._begin, ended=self._ended, also="unknown"
        )
        self.folder: w.Text = w.Text(description="Folder", value="corrections")
        self.replace: w.Checkbox = check_box("Replace existing files")
        self.write: w.Button = button(
            "Write a worklist", tooltip="With the new values filled in, for each owner"
        )
        self._exporter: Exporter = Exporter(self, {self.write: self._write})
        self._export: Any = w.VBox(
            [
                row(self.folder, self.write, self.replace, look="form-row"),
                self._exporter.work,
                self._exporter.line,
            ]
        )
        above = (self._note, self._about, self._judging, self.list, row(self.check, look="form-row"))
        # What takes corrections back is not on the way to what sends them.
        back = row(self.clear, self.undo, look="form-row")
        self.fill(*above, self._proving, self._result, self.sender, back, self._export)
        self.on(self.check, lambda _: self._check())
        self.on(self.clear, lambda _: self._take_back(self.exploration.corrections))
        self.on(self.undo, lambda _: self._bring_back())

    def _show_note(self) -> None:
        note = self.exploration.draft_note
        self._note.value = message_html(note) if note else ""

    def _follow(self) -> None:
        """Judge what is collected now, and show it as not judged meanwhile."""
        state = self.exploration
        self._judging.forget()
        if self._judged_now() is None:
            self.fix = self._judged = None
            self.sender.offer(None)
        if state.corrections:
            of = (state.corrections, state.catalog, self._rules(), dict(self._confirmed))
            self._judging.start(lambda _: judge_corrections(*of), "Judging the corrections")
        self._draw()

    def _rules(self) -> Profile | None:
        return self._profile or profile_of(self.exploration.audit)

    def _judged_now(self) -> JudgedCorrections | None:
        """Return what was judged last, or None if the corrections or the catalogue are others by now."""
        judged, state = self._judged, self.exploration
        return judged if judged is not None and judged.are(state.corrections, state.catalog) else None

    def _show(self, judged: JudgedCorrections) -> None:
        # Not guarded, which would remove the message of the click before; an error is shown by `_not_judged`.
        if judged.are(self.exploration.corrections, self.exploration.catalog):
            self._judged, self.fix = judged, judged.fix
            self.sender.offer(judged.fix)
            self._draw()

    def _not_judged(self, error: BaseException) -> None:
        self._draw()
        self.show_error(error)

    def _draw(self) -> None:
        state, judged = self.exploration, self._judged_now()
        corrections, fix = (state.corrections, None) if judged is None else (judged.corrections, judged.fix)
        rows = correction_rows(corrections, state.unconfirmed, fix, self._known)
        self._rows: dict[str, TextCorrection] = {one.key: one.correction for one in rows}
        self.list.view = {
            "rows": [one.view for one in rows],
            "caption": counted(len(rows), "correction"),
        }
        is_kept = draft_name(state.catalog) is not None
        is_over = self.proof is not None and not corrections and not state.unconfirmed
        # What has become of the last ones says more than that there are none.
        is_sending = self.sender.is_sending
        self._about.value = (
            ""
            if is_over
            else summary_html(corrections, state.unconfirmed, fix, is_kept, is_sending=is_sending)
        )
        show_if(self.clear, bool(corrections))
        show_if(self.undo, bool(self._taken))
        self.undo.description = f"Bring back {counted(len(self._taken), 'correction')}"
        show_if(self.check, bool(state.unconfirmed) and self._service is not None)
        show_if(self._export, fix is not None)

    def _open(self, key: str) -> None:
        if key in self._rows:
            self.exploration.product_id = None  # so that a card which is open already is scrolled into view
            self.exploration.product_id = self._rows[key].product_id

    def _remove(self, key: str) -> None:
        if (one := self._rows.get(key)) is None:
            return
        if one in self.exploration.corrections:
            self._take_back([one])
        else:
            self._settle([one])

    def _collect_again(self, key: str) -> None:
        """Collect a correction that may have been sent, to send it again."""
        if (one := self._rows.get(key)) is not None:
            self._settle([one], [one])

    def _confirm(self, key: str) -> None:
        """Take a correction that needs confirmation as it is; another question about it is asked again."""
        judged = self._judged_now()
        if judged is None or (one := self._rows.get(key)) not in judged.corrections:
            return
        place = judged.corrections.index(one)
        self._confirmed[one] = str(judged.fix.answers["reason"][place])
        self._judged = None
        self._follow()

    def _take_back(self, corrections: Collection[TextCorrection]) -> None:
        # Whoever clears by mistake has not lost what was typed.
        self._taken = tuple(corrections)
        self.exploration.withdraw(corrections)
        self._draw()

    def _bring_back(self) -> None:
        taken, self._taken = self._taken, ()
        for one in taken:
            self.exploration.correct(one)
        self._draw()

    def _write(self) -> None:
        fix, folder, replaced = self.fix, path_of(self.folder.value, "a folder"), self.replace.value
        if fix is None:
            raise InputError("There is no correction to write.")

        def write(_progress: Reporter) -> str:
            written = fix.worklist(folder, accepted=True, replace=replaced)
            return f"Exported {counted(len(written), 'worklist')} to {folder}."

        self._exporter.start(write, "Writing worklists")

    def _begin(self, fix: Fix) -> None:
        """Note on disk that these are being sent: whatever happens now, they are not sent a second time."""
        judged = self._judged
        if judged is None or judged.fix is not fix:
            raise InputError("The corrections have changed meanwhile. Look at them, and send them again.")
        accepted = judged.in_state("accepted")
        at = datetime.now(UTC).replace(microsecond=0)
        state, before = self.exploration, (self.exploration.corrections, self.exploration.unconfirmed)
        self._sent = judged
        self._result.value, self.proof, self._taken = "", None, ()
        group = SentCorrections(at, self.sender.host, accepted)
        try:
            state.collect(
                tuple(one for one in state.corrections if one not in accepted), (*state.unconfirmed, group)
            )
        except ProdexError:
            # Not noted, so not sent.
            with suppress(ProdexError):
                state.collect(*before)
            raise

    def _ended(self, fix: Fix, error: BaseException | None) -> None:
        """Collect again what certainly did not arrive, and ask the service for the rest."""
        if (sent := self._sent) is not None:
            unconfirmed = set(self._unconfirmed)
            back = [one for one in not_arrived(sent, error) if one in unconfirmed]
            self._settle(back, back)
        if fix.tracking is not None:
            self._prove(sent)

    @property
    def _unconfirmed(self) -> tuple[TextCorrection, ...]:
        """Those that may have been sent."""
        return tuple(one for group in self.exploration.unconfirmed for one in group.corrections)

    def _settle(
        self, corrections: Collection[TextCorrection], again: Collection[TextCorrection] = ()
    ) -> None:
        """Remove corrections from those that may have been sent; those of `again` are collected anew."""
        state = self.exploration
        left = [
            replace(group, corrections=tuple(one for one in group.corrections if one not in corrections))
            for group in state.unconfirmed
        ]
        # What was typed for the same text since then is newer.
        newer = {one.place for one in state.corrections}
        state.collect(
            (*state.corrections, *(one for one in again if one.place not in newer)),
            tuple(group for group in left if group.corrections),
        )

    def _check(self) -> None:
        sent = self._sent
        is_ours = sent is not None and set(self._unconfirmed) <= set(sent.corrections)
        self._prove(sent if is_ours else None)

    def _prove(self, sent: JudgedCorrections | None) -> None:
        state, wanted, service = self.exploration, self._unconfirmed, self._service
        if wanted and service is not None:
            self._say_of_proof("Requesting the products …")
            of = (sent, wanted, service, state.catalog, state.audit, self._rules())
            self._proving.start(lambda progress: prove(*of, progress), "Requesting the products")

    def _say_of_proof(self, sentence: str) -> None:
        self._result.value = status_html(sentence)

    def _proved(self, proof: Proof) -> None:
        """Remove what has arrived, and show the products of now."""
        state = self.exploration
        self.proof = proof
        self._result.value = proof_html(proof, self.sender.host)
        self._settle(proof.arrived)
        state.renew(proof.arrival.fix.catalog, proof.arrival.newest.catalog, proof.arrival.audit)

    def _not_proved(self, error: BaseException) -> None:
        if self.proof is None:
            self._result.value = ""
        self.show_error(error)


#: Rows, and bytes of a text in them: a browser has to show them all.
_ROWS, _MOST = 500, 20_000
#: Lines of what is fixed, and of what has not arrived.
_LINES = 20

#: States of corrections that are not states of an answer.
_OTHER_STATES = {"checking": "checking …", "unknown": "sent, not confirmed"}

_NOTHING = (
    "<p class='muted'>No corrections. Open the card of a product, and press ✎ beside a text: what you type is "
    "collected here, and sent only from here. Worklists that came back are sent from Quality.</p>"
)
_NO_RULES = (
    "<p class='muted'>Without an audit only what the service would refuse is found. Run one to see what is "
    "fixed.</p>"
)


@dataclass(frozen=True)
class CorrectionRow:
    """A row of the list: its key, the correction, and what the script shows."""

    key: str
    correction: TextCorrection
    view: dict[str, Any]


def correction_rows(
    corrections: Sequence[TextCorrection],
    unconfirmed: Sequence[SentCorrections],
    fix: Fix | None,
    known: MutableMapping[str, dict[str, Any]],
) -> list[CorrectionRow]:
    """Return a row for each correction.

    Parameters
    ----------
    corrections, unconfirmed
        Those that were not sent, and those that may have been.
    fix
        Has judged those that were not sent, in their order; None while they are judged.
    known
        Name and GTIN of products by id, as they were found before: what was sent is not judged again. What is found
        now is added.
    """
    answers = [known.get(one.product_id, {}) for one in corrections]
    if fix is not None:
        answers = [
            {str(name): value for name, value in one.items()} for one in fix.answers.to_dict("records")
        ]
        for one, answer in zip(corrections, answers, strict=True):
            known[one.product_id] = {name: answer[name] for name in ("name", "gtin")}
    rows = [
        _correction_row(number, one, answer)
        for number, (one, answer) in enumerate(zip(corrections, answers, strict=True))
    ]
    for sent in unconfirmed:
        at = moment_in_words(sent.at, "%Y-%m-%d %H:%M:%S", UTC)
        answer = {
            "state": "unknown",
            "reason": f"Sent to {sent.to} at {at}; it is not known to have arrived.",
        }
        rows += [
            _correction_row(len(rows) + number, one, known.get(one.product_id, {}) | answer)
            for number, one in enumerate(sent.corrections)
        ]
    return rows[:_ROWS]


def _correction_row(number: int, one: TextCorrection, answer: dict[str, Any]) -> CorrectionRow:
    state = answer.get("state", "checking")
    key = json.dumps([number, *one.place])
    product = label(answer.get("name") or f"product {one.product_id}").text
    language = language_label(one.language_code or str(one.language))
    view = {
        "key": key,
        "product": product,
        "gtin": answer.get("gtin") or "",
        "attribute": attribute_title(one.attribute),
        "language": language,
        "lang": (one.language_code or str(one.language))[:2],
        "label": f"{attribute_title(one.attribute)}, {language}, {product}",
        "was": None if one.before is None else shown(words(one.before, _MOST)),
        "now": None if one.text is None else shown(words(one.text, _MOST)),
        "state": state.replace(" ", "-"),
        "title": _OTHER_STATES.get(state) or state_in_words(state),
        "reason": words(answer.get("reason") or "").text,
        "isSent": state == "unknown",
        "isAsked": state == "needs confirmation",
    }
    return CorrectionRow(key, one, view)


def summary_html(
    corrections: Sequence[TextCorrection],
    unconfirmed: Sequence[SentCorrections],
    fix: Fix | None,
    is_kept: bool,
    *,
    is_sending: bool = False,
) -> str:
    """Return how many corrections there are, what becomes of them, and what they fix.

    Parameters
    ----------
    corrections, unconfirmed, fix
        As for `correction_rows`.
    is_kept
        Whether they are kept on disk.
    is_sending
        Whether the unconfirmed ones are being sent at the moment.
    """
    if not corrections and not unconfirmed:
        return _NOTHING
    parts = []
    if corrections:
        products = counted(len({one.product_id for one in corrections}), "product")
        states = "checking …" if fix is None else states_in_words(fix)
        parts.append(
            f"<b>{counted(len(corrections), 'correction')}</b> of {products}, not sent yet: {states}."
        )
    if sent := sum(len(one.corrections) for one in unconfirmed):
        state = ("is" if sent == 1 else "are") + " being sent" if is_sending else "may have been sent"
        parts.append(f"<b>{counted(sent, 'correction')}</b> {state}.")
    shown_all = len(corrections) + sent
    if shown_all > _ROWS:
        parts.append(f"{_ROWS} of them are listed.")
    if not is_kept:
        parts.append(
            "This catalogue is not saved, so they are lost with the kernel: catalog.save(name) keeps them."
        )
    effect = "" if fix is None else effect_html(fix)
    return f"<p role='status'>{' '.join(parts)}</p>{effect}"


def effect_html(fix: Fix) -> str:
    """Return what the accepted corrections would fix, and what would newly fail."""
    if not fix.counts["accepted"]:
        return ""
    if not fix.profile.checks:
        return _NO_RULES
    effect = fix.effect()
    sentence = f"By the checks of {fix.profile.title or fix.profile.name}: {fixed_and_new(effect)}."
    return f"<p>{text_html(sentence)}</p>{list_html(lines_of(effect, 'newly failing'))}"


def proof_html(proof: Proof, host: str) -> str:
    """Return what has arrived, what was fixed by it, and what has not arrived, and why that is thought."""
    arrived_html = arrival_html(len(proof.arrived) + len(proof.missing), proof.missing, proof.arrival, host)
    texts = [
        (attribute_title(one.attribute), "deleted" if one.text is None else label(one.text).text)
        for one in proof.arrived
    ]
    items = "".join(f"<li>{text_html(name)}: {text_html(text)}</li>" for name, text in texts[:_ROWS])
    listed = (
        f"<details><summary>{counted(len(texts), 'text')} that arrived</summary><ul>{items}</ul></details>"
    )
    return arrived_html + listed if texts else arrived_html
