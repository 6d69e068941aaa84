"""Accepted findings: the file that lists them, and which findings of an audit they are.

`<root>/<name>/accepted.jsonl` stands beside the snapshots of a name, one JSON object a line. It is only ever added to,
so that several people can write it, git can merge it, and anybody can read it. A line names product, check and the
digest of what was found, says why, who, when and until when; one with `"withdrawn": true` takes the others back.
Of several lines about one finding the newest counts, whatever their order.

What is accepted is a finding, not a check: of this product (by its GTIN first, see `prodex.facts.same_product`), at
this place (attribute and language), of this value, and compared with this. So it comes back as soon as one of these
changes, and not because a sentence reads otherwise: no word of a reason is part of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import force_setattr

from prodex.arguments import described
from prodex.errors import InputError, StorageError
from prodex.facts.same_product import comparable_gtins, subject_of
from prodex.files.append_log import AppendLog
from prodex.files.atomic import reading
from prodex.files.layouts import require_layout
from prodex.files.lock import publishing_lock
from prodex.files.untrusted import check_moment, is_there, read_bytes
from prodex.quality.audit_part import AuditPart
from prodex.quality.check import Check
from prodex.tables.columns import Rows, as_one_chunk, is_true
from prodex.tables.frames import to_frame
from prodex.written_dates import written_date, written_day

#: The file beside the snapshots of a name.
ACCEPTED_FILE = "accepted.jsonl"

#: The number of the layout, with which each digest begins: lines of several files may be put together.
LAYOUT = 2
_DIGEST_BEGINS = f"{LAYOUT}-"

#: A digest, with the number of its layout if it has one.
_DIGEST = re.compile(r"(?:([0-9]{1,9})-)?[0-9a-f]{16}")

#: What to do with a file of another version.
_ADVICE = "Nothing of it counts, and nothing that rests on it is shown: accept the findings again."

#: Characters of a value that a line shows to people.
_SHOWN = 80

#: Marks that git leaves in a file of two versions that it could not merge; both versions are read.
_OF_GIT = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")

#: Where an object begins in a line of which the beginning is lost, and how often it is tried to read one.
_OBJECT = re.compile(r'\{\s*"')
_TRIES = 20

#: No line is of another time.
_FIRST_YEAR, _LAST_YEAR = 1970, 9000

#: The time of a line that says none: every other line about the finding is newer.
_OLDEST = datetime.min.replace(tzinfo=UTC)


class AcceptedLine(
    msgspec.Struct,
    frozen=True,
    gc=False,  # tens of thousands, which the collector need not look through
    # The last two are not in the file, whatever somebody writes into it.
    rename={"is_withdrawal": "withdrawn", "line": "(line)", "note": "(note)"}.get,
):
    """One line of the file.

    Attributes
    ----------
    line
        Its number, from 1.
    product, check
        `product_id` and id of the check.
    digest
        Of what was found; see `digest_of`.
    reason, by
        Why it is accepted, and who says so.
    at
        When it was written, UTC.
    until
        The last day on which it counts; None for good.
    is_withdrawal
        Whether it takes back what earlier lines accept.
    gtin, attribute, language, value
        Of the finding, for people; a long value is shortened.
    note
        What is odd about the line, though it can be read.
    """

    product: str
    check: str
    digest: str
    reason: str
    by: str
    at: datetime
    gtin: str | None = None
    attribute: str | None = None
    language: str | None = None
    value: str | None = None
    until: date | None = None
    is_withdrawal: bool = False
    line: int = 0
    note: str = ""

    @property
    def subject(self) -> str:
        """What names its product: the GTIN, else the id."""
        return subject_of(self.product, self.gtin)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The finding that it is about, of the product that had this id."""
        return self.subject, self.product, self.check, self.digest

    def is_in_force(self, day: date) -> bool:
        """Whether it says that the finding is accepted on a day."""
        return not self.is_withdrawal and (self.until is None or day <= self.until)

    @property
    def order(self) -> tuple[datetime, bool, str, str]:
        """What decides which of several lines about a finding counts: lines of two machines can have one time."""
        return self.at, self.is_withdrawal, self.by, self.reason


