"""A JupyterLab server and a browser in front of it: notebooks are opened, run and clicked as a user would.

Whatever a page says, asks for outside, or opens is kept, so that a test can say that there was nothing.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.accessibility import About, Violations, violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

#: Seconds.
_START_TIME = 120
_CELL_TIME = 120
_PATIENCE = 60
_NOTICED = 3
_TOKEN = "of-the-tests"
_WIDE = {"width": 1360, "height": 1000}
SCHEMES = ("light", "dark")

#: What a kernel is made to do before it has other cells.
_FORGOTTEN = """[
    __import__("ipywidgets").Widget.close_all(), __import__("os").chdir({folder!r}),
    __import__("os").environ.update(PRODEX_HOME={home!r}), get_ipython().reset()
]"""

#: Asks the kernel in its turn, again where it has restarted meanwhile, and waits until the page has drawn.
_ASKED = """async ([expression, patience]) => {
    const end = Date.now() + patience, waited = (time) => new Promise((resolve) => setTimeout(resolve, time));
    for (;;) {
        const kernel = jupyterapp.shell.currentWidget?.sessionContext.session?.kernel;
        const request = { code: "", silent: true, store_history: false, user_expressions: { asked: expression } };
        const late = waited(end - Date.now()).then(() => { throw new Error(`no answer to ${expression}`); });
        const cancelled = (error) => { if (!/cancel|disposed/i.test(error)) throw error; };
        const reply = await Promise.race([late, kernel?.requestExecute(request).done.catch(cancelled)]);
        if (reply) {
            for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
            return reply.content.user_expressions.asked;
        }
        await waited(100);
    }
}"""
#: Whether a cell has another number than before.
_HAS_RUN = """([cell, before]) => {
    const shown = document.querySelectorAll(".jp-Notebook .jp-CodeCell")[cell];
    const said = shown?.querySelector(".jp-InputPrompt").innerText;
    return said !== undefined && said !== before && /\\[\\d+\\]/.test(said);
}"""
#: Milliseconds between two looks.
_LOOKED = 50

#: JupyterLab asks for news and updates otherwise.
_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "checkForUpdates": False,
        "fetchNews": "false",
        "doNotDisturbMode": True,
    },
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
}


def missing(what: str) -> NoReturn:
    """Skip with a word; where everything is checked, nothing may be left out."""
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI needs it")
    pytest.skip(f"{what} is not installed")


def browser_program() -> str | None:
    """Return where Chromium is; without the windows of a browser around it, it takes two thirds of the time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a headless browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    if (path := browser_program()) is None:
        missing("chromium")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
    # To start a process for each page takes longer than most pages do; pages of one context share it.
    arguments.append("--renderer-process-limit=1")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@dataclass
class Lab:
    """A server of JupyterLab and of Jupyter Notebook.

    Attributes
    ----------
    url
        Its address.
    folder
        Where notebooks lie, and where their kernels run.
    runtime
        Where it keeps what it says of its kernels.
    home
        PRODEX_HOME of the kernels.
    pages
        Where it shows notebooks: "doc/tree" is JupyterLab, and "notebooks" Jupyter Notebook.
    """

    url: str
    folder: Path
    runtime: Path
    home: Path
    pages: str = "doc/tree"
    _kept: Notebook | None = field(default=None, init=False)

    def ask(self, path: str, method: str = "GET") -> Any:
        """Ask its own interface."""
        request = Request(f"{self.url}{path}", method=method, headers={"Authorization": f"token {_TOKEN}"})
        with urlopen(request, timeout=30) as reply:
            return json.loads(reply.read() or b"null")

    @contextmanager
    def opened(
        self, browser: Browser, cells: Sequence[str] | Path, *, scheme: str = "light", anew: bool = False
    ) -> Iterator[Notebook]:
        """Open a notebook of these cells, or a copy of a notebook, with its kernel idle; nothing of it has run.

        To load JupyterLab and to import pandas takes longer than most tests, so a page and its kernel are used again:
        without variables and widgets, but with the modules as they are. Open it `anew` to change those, to end the
        kernel, or to measure.
        """
        if anew or isinstance(cells, Path):
            notebook = self._new_page(browser, cells, scheme)
            try:
                yield notebook
            finally:
                self._close(notebook)
            return
        notebook, self._kept = self._kept or self._new_page(browser, cells, scheme), None
        try:
            notebook.begin_anew(cells, scheme)
            yield notebook
        except BaseException:  # nobody knows in what state it is
            self._close(notebook)
            raise
        self._kept = notebook

    def _new_page(self, browser: Browser, cells: Sequence[str] | Path, scheme: str) -> Notebook:
        stem = cells.stem if isinstance(cells, Path) else "test"
        path = self.folder / f"{stem}-{time.monotonic_ns()}.ipynb"
        write_notebook(cells, path)
        context = browser.new_context(viewport=_WIDE, color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        # One who waits for what comes waits no longer; on a busy machine it comes late.
        context.set_default_timeout(_PATIENCE * 1000)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        notebook = Notebook(self, context.new_page(), path)
        try:
            notebook.page.goto(f"{self.url}/{self.pages}/{path.name}?token={_TOKEN}&reset")
            notebook.wait_until_ready()
        except BaseException:
            self._close(notebook)
            raise
        return notebook

    def _close(self, notebook: Notebook) -> None:
        notebook.page.context.close()
        for session in self.ask("/api/sessions"):
            if session["path"].endswith(notebook.path.name):
                self.ask(f"/api/sessions/{session['id']}", "DELETE")


def write_notebook(cells: Sequence[str] | Path, path: Path) -> None:
    """Write a notebook as JSON: the package that reads and writes notebooks takes seconds to import."""
    if isinstance(cells, Path):
        shutil.copyfile(cells, path)
        return
    made = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": textwrap.dedent(cell).strip(),
        }
        for number, cell in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), "utf-8")


