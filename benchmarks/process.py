"""One process from start to end: what it takes, its children included."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Spent(NamedTuple):
    """Wall and processor seconds, and the most memory that one process of them held, in MB."""

    wall: float
    processor: float
    peak: float


class FailedError(Exception):
    """A process that ended in a way that nobody expects."""


def spend(
    command: Sequence[str | Path], folder: Path, env: dict[str, str], codes: Sequence[int] = (0, 1)
) -> Spent:
    """Run a command in `folder`. Raises FailedError for an exit code that is not in `codes`."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in codes:
            said.seek(0)
            last = said.read().decode("utf-8", "replace")[-2000:]
            raise FailedError(f"{command[0]} ends with {process.returncode}:\n{last}")
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
