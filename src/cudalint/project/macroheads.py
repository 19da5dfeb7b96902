"""Kernels whose `__global__` stands in a macro of another file.

`MY_KERNEL copy(float* to) {}` reads like a host function; only the header that
defines `MY_KERNEL` as `static __global__ void` tells otherwise. Macros of the
file itself are expanded when it is read (`cudalint.syntax.heads`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel, Function

_WORD = regex(r"[A-Za-z_]\w*")


def with_kernels(models: Mapping[str, FileModel]) -> Mapping[str, FileModel]:
    """The models, with functions as kernels whose head has a word that some file makes one."""
    heads = _kernel_macros(models)
    if not heads:
        return models
    corrected = dict(models)
    for path, model in models.items():
        functions = tuple(_read(function, heads) for function in model.functions)
        if any(a is not b for a, b in zip(functions, model.functions, strict=True)):
            corrected[path] = msgspec.structs.replace(model, functions=functions)
    return corrected


def _kernel_macros(models: Mapping[str, FileModel]) -> dict[str, tuple[str, ...]]:
    """The words of each object-like macro that ends in `__global__`, whichever macros are between.

    Where a name has several definitions, the first that does counts: the others
    are for builds without CUDA.
    """
    bodies: dict[str, list[tuple[str, ...]]] = {}
    if not any("__global__" in m.body for model in models.values() for m in model.macros):
        return {}
    for path in sorted(models):
        for macro in models[path].macros:
            if macro.parameters is None:
                bodies.setdefault(macro.name, []).append(tuple(_WORD.findall(macro.body)))
    found: dict[str, tuple[str, ...]] = {}
    waiting = ["__global__"]
    while waiting:
        known = waiting.pop()
        for name, variants in bodies.items():
            words = next((words for words in variants if known in words), None)
            if words is not None and name not in found:
                found[name] = (*words, *found.get(known, ()))
                waiting.append(name)
    return found


def _read(function: Function, heads: Mapping[str, tuple[str, ...]]) -> Function:
    if function.space != "host" or function.lambda_:
        return function
    word = next((word for word in function.words if word in heads), None)
    if word is None:
        return function
    made = heads[word]
    return msgspec.structs.replace(
        function,
        space="global",
        words=(*function.words, *made),
        static=function.static or "static" in made,
        return_type="void",
    )
