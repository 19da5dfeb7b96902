"""Which work a program gives to no stream, or to the null one.

Launches, API calls that take a stream, and the project's own functions that do.
How a null stream is spelt is `cudalint.hostcode.streams`; what is said of it, rule CU303.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import enclosing
from cudalint.hostcode.launchconfigs import CONFIGURED, streams_of
from cudalint.hostcode.streams import is_stream_type, null_stream
from cudalint.project.headermacros import home
from cudalint.project.nullnames import NullNames
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Value
    from cudalint.project.project import Project
    from cudalint.syntax.model import Call, Function, Launch

STREAM_AT = {
    "cudaMemcpyAsync": 4,
    "cudaMemcpy2DAsync": 7,
    "cudaMemcpy3DAsync": 1,
    "cudaMemcpyPeerAsync": 5,
    "cudaMemcpy3DPeerAsync": 1,
    "cudaMemcpy2DToArrayAsync": 8,
    "cudaMemcpy2DFromArrayAsync": 8,
    "cudaMemcpyToSymbolAsync": 5,
    "cudaMemcpyFromSymbolAsync": 5,
    "cudaMemsetAsync": 3,
    "cudaMemset2DAsync": 5,
    "cudaMemset3DAsync": 3,
    "cudaLaunchKernel": 5,
    "cudaLaunchCooperativeKernel": 5,
    "cudaGraphLaunch": 1,
    "cuMemcpyAsync": 3,
    "cuMemcpyHtoDAsync": 3,
    "cuMemcpyHtoDAsync_v2": 3,
    "cuMemcpyDtoHAsync": 3,
    "cuMemcpyDtoHAsync_v2": 3,
    "cuMemcpyDtoDAsync": 3,
    "cuMemcpyDtoDAsync_v2": 3,
    "cuMemsetD8Async": 3,
    "cuMemsetD16Async": 3,
    "cuMemsetD32Async": 3,
    "cuLaunchKernel": 8,
    "cuLaunchCooperativeKernel": 8,
    "cuGraphLaunch": 1,
}
"""API calls that put work on a stream: where the stream stands, from 0; left out it is null."""

API_CALLS = STREAM_AT.keys() | CONFIGURED
"""All of them, those with the stream in a configuration too."""

_SIZE_QUERY = regex(r"(?i)dummy|workspace")
_LAST_OF_A_LAUNCH = 3
_UNBINDS = frozenset(
    {
        *("set", "unset", "bind", "unbind", "reset", "clear", "attach", "detach", "restore"),
        *("release", "is", "has", "register", "unregister"),
    }
)


class NullStream(msgspec.Struct, frozen=True):
    """`written` is the null stream as it stands there; None where the stream is left out.

    `parameter` is the name of a project function's parameter that is given it.
    """

    written: str | None
    parameter: str = ""


class StreamWork:
    """Answers for the records of one run."""

    def __init__(self, project: Project, context: Context) -> None:
        self._project = project
        self._context = context
        self._names = NullNames(context)

    def of_launch(self, launch: Launch) -> NullStream | None:
        """What is wrong with the stream of a launch, None if nothing is."""
        if len(launch.configuration) < 2 and launch.via_macro and launch.use is None:
            return None
        path = launch.span.path
        texts = [t for a in launch.configuration for t in self._expanded(a.text, path)]
        if any("..." in text or "__VA_ARGS__" in text for text in texts) or len(texts) < 2:
            return None
        if len(texts) <= _LAST_OF_A_LAUNCH:
            return NullStream(None)
        return self._null(texts[_LAST_OF_A_LAUNCH], launch)

    def of_api_call(self, call: Call) -> NullStream | None:
        """The same for a call of `API_CALLS`."""
        if call.name in CONFIGURED:
            return self._of_configuration(call)
        arguments = [argument.text for argument in call.arguments]
        if any("..." in text or "__VA_ARGS__" in text for text in arguments) or not arguments:
            return None
        at = STREAM_AT[call.name]
        return NullStream(None) if len(arguments) <= at else self._null(arguments[at], call)

    def _of_configuration(self, call: Call) -> NullStream | None:
        """The same where the stream stands in a configuration: never set, or always to null."""
        streams = streams_of(call, self._context)
        if streams is None:
            return None
        found = [self._null(text, call) for text in streams]
        return None if None in found else next(iter(found), NullStream(None))

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        """The project's host functions by name, those names at which one takes a stream."""
        found: dict[str, list[Function]] = {}
        for model in self._project.models.values():
            for function in model.functions:
                if function.space == "host" and not function.lambda_ and function.name:
                    found.setdefault(function.name, []).append(function)
        if not found:
            return found
        from cudalint.hostcode.coldness import words
        from cudalint.project.resolve import COMMON_METHODS

        return {
            name: functions
            for name, functions in found.items()
            if name not in API_CALLS
            and not name.startswith(("cuda", "cuEvent", "cuStream"))
            and name not in COMMON_METHODS
            and words(name)[:1] not in [[word] for word in _UNBINDS]
            and any(is_stream_type(p.type) for f in functions for p in f.parameters)
        }

    def of_project_call(self, call: Call) -> NullStream | None:
        """A literal null given to what is a stream parameter of every function it may mean.

        A call that asks how large its workspace must be starts no work.
        """
        text = call.argument_text
        if not any(word in text for word in (b"0", b"null", b"NULL", b"{", b"cudaStream")):
            return None
        arguments = call.arguments
        if any(_SIZE_QUERY.search(argument.text) for argument in arguments):
            return None
        fitting = [f for f in self.functions[call.name] if _takes(f, len(arguments))]
        if not fitting or not self._may_mean(call, fitting):
            return None
        for place, argument in enumerate(arguments):
            if null_stream(argument.text) and all(_is_stream(f, place) for f in fitting):
                return NullStream(argument.text, fitting[0].parameters[place].name)
        return None

    def _may_mean(self, call: Call, functions: list[Function]) -> bool:
        """Whether the call is of a method where there are methods, of a free function else."""
        qualifier = call.callee.partition("<")[0].rpartition("::")[0].rpartition("::")[2]
        if qualifier:
            return any(qualifier in (f.owner, *f.scope) for f in functions)
        return any(bool(f.owner) for f in functions) if call.receiver else True

    def _expanded(self, text: str, path: str) -> list[str]:
        """The arguments that one stands for: a macro may stand for several."""
        body = self._macros(path).get(text)
        if body is None or "," not in body:
            return [text]
        data = body.encode()
        return [data[a:b].decode().strip() for a, b in split_arguments(data)]

    def _macros(self, path: str) -> dict[str, str]:
        if path not in self._bodies:
            model = self._project.models[path]
            self._bodies[path] = {m.name: m.body for m in model.macros if m.parameters is None}
        return self._bodies[path]

    @cached_property
    def _bodies(self) -> dict[str, dict[str, str]]:
        return {}

    def _null(self, text: str, record: Call | Launch) -> NullStream | None:
        if self._names.kind(text, record) or self._is_null_local(text, record):
            return NullStream(text)
        return None

    def _may_be_set(self, name: str, record: Call | Launch) -> bool:
        """Whether the function around gives a value to a variable of this name: a quick look."""
        model = self._project.models[home(record)]
        index = enclosing(model, record.function)
        body = model.functions[index].body if index >= 0 else None
        source = self._context.sources[model.path].data
        # What a comment, a line splice or a directive may hide is left to those who read code.
        given = rb"\b%b\s*(?:=(?!=)|[({/\\#]|(?:[-+*%%&|^]|<<|>>)=)" % name.encode()
        return body is not None and re.search(given, source[body.start : body.end]) is not None

    def _is_null_local(self, text: str, record: Call | Launch) -> bool:
        """Whether `text` is a local that is made null, and stays so."""
        if not text.isidentifier() or record.via_macro or record.function < 0:
            return False
        if all(v.name != text for v in self._project.models[home(record)].variables):
            return False
        if not self._may_be_set(text, record):
            return False
        bindings = self._context.bindings(home(record), record.function)
        local = bindings.find(text, record.span.start) if bindings else None
        if bindings is None or local is None or local.parameter or not is_stream_type(local.type):
            return False
        if not local.values or not all(_null_value(v, bindings.code) for v in local.values):
            return False
        between = bindings.code[local.start : record.span.start]
        return not re.search(rf"[(,{{&]\s*{text}\b|>>\s*{text}\b", between)


def _null_value(value: Value, code: str) -> bool:
    text = code[value.start : value.end].strip().removeprefix("=").strip()
    if text in ("{}", "()"):
        return True
    if text[:1] in "({" and text[-1:] in ")}":
        text = text[1:-1]
    return null_stream(text) is not None


def _takes(function: Function, count: int) -> bool:
    parameters = function.parameters
    if any("..." in p.type or "..." in p.name for p in parameters):
        return False
    needed = 0 if function.kind == "definition" else sum(p.default is None for p in parameters)
    return needed <= count <= len(parameters)


def _is_stream(function: Function, place: int) -> bool:
    return place < len(function.parameters) and is_stream_type(function.parameters[place].type)
