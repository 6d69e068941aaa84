"""The loop in a notebook, from the click to the proof: files are chosen, looked at, and sent, in a real JupyterLab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.notebook.lab import Lab
from tests.quality.workbooks import questions

from .bakery import RECORDS
from .handling import fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = str(Path(__file__).parents[2])

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)

CELL = f"""
    import sys; sys.path.insert(0, {ROOT!r})
    import prodex
    from tests.worklists.bakery import RECORDS
    from prodex.sandbox import Sandbox
    sandbox = Sandbox(RECORDS).__enter__()
    key = sandbox.credentials[0]
    service = prodex.connect(
        base_url=sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )
    catalog = prodex.load_products(service, name="answered", progress=False)
    missing = {{"attribute": "description", "language": "nl"}}
    profile = {{"checks": {{"names_not_in_capitals": {{}}, "required_text": missing}}}}
    audit = prodex.audit(catalog, profile, progress=False)
    audit.worklists("asked", replace=True)
    panel = prodex.AuditPanel(audit, service=service)
    panel
"""


@pytest.mark.browser
def test_from_the_files_that_came_back_to_the_proof(lab: Lab, browser: Browser) -> None:
    """Old and new are shown, a remark waits until it is confirmed, and what was sent is gone from the audit."""
    with lab.opened(browser, [CELL]) as notebook:
        out = notebook.run()
        (path,) = lab.folder.rglob("asked/*.xlsx")
        asked = questions(path).set_index(["check", "gtin"])["row"]
        names, texts = asked["names_not_in_capitals"], asked["required_text[description,nl]"]
        answers = {
            names[FIRST]: "Pain de campagne aux graines",
            texts[FIRST]: "Een brood van het land",
            texts[SECOND]: "erledigt",
            texts[THIRD]: "x" * 20_001,
        }
        fill(path, answers)
        with notebook.page.expect_file_chooser() as chooser:
            out.get_by_role("button", name="Choose files").click()
        chooser.value.set_files(str(path))
        out.get_by_text("4 answers: 2 can be sent, 1 cannot be used, 1 to be confirmed").wait_for()
        out.get_by_text("Pain de campagne aux graines", exact=True).first.wait_for()
        out.get_by_text("20,001 characters", exact=False).first.wait_for()
        asked = out.get_by_role("region", name="Needs confirmation")
        asked.get_by_text("reads like a remark that something is done or agreed", exact=False).wait_for()
        assert {} == notebook.violations_of_each_scheme()
        asked.get_by_role("button", name="It is meant as it is: description", exact=False).click()
        out.get_by_text("4 answers: 3 can be sent, 1 cannot be used").wait_for()
        out.get_by_role("button", name="Send 3 corrections", exact=True).click()
        out.get_by_role("button", name="Yes, send 3 corrections of 2 products", exact=True).click()
        out.get_by_text("SUCCESS").first.wait_for()
        out.get_by_text("3 corrections have arrived at", exact=False).wait_for()
        out.get_by_text("3 findings fixed, 0 new.").wait_for()
        # The figures above are those of the products of now.
        notebook.wait_for("'names_not_in_capitals' not in list(panel.audit.gaps()['check'])")
        assert not out.get_by_role("button", name="Check what has arrived").is_visible()
        fixed = notebook.ask(
            "sorted(prodex.diff(audit, prodex.audit(prodex.refresh('answered', service, progress=False), profile,"
            " progress=False)).changes('fixed')['check'])"
        )
        assert fixed == ["names_not_in_capitals", *["required_text[description,nl]"] * 2]
        assert not out.get_by_role("button", name="Send 3 corrections").is_visible()
        assert ([], []) == (notebook.outside, notebook.errors)
