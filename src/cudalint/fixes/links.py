"""Where a file of the project really lies: links are followed, but never out of the project."""

from __future__ import annotations

import os
from pathlib import Path


def leads_out(root: Path, path: str) -> str | None:
    """Where `path`, relative to `root`, leads by links when that is outside `root`; else None.

    A path that says itself that it lies elsewhere (`../other/a.cu`) may be meant.
    """
    named = Path(os.path.normpath(root / path))
    real = os.path.realpath(named)
    allowed = root if named.is_relative_to(root) else named.parent
    return None if Path(real).is_relative_to(os.path.realpath(allowed)) else real
