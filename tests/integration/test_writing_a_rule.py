"""docs/writing-a-rule.md, followed to the letter where plugins can be installed."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest

from transcripts import follow

PAGE = Path(__file__).parents[2] / "docs" / "writing-a-rule.md"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Programs of an environment that sees the packages of this one; pip installs offline."""
    folder = tmp_path / "venv"
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    seen = [path for path in sys.path if path.endswith(("-packages", "/src"))]
    (packages / "surrounding.pth").write_text("\n".join(seen) + "\n")
    for name in ("cudalint", "pip", "pytest"):
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec {folder}/bin/python -m {name} "$@"\n')
        program.chmod(0o755)
    offline = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    path = f"{folder}/bin{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return {**kept, **offline, "PATH": path}


def test_a_rule_from_its_stub_to_a_finding(tmp_path: Path, environment: dict[str, str]) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    guide = PAGE.read_text()
    assert follow(guide, folder, environment) == guide


def test_it_is_read_in_ten_minutes() -> None:
    assert len(PAGE.read_text().split()) <= 2000  # at 200 words a minute
