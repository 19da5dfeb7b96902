"""The pictures in the documentation: the terminal's is what is printed, and asks no other host."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


def test_the_picture_of_the_terminal_is_fresh() -> None:
    command = [sys.executable, "tools/pictures.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_needs_nothing_of_another_host() -> None:
    text = (PICTURES / "terminal.svg").read_text()
    assert "CU301" in text
    assert "url(http" not in text
    assert "@font-face" not in text


def test_every_picture_is_shown_somewhere() -> None:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "".join(page.read_text() for page in pages)
    names = [picture.name for picture in PICTURES.iterdir()]
    assert sorted(names) == ["page.png", "terminal.svg"]
    for name in names:
        assert f"pictures/{name})" in text
