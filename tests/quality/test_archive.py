"""Audits on disk: opened as they were, beside their snapshot, whole or not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import prodex
from prodex.errors import InputError, QueryError, SnapshotDamaged, SnapshotNotFound
from prodex.files import parquet
from prodex.files.atomic import sha256
from prodex.quality.audit import Audit
from prodex.quality.products import Products
from prodex_sandbox.sample import AS_OF


def same(one: Audit, other: Audit) -> bool:
    return (
        one.matrix.equals(other.matrix)
        and one.failures().equals(other.failures())
        and one.checks == other.checks
        and one.crashes == other.crashes
        and (one.profile, one.rule_set, one.now, one.audited_at, one.origin)
        == (other.profile, other.rule_set, other.now, other.audited_at, other.origin)
    )


@pytest.mark.slow
def test_an_audit_is_opened_as_it_was_saved(sample: prodex.Catalog) -> None:
    """With the catalogue for what it does not keep itself, and with crashes of rules that are no longer there."""

    @prodex.packs.rule(title="never")
    def breaks(products: Products) -> prodex.packs.Verdict:
        raise RuntimeError

    catalog = sample.save("shop")
    audit = prodex.audit(catalog, prodex.Profile.read("core").with_check("breaks"), now=AS_OF)

    saved = audit.save()
    opened = prodex.open_audit("shop")

    assert same(audit, opened)
    assert catalog.folder is not None
    assert catalog.folder.parent / "audits" == saved.folder.parent == opened.folder.parent  # type: ignore[union-attr]
    assert audit.scores("gpc_code").equals(opened.scores("gpc_code"))
    assert audit.scores("tag").equals(opened.scores("tag"))
    assert ["shop"] == prodex.list_snapshots()["name"].tolist()
    assert ["shop"] == prodex.list_audits()["name"].tolist()


@pytest.mark.slow
def test_the_newest_is_opened_unless_a_time_or_profile_is_named() -> None:
    """Audits are named and found as snapshots are."""
    catalog = prodex.flatten([{"id": 7}]).save("shop")
    first = prodex.audit(catalog, "core").save()
    second = prodex.audit(catalog, "pictures").save()
    assert first.folder is not None

    assert same(second, prodex.open_audit("shop"))
    assert same(first, prodex.open_audit("shop", profile="core"))
    assert same(first, prodex.open_audit(f"shop@{first.folder.name}"))
    assert same(first, prodex.open_audit(first.folder))
    with pytest.raises(SnapshotNotFound, match="The audited snapshots are: shop"):
        prodex.open_audit("ship")
    with pytest.raises(SnapshotNotFound, match="by profile 'logistics'"):
        prodex.open_audit("shop", profile="logistics")


def test_saving_again_changes_nothing() -> None:
    """Whoever accepts findings of a saved audit and saves it has the same audit, with what is accepted."""
    catalog = prodex.flatten([{"id": 8, "gtin": "03036811359936"}]).save("shop")
    saved = prodex.audit(catalog, {"checks": {"valid_gtin": {}}}).save()
    again = prodex.accept(saved, reason="printed so", by="Ana").save()

    assert saved.folder == again.folder
    assert 1 == prodex.open_audit("shop").summary["accepted"] == again.summary["accepted"]
    assert 1 == len(prodex.list_audits("shop"))


def test_an_audit_of_a_catalogue_in_memory_needs_a_name() -> None:
    """Opened again, it answers without its catalogue as far as it can."""
    audit = prodex.audit(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}]), "core")
    with pytest.raises(InputError, match="Give a name"):
        audit.save()

    audit.save("tried")
    opened = prodex.open_audit("tried")

    assert ["ACME"] == opened.scores("brand")["brand_code"].tolist()
    with pytest.raises(QueryError, match="its catalogue is not available"):
        opened.scores("gpc_code")
    with pytest.raises(QueryError, match="does not keep tags itself"):
        opened.scores("tag")


@pytest.mark.slow
def test_an_audit_of_some_products_answers_for_those(sample: prodex.Catalog) -> None:
    """Columns and tags come from the whole snapshot, for the products judged."""
    catalog = sample.save("shop")
    audit = prodex.audit(catalog.where(is_consumer_unit=True), "core", now=AS_OF)

    audit.save()

    assert audit.scores("gpc_code").equals(prodex.open_audit("shop").scores("gpc_code"))
    assert audit.scores("tag").equals(prodex.open_audit("shop").scores("tag"))


def test_an_empty_audit_can_be_saved() -> None:
    """An audit without products can be saved, and so can one without checks."""
    for name, records, profile in (("empty", [], "core"), ("bare", [{"id": 7}], prodex.Profile("none"))):
        audit = prodex.audit(prodex.flatten(records), profile)
        audit.save(name)

        assert same(audit, prodex.open_audit(name))


def test_damage_is_named() -> None:
    """A file that was changed or is gone is named, and so is a manifest that is none."""
    saved = prodex.audit(prodex.flatten([{"id": 7}]), "core").save("tried").folder
    assert saved is not None
    states = saved / "states" / "part-00000.parquet"
    content, manifest = states.read_bytes(), (saved / "manifest.json").read_text()

    states.write_bytes(content[:-1])
    with pytest.raises(SnapshotDamaged, match="was changed"):
        prodex.open_audit("tried")
    states.unlink()
    with pytest.raises(SnapshotDamaged, match="cannot be read"):
        prodex.open_audit("tried")
    states.write_bytes(content)
    for broken, why in (
        ("{", "cannot be read"),
        (
            json.dumps({**json.loads(manifest), "checks": [{"id": 1}]}),
            r"cannot be read \(Object missing required field `rule`",
        ),
    ):
        Path(saved / "manifest.json").write_text(broken)
        with pytest.raises(SnapshotDamaged, match=why):
            prodex.open_audit("tried")


def test_findings_are_those_of_what_fails() -> None:
    """A saved audit that lacks the finding of a failing product is damaged, whatever its digests say."""
    saved = prodex.audit(prodex.flatten([{"id": 7}]), {"checks": {"has_name": {}}}).save("tried").folder
    assert saved is not None
    findings, manifest = saved / "findings" / "part-00000.parquet", saved / "manifest.json"
    assert 1 == len(parquet.read(findings))

    parquet.write(parquet.read(findings).slice(0, 0), findings)
    written = json.loads(manifest.read_text())
    written["parts"][0]["findings"] = sha256(findings)
    manifest.write_text(json.dumps(written))

    with pytest.raises(SnapshotDamaged, match="not those of what fails"):
        prodex.open_audit("tried")
