"""rdflib, which reads exports here as somebody else's reader, with literals as they are written."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import rdflib


@contextmanager
def lexical_forms() -> Iterator[None]:
    """Without Python's dates: they know no year 0, and rdflib writes a traceback for each."""
    logger = logging.getLogger("rdflib.term")
    disabled, normalize = logger.disabled, rdflib.NORMALIZE_LITERALS
    logger.disabled = True
    rdflib.NORMALIZE_LITERALS = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        logger.disabled = disabled
        rdflib.NORMALIZE_LITERALS = normalize
