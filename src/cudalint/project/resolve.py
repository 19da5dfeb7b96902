"""Which functions of the run a call may mean.

Names decide: that of the innermost namespace around the caller that has the
name, and the receiver's class where a parameter, a member or `this` tells it. A
call that stays unclear means nothing rather than everything. Using directives
are not looked at: a name that no namespace around has may come from any one.
Functions that only libclang could tell apart are not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.project.includes import Includes
    from cudalint.syntax.model import Call, FileModel, Function

COMMON_METHODS = frozenset(
    {
        *("at", "back", "begin", "c_str", "clear", "count", "data", "emplace", "emplace_back"),
        *("empty", "end", "erase", "find", "first", "front", "get", "insert", "join", "load"),
        *("lock", "notify_all", "notify_one", "pop", "pop_back", "push", "push_back", "release"),
        *("reserve", "reset", "resize", "size", "store", "str", "swap", "top", "unlock"),
        *("value", "wait", "what", "write", "read", "close", "open", "flush"),
    }
)
"""Methods of standard containers, pointers and locks: their bare name tells no class."""

_WRAPPED = re.compile(r"(?:unique_ptr|shared_ptr|optional|reference_wrapper)\s*<(.*)>\s*[&*]*$")
_NOT_NAMES = re.compile(r"\b(?:const|volatile|struct|class|typename|static|mutable)\b|[&*]")


class Resolver:
    """Finds the definitions behind calls; host functions with bodies, lambdas left out.

    `names` are the names of all of them.
    """

    def __init__(self, models: Mapping[str, FileModel], includes: Includes) -> None:
        self._models = models
        self._includes = includes
        self._free: dict[str, list[tuple[str, Function]]] = {}
        self._methods: dict[tuple[str, str], list[tuple[str, Function]]] = {}
        self._owners: dict[tuple[str, str], set[str]] = {}
        self._declared: dict[str, dict[str, set[tuple[str, ...]]]] = {}
        self._members: dict[tuple[str, str], str] | None = None
        self.names: set[str] = set()
        for path in sorted(models):
            for function in models[path].functions:
                if is_host_definition(function):
                    self._add(path, function)

    def targets(self, path: str, caller: Function, call: Call) -> list[tuple[str, Function]]:
        """The definitions that `call`, made in `caller` of the file at `path`, may mean."""
        found = self._by_name(path, caller, call)
        return [target for target in found if _accepts(target[1], call)]

    def _add(self, path: str, function: Function) -> None:
        self.names.add(function.name)
        if function.owner:
            key = (function.owner, function.name)
            self._methods.setdefault(key, []).append((path, function))
            self._owners.setdefault((path, function.name), set()).add(function.owner)
        else:
            self._free.setdefault(function.name, []).append((path, function))

    def _by_name(self, path: str, caller: Function, call: Call) -> list[tuple[str, Function]]:
        if call.receiver:
            return self._of_receiver(path, caller, call)
        qualifier = _qualifier(call.callee)
        owner = qualifier[-1] if qualifier else caller.owner
        if owner and not (call.callee.startswith("::") and not qualifier):
            methods = self._methods.get((owner, call.name))
            if methods:
                return [m for m in methods if m[1].scope == caller.scope] or methods
        scope = self._scope(path, caller, call, qualifier)
        return [] if scope is None else self._free_functions(path, call.name, scope)

    def _scope(
        self, path: str, caller: Function, call: Call, qualifier: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """The namespaces of the free functions that the name means; None where that is unclear."""
        known = self._scopes(path, call.name)
        around = () if call.callee.startswith("::") else _named(caller.scope)
        for depth in range(len(around), -1, -1):
            if (*around[:depth], *qualifier) in known:
                return (*around[:depth], *qualifier)
        if call.callee.startswith("::"):
            return None
        width = len(qualifier)
        ending = [scope for scope in known if scope[len(scope) - width :] == qualifier]
        return ending[0] if len(ending) == 1 else None

    def _free_functions(
        self, path: str, name: str, scope: tuple[str, ...]
    ) -> list[tuple[str, Function]]:
        every = [t for t in self._free.get(name, ()) if _named(t[1].scope) == scope]
        here = [target for target in every if target[0] == path]
        if here:
            return here
        closure = self._includes.closure(path)
        included = [target for target in every if target[0] in closure]
        if included:
            return included
        linked = [target for target in every if not target[1].static and "" not in target[1].scope]
        if not linked:
            return []
        declaring = {p for p in (path, *closure) if scope in self._declarations(p).get(name, ())}
        sharing = [t for t in linked if declaring.intersection(self._includes.closure(t[0]))]
        if sharing:
            return sharing
        return linked if len({target[0] for target in linked}) == 1 else []

    def _of_receiver(self, path: str, caller: Function, call: Call) -> list[tuple[str, Function]]:
        receiver = call.receiver
        owner = caller.owner if receiver in ("this", "(*this)") else None
        if owner is None:
            owner = self._class_of(path, caller, receiver.removeprefix("this->"))
        if owner is not None:
            return self._methods.get((owner, call.name), [])
        owners = self._owners.get((path, call.name), set())
        if len(owners) != 1 or call.name in COMMON_METHODS:
            return []
        return self._methods.get((next(iter(owners)), call.name), [])

    def _class_of(self, path: str, caller: Function, receiver: str) -> str | None:
        """The class of a parameter or member named `receiver`; "" when it is of no class."""
        for parameter in caller.parameters:
            if parameter.name == receiver:
                return class_name(parameter.type)
        if self._members is None:
            self._members = {
                (struct.name, member.name): class_name(member.type)
                for model in self._models.values()
                for struct in model.structs
                for member in struct.members
            }
        return self._members.get((caller.owner, receiver)) if caller.owner else None

    def _scopes(self, path: str, name: str) -> set[tuple[str, ...]]:
        """The namespaces that have a free function of this name, as the file at `path` sees it."""
        files = (path, *self._includes.closure(path))
        return set().union(*(self._declarations(p).get(name, ()) for p in files))

    def _declarations(self, path: str) -> dict[str, set[tuple[str, ...]]]:
        """The free functions of one file, defined or not: name to namespaces."""
        if path not in self._declared:
            table: dict[str, set[tuple[str, ...]]] = {}
            for function in self._models[path].functions:
                if not function.owner and not function.lambda_:
                    table.setdefault(function.name, set()).add(_named(function.scope))
            self._declared[path] = table
        return self._declared[path]


def _named(scope: tuple[str, ...]) -> tuple[str, ...]:
    """`scope` without anonymous namespaces, which are looked through."""
    return tuple(part for part in scope if part) if "" in scope else scope


def is_host_definition(function: Function) -> bool:
    """Whether the function is a node of the host's call graph."""
    return (
        function.kind == "definition"
        and not function.lambda_
        and function.space in ("host", "host device")
        and not (function.via_macro and function.use is None)
    )


