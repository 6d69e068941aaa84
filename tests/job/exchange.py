"""A sandbox for jobs, and job files that use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from prodex.sandbox import Sandbox

SERVICE = """\
[service]
base_url = "$PRODEX_SHOP_URL"
client_id = "$PRODEX_SHOP_ID"
client_secret = "$PRODEX_SHOP_SECRET"
"""


def job_file(folder: Path, top: str = "", tables: str = "") -> Path:
    """Write a job file for the service that the environment names."""
    path = folder / "shop.toml"
    path.write_text(f'name = "shop"\n{top}\n{SERVICE}\n{tables}', "utf-8")
    return path


def variables(sandbox: Sandbox) -> dict[str, str]:
    """Return the variables that such a job file names."""
    key = sandbox.credentials[0]
    return {
        "PRODEX_SHOP_URL": sandbox.base_url,
        "PRODEX_SHOP_ID": key["client_id"],
        "PRODEX_SHOP_SECRET": key["client_secret"],
    }


def reached(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let job files reach a sandbox."""
    for name, value in variables(sandbox).items():
        monkeypatch.setenv(name, value)
