"""What each test runs: the functions of the mutated modules that it enters, and its time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from inplace import Place


@dataclass(frozen=True)
class Footprint:
    """The functions that a test entered, as file and place, and how long it took so noted."""

    passed: bool
    seconds: float
    entered: frozenset[tuple[str, Place]]


def follow(run: Callable[[], bool], files: frozenset[str]) -> Footprint:
    """Run a test and note what it enters of `files`, in whichever thread."""
    entered: set[tuple[str, Place]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename in files:
            entered.add((code.co_filename, (code.co_name, code.co_firstlineno)))

    started = time.monotonic()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        passed = run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return Footprint(passed, time.monotonic() - started, frozenset(entered))
