"""libclang: the canonical parameter types of the kernels in one file.

What libclang gets to see is `cudalint.semantics.sandbox`; choosing what to ask is
`cudalint.semantics.types`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from cudalint.semantics.model import ParameterType, spelt
from cudalint.semantics.sandbox import parse

if TYPE_CHECKING:
    from clang.cindex import Cursor, Type

_DEPTH = 4
_OPAQUE = frozenset(("CUtensorMap", "CUtensorMap_st"))


class ClangKernel(msgspec.Struct, frozen=True):
    """A kernel as libclang sees it, its macros expanded; the offset is where its name stands."""

    name: str
    offset: int
    parameters: tuple[ParameterType, ...]


def kernels(
    main: str, files: Mapping[str, bytes], limit: int, arguments: Sequence[str] = ()
) -> tuple[ClangKernel, ...]:
    """The kernels that the text of the file `main` declares, in its order.

    `files` and `arguments` are as `cudalint.semantics.sandbox.parse` takes them.
    Offsets are bytes of `main`'s text; a kernel that a macro makes is at the
    macro's use. At most `limit` are returned. Raises ClangError.
    """
    unit = parse(main, files, arguments)
    found: list[ClangKernel] = []
    for cursor in _functions(unit.cursor, main):
        children = list(cursor.get_children())
        if any(child.kind.name == "CUDAGLOBAL_ATTR" for child in children):
            types = tuple(
                _parameter_type(child.type) for child in children if child.kind.name == "PARM_DECL"
            )
            found.append(ClangKernel(cursor.spelling, cursor.location.offset, types))
            if len(found) == limit:
                break
    return tuple(found)


def _functions(cursor: Cursor, main: str) -> Iterator[Cursor]:
    """The function declarations of the file `main` at file or namespace scope."""
    for child in cursor.get_children():
        kind = child.kind.name
        if kind in ("NAMESPACE", "LINKAGE_SPEC", "UNEXPOSED_DECL"):
            yield from _functions(child, main)
        elif kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE"):
            file = child.location.file
            if file is not None and file.name == main:
                yield child


def _parameter_type(given: Type) -> ParameterType:
    canonical = given.get_canonical()
    members = () if _is_pointer(canonical) else tuple(_members(canonical, _DEPTH))
    return ParameterType(spelt(canonical.spelling), _untyped(canonical), members)


def _inner(given: Type) -> tuple[Type, int]:
    """The type behind pointers, references and arrays, and how many pointers there were."""
    pointers = 0
    while True:
        kind = given.kind.name
        if kind == "POINTER":
            pointers += 1
            given = given.get_pointee()
        elif kind in ("LVALUEREFERENCE", "RVALUEREFERENCE"):
            given = given.get_pointee()
        elif kind in ("CONSTANTARRAY", "INCOMPLETEARRAY", "DEPENDENTSIZEDARRAY", "VARIABLEARRAY"):
            given = given.element_type
        else:
            return given, pointers


def _is_pointer(given: Type) -> bool:
    return _inner(given)[1] > 0


def _untyped(given: Type) -> bool:
    inner, pointers = _inner(given)
    return pointers > 0 and inner.kind.name == "VOID"


def _members(given: Type, depth: int) -> Iterator[str]:
    """The paths of untyped pointers inside a class and its bases."""
    inner, pointers = _inner(given)
    declaration = inner.get_declaration()
    if depth == 0 or pointers or inner.kind.name != "RECORD" or declaration.spelling in _OPAQUE:
        return
    for child in declaration.get_children():
        if child.kind.name == "CXX_BASE_SPECIFIER":
            yield from _members(child.type.get_canonical(), depth - 1)
    for field in inner.get_fields():
        canonical = field.type.get_canonical()
        if _untyped(canonical):
            yield field.spelling
        else:
            yield from (f"{field.spelling}.{path}" for path in _members(canonical, depth - 1))
