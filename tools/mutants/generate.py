"""All mutants of a file, from its text.

Left out is what no test could notice or is a test itself: annotations, what stands
under `if TYPE_CHECKING`, and a rule's own examples; and what is no Python any more.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

import parso
from mutant import Mutant, digest_of
from operators import operators
from parso.tree import BaseNode, NodeOrLeaf

EXAMPLES = frozenset({"VALID", "INVALID"})
OPERATORS = operators()
Lines = tuple[tuple[int, int], tuple[int, int]]


def mutants_of(path: str, text: str) -> list[Mutant]:
    """The mutants of the file in the order of its text, each of them once."""
    left_out = list(_left_out(ast.parse(text)))
    digest = digest_of(text)
    starts = _line_starts(text)
    found: dict[tuple[int, str, str], Mutant] = {}
    for node in _nodes(parso.parse(text)):
        for name, operator in OPERATORS.items():
            for index, (start, _) in enumerate(operator.mutation_positions(node)):
                if any(first <= start < end for first, end in left_out):
                    continue
                line, column = node.get_start_pos_of_prefix()
                mutated = operator.mutate(_copy(node), index)
                old, new = node.get_code(), mutated.get_code()
                at, old, new = _narrow(starts[line - 1] + column, old, new)
                place = text.count("\n", 0, at) + 1
                mutant = Mutant(path, digest, name, at, place, old, new)
                if old != new and _is_code(mutant.apply(text)):
                    found.setdefault((at, old, new), mutant)
    return sorted(found.values(), key=lambda m: (m.start, m.operator, m.new))


def _is_code(text: str) -> bool:
    """Whether it is Python: `("a", *rest)` without its first case is none."""
    try:
        compile(text, "<mutant>", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _nodes(node: NodeOrLeaf) -> Iterator[Any]:
    """Every node, but for the `*` between parameters, which cosmic-ray takes for a product."""
    if node.parent is None or node.parent.type not in ("parameters", "lambdef"):
        yield node
    if isinstance(node, BaseNode):
        for child in node.children:
            yield from _nodes(child)


def _copy(node: Any) -> Any:
    """The node and what is below it anew, under the parent that it has."""
    return copy.deepcopy(node, {id(node.parent): node.parent})


def _narrow(start: int, old: str, new: str) -> tuple[int, str, str]:
    """The change without the text that both begin and end with."""
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return start + first, old[first : len(old) - last], new[first : len(new) - last]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _left_out(module: ast.Module) -> Iterator[Lines]:
    """First and one past the last place, as line and column, of what is not mutated."""
    for node in ast.walk(module):
        for part in _parts(node):
            assert part.end_lineno is not None
            assert part.end_col_offset is not None
            yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def _parts(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns:
        yield node.returns
    elif isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation:
        yield node.annotation
    elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        yield node
    elif isinstance(node, ast.Assign):
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        if names & EXAMPLES:
            yield node
