"""Groups of products: by owner, brand, kind, market, tag, language, or any column of `products`.

Every place that groups takes the same words and means the same by them:

- A group is made by code, never by label: labels follow the language that was asked for, and two owners can have one
  name. A column with a code beside it (`packaging`, `packaging_code`) is grouped by the code under either name. Codes
  are compared as they were sent; numbers and flags by their text.
- It is called by the label that most of its products have. Lists of names distinguish groups of one name (`shown`).
- A product counts in each group that it is in: it can have several tags and texts in several languages. What an update
  that waits would add does not count.
- A product that is in no other group is in the one whose code is None: the products without.

An audit asked for "language" scores the checks that are about texts in it, and a worklist for a language lists the
findings that are, since checks and findings have a language of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import QueryError
from prodex.facts.market import market_label, markets_of
from prodex.facts.name import CODE_OF, distinct_labels, text_languages
from prodex.facts.owner import owner_codes
from prodex.facts.pending import IS_OWN
from prodex.locales import language_label, short_of
from prodex.phrases import composed, hint, meant
from prodex.tables.columns import Rows, as_one_chunk, encoded, filled_values, places, unless_blank
from prodex.tables.declaration import TABLES

if TYPE_CHECKING:
    from prodex.languages import Translation

#: What people group by most, in the order in which it is proposed.
BY = ("owner", "brand", "kind", "market", "language", "tag")
#: What an audit can be grouped by without its catalogue.
KEPT = BY[:4]

#: Codes of which a table of all products and codes is small.
_NARROW = 64

_COLUMNS = TABLES["products"].schema.names
_LABEL_OF = {code: label for label, code in CODE_OF.items()}

#: Gives a column, one value for each product; "owner_id" is `owner_codes`, and "market" is `markets_of`.
Column = Callable[[str], pa.Array]
#: Gives rows of a child table that are the products' own: `product`, the place of the product, and the columns named.
#: With `filled`, only rows that have data in that column. Rows that are equal may be given once.
OwnRows = Callable[..., pa.Table]


@dataclass(frozen=True, eq=False)
class Groups:
    """Which products belong to which group.

    Attributes
    ----------
    by
        What they are grouped by.
    rows, groups
        Place of a product and number of its group, in pairs, each once.
    codes, labels
        Of each group. The code None is that of the products without; a group that is called nothing has no label.
    """

    by: str
    rows: Rows
    groups: Rows
    codes: list[str | None]
    labels: list[str | None]

    @classmethod
    def of(
        cls,
        by: str,
        size: int,
        pairs: tuple[Rows, Rows],
        codes: Sequence[str | None],
        labels: Sequence[str | None],
    ) -> Self:
        """Put products that are in no group, of so many, into the one of those without."""
        rows, groups = pairs
        codes, labels = list(codes), list(labels)
        # Nobody drops out: a product that is in no group is found in the last one.
        outside = np.ones(size, bool)
        outside[rows] = False
        others = np.flatnonzero(outside)
        if len(others):
            if None not in codes:
                codes, labels = [*codes, None], [*labels, None]
            rows = np.concatenate([rows, others])
            groups = np.concatenate([groups, np.full(len(others), codes.index(None))])
        return cls(by, rows, groups, codes, labels)

    @classmethod
    def one(cls, by: str, rows: Rows) -> Self:
        """Put products, given by their places, into one group without a code."""
        return cls(by, rows, np.zeros(len(rows), np.int64), [None], [None])

    @property
    def sizes(self) -> Rows:
        """How many products each group has."""
        return np.bincount(self.groups, minlength=len(self.codes))

    @property
    def shown(self) -> list[str]:
        """How each group is listed; groups of one name with their codes behind."""
        return distinct_labels(self.codes, self.labels, f"without {self.by}")

    def called(self, name: str) -> list[str]:
        """Return the codes of the groups that have this code, or else this name, or that are listed like this."""
        for words in (self.codes, self.labels, self.shown):
            names = meant(name, filter(None, words))
            pairs = zip(words, self.codes, strict=True)
            if found := [code for word, code in pairs if code is not None and word in names]:
                return found
        return []

    def members(self, code: str | None) -> Rows:
        """Return the places of the products in a group; none where there is no such group."""
        if self.by == "language" and code is not None:
            code = short_of(code)
        if code not in self.codes:
            return np.zeros(0, np.int64)
        members: Rows = self.rows[self.groups == self.codes.index(code)]
        return members


def grouped(by: str, size: int, column: Column, own_rows: OwnRows) -> Groups:
    """Group products.

    Parameters
    ----------
    by
        "owner", "brand", "kind", "market", "language", "tag", or a column of `products`.
    size
        How many products there are.
    column, own_rows
        What reads them.

    Raises
    ------
    QueryError
        When there is nothing to group by under this name; the message names the nearest.
    """
    code, label = _code_and_label_columns(by)
    if code == "tag":
        return _by_tag(size, own_rows("tags", "tag"))
    if code == "language":
        return _by_language(size, own_rows("texts", "language", "language_code", filled="text"))
    names, groups = _spelled_once(*encoded(_as_text(column(code))))
    if label is not None:
        labels = _labels(groups, column(label), len(names))
    elif code in {"market", "target_market"}:
        labels = [market_label(one) for one in names]
    else:
        labels = list(names)
    there = np.flatnonzero(groups >= 0)
    return Groups.of(by, size, (there, groups[there]), names, labels)


def groups_of(catalog: Catalog, by: str) -> Groups:
    """Group the products of a catalogue; see `grouped`.

    Examples
    --------
    >>> import prodex
    >>> owners = [{"id": 4, "name": "Mill"}, {"id": 5, "name": "Mill"}, None]
    >>> groups = groups_of(prodex.flatten({"id": n, "owner": owner} for n, owner in enumerate(owners)), "owner")
    >>> groups.codes, groups.shown
    (['4', '5', None], ['Mill (4)', 'Mill (5)', 'without owner'])
    """

    def column(name: str) -> pa.Array:
        return fact_column(name, catalog)

    return grouped(by, len(catalog), column, partial(own_rows, catalog, column))


def own_rows(catalog: Catalog, column: Column, table: str, *columns: str, filled: str = "") -> pa.Table:
    """Return the products' own rows of a child table; their places are those of the column `product_id`."""
    rows = catalog.arrow(table, ["product_id", *columns, *filter(None, [filled])], IS_OWN)
    if filled:
        rows = rows.filter(pa.array(filled_values(as_one_chunk(rows[filled])))).drop_columns(filled)
    place = places(as_one_chunk(rows["product_id"]), column("product_id"))
    return rows.drop_columns("product_id").add_column(0, "product", pa.array(place))


