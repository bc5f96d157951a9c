"""The Dockerfile's own steps, done in folders of this machine: they lead to a service that answers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.test_container import ROOT, files_of, instructions, reaches_the_build

pytestmark = pytest.mark.thorough("granola/cli", "granola/service")


def copy(context: Path, rest: str, folder: Path) -> None:
    """COPY: files into a folder, or what is in a folder into another."""
    *sources, place = rest.split()
    target = folder / place
    for source in sources:
        if (context / source).is_dir():
            shutil.copytree(context / source, target)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(context / source, target)


def test_the_steps_lead_to_a_running_service(tmp_path: Path) -> None:
    context, source, target = tmp_path / "context", tmp_path / "src", tmp_path / "opt"
    for name in filter(reaches_the_build, files_of(".")):
        (context / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, context / name)
    source.mkdir()
    stages = 0
    for word, rest in instructions():
        stages += word == "FROM"
        if stages == 1 and word == "COPY":
            copy(context, rest, source)
        elif stages == 1 and word == "RUN":
            command = rest.replace("/opt/granola", str(target)).replace("python -m venv", f"{sys.executable} -m venv")
            ran = subprocess.run(command, shell=True, cwd=source, capture_output=True, text=True)
            if ran.returncode and "No matching distribution" in ran.stderr:
                pytest.skip("no registry of packages can be reached")
            assert ran.returncode == 0, ran.stderr
    granola = [target / "bin" / "granola", "serve", "--demo", "--port", "0"]
    server = subprocess.Popen(granola, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        address = next(read[0] for line in server.stderr if (read := re.search(r"http://[\d.:]+", line)))
        with urllib.request.urlopen(f"{address}/v1/health/ready", timeout=60) as answer:
            assert answer.status == 200
    finally:
        server.terminate()
        assert server.wait(60) == 0
