"""schemathesis run against the sandbox from outside, by its own command and from the served document alone.

Its four phases make calls from the examples, from the bounds of every schema, by chance (valid and invalid), and along
the links of the document: scrolls, and upserts with their tracking. Each reply is held against the document: status,
type, headers and schema.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from prodex.sandbox import Sandbox
from prodex_sandbox.app import openapi
from prodex_sandbox.media.files import MEDIA
from prodex_sandbox.sample import organizations, shared_products

pytestmark = pytest.mark.slow

#: A product with a picture that is drawn at once.
PICTURED = {
    "id": 9,
    "uuid": "11111111-0000-4000-8000-000000000009",
    "gtin": "03036811359935",
    "assets": {"pictures": [{"url": f"{MEDIA}/9/a.jpg", "width": 8, "height": 8}]},
}

#: Calls that have to be taken sometimes, or replies would prove nothing.
TAKEN = [("GET", ""), ("POST", "/list"), ("POST", ""), ("GET", "/track/{tracking_id}")]

CONFIGURATION = """
[auth.dynamic.openapi.HTTPBearer]
path = "/auth/v2/token"
method = "post"
payload = { client_id = "%(client_id)s", client_secret = "%(client_secret)s", grant_type = "client_credentials" }
extract_selector = "/access_token"

# The document names the documented form of requests; the sandbox takes more, such as numbers as text.
[checks.negative_data_rejection]
enabled = false

# What each value may be depends on others here: the cap on offset and limit, live cursors, days to come.
[[operations]]
include-operation-id = ["list_products", "search_products", "require_rulesets"]
checks.positive_data_acceptance.enabled = false

# The bounds of every attribute of a product at any depth would be 8,000 calls; the other phases send upserts too.
[[operations]]
include-operation-id = "upsert_products"
phases.coverage.enabled = false
"""


def test_every_reply_of_every_operation_is_as_the_document_says(tmp_path: Path) -> None:
    """Positive, negative and stateful calls of all operations find no reply that the document does not describe."""
    document = openapi()
    principal = replace(organizations()[0], scenarios_enabled=True, deadlines_enabled=True)
    with Sandbox([*shared_products(4), PICTURED], organizations=[principal, *organizations()[1:]]) as sandbox:
        configuration = tmp_path / "schemathesis.toml"
        configuration.write_text(CONFIGURATION % sandbox.credentials[0])
        report = tmp_path / "report.json"
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", configuration),
            *("run", f"{sandbox.base_url}/openapi.json", "--seed", "1", "--max-examples", "12"),
            *("--continue-on-failure", "--mode", "all", "--no-color"),
            *("--report", "json", "--report-json-path", report),
        ]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        calls = Counter(
            (method, operation)
            for method, path, _ in sandbox.requests
            for operation in document["paths"]
            if re.fullmatch(re.sub(r"\{\w+\}", ".+", operation), urlsplit(path).path)
        )

    assert 0 == ended.returncode, ended.stdout + ended.stderr
    for phase in ("Examples", "Coverage", "Fuzzing", "Stateful"):
        assert f"✅ {phase}" in ended.stdout, ended.stdout
    declared = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert set() == declared - set(calls)
    rates = json.loads(report.read_text("utf-8"))["valid_rates"]
    accepted = {name for name, phases in rates.items() if any(each["accepted"] for each in phases.values())}
    assert {f"{method} /public/v1/products{end}" for method, end in TAKEN} <= accepted
