"""A change of a value of a product: found, made, taken back, compared, and put into words. Pure: no disk, no network.

A `Change` says of one place of one product what is there (`before`) and what is to be there (`after`). It is written to
JSON and back, and equal to what is written alike.

**Places.** A path leads down from the attribute. An item of a list is known by what tells it from its neighbours
(`Item`): its language with the country, its code, its value, its unit, its address; by its index only where nothing
else does. So "fra-BE" is another place than "fra-FR", and a text is found again wherever it has moved. The order of a
list or an object is a place of its own (`ORDER`), and an item that is added or moved is no change of those beside it.

**Values.** What is one value for people changes as a whole: a code, an amount with its unit. A text changes by its
letters. ABSENT and NOT_ASKED are beside the values of JSON, so that all four absences are kept: absent, null, empty,
not asked for. Between nothing and a list of items lies the empty list, as a change of its own.

**Exact, and the same.** `diff` is exact, to the spelling of a number: `apply(a, diff(a, b))` is `b`, and the `inverse`
leads back. What of it says nothing new, `says_the_same` knows: labels, time stamps, null in place of absent. `is_same`
is that question of two values, and `apply` asks it before it replaces anything.

**Many.** Changes of many products are an Arrow table (`prodex.changes.columns`): records are compared as columns of
bytes, operations work on columns of leaves (`differing_leaves`), and only what differs becomes an object.

**Several times.** `prodex.changes.trails` follows each place through many records: histories and what was overridden
ask it. What a comparison lists are cells of tables, in which the order of a list says nothing; what an item of a list
is known by, it asks here (`prodex.changes.identity`).

What somebody answers in a cell, an exact answer, what the steps of a recipe leave, a row of a frame and an undo are
changes at once (`prodex.worklists.answer_changes`, `prodex.send.merging`); those of one product are joined by `apply`.

What people see in a cell (`worklists.evidence.alike`), amounts in other units and the normal form of letters are no
questions about a change: they belong to whoever asks them. A comparison and a history take both normal forms for one
text; what is written and taken back is compared letter by letter.

Examples
--------
>>> before = {"id": 7, "isTaggedBy": ["new"], "size": None}
>>> after = {"id": 7, "isTaggedBy": ["big", "new"], "size": []}
>>> for one in diff(before, after):
...     print(change_in_words(one), says_the_same(one))
isTaggedBy (big): nothing -> big False
isTaggedBy: another order False
size: nothing -> nothing True
>>> apply(before, diff(before, after)) == after, apply(after, inverse(diff(before, after))) == before
(True, True)
"""

from prodex.changes.applying import PlaceChanged, apply, check, inverse, is_made, value_at, why_not_sendable
from prodex.changes.change import ABSENT, NOT_ASKED, ORDER, Change, Item, NoValue, absence_of, by_product
from prodex.changes.columns import (
    applied,
    changes_of,
    differences,
    differing_leaves,
    table_of,
)
from prodex.changes.diffing import diff
from prodex.changes.identity import indexed, items_of, named, path_after, step_to, telling_apart
from prodex.changes.sameness import (
    MAINTAINED_BY_SERVICE,
    OF_THE_CODE,
    is_exact,
    is_nothing,
    is_same,
    said,
    says_the_same,
    with_orders,
)
from prodex.changes.words import change_in_words, in_words, place_in_words, sides_in_words, wire_path

__all__ = [
    "ABSENT",
    "MAINTAINED_BY_SERVICE",
    "NOT_ASKED",
    "OF_THE_CODE",
    "ORDER",
    "Change",
    "Item",
    "NoValue",
    "PlaceChanged",
    "absence_of",
    "applied",
    "apply",
    "by_product",
    "change_in_words",
    "changes_of",
    "check",
    "diff",
    "differences",
    "differing_leaves",
    "in_words",
    "indexed",
    "inverse",
    "is_exact",
    "is_made",
    "is_nothing",
    "is_same",
    "items_of",
    "named",
    "path_after",
    "place_in_words",
    "said",
    "says_the_same",
    "sides_in_words",
    "step_to",
    "table_of",
    "telling_apart",
    "value_at",
    "why_not_sendable",
    "wire_path",
    "with_orders",
]
