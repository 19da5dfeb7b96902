"""The arithmetic of launch tables: integers, names, ``+ - * // %``, ``min``, ``max``, ``ceil_div``.

Nothing is executed: an expression is parsed and walked, and anything else in it is an error.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def _ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max, "ceil_div": _ceil_div}


def evaluate(expression: str | int, names: Mapping[str, int]) -> int:
    """The value of ``expression`` with ``names`` bound.

    Raises ValueError for a name that is not bound and for anything outside the grammar.
    """
    if isinstance(expression, int):
        return expression
    return _value(ast.parse(expression, mode="eval").body, expression, names)


def _value(node: ast.expr, whole: str, names: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            function = _OPERATORS[type(op)]
            return function(_value(left, whole, names), _value(right, whole, names))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(arg, whole, names) for arg in args))
    raise ValueError(f"{whole!r}: cannot evaluate {ast.unparse(node)!r} here")
