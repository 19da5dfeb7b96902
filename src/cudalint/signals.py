"""Ends a stage's child processes when the process itself is told to end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into SystemExit, so that the children can be ended first.

    They would outlive a process that just dies: compilers are in sessions of
    their own, and workers wait for their next task. A handler that somebody else
    has set stays, and so does every handler outside the main thread.
    """
    import signal
    import threading

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    ours = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in ours:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
