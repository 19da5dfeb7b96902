"""Files made to be expensive: each has an end, and an outcome in words.

What each costs is benchmarks/hostile.py's to say; here all are small, save the
traps, which once took minutes. What takes 20 seconds of a processor is stopped there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "hostile.py"


@pytest.mark.skipif(sys.platform == "win32", reason="the program forks")
def test_every_case_has_an_end() -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--size", "600"], capture_output=True, text=True, timeout=900
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()[1:-1]
    assert len(lines) > 100
    outcomes = {line[:26].strip(): line[51:].removeprefix("ABOVE THE LIMIT ") for line in lines}
    odd = {
        name: outcome
        for name, outcome in outcomes.items()
        if not outcome.endswith((" findings", "'."))
    }
    assert odd == {}
