"""`granola snapshot info`: what a snapshot holds, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from granola.runs.settings import Run, Setting
from granola.runs.shared_settings import AsJson
from granola.runs.snapshots.manifest_text import COUNTED, described
from granola.terminal_lines import show_lines
from kg.web.addresses import scrubbed, without_secrets

AnySnapshot = Annotated[str, Setting("A snapshot file, or bolt://HOST:PORT of a mirror.", positional=True)]


@dataclass(frozen=True, kw_only=True)
class InfoRun(Run):
    """Say what a snapshot holds, and what it was made from and how."""

    verb: ClassVar[str] = "snapshot info"

    snapshot: AnySnapshot
    as_json: AsJson = False

    def run(self) -> ManifestShown:
        """Read the manifest. Raises DamagedSnapshotError where it does not count what there is."""
        from kg.errors import DamagedSnapshotError
        from kg.store import is_address, open_store

        with open_store(self.snapshot) as store:
            manifest = dict(store.manifest())
        # Written before secrets in addresses were kept out of manifests, it may hold some.
        if manifest.get("sources"):
            manifest["sources"] = [
                {**source, "name": without_secrets(str(source["name"]))} for source in manifest["sources"]
            ]
        if manifest.get("command"):
            manifest["command"] = scrubbed(str(manifest["command"]))
        counts = manifest["counts"]
        if lacking := [name for name in COUNTED if not isinstance(counts.get(name), int)]:
            raise DamagedSnapshotError(f"{self.snapshot} is damaged: its manifest does not count {', '.join(lacking)}")
        size = None if is_address(self.snapshot) else Path(self.snapshot).stat().st_size
        about = {"entities": counts["entities"], "statements": counts["statements"], "bytes": size, **manifest}
        return ManifestShown(manifest=about, as_json=self.as_json)


@dataclass(frozen=True, kw_only=True, slots=True)
class ManifestShown:
    """A manifest."""

    manifest: Mapping[str, Any]
    as_json: bool

    @property
    def failed(self) -> bool:
        """Never."""
        return False

    def show(self) -> None:
        """It in words, or as JSON."""
        import orjson

        if self.as_json:
            print(orjson.dumps(self.manifest, option=orjson.OPT_INDENT_2).decode())
        else:
            show_lines(*described(dict(self.manifest)))
