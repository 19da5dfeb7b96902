"""CU001 syntax-error."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.context import Context
from cudalint.finding import Finding, Level
from cudalint.rule import Example, FileRule, NoOptions
from cudalint.syntax.model import FileModel


class SyntaxErrorRegion(FileRule):
    """A part of a kernel or launcher that is no CUDA C++.

    What it does
        Reports each region that stays unreadable in a kernel or in a function
        that launches one, or that hides a `__global__`, a `<<<` or a
        `__shared__`. Other regions that the parser does not follow are only
        counted in the run's notifications.

    Why it matters
        No rule looks inside such a region, so a clean report would say nothing
        about it. A compiler takes none of it either.

    Example
            extern "C" __global__ void scale(float* o) { o[0] = (1.0f; }

    How to fix
        Correct the code. If nvcc compiles the file, the fault is cudalint's:
        please report it with the lines in question.

    Sources
        The CUDA C++ Programming Guide, "C++ Language Extensions"; ISO C++17.
    """

    code = "CU001"
    name = "syntax-error"
    level = Level.WARNING
    messages = {
        "unreadable": "This is no CUDA C++ that can be read, so no rule looked at it; correct it.",
    }

    def check(self, file: FileModel, context: Context, options: NoOptions) -> Iterator[Finding]:
        """Report each broken region that matters."""
        for region in file.broken:
            if region.matters:
                yield self.report("unreadable", region.span)
