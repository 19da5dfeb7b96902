"""Lambdas that are kept and called later, which are functions of their own in the call graph.

Assigned to a member or a global, put into a container that is one, declared at
file scope, given to a thread, a queue of tasks or a function that by its name calls
it back later, or bound to a name of another language's module; and local ones that
the function never speaks of again, or only hands away so. Every other lambda belongs to
the function that it is written in: who declares a local one or passes it on
calls it too. Text around the lambda decides.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from string import ascii_letters, digits, whitespace
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import device_only, enclosing
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.source import SourceFile
    from cudalint.syntax.model import Call, FileModel, Function

_ASSIGNED = regex(
    rb"(?P<before>[\w>&*]?)\s*(?P<path>(?:[A-Za-z_]\w*\s*(?:\[[^\[\]]*\]\s*)?(?:\.|->|::)\s*)*)"
    rb"(?P<name>[A-Za-z_]\w*)\s*(?P<index>(?:\[[^\[\]]*\]\s*)?)=\s*$"
)
_KEEPING = frozenset(
    ("push_back", "emplace_back", "push_front", "emplace_front", "emplace", "insert", "push")
)
_TASKS = frozenset(("async", "enqueue", "submit", "post", "schedule", "addTask", "add_task"))
_BINDING = frozenset(
    ("def", "def_static", "def_property", "def_property_readonly", "def_property_static", "impl")
)
_BOUND = regex(r"^(?:py|pybind11|nb|nanobind)::(?:init|cpp_function)$")
_THREAD = regex(rb"\bj?thread\s*(?:[A-Za-z_]\w*\s*)?[({]\s*$")
_CALLBACK = r"(?:callback|hook|handler|listener|observer|finali[sz]er|deleter)"
_LATER = regex(
    r"on(?:_|(?=[A-Z]))(?!(?i:device|stream|gpu|cpu|host|thread|rank|queue|context|each|every|all))\w+"
    rf"|set(?i:\w*{_CALLBACK}\w*)|(?:add|append|install|push)(?i:\w*{_CALLBACK}\w*)"
    r"|register(?:_\w+|[A-Z]\w*)?|subscribe|at_?(?:quick_)?exit|atExit"
    r"|cuda(?:LaunchHostFunc|StreamAddCallback)\w*|cu(?:LaunchHostFunc|StreamAddCallback)\w*"
)
_DEFER = regex(r"defer(?:_\w+|[A-Z]\w*)?")
_JOINED = (ascii_letters + digits + "_.:->&*" + whitespace).encode()
_HELD = regex(rb"\bfunction\s*<[^;{}]*>\s*([A-Za-z_]\w*)\s*[({]\s*$")
_CONVERTED = regex(rb"(?:\+|\(\s*cu\w+\s*\))\s*$")
_GROWS = regex(rb"\s*(?:\.|->)\s*(?:push_back|emplace_back|reserve)\b")
_DISCARDED = regex(rb"\(\s*void\s*\)\s*$")
_BEFORE = 160
_FAR = 100


class StoredLambda(msgspec.Struct, frozen=True):
    """A lambda of the file at `path` with the name that it is kept under.

    `function` is its record, with a name. `kept_in` is the member, container or
    variable, "" for a thread's, a task queue's or a module's.
    """

    path: str
    function: Function
    kept_in: str


def stored_lambdas(
    models: Mapping[str, FileModel], sources: Mapping[str, SourceFile]
) -> Iterator[StoredLambda]:
    """Those of the host code of all files, by path and place."""
    for path in sorted(models):
        source = sources.get(path)
        lambdas = [f for f in models[path].functions if f.lambda_ and not f.via_macro]
        if source is None or not lambdas:
            continue
        calls = _Calls(models[path])
        for function in lambdas:
            if function.kind != "definition" or device_only(models[path], function.index):
                continue
            kept = _kept_in(function, models[path], source.data, calls)
            if kept is not None:
                around = models[path].functions[enclosing(models[path], function.index)].name
                name = kept or f"lambda in {around}"
                named = msgspec.structs.replace(function, name=name)
                yield StoredLambda(path, named, kept)


def _kept_in(function: Function, model: FileModel, data: bytes, calls: _Calls) -> str | None:
    """The name that a lambda is kept under, "" for none; None for one that is not kept."""
    start = function.span.start
    before = data[max(0, start - _BEFORE) : start]
    if before.rstrip().endswith((b"+", b")")):
        before = _CONVERTED.sub(b"", before)
    last = before.rstrip()[-1:]
    assigned = _ASSIGNED.search(before, _near(before)) if last == b"=" else None
    held = _HELD.search(before) if last in (b"(", b"{") and function.parent >= 0 else None
    if held is not None:
        return _handed_away(held[1], function, model, data, calls)
    if assigned is not None:
        name = assigned["name"].decode()
        declared = bool(assigned["before"]) and not assigned["path"]
        if function.parent < 0:
            return name
        if declared:
            return _handed_away(assigned["name"], function, model, data, calls)
        if not assigned["path"] and _is_local(name, function, model, data):
            return None
        return name
    if _THREAD.search(before):
        return ""
    if not before.rstrip().endswith((b"(", b",")) or function.parent < 0:
        return None
    call = calls.around(start)
    if call is None:
        return None
    bound = call.name in _BINDING and bool(call.receiver)
    if bound or call.name in _TASKS or _BOUND.match(call.callee) or _calls_later(call):
        return ""
    if call.name in _KEEPING and call.receiver:
        name = re.split(r"\.|->|::", call.receiver)[-1].partition("[")[0].strip()
        kept = not _is_local(name, function, model, data) or _is_filled(name, function, model, data)
        return name if kept else None
    return None


def _near(before: bytes) -> int:
    """Where what `_ASSIGNED` matches can begin at the earliest: its search is slow.

    Only the index of an array holds more than names and what joins them.
    """
    return 0 if b"]" in before else len(before.rstrip(b"= \t\n\r\f\v").rstrip(_JOINED))


def _calls_later(call: Call) -> bool:
    """Whether a call, by its name, keeps what it is given and calls it at some other time.

    A free function `defer` runs it when the scope around ends.
    """
    later = _LATER.fullmatch(call.name) is not None
    return later or (bool(call.receiver) and _DEFER.fullmatch(call.name) is not None)


def _handed_away(
    name: bytes, function: Function, model: FileModel, data: bytes, calls: _Calls
) -> str | None:
    """ "" for a local lambda that the function around neither calls nor gives to who may."""
    around = enclosing(model, function.index)
    body = model.functions[around].body if around >= 0 else None
    end = function.span.end
    if body is None or data[end : end + _BEFORE].lstrip().startswith(b"("):
        return None
    if any(name.decode() in macro.body for macro in model.macros):
        return None
    for mention in _mentions(name, end, body.end, model, data):
        if _DISCARDED.search(data, max(end, mention.start() - _BEFORE), mention.start()):
            continue
        called = data[mention.end() : body.end].lstrip().startswith(b"(")
        call = None if called else calls.around(mention.start())
        if call is not None and call.name == "move":
            call = calls.around(call.span.start)
        if call is None or not _calls_later(call):
            return None
    return ""


def _is_filled(name: str, function: Function, model: FileModel, data: bytes) -> bool:
    """Whether a container is a parameter that the function around does nothing with but fill."""
    around = model.functions[enclosing(model, function.index)]
    if around.body is None or all(p.name != name for p in around.parameters):
        return False
    mentions = _mentions(name.encode(), around.body.start, around.body.end, model, data)
    return all(_GROWS.match(data, mention.end()) for mention in mentions)


def _mentions(
    name: bytes, start: int, end: int, model: FileModel, data: bytes
) -> Iterator[re.Match[bytes]]:
    """Where a part of the file speaks of a name, outside comments."""
    for mention in regex(rb"\b" + re.escape(name) + rb"\b").finditer(data, start, end):
        at = bisect_right(model.comments, mention.start(), key=lambda c: c.span.start) - 1
        if at < 0 or not model.comments[at].span.covers(mention.start()):
            yield mention


def _is_local(name: str, function: Function, model: FileModel, data: bytes) -> bool:
    """Whether a variable of this name is declared before the lambda in a function around it."""
    index = function.parent
    declared = regex(rb"[\w>&*]\s+[&*]*" + re.escape(name.encode()) + rb"\s*[;={(\[,)]")
    while index >= 0:
        around = model.functions[index]
        if any(parameter.name == name for parameter in around.parameters):
            return True
        if around.body is not None and declared.search(
            data, around.body.start, function.span.start
        ):
            return True
        index = around.parent if around.lambda_ else -1
    return False


class _Calls:
    """The calls of a file by what their parentheses hold."""

    def __init__(self, model: FileModel) -> None:
        calls = (call for call in model.calls if not call.via_macro)
        self._calls = sorted(calls, key=lambda call: call.arguments_at)

    def around(self, offset: int) -> Call | None:
        """The innermost call in whose arguments `offset` lies; none that is very far."""
        at = bisect_right(self._calls, offset, key=lambda call: call.arguments_at)
        for call in reversed(self._calls[max(0, at - _FAR) : at]):
            if offset < call.arguments_at + len(call.argument_text):
                return call
        return None
