"""What the bodies of macros hold, parsed once each, and put in at each use.

A body is parsed alone; its records keep their places in the `#define`. At a use
the macro's parameters are replaced in their texts, so that what a body says
about its arguments is said of the real ones.
"""

from __future__ import annotations

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax import assembly, records, scan
from cudalint.syntax.attributes import mask_attributes, mask_kernel_heads
from cudalint.syntax.brackets import refuse_depth
from cudalint.syntax.effort import spend
from cudalint.syntax.extract import parse_and_extract
from cudalint.syntax.heads import Head, read_head, read_parameters
from cudalint.syntax.macros import Definition, Expander, argument_values, parseable, substitute
from cudalint.syntax.model import (
    Argument,
    Assembly,
    Call,
    Identifier,
    Launch,
    Parameter,
    SharedDeclaration,
    normal,
)
from cudalint.syntax.prepare import (
    Text,
    Use,
    find_uses,
    is_attribute_macro,
    is_configuration,
    is_head_macro,
)
from cudalint.syntax.raw import Range, RawFunction
from cudalint.syntax.substitution import call_at, launch_at, put
from cudalint.syntax.sweep import innermost

_CODE = regex(
    rb"__global__|__device__|__shared__|<<<|\basm\b|\b(?:cout|cerr|clog)\b|"
    rb"(?:([A-Za-z_]\w*)\s*|>)\("
)
_QUALIFIED_CALL = regex(rb"(?:^|[;{}])\s*((?:[A-Za-z_]\w*::)+)[A-Za-z_]\w*\s*\([^;{}]*\)\s*$")
"""A call at the end of a body with no `;` after it, which the grammar takes for a declaration."""
_WORD = regex(rb"[A-Za-z_]\w*")
_NO_CALLS = frozenset(b"if for while switch return sizeof defined alignof decltype".split())
MAX_RECORDS = 5000
MAX_NESTING = 6


class BodyFunction(msgspec.Struct, frozen=True):
    """A function in a macro's body. `texts` are head, name, parameters and tail, as written."""

    raw: RawFunction
    read: Head
    parameters: tuple[Parameter, ...]
    name: str
    texts: tuple[bytes, bytes, bytes, bytes]
    macro: str


class Body(msgspec.Struct):
    """The records of a macro's body, those of macros used in it included.

    Spans are places in the `#define` that holds the text; `function` indexes
    `functions` of this body (−1: none).
    """

    functions: list[BodyFunction] = []
    calls: list[Call] = []
    launches: list[Launch] = []
    shared: list[SharedDeclaration] = []
    console: list[Identifier] = []
    assembly: list[Assembly] = []
    defines: bool = False

    @property
    def size(self) -> int:
        """How many records a use adds."""
        return sum(
            len(records)
            for records in (
                *(self.functions, self.calls, self.launches, self.shared),
                *(self.console, self.assembly),
            )
        )


def holds_code(definition: Definition) -> bool:
    """Whether a body may hold calls, launches, kernels or shared declarations."""
    if is_attribute_macro(definition) or is_head_macro(definition) or is_configuration(definition):
        return False
    return any(m.group(1) not in _NO_CALLS for m in _CODE.finditer(definition.body))


class Bodies:
    """The parsed bodies of a file's macros, each made at its first use."""

    def __init__(self, path: str, definitions: list[Definition], expander: Expander) -> None:
        self._path = path
        self._expander = expander
        self.definitions = [d for d in definitions if holds_code(d)]
        self._by_name: dict[bytes, list[Definition]] = {}
        for definition in self.definitions:
            self._by_name.setdefault(definition.name, []).append(definition)
        self._own: dict[int, Body] = {}
        self._all: dict[int, Body] = {}

    def own(self, definition: Definition) -> Body:
        """What the body itself holds, parameters unsubstituted."""
        if definition.start not in self._own:
            self._own[definition.start] = _read_body(self._path, definition, self._expander)
        return self._own[definition.start]

    def all(self, definition: Definition, depth: int = MAX_NESTING) -> Body:
        """What the body holds with the macros that it uses, in terms of its parameters."""
        found = self._all.get(definition.start)
        if found is None:
            own = self.own(definition)
            found = Body(
                list(own.functions),
                list(own.calls),
                list(own.launches),
                list(own.shared),
                list(own.console),
                list(own.assembly),
                own.defines,
            )
            if depth > 0:
                others = set(_WORD.findall(definition.body)) - {definition.name}
                used = [d for name in sorted(others) for d in self._by_name.get(name, ())]
                for use in find_uses(definition.body, used):
                    for inner in self._by_name[use.name]:
                        if found.size < MAX_RECORDS:
                            arguments = definition.body[use.open_at + 1 : use.close_at]
                            _put_in(found, self.all(inner, depth - 1), inner, arguments, None)
            self._all[definition.start] = found
        return found

    def at_use(self, use: Use, code: bytes) -> Body:
        """What a use in `code` brings, its arguments put in, `use` set on each record."""
        into = Body()
        span = Span(self._path, use.start, use.end)
        arguments = code[use.open_at + 1 : use.close_at] if use.open_at >= 0 else b""
        for definition in self._by_name.get(use.name, ()):
            if (definition.parameters is None) == (use.open_at < 0):
                _put_in(into, self.all(definition), definition, arguments, span)
        return into


