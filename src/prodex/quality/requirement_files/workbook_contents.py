"""What the sheets of the requirements workbook have: attributes as rows, families as columns, answers and shares.

Everything here is plain values; `prodex.quality.requirement_files.workbook` draws them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from prodex.catalog import Catalog, Origin
from prodex.catalog.origin import scope_of
from prodex.facts.market import REQUIRED_LANGUAGES
from prodex.facts.requested_data import Asked as Requested
from prodex.facts.requested_data import asked_for
from prodex.quality.asked_attributes import NUTRIENTS, AskedAttribute, selector_of
from prodex.quality.asks import Ask
from prodex.quality.picture_columns import PICTURES
from prodex.quality.requirement_files.attribute_titles import FACES_SHOWN, NUTRIENTS_SHOWN, title_of
from prodex.quality.requirement_files.filled_shares import (
    FilledShares,
    ProductGroups,
    attributes_there,
    codes_in_use,
    selected_there,
)
from prodex.quality.requirement_files.layout import (
    CODE,
    GROUPS,
    HIERARCHY,
    LABEL,
    NUTRIENT,
    OTHER,
    PICTURE,
    QUANTITY,
    SINGLE,
    TEXT,
)
from prodex.quality.requirements import (
    ALL,
    Channel,
    ProductFamily,
    Requirements,
    entries_of,
)
from prodex.tables.attributes import MEASURES, TEXTS
from prodex.tables.declaration import TABLES

#: Rows that every sheet has: what food sold at a distance and a web shop need most.
_USUAL: Mapping[str, tuple[str, ...]] = {
    TEXT: (*TEXTS, "conservationAdvices", "consumptionAdvice", "warnings"),
    CODE: ("gtin", "brand", "kind", "GPC", "typePackaging", "originCountry"),
    QUANTITY: tuple(one for one in MEASURES if one not in {"suggestedRetailPrice", "dutyFeeTax"}),
    SINGLE: ("startAvailabilityDateTime", "endAvailabilityDateTime", "contact"),
    PICTURE: (PICTURES, *(f"{PICTURES}[{face}]" for face in FACES_SHOWN)),
    NUTRIENT: ("isPartitionedBy", *(f"{NUTRIENTS}[{code}]" for code in NUTRIENTS_SHOWN[:8])),
    HIERARCHY: ("logisticalHierarchies", "sharingUnits"),
    LABEL: ("isLabeledBy", "certificationInformationList", "assets.documents", "assets.videos"),
}
_GROUP_OF = {attribute: group for group, attributes in _USUAL.items() for attribute in attributes}
#: The attributes of these rows.
USUAL = tuple(_GROUP_OF)
_GROUP_OF_TABLE = {"texts": TEXT, "codes": CODE, "quantities": QUANTITY, "scalars": SINGLE}
#: Attributes at the top of records that the service writes about them, and what has rows of its own.
_NOT_ROWS = frozenset(
    {
        *("id", "uuid", "_jsonVersion", "createdAt", "updatedAt", "supplierId", "product_key", "owner"),
        *("lifeCycle", "manufacturerSharingStatus", "targetProductStatus", "validation", "lastRequest"),
        *("assetsLastRequests", "validationRules", "lastUserHistoryDate", "history", "version"),
        *("specializes", "expressedIn", "assets", "tags", "targetMarket"),
    }
)

#: Codes of an attribute that a workbook keeps: of more nobody reads a list, and they are not compared.
_MOST_CODES = 200
#: Families that a list offers: a longer one is of no use, and is not compared with what is typed.
MOST_FAMILIES = 5_000
#: Texts in a language that fewer products of a channel have than this are no row of its sheet.
_FEW = 0.01


@dataclass(frozen=True)
class SheetRow:
    """A row of a matrix.

    Attributes
    ----------
    group
        The heading that it is below.
    asked
        What it is about.
    title
        Its name in words.
    is_asked
        Whether it was asked for when the catalogue was loaded, at least in part.
    overall
        The share of all products that have it; None where there is no product.
    shares
        The same of each column; none without a catalogue.
    """

    group: str
    asked: AskedAttribute
    title: str
    is_asked: bool = True
    overall: float | None = None
    shares: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class ChannelSheet:
    """A matrix: one channel in one market.

    Attributes
    ----------
    channel
        The channel.
    rows
        Its rows, in their order.
    products
        How many products each column has, that of all families first; none without a catalogue.
    """

    channel: Channel
    rows: tuple[SheetRow, ...]
    products: tuple[int, ...] = ()


@dataclass(frozen=True)
class WorkbookContents:
    """What a workbook holds.

    Attributes
    ----------
    requirements
        What is asked already, and by what families are told.
    families
        The families that are columns of matrices, after the one for all families.
    sheets
        A matrix for each channel.
    all_families
        The families that can be chosen.
    source
        Where the catalogue is from; empty without one.
    left_out
        Sentences of what is in no row or column.
    codes
        The codes that attributes have today, each with its label.
    """

    requirements: Requirements
    families: tuple[ProductFamily, ...]
    sheets: tuple[ChannelSheet, ...]
    all_families: tuple[ProductFamily, ...]
    source: str = ""
    left_out: tuple[str, ...] = ()
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The codes of the columns of matrices."""
        return [ALL, *(one.code for one in self.families)]

    def asks(self, sheet: ChannelSheet, row: SheetRow) -> list[Ask | None]:
        """Return what is asked in each column of a row."""
        label = sheet.channel.label
        return [self.requirements.own_ask(label, row.asked, code) for code in self.columns]


