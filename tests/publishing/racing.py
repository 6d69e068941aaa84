"""Publishers that are killed between any two calls, and others that publish at once: what is readable afterwards.

Each round forks its processes from one Python that has imported everything. A publisher is killed (SIGKILL) before or
after one of the calls that the package `prodex.publishing` makes or receives, uploads and commits among them. Then two
publish at the same moment, while a reader opens what is there again and again.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import prodex
from prodex.errors import (
    ProdexError,
    PublicationConflict,
    PublicationRefused,
    SnapshotDamaged,
    SnapshotNotFound,
)
from tests.publishing.snapshots import in_parts, product

#: What is published by whom: the text of a product says of which snapshot it is.
BEFORE, KILLED, ONE, OTHER, LATER = "before", "killed", "one", "other", "later"


@dataclass(frozen=True)
class Round:
    """One round.

    Attributes
    ----------
    place
        Where it publishes, and nothing is published yet.
    later
        Whether something is published there before.
    killed
        Where the first publisher is killed: 0 at its first call, 1 at its last.
    among
        Whether the killed one is one of the two that publish at once; else it is killed before they begin.
    same
        Whether all publish the same snapshot.
    damaged
        What is damaged of an earlier publication before all this: the "log" of the pointer, a "row" of it, or nothing.
    """

    place: str
    later: bool
    killed: float
    among: bool
    same: bool
    damaged: str = ""

    @property
    def snapshots(self) -> tuple[str, str, str]:
        """What the killed one publishes, and the two others."""
        return (ONE, ONE, ONE) if self.same else (KILLED, ONE, OTHER)


@dataclass
class Raced:
    """What became of some rounds; each problem names its round."""

    rounds: int = 0
    kills: int = 0
    won: int = 0
    reads: int = 0
    unreadable: list[str] = field(default_factory=list)
    without_winner: list[str] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        """All problems."""
        return [*self.unreadable, *self.without_winner, *self.untrue]


def schedule(places: list[str], seed: int = 33) -> list[Round]:
    """Return a round for each place: every kind in turn, and kills from the first call to the last."""
    chance = random.Random(seed)
    # Uploads make most of the calls; half of the kills are in the last tenth, where tables and rows are committed.
    shares = [(number + chance.random()) / len(places) for number in range(len(places))]
    kills = [2 * share * 0.9 if share < 0.5 else 0.8 + share * 0.2 for share in shares]
    chance.shuffle(kills)
    rounds = []
    for number, (place, kill) in enumerate(zip(places, kills, strict=True)):
        later, is_folder = bool(number & 1), "://" not in place
        damaged = ("", "log", "row")[number // 8 % 3] if later and is_folder else ""
        rounds.append(Round(place, later, kill, bool(number & 2), bool(number & 4), damaged))
    return rounds


def snapshots() -> dict[str, Path]:
    """Return the folders of the snapshots that are published, oldest first."""
    folders = {}
    for which in (BEFORE, KILLED, ONE, OTHER, LATER):
        # Some have a column more, which takes two commits of its table.
        more = {"unusual": "yes"} if which in (KILLED, OTHER) else {}
        catalog = in_parts([product(1), product(2)], [{**product(3, which), **more}]).save("raced")
        assert catalog.folder is not None
        folders[which] = catalog.folder
    return folders


def race(
    rounds: list[Round], published: Mapping[str, Path], options: Mapping[str, str] | None = None
) -> Raced:
    """Run some rounds in a Python of their own.

    Parameters
    ----------
    rounds
        Which.
    published
        The folders of the snapshots; see `snapshots`.
    options
        What the object store needs.
    """
    task = {
        "rounds": [vars(one) for one in rounds],
        "snapshots": {name: str(folder) for name, folder in published.items()},
        "options": options,
    }
    command = [sys.executable, "-m", "tests.publishing.racing"]
    done = subprocess.run(command, input=json.dumps(task), capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return Raced(**json.loads(done.stdout))


# Everything below runs in that Python.


def _run(task: dict[str, Any]) -> Raced:
    result = Raced()
    publishing = _Publishing(task["snapshots"], task["options"])
    calls: dict[tuple[bool, bool], int] = {}
    for one in (Round(**values) for values in task["rounds"]):
        result.rounds += 1
        _run_round(one, publishing, calls, result)
    return result


@dataclass(frozen=True)
class _Publishing:
    """How to publish and to read, each in a process of its own."""

    snapshots: Mapping[str, str]
    options: Mapping[str, str] | None

    def publish(self, which: str, place: str, kill_at: int | None = None) -> dict[str, Any]:
        """Publish a snapshot; where `kill_at` is given, the process is killed at that call, or counts them if 0."""
        counted = (lambda: 0) if kill_at is None else _counting(kill_at)
        try:
            done = prodex.publish(self.snapshots[which], place, storage_options=self.options)
        except ProdexError as error:
            return {"error": type(error).__name__, "message": str(error)}
        return {"number": done.number, "calls": counted()}

    def read(self, place: str) -> str | None:
        """Return which snapshot is the newest one there."""
        try:
            opened = prodex.open_published(place, storage_options=self.options)
        except SnapshotNotFound:
            return None
        except SnapshotDamaged:
            return "damaged"
        return str(opened.texts.set_index("product_id").loc["3", "text"])

    def read_on(self, place: str, until: int) -> dict[str, Any]:
        """Read until a pipe is closed; return what was read, and how often."""
        found: list[str | None] = []
        os.set_blocking(until, False)
        while True:
            found.append(self.read(place))
            try:
                if not os.read(until, 1):
                    return {"found": list(dict.fromkeys(found)), "reads": len(found)}
            except BlockingIOError:
                time.sleep(0.05)

    def look(self, place: str) -> dict[str, Any]:
        """Return the publications at a place, as prodex and as Delta read them, and publish once more."""
        from deltalake import DeltaTable

        listed = _rows(place, self.options)
        texts = {}
        for row in listed:
            number, versions = row["publication"], json.loads(row["versions"])
            opened = prodex.open_published(place, number, storage_options=self.options)
            text = str(opened.texts.set_index("product_id").loc["3", "text"])
            tables = {
                name: DeltaTable(
                    f"{place}/{name}",
                    version=versions[name],
                    storage_options=dict(self.options) if self.options else None,
                ).to_pyarrow_table()
                for name in ("texts", "presence")
            }
            of_delta = {str(one["text"]) for one in tables["texts"].to_pylist() if one["product_id"] == "3"}
            has_column = [
                "unusual" in tables["presence"].column_names,
                "unusual_state" in opened.presence.columns,
            ]
            is_same = of_delta == {text} and has_column == [text in (KILLED, OTHER)] * 2
            texts[number] = text if is_same else f"{text}, and {of_delta}, {has_column} for others"
        newest = self.read(place)
        again = prodex.publish(self.snapshots[LATER], place, storage_options=self.options)
        return {
            "texts": texts,
            "newest": newest,
            "again": again.number,
            "then": self.read(place),
        }


def _rows(place: str, options: Mapping[str, str] | None) -> list[dict[str, Any]]:
    from deltalake import DeltaTable

    table = DeltaTable(f"{place}/_snapshots", storage_options=dict(options) if options else None)
    rows: list[dict[str, Any]] = table.to_pyarrow_table().to_pylist()
    return rows


def _run_round(
    one: Round, publishing: _Publishing, calls: dict[tuple[bool, bool], int], result: Raced
) -> None:
    def publisher(which: str, kill_at: int | None = None) -> Callable[[], dict[str, Any]]:
        return lambda: publishing.publish(which, one.place, kill_at)

    what = f"{one}: "
    if one.later:
        with _forked(publisher(BEFORE)) as before:
            pass
        assert before.answer == before.answer | {"number": 1}, before.answer
        _damage(one)
    if (one.later, one.same) not in calls:
        # How many calls one publisher makes, on a copy.
        with _forked(lambda: publishing.publish(one.snapshots[0], f"{one.place}-counted", 0)) as counted:
            pass
        calls[one.later, one.same] = counted.answer["calls"]
    kill_at = int(one.killed * calls[one.later, one.same])
    killed, *two = one.snapshots
    if not one.among:
        with _forked(publisher(killed, kill_at)):
            pass
        result.kills += 1
    until, end = os.pipe()
    go, start = os.pipe()

    def at_once(work: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        def waiting() -> dict[str, Any]:
            os.close(start)
            os.read(go, 1)
            return work()

        return waiting

    def reading() -> dict[str, Any]:
        os.close(end)
        os.close(start)
        return publishing.read_on(one.place, until)

    with _forked(reading) as reader:
        first = publisher(two[0], kill_at if one.among else None)
        with _forked(at_once(first)) as left, _forked(at_once(publisher(two[1]))) as right:
            os.close(start)
            os.close(go)
        os.close(end)
    os.close(until)
    result.kills += one.among
    _judge(one, what, [left, right], reader, result, publishing)


def _damage(one: Round) -> None:
    """Cut what the only publication has written to the pointer."""
    if one.damaged:
        pattern = "*.parquet" if one.damaged == "row" else "_delta_log/*.json"
        (path,) = (Path(one.place) / "_snapshots").glob(pattern)
        path.write_bytes(path.read_bytes()[:200])


def _judge(
    one: Round, what: str, two: list[_Forked], reader: _Forked, result: Raced, publishing: _Publishing
) -> None:
    answers = [process.answer for process in two]
    with _forked(lambda: publishing.look(one.place)) as looked:
        pass
    if looked.failed:
        result.unreadable.append(f"{what}{looked.failed}; the two answered {answers}")
        return
    texts = {int(number): text for number, text in looked.answer["texts"].items()}
    allowed = {BEFORE if one.later else None, *one.snapshots} | ({"damaged"} if one.damaged else set())
    if reader.failed or not set(reader.answer["found"]) <= allowed:
        result.unreadable.append(f"{what}a reader got {reader.failed or reader.answer}")
    else:
        result.reads += reader.answer["reads"]
    if looked.answer["then"] != LATER or looked.answer["again"] <= max(texts):
        result.unreadable.append(f"{what}what was published then: {looked.answer}")
    winners = [
        (answer["number"], snapshot)
        for answer, snapshot in zip(answers, one.snapshots[1:], strict=True)
        if "number" in answer
    ]
    result.won += len(winners)
    # A publisher that was killed after its last step has won as well.
    if not winners and not (one.among and one.snapshots[1] in texts.values()):
        result.without_winner.append(f"{what}{answers}")
    if one.damaged == "log" and BEFORE not in texts.values():
        result.untrue.append(f"{what}the publication before was lost: {texts}")
    if wrong := [(number, snapshot) for number, snapshot in winners if texts.get(number) != snapshot]:
        result.untrue.append(f"{what}{wrong} are not among {texts}")
    for process in two:
        if process.failed and not process.killed:
            result.untrue.append(f"{what}{process.failed}")
    for answer in answers:
        if "error" in answer and not any(
            answer["error"] == error.__name__ and word in answer["message"] for error, word in _REFUSALS
        ):
            result.untrue.append(f"{what}{answer}")


#: What the second one is told: that the first has published while it did, or before.
_REFUSALS = (
    (PublicationConflict, "It is whole, and yours is not published."),
    (PublicationRefused, "is older than"),
)


@dataclass
class _Forked:
    """A process that was forked; `answer` is what its work returned when it has ended."""

    answer: dict[str, Any] = field(default_factory=dict)
    failed: str = ""
    killed: bool = False


@contextmanager
def _forked(work: Callable[[], dict[str, Any]]) -> Iterator[_Forked]:
    """Run some work in a fork; it has ended when the block ends."""
    said, saying = os.pipe()
    process = os.fork()
    if not process:
        try:
            message = {"answer": work()}
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent judges it
            message = {"failed": f"{type(error).__name__}: {error}"}
        with os.fdopen(saying, "w") as pipe:
            json.dump(message, pipe)
        os._exit(0)
    os.close(saying)
    result = _Forked()
    try:
        yield result
    finally:
        with os.fdopen(said) as pipe:
            message = pipe.read()
        result.killed = os.waitpid(process, 0)[1] == signal.SIGKILL
        if result.killed:
            result.failed = "killed"
        else:
            vars(result).update(json.loads(message))


def _counting(kill_at: int | None) -> Callable[[], int]:
    """Count the calls that the package makes and receives, in all threads, and kill the process at one of them."""
    folder = str(Path(prodex.__file__).parent / "publishing")
    done = 0

    def count(frame: Any, event: str, _: object) -> None:
        nonlocal done
        if frame.f_code.co_filename.startswith(folder):
            done += 1
            if done == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(count)
    sys.setprofile(count)

    def counted() -> int:
        threading.setprofile(None)
        sys.setprofile(None)
        return done

    return counted


if __name__ == "__main__":
    # Before the forks, each of which would import them.
    import deltalake  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.parquet  # noqa: F401

    import prodex.publishing

    print(json.dumps(vars(_run(json.load(sys.stdin)))))  # noqa: T201 - the answer