def _put_in(
    into: Body, body: Body, definition: Definition, arguments: bytes, use: Span | None
) -> None:
    values = argument_values(definition, arguments)
    shift = len(into.functions)
    into.functions += [_function_at(f, values, use) for f in body.functions]
    for call in body.calls:
        into.calls.append(call_at(call, values, use, shift))
    for launch in body.launches:
        into.launches.append(launch_at(launch, values, use, shift))
    for identifier in body.console:
        into.console.append(
            msgspec.structs.replace(
                identifier,
                function=identifier.function + shift if identifier.function >= 0 else -1,
                use=use,
            )
        )
    for asm in body.assembly:
        function = asm.function + shift if asm.function >= 0 else -1
        moved = msgspec.structs.replace(asm, function=function)
        into.assembly.append(assembly.with_arguments(moved, values, use))
    for shared in body.shared:
        into.shared.append(
            msgspec.structs.replace(
                shared,
                name=put(shared.name, values),
                type=put(shared.type, values),
                dimensions=tuple(put(d, values) for d in shared.dimensions),
                function=shared.function + shift if shared.function >= 0 else -1,
                use=use,
            )
        )


def _function_at(
    function: BodyFunction, values: dict[bytes, bytes], use: Span | None
) -> BodyFunction:
    head, name, parameters, tail = (substitute(t, values) for t in function.texts)
    texts = (head, name, parameters, tail)
    expander = Expander([])
    code = head + b" " + name + b"(" + parameters + b")" + tail
    low = len(head) + 1
    open_at = low + len(name)
    close = open_at + 1 + len(parameters)
    path = use.path if use is not None else ""
    read = read_head(path, code, 0, (low, open_at), (close + 1, len(code)), expander)
    if read.bounds is not None and function.read.bounds is not None:
        read.bounds = msgspec.structs.replace(read.bounds, span=function.read.bounds.span)
    found = read_parameters(path, code, open_at + 1, close, expander)
    places = [p.span for p in function.parameters]
    if places:
        found = tuple(
            msgspec.structs.replace(p, span=places[min(i, len(places) - 1)])
            for i, p in enumerate(found)
        )
    return msgspec.structs.replace(
        function, read=read, parameters=found, name=normal(name).replace(" ", ""), texts=texts
    )


_BODY_UNITS = 10
"""What a byte of a macro's body takes, all in all."""


