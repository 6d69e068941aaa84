"""The plan of an upsert on disk: every product is sent, not sent, or unknown, in any later process."""

from __future__ import annotations

import os
import stat

import pytest
from upsert_killing import Receiver

import prodex
from prodex.errors import ChangesStale, InputError, ServiceUnreachable, SnapshotLocked, StorageError
from prodex.gtin import check_digit
from prodex.send.journal import UpsertJournal

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
    (folder,) = (home / "tracking").iterdir()
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (home / "tracking", folder, *folder.iterdir())
    }
    assert {"tracking": 0o700, folder.name: 0o700} == {
        n: m for n, m in modes.items() if n in {"tracking", folder.name}
    }
    assert (0o600, 0o600) == (modes["journal.jsonl"], modes["payloads"])
    assert b"Pain" in (folder / "payloads").read_bytes()
    content = b"".join(path.read_bytes() for path in folder.iterdir())
    assert (False, False) == (b"canary-secret" in content, b"canary-id" in content)

    prodex.track(service).send_rest(also={"unknown"}, progress=False)
    assert not (folder / "payloads").exists()

    interrupted(service, before=2)
    tracking = prodex.track(service).discard()
    assert ["not sent"] * 2 == tracking.products["status"].tolist()[4:]
    with pytest.raises(InputError, match="no longer here"):
        tracking.send_rest()


def test_products_that_were_changed_on_disk_are_not_sent(service, home, receiver):
    """The digest of the plan decides."""
    interrupted(service)
    (payloads,) = (home / "tracking").glob("*/payloads")
    payloads.write_bytes(payloads.read_bytes().replace(b"Pain", b"Gift"))
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
    journal = UpsertJournal(tracking.path)
    with journal.exclusive():
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


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_cut_off_is_as_if_it_had_not_been_begun(service, home, cut):
    """Killed while it wrote: a batch whose beginning was cut off was not sent, one whose end was is unknown."""
    prodex.upsert(service, products(4), batch_size=2, progress=False)
    (path,) = (home / "tracking").glob("*/journal.jsonl")
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:-cut])
    assert ["SUCCESS"] * 2 + (["SUCCESS"] * 2 if cut == 1 else ["unknown"] * 2) == prodex.track(
        service
    ).products["status"].tolist()
    path.write_bytes(b"".join(lines[:-2]) + lines[-2][:-cut])
    expected = ["unknown"] if cut == 1 else ["not sent"]
    assert ["SUCCESS"] * 2 + expected * 2 == prodex.track(service).products["status"].tolist()
    with UpsertJournal(path).exclusive():
        pass
    assert path.read_bytes().endswith(b"}\n")


def test_a_damaged_line_makes_batches_unknown_and_never_not_sent(service, home):
    """One flipped bit anywhere in the states: no product is taken for not sent that was."""
    interrupted(service, count=6, before=3)
    (path,) = (home / "tracking").glob("*/journal.jsonl")
    whole = path.read_bytes()
    begin = sum(map(len, whole.splitlines(keepends=True)[:4]))
    for place in range(begin, len(whole) - 1, 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            batches = UpsertJournal(path).batches()
        except InputError:
            continue
        assert {"not sent"} >= {batch.sent for batch in batches} - {"sent", "unknown"}
        assert "not sent" not in {batch.sent for batch in batches[:3]}
    path.write_bytes(b"x" + whole[1:])
    with pytest.raises(InputError, match="cannot be read: its first line is damaged"):
        UpsertJournal(path)


def test_a_damaged_journal_hides_no_other(service, home):
    """The list names it, and the last upsert that can be read is picked up."""
    prodex.upsert(service, products(1), progress=False)
    for name, content in {"9998": b"", "9999": b'{"version": 7, "check": "0"}\n', "9997": b"[[[["}.items():
        folder = home / "tracking" / name
        folder.mkdir()
        (folder / "journal.jsonl").write_bytes(content)
        (home / "tracking" / f"{name}x.jsonl").write_bytes(content)
    (home / "tracking" / "9999y").symlink_to("/")
    assert "SUCCESS" == prodex.track(service).status
    notes = prodex.list_upserts()["note"]
    assert (7, 6) == (len(notes), notes.str.contains("cannot be read").sum())


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
    retry = prodex.RetryPolicy(attempts=1)
    away = prodex.connect(receiver.base_url, client_id="key", client_secret="secret", retry=retry)
    tracking = prodex.track(away)
    assert {"unknown": 6} == dict(tracking.statuses)
    assert "no connection" in tracking.products["message"][0]
    with pytest.raises(ServiceUnreachable):
        tracking.refresh()


def test_corrections_are_not_sent_onto_what_was_changed_since(mill):
    """The rest of an upsert of merged corrections is held against the service again."""
    catalog = prodex.load_products(mill, max_age=0, progress=False)
    changes = prodex.changes_from_frame(catalog.texts.assign(text="New"), catalog)
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
