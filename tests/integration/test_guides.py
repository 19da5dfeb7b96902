"""The guides show what the commands in them print."""

from __future__ import annotations

from pathlib import Path

import pytest

from transcripts import rerun

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "name", ["README.md", "docs/adopting.md", "docs/analysis.md", "docs/fixing.md"]
)
def test_what_is_shown_is_what_is_printed(name: str) -> None:
    guide = (ROOT / name).read_text()
    assert "```console" in guide
    assert rerun(guide) == guide
