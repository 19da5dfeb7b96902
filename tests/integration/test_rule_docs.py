"""docs/rules.md is what the rules say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_documentation_of_the_rules_is_fresh() -> None:
    command = [sys.executable, "tools/rule_docs.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
