"""Reads the source of a rule's example: code lines, and the spans marked below them.

A line of `~` marks the bytes above it, a `^` an empty span, one finding for each
run of them; a marker on the very first line marks the whole file. `Example` in
cudalint.rule has the details.
"""

from __future__ import annotations

import re

from cudalint.finding import Span
from cudalint.regex import regex

_MARKER = regex(r"[ \t]*[~^]+(?:[ \t]+[~^]+)*[ \t]*")


def read_annotated(path: str, text: str) -> tuple[bytes, list[Span]]:
    """The file without its markers, as bytes, and the marked spans in order."""
    code: list[bytes] = []
    spans: list[Span] = []
    at = 0
    above = ""
    for line in text.splitlines(keepends=True):
        if _MARKER.fullmatch(line.rstrip("\r\n")) is None:
            code.append(_bytes(line))
            at += len(code[-1])
            above = line
        elif not code:
            spans.append(Span(path, 0, 0))
        else:
            spans += _marked(path, line, above, at - len(code[-1]))
    return b"".join(code), spans


def _marked(path: str, marker: str, above: str, start: int) -> list[Span]:
    found = []
    for run in re.finditer(r"~+|\^", marker):
        first, last = run.span()
        if run[0] == "^":
            last = first
        content = above.rstrip("\r\n")
        if last > len(content):
            raise AssertionError(f"a marker reaches beyond its line: {above!r}")
        before, marked = _bytes(content[:first]), _bytes(content[first:last])
        found.append(Span(path, start + len(before), start + len(before) + len(marked)))
    return found


def _bytes(text: str) -> bytes:
    """UTF-8; lone surrogates stand for bytes that are none, as `surrogateescape` has it."""
    return text.encode("utf-8", "surrogateescape")
