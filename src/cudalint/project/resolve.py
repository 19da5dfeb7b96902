"""Which functions of the run a call may mean.

Names decide: that of the innermost namespace around the caller that has the
name, and the receiver's class where a parameter, a member or `this` tells it. A
call that stays unclear means nothing rather than everything. Using directives
are not looked at: a name that no namespace around has may come from any one.
Functions that only libclang could tell apart are not looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cudalint.project.classes import WRAPPER_METHODS, Classes, class_text
from cudalint.project.declarations import Place
from cudalint.project.headermacros import home
from cudalint.project.overloads import arity, fitting, given_count
from cudalint.project.receivers import Receivers
from cudalint.project.usings import Usings

if TYPE_CHECKING:
    from cudalint.project.includes import Includes
    from cudalint.project.storedlambdas import StoredLambda
    from cudalint.source import SourceFile
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

_VIRTUAL = frozenset(("virtual", "override", "final"))

Definition = tuple[str, "Function"]
"""A function with a body, after the path of its file."""


class Resolver:
    """Finds the definitions behind calls; host functions with bodies, lambdas left out.

    `names` are the names of all of them; `knows_objects` says whether calls of other
    names may mean something too: objects with a call operator, and kept lambdas.
    """

    def __init__(
        self,
        models: Mapping[str, FileModel],
        includes: Includes,
        sources: Mapping[str, SourceFile],
        stored: Iterable[StoredLambda] = (),
    ) -> None:
        self._models = models
        self._includes = includes
        self._sources = sources
        self._seen_scopes: dict[tuple[str, str], set[tuple[str, ...]]] = {}
        self._usings = Usings(sources, includes)
        self._classes = Classes(models, sources)
        self._receivers = Receivers(models, sources, includes, self._classes, self._returned)
        self._free: dict[tuple[str, tuple[str, ...]], dict[str, list[Definition]]] = {}
        self._arity: dict[tuple[str, int], tuple[int, int]] = {}
        self._linked: dict[tuple[str, tuple[str, ...]], list[Definition]] = {}
        self._methods: dict[tuple[str, str], list[Definition]] = {}
        # What the methods of a class are to callers anywhere, where no other has its name.
        self._everywhere: dict[tuple[str, str], list[Definition]] = {}
        self._declared: dict[str, dict[str, set[tuple[str, ...]]]] = {}
        self._owners: dict[tuple[str, str], set[str]] = {}
        self._virtual: set[tuple[str, str]] = set()
        self._defaults: set[tuple[tuple[str, ...], str]] = set()
        self._returns: dict[tuple[str, str], set[str]] = {}
        self.names: set[str] = set()
        self._stored: dict[str, list[Definition]] = {}
        for one in stored:
            if one.kept_in:
                self._stored.setdefault(one.kept_in, []).append((one.path, one.function))
        for path in sorted(models):
            for function in models[path].functions:
                if not function.lambda_:
                    self._know(path, function)
                if is_host_definition(function):
                    self._add(path, function)
        called = (owner for owner, name in self._methods if name == "operator()")
        self._callable = frozenset(called)
        self._callable_members = self._classes.members_of(self._callable)
        self._speaks_of_callable: dict[str, bool] = {}
        self.knows_objects = bool(self._callable or self._stored)

    def targets(self, path: str, caller: Function, call: Call) -> list[Definition]:
        """The definitions that `call`, made in `caller` of the file at `path`, may mean."""
        if call.name not in self.names:
            return self._kept(path, caller, call) or self._object(path, caller, call)
        found = self._by_name(path, caller, call)
        count = given_count(call) if found else None
        if count is not None:
            found = [target for target in found if self._accepts(target, count)]
        return self._overloads(caller, call, found) if len(found) > 1 else found

    def _overloads(self, caller: Function, call: Call, found: list[Definition]) -> list[Definition]:
        """Of several overloads of one scope those that the arguments can be given to."""
        if len({target[1].scope for target in found}) > 1:
            return found
        place = _place(caller, call)

        def type_of(expression: str) -> str | None:
            return self._receivers.type_of(expression, place)

        fits = fitting([target[1] for target in found], call, self._classes, type_of)
        return [target for target, may_be in zip(found, fits, strict=True) if may_be] or found

    def _know(self, path: str, function: Function) -> None:
        """Take in what a declaration or definition says of its name."""
        owner = _plain(function.owner)
        if owner:
            self._owners.setdefault((path, function.name), set()).add(owner)
            if not _VIRTUAL.isdisjoint(function.words):
                self._virtual.add((owner, function.name))
        elif any(parameter.default is not None for parameter in function.parameters):
            self._defaults.add((_named(function.scope), function.name))
        if function.return_type not in ("", "void", "auto"):
            self._returns.setdefault((owner, function.name), set()).add(function.return_type)

    def _add(self, path: str, function: Function) -> None:
        self.names.add(function.name)
        if function.owner:
            key = (_plain(function.owner), function.name)
            self._methods.setdefault(key, []).append((path, function))
        else:
            key_of_free = (function.name, _named(function.scope))
            table = self._free.setdefault(key_of_free, {})
            table.setdefault(path, []).append((path, function))
            if not function.static and "" not in function.scope:
                self._linked.setdefault(key_of_free, []).append((path, function))

    def _accepts(self, target: Definition, count: int) -> bool:
        """Whether so many arguments fit; a method's defaults may stand where they are not seen."""
        path, function = target
        key = (path, function.index)
        if key not in self._arity:
            known = (_named(function.scope), function.name) in self._defaults
            self._arity[key] = arity(function, defaults=bool(function.owner) or known)
        least, most = self._arity[key]
        return least <= count <= most

    def _by_name(self, path: str, caller: Function, call: Call) -> list[Definition]:
        if call.receiver:
            return self._of_receiver(path, caller, call)
        qualifier = self._usings.meant(path, _qualifier(call.callee))
        if qualifier:
            owner = self._classes.of_type(qualifier[-1]) or ""
            classes = self._classes.with_bases(owner)
            methods = next(
                (m for c in classes if (m := self._of_one(path, caller, c, call.name))), []
            )
        elif caller.owner and not call.callee.startswith("::"):
            methods = self._of_class(path, caller, _plain(caller.owner), call.name)
        else:
            methods = []
        if methods:
            return methods
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
        for used in self._usings.scopes(path, (*qualifier, call.name)[0]):
            for depth in range(len(around), -1, -1):
                if (*around[:depth], *used, *qualifier) in known:
                    return (*around[:depth], *used, *qualifier)
        width = len(qualifier)
        ending = [scope for scope in known if scope[len(scope) - width :] == qualifier]
        return ending[0] if len(ending) == 1 else None

    def _free_functions(self, path: str, name: str, scope: tuple[str, ...]) -> list[Definition]:
        every = self._free.get((name, scope), {})
        if path in every:
            return every[path]
        closure = self._includes.closure(path)
        included = [target for file in closure for target in every.get(file, ())]
        if included:
            return included
        linked = self._linked.get((name, scope), [])
        if not linked:
            return []
        declaring = {p for p in (path, *closure) if scope in self._declarations(p).get(name, ())}
        sharing = [t for t in linked if declaring.intersection(self._includes.closure(t[0]))]
        if sharing:
            return sharing
        return linked if len({target[0] for target in linked}) == 1 else []

    def _of_receiver(self, path: str, caller: Function, call: Call) -> list[Definition]:
        place = _place(caller, call)
        owner = self._receivers.class_of(call.receiver, place)
        if owner is not None:
            if call.name in WRAPPER_METHODS and self._receivers.is_wrapper(call.callee, place):
                return []
            found = self._of_class(path, caller, owner, call.name)
            if (owner, call.name) in self._everywhere:
                return found
            if len({_untyped(t[1].scope) for t in found if _plain(t[1].owner) == owner}) < 2:
                return found
            written = self._receivers.type_of(call.receiver, place) or ""
            return _within(found, owner, _qualifier(f"{class_text(written)}::{call.name}"))
        owners: set[str] = set()
        for seen in (path, *self._includes.closure(path)):
            owners |= self._owners.get((seen, call.name), set())
        if len(owners) != 1 or call.name in COMMON_METHODS:
            return []
        return self._methods.get((next(iter(owners)), call.name), [])

    def _of_class(self, path: str, caller: Function, owner: str, name: str) -> list[Definition]:
        """The methods that a call through an object of a class may mean.

        That of the class or its nearest base; of a virtual one, those of the
        classes that derive from it too.
        """
        known = self._everywhere.get((owner, name))
        if known is not None:
            return known
        asked = bases = list(self._classes.with_bases(owner))
        found = next((m for base in bases if (m := self._of_one(path, caller, base, name))), [])
        if any((base, name) in self._virtual for base in bases):
            derived = list(self._classes.derived(owner))
            asked = [*bases, *derived]
            found = [*found, *(m for one in derived for m in self._of_one(path, caller, one, name))]
        own = (self._methods.get((one, name), ()) for one in asked)
        if all(len({(file, _named(f.scope)) for file, f in methods}) < 2 for methods in own):
            self._everywhere[owner, name] = found
        return found

    def _of_one(self, path: str, caller: Function, owner: str, name: str) -> list[Definition]:
        """The methods of the class that `caller` means, where several classes have its name."""
        found = _nearest(self._methods.get((owner, name), []), _named(caller.scope))
        if len({target[0] for target in found}) < 2:
            return found
        seen = (path, *self._includes.closure(path))
        declaring = {p for p in seen if owner in self._owners.get((p, name), ())}
        sharing = [
            target
            for target in found
            if declaring.intersection((target[0], *self._includes.closure(target[0])))
        ]
        return sharing or found

    def _kept(self, path: str, caller: Function, call: Call) -> list[Definition]:
        """The lambdas kept in the variable, or in an element of it, that is called.

        Of a member those that its class or a file around keeps; else those of the
        file and of what it includes.
        """
        if not self._stored:
            return []
        place = _place(caller, call)
        expression = f"{call.receiver}.{call.name}" if call.receiver else call.callee
        found = self._stored.get(self._receivers.kept_in(expression, place), [])
        seen = (path, *self._includes.closure(path))
        near = [
            target
            for target in found
            if target[0] in seen or not set(seen).isdisjoint(self._includes.closure(target[0]))
        ]
        owner = place.owner
        return [t for t in near if not t[1].owner or t[1].owner == owner or call.receiver]

    def _object(self, path: str, caller: Function, call: Call) -> list[Definition]:
        """The `operator()` of the object that a call without a function's name is made on."""
        if not self._callable or not self._may_be_object(path, call):
            return []
        expression = call.callee if not call.receiver else f"{call.receiver}.{call.name}"
        owner = self._receivers.class_of(expression, _place(caller, call))
        return self._of_class(path, caller, owner, "operator()") if owner in self._callable else []

    def _may_be_object(self, path: str, call: Call) -> bool:
        """Whether a class with a call operator is spoken of where the object could come from."""
        if call.name in self._callable_members:
            return True
        if path not in self._speaks_of_callable:
            text = self._sources[path].data if path in self._sources else b""
            self._speaks_of_callable[path] = any(c.encode() in text for c in self._callable)
        return self._speaks_of_callable[path]

    def _returned(self, owner: str, name: str) -> str | None:
        """What the functions of a class ("" for free ones) and a name return, if all the same."""
        found = self._returns.get((owner, name), set())
        return next(iter(found)) if len(found) == 1 else None

    def _scopes(self, path: str, name: str) -> set[tuple[str, ...]]:
        """The namespaces that have a free function of this name, as the file at `path` sees it."""
        key = (path, name)
        if key not in self._seen_scopes:
            files = (path, *self._includes.closure(path))
            found = (self._declarations(p).get(name, ()) for p in files)
            self._seen_scopes[key] = set().union(*found)
        return self._seen_scopes[key]

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