def _read_body(path: str, definition: Definition, expander: Expander) -> Body:
    """Parse one body; the offsets of its records are those of the file."""
    base = definition.body_at
    body = parseable(definition.body)
    refuse_depth(body)
    spend(_BODY_UNITS * len(body))
    parse = bytearray(body)
    mask_attributes(body, parse)
    joined = mask_kernel_heads(body, parse)
    last = _QUALIFIED_CALL.search(parse)
    if last is not None:
        parse[slice(*last.span(1))] = last[1].replace(b"::", b"__")
    text = Text(body + b"\n", body + b"\n", bytes(parse) + b"\n", [], joined)
    raw = parse_and_extract(path, text, Expander([]), ())
    macro = definition.name.decode("utf-8", "replace")
    written = definition.body
    found = Body(defines=raw.defines)
    bodies = []
    for function in sorted(raw.functions, key=lambda f: (f.span, f.name_range)):
        if function.lambda_ or function.kind == "instantiation":
            continue
        low, high = function.name_range
        open_at = written.find(b"(", high)
        close = function.head[1]
        end_of_parameters = written.rfind(b")", open_at, close)
        first_close = _parameters_close(written, open_at, end_of_parameters)
        texts = (
            written[function.head[0] : low],
            written[low:high],
            written[open_at + 1 : first_close],
            written[first_close + 1 : close],
        )
        placed = _shifted(path, function, base)
        found.functions.append(
            BodyFunction(
                placed,
                placed.read,
                placed.parameters,
                normal(written[low:high]).replace(" ", ""),
                texts,
                macro,
            )
        )
        bodies.append(function.body or function.head)
    for call, home in zip(raw.calls, innermost([c.span for c in raw.calls], bodies), strict=True):
        if call.configuration is None:
            record = records.call_record(path, written, call, home, macro)
            found.calls.append(_shift_call(record, base))
        else:
            launch = records.launch_record(path, written, call, home, macro)
            found.launches.append(_shift_launch(launch, base))
    statements = assembly.asm_statements(definition.literal_body, written)
    homes = innermost([(asm.start, asm.end) for asm in statements], bodies)
    for asm, home in zip(statements, homes, strict=True):
        found.assembly.append(assembly.record(path, asm, home, base, macro))
    found.console = _console(path, written, base, raw.statements, bodies, macro)
    homes = innermost([shared.span for shared in raw.shared], bodies)
    for shared, home in zip(raw.shared, homes, strict=True):
        record_ = records.shared_record(path, written, shared, home, macro)
        found.shared.append(
            msgspec.structs.replace(
                record_,
                span=_moved(record_.span, base),
                name_span=_moved(record_.name_span, base),
                statement=_moved(record_.statement, base),
            )
        )
    return found


def _console(
    path: str,
    written: bytes,
    base: int,
    statements: list[Range],
    bodies: list[Range],
    macro: str,
) -> list[Identifier]:
    uses = scan.console(written)
    ranges = [(use.start, use.end) for use in uses]
    found = []
    homes = innermost(ranges, bodies)
    for use, home, statement in zip(uses, homes, innermost(ranges, statements), strict=True):
        low, high = statements[statement] if statement >= 0 else (use.start, use.end)
        found.append(
            Identifier(
                Span(path, base + use.start, base + use.end),
                Span(path, base + low, base + high),
                use.name,
                home,
                low == use.start and written[high - 1 : high] == b";",
                macro,
            )
        )
    return found


def _parameters_close(text: bytes, open_at: int, last: int) -> int:
    depth = 0
    for at in range(open_at, last + 1):
        depth += (text[at] == 0x28) - (text[at] == 0x29)
        if depth == 0:
            return at
    return last


def _moved(span: Span, base: int) -> Span:
    return Span(span.path, span.start + base, span.end + base)


def _moved_arguments(arguments: tuple[Argument, ...], base: int) -> tuple[Argument, ...]:
    return tuple(Argument(_moved(a.span, base), a.text) for a in arguments)


def _shift_call(call: Call, base: int) -> Call:
    return msgspec.structs.replace(
        call,
        span=_moved(call.span, base),
        name_span=_moved(call.name_span, base),
        statement=_moved(call.statement, base),
        arguments_at=call.arguments_at + base,
    )


def _shift_launch(launch: Launch, base: int) -> Launch:
    return msgspec.structs.replace(
        launch,
        span=_moved(launch.span, base),
        name_span=_moved(launch.name_span, base),
        statement=_moved(launch.statement, base),
        configuration=_moved_arguments(launch.configuration, base),
        arguments=_moved_arguments(launch.arguments, base),
    )


def _shifted(path: str, function: RawFunction, base: int) -> RawFunction:
    def move(span: tuple[int, int]) -> tuple[int, int]:
        return span[0] + base, span[1] + base

    read = function.read
    bounds = read.bounds
    if bounds is not None:
        bounds = msgspec.structs.replace(bounds, span=_moved(bounds.span, base))
    return msgspec.structs.replace(
        function,
        span=move(function.span),
        head=move(function.head),
        name_range=move(function.name_range),
        body=None if function.body is None else move(function.body),
        read=msgspec.structs.replace(read, bounds=bounds),
        parameters=tuple(
            msgspec.structs.replace(p, span=_moved(p.span, base)) for p in function.parameters
        ),
    )
