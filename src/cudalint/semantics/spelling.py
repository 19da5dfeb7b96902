"""Resolves the spelling of a type by the names that the known files declare.

This is what can be told without a compiler: built-in words, typedefs, `using`,
object-like macros, classes with their members. Where it can't tell (alias
templates, `decltype`, names that mean different things) it says so, and
`cudalint.semantics.types` asks libclang.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from cudalint.finding import Span
from cudalint.regex import regex
from cudalint.semantics.model import PLAIN_WORDS, Name, ParameterType, spelt
from cudalint.syntax.brackets import split_arguments
from cudalint.syntax.model import (
    Alias,
    FileModel,
    Function,
    Macro,
    Parameter,
    RecordType,
    normal,
)

_WORD = regex(r"[A-Za-z_]\w*")
_QUALIFIER = regex(r"([A-Za-z_]\w*)\s*::")
_FUNCTION_POINTER = regex(r"\([\w:\s]*[*&]+[\s\w]*\)\s*\(")
_ARRAY_POINTER = regex(r"\(\s*([*&]+)[\s\w]*\)(\s*\[[^\]]*\])+")
_BASES = regex(rb"(?<!:):(?!:)(.*)", re.DOTALL)
_ACCESS = regex(r"\b(?:public|protected|private|virtual)\b|\.\.\.")
_COMMENT = regex(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_QUALIFIERS = frozenset(
    (
        *("const", "volatile", "struct", "class", "union", "enum", "typename", "constexpr"),
        *("std", "__restrict__", "__restrict"),
    )
)
_OPAQUE = frozenset(("CUtensorMap", "CUtensorMap_st"))
_DEPTH = 12


class UnclearError(Exception):
    """The spelling alone does not tell the type."""


class Declared:
    """The names that one file declares outside of `#if 0`: aliases, macros, classes.

    A class has its bases among its members, under no name. `data` is the file.
    """

    def __init__(self, model: FileModel, data: bytes) -> None:
        self.model = model
        self.aliases: dict[str, list[Alias]] = {}
        self.macros: dict[str, list[Macro]] = {}
        self.classes: dict[str, list[RecordType]] = {}
        for alias in model.aliases:
            self.aliases.setdefault(alias.name, []).append(alias)
        for macro in model.macros:
            self.macros.setdefault(macro.name, []).append(macro)
        for record in model.structs:
            members = (*_bases(record, data), *record.members)
            whole = msgspec.structs.replace(record, members=members)
            self.classes.setdefault(record.name, []).append(whole)

    def owner(self, alias: Alias) -> str | None:
        """The class that an alias is a member of; None outside of classes."""
        around = [r for r in self.model.structs if r.span.covers(alias.span.start)]
        return max(around, key=lambda record: record.span.start).name if around else None

    def in_region(self, alias: Alias) -> bool:
        """Whether an alias stands in a branch of a preprocessor conditional."""
        return any(region.span.covers(alias.span.start) for region in self.model.regions)

    def alive(self, span: Span) -> bool:
        """Whether `span` is code, and not in a branch that is never taken."""
        return not any(dead.covers(span.start) for dead in self.model.dead)


class Names:
    """What a name in one file can mean: what the file declares, else what it includes.

    `included` is asked only when the file itself does not declare some name.
    """

    def __init__(self, own: Declared, included: Callable[[], Sequence[Declared]]) -> None:
        self._own = own
        self._included = included
        self._found: dict[str, _Meanings] = {}
        self._plain: dict[str, ParameterType] = {}
        self._members: dict[str, tuple[str, ...] | None] = {}

    def _of(self, name: str) -> _Meanings:
        found = self._found.get(name)
        if found is None:
            found = _Meanings((self._own,), name)
            if not found:
                found = _Meanings(self._included(), name)
            self._found[name] = found
        return found

    def resolve(self, text: str, kernel: Function) -> ParameterType:
        """The type that `text` spells among the parameters of `kernel`. Raises UnclearError."""
        if not kernel.template and not kernel.via_macro:
            known = self._plain.get(text)
            if known is None:
                known = self._resolve(text, frozenset(), kernel.index, _DEPTH)
                self._plain[text] = known
            return known
        own = frozenset(_WORD.findall(kernel.template or ""))
        if kernel.via_macro and kernel.use is None:
            for macro in self._of(kernel.via_macro).macros:
                own |= frozenset(macro.parameters or ())
        return self._resolve(text, own, kernel.index, _DEPTH)

    def _resolve(self, text: str, own: frozenset[str], function: int, depth: int) -> ParameterType:
        if depth == 0:
            raise UnclearError(text)
        if "(" in text:
            text = _ARRAY_POINTER.sub(lambda match: f" {match[1]}", text)
            if _FUNCTION_POINTER.search(text):
                return ParameterType(spelt(text))
            if "(" in text:
                raise UnclearError(text)
        words = _WORD.findall(text)
        if own and "::" in text and own.intersection(_QUALIFIER.findall(text)):
            return ParameterType(spelt(text))
        if "<" in text:
            return self._template_id(text, own, depth)
        core = [word for word in words if word not in _QUALIFIERS]
        if "void" in core:
            return ParameterType(spelt(text), untyped="*" in text)
        if PLAIN_WORDS.issuperset(core) or core[-1] in own:
            return ParameterType(spelt(text))
        name = core[-1]
        macros = [word for word in core if word not in PLAIN_WORDS and self._of(word).macros]
        if macros:
            return self._through_macro(macros[-1], text, own, function, depth)
        if name in PLAIN_WORDS:
            return ParameterType(spelt(text))
        if self._aliases(name, text, function):
            return self._through_alias(name, text, own, function, depth)
        if "*" in text or name in _OPAQUE:
            return ParameterType(spelt(text))
        if not self._of(name).classes and self._untyped_members("", depth):
            raise UnclearError(text)  # `typedef struct { … } name;` may be what it is
        return self._by_value(text, name, own, depth)

    def _template_id(self, text: str, own: frozenset[str], depth: int) -> ParameterType:
        """`Box<float>`: a class that the known files don't define has no members to look at."""
        head = _WORD.findall(text.partition("<")[0])
        base = head[-1] if head else ""
        after = text.rpartition(">")[2]
        standard = "std" in head and base.endswith("_t")
        known = self._of(base)
        if known.aliases or known.macros or standard or "::" in after:
            if own.intersection(_WORD.findall(text)):
                return ParameterType(spelt(text))  # it depends on a template parameter
            raise UnclearError(text)
        if not known.classes or "*" in after:
            return ParameterType(spelt(text))
        if "void" in _WORD.findall(text):
            raise UnclearError(text)
        return self._by_value(text, base, own, depth)

    def _through_macro(
        self, name: str, text: str, own: frozenset[str], function: int, depth: int
    ) -> ParameterType:
        macros = self._of(name).macros
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

    def _aliases(self, name: str, text: str, function: int) -> list[Alias]:
        """The aliases that `name` can mean in `text`: members of a class only after its name."""
        qualifier = re.search(rf"(\w+)\s*::\s*{name}\b", text) if "::" in text else None
        owners = (None, qualifier[1]) if qualifier else (None,)
        return [
            alias
            for alias, owner in self._of(name).aliases
            if owner in owners and alias.function in (-1, function)
        ]

    def _through_alias(
        self, name: str, text: str, own: frozenset[str], function: int, depth: int
    ) -> ParameterType:
        aliases = self._aliases(name, text, function)
        if any(alias.template for alias in aliases):
            raise UnclearError(text)
        found = []
        for alias in aliases:
            replaced = _with_target(text, name, alias.target)
            inner = self._resolve(replaced, own | {name}, function, depth - 1)
            found.append((inner, Name(name, alias.name_span)))
        return _agreed(text, found, any_branch=self._of(name).conditional)

    def _by_value(self, text: str, name: str, own: frozenset[str], depth: int) -> ParameterType:
        """The type of a class that is passed by value."""
        try:
            members = self._untyped_members(name, depth)
        except UnclearError:
            if own:  # a template, of which only an instance could tell
                return ParameterType(spelt(text))
            raise
        return ParameterType(spelt(text), members=members)

    def _untyped_members(self, name: str, depth: int) -> tuple[str, ...]:
        if name not in self._members:
            self._members[name] = ()  # for a class that seems to hold itself: another of its name
            self._members[name] = self._members_of(name, depth)
        found = self._members[name]
        if found is None:
            raise UnclearError(name)
        return found

    def _members_of(self, name: str, depth: int) -> tuple[str, ...] | None:
        """The untyped members of the class; None if classes of that name differ in having any."""
        found: list[tuple[str, ...]] = []
        for record in self._of(name).classes:
            paths: list[str] = []
            for member in record.members:
                try:
                    inner = self._resolve(member.type, frozenset((name,)), -1, depth - 1)
                except UnclearError:
                    return None
                if inner.untyped:
                    paths.append(member.name)
                before = f"{member.name}." if member.name else ""
                paths += [f"{before}{path}" for path in inner.members]
            found.append(tuple(paths))
        if len({bool(paths) for paths in found}) > 1:
            return None
        return found[0] if found else ()


