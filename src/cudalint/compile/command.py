"""The command line of one compile, and what may never stand in it.

nvcc builds shell command lines out of its arguments, between double quotes: a
file called `$(command).cu` would run the command. So a path is passed only when
each of its characters is known to be harmless, and a flag only when it is on the
allow-list of `cudalint.tree.flags`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from cudalint.compile.request import CompileRequest
from cudalint.regex import regex
from cudalint.tree.flags import parse_flags

_OUTPUT = "out.cubin"
_LISTING = "out.d"
_PTX = "out.ptx"
_CUBIN = "-cubin"
_ARCH = regex(r"sm_\d+[af]?")
_UNSAFE = regex(r"[\x00-\x1f\x7f\"$\\`]")
_UNSAFE_IN_TREE = regex(r"[\x00-\x1f\x7f!\"$&'*;<>?\\^`|]")
"""Stricter, for names that come from the linted tree."""


class Refusal(msgspec.Struct, frozen=True):
    """Why a request is not passed to nvcc, in one line."""

    why: str


class Command(msgspec.Struct, frozen=True):
    """A command, less the program; it runs in `folder`, and writes there alone.

    `settings` and `includes` are those of the `arguments` that shape the result.
    `rest` are the arguments of a second run, which goes on where the first one
    ends; None when one does it all.
    """

    arguments: tuple[str, ...]
    folder: Path
    settings: tuple[str, ...]
    includes: tuple[str, ...]
    rest: tuple[str, ...] | None = None

    @property
    def output(self) -> Path:
        """The cubin, when there is one."""
        return self.folder / _OUTPUT

    @property
    def listing(self) -> Path:
        """The dependency file, when there is one."""
        return self.folder / _LISTING

    def ptx(self) -> list[Path]:
        """The PTX that was kept."""
        return sorted(self.folder.glob("*.ptx"))


def build_command(
    request: CompileRequest, folder: Path, *, in_two: bool = False
) -> Command | Refusal:
    """The command that compiles `request` into the empty `folder`.

    Everything that nvcc leaves behind (cubin, PTX, dependency file) is in `folder`.
    `in_two` is for compiler caches, which know a compile by its `-c` and keep
    one file of it: the first run makes the PTX, which takes most of the time,
    and the second one the cubin.
    """
    if request.arch is not None and not _ARCH.fullmatch(request.arch):
        return Refusal(f"{request.arch} is no arch that nvcc makes machine code for")
    root = Path(request.root)
    source = root / request.path
    includes = [str(root / path) for path in request.include_paths]
    flags: list[str] = []
    for flag in parse_flags(request.flags):
        if not flag.problem:
            flags += flag.arguments
            includes += [str(root / path) for path in flag.includes]
    if why := _unsafe(request, folder, includes, flags):
        return Refusal(why)
    settings = (
        *(() if request.arch is None else (f"-arch={request.arch}",)),
        _CUBIN,
        *(() if "-G" in flags else ("-lineinfo",)),
        "-Xptxas",
        "-v",
        "-Wno-deprecated-gpu-targets",
        *flags,
    )
    folders = tuple(dict.fromkeys(includes))
    if in_two:
        return Command(
            _to_ptx(settings, folders, source), folder, settings, folders, _to_cubin(settings)
        )
    arguments = (
        *settings,
        *(f"-I{path}" for path in folders),
        "--keep",
        "--keep-dir",
        str(folder),
        "-MD",
        "-MF",
        str(folder / _LISTING),
        "-o",
        str(folder / _OUTPUT),
        str(source),
    )
    return Command(arguments, folder, settings, folders)


def _to_ptx(settings: Sequence[str], folders: Sequence[str], source: Path) -> tuple[str, ...]:
    """The names of what is written are relative: a cache takes them for part of the question."""
    return (
        "-c",
        "-ptx",
        *(word for word in settings if word != _CUBIN),
        *(f"-I{path}" for path in folders),
        *("-MD", "-MF", _LISTING, "-o", _PTX),
        str(source),
    )


def _to_cubin(settings: Sequence[str]) -> tuple[str, ...]:
    return (*settings, "-o", _OUTPUT, _PTX)


def _unsafe(
    request: CompileRequest, folder: Path, includes: Sequence[str], flags: Sequence[str]
) -> str:
    """Why the words can't be given to nvcc, "" when they can."""
    for path in (request.path, *request.include_paths):
        if found := _UNSAFE_IN_TREE.search(path):
            return f"a path holds {found.group()!r}, which nvcc doesn't take literally"
    for path in (request.root, str(folder), *includes):
        if found := _UNSAFE.search(path):
            return f"a path holds {found.group()!r}, which nvcc doesn't take literally"
    if any("," in path for path in includes):
        return "an include folder holds ',', which nvcc takes for the end of its name"
    for flag in flags:
        if found := _UNSAFE.search(flag.replace('"', "")):
            return f"a flag holds {found.group()!r}, which nvcc hands to a shell"
    return ""
