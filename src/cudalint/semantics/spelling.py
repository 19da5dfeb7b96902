"""Resolves the spelling of a type by the names that the known files declare.

This is what can be told without a compiler: built-in words, typedefs, `using`,
object-like macros, classes with their members. Where it can't tell (alias
templates, `decltype`, names that mean different things) it says so, and
`cudalint.semantics.types` asks libclang.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from cudalint.semantics.model import Name, ParameterType, spelt
from cudalint.syntax.model import Alias, FileModel, Function, Macro, RecordType

_WORD = re.compile(r"[A-Za-z_]\w*")
_QUALIFIER = re.compile(r"([A-Za-z_]\w*)\s*::")
_FUNCTION_POINTER = re.compile(r"\([\w:\s]*[*&]+[\s\w]*\)\s*\(")
_ARRAY_POINTER = re.compile(r"\(\s*([*&]+)[\s\w]*\)(\s*\[[^\]]*\])+")
_QUALIFIERS = frozenset(
    ("const", "volatile", "struct", "class", "union", "enum", "typename", "constexpr", "std")
)
_BUILT_IN = frozenset(
    ("bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "auto")
)
_OPAQUE = frozenset(("CUtensorMap", "CUtensorMap_st"))
_DEPTH = 12


class UnclearError(Exception):
    """The spelling alone does not tell the type."""


class Names:
    """The names that the text of one file can mean: its own, and those of what it includes."""

    def __init__(self, models: Iterable[FileModel]) -> None:
        self._aliases: dict[str, list[Alias]] = {}
        self._macros: dict[str, list[Macro]] = {}
        self._classes: dict[str, list[RecordType]] = {}
        self._conditional: set[str] = set()
        for model in models:
            for alias in model.aliases:
                if not any(dead.covers(alias.span.start) for dead in model.dead):
                    self._aliases.setdefault(alias.name, []).append(alias)
                    if any(region.span.covers(alias.span.start) for region in model.regions):
                        self._conditional.add(alias.name)
            for macro in model.macros:
                if not any(dead.covers(macro.span.start) for dead in model.dead):
                    self._macros.setdefault(macro.name, []).append(macro)
            for record in model.structs:
                self._classes.setdefault(record.name, []).append(record)

    def resolve(self, text: str, kernel: Function) -> ParameterType:
        """The type that `text` spells among the parameters of `kernel`. Raises UnclearError."""
        own = frozenset(_WORD.findall(kernel.template or ""))
        if kernel.via_macro and kernel.use is None:
            for macro in self._macros.get(kernel.via_macro, ()):
                own |= frozenset(macro.parameters or ())
        return self._resolve(text, own, kernel.index, _DEPTH)

    def _resolve(self, text: str, own: frozenset[str], function: int, depth: int) -> ParameterType:
        if depth == 0:
            raise UnclearError(text)
        text = _ARRAY_POINTER.sub(lambda match: f" {match[1]}", text)
        if _FUNCTION_POINTER.search(text):
            return ParameterType(spelt(text))
        words = _WORD.findall(text)
        if "(" in text or "decltype" in words:
            raise UnclearError(text)
        if own.intersection(_QUALIFIER.findall(text)):
            return ParameterType(spelt(text))
        if "<" in text:
            return self._template_id(text, own, depth)
        core = [word for word in words if word not in _QUALIFIERS]
        if "void" in core:
            return ParameterType(spelt(text), untyped="*" in text)
        if not core or core[-1] in _BUILT_IN or core[-1] in own:
            return ParameterType(spelt(text))
        name = core[-1]
        macros = [word for word in core if word in self._macros]
        if macros:
            return self._through_macro(macros[-1], text, own, function, depth)
        if name in self._aliases:
            return self._through_alias(name, text, own, function, depth)
        if "*" in text or name in _OPAQUE:
            return ParameterType(spelt(text))
        if name in self._classes:
            return ParameterType(
                spelt(text), members=tuple(self._untyped_members(name, own, depth))
            )
        if "" in self._classes and self._untyped_members("", own, depth):
            raise UnclearError(text)  # `typedef struct { … } name;` may be what it is
        return ParameterType(spelt(text))

    def _template_id(self, text: str, own: frozenset[str], depth: int) -> ParameterType:
        """`Box<float>`: a class that the known files don't define has no members to look at."""
        head = _WORD.findall(text.partition("<")[0])
        base = head[-1] if head else ""
        after = text.rpartition(">")[2]
        standard = "std" in head and base.endswith("_t")
        if base in self._aliases or base in self._macros or standard or "::" in after:
            if own.intersection(_WORD.findall(text)):
                return ParameterType(spelt(text))  # it depends on a template parameter
            raise UnclearError(text)
        if base not in self._classes or "*" in after:
            return ParameterType(spelt(text))
        if "void" in _WORD.findall(text):
            raise UnclearError(text)
        return ParameterType(spelt(text), members=tuple(self._untyped_members(base, own, depth)))

    def _through_macro(
        self, name: str, text: str, own: frozenset[str], function: int, depth: int
    ) -> ParameterType:
        macros = self._macros[name]
        if any(macro.parameters is not None for macro in macros):
            raise UnclearError(text)
        found = []
        for macro in macros:
            replaced = macro.body.join(re.split(rf"\b{name}\b", text))
            inner = self._resolve(replaced, own | {name}, function, depth - 1)
            found.append((inner, Name(name, macro.name_span)))
        meaning = _agreed(text, found, any_branch=True)
        words = [word for word in _WORD.findall(text) if word not in _QUALIFIERS]
        if words != [name]:  # it adds to a type that is named beside it
            return msgspec.structs.replace(meaning, through=meaning.through[1:])
        return meaning

    def _through_alias(
        self, name: str, text: str, own: frozenset[str], function: int, depth: int
    ) -> ParameterType:
        aliases = [a for a in self._aliases[name] if a.function in (-1, function)]
        if not aliases:
            return ParameterType(spelt(text))
        if any(alias.template for alias in aliases):
            raise UnclearError(text)
        found = []
        for alias in aliases:
            replaced = _with_target(text, name, alias.target)
            inner = self._resolve(replaced, own | {name}, function, depth - 1)
            found.append((inner, Name(name, alias.name_span)))
        return _agreed(text, found, any_branch=name in self._conditional)

    def _untyped_members(self, name: str, own: frozenset[str], depth: int) -> list[str]:
        paths: list[str] = []
        for record in self._classes[name]:
            for member in record.members:
                try:
                    inner = self._resolve(member.type, own | {name}, -1, depth - 1)
                except UnclearError:
                    if own:  # of a template that only an instance could tell
                        continue
                    raise
                if inner.untyped:
                    paths.append(member.name)
                paths += [f"{member.name}.{path}" for path in inner.members]
        return list(dict.fromkeys(paths))


def _with_target(text: str, name: str, target: str) -> str:
    """`text` with the alias `name`, qualified or not, replaced by what it stands for."""
    return re.sub(rf"(?:::\s*)?(?:\w+\s*::\s*)*\b{name}\b", lambda _: f" {target} ", text, count=1)


def _agreed(text: str, found: list[tuple[ParameterType, Name]], any_branch: bool) -> ParameterType:
    """The one meaning of a name; that of the branch that hides something if branches differ."""
    found = sorted(found, key=lambda pair: not (pair[0].untyped or pair[0].members))
    first, name = found[0]
    verdicts = {(meaning.untyped, bool(meaning.members)) for meaning, _ in found}
    if len(verdicts) > 1 and not any_branch:
        raise UnclearError(text)
    return ParameterType(first.canonical, first.untyped, first.members, (name, *first.through))
