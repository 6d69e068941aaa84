"""Accepted findings: the file, what is in force, and the figures with and without."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import load_workbook

import prodex
from prodex import Catalog, clock
from prodex.display.audit import accepted_lines
from prodex.errors import InputError, QueryError, SettingsError, SnapshotNotFound, StorageError
from prodex.quality import Audit
from prodex.quality import accepted as accepted_module
from prodex.quality.accepted import AcceptedFindings, WrittenFindings, digest_of
from tests.cases import each_row

RIGHT, WRONG, OTHER = "03036811359935", "03036811359936", "03036811359937"
CHECKS = {"valid_gtin": {"severity": "blocker"}, "has_text": {"attribute": "namePublicLong"}}
PROFILE = {"checks": CHECKS}


def records(*gtins: str) -> list[dict[str, Any]]:
    """Return products with these GTINs."""
    return [{"id": number, "gtin": gtin} for number, gtin in enumerate(gtins, 1)]


def saved(*gtins: str) -> Catalog:
    """Return a snapshot of products with these GTINs."""
    return prodex.flatten(records(*gtins)).save("shop")


def judged(*gtins: str, **options: Any) -> Audit:
    """Return the audit of a new snapshot of products with these GTINs."""
    return prodex.audit(saved(*gtins), PROFILE, progress=False, **options)


def path_of(audit: Audit) -> Path:
    """Return the file of accepted findings of an audit."""
    assert audit.accepted_findings is not None
    return audit.accepted_findings.path


def written(**facts: Any) -> str:
    """Return a line about product 2 as it is written, with some of its facts changed."""
    digest = digest_of("gtin", None, WRONG, None)
    line = {
        "product": "2",
        "gtin": WRONG,
        "check": "valid_gtin",
        "attribute": "gtin",
        "language": None,
        "value": WRONG,
        "digest": digest,
        "reason": "printed so",
        "by": "Ana",
        "at": "2026-11-01T08:00:00+00:00",
        "until": None,
    } | facts
    return json.dumps({name: value for name, value in line.items() if value != "(without)"})


def reading(content: str | bytes, file: Path) -> Audit:
    """Return an audit that reads a file with this content."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return prodex.audit(prodex.flatten(records(RIGHT, WRONG)), PROFILE, progress=False, accepted=file)


