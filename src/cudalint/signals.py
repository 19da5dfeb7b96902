"""Ends a stage's child processes when the process itself is told to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LOOK_AGAIN = 0.1
"""How long a stage may wait, in seconds, before it asks again whether it has to end."""


@contextmanager
def ended_by_signals() -> Iterator[Callable[[], None]]:
    """Give a function that raises what Ctrl-C, SIGTERM or SIGHUP came to mean since.

    Children would outlive a process that just dies: compilers are in sessions of
    their own, and workers wait for their next task. The signal itself only leaves
    a note. An exception out of a handler would come in the middle of anything, a
    `fork` or a lock half taken; and the system may hand the signal to a thread
    other than the main one, whose waiting it doesn't cut short then. So who waits
    for children waits at most `LOOK_AGAIN` and calls the function. It raises
    KeyboardInterrupt or SystemExit, and so does the end of the block.

    A handler that somebody else has set stays, and so does every handler outside
    the main thread.
    """
    import signal
    import threading

    came: list[int] = []

    def note(number: int, frame: object) -> None:
        came.append(number)

    def look() -> None:
        if not came:
            return
        if came[0] == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + came[0])

    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    ours: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        ours = {n: handler for n, handler in usual.items() if signal.getsignal(n) is handler}
    for number in ours:
        signal.signal(number, note)
    try:
        yield look
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
    look()
