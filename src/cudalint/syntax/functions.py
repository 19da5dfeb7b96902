"""The functions of a file: raw ones in order, and records of them and of what macros make."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.syntax.model import Function
from cudalint.syntax.raw import Range, RawFunction, RawScope
from cudalint.syntax.sweep import innermost
from cudalint.syntax.templates import BodyFunction

_MARKS = regex(r"(::|[<>])")


def function_record(
    path: str,
    index: int,
    raw: RawFunction,
    parent: tuple[int, str],
    scopes: Sequence[RawScope],
    comment: str,
) -> Function:
    """The function numbered `index`; `scopes` are around it, outer ones first.

    `parent` is the number and the space of the function around it, −1 for none.
    """
    read = raw.read
    names = [part for s in scopes if s.kind != "linkage" for part in s.parts]
    owner = next((s.name for s in reversed(scopes) if s.kind == "class"), "")
    if raw.qualifier:
        names += _parts(raw.qualifier)
        owner = names[-1].split("<")[0].strip() if names else ""
    space = read.space
    if raw.lambda_ and parent[0] >= 0 and space == "host" and parent[1] != "host":
        space = "device"
    linked = read.c_linkage or any(s.kind == "linkage" for s in scopes)
    return Function(
        index=index,
        span=Span(path, *raw.span),
        head=Span(path, *raw.head),
        name_span=Span(path, *raw.name_range),
        body=None if raw.body is None else Span(path, *raw.body),
        name=raw.name,
        kind=raw.kind,  # type: ignore[arg-type]
        space=space,
        words=read.words,
        parameters=raw.parameters,
        scope=tuple(names),
        owner=owner,
        linkage="C" if linked and not owner else "C++",
        static=read.static,
        template=read.template,
        bounds=read.bounds,
        return_type=read.return_type,
        lambda_=raw.lambda_,
        parent=parent[0],
        comment=comment,
    )


def macro_function_record(
    path: str,
    index: int,
    function: BodyFunction,
    parent: int,
    use: Span | None,
    comment: str,
    *,
    in_c_block: bool,
) -> Function:
    """A function of a macro's body, or of a `use` of the macro."""
    raw, read = function.raw, function.read
    return Function(
        index=index,
        span=Span(path, *raw.span),
        head=Span(path, *raw.head),
        name_span=Span(path, *raw.name_range),
        body=None if raw.body is None else Span(path, *raw.body),
        name=function.name,
        kind=raw.kind,  # type: ignore[arg-type]
        space=read.space,
        words=read.words,
        parameters=function.parameters,
        scope=(),
        owner="",
        linkage="C" if read.c_linkage or in_c_block else "C++",
        static=read.static,
        template=read.template,
        bounds=read.bounds,
        return_type=read.return_type,
        parent=parent,
        comment=comment,
        via_macro=function.macro,
        use=use,
    )


def without_variables(functions: list[RawFunction]) -> list[RawFunction]:
    """In order, without the locals that look like declarations: `dim3 grid(n);`."""
    ordered = sorted(functions, key=lambda f: (f.span, f.name_range))
    if all(f.kind != "declaration" for f in ordered):
        return ordered
    homes = innermost([(f.head[0], f.head[0]) for f in ordered], containers(ordered))
    return [
        f
        for f, home in zip(ordered, homes, strict=True)
        if f.kind != "declaration" or home < 0 or "extern" in f.read.words
    ]


def containers(functions: list[RawFunction]) -> list[Range]:
    """The bodies; of a function without one, the place where it ends."""
    return [f.body or (f.span[1], f.span[1]) for f in functions]


def _parts(qualifier: str) -> list[str]:
    """The names of a qualifier; `::` in template arguments parts none."""
    parts, depth = [""], 0
    for text in _MARKS.split(qualifier):
        depth += (text == "<") - (text == ">")
        if text == "::" and depth == 0:
            parts.append("")
        else:
            parts[-1] += text
    return [part.strip() for part in parts if part.strip()]
