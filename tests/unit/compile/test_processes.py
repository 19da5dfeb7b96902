"""Programs run with limits, and no child outlives them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cudalint.compile.process import Outcome, Processes


def alive(pid: int) -> bool:
    """Whether a process runs: a zombie that waits for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in ("Z", "X")


def wait_until_dead(pid: int) -> None:
    deadline = time.monotonic() + 5
    while alive(pid):
        assert time.monotonic() < deadline, f"process {pid} is still alive"
        time.sleep(0.01)


def test_output_of_both_streams_in_order_and_the_exit_status() -> None:
    outcome = Processes().run(["sh", "-c", "echo a; echo b >&2; echo c; exit 3"], timeout=10)
    assert (outcome.how, outcome.code, outcome.output) == ("exit", 3, "a\nb\nc\n")
    assert not outcome.ok


def test_nothing_to_read_and_its_own_environment_and_folder(tmp_path: Path) -> None:
    outcome = Processes().run(
        ["/bin/sh", "-c", "cat; pwd; echo $X"],
        timeout=10,
        folder=tmp_path,
        environment={"X": "y", "PATH": os.environ["PATH"]},
    )
    assert outcome.ok
    assert outcome.output == f"{tmp_path}\ny\n"


def test_bytes_that_are_no_text_are_replaced() -> None:
    outcome = Processes().run(["printf", "\\377\\000a"], timeout=10)
    assert outcome.output == "\ufffd\x00a"


def test_a_program_that_takes_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 60 & echo $! > {pids}; (sleep 61; :) & echo $! >> {pids}; echo on; wait"
    start = time.monotonic()
    outcome = Processes().run(["sh", "-c", script], timeout=0.5)
    assert time.monotonic() - start < 5
    assert (outcome.how, outcome.output) == ("timeout", "on\n")
    for pid in pids.read_text().split():
        wait_until_dead(int(pid))


def test_a_child_left_behind_is_killed_and_does_not_hold_up_the_end(tmp_path: Path) -> None:
    start = time.monotonic()
    outcome = Processes().run(["sh", "-c", f"sleep 60 & echo $! > {tmp_path}/pid"], timeout=30)
    assert time.monotonic() - start < 5
    assert outcome.ok
    wait_until_dead(int((tmp_path / "pid").read_text()))


def test_a_program_that_closes_its_output_still_has_to_end_in_time() -> None:
    outcome = Processes().run(["sh", "-c", "exec >&- 2>&-; sleep 60"], timeout=0.3)
    assert outcome.how == "timeout"


def test_a_program_killed_by_a_signal() -> None:
    outcome = Processes().run(["sh", "-c", "kill -SEGV $$"], timeout=10)
    assert (outcome.how, outcome.code) == ("signal", 11)


def test_endless_output_is_cut() -> None:
    outcome = Processes().run(["yes"], timeout=30, output_limit=100_000)
    assert outcome.how == "output"
    assert len(outcome.output) == 100_000


def test_a_program_that_is_not_there_raises() -> None:
    with pytest.raises(FileNotFoundError):
        Processes().run(["/nonexistent/nvcc"], timeout=1)


def test_stop_ends_what_runs_and_starts_no_more() -> None:
    processes = Processes()
    outcomes = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(processes.run(["sleep", "60"], timeout=60)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    processes.stop()
    for thread in threads:
        thread.join(timeout=5)
        assert not thread.is_alive()
    assert [outcome.how for outcome in outcomes] == ["stopped"] * 3
    assert processes.run(["true"], timeout=1).how == "stopped"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, None), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_to_the_stage_ends_the_children(
    tmp_path: Path, number: signal.Signals, code: int | None
) -> None:
    """The whole of it in a process of its own, which is sent what a terminal or CI sends."""
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(
        f"#!/bin/sh\nsleep 60 & echo $! >> {tmp_path}/pids; echo $$ >> {tmp_path}/pids; wait\n"
    )
    nvcc.chmod(0o755)
    (tmp_path / "tree").mkdir()
    for name in ("a.cu", "b.cu", "c.cu"):
        (tmp_path / "tree" / name).touch()
    program = f"""
from pathlib import Path
from cudalint.compile.stage import CompileRequest, compile_files
from cudalint.compile.toolchain import Toolchain, Toolchains
tool = Toolchain({str(nvcc)!r}, "13.0.88", (13, 0), frozenset({{121}}))
names = ("a.cu", "b.cu", "c.cu")
requests = [CompileRequest(name, {str(tmp_path / "tree")!r}, "sm_121") for name in names]
compile_files(requests, Toolchains((tool,)), 2, 60.0, None)
"""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        # What runs the tests may itself be one that these signals don't reach.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 20
    pids = tmp_path / "pids"
    while not pids.exists() or len(pids.read_text().split()) < 4:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    child.send_signal(number)
    _, stderr = child.communicate(timeout=10)
    assert ("KeyboardInterrupt" in stderr) is (code is None)
    assert code is None or child.returncode == code
    for pid in pids.read_text().split():
        wait_until_dead(int(pid))
    assert list(temporary.iterdir()) == []


def test_how_programs_end() -> None:
    """All of the outcome: what was killed has no exit code, and a signal its number."""

    def run(script: str, timeout: float = 10.0, limit: int = 4) -> Outcome:
        return Processes().run(["sh", "-c", script], timeout=timeout, output_limit=limit)

    assert run("printf 1234") == Outcome("exit", 0, "1234")
    assert run("printf 12345; sleep 10") == Outcome("output", 0, "1234")
    assert run("printf 12; exit 1") == Outcome("exit", 1, "12")
    # Whoever runs the tests may have other signals ignored.
    assert run("printf 12; kill -KILL $$") == Outcome("signal", signal.SIGKILL, "12")
    assert run("printf 12; sleep 10", timeout=0.3) == Outcome("timeout", 0, "12")
    assert run("exec >&- 2>&-; sleep 10", timeout=0.3) == Outcome("timeout", 0, "")


def test_what_is_stopped_has_no_exit_code() -> None:
    processes = Processes()
    found: list[Outcome] = []
    thread = threading.Thread(
        target=lambda: found.append(processes.run(["sleep", "60"], timeout=60))
    )
    thread.start()
    while not processes._running:
        time.sleep(0.005)
    processes.stop()
    thread.join()
    assert [*found, processes.run(["true"], timeout=10)] == [Outcome("stopped", 0, "")] * 2
