"""A bounded run of what `make faults` runs longer: kills at random moments, and what they leave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("killing.py")


def test_killed_at_random_moments() -> None:
    """In a process of its own, which has one thread and may fork."""
    command = [sys.executable, str(PROGRAM), "--kills", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert [line.partition(": 2 kills in ")[1] for line in done.stdout.splitlines()] == [
        ": 2 kills in "
    ] * 7
