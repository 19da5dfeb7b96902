"""Functions that are defined with the name of their namespace before their own.

`void a::f() {}` reads like a method; only the rest of the run tells that `a` is
a namespace. Here such functions lose their owner, once for all rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from cudalint.syntax.model import FileModel


def with_owners(models: Mapping[str, FileModel]) -> Mapping[str, FileModel]:
    """The models, with no owner for functions whose owner is a namespace and no class."""
    classes = {record.name for model in models.values() for record in model.structs}
    unknown = {
        path: owners
        for path, model in models.items()
        if (owners := {f.owner for f in model.functions if f.owner} - classes)
    }
    if not unknown:
        return models
    namespaces = {
        part
        for model in models.values()
        for function in model.functions
        for part in (function.scope[:-1] if function.owner else function.scope)
    } - classes
    corrected = dict(models)
    for path, owners in unknown.items():
        if not namespaces.isdisjoint(owners):
            corrected[path] = _without(models[path], namespaces & owners)
    return corrected


def _without(model: FileModel, namespaces: set[str]) -> FileModel:
    functions = tuple(
        msgspec.structs.replace(function, owner="") if function.owner in namespaces else function
        for function in model.functions
    )
    return msgspec.structs.replace(model, functions=functions)
