"""The type of what an address points to, as far as a function's text tells.

`&a[i]`, `p + 1`, `&s->member`, casts: the base is looked up among the function's
variables, the members of the file's classes and its globals. Aliases are
resolved by `cudalint.semantics.types`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cudalint.project.scalar_types import SIZES
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Bindings, Local

FLOATS = frozenset(
    (
        *("float", "double", "half", "__half", "half2", "__half2", "float16_t", "bfloat16_t"),
        *("__nv_bfloat16", "nv_bfloat16", "__nv_bfloat162", "nv_bfloat162"),
        *("float2", "float3", "float4", "double2", "Half", "BFloat16", "half_t"),
    )
)
"""The floating-point types that an atomic can add, and the vectors of them, by last name."""

_CAST = regex(
    r"\(*\s*(?:(?:reinterpret_cast|static_cast|const_cast)\s*<([^<>]*)>"
    r"|\(\s*([\w:]+(?:\s+[\w:]+)*(?:\s*\*[*\s]*|\s+))\)\s*(?=[\w&(*]))"
)
_BASE = regex(r"[\s(&*]*([A-Za-z_]\w*)\s*")
_STEP = regex(r"\s*(?:(?P<index>\[)|(?:\.|->)\s*(?P<member>[A-Za-z_]\w*)(?!\s*\()|\))")
_WORD = regex(r"[A-Za-z_]\w*")
_NO_TYPE = frozenset(
    (
        *("const", "volatile", "extern", "static", "constexpr", "__shared__", "__device__"),
        *("__restrict__", "__restrict", "__managed__", "__constant__", "typename", "std", "inline"),
    )
)
_DEPTH = 4


class Pointees:
    """Answers for one function."""

    def __init__(self, bindings: Bindings, context: Context) -> None:
        self._bindings = bindings
        self._context = context
        self._path = bindings.function.span.path

    def of_address(self, text: str, at: int, depth: int = _DEPTH) -> str | None:
        """The name of the type that the address `text`, used at `at`, points to."""
        cast = _CAST.match(text)
        if cast is not None:
            first, second = cast.groups("")
            return self.name(str(first or second))
        return self.of_object(text, at, depth)

    def of_object(self, text: str, at: int, depth: int = _DEPTH) -> str | None:
        """The element type of the variable or member that the expression `text` starts with."""
        base = _BASE.match(text)
        if base is None or depth == 0:
            return None
        rest = text[base.end() :]
        if rest[:1] in ("(", "<") or rest.startswith("::"):
            return None
        local = self._bindings.find(base[1], at)
        if local is not None:
            type_ = self._declared(local, depth)
        else:
            type_ = self._member(self._bindings.function.owner, base[1]) or self._global(base[1])
        for member in self._members(rest):
            type_ = self._member(type_ or "", member)
        return type_

    def name(self, text: str) -> str | None:
        """The last name of the type `text` without pointers, aliases resolved."""
        words: list[str] = [
            word for word in _WORD.findall(text.split("<")[0]) if word not in _NO_TYPE
        ]
        if not words or words[-1] == "auto":
            return None
        last = words[-1]
        if last in FLOATS or " ".join(words) in SIZES or last in SIZES:
            return last
        if last in _WORD.findall(self._bindings.function.template or ""):
            return None
        spelt = text.replace("[]", "*")
        for word in ("__shared__", "extern", "__device__", "static", "volatile", "[", "]"):
            spelt = spelt.replace(word, " ")
        resolved = self._context.types.spelling(spelt, self._bindings.function)
        found = _WORD.findall((resolved or last).split("<")[0])
        found = [word for word in found if word not in _NO_TYPE]
        return found[-1] if found else None

    def _declared(self, local: Local, depth: int) -> str | None:
        if "auto" not in _WORD.findall(local.type):
            return self.name(local.type)
        for value in local.values:
            text = self._bindings.code[value.start : value.end].strip().removeprefix("=").strip()
            found = self.of_address(text, value.start, depth - 1)
            if found is not None:
                return found
        return None

    def _members(self, rest: str) -> list[str]:
        """The members that an expression goes through after its base."""
        found = []
        at = 0
        while match := _STEP.match(rest, at):
            at = match.end()
            if match["index"]:
                nesting = 1
                while at < len(rest) and nesting:
                    nesting += (rest[at] == "[") - (rest[at] == "]")
                    at += 1
            elif match["member"]:
                found.append(match["member"])
        return found

    def _member(self, owner: str, name: str) -> str | None:
        project = self._context.project
        for path in (self._path, *project.includes.closure(self._path)) if owner else ():
            for record in self._context.models[path].structs:
                if record.name == owner:
                    for member in record.members:
                        if member.name == name:
                            return self.name(member.type)
        return None

    def _global(self, name: str) -> str | None:
        declared = re.search(
            rf"__(?:device|managed|shared)__([^;=(){{}}]*?)\b{name}\s*[\[;={{]", self._bindings.code
        )
        return self.name(declared[1]) if declared else None
