"""Where a catalogue comes from: what was asked for, what came, and whether that is all of it.

An origin travels with its catalogue through filters, snapshots and exports. Without it nobody can tell "the supplier
left this empty" from "nobody asked for it".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Self

import msgspec

from prodex.files.untrusted import Moment, check_moment, converted
from prodex.locales import short_of
from prodex.query import ProductQuery


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the service announced against what came.

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
        Products that came, repetitions included.
    distinct
        Different products that are kept.
    arrived
        Those of them that only came with the last pass, which looks through what changed while it was loaded.
    listed
        Number of products in the listing of all keys that was made because the numbers did not agree, or because a
        refresh was asked to sweep; None where there was none, or it did not agree with itself.
    gone
        Products that came, or were there, and have disappeared: the listing does not name them, and asked for by GTIN
        they were not there.
    missing_gtins
        GTINs that were asked for and that the service does not have for this query.
    set_aside
        What came and could not be read as a product, each with its place and the reason.
    not_loaded
        What the service has and did not give: a product or a stretch of the pull, each with the reason.
    notes
        What the service said that contradicts itself or the specification, and what was made of it.

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
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether at least as many products came as were announced, or all that a listing of every key names.

        A service that announces fewer products than it gives contradicts itself, which `notes` says; what it gave is
        kept.
        """
        if self.not_loaded:
            return False
        # What could not be read may have been a product, unless just as many came without it as there are.
        if self.set_aside and self.announced_end != self.distinct:
            return False
        if self.listed is not None:
            return self.listed <= self.distinct
        return self.distinct >= max(self._totals(), default=0)

    @property
    def agrees(self) -> bool:
        """Whether what is kept agrees with all that was announced, exactly.

        A total from before the end may be lower by the products that the last pass saw arrive.
        """
        early = [total for total in (self.announced, self.announced_last) if total is not None]
        return self.announced_end in {None, self.distinct} and all(
            self.distinct - self.arrived <= total <= self.distinct for total in early
        )

    def _totals(self) -> list[int]:
        totals = (self.announced, self.announced_last, self.announced_end)
        return [total for total in totals if total is not None]

    def __str__(self) -> str:
        total = next((n for n in (self.listed, self.announced_end, self.announced) if n is not None), None)
        words = [f"{self.distinct:,} of {'an unknown number of' if total is None else f'{total:,}'} products"]
        if self.announced not in {None, total}:
            words.append(f"{self.announced:,} announced at first")
        if self.announced_last not in {None, self.announced, total}:
            words.append(f"{self.announced_last:,} announced on the last page")
        if self.received > self.distinct + self.gone:
            words.append(f"{self.received - self.distinct - self.gone:,} came more than once")
        if self.gone:
            words.append(f"{self.gone:,} disappeared")
        if self.missing_gtins:
            words.append(f"{len(self.missing_gtins):,} GTINs asked for did not come")
        if self.set_aside:
            words.append(f"{len(self.set_aside):,} set aside")
        if self.not_loaded:
            words.append(f"{len(self.not_loaded):,} could not be loaded")
        if self.notes:
            words.append(
                f"{len(self.notes):,} {'note' if len(self.notes) == 1 else 'notes'} about the service"
            )
        return ", ".join(words)

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Return what is not there and why: (product or place, reason).

        Examples
        --------
        >>> Ledger(missing_gtins=("03036811359935",)).problems
        [('03036811359935', 'asked for by GTIN, and the service has none for this query')]
        """
        unknown = [
            (gtin, "asked for by GTIN, and the service has none for this query")
            for gtin in self.missing_gtins
        ]
        told = [text.partition(": ")[::2] for text in (*self.set_aside, *self.not_loaded)]
        return [*unknown, *told]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a catalogue comes from.

    Attributes
    ----------
    source
        The service's base URL, or the files, or "records".
    query
        What was asked for; None for records and files, which hold what they hold.
    accept_language
        Language of the code labels that was asked for; None is the service's default, US English.
    labels
        Further languages in which code labels were loaded.
    server_time
        The service's clock when the load began, UTC; the only clock a later refresh may go by.
    loaded_at
        Our clock when the load began, UTC.
    asked_by
        Fingerprint of the access key that asked: what a service shows depends on who asks.
    ledger
        What was announced against what came.

    Examples
    --------
    >>> import prodex
    >>> prodex.flatten([{"id": 7}]).origin.source
    'records'
    """

    source: str
    query: ProductQuery | None = None
    accept_language: str | None = None
    labels: tuple[str, ...] = ()
    server_time: datetime | None = None
    loaded_at: datetime | None = None
    asked_by: str | None = None
    ledger: Ledger = field(default_factory=Ledger)

    @property
    def complete(self) -> bool:
        return self.ledger.complete

    def asked(self, attribute: str, language: str | None = None) -> bool:
        """Say whether an attribute (and, of a text, a language) was asked for at all.

        Parameters
        ----------
        attribute
            Wire path, such as `namePublicLong` or `assets.pictures.url`.
        language
            Short or long language code, such as "fr".

        Examples
        --------
        >>> origin = Origin("sandbox", ProductQuery(source_include=["assets"], product_languages=["fr"]))
        >>> origin.asked("assets.pictures"), origin.asked("brand"), origin.asked("assets", "de")
        (True, False, False)
        """
        if self.query is None:
            return True
        included = self.query.source_include
        if included and not any(_within(attribute, path) or _within(path, attribute) for path in included):
            return False
        if any(_within(attribute, path) for path in self.query.source_exclude or ()):
            return False
        languages = self.query.product_languages
        return language is None or not languages or any(_same_language(language, one) for one in languages)

    def with_ledger(self, ledger: Ledger) -> Self:
        """Return the origin with another account of what came.

        Examples
        --------
        >>> Origin("records").with_ledger(Ledger(announced=3, distinct=2)).complete
        False
        """
        return replace(self, ledger=ledger)

    def to_json(self) -> dict[str, Any]:
        """Return the origin as plain JSON values; it never held a secret.

        Examples
        --------
        >>> Origin("records").to_json()["source"]
        'records'
        """
        return {
            "source": self.source,
            "query": None if self.query is None else self.query.to_body(),
            "accept_language": self.accept_language,
            "labels": list(self.labels),
            "server_time": _written(self.server_time),
            "loaded_at": _written(self.loaded_at),
            "asked_by": self.asked_by,
            "ledger": _ledger_json(self.ledger),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            When it is anything else, be it damaged or edited.

        Examples
        --------
        >>> Origin.from_json(Origin("records", ProductQuery(target_market=250)).to_json()).query
        ProductQuery(target_market=250)
        """
        written = converted(value, _Written)
        check_moment(written.server_time)
        check_moment(written.loaded_at)
        try:
            query = None if written.query is None else ProductQuery.from_body(written.query)
        except (TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"its query cannot be read ({error})") from error
        return cls(
            source=written.source,
            query=query,
            accept_language=written.accept_language,
            labels=written.labels,
            server_time=written.server_time,
            loaded_at=written.loaded_at,
            asked_by=written.asked_by,
            ledger=_ledger(written.ledger),
        )


class _Written(msgspec.Struct):
    """An origin as JSON."""

    source: str
    query: dict[str, Any] | None
    accept_language: str | None
    labels: tuple[str, ...]
    server_time: Moment | None
    loaded_at: Moment | None
    ledger: dict[str, Any]
    asked_by: str | None = None


def _ledger_json(ledger: Ledger) -> dict[str, Any]:
    """Return a ledger as 0.1.0 wrote it, unless it says more.

    An interrupted load is found again by what it asked for, which has an empty ledger in it.
    """
    value = asdict(ledger)
    if not ledger.notes:
        del value["notes"]
    return value


def _ledger(value: Mapping[str, Any]) -> Ledger:
    """Read a ledger; what it says beyond what is known here may be that products are missing."""
    unknown = sorted(value.keys() - {one.name for one in fields(Ledger)})
    if unknown:
        raise ValueError(
            f"its ledger has {unknown[0]!r:.60}, which this version does not know: update prodex"
        )
    ledger = converted(value, Ledger)
    for name in value:
        if isinstance(number := getattr(ledger, name), int) and number < 0:
            raise ValueError(f"its ledger has {number} under {name}")
    return ledger


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith(outer + ".")


def _same_language(one: str, other: str) -> bool:
    return short_of(one) == short_of(other)


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
