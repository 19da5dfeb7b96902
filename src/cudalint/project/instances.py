"""The known instances of template kernels: what their integer parameters are worth.

Explicit instantiations and launches say so, in the kernel's own file and in
those that include it. A type parameter is worth nothing here, and neither is an
argument that is no constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.brackets import split_arguments, template_close

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.syntax.model import Function

_NAME = regex(r"([A-Za-z_]\w*)\s*(?:=\s*(.*))?$")


def instances(kernel: Function, context: Context) -> list[dict[str, int]]:
    """The values of the kernel's integer template parameters, for each known instance."""
    project = context.project
    parameters = [_parameter(text) for text in _split(kernel.template or "")]
    path = kernel.span.path
    found: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
    for user in (path, *project.includes.includers(path)):
        for arguments in _argument_lists(kernel.name, user, context):
            values: dict[str, int] = {}
            for place, (name, default) in enumerate(parameters):
                text = arguments[place] if place < len(arguments) else default
                value = project.constants.evaluate(user, text, values) if text else None
                if value is not None:
                    values[name] = value
            found[tuple(values.items())] = values
    return list(found.values())


def _argument_lists(name: str, path: str, context: Context) -> Iterator[list[str]]:
    """The template arguments of each use: `k<64, float>` gives `["64", "float"]`."""
    model = context.models[path]
    for function in model.kernels:
        if function.kind == "instantiation" and function.name == name:
            yield _instantiated(function, context)
    for launch in model.launches:
        if launch.name == name and launch.kernel.endswith(">"):
            yield _split(launch.kernel.partition("<")[2][:-1])
    for flag in model.flags:
        head, _, rest = flag.value.partition("<")
        if head.strip().lstrip("&").rpartition("::")[2] == name and rest.endswith(">"):
            yield _split(rest[:-1])


def _instantiated(function: Function, context: Context) -> list[str]:
    """The arguments of an explicit instantiation, between its name and its parameters."""
    start, end = function.name_span.start, function.head.end
    head = context.text(Span(function.span.path, start, end)).encode()
    opening = head.find(b"<")
    close = template_close(head, opening) if opening >= 0 else -1
    return _split(head[opening + 1 : close - 1].decode()) if close > 0 else []


def _parameter(text: str) -> tuple[str, str]:
    """Name and default of a template parameter; "" for what it lacks."""
    match = _NAME.search(text)
    return (match[1], match[2] or "") if match else ("", "")


def _split(text: str) -> list[str]:
    data = text.encode()
    return [data[start:end].decode().strip() for start, end in split_arguments(data)]
