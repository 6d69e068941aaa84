"""The boxes that panels are made of, those of ipywidgets, with types.

ipywidgets ships no types. A panel that inherited from an unknown class would be unknown to editors and type checkers as
well, with all that it exposes. They read the declarations here; at run time the classes are those of ipywidgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traitlets import HasTraits

    class _Typed(HasTraits):
        """A widget whose traits are not declared."""

        def __init__(self, *arguments: Any, **traits: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...

    class Box(_Typed):
        """Widgets side by side, in the order of `children`."""

        def __init__(self, children: Sequence[Any] = (), **traits: Any) -> None: ...

    class HBox(Box):
        """Widgets in a row."""

    class VBox(Box):
        """Widgets below each other."""

    class Button(_Typed):
        """A button."""

else:
    from ipywidgets import Box, Button, HBox, VBox

__all__ = ["Box", "Button", "HBox", "VBox"]
