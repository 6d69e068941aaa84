"""Consoles that know few letters, as those of Windows: nothing ends in a UnicodeEncodeError, and no letter is lost."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pandas as pd
import pytest

import prodex
from prodex.cli import main
from prodex.cli.output import Format, show
from prodex.progress import write_line
from tests.cases import each_row

TEXT = "漢字 → é … 😀"
NAME = "größe漢"
ENCODINGS = ["cp1252", "cp437", "ascii"]


@pytest.fixture
def shop(home: Path) -> Path:
    """Save two snapshots and an audit with letters of many scripts."""
    for number in (1, 2):
        name = [{"expressedIn": {"code": "zho-CN", "normalizedCode": "zh"}, "data": f"{TEXT}{number}"}]
        records = [
            {
                "id": identity,
                "gtin": "03036811359935",
                "namePublicLong": name,
                "owner": {"id": 4, "name": f"{TEXT} & Söhne"},
                "brand": {"code": TEXT, "label": TEXT},
            }
            for identity in range(2)
        ]
        catalog = prodex.flatten(records).save(NAME)
    prodex.audit(catalog, "online-listing").save(NAME)
    return home


class Console:
    """A terminal or a pipe of an encoding, as Windows opens it: what it has no letter for is an error."""

    def __init__(self, patch: pytest.MonkeyPatch, encoding: str) -> None:
        self.encoding = encoding
        self.patch = patch
        self.patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding, "strict"))
        self.patch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding, "strict"))

    def run(self, *words: str) -> tuple[int, str, str]:
        """Run a command; return its code, its result and what it says aside."""
        Console(self.patch, self.encoding)
        self.patch.setattr(sys, "argv", ["prodex", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return code, self._written(sys.stdout), self._written(sys.stderr)

    def _written(self, stream: object) -> str:
        assert isinstance(stream, io.TextIOWrapper)
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        # Click writes UTF-8 where a stream is said to be ASCII.
        return stream.buffer.getvalue().decode("utf-8" if self.encoding == "ascii" else self.encoding)


COMMANDS = {
    "help": ("--help",),
    "help of a command": ("audit", "--help"),
    "tables": ("tables", "texts"),
    "rules": ("rules",),
    "profiles": ("profiles",),
    "snapshots": ("snapshots",),
    "audit": ("audit", NAME, "--profile", "online-listing"),
    "audit by owner": ("audit", NAME, "--profile", "online-listing", "--by", "owner"),
    "audit by brand": ("audit", NAME, "--profile", "online-listing", "--by", "brand"),
    "diff": ("diff", NAME, NAME),
    "watch": ("watch", NAME),
    "verbose": ("--verbose", "snapshots"),
    "nothing has the name": ("audit", TEXT, "--profile", "online-listing"),
    "no such profile": ("audit", NAME, "--profile", TEXT),
    "no such command": (TEXT,),
    "no such option": ("snapshots", f"--{TEXT}"),
    "a value of an option": ("snapshots", "--format", TEXT),
}


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_no_command_dies_of_a_letter(shop: Path, monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    """Results, errors of ours and of the command line, and help."""
    console = Console(monkeypatch, encoding)
    # The encodings differ in nothing that a command sees; one has them all.
    for words in list(COMMANDS.values())[:: 1 if encoding == ENCODINGS[0] else 5]:
        code, out, aside = console.run(*words)
        assert out or aside, words
        assert code in {0, 1, 2}, words
    assert NAME.encode(encoding, "backslashreplace").decode(encoding) in console.run("snapshots")[1]
    assert repr(TEXT).encode(encoding, "backslashreplace").decode(encoding) in console.run("audit", TEXT)[2]


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_data_in_a_pipe_are_exact_or_refused(
    shop: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    r"""JSON has an escape for every letter; CSV has none, so that a letter would be lost: the error says what to do."""
    console = Console(monkeypatch, encoding)
    failures = ("audit", NAME, "--profile", "online-listing", "--show", "failures", "--format")
    code, out, _ = console.run(*failures, "json")
    assert 0 == code
    assert {f"{TEXT} & Söhne"} == {row["owner"] for row in json.loads(out)}

    code, out, aside = console.run(*failures, "csv")
    assert (1, "") == (code, out)
    assert "--out" in aside
    assert "PYTHONUTF8=1" in aside

    file = shop / "out.csv"
    assert 0 == console.run(*failures, "csv", "--out", str(file))[0]
    assert TEXT in file.read_text("utf-8-sig")


@each_row("encoding", ENCODINGS)
def test_lines_of_progress_are_shown_with_what_there_is(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    """Also where a script of somebody runs, and not the command line."""
    console = Console(monkeypatch, encoding)
    write_line(True, TEXT)
    assert f"{TEXT}\n".encode(encoding, "backslashreplace").decode(encoding) == console._written(sys.stderr)


def test_under_the_locale_c_nothing_ends_at_a_letter(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python opens outputs otherwise there: only the bytes of odd file names pass."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii", "surrogateescape"))
    monkeypatch.setattr(sys, "argv", ["prodex", "tables"])
    with pytest.raises(SystemExit):
        main()
    show(pd.DataFrame({"name": [TEXT]}), Format.TABLE, None)
    sys.stdout.flush()
    shown = sys.stdout.buffer.getvalue()  # type: ignore[attr-defined]
    assert TEXT.encode("ascii", "backslashreplace") in shown


@each_row("words", [("tables",), ("rules", "--format", "csv"), ("profiles",)])
def test_without_an_output_a_command_does_its_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """Schedulers start programs with closed outputs, which Python calls None."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "argv", ["prodex", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (0, "") == (ended.value.code, capsys.readouterr().err)


def test_a_pipe_of_windows_changes_no_line_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text of a cell keeps its line ends; only what people read gets those of the system."""
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\r\n"))
    frame = pd.DataFrame({"text": ["a\nb", "c\r\nd"]})

    show(frame, Format.CSV_VERBATIM, None)
    sys.stdout.flush()
    assert b'"text"\n"a\nb"\n"c\r\nd"\n' == sys.stdout.buffer.getvalue()  # type: ignore[attr-defined]


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
@each_row(
    "words", [("snapshots",), ("snapshots", "--format", "csv"), ("rules", "--format", "csv"), ("--version",)]
)
def test_an_output_on_a_full_disk_is_one_line(
    shop: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """As the file of a nightly job may be: one line says so, without a traceback, also when Python ends."""
    console = Console(monkeypatch, "utf-8")
    monkeypatch.setattr(sys, "argv", ["prodex", *words])
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as ended:
            main()
    said = console._written(sys.stderr)

    assert (1, 1) == (ended.value.code, len(said.splitlines()))
    assert said.startswith("prodex: What the command shows could not be written: No space left on device.")


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a disk that is always full")
@pytest.mark.slow
def test_no_night_is_lost_because_the_copy_of_its_log_cannot_be_written(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log is a file of its own; what `--log` writes beside it is a copy."""
    job = tmp_path / "shop.toml"
    job.write_text('name = "shop"\nservice = "sandbox"\nprofile = []\ncompare = false\n')
    console = Console(monkeypatch, "utf-8")
    monkeypatch.setattr(sys, "argv", ["prodex", "run", str(job), "--log"])
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        with pytest.raises(SystemExit) as ended:
            main()

    assert not ended.value.code
    assert "load: done" in console._written(sys.stdout)
    assert 2 == (home / "jobs" / "shop" / "log.jsonl").read_text().count('"load"')


def test_a_command_without_an_output_does_its_work(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `>&-`, which closes it."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "argv", ["prodex", "snapshots", "--format", "csv"])

    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
