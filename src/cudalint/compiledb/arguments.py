"""What a compile command says: folders, macros, forced includes, archs, flags for nvcc.

Of other flags nvcc gets those that the allow-list of `cudalint.tree.flags` lets
through. Nothing is opened: a file of arguments (`@file`) is named among what was
not taken. How options are spelt is `cudalint.compiledb.options`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from cudalint.compiledb.model import CompileCommand, ForcedInclude, ReadCommand
from cudalint.compiledb.options import Kind, Option, options
from cudalint.regex import regex
from cudalint.tree.flags import parse_flags

_ARCH = regex(r"\bsm_\d{2,3}[af]?\b")
_NAME = regex(r"[A-Za-z_]\w*", re.ASCII)
_RELOCATABLE = regex(r"(?:-dc|--device-c|(?:-rdc|--relocatable-device-code)(?:=true)?)$")
_DEBUG = frozenset({"-g", "-G", "-lineinfo"})
"""Code for debuggers is no measure of resources, and lines are asked for anyway."""


def read_arguments(words: Sequence[str], directory: str, roots: Sequence[str]) -> ReadCommand:
    """What a command says; `words` begin with the program.

    `directory` is the absolute folder that the command runs in, `roots` are the
    absolute names of the project root (with and without symbolic links).
    """
    said = list(options(words))
    values: dict[Kind, list[str]] = {}
    for option in said:
        values.setdefault(option.kind, []).append(option.value)
    outside: dict[str, None] = {}

    def inside(kind: Kind) -> list[str]:
        given = [value for value in values.get(kind, ()) if value]
        found = [posixpath.normpath(posixpath.join(directory, value)) for value in given]
        placed = [(path, below(path, roots)) for path in found]
        outside.update((path, None) for path, relative in placed if relative is None)
        return [relative for _, relative in placed if relative is not None]

    folders = (*inside("folder"), *inside("system"), *inside("after"))
    quoted = tuple(dict.fromkeys(inside("quoted")))
    archs = dict.fromkeys(_ARCH.findall(" ".join(values.get("arch", ()))))
    flags, refused = _for_nvcc(said)
    responses = tuple(values.get("response", ()))
    command = CompileCommand(
        quoted=quoted,
        folders=tuple(dict.fromkeys(folders)),
        forced=tuple(_forced(name, directory, roots) for name in values.get("forced", ())),
        defines=tuple(_defined(said).items()),
        archs=tuple(archs),
        flags=flags,
        partial=bool(outside or responses),
        altered=bool(refused or "forced" in values or _is_relocatable(said)),
    )
    return ReadCommand(command, tuple(outside), responses, refused)


def below(path: str, roots: Sequence[str]) -> str | None:
    """The absolute, normalised `path` relative to the root, "." for itself; None if outside."""
    for root in roots:
        if path == root:
            return "."
        prefix = root.rstrip("/") + "/"
        if path.startswith(prefix):
            return path[len(prefix) :]
    return None


def _forced(name: str, directory: str, roots: Sequence[str]) -> ForcedInclude:
    path = posixpath.normpath(posixpath.join(directory, name))
    return ForcedInclude(name, below(path, roots))


def _defined(given: Sequence[Option]) -> dict[str, str | None]:
    """What `-D` and `-U` leave, the last of each name; macros with parameters are left out."""
    found: dict[str, str | None] = {}
    for option in given:
        if option.kind == "define":
            name, equals, text = option.value.partition("=")
            if not equals and "#" in name:  # how cl may write it
                name, equals, text = name.partition("#")
            if _NAME.fullmatch(name):
                found[name] = text if equals else "1"
        elif option.kind == "undefine" and _NAME.fullmatch(option.value):
            found[option.value] = None
    return found


def _for_nvcc(given: Sequence[Option]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags that nvcc is given in order, and those that it is not because of their values."""
    spelt = {"define": "-D", "undefine": "-U", "std": "-std="}
    flags: list[str] = []
    refused: list[str] = []
    for option in given:
        if option.kind != "other" and option.kind not in spelt:
            continue
        text = spelt.get(option.kind, "") + option.value
        if option.kind == "std":  # nvcc has no GNU dialects by name
            text = text.replace("gnu++", "c++")
        flag = parse_flags((text,))[0]
        if not flag.problem and flag.arguments and _DEBUG.isdisjoint(flag.arguments):
            flags += flag.arguments
        elif flag.problem == "flag-value-not-allowed" and option.kind in spelt:
            refused.append(text)
    return tuple(flags), tuple(dict.fromkeys(refused))


def _is_relocatable(given: Sequence[Option]) -> bool:
    """Whether the code may call device functions of other files, which a compile alone lacks."""
    return any(o.kind == "other" and _RELOCATABLE.match(o.value) for o in given)
