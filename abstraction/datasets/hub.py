"""A dataset's folder at the Hugging Face Hub, by the library's own client."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

from abstraction.errors import DatasetError
from kg.extras import install_hint

_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)?\Z", re.ASCII)


def check_hub(name: str) -> None:
    """Raise DatasetError where a folder cannot be put there: a name that is none, or no client."""
    if not _NAME.match(name):
        raise DatasetError(f"{name!r} is no dataset's name at the Hub; expected USER/NAME")
    if find_spec("huggingface_hub") is None:
        raise DatasetError(f"pushing to the Hub needs huggingface_hub: {install_hint('datasets')}")


def push_folder(folder: Path, name: str) -> str:
    """Put a folder there, in a private dataset that is made where there is none; returns its address.

    The token is that of HF_TOKEN or of `hf auth login`. Raises DatasetError where the Hub refuses or is not reached:
    the folder stays, and the message says how to push it again.
    """
    from huggingface_hub import HfApi

    hub = HfApi(endpoint=os.environ.get("HF_ENDPOINT"), library_name="granola-ladders")
    try:
        made = hub.create_repo(name, repo_type="dataset", private=True, exist_ok=True)
        hub.upload_folder(repo_id=made.repo_id, repo_type="dataset", folder_path=folder)
    except Exception as error:  # the client's, or of the library through which it asks
        why = " ".join(str(error).split())[:300] or type(error).__name__
        again = f"hf upload {name} {folder} --repo-type dataset"
        raise DatasetError(f"{folder} is built, but not at the Hub: {why}; to push it: {again}") from error
    return str(made)
