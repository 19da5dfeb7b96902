"""The parts of a hot function that do not count as its launch path.

Cold: branches that debug, trace or profile, operands that only run then,
`#ifdef`s and bodies of macros of the same kind, error branches that free and leave,
`std::call_once`, initialisers of local statics; what ends the program or throws is
`cudalint.hostcode.fatalbranches`.
Lazy: a branch that makes the very resource which it finds absent or too small.
How a condition reads is `cudalint.hostcode.predicates`; which whole functions are cold is
`cudalint.hostcode.coldness`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from cudalint.hostcode.absence import held, missing, names
from cudalint.hostcode.fatalbranches import fatal_branches
from cudalint.hostcode.guards import debug_guarded, may_be_guarded
from cudalint.hostcode.makers import Makers
from cudalint.hostcode.making import assigned_to, given, grown, makes, makes_held, may_make
from cudalint.hostcode.predicates import debug_only
from cudalint.project.headermacros import home

if TYPE_CHECKING:
    from cudalint.devicecode.flow.text import CodeTexts
    from cudalint.finding import Span
    from cudalint.source import SourceFile
    from cudalint.syntax.model import Branch, Call, FileModel, Launch

_ERROR = re.compile(
    r"(?i)err|fail|success|stat(?:us)?\b|\bst\b|\brc\b|\bret\b|\bres(?:ult)?\b|\bok\b"
    r"|^!\s*[\w.>-]+$|==\s*(?:nullptr|NULL)"
)
_FREES = re.compile(r"(?i)free|destroy|release|cleanup|unregister")
_DECLARED = re.compile(rb"\bauto\s*&*\s*(\w+)\s*=\s*$")
_FAR = 100
_NEW = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)*(?<![=!<>])=\s*(?:\([^()]*\)\s*)?new\b")
# No `static` one: a type alone stands before the `*`.
_NULL_LOCAL = re.compile(
    r"[;{}]\s*(?:const\s+)?[\w:]+\s*\*+\s*([A-Za-z_]\w*)\s*"
    r"(?:=\s*(?:nullptr|NULL|0)|\{\s*(?:nullptr)?\s*\})\s*;"
)
_WRAPS = re.compile(r"(?i)check|call|launch|kernel|run|assert|validate|profil|safe")
_NAME = re.compile(rb"[A-Za-z_]\w*")
_ZERO = re.compile(r"^(?:0\s*==|.*==\s*0$)")
_JUMPS = re.compile(r"\b(?:goto\s+\w+|break)[\s;]*\}?\s*$")
_SET = re.compile(r"\b([A-Za-z_]\w*)\s*(?:\[[^\[\]]*\]\s*)*=(?!=)")


class ColdRegions:
    """Answers for every file of a run; each file's regions are found at the first question.

    Operands of expressions are looked at in the files that `sources` has.
    """

    def __init__(
        self,
        models: Mapping[str, FileModel],
        sources: Mapping[str, SourceFile],
        codes: CodeTexts,
    ) -> None:
        self._models = models
        self._sources = sources
        self._codes = codes
        self._makers = Makers(models, codes)
        self._flags: dict[str, _Flags] = {}
        self._cold: dict[str, _Ranges] = {}
        self._lazy: dict[str, _Ranges] = {}

    def holds(self, record: Call | Launch) -> bool:
        """Whether what `record` says happens in a cold or lazy region."""
        return self.cold(record) or self.lazy(record)

    def cold(self, record: Call | Launch) -> bool:
        """Whether `record`, or the use of the macro that it comes from, lies in a cold region."""
        if _for_debugging(self._macro(record)):
            return True
        if _inside(self._cold, record, self._models, self._cold_spans):
            return True
        if self._guarded(record.span, record):
            return True
        return record.use is not None and self._guarded(record.use, record)

    def lazy(self, record: Call | Launch) -> bool:
        """Whether `record`, or the use of the macro that it comes from, lies in a lazy region."""
        return _inside(self._lazy, record, self._models, self._lazy_spans)

    def why(self, record: Call | Launch) -> str:
        """Why `record` does not count, as part of a sentence; "" where it does."""
        for span in (record.span, record.use):
            if span is None:
                continue
            model = self._models[span.path]
            for region, why in (*self._cold_spans(model), *self._lazy_spans(model)):
                if region.covers(span.start):
                    return why
        if _for_debugging(self._macro(record)):
            return f"comes out of '{self._macro(record)}', for debugging"
        return "is an operand that only runs for debugging" if self.cold(record) else ""

    def _cold_spans(self, model: FileModel) -> Iterator[tuple[Span, str]]:
        yield from _cold_spans(model)
        source = self._sources.get(model.path)
        if source is None:
            return
        yield from fatal_branches(model, source)
        if b"call_once" not in source.data:
            return
        for call in model.calls:
            if call.name == "call_once":
                for span in _named_lambdas(call, model, source.data):
                    yield span, "runs once, by 'call_once'"

    def _lazy_spans(self, model: FileModel) -> Iterator[tuple[Span, str]]:
        """The lazy regions of a file, each with why it is one."""
        calls: _CallIndex | None = None
        for branch in model.branches:
            tested = missing(branch) - {"this"}
            if not tested or _is_switch(tested, branch, model):
                continue
            calls = calls or _CallIndex(model)
            zero = bool(_ZERO.search(branch.condition))
            made = any(
                makes(call, tested, zero=zero) and not self._goes_elsewhere(call, branch, tested)
                for call in calls.inside(branch.span)
            )
            made = made or any(
                self._makers.make(call, branch, tested) for call in calls.inside(branch.span)
            )
            made = made or self._makes_new(branch.span, tested)
            if made and not self._is_new_each_time(tested, branch):
                yield branch.span, f"makes at the first need what '{branch.condition}' tests"
        yield from self._after_guards(model)

    def _after_guards(self, model: FileModel) -> Iterator[tuple[Span, str]]:
        """The code after guards that leave where a resource is there, or large enough."""
        source = self._sources.get(model.path)
        if source is None:
            return
        making = [call for call in model.calls if may_make(call)]
        makers = {call.function for call in making}
        news = b"new" in source.data
        guards = [
            (branch, found)
            for branch in model.branches
            if branch.keyword == "if" and branch.exits and (news or branch.function in makers)
            if any(found := held(branch.condition))
        ]
        if not guards:
            return
        branches: dict[int, list[Branch]] = {}
        for branch in model.branches:
            branches.setdefault(branch.function, []).append(branch)
        code = self._codes.of(model.path)
        spoken = frozenset().union(*(names(f"{call.receiver} {given(call)}") for call in making))
        assigned: set[str] | None = None
        calls: _CallIndex | None = None
        for guard, found in guards:
            if spoken.isdisjoint(found.handles | found.sizes):
                assigned = set(_SET.findall(code)) if assigned is None else assigned
                if assigned.isdisjoint(found.handles | found.sizes):
                    continue
            # Where a jump lands is no part of what the guard keeps from.
            if _JUMPS.search(code[max(guard.span.start, guard.span.end - _FAR) : guard.span.end]):
                continue
            rest = _rest_of_block(model, guard, branches[guard.function])
            wanted = grown(found, code[rest.start : rest.end])
            calls = calls or _CallIndex(model)
            made = any(makes_held(call, wanted, code) for call in calls.inside(rest))
            if made or self._makes_new(rest, wanted.handles):
                yield rest, f"makes at the first need what 'if ({guard.condition})' tests"

    def _goes_elsewhere(self, call: Call, branch: Branch, tested: frozenset[str]) -> bool:
        """Whether what is made is assigned to a name that has nothing to do with the test."""
        if call.span.path not in self._sources or not tested.isdisjoint(names(given(call))):
            return False
        code = self._codes.of(call.span.path)
        into = assigned_to(call, code, branch.span.start)
        if not into or into in tested:
            return False
        return tested.isdisjoint(names(code[call.span.end : branch.span.end]))

    def _is_new_each_time(self, tested: frozenset[str], branch: Branch) -> bool:
        """Whether a pointer is tested that the function has made null: no call keeps it."""
        path = branch.span.path
        if branch.function < 0 or path not in self._sources:
            return False
        body = self._models[path].functions[branch.function].body
        start = branch.head.start if body is None else body.start
        nulls = _NULL_LOCAL.finditer(self._codes.of(path), start, branch.head.start)
        return any(match[1] in tested for match in nulls)

    def _makes_new(self, span: Span, tested: frozenset[str]) -> bool:
        """Whether a `new` in a branch is assigned to what was tested."""
        source = self._sources.get(span.path)
        if source is None or source.data.find(b"new", span.start, span.end) < 0:
            return False
        found = _NEW.finditer(self._codes.of(span.path), span.start, span.end)
        return any(name[1] in tested for name in found)

    def _macro(self, record: Call | Launch) -> str:
        """The macro whose use `record` comes out of, the outermost one; "" for none."""
        if record.use is None:
            return ""
        source = self._sources.get(record.use.path)
        name = _NAME.match(source.data, record.use.start) if source else None
        return name[0].decode() if name else record.via_macro

    def _guarded(self, span: Span, record: Call | Launch) -> bool:
        """Whether an operand around `span` is only reached for debugging."""
        source = self._sources.get(span.path)
        if source is None or not may_be_guarded(source.data, span.start):
            return False
        if span.path not in self._flags:
            self._flags[span.path] = _Flags(self._models[span.path])
        inside = record.function if span.path == home(record) else -1
        known = self._flags[span.path].of(inside)
        return debug_guarded(self._codes.of(span.path), span.start, known)


def _for_debugging(macro: str) -> bool:
    """Whether a macro's name says that what it does is for debugging, and no call made by it."""
    return debug_only(macro) and not _WRAPS.search(macro)


