"""Finds what takes or frees host memory without an API call: `new`, `delete`, growing containers.

API calls are `cudalint.hostcode.memorycalls`; whether any of it is on a launch path is
`cudalint.hostcode.hotpath`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cudalint.devicecode.devicecode import enclosing
from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.model import Call

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.syntax.model import FileModel, Function

GROWING = frozenset(
    {
        *("push_back", "emplace_back", "push_front", "emplace_front", "resize", "reserve"),
        *("insert", "emplace", "append", "assign", "try_emplace", "insert_or_assign", "push"),
    }
)
"""Methods of standard containers that may take memory."""

_CONTAINER = regex(
    r"^(?:const\s+)?(?:::)?std::(?:vector|string|deque|list|forward_list|map|multimap|set"
    r"|multiset|queue|stack|unordered_(?:multi)?(?:map|set)|basic_string|ostringstream)\b(?!.*::)"
)
_NEW = regex(r"(?<![\w.#>~])(?P<word>new|delete)\b(?=\s*(?:\[\s*\]\s*)?[A-Za-z_*(:])")
_NAME = regex(r"[A-Za-z_]\w*")
# Literals first: the search skips other text at the speed of C.
_QUICK = (
    (b"new", regex(rb"new(?<!\wnew)\b")),
    (b"delete", regex(rb"delete(?<!\wdelete)\b")),
)
_BEFORE = regex(r"(?:\boperator\s*|=\s*)$")


def expressions(
    model: FileModel, context: Context, wanted: Callable[[int], bool]
) -> Iterator[Call]:
    """The `new` and `delete` expressions of a file, as calls of these names.

    Those in functions whose index is `wanted`; the file's code is read only if
    there may be some. Placement `new (place) T` takes no memory, and is left
    out; so are deleted functions, operators, and macros' bodies.
    """
    functions: _Functions | None = None
    data = context.sources[model.path].data
    for quick in sorted(
        (m for word, pattern in _QUICK if word in data for m in pattern.finditer(data)),
        key=lambda m: m.start(),
    ):
        functions = functions or _Functions(model)
        function = functions.around(quick.start())
        if function < 0 or not wanted(function):
            continue
        match = _NEW.match(context.code(model.path), quick.start())
        if match is not None and not _is_other(match):
            yield _as_call(match, model.path, function)


def _is_other(match: re.Match[str]) -> bool:
    """Whether the word makes a placement, a deleted function, or an operator's name."""
    code, start = match.string, match.start()
    before = _BEFORE.search(code[max(0, start - 24) : start])
    if before and (match["word"] == "delete" or "operator" in before[0]):
        return True
    after = code[match.end() : match.end() + 200].lstrip()
    return match["word"] == "new" and after.startswith("(") and not _is_type(after)


def _as_call(match: re.Match[str], path: str, function: int) -> Call:
    end = match.string.find(";", match.end())
    name = Span(path, match.start("word"), match.end("word"))
    return Call(
        span=name,
        name_span=name,
        statement=Span(path, name.start, end + 1 if end >= 0 else name.end),
        callee=match["word"],
        name=match["word"],
        receiver="",
        argument_text=b"",
        arguments_at=name.end,
        function=function,
    )


def _is_type(after: str) -> bool:
    """`new (int[3])` names a type in parentheses, and is no placement."""
    depth = 0
    for place, char in enumerate(after):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return after[place + 1 :].lstrip()[:1] in (";", ",", ")", "[")
    return False


def is_deleter(call: Call, model: FileModel, context: Context) -> bool:
    """Whether `call` frees what the lambda around it is given: that runs at some other time."""
    function = model.functions[call.function] if call.function >= 0 else None
    if function is None or not function.lambda_ or not function.parameters:
        return False
    freed = set(_NAME.findall(context.text(call.statement)))
    return any(parameter.name in freed for parameter in function.parameters)


def grows(call: Call, model: FileModel, context: Context) -> bool:
    """Whether a method call grows a standard container, as far as the receiver's type is known."""
    receiver = call.receiver.removeprefix("this->").removeprefix("*").strip()
    if not receiver.isidentifier() or call.function < 0:
        return False
    return _is_container(_type_of(receiver, call, model, context))


def _is_container(type_text: str | None) -> bool:
    return type_text is not None and bool(_CONTAINER.match(type_text))


def _type_of(name: str, call: Call, model: FileModel, context: Context) -> str | None:
    index = enclosing(model, call.function)
    if index < 0:
        return None
    function = model.functions[index]
    member = _member(name, function.owner, model, context) if function.owner else None
    if not _is_container(member) and not _speaks_of_containers(function, context):
        return member
    bindings = context.bindings(model.path, call.function)
    local = bindings.find(name, call.span.start) if bindings else None
    return member if local is None else local.type


def _speaks_of_containers(function: Function, context: Context) -> bool:
    """Whether a local of the function may be a standard container: a quick look."""
    start, end = function.head.start, function.body.end if function.body else function.head.end
    return context.sources[function.span.path].data.find(b"std::", start, end) >= 0


def _member(name: str, owner: str, model: FileModel, context: Context) -> str | None:
    for path in (model.path, *context.project.includes.closure(model.path)):
        for struct in context.models[path].structs:
            if struct.name == owner:
                for member in struct.members:
                    if member.name == name:
                        return member.type
    return None


class _Functions:
    """The innermost function around an offset."""

    def __init__(self, model: FileModel) -> None:
        self._bodies = sorted(
            (f.body.start, f.body.end, f.index)
            for f in model.functions
            if f.body is not None and not f.via_macro
        )
        self._starts = [start for start, _, _ in self._bodies]

    def around(self, offset: int) -> int:
        place = bisect_right(self._starts, offset) - 1
        while place >= 0:
            _, end, index = self._bodies[place]
            if offset < end:
                return index
            place -= 1
        return -1
