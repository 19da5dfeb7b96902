"""How one translation unit is compiled, as far as cudalint looks at it: plain data."""

from __future__ import annotations

import msgspec

Defines = tuple[tuple[str, str | None], ...]
"""Names of macros with the texts that they stand for; None for one that is undefined."""


class ForcedInclude(msgspec.Struct, frozen=True):
    """A header of `-include`: its name as written, and where that is from the command's folder.

    `path` is relative to the project root, None where it lies outside.
    """

    name: str
    path: str | None


class CompileCommand(msgspec.Struct, frozen=True):
    """One command of a compilation database.

    Folders are relative to the project root, "." for the root itself, in the
    order in which they are searched: `quoted` for `#include "…"` alone, before
    `folders`, which serve both forms. Folders outside the root are in neither.
    `defines` has each name once, `archs` the machine archs that are asked for
    ("sm_90a"). `flags` are the arguments that nvcc may be given, bar folders.
    `partial`: it names folders outside the root, or files of arguments, so that
    what is included can't all be found. `altered`: nvcc is not given all that it
    defines, includes by force, or links with other files.
    """

    quoted: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    forced: tuple[ForcedInclude, ...] = ()
    defines: Defines = ()
    archs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    partial: bool = False
    altered: bool = False


class ReadCommand(msgspec.Struct, frozen=True):
    """A command, and what of it was not taken.

    `outside` are folders outside the root, as absolute paths; `responses` the
    files of arguments that it names (they are never opened); `refused` flags
    that nvcc is not given because of their values.
    """

    command: CompileCommand
    outside: tuple[str, ...] = ()
    responses: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