def class_name(type_text: str) -> str:
    """The class that a value, reference, pointer or smart pointer of this type leads to."""
    wrapped = _WRAPPED.search(type_text)
    bare = _NOT_NAMES.sub(" ", wrapped[1] if wrapped else type_text).strip()
    return bare.split("<")[0].rpartition("::")[2].strip()


def _qualifier(callee: str) -> tuple[str, ...]:
    """`a::B<int>::f<3>` gives `("a", "B")`."""
    if "::" not in callee:
        return ()
    while "<" in callee:
        stripped = re.sub(r"<[^<>]*>", "", callee)
        if stripped == callee:
            break
        callee = stripped
    return tuple(part.strip() for part in callee.split("::")[:-1] if part.strip())


def _accepts(function: Function, call: Call) -> bool:
    """Whether the number of arguments fits."""
    written = call.argument_text
    if b"..." in written or b"__VA_ARGS__" in written:
        return True
    count = (
        len(call.arguments) if b"," in written else int(not written.isspace() and written != b"")
    )
    parameters = function.parameters
    if any("..." in p.type or "..." in p.name for p in parameters):
        return True
    if len(parameters) == 1 and parameters[0].type == "void" and not parameters[0].name:
        return count == 0
    needed = sum(p.default is None for p in parameters)
    if function.owner or function.scope:
        needed = 0 if count <= len(parameters) else needed  # defaults stand on the declaration
    return needed <= count <= len(parameters)
