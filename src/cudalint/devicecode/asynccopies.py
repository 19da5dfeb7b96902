"""Finds asynchronous copies into shared memory that are read before anyone waits.

Events of one function in the order of its text: copies, commits, waits, reads of
what was copied to. What functions of the run do is seen through; a function that
is not known waits if its name says so. Bulk copies, which a barrier counts, are
left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from cudalint.devicecode.devicecode import enclosing, on_device
from cudalint.devicecode.flow.branches import LOOPS, Branches
from cudalint.regex import regex
from cudalint.syntax.model import Call

if TYPE_CHECKING:
    from cudalint.context import Context
    from cudalint.devicecode.flow.bindings import Bindings
    from cudalint.finding import Span
    from cudalint.syntax.model import Assembly, FileModel

_ISSUE = regex(r"\bcp\.async\.(?:ca|cg)\b")
_COMMIT = regex(r"\bcp\.async\.commit_group\b")
_WAIT_GROUP = regex(r"\bcp\.async\.wait_group\b")
_WAIT_ALL = regex(r"\bcp\.async\.(?:wait_all|mbarrier\.arrive)\b")
_COPIES = frozenset({"__pipeline_memcpy_async", "memcpy_async"})
_NAMED = (("wait", regex(r"wait", re.I)), ("commit", regex(r"commit|fence", re.I)))
_GROUP_WAITS = frozenset({"__pipeline_wait_prior"})
_WORD = regex(r"(?<![\w.])[A-Za-z_]\w*")
_ADDRESS_TYPE = regex(r"[*&\]]|auto|unsigned|u?int(?:32|64|ptr)?_t|u?intptr_t|size_t")
_NO_READ = regex(r"\b(?:sizeof|decltype|__cvta_generic_to_shared)\s*\([^;{}]*$")
_MEMBER = regex(r"\s*(?:\.|->)\s*([A-Za-z_]\w*)")
_STORE = regex(r"\s*\[[^;=]*\]\s*=(?!=)")
_DEPTH = 4


class Unwaited(msgspec.Struct, frozen=True):
    """A copy, what a reader calls it, the shared array, and where that is read too early.

    `committed`: someone waits, but for groups, and the copy was never put in one.
    """

    copy: Call | Assembly
    called: str
    shared: str
    read: tuple[int, int]
    committed: bool


class AsyncCopies:
    """Judges the functions of one run."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._files = {path: _Doings(model) for path, model in context.models.items()}

    def found(self, model: FileModel) -> Iterator[Unwaited]:
        """The copies in the functions of a file that are read too early."""
        copies: dict[int, list[Call | Assembly]] = {}
        records: tuple[Call | Assembly, ...] = (*model.assembly, *model.calls)
        for record in records:
            if record.via_macro and record.use is None:
                continue
            # A lambda's copies are made where it is called.
            index = record.function
            if index < 0 or model.functions[index].lambda_ or not on_device(model, index):
                continue
            does = self.does(record) if isinstance(record, Call) else _of_asm(record)
            if "copy" in does and "wait" not in does:
                copies.setdefault(index, []).append(record)
        for index, own in copies.items():
            bindings = self._context.bindings(model.path, index)
            if bindings is not None:
                yield from _Function(model, bindings, own, self).unwaited()

    def does(self, call: Call) -> set[str]:
        """What a call does: "copy", "commit", "wait" (for groups alone: "group")."""
        if call.name in _COPIES:
            return {"copy"}
        if call.name in _GROUP_WAITS:
            return {"wait", "group"}
        found = _by_name(call.name)
        path = (call.use or call.span).path
        return found | self._of_function(call.name, path, _DEPTH)

    def _of_function(self, name: str, path: str, depth: int) -> set[str]:
        """What the function of this name does that the file at `path` sees."""
        for file in (path, *self._context.project.includes.closure(path)):
            doings = self._files[file]
            if name in doings.known:
                found = set(doings.own.get(name, ()))
                for other in doings.calls.get(name, ()) if depth else ():
                    if other != name:
                        inner = _by_name(other) | self._of_function(other, file, depth - 1)
                        found |= inner - {"copy"}
                return found
        return set()


class _Doings:
    """What the device functions of one file do, by name: `own`, and whom they call."""

    def __init__(self, model: FileModel) -> None:
        self.own: dict[str, set[str]] = {}
        self.calls: dict[str, set[str]] = {}
        for asm in model.assembly:
            index = enclosing(model, asm.function)
            if index >= 0:
                self.own.setdefault(model.functions[index].name, set()).update(_of_asm(asm))
        for call in model.calls:
            index = enclosing(model, call.function)
            if index < 0 or not on_device(model, call.function):
                continue
            name = model.functions[index].name
            self.calls.setdefault(name, set()).add(call.name)
            if call.name in _COPIES:
                self.own.setdefault(name, set()).add("copy")
        for declaration in model.shared:
            # Who has shared memory of his own does not copy for the caller.
            index = enclosing(model, declaration.function)
            if index >= 0:
                self.own.get(model.functions[index].name, set()).discard("copy")
        self.known = self.own.keys() | self.calls.keys()


def _by_name(name: str) -> set[str]:
    return {kind for kind, pattern in _NAMED if pattern.search(name)}


