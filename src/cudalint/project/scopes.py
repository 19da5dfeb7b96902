"""Which stream variables are in scope at a call.

Brackets in the text between a variable and the call tell whether the variable's
block is still open. Which calls want a stream, the rules say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.finding import Span
from cudalint.hostcode.streams import is_stream_type
from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.syntax.model import Call, FileModel, Variable

_LITERAL = regex(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'')


def streams_in_scope(call: Call, file: FileModel, context: Context) -> list[str]:
    """The names of the variables that are one stream each, where `call` stands, in order.

    Parameters and locals of the function and of those around a lambda, members
    of the class, and what is declared at file scope before the call.
    """
    names: dict[str, None] = {}
    chain = []
    function = call.function
    while function >= 0:
        chain.append(function)
        current = file.functions[function]
        for parameter in current.parameters:
            if is_stream_type(parameter.type) and parameter.name:
                names[parameter.name] = None
        function = current.parent if current.lambda_ else -1
    owner = file.functions[chain[-1]].owner if chain else ""
    for struct in file.structs:
        if owner and struct.name == owner:
            for member in struct.members:
                if is_stream_type(member.type):
                    names[member.name] = None
    members = [struct.span for struct in file.structs]
    for variable in file.variables:
        if variable.span.start > call.span.start or not _is_one_stream(variable, context):
            continue
        local = variable.function in chain and _is_open(variable, call, file, context)
        if local or (variable.function < 0 and not _inside(variable.span, members)):
            names[variable.name] = None
    return list(names)


def _is_one_stream(variable: Variable, context: Context) -> bool:
    """Whether it is a stream: no array of them, and no pointer to one."""
    data = context.sources[variable.span.path].data
    before = data[max(0, variable.span.start - 16) : variable.span.start].rstrip()[-1:]
    after = data[variable.span.end : variable.span.end + 16].lstrip()[:1]
    return is_stream_type(variable.type) and before != b"*" and after != b"["


def _inside(span: Span, spans: list[Span]) -> bool:
    return any(other.start <= span.start < other.end for other in spans)


def _is_open(variable: Variable, call: Call, file: FileModel, context: Context) -> bool:
    """Whether no bracket between the two closes the variable's block.

    A variable in the head of a loop or a condition lives until that one's
    statement ends.
    """
    depth = parentheses = 0
    in_head = False
    for char in _code_between(variable.span.end, call.span.start, file, context):
        if char in "([":
            parentheses += 1
        elif char in ")]":
            parentheses -= 1
            in_head = in_head or parentheses < 0
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth < 0 or (in_head and depth == 0):
                return False
        elif char == ";" and in_head and depth == 0 and parentheses < 0:
            return False
    return True


def _code_between(start: int, end: int, file: FileModel, context: Context) -> str:
    """The text between two offsets, without comments and literals."""
    pieces, at = [], start
    for comment in file.comments:
        if at <= comment.span.start < end:
            pieces.append(context.text(Span(file.path, at, comment.span.start)))
            at = comment.span.end
    if at < end:
        pieces.append(context.text(Span(file.path, at, end)))
    return _LITERAL.sub("0", " ".join(pieces))
