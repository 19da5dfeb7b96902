"""Judges whether the layout of a file's shared memory is documented.

Which declarations matter, and where their comments may stand. What a comment
must say is `cudalint.devicecode.layouts`; the wording of findings is rule CU203's business.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from cudalint.compile.archs import WARP
from cudalint.devicecode.devicecode import enclosing
from cudalint.devicecode.layouts import LayoutNotes, says_layout
from cudalint.regex import regex
from cudalint.wording.nearby import NearbyComments

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.finding import Span
    from cudalint.syntax.model import Constant, FileModel, Macro, SharedDeclaration

_WORD = regex(r"[A-Za-z_]\w*")
_ARRAY = regex(r"([A-Za-z_]\w*)\s*((?:\[[^\[\]]*\]\s*)+)(?=[;,=])")
_DIMENSION = regex(r"\[([^\[\]]*)\]")
_SETTLED = regex(r"[A-Z_]|k[A-Z]|\w+_t$")
"""Names of macros, template parameters, types and constants, by how they are written."""
_RECORD = regex(r"(?i:s(?:hared)?_?(?:mem|memory|storage)|shared)\w*(?:<[^<>]*>)?\s*[*&]")
"""A pointer or reference to a type that is named for what the shared memory holds."""
_WORDS_OF_CASTS = frozenset(
    {
        *("reinterpret_cast", "static_cast", "const_cast", "const", "volatile", "sizeof", "std"),
        *("unsigned", "signed", "char", "short", "int", "long", "float", "double", "half", "void"),
        *("bool", "auto", "size", "byte", "float2", "float4", "int2", "int4", "uint2", "uint4"),
    }
)


class SharedLayouts:
    """Judges the shared declarations of one file."""

    def __init__(self, file: FileModel, context: Context) -> None:
        self._file = file
        self._context = context
        self._group = [declaration.statement for declaration in file.shared]
        self._notes: dict[str, LayoutNotes] = {}
        self._constants = {constant.name for constant in file.constants}
        self._by_name = {(d.function, d.name): d for d in file.shared}

    def verdict(self, declaration: SharedDeclaration) -> str | None:
        """The kind of an undocumented declaration, None for one that is exempt or documented."""
        if declaration.kind == "static" and not declaration.dimensions:
            arrays = self._arrays(declaration)
            return "record" if arrays and not self._documented(declaration, arrays) else None
        if declaration.kind == "alias" and not self._is_cut(declaration):
            return None
        if self._documented(declaration) or self._is_scratch(declaration):
            return None
        return declaration.kind

    @cached_property
    def _comments(self) -> NearbyComments:
        return NearbyComments(self._file, self._context.sources[self._file.path].data)

    @cached_property
    def _head(self) -> LayoutNotes:
        """What the comments above the file's first function say."""
        file = self._file
        heads = [f.head.start for f in file.functions if not f.lambda_ and not f.via_macro]
        first_code = min(heads, default=file.size)
        texts = [c.text for c in file.comments if c.alone and c.span.start < first_code]
        return LayoutNotes("\n".join(texts))

    @cached_property
    def _branches(self) -> list[tuple[int, int]]:
        return _merged(branch.span for branch in self._file.branches)

    def _is_scratch(self, declaration: SharedDeclaration) -> bool:
        """Whether it is of one dimension: barriers, or at most a value for each lane or warp."""
        if declaration.kind != "static" or len(declaration.dimensions) != 1:
            return False
        if "barrier" in declaration.type.lower():
            return True
        size = declaration.dimensions[0]
        value = self._context.project.constants.evaluate(self._file.path, size)
        if value is not None:
            return value <= WARP
        return "warp" in f"{declaration.name} {size}".lower() and "*" not in size

    def _is_cut(self, declaration: SharedDeclaration) -> bool:
        """Whether an alias gives a part of a pool a shape of its own.

        A mere second name does not, nor does a record type, which says its own
        layout, a pointer into a tile, to the part of one thread or warp, or one
        that a loop moves along.
        """
        if _WORD.fullmatch(declaration.initializer) or self._is_inside_branch(declaration):
            return False
        if _RECORD.search(f"{declaration.type} {declaration.initializer}"):
            return False
        sources = self._sources(declaration)
        if not any(source.kind == "alias" for source in sources):
            return any(_is_pool(source) for source in sources)
        return self._is_settled(declaration, {source.name for source in sources})

    def _is_settled(self, declaration: SharedDeclaration, sources: set[str]) -> bool:
        """Whether nothing that varies from thread to thread is in the initialiser."""
        words = set(_WORD.findall(declaration.initializer)) - sources - _WORDS_OF_CASTS
        words = {word for word in words if not _SETTLED.match(word)}
        if not words:
            return True
        function = self._file.functions[enclosing(self._file, declaration.function)]
        words -= {parameter.name for parameter in function.parameters}
        return words <= self._constants

    def _sources(self, declaration: SharedDeclaration) -> list[SharedDeclaration]:
        found = []
        for word in _WORD.findall(declaration.initializer):
            function = declaration.function
            while function >= 0 and (function, word) not in self._by_name:
                function = self._file.functions[function].parent
            source = self._by_name.get((function, word))
            if source is not None and source is not declaration:
                found.append(source)
        return found

    def _is_inside_branch(self, declaration: SharedDeclaration) -> bool:
        place = bisect_right(self._branches, (declaration.statement.start, self._file.size)) - 1
        return place >= 0 and declaration.statement.start < self._branches[place][1]

    def _arrays(self, declaration: SharedDeclaration) -> dict[str, tuple[str, ...]]:
        """The arrays of a struct or union that is written out in the declaration, scratch aside."""
        _, opening, members = declaration.type.partition("{")
        found = {
            member[1]: tuple(_DIMENSION.findall(member[2]))
            for member in (_ARRAY.finditer(members) if opening else ())
        }
        sizes = {name: dimensions for name, dimensions in found.items() if len(dimensions) == 1}
        evaluate = self._context.project.constants.evaluate
        for name, (size,) in sizes.items():
            value = evaluate(self._file.path, size)
            if value is not None and value <= WARP:
                del found[name]
        return found

    def _documented(
        self,
        declaration: SharedDeclaration,
        arrays: Mapping[str, tuple[str, ...]] | None = None,
    ) -> bool:
        """Whether a comment says the layout of the declaration, or of the `arrays` inside it."""
        arrays = arrays or {declaration.name: declaration.dimensions}
        flat = declaration.kind != "static" or all(len(d) == 1 for d in arrays.values())
        statement = declaration.statement
        comments = self._comments
        if says_layout(comments.beside(statement), one_dimension=flat):
            return True
        if says_layout(comments.above(statement, self._group), one_dimension=flat):
            return True
        sizes = set(_WORD.findall(" ".join(size for d in arrays.values() for size in d)))
        if self._documented_constant(sizes):
            return True
        names = {declaration.name, *arrays, *sizes}
        return self._head.speak_of(names) or any(
            self._notes_of(text).speak_of(names) for text in self._heads(declaration) if text
        )

    def _notes_of(self, text: str) -> LayoutNotes:
        if text not in self._notes:
            self._notes[text] = LayoutNotes(text)
        return self._notes[text]

    def _documented_constant(self, names: set[str]) -> bool:
        """Whether the comment at a constant of this file says a layout."""
        return any(
            says_layout(self._comments.beside(span)) or says_layout(self._comments.above(span))
            for name in sorted(names)
            for span in self._constant_spans.get(name, ())
        )

    @cached_property
    def _constant_spans(self) -> dict[str, list[Span]]:
        """Where the constants and macros of the file are, by name."""
        spans: dict[str, list[Span]] = {}
        known: tuple[Constant | Macro, ...] = (*self._file.constants, *self._file.macros)
        for one in known:
            spans.setdefault(one.name, []).append(one.span)
        return spans

    def _heads(self, declaration: SharedDeclaration) -> Iterator[str]:
        """The comments before the function and before the macro around."""
        function = enclosing(self._file, declaration.function)
        if function >= 0:
            yield self._file.functions[function].comment
        for macro in self._file.macros if declaration.via_macro else ():
            if macro.name == declaration.via_macro:
                yield self._comments.above(macro.span)


def _merged(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Sorted ranges of offsets, those that overlap made one."""
    found: list[tuple[int, int]] = []
    for span in sorted(spans):
        if found and span.start < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], span.end))
        else:
            found.append((span.start, span.end))
    return found


def _is_pool(declaration: SharedDeclaration) -> bool:
    """Whether it is memory that others give a shape to: the dynamic pool, or plain bytes."""
    if declaration.kind == "extern":
        return True
    byte = declaration.type.removeprefix("std::").removeprefix("unsigned ").removeprefix("signed ")
    return byte in ("char", "uint8_t", "int8_t", "byte") and len(declaration.dimensions) == 1
