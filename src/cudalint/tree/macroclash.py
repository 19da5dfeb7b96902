"""`-D` flags of a target that its own files override with a `#define`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from cudalint.regex import regex
from cudalint.source import SourceFile
from cudalint.syntax.model import FileModel, Macro
from cudalint.tree.model import Target, Value


class MacroClash(msgspec.Struct, frozen=True):
    """The flag `flag` (`-DNAME=value`) and the `#define` that takes its effect away."""

    flag: Value
    macro: Macro


def macro_clashes(
    target: Target, models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]
) -> Iterator[MacroClash]:
    """Each clash of a flag with one of the target's files, in order of flag and path."""
    rows = [*target.hardware.flags]
    for layer in reversed(target.layers):
        rows += layer.manifest.flags if layer.manifest is not None else ()
    defined = [(row, *_macro_of(row)) for row in rows if row.value[0].startswith("-D")]
    if not defined:
        return
    files = sorted({*target.sources.values(), *target.headers.values()})
    known = [(models[path], sources[path].data) for path in files if path in models]
    for row, name, value in defined:
        for model, data in known:
            for macro in model.macros:
                if macro.name == name and _overrides(macro, value, model, data):
                    yield MacroClash(row, macro)
                    break


def _macro_of(row: Value) -> tuple[str, str]:
    name, equals, value = row.value[0][len("-D") :].partition("=")
    return name, value if equals else "1"


def _overrides(macro: Macro, value: str, model: FileModel, data: bytes) -> bool:
    """Whether a `#define` replaces another value, and neither a guard nor `#undef` is about it."""
    start = macro.span.start
    if macro.parameters is None and macro.body.split() == value.split():
        return False
    if any(dead.covers(start) for dead in model.dead):
        return False
    about = regex(rf"\bdefined\s*\(?\s*{macro.name}\b")
    tested = any(about.search(region.condition) for region in model.regions)
    for region in model.regions:
        guards = about.search(region.condition) or (tested and region.condition == "else")
        if guards and region.span.covers(start):
            return False
    undefined = regex(rb"^\s*#\s*undef\s+" + macro.name.encode() + rb"\b", re.MULTILINE)
    return undefined.search(data, 0, start) is None
