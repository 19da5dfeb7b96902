"""Tells device code from host code, function by function.

A lambda is what its own words say or what the function around it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel


def enclosing(model: FileModel, function: int) -> int:
    """The index of the function that is no lambda around `function`, −1 for none."""
    while function >= 0 and model.functions[function].lambda_:
        function = model.functions[function].parent
    return function


def on_device(model: FileModel, function: int) -> bool:
    """Whether the function with this index is compiled for the device, be it for the host too."""
    return _any_of(model, function, ("global", "device", "host device"))


def device_only(model: FileModel, function: int) -> bool:
    """Whether the function with this index never runs on the host."""
    return _any_of(model, function, ("global", "device"))


def _any_of(model: FileModel, function: int, spaces: tuple[str, ...]) -> bool:
    while function >= 0:
        current = model.functions[function]
        if current.space in spaces:
            return True
        if not current.lambda_:
            return False
        function = current.parent
    return False
