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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prodex.advice import PythonCall, advice
from prodex.errors import InputError
from prodex.files.layouts import require_layout
from prodex.files.toml_text import Keys, NotToml, TomlText, toml_values
from prodex.files.toml_writing import toml_key, toml_value
from prodex.locales import market_name
from prodex.phrases import hint
from prodex.quality.asked_attributes import AskedAttribute
from prodex.quality.asks import Ask
from prodex.quality.requirement_files.rows import ANY, COLUMNS, LEFT_OUT, RequirementRow, read_rows
from prodex.quality.requirements import ALL, ProductFamily, Requirements, unusable_family

#: The key by which the file is told from a profile, and the version of its layout.
MARK, LAYOUT = "requirements", 1
#: Bytes of a file: so many hold a hundred thousand requirements.
MOST_BYTES = 2**24
_KEYS = (MARK, "by", "channels", "families", "asked")
#: What a channel and a family have, each with the column of rows that says it.
_OF_CHANNEL: Mapping[str, str] = {"name": "channel", "market": "market", "consumer_units": "consumer_units"}
_OF_FAMILY: Mapping[str, str] = {"label": "family_label", "parent": "family_parent"}
_MARKED = re.compile(rf"^\s*{MARK}\s*=\s*[0-9]", re.MULTILINE)


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
    labels = {one.code: one.label for one in requirements.families}
    asked_of: dict[str, dict[str, dict[AskedAttribute, Ask]]] = {}
    for each in requirements.requirements:
        asked_of.setdefault(each.channel, {}).setdefault(each.family, {})[each.asked] = each.ask
    for channel in requirements.channels:
        for code, of_family in asked_of.get(channel.label, {}).items():
            label = "All families" if code == ALL else labels.get(code, "")
            yield from ("", *([f"# {_on_one_line(label)}"] if label else []))
            yield f"[asked.{toml_key(channel.label)}.{toml_key(code)}]"
            with_language = {one.attribute for one in of_family if one.language}
            for asked, ask in of_family.items():
                language = asked.language or (ANY if asked.attribute in with_language else "")
                name = ".".join(toml_key(one) for one in (asked.attribute, language) if one)
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
            advice(
                "{shown} has no requirements: it lacks the key {mark}. If it is a profile, give it as one: {audit}.",
                shown=shown,
                mark=MARK,
                audit=PythonCall("prodex.audit(catalog, path)"),
            )
        )
    lines = TomlText(shown, text)
    wrong = [
        f"{lines.where((key,))}: requirements have no key {key!r:.40}{hint(key, _KEYS)}"
        for key in content
        if key not in _KEYS
    ]
    if not isinstance(layout := content[MARK], int) or isinstance(layout, bool):
        wrong.append(f"{lines.where((MARK,))}: write {MARK} = {LAYOUT}, the number of the layout.")
    else:
        require_layout(path or shown, layout, LAYOUT)
    by = content.get("by", "kind")
    if not isinstance(by, str):
        wrong.append(f"{lines.where(('by',))}: give a text, such as kind.")
        by = "kind"
    found = read_rows(_TomlRows(lines, wrong, by).read(content), wrong)
    return Requirements.joined(found.entries, wrong, by=by, name=name)


@dataclass
class _TomlRows:
    """The rows that a file means; what cannot be one goes to `wrong`.

    Attributes
    ----------
    lines
        The text, to name lines.
    wrong
        What cannot be read.
    by
        By what families are told.
    channels
        The rows of channels by what these are called.
    """

    lines: TomlText
    wrong: list[str]
    by: str
    channels: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def read(self, content: Mapping[str, Any]) -> Iterator[RequirementRow]:
        """Yield them all."""
        yield from self._of_channels(content.get("channels", []))
        yield from self._of_families(self._table(content.get("families", {}), "families"))
        for label, of_channel in self._table(content.get("asked", {}), "asked").items():
            families = self._table(of_channel, "asked", label)
            if label in self.channels:
                for code, of_family in families.items():
                    yield from self._asked(label, code, self._table(of_family, "asked", label, code))
            else:
                near = hint(label, self.channels, "Write it below [[channels]].")
                self._refuse(
                    ("asked", label, *list(families)[:1]), f"there is no channel {label!r:.60}{near}"
                )

    def _of_channels(self, given: Any) -> Iterator[RequirementRow]:
        if not isinstance(given, list):
            self._refuse(("channels",), "write [[channels]] with name and market for each.")
            return
        for number, one in enumerate(given):
            try:
                row = self._row(("channels", number), **{**LEFT_OUT, **_channel(one)})
            except InputError as error:
                self._refuse(("channels", number), str(error))
                continue
            yield row
            # What the channel is called; one that cannot be read is named by whoever reads the row above.
            for _, entry in read_rows([row], []).entries:
                if entry.channel is not None:
                    self.channels[entry.channel.label] = row.texts

    def _of_families(self, given: Mapping[str, Any]) -> Iterator[RequirementRow]:
        for code, facts in given.items():
            texts = facts if isinstance(facts, Mapping) else {"label": facts}
            if not all(key in _OF_FAMILY and isinstance(value, str) for key, value in texts.items()):
                example = f'{code} = {{label = "Tea", parent = "DRINKS"}}'
                self._refuse(("families", code), f"a family has texts: {example}.")
            elif (why := unusable_family(ProductFamily(code))) is not None:
                self._refuse(("families", code), why)
            else:
                named = {_OF_FAMILY[key]: value.strip() for key, value in texts.items()}
                yield self._row(("families", code), family=code, **named)

    def _asked(self, label: str, code: str, given: Mapping[str, Any]) -> Iterator[RequirementRow]:
        for attribute, said in given.items():
            for language, words in (said if isinstance(said, Mapping) else {"": said}).items():
                keys = ("asked", label, code, attribute, *filter(None, [language]))
                if not isinstance(words, str) or not words.strip():
                    self._refuse(keys, f"{words!r:.60} asks for nothing. Give must, should, may or not.")
                    continue
                level, _, condition = words.partition(";")
                texts = {
                    **self.channels[label],
                    "family": code,
                    "attribute": attribute.strip(),
                    "language": language or ANY,
                    "level": level.strip(),
                    "condition": condition.strip(),
                }
                yield self._row(keys, **texts)

    def _row(self, keys: Keys, **texts: str) -> RequirementRow:
        return RequirementRow(
            dict.fromkeys(COLUMNS, "") | {"by": self.by, **texts}, lambda _: self.lines.where(keys)
        )

    def _table(self, given: Any, *keys: str) -> Mapping[str, Any]:
        if isinstance(given, Mapping):
            return given
        self._refuse(keys, f"{given!r:.40} is no table.")
        return {}

    def _refuse(self, keys: Keys, why: str) -> None:
        self.wrong.append(f"{self.lines.where(keys)}: {why}")


def _channel(given: Any) -> dict[str, str]:
    """Return what a channel has as the texts of a row."""
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
    texts = {"channel": given["name"].strip(), "consumer_units": str(units).lower()}
    return texts | ({"market": str(market).strip()} if market else {})
