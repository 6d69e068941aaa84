"""What a panel may do: everything in a notebook, less in a page for colleagues. What is not listed needs everything.

One list for each right, and not a word at each action: whoever asks what a page can do to this machine reads it here.
"""

from __future__ import annotations

import shlex
from enum import IntEnum


class Right(IntEnum):
    """What a panel may do, each with what comes before it.

    Examples
    --------
    >>> right_needed("table.sort"), right_needed("send.start"), right_needed("an action of tomorrow")
    (<Right.READ: 1>, <Right.CORRECT: 2>, <Right.EVERYTHING: 3>)
    """

    #: Shows what is on this machine. It writes no file, and asks no service and no other host.
    READ = 1
    #: Collects corrections, and sends them to the service.
    CORRECT = 2
    #: Loads, accepts, saves, exports into folders and downloads pictures as well.
    EVERYTHING = 3


#: What needs no more than to read. Names of actions and tasks, of sections, and of what sections read by themselves.
_READ = """
    fold.set form.set pages.turn work.cancel section.open frame.back
    products quality coverage snapshots
    conditions.remove conditions.clear conditions.back conditions.forward conditions.either conditions.join
    conditions.others conditions.only
    facets.toggle facets.exclude facets.fold facets.unfold facets.find facets.more facets.fewer facets.zeros
    facets.drawer facets.limit facets.offer facets.speak facets.named facets.add facets.remove
    facets facets.offers
    search.set search.help
    search search.texts
    table.pick table.range table.sort table.page table.turn table.open table.close table.select table.select_page
    table.select_all table.clear table.language table.page_size table.density table.heads table.pictures
    table.edit table.languages
    columns.add columns.remove columns.move
    products.look gallery.by gallery.group_by gallery.kind gallery.page_size gallery.side gallery.page gallery.turn
    gallery.select gallery.keep
    gallery.read
    card.open card.close card.again
    card card-prepared card-history card-pictures-on-disk card-next card-before
    quality.run quality.grade quality.failing quality.check quality.everything
    quality.figures quality.before quality.completeness quality.scores
    checks.open checks.explain checks.only_failing checks.find checks.sort
    completeness.columns completeness.order completeness.open heat.group heat.open
    coverage.by coverage.turn coverage.sort coverage.cell coverage.row coverage.column coverage.add coverage.remove
    coverage.usual
    coverage.read coverage.names
    comparison.run comparison.since comparison.show comparison.turn comparison.by comparison.products comparison.card
    snapshots.refresh snapshots.turn snapshots.open snapshots.verify
    snapshots.list snapshots.trend
"""
#: What needs to correct.
_CORRECT = """
    corrections
    card.correct_first card.edit card.leave card.correct card.undo
    corrections.open corrections.remove corrections.again corrections.confirm corrections.clear corrections.undo
    corrections.check
    bulk.choose bulk.confirm bulk.collect bulk.back
    "judge corrections" "bulk preview"
    send.ask send.leave send.start
    returned.read returned.upload returned.confirm returned.confirm_all returned.check "read answers"
"""
#: The right that each of them needs.
NEEDED: dict[str, Right] = {
    **dict.fromkeys(shlex.split(_READ), Right.READ),
    **dict.fromkeys(shlex.split(_CORRECT), Right.CORRECT),
}


def right_needed(name: str) -> Right:
    """Return what a panel has to be allowed for an action, a task, a section, or something that a section reads."""
    return NEEDED.get(name, Right.EVERYTHING)
