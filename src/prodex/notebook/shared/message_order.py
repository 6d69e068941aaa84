"""Message order: the kernel handles what is typed and pressed in one thread, in the order in which it was sent.

JupyterLab sends the messages of all widgets to one thread of the kernel, a subshell. ipykernel 7.4 redirects them:
those of a widget are sent to the thread that last changed it. So a typed text and the press after it can reach two
threads, and be handled in the wrong order: an export was written to the folder that had been entered before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def keep_in_order(widget: Any) -> None:
    """Have messages of a widget, and of all widgets in it, answered in the thread that they were sent to.

    Parameters
    ----------
    widget
        A widget that is typed in or pressed, or a box of such.

    Examples
    --------
    >>> import ipywidgets
    >>> keep_in_order(ipywidgets.HBox([ipywidgets.Text(), ipywidgets.Button()]))
    """
    for one in _widgets_inside(widget):
        comm: Any = getattr(one, "comm", None)
        # Only ipykernel 7.4 and later redirect; elsewhere, and without a kernel, there is nothing to keep.
        if hasattr(comm, "_reply_subshell_for"):
            comm._reply_subshell_for = _as_sent


def _as_sent(_data: Any, sent_to: str | None) -> str | None:
    return sent_to


def _widgets_inside(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from _widgets_inside(child)
