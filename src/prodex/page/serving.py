"""The page of `prodex open`: what it shows, and how it is served to browsers of this machine until Ctrl-C."""

from __future__ import annotations

import os
import secrets
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.network.listening import LOOPBACK, listening
from prodex.notebook.session.rights import Right
from prodex.notebook.session.session import Session
from prodex.notebook.views.audits_before import newest
from prodex.notebook.views.compared import ComparedSnapshots
from prodex.notebook.views.comparison import compared, with_comparison
from prodex.notebook.widget import Explore
from prodex.page.guard import Guard
from prodex.progress import reporting
from prodex.quality import Audit
from prodex.service import Client
from prodex.store.snapshot import open_snapshot

_APP = Path(__file__).with_name("explorer.py")
#: Settings of marimo that would make of the page something else, whoever has set them.
_FOREIGN = ("MARIMO_", "_MARIMO_")
#: marimo's menu has nothing to offer here: it is about notebooks.
_HEAD = "<style>[data-testid=notebook-actions-dropdown] { display: none }</style>"


@dataclass(frozen=True)
class SnapshotPage:
    """What a page shows: each of its tabs has a session of its own over it.

    Attributes
    ----------
    catalog
        The products.
    audit
        The newest audit of them that was saved, or None.
    changes
        What changed until then since an earlier snapshot, or None.
    service
        Where corrections are sent; without it the page is for reading.
    """

    catalog: Catalog
    audit: Audit | None = None
    changes: ComparedSnapshots | None = None
    service: Client | None = None

    @classmethod
    def of(cls, snapshots: Sequence[str | Path], service: Client | None = None) -> SnapshotPage:
        """Return the page of a snapshot, or of the newer one of two with what changed.

        Raises
        ------
        SnapshotNotFound
            When there is none of a name.
        InputError
            When there are more than two, or both are the same.
        """
        if not 1 <= len(snapshots) <= 2:
            raise InputError(f"A page shows one snapshot, or compares two: these are {len(snapshots)}.")
        opened = sorted(map(open_snapshot, snapshots), key=_moment)
        catalog = opened[-1]
        if len(opened) == 1:
            return cls(catalog, newest(catalog), service=service)
        if opened[0].folder == catalog.folder:
            named = " and ".join(repr(str(one)) for one in snapshots)
            raise InputError(f"{named} are the same snapshot: nothing can have changed. Give an earlier one.")
        assert opened[0].folder is not None and catalog.folder is not None  # noqa: S101, PT018 - both were opened
        with reporting(True, "Compared") as reporter:
            changes = compared(opened[0].folder, catalog.folder, reporter)
        return cls(catalog, newest(catalog), changes, service)

    def panel(self) -> Explore:
        """Return a panel of its own for one tab."""
        may = Right.READ if self.service is None else Right.CORRECT
        session = Session(self.catalog, self.audit, self.service, may=may)
        if self.changes is not None:
            old, new = (str(one.folder) for one in (self.changes.difference.old, self.changes.difference.new))
            session = with_comparison(session, self.changes).with_typed("compare", old=old, new=new)
            return Explore(session.replaced(section="snapshots"))
        return Explore(session)


def panel_for(request: Any) -> Any:
    """Return the panel for the tab that has sent a request: what the page shows comes with it (`Guard`)."""
    return request.meta["page"].panel()


def _moment(catalog: Catalog) -> str:
    return "" if catalog.folder is None else catalog.folder.name


def serve(
    page: SnapshotPage, tell: Callable[[str], object], *, port: int = 0, is_opened: bool = True
) -> None:
    """Serve a page to browsers of this machine until somebody presses Ctrl-C.

    Parameters
    ----------
    page
        What is shown.
    tell
        Called with the address once it answers there.
    port
        Where it listens; any that is free, unless given.
    is_opened
        Whether the browser is opened.

    Raises
    ------
    InputError
        When the port is taken.
    """
    with listening(port) as heard, _settings_of_our_own():
        import uvicorn

        port, token = heard.getsockname()[1], secrets.token_urlsafe(24)
        guard = _guarded(page, port, token)
        # Without a log of requests: their addresses have the token.
        config = uvicorn.Config(guard, log_level="error", access_log=False, timeout_graceful_shutdown=1)
        tell(f"http://{LOOPBACK}:{port}/?access_token={token}")
        if is_opened:
            address = f"http://{LOOPBACK}:{port}{guard.entrance}"
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[heard])


def _guarded(page: SnapshotPage, port: int, token: str) -> Guard:
    """Return what answers requests: marimo, which runs the app for each tab, behind the guard."""
    inner: Any = None

    def known(app: Any) -> Any:
        nonlocal inner
        inner = app
        # By its port marimo names its cookie: several pages of this machine have one each.
        app.state.port = port
        return app

    # It looks for settings where it is started, and from there upwards: ours are beside the app.
    with chdir(_APP.parent):
        import marimo

        made = marimo.create_asgi_app(quiet=True, token=token, skew_protection=True, html_head=_HEAD)
        app: Any = made.with_app(path="", root=str(_APP), middleware=[known]).build()
    return Guard(app, port, token, {"page": page}, inner.state.session_manager.shutdown)


@contextmanager
def _settings_of_our_own() -> Iterator[None]:
    """Keep marimo from settings of somebody's environment, and from writing what it remembers into their home."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        for name in [one for one in os.environ if one.startswith(_FOREIGN)]:
            del os.environ[name]
        os.environ |= dict.fromkeys(("XDG_STATE_HOME", "XDG_CACHE_HOME"), scratch)
        yield
