"""Judging the products of a part by requirements: all of them at once, column by column.

Hundreds of requirements look at the same attributes. So presence is looked up once for each attribute, families are
told apart by number, and no requirement makes objects of its own for each product.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Origin
from prodex.errors import NotExported
from prodex.facts.requested_data import Asked, asked_for
from prodex.locales import language_label, short_of
from prodex.patterns import PatternTooSlow
from prodex.quality.check import CheckFacts
from prodex.quality.picture_columns import FACES, PICTURES, PictureColumns
from prodex.quality.problems import attribute_label
from prodex.quality.products import Products
from prodex.quality.requirements import (
    NUTRIENTS,
    Ask,
    AskedAttribute,
    Channel,
    Level,
    Requirements,
    column_of,
    selector_of,
    value_columns,
)
from prodex.quality.rulebook import SEVERITIES, Block, Severity
from prodex.quality.scope import is_meant
from prodex.quality.states import EVIDENCE, State, States
from prodex.quality.verdict import compared_with
from prodex.selection.paths import wire_paths
from prodex.selection.units import FLAG, NAMED, CountedUnits
from prodex.tables.columns import Mask, Numbers, Rows, composed_texts, encoded, filled_values, is_true, whole
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import FillState, FillStates
from prodex.tables.filled import BY_SHAPE, tables_at
from prodex.tables.values import number_text
from prodex.tables.visible import is_visible

_FILLED, _ABSENT = FillState.FILLED.number, FillState.ABSENT.number
_NOT_ASKED = FillState.NOT_ASKED.number


@dataclass(frozen=True)
class _Kind:
    """What a level makes of a product that is asked.

    Attributes
    ----------
    rule
        How its checks are called.
    severity
        How bad a failure is.
    title, problem, fix
        Words of its checks, of the attribute in words and of the channel.
    """

    rule: str
    severity: Severity
    title: str
    problem: str
    fix: str


_KINDS: Mapping[Level, _Kind] = {
    Level.MUST: _Kind(
        "must_have",
        "blocker",
        "{said} is filled as {channel} requires",
        "{said} missing for {channel}",
        "Write the {said}.",
    ),
    Level.SHOULD: _Kind(
        "should_have",
        "warning",
        "{said} is filled as {channel} wants",
        "{said} wanted for {channel}",
        "Write the {said}.",
    ),
    Level.NOT: _Kind(
        "must_not_have",
        "warning",
        "{said} is empty, as {channel} requires",
        "{said} does not belong to {channel}",
        "Remove the {said}, or move the product to another family.",
    ),
}
_OF_VALUES = {
    Level.MUST: "{said} missing or not as required for {channel}",
    Level.SHOULD: "{said} wanted, or not as wanted, for {channel}",
}
_OF_PICTURES = "Send a {said}."
_WHY = "This is what the channel asks of products of this family."
_TOO_SHORT, _TOO_LONG = (
    "too short: {count} of at least {least} characters",
    "too long: {count} of at most {most} characters",
)
_NONE_OF, _NO_MATCH, _TOO_SMALL = (
    "none of {codes}",
    "does not match the pattern {pattern}",
    "at least {pixels} pixels on the longest side are required",
)
_FACE, _NUTRIENT, _IN_LANGUAGE = "picture of the {name}", "nutrient {code}", "{label} in {language}"
_THERE = "there is data"

#: Everything that a check of requirements says, as messages to translate: problems, what to do, and reasons.
MESSAGES = (
    *(words for kind in _KINDS.values() for words in (kind.title, kind.problem, kind.fix)),
    *(*_OF_VALUES.values(), _OF_PICTURES, _WHY, _THERE),
    *(_TOO_SHORT, _TOO_LONG, _NONE_OF, _NO_MATCH, _TOO_SMALL),
    *(_IN_LANGUAGE, _NUTRIENT, *(_FACE.format(name=name) for name in FACES.values())),
)


@dataclass(frozen=True)
class RequiredCheck:
    """One column of the matrix: what one channel asks about one attribute, at one level.

    Attributes
    ----------
    channel, asked, level
        What is asked of whom.
    is_of_value
        Whether any family says what the value has to be like.
    """

    channel: Channel
    asked: AskedAttribute
    level: Level
    is_of_value: bool

    @property
    def id(self) -> str:
        """The name of the column: `must_have[Web shop (France),namePublicLong,fr]`."""
        words = [self.channel.label, self.asked.attribute, *filter(None, [self.asked.language])]
        return f"{_KINDS[self.level].rule}[{','.join(words)}]"

    @property
    def facts(self) -> CheckFacts:
        """What an audit keeps of it."""
        kind = _KINDS[self.level]
        words = {"said": asked_words(self.asked), "channel": self.channel.label}
        title, problem = (
            _capitalized(one.format(**words))
            for one in (kind.title, _OF_VALUES[self.level] if self.is_of_value else kind.problem)
        )
        is_picture = self.asked.path == PICTURES and self.level is not Level.NOT
        fix = (_OF_PICTURES if is_picture else kind.fix).format(**words)
        return CheckFacts(
            id=self.id,
            rule=kind.rule,
            block=_block(self.asked),
            dimension="completeness",
            severity=kind.severity,
            weight=SEVERITIES[kind.severity],
            title=title,
            why=_WHY,
            fix=fix,
            reason=_THERE if self.level is Level.NOT else "no data: absent, null or empty",
            source="requirements",
            exact=True,
            shipped=True,
            attribute=self.asked.path,
            language=self.asked.language or None,
            scope=self.channel.label,
            is_presence=self.level is not Level.NOT,
            problem=problem,
            channel=self.channel.label,
            level=self.level.value,
            asked=self.asked.attribute,
            units=NAMED,  # of the channel
        )


def _block(asked: AskedAttribute) -> Block:
    if asked.path.startswith("assets"):
        return "pictures"
    if asked.language:
        return "texts"
    if asked.path.startswith("isPartitionedBy"):
        return "food"
    return "hierarchies" if asked.path in {"logisticalHierarchies", "sharingUnits"} else "identity"


def asked_words(asked: AskedAttribute) -> str:
    """Return in words what is asked about.

    >>> asked_words(AskedAttribute("namePublicLong", "fr")), asked_words(AskedAttribute("assets.pictures[front]"))
    ('long name in French', 'picture of the front')
    """
    path, chosen = selector_of(asked.attribute)
    if chosen and path == PICTURES:
        return _FACE.format(name=chosen)
    if chosen:
        return _NUTRIENT.format(code=chosen)
    label = attribute_label(path)
    if not asked.language:
        return label
    return _IN_LANGUAGE.format(label=label, language=language_label(asked.language))


def _capitalized(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def required_columns(requirements: Requirements) -> tuple[RequiredCheck, ...]:
    """Return the columns that requirements make: one for each channel, attribute and level that any family has.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [["Web shop", "*", "brand", "must"], ["Web shop", "TEA", "brand", "may"]]
    >>> wanted = Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
    >>> [check.id for check in required_columns(wanted)]
    ['must_have[Web shop,brand]']
    """
    channels = {one.label: one for one in requirements.channels}
    order = {label: place for place, label in enumerate(channels)}
    found: dict[tuple[int, AskedAttribute, Level], bool] = {}
    for one in requirements.requirements:
        key = (order[one.channel], one.asked, one.ask.level)
        found[key] = found.get(key, False) or one.ask.is_of_value
    labels = list(channels)
    levels = list(_KINDS)
    return tuple(
        RequiredCheck(channels[labels[place]], asked, level, is_of_value)
        for (place, asked, level), is_of_value in sorted(
            found.items(), key=lambda one: (one[0][0], one[0][1], list(Level).index(one[0][2]))
        )
        if level in levels
    )


_NOTHING, _UNDECIDED = -1, -2


def judge(
    products: Products, requirements: Requirements, first: int, origin: Origin
) -> tuple[States, pa.Table, Mapping[str, str]]:
    """Judge the products of a part.

    Parameters
    ----------
    products
        The products.
    requirements
        What is asked of them.
    first
        The place of the first of their checks in the matrix.
    origin
        What the catalogue was asked for.

    Returns
    -------
    tuple of numpy.ndarray, pyarrow.Table and dict
        The states, a column for each of `required_columns(requirements)`; the evidence of failing products; and of
        checks that could not judge everything, why.
    """
    part = _Part(products, requirements, origin)
    checks = required_columns(requirements)
    states = np.full((len(products), len(checks)), State.UNKNOWN, np.int8, order="F")
    evidence = [EVIDENCE.empty_table()]
    for place, check in enumerate(checks):
        try:
            judged, found = part.judged(check)
        except NotExported:
            continue  # the export left out what decides: unknown
        states[:, place] = judged
        if found is not None:
            evidence.append(_evidence_table(found, first + place, check))
    return states, pa.concat_tables(evidence), part.too_slow


@dataclass(frozen=True, eq=False)
class _Values:
    """The values of one attribute: the place of the product of each, its text, and for pictures its size.

    Attributes
    ----------
    is_number
        Which of them were sent as numbers: these are compared by value, and 12.0 is 12.
    more
        What tells each from values that read alike, such as its unit.
    """

    product: Rows
    texts: pa.Array
    is_number: Mask
    pixels: Numbers | None = None
    more: Sequence[tuple[object, ...]] | None = None

    def taken(self, rows: Rows) -> _Values:
        """Return some of the values."""
        sizes = None if self.pixels is None else self.pixels[rows]
        texts = self.texts.take(pa.array(rows))
        return _Values(self.product[rows], texts, self.is_number[rows], sizes, self.identity(rows))

    def identity(self, rows: Rows) -> Sequence[tuple[object, ...]]:
        """Return what tells some values from others that read alike: the unit, and which picture it is."""
        return [()] * len(rows) if self.more is None else [self.more[row] for row in rows.tolist()]


class _Found(NamedTuple):
    """Findings: places of products, values, reasons, and what the values were compared with."""

    product: Rows
    texts: pa.Array
    reasons: list[str]
    compared: list[str]

    def taken(self, kept: Mask) -> _Found:
        """Return some of the findings."""
        rows = np.flatnonzero(kept)
        return _Found(
            self.product[rows],
            self.texts.take(pa.array(rows)),
            [self.reasons[row] for row in rows.tolist()],
            [self.compared[row] for row in rows.tolist()],
        )


@dataclass(frozen=True, eq=False)
class _Part:
    products: Products
    requirements: Requirements
    origin: Origin
    _states: dict[AskedAttribute, FillStates] = field(default_factory=dict)
    _values: dict[AskedAttribute, _Values] = field(default_factory=dict)
    _matched: dict[str, dict[str, bool] | PatternTooSlow] = field(default_factory=dict)
    #: The checks whose pattern took too long, with the message.
    too_slow: dict[str, str] = field(default_factory=dict)

    def judged(self, check: RequiredCheck) -> tuple[npt.NDArray[np.int8], _Found | None]:
        """Return the states under a check, and what is wrong with values that are there."""
        asks, wanted, undecided = self._wanted(check)
        applies, unclear = self._meant(check)
        filled = self._states_of(check.asked)
        there = filled == _FILLED
        lacking = filled == _ABSENT
        found: _Found | None = None
        if check.level is Level.NOT:
            fails, passes = there, lacking
            found = self._present_values(check.asked, there & applies & (wanted >= 0))
        elif any(ask.is_of_value for ask in asks):
            wrong, silent, found = self._wrong(check, asks, wanted, there & applies)
            fails, passes = lacking | wrong, there & ~wrong & ~silent
        else:
            fails, passes = lacking, there
        states = np.full(len(there), State.UNKNOWN, np.int8)
        states[passes] = State.PASS
        states[fails] = State.FAIL
        is_asked = (wanted >= 0) & (applies | unclear)
        states[is_asked & unclear] = State.UNKNOWN
        states[undecided] = State.UNKNOWN
        states[~(is_asked | undecided) | ~(applies | unclear)] = State.NOT_APPLICABLE
        if found is not None:
            found = found.taken(states[found.product] == State.FAIL)
        return states, found

    @cached_property
    def _families(self) -> tuple[list[str | None], Rows]:
        """The families that occur, and for each product which it is of; the last is of those without."""
        codes, code = encoded(self.products.column(column_of(self.requirements.by)))
        names = codes.to_pylist()
        blank = [not is_visible(str(name)) for name in names]
        code = np.where(np.append(blank, True)[code], len(names), code)
        return [*names, None], code

    @cached_property
    def _families_known(self) -> bool:
        paths = wire_paths(column_of(self.requirements.by))
        return asked_for(self.origin, paths) is Asked.ALL

    @cached_property
    def _asks(self) -> list[tuple[bool, Mapping[tuple[str, AskedAttribute], Ask]]]:
        """Of each family that occurs whether it is listed, and all that is asked of it."""
        wanted = self.requirements
        return [(wanted.knows(code), wanted.asks(code)) for code in self._families[0]]

    def _wanted(self, check: RequiredCheck) -> tuple[list[Ask], Rows, Mask]:
        """Return what is asked, for each product which of it or -1, and of which products nobody knows."""
        families, family = self._families
        asks: dict[Ask, int] = {}
        of_family = np.full(len(families), _NOTHING, np.int64)
        key = (check.channel.label, check.asked)
        for place, (is_listed, all_asked) in enumerate(self._asks):
            ask = all_asked.get(key)
            if ask is None:
                # Of a family that nobody listed, in a channel that asks nothing of all families, nobody knows.
                is_known = is_listed or check.channel.label in self.requirements.channels_of_all
                of_family[place] = _NOTHING if is_known else _UNDECIDED
            elif ask.level is check.level:
                of_family[place] = asks.setdefault(ask, len(asks))
        if not self._families_known and self.requirements.families:
            of_family[:] = _UNDECIDED
        wanted = of_family[family]
        if self.requirements.families:
            # A family that is there and cannot be read may be any.
            unclear = self.products.unreadable(wire_paths(column_of(self.requirements.by)))
            wanted = np.where(unclear & (family == len(families) - 1), _UNDECIDED, wanted)
        return list(asks), wanted, wanted == _UNDECIDED

    def _meant(self, check: RequiredCheck) -> tuple[Mask, Mask]:
        """Return which products a check is about by its channel, and of which this is not known."""
        channel = check.channel
        meant = self.products.remember(
            channel.market_selection, lambda: is_meant(self.products, channel.market_selection)
        )
        applies, unclear = meant.fillna(False).to_numpy(bool), np.asarray(meant.isna(), bool)
        if not self.requirements.counts_consumer_units(channel, check.asked):
            return applies, unclear
        counted, undecided = self._units
        return applies & counted & ~undecided, (unclear & counted) | (applies & undecided)

    @cached_property
    def _units(self) -> tuple[Mask, Mask]:
        """Which products count as consumer units, and of which nobody knows it, since nobody has asked for the flag.

        A flag that is absent or cannot be read is known to be so: the product counts.
        """
        units = CountedUnits.of(self.products.assumed(FLAG))
        is_asked = asked_for(self.origin, wire_paths(FLAG)) is Asked.ALL
        return units.mask, units.unknown & (not is_asked)

    def _states_of(self, asked: AskedAttribute) -> FillStates:
        if asked not in self._states:
            self._states[asked] = self._found_states(asked)
        return self._states[asked]

    def _found_states(self, asked: AskedAttribute) -> FillStates:
        needed, language = _needs(asked), asked.language or None
        requested = asked_for(self.origin, needed, language)
        if requested is Asked.NOTHING:
            return np.full(len(self.products), _NOT_ASKED, np.int8)
        path, chosen = selector_of(asked.attribute)
        if chosen:
            states = np.full(len(self.products), _ABSENT, np.int8)
            states[self.products.unreadable(needed, language)] = FillState.UNREADABLE.number
            states[self._values_of(asked).product] = _FILLED
        else:
            states = self.products.states(path, language)
        if requested is Asked.PART:
            states[states == _ABSENT] = _NOT_ASKED
        return states

    def _wrong(
        self, check: RequiredCheck, asks: list[Ask], wanted: Rows, there: Mask
    ) -> tuple[Mask, Mask, _Found]:
        """Return which products have a value that is not as asked, of which nobody can say, and the wrong values."""
        values = self._values_of(check.asked)
        wrong, silent = np.zeros((2, len(there)), bool)
        rows: list[Rows] = []
        reasons: list[str] = []
        compared: list[str] = []
        for number, ask in enumerate(asks):
            if not ask.is_of_value:
                continue
            meant = (wanted == number) & there
            own = np.flatnonzero(meant[values.product])
            if ask.pixels and values.pixels is not None:
                own = own[~np.isnan(values.pixels[own])]
            taken = values.taken(own)
            taken = replace(taken, texts=composed_texts(pc.utf8_trim_whitespace(taken.texts)))
            refused = _refused(ask, taken, len(there))
            if ask.pattern:
                try:
                    matched = self._are_matched(ask, taken.texts.to_pylist())
                except PatternTooSlow as error:
                    self.too_slow[check.id] = str(error)
                    silent |= meant
                else:
                    why = [_NO_MATCH.format(pattern=ask.pattern)] * int((~matched).sum())
                    refused = chain(refused, [(~matched, why, ("pattern", ask.pattern))])
            for bad, why, condition in refused:
                rows.append(own[bad])
                reasons += why
                compared += [compared_with(*condition, *more) for more in values.identity(own[bad])]
            # Something is there, and nothing of it can be compared: nobody can say that it is right, or wrong.
            meant[values.product[own]] = False
            silent |= meant
        place = np.concatenate([np.zeros(0, np.int64), *rows])
        wrong[values.product[place]] = True
        order = np.argsort(values.product[place], kind="stable")
        found = values.taken(place[order])
        in_order = order.tolist()
        return (
            wrong,
            silent,
            _Found(
                found.product,
                found.texts,
                [reasons[one] for one in in_order],
                [compared[one] for one in in_order],
            ),
        )

    def _present_values(self, asked: AskedAttribute, there: Mask) -> _Found:
        """Return what products have that they must not have: one finding for each, of all that is there."""
        path, _ = selector_of(asked.attribute)
        products = np.flatnonzero(there)
        said: dict[int, list[str]] = {product: [] for product in products.tolist()}
        shown: dict[int, str] = {}
        values = _Values(np.empty(0, np.int64), pa.array([], pa.string()), np.empty(0, bool))
        # What an export left out must not make unknown what is known without it.
        with suppress(NotExported):
            values = self._values_of(asked)
        chosen = np.flatnonzero(there[values.product])
        texts = values.texts.take(pa.array(chosen)).to_pylist()
        for product, text, more in zip(
            values.product[chosen].tolist(), texts, values.identity(chosen), strict=True
        ):
            shown.setdefault(product, text)
            said[product].append(compared_with(text, *more))
        if said and not asked.language and path == asked.attribute:
            self._add_leaves(path, said)
        return _Found(
            products,
            pa.array([shown.get(product) for product in products.tolist()], pa.string()),
            [_THERE] * len(products),
            [compared_with(sorted(said[product])) for product in products.tolist()],
        )

    def _add_leaves(self, path: str, said: dict[int, list[str]]) -> None:
        """Add what products have below an attribute, at whatever depth: another content has not been looked at."""
        for table in tables_at(path):
            keys = {"product_id", "gtin", "attribute", "position"}
            columns = [name for name in TABLES[table].schema.names if name not in keys]
            if table in BY_SHAPE:
                # What the content is and not how it is spelled or labelled: 500 g are not 500 kg.
                columns = [*BY_SHAPE[table], *_IDENTIFYING.get(table, ())]
            with suppress(NotExported):
                rows = self.products.arrow(table, "attribute", *columns)
                inside = pc.or_(
                    pc.equal(rows["attribute"], path), pc.starts_with(rows["attribute"], f"{path}.")
                )
                for product, *leaf in zip(
                    *(one.to_pylist() for one in rows.filter(inside).columns), strict=True
                ):
                    if product in said:
                        said[product].append(compared_with(*leaf))

    def _are_matched(self, ask: Ask, texts: list[str]) -> Mask:
        """Return which texts match the pattern; each is looked at once, whichever check and family asks for it."""
        known = self._matched.setdefault(ask.pattern, {})
        if isinstance(known, PatternTooSlow):
            raise known
        new = [text for text in dict.fromkeys(texts) if text not in known]
        try:
            known.update(zip(new, ask.value_pattern.are_whole(new), strict=True))
        except PatternTooSlow as error:
            self._matched[ask.pattern] = error
            raise
        return np.array([known[text] for text in texts], bool)

    def _values_of(self, asked: AskedAttribute) -> _Values:
        if asked not in self._values:
            self._values[asked] = self._read_values(asked)
        return self._values[asked]

    def _read_values(self, asked: AskedAttribute) -> _Values:
        path, chosen = selector_of(asked.attribute)
        if path == PICTURES:
            return self._pictures(chosen)
        if chosen:
            return self._nutrient(chosen)
        read: list[_Values] = []
        for column in value_columns(path):
            read.append(_values(np.arange(len(self.products)), self.products.column(column)))
        for table, (column, *_) in BY_SHAPE.items():
            # A quantity is a number with its unit, which no condition names: whether it is as asked, nobody can say.
            if table == "quantities":
                continue
            names = ["attribute", column, *_FURTHER.get(table, ())]
            rows = self.products.arrow(table, *names)
            meant = is_true(pc.is_in(rows["attribute"], pa.array(_ends(path), pa.string())))
            if table == "texts" and asked.language:
                meant &= _in_language(rows["language"], asked.language)
            rows = rows.filter(pa.array(meant))
            is_number = is_true(pc.equal(rows["type"], "number")) if table == "scalars" else None
            more = rows["language"].to_pylist() if table == "texts" else None
            read.append(_values(whole(rows["product"]).to_numpy(), whole(rows[column]), is_number, more))
        return _Values(
            np.concatenate([one.product for one in read]),
            pa.concat_arrays([one.texts for one in read]),
            np.concatenate([one.is_number for one in read]),
            more=[more for one in read for more in one.identity(np.arange(len(one.product)))],
        )

    def _pictures(self, face: str) -> _Values:
        pictures = PictureColumns.of(self.products)
        chosen = np.ones(len(pictures.product), bool)
        if face:
            number = next(key for key, name in FACES.items() if name == face)
            chosen = is_true(pc.equal(pictures["product_face"], number))
        sizes = pictures.longest_side[chosen]
        words = ["size not given" if np.isnan(one) else f"{one:g} pixels" for one in sizes.tolist()]
        which = [(name,) for name in pictures.identities(np.flatnonzero(chosen))]
        no_numbers = np.zeros(len(words), bool)
        return _Values(pictures.product[chosen], pa.array(words, pa.string()), no_numbers, sizes, which)

    def _nutrient(self, code: str) -> _Values:
        rows = self.products.arrow("nutrients", "nutrient_code", "quantity", "unit_code")
        kept = is_true(pc.equal(rows["nutrient_code"], code)) & filled_values(whole(rows["quantity"]))
        rows = rows.filter(pa.array(kept))
        return _values(
            whole(rows["product"]).to_numpy(), whole(rows["quantity"]), more=rows["unit_code"].to_pylist()
        )


def _refused(ask: Ask, values: _Values, size: int) -> Iterator[tuple[Mask, list[str], tuple[object, ...]]]:
    """Yield which of some values, of so many products, are not as asked, for each why, and the condition for all.

    What their pattern says is asked elsewhere, since it may take too long.

    Texts are without spaces around, and each letter is one character.
    """
    texts = values.texts
    length = pc.utf8_length(texts).to_numpy()
    if ask.one_of:
        allowed = composed_texts(pa.array(ask.one_of, pa.string()))
        good = is_true(pc.is_in(pc.utf8_lower(texts), pc.utf8_lower(allowed)))
        if values.is_number.any():
            numbers = pa.array(filter(None, map(_number, ask.one_of)), pa.string())
            good |= values.is_number & is_true(pc.is_in(texts, numbers))
        bad = ~good
        # Neither their order nor their case decides.
        codes = sorted({code.lower() for code in ask.one_of})
        yield bad, [_NONE_OF.format(codes=", ".join(ask.one_of))] * int(bad.sum()), ("one of", *codes)
    if ask.shortest:
        bad = length < ask.shortest
        why = [_TOO_SHORT.format(count=f"{one:,}", least=ask.shortest) for one in length[bad].tolist()]
        yield bad, why, ("shortest", ask.shortest)
    if ask.longest:
        bad = length > ask.longest
        why = [_TOO_LONG.format(count=f"{one:,}", most=ask.longest) for one in length[bad].tolist()]
        yield bad, why, ("longest", ask.longest)
    if ask.pixels and values.pixels is not None:
        # One picture that is large enough will do.
        largest = np.zeros(size)
        np.maximum.at(largest, values.product, values.pixels)
        bad = largest[values.product] < ask.pixels
        yield bad, [_TOO_SMALL.format(pixels=ask.pixels)] * int(bad.sum()), ("pixels", ask.pixels)


def _needs(asked: AskedAttribute) -> list[str]:
    path, chosen = selector_of(asked.attribute)
    if chosen and path == PICTURES:
        return [f"{PICTURES}.productFace", f"{PICTURES}.url"]
    if chosen:
        return [f"{NUTRIENTS}.isConceptualizedBy.code", f"{NUTRIENTS}.quantity"]
    return [path]


def _ends(path: str) -> list[str]:
    """Return the wire paths at which the value of an attribute is: at itself, in `data`, or as a code."""
    return [path, f"{path}.data", f"{path}.code"]


#: Columns that decide beside attribute and value.
_FURTHER: Mapping[str, tuple[str, ...]] = {"texts": ("language",), "scalars": ("type",)}
#: What tells a content from another one that reads alike.
_IDENTIFYING: Mapping[str, tuple[str, ...]] = {"texts": ("language",), "quantities": ("unit_code",)}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")


def _number(code: str) -> str | None:
    """Return a number as tables hold it; None for what is a code alone, such as 007.

    >>> _number("12.0"), _number("12"), _number("0.50"), _number("007"), _number("A")
    ('12', '12', '0.5', None, None)
    """
    return number_text(float(code)) if _NUMBER.fullmatch(code) else None


def _values(
    product: Rows, values: pa.Array, is_number: Mask | None = None, more: Sequence[object] | None = None
) -> _Values:
    texts = whole(values)
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    if is_number is None:
        is_number = np.full(len(texts), pa.types.is_integer(texts.type) or pa.types.is_floating(texts.type))
    texts = texts if pa.types.is_string(texts.type) else texts.cast(pa.string())
    filled = filled_values(texts)
    kept = None if more is None else [(more[row],) for row in np.flatnonzero(filled).tolist()]
    texts = whole(texts.filter(pa.array(filled)))
    return _Values(np.asarray(product, np.int64)[filled], texts, is_number[filled], more=kept)


def _in_language(languages: pa.ChunkedArray, language: str) -> Mask:
    distinct, code = encoded(languages)
    same = [short_of(one) == language for one in distinct.to_pylist()]
    return np.array([*same, False], bool)[code]


def _evidence_table(found: _Found, place: int, check: RequiredCheck) -> pa.Table:
    size = len(found.product)
    columns: dict[str, Callable[[], pa.Array]] = {
        "check": lambda: pa.array(np.full(size, place), pa.int32()),
        "product": lambda: pa.array(found.product, pa.int32()),
        "attribute": lambda: pa.array([check.asked.path] * size, pa.string()),
        "language": lambda: pa.array([check.asked.language or None] * size, pa.string()),
        "value": lambda: found.texts,
        "reason": lambda: pa.array(found.reasons, pa.string()),
        "compared": lambda: pa.array(found.compared, pa.string()),
    }
    made = [columns[name.name]() if name.name in columns else pa.nulls(size, name.type) for name in EVIDENCE]
    return pa.table(made, schema=EVIDENCE)
