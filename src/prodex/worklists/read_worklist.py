"""Reading worklists with answers: against the catalogue, and by the checks that they were written for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from prodex.advice import PythonCall, advice
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.facts.name import names_of
from prodex.limits import Limits
from prodex.phrases import hint
from prodex.quality.profile import Profile, every_profile, shipped
from prodex.quality.run import moment_of
from prodex.store.snapshot import catalog_given, snapshot_named
from prodex.worklists.answer_files import Given, read_files
from prodex.worklists.evidence import alike
from prodex.worklists.fix import Fix, make_fix
from prodex.worklists.lost_letters import known_texts
from prodex.worklists.ownership import owners_given
from prodex.worklists.returned_files import CellNote, HiddenSheet, Returned, ShownName

#: What the profile is called that has the checks of all of them.
EVERY_PROFILE = "all profiles"


def read_worklist(
    files: Given,
    catalog: Catalog | str | Path | None = None,
    *,
    profile: str | Path | Mapping[str, Any] | Profile | None = None,
    owner: Any = None,
    now: datetime | None = None,
    limits: Limits | None = None,
) -> Fix:
    """Read worklists with answers, and judge every answer.

    Parameters
    ----------
    files
        Workbooks (.xlsx, .xlsm) and CSV files, or the folder of them; or a frame, such as `Audit.worklist_rows` with
        its column `new_value` filled in. Rows may be sorted, removed and added, columns moved and renamed, sheets
        copied into another workbook. Nothing in a workbook is run: of formulas the stored results are read.
    catalog
        The products, or the name of a snapshot; by default the newest snapshot of the name that the workbooks were
        written for. Answers are merged with its products, so it has to be at least as new as the worklists.
    profile
        The checks that judge the answers; by default those of the profile that the workbooks name, and where they name
        none (CSV files, tables of one's own) those of all profiles that prodex has.
    owner
        The sender of the files: the owner whose products they may be about, by id or name, or several. Answers about
        products of others are refused. By default a worklist is compared with whom it was written for, and a table of
        one's own may be about all products.
    now
        The moment to which "older than" refers, the present by default.
    limits
        What a file may take, unpacked.

    Returns
    -------
    Fix
        `preview()` shows what would change, `refused` and `conflicts` what would not, and why; `apply(service)` sends.

    Raises
    ------
    InputError
        When there is no such file or owner, or it is not known which catalogue the worklists are about. A file that
        cannot be read is a row of `refused`.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> file = getfixture("tmp_path") / "answers.csv"
    >>> _ = file.write_text("GTIN;Field;Language;New value\\n3036811359935;namePublicLong;fr;Pain complet\\n")
    >>> fix = prodex.read_worklist(file, catalog)
    >>> fix.preview()[["before", "after"]].values.tolist()
    [['Pain', 'Pain complet']]
    """
    returned = read_files(files, limits, lambda before: known_texts(_catalog_of_answers(catalog, before)))
    chosen = _catalog_of_answers(catalog, returned)
    only = owners_given(chosen, owner)
    returned.notes += _names_typed_over(returned.names, chosen)
    return make_fix(returned, chosen, _profile_of_answers(profile, returned), moment_of(now), only)


def _names_typed_over(shown: Sequence[ShownName], catalog: Catalog) -> list[CellNote]:
    """Return the cells in which somebody has typed another name: whoever corrects a name does so where it is.

    A product that was changed since its worklist was written may have got another name.
    """
    if not shown:
        return []
    here = catalog.where(product_id=list(dict.fromkeys(one.product_id for one in shown)))
    rows = here.arrow("products", ["product_id", "updated_at"]).to_pylist()
    changed = {row["product_id"]: row["updated_at"] for row in rows}
    names = names_of(here)
    return [
        one.note
        for one in shown
        if one.product_id in changed
        and not alike(names.get(one.product_id) or "", one.note.text)
        and _is_of_moment(one.updated_at, changed[one.product_id])
    ]


def _is_of_moment(written: str | None, now: datetime | None) -> bool:
    return written == (None if now is None else now.isoformat())


def _catalog_of_answers(given: Catalog | str | Path | None, returned: Returned) -> Catalog:
    if given is not None:
        return catalog_given(given, "read_worklist(files, catalog)")
    named = {one.snapshot.partition("@")[0] for one in _facts_of_worklists(returned) if one.snapshot}
    if len(named) == 1:
        return snapshot_named(named.pop())
    what = (
        f"are of {len(named)} snapshots ({', '.join(f'{one:.60}' for one in sorted(named)[:5])})"
        if named
        else "do not say of which snapshot they are"
    )
    raise InputError(
        advice(
            "The worklists {what}. Give the catalogue: {read}.",
            what=what,
            read=PythonCall("read_worklist(files, catalog)"),
        )
    )


def _facts_of_worklists(returned: Returned) -> list[HiddenSheet]:
    return [one for several in returned.hidden_sheets.values() for one in several]


def _profile_of_answers(given: Any, returned: Returned) -> Profile:
    """Return the profile that judges: as given, else as named, else all checks that prodex has."""
    if isinstance(given, Profile):
        return given
    if given is not None:
        return Profile.read(given)
    named = sorted({one.profile for one in _facts_of_worklists(returned) if one.profile})
    # By name only: a profile that a workbook names must not open a file of this machine.
    known = [one for one in named if one in shipped()]
    if own := [one for one in named if one not in known]:
        raise InputError(
            advice(
                "The worklists were written by the profile {own}, which does not come with prodex{near} Give the "
                "profile: {read}.",
                own=f"{own[0]!r:.60}",
                near=hint(own[0], shipped()) or ".",
                read=PythonCall("read_worklist(files, profile='own.toml')"),
            )
        )
    profiles = [Profile.read(one) for one in known] or every_profile()
    if len(known) == 1:
        return profiles[0]
    # Where no profile is named, no check may break in silence: all that prodex has are asked.
    checks = {check.id: check for profile in profiles for check in profile.checks}
    return replace(profiles[0], name=" + ".join(known) or EVERY_PROFILE, checks=tuple(checks.values()))
