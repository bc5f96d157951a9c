"""The OpenAPI document says the truth: whatever is sent, the answer is one that it documents, and none is a failure."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from tests.granola.service.conftest import Running
from tests.thorough import THOROUGH

pytestmark = pytest.mark.thorough("granola/service")

BESIDE = Path(sys.executable).with_name("schemathesis")
PROGRAM = os.environ.get("GRANOLA_SCHEMATHESIS") or (str(BESIDE) if BESIDE.exists() else shutil.which("schemathesis"))
EXAMPLES = "15" if THOROUGH else "4"  # a route
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed")
def test_schemathesis_finds_nothing(service: Running, tmp_path: Path) -> None:
    assert PROGRAM
    done = subprocess.run(
        [PROGRAM, "run", f"{service.address}/v1/openapi.json", "--max-examples", EXAMPLES, "--seed", "1", "--no-color",
         "--phases", "examples,coverage,fuzzing", "--checks", CHECKS],
        capture_output=True, text=True, cwd=tmp_path, timeout=180,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6_000:]
    assert "failed" not in service.log.read_text()


def test_every_reference_leads_somewhere_and_every_route_tells_its_problems(service: Running) -> None:
    document = requests.get(f"{service.address}/v1/openapi.json", timeout=10).json()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            if "$ref" in node:
                assert node["$ref"].rpartition("/")[2] in document["components"]["schemas"]
            for one in node.values():
                walk(one)
        elif isinstance(node, list):
            for one in node:
                walk(one)

    walk(document)
    assert document["servers"] == [{"url": ".."}]  # from the document, which is in /v1: right behind any prefix
    for path, routes in document["paths"].items():
        for method, route in routes.items():
            assert "application/problem+json" in route["responses"]["default"]["content"], f"{method} {path}"
            assert ("security" in route) == (not path.startswith("/v1/health/"))
            assert "200" in route["responses"]
            assert route["summary"]
