"""Joins the readings of one file: variants of its branches, and islands.

An island is a kernel's text parsed alone, when its surroundings kept the
grammar from seeing it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from cudalint.syntax.attributes import mask_attributes, mask_kernel_heads
from cudalint.syntax.brackets import after_space, close_of, template_close
from cudalint.syntax.extract import extract
from cudalint.syntax.heads import head_start
from cudalint.syntax.macros import Definition, Expander, argument_values, substitute
from cudalint.syntax.prepare import Text, Use
from cudalint.syntax.raw import Range, Raw, RawCall
from cudalint.syntax.sweep import innermost

_GLOBAL = re.compile(rb"__global__(?<!\w__global__)\b")
_CHEVRON = re.compile(rb"<<<")
_KERNEL_BEFORE = re.compile(rb"[A-Za-z_][\w:.]*(?:->\w+)*\s*$")
Piece = tuple[Raw, Text]


def merge(pieces: list[Piece]) -> Raw:
    """One `Raw`: all of the first piece, and of others what lies in text it left out."""
    first, text = pieces[0]
    for raw, _ in pieces[1:]:
        _add(first, raw, lambda at: any(s <= at < e for s, e in text.blanked))
    return first


def launches_of_macros(
    bare: bytes, raw: Raw, uses: list[Use], definitions: list[Definition]
) -> None:
    """Make launches of the calls between whose callee and arguments a macro puts `<<<…>>>`."""
    by_name = {d.name: d for d in definitions}
    calls = {call.open_at: call for call in raw.calls}
    for use in uses:
        definition = by_name.get(use.name)
        open_at = after_space(bare, use.end)
        call = calls.get(open_at)
        if definition is None or call is None or call.span[0] >= use.start:
            continue
        arguments = bare[use.open_at + 1 : use.close_at] if use.open_at >= 0 else b""
        body = substitute(definition.body, argument_values(definition, arguments)).strip()
        call.configuration = (use.start, use.end)
        call.written = body[3:-3]


def islands(
    path: str, text: Text, raw: Raw, macros: Expander, words: tuple[bytes, ...]
) -> list[Range]:
    """Parse kernels that `raw` lacks one by one, and launches as text; add them.

    Returns the ranges of those that still can't be read.
    """
    hidden: list[Range] = []
    heads = sorted(f.head for f in raw.functions if not f.lambda_)
    occurrences = [match.span() for match in _GLOBAL.finditer(text.bare)]
    for (start, end), home in zip(occurrences, innermost(occurrences, heads), strict=True):
        if home >= 0:
            continue
        found = _island(path, text, start, macros, words)
        if found is not None:
            low, high, island = found
            _add(raw, island, lambda at, low=low, high=high: low <= at < high)  # type: ignore[misc]
        if not _in_a_head(start, raw):
            hidden.append((start, end))
    known = {call.configuration[0] for call in raw.calls if call.configuration}
    for match in _CHEVRON.finditer(text.bare):
        if match.start() not in known:
            launch = _textual_launch(text.bare, match.start())
            if launch is None:
                hidden.append(match.span())
            else:
                raw.calls.append(launch)
    return hidden


def _in_a_head(at: int, raw: Raw) -> bool:
    return any(f.head[0] <= at < f.head[1] and not f.lambda_ for f in raw.functions)


def _island(
    path: str, text: Text, at: int, macros: Expander, words: tuple[bytes, ...]
) -> tuple[int, int, Raw] | None:
    low = head_start(text.bare, at)
    open_at = text.bare.find(b"{", at)
    semicolon = text.bare.find(b";", at)
    if open_at < 0 or 0 <= semicolon < open_at:
        high = semicolon + 1
    else:
        high = close_of(text.bare, open_at) + 1
    if high <= at:
        return None
    alone = bytearray(b" " * low + text.code[low:high] + b"\n")
    bare = b" " * low + text.bare[low:high] + b"\n"
    mask_attributes(bare, alone)
    joined = mask_kernel_heads(bare, alone)
    island = Text(text.code, text.bare, bytes(alone), [], joined)
    return low, high, extract(path, island, macros, words)


def _textual_launch(bare: bytes, at: int) -> RawCall | None:
    """A launch read by its brackets alone: `name<…><<<…>>>(…)`.

    `(name<<<…>>>)` is one too: it is a macro's argument, and the macro has the kernel's.
    """
    before = at
    if bare[max(0, at - 200) : at].rstrip().endswith(b">"):
        before = _template_start(bare, at)
    name = _KERNEL_BEFORE.search(bare, max(0, before - 200), before)
    if name is None:
        return None
    end = at + 3
    while end < len(bare):
        char = bare[end]
        if char in b"([{":
            close = close_of(bare, end)
            if close < 0:
                return None
            end = close
        elif char in b")]};" or bare[end : end + 3] == b"<<<":
            return None
        elif bare[end : end + 3] == b">>>":
            break
        elif char == 0x3C and template_close(bare, end) > 0:
            end = template_close(bare, end) - 1
        end += 1
    open_at = after_space(bare, end + 3)
    if bare[open_at : open_at + 1] == b")" and bare[: name.start()].rstrip().endswith(b"("):
        span = (name.start(), end + 3)
        return RawCall(span, end + 2, span, False, (at, end + 3))
    close = close_of(bare, open_at) if bare[open_at : open_at + 1] == b"(" else -1
    if close < 0:
        return None
    span = (name.start(), close + 1)
    return RawCall(span, open_at, span, bare[close + 1 : close + 2] == b";", (at, end + 3))


def _template_start(bare: bytes, at: int) -> int:
    depth = 0
    for i in range(at - 1, max(0, at - 500), -1):
        if bare[i] == 0x3E:
            depth += 1
        elif bare[i] == 0x3C:
            depth -= 1
            if depth == 0:
                return i
        elif bare[i] in b";{}":
            break
    return at


def _add(into: Raw, other: Raw, wanted: Callable[[int], bool]) -> None:
    """Add those records of `other` that start where `wanted` says and are not there yet."""
    names = {f.name_range[0]: i for i, f in enumerate(into.functions)}
    bodies = {f.body for f in into.functions if f.body}
    for function in other.functions:
        index = names.get(function.name_range[0])
        if index is not None:
            # A kernel in one configuration and a device function in another is a kernel.
            if function.read.space == "global" != into.functions[index].read.space:
                into.functions[index] = function
        elif wanted(function.name_range[0]) and function.body not in bodies:
            into.functions.append(function)
    calls = {c.span for c in into.calls}
    into.calls += [c for c in other.calls if wanted(c.span[0]) and c.span not in calls]
    shared = {s.name_range for s in into.shared}
    into.shared += [
        s for s in other.shared if wanted(s.name_range[0]) and s.name_range not in shared
    ]
    branches = {(b.span, b.keyword) for b in into.branches}
    into.branches += [
        b for b in other.branches if wanted(b.head[0]) and (b.span, b.keyword) not in branches
    ]
    scopes = {s.body for s in into.scopes}
    into.scopes += [s for s in other.scopes if wanted(s.span[0]) and s.body not in scopes]
    into.aliases += [a for a in other.aliases if wanted(a.span[0])]
    into.constants += [c for c in other.constants if wanted(c.span[0])]
    into.statements = sorted({*into.statements, *(s for s in other.statements if wanted(s[0]))})
