"""Columns that were too short: where texts were cut, seen across products, since one text alone does not show it.

A column of 255 characters leaves many texts of exactly 255, and as few of 253 or 257 as ever. So the lengths of the
texts of each attribute are counted over the whole catalogue, for each owner apart (everybody has columns of their own)
and for all owners together (the service has columns as well). A length at which far more texts end than beside it is
one at which they were cut.

The rule `texts_not_cut_off` asks this of all texts. Any other rule can: declare it with `gather=CutLengths.gather,
prepare=CutLengths.of`, which are computed once for all of them, and ask what it is given for the `rows` that were cut.

Whoever knows more than one text can tell more: that many of an owner's texts end at the same length. What says so can
be joined with this, text by text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.owner import owner_codes
from prodex.facts.requested_data import OR
from prodex.languages import Message
from prodex.quality.products import Products
from prodex.tables.columns import Mask, Numbers, Rows, as_one_chunk, by_value, combinations, encoded

#: What distinguishes owners: without it, nobody knows whose columns are too short.
OWNER = OR.join(("owner.id", "owner.uuid", "owner.name"))
#: Units in which columns are measured. What is cut in bytes can lose the rest of a letter, too.
_CHARACTERS, _BYTES = "characters", "bytes"
#: Lengths below are those of codes and names, of which many are equally long.
_SHORTEST = 20
#: A cut length has at least so many different texts, and so many times those of the lengths near it. Real columns are
#: far above that: of 20,600 products, 978 had ingredients of 254 to 256 characters, and about 19 each had one of the
#: lengths beside these.
_FEWEST, _TIMES = 5, 8
#: It also has at least so many times the texts of the lengths right behind it.
_TIMES_BEHIND = 4
#: The lengths near it that are compared: not the next two, where a cut text may end that lost a space.
_NEXT, _FURTHEST = 3, 12
#: If a little shorter texts are at least so many times those near it, they were cut as well, and lost a space.
_TIMES_SHORTER = 4

_UInts: TypeAlias = npt.NDArray[np.uint64]

_SCHEMA = pa.schema(
    [
        ("owner", pa.string()),
        ("attribute", pa.string()),
        ("unit", pa.string()),
        ("length", pa.int64()),
        ("count", pa.int64()),
        ("ends", pa.uint64()),
        ("bodies", pa.uint64()),
    ]
)


@dataclass(frozen=True)
class CutLength:
    """A length at which texts of an attribute were cut.

    Attributes
    ----------
    owner
        Whose texts; None where it is seen over all owners.
    attribute
        Wire path.
    unit
        "characters" or "bytes" (of UTF-8).
    length
        Of the column that was too short.
    count
        How many texts end there.
    beside
        How many end at a length beside it, on average.
    """

    owner: str | None
    attribute: str
    unit: str
    length: int
    count: int
    beside: float

    @property
    def reason(self) -> Message:
        """Why a text of this length was cut."""
        return _CUT[self.unit, self.owner is None].with_values(
            length=self.length, count=self.count, figure=self.beside
        )


#: By the unit of the column, and whether it is one of all owners.
_CUT = {
    (_CHARACTERS, True): Message(
        "cut at {length} characters, where {count} texts end, and {figure:.2g} at each length beside it: a column was "
        "too short"
    ),
    (_BYTES, True): Message(
        "cut at {length} bytes, where {count} texts end, and {figure:.2g} at each length beside it: a column was too "
        "short"
    ),
    (_CHARACTERS, False): Message(
        "cut at {length} characters, where {count} texts of this owner end, and {figure:.2g} at each length beside it: "
        "a column was too short"
    ),
    (_BYTES, False): Message(
        "cut at {length} bytes, where {count} texts of this owner end, and {figure:.2g} at each length beside it: a "
        "column was too short"
    ),
}


@dataclass(frozen=True)
class CutLengths:
    """The lengths at which texts were cut, of all parts together.

    Attributes
    ----------
    found
        By owner (None: all), attribute, unit and length of a text.
    """

    found: Mapping[tuple[str | None, str, str, int], CutLength]

    @staticmethod
    def gather(products: Products) -> pa.Table:
        """Count the texts of a part by owner, attribute and length.

        Texts are replaced by 64 bits, of which one is set for each ending that occurs: enough to estimate how many
        different endings there are, and the bits of several parts can be merged.
        """
        if not products.are_asked_for([OWNER]):
            return _SCHEMA.empty_table()
        table = products.arrow("texts", "attribute", "text")
        attributes = as_one_chunk(table["attribute"]).dictionary_encode()
        # Where not all texts of an attribute were requested, their lengths say nothing.
        is_whole = by_value(attributes, lambda one: products.are_asked_for([f"{one}.data"]), False)
        texts = as_one_chunk(table["text"])
        characters = np.asarray(pc.fill_null(pc.utf8_length(texts), 0).to_numpy(zero_copy_only=False))
        rows = np.flatnonzero((characters >= _SHORTEST) & is_whole.astype(bool))
        taken = pa.array(rows)
        owners = (
            owner_codes(products.column).dictionary_encode().take(as_one_chunk(table["product"]).take(taken))
        )
        # Texts are not copied: these are all that there are, and only some of their bytes are looked at.
        begins, ends, data = _where_held(texts, rows)
        end, body = _marks(ends, data, 0), _marks(ends, data, 12)
        found = [
            _endings_by_length(owners, attributes.take(taken), unit, length, end, body)
            for unit, length in ((_CHARACTERS, characters[rows].astype(np.int64)), (_BYTES, ends - begins))
        ]
        return pa.concat_tables([_SCHEMA.empty_table(), *found])

    @classmethod
    def of(cls, lengths: pa.Table) -> Self:
        """Return the lengths at which texts were cut, from those that were counted in all parts."""
        keys, values = combinations(*(lengths[name] for name in ("owner", "attribute", "unit", "length")))
        size = len(values[0])
        count = np.bincount(keys, lengths["count"].to_numpy(), size)
        ends, bodies = (_put_together(keys, size, lengths[name].to_numpy()) for name in ("ends", "bodies"))
        groups, distinct = combinations(*values[:3])
        length = values[3].to_numpy()
        number = _estimated_distinct(count, ends, bodies)
        of_owners = _peaks(groups, length, count, number, number)
        # All owners together, each counted no more often than the average one: the column of one of them says nothing
        # about the texts of another.
        together, common = combinations(*values[1:])
        every = np.bincount(together, count, len(common[0]))
        shared, names = combinations(*common[:2])
        owners = np.bincount(
            shared[together[np.unique(groups, return_index=True)[1]]], minlength=len(names[0])
        )
        most = np.ceil(every / np.maximum(owners[shared], 1))
        spread = np.bincount(together, np.minimum(count, most[together]), len(every))
        masks = [_put_together(together, len(every), each) for each in (ends, bodies)]
        of_all = _peaks(
            shared,
            common[2].to_numpy(),
            every,
            _estimated_distinct(spread, *masks),
            _estimated_distinct(every, *masks),
        )
        found: dict[tuple[str | None, str, str, int], CutLength] = {}
        for peaks, columns in ((of_all, names), (of_owners, distinct)):
            # The largest first: of two lengths next to each other, it is the column's.
            for group, at, counted, beside in sorted(peaks, key=itemgetter(2), reverse=True):
                *owner, attribute, unit = (column[group].as_py() for column in columns)
                whose = (owner[0] or "") if owner else None
                cut = CutLength(whose, attribute, unit, at[0], counted, beside)
                for each in at:
                    found.setdefault((whose, attribute, unit, each), cut)
        return cls(found)

    def rows(
        self,
        products: Products,
        product: Rows,
        attributes: Sequence[str],
        attribute: Rows,
        texts: pa.Array,
        text: Rows,
    ) -> dict[int, CutLength]:
        """Return the texts that end where a column was too short, by their row.

        Parameters
        ----------
        products
            The part.
        product, attribute, text
            One value for each row: the position of its product, and the place of its attribute among `attributes` and
            of its text among `texts`.
        attributes
            Wire paths.
        texts
            Each text once.
        """
        found = self.found
        if not found:
            return {}
        owners, owner = encoded(owner_codes(products.column))
        names = [*owners.to_pylist(), ""]  # the last one is that of products without an owner
        cuts: dict[int, CutLength] = {}
        known = {
            unit: np.array([key[3] for key in found if key[2] == unit]) for unit in (_CHARACTERS, _BYTES)
        }
        for unit, length in _lengths(texts):
            # Only a few lengths are candidates; each text that has one of them is looked up.
            rows = np.flatnonzero(np.isin(length, known[unit])[text])
            for row in rows.tolist():
                place = attributes[attribute[row]], unit, int(length[text[row]])
                cut = found.get((names[owner[product[row]]], *place)) or found.get((None, *place))
                if cut is not None:
                    cuts.setdefault(row, cut)
        return cuts

    @staticmethod
    def are_known(products: Products) -> Mask:
        """Say of which products it is known whether their texts end where a column was too short: all, or none."""
        return np.full(len(products), products.are_asked_for([OWNER]))


def _bytes_of(texts: pa.Array) -> Rows:
    return np.asarray(pc.binary_length(texts).to_numpy(zero_copy_only=False), np.int64)


def _lengths(texts: pa.Array) -> list[tuple[str, Rows]]:
    characters = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
    return [(_CHARACTERS, np.asarray(characters, np.int64)), (_BYTES, _bytes_of(texts))]


def _where_held(texts: pa.Array, rows: Rows) -> tuple[Rows, Rows, npt.NDArray[np.uint8]]:
    """Return where some texts begin and end in the bytes that hold them, and these bytes."""
    if not len(texts):
        return rows, rows, np.zeros(0, np.uint8)
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    offsets = np.frombuffer(texts.buffers()[1], kind)[texts.offset :]
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    return offsets[rows].astype(np.int64), offsets[rows + 1].astype(np.int64), data


def _marks(ends: Rows, data: npt.NDArray[np.uint8], before: int) -> _UInts:
    """Return for each text one of 64 bits by eight of its bytes, so many before its end."""
    mixed = np.zeros(len(ends), np.uint64)
    for place in range(1, 9):
        mixed = mixed * np.uint64(257) + data[ends - before - place]
    return np.uint64(1) << ((mixed * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58))


def _endings_by_length(
    owners: Any, attributes: Any, unit: str, length: Rows, end: _UInts, body: _UInts
) -> pa.Table:
    place, values = combinations(owners, attributes, pa.array(length))
    size = len(values[0])
    ends, bodies = np.zeros((2, size), np.uint64)
    np.bitwise_or.at(ends, place, end)
    np.bitwise_or.at(bodies, place, body)
    counts = np.bincount(place, minlength=size)
    columns = [values[0], values[1], pa.repeat(unit, size), values[2], pa.array(counts), pa.array(ends)]
    return pa.table([*columns, pa.array(bodies)], schema=_SCHEMA)


def _put_together(keys: Rows, size: int, marks: _UInts) -> _UInts:
    together = np.zeros(size, np.uint64)
    np.bitwise_or.at(together, keys, marks)
    return together


def _estimated_distinct(count: Numbers | Rows, *marks: _UInts) -> Numbers:
    """Say about how many different texts there are, at most: as many as endings, and as bodies before them.

    A text that many products share is one, and so are those that differ in a number only.
    """
    estimates = []
    for bits in marks:
        free = 64 - np.bitwise_count(bits).astype(float)
        # Of n different things in 64 places, this share of the places stays free (linear counting). More than some 270
        # cannot be distinguished; where an attribute has so many everywhere, its owners have enough each.
        estimates.append(-64 * np.log(np.maximum(free, 1) / 64))
    return np.asarray(np.minimum(count, np.minimum.reduce(estimates)))


def _peaks(
    group: Rows, length: Rows, count: Numbers | Rows, number: Numbers, every: Numbers
) -> list[tuple[int, tuple[int, ...], int, float]]:
    """Return group, lengths, count and the mean beside it where far more end than beside it.

    Parameters
    ----------
    group, length
        Of each length of each group.
    count
        How many texts end there.
    number, every
        How many different ones: those that have to be enough, and those with which they are compared.
    """
    if not len(group):
        return []
    # One number for group and length, so that the neighbours of all are found in one search.
    span = int(length.max()) + 2 * _FURTHEST + 1
    key = group * span + length + _FURTHEST
    order = np.argsort(key)
    key, group, length, count = key[order], group[order], length[order], np.asarray(count, float)[order]
    number, every = number[order], every[order]
    sums = np.concatenate([[0.0], np.cumsum(every)])

    def between(first: int, last: int) -> Numbers:
        begin, end = np.searchsorted(key, key + first, "left"), np.searchsorted(key, key + last, "right")
        return np.asarray(sums[end] - sums[begin])

    beside = between(-_FURTHEST, -_NEXT) + between(_NEXT, _FURTHEST)
    beside = np.maximum(beside, 0) / (2 * (_FURTHEST - _NEXT + 1))
    shorter = [between(-less, -less) for less in range(1, _NEXT)]
    # The middle of a narrow distribution, as of names, has nearly as many texts right behind it.
    behind = between(1, _NEXT) / _NEXT
    rows = np.flatnonzero((number >= _FEWEST - 0.5 + _TIMES * beside) & (number >= _TIMES_BEHIND * behind))
    return [
        (
            int(group[row]),
            (
                int(length[row]),
                *(
                    int(length[row]) - less
                    for less, ending in enumerate(shorter, 1)
                    if ending[row] and ending[row] >= _TIMES_SHORTER * beside[row]
                ),
            ),
            int(count[row]),
            float(beside[row]),
        )
        for row in rows
    ]
