"""All traits in one dict: importing this module declares every one of them."""

from __future__ import annotations

from . import (
    traits_bodies,
    traits_clocks,
    traits_contents,
    traits_faults,
    traits_filters,
    traits_index,
    traits_records,
    traits_scrolls,
    traits_shapes,
    traits_tokens,
    traits_totals,
    traits_tracking,
    traits_writes,
)
from .switches import KINDS, STAGES, TRAITS, Switches, Trait

SOURCES = (
    traits_totals,
    traits_scrolls,
    traits_filters,
    traits_index,
    traits_clocks,
    traits_tokens,
    traits_faults,
    traits_bodies,
    traits_contents,
    traits_records,
    traits_writes,
    traits_tracking,
    traits_shapes,
)

__all__ = ["KINDS", "SOURCES", "STAGES", "TRAITS", "Switches", "Trait"]
