"""Places besides JupyterLab where notebooks run: marimo, Voila, and a frame as VS Code has; each in a real browser.

All servers listen on this machine only, and end with their test. What a page asks for elsewhere is kept, so that a test
can say that there was nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import urlopen

from .lab import free_port, missing, write_notebook

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Frame, Locator, Page

    from .lab import Notebook

#: Seconds until a server answers, and milliseconds until a page shows what it waits for.
_START_TIME, _PATIENCE = 120, 60_000
_WIDE = {"width": 1360, "height": 1000}

#: Draws a widget of the notebook in a frame of its own, with a script that is loaded there: its documents, windows and
#: events are others than those of the notebook. It has no height until somebody gives it one, and may ask for nothing.
_FRAMED = """async (id) => {
    const mime = "application/vnd.jupyter.widget-view+json";
    const renderer = jupyterapp.shell.currentWidget.content.rendermime.createRenderer(mime);
    const manager = await renderer._manager.promise;
    const model = await manager.get_model(id);
    const frame = Object.assign(document.createElement("iframe"), { name: "of-a-widget" });
    frame.style.cssText = "position: fixed; z-index: 9999; inset: 0 auto auto 0; width: 0; height: 0; border: 0";
    const rules = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob:; style-src 'unsafe-inline'; img-src blob: data:";
    frame.srcdoc = `<!doctype html><html lang="en"><head><meta http-equiv="Content-Security-Policy" content="${rules}">
        <title>A widget</title></head><body style="margin: 0; background: white"><div id="panel"></div></body></html>`;
    const loaded = new Promise((resolve) => { frame.onload = resolve; });
    document.body.append(frame);
    await loaded;
    const { contentWindow: inside, contentDocument: page } = frame;
    page.head.append(Object.assign(page.createElement("style"), { textContent: model.get("_css") }));
    const script = inside.URL.createObjectURL(new inside.Blob([model.get("_esm")], { type: "text/javascript" }));
    const module = await inside.eval("(address) => import(address)")(script);
    module.default.render({ model, el: page.querySelector("#panel") });
}"""
_SIZED = """() => { document.querySelector("iframe[name='of-a-widget']").style.cssText += "width: 100vw; height: 100vh"; }"""


@dataclass
class Hosted:
    """A notebook in some program that is not JupyterLab.

    Attributes
    ----------
    page
        The page that shows it.
    url
        Its address.
    outside
        Addresses that the page asked for and that are not the server's.
    errors
        What scripts reported by errors and dialogs.
    """

    page: Page
    url: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = urlsplit(self.url).netloc
        self.page.on(
            "request",
            lambda request: (
                self.outside.append(request.url)
                if urlsplit(request.url).scheme in {"http", "https", "ws", "wss"}
                and urlsplit(request.url).netloc != own
                else None
            ),
        )
        self.page.on("dialog", lambda dialog: (self.errors.append(dialog.message), dialog.dismiss()))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))


@contextmanager
def in_marimo(
    browser: Browser, folder: Path, cells: Sequence[str], *, mode: Literal["run", "edit"]
) -> Iterator[Hosted]:
    """Open a notebook of marimo of these cells, as an app or to be edited; the names that each defines are found.

    Parameters
    ----------
    folder
        Where the notebook lies; PRODEX_HOME is a folder in it.
    cells
        What the cells say. marimo finds itself which of them use what others define.
    mode
        "run" shows what cells show, "edit" the cells as well.
    """
    if find_spec("marimo") is None:
        missing("marimo")
    path, port = folder / "notebook.py", free_port()
    path.write_text(_marimo_notebook(cells), "utf-8")
    options = ["--headless", "--no-token", "--host", "127.0.0.1", "--port", str(port)]
    if mode == "edit":
        options.append("--skip-update-check")
    command = [sys.executable, "-m", "marimo", mode, *options, str(path)]
    # To be edited, cells run when somebody asks for it, unless the project says otherwise.
    (folder / "pyproject.toml").write_text("[tool.marimo.runtime]\nauto_instantiate = true\n", "utf-8")
    with _served(command, f"http://127.0.0.1:{port}", folder) as url, _page(browser, url) as hosted:
        yield hosted


@contextmanager
def in_voila(browser: Browser, folder: Path, cells: Sequence[str]) -> Iterator[Hosted]:
    """Open a notebook of these cells as a page of Voila, in which all of them run."""
    if find_spec("voila") is None:
        missing("voila")
    path, port = folder / "notebook.ipynb", free_port()
    write_notebook(cells, path)
    options = ["--no-browser", "--Voila.ip=127.0.0.1", f"--port={port}", "--show_tracebacks=True"]
    command = [sys.executable, "-m", "voila", str(path), *options]
    with _served(command, f"http://127.0.0.1:{port}", folder) as url, _page(browser, url) as hosted:
        yield hosted


def in_frame(notebook: Notebook, widget: str) -> Frame:
    """Draw a widget of a notebook a second time, in a frame that has no size yet; `widget` names it in the kernel."""
    notebook.page.evaluate(_FRAMED, notebook.ask(f"{widget}.model_id"))
    frame = notebook.page.frame("of-a-widget")
    assert frame is not None
    return frame


def give_size(notebook: Notebook) -> None:
    """Give the frame of `in_frame` the size of the window."""
    notebook.page.evaluate(_SIZED)


def _marimo_notebook(cells: Sequence[str]) -> str:
    """Return cells as a notebook of marimo; it reads again which names each takes and gives."""
    made = ["import marimo", "app = marimo.App(width='full')"]
    for cell in cells:
        made.append(
            f"@app.cell\ndef _():\n{textwrap.indent(textwrap.dedent(cell).strip(), '    ')}\n    return"
        )
    return "\n\n".join([*made, 'if __name__ == "__main__":\n    app.run()\n'])


@contextmanager
def _served(command: Sequence[str], url: str, folder: Path) -> Iterator[str]:
    """Run a server with a home of its own until its test ends, with all that it has started."""
    environment = {
        **os.environ,
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTER_CONFIG_DIR": str(folder / "settings"),
        "PRODEX_HOME": str(folder / "home"),
    }
    log = folder / "server.txt"
    with (
        log.open("wb") as said,
        # A group of its own: kernels that it has started end with it, also where it does not end them itself.
        subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            end = time.monotonic() + _START_TIME
            while not _answers(url):
                assert process.poll() is None, log.read_text("utf-8")
                assert time.monotonic() < end, f"the server takes too long to start: {log.read_text('utf-8')}"
                time.sleep(0.1)
            yield url
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _answers(url: str) -> bool:
    """Return whether a server listens; Voila runs the notebook before it answers the first request, so it is asked for less."""
    try:
        with urlopen(f"{url}/api/status", timeout=5):
            return True
    except HTTPError:
        return True
    except OSError:
        return False


@contextmanager
def _page(browser: Browser, url: str) -> Iterator[Hosted]:
    context = browser.new_context(viewport=_WIDE, reduced_motion="reduce")  # type: ignore[arg-type]
    context.set_default_timeout(_PATIENCE)
    try:
        page = context.new_page()
        hosted = Hosted(page, url)
        page.goto(url, timeout=_PATIENCE * 2, wait_until="domcontentloaded")
        yield hosted
    finally:
        context.close()


def panel_in(place: Page | Frame | Locator, *, seconds: float = 60) -> Locator:
    """Return the panel that a place shows, once nothing in it is under way."""
    panel = place.locator(".prodex").first
    place.locator(".prodex[data-under-way='0']").first.wait_for(timeout=seconds * 1000)
    return panel
