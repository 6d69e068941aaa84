"""Worklists with answers: choose the files, see what would change, send it, and see what has arrived."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as w
import pandas as pd

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.files.atomic import safe_name
from prodex.messages import counted
from prodex.notebook.shared.arrival_check import ArrivalCheck, arrival_html, requested_again, sent_and_missing
from prodex.notebook.shared.boxes import VBox
from prodex.notebook.shared.live import LiveWidget, shown
from prodex.notebook.shared.long_tasks import WorkRow
from prodex.notebook.shared.panel import Panel, button, html, row, show_if, status_html, styled
from prodex.notebook.shared.sending import FixSender
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit, Profile
from prodex.service import Client
from prodex.untrusted_text import label, words
from prodex.worklists.answer_rows import PLACE
from prodex.worklists.fix import Fix
from prodex.worklists.read_worklist import read_worklist
from prodex.worklists.returned_files import place_in_words

#: Rows of the list, and bytes of an answer in it: a browser has to show them all.
_ROWS, _MOST = 500, 20_000
_ENDINGS = ".xlsx,.xlsm,.csv,.tsv,.txt"
_HOW = "AuditPanel(audit, service=prodex.connect()) or explore(catalog, service=...)"


class ReturnedWorklists(VBox):
    """Files or a folder, what they would change, and a button that sends it.

    Parameters
    ----------
    panel
        The panel around it.
    service
        Where corrections are sent; without one they are only shown.
    renew
        Called with the catalogue that was judged, the same with the products of now, and their audit, once corrections
        were sent.
    accepted
        Called once a finding was accepted for the reason that a supplier gave.

    Attributes
    ----------
    asked
        The answers that need confirmation, each with a button that says it is meant.
    sender
        Sends the answers that are shown: `sender.fix`.
    check
        The button that requests the products once more, while they do not show everything that was sent.
    """

    def __init__(
        self,
        panel: Panel,
        service: Client | None,
        renew: Callable[[Catalog, Catalog, Audit | None], object] = lambda *_: None,
        accepted: Callable[[], object] = lambda: None,
    ) -> None:
        self._panel, self._service, self._renew, self._accepted = panel, service, renew, accepted
        self._sent: Fix | None = None
        self._newest: Catalog | None = None
        self._audit: Audit | None = None
        self._catalog: Catalog | None = None
        self._uploaded: tempfile.TemporaryDirectory[str] | None = None
        self.files: w.FileUpload = w.FileUpload(
            accept=_ENDINGS, multiple=True, description="Choose files", tooltip="Workbooks and CSV files"
        )
        self.folder: w.Text = w.Text(description="or folder")
        self.read: w.Button = button("Read")
        self._result = html("")
        self.sender: FixSender = FixSender(panel, service, _HOW, ended=lambda fix, _: self._follow(fix))
        self._arrived = html("")
        self.check: w.Button = button("Check what has arrived", tooltip="Request the products, and compare")
        self._checking: WorkRow[ArrivalCheck] = WorkRow(
            panel,
            self._show_arrival,
            self._not_checked,
            cancelled=self._stopped_waiting,
            back_to=self.check,
            after=PATIENCE,
        )
        self._reading: WorkRow[Fix] = WorkRow(
            panel,
            self._show,
            self._failed,
            cancelled=lambda: self._say("Cancelled."),
            back_to=self.read,
            after=PATIENCE,
            is_dropped=True,
        )
        self.asked: LiveWidget = LiveWidget(
            panel, "needs_confirmation", {"confirm": self._confirm, "all": lambda: self._confirm(None)}
        )
        source = styled(row(self.files, self.folder, self.read, look="form-row"), "export-row")
        after = (self._checking, self._arrived, row(self.check, look="form-row"))
        super().__init__(
            [
                *(html("<h3>Worklists that came back</h3>"), source, self._reading, self._result),
                *(self.asked, self.sender, *after),
            ]
        )
        show_if(self.check, False)
        panel.on(self.check, lambda _: self._check())
        panel.on(self.files, lambda _: self._read_files(), "value")
        panel.on(self.read, lambda _: self._read_folder())

    def show(self, audit: Audit, catalog: Catalog | None) -> None:
        """Judge answers by these checks and this catalogue from now on; None finds it by the files with answers."""
        self._audit, self._catalog = audit, catalog

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is read or sent; for scripts and tests."""
        self._reading.wait(seconds)
        self.sender.wait(seconds)
        self._checking.wait(seconds)

    def _read_files(self) -> None:
        if not self.files.value:
            return
        # Removed with the panel, or when other files are chosen.
        self._uploaded = tempfile.TemporaryDirectory(prefix="prodex-answers-")
        folder = Path(self._uploaded.name)
        for number, one in enumerate(self.files.value):
            # Two people may have given their files the same name.
            name = Path(safe_name(Path(one["name"]).stem) + Path(one["name"]).suffix.casefold()[:8])
            target = folder / name if not (folder / name).exists() else folder / f"{number}-{name}"
            target.write_bytes(bytes(one["content"]))
        self._start(folder)

    def _read_folder(self) -> None:
        text = self.folder.value.strip()
        if not text:
            raise InputError("Choose files, or enter the folder of the worklists that came back.")
        self._start(Path(text))

    def _start(self, path: Path) -> None:
        self._say("Reading the answers …")
        self.sender.show(None)
        self.asked.view = {}
        self._sent, self._arrived.value = None, ""
        show_if(self.check, False)
        read = partial(_read_fix, path, self._catalog, self._profile)
        self._reading.start(read, "Reading and judging the answers")

    def _show(self, fix: Fix) -> None:
        self._show_result(fix)
        self.sender.show(fix)
        if not fix.requests.empty:
            self._accepted()

    def _confirm(self, key: str | None) -> None:
        """Take one answer that needs confirmation as it is, or all of them, and judge the answers again."""
        fix = self.sender.fix
        if fix is None or fix.tracking is not None or self._reading.is_running:
            return
        self.sender.show(None)
        if key is None:
            # Answers only: each reason to accept a finding is decided on by itself.
            self._reading.start(lambda _: fix.confirm(), "Judging the answers again")
            return
        asked, requests = fix.needs_confirmation, fix.requests
        chosen = asked[[_answer_key(one) == key for one in asked.to_dict("records")]]
        if key in map(_answer_key, requests.to_dict("records")):
            self._reading.start(lambda _: self._accepting(fix, chosen), "Accepting the finding")
        else:
            self._reading.start(lambda _: fix.confirm(chosen), "Judging the answers again")

    def _accepting(self, fix: Fix, chosen: pd.DataFrame) -> Fix:
        fix.accept(chosen)
        return fix

    def _show_result(self, fix: Fix) -> None:
        """Show answers; once they were sent, with what the service refused, and what had changed there meanwhile."""
        self._result.value = f"<div role='status'>{fix._repr_html_()}</div>"
        self.asked.view = _asked_view(fix)

    def _follow(self, fix: Fix) -> None:
        """Show what was sent, and request its products: only they prove that it has arrived."""
        self._show_result(fix)
        if fix.tracking is not None:
            self._sent, self._newest = fix, fix.catalog
            self._check()

    def _check(self) -> None:
        fix, service = self._sent, self._service
        if fix is None or service is None:
            return
        self._say_of_arrival("Requesting the products …")
        # The figures of the panel are made again if they are about the products that were judged.
        profile = self._profile if self._catalog is self._newest else None
        self._checking.start(
            lambda progress: requested_again(fix, service, profile, progress), "Requesting the products"
        )

    def _show_arrival(self, arrival: ArrivalCheck) -> None:
        if self._sent is not arrival.fix:  # others are read or sent by now
            return
        every, missing = sent_and_missing(arrival)
        self._arrived.value = arrival_html(every, missing, arrival, self.sender.host)
        show_if(self.check, bool(missing))
        old, self._newest = self._newest, arrival.newest.catalog
        if old is not None:
            self._renew(old, self._newest, arrival.audit)

    @property
    def _profile(self) -> Profile | str | None:
        return None if self._audit is None else self._audit.made_by or self._audit.profile

    def _say_of_arrival(self, sentence: str) -> None:
        self._arrived.value = status_html(sentence)

    def _stopped_waiting(self) -> None:
        self._say_of_arrival("Cancelled.")
        show_if(self.check, True)

    def _not_checked(self, error: BaseException) -> None:
        self._arrived.value = ""
        show_if(self.check, True)
        self._panel.show_error(error)

    def _say(self, sentence: str) -> None:
        self._result.value = status_html(sentence)

    def _failed(self, error: BaseException) -> None:
        self._result.value = ""
        self._panel.show_error(error)


