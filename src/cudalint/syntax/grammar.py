"""The tree-sitter-cuda grammar: one parser a process, and one look over each of its trees.

A query finds the wanted nodes in a third of the time that a walk takes, but to
compile one over this grammar takes as long as to read a few thousand lines. So
the first files of a process are walked, and a query is made when there are more.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property, lru_cache
from time import thread_time

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from cudalint.regex import regex
from cudalint.syntax.effort import TooComplexError, spend
from cudalint.syntax.lastread import last_read
from cudalint.syntax.part import Part

_PLAIN = {
    "call": ("call_expression",),
    "arguments": ("argument_list",),
    "declaration": ("declaration", "field_declaration"),
    "configuration": ("kernel_call_syntax",),
    "function": ("function_definition",),
    "instantiation": ("template_instantiation",),
    "typedef": ("type_definition",),
    "using": ("alias_declaration",),
    "enumerators": ("enumerator_list",),
    "statement": (
        *("expression_statement", "return_statement"),
        *("condition_clause", "throw_statement", "field_initializer"),
    ),
    "branch": (
        *("if_statement", "for_statement", "for_range_loop", "while_statement"),
        *("do_statement", "switch_statement"),
    ),
}
"""The kinds of nodes that are wanted as they are, by the name that they go by."""

_WITH_BODY = {
    "lambda": ("lambda_expression",),
    "scope": ("namespace_definition", "class_specifier", "struct_specifier", "union_specifier"),
    "linkage": ("linkage_specification",),
}
"""The kinds that are wanted when they have a body; of a linkage, when that is a block."""

_SHORT = 20_000
"""Texts of up to so many bytes are parsed without an eye on the work."""

_PARSE_UNITS = 1000
_STEP_UNITS = 200
"""What a parse costs by itself, and what the steps cost that the parser tells of."""

_MAX_STEPS = 25_000
"""So many steps take 4 MB of code."""

_SECONDS = 0.8
_BYTES_A_SECOND = 3_000_000

_MAX_NODES_DEEP = 60_000
"""Beyond 65,535 levels a query takes a time that squares with the rest."""

_MAX_CHAIN = 10_000
_STATEMENT_END = regex(rb"[;{}]")

_QUERY_PAYS = 150_000
"""From so many bytes on a process uses the query."""


class _Kinds:
    """The grammar's numbers for the kinds that matter: quicker to compare than their names."""

    def __init__(self, language: Language) -> None:
        def number(kind: str) -> int:
            found = language.id_for_node_kind(kind, True)
            if found is None:
                raise LookupError(f"the grammar has no '{kind}'")
            return found

        self.plain = {number(kind): name for name, kinds in _PLAIN.items() for kind in kinds}
        self.bodied = {number(kind): name for name, kinds in _WITH_BODY.items() for kind in kinds}
        self.declarations = {number("declaration"), number("field_declaration")}
        self.function = number("function_declarator")
        self.around_function = {number("pointer_declarator"), number("reference_declarator")}
        self.linkage = number("linkage_specification")
        self.leaves = {
            number(kind)
            for kind in (
                *("identifier", "field_identifier", "type_identifier", "namespace_identifier"),
                *("number_literal", "string_literal", "char_literal", "primitive_type", "comment"),
                *("type_qualifier", "storage_class_specifier", "sized_type_specifier", "this"),
            )
        }
        self.always_entered = {
            number("else_clause"),
            number("template_declaration"),
            number("declaration_list"),
            number("case_statement"),
            number("labeled_statement"),
        }
        self.block = number("declaration_list")

    def has_body(self, node: Node) -> bool:
        """Whether a node that is wanted when it has a body has one."""
        body = node.child_by_field_name("body")
        return body is not None and (node.kind_id != self.linkage or body.kind_id == self.block)

    def is_prototype(self, declaration: Node) -> bool:
        """Whether it declares a function, perhaps one that returns a pointer or a reference."""
        for declarator in declaration.children_by_field_name("declarator"):
            kind = declarator.kind_id
            inside = declarator.named_children if kind in self.around_function else ()
            if kind == self.function or any(node.kind_id == self.function for node in inside):
                return True
        return False


class _Grammar:
    """What a process keeps; `read` counts the bytes that it has parsed."""

    def __init__(self) -> None:
        self.language = Language(tree_sitter_cuda.language())
        self.parser = Parser(self.language)
        self.kinds = _Kinds(self.language)
        self.read = 0

    @cached_property
    def query(self) -> Query:
        """Every kind that matters, each alone: patterns with parts take longer to compile."""
        wanted = {**_PLAIN, **_WITH_BODY}
        patterns = [
            f"[{' '.join(f'({kind})' for kind in kinds)}] @{name}" for name, kinds in wanted.items()
        ]
        query: Query = Query(
            self.language, " ".join((*patterns, "(ERROR) @error", "(MISSING) @missing"))
        )
        return query


