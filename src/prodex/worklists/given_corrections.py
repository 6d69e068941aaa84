"""`correct_from`: corrections that somebody has at hand, as a copied table, a frame, or texts one by one: one `Fix`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.quality.profile import Profile
from prodex.quality.run import moment_of
from prodex.store.snapshot import catalog_given
from prodex.worklists.fix import Fix, MadeBy
from prodex.worklists.pasted import make_fix_of_table, pasted_table
from prodex.worklists.pasted_headings import KnownHeadings, confirm_meanings
from prodex.worklists.text_corrections import TextCorrection, make_fix_of_texts, profile_given


def correct_from(
    corrections: str | pd.DataFrame | Iterable[TextCorrection],
    catalog: Catalog | str | Path,
    headings: Mapping[str, str | None] | Sequence[str | None] | pd.DataFrame | None = None,
    *,
    profile: str | Path | Mapping[str, Any] | Profile | None = None,
    now: datetime | None = None,
    by: str | None = None,
    why: str | None = None,
) -> Fix:
    """Judge corrections in a table that was copied from a spreadsheet, or of single texts; nothing is sent.

    Each is read by the rules for answers of worklists. In a cell `1,234` is refused, since it may be two numbers,
    dates, `4.00638E+12` and remarks need confirmation, "(delete)" deletes a text, and an empty cell changes nothing.

    Parameters
    ----------
    corrections
        A table: the text of the clipboard, with tabs between the cells, or that of a CSV file; or a frame. One row for
        each product, up to 1,000, a column of GTINs, and up to five columns with values. Or single texts: a list of
        `prodex.TextCorrection`.
    catalog
        The products, or the name of a snapshot. What it holds is what the cells of a table were written for: where the
        service has something else by the time they are sent, that is a conflict.
    headings
        What the columns of a table mean, confirmed: the frame of `prodex.worklists.propose_headings`, a dict by heading
        (`{"EAN": "gtin", "Nom FR": "namePublicLong.fr", "Remarks": "ignore"}`), or a list in their order. Without it,
        the error says what is proposed.
    profile
        The checks that say what is fixed, and what is new. Without one only what the service would refuse is found.
    now
        The moment to which "older than" refers, the present by default.
    by, why
        Who makes them and why, for the history of what is sent.

    Returns
    -------
    Fix
        As `read_worklist` returns it. A product that is in two rows, and a GTIN that the catalogue does not have, are
        in it with their reasons.

    Raises
    ------
    InputError
        When it is no table and no texts, or too large; when a heading is not confirmed, or what it means cannot be
        corrected.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> copied = "EAN\\tNom du produit\\n3036811359935\\tPain complet\\n"
    >>> fix = prodex.correct_from(copied, catalog, {"EAN": "gtin", "Nom du produit": "namePublicLong.fr"})
    >>> fix.preview()[["before", "after"]].values.tolist()
    [['Pain', 'Pain complet']]
    >>> corrected = prodex.TextCorrection("7", "namePublicLong", "fr", "Pain complet", before="Pain")
    >>> prodex.correct_from([corrected], catalog).preview()[["before", "after"]].values.tolist()
    [['Pain', 'Pain complet']]
    """
    chosen = catalog_given(catalog, "correct_from(corrections, catalog)", corrections)
    judged_by = profile_given(profile)
    moment, made_by = moment_of(now), MadeBy(why or "", by)
    if (texts := _texts(corrections)) is not None:
        if headings is not None:
            raise InputError("headings are those of a table, and these are single texts. Leave them out.")
        return make_fix_of_texts(texts, chosen, judged_by, moment, made_by)
    known = KnownHeadings(chosen)
    pasted = pasted_table(corrections, chosen, known)
    meanings = confirm_meanings(headings, pasted.proposals, known)
    return make_fix_of_table(pasted, meanings, chosen, known, judged_by, moment, made_by)


def _texts(given: object) -> list[TextCorrection] | None:
    """Return the texts that were given one by one; None for a table."""
    if isinstance(given, str | pd.DataFrame):
        return None
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        given = [given]
    texts: list[TextCorrection] = []
    for one in given:
        if not isinstance(one, TextCorrection):
            raise InputError(
                f"corrections has {described(one)}. Give prodex.TextCorrection values, or a table: a frame, or the "
                "text that was copied from a spreadsheet. catalog.changes_from takes an edited frame of the "
                "catalogue, and prodex.read_worklist reads files."
            )
        texts.append(one)
    return texts
