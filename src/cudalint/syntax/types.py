"""Type declarations out of tree-sitter nodes: aliases, enumerators, data members."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tree_sitter import Node

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.heads import head_start, read_parameter
from cudalint.syntax.model import Parameter, normal
from cudalint.syntax.prepare import Text
from cudalint.syntax.raw import RawAlias, RawConstant

_USING = regex(rb"using\s+([A-Za-z_]\w*)\s*(?:\[\[.*?\]\]\s*)?=", re.DOTALL)
_BRACED = regex(rb"\{.*\}", re.DOTALL)
_BASE = regex(rb"[*&\s]*[A-Za-z_]\w*\s*(?:\[.*)?$", re.DOTALL)


def read_aliases(text: Text, captures: dict[str, list[Node]]) -> list[RawAlias]:
    """Every `typedef` (one record a name) and `using name = …`."""
    found: list[RawAlias] = []
    for node in captures.get("typedef", ()):
        found += _typedef(text.code, node)
    for node in captures.get("using", ()):
        start, end = node.start_byte, node.end_byte
        match = _USING.match(text.code, start, end)
        if match is not None:
            head = text.bare[head_start(text.bare, start) : start]
            target = normal(text.code[match.end() : end].rstrip().removesuffix(b";"))
            found.append(RawAlias((start, end), match.span(1), target, b"template" in head))
    return found


def _typedef(code: bytes, node: Node) -> list[RawAlias]:
    start, end = node.start_byte, node.end_byte
    inside = code[start + len(b"typedef") : end].rstrip().removesuffix(b";")
    # A body's braces hold commas and names of their own.
    inside = _BRACED.sub(lambda m: b" " * len(m.group()), inside)
    found = []
    base = b""
    for index, (low, high) in enumerate(split_arguments(inside)):
        piece = inside[low:high]
        if index == 0:
            base = _BASE.sub(b"", piece)
        read = read_parameter(Span("", 0, 0), piece if index == 0 else base + b" " + piece)
        if not read.name:
            continue
        at = code.rfind(read.name.encode(), start, start + len(b"typedef") + high)
        found.append(RawAlias((start, end), (at, at + len(read.name)), read.type, False))
    return found


def read_enumerators(code: bytes, lists: Iterable[Node]) -> list[RawConstant]:
    """Every enumerator; one without a value counts on from the last that has one."""
    found = []
    for enumerators in lists:
        base, since = "", 0
        for node in enumerators.named_children:
            name = node.child_by_field_name("name")
            if node.type != "enumerator" or name is None:
                continue
            value = node.child_by_field_name("value")
            if value is not None:
                base, since = normal(code[value.start_byte : value.end_byte]), 0
                text = base
            else:
                text = f"({base}) + {since}" if base else str(since)
            since += 1
            found.append(
                RawConstant(
                    (node.start_byte, node.end_byte),
                    normal(code[name.start_byte : name.end_byte]),
                    text,
                )
            )
    return found


def read_members(path: str, code: bytes, body: Node) -> tuple[Parameter, ...]:
    """The data members of a class body; methods, statics, bit fields' widths are left out."""
    found = []
    for node in body.named_children:
        if node.type != "field_declaration":
            continue
        declarator = node.child_by_field_name("declarator")
        if declarator is None or "function" in declarator.type:
            continue
        if any(code[n.start_byte : n.end_byte] == b"static" for n in node.named_children):
            continue
        start = node.start_byte
        text = code[start : node.end_byte].rstrip().removesuffix(b";")
        base = b""
        for index, (low, high) in enumerate(split_arguments(text)):
            piece = text[low:high]
            if index == 0:
                base = _BASE.sub(b"", piece)
            read = read_parameter(
                Span(path, start + low, start + high), piece if index == 0 else base + b" " + piece
            )
            if read.name:
                found.append(read)
    return tuple(found)
