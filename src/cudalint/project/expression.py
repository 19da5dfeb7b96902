"""Evaluates integer constant expressions of C++, as far as text alone can.

`evaluate` takes the text of an expression and a function that knows names.
What a name is worth in a file is `cudalint.project.constants`; whether a preprocessor
branch is taken is `cudalint.project.conditions`. Nothing here reads a FileModel.

A part that can't be evaluated is None, and so is all that needs it; a branch of
`?:` that is not taken, or the right side of a decided `&&`, needs nothing.
Arithmetic is that of 64-bit integers: what does not fit is None, and so is a
negative result where an unsigned literal takes part.
"""

from __future__ import annotations

from collections.abc import Callable

from cudalint.project.scalar_types import INTEGERS, SIZES
from cudalint.regex import regex

Lookup = Callable[[str], "int | None"]
Apply = Callable[[str, "list[str]"], "int | None"]

_TOKEN = regex(
    r"\s*(?:"
    r"(?P<number>0[xX][0-9a-fA-F][0-9a-fA-F']*|0[bB][01][01']*|[0-9][0-9']*)(?P<suffix>[uUlLzZ]*)(?![\w.])"
    r"|(?P<name>(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*)"
    r"|'(?P<char>\\?.)'"
    r"|(?P<operator><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^~!?:(),{}])"
    r")"
)

_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}

_TYPE_WORDS = frozenset(word for name in INTEGERS for word in name.split()) | {"signed", "const"}
_CASTS = frozenset({"static_cast", "const_cast", "reinterpret_cast"})
_DEPTH = 64


class _MalformedError(Exception):
    """The text is no expression that this reader knows."""


def evaluate(
    text: str,
    lookup: Lookup,
    *,
    apply: Apply | None = None,
    size: Lookup | None = None,
) -> int | None:
    """The value of the expression `text`, or None when it can't be told.

    `lookup` gives the value of a (qualified) name; `apply` that of a call
    `name(arguments)`, arguments as text; `size` the size in bytes of a type
    that is not built in.
    """
    tokens = _tokens(text)
    if not tokens:
        return None
    reader = _Reader(tokens, lookup, apply, size)
    try:
        value = reader.ternary(0)
    except _MalformedError:
        return None
    return value if reader.at == len(tokens) else None


def split_arguments(tokens: list[str]) -> list[str]:
    """Cut the tokens between a call's parentheses at their top-level commas."""
    arguments: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        if token in ("(", "{"):
            depth += 1
        elif token in (")", "}"):
            depth -= 1
        if token == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return [" ".join(argument) for argument in arguments] if tokens else []


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            return []
        token = match.group().strip()
        found.append("".join(token.split()) if match["name"] else token)
        at = match.end()
    return found


def _number(token: str) -> int:
    digits = token.rstrip("uUlLzZ").replace("'", "")
    if digits[:2] in ("0x", "0X"):
        return int(digits, 16)
    if digits[:2] in ("0b", "0B"):
        return int(digits, 2)
    try:
        return int(digits, 8) if len(digits) > 1 and digits[0] == "0" else int(digits)
    except ValueError:
        raise _MalformedError from None


def _narrow(value: int | None, type_name: str) -> int | None:
    if value is None or type_name not in INTEGERS:
        return None
    bits, signed = INTEGERS[type_name]
    if type_name == "bool":
        return int(value != 0)
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