def count(content: str | bytes, file: Path) -> int:
    """Return how many cells of an audit a file accepts."""
    return int(reading(content, file).summary["accepted"])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file for what is accepted."""
    return tmp_path / "accepted.jsonl"


def test_the_figures_are_shown_with_and_without() -> None:
    """An accepted failure fails still; the figures with accepted are those as if it passed."""
    audit = judged(RIGHT, WRONG, "")

    audit = prodex.accept(audit, audit.failures(check="valid_gtin", product_id="2"), reason="printed so")

    view = audit.with_accepted()
    assert [(5, 1, 1), (4, 0, 2)] == [
        tuple(one.summary[["failed", "accepted", "ready_products"]]) for one in (audit, view)
    ]
    assert (4 / 18, 8 / 18) == pytest.approx((audit.score, view.score))
    assert [[2, 3], [1, 3]] == [one.by_check["failed"].tolist() for one in (audit, view)]
    assert [
        {"valid_gtin": 2, "has_text[namePublicLong]": 3},
        {"valid_gtin": 1, "has_text[namePublicLong]": 3},
    ] == [one.gaps().set_index("check")["products"].to_dict() for one in (audit, view)]
    assert [[5], [4]] == [one.scores("owner")["failed"].tolist() for one in (audit, view)]
    assert [[0, 1], [1, 1], [1, 1]] == audit.states.tolist()
    assert [[0, 1], [0, 1], [1, 1]] == view.states.tolist()


def test_without_any_nothing_differs() -> None:
    """The view of an audit of which nothing is accepted has its figures, and shares what it keeps in memory."""
    audit = judged(RIGHT, WRONG)

    view = audit.with_accepted()

    assert not audit.has_accepted
    assert audit.summary.equals(view.summary)
    assert all(one is other for one, other in zip(audit.parts, view.parts, strict=True))


def test_a_view_is_an_audit() -> None:
    """Its view is itself, its findings are those that are not accepted, and so are those of a choice of products."""
    audit = judged(RIGHT, WRONG, "")
    audit = prodex.accept(audit, audit.failures(product_id="2"), reason="printed so")

    view = audit.with_accepted()

    assert view is view.with_accepted() is audit.with_accepted()
    pd.testing.assert_frame_equal(audit.failures(accepted=False).reset_index(drop=True), view.failures())
    assert (3, 0) == (len(view.failures(accepted=False)), len(view.failures(accepted=True)))
    both = (view.only(["2", "3"], "two"), audit.only(["2", "3"], "two").with_accepted())
    assert [2, 2] == [one.summary["failed"] for one in both]
    for one in both:
        pd.testing.assert_frame_equal(both[0].failures(), one.failures())
        assert view.summary.equals(one.taken_from.summary if one.taken_from else None)


def test_accepting_and_withdrawing_by_a_view_returns_a_view() -> None:
    """The file has one more line, and the view passes what is accepted now, and fails what is taken back."""
    audit = judged(RIGHT, WRONG)
    view = audit.with_accepted()

    accepted = prodex.accept(view, view.failures(check="valid_gtin"), reason="printed so")
    withdrawn = prodex.withdraw(accepted)

    assert [3, 2, 3] == [len(one.failures()) for one in (view, accepted, withdrawn)]
    assert all(one.as_found is not None for one in (accepted, withdrawn))
    assert 1 == len(accepted.accepted_reasons())
    assert "1 finding accepted by" in repr(accepted)
    assert "and taken as passed; without them ready 1 (50.0 %), score 33.3 %" in repr(accepted)


def test_pages_and_worklists_of_a_view_say_what_they_leave_out(tmp_path: Path) -> None:
    """A page has the figures of the view, and the number of findings that pass in it; a worklist has its findings."""
    audit = judged(RIGHT, WRONG)
    view = prodex.accept(
        audit, audit.failures(check="valid_gtin"), reason="printed so", by="Ana"
    ).with_accepted()

    page = view.to_html(tmp_path / "report.html", progress=False).read_text("utf-8")
    french = view.to_html(tmp_path / "rapport.html", language="fr", progress=False).read_text("utf-8")
    index = view.worklists(tmp_path / "to_fix", accepted=True, progress=False)

    assert (
        "1 finding accepted by Ana and taken as passed; without them ready 1 (50.0 %), score 33.3 %" in page
    )
    said = "1 constat accepté par Ana, compté comme réussi ; sans cela, prêts : 1 (50,0 %), score 33,3 %"
    assert said in french.replace("\u00a0", " ")
    assert [True] == [is_warning for line, is_warning in accepted_lines(view)]
    assert 2 == len(pd.read_parquet(tmp_path / "report_files" / "failures.parquet"))
    assert [2] == index["findings"].tolist()
    book = load_workbook(tmp_path / "to_fix" / "no_owner.xlsx")
    words = [str(cell) for row in book["Read me"].iter_rows(values_only=True) for cell in row if cell]
    assert any("1 finding that was accepted: printed so (Ana, 1)." in one for one in words)


def test_a_view_is_no_measure_of_what_was_found(tmp_path: Path) -> None:
    """It is not saved, and neither compared nor put into one history with an audit as if both were of a kind."""
    audit = judged(RIGHT, WRONG)
    audit = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so")
    view = audit.with_accepted()

    with pytest.raises(InputError, match=r"as_found\.save"):
        view.save()
    assert [True, False] == audit.trend([view])["comparable"].tolist()
    assert [
        "What is accepted passes in the new audit only: compare two audits, or both with_accepted()."
    ] == list(prodex.diff(audit, view).notes)
    assert () == prodex.diff(view, view).notes
    assert "what is accepted passes in both" in repr(prodex.diff(view, view))
    assert "accepted now" not in repr(prodex.diff(audit, view))
    assert prodex.audit("shop", PROFILE, progress=False).save().with_accepted().summary.equals(view.summary)


def test_a_cell_is_accepted_when_all_its_findings_are() -> None:
    """Of two wrong texts of one product, one that is accepted does not make the product pass."""
    texts = [{"expressedIn": {"normalizedCode": one}, "data": "TBD"} for one in ("fr", "nl")]
    catalog = prodex.flatten([{"id": 1, "namePublicLong": texts}]).save("two")
    audit = prodex.audit(catalog, {"checks": {"texts_without_placeholders": {}}}, progress=False)

    half = prodex.accept(audit, audit.failures(language="fr"), reason="on purpose")
    both = prodex.accept(half, half.failures(language="nl"), reason="on purpose")

    assert [(1, 0), (2, 1)] == [
        (int(one.failures()["accepted"].notna().sum()), one.summary["accepted"]) for one in (half, both)
    ]


def test_it_is_there_in_every_later_audit_and_in_those_that_are_opened() -> None:
    """A new snapshot, a saved audit and a selection have what is accepted of the name."""
    audit = judged(RIGHT, WRONG)
    audit.save()
    prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so")

    later = judged(RIGHT, WRONG, RIGHT)

    opened = prodex.open_audit("shop")
    found = [one.summary["accepted"] for one in (later, opened, opened.only(["2"]), opened.only(["1"]))]
    assert [1, 1, 1, 0] == found


def test_another_value_comes_back_and_the_earlier_one_is_accepted_still() -> None:
    """What was accepted is the value, so it is forgotten neither by a correction nor by its return."""
    audit = judged(RIGHT, WRONG)
    prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so")

    nights = [judged(RIGHT, gtin).summary["accepted"] for gtin in (WRONG, OTHER, RIGHT, WRONG)]

    assert [1, 0, 0, 1] == nights


def test_it_ends_with_the_day_that_was_named() -> None:
    """On the last day it is accepted still, and on the next one no more."""
    audit = judged(RIGHT, WRONG, now=datetime(2027, 1, 1, tzinfo=UTC))
    prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so", until="2027-01-05")

    days = [
        judged(RIGHT, WRONG, now=datetime(2027, 1, day, 23, 59, tzinfo=UTC)).summary["accepted"]
        for day in (5, 6)
    ]

    assert [1, 0] == days


def test_a_baseline_accepts_what_is_not_accepted_yet() -> None:
    """It leaves the reasons that somebody gave, and what is new is not part of it."""
    audit = judged(RIGHT, WRONG)
    audit = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so")

    audit = prodex.accept(audit, reason="baseline")
    again = prodex.accept(audit, reason="baseline")

    assert ["baseline", "printed so", "baseline"] == again.failures()["accepted"].tolist()
    assert path_of(audit).read_text().count("\n") == 3
    later = judged(RIGHT, WRONG, WRONG)
    assert ["3", "3"] == later.failures(accepted=False)["product_id"].tolist()


def test_withdrawn_it_counts_again_and_can_be_accepted_again() -> None:
    """A withdrawal is a line more; nothing is removed."""
    audit = prodex.accept(judged(RIGHT, WRONG), reason="baseline")
    gtin = audit.failures(check="valid_gtin")

    withdrawn = prodex.withdraw(audit, gtin, reason="it was wrong after all")
    accepted = prodex.accept(withdrawn, gtin, reason="and right again")

    assert [3, 2, 3] == [one.summary["accepted"] for one in (audit, withdrawn, accepted)]
    assert 5 == path_of(audit).read_text().count("\n")
    states = prodex.accepted("shop")
    assert ["superseded", "superseded", "in force"] == states[states["check"] == "valid_gtin"][
        "state"
    ].tolist()


def test_the_newest_of_two_people_counts_whatever_the_order(file: Path) -> None:
    """Both lines stay; merged in either order, the same one counts."""
    ana = written(by="Ana", until="2026-01-01", at="2026-11-02T08:00:00+00:00")
    ben = written(by="Ben", at="2026-11-01T08:00:00+00:00")

    assert (0, 0) == (count(f"{ana}\n{ben}\n", file), count(f"{ben}\n{ana}\n", file))
    ben = written(by="Ben", at="2026-11-03T08:00:00+00:00")
    assert (1, 1) == (count(f"{ana}\n{ben}\n", file), count(f"{ben}\n{ana}\n", file))


def test_two_lines_of_one_moment_count_the_same_in_either_order(file: Path) -> None:
    """What is shown must not depend on who merged: a withdrawal is the safer of the two."""
    gone = written(withdrawn=True)

    assert (0, 0) == (count(f"{written()}\n{gone}\n", file), count(f"{gone}\n{written()}\n", file))


def test_a_clock_that_was_ahead_does_not_keep_it_accepted() -> None:
    """A withdrawal counts after what it takes back, though the other machine was a day ahead."""
    audit = judged(RIGHT, WRONG)
    with clock.at(datetime.now(UTC) + timedelta(days=1)):
        audit = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so")

    assert 0 == prodex.withdraw(audit).summary["accepted"]


LINE, MORE = written(), written(product="7", reason="of the other machine")

#: A file as people leave it, how many cells are accepted, and how many lines cannot be read.
FILES: dict[str, tuple[str | bytes, int, int]] = {
    "as it is written": (f"{LINE}\n", 1, 0),
    "no line break at the end": (LINE, 1, 0),
    "a byte order mark": (b"\xef\xbb\xbf" + LINE.encode(), 1, 0),
    "a byte order mark in the middle": (MORE.encode() + b"\n\xef\xbb\xbf" + LINE.encode(), 1, 0),
    "two bytes a character": (f"{LINE}\n{MORE}\n".encode("utf-16"), 0, 2),
    "two bytes a character, without a mark": (f"{LINE}\n{MORE}\n".encode("utf-16-le"), 0, 2),
    "lines of two bytes a character among others": (
        f"{LINE}\n".encode() + f"{MORE}\r\n".encode("utf-16-le") + MORE.encode(),
        1,
        1,
    ),
    "a part that a disk has lost": (f"{LINE}\n".encode() + bytes(512) + f"\n{MORE}\n".encode(), 1, 1),
    "nothing but marks of git": ("<<<<<<< ours\n=======\n>>>>>>> theirs\n", 0, 3),
    "line ends of Windows, blank lines": (f"\r\n{LINE}\r\n\r\n", 1, 0),
    "twice": (f"{LINE}\n{LINE}\n", 1, 0),
    "half a line at the end": (f"{LINE}\n{MORE[:40]}", 1, 1),
    "half a line, and a whole one behind it": (f"{MORE[:40]}{LINE}\n", 1, 1),
    "two in one line": (f"{MORE}{LINE}\n", 1, 0),
    "commas, as in a list": (f"[\n{MORE},\n{LINE}\n]\n", 1, 2),
    "marks of git": (f"<<<<<<< ours\n{LINE}\n=======\n{MORE}\n>>>>>>> theirs\n", 1, 3),
    "words": (f"Ana: please look at this\n{LINE}\n", 1, 1),
    "another encoding": (f"{LINE}\n".encode() + '{"product": "é"}\n'.encode("latin-1"), 1, 1),
    "a number as product": (written(product=2), 1, 0),
    "another spelling of JSON": (LINE.replace(": ", " :\t"), 1, 0),
    "an unknown check": (f"{written(check='rule_of_others')}\n{LINE}\n", 1, 0),
    "more than is known": (written(ticket="A-7"), 1, 0),
    "no time": (written(at="(without)"), 1, 0),
    "a time without zone": (written(at="2026-11-01 08:00"), 1, 0),
    "until, one digit": (written(until="2027-1-5"), 1, 0),
    "until, one reading": (written(until="25.01.2099"), 1, 0),
    "until, two readings": (written(until="05.01.2099"), 0, 1),
    "until, no date": (written(until="next year"), 0, 1),
    "until, no day": (written(until="2027-02-30"), 0, 1),
    "until, empty": (written(until=""), 1, 0),
    "until a number": (written(until=2027), 0, 1),
    "withdrawn in words": (written(withdrawn="yes"), 0, 1),
    "withdrawn as ever": (written(withdrawn=False), 1, 0),
    "no reason": (written(reason=" "), 0, 1),
    "no digest": (written(digest="(without)"), 0, 1),
    "no product": (written(product=None), 0, 1),
    "another shape": ("[1, 2]\n7\nnull\n" + LINE, 1, 3),
    "very deep": ("[" * 100_000 + "\n" + LINE, 1, 1),
    "nothing": ("", 0, 0),
}


@pytest.mark.slow
@each_row("name", FILES)
def test_each_line_is_read_alone(name: str, file: Path) -> None:
    """What cannot be read is said by its number, and costs no other line; a file of which none can is an error."""
    content, cells, unread = FILES[name]
    raw = content if isinstance(content, bytes) else content.encode()
    if unread and not cells:
        with pytest.raises(StorageError, match="has no line that can be read"):
            reading(raw, file)
        return

    assert cells == count(raw, file)
    listed = prodex.accepted(file)
    assert unread == (listed["state"] == "cannot be read").sum()
    assert (listed[listed["state"] == "cannot be read"]["note"] != "").all()
    assert raw == file.read_bytes()


@pytest.mark.slow
@each_row("name", FILES)
def test_a_file_of_any_kind_can_be_added_to(name: str, file: Path) -> None:
    """What is there stays byte by byte, and the new line is read; where none can be read, nothing is added."""
    content, cells, unread = FILES[name]
    raw = content if isinstance(content, bytes) else content.encode()
    if unread and not cells:
        audit = reading("", file)
        file.write_bytes(raw)
        with pytest.raises(StorageError, match=r"Line 1: .+\. Mend the file"):
            prodex.accept(audit, reason="again")
        assert raw == file.read_bytes()
        return

    audit = reading(raw, file)
    audit = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="again", by="Ben")

    assert ["again"] == audit.failures(check="valid_gtin")["accepted"].tolist()
    assert file.read_bytes().startswith(raw)
    assert unread == (prodex.accepted(file)["state"] == "cannot be read").sum()


def test_what_is_refused_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """No reason, no finding of this audit, no place, no date, nobody."""
    audit = judged(RIGHT, WRONG)
    gtin = audit.failures(check="valid_gtin")
    memory = prodex.audit(prodex.flatten(records(WRONG)), PROFILE, progress=False)
    refused: list[tuple[str, Callable[[], object]]] = [
        ("reason is", lambda: prodex.accept(audit, gtin, reason="  ")),
        ("row 0: product 9", lambda: prodex.accept(audit, gtin.assign(product_id="9"), reason="x")),
        ("1 row of 1", lambda: prodex.accept(audit, gtin.assign(value="7"), reason="x")),
        ("no column 'check'", lambda: prodex.accept(audit, gtin[["product_id"]], reason="x")),
        ("in memory", lambda: prodex.accept(memory, reason="x")),
        ("05.01.2027", lambda: prodex.accept(audit, gtin, reason="x", until="05.01.2027")),
        ("before the day of the audit", lambda: prodex.accept(audit, gtin, reason="x", until="2020-01-05")),
        ("until is NaT", lambda: prodex.accept(audit, gtin, reason="x", until=pd.NaT)),  # type: ignore[arg-type]
        ("by is", lambda: prodex.accept(audit, gtin, reason="x", by=" ")),
        ("is a folder", lambda: prodex.accept(audit, gtin, reason="x", to=tmp_path)),
        ("no file", lambda: prodex.audit(prodex.flatten([]), PROFILE, accepted=tmp_path / "no.jsonl")),
        ("takes an audit", lambda: prodex.accept(saved(RIGHT), reason="x")),  # type: ignore[arg-type]
        ("Give rows of", lambda: prodex.accept(audit, ["2"], reason="x")),  # type: ignore[arg-type]
    ]

    for words, call in refused:
        with pytest.raises(InputError, match=words):
            call()
    assert not path_of(audit).exists()
    with pytest.raises(SnapshotNotFound, match="shop"):
        prodex.accepted("shpo")
    with pytest.raises((InputError, QueryError, SnapshotNotFound)):
        prodex.accepted(7)  # type: ignore[arg-type]


@each_row("name", ["..", "", "  ", "../shop", "/", "\0"])
def test_a_name_is_no_path(name: str) -> None:
    """What no snapshot can be called is refused, and no file outside of the snapshots is looked for."""
    saved(RIGHT)
    with pytest.raises(SettingsError, match="cannot be the name of a snapshot"):
        prodex.accepted(name)


def test_a_catalogue_in_memory_takes_any_file(tmp_path: Path) -> None:
    """The same file can be read by whoever has it, such as a colleague's working folder under git."""
    file = tmp_path / "team.jsonl"
    catalog = prodex.flatten(records(RIGHT, WRONG))
    audit = prodex.audit(catalog, PROFILE, progress=False)

    audit = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so", to=str(file))

    again = prodex.audit(catalog, PROFILE, progress=False, accepted=file)
    assert [1, 1] == [one.summary["accepted"] for one in (audit, again)]
    assert ["in force"] == prodex.accepted(file)["state"].tolist()


