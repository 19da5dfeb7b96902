"""The names that the conditions of a file can depend on.

Macros that a command defines beyond these make no difference to its branches:
builds that differ in such macros alone, as in the name of the file that is
compiled, are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.compiledb.model import Defines
    from cudalint.syntax.model import FileModel

_WORD = regex(r"[A-Za-z_]\w*")


def tested_names(models: Iterable[FileModel]) -> set[str]:
    """The words of the files' conditions and macros; none where there are no conditions."""
    found: set[str] = set()
    any_region = False
    for model in models:
        any_region = any_region or bool(model.regions)
        for region in model.regions:
            found.update(_WORD.findall(region.condition))
        for macro in model.macros:
            found.update(_WORD.findall(macro.body))
    return found if any_region else set()


def distinct(every: Iterable[Defines], names: set[str]) -> list[Defines]:
    """What each says of `names`, each answer once, in order."""
    return list(
        dict.fromkeys(
            tuple((name, text) for name, text in defines if name in names) for defines in every
        )
    )