def fact_column(name: str, catalog: Catalog) -> pa.Array:
    """Return a column of a catalogue's products as groups are made by it: the owner's code, the market that counts."""
    if name == "market":
        return markets_of(fact_column("target_market", catalog), catalog.origin)
    if name == "owner_id":
        return owner_codes(lambda one: as_one_chunk(catalog.arrow("products", [one])[one]))
    return as_one_chunk(catalog.arrow("products", [name])[name])


def column_names(by: str) -> tuple[str, ...]:
    """Return how the columns of a group's code and label are called in a result; what has no labels has no second one.

    >>> column_names("owner"), column_names("gpc_code"), column_names("market"), column_names("tag")
    (('owner_id', 'owner'), ('gpc_code', 'gpc'), ('market', 'market_label'), ('tag',))
    """
    code, label = _code_and_label_columns(by)
    if code in {"market", "target_market", "language"}:  # whose labels no column holds
        label = f"{code}_label"
    return (code,) if label is None else (code, label)


def with_names(
    frame: pd.DataFrame, codes: Sequence[str | None], labels: Sequence[str | None], by: str
) -> pd.DataFrame:
    """Put the columns with code and label of groups before their figures."""
    for place, (name, values) in enumerate(zip(column_names(by), (codes, labels), strict=False)):
        frame.insert(place, name, pd.Series(list(values), frame.index, dtype="str"))
    return frame