def test_a_link_is_neither_followed_nor_written(tmp_path: Path) -> None:
    """A file of somebody else's folder must not be changed by accepting something here."""
    audit = judged(RIGHT, WRONG)
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_text("")
    path_of(audit).symlink_to(elsewhere)

    again = prodex.audit("shop", PROFILE, progress=False)
    assert "nothing is accepted" in repr(again)
    assert 0 == again.summary["accepted"]
    with pytest.raises(StorageError):
        prodex.accept(audit, reason="x")
    assert "" == elsewhere.read_text()


def test_the_first_line_of_all_may_be_cut() -> None:
    """What a power cut has left of it is a line that cannot be read, and accepting again goes on behind it."""
    audit = judged(RIGHT, WRONG)
    path_of(audit).write_text(LINE[:40], "utf-8")

    audit = prodex.accept(prodex.audit("shop", PROFILE, progress=False), reason="printed so")

    assert 3 == audit.summary["accepted"]
    assert ["cannot be read", *["in force"] * 3] == prodex.accepted("shop")["state"].tolist()


def test_a_file_beside_without_a_readable_line_accepts_nothing() -> None:
    """Whatever lies beside snapshots keeps nobody from judging them: it is a warning, and nothing is added to it."""
    audit = judged(RIGHT, WRONG)
    path_of(audit).write_text(f"{LINE[:40]}\n", "utf-8")

    again = prodex.audit("shop", PROFILE, progress=False)

    assert "nothing is accepted" in repr(again)
    assert again.with_accepted().summary.equals(audit.summary)
    with pytest.raises(StorageError, match="has no line that can be read"):
        prodex.accept(again, reason="x")
    assert f"{LINE[:40]}\n" == path_of(audit).read_text("utf-8")


