"""The ledger of a load: what the service announced against what was received, and whether that is all of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

from prodex.files.untrusted import converted

if TYPE_CHECKING:
    from prodex.languages import Message

#: Most products that a ledger lists by name for one reason: it is written into every manifest, and into an error.
MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the service announced against what was received.

    Attributes
    ----------
    announced
        Number of matching products (`totalResults`) as announced before the first page, or None where nobody announced
        anything (records from memory or files).
    announced_last
        The same on the last page, where the pages follow one another from begin to end.
    announced_end
        The same when all was fetched.
    received
        Products that were received, repetitions included.
    distinct
        Different products that are kept.
    arrived
        Those of them that were only received with the last pass, which looks through what changed while it was loaded.
    listed
        Number of products in the listing of all keys that was made because the numbers did not agree, or because a
        refresh was asked to sweep; None where there was none, or it did not agree with itself.
    gone
        Products that were received, or were in the catalogue, and have disappeared: the listing does not name them, and
        the service does not return them by GTIN.
    missing_gtins
        GTINs that were asked for and that the service does not have for this query.
    set_aside
        Items that could not be read as a product, each with its place and the reason.
    not_loaded
        What the service has and did not return: a product or a window of the pull, each with the reason.
    doubtful
        Products that are kept although the service does not show them any more, each with the reason why that proves
        nothing.
    unmatched
        Products that were received and do not match the query, as their own record shows, each with the filter.
    left_out
        Records that were left out because another record has their key and is not the same product.
    notes
        Where the service contradicts itself or the specification, and how that was resolved.

    Examples
    --------
    >>> Ledger(announced=3, distinct=2).complete, str(Ledger(announced=3, distinct=2))
    (False, '2 of 3 products')
    """

    announced: int | None = None
    announced_last: int | None = None
    announced_end: int | None = None
    received: int = 0
    distinct: int = 0
    arrived: int = 0
    listed: int | None = None
    gone: int = 0
    missing_gtins: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    not_loaded: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether at least as many products were received as announced, or all that a listing of every key names.

        A service that announces fewer products than it returns contradicts itself, which is a note; what it returned
        is kept. A catalogue with products that may have gone, or that nobody requested, or without a received record,
        is not what was asked for.
        """
        if self.not_loaded or self.doubtful or self.unmatched or self.left_out:
            return False
        # What could not be read may have been a product, unless the number of products is right without it.
        if self.set_aside and self.announced_end != self.distinct:
            return False
        if self.listed is not None:
            return self.listed <= self.distinct
        return self.distinct >= max(self.announced or 0, self.announced_last or 0, self.announced_end or 0)

    @property
    def agrees(self) -> bool:
        """Whether what is kept agrees with all that was announced, exactly.

        A total from before the end may be lower by the products that the last pass saw arrive.
        """
        early = [total for total in (self.announced, self.announced_last) if total is not None]
        return self.announced_end in {None, self.distinct} and all(
            self.distinct - self.arrived <= total <= self.distinct for total in early
        )

    def __str__(self) -> str:
        return ", ".join(map(str, self.said))

    @property
    def said(self) -> tuple[Message, ...]:
        """How many products were received of how many, and what became of the others."""
        # Imported on request: most ledgers are never shown.
        from prodex.languages import Message

        # The most reliable number first: a listing names every key, and the last total is newer than the first.
        total = next((n for n in (self.listed, self.announced_end, self.announced) if n is not None), None)
        said = [
            Message("{count} of an unknown number of products", count=self.distinct)
            if total is None
            else Message("{count} of {of} products", count=self.distinct, of=total)
        ]
        if self.announced is not None and self.announced != total:
            said.append(
                Message.of_number(
                    "{number} announced at first", "{number} announced at first", self.announced
                )
            )
        if self.announced_last is not None and self.announced_last not in {self.announced, total}:
            said.append(
                Message.of_number(
                    "{number} announced on the last page",
                    "{number} announced on the last page",
                    self.announced_last,
                )
            )
        more = (
            Message.of_number(
                "{number} came more than once",
                "{number} came more than once",
                self.received - self.distinct - self.gone,
            ),
            Message.of_number("{number} disappeared", "{number} disappeared", self.gone),
            Message.of_number(
                "{number} GTIN asked for did not come",
                "{number} GTINs asked for did not come",
                len(self.missing_gtins),
            ),
            Message.of_number("{number} set aside", "{number} set aside", len(self.set_aside)),
            Message.of_number(
                "{number} may have disappeared", "{number} may have disappeared", number_of(self.doubtful)
            ),
            Message.of_number(
                "{number} does not match the query",
                "{number} do not match the query",
                number_of(self.unmatched),
            ),
            Message.of_number("{number} left out", "{number} left out", number_of(self.left_out)),
        )
        said += [one for one in more if one.values["number"] > 0]
        if self.not_loaded:
            # Of windows and of the budget as well as of products, so that it is no number of products.
            said.append(
                Message.of_number(
                    "{number} part of the load failed",
                    "{number} parts of the load failed",
                    len(self.not_loaded),
                )
            )
        if self.notes:
            said.append(
                Message.of_number(
                    "{number} note about the service", "{number} notes about the service", len(self.notes)
                )
            )
        return tuple(said)

    @property
    def problems(self) -> list[tuple[str, str]]:
        """What is missing or wrong, and why: (product or place, reason).

        Examples
        --------
        >>> Ledger(distinct=1, missing_gtins=("03036811359935",)).problems
        [('03036811359935', 'asked for by GTIN, and the service has none for this query')]
        """
        why = "asked for by GTIN, and the service has none for this query"
        # Without another product that was received, nothing shows that the service answers such a request at all.
        if not self.distinct:
            why = "asked for by GTIN, and nothing came at all, so whether the service has it is not known"
        unknown = [(gtin, why) for gtin in self.missing_gtins]
        others = (*self.set_aside, *self.not_loaded, *self.doubtful, *self.unmatched, *self.left_out)
        reasons = [text.partition(": ")[::2] for text in others]
        return [*unknown, *reasons]

    def with_note(self, note: str) -> Self:
        """Return the ledger with one more note.

        Examples
        --------
        >>> Ledger().with_note("the clock was set back").notes
        ('the clock was set back',)
        """
        return replace(self, notes=(*self.notes, note))

    def to_json(self) -> dict[str, Any]:
        """Return the ledger as plain JSON values.

        Examples
        --------
        >>> Ledger(announced=3, distinct=2).to_json()["announced"]
        3
        """
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            When it is anything else. A ledger with a fact that this version does not know is refused as well: the
            fact may be that products are missing.

        Examples
        --------
        >>> Ledger.from_json({"announced": 3, "distinct": 2}) == Ledger(announced=3, distinct=2)
        True
        """
        unknown = sorted(value.keys() - {one.name for one in fields(cls)})
        if unknown:
            raise ValueError(
                f"its ledger has {unknown[0]!r:.60}, which this version does not know: update prodex"
            )
        ledger = converted(value, cls)
        for name in value:
            if isinstance(number := getattr(ledger, name), int) and number < 0:
                raise ValueError(f"its ledger has {number} under {name}")
        return ledger


def product_named(product: str, gtin: str | None) -> str:
    """Return what a ledger calls a product.

    >>> product_named("7", "03036811359935"), product_named("7", None)
    ('product 7, GTIN 03036811359935', 'product 7, GTIN None')
    """
    return f"product {product}, GTIN {gtin}"


def limited_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, each about one product, as far as a ledger lists them; then how many there are besides.

    >>> lines = tuple(limited_lines(f"product {number}: gone" for number in range(10_003)))
    >>> len(lines), lines[-1], number_of(lines)
    (10001, 'and 3 more: only 10,000 are listed', 10003)
    """
    more = 0
    for number, line in enumerate(lines):
        if number < MOST_LISTED:
            yield line
        else:
            more += 1
    if more:
        yield f"and {more} more: only {MOST_LISTED:,} are listed"


def number_of(lines: Sequence[str]) -> int:
    """Return how many products `limited_lines` had to list."""
    more = _MORE.match(lines[-1]) if lines else None
    return len(lines) - 1 + int(more[1]) if more else len(lines)


_MORE = re.compile(r"and ([0-9]+) more: ", re.ASCII)
