"""`using namespace a;`, `using a::f;` and `namespace b = a;`, as each file sees them.

Where in the file they stand does not matter here, nor whether in a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from cudalint.regex import regex

if TYPE_CHECKING:
    from cudalint.project.includes import Includes
    from cudalint.source import SourceFile

_NAME = rb"(?:::\s*)?[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*"
_USED = regex(rb"using\s+(namespace\s+)?(" + _NAME + rb")\s*;")
_ALIAS = regex(rb"namespace\s+([A-Za-z_]\w*)\s*=\s*(" + _NAME + rb")\s*;")

Scope = tuple[str, ...]


class Usings:
    """Answers for the files of a run that `sources` has."""

    def __init__(self, sources: Mapping[str, SourceFile], includes: Includes) -> None:
        self._sources = sources
        self._includes = includes
        self._own: dict[str, _Own] = {}

    def scopes(self, path: str, name: str) -> Iterator[Scope]:
        """The namespaces that the file at `path` takes `name` from, declarations first."""
        files = [self._of(file) for file in (path, *self._includes.closure(path))]
        for own in files:
            yield from own.names.get(name, ())
        for own in files:
            yield from own.whole

    def meant(self, path: str, scope: Scope) -> Scope:
        """`scope` with an alias of a namespace at its start replaced by what it stands for."""
        for file in (path, *self._includes.closure(path)) if scope else ():
            meant = self._of(file).aliases.get(scope[0])
            if meant is not None:
                return (*meant, *scope[1:])
        return scope

    def _of(self, path: str) -> _Own:
        if path not in self._own:
            source = self._sources.get(path)
            self._own[path] = _Own(source.data if source else b"")
        return self._own[path]


class _Own:
    """What one file says itself."""

    def __init__(self, data: bytes) -> None:
        self.whole: list[Scope] = []
        self.names: dict[str, list[Scope]] = {}
        self.aliases: dict[str, Scope] = {}
        for match in _USED.finditer(data):
            if not _is_code(data, match.start()):
                continue
            *scope, name = _parts(match[2])
            if match[1]:
                self.whole.append((*scope, name))
            else:
                self.names.setdefault(name, []).append(tuple(scope))
        for match in _ALIAS.finditer(data):
            if _is_code(data, match.start()):
                self.aliases[match[1].decode()] = _parts(match[2])


def _is_code(data: bytes, at: int) -> bool:
    """Whether a statement can start there: no line comment, literal or other word before it."""
    line = data[data.rfind(b"\n", 0, at) + 1 : at].strip()
    return not line or line.endswith((b";", b"{", b"}", b"inline"))


def _parts(name: bytes) -> Scope:
    return tuple(part.strip() for part in name.decode().split("::") if part.strip())
