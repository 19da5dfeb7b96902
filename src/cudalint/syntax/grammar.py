"""The tree-sitter-cuda grammar: one parser and one compiled query a process."""

from __future__ import annotations

from functools import lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Query, QueryCursor

_QUERY = """
(call_expression arguments: (argument_list) @arguments) @call
(kernel_call_syntax) @configuration
(function_definition) @function
(lambda_expression body: (_) @lambda_body) @lambda
(template_instantiation) @instantiation
(declaration declarator: [
  (function_declarator) (pointer_declarator (function_declarator))
  (reference_declarator (function_declarator))]) @prototype
(field_declaration declarator: [
  (function_declarator) (pointer_declarator (function_declarator))
  (reference_declarator (function_declarator))]) @prototype
(namespace_definition body: (_)) @scope
(class_specifier body: (_)) @scope
(struct_specifier body: (_)) @scope
(union_specifier body: (_)) @scope
(linkage_specification body: (declaration_list)) @linkage
(type_definition) @typedef
(alias_declaration) @using
(enumerator_list) @enumerators
[(expression_statement) (declaration) (field_declaration) (return_statement)
 (condition_clause) (throw_statement) (field_initializer)] @statement
[(if_statement) (for_statement) (for_range_loop) (while_statement) (do_statement)
 (switch_statement)] @branch
(ERROR) @error
(MISSING) @missing
"""


@lru_cache(maxsize=1)
def _tools() -> tuple[Parser, Query]:
    language = Language(tree_sitter_cuda.language())
    return Parser(language), Query(language, _QUERY)


def parse(text: bytes) -> tuple[Node, dict[str, list[Node]]]:
    """Parse `text`; the root and the captures of the query by name."""
    parser, query = _tools()
    root = parser.parse(text).root_node
    return root, QueryCursor(query).captures(root)
