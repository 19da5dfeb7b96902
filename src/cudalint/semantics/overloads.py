"""OverloadOracle: which of several overloads a call means, by libclang.

Only files that hold such a call, or an overload, are parsed; a few are kept.
libclang sees no headers but those of the run and our stubs, so that types of
other libraries stay unknown; where one could decide, there is no answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.finding import Span

if TYPE_CHECKING:
    from clang.cindex import Cursor, TranslationUnit

    from cudalint.project.project import Project
    from cudalint.semantics.virtual import Layout
    from cudalint.syntax.model import Call, Function

_ERROR = 3
_KEPT = 16
"""Translation units that are kept at a time; calls are asked about in the order of files."""

_NAMED = frozenset({"DECL_REF_EXPR", "MEMBER_REF_EXPR", "CALL_EXPR"})
_FUNCTIONS = frozenset(
    {"FUNCTION_DECL", "FUNCTION_TEMPLATE", "CXX_METHOD", "CONSTRUCTOR", "CONVERSION_FUNCTION"}
)


class _Parsed(msgspec.Struct, frozen=True):
    """A translation unit; `errors` are the offsets of its errors in each place, rising."""

    layout: Layout
    unit: TranslationUnit
    errors: dict[str, list[int]]


class OverloadOracle:
    """Answers for the files of one run, from memory. `failure` says why libclang can't."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._units: dict[str, _Parsed | None] = {}
        self._alone: dict[tuple[str, int], str] = {}
        self.failure: str | None = None

    def called(
        self, path: str, call: Call, candidates: Sequence[tuple[str, Function]]
    ) -> frozenset[int] | None:
        """The numbers of the candidates that `call`, in the file at `path`, may mean.

        An overridden method stands for those that override it. Empty when it
        means another function; None when that can't be told.
        """
        for parsed in self._units_with(path):
            meant = self._meant(parsed, path, call)
            if meant:
                return self._among(parsed, meant, candidates)
        return None

    def _units_with(self, path: str) -> Iterator[_Parsed]:
        """The file parsed by itself, then as the first file that includes it sees it."""
        for main in (path, *self._project.includes.includers(path)[:1]):
            parsed = self._parsed(main)
            if parsed is not None:
                yield parsed

    def _parsed(self, main: str) -> _Parsed | None:
        if main not in self._units:
            if len(self._units) == _KEPT:
                self._units.pop(next(iter(self._units)))
            self._units[main] = self._parse(main)
        return self._units[main]

    def _parse(self, main: str) -> _Parsed | None:
        if self.failure is not None or main not in self._project.sources:
            return None
        from cudalint.semantics.sandbox import ClangError, parse, stub_names
        from cudalint.semantics.virtual import lay_out

        layout = lay_out(main, self._project, self._project.sources, stub_names())
        try:
            unit = parse(layout.main, layout.files, layout.arguments, bodies=True)
        except ClangError as error:
            self.failure = str(error)
            return None
        errors: dict[str, list[int]] = {}
        for diagnostic in unit.diagnostics:
            at = diagnostic.location
            if diagnostic.severity >= _ERROR and at.file is not None:
                errors.setdefault(at.file.name, []).append(at.offset)
        for offsets in errors.values():
            offsets.sort()
        return _Parsed(layout, unit, errors)

    def _meant(self, parsed: _Parsed, path: str, call: Call) -> tuple[str, ...]:
        """The signatures of the function that a call means; none where that is unclear."""
        span = call.use or call.span
        if _has_error(parsed, span):
            return ()
        if call.use is None:
            return _signatures(_cursor_at(parsed, path, call.name_span.start))
        uses = {
            _signatures(found)
            for found in _in_macro(parsed, path, call.use)
            if found.spelling == call.name and found.kind.name in _NAMED
        }
        return uses.pop() if len(uses) == 1 else ()

    def _among(
        self,
        parsed: _Parsed,
        meant: tuple[str, ...],
        candidates: Sequence[tuple[str, Function]],
    ) -> frozenset[int] | None:
        known = [self._signature(parsed, path, function) for path, function in candidates]
        if "" in known:
            return None
        for signature in meant:
            found = frozenset(n for n, own in enumerate(known) if own == signature)
            if found:
                return found
        return frozenset()

    def _signature(self, parsed: _Parsed, path: str, function: Function) -> str:
        """The signature of a candidate, "" where its head holds what libclang can't know."""
        from cudalint.semantics.virtual import place

        if place(path) in parsed.layout.paths:
            return self._signature_in(parsed, path, function)
        key = (path, function.index)
        if key not in self._alone:
            own = self._parsed(path)
            self._alone[key] = self._signature_in(own, path, function) if own else ""
        return self._alone[key]

    def _signature_in(self, parsed: _Parsed, path: str, function: Function) -> str:
        if function.via_macro or _has_error(parsed, function.head):
            return ""
        found = _cursor_at(parsed, path, function.name_span.start)
        return _signature(found) if found is not None and found.kind.name in _FUNCTIONS else ""


def _cursor_at(parsed: _Parsed, path: str, offset: int) -> Cursor | None:
    """What stands at an offset of a file of the run."""
    from clang.cindex import Cursor, File, SourceLocation

    from cudalint.semantics.virtual import place

    there = place(path)
    file = File.from_name(parsed.unit, there)
    location = SourceLocation.from_offset(parsed.unit, file, parsed.layout.moved(offset, there))
    return Cursor.from_location(parsed.unit, location)


def _in_macro(parsed: _Parsed, path: str, use: Span) -> Iterator[Cursor]:
    """The cursors that come out of the use of a macro."""
    from cudalint.semantics.virtual import place

    around = _cursor_at(parsed, path, use.start)
    if around is None:
        return
    there = place(path)
    start = parsed.layout.moved(use.start, there)
    for cursor in around.walk_preorder():
        at = cursor.location
        if at.offset == start and at.file is not None and at.file.name == there:
            yield cursor


def _has_error(parsed: _Parsed, span: Span) -> bool:
    from cudalint.semantics.virtual import place

    there = place(span.path)
    if there not in parsed.layout.paths:
        return False
    errors = parsed.errors.get(there, [])
    start = parsed.layout.moved(span.start, there)
    at = bisect_left(errors, start)
    return at < len(errors) and errors[at] < parsed.layout.moved(span.end, there)


def _signatures(use: Cursor | None) -> tuple[str, ...]:
    """The signature of the function that is named, then that of the template it is made of."""
    from clang.cindex import conf

    if use is None or use.kind.name not in _NAMED:
        return ()
    function = use.referenced
    if function is None or function.kind.name not in _FUNCTIONS:
        return ()
    template = conf.lib.clang_getSpecializedCursorTemplate(function)
    of_template = () if template is None else (_signature(template),)
    return (_signature(function), *of_template)


def _signature(function: Cursor) -> str:
    """Name, template parameters and types of a function, without the class that it is in.

    That is the end of libclang's name for it, which spells types as they are
    behind their aliases.
    """
    whole: str = function.get_usr()
    _, _, signature = whole.partition("@F@")
    return signature or whole.partition("@FT@")[2]
