"""The guides show what the commands in them print."""

from __future__ import annotations

from pathlib import Path

import pytest

from transcripts import rerun

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["adopting.md", "fixing.md"])
def test_what_is_shown_is_what_is_printed(name: str) -> None:
    guide = (DOCS / name).read_text()
    assert guide.count("```console") >= 3
    assert rerun(guide) == guide