class UnreadLine(NamedTuple):
    """A line that cannot be read: its number (0 for the whole file), why, and what it holds."""

    line: int
    note: str
    text: str


class WrittenFindings(NamedTuple):
    """What one call has written to a file.

    Attributes
    ----------
    findings, products
        How many findings, and of how many products.
    is_withdrawal
        Whether they are accepted no longer.
    """

    findings: int
    products: int
    is_withdrawal: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class AcceptedFindings:
    """What a file of accepted findings holds.

    Attributes
    ----------
    path
        The file; it need not be there yet.
    lines
        What can be read, in the order of the file.
    unread
        The lines that cannot be read.
    written
        What the call that returned it has written; None where it was only read.
    """

    path: Path
    lines: tuple[AcceptedLine, ...] = ()
    unread: tuple[UnreadLine, ...] = ()
    written: WrittenFindings | None = None

    @classmethod
    def read(cls, path: Path) -> AcceptedFindings:
        """Read a file, each line alone; one that is not there holds nothing.

        Raises
        ------
        StorageError
            When it is there and may not be read, is a link or a folder, or has lines of which none can be read.
        OtherLayout
            When another version of prodex has written a line of it.
        """
        if not is_there(path):
            return cls(path)
        try:
            with reading(path):
                content = read_bytes(path, most=None)
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(
                f"{path} cannot be read: {error}. Put a plain file there, or name another one."
            ) from error
        if (written := _as_written(content)) is not None:
            return cls(path, written)
        lines, unread = [], []
        for number, raw in enumerate(content.split(b"\n"), 1):
            for found in _read_line(path, raw, number):
                if isinstance(found, AcceptedLine):
                    lines.append(found)
                else:
                    unread.append(found)
        if unread and not lines and not _is_begun(content):
            first = unread[0]
            raise StorageError(
                f"{path} has no line that can be read. Line {first.line}: {first.note}. Mend the file, or move it away."
            )
        return cls(path, tuple(lines), tuple(unread))

    @classmethod
    def read_beside(cls, path: Path) -> AcceptedFindings:
        """Read the file beside snapshots; where it cannot be read, nothing is accepted, and that is said.

        The snapshots may be from somebody else, and whatever lies beside them must not keep them from being judged.

        Raises
        ------
        OtherLayout
            When another version of prodex has written a line of it: it is not known what is accepted.
        """
        try:
            return cls.read(path)
        except StorageError as error:
            return cls(path, unread=(UnreadLine(0, str(error), ""),))

    @cached_property
    def newest(self) -> Mapping[tuple[str, str, str, str], AcceptedLine]:
        """For each finding of each product the line that counts: the newest, whatever the order in the file."""
        # Mostly each finding has one line.
        found = {one.key: one for one in self.lines}
        if len(found) == len(self.lines):
            return found
        found.clear()
        for one in self.lines:
            there = found.get(one.key)
            if there is None or there.order <= one.order:
                found[one.key] = one
        return found

    @cached_property
    def _newest_of_subject(self) -> Mapping[tuple[str, str, str], AcceptedLine]:
        """The same by what names the product, whatever its id was."""
        found: dict[tuple[str, str, str], AcceptedLine] = {}
        for one in self.newest.values():
            key = (one.subject, one.check, one.digest)
            there = found.get(key)
            if there is None or there.order <= one.order:
                found[key] = one
        return found

    def counting(
        self, product: str, gtin: str | None, check: str, digest: str, shared: Collection[str]
    ) -> AcceptedLine | None:
        """Return the line that counts for a finding: one with this GTIN and id, else one with this GTIN.

        Parameters
        ----------
        product, gtin, check, digest
            Of the finding.
        shared
            The GTINs that several products of the catalogue have: of these, nobody knows which had another id.
        """
        subject = subject_of(product, gtin)
        own = self.newest.get((subject, product, check, digest))
        if own is not None or subject in shared:
            return own
        return self._newest_of_subject.get((subject, check, digest))

    def wanted(self, day: date, checks: Sequence[Check], shared: Collection[str]) -> WantedFindings | None:
        """Return what is accepted on a day as it is looked for in the matrix of an audit; None where nothing is."""
        names = [check.id for check in checks]
        column = {name: place for place, name in enumerate(names)}
        asked = [one for one in self.newest.values() if one.check in column and one.is_in_force(day)]
        if not asked:
            return None
        subjects: dict[str, int] = {}
        cells = [
            subjects.setdefault(one.subject, len(subjects)) * len(names) + column[one.check] for one in asked
        ]
        gtins = dict.fromkeys(one for one in subjects if not one.startswith("|"))
        ids = dict.fromkeys(one.product for one in asked if one.subject not in gtins)
        return WantedFindings(
            self,
            day,
            names,
            frozenset(shared),
            subjects,
            pa.array(ids, pa.string()),
            pa.array(gtins, pa.string()),
            np.unique(np.array(cells, np.int64)),
        )

    def adding(
        self, findings: Sequence[AcceptedLine], *, private: bool, is_withdrawal: bool = False
    ) -> AcceptedFindings:
        """Add lines to the file, and return what it holds then: what others have added meanwhile as well.

        Findings that are alike, letter by letter, have one line.

        Raises
        ------
        StorageError
            When the disk refuses, or the file is a link.
        """
        if findings:
            lines = {one.key: one for one in findings}.values()
            with publishing_lock(self.path.parent):
                AppendLog(self.path, private=private, keeps_rest=True).append(
                    b"\n".join(map(_written, lines))
                )
        written = WrittenFindings(len(findings), len({one.product for one in findings}), is_withdrawal)
        return replace(self.read(self.path), written=written)