def _nearest(methods: list[Definition], inner: tuple[str, ...]) -> list[Definition]:
    """Those whose class is in the innermost namespace around `inner`; all if none is around it."""
    outers = [_named(method[1].scope)[:-1] for method in methods]
    if len(set(outers)) < 2:
        return methods
    around = [outer for outer in outers if inner[: len(outer)] == outer]
    best = max(around, key=len, default=None)
    pairs = zip(methods, outers, strict=True)
    return methods if best is None else [method for method, outer in pairs if outer == best]


def _within(methods: list[Definition], owner: str, written: tuple[str, ...]) -> list[Definition]:
    """Those of the class `owner` that is `written` so, and of all other classes."""
    meant = [
        method
        for method in methods
        if _plain(method[1].owner) != owner or _untyped(method[1].scope)[-len(written) :] == written
    ]
    return meant if any(_plain(method[1].owner) == owner for method in meant) else methods


def _untyped(scope: tuple[str, ...]) -> tuple[str, ...]:
    """A scope without anonymous namespaces and template arguments."""
    return tuple(part.split("<")[0].strip() for part in scope if part)


def _plain(owner: str) -> str:
    """A class's name without what is around it and its template arguments."""
    return owner.split("<")[0].rpartition("::")[2].strip()


def _place(caller: Function, call: Call) -> Place:
    return Place(home(call), call.function, _plain(caller.owner), (call.use or call.span).start)


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
