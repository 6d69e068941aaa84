"""Judging corrections: by which checks, and what has become of each of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.quality import Audit, Profile
from prodex.worklists.fix import Fix
from prodex.worklists.text_corrections import TextCorrection, fix_texts


@dataclass(frozen=True, eq=False)
class JudgedCorrections:
    """Corrections, and what has judged them.

    Attributes
    ----------
    corrections
        The corrections, in the order of the answers of the fix.
    fix
        What has judged them.
    """

    corrections: tuple[TextCorrection, ...]
    fix: Fix

    def are(self, corrections: tuple[TextCorrection, ...], catalog: Catalog) -> bool:
        """Return whether these corrections of this catalogue are the ones that were judged."""
        return self.corrections == corrections and self.fix.catalog is catalog

    def in_state(self, state: str) -> tuple[TextCorrection, ...]:
        """Return the corrections that are in a state, such as "accepted"."""
        found = self.fix.answers["state"].tolist()
        return tuple(one for one, its in zip(self.corrections, found, strict=True) if its == state)


def judge(
    corrections: tuple[TextCorrection, ...],
    catalog: Catalog,
    profile: Profile | None,
    confirmed: Mapping[TextCorrection, str] = MappingProxyType({}),
) -> JudgedCorrections:
    """Judge corrections of a catalogue by the checks of a profile; without one by what the service would refuse.

    `confirmed` has the question of each correction that was asked back and is meant; another question is asked again.
    """
    fix = fix_texts(corrections, catalog, profile=profile)
    # The row of what was typed is its number, from 1.
    asked = fix.asked_back
    meant = [
        confirmed.get(corrections[number - 1]) == reason
        for number, reason in zip(asked["row"], asked["reason"], strict=True)
    ]
    if any(meant):
        fix.confirm(asked[meant])
    return JudgedCorrections(corrections, fix)


def profile_of(audit: Audit | None) -> Profile | None:
    """Return the profile that an audit was made by, if there is an audit and its profile is known."""
    if audit is None or audit.made_by is not None:
        return None if audit is None else audit.made_by
    # A profile of one's own is not kept with a saved audit; it is said then that there are no rules.
    with suppress(InputError):
        return Profile.read(audit.profile)
    return None