def test_rows_of_any_frame_will_do() -> None:
    """Sorted, filtered, grouped, with fewer columns or after a visit to Excel: the same findings are meant."""
    audit = judged(RIGHT, WRONG)
    every = audit.failures()
    frames = [
        every.sort_values("check", ascending=False),
        every[["product_id", "check"]].drop_duplicates(),
        every[["check", "product_id", "value"]].astype(object).where(every.notna(), None),
        every.assign(note="mine").reset_index(drop=True).iloc[::-1],
        every.iloc[0],
        every[["product_id", "check"]].astype({"product_id": "float64"}),
    ]

    assert [3] * 6 == [
        len(
            accepted_module.AcceptedFindings.read(path_of(prodex.accept(audit, frame, reason=f"r{n}"))).newest
        )
        for n, frame in enumerate(frames)
    ]


def test_another_severity_or_title_changes_nothing() -> None:
    """A parameter of the check makes another check, and another severity does not."""
    audit = judged(RIGHT, WRONG)
    prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so")
    mild = {"checks": {"valid_gtin": {"severity": "info"}}}

    assert 1 == prodex.audit("shop", mild, progress=False).summary["accepted"]


def test_values_of_any_kind_are_one_line(tmp_path: Path) -> None:
    """Line breaks of every alphabet, controls and long texts stay within their line, and are found again."""
    odd = "TBD\u2028\u0085\n\r\x1b[31m" + "é" * 500
    texts = [
        {"expressedIn": {"normalizedCode": "fr"}, "data": odd},
        {"expressedIn": {"normalizedCode": "nl"}, "data": "a\nb"},
    ]
    catalog = prodex.flatten([{"id": "x\n1", "gtin": RIGHT, "namePublicLong": texts}])
    audit = prodex.audit(catalog, {"checks": {"names_on_one_line": {}}}, progress=False)

    audit = prodex.accept(audit, reason="two\nlines", by="A\nna", to=tmp_path / "a.jsonl")

    assert (
        len(audit.failures())
        == path_of(audit).read_bytes().count(b"\n")
        == len(path_of(audit).read_text().splitlines())
    )
    assert audit.failures()["accepted"].tolist() == ["two lines"] * len(audit.failures())