def contents_of(
    catalog: Catalog,
    groups: ProductGroups,
    families: Sequence[ProductFamily],
    channels: Sequence[Channel],
    languages: Iterable[str] | None,
    start: Requirements,
) -> WorkbookContents:
    """Return what the workbook for a catalogue holds."""
    tables = attributes_there(catalog)
    labels = selected_there(catalog).get(NUTRIENTS, {})
    attributes = _attributes(tables, labels, start)
    shares = FilledShares.of(catalog, attributes, channels, groups, [one.code for one in families])
    chosen = None if languages is None else set(languages)
    # What a service sends empty in every record is no attribute that the catalogue has.
    wanted = {*_GROUP_OF, *(one.asked.attribute for one in start.requirements)}
    attributes = {one: group for one, group in attributes.items() if one in wanted or shares.is_anywhere(one)}
    titles = _titles(attributes, labels)
    sheets = []
    for number, channel in enumerate(channels):
        rows = [
            _row(asked, group, titles[attribute], shares, number, catalog.origin)
            for attribute, group in attributes.items()
            for asked in _asked_of(attribute, channel, number, shares, chosen, start)
        ]
        sheets.append(ChannelSheet(channel, _in_order(rows), tuple(shares.products[number].tolist())))
    return WorkbookContents(
        start,
        tuple(families),
        tuple(sheets),
        tuple({one.code: one for one in (*families, *groups.families)}.values())[:MOST_FAMILIES],
        _source(catalog),
        _left_out(groups, families),
        _codes(catalog, attributes, start),
    )


def _codes(
    catalog: Catalog, attributes: Mapping[str, str], start: Requirements
) -> dict[str, Mapping[str, str]]:
    """Return the codes in use of each coded attribute, with those that somebody has asked for already."""
    coded = [
        one for one, group in attributes.items() if group in {CODE, LABEL, SINGLE, OTHER} and one != "gtin"
    ]
    found: dict[str, Mapping[str, str]] = {}
    for attribute, codes in codes_in_use(catalog, coded, _MOST_CODES).items():
        asked = [one.ask.one_of for one in start.requirements if one.asked.attribute == attribute]
        found[attribute] = {
            **codes,
            **{code: "" for several in asked for code in several if code not in codes},
        }
    return found


def _titles(attributes: Iterable[str], labels: Mapping[str, str]) -> dict[str, str]:
    """Return what rows are called, each attribute differently: somebody may delete the paths."""
    titles = {one: title_of(one, labels.get(selector_of(one)[1], "")) for one in attributes}
    taken = Counter(title.casefold() for title in titles.values())
    return {
        one: title if taken[title.casefold()] == 1 else f"{title}, {selector_of(one)[1] or one}"
        for one, title in titles.items()
    }


def _source(catalog: Catalog) -> str:
    folder = catalog.folder
    source = catalog.origin.source if folder is None else f"{folder.parent.name}@{folder.name}"
    scope = scope_of(catalog.chosen, len(catalog))
    return source if scope is None else f"{source}: {scope}"


