"""Macros that a file defines only where nobody else did: `#ifndef TILE`, `#define TILE 64`.

What a build defines instead beats such a definition, and no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel


def default_names(model: FileModel) -> frozenset[str]:
    """The macros all of whose definitions in the file stand in a branch on their absence."""
    if not model.regions:
        return frozenset()
    absent = [
        (condition[len("!defined") :].strip("()"), region.span)
        for region in model.regions
        if (condition := "".join(region.condition.split())).startswith("!defined")
    ]
    every = {macro.name for macro in model.macros}
    firm = {
        macro.name
        for macro in model.macros
        if not any(
            name == macro.name and span.start <= macro.span.start < span.end
            for name, span in absent
        )
    }
    return frozenset(every - firm)