class _Function:
    """The events of one function."""

    def __init__(
        self,
        model: FileModel,
        bindings: Bindings,
        copies: list[Call | Assembly],
        known: AsyncCopies,
    ) -> None:
        self._model = model
        self._bindings = bindings
        self._copies = copies
        self._branches = Branches(bindings, model)
        self._events: list[tuple[int, set[str]]] = []
        self._quiet: list[Span] = []
        for asm in model.assembly:
            if self._is_own(asm):
                self._note(asm, _of_asm(asm))
        for call in model.calls:
            if self._is_own(call):
                self._note(call, known.does(call))
        self._events.sort(key=lambda event: event[0])

    def unwaited(self) -> Iterator[Unwaited]:
        """The copies that are read before a wait, one for each array."""
        reported: set[str] = set()
        for copy in self._copies:
            shared = self._destination(copy)
            if shared is None or shared in reported:
                continue
            end = (copy.use or copy.span).end
            names = self._names(shared)
            read = self._read_after(end, names, self._member(copy, names))
            if read is None:
                continue
            fault = self._fault(copy, end, read[0])
            if fault is not None:
                reported.add(shared)
                called = copy.callee if isinstance(copy, Call) else "cp.async"
                yield Unwaited(copy, called, shared, read, fault == "committed")

    def _fault(self, copy: Call | Assembly, end: int, read: int) -> str | None:
        """What is missing between the copy and the read: "wait" or "committed"."""
        low, high = end, read
        for branch in self._branches.own:
            if branch.keyword in LOOPS and branch.span.covers((copy.use or copy.span).start):
                low, high = min(low, branch.span.start), max(high, branch.span.end)
        between = [does for at, does in self._events if low <= at < high]
        waits = [does for does in between if "wait" in does]
        if not waits:
            return "wait"
        groups = all("group" in does for does in waits)
        return "committed" if groups and not any("commit" in does for does in between) else None

    def _note(self, record: Call | Assembly, does: set[str]) -> None:
        place = record.use or record.span
        if does:
            self._events.append((place.start, does))
        if "copy" in does:
            self._quiet.append(place)

    def _is_own(self, record: Call | Assembly) -> bool:
        place = record.use or record.span
        return self._bindings.start <= place.start < self._bindings.end and not (
            record.via_macro and record.use is None
        )

    def _destination(self, copy: Call | Assembly) -> str | None:
        """The shared array that is copied to, None if it can't be told."""
        words = {word for text in _targets(copy) for word in _WORD.findall(text)}
        for declaration in self._model.shared:
            if declaration.kind != "alias" and declaration.function >= 0:
                home = enclosing(self._model, declaration.function)
                if home == self._bindings.function.index and words & self._names(declaration.name):
                    return declaration.name
        return None

    def _member(self, copy: Call | Assembly, names: set[str]) -> str:
        """The member that alone is copied to, `length` of `&state.length`; else ""."""
        for text in _targets(copy):
            for word in _WORD.finditer(text):
                member = _MEMBER.match(text, word.end()) if word.group() in names else None
                if member is not None:
                    return member[1]
        return ""

    def _names(self, shared: str) -> set[str]:
        """The array and the pointers and addresses that are made from it."""
        names = {shared}
        grown = True
        while grown:
            grown = False
            for local in self._bindings.locals():
                if local.name in names or not _ADDRESS_TYPE.search(local.type):
                    continue
                texts = (self._bindings.code[v.start : v.end] for v in local.values)
                if any(_is_address(text, names) for text in texts):
                    names.add(local.name)
                    grown = True
        return names

    def _read_after(self, at: int, names: set[str], member: str) -> tuple[int, int] | None:
        """Where one of `names`, or its `member` if one is given, is first read after `at`."""
        code = self._bindings.code
        aliases = [
            value
            for local in self._bindings.locals()
            if local.name in names
            for value in local.values
        ]
        for match in _WORD.finditer(code, at, self._bindings.end):
            if match.group() not in names or self._is_quiet(match.start()):
                continue
            if any(value.start <= match.start() < value.end for value in aliases):
                continue
            if self._bindings.find(match.group(), match.start()) is None:
                continue  # its own declaration, or a variable of another scope
            other = _MEMBER.match(code, match.end()) if member else None
            if member and (other is None or other[1] != member):
                continue  # another member, or the whole handed on, which reads who knows what
            before = code[max(at, match.start() - 80) : match.start()]
            if _NO_READ.search(before) or _STORE.match(code, match.end()):
                continue
            if self._excludes(at, match.start()):
                continue
            return match.span()
        return None

    def _excludes(self, copy: int, read: int) -> bool:
        """Whether the read is on the other side of an `if` than the copy."""
        for guard in self._branches.around(read):
            if guard.branch.keyword == "else":
                other = self._branches.other(guard.branch)
                if other is not None and other.span.covers(copy - 1):
                    return True
        return False

    def _is_quiet(self, at: int) -> bool:
        return any(span.start <= at < span.end for span in self._quiet)


def _targets(copy: Call | Assembly) -> list[str]:
    """The texts in which the destination of a copy is."""
    if isinstance(copy, Call):
        return [argument.text for argument in copy.arguments[:2]]
    return [copy.operands.partition(":")[2].partition(",")[0]]


def _of_asm(asm: Assembly) -> set[str]:
    does = set()
    if _ISSUE.search(asm.text):
        does.add("copy")
    if _COMMIT.search(asm.text):
        does.add("commit")
    if _WAIT_GROUP.search(asm.text):
        does |= {"wait", "group"}
    if _WAIT_ALL.search(asm.text):
        does.add("wait")
    return does


def _is_address(text: str, names: set[str]) -> bool:
    """Whether a value is an address in one of `names`, and not an element of it."""
    found = set(_WORD.findall(text)) & names
    return bool(found) and (
        "&" in text or "cvta" in text or "cast" in text or not any(f"{n}[" in text for n in found)
    )
