"""Which copies change `__constant__` memory.

How a copy reads otherwise is `cudalint.hostcode.transfers`; whether it may be where it
is, rule CU205 says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.hostcode.transfers import TO_DEVICE_DRIVER, TO_SYMBOL
from cudalint.project.headermacros import home
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call

_DECLARED = (
    rb"__(?:constant|device)__\b(?:[^;{}()=]|(?:__align__|alignas)\s*\(\w+\))*?\b%s\s*[;=\[{,]"
)
_WORD = regex(r"[A-Za-z_]\w*")
_ADDRESS_OF = ("cudaGetSymbolAddress", "cuModuleGetGlobal", "cuModuleGetGlobal_v2")
CHANGING = TO_SYMBOL | TO_DEVICE_DRIVER
"""The calls that can change constant memory."""


class ConstantSymbols:
    """Answers for the calls of one run; declarations are looked for at the first question."""

    def __init__(self, project: Project, context: Context) -> None:
        self._project = project
        self._context = context
        self._spaces: dict[str, str] = {}

    def changed_by(self, call: Call) -> bool:
        """Whether `call` copies to a `__constant__` symbol.

        A symbol whose declaration is nowhere to be seen counts as one; the
        driver's copies do when their address comes, in the same function, from
        a symbol that is one.
        """
        if call.name in TO_SYMBOL and call.arguments:
            named = _WORD.findall(call.arguments[0].text)
            return not any(self._space(word) == "device" for word in named)
        if call.name not in TO_DEVICE_DRIVER or not call.arguments:
            return False
        words = frozenset(_WORD.findall(call.arguments[0].text))
        return any(
            len(other.arguments) > 1
            and not words.isdisjoint(_WORD.findall(other.arguments[0].text))
            and self._names_constant(other.arguments[-1].text)
            for other in self._project.hot_path.calls(_ADDRESS_OF)
            if home(other) == home(call) and other.function == call.function
        )

    def _names_constant(self, text: str) -> bool:
        return any(self._space(word) == "constant" for word in _WORD.findall(text))

    def _space(self, name: str) -> str:
        """`constant` or `device` for a variable, constant where it is both; "" for none."""
        if name not in self._spaces:
            wanted = name.encode()
            declared = regex(_DECLARED % wanted)
            found = {
                "constant" if b"__constant__" in match.group() else "device"
                for source in self._context.sources.values()
                if wanted in source.data
                for match in declared.finditer(source.data)
            }
            self._spaces[name] = min(found, default="")
        return self._spaces[name]
