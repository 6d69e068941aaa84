"""What a panel shows: for each section a function of the session, and the actions that its buttons ask for."""

from __future__ import annotations

from prodex.notebook.session.actions import Section
from prodex.notebook.views.audit import QUALITY
from prodex.notebook.views.card import CARD
from prodex.notebook.views.corrections import CORRECTIONS
from prodex.notebook.views.coverage import COVERAGE
from prodex.notebook.views.load import LOAD
from prodex.notebook.views.products import GALLERY, PRODUCTS
from prodex.notebook.views.snapshots import SNAPSHOTS

#: The sections of a panel, in the order of their buttons; what is not offered there can be shown alone.
SECTIONS: dict[str, Section] = {
    one.name: one for one in (PRODUCTS, QUALITY, COVERAGE, CORRECTIONS, SNAPSHOTS, LOAD, CARD, GALLERY)
}
