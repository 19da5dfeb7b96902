"""Which device functions some kernel of the run reaches, by name.

A device function that no kernel calls is dropped by the compiler: what stands in
it matters only to those who call it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cudalint.devicecode.devicecode import enclosing, on_device

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel, Function


class DeviceReach:
    """The names that are called from kernels, directly or not, in any file."""

    def __init__(self, models: Mapping[str, FileModel]) -> None:
        called: dict[str, set[str]] = {}
        waiting: set[str] = set()
        for model in models.values():
            waiting.update(kernel.name for kernel in model.kernels)
            within: dict[int, set[str]] = {}
            for call in model.calls:
                within.setdefault(call.function, set()).add(call.name)
            for function, names in within.items():
                if function >= 0 and on_device(model, function):
                    name = model.functions[enclosing(model, function)].name
                    called.setdefault(name, set()).update(names)
        self._names: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in self._names:
                self._names.add(name)
                waiting |= called.get(name, set()) - self._names

    def holds(self, function: Function) -> bool:
        """Whether a kernel may run it; constructors and operators are called without a name."""
        plain = function.name != function.owner and not function.name.startswith("operator")
        return not plain or function.name in self._names
