"""Work in a process forked for it, and its answer by a pipe.

The process may do what it likes: it has a session of its own and limits on time and
memory, and is killed with all that it started.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

MEMORY = 6 * 1024**3
SURVIVED, KILLED, TIMEOUT = "survived", "killed", "timeout"


def forked(work: Callable[[], str], seconds: float) -> tuple[str, str]:
    """What `work` says in a process of its own: the test that failed, or "" if none did.

    Returns the outcome and that test. `seconds` limits its time on the processor; at
    ten times as long on the clock, too, it ends. A process that ends without a word (a
    crash, an exit, no memory) has killed its mutant.
    """
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(read)
        _run(work, seconds, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.readline().decode()
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGPROF):
        return TIMEOUT, ""
    if said == "\n":
        return SURVIVED, ""
    return KILLED, said.strip() or "(the process ended)"


def _run(work: Callable[[], str], seconds: float, write: int) -> None:
    """In the child: never returns, and is heard through the pipe alone."""
    try:
        os.setsid()
        for number in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 10 * seconds)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        os.write(write, work().replace("\n", " ").encode() + b"\n")
    finally:
        os._exit(1)


def together(count: int, work: Callable[[int], None]) -> None:
    """Do `work` in `count` forked processes, each with its number. Raises ChildProcessError."""
    children = []
    sys.stdout.flush()
    for number in range(count):
        child = os.fork()
        if not child:
            code = 1
            try:
                work(number)
                code = 0
            finally:
                sys.stderr.flush()
                os._exit(code)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(codes):
        raise ChildProcessError(f"of {count} processes, these exit codes: {codes}")
