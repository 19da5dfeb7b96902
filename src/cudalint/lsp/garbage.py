"""When garbage is collected in the server: between runs, never in the midst of one.

The models of a project are hundreds of thousands of objects that stay. To look at all of
them takes longer than a keystroke may; so what a collection leaves is looked at no more,
but for once in a long while.
"""

from __future__ import annotations

import gc

_MOST = 16
_WHOLE = 500
"""After how many runs garbage waits no longer, and after how many all there is is looked at."""


class Garbage:
    """The garbage of one process, whose own collecting is off."""

    def __init__(self) -> None:
        self._waiting = 0
        self._runs = 0

    def left_by_a_run(self) -> None:
        """Another run is over."""
        self._waiting += 1
        self._runs += 1

    def collect(self, *, at_rest: bool) -> None:
        """Collect what runs have left, if there is no other run just now, or it is much."""
        if self._waiting == 0 or not (at_rest or self._waiting >= _MOST):
            return
        self._waiting = 0
        if self._runs >= _WHOLE and at_rest:
            self._runs = 0
            gc.unfreeze()
        gc.collect()
        if at_rest:
            gc.freeze()
