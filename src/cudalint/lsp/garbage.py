"""When garbage is collected in the server: between runs, never in the midst of one.

The models of a project are hundreds of thousands of objects that stay. To look at all of
them takes longer than a keystroke may; so what a collection leaves is looked at no more,
but for once in a long while.
"""

from __future__ import annotations

import gc

_WHOLE = 100
"""After so many runs all there is is looked at."""


class Garbage:
    """The garbage of one process, whose own collecting is off."""

    def __init__(self) -> None:
        self._runs = 0

    def collect(self, *, at_rest: bool) -> None:
        """Collect what a run has left; `at_rest` says that there is no other just now."""
        self._runs += 1
        if self._runs >= _WHOLE and at_rest:
            self._runs = 0
            gc.unfreeze()
        gc.collect()
        if at_rest:
            gc.freeze()
