"""Completeness: which products have all that a channel requires, by family and language, and what is missing most.

A product is complete for a channel when nothing that it must have there is missing or wrong, incomplete when anything
is, and unknown when nothing is but something could not be judged. What a channel requires nothing of has no
completeness there. An accepted finding stays a finding; the completeness as if it were none is that of
`Audit.with_accepted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from prodex.advice import PythonCall, advice
from prodex.errors import QueryError
from prodex.facts.groups import Groups, column_names
from prodex.languages import ENGLISH, Message, Said, Translation
from prodex.quality.asked_attributes import AskedAttribute
from prodex.quality.asks import Level
from prodex.quality.audit import Audit
from prodex.quality.check import Check
from prodex.quality.group_figures import counted_units_of
from prodex.quality.required_checks import asked_words
from prodex.quality.requirements import ALL, Channel, Requirements, column_of
from prodex.quality.scores import ratio, states_by_group
from prodex.quality.states import State, States
from prodex.selection.units import ALL_UNITS, CONSUMER, UnitCount
from prodex.tables.columns import encoded
from prodex.tables.fill_state import FillState
from prodex.tables.visible import is_visible
from prodex.untrusted_text import on_one_line

#: The language of a row that is about all that is required, and of one about what has no language.
EVERY_LANGUAGE, NO_LANGUAGE = "all", "none"
#: How many attributes a row names that are missing most.
_MOST = 3


@dataclass(frozen=True)
class RequiredColumn:
    """A column of the matrix that a channel requires or wants.

    Attributes
    ----------
    place
        Its place in the matrix.
    check
        The check.
    """

    place: int
    check: Check

    @property
    def asked(self) -> AskedAttribute:
        """What it is about."""
        return AskedAttribute(self.check.required_attribute, self.check.language or "")

    @property
    def words(self) -> str:
        """The same in words."""
        return str(asked_words(self.asked))


@dataclass(frozen=True, eq=False)
class Completeness:
    """The products of an audit as channels see them.

    Attributes
    ----------
    audit
        The audit.
    wanted
        The channels and families of its requirements.

    Examples
    --------
    >>> import pandas as pd, prodex
    >>> rows = [["Web shop", "*", "brand", "must"]]
    >>> wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])
    >>> Completeness.of(prodex.audit(catalog, wanted)).missing("Web shop").to_pylist()
    ['', 'brand']
    """

    audit: Audit
    wanted: Requirements

    @classmethod
    def of(cls, audit: Audit) -> Completeness:
        """Return the completeness of an audit.

        Raises
        ------
        QueryError
            When it was made without requirements.
        """
        if audit.families is None:
            raise QueryError(
                advice(
                    "This audit was made without requirements, so nobody said what complete is. Write them with "
                    "{requirements}, fill them in, and audit by them: {audit}.",
                    requirements=PythonCall(
                        "prodex.write_requirements({file!r}, catalog)", file="requirements.xlsx"
                    ),
                    audit=PythonCall("prodex.audit(catalog, {profile!r})", profile="requirements.xlsx"),
                )
            )
        return cls(audit, audit.families)

    def columns(
        self, channel: str, level: Level = Level.MUST, language: str = EVERY_LANGUAGE
    ) -> list[RequiredColumn]:
        """Return what a channel requires, or wants: in all languages, in one, or what has none."""
        return [
            RequiredColumn(place, check)
            for place, check in enumerate(self.audit.checks)
            if check.channel == channel
            and check.level == level
            and language in {EVERY_LANGUAGE, check.language or NO_LANGUAGE}
        ]

    def states(self, channel: str) -> States:
        """Return for each product whether it is complete for a channel: a `State`."""
        places = [one.place for one in self.columns(channel)]
        return np.concatenate(
            [np.zeros(0, np.int8), *(_joined_states(states[:, places]) for states in self.parts())]
        )

    def shares(self, channel: str) -> npt.NDArray[np.float64]:
        """Return for each product the share of what it must have that is there; NaN where nothing is known."""
        places = [one.place for one in self.columns(channel)]
        made = [np.zeros(0)]
        for states in self.parts():
            own = states[:, places]
            passed, failed = ((own == one).sum(axis=1).astype(float) for one in (State.PASS, State.FAIL))
            made.append(ratio(passed, passed + failed))
        return np.concatenate(made)

    def missing(self, channel: str) -> pa.Array:
        """Return for each product in words what it must have and lacks; empty where nothing is known to be missing."""
        columns = self.columns(channel)
        places = [one.place for one in columns]
        words = [one.words for one in columns]
        made = [pa.array([], pa.string())]
        for states in self.parts():
            fails = states[:, places] == State.FAIL
            # Few combinations occur: the words are made once for each.
            packed = np.packbits(fails, axis=1) if places else np.zeros((len(states), 1), np.uint8)
            combinations, of_each = np.unique(packed, axis=0, return_inverse=True)
            texts = [
                ", ".join(words[place] for place in np.flatnonzero(bits[: len(places)]))
                for bits in np.unpackbits(combinations, axis=1)
            ]
            made.append(pa.array(texts, pa.string()).take(pa.array(of_each.reshape(-1))))
        return pa.concat_arrays(made)

    @cached_property
    def families(self) -> Groups:
        """The family of each product: the listed one that it is of or below, else its own."""
        codes, code = encoded(self.audit.group_column(column_of(self.wanted.by)))
        own: list[str | None] = codes.to_pylist()
        # A supplier who fills in "*" has named no family, and would be taken for all of them.
        named = [one if is_visible(str(one)) and str(one).strip() != ALL else None for one in own]
        listed = [self.wanted.nearest(one) or one for one in named]
        names = list(dict.fromkeys([*(one.code for one in self.wanted.families), *filter(None, listed)]))
        place = {name: number for number, name in enumerate(names)}
        of_code = np.array([*(-1 if one is None else place[one] for one in listed), -1], np.int64)
        there = np.flatnonzero(of_code[code] >= 0)
        return Groups.of(
            self.wanted.by, len(self.audit), (there, of_code[code][there]), names, self._labels(names)
        )

    def is_listed(self, family: str | None) -> bool:
        """Return whether the requirements list a family; one that they do not list is new to them."""
        # Requirements that list none mean every family.
        return family is not None and (not self.wanted.families or self.wanted.knows(family))

    @property
    def new_families(self) -> pd.DataFrame:
        """The families that the requirements do not list: code, label and products, the largest first.

        Requirements that list no family at all mean every one, and none is new to them.
        """
        groups = self.families
        rows = [
            (code, label or code, int(size))
            for code, label, size in zip(groups.codes, groups.labels, groups.sizes, strict=True)
            if size and code is not None and not self.is_listed(code)
        ]
        names = _family_columns(self.wanted.by)
        frame = pd.DataFrame(rows, columns=["code", "label", "products"])
        frame = frame.sort_values(["products", "code"], ascending=[False, True]).reset_index(drop=True)
        return frame.rename(columns=dict(zip(["code", "label"], names, strict=True)))

    @property
    def new_families_said(self) -> Message | None:
        """The same in a sentence: how many products, and which families; None where all are listed."""
        new = self.new_families
        if not len(new):
            return None
        names = tuple(on_one_line(str(one)) for one in new.iloc[:_MOST, 1])
        return Message.of_number(
            "The requirements do not list {number} family of {products}: {names}. They are judged as all families are, "
            "and unknown where nothing is said of these.",
            "The requirements do not list {number} families of {products}: {names}. They are judged as all families "
            "are, and unknown where nothing is said of these.",
            len(new),
            products=Message.of_number("{number} product", "{number} products", int(new["products"].sum())),
            names=names
            if len(new) <= _MOST
            else Message("{names} and {count} more", names=names, count=len(new) - _MOST),
        )

    @property
    def sentences(self) -> list[Message]:
        """For each channel how many products are complete.

        Examples
        --------
        >>> import pandas as pd, prodex
        >>> rows = [["Web shop", "*", "brand", "must"]]
        >>> wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
        >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])
        >>> [str(one) for one in Completeness.of(prodex.audit(catalog, wanted)).sentences]
        ['complete for Web shop: 50.0 % (1 of 2 consumer units, 2 of unknown kind)']
        """
        table = self.table_of_both()
        every = table[(table["language"] == EVERY_LANGUAGE) & (table.iloc[:, 1] == ALL)]
        called = {one.label: one.said for one in self.wanted.channels}
        return [_sentence(row, called[row["channel"]]) for row in every.to_dict("records")]

    def table_of_both(self, words: Translation = ENGLISH) -> pd.DataFrame:
        """Return the table by family, with the completeness of `Audit.with_accepted` beside as `with_accepted`."""
        table = self.table(words=words)
        # Both have the same rows: what fails and what passes is required alike.
        then = self.audit.with_accepted().completeness() if self.audit.has_accepted else table
        return table.assign(with_accepted=then["completeness"])

    def table(self, by: str | None = None, words: Translation = ENGLISH) -> pd.DataFrame:
        """Return one row per channel, family (or another group) and language; see `Audit.completeness`."""
        groups = self.families if by is None else self.audit.groups(by)
        views = [
            _View(channel, language, *(self.columns(channel.label, level, language) for level in _WANTED))
            for channel in self.wanted.channels
            for language in self._languages(channel.label)
        ]
        counts = _Counts.of(self, views, groups)
        names = _family_columns(self.wanted.by if by is None else by)
        frames = [self._rows(view, groups, counts, place, words) for place, view in enumerate(views)]
        frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(_COLUMNS))
        frame.attrs["counted"] = "; ".join(self.counted(frame).values())
        frame = frame.rename(columns=dict(zip(["code", "label"], names, strict=True)))
        return frame if by is None else frame.drop(columns="listed")

    def counted(self, table: pd.DataFrame) -> Mapping[str, str]:
        """Return in words of how many products a table is, by channel."""
        every = table[(table["language"] == EVERY_LANGUAGE) & (table.iloc[:, 1] == ALL)]
        return {row["channel"]: f"{row['channel']}: {counted_of(row)}" for row in every.to_dict("records")}

    def units(self, channel: Channel) -> str:
        """Return which units count for a channel: "consumer", "all", or "not asked for" where nobody knows which."""
        if not self.wanted.means_consumer_units(channel):
            return ALL_UNITS
        return CONSUMER if counted_units_of(self.audit).is_asked else FillState.NOT_ASKED.value

    def _languages(self, channel: str) -> list[str]:
        found = {
            one.check.language or NO_LANGUAGE for level in _WANTED for one in self.columns(channel, level)
        }
        return [EVERY_LANGUAGE, *sorted(found - {NO_LANGUAGE}), *sorted(found & {NO_LANGUAGE})]

    def _rows(
        self, view: _View, groups: Groups, counts: _Counts, place: int, words: Translation
    ) -> pd.DataFrame:
        """Return one row for all products, and one for each group to which anything applies."""
        complete, incomplete, unknown = counts.views[place][[State.PASS, State.FAIL, State.UNKNOWN]].astype(
            float
        )
        products = complete + incomplete + unknown
        must, should = ([one.place for one in columns] for columns in (view.must, view.should))
        passes, missing = counts.checks[must, State.PASS], counts.checks[must, State.FAIL]
        filled, required = passes.sum(axis=0), (missing + passes).sum(axis=0)
        wanted, wanted_filled = (
            counts.checks[should][:, [State.PASS, State.FAIL]].sum(axis=(0, 1)),
            counts.checks[should, State.PASS].sum(axis=0),
        )
        frame = pd.DataFrame(
            {
                "channel": view.channel.label,
                "code": pd.Series([ALL, *groups.codes], dtype="str"),
                "label": pd.Series(["all products", *groups.labels], dtype="str"),
                "listed": [True, *(self.is_listed(code) for code in groups.codes)],
                "language": view.language,
                **{
                    name: values.astype(np.int64)
                    for name, values in (
                        ("products", products),
                        ("complete", complete),
                        ("incomplete", incomplete),
                        ("unknown", unknown),
                    )
                },
                "completeness": ratio(complete, products),
                "filled": filled,
                "required": required,
                "share_filled": ratio(filled.astype(float), required.astype(float)),
                "share_wanted_filled": ratio(wanted_filled.astype(float), wanted.astype(float)),
                "missing_most": pd.Series(
                    [_most_missing(view.must, of_group, words) for of_group in missing.T], dtype="str"
                ),
                "units": self.units(view.channel),
                "units_unknown": counts.unclear[place],
            }
        )
        kept = (products > 0) | (wanted > 0)
        kept[0] = True
        kept_frame: pd.DataFrame = frame.loc[kept]
        return kept_frame

    def _labels(self, names: Sequence[str]) -> list[str | None]:
        """Return what families are called: as the requirements say, else as most of their products do."""
        groups = self.audit.groups(self.wanted.by)
        known = dict(zip(groups.codes, groups.labels, strict=True))
        listed = {one.code: one.label for one in self.wanted.families}
        return [listed.get(name) or known.get(name) for name in names]

    def parts(self) -> Iterator[States]:
        """Yield the states of each part."""
        return (part.states for part in self.audit.parts)


@dataclass(frozen=True, eq=False)
class _View:
    """What a channel requires and wants, in all languages or in one."""

    channel: Channel
    language: str
    must: list[RequiredColumn]
    should: list[RequiredColumn]


@dataclass(frozen=True, eq=False)
class _Counts:
    """What is counted of all products and of each group: the first place is that of all products.

    Attributes
    ----------
    checks
        By column of the matrix, state and group.
    views
        By view, state and group.
    unclear
        By view and group those that count, and may be other units.
    """

    checks: npt.NDArray[np.int64]
    views: npt.NDArray[np.int64]
    unclear: npt.NDArray[np.int64]

    @classmethod
    def of(cls, seen: Completeness, views: Sequence[_View], groups: Groups) -> _Counts:
        """Count part by part: the states of a large audit at once would take much memory."""
        size = len(groups.codes) + 1
        found = cls(
            np.zeros((len(seen.audit.checks), len(State), size), np.int64),
            np.zeros((len(views), len(State), size), np.int64),
            np.zeros((len(views), size), np.int64),
        )
        is_unclear = counted_units_of(seen.audit).unknown
        used = sorted({one.place for view in views for one in (*view.must, *view.should)})
        of_product = np.argsort(groups.rows, kind="stable")
        rows, group = groups.rows[of_product], groups.groups[of_product] + 1
        end = 0
        for states in seen.parts():
            first, end = end, end + len(states)
            here = slice(*np.searchsorted(rows, [first, end]))
            # Each product counts once among all of them, and once in each of its groups.
            row = np.concatenate([np.arange(len(states)), rows[here] - first])
            own = np.concatenate([np.zeros(len(states), np.int64), group[here]])
            for place in used:
                found.checks[place] += states_by_group(states[:, place][row], own, size)
            for place, view in enumerate(views):
                joined = _joined_states(states[:, [one.place for one in view.must]])
                found.views[place] += states_by_group(joined[row], own, size)
                is_other = (joined != State.NOT_APPLICABLE) & is_unclear[first:end]
                found.unclear[place] += np.bincount(own[is_other[row]], minlength=size)
        return found


def _sentence(row: Mapping[Any, Any], channel: Said) -> Message:
    if not row["products"]:
        return Message("complete for {channel}: nothing is required of these products", channel=channel)
    said = Message("{complete} of {units}", complete=int(row["complete"]), units=counted_of(row).said)
    if row["unknown"]:
        said = Message("{said}; unknown of {count}", said=said, count=int(row["unknown"]))
    share, then = float(row["completeness"]), float(row["with_accepted"])
    if then > share:
        said = Message("{said}; {share:%} with what was accepted", said=said, share=then)
    return Message("complete for {channel}: {share:%} ({said})", channel=channel, share=share, said=said)


def counted_of(row: Mapping[Any, Any]) -> UnitCount:
    """Return how many products a row of the table counts."""
    is_asked = row["units"] != FillState.NOT_ASKED.value
    return UnitCount(int(row["products"]), int(row["units_unknown"]), 0, row["units"], is_asked)


def _most_missing(columns: Sequence[RequiredColumn], fails: npt.NDArray[np.int64], words: Translation) -> str:
    order = [one for one in np.argsort(-fails, kind="stable")[:_MOST].tolist() if fails[one]]
    return ", ".join(
        f"{words.say(asked_words(columns[one].asked))} ({words.number(fails[one])})" for one in order
    )


_WANTED = (Level.MUST, Level.SHOULD)
_COLUMNS = (
    *("channel", "code", "label", "listed", "language", "products", "complete", "incomplete", "unknown"),
    *("completeness", "filled", "required", "share_filled", "share_wanted_filled", "missing_most"),
    *("units", "units_unknown"),
)


def _joined_states(states: States) -> States:
    """Return the state of several checks as one: what fails any fails, what is unknown under one is unknown."""
    found = np.full(len(states), State.NOT_APPLICABLE, np.int8)
    for state in (State.PASS, State.UNKNOWN, State.FAIL):
        found[(states == state).any(axis=1)] = state
    return found


def _family_columns(by: str) -> tuple[str, str]:
    code, *label = column_names(by)
    return code, label[0] if label else f"{code}_label"


#: Of what each channel has a column among products, and how it begins.
COMPLETE, SHARE, MISSING = "complete_", "completeness_", "missing_"
_PREFIXES = (COMPLETE, SHARE, MISSING)


def channel_columns(audit: Audit) -> Mapping[str, Any]:
    """Return the columns of `Audit.products` that requirements add: of each channel three.

    `complete_<channel>`, missing where it is unknown or nothing is required; `completeness_<channel>`, the share of
    what the product must have that is there; `missing_<channel>`, in words what it lacks.
    """
    kinds = {COMPLETE: "boolean", SHARE: "float64", MISSING: "str"}
    columns = {name: channel_column(audit, name) for name in channel_column_names(audit)}
    return {
        name: pd.Series(values.to_pylist(), dtype=kinds[_prefix(name)]).array
        for name, values in columns.items()
    }


def channel_column_names(audit: Audit) -> tuple[str, ...]:
    """Return the names of these columns; none without requirements."""
    if audit.families is None:
        return ()
    return tuple(f"{prefix}{key}" for key in channel_keys(audit.families) for prefix in _PREFIXES)


def is_of_channel(name: str) -> bool:
    """Return whether a column is one of those by its name; no column of `products` begins so.

    >>> is_of_channel("complete_web_shop"), is_of_channel("brand")
    (True, False)
    """
    return name.startswith(_PREFIXES)


def channel_column(audit: Audit, name: str) -> pa.Array:
    """Return one of these columns for the products of an audit, in their order."""
    seen = Completeness.of(audit)
    prefix = _prefix(name)
    channel = channel_keys(seen.wanted)[name.removeprefix(prefix)]
    if prefix == MISSING:
        return seen.missing(channel.label)
    if prefix == SHARE:
        return pa.array(seen.shares(channel.label), pa.float64(), from_pandas=True)
    states = seen.states(channel.label)
    return pa.array(states == State.PASS, mask=~np.isin(states, (State.PASS, State.FAIL)))


def channel_column_title(name: str) -> str:
    """Return the heading of such a column, in words.

    >>> channel_column_title("completeness_web_shop")
    'Completeness: web shop'
    """
    prefix = _prefix(name)
    return f"{prefix.rstrip('_').capitalize()}: {name.removeprefix(prefix).replace('_', ' ')}"


def channel_keys(wanted: Requirements) -> Mapping[str, Channel]:
    """Return the channels by the end of the names of their columns.

    >>> list(channel_keys(Requirements(channels=(Channel("Web shop", 250), Channel("web-shop (France)")))))
    ['web_shop_france', 'web_shop_france_2']
    """
    found: dict[str, Channel] = {}
    for channel in wanted.channels:
        name = re.sub(r"\W+", "_", channel.label.casefold()).strip("_") or "channel"
        number, made = 2, name
        while made in found:
            number, made = number + 1, f"{name}_{number}"
        found[made] = channel
    return found


def _prefix(name: str) -> str:
    # "completeness_" begins with another word than "complete_", so that one prefix fits at most.
    return next(one for one in _PREFIXES if name.startswith(one))
