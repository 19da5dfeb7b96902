"""From a parsed text to raw records. The only place that touches tree-sitter nodes."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import islice

from tree_sitter import Node

from cudalint.regex import regex
from cudalint.syntax import grammar
from cudalint.syntax.brackets import close_of
from cudalint.syntax.effort import spend
from cudalint.syntax.heads import head_start, read_head, read_macro_head, read_parameters
from cudalint.syntax.macros import Expander
from cudalint.syntax.model import normal
from cudalint.syntax.part import Part
from cudalint.syntax.prepare import Text, is_head_macro
from cudalint.syntax.raw import Range, Raw, RawBranch, RawCall, RawFunction, RawScope, RawShared
from cudalint.syntax.sweep import innermost
from cudalint.syntax.types import read_aliases, read_enumerators, read_members

_WRAPPERS = frozenset(
    (
        "pointer_declarator",
        "reference_declarator",
        "parenthesized_declarator",
        "attributed_declarator",
    )
)
_NOT_NAMES = frozenset((b"if", b"for", b"while", b"switch", b"return", b"else", b"do", b"catch"))
_SHARED = regex(rb"__shared__(?<!\w__shared__)\b")
_TOKEN = regex(rb"\S")
_EXITS = regex(
    rb"\b(?:return|throw|goto|break|continue)\b|\b(?:abort|exit|_exit|terminate)\s*\(.*\)\s*\Z",
    re.DOTALL,
)
_CALL_ONLY = regex(rb"\s*(?:\(\s*void\s*\)\s*)?")
_FUNCTION_UNITS = 500
_SCOPE_UNITS = 300
"""What the head of a function takes, and what a class does."""

_DEFINERS = frozenset(
    (
        "function_definition",
        "template_declaration",
        "linkage_specification",
        "namespace_definition",
        "struct_specifier",
        "class_specifier",
    )
)


def parse_and_extract(
    path: str, text: Text, macros: Expander, shared_words: tuple[bytes, ...]
) -> Raw:
    """Parse `text.parse` and read every record out of it."""
    root = grammar.parse(text.parse)
    return extract(path, text, root, grammar.wanted(root, text.parse), macros, shared_words)


def extract(
    path: str,
    text: Text,
    root: Node,
    captures: dict[str, list[Node]],
    macros: Expander,
    shared_words: tuple[bytes, ...],
    part: Part | None = None,
) -> Raw:
    """Read every record out of the tree of `text.parse`, of which `captures` are the nodes wanted.

    `shared_words` are macros of the file that stand for `__shared__`. `part` is what the
    nodes are of, None for the whole text.
    """
    raw = Raw()
    raw.defines = any(child.type in _DEFINERS for child in root.children)
    statements = (*captures.get("statement", ()), *captures.get("declaration", ()))
    # In the order of `outer_first`, without a call for each.
    ordered = sorted([(start, -end) for n in statements for start, end in (n.byte_range,)])
    raw.statements = [(start, -end) for start, end in ordered]
    _calls(text, captures, raw)
    for node in captures.get("function", ()):
        _function(path, text, macros, node, "definition", raw)
    for node in captures.get("prototype", ()):
        _function(path, text, macros, node, "declaration", raw)
    for node in captures.get("instantiation", ()):
        _function(path, text, macros, node, "instantiation", raw)
    for node in captures.get("lambda", ()):
        _lambda(path, text, macros, node, raw)
    for name in ("scope", "linkage"):
        for node in captures.get(name, ()):
            _scope(path, text, node, raw)
    for node in captures.get("branch", ()):
        _branches(text, node, raw)
    raw.aliases = read_aliases(text, captures)
    raw.constants = read_enumerators(text.code, captures.get("enumerators", ()))
    _shared(text, root, shared_words, raw, part)
    raw.errors = [
        (n.start_byte, max(n.end_byte, n.start_byte + 1))
        for name in ("error", "missing")
        for n in captures.get(name, ())
    ]
    return raw


def _calls(text: Text, captures: dict[str, list[Node]], raw: Raw) -> None:
    if "call" not in captures:
        return
    lists = sorted([n.byte_range for n in captures.get("arguments", ())])
    opens = {end: start for start, end in lists}
    # Where parentheses are missing, several lists end at once.
    starts = [start for start, _ in lists] if len(opens) < len(lists) else None
    chevrons = {n.end_byte: n.start_byte for n in captures.get("configuration", ())}
    # What ends with no argument list is no call: `T{1}`.
    spans = sorted(
        [s for n in captures.get("call", ()) if opens.get((s := n.byte_range)[1], -1) > s[0]]
    )
    homes = innermost(spans, raw.statements, range(len(raw.statements)))
    parse = text.parse
    for span, home in zip(spans, homes, strict=True):
        start, end = span
        open_at = opens[end]
        if starts is not None:
            open_at = next(
                s for s, e in islice(lists, bisect_right(starts, start), None) if e == end
            )
        statement = raw.statements[home] if home >= 0 else span
        whole = (
            statement[0] == start or _CALL_ONLY.fullmatch(parse, statement[0], start) is not None
        ) and parse[end : statement[1]].strip() == b";"
        configuration = None
        if chevrons:
            before = open_at
            while parse[before - 1 : before].isspace():
                before -= 1
            if before in chevrons:
                configuration = (chevrons[before], before)
        raw.calls.append(RawCall(span, open_at, statement, whole, configuration))


def _function(path: str, text: Text, macros: Expander, node: Node, kind: str, raw: Raw) -> None:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type in _WRAPPERS:
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            inner = next(
                (c for c in declarator.named_children if c.type.endswith("declarator")), None
            )
        declarator = inner
    if declarator is None:
        return
    if declarator.type == "operator_cast":
        name_node: Node | None = declarator
        declarator = declarator.child_by_field_name("declarator")
    else:
        name_node = declarator.child_by_field_name("declarator")
    parameters = None if declarator is None else declarator.child_by_field_name("parameters")
    if declarator is None or name_node is None or parameters is None:
        return
    if name_node.type in ("parenthesized_declarator", "function_declarator"):
        return
    spend(_FUNCTION_UNITS)
    qualifier, name_range = _name(text.code, name_node, text.joined_names)
    if name_node.type == "operator_cast":
        name_range = (name_range[0], parameters.start_byte)
    if text.code[slice(*name_range)] in _NOT_NAMES:
        return
    body_node = node.child_by_field_name("body") if kind == "definition" else None
    body = None if body_node is None else (body_node.start_byte, body_node.end_byte)
    if kind == "definition" and body is None:
        kind = "declaration"
    tail_end = body[0] if body else node.end_byte
    start = head_start(text.bare, node.start_byte)
    tail = (parameters.end_byte, _tail_end(text, node, parameters.end_byte, tail_end))
    read = read_head(path, text.code, start, name_range, tail, macros)
    name = text.code[slice(*name_range)]
    if macros.by_name:
        name = macros.expand(name).replace(b" ", b"")
    found = read_parameters(
        path, text.code, parameters.start_byte + 1, parameters.end_byte - 1, macros
    )
    definition = macros.by_name.get(text.code[slice(*name_range)])
    if definition is not None and is_head_macro(definition):
        use = (name_range[0], parameters.end_byte)
        whole = read_macro_head(path, macros.expand(text.code[slice(*use)]), use)
        if whole is not None:
            read, made, found = whole
            read.start, name = start, made.encode()
    raw.functions.append(
        RawFunction(
            kind=kind,
            span=(start, node.end_byte),
            head=(start, tail_end),
            name_range=name_range,
            body=body,
            name=name.decode("utf-8", "replace"),
            qualifier=qualifier,
            read=read,
            parameters=found,
        )
    )


def _tail_end(text: Text, node: Node, start: int, end: int) -> int:
    """Where a head's last specifiers, from `start` on, end: before a constructor's initialisers."""
    if text.parse.find(b":", start, end) < 0:
        return end
    for child in node.children:
        if child.type == "field_initializer_list":
            return child.start_byte
    return end


def _name(code: bytes, node: Node, joined: dict[int, int]) -> tuple[str, Range]:
    """The qualifier (`A::B`) and the range of the last part of a declared name."""
    start, end = node.byte_range
    name = code[start:end]
    if name.replace(b"_", b"").isalnum():
        return "", (start, joined.get(start, end))
    while node.type == "qualified_identifier":
        inner = node.child_by_field_name("name")
        if inner is None:
            break
        node = inner
    qualifier = code[start : node.start_byte].rstrip().removesuffix(b"::")
    end = node.end_byte
    if node.type == "template_function":
        inner = node.child_by_field_name("name")
        end = node.end_byte if inner is None else inner.end_byte
    return normal(qualifier), (node.start_byte, joined.get(node.start_byte, end))


def _lambda(path: str, text: Text, macros: Expander, node: Node, raw: Raw) -> None:
    body = node.child_by_field_name("body")
    captures = node.child_by_field_name("captures")
    if body is None or captures is None:
        return
    declarator = node.child_by_field_name("declarator")
    parameters = None if declarator is None else declarator.child_by_field_name("parameters")
    start = node.start_byte
    name_end = captures.end_byte
    open_at = name_end if parameters is None else parameters.start_byte
    # The words between the captures and the parameters are the lambda's head.
    read = read_head(path, text.code, name_end, (open_at, open_at), (open_at, open_at), macros)
    inside = (open_at, open_at)
    if parameters is not None:
        inside = (parameters.start_byte + 1, parameters.end_byte - 1)
    raw.functions.append(
        RawFunction(
            kind="definition",
            span=(start, node.end_byte),
            head=(start, body.start_byte),
            name_range=(start, name_end),
            body=(body.start_byte, body.end_byte),
            name="",
            qualifier="",
            read=read,
            parameters=read_parameters(path, text.code, *inside, macros),
            lambda_=True,
        )
    )


def _scope(path: str, text: Text, node: Node, raw: Raw) -> None:
    body = node.child_by_field_name("body")
    if body is None:
        return
    spend(_SCOPE_UNITS)
    span, inside = (node.start_byte, node.end_byte), (body.start_byte, body.end_byte)
    if node.type == "linkage_specification":
        value = node.child_by_field_name("value")
        if value is not None and text.code[value.start_byte : value.end_byte] == b'"C"':
            raw.scopes.append(RawScope("linkage", span, inside, ""))
        return
    name_node = node.child_by_field_name("name")
    name = "" if name_node is None else normal(text.code[name_node.start_byte : name_node.end_byte])
    kind = "namespace" if node.type == "namespace_definition" else "class"
    members = read_members(path, text.code, body) if kind == "class" else ()
    raw.scopes.append(RawScope(kind, span, inside, name, members))


def _branches(text: Text, node: Node, raw: Raw) -> None:
    start = node.start_byte
    keyword = node.type.split("_")[0]
    if node.type == "if_statement":
        controlled = node.child_by_field_name("consequence")
    else:
        controlled = node.child_by_field_name("body")
    if controlled is None:
        return
    condition = _condition(text, node, keyword)
    _branch(text, start, controlled, keyword, condition, raw)
    otherwise = node.child_by_field_name("alternative") if keyword == "if" else None
    if otherwise is not None and otherwise.named_children:
        statement = otherwise.named_children[-1]
        _branch(text, otherwise.start_byte, statement, "else", condition, raw)


def _branch(text: Text, start: int, node: Node, keyword: str, condition: str, raw: Raw) -> None:
    low, high = node.start_byte, node.end_byte
    exits = _exits(text.bare[max(low, high - 300) : high])
    raw.branches.append(RawBranch((low, high), (start, low), keyword, condition, exits))


def _exits(text: bytes) -> bool:
    """Whether the last statement of `text`, the end of a controlled one, leaves it."""
    text = text.rstrip(b" \t\r\n\v\f}")
    if not text.endswith(b";"):
        return False
    end = len(text) - 1
    start = max(text.rfind(b";", 0, end), text.rfind(b"{", 0, end), text.rfind(b"}", 0, end)) + 1
    return _EXITS.search(text, start, end) is not None


def _condition(text: Text, node: Node, keyword: str) -> str:
    if keyword == "for":
        open_at = text.bare.find(b"(", node.start_byte, node.end_byte)
        close = close_of(text.bare, open_at, node.end_byte) if open_at >= 0 else -1
        return normal(text.code[open_at + 1 : close]) if close >= 0 else ""
    condition = node.child_by_field_name("condition")
    if condition is None:
        return ""
    inside = text.code[condition.start_byte : condition.end_byte]
    return normal(inside[1:-1] if inside.startswith(b"(") else inside)


def _shared(text: Text, root: Node, words: tuple[bytes, ...], raw: Raw, part: Part | None) -> None:
    """The declarations that hold a `__shared__`, one record for each declarator."""
    starts = [m.end() for m in _SHARED.finditer(text.bare)] if b"__shared__" in text.bare else []
    for word in words:
        starts += [m.end() for m in re.finditer(rb"\b" + word + rb"\b", text.bare)]
    if part is not None:
        starts = [start for start in starts if part.start <= start < part.end]
    if not starts:
        return
    seen: set[int] = set()
    for at in sorted(_next_tokens(text.parse, starts)):
        node = root.descendant_for_byte_range(at, at)
        while node is not None and node.type not in ("declaration", "field_declaration"):
            if node.type in ("compound_statement", "function_definition", "parameter_list"):
                node = None
                break
            node = node.parent
        if node is None or node.start_byte in seen:
            continue
        seen.add(node.start_byte)
        _shared_declaration(text, node, at, raw)


def _next_tokens(parse: bytes, starts: list[int]) -> set[int]:
    """The first offsets at or after `starts` that hold something."""
    found = set()
    limit = following = len(parse) - 1
    for start in sorted(starts, reverse=True):
        match = _TOKEN.search(parse, start, limit)
        if match is not None:
            following = match.start()
        limit = start
        found.add(following)
    return found


def _shared_declaration(text: Text, node: Node, at: int, raw: Raw) -> None:
    start = head_start(text.bare, node.start_byte)
    head = text.code[start:at].split() + text.parse[node.start_byte : at].split()
    type_node = node.child_by_field_name("type")
    if type_node is None:
        return
    type_text = normal(text.code[type_node.start_byte : type_node.end_byte])
    pool = b"extern" in head or text.parse[node.start_byte : node.start_byte + 6] == b"extern"
    for declarator in node.children_by_field_name("declarator"):
        dimensions: list[str] = []
        stars = ""
        inner: Node | None = declarator
        while inner is not None and inner.type not in ("identifier", "field_identifier"):
            if inner.type == "array_declarator":
                size = inner.child_by_field_name("size")
                dimensions.insert(
                    0, "" if size is None else normal(text.code[size.start_byte : size.end_byte])
                )
            elif inner.type == "pointer_declarator":
                stars += "*"
            inner = inner.child_by_field_name("declarator")
        if inner is None:
            continue
        raw.shared.append(
            RawShared(
                span=(start, node.end_byte),
                statement=(start, node.end_byte),
                name_range=(inner.start_byte, inner.end_byte),
                type=type_text + stars,
                dimensions=tuple(dimensions),
                kind="extern" if pool else "static",
                initializer="",
            )
        )
