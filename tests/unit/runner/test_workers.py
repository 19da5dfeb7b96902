"""map_in_processes: results in order, deaths counted, and nobody left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cudalint.workers import Died, map_in_processes

LARGE = 1_000_000
"""More than a pipe holds."""


def _square(number: int) -> int:
    return number * number


def _die_over_threes(number: int) -> bytes:
    if number % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return bytes([number]) * LARGE


@pytest.mark.parametrize("jobs", [1, 2, 5, 50])
def test_results_come_in_order(jobs: int) -> None:
    assert list(map_in_processes(_square, range(20), jobs)) == [n * n for n in range(20)]
    assert multiprocessing.active_children() == []


def test_nothing_to_do() -> None:
    assert list(map_in_processes(_square, (), 2)) == []


def test_a_worker_that_dies_costs_its_item_alone() -> None:
    found = list(map_in_processes(_die_over_threes, range(10), 2))
    assert [isinstance(one, Died) for one in found] == [n % 3 == 0 for n in range(10)]
    assert found[4] == bytes([4]) * LARGE


def test_an_iteration_given_up_leaves_no_process() -> None:
    results = map_in_processes(_square, range(1000), 2)
    assert next(results) == 0
    del results
    assert multiprocessing.active_children() == []


PROGRAM = """
import os, sys, time
from cudalint.workers import map_in_processes

def work(number):
    with open(sys.argv[1], "a") as file:
        file.write(f"{os.getpid()}\\n")
    return bytes(3_000_000)

for result in map_in_processes(work, range(100_000), 3):
    time.sleep(0.001)
"""


@pytest.mark.parametrize("attempt", range(3))
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_at_any_moment_ends_all(
    number: signal.Signals, attempt: int, tmp_path: Path
) -> None:
    """Even SIGKILL: the workers see that the pipe to their parent has ended."""
    pids = tmp_path / "pids"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(pids)],
        stderr=subprocess.DEVNULL,
        # What runs the tests may itself be one that the signal doesn't reach.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL) if number != 9 else None,
    )
    while not pids.exists() or len(set(pids.read_text().split())) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.013 * attempt)
    process.send_signal(number)
    code = process.wait(timeout=60)
    expected = {signal.SIGINT: (1, 130, -2), signal.SIGKILL: (-9,)}
    assert code in expected.get(number, (128 + number,))
    deadline = time.monotonic() + 20
    for pid in set(pids.read_text().split()):
        while Path(f"/proc/{pid}").exists():
            assert time.monotonic() < deadline, "a worker outlived its parent"
            time.sleep(0.01)
