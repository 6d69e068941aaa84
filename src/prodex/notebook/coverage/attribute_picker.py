"""The attributes of a coverage grid: a button that removes each, and a field that completes the names of others."""

from __future__ import annotations

from typing import Any

import ipywidgets as w
from traitlets import Instance, Tuple

from prodex.catalog import Catalog
from prodex.catalog.names import AttributeNames
from prodex.notebook.background import LatestTask
from prodex.notebook.panel import Panel, button, html, status_html
from prodex.notebook.products.removable_buttons import RemovableButtons
from prodex.notebook.products.table_page import cut

_LONGEST = 60


class AttributePicker(RemovableButtons):
    """A button for each attribute, and a field that adds another.

    Attributes
    ----------
    attributes
        The attributes, in their order.
    usual
        Those that a button restores.

    Examples
    --------
    >>> import prodex
    >>> picker = AttributePicker(panel=Panel())
    >>> picker.offer(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}]), ("nameLegal",))
    >>> picker.add("brand")
    >>> picker.wait()
    >>> picker.attributes
    ('nameLegal', 'brand')
    """

    attributes: Instance[tuple[str, ...]] = Tuple()

    def __init__(self, *, panel: Panel) -> None:
        super().__init__(panel, "Remove this attribute")
        self.usual: tuple[str, ...] = ()
        self._names: AttributeNames | None = None
        self._status = html("", "muted")
        self.field: w.Combobox = w.Combobox(
            description="Add", placeholder="attribute, such as net content", continuous_update=False
        )
        self._reset = button("Usual attributes", "quiet")
        self._listing: LatestTask[tuple[AttributeNames, list[str]]] = LatestTask(
            lambda names: (names, names.every), self._listed, panel.show_error
        )
        self._adding: LatestTask[str] = LatestTask(
            lambda names, given: names.attribute(given), self._added, self._refused
        )
        panel.on(self.field, lambda change: self.add(change["new"]), "value")
        panel.on(self._reset, lambda _: self._restore())
        self.observe(lambda _: self._draw(), "attributes")

    def offer(self, catalog: Catalog, usual: tuple[str, ...]) -> None:
        """Offer the attributes of a catalogue, and show the usual ones, unless somebody has chosen others."""
        is_usual = self.attributes in {(), self.usual}
        self._names, self.usual = AttributeNames(catalog), usual
        self.field.options = ()
        if is_usual:
            self.attributes = usual

    def complete(self) -> None:
        """Have the field complete the names of all attributes, which are read in the background."""
        if self._names is not None and not self.field.options:
            self._listing(self._names)

    def add(self, given: str) -> None:
        """Add an attribute, once it is known that there is one of this name."""
        if given.strip() and self._names is not None:
            self._status.value = status_html("Looking up the attribute …")
            self._adding(self._names, given.strip())

    def remove(self, place: int) -> None:
        """Remove an attribute."""
        self.attributes = tuple(name for number, name in enumerate(self.attributes) if number != place)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nothing is looked up; for scripts and tests."""
        self._listing.wait(seconds)
        self._adding.wait(seconds)

    def _listed(self, found: tuple[AttributeNames, list[str]]) -> None:
        if found[0] is self._names:
            self.field.options = tuple(found[1])

    def _added(self, attribute: str) -> None:
        self._status.value = ""
        self.field.value = ""
        if attribute not in self.attributes:
            self.attributes = (*self.attributes, attribute)

    def _refused(self, error: BaseException) -> None:
        self._status.value = ""
        self._panel.show_error(error)

    def _restore(self) -> None:
        self.attributes = self.usual

    def _draw(self) -> None:
        shown: list[Any] = [self.field, self._reset, self._status]
        self._show([f"{cut(name, _LONGEST)} ✕" for name in self.attributes], tuple(shown))
        for one in self._buttons:  # a grid without rows could not be read
            one.disabled = len(self.attributes) == 1