def test_states_say_what_became_of_each_line() -> None:
    """In force, another value, date passed, withdrawn, not there any more: by the newest saved audit."""
    with clock.at(datetime(2026, 11, 20, 8, tzinfo=UTC)):
        audit = judged(RIGHT, WRONG, WRONG, WRONG, WRONG)
        for product, until in (("2", None), ("3", None), ("4", "2026-11-21"), ("5", None)):
            rows = audit.failures(product_id=product, check="valid_gtin")
            audit = prodex.accept(audit, rows, reason="r", until=until)
        prodex.withdraw(audit, audit.failures(product_id="5", check="valid_gtin"))
    with clock.at(datetime(2026, 11, 25, 8, tzinfo=UTC)):
        judged(RIGHT, WRONG, OTHER, WRONG, WRONG).save()
        states = prodex.accepted("shop")["state"].tolist()
        judged(RIGHT).save()
        gone = prodex.accepted("shop")["state"].tolist()

    assert ["in force", "value changed", "date passed", "withdrawn", "withdrawal"] == states
    assert ["not in the newest audit"] * 2 == gone[:2]


def test_what_is_accepted_is_no_warning() -> None:
    """Of its lines only those about what cannot be read are."""
    audit = judged(WRONG)
    accepted = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so")
    path = path_of(accepted)
    path.write_text(path.read_text("utf-8") + "{\n", "utf-8")

    found = [is_warning for _, is_warning in accepted_lines(judged(WRONG))]

    assert [False, True] == found


