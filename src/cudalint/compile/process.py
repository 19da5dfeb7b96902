"""Running one program: no shell, no input, a limit on time and output, no child left behind.

What is run, and what its output means, others say. Standard output and error
come back as one text, in the order in which they were written.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    import subprocess

OUTPUT_LIMIT = 16 * 1024 * 1024
_LOOK_AGAIN = 0.05
_SETTLE = 0.002
_PIECE = 65536


class Outcome(msgspec.Struct, frozen=True):
    """How a program ended, and what it said.

    `how` is "exit" with its `code`, "signal" with the signal's number as `code`,
    or what it was killed for: "timeout", "output" (it said more than the limit)
    and "stopped" (the run is being given up). `output` is decoded with
    replacement characters.
    """

    how: Literal["exit", "signal", "timeout", "output", "stopped"]
    code: int
    output: str

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit status 0."""
        return self.how == "exit" and self.code == 0


class Processes:
    """The programs that one run has started; `stop` ends them all, and starts no more.

    Each is a session of its own, so that what it has started in turn (nvcc
    starts cicc, ptxas, the host compiler) is killed with it. Safe to use from
    several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[int] = set()
        self._stopped = False

    def run(
        self,
        command: Sequence[str],
        *,
        timeout: float,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        output_limit: int = OUTPUT_LIMIT,
    ) -> Outcome:
        """Run `command` in `folder` for at most `timeout` seconds.

        Raises OSError when the program can't be started.
        """
        import subprocess

        with self._lock:
            if self._stopped:
                return Outcome("stopped", 0, "")
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=None if environment is None else dict(environment),
                start_new_session=True,
            )
            self._running.add(child.pid)
        try:
            how, output = self._listen(child, time.monotonic() + timeout, output_limit)
        finally:
            self._end(child)
        text = output.decode("utf-8", "replace")
        if how is not None:
            return Outcome(how, 0, text)
        if self._stopped:
            return Outcome("stopped", 0, text)
        code = child.returncode
        return Outcome("signal", -code, text) if code < 0 else Outcome("exit", code, text)

    def stop(self) -> None:
        """Kill every program that runs, with all that it has started."""
        with self._lock:
            self._stopped = True
            for group in self._running:
                _kill(group)

    def _listen(
        self, child: subprocess.Popen[bytes], deadline: float, limit: int
    ) -> tuple[Literal["timeout", "output"] | None, bytes]:
        """Read until the program has ended and its pipe is dry, or a limit is reached.

        A grandchild that keeps the pipe open after the program's own end is killed.
        """
        import selectors

        assert child.stdout is not None
        pipe = child.stdout.fileno()
        pieces = bytearray()
        open_ = True
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            while True:
                ended = _has_ended(child.pid)
                if ended:
                    _kill(child.pid)
                left = deadline - time.monotonic()
                if left <= 0:
                    return (None if ended else "timeout"), bytes(pieces)
                if not open_:
                    if ended:
                        return None, bytes(pieces)
                    time.sleep(min(left, _SETTLE))
                elif selector.select(0 if ended else min(left, _LOOK_AGAIN)):
                    piece = os.read(pipe, _PIECE)
                    open_ = bool(piece)
                    pieces += piece
                    if len(pieces) > limit:
                        return "output", bytes(pieces[:limit])
                elif ended:
                    return None, bytes(pieces)

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        """Kill what is left of the group, before its leader is reaped and its number free."""
        _kill(child.pid)
        with self._lock:
            self._running.discard(child.pid)
        assert child.stdout is not None
        child.stdout.close()
        child.wait()


def _has_ended(pid: int) -> bool:
    """Whether the program has ended; its exit status stays to be collected."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _kill(group: int) -> None:
    import signal

    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
