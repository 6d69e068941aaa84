"""The plan of an upsert on disk: every product is sent, not sent, or unknown, in any later process."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing

import pytest
from tests.ledgered import contents, rewrite, spoil, write
from upsert_killing import Receiver

import prodex
from prodex.errors import (
    ChangesStale,
    InputError,
    OtherLayout,
    ServiceUnreachable,
    SnapshotLocked,
    StorageError,
    UpsertStopped,
)
from prodex.files.sealed_rows import RowChanges
from prodex.gtin import check_digit
from prodex.ledger.batch import Planned
from prodex.ledger.upsert_file import UpsertFile

NAME = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]


def gtins(count):
    """Make GTINs."""
    return [f"{n:013d}{check_digit(f'{n:013d}')}" for n in range(1, count + 1)]


def products(count):
    """Make products that preflight accepts."""
    return [{"gtin": gtin, "nameLegal": NAME, "kind": {"code": "1"}} for gtin in gtins(count)]


@pytest.fixture
def receiver():
    """A service that takes down what it received."""
    with Receiver(0).serving() as service:
        yield service


@pytest.fixture
def service(receiver):
    """A client of it."""
    return prodex.connect(receiver.base_url, client_id="canary-id", client_secret="canary-secret")


class Ended(BaseException):
    """The process ends here."""


def end_before_call(monkeypatch, service, number):
    """End the process when it is about to make a call of a number."""
    calls = []
    real = service._transport.session.send

    def send(request, **options):
        if request.method == "POST" and request.path_url == "/public/v1/products":
            calls.append(request)
            if len(calls) == number:
                raise Ended
        return real(request, **options)

    monkeypatch.setattr(service._transport.session, "send", send)


def interrupted(service, count=6, before=3):
    """Upsert in batches of two, and end before a call."""
    with pytest.MonkeyPatch.context() as patched:
        end_before_call(patched, service, before)
        with pytest.raises(Ended):
            prodex.upsert(service, products(count), batch_size=2, progress=False)


def test_what_was_never_sent_is_listed_and_sent_with_one_call(service, receiver):
    """One batch arrived, one was on its way, one was never sent: a later process tells them apart."""
    interrupted(service, before=2)

    tracking = prodex.track(service)
    assert ["SUCCESS"] * 2 + ["unknown"] * 2 + ["not sent"] * 2 == tracking.products["status"].tolist()
    assert gtins(6) == tracking.products["gtin"].tolist()
    assert ("unknown", gtins(6)[2:]) == (tracking.status, tracking.failed["gtin"].tolist())

    tracking.send_rest(progress=False).wait(progress=False)
    assert ["SUCCESS"] * 2 + ["unknown"] * 2 + ["SUCCESS"] * 2 == tracking.products["status"].tolist()
    assert dict.fromkeys([*gtins(6)[:2], *gtins(6)[4:]], 1) == dict(receiver.received)
    assert "unknown" == prodex.track(service).status

    again = prodex.track(service).send_rest(progress=False)
    assert 4 == receiver.received.total(), "nothing was left to send"
    again.send_rest(also="unknown", progress=False).wait(progress=False)
    assert ("SUCCESS", dict.fromkeys(gtins(6), 1)) == (again.status, dict(receiver.received))


def test_the_products_are_kept_until_they_were_sent_and_for_their_owner_only(service, home):
    """Readable by nobody else; gone when all were sent, or discarded."""
    interrupted(service)
    (folder,) = (one for one in (home / "tracking").iterdir() if one.is_dir())
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (home / "tracking", folder, *folder.iterdir())
    }
    assert {"tracking": 0o700, folder.name: 0o700} == {
        n: m for n, m in modes.items() if n in {"tracking", folder.name}
    }
    assert 0o600 == modes["upsert.sqlite"]
    assert b"Pain" in (folder / "upsert.sqlite").read_bytes()
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert (False, False) == (b"canary-secret" in content, b"canary-id" in content)

    prodex.track(service).send_rest(also={"unknown"}, progress=False)
    assert not prodex.list_upserts()["keeps_products"][0]
    assert b"Pain" not in (folder / "upsert.sqlite").read_bytes()

    interrupted(service, before=2)
    tracking = prodex.track(service).discard()
    assert ["not sent"] * 2 == tracking.products["status"].tolist()[4:]
    with pytest.raises(InputError, match="no longer here"):
        tracking.send_rest()


def test_products_that_were_changed_on_disk_are_not_sent(service, home, receiver):
    """The digest of the plan decides."""
    interrupted(service)
    (path,) = (home / "tracking").glob("*/upsert.sqlite")
    for number, body in enumerate(contents(path, "payloads")):
        rewrite(path, "payloads", number, body.replace(b"Pain", b"Gift"))
    with pytest.raises(InputError, match="was changed"):
        prodex.track(service).send_rest(also="unknown")
    assert 4 == receiver.received.total()


def test_the_rest_goes_to_the_service_it_was_planned_for_under_the_same_key(service, receiver):
    """Another access key neither finds it by itself nor sends it when it is named."""
    interrupted(service)
    name = prodex.list_upserts()["name"][0]
    other = prodex.connect(receiver.base_url, client_id="other", client_secret="canary-secret")
    with pytest.raises(InputError, match="There is no upsert"):
        prodex.track(other)
    with pytest.raises(InputError, match="with another key"):
        prodex.track(other, upsert=name).send_rest(also="unknown")
    assert 4 == receiver.received.total()


def test_two_processes_do_not_send_the_same(service):
    """The second process learns who is sending, and afterwards nothing is left to send."""
    interrupted(service)
    tracking = prodex.track(service)
    with UpsertFile(tracking.path).exclusive():
        assert prodex.list_upserts()["note"].tolist() == ["being sent now"]
        with pytest.raises(SnapshotLocked, match="sending"):
            tracking.send_rest(progress=False)


def test_an_earlier_upsert_is_found_by_its_name(service, receiver):
    """A newer one does not hide what an older one left behind."""
    interrupted(service, before=1)
    prodex.upsert(service, products(1), progress=False)
    assert "SUCCESS" == prodex.track(service).status

    listed = prodex.list_upserts()
    assert [1, 6] == listed["products"].tolist()
    assert [(1, 0, 0), (0, 2, 4)] == list(
        listed[["sent", "unknown", "not_sent"]].itertuples(index=False, name=None)
    )
    assert [False, True] == listed["keeps_products"].tolist()
    prodex.track(service, upsert=listed["name"][1]).send_rest(progress=False)
    assert [0, 0] == prodex.list_upserts()["not_sent"].tolist()
    with pytest.raises(InputError, match="no upsert 'x'"):
        prodex.track(service, upsert="x")
    with pytest.raises(InputError, match="not both"):
        prodex.track(service, 1, upsert="x")


def test_an_event_that_was_not_written_whole_is_as_if_it_had_not_begun(service, home):
    """Killed while it wrote: a call whose beginning was not written was not made, one whose end was not is unknown."""
    prodex.upsert(service, products(4), batch_size=2, progress=False)
    (path,) = (home / "tracking").glob("*/upsert.sqlite")
    whole = [("", one) for one in contents(path, "events")]
    for left, state in ((3, "unknown"), (2, "not sent")):
        write(path, "events", whole[:left])
        assert ["SUCCESS"] * 2 + [state] * 2 == prodex.track(service).products["status"].tolist()


@pytest.mark.slow
def test_a_damaged_bit_makes_calls_unknown_and_never_not_sent(service, home):
    """Wherever one bit of the file is flipped: no product is taken for not sent that was, and none hides others."""
    interrupted(service, count=6, before=3)
    (path,) = (home / "tracking").glob("*/upsert.sqlite")
    whole = path.read_bytes()
    read = 0
    for place in [*range(100), *range(100, len(whole), 61)]:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            batches = UpsertFile(path).batches()
        except (InputError, OtherLayout):
            continue
        read += 1
        assert {"sent", "unknown", "not sent"} >= {batch.sent for batch in batches}, place
        assert "not sent" not in {batch.sent for batch in batches[:3]}, place
    assert read > 100, "nearly every bit makes the whole upsert unreadable"
    path.write_bytes(b"x" + whole[1:])
    with pytest.raises(InputError, match="cannot be read: it is not a file of this kind"):
        UpsertFile(path)


@pytest.mark.parametrize("table", ["plan", "calls", "products", "events"])
def test_a_row_that_is_gone_is_noticed(service, home, table):
    """As one that was changed: nothing is taken for a smaller plan, or for less that was done."""
    interrupted(service, count=6, before=3)
    (path,) = (home / "tracking").glob("*/upsert.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"DELETE FROM {table} WHERE number = (SELECT max(number) FROM {table})")
    with pytest.raises(InputError, match=f"rows of {table}"):
        UpsertFile(path)


@pytest.mark.parametrize("spoilt", [0, 1, 2, 3])
def test_a_spoilt_event_makes_what_it_may_be_about_unknown(service, home, spoilt):
    """Nothing of it is sent again."""
    interrupted(service, count=6, before=3)
    (path,) = (home / "tracking").glob("*/upsert.sqlite")
    spoil(path, "events", spoilt)
    states = prodex.track(service).products["status"].tolist()
    assert {"SUCCESS", "unknown"} >= {*states}
    assert "unknown" in states


def test_a_damaged_journal_hides_no_other(service, home):
    """The list names it, and the last upsert that can be read is picked up."""
    prodex.upsert(service, products(1), progress=False)
    for name, content in {"9998": b"", "9999": b"SQLite format 3\0" + bytes(90), "9997": b"[[[["}.items():
        folder = home / "tracking" / name
        folder.mkdir()
        (folder / "upsert.sqlite").write_bytes(content)
    (home / "tracking" / "9999y").symlink_to("/")
    assert "SUCCESS" == prodex.track(service).status
    notes = prodex.list_upserts()["note"]
    assert (4, 3) == (len(notes), notes.str.contains("cannot be read").sum())


def test_a_plan_that_does_not_fit_on_the_disk_sends_nothing(service, home, receiver, monkeypatch):
    """And leaves nothing half-planned."""

    def fsync(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(StorageError, match="No space left"):
            prodex.upsert(service, products(3), batch_size=1, progress=False)
    assert (0, 0) == (receiver.received.total(), len(prodex.list_upserts()))


def test_what_is_known_here_is_shown_while_the_service_is_away(home):
    """Sent, not sent and unknown do not depend on it; what became of the imports is unknown."""
    with Receiver(0).serving() as receiver:
        service = prodex.connect(receiver.base_url, client_id="key", client_secret="secret")
        interrupted(service)
    retry = prodex.service.RetryPolicy(attempts=1)
    away = prodex.connect(receiver.base_url, client_id="key", client_secret="secret", retry=retry)
    tracking = prodex.track(away)
    assert {"unknown": 6} == dict(tracking.statuses)
    assert "no connection" in tracking.products["message"][0]
    with pytest.raises(ServiceUnreachable):
        tracking.refresh()


def test_corrections_are_not_sent_onto_what_was_changed_since(mill):
    """The rest of an upsert of merged corrections is held against the service again."""
    catalog = prodex.load_products(mill, max_age=0, progress=False)
    changes = catalog.changes_from(catalog.texts.assign(text="New"))
    with pytest.MonkeyPatch.context() as patched:
        end_before_call(patched, mill, 2)
        with pytest.raises(Ended):
            prodex.upsert(mill, changes, batch_size=1, progress=False)
    tracking = prodex.track(mill)
    left = tracking.products.query("status == 'not sent'")["gtin"].tolist()
    assert len(changes.records) - 2 == len(left)
    prodex.upsert(mill, [{"gtin": left[0], "nameLegal": NAME}], progress=False).wait(progress=False)

    with pytest.raises(ChangesStale, match=f"GTIN {left[0]} was updated"):
        tracking.send_rest(progress=False)


def test_what_is_written_beside_the_file_is_for_its_owner_only(service, home, monkeypatch):
    """What a row was before a change is in it for a moment; afterwards it is gone."""
    modes = set()
    add = RowChanges.add

    def added(change, *row):
        add(change, *row)
        modes.update(
            stat.S_IMODE(path.stat().st_mode) for path in home.glob("tracking/*/upsert.sqlite-journal")
        )

    monkeypatch.setattr(RowChanges, "add", added)
    prodex.upsert(service, products(2), progress=False)
    assert {0o600} == modes
    assert ["upsert.sqlite"] == [path.name for path in home.glob("tracking/*/upsert*")]


def test_no_transaction_is_open_during_a_call(service, home, receiver, monkeypatch):
    """A call may take minutes, and whoever looks meanwhile is not kept waiting."""
    seen = []
    real = service.upsert_products

    def called(*arguments):
        (path,) = home.glob("tracking/*/upsert.sqlite")
        with closing(sqlite3.connect(path, timeout=0)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
        seen.append(prodex.list_upserts()["unknown"][0])
        return real(*arguments)

    monkeypatch.setattr(service, "upsert_products", called)
    prodex.upsert(service, products(2), batch_size=1, progress=False)
    assert [1, 1] == seen


@pytest.mark.parametrize("code", [sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_NOLFS])
def test_on_a_disk_without_locks_nothing_is_sent(service, home, receiver, monkeypatch, code):
    """As some disks of a network are: it is refused in words."""
    connect = sqlite3.connect

    class Lockless(sqlite3.Connection):
        def execute(self, query, *values):
            if "BEGIN IMMEDIATE" in query:
                error = sqlite3.OperationalError("disk I/O error")
                error.sqlite_errorcode = code
                raise error
            return super().execute(query, *values)

        def executescript(self, script):
            for one in script.split(";"):
                self.execute(one)

    monkeypatch.setattr(
        sqlite3, "connect", lambda *given, **options: connect(*given, **options, factory=Lockless)
    )
    with pytest.raises(StorageError, match="on a disk that has locks"):
        prodex.upsert(service, products(2), progress=False)
    assert 0 == receiver.received.total()


def test_a_plan_is_on_the_disk_before_the_first_call_whatever_sqlite_is_asked(service, home, monkeypatch):
    """Each change is written with synchronous=EXTRA and a rollback journal, which a power cut leaves whole."""
    pragmas = []
    add = RowChanges.add

    def added(change, *row):
        if change._connection.in_transaction and row[0] == "events":
            pragmas.append(
                (
                    change._connection.execute("PRAGMA synchronous").fetchone()[0],
                    change._connection.execute("PRAGMA journal_mode").fetchone()[0],
                    change._connection.execute("PRAGMA secure_delete").fetchone()[0],
                )
            )
        add(change, *row)

    monkeypatch.setattr(RowChanges, "add", added)
    prodex.upsert(service, products(2), progress=False)
    assert {(3, b"delete", 1)} == {*pragmas}


def test_a_file_that_is_damaged_during_a_call_loses_no_identifier(service, home, monkeypatch):
    """The error names those that came, and the rest is not sent."""
    real = service.upsert_products

    def called(*arguments):
        tracking = real(*arguments)
        (path,) = home.glob("tracking/*/upsert.sqlite")
        path.write_bytes(bytes(40_000))
        return tracking

    monkeypatch.setattr(service, "upsert_products", called)
    with pytest.raises(UpsertStopped, match=r"stopped after batch 0\. Note the tracking identifiers: \[1\]"):
        prodex.upsert(service, products(2), batch_size=1, progress=False)


def test_a_plan_is_written_call_by_call(service, receiver, monkeypatch):
    """The payload of a call is in the file before the next one is encoded: all at once would take much memory."""
    written = []
    add = RowChanges.add

    def added(change, table, name, content):
        add(change, table, name, content)
        written.append((table, name))

    def calls():
        for number, gtin in enumerate(gtins(3)):
            assert number == sum(table == "payloads" for table, _ in written)
            yield Planned(b"{}", (gtin,))

    monkeypatch.setattr(RowChanges, "add", added)
    file = UpsertFile.begin(receiver.base_url, service.fingerprint, "application/json", calls())
    assert gtins(3) == file.all_gtins