def test_a_line_stays_in_force_for_a_gtin_under_another_id() -> None:
    """A product is named by its GTIN: a service that numbers its products anew changes nothing of what is accepted."""
    audit = judged(RIGHT)
    prodex.accept(audit, audit.failures(check="has_text[namePublicLong]"), reason="printed so")
    judged("03091033779527", RIGHT).save()

    assert ["in force"] == prodex.accepted("shop")["state"].tolist()


@pytest.mark.slow
def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    """Each adds fifty lines, one at a time, while the other does."""
    code = (
        "import sys, prodex\n"
        "catalog = prodex.flatten([{'id': n, 'gtin': ''} for n in range(50)])\n"
        "audit = prodex.audit(catalog, {'checks': {'valid_gtin': {}}}, progress=False)\n"
        "found = audit.failures()\n"
        "for place in range(0, 50, 5):\n"
        "    prodex.accept(audit, found[place:place + 5], reason='r', by=sys.argv[1], to=sys.argv[2])\n"
    )
    file = tmp_path / "both.jsonl"
    both = [subprocess.Popen([sys.executable, "-c", code, name, str(file)]) for name in ("Ana", "Ben")]

    assert [0, 0] == [one.wait(timeout=120) for one in both]
    listed = prodex.accepted(file)
    assert {"Ana", "Ben"} == set(listed["by"])
    assert 50 == listed["product_id"].nunique()
    assert "cannot be read" not in set(listed["state"])


