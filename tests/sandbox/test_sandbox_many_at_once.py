"""Many callers at once, many products at once, and a process that is killed in the middle."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from small_exchange import DAIRY, MILL, PRODUCTS, SHOP, text
from writer import Writer

from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import Organization
from prodex_sandbox.records.upsert import normal_gtin

pytestmark = pytest.mark.slow

READERS = WRITERS = 25
ROUNDS = 4


def gtin(number: int) -> str:
    """Return a GTIN with a right check digit."""
    for digit in range(10):
        try:
            return normal_gtin(f"{number:013d}{digit}")
        except ValueError:
            continue
    raise AssertionError(number)


def new(number: int, name: str = "Neuf") -> dict[str, Any]:
    return {"gtin": gtin(number), "namePublicLong": [text(name)]}


def test_fifty_clients_read_and_write_at_once_without_an_error_or_a_lost_write() -> None:
    """Twenty-five write products of their own and one attribute of a common one each, twenty-five read meanwhile."""
    errors: list[BaseException] = []
    with Sandbox([*PRODUCTS], organizations=[SHOP, MILL, DAIRY], labels={}) as sandbox:

        def run(number: int) -> None:
            try:
                writer = Writer(sandbox.base_url, MILL if number % 2 else SHOP)
                with writer.session:
                    writer.log_in()
                    for round_ in range(ROUNDS):
                        read(writer) if number >= WRITERS else write(number, round_)
            except BaseException as error:  # noqa: BLE001 - told below
                errors.append(error)

        def read(reader: Writer) -> None:
            whole = reader.call("POST", next_page="", limit=3)
            assert whole["totalResults"] >= 3
            reader.call("GET", limit=2)

        def write(number: int, round_: int) -> None:
            mill = Writer(sandbox.base_url, MILL)
            with mill.session:
                mill.log_in()
                record = mill.write(
                    new(number, f"{number} {round_}"), {**new(999), f"attribute{number}": round_}
                )
                assert "SUCCESS" == record["status"]

        threads = [threading.Thread(target=run, args=(number,)) for number in range(READERS + WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [] == errors
        mill = Writer(sandbox.base_url, MILL)
        with mill.session:
            mill.log_in()
            common = mill.stored(gtin(999))
            assert [ROUNDS - 1] * WRITERS == [common[f"attribute{number}"] for number in range(WRITERS)]
            for number in range(WRITERS):
                wanted = f"{number} {ROUNDS - 1}"
                assert wanted == mill.stored(gtin(number))["namePublicLong"][0]["data"]


def test_ten_thousand_products_are_imported_in_seconds() -> None:
    """Twenty batches of 500 are created, and tracked to SUCCESS, in well under half a minute."""
    with Sandbox([], organizations=[MILL], labels={}) as sandbox:
        mill = Writer(sandbox.base_url, MILL)
        with mill.session:
            mill.log_in()
            start = time.monotonic()
            trackings = [
                mill.send({"data": [new(number) for number in range(first, first + 500)]})
                for first in range(0, 10_000, 500)
            ]
            records = [mill.wait(tracking) for tracking in trackings]
            assert time.monotonic() < start + 25
            assert [("SUCCESS", 500)] * 20 == [(record["status"], record["count"]) for record in records]
            assert 10_000 == mill.call("POST", limit=1)["totalResults"]


def test_an_import_outlives_a_killed_process(tmp_path: Path) -> None:
    """Imports in progress and waiting when the process is killed are done, once each, by the next."""
    home = tmp_path / "home"
    products = tmp_path / "products.json"
    products.write_text(json.dumps([{"gtin": "1", "owner": {"name": "Mine"}}]))
    trackings: list[int] = []
    for options in (["--import-delay", "60"], []):
        with subprocess.Popen(
            [sys.executable, "-m", "prodex_sandbox", "--home", home, "--products", products, *options],
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            word = json.loads(process.stdout.readline())
            (mine,) = (one for one in word["credentials"] if one["organization"] == "Mine")
            keys = (mine["client_id"], mine["client_secret"], mine["client_id"])
            writer = Writer(word["base_url"], Organization(0, "Mine", MILL.type, *keys))
            try:
                with writer.session:
                    writer.log_in()
                    if not trackings:
                        trackings = [writer.send({"data": [new(1, name)]}) for name in ("One", "Two")]
                        assert "IN_PROGRESS" == writer.track(trackings[0]).json()["status"]
                    else:
                        assert ["SUCCESS"] * 2 == [writer.wait(one)["status"] for one in trackings]
                        assert "Two" == writer.stored(gtin(1))["namePublicLong"][0]["data"]
            finally:
                process.kill()


def test_the_command_imports_files(tmp_path: Path) -> None:
    """--import takes files in for an organisation, and reports their tracking ids."""
    file = tmp_path / "new.json"
    file.write_text(json.dumps({"data": [new(1)]}))
    command = [
        sys.executable,
        "-m",
        "prodex_sandbox",
        "--home",
        tmp_path / "home",
        "--sample",
        "30",
        "--import",
        file,
    ]
    with subprocess.Popen(
        [*command, "--import-as", "sandbox-supplier-01"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        word = json.loads(process.stdout.readline())
        supplier = next(one for one in word["credentials"] if one["client_id"] == "sandbox-supplier-01")
        keys = (supplier["client_id"], supplier["client_secret"], "")
        writer = Writer(word["base_url"], Organization(0, supplier["organization"], MILL.type, *keys))
        with writer.session:
            writer.log_in()
            record = writer.wait(1)
        process.terminate()
        assert process.stderr is not None
        assert f"{file} is import 1 of {supplier['organization']}" in process.stderr.read()
    assert ("SUCCESS", "IMPORT") == (record["status"], record["endpoint"])
    unknown = subprocess.run([*command, "--import-as", "nobody"], capture_output=True, text=True, check=False)
    assert (2, True) == (unknown.returncode, "has the client id 'nobody'" in unknown.stderr)
