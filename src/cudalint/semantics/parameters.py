"""The parameters of a file's kernels one by one, those of macro-made kernels among them.

For rules that judge parameters: with `cudalint.project.expansion`, a fault that stands
in a macro's body is told there, and one that an argument brings at the use.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from cudalint.finding import Span
from cudalint.syntax.model import FileModel, Function, Parameter


class Slot(msgspec.Struct, frozen=True):
    """The parameter `number` (from 0) of one kernel record, at `name_span`."""

    kernel: Function
    number: int
    name_span: Span
    via_macro: str
    use: Span | None

    @property
    def parameter(self) -> Parameter:
        """The parameter as the record has it."""
        return self.kernel.parameters[self.number]

    @property
    def called(self) -> str:
        """The parameter's name, or which one it is."""
        return self.parameter.name or f"parameter {self.number + 1}"


def slots(file: FileModel) -> list[Slot]:
    """Every parameter of every kernel that `file` defines."""
    return [
        Slot(kernel, number, parameter.span, kernel.via_macro, kernel.use)
        for kernel in file.kernels
        if kernel.kind == "definition"
        for number, parameter in enumerate(kernel.parameters)
    ]


def stands_in_body(file: FileModel) -> Callable[[Slot], bool]:
    """Tells whether a macro-made parameter's type is written out in the macro's body."""
    parameters = {macro.name: frozenset(macro.parameters or ()) for macro in file.macros}

    def judge(slot: Slot) -> bool:
        words = re.findall(r"\w+", slot.parameter.type)
        return not parameters.get(slot.via_macro, frozenset()).intersection(words)

    return judge
