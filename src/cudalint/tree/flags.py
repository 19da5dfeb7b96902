"""The nvcc flags that a manifest may hold: an allow-list, in every spelling that nvcc takes.

A flag that is not on the list could run another program, read or write files
elsewhere, or change what is compiled; it is never passed on. Folders of `-I` are
only named here; whether they lie in the tree is `cudalint.tree.manifest`'s
business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from cudalint.regex import regex

Problem = Literal["", "flag-not-allowed", "flag-value-not-allowed"]

_SWITCHES = {
    "-lineinfo": "-lineinfo",
    "--generate-line-info": "-lineinfo",
    "-g": "-g",
    "--debug": "-g",
    "-G": "-G",
    "--device-debug": "-G",
}
_LONG_SWITCHES = (
    "use_fast_math",
    "expt-relaxed-constexpr",
    "expt-extended-lambda",
    "extended-lambda",
    "extra-device-vectorization",
)
for _name in _LONG_SWITCHES:
    _SWITCHES[f"-{_name}"] = _SWITCHES[f"--{_name}"] = f"--{_name}"

_BOOLEAN = r"true|false"
# nvcc builds shell command lines out of its arguments, between double quotes:
# `-DX=$(command)` would run the command, and so would a backquote or a backslash.
_DEFINITION = r"[A-Za-z_]\w*(\([\w\s,.]*\))?(=[^\x00-\x1f\x7f$`\\]*)?"
_FOLDER = r"[^\x00-\x1f\x7f$`\\\"]+"
_VALUED: dict[str, tuple[str, str]] = {
    # spelling: (the spelling that is passed on, what its value must look like)
    "-D": ("-D", _DEFINITION),
    "--define-macro": ("-D", _DEFINITION),
    "-U": ("-U", r"[A-Za-z_]\w*(,[A-Za-z_]\w*)*"),
    "--undefine-macro": ("-U", r"[A-Za-z_]\w*(,[A-Za-z_]\w*)*"),
    "-I": ("-I", _FOLDER),
    "--include-path": ("-I", _FOLDER),
    "-O": ("-O", r"[0-3]"),
    "--optimize": ("-O", r"[0-3]"),
    "-std": ("-std", r"c\+\+\d\d"),
    "--std": ("-std", r"c\+\+\d\d"),
    "-Xptxas": ("-Xptxas", ""),
    "--ptxas-options": ("-Xptxas", ""),
}
for _name, _values in {
    "fmad": _BOOLEAN,
    "ftz": _BOOLEAN,
    "prec-div": _BOOLEAN,
    "prec-sqrt": _BOOLEAN,
    "maxrregcount": r"\d{1,3}",
    "diag-suppress": r"\d+(,\d+)*",
}.items():
    _VALUED[f"-{_name}"] = _VALUED[f"--{_name}"] = (f"--{_name}", _values)

_JOINED = ("-D", "-U", "-I", "-O")
_PTXAS = regex(
    r"-v|--verbose|-O[0-3]|--opt-level=[0-3]"
    r"|-dlcm=(?:ca|cg|cs|cv)|--def-load-cache=(?:ca|cg|cs|cv)"
    r"|-warn-(?:spills|lmem-usage|double-usage)"
    r"|--warn-on-(?:spills|local-memory-usage|double-precision-use)"
)


class Flag(msgspec.Struct, frozen=True):
    """One nvcc flag with its value, from the elements `[first, last]` of a list.

    `text` is the flag as written. `arguments` is what nvcc gets, in one fixed
    spelling; empty for a flag with a `problem` and for `-I`, whose folders are
    `includes` (nvcc takes several with commas between).
    """

    text: str
    first: int
    last: int
    arguments: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    problem: Problem = ""


def parse_flags(elements: Sequence[str]) -> tuple[Flag, ...]:
    """Read a list of nvcc arguments, in order, and judge each flag by the allow-list.

    An element that holds a flag and its value with a space between counts as two
    arguments.
    """
    words = [(number, word) for number, element in enumerate(elements) for word in _words(element)]
    flags: list[Flag] = []
    at = 0
    while at < len(words):
        first, word = words[at]
        following = words[at + 1] if at + 1 < len(words) else None
        name, value = _split(word)
        if value is None and name in _VALUED and following is not None:
            flags.append(_judge(name, following[1], f"{word} {following[1]}", first, following[0]))
            at += 2
        else:
            flags.append(_judge(name, value, word, first, first))
            at += 1
    return tuple(flags)


def _words(element: str) -> list[str]:
    stripped = element.strip()
    if not stripped.startswith("-") or stripped.startswith(("-D", "--define-macro", "-I")):
        return [stripped]
    return stripped.split()


def _split(word: str) -> tuple[str, str | None]:
    """A flag's name, and its value where it stands in the same word."""
    if word in _SWITCHES or word in _VALUED:
        return word, None
    head, equals, tail = word.partition("=")
    if equals and head in _VALUED:
        return head, tail
    for name in _JOINED:
        if word.startswith(name):
            return name, word[len(name) :].strip()
    return word, None


def _judge(name: str, value: str | None, text: str, first: int, last: int) -> Flag:
    if name in _SWITCHES:
        return Flag(text, first, last, (_SWITCHES[name],))
    if name not in _VALUED:
        return Flag(text, first, last, problem="flag-not-allowed")
    spelling, pattern = _VALUED[name]
    if value is None or not _value_allowed(spelling, pattern, value):
        return Flag(text, first, last, problem="flag-value-not-allowed")
    if spelling == "-I":
        return Flag(text, first, last, includes=tuple(value.split(",")))
    return Flag(text, first, last, _spell(spelling, value))


def _value_allowed(spelling: str, pattern: str, value: str) -> bool:
    if spelling != "-Xptxas":
        return re.fullmatch(pattern, value) is not None
    return all(_PTXAS.fullmatch(option) for option in value.split(","))


def _spell(spelling: str, value: str) -> tuple[str, ...]:
    if spelling in _JOINED:
        return (spelling + value,)
    if spelling == "-Xptxas":
        return (spelling, value)
    return (f"{spelling}={value}",)