@dataclass
class Notebook:
    """An open notebook.

    Attributes
    ----------
    outside
        Addresses that the page asked for and that are not the server's.
    errors
        What scripts reported by dialogs, errors and windows.
    """

    lab: Lab
    page: Page
    path: Path
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = urlsplit(self.lab.url).netloc
        self.page.on(
            "request",
            lambda request: (
                self.outside.append(request.url)
                if urlsplit(request.url).scheme in {"http", "https", "ws", "wss", "ftp"}
                and urlsplit(request.url).netloc != own
                else None
            ),
        )
        self.page.on("dialog", lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.context.on("page", lambda page: self.errors.append(f"a window opened: {page.url}"))

    @property
    def cells(self) -> Locator:
        """The code cells."""
        return self.page.locator(".jp-Notebook .jp-CodeCell")

    def output(self, cell: int = 0) -> Locator:
        """Return what a cell shows."""
        return self.cells.nth(cell).locator(".jp-OutputArea-output").first

    def run(self, cell: int = 0) -> Locator:
        """Run a cell, again too, wait until the kernel is idle, and return what it shows; an error in it is ours."""
        from playwright.sync_api import TimeoutError as StillRuns

        target = self.cells.nth(cell)
        prompt = target.locator(".jp-InputPrompt")
        end, before = time.monotonic() + _CELL_TIME, prompt.inner_text()
        has_run = False
        while not has_run:
            said = prompt.inner_text()
            assert time.monotonic() < end, f"cell {cell} still runs: {said}"
            # A page that has just opened may lose the keys; a cell that waits or runs shows a star.
            if "*" not in said:
                target.locator(".cm-content").first.click()
                self.page.keyboard.press("Control+Enter")
            with suppress(StillRuns):
                # The page looks by itself: to ask it again and again costs more than most cells.
                self.page.wait_for_function(
                    _HAS_RUN, arg=[cell, before], polling=_LOOKED, timeout=_NOTICED * 1000
                )
                has_run = True
        self.wait_until_idle()
        broken = target.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']")
        assert not broken.count(), broken.first.inner_text()
        return self.output(cell)

    def begin_anew(self, cells: Sequence[str], scheme: str) -> None:
        """Put other cells in, and forget what those that were there have made and what was reported of them."""
        self.ask(_FORGOTTEN.format(folder=str(self.lab.folder), home=str(self.lab.home)))
        write_notebook(cells, self.path)
        self.page.evaluate("() => jupyterapp.shell.currentWidget.context.revert()")
        self.wait_until_idle()
        self.outside.clear()
        self.errors.clear()
        self.page.set_viewport_size(_WIDE)
        self.page.mouse.move(0, 0)
        self.show(scheme)

    def show(self, scheme: str) -> None:
        """Change to the light or the dark theme."""
        self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        is_light = str(scheme == "light").lower()
        self.page.wait_for_selector(f"body[data-jp-theme-light='{is_light}']", state="attached")
        # Until it has faded, all that is shown is paler than it is.
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def violations_of_each_scheme(self, cell: int = 0) -> dict[str, Violations]:
        """Return `violations` in light and in dark, where there are any."""
        # Only colours change with the theme, and to change it takes seconds: the one that is shown is checked first.
        is_light = self.page.locator("body[data-jp-theme-light='true']").count()
        first, second = SCHEMES if is_light else SCHEMES[::-1]
        found = {first: self.violations(cell)}
        self.show(second)
        found[second] = self.violations(cell, "colours")
        return {scheme: violations for scheme, violations in found.items() if violations}

    def violations(self, cell: int = 0, about: About = "all") -> Violations:
        """Return what the usual checker of accessibility complains of in what a cell shows."""
        # The page has no height, and the checker would take all that it shows for hidden.
        self.page.evaluate("document.documentElement.style.height = document.body.style.height = '100vh'")
        self.cells.nth(cell).evaluate("one => one.setAttribute('data-checked', '')")
        return violations(self.page, "[data-checked] .jp-OutputArea-output", about)

    def run_all(self, seconds: float = 300) -> None:
        """Run all cells by the menu; an error in one of them is ours."""
        every = json.loads(self.path.read_text("utf-8"))["cells"]
        cells = [one for one in every if one["cell_type"] == "code" and one["source"]]
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        ended = f"get_ipython().execution_count > {len(cells)} or hasattr(__import__('sys'), 'last_value')"
        self.wait_for(ended, seconds)
        assert "None" == self.ask("repr(getattr(__import__('sys'), 'last_value', None))")

    def wait_until_ready(self) -> None:
        """Wait until the kernel has started and the page is connected to it."""
        end = time.monotonic() + _START_TIME
        while not any(
            one["path"].endswith(self.path.name)
            and one["kernel"]["execution_state"] == "idle"
            and one["kernel"]["connections"]
            for one in self.lab.ask("/api/sessions")
        ):
            assert time.monotonic() < end, "the kernel takes too long to start"
            self.page.wait_for_timeout(100)
        self.wait_until_idle()

    def wait_until_idle(self, seconds: float = _CELL_TIME) -> None:
        """Wait until the kernel has nothing to do."""
        self.page.wait_for_selector(
            ".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=seconds * 1000, state="attached"
        )

    def ask(self, expression: str) -> Any:
        """Return the value of a Python expression in the kernel, through JSON; widgets know nothing of it.

        The page asks after whatever it has sent before, and has drawn what was sent to it before the answer.
        """
        asked = self.page.evaluate(_ASKED, [f"__import__('json').dumps({expression})", _CELL_TIME * 1000])
        assert asked["status"] == "ok", f"{asked.get('ename')}: {asked.get('evalue')}"
        return json.loads(ast.literal_eval(asked["data"]["text/plain"]))

    def wait_for(self, expression: str, seconds: float = _PATIENCE) -> Any:
        """Wait until a Python expression in the kernel is true, and return it."""
        end = time.monotonic() + seconds
        while not (value := self.ask(expression)):
            assert time.monotonic() < end, f"{expression} stays {value!r}"
            self.page.wait_for_timeout(100)
        return value


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def serving(folder: Path) -> Iterator[Lab]:
    """Run a server over a folder, with settings of its own: it has the pages of JupyterLab and of Jupyter Notebook."""
    for program in ("jupyterlab", "notebook"):
        if find_spec(program) is None:
            missing(program)
    notebooks, settings, runtime = folder / "notebooks", folder / "settings", folder / "runtime"
    for one in (notebooks, settings, runtime):
        one.mkdir(parents=True, exist_ok=True)
    for plugin, chosen in _SETTINGS.items():
        path = settings / plugin.replace(":", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".jupyterlab-settings").write_text(json.dumps(chosen), "utf-8")
    port = free_port()
    environment = {
        **os.environ,
        "JUPYTERLAB_SETTINGS_DIR": str(settings),
        "JUPYTER_RUNTIME_DIR": str(runtime),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "JUPYTER_TOKEN": _TOKEN,
        "PRODEX_HOME": str(folder / "home"),
    }
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={notebooks}",
    ]
    log = folder / "server.txt"
    with (
        log.open("wb") as said,
        subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT) as process,
    ):
        lab = Lab(f"http://127.0.0.1:{port}", notebooks, runtime, folder / "home")
        try:
            end = time.monotonic() + _START_TIME
            while True:
                assert process.poll() is None, log.read_text("utf-8")
                assert time.monotonic() < end, "JupyterLab takes too long to start"
                try:
                    lab.ask("/api/status")
                    break
                except OSError:
                    time.sleep(0.1)
            yield lab
        finally:
            process.terminate()