GTINS = st.sampled_from([RIGHT, WRONG, OTHER, "", "123", RIGHT.lstrip("0")])


def padded(gtin: str) -> str:
    """Return a GTIN with its leading zeros."""
    return gtin.rjust(14, "0") if gtin else ""


@given(
    before=st.lists(GTINS, min_size=1, max_size=5),
    after=st.lists(GTINS, min_size=1, max_size=5),
    data=st.data(),
)
def test_accepted_stays_accepted_until_something_changes(
    before: list[str], after: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Law 16: of the findings of a later audit, exactly those are accepted that were, and are the same."""
    file = tmp_path_factory.mktemp("law") / "accepted.jsonl"
    file.touch()
    first = prodex.audit(prodex.flatten(records(*before)), PROFILE, progress=False)
    found = first.failures()
    chosen = data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    prodex.accept(first, found[np.array(chosen, bool)], reason="r", to=file)

    later = prodex.audit(prodex.flatten(records(*after)), PROFILE, progress=False, accepted=file)

    columns = ["product_id", "gtin", "check", "value"]

    def named(frame: pd.DataFrame) -> list[tuple[str, ...]]:
        return list(frame[columns].astype(object).where(pd.notna, "").itertuples(index=False, name=None))

    keys = named(found[np.array(chosen, bool)])

    def is_accepted(product: str, gtin: str, check: str, value: str) -> bool:
        same = [one for one in keys if one[2:] == (check, value) and padded(one[1]) == padded(gtin)]
        # A GTIN names its product, where no other one has it; without a GTIN, or with others, the id does.
        is_alone = gtin and [padded(one) for one in after].count(padded(gtin)) == 1
        return bool(same) if is_alone else any(one[0] == product for one in same)

    rows = later.failures()
    assert [is_accepted(*one) for one in named(rows)] == rows["accepted"].notna().tolist()
    figures = later.summary
    view = later.with_accepted()
    assert figures["accepted"] == figures["failed"] - view.summary["failed"]
    assert np.isnan(figures["score"]) or view.score >= figures["score"]
    left = later.failures(accepted=False)
    assert named(left) == named(view.failures())
    products = left.groupby("check")["product_id"].nunique().reindex(view.by_check["check"], fill_value=0)
    assert products.tolist() == view.by_check["failed"].tolist()


@pytest.mark.slow
def test_what_is_shown_says_how_many_by_whom_and_why(tmp_path: Path) -> None:
    """Words, report, comparison and history; a line that cannot be read is a warning."""
    before = judged(RIGHT, WRONG).save()
    audit = prodex.audit("shop", PROFILE, progress=False)
    hostile = "<script>alert(1)</script>"
    audit = prodex.accept(
        audit, audit.failures(check="valid_gtin"), reason=hostile, by="Ana", until="2099-01-05"
    )
    with path_of(audit).open("a") as file:
        file.write("half a li")
    after = prodex.audit("shop", PROFILE, progress=False).save()

    words = repr(after)
    assert "1 finding accepted by Ana; with them ready 2 (100 %), score 66.7 %" in words
    assert "1 line of accepted.jsonl cannot be read (2)" in words
    page = after.to_html(tmp_path / "report.html", progress=False).read_text()
    assert "Accepted findings" in page
    assert "2099-01-05" in page
    assert hostile not in page
    compared = prodex.diff(before, after)
    assert "accepted now: 0 failing before, 1 now" in repr(compared)
    assert [True] == compared.changes("still failing").query("check == 'valid_gtin'")["accepted"].tolist()
    assert before.folder is not None
    trend = prodex.open_audit("shop").trend([prodex.open_audit(before.folder)])
    assert [[1, 1], [0, 1]] == [trend["accepted"].tolist(), trend["accepted_then"].tolist()]
    views = [prodex.open_audit(one).with_accepted() for one in ("shop", before.folder)]
    trend = views[0].trend(views[1:])
    assert [[8 / 12, 8 / 12], [4 / 12, 8 / 12]] == [trend["score"].tolist(), trend["score_then"].tolist()]
    assert [[2, 2], [1, 2]] == [trend["ready_products"].tolist(), trend["ready_products_then"].tolist()]
    lists = pd.read_parquet(tmp_path / "report_files" / "failures.parquet")
    assert {hostile} == set(lists["accepted"].dropna())


def test_what_a_call_has_accepted_is_said() -> None:
    """How many findings of how many products, and none the second time; an audit that is opened later says nothing."""
    audit = judged(RIGHT, WRONG)
    audit = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so", by="Ana")
    file = audit.accepted_findings
    assert file is not None
    assert WrittenFindings(1, 1) == file.written
    assert "1 finding of 1 product newly accepted" in repr(audit)
    again = prodex.accept(audit, audit.failures(check="valid_gtin"), reason="printed so", by="Ana")
    assert "no finding newly accepted" in repr(again)
    assert "1 finding of 1 product withdrawn" in repr(prodex.withdraw(again))
    assert "newly" not in repr(audit.accepting(AcceptedFindings.read(file.path)))


def test_findings_that_are_alike_are_counted_each() -> None:
    """Two texts of a product with the same fault are two findings, and one line of the file."""
    twice = [{"expressedIn": {"code": "fra-FR"}, "data": "x" * 300}] * 2
    audit = prodex.audit(
        prodex.flatten([{"id": 7, "namePublicLong": twice}]).save("twice"), "core", progress=False
    )
    found = audit.failures()
    made = prodex.accept(audit, reason="printed so", by="Ana")
    assert made.accepted_findings is not None
    assert WrittenFindings(len(found), 1) == made.accepted_findings.written
    assert len(found) == len(made.failures(accepted=True))
