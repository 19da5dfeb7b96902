"""Finds the barriers of a whole thread block: calls, methods and instructions.

A barrier for part of a block (a warp, or a named one with a count) is none here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.syntax.model import Assembly, Call, FileModel

_CALLS = frozenset(
    {"__syncthreads", "__syncthreads_or", "__syncthreads_and", "__syncthreads_count"}
)
_INSTRUCTION = regex(
    r"\b(?:bar|barrier)(?:\.cta)?\.(?:sync|red\S*)(?:\.aligned)?\s+(?:%?\w+)\s*(?:;|$)"
)
_THIS_BLOCK = regex(r"\bthis_thread_block\s*\(\s*\)|\bthread_block\b(?!_tile)")


def barriers(model: FileModel, context: Context) -> Iterator[tuple[Call | Assembly, str]]:
    """The barriers in the file's own text, each with what a reader calls it."""
    for call in model.calls:
        if call.via_macro and call.use is None:
            continue
        if call.name in _CALLS and not call.receiver:
            yield call, call.name
        elif call.name == "sync" and _is_of_block(call, model, context):
            yield call, call.callee
    for asm in model.assembly:
        if not (asm.via_macro and asm.use is None) and (
            instruction := _INSTRUCTION.search(asm.text)
        ):
            yield asm, instruction.group().split()[0]


def _is_of_block(call: Call, model: FileModel, context: Context) -> bool:
    """Whether `g.sync()` or `cg::sync(g)` is about the whole block."""
    arguments = call.arguments
    group = call.receiver if not arguments else arguments[0].text
    if not group or (call.receiver and arguments):
        return False
    if "this_thread_block" in group:
        return "tiled_partition" not in group
    bindings = context.bindings(model.path, call.function)
    if bindings is None or not group.isidentifier():
        return False
    local = bindings.find(group, (call.use or call.span).start)
    if local is None:
        return False
    if "auto" not in local.type:
        return _THIS_BLOCK.search(local.type) is not None
    return any(
        _THIS_BLOCK.search(text) and "tiled_partition" not in text
        for text in (bindings.code[value.start : value.end] for value in local.values)
    )