class _Ranges:
    """Merged ranges of offsets, for bisection."""

    def __init__(self, regions: Iterator[tuple[Span, str]]) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in sorted((span.start, span.end) for span, _ in regions):
            if self.ends and start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)

    def cover(self, offset: int) -> bool:
        place = bisect_right(self.starts, offset) - 1
        return place >= 0 and offset < self.ends[place]


def _inside(
    ranges: dict[str, _Ranges],
    record: Call | Launch,
    models: Mapping[str, FileModel],
    find: Callable[[FileModel], Iterator[tuple[Span, str]]],
) -> bool:
    for span in (record.span, record.use):
        if span is None:
            continue
        if span.path not in ranges:
            ranges[span.path] = _Ranges(find(models[span.path]))
        if ranges[span.path].cover(span.start):
            return True
    return False


def _cold_spans(model: FileModel) -> Iterator[tuple[Span, str]]:
    """The cold regions of a file, each with why it is one."""
    for static in model.statics:
        yield static, "initialises a local static, once"
    for region in debug_regions(model):
        yield region, "is under '#if' for debugging builds"
    calls = _CallIndex(model)
    for call in model.calls:
        if call.name == "call_once":
            yield call.span, "runs once, by 'call_once'"
    flags = _Flags(model)
    for branch in model.branches:
        if branch.keyword in ("if", "else", "while"):
            entered = branch.keyword != "else"
            known = flags.of(branch.function)
            said = f"'{branch.keyword} ({branch.condition})'"
            if not entered:
                said = f"the 'else' of 'if ({branch.condition})'"
            if debug_only(branch.condition, known, when=entered):
                yield branch.span, f"only runs for debugging, under {said}"
            elif branch.exits and debug_only(branch.condition, known, when=not entered):
                rest = _rest_of_block(model, branch, model.branches)
                yield rest, f"only runs for debugging, after {said}"
            elif branch.exits and entered and _cleans_up(branch, calls):
                yield branch.span, f"is an error branch that frees and leaves, under {said}"


