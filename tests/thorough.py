"""Whether tests that look at samples by default look at everything: `make test-thorough`."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("GRANOLA_THOROUGH") == "1"