def file_beside(folder: Path | None) -> Path | None:
    """Return the file that belongs to a snapshot, given its folder; None for a catalogue that is none."""
    # What was exported has no name, and what stands beside it is not ours.
    if folder is None or not folder.name[:1].isdecimal():
        return None
    return folder.parent / ACCEPTED_FILE


def accepted_findings(folder: Path | None, given: object = None) -> AcceptedFindings | None:
    """Return the accepted findings of a snapshot, or of a file; None for a catalogue in memory without one.

    Raises
    ------
    InputError
        When a file is given that is not there.
    StorageError
        When it cannot be read.
    """
    if given is None:
        beside = file_beside(folder)
        return None if beside is None else AcceptedFindings.read_beside(beside)
    path = file_given(given)
    if not is_there(path):
        raise InputError(
            f"There is no file {path} of accepted findings. prodex.accept(audit, ..., to={str(path)!r}) makes it; "
            "leave it out until then."
        )
    return AcceptedFindings.read(path)


def file_given(given: object) -> Path:
    """Return the path of a file of accepted findings.

    Raises
    ------
    InputError
        When it is no path, or that of a folder.
    """
    if not isinstance(given, str | Path) or not str(given).strip():
        raise InputError(
            f"{described(given)} is no file of accepted findings. Give a path, such as 'accepted.jsonl'."
        )
    path = Path(given).absolute()
    with reading(path):
        is_folder = path.is_dir()
    if is_folder:
        raise InputError(
            f"{path} is a folder. Give the file of accepted findings in it, such as {ACCEPTED_FILE}."
        )
    return path


def digest_of(attribute: str | None, language: str | None, value: str | None, compared: str | None) -> str:
    """Return the digest of a finding of a product: where it is, the value, and what that was compared with.

    >>> one = digest_of("netWeight", None, "5 g", "4")
    >>> one == digest_of("netWeight", None, "5 g", "4"), one == digest_of("netWeight", None, "5 g", "3")
    (True, False)
    """
    # As JSON, in which no two lists are written alike, whatever signs are in the texts.
    said = json.dumps([attribute, language, value, compared])
    return _DIGEST_BEGINS + hashlib.sha256(said.encode()).hexdigest()[:16]


