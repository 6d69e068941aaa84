"""The controls that run an audit in the background: profile, pending updates, progress and Cancel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets as w

from prodex.catalog import Catalog
from prodex.messages import counted
from prodex.notebook.boxes import VBox
from prodex.notebook.panel import Panel, button, check_box, html, row, set_busy, text_html
from prodex.notebook.work import WorkRow
from prodex.progress import PhaseObserver
from prodex.quality import Audit, Profile, profiles
from prodex.quality.run import audit
from prodex.store.reading import with_pending_updates


class RunControls(VBox):
    """The first row of an audit panel.

    Parameters
    ----------
    panel
        The panel that shows errors.
    catalog
        Returns the catalogue to audit.
    done
        Called with the audit.
    own
        The profile that is offered first.
    """

    def __init__(
        self,
        panel: Panel,
        catalog: Callable[[], Catalog],
        done: Callable[[Audit], object],
        own: str | Path | Mapping[str, Any] | Profile | None,
    ) -> None:
        self._panel, self._catalog, self._done = panel, catalog, done
        self._titles: dict[str, str] = {}
        self.profile: w.Dropdown = w.Dropdown(description="Profile", options=self._profiles(own))
        self.run: w.Button = button("Audit", "primary")
        self.include_pending: w.Checkbox = check_box(
            "Include pending updates", tooltip="Audit the products as if their pending updates were accepted"
        )
        self.work: WorkRow[Audit] = WorkRow(
            panel, self._finished, self._failed, cancelled=self._ended, back_to=self.run
        )
        self._about = html("")
        controls = (self.profile, self.include_pending, self.run)
        super().__init__([row(*controls, look="form-row"), self.work, self._about])
        panel.on(self.profile, lambda _: self._describe(), "value")
        panel.on(self.run, lambda _: self._start())
        self._describe()

    @property
    def cancel(self) -> w.Button:
        """The button that cancels the audit that runs."""
        return self.work.cancel

    def title(self, name: str) -> str:
        """Return the title of a profile by its name; the name itself if it is not offered."""
        return self._titles.get(name, name)

    def prefer(self, name: str) -> None:
        """Select a profile, if it is offered."""
        if name in [value for _, value in self.profile.options]:
            self.profile.value = name

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until no audit runs; for scripts and tests."""
        self.work.wait(seconds)

    def _profiles(
        self, own: str | Path | Mapping[str, Any] | Profile | None
    ) -> list[tuple[str, str | Profile]]:
        listed: list[tuple[str, str | Profile]] = [
            (title, name) for name, title in profiles()[["profile", "title"]].itertuples(index=False)
        ]
        self._titles = {str(name): title for title, name in listed}
        if own is None or (isinstance(own, str) and own in self._titles):
            # `sorted` is stable: the profile that was asked for comes first, and the others keep their order.
            return sorted(listed, key=lambda option: option[1] != own)
        read = own if isinstance(own, Profile) else Profile.read(own)
        self._titles.setdefault(read.name, read.title)
        return [(read.title or read.name, read), *listed]

    def _describe(self) -> None:
        chosen = self.profile.value
        profile = chosen if isinstance(chosen, Profile) else Profile.read(str(chosen))
        checks = counted(len(profile.checks), "check")
        rules = counted(len({check.rule.id for check in profile.checks}), "rule")
        self._about.value = (
            f"<p class='muted'>{text_html(profile.description)} It has {checks} from {rules}; a check is a rule with "
            "parameters, such as a language.</p>"
        )

    def _start(self) -> None:
        catalog, profile, include_pending = self._catalog(), self.profile.value, self.include_pending.value
        set_busy(self.run, is_busy=True)
        self.work.start(partial(_audited, catalog, profile, include_pending), "Auditing")

    def _finished(self, made: Audit) -> None:
        self._ended()
        # The last step may have ended before Cancel was noticed.
        if self.work.work is not None and self.work.work.is_cancelled:
            return
        with self._panel.guarded():
            self._done(made)

    def _failed(self, error: BaseException) -> None:
        self._ended()
        self._panel.show_error(error)

    def forget(self) -> None:
        """Stop the audit that runs, and drop its result."""
        self.work.forget()
        self._ended()

    def _ended(self) -> None:
        set_busy(self.run, is_busy=False)


def _audited(
    catalog: Catalog, profile: str | Profile, include_pending: bool, progress: PhaseObserver
) -> Audit:
    catalog = with_pending_updates(catalog, progress=progress) if include_pending else catalog
    return audit(catalog, profile, progress=progress)
