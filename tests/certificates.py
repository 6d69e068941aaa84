"""A certificate for TLS on this machine."""

from __future__ import annotations

import subprocess
from pathlib import Path


def for_localhost(folder: Path) -> Path:
    """Make a certificate for the name localhost, with its key in the same file."""
    path, key = folder / "localhost.pem", folder / "localhost.key"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-keyout", str(key), "-out", str(path)], check=True, capture_output=True)
    path.write_text(path.read_text() + key.read_text())
    return path
