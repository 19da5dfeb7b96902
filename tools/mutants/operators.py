"""The changes that are made: those of cosmic-ray that fit, and two of our own in its form.

Of the many ways to replace an operator, one or two for each are taken: those next
to it, which are the hardest to notice. How many mutants come of it, and which are
left out, `generate` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import parso
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.operators.provider import OperatorProvider
from parso.tree import NodeOrLeaf

Position = tuple[tuple[int, int], tuple[int, int]]

CHOSEN = (
    "ReplaceComparisonOperator_Eq_NotEq",
    "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Lt_LtE",
    "ReplaceComparisonOperator_Lt_GtE",
    "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_LtE_Gt",
    "ReplaceComparisonOperator_Gt_GtE",
    "ReplaceComparisonOperator_Gt_LtE",
    "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_GtE_Lt",
    "ReplaceComparisonOperator_Is_IsNot",
    "ReplaceComparisonOperator_IsNot_Is",
    "ReplaceBinaryOperator_Add_Sub",
    "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_FloorDiv",
    "ReplaceBinaryOperator_FloorDiv_Mul",
    "ReplaceBinaryOperator_Div_Mul",
    "ReplaceBinaryOperator_Mod_Mul",
    "ReplaceBinaryOperator_BitOr_BitAnd",
    "ReplaceBinaryOperator_BitAnd_BitOr",
    "ReplaceBinaryOperator_LShift_RShift",
    "ReplaceBinaryOperator_RShift_LShift",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "NumberReplacer",
    "ZeroIterationForLoop",
)


class NegateCondition(Operator):  # type: ignore[misc]
    """Negates what an if, elif, while, conditional expression or comprehension asks.

    cosmic-ray's AddNot leaves out comprehensions, and puts its `not` before the
    first operand alone where a condition joins several.
    """

    @staticmethod
    def conditions(node: Any) -> list[int]:
        """Which children of `node` are conditions."""
        if node.type == "if_stmt":
            return [
                at + 1
                for at, child in enumerate(node.children)
                if getattr(child, "value", "") in ("if", "elif")
            ]
        if node.type in ("while_stmt", "comp_if"):
            return [1]
        if node.type in ("test", "ternary"):
            return [2]
        return []

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        for at in self.conditions(node):
            yield node.children[at].start_pos, node.children[at].end_pos

    def mutate(self, node: Any, index: int) -> NodeOrLeaf:
        at = self.conditions(node)[index]
        code = node.children[at].get_code(include_prefix=False)
        node.children[at] = parso.parse(f" not ({code})")
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (
            Example("if a or b: pass", "if not (a or b): pass"),
            Example("x = a if b else c", "x = a if not (b) else c"),
            Example("x = [a for a in b if a]", "x = [a for a in b if not (a)]"),
        )


class DropCase(Operator):  # type: ignore[misc]
    """Takes one case out of a table: a text of a listing, or a pair with a text as its key."""

    @staticmethod
    def cases(node: Any) -> list[tuple[int, int]]:
        """The children that make up each case, its comma too, as first and one past the last."""
        if node.type not in ("testlist_comp", "dictorsetmaker"):
            return []
        children = node.children
        if any(child.type in ("comp_for", "sync_comp_for") for child in children):
            return []
        commas = [at for at, c in enumerate(children) if getattr(c, "value", "") == ","]
        starts = [0, *(at + 1 for at in commas)]
        ends = [*(at + 1 for at in commas), len(children)]
        found = [(a, b) for a, b in zip(starts, ends, strict=True) if a < b]
        if len(found) < 2:
            return []
        return [(a, b) for a, b in found if children[a].type in ("string", "strings")]

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        for first, end in self.cases(node):
            yield node.children[first].start_pos, node.children[end - 1].end_pos

    def mutate(self, node: Any, index: int) -> NodeOrLeaf:
        first, end = self.cases(node)[index]
        del node.children[first:end]
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (
            Example('x = {"a", "b"}', 'x = { "b"}'),
            Example('x = {"a": 1, "b": 2}', 'x = {"a": 1,}', occurrence=1),
        )


def operators() -> dict[str, Operator]:
    """Each by its name."""
    provider = OperatorProvider()
    chosen = {name: provider[name]() for name in CHOSEN}
    return {**chosen, "NegateCondition": NegateCondition(), "DropCase": DropCase()}
