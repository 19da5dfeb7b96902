"""Takes a compile command's words apart into options, as gcc, clang, nvcc and cl spell them.

Only options that say what code is compiled, and for what, have a kind of their
own. What they come to is `cudalint.compiledb.arguments`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from cudalint.regex import regex
from cudalint.tree.flags import parse_flags

Driver = Literal["gcc", "nvcc", "cl"]
Kind = Literal[
    "quoted",
    "folder",
    "system",
    "after",
    "define",
    "undefine",
    "forced",
    "std",
    "arch",
    "response",
    "other",
]

_ATTACHED: dict[str, Kind] = {
    # Longest first: the value may follow without anything between.
    "-isystem": "system",
    "-idirafter": "after",
    "-iquote": "quoted",
    "-I": "folder",
    "-D": "define",
    "-U": "undefine",
}
_APART: dict[str, Kind] = {
    # The value is the next argument, or follows an equals sign.
    "--include-directory": "folder",
    "--include-path": "folder",
    "--system-include": "system",
    "--define-macro": "define",
    "--undefine-macro": "undefine",
    "-include": "forced",
    "--include": "forced",
    "--pre-include": "forced",
    "-std": "std",
    "--std": "std",
    "-arch": "arch",
    "--gpu-architecture": "arch",
    "-code": "arch",
    "--gpu-code": "arch",
    "-gencode": "arch",
    "--generate-code": "arch",
    "--cuda-gpu-arch": "arch",
    "--offload-arch": "arch",
    "-optf": "response",
    "--options-file": "response",
    # What these have as a value is for other programs, or no argument at all.
    "-Xcompiler": "other",
    "--compiler-options": "other",
    "-Xlinker": "other",
    "--linker-options": "other",
    "-Xclang": "other",
    "-Xpreprocessor": "other",
    "-Xassembler": "other",
    "-Xcudafe": "other",
    "-Xnvlink": "other",
    "-Xarch_host": "other",
    "-Xarch_device": "other",
    "-mllvm": "other",
    "-imacros": "other",
    "-o": "other",
    "--output-file": "other",
    "-x": "other",
    "--x": "other",
    "-MF": "other",
    "-MT": "other",
    "-MQ": "other",
    "-ccbin": "other",
    "--compiler-bindir": "other",
}
_OF_CL: dict[str, Kind] = {
    "external:I": "system",
    "FI": "forced",
    "I": "folder",
    "D": "define",
    "U": "undefine",
}
_CL_NAMES = ("cl", "clang-cl")
_CL_COMMAND = regex(r'(?:\S*\s+)?"?(?:[^"]*[/\\])?(?:clang-)?cl(?:\.exe)?"?\s', re.IGNORECASE)
_BEGINNING = 4096
_LISTS: frozenset[Kind] = frozenset({"folder", "system", "define", "undefine", "forced"})
"""What nvcc takes several of, with commas between."""


class Option(msgspec.Struct, frozen=True):
    """One option and its value; one that is not looked at is whole in the value, as `other`."""

    kind: Kind
    value: str


def split_command(text: str) -> list[str]:
    """The words of a command line, as a POSIX shell splits it. Raises ValueError.

    A command of cl has backslashes in paths, and none that quote.
    """
    if "'" in text or '"' in text or "\\" in text:
        lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
        lexer.whitespace_split, lexer.commenters = True, ""
        if _CL_COMMAND.match(text[:_BEGINNING]):
            lexer.escape, lexer.quotes = "", '"'
        return list(lexer)
    # shlex takes a hundred times as long for the same, and knows these four alone.
    return [word for word in re.split(r"[ \t\r\n]+", text) if word]


def _driver(words: Sequence[str]) -> Driver:
    """Which compiler it is: the last word before the options that names one."""
    found: Driver = "gcc"
    for word in words:
        if word.startswith(("-", "@")) or (found == "cl" and word.startswith("/")):
            break
        name = re.split(r"[/\\]", word)[-1].lower().removesuffix(".exe")
        if name in _CL_NAMES:
            found = "cl"
        elif name.startswith("nvcc"):
            found = "nvcc"
    return found


def options(words: Sequence[str]) -> Iterator[Option]:
    """The options of a command that begins with the program, in order."""
    driver = _driver(words)
    at = 1
    while at < len(words):
        word, following = words[at], words[at + 1] if at + 1 < len(words) else None
        if word == "--":
            return
        kind, value, used = _read(word, following, driver)
        at += used
        if driver == "nvcc" and kind in _LISTS:
            yield from (Option(kind, part) for part in _parts(value))
        elif kind == "other" and used == 2:
            yield Option(kind, f"{word} {following}")
        else:
            yield Option(kind, value)


def _read(word: str, following: str | None, driver: Driver) -> tuple[Kind, str, int]:
    """An option's kind and value, and how many words it takes."""
    if word.startswith("@"):
        return "response", word[1:], 1
    if driver == "cl" and word.startswith(("/", "-")):
        for name, kind in _OF_CL.items():
            if word.startswith(name, 1):
                kind, value, used = _valued(kind, word[1 + len(name) :], following)
                return kind, value if kind == "define" else value.replace("\\", "/"), used
    head, equals, tail = word.partition("=")
    if head in _APART:
        return _valued(_APART[head], tail, following, given=bool(equals))
    for name, kind in _ATTACHED.items():
        if word.startswith(name):
            value = word[len(name) :]
            if driver == "nvcc":
                value = value.removeprefix("=")
            return _valued(kind, value, following)
    return "other", word, 2 if following is not None and _takes_value(word, following) else 1


def _valued(
    kind: Kind, value: str, following: str | None, *, given: bool = False
) -> tuple[Kind, str, int]:
    if value or given or following is None:
        return kind, value, 1
    return kind, following, 2


def _takes_value(word: str, following: str) -> bool:
    """Whether a flag of the allow-list has its value in the next word."""
    if not word.startswith("-") or " " in word:
        return False
    if following.startswith("-") and word not in ("-Xptxas", "--ptxas-options"):
        return False
    return parse_flags((word, following))[0].last == 1


def _parts(value: str) -> list[str]:
    """What nvcc makes of a value: it is cut at each comma that is in no quotes."""
    parts, quoted = [""], False
    for piece in re.split(r'([",])', value):
        if piece == "," and not quoted:
            parts.append("")
            continue
        quoted ^= piece == '"'
        parts[-1] += piece
    return parts