class _Meanings:
    """All that one name is declared as in some files; false if that is nothing."""

    def __init__(self, files: Sequence[Declared], name: str) -> None:
        self.aliases: list[tuple[Alias, str | None]] = []
        self.macros: list[Macro] = []
        self.classes: list[RecordType] = []
        self.conditional = False
        for file in files:
            for alias in file.aliases.get(name, ()):
                if file.alive(alias.span):
                    self.aliases.append((alias, file.owner(alias)))
                    self.conditional = self.conditional or file.in_region(alias)
            self.macros += (m for m in file.macros.get(name, ()) if file.alive(m.span))
            self.classes += (c for c in file.classes.get(name, ()) if file.alive(c.span))

    def __bool__(self) -> bool:
        return bool(self.aliases or self.macros or self.classes)


def _bases(record: RecordType, data: bytes) -> Iterator[Parameter]:
    """The classes that a class derives from, as members without a name."""
    opening = data.find(b"{", record.span.start, record.span.end)
    head = _COMMENT.sub(b" ", data[record.span.start : max(opening, record.span.start)])
    written = _BASES.search(head)
    if written is not None:
        for start, end in split_arguments(written[1]):
            base = _ACCESS.sub("", normal(written[1][start:end])).strip()
            if base:
                yield Parameter(record.span, base, "")


def _with_target(text: str, name: str, target: str) -> str:
    """`text` with the alias `name`, qualified or not, replaced by what it stands for."""
    if "::" in text:
        text = re.sub(rf"(?:::\s*)?(?:\w+\s*::\s*)+(?={name}\b)|::\s*(?={name}\b)", "", text)
    return _WORD.sub(lambda word: target if word[0] == name else word[0], text)


def _agreed(text: str, found: list[tuple[ParameterType, Name]], any_branch: bool) -> ParameterType:
    """The one meaning of a name; that of the branch that hides something if branches differ."""
    found = sorted(found, key=lambda pair: not (pair[0].untyped or pair[0].members))
    first, name = found[0]
    verdicts = {(meaning.untyped, bool(meaning.members)) for meaning, _ in found}
    if len(verdicts) > 1 and not any_branch:
        raise UnclearError(text)
    return ParameterType(first.canonical, first.untyped, first.members, (name, *first.through))
