"""Failures that say nothing of the code: nvcc was not given all that a compile command says.

What it is not given is `cudalint.compiledb`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from cudalint.compile.model import Compilation, CompiledFile
from cudalint.compiledb.model import CompileCommand
from cudalint.run import Skip

_NOT_FOUND = ("No such file or directory", "cannot open source file", "file not found")


def without_excused(
    files: Iterable[CompiledFile], commands: Mapping[str, Sequence[CompileCommand]]
) -> tuple[list[CompiledFile], list[Skip]]:
    """The files without such failed compilations, and what was left out because of them.

    A header that is not found is excused where folders or files of arguments were
    not followed, any failure where macros, forced includes or relocatable code were left out.
    """
    kept: list[CompiledFile] = []
    excused: list[str] = []
    for file in files:
        own = commands.get(file.path, ())
        standing = tuple(c for c in file.compilations if not _is_excused(c, own))
        if len(standing) < len(file.compilations):
            excused.append(file.path)
        if standing:
            kept.append(msgspec.structs.replace(file, compilations=standing))
    if not excused:
        return kept, []
    more = f" and {len(excused) - 1} more" if len(excused) > 1 else ""
    why = "nvcc fails, and can't be given all that the compile command says"
    return kept, [Skip(f"CU5 for {excused[0]}{more}", why)]


def _is_excused(compilation: Compilation, commands: Sequence[CompileCommand]) -> bool:
    if not compilation.failure:
        return False
    if any(command.altered for command in commands):
        return True
    texts = (compilation.failure, *(found.text for found in compilation.diagnostics))
    lost = any(words in text for text in texts for words in _NOT_FOUND)
    return lost and any(command.partial for command in commands)