def contents_without_catalog(requirements: Requirements) -> WorkbookContents:
    """Return what the workbook of requirements alone holds: its rows are those that say something."""
    asked = dict.fromkeys(one.asked for one in requirements.requirements)
    families = tuple(sorted({one.family for one in entries_of(requirements) if one.family is not None}))
    titles = _titles([one.attribute for one in asked], {})
    rows = _in_order(SheetRow(group_of(one.attribute), one, titles[one.attribute]) for one in asked)
    sheets = tuple(ChannelSheet(channel, rows) for channel in requirements.channels)
    return WorkbookContents(requirements, families, sheets, families)


def group_of(attribute: str, table: str = "") -> str:
    """Return the heading that an attribute is below.

    >>> group_of("namePublicLong"), group_of("assets.pictures[front]"), group_of("serves", "scalars")
    ('Names and texts', 'Pictures by face', 'Dates and other single values')
    """
    path = selector_of(attribute)[0]
    if (known := _GROUP_OF.get(attribute) or _GROUP_OF.get(path)) is not None:
        return known
    if path == NUTRIENTS:
        return NUTRIENT
    kind = next(
        (column.kind for column in TABLES["products"].columns if column.paths[:1] == ((path,),)), None
    )
    if kind is not None:
        return CODE if kind == "code" else SINGLE
    return _GROUP_OF_TABLE.get(table, OTHER)


def _attributes(tables: Mapping[str, str], nutrients: Iterable[str], start: Requirements) -> dict[str, str]:
    """Return the attributes of rows, each with its heading."""
    found = dict(_GROUP_OF)
    found |= {f"{NUTRIENTS}[{code}]": NUTRIENT for code in nutrients if not set("[]") & set(code)}
    for name, table in tables.items():
        if name not in _NOT_ROWS:
            found.setdefault(name, group_of(name, table))
    for one in start.requirements:
        found.setdefault(one.asked.attribute, group_of(one.asked.attribute))
    return found


def _asked_of(
    attribute: str,
    channel: Channel,
    number: int,
    shares: FilledShares,
    chosen: set[str] | None,
    start: Requirements,
) -> list[AskedAttribute]:
    """Return the rows of an attribute: one for each language of a text, else one."""
    spoken = shares.languages(attribute, number)
    own = [
        one.asked
        for one in start.requirements
        if one.channel == channel.label and one.asked.attribute == attribute
    ]
    if attribute not in TEXTS and not any(
        asked.language for asked in shares.filled if asked.attribute == attribute
    ):
        return list(dict.fromkeys([AskedAttribute(attribute), *own]))
    required = REQUIRED_LANGUAGES.get(channel.market, ())
    products = max(int(shares.products[number, 0]), 1)
    there = [one for one, count in spoken.items() if count / products >= _FEW]
    languages = [*required, *there] if chosen is None else sorted(chosen)
    rows = [AskedAttribute(attribute, one) for one in dict.fromkeys(languages)]
    return list(dict.fromkeys([*(rows or [AskedAttribute(attribute)]), *own]))


def _row(
    asked: AskedAttribute, group: str, title: str, shares: FilledShares, number: int, origin: Origin
) -> SheetRow:
    is_asked = asked_for(origin, [asked.path], asked.language or None) is not Requested.NOTHING
    products = shares.products[number].tolist()
    filled = shares.filled[asked][number].tolist() if asked in shares.filled else [0] * len(products)
    overall = shares.everywhere.get(asked, 0) / shares.size if shares.size else None
    of_columns = (one / of if of else None for one, of in zip(filled, products, strict=True))
    return SheetRow(group, asked, title, is_asked, overall, tuple(of_columns))


def _in_order(rows: Iterable[SheetRow]) -> tuple[SheetRow, ...]:
    # Within a heading they stay as they were found: the usual ones first.
    return tuple(sorted(rows, key=lambda row: GROUPS.index(row.group)))


def _left_out(groups: ProductGroups, families: Sequence[ProductFamily]) -> tuple[str, ...]:
    shown = {one.code for one in families}
    gone = [one for one in groups.families if one.code not in shown]
    if not gone:
        return ()
    of = f"{len(gone):,} of {len(groups.families):,} families are in no matrix"
    return (f"{of}; what is asked of all families holds for them.",)