def _named_lambdas(call: Call, model: FileModel, data: bytes) -> Iterator[Span]:
    """The lambdas that a call is given by name, those that the function does not call itself."""
    called = {c.name for c in model.calls if c.function == call.function and not c.receiver}
    given = {argument.text for argument in call.arguments} - called
    for function in model.functions:
        if function.lambda_ and function.parent == call.function:
            before = data[max(function.span.start - _FAR, 0) : function.span.start]
            name = _DECLARED.search(before)
            if name is not None and name[1].decode() in given:
                yield function.span


def _cleans_up(branch: Branch, calls: _CallIndex) -> bool:
    """Whether a branch that leaves does so on an error, freeing what was taken."""
    if not _ERROR.search(branch.condition):
        return False
    return any(_FREES.search(call.name) for call in calls.inside(branch.span))


def debug_regions(model: FileModel) -> Iterator[Span]:
    """The branches of preprocessor conditionals that only a debugging build takes."""
    earlier: dict[int, list[str]] = {}
    for region in model.regions:
        before = earlier.setdefault(region.group, [])
        itself = region.condition != "else" and debug_only(region.condition)
        if itself or any(debug_only(condition, when=False) for condition in before):
            yield region.span
        before.append(region.condition)


def _rest_of_block(model: FileModel, guard: Branch, branches: Iterable[Branch]) -> Span:
    """From a guard that leaves, to the end of the block that it stands in.

    `branches`: those to look for that block in.
    """
    around = [
        branch.span
        for branch in branches
        if branch.span.start < guard.head.start and guard.span.end <= branch.span.end
    ]
    block = min(around, key=lambda span: span.end - span.start, default=None)
    body = model.functions[guard.function].body if guard.function >= 0 else None
    end = guard.span.end
    if block is not None and (body is None or body.start <= block.start):
        end = block.end
    elif body is not None:
        end = body.end
    return type(guard.span)(guard.span.path, guard.span.end, max(end, guard.span.end))


def _is_switch(tested: frozenset[str], branch: Branch, model: FileModel) -> bool:
    """Whether what is tested is a flag that the caller gives, and no resource."""
    parameters = model.functions[branch.function].parameters if branch.function >= 0 else ()
    flags = {p.name for p in parameters if p.type.removeprefix("const ") == "bool"}
    return tested <= flags


class _CallIndex:
    """Calls by place, so that those inside a branch are found by bisection."""

    def __init__(self, model: FileModel) -> None:
        self._calls = sorted(
            (call for call in model.calls if not (call.via_macro and call.use is None)),
            key=lambda call: (call.use or call.span).start,
        )
        self._starts = [(call.use or call.span).start for call in self._calls]

    def inside(self, span: Span) -> list[Call]:
        first = bisect_right(self._starts, span.start - 1)
        last = bisect_right(self._starts, span.end - 1)
        return self._calls[first:last]


class _Flags:
    """Local flags with their initialisers, by function; a lambda sees its parents'."""

    def __init__(self, model: FileModel) -> None:
        self._model = model
        self._own: dict[int, dict[str, str]] = {}
        for flag in model.flags:
            self._own.setdefault(flag.function, {})[flag.name] = flag.value

    def of(self, function: int) -> dict[str, str]:
        if not self._own:
            return {}
        known: dict[str, str] = {}
        while function >= 0:
            known = {**self._own.get(function, {}), **known}
            function = self._model.functions[function].parent
        return known