@lru_cache(maxsize=1)
def _grammar() -> _Grammar:
    return _Grammar()


def parse(text: bytes) -> Node:
    """The root of the tree of `text`. Raises TooComplexError."""
    grammar = _grammar()
    grammar.read += len(text)
    if len(text) <= _SHORT:
        spend(_PARSE_UNITS + len(text))
        return grammar.parser.parse(text).root_node
    return _parse_long(grammar.parser, text)


def _parse_long(parser: Parser, text: bytes) -> Node:
    """Parse with an eye on the work: broken text can take it a time that squares with its size."""
    steps = 0
    stops_at = thread_time() + _SECONDS + len(text) / _BYTES_A_SECOND

    def stop(at: int, broken: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > _MAX_STEPS or (steps % 16 == 0 and thread_time() > stops_at)

    last = last_read()
    old = last.old_tree(text) if last else None

    def piece(at: int, _: object) -> bytes:
        return text[at : at + _SHORT]

    read = last.reader(text) if last else piece
    try:
        if old is None:
            tree = parser.parse(read, progress_callback=stop)
        else:
            tree = parser.parse(read, old, progress_callback=stop)
    except ValueError as error:
        parser.reset()
        raise TooComplexError("the grammar takes too long over it") from error
    spend(steps * _STEP_UNITS)
    if last:
        last.keep_tree(text, tree)
    return tree.root_node


def wanted(root: Node, text: bytes, part: Part | None = None) -> dict[str, list[Node]]:
    """The nodes of a tree, or of a part of it, that are wanted, by name and in no particular order.

    Raises TooComplexError.
    """
    grammar = _grammar()
    looked_at = text if part is None else text[part.start : part.end]
    # Whatever was read before: what is refused may not depend on that.
    if len(looked_at) > _MAX_NODES_DEEP and _may_be_deep(looked_at) and _is_deep(root):
        raise TooComplexError("an expression or a statement is too long")
    if grammar.read > _QUERY_PAYS:
        found = _query(root, text, grammar, part)
    else:
        found = _walk(root, text, grammar.kinds)
    if part is None:
        return found
    return {name: [n for n in nodes if part.holds(n.byte_range)] for name, nodes in found.items()}


def _may_be_deep(text: bytes) -> bool:
    """Whether nodes may be nested too deep: in a statement, or as `else if` in `else if`."""
    return (
        text.count(b"else") + text.count(b"for") > _MAX_CHAIN
        or max(map(len, _STATEMENT_END.split(text))) > _MAX_NODES_DEEP
    )


def _is_deep(root: Node) -> bool:
    cursor = root.walk()
    depth = 0
    while True:
        if cursor.goto_first_child():
            depth += 1
            if depth > _MAX_NODES_DEEP:
                return True
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return False
            depth -= 1


def _query(
    root: Node, text: bytes, grammar: _Grammar, part: Part | None = None
) -> dict[str, list[Node]]:
    cursor = QueryCursor(grammar.query)
    if part is not None:
        # Also what is missing at the very ends of the part.
        cursor.set_byte_range(max(0, part.start - 1), min(part.end, len(text)) + 1)
    found: dict[str, list[Node]] = cursor.captures(root)
    kinds, find = grammar.kinds, text.find
    declarations = found.get("declaration", [])
    found["prototype"] = [
        node
        for node in declarations
        if find(b"(", node.start_byte, node.end_byte) >= 0 and kinds.is_prototype(node)
    ]
    for name in _WITH_BODY:
        if name in found:
            found[name] = [node for node in found[name] if kinds.has_body(node)]
    return found


def _walk(root: Node, text: bytes, kinds: _Kinds) -> dict[str, list[Node]]:
    """Enter only what may hold something wanted."""
    found: defaultdict[str, list[Node]] = defaultdict(list)
    plain, leaves, find = kinds.plain.get, kinds.leaves, text.find
    declarations, bodied = kinds.declarations, kinds.bodied
    broken = root.has_error
    if root.is_error:
        found["error"].append(root)
    entered = [root]
    while entered:
        node = entered.pop()
        # Punctuation matters only where it is missing.
        for child in node.children if broken else node.named_children:
            kind = child.kind_id
            if kind in leaves and not broken:
                continue
            name = plain(kind)
            if name is not None:
                found[name].append(child)
            start, end = child.start_byte, child.end_byte
            # What is wanted inside has a parenthesis or a brace.
            holds = find(b"(", start, end) >= 0 or find(b"{", start, end) >= 0
            if holds and kind in declarations and kinds.is_prototype(child):
                found["prototype"].append(child)
            if holds and kind in bodied and kinds.has_body(child):
                found[bodied[kind]].append(child)
            if broken and (child.is_error or child.is_missing):
                found["error" if child.is_error else "missing"].append(child)
            if holds or broken or kind in kinds.always_entered:
                entered.append(child)
    return found
