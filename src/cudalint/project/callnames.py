"""What calls mean whose name is an object-like macro: `#define gpuFree cudaFree`.

Portability layers name every call of the API so. Here such calls get the name
that the macro stands for, once for all rules. Macros with parameters, and
macros that stand for more than a name, are the syntax's business.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.project.includes import Includes
    from cudalint.syntax.model import Call, FileModel

_OURS = regex(r"(?:::)?cu(?:da)?[A-Z]\w*")
_CHAIN = 8


def with_meanings(models: Mapping[str, FileModel], includes: Includes) -> Mapping[str, FileModel]:
    """The models, with calls named by what their names stand for in their file and its includes.

    Spans stay where the macro's name is written. A name with several meanings
    has the one that is CUDA's, if there is only one such; a meaning for debugging
    builds alone is none, and so is one of a name that a function bears too.
    """
    own = {path: found for path, model in models.items() if (found := _definitions(model))}
    if not own:
        return models
    meant = dict(models)
    known: dict[tuple[str, ...], dict[str, str]] = {}
    for path, model in models.items():
        called = {call.name for call in model.calls}
        files = (path, *includes.closure(path)) if called else ()
        seen = tuple(p for p in files if p in own)
        if all(own[p].keys().isdisjoint(called) for p in seen):
            continue
        if seen not in known:
            known[seen] = _meanings([own[p] for p in seen])
        borne = {function.name for p in files for function in models[p].functions}
        meanings = known[seen]
        kept = {name: meanings[name] for name in called - borne if name in meanings}
        meant[path] = _renamed(model, kept)
    return meant


def _definitions(model: FileModel) -> dict[str, set[str]]:
    """The names that macros of one file stand for, by the macro's name."""
    found = [
        macro
        for macro in model.macros
        if macro.parameters is None and macro.body.replace("::", "").isidentifier()
    ]
    if not found:
        return {}
    from cudalint.hostcode.coldregions import debug_regions

    debugging = list(debug_regions(model)) if model.regions else []
    table: dict[str, set[str]] = {}
    for macro in found:
        hidden = any(span.start <= macro.span.start < span.end for span in debugging)
        if not hidden and macro.body != macro.name:
            table.setdefault(macro.name, set()).add(macro.body)
    return table


def _meanings(tables: list[dict[str, set[str]]]) -> dict[str, str]:
    every: dict[str, set[str]] = {}
    for table in tables:
        for name, bodies in table.items():
            every.setdefault(name, set()).update(bodies)
    chosen = {name: body for name, bodies in every.items() if (body := _chosen(bodies))}
    return {name: _followed(body, chosen) for name, body in chosen.items()}


def _chosen(bodies: set[str]) -> str | None:
    if len(bodies) > 1:
        bodies = {body for body in bodies if _OURS.fullmatch(body)}
    return next(iter(bodies)) if len(bodies) == 1 else None


def _followed(body: str, chosen: Mapping[str, str]) -> str:
    """What `body` stands for, itself perhaps the name of such a macro."""
    for _ in range(_CHAIN):
        if body not in chosen:
            break
        body = chosen[body]
    return body


def _renamed(model: FileModel, meanings: Mapping[str, str]) -> FileModel:
    calls = tuple(
        _meaning(call, meanings[call.name]) if call.name in meanings else call
        for call in model.calls
    )
    return msgspec.structs.replace(model, calls=calls)


def _meaning(call: Call, body: str) -> Call:
    """`call` by its other name; a method's stays, as the method's own name does."""
    if call.receiver:
        return call
    before, name, after = call.callee.rpartition(call.name)
    if not name or (before and body.startswith("::")):
        return call
    return msgspec.structs.replace(
        call, name=body.rpartition("::")[2], callee=f"{before}{body}{after}"
    )
