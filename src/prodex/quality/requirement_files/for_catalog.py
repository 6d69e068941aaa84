"""`write_requirements`: a workbook in which people say what each channel asks of each family of a catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from prodex.advice import Argument, advice
from prodex.arguments import described, whole_number
from prodex.catalog import Catalog
from prodex.errors import InputError, QueryError
from prodex.files.atomic import writing
from prodex.files.untrusted import is_there
from prodex.locales import market_code
from prodex.phrases import hint, meant
from prodex.quality.asked_attributes import language_asked
from prodex.quality.profile import Profile
from prodex.quality.requirement_files.files import checked_path, is_requirements_file, read_requirements
from prodex.quality.requirement_files.filled_shares import ProductGroups, markets_there
from prodex.quality.requirement_files.from_profile import requirements_of_profile
from prodex.quality.requirement_files.workbook import write_workbook
from prodex.quality.requirement_files.workbook_contents import contents_of
from prodex.quality.requirements import (
    WRITE_ALIKE,
    Channel,
    ProductFamily,
    Requirements,
    same_but_for_spelling,
    spelled_twice,
    unusable_family,
)
from prodex.store.snapshot import catalog_given

#: Families that have a column of their own unless somebody chooses: more do not fit on a screen or page.
_COLUMNS = 40
#: Markets that have a sheet unless somebody chooses.
_MARKETS = 8
#: What says of which units a channel is.
_UNITS = dict.fromkeys(("", "consumer units", "consumer unit", "consumer"), True) | {"all": False}
#: What a channel is called unless somebody says it.
_CHANNEL = "All channels"


def write_requirements(
    path: str | Path,
    catalog: Catalog | str | Path,
    *,
    by: str | None = None,
    channels: str | Iterable[Any] | Mapping[str, Any] | None = None,
    languages: str | Iterable[str] | None = None,
    families: int | Iterable[str] | None = None,
    start: Requirements | Profile | str | Path | None = None,
    replace: bool = False,
) -> Path:
    """Write a workbook in which people say what each channel asks of each family of products.

    A sheet explains it. The sheet Requirements has a row for each attribute of each channel, which takes must, should,
    may or not; a row with the code of a family asks it of that one. A matrix of each channel shows families beside
    attributes, with the share of products that have each today. `prodex.Requirements.read` reads the workbook, and
    `prodex.audit` judges by it.

    Parameters
    ----------
    path
        The file, which ends in .xlsx.
    catalog
        The catalogue, or the name of a snapshot.
    by
        By what families are told: "kind", "gpc", or a column of `products` such as "brand_code". By default that of
        `start`, or "kind".
    channels
        "Web shop:France", or several, of consumer units; "Warehouse:France:all" is of all units. By default those
        of `start`, or one for each market of the catalogue.
    languages
        The languages of texts. By default those that a market requires, and those that its products have.
    families
        So many of the largest families for the matrix, or their codes. By default 40; all others can be asked of by
        their codes.
    start
        Requirements whose answers are there already, or their file; or a profile or its name, such as
        "online-listing": then what it asks of all products of a channel is there.
    replace
        Whether a workbook that is there is written anew. Its answers are kept unless `start` is given; one with
        columns or sheets of your own is not replaced then.

    Raises
    ------
    InputError
        When there is a file, or a choice cannot be used.

    Examples
    --------
    >>> import prodex, tempfile
    >>> catalog = prodex.flatten([{"id": 7, "kind": {"code": "TEA", "label": "Tea"}, "brand": {"code": "ACME"}}])
    >>> path = write_requirements(f"{tempfile.mkdtemp()}/requirements.xlsx", catalog, channels="Web shop:France")
    >>> prodex.Requirements.read(path).channels
    (Channel(name='Web shop', market=250, consumer_units=True),)
    """
    catalog = catalog_given(catalog, "write_requirements('requirements.xlsx', catalog)", path)
    file = checked_path(path, (".xlsx",), replace=replace)
    chosen_channels = None if channels is None else _channels(channels)
    profile = _profile(start)
    if profile is not None:
        asked_of = chosen_channels or _channels_there(catalog)
        before = requirements_of_profile(profile, asked_of, by or "kind")
    else:
        before = _start(file, start)
    by = before.by if by is None else by
    if by != before.by and before.families:
        raise InputError(
            f"The families of the requirements to start with are told by {before.by}, not by {by!r:.40}."
        )
    before = Requirements(before.name, by, before.channels, before.families, before.requirements)
    groups = ProductGroups.of(catalog, by)
    chosen = _chosen_families(groups, families, before)
    shown = chosen_channels or before.channels or _channels_there(catalog)
    # Answers of channels that are not chosen would be lost.
    shown = tuple(dict.fromkeys([*shown, *before.channels]))
    if twice := same_but_for_spelling(shown):
        raise InputError(f"channels: {spelled_twice(*twice)}. {WRITE_ALIKE}")
    contents = contents_of(catalog, groups, chosen, shown, _languages(languages), before)
    with writing(file) as beside:
        write_workbook(contents, beside)
    return file


def _profile(start: object) -> Profile | None:
    """Return the profile to start with; None where it is none."""
    if isinstance(start, Profile):
        return start
    if isinstance(start, str | Path) and not is_requirements_file(start):
        return Profile.read(start)
    return None


def _start(file: Path, start: object) -> Requirements:
    if isinstance(start, Requirements):
        return start
    if isinstance(start, str | Path):
        return read_requirements(start)
    if start is not None:
        raise InputError(f"start is {described(start)}. Give requirements, a profile, or the path of either.")
    if not is_there(file):
        return Requirements()
    try:
        before = read_requirements(file)
    except InputError as error:
        raise InputError(
            advice(
                "{file} was not replaced, since its answers cannot be read and would be lost. Correct it, delete it, "
                "or give {start}. {error}",
                file=file,
                start=Argument("start"),
                error=error,
            )
        ) from error
    if before.ignored:
        own = ", ".join(before.ignored)
        raise InputError(
            advice(
                "{file} was not replaced, since it has things of your own that would be lost: {own}. Give another "
                "path, and this file as {start}.",
                file=file,
                own=own,
                start=Argument("start"),
            )
        )
    return before


def channel_of(given: Any) -> Channel:
    """Return a channel that somebody gave: its name, market and units, divided by colons.

    Raises
    ------
    InputError
        When it cannot be understood.

    Examples
    --------
    >>> channel_of("Web shop:France"), channel_of("Warehouse:France:all").consumer_units
    (Channel(name='Web shop', market=250, consumer_units=True), False)
    """
    if isinstance(given, Channel):
        return given
    if not isinstance(given, str):
        raise InputError(
            f"A channel is {described(given)}. Give its name and market, such as 'Web shop:France'."
        )
    name, *more = (part.strip() for part in given.split(":"))
    units = _UNITS.get(more[1].casefold()) if len(more) > 1 else True
    if not name or len(more) > 2 or units is None:
        raise InputError(f"{given!r:.60} is no channel. Give its name and market, such as 'Web shop:France'.")
    try:
        return Channel(name, market_code(more[0]) if more and more[0] else 0, units)
    except QueryError as error:
        raise InputError(f"The channel {given!r:.60}: {error}") from error


def _channels(given: Any) -> tuple[Channel, ...]:
    if isinstance(given, Mapping):
        given = [f"{name}:{market}" for name, market in given.items()]
    several = [given] if isinstance(given, str | Channel) or not isinstance(given, Iterable) else list(given)
    return tuple(dict.fromkeys(map(channel_of, several)))


def _channels_there(catalog: Catalog) -> tuple[Channel, ...]:
    found = []
    for market in markets_there(catalog):
        try:
            found.append(Channel(_CHANNEL, market_code(market)))
        except QueryError:  # a market that is none
            continue
    return tuple(found[:_MARKETS]) or (Channel(_CHANNEL),)


def _languages(given: str | Iterable[str] | None) -> list[str] | None:
    if given is None:
        return None
    try:
        return [language_asked(one) for one in ([given] if isinstance(given, str) else given)]
    except QueryError as error:
        raise InputError(str(error)) from error


def _chosen_families(
    groups: ProductGroups, given: int | Iterable[str] | None, before: Requirements
) -> tuple[ProductFamily, ...]:
    """Return the families of columns: those chosen, and those that have answers already."""
    # What nobody can type in a file of requirements has no column; it is counted with all families.
    usable = [one for one in groups.families if unusable_family(one) is None]
    there = {one.code: one for one in usable}
    if given is None or isinstance(given, int):
        most = _COLUMNS if given is None else whole_number(given, 0)
        if most is None:
            raise InputError(f"families is {given!r:.40}. Give a number of families, or their codes.")
        chosen = usable[:most]
    else:
        chosen = []
        for one in [given] if isinstance(given, str) else given:
            if (why := unusable_family(ProductFamily(str(one)))) is not None:
                raise InputError(f"families: {why}")
            labels = meant(str(one), (each.label for each in usable if each.label))
            several = [each for each in usable if each.label in labels]
            if str(one) not in there and len(several) > 1:
                codes = ", ".join(each.code for each in several)
                raise InputError(
                    f"{str(one)!r:.60} is the name of {len(several)} families. Give one of {codes}."
                )
            family = there.get(str(one)) or next(iter(several), None)
            if family is None:
                near = hint(str(one), [*there, *(one.label for one in usable if one.label)], "Give its code.")
                raise InputError(f"The catalogue has no family {str(one)!r:.60}{near}")
            chosen.append(family)
    own = [_with_own(one, there.get(one.code)) for one in before.families]
    named = {one.code for one in own}
    return (*own, *(one for one in dict.fromkeys(chosen) if one.code not in named))


def _with_own(family: ProductFamily, there: ProductFamily | None) -> ProductFamily:
    """Return a family as requirements have it, with what only the catalogue knows."""
    if there is None:
        return family
    return ProductFamily(family.code, family.label or there.label, family.parent or there.parent)
