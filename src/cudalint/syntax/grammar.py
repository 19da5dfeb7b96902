"""The tree-sitter-cuda grammar: one parser a process, and one look over each of its trees.

A query finds the wanted nodes in a third of the time that a walk takes, but to
compile one over this grammar takes as long as to read a few thousand lines. So
the first files of a process are walked, and a query is made when there are more.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property, lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Query, QueryCursor

_PLAIN = {
    "configuration": ("kernel_call_syntax",),
    "function": ("function_definition",),
    "instantiation": ("template_instantiation",),
    "typedef": ("type_definition",),
    "using": ("alias_declaration",),
    "enumerators": ("enumerator_list",),
    "statement": (
        *("expression_statement", "declaration", "field_declaration", "return_statement"),
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
}
"""The kinds that are wanted when they have a body."""

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
        self.call = number("call_expression")
        self.arguments = number("argument_list")
        self.linkage = number("linkage_specification")
        self.special = {self.call, self.linkage, *self.declarations, *self.bodied}
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

    def sort(self, node: Node, kind: int, found: defaultdict[str, list[Node]]) -> None:
        """Add a node whose kind alone does not say what it is."""
        if kind == self.call:
            arguments = node.child_by_field_name("arguments")
            if arguments is not None and arguments.kind_id == self.arguments:
                found["call"].append(node)
                found["arguments"].append(arguments)
        elif kind in self.declarations:
            if self.is_prototype(node):
                found["prototype"].append(node)
        else:
            body = node.child_by_field_name("body")
            if body is not None and kind in self.bodied:
                found[self.bodied[kind]].append(node)
            elif body is not None and body.kind_id == self.block:
                found["linkage"].append(node)

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
        kinds = (
            kind for group in (_PLAIN, _WITH_BODY) for names in group.values() for kind in names
        )
        alone = " ".join(
            f"({kind})" for kind in (*kinds, "call_expression", "linkage_specification")
        )
        query: Query = Query(self.language, f"[{alone}] @node (ERROR) @error (MISSING) @missing")
        return query


@lru_cache(maxsize=1)
def _grammar() -> _Grammar:
    return _Grammar()


def parse(text: bytes) -> tuple[Node, dict[str, list[Node]]]:
    """Parse `text`; the root, and the nodes that are wanted by name, in no particular order."""
    grammar = _grammar()
    root = grammar.parser.parse(text).root_node
    grammar.read += len(text)
    found: defaultdict[str, list[Node]] = defaultdict(list)
    if grammar.read > _QUERY_PAYS:
        _query(root, text, grammar, found)
    else:
        _walk(root, text, grammar.kinds, found)
    return root, found


def _query(root: Node, text: bytes, grammar: _Grammar, found: defaultdict[str, list[Node]]) -> None:
    captures = QueryCursor(grammar.query).captures(root)
    kinds, find = grammar.kinds, text.find
    for node in captures.get("node", ()):
        kind = node.kind_id
        name = kinds.plain.get(kind)
        if name is not None:
            found[name].append(node)
        if kind in kinds.special and (
            kind not in kinds.declarations or find(b"(", node.start_byte, node.end_byte) >= 0
        ):
            kinds.sort(node, kind, found)
    for name in ("error", "missing"):
        if name in captures:
            found[name] = captures[name]


def _walk(root: Node, text: bytes, kinds: _Kinds, found: defaultdict[str, list[Node]]) -> None:
    """Enter only what may hold something wanted."""
    plain, special, leaves, find = kinds.plain.get, kinds.special, kinds.leaves, text.find
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
            if holds and kind in special:
                kinds.sort(child, kind, found)
            if broken and (child.is_error or child.is_missing):
                found["error" if child.is_error else "missing"].append(child)
            if holds or broken or kind in kinds.always_entered:
                entered.append(child)
