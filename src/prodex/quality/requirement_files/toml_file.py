"""Requirements as TOML, for version control: one requirement a line, sorted, so that a change is one line of a diff.

::

    requirements = 1
    by = "kind"

    [[channels]]
    name = "Web shop"
    market = 250  # France

    [families]
    TEA = {label = "Tea", parent = "DRINKS"}

    # Web shop (France), Tea
    [asked."Web shop (France)".TEA]
    brand = "must"
    namePublicLong.fr = "must; at most 80 characters"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prodex.errors import InputError, QueryError
from prodex.files.layouts import require_layout
from prodex.files.toml_text import Keys, NotToml, TomlText, toml_values
from prodex.files.toml_writing import toml_key, toml_value
from prodex.locales import market_code, market_name
from prodex.messages import hint
from prodex.quality.requirement_files.asked_in_words import ask_of
from prodex.quality.requirements import (
    ALL,
    Ask,
    AskedAttribute,
    Channel,
    Entry,
    ProductFamily,
    Requirements,
    checked_attribute,
    language_asked,
)

#: The key by which the file is told from a profile, and the version of its layout.
MARK, LAYOUT = "requirements", 1
#: Bytes of a file: so many hold a hundred thousand requirements.
MOST_BYTES = 2**24
_KEYS = (MARK, "by", "channels", "families", "asked")
_OF_CHANNEL = ("name", "market", "consumer_units")
#: What is in place of a language where texts in any are meant, and others of the same attribute in one.
_ANY = "any"
_BARE = re.compile("[A-Za-z0-9_-]+")
_CHANNEL_HEADER = re.compile(r"""\[asked\.([A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')\.""")
#: Problems of a file that are listed: whoever corrects so many reads it again.
_MOST_PROBLEMS = 1_000
_MARKED = re.compile(rf"^\s*{MARK}\s*=\s*[0-9]", re.MULTILINE)

#: As `Requirements.joined` takes it.
_Read = tuple[str, *Entry]


def is_requirements_text(text: str) -> bool:
    """Return whether the text of a TOML file is requirements, and no profile.

    A profile may name a file with requirements under the same key.

    >>> is_requirements_text("requirements = 1"), is_requirements_text('title = "requirements = 1"')
    (True, False)
    >>> is_requirements_text('requirements = "shop.toml"')
    False
    """
    try:
        found = toml_values(text)
        return MARK in found and not isinstance(found[MARK], str)
    except NotToml:
        return _MARKED.search(text) is not None


def toml_of(requirements: Requirements) -> str:
    """Return requirements as TOML."""
    return "\n".join(_lines(requirements)) + "\n"


def _lines(requirements: Requirements) -> Iterator[str]:
    yield "# What each channel asks of the products of each family: must, should, may or not, and conditions."
    yield f"{MARK} = {LAYOUT}"
    yield f"by = {toml_value(requirements.by)}"
    for channel in requirements.channels:
        yield from ("", "[[channels]]", f"name = {toml_value(channel.name)}")
        if channel.market:
            yield f"market = {channel.market}  # {market_name(channel.market)}"
        if not channel.consumer_units:
            yield "consumer_units = false"
    if requirements.families:
        yield from ("", "[families]")
    for one in requirements.families:
        inside = [
            f"{name} = {toml_value(value)}" for name in ("label", "parent") if (value := getattr(one, name))
        ]
        yield f"{toml_key(one.code)} = {{{', '.join(inside)}}}"
    for channel in requirements.channels:
        own = [one for one in requirements.requirements if one.channel == channel.label]
        for code in dict.fromkeys(one.family for one in own):
            of_family = {one.asked: one.ask for one in own if one.family == code}
            family = requirements.listed.get(code)
            if family is not None and family.label:
                yield from ("", f"# {_on_one_line(family.label)}")
            elif code == ALL:
                yield from ("", "# All families")
            else:
                yield ""
            yield f"[asked.{toml_key(channel.label)}.{toml_key(code)}]"
            with_language = {one.attribute for one in of_family if one.language}
            for asked, ask in of_family.items():
                language = asked.language or (_ANY if asked.attribute in with_language else "")
                name = (
                    f"{toml_key(asked.attribute)}.{toml_key(language)}"
                    if language
                    else toml_key(asked.attribute)
                )
                yield f"{name} = {toml_value(ask.words)}"


def _on_one_line(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)


def read_toml(name: str, shown: str, text: str, path: Path | None = None) -> Requirements:
    """Read requirements of the text of a TOML file.

    Parameters
    ----------
    name
        What they are called.
    shown
        What the file is called in errors.
    text
        Its content.
    path
        The file, if it is one.

    Raises
    ------
    OtherLayout
        When another version of prodex wrote it.
    InputError
        When it is no TOML, or anything in it cannot be understood; every line is named at once.
    """
    try:
        content = toml_values(text)
    except NotToml as error:
        raise InputError(f"{shown} is no TOML of requirements: it {error}") from error
    if MARK not in content:
        raise InputError(
            f"{shown} has no requirements: it lacks the key {MARK}. If it is a profile, give it as one: "
            "px.audit(catalog, path)."
        )
    place = TomlText(shown, text)
    wrong: list[str] = []
    for key in content:
        if key not in _KEYS:
            wrong.append(f"{place.where((key,))}: requirements have no key {key!r:.40}{hint(key, _KEYS)}")
    if not isinstance(layout := content[MARK], int) or isinstance(layout, bool):
        wrong.append(f"{place.where((MARK,))}: write {MARK} = {LAYOUT}, the number of the layout.")
    else:
        require_layout(path or shown, layout, LAYOUT)
    by = content.get("by", "kind")
    if not isinstance(by, str):
        wrong.append(f"{place.where(('by',))}: give a text, such as kind.")
        by = "kind"
    channels = dict(_channels(content.get("channels", []), place, wrong))
    families = dict(_families(content.get("families", {}), place, wrong))
    read: list[_Read] = [(shown, channel, None, None, None) for channel in channels.values()]
    read += [(shown, None, family, None, None) for family in families.values()]
    read += _asked(content.get("asked", {}), channels, families, place, wrong)
    return Requirements.joined(read, wrong, by=by, name=name)


def _channels(given: Any, place: TomlText, wrong: list[str]) -> Iterator[tuple[str, Channel]]:
    if not isinstance(given, list):
        wrong.append(f"{place.where(('channels',))}: write [[channels]] with name and market for each.")
        return
    for number, one in enumerate(given):
        try:
            channel = _channel(one)
        except (InputError, QueryError) as error:
            wrong.append(f"{place.where(('channels', number))}: {error}")
            continue
        yield channel.label, channel


def _channel(given: Any) -> Channel:
    if not isinstance(given, Mapping) or not isinstance(given.get("name"), str) or not given["name"].strip():
        raise InputError('a channel has a name: name = "Web shop".')
    for key in given:
        if key not in _OF_CHANNEL:
            raise InputError(f"a channel has no key {key!r:.40}{hint(key, _OF_CHANNEL)}")
    units, market = given.get("consumer_units", True), given.get("market", 0)
    if not isinstance(units, bool):
        raise InputError(f"consumer_units is {units!r:.40}; give true or false.")
    if isinstance(market, bool) or not isinstance(market, int | str):
        raise InputError(f"market is {market!r:.40}; give its number or its name.")
    return Channel(given["name"].strip(), market_code(market) if market else 0, units)


def _families(given: Any, place: TomlText, wrong: list[str]) -> Iterator[tuple[str, ProductFamily]]:
    for code, facts in _table(given, ("families",), place, wrong).items():
        texts = facts if isinstance(facts, Mapping) else {"label": facts}
        if not all(key in {"label", "parent"} and isinstance(value, str) for key, value in texts.items()):
            example = f'{code} = {{label = "Tea", parent = "DRINKS"}}'
            wrong.append(f"{place.where(('families', code))}: a family has texts: {example}.")
            continue
        yield code, ProductFamily(code, texts.get("label", ""), texts.get("parent", ""))


def _table(given: Any, keys: Keys, place: TomlText, wrong: list[str]) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    wrong.append(f"{place.where(keys)}: {given!r:.40} is no table.")
    return {}


def _asked(
    given: Any,
    channels: Mapping[str, Channel],
    families: Mapping[str, ProductFamily],
    place: TomlText,
    wrong: list[str],
) -> Iterator[_Read]:
    lines = _Lines.of(place)
    for label, of_channel in _table(given, ("asked",), place, wrong).items():
        if (channel := channels.get(label)) is None:
            near = hint(label, channels, "Write it below [[channels]].")
            line = lines.of_channels.get(toml_key(label))
            where = (
                place.where(("asked", label))
                if line is None
                else f"{place.shown}, line {line}, asked.{label}"
            )
            wrong.append(f"{where}: there is no channel {label!r:.60}{near}")
            continue
        for code, of_family in _table(of_channel, ("asked", label), place, wrong).items():
            family = None if code == ALL else families.get(code, ProductFamily(code))
            for attribute, said in _table(of_family, ("asked", label, code), place, wrong).items():
                if len(wrong) >= _MOST_PROBLEMS:
                    wrong.append(
                        f"{place.shown}, asked.{label}.{code}: from here on nothing was read, after so many problems"
                    )
                    return
                by_language = said if isinstance(said, Mapping) else {"": said}
                for language, words in by_language.items():
                    where = lines.where(label, code, attribute, language)
                    try:
                        asked = AskedAttribute(checked_attribute(attribute), _language(language))
                        yield where, channel, family, asked, _ask(words)
                    except (InputError, QueryError) as error:
                        wrong.append(f"{where}: {error}")


@dataclass(frozen=True)
class _Lines:
    """Where requirements are in a file: of a text in a language, its key has a part more than `TomlText` looks for.

    Attributes
    ----------
    of_channels
        The first line of each channel, by its key as it is written in a header.
    of_keys
        The first line of each key, with the header above it.
    """

    place: TomlText
    of_channels: Mapping[str, int]
    of_keys: Mapping[tuple[str, str], int]

    @classmethod
    def of(cls, place: TomlText) -> _Lines:
        of_channels: dict[str, int] = {}
        of_keys: dict[tuple[str, str], int] = {}
        header = ""
        for number, line in enumerate(place.lines, 1):
            if line.startswith("["):
                header = line
                if (found := _CHANNEL_HEADER.match(line)) is not None:
                    of_channels.setdefault(found[1], number)
            else:
                of_keys.setdefault((header, line.partition("=")[0].strip()), number)
        return cls(place, of_channels, of_keys)

    def where(self, label: str, code: str, attribute: str, language: str) -> str:
        """Return file, line and key of a requirement."""
        header = f"[asked.{toml_key(label)}.{toml_key(code)}]"
        line = self.of_keys.get((header, f"{toml_key(attribute)}.{toml_key(language)}")) if language else None
        if line is None:
            return self.place.where(("asked", label, code, attribute))
        return f"{self.place.shown}, line {line}, asked.{label}.{code}.{attribute}.{language}"


def _language(text: str) -> str:
    return "" if text in {"", _ANY} else language_asked(text)


def _ask(words: Any) -> Ask:
    if not isinstance(words, str) or not words.strip():
        raise InputError(f"{words!r:.60} asks for nothing. Give must, should, may or not.")
    return ask_of(words)
