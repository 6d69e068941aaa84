"""A plugin of pytest that hides the widgets, as if they were not installed: `-p tests.exploration.without_widgets`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

WIDGETS = frozenset({"anywidget", "ipywidgets", "traitlets"})


class _Hidden(MetaPathFinder):
    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the interface
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if name.partition(".")[0] in WIDGETS:
            raise ModuleNotFoundError(f"{name} is hidden: the engine does without widgets", name=name)
        return None


def hide() -> None:
    """Make every import of a widget fail from now on."""
    sys.meta_path.insert(0, _Hidden())


def pytest_configure() -> None:
    """Hide them before any test is collected."""
    hide()