def shown_names(frame: pd.DataFrame, by: str, words: Translation | None = None) -> list[str]:
    """Return how the groups of such a frame are listed, row by row, in a language; English by default."""
    names = column_names(by)
    codes, labels = ([None if pd.isna(one) else one for one in frame[name]] for name in (names[0], names[-1]))
    without = f"without {by}"
    if words is None or words.is_english:
        return distinct_labels(codes, labels, without)
    if by == "language":
        labels = [None if one is None else words.language_label(one) for one in codes]
    elif names[0] in {"market", "target_market"}:
        labels = [market_label(one, words.language) for one in codes]
    return distinct_labels(codes, labels, words.gettext(without))


def _code_and_label_columns(by: str) -> tuple[str, str | None]:
    """Return the columns with code and label; the latter is None where the code is called by itself."""
    if not isinstance(by, str) or by not in (*BY, *_COLUMNS):
        otherwise = f"Group by {', '.join(BY)} or a column of products."
        near = hint(str(by), [*BY, *_COLUMNS], otherwise)
        raise QueryError(f"There is nothing to group by that is called {by!r:.60}{near}")
    if by in {"owner", "owner_id"}:
        return "owner_id", "owner"
    code = CODE_OF.get(by, by)
    return code, _LABEL_OF.get(code)


def _spelled_once(distinct: pa.Array, codes: Rows) -> tuple[list[str | None], Rows]:
    """Make one code of those that differ only in the way in which their accents are written."""
    names: list[str] = distinct.to_pylist()
    if all(name.isascii() for name in names):
        return [*names], codes
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(composed(name), []).append(name)
    place = {one: number for number, one in enumerate(alike)}
    # The last one is for products without a code.
    of_each = np.array([*(place[composed(name)] for name in names), -1], np.int64)
    # A name is kept as it was sent; it is composed where both forms were sent.
    return [one if one in several else min(several) for one, several in alike.items()], of_each[codes]


def _as_text(values: pa.Array) -> pa.Array:
    return values if pa.types.is_dictionary(values.type) else values.cast(pa.string())


def _labels(groups: Rows, labels: pa.Array, count: int) -> list[str | None]:
    """Return the label of each group: the one that most of its products have, and of several the first by alphabet."""
    texts, label = encoded(unless_blank(labels))
    there = (groups >= 0) & (label >= 0)
    pairs = pa.array(groups[there] * len(texts) + label[there]).value_counts()
    group, of_group = np.divmod(pairs.field("values").to_numpy(), max(len(texts), 1))
    alphabet = np.empty(len(texts), np.int64)
    alphabet[pc.array_sort_indices(texts).to_numpy()] = np.arange(len(texts))
    found: list[str | None] = [None] * count
    names = texts.to_pylist()
    # The last one that is set for a group stays: the most frequent one.
    for place in np.lexsort((-alphabet[of_group], pairs.field("counts").to_numpy())):
        found[group[place]] = names[of_group[place]]
    return found


def _by_tag(size: int, tags: pa.Table) -> Groups:
    names, tag = _spelled_once(*encoded(tags["tag"]))
    return Groups.of("tag", size, _once(tags["product"], tag, len(names)), names, names)


def _by_language(size: int, texts: pa.Table) -> Groups:
    codes, language = encoded(
        text_languages(as_one_chunk(texts["language"]), as_one_chunk(texts["language_code"]))
    )
    names = codes.to_pylist()
    pairs = _once(texts["product"], language, len(names))
    return Groups.of("language", size, pairs, names, [language_label(one) for one in names])


def _once(product: pa.ChunkedArray, code: Rows, width: int) -> tuple[Rows, Rows]:
    """Return each pair of product and code once, by product; those that are of no product or code are left out."""
    products = as_one_chunk(product).to_numpy(zero_copy_only=False)
    there = (products >= 0) & (code >= 0)
    products, code = products[there].astype(np.int64), code[there]
    if (
        len(products) and width <= _NARROW
    ):  # several times as fast as sorting, for the languages of millions of texts
        has = np.zeros((products.max() + 1, width), bool)
        has[products, code] = True
        rows, groups = np.nonzero(has)
        return rows, groups
    pairs = np.unique(products * max(width, 1) + code)
    return pairs // max(width, 1), pairs % max(width, 1)
