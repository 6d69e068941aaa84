"""A profile to choose, and a button that judges a catalogue by it, in the background, with progress and Cancel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import ipywidgets as w

from prodex.catalog import Catalog
from prodex.display.audit import counted
from prodex.notebook.background import LatestTask
from prodex.notebook.panel import Panel, html, rest, typed
from prodex.quality import Audit, Profile, profiles
from prodex.quality.run import audit
from prodex.store.reading import with_pending_updates


class RunControls(w.VBox):
    """The beginning of an audit panel.

    Parameters
    ----------
    panel
        Where errors are told.
    catalog
        Gives what is to be judged.
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
        self._stop = threading.Event()
        self._judging: LatestTask[Audit] = LatestTask(self._judge, self._judged, self._failed)
        self._titles: dict[str, str] = {}
        self.profile = w.Dropdown(description="Profile", options=self._profiles(own))
        self.run = w.Button(description="Audit", layout=w.Layout(width="auto"))
        self.run.add_class("primary")
        self.cancel = w.Button(description="Cancel", layout=w.Layout(width="auto"))
        self.is_accepted = w.Checkbox(
            description="as if updates that wait were accepted", indent=False, layout=w.Layout(width="auto")
        )
        self.progress = w.IntProgress(description="Judged", min=0)
        self._about = html("")
        row = w.HBox([self.profile, self.is_accepted, self.run, self.progress, self.cancel])
        row.add_class("form-row")
        super().__init__([row, self._about])
        panel.on(self.profile, lambda _: self._describe(), "value")
        panel.on(self.run, lambda _: self._ask())
        panel.on(self.cancel, lambda _: self._cancel())
        self._busy(False)
        self._describe()

    def title(self, name: str) -> str:
        """Return what the profile of a name is called, where it is one of those offered."""
        return self._titles.get(name, name)

    def prefer(self, name: str) -> None:
        """Choose a profile, where it is one of those offered."""
        if name in [value for _, value in self.profile.options]:
            self.profile.value = name

    def wait(self, seconds: float = 600.0) -> None:
        """Wait until nothing is judged any more; for scripts and tests."""
        self._judging.wait(seconds)

    def _profiles(
        self, own: str | Path | Mapping[str, Any] | Profile | None
    ) -> list[tuple[str, str | Profile]]:
        listed: list[tuple[str, str | Profile]] = [
            (title, name) for name, title in profiles()[["profile", "title"]].itertuples(index=False)
        ]
        self._titles = {str(name): title for title, name in listed}
        if own is None or (isinstance(own, str) and own in self._titles):
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
            f"<p class='muted'>{typed(profile.description)} {checks} of {rules}: a check is a rule with its "
            "parameters, such as a language.</p>"
        )

    def _ask(self) -> None:
        catalog = self._catalog()
        self._stop = threading.Event()
        self.progress.value, self.progress.max = 0, max(len(catalog), 1)
        self._busy(True)
        self._judging(catalog, self.profile.value, self.is_accepted.value, self._stop)

    def _judge(
        self, catalog: Catalog, profile: str | Profile, is_accepted: bool, stop: threading.Event
    ) -> Audit:
        def show(done: int, _: int) -> None:
            if stop.is_set():
                raise CancelledError
            self.progress.value = done

        return audit(with_pending_updates(catalog) if is_accepted else catalog, profile, progress=show)

    def _judged(self, made: Audit) -> None:
        self._busy(False)
        with self._panel.guarded():
            self._done(made)

    def _failed(self, error: BaseException) -> None:
        self._busy(False)
        self._panel.tell(error)

    def _cancel(self) -> None:
        self.forget()
        self.run.focus()  # the button that was pressed is gone

    def forget(self) -> None:
        """Judge no more: what would come of it is wanted no longer."""
        self._stop.set()
        self._judging.forget()
        self._busy(False)

    def _busy(self, is_busy: bool) -> None:
        rest(self.run, is_resting=is_busy)
        for widget in (self.progress, self.cancel):
            widget.layout.display = "" if is_busy else "none"