def digests_of(findings: pa.Table, rows: Rows, checks: Sequence[Check]) -> list[str]:
    """Return the digests of some of the findings of a part, given by their place."""
    # It is the same finding as long as nothing is there.
    missing = [digest_of(check.attribute, check.language, None, None) for check in checks]
    taken = findings.select(["check", "attribute", "language", "value", "compared"]).take(pa.array(rows))
    made = np.array(missing, object)[taken["check"].to_numpy()]
    is_seen = np.any([taken[name].is_valid() for name in ("attribute", "value", "compared")], axis=0)
    made[is_seen] = [
        # Of missing data, a finding says at most that they wait for acceptance, or why they are asked for.
        missing[place]
        if value is None
        and compared is None
        and (checks[place].is_presence or attribute in {None, checks[place].attribute})
        else digest_of(
            checks[place].attribute if attribute is None else attribute,
            checks[place].language if language is None else language,
            value,
            compared,
        )
        for place, attribute, language, value, compared in zip(
            *taken.filter(pa.array(is_seen)).to_pydict().values(), strict=True
        )
    ]
    digests: list[str] = made.tolist()
    return digests


class AcceptedThen(NamedTuple):
    """What was accepted when an audit was saved, for its history: cells, and score and readiness as if they passed."""

    accepted: int
    score: float
    ready_products: int


#: A row for each accepted finding of a part: its place among them, of which product the line is that accepts it, and
#: what that says.
ACCEPTED = pa.schema(
    [
        ("finding", pa.int64()),
        *((name, pa.string()) for name in ("product", "accepted", "accepted_by")),
        ("accepted_until", pa.timestamp("us")),
    ]
)
NONE_ACCEPTED = ACCEPTED.empty_table()


class WantedFindings(NamedTuple):
    """What is accepted, as it is looked for in the matrix of an audit.

    Attributes
    ----------
    file
        What is accepted.
    day
        On which day.
    names
        The checks of the matrix.
    shared
        The GTINs that several products have.
    subjects
        The number of each product that has something accepted, by what names it.
    ids, gtins
        The ids and GTINs by which these products are named.
    cells
        The number of the product times that of the checks, plus the place of the check; ascending.
    """

    file: AcceptedFindings
    day: date
    names: Sequence[str]
    shared: frozenset[str]
    subjects: Mapping[str, int]
    ids: pa.Array
    gtins: pa.Array
    cells: Rows


def accepted_in_part(part: AuditPart, checks: Sequence[Check], wanted: WantedFindings) -> pa.Table:
    """Find the accepted findings of a part; the columns of the result are those of `ACCEPTED`.

    Only what has an acceptance is looked at closely: products and checks are matched as whole columns first.
    """
    names = wanted.names
    ids, gtins = as_one_chunk(part.column("product_id")), as_one_chunk(part.column("gtin"))
    is_named = is_true(pc.is_in(ids, wanted.ids)) | is_true(pc.is_in(comparable_gtins(gtins), wanted.gtins))
    if not is_named.any():
        return NONE_ACCEPTED
    # From the products of the part, since an id can occur twice.
    each = [one.filter(pa.array(is_named)).to_pylist() for one in (ids, gtins)]
    named: dict[int, tuple[str, str | None]] = dict(
        zip(np.flatnonzero(is_named).tolist(), zip(*each, strict=True), strict=True)
    )
    of_product = np.full(part.size, -1)
    of_product[is_named] = [wanted.subjects.get(subject_of(*one), -1) for one in named.values()]
    findings = part.findings
    product, check = (findings[one].to_numpy() for one in ("product", "check"))
    name = of_product[product]
    there = np.flatnonzero(name >= 0)
    cell = name[there] * len(checks) + check[there]
    place = np.minimum(np.searchsorted(wanted.cells, cell), len(wanted.cells) - 1)
    rows = there[wanted.cells[place] == cell]
    kept, lines = [], []
    places = (one.tolist() for one in (rows, product[rows], check[rows]))
    for row, of, by, digest in zip(*places, digests_of(findings, rows, checks), strict=True):
        line = wanted.file.counting(*named[of], names[by], digest, wanted.shared)
        if line is not None and line.is_in_force(wanted.day):
            kept.append(row)
            lines.append(line)
    columns = {
        "finding": kept,
        "product": [line.product for line in lines],
        "accepted": [line.reason for line in lines],
        "accepted_by": [line.by for line in lines],
        "accepted_until": pa.array([line.until for line in lines], pa.date32()).cast(pa.timestamp("us")),
    }
    return pa.table(columns, schema=ACCEPTED)


