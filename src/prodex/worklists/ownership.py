"""Whose answer it is: an answer may change what its worklist asked for, of the owner that it was written for.

A worklist names its owner, products and fields, and an answer about anything else needs confirmation. Somebody
else may have changed the file. So its statements are compared with the catalogue, which has the owner of each product,
and with the audit, which has the findings. A table of one's own asks for nothing, so there is nothing to compare:
whoever reads it can say whose products it may be about (`owner`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from prodex import gtin
from prodex.arguments import listed
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.facts.groups import Groups, groups_of
from prodex.languages import Message, Said
from prodex.phrases import hint_and_all
from prodex.tables.columns import as_one_chunk
from prodex.worklists.returned_files import Answer, AnswerSheet, AnswerSource, HiddenSheet, Returned
from prodex.worklists.row_keys import is_damaged, key_of

_NOBODY = "nobody"
_PORTS = {"http": 80, "https": 443}


def host_of_source(source: str) -> str | None:
    """Return the host of the service from which products were loaded; None where they are from files or records.

    >>> host_of_source("https://api.example/v1"), host_of_source("records"), host_of_source("export.csv")
    ('api.example', None, None)
    """
    return urlsplit(source).hostname if source.startswith(("https://", "http://")) else None


def is_same_service(source: str, base_url: str) -> bool:
    """Whether products were loaded from this service: the same scheme, host, port and path, and not only the same host.

    >>> [is_same_service("https://api.example/v1", one) for one in ("https://API.example:443/v1/", "https://api.example/v2")]
    [True, False]
    """
    # Behind the base URL there may be a comma and a remark.
    return _service_identity(source.partition(", ")[0]) == _service_identity(base_url)


def _service_identity(base_url: str) -> tuple[str, str | None, int | None, str]:
    parts = urlsplit(base_url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme), parts.path.rstrip("/")


def service_in_words(base_url: str) -> str:
    """Return a service as messages name it.

    >>> service_in_words("https://api.example/v1"), service_in_words("http://127.0.0.1:8080")
    ('api.example/v1', '127.0.0.1:8080')
    """
    parts = urlsplit(base_url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}" or base_url


@dataclass(frozen=True)
class Owners:
    """Who owns the products of a catalogue.

    Attributes
    ----------
    of_product
        What the owner of a product is known by, by the id of the product.
    shown
        How owners are listed, by what they are known by; two of one name have it behind their name.
    host
        Of the service from which the products were loaded, if there is one.
    """

    of_product: Mapping[str, str | None] = field(default_factory=dict)
    shown: Mapping[str | None, str] = field(default_factory=dict)
    host: str | None = None

    @classmethod
    def of(cls, catalog: Catalog, products: Collection[str]) -> Owners:
        """Return the owners of some products of a catalogue."""
        groups = groups_of(catalog, "owner")
        ids = as_one_chunk(catalog.arrow("products", ["product_id"])["product_id"])
        of_place = dict(zip(groups.rows.tolist(), groups.groups.tolist(), strict=True))
        wanted = list(dict.fromkeys(products))
        places = pc.index_in(pa.array(wanted, pa.string()), ids).to_pylist()
        found = {
            product: groups.codes[of_place[place]]
            for product, place in zip(wanted, places, strict=True)
            if place is not None
        }
        return cls(found, _owner_names(groups), host_of_source(catalog.origin.source))

    def named(self, owner: str | None) -> str:
        """Return how an owner is listed.

        >>> Owners(shown={"4": "Mill"}).named("4"), Owners().named("5"), Owners().named(None)
        ('Mill', '5', 'nobody')
        """
        return self.shown.get(owner, _NOBODY if owner is None else owner)

    def called(self, owner: str | None) -> Said:
        """Return how a message names an owner."""
        return Message("nobody") if owner is None else self.named(owner)


def _owner_names(groups: Groups) -> dict[str | None, str]:
    return {
        code: _NOBODY if code is None else name for code, name in zip(groups.codes, groups.shown, strict=True)
    }


def owners_given(catalog: Catalog, given: Any) -> frozenset[str | None] | None:
    """Return what owners are known by that somebody named: by that, or by their name; None if nobody was named.

    Raises
    ------
    InputError
        When no product has such an owner, or several owners have that name; the message names them.
    """
    if given is None:
        return None
    groups = groups_of(catalog, "owner")
    chosen = frozenset(owner_called(groups, str(one), "catalogue") for one in listed("owner", given))
    if not chosen:
        raise InputError("owner names nobody. Give an owner, or several, or leave it out.")
    return chosen


def owner_called(groups: Groups, name: str, whole: str) -> str:
    """Return what the owner is known by that somebody named, of those of a catalogue or an audit.

    Raises
    ------
    InputError
        When no product has such an owner, or several owners have that name; the message names them.
    """
    match groups.called(name):
        case [code]:
            return code
        case []:
            names = [one for code, one in zip(groups.codes, groups.shown, strict=True) if code is not None]
            there_are = f"Give one of {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}."
            near = hint_and_all(name, names, there_are if names else "None of them has an owner.")
            raise InputError(f"No product of the {whole} has the owner {name!r:.60}{near}")
        case several:
            codes = ", ".join(sorted(several))
            raise InputError(f"{name!r:.60} is the name of {len(several)} owners. Give one of {codes}.")


def identify_sources(returned: Returned, catalog: Catalog, only: frozenset[str | None] | None) -> Returned:
    """Return answers with what is known of their worklists.

    Parameters
    ----------
    returned
        As it was read.
    catalog
        The products, which says who owns them.
    only
        What the owners are known by whose answers are read; None for all.
    """
    owners = _owners_of_rows(returned.sheets, catalog)
    sources = {
        (sheet.file, sheet.sheet): replace(
            _source(sheet, returned.hidden_sheets.get(sheet.file, []), owners), only=only
        )
        for sheet in returned.sheets
    }
    nothing = AnswerSource(only=only)

    def with_source(answers: Iterable[Any]) -> list[Any]:
        return [one._replace(source=sources.get((one.file, one.sheet), nothing)) for one in answers]

    return replace(returned, answers=with_source(returned.answers), doubtful=with_source(returned.doubtful))


#: Number of rows by owner, by file and sheet.
_OwnersOfRows = Mapping[tuple[str, str], Counter[str | None]]


def _owners_of_rows(sheets: Iterable[AnswerSheet], catalog: Catalog) -> _OwnersOfRows:
    """Return the owners of all products that sheets name, also in rows without an answer."""
    ours = [sheet for sheet in sheets if sheet.is_worklist]
    if not ours:
        return {}
    rows = catalog.arrow("products", ["product_id", "gtin"])
    ids = rows["product_id"].to_pylist()
    of_gtin: dict[str | None, str] = {}
    if any(product is None for sheet in ours for product, _ in sheet.products):
        of_gtin = dict(zip(map(gtin.comparable, rows["gtin"].to_pylist()), ids, strict=True))
    owners = Owners.of(catalog, ids).of_product
    found = {}
    for sheet in ours:
        of_sheet: Counter[str | None] = Counter()
        for (product, code), number in sheet.products.items():
            one = product if product in owners else of_gtin.get(_comparable_gtin(code))
            if one is not None:
                of_sheet[owners[one]] += number
        found[sheet.file, sheet.sheet] = of_sheet
    return found


def _comparable_gtin(code: str | None) -> str | None:
    try:
        return None if code is None else gtin.comparable(code)
    except InputError:
        return None


def _source(sheet: AnswerSheet, written: Sequence[HiddenSheet], owners: _OwnersOfRows) -> AnswerSource:
    if not sheet.is_worklist:
        return AnswerSource(is_hidden=sheet.is_hidden)
    of_sheet = frozenset(owners[sheet.file, sheet.sheet])
    start = AnswerSource(True, is_hidden=sheet.is_hidden, of_sheet=of_sheet)
    hosts = {one.host for one in written if one.host is not None}
    if not written:
        # A CSV file, or a sheet in another workbook: its rows have keys, and nothing else names the owner.
        return replace(start, owners=of_sheet if len(of_sheet) == 1 else None)
    named = [one.owners for one in written]
    is_of_any = any(one is None for one in named)
    return replace(
        start,
        is_edited=not all(one.is_sealed for one in written),
        host=hosts.pop() if len(hosts) == 1 else None,
        owners=None if is_of_any else frozenset(owner for one in named for owner in one or ()),
    )


def is_outside(answer: Answer, owner: str | None) -> bool:
    """Whether it is not certain that an answer is from the owner of its product."""
    source = answer.source
    limits = [one for one in (source.owners, source.only) if one is not None]
    return source.is_edited or source.is_hidden or any(owner not in one for one in limits)


def refused_owner(answer: Answer, product: str, owners: Owners) -> Message | None:
    """Return why an answer is not read: its product belongs to somebody else than was asked for."""
    owner, only = owners.of_product.get(product), answer.source.only
    if only is None or owner in only:
        return None
    return Message(
        "the product belongs to {owner}, and only answers about products of {owners} are read.",
        owner=owners.called(owner),
        owners=", ".join(sorted(map(owners.named, only))),
    )


def questions_about(
    answer: Answer, product: str, language: str | None, owners: Owners, *, is_asked: bool | None
) -> Iterator[Message]:
    """Yield what needs confirmation of an answer that is outside of what its worklist asked for.

    Parameters
    ----------
    answer
        The answer.
    product, language
        The product that it is about, and the language, if it has one.
    owners
        The owners of the products.
    is_asked
        Whether the check of its row finds something at this place; None where that is not known.
    """
    source, owner = answer.source, owners.of_product.get(product)
    whose = {"owner": owners.called(owner)}
    if source.is_hidden:
        yield Message(
            "It is in the hidden sheet {name} and about a product of {owner}. Is it meant?",
            name=f"{answer.sheet!r:.40}",
            **whose,
        )
    if not source.is_worklist:
        return
    if source.is_edited:
        yield Message(
            "The hidden sheet of the workbook was edited, so it no longer says for whom it was written. The answer is "
            "about a product of {owner}. Is it meant?",
            **whose,
        )
        return
    if None not in (source.host, owners.host) and source.host != owners.host:
        yield Message(
            "The worklist was written for products of {name}, and the catalogue is of {other}. The answer is about a "
            "product of {owner}. Is it meant?",
            name=source.host,
            other=owners.host,
            **whose,
        )
        return
    if is_damaged(answer.keys):
        yield Message(
            "The hidden key of its row was changed. The answer is about a product of {owner}. Is it meant?",
            **whose,
        )
        return
    key = key_of(answer.keys)
    asked_for = answer.keys.get("asked_for")
    if key is not None and asked_for and not key.explains("asked_for", asked_for):
        yield Message(
            "Its row shows that it asks for {text}, and its hidden key is of a row that asks for something else. The "
            "answer is about a product of {owner}. Is it meant?",
            text=f"{asked_for!r:.60}",
            **whose,
        )
        return
    is_ours = (
        key is not None
        and key.is_of(owners.host, owner, product, answer.keys.get("attribute"))
        and key.is_in(language)
    )
    place = f"{answer.keys.get('attribute')}{f' in {language!r:.20}' if language else ''}"
    # A worklist of another owner that was copied into this workbook as a sheet is still one.
    is_copied = is_ours and source.of_sheet == {owner}
    if source.owners is not None and owner not in source.owners and not is_copied:
        yield Message(
            "The worklist was written for {owners}, and the answer is about a product of {owner}. Is it meant?",
            owners=", ".join(sorted(map(owners.named, source.owners))),
            **whose,
        )
    elif is_asked is False:
        check = answer.keys.get("check", "of its row")
        yield Message(
            "The check {check} asks for nothing in {place} of this product, a product of {owner}. Is it meant?",
            check=f"{check:.60}",
            place=f"{place:.80}",
            **whose,
        )
    elif not is_ours and not (key is None and is_asked and source.owners is not None):
        # A row that somebody wrote by hand may be about a finding; one that was changed has the key of another.
        yield Message(
            "The worklist did not ask for {place} of this product, a product of {owner}. Is it meant?",
            place=f"{place:.80}",
            **whose,
        )
