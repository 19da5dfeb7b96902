"""From raw records to the FileModel: who encloses whom, comments, order."""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeVar

import msgspec

from cudalint.finding import Span
from cudalint.syntax import assembly, records, scan
from cudalint.syntax.aliases import pointer_aliases
from cudalint.syntax.brackets import after_space
from cudalint.syntax.effort import TooComplexError
from cudalint.syntax.model import (
    Alias,
    Assembly,
    Branch,
    Broken,
    Call,
    Comment,
    Constant,
    FileModel,
    Flag,
    Function,
    Identifier,
    Launch,
    RecordType,
    Region,
    SharedDeclaration,
    Variable,
)
from cudalint.syntax.prepare import Prepared, Use
from cudalint.syntax.raw import Range, Raw, RawCall, RawFunction
from cudalint.syntax.sweep import innermost, nesting_order
from cudalint.syntax.templates import Bodies, Body, BodyFunction

MAX_USE_RECORDS = 20_000
Placed = TypeVar("Placed", Call, Launch, SharedDeclaration, Identifier, Assembly)


def assemble(
    path: str, prepared: Prepared, raw: Raw, uses: list[Use], bodies: Bodies, hidden: list[Range]
) -> FileModel:
    """Join everything that was read of one file into its model."""
    return _Assembly(path, prepared, raw, uses, bodies, hidden).model()


