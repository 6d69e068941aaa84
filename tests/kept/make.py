"""Make the files of `tests/kept`: what prodex leaves on a user's disk, in small.

They are made anew whenever a layout gets another number. Tests import its products and its facts from here.

    python -m tests.kept.make
"""

from __future__ import annotations

import json
import shutil
import tarfile
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import IncompleteLoad, ServiceError
from prodex.exploration import saved_views
from prodex.exploration.drafts import CollectedDraft
from prodex.gtin import check_digit
from prodex.sandbox import Behaviour, Fault, Sandbox
from prodex.selection import Selection
from prodex.service import Client, RetryPolicy
from prodex.worklists.text_corrections import TextCorrection
from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct, View
from tests.ledgered import FILE, contents, write
from tests.pictures.drawn import picture
from tests.pictures.file_server import serving

TOTAL = 66
PAGE = 20
FOR_GOOD = 10**9

SHOP = Organization(1, "Shop", OrganizationType.RETAILER, "shop", "shop-secret", "sue")
MILL = Organization(11, "Mill", OrganizationType.MANUFACTURER, "mill", "mill-secret", "max")

#: What stands in the files for the folder of prodex on the machine on which they were made.
HOME = "/home/ana/home"

#: A text that nobody may run, cut, reorder or read as something else.
CANARY = '=HYPERLINK("https://example.com","Crème") <b>&amp;</b> \u202eetirw\u2069 \x0b 😀 \' " $x$ ` \\ ;'

#: The day of the audits.
NOW = datetime(2026, 11, 22, tzinfo=UTC)

#: What was corrected in the explorer and not sent.
CORRECTIONS = (TextCorrection("3", "namePublicLong", "fr", "Pain de campagne", before="Produit 3"),)

JOB = """name = "{name}"
profile = "core"

[service]
base_url = "$PRODEX_SHOP_URL"
client_id = "$PRODEX_SHOP_ID"
client_secret = "$PRODEX_SHOP_SECRET"

[query]
gtins_in = ["{gtin}"]

[[exports]]
format = "csv"
folder = "out-{name}"
"""

PROFILE = """title = "Our own"
extends = "core"
market = 250

[[checks.required_text]]
attribute = ["namePublicLong", "description"]
language = "fr"
severity = "blocker"
only = {is_consumer_unit = true}
"""


def gtin(number: int) -> str:
    """Make a GTIN."""
    return f"{number:013d}{check_digit(f'{number:013d}')}"


def text(data: str, code: str = "fra-FR") -> dict[str, Any]:
    """Write a localized item as the service serves it."""
    return {"expressedIn": {"normalizedCode": code[:2], "code": code}, "data": data}


def product(number: int) -> dict[str, Any]:
    """Write a product; every third one has much in it."""
    record: dict[str, Any] = {
        "id": number,
        "uuid": f"00000000-0000-4000-8000-{number:012d}",
        "gtin": gtin(number),
        "updatedAt": f"{2016 + number % 10}-{1 + number % 12:02d}-{1 + number % 28:02d}T08:00:{number % 60:02d}",
        "isConsumerUnit": number % 2 == 1,
        "lifeCycle": 1,
        "owner": {"id": 4 + number % 2, "name": ("Mill", "Dairy & Söhne")[number % 2]},
        "kind": {"code": "531", "label": "Bread"},
        "namePublicLong": [text(f"Produit {number}"), text(f"Product {number}", "eng-GB")],
        "composition": None,
        "allergens": [],
    }
    if number % 3 == 0:
        pictures = [{"url": f"https://pictures.example/{number}.jpg", "isPackshot": True, "width": 1200}]
        record |= {
            "brand": {"code": "ACME", "label": "Acme"},
            "description": [text(CANARY), text("x" * 300, "deu-DE")],
            "netContent": [{"data": 500, "expressedIn": {"code": "GRM", "label": "g"}}],
            "productBenefits": [{"rank": 1, "text": [text("léger"), text("light", "eng-GB")]}],
            "hasTags": [{"tag": "exportable", "createdAt": "2025-01-02T00:00:00"}],
            "isTaggedBy": ["exportable"],
            "assets": {
                "pictures": pictures,
                "documents": [{"fileName": "a.pdf", "url": "https://a.example/a.pdf"}],
            },
            "textileInformation": {"hasLabel": True, "weight": number},
        }
    if number % 3 == 1:
        record["description"] = CANARY if number % 2 else 7
    return record


