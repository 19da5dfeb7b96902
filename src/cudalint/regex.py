"""Regular expressions that are compiled when they are first used.

A run on one small file uses a fifth of those that there are, and compiling the others
would be a tenth of its time.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, later. A faulty pattern is told at its first use."""
    return cast("re.Pattern[AnyStr]", _Late(pattern, flags))


class _Late:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._written: tuple[Any, int] = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        compiled = self.__dict__.get("_compiled")
        if compiled is None:
            compiled = self._compiled = re.compile(*self._written)
        value = getattr(compiled, name)
        # From now on it is found without coming here.
        setattr(self, name, value)
        return value
