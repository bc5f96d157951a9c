"""Writes scripts/requirements.txt: versions and hashes of everything that the tests install. `make lock` runs it.

    python scripts/lock.py

Versions are those of scripts/constraints.txt. pip-tools does the work, in an environment of its own. Spark, torch and
the model server are left out: they are 1.5 GB that only some tests want, and torch is a build for the machine at hand,
whose hash differs from the registry's. They are installed by version alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "scripts" / "requirements.txt"
HEAD = "# Versions and hashes of everything that `make demo` and `make test` install; written by `make lock`.\n"
PIP_TOOLS = "pip-tools==7.6.2"
LEFT_OUT = ("granola-ladders", "# WARNING", "# Consider", "# The following packages")  # ourselves, and remarks on that


def main() -> None:
    """Write the file."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        made = Path(folder) / "requirements.txt"
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PIP_TOOLS], check=True)
        flags = ["quiet", "generate-hashes", "allow-unsafe", "strip-extras", "no-header", "no-annotate",
                 "no-emit-index-url", "no-emit-trusted-host", "no-emit-find-links", "no-emit-options"]  # fmt: skip
        options = [f"--{flag}" for flag in flags]
        options += ["--extra=dev", "--build-deps-for=editable", "--constraint=scripts/constraints.txt", f"-o{made}"]
        subprocess.run([str(python), "-m", "piptools", "compile", *options, "pyproject.toml"], check=True, cwd=ROOT)
        kept = [line for line in made.read_text().splitlines() if not line.startswith(LEFT_OUT)]
    LOCK.write_text(HEAD + "\n".join(kept).strip("\n") + "\n")


if __name__ == "__main__":
    main()