def reasons_of(accepted: Sequence[pa.Table]) -> pd.DataFrame:
    """Return who has accepted how many findings, and why, given those of each part; see `Audit.accepted_reasons`."""
    frame = to_frame(pa.concat_tables([NONE_ACCEPTED, *accepted]))
    found = frame.groupby(["accepted", "accepted_by"], as_index=False, sort=True).agg(
        findings=("product", "size"),
        products=("product", "nunique"),
        accepted_until=("accepted_until", "min"),
    )
    return found.sort_values("findings", ascending=False, kind="stable", ignore_index=True)


_DECODER = msgspec.json.Decoder(AcceptedLine)


def _written(line: AcceptedLine) -> bytes:
    """Return a line as it is written: what people look for first, and all texts readable."""
    facts: dict[str, Any] = {
        "product": line.product,
        "gtin": line.gtin,
        "check": line.check,
        "attribute": line.attribute,
        "language": line.language,
        "value": None if line.value is None else _shortened(line.value),
        "digest": line.digest,
        "reason": line.reason,
        "by": line.by,
        "at": line.at.astimezone(UTC).isoformat(),
        "until": None if line.until is None else line.until.isoformat(),
    }
    if line.is_withdrawal:
        facts["withdrawn"] = True
    # Half of a surrogate pair has no UTF-8; what else would break a line is written as its escape.
    text = json.dumps(facts, ensure_ascii=False).encode("utf-8", "replace").decode()
    return re.sub(r"[\x7f-\x9f\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _shortened(value: str) -> str:
    return value if len(value) <= _SHOWN else f"{value[:_SHOWN]}..."


def _read_line(path: Path, raw: bytes, number: int) -> Iterator[AcceptedLine | UnreadLine]:
    # Files that were put together have a byte order mark in the middle.
    raw = raw.replace(b"\xef\xbb\xbf", b"")
    # Half of the line break before it, where that has two bytes.
    raw = raw.removeprefix(b"\0").strip()
    if not raw:
        return
    if (made := _read_as_written(raw, number)) is not None:
        yield made
        return
    if raw.startswith(_OF_GIT):
        note = "a mark of git between two versions that it could not merge; both are read, so delete the mark"
        yield UnreadLine(number, note, raw[:_SHOWN].decode("utf-8", "replace"))
        return
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
        yield UnreadLine(number, "it is not UTF-8; save the file as UTF-8", _shortened(text))
        return
    # Editors of Windows write two bytes a character, of which every second one is zero.
    if "\0" in text and (narrow := text.replace("\0", "").strip()):
        note = "it has two bytes a character, which is UTF-16; save the file as UTF-8"
        yield UnreadLine(number, note, _shortened(narrow))
        return
    yield from _read_by_hand(path, text, number)


def _is_begun(content: bytes) -> bool:
    """Whether it is what a kill or a power cut has left of the first line of all: the next ones are added behind it."""
    return content.startswith(b'{"product"') and b"\n" not in content and not content.endswith(b"}")


def _as_written(content: bytes) -> tuple[AcceptedLine, ...] | None:
    """Read a file in which every line is as prodex writes it, all at once; None for any other."""
    try:
        read = _DECODER.decode_lines(content)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    # Its last line has no end otherwise, or one is blank.
    if len(read) != content.count(b"\n") or not all(map(_is_as_written, read)):
        return None
    return tuple(map(_numbered, read, range(1, len(read) + 1)))


def _read_as_written(raw: bytes, number: int) -> AcceptedLine | None:
    """Read a line that prodex has written; None for what people have written, or what is damaged."""
    try:
        line = _DECODER.decode(raw)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None
    return _numbered(line, number) if _is_as_written(line) else None


def _is_as_written(line: AcceptedLine) -> bool:
    is_known = line.digest.startswith(_DIGEST_BEGINS)
    is_whole = line.product and line.check and is_known and (line.is_withdrawal or line.reason.strip())
    return bool(is_whole) and line.at.tzinfo is not None and _FIRST_YEAR <= line.at.year <= _LAST_YEAR


def _numbered(line: AcceptedLine, number: int) -> AcceptedLine:
    """Give a line that was just read its number."""
    force_setattr(line, "line", number)
    if line.at.tzinfo is not UTC:
        force_setattr(line, "at", line.at.astimezone(UTC))
    return line


def _read_by_hand(path: Path, text: str, number: int) -> Iterator[AcceptedLine | UnreadLine]:
    """Read the objects of a line, of which there are several where the end of a line was lost."""
    decoder, begin, tries = json.JSONDecoder(), 0, 0
    while begin < len(text):
        found: Any = None
        try:
            found, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            end = begin
        if isinstance(found, dict):
            yield _of_dict(path, found, number, text[begin:end])
        else:
            # What is left of a line that was cut: perhaps another one follows it.
            tries += 1
            later = _OBJECT.search(text, begin + 1) if tries < _TRIES else None
            end = len(text) if later is None else later.start()
            if text[begin:end].strip(" \t,"):
                note = (
                    "it is no line of accepted findings, or a part of one only; delete it or write it again"
                )
                yield UnreadLine(number, note, _shortened(text[begin:end]))
        begin = end
        while begin < len(text) and text[begin] in " \t\r,":
            begin += 1


def _of_dict(path: Path, found: dict[str, Any], number: int, text: str) -> AcceptedLine | UnreadLine:
    """Return a line that somebody has edited, or what is wrong with it."""

    def word(name: str) -> str:
        value = found.get(name)
        # Product ids and GTINs are typed as numbers.
        is_word = isinstance(value, str | int) and not isinstance(value, bool)
        return str(value).strip() if is_word else ""

    def unread(note: str) -> UnreadLine:
        return UnreadLine(number, note, _shortened(text))

    if not isinstance(found.get("withdrawn", False), bool):
        return unread(f"withdrawn is {found['withdrawn']!r:.40}; write true, or leave it out")
    is_withdrawal = found.get("withdrawn") is True
    for name, what in (("product", "no product id"), ("check", "no check")):
        if not word(name):
            return unread(f"it names {what} under {name!r}")
    if not word("digest"):
        return unread(
            "it has no digest, so nobody knows what was found; accept the finding with prodex instead"
        )
    if (digest := _DIGEST.fullmatch(word("digest"))) is None:
        return unread(
            f"its digest is {word('digest')!r:.40}, which prodex did not write; accept the finding with prodex instead"
        )
    made_by = None if digest[1] is None else int(digest[1])
    require_layout(path, made_by, LAYOUT, f"Line {number} is the first of them. {_ADVICE}")
    if not is_withdrawal and not word("reason"):
        return unread("it gives no reason, and nothing is accepted without one")
    try:
        until = _until(found.get("until"))
    except InputError as error:
        return unread(f"until: {error}")
    at, note = _OLDEST, "it says no time, so any other line about this finding counts before it"
    if given := word("at"):
        try:
            at, note = _moment(given), ""
        except InputError as error:
            return unread(f"at: {error}")
    return AcceptedLine(
        line=number,
        product=word("product"),
        check=word("check"),
        digest=word("digest"),
        reason=word("reason"),
        by=word("by"),
        at=at,
        until=until,
        is_withdrawal=is_withdrawal,
        **{name: word(name) or None for name in ("gtin", "attribute", "language", "value")},
        note=note,
    )


def _moment(given: str) -> datetime:
    found = written_date(given)
    if not isinstance(found, datetime):
        found = datetime.combine(found, time.min)
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found
    try:
        check_moment(found)
        return found.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{given:.40} is no time. Write 2027-01-05T08:00:00+00:00.") from error


def _until(given: Any) -> date | None:
    if given is None or given == "":
        return None
    if not isinstance(given, str):
        raise InputError(f"{given!r:.40} is no date. Write 2027-01-05.")
    return written_day(given)