def connected(sandbox: Sandbox, organization: int = 0) -> Client:
    """Reach it, with few retries and without pauses."""
    key = sandbox.credentials[organization]
    return prodex.connect(
        base_url=sandbox.base_url,
        client_id=key["client_id"],
        client_secret=key["client_secret"],
        retry=RetryPolicy(attempts=3, first_wait=0.001, jitter=0, retries_per_second=1_000),
    )


def shared(records: list[dict[str, Any]]) -> list[SharedProduct]:
    """Share them with the shop."""
    return [SharedProduct(record, MILL.id, (View(SHOP.id),)) for record in records]


def serve(records: list[dict[str, Any]], **options: Any) -> Sandbox:
    """Serve them."""
    return Sandbox(shared(records), organizations=[SHOP, MILL], labels={}, **options)


def make_loads(sandbox: Sandbox, changed: list[dict[str, Any]]) -> None:
    """Make the snapshots and the journals of loads and refreshes that were interrupted."""
    service = connected(sandbox)

    def load(name: str, windows: int = 0, **options: Any) -> prodex.Catalog:
        return prodex.load_products(
            service, name=name, page_size=PAGE, windows=windows, progress=False, **options
        )

    def interrupted(name: str, *faults: Fault, **options: Any) -> None:
        sandbox.order(*faults)
        with suppress(ServiceError, IncompleteLoad):
            load(name, **options)
            raise AssertionError(f"{name} was not interrupted")
        sandbox.clear_faults()

    load("shop")
    load("half-refreshed")
    sandbox.order(Fault("drops", products=3))
    load("partial", allow_incomplete=True)
    sandbox.clear_faults()
    interrupted("judged", Fault("drops", products=3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prodex.load.fetch.BY_SCROLL", False)
        interrupted("half-offset", Fault("500", at=range(4, FOR_GOOD)))
    with pytest.MonkeyPatch.context() as patch:
        interrupted("half-scrolled", Fault("lost-cursor", at=3), Fault("500", at=range(6, FOR_GOOD)))
        patch.setattr("prodex.service.paging.SCROLL_FROM", 30)
        patch.setattr("prodex.load.windows.SMALLEST", 25)
        interrupted(
            "half-windows",
            Fault("drops", at=9, products=2),
            Fault("500", at=range(14, FOR_GOOD)),
            windows=1,
        )
    sandbox.change(changed, moves_updated_at=False)
    prodex.refresh("shop", service, progress=False)
    sandbox.order(Fault("500", at=range(3, FOR_GOOD)))
    with suppress(ServiceError):
        prodex.refresh("half-refreshed", service, progress=False)
        raise AssertionError("half-refreshed was not interrupted")
    sandbox.clear_faults()
    prodex.flatten([product(1), product(3)]).save("saved")


def make_audits(folder: Path) -> None:
    """Make audits that are kept, worklists and exports, a publication, and what the explorer keeps."""
    (folder / "own.toml").write_text(PROFILE, "utf-8")
    catalog = prodex.open_snapshot("shop")
    audit = prodex.audit(catalog, folder / "own.toml", now=NOW).save()
    saved = prodex.open_snapshot("saved")
    prodex.audit(saved, "core", now=NOW).save()
    audit.worklists(folder / "to_fix")
    saved.export(folder / "export", "csv")
    prodex.publish("saved", folder / "published", progress=False)
    saved_views.save_view(
        saved_views.SavedView(
            "Bread, not ready", Selection().toggled("language", "fr"), ("gtin", "name"), "gtin", True
        )
    )
    draft = CollectedDraft()
    draft.of(catalog)
    draft.keep(CORRECTIONS, ())


def make_jobs(folder: Path, sandbox: Sandbox) -> None:
    """Make the journals of two runs of a job: one has ended, and one was interrupted after its first step."""
    with pytest.MonkeyPatch.context() as patch:
        key = sandbox.credentials[0]
        patch.setenv("PRODEX_SHOP_URL", sandbox.base_url)
        patch.setenv("PRODEX_SHOP_ID", key["client_id"])
        patch.setenv("PRODEX_SHOP_SECRET", key["client_secret"])
        for name in ("ended", "interrupted"):
            (folder / f"{name}.toml").write_text(JOB.format(name=name, gtin=gtin(3)), "utf-8")
        assert 0 == prodex.run_job(folder / "ended.toml").exit_code

        def stop(line: str) -> None:
            if "audit" in line:
                raise KeyboardInterrupt

        with suppress(KeyboardInterrupt):
            prodex.run_job(folder / "interrupted.toml", on_line=stop)
            raise AssertionError("the job was not interrupted")


def make_sent(home: Path) -> None:
    """Make a store of the sandbox, and the files of what was sent to it: finished, half lost, in progress, killed."""
    records = [product(number) for number in range(1, 9)]
    with serve(records, home=home) as sandbox:
        mill = connected(sandbox, 1)
        prodex.upsert(mill, records[:4], batch_size=2, progress=False).wait(progress=False)
        sandbox.order(Fault("truncated", at=2, endpoint="upsert"))
        prodex.upsert(mill, records[:6], batch_size=2, progress=False).wait(progress=False)
        shop = connected(sandbox)
        prodex.upsert(shop, [{"gtin": gtin(7), "namePublicLong": [text("À nous")]}], progress=False).wait(
            progress=False
        )
        make_killed(mill, records, home.parent / "tracking")
    with serve(records, home=home, behaviour=Behaviour(import_delay=600)) as sandbox:
        tracking = prodex.upsert(connected(sandbox, 1), records[6:], progress=False)
        assert "IN_PROGRESS" == tracking.status


def make_killed(mill: Client, records: list[dict[str, Any]], tracked: Path) -> None:
    """Make what a process leaves that is killed while it sends: plan, payloads, and a call of which nobody knows."""
    before = set(tracked.glob("*Z*"))
    beside = tracked.with_name("beside")

    def copied(done: int, total: int) -> None:
        if not beside.exists():
            (path,) = set(tracked.glob("*Z*")) - before
            shutil.copytree(path, beside)

    prodex.upsert(mill, records[:4], batch_size=2, progress=copied).wait(progress=False)
    (path,) = set(tracked.glob("*Z*")) - before
    shutil.rmtree(path)
    beside.rename(path)
    begun, *_ = contents(path / FILE, "events")
    write(path / FILE, "events", [("", begun)])


def make_pictures(folder: Path) -> None:
    """Make a folder of pictures with its index: good ones, one that is damaged, one that did not come."""
    content = picture()
    with serving() as server:
        urls = [server.serve("/1.jpg", content), server.serve("/2.jpg", picture(90, 60, "red"))]
        urls += [server.serve("/3.jpg", content[:-200]), f"{server.base_url}/4.jpg"]
        records = [
            {"id": number, "gtin": gtin(number), "assets": {"pictures": [{"url": url}]}}
            for number, url in enumerate(urls, 1)
        ]
        catalog = prodex.flatten(records)
        origin = prodex.catalog.Origin(
            server.base_url, loaded_at=datetime.now(UTC), ledger=catalog.origin.ledger
        )
        catalog = prodex.Catalog(catalog.parts, origin)
        prodex.download_pictures(catalog, folder, progress=False)
    (folder / "records.json").write_text(json.dumps(records), "utf-8")


def main() -> None:
    """Make everything, and pack it."""
    with tempfile.TemporaryDirectory() as work, pytest.MonkeyPatch.context() as patch:
        folder = Path(work).resolve() / "files"
        home = folder / "home"
        home.mkdir(parents=True)
        patch.setenv("PRODEX_HOME", str(home))
        records = [product(number) for number in range(1, TOTAL + 1)]
        made_at = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"
        changed = [
            {**product(number), "updatedAt": made_at, "namePublicLong": [text(f"Autre {number}")]}
            for number in (*range(1, 31), TOTAL + 1)
        ]
        (folder / "products.json").write_text(json.dumps(records), "utf-8")
        (folder / "changes.json").write_text(json.dumps(changed), "utf-8")
        with serve(records) as sandbox:
            make_loads(sandbox, changed)
            make_jobs(folder, sandbox)
            address = sandbox.base_url
        make_audits(folder)
        make_sent(home / "sandbox")
        make_pictures(folder / "pictures")
        (folder / "facts.json").write_text(json.dumps({"base_url": address, "home": HOME}), "utf-8")
        for path in [*folder.rglob("*.json*"), *folder.rglob("*.md")]:
            path.write_text(path.read_text("utf-8").replace(str(folder), str(Path(HOME).parent)), "utf-8")
        packed = Path(__file__).with_name("files.tar.xz")
        with tarfile.open(packed, "w:xz") as archive:
            archive.add(folder, "files", filter=_anonymous)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
