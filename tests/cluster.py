"""A Dask cluster of real processes on this machine: a scheduler here, and workers that can be stopped and killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from distributed import Client, LocalCluster

SOURCE = Path(__file__).parents[1]


@contextmanager
def scheduler() -> Iterator[Client]:
    """Run a scheduler without workers, on ports that are free, and give a client of it."""
    with (
        LocalCluster(
            n_workers=0, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def worker(
    client: Client, name: str, folder: Path, more: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run one worker of one thread in a process of its own, killed at the end if it still runs."""
    environment = {**os.environ, **(more or {})}
    path = [environment.get("PYTHONPATH", ""), str(SOURCE / "src"), str(SOURCE)]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", client.scheduler.address]
    options = ["--no-nanny", "--no-dashboard", "--nthreads=1", f"--name={name}", "--memory-limit=0"]
    before = len(client.scheduler_info()["workers"])
    with subprocess.Popen(
        [*command, *options, f"--local-directory={folder}"],
        env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, path))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            client.wait_for_workers(before + 1, timeout=120)
            yield process
        finally:
            process.kill()
