"""What a panel shows: for each section a function of the session, and the actions that its buttons ask for."""

from __future__ import annotations

from prodex.notebook.session.actions import Section
from prodex.notebook.views.coverage import COVERAGE
from prodex.notebook.views.products import PRODUCTS
from prodex.notebook.views.snapshots import SNAPSHOTS

#: The sections of a panel, in the order of their buttons.
SECTIONS: dict[str, Section] = {one.name: one for one in (PRODUCTS, COVERAGE, SNAPSHOTS)}
