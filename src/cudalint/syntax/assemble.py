"""From raw records to the FileModel: who encloses whom, comments, order."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from cudalint.finding import Span
from cudalint.syntax import assembly, records, scan
from cudalint.syntax.aliases import pointer_aliases
from cudalint.syntax.effort import TooComplexError
from cudalint.syntax.functions import (
    containers,
    function_record,
    macro_function_record,
    without_variables,
)
from cudalint.syntax.leading import LeadingComments
from cudalint.syntax.model import (
    Alias,
    Assembly,
    Branch,
    Broken,
    Call,
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
from cudalint.syntax.raw import Range, Raw, RawCall
from cudalint.syntax.sweep import covered, innermost, joined, nesting_order
from cudalint.syntax.templates import Bodies, Body

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
        self.leading = LeadingComments(prepared.data, self.comments)
        self.c_blocks = joined(s.body for s in raw.scopes if s.kind == "linkage")
        self.raw.functions = without_variables(self.raw.functions)
        self.containers = containers(raw.functions)
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
        found: list[Function] = []
        for index, (function, parent) in enumerate(zip(raw, parents, strict=True)):
            chain = []
            home = scope_homes[index]
            while home >= 0:
                chain.append(scopes[home])
                home = outer[home]
            chain.reverse()
            around = (parent, found[parent].space if 0 <= parent < index else "host")
            comment = "" if function.lambda_ else self.leading.before(function.head[0])
            found.append(function_record(self.path, index, function, around, chain, comment))
        return found

    def _calls(self) -> None:
        calls = sorted(self.raw.calls, key=_span)
        for raw, home in zip(calls, self._homes([c.span for c in calls]), strict=True):
            if raw.configuration is None:
                self.calls.append(records.call_record(self.path, self.code, raw, home))
            else:
                self.launches.append(records.launch_record(self.path, self.code, raw, home))

    def _shared(self) -> None:
        if not self.raw.shared:
            return
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
        if not self.uses:
            return
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
            self.functions.append(
                macro_function_record(
                    self.path,
                    len(self.functions),
                    function,
                    home,
                    use,
                    self.leading.before(use.start) if use is not None else "",
                    in_c_block=use is not None and covered(use.start, self.c_blocks),
                )
            )

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
        if not found:
            return ()
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
        if not streams:
            return ()
        ranges = [(s.start, s.end) for s in streams]
        homes = self._moved(self._homes(ranges), order)
        in_heads = innermost([(s, s + 1) for s, _ in ranges], [f.head for f in self.raw.functions])
        return tuple(
            Variable(Span(self.path, stream.start, stream.end), stream.name, stream.text, home)
            for stream, home, in_head in zip(streams, homes, in_heads, strict=True)
            if in_head < 0
        )

    def _regions(self) -> tuple[Region, ...]:
        if not self.prepared.groups:
            return ()
        return tuple(
            Region(Span(self.path, branch.start, branch.end), branch.condition, number)
            for number, branch in sorted(
                ((n, b) for n, g in enumerate(self.prepared.groups) for b in g.branches if b.live),
                key=lambda numbered: (numbered[1].start, -numbered[1].end),
            )
        )

    def _aliases(self, order: list[int]) -> tuple[Alias, ...]:
        if not self.raw.aliases:
            return ()
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
        if not self.raw.constants:
            return tuple(found)
        found += [Constant(Span(self.path, *c.span), c.name, c.value) for c in self.raw.constants]
        return tuple(sorted(found, key=lambda c: (c.span.start, c.span.end)))

    def _structs(self) -> tuple[RecordType, ...]:
        if not self.raw.scopes:
            return ()
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
        if not self.raw.branches:
            return ()
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
        if not uses:
            return []
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
        if not found:
            return []
        homes = self._homes([(f.start, f.end) for f in found])
        return [assembly.record(self.path, f, home) for f, home in zip(found, homes, strict=True)]

    def _flags(self, order: list[int]) -> tuple[Flag, ...]:
        flags = scan.flags(self.prepared.bare)
        if not flags:
            return ()
        homes = self._moved(self._homes([(f.start, f.end) for f in flags]), order)
        return tuple(
            Flag(Span(self.path, f.start, f.end), f.name, f.text, home)
            for f, home in zip(flags, homes, strict=True)
            if home >= 0
        )

    def _statics(self) -> tuple[Span, ...]:
        statics = scan.statics(self.prepared.bare)
        if not statics:
            return ()
        homes = self._homes([(s.start, s.end) for s in statics])
        return tuple(
            Span(self.path, s.start, s.end)
            for s, home in zip(statics, homes, strict=True)
            if home >= 0
        )

    def _broken(self) -> tuple[Broken, ...]:
        """Error regions; those in kernels and launchers, and hidden records, matter."""
        if not self.hidden and not self.raw.errors:
            return ()
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


def _span(call: RawCall) -> Range:
    return call.span


def _place(
    record: Function | Call | Launch | SharedDeclaration | Identifier | Assembly,
) -> tuple[int, int, int, int]:
    """Where a record stands in the file; those of one macro in the order of its uses."""
    span, use = record.span, record.use or record.span
    return span.start, span.end, use.start, use.end
