"""Writes versions and hashes of what is installed, `scripts/requirements*.txt`; `make lock` runs it.

    python scripts/lock.py [NAME ...]

Versions are those of scripts/constraints.txt. pip-tools does the work, in an environment of its own. torch is in no
file: it is a build for the machine at hand, whose hash differs from the registry's. It is installed apart, by version.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "scripts"
PIP_TOOLS = "pip-tools==7.6.2"
LEFT_OUT = re.compile(r"(?:granola-ladders|torch|triton|nvidia-\S+|cuda-\S+)\b|# ")  # ourselves, torch, and remarks


@dataclass(frozen=True, kw_only=True)
class Lock:
    """What a file is for; the project's extras and other requirements in it; the file whose pins it does not repeat."""

    what: str
    extras: str = ""
    others: tuple[str, ...] = ()
    beside: str = ""


LOCKS = {
    "requirements.txt": Lock(what="everything that `make demo` and `make test` install", extras="dev"),
    "requirements-service.txt": Lock(what="what the container of the service installs", extras="service,mirror"),
    "requirements-ci.txt": Lock(
        what="what .ci/run installs beside requirements.txt, but for torch",
        extras="dev,spark,datasets,models,mcp",
        others=("transformers[serving]", "playwright", "nbclient", "ipykernel", "polars"),
        beside="requirements.txt",
    ),
    "requirements-tools.txt": Lock(what="what looks at the service in .ci/run, apart", others=("schemathesis",)),
    "requirements-audit.txt": Lock(what="what `make audit` asks with", others=("pip-audit",)),
}


def main() -> None:
    """Write the files, or those that are named."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "venv" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", str(python.parents[1])], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PIP_TOOLS], check=True)
        for name in sys.argv[1:] or LOCKS:
            lock = LOCKS[name]
            found = entries(_compiled(python, lock, Path(folder)))
            known = entries((SCRIPTS / lock.beside).read_text(encoding="utf-8")) if lock.beside else {}
            kept = [text for pin, text in found.items() if pin not in known]
            head = f"# Versions and hashes of {lock.what}; written by `make lock`.\n"
            (SCRIPTS / name).write_text(head + "".join(kept), encoding="utf-8")


def _compiled(python: Path, lock: Lock, folder: Path) -> str:
    """The text that pip-tools writes."""
    made, others = folder / "requirements.txt", folder / "others.in"
    made.unlink(missing_ok=True)
    others.write_text("\n".join(lock.others), encoding="utf-8")
    flags = ["quiet", "generate-hashes", "allow-unsafe", "strip-extras", "no-header", "no-annotate",
             "no-emit-index-url", "no-emit-trusted-host", "no-emit-find-links", "no-emit-options"]  # fmt: skip
    options = [f"--{flag}" for flag in flags] + ["--constraint=scripts/constraints.txt", f"-o{made}"]
    sources = [str(others)] if lock.others else []
    if lock.extras:
        options += [f"--extra={extra}" for extra in lock.extras.split(",")]
        options += [] if lock.others else ["--build-deps-for=editable"]
        sources.append("pyproject.toml")
    subprocess.run([str(python), "-m", "piptools", "compile", *options, *sources], check=True, cwd=ROOT)
    return made.read_text(encoding="utf-8")


def entries(text: str) -> dict[str, str]:
    """The entries of a file by `name==version`."""
    lines = [line for line in text.splitlines() if not LEFT_OUT.match(line)]
    found = re.split(r"^(?=[A-Za-z0-9])", "\n".join(lines), flags=re.MULTILINE)[1:]
    return {entry.split()[0]: entry.rstrip("\n") + "\n" for entry in found}


if __name__ == "__main__":
    main()
