"""Preprocessor conditionals: which branches are dead, and how to parse the others.

All live branches of a group are parsed together when each stands on its own;
otherwise one at a time, in variants of the text. Of a condition only what is
constant counts: integers, `__cplusplus` and `__CUDACC__` (which count as
defined).
"""

from __future__ import annotations

import re

import msgspec

from cudalint.regex import regex
from cudalint.syntax.brackets import balanced
from cudalint.syntax.lexer import Directive, splice
from cudalint.syntax.sweep import joined

_OPENERS = {b"if", b"ifdef", b"ifndef"}
_DIVIDERS = {b"elif", b"else", b"elifdef", b"elifndef"}
_DEFINED = {b"__cplusplus", b"__CUDACC__"}
_WHITE = regex(rb"\s+")
_COMMENT = regex(rb"//.*|/\*.*?\*/", re.DOTALL)
_SIMPLE = regex(rb"!?\s*(?:defined\s*\(?\s*)?[A-Za-z_]\w*\s*\)?")
_DEFINED_BARE = regex(r"\bdefined\s+([A-Za-z_]\w*)")
_WORD = regex(rb"[A-Za-z_]\w*")
_ENDS = b";{},:"
MAX_VARIANTS = 6


class Branch(msgspec.Struct, gc=False):
    """Text between two directives of a group; `live` when it can be code.

    `taken`: its condition, or that of one before, holds in every build, so that no
    later branch does.
    """

    condition: str
    start: int
    end: int
    live: bool
    taken: bool


class Group(msgspec.Struct):
    """`#if` … `#endif`. `open_at` is the first directive's start."""

    open_at: int
    branches: list[Branch]


def read_groups(data: bytes, directives: list[Directive]) -> list[Group]:
    """Pair the conditional directives; unclosed groups end with the file."""
    groups: list[Group] = []
    stack: list[Group] = []
    for directive in directives:
        keyword = directive.keyword
        if keyword in _OPENERS:
            group = Group(directive.start, [_branch(data, directive, taken=False)])
            stack.append(group)
            groups.append(group)
        elif keyword in _DIVIDERS and stack:
            branches = stack[-1].branches
            branches[-1].end = directive.start
            branches.append(_branch(data, directive, taken=branches[-1].taken))
        elif keyword == b"endif" and stack:
            stack.pop().branches[-1].end = directive.start
    for group in stack:
        group.branches[-1].end = len(data)
    return groups


def dead_ranges(groups: list[Group]) -> list[tuple[int, int]]:
    """The ranges that are never code, outermost only, in order."""
    return joined((b.start, b.end) for group in groups for b in group.branches if not b.live)


def exclusive_choices(text: bytes, groups: list[Group]) -> list[list[tuple[int, int]]]:
    """For each further parse, the ranges to blank, in order; the first parse comes first.

    `text` has comments, literals' insides, directives and dead branches blanked.
    One empty list when every group's branches can be parsed together.
    """
    entangled = [live for group in groups if (live := _entangled(text, group))]
    if not entangled:
        return [[]]
    count = min(MAX_VARIANTS, max(len(live) for live in entangled))
    return [
        joined(
            (branch.start, branch.end)
            for live in entangled
            for index, branch in enumerate(live)
            if index != min(choice, len(live) - 1)
        )
        for choice in range(count)
    ]


def _entangled(text: bytes, group: Group) -> list[Branch]:
    live = [branch for branch in group.branches if branch.live]
    if len(live) < 2:
        return []
    before = text[max(0, group.open_at - 400) : group.open_at].rstrip()
    if before and before[-1] not in _ENDS and not before.endswith(b")"):
        return live
    for branch in live:
        if not balanced(text, branch.start, branch.end):
            return live
        inside = text[branch.start : branch.end].strip()
        if inside and (inside[-1] not in _ENDS or inside.startswith(b"else")):
            return live
    return []


def _branch(data: bytes, directive: Directive, *, taken: bool) -> Branch:
    text = _COMMENT.sub(b" ", splice(data[directive.after : directive.end]))
    text = _WHITE.sub(b" ", text).strip()
    keyword = directive.keyword
    if keyword in (b"ifdef", b"elifdef"):
        value, condition = 1 if text in _DEFINED else None, b"defined(" + text + b")"
    elif keyword in (b"ifndef", b"elifndef"):
        value, condition = 0 if text in _DEFINED else None, b"!defined(" + text + b")"
    elif keyword == b"else":
        value, condition = None, b"else"
    else:
        value, condition = _value(text), text
    live = value != 0 and not taken
    taken = taken or bool(value)
    return Branch(condition.decode("utf-8", "replace"), directive.end, len(data), live, taken)


def _no_value(name: str) -> None:
    """What macros are worth depends on the build, even those that the file defines."""


def _value(text: bytes) -> int | None:
    """What a condition is worth, None if that depends on the build."""
    if text.isdigit():
        return int(text[:20])
    if _SIMPLE.fullmatch(text) and not any(w in _DEFINED for w in _WORD.findall(text)):
        return None
    from cudalint.project.expression import evaluate

    def apply(name: str, arguments: list[str]) -> int | None:
        known = name == "defined" and len(arguments) == 1
        return 1 if known and arguments[0].encode() in _DEFINED else None

    whole = _DEFINED_BARE.sub(r"defined(\1)", text.decode("utf-8", "replace"))
    return evaluate(whole, _no_value, apply=apply)
