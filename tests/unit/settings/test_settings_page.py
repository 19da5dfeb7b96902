"""docs/settings-reference.md is what the schema says, and docs/settings.md names every key."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec

from cudalint.settings.model import Settings

ROOT = Path(__file__).parents[3]


def test_the_reference_is_fresh() -> None:
    command = [sys.executable, "tools/settings_docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_key_has_its_section_and_its_place_in_the_guide() -> None:
    reference = (ROOT / "docs/settings-reference.md").read_text()
    guide = (ROOT / "docs/settings.md").read_text()
    names = [field.encode_name for field in msgspec.structs.fields(Settings)]
    assert len(names) > 20
    for name in names:
        assert f"\n## {name}\n" in reference
        assert f"`{name}`" in guide or f"`[{name}." in guide
