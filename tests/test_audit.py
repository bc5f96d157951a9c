"""What `make audit` says and its exit status, with commands in place of Python, pip and pip-audit."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough("scripts/audit.sh")

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "audit.sh"
UNREACHED = "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded"
PYTHON = """#!/bin/sh
mkdir -p "$3/bin"
for name in pip pip-audit; do
  { echo '#!/bin/sh'; echo "echo $name \\"\\$@\\""; cat "$STUBS/$name"; } > "$3/bin/$name"
  chmod +x "$3/bin/$name"
done
"""


@pytest.mark.parametrize(
    ("pip", "audit", "status", "told"),
    [
        ("exit 0", "exit 0", 0, ""),
        ("exit 0", "echo 'Found 1 known vulnerability in 1 package' >&2; exit 1", 1, "known vulnerability"),
        (f'echo "{UNREACHED}" >&2; exit 1', "exit 0", 3, "audit: the package registry cannot be reached"),
        ("exit 0", f'echo "{UNREACHED}" >&2; exit 1', 3, "audit: the database of known faults cannot be reached"),
        ("echo 'THESE PACKAGES DO NOT MATCH THE HASHES' >&2; exit 1", "exit 0", 1, "DO NOT MATCH"),
        ("exit 0", "exit 2", 1, ""),
    ],
)
def test_the_status_tells_faults_from_a_registry_that_cannot_be_reached(
    tmp_path: Path, pip: str, audit: str, status: int, told: str
) -> None:
    for name, text in {"python3.11": PYTHON, "pip": pip + "\n", "pip-audit": audit + "\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "python3.11").chmod(0o755)
    path = f"{tmp_path}:/usr/bin:/bin"
    environment = {**os.environ, "PATH": path, "STUBS": str(tmp_path), "PYTHON": "python3.11"}
    done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert told in done.stderr
    assert ("nothing was checked" in done.stderr) == (status == 3)
    if status == 0:
        assert done.stdout.count("--require-hashes") == 2
        assert "scripts/requirements-service.txt" in done.stdout
