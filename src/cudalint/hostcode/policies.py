"""Whether an algorithm of Thrust is given an execution policy, or works on the host.

A policy is known by its text, by the local that holds it, or by the function of the
project that makes it. What a call without one means is rule CU306's to say.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from cudalint.project.headermacros import home
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Local
    from cudalint.syntax.model import Call

_POLICY = regex(
    r"(?i)\bpar\b|par_nosync|polic|exec|thrust::(?:device|host|seq|omp|tbb)\b|stream|handle|\bres"
)
_MAKES_POLICY = regex(
    rb"\breturn\s+(?:::)?(?:thrust::(?:(?:cuda|hip)::par\w*|device|host|seq|omp|tbb)\b"
    rb"|rmm::exec_policy)"
)
_HOST = regex(r"host_vector|std::vector|universal_host")
_CALLED = regex(r"([A-Za-z_]\w*)\s*(?:<[^()]*>)?\s*\([^()]*\)[;\s]*$")


class Policies:
    """Answers for the calls of one run."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def passed(self, call: Call) -> bool:
        """Whether the first argument is a policy, or an argument is memory of the host."""
        arguments = [argument.text for argument in call.arguments]
        texts = [arguments[0], self._said(arguments[0], call)]
        if any(_POLICY.search(text) or self._makes(text) for text in texts):
            return True
        return any(_HOST.search(self._said(text, call)) for text in arguments)

    def _makes(self, text: str) -> bool:
        """Whether a text ends in the call of a function that returns a policy."""
        called = _CALLED.search(text)
        return called is not None and called[1] in self._makers

    @cached_property
    def _makers(self) -> frozenset[str]:
        """The functions that return one of Thrust's policies, which they make."""
        found: set[str] = set()
        for path, model in self._context.models.items():
            data = self._context.sources[path].data
            if _MAKES_POLICY.search(data) is None:
                continue
            for function in model.functions:
                body = function.body
                if body is not None and _MAKES_POLICY.search(data, body.start, body.end):
                    found.add(function.name)
        return frozenset(found)

    def _said(self, text: str, call: Call) -> str:
        """The type and the values of the local that an argument starts with."""
        local = local_of(text, call, self._context)
        if local is None:
            return ""
        code = self._context.code(home(call))
        return " ".join((local.type, *(code[value.start : value.end] for value in local.values)))


def local_of(text: str, call: Call, context: Context) -> Local | None:
    """The local that an argument of `call` starts with, None for none."""
    name = re.match(r"[&*]?(\w+)", text)
    bindings = context.bindings(home(call), call.function)
    return bindings.find(name[1], call.span.start) if bindings and name else None
