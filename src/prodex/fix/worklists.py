"""Reading worklists that came back, against the catalogue and by the checks that they were written for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.fix.letters import known_texts
from prodex.fix.reading import Returned, read_files
from prodex.fix.result import Fix, fix_of
from prodex.limits import Limits
from prodex.quality.profile import Profile, shipped
from prodex.quality.run import moment_of
from prodex.store.snapshot import catalog_given, open_snapshot
from prodex.text import hint_and_all


def read_worklist(
    files: str | Path | Iterable[str | Path],
    catalog: Catalog | str | Path | None = None,
    *,
    profile: str | Path | Mapping[str, Any] | Profile | None = None,
    now: datetime | None = None,
    limits: Limits | None = None,
) -> Fix:
    """Read worklists that came back, and judge every answer.

    Parameters
    ----------
    files
        Workbooks (.xlsx, .xlsm) and CSV files, or the folder of them. Rows may be sorted, removed and added, columns
        moved and renamed, sheets copied into another workbook. Nothing in a workbook is run: of formulas the stored
        results are read.
    catalog
        The products, or the name of a snapshot; by default the newest snapshot of the name that the workbooks were
        written for. Answers are merged with its products, so it has to be at least as new as the worklists.
    profile
        The checks that judge the answers; by default those of the profile that the workbooks name.
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
        When there is no such file, or it is not known which catalogue the worklists are about. A file that cannot be
        read is a row of `refused`.

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
    returned = read_files(files, limits, lambda before: known_texts(_catalog(catalog, before)))
    chosen = _catalog(catalog, returned)
    return fix_of(returned, chosen, _profile(profile, returned), moment_of(now))


def _catalog(given: Catalog | str | Path | None, returned: Returned) -> Catalog:
    if given is not None:
        return catalog_given(given, "read_worklist(files, catalog)")
    named = {one.snapshot.partition("@")[0] for one in returned.written.values() if one.snapshot}
    if len(named) == 1:
        return open_snapshot(named.pop())
    what = (
        f"are of {len(named)} snapshots ({', '.join(sorted(named))})"
        if named
        else "do not say of which snapshot they are"
    )
    raise InputError(f"The worklists {what}. Give the catalogue: read_worklist(files, catalog).")


def _profile(given: Any, returned: Returned) -> Profile:
    """Return the profile that judges: as given, else as named, else all checks of prodex that were asked for."""
    if isinstance(given, Profile):
        return given
    if given is not None:
        return Profile.read(given)
    named = sorted({one.profile for one in returned.written.values() if one.profile})
    known = [one for one in named if one in shipped()]
    if own := [one for one in named if one not in known]:
        near = hint_and_all(own[0], shipped(), "Give the profile: read_worklist(files, profile='own.toml').")
        raise InputError(
            f"The worklists were written by the profile {own[0]!r:.60}, which does not come with prodex{near}"
        )
    asked = {one.keys.get("check") for one in returned.answers}
    profiles = [Profile.read(one) for one in known or shipped()]
    if len(known) == 1:
        return profiles[0]
    checks = {check.id: check for profile in profiles for check in profile.checks if check.id in asked}
    return replace(profiles[0], name=" + ".join(known) or "asked", checks=tuple(checks.values()))
