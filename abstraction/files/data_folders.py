"""Folders of datasets: the files of rows in them, for one split where there are several."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from abstraction.errors import RowError

SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
# Other names of splits on the Hugging Face Hub and in datasets.
_SPLIT_ALIASES = {
    "dev": "validation",
    "valid": "validation",
    "val": "validation",
    "development": "validation",
    "eval": "test",
}
_SPLITS = ("train", "validation", "test")  # names of splits at the Hugging Face Hub
# Files that commands write next to their output, and files of a dataset folder that contain no rows.
_SIDE_SUFFIXES = (".run.json", ".rejects.jsonl", ".phrasing.jsonl", ".calls.jsonl", ".manifest.json")
_SIDE_FILES = frozenset({
    "dataset_info.json", "dataset_infos.json", "rejected.jsonl", "dropped.jsonl", "state.json", "statistics.json",
})  # fmt: skip
DEEP = 3  # levels of folders that are searched


def data_files(path: Path | str, split: str | None = None) -> Sequence[Path | str]:
    """The files of rows at `path`: the file itself, or those of `split` in a folder, in the order of their names.

    The folder of a dataset has them in `data` or next to its card, named by split (test.jsonl,
    train-00000-of-00002.parquet). Raises RowError for a folder without any, for a missing split, and for several
    splits where none is named.
    """
    place = Path(path)
    if str(path) == "-" or not place.is_dir():
        return [path]
    inner = place / "data"
    files = _files_in(inner if inner.is_dir() else place)
    if not files:
        raise RowError(f"{path} is a folder without a file of rows ({', '.join(SUFFIXES)}, plain or as .gz)")
    by_split: dict[str, list[Path]] = {}
    for file in files:
        by_split.setdefault(split_of(file), []).append(file)
    if split is not None:
        canonical = canonical_split(split)
        if canonical not in by_split:
            raise RowError(f"{path} has no split {split!r}; there are {_join_names(by_split)}")
        return by_split[canonical]
    if len(by_split) > 1 and not by_split.keys() & set(_SPLITS):
        raise RowError(f"{path} is a folder with {len(files)} files of rows, {_join_names(by_split)}; name one of them")
    if len(by_split) > 1:
        raise RowError(f"{path} is a folder of {_join_names(by_split)}; name one with --split, or a file in it")
    return files


def split_of(file: Path) -> str:
    """The split that a file name gives: train, validation or test, else the name without the number of its part."""
    name = file.name.lower().removesuffix(".gz")
    stem = next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)
    words = [word for word in re.split(r"[^a-z0-9]+", stem) if word]
    split = next((known for word in words if (known := canonical_split(word)) in _SPLITS), None)
    return split or re.sub(r"-\d{5}-of-\d{5}$", "", stem)


def canonical_split(name: str) -> str:
    """ "validation" for dev, valid and val; other names in lower case."""
    word = name.strip().lower()
    return _SPLIT_ALIASES.get(word, word)


def _files_in(folder: Path) -> list[Path]:
    def files_below(place: Path, left: int) -> Iterable[Path]:
        for entry in sorted(place.iterdir()):
            if entry.name.startswith((".", "_")):  # hidden files, and folders of caches
                continue
            if entry.is_dir():
                if left:
                    yield from files_below(entry, left - 1)
            elif entry.name.removesuffix(".gz").endswith(SUFFIXES) and not _is_side_file(entry.name):
                yield entry

    return list(files_below(folder, DEEP - 1))


def _is_side_file(name: str) -> bool:
    return name in _SIDE_FILES or name.endswith(_SIDE_SUFFIXES)


def _join_names(by_split: Iterable[str]) -> str:
    return ", ".join(sorted(by_split)[:12])  # enough names for a message