class _Reader:
    """A precedence climber over the tokens; `at` is the next one."""

    def __init__(
        self, tokens: list[str], lookup: Lookup, apply: Apply | None, size: Lookup | None
    ) -> None:
        self.tokens = tokens
        self.lookup = lookup
        self.apply = apply
        self.size = size
        self.at = 0
        self.unsigned = False

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str = "") -> str:
        token = self.peek()
        if not token or (expected and token != expected):
            raise _MalformedError
        self.at += 1
        return token

    def ternary(self, depth: int) -> int | None:
        condition = self.binary(1, depth)
        if self.peek() != "?":
            return condition
        self.take("?")
        yes = self.ternary(depth + 1)
        self.take(":")
        no = self.ternary(depth + 1)
        if condition is None:
            return yes if yes == no else None
        return yes if condition else no

    def binary(self, lowest: int, depth: int) -> int | None:
        left = self.unary(depth)
        while _PRECEDENCE.get(self.peek(), 0) >= lowest:
            operator = self.take()
            right = self.binary(_PRECEDENCE[operator] + 1, depth + 1)
            left = self.bound(_combine(operator, left, right))
        return left

    def bound(self, value: int | None) -> int | None:
        if value is None or not -(1 << 63) <= value < (1 << 64) or (self.unsigned and value < 0):
            return None
        return value

    def unary(self, depth: int) -> int | None:
        if depth > _DEPTH:
            raise _MalformedError
        token = self.peek()
        if token not in ("+", "-", "~", "!"):
            return self.primary(depth)
        self.take()
        value = self.unary(depth + 1)
        if value is None:
            return None
        if token == "!":
            return int(not value)
        return self.bound({"+": value, "-": -value, "~": ~value}[token])

    def primary(self, depth: int) -> int | None:
        token = self.take()
        if token == "(":
            return self.parenthesis(depth)
        if token[0].isdigit():
            self.unsigned |= "u" in token.lower() and token[:2].lower() != "0b"
            return _number(token)
        if token[0] == "'":
            return ord(token[1]) if len(token) == 3 else None
        if token[0].isalpha() or token[0] in "_:":
            return self.named(token, depth)
        raise _MalformedError

    def parenthesis(self, depth: int) -> int | None:
        """What follows a `(`: a cast, or an expression in parentheses."""
        close = self.closing("(", ")")
        inner = self.tokens[self.at : close]
        if inner and all(_bare(word) in _TYPE_WORDS for word in inner):
            self.at = close + 1
            return _narrow(self.unary(depth + 1), _type_name(inner))
        value = self.ternary(depth + 1)
        self.take(")")
        return value

    def named(self, name: str, depth: int) -> int | None:
        """A keyword, a cast, a call or the name of a constant."""
        name = name.removeprefix("::")
        if name in ("true", "false"):
            return int(name == "true")
        if name == "sizeof":
            return self.size_of()
        if name in _CASTS:
            return self.cast(depth)
        words = [name]
        while _bare(words[-1]) in _TYPE_WORDS and _bare(self.peek()) in _TYPE_WORDS:
            words.append(self.take())
        opener = self.peek()
        if opener not in ("(", "{"):
            return self.lookup(name) if len(words) == 1 else None
        self.take()
        close = self.closing(opener, ")" if opener == "(" else "}")
        inner = self.tokens[self.at : close]
        if all(_bare(word) in _TYPE_WORDS for word in words):
            value = self.ternary(depth + 1) if inner else 0
            self.at = close + 1
            return _narrow(value, _type_name(words))
        self.at = close + 1
        return self.call(_bare(name), split_arguments(inner)) if opener == "(" else None

    def call(self, name: str, arguments: list[str]) -> int | None:
        if name in ("min", "max") and len(arguments) == 2:
            values = [
                evaluate(argument, self.lookup, apply=self.apply, size=self.size)
                for argument in arguments
            ]
            known = [value for value in values if value is not None]
            return (min if name == "min" else max)(known) if len(known) == 2 else None
        return self.apply(name, arguments) if self.apply else None

    def cast(self, depth: int) -> int | None:
        self.take("<")
        words = []
        while self.peek() != ">":
            words.append(self.take())
        self.take(">")
        self.take("(")
        value = self.ternary(depth + 1)
        self.take(")")
        return _narrow(value, _type_name(words))

    def size_of(self) -> int | None:
        self.take("(")
        close = self.closing("(", ")")
        inner = self.tokens[self.at : close]
        self.at = close + 1
        if inner and inner[-1] == "*":
            return 8
        name = _type_name(inner)
        if name in SIZES:
            return SIZES[name]
        return self.size(name) if self.size and len(inner) == 1 else None

    def closing(self, opener: str, closer: str) -> int:
        """The place of the bracket that closes the one just taken."""
        depth = 1
        for place in range(self.at, len(self.tokens)):
            if self.tokens[place] == opener:
                depth += 1
            elif self.tokens[place] == closer:
                depth -= 1
                if depth == 0:
                    return place
        raise _MalformedError


def _bare(name: str) -> str:
    return name.removeprefix("::").removeprefix("std::")


def _type_name(words: list[str]) -> str:
    """The name that the tables have: `long unsigned int` is `unsigned long`."""
    kept = [_bare(word) for word in words if word != "const"]
    if len(kept) > 1 and "int" in kept:
        kept.remove("int")
    if "signed" in kept and "char" not in kept:
        kept.remove("signed")
    kept.sort(key=lambda word: word not in ("signed", "unsigned"))
    return " ".join(kept) or "int"


def _combine(operator: str, a: int | None, b: int | None) -> int | None:
    if operator == "&&":
        return 0 if 0 in (a, b) else None if None in (a, b) else 1
    if operator == "||":
        return int(bool(a) or bool(b)) if a or b or None not in (a, b) else None
    if a is None or b is None:
        return None
    if operator in ("/", "%"):
        if b == 0:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - quotient * b
    if operator in ("<<", ">>"):
        if not 0 <= b < 64:
            return None
        return a << b if operator == "<<" else a >> b
    return _PLAIN[operator](a, b)


_PLAIN: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