def _answer_key(answer: Mapping[Hashable, Any]) -> str:
    """Return the place of an answer, by which the page names it."""
    return json.dumps([answer[name] for name in PLACE])


def _asked_view(fix: Fix) -> dict[str, Any]:
    """Return what the list shows of the answers that need confirmation; nothing once they were sent."""
    asked = fix.needs_confirmation.to_dict("records") if fix.tracking is None else []
    rows = []
    for one in asked[:_ROWS]:
        product = label(one["name"] or f"product {one['product_id']}").text
        language = one["language"] or ""
        rows.append(
            {
                "key": _answer_key(one),
                "product": product,
                "gtin": one["gtin"] or "",
                "attribute": one["attribute"] or "",
                "language": language,
                "lang": language[:2],
                "place": place_in_words(*(one[name] for name in PLACE)),
                "label": f"{one['attribute']}, {language}, {product}",
                "answer": shown(words(one["answer"], _MOST)),
                "question": words(one["reason"]).text,
            }
        )
    listed = f" ({len(rows):,} listed)" if len(asked) > len(rows) else ""
    every = f"All {len(asked):,} are meant" if len(asked) > 1 else ""
    return {
        "rows": rows,
        "caption": f"{counted(len(asked), 'answer')} to be confirmed, and not sent{listed}",
        "all": every,
    }


def _read_fix(path: Path, catalog: Catalog | None, profile: Profile | str | None, _: Reporter) -> Fix:
    return read_worklist(path, catalog, profile=profile)
