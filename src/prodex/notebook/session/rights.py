"""What a panel may do: everything in a notebook, less in a page for colleagues. What is not listed needs everything.

One list for each right, and not a word at each action: whoever asks what a page can do to this machine reads it here.
"""

from __future__ import annotations

from enum import IntEnum


class Right(IntEnum):
    """What a panel may do, each with what comes before it.

    Examples
    --------
    >>> right_needed("table.sort"), right_needed("send.start"), right_needed("an action of tomorrow")
    (<Right.READ: 1>, <Right.CORRECT: 2>, <Right.EVERYTHING: 3>)
    """

    #: Shows what is on this machine, and hands files over to the browser. It keeps none here, and asks no other host.
    READ = 1
    #: Collects corrections, and sends them to the service.
    CORRECT = 2
    #: Loads, accepts, saves, exports into folders and downloads pictures as well.
    EVERYTHING = 3


#: Sections, actions and tasks that need no more than to read.
_READ = """
    products quality coverage snapshots
    section.open frame.back fold.set form.set pages.turn work.cancel
    conditions.remove conditions.clear conditions.back conditions.forward conditions.either conditions.join
    conditions.others conditions.only
    facets.toggle facets.exclude facets.fold facets.unfold facets.find facets.more facets.fewer facets.zeros
    facets.drawer facets.limit facets.offer facets.speak facets.named facets.add facets.remove
    search.set search.help
    table.pick table.range table.sort table.turn table.open table.edit table.close table.select table.select_page
    table.select_all table.clear
    columns.add columns.remove columns.move
    products.look gallery.by gallery.group_by gallery.turn gallery.select gallery.keep
    products.download export.download
    card.close card.again
    quality.run quality.grade quality.failing quality.check quality.everything
    checks.open checks.explain checks.sort
    completeness.open heat.open
    coverage.sort coverage.cell coverage.row coverage.column coverage.add coverage.remove coverage.usual
    comparison.run comparison.since comparison.show comparison.products comparison.card
    snapshots.refresh snapshots.open snapshots.verify
"""
#: Those that need to correct.
_CORRECT = """
    corrections
    card.correct_first card.edit card.leave card.correct card.undo
    corrections.open corrections.remove corrections.again corrections.clear corrections.undo corrections.speak
    bulk.choose bulk.collect bulk.back
    returned.read returned.upload
    paste.confirm paste.clear
    send.confirm send.ask send.leave send.start send.check
"""
#: The right that each of them needs.
NEEDED: dict[str, Right] = {
    **dict.fromkeys(_READ.split(), Right.READ),
    **dict.fromkeys(_CORRECT.split(), Right.CORRECT),
}


def right_needed(name: str) -> Right:
    """Return what a panel has to be allowed for a section, an action or a task."""
    return NEEDED.get(name, Right.EVERYTHING)
