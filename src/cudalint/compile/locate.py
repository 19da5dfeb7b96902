"""Where in the sources the things are that nvcc and ptxas speak of.

Functions are found by their demangled names in the models of the compiled file
and of the headers that the compile read; lines by number. A place that the run
does not show (a header that was not asked for) becomes the `#include` that leads
to it. What is wrong there, the rules say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from cudalint.compile.demangle import demangle, without_arguments
from cudalint.compile.model import CompiledFile, Diagnostic, FunctionResources
from cudalint.context import Context
from cudalint.finding import Span
from cudalint.lines import LineIndex
from cudalint.regex import regex
from cudalint.syntax.model import Function

_WORD = regex(r"\w+")
_TOKEN = regex(rb"\w+|[\x80-\xff]+|[^\s\w]")


class FunctionPlace(msgspec.Struct, frozen=True):
    """Where a function of the cubin is written.

    `span` is what to mark; `extents` where a suppression counts too. `known` is
    false when no model has the function and `span` is the whole compiled file.
    `name` is its qualified name without template arguments.
    """

    name: str
    span: Span
    extents: tuple[Span, ...] = ()
    known: bool = True


class LinePlace(msgspec.Struct, frozen=True):
    """Where a message is about; `exact` is false when `span` only leads there."""

    span: Span
    exact: bool


class Locator:
    """Finds places for one compiled file."""

    def __init__(self, compiled: CompiledFile, context: Context) -> None:
        self._path = compiled.path
        self._context = context
        paths = dict.fromkeys([compiled.path])
        for compilation in compiled.compilations:
            paths.update(dict.fromkeys(compilation.dependencies))
        self._paths = [path for path in paths if path in context.models]
        self._lines: dict[str, LineIndex] = {}
        self._functions: dict[str, FunctionPlace] = {}
        self._macros: dict[str, set[str]] | None = None

    def function(self, resources: FunctionResources) -> FunctionPlace:
        """The place of a function of the cubin."""
        return self._place(resources.symbol, resources.name, resources.arity, resources.entry)

    def symbol(self, symbol: str) -> FunctionPlace:
        """The place of an entry of which only the symbol is known."""
        name = demangle(symbol)
        return self._place(symbol, name.text, name.arity, entry=True)

    def call(self, name: str) -> Span | None:
        """The first call of a function by its last name, in the files of the compile."""
        for path in self._paths:
            for call in self._context.models[path].calls:
                if call.name == name and (call.use is not None or not call.via_macro):
                    return self._shown(call.use or call.name_span)
        return None

    def diagnostic(self, diagnostic: Diagnostic) -> LinePlace:
        """The token, else the line, that a message is about."""
        if not diagnostic.path:
            return LinePlace(Span(self._path, 0, 0), exact=False)
        span = self.line(diagnostic.path, diagnostic.line, diagnostic.column)
        if span is None:
            return LinePlace(self._way_to(diagnostic.path), exact=False)
        shown = self._shown(span)
        return LinePlace(shown, exact=shown == span)

    def line(self, path: str, line: int, column: int = 0) -> Span | None:
        """The token at a 1-based byte column, or the line without its indent.

        None for a file that the run does not have, or a line that it has not.
        """
        source = self._context.sources.get(path)
        if source is None:
            return None
        if path not in self._lines:
            self._lines[path] = LineIndex(source.data)
        try:
            start, end = self._lines[path].bounds(line)
        except IndexError:
            return None
        text = source.data[start:end]
        if column and (token := _TOKEN.match(text, column - 1)):
            return Span(path, start + token.start(), start + token.end())
        indent = len(text) - len(text.lstrip())
        return Span(path, start + indent, max(start + indent, start + len(text.rstrip())))

    def is_shown(self, span: Span) -> bool:
        """Whether a finding may stand there: in the compiled file, or in one that was asked for."""
        return self._shown(span) == span

    def _place(self, symbol: str, name: str, arity: int, entry: bool) -> FunctionPlace:
        if symbol not in self._functions:
            plain = without_arguments(name)
            found = max(
                self._candidates(plain, entry),
                key=lambda function: _likeness(function, symbol, name, arity),
                default=None,
            )
            if found is None:
                nowhere = FunctionPlace(plain, Span(self._path, 0, 0), known=False)
                place = self._of_macro_elsewhere(plain, entry) or nowhere
            else:
                place = self._of(found, plain)
            self._functions[symbol] = place
        return self._functions[symbol]

    def _of(self, function: Function, name: str) -> FunctionPlace:
        """A function that a macro makes is where the macro is used."""
        span = function.use or function.name_span
        shown = self._shown(span)
        extents = (function.head, function.name_span) if function.use else (function.head,)
        return FunctionPlace(name, shown, (span, *extents) if shown != span else extents)

    def _of_macro_elsewhere(self, name: str, entry: bool) -> FunctionPlace | None:
        """The use of a macro that another file defines, when it makes a function of this name.

        Such a use is no record of its file's model, which does not know that it
        is a function; so the text is searched.
        """
        last = name.rpartition("::")[2]
        models = [self._context.models[path] for path in self._paths]
        macros = {macro.name: macro for model in models for macro in model.macros}
        for model in models:
            for made in model.functions:
                macro = macros.get(made.via_macro)
                if macro is None or made.use is not None or (made.space == "global") != entry:
                    continue
                for span, arguments in self._uses(macro.name):
                    if _pasted(made.name, macro.parameters or (), arguments) == last:
                        return FunctionPlace(name, self._shown(span), (made.name_span,))
        return None

    def _uses(self, macro: str) -> Iterator[tuple[Span, list[str]]]:
        """The places where the files of the compile use a function-like macro, in code."""
        use = regex(rb"(?<![\w#])" + macro.encode() + rb"\s*\(([^()]*)\)")
        for path in self._paths:
            model = self._context.models[path]
            not_code = [*(comment.span for comment in model.comments), *model.dead]
            not_code += [definition.span for definition in model.macros]
            for match in use.finditer(self._context.sources[path].data):
                if not any(span.covers(match.start()) for span in not_code):
                    texts = match[1].decode("utf-8", "replace").split(",")
                    yield Span(path, *match.span()), [text.strip() for text in texts]

    def _candidates(self, name: str, entry: bool) -> Iterator[Function]:
        """The definitions with the last name of `name`, those of the compiled file first."""
        last = name.rpartition("::")[2]
        for path in self._paths:
            for function in self._context.models[path].functions:
                if (
                    function.kind == "definition"
                    and (function.space == "global") == entry
                    and (function.use is not None or not function.via_macro)
                    and (function.name == last or last in self._expansions(function.name))
                ):
                    yield function

    def _expansions(self, name: str) -> set[str]:
        """What the object-like macro `name` stands for in the files of the compile."""
        if self._macros is None:
            self._macros = {}
            for path in self._paths:
                for macro in self._context.models[path].macros:
                    if macro.parameters is None:
                        self._macros.setdefault(macro.name, set()).add(macro.body.strip())
        return self._macros.get(name, set())

    def _shown(self, span: Span) -> Span:
        """`span`, or what leads to it when its file is not shown."""
        source = self._context.sources.get(span.path)
        if span.path == self._path or (source is not None and source.requested):
            return span
        return self._way_to(span.path)

    def _way_to(self, path: str) -> Span:
        """The `#include` of the compiled file that brings `path`; the whole file if none does."""
        model = self._context.models.get(self._path)
        includes = self._context.project.includes
        for include in model.includes if model else ():
            brought = includes.resolve(self._path, include)
            if brought is not None and (brought == path or path in includes.closure(brought)):
                return include.span
        return Span(self._path, 0, 0)


def _pasted(name: str, parameters: Sequence[str], arguments: Sequence[str]) -> str:
    """A name of a macro's body with arguments put in and `##` carried out."""
    given = dict(zip(parameters, arguments, strict=False))
    words = _WORD.sub(lambda word: given.get(word[0], word[0]), name)
    return "".join(part.strip() for part in words.split("##"))


def _likeness(function: Function, symbol: str, name: str, arity: int) -> tuple[bool, ...]:
    """How well a function of the model fits a symbol; of equals the first one wins."""
    if symbol == name:
        return (function.linkage == "C",)
    scope = tuple(without_arguments(name).split("::"))[:-1]
    written = tuple(word or "(anonymous namespace)" for word in function.scope)
    return (
        written == scope,
        (function.template is not None) == name.endswith(">"),
        arity in (-1, len(function.parameters)),
        function.linkage != "C",
    )
