"""Joins the readings of one file: variants of its branches, and islands.

An island is a kernel's text parsed alone, when its surroundings kept the
grammar from seeing it.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from cudalint.regex import regex
from cudalint.syntax.attributes import mask_attributes, mask_kernel_heads
from cudalint.syntax.brackets import after_space, close_of, template_close
from cudalint.syntax.effort import spend
from cudalint.syntax.extract import parse_and_extract
from cudalint.syntax.heads import head_start
from cudalint.syntax.macros import Definition, Expander, argument_values, substitute
from cudalint.syntax.prepare import Text, Use
from cudalint.syntax.raw import Range, Raw, RawCall, RawFunction
from cudalint.syntax.sweep import covered, joined, outer_first

_GLOBAL = regex(rb"__global__(?<!\w__global__)\b")
_CHEVRON = regex(rb"<<<")
_KERNEL_BEFORE = regex(rb"[A-Za-z_][\w:.]*(?:->\w+)*\s*$")
_BYTES_A_UNIT = 64
"""Of the blank text before an island."""
_ISLAND_UNITS = 400

Piece = tuple[Raw, Text]


def merge(pieces: list[Piece]) -> Raw:
    """One `Raw`: all of the first piece, and of others what lies in text it left out."""
    first, text = pieces[0]
    if len(pieces) > 1:
        whole = _Whole(first)
        for raw, _ in pieces[1:]:
            whole.add(raw, text.blanked)
        whole.finish()
    return first


def launches_of_macros(
    bare: bytes, raw: Raw, uses: list[Use], definitions: list[Definition]
) -> None:
    """Make launches of the calls between whose callee and arguments a macro puts `<<<…>>>`."""
    by_name = {d.name: d for d in definitions}
    places = {call.open_at: place for place, call in enumerate(raw.calls)}
    for use in uses:
        definition = by_name.get(use.name)
        open_at = after_space(bare, use.end)
        place = places.get(open_at)
        if definition is None or place is None or raw.calls[place].span[0] >= use.start:
            continue
        arguments = bare[use.open_at + 1 : use.close_at] if use.open_at >= 0 else b""
        body = substitute(definition.body, argument_values(definition, arguments)).strip()
        raw.calls[place] = msgspec.structs.replace(
            raw.calls[place], configuration=(use.start, use.end), written=body[3:-3]
        )


def islands(
    path: str, text: Text, raw: Raw, macros: Expander, words: tuple[bytes, ...]
) -> list[Range]:
    """Parse kernels that `raw` lacks one by one, and launches as text; add them.

    Returns the ranges of those that still can't be read.
    """
    hidden = _without_a_head([match.span() for match in _GLOBAL.finditer(text.bare)], raw)
    if hidden:
        whole = _Whole(raw)
        for start, _ in hidden:
            found = _island(path, text, start, macros, words)
            if found is not None:
                low, high, island = found
                whole.add(island, [(low, high)])
        whole.finish()
        hidden = _without_a_head(hidden, raw)
    known = {call.configuration[0] for call in raw.calls if call.configuration}
    for match in _CHEVRON.finditer(text.bare):
        if match.start() not in known:
            launch = _textual_launch(text.bare, match.start())
            if launch is None:
                hidden.append(match.span())
            else:
                raw.calls.append(launch)
    return hidden


def _without_a_head(occurrences: list[Range], raw: Raw) -> list[Range]:
    """Those of `occurrences` that lie in the head of no function."""
    heads = joined(f.head for f in raw.functions if not f.lambda_)
    return [(start, end) for start, end in occurrences if not covered(start, heads)]


def _island(
    path: str, text: Text, at: int, macros: Expander, words: tuple[bytes, ...]
) -> tuple[int, int, Raw] | None:
    spend(_ISLAND_UNITS)
    low = head_start(text.bare, at)
    open_at = text.bare.find(b"{", at)
    semicolon = text.bare.find(b";", at)
    if open_at < 0 or 0 <= semicolon < open_at:
        high = semicolon + 1
    else:
        high = close_of(text.bare, open_at) + 1
    if high <= at:
        return None
    spend(high // _BYTES_A_UNIT)
    alone = bytearray(b" " * low + text.code[low:high] + b"\n")
    bare = b" " * low + text.bare[low:high] + b"\n"
    mask_attributes(bare, alone)
    joined = mask_kernel_heads(bare, alone)
    island = Text(text.code, text.bare, bytes(alone), [], joined)
    return low, high, parse_and_extract(path, island, macros, words)


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
    if bare[open_at : open_at + 1] == b")" and bare[
        max(0, name.start() - 200) : name.start()
    ].rstrip().endswith(b"("):
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


class _Whole:
    """A `Raw`, and what is in it by place, to add to it what others have more."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self._names = {f.name_range[0]: i for i, f in enumerate(raw.functions)}
        self._bodies = {f.body for f in raw.functions if f.body}
        self._calls = {c.span for c in raw.calls}
        self._shared = {s.name_range for s in raw.shared}
        self._branches = {(b.span, b.keyword) for b in raw.branches}
        self._scopes = {s.body for s in raw.scopes}
        self._statements = set(raw.statements)

    def add(self, other: Raw, within: list[Range]) -> None:
        """Add those records of `other` that start in one of the ranges and are not there yet."""

        def wanted(at: int) -> bool:
            return covered(at, within)

        raw = self._raw
        self._add_functions(other.functions, wanted)
        calls = [c for c in other.calls if wanted(c.span[0]) and c.span not in self._calls]
        raw.calls += calls
        self._calls.update(c.span for c in calls)
        shared = [
            s for s in other.shared if wanted(s.name_range[0]) and s.name_range not in self._shared
        ]
        raw.shared += shared
        self._shared.update(s.name_range for s in shared)
        branches = [
            b
            for b in other.branches
            if wanted(b.head[0]) and (b.span, b.keyword) not in self._branches
        ]
        raw.branches += branches
        self._branches.update((b.span, b.keyword) for b in branches)
        scopes = [s for s in other.scopes if wanted(s.span[0]) and s.body not in self._scopes]
        raw.scopes += scopes
        self._scopes.update(s.body for s in scopes)
        raw.aliases += [a for a in other.aliases if wanted(a.span[0])]
        raw.constants += [c for c in other.constants if wanted(c.span[0])]
        self._statements.update(s for s in other.statements if wanted(s[0]))

    def _add_functions(self, functions: list[RawFunction], wanted: Callable[[int], bool]) -> None:
        into = self._raw.functions
        added = []
        for function in functions:
            index = self._names.get(function.name_range[0])
            if index is not None:
                # A kernel in one configuration and a device function in another is a kernel.
                if function.read.space == "global" != into[index].read.space:
                    into[index] = function
            elif wanted(function.name_range[0]) and function.body not in self._bodies:
                added.append(function)
        for function in added:
            self._names[function.name_range[0]] = len(into)
            into.append(function)
        self._bodies.update(f.body for f in added if f.body)

    def finish(self) -> None:
        """Bring into order what is kept in order."""
        self._raw.statements = sorted(self._statements, key=outer_first)
