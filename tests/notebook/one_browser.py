"""A panel in a bare page of a real browser, without JupyterLab: a press takes milliseconds.

The panel's `App` runs in the process of the test, in an event loop of its own as in a kernel. Its messages go to the
page through a WebSocket, and a test may stand between both and be hostile.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from prodex.notebook.app import App
from prodex.notebook.assets import script, style
from tests import accessibility
from tests.accessibility import About, Violations

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

    from prodex.notebook.widget import Explore

T = TypeVar("T")
Message = dict[str, Any]
#: What becomes of a message on its way: the messages that arrive, each after so many seconds. The direction is "hear"
#: (to the panel) or "send" (to the page).
Middle = Callable[[str, Message], Sequence[tuple[float, Message]]]

#: Seconds.
_PATIENCE = 30.0

#: The page does what an application of notebooks does for a widget; an `echo` is answered after what was sent before.
_PAGE = """<!doctype html>
<html lang="en" data-jp-theme-light="LIGHT" dir="DIRECTION"><meta charset="utf-8">
<title>A panel</title><link rel="icon" href="data:,">
<style>body { margin: 0; background: GROUND; }</style><style id="style">STYLE</style>
<body><main><div id="panel"></div></main>
<script type="module">
import panel from "/script.mjs";
const socket = new WebSocket(`ws://${location.host}/socket${location.pathname}`);
socket.binaryType = "arraybuffer";
const hearers = new Set(), echoes = new Map();
let [waiting, buffers] = [null, []];
const deliver = () => {
  if (!waiting || buffers.length < waiting.buffers) return;
  const [message, bytes] = [waiting.message, buffers.map((one) => new DataView(one))];
  [waiting, buffers] = [null, []];
  hearers.forEach((hear) => hear(message, bytes));
};
socket.onmessage = ({ data }) => {
  if (typeof data !== "string") buffers.push(data);
  else {
    const heard = JSON.parse(data);
    if (heard.echo) return echoes.get(heard.echo)();
    waiting = heard;
  }
  return deliver();
};
const model = {
  send: (message) => { if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message)); },
  on: (name, hear) => hearers.add(hear),
  off: (name, hear) => hearers.delete(hear),
};
window.echo = () => new Promise((resolve) => {
  const number = echoes.size + 1;
  echoes.set(number, resolve);
  socket.send(JSON.stringify({ echo: number }));
});
socket.onopen = () => {
  let el = document.querySelector("#panel");
  if (SHADOW) {
    const shadow = el.attachShadow({ mode: "open" });
    shadow.append(document.querySelector("#style"), el = document.createElement("div"));
  }
  window.closePanel = panel.render({ model, el });
};
</script>
"""

#: Asks after all that was sent, and returns how much is under way in the page.
_UNDER_WAY = "async (root) => { await echo(); return root.dataset.underWay; }"


def _as_it_is(_direction: str, message: Message) -> Sequence[tuple[float, Message]]:
    return [(0.0, message)]


@dataclass(eq=False)
class _Line:
    """What connects a panel with the pages that show it."""

    app: App
    scheme: str
    direction: str
    is_in_shadow: bool
    middle: Middle
    sockets: list[_Socket] = field(default_factory=list)
    sent: int = 0

    def send(self, message: Message, buffers: Sequence[bytes]) -> None:
        """Send a message to all pages, from whatever thread."""
        self.sent += 1
        # What is sent is what the panel holds at this moment.
        text, copies = json.dumps(message), [bytes(one) for one in buffers]
        _kernel().loop.call_soon_threadsafe(
            self._pass, "send", json.loads(text), lambda one: self._write(one, copies)
        )

    def hear(self, message: Message) -> None:
        self._pass("hear", message, lambda one: self.app.hear(one, []))

    def _pass(self, direction: str, message: Message, on: Callable[[Message], object]) -> None:
        for delay, one in self.middle(direction, message):
            if delay:
                _kernel().loop.call_later(delay, on, one)
            else:
                on(one)

    def _write(self, message: Message, buffers: Sequence[bytes]) -> None:
        for socket in [*self.sockets]:
            try:
                socket.write_message(json.dumps({"message": message, "buffers": len(buffers)}))
                for one in buffers:
                    socket.write_message(one, binary=True)
            except WebSocketClosedError:
                self.sockets.remove(socket)


@dataclass
class _Kernel:
    """The event loop in which panels answer, and the server in it."""

    loop: asyncio.AbstractEventLoop
    port: int = 0
    lines: dict[str, _Line] = field(default_factory=dict)
    names: Iterator[int] = field(default_factory=lambda: count(1))

    def call(self, function: Callable[[], T]) -> T:
        """Call a function in the loop, and return its result."""

        async def called() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(called(), self.loop).result(_PATIENCE)


class _Page(RequestHandler):
    def get(self, name: str) -> None:
        line = _kernel().lines[name]
        light, ground = ("true", "#ffffff") if line.scheme == "light" else ("false", "#161b22")
        shadow = str(line.is_in_shadow).lower()
        values = {
            "LIGHT": light,
            "GROUND": ground,
            "DIRECTION": line.direction,
            "SHADOW": shadow,
            "STYLE": style(),
        }
        page = _PAGE
        for one, value in values.items():
            page = page.replace(one, value)
        self.finish(page)


class _Nothing(RequestHandler):
    def get(self) -> None:
        self.finish('<!doctype html><html lang="en"><title>Nothing</title><link rel="icon" href="data:,">')


class _Script(RequestHandler):
    def get(self) -> None:
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish(script())


class _Socket(WebSocketHandler):
    def open(self, *names: str, **_: str) -> None:
        self.line = _kernel().lines[names[0]]
        self.line.sockets.append(self)

    def on_message(self, message: str | bytes) -> None:
        said = json.loads(message)
        if "echo" in said:
            self.write_message(json.dumps(said))
        else:
            self.line.hear(said)

    def on_close(self) -> None:
        if self in self.line.sockets:
            self.line.sockets.remove(self)


@cache
def _kernel() -> _Kernel:
    """Start the loop and its server: once, in a thread that ends with the process."""
    kernel = _Kernel(asyncio.new_event_loop())
    threading.Thread(target=kernel.loop.run_forever, daemon=True).start()

    def serve() -> int:
        handlers: list[Any] = [
            (r"/", _Nothing),
            (r"/script\.mjs", _Script),
            (r"/socket/(\d+)", _Socket),
            (r"/(\d+)", _Page),
        ]
        server = HTTPServer(Application(handlers))
        server.listen(0, "127.0.0.1")
        return int(next(iter(server._sockets.values())).getsockname()[1])

    kernel.port = kernel.call(serve)
    return kernel


_LINES: WeakKeyDictionary[Page, _Line] = WeakKeyDictionary()
_CONTEXTS: WeakKeyDictionary[Browser, BrowserContext] = WeakKeyDictionary()


def _context(browser: Browser) -> BrowserContext:
    """Return the context of all pages: a panel keeps nothing in the browser, so that no page sees another.

    The process in which a page is drawn lives as long as one of its context is open, and to start it takes longer than
    most tests. An empty page stays open for that.
    """
    if browser not in _CONTEXTS:
        _CONTEXTS[browser] = browser.new_context()
        _CONTEXTS[browser].new_page().goto(f"http://127.0.0.1:{_kernel().port}/")
    return _CONTEXTS[browser]


@contextmanager
def shown(
    panel: App | Explore,
    browser: Browser,
    *,
    width: int = 1360,
    height: int = 1000,
    scheme: str = "light",
    direction: str = "ltr",
    is_in_shadow: bool = False,
    middle: Middle = _as_it_is,
    is_settled: bool = True,
    has_own_clock: bool = False,
) -> Iterator[Page]:
    """Show a panel in a page of its own, and have the test fail where a script does.

    Parameters
    ----------
    panel
        The panel, or its app. It may be shown in several pages at once.
    width, height
        Of the window, in pixels.
    scheme
        "light" or "dark".
    direction
        "ltr", or "rtl" for a page that is read from right to left.
    is_in_shadow
        Whether it stands in a shadow tree, as in marimo.
    middle
        What happens to messages.
    is_settled
        Whether to wait until nothing is under way.
    has_own_clock
        Whether a test may move the clock of the page on: from its first script, since what waits already does not
        notice.
    """
    app = panel if isinstance(panel, App) else panel.app
    kernel, line = _kernel(), _Line(app, scheme, direction, is_in_shadow, middle)
    name = str(next(kernel.names))
    kernel.lines[name], before = line, app.send

    def send(message: Message, buffers: Sequence[bytes]) -> None:
        before(message, buffers)
        line.send(message, buffers)

    app.send = send
    page = _context(browser).new_page()
    page.set_viewport_size({"width": width, "height": height})
    _LINES[page] = line
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("dialog", lambda dialog: (errors.append(dialog.message), dialog.dismiss()))
    if has_own_clock:
        page.clock.install()
    try:
        page.goto(f"http://127.0.0.1:{kernel.port}/{name}")
        if is_settled:
            page_settled(page)
        yield page
        assert [] == errors
    finally:
        app.send = before
        page.close()
        page.context.clear_permissions()
        del kernel.lines[name]


def page_settled(page: Page, seconds: float = _PATIENCE) -> None:
    """Wait until nothing is under way: what was typed and pressed is taken, work has ended, and all is drawn."""
    line, end = _LINES[page], time.monotonic() + seconds
    page.wait_for_selector(".prodex[data-under-way='0']", state="attached", timeout=seconds * 1000)
    while True:
        before = line.sent
        line.app.wait(max(0.1, end - time.monotonic()))
        under_way = page.locator(".prodex").evaluate(_UNDER_WAY)
        if under_way == "0" and line.sent == before:
            return
        assert time.monotonic() < end, f"under way: {under_way}"
        if under_way != "0":
            page.wait_for_timeout(10)


def press(page: Page, name: str, role: str = "button") -> Locator:
    """Press what has a role and exactly this name, and wait until nothing is under way."""
    found = page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
    found.click()
    page_settled(page)
    return found


def type_in(page: Page, label: str, text: str) -> Locator:
    """Type a text in the field of a label, in place of what stands there, as a person does."""
    found = page.get_by_label(label, exact=True)
    found.click()
    found.press("Control+a")
    if text:
        page.keyboard.type(text)
    else:
        found.press("Delete")
    return found


def in_kernel(function: Callable[[], T]) -> T:
    """Call a function where the panel answers, as a cell of a notebook would: what it starts is delivered there."""
    return _kernel().call(function)


def violations(page: Page, of: About = "all") -> Violations:
    """Return what the usual checker of accessibility complains of in the panel."""
    return accessibility.violations(page, ".prodex", of)
