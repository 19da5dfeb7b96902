"""Recognises terminal results: the copy of a result to the host, and the wait for it.

An asynchronous copy from the device into memory that the caller gave, then one
wait for that stream, then the return: the function is there to fetch a result,
and has to wait. What is said about it, the rules say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.devicecode.devicecode import enclosing
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.syntax.model import Call, FileModel, Function

_COPIES = frozenset(
    {
        *("cudaMemcpyAsync", "cudaMemcpy2DAsync", "cudaMemcpy3DAsync"),
        *("cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2"),
    }
)
_WAITS = frozenset({"cudaStreamSynchronize", "cuStreamSynchronize"})
_WORK = regex(r"^(?:cuda|cu|cublas|cudnn|nccl)[A-Z]\w*")
_HARMLESS = regex(r"^cu(?:da)?(?:GetLastError|PeekAtLastError|GetError\w+|EventElapsedTime)$")
_WORD = regex(r"[A-Za-z_]\w*")


def terminal_copy(wait: Call, file: FileModel) -> Call | None:
    """The copy whose result `wait` waits for as the last thing its function does, or None."""
    if wait.name not in _WAITS or wait.function < 0 or wait.via_macro:
        return None
    root = enclosing(file, wait.function)
    if root < 0:
        return None
    stream = _text(wait, 0)
    calls = [c for c in file.calls if c.function >= 0 and enclosing(file, c.function) == root]
    if any(_is_work(c) and c.span.start > wait.span.end for c in calls):
        return None
    if sum(c.name in _WAITS for c in calls) > 1:
        return None
    if any(
        launch.function >= 0
        and enclosing(file, launch.function) == root
        and launch.span.start > wait.span.end
        for launch in file.launches
    ):
        return None
    copies = [c for c in calls if c.span.end <= wait.span.start and _fetches(c, file, root)]
    return next((c for c in copies if c.arguments[-1].text == stream), None)


def _fetches(call: Call, file: FileModel, root: int) -> bool:
    """Whether `call` copies from the device into what a parameter of the function points to."""
    if call.name not in _COPIES or len(call.arguments) < 4:
        return False
    kinds = [argument.text for argument in call.arguments]
    if call.name.startswith("cuda") and "cudaMemcpyDeviceToHost" not in kinds:
        return False
    return _is_out_parameter(_WORD.findall(kinds[0]), file.functions[root])


def _is_out_parameter(words: list[str], function: Function) -> bool:
    return any(
        parameter.name in words and ("*" in parameter.type or "&" in parameter.type)
        for parameter in function.parameters
        if parameter.name
    )


def _is_work(call: Call) -> bool:
    return bool(_WORK.match(call.name)) and not _HARMLESS.match(call.name)


def _text(call: Call, place: int) -> str:
    arguments = call.arguments
    return arguments[place].text if place < len(arguments) else ""
