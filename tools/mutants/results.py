"""What came of each mutant, kept as lines of JSON: a run that is broken off goes on there."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from mutant import Mutant


@dataclass(frozen=True)
class Result:
    """`outcome` is "survived", "killed" or "timeout"; `by` the test that failed."""

    mutant: Mutant
    outcome: str
    by: str


def read_results(file: Path) -> dict[str, Result]:
    """The results by the keys of their mutants; a later one counts."""
    found = {}
    if file.exists():
        for line in file.read_text("utf-8").splitlines():
            said = json.loads(line)
            result = Result(Mutant(**said["mutant"]), said["outcome"], said["by"])
            found[result.mutant.key] = result
    return found


def add_result(file: Path, result: Result) -> None:
    """Append a line in one write, so that several processes may do so at once."""
    record = {"mutant": result.mutant.record(), "outcome": result.outcome, "by": result.by}
    line = json.dumps(record) + "\n"
    end = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(end, line.encode())
    finally:
        os.close(end)