class _Assembly:
    """The work of `assemble`: functions first, then what lies in them."""

    def __init__(
        self,
        path: str,
        prepared: Prepared,
        raw: Raw,
        uses: list[Use],
        bodies: Bodies,
        hidden: list[Range],
    ) -> None:
        self.path = path
        self.prepared = prepared
        self.code = prepared.code + b"\n"
        self.raw = raw
        self.uses = uses
        self.bodies = bodies
        self.hidden = hidden
        self.comments = scan.comments(path, prepared.data, prepared.comments)
        self.comment_starts = [start for start, _ in prepared.comments]
        self.comments_before: dict[int, str] = {}
        self.raw.functions = _without_variables(self.raw.functions)
        self.containers = _containers(raw.functions)
        self.order = nesting_order(self.containers)
        self.functions = self._functions()
        self.calls: list[Call] = []
        self.launches: list[Launch] = []
        self.shared: list[SharedDeclaration] = []
        self.macro_console: list[Identifier] = []
        self.macro_assembly: list[Assembly] = []

    def model(self) -> FileModel:
        """Everything, in file order."""
        self._calls()
        self._shared()
        self._macros()
        path, data = self.path, self.prepared.data
        functions, order = self._ordered()
        return FileModel(
            path=path,
            size=len(data),
            functions=functions,
            calls=self._in_place(self.calls, order),
            launches=self._in_place(self.launches, order),
            shared=self._in_place(self.shared, order),
            variables=self._variables(order),
            includes=scan.includes(path, data, self.prepared.directives),
            macros=scan.macros(path, self.prepared.definitions),
            regions=self._regions(),
            comments=self.comments,
            aliases=self._aliases(order),
            constants=self._constants(),
            structs=self._structs(),
            branches=self._branches(order),
            console=self._in_place([*self._console(), *self.macro_console], order),
            flags=self._flags(order),
            statics=self._statics(),
            broken=self._broken(),
            dead=tuple(Span(path, s, e) for s, e in self.prepared.dead),
            assembly=self._in_place([*self._assembly(), *self.macro_assembly], order),
        )

    def _homes(self, ranges: list[Range]) -> list[int]:
        """The innermost function body around each of the sorted `ranges`."""
        return innermost(ranges, self.containers, self.order)

    def _functions(self) -> list[Function]:
        raw = self.raw.functions
        parents = self._homes([(f.head[0], f.head[0]) for f in raw])
        scopes = sorted(self.raw.scopes, key=lambda s: s.body)
        scope_bodies = [s.body for s in scopes]
        scope_homes = innermost([(f.name_range[0], f.name_range[0]) for f in raw], scope_bodies)
        outer = innermost([(s, s) for s, _ in (s.span for s in scopes)], scope_bodies)
        classes = {s.name for s in scopes if s.kind == "class"}
        found: list[Function] = []
        for index, function in enumerate(raw):
            chain = []
            home = scope_homes[index]
            while home >= 0:
                chain.append(scopes[home])
                home = outer[home]
            chain.reverse()
            found.append(self._function(index, function, parents[index], chain, classes, found))
        return found

    def _function(
        self,
        index: int,
        raw: RawFunction,
        parent: int,
        chain: list,  # type: ignore[type-arg]
        classes: set[str],
        earlier: list[Function],
    ) -> Function:
        read = raw.read
        names = [part for s in chain if s.kind != "linkage" for part in s.parts]
        owner = next((s.name for s in reversed(chain) if s.kind == "class"), "")
        if raw.qualifier:
            names += [part.strip() for part in raw.qualifier.split("::") if part.strip()]
            owner = names[-1].split("<")[0].strip() if names else ""
        space = read.space
        if raw.lambda_ and parent >= 0 and space == "host" and earlier[parent].space != "host":
            space = "device"
        linked = read.c_linkage or any(s.kind == "linkage" for s in chain)
        path = self.path
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
            parent=parent,
            comment="" if raw.lambda_ else self._comment_before(raw.head[0]),
        )

    def _comment_before(self, at: int) -> str:
        """The comments directly before `at`, with nothing but white space between."""
        found = self.comments_before.get(at)
        if found is None:
            found = self.comments_before[at] = self._read_comment_before(at)
        return found

    def _read_comment_before(self, at: int) -> str:
        data = self.prepared.data
        index = bisect_right(self.comment_starts, at) - 1
        lines: list[str] = []
        while index >= 0:
            comment: Comment = self.comments[index]
            end = comment.span.end
            if not comment.alone or after_space(data, end) < at or data.count(b"\n", end, at) > 1:
                break
            lines.append(comment.text)
            at = comment.span.start
            index -= 1
        return "\n".join(reversed(lines))

    def _calls(self) -> None:
        calls = sorted(self.raw.calls, key=_span)
        for raw, home in zip(calls, self._homes([c.span for c in calls]), strict=True):
            if raw.configuration is None:
                self.calls.append(records.call_record(self.path, self.code, raw, home))
            else:
                self.launches.append(records.launch_record(self.path, self.code, raw, home))

    def _shared(self) -> None:
        shared = sorted(self.raw.shared, key=lambda s: s.name_range)
        for raw, home in zip(shared, self._homes([s.name_range for s in shared]), strict=True):
            self.shared.append(records.shared_record(self.path, self.code, raw, home))
        if self.shared:
            self.shared += pointer_aliases(
                self.path,
                self.code,
                self.prepared.bare,
                self.raw.statements,
                self.functions,
                self.shared,
            )

    def _macros(self) -> None:
        """Template records of every macro body, and the records of each use."""
        for definition in self.bodies.definitions:
            self._bring(self.bodies.own(definition), -1, None)
        homes = self._homes([(use.start, use.end) for use in self.uses])
        brought = 0
        for use, home in zip(self.uses, homes, strict=True):
            body = self.bodies.at_use(use, self.code)
            brought += body.size
            if brought > MAX_USE_RECORDS:
                raise TooComplexError(f"its macros bring more than {MAX_USE_RECORDS} calls")
            self._bring(body, home, Span(self.path, use.start, use.end))

    def _bring(self, body: Body, home: int, use: Span | None) -> None:
        base = len(self.functions)
        for function in body.functions:
            self.functions.append(self._macro_function(function, len(self.functions), home, use))

        def inside(function: int) -> int:
            return base + function if function >= 0 else home

        self.calls += [msgspec.structs.replace(c, function=inside(c.function)) for c in body.calls]
        self.launches += [
            msgspec.structs.replace(c, function=inside(c.function)) for c in body.launches
        ]
        self.shared += [
            msgspec.structs.replace(c, function=inside(c.function)) for c in body.shared
        ]

        self.macro_console += [
            msgspec.structs.replace(c, function=inside(c.function)) for c in body.console
        ]

        self.macro_assembly += [
            msgspec.structs.replace(
                asm if use is not None else assembly.finished(asm), function=inside(asm.function)
            )
            for asm in body.assembly
        ]

    def _macro_function(
        self, function: BodyFunction, index: int, parent: int, use: Span | None
    ) -> Function:
        raw, read, path = function.raw, function.read, self.path
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
            linkage="C" if read.c_linkage or self._in_c_block(use) else "C++",
            static=read.static,
            template=read.template,
            bounds=read.bounds,
            return_type=read.return_type,
            parent=parent,
            comment=self._comment_before(use.start) if use is not None else "",
            via_macro=function.macro,
            use=use,
        )

    def _in_c_block(self, use: Span | None) -> bool:
        return use is not None and any(
            s.kind == "linkage" and s.body[0] <= use.start < s.body[1] for s in self.raw.scopes
        )

    def _ordered(self) -> tuple[tuple[Function, ...], list[int]]:
        """The functions in file order, and where each old index went: nothing if all stay."""
        keys = [_place(f) for f in self.functions]
        sequence = sorted(range(len(keys)), key=keys.__getitem__)
        if sequence == list(range(len(keys))):
            return tuple(self.functions), []
        order = [0] * len(keys)
        for new, old in enumerate(sequence):
            order[old] = new
        moved = tuple(
            msgspec.structs.replace(
                self.functions[old],
                index=new,
                parent=order[self.functions[old].parent] if self.functions[old].parent >= 0 else -1,
            )
            for new, old in enumerate(sequence)
        )
        return moved, order

    def _in_place(self, found: list[Placed], order: list[int]) -> tuple[Placed, ...]:
        """`found` in file order, with function indexes brought into it too."""
        if order:
            found = [
                msgspec.structs.replace(r, function=order[r.function]) if r.function >= 0 else r
                for r in found
            ]
        return tuple(sorted(found, key=_place))

    def _moved(self, homes: list[int], order: list[int]) -> list[int]:
        """Function indexes brought into file order."""
        return [order[home] if home >= 0 else -1 for home in homes] if order else homes

    def _variables(self, order: list[int]) -> tuple[Variable, ...]:
        streams = scan.streams(self.prepared.bare)
        ranges = [(s.start, s.end) for s in streams]
        homes = self._moved(self._homes(ranges), order)
        in_heads = innermost([(s, s + 1) for s, _ in ranges], [f.head for f in self.raw.functions])
        return tuple(
            Variable(Span(self.path, stream.start, stream.end), stream.name, stream.text, home)
            for stream, home, in_head in zip(streams, homes, in_heads, strict=True)
            if in_head < 0
        )

    def _regions(self) -> tuple[Region, ...]:
        return tuple(
            Region(Span(self.path, branch.start, branch.end), branch.condition, number)
            for number, branch in sorted(
                ((n, b) for n, g in enumerate(self.prepared.groups) for b in g.branches if b.live),
                key=lambda numbered: (numbered[1].start, -numbered[1].end),
            )
        )

    def _aliases(self, order: list[int]) -> tuple[Alias, ...]:
        aliases = sorted(self.raw.aliases, key=lambda a: a.name_range)
        homes = self._moved(self._homes([a.name_range for a in aliases]), order)
        return tuple(
            Alias(
                Span(self.path, *alias.span),
                Span(self.path, *alias.name_range),
                self.code[slice(*alias.name_range)].decode("utf-8", "replace"),
                alias.target,
                alias.template,
                home,
            )
            for alias, home in zip(aliases, homes, strict=True)
        )

    def _constants(self) -> tuple[Constant, ...]:
        found = scan.constants(self.path, self.prepared.bare)
        found += [Constant(Span(self.path, *c.span), c.name, c.value) for c in self.raw.constants]
        return tuple(sorted(found, key=lambda c: (c.span.start, c.span.end)))

    def _structs(self) -> tuple[RecordType, ...]:
        scopes = sorted(self.raw.scopes, key=lambda s: s.body)
        homes = innermost([(s.span[0], s.span[0]) for s in scopes], [s.body for s in scopes])
        found = []
        for scope, home in zip(scopes, homes, strict=True):
            if scope.kind != "class":
                continue
            names: list[str] = []
            while home >= 0:
                if scopes[home].kind != "linkage":
                    names[:0] = scopes[home].parts
                home = homes[home]
            found.append(
                RecordType(Span(self.path, *scope.span), scope.name, tuple(names), scope.members)
            )
        return tuple(found)

    def _branches(self, order: list[int]) -> tuple[Branch, ...]:
        branches = sorted(self.raw.branches, key=lambda b: (b.head, b.span))
        homes = self._moved(self._homes([b.head for b in branches]), order)
        # A missing token at the end of the file lies behind its last byte.
        size = len(self.prepared.data)
        return tuple(
            Branch(
                Span(self.path, min(b.span[0], size), min(b.span[1], size)),
                Span(self.path, b.head[0], min(b.head[1], size)),
                b.keyword,  # type: ignore[arg-type]
                b.condition,
                b.exits,
                home,
            )
            for b, home in zip(branches, homes, strict=True)
        )

    def _console(self) -> list[Identifier]:
        uses = scan.console(self.prepared.bare)
        ranges = [(u.start, u.end) for u in uses]
        statements = innermost(ranges, self.raw.statements)
        found = []
        for use, home, statement in zip(uses, self._homes(ranges), statements, strict=True):
            place = self.raw.statements[statement] if statement >= 0 else (use.start, use.end)
            whole = place[0] == use.start and self.prepared.bare[place[1] - 1 : place[1]] == b";"
            found.append(
                Identifier(
                    Span(self.path, use.start, use.end),
                    Span(self.path, *place),
                    use.name,
                    home,
                    whole,
                )
            )
        return found

    def _assembly(self) -> list[Assembly]:
        found = assembly.asm_statements(self.code, self.prepared.bare)
        homes = self._homes([(f.start, f.end) for f in found])
        return [assembly.record(self.path, f, home) for f, home in zip(found, homes, strict=True)]

    def _flags(self, order: list[int]) -> tuple[Flag, ...]:
        flags = scan.flags(self.prepared.bare)
        homes = self._moved(self._homes([(f.start, f.end) for f in flags]), order)
        return tuple(
            Flag(Span(self.path, f.start, f.end), f.name, f.text, home)
            for f, home in zip(flags, homes, strict=True)
            if home >= 0
        )

    def _statics(self) -> tuple[Span, ...]:
        statics = scan.statics(self.prepared.bare)
        homes = self._homes([(s.start, s.end) for s in statics])
        return tuple(
            Span(self.path, s.start, s.end)
            for s, home in zip(statics, homes, strict=True)
            if home >= 0
        )

    def _broken(self) -> tuple[Broken, ...]:
        """Error regions; those in kernels and launchers, and hidden records, matter."""
        important = [f.body for f in self.raw.functions if f.body and f.read.space == "global"]
        launches = sorted(c.span for c in self.raw.calls if c.configuration is not None)
        homes = set(self._homes(launches)) - {-1}
        important += [self.containers[home] for home in sorted(homes)]
        found = {Broken(Span(self.path, s, e), True) for s, e in self.hidden}
        errors = sorted(self.raw.errors)
        # A macro's argument may be any text.
        arguments = [(use.start, use.end) for use in self.uses if use.open_at >= 0]
        arguments += [
            call.configuration
            for call in self.raw.calls
            if call.configuration and call.configuration[1] > call.open_at
        ]
        size = len(self.prepared.data)
        for (start, end), argument, home in zip(
            errors, innermost(errors, arguments), innermost(errors, important), strict=True
        ):
            if argument < 0:
                # A missing token at the end of the file lies behind its last byte.
                found.add(Broken(Span(self.path, min(start, size), min(end, size)), home >= 0))
        return tuple(sorted(found, key=lambda b: (b.span, b.matters)))


def _without_variables(functions: list[RawFunction]) -> list[RawFunction]:
    """In order, without the locals that look like declarations: `dim3 grid(n);`."""
    ordered = sorted(functions, key=lambda f: (f.span, f.name_range))
    if all(f.kind != "declaration" for f in ordered):
        return ordered
    homes = innermost([(f.head[0], f.head[0]) for f in ordered], _containers(ordered))
    return [
        f
        for f, home in zip(ordered, homes, strict=True)
        if f.kind != "declaration" or home < 0 or "extern" in f.read.words
    ]


def _containers(functions: list[RawFunction]) -> list[Range]:
    """The bodies; of a function without one, the place where it ends."""
    return [f.body or (f.span[1], f.span[1]) for f in functions]


def _span(call: RawCall) -> Range:
    return call.span


def _place(
    record: Function | Call | Launch | SharedDeclaration | Identifier | Assembly,
) -> tuple[int, int, int, int]:
    """Where a record stands in the file; those of one macro in the order of its uses."""
    span, use = record.span, record.use or record.span
    return span.start, span.end, use.start, use.end
