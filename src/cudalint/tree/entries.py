"""The entry points of a source file in one target: its kernels, and those that it includes.

Quoted includes are followed as nvcc does for the target; macros and aliases
are carried along, since they name kernels and spell their parameters' types.
Comparing two files' entry points is the rule CU405's business.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.source import SourceFile
from cudalint.syntax.effort import TooComplexError
from cudalint.syntax.macros import Definition, Expander
from cudalint.syntax.model import FileModel, Function, Macro
from cudalint.syntax.read import read_model
from cudalint.tree.model import Target

_VISITS = 200
_IDENTIFIER = regex(r"[A-Za-z_]\w*")
_QUALIFIERS = frozenset(("const", "volatile", "struct", "class", "enum", "typename", "std"))
_TOOLKIT = ("cuda", "mma.h", "cooperative_groups", "math_constants.h", "device_functions.h")
_SAME = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "size_t": "unsigned long",
    "half": "__half",
    "nv_bfloat16": "__nv_bfloat16",
}


class Entry(msgspec.Struct, frozen=True):
    """An entry point: where its name stands, and its parameters' types.

    A type is spelt without cv-qualifiers, aliases and macros: what the host must
    pass. `#ifdef` branches may give one name several entries.
    """

    name: str
    span: Span
    types: tuple[str, ...]


class Entries(msgspec.Struct, frozen=True):
    """All entry points by name; `complete` is false when some include was not found."""

    by_name: dict[str, tuple[Entry, ...]]
    complete: bool

    def lacking(self, other: Entries) -> list[str]:
        """The names that `other` has and these have not."""
        return [name for name in other.by_name if name not in self.by_name]

    def retyped(self, other: Entries) -> list[str]:
        """The names that both have, with no parameter types in common."""
        return [
            name
            for name, entries in other.by_name.items()
            if name in self.by_name
            and not {e.types for e in entries} & {e.types for e in self.by_name[name]}
        ]


def entry_points(
    path: str,
    target: Target,
    models: Mapping[str, FileModel],
    sources: Mapping[str, SourceFile],
) -> Entries:
    """The entry points that compiling the file at `path` for `target` gives."""
    walk = _Walk(target, models, sources)
    walk.visit(path)
    names = sorted(walk.found)
    found = {name: tuple(dict.fromkeys(walk.found[name])) for name in names}
    return Entries(found, walk.complete)


class _Walk:
    def __init__(
        self,
        target: Target,
        models: Mapping[str, FileModel],
        sources: Mapping[str, SourceFile],
    ) -> None:
        self._target = target
        self._models = models
        self._sources = sources
        self._expander = Expander([])
        self._macros: dict[str, Macro] = {}
        self._aliases: dict[str, str] = {}
        self._declared: set[str] = set()
        self._visited: set[tuple[str, frozenset[tuple[bytes, bytes]]]] = set()
        self.found: dict[str, list[Entry]] = {}
        self.complete = True
        for flag in target.flags:
            if flag.startswith("-D"):
                name, _, value = flag[2:].partition("=")
                self._define(name, None, value or "1")

    def visit(self, path: str) -> None:
        """Take in what the file at `path` says, from top to bottom, its includes in place."""
        model = self._models.get(path)
        state = (path, self._naming())
        if model is None or len(self._visited) >= _VISITS:
            self.complete = False
            return
        if state in self._visited:
            return
        self._visited.add(state)
        self._aliases.update((alias.name, alias.target) for alias in model.aliases)
        events = sorted(
            [(macro.span.start, macro) for macro in model.macros]
            + [(include.span.start, include) for include in model.includes]
            + [(kernel.span.start, kernel) for kernel in model.kernels],
            key=lambda event: event[0],
        )
        for start, event in events:
            if any(dead.covers(start) for dead in model.dead):
                continue
            if isinstance(event, Macro):
                self._define(event.name, event.parameters, event.body)
                self._macros[event.name] = event
            elif isinstance(event, Function):
                self._kernel(event)
            elif not event.system:
                self._include(path, event.path)
        self._made_by_others(path, model)

    def _include(self, path: str, name: str) -> None:
        for folder in (posixpath.dirname(path), *self._target.includes):
            candidate = posixpath.normpath(posixpath.join(folder, name))
            if candidate in self._models:
                self.visit(candidate)
                return
        if not name.startswith(_TOOLKIT):
            self.complete = False

    def _made_by_others(self, path: str, model: FileModel) -> None:
        """Take in the kernels that the file makes with macros of the files it includes.

        The model knows the file's own macros only, so the file is read once more
        with the others' definitions before it.
        """
        data = self._sources[path].data
        own = {macro.name for macro in model.macros}
        others = {n: m for n, m in self._macros.items() if m.span.path != path and n not in own}
        if any(
            b"__global__" in self._text(m.span) and n.encode() in data for n, m in others.items()
        ):
            prefix = b"".join(self._text(macro.span) + b"\n" for macro in others.values())
            try:
                kernels = read_model(path, prefix + data).kernels
            except TooComplexError:
                self.complete = False
                return
            for kernel in kernels:
                use, name = (_moved(s, len(prefix)) for s in (kernel.use, kernel.name_span))
                if use is not None or (name is not None and not kernel.via_macro):
                    place = name or kernel.name_span
                    self._kernel(msgspec.structs.replace(kernel, use=use, name_span=place))

    def _text(self, span: Span) -> bytes:
        return self._sources[span.path].data[span.start : span.end]

    def _kernel(self, kernel: Function) -> None:
        if kernel.linkage == "C" and not kernel.scope:
            self._declared.add(kernel.name)
        template_of_macro = kernel.via_macro and kernel.use is None
        linked = kernel.linkage == "C" or (not kernel.scope and kernel.name in self._declared)
        if kernel.kind != "definition" or not linked or template_of_macro:
            return
        written = kernel.name.encode() if kernel.via_macro else self._text(kernel.name_span)
        name = self._expander.expand(written).decode("utf-8", "replace").replace(" ", "")
        types = tuple(self._plain(parameter.type) for parameter in kernel.parameters)
        entry = Entry(name, kernel.use or kernel.name_span, types)
        self.found.setdefault(name, []).append(entry)

    def _define(self, name: str, parameters: tuple[str, ...] | None, body: str) -> None:
        names = None if parameters is None else tuple(p.encode() for p in parameters)
        definition = Definition(name.encode(), names, body.encode(), 0, 0, 0, 0)
        self._expander.by_name[definition.name] = definition

    def _naming(self) -> frozenset[tuple[bytes, bytes]]:
        """The macros that may name a kernel: a file included again under others counts again."""
        return frozenset(
            (name, definition.body)
            for name, definition in self._expander.by_name.items()
            if definition.parameters is None and _IDENTIFIER.fullmatch(definition.body.decode())
        )

    def _plain(self, text: str) -> str:
        """A type without macros, aliases and cv-qualifiers, in one spelling."""
        expanded = self._expander.expand(text.encode()).decode()
        words = re.findall(r"\w+|\S", expanded.replace("::", " "))
        for _ in range(8):
            if not any(word in self._aliases for word in words):
                break
            spelt = " ".join(self._aliases.get(word, word) for word in words)
            words = re.findall(r"\w+|\S", spelt.replace("::", " "))
        kept = [_SAME.get(word, word) for word in words if word not in _QUALIFIERS]
        spelt = re.sub(r"\bsigned (?=short|int|long)", "", " ".join(kept))
        spelt = re.sub(r"\b(short|long) int\b", r"\1", spelt)
        return re.sub(r"\bunsigned\b(?! (?:char|short|int|long)\b)", "unsigned int", spelt)


def _moved(span: Span | None, by: int) -> Span | None:
    """`span` as it is without the first `by` bytes of the text; None if it lies in these."""
    if span is None or span.start < by:
        return None
    return Span(span.path, span.start - by, span.end - by)
