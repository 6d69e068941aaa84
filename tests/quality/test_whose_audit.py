"""Whose audit it is: an earlier one is compared with where this installation judged it, and nowhere else."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import prodex
from prodex import Catalog
from prodex.files import parquet
from prodex.files.atomic import home, sha256
from prodex.files.seal import KEY
from prodex.job.context import newest_before
from prodex.job.job_file import read_job
from prodex.quality import Audit
from prodex.store.snapshot import SNAPSHOTS
from tests.cases import each_row

PROFILE: dict[str, Any] = {"checks": {"valid_gtin": {}}}
RIGHT, WRONG = "03036811359935", "03036811359936"


def saved(wrong: int = 1, name: str = "shop") -> Catalog:
    """Return a snapshot of 20 products of which some have a wrong GTIN."""
    return prodex.flatten([{"id": n, "gtin": WRONG if n < wrong else RIGHT} for n in range(20)]).save(name)


def judged(catalog: Catalog | str = "shop", **how: Any) -> Audit:
    return prodex.audit(catalog, PROFILE, progress=False, **how)


def all_passing(audit: Audit) -> Audit:
    """Forge a saved audit: every product passes, and every digest is right."""
    assert audit.folder is not None
    states = audit.folder / "states" / "part-00000.parquet"
    findings = audit.folder / "findings" / "part-00000.parquet"
    table = parquet.read(states)
    parquet.write(pa.table({"0": pa.array([0] * len(table), pa.int8())}), states)
    parquet.write(parquet.read(findings).slice(0, 0), findings)
    manifest = json.loads((audit.folder / "manifest.json").read_text())
    manifest["parts"][0] |= {"states": sha256(states), "findings": sha256(findings)}
    (audit.folder / "manifest.json").write_text(json.dumps(manifest))
    return prodex.open_audit(audit.folder)


def in_another_home(monkeypatch: pytest.MonkeyPatch, folder: Path, work: Callable[[], object]) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("PRODEX_HOME", str(folder))
        work()


def test_a_forged_audit_in_a_copied_folder_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder of a name was made elsewhere, with an audit that says 1.0, and copied into our own home."""
    elsewhere = tmp_path / "elsewhere"

    def forge() -> None:
        forged = all_passing(judged(saved()).save())
        assert forged.score == 1

    in_another_home(monkeypatch, elsewhere, forge)
    judged(saved(name="own")).save()  # there is a key here as well
    shutil.copytree(elsewhere / "snapshots" / "shop", home() / "snapshots" / "shop")

    audit = judged()

    assert 0.95 == pytest.approx(audit.score)
    assert not prodex.open_audit("shop").is_own


def test_a_job_compares_with_an_audit_of_our_own(tmp_path: Path) -> None:
    """The newest audit is forged: the night is compared with the last one that was judged here."""
    (tmp_path / "own.toml").write_text("[checks.valid_gtin]\n")
    path = tmp_path / "job.toml"
    path.write_text('name = "shop"\nprofile = "own.toml"\n')
    own = prodex.audit(saved(), str(tmp_path / "own.toml"), progress=False).save()
    forged = all_passing(prodex.audit(saved(), str(tmp_path / "own.toml"), progress=False).save())

    before = newest_before(read_job(path))

    assert own.folder is not None
    assert forged.folder is not None
    assert own.folder.name < forged.folder.name
    assert own.folder.name == before["audit own"]


def test_an_audit_that_was_edited_in_its_place_decides_nothing() -> None:
    """Its files and the digests in its manifest agree, and its seal does not."""
    forged = all_passing(judged(saved()).save())

    assert not forged.is_own
    assert 0.95 == pytest.approx(judged().score)


def test_an_audit_of_our_own_beside_another_name_decides_nothing() -> None:
    """A seal is of a place: an audit that was copied to another name is of other products."""
    own = judged(saved(wrong=0)).save()
    saved(wrong=1, name="other")
    assert own.folder is not None
    shutil.copytree(own.folder, home() / "snapshots" / "other" / "audits" / own.folder.name)

    assert not prodex.open_audit("other").is_own
    assert 0.95 == pytest.approx(judged("other").score)


def test_an_opened_audit_that_is_saved_again_is_not_ours() -> None:
    """What somebody else wrote does not become ours by being written once more."""
    forged = all_passing(judged(saved()).save())
    saved(name="other")

    forged.save("other")

    assert not prodex.open_audit("other").is_own


def test_a_lost_key_costs_a_comparison() -> None:
    """What was judged before is nobody's, and the next audit is ours again."""
    judged(saved()).save()
    (home() / KEY).unlink()

    assert not prodex.open_audit("shop").is_own
    judged(saved()).save()
    assert prodex.open_audit("shop").is_own


def test_the_key_is_its_owners_alone_and_no_link_is_followed(tmp_path: Path) -> None:
    """It is written for its owner only; what is no key is replaced, and nothing is written through a link."""
    saved()
    key = home() / KEY
    if sys.platform != "win32":
        assert 0o600 == stat.S_IMODE(key.stat().st_mode)
    content = key.read_bytes()
    assert 32 == len(content)
    assert not any(content in one.read_bytes() for one in home().rglob("*") if one.is_file() and one != key)
    victim = tmp_path / "victim"
    victim.write_bytes(b"x" * 32)
    key.unlink()
    key.symlink_to(victim)

    newest = saved()

    assert newest.folder is not None
    assert SNAPSHOTS.is_own(newest.folder)
    assert (b"x" * 32, False) == (victim.read_bytes(), key.is_symlink())


@each_row("content", [b"", b"short", b"x" * 33])
def test_what_is_no_key_seals_nothing(content: bytes) -> None:
    """Half of a key, or more than one, is none: a new one is made, and what was sealed before is not believed."""
    catalog = saved()
    assert catalog.folder is not None
    (home() / KEY).write_bytes(content)

    assert not SNAPSHOTS.is_own(catalog.folder)
    newest = saved()
    assert newest.folder is not None
    assert SNAPSHOTS.is_own(newest.folder)


def test_a_foreign_snapshot_saved_again_is_not_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its tables are copied as they are, whatever its records say."""
    elsewhere = tmp_path / "elsewhere"
    in_another_home(monkeypatch, elsewhere, saved)
    (folder,) = (elsewhere / "snapshots" / "shop").glob("2*")

    copied = prodex.open_snapshot(folder).save("shop")

    assert copied.folder is not None
    assert not SNAPSHOTS.is_own(copied.folder)
    assert not SNAPSHOTS.is_own(folder)
